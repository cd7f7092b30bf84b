"""A DuckDB file or memory: opening it, reading one state of it, and changing it as a whole.

Only this module imports duckdb.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import duckdb

from ..errors import AppellateError, StoreInUse, UnreadableFile
from ..installation import data_folder
from .schema import TABLES, UPGRADES, VERSION

if TYPE_CHECKING:
    import pyarrow as pa


Params = Sequence[Any] | Mapping[str, Any] | None

OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""DuckDB fetches what it thinks a file needs from the network unless these are off."""

UNWRITABLE = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
    duckdb.FatalException,
)
"""What a full disk raises, depending on how far the change had come."""


def default_path() -> Path:
    """`$APPELLATE_STORE`, or `votes.duckdb` in `data/` of a checkout or the user's data directory."""
    given = os.environ.get("APPELLATE_STORE")
    return Path(given) if given else data_folder() / "votes.duckdb"


class Snapshot:
    """The store as it is at one moment, for queries that take several statements.

    others : columns outside the canonical form, where they are known without a look at the rows.
    """

    others: tuple[str, ...] | None = None

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def query(self, sql: str, params: Params = None) -> pa.Table:
        """Run one statement. Text goes in `params`, never in `sql`."""
        return self._cursor.sql(sql, params=params).to_arrow_table()

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """Run one statement that gives few rows."""
        found: list[tuple[Any, ...]] = self._cursor.execute(sql, params).fetchall()
        return found

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Itself: queries run together see the state that the first one saw."""
        yield self


class Change(Snapshot):
    """Statements that happen together or not at all."""

    def execute(self, sql: str, params: Params = None) -> None:
        """Run one statement for what it does."""
        self._cursor.execute(sql, params)

    def count(self, sql: str, params: Params = None) -> int:
        """The whole number that a statement gives, 0 for null."""
        return int(self.rows(sql, params)[0][0] or 0)

    def register(self, name: str, rows: pa.Table) -> None:
        """Let statements of this change read a table by a name."""
        self._cursor.register(name, rows)

    def insert(self, rows: pa.Table, table: str) -> None:
        """Insert rows into a table by name; columns that are not given stay null."""
        self.register("inserted", rows)
        self.execute(f"insert into {table} by name select * from inserted")
        self._cursor.unregister("inserted")


class Database:
    """A file of judgements, or memory. Threads may share it: each query has its own cursor."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
        self._connection = connection
        self._writing = threading.RLock()
        self.path = path

    @classmethod
    def open(cls, path: str | Path | None = None, *, read_only: bool = False) -> Self:
        """Open the store at `path`, creating it if absent; `None` is a new store in memory.

        read_only : change nothing: nothing is created, and a store of an earlier layout stays one.

        Raises
        ------
        StoreInUse : another process has the file open.
        UnreadableFile : the file is damaged, no DuckDB file, or a DuckDB file with other tables.
        """
        # DuckDB takes `s3:…`, `md:…` or `:memory:` for something else than a file; an absolute path never is.
        place = None if path is None else Path(path).expanduser().absolute()
        connection = _connect(place, read_only=read_only)
        try:
            if place is not None and not _is_file(connection):
                raise UnreadableFile(f"{place} is no store of Appellate; name another file")
            connection.begin()
            _prepare(Change(connection), place, read_only=read_only)
            connection.commit()
            _lock(connection)
        except duckdb.BinderException as error:
            connection.close()
            raise UnreadableFile(f"{place} is no store of Appellate; name another file") from error
        except BaseException:
            connection.close()
            raise
        return cls(connection, place)

    def close(self) -> None:
        # DuckDB refuses while another thread writes, as a run that has just ended may.
        with self._writing:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def version(self) -> int:
        """Rises with every change, and never repeats for another file at the same path: a key for caches."""
        return int(self.setting("version") or 0)

    def setting(self, key: str) -> str | None:
        """A row of the table `settings`; None if never set."""
        found = self.rows("select value from settings where key = ?", [key])
        return str(found[0][0]) if found else None

    def query(self, sql: str, params: Params = None) -> pa.Table:
        """Run one statement on its own cursor. Text goes in `params`, never in `sql`."""
        with self._connection.cursor() as cursor:
            return Snapshot(cursor).query(sql, params)

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """Run one statement that gives few rows on its own cursor."""
        with self._connection.cursor() as cursor:
            return Snapshot(cursor).rows(sql, params)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Several statements on one state of the store, whatever is loaded meanwhile."""
        with self._connection.cursor() as cursor:
            cursor.begin()
            try:
                yield Snapshot(cursor)
            finally:
                cursor.rollback()

    @contextmanager
    def change(self) -> Iterator[Change]:
        """Statements inside a transaction: all of it happens, or nothing."""
        with self._writing, self._connection.cursor() as cursor:
            cursor.begin()
            try:
                yield Change(cursor)
                cursor.execute(
                    "update settings set value = (value::bigint + 1)::varchar where key = 'version'"
                )
                cursor.commit()
            except BaseException as error:
                # A commit that fails has ended the transaction already; what went wrong is the first error.
                with suppress(duckdb.Error):
                    cursor.rollback()
                if isinstance(error, UNWRITABLE):
                    raise AppellateError(
                        f"The store cannot be written ({str(error).splitlines()[0]}). "
                        "It is as it was before; make room and try again."
                    ) from error
                raise


def _connect(place: Path | None, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    try:
        if place is not None and not read_only:
            place.parent.mkdir(parents=True, exist_ok=True)
        config = OFFLINE | ({"access_mode": "read_only"} if read_only else {})
        return duckdb.connect(":memory:" if place is None else str(place), config=config)
    except (duckdb.Error, OSError) as error:
        reason = str(error).splitlines()[0]
        if "lock" in reason or "being used by another process" in reason:
            other = "." if read_only else ", or name another store with --store or APPELLATE_STORE."
            raise StoreInUse(
                f"The store {place} is open in another process. Stop it (for instance the running app){other}"
            ) from error
        other = " Name another with --store or APPELLATE_STORE, or move the file away to start an empty one."
        raise UnreadableFile(
            f"The store {place} cannot be opened ({reason}).{'' if read_only else other}"
        ) from error


def _is_file(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether what is written stays: of a CSV or Parquet file DuckDB makes a database in memory."""
    kept = "select path is not null from duckdb_databases() where database_name = current_database()"
    return bool(connection.execute(kept).fetchall()[0][0])


def _prepare(change: Change, place: Path | None, *, read_only: bool) -> None:
    """Create the tables of an empty file, or bring those of an earlier layout up to date.

    Raises
    ------
    UnreadableFile : a DuckDB file with other tables, or a store of a later version.
    """
    tables = {name for (name,) in change.rows("select table_name from duckdb_tables()")}
    if not tables and not read_only:
        change.execute(TABLES)
        values = [VERSION, str(time.time_ns() // 1_000_000)]
        change.execute("insert into settings values ('schema', ?), ('version', ?)", values)
        return
    found = []
    if {"settings", "datasets", "votes"} <= tables:
        found = change.rows("select value from settings where key = 'schema'")
    if not found:
        raise UnreadableFile(f"{place} is a DuckDB file, but no store of Appellate; name another file")
    layout = found[0][0]
    if layout in UPGRADES and not read_only:
        change.execute(UPGRADES[layout])
        change.execute("update settings set value = ? where key = 'schema'", [VERSION])
    elif layout not in (VERSION, *UPGRADES):
        raise UnreadableFile(
            f"The store {place} has layout {layout}, this version reads {VERSION}: export its "
            "data sets with the version that made it and import them into a new store"
        )


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Forbid access to other files and changes of settings."""
    # A second store on the same file shares the instance, whose settings are locked already.
    if not connection.execute("select current_setting('lock_configuration')").fetchall()[0][0]:
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
