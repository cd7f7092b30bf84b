"""Labels in random order, a wealth that may be looked at after each, and what they show."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import ville
from draws import seeded
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import labelling as simulated
from core.errors import InvalidOption
from core.labelling.people import corrected_accuracy, doubtful, repeatability
from core.labelling.rate import anytime_rate, weights
from core.labelling.verdict import GRID, LabelledRow, Plan, forecast, standing
from core.labelling.wealth import STAKES, Wealth, log_needed, row_path, strata, wealth_path

LIMITS = (0.70, 0.60)


def row(credit, *, items=None, stratum=None, undecided=()) -> LabelledRow:
    credit = np.asarray(credit, dtype=float)
    doubt = np.zeros(len(credit), dtype=bool)
    doubt[list(undecided)] = True
    return LabelledRow(
        stratum=np.zeros(items or len(credit), dtype=np.int64) if stratum is None else stratum,
        credit=credit,
        undecided=doubt,
    )


def test_ville_agrees_on_sampling_with_replacement():
    """Of endless items without strata each stake is the bet of `BettingTest` with that cut."""
    rng, endless = seeded(), np.array([[10**12]])
    x = (rng.random(40) < 0.8).astype(float)
    for limit, few in itertools.product((0.5, 0.6, 0.7), STAKES[:4]):
        bets = Wealth(endless, np.array([limit]))
        theirs = {
            side: ville.BettingTest(limit, alternative=side, c=few).fit(x)
            for side in ("greater", "less")
        }
        for t, label in enumerate(x):
            bets.add(np.array([[label]]), np.zeros(1, dtype=np.int64))
            place = STAKES.index(few)
            for side, wealth in (("greater", bets._up), ("less", bets._down)):
                own = wealth[0, 0, place]
                # Their bets shrink with time; as long as the cut binds they are ours.
                if few <= 0.12 or t < 6:
                    assert own == pytest.approx(theirs[side].log_e_values_[t], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("stratum", [(0, 0, 0, 0, 0, 0), (0, 1, 0, 1, 1, 0)])
@pytest.mark.parametrize("right", [1, 2, 3, 5])
def test_nobody_wins_on_average_where_the_limit_is_the_truth(right, stratum):
    """Over all orders of a small population the mean wealth is never above the stake."""
    x = np.array([1.0] * right + [0.0] * (6 - right))
    orders = np.array(list(itertools.permutations(range(6))))
    cells = np.array(stratum)
    sizes = np.repeat(np.bincount(cells)[None, :], len(orders), axis=0)
    path = wealth_path(x[orders], cells[orders], sizes, np.array([right / 6]))
    for logs in (path.up, path.down):
        mean = np.exp(logs[:, :, 0]).mean(axis=0)
        assert (mean <= 1 + 1e-9).all()
        assert mean[0] == pytest.approx(1)


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=20, max_size=60),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=25)
def test_all_labels_tell_the_mean_itself(credit, seed):
    """When every item is labelled both bets have ended, on the side where the mean is."""
    x, rng = np.array(credit), np.random.default_rng(seed)
    cells = rng.integers(0, 3, len(x))
    bets = Wealth(np.bincount(cells, minlength=3)[None, :], GRID)
    for value, cell in zip(x, cells, strict=True):
        bets.add(np.array([[value]]), np.array([cell]))
    off = np.abs(x.mean() - GRID) > 1e-6
    assert (np.isinf(bets.up[0]) & (bets.up[0] > 0))[off].tolist() == (x.mean() > GRID)[
        off
    ].tolist()
    assert (bets.down[0] == np.inf)[off].tolist() == (x.mean() < GRID)[off].tolist()


@given(st.integers(20, 60), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_a_row_at_once_is_the_same_as_label_by_label(n, seed):
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 3, n)
    sizes = np.bincount(cells, minlength=3)
    x = rng.choice([0.0, 0.5, 1.0], (n, 1)) * np.ones(len(GRID))
    up, down = row_path(x, cells, sizes, GRID)
    bets = Wealth(sizes[None, :], GRID)
    for t in range(n):
        bets.add(x[None, t], cells[t : t + 1])
        assert np.allclose(up[t], bets.up[0], atol=1e-9)
        assert np.allclose(down[t], bets.down[0], atol=1e-9)
    last = row_path(x, cells, sizes, GRID, last_only=True)
    assert np.allclose(last[0][0], up[-1], atol=1e-9)
    assert np.allclose(last[1][0], down[-1], atol=1e-9)


@given(st.integers(1, 80), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_strata_have_ten_items_each(n, seed):
    rng = np.random.default_rng(seed)
    stratum = strata(rng.uniform(-1, 1, n), rng.uniform(-1, 1, n))
    sizes = np.bincount(stratum)
    assert len(sizes) <= 4
    assert len(sizes) == 1 or sizes.min() >= 10
    assert not strata(np.ones(n)).any()


def test_ten_labels_before_anything_is_said_and_a_verdict_stays():
    right = standing(row([1.0] * 9, items=400), Plan(labels=None), limits=LIMITS)
    assert (right.grade, right.since, right.right) == ("unclear", None, None)
    shown = standing(row([1.0] * 30, items=400), Plan(labels=None), limits=LIMITS)
    assert shown.grade == "ok"
    assert shown.right is not None
    assert shown.right.low > 0.70
    later = standing(row([1.0] * 30 + [0.0] * 40, items=400), Plan(labels=None), limits=LIMITS)
    assert (later.grade, later.since) == ("ok", shown.since)
    planned = standing(row([1.0] * 30, items=400), Plan(labels=200), limits=LIMITS)
    assert planned.since > shown.since
    assert standing(row([0.0] * 30, items=400), Plan(), limits=LIMITS).grade == "fail"


@pytest.mark.thorough
def test_a_tie_of_the_person_moves_no_bet():
    """A tie says nothing of the share of decided labels; it is a label all the same."""
    credit = [1.0] * 12 + [0.0, 1.0] * 4
    plain = standing(row(credit, items=10**6), Plan(labels=None), limits=LIMITS)
    tied = standing(row([*credit, *[math.nan] * 15], items=10**6), Plan(labels=None), limits=LIMITS)
    assert tied.n == plain.n + 15
    assert tied.ties == 15
    assert tied.right == pytest.approx(plain.right) or (
        abs(tied.right.low - plain.right.low) <= 0.01 + 1e-9
        and abs(tied.right.high - plain.right.high) <= 0.01 + 1e-9
    )


def test_more_than_a_tenth_that_cannot_be_told_makes_any_grade_unclear():
    credit = [1.0] * 60
    few = standing(row(credit, items=400, undecided=range(6)), Plan(), limits=LIMITS)
    many = standing(row(credit, items=400, undecided=range(7)), Plan(), limits=LIMITS)
    assert (few.grade, many.grade, many.undecided) == ("ok", "unclear", 7)
    assert many.too_undecided
    assert not few.too_undecided


def test_the_end_of_a_plan_is_looked_at_once():
    """41 of 50 are beyond .70 by the ordinary interval, or are not; after the end it is no more
    looked at.
    """
    credit = ([1.0] * 6 + [0.0]) * 7 + [1.0] * 11
    at_end = standing(row(credit[:60], items=10**6), Plan(labels=60), limits=LIMITS)
    assert at_end.planned is not None
    assert at_end.planned.level == pytest.approx(0.975)
    assert (at_end.grade == "ok") == (at_end.planned.low > 0.70 or not at_end.by_plan)
    before = standing(row(credit[:59], items=10**6), Plan(labels=60), limits=LIMITS)
    assert before.planned is None
    if at_end.by_plan:
        assert before.grade == "unclear"


def test_simulation_and_page_see_the_same_verdict():
    drawn = simulated.sessions(300, 0.85, 6, seeded(), labels=120)
    for plan in (Plan(labels=None), Plan(labels=60)):
        when, side = simulated.first_shown(drawn, 0.70, plan)
        for draw in range(6):
            seen = standing(simulated.row_of(drawn, draw, 120), plan, limits=(0.70, 0.0101))
            assert seen.since == (None if math.isinf(when[draw]) else when[draw])
            assert seen.grade == (
                "unclear" if seen.since is None else "ok" if side[draw] > 0 else "warn"
            )


def test_a_forecast_needs_15_labels_and_knows_a_clear_case():
    credit = [1.0] * 18 + [0.0]
    assert forecast(row(credit[:14], items=500), Plan(), limits=LIMITS, rng=seeded()) is None
    found = forecast(row(credit, items=500), Plan(), limits=LIMITS, rng=seeded())
    assert found.low is not None
    assert found.low <= (found.high or 10**9)
    assert not found.futile
    near = [1.0, 1.0, 0.0] * 40
    hopeless = forecast(row(near, items=500), Plan(labels=140), limits=LIMITS, rng=seeded())
    assert hopeless.futile
    assert hopeless.left == 20


def test_what_two_people_leave_by_hand():
    """With e = .1 two people agree on .82; a judge right on .9 looks right on .82 too."""
    right = np.repeat([1.0, 0.0], [82, 18])
    agrees = np.tile(np.repeat([1.0, 0.0], [41, 9]), 2)
    found = corrected_accuracy(right, agrees)
    assert found.error == pytest.approx(0.1)
    assert found.corrected.value == pytest.approx(0.9)
    assert found.raw.value == pytest.approx(0.82)
    agrees[:60] = np.nan
    assert "needs 50" in corrected_accuracy(right, agrees).reason
    assert "chance" in corrected_accuracy(right, np.tile([1.0, 0.0], 50)).reason


def test_a_person_who_repeats_less_than_nine_of_ten_may_be_the_one_who_errs():
    assert repeatability(9, 10).low == pytest.approx(0.596, abs=0.001)
    noisy = repeatability(12, 30)
    assert [doubtful(g, noisy) for g in ("ok", "warn", "fail")] == ["ok", "unclear", "unclear"]
    assert doubtful("fail", repeatability(9, 10)) == "fail"
    with pytest.raises(InvalidOption):
        repeatability(3, 2)


def test_a_judge_that_never_differs_leaves_the_rate_to_labels():
    rng = seeded()
    y = (rng.random(60) < 0.7).astype(float)
    flat = anytime_rate(y, np.full(300, 0.4))
    assert not weights(y, np.full(60, 0.4)).any()
    bets = Wealth(np.array([[300]]), GRID)
    for label in y:
        bets.add(np.array([[label]]), np.zeros(1, dtype=np.int64))
    kept = GRID[(bets.up[0] < log_needed(0.05)) & (bets.down[0] < log_needed(0.05))]
    # Without strata c is the mean of all: z is the label itself.
    assert (flat.low, flat.high) == pytest.approx((kept[0] - 0.01, kept[-1] + 0.01))
    truth = (rng.random(300) < 0.7).astype(float)
    knows = anytime_rate(truth[:60], truth)
    assert knows.high - knows.low < 0.8 * (flat.high - flat.low)


@pytest.mark.thorough
def test_a_judge_at_the_limit_is_seldom_called_anything():
    """And an ordinary interval looked at as often is wrong in every third session: a test of this
    test.
    """
    rng = seeded()
    for n, ties, plan in ((150, 0.0, None), (400, 0.3, None), (400, 0.0, 100), (1500, 0.0, None)):
        drawn = simulated.sessions(n, 0.7, 400, rng, ties=ties)
        when, _ = simulated.first_shown(drawn, drawn.mean, Plan(labels=plan))
        assert (when < n).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)
    (said, _) = simulated.naive(400, rng)
    assert float(said.split(" of sessions")[0].rsplit(" ", 1)[1]) >= 0.30


@pytest.mark.thorough
def test_a_judge_right_on_nine_of_ten_takes_about_forty_labels():
    rng = seeded()
    for truth, most in ((0.9, 40), (0.55, 82)):
        drawn = simulated.sessions(500, truth, 300, rng)
        when, side = simulated.first_shown(drawn, 0.7, Plan(labels=None))
        assert np.minimum(when, 500).mean() <= most
        assert (np.isfinite(when) & (side != np.sign(truth - 0.7))).mean() <= 0.05


@pytest.mark.thorough
def test_the_anytime_rate_holds_the_truth():
    rng, missed = seeded(), 0
    for _ in range(200):
        truth = (rng.random(300) < 0.8).astype(float)
        judge = np.where(rng.random(300) < 0.85, truth, 1 - truth)
        order = rng.permutation(300)
        y, f = truth[order], judge[order]
        missed += any(
            not (e := anytime_rate(y[:n], f)).low <= truth.mean() <= e.high
            for n in range(20, 200, 12)
        )
    assert missed / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


def test_labels_that_cannot_be():
    with pytest.raises(InvalidOption):
        row([1.0, 2.0])
    with pytest.raises(InvalidOption):
        replace(row([1.0] * 4), stratum=np.zeros(3, dtype=np.int64))
    with pytest.raises(InvalidOption):
        Wealth(np.array([[0]]), np.array([0.5]))
    with pytest.raises(InvalidOption):
        anytime_rate(np.ones(3), np.ones(2))
