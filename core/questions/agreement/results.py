"""What is made of the votes for this question; evidence keeps each result once."""

from __future__ import annotations

from collections.abc import Collection

from ...finding.evidence import Counted, Evidence, makes_gold
from ...finding.question import Result
from ...stats.estimate import Estimate
from ..scores.people import EPSILON, AltTest, alttest_of_votes
from .judge_vs_human import judge_against_people, judge_credit_against_people, people_agreement
from .kappa import AgreementMatrix, JudgePair, agreement_matrix
from .own_gold import GoldOfPeople, gold_is_its_first_vote, gold_is_their_majority
from .reliability import Repeatability, icc
from .repeats import EffectiveVotes, effective_votes
from .steadiness import coin_share


def _agreement(counted: Counted) -> AgreementMatrix:
    return agreement_matrix(counted.votes if counted.about else {}, level=counted.options.level)


AGREEMENT = Result("agreement", _agreement)
"""Of all judges: agreement of every two."""


def _people_kappa(counted: Counted) -> float | None:
    people = counted.people
    kappas = [
        pair.kappa.value
        for pair in counted[AGREEMENT].pairs
        if pair.kappa and pair.judge_1 in people and pair.judge_2 in people
    ]
    return sum(kappas) / len(kappas) if kappas else None


PEOPLE_KAPPA = Result("people_kappa", _people_kappa)
"""Of all people: mean κ of their pairs; None without a pair."""


def _gold_of_people(counted: Counted) -> GoldOfPeople | None:
    people = {name: counted.votes[name] for name in sorted(counted.people) if name in counted.votes}
    return gold_is_their_majority(people) if counted.gold == "given" and people else None


GOLD_OF_PEOPLE = Result("gold_of_people", _gold_of_people)
"""Of all people: whether the gold of the file is their majority."""


def _own_gold(evidence: Evidence) -> str | None:
    counted = evidence.counted
    if makes_gold(evidence.judge, counted.people, counted.gold):
        by_people = counted.gold == "humans"
        return "human votes, its own among them" if by_people else "its own votes"
    if counted.gold != "given" or evidence.votes is None or not evidence.has_gold:
        return None
    theirs = counted[GOLD_OF_PEOPLE]
    if evidence.is_person and theirs is not None and theirs.is_theirs:
        return (
            "the people's votes, its own among them: it equals their majority even where one vote "
            "decides"
        )
    first = counted.first_votes.get(evidence.judge)
    own = None if first is None else gold_is_its_first_vote(evidence.votes, first)
    if own is None or not own.is_its_own:
        return None
    return "its own first votes, which it equals more often than later ones"


OWN_GOLD = Result("own_gold", _own_gold)
"""Whose votes gold is made of, where its own are among them: checks against gold are not made."""


def _repeatability(evidence: Evidence) -> Repeatability | None:
    ratings = evidence.counted.ratings.get(evidence.judge)
    return None if ratings is None else icc(ratings, level=evidence.level)


REPEATABILITY = Result("repeatability", _repeatability)
"""Reliability of repeated votes."""


def _coin_share(evidence: Evidence) -> Estimate | None:
    if evidence.votes is None:
        return None
    return coin_share(evidence.votes, evidence.orders, level=evidence.level)


COIN_SHARE = Result("coin_share", _coin_share)
"""On which share of comparisons it is as unsteady as a coin."""


def _effective_votes(evidence: Evidence) -> EffectiveVotes | None:
    return None if evidence.votes is None else effective_votes(evidence.votes, level=evidence.level)


EFFECTIVE_VOTES = Result("effective_votes", _effective_votes)
"""How many independent votes its repeated votes are worth."""


def alternative_of(evidence: Evidence, kind: str) -> AltTest | None:
    """The Alternative Annotator Test beside the people who voted, taken for people of a kind of
    `EPSILON`; None without two, or for one of them.
    """
    votes = evidence.counted.votes
    people = {name: votes[name] for name in sorted(evidence.counted.people) if name in votes}
    if evidence.votes is None or evidence.is_person or len(people) < 2:
        return None
    return alttest_of_votes(evidence.votes, people, epsilon=EPSILON[kind])


ALTERNATIVE = Result("alternative", lambda evidence: alternative_of(evidence, "experts"))
"""The same with people taken for experts."""


def _beside_people(evidence: Evidence) -> Estimate | None:
    if evidence.votes is None or len(evidence.other_people) < 2:
        return None
    return judge_against_people(evidence.votes, evidence.other_people, level=evidence.level)


BESIDE_PEOPLE = Result("beside_people", _beside_people)
"""How much more often it says what the other people say than a left-out person does."""


def _people_rate(evidence: Evidence) -> Estimate | None:
    if len(evidence.other_people) < 2:
        return None
    return people_agreement(evidence.other_people, level=evidence.level)


PEOPLE_RATE = Result("people_rate", _people_rate)
"""How often a left-out person says what the others say."""


def _credit_by_people(evidence: Evidence) -> Estimate | None:
    if evidence.votes is None or len(evidence.other_people) < 2:
        return None
    return judge_credit_against_people(evidence.votes, evidence.other_people, level=evidence.level)


CREDIT_BY_PEOPLE = Result("credit_by_people", _credit_by_people)
"""Half credit against what the majority of the people decides."""


def _partner(evidence: Evidence) -> JudgePair | None:
    return closest_partner(evidence.judge, evidence.counted[AGREEMENT], evidence.counted.people)


PARTNER = Result("partner", _partner)
"""Its agreement with the person, or judge, that shares most comparisons with it."""


def _anchors(evidence: Evidence) -> tuple[str, ...]:
    return evidence.counted.anchors


ANCHORS = Result("anchors", _anchors)
"""Models that its repeated votes are oriented by."""


ALL_PAIRS = Result("all_pairs", lambda evidence: evidence.counted[AGREEMENT].pairs)
"""Agreement of every two judges, for what is said of several."""


def closest_partner(
    judge: str, agreed: AgreementMatrix, people: Collection[str]
) -> JudgePair | None:
    """The pair with the human that shares most comparisons with it; without humans, with the judge
    that does.

    Equal numbers: the middle one by κ (the lower of two), so that neither a name nor an odd rater
    decides.
    """

    def closeness(pair: JudgePair) -> tuple[bool, int]:
        return (pair.judge_2 if pair.judge_1 == judge else pair.judge_1) in people, pair.n

    shared = [pair for pair in agreed.of(judge) if pair.n] if judge in agreed.judges else []
    closest = max(map(closeness, shared), default=None)
    nearest = [pair for pair in shared if closeness(pair) == closest]
    by_kappa = sorted(
        (pair.kappa.value, place) for place, pair in enumerate(nearest) if pair.kappa is not None
    )
    return nearest[by_kappa[(len(by_kappa) - 1) // 2][1]] if by_kappa else next(iter(nearest), None)
