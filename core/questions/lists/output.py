"""Judges of lists in every output: as JSON, as lines of text, as a section of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...auditing.results import ListwiseAudit
from ...finding.answer import Answer
from ...finding.tables import TEXT, Column
from ...finding.wording import count
from ...stats.estimate import Estimate
from .method import COMPONENTS, Improvement, Pooled, pooled
from .words import ACCURACY, FLAGGED, ORDERS, SLOTS, pooled_answer, without_slots

Part = tuple[Any, ...]
Written = Callable[[Estimate], dict[str, Any]]
COUNTS = ("category", "n", "improved", "regressed", "p_value", "chance")
RATES = ("direct", "single", "consensus", "gain")


def _right_by(part: str) -> Column:
    def right(audit: ListwiseAudit) -> Estimate | None:
        return next((each.right for each in audit.parts if each.part == part), None)

    return Column(part, right, ends=(f"{part} low", f"{part} high"))


PARTS = (Column("judge", "judge", TEXT), *map(_right_by, (*COMPONENTS, "all")))


def lines(audits: Sequence[ListwiseAudit]) -> list[str]:
    """What order does to each judge and what pooling orders gains, then all judges together."""
    if not audits:
        return []
    rankings = sum(each.lists for each in audits)
    said = [f"Listwise: {count(len(audits), 'judge')}, {count(rankings, 'ranking')}"]
    for each in audits:
        said += [f"  {each.headline}", *([f"    {each.figures}"] if each.figures else [])]
    together = _together(audits)
    return [*said, f"  {together.headline}", f"    {together.figures}"] if together else said


def over_judges(audits: Sequence[ListwiseAudit]) -> Pooled | None:
    """The paper's pooled row; None with fewer than two judges whose best is known."""
    return pooled(each.improvements for each in audits if each.improvements)


def _together(audits: Sequence[ListwiseAudit]) -> Answer | None:
    found = over_judges(audits)
    return None if found is None else pooled_answer(found)


def section(audits: Sequence[ListwiseAudit]) -> Iterator[Part]:
    """Parts of the HTML report."""
    for each in audits:
        yield "words", "h3", each.headline
        if each.figures:
            yield "words", "p", each.figures
        yield "words", "p", without_slots(each.corrected)
        if each.improvements is not None:
            rows = (*each.improvements.by_category, each.improvements.overall)
            yield "table", "Right by category", ACCURACY, rows
        if each.sweep is not None:
            yield "table", "Right by number of orders", ORDERS, each.sweep.rows
        if each.sensitivity is not None:
            yield "table", "First places by slot", SLOTS, each.sensitivity.slots
        if each.flagged:
            yield "table", "Faults that it flags in who wins", FLAGGED, each.flagged
    if any(each.parts for each in audits):
        with_parts = [each for each in audits if each.parts]
        yield "table", "Right by each part of the consensus alone, and by all", PARTS, with_parts
    if together := _together(audits):
        yield "words", "h3", together.headline
        yield "words", "p", together.figures


def document(audit: ListwiseAudit, written: Written) -> dict[str, Any]:
    """The judge's part of the JSON; `written` is the form of an estimate there."""

    def known(estimate: Estimate | None) -> dict[str, Any] | None:
        return None if estimate is None else written(estimate)

    def improvement(part: Improvement) -> dict[str, Any]:
        rates = {name: written(getattr(part, name)) for name in RATES}
        return {name: getattr(part, name) for name in COUNTS} | rates

    sensitivity, improved, corrected = audit.sensitivity, audit.improvements, audit.corrected
    return {
        "items": audit.items,
        "rankings": audit.lists,
        "orders": audit.orders,
        "order_decides": known(sensitivity.changed if sensitivity else None),
        "slots": [
            {
                "slot": slot.slot,
                "first": written(slot.win),
                "expected": slot.expected,
                "pull": written(slot.pull),
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
                "right": written(row.accuracy),
                "gain": written(row.gain),
                "majority_error": row.majority_error,
                "bound": row.bound,
            }
            for row in (audit.sweep.rows if audit.sweep else ())
        ],
        "parts": {
            part.part: {
                "right": written(part.right),
                "change": written(part.change),
                "winners": part.winners,
            }
            for part in audit.parts
        },
        "flagged": {
            flag.fault: {
                "consensus": written(flag.consensus),
                "direct": written(flag.direct),
                "change": written(flag.change),
                "all": flag.all,
            }
            for flag in audit.flagged
        },
        "slot_corrected": {
            "plurality": known(corrected.plurality),
            "right": known(corrected.right),
            "change": known(corrected.change),
            "gain": known(corrected.gain),
            "ridge": corrected.ridge,
        },
    }
