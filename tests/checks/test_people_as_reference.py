"""People measure a judge only where they agree with each other more than chance would make them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evidence_of import evidence_of, overall, shown, votes_of

from core.finding.evidence import Evidence
from core.questions.accuracy.check import ACCURACY
from core.questions.accuracy.results import CREDIT
from core.records import NO_GOLD, VoteCounts


def says(rng: np.random.Generator, truth: Any, right: float) -> Any:
    return np.where(rng.random(len(truth)) < right, truth, -truth)


def people_of(rng: np.random.Generator, truth: Any, right: float, number: int) -> dict[str, Any]:
    return {f"p{k}": says(rng, truth, right) for k in range(number)}


def beside_people(
    rng: np.random.Generator, right: float, *, people: float, number: int, items: int = 300
) -> Evidence:
    """A judge graded by the majority of people's votes, as where gold is `humans`."""
    truth = rng.choice([-1, 1], items)
    voted = people_of(rng, truth, people, number)
    gold = np.sign(sum(voted.values()))
    counts = {name: votes_of(votes, gold) for name, votes in voted.items()}
    return evidence_of(votes_of(says(rng, truth, right), gold), people=counts, gold="humans")


def without_gold(
    rng: np.random.Generator, right: float, *, people: float, number: int = 5, items: int = 300
) -> Evidence:
    """A judge that says the same in both orders, and people, where nobody knows what is right."""
    truth = rng.choice([-1, 1], items)
    counts: dict[str, VoteCounts] = {
        name: votes_of(votes, NO_GOLD)
        for name, votes in people_of(rng, truth, people, number).items()
    }
    votes = says(rng, truth, right)
    return evidence_of(**shown(votes, votes), people=counts)


def test_a_coin_is_not_ok_beside_people() -> None:
    """Three people right on 75 %: the caution fell to .44, and a coin passed in 62 draws of 100."""
    rng = np.random.default_rng(0)
    grades = []
    for _ in range(40):
        evidence = beside_people(rng, 0.5, people=0.75, number=3)
        result = ACCURACY.result(evidence)
        assert result.limits is not None
        assert result.limits.caution >= 0.60
        assert result.limits.failure is not None
        assert result.limits.failure >= 0.50
        grades.append(result.grade)
    assert "ok" not in grades
    assert grades.count("warn") + grades.count("fail") >= 36


def test_a_judge_as_good_as_a_person_does_not_fail_and_seldom_warns() -> None:
    """Its rate against a majority that was close at times is a person's, at the caution itself."""
    rng = np.random.default_rng(1)
    grades = [
        ACCURACY.result(beside_people(rng, 0.75, people=0.75, number=5)).grade for _ in range(40)
    ]
    assert set(grades) <= {"ok", "unclear", "warn"}
    assert grades.count("warn") <= 4


def test_two_people_lower_no_limit() -> None:
    """Gold exists only where both agree, so how often they do says nothing of it."""
    rng = np.random.default_rng(2)
    evidence = beside_people(rng, 0.8, people=0.62, number=2)
    limits = ACCURACY.limits_of(evidence)
    assert (limits.caution, limits.failure) == (0.70, 0.60)


@pytest.mark.parametrize("number", [3, 5, 8])
def test_people_at_chance_are_no_reference(number: int) -> None:
    rng = np.random.default_rng(number)
    evidence = beside_people(rng, 0.99, people=0.5, number=number)
    # A judge that says what the majority says, however that came about.
    gold = evidence.votes
    assert gold is not None
    told = evidence_of(votes_of(gold.gold, gold.gold), people=evidence.other_people, gold="humans")
    result = ACCURACY.result(told)
    right = told[CREDIT]
    assert right is not None
    assert right.low > 0.9
    assert result.grade == "unclear"
    assert "they are no reference." in result.sentence


def test_a_coin_is_never_trusted_for_what_chance_agrees_on() -> None:
    """Five people at chance, and a judge that repeats its coin: nothing is known of it."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        evidence = without_gold(rng, 0.5, people=0.5)
        assert overall(evidence).verdict == "cannot_say"


def test_a_coin_beside_people_who_agree_is_never_trusted() -> None:
    rng = np.random.default_rng(4)
    verdicts = {overall(without_gold(rng, 0.5, people=0.8)).verdict for _ in range(20)}
    assert verdicts <= {"cannot_say", "do_not_trust"}


@pytest.mark.thorough
def test_people_stand_for_gold_where_a_judge_says_what_they_say() -> None:
    """Five people right on 75 % at 300 items: a judge right on .95 is trusted, a coin never."""
    rng = np.random.default_rng(5)
    trusted = {
        right: sum(
            overall(without_gold(rng, right, people=0.75)).verdict == "trust" for _ in range(60)
        )
        for right in (0.5, 0.65, 0.95)
    }
    assert trusted[0.5] == 0
    assert trusted[0.65] <= 6
    assert trusted[0.95] >= 45
