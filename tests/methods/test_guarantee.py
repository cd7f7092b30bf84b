"""A threshold on how sure labels are: what makes them sure, and that the promise is kept with
clusters.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from btd_counts import simulate_counts
from draws import seeded
from scipy import stats

from core.errors import InvalidOption, NoUsableVotes, TooFewLabels
from core.questions.confidence.alone import threshold_for_risk
from core.questions.confidence.selective import (
    Decisions,
    by_btd,
    by_share,
    by_stated_confidence,
    guarantee,
)
from core.questions.confidence.words import guaranteed
from core.questions.labels.btd import fit
from core.questions.labels.solver import probabilities
from core.records import NO_GOLD, ConfidenceCounts, OutcomeCounts, VoteCounts

ALPHA, DELTA = 0.12, 0.1


def decided(item, confidence, wrong, *, gold_missing=None) -> Decisions:
    gold = np.where(wrong, -1, 1)
    if gold_missing is not None:
        gold = np.where(gold_missing, NO_GOLD, gold)
    return Decisions(
        comparison=np.arange(len(item)),
        item=np.asarray(item),
        label=np.ones(len(item), dtype=np.int64),
        confidence=np.asarray(confidence, dtype=np.float64),
        gold=gold,
        sureness="stated",
    )


def test_sureness_of_votes() -> None:
    counts = VoteCounts(
        comparison=np.arange(4),
        item=np.arange(4),
        plus=np.array([6, 2, 1, 3]),
        tie=np.array([1, 5, 0, 3]),
        minus=np.array([1, 1, 1, 0]),
        gold=np.array([1, 0, -1, NO_GOLD]),
    )
    found = by_share(counts)
    assert found.label.tolist() == [1, 0, 0, 0]
    # Of votes that split evenly as sure as either side, though none of them says 0.
    assert found.confidence.tolist() == [0.75, 0.625, 0.5, 0.5]
    votes = ConfidenceCounts(
        comparison=np.array([0, 0, 0, 1, 1, 9]),
        vote=np.array([1, 1, -1, 0, 1, 1]),
        confidence=np.array([0.9, 0.7, 0.2, np.nan, 0.8, 0.1]),
        n=np.ones(6, dtype=np.int64),
    )
    stated = by_stated_confidence(counts, votes)
    np.testing.assert_allclose(stated.confidence, [0.8, np.nan, np.nan, np.nan])
    assert stated.label.tolist() == found.label.tolist()
    assert stated.to_frame()["gold"].isna().tolist() == [False, False, False, True]


def test_btd_is_fitted_on_half_of_the_items_and_tested_on_the_other() -> None:
    counts = simulate_counts(
        beta=1.2, nu=2, gamma=1, comparisons=600, votes=8, comparisons_per_item=3, rng=seeded()
    )
    found = by_btd(counts, rng=np.random.default_rng(5))
    used = found.gold == NO_GOLD
    assert len(np.unique(counts.item[used])) == 100
    assert not set(counts.item[used]) & set(counts.item[~used])
    half = fit(counts.rows(used).cells()[0])
    s = 0.5 * np.log((counts.plus + 1) / (counts.minus + 1))
    t = np.log((counts.tie + 1) / 9)
    p = probabilities(np.array([half.beta, half.eta0, half.gamma]), s, t)
    np.testing.assert_allclose(found.confidence, p[np.arange(600), found.label + 1], atol=1e-9)
    with pytest.raises(TooFewLabels):
        by_btd(counts.rows(np.arange(30)), rng=seeded())


def test_one_comparison_an_item_is_the_test_over_votes() -> None:
    rng = np.random.default_rng(1)
    confidence = rng.choice(np.linspace(0.5, 1, 11), 400)
    wrong = rng.random(400) < 0.5 * (1 - confidence)
    missing = rng.random(400) < 0.2
    found = guarantee(
        decided(range(400), confidence, wrong, gold_missing=missing), alpha=0.15, delta=0.1, rng=rng
    )
    known = ~missing
    verdicts = OutcomeCounts(
        item=np.flatnonzero(known),
        confidence=confidence[known],
        n=np.ones(known.sum(), dtype=np.int64),
        correct=(~wrong[known]).astype(np.int64),
    )
    test = threshold_for_risk(verdicts, alpha=0.15, delta=0.1)
    assert found.threshold == test.threshold is not None
    above = confidence >= test.threshold - 1e-9
    assert found.kept.value == above.mean()
    assert found.wrong.value == pytest.approx(wrong[above & known].mean(), abs=1e-12)
    assert found.everything.value == pytest.approx(wrong[known].mean(), abs=1e-12)
    assert (found.n, found.n_labelled, found.n_items) == (400, known.sum(), known.sum())
    last = int(found.test.passed.sum()) - 1
    exact = stats.beta.ppf(
        1 - 0.095, test.cut_errors[last] + 1, test.cut_n[last] - test.cut_errors[last]
    )
    assert test.cut_bound[last] == pytest.approx(exact, rel=1e-9)


def test_each_item_is_tested_once_and_order_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    item = rng.integers(0, 200, 900)
    made = decided(item, rng.choice([0.6, 0.8, 0.95], 900), rng.random(900) < 0.05)
    found = guarantee(made, alpha=ALPHA, delta=DELTA, rng=seeded())
    assert found.n_items == len(np.unique(item)) == found.test.n
    order = rng.permutation(900)
    names = ("comparison", "item", "label", "confidence", "gold")
    shuffled = Decisions(sureness="stated", **{name: getattr(made, name)[order] for name in names})
    again = guarantee(shuffled, alpha=ALPHA, delta=DELTA, rng=seeded())
    assert again.to_frame().equals(found.to_frame())


def test_effective_numbers_would_break_where_few_items_have_many_comparisons() -> None:
    """Why an item is tested once: one item in 80 has 20 comparisons, and half of those items are
    all wrong.

    Every tenth kept comparison is wrong; without such an item in the sample nothing looks wrong.
    """
    rng = np.random.default_rng(3)
    weighed = independent = kept = 0
    repeats = 400
    for _ in range(repeats):
        each = np.where(rng.random(80) < 1 / 80, 20, 1)
        item = np.repeat(np.arange(80), each)
        wrong = ((each == 20) & (rng.random(80) < 0.5))[item]
        one = np.ones(len(item), dtype=np.int64)
        verdicts = {
            "item": item,
            "confidence": np.full(len(item), 0.9),
            "n": one,
            "correct": 1 - wrong,
        }
        weighed += (
            threshold_for_risk(OutcomeCounts(**verdicts), alpha=0.1, delta=DELTA).threshold
            is not None
        )
        verdicts["item"] = np.arange(len(item))
        independent += (
            threshold_for_risk(OutcomeCounts(**verdicts), alpha=0.1, delta=DELTA).threshold
            is not None
        )
        # For a comparison of a random item the error is 1 in 160, so that this promise is kept.
        found = guarantee(
            decided(item, verdicts["confidence"], wrong), alpha=0.1, delta=DELTA, rng=rng
        )
        kept += found.threshold is not None
    assert min(weighed, independent) / repeats > 3 * DELTA
    assert kept / repeats > 0.9


def test_words() -> None:
    rng = np.random.default_rng(4)
    confidence = rng.choice([0.6, 0.7, 0.8, 0.9, 1.0], 600)
    wrong = rng.random(600) < 0.6 * (1 - confidence)
    found = guarantee(decided(range(600), confidence, wrong), alpha=0.1, delta=0.1, rng=rng)
    said = guaranteed("judge", found)
    assert f"state a confidence of {found.threshold:.3g} or more on average" in said
    assert "with 90 % certainty at most 10 % of the labels kept are wrong" in said
    assert f"n {found.wrong.n:,} with gold" in said
    counts = VoteCounts(
        comparison=np.arange(300),
        item=np.arange(300),
        plus=np.where(np.arange(300) < 200, 3, 2),
        tie=np.zeros(300, dtype=np.int64),
        minus=np.where(np.arange(300) < 200, 0, 1),
        gold=np.where(np.arange(300) < 200, 1, -1),
    )
    agreed = guarantee(by_share(counts), alpha=0.1, delta=0.1, rng=rng)
    assert "keep a label where all of its votes agree. That settles 67 %" in guaranteed(
        "judge", agreed
    )
    hopeless = guarantee(decided(range(600), confidence, ~wrong), alpha=0.1, delta=0.1, rng=rng)
    assert (hopeless.threshold, hopeless.kept, hopeless.wrong) == (None, None, None)
    assert "no threshold keeps wrong labels at or below 10 % with 90 % certainty" in guaranteed(
        "judge", hopeless
    )
    sure_wrong = np.concatenate([np.ones(20, bool), np.zeros(580, bool)])
    surest = np.concatenate([np.ones(60), np.full(540, 0.6)])
    whole = guaranteed(
        "judge", guarantee(decided(range(600), surest, sure_wrong), alpha=0.1, delta=0.1, rng=rng)
    )
    assert "keep every label" in whole
    assert math.isnan(hopeless.to_frame()["kept"].astype(float)[0])
    easy = guarantee(
        decided(range(600), confidence, np.zeros(600, bool)), alpha=0.1, delta=0.1, rng=rng
    )
    assert "keep every label" in guaranteed("judge", easy)


def test_refusals() -> None:
    nothing = decided([0, 1], [np.nan, 0.9], [False, False], gold_missing=np.array([False, True]))
    with pytest.raises(NoUsableVotes, match="gold"):
        guarantee(nothing, alpha=ALPHA, delta=DELTA, rng=seeded())
    with pytest.raises(InvalidOption, match="alpha"):
        guarantee(decided([0], [0.9], [False]), alpha=0, delta=DELTA, rng=seeded())


def test_words_do_not_contradict_an_item_with_most_comparisons():
    """Sixty right labels of sixty items, and one item with a thousand wrong ones."""
    item = np.append(np.arange(60), np.full(1000, 60))
    right = (item < 60).astype(np.int64)
    counts = VoteCounts(
        comparison=np.arange(1060),
        item=item,
        plus=3 * right,
        tie=np.zeros(1060, dtype=np.int64),
        minus=3 * (1 - right),
        gold=np.ones(1060, dtype=np.int64),
    )
    found = guarantee(by_share(counts), alpha=0.1, delta=0.1, rng=np.random.default_rng(0))
    assert found.threshold is not None
    said = guaranteed("judge", found)
    assert (
        "at most 10 % of the labels kept are wrong, counting each item once (seen: 94.3 %" in said
    )
    assert "counting each label, more than 10 % are" in said
