"""JSON and JSON Lines as records, which the native formats are read from, and as tables of text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnreadableFile
from ..labels import shown
from .bounds import MAX_DEPTH, depth
from .columns import Rejects, encode_cells
from .source import MAX_COLUMNS, Source, refuse_size
from .tables import TextTable, refuse_twice

if TYPE_CHECKING:
    pass

MAX_NAME = 10_000
"""Most characters of a key of JSON objects."""

MAX_RECORDED = 20_000_000
"""Most cells of a table that is read as the records of a tool."""

Record = Mapping[str, Any]

_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Records:
    """JSON objects with their row, counted from 1; lines that are none are in `rejects`."""

    records: list[Record]
    row: list[int]
    rejects: Rejects
    rows: int


def read_records(
    source: Source, is_record: Callable[[Record], bool] = lambda whole: False
) -> Records:
    """Read a JSON array of objects, an object that holds one such array, or one object a line.

    The text is parsed whole before it is tried as lines: lines of one large object may parse alone.

    is_record : whether an object that is the whole file is itself the record, whatever arrays it
        holds.

    Raises UnreadableFile: no JSON, nested too deep, or no object in it.
    """
    text, deep = source.text(), depth(source.data) > MAX_DEPTH
    if text.lstrip()[:1] == "[":
        found, rejects = _array(source.name, text, deep), Rejects()
    else:
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError) as error:
            found, rejects = _lines(source.name, text, error, deep)
        else:
            found, rejects = (
                _unwrapped(source.name, _flat(source.name, whole, deep), is_record),
                Rejects(),
            )
    good = [(row, value) for row, value in found if isinstance(value, dict)]
    for row, value in found:
        if not isinstance(value, dict):
            rejects.add(
                row,
                "(whole row)",
                json.dumps(value),
                "not a JSON object; write {…} with the columns as keys",
            )
    if not good:
        first = f" Row {rejects.found[0][0]}: {rejects.found[0][3]}." if len(rejects) else ""
        raise UnreadableFile(
            f"{source.name}: row 1: no JSON object in the file.{first} Write an array of objects, "
            "or one object a line."
        )
    row_numbers, records = map(list, zip(*good, strict=True))
    return Records(records=records, row=row_numbers, rejects=rejects, rows=len(good) + len(rejects))


def _flat(name: str, whole: Any, deep: bool) -> Any:
    """What was read, unless it is nested too deep."""
    if deep:
        raise UnreadableFile(
            f"{name}: line 1: nested deeper than {MAX_DEPTH}, which is no file of votes. Write a "
            "flat array of objects."
        )
    return whole


def _array(name: str, text: str, deep: bool) -> list[tuple[int, Any]]:
    try:
        values = _flat(name, json.loads(text), deep)
    except RecursionError:
        _flat(name, None, True)
    except json.JSONDecodeError as error:
        raise _invalid(name, error) from None
    except ValueError as error:
        raise UnreadableFile(
            f"{name}: line 1: a number that cannot be read ({error}). Shorten it."
        ) from None
    return list(enumerate(values, start=1))


def _invalid(name: str, error: json.JSONDecodeError) -> UnreadableFile:
    return UnreadableFile(
        f"{name}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}). "
        "The file may be cut off; write it again, or use one object a line."
    )


def _unwrapped(
    name: str, whole: Record, is_record: Callable[[Record], bool]
) -> list[tuple[int, Any]]:
    """The records of an object: those of its only list of objects, or itself."""
    lists = {
        key: value
        for key, value in whole.items()
        if isinstance(value, list) and any(isinstance(one, dict) for one in value)
    }
    if not lists or is_record(whole):
        return [(1, whole)]
    if len(lists) > 1:
        raise UnreadableFile(
            f"{name}: line 1: one JSON object with {len(lists)} lists of objects "
            f"({', '.join(map(shown, lists))}). Save the one that holds the judgements as a file "
            "of its own."
        )
    (records,) = lists.values()
    return list(enumerate(records, start=1))


def _lines(
    name: str, text: str, whole: Exception, deep: bool
) -> tuple[list[tuple[int, Any]], Rejects]:
    """One object per line. whole : why the text is not JSON as a whole."""
    found: list[tuple[int, Any]] = []
    rejects = Rejects()
    for row, line in enumerate(filter(str.strip, text.split("\n")), start=1):
        try:
            if deep and depth(line.encode()) > MAX_DEPTH:
                raise RecursionError
            found.append((row, json.loads(line)))
        except RecursionError:
            reason = f"nested deeper than {MAX_DEPTH}, which is no vote; write a flat object"
            rejects.add(row, "(whole row)", line, reason)
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            rejects.add(
                row,
                "(whole row)",
                line,
                f"not valid JSON ({reason}); write one complete object a line",
            )
    # Most lines of a large object that was cut off are no objects; the few that are would pass for
    # it.
    cut_off = found and len(rejects) > len(found) and rejects.found[0][0] == 1
    if cut_off and isinstance(whole, json.JSONDecodeError):
        raise _invalid(name, whole)
    return found, rejects


def table_of_records(records: Records, file: str) -> TextTable:
    """Records as a table: nested values stay as JSON text, null is missing."""
    names: dict[str, None] = {}
    for record in records.records:
        names |= dict.fromkeys(record)
        if len(names) > MAX_COLUMNS:
            break
    refuse_size(file, len(records.records), len(names))
    if (longest := max(map(len, names), default=0)) > MAX_NAME:
        raise UnreadableFile(
            f"{file}: row 1 or below: a key of {longest:,} characters, more than {MAX_NAME:,}. "
            "Shorten it."
        )
    called = [_text_of(name).strip() for name in names]
    refuse_twice(f"{file}: row 1 or below: keys", called)
    cells = (
        encode_cells([as_cell(record.get(name)) for record in records.records]) for name in names
    )
    columns = dict(zip(called, cells, strict=True))
    return TextTable(
        columns=columns,
        row=np.array(records.row, np.int32),
        rejects=records.rejects,
        rows=records.rows,
    )


def records_of_table(table: TextTable, file: str) -> Records:
    """Rows of a table as records of texts; a missing cell is None.

    Raises UnreadableFile: more cells than a log has.
    """
    names = list(table.columns)
    if len(names) * len(table.row) > MAX_RECORDED:
        raise UnreadableFile(
            f"{file}: {len(table.row):,} rows of {len(names):,} columns, more than "
            f"{MAX_RECORDED:,} cells, which no log of a tool has. Keep the columns of the "
            "judgements, or split the file."
        )
    columns = (column.to_pylist() for column in table.columns.values())
    rows = zip(*columns, strict=True)
    records: list[Record] = [dict(zip(names, cells, strict=True)) for cells in rows]
    return Records(
        records=records, row=[int(row) for row in table.row], rejects=table.rejects, rows=table.rows
    )


def as_cell(value: object) -> str | None:
    kind = type(value)
    if value is None or value == "":
        return None
    if kind is int or (kind is float and math.isfinite(value)):  # type: ignore[arg-type]
        return repr(value)
    return _text_of(value if isinstance(value, str) else _ENCODE(value))


def _text_of(text: str) -> str:
    """A lone surrogate is legal in JSON and in no UTF-8 text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
