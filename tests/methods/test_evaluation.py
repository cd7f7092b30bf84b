"""Evaluation of aggregators: the split protocol, scores against plain loops, and the real reference
table.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from levels import first_of
from scipy import stats

from core.errors import InvalidOption, TooFewLabels, UnknownName
from core.questions.labels import btd
from core.questions.labels.btd import apply
from core.questions.labels.evaluation import evaluate, regime
from core.questions.labels.rules import RULES
from core.questions.labels.words import _changed, effect
from core.records import NO_GOLD, VoteCells, VoteCounts
from core.stats.splits import (
    ItemLosses,
    change_intervals,
    held_out_scores,
    item_losses,
    sign_flip_p_value,
    splits,
)

CATEGORIES = ("Factuality", "Focus", "Math", "Precise IF", "Safety")
# The reference of the data's README: MAE of BTD and SC for gpt-5.4 [base], ± .02.
REFERENCE = {
    "Factuality": (0.33, 0.42),
    "Focus": (0.38, 0.44),
    "Math": (0.40, 0.46),
    "Precise IF": (0.50, 0.59),
    "Safety": (0.22, 0.31),
}


def simulated(
    seed: int, items: int, *, per_item: tuple[int, int] = (1, 1), n: int = 8
) -> VoteCounts:
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), rng.integers(per_item[0], per_item[1] + 1, items))
    size = len(item)
    tie = rng.beta(1, 2, size)
    plus = (1 - tie) / (1 + np.exp(-2 * rng.normal(0, 1.5, size)))
    votes = rng.multinomial(n, np.column_stack([plus, tie, 1 - plus - tie]))
    counts = VoteCounts(
        comparison=np.arange(size),
        item=item,
        plus=votes[:, 0],
        tie=votes[:, 1],
        minus=votes[:, 2],
        gold=np.zeros(size, dtype=np.int64),
    )
    p = btd.probabilities(np.array([1.2, 2.0, 1.0]), *btd.features(counts))
    gold = (rng.random(size)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1) - 1
    return with_gold(counts, gold)


def with_gold(counts: VoteCounts, gold: np.ndarray) -> VoteCounts:
    return VoteCounts(
        comparison=counts.comparison,
        item=counts.item,
        plus=counts.plus,
        tie=counts.tie,
        minus=counts.minus,
        gold=gold,
    )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), items=st.integers(22, 80), share=st.floats(0.02, 0.6))
def test_splits_draw_whole_items_and_enough_comparisons(seed, items, share):
    counts = simulated(seed, items, per_item=(1, 6))
    drawn = splits(counts, rng=np.random.default_rng(seed), n_splits=10, share=share)
    sizes = np.bincount(counts.item)
    wanted = min(max(1, round(share * items)), items - 1)
    for split in range(10):
        rows = drawn.entry_row[drawn.entry_split == split]
        of_item = np.bincount(counts.item[rows], minlength=items)
        assert set(np.unique(of_item / sizes)) <= {0.0, 1.0}
        assert len(rows) >= 20
        # More items than asked for only to reach 20 comparisons, and never one too many.
        assert (of_item > 0).sum() == wanted or len(rows) - sizes.max() < 20
        in_cells = np.bincount(drawn.cell[rows], minlength=len(drawn.cells))
        assert (drawn.calibration[split] == in_cells).all()
    assert (drawn.evaluation >= 0).all()
    assert (drawn.evaluation.sum(axis=1) > 0).all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), items=st.integers(21, 400))
def test_splits_of_single_comparisons_conserve_counts(seed, items):
    counts = simulated(seed, items)
    drawn = splits(counts, rng=np.random.default_rng(seed), n_splits=10)
    assert drawn.single
    assert drawn.cells.weight.sum() == items
    assert (drawn.calibration.sum(axis=1) == max(20, round(0.05 * items))).all()
    assert (drawn.calibration <= drawn.cells.weight).all()


def test_every_item_is_drawn_equally_often():
    counts = simulated(1, 60, per_item=(3, 3))
    drawn = splits(counts, rng=np.random.default_rng(2), n_splits=4_000, share=0.25)
    times = np.bincount(counts.item[drawn.entry_row]) / 3
    assert times.mean() == 4_000 * 15 / 60
    assert np.abs(times - 1_000).max() < 5 * np.sqrt(4_000 * 0.25 * 0.75)


def test_scores_are_those_of_plain_loops():
    counts = simulated(3, 40, per_item=(1, 4))
    result = evaluate(
        counts, rng=np.random.default_rng(5), n_splits=12, methods=["majority", "btd", "random"]
    )
    drawn = splits(counts, rng=np.random.default_rng(5), n_splits=12)
    label = counts.label
    mae, pa, random_mae, btd_mae = [], [], [], []
    for split in range(12):
        calibrate = np.zeros(len(counts), dtype=bool)
        calibrate[drawn.entry_row[drawn.entry_split == split]] = True
        fit = btd.fit(counts.rows(calibrate).cells()[0])
        rest = counts.rows(~calibrate)
        mae.append(np.abs(label[~calibrate] - rest.gold).mean())
        pa.append((label[~calibrate] == rest.gold).mean())
        random_mae.append(np.mean([np.abs(guess - rest.gold).mean() for guess in (-1, 0, 1)]))
        btd_mae.append(np.abs(apply(fit, rest) - rest.gold).mean())
    scores = result.scores
    assert scores["majority"].mae == pytest.approx(np.mean(mae))
    assert scores["majority"].pa == pytest.approx(np.mean(pa))
    assert scores["random"].mae == pytest.approx(np.mean(random_mae))
    assert scores["btd"].mae == pytest.approx(np.mean(btd_mae))
    half = 1.959964 * np.std(btd_mae, ddof=1) / np.sqrt(12)
    assert scores["btd"].mae_low == pytest.approx(np.mean(btd_mae) - half, abs=1e-6)
    assert scores["btd"].mae_high == pytest.approx(np.mean(btd_mae) + half, abs=1e-6)
    assert result.calibration == pytest.approx(drawn.calibration.sum(axis=1).mean())
    assert (result.n, result.n_items) == (len(counts), 40)


def test_regret_is_measured_against_all_labels():
    counts = simulated(4, 600)
    result = evaluate(counts, rng=np.random.default_rng(0), n_splits=30)
    fit = btd.fit(counts.cells()[0])
    drawn = splits(counts, rng=np.random.default_rng(0), n_splits=30)
    error = np.abs(apply(fit, drawn.cells) - drawn.cells.gold)
    everything = (drawn.evaluation @ error / drawn.evaluation.sum(axis=1)).mean()
    assert result.mae_all_labels == pytest.approx(everything)
    for score in result.scores.values():
        assert score.regret == pytest.approx(score.mae - everything)


def test_methods_share_their_splits_whichever_are_asked_for():
    counts = simulated(6, 300, per_item=(1, 2))
    everything = evaluate(counts, rng=np.random.default_rng(1), n_splits=20)
    one = evaluate(counts, rng=np.random.default_rng(1), n_splits=20, methods=["threshold"])
    assert one.scores["threshold"].mae == everything.scores["threshold"].mae
    assert list(one.scores) == ["threshold"]
    assert one.parameters is None


def test_item_losses_are_those_of_plain_loops():
    counts = simulated(7, 30, per_item=(1, 4))
    drawn = splits(counts, rng=np.random.default_rng(2), n_splits=15)
    rng = np.random.default_rng(3)
    varying, fixed = rng.random((15, len(drawn.cells))), rng.random((1, len(drawn.cells)))
    found = item_losses(drawn, [varying, fixed])
    for item in range(30):
        rows = np.flatnonzero(counts.item == item)
        calibrated = {
            int(split)
            for split, row in zip(drawn.entry_split, drawn.entry_row, strict=True)
            if row in rows
        }
        free = [split for split in range(15) if split not in calibrated]
        assert found.loss[item, 0] == pytest.approx(varying[np.ix_(free, drawn.cell[rows])].mean())
        assert found.loss[item, 1] == pytest.approx(fixed[0, drawn.cell[rows]].mean())
        assert found.size[item] == len(rows)


def test_item_losses_of_single_comparisons_conserve_the_loss():
    drawn = splits(simulated(8, 200), rng=np.random.default_rng(2), n_splits=15)
    loss = np.random.default_rng(3).random((1, len(drawn.cells)))
    found = item_losses(drawn, [loss])
    assert found.items.sum() == 200
    assert found.items @ found.loss[:, 0] == pytest.approx(drawn.cells.weight @ loss[0])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=9))
def test_sign_flip_p_value_is_that_of_all_sign_patterns(difference):
    values = np.array(difference)
    signs = np.array(list(itertools.product([-1, 1], repeat=len(values))))
    exact = (np.abs(signs @ values) >= abs(values.sum()) - 1e-9).mean()
    found = sign_flip_p_value(
        values, np.ones(len(values), dtype=np.int64), resamples=20_000, rng=np.random.default_rng(1)
    )
    assert found == pytest.approx(exact, abs=0.02)


def test_alike_items_give_the_p_value_of_single_ones():
    rng = np.random.default_rng(9)
    values = rng.normal(0.2, 1, 12)
    times = rng.integers(1, 6, 12)
    together = sign_flip_p_value(values, times, resamples=40_000, rng=rng)
    apart = sign_flip_p_value(
        np.repeat(values, times), np.ones(times.sum(), dtype=np.int64), resamples=40_000, rng=rng
    )
    assert together == pytest.approx(apart, abs=0.015)


def test_sign_flip_test_keeps_its_level():
    rng = np.random.default_rng(10)
    rejected = [
        sign_flip_p_value(
            rng.standard_t(3, 40), np.ones(40, dtype=np.int64), resamples=199, rng=rng
        )
        <= 0.05
        for _ in range(1_500)
    ]
    assert np.mean(rejected) == pytest.approx(0.05, abs=0.018)


@pytest.mark.parametrize("alike", [True, False])
def test_a_change_has_the_t_interval_of_a_jackknife(alike):
    rng = np.random.default_rng(12)
    loss = rng.random((25, 1))
    items = rng.integers(2, 40, 25) if alike else np.ones(25, dtype=np.int64)
    size = rng.integers(1, 7, 25).astype(np.float64)
    losses = ItemLosses(loss=loss, items=items, size=size)
    found = change_intervals(losses, [0.4], of_labels=False, level=0.9)
    value, each = np.repeat(loss[:, 0], items), np.repeat(size, items)
    mean, n = (each @ value) / each.sum(), len(value)
    left_out = (mean * each.sum() - each * value) / (each.sum() - each)
    error = np.sqrt((n - 1) / n * ((left_out - mean) ** 2).sum())
    # Items as many as weigh alike (Kish): (Σw)²/Σw².
    half = stats.t.ppf(0.95, each.sum() ** 2 / (each**2).sum() - 1) * error
    assert (found.low[0], found.high[0]) == (pytest.approx(0.4 - half), pytest.approx(0.4 + half))


@pytest.mark.parametrize("alike", [True, False])
def test_rare_changes_are_covered_whether_an_item_changes_as_a_whole_or_not(alike):
    """3 % of labels change, in 50 items of 6. Alone they are worth a label, together a
    whole item.
    """
    rng, held, width = np.random.default_rng(5), 0, []
    for _ in range(400):
        changed = (rng.random((50, 1 if alike else 6)) < 0.03).mean(axis=1, keepdims=True)
        losses = ItemLosses(loss=changed, items=np.ones(50, dtype=np.int64), size=np.full(50, 6.0))
        found = change_intervals(losses, [changed.mean()], level=0.95)
        held += found.low[0] <= 0.03 <= found.high[0]
        width.append(found.high[0] - found.low[0])
    assert held / 400 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400)
    assert np.mean(width) < (0.15 if alike else 0.05)


def test_rules_that_have_not_differed_yet_may_differ():
    same = ItemLosses(loss=np.zeros((1, 1)), items=np.array([30]), size=np.ones(1))
    found = change_intervals(same, [0.0], level=0.95)
    assert found.high[0] == pytest.approx(stats.t.ppf(0.975, 29) * np.sqrt(2 * 32 / 31) / 32)
    assert found.low[0] == -found.high[0]


@pytest.mark.thorough
@pytest.mark.parametrize("groups", first_of(2, 3, 5, 10))
def test_rules_that_do_not_differ_are_told_apart_in_five_of_a_hundred(groups):
    """Few items: a percentile bootstrap of them sees a change in .53 of sets with 2 items, .25 with
    3.
    """
    rng, told = np.random.default_rng(3), 0
    for _ in range(1_000):
        change = np.clip(rng.normal(0, 0.2, groups), -1, 1)
        losses = np.stack([1 + change, np.ones(groups), 1 + change, np.ones(groups)], axis=1)
        each = ItemLosses(
            loss=losses, items=np.ones(groups, dtype=np.int64), size=np.full(groups, 8.0)
        )
        found = held_out_scores(each, ("new", "old"), calibration=20.0)
        told += effect(found, "drps", 1) != "does not change"
        assert effect(found, "mae", 1) == "does not change" or groups > 2
    assert told / 1_000 == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 1_000))


def test_one_held_out_item_shows_no_change():
    one = ItemLosses(
        loss=np.array([[0.2, 0.5, 0.1, 0.3]]), items=np.array([1]), size=np.array([30.0])
    )
    found = held_out_scores(one, ("new", "old"), calibration=20.0)
    assert found.mae_change.value[1] == pytest.approx(-0.3)
    assert np.isnan([*found.mae.low, *found.mae.high]).all()
    assert np.isnan(
        [found.mae_change.low[1], found.mae_change.high[1], found.drps_change.low[1]]
    ).all()
    assert effect(found, "mae", 1) == effect(found, "drps", 1) == "does not change"
    assert "−0.3000, no interval: one item" in _changed("It", found, "the old")


@pytest.mark.thorough
@pytest.mark.parametrize("n", [60, 100, 300])
def test_the_error_of_a_good_judge_is_covered(n):
    """97 % right: a percentile bootstrap over items holds .745, .88 and .88, and says 0 to 0 in a
    quarter.
    """
    rng = np.random.default_rng(4)

    def judged(size: int) -> VoteCounts:
        gold = rng.choice([-1, 0, 1], size, p=[0.4, 0.2, 0.4])
        label = np.where(rng.random(size) < 0.97, gold, rng.choice([-1, 0, 1], size))
        each = {
            name: (label == y).astype(np.int64)
            for name, y in (("plus", 1), ("tie", 0), ("minus", -1))
        }
        return VoteCounts(comparison=np.arange(size), item=np.arange(size), gold=gold, **each)

    whole = judged(200_000)
    truth, held = np.abs(whole.label - whole.gold).mean(), 0
    for _ in range(150):
        score = evaluate(
            judged(n), rng=rng, methods=("majority",), n_splits=5, resamples=100
        ).scores
        one = score["majority"]
        held += one.mae_item_low <= truth <= one.mae_item_high
        assert one.mae_item_low < one.mae_item_high
        assert 0 <= one.pa_item_low <= one.pa <= one.pa_item_high <= 1
    assert held / 150 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


def test_intervals_hold_their_estimates_and_scores_are_sorted():
    result = evaluate(
        simulated(13, 400, per_item=(1, 3)), rng=np.random.default_rng(0), n_splits=20
    )
    scores = list(result.scores.values())
    assert [score.mae for score in scores] == sorted(score.mae for score in scores)
    for score in scores:
        assert score.mae_low <= score.mae <= score.mae_high
        assert score.mae_item_low <= score.mae <= score.mae_item_high
        assert score.pa_item_low <= score.pa <= score.pa_item_high
    assert scores[0].top_cluster
    assert scores[0].p_value is None
    inside = [score.top_cluster for score in scores]
    assert inside == sorted(inside, reverse=True)
    assert not result.scores["random"].top_cluster


def test_methods_that_lack_their_input_are_listed_with_the_reason():
    counts = simulated(14, 200)
    result = evaluate(counts, rng=np.random.default_rng(0), n_splits=5)
    assert result.not_applicable["longest"] == "needs the lengths of both answers; none were given"
    assert "confidence" in result.not_applicable["soft_sc_mean"]
    assert set(result.scores) | set(result.not_applicable) == set(RULES)


def test_given_labels_are_scored_like_any_method():
    counts = simulated(15, 300, per_item=(1, 3))
    result = evaluate(
        counts,
        rng=np.random.default_rng(0),
        n_splits=20,
        given={"longest": counts.gold, "ci_sc": counts.label},
    )
    assert result.scores["longest"].mae == 0
    assert result.scores["longest"].pa == 1
    assert result.scores["ci_sc"].mae == pytest.approx(result.scores["majority"].mae)
    assert next(iter(result.scores)) == "longest"


def test_unlabelled_comparisons_change_nothing():
    counts = simulated(16, 150)
    half = counts.gold.copy()
    half[::3] = NO_GOLD
    partly = with_gold(counts, half)
    one = evaluate(partly, rng=np.random.default_rng(0), n_splits=10)
    other = evaluate(partly.labelled(), rng=np.random.default_rng(0), n_splits=10)
    assert one.scores["btd"].mae == other.scores["btd"].mae
    assert one.n == 100


def test_too_few_labels_are_refused_with_their_number():
    with pytest.raises(TooFewLabels, match="there are 20 labelled comparisons of 20 items"):
        splits(simulated(17, 20), rng=np.random.default_rng(0))
    one_big_item = simulated(18, 1, per_item=(60, 60))
    with pytest.raises(TooFewLabels, match="60 labelled comparisons of 1 item"):
        splits(one_big_item, rng=np.random.default_rng(0))
    with pytest.raises(TooFewLabels, match="there are 0"):
        splits(with_gold(one_big_item, np.full(60, NO_GOLD)), rng=np.random.default_rng(0))


def test_impossible_options_are_refused():
    counts, rng = simulated(19, 50), np.random.default_rng(0)
    for options in (
        {"n_splits": 1},
        {"share": 0.0},
        {"share": 1.0},
        {"level": 1.0},
        {"resamples": 10},
        {"minimum": 0},
    ):
        with pytest.raises(InvalidOption):
            evaluate(counts, rng=rng, **options)
    with pytest.raises(UnknownName, match="median"):
        evaluate(counts, rng=rng, methods=["median"])


def test_regimes_of_the_published_table(golden):
    pd = pytest.importorskip("pandas")
    table = pd.read_csv(golden / "btd_parameters_published.csv").set_index("task")
    found = {task: regime(row.nu_q1, row.nu_q3) for task, row in table.iterrows()}
    assert found == {
        "WMT EN-DE": "low correction",
        "WMT ZH-EN": "low correction",
        "RB2-Precise IF": "low correction",
        "RB2-Factuality": "mismatched",
        "RB2-Math": "high correction",
        "RB2-Focus": "high correction",
        "RB2-Safety": "high correction",
        "RB2-Ties": "high correction",
    }


def reward_bench(shared_data) -> dict[tuple[str, str], VoteCounts]:
    """Vote counts of the 15 judge × category cells, counted by pandas."""
    import pandas as pd

    votes = pd.read_csv(shared_data / "votes" / "rewardbench2_pairs.csv.gz")
    key = ["judge", "category", "item_id", "model_a", "model_b"]
    for name, value in (("plus", 1), ("tie", 0), ("minus", -1)):
        votes[name] = (votes["vote"] == value).astype("int64")
    table = (
        votes.groupby(key, sort=False)
        .agg({"plus": "sum", "tie": "sum", "minus": "sum", "gold": "first"})
        .reset_index()
    )
    return {
        cell: VoteCounts(
            comparison=np.arange(len(rows)),
            item=pd.factorize(rows["item_id"])[0].astype(np.int64),
            **{
                name: rows[name].to_numpy(dtype=np.int64)
                for name in ("plus", "tie", "minus", "gold")
            },
        )
        for cell, rows in table.groupby(["judge", "category"])
    }


def check_reference_table(reward_bench):
    """All 15 cells: BTD below majority; gpt-5.4 and the means as in docs/methods.md §2."""
    assert len(reward_bench) == 15
    rows = []
    for (judge, category), counts in reward_bench.items():
        result = evaluate(
            counts,
            rng=np.random.default_rng(0),
            methods=["btd", "majority", "threshold"],
            resamples=100,
        )
        scores = result.scores
        assert scores["btd"].mae < scores["majority"].mae, (judge, category)
        assert scores["threshold"].mae < scores["majority"].mae, (judge, category)
        if judge == "gpt-5.4 [base]":
            expected_btd, expected_sc = REFERENCE[category]
            assert scores["btd"].mae == pytest.approx(expected_btd, abs=0.02)
            assert scores["majority"].mae == pytest.approx(expected_sc, abs=0.02)
        rows.append([scores["majority"].mae, scores["btd"].mae, result.mae_all_labels])
    assert np.mean(rows, axis=0) == pytest.approx([0.450, 0.347, 0.335], abs=0.002)


def check_fits_match_an_independent_solver(reward_bench):
    from test_btd import independent_minimum

    rng = np.random.default_rng(4)
    for category in CATEGORIES:
        drawn = splits(reward_bench["gpt-5.4 [base]", category], rng=rng, n_splits=2)
        fits = btd.fit_many(drawn.cells, drawn.calibration)
        for weight, found in zip(drawn.calibration, fits.drps, strict=True):
            alone = VoteCells(
                **{name: getattr(drawn.cells, name) for name in ("plus", "tie", "minus", "gold")},
                weight=weight,
            )
            assert found == pytest.approx(independent_minimum(alone, rng, starts=5), abs=1e-6)


@pytest.mark.thorough
def test_reward_bench_2(shared_data, subtests):
    counts = reward_bench(shared_data)
    with subtests.test("reference table"):
        check_reference_table(counts)
    with subtests.test("independent solver"):
        check_fits_match_an_independent_solver(counts)
