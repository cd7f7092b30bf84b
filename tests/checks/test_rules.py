"""Grades from estimates and limits, and overall verdicts from grades: tables of cases."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.auditing.checks import CHECKS, LIMITS
from core.auditing.overall import (
    benjamini_hochberg,
    expected_warnings,
    overall_verdict,
    quoted_level,
)
from core.finding.check import (
    CheckResult,
    Limits,
    grade,
    grade_above_noise,
    grade_quality,
    grade_signed,
    p_value,
)
from core.questions.accuracy.results import BLIND_RULE
from core.questions.agreement.results import CREDIT_BY_PEOPLE, PEOPLE_RATE
from core.stats.estimate import Estimate


def estimate(value, low, high, n=100):
    return Estimate(value, low, high, n=n)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.71, 0.90), "ok"),
        ((0.70, 0.90), "ok"),
        ((0.69, 0.90), "unclear"),
        ((0.55, 0.90), "unclear"),
        ((0.61, 0.69), "warn"),
        ((0.55, 0.69), "warn"),
        ((0.50, 0.60), "warn"),
        ((0.40, 0.59), "fail"),
    ],
)
def test_direction_is_graded_by_its_whole_interval(ends, expected):
    assert grade_quality(estimate(sum(ends) / 2, *ends), LIMITS["accuracy"]).grade == expected


@pytest.mark.parametrize(
    ("ends", "expected"),
    [((0.0, 0.2), "ok"), ((0.1, 0.3), "unclear"), ((0.21, 0.3), "warn"), ((0.41, 0.6), "warn")],
)
def test_stability_warns_at_most(ends, expected):
    assert grade_quality(estimate(sum(ends) / 2, *ends), LIMITS["stability"]).grade == expected


@pytest.mark.parametrize(
    ("check", "ends", "expected"),
    [
        ("position", (0.21, 0.30), "fail"),
        ("position", (-0.30, -0.21), "fail"),
        ("position", (0.01, 0.09), "ok"),
        ("position", (-0.10, 0.10), "ok"),
        ("position", (0.01, 0.12), "warn"),
        ("position", (-0.25, -0.15), "warn"),
        ("position", (-0.05, 0.12), "unclear"),
        ("overconfidence", (0.21, 0.30), "fail"),
        ("overconfidence", (-0.40, -0.25), "warn"),
        ("ties", (0.30, 0.50), "warn"),
        ("own_family", (0.01, 0.06), "warn"),
        ("own_family", (0.11, 0.20), "fail"),
    ],
)
def test_signed_checks(check, ends, expected):
    assert grade_signed(estimate(sum(ends) / 2, *ends), LIMITS[check]).grade == expected


@pytest.mark.parametrize(
    ("value", "ends", "floor", "expected"),
    [
        (0.20, (0.16, 0.25), 0.10, "fail"),
        (0.20, (0.16, 0.25), 0.22, "unclear"),
        (0.161, (0.09, 0.23), 0.154, "warn"),
        (0.159, (0.09, 0.23), 0.162, "unclear"),
        (0.05, (0.00, 0.10), 0.04, "ok"),
        (0.12, (0.05, 0.19), 0.10, "warn"),
    ],
)
def test_calibration_error_against_noise(value, ends, floor, expected):
    limits = LIMITS["calibration"]
    assert grade_above_noise(estimate(value, *ends), floor, limits).grade == expected
    assert grade(estimate(value, *ends), limits, floor_high=floor).grade == expected


def test_too_little_is_unknown():
    for check, limits in LIMITS.items():
        wide = estimate(0.5, 0.4, 0.6, n=limits.items)
        assert grade(wide, limits, floor_high=0.1).grade != "unknown", check
        assert grade(replace(wide, n=limits.items - 1), limits, floor_high=0.1).grade == "unknown"
        assert grade(Estimate(0.5, n=100), limits, floor_high=0.1).grade == "unknown"


def test_unclear_says_how_many_items_decide():
    # Half-width .15 towards the limit, .10 from it: 100·(.15/.10)².
    found = grade_quality(estimate(0.80, 0.65, 0.90), LIMITS["accuracy"])
    assert (found.grade, found.needed_items) == ("unclear", 225)
    found = grade_quality(estimate(0.71, 0.60, 0.80), LIMITS["accuracy"])
    assert (found.grade, found.needed_items) == ("unclear", None)
    # A lean of .02 is settled as small (.08 from the edge) long before it is settled as shown.
    assert grade_signed(estimate(0.02, -0.14, 0.18), LIMITS["position"]).needed_items == 400
    # One of .08 is settled as shown.
    assert grade_signed(estimate(0.08, -0.08, 0.24), LIMITS["position"]).needed_items == 400
    # Beyond caution only 0 is left to exclude.
    assert grade_signed(estimate(0.15, -0.05, 0.35), LIMITS["position"]).needed_items == 178


@given(
    value=st.floats(-1, 1),
    below=st.floats(1e-6, 1),
    above=st.floats(1e-6, 1),
    check=st.sampled_from(sorted(LIMITS)),
    floor=st.floats(0, 0.3),
)
def test_every_estimate_has_one_grade_and_a_narrower_interval_is_never_less_sure(
    value, below, above, check, floor
):
    limits = LIMITS[check]
    wide, narrow = (
        grade(estimate(value, value - k * below, value + k * above), limits, floor_high=floor).grade
        for k in (1, 0.5)
    )
    assert wide in ("ok", "warn", "fail", "unclear")
    assert limits.worst == "fail" or wide != "fail"
    if wide == "ok":
        assert narrow == "ok"
    if wide == "fail":
        assert narrow == "fail"
    if wide == "warn":
        assert narrow in ("ok", "warn", "fail")


def test_limits_are_in_order_and_have_a_reason():
    for check, limits in LIMITS.items():
        assert limits.reason.endswith("."), check
        if limits.failure is not None:
            sign = -1 if limits.shape == "at_least" else 1
            assert sign * limits.failure >= sign * limits.caution, check


NAMES = tuple(check.name for check in CHECKS)
GOOD = dict.fromkeys(NAMES, "ok")


def beside(credit=None, rate=None, rule=None):
    """What the overall verdict asks of the evidence beside results."""
    return {CREDIT_BY_PEOPLE: credit, PEOPLE_RATE: rate, BLIND_RULE: rule}


def results(grades, low):
    return [
        CheckResult(
            judge="j",
            check=name,
            grade=given_grade,
            sentence="…",
            estimate=estimate(0.9, low, 0.95) if name == "accuracy" and low is not None else None,
        )
        for name, given_grade in grades.items()
    ]


PEOPLE = beside(credit=estimate(0.8, 0.7, 0.9), rate=estimate(0.8, 0.75, 0.85))


@pytest.mark.parametrize(
    ("changed", "low", "expected", "because"),
    [
        ({}, 0.80, "trust", ("accuracy", "position", "stability")),
        ({}, 0.75, "trust_with_limits", ("accuracy",)),
        ({"accuracy": "fail"}, 0.4, "do_not_trust", ("accuracy",)),
        ({"position": "fail"}, 0.8, "do_not_trust", ("position",)),
        ({"data": "fail", "accuracy": "unknown"}, None, "do_not_trust", ("data",)),
        ({"agreement": "fail"}, 0.8, "trust_with_limits", ("agreement",)),
        ({"accuracy": "unknown", "agreement": "fail"}, None, "do_not_trust", ("agreement",)),
        ({"accuracy": "unclear"}, 0.59, "cannot_say", ("accuracy",)),
        ({"accuracy": "unknown", "agreement": "unknown"}, None, "cannot_say", ("accuracy",)),
        ({"accuracy": "unclear"}, 0.65, "trust_with_limits", ("accuracy",)),
        ({"accuracy": "unknown", "agreement": "unclear"}, None, "cannot_say", ("agreement",)),
        ({"accuracy": "unknown"}, None, "trust_with_limits", ("agreement",)),
        ({"position": "unknown"}, 0.8, "trust_with_limits", ("position",)),
        ({"accuracy": "unclear", "position": "unknown"}, 0.65, "cannot_say",
         ("accuracy", "position")),
        (dict.fromkeys([name for name in NAMES if name != "data"], "unclear"), 0.65, "cannot_say",
         ("accuracy",)),
        ({"stability": "unclear"}, 0.8, "trust_with_limits", ("stability",)),
        ({"length": "warn", "ties": "warn"}, 0.8, "trust_with_limits", ("ties", "length")),
        ({"length": "fail", "ties": "warn"}, 0.8, "trust_with_limits", ("length", "ties")),
        ({"category": "fail"}, 0.8, "trust_with_limits", ("category",)),
        ({"coin_share": "warn"}, 0.8, "trust_with_limits", ("coin_share",)),
        (dict.fromkeys(("calibration", "length", "own_family", "repeatability"), "unclear"), 0.8,
         "trust", ("accuracy", "position", "stability")),
        (dict.fromkeys(("calibration", "overconfidence", "discrimination"), "fail"), 0.8,
         "trust_with_limits", ("calibration", "overconfidence", "discrimination")),
    ],
)  # fmt: skip
def test_overall(changed, low, expected, because):
    decided = overall_verdict(PEOPLE, results(GOOD | changed, low))
    assert (decided.verdict, decided.because) == (expected, because)
    assert decided.unchecked == tuple(name for name in NAMES if changed.get(name) == "unknown")


@pytest.mark.parametrize(
    ("credit", "rate"),
    [
        (estimate(0.80, 0.70, 0.90), estimate(0.59, 0.55, 0.63)),
        (estimate(0.80, 0.70, 0.90), estimate(0.70, 0.49, 0.90)),
        (estimate(0.70, 0.59, 0.81), estimate(0.80, 0.75, 0.85)),
        (None, estimate(0.80, 0.75, 0.85)),
        (estimate(0.80, 0.70, 0.90), None),
    ],
    ids=["few agree", "not shown to agree", "judge is not right", "nothing shared", "no people"],
)
def test_people_stand_for_gold_only_where_they_agree_and_the_judge_says_what_they_say(credit, rate):
    grades = GOOD | {"accuracy": "unknown"}
    decided = overall_verdict(beside(credit=credit, rate=rate), results(grades, None))
    assert (decided.verdict, decided.because) == ("cannot_say", ("agreement",))


def test_people_at_chance_fail_nobody():
    grades = GOOD | {"accuracy": "unknown", "agreement": "fail"}
    chance = beside(credit=estimate(0.3, 0.2, 0.4), rate=estimate(0.5, 0.45, 0.55))
    assert overall_verdict(chance, results(grades, None)).verdict == "cannot_say"
    # Position still decides.
    grades["position"] = "fail"
    assert overall_verdict(chance, results(grades, None)).verdict == "do_not_trust"


def test_what_was_not_checked_caps_the_verdict():
    grades = dict.fromkeys(NAMES, "unknown") | {"accuracy": "ok"}
    decided = overall_verdict(beside(), results(grades, 0.9))
    assert decided.verdict == "trust_with_limits"
    assert decided.because == ("position", "stability")
    assert set(decided.unchecked) == set(NAMES) - {"accuracy"}


def test_benjamini_hochberg_equals_scipy():
    from scipy.stats import false_discovery_control

    rng = np.random.default_rng(0)
    for _ in range(50):
        p = np.concatenate([rng.random(20), rng.random(5) * 0.01])
        np.testing.assert_array_equal(benjamini_hochberg(p), false_discovery_control(p) <= 0.05)
    # The example of the paper's table 1: four of fifteen hypotheses at 5 %.
    paper = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    paper += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert benjamini_hochberg(paper).sum() == 4
    assert benjamini_hochberg([]).tolist() == []
    assert benjamini_hochberg([math.nan, 0.04]).tolist() == [False, True]


def test_p_values_agree_with_grades():
    signed, least = LIMITS["position"], LIMITS["accuracy"]
    assert p_value(estimate(0.3, 0.0, 0.6), signed) == pytest.approx(0.05)
    assert p_value(estimate(-0.3, -0.4, -0.2), signed) < 1e-6
    assert p_value(estimate(0.6, 0.5, 0.7), least) == pytest.approx(0.025)
    assert p_value(estimate(0.8, 0.7, 0.9), least) == pytest.approx(0.975)
    assert p_value(estimate(0.0, 0.0, 0.0), LIMITS["stability"]) == 1.0
    assert math.isnan(p_value(Estimate(0.3, n=1), signed))


def test_expected_warnings_and_the_level_that_is_quoted():
    cells = {"position": 40, "accuracy": 40}
    assert expected_warnings(cells) == pytest.approx(3.0)
    assert expected_warnings(cells, level=0.8) == pytest.approx(12.0)
    assert expected_warnings(cells, level=0.99) == pytest.approx(0.6)
    assert quoted_level(3, 60) == pytest.approx(1 - 0.05 * 3 / 60)


def test_a_limit_can_be_changed():
    strict = replace(LIMITS["accuracy"], caution=0.95, failure=0.9)
    assert isinstance(strict, Limits)
    assert grade(estimate(0.8, 0.75, 0.85), strict).grade == "fail"
