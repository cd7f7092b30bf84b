"""The effective number of votes: a known correlation is found, and errors are predicted."""

import re

import numpy as np
import pytest
from places import REPOSITORY

from benchmarks import effective_votes as measured
from core.finding.answer import MOST_WORDS, words
from core.questions.agreement.repeats import effective_votes
from core.questions.planning.words import worth_answer
from core.records import VoteCounts


def drawn(rng, *, items=400, votes=8, alpha=4.0, beta=1.0, ties=0.0):
    """Votes whose chance to be right is drawn from a beta distribution for each comparison."""
    p = rng.beta(alpha, beta, size=items)
    gold = rng.choice([-1, 1], size=items)
    tie = rng.binomial(votes, ties, size=items)
    right = rng.binomial(votes - tie, p)
    wrong = votes - tie - right
    ahead = gold == 1
    return VoteCounts(
        comparison=np.arange(items),
        item=np.arange(items),
        plus=np.where(ahead, right, wrong),
        tie=tie,
        minus=np.where(ahead, wrong, right),
        gold=gold,
    )


@pytest.mark.thorough
def test_the_interval_of_the_correlation_holds_the_truth():
    rng, truth = np.random.default_rng(0), 1 / (4 + 1 + 1)
    found = [effective_votes(drawn(rng, items=120)) for _ in range(200)]
    held = [each.correlation.low <= truth <= each.correlation.high for each in found]
    assert np.mean(held) >= 0.91
    assert np.mean([each.correlation.value for each in found]) == pytest.approx(truth, abs=0.01)
    worth = 8 / (1 + 7 * truth)
    assert np.mean([each.effective.low <= worth <= each.effective.high for each in found]) >= 0.91


@pytest.mark.parametrize("ties", [0.0, 0.3])
def test_what_is_predicted_is_what_is_seen(ties):
    found = effective_votes(drawn(np.random.default_rng(1), items=4000, ties=ties))
    for row in found.errors:
        assert row.predicted == pytest.approx(row.observed.value, abs=0.01)
    assert found.errors[0].observed.value == pytest.approx(1 - found.right, abs=1e-9)


def test_votes_that_repeat_one_another_are_worth_one_and_independent_ones_all():
    rng = np.random.default_rng(2)
    one = drawn(rng, votes=1, items=200)
    same = VoteCounts(
        comparison=one.comparison,
        item=one.item,
        plus=8 * one.plus,
        tie=0 * one.tie,
        minus=8 * one.minus,
        gold=one.gold,
    )
    assert effective_votes(same).effective.value == pytest.approx(1.0)
    alike = effective_votes(drawn(rng, items=3000, alpha=4e4, beta=1e4))
    assert alike.effective.value == pytest.approx(8, abs=0.5)


def test_few_items_and_perfect_judges_say_nothing():
    rng = np.random.default_rng(3)
    assert effective_votes(drawn(rng, items=29)) is None
    assert effective_votes(drawn(rng, votes=1)) is None
    perfect = drawn(rng, alpha=1e9, beta=1e-9)
    assert effective_votes(perfect) is None


def test_it_is_said_in_words():
    rng = np.random.default_rng(4)
    found = effective_votes(drawn(rng))
    said = worth_answer("judge", found)
    worth = f"{found.effective.value:.1f}"
    assert found.effective.high < 8
    assert said.headline == (
        f"The eight votes of judge are worth {worth} independent ones, as they err together."
    )
    assert words(said.headline) <= MOST_WORDS
    errors = [f"{100 * row.observed.value:.1f} %" for row in found.errors]
    low, high = (f"{end:.1f}" for end in (found.effective.low, found.effective.high))
    assert said.figures == (
        f"worth {worth} ({low}–{high}) · majority on the wrong side, ties tossed, {errors[0]} with "
        f"1 vote, {errors[-1]} with 8 · {found.effective.n:,} items"
    )
    assert not said.good
    apart = worth_answer("judge", effective_votes(drawn(rng, items=3000, alpha=4e6, beta=1e6)))
    assert "independent ones, which may be chance." in apart.headline
    assert apart.good
    two = worth_answer("judge", effective_votes(drawn(rng, votes=2)))
    assert "with two votes BTD rarely errs less than the majority" in two.figures


@pytest.mark.thorough
def test_errors_at_three_temperatures_are_predicted_within_half_a_point(shared_data):
    found = measured.worths(shared_data / "votes" / "rewardbench2_temperature.csv.gz")
    assert len(found) == 3
    for each in found.values():
        assert max(abs(row.predicted - row.observed.value) for row in each.errors) <= 0.005
    results = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- effective -->\n(.*?)\n<!-- /effective -->", results, flags=re.DOTALL)
    assert shown is not None
    assert shown[1] == measured.table(found)
