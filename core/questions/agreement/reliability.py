"""Reliability of repeated runs of one judge (ICC), and of any number of raters (Krippendorff α,
Fleiss κ).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidOption
from ...records import FloatArray, IntArray, RatingTable, VoteCounts, distinct
from ...stats.estimate import DataFrame, Estimate, data_frame, flat
from ...stats.intervals import (
    check_level,
    dense_codes,
    effective_items,
    n_distinct,
    resample_items,
    t_quantiles,
)

OTHER_TEMPERATURES = "its runs were asked at different temperatures, which are no repeats"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Repeatability:
    """Intraclass correlation of one judge's repeated runs; None where undefined, with the reason in
    `reason`.

    icc_3_1, icc_3_k : reliability of one run and of the mean of `k` runs; jackknife intervals over
        items.
    icc_3_1_f, icc_3_k_f : the same with the classical F interval, exact for normal data only.
    unanimous_share : share of comparisons whose k cells are all equal.
    msr, msc, mse : mean squares between comparisons, between runs, and residual of the two-way
        layout.
    orders : what a cell is (RatingTable.orders).  oriented : candidate against anchor; if False the
        ICC
    depends on the arbitrary A/B orientation, so read `unanimous_share` beside it.
    """

    icc_3_1: Estimate | None
    icc_3_1_f: Estimate | None
    icc_3_k: Estimate | None
    icc_3_k_f: Estimate | None
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

    @property
    def unknown(self) -> dict[str, str]:
        """What the ratings cannot tell → why."""
        if self.icc_3_k is not None and self.icc_3_k.has_interval:
            return {}
        what = "ICC" if self.icc_3_k is None else "interval of the ICC"
        return {what: (self.reason or "it is undefined").rstrip(".")}

    def to_frame(self) -> DataFrame:
        """One row."""
        return data_frame([flat(self)]).drop(columns=["icc_3_1_f", "icc_3_k_f"])


def icc(table: RatingTable | ArrayLike, *, level: float = 0.95) -> Repeatability:
    """ICC(3,1) and ICC(3,k) of repeated ratings: two-way mixed, consistency.

    With n comparisons (rows) and k runs (columns): ICC(3,1) = (MSR - MSE)/(MSR + (k - 1)·MSE),
    ICC(3,k) = (MSR - MSE)/MSR. [RAEE]'s ρ_eval = ρ_k/(k - (k - 1)·ρ_k) is the same number as
    ICC(3,1).

    table : ratings without gaps; a bare (n, k) matrix is taken as one comparison per item, not
        oriented.
    level : of both intervals. Default (ours): ln F ± t·SE, F = MSR/MSE, SE by jackknife over G
        items, each left out with all its comparisons, and t with one degree of freedom less than
        `effective_items` of the items' shares of MSR or of MSE, whichever are fewer. The F interval
        beside it takes comparisons of an item for independent, and even where they are it covers
        only .72 to .84 on ternary votes.

    MSE = 0 < MSR: both are 1 (no interval). MSR = 0, n < 2 or k < 2: None. One-vote comparisons are
    no repeats and never enter a RatingTable. Source: [RAEE] App. E; Shrout & Fleiss (1979);
    docs/methods.md §6.

    >>> found = icc([[1, 1], [-1, -1], [0, 1], [1, 1]])
    >>> round(found.icc_3_1.value, 3), round(found.icc_3_k.value, 3), found.unanimous_share
    (0.87, 0.93, 0.75)
    """
    if not isinstance(table, RatingTable):
        ratings = np.asarray(table, dtype=np.float64)
        table = RatingTable(
            item=np.arange(len(ratings)), ratings=ratings, orders="unknown", oriented=False
        )
    x = table.ratings
    n, k = x.shape
    found: dict[str, float | Estimate] = {}
    reason: str | None = (
        f"it needs at least 2 comparisons with 2 runs each, and there are {n} with {k}."
    )
    if n > 1 and k > 1:
        found, reason = _icc_values(x, dense_codes(table.item), level)
    names = ("icc_3_1", "icc_3_1_f", "icc_3_k", "icc_3_k_f", "msr", "msc", "mse")
    values: dict[str, Any] = {name: found.get(name) for name in names}
    return Repeatability(
        **values,
        unanimous_share=float((x == x[:, :1]).all(axis=1).mean()) if n and k > 1 else None,
        k=k,
        n_items=n_distinct(table.item),
        n_comparisons=n,
        orders=table.orders,
        oriented=table.oriented,
        reason=reason,
        level=level,
    )


def _icc_values(
    x: FloatArray, item: IntArray, level: float
) -> tuple[dict[str, float | Estimate], str | None]:
    """Mean squares and coefficients by the names of `Repeatability`, and what is missing among
    them.
    """
    n, k = x.shape
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
    msc = n * float((column_effect**2).sum()) / (k - 1)
    values: dict[str, float | Estimate] = {"msr": msr, "msc": msc, "mse": mse}
    if ssr <= zero:
        return (
            values,
            "all comparisons have the same mean rating, so there is nothing to tell apart.",
        )
    single, mean = (
        (1.0, 1.0) if sse <= zero else ((msr - mse) / (msr + (k - 1) * mse), (msr - mse) / msr)
    )
    values |= {
        "icc_3_1": Estimate(single, n=n, level=level),
        "icc_3_k": Estimate(mean, n=n, level=level),
    }
    if sse <= zero:
        return values, "no run ever differs, so an interval cannot be estimated."
    from scipy.special import fdtri

    def between(f_low: float, f_high: float, suffix: str = "") -> dict[str, Estimate]:
        """Both coefficients with the ends that ends of F = MSR/MSE give."""
        ones = [float((end - 1) / (end + k - 1)) for end in (f_low, f_high)]
        means = [float(1 - 1 / end) for end in (f_low, f_high)]
        return {
            f"icc_3_1{suffix}": Estimate(single, ones[0], ones[1], n=n, level=level),
            f"icc_3_k{suffix}": Estimate(mean, means[0], means[1], n=n, level=level),
        }

    upper = (1 + level) / 2
    f, df_1, df_2 = msr / mse, n - 1, (n - 1) * (k - 1)
    values |= between(f / fdtri(df_1, df_2, upper), f * fdtri(df_2, df_1, upper), "_f")
    size = np.bincount(item)
    items = len(size)
    if items < 3:
        return values, "it needs comparisons of at least 3 items for the jackknife interval."
    # Deleting rows takes their squares and the shift of the mean, n - m times its square, off the
    # sums.
    left = n - size
    row_sums = np.bincount(item, row_effect)
    ssr_left = ssr - np.bincount(item, row_squares) - k * row_sums**2 / left
    residual_sums = np.stack([np.bincount(item, column) for column in residual.T])
    sse_left = sse - np.bincount(item, residual_squares) - (residual_sums**2).sum(axis=0) / left
    if (ssr_left <= zero).any() or (sse_left <= zero).any():
        return values, "all differences lie in one item, so the jackknife interval does not exist."
    log_f = math.log(f)
    # Each deletion divides both sums by degrees of freedom in the same ratio: F is k - 1 times
    # their ratio.
    pseudo = items * log_f - (items - 1) * np.log((k - 1) * ssr_left / sse_left)
    # Where few items differ from the others, or from themselves, the spread of all rests on them.
    squares = (np.bincount(item, column) for column in (row_squares, residual_squares))
    df = max(min(map(effective_items, squares)) - 1, 1.0)
    # Centred on ln F, not on the mean of the pseudo-values: the interval then always holds its
    # estimate.
    half = float(t_quantiles(df, level)) * float(pseudo.std(ddof=1)) / math.sqrt(items)
    if half < 1e-9:
        return values, "all items weigh alike, so the jackknife cannot tell how sure the ICC is."
    return values | between(math.exp(log_f - half), math.exp(log_f + half)), None


STEPS = np.subtract.outer(np.arange(3), np.arange(3))
NOMINAL = (STEPS != 0).astype(np.float64)
"""Squared distance of labels -1, 0, 1 on the nominal scale."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InterRaterReliability:
    """How far `raters` agree on the comparisons that at least two of them labelled.

    alpha_nominal, alpha_ordinal : Krippendorff α.  n : comparisons behind them.  labels : labels on
        those.
    fleiss : Fleiss κ on the `fleiss_n` comparisons that exactly `fleiss_raters` raters labelled.
    raw : share of pairs of labels on one comparison that are equal, weighing as in α.
    Intervals are item bootstraps; there is none where no resample differs from the estimate.
    reason, fleiss_reason : why α, or κ, is None.
    """

    raters: tuple[str, ...]
    n: int
    n_items: int
    labels: int
    raw: float | None
    alpha_nominal: Estimate | None
    alpha_ordinal: Estimate | None
    reason: str | None
    fleiss: Estimate | None
    fleiss_n: int
    fleiss_raters: int
    fleiss_reason: str | None
    level: float
    iterations: int

    def to_frame(self) -> DataFrame:
        """One row; `raters` is their number."""
        return data_frame([flat(self) | {"raters": len(self.raters)}])


def label_table(vote_counts: Mapping[str, VoteCounts]) -> tuple[IntArray, IntArray, IntArray]:
    """Raters who gave each label to each comparison, by the majority label of each rater's votes.

    Returns comparison codes, in order, the raters who said -1, 0, +1, (comparisons, 3), and the
    item of each.
    """
    if not vote_counts:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, np.zeros((0, 3), dtype=np.int64), nothing
    comparison = np.concatenate([counts.comparison for counts in vote_counts.values()])
    label = np.concatenate([counts.label for counts in vote_counts.values()])
    codes, row, _ = distinct(comparison)
    item = np.zeros(len(codes), dtype=np.int64)
    item[row] = np.concatenate([counts.item for counts in vote_counts.values()])
    table = np.bincount(3 * row + label + 1, minlength=3 * len(codes)).reshape(-1, 3)
    return codes, table, item


def split_comparisons(vote_counts: Mapping[str, VoteCounts]) -> IntArray:
    """Codes of the comparisons on which at least two of the raters have different labels."""
    comparison, table, _ = label_table(vote_counts)
    return np.asarray(comparison[(table > 0).sum(axis=1) > 1])


def inter_rater_reliability(
    vote_counts: Mapping[str, VoteCounts],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    iterations: int = 1000,
) -> InterRaterReliability:
    """Krippendorff α (nominal, ordinal) and Fleiss κ of all raters given.

    With n_uc raters giving comparison u label c and m_u = Σ_c n_uc ≥ 2, the coincidences are
    o_ck = Σ_u n_uc·(n_uk - [c = k])/(m_u - 1), n_c = Σ_k o_ck, n = Σ_c n_c, and
    α = 1 - (n - 1)·Σ o_ck·δ²_ck / Σ n_c·n_k·δ²_ck, where δ² is [c ≠ k] (nominal) or
    (Σ_{g=c..k} n_g - (n_c + n_k)/2)² (ordinal).
    Fleiss κ = (P̄ - P_e)/(1 - P_e), P̄ the mean of Σ_c n_uc·(n_uc - 1)/(m·(m - 1)), P_e = Σ_c p_c².

    vote_counts : rater → its counts, comparison codes shared by all. A rater's label of a
        comparison is the majority of its votes there (no unique mode: 0, ours), so repeats by one
        rater are no agreement.
    level, iterations : of the bootstrap by item (percentile, widened to hold its estimate; ours).
        Resamples in which a coefficient is undefined are left out of its interval.

    α is None without a comparison that two raters labelled, or if only one label occurs. Fleiss κ
    asks for one number of raters throughout: the most common one that is at least 2 (the larger
    when equal; ours), who need not be the same raters.

    Raises InvalidOption for a level outside (0, 1) or iterations below 1.
    Source: docs/methods.md §8; Krippendorff (2011) "Computing Krippendorff's alpha-reliability";
    Fleiss (1971).
    """
    check_level(level)
    if iterations < 1:
        raise InvalidOption(f"iterations = {iterations}: needs at least 1")
    _, table, item = label_table(vote_counts)
    enough = table.sum(axis=1) >= 2
    table, item = table[enough], item[enough]
    m = table.sum(axis=1)
    # Nothing to draw from: one empty group keeps the shapes.
    group, weights = (
        resample_items(item, rng=rng, iterations=iterations)
        if len(item)
        else (item, np.zeros((iterations, 1)))
    )
    groups = weights.shape[1]
    pairs = (table[:, :, None] * table[:, None, :]).astype(np.float64)
    pairs[:, range(3), range(3)] -= table
    coincidence = _summed(
        (pairs / np.maximum(m - 1, 1)[:, None, None]).reshape(-1, 9), group, groups
    )
    size = int(np.bincount(m).size - 1 - np.argmax(np.bincount(m)[::-1])) if len(m) else 0
    same = m == size
    equal = pairs[same][:, range(3), range(3)].sum(axis=1) / max(size * (size - 1), 1)
    of_fleiss = np.column_stack([table[same], equal, np.ones(int(same.sum()))])
    fleiss_sums = _summed(of_fleiss, group[same], groups)

    observed = coincidence.sum(axis=0)
    draws = weights @ coincidence
    nominal, ordinal = (
        _estimate(_alpha(observed, scale), _alpha(draws, scale), len(m), level)
        for scale in (False, True)
    )
    n_fleiss = int(same.sum())
    fleiss = _estimate(
        _fleiss(fleiss_sums.sum(axis=0)), _fleiss(weights @ fleiss_sums), n_fleiss, level
    )
    return InterRaterReliability(
        raters=tuple(vote_counts),
        n=len(m),
        n_items=len(np.unique(item)),
        labels=int(m.sum()),
        raw=float(observed[[0, 4, 8]].sum() / observed.sum()) if len(m) else None,
        alpha_nominal=nominal,
        alpha_ordinal=ordinal,
        reason=_reason(len(vote_counts), len(m), nominal),
        fleiss=fleiss,
        fleiss_n=n_fleiss,
        fleiss_raters=size,
        fleiss_reason=_reason(len(vote_counts), len(m), fleiss),
        level=level,
        iterations=iterations,
    )


def _summed(values: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Column sums of each group of items."""
    return np.stack([np.bincount(group, column, minlength=groups) for column in values.T], axis=1)


def _alpha(coincidence: FloatArray, ordinal: bool) -> FloatArray:
    """α from coincidences (..., 9); NaN where only one label occurs, or none."""
    o = coincidence.reshape(*coincidence.shape[:-1], 3, 3)
    n_c = o.sum(axis=-1)
    n = n_c.sum(axis=-1)
    distance = _ordinal(n_c) if ordinal else NOMINAL
    expected = (n_c[..., :, None] * n_c[..., None, :] * distance).sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: FloatArray = 1 - (n - 1) * (o * distance).sum(axis=(-2, -1)) / expected
    # One label alone leaves rounding noise where 0 is meant.
    return np.where(expected > 1e-9 * np.maximum(n, 1), found, np.nan)


def _ordinal(n_c: FloatArray) -> FloatArray:
    """Squared distances of the ordinal scale: how many labels lie between two, each end counted
    half.
    """
    middle = np.cumsum(n_c, axis=-1) - n_c / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


def _fleiss(sums: FloatArray) -> FloatArray:
    """κ from sums (..., 5): raters who gave each label, agreement added up, and comparisons.

    NaN where only one label occurs, or none.
    """
    labels = sums[..., :3]
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = ((labels / labels.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
        found: FloatArray = (sums[..., 3] / sums[..., 4] - chance) / (1 - chance)
    return np.where(chance < 1 - 1e-12, found, np.nan)


def _estimate(value: FloatArray, draws: FloatArray, n: int, level: float) -> Estimate | None:
    """A coefficient with its percentile interval; no interval where no resample differs from it."""
    found = float(value)
    if np.isnan(found):
        return None
    known = draws[~np.isnan(draws)]
    if not len(known) or np.ptp(known) < 1e-12:
        return Estimate(found, n=n, level=level)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(found, min(float(low), found), max(float(high), found), n=n, level=level)


def _reason(raters: int, n: int, estimate: Estimate | None) -> str | None:
    if estimate is not None:
        return None
    if raters < 2:
        return f"it needs at least 2 raters, and there {'is' if raters == 1 else 'are'} {raters}."
    if not n:
        return "no comparison was labelled by two of them."
    return "only one label occurs, so chance alone explains all agreement."
