"""Judges that rank several answers at once: the rankings of a selection in, what order does and
what pooling orders gains out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...auditing.options import AuditOptions
from ...auditing.results import ListwiseAudit
from ...bounds import MOST_JUDGES
from ...store.vote_queries import list_rankings
from . import words as sentences
from .method import blocks, improvement
from .orders import order_sensitivity, order_sweep
from .parts import flagged_winners, parts_alone
from .slots import slot_corrected

if TYPE_CHECKING:
    from ...records import ListRankings
    from ...schema import Selection
    from ...store.browse import RaterCount
    from ...store.connection import Database, Snapshot


def audit_rankings(
    store: Database | Snapshot,
    selection: Selection,
    options: AuditOptions,
    raters: Sequence[RaterCount],
) -> tuple[ListwiseAudit, ...]:
    """Audit every judge that ranked, those whose winner depends least on order first.

    Of more than `MOST_JUDGES` those with most rankings. The rules are those of the page Listwise as
    it opens: the weights of the paper, no tolerance.
    """
    kept = {rater.name for rater in sorted(raters, key=lambda r: (-r.n, r.name))[:MOST_JUDGES]}
    audits = [
        audit_lists(judge, rankings, options)
        for judge, rankings in list_rankings(store, selection).items()
        if judge in kept
    ]
    return tuple(sorted(audits, key=_place))


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


def _place(audit: ListwiseAudit) -> tuple[float, str]:
    changed = audit.sensitivity.changed.value if audit.sensitivity else math.inf
    return changed, audit.judge
