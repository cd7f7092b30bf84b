"""Gold that is made of the votes it grades is named, and very good raters are not accused."""

from itertools import product

import numpy as np
import pytest
from levels import first_of
from scipy.stats import binom

from core.questions.agreement.judge_vs_human import people_agreement
from core.questions.agreement.own_gold import (
    CHANCE,
    PRIOR_PERSONS,
    _at_most,
    gold_is_its_first_vote,
    gold_is_their_majority,
)
from core.records import NO_GOLD, FirstVotes, IntArray, VoteCounts


def rater(labels: IntArray, gold: IntArray) -> VoteCounts:
    code = np.arange(len(labels))
    return VoteCounts.of(
        (labels[:, None] == np.array([-1, 0, 1])).astype(np.int64),
        comparison=code,
        item=code,
        gold=gold,
    )


def drawn(
    rng: np.random.Generator, right: list[float], n: int, *, theirs: bool
) -> dict[str, VoteCounts]:
    """People right on these shares; gold is the truth, or the mode of their votes."""
    truth = rng.choice([-1, 1], n)
    hit = rng.random((len(right), n)) < np.array(right)[:, None]
    labels = np.where(hit, truth, -truth)
    gold = np.sign(labels.sum(axis=0)) if theirs else truth
    return {f"p{k}": rater(own, gold) for k, own in enumerate(labels)}


HONEST = (
    [0.9] * 3,
    [0.95] * 3,
    [0.98] * 3,
    [0.99] * 3,
    [0.8] * 5,
    [0.9] * 5,
    [0.95] * 10,
    [0.98] * 2,
    [1.0, 1.0, 0.5],
    [0.99, 0.95, 0.6, 0.6],
)


@pytest.mark.parametrize("right", first_of(*HONEST))
@pytest.mark.parametrize("n", first_of(100, 300))
def test_very_good_honest_people_are_not_accused(right: list[float], n: int) -> None:
    rng = np.random.default_rng(n)
    accused = [
        gold_is_their_majority(drawn(rng, right, n, theirs=False)).is_theirs for _ in range(100)
    ]
    assert np.mean(accused) <= 0.05


@pytest.mark.parametrize("right", [[0.75] * 3, [0.75] * 5, [0.9, 0.7, 0.6]])
def test_people_whose_mode_gold_is_are_found(right: list[float]) -> None:
    rng = np.random.default_rng(7)
    named = [
        gold_is_their_majority(drawn(rng, right, 300, theirs=True)).is_theirs for _ in range(60)
    ]
    assert np.mean(named) >= 0.9


def test_equality_alone_accuses_nobody() -> None:
    """Three people who are right on 99.5 % equal gold honestly: it may be noted, never charged."""
    rng = np.random.default_rng(2)
    found = gold_is_their_majority(drawn(rng, [0.995] * 3, 300, theirs=False))
    assert found.equals
    assert not found.is_theirs
    assert found.p > CHANCE


def test_two_people_leave_no_comparison_to_one_vote() -> None:
    rng = np.random.default_rng(2)
    found = gold_is_their_majority(drawn(rng, [0.75, 0.75], 300, theirs=True))
    assert (found.alike, found.close, found.p, found.is_theirs) == (1.0, 0, 1.0, False)
    assert found.equals


def test_with_one_rate_the_chance_is_binomial() -> None:
    """Each of three people is outvoted on as many comparisons, so that all have one rate."""
    labels = np.ones((3, 90), dtype=np.int64)
    for person in range(3):
        labels[person, 10 * person : 10 * person + 10] = -1
    gold = np.ones(90, dtype=np.int64)
    gold[0] = -1
    people = {f"p{k}": rater(own, gold) for k, own in enumerate(labels)}
    rate = people_agreement(people).value
    # Of 90 comparisons 60 have three persons that agree, 30 the outvoted one alone.
    assert rate == pytest.approx(180 / 210)
    found = gold_is_their_majority(people)
    assert (found.n, found.close, found.misses) == (90, 30, 1)
    assert found.alike == pytest.approx(89 / 90)
    assert found.expected == pytest.approx(30 * (1 - rate))
    assert found.p == pytest.approx(binom.cdf(1, 30, 1 - rate))


def test_with_several_rates_the_chance_is_that_of_all_cases() -> None:
    """Rates, odds and the chance of few misses by enumeration."""
    rng = np.random.default_rng(5)
    people = drawn(rng, [0.95, 0.8, 0.6], 40, theirs=True)
    labels = np.stack([own.label for own in people.values()])
    everyone, rates = people_agreement(people).value, []
    for person in range(3):
        others = np.delete(labels, person, axis=0).sum(axis=0)
        agrees = (labels[person] == np.sign(others))[others != 0]
        rates.append((agrees.sum() + PRIOR_PERSONS * everyone) / (len(agrees) + PRIOR_PERSONS))
    mode = np.sign(labels.sum(axis=0))
    miss = []
    for of_comparison, top in zip(labels.T, mode, strict=True):
        if abs(of_comparison.sum()) == 1:
            right, wrong = (
                np.prod(
                    [a if (v == side) else 1 - a for a, v in zip(rates, of_comparison, strict=True)]
                )
                for side in (top, -top)
            )
            miss.append(wrong / (right + wrong))
    found = gold_is_their_majority(people)
    assert (found.close, found.misses) == (len(miss), 0)
    assert found.expected == pytest.approx(sum(miss))
    assert found.p == pytest.approx(np.prod(1 - np.array(miss)))


def test_the_chance_of_few_misses_by_enumeration() -> None:
    chance = np.array([0.1, 0.5, 0.25, 0.9])
    for misses in range(5):
        ways = sum(
            np.prod([p if miss else 1 - p for p, miss in zip(chance, case, strict=True)])
            for case in product((False, True), repeat=4)
            if sum(case) <= misses
        )
        assert _at_most(misses, chance) == pytest.approx(ways)


def test_without_gold_or_people_nothing_is_said() -> None:
    blank = rater(np.ones(40, dtype=np.int64), np.full(40, NO_GOLD))
    for people in ({}, {"p": blank}, {"p": blank, "q": blank}):
        found = gold_is_their_majority(people)
        assert (found.n, found.equals, found.is_theirs) == (0, False, False)


def judged(
    rng: np.random.Generator, right: float, *, items: int, votes: int, own: bool
) -> tuple[VoteCounts, FirstVotes]:
    truth = rng.choice([-1, 1], items)
    cast = np.where(rng.random((votes, items)) < right, truth, -truth)
    code = np.arange(items)
    counts = VoteCounts(
        comparison=code,
        item=code,
        plus=(cast == 1).sum(axis=0),
        tie=np.zeros(items, dtype=np.int64),
        minus=(cast == -1).sum(axis=0),
        gold=cast[0] if own else truth,
    )
    return counts, FirstVotes(comparison=code, vote=cast[0])


@pytest.mark.parametrize("right", [0.75, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("votes", [2, 5])
def test_a_judge_is_named_where_gold_is_its_first_vote_and_never_for_being_good(
    right: float, votes: int
) -> None:
    rng = np.random.default_rng(votes)
    honest, own = (
        [
            gold_is_its_first_vote(*judged(rng, right, items=300, votes=votes, own=own)).is_its_own
            for _ in range(60)
        ]
        for own in (False, True)
    )
    assert np.mean(honest) <= 0.05
    # A judge that never errs gives no sign.
    assert np.mean(own) >= 0.9 or right >= 0.99


def test_gain_of_the_first_vote_by_hand() -> None:
    """Item 0: first right, one of two later ones. Item 1: first a tie as gold is, none later."""
    counts = VoteCounts.of(
        np.array([[1, 0, 2], [1, 1, 0], [0, 0, 1]]),
        comparison=np.array([0, 2, 5]),
        item=np.array([0, 1, 2]),
        gold=np.array([1, 0, 1]),
    )
    first = FirstVotes(comparison=np.array([0, 1, 2, 5]), vote=np.array([1, -1, 0, 1]))
    found = gold_is_its_first_vote(counts, first)
    assert (found.n_items, found.alike, found.is_its_own) == (2, 1.0, False)
    assert found.gain.value == pytest.approx((0.5 + 1.0) / 2)
    once = counts.rows(np.array([2]))
    assert gold_is_its_first_vote(once, first) is None
