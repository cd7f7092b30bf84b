"""How numbers, intervals and labels are written, in sentences, tables and hover texts."""

from __future__ import annotations

import decimal
from collections.abc import Iterable
from math import isfinite, isnan

from ..stats.estimate import Estimate

LONGEST_NAME = 24
"""Characters of a category that a headline names."""
NAMED = 3
"""Judges that an answer names one by one; more are counted."""
ONE_ITEM = "one item says nothing of others"
"""Why a figure has no interval."""
SAYS = {1: "A better", 0: "a tie", -1: "B better"}
"""What a label says, in words."""


def number(value: float | None, form: str = ".3f") -> str:
    """A number as a table writes it: a dash where it is unknown, no sign before a rounded 0."""
    if value is None or not isfinite(value):
        return "–"
    if form.endswith("d"):
        return format(int(value), form)
    sign, rest = (form[0], form[1:]) if form[:1] in ("+", "-") else ("", form)
    return format(float(value), f"{sign}z{rest}")


def percent(value: float, digits: int = 0) -> str:
    """A share as text: 0.314 is 31 %; a share that is not 0 or 1 never prints as 0 % or 100 %."""
    text = f"{100 * value:.{digits}f}"
    if float(text) in (0.0, 100.0) and value not in (0.0, 1.0):
        text = f"{100 * value:.1f}"
        text = {"0.0": "under 0.1", "100.0": "over 99.9"}.get(text, text)
    return f"{text} %"


def target(alpha: float) -> str:
    """An error rate that was chosen: 10 %, 2.5 %."""
    return percent(alpha, 1).replace(".0 %", " %")


def percent_span(found: Estimate, digits: int = 0) -> str:
    """Both ends of a share's interval."""
    return f"{percent(found.low, digits)} to {percent(found.high, digits)}"


def interval(found: Estimate, form: str = ".2f") -> str:
    """The value with its interval in brackets, if it has one."""
    ends = f" ({number(found.low, form)} to {number(found.high, form)})"
    return f"{number(found.value, form)}{ends if found.has_interval else ''}"


def span(low: float | None, high: float | None, form: str = ".3f") -> str:
    """`low to high`, or that items are too few: one item says nothing of others."""
    if low is None or high is None or isnan(low) or isnan(high):
        return "no interval: one item"
    return f"{low:{form}} to {high:{form}}"


def signed(value: float, digits: int) -> str:
    """+0.012 or −0.012, without a sign of a rounded 0."""
    return minus(f"{_rounded(value, digits):+.{digits}f}")


def signed_span(low: float | None, high: float | None, digits: int) -> str:
    """`span` with both ends as `signed` writes them."""
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
    """Whole points with a sign, none before 0; with a hyphen, as figures write it beside the
    sentence.
    """
    return f"{elo:+.0f}" if round(elo) else "0"


def elo_ends(elo: Estimate) -> str:
    """Ends of an interval of Elo: (+3 to +20)."""
    return f"({signed_elo(elo.low)} to {signed_elo(elo.high)})"


def points(share: float) -> str:
    """A difference of shares in percentage points, signed, without a minus before 0.0."""
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}" if rounded else "0.0"


def points_ends(gap: Estimate) -> str:
    """Ends of a difference of shares in points: (-1.2 to +0.8)."""
    return f"({points(gap.low)} to {points(gap.high)})"


def p_value(p: float) -> str:
    """A p-value in the digits that matter."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}" if p < 0.01 else f"p = {p:.2f}"


def minus(number: str) -> str:
    """A number as text, its hyphen made a minus; not for text with names, whose hyphens are their
    own.
    """
    return number.replace("-", "−")


def _rounded(value: float, digits: int) -> float:
    # Adding 0 takes the sign from a rounded -0.
    return round(value, digits) + 0.0


def one_line(text: str) -> str:
    """Text from votes, files or providers, safe to print: no line breaks, no terminal escapes."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def upwards(cost: float) -> str:
    """An amount in four digits that is never less."""
    rounded = decimal.Context(prec=4, rounding=decimal.ROUND_CEILING).create_decimal_from_float(
        cost
    )
    return f"{rounded.normalize():,f}"


def duration(seconds: float) -> str:
    """Hours and minutes, minutes and seconds, or seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        f"{hours} h {minutes} min"
        if hours
        else f"{minutes} min {rest} s"
        if minutes
        else f"{rest} s"
    )


def count(number: int, noun: str) -> str:
    """`1 vote`, `2,000 votes`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def enumerated(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; nothing of nothing."""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} and {last}" if first else last
