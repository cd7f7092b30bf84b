"""Judges of lists in every output: as JSON, as lines of text, as a section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ...finding.answer import Answer
from ...finding.fields import estimate, estimated
from ...finding.question import Finding, Heading, OfAll, Paragraph, Part, Question, Section, Table
from ...finding.tables import TEXT, Column
from ...finding.wording import count
from ...stats.estimate import Estimate
from .method import COMPONENTS, Improvement, Pooled, pooled_improvements
from .results import RANKINGS, ListwiseAudit
from .words import ACCURACY, FLAGGED, ORDERS, SLOTS, pooled_answer, without_slots

COUNTS = ("category", "n", "improved", "regressed", "p_value", "chance")
RATES = ("direct", "single", "consensus", "gain")


def _right_by(part: str) -> Column:
    def right(audit: ListwiseAudit) -> Estimate | None:
        return next((each.right for each in audit.parts if each.part == part), None)

    return Column(part, right, ends=(f"{part} low", f"{part} high"))


PARTS = (Column("judge", "judge", TEXT), *map(_right_by, (*COMPONENTS, "all")))


def _lines(finding: Finding) -> Iterator[str]:
    """What order does to each judge and what pooling orders gains, then all judges together."""
    audits = finding[RANKINGS]
    if not audits:
        return
    rankings = sum(each.lists for each in audits)
    yield f"Listwise: {count(len(audits), 'judge')}, {count(rankings, 'ranking')}"
    for each in audits:
        yield f"  {each.headline}"
        if each.figures:
            yield f"    {each.figures}"
    if together := _together(audits):
        yield from (f"  {together.headline}", f"    {together.figures}")


def _over_judges(audits: Sequence[ListwiseAudit]) -> Pooled | None:
    """The paper's pooled row; None with fewer than two judges whose best is known."""
    return pooled_improvements(each.improvements for each in audits if each.improvements)


def _together(audits: Sequence[ListwiseAudit]) -> Answer | None:
    row = _over_judges(audits)
    return None if row is None else pooled_answer(row)


def _section(finding: Finding) -> Iterator[Part]:
    audits = finding[RANKINGS]
    for each in audits:
        yield Heading(each.headline)
        if each.figures:
            yield Paragraph(each.figures)
        yield Paragraph(without_slots(each.corrected))
        if each.improvements is not None:
            rows = (*each.improvements.by_category, each.improvements.overall)
            yield Table("Right by category", ACCURACY, rows)
        if each.sweep is not None:
            yield Table("Right by number of orders", ORDERS, each.sweep.rows)
        if each.sensitivity is not None:
            yield Table("First places by slot", SLOTS, each.sensitivity.slots)
        if each.flagged:
            yield Table("Faults that it flags in who wins", FLAGGED, each.flagged)
    if any(each.parts for each in audits):
        with_parts = [each for each in audits if each.parts]
        yield Table("Right by each part of the consensus alone, and by all", PARTS, with_parts)
    if together := _together(audits):
        yield Heading(together.headline)
        yield Paragraph(together.figures)


def _document(audit: ListwiseAudit) -> dict[str, Any]:
    """The judge's part of the JSON."""

    def improvement(part: Improvement) -> dict[str, Any]:
        rates = {name: estimated(getattr(part, name)) for name in RATES}
        return {name: getattr(part, name) for name in COUNTS} | rates

    sensitivity, improved, corrected = audit.sensitivity, audit.improvements, audit.corrected
    return {
        "items": audit.items,
        "rankings": audit.lists,
        "orders": audit.orders,
        "order_decides": estimate(sensitivity.changed if sensitivity else None),
        "slots": [
            {
                "slot": slot.slot,
                "first": estimated(slot.win),
                "expected": slot.expected,
                "pull": estimated(slot.pull),
                "log_odds": corrected.slots[slot.slot],
            }
            for slot in (sensitivity.slots if sensitivity else ())
        ],
        "improvement": None
        if improved is None
        else {
            "overall": improvement(improved.overall),
            "by_category": [improvement(part) for part in improved.by_category],
            "macro_direct": improved.macro_direct,
            "macro_consensus": improved.macro_consensus,
        },
        "by_orders": [
            {
                "orders": row.k,
                "right": estimated(row.accuracy),
                "gain": estimated(row.gain),
                "majority_error": row.majority_error,
                "bound": row.bound,
            }
            for row in (audit.sweep.rows if audit.sweep else ())
        ],
        "parts": {
            part.part: {
                "right": estimated(part.right),
                "change": estimated(part.change),
                "winners": part.winners,
            }
            for part in audit.parts
        },
        "flagged": {
            flag.fault: {
                "consensus": estimated(flag.consensus),
                "direct": estimated(flag.direct),
                "change": estimated(flag.change),
                "all": flag.all,
            }
            for flag in audit.flagged
        },
        "slot_corrected": {
            "plurality": estimate(corrected.plurality),
            "right": estimate(corrected.right),
            "change": estimate(corrected.change),
            "gain": estimate(corrected.gain),
            "ridge": corrected.ridge,
        },
    }


def _pooled_document(finding: Finding) -> dict[str, Any] | None:
    row = _over_judges(finding[RANKINGS])
    return None if row is None else asdict(row)


QUESTION = Question(
    name="lists",
    place=120,
    title="Judges of lists",
    of_all=OfAll(
        results=(RANKINGS,),
        document={
            "listwise": lambda finding: {each.judge: _document(each) for each in finding[RANKINGS]},
            "listwise_pooled": _pooled_document,
        },
        above=_lines,
        sections=(Section(place=20, key="listwise", title="Judges of lists", parts=_section),),
    ),
)
