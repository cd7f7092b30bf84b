"""Has a judge changed since the last audit, or have its data? Paired differences by item."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...records import (
    NO_GOLD,
    BoolArray,
    ConfidenceCounts,
    FloatArray,
    IntArray,
    OrderCounts,
    PositionCounts,
    VoteCounts,
)
from ...stats.estimate import Estimate
from ...stats.intervals import check_level, common_places, mean_interval, t_quantile

Way = Literal["rises", "falls", "stays"]
LABELS = (-1, 0, 1)
FEWEST_ITEMS = 10
"""Fewer common items than this move nothing: nothing is said of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One measure of one judge in two audits.

    measure : `accuracy` (half credit on decided gold), `position` (size of the mean slot vote over
        pairs of orders), `flips` (share of pairs of orders with different verdicts), `calibration`
        (mean squared distance of confidence from right or wrong), `agreement` (share of the
        others' verdicts that it shares: of people, without people of the other judges). Of scores
        those of `core.questions.change.scores`.
    old, new : means over the common items; of an audit's JSON as it has them.
    judge_change : new − old on common items; n is their number.
    data_change : what the mean over all items moved beyond that; None where no item, or no pairing,
        tells them apart.
    paired : False where the old audit was a JSON document.
    reason : why there is no difference.
    """

    judge: str
    measure: str
    old: float | None = None
    new: float | None = None
    judge_change: Estimate | None = None
    data_change: Estimate | None = None
    paired: bool = True
    reason: str | None = None

    @property
    def way(self) -> Way | None:
        """Where the judge went, if the interval shows it; None where nothing is known."""
        return _way(self.judge_change)

    @property
    def data_way(self) -> Way | None:
        """Where the other items took the figure."""
        return _way(self.data_change)


def _way(change: Estimate | None) -> Way | None:
    if change is None or not change.has_interval:
        return None
    return "stays" if not change.excludes(0.0) else "rises" if change.low > 0 else "falls"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SideVotes:
    """A judge's votes in one audit, counted; codes of comparisons and items are shared by both.

    others : votes of the raters whom it is held beside; None where there is none.
    """

    counts: VoteCounts
    orders: OrderCounts | None
    placed: PositionCounts | None
    stated: ConfidenceCounts | None
    others: VoteCounts | None


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A value per cell that two audits can have in common: a comparison, or one in one order."""

    key: IntArray
    item: IntArray
    value: FloatArray


def shifts(judge: str, old: SideVotes, new: SideVotes, *, level: float = 0.95) -> tuple[Shift, ...]:
    """What moved of a judge from one audit to the next, a `Shift` per measure.

    The judge: mean over common items of xᵢ − yᵢ, its means there now and before, by cell: an order
    of a comparison that only one audit has is left out. The data: the change of the mean over all
    items, less that. Gold is that of the new audit where it has one, so that a label that was put
    right is no change of the judge.

    A signed measure is compared by its size: |X̄| − |Ȳ|, with the variance of sx·xᵢ − sy·yᵢ.

    Interval of the judge: `mean_interval` over items, with two more at the ends. Of the data: t
    from the influence of each item of either on the difference. Source: docs/methods.md §8 (ours).
    """
    check_level(level)
    sides = with_gold_of_all((old, new))
    found = []
    for measure, (read, ends, signed, need) in MEASURES.items():
        before, after = (read(side) for side in sides)
        found.append(shift_of(judge, measure, before, after, ends, signed, need, level))
    return tuple(found)


def shift_of(
    judge: str,
    measure: str,
    old: Cells,
    new: Cells,
    ends: tuple[float, ...],
    signed: bool,
    need: str,
    level: float,
) -> Shift:
    """What moved of one measure.

    ends : of the values that are added to the differences.  signed : compared by its size.
    need : what common items must have, for the reason of too few.
    """
    in_old, in_new = common_places(old.key, new.key)
    item = new.item[in_new]
    items = np.unique(item)
    if len(items) < FEWEST_ITEMS:
        why = f"{need} on {len(items)} items of both audits, and {FEWEST_ITEMS} are needed"
        return Shift(judge=judge, measure=measure, reason=why)
    means = [_means(item, values) for values in (old.value[in_old], new.value[in_new])]
    signs = [1.0 if not signed or own.mean() >= 0 else -1.0 for own in means]
    before, after = (sign * own for sign, own in zip(signs, means, strict=True))
    change = mean_interval(items, after - before, ends=ends, level=level)
    return Shift(
        judge=judge,
        measure=measure,
        old=float(before.mean()),
        new=float(after.mean()),
        judge_change=change,
        data_change=_data_change(old, new, items, after - before, signs, level),
    )


def _means(item: IntArray, value: FloatArray) -> FloatArray:
    """Mean of the values of each item, in the order of the items' codes."""
    _, place = np.unique(item, return_inverse=True)
    return np.asarray(np.bincount(place, value) / np.bincount(place))


def _data_change(
    old: Cells,
    new: Cells,
    common: IntArray,
    difference: FloatArray,
    signs: Sequence[float],
    level: float,
) -> Estimate | None:
    """(X̄ − Ȳ over all items) − D̄ over common ones; None where both audits have the same items.

    Each item's influence on it is (xᵢ − X̄)/n_x − (yᵢ − Ȳ)/n_y − (dᵢ − D̄)/n_d, a part 0 where the
    item has none.
    """
    both = [np.unique(side.item) for side in (old, new)]
    if np.array_equal(both[0], both[1]) and len(both[0]) == len(common):
        return None
    size = 1 + max(int(codes.max()) for codes in both)
    influence, value = np.zeros(size), 0.0
    for codes, side, sign, weight in zip(both, (old, new), signs, (-1.0, 1.0), strict=True):
        own = sign * _means(side.item, side.value)
        value += weight * float(own.mean())
        influence[codes] += weight * (own - own.mean()) / len(codes)
    value -= float(difference.mean())
    influence[common] -= (difference - difference.mean()) / len(common)
    apart = [len(codes) - len(common) for codes in both]
    rest = max(apart)
    if rest < FEWEST_ITEMS:
        return None
    n = len(np.union1d(*both))
    error = math.sqrt(n / (n - 1) * float((influence**2).sum()))
    # The few items that only one audit has say how sure this can be.
    half = t_quantile(rest - 1, level) * error
    return Estimate(value, value - half, value + half, n=sum(apart), level=level)


def with_gold_of_all(sides: Sequence[SideVotes]) -> list[SideVotes]:
    """Audits, oldest first, with the gold of the newest that has a label of a comparison."""
    newest = [side.counts for side in reversed(sides)]
    code = np.concatenate([counts.comparison for counts in newest])
    gold = np.concatenate([counts.gold for counts in newest])
    labelled = gold != NO_GOLD
    codes, first = np.unique(code[labelled], return_index=True)
    known = gold[labelled][first]
    return [replace(side, counts=_with_gold(side.counts, codes, known)) for side in sides]


def _with_gold(counts: VoteCounts, codes: IntArray, gold: IntArray) -> VoteCounts:
    place = np.minimum(np.searchsorted(codes, counts.comparison), max(len(codes) - 1, 0))
    if not len(codes):
        return counts
    return replace(counts, gold=np.where(codes[place] == counts.comparison, gold[place], NO_GOLD))


def _accuracy(side: SideVotes) -> Cells:
    """Half credit by comparison and order shown; votes without an order are a cell of their own."""
    counts = side.counts
    total = np.stack([counts.minus, counts.tie, counts.plus], axis=1)
    cells = np.zeros((3, len(counts), 3), dtype=np.int64)
    if side.orders is not None:
        place = np.searchsorted(counts.comparison, side.orders.comparison)
        cells[0, place], cells[1, place] = side.orders.ab, side.orders.ba
    cells[2] = total - cells[0] - cells[1]
    right = np.where(counts.gold == 1, cells[:, :, 2], cells[:, :, 0]) + cells[:, :, 1] / 2
    n = cells.sum(axis=2)
    order, row = np.nonzero((n > 0) & np.isin(counts.gold, (-1, 1)))
    return Cells(
        counts.comparison[row] * 3 + order, counts.item[row], right[order, row] / n[order, row]
    )


def _pairs(side: SideVotes, flips: bool) -> Cells:
    placed = side.placed
    if placed is None:
        return _nothing()
    rows = placed.pairs > 0
    value = placed.flips / 1.0 if flips else placed.slot_sum / 2.0
    return Cells(placed.comparison[rows], placed.item[rows], value[rows] / placed.pairs[rows])


def _position(side: SideVotes) -> Cells:
    return _pairs(side, False)


def _flips(side: SideVotes) -> Cells:
    return _pairs(side, True)


def _brier(side: SideVotes) -> Cells:
    """Mean squared distance of confidence from exactly right, by comparison."""
    stated, counts = side.stated, side.counts
    if stated is None:
        return _nothing()
    place = np.searchsorted(counts.comparison, stated.comparison)
    gold = counts.gold[place]
    rows: BoolArray = ~np.isnan(stated.confidence) & (gold != NO_GOLD)
    loss = (stated.confidence[rows] - (stated.vote[rows] == gold[rows])) ** 2
    codes, at = np.unique(stated.comparison[rows], return_inverse=True)
    n = stated.n[rows]
    item = counts.item[np.searchsorted(counts.comparison, codes)]
    return Cells(codes, item, np.bincount(at, n * loss) / np.bincount(at, n))


def _agreement(side: SideVotes) -> Cells:
    """Share of the others' verdicts on a comparison that a verdict of the judge is equal to."""
    own, others = side.counts, side.others
    if others is None:
        return _nothing()
    here, there = common_places(own.comparison, others.comparison)
    shares = [
        np.stack([counts.minus, counts.tie, counts.plus], axis=1)[rows] / counts.n[rows, None]
        for counts, rows in ((own, here), (others, there))
    ]
    return Cells(own.comparison[here], own.item[here], (shares[0] * shares[1]).sum(axis=1))


def _nothing() -> Cells:
    none = np.zeros(0, dtype=np.int64)
    return Cells(none, none, np.zeros(0))


MEASURES = {
    "accuracy": (_accuracy, (-1.0, 1.0), False, "it has decided gold in the same order"),
    "position": (_position, (-2.0, 2.0), True, "it was asked in both orders of one run"),
    "flips": (_flips, (-1.0, 1.0), False, "it was asked in both orders of one run"),
    "calibration": (_brier, (-1.0, 1.0), False, "it has gold and a confidence"),
    "agreement": (_agreement, (-1.0, 1.0), False, "it and others have votes"),
}
"""Measure → what it averages, the ends of a difference, whether it has a sign, what it needs."""


def unpaired(
    judge: str, measure: str, old: Estimate, new: Estimate, *, signed: bool = False
) -> Shift:
    """A difference of two estimates on different or unknown items, as if they were independent.

    Ends by the square-and-add rule: low = d − √((x − lₓ)² + (h_y − y)²), high alike. Independent is
    cautious where items are common. Source: Newcombe (1998), Stat. Med. 17, 873–890.
    """
    sides = [each.scaled(-1.0) if signed and each.value < 0 else each for each in (old, new)]
    (y, low_y, high_y), (x, low_x, high_x) = (
        (each.value, *sorted((each.low, each.high))) for each in sides
    )
    d = x - y
    low = d - math.hypot(x - low_x, high_y - y)
    high = d + math.hypot(high_x - x, y - low_y)
    change = Estimate(d, low, high, n=min(old.n, new.n), level=new.level)
    return Shift(judge=judge, measure=measure, old=y, new=x, judge_change=change, paired=False)
