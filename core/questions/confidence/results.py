"""What is made of the votes for this question; evidence keeps each result once."""

from __future__ import annotations

from collections.abc import Sequence

from ...finding.evidence import Evidence
from ...finding.question import Result
from .alone import ERRORS, DecidedAlone, decided_alone


def _alone(evidence: Evidence) -> Sequence[DecidedAlone]:
    stated = evidence.stated
    if stated is None:
        return ()
    return tuple(decided_alone(stated, error=error) for error in ERRORS)


ALONE = Result("alone", _alone)
"""What may be decided by votes that are sure enough, by the error that is allowed; none without a
confidence."""
