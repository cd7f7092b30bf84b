"""TH-Score against the published table, a reference figure, the definition and laws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import of_judge, of_votes
from scipy import stats

from core.errors import InvalidOption
from core.questions.confidence.th_scores import th_from_rates, th_score, th_sweep

verdicts = st.lists(
    st.tuples(
        st.integers(0, 9), st.integers(0, 100).map(lambda percent: percent / 100), st.booleans()
    ),
    min_size=1,
    max_size=60,
)


def check_judgebench_reward_model(shared_data):
    """Reference figures of JudgeBench votes, rule `single`, six digits."""
    judge = "Skywork_Skywork-Reward-Gemma-2-27B [reward_model]"
    found = th_score(of_judge(shared_data, "judgebench", judge), 0.10)
    assert (round(found.th.value, 6), round(found.share, 6), found.n) == (15.785862, 0.814286, 570)


def test_published_table(golden):
    """[TH] Table 4: half of the formula gives the printed value, within what its rounded inputs
    allow.

    The one row that no rounding explains is Qwen3-235B at ε = .05: 1.93 against at most 1.895.
    """
    import pandas as pd

    table = pd.read_csv(golden / "th_score_by_epsilon.csv")
    accuracy = table["accuracy"].to_numpy()[:, None] + np.array([-0.005, -0.005, 0.005, 0.005])
    share = table["share_percent"].to_numpy()[:, None] / 100 + np.array(
        [-0.0005, 0.0005, -0.0005, 0.0005]
    )
    corners = th_from_rates(np.minimum(accuracy, 1), share, scale="published")
    low, high = corners.min(axis=1) - 0.005, corners.max(axis=1) + 0.005
    outside = table[(table["th_published"] < low) | (table["th_published"] > high)]
    assert outside[["model", "epsilon"]].values.tolist() == [["Qwen3-235B-A22B", 0.05]]
    assert round(high[outside.index[0]], 3) == 1.895
    assert len(table) == 21


def test_worked_example():
    """[TH] Table 4, first row: accuracy 1.00 and share 37.4 % give 24.26 by the formula, printed
    12.14.
    """
    assert th_from_rates(1.0, 0.374) == pytest.approx(24.2622, abs=5e-5)
    assert th_from_rates(1.0, 0.374, scale="published") == pytest.approx(24.2622 / 2, abs=5e-5)
    assert th_from_rates(0.5, 1.0) == 0
    assert th_from_rates(0.2, 1.0) < 0


def slow_th(rows, epsilon):
    """The definition in exact hundredths; `epsilon` in hundredths."""
    inside = [
        right for _, c, right in rows if round(100 * c) > 100 - epsilon or round(100 * c) < epsilon
    ]
    if not inside:
        return 0.0
    return (math.exp(sum(inside) / len(inside) - 0.5) - 1) * 100 * len(inside) / len(rows)


@settings(deadline=None)
@given(verdicts, st.lists(st.integers(1, 49), min_size=1, max_size=8))
def test_sweep_follows_the_definition(rows, epsilons):
    outcomes = of_votes(*zip(*rows, strict=True))
    found = th_sweep(outcomes, np.array(epsilons) / 100)
    np.testing.assert_allclose(
        found.th.value, [slow_th(rows, epsilon) for epsilon in epsilons], atol=1e-9
    )
    single = [th_score(outcomes, epsilon / 100).th.value for epsilon in epsilons]
    np.testing.assert_array_equal(found.th.value, single)
    assert (np.diff(found.n[np.argsort(epsilons, kind="stable")]) >= 0).all()
    halved = th_sweep(outcomes, np.array(epsilons) / 100, scale="published")
    np.testing.assert_allclose(halved.th.value, found.th.value / 2)


def test_inner_edges_are_open_and_certainty_is_inside():
    outcomes = of_votes([0, 1, 2, 3], [0.9, 0.1, 1.0, 0.0], [1, 1, 1, 1])
    assert th_score(outcomes, 0.1).n == 2
    assert th_score(outcomes, 0.1 + 1e-6).n == 4
    assert th_score(outcomes, 1e-12).n == 2


def test_nothing_inside_is_zero_with_unknown_accuracy():
    found = th_score(of_votes([0], [0.7], [1]), 0.1)
    assert (found.th.value, found.share, found.n) == (0, 0, 0)
    assert np.isnan(found.accuracy.value)


@pytest.mark.parametrize("epsilon", [0, 0.5, -0.1, 1, float("nan")])
def test_epsilon_outside_is_refused(epsilon):
    with pytest.raises(InvalidOption, match="epsilon"):
        th_score(of_votes([0], [0.7], [1]), epsilon)


def test_unknown_scale_is_refused():
    with pytest.raises(InvalidOption, match="scale"):
        th_score(of_votes([0], [0.7], [1]), 0.1, scale="halved")


@pytest.mark.thorough
def test_band_covers_the_truth():
    """Items of two equal verdicts; the true TH of a known judge lies in the band 95 times
    in 100.
    """
    rng = np.random.default_rng(0)
    truth = (math.exp(0.8 - 0.5) - 1) * 40
    hits = []
    for _ in range(250):
        sure = rng.random(200) < 0.4
        right = rng.random(200) < np.where(sure, 0.8, 0.6)
        outcomes = of_votes(
            np.arange(400) // 2, np.repeat(np.where(sure, 0.97, 0.7), 2), np.repeat(right, 2)
        )
        band = th_sweep(outcomes, [0.1])
        hits.append(band.th.low[0] <= truth <= band.th.high[0])
    assert 0.90 <= np.mean(hits) <= 0.99


def slow_band(item, confidence, right, epsilon):
    """The band as it is defined, from each item's verdicts: all, inside, and right inside."""
    inside = (confidence > 1 - epsilon + 1e-9) | (confidence < epsilon - 1e-9)
    items = np.unique(item)
    n = np.array([np.sum(item == one) for one in items], float)
    m = np.array([np.sum(inside[item == one]) for one in items], float)
    c = np.array([np.sum((inside & (right == 1))[item == one]) for one in items], float)
    mean = n.mean()
    n, m, c = (
        np.append(each, np.multiply(more, mean))
        for each, more in ((n, (1, 1, 1)), (m, (1, 1, 0)), (c, (1, 0, 0)))
    )
    a, s = c.sum() / m.sum(), m.sum() / n.sum()
    moved = (math.exp(a - 0.5) * (c - a * m) + math.expm1(a - 0.5) * (m - s * n)) / n.sum()
    error = 100 * math.sqrt(len(n) / (len(n) - 1) * np.sum(moved**2))
    half = stats.t.ppf(0.975, len(items) - 1) * error
    return 100 * math.expm1(a - 0.5) * s - half, 100 * math.expm1(a - 0.5) * s + half


@pytest.mark.parametrize("each", [1, 4], ids=["a verdict per item", "four per item"])
@pytest.mark.parametrize("decimals", [2, 6], ids=["whole percents", "continuous"])
def test_band_follows_the_definition(each, decimals):
    rng = np.random.default_rng(each * decimals)
    item, right = np.arange(400) // each, rng.integers(0, 2, 400)
    confidence = np.round(rng.random(400), decimals)
    epsilons = (0.03, 0.1, 0.27, 0.49)
    found = th_sweep(of_votes(item, confidence, right), epsilons)
    expected = np.array([slow_band(item, confidence, right, epsilon) for epsilon in epsilons])
    np.testing.assert_allclose(np.column_stack([found.th.low, found.th.high]), expected, rtol=1e-9)


def test_band_holds_the_curve_and_is_absent_with_one_item():
    rng = np.random.default_rng(1)
    outcomes = of_votes(range(80), rng.random(80), rng.integers(0, 2, 80))
    found = th_sweep(outcomes)
    assert (found.th.low <= found.th.value).all()
    assert (found.th.value <= found.th.high).all()
    assert len(found.to_frame()) == 49
    alone = th_sweep(of_votes([0] * 80, outcomes.confidence, outcomes.correct))
    assert np.isnan([alone.th.low, alone.th.high]).all()
    np.testing.assert_array_equal(alone.th.value, found.th.value)
