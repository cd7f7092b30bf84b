"""The judges of single answers of a selection; counts keep each result once.

What is known of one of them is `ScoreEvidence`: results of one judge and metric, each made once.
"""

from __future__ import annotations

from typing import Any

from ...finding.evidence import Counted
from ...finding.result import Result
from .audited import ScoreAudit

Audited = tuple[tuple[ScoreAudit, ...], list[str]]


def _audited(counted: Counted) -> Audited:
    """Every judge by every metric, and notes on what is left out."""
    # What audits them reads the checks of all questions, this one's among them.
    from .audit import audit_scores

    def asked(store: Any, selection: Any) -> Audited:
        notes: list[str] = []
        return audit_scores(store, selection, counted.options, counted.rows_read, notes), notes

    return counted.ask(asked) if counted.summary.scores else ((), [])


AUDITED = Result("audited_scores", _audited)
"""Every judge by every metric that it scored, and notes on what is left out."""
SCORES = Result("scores", lambda counted: counted[AUDITED][0])
"""Every judge by every metric that it scored, the best first."""
