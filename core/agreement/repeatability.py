"""Agreement of a judge with itself: intraclass correlation of repeated runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from core.counts import FloatArray, IntArray, RatingTable
from core.intervals import dense_codes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Repeatability:
    """Intraclass correlation of one judge's repeated runs; None where undefined, with the reason in `reason`.

    icc_3_1, icc_3_k : reliability of one run and of the mean of `k` runs.  *_low, *_high: jackknife over
    items; *_f_low, *_f_high: the classical F interval, exact for normal data only.
    unanimous_share : share of comparisons whose k cells are all equal.
    msr, msc, mse : mean squares between comparisons, between runs, and residual of the two-way layout.
    orders : what a cell is (RatingTable.orders).  oriented : candidate against anchor; if False the ICC
    depends on the arbitrary A/B orientation, so read `unanimous_share` beside it.
    """

    icc_3_1: float | None
    icc_3_1_low: float | None
    icc_3_1_high: float | None
    icc_3_1_f_low: float | None
    icc_3_1_f_high: float | None
    icc_3_k: float | None
    icc_3_k_low: float | None
    icc_3_k_high: float | None
    icc_3_k_f_low: float | None
    icc_3_k_f_high: float | None
    unanimous_share: float | None
    msr: float | None
    msc: float | None
    mse: float | None
    k: int
    n_items: int
    n_comparisons: int
    orders: str
    oriented: bool
    reason: str | None
    level: float

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({name: [getattr(self, name)] for name in self.__slots__})


def icc(table: RatingTable | ArrayLike, *, level: float = 0.95) -> Repeatability:
    """ICC(3,1) and ICC(3,k) of repeated ratings: two-way mixed, consistency.

    With n comparisons (rows) and k runs (columns): ICC(3,1) = (MSR - MSE)/(MSR + (k - 1)·MSE),
    ICC(3,k) = (MSR - MSE)/MSR. [RAEE]'s ρ_eval = ρ_k/(k - (k - 1)·ρ_k) is the same number as ICC(3,1).

    Parameters
    ----------
    table : ratings without gaps; a bare (n, k) matrix is taken as one comparison an item, not oriented.
    level : of both intervals. Default (ours): ln F ± t(G - 1)·SE, F = MSR/MSE, SE by jackknife over G items,
        each left out with all its comparisons; the F interval beside it takes those of an item for
        independent, and even where they are it covers only .72 to .84 on ternary votes.

    Returns
    -------
    Repeatability
        MSE = 0 < MSR: both are 1 (no interval). MSR = 0, n < 2 or k < 2: None. One-vote comparisons are no
        repeats and never enter a RatingTable.

    Source: [RAEE] App. E; Shrout & Fleiss (1979); methods §6.
    """
    if not isinstance(table, RatingTable):
        ratings = np.asarray(table, dtype=np.float64)
        table = RatingTable(item=np.arange(len(ratings)), ratings=ratings, orders="unknown", oriented=False)
    x = table.ratings
    n, k = x.shape
    unanimous = float((x == x[:, :1]).all(axis=1).mean()) if n and k > 1 else None
    values: dict[str, float | None] = {}
    reason = None
    if n < 2 or k < 2:
        reason = f"it needs at least 2 comparisons with 2 runs each, and there are {n} with {k}."
    else:
        values, reason = _icc_values(x, dense_codes(table.item), level)
    estimates = ("icc_3_1", "icc_3_k")
    names = [*estimates, *(f"{e}_{end}" for e in estimates for end in ("low", "high", "f_low", "f_high"))]
    return Repeatability(
        **{name: values.get(name) for name in names},
        unanimous_share=unanimous,
        msr=values.get("msr"),
        msc=values.get("msc"),
        mse=values.get("mse"),
        k=k,
        n_items=len(np.unique(table.item)),
        n_comparisons=n,
        orders=table.orders,
        oriented=table.oriented,
        reason=reason,
        level=level,
    )


def _icc_values(x: FloatArray, item: IntArray, level: float) -> tuple[dict[str, float | None], str | None]:
    n, k = x.shape
    size = np.bincount(item)
    items = len(size)
    row_effect = x.mean(axis=1) - x.mean()
    within = x - x.mean(axis=1, keepdims=True)
    column_effect = within.mean(axis=0)
    residual = within - column_effect
    row_squares = k * row_effect**2
    residual_squares = (residual**2).sum(axis=1)
    # Sums of exact halves and thirds leave rounding noise where the exact sum is 0.
    zero = 1e-12 * max(float((x**2).sum()), 1e-300)
    ssr, sse = float(row_squares.sum()), float(residual_squares.sum())
    msr, mse = ssr / (n - 1), sse / ((n - 1) * (k - 1))
    values: dict[str, float | None] = {
        "msr": msr,
        "msc": n * float((column_effect**2).sum()) / (k - 1),
        "mse": mse,
    }
    if ssr <= zero:
        return values, "all comparisons have the same mean rating, so there is nothing to tell apart."
    if sse <= zero:
        return values | {
            "icc_3_1": 1.0,
            "icc_3_k": 1.0,
        }, "no run ever differs, so an interval cannot be estimated."
    values |= {"icc_3_1": (msr - mse) / (msr + (k - 1) * mse), "icc_3_k": (msr - mse) / msr}
    from scipy.special import fdtri, stdtrit

    upper = (1 + level) / 2
    f, df_1, df_2 = msr / mse, n - 1, (n - 1) * (k - 1)
    values |= _from_f(f / fdtri(df_1, df_2, upper), f * fdtri(df_2, df_1, upper), k, "f_")
    if items < 3:
        return values, "it needs comparisons of at least 3 items for the jackknife interval."
    # Deleting rows takes their squares and the shift of the mean, n - m times its square, off the sums.
    left = n - size
    row_sums = np.bincount(item, row_effect)
    ssr_left = ssr - np.bincount(item, row_squares) - k * row_sums**2 / left
    residual_sums = np.stack([np.bincount(item, column) for column in residual.T])
    sse_left = sse - np.bincount(item, residual_squares) - (residual_sums**2).sum(axis=0) / left
    if (ssr_left <= zero).any() or (sse_left <= zero).any():
        return values, "all differences lie in one item, so the jackknife interval does not exist."
    log_f = math.log(f)
    # Each deletion divides both sums by degrees of freedom in the same ratio: F is k - 1 times their ratio.
    pseudo = items * log_f - (items - 1) * np.log((k - 1) * ssr_left / sse_left)
    # Centred on ln F, not on the mean of the pseudo-values: the interval then always holds its estimate.
    half = float(stdtrit(items - 1, upper)) * float(pseudo.std(ddof=1)) / math.sqrt(items)
    if half < 1e-9:
        return values, "all items weigh alike, so the jackknife cannot tell how sure the ICC is."
    return values | _from_f(math.exp(log_f - half), math.exp(log_f + half), k, ""), None


def _from_f(f_low: float, f_high: float, k: int, prefix: str) -> dict[str, float | None]:
    """ICC bounds from bounds of F = MSR/MSE."""
    return {
        f"icc_3_1_{prefix}low": float((f_low - 1) / (f_low + k - 1)),
        f"icc_3_1_{prefix}high": float((f_high - 1) / (f_high + k - 1)),
        f"icc_3_k_{prefix}low": float(1 - 1 / f_low),
        f"icc_3_k_{prefix}high": float(1 - 1 / f_high),
    }
