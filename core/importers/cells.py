"""Cells of the columns that are no labels: numbers, confidence and choices of a few words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Literal

from core.votes import CONFIDENCE_KINDS, POSITIONS, RATER_TYPES, STATUSES

_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class BadCell(ValueError):
    """A cell that its column does not allow; the message is the reason and what is allowed."""


def parse_int(text: str) -> int:
    """Whole number that fits 64 bits; `3.0` is one, `1_000` and `3.5` are not.

    Raises
    ------
    BadCell : anything else.
    """
    whole = _WHOLE.fullmatch(text)
    if not whole:
        raise BadCell("not a whole number; write digits only, or leave the cell empty")
    if len(whole[1]) > 20 or not -(2**63) <= int(whole[1]) < 2**63:
        raise BadCell(
            "does not fit 64 bits; use a number between -9223372036854775808 and 9223372036854775807"
        )
    return int(whole[1])


def parse_float(text: str) -> float:
    """Finite number with a decimal point.

    Raises
    ------
    BadCell : anything else; `nan` and `inf` too, because an empty cell is how a missing value is written.
    """
    if not _NUMBER.fullmatch(text):
        if text.casefold().lstrip("+-") in ("nan", "inf", "infinity"):
            raise BadCell("not a finite number; leave the cell empty if the value is missing")
        raise BadCell("not a number; write it with a decimal point, or leave the cell empty")
    value = float(text)
    if math.isinf(value):
        raise BadCell("too large for a number of 64 bits; leave the cell empty if the value is missing")
    return value


def parse_choice(text: str, allowed: tuple[str, ...]) -> str:
    """One of the allowed words, whatever its case.

    Raises
    ------
    BadCell : another word.
    """
    word = text.strip().casefold()
    if word not in allowed:
        raise BadCell(f"not allowed here; use {', '.join(allowed)}, or leave the cell empty")
    return word


_ORDERS = {"a": "ab", "a first": "ab", "model_a": "ab", "b": "ba", "b first": "ba", "model_b": "ba"}


def order_word(text: str) -> str:
    """`ab` or `ba` for a cell that names the one shown first (A, model_a); any other text as it is."""
    word = text.strip().casefold()
    return _ORDERS.get(word, word if word in POSITIONS else text)


CHOICES = {
    "position": POSITIONS,
    "status": STATUSES,
    "rater_type": RATER_TYPES,
    "confidence_kind": CONFIDENCE_KINDS,
}
"""Columns whose cells are one of a few words."""

ConfidenceScale = Literal["1", "100", "%"]


def confidence_scale(counts: Mapping[str, int]) -> ConfidenceScale:
    """Scale of a confidence column, from its distinct cells and how often each occurs.

    Percent if a cell carries `%`; 0 to 100 if at least half of the values exceed 1 and at least one is 10
    or more;
    else 0 to 1. Cells that are no number do not count. Source: methods §0 (ours).
    """
    total = above = 0
    largest = -math.inf
    for text, count in counts.items():
        if text.endswith("%"):
            return "%"
        try:
            value = parse_float(text)
        except BadCell:
            continue
        total, above, largest = total + count, above + count * (value > 1), max(largest, value)
    return "100" if total and 2 * above >= total and largest >= 10 else "1"


def parse_confidence(text: str, scale: ConfidenceScale) -> float:
    """Confidence as a fraction, read on the scale of its column.

    Raises
    ------
    BadCell : no number, or outside the scale; a cell is never rescaled alone.
    """
    if scale == "%" and not text.endswith("%"):
        raise BadCell("carries no % where other cells of the column do; write it as a percentage")
    if scale == "1" and text.endswith("%"):
        raise BadCell(
            "a percentage where the scale is 0 to 1; write it as a fraction, or set --confidence-scale 100"
        )
    value = parse_float(text.removesuffix("%").rstrip())
    top = 1 if scale == "1" else 100
    if not 0 <= value <= top:
        raise BadCell(f"outside 0 to {top}, the scale of this column; correct it, or set --confidence-scale")
    return value / top
