"""Scores of single answers against people: association, agreement, leniency and spread."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from levels import first_of
from scipy.stats import kendalltau, pearsonr, spearmanr
from score_draws import levels, panel, score_rows
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from core.questions.scores.agreement import leniency, score_agreement, spread
from core.questions.scores.table import ScoreTable
from core.records import InvalidCounts
from core.stats.association import kendall_by_item
from core.stats.intervals import t_quantile
from core.stats.jackknife import jackknife_interval, moments


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=40))
def test_coefficients_are_those_of_other_libraries(pairs: list[tuple[int, int]]) -> None:
    judge, person = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    table = ScoreTable.of(
        judge, person, low=1, high=5, kind="levels", passing=3, people_passing=3, same_scale=True
    )
    found = score_agreement(table)
    if np.ptp(judge) and np.ptp(person):
        assert found.association.value == pytest.approx(pearsonr(judge, person).statistic, abs=1e-9)
        expected = cohen_kappa_score(
            judge.astype(int), person.astype(int), labels=[1, 2, 3, 4, 5], weights="quadratic"
        )
        assert found.kappa_weighted.value == pytest.approx(expected, abs=1e-9)
        assert found.tau.value == pytest.approx(kendalltau(judge, person).statistic, abs=1e-9)
    else:
        assert found.association is found.kappa_weighted is found.tau is None
        assert "one score to all" in found.unknown["association"]
    passed = person >= 3
    if 0 < passed.sum() < len(passed):
        assert found.auroc.value == pytest.approx(roc_auc_score(passed, judge), abs=1e-9)
    else:
        assert found.auroc is None
        assert "say the same" in found.unknown["auroc"]
    assert found.equal.value == pytest.approx(np.mean(judge == person))


def test_intervals_leave_out_one_unit_after_another() -> None:
    """Against deletion by hand, with units of unequal size."""
    rng = np.random.default_rng(3)
    _, judge, people = panel(rng, 60)
    unit = rng.integers(0, 17, 60) * 3
    found = score_agreement(ScoreTable.of(judge, people, unit=unit, low=1, high=5))
    groups = np.unique(unit)
    for estimate, coefficient in (
        (found.association, lambda x, y: pearsonr(x, y).statistic),
        (
            found.kappa_weighted,
            lambda x, y: cohen_kappa_score(x, y, labels=[1, 2, 3, 4, 5], weights="quadratic"),
        ),
    ):
        left = np.arctanh(
            [coefficient(judge[unit != one], people[unit != one, 0]) for one in groups]
        )
        size = len(groups)
        error = math.sqrt((size - 1) / size * ((left - left.mean()) ** 2).sum())
        assert error > 0.5 / math.sqrt(size)
        half, centre = t_quantile(size - 1, 0.95) * error, math.atanh(estimate.value)
        assert estimate.low == pytest.approx(math.tanh(centre - half))
        assert estimate.high == pytest.approx(math.tanh(centre + half))
        assert estimate.n == size


def test_perfect_agreement_is_not_certain() -> None:
    scores = np.tile([1.0, 2, 3, 4, 5], 6)
    found = score_agreement(ScoreTable.of(scores, scores)).association
    assert found.value == found.high == pytest.approx(1)
    assert 0.9 < found.low < 0.99
    half = 0.5 / math.sqrt(30) * t_quantile(29, 0.95)
    assert found.low == pytest.approx(math.tanh(math.atanh(1 - 1 / 60) - half))


def test_one_answer_that_carries_all_gives_no_interval() -> None:
    judge = np.array([3.0] * 9 + [5.0])
    found = score_agreement(ScoreTable.of(judge, np.tile([1.0, 5.0], 5), same_scale=True))
    assert not found.association.has_interval


def test_moments_of_large_scores_keep_their_spread() -> None:
    x = 1e8 + np.array([0.0, 1, 2, 3, 4])
    found = moments(x, x[::-1], np.arange(5), 5)
    assert found.var_x[0] == pytest.approx(2)
    assert found.correlation == pytest.approx(-np.ones(6))
    constant = moments(np.full(5, 0.1), x, np.arange(5), 5)
    assert not constant.var_x.any()


def test_a_unit_without_rows_changes_nothing() -> None:
    values = np.array([0.5, 0.4, 0.55, 0.6, 0.45])
    more = np.append(values, [0.5, 0.5])
    one = jackknife_interval(values, scale="fisher")
    assert jackknife_interval(more, scale="fisher", units=4) == one


def test_pass_and_fail_beside_levels_have_area_and_order_only() -> None:
    rng = np.random.default_rng(5)
    quality, judge, _ = panel(rng, 200)
    gold = (quality > 0.3).astype(float)
    table = ScoreTable.of(judge, gold)
    assert not table.same_scale
    assert (table.low, table.high, table.people_passing) == (1, 5, 0.5)
    found = score_agreement(table)
    assert found.auroc.value == pytest.approx(roc_auc_score(gold, judge))
    assert found.kappa_weighted is None
    assert "one scale" in found.unknown["kappa_weighted"]
    assert "one scale" in leniency(table).reason
    assert spread(table).ratio is None


def test_labels_without_order_are_equal_or_not() -> None:
    table = ScoreTable.of([0, 1, 2, 2], [0, 1, 1, 2], kind="labels")
    found = score_agreement(table)
    assert found.equal.value == 0.75
    assert found.association is found.auroc is None
    assert "order" in found.unknown["association"]


def test_pass_and_fail_over_runs() -> None:
    """Shares of runs; half of the runs each way is no verdict, and so is a split of two people."""
    table = ScoreTable.of(
        [1, 2 / 3, 0.5, 0], [[1, 1], [1, 0], [0, 0], [0, np.nan]], kind="pass_fail"
    )
    assert table.verdict.tolist() == [1, 1, -1, 0]
    assert table.people_verdict.tolist() == [1, -1, 0, 0]
    assert table.passed == pytest.approx([1, 2 / 3, 0.5, 0])
    twice = ScoreTable.of([1.0, 1, 0], [0.5, 1, 0], kind="pass_fail", low=0, high=1)
    assert twice.people_verdict.tolist() == [-1, 1, 0]


def test_levels_pass_from_the_cut_on() -> None:
    table = ScoreTable.of([1, 3, 4, np.nan], [2, 3, 5, 5], low=1, high=5, passing=3)
    assert table.verdict.tolist() == [0, 1, 1, -1]
    assert table.people_verdict.tolist() == [0, 1, 1, 1]
    assert len(table.scored()) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"high": 4}, "not within the scale 1 to 4"),
        ({"unit": [0, 1]}, "differ in length"),
        ({"low": 6, "high": 2}, "not in order"),
        ({"names": ("ann", "ben")}, "a name per column"),
    ],
)
def test_tables_that_cannot_be(change: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidCounts, match=words):
        ScoreTable.of([1.0, 2, 5], [1.0, 3, 5], **change)


def test_leniency_by_hand() -> None:
    table = ScoreTable.of([2, 3, 5, 5, 2], [1, 2, 4, 5, 1], low=1, high=5)
    found = leniency(table)
    assert found.bias.value == pytest.approx(4 / 5 / 4)
    assert found.points.value == pytest.approx(4 / 5)
    assert [(one.score, one.n) for one in found.by_level] == [(1, 2), (2, 1), (4, 1), (5, 1)]
    assert [one.bias.value for one in found.by_level] == pytest.approx([0.25, 0.25, 0.25, 0])
    # Five answers and two more at the ends: mean and squares by hand.
    added = np.array([0.25, 0.25, 0.25, 0, 0.25, -1, 1])
    half = t_quantile(4, 0.95) * added.std(ddof=1) / math.sqrt(7)
    assert found.bias.low == pytest.approx(added.mean() - half)
    assert found.bias.high == pytest.approx(added.mean() + half)


def test_many_scores_are_binned() -> None:
    rng = np.random.default_rng(1)
    person = rng.uniform(0, 100, 400)
    found = leniency(ScoreTable.of(np.clip(person + 10, 0, 100), person, low=0, high=100))
    assert [one.score for one in found.by_level] == pytest.approx(np.arange(5, 100, 10))
    assert sum(one.n for one in found.by_level) == 400
    assert found.by_level[4].half_width == 5
    assert found.by_level[4].bias.value == pytest.approx(0.1)


def test_a_compressed_judge_has_less_spread_than_a_person() -> None:
    rng = np.random.default_rng(7)
    quality, _, people = panel(rng, 4000, people=3)
    full = 3 + quality
    half = 3 + 0.5 * quality
    for judge, slope in ((full, 1.0), (half, 0.5)):
        found = spread(ScoreTable.of(judge, people, low=-5, high=11))
        # People's levels rise by the same for one of quality, so that the ratio of the two
        # judges' slopes is theirs.
        if slope == 1.0:
            whole = found
        assert found.ratio.value == pytest.approx(
            judge.std() / math.sqrt(people.var(axis=0).mean()), rel=1e-9
        )
        assert found.slope.low < slope * whole.slope.value < found.slope.high
        assert found.slope.value == pytest.approx(slope * whole.slope.value)
    one = np.polyfit(people[:, 0], full, 1)[0]
    assert whole.slope.value > one + 0.05  # noise of one person flattens a regression


def test_spread_of_one_person() -> None:
    rng = np.random.default_rng(8)
    _, judge, people = panel(rng, 80)
    found = spread(ScoreTable.of(judge, people, low=1, high=5))
    assert found.slope is None
    assert found.ratio.value == pytest.approx(judge.std() / people.std())
    assert found.ratio.low < found.ratio.value < found.ratio.high
    assert spread(ScoreTable.of(np.full(80, 3.0), people)).reason.startswith("the judge gives one")


@pytest.mark.thorough
@pytest.mark.parametrize("clustered", first_of(True, False))
def test_intervals_hold_the_truth(clustered: bool) -> None:
    """Fair judges, 30 and 100 units; of clusters every answer counts three times."""
    rng = np.random.default_rng(11)
    quality, judge, people = panel(rng, 200_000)
    truth_r = np.corrcoef(judge, people[:, 0])[0, 1]
    truth_bias = float((judge - people[:, 0]).mean() / 4)
    truth_spread = judge.std() / people.std()
    for n in (30, 100):
        held = np.zeros(4)
        for _ in range(300):
            quality = rng.normal(size=n)
            drawn, person = levels(quality, rng, 0.5), levels(quality, rng, 0.5)
            unit = np.arange(n)
            if clustered:
                drawn, person, unit = (np.repeat(part, 3) for part in (drawn, person, unit))
            table = ScoreTable.of(drawn, person, unit=unit, low=1, high=5)
            found = score_agreement(table)
            bias = leniency(table).bias
            ratio = spread(table).ratio
            held += [
                found.association.low < truth_r < found.association.high,
                found.kappa_weighted.low < truth_r < found.kappa_weighted.high,
                bias.low < truth_bias < bias.high,
                ratio.low < truth_spread < ratio.high,
            ]
        assert (held / 300 >= 0.92).all(), (n, held / 300)


def test_a_judge_with_an_oracle_beside(shared_data: Path) -> None:
    """Scores of 0 to 1 of four policies, 630 of them with gold; figures by independent code."""
    rows = score_rows(shared_data, "cje_arena.csv.gz")
    gold = np.array([float(row["gold"] or "nan") for row in rows])
    judge = np.array([float(row["score"] or "nan") for row in rows])
    item = np.unique([row["item_id"] for row in rows], return_inverse=True)[1]
    table = ScoreTable.of(judge, gold, unit=item, low=0, high=1)
    found = score_agreement(table)
    assert found.n == 630
    assert found.association.value == pytest.approx(0.677215, abs=1e-6)
    assert found.kappa_weighted.value == pytest.approx(0.613670, abs=1e-6)
    assert leniency(table).bias.value == pytest.approx(0.087762, abs=1e-6)
    both = ~np.isnan(gold) & ~np.isnan(judge)
    assert spearmanr(judge[both], gold[both]).statistic == pytest.approx(0.569717, abs=1e-6)


@pytest.mark.parametrize(
    ("judge", "area", "answers"),
    [("claude-haiku-4.5 [base]", 0.896789, 7045), ("gpt-5.4-mini [base]", 0.851391, 6920)],
)
def test_scores_of_right_and_wrong_answers(
    shared_data: Path, judge: str, area: float, answers: int
) -> None:
    """RewardBench 2: the mean over eight runs against gold; figures by independent code."""
    rows = [
        row
        for row in score_rows(shared_data, "rewardbench2_scores.csv.gz")
        if row["judge"] == judge and row["score"]
    ]
    key = [(row["item_id"], row["model"]) for row in rows]
    place = {one: number for number, one in enumerate(dict.fromkeys(key))}
    code = np.array([place[one] for one in key])
    runs = np.bincount(code)
    mean = np.bincount(code, [float(row["score"]) for row in rows]) / runs
    gold = np.zeros(len(place))
    gold[code] = [float(row["gold"]) for row in rows]
    item = np.unique([one for one, _ in place], return_inverse=True)[1]
    found = score_agreement(ScoreTable.of(mean, gold, unit=item))
    assert found.n == answers
    assert found.auroc.value == pytest.approx(area, abs=1e-6)
    assert found.kappa_weighted is None


def test_tau_of_levels_is_counted_from_their_table() -> None:
    """However many answers: the same value and interval as from all pairs of rows."""
    rng = np.random.default_rng(14)
    _, judge, people = panel(rng, 400)
    item = np.arange(400) // 2
    table = kendall_by_item(judge, people[:, 0], item)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.stats.association.KENDALL_CELLS", 0)
        rows = kendall_by_item(judge, people[:, 0], item)
    assert table.value == pytest.approx(kendalltau(judge, people[:, 0]).statistic, abs=1e-12)
    assert (table.low, table.high) == pytest.approx((rows.low, rows.high), abs=1e-12)
    many = kendall_by_item(np.tile(judge, 10), np.tile(people[:, 0], 10), np.arange(4000))
    assert many.has_interval
    assert many.value == pytest.approx(table.value)
