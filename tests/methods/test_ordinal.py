"""Ordinal BTD on K levels: laws, an independent optimiser, recovery, and when it beats
plain rules.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.errors import InvalidOption, NoUsableVotes, TooFewLabels
from core.questions.labels import btd
from core.questions.labels.evaluation import evaluate
from core.questions.labels.ordinal_model import (
    GAP_PRECISION,
    NAMES,
    SLOPE_PRECISION,
    LevelCounts,
    Sets,
    apply,
    chances_below,
    cuts_of,
    drps,
    features,
    fit_ordinal,
    fit_sets,
    median_level,
    of_scores,
    ordinal,
    plain_levels,
    probabilities,
)
from core.records import NO_GOLD, DirectScores, InvalidCounts, VoteCounts


def of_votes(counts: VoteCounts) -> LevelCounts:
    """Votes -1, 0, +1 as three levels."""
    return LevelCounts(
        item=counts.item,
        levels=np.column_stack([counts.minus, counts.tie, counts.plus]),
        gold=np.where(counts.gold == NO_GOLD, NO_GOLD, counts.gold + 1),
        scale=(-1.0, 0.0, 1.0),
    )


def rated(
    seed: int, rows: int, k: int, n: int, *, shift: float = 0.0, stretch: float = 1.0
) -> LevelCounts:
    """n votes a row of a judge that sees stretch·quality + shift, with gold the level of quality
    itself.
    """
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, rows)
    edges = np.linspace(-1.8, 1.8, k - 1)
    seen = (stretch * quality + shift + rng.normal(0, 0.5, rows))[:, None] + rng.normal(
        0, 0.8, (rows, n)
    )
    level = np.searchsorted(edges, seen)
    return LevelCounts(
        item=np.arange(rows),
        levels=np.stack([(level == x).sum(axis=1) for x in range(k)], axis=1),
        gold=np.searchsorted(edges, quality),
        scale=tuple(float(x) for x in range(k)),
    )


def reversed_scale(counts: LevelCounts) -> LevelCounts:
    k = len(counts.scale)
    return LevelCounts(
        item=counts.item,
        levels=counts.levels[:, ::-1],
        gold=np.where(counts.gold == NO_GOLD, NO_GOLD, k - 1 - counts.gold),
        scale=counts.scale,
    )


@given(
    st.lists(st.tuples(*[st.integers(0, 9)] * 3).filter(any), min_size=1, max_size=20),
    st.floats(0.2, 4),
    st.floats(0.2, 4),
)
def test_with_three_levels_the_features_are_those_of_btd(votes, alpha, kappa):
    minus, tie, plus = np.array(votes).T
    zero = np.zeros(len(plus), dtype=np.int64)
    counts = VoteCounts(
        comparison=np.arange(len(plus)), item=zero, plus=plus, tie=tie, minus=minus, gold=zero
    )
    theirs = btd.features(counts, btd.BTDOptions(alpha=alpha, kappa=kappa))
    np.testing.assert_allclose(
        features(of_votes(counts).levels, alpha=alpha, kappa=kappa), theirs, atol=1e-12
    )


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3).filter(any), min_size=1, max_size=20))
def test_with_three_levels_mode_is_majority(votes):
    minus, tie, plus = np.array(votes).T
    zero = np.zeros(len(plus), dtype=np.int64)
    counts = VoteCounts(
        comparison=np.arange(len(plus)), item=zero, plus=plus, tie=tie, minus=minus, gold=zero
    )
    assert (plain_levels(of_votes(counts).levels)["Mode"] - 1 == counts.label).all()


@settings(max_examples=15, deadline=None)
@example(seed=104_248, k=4, n=4, symmetric=True)
@given(
    seed=st.integers(0, 10**6), k=st.integers(2, 7), n=st.integers(1, 6), symmetric=st.booleans()
)
def test_reversing_the_scale_mirrors(seed, k, n, symmetric):
    counts = rated(seed, 60, k, n, shift=0.4)
    one, other = (
        fit_ordinal(counts, symmetric=symmetric),
        fit_ordinal(reversed_scale(counts), symmetric=symmetric),
    )
    assert other.drps == pytest.approx(one.drps, abs=1e-5)
    p = probabilities(one, counts.levels)
    mirrored = probabilities(other, reversed_scale(counts).levels)
    # The same minimum may be reached by another path: its loss and its chances agree, not its last
    # digits.
    assert np.abs(mirrored[:, ::-1] - p).mean() < 1e-3
    for name, level in plain_levels(counts.levels).items():
        turned = plain_levels(counts.levels[:, ::-1])[name]
        off_centre = np.abs(level - (k - 1) / 2) > 0.5
        assert (k - 1 - turned == level)[off_centre].all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 7))
def test_chances_are_chances_and_the_decision_has_the_least_expected_error(seed, k):
    counts = rated(seed, 50, k, 3, shift=-0.3)
    found = fit_ordinal(counts)
    p = probabilities(found, counts.levels)
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    cost = p @ np.abs(np.arange(k)[:, None] - np.arange(k))
    chosen = cost[np.arange(50), apply(found, counts.levels)]
    np.testing.assert_allclose(chosen, cost.min(axis=1), atol=1e-9)
    np.testing.assert_allclose(drps(np.cumsum(p, axis=1)[:, :-1], counts.gold).mean(), found.drps)


def test_a_tie_of_risks_goes_to_the_middle():
    below = np.array([[0.5, 0.5, 0.9, 1.0], [0.0, 0.1, 0.5, 0.5], [0.5, 1.0, 1.0, 1.0]])
    assert median_level(below).tolist() == [2, 2, 1]


@pytest.mark.parametrize("symmetric", [False, True])
def test_no_other_optimiser_does_better(symmetric):
    """scipy from many starts on the same objective, written from the formulas alone."""
    from scipy.optimize import minimize
    from scipy.special import expit

    mirror = {3: [0], 4: [0, 0], 5: [0, 1, 0]}
    for seed, k in ((0, 3), (1, 4), (2, 5)):
        counts = rated(seed, 40, k, 3, shift=0.5)
        s, t = features(counts.levels)

        def objective(x, s=s, t=t, k=k, gold=counts.gold):
            gaps = x[3:][mirror[k]] if symmetric else x[3:]
            location = 0.0 if symmetric else x[2]
            a = location + cuts_of(gaps) * np.exp(x[1] * t)[:, None] - x[0] * s[:, None]
            loss = ((expit(a) - (gold[:, None] <= np.arange(k - 1))) ** 2).sum(axis=1).mean()
            prior = GAP_PRECISION * ((x[3:] - x[3:].mean()) ** 2).sum()
            return loss + (prior + SLOPE_PRECISION * (x[1] ** 2 + location**2)) / len(gold)

        found = fit_ordinal(counts, symmetric=symmetric)
        gaps = np.diff(found.cuts)
        free = gaps[: (k - 1) // 2] if symmetric else gaps
        ours = objective(np.array([found.beta, found.gamma, found.location, *free]))
        box = [(1e-3, 30), (-3, 3), (-30, 30)] + [(0, 30)] * len(free)
        narrow = np.array([(0.1, 8), (-1, 2), (-3, 3)] + [(0.1, 4)] * len(free)).T
        starts = np.random.default_rng(seed).uniform(*narrow, size=(20, 3 + len(free)))
        theirs = min(minimize(objective, x, bounds=box, method="L-BFGS-B").fun for x in starts)
        assert ours <= theirs + 1e-6


def test_known_parameters_are_recovered():
    """Levels drawn from the model itself: 30,000 rows give its six parameters back."""
    counts = rated(3, 30_000, 5, 6)
    s, t = features(counts.levels)
    truth = np.array([2.2, 0.6, 0.5, 1.5, 0.8, 1.2])
    below = chances_below(truth, s, t)
    gold = (np.random.default_rng(4).random(len(s))[:, None] > below).sum(axis=1)
    found = fit_ordinal(
        LevelCounts(item=counts.item, levels=counts.levels, gold=gold, scale=counts.scale)
    )
    estimate = [found.beta, found.gamma, found.location, *np.diff(found.cuts)]
    assert (np.abs(estimate - truth) < [0.1, 0.1, 0.05, 0.1, 0.1, 0.1]).all()


@pytest.mark.parametrize(("k", "n"), [(5, 1), (5, 4), (10, 4)])
def test_it_helps_where_the_scales_differ(k, n):
    """A judge that is too kind and uses half the scale; 20 labels of 400 answers."""
    scores = ordinal(
        rated(1, 400, k, n, shift=0.8, stretch=0.6), rng=np.random.default_rng(0), n_splits=40
    ).scores
    assert scores.names == NAMES
    assert (scores.mae_change.high[1:] < -0.1).all()


def test_where_the_scales_agree_it_costs_what_twenty_labels_cost():
    """No more than .06 levels over the rounded mean with 20 labels of K = 5, and next to nothing
    with 100.
    """
    few, many = (
        ordinal(rated(1, rows, 5, 4), rng=np.random.default_rng(0), n_splits=40).scores
        for rows in (400, 2_000)
    )
    assert 0.02 < few.mae_change.value[2] < 0.06
    assert abs(many.mae_change.value[2]) < 0.01
    assert many.mae_change.high[1] < -0.05


def test_many_sets_are_fitted_as_each_alone():
    counts = rated(5, 120, 5, 4, shift=0.3)
    s, t = features(counts.levels)
    halves = [np.arange(0, 120, 2), np.arange(1, 100, 2)]
    together = fit_sets(Sets.of(s, t, counts.gold, halves, 5, symmetric=False))
    for theta, rows in zip(together, halves, strict=True):
        alone = fit_ordinal(counts.rows(rows))
        np.testing.assert_allclose(
            theta, [alone.beta, alone.gamma, alone.location, *np.diff(alone.cuts)], atol=1e-5
        )


def scores_of(rows, models=("m1", "m2")) -> DirectScores:
    item, model, run, score = (np.array(column) for column in zip(*rows, strict=True))
    return DirectScores(
        models=models,
        categories=("",),
        item=item,
        category=np.zeros_like(item),
        model=model,
        run=run,
        score=score.astype(float),
    )


def test_direct_scores_become_levels():
    judge = scores_of([(0, 0, 0, 8), (0, 0, 1, 9), (0, 1, 0, 7.5), (1, 0, 0, 3)])
    gold = scores_of([(0, 0, 0, 6), (0, 0, 1, 9), (0, 1, 0, 5), (2, 0, 0, 1)])
    counts = of_scores(judge, gold)
    assert counts.scale == tuple(range(1, 10))
    assert counts.item.tolist() == [0, 0, 1]
    assert [np.flatnonzero(row).tolist() for row in counts.levels] == [[7, 8], [6], [2]]
    # The median of 6 and 9 is 7.5: of its two neighbours, 7 is nearer the middle of the scale.
    assert counts.gold.tolist() == [6, 4, NO_GOLD]
    coarse = of_scores(judge, gold, scale=(1, 5, 9))
    assert coarse.levels.tolist() == [[0, 0, 2], [0, 0, 1], [0, 1, 0]]


def test_what_cannot_be_done_is_said():
    judge = scores_of([(0, 0, 0, 8)])
    with pytest.raises(NoUsableVotes, match="in common"):
        of_scores(judge, scores_of([(1, 0, 0, 8)]))
    with pytest.raises(InvalidOption, match="outside 1 to 5"):
        of_scores(judge, judge, scale=(1, 2, 3, 4, 5))
    with pytest.raises(InvalidOption, match="more than 21"):
        of_scores(scores_of([(0, 0, 0, 0)]), scores_of([(0, 0, 0, 100)]))
    with pytest.raises(InvalidCounts, match="selections"):
        of_scores(judge, scores_of([(0, 0, 0, 8)], models=("m1",)))
    with pytest.raises(TooFewLabels, match="12"):
        fit_ordinal(rated(0, 12, 5, 2))
    none = rated(0, 40, 5, 2)
    none = LevelCounts(
        item=none.item, levels=none.levels, gold=np.full(len(none), NO_GOLD), scale=none.scale
    )
    with pytest.raises(NoUsableVotes, match="gold"):
        ordinal(none, rng=np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="alpha"):
        features(none.levels, alpha=0)
    with pytest.raises(InvalidCounts, match="ascending"):
        LevelCounts(item=none.item, levels=none.levels, gold=none.gold, scale=(1, 1, 2, 3, 4))
    with pytest.raises(InvalidCounts, match="not within"):
        LevelCounts(
            item=none.item, levels=none.levels, gold=np.full(len(none), 5), scale=none.scale
        )


def test_a_level_without_labels_is_named():
    counts = rated(6, 60, 7, 3)
    kept = counts.rows(counts.gold != 5)
    assert any("level 5" in note for note in fit_ordinal(kept).notes)


def check_three_levels_beside_btd(shared_data):
    """RewardBench 2, gpt-5.4-mini, Math: logistic thresholds are level with BTD, both far below
    majority.
    """
    frame = pd.read_csv(shared_data / "votes" / "rewardbench2_pairs.csv.gz")
    frame = frame[(frame["judge"] == "gpt-5.4-mini [base]") & (frame["category"] == "Math")]
    frame = frame[frame["vote"].notna()].copy()
    frame["comparison"] = frame.groupby(["item_id", "model_a", "model_b"], sort=False).ngroup()
    first = frame.drop_duplicates("comparison")
    table = np.zeros((len(first), 3), dtype=np.int64)
    np.add.at(table, (frame["comparison"], frame["vote"].astype(int) + 1), 1)
    counts = VoteCounts(
        comparison=np.arange(len(first)),
        item=pd.factorize(first["item_id"])[0].astype(np.int64),
        minus=table[:, 0],
        tie=table[:, 1],
        plus=table[:, 2],
        gold=first["gold"].to_numpy(np.int64),
    )
    found = ordinal(of_votes(counts), rng=np.random.default_rng(0), symmetric=True).scores
    theirs = evaluate(
        counts, rng=np.random.default_rng(0), methods=["btd", "majority"], resamples=0
    ).scores
    assert found.n == 1098
    assert found.mae.value[1] == pytest.approx(theirs["majority"].mae, abs=0.005)
    assert found.mae.value[0] == pytest.approx(theirs["btd"].mae, abs=0.01)
    assert found.mae_change.high[1] < -0.05
