"""Forced choice against ties allowed: what a prompt that allows ties does to position bias and
labels, above all where gold is a tie.

Source: [BTD] Table 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidOption, NoUsableVotes, UnknownName
from ...records import BoolArray, FloatArray, IntArray, PositionCounts, VoteCounts
from ...stats.estimate import Estimate
from ...stats.intervals import item_means, mean_interval, wilson_by_item
from ..order.method import PositionBias, position_bias
from ..planning.comparison import PairedDifference, compare
from .btd import DEFAULTS, BTDOptions

WHERE = ("all", "gold ties", "gold decides")
FORCED_TIES = 0.05
"""Share of ties below which a prompt counts as one that forces a choice."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PromptRow:
    """One prompt on the comparisons of one kind that both judged.

    where : one of `WHERE`.  comparison : codes of these; n_votes : its votes on them.
    ties : mean share of ties among its votes, by item.  right : mean share of votes that equal
        gold, by item; None without gold.
    position : None without votes whose position is known.
    """

    judge: str
    where: str
    comparison: IntArray
    n_votes: int
    ties: Estimate
    right: Estimate | None
    position: PositionBias | None

    @property
    def n(self) -> int:
        """Comparisons."""
        return len(self.comparison)

    @property
    def bias(self) -> Estimate | None:
        """Mean slot vote within pairs of both orders; None without a pair."""
        return None if self.position is None else self.position.bias_pairs


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ForcedChoice:
    """Two prompts side by side, and what changes from `forced` to `free`, paired by item.

    n, near : comparisons of both, and those of them whose gold is a tie.
    bias : change of the mean slot vote within pairs of both orders, −2 to 2, where both have them;
        bias_near : the same where gold is a tie. None: no such pair.
    labels : MAE of BTD and of the majority, free minus forced.
    """

    forced: str
    free: str
    n: int
    near: int
    rows: tuple[PromptRow, ...]
    bias: Estimate | None
    bias_near: Estimate | None
    labels: tuple[PairedDifference, ...]

    def row(self, judge: str, where: str = "all") -> PromptRow | None:
        """The row of a prompt; None where no comparison is of the kind."""
        return next((r for r in self.rows if (r.judge, r.where) == (judge, where)), None)


def forced_choice(
    votes: Mapping[str, VoteCounts],
    positions: Mapping[str, PositionCounts],
    forced: str,
    free: str,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    level: float = 0.95,
) -> ForcedChoice:
    """Compare a prompt that forces a choice with one that allows ties, on what both judged.

    Bias is the mean slot vote (+1 first, 0 tie, −1 second) within pairs of both orders, so that
    quality cannot pass for it; its change is the difference by item of both prompts, t interval
    (`mean_interval`). Errors of labels are those of `compare`.

    votes, positions : of all judges, with codes of one selection.
    Raises UnknownName for a judge without votes, InvalidOption for one judge twice, NoUsableVotes
    where the two share no comparison. Source: [BTD] Table 1; pairing is ours.
    """
    for judge in (forced, free):
        if judge not in votes:
            raise UnknownName(f"There is no judge {judge!r}; choose from {', '.join(votes)}.")
    if forced == free:
        raise InvalidOption(f"Forced choice against ties allowed: {forced!r} twice; name two.")
    common = np.intersect1d(votes[forced].comparison, votes[free].comparison)
    if not len(common):
        raise NoUsableVotes(f"{forced} and {free} judged no comparison in common.")
    both = {judge: _of(votes[judge], common) for judge in (forced, free)}
    slots = {
        judge: positions[judge].rows(np.isin(positions[judge].comparison, common))
        for judge in (forced, free)
        if judge in positions
    }
    of_gold = both[forced]
    kinds: dict[str, BoolArray] = {
        "all": np.ones(len(of_gold), dtype=np.bool_),
        "gold ties": of_gold.gold == 0,
        "gold decides": np.isin(of_gold.gold, (-1, 1)),
    }
    rows = tuple(
        _row(judge, where, counts.rows(kind), slots.get(judge), level)
        for where, kind in kinds.items()
        if kind.any()
        for judge, counts in both.items()
    )
    near = of_gold.comparison[kinds["gold ties"]]
    compared = compare(
        both, options, rng=rng, baseline=forced, n_splits=n_splits, share=share, level=level
    )
    return ForcedChoice(
        forced=forced,
        free=free,
        n=len(common),
        near=len(near),
        rows=rows,
        bias=_bias_change(slots, forced, free, common, level),
        bias_near=_bias_change(slots, forced, free, near, level),
        labels=compared.differences,
    )


def likely_prompts(votes: Mapping[str, VoteCounts]) -> tuple[str, str]:
    """Which judge was forced to choose, and which is the same one with ties allowed: the least
    share of ties, and of those with more the name that begins most alike.

    Raises NoUsableVotes with fewer than two judges. Source: ours.
    """
    if len(votes) < 2:
        raise NoUsableVotes("Two prompts are two names of judges; there is one.")
    ties = {
        name: float(counts.tie.sum() / max(counts.n_votes, 1)) for name, counts in votes.items()
    }
    forced = min(ties, key=lambda name: ties[name])
    others = [name for name in ties if name != forced]

    def alike(name: str) -> tuple[int, float]:
        same = [a == b for a, b in zip(name, forced, strict=False)]
        return (same.index(False) if False in same else len(same)), ties[name]

    return forced, max(others, key=alike)


def _of(counts: VoteCounts, comparisons: IntArray) -> VoteCounts:
    kept: VoteCounts = counts.rows(np.isin(counts.comparison, comparisons))
    ordered: VoteCounts = kept.rows(np.argsort(kept.comparison, kind="stable"))
    return ordered


def _row(
    judge: str, where: str, counts: VoteCounts, slots: PositionCounts | None, level: float
) -> PromptRow:
    labelled = counts.labelled()
    right = None
    if len(labelled):
        hits = np.select(
            [labelled.gold > 0, labelled.gold < 0], [labelled.plus, labelled.minus], labelled.tie
        )
        right = mean_interval(labelled.item, hits / labelled.n, ends=(0.0, 1.0), level=level)
    known = None if slots is None else slots.rows(np.isin(slots.comparison, counts.comparison))
    return PromptRow(
        judge=judge,
        where=where,
        comparison=counts.comparison,
        n_votes=counts.n_votes,
        ties=wilson_by_item(counts.item, counts.n, counts.tie, level=level),
        right=right,
        position=position_bias(known, level=level) if known is not None and len(known) else None,
    )


def _bias_change(
    slots: Mapping[str, PositionCounts], forced: str, free: str, among: IntArray, level: float
) -> Estimate | None:
    """Mean slot vote within pairs of `free` minus that of `forced`, by item of both."""
    if len(slots) < 2:
        return None
    paired = [
        counts.rows((counts.pairs > 0) & np.isin(counts.comparison, among))
        for counts in (slots[free], slots[forced])
    ]
    items = np.intersect1d(paired[0].item, paired[1].item)
    if not len(items):
        return None
    means: list[FloatArray] = []
    for counts in paired:
        kept = counts.rows(np.isin(counts.item, items))
        means.append(item_means(kept.item, kept.slot_sum / (2 * kept.pairs), kept.pairs))
    return mean_interval(np.arange(len(items)), means[0] - means[1], ends=(-2.0, 2.0), level=level)
