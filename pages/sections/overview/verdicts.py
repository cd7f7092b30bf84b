"""Folded sections of the Overview page: every rater in a row, every check of the chosen one in words."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from core.aggregation.rules import dummies
from core.auditing import Audit, JudgeAudit
from core.interpretation.overview import SIGNS
from core.interpretation.summary import (
    GRADE_OF,
    answer,
    because,
    best_supported,
    confidence_line,
    worst,
)
from core.interpretation.verdicts import Verdict
from core.schema import Selection
from core.stats.estimate import Estimate
from pages.shared import cached, widgets

PAGES = {
    "accuracy": "confusion.py",
    "position": "position.py",
    "stability": "position.py",
    "calibration": "calibration.py",
    "overconfidence": "calibration.py",
    "discrimination": "calibration.py",
    "repeatability": "agreement.py",
    "agreement": "agreement.py",
    "ties": "aggregation.py",
    "length": "position.py",
    "own_family": "leaderboard.py",
    "data": "data.py",
}
"""The page that explains a check."""


def summary(found: Audit) -> tuple[str, Literal["finding", "warning"]]:
    """Who can be trusted and which judge is best supported; a warning unless every one can be trusted."""
    people = {judge.judge for judge in found.judges if judge.rater_type == "human"}
    credits = {judge.judge: judge.direction.credit for judge in found.judges if judge.direction}
    best = best_supported(credits, people=people)
    trusted = all(overall.verdict == "trust" for overall in found.overall.values())
    said = " ".join(filter(None, (answer(found.verdicts, found.overall), best)))
    return said, "finding" if trusted else "warning"


def _of(found: Audit, judge: str) -> list[Verdict]:
    return [verdict for verdict in found.verdicts if verdict.judge == judge]


def _sign(found: Audit, judge: str) -> str:
    return SIGNS[GRADE_OF[found.overall[judge].verdict]]


def raters_section(found: Audit, selection: Selection) -> None:
    """The table of raters, baselines that judge without looking among them."""
    rows = [_judge_row(judge, found) for judge in found.judges]
    baselines = dummies(cached.vote_counts(selection), cached.length_counts(selection))
    rows += [_row(name, "dummy", "baseline", one.n) | {"exact": one.value} for name, one in baselines.items()]
    # Of a baseline the items are not known, which would make them fractions.
    frame = pd.DataFrame(rows).astype({"items": "Int64"})
    numbers = [str(column) for column in frame if not str(column).startswith("finding")]
    widgets.table(frame, "raters", alt="Raters and their verdicts", columns=numbers)


def _row(name: str, kind: str, verdict: str, votes: int, credit: Estimate | None = None) -> dict[str, object]:
    row: dict[str, object] = {"rater": name, "kind": kind, "verdict": verdict, "votes": votes}
    ends = (credit.value, credit.low, credit.high, credit.n) if credit else (None,) * 4
    return row | dict(zip(("right", "low", "high", "items"), ends, strict=True))


def _judge_row(judge: JudgeAudit, found: Audit) -> dict[str, object]:
    name, calibration, position = judge.judge, judge.calibration, judge.position
    verdict = f"{_sign(found, name)} {found.overall[name].verdict.replace('_', ' ')}"
    credit = judge.direction.credit if judge.direction else None
    row = _row(name, judge.rater_type, verdict, judge.votes.n, credit)
    row["exact"] = judge.accuracy.value if judge.accuracy else None
    row["ECE"] = calibration.ece if calibration else None
    row["AUROC"] = judge.discrimination.value if judge.discrimination else None
    row["flips"] = position.flip_rate.value if position and position.flip_rate else None
    findings = worst(_of(found, name))
    return row | {f"finding {i + 1}": verdict.sentence for i, verdict in enumerate(findings)}


def checks_section(found: Audit, chosen: str) -> None:
    """The verdict on the chosen judge in words, and every check with a link to the page that explains it."""
    own = _of(found, chosen)
    st.text(f"{because(chosen, found.overall[chosen], own)} {confidence_line(own)}")
    for verdict in own:
        grade, sentence, link = st.columns([1, 9, 2])
        grade.text(f"{SIGNS[verdict.verdict]} {verdict.verdict}")
        sentence.text(verdict.sentence)
        with link:
            check, page = verdict.check, PAGES[verdict.check]
            widgets.goto(f"See {check.replace('_', ' ')}", page, key=f"go-{check}", judges=[verdict.judge])
