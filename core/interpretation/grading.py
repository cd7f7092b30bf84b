"""Verdicts that need more than one judge's counts: people beside it, categories, and whose votes
gold is.

`auditing` and the pages call the same functions, so that a judge has one verdict wherever it is
shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from ..agreement.kappa import AgreementMatrix, JudgePair
from ..records import NO_GOLD, OutputCounts, VoteCounts
from ..stats.estimate import Estimate
from ..store.browse import JudgeSummary
from . import estimates, verdicts
from .rules import BY_DEFAULT, Rules
from .verdicts import Verdict

AGAINST_GOLD = ("accuracy", "calibration", "overconfidence", "discrimination", "ties", "length")
"""Checks that compare a judge with gold."""


def accuracy_verdict(
    name: str,
    votes: Mapping[str, VoteCounts],
    humans: Collection[str],
    *,
    gold: str = "given",
    outputs: OutputCounts | None = None,
    by_category: Mapping[str, Mapping[str, VoteCounts]] | None = None,
    estimate: Estimate | None = None,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """Accuracy of one judge; with gold made of people's votes their own agreement sets the limits.

    outputs : of the judge, where some have no verdict.  by_category : category → judge → votes.
    estimate : of its votes alone, where it is known already.
    """
    people = _other_people(name, votes, humans)
    ceiling = None
    if gold == "humans" and len(people) > 1:
        ceiling = estimates.people_agreement(people, level=rules.level)
    found = verdicts.accuracy(
        name,
        votes.get(name),
        credited=_credited(outputs),
        ceiling=ceiling,
        categories={
            category: of[name]
            for category, of in (by_category or {}).items()
            if category and name in of
        },
        estimate=estimate,
        rules=rules,
    )
    return unless_own_gold(found, humans, gold=gold)


def agreement_verdict(
    name: str,
    votes: Mapping[str, VoteCounts],
    agreed: AgreementMatrix,
    humans: frozenset[str],
    *,
    gold: str = "given",
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """Agreement of one judge with people, graded where it has no gold; without people, with its
    partner.
    """
    counts, people = votes.get(name), _other_people(name, votes, humans)
    against_people = None
    if counts is not None and len(people) > 1 and gold != "humans":
        against_people = estimates.judge_against_people(counts, people, level=rules.level)
    return verdicts.agreement(
        name,
        closest_partner(name, agreed, humans),
        len(agreed.judges) - 1,
        against_people=against_people,
        graded_by_people=counts is not None and not (counts.gold != NO_GOLD).any(),
        people=people_kappa(agreed, humans),
        one_label=_largest_label(counts),
        rules=rules,
    )


def data_verdict(
    name: str,
    votes: JudgeSummary,
    outputs: OutputCounts | None,
    counts: VoteCounts | None,
    *,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """How many outputs of one judge have no verdict; `outputs` where some have none."""
    missing = None
    if outputs is not None:
        missing = estimates.missing_outputs(
            outputs.item, outputs.n, outputs.missing, level=rules.level
        )
    elif counts is not None:
        n = counts.plus + counts.tie + counts.minus
        missing = estimates.missing_outputs(
            counts.item, n, np.zeros(len(n), np.int64), level=rules.level
        )
    return verdicts.data(name, votes, missing, counts, rules=rules)


def unless_own_gold(found: Verdict, humans: Collection[str], *, gold: str) -> Verdict:
    """The verdict, or that it is not graded because gold is made of the judge's own votes."""
    if found.check not in AGAINST_GOLD or not makes_gold(found.judge, humans, gold):
        return found
    whose = "human votes, its own among them" if gold == "humans" else "its own votes"
    return verdicts.unknown(
        found.judge, found.check, f"{verdicts.NOT_GRADED}: gold is made of {whose}."
    )


def _other_people(
    name: str, votes: Mapping[str, VoteCounts], humans: Collection[str]
) -> dict[str, VoteCounts]:
    return {human: votes[human] for human in sorted(humans) if human != name and human in votes}


def _credited(outputs: OutputCounts | None) -> VoteCounts | None:
    """Votes with the outputs that have none as ties, where those are many enough to count."""
    if outputs is None or outputs.missing.sum() <= verdicts.MISSING_COUNTS * outputs.n.sum():
        return None
    return VoteCounts(
        comparison=outputs.comparison,
        item=outputs.item,
        plus=outputs.plus,
        tie=outputs.tie + outputs.missing,
        minus=outputs.minus,
        gold=outputs.gold,
    )


def _largest_label(counts: VoteCounts | None) -> float:
    if counts is None:
        return 1.0
    of_each = counts.plus.sum(), counts.tie.sum(), counts.minus.sum()
    return float(max(of_each) / sum(of_each))


def makes_gold(judge: str, humans: Collection[str], gold: str) -> bool:
    """Whether gold, as a selection forms it, holds the judge's own votes."""
    return gold == judge or (gold == "humans" and judge in humans)


def closest_partner(
    judge: str, agreed: AgreementMatrix, humans: frozenset[str]
) -> JudgePair | None:
    """The pair with the human that shares most comparisons with it; without humans, with the judge
    that does.

    Equal numbers: the middle one by κ (the lower of two), so that neither a name nor an odd rater
    decides.
    """

    def closeness(pair: JudgePair) -> tuple[bool, int]:
        return (pair.judge_2 if pair.judge_1 == judge else pair.judge_1) in humans, pair.n

    shared = [pair for pair in agreed.of(judge) if pair.n] if judge in agreed.judges else []
    near = [closeness(pair) for pair in shared]
    closest = max(near, default=None)
    level = [pair for pair, one in zip(shared, near, strict=True) if one == closest]
    by_kappa = sorted(
        ((pair.kappa.value, place) for place, pair in enumerate(level) if pair.kappa is not None)
    )
    return level[by_kappa[(len(by_kappa) - 1) // 2][1]] if by_kappa else next(iter(level), None)


def people_kappa(agreed: AgreementMatrix, humans: frozenset[str]) -> float | None:
    """Mean κ of the pairs of humans; None without such a pair."""
    people = [
        p for name in agreed.judges if name in humans for p in agreed.of(name) if p.judge_1 == name
    ]
    kappas = [p.kappa.value for p in people if p.judge_2 in humans and p.kappa]
    return sum(kappas) / len(kappas) if kappas else None
