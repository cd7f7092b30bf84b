"""Risk–coverage against random tie breaking, and the threshold's guarantee on simulated judges."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import of_judge, of_votes
from scipy.stats import beta

from core.errors import InvalidOption, NoUsableVotes
from core.questions.confidence.selective import GRID_CUTS, risk_coverage, threshold_for_risk
from core.questions.confidence.words import selective

verdicts = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 10).map(lambda tenth: tenth / 10), st.booleans()),
    min_size=1,
    max_size=30,
)


def aurc_in_order(confidence, wrong, tie_break):
    order = np.lexsort((tie_break, -confidence))
    return (wrong[order].cumsum() / np.arange(1, len(wrong) + 1)).mean()


@settings(deadline=None)
@given(verdicts)
def test_aurc_without_ties_is_the_mean_of_running_error_rates(rows):
    _, confidence, right = (np.array(column) for column in zip(*rows, strict=True))
    distinct = confidence + np.arange(len(rows)) * 1e-4
    distinct = distinct / max(1, distinct.max())
    found = risk_coverage(of_votes(range(len(rows)), distinct, right))
    assert found.aurc == pytest.approx(
        aurc_in_order(distinct, ~right, np.zeros(len(rows))), abs=1e-12
    )


def test_ties_enter_pro_rata():
    """AURC with ties is the expectation over all orders of the tied verdicts."""
    rng = np.random.default_rng(0)
    confidence, wrong = rng.choice([0.6, 0.8, 0.9], 40), rng.random(40) < 0.4
    shuffled = [aurc_in_order(confidence, wrong, rng.random(40)) for _ in range(20_000)]
    found = risk_coverage(of_votes(range(40), confidence, ~wrong))
    assert found.aurc == pytest.approx(
        np.mean(shuffled), abs=4 * np.std(shuffled) / math.sqrt(20_000)
    )


def test_confidence_that_says_nothing_has_the_error_rate_as_area():
    found = risk_coverage(of_votes(range(50), [0.8] * 50, [1, 0, 1, 1, 0] * 10))
    assert found.aurc == pytest.approx(0.4)
    assert found.error_rate == pytest.approx(0.4)
    assert (found.coverage.tolist(), found.n.tolist(), found.errors.tolist()) == ([1.0], [50], [20])


@settings(deadline=None)
@given(verdicts)
def test_curve_by_definition(rows):
    _, confidence, right = (np.array(column) for column in zip(*rows, strict=True))
    found = risk_coverage(of_votes(*zip(*rows, strict=True)))
    assert found.threshold.tolist() == sorted(set(confidence), reverse=True)
    for cut, coverage, risk in zip(found.threshold, found.coverage, found.risk.value, strict=True):
        kept = confidence >= cut
        assert coverage == pytest.approx(kept.mean())
        assert risk == pytest.approx((~right[kept]).mean())
    assert (found.risk.low <= found.risk.value).all()
    assert (found.risk.value <= found.risk.high).all()
    assert found.coverage[-1] == 1


def check_judgebench_curve(shared_data):
    judge = "Skywork_Skywork-Reward-Gemma-2-27B [reward_model]"
    found = risk_coverage(of_judge(shared_data, "judgebench", judge))
    assert found.error_rate == pytest.approx(1 - 0.647143, abs=1e-6)
    # Better than a confidence that says nothing, and its verdicts come in equal pairs.
    assert found.aurc < found.error_rate
    assert found.deff == pytest.approx(2, abs=0.03)


def test_threshold_worked_example():
    """200 items: errors 0 of 60 at 1.0, 1 of 60 at .9, 30 of 80 at .5; α = .1, δ = .1."""
    confidence = [1.0] * 60 + [0.9] * 60 + [0.5] * 80
    right = [1] * 60 + [0] + [1] * 59 + [0] * 30 + [1] * 50
    found = threshold_for_risk(of_votes(range(200), confidence, right), alpha=0.1, delta=0.1)
    assert found.cut.tolist() == [1.0, 0.9, 0.5]
    expected = [beta.ppf(0.9, 1, 60), beta.ppf(0.9, 2, 119), beta.ppf(0.9, 32, 169)]
    np.testing.assert_allclose(found.cut_bound, expected, rtol=1e-9)
    assert found.passed.tolist() == [True, True, False]
    assert (found.threshold, found.coverage) == (0.9, 0.6)
    assert (found.error_rate, found.bound) == (pytest.approx(1 / 120), pytest.approx(expected[1]))


def test_the_sequence_stops_at_its_first_failure():
    """The strictest cut is bad and the next would pass: nothing may be promised."""
    confidence = [0.9] * 60 + [0.8] * 940
    right = [0] * 12 + [1] * 988
    found = threshold_for_risk(of_votes(range(1000), confidence, right), alpha=0.1, delta=0.1)
    assert found.cut_bound[1] < 0.1 < found.cut_bound[0]
    assert found.threshold is None
    assert found.coverage is None
    # Both error rates in percent, and how few verdicts the strictest cut keeps.
    assert found.note == (
        "the fewest verdicts that can be tested, the 6 % of confidence 0.9 and above (n 60), may "
        "err up to "
        f"{100 * found.cut_bound[0]:.1f} %; allowed are 10 %"
    )


def test_a_judge_whose_surest_votes_are_not_its_best_is_said_to_be_fine_as_a_whole():
    """12 of the 60 surest and none of 940 others are wrong: all together 1.2 %, at most 1.8 %."""
    outcomes = of_votes(range(1000), [0.9] * 60 + [0.8] * 940, [0] * 12 + [1] * 988)
    found = threshold_for_risk(outcomes, alpha=0.1, delta=0.1)
    assert found.bound_all == pytest.approx(beta.ppf(0.9, 13, 988))
    assert selective("judge", risk_coverage(outcomes), found) == (
        "judge: kept whole it errs on at most 1.8 % with 90 % certainty; keeping all of its 1,000 "
        "votes, 1 % are wrong. Its surest votes are not its best, so no threshold is offered: of "
        "the 60 surest, from confidence 0.9 up, 20 % are wrong."
    )


def test_a_few_surest_votes_that_err_once_are_too_few_and_not_called_worse():
    """Of 25 the bound is above 10 % with one error; 4 % are fewer than the 5 % of all."""
    outcomes = of_votes(
        range(1000), [0.9] * 25 + [0.8] * 975, [0] + [1] * 24 + [0] * 49 + [1] * 926
    )
    found = threshold_for_risk(outcomes, alpha=0.1, delta=0.1)
    assert found.threshold is None
    said = selective("judge", risk_coverage(outcomes), found)
    # Rounded up, so that no more is promised than was shown.
    at_most = math.ceil(1000 * beta.ppf(0.9, 51, 950)) / 10
    assert f"at most {at_most} % with 90 % certainty" in said
    assert said.endswith(
        "Its surest votes are too few to begin a threshold with: of the 25 surest, from confidence "
        "0.9 up, 4 % are wrong."
    )


@pytest.mark.thorough
def test_the_bound_of_all_holds_where_it_is_said():
    """The surest fifth errs in .3, the rest in .05: of all .1 are wrong, the target is .15."""
    rng, missed, said = np.random.default_rng(4), 0, 0
    for _ in range(400):
        sure = rng.random(300) < 0.2
        right = rng.random(300) >= np.where(sure, 0.3, 0.05)
        found = threshold_for_risk(
            of_votes(range(300), np.where(sure, 0.9, 0.8), right), alpha=0.15, delta=0.1
        )
        if found.threshold is None:
            said += 1
            missed += found.bound_all < 0.1
    assert said > 300
    assert missed <= 0.13 * said


@pytest.mark.parametrize(("alpha", "delta"), [(0.05, 0.05), (0.1, 0.1), (0.2, 0.05), (0.5, 0.25)])
def test_the_grid_begins_where_a_bound_can_pass(alpha, delta):
    """⌈ln δ/ln(1 − α)⌉ flawless verdicts are just enough."""
    needed = math.ceil(math.log(delta) / math.log(1 - alpha) - 1e-9)
    enough = threshold_for_risk(
        of_votes(range(needed), [0.9] * needed, [1] * needed), alpha=alpha, delta=delta
    )
    assert enough.threshold == 0.9
    few = of_votes(range(needed - 1), [0.9] * (needed - 1), [1] * (needed - 1))
    found = threshold_for_risk(few, alpha=alpha, delta=delta)
    assert found.threshold is None
    assert len(found.cut) == 0
    assert str(needed) in found.note


def test_the_grid_is_fixed_without_labels():
    rng = np.random.default_rng(1)
    item, confidence = rng.integers(0, 300, 900), rng.random(900).round(3)
    grids = [
        threshold_for_risk(of_votes(item, confidence, right), alpha=0.2, delta=0.1).cut
        for right in (np.ones(900, int), np.zeros(900, int), rng.integers(0, 2, 900))
    ]
    assert len(grids[0]) == GRID_CUTS
    for grid in grids[1:]:
        np.testing.assert_array_equal(grid, grids[0])
    assert grids[0][-1] == confidence.min()


def test_copies_of_a_verdict_promise_nothing_more():
    rng = np.random.default_rng(2)
    confidence, right = rng.choice([0.7, 0.8, 0.9], 400), rng.random(400) < 0.93
    once = threshold_for_risk(of_votes(range(400), confidence, right), alpha=0.12, delta=0.1)
    copies = of_votes(np.repeat(range(400), 6), np.repeat(confidence, 6), np.repeat(right, 6))
    sixfold = threshold_for_risk(copies, alpha=0.12, delta=0.1)
    assert once.threshold == sixfold.threshold is not None
    np.testing.assert_allclose(once.cut_bound, sixfold.cut_bound)


JUDGES = {
    # Error rate as a function of confidence: just above α everywhere, so that any promise is
    # broken;
    "flat": lambda confidence: np.full(len(confidence), 0.123),
    # falling through α, so that one step too far breaks it; and worse again where it is most
    # certain.
    "falling": lambda confidence: 0.02 + 0.55 * (1 - confidence),
    "conceited": lambda confidence: np.where(
        confidence > 0.9, 0.13, 0.05 + 0.3 * (confidence < 0.7)
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(
    ("items", "each", "together"),
    [
        (300, 2, True),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in ((300, 1, False), (150, 4, False), (150, 8, True))
        ),
    ],
)
def test_the_guarantee_holds(judge, items, each, together):
    """The error rate above the threshold truly exceeds α in at most δ + 2√(δ(1 − δ)/R) of R
    simulated audits.

    `together`: all verdicts of an item are the same one, so that eight count no more than one.
    """
    alpha, delta, repeats = 0.12, 0.1, 200
    error, grid = JUDGES[judge], np.round(np.linspace(0.5, 1, 26), 2)
    rng = np.random.default_rng(3)
    item = np.repeat(np.arange(items), each)
    violated = promised = 0
    for _ in range(repeats):
        draws = items if together else len(item)
        confidence = rng.choice(grid, draws)
        wrong = rng.random(draws) < error(confidence)
        if together:
            confidence, wrong = confidence[item], wrong[item]
        found = threshold_for_risk(of_votes(item, confidence, ~wrong), alpha=alpha, delta=delta)
        if found.threshold is not None:
            promised += 1
            violated += error(grid[grid >= found.threshold - 1e-9]).mean() > alpha
    assert violated / repeats <= delta + 2 * math.sqrt(delta * (1 - delta) / repeats)
    if judge == "falling":
        # A judge that can be trusted somewhere is often told so.
        assert promised > repeats / 3


def test_bad_options_and_nothing_to_do():
    one = of_votes([0], [0.7], [1])
    with pytest.raises(InvalidOption, match="alpha"):
        threshold_for_risk(one, alpha=0, delta=0.1)
    with pytest.raises(InvalidOption, match="delta"):
        threshold_for_risk(one, alpha=0.1, delta=1)
    with pytest.raises(NoUsableVotes):
        risk_coverage(of_votes([0], [np.nan], [1]))
