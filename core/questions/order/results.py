"""What is made of the votes for this question; evidence keeps each result once."""

from __future__ import annotations

import numpy as np

from ...finding.evidence import Evidence
from ...finding.question import Result
from ...stats.estimate import Estimate
from .method import PositionBias, first_slot_gain, in_other_terms, mostly_first, position_bias


def _position(evidence: Evidence) -> PositionBias | None:
    counts = evidence.positions
    return None if counts is None else position_bias(counts, level=evidence.level)


POSITION = Result("position", _position)
"""What order does, where it is known."""


def _slot_gain(evidence: Evidence) -> Estimate | None:
    orders = evidence.orders
    return None if orders is None else first_slot_gain(orders, level=evidence.level)


SLOT_GAIN = Result("slot_gain", _slot_gain)
"""What being shown first gains, where one order was shown."""


def _slots_differ(evidence: Evidence) -> bool:
    orders = evidence.orders
    return orders is None or mostly_first(orders, evidence.counted.models)


SLOTS_DIFFER = Result("slots_differ", _slots_differ)
"""Whether some model was mostly shown first, or nobody knows: slots then differ in more than their
place.
"""


def _decided_position(evidence: Evidence) -> Estimate | None:
    counts, votes = evidence.positions, evidence.votes
    if counts is None or votes is None:
        return None
    tied = votes.comparison[votes.gold == 0]
    decided = np.isin(counts.comparison, votes.comparison[np.isin(votes.gold, (-1, 1))])
    if not len(tied) or not decided.any():
        return None
    return position_bias(counts.rows(decided), level=evidence.level).bias_pairs


DECIDED_POSITION = Result("decided_position", _decided_position)
"""What being shown first gains where gold decides; None unless gold has ties too."""


def _other_terms(evidence: Evidence) -> bool:
    position = evidence[POSITION]
    return position is not None and in_other_terms(position)


OTHER_TERMS = Result("other_terms", _other_terms)
"""Whether more verdicts reverse than noise and a place can explain."""
