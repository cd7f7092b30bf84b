"""Overview in brief: grades, worst findings, what is missing, and the dummies against a plain
count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from evidence_of import evidence_of

from core.auditing.card import card
from core.auditing.checks import BY_NAME, CHECKS, LIMITS
from core.auditing.overall import (
    Overall,
    because,
    best_sentence,
    confidence_line,
    missing,
    overall_verdict,
    what_to_do,
    worst,
)
from core.finding.check import CheckResult, Grade
from core.finding.wording import enumerated
from core.questions.accuracy.results import BLIND_RULE
from core.questions.agreement.results import CREDIT_BY_PEOPLE, PEOPLE_RATE
from core.questions.agreement.words import _repeats
from core.questions.labels.rules import dummies
from core.records import NO_GOLD, LengthCounts, VoteCounts
from core.stats.estimate import Estimate

BESIDE: Any = dict.fromkeys((BLIND_RULE, PEOPLE_RATE, CREDIT_BY_PEOPLE))
"""What the overall verdict asks beside results: nothing against these judges."""


def checks(judge: str = "j", **grades: Grade) -> list[CheckResult]:
    return [
        CheckResult(
            judge=judge,
            check=check.name,
            grade=grades.get(check.name, "ok"),
            sentence=f"{check.name} of {judge}.",
            estimate=None
            if grades.get(check.name) == "unknown"
            else Estimate(0.85, 0.8, 0.9, n=100),
        )
        for check in CHECKS
    ]


def test_worst_puts_fails_first() -> None:
    found = worst(checks(accuracy="warn", data="fail", ties="warn", position="warn"))
    assert [result.check for result in found] == ["data", "accuracy", "position"]


def graded(*judges: list[CheckResult]) -> tuple[list[CheckResult], dict[str, Overall]]:
    overall = {own[0].judge: overall_verdict(BESIDE, own) for own in judges}
    return [result for own in judges for result in own], overall


def test_answer_counts_raters_and_names_the_best_and_the_failed() -> None:
    said = best_sentence(
        *graded(
            checks("a"),
            checks("b", ties="warn"),
            checks("c", position="fail"),
            checks("d", ties="warn"),
        )
    )
    assert said == (
        "4 raters: a may decide; 2 may be used with limits; c is not for decisions. 2 warnings in "
        "76 checks; up to 3 expected if no judge had any fault."
    )
    many = graded(*(checks(name, position="fail") for name in "abcd"))
    assert best_sentence(*many) == "4 raters: 4 is not for decisions."


def test_the_answer_of_one_says_what_decided_and_what_was_not_checked() -> None:
    said = best_sentence(*graded(checks("c", position="fail", length="unknown")))
    assert said == (
        "c: not to be used (18 of 19 checks made): position bias fails. Not checked: preference "
        "for length. position of c."
    )
    said = best_sentence(*graded(checks("c", accuracy="unknown", agreement="unknown")))
    assert said.startswith(
        "c: cannot say yet (17 of 19 checks made): accuracy is unknown. Not checked: accuracy"
    )


def test_confidence_has_a_line_of_its_own() -> None:
    assert confidence_line(checks()) == "Its confidence is usable."
    assert confidence_line(checks(calibration="warn")) == "Its confidence is not usable as it is."
    assert confidence_line(checks(discrimination="unclear")) == (
        "Whether its confidence is usable is unknown."
    )
    assert overall_verdict(BESIDE, checks(calibration="fail")).verdict == "trust_with_limits"


def test_what_makes_no_sense_is_not_named_as_unchecked() -> None:
    found = checks(agreement="unknown")
    assert overall_verdict(BESIDE, found).unchecked == ("agreement",)
    found = [replace(r, applicable=False) if r.check == "agreement" else r for r in found]
    assert overall_verdict(BESIDE, found).unchecked == ()


def test_missing_names_the_need_once_with_its_raters() -> None:
    verdicts = checks("a", calibration="unknown", overconfidence="unknown") + checks(
        "b", calibration="unknown"
    )
    assert missing(verdicts) == (
        "Calibration and overconfidence for 2 raters: add a confidence with each vote, and gold "
        "labels.",
    )
    assert missing(checks()) == ()


def test_missing_asks_for_the_gap_and_not_for_what_is_there() -> None:
    """28 items with a confidence where 30 are graded lack 2, not 30."""
    few = BY_NAME["calibration"].graded(evidence_of(), Estimate(0.1, 0.0, 0.2, n=28), figures="…")
    assert (few.grade, few.more_items) == ("unknown", LIMITS["calibration"].items - 28)
    one = BY_NAME["position"].graded(evidence_of(), Estimate(0.1, n=1))
    assert missing([few, one]) == (
        "Calibration: add 2 more items with a confidence and gold labels.",
        "Position bias: add 9 more items asked in both orders.",
    )
    unclear = BY_NAME["accuracy"].graded(evidence_of(), Estimate(0.8, 0.65, 0.9, n=100))
    assert unclear.needed_items is not None
    found = [unclear if r.check == "accuracy" else r for r in checks("j")]
    said = card(
        "j", Overall(verdict="cannot_say", because=("accuracy",), unchecked=()), found, ()
    ).advice
    assert said == (
        f"Add about {unclear.needed_items - 100} more items with gold labels, "
        "to settle whether accuracy is good enough.",
    )


def test_what_keeps_a_grade_open_is_what_is_to_be_done() -> None:
    results = [
        replace(result, remedy="Ask others." if result.check == "accuracy" else None)
        for result in checks(accuracy="unclear")
    ]
    overall = overall_verdict(BESIDE, results)
    of = {result.check: result for result in results}
    assert "Ask others." in what_to_do(overall, of)
    at_a_limit = {check: replace(result, remedy=None) for check, result in of.items()}
    assert any(
        "whether accuracy is good enough" in said for said in what_to_do(overall, at_a_limit)
    )


def test_how_many_repeat_themselves_is_said_in_the_singular_too() -> None:
    def said(*grades: Grade) -> str:
        found = {
            name: {r.check: r for r in checks(name, repeatability=grade)}
            for name, grade in zip("abc", grades, strict=False)
        }
        return _repeats(found)

    assert said("unclear") == "a is not shown to repeat itself"
    assert said("unclear", "unclear") == "None of two judges is shown to repeat itself"
    assert said("ok", "unclear") == "One of two judges is shown to repeat itself"
    assert said("ok", "ok", "unclear") == "Two of three judges are shown to repeat themselves"


def test_a_judge_that_passes_is_said_to_pass_what_could_be_checked() -> None:
    found = checks("c", length="unknown", agreement="unknown")
    verdict = overall_verdict(BESIDE, found)
    assert because("c", verdict, found) == (
        "c passes the 17 checks that could be made; 2 could not. Not checked: agreement, "
        "preference for length."
    )
    every = checks("c")
    assert because("c", overall_verdict(BESIDE, every), every) == (
        "c passes the 19 checks that could be made."
    )


def test_a_confidence_that_is_merely_too_low_is_recalibrated() -> None:
    def stated(gap: Estimate, **grades: Grade) -> list[CheckResult]:
        return [
            replace(r, estimate=gap) if r.check == "overconfidence" else r
            for r in checks(calibration="warn", **grades)
        ]

    low = Estimate(-0.10, -0.13, -0.07, n=300)
    assert confidence_line(stated(low, overconfidence="warn")) == (
        "Its confidence is too low by 10.0 points: recalibrate."
    )
    for said in (
        stated(low, discrimination="warn"),
        stated(Estimate(0.10, 0.07, 0.13, n=300), overconfidence="warn"),
        stated(Estimate(-0.02, -0.05, 0.01, n=300)),
    ):
        assert confidence_line(said) == "Its confidence is not usable as it is."


def votes(comparison: list[int], gold: list[int]) -> VoteCounts:
    one = np.ones(len(gold), np.int64)
    return VoteCounts(
        comparison=np.array(comparison), item=np.array(comparison), plus=one, tie=0 * one, minus=0 * one,
        gold=np.array(gold),
    )  # fmt: skip


def test_dummies_count_each_comparison_once() -> None:
    """Gold of six comparisons: + + + 0 - and one unknown; two judges share four of them."""
    counts = {
        "a": votes([0, 1, 2, 3], [1, 1, 1, 0]),
        "b": votes([1, 2, 3, 4, 5], [1, 1, 0, -1, NO_GOLD]),
    }
    one = np.ones(3, np.int64)
    lengths = {
        "a": LengthCounts(
            comparison=np.array([0, 1, 3]), item=np.array([0, 1, 3]), gold=np.array([1, -1, 0]),
            longer=one, shorter=0 * one, tie=0 * one,
        )
    }  # fmt: skip
    constant, random, longest = dummies(counts, lengths).values()
    assert (constant.value, constant.n) == (pytest.approx(3 / 5), 5)
    assert constant.low < 3 / 5 < constant.high
    assert random.value == pytest.approx(1 / 3)
    assert (longest.value, longest.n) == (pytest.approx(1 / 3), 3)


def test_no_dummies_without_gold() -> None:
    assert dummies({"a": votes([0], [NO_GOLD])}, {}) == {}
    assert dummies({}, {}) == {}


def test_names_in_a_row_are_parted_by_commas_and_a_last_and() -> None:
    rows = [["a"], ["a", "b"], ["a", "b", "c"], []]
    assert [enumerated(row) for row in rows] == ["a", "a and b", "a, b and c", ""]
