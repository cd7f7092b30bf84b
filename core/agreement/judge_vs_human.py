"""Is a judge as good as a person? Each human rater against the judges, all held to the other humans' mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..aggregation.btd import BTDOptions, held_out_labels
from ..errors import TooFewLabels, UnknownName
from ..records import NO_GOLD, IntArray, VoteCounts, majority
from ..stats.intervals import check_level, clustered_proportion, mean_interval

if TYPE_CHECKING:
    import pandas as pd


Rule = Literal["majority", "BTD"]
RULES: tuple[Rule, ...] = ("majority", "BTD")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Contest:
    """One human rater, one judge under one `rule`, on the `n` comparisons that both labelled.

    human_pa, judge_pa : share of their labels that equal the mode of the other humans.
    difference : judge_pa - human_pa, its interval paired and clustered by item; None where n is 0 or, for the
        interval, with one item.  wins : the judge is right more often; `clearly` if the interval is above 0.
    reason : why there is no number.
    """

    human: str
    judge: str
    rule: Rule
    n: int
    n_items: int
    human_pa: float | None
    judge_pa: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    wins: bool | None
    clearly: bool | None
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HumanRow:
    """One human rater against the mode of the others on all `n` comparisons that they share."""

    human: str
    n: int
    pa: float | None
    pa_low: float | None
    pa_high: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LeaveOneOut:
    """Every human held to the others, and every judge beside each of them."""

    humans: tuple[HumanRow, ...]
    contests: tuple[Contest, ...]
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row per contest."""
        import pandas as pd

        names = Contest.__slots__
        return pd.DataFrame([[getattr(row, name) for name in names] for row in self.contests], columns=names)


def leave_one_out(
    vote_counts: Mapping[str, VoteCounts],
    humans: Iterable[str],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    alpha: float = 1.0,
    kappa: float = 1.0,
) -> LeaveOneOut:
    """Human leave-one-out: drop a human rater, take the mode of the others as gold, compare PA.

    PA = mean [label = gold]. Labels of the rater and of the judge are the majority of their own votes; under
    `BTD` the judge's come from a fit on the other nine tenths of the items, calibrated to the same gold
    (`crossfit.held_out_labels`), with the same seed for every judge and human.

    Parameters
    ----------
    vote_counts : rater → its counts, comparison codes shared by all; whoever is not in `humans` is a judge.
    humans : the human raters; gold of a comparison is the modal label of all votes of the others on it, no
        unique mode is 0 (ours).
    level : of the intervals (ours): Wilson clustered by item for a human's PA; for the difference
        `core.stats.intervals.mean_interval` of judge right - person right with the ends -1 and 1.

    Returns
    -------
    LeaveOneOut
        Without a second human there is no gold: `n` is 0 throughout.

    Raises
    ------
    UnknownName : a human without counts.

    Source: [BTD] §5; methods §3.
    """
    check_level(level)
    people = list(dict.fromkeys(humans))
    for human in people:
        if human not in vote_counts:
            raise UnknownName(f"human {human!r} has no votes here; raters are {', '.join(vote_counts)}")
    judges = [name for name in vote_counts if name not in people]
    size = 1 + max((int(counts.comparison.max(initial=-1)) for counts in vote_counts.values()), default=-1)
    total = sum((_spread(vote_counts[human], size) for human in people), np.zeros((3, size), dtype=np.int64))
    # One seed: the folds then differ between contests only where the items do.
    seed = int(rng.integers(2**63))
    rows, contests = [], []
    for human in people:
        own = vote_counts[human]
        others = total - _spread(own, size)
        gold = np.where(others.sum(axis=0) > 0, majority(*others), NO_GOLD)
        held = replace(own, gold=gold[own.comparison]).labelled()
        found = clustered_proportion(
            held.item,
            np.ones(len(held), dtype=np.int64),
            (held.label == held.gold).astype(np.int64),
            level=level,
        )
        known = len(held) > 0
        rows.append(
            HumanRow(
                human=human,
                n=len(held),
                pa=found.value if known else None,
                pa_low=found.low if known else None,
                pa_high=found.high if known else None,
            )
        )
        for judge in judges:
            counts = vote_counts[judge]
            graded = replace(counts, gold=gold[counts.comparison])
            for rule in RULES:
                reason, labels = None, counts.label
                if rule == "BTD":
                    try:
                        options = BTDOptions(alpha=alpha, kappa=kappa)
                        labels = held_out_labels(graded, options, rng=np.random.default_rng(seed))
                    except TooFewLabels as error:
                        reason = str(error)
                contests.append(_contest(human, judge, rule, held, graded, labels, reason, level))
    return LeaveOneOut(humans=tuple(rows), contests=tuple(contests), level=level)


def _spread(counts: VoteCounts, size: int) -> IntArray:
    """(3, comparisons) votes +1, 0, -1 by comparison code."""
    table = np.zeros((3, size), dtype=np.int64)
    table[:, counts.comparison] = counts.plus, counts.tie, counts.minus
    return table


def _contest(
    human: str,
    judge: str,
    rule: Rule,
    held: VoteCounts,
    graded: VoteCounts,
    labels: IntArray,
    reason: str | None,
    level: float,
) -> Contest:
    _, in_human, in_judge = np.intersect1d(
        held.comparison, graded.comparison, assume_unique=True, return_indices=True
    )
    n = len(in_human)
    if not n:
        reason = "no comparison that it, this person and another one labelled."
    gold, item = held.gold[in_human], held.item[in_human]
    person_right = held.label[in_human] == gold
    judge_right = labels[in_judge] == gold
    unknown = reason is not None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    items = len(np.unique(item))
    if not unknown:
        paired = judge_right.astype(np.float64) - person_right
        gain = mean_interval(item, paired, ends=(-1.0, 1.0), level=level)
        difference = gain.value
        low, high = (gain.low, gain.high) if items > 1 else (None, None)
    return Contest(
        human=human,
        judge=judge,
        rule=rule,
        n=n,
        n_items=items,
        human_pa=float(person_right.mean()) if n else None,
        judge_pa=None if unknown else float(judge_right.mean()),
        difference=difference,
        difference_low=low,
        difference_high=high,
        wins=None if difference is None else difference > 0,
        clearly=None if difference is None else low is not None and low > 0,
        reason=reason,
    )
