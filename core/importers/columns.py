"""Cells of a column: dictionary-encoded text, numbers with a mask, rejected rows.

A file of a million rows has few distinct cells, so each distinct cell is read once in plain Python
and the result is gathered by its index in the dictionary.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Message, UnreadableFile
from ..schema import REJECT_SCHEMA
from .values import BadCell

SPARED = ("confidence",)
"""Columns of which a cell that cannot be read is missing and costs no row: without it the judgement
stands.
"""


Cells = Any
"""Text cells of a column: an Arrow dictionary array, null where a cell is missing."""
Numbers = Any
"""Numbers of a column: a NumPy masked array, masked where a cell is missing."""
DTYPES: dict[str, Any] = {"int": np.int64, "float": np.float64}
"""Kind of a canonical column of numbers → its type in such an array."""
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

_PART = 4 * 1024**2
"""Bytes of the texts of a column that are in Python at once."""
_LONG = 64
"""Mean bytes of texts, from which they are told apart by digests."""
_MOST_LETTERS = 2**31 - 1
"""Most bytes of texts in an Arrow array."""

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
    """Cells that cannot be read: row, column, value (cut) and reason, and whether the row is kept
    without it (`SPARED`), which it is unless something else of it is rejected.
    """

    found: list[tuple[int, str, str, str, bool]] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    """The reasons that name options, by their text."""

    def __len__(self) -> int:
        return len(self.found)

    def add(self, row: int, column: str, value: str, reason: str, *, kept: bool = False) -> None:
        # A lone surrogate, legal in JSON, is shown as its escape: no file can hold it.
        value = value.encode("utf-8", "backslashreplace").decode("utf-8")
        self.found.append((int(row), column, cut(value), reason, kept))
        if isinstance(reason, Message):
            self.messages[reason] = reason

    def table(self, rows: NDArray[np.integer[Any]]) -> Any:
        """Arrow table with `REJECT_SCHEMA`, ordered by row.

        rows : what is left in the end; of other rows no cell is kept.
        """
        import pyarrow as pa

        spared = [row for row, *_, kept in self.found if kept]
        left = {*rows[np.isin(rows, spared)].tolist()} if spared else set()
        rejects = [reject for reject in self.found if not reject[-1] or reject[0] in left]
        rejects.sort(key=lambda reject: reject[0])
        columns = {
            name: pa.array([reject[place] for reject in rejects], kind)
            for place, (name, kind) in enumerate(REJECT_SCHEMA.items())
        }
        return pa.table(columns)


def encode_cells(cells: Iterable[str | None] | Any) -> Cells:
    """Cells of a sequence of texts, or of an Arrow array of them; None is missing."""
    import pyarrow as pa

    array = cells if isinstance(cells, pa.Array) else pa.array(cells, pa.string())
    return array.dictionary_encode()


def coded_cells(codes: NDArray[Any], texts: list[str]) -> Cells:
    """Cells by their index in distinct texts; missing where a masked array of indices is masked."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(code_type(len(texts)))), pa.array(texts, pa.string())
    )


def constant_cells(text: str | None, n: int) -> Cells:
    """The same cell n times."""
    import pyarrow as pa

    if text is None:
        return pa.nulls(n, pa.dictionary(pa.int8(), pa.string()))
    return pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(n, np.int8)), pa.array([text], pa.string())
    )


def code_type(distinct: int) -> type[np.signedinteger[Any]]:
    """The smallest type that numbers so many from 0, and has a -1."""
    return np.int8 if distinct < 2**7 else np.int16 if distinct < 2**15 else np.int32


def each_text(cells: Cells) -> Iterator[str]:
    """The distinct texts of a column by their code, of which few are in Python at once."""
    for part in _in_parts(cells.dictionary):
        yield from part.to_pylist()


def _in_parts(texts: Any) -> Iterator[Any]:
    """An array of texts in parts of some megabytes."""
    step = max(_PART * len(texts) // max(texts.nbytes, 1), 1)
    return (texts.slice(start, step) for start in range(0, len(texts), step))


@dataclass(slots=True, eq=False)
class JoinedCells:
    """A column that comes in parts, of which the texts are kept and nothing else."""

    _letters: bytearray = field(default_factory=bytearray)
    _lengths: list[NDArray[np.int32]] = field(default_factory=list)
    _codes: list[NDArray[Any]] = field(default_factory=list)

    def add(self, cells: Cells) -> None:
        """Put a part behind those that are here."""
        texts = cells.dictionary
        if len(texts):
            _, ends, letters = texts.buffers()
            ends = np.frombuffer(ends, np.int32)[texts.offset :][: len(texts) + 1]
            if ends[-1] > ends[0]:
                self._letters += memoryview(letters)[ends[0] : ends[-1]]
        self._lengths.append(np.diff(ends) if len(texts) else np.zeros(0, np.int32))
        codes = cells.indices.fill_null(-1).to_numpy()
        self._codes.append(codes.astype(code_type(len(texts))))

    def whole(self) -> Cells:
        """All of it; the parts are forgotten. Texts of two parts that are the same get one code, in
        the order in which they first occur.
        """
        import pyarrow as pa

        sizes = [*map(len, self._lengths)]
        ends = np.concatenate([[0], *self._lengths]).astype(np.int64)
        self._lengths.clear()
        place, distinct = _united(np.cumsum(ends, out=ends), self._letters)
        # The code of a missing cell is -1, and what stands there is -1 again.
        place = np.append(place, -1).astype(code_type(len(distinct)))
        start, end = sum(sizes), sum(map(len, self._codes))
        codes = np.empty(end, place.dtype)
        while self._codes:
            part = self._codes.pop()
            start, first = start - sizes.pop(), end - len(part)
            codes[first:end] = place[start:][part]
            end = first
        missing = codes < 0
        indices = pa.array(codes, mask=missing if missing.any() else None)
        return pa.DictionaryArray.from_arrays(indices, distinct)


def _united(ends: NDArray[np.int64], letters: bytearray) -> tuple[NDArray[Any], Any]:
    """Codes of texts that stand one behind another, and the distinct ones in the order in which
    they first occur; the others are taken out.
    """
    import pyarrow as pa

    n = len(ends) - 1
    if ends[-1] <= min(_LONG * n, _MOST_LETTERS):
        buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(letters)]
        cells = pa.Array.from_buffers(pa.string(), n, buffers).dictionary_encode()
        return cells.indices.to_numpy(), cells.dictionary
    # Long ones are told apart by digests, with a key that no file knows: a table of the texts
    # themselves would hold them three times.
    key, digests, view = os.urandom(32), bytearray(), memoryview(letters)
    for first in range(0, n, _PART // 8):
        for start, end in itertools.pairwise(ends[first : first + _PART // 8 + 1].tolist()):
            digests += hashlib.blake2b(view[start:end], digest_size=16, key=key).digest()
    told = pa.Array.from_buffers(pa.binary(16), n, [None, pa.py_buffer(digests)])
    place = told.dictionary_encode().indices.to_numpy()
    new = np.diff(np.maximum.accumulate(place), prepend=-1) > 0
    lengths = np.diff(ends)[new]
    # Runs of new texts move to where the last one ended.
    bounds, end = np.flatnonzero(np.diff(new, prepend=False, append=False)).tolist(), 0
    for first, last in zip(bounds[::2], bounds[1::2], strict=True):
        start, stop = int(ends[first]), int(ends[last])
        view[end : end + stop - start] = view[start:stop]
        end += stop - start
    view.release()
    del letters[end:]
    if end > _MOST_LETTERS:
        raise UnreadableFile(
            f"the texts of a column come to {end:,} bytes, more than {_MOST_LETTERS:,}. Split the "
            "file."
        )
    kept = np.append(0, np.cumsum(lengths)).astype(np.int32)
    buffers = [None, pa.py_buffer(kept), pa.py_buffer(letters)]
    return place, pa.Array.from_buffers(pa.string(), len(lengths), buffers)


def cell_text(cells: Cells, i: int | np.integer[Any]) -> str:
    """Text of one cell, empty if it is missing."""
    return cells[int(i)].as_py() or ""


def cell_codes(cells: Cells) -> Codes:
    """Index in the dictionary by row, -1 where the cell is missing."""
    return cells.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)  # type: ignore[no-any-return]


def is_text(cells: Cells, text: str) -> Mask:
    """Rows whose cell is this text."""
    return np.array([*(known == text for known in cells.dictionary.to_pylist()), False], bool)[
        cell_codes(cells)
    ]


def text_hash(*texts: str) -> str:
    """Name of an item that nothing but its texts names."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


def map_cells(cells: Cells, function: Callable[[str], str | None]) -> Cells:
    """Replace each distinct text; None or an empty text makes the cell missing."""
    import pyarrow as pa

    mapped = []
    for part in _in_parts(cells.dictionary):
        old = part.to_pylist()
        new = [function(text) or None for text in old]
        mapped.append(None if new == old else encode_cells(new))
    if all(part is None for part in mapped):
        return cells
    joined = JoinedCells()
    for part, other in zip(_in_parts(cells.dictionary), mapped, strict=True):
        joined.add(encode_cells(part) if other is None else other)
    distinct = joined.whole()
    return pa.DictionaryArray.from_arrays(distinct.indices.take(cells.indices), distinct.dictionary)


def map_together(columns: Sequence[Cells], function: Callable[..., str]) -> Cells:
    """A text for each distinct combination of cells of several columns; an empty one is none."""
    codes = dense_codes(columns)
    first = np.unique(codes, return_index=True)[1]
    texts = [function(*(cell_text(cells, i) for cells in columns)) for i in first]
    return map_cells(coded_cells(codes, texts), str)


def fill_missing(cells: Cells, other: Cells | str) -> Cells:
    """The text, or the other cell of the row, where the cell is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not cells.null_count:
        return cells
    if isinstance(other, str):
        texts = cells.dictionary.to_pylist()
        code = texts.index(other) if other in texts else len(texts)
        texts = texts if code < len(texts) else [*texts, other]
        kind = pa.from_numpy_dtype(code_type(len(texts)))
        codes = cells.indices.cast(kind).fill_null(pa.scalar(code, kind))
        return pa.DictionaryArray.from_arrays(codes, pa.array(texts, pa.string()))
    return pc.coalesce(wide_cells(cells), wide_cells(other))


def narrow_cells(cells: Cells) -> Cells:
    """The same with codes of as few bits as the distinct texts need."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(code_type(len(cells.dictionary)))
    return cells.cast(pa.dictionary(kind, pa.string()))


def wide_cells(cells: Cells) -> Cells:
    """Cells of the one type that cells of several columns are put together in."""
    import pyarrow as pa

    return cells.cast(pa.dictionary(pa.int32(), pa.string()))


def label_counts(*columns: Cells) -> dict[str, int]:
    """How often each text occurs in these columns, without blanks around it; blank ones
    left out.
    """
    counts: dict[str, int] = {}
    for cells in columns:
        number = np.bincount(cell_codes(cells) + 1, minlength=len(cells.dictionary) + 1)[1:]
        for text, count in zip(each_text(cells), number.tolist(), strict=True):
            if count and (label := text.strip()):
                counts[label] = counts.get(label, 0) + count
    return counts


def masked_numbers(cells: Iterable[float | None], dtype: Any) -> Numbers:
    """Masked array of numbers, masked where one is None."""
    listed = list(cells)
    return np.ma.array(
        np.array([number or 0 for number in listed], dtype),
        mask=[number is None for number in listed],
    )


def has_number(column: Numbers) -> Mask:
    """Rows that have a number."""
    return ~np.ma.getmaskarray(column)


def parse_cells(
    cells: Cells, function: Callable[[str], float], dtype: Any, *, small: bool = False
) -> tuple[Numbers, dict[int, str]]:
    """Read each distinct text as a number. Returns the numbers, and why others are none by their
    code.

    small : whole numbers in as few bits as they need.
    """
    end = len(cells.dictionary)
    numbers, mask = np.zeros(end + 1, dtype), np.ones(end + 1, bool)
    reasons: dict[int, str] = {}
    for code, text in enumerate(each_text(cells)):
        try:
            numbers[code], mask[code] = function(text), False
        except BadCell as error:
            (reasons[code],) = error.args
    if dtype is np.int64 and small:
        most = max(-int(numbers.min()), int(numbers.max()))
        kinds = (kind for kind in (np.int8, np.int16, np.int32) if most <= np.iinfo(kind).max)
        numbers = numbers.astype(next(kinds, np.int64))
    return np.ma.array(numbers, mask=mask)[cell_codes(cells)], reasons


def dense_codes(columns: Iterable[Cells | Numbers]) -> Codes:
    """One code from 0 for each distinct combination of these columns; missing cells are alike."""
    return _codes(_combined(columns)[0])


def small_codes(columns: Iterable[Cells | Numbers]) -> Codes:
    """As `dense_codes`, but up to a few times the number of rows, so not each code need occur."""
    combined, size = _combined(columns)
    return combined if size <= 4 * len(combined) else _codes(combined)


def all_differ(columns: Iterable[Cells | Numbers]) -> bool:
    """Whether no two rows have the same combination of these columns."""
    combined = _combined(columns)[0]
    combined.sort()
    return not (combined[1:] == combined[:-1]).any()


def _combined(columns: Iterable[Cells | Numbers]) -> tuple[Codes, int]:
    """One whole number for each distinct combination, and how many of them there could be."""
    # Ten million rows are held a few times only, and in as few bits as will do.
    result: NDArray[Any] = np.zeros(1, np.int32)
    size = 1
    for column in columns:
        if isinstance(column, np.ma.MaskedArray):
            code = _number_codes(column.data)
            there = has_number(column)
            code = code if there.all() else np.where(there, code, -1)
        else:
            code = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        least = int(code.min(initial=0))
        width = int(code.max(initial=-1)) + 1 - least
        if size * width > 2**62:
            result = _codes(result)
            size = int(result.max(initial=0)) + 1
        size *= max(width, 1)
        kind = np.int32 if size < 2**31 else np.int64
        same = len(result) == len(code)
        result = result.astype(kind, copy=False) if same else np.zeros(len(code), kind)
        result *= width
        result += code
        result -= least
    return result, size


def _number_codes(values: NDArray[Any]) -> NDArray[Any]:
    """One code from 0 for each distinct number: its distance from the least, if that is small."""
    if values.dtype.kind == "i" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * len(values):
            near = low > -(2**31) and high < 2**31
            values = values.astype(np.int32 if near else np.int64)
            values -= low
            return values
    return _codes(values)


def _codes(values: NDArray[Any]) -> Codes:
    """One code from 0 for each distinct number, in the order in which they first occur."""
    import pyarrow as pa

    # Adding 0 makes one number of 0.0 and -0.0.
    return pa.array(values + 0).dictionary_encode().indices.to_numpy().astype(np.int64)  # type: ignore[no-any-return]
