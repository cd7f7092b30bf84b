"""What is made of the votes for this question; evidence keeps each result once."""

from __future__ import annotations

from dataclasses import replace

from ...finding.evidence import Evidence
from ...finding.question import Result
from ...records import VoteCounts
from ...stats.estimate import Estimate
from ...stats.intervals import wilson_by_item
from ..reference.results import WEIGHED
from .confusion_matrix import Confusion, confusion
from .method import (
    BlindRule,
    Direction,
    WrongCategory,
    blind_rule,
    by_category,
    direction,
    with_missing_as_ties,
    wrong_category,
)


def _exact(evidence: Evidence) -> Estimate | None:
    outcomes = evidence.outcomes
    if outcomes is None:
        return None
    share = wilson_by_item(outcomes.item, outcomes.n, outcomes.correct, level=evidence.level)
    return replace(share, n=int(outcomes.n.sum()))


EXACT = Result("exact", _exact)
"""Share of verdicts with gold's very label, by item; its n is the number of verdicts."""


def _direction(evidence: Evidence) -> Direction | None:
    credited = with_missing_as_ties(evidence.outputs) or evidence.votes
    towards = None if credited is None else direction(credited, level=evidence.level)
    weighed = evidence[WEIGHED]
    return towards if towards is None or weighed is None else replace(towards, credit=weighed)


DIRECTION = Result("direction", _direction)
"""Half credit on decided gold, weighed where labels were drawn by disagreement; many outputs
without a verdict count half, as ties do.
"""


def _credit(evidence: Evidence) -> Estimate | None:
    towards = evidence[DIRECTION]
    return towards.credit if towards else None


CREDIT = Result("accuracy", _credit)
"""The half credit of `DIRECTION`."""


def _blind_rule(evidence: Evidence) -> BlindRule | None:
    if evidence.votes is None or evidence[DIRECTION] is None:
        return None
    return blind_rule(
        evidence.votes,
        orders=evidence.orders,
        order_known=evidence.positions is not None,
        lengths=evidence.lengths,
        models=evidence.counted.models,
        level=evidence.level,
    )


BLIND_RULE = Result("blind_rule", _blind_rule)
"""The rule without reading that it is least shown to beat."""


def _of_category(evidence: Evidence) -> dict[str, VoteCounts]:
    return {
        category: of_judge[evidence.judge]
        for category, of_judge in evidence.counted.by_category.items()
        if category and evidence.judge in of_judge
    }


def _categories(evidence: Evidence) -> dict[str, Estimate]:
    return by_category(_of_category(evidence), level=evidence.level)


CATEGORIES = Result("categories", _categories)
"""Half credit in each category with enough items, the weakest first."""


def _wrong_category(evidence: Evidence) -> WrongCategory | None:
    below = evidence.limits["category"].caution
    return wrong_category(_of_category(evidence), below=below, level=evidence.level)


WRONG_CATEGORY = Result("wrong_category", _wrong_category)
"""The category in which it is shown to be wrong too often, however few its items are."""


def _confusion(evidence: Evidence) -> Confusion | None:
    votes = evidence.votes
    return confusion(votes, level=evidence.level) if votes and evidence.has_gold else None


CONFUSION = Result("confusion", _confusion)
"""What it says by what gold says."""
