"""Labels of single answers: TPR, TNR and pass rate that may be looked at after every label."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from draws import seeded
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import labelled_answers as simulated
from core.errors import InvalidOption
from core.labelling.answers import (
    AnswerRow,
    pass_forecast,
    pass_verdict,
    same_level,
    true_rate,
    verdict_strata,
)
from core.labelling.rate import anytime_rate
from core.labelling.shown import LevelStanding, PassStanding
from core.labelling.verdict import GRID, Plan
from core.labelling.wealth import row_path
from core.labelling.words import levels_sentence, passing_sentence
from core.questions.scores.pass_rate import pass_rate
from core.questions.scores.table import ScoreTable
from core.stats.by_verdict import class_rate
from core.stats.intervals import beta_interval

LIMITS = (0.60, 0.40)


def answers(n: int, *, passes=0.7, tpr=0.9, tnr=0.8, seed: int = 0) -> AnswerRow:
    """All labels of a judge with exactly these rates, in random order."""
    exact = simulated.Answers(n=n, passes=passes, tpr=tpr, tnr=tnr)
    return exact.drawn(np.random.default_rng(seed), n)[1]


def first(row: AnswerRow, labels: int) -> AnswerRow:
    return AnswerRow(judge=row.judge, label=row.label[:labels])


@given(st.integers(20, 60), st.floats(0.3, 0.7), st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_all_labels_tell_both_rates(n, share, seed):
    """When every answer is labelled each bet has ended, on the side where its rate is."""
    rng = np.random.default_rng(seed)
    label = (rng.permutation(n) < share * n).astype(float)
    row = AnswerRow(judge=rng.choice([0.0, 0.5, 1.0], n), label=label)
    for passed in (True, False):
        of_class = row.of_class(passed)
        own = row.judge[label == passed]
        rate = (own if passed else 1 - own).mean()
        up, down = row_path(
            of_class.payoffs(GRID), of_class.stratum, of_class.sizes[0], GRID, last_only=True
        )
        off = np.abs(rate - GRID) > 1e-6
        assert (up[0] == np.inf)[off].tolist() == (rate > GRID)[off].tolist()
        assert (down[0] == np.inf)[off].tolist() == (rate < GRID)[off].tolist()


def test_a_grade_takes_both_rates_and_ten_answers_of_each_class():
    row = answers(400)
    seen = pass_verdict(row, Plan(labels=None), limits=LIMITS)
    assert seen.grade == "ok"
    assert seen.since == max(seen.passed.since, seen.failed.since)
    assert seen.passed.right.value == pytest.approx(0.9, abs=0.01)
    assert seen.failed.right.value == pytest.approx(0.8, abs=0.01)
    early = pass_verdict(first(row, seen.since - 1), Plan(labels=None), limits=LIMITS)
    assert (early.grade, early.since) == ("unclear", None)
    constant = answers(400, tpr=1.0, tnr=0.0)
    always = pass_verdict(constant, Plan(labels=None), limits=LIMITS)
    # Right on 70 %, and never to be trusted: it finds no failure.
    assert (always.passed.grade, always.failed.grade, always.grade) == ("ok", "fail", "fail")
    labelled = first(constant, always.failed.since)
    assert (labelled.label == 0).sum() >= 10 or pass_verdict(
        labelled, Plan(labels=None), limits=LIMITS
    ).grade == "unclear"
    rare = answers(400, passes=0.98, tpr=0.95, tnr=0.0)
    assert pass_verdict(rare, Plan(labels=None), limits=LIMITS).grade == "unclear"


def test_what_cannot_be_told_moves_no_rate_and_too_much_of_it_no_grade():
    row = answers(400, tpr=0.95, tnr=0.95)
    label = row.label.copy()
    label[:40] = math.nan
    few = pass_verdict(AnswerRow(judge=row.judge, label=label), Plan(), limits=LIMITS)
    label[40] = math.nan
    many = pass_verdict(AnswerRow(judge=row.judge, label=label), Plan(), limits=LIMITS)
    assert (few.grade, few.undecided) == ("ok", 40)
    assert (many.grade, many.too_undecided) == ("unclear", True)
    said = passing_sentence(
        PassStanding(
            judge="j",
            verdict=many,
            grade=many.grade,
            forecast=None,
            rate=true_rate(row, Plan(), passes=True),
        )
    )
    assert said.endswith("41 of 400 labels cannot tell: too many for a verdict.")


def test_what_no_label_tells_is_said():
    """All labels pass; and scores between 0 and 1 pass nothing, but steady the true rate."""
    row = AnswerRow(judge=np.tile([1.0, 0.0, 1.0], 40), label=np.ones(30))
    verdict, rate = (
        pass_verdict(row, Plan(labels=None), limits=LIMITS),
        true_rate(row, Plan(labels=None), passes=True),
    )
    assert (verdict.failed.right, verdict.grade) == (None, "unclear")
    one = PassStanding(judge="j", verdict=verdict, grade="unclear", forecast=None, rate=rate)
    said = passing_sentence(one)
    assert "No label is of an answer that people failed. 0 labels fail: a verdict needs 10." in said
    said = passing_sentence(replace(one, verdict=None))
    assert said.startswith("j: nothing says from which score it passes an answer. True pass rate: ")
    assert "by its own scores 67 %" in said


def test_the_end_of_a_plan_has_the_pass_rate_of_its_own_labels():
    row = answers(400)
    before, at_end, after = (
        true_rate(first(row, n), Plan(labels=100), passes=True) for n in (99, 100, 160)
    )
    assert before.planned is None
    people = np.where(np.arange(400) < 100, row.label, np.nan)
    table = ScoreTable.of(row.judge, people, low=0, high=1, kind="pass_fail")
    assert at_end.planned == pass_rate(table).corrected == after.planned
    assert at_end.now == anytime_rate(row.label[:100], row.judge)
    assert at_end.judge == row.judge.mean()
    # Planned once it is shorter: what holds always costs.
    assert at_end.planned.high - at_end.planned.low < at_end.now.high - at_end.now.low
    verdict = pass_verdict(first(row, 100), Plan(labels=100), limits=LIMITS)
    assert verdict.passed.planned.level == pytest.approx(0.975)
    assert pass_verdict(first(row, 99), Plan(labels=100), limits=LIMITS).passed.planned is None


@given(
    st.tuples(st.integers(1, 60), st.integers(1, 60)),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
    st.integers(1, 9),
)
def test_a_class_by_verdict_is_a_ratio_whose_ends_solve_their_definition(m, shares, times):
    """End L of p₁/p₀: (p₁ − L·p₀)² = (p₁ − l₁)² + L²(u₀ − p₀)²; the other class has 1 − rate."""
    m = np.array(m)
    k, items = np.floor(m * np.array(shares)).astype(int), m * np.array([1, times])
    value, low, high = class_rate(k, m, items)
    if not k.any():
        assert np.isnan(value)
        assert (low, high) == (0, 1)
        return
    assert value == pytest.approx(items[0] * k[0] / m[0] / (items * k / m).sum())
    assert low <= value + 1e-12
    assert value <= high + 1e-12
    others = class_rate(k[::-1], m[::-1], items[::-1])
    assert others[1] == pytest.approx(1 - high, abs=1e-9)
    assert others[2] == pytest.approx(1 - low, abs=1e-9)
    p = k / m
    beneath, above = beta_interval(k + 0.5, m - k + 0.5)
    beneath, above = np.where(k == 0, 0, beneath), np.where(k == m, 1, above)
    for end, ends in ((low, (beneath[0], above[1])), (high, (above[0], beneath[1]))):
        if 0 < end < 1:
            ratio = end / (1 - end) * items[1] / items[0]
            apart = (p[0] - ratio * p[1]) ** 2
            both = (p[0] - ends[0]) ** 2 + (ratio * (ends[1] - p[1])) ** 2
            assert apart == pytest.approx(both, rel=1e-6, abs=1e-12)


def test_the_end_of_a_plan_weighs_labels_by_the_judges_verdicts():
    """Of 400 answers 100 are failed; of the first 40 labels 12 are, and people fail 9 of these and
    1 of the others: TNR is 100·9/12 of 100·9/12 + 300·1/28, not 9 of 10.
    """
    judge = np.r_[np.zeros(12), np.ones(28), np.zeros(88), np.ones(272)]
    label = np.r_[np.zeros(9), np.ones(3), 0.0, np.ones(27)]
    row = AnswerRow(judge=judge, label=label)
    seen = pass_verdict(row, Plan(labels=40), limits=LIMITS)
    for rate, k, m, items in (
        (seen.failed.planned, (9, 1), (12, 28), (100, 300)),
        (seen.passed.planned, (27, 3), (28, 12), (300, 100)),
    ):
        value, low, high = class_rate(k, m, items, level=0.975)
        assert (rate.value, rate.low, rate.high) == (value, low, high)
        assert rate.n == sum(k)
    assert seen.failed.planned.value == pytest.approx(75 / (75 + 300 / 28))
    # A share of runs is no verdict, and without a label of either verdict nothing can be weighed.
    for other in (replace(row, judge=np.where(judge == 1, 0.9, 0.1)), first(row, 12)):
        n = len(other.label)
        of_class = other.of_class(False)
        planned = pass_verdict(other, Plan(labels=n), limits=LIMITS).failed.planned
        assert planned.value == pytest.approx(of_class.credit[of_class.decided].mean())


def test_the_end_of_a_plan_grades_with_fewer_of_a_class():
    """8 of 8 failures found and none of 72 passes wrong, of 90 % that it passes."""
    judge = np.tile(np.r_[0.0, np.ones(9)], 40)
    row = AnswerRow(judge=judge, label=judge[:80])
    ended = pass_verdict(row, Plan(labels=80), limits=LIMITS)
    assert (ended.grade, ended.since, ended.failed.by_plan) == ("ok", 80, True)
    assert ended.failed.right.n == 8
    for plan in (Plan(labels=None), Plan(labels=200)):
        assert pass_verdict(row, plan, limits=LIMITS).grade == "unclear"


def test_a_forecast_of_a_class_draws_it_within_verdicts():
    """People fail what the judge fails, 8 of 80: what is left until the plan's end decides it."""
    judge = np.tile(np.r_[0.0, np.ones(9)], 100)
    row = AnswerRow(judge=judge, label=judge[:80])
    plan = Plan(labels=200)
    verdict = pass_verdict(row, plan, limits=LIMITS)
    waited: list[bool] = []
    side, ahead = pass_forecast(
        row, plan, verdict, limits=LIMITS, rng=seeded(), between=lambda: waited.append(True)
    )
    assert side is False
    assert ahead.by_end > 0.8
    # Others go first before every label of its futures.
    assert len(waited) > 20


def test_sentences_name_both_rates_and_the_true_one():
    row = first(answers(400), 60)
    plan = Plan(labels=200)
    verdict = pass_verdict(row, plan, limits=LIMITS)
    ahead = pass_forecast(row, plan, verdict, limits=LIMITS, rng=seeded())
    standing = PassStanding(
        judge="j",
        verdict=verdict,
        grade=verdict.grade,
        forecast=ahead,
        rate=true_rate(row, plan, passes=True),
    )
    said = passing_sentence(standing)
    rate = verdict.failed.right
    assert f"It fails {100 * rate.value:.0f} % of what people failed" in said
    assert "valid whenever you stop" in said
    assert f"by its own verdicts {100 * row.judge.mean():.0f} %" in said
    if verdict.grade == "unclear":
        assert "What people failed decides last." in said


def test_levels_by_hand():
    """Scale of 1 to 5: the same, one off, half a level off, three off, one that nobody can tell."""
    judge = np.array([0.5, 0.75, 0.625, 1.0, 0.0] * 4)
    label = np.array([0.5, 0.5, 0.5, 0.25, math.nan] * 4)
    row = AnswerRow(judge=judge, label=label)
    assert same_level(row, step=0.25).value == pytest.approx((1 + 0 + 0.5 + 0) / 4)
    assert same_level(row, step=0.25, within=1).value == pytest.approx((1 + 1 + 1 + 0) / 4)
    assert same_level(first(row, 9), step=0.25) is None
    mean = true_rate(row, Plan(labels=10), passes=False)
    assert mean.planned is None
    said = levels_sentence(
        LevelStanding(
            judge="j",
            same=same_level(row, step=0.25),
            near=same_level(row, step=0.25, within=1),
            mean=mean,
        )
    )
    assert "people's very level on 38 %" in said
    assert "at most one off on 75 %" in said


def test_strata_are_the_judges_verdicts():
    assert verdict_strata(np.repeat([0.0, 1.0], 10)).tolist() == [0] * 10 + [1] * 10
    assert not verdict_strata(np.repeat([0.0, 1.0], [9, 30])).any()
    assert not verdict_strata(np.repeat([0.0, 1.0], [5, 5])).any()


def test_answers_that_cannot_be():
    with pytest.raises(InvalidOption):
        AnswerRow(judge=np.ones(2), label=np.ones(3))
    with pytest.raises(InvalidOption):
        AnswerRow(judge=np.array([2.0]), label=np.ones(1))


@pytest.mark.thorough
def test_rates_by_verdict_hold_and_no_order_needs_fewer_labels():
    """Where the judge fails few: half of the labels on these shows TNR no sooner."""
    draws = 400
    answers = simulated.RareFailures(n=2_000, fails=160, failed=(144, 37))
    for share in simulated.ORDERS.values():
        held = simulated.held_by_verdict(answers, 100, share, draws, seeded())
        assert (held >= 0.93).all()
    plain, by_verdict, half = (
        int(simulated.smallest_plan(answers, share, draws, seeded(), by_verdict=weighed))
        for share, weighed in ((None, False), (None, True), (0.5, True))
    )
    assert by_verdict < half < plain


@pytest.mark.thorough
def test_a_judge_at_its_limit_is_seldom_called_anything_and_what_is_shown_holds_always():
    """Two standard errors of 120 draws are allowed."""
    draws = 120
    slack = 2 * math.sqrt(0.05 * 0.95 / draws)
    for exact in (
        simulated.Answers(n=300, passes=0.7, tpr=0.6, tnr=0.6),
        simulated.Answers(n=300, passes=0.8, tpr=0.95, tnr=0.6),
    ):
        _, wrong, held = simulated.graded_answers(exact, Plan(labels=100), draws, seeded(), 160)
        assert wrong.mean() <= 0.05 + slack
        assert (held[:, :3].mean(axis=0) >= 0.95 - slack).all()
