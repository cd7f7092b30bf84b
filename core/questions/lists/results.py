"""Judges that rank several answers at once: the rankings of a selection in, what order does and
what pooling orders gains out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...bounds import MOST_JUDGES
from ...finding.evidence import Counted
from ...finding.result import Result
from ...store.vote_queries import list_rankings
from . import words as sentences
from .method import Improvements, blocks, improvement
from .orders import OrderSensitivity, OrderSweep, order_sensitivity, order_sweep
from .parts import FlaggedWinner, PartAlone, flagged_winners, parts_alone
from .slots import SlotCorrected, slot_corrected

if TYPE_CHECKING:
    from ...auditing.options import AuditOptions
    from ...records import ListRankings


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListwiseAudit:
    """Every result of one judge that ranks several answers at once.

    items, lists : items ranked, and rankings of them.  orders : median number of orders of an item.
    sensitivity : None if no item was ranked twice.  improvements, sweep : None, and no `parts`, if
        no item says which candidate is best.  flagged : none if no faults were flagged.
    headline : what is said of it first.  figures : the line of figures below.
    """

    judge: str
    items: int
    lists: int
    orders: int
    sensitivity: OrderSensitivity | None
    improvements: Improvements | None
    sweep: OrderSweep | None
    parts: tuple[PartAlone, ...]
    flagged: tuple[FlaggedWinner, ...]
    corrected: SlotCorrected
    headline: str
    figures: str


def audit_lists(judge: str, rankings: ListRankings, options: AuditOptions) -> ListwiseAudit:
    """All results of one judge's rankings; None where they cannot tell."""
    level = options.level
    laid = blocks(rankings)
    runs = laid.shown[laid.start].sum(axis=1)
    known = bool((laid.best == 1).any())
    improved = improvement(rankings, level=level) if known else None
    sensitivity = order_sensitivity(rankings, level=level) if (runs >= 2).any() else None
    corrected = slot_corrected(rankings, level=level)
    return ListwiseAudit(
        judge=judge,
        items=len(runs),
        lists=int(runs.sum()),
        orders=int(np.median(runs)),
        sensitivity=sensitivity,
        improvements=improved,
        sweep=order_sweep(rankings, rng=np.random.default_rng(options.seed), level=level)
        if known
        else None,
        parts=parts_alone(rankings, level=level) if known else (),
        flagged=flagged_winners(rankings, level=level),
        corrected=corrected,
        headline=sentences.headline(judge, improved, sensitivity),
        figures=sentences.figures(improved, sensitivity, corrected),
    )


def _rankings(counted: Counted) -> tuple[ListwiseAudit, ...]:
    """Of more than `MOST_JUDGES` those with most rankings. The rules are those of the page Listwise
    as it opens: the weights of the paper, no tolerance.
    """
    raters = sorted(counted.summary.rankings, key=lambda rater: (-rater.n, rater.name))
    if not raters:
        return ()
    kept = {rater.name for rater in raters[:MOST_JUDGES]}
    audits = [
        audit_lists(judge, rankings, counted.options)
        for judge, rankings in counted.ask(list_rankings).items()
        if judge in kept
    ]
    return tuple(sorted(audits, key=_place))


RANKINGS = Result("rankings", _rankings)
"""Every judge that ranked, those whose winner depends least on order first."""


def _place(audit: ListwiseAudit) -> tuple[float, str]:
    changed = audit.sensitivity.changed.value if audit.sensitivity else math.inf
    return changed, audit.judge
