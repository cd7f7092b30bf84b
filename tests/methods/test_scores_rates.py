"""The true pass rate and the difference of two versions, from few labels and a judge."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from places import REPOSITORY

from core.errors import InvalidOption
from core.questions.scores.pass_rate import pass_rate
from core.questions.scores.table import ScoreTable
from core.questions.scores.versions import compare_versions, tuned_weight
from core.stats.intervals import t_quantile, wilson_by_item

REFERENCE = REPOSITORY / "tests" / "data" / "ppi_means.json"


def pass_table(judge: np.ndarray, people: np.ndarray, **more: object) -> ScoreTable:
    return ScoreTable.of(judge, people, low=0, high=1, kind="pass_fail", **more)


def labelled(people: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """People's verdicts on some rows alone."""
    kept = np.full(len(people), np.nan)
    kept[rows] = people[rows]
    return kept


def test_the_rate_by_hand() -> None:
    """600 of 1,000 pass by the judge; 32 labels of them 30 pass, 28 of the others 7."""
    judge = np.r_[np.ones(600), np.zeros(400)]
    people = np.full(1000, np.nan)
    people[:32] = np.r_[np.ones(30), np.zeros(2)]
    people[600:628] = np.r_[np.ones(7), np.zeros(21)]
    found = pass_rate(pass_table(judge, people))
    assert found.corrected.value == pytest.approx(0.6 * 30 / 32 + 0.4 * 7 / 28)
    shares = np.array([7.5 / 29, 30.5 / 33])
    weight = np.array([0.4, 0.6])
    q = float(weight @ shares)
    doubt = np.array([8 / 30, 31 / 34])
    variance = float(weight**2 @ (doubt * (1 - doubt) / np.array([28, 32])))
    variance += float(weight @ (shares - q) ** 2) / 1000
    z2 = t_quantile(59, 0.95) ** 2 / (q * (1 - q) / variance)
    half = math.sqrt(z2 * q * (1 - q) + z2**2 / 4)
    assert found.corrected.low == pytest.approx((q + z2 / 2 - half) / (1 + z2))
    assert found.corrected.high == pytest.approx((q + z2 / 2 + half) / (1 + z2))
    plain = wilson_by_item(np.arange(60), np.ones(60), people[~np.isnan(people)])
    assert found.labels.value == pytest.approx(37 / 60)
    assert (found.labels.low, found.labels.high) == pytest.approx((plain.low, plain.high))
    assert found.judge.value == pytest.approx(0.6)
    assert (found.n, found.n_labelled, found.to_halve) == (1000, 60, 240)
    assert found.best is found.corrected


def test_labels_drawn_by_the_verdict_are_no_mean() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random(1000) < 0.9).astype(float)
    judge = np.where(rng.random(1000) < 0.9, truth, 1 - truth)
    fails, passes = np.flatnonzero(judge == 0), np.flatnonzero(judge == 1)
    rows = np.r_[rng.choice(fails, 30, replace=False), rng.choice(passes, 30, replace=False)]
    found = pass_rate(pass_table(judge, labelled(truth, rows)), designed=True)
    assert found.labels is None
    assert found.corrected.low < 0.9 < found.corrected.high
    assert truth[rows].mean() < 0.87  # what their plain mean would say


@pytest.mark.parametrize(
    ("designed", "n", "words"),
    [(False, 49, "needs 50 labels"), (True, 19, "needs 20 labels drawn half from fail")],
)
def test_few_labels_stand_alone(designed: bool, n: int, words: str) -> None:
    judge = np.r_[np.ones(100), np.zeros(100)]
    found = pass_rate(pass_table(judge, labelled(judge, np.arange(75, 75 + n))), designed=designed)
    assert found.corrected is None
    assert words in found.reason
    assert not found.saves
    assert (found.labels is None) == designed


def test_a_verdict_without_a_label_is_not_guessed() -> None:
    judge = np.r_[np.ones(100), np.zeros(100)]
    found = pass_rate(pass_table(judge, labelled(judge, np.arange(60))))
    assert found.corrected is None
    assert "no label is on the 50 % of the answers that the judge fails" in found.reason
    assert found.best is found.labels


def test_a_weak_judge_saves_no_labels() -> None:
    rng = np.random.default_rng(2)
    truth = (rng.random(1000) < 0.8).astype(float)
    rows = rng.choice(1000, 100, replace=False)
    coin = (rng.random(1000) < 0.5).astype(float)
    assert not pass_rate(pass_table(coin, labelled(truth, rows))).saves
    assert pass_rate(pass_table(truth, labelled(truth, rows))).saves


def test_answers_of_one_unit_count_once() -> None:
    """Four equal answers of each of 60 conversations tell as much as one."""
    rng = np.random.default_rng(3)
    truth, judge = (np.repeat((rng.random(300) < 0.7).astype(float), 4) for _ in range(2))
    unit = np.repeat(np.arange(300), 4)
    found = pass_rate(pass_table(judge, labelled(truth, np.arange(240)), unit=unit))
    alone = pass_rate(pass_table(judge[::4], labelled(truth[::4], np.arange(60))))
    assert found.units_labelled == 60
    assert found.corrected.high - found.corrected.low == pytest.approx(
        alone.corrected.high - alone.corrected.low, rel=0.1
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rate", "tpr", "tnr", "n", "designed"),
    [
        (0.8, 0.9, 0.7, 50, False),
        (0.95, 0.95, 0.9, 100, False),
        (0.95, 0.8, 0.6, 20, True),
        (0.5, 0.95, 0.9, 50, True),
    ],
)
def test_the_interval_holds_the_rate(
    rate: float, tpr: float, tnr: float, n: int, designed: bool
) -> None:
    """200 draws of 1,000 judged answers."""
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(200):
        truth = (rng.random(1000) < rate).astype(float)
        judge = np.where(truth == 1, rng.random(1000) < tpr, rng.random(1000) >= tnr).astype(float)
        rows = rng.choice(1000, n, replace=False)
        if designed:
            fails, passes = np.flatnonzero(judge == 0), np.flatnonzero(judge == 1)
            half = min(n // 2, len(fails))
            rows = np.r_[
                rng.choice(fails, half, replace=False), rng.choice(passes, n - half, replace=False)
            ]
        found = pass_rate(pass_table(judge, labelled(truth, rows)), designed=designed)
        held += found.best.low <= rate <= found.best.high
    assert held >= 180  # .93 of 200 less one and a half standard errors


# Two versions.


def test_weight_and_estimate_are_those_of_ppi_py() -> None:
    """Before items are added; tests/methods/make_ppi_means.py made the reference."""
    cases = json.loads(REFERENCE.read_text(encoding="utf-8"))
    weights = []
    for case in cases:
        y, f, rest = (np.array(case[name]) for name in ("people", "judge", "others"))
        weight = tuned_weight(y, f, rest)
        assert weight == pytest.approx(case["weight"], abs=1e-9)
        weights.append(weight)
        # Version A scores 0 throughout, so that version B is the difference.
        judge, people = np.r_[f, rest], np.r_[y, np.full(len(rest), np.nan)]
        known = np.where(np.isnan(people), np.nan, 0.0)
        a = ScoreTable.of(np.zeros(len(judge)), known, low=-1, high=1)
        b = ScoreTable.of(judge, people, low=-1, high=1, same_scale=True)
        found = compare_versions(a, b)
        assert found.weight == pytest.approx(case["weight"], abs=1e-9)
        # Scores are in shares of a scale of two.
        assert found.difference.value == pytest.approx(case["estimate"] / 2, abs=1e-9)
        assert found.labels.value == pytest.approx(y.mean() / 2)
        assert found.bias.value == pytest.approx((f - y).mean() / 2)
    assert min(weights) == 0
    assert 0.2 < max(weights) < 1


def version_draw(
    rng: np.random.Generator, *, gain: float, favour: float, right: float, n: int
) -> tuple[ScoreTable, ScoreTable]:
    """1,000 items in two versions, n labelled in both; the judge passes `favour` of B's fails."""
    rows = rng.choice(1000, n, replace=False)
    tables = []
    for rate, extra in ((0.6, 0.0), (0.6 + gain, favour)):
        truth = (rng.random(1000) < rate).astype(float)
        judge = np.where(rng.random(1000) < right, truth, 1 - truth)
        judge = np.where((truth == 0) & (rng.random(1000) < extra), 1.0, judge)
        tables.append(pass_table(judge, labelled(truth, rows)))
    return tables[0], tables[1]


def test_a_judge_that_favours_a_version_does_not_decide() -> None:
    rng = np.random.default_rng(5)
    called = judged = seen = 0
    for _ in range(150):
        found = compare_versions(*version_draw(rng, gain=0.0, favour=0.2, right=0.9, n=50))
        called += found.difference.excludes(0)
        judged += found.judge.excludes(0)
        better = compare_versions(*version_draw(rng, gain=0.2, favour=0.0, right=0.9, n=100))
        seen += better.difference.excludes(0)
    assert called <= 18  # .07 of 150 and two standard errors
    assert judged >= 90
    assert seen >= 140


def test_the_judge_shortens_the_interval() -> None:
    rng = np.random.default_rng(6)
    found = compare_versions(*version_draw(rng, gain=0.1, favour=0.0, right=0.95, n=100))
    widths = [each.high - each.low for each in (found.difference, found.labels)]
    assert widths[0] < 0.85 * widths[1]
    assert found.of == "pass"
    assert (found.n, found.n_labelled) == (1000, 100)


def test_few_pairs_stand_alone() -> None:
    rng = np.random.default_rng(7)
    found = compare_versions(*version_draw(rng, gain=0.1, favour=0.0, right=0.9, n=29))
    assert found.difference is None
    assert "30 labelled pairs; there are 29" in found.reason
    assert found.labels.has_interval


def test_versions_are_of_the_same_items_and_scale() -> None:
    table = ScoreTable.of([1, 2, 3], [1, 2, 3])
    with pytest.raises(InvalidOption, match="the same items"):
        compare_versions(table, ScoreTable.of([1, 2], [1, 2]))
    with pytest.raises(InvalidOption, match="1 to 3 and 1 to 5"):
        compare_versions(table, ScoreTable.of([1, 2, 3], [1, 2, 3], low=1, high=5))
