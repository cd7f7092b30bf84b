"""Confidence-weighted counts: laws, the learned weights against scipy, and when weighing helps."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidOption, NoUsableVotes, TooFewLabels
from core.questions.labels import btd
from core.questions.labels.confidence_weights import (
    CLIP,
    NAMES,
    confidence_weighted,
    fit_weighted,
    learn_weighings,
)
from core.records import NO_GOLD, ConfidenceCounts, VoteCounts


def records(vote, confidence, gold, *, per_item: int = 1) -> tuple[VoteCounts, ConfidenceCounts]:
    """Votes and confidences (comparisons, n) as the two records of one judge."""
    rows, n = vote.shape
    counts = VoteCounts(
        comparison=np.arange(rows),
        item=np.arange(rows) // per_item,
        plus=(vote == 1).sum(axis=1),
        tie=(vote == 0).sum(axis=1),
        minus=(vote == -1).sum(axis=1),
        gold=gold,
    )
    votes = ConfidenceCounts(
        comparison=np.repeat(np.arange(rows), n),
        vote=vote.ravel(),
        confidence=confidence.ravel(),
        n=np.ones(rows * n, dtype=np.int64),
    )
    return counts, votes


def judged(
    seed: int, rows: int, n: int, *, informative: float, same: bool = False, per_item: int = 1
):
    """A judge that is right more often where a hidden z is high, and states σ(1.2 + informative·z +
    noise).

    same : one hidden z per comparison and all n votes and confidences alike, as at temperature 0.
    """
    rng = np.random.default_rng(seed)
    gold = np.where(rng.random(rows) < 0.35, 0, np.where(rng.random(rows) < 0.5, 1, -1))
    size = (rows, 1 if same else n)
    z = rng.normal(0, 1.2, size)
    right = rng.random(size) < 1 / (1 + np.exp(-(0.4 + z + rng.normal(0, 0.7, (rows, 1)))))
    wrong = (gold[:, None] + 1 + rng.integers(1, 3, size)) % 3 - 1
    vote = np.where(right, gold[:, None], wrong)
    noise = (1 - informative) * rng.normal(0, 1.2, size)
    stated = np.round(20 / (1 + np.exp(-(1.2 + informative * z + noise)))) / 20
    spread = (rows, n)
    return records(
        np.broadcast_to(vote, spread), np.broadcast_to(stated, spread), gold, per_item=per_item
    )


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 6), stated=st.sampled_from([0.0, 0.3, 0.9, 1.0])
)
def test_equal_confidences_are_plain_btd(seed, n, stated):
    counts, votes = judged(seed, 60, n, informative=1)
    flat = ConfidenceCounts(
        comparison=votes.comparison,
        vote=votes.vote,
        confidence=np.full(len(votes), stated),
        n=votes.n,
    )
    found = confidence_weighted(counts, flat, rng=np.random.default_rng(0), n_splits=5)
    assert (found.weight == 1).all()
    assert found.weighing.slope == 0
    assert found.scores.mae_change.value[1] == 0
    assert found.scores.drps_change.value[1] == 0


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_swapping_a_and_b_changes_no_score(seed):
    counts, votes = judged(seed, 80, 3, informative=0.7)
    mirrored = records(-votes.vote.reshape(-1, 3), votes.confidence.reshape(-1, 3), -counts.gold)
    one, other = (
        confidence_weighted(c, v, rng=np.random.default_rng(1), n_splits=4)
        for c, v in ((counts, votes), mirrored)
    )
    np.testing.assert_allclose(other.scores.drps[:2], one.scores.drps[:2], atol=1e-6)
    np.testing.assert_allclose(other.scores.mae.value, one.scores.mae.value, atol=1e-12)


def test_weights_are_those_of_scipy_on_the_same_likelihood():
    from scipy.optimize import minimize
    from scipy.special import expit

    rng = np.random.default_rng(3)
    confidence = rng.uniform(0, 1, 400).round(2)
    comparison = np.arange(400) // 4
    right = (rng.random(400) < expit(0.8 * confidence - 0.1)).astype(float)
    (found,) = learn_weighings(
        confidence, right, comparison, [np.arange(100)], n_votes=np.ones(400, np.int64)
    )
    clipped = np.clip(confidence, CLIP, 1 - CLIP)
    x = np.log(clipped / (1 - clipped))
    x -= x.mean()

    def objective(theta):
        z = theta[0] * x + theta[1]
        return np.mean(np.logaddexp(0, z) - right * z) + (theta[0] ** 2 + 0.1 * theta[1] ** 2) / 200

    theirs = minimize(objective, [0.0, 0.0], tol=1e-12)
    assert [found.slope, found.intercept] == pytest.approx(theirs.x, abs=1e-5)
    assert found(confidence).mean() == pytest.approx(1)
    evidence = np.maximum(0, theirs.x[0] * x + theirs.x[1] + np.log(2))
    np.testing.assert_allclose(found(confidence), evidence / evidence.mean(), atol=1e-4)


def test_the_fit_is_that_of_the_full_solver():
    """Five starts reach what the solver of plain BTD finds by scanning the box, on sets of 20 to
    60.
    """
    from core.questions.labels.solver import Objective, solve

    rng = np.random.default_rng(9)
    box = np.array([(1e-3, 5.0), (np.log(1e-4), np.log(1e3)), (-10.0, 10.0)])
    s, t, gold, gaps = [], [], [], []
    for rows in range(20, 60):
        weights = rng.gamma(1.0, 1.0, (3, rows)) * rng.integers(0, 6, (3, rows))
        s.append(0.5 * np.log((weights[2] + 1) / (weights[0] + 1)))
        t.append(np.log((weights[1] + 1) / (weights.sum(axis=0) + 1)))
        gold.append(np.clip(np.rint(s[-1] + rng.normal(0, 0.6, rows)), -1, 1).astype(np.int64))
    theta = fit_weighted(s, t, gold, np.tile([1.0, 0.0, 1.0], (40, 1)), btd.Bounds())
    for margin, ties, labels, own in zip(s, t, gold, theta, strict=True):
        share = np.stack([(labels == y)[None] / len(labels) for y in (-1, 0, 1)])
        _, best, _ = solve(
            Objective(x=margin[None], y=np.stack([np.ones_like(ties), ties]), weight=share),
            box[None, :, 0],
            box[None, :, 1],
        )
        loss = btd.drps(btd.probabilities(own, margin, ties), labels).mean()
        assert loss <= best[0] + 1e-4
        gaps.append(loss - best[0])
    assert np.mean(np.array(gaps) < 1e-8) > 0.9


@pytest.mark.thorough
def test_a_confidence_that_says_nothing_passes_one_time_in_twenty():
    """8 votes of a comparison share their correctness: z goes by comparison, so 5 % pass ± 3 SE of
    800.
    """
    rng = np.random.default_rng(4)
    passed = 0
    for _ in range(800):
        comparison = np.repeat(np.arange(60), 8)
        confidence = np.repeat(rng.uniform(0.4, 1, 60), 8)
        right = np.repeat((rng.random(60) < 0.6).astype(float), 8)
        passed += (
            learn_weighings(
                confidence, right, comparison, [np.arange(60)], n_votes=np.ones_like(comparison)
            )[0].slope
            > 0
        )
    assert passed / 800 == pytest.approx(0.05, abs=0.024)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_it_helps_where_confidence_tells_right_from_wrong(n):
    """1,500 comparisons, 75 labels, half-informative confidence: MAE falls by more than .03."""
    counts, votes = judged(1, 1_500, n, informative=0.5)
    scores = confidence_weighted(counts, votes, rng=np.random.default_rng(0), n_splits=40).scores
    assert scores.names == NAMES
    assert scores.mae_change.value[1] < -0.03
    assert scores.mae_change.high[1] < -0.02
    assert scores.drps_change.high[1] < -0.005


@pytest.mark.thorough
@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_a_confidence_that_says_nothing_costs_next_to_nothing(n):
    """Mean over four judges, 75 labels: below a seventh of the least gain in DRPS above (.011)."""
    cost = []
    for seed in range(4):
        counts, votes = judged(seed, 1_500, n, informative=0.0)
        scores = confidence_weighted(
            counts, votes, rng=np.random.default_rng(0), n_splits=20
        ).scores
        cost.append([scores.mae_change.value[1], scores.drps_change.value[1]])
    mae, drps = np.mean(cost, axis=0)
    assert abs(mae) < 0.003
    assert abs(drps) < 0.0015


def test_at_temperature_0_confidence_is_all_there_is():
    """Eight equal votes say no more than one: then weighing gains where confidence differs by
    comparison.
    """
    alike, own = (
        confidence_weighted(
            *judged(2, 1_500, 8, informative=0.5, same=same),
            rng=np.random.default_rng(0),
            n_splits=40,
        ).scores
        for same in (True, False)
    )
    assert alike.mae.value[1] > own.mae.value[1] + 0.15
    assert alike.mae_change.high[1] < -0.02
    assert alike.drps_change.high[1] < -0.005


def test_nothing_is_learned_from_the_comparisons_that_are_scored():
    """Gold is a coin toss of its own: a rule that saw it would come out below plain BTD."""
    counts, votes = judged(5, 400, 4, informative=1.0, per_item=4)
    gold = np.random.default_rng(6).integers(-1, 2, 100).repeat(4)
    random = VoteCounts(
        comparison=counts.comparison,
        item=counts.item,
        plus=counts.plus,
        tie=counts.tie,
        minus=counts.minus,
        gold=gold,
    )
    scores = confidence_weighted(random, votes, rng=np.random.default_rng(0), n_splits=40).scores
    assert scores.drps_change.value[1] > -0.002


def test_votes_without_confidence_are_left_out_for_every_rule():
    counts, votes = judged(7, 200, 4, informative=0.5)
    confidence = votes.confidence.copy()
    confidence[::4] = np.nan
    partial = ConfidenceCounts(
        comparison=votes.comparison, vote=votes.vote, confidence=confidence, n=votes.n
    )
    found = confidence_weighted(counts, partial, rng=np.random.default_rng(0), n_splits=5)
    kept = records(
        votes.vote.reshape(-1, 4)[:, 1:], votes.confidence.reshape(-1, 4)[:, 1:], counts.gold
    )
    same = confidence_weighted(*kept, rng=np.random.default_rng(0), n_splits=5)
    assert (found.without, found.votes_per_comparison) == (200, 3)
    np.testing.assert_array_equal(found.scores.mae.value, same.scores.mae.value)


def test_what_cannot_be_done_is_said():
    counts, votes = judged(8, 60, 2, informative=0.5)
    rng = np.random.default_rng(0)
    silent = ConfidenceCounts(
        comparison=votes.comparison,
        vote=votes.vote,
        confidence=np.full(len(votes), np.nan),
        n=votes.n,
    )
    with pytest.raises(NoUsableVotes, match="none was given"):
        confidence_weighted(counts, silent, rng=rng)
    unlabelled = records(
        votes.vote.reshape(-1, 2), votes.confidence.reshape(-1, 2), np.full(len(counts), NO_GOLD)
    )
    with pytest.raises(NoUsableVotes, match="gold"):
        confidence_weighted(*unlabelled, rng=rng)
    with pytest.raises(TooFewLabels, match="15 labelled"):
        confidence_weighted(*judged(8, 15, 2, informative=0.5), rng=rng)
    with pytest.raises(InvalidOption, match="minimum"):
        confidence_weighted(counts, votes, rng=rng, minimum=5)


def check_reward_models(shared_data):
    """JudgeBench, two votes per comparison, gold without ties: better forecasts (DRPS), the same
    labels.
    """
    frame = pd.read_csv(shared_data / "votes" / "judgebench.csv.gz")
    frame = frame[frame["judge"] == "internlm_internlm2-20b-reward [reward_model]"]
    frame = frame[frame["vote"].notna()].sort_values("item_id", kind="stable")
    gold = frame.drop_duplicates("item_id")["gold"].to_numpy(np.int64)
    counts, votes = records(
        frame["vote"].to_numpy(np.int64).reshape(-1, 2),
        frame["confidence"].to_numpy(float).reshape(-1, 2),
        gold,
    )
    found = confidence_weighted(
        counts, votes, rng=np.random.default_rng(0), n_splits=40, share=0.25
    )
    assert (found.scores.n, found.scores.calibration, found.votes_per_comparison) == (350, 88, 2)
    assert found.weighing.z > 5
    assert found.scores.drps_change.high[1] < -0.005
    assert found.scores.mae_change.low[1] <= 0 <= found.scores.mae_change.high[1]
