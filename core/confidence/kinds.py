"""Kinds of a judge's confidence side by side: as it states it, by log-probability, by its votes.

Kinds are never pooled: 90 % stated and 90 % of the votes are different claims. Source: [TH] Tables
1, 2 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..records import OutcomeCounts
from ..stats.estimate import Estimate
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


def side_by_side(
    of_kinds: Iterable[tuple[str, OutcomeCounts | None]],
    *,
    epsilons: tuple[float, ...],
    bins: int = 10,
    level: float = 0.95,
) -> tuple[KindOfConfidence, ...]:
    """Measures of each kind that has a verdict with a confidence.

    of_kinds : by (`stated` or `share`) and verdicts, each of one kind.
    """
    rows = []
    for by, outcomes in of_kinds:
        stated = None if outcomes is None else outcomes.with_confidence()
        if stated is None or not stated.n.sum():
            continue
        sided = stated.sided()
        rows.append(
            KindOfConfidence(
                kind=stated.kind,
                by=by,
                calibration=calibration(stated, bins=bins, level=level),
                auroc=auroc(sided, level=level) if sided.n.sum() else None,
                th=tuple(th_scores(stated, epsilons)),
            )
        )
    return tuple(rows)
