"""Overview in brief: grades, worst findings, what is missing, and the dummies against a plain
count.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.aggregation.rules import dummies
from core.interpretation.card import card
from core.interpretation.rules import LIMITS, Grade, Overall
from core.interpretation.summary import answer, confidence_line, missing, overall_verdict, worst
from core.interpretation.verdicts import CHECKS, NOT_GRADED, Verdict
from core.interpretation.verdicts import graded as by_limits
from core.records import NO_GOLD, LengthCounts, VoteCounts
from core.stats.estimate import Estimate


def checks(judge: str = "j", **grades: Grade) -> list[Verdict]:
    return [
        Verdict(judge, check, grades.get(check, "ok"), f"{check} of {judge}.", low=0.8)
        for check in CHECKS
    ]


def test_worst_puts_fails_first() -> None:
    found = worst(checks(accuracy="warn", data="fail", ties="warn", position="warn"))
    assert [verdict.check for verdict in found] == ["data", "accuracy", "position"]


def graded(*judges: list[Verdict]) -> tuple[list[Verdict], dict[str, Overall]]:
    overall = {found[0].judge: overall_verdict(found) for found in judges}
    return [verdict for found in judges for verdict in found], overall


def test_answer_counts_raters_and_names_the_best_and_the_failed() -> None:
    said = answer(
        *graded(
            checks("a"),
            checks("b", ties="warn"),
            checks("c", position="fail"),
            checks("d", ties="warn"),
        )
    )
    assert said == (
        "4 raters: a can be trusted on what was checked; 2 can be trusted with limits; "
        "c should not be trusted. 2 warnings in 52 checks; up to 2 expected if no judge had any "
        "fault."
    )
    many = graded(*(checks(name, position="fail") for name in "abcd"))
    assert answer(*many) == "4 raters: 4 should not be trusted."


def test_the_answer_of_one_says_what_decided_and_what_was_not_checked() -> None:
    said = answer(*graded(checks("c", position="fail", length="unknown")))
    assert said == "c should not be trusted: position fails. Not checked: length. position of c."
    said = answer(*graded(checks("c", accuracy="unknown", agreement="unknown")))
    assert said.startswith(
        "c cannot be judged on these votes: accuracy is unknown. Not checked: accuracy"
    )


def test_confidence_has_a_line_of_its_own() -> None:
    assert confidence_line(checks()) == "Its confidence is usable."
    assert confidence_line(checks(calibration="warn")) == "Its confidence is not usable as it is."
    assert confidence_line(checks(discrimination="unclear")).endswith("is not known.")
    assert overall_verdict(checks(calibration="fail")).verdict == "trust_with_limits"


def test_what_makes_no_sense_is_not_named_as_unchecked() -> None:
    found = checks(agreement="unknown")
    assert overall_verdict(found).unchecked == ("agreement",)
    found = [replace(v, sentence=f"{NOT_GRADED}.") if v.check == "agreement" else v for v in found]
    assert overall_verdict(found).unchecked == ()


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
    few = by_limits(
        "j", "calibration", "found", Estimate(0.1, 0.0, 0.2, n=28), LIMITS["calibration"]
    )
    assert (few.verdict, few.more_items) == ("unknown", LIMITS["calibration"].items - 28)
    one = by_limits(
        "j", "position", "found", Estimate(0.1, math.nan, math.nan, n=1), LIMITS["position"]
    )
    assert missing([few, one]) == (
        "Calibration: add 2 more items with a confidence and gold labels.",
        "Position: add 9 more items asked in both orders.",
    )
    unclear = by_limits(
        "j", "accuracy", "found", Estimate(0.8, 0.65, 0.9, n=100), LIMITS["accuracy"]
    )
    assert unclear.needed_items is not None
    found = [unclear if v.check == "accuracy" else v for v in checks("j")]
    said = card(
        "j", Overall(verdict="cannot_say", because=("accuracy",), unchecked=()), found, None
    ).advice
    assert said == (
        f"Add about {unclear.needed_items - 100} more items with gold labels, "
        "to settle whether accuracy is good enough.",
    )


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
