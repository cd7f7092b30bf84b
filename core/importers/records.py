"""JSON, JSON Lines and Parquet: records for the native formats, or a sheet of text cells."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.importers.columns import Coded, Rejects
from core.importers.delimited import Sheet
from core.importers.source import Source
from core.labels import shown
from core.votes import UnreadableFile

Record = Mapping[str, Any]
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Records:
    """JSON objects with their row, counted from 1; lines that are none are in `rejects`."""

    records: list[Record]
    row: list[int]
    rejects: Rejects
    rows: int


def looks_like_json(text: str) -> bool:
    """Whether a text begins like JSON or JSON Lines."""
    return text.lstrip()[:1] in ("{", "[")


def read_records(source: Source) -> Records:
    """Read a JSON array of objects, or one object a line.

    Raises
    ------
    UnreadableFile : no JSON, nested too deep, or no object in it.
    """
    text = source.text()
    if text.lstrip()[:1] == "[":
        found, rejects = _array(source.name, text)
    else:
        found, rejects = _lines(source.name, text)
    good = [(row, value) for row, value in found if isinstance(value, dict)]
    for row, value in found:
        if not isinstance(value, dict):
            rejects.add(
                row, "(whole row)", json.dumps(value), "not a JSON object; write {…} with the columns as keys"
            )
    rows = len(found) + len(rejects) - (len(found) - len(good))
    if not good:
        first = f" Row {rejects.row[0]}: {rejects.reason[0]}." if len(rejects) else ""
        raise UnreadableFile(
            f"{source.name}: row 1: no JSON object in the file.{first} Write an array of objects, or one "
            "object a line."
        )
    return Records(
        records=[value for _, value in good], row=[row for row, _ in good], rejects=rejects, rows=rows
    )


def _array(name: str, text: str) -> tuple[list[tuple[int, Any]], Rejects]:
    try:
        values = json.loads(text)
    except RecursionError:
        raise UnreadableFile(
            f"{name}: line 1: nested too deep to be votes. Write a flat array of objects."
        ) from None
    except json.JSONDecodeError as error:
        raise UnreadableFile(
            f"{name}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}). "
            "The file may be cut off; write it again, or use one object a line."
        ) from None
    except ValueError as error:
        raise UnreadableFile(f"{name}: line 1: a number that cannot be read ({error}). Shorten it.") from None
    return list(enumerate(values, start=1)), Rejects()


def _lines(name: str, text: str) -> tuple[list[tuple[int, Any]], Rejects]:
    found: list[tuple[int, Any]] = []
    rejects = Rejects()
    row = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        row += 1
        try:
            found.append((row, json.loads(line)))
        except RecursionError:
            rejects.add(row, "(whole row)", line, "nested too deep to be a vote; write a flat object")
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            rejects.add(
                row, "(whole row)", line, f"not valid JSON ({reason}); write one complete object a line"
            )
    if not found and text.lstrip().startswith("{"):
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            return found, rejects
        lists = [value for value in whole.values() if isinstance(value, list) and value]
        return list(enumerate(lists[0] if len(lists) == 1 else [whole], start=1)), Rejects()
    return found, rejects


def sheet_of_records(records: Records) -> Sheet:
    """Records as a sheet: nested values stay as JSON text, null is missing."""
    names: dict[str, None] = {}
    for record in records.records:
        names |= dict.fromkeys(record)
    columns = {
        name.strip(): Coded.of([_cell(record.get(name)) for record in records.records]) for name in names
    }
    return Sheet(
        columns=columns, row=np.array(records.row, np.int64), rejects=records.rejects, rows=records.rows
    )


def _cell(value: object) -> str | None:
    kind = type(value)
    if value is None or value == "":
        return None
    if kind is int or (kind is float and math.isfinite(value)):  # type: ignore[arg-type]
        return repr(value)
    text = value if isinstance(value, str) else _ENCODE(value)
    # A lone surrogate is legal in JSON and in no UTF-8 text.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def read_parquet(source: Source, max_bytes: int) -> Sheet:
    """Read a Parquet file, never more than `max_bytes` once unpacked.

    Raises
    ------
    UnreadableFile : no Parquet, damaged, too large, no rows, or duplicate column names.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches = []
    size = 0
    try:
        file = pq.ParquetFile(pa.BufferReader(source.data))
        names = file.schema_arrow.names
        for batch in file.iter_batches():
            batches.append(batch)
            size += batch.nbytes
            if size > max_bytes:
                raise UnreadableFile(
                    f"{source.name}: row {file.metadata.num_rows:,} and before: more than {max_bytes:,} "
                    "bytes once unpacked. Split it into smaller files."
                )
        table = pa.Table.from_batches(batches, file.schema_arrow)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFile(
            f"{source.name}: byte 1: not a Parquet file, or damaged ({_first_line(error)}). Write it "
            "again, or use CSV."
        ) from None
    _check(source.name, names, table.num_rows)
    columns = {name.strip(): Coded.of(_text(table.column(i))) for i, name in enumerate(names)}
    return Sheet(
        columns=columns, row=np.arange(1, table.num_rows + 1), rejects=Rejects(), rows=table.num_rows
    )


def _check(name: str, names: Sequence[str], rows: int) -> None:
    for i, column in enumerate(names):
        if column in names[:i]:
            raise UnreadableFile(
                f"{name}: columns {names.index(column) + 1} and {i + 1} are both named {shown(column)}. "
                "Rename one."
            )
    if rows == 0:
        raise UnreadableFile(
            f"{name}: row 1: the file has columns but no rows. Add at least one row of votes."
        )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _text(column: Any) -> Any:
    """Column as text: nested values as JSON, everything else as Arrow writes it."""
    import pyarrow as pa

    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        return pa.array(
            [_cell(value if not isinstance(value, bytes) else value.hex()) for value in column.to_pylist()]
        )
    text = column.cast(pa.string()).combine_chunks()
    return text.chunk(0) if isinstance(text, pa.ChunkedArray) else text
