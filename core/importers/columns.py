"""Columns on their way to a vote: text as codes into distinct values, numbers with a mask, rejected rows.

A file of a million rows has few distinct cells, so each distinct cell is parsed once in plain Python and
the result
is gathered by code.

Cells of the columns that are no labels: numbers, confidence and choices of a few words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..schema import CONFIDENCE_KINDS, POSITIONS, RATER_TYPES, STATUSES

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


Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

VALUE_LIMIT = 80
CELL_LIMIT = 1024**2


def cut(text: str) -> str:
    """Value of a cell as messages show it: at most 80 characters."""
    return text if len(text) <= VALUE_LIMIT else text[:VALUE_LIMIT] + "…"


def unstorable(text: str) -> str | None:
    """Why a text cannot be kept, or None."""
    if len(text) > CELL_LIMIT:
        return f"{len(text):,} characters in one cell, more than {CELL_LIMIT:,}; shorten it"
    return "holds a NUL character; remove it" if "\0" in text else None


@dataclass(slots=True, eq=False)
class Rejects:
    """Rows that cannot be used: row, column, value and reason."""

    row: list[int] = field(default_factory=list)
    column: list[str] = field(default_factory=list)
    value: list[str] = field(default_factory=list)
    reason: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.row)

    def add(self, row: int, column: str, value: str, reason: str) -> None:
        self.row.append(row)
        self.column.append(column)
        self.value.append(cut(value))
        self.reason.append(reason)

    def table(self) -> Any:
        """Arrow table, ordered by row."""
        import pyarrow as pa

        table = pa.table(
            {
                "row": pa.array(self.row, pa.int64()),
                "column": pa.array(self.column, pa.string()),
                "value": pa.array(self.value, pa.string()),
                "reason": pa.array(self.reason, pa.string()),
            }
        )
        return table.take(np.argsort(np.array(self.row, np.int64), kind="stable"))


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Text column: `codes` into the distinct `values`, -1 where the cell is missing."""

    codes: Codes
    values: list[str]

    @classmethod
    def of(cls, cells: Sequence[str | None] | Any) -> Coded:
        """From a sequence of cells or an Arrow string array; None is missing."""
        import pyarrow as pa

        array = cells if isinstance(cells, pa.Array) else pa.array(cells, pa.string())
        coded = array.dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(codes, coded.dictionary.to_pylist())

    @classmethod
    def constant(cls, value: str | None, n: int) -> Coded:
        return cls(np.full(n, -1 if value is None else 0, np.int64), [] if value is None else [value])

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> Mask:
        return self.codes < 0

    def map(self, function: Callable[[str], str | None]) -> Coded:
        """Replace each distinct value; None or an empty text makes it missing."""
        mapped = [function(value) for value in self.values]
        if mapped == self.values and all(mapped):
            return self
        index: dict[str, int] = {}
        new = [-1 if not value else index.setdefault(value, len(index)) for value in mapped]
        return Coded(np.array([*new, -1], np.int64)[self.codes], list(index))

    def filled(self, value: str) -> Coded:
        """The value where the cell is missing."""
        if not self.missing.any():
            return self
        values = self.values if value in self.values else [*self.values, value]
        return Coded(np.where(self.missing, values.index(value), self.codes), values)

    def take(self, index: Codes | Mask) -> Coded:
        return Coded(self.codes[index], self.values)

    def cell(self, i: int | np.integer[Any]) -> str:
        code = int(self.codes[i])
        return "" if code < 0 else self.values[code]

    def counts(self) -> dict[str, int]:
        """How often each value occurs."""
        number = np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))
        return {value: int(count) for value, count in zip(self.values, number, strict=True) if count}

    def arrow(self) -> Any:
        import pyarrow as pa

        return pa.array(self.values, pa.string()).take(pa.array(self.codes, mask=self.missing))


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Number column: `values` where `valid`."""

    values: NDArray[Any]
    valid: Mask

    @classmethod
    def of(cls, cells: Iterable[float | None], dtype: type) -> Numbers:
        listed = list(cells)
        valid = np.array([cell is not None for cell in listed], bool)
        return cls(np.array([0 if cell is None else cell for cell in listed], dtype), valid)

    @classmethod
    def constant(cls, value: int | None, n: int, dtype: type) -> Numbers:
        return cls(np.full(n, value or 0, dtype), np.full(n, value is not None))

    def arrow(self) -> Any:
        import pyarrow as pa

        return pa.array(self.values, mask=~self.valid)


def parse(
    column: Coded,
    function: Callable[[str], float],
    dtype: type,
    *,
    reject: Callable[[Mask, Mapping[int, str]], None],
) -> Numbers:
    """Parse each distinct value once; `reject` gets the rows of bad values and the reason by code."""
    parsed: NDArray[Any] = np.zeros(len(column.values) + 1, dtype)
    good = np.zeros(len(column.values) + 1, bool)
    reasons: dict[int, str] = {}
    for code, value in enumerate(column.values):
        try:
            parsed[code] = function(value)
            good[code] = True
        except BadCell as error:
            reasons[code] = str(error)
    if reasons:
        reject(~good[column.codes] & ~column.missing, reasons)
    return Numbers(parsed[column.codes], good[column.codes])


def group(*columns: Codes) -> Codes:
    """One code for each distinct combination; the inputs hold codes from -1 up."""
    result = np.zeros(len(columns[0]), np.int64)
    size = 1
    for column in columns:
        width = int(column.max(initial=-1)) + 2
        if size * width > 2**62:
            result = np.unique(result, return_inverse=True)[1].astype(np.int64)
            size = int(result.max(initial=0)) + 1
        result = result * width + (column + 1)
        size *= width
    return np.unique(result, return_inverse=True)[1].astype(np.int64)
