"""Intervals that count items: against equations solved another way, scikit-learn, and
known truths.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from core.errors import InvalidOption
from core.questions.confidence.selective import auroc
from core.records import OutcomeCounts
from core.stats.estimate import Estimate
from core.stats.intervals import item_means, items_to_decide, mean_interval, wilson_by_item


def wilson_ends(p, m, t):
    """The ends solve |p − π| = t·√(π(1 − π)/m)."""

    def distance(x):
        return (p - x) ** 2 - t**2 * x * (1 - x) / m

    return (
        brentq(distance, 1e-15, p - 1e-9, xtol=1e-14) if p > 0 else 0.0,
        brentq(distance, p + 1e-9, 1 - 1e-15, xtol=1e-14) if p < 1 else 1.0,
    )


def test_items_weigh_alike():
    item = np.array([7, 7, 3, 3, 9])
    np.testing.assert_allclose(item_means(item, [1, 0, 1, 1, 0], [3, 1, 2, 2, 0]), [1.0, 0.75])


@pytest.mark.parametrize("shares", [[1, 0, 0.5, 0.75, 0.25, 1], [1, 1, 1, 1], [0, 0, 0, 0.25]])
def test_wilson_by_item_solves_the_score_equation(shares):
    share = np.array(shares)
    items = len(share)
    found = wilson_by_item(np.arange(items) * 5, np.full(items, 4), 4 * share)
    added = np.concatenate([share, [0.0, 1.0]])
    weight = np.concatenate([np.ones(items), [0.5, 0.5]])
    centre = weight @ added / (items + 1)
    variance = weight @ (added - centre) ** 2 / (items * (items + 1))
    effective = min(centre * (1 - centre) / variance, 4 * items)
    expected = wilson_ends(share.mean(), effective, stats.t.ppf(0.975, items - 1))
    np.testing.assert_allclose([found.low, found.high], expected, atol=1e-9)
    assert (found.value, found.n) == (pytest.approx(share.mean()), items)


def test_wilson_by_item_counts_items_and_not_votes():
    rng = np.random.default_rng(0)
    right = rng.integers(0, 2, 40)
    once = wilson_by_item(np.arange(40), np.ones(40), right)
    copied = wilson_by_item(np.arange(40).repeat(8), np.ones(320), right.repeat(8))
    merged = wilson_by_item(np.arange(40), np.full(40, 8), 8 * right)
    assert (copied.low, copied.high) == pytest.approx((merged.low, merged.high))
    # At one vote per item the effective number is N at most, so eight copies tell no more than one.
    assert copied.high - copied.low >= once.high - once.low - 1e-3


def test_wilson_by_item_at_the_edges():
    every = wilson_by_item(np.arange(30), np.ones(30), np.ones(30))
    assert every.high == 1.0
    assert 0.8 < every.low < 0.9
    assert wilson_by_item(np.arange(30), np.ones(30), np.zeros(30)).low == 0.0
    one = wilson_by_item(np.zeros(5, dtype=int), np.ones(5), np.ones(5))
    assert (one.value, one.n, one.has_interval) == (1.0, 1, False)
    none = wilson_by_item(np.zeros(0, dtype=int), np.zeros(0), np.zeros(0))
    assert (math.isnan(none.value), none.n, none.has_interval) == (True, 0, False)
    empty_row = wilson_by_item(np.array([0, 1, 2]), np.array([1, 1, 0]), np.array([1, 0, 0]))
    assert (empty_row.value, empty_row.n) == (0.5, 2)
    with pytest.raises(InvalidOption):
        wilson_by_item(np.arange(3), np.ones(3), np.ones(3), level=1.0)


def test_ties_tell_more_than_coins():
    """A judge that always ties scores ½ on every item: half credit counts up to four times its
    verdicts.
    """
    ties = wilson_by_item(np.arange(200), np.ones(200), np.full(200, 0.5), half_credit=True)
    coin = wilson_by_item(np.arange(200), np.ones(200), np.arange(200) % 2, half_credit=True)
    assert ties.value == coin.value == 0.5
    assert (coin.high - coin.low) / (ties.high - ties.low) == pytest.approx(2, rel=0.05)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30
    ),
    level=st.floats(0.5, 0.99),
)
def test_wilson_by_item_holds_its_estimate_and_mirrors(rows, level):
    item, k, wrong = (np.array(column) for column in zip(*rows, strict=True))
    found = wilson_by_item(item, k + wrong, k, level=level)
    mirrored = wilson_by_item(item, k + wrong, wrong, level=level)
    if found.n < 2:
        assert not found.has_interval
        return
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), abs=1e-9)


def test_items_to_decide():
    found = Estimate(0.8, 0.65, 0.9, n=100)
    assert items_to_decide(found, 0.7) == 225
    assert items_to_decide(found, 0.9) == 100
    assert items_to_decide(found, 0.8) is None
    assert items_to_decide(Estimate(0.8, n=100), 0.7) is None


@pytest.mark.parametrize(("p", "limit"), [(0.7, 0.65), (0.85, 0.8)])
def test_items_to_decide_is_about_right(p, limit):
    """With so many items of the same kind the interval does end near the limit."""
    few = wilson_by_item(np.arange(100), np.ones(100), np.arange(100) < 100 * p)
    wanted = items_to_decide(few, limit)
    more = wilson_by_item(np.arange(wanted), np.ones(wanted), np.arange(wanted) < round(wanted * p))
    assert more.low == pytest.approx(limit, abs=0.01)


SIZES = ("equal", "drawn", "one has most", "skewed")
ALIKE = ("identical", "correlated", "independent")


def votes_per_item(kind, sets, items, most, rng):
    if kind == "equal":
        return np.full((sets, items), most)
    if kind == "drawn":
        return rng.integers(1, most + 1, (sets, items))
    if kind == "one has most":
        return np.tile(np.where(np.arange(items) == 0, most, 1), (sets, 1))
    return np.clip(np.rint(rng.pareto(1.0, (sets, items)) + 0.5), 1, most).astype(int)


def right_votes(kind, n, p, rng):
    if kind == "identical":
        return n * (rng.random(n.shape) < p)
    return rng.binomial(n, rng.beta(p, 1 - p, n.shape) if kind == "correlated" else p)


def coverage_by_item(items, most, p, sizes, alike, *, sets, rng):
    """Share of data sets in which the interval of the rate, and that of the gap of a judge that
    says p, hold the truth. Data sets that differ in the order of the items only are one.
    """
    n = votes_per_item(sizes, sets, items, most, rng)
    pairs = np.sort(n * (most + 1) + right_votes(alike, n, p, rng), axis=1)
    held, code = {"rate": 0, "gap": 0}, np.arange(items)
    for drawn, times in zip(*np.unique(pairs, axis=0, return_counts=True), strict=True):
        n, right = np.divmod(drawn, most + 1)
        rate = wilson_by_item(code, n, right)
        held["rate"] += times * (rate.low <= p <= rate.high)
        # The gap is 0, its added items a wrong and a right verdict.
        gap = mean_interval(code, p - right / n, ends=(p - 1, p))
        held["gap"] += times * (gap.low <= 0 <= gap.high)
    return {name: count / sets for name, count in held.items()}


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", SIZES)
def test_intervals_by_item_hold_the_truth(sizes):
    rng = np.random.default_rng(4)
    found = coverage_by_item(20, 8, 0.85, sizes, "identical", sets=600, rng=rng)
    assert min(found.values()) >= 0.93, found


@pytest.mark.thorough
@pytest.mark.parametrize("alike", ALIKE)
@pytest.mark.parametrize("sizes", SIZES)
def test_intervals_by_item_hold_the_truth_where_items_are_few(sizes, alike):
    """.933 or more in all of 720 cells of 10 and 30 items, 1 to 16 votes and shares of .5 to .95,
    of which these are some; three standard errors of 1,500 draws below .93 are .910.
    """
    rng, items = np.random.default_rng(5), 10
    shares = {
        (most, p): coverage_by_item(items, most, p, sizes, alike, sets=1_500, rng=rng)
        for most in (2, 16)
        for p in (0.7, 0.95)
    }
    rates = [found["rate"] for found in shares.values()]
    gaps = [found["gap"] for found in shares.values()]
    print(
        f"{items} items, {sizes}, {alike}: rates {min(rates):.3f} to {max(rates):.3f}, gaps "
        f"{min(gaps):.3f}"
    )
    assert min(rates) >= 0.91, shares
    assert np.mean(rates) >= 0.94
    assert min(gaps) >= 0.91, shares


def test_mean_interval_is_the_jackknife_of_items_of_unequal_size():
    """Each of the items, and of the two added ones, is left out in turn."""
    value = np.array([0.5, -0.2, 0.9, 0.1, -0.6, 0.3])
    n = np.array([40, 1, 2, 30, 1, 3])
    sums, sizes = np.append(value * n, [n.mean(), -n.mean()]), np.append(n, [n.mean()] * 2)
    centre = sums.sum() / sizes.sum()
    left = np.array([np.delete(sums, i).sum() / np.delete(sizes, i).sum() for i in range(8)])
    error = math.sqrt(7 / 8 * ((left - centre) ** 2).sum())
    freedom = n.sum() ** 2 / (n**2).sum() - 1
    assert 1 < freedom < 2
    half = stats.t.ppf(0.9, freedom) * error
    found = mean_interval(np.arange(6), value, ends=(-1.0, 1.0), within=(-9.0, 9.0), n=n, level=0.8)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half), abs=1e-12)


def test_a_mean_that_three_items_decide_has_an_interval_of_three():
    """Nine tenths of the weight are on three of 30 items: with 29 degrees of freedom and without
    1/(1 − w) it would hold .75.
    """
    rng = np.random.default_rng(8)
    n = np.where(np.arange(30) < 3, 81, 1)
    held = 0
    for _ in range(1_000):
        found = mean_interval(np.arange(30), rng.random(30), ends=(0.0, 1.0), n=n)
        held += found.low <= 0.5 <= found.high
    assert held >= 0.92 * 1_000


def outcomes(item, confidence, right):
    item, confidence, right = (np.asarray(column) for column in (item, confidence, right))
    return OutcomeCounts(
        item=item.astype(np.int64),
        confidence=confidence.astype(np.float64),
        n=np.ones(len(item), dtype=np.int64),
        correct=right.astype(np.int64),
    )


def test_auroc_equals_scikit_learn():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(1)
    for _ in range(20):
        said = np.round(rng.uniform(0.5, 1, 120), 1)
        right = rng.random(120) < said
        found = auroc(outcomes(rng.integers(0, 40, 120), said, right))
        assert found.value == pytest.approx(roc_auc_score(right, said), abs=1e-12)


def test_auroc_of_merged_rows_is_that_of_single_verdicts():
    rng = np.random.default_rng(2)
    item, said = rng.integers(0, 30, 200), np.round(rng.uniform(0.5, 1, 200), 1)
    right = rng.random(200) < said
    key, row = np.unique(np.stack([item, 10 * said]), axis=1, return_inverse=True)
    merged = OutcomeCounts(
        item=key[0].astype(np.int64),
        confidence=key[1] / 10,
        n=np.bincount(row),
        correct=np.bincount(row, right).astype(np.int64),
    )
    one, other = auroc(outcomes(item, said, right)), auroc(merged)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_auroc_of_single_verdicts_has_delongs_variance():
    """One verdict per item: the variance is that of all pairs, summed in two loops."""
    rng = np.random.default_rng(3)
    said = np.round(rng.uniform(0.5, 1, 60), 1)
    right = rng.random(60) < said
    psi = np.array([[(r > w) + 0.5 * (r == w) for w in said[~right]] for r in said[right]])
    theta = psi.mean()
    variance = (
        psi.mean(axis=1).var(ddof=1) / right.sum() + psi.mean(axis=0).var(ddof=1) / (~right).sum()
    )
    # The items of right and of wrong verdicts are not the same: their sums are not correlated.
    fewest = min(right.sum(), (~right).sum())
    half = stats.t.ppf(0.975, fewest - 1) * math.sqrt(variance) / (theta * (1 - theta))
    logit = math.log(theta / (1 - theta))
    found = auroc(outcomes(np.arange(60), said, right))
    assert found.low == pytest.approx(1 / (1 + math.exp(half - logit)), abs=1e-12)
    assert found.high == pytest.approx(1 / (1 + math.exp(-half - logit)), abs=1e-12)


def test_auroc_error_is_that_of_drawing_items_again():
    rng = np.random.default_rng(6)
    items, each = 150, 6
    ease = rng.beta(2, 1, items).repeat(each)
    said = np.round(np.clip(ease + rng.normal(0, 0.1, items * each), 0, 1), 2)
    right = rng.random(items * each) < ease
    item = np.arange(items).repeat(each)
    found = auroc(outcomes(item, said, right))
    drawn = []
    for _ in range(600):
        rows = (rng.integers(0, items, items)[:, None] * each + np.arange(each)).ravel()
        drawn.append(auroc(outcomes(np.arange(items).repeat(each), said[rows], right[rows])).value)
    half = stats.t.ppf(0.975, items) * np.std(drawn)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.1)


def test_auroc_has_the_freedom_of_its_effective_items():
    """The ratio of two levels' widths gives the degrees of freedom, whatever the variance is."""
    rng = np.random.default_rng(9)
    n = np.where(np.arange(40) < 4, 40, 1)
    item = np.arange(40).repeat(n)
    said = np.round(rng.uniform(0.5, 1, len(item)), 1)
    right = rng.random(len(item)) < said

    def width(level):
        found = auroc(outcomes(item, said, right), level=level)
        return math.log(found.high / (1 - found.high)) - math.log(found.low / (1 - found.low))

    counts = [np.bincount(item[of], minlength=40) for of in (right, ~right)]
    freedom = min(c.sum() ** 2 / (c @ c) for c in counts) - 1
    assert 2 < freedom < 6
    wanted = stats.t.ppf(0.975, freedom) / stats.t.ppf(0.75, freedom)
    assert width(0.95) / width(0.5) == pytest.approx(wanted, rel=1e-9)


def test_auroc_at_the_edges():
    constant = auroc(outcomes(np.arange(40), np.full(40, 0.9), np.arange(40) % 2))
    assert (constant.value, constant.low, constant.high) == (0.5, 0.5, 0.5)
    split = auroc(outcomes(np.arange(40), np.arange(40) / 40, np.arange(40) >= 20))
    assert (split.value, split.high) == (1.0, 1.0)
    assert 0.8 < split.low < 0.9
    inverse = auroc(outcomes(np.arange(40), np.arange(40) / 40, np.arange(40) < 20))
    assert (inverse.value, inverse.low, inverse.high) == pytest.approx((0, 0, 1 - split.low))
    few = auroc(outcomes(np.arange(40), np.arange(40) / 40, np.arange(40) >= 4))
    assert not few.has_interval
    right = auroc(outcomes(np.arange(40), np.arange(40) / 40, np.ones(40)))
    assert math.isnan(right.value)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("items", "each", "shared"), [(30, 1, 0), (30, 8, 1), (100, 2, 1), (100, 8, 0), (300, 1, 0)]
)
def test_auroc_holds_the_truth(items, each, shared):
    """Calibrated judges; `shared` verdicts of an item are all alike."""
    rng = np.random.default_rng(7)

    def drawn(n):
        said = np.round(0.5 + 0.5 * rng.beta(1.4, 0.6, n), 2)
        right = (
            (rng.random(n) < said).repeat(each)
            if shared
            else rng.random((n, each)).ravel() < said.repeat(each)
        )
        return outcomes(np.arange(n).repeat(each), said.repeat(each), right)

    truth = auroc(drawn(200_000)).value
    found = [auroc(drawn(items)) for _ in range(2_000)]
    known = [one for one in found if one.has_interval]
    held = np.mean([one.low <= truth <= one.high for one in known])
    print(f"AUROC {truth:.3f}, {items} items × {each}, alike {shared}: {held:.3f} of {len(known)}")
    assert held >= 0.93
