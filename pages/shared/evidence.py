"""Results and checks of judges, as the audit has them: a page asks for its own and draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.auditing.checks import BY_NAME
from core.auditing.options import AuditOptions
from core.finding.check import CheckResult
from core.finding.evidence import Counted
from core.questions.boards.results import anchors_of
from core.questions.scores.audit import audit_scores
from core.questions.scores.audited import ScoreAudit
from core.schema import Selection
from pages.shared import cached


def counted(selection: Selection, options: AuditOptions) -> Counted:
    """Counts of a selection under these options; results of judges stay with them."""

    def ask(query: Callable[..., Any], **given: Any) -> Any:
        return cached.ask(query, selection, **given)

    def anchors() -> tuple[str, ...]:
        return anchors_of(cached.pair_scores(selection, pooled=True)[None], options)

    return cached.computed(
        "counted",
        (selection, options),
        lambda: Counted(
            ask, cached.summary(selection), options, gold=selection.gold or "given", anchors=anchors
        ),
    )


def results(
    selection: Selection, options: AuditOptions, judge: str, checks: Sequence[str]
) -> list[CheckResult]:
    """What some checks say of one judge."""
    evidence = counted(selection, options).of(judge)
    return cached.computed(
        "checks",
        (selection, options, judge, tuple(checks)),
        lambda: [BY_NAME[check].result(evidence) for check in checks],
    )


def scores(selection: Selection, options: AuditOptions) -> tuple[ScoreAudit, ...]:
    """What is found of all judges of single answers."""
    read = counted(selection, options).rows_read
    return cached.computed(
        "scores",
        (selection, options),
        lambda: audit_scores(*cached.where(selection), options, read),
    )
