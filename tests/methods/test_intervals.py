"""Intervals against independent implementations, laws, and their coverage in simulation."""

import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidOption
from core.stats.intervals import (
    beta_interval,
    clopper_pearson,
    clustered_proportion,
    dense_codes,
    design_effect,
    kish_effect,
    mean_error_interval,
    mean_interval,
    proportion,
    resample_items,
    wilson,
)

COUNTS = [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (453, 700), (1, 5000)]


@pytest.mark.parametrize(("k", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_and_clopper_pearson_equal_scipy(k, n, level):
    theirs = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    np.testing.assert_allclose(wilson(k, n, level=level), theirs, atol=1e-12)
    upper = stats.binomtest(k, n, alternative="less").proportion_ci(level, method="exact").high
    np.testing.assert_allclose(clopper_pearson(k, n, level=level), upper, atol=1e-12)


def test_wilson_textbook_values():
    """Newcombe (1998), Table I, score method without continuity correction."""
    low, high = wilson([81, 15, 0, 1], [263, 148, 20, 29])
    np.testing.assert_allclose(low, [0.2553, 0.0624, 0.0000, 0.0061], atol=5e-5)
    np.testing.assert_allclose(high, [0.3662, 0.1605, 0.1611, 0.1718], atol=5e-5)


def test_beta_intervals_are_quantiles_of_the_posterior():
    np.testing.assert_allclose(
        beta_interval(4.0, 7.0), stats.beta(4, 7).ppf([0.025, 0.975]), atol=1e-12
    )
    np.testing.assert_allclose(
        beta_interval(2.5, [3, 30], level=0.9),
        [stats.beta(2.5, [3, 30]).ppf(0.05), stats.beta(2.5, [3, 30]).ppf(0.95)],
        atol=1e-12,
    )


def test_nothing_seen_has_no_rate():
    assert np.isnan(wilson(0, 0)).all()
    empty = proportion(0, 0)
    assert np.isnan([empty.value, empty.low, empty.high]).all()
    assert clopper_pearson(0, 0) == 1.0


@pytest.mark.parametrize(
    "call", [lambda: wilson(1, 2, level=1.0), lambda: wilson(3, 2), lambda: clopper_pearson(-1, 2)]
)
def test_impossible_input_is_refused(call):
    with pytest.raises(InvalidOption):
        call()


@settings(deadline=None)
@given(
    n=st.integers(1, 10_000),
    share=st.floats(0, 1),
    deff=st.floats(1, 50),
    level=st.floats(0.5, 0.999),
)
def test_an_interval_holds_its_estimate_and_mirrors(n, share, deff, level):
    k = round(share * n)
    low, high = wilson(k, n, level=level, deff=deff)
    assert 0 <= low <= k / n <= high <= 1
    np.testing.assert_allclose(
        wilson(n - k, n, level=level, deff=deff), (1 - high, 1 - low), atol=1e-12
    )
    wide_low, wide_high = wilson(k, n, level=level, deff=deff + 1)
    assert wide_low <= low
    assert wide_high >= high


def test_design_effect_of_known_clusters():
    """Votes that all repeat their item's first vote: deff is the votes of an item, up to
    G/(G − 1).
    """
    rng = np.random.default_rng(0)
    right = rng.integers(0, 2, 400)
    once = design_effect(np.arange(400), np.ones(400, int), right)
    repeated = design_effect(np.arange(400), np.full(400, 6), 6 * right)
    assert once == 1.0
    assert repeated == pytest.approx(6 * (2400 - 1) / (6 * 399), rel=1e-12)


def test_design_effect_equals_the_cluster_robust_regression_variance():
    """Independent derivation: variance of the intercept-only least-squares fit, summed cluster by
    cluster.
    """
    rng = np.random.default_rng(1)
    item = rng.integers(0, 60, 900)
    y = (rng.random(900) < 0.3 + 0.4 * (item % 2)).astype(int)
    residual = y - y.mean()
    meat = sum(residual[item == i].sum() ** 2 for i in range(60))
    expected = 60 / 59 * meat / 900**2 / (y.var(ddof=1) / 900)
    assert design_effect(item, np.ones(900, int), y) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("correct", [[0, 0, 0], [4, 2, 6]])
def test_design_effect_without_variance_is_the_cautious_end(correct):
    n = np.array([4, 2, 6])
    assert design_effect(np.arange(3), n, np.array(correct)) == pytest.approx(56 / 12)
    assert design_effect(np.zeros(3, int), n, np.array([1, 2, 3])) == 12
    assert kish_effect(n) == pytest.approx(56 / 12)
    assert kish_effect([]) == 1.0


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30
    )
)
def test_design_effect_depends_on_item_totals_only(rows):
    item, k, wrong = (np.array(column) for column in zip(*rows, strict=True))
    n = k + wrong
    order = np.random.default_rng(0).permutation(len(item))
    whole = design_effect(item, n, k)
    assert whole >= 1
    assert design_effect(item[order] * 7_000_000, n[order], k[order]) == pytest.approx(
        whole, rel=1e-9
    )
    assert design_effect(item, n, n - k) == pytest.approx(whole, rel=1e-6)


def test_codes_keep_items_apart():
    np.testing.assert_array_equal(dense_codes(np.array([5, 2, 5, 9])), [1, 0, 1, 2])
    np.testing.assert_array_equal(dense_codes(np.array([10**15, -3, 10**15])), [1, 0, 1])


def coverage(draw, truth, repeats):
    return np.mean([low <= truth <= high for low, high in (draw() for _ in range(repeats))])


@pytest.mark.parametrize(("n", "p"), [(50, 0.3), (200, 0.9), (1000, 0.5)])
def test_wilson_covers(n, p):
    k = np.random.default_rng(2).binomial(n, p, 20_000)
    low, high = wilson(k, n)
    assert 0.93 <= ((low <= p) & (p <= high)).mean() <= 0.97


@pytest.mark.thorough
@pytest.mark.parametrize(("p", "correlation"), [(0.7, 0.3), (0.85, 0.1)])
def test_clustered_interval_covers_eight_votes_of_six_comparisons(p, correlation):
    """150 items, 6 comparisons each, 8 votes each; items and comparisons differ in difficulty."""
    rng = np.random.default_rng(3)
    strength = 1 / correlation - 1
    naive = []

    def draw():
        ease = rng.beta(p * strength, (1 - p) * strength, 150)
        easy = np.clip(np.repeat(ease, 6), 1e-6, 1 - 1e-6)
        k = rng.binomial(8, rng.beta(4 * easy, 4 * (1 - easy)))
        naive.append(wilson(k.sum(), 7200))
        found = clustered_proportion(np.repeat(np.arange(150), 6), np.full(900, 8), k)
        return found.low, found.high

    assert 0.93 <= coverage(draw, p, 1200) <= 0.97
    assert np.mean([low <= p <= high for low, high in naive]) < 0.7


def check_votes_are_clustered(shared_data):
    """RewardBench 2 pairs: standard errors by item are 2.3, 2.7 and 2.5 times the binomial ones.

    Methods §5 gives 2.6 without naming the judge. The bootstrap by item is the independent check.
    """
    import pandas as pd

    columns = ["item_id", "judge", "vote", "gold"]
    votes = pd.read_csv(shared_data / "votes" / "rewardbench2_pairs.csv.gz", usecols=columns)
    votes["right"] = votes["vote"] == votes["gold"]
    rng = np.random.default_rng(5)
    ratios = {}
    for judge, rows in votes.groupby("judge"):
        totals = rows.groupby("item_id")["right"].agg(["size", "sum"]).to_numpy()
        n, k = totals.T
        ratios[judge] = design_effect(np.arange(len(n)), n, k) ** 0.5
        drawn = rng.multinomial(len(n), np.full(len(n), 1 / len(n)), size=1500) @ totals
        p = k.sum() / n.sum()
        resampled = (drawn[:, 1] / drawn[:, 0]).std() / (p * (1 - p) / n.sum()) ** 0.5
        assert ratios[judge] == pytest.approx(resampled, rel=0.06)
    assert {judge: round(ratio, 1) for judge, ratio in ratios.items()} == {
        "claude-haiku-4.5 [base]": 2.3,
        "gpt-5.4 [base]": 2.7,
        "gpt-5.4-mini [base]": 2.5,
    }


def test_resampling_keeps_items_whole_and_the_variance():
    rng = np.random.default_rng(4)
    item = np.repeat(rng.permutation(50) * 3, 4)
    group, weights = resample_items(item, rng=rng, iterations=30)
    assert len({(i, g) for i, g in zip(item, group, strict=True)}) == 50 == len(set(group))
    np.testing.assert_array_equal(weights.sum(axis=1), 50)
    # 6,000 items go into 2,000 groups; the variance of a mean stays that of 6,000 independent
    # items.
    value = rng.normal(size=6000)
    group, weights = resample_items(np.arange(6000), rng=rng, iterations=4000)
    means = weights @ np.bincount(group, weights=value) / 6000
    assert weights.shape[1] == 2000
    assert means.std() == pytest.approx(value.std() / np.sqrt(6000), rel=0.08)


@pytest.mark.parametrize("source", [np.random.PCG64, np.random.MT19937])
def test_a_draw_that_is_kept_is_the_one_that_would_be_drawn(source):
    item, other = np.arange(50), np.arange(60)

    def drawn() -> tuple[np.ndarray, float]:
        rng = np.random.Generator(source(7))
        return resample_items(item, rng=rng, iterations=30)[1].copy(), rng.random()

    first, again = drawn(), drawn()
    resample_items(other, rng=np.random.Generator(source(7)), iterations=30)
    anew = drawn()
    for weights, after in (again, anew):
        assert (weights == first[0]).all()
        assert after == first[1]
    rng = np.random.Generator(source(7))
    one, two = (resample_items(item, rng=rng, iterations=30)[1] for _ in range(2))
    assert (one != two).any()


def test_mean_interval_is_the_t_interval_of_the_items_and_one_more_at_each_end():
    value = np.array([1.0, 0.0, 0.0, -1.0, 1.0, 0.5])
    widened = np.append(value, [-1, 1])
    half = stats.t.ppf(0.975, 5) * widened.std(ddof=1) / math.sqrt(8)
    mean = mean_interval(np.arange(6), value, ends=(-1, 1))
    np.testing.assert_allclose(
        [mean.value, mean.low, mean.high], [0.25, 0.1875 - half, 0.1875 + half]
    )
    # Copies of a row are no new items, and a weight stands for copies.
    copies = mean_interval(np.repeat(np.arange(6), 3), np.repeat(value, 3), ends=(-1, 1))
    weighted = mean_interval(np.arange(6), value, ends=(-1, 1), n=3)
    assert astuple(copies) == pytest.approx(astuple(mean))
    assert astuple(weighted) == pytest.approx(astuple(mean))


def test_mean_interval_at_the_edges():
    assert mean_interval(np.arange(30), np.ones(30), ends=(0, 1)).high == 1
    assert 0.8 < mean_interval(np.arange(30), np.ones(30), ends=(0, 1)).low < 1
    one = mean_interval(np.zeros(9, dtype=int), np.ones(9), ends=(0, 1))
    assert (one.value, one.n, math.isnan(one.low), math.isnan(one.high)) == (1, 1, True, True)
    none = mean_interval(np.zeros(0, dtype=int), np.zeros(0), ends=(0, 1))
    assert none.n == 0
    assert all(map(math.isnan, (none.value, none.low, none.high)))


@pytest.mark.thorough
@pytest.mark.parametrize(("items", "rate"), [(60, 0.02), (60, 0.1), (200, 0.01), (15, 0.3)])
def test_mean_intervals_hold_means_of_rare_events(items, rate):
    rng, item = np.random.default_rng(7), np.arange(items)
    held = {"mean": 0, "error": 0}
    for _ in range(1000):
        value = 2.0 * (rng.random(items) < rate)
        mean = mean_interval(item, value, ends=(0, 2))
        held["mean"] += mean.low <= 2 * rate <= mean.high
        error = mean_error_interval(item, value)
        held["error"] += error.low <= 2 * rate <= error.high
    assert min(held.values()) >= 935, held
