"""Is a judge as good as a person? Human raters and judges alike against the mode of the other
humans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...errors import TooFewLabels, UnknownName
from ...records import NO_GOLD, FloatArray, IntArray, VoteCounts, majority
from ...stats.estimate import DataFrame, Estimate, rows_frame
from ...stats.intervals import (
    check_level,
    clustered_share,
    common_places,
    item_means,
    mean_interval,
    wilson_by_item,
)
from ..labels.btd import BTDOptions, held_out_labels

Rule = Literal["majority", "BTD"]
RULES: tuple[Rule, ...] = ("majority", "BTD")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgeVsHuman:
    """One human rater and one judge under one `rule`, on the `n` comparisons that both labelled.

    human_pa, judge_pa : share of their labels that equal the mode of the other humans.
    difference : judge_pa - human_pa, its interval paired and clustered by item; None where n is 0,
        without an
        interval for one item.  wins : the judge is right more often; `clearly` if the interval is
            above 0.
    reason : why there is no number.
    """

    human: str
    judge: str
    rule: Rule
    n: int
    n_items: int
    human_pa: float | None
    judge_pa: float | None
    difference: Estimate | None
    wins: bool | None
    clearly: bool | None
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HumanVsOthers:
    """One human rater against the mode of the others on all `n` comparisons that they share."""

    human: str
    n: int
    pa: Estimate | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LeaveOneOut:
    """Every human against the other humans, and every judge beside each of them."""

    humans: tuple[HumanVsOthers, ...]
    judges: tuple[JudgeVsHuman, ...]

    def to_frame(self) -> DataFrame:
        """One row per judge, human and rule."""
        return rows_frame(JudgeVsHuman, self.judges)


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

    PA = mean [label = gold]. Labels of the rater and of the judge are the majority of their own
    votes; under `BTD` the judge's come from a fit on the other nine tenths of the items, calibrated
    to the same gold (`aggregation.btd.held_out_labels`), with the same seed for every judge and
    human.

    vote_counts : rater → its counts, comparison codes shared by all; whoever is not in `humans` is
        a judge.
    humans : the human raters; gold of a comparison is the modal label of all votes of the others on
        it, no unique mode is 0 (ours).
    level : of the intervals (ours): Wilson clustered by item for a human's PA; for the difference
        `core.stats.intervals.mean_interval` of judge right - person right with the ends -1 and 1.

    Without a second human there is no gold: `n` is 0 throughout.

    Raises UnknownName for a human without counts. Source: [BTD] §5; docs/methods.md §3.
    """
    check_level(level)
    people = list(dict.fromkeys(humans))
    for human in people:
        if human not in vote_counts:
            raise UnknownName(
                f"human {human!r} has no votes here; raters are {', '.join(vote_counts)}"
            )
    judges = [name for name in vote_counts if name not in people]
    size = _size(vote_counts.values())
    total = _pooled([vote_counts[human] for human in people], size)
    # One seed: the folds then differ between humans only where the items do.
    seed = int(rng.integers(2**63))
    beside_others, beside_judges = [], []
    for human in people:
        own = vote_counts[human]
        others = total - _spread(own, size)
        gold = np.where(others.sum(axis=0) > 0, majority(*others), NO_GOLD)
        graded = replace(own, gold=gold[own.comparison]).labelled()
        pa = clustered_share(graded.item, graded.label == graded.gold, level=level)
        beside_others.append(
            HumanVsOthers(human=human, n=len(graded), pa=pa if len(graded) else None)
        )
        for judge in judges:
            counts = replace(vote_counts[judge], gold=gold[vote_counts[judge].comparison])
            for rule in RULES:
                reason, labels = None, counts.label
                if rule == "BTD":
                    try:
                        options = BTDOptions(alpha=alpha, kappa=kappa)
                        labels = held_out_labels(counts, options, rng=np.random.default_rng(seed))
                    except TooFewLabels as error:
                        reason = str(error)
                paired = _paired(graded, counts, labels, reason, level)
                beside_judges.append(JudgeVsHuman(human=human, judge=judge, rule=rule, **paired))
    return LeaveOneOut(humans=tuple(beside_others), judges=tuple(beside_judges))


def people_agreement(people: Mapping[str, VoteCounts], *, level: float = 0.95) -> Estimate | None:
    """How often a left-out person says what the others say: half credit, on what the others decide.

    Σ credit / Σ persons over all comparisons: of each person whose others have one decided mode,
    [same label 1, a tie ½, the opposite 0]. It estimates the chance that one more person says what
    the people at hand say, and is what a judge compared with people can be expected to reach. A
    mean of the rates of comparisons is not: of three people who disagree, only the odd one out
    has others that decide, so that people right on 75 % would get .44 instead of .70.

    people : person → its counts, comparison codes shared by all; votes of a person on a comparison
        are its majority label, those of the others are pooled.
    level : of `core.stats.intervals.mean_interval` of credit / persons by item. Of its two added
        items the one of full credit has as many persons as labelled any comparison: where all
        agree, each of them has others that decide. It holds the truth in .93 or more of draws from
        10 items on, with two to ten people and unequal numbers of comparisons per item.

    The n is the number of items. None without a comparison that the others of a person decide.
    Source: ours; Cochran (1977) §11 for the ratio of sums.
    """
    size = _size(people.values())
    item, raters = np.zeros((2, size), dtype=np.int64)
    credit, persons = np.zeros((2, size))
    for name, (comparison, credits) in left_out_people(people).items():
        item[people[name].comparison] = people[name].item
        raters[people[name].comparison] += 1
        credit[comparison] += credits
        persons[comparison] += 1
    used = persons > 0
    if not used.any():
        return None
    per_item = float(used.sum()) / len(np.unique(item[used]))
    return mean_interval(
        item[used],
        credit[used] / persons[used],
        n=persons[used],
        ends=(0.0, 1.0),
        end_sizes=(per_item * float(persons[used].mean()), per_item * float(raters[used].max())),
        level=level,
    )


def left_out_people(people: Mapping[str, VoteCounts]) -> dict[str, tuple[IntArray, FloatArray]]:
    """Of each person the comparisons on which the others have one decided mode, and its credit.

    Credit of its majority label: the mode 1, a tie ½, the opposite 0. Votes of the others are
    pooled.
    """
    total = _pooled(people.values(), _size(people.values()))
    of_person = {}
    for name, counts in people.items():
        others = total[:, counts.comparison] - np.stack([counts.plus, counts.tie, counts.minus])
        mode = np.where(others.sum(axis=0) > 0, majority(*others), 0)
        decided = mode != 0
        credit = (1 + counts.label[decided] * mode[decided]) / 2
        of_person[name] = counts.comparison[decided], credit
    return of_person


def judge_credit_against_people(
    judge: VoteCounts, people: Mapping[str, VoteCounts], *, level: float = 0.95
) -> Estimate | None:
    """Half credit of a judge on the comparisons that the votes of all people together decide.

    Of each vote of the judge [the people's modal label 1, a tie ½, the opposite 0], averaged within
    items, then over items, with the interval of `core.stats.intervals.wilson_by_item`; its n is the
    number of items. A coin, and a judge that always ties, get ½.

    people : person → its counts, the judge not among them; comparison codes shared with the judge.
    None without a comparison of the judge on which the people's votes have one decided mode.
    Source: ours.
    """
    votes = _pooled(people.values(), _size([judge, *people.values()]))
    mode = np.where(votes.sum(axis=0) > 0, majority(*votes), 0)[judge.comparison]
    decided = judge.rows(mode != 0)
    if not len(decided):
        return None
    right = np.where(mode[mode != 0] == 1, decided.plus, decided.minus) + decided.tie / 2
    return wilson_by_item(decided.item, decided.n, right, half_credit=True, level=level)


def judge_against_people(
    judge: VoteCounts, people: Mapping[str, VoteCounts], *, level: float = 0.95
) -> Estimate | None:
    """How much more often the judge than a left-out person says what the other people say, −1 to 1.

    Of each person on each comparison that the judge and another person labelled too: [judge's label
    = mode of the others] − [person's label = mode of the others]; no unique mode is a tie. Averaged
    over the people of a comparison, then over items, with `mean_interval`'s interval. None without
    such a comparison.

    Source: the leave-one-out of `leave_one_out`, pooled over people (ours).
    """
    if not people:
        return None
    size = _size([judge, *people.values()])
    votes = np.zeros((len(people), 3, size), dtype=np.int64)
    label = np.full((len(people), size), NO_GOLD)
    for row, counts in enumerate(people.values()):
        votes[row][:, counts.comparison] = counts.plus, counts.tie, counts.minus
        label[row, counts.comparison] = counts.label
    others = votes.sum(axis=0) - votes
    mode = np.stack([majority(*left) for left in others])[:, judge.comparison]
    usable = ((others.sum(axis=1) > 0) & (label != NO_GOLD))[:, judge.comparison]
    gain = (judge.label == mode).astype(np.float64) - (label[:, judge.comparison] == mode)
    persons = usable.sum(axis=0)
    rows = persons > 0
    if not rows.any():
        return None
    of_comparison = (gain * usable).sum(axis=0)[rows] / persons[rows]
    means = item_means(judge.item[rows], of_comparison)
    return mean_interval(np.arange(len(means)), means, ends=(-1.0, 1.0), level=level)


def _size(raters: Iterable[VoteCounts]) -> int:
    """One more than the largest code of a comparison."""
    return 1 + max((int(counts.comparison.max(initial=-1)) for counts in raters), default=-1)


def _pooled(raters: Iterable[VoteCounts], size: int) -> IntArray:
    """`_spread` of several raters added up."""
    return sum((_spread(counts, size) for counts in raters), np.zeros((3, size), dtype=np.int64))


def _spread(counts: VoteCounts, size: int) -> IntArray:
    """(3, comparisons) votes +1, 0, -1 by comparison code."""
    table = np.zeros((3, size), dtype=np.int64)
    table[:, counts.comparison] = counts.plus, counts.tie, counts.minus
    return table


def _paired(
    human: VoteCounts, judge: VoteCounts, labels: IntArray, reason: str | None, level: float
) -> dict[str, Any]:
    """Fields of `JudgeVsHuman` beyond its names, with `labels` in place of the judge's majority
    labels.
    """
    in_human, in_judge = common_places(human.comparison, judge.comparison)
    n = len(in_human)
    if not n:
        reason = "no comparison that it, this person and another one labelled."
    gold, item = human.gold[in_human], human.item[in_human]
    human_right, judge_right = human.label[in_human] == gold, labels[in_judge] == gold
    difference = None
    if reason is None:
        paired = judge_right.astype(np.float64) - human_right
        difference = mean_interval(item, paired, ends=(-1.0, 1.0), level=level)
    return {
        "n": n,
        "n_items": len(np.unique(item)),
        "human_pa": float(human_right.mean()) if n else None,
        "judge_pa": float(judge_right.mean()) if difference else None,
        "difference": difference,
        "wins": difference.value > 0 if difference else None,
        "clearly": difference.low > 0 if difference else None,
        "reason": reason,
    }
