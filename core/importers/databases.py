"""Tables of databases, SQLite's and DuckDB's: which one is read, and its cells.

A table is named after its file, as in `votes.sqlite::judgements`. Nothing of a database is run, no
extension is loaded, and it is opened for reading only.
"""

from __future__ import annotations

import csv
import io
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UnreadableFile
from ..labels import shown

if TYPE_CHECKING:
    import duckdb

SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"
DUCKDB_AT = 8
"""Bytes before the mark of a DuckDB file."""
SEPARATOR = "::"
"""Between a file and one of its tables or sheets."""
_STEPS = 200_000_000
"""Most steps of SQLite's machine for one table: computed columns can take any number."""
_CELL = 16 * 1024**2
"""Most bytes of a cell of SQLite: a computed one can be a gigabyte."""
_NAMED, _COLUMNS = 12, 6
"""Most tables that a message names, and most columns of each."""
_CONFINED = {
    "access_mode": "read_only",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
    "memory_limit": "2GB",
}
_STORE = {"settings", "datasets"}
"""Tables that every store has."""


def with_table(name: str, data: bytes | Path) -> tuple[bytes | Path, str | None]:
    """The file that is named, and the table or sheet named after it: `votes.sqlite::judgements`."""
    if isinstance(data, Path):
        file, separator, table = data.name.rpartition(SEPARATOR)
        try:
            if not separator or not file or data.exists():
                return data, None
        except (OSError, ValueError):
            return data, None
        return data.with_name(file), table
    _, separator, table = name.rpartition(SEPARATOR)
    return data, table if separator else None


def refuse_table(name: str, table: str) -> None:
    """Refuse a table that is named after a file that has none."""
    raise UnreadableFile(
        f"{name}: {SEPARATOR} names a table of a database or a sheet of a workbook, and this file "
        f"is neither. Leave out {shown(SEPARATOR + table)}."
    )


def one_of(name: str, what: str, tables: Mapping[str, Sequence[str]], table: str | None) -> str:
    """The table that is named, whatever the case of its letters, else the only one.

    tables : name → names of its columns.  what : the kind of database, as a message says it.

    Raises UnreadableFile, which names the tables.
    """
    if table is not None:
        if table in tables:
            return table
        alike = [each for each in tables if each.casefold() == table.casefold()]
        if len(alike) == 1:
            return alike[0]
    elif len(tables) == 1:
        return next(iter(tables))
    file = name if table is None else name.rpartition(SEPARATOR)[0]
    if not tables:
        raise UnreadableFile(
            f"{file}: {what} without a table that has rows. Name a file that holds the judgements."
        )
    held = "; ".join(f"{shown(each)} ({_some(tables[each])})" for each in list(tables)[:_NAMED])
    more = f"; and {len(tables) - _NAMED:,} more" if len(tables) > _NAMED else ""
    why = f"which has no table {shown(table)}" if table is not None else "of several tables"
    first = next(iter(tables))
    raise UnreadableFile(
        f"{file}: {what} {why}. Which of them holds the judgements: {held}{more}? Name it after "
        f"the file, as in {shown(file + SEPARATOR + first)}, or save it as CSV."
    )


def _some(columns: Sequence[str]) -> str:
    """The first columns of a table."""
    more = ", …" if len(columns) > _COLUMNS else ""
    return ", ".join(shown(column, 40) for column in columns[:_COLUMNS]) + more


def sqlite_as_csv(name: str, data: bytes, max_bytes: int, table: str | None = None) -> bytes:
    """A table of an SQLite database as CSV, read in memory: the one named, or the only one with
    rows.

    Raises UnreadableFile: damaged, no such table, several, or more than `max_bytes` of text.
    """
    database = sqlite3.connect(":memory:")
    try:
        database.deserialize(data)
        database.execute("PRAGMA trusted_schema = OFF")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _CELL)
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        left = iter(range(_STEPS // 100_000))
        database.set_progress_handler(lambda: int(next(left, None) is None), 100_000)
        names = [
            each
            for (each,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
                "AND sql NOT LIKE 'CREATE VIRTUAL%' LIMIT 1000"
            )
        ]
        if table is None and len(names) > 1:
            names = [
                each
                for each in names
                if database.execute(f"SELECT 1 FROM {_quoted(each)} LIMIT 1").fetchone()
            ]
        tables = {
            each: [
                column
                for (column,) in database.execute("SELECT name FROM pragma_table_info(?)", [each])
            ]
            for each in names
        }
        called = one_of(name, "an SQLite database", tables, table)
        rows = database.execute(f"SELECT * FROM {_quoted(called)}")
        written = io.StringIO(newline="")
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow([column[0] for column in rows.description])
        for row in rows:
            writer.writerow(
                [
                    cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell
                    for cell in row
                ]
            )
            if written.tell() > max_bytes:
                raise _too_large(name, called, max_bytes)
    except (sqlite3.Error, UnicodeError) as error:
        raise UnreadableFile(
            f"{name}: the SQLite database cannot be read ({error}). Export the table as CSV."
        ) from None
    finally:
        database.close()
    return written.getvalue().encode()


def duckdb_as_parquet(
    name: str, data: bytes | Path, max_bytes: int, table: str | None = None
) -> bytes:
    """A table of a DuckDB file as Parquet: the one named, or the only one with rows.

    Raises UnreadableFile: damaged, in use, a store, no such table, several, or more than
    `max_bytes` in memory.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        place = data if isinstance(data, Path) else Path(folder, "database")
        if isinstance(data, bytes):
            place.write_bytes(data)
        connection = None
        try:
            connection = _connected(place)
            tables = _tables(connection)
            if tables.keys() >= _STORE:
                raise UnreadableFile(
                    f"{name}: a store of Appellate, which is read whole. Name it alone, without a "
                    "table, or export what is in it."
                )
            if table is None:
                tables = {
                    each: columns
                    for each, columns in tables.items()
                    if connection.execute(f"SELECT 1 FROM {_quoted(each)} LIMIT 1").fetchall()
                }
            called = one_of(name, "a DuckDB database", tables, table)
            rows = connection.sql(f"SELECT * FROM {_quoted(called)}").to_arrow_reader()
            batches, size = [], 0
            for batch in rows:
                batches.append(batch)
                size += batch.nbytes
                if size > max_bytes:
                    raise _too_large(name, called, max_bytes)
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_batches(batches, rows.schema), sink)
            parquet: bytes = sink.getvalue().to_pybytes()
            return parquet
        except UnreadableFile:
            raise
        except Exception as error:
            # DuckDB's errors and Arrow's; of a damaged file also those of what it happens to be.
            reason = (str(error) or type(error).__name__).splitlines()[0]
            reason = reason.replace(str(place.absolute()), name)
            raise UnreadableFile(
                f"{name}: byte {DUCKDB_AT + 1}: the file is a DuckDB database, and cannot be read "
                f"({reason}). Close it where it is open, or export the table as CSV or Parquet."
            ) from None
        finally:
            if connection is not None:
                connection.close()


def _connected(path: Path) -> duckdb.DuckDBPyConnection:
    import duckdb

    # DuckDB takes some names for something else than a file; an absolute path never is.
    return duckdb.connect(str(path.absolute()), config=_CONFINED)


def _tables(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Tables of the file's own schema with their columns, in order."""
    tables: dict[str, list[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables() "
        "USING (database_name, schema_name, table_name) WHERE schema_name = 'main' "
        "AND NOT duckdb_columns.internal ORDER BY table_name, column_index"
    ).fetchall():
        tables.setdefault(table, []).append(column)
    return tables


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _too_large(name: str, table: str, max_bytes: int) -> UnreadableFile:
    return UnreadableFile(
        f"{name}: its table {shown(table)} holds more than {max_bytes:,} bytes. Save a part of it "
        "as CSV."
    )
