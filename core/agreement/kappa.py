"""Agreement of two judges, and of a judge with gold: raw and Cohen κ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..errors import InvalidOption
from ..records import IntArray, VoteCounts
from ..schema import VOTE_LABELS
from ..stats.estimate import DataFrame, Estimate, rows_frame
from ..stats.intervals import clustered_share, common_places, t_quantile


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgePair:
    """Agreement of two judges, or of a judge with gold, on the `n` comparisons that both labelled.

    raw : share of equal labels.  kappa : Cohen κ, None where undefined, then `reason` says why.
    Intervals are clustered by item; κ of a single item has none.
    """

    judge_1: str
    judge_2: str
    n: int
    raw: Estimate | None
    kappa: Estimate | None
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgreementMatrix:
    """Every pair of judges once, in the order given, and every judge against gold (judge_2 = `gold`)."""

    judges: tuple[str, ...]
    pairs: tuple[JudgePair, ...]
    gold: tuple[JudgePair, ...]

    def to_frame(self) -> DataFrame:
        """One row per pair, judges against each other first, then against gold."""
        return rows_frame(JudgePair, self.pairs + self.gold)


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

    Source: docs/methods.md §8; Cohen (1960).

    >>> cohen_kappa(np.array([1, 1, 0, -1]), np.array([1, 0, 0, -1]))
    0.6363636363636364
    """
    return _kappa(_label_table(label_1, label_2))[0]


def agreement_matrix(vote_counts: dict[str, VoteCounts], *, level: float = 0.95) -> AgreementMatrix:
    """Raw agreement and Cohen κ of every pair of judges, and of every judge with gold.

    A judge's label of a comparison is the majority of its votes there, no unique mode is 0 (ours); only
    comparisons that both labelled count. A judge against itself is no part of this: see
    `core.agreement.reliability`.

    Parameters
    ----------
    vote_counts : judge → its counts, comparison codes shared by all.
    level : of the intervals (ours): Wilson clustered by item for raw agreement; for κ the linearised variance
        summed by item, with t(items - 1), cut at -1 and 1. Where all agree, or none do, nothing varies: its
        ends are then those of raw agreement at the same p_e.

    Source: docs/methods.md §8.
    """
    pairs = [
        _pair(name_1, name_2, *_matched(vote_counts[name_1], vote_counts[name_2]), level)
        for name_1, name_2 in combinations(vote_counts, 2)
    ]
    gold = []
    for name, counts in vote_counts.items():
        labelled = counts.labelled()
        gold.append(_pair(name, "gold", labelled.label, labelled.gold, labelled.item, level))
    return AgreementMatrix(judges=tuple(vote_counts), pairs=tuple(pairs), gold=tuple(gold))


def disagreements(one: VoteCounts, two: VoteCounts | None = None) -> IntArray:
    """Codes of the comparisons on which two judges' labels differ; without `two`, a judge's and gold's."""
    if two is None:
        labelled = one.labelled()
        comparison, differ = labelled.comparison, labelled.label != labelled.gold
    else:
        in_one, in_two = common_places(one.comparison, two.comparison)
        comparison, differ = one.comparison[in_one], one.label[in_one] != two.label[in_two]
    return np.asarray(comparison[differ])


def reliability_factor(agreement: AgreementMatrix) -> float | None:
    """κ_R = √(mean pairwise Cohen κ of the judges), the factor that [RAEE] puts on its standard errors.

    None without a pair that has a κ, or when the mean is not above 0. It shrinks intervals when judges agree
    *less*, which is backwards (docs/methods.md §6); see `leaderboard.anchored.board`.

    Source: [RAEE] §2.
    """
    kappas = [pair.kappa.value for pair in agreement.pairs if pair.kappa]
    mean = sum(kappas) / len(kappas) if kappas else 0.0
    return math.sqrt(mean) if mean > 0 else None


def _matched(one: VoteCounts, two: VoteCounts) -> tuple[IntArray, IntArray, IntArray]:
    in_one, in_two = common_places(one.comparison, two.comparison)
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
    raw = clustered_share(item, label_1 == label_2, level=level)
    low = high = math.nan
    if kappa is not None and item.min() < item.max():
        low, high = _kappa_ends(kappa, raw, label_1, label_2, item)
    return JudgePair(
        judge_1=judge_1,
        judge_2=judge_2,
        n=n,
        raw=raw if n else None,
        kappa=None if kappa is None else Estimate(kappa, low, high, n=n, level=level),
        reason=reason,
    )


def _kappa_ends(
    kappa: float, raw: Estimate, label_1: IntArray, label_2: IntArray, item: IntArray
) -> tuple[float, float]:
    """κ ± t·SE from the influence of each item; by the ends of raw agreement where all influences are 0."""
    table, n = _label_table(label_1, label_2), raw.n
    share_1, share_2 = table.sum(axis=1) / n, table.sum(axis=0) / n
    chance = float(share_1 @ share_2)
    agrees = (label_1 == label_2) - kappa
    # d κ = [d p_o - (1 - κ)·d p_e]/(1 - p_e); one comparison moves p_e through both marginals.
    expected = share_2[label_1 + 1] + share_1[label_2 + 1]
    influence = (agrees - (1 - kappa) * expected + (1 - kappa) * chance) / (1 - chance) / n
    by_item = np.bincount(np.unique(item, return_inverse=True)[1], influence)
    items = len(by_item)
    error = float((by_item**2).sum()) * items / (items - 1)
    if error < 1e-24:
        low, high = ((end - chance) / (1 - chance) for end in (raw.low, raw.high))
    else:
        half = t_quantile(items - 1, raw.level) * math.sqrt(error)
        low, high = kappa - half, kappa + half
    return max(min(low, kappa), -1.0), min(max(high, kappa), 1.0)
