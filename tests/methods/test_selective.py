"""Risk–coverage against random tie breaking, and the threshold's guarantee on simulated judges."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import of_judge, of_votes
from scipy.stats import beta, binom

from core.errors import InvalidOption, NoUsableVotes
from core.questions.confidence.alone import allowed_errors, first_cut, threshold_for_risk
from core.questions.confidence.selective import risk_coverage
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
    """200 items: errors 0 of 60 at 1.0, 1 of 60 at .9, 30 of 80 at .5; α = .1, δ = .1, of which the
    walk has .095.
    """
    confidence = [1.0] * 60 + [0.9] * 60 + [0.5] * 80
    right = [1] * 60 + [0] + [1] * 59 + [0] * 30 + [1] * 50
    found = threshold_for_risk(of_votes(range(200), confidence, right), alpha=0.1, delta=0.1)
    assert found.cut.tolist() == [1.0, 0.9, 0.5]
    expected = [beta.ppf(1 - 0.095, errors + 1, n - errors) for errors, n in ((0, 60), (1, 120))]
    # All verdicts are the last of the walk and the second test, neither of which they pass.
    expected.append(beta.ppf(1 - 0.095, 32, 169))
    np.testing.assert_allclose(found.cut_bound, expected, rtol=1e-9)
    assert found.passed.tolist() == [True, True, False]
    assert (found.threshold, found.coverage) == (0.9, 0.6)
    assert (found.error_rate, found.bound) == (pytest.approx(1 / 120), pytest.approx(expected[1]))


def test_the_sequence_stops_at_its_first_failure():
    """The strictest cut is bad and the next would pass: it is not reached."""
    confidence = [0.9] * 160 + [0.8] * 240 + [0.7] * 600
    right = [0] * 24 + [1] * 376 + [0] * 100 + [1] * 500
    found = threshold_for_risk(of_votes(range(1000), confidence, right), alpha=0.1, delta=0.1)
    assert beta.ppf(0.905, 25, 376) < 0.1
    assert found.cut.tolist() == [0.9, 0.7]
    assert found.threshold is None
    assert found.coverage is None
    # Both error rates in percent, and how few verdicts the strictest cut keeps.
    assert found.note == (
        "the first verdicts that are tested, the 16 % of confidence 0.9 and above (n 160), may err "
        f"up to {100 * found.cut_bound[0]:.1f} %; allowed are 10 %"
    )


def test_a_judge_whose_surest_votes_are_its_worst_is_kept_whole_by_the_second_test():
    """24 of the 160 surest and none of 840 others are wrong: all together 2.4 %."""
    outcomes = of_votes(range(1000), [0.9] * 160 + [0.8] * 840, [0] * 24 + [1] * 976)
    found = threshold_for_risk(outcomes, alpha=0.1, delta=0.1)
    assert found.bound == found.bound_all == pytest.approx(beta.ppf(0.995, 25, 976))
    assert (found.threshold, found.coverage) == (0.8, 1)
    assert selective("judge", risk_coverage(outcomes), found) == (
        "judge: nothing need be dropped for a target of 10 %; keeping all of its 1,000 votes, "
        "2 % are wrong, in the long run at most 10 % with 90 % certainty."
    )


def test_a_single_error_among_the_surest_does_not_end_the_walk():
    outcomes = of_votes(
        range(1000),
        [0.9] * 25 + [0.8] * 375 + [0.7] * 600,
        [0] + [1] * 24 + [0] * 19 + [1] * 356 + [0] * 300 + [1] * 300,
    )
    found = threshold_for_risk(outcomes, alpha=0.1, delta=0.1)
    assert found.threshold == 0.8


@pytest.mark.parametrize(
    ("alpha", "sizes"), [(0.10, (29, 47, 62)), (0.05, (60, 95, 126)), (0.02, (151, 239, 317))]
)
def test_the_first_cut_by_exact_binomial_tails(alpha, sizes):
    """Fewest verdicts that allow none, one and two errors at δ' .0475."""
    delta = 0.95 * 0.05
    for errors, size in enumerate(sizes):
        assert binom.cdf(errors, size, alpha) <= delta < binom.cdf(errors, size - 1, alpha)
    none, single, two = sizes
    for n, expected in (
        (none, none),
        (single, none),
        (math.ceil(1.2 * single), single),
        (math.ceil(1.2 * two), two),
    ):
        assert first_cut(n, alpha, delta) == expected
    begins = first_cut(5000, alpha, delta)
    errors, more = allowed_errors([begins, begins - 1], alpha, delta)
    assert errors == more + 1
    assert begins <= max(two, 1.5 * alpha * 5000)
    assert binom.cdf(errors + 1, int(1.5 * alpha * 5000), alpha) > delta


@pytest.mark.parametrize(("alpha", "delta"), [(0.05, 0.05), (0.1, 0.1), (0.2, 0.05), (0.5, 0.25)])
def test_the_walk_begins_where_a_bound_can_pass(alpha, delta):
    """⌈ln .95·δ/ln(1 − α)⌉ flawless verdicts are just enough."""
    needed = math.ceil(math.log(0.95 * delta) / math.log(1 - alpha) - 1e-9)
    enough = threshold_for_risk(
        of_votes(range(needed), [0.9] * needed, [1] * needed), alpha=alpha, delta=delta
    )
    assert enough.threshold == 0.9
    few = of_votes(range(needed - 1), [0.9] * (needed - 1), [1] * (needed - 1))
    found = threshold_for_risk(few, alpha=alpha, delta=delta)
    assert found.threshold is None
    assert len(found.cut) == 0
    assert str(needed) in found.note


def test_the_first_cut_is_fixed_without_labels():
    rng = np.random.default_rng(1)
    confidence = rng.random(900).round(3)
    firsts = {
        threshold_for_risk(of_votes(range(900), confidence, right), alpha=0.2, delta=0.1).cut[0]
        for right in (np.ones(900, int), np.zeros(900, int), rng.integers(0, 2, 900))
    }
    assert len(firsts) == 1


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
