"""Sections of the Overview page: the answer, every rater in a row, the worst findings, every check of one."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from core.aggregation.rules import dummies
from core.auditing import Audit, JudgeAudit
from core.interpretation.verdicts import Verdict, answer, overall, worst
from core.reporting.html import SIGNS
from core.schema import Selection
from core.stats.estimate import Estimate
from pages.shared import cached, widgets

FIRST = 8
"""Raters whose worst findings are in view; those of more are folded."""
PAGES = {
    "accuracy": "confusion.py",
    "calibration": "calibration.py",
    "overconfidence": "calibration.py",
    "position": "position.py",
    "ties": "aggregation.py",
    "repeatability": "agreement.py",
    "agreement": "agreement.py",
    "data": "data.py",
}
"""The page that explains a check."""


def summary(found: Audit) -> tuple[str, Literal["finding", "warning"]]:
    """Who can be trusted, and who is right most often; a warning if any rater has a finding."""
    measured = [(judge.judge, judge.accuracy) for judge in found.judges if judge.accuracy]
    right = ""
    if measured:
        name, share = max(measured, key=lambda each: each[1].value)
        who = "It" if len(found.judges) == 1 else f"Most often right is {name}: it"
        right = (
            f" {who} agrees with gold in {share.value:.1%} of votes ({share.low:.1%} to {share.high:.1%})."
        )
    problems = any(overall(checks) in ("warn", "fail") for checks in _by_judge(found).values())
    return answer(found.verdicts) + right.replace("%", " %"), "warning" if problems else "finding"


def _by_judge(found: Audit) -> dict[str, list[Verdict]]:
    return {judge.judge: [v for v in found.verdicts if v.judge == judge.judge] for judge in found.judges}


def raters_section(found: Audit, selection: Selection) -> None:
    """The table of raters, baselines that judge without looking among them."""
    verdicts = _by_judge(found)
    rows = [_judge_row(judge, verdicts[judge.judge]) for judge in found.judges]
    baselines = dummies(cached.vote_counts(selection), cached.length_counts(selection))
    rows += [_row(name, "dummy", "baseline", one.n, one) for name, one in baselines.items()]
    frame = pd.DataFrame(rows)
    numbers = [str(column) for column in frame if not str(column).startswith("finding")]
    widgets.table(frame, "raters", alt="Raters and their verdicts", columns=numbers)


def _row(name: str, kind: str, verdict: str, votes: int, accuracy: Estimate | None) -> dict[str, object]:
    row: dict[str, object] = {"rater": name, "kind": kind, "verdict": verdict, "votes": votes}
    ends = (accuracy.value, accuracy.low, accuracy.high) if accuracy else (None, None, None)
    return row | dict(zip(("accuracy", "low", "high"), ends, strict=True))


def _judge_row(judge: JudgeAudit, verdicts: list[Verdict]) -> dict[str, object]:
    grade, calibration, position = overall(verdicts), judge.calibration, judge.position
    row = _row(judge.judge, judge.rater_type, f"{SIGNS[grade]} {grade}", judge.votes.n, judge.accuracy)
    row["ECE"] = calibration.ece if calibration else None
    row["flips"] = position.flip_rate.value if position and position.flip_rate else None
    return row | {f"finding {i + 1}": verdict.sentence for i, verdict in enumerate(worst(verdicts))}


def findings_section(found: Audit) -> None:
    """The worst findings of each rater that has some."""
    faulted = {judge: checks for judge, checks in _by_judge(found).items() if worst(checks)}
    if faulted:
        st.subheader("Worst findings", anchor=False)
    names = list(faulted)
    for judge in names[:FIRST]:
        _findings(judge, faulted[judge])
    if names[FIRST:]:
        with st.expander(f"Worst findings of {len(names) - FIRST} more"):
            for judge in names[FIRST:]:
                _findings(judge, faulted[judge])


def _findings(judge: str, verdicts: list[Verdict]) -> None:
    """In full: a cell of a table would cut them."""
    who, what = st.columns([2, 9])
    who.text(f"{SIGNS[overall(verdicts)]} {judge}")
    what.text("\n".join(verdict.sentence for verdict in worst(verdicts)))


def checks_section(found: Audit) -> None:
    """Every check of one rater, each with a link to the page that explains it."""
    verdicts = _by_judge(found)
    chosen = st.selectbox("Every check of", list(verdicts), key="checked", bind=widgets.URL)
    for verdict in verdicts.get(chosen or "", []):
        grade, sentence, link = st.columns([1, 9, 2])
        grade.text(f"{SIGNS[verdict.verdict]} {verdict.verdict}")
        sentence.text(verdict.sentence)
        if verdict.check in PAGES:
            with link:
                page = PAGES[verdict.check]
                widgets.goto(f"See {verdict.check}", page, key=f"go-{verdict.check}", judges=[verdict.judge])
