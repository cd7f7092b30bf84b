"""What is made of the votes for this question; evidence keeps each result once."""

from __future__ import annotations

from ...finding.evidence import Evidence
from ...finding.question import Result
from ...stats.estimate import Estimate
from .method import PositionBias, first_slot_gain, mostly_first, position_bias


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
