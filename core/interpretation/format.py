"""How a number with a sign is written in a sentence: with a true minus, and none before a rounded 0.

How an interval is written, also where there is none.
"""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..stats.estimate import Estimate


def span(low: float | None, high: float | None, form: str = ".3f") -> str:
    """`low to high`, or that items are too few: one item says nothing of others."""
    if low is None or high is None or isnan(low) or isnan(high):
        return "no interval: one item"
    return f"{low:{form}} to {high:{form}}"


def signed(value: float, digits: int) -> str:
    """+0.012 or −0.012."""
    return minus(f"{_rounded(value, digits):+.{digits}f}")


def signed_span(low: float | None, high: float | None, digits: int) -> str:
    """Both ends so, or that there is no interval (`core.interpretation.format`)."""
    if low is None or high is None:
        return span(low, high)
    return minus(span(_rounded(low, digits), _rounded(high, digits), f"+.{digits}f"))


def ends(found: Estimate, form: str = ".3f") -> str:
    """The interval of an estimate as `span` writes it."""
    return span(found.low, found.high, form)


def signed_ends(found: Estimate, digits: int) -> str:
    """The interval of an estimate with signs, as `signed_span` writes it."""
    return signed_span(found.low, found.high, digits)


def signed_elo(elo: float) -> str:
    """Whole points with a sign, none before 0; with a hyphen, as figures write it beside the sentence."""
    return f"{elo:+.0f}" if round(elo) else "0"


def minus(number: str) -> str:
    """A number as text, its hyphen made a minus; not for text with names, whose hyphens are their own."""
    return number.replace("-", "−")


def _rounded(value: float, digits: int) -> float:
    # Adding 0 takes the sign from a rounded -0.
    return round(value, digits) + 0.0


def number(value: float | None, form: str = ".3f") -> str:
    """A number as a table writes it: a dash where it is unknown, no sign before a rounded 0."""
    if value is None or not isfinite(value):
        return "–"
    if form.endswith("d"):
        return format(int(value), form)
    sign, rest = (form[0], form[1:]) if form[:1] in ("+", "-") else ("", form)
    return format(float(value), f"{sign}z{rest}")
