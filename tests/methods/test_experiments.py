"""Sweeps, transfer and comparisons: laws, plain loops on real votes, and recovery of simulated
truth.
"""

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import REPOSITORY

from core.errors import InvalidOption, NoUsableVotes, TooFewLabels, UnknownName
from core.importers import read
from core.questions.labels import btd
from core.questions.labels.evaluation import evaluate
from core.questions.planning.comparison import compare, parameter_grid
from core.questions.planning.parameter_transfer import (
    KINDS,
    task_distances,
    transfer,
    transfer_prediction,
)
from core.questions.planning.protocol import largest_draw, nested_splits
from core.questions.planning.sweeps import doubling, label_sweep, subsample, vote_sweep
from core.questions.planning.words import comparison_answer, parameters_answer, votes_answer
from core.records import NO_GOLD, OrderCounts, VoteCounts
from core.schema import Selection
from core.stats.estimate import Estimate
from core.stats.splits import splits
from core.store import Store
from core.store.vote_queries import vote_counts, vote_counts_by

NAMES = ("comparison", "item", "plus", "tie", "minus", "gold")


def simulated(
    seed: int,
    items: int,
    *,
    theta: tuple[float, float, float] = (1.2, 2.0, 1.0),
    per_item: int = 1,
    n: int = 8,
    ties: float = 2.0,
) -> VoteCounts:
    """Votes of which gold follows exactly the BTD model with `theta` (β, η₀, γ)."""
    rng = np.random.default_rng(seed)
    size = items * per_item
    tie = rng.beta(1, ties, size)
    plus = (1 - tie) / (1 + np.exp(-2 * rng.normal(0, 1.5, size)))
    votes = rng.multinomial(n, np.column_stack([plus, tie, 1 - plus - tie]))
    columns = dict(zip(("plus", "tie", "minus"), votes.T, strict=True))
    columns |= {"comparison": np.arange(size), "item": np.repeat(np.arange(items), per_item)}
    blank = VoteCounts(**columns, gold=np.zeros(size, dtype=np.int64))
    p = btd.probabilities(np.array(theta), *btd.features(blank))
    gold = (rng.random(size)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1) - 1
    return VoteCounts(**columns, gold=gold)


def in_both_orders(seed: int, items: int, each: int = 4) -> OrderCounts:
    one, other = simulated(seed, items, n=each), simulated(seed + 1, items, n=each)
    ab, ba = (np.column_stack([part.minus, part.tie, part.plus]) for part in (one, other))
    return OrderCounts(comparison=one.comparison, item=one.item, ab=ab, ba=ba, gold=one.gold)


def swapped(counts: VoteCounts) -> VoteCounts:
    gold = np.where(counts.gold == NO_GOLD, NO_GOLD, -counts.gold)
    return dataclasses.replace(counts, plus=counts.minus, minus=counts.plus, gold=gold)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8))
def test_fewer_votes_are_some_of_the_votes(seed, n):
    counts, orders = simulated(seed, 60), in_both_orders(seed, 60)
    rng = np.random.default_rng(seed)
    for source in (counts, orders):
        drawn = subsample(source, n, rng=rng)
        got = np.column_stack([drawn.minus, drawn.tie, drawn.plus])
        had = (
            np.column_stack([source.minus, source.tie, source.plus])
            if isinstance(source, VoteCounts)
            else source.ab + source.ba
        )
        assert (got.sum(axis=1) == n).all()
        assert (got <= had).all()
    everything = subsample(counts, 8, rng=rng)
    assert all((getattr(everything, name) == getattr(counts, name)).all() for name in NAMES)


def test_half_of_the_votes_come_from_each_order():
    size = 4_000
    always = np.tile([[0, 0, 4]], (size, 1))
    orders = OrderCounts(
        comparison=np.arange(size),
        item=np.arange(size),
        ab=always,
        ba=always[:, ::-1],
        gold=np.zeros(size, dtype=np.int64),
    )
    rng = np.random.default_rng(0)
    even = subsample(orders, 4, rng=rng)
    assert (even.plus == 2).all()
    assert (even.minus == 2).all()
    odd = subsample(orders, 3, rng=rng)
    assert set(odd.plus.tolist()) == {1, 2}
    assert odd.plus.mean() == pytest.approx(1.5, abs=5 * 0.5 / np.sqrt(size))


def test_fewer_votes_keep_their_shares():
    """Mean and variance of a hypergeometric count: 3 of 8 votes where 4 are A."""
    size = 20_000
    same = np.ones(size, dtype=np.int64)
    counts = VoteCounts(
        comparison=np.arange(size),
        item=np.arange(size),
        plus=4 * same,
        tie=3 * same,
        minus=same,
        gold=0 * same,
    )
    drawn = subsample(counts, 3, rng=np.random.default_rng(1))
    assert drawn.plus.mean() == pytest.approx(3 * 4 / 8, abs=0.02)
    assert drawn.plus.var() == pytest.approx(3 * (4 / 8) * (4 / 8) * (5 / 7), abs=0.02)


def test_too_many_votes_are_refused():
    with pytest.raises(InvalidOption, match="50 comparisons have fewer"):
        subsample(simulated(0, 50), 9, rng=np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="draw 1 or more"):
        subsample(simulated(0, 50), 0, rng=np.random.default_rng(0))


def test_numbers_of_votes_double_up_to_what_nine_tenths_have():
    assert doubling(np.array([8] * 95 + [3] * 5)) == (1, 2, 4, 8)
    assert doubling(np.array([6] * 95 + [20] * 5)) == (1, 2, 4, 6)
    assert doubling(np.array([0] * 50 + [2] * 50)) == (1, 2)


@pytest.mark.parametrize("per_item", [1, 3])
def test_all_votes_give_the_numbers_of_evaluate(per_item):
    counts = simulated(3, 300, per_item=per_item)
    rules = ("btd", "btd_shrunk", "majority", "threshold", "constant")
    found = vote_sweep(
        counts, rng=np.random.default_rng(5), sizes=(2, 8), methods=rules, subsamples=1, n_splits=25
    )
    generator = np.random.default_rng(5).spawn(2)[1].spawn(1)[0]
    whole = evaluate(counts, rng=generator, methods=rules, n_splits=25, resamples=0)
    for place, key in enumerate(rules):
        score = whole.scores[key]
        assert found.mae.value[-1, place] == pytest.approx(score.mae, abs=1e-12)
        assert found.pa.value[-1, place] == pytest.approx(score.pa, abs=1e-12)
        assert found.mae.low[-1, place] == pytest.approx(score.mae_low, abs=1e-9)
        assert found.mae.high[-1, place] == pytest.approx(score.mae_high, abs=1e-9)
    assert found.mae_all_labels[-1] == pytest.approx(whole.mae_all_labels, abs=1e-12)
    assert (found.more.value[-1] == 0).all()
    assert (found.more.low[-1] == 0).all()


@pytest.mark.thorough
def test_order_of_rows_does_not_matter():
    counts = simulated(4, 250, per_item=2)
    mixed = counts.rows(np.random.default_rng(0).permutation(len(counts)))
    for sweep in (vote_sweep, label_sweep):
        one, other = (sweep(c, rng=np.random.default_rng(1), n_splits=10) for c in (counts, mixed))
        for name, end in (("mae", "value"), ("mae_item", "low"), ("more", "high"), ("pa", "value")):
            found = [getattr(getattr(each, name), end) for each in (one, other)]
            assert (found[0] == found[1]).all(), name
    tasks, mixed_tasks = {"a": counts, "b": simulated(5, 200)}, {"a": mixed, "b": simulated(5, 200)}
    one, other = (
        transfer(t, rng=np.random.default_rng(1), n_splits=10) for t in (tasks, mixed_tasks)
    )
    assert one.change.value == pytest.approx(other.change.value, abs=1e-12)


def test_intervals_hold_their_estimates():
    orders = in_both_orders(6, 400)
    found = vote_sweep(orders, rng=np.random.default_rng(0), subsamples=4, n_splits=5)
    assert found.balanced
    assert found.sizes.tolist() == [1, 2, 4, 8]
    labels = label_sweep(simulated(6, 400), rng=np.random.default_rng(0), n_splits=20)
    for sweep in (found, labels):
        for name in ("mae", "pa"):
            for kind in ("", "_item"):
                estimates = getattr(sweep, f"{name}{kind}")
                assert (estimates.value == getattr(sweep, name).value).all()
                assert (estimates.low <= estimates.value).all()
                assert (estimates.value <= estimates.high).all()
        assert len(sweep.to_frame()) == len(sweep.sizes) * len(sweep.methods)


def test_more_votes_err_less_and_majority_follows_the_plain_loop():
    counts = simulated(7, 3_000, theta=(1.6, 0.5, 1.0))
    found = vote_sweep(
        counts, rng=np.random.default_rng(0), methods=("btd", "majority"), n_splits=10
    )
    assert (np.diff(found.mae.value[:, 0]) < 0).all()
    assert found.more.low[0, 0] > 0
    # Expected error of one vote, exact: the label is a vote drawn at random.
    shares = np.column_stack([counts.minus, counts.tie, counts.plus]) / 8
    exact = (shares * np.abs(np.arange(-1, 2) - counts.gold[:, None])).sum(axis=1).mean()
    assert found.mae.value[0, 1] == pytest.approx(exact, abs=0.01)
    assert found.mae_item.low[0, 1] < exact < found.mae_item.high[0, 1]


def test_comparisons_with_too_few_votes_are_left_out_at_every_size():
    counts = simulated(8, 300)
    few = counts.plus + counts.tie + counts.minus
    cut = subsample(counts.rows(np.arange(20)), 3, rng=np.random.default_rng(0))
    mixed = VoteCounts(
        **{name: np.concatenate([getattr(cut, name), getattr(counts, name)[20:]]) for name in NAMES}
    )
    found = vote_sweep(mixed, rng=np.random.default_rng(0), n_splits=5, subsamples=2)
    assert (found.n, found.left_out, found.sizes[-1]) == (280, 20, few[0])
    with pytest.raises(InvalidOption, match="from 1 to 8"):
        vote_sweep(mixed, rng=np.random.default_rng(0), sizes=(4, 9))
    unlabelled = dataclasses.replace(counts, gold=np.full(len(counts), NO_GOLD))
    with pytest.raises(NoUsableVotes, match="gold"):
        vote_sweep(unlabelled, rng=np.random.default_rng(0))


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), items=st.integers(40, 120), per_item=st.integers(1, 4))
def test_calibration_sets_are_nested_and_the_evaluation_set_is_fixed(seed, items, per_item):
    counts = simulated(seed, items, per_item=per_item)
    most = min(100, largest_draw(counts))
    sizes = sorted({20, (20 + most) // 2, most} & set(range(20, 101)))
    if not sizes:
        return
    drawn, nested = nested_splits(counts, sizes, rng=np.random.default_rng(seed), n_splits=6)
    assert (np.diff(nested, axis=0) >= 0).all()
    held = nested.sum(axis=2)
    for size, numbers in zip(sizes, held, strict=True):
        assert ((numbers >= size) & (numbers < size + per_item)).all()
    assert (drawn.calibration == nested[-1]).all()
    assert (drawn.evaluation.sum(axis=1) >= 20).all()
    for split in range(6):
        rows = drawn.entry_row[drawn.entry_split == split]
        times = np.bincount(counts.item[rows], minlength=items)
        assert set(times.tolist()) <= {0, per_item}


def test_label_sweep_is_that_of_plain_loops():
    counts = simulated(9, 150, per_item=2)
    found = label_sweep(
        counts,
        rng=np.random.default_rng(3),
        sizes=(20, 60),
        methods=("majority", "btd"),
        n_splits=8,
    )
    drawn, _ = nested_splits(counts, (20, 60), rng=np.random.default_rng(3), n_splits=8)
    mae = np.empty((8, 2, 2))
    for split in range(8):
        rows = drawn.entry_row[drawn.entry_split == split]
        rest = counts.rows(np.setdiff1d(np.arange(300), rows))
        for place, size in enumerate((20, 60)):
            fit = btd.fit(counts.rows(rows[:size]).cells()[0])
            mae[split, place] = [
                np.abs(label - rest.gold).mean() for label in (rest.label, btd.apply(fit, rest))
            ]
    assert found.mae.value == pytest.approx(mae.mean(axis=0))
    half = 1.959964 * mae.std(axis=0, ddof=1) / np.sqrt(8)
    assert found.mae.high - found.mae.value == pytest.approx(half, abs=1e-6)
    # Majority learns nothing, so its error is the same at every size.
    assert (found.more.value[:, 0] == 0).all()
    assert found.more.low[0, 0] == found.more.high[0, 0] == 0


def test_sizes_beyond_the_labels_are_left_out_with_the_reason():
    counts = simulated(10, 100)
    found = label_sweep(counts, rng=np.random.default_rng(0), n_splits=10)
    assert found.sizes.tolist() == [20, 40, 60, 80]
    assert set(found.not_possible) == {100, 120, 140, 160, 180, 200}
    assert "100 labelled comparisons leave fewer than 20" in found.not_possible[200]
    with pytest.raises(TooFewLabels, match="30 labelled comparisons"):
        label_sweep(simulated(10, 30), rng=np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="from 20 up"):
        label_sweep(counts, rng=np.random.default_rng(0), sizes=(10,))


def test_more_labels_reach_the_error_of_all_labels():
    counts = simulated(11, 4_000)
    found = label_sweep(counts, rng=np.random.default_rng(0), methods=("btd",))
    regret = found.mae.value[:, 0] - found.mae_all_labels
    assert regret[0] > 3 * regret[-1]
    assert 0 <= regret[-1] < 0.01
    assert found.more.low[0, 0] > 0


def test_rules_that_need_more_than_counts_are_refused():
    counts, rng = simulated(12, 100), np.random.default_rng(0)
    with pytest.raises(InvalidOption, match="ci_sc"):
        vote_sweep(counts, rng=rng, methods=("ci_sc",))
    with pytest.raises(UnknownName, match="median"):
        label_sweep(counts, rng=rng, methods=("median",))


def test_transfer_is_that_of_plain_loops():
    tasks = {"one": simulated(13, 60, per_item=2), "two": simulated(14, 90, theta=(0.8, 4.0, 0.5))}
    found = transfer(tasks, rng=np.random.default_rng(2), n_splits=6)
    children = np.random.default_rng(2).spawn(2)
    drawn = [
        splits(counts, rng=child, n_splits=6)
        for counts, child in zip(tasks.values(), children, strict=True)
    ]
    for column in range(2):
        error = np.empty((2, 6))
        for row in range(2):
            for split in range(6):
                cells = dataclasses.replace(drawn[row].cells, weight=drawn[row].calibration[split])
                label = btd.apply(btd.fit(cells), drawn[column].cells)
                weight = drawn[column].evaluation[split]
                error[row, split] = weight @ np.abs(label - drawn[column].cells.gold) / weight.sum()
        assert found.mae[:, column] == pytest.approx(error.mean(axis=1))
        assert found.change.value[:, column] == pytest.approx((error - error[column]).mean(axis=1))
    assert found.n.tolist() == [120, 90]


def test_a_task_transfers_to_itself_for_nothing():
    tasks = {
        "a": simulated(15, 200),
        "b": simulated(16, 300, per_item=2),
        "tiny": simulated(17, 15),
    }
    found = transfer(tasks, rng=np.random.default_rng(0), n_splits=20)
    assert found.tasks == ("a", "b")
    for matrix in (found.change.value, found.change.low, found.change.high, found.loss_change):
        assert (np.diag(matrix) == 0).all()
    assert (found.change.low <= found.change.value).all()
    assert (found.change.value <= found.change.high).all()
    # The own fit on all labels has the least loss that there is.
    assert (found.loss_change >= -1e-12).all()
    assert "there are 15 labelled comparisons" in found.not_possible["tiny"]
    with pytest.raises(NoUsableVotes, match="1 of 2"):
        transfer({"a": tasks["a"], "tiny": tasks["tiny"]}, rng=np.random.default_rng(0))


def test_unlike_tasks_cost_more_than_like_ones():
    tasks = {
        "few ties": simulated(18, 2_000, theta=(1.5, -1.0, 0.2)),
        "few ties too": simulated(19, 2_000, theta=(1.5, -1.0, 0.2)),
        "ties": simulated(20, 2_000, theta=(1.5, 4.0, 0.2)),
    }
    found = transfer(tasks, rng=np.random.default_rng(0), n_splits=30)
    assert abs(found.change[0, 1].value) < 0.01
    assert found.change.low[0, 2] > 0.1
    assert found.change.low[2, 0] > 0.1


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_distances_are_distances(seed):
    tasks = {
        "a": simulated(seed, 60),
        "b": simulated(seed + 1, 80, n=5),
        "c": simulated(seed + 2, 70, theta=(1, 5, 1)),
    }
    found = task_distances(tasks)
    turned = task_distances({name: swapped(counts) for name, counts in tasks.items()})
    twice = {
        name: VoteCounts(**{field: np.tile(getattr(counts, field), 2) for field in NAMES})
        for name, counts in tasks.items()
    }
    doubled = task_distances(twice)
    for kind in KINDS:
        matrix = getattr(found, kind)
        assert (np.diag(matrix) == 0).all()
        assert (matrix == matrix.T).all()
        assert matrix == pytest.approx(getattr(turned, kind), rel=1e-6, abs=1e-6)
        assert matrix == pytest.approx(getattr(doubled, kind), rel=1e-6, abs=1e-6)
        assert matrix[0, 2] <= matrix[0, 1] + matrix[1, 2] + 1e-9
    half = task_distances({"a": tasks["a"], "turned": swapped(tasks["a"])})
    assert half.joint[0, 1] == 0


def test_energy_distance_of_labels_by_hand():
    """With A and B exchanged a label is a tie, or A or B alike; three corners lie √2 apart."""
    one, other = simulated(21, 200), simulated(22, 300)
    p, q = ((counts.gold == 0).mean() for counts in (one, other))

    def apart(x: float, y: float) -> float:
        return np.sqrt(2) * (1 - x * y - (1 - x) * (1 - y) / 2)

    found = task_distances({"a": one, "b": other}).labels[0, 1]
    assert found == pytest.approx(np.sqrt(2 * apart(p, q) - apart(p, p) - apart(q, q)))


def test_energy_distance_of_votes_is_that_of_scipy():
    """One vote per comparison and no ties: the clouds lie on a line, √2 long."""
    from scipy.stats import energy_distance

    rng = np.random.default_rng(0)

    def without_ties(size: int, chance: float) -> VoteCounts:
        plus = rng.binomial(6, rng.beta(chance, 1, size))
        one = np.ones(size, dtype=np.int64)
        return VoteCounts(
            comparison=np.arange(size),
            item=np.arange(size),
            plus=plus,
            tie=0 * one,
            minus=6 - plus,
            gold=one,
        )

    clouds = without_ties(300, 1.0), without_ties(200, 3.0)
    shares = [np.concatenate([c.plus, c.minus]) / 6 * np.sqrt(2) for c in clouds]
    found = task_distances(dict(zip("ab", clouds, strict=True))).votes[0, 1]
    assert found == pytest.approx(energy_distance(*shares))


def tasks_of(seed: int, thetas: list[tuple[float, float, float]]) -> dict[str, VoteCounts]:
    return {f"task {k}": simulated(seed + k, 600, theta=theta) for k, theta in enumerate(thetas)}


def test_distance_predicts_transfer_where_tasks_differ_in_nu():
    tasks = tasks_of(100, [(1.5, eta, 0.3) for eta in (-3.0, -1.5, 0.0, 1.5, 3.0, 4.5)])
    found = transfer(tasks, rng=np.random.default_rng(0), n_splits=20)
    told = transfer_prediction(found, task_distances(tasks), rng=np.random.default_rng(0))
    joint = told.kinds.index("joint")
    for target in range(len(told.targets)):
        assert told.rho[target, joint] > 0.6
        assert told.p_value[target, joint] < 0.02
        assert told.error[target, joint] < 0.8 * told.constant_error[target, joint]
    # The votes of these tasks fall alike, so the distance without labels cannot know.
    assert told.p_value[0, told.kinds.index("votes")] > 0.02
    assert (told.permutations, told.exact, told.n_pairs) == (720, True, 30)


@pytest.mark.thorough
def test_distance_predicts_nothing_where_tasks_do_not_differ():
    p_values, errors = [], []
    for seed in range(24):
        tasks = tasks_of(1_000 + 50 * seed, [(1.2, 2.0, 1.0)] * 5)
        found = transfer(tasks, rng=np.random.default_rng(seed), n_splits=6)
        told = transfer_prediction(found, task_distances(tasks), rng=np.random.default_rng(0))
        joint = told.kinds.index("joint")
        p_values.append(told.p_value[0, joint])
        errors.append((told.error[0, joint], told.constant_error[0, joint]))
    assert np.mean(np.array(p_values) <= 0.1) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 24)
    assert np.mean(p_values) == pytest.approx(0.5, abs=4 * np.sqrt(1 / 12 / 24))
    line, constant = np.mean(errors, axis=0)
    assert line > 0.9 * constant


def test_prediction_needs_tasks_and_their_distances():
    tasks = tasks_of(300, [(1.2, 2.0, 1.0)] * 4)
    found = transfer(tasks, rng=np.random.default_rng(0), n_splits=4)
    three = dict(list(tasks.items())[:3])
    with pytest.raises(UnknownName, match="task 3"):
        transfer_prediction(found, task_distances(three), rng=np.random.default_rng(0))
    small = transfer(three, rng=np.random.default_rng(0), n_splits=4)
    with pytest.raises(InvalidOption, match="4 tasks or more; there are 3"):
        transfer_prediction(small, task_distances(three), rng=np.random.default_rng(0))
    alike = dict.fromkeys(("a", "b", "c", "d"), tasks["task 0"])
    same = transfer(alike, rng=np.random.default_rng(0), n_splits=4)
    told = transfer_prediction(same, task_distances(alike), rng=np.random.default_rng(0))
    assert np.isnan(told.rho).all()
    assert np.isnan(told.p_value).all()
    unlabelled = dataclasses.replace(tasks["task 0"], gold=np.full(600, NO_GOLD))
    with pytest.raises(NoUsableVotes, match="task 0"):
        task_distances({"task 0": unlabelled})


def noisier(counts: VoteCounts, seed: int, share: float) -> VoteCounts:
    """The same comparisons by a judge that answers at random in a share of its votes."""
    rng = np.random.default_rng(seed)
    votes = np.column_stack([counts.minus, counts.tie, counts.plus])
    kept = rng.binomial(votes, 1 - share)
    random = rng.multinomial((votes - kept).sum(axis=1), [1 / 3] * 3)
    minus, tie, plus = (kept + random).T
    return dataclasses.replace(counts, plus=plus, tie=tie, minus=minus)


def test_comparison_has_the_numbers_of_evaluate_and_of_plain_loops():
    good = simulated(30, 200, per_item=2)
    bad = noisier(good, 31, 0.5).rows(np.arange(20, 400))
    found = compare({"good": good, "bad": bad}, rng=np.random.default_rng(4), resamples=500)
    for name, counts in (("good", good), ("bad", bad)):
        alone = evaluate(
            counts, rng=np.random.default_rng(4), methods=("btd", "majority"), resamples=500
        )
        for key in ("btd", "majority"):
            shown = found.values[name].evaluation.scores[key]
            assert shown.mae == alone.scores[key].mae
            assert shown.mae_item_low == alone.scores[key].mae_item_low
    tie = found.values["bad"].tie_votes
    assert tie.value == bad.tie.sum() / bad.n_votes
    assert found.values["bad"].tie_gold.value == (bad.gold == 0).mean()

    btd_, majority = found.differences
    common = good.rows(np.arange(20, 400))
    drawn, _ = nested_splits(common, [20], rng=np.random.default_rng(4), n_splits=100)
    apart = []
    for split in range(100):
        rows = np.setdiff1d(np.arange(380), drawn.entry_row[drawn.entry_split == split])
        error = [np.abs(one.label - one.gold)[rows].mean() for one in (bad, common)]
        apart.append(error[0] - error[1])
    assert majority.delta.value == pytest.approx(np.mean(apart))
    assert (majority.n, majority.n_items, majority.baseline) == (380, 190, "good")
    assert btd_.delta.value == pytest.approx(btd_.mae - btd_.mae_baseline)
    assert btd_.pa_delta.high < 0
    assert len(found.to_frame()) == 4


def test_a_value_equals_itself_and_differences_change_sign():
    good = simulated(32, 300)
    other = noisier(good, 33, 0.3)
    values = {"a": good, "b": other, "c": good}
    from_a = compare(values, rng=np.random.default_rng(0), baseline="a", n_splits=20)
    from_b = compare(values, rng=np.random.default_rng(0), baseline="b", n_splits=20)
    by_pair = {(one.candidate, one.rule): one for one in from_a.differences}
    for rule in ("btd", "majority"):
        same = by_pair["c", rule]
        assert same.delta.value == 0
        # That they have not differed yet on 300 items does not show that they never do.
        assert same.delta.high == pytest.approx(1.97 * np.sqrt(2 * 302 / 301) / 302, rel=0.01)
        back = next(one for one in from_b.differences if (one.candidate, one.rule) == ("a", rule))
        assert by_pair["b", rule].delta.value == pytest.approx(-back.delta.value)
    with pytest.raises(UnknownName, match="'z'"):
        compare(values, rng=np.random.default_rng(0), baseline="z")


@pytest.mark.thorough
def test_paired_interval_covers_the_true_difference():
    """Majority learns nothing, so its mean over splits is the mean over items: the truth is that of
    many.
    """
    whole = simulated(40, 60_000)
    noisy = noisier(whole, 41, 0.4)
    truth = np.abs(noisy.label - noisy.gold).mean() - np.abs(whole.label - whole.gold).mean()
    rng, held = np.random.default_rng(42), 0
    for _ in range(60):
        rows = rng.choice(60_000, 150, replace=False)
        found = compare(
            {"whole": whole.rows(rows), "noisy": noisy.rows(rows)},
            rng=copy.deepcopy(rng),
            n_splits=5,
            resamples=300,
        )
        one = found.differences[1]
        held += one.delta.low <= truth <= one.delta.high
    assert held / 60 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 60)


def test_values_without_common_or_enough_labels_say_so():
    good = simulated(34, 100)
    apart = dataclasses.replace(good, comparison=good.comparison + 1_000, item=good.item + 1_000)
    few = good.rows(np.arange(15))
    found = compare(
        {"good": good, "apart": apart, "few": few}, rng=np.random.default_rng(0), n_splits=5
    )
    assert found.values["few"].evaluation is None
    assert "15 labelled" in found.values["few"].reason
    reasons = {one.candidate: one.reason for one in found.differences}
    assert "there are 0 labelled comparisons" in reasons["apart"]
    assert all(one.delta is None for one in found.differences)
    assert found.to_frame()["mae"].isna().sum() == 2


def test_parameter_grid_has_the_parameters_of_evaluate():
    groups = {("math", "j"): simulated(35, 300), ("safety", "j"): simulated(36, 22)}
    groups["tiny", "j"] = simulated(37, 10)
    found = parameter_grid(groups, rng=np.random.default_rng(1), n_splits=30)
    alone = evaluate(groups["math", "j"], rng=np.random.default_rng(1), n_splits=30, resamples=0)
    assert (found.tables["math", "j"].mean == alone.parameters.mean).all()
    assert found.tables["math", "j"].regime == alone.parameters.regime
    assert list(found.not_possible) == [("tiny", "j")]
    assert found.to_frame()["task"].tolist() == ["math", "safety"]


def test_votes_by_value_are_those_of_each_value_alone():
    path = REPOSITORY / "data" / "demo_votes.csv.gz"
    with store_of(path) as store:
        check_votes_by_value(store, path)


def store_of(path: Path) -> Store:
    store = Store.open()
    for reading in read([(path.name, path)]):
        store.load(reading)
    return store


def check_votes_by_value(temperatures: Store, path: Path) -> None:
    import pandas as pd

    by_category = vote_counts_by(temperatures, Selection(), "category")
    frame = pd.read_csv(path)
    frame = frame[frame["vote"].notna()]
    assert list(by_category) == sorted(frame["category"].unique())
    whole = vote_counts(temperatures, Selection())
    for category, judges in by_category.items():
        alone = vote_counts(temperatures, Selection(where=(("category", category),)))
        for judge, counts in judges.items():
            for name in ("plus", "tie", "minus", "gold"):
                assert (getattr(counts, name) == getattr(alone[judge], name)).all()
            own = frame[(frame["category"] == category) & (frame["judge"] == judge)]
            assert counts.n_votes == len(own)
            row = np.searchsorted(whole[judge].comparison, counts.comparison)
            for name in NAMES:
                assert (getattr(whole[judge], name)[row] == getattr(counts, name)).all()
    by_judge = vote_counts_by(temperatures, Selection(), "judge")
    assert {value: list(judges) for value, judges in by_judge.items()} == {
        name: [name] for name in whole
    }
    with pytest.raises(UnknownName, match="colour"):
        vote_counts_by(temperatures, Selection(), "colour")


def check_temperature_table(temperatures):
    """MAE falls with temperature, tie rates stay; majority's difference by a plain loop
    over items.
    """
    counts = vote_counts(temperatures, Selection())
    found = compare(counts, rng=np.random.default_rng(0))
    cold, warm, hot = found.values.values()
    for one in (cold, warm, hot):
        assert one.tie_gold.value == 0.5
        assert 0.21 < one.tie_votes.low < one.tie_votes.high < 0.24
    mae = [one.evaluation.scores["btd"].mae for one in (cold, warm, hot)]
    assert mae == sorted(mae, reverse=True)
    difference = {(one.candidate[-4:-1], one.rule): one for one in found.differences}
    for value in ("0.3", "0.7"):
        assert difference[value, "btd"].delta.high < 0
    names = list(counts)
    one, other = counts[names[0]], counts[names[2]]
    gaps = {int(c): 0.0 for c in np.intersect1d(one.comparison, other.comparison)}
    for sign, part in ((-1, one), (1, other)):
        for c, label, gold in zip(part.comparison, part.label, part.gold, strict=True):
            if int(c) in gaps:
                gaps[int(c)] += sign * abs(int(label) - int(gold))
    hottest = difference["0.7", "majority"]
    assert hottest.n == len(gaps)
    # The mean over splits leaves out the calibration items of each, so it is not exactly that over
    # all.
    assert hottest.delta.value == pytest.approx(np.mean(list(gaps.values())), abs=0.001)


def check_transfer_between_categories(by_category):
    judge = "gpt-5.4 [base, T=0.7]"
    tasks = {category: judges[judge] for category, judges in by_category.items()}
    found = transfer(tasks, rng=np.random.default_rng(0))
    alone = evaluate(
        tasks["Safety"],
        rng=np.random.default_rng(0).spawn(5)[list(tasks).index("Safety")],
        methods=("btd", "majority"),
        resamples=0,
    )
    place = found.tasks.index("Safety")
    assert found.mae[place, place] == pytest.approx(alone.scores["btd"].mae)
    assert found.fits["Safety"].beta == btd.fit(tasks["Safety"].cells()[0]).beta
    told = transfer_prediction(found, task_distances(tasks), rng=np.random.default_rng(0))
    assert told.permutations == 120
    assert told.p_value[1, told.kinds.index("joint")] <= 0.05


def test_sentences_at_the_edges():
    """One vote per comparison, one group, no difference: no crash, no minus before 0.000, no `0.3
    to 0`.
    """
    rng = np.random.default_rng(0)
    gold = rng.choice([-1, 0, 1], 60)
    one, none = np.arange(60), np.zeros(60, dtype=np.int64)
    vote = np.where(rng.random(60) < 0.8, gold, rng.choice([-1, 0, 1], 60))
    by_label = {
        name: (vote == y).astype(np.int64) for name, y in (("plus", 1), ("tie", 0), ("minus", -1))
    }
    single = VoteCounts(comparison=one, item=one, gold=gold, **by_label)
    found = vote_sweep(single, rng=rng, subsamples=2, n_splits=3)
    assert votes_answer("j", found).startswith(
        "j: only 1 vote per comparison was tried, so nothing is known"
    )
    constant = VoteCounts(comparison=one, item=one, gold=np.ones(60, dtype=np.int64), plus=none + 8, tie=none,
                          minus=none)  # fmt: skip
    flat = vote_sweep(constant, rng=rng, subsamples=2, n_splits=3)
    more = flat.more.value
    ends = {"low": np.full_like(more, -0.01), "high": np.full_like(more, 0.001)}
    shifted = dataclasses.replace(flat, more=dataclasses.replace(flat.more, **ends))
    assert "0.000 more (−0.010 to 0.001) with 1" in votes_answer("j", shifted)
    grid = parameter_grid({("t", "j"): single}, rng=rng, n_splits=3)
    table = grid.tables["t", "j"]
    low = dataclasses.replace(table, mean=np.array([1.0, 0.3, 1.0]), regime="low correction")
    assert parameters_answer(dataclasses.replace(grid, tables={("t", "j"): low})) == (
        "BTD's correction towards ties is low in 1 of 1 group (mean ν 0.3)."
    )


def test_ends_are_within_what_an_error_can_be():
    found = vote_sweep(simulated(5, 60), rng=np.random.default_rng(1), subsamples=2, n_splits=3)
    for name, most in (("mae", 2), ("pa", 1)):
        for estimates in (getattr(found, name), getattr(found, f"{name}_item")):
            for values in (estimates.low, estimates.high):
                assert ((values >= 0) & (values <= most)).all()


def test_the_best_of_many_values_is_not_said_to_differ_by_its_own_interval_alone():
    """Nineteen values that differ from the reference by chance: the best of them by 2.2 standard
    errors.
    """
    found = compare(
        {"a": simulated(3, 60), "b": simulated(4, 60)},
        rng=np.random.default_rng(2),
        n_splits=2,
        resamples=100,
    )
    btd_row = next(one for one in found.differences if one.rule == "btd")
    near = dataclasses.replace(btd_row, delta=Estimate(-0.1, -0.19, -0.01))
    values = dict(found.values)
    best = values["b"].evaluation.scores["btd"]
    least = dataclasses.replace(best, mae=values["a"].evaluation.scores["btd"].mae - 0.1)
    scores = values["b"].evaluation.scores | {"btd": least}
    evaluation = dataclasses.replace(values["b"].evaluation, scores=scores)
    values["b"] = dataclasses.replace(values["b"], evaluation=evaluation)
    others = tuple(
        dataclasses.replace(near, candidate=f"v{k}", delta=Estimate(-0.1, -0.19, 0.1))
        for k in range(18)
    )
    alone = dataclasses.replace(found, values=values, differences=(near,))
    assert "That is 0.100 less" in comparison_answer(alone, "prompt")
    many = dataclasses.replace(alone, differences=(near, *others))
    assert "It is not shown to differ from a" in comparison_answer(many, "prompt")


@pytest.mark.thorough
def test_alike_tasks_carry_over():
    """Three tasks of one kind: intervals by the column's items alone hold 0 in .33 of pairs."""
    whole = simulated(70, 40_000, theta=(1.2, 2.0, 1.0))
    rng, held, wrong = np.random.default_rng(71), [], 0
    off = ~np.eye(3, dtype=bool)
    for _ in range(25):
        rows = rng.permutation(40_000)
        tasks = {str(k): whole.rows(rows[400 * k : 400 * (k + 1)]) for k in range(3)}
        found = transfer(tasks, rng=rng, n_splits=40)
        held.append(((found.change.low <= 0) & (found.change.high >= 0))[off].mean())
        wrong += (found.change.low > 0).any()
    assert np.mean(held) >= 0.95
    assert wrong <= 3


def test_the_luck_of_few_labels_widens_a_transfer():
    tasks = {"a": simulated(72, 400), "b": simulated(73, 400)}
    narrow = transfer(tasks, rng=np.random.default_rng(0), n_splits=100, share=0.05)
    wide = transfer(tasks, rng=np.random.default_rng(0), n_splits=100, share=0.05, minimum=200)
    by_items = np.sqrt(2) / 402 * 2
    for found in (narrow, wide):
        assert ((found.change.high - found.change.value)[[0, 1], [1, 0]] > by_items).all()


def test_a_lead_that_common_comparisons_deny_is_said():
    """Best on its own labels, which are easier, and shown to err more on those that both have."""
    found = compare(
        {"a": simulated(3, 60), "b": simulated(4, 60)},
        rng=np.random.default_rng(2),
        n_splits=2,
        resamples=100,
    )
    row = next(one for one in found.differences if one.rule == "btd")
    worse = dataclasses.replace(row, delta=Estimate(0.313, 0.143, 0.458))
    values = dict(found.values)
    scores = dict(values["b"].evaluation.scores)
    scores["btd"] = dataclasses.replace(
        scores["btd"], mae=values["a"].evaluation.scores["btd"].mae - 0.1
    )
    values["b"] = dataclasses.replace(
        values["b"], evaluation=dataclasses.replace(values["b"].evaluation, scores=scores)
    )
    denied = dataclasses.replace(found, values=values, differences=(worse,))
    said = comparison_answer(denied, "temperature")
    assert said.endswith(
        "But on the 60 labelled comparisons that both have it errs 0.313 more (0.143 to 0.458) "
        "than a: its lead comes from the others."
    )


def test_a_sweep_says_what_its_intervals_leave_out():
    found = vote_sweep(simulated(5, 60), rng=np.random.default_rng(1), subsamples=2, n_splits=3)
    assert "(intervals leave out which 20 calibrate)" in votes_answer("j", found)
    assert "leave out" not in votes_answer("j", found, "majority")


def test_more_votes_than_can_be_drawn_from_are_refused():
    one, many = np.arange(60), np.full(60, 10**9)
    gold = np.resize([-1, 0, 1], 60)
    counts = VoteCounts(comparison=one, item=one, plus=many, tie=many, minus=many, gold=gold)
    with pytest.raises(InvalidOption, match="votes; at most 999,999,999 can be drawn from"):
        vote_sweep(counts, rng=np.random.default_rng(0), sizes=(1, 2))


@pytest.mark.thorough
def test_temperatures_of_reward_bench_2(shared_data, subtests):
    path = shared_data / "votes" / "rewardbench2_temperature.csv.gz"
    with store_of(path) as store:
        with subtests.test("votes by value"):
            check_votes_by_value(store, path)
        with subtests.test("temperatures"):
            check_temperature_table(store)
        with subtests.test("transfer"):
            check_transfer_between_categories(vote_counts_by(store, Selection(), "category"))
