"""Calibration measures against reference figures, scikit-learn, laws and simulated judges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import of_judge, of_votes
from sklearn.metrics import brier_score_loss, log_loss

from core.errors import InvalidOption, NoUsableVotes
from core.questions.confidence.calibration_error import (
    NLL_CLIP,
    absolute_sum_interval,
    calibration,
    calibration_intervals,
    loss_intervals,
    noise_floor,
    reliability,
)
from core.questions.confidence.th_scores import th_sweep
from core.records import OutcomeCounts
from core.stats.binning import BLOCK, bin_index, equal_mass_index, rank_values
from core.stats.intervals import clustered_proportion

SKYWORK = "Skywork_Skywork-Reward-Gemma-2-27B [reward_model]"

verdicts = st.lists(
    st.tuples(
        st.integers(0, 9), st.integers(0, 100).map(lambda percent: percent / 100), st.booleans()
    ),
    min_size=1,
    max_size=60,
)


def spread(outcomes):
    """Confidence and correctness of single verdicts, as other libraries want them."""
    confidence = np.repeat(outcomes.confidence, outcomes.n)
    right = np.concatenate(
        [[1] * k + [0] * (n - k) for n, k in zip(outcomes.n, outcomes.correct, strict=True)]
    )
    return confidence, right


def check_judgebench_reward_model(shared_data):
    """Reference figures of JudgeBench votes, rule `single`, six digits."""
    found = calibration(of_judge(shared_data, "judgebench", SKYWORK))
    expected = {
        "ece": 0.294954,
        "mce": 0.330571,
        "ace": 0.294954,
        "brier": 0.311194,
        "nll": 2.408601,
    }
    assert {name: round(getattr(found, name), 6) for name in expected} == expected
    assert (found.n, found.items, found.without_confidence, found.nll_clipped) == (700, 350, 0, 120)


def check_judgeconf_stated_confidence(shared_data):
    """Reference figures of JudgeConf votes, six digits; votes without confidence are left out and
    counted.
    """
    outcomes = of_judge(shared_data, "judgeconf", "gpt-4o-mini")
    found = calibration(outcomes)
    expected = {"ece": 0.024038, "ace": 0.024038, "brier": 0.024567, "nll": 0.112520}
    assert {name: round(getattr(found, name), 6) for name in expected} == expected
    assert found.n == 156
    assert found.without_confidence == outcomes.n[np.isnan(outcomes.confidence)].sum() == 117


def test_worked_example():
    """Two bins by hand: (.8, .9] holds 4 verdicts, 2 right; (.9, 1] holds 1, right."""
    found = calibration(of_votes([0, 1, 2, 3, 4], [0.9, 0.9, 0.9, 0.86, 1.0], [1, 0, 1, 0, 1]))
    assert found.ece == pytest.approx(0.8 * (0.89 - 0.5) + 0.2 * 0)
    assert found.mce == pytest.approx(0.39)
    assert found.reliability.n.tolist() == [0] * 8 + [4, 1]
    assert found.reliability.accuracy.value[8] == 0.5
    assert np.isnan(found.reliability.accuracy.value[:8]).all()
    assert found.brier == pytest.approx((2 * 0.01 + 0.81 + 0.86**2) / 5)
    assert found.nll_clipped == 1


@settings(deadline=None)
@given(verdicts)
def test_brier_and_nll_equal_scikit_learn(rows):
    outcomes = of_votes(*zip(*rows, strict=True))
    confidence, right = spread(outcomes)
    clipped = np.clip(confidence, 1e-12, 1 - 1e-12)
    found = calibration(outcomes)
    assert found.brier == pytest.approx(brier_score_loss(right, confidence, pos_label=1), abs=1e-12)
    assert found.nll == pytest.approx(log_loss(right, clipped, labels=[0, 1]), rel=1e-9, abs=1e-11)
    assert found.accuracy.value == pytest.approx(right.mean())
    assert found.mean_confidence == pytest.approx(confidence.mean())


def slow_ece(confidence, right, bins):
    """ECE and MCE by the definition, verdict by verdict, in exact hundredths."""
    total, worst = 0.0, 0.0
    for b in range(bins):
        percent = np.rint(confidence * 100).astype(int)
        inside = (percent * bins > 100 * b) & (percent * bins <= 100 * (b + 1)) | (
            (b == 0) & (percent == 0)
        )
        if inside.any():
            gap = abs(right[inside].mean() - confidence[inside].mean())
            total, worst = total + inside.mean() * gap, max(worst, gap)
    return total, worst


@settings(deadline=None)
@given(verdicts, st.integers(1, 30))
def test_measures_by_definition_and_their_laws(rows, bins):
    outcomes = of_votes(*zip(*rows, strict=True))
    found = calibration(outcomes, bins=bins)
    ece, mce = slow_ece(*spread(outcomes), bins)
    assert found.ece == pytest.approx(ece, abs=1e-12)
    assert found.mce == pytest.approx(mce, abs=1e-12)
    # A triangle inequality: bins can hide opposite errors, never invent any.
    assert (
        abs(found.mean_confidence - found.accuracy.value) <= found.ece + 1e-12 <= found.mce + 1e-9
    )
    assert abs(found.mean_confidence - found.accuracy.value) <= found.ace + 1e-12
    diagram = found.reliability
    assert diagram.n.sum() == found.n == len(rows)
    filled = diagram.n > 0
    assert (diagram.accuracy.low <= diagram.accuracy.value)[filled].all()
    assert (diagram.accuracy.value <= diagram.accuracy.high)[filled].all()
    assert calibration(
        of_votes(*zip(*reversed(rows), strict=True)), bins=bins
    ).ece == pytest.approx(found.ece)


@pytest.mark.parametrize("bins", [2, 3, 5, 7, 10, 20])
def test_edges_belong_to_the_bin_below(bins):
    edges = np.arange(bins + 1) / bins
    np.testing.assert_array_equal(bin_index(edges, bins), [0, *range(bins)])
    np.testing.assert_array_equal(bin_index(edges[1:-1] + 1e-6, bins), range(1, bins))
    assert bin_index(np.array([0.1 + 0.2, 0.7]), 10).tolist() == [2, 6]


def slow_mass_index(values, bins):
    """The integer rule as written, for each distinct value."""
    order = sorted(values)
    rank = {v: (order.index(v), order.count(v)) for v in values}
    return [
        min(bins - 1, bins * (2 * r + m) // (2 * len(values))) for r, m in (rank[v] for v in values)
    ]


@settings(deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=40), st.integers(1, 12), st.booleans())
def test_equal_mass_bins_follow_the_integer_rule(codes, bins, fine):
    # `fine` values have five decimals, so that both ways of ranking values are met.
    values = np.array(codes) / 10_000 * (0.99999 if fine else 1)
    index = equal_mass_index(values, np.ones(len(values), int), bins)
    assert index.tolist() == slow_mass_index(values.tolist(), bins)
    split, where = np.unique(values, return_inverse=True)
    merged = equal_mass_index(split, np.bincount(where), bins)
    np.testing.assert_array_equal(merged[where], index)


def test_values_that_differ_in_the_last_bit_are_equal():
    same = np.array([(0.2 + 0.7) / 2, (0.1 + 0.8) / 2, 0.3 + 1e-7])
    assert len(set(same[:2])) == 2
    ranks = rank_values(same)
    assert ranks[0] == ranks[1] > ranks[2]


@pytest.mark.parametrize("votes", [600, 60_000])
def test_bins_use_the_clustering_of_their_own_items(votes):
    """The bin's interval is the clustered interval of the verdicts inside it, with few votes and
    many.
    """
    rng = np.random.default_rng(0)
    item, confidence = rng.integers(0, 40, votes), rng.choice([0.55, 0.58, 0.95], votes)
    right = rng.random(votes) < np.where(item % 2, 0.9, 0.3)
    outcomes = of_votes(item, confidence, right)
    found = reliability(outcomes)
    inside = bin_index(outcomes.confidence, 10) == 5
    expected = clustered_proportion(
        outcomes.item[inside], outcomes.n[inside], outcomes.correct[inside]
    )
    assert found.deff[5] == pytest.approx(expected.deff)
    assert found.deff[5] > 2
    assert (found.accuracy.low[5], found.accuracy.high[5]) == pytest.approx(
        (expected.low, expected.high)
    )
    assert (found.items[5], found.n[5]) == (40, expected.n)


def test_rows_in_any_order_and_split_give_the_same_diagram():
    rng = np.random.default_rng(1)
    outcomes = of_votes(
        rng.integers(0, 30, 200), rng.integers(0, 21, 200) / 20, rng.integers(0, 2, 200)
    )
    order = rng.permutation(len(outcomes))
    shuffled = OutcomeCounts(
        item=outcomes.item[order],
        confidence=outcomes.confidence[order],
        n=outcomes.n[order],
        correct=outcomes.correct[order],
    )
    one, other = reliability(outcomes).to_frame(), reliability(shuffled).to_frame()
    for name in ("n", "items", "accuracy", "accuracy_low", "deff"):
        np.testing.assert_allclose(one[name], other[name])


@pytest.mark.parametrize("confidence", [[], [np.nan, np.nan]])
def test_nothing_to_measure_is_said(confidence):
    nothing = of_votes(range(len(confidence)), confidence, [1] * len(confidence))
    for method in (calibration, reliability):
        with pytest.raises(NoUsableVotes, match="confidence"):
            method(nothing)


def test_options_are_checked():
    one = of_votes([0], [0.5], [1])
    with pytest.raises(InvalidOption, match="bins"):
        calibration(one, bins=0)
    with pytest.raises(InvalidOption, match="level"):
        calibration(one, level=95)


def test_noise_floor_of_fifty_verdicts():
    """Methods §5: at n = 50 a perfectly calibrated judge shows an ECE of about .12.

    It depends on the confidences: .10 if they spread over .5 to 1, .12 over .4 to 1, .15 over 0 to
    1.
    """
    rng = np.random.default_rng(2)
    for least, expected in ((0.5, 0.10), (0.4, 0.12), (0.0, 0.15)):
        confidence = least + (1 - least) * (np.arange(50) + 0.5) / 50
        floor = noise_floor(of_votes(range(50), confidence, [1] * 50), rng=rng, draws=4000)
        assert floor.ece.value == pytest.approx(expected, abs=0.006)
        assert floor.ece.low < floor.ece.value < floor.ece.high


def test_noise_floor_equals_the_exact_expectation():
    """One confidence c in one bin: E|K/n − c| of a binomial, summed exactly."""
    from scipy.stats import binom

    n, c = 40, 0.8
    k = np.arange(n + 1)
    chance, error = binom.pmf(k, n, c), np.abs(k / n - c)
    order = np.argsort(error)
    mean, high = chance @ error, error[order][np.searchsorted(chance[order].cumsum(), 0.975)]
    floor = noise_floor(
        of_votes(range(n), [c] * n, [0] * n), rng=np.random.default_rng(3), draws=40_000
    )
    assert floor.ece.value == pytest.approx(mean, rel=0.02)
    assert floor.ace.value == pytest.approx(mean, rel=0.02)
    assert floor.ece.high == pytest.approx(high, abs=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("decimals", [2, 6])
def test_a_calibrated_judge_stays_within_its_floor(decimals):
    """ECE and ACE fall inside the floor 95 times in 100, with few and with many distinct values."""
    rng = np.random.default_rng(4)
    n = 1500 if decimals == 6 else 300
    inside = []
    for _ in range(150):
        confidence = rng.uniform(0.5, 1, n).round(decimals)
        outcomes = of_votes(range(n), confidence, rng.random(n) < confidence)
        floor, found = noise_floor(outcomes, rng=rng, draws=200), calibration(outcomes)
        inside.append(
            (
                floor.ece.low <= found.ece <= floor.ece.high,
                floor.ace.low <= found.ace <= floor.ace.high,
            )
        )
    # 150 trials at .95: four standard errors are .07.
    assert (np.mean(inside, axis=0) > 0.88).all()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("n", "votes_an_item", "alike", "bias"),
    [
        (50, 1, 0.0, 0.1),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in (
                (50, 1, 0.0, 0.0),
                (400, 2, 0.5, 0.0),
                (400, 2, 0.5, 0.02),
                (400, 2, 0.5, 0.05),
                (400, 2, 0.5, 0.3),
                (300, 1, 0.0, [0.1, -0.05, 0.1, -0.1, 0.05]),
            )
        ),
    ],
)
def test_interval_of_ece_covers_the_true_error(n, votes_an_item, alike, bias):
    """Known truth: accuracy is confidence minus `bias`; `alike`: share of verdicts that the item
    decides.
    """
    rng = np.random.default_rng(5)
    levels = np.array([0.55, 0.65, 0.75, 0.85, 0.95])
    bias = np.broadcast_to(bias, levels.shape)
    item = np.arange(n) // votes_an_item
    hits = []
    for _ in range(150):
        which = rng.integers(0, len(levels), n)
        chance = np.where(rng.random(n) < alike, rng.random(n)[item], rng.random(n))
        outcomes = of_votes(item, levels[which], chance < (levels - bias)[which])
        ece = calibration_intervals(outcomes, rng=rng, iterations=200).ece
        hits.append(ece.low - 1e-12 <= np.abs(bias).mean() <= ece.high)
    # 150 trials at .95 or more: three standard errors are .05.
    assert np.mean(hits) >= 0.9


@pytest.mark.parametrize(("n", "stated"), [(50, 0.98), (20, 0.9)])
def test_verdicts_without_an_error_do_not_make_the_interval_a_point(n, stated):
    """A calibrated judge is right n times out of n by chance (.98⁵⁰ = .36): 0 is not
    excluded then.
    """
    ece = calibration_intervals(
        of_votes(range(n), [stated] * n, [1] * n), rng=np.random.default_rng(0)
    ).ece
    assert ece.low == 0 < 1 - stated < ece.high


def test_an_error_far_below_chance_does_not_bound_the_true_one_there():
    """Gaps that cancel to nothing, as after a map fitted to such verdicts: up to the noise stays
    possible.
    """
    stated = np.repeat([0.65, 0.75, 0.85, 0.95], 100)
    right = np.concatenate([np.arange(100) < 100 * c for c in (0.65, 0.75, 0.85, 0.95)])
    outcomes = of_votes(range(400), stated, right)
    floor = noise_floor(outcomes, rng=np.random.default_rng(0))
    ece = calibration_intervals(outcomes, rng=np.random.default_rng(0)).ece
    assert calibration(outcomes).ece < 1e-12
    assert ece.low == 0
    assert ece.high == pytest.approx(floor.ece.high, rel=0.1)


def test_inverted_interval_of_one_gap_is_the_normal_one():
    """|T + noise| of one bin far from 0 gives T ± 1.96 sd; T = 0 gives 0 to the quantile of
    |noise|.
    """
    noise = np.random.default_rng(1).normal(0, 0.01, (20_000, 1))
    assert absolute_sum_interval(np.array([0.2]), noise) == pytest.approx(
        (0.1804, 0.2196), abs=5e-4
    )
    assert absolute_sum_interval(np.zeros(1), noise) == pytest.approx((0, 0.0224), abs=5e-4)


def test_inverted_interval_does_not_depend_on_signs_or_order():
    rng = np.random.default_rng(2)
    gap, noise = rng.normal(0, 0.03, 6), rng.normal(0, 0.01, (2000, 6)) * np.arange(1, 7)
    order, sign = rng.permutation(6), rng.choice([-1, 1], 6)
    found = absolute_sum_interval(gap, noise)
    assert found[0] <= np.abs(gap).sum() <= found[1]
    assert absolute_sum_interval((gap * sign)[order], (noise * sign)[:, order]) == pytest.approx(
        found
    )


def test_bootstrap_intervals_hold_their_estimates_and_widen_with_clustering():
    rng = np.random.default_rng(6)
    confidence, right = rng.uniform(0.5, 1, 300), rng.integers(0, 2, 300)
    spans = []
    for item in (np.arange(1200), np.repeat(np.arange(300), 4)):
        outcomes = of_votes(item, np.repeat(confidence, 4), np.repeat(right, 4))
        found, intervals = (
            calibration(outcomes),
            calibration_intervals(outcomes, rng=rng, iterations=400),
        )
        for name in ("ece", "ace", "brier", "nll"):
            one = getattr(intervals, name)
            assert one.value == pytest.approx(getattr(found, name), abs=1e-12)
            assert 0 <= one.low <= getattr(found, name) <= one.high
        spans.append(intervals.brier.high - intervals.brier.low)
    assert spans[1] == pytest.approx(2 * spans[0], rel=0.2)


def test_the_same_seed_gives_the_same_numbers():
    outcomes = of_votes(range(40), np.linspace(0.5, 1, 40), [1, 0] * 20)
    twice = [noise_floor(outcomes, rng=np.random.default_rng(7)).to_frame() for _ in range(2)]
    assert twice[0].equals(twice[1])


def test_frames_hold_the_results():
    found = calibration(of_votes([0, 1], [0.8, 0.9], [1, 0]))
    frame = found.to_frame().set_index("measure")["value"]
    assert frame["ece"] == found.ece
    assert found.reliability.to_frame()["n"].sum() == 2


def test_many_rows_are_worked_on_in_blocks():
    """Rows sorted by item are cut into blocks between items, shuffled ones are not: same
    measures.
    """
    rng = np.random.default_rng(5)
    item = np.sort(rng.integers(0, BLOCK, 4 * BLOCK))
    confidence = rng.integers(0, 101, len(item)) / 100
    outcomes = of_votes(item, confidence, rng.random(len(item)) < confidence)
    assert len(outcomes) > 3 * BLOCK
    order = rng.permutation(len(outcomes))
    shuffled = OutcomeCounts(
        **{name: getattr(outcomes, name)[order] for name in ("item", "confidence", "n", "correct")}
    )
    one, other = calibration(outcomes), calibration(shuffled)
    assert one.accuracy.low == pytest.approx(other.accuracy.low, rel=1e-12)
    assert one.accuracy.value == pytest.approx(other.accuracy.value, rel=1e-12)
    for name in ("n", "items", "ece", "ace", "brier", "nll"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12), name
    assert one.reliability.deff == pytest.approx(other.reliability.deff, rel=1e-12)
    assert one.reliability.items.tolist() == other.reliability.items.tolist()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "n", [20, *(pytest.param(n, marks=pytest.mark.thorough) for n in (50, 200))]
)
@pytest.mark.parametrize(
    ("stated", "error"),
    [
        ([0.95], [0.03]),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in (
                ([0.99], [0.01]),
                ([0.9], [0.1]),
                ([0.8, 0.9, 0.95, 0.99, 1.0], [0.1, 0.05, 0.03, 0.02, 0.01]),
            )
        ),
    ],
)
def test_losses_of_a_judge_that_seldom_errs_are_covered(n, stated, error):
    """A bootstrap holds .37 of 50 verdicts at .99 that err once in a hundred, and .63 are
    points.
    """
    rng, sure, wrong = np.random.default_rng(8), np.array(stated), np.array(error)
    brier = np.mean((1 - wrong) * (1 - sure) ** 2 + wrong * sure**2)
    clipped = np.clip(sure, NLL_CLIP, 1 - NLL_CLIP)
    nll = -np.mean((1 - wrong) * np.log(clipped) + wrong * np.log1p(-clipped))
    accuracy, share = 1 - wrong[sure > 0.9], (sure > 0.9).mean()
    th = 100 * share * np.expm1(accuracy.mean() - 0.5) if share else 0.0
    held = np.zeros(3)
    for _ in range(200):
        drawn = rng.integers(len(sure), size=n)
        outcomes = of_votes(
            np.arange(n), sure[drawn], (rng.random(n) >= wrong[drawn]).astype(np.int64)
        )
        found = (*loss_intervals(outcomes), th_sweep(outcomes, [0.1]).th[0])
        held += [
            one.low - 1e-9 <= truth <= one.high + 1e-9
            for one, truth in zip(found, (brier, nll, th), strict=True)
        ]
    assert (held / 200 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)).all()
