"""Agreement of two judges, and of a judge with gold: raw and Cohen κ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bounds import MOST_COMPARED
from ...errors import InvalidOption
from ...records import FloatArray, IntArray, VoteCounts
from ...schema import VOTE_LABELS
from ...stats.estimate import DataFrame, Estimate, rows_frame
from ...stats.intervals import common_places, design_effect_of_sums, n_distinct, t_quantiles, wilson


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
    """Every pair of judges once, in the order given, and every judge against gold (judge_2 =
    `gold`).
    """

    judges: tuple[str, ...]
    pairs: tuple[JudgePair, ...]
    gold: tuple[JudgePair, ...]

    def of(self, judge: str) -> list[JudgePair]:
        """The pairs of one judge, in order."""
        n, own = len(self.judges), self.judges.index(judge)
        ends = [(min(own, other), max(own, other)) for other in range(n) if other != own]
        return [self.pairs[one * (2 * n - one - 3) // 2 + two - 1] for one, two in ends]

    @property
    def unknown(self) -> list[str]:
        """What pairs cannot tell: one note per reason, with the pairs that it concerns."""
        pairs: dict[str, list[str]] = {}
        for pair in self.pairs:
            if pair.kappa is None:
                what = "agreement" if pair.raw is None else "κ"
                reason = f"no {what}: {pair.reason or 'it is undefined.'}"
                pairs.setdefault(reason, []).append(f"{pair.judge_1} and {pair.judge_2}")
        return [
            f"{'; '.join(some) if len(some) <= MOST_NAMED else f'{len(some)} pairs of judges'}: "
            f"{reason}"
            for reason, some in pairs.items()
        ]

    def to_frame(self) -> DataFrame:
        """One row per pair, judges against each other first, then against gold."""
        return rows_frame(JudgePair, self.pairs + self.gold)


MOST_NAMED = 5
"""More pairs of judges than this are counted, not listed."""
NO_COMMON = "no comparison that both labelled."
NO_VARIATION = (
    "both gave one and the same label throughout, so chance alone explains all agreement."
)


def cohen_kappa(label_1: IntArray, label_2: IntArray) -> float | None:
    """Cohen κ = (p_o - p_e)/(1 - p_e) of two judges' labels, the tie a class of its own.

    p_o: share of equal labels; p_e = Σ_c P₁(c)·P₂(c), what chance alone would give.

    None where undefined: n = 0, or p_e = 1 (both gave one and the same label throughout).
    label_1, label_2 : (n,) in {-1, 0, 1}, the same comparisons in the same order.

    Raises InvalidOption for labels of different length or outside -1, 0, 1. Source: docs/methods.md
    §8; Cohen (1960).

    >>> cohen_kappa(np.array([1, 1, 0, -1]), np.array([1, 0, 0, -1]))
    0.6363636363636364
    """
    if len(label_1) != len(label_2):
        raise InvalidOption(
            f"labels of two judges differ in length: {len(label_1)} and {len(label_2)}"
        )
    if not (np.isin(label_1, VOTE_LABELS).all() and np.isin(label_2, VOTE_LABELS).all()):
        raise InvalidOption("labels of two judges: must be -1, 0 or 1")
    cell = 3 * (np.asarray(label_1) + 1) + np.asarray(label_2) + 1
    kappa = float(_kappas(np.bincount(cell, minlength=9).reshape(1, 3, 3))[0][0])
    return None if math.isnan(kappa) else kappa


def agreement_matrix(vote_counts: dict[str, VoteCounts], *, level: float = 0.95) -> AgreementMatrix:
    """Raw agreement and Cohen κ of every pair of judges, and of every judge with gold.

    A judge's label of a comparison is the majority of its votes there, no unique mode is 0 (ours);
    only comparisons that both labelled count. A judge against itself is no part of this: see
    `core.questions.agreement.reliability`.

    vote_counts : judge → its counts, comparison codes shared by all.
    level : of the intervals (ours): Wilson clustered by item for raw agreement; for κ the item
        jackknife to first order, with two added items: κ̃ ± t·√Σ[φᵢ/(1 - nᵢ/N)]², cut at -1 and 1
        and widened to hold κ. φᵢ sums the influences on κ̃ of the nᵢ comparisons of item i among
        the N of all items and the two: one on which both give the same label and one on which they
        differ, over the labels that either gave in equal parts (with two labels and one comparison
        per item that is ½ in each cell of the table). Each has Σnᵢ²/Σnᵢ comparisons, as many as the
        item of a comparison has on average. t has one degree of freedom less than the effective
        number of items, (Σx)²/Σx² with x = nᵢ or x = |φᵢ/(1 - nᵢ/N)|, whichever is less, and at
        least 1. Without the two, judges who have not differed yet seem to agree always, and judges
        who have hardly seen the rarer label never to agree (95 % hold .75 at 10 items). With 10
        items or more of 1 to 40 comparisons, alike or not, the interval holds the truth in .93 of
        draws or more.

    Raises InvalidOption for more than `bounds.MOST_COMPARED` judges.
    Source: docs/methods.md §8; Efron & Stein (1981) for the jackknife.
    """
    names = tuple(vote_counts)
    if len(names) > MOST_COMPARED:
        raise InvalidOption(
            f"{len(names):,} judges have {math.comb(len(names), 2):,} pairs; give the votes of at "
            f"most {MOST_COMPARED:,} of them"
        )
    gold = []
    for name, counts in vote_counts.items():
        known = counts.labelled()
        if not len(known):
            gold.append(
                JudgePair(judge_1=name, judge_2="gold", n=0, raw=None, kappa=None, reason=NO_COMMON)
            )
            continue
        known = known.rows(np.argsort(known.item, kind="stable"))
        found = _beside(known.label + 1, known.item, (known.gold + 1)[None])
        gold += _judge_pairs([(name, "gold")], found, level)
    if len(names) < 2:
        return AgreementMatrix(judges=names, pairs=(), gold=tuple(gold))
    item, labels = _labels(vote_counts)
    each_alone = n_distinct(item[item >= 0]) == int((item >= 0).sum())
    found = _by_products(labels) if each_alone else _by_items(labels, item)
    pairs = _judge_pairs(list(combinations(names, 2)), found, level)
    return AgreementMatrix(judges=names, pairs=tuple(pairs), gold=tuple(gold))


def disagreements(one: VoteCounts, two: VoteCounts | None = None) -> IntArray:
    """Codes of the comparisons on which two judges' labels differ; without `two`, a judge's and
    gold's.
    """
    if two is None:
        labelled = one.labelled()
        comparison, differ = labelled.comparison, labelled.label != labelled.gold
    else:
        in_one, in_two = common_places(one.comparison, two.comparison)
        comparison, differ = one.comparison[in_one], one.label[in_one] != two.label[in_two]
    return np.asarray(comparison[differ])


def reliability_factor(agreement: AgreementMatrix) -> float | None:
    """κ_R = √(mean pairwise Cohen κ of the judges), the factor that [RAEE] puts on its standard
    errors.

    None without a pair that has a κ, or when the mean is not above 0. It shrinks intervals when
    judges agree *less*, which is backwards (docs/methods.md §6); see `leaderboard.anchored.board`.
    Source: [RAEE] §2.
    """
    kappas = [pair.kappa.value for pair in agreement.pairs if pair.kappa]
    mean = sum(kappas) / len(kappas) if kappas else 0.0
    return math.sqrt(mean) if mean > 0 else None


NOTHING = len(VOTE_LABELS)
"""Stands for a comparison that a judge did not label; labels -1, 0, 1 are written 0, 1, 2."""
BLOCK = 1 << 22
"""Cells of a matrix that are worked on at once."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Sums:
    """What the agreement of pairs rests on, one entry a pair.

    table : (pairs, 3, 3) comparisons by the labels of both.  items : on which both labelled
        something.
    n_n, n_k, k_k : sums over items of squares and products of comparisons and equal labels.
    centre : κ with the added items.  influence, moved : sums over items, those too, of squared and
        of absolute influences on it.
    """

    table: IntArray
    items: IntArray
    n_n: IntArray
    n_k: IntArray
    k_k: IntArray
    centre: FloatArray
    influence: FloatArray
    moved: FloatArray


def _labels(vote_counts: Mapping[str, VoteCounts]) -> tuple[IntArray, NDArray[np.int8]]:
    """Item of each comparison code, -1 of those that nobody labelled, and (judges, codes)
    labels.
    """
    size = 1 + max(int(counts.comparison.max(initial=-1)) for counts in vote_counts.values())
    item = np.full(size, -1, dtype=np.int64)
    labels = np.full((len(vote_counts), size), NOTHING, dtype=np.int8)
    for row, counts in zip(labels, vote_counts.values(), strict=True):
        row[counts.comparison] = counts.label + 1
        item[counts.comparison] = counts.item
    return item, labels


def _by_products(labels: NDArray[np.int8]) -> _Sums:
    """All pairs where each item has one comparison: tables are products of 0/1 matrices, and say
    all.
    """
    judges, size = labels.shape
    total = np.zeros((3 * judges, 3 * judges))
    step = max(BLOCK // (3 * judges), 1)
    for start in range(0, size, step):
        part = labels[:, start : start + step]
        # At most 2^22 ones a block: 32 bits hold the sums exactly.
        is_label = np.concatenate([part == label for label in range(3)]).astype(np.float32)
        total += is_label @ is_label.T
    first, second = np.triu_indices(judges, 1)
    table = total.reshape(3, judges, 3, judges)[:, first, :, second].astype(np.int64)
    n, agree = table.sum(axis=(1, 2)), np.trace(table, axis1=1, axis2=2)
    centre, moves, added = _with_added(table, np.ones(len(table)))
    # Leaving out one of n + 2 comparisons.
    left = ((n + 2) / (n + 1))[:, None, None] * np.abs(moves)
    return _Sums(
        table=table,
        items=n,
        n_n=n,
        n_k=agree,
        k_k=agree,
        centre=centre,
        influence=(table * left**2).sum(axis=(1, 2)) + (added**2).sum(axis=0),
        moved=(table * left).sum(axis=(1, 2)) + added.sum(axis=0),
    )


def _by_items(labels: NDArray[np.int8], item: IntArray) -> _Sums:
    """All pairs where comparisons share items, one judge after another beside all that follow."""
    order = np.argsort(item, kind="stable")
    item, labels = item[order], labels[:, order]
    parts = []
    for judge, own in enumerate(labels[:-1]):
        mine = np.flatnonzero(own < NOTHING)
        step = max(BLOCK // max(len(mine), 1), 1)
        for start in range(judge + 1, len(labels), step):
            others = labels[start : start + step, mine]
            parts.append(_beside(own[mine].astype(np.int64), item[mine], others))
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in _Sums.__slots__
    }
    return _Sums(**joined)


def _beside(own: IntArray, item: IntArray, others: NDArray[Any]) -> _Sums:
    """One judge's labels, in the order of their items, beside those of others, (others,
    comparisons).
    """
    pairs, both = len(others), others < NOTHING
    cell = np.where(both, 3 * own + others, 9)
    rows = np.arange(pairs)[:, None]
    table = np.bincount((10 * rows + cell).ravel(), minlength=10 * pairs).reshape(pairs, 10)[:, :9]
    starts = np.flatnonzero(np.diff(item, prepend=-1))
    n = np.add.reduceat(both, starts, axis=1, dtype=np.int64)
    agree = np.add.reduceat(others == own, starts, axis=1, dtype=np.int64)
    table = table.reshape(pairs, 3, 3)
    items, n_n = (n > 0).sum(axis=1), (n * n).sum(axis=1)
    size = n_n / np.maximum(n.sum(axis=1), 1)
    centre, moves, added = _with_added(table, size)
    of_cell = np.concatenate([moves.reshape(pairs, 9), np.zeros((pairs, 1))], axis=1)
    moved = np.add.reduceat(of_cell[rows, cell], starts, axis=1)
    every = n.sum(axis=1) + 2 * size
    moved /= 1 - n / np.maximum(every, 1)[:, None]
    return _Sums(
        table=table,
        items=items,
        n_n=n_n,
        n_k=(n * agree).sum(axis=1),
        k_k=(agree * agree).sum(axis=1),
        centre=centre,
        influence=(moved**2).sum(axis=1) + (added**2).sum(axis=0),
        moved=np.abs(moved).sum(axis=1) + added.sum(axis=0),
    )


def _kappas(table: IntArray | FloatArray) -> tuple[FloatArray, FloatArray]:
    """κ, NaN where undefined, and chance agreement p_e of (pairs, 3, 3) tables."""
    n = table.sum(axis=(1, 2))
    chance = (table.sum(axis=2) * table.sum(axis=1)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = (n * np.trace(table, axis1=1, axis2=2) - chance) / (n * n - chance)
        share_1, share_2 = table.sum(axis=2) / n[:, None], table.sum(axis=1) / n[:, None]
    return np.where(chance < n * n, kappa, np.nan), (share_1 * share_2).sum(axis=1)


def _with_added(table: IntArray, size: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """κ̃ of the tables with an item that agrees and one that differs, of `size` comparisons each.

    Also the influence on it of one comparison, (pairs, 3, 3), and the absolute influences of the
    two items, (2, pairs), each over 1 less its share of all comparisons. The items hold the labels
    that either gave, in equal parts: the rarer label decides κ, and may not have met itself yet.
    """
    n = table.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        used = ((table.sum(axis=2) + table.sum(axis=1)) > 0).astype(np.float64)
        agree = np.eye(3) * used[:, None, :]
        differ = used[:, :, None] * used[:, None, :] * (1 - np.eye(3))
        agree, differ = (each / each.sum(axis=(1, 2))[:, None, None] for each in (agree, differ))
        differ = np.nan_to_num(differ)
    two = np.stack([np.nan_to_num(agree), differ]) * size[:, None, None]
    whole = table + two.sum(axis=0)
    moves = _influences(whole)
    kept = 1 - size / np.maximum(n + 2 * size, 1)
    moved = (two * moves).sum(axis=(2, 3)) / kept
    return _kappas(whole)[0], moves, np.abs(moved)


def _influences(table: IntArray | FloatArray) -> FloatArray:
    """Influence on κ of one comparison with each pair of labels, (pairs, 3, 3); 0 where κ is
    undefined.
    """
    kappa, chance = (values[:, None, None] for values in _kappas(table))
    n = table.sum(axis=(1, 2))[:, None, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        share_1, share_2 = table.sum(axis=2) / n[:, 0], table.sum(axis=1) / n[:, 0]
        # d κ = [d p_o - (1 - κ)·d p_e]/(1 - p_e); one comparison moves p_e through both marginals.
        expected = share_2[:, :, None] + share_1[:, None, :]
        agrees = np.eye(3) - kappa
        found = (agrees - (1 - kappa) * expected + (1 - kappa) * chance) / (1 - chance) / n
    return np.asarray(np.nan_to_num(found, nan=0.0))


def _judge_pairs(names: Sequence[tuple[str, str]], sums: _Sums, level: float) -> list[JudgePair]:
    """Estimates of each pair: raw agreement by Wilson, κ by its influences."""
    n, agree = sums.table.sum(axis=(1, 2)), np.trace(sums.table, axis1=1, axis2=2)
    kappa, _ = _kappas(sums.table)
    deff = design_effect_of_sums(n, agree, sums.items, sums.n_n, sums.n_k, sums.k_k)
    raw_low, raw_high = wilson(agree, n, level=level, deff=deff)
    with np.errstate(invalid="ignore", divide="ignore"):
        effective = np.minimum(n**2 / sums.n_n, sums.moved**2 / sums.influence)
        effective = np.maximum(np.nan_to_num(effective - 1, nan=1.0), 1)
        half = t_quantiles(effective, level) * np.sqrt(sums.influence)
    low, high = sums.centre - half, sums.centre + half
    low, high = np.maximum(np.minimum(low, kappa), -1.0), np.minimum(np.maximum(high, kappa), 1.0)
    low, high = (np.where(sums.items > 1, end, np.nan) for end in (low, high))
    columns = (column.tolist() for column in (n, agree, raw_low, raw_high, deff, kappa, low, high))
    pairs = []
    for (
        judge_1,
        judge_2,
    ), size, equal, raw_from, raw_to, effect, value, value_from, value_to in zip(
        names, *columns, strict=True
    ):
        raw = (
            Estimate(equal / size, raw_from, raw_to, n=size, level=level, deff=effect)
            if size
            else None
        )
        known = reason = None
        if math.isnan(value):
            reason = NO_VARIATION if size else NO_COMMON
        else:
            known = Estimate(value, value_from, value_to, n=size, level=level)
        pairs.append(
            JudgePair(judge_1=judge_1, judge_2=judge_2, n=size, raw=raw, kappa=known, reason=reason)
        )
    return pairs
