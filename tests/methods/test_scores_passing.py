"""Pass and fail of single answers: TPR, TNR, beside a left-out person, and the cut."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_draws import levels, panel, score_rows
from sklearn.metrics import cohen_kappa_score, confusion_matrix, recall_score

from core.errors import InvalidOption, TooFewLabels
from core.questions.scores.cut import WIDENING, best_cut
from core.questions.scores.passing import pass_fail
from core.questions.scores.table import ScoreTable
from core.stats.intervals import wilson_by_item


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=3, max_size=40))
def test_rates_are_those_of_another_library(pairs: list[tuple[int, int]]) -> None:
    judge, person = (np.array(side) for side in zip(*pairs, strict=True))
    found = pass_fail(ScoreTable.of(judge, person, low=0, high=1, kind="pass_fail"))
    assert found.counts.tolist() == confusion_matrix(person, judge, labels=[0, 1]).tolist()
    for rate, label in ((found.tpr, 1), (found.tnr, 0)):
        if (person == label).any():
            expected = recall_score(person, judge, pos_label=label)
            assert rate.value == pytest.approx(expected, abs=1e-12)
        else:
            assert rate is None
    assert found.right.value == pytest.approx((judge == person).mean())
    if 0 < judge.sum() < len(judge) and 0 < person.sum() < len(person):
        assert found.kappa.value == pytest.approx(cohen_kappa_score(judge, person), abs=1e-9)
    else:
        assert "one verdict to all" in found.unknown["kappa"]


def test_intervals_count_units() -> None:
    """Answers of one conversation are one observation; the formula is that of verdicts by item."""
    rng = np.random.default_rng(0)
    gold, unit = np.ones(60), np.repeat(np.arange(20), 3)
    judge = np.repeat(rng.random(20) < 0.8, 3).astype(float)
    found = pass_fail(ScoreTable.of(judge, gold, unit=unit, low=0, high=1, kind="pass_fail"))
    alone = wilson_by_item(np.arange(20), np.ones(20), judge[::3])
    assert found.tpr.n == 20
    assert (found.tpr.value, found.tpr.low) == pytest.approx((alone.value, alone.low))


def test_a_judge_that_passes_everything() -> None:
    gold = np.r_[np.ones(255), np.zeros(45)]
    found = pass_fail(ScoreTable.of(np.ones(300), gold))
    assert found.tpr.value == 1
    assert found.tnr.value == 0
    assert found.tnr.high < 0.1
    assert found.right.value == found.always_pass == pytest.approx(0.85)
    assert found.kappa is None


def test_shares_of_runs_count_as_they_are(shared_data: Path) -> None:
    """TriviaQA, 30 runs an answer: what counts over all runs is what is published."""
    rows = score_rows(shared_data, "triviaqa_verdicts.csv.gz")
    item = np.unique([row["item_id"] for row in rows], return_inverse=True)[1]
    runs = np.bincount(item)
    says = np.bincount(item, [row["score"] == "correct" for row in rows]) / runs
    gold = np.bincount(item, [row["gold"] == "correct" for row in rows]) / runs
    found = pass_fail(ScoreTable.of(says, gold, low=0, high=1, kind="pass_fail"))
    assert found.tpr.value == pytest.approx(3932 / 6000)
    assert found.tnr.value == pytest.approx((11887 + 81) / 12000)
    assert (found.tpr.n, found.tnr.n) == (200, 400)


def test_beside_a_left_out_person_by_hand() -> None:
    """Three people: where one stands alone, only that one has others who decide."""
    people = np.array([[1.0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 0]])
    judge = np.array([1.0, 1, 0, 1])
    found = pass_fail(ScoreTable.of(judge, people))
    # The others pass: three times in the first row, once (the third person failed it) in the
    # second. The judge passes all four, the people three.
    assert found.tpr_gain.value == pytest.approx((4 - 3) / 4)
    # They fail: three times in the third row, once in the last; the judge fails three, people
    # three of four.
    assert found.tnr_gain.value == pytest.approx(0)
    assert found.undecided == 0


def test_one_more_person_has_no_gain() -> None:
    rng = np.random.default_rng(3)
    outside = np.zeros(2)
    for _ in range(200):
        _, judge, people = panel(rng, 80, people=3, noise=0.8)
        found = pass_fail(ScoreTable.of(judge, people, low=1, high=5, passing=3))
        outside += found.tpr_gain.excludes(0), found.tnr_gain.excludes(0)
    assert (outside <= 19).all()


def test_nothing_is_said_without_a_declared_cut() -> None:
    found = pass_fail(ScoreTable.of([1, 2, 3, 4, 5], [1, 3, 3, 4, 5]))
    assert found.tpr is found.right is None
    assert "declare the score" in found.unknown["tpr"]


# The cut.


def cheapest_by_hand(judge: np.ndarray, passes: np.ndarray, prices: tuple[float, float]) -> float:
    """Median of the cheapest cuts, all of them tried one by one."""
    cuts = [*np.unique(judge), math.inf]
    costs = [
        prices[0] * np.sum((judge >= cut) & ~passes) + prices[1] * np.sum((judge < cut) & passes)
        for cut in cuts
    ]
    cheapest = [cut for cut, cost in zip(cuts, costs, strict=True) if cost <= min(costs) + 1e-9]
    return cheapest[(len(cheapest) - 1) // 2]


@pytest.mark.parametrize("prices", [(1.0, 1.0), (3.0, 1.0), (1.0, 20.0)])
def test_the_cut_is_the_cheapest_and_its_cost_is_held_out(prices: tuple[float, float]) -> None:
    rng = np.random.default_rng(5)
    quality, judge, _ = panel(rng, 90)
    passes = quality + 0.5 * rng.normal(size=90) > 0.4
    unit = np.arange(90) // 2
    table = ScoreTable.of(judge, passes.astype(float), unit=unit, low=1, high=5)
    found = best_cut(table, rng=np.random.default_rng(1), price_fp=prices[0], price_fn=prices[1])
    assert found.cut == cheapest_by_hand(judge, passes, prices)
    fold = (np.random.default_rng(1).permutation(45) % 10)[unit]
    held_out = np.zeros(90)
    for one in range(10):
        out = fold == one
        cut = cheapest_by_hand(judge[~out], passes[~out], prices)
        passed = judge[out] >= cut
        held_out[out] = np.where(passes[out], prices[1] * ~passed, prices[0] * passed)
    assert found.cost.value == pytest.approx(held_out.mean())
    plain = wilson_by_item(
        unit, np.ones(90), held_out / max(prices), half_credit=prices[0] != prices[1]
    ).scaled(max(prices))
    assert found.cost.high == pytest.approx(
        min(plain.value + WIDENING * (plain.high - plain.value), max(prices))
    )
    assert found.cost.low == pytest.approx(
        max(plain.value + WIDENING * (plain.low - plain.value), 0)
    )
    assert found.pass_all.value == pytest.approx(prices[0] * (~passes).mean())
    assert found.fail_all.value == pytest.approx(prices[1] * passes.mean())
    assert found.units == 45


def test_a_continuous_score_is_cut_at_quantiles() -> None:
    rng = np.random.default_rng(7)
    quality = rng.normal(size=1000)
    passes = (quality > 0).astype(float)
    table = ScoreTable.of(quality + 0.3 * rng.normal(size=1000), passes)
    found = best_cut(table, rng=rng)
    assert found.candidates == 61
    assert abs(found.cut) < 0.15
    assert found.better


def test_scores_that_tell_nothing_beat_no_trivial_cut() -> None:
    rng = np.random.default_rng(8)
    passes = (np.arange(100) < 80).astype(float)
    found = best_cut(ScoreTable.of(rng.integers(1, 6, 100), passes), rng=rng)
    assert not found.better
    assert found.pass_all.value == pytest.approx(0.2)


@pytest.mark.parametrize(("n", "passing"), [(49, 20), (60, 9), (60, 51)])
def test_too_few_labels_have_no_cut(n: int, passing: int) -> None:
    passes = (np.arange(n) < passing).astype(float)
    table = ScoreTable.of(np.arange(n) % 5 + 1, passes)
    with pytest.raises(TooFewLabels, match=f"there are {n}, {passing} and {n - passing}"):
        best_cut(table, rng=np.random.default_rng(0))


def test_prices_are_above_zero() -> None:
    with pytest.raises(InvalidOption, match="price_fp: 0 is not above 0"):
        best_cut(ScoreTable.of([1, 2], [0, 1]), rng=np.random.default_rng(0), price_fp=0)


@pytest.mark.parametrize(("n", "price"), [(50, 1.0), (50, 3.0), (100, 3.0)])
def test_the_interval_holds_the_cost_on_other_answers(n: int, price: float) -> None:
    """150 draws; the truth is the cost of the cut chosen on all, on 50,000 other answers."""
    rng = np.random.default_rng(10)

    def drawn(size: int) -> tuple[np.ndarray, np.ndarray]:
        quality = rng.normal(size=size)
        return levels(quality, rng, 0.5), quality + 0.5 * rng.normal(size=size) > 0

    far, far_passes = drawn(50_000)
    cuts = [1.0, 2, 3, 4, 5, math.inf]
    truth = {
        cut: float(np.mean(np.where(far_passes, far < cut, price * (far >= cut)))) for cut in cuts
    }
    covered = below = 0
    for _ in range(150):
        judge, passes = drawn(n)
        table = ScoreTable.of(judge, passes.astype(float), low=1, high=5)
        found = best_cut(table, rng=rng, price_fp=price)
        covered += found.cost.low <= truth[found.cut] <= found.cost.high
        below += found.cost.value < truth[found.cut]
    assert covered >= 136  # .93 of 150 less two standard errors
    assert 45 < below < 105  # held out, so not too low on the whole
