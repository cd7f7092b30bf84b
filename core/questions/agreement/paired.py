"""Is one judge better than another? Differences on what both have judged, and where they part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...records import (
    NO_GOLD,
    ConfidenceCounts,
    FloatArray,
    IntArray,
    PositionCounts,
    VoteCounts,
    kept_rows,
)
from ...schema import VOTE_LABELS
from ...stats.estimate import DataFrame, Estimate, data_frame, rows_frame
from ...stats.intervals import check_level, common_places, mean_interval
from .kappa import disagreements

if TYPE_CHECKING:
    import pyarrow as pa

WORDS = {1: "A is better", 0: "tie", -1: "B is better"}
"""A label in words."""
MOST_RATERS = 12
"""Raters with a column each; of more, a table counts who says what."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairedMeasure:
    """One measure of two judges on the items of their common comparisons that have it for both.

    measure : `right` (half credit on decided gold: right 1, tie ½, opposite 0), `flips` (share of
        pairs of orders whose verdicts differ), `brier` (mean squared distance of confidence from
        right or wrong), `overconfidence` (mean confidence minus share exactly right).
    one, two : means over those items.  difference : one - two, paired by item, its n the items;
        without an interval for one item.  None, all three, where `reason` says why.
    """

    measure: str
    one: float | None
    two: float | None
    difference: Estimate | None
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairedJudges:
    """Two judges on the `n` comparisons of `n_items` items that both voted on.

    parted : codes of the comparisons on which their majority labels differ.
    """

    measures: tuple[PairedMeasure, ...]
    parted: IntArray
    n: int
    n_items: int

    def to_frame(self) -> DataFrame:
        """One row per measure."""
        return rows_frame(PairedMeasure, self.measures)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgeVotes:
    """A judge's votes, counted, with one code for each comparison.

    placed : None where it has no vote with a known position.
    """

    counts: VoteCounts
    stated: ConfidenceCounts
    placed: PositionCounts | None = None


def compare_judges(one: JudgeVotes, two: JudgeVotes, *, level: float = 0.95) -> PairedJudges:
    """How much better one judge is than another, or than itself under another prompt, on common
    comparisons.

    d = mean over items of xᵢ - yᵢ, where xᵢ and yᵢ are the judges' means of the item: items weigh
    alike.

    one, two : comparison and item codes shared by both (`share_codes` makes them so).
    level : of the intervals: `core.stats.intervals.mean_interval` over items; for `right` and
        `flips`, where few items may differ, with two more items at the ends -1 and 1.

    Source: docs/methods.md §8 (ours).
    """
    check_level(level)
    in_one, _ = common_places(one.counts.comparison, two.counts.comparison)
    codes = one.counts.comparison[in_one]
    sides = [_common(votes, codes) for votes in (one, two)]
    measures = [
        paired_measure(name, [read(side) for side in sides], ends, NEEDS[name], level=level)
        for name, (read, ends) in MEASURES.items()
    ]
    return PairedJudges(
        measures=tuple(measures),
        parted=disagreements(one.counts, two.counts),
        n=len(codes),
        n_items=len(np.unique(one.counts.item[in_one])),
    )


def pool_raters(votes: Sequence[JudgeVotes]) -> JudgeVotes:
    """Several raters as one who gave all their votes, such as all people; each has own pairs of
    orders.
    """
    every = _joined([each.counts for each in votes])
    code, first, place = np.unique(every["comparison"], return_index=True, return_inverse=True)
    totals = {
        name: np.bincount(place, every[name]).astype(np.int64) for name in ("plus", "tie", "minus")
    }
    about = {name: every[name][first] for name in ("item", "gold")}
    placed = [each.placed for each in votes if each.placed is not None]
    return JudgeVotes(
        counts=VoteCounts(comparison=code, **about, **totals),
        stated=ConfidenceCounts(**_joined([each.stated for each in votes])),
        placed=replace(placed[0], **_joined(placed)) if placed else None,
    )


def _joined(records: Sequence[VoteCounts | ConfidenceCounts | PositionCounts]) -> dict[str, Any]:
    """The arrays of several records, one below the other."""
    arrays = [kept_rows(each, slice(None)) for each in records]
    return {name: np.concatenate([each[name] for each in arrays]) for name in arrays[0]}


def share_codes(
    votes: JudgeVotes, names: pa.Table, of: JudgeVotes, of_names: pa.Table
) -> JudgeVotes:
    """Votes on another data set with the codes of `of`: comparisons of the same item and models, by
    name.

    Comparisons that `of` has not are left out. A gold label of `of` counts for both.
    """
    keys = ("item_id", "model_a", "model_b")
    place = {
        key: code
        for code, key in enumerate(zip(*(of_names[k].to_pylist() for k in keys), strict=True))
    }
    item, gold = (np.full(len(of_names), missing) for missing in (-1, NO_GOLD))
    item[of.counts.comparison], gold[of.counts.comparison] = of.counts.item, of.counts.gold
    code = [place.get(key, -1) for key in zip(*(names[k].to_pylist() for k in keys), strict=True)]
    to = np.array([k if k >= 0 and item[k] >= 0 else -1 for k in code], dtype=np.int64)
    counts = _moved(votes.counts, to)
    counts = counts.rows(np.argsort(counts.comparison, kind="stable"))
    own = gold[counts.comparison]
    counts = replace(
        counts, item=item[counts.comparison], gold=np.where(own == NO_GOLD, counts.gold, own)
    )
    return JudgeVotes(
        counts=counts,
        stated=_moved(votes.stated, to),
        placed=votes.placed and _moved(votes.placed, to),
    )


C = TypeVar("C", VoteCounts, ConfidenceCounts, PositionCounts)


def _moved(record: C, to: IntArray) -> C:
    """A record with other codes of comparisons; without those whose code is below 0."""
    code = to[record.comparison]
    kept = np.flatnonzero(code >= 0)
    return replace(record, **(kept_rows(record, kept) | {"comparison": code[kept]}))


def _common(votes: JudgeVotes, codes: IntArray) -> JudgeVotes:
    def kept(record: C) -> C:
        return replace(record, **kept_rows(record, np.isin(record.comparison, codes)))

    return JudgeVotes(
        counts=kept(votes.counts),
        stated=kept(votes.stated),
        placed=votes.placed and kept(votes.placed),
    )


Values = tuple[IntArray, FloatArray, FloatArray]
"""Item, sum and number of what is averaged, by row."""


def _right(votes: JudgeVotes) -> Values:
    decided = votes.counts.rows((votes.counts.gold == 1) | (votes.counts.gold == -1))
    right = np.where(decided.gold == 1, decided.plus, decided.minus) + decided.tie / 2
    return decided.item, right, decided.n.astype(np.float64)


def _flips(votes: JudgeVotes) -> Values:
    if votes.placed is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    item = _item_of(votes, votes.placed.comparison)
    return item, votes.placed.flips.astype(np.float64), votes.placed.pairs.astype(np.float64)


def _stated(votes: JudgeVotes, power: int) -> Values:
    """Confidence minus exactly right, to a power, of votes with confidence and gold."""
    stated, counts = votes.stated, votes.counts
    gold = counts.gold[np.searchsorted(counts.comparison, stated.comparison)]
    known = ~np.isnan(stated.confidence) & (gold != NO_GOLD)
    missed = stated.confidence[known] - (stated.vote[known] == gold[known])
    n = stated.n[known].astype(np.float64)
    return _item_of(votes, stated.comparison[known]), n * missed**power, n


def _item_of(votes: JudgeVotes, comparison: IntArray) -> IntArray:
    return np.asarray(votes.counts.item[np.searchsorted(votes.counts.comparison, comparison)])


MEASURES: dict[str, tuple[Any, tuple[float, ...]]] = {
    "right": (_right, (-1.0, 1.0)),
    "flips": (_flips, (-1.0, 1.0)),
    "brier": (partial(_stated, power=2), ()),
    "overconfidence": (partial(_stated, power=1), ()),
}
"""Measure → what it averages, and values of a difference that are worth an item each."""
NEEDS = {
    "right": "no item has decided gold and votes of both",
    "flips": "no item was voted in both orders of one run by both",
    "brier": "no item has gold and a confidence of both",
    "overconfidence": "no item has gold and a confidence of both",
}


def paired_measure(
    name: str,
    sides: Sequence[Values],
    ends: tuple[float, ...],
    need: str,
    *,
    level: float,
    signs: tuple[float, float] = (1.0, 1.0),
) -> PairedMeasure:
    """Mean of each judge by item, on the items that both have, and their paired difference.

    need : the reason, where there are none.  signs : factors of the two, for figures that are
        compared by size.
    """
    size = 1 + max((int(item.max(initial=-1)) for item, _, _ in sides), default=-1)
    total, n = (
        np.stack([np.bincount(side[0], side[part], minlength=size) for side in sides])
        for part in (1, 2)
    )
    both = np.flatnonzero((n > 0).all(axis=0))
    if not len(both):
        return PairedMeasure(measure=name, one=None, two=None, difference=None, reason=need)
    one, two = (sign * own for sign, own in zip(signs, total[:, both] / n[:, both], strict=True))
    within = (-2.0, 2.0) if name == "overconfidence" else (-1.0, 1.0)
    difference = mean_interval(both, one - two, ends=ends, within=within, level=level)
    return PairedMeasure(
        measure=name,
        one=float(one.mean()),
        two=float(two.mean()),
        difference=difference,
        reason=None,
    )


def verdict_table(names: pa.Table, counts: Mapping[str, VoteCounts], codes: IntArray) -> DataFrame:
    """One row per comparison: item, models, the majority label of each rater in words, and gold.

    Of more than 12 raters: how many say A, tie and B.

    names : item_id, model_a and model_b of every comparison by its code (`store.comparison_names`).
    counts : rater → its votes.
    codes : (rows,) comparisons.
    """
    rows = names.take(np.asarray(codes, dtype=np.int64))
    columns: dict[str, Any] = {
        name: rows[name].to_pylist() for name in ("item_id", "model_a", "model_b")
    }
    labels = {rater: _labels_of(own, own.label, codes) for rater, own in counts.items()}
    if len(labels) > MOST_RATERS:
        table = np.stack(list(labels.values()))
        columns |= {f"say {WORDS[label]}": (table == label).sum(axis=0) for label in (1, 0, -1)}
    else:
        columns |= {rater: _words(label) for rater, label in labels.items()}
    gold = np.full(len(codes), NO_GOLD)
    for own in counts.values():
        found = _labels_of(own, own.gold, codes)
        gold = np.where(gold == NO_GOLD, found, gold)
    return data_frame(columns | {"gold": _words(gold)})


def _labels_of(counts: VoteCounts, label: IntArray, codes: IntArray) -> IntArray:
    """Labels of a judge by comparison; `NO_GOLD` where it has none."""
    size = 1 + max(int(counts.comparison.max(initial=-1)), int(np.max(codes, initial=-1)))
    spread = np.full(size, NO_GOLD)
    spread[counts.comparison] = label
    return np.asarray(spread[codes])


def _words(label: IntArray) -> list[str | None]:
    return [WORDS[code] if code in VOTE_LABELS else None for code in label.tolist()]
