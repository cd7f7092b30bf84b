"""Kinds of a judge's confidence side by side: as it states it, by log-probability, by its votes.

Kinds are never pooled: 90 % stated and 90 % of the votes are different claims. Source: [TH] Tables
1, 2 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...records import OutcomeCounts
from ...stats.estimate import Estimate
from .calibration_error import Calibration, calibration
from .selective import auroc
from .th_scores import ThScore, th_scores


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KindOfConfidence:
    """Every measure of one kind of confidence of one judge, in one row.

    kind : of `core.schema.CONFIDENCE_KINDS`, None where votes do not say.  by : `stated`, or
        `share` of repeated votes.  auroc : None with no right or no wrong verdict.  th : by ε.
    """

    kind: str | None
    by: str
    calibration: Calibration
    auroc: Estimate | None
    th: tuple[ThScore, ...]


def kind_of_confidence(
    by: str,
    outcomes: OutcomeCounts | None,
    *,
    epsilons: tuple[float, ...],
    bins: int = 10,
    level: float = 0.95,
) -> KindOfConfidence | None:
    """Measures of verdicts that are of one kind; None without one that has a confidence.

    by : `stated` or `share`.
    """
    stated = None if outcomes is None else outcomes.with_confidence()
    if stated is None or not stated.n.sum():
        return None
    sided = stated.sided()
    return KindOfConfidence(
        kind=stated.kind,
        by=by,
        calibration=calibration(stated, bins=bins, level=level),
        auroc=auroc(sided, level=level) if sided.n.sum() else None,
        th=tuple(th_scores(stated, epsilons)),
    )
