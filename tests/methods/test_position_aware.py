"""Position-aware BTD: laws, an independent optimiser, recovery, and when it helps and when it does
not.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidOption, NoUsableVotes, TooFewLabels
from core.questions.labels import btd
from core.questions.labels.position_aware_btd import (
    NAMES,
    PRECISION,
    apply,
    fit_orders,
    fit_position_aware,
    order_probabilities,
    order_score,
    position_aware,
    share_ab,
    votes_of_both_orders,
)
from core.records import NO_GOLD, FloatArray, OrderCounts, VoteCells
from core.stats.splits import CalibrationSets


def thin(
    counts: OrderCounts, share: FloatArray, *, votes: int, rng: np.random.Generator
) -> OrderCounts:
    """Draw `votes` votes of each comparison, round(share · votes) of them from `ab` (ours).

    share : (rows,) wanted share of `ab` in [0, 1]. An order with fewer votes gives what it has. It
        makes
    unbalanced votes out of balanced ones, to see what that costs. Comparisons left without a vote
    are dropped.
    """
    wanted = np.rint(share * votes).astype(np.int64)
    kept = [
        rng.multivariate_hypergeometric(row, min(int(n), int(row.sum())))
        for order, of_order in ((counts.ab, wanted), (counts.ba, votes - wanted))
        for row, n in zip(order, of_order, strict=True)
    ]
    ab, ba = (
        np.array(kept[: len(counts)]).reshape(-1, 3),
        np.array(kept[len(counts) :]).reshape(-1, 3),
    )
    left = (ab.sum(axis=1) + ba.sum(axis=1)) > 0
    return OrderCounts(
        comparison=counts.comparison[left],
        item=counts.item[left],
        ab=ab[left],
        ba=ba[left],
        gold=counts.gold[left],
    )


def judged(
    seed: int, items: int, *, bias: float, ab: str, n: int = 8, per_item: int = 1
) -> OrderCounts:
    """Votes of a judge that adds `bias` to the response shown first; gold ties where |quality| <
    0.7.

    ab : of n votes per comparison, those in `ab` are `balanced` n/2, `mixed` 0 … n at random, `one`
        0 or n.
    """
    rng = np.random.default_rng(seed)
    m = items * per_item
    quality = rng.normal(0, 1.5, m)
    first = {
        "balanced": np.full(m, n // 2),
        "mixed": rng.integers(0, n + 1, m),
        "one": n * rng.integers(0, 2, m),
    }
    seen = quality + rng.normal(0, 0.5, m)

    def draw(x, votes):
        plus, minus = 1 / (1 + np.exp(-2 * (x - 0.5))), 1 / (1 + np.exp(2 * (x + 0.5)))
        return rng.multinomial(votes, np.column_stack([minus, 1 - plus - minus, plus]))

    return OrderCounts(
        comparison=np.arange(m),
        item=np.repeat(np.arange(items), per_item),
        ab=draw(seen + bias, first[ab]),
        ba=draw(seen - bias, n - first[ab]),
        gold=np.where(quality > 0.7, 1, np.where(quality < -0.7, -1, 0)),
    )


def swapped(counts: OrderCounts) -> OrderCounts:
    """The same votes with the names of A and B exchanged: what was asked in `ab` was now asked in
    `ba`.
    """
    return OrderCounts(
        comparison=counts.comparison,
        item=counts.item,
        ab=counts.ba[:, ::-1],
        ba=counts.ab[:, ::-1],
        gold=np.where(counts.gold == NO_GOLD, NO_GOLD, -counts.gold),
    )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), bias=st.floats(-1.5, 1.5), n=st.integers(1, 8))
def test_swapping_a_and_b_negates_decisions_and_leaves_the_rest(seed, bias, n):
    counts = judged(seed, 60, bias=bias, ab="mixed", n=n)
    one, other = (fit_position_aware(c, tested=False) for c in (counts, swapped(counts)))
    assert other.drps == pytest.approx(one.drps, abs=1e-9)
    assert other.z == pytest.approx(one.z, rel=1e-6, abs=1e-6)
    assert one.delta * one.z >= 0 or abs(one.z) < 1
    p, q = one.probabilities(counts), one.probabilities(swapped(counts))
    np.testing.assert_allclose(q[:, ::-1], p, atol=1e-12)
    assert (apply(one, swapped(counts)) == -apply(one, counts)).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), bias=st.floats(-1.5, 1.5), tested=st.booleans())
def test_balanced_orders_give_plain_btd_and_say_so(seed, bias, tested):
    counts = judged(seed, 60, bias=bias, ab="balanced")
    found, plain = (
        fit_position_aware(counts, tested=tested),
        btd.fit(votes_of_both_orders(counts).cells()[0]),
    )
    assert (found.delta, found.z, found.unbalanced) == (0, 0, 0)
    assert (found.beta, found.eta0, found.gamma) == (plain.beta, plain.eta0, plain.gamma)
    assert found.drps == pytest.approx(plain.drps, abs=1e-12)
    assert "as many votes in one order as in the other" in found.notes[0]
    assert (apply(found, counts) == btd.apply(plain, votes_of_both_orders(counts))).all()


def test_no_other_optimiser_does_better():
    """scipy's L-BFGS-B from many starts on the same objective, written from the formulas alone."""
    from scipy.optimize import minimize

    for seed in range(4):
        counts = judged(seed, 50, bias=0.8, ab="mixed", n=5)
        votes, order = votes_of_both_orders(counts), share_ab(counts)
        s, t = btd.features(votes)

        def objective(theta, s=s, t=t, order=order, gold=counts.gold):
            p = order_probabilities(np.array([theta]), s, t, order)[0]
            return btd.drps(p, gold).mean() + PRECISION * theta[3] ** 2 / len(gold)

        found = fit_position_aware(counts, tested=False)
        ours = objective(np.array([found.beta, found.eta0, found.gamma, found.delta]))
        box = [(1e-3, 5.0), (np.log(1e-4), np.log(1e3)), (-10, 10), (-10, 10)]
        starts = np.random.default_rng(seed).uniform(*np.array(box).T, size=(15, 4))
        theirs = min(
            minimize(objective, start, bounds=box, method="L-BFGS-B").fun for start in starts
        )
        assert ours <= theirs + 1e-6


def test_known_parameters_are_recovered():
    """Labels drawn from the model itself: 40,000 comparisons give its four parameters back."""
    counts = judged(1, 40_000, bias=0.7, ab="mixed")
    s, t = btd.features(votes_of_both_orders(counts))
    truth = np.array([1.1, 1.5, 0.8, -1.7])
    p = order_probabilities(truth[None], s, t, share_ab(counts))[0]
    gold = (np.random.default_rng(2).random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(
        axis=1
    ) - 1
    found = fit_position_aware(
        OrderCounts(
            comparison=counts.comparison, item=counts.item, ab=counts.ab, ba=counts.ba, gold=gold
        )
    )
    estimate = [found.beta, found.eta0, found.gamma, found.delta]
    assert (np.abs(estimate - truth) < [0.05, 0.15, 0.1, 0.1]).all()


@pytest.mark.parametrize(("bias", "sign"), [(0.6, -1), (-0.6, 1)])
def test_delta_takes_back_the_lean(bias, sign):
    """Below 0 for a judge that favours the response shown first."""
    found = position_aware(
        judged(3, 500, bias=bias, ab="mixed"), rng=np.random.default_rng(0), n_splits=5
    )
    assert (
        np.sign([found.delta.low, found.delta.value, found.delta.high, found.fit.delta]).tolist()
        == [sign] * 4
    )
    assert sign * found.fit.z > 4


def test_a_biased_judge_with_unbalanced_orders_is_where_it_helps():
    """2,000 comparisons of 8 votes, 100 labels: bias .5 moves A's log odds by ±1 a vote."""
    mixed = position_aware(
        judged(1, 2_000, bias=0.5, ab="mixed"), rng=np.random.default_rng(0), draws=20
    ).scores
    one = position_aware(
        judged(1, 2_000, bias=0.5, ab="one"), rng=np.random.default_rng(0), draws=20
    ).scores
    for scores, least in ((mixed, 0.0), (one, 0.025)):
        assert scores.names == NAMES
        assert scores.mae_change.high[1] < -least
        assert scores.drps_change.high[1] < -0.005
        assert scores.mae_change.low[1] <= scores.mae_change.value[1] <= scores.mae_change.high[1]
        assert scores.mae_change.value[1] == pytest.approx(
            scores.mae.value[0] - scores.mae.value[1]
        )
        assert np.isnan(scores.drps[3])


def test_with_balanced_orders_it_costs_nothing():
    found = position_aware(judged(1, 800, bias=0.5, ab="balanced"), rng=np.random.default_rng(0))
    scores = found.scores
    assert (found.delta.value, found.delta.low, found.delta.high) == (0, 0, 0)
    assert scores.mae_change.value[1] == scores.mae_change.low[1] == scores.mae_change.high[1] == 0
    assert scores.drps_change.value[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("copies", [1, 4])
def test_without_a_bias_the_test_keeps_delta_out(copies):
    """The statistic is standard normal where the order does not matter: 5 % pass ± 3 SE of 600
    sets.

    Also where items have four comparisons that came out alike; taken for independent, .33 would
    pass.
    """
    counts = judged(7, 60_000 // copies, bias=0.0, ab="mixed")
    counts = replace(
        counts,
        comparison=np.arange(60_000),
        **{
            name: getattr(counts, name).repeat(copies, axis=0)
            for name in ("item", "ab", "ba", "gold")
        },
    )
    ab = counts.ab.sum(axis=1)
    votes = votes_of_both_orders(counts)
    columns = np.column_stack([votes.plus, votes.tie, votes.minus, votes.gold, ab])
    pattern, cell = np.unique(columns, axis=0, return_inverse=True)
    plus, tie, minus, gold, ab = pattern.T
    weights = np.zeros((600, len(pattern)))
    np.add.at(weights, (np.arange(60_000) // 100, cell), 1.0)
    cells = VoteCells(plus=plus, tie=tie, minus=minus, gold=gold, weight=weights.sum(axis=0))
    one = np.arange(60_000)
    sets = CalibrationSets(
        cells=cells,
        set=one // 100,
        cell=cell,
        item=one // copies,
        n_items=np.full(600, 100 // copies),
    )
    np.testing.assert_array_equal(sets.weights, weights)
    z = order_score(sets, ab / cells.n - 0.5, btd.fit_many(cells, weights))
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.05, abs=0.027)
    assert z.std() == pytest.approx(1, abs=0.1)


@pytest.mark.thorough
def test_the_interval_of_delta_covers():
    """No bias, δ = 0 by symmetry: at least 22 of 25 intervals at 95 % hold it."""
    hits = 0
    for seed in range(25):
        counts = judged(5_000 + seed, 300, bias=0.0, ab="one", n=4)
        found = position_aware(counts, rng=np.random.default_rng(seed), n_splits=2, draws=40)
        hits += found.delta.low <= 0 <= found.delta.high
    assert hits >= 22


def test_one_share_for_all_is_said():
    counts = judged(5, 400, bias=0.8, ab="mixed")
    only_ab = thin(counts, np.ones(len(counts)), votes=4, rng=np.random.default_rng(0))
    assert (only_ab.ba == 0).all()
    found = fit_position_aware(only_ab, tested=False)
    assert "how much more often A is better" in found.notes[0]
    assert found.unbalanced == len(only_ab)


def test_thinning_takes_what_there_is():
    counts = judged(6, 200, bias=0.3, ab="balanced")
    kept = thin(counts, np.linspace(0, 1, 200), votes=4, rng=np.random.default_rng(0))
    assert (kept.ab <= counts.ab).all()
    assert (kept.ba <= counts.ba).all()
    assert (kept.ab.sum(axis=1) + kept.ba.sum(axis=1) == 4).all()
    assert (kept.ab.sum(axis=1) == np.rint(np.linspace(0, 1, 200) * 4)).all()


def test_several_comparisons_an_item_are_split_and_redrawn_together():
    counts = judged(8, 120, bias=0.8, ab="mixed", per_item=5)
    found = position_aware(counts, rng=np.random.default_rng(0), n_splits=20, draws=40)
    assert (found.scores.n, found.scores.items) == (600, 120)
    assert found.scores.mae_change.value[1] < 0


def test_what_cannot_be_done_is_said():
    counts = judged(9, 40, bias=0.5, ab="mixed")
    rng = np.random.default_rng(0)
    none = OrderCounts(
        comparison=counts.comparison,
        item=counts.item,
        ab=counts.ab,
        ba=counts.ba,
        gold=np.full(len(counts), NO_GOLD),
    )
    with pytest.raises(NoUsableVotes, match="gold"):
        position_aware(none, rng=rng)
    with pytest.raises(InvalidOption, match="draws"):
        position_aware(counts, rng=rng, draws=1)
    few = thin(judged(9, 15, bias=0.5, ab="mixed"), np.full(15, 0.5), votes=2, rng=rng)
    with pytest.raises(TooFewLabels, match="20"):
        position_aware(few, rng=rng)


def real(shared_data, name: str, judge: str) -> OrderCounts:
    """Votes of one judge per order, counted by pandas alone."""
    votes = pd.read_csv(shared_data / "votes" / f"{name}.csv.gz")
    votes = votes[
        (votes["judge"] == judge) & votes["vote"].notna() & votes["position"].notna()
    ].copy()
    votes["comparison"] = votes.groupby(["item_id", "model_a", "model_b"], sort=False).ngroup()
    first = votes.drop_duplicates("comparison")

    def table(order):
        of_order = votes[votes["position"] == order]
        counted = np.zeros((len(first), 3), dtype=np.int64)
        np.add.at(counted, (of_order["comparison"], of_order["vote"].astype(int) + 1), 1)
        return counted

    return OrderCounts(
        comparison=np.arange(len(first)),
        item=pd.factorize(first["item_id"])[0].astype(np.int64),
        ab=table("ab"),
        ba=table("ba"),
        gold=first["gold"].to_numpy(np.int64),
    )


def check_one_random_order_a_comparison(shared_data):
    """FairEval, ChatGPT: it favours the first slot (δ < 0, DRPS falls), yet at 26 labels
    MAE rises.
    """
    both = real(shared_data, "faireval", "ChatGPT [Vanilla_NoRules]")
    assert fit_position_aware(both).delta == 0
    rng = np.random.default_rng(0)
    one = thin(both, rng.integers(0, 2, len(both)).astype(float), votes=1, rng=rng)
    found = position_aware(one, rng=np.random.default_rng(0), share=0.4)
    assert (found.scores.n, found.scores.calibration) == (66, 26)
    assert found.delta.high < -0.5
    always = NAMES.index("Position-aware BTD, untested")
    assert found.scores.drps[always] < found.scores.drps[1]
    assert found.scores.mae.value[always] > found.scores.mae.value[1]


def test_the_fit_of_many_sets_is_that_of_each():
    counts = judged(11, 300, bias=0.6, ab="mixed")
    votes = votes_of_both_orders(counts)
    columns = np.column_stack(
        [votes.plus, votes.tie, votes.minus, votes.gold, counts.ab.sum(axis=1)]
    )
    pattern, cell = np.unique(columns, axis=0, return_inverse=True)
    plus, tie, minus, gold, ab = pattern.T
    halves = np.zeros((2, len(pattern)))
    np.add.at(halves, (np.arange(300) % 2, cell), 1.0)
    cells = VoteCells(plus=plus, tie=tie, minus=minus, gold=gold, weight=halves.sum(axis=0))
    base = btd.fit_many(cells, halves)
    theta = fit_orders(cells, ab / cells.n - 0.5, halves, base)
    for half in range(2):
        rows = np.arange(300) % 2 == half
        part = OrderCounts(
            comparison=np.flatnonzero(rows),
            item=np.flatnonzero(rows),
            ab=counts.ab[rows],
            ba=counts.ba[rows],
            gold=counts.gold[rows],
        )
        alone = fit_position_aware(part, tested=False)
        np.testing.assert_allclose(
            theta[half], [alone.beta, alone.eta0, alone.gamma, alone.delta], atol=1e-5
        )
