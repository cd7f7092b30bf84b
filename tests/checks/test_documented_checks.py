"""docs/verdicts.md lists the checks as they are: `APPELLATE_WRITE_CHECKS=1` writes the table anew."""

import os

import pytest
from places import REPOSITORY

from core.auditing.checks import CHECKS, SCORE_CHECKS
from core.finding.check import Limits

DOCUMENT = REPOSITORY / "docs" / "verdicts.md"
HEAD = "| check | question | caution | failure | items |\n|---|---|--:|--:|--:|\n"
SIDES = {"at_least": "≥\u00a0", "at_most": "≤\u00a0", "signed": "±", "above_noise": "≤\u00a0"}


def row(name: str, question: str, limits: Limits) -> str:
    caution = f"{SIDES[limits.shape]}{limits.written(limits.caution)}"
    failure = "never"
    if limits.failure is not None:
        side = "" if limits.shape != "signed" else "±"
        side = "+" if limits.failing_side == "above" else side
        failure = f"{side}{limits.written(limits.failure)}"
        failure += ", a warning at most" if limits.worst == "warn" else ""
    return f"| {name} | {question} | {caution} | {failure} | {limits.items} |\n"


def table() -> str:
    """A row per check, and one per part of a check that has limits of its own; what judges of pairs
    and of single answers have alike stands once.
    """
    rows = []
    for check in (*CHECKS, *SCORE_CHECKS):
        rows.append(row(check.name.replace("_", " "), check.question, check.limits))
        rows += [
            row(f"— `{part}`", limits.reason, limits) for part, limits in check.more_limits.items()
        ]
    return HEAD + "".join(dict.fromkeys(rows))


def test_the_document_lists_every_check_with_its_limits():
    text = DOCUMENT.read_text(encoding="utf-8")
    start = text.index(HEAD.partition("\n")[0])
    end = text.index("\n\n", start) + 1
    if os.environ.get("APPELLATE_WRITE_CHECKS"):
        DOCUMENT.write_text(text[:start] + table() + text[end:], encoding="utf-8")
        return
    assert text[start:end] == table()


@pytest.mark.parametrize("checks", [CHECKS, SCORE_CHECKS])
def test_no_two_checks_of_a_judge_have_one_head(checks) -> None:
    heads = [check.title for check in checks]
    assert sorted(heads) == sorted(set(heads))
