"""Is its confidence worth anything?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from ...finding.answer import Answer
from ...finding.evidence import Evidence
from ...finding.question import Finding, Folded, Part, Picture, Question, Table
from ...finding.tables import TEXT, Column
from . import check
from .calibration_error import by_chance
from .fields import discrimination, kinds, measures
from .results import ALONE, CALIBRATION, DISCRIMINATION, FLOOR, KINDS, RESULTS, TH
from .words import CONFIDENCE, confidence_answer, kind_columns, several_kinds

TOGETHER = 5
"""Judges in one reliability diagram; more could not be distinguished."""
MOST_FAILING = 3
"""Judges in the diagram of those that fail."""
CALIBRATIONS = (
    Column("judge", "judge", TEXT),
    Column("n", "calibration.n", ",d"),
    Column("accuracy", "calibration.accuracy"),
    Column("stated", "calibration.mean_confidence"),
    Column("stated − right", "gap.gap", "+.3f"),
    Column("ECE", "calibration.ece"),
    Column("ECE by chance", "floor.ece.value"),
    Column("by chance up to", lambda each: each.floor and by_chance(each.floor)),
    *(Column(name, f"calibration.{name.lower()}") for name in ("ACE", "MCE", "Brier", "NLL")),
)
TH_SCORES = (
    Column("judge", itemgetter(0), TEXT),
    Column("ε", lambda row: row[1].epsilon, "g"),
    Column("TH-Score", lambda row: row[1].th.value, ".2f"),
    Column("share kept", lambda row: row[1].share),
    Column("accuracy there", lambda row: row[1].accuracy),
    Column("n", lambda row: row[1].n, ",d"),
)
BINS = (
    Column("confidence", lambda row: f"{row[0]:g} to {row[1]:g}", TEXT),
    Column("n", itemgetter(2), ",d"),
    Column("mean stated", itemgetter(3)),
    Column("share right", itemgetter(4)),
)


def _drawn(bins: dict[str, Any], **given: Any) -> Any:
    from .figure import reliability_diagram

    return reliability_diagram(bins, **given)


def _bins(findings: Sequence[Finding]) -> dict[str, Any]:
    """Bins of the reliability diagram of each judge that has a confidence."""
    measured = {each.judge: each[CALIBRATION] for each in findings}
    return {judge: each.reliability for judge, each in measured.items() if each}


def _failed(findings: Sequence[Finding]) -> Picture | None:
    bins = _bins(findings[:MOST_FAILING])
    caption = f"Share right against stated confidence: {', '.join(bins)}"
    return Picture(caption, partial(_drawn, bins)) if bins else None


def _section(findings: Sequence[Finding]) -> Iterator[Part]:
    bins = _bins(findings)
    if not bins:
        return
    measured = [each for each in findings if each[CALIBRATION]]
    yield Table("Stated confidence against what was right", CALIBRATIONS, measured)
    # None nearly empty beside full ones.
    figures = -(-len(bins) // TOGETHER)
    for place in range(figures):
        together = {name: bins[name] for name in list(bins)[place::figures]}
        yield Picture("Share right against stated confidence", partial(_drawn, together))
    rows = [(each.judge, kind) for each in findings for kind in each[KINDS]]
    columns = kind_columns([score.epsilon for score in measured[0][TH]])
    yield Table("Kinds of confidence side by side, never pooled", columns, rows)
    scores = [(each.judge, score) for each in measured for score in each[TH]]
    yield Table("TH-Score, in percent points", TH_SCORES, scores)
    of_each = [
        (name, [*zip(each.low, each.high, each.n, each.confidence, each.accuracy, strict=True)])
        for name, each in bins.items()
    ]
    yield Folded("Bins of the reliability diagrams", BINS, of_each)


def _said(findings: Sequence[Finding]) -> Answer | None:
    """About the judge whose confidence is off most; about people where they alone voted."""
    judges = [each for each in findings if not each.is_person] or findings
    off = {each.judge: each[CALIBRATION] for each in judges}
    measured = [each for each in judges if each[CALIBRATION]]
    if not measured:
        return None

    def error(each: Finding) -> float:
        calibration = off[each.judge]
        return calibration.ece if calibration else 0.0

    worst = max(measured, key=error)
    checks = {each.judge: {name: each.checks[name] for name in CONFIDENCE} for each in measured}
    return confidence_answer(checks, worst.judge, worst[FLOOR])


def _unknown(finding: Finding) -> dict[str, str]:
    reasons: dict[str, str] = {}
    measured = finding[CALIBRATION]
    for result in (measured, *finding[TH]):
        reasons |= result.unknown if result else {}
    for kind in finding[KINDS]:
        for score in kind.th:
            reasons |= score.unknown
        if kind.auroc is None or not kind.auroc.has_interval:
            reasons["discrimination of every kind of confidence"] = (
                "too few verdicts are right, or too few wrong"
            )
    return reasons


def _not_separated(finding: Finding) -> dict[str, str]:
    auroc = finding[DISCRIMINATION]
    if auroc is None:
        return {"discrimination": "no verdict has both a confidence and a gold label"}
    if math.isnan(auroc.value):
        why = "all its verdicts are right, or all are wrong"
        return {"discrimination of right and wrong": why}
    if not auroc.has_interval:
        why = "fewer than 5 items have a right verdict, or a wrong one"
        return {"discrimination with an interval": why}
    return {}


def _notes(evidence: Evidence) -> Iterator[str]:
    if evidence.stated is None:
        yield (
            f"{evidence.judge}: no calibration, because no verdict has both a confidence and a "
            "gold label."
        )
    elif (kinds_said := several_kinds(evidence.stated)) is not None:
        yield f"{evidence.judge}: {kinds_said}"


QUESTION = Question(
    name="confidence",
    place=30,
    title="Calibration",
    page="calibration",
    page_place=10,
    section_place=70,
    checks=check.CHECKS,
    results=(*RESULTS, KINDS, ALONE),
    document={"calibration": measures, "confidences": kinds, "discrimination": discrimination},
    notes=_notes,
    unknown={40: _unknown, 90: _not_separated},
    said=_said,
    section=_section,
    failed=dict.fromkeys(CONFIDENCE, _failed),
)
