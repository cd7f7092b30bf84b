"""What can happen to the file of a store: damage, another file in its place, a log that is not its
own.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import DamagedStore, StoreReplaced
from ..installation import PROGRAM
from .schema import COLUMNS, LAYOUTS, REFERENCES

Rows = Callable[[str], list[tuple[Any, ...]]]
"""Runs a statement that gives few rows."""

DAMAGE = (
    *("corrupt", "checksum", "could not read enough bytes", "deserializ", "serialization error"),
    *(
        "not a valid duckdb database",
        "replaying wal",
        "out of bounds",
        "internal error",
        "invalid unicode",
    ),
    "not recognized by this version",
)
"""What DuckDB says, in small letters, of a file that is not what it wrote."""
STOPPED = "has been invalidated"
"""What DuckDB says of every query after an error that it could not undo."""
IN_USE = ("could not set lock", "conflicting lock", "being used by another process")
"""What DuckDB says of a file that another process has open. The word *lock* alone is also in
"block".
"""
FORBIDDEN = "permission denied", "access is denied"
"""What DuckDB says of a file that the user may not open."""
FOREIGN = ("wal does not match", "wal checkpoint iteration does not match")
"""What DuckDB says of a write-ahead log that was written for another file, or another state of this
one.
"""
LOG_BEGINS = b"d\x00be"
"""The first entry of every write-ahead log of DuckDB 2: its version."""
HEADERS = 4096, 8192
"""Place and length of the two headers that DuckDB rewrites whenever it writes to the file itself.
"""
GONE, REPLACED, OVERWRITTEN = (
    "was deleted or moved away",
    "was replaced by another file",
    "was overwritten",
)
RESTORE = "Put a backup in its place (docs/deployment.md, Backup)"


def is_damage(error: Exception) -> bool:
    """Whether an error of DuckDB says that the file is not what DuckDB wrote."""
    said = str(error).casefold()
    return any(words in said for words in DAMAGE)


def is_in_use(error: Exception) -> bool:
    """Whether an error of DuckDB says that another process has the file open."""
    said = str(error).casefold()
    return any(words in said for words in IN_USE)


def is_forbidden(error: Exception) -> bool:
    """Whether an error says that the user has no right to the file or its folder."""
    said = str(error).casefold()
    return isinstance(error, PermissionError) or any(words in said for words in FORBIDDEN)


def damaged(place: Path | None, reason: object, *, opened: bool = True) -> DamagedStore:
    """The error for a damaged store, with what can be done.

    opened : the store could be opened, so that some of it may still come out.
    """
    out = (
        "; what can still be read comes out, kind by kind and data set by data set, with "
        f"{PROGRAM} export FILE --store {place} --what KIND --dataset NAME"
    )
    first = (str(reason).splitlines() or ["?"])[0].replace(f'"{place}" ', "")
    if place is not None and not opened and "WAL" in first:
        out = (
            f"; or move {log_of(place).name}, which holds the latest changes, away: the store then "
            "opens as it was before them"
        )
    elif not opened:
        out = ""
    return DamagedStore(f"The store {place} is damaged ({first}). {RESTORE}{out}.")


def is_foreign_log(error: Exception) -> bool:
    """Whether an error of DuckDB says that the log is of another file or another state of it."""
    said = str(error).casefold()
    return any(words in said for words in FOREIGN)


COUNTED = " union all ".join(
    f"select count(*) from (select {', '.join(sorted(columns))} from {table})"
    for table, columns in COLUMNS.items()
)
"""Quick check at opening: every table has its columns, and its rows can be counted."""


def check_tables(rows: Rows, place: Path | None) -> None:
    """Say which column is absent where `COUNTED` cannot be asked.

    Raises DamagedStore.
    """
    columns: dict[str, set[str]] = {}
    for table, column in rows("select table_name, column_name from duckdb_columns()"):
        columns.setdefault(table, set()).add(column)
    for table, expected in COLUMNS.items():
        if absent := expected - columns.get(table, set()):
            raise damaged(place, f"table {table} has no column {min(absent)}")


def check_rows(rows: Rows, place: Path | None, tables: frozenset[str] | None) -> None:
    """Read every cell of these tables (of all if None), and look up every reference from one to
    another.

    Blocks of the file have checksums, so that reading finds what was changed in them; the
    references find whole blocks that changed places.

    Raises DamagedStore: a cell is missing where none can be, a number stands for nothing, or one
    for two things.
    """
    here = {name for (name,) in rows("select table_name from duckdb_tables() where not temporary")}
    here &= here if tables is None else tables
    # Most stores hold one kind of judgements; in a table without rows there is nothing to look at.
    counts = (f"select '{table}', count(*) from {table}" for table in sorted(here))
    filled = {table for table, n in rows(" union all ".join(counts)) if n}
    for table in sorted(filled):
        rows(f"select count(*), bit_xor(hash(columns(*))) from {table}")
    for table in sorted(filled & REFERENCES.keys()):
        for column, target in REFERENCES[table].items():
            if target not in here:
                continue
            lost = f"{column} is not null and {column} not in (select id from {target})"
            if rows(f"select count(*) from {table} where {lost}")[0][0]:
                raise damaged(place, f"{column} in table {table} stands for nothing in {target}")
    named = {target for targets in REFERENCES.values() for target in targets.values()} & filled
    for table in sorted(named):
        # What the columns hold, not what the statistics of the file promise: `count` would ask
        # those.
        named_by = (
            sorted({"dataset", "name", "text"} & COLUMNS[table])
            if table != "comparisons"
            else ["id"]
        )
        key = f"count(distinct hash({', '.join(named_by)}))"
        counted = f"select count(*), count(distinct id), {key} from {table}"
        ((n, ids, names),) = rows(counted)
        if not n == ids == names:
            raise damaged(
                place, f"table {table} has {n:,} rows, {ids:,} numbers and {names:,} names"
            )
    for table in sorted(filled & LAYOUTS.keys()):
        needed = (*LAYOUTS[table].key, "id", "dataset", "status", "human")
        # A position may be unknown, and one application has no name of a model.
        missing = " or ".join(
            f"{column} is null" for column in needed if column not in ("position", "model")
        )
        if rows(f"select count(*) from {table} where {missing}")[0][0]:
            raise damaged(place, f"a row of table {table} lacks what every row has")


def log_of(place: Path) -> Path:
    """The write-ahead log of a store: changes that are not in its file yet."""
    return place.with_name(f"{place.name}.wal")


def set_aside(place: Path) -> str:
    """Give a log another name, so that the store opens without it; say which. Nothing is
    deleted.
    """
    log, moment = log_of(place), time.strftime("%Y%m%d-%H%M%S")
    aside = log.with_name(f"{log.name}.set-aside-{moment}-{os.getpid()}")
    log.rename(aside)
    return (
        f"{log.name} does not belong to the store {place} as it is now (a backup was put in its "
        "place, "
        f"perhaps). It is kept as {aside.name}; changes that are only in it are not in the store"
    )


def is_sqlite(place: Path) -> bool:
    """Whether a file is a database of SQLite, which DuckDB opens where its extension is."""
    try:
        with place.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def is_unreadable_log(place: Path) -> bool:
    """Whether a log is there that DuckDB would take for an empty one."""
    with suppress(OSError), log_of(place).open("rb") as file:
        begins = file.read(len(LOG_BEGINS))
        return len(begins) > 0 and begins != LOG_BEGINS[: len(begins)]
    return False


class Watch:
    """Whether the file at a path is the one that this process opened, and nobody else wrote to it.

    One for each path and process, so that stores on one file share it; where files cannot be
    replaced while they are open (Windows), it watches nothing.

    version : of what is in the file; whoever changes it here says so, and nobody else can.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.writing = threading.RLock()
        self.version: int | None = None
        self._file: int | None = None
        if os.name == "posix":
            # Kept open: closing any descriptor of a file gives up all locks that the process has on
            # it.
            self._file = os.open(place, os.O_RDONLY)
            weakref.finalize(self, os.close, self._file)
        self.note()

    def note(self) -> None:
        """Take the file as it is now for what this process made of it."""
        self._headers = self._read()

    def _read(self) -> bytes:
        return b"" if self._file is None else os.pread(self._file, HEADERS[1], HEADERS[0])

    def is_elsewhere(self) -> bool:
        """Whether the file that was opened is no longer the one at the path."""
        return self.problem() in (GONE, REPLACED)

    def problem(self) -> str | None:
        """What happened to the file, or None."""
        if self._file is None:
            return None
        mine = os.fstat(self._file)
        try:
            there = self.place.stat()
        except OSError:
            return GONE
        if (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino):
            return REPLACED
        return OVERWRITTEN if self._read() != self._headers else None

    def trouble(self, done: str) -> str | None:
        """What happened to the file and what to do, if anything did. done : what became of the
        change.
        """
        if not (problem := self.problem()):
            return None
        return (
            f"The file of the store {self.place} {problem} while it was open here. {done}. What "
            "was loaded before can still be read and exported until this process ends; then put "
            "the right file in its place (docs/deployment.md, Backup) and start again."
        )

    def check(self, done: str) -> None:
        """Raise StoreReplaced if something happened to the file. done : as in `trouble`."""
        if trouble := self.trouble(done):
            raise StoreReplaced(trouble)


_watches: weakref.WeakValueDictionary[Path, Watch] = weakref.WeakValueDictionary()
_watching = threading.Lock()


def watch(place: Path) -> Watch:
    """The one watch of this process on a file that is there."""
    with _watching:
        shared = _watches.get(place)
        if shared is None:
            shared = _watches[place] = Watch(place)
        return shared
