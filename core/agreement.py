"""Agreement of a judge with itself (ICC over repeated runs), with other judges and with gold (Cohen κ)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from core.counts import FloatArray, IntArray, RatingTable, VoteCounts
from core.intervals import clustered_proportion
from core.votes import VOTE_LABELS, InvalidOption

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Repeatability:
    """Intraclass correlation of one judge's repeated runs; None where undefined, with the reason in `reason`.

    icc_3_1, icc_3_k : reliability of one run and of the mean of `k` runs.  *_low, *_high: jackknife over
    comparisons; *_f_low, *_f_high: the classical F interval, exact for normal data only.
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgePair:
    """Agreement of two judges, or of a judge with gold, on the `n` comparisons that both labelled.

    raw : share of equal labels.  kappa : Cohen κ, None where undefined, then `reason` says why.
    Intervals are clustered by item; None where the estimate is, and for κ at perfect agreement.
    """

    judge_1: str
    judge_2: str
    n: int
    raw: float | None
    raw_low: float | None
    raw_high: float | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgreementMatrix:
    """Every pair of judges once, in the order given, and every judge against gold (judge_2 = `gold`)."""

    judges: tuple[str, ...]
    pairs: tuple[JudgePair, ...]
    gold: tuple[JudgePair, ...]
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a pair, judges against each other first, then against gold."""
        import pandas as pd

        names = JudgePair.__slots__
        return pd.DataFrame(
            [[getattr(row, name) for name in names] for row in self.pairs + self.gold], columns=names
        )


def icc(table: RatingTable | ArrayLike, *, level: float = 0.95) -> Repeatability:
    """ICC(3,1) and ICC(3,k) of repeated ratings: two-way mixed, consistency.

    With n comparisons (rows) and k runs (columns): ICC(3,1) = (MSR - MSE)/(MSR + (k - 1)·MSE),
    ICC(3,k) = (MSR - MSE)/MSR. [RAEE]'s ρ_eval = ρ_k/(k - (k - 1)·ρ_k) is the same number as ICC(3,1).

    Parameters
    ----------
    table : ratings without gaps; a bare (n, k) matrix is taken as one comparison an item, not oriented.
    level : of both intervals. Default (ours): ln F ± t(n - 1)·SE, F = MSR/MSE, SE by jackknife over
        comparisons, those of one item taken as independent; the F interval beside it covers only .72 to .84
        on ternary votes.

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
        values, reason = _icc_values(x, level)
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


def _icc_values(x: FloatArray, level: float) -> tuple[dict[str, float | None], str | None]:
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
    if n < 3:
        return values, "it needs at least 3 comparisons for the jackknife interval."
    # Deleting row i takes n/(n - 1) times its squared distance from the mean off a sum of squares, exactly.
    ssr_left = ssr - n / (n - 1) * row_squares
    sse_left = sse - n / (n - 1) * residual_squares
    if (ssr_left <= zero).any() or (sse_left <= zero).any():
        return values, "all differences lie in one comparison, so the jackknife interval does not exist."
    log_f = math.log(f)
    # Each deletion divides both sums by degrees of freedom in the same ratio: F is k - 1 times their ratio.
    pseudo = n * log_f - (n - 1) * np.log((k - 1) * ssr_left / sse_left)
    # Centred on ln F, not on the mean of the pseudo-values: the interval then always holds its estimate.
    half = float(stdtrit(n - 1, upper)) * float(pseudo.std(ddof=1)) / math.sqrt(n)
    if half < 1e-9:
        return values, "all comparisons weigh alike, so the jackknife cannot tell how sure the ICC is."
    return values | _from_f(math.exp(log_f - half), math.exp(log_f + half), k, ""), None


def _from_f(f_low: float, f_high: float, k: int, prefix: str) -> dict[str, float | None]:
    """ICC bounds from bounds of F = MSR/MSE."""
    return {
        f"icc_3_1_{prefix}low": float((f_low - 1) / (f_low + k - 1)),
        f"icc_3_1_{prefix}high": float((f_high - 1) / (f_high + k - 1)),
        f"icc_3_k_{prefix}low": float(1 - 1 / f_low),
        f"icc_3_k_{prefix}high": float(1 - 1 / f_high),
    }


def cohen_kappa(label_1: IntArray, label_2: IntArray) -> float | None:
    """Cohen κ = (p_o - p_e)/(1 - p_e) of two judges' labels, the tie a class of its own.

    p_o: share of equal labels; p_e = Σ_c P₁(c)·P₂(c), what chance alone would give.

    Parameters
    ----------
    label_1, label_2 : (n,) in {-1, 0, 1}, the same comparisons in the same order.

    Returns
    -------
    float, or None where undefined: n = 0, or p_e = 1 (both gave one and the same label throughout).

    Raises
    ------
    InvalidOption : labels of different length or outside -1, 0, 1.

    Source: methods §8; Cohen (1960).
    """
    kappa, _ = _kappa(_label_table(label_1, label_2))
    return kappa


def agreement_matrix(vote_counts: dict[str, VoteCounts], *, level: float = 0.95) -> AgreementMatrix:
    """Raw agreement and Cohen κ of every pair of judges, and of every judge with gold.

    A judge's label of a comparison is the majority of its votes there, no unique mode is 0 (ours); only
    comparisons that both labelled count. Agreement of a judge with itself is no part of this: see `icc`.

    Parameters
    ----------
    vote_counts : judge → its counts, comparison codes shared by all.
    level : of the intervals (ours): Wilson clustered by item for raw agreement; for κ the linearised variance
        summed by item, with t(items - 1), cut at -1 and 1.

    Source: methods §8.
    """
    pairs = [
        _pair(name_1, name_2, *_matched(vote_counts[name_1], vote_counts[name_2]), level)
        for name_1, name_2 in combinations(vote_counts, 2)
    ]
    gold = []
    for name, counts in vote_counts.items():
        labelled = counts.labelled()
        gold.append(_pair(name, "gold", labelled.label, labelled.gold, labelled.item, level))
    return AgreementMatrix(judges=tuple(vote_counts), pairs=tuple(pairs), gold=tuple(gold), level=level)


def reliability_factor(agreement: AgreementMatrix) -> float | None:
    """κ_R = √(mean pairwise Cohen κ of the judges), the factor that [RAEE] puts on its standard errors.

    None without a pair that has a κ, or when the mean is not above 0. It shrinks intervals when judges agree
    *less*, which is backwards (methods §6); see `raee.board`.

    Source: [RAEE] §2.
    """
    kappas = [pair.kappa for pair in agreement.pairs if pair.kappa is not None]
    mean = sum(kappas) / len(kappas) if kappas else 0.0
    return math.sqrt(mean) if mean > 0 else None


def _matched(one: VoteCounts, two: VoteCounts) -> tuple[IntArray, IntArray, IntArray]:
    _, in_one, in_two = np.intersect1d(
        one.comparison, two.comparison, assume_unique=True, return_indices=True
    )
    return one.label[in_one], two.label[in_two], one.item[in_one]


def _label_table(label_1: IntArray, label_2: IntArray) -> IntArray:
    if len(label_1) != len(label_2):
        raise InvalidOption(f"labels of two judges differ in length: {len(label_1)} and {len(label_2)}")
    if not (np.isin(label_1, VOTE_LABELS).all() and np.isin(label_2, VOTE_LABELS).all()):
        raise InvalidOption("labels of two judges: must be -1, 0 or 1")
    return np.bincount(3 * (np.asarray(label_1) + 1) + np.asarray(label_2) + 1, minlength=9).reshape(3, 3)


def _kappa(table: IntArray) -> tuple[float | None, str | None]:
    n = int(table.sum())
    if n == 0:
        return None, "no comparison that both labelled."
    chance = int(table.sum(axis=1) @ table.sum(axis=0))
    if chance == n * n:
        return None, "both gave one and the same label throughout, so chance alone explains all agreement."
    return (n * int(table.trace()) - chance) / (n * n - chance), None


def _pair(
    judge_1: str, judge_2: str, label_1: IntArray, label_2: IntArray, item: IntArray, level: float
) -> JudgePair:
    table = _label_table(label_1, label_2)
    n = int(table.sum())
    kappa, reason = _kappa(table)
    raw = clustered_proportion(
        item, np.ones(n, dtype=np.int64), (label_1 == label_2).astype(np.int64), level=level
    )
    half = None if kappa is None else _kappa_half_width(table, kappa, label_1, label_2, item, level)
    return JudgePair(
        judge_1=judge_1,
        judge_2=judge_2,
        n=n,
        raw=raw.value if n else None,
        raw_low=raw.low if n else None,
        raw_high=raw.high if n else None,
        kappa=kappa,
        kappa_low=None if kappa is None or half is None else max(kappa - half, -1.0),
        kappa_high=None if kappa is None or half is None else min(kappa + half, 1.0),
        reason=reason,
    )


def _kappa_half_width(
    table: IntArray, kappa: float, label_1: IntArray, label_2: IntArray, item: IntArray, level: float
) -> float | None:
    """t·SE of κ from the pull of each item on it; None where no item pulls, as when all agree."""
    from scipy.special import stdtrit

    n = table.sum()
    share_1, share_2 = table.sum(axis=1) / n, table.sum(axis=0) / n
    chance = float(share_1 @ share_2)
    agrees = (label_1 == label_2) - kappa
    # d κ = [d p_o - (1 - κ)·d p_e]/(1 - p_e); one comparison moves p_e through both marginals.
    expected = share_2[label_1 + 1] + share_1[label_2 + 1]
    pull = (agrees - (1 - kappa) * expected + (1 - kappa) * chance) / (1 - chance) / n
    by_item = np.bincount(np.unique(item, return_inverse=True)[1], pull)
    items = len(by_item)
    error = float((by_item**2).sum()) * items / max(items - 1, 1)
    if items < 2 or error < 1e-24:
        return None
    return float(stdtrit(items - 1, (1 + level) / 2)) * math.sqrt(error)
