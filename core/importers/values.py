"""What one cell says: numbers, flags, orders, and confidences by the scale of their column."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Literal, get_args

import numpy as np

from ..errors import Message
from ..labels import WHOLE, normalise
from ..reading.words import NO, SHOWN_FIRST, YES
from ..schema import CONFIDENCE_KINDS, POSITIONS, RATER_TYPES, STATUSES

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class BadCell(ValueError):
    """A cell that its column does not allow; its only argument says why and what is allowed."""


def parse_int(text: str) -> int:
    """Whole number that fits 64 bits (`3.0` is one, `1_000` and `3.5` are not); BadCell for
    anything else.
    """
    whole = WHOLE.fullmatch(text)
    if not whole:
        raise BadCell("not a whole number; write digits only, or leave the cell empty")
    if len(whole[1]) > 20 or not -(2**63) <= int(whole[1]) < 2**63:
        raise BadCell(
            "does not fit 64 bits; use a number between -9223372036854775808 and "
            "9223372036854775807"
        )
    return int(whole[1])


def parse_float(text: str) -> float:
    """Finite number with a decimal point, the nearest of 64 bits; BadCell for anything else.

    Zero has no sign: `-0` and `-1e-400` are 0, and written back as such. `nan` and `inf`
    are refused, because an empty cell is how a missing value is written.
    """
    if not _NUMBER.fullmatch(text):
        if text.casefold().lstrip("+-") in ("nan", "inf", "infinity"):
            raise BadCell("not a finite number; leave the cell empty if the value is missing")
        raise BadCell("not a number; write it with a decimal point, or leave the cell empty")
    value = float(text)
    if math.isinf(value):
        raise BadCell(
            "too large for a number of 64 bits; leave the cell empty if the value is missing"
        )
    return value + 0.0


def parse_number(text: str) -> float:
    """As `parse_float`, also with a sign of percent, which changes nothing."""
    return parse_float(text.removesuffix("%").rstrip())


def is_number(text: str) -> bool:
    """Whether a text is a number, with or without a sign of percent."""
    try:
        parse_number(text)
    except BadCell:
        return False
    return True


def parse_flag(cell: str) -> int:
    """0 or 1, also written as true, false, yes, no; BadCell for another word."""
    word = cell.casefold()
    if word not in (*YES, *NO):
        raise BadCell("not a flag; write 1 or 0, or leave the cell empty")
    return int(word in YES)


def within(
    read: Callable[[str], float], low: float, high: float, reason: str
) -> Callable[[str], float]:
    """A reader of numbers from `low` to `high`; BadCell with the reason for others."""

    def inside(text: str) -> float:
        value = read(text)
        if not low <= value <= high:
            raise BadCell(reason)
        return value

    return inside


def parse_choice(text: str, allowed: tuple[str, ...]) -> str:
    """One of the allowed words, whatever its case; BadCell for another word."""
    word = text.strip().casefold()
    if word not in allowed:
        raise BadCell(f"not allowed here; use {', '.join(allowed)}, or leave the cell empty")
    return word


def order_word(text: str, names: Mapping[str, str] | None = None) -> str:
    """`ab` or `ba` for a cell that names the one shown first (A, model_a, left first), or the text
    itself.

    names : what the two are called in every row, as `normalise` returns it, → `ab` or `ba`.
    """
    word = text.strip().casefold().replace("_first", " first")
    return (names or {}).get(normalise(text)) or SHOWN_FIRST.get(
        word, word if word in POSITIONS else text
    )


CHOICES = {
    "position": POSITIONS,
    "status": STATUSES,
    "rater_type": RATER_TYPES,
    "confidence_kind": CONFIDENCE_KINDS,
}
"""Columns whose cells are one of a few words."""

ConfidenceScale = Literal["1", "1-5", "1-7", "1-10", "0-10", "100", "%", "logit"]

LEVELS: dict[str, tuple[int, int]] = {
    "1-5": (1, 5),
    "1-7": (1, 7),
    "1-10": (1, 10),
    "0-10": (0, 10),
}
"""Scales of levels, which are ranks and no probabilities → the lowest and the highest level."""

SCALE_MEANINGS = {
    "1": "probabilities, 0 to 1",
    "100": "percentages, 0 to 100",
    **{scale: f"levels {low} to {high}" for scale, (low, high) in LEVELS.items()},
    "logit": "logits, of the verdict being right",
}

MOST_LOGITS = 30
"""Size beyond which a number is taken for no logit: its probability is 1 to 13 digits."""

_NEARLY_ALL = 0.95

_MOST_LOGIT = 500.0


def confidence_scale(counts: Mapping[str, int]) -> ConfidenceScale | tuple[ConfidenceScale, ...]:
    """Scale of a confidence column, from its distinct cells and how often each occurs; several, or
    one in a tuple, if only the user can know it: those that nearly all (95 %) of its numbers fit.

    A cell with `%` says its own scale, and decides no other's: where there is one, `%` stands for
    0 to 100, and for a column of no other numbers. Nearly all from 1 to 10 with hardly a fraction
    of 1 may be levels: a question. 0 to 100 if at least half of the numbers exceed 10. 0 to 1 if at
    most a row, or 5 %, are outside. Others within ±30 may be logits: a question, in which 0 to 1 is
    one answer if it fits half of them. What is left fits nothing, and is 0 to 100 if at least half
    exceed 1 and one is 10 or more, else 0 to 1. Cells that are no number do not count. Source:
    docs/methods.md §0 (ours).
    """
    signed = any(text.endswith("%") for text in counts)
    percent: ConfidenceScale = "%" if signed else "100"
    numbers: list[tuple[float, int]] = []
    for text, count in counts.items():
        try:
            numbers.append((parse_float(text), count))
        except BadCell:
            continue
    if not numbers:
        return "%" if signed else "1"
    value, rows = (np.array(column) for column in zip(*numbers, strict=True))
    ranges = {**LEVELS, "1": (0, 1), "100": (0, 100), "logit": (-MOST_LOGITS, MOST_LOGITS)}
    share = {
        scale: rows[(value >= low) & (value <= high)].sum() / rows.sum()
        for scale, (low, high) in ranges.items()
    }
    fits = {scale for scale in ranges if share[scale] >= _NEARLY_ALL}
    fractions = rows[(value > 0) & (value < 1)].sum() / rows.sum()
    exceeding = {limit: rows[value > limit].sum() / rows.sum() for limit in (1, 10)}
    levels = "1-10" in fits and exceeding[1] > 0 and fractions <= 1 - _NEARLY_ALL
    if not levels:
        if "100" in fits and exceeding[10] >= 0.5:
            return percent
        if "1" in fits or rows[(value < 0) | (value > 1)].sum() <= 1:
            return "1"
        if "logit" not in fits:
            return percent if exceeding[1] >= 0.5 and value.max() >= 10 else "1"
    whole = bool((value == np.floor(value)).all())
    offered = {
        "1": share["1"] >= 0.5 and not levels,
        **{scale: scale in fits for scale in LEVELS},
        # Where no number is below 1 the levels from 1 say the same.
        "0-10": "0-10" in fits and "1-10" not in fits,
        # A percentage is seldom below 8 in all rows, unless others say that they are some.
        "100": "100" in fits and (signed or value.max() > 7),
    }
    offered["logit"] = not (whole and any(offered.values()))
    return tuple(scale for scale in get_args(ConfidenceScale) if offered.get(scale))


def parse_confidence(text: str, scale: ConfidenceScale) -> float:
    """Confidence as a fraction; BadCell if no number or outside its column's scale: no cell is
    rescaled alone.

    A cell with `%` is that many hundredths, whatever the scale of the others. A level is its share
    of the highest one, which keeps the order and is no probability. A logit x is 1/(1 + e^−x).
    """
    signed = text.endswith("%")
    if scale == "%" and not signed and not _is_percent(text):
        raise BadCell("carries no % where other cells of the column do; write it as a percentage")
    if scale == "logit" and not signed:
        return 1 / (1 + math.exp(-min(max(parse_float(text), -_MOST_LOGIT), _MOST_LOGIT)))
    value = parse_number(text)
    percent = signed or scale in ("100", "%")
    bottom, top = (0, 100) if percent else LEVELS.get(scale, (0, 1))
    if not bottom <= value <= top:
        reason = "outside {bottom} to {top}, the scale of this column; correct it, or set {option}"
        raise BadCell(Message(reason, option="confidence_scale", bottom=bottom, top=top))
    return value / top


def _is_percent(text: str) -> bool:
    """Whether a number without its sign of percent can be nothing else."""
    return 1 < parse_float(text) <= 100
