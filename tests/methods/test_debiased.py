"""Debiased rates: by hand, laws, and what the judge's votes are worth; coverage is in
test_coverage.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidOption, TooFewLabels
from core.questions.boards.check_words import corrected, debiased
from core.questions.boards.debiased import debiased_rate, oriented, rogan_gladen
from core.records import NO_GOLD, VoteCounts


def counts_of(plus, tie, minus, gold, item=None) -> VoteCounts:
    code = np.arange(len(plus))
    return VoteCounts(
        comparison=code,
        item=code if item is None else np.asarray(item),
        plus=np.asarray(plus),
        tie=np.asarray(tie),
        minus=np.asarray(minus),
        gold=np.asarray(gold),
    )


def single(vote, gold, item=None) -> VoteCounts:
    vote = np.asarray(vote)
    return counts_of(*(np.equal(vote, v).astype(int) for v in (1, 0, -1)), gold, item)


def binary(
    rng, labelled, rest, *, share=0.6, sensitivity=0.8, specificity=0.8, each=1
) -> VoteCounts:
    """Votes without ties; the first comparisons are labelled."""
    gold = np.where(rng.random(labelled + rest) < share, 1, -1)
    hit = rng.random(len(gold)) < np.where(gold > 0, sensitivity, specificity)
    vote = np.where(hit, gold, -gold)
    gold[labelled:] = NO_GOLD
    return single(vote, gold, np.arange(len(gold)) // each)


def test_one_comparison_an_item_by_the_formula() -> None:
    rng = np.random.default_rng(0)
    votes = rng.multinomial(4, [0.5, 0.2, 0.3], size=90)
    gold = np.concatenate([rng.choice([-1, 0, 1], 30), np.full(60, NO_GOLD)])
    found = debiased_rate(counts_of(*votes.T, gold))
    f = (1 + (votes[:, 0] - votes[:, 2]) / 4) / 2
    y = (gold[:30] + 1) / 2
    rectifier = np.concatenate([y - f[:30], [-1.0, 1.0]])
    centre = f[30:].mean() + rectifier.mean()
    half = stats.t.ppf(0.975, 29) * np.sqrt(f[30:].var(ddof=1) / 60 + rectifier.var(ddof=1) / 32)
    assert found.value == pytest.approx(f[30:].mean() + (y - f[:30]).mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half), abs=1e-12)
    labels = np.concatenate([y, [0.0, 1.0]])
    half = stats.t.ppf(0.975, 29) * labels.std(ddof=1) / np.sqrt(32)
    assert found.labels.value == pytest.approx(y.mean(), abs=1e-12)
    assert (found.labels.low, found.labels.high) == pytest.approx(
        (labels.mean() - half, labels.mean() + half), abs=1e-12
    )
    assert found.judge == pytest.approx(f.mean(), abs=1e-12)
    assert found.bias == pytest.approx((f[:30] - y).mean(), abs=1e-12)
    assert (found.n_labelled, found.n_unlabelled, found.items_labelled) == (30, 60, 30)


def test_comparisons_of_an_item_that_always_agree_count_once() -> None:
    once = binary(np.random.default_rng(1), 40, 300)
    rows = np.repeat(np.arange(340), 5)
    copies = counts_of(
        *(getattr(once, n)[rows] for n in ("plus", "tie", "minus", "gold")), once.item[rows]
    )
    one, five = debiased_rate(once), debiased_rate(copies)
    assert (five.value, five.low, five.high) == pytest.approx(
        (one.value, one.low, one.high), abs=1e-12
    )
    assert five.n_labelled == 200
    one, five = rogan_gladen(once), rogan_gladen(copies)
    assert five.rate.value == pytest.approx(one.rate.value, abs=1e-12)
    assert five.rate.high - five.rate.low == pytest.approx(one.rate.high - one.rate.low, rel=0.03)


def test_an_item_with_labelled_and_unlabelled_comparisons_ties_the_two_samples() -> None:
    """Errors of the judge that an item's comparisons share: the covariance of the two means is
    negative.
    """
    rng = np.random.default_rng(2)
    values = []
    for _ in range(400):
        wrong = rng.random(60) < 0.4
        vote = np.where(np.repeat(wrong, 2), 1, -1)
        gold = np.where(np.arange(120) % 2, NO_GOLD, -1)
        values.append(debiased_rate(single(vote, gold, np.repeat(np.arange(60), 2))))
    # Each half of an item errs as the other does, so the debiased rate is exactly gold's, here 0.
    assert max(abs(found.value) for found in values) < 1e-12
    assert np.mean([found.high for found in values]) < 0.14


def test_tuned_weight_follows_what_the_judge_knows() -> None:
    rng = np.random.default_rng(3)
    good = debiased_rate(
        binary(rng, 400, 4000, sensitivity=0.95, specificity=0.95), weighting="tuned"
    )
    coin = binary(rng, 400, 4000, sensitivity=0.5, specificity=0.5)
    tuned, full = debiased_rate(coin, weighting="tuned"), debiased_rate(coin)
    assert good.weight == pytest.approx(0.9 / (1 + 0.1), abs=0.06)
    assert tuned.weight < 0.1
    assert tuned.gain == pytest.approx(1, abs=0.02)
    assert full.gain > 1.3


def test_without_unlabelled_comparisons_the_labels_speak() -> None:
    found = debiased_rate(binary(np.random.default_rng(4), 60, 0))
    assert (found.weight, found.gain) == (0, 1)
    assert (found.value, found.low, found.high) == (
        found.labels.value,
        found.labels.low,
        found.labels.high,
    )
    assert "Every comparison has gold" in debiased("m", "ref", "j", found)


ROWS = st.lists(
    st.tuples(
        st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1, NO_GOLD]), st.integers(0, 30)
    ),
    min_size=25,
    max_size=80,
).filter(lambda rows: len({item for _, gold, item in rows if gold != NO_GOLD}) >= 10)


@given(ROWS, st.randoms(use_true_random=False), st.sampled_from(["full", "tuned"]))
def test_laws(rows, random, weighting) -> None:
    vote, gold, item = (np.array(part) for part in zip(*rows, strict=True))
    found = debiased_rate(single(vote, gold, item), weighting=weighting)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert 0 <= found.weight <= 1
    shuffled = random.sample(range(len(rows)), len(rows))
    again = debiased_rate(
        single(vote[shuffled], gold[shuffled], item[shuffled] * 7), weighting=weighting
    )
    assert (again.value, again.low, again.high) == pytest.approx(
        (found.value, found.low, found.high), abs=1e-9
    )
    counts = single(vote, gold, item)
    swapped = oriented(counts, np.ones(len(rows), bool), np.ones(len(rows), bool))
    other = debiased_rate(swapped, weighting=weighting)
    assert (other.value, other.low, other.high) == pytest.approx(
        (1 - found.value, 1 - found.high, 1 - found.low), abs=1e-9
    )
    assert other.bias == pytest.approx(-found.bias, abs=1e-12)
    np.testing.assert_array_equal(swapped.gold == NO_GOLD, counts.gold == NO_GOLD)


def test_rogan_gladen_by_the_formula_of_lang_and_reiczigel() -> None:
    """Sensitivity 45/50, specificity 36/40, 130 of 200 called A; their limits term by term."""
    vote = np.repeat([1, -1, -1, 1, 1, -1], [45, 5, 36, 4, 130, 70])
    gold = np.repeat([1, -1, NO_GOLD], [50, 40, 200])
    found = rogan_gladen(single(vote, gold))
    assert found.rate.value == pytest.approx((0.65 + 0.9 - 1) / 0.8, abs=1e-12)
    z = stats.norm.ppf(0.975)
    n, q = 200 + z**2, (130 + z**2 / 2) / (200 + z**2)
    se, sp = 46 / 52, 37 / 42
    p = (q + sp - 1) / (se + sp - 1)
    v_se, v_sp = se * (1 - se) / 52, sp * (1 - sp) / 42
    shift = 2 * z**2 * (p * v_se - (1 - p) * v_sp)
    error = np.sqrt(q * (1 - q) / n + p**2 * v_se + (1 - p) ** 2 * v_sp) / (se + sp - 1)
    expected = (p + shift - z * error, p + shift + z * error)
    assert (found.rate.low, found.rate.high) == pytest.approx(expected, abs=1e-12)
    assert corrected(found) == (
        "Rogan–Gladen: 69 % (57 % to 82 %), from a sensitivity of 90 % (n 50) and a specificity "
        "of 90 % (n 40)."
    )


def test_rogan_gladen_says_why_it_is_undefined() -> None:
    rng = np.random.default_rng(5)
    worse = rogan_gladen(binary(rng, 200, 500, sensitivity=0.4, specificity=0.4))
    assert worse.rate is None
    assert "no better than chance" in worse.reason
    ties = single([1, 0, -1, 1] * 10, [1, 1, -1, NO_GOLD] * 10)
    assert "10 ties" in rogan_gladen(ties).reason
    assert "labels of both classes" in corrected(
        rogan_gladen(single([1] * 20, [1] * 10 + [NO_GOLD] * 10))
    )
    few = rogan_gladen(single([1, 1, 1, -1], [1, -1, NO_GOLD, -1]))
    assert few.rate.has_interval


def test_words_say_whether_the_votes_help() -> None:
    rng = np.random.default_rng(6)
    good = debiased_rate(binary(rng, 50, 5000, share=0.5, sensitivity=0.97, specificity=0.97))
    assert good.gain < 0.7
    said = debiased("m1", "ref", "judge", good)
    assert f"the interval is {100 * (1 - good.gain):.0f} % shorter than by the labels alone" in said
    coin = debiased_rate(binary(rng, 200, 5000, sensitivity=0.5, specificity=0.5))
    assert "do not help" in (said := debiased("m1", "ref", None, coin))
    assert "The judges pooled say" in said
    assert said.endswith("shorter; a tuned weight follows the judge less.")
    lenient = debiased_rate(binary(rng, 200, 5000, sensitivity=1, specificity=0.7))
    assert "points too high" in debiased("m1", "ref", "judge", lenient)


def test_words_at_the_edges() -> None:
    """A judge far off where gold is known once divided by 0; one item without gold."""
    labelled, rest = np.full(100, -1), np.full(100, 1)
    gold = np.concatenate([np.full(100, 1), np.full(100, NO_GOLD)])
    off = debiased_rate(single(np.concatenate([labelled, rest]), gold))
    assert (off.low, off.high) == (1, 1)
    assert "hardly a random part of all" in debiased("m", "a", "judge", off)
    nearly = debiased_rate(single(rest, np.append(np.full(99, 1), NO_GOLD)))
    told = debiased("m", "a", None, nearly)
    assert told.endswith("Only one item has no gold, so the labels alone are the answer.")


def test_refusals() -> None:
    few = single([1] * 30, [1] * 9 + [NO_GOLD] * 21)
    with pytest.raises(TooFewLabels, match="there are 9"):
        debiased_rate(few)
    enough = single([1] * 30, [1] * 10 + [NO_GOLD] * 20)
    with pytest.raises(InvalidOption, match="weighting"):
        debiased_rate(enough, weighting="half")
    with pytest.raises(InvalidOption, match="level"):
        debiased_rate(enough, level=2)
    assert (debiased_rate(enough).value, debiased_rate(enough).n_labelled) == (1, 10)
