"""Overview in brief: grades, worst findings, what is missing, and the dummies against a plain count."""

from __future__ import annotations

import numpy as np
import pytest

from core.aggregation.rules import dummies
from core.interpretation.verdicts import CHECKS, Grade, Verdict, answer, missing, overall, worst
from core.records import NO_GOLD, LengthCounts, VoteCounts


def checks(judge: str = "j", **grades: Grade) -> list[Verdict]:
    return [
        Verdict(judge=judge, check=check, verdict=grades.get(check, "ok"), sentence=f"{check} of {judge}.")
        for check in CHECKS
    ]


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ({}, "ok"),
        ({"ties": "warn"}, "warn"),
        ({"ties": "warn", "position": "fail"}, "fail"),
        ({"accuracy": "unknown"}, "unknown"),
        ({"accuracy": "unknown", "position": "fail"}, "fail"),
        ({"calibration": "unknown"}, "ok"),
    ],
)
def test_overall(grades: dict[str, Grade], expected: str) -> None:
    assert overall(checks(**grades)) == expected


def test_worst_puts_fails_first() -> None:
    found = worst(checks(accuracy="warn", data="fail", ties="warn", position="warn"))
    assert [verdict.check for verdict in found] == ["data", "accuracy", "position"]


def test_answer_counts_raters() -> None:
    verdicts = (
        checks("a") + checks("b", ties="warn") + checks("c", position="fail") + checks("d", ties="fail")
    )
    assert answer(verdicts) == (
        "4 raters: a passes every check that could be made; b needs care; c and d fail a check."
    )
    assert answer(verdicts + checks("e", ties="fail")).endswith("; c, d and e fail a check.")
    assert answer(verdicts + checks("e", ties="fail") + checks("f", ties="fail")).endswith(
        "; 4 fail a check."
    )
    assert answer(checks("c", position="fail")) == "c fails a check. position of c."


def test_answer_says_when_nobody_can_be_told_right() -> None:
    lost = checks("a", accuracy="unknown", data="warn")
    assert answer(lost) == "a needs care. data of a. Whether it is right is unknown."
    both = answer(lost + checks("b", accuracy="unknown", data="warn"))
    assert both == "2 raters: a and b need care. Whether any of them is right is unknown."
    assert "unknown" not in answer(lost + checks("b"))


def test_missing_names_the_need_once_with_its_raters() -> None:
    verdicts = checks("a", calibration="unknown", overconfidence="unknown") + checks(
        "b", calibration="unknown"
    )
    assert missing(verdicts) == (
        "Calibration and overconfidence for 2 raters: add a confidence with each vote, and gold labels, "
        "or more of what is there.",
    )
    assert missing(checks()) == ()


def votes(comparison: list[int], gold: list[int]) -> VoteCounts:
    one = np.ones(len(gold), np.int64)
    return VoteCounts(
        comparison=np.array(comparison), item=np.array(comparison), plus=one, tie=0 * one, minus=0 * one,
        gold=np.array(gold),
    )  # fmt: skip


def test_dummies_count_each_comparison_once() -> None:
    """Gold of six comparisons: + + + 0 - and one unknown; two judges share four of them."""
    counts = {"a": votes([0, 1, 2, 3], [1, 1, 1, 0]), "b": votes([1, 2, 3, 4, 5], [1, 1, 0, -1, NO_GOLD])}
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
