"""Who says what is right of pairs, and which comparisons have a label?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...finding.evidence import Counted, Evidence
from ...finding.question import Result
from ...records import NO_GOLD, FloatArray, IntArray, VoteCounts
from ...stats.estimate import Estimate
from ...stats.periods import periods
from ...store import vote_queries as queries
from ..accuracy.method import OnlyDiffering, credit, only_differing
from ..agreement.results import PEOPLE_RATE
from ..scores.drift import Drift, drift
from ..scores.table import UNDECIDED, ScoreTable
from .weigh import strata
from .which import Design, Difference, Which, compared, differing
from .who import Who, going_against

LEAST_RATE = 0.60
"""People who say what the other people say less often than this are no reference."""
COPIED = 200
"""Comparisons on which a person says what the judge says, from which labels are the judge's own."""
OTHERS = "agreement with the other judges"
ORDER = "verdicts that change with the order"


def people_are_reference(rate: Estimate | None) -> bool:
    """Whether people agree with each other often enough to measure a judge by them: .60 or more,
    shown to be above .50.
    """
    return rate is not None and rate.value >= LEAST_RATE and rate.low > 0.5


def _who(evidence: Evidence) -> Who:
    """The people beside a judge of pairs; how often a left-out one says what the others say."""
    people = evidence.other_people
    rate = evidence[PEOPLE_RATE]
    votes = evidence.votes
    copied = tuple(
        name for name, own in people.items() if votes is not None and _is_copy(votes, own)
    )
    against: tuple[str, ...] = ()
    if len(people) > 1:
        item, labels = _matrix(people)
        table = ScoreTable.of(np.zeros(len(item)), labels, unit=item, low=-1, high=1, kind="levels")
        against = tuple(
            name for place, name in enumerate(people) if going_against(labels, place, table)
        )
    reason = None
    if rate is None:
        reason = "it needs two people or more" if len(people) < 2 else "they share no comparison"
    return Who(
        people=len(people),
        agreement=rate,
        is_reference=None if rate is None else people_are_reference(rate),
        against=against,
        copied=copied,
        reason=reason,
    )


WHO = Result("who", lambda evidence: _who(evidence) if evidence.metric is None else evidence.who)
"""Whether the people are a reference."""


def _is_copy(votes: VoteCounts, person: VoteCounts) -> bool:
    _, one, other = np.intersect1d(
        votes.comparison, person.comparison, assume_unique=True, return_indices=True
    )
    own = votes.label[one]
    several = len(own) >= COPIED and len(np.unique(own)) > 1
    return bool(several and (own == person.label[other]).all())


def _matrix(people: Mapping[str, VoteCounts]) -> tuple[IntArray, FloatArray]:
    """Item of each comparison that a person judged, and their labels, NaN where one has none."""
    code = np.unique(np.concatenate([own.comparison for own in people.values()]))
    item, labels = np.zeros(len(code), np.int64), np.full((len(code), len(people)), np.nan)
    for place, own in enumerate(people.values()):
        rows = np.searchsorted(code, own.comparison)
        item[rows], labels[rows, place] = own.item, own.label
    return item, labels


def _spread(votes: VoteCounts, comparison: IntArray, values: FloatArray) -> FloatArray:
    """Values by the rows of votes, NaN where a comparison has none."""
    found = np.full(len(votes), np.nan)
    rows = np.searchsorted(votes.comparison, comparison)
    rows = np.minimum(rows, len(votes) - 1)
    there = votes.comparison[rows] == comparison
    found[rows[there]] = values[there]
    return found


def _with_others(evidence: Evidence, votes: VoteCounts) -> FloatArray:
    """Whether it says what most other judges say, NaN where none voted or they are undecided."""
    balance, n = np.zeros(len(votes)), np.zeros(len(votes))
    for name, own in evidence.counted.votes.items():
        if name == evidence.judge or name in evidence.counted.people:
            continue
        label = _spread(votes, own.comparison, own.label.astype(np.float64))
        known = ~np.isnan(label)
        balance[known] += label[known]
        n[known] += 1
    return np.where(n > 0, (np.sign(balance) == votes.label).astype(np.float64), np.nan)


def _columns(evidence: Evidence, votes: VoteCounts) -> dict[str, Any]:
    """What is known of every judged comparison."""
    columns: dict[str, Any] = {"verdict": np.array(["B", "tie", "A"])[votes.label + 1]}
    others = _with_others(evidence, votes)
    if not np.isnan(others).all():
        columns[OTHERS] = others
    placed = evidence.positions
    if placed is not None and placed.pairs.any():
        both = placed.pairs > 0
        changed = (placed.flips[both] / placed.pairs[both]).astype(np.float64)
        columns[ORDER] = _spread(votes, placed.comparison[both], changed)
    stated = evidence.counted.by_confidence.get(evidence.judge)
    if stated is not None and not np.isnan(stated.confidence).all():
        known = ~np.isnan(stated.confidence)
        code, place = np.unique(stated.comparison[known], return_inverse=True)
        total = np.bincount(place, stated.confidence[known] * stated.n[known])
        columns["confidence"] = _spread(votes, code, total / np.bincount(place, stated.n[known]))
    columns |= {
        name: values
        for name, values in (
            ("category", _category(evidence, votes)),
            ("models", _models(evidence, votes)),
            ("date", _period(evidence, votes)),
        )
        if len(np.unique(values)) > 1
    }
    return columns


def _texts(votes: VoteCounts, of: Mapping[str, VoteCounts]) -> Any:
    values = np.full(len(votes), "", dtype=object)
    for name, own in of.items():
        values[~np.isnan(_spread(votes, own.comparison, np.ones(len(own))))] = name
    return values


def _category(evidence: Evidence, votes: VoteCounts) -> Any:
    of = {
        name: of_judge[evidence.judge]
        for name, of_judge in evidence.counted.by_category.items()
        if name and evidence.judge in of_judge
    }
    return _texts(votes, of)


def _models(evidence: Evidence, votes: VoteCounts) -> Any:
    pairs = np.sort(evidence.counted.models[votes.comparison], axis=1)
    return np.array([f"{one} {other}" for one, other in pairs.tolist()], dtype=object)


def _days(evidence: Evidence) -> dict[str, VoteCounts]:
    """Its votes by what the first column with dates says, empty without one."""
    for column in evidence.counted.ask(queries.dated_columns):
        days = evidence.counted.ask(queries.vote_counts_by, column=column, days=True)
        own = {day: of[evidence.judge] for day, of in days.items() if evidence.judge in of}
        if periods(list(own)) is not None:
            return own
    return {}


DAYS = Result("votes_by_day", _days)


def _period(evidence: Evidence, votes: VoteCounts) -> Any:
    days = evidence[DAYS]
    coded = periods(list(days), [int((own.gold != NO_GOLD).sum()) for own in days.values()])
    if coded is None:
        return np.full(len(votes), "", dtype=object)
    code, names = coded
    found = np.full(len(votes), "", dtype=object)
    for own, place in zip(days.values(), code, strict=True):
        if place >= 0:
            found[~np.isnan(_spread(votes, own.comparison, np.ones(len(own))))] = names[place]
    return found


def _only_differing(counted: Counted) -> OnlyDiffering | None:
    return only_differing(
        [votes for name, votes in counted.votes.items() if name not in counted.people]
    )


ONLY_DIFFERING = Result("only_differing", _only_differing)
"""Of all judges: whether gold was given only where they differ."""


def _which(evidence: Evidence) -> Which | None:
    """Comparisons with gold beside those without; None without gold or votes."""
    votes = evidence.votes
    if votes is None or not evidence.has_gold:
        return None
    labelled = votes.gold != NO_GOLD
    differences: dict[str, Difference] = {}
    design: Design = "all"
    if not labelled.all():
        differences = compared(labelled, _columns(evidence, votes), votes.item)
        differs = differing(differences)
        drawn = evidence.options.labels_drawn
        design = "random"
        if evidence.counted[ONLY_DIFFERING] is not None:
            design = "only disagreements"
        elif drawn == "disagreements" or (drawn == "seen" and differs == OTHERS):
            design = "disagreements"
    return Which(
        n=len(votes),
        labelled=int(labelled.sum()),
        design=design,
        differs=differing(differences),
        columns=differences,
    )


WHICH = Result(
    "which", lambda evidence: _which(evidence) if evidence.metric is None else evidence.which
)
"""Whether the labelled answers are like the others, and how they were drawn."""


def _weighed(evidence: Evidence) -> Estimate | None:
    """Half credit of all judged comparisons, weighed by whether judges differ; None where labels
    are of all, or as they came.
    """
    of, votes = evidence[WHICH], evidence.votes
    if of is None or votes is None or of.design != "disagreements":
        return None
    others = _with_others(evidence, votes)
    stratum = np.where(np.isnan(others), 2, others).astype(np.int64)
    decided = (votes.gold != NO_GOLD) & (votes.gold != 0)
    return strata(
        stratum, np.where(decided, credit(votes), np.nan), votes.item, level=evidence.level
    )


WEIGHED = Result("weighed_right", _weighed)
"""Half credit of all judged comparisons, where labels were drawn by whether judges differ."""


def _right_over_time(evidence: Evidence) -> Drift | None:
    """How much more often it is right in a period than in the rest; None without dates."""
    votes, days = evidence.votes, evidence[DAYS]
    if votes is None or not days or not evidence.has_gold:
        return None
    named = _period(evidence, votes)
    names = tuple(sorted({*named.tolist()} - {""}))
    if len(names) < 2:
        return None
    place = {name: code for code, name in enumerate(names)}
    decided = (votes.gold != NO_GOLD) & (votes.gold != 0)
    table = ScoreTable.of(
        credit(votes)[decided], np.ones(int(decided.sum())), unit=votes.item[decided], low=0, high=1
    )
    group = np.array([place.get(name, UNDECIDED) for name in named[decided]], dtype=np.int64)
    return drift(table, group=group, names=names, level=evidence.level)


RIGHT_OVER_TIME = Result("right_over_time", _right_over_time)
"""How much more often it is right at one time than at the others."""
