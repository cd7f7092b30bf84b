"""Judgements that are objects in Python: records, columns, frames and relations, as files are."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidOption, UnreadableFile
from ..files import file_to_read

if TYPE_CHECKING:
    import pyarrow as pa

File = tuple[str, bytes | Path]
"""What a file is called, and its path or its bytes."""
TOGETHER = "Give several files or tables in one list, and a store alone."


def are_records(source: Any) -> bool:
    """Whether an object is a list of records, or one of columns, and not a list of sources."""
    if isinstance(source, Mapping):
        return True
    return isinstance(source, list | tuple) and bool(source) and isinstance(source[0], Mapping)


def sources_in(source: Any) -> list[Any]:
    """The sources that an object stands for: those of a list, or itself alone."""
    several = isinstance(source, list | tuple) and not are_records(source)
    return list(source) if several else [source]


def as_file(source: Any, name: str) -> File:
    """A source as a file: paths and bytes as they are, records as JSON, tables as Parquet.

    name : of what has none.

    Raises as `file_to_read` and `as_arrow`.
    """
    if isinstance(source, str | Path):
        return file_to_read(source)
    if isinstance(source, bytes | bytearray | memoryview):
        return name, bytes(source)
    if are_records(source):
        return name, as_json(source)
    import pyarrow.parquet as pq

    written = io.BytesIO()
    pq.write_table(as_arrow(source, name), written)
    return name, written.getvalue()


def as_files(source: Any, name: str) -> list[File]:
    """The sources that an object stands for as files; those without a name go by their place."""
    sources = sources_in(source)
    return [
        as_file(each, name if len(sources) == 1 else f"{name} {place}")
        for place, each in enumerate(sources, 1)
    ]


def as_json(source: Any) -> bytes:
    """A list of records as JSON Lines, and columns of one length as well; any other mapping as it
    is. NaN is missing, and what JSON has no form of is its text.
    """
    records: Iterable[Any] = source
    if isinstance(source, Mapping):
        rows = _rows(source)
        records = rows if rows else [source]
    return "\n".join(json.dumps(_plain(record), allow_nan=False) for record in records).encode()


def _rows(columns: Mapping[Any, Any]) -> list[dict[Any, Any]]:
    """Rows of columns that are sequences of one length; none where they are not."""
    values = [each.tolist() if hasattr(each, "tolist") else each for each in columns.values()]
    lists = all(isinstance(each, Sequence) and not isinstance(each, str) for each in values)
    if not values or not lists or len(set(map(len, values))) != 1:
        return []
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*values, strict=True)]


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        # Of NumPy and its like: a number, or a list of them.
        return _plain(value.tolist())
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    # A missing value of pandas differs from itself, or has no truth.
    text = str(value)
    return None if text in ("<NA>", "NaT") else text


def as_arrow(source: Any, name: str) -> pa.Table:
    """A table in memory as Arrow's. Raises TypeError, UnreadableFile."""
    import pyarrow as pa

    if callable(getattr(source, "snapshot", None)):
        raise TypeError(f"A store in a list. {TOGETHER}")
    if type(source).__name__ == "DuckDBPyConnection":
        source = _only_table(source)
    if not hasattr(source, "__arrow_c_stream__") and hasattr(source, "to_pandas"):
        source = source.to_pandas()
    if not hasattr(source, "__arrow_c_stream__"):
        remedy = " Call .collect() first." if hasattr(source, "collect") else ""
        raise TypeError(
            f"{type(source).__name__} holds no votes that can be read: give a path, bytes, a list "
            "of records, a table of pandas, Polars or Arrow, a DuckDB relation, a store, or a list "
            f"of files and tables.{remedy}"
        )
    try:
        return pa.RecordBatchReader.from_stream(source).read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        if hasattr(source, "items"):
            return _by_column(source)
        raise UnreadableFile(
            f"{name}: the table cannot be read ({(str(error) or 'no reason').splitlines()[0]}). "
            "Give one with named columns."
        ) from None


def _by_column(frame: Any) -> pa.Table:
    """A frame of pandas with columns of mixed values, which Arrow has no type for, as text."""
    import pyarrow as pa

    names, columns = [], []
    for name, values in frame.items():
        try:
            column = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            texts = [
                None if missing else str(value)
                for value, missing in zip(values, values.isna(), strict=True)
            ]
            column = pa.array(texts, pa.string())
        names.append(str(name))
        columns.append(column)
    return pa.Table.from_arrays(columns, names=names)


def _only_table(connection: Any) -> Any:
    """The table of a DuckDB connection that holds one."""
    rows = connection.cursor().execute(
        "select table_name from information_schema.tables order by table_name"
    )
    names = [name for (name,) in rows.fetchall()]
    if len(names) != 1:
        raise InvalidOption(
            f"The connection holds {len(names):,} tables ({', '.join(names[:10])}): give one as a "
            'relation, such as connection.table("votes").'
        )
    return connection.table(names[0])
