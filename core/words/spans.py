"""How an interval is written, also where there is none."""

from __future__ import annotations

from math import isnan


def span(low: float | None, high: float | None, form: str = ".3f") -> str:
    """`low to high`, or that items are too few: one item says nothing of others."""
    if low is None or high is None or isnan(low) or isnan(high):
        return "no interval: one item"
    return f"{low:{form}} to {high:{form}}"
