"""A DuckDB file or memory: opening it, reading one state of it, and changing it as a whole.

Only this module imports duckdb.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import duckdb

from ..errors import AppellateError, StoreInUse, UnreadableFile
from ..files import is_text, shown_name
from ..installation import PROGRAM, data_folder
from ..schema import RowsRead
from . import damage, upgrades
from .schema import TABLES, VERSION, needed_by
from .statements import Params

if TYPE_CHECKING:
    import pyarrow as pa

    from ..schema import Kind


T = TypeVar("T")


OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""DuckDB fetches what it thinks a file needs from the network unless these are off."""
FRUGAL = {
    "allocator_flush_threshold": "8MB",
    "allocator_bulk_deallocation_flush_threshold": "8MB",
    "allocator_background_threads": "true",
    "write_buffer_row_group_count": "1",
}
"""DuckDB gives back what a large statement needed, at once or within seconds; else a server keeps
hundreds of megabytes for the next. What a small one needs stays: to have it anew is a third of its
time. Rows of texts are written group by group, not five together.
"""

COPIES = 5
"""Tries to copy a store that another process changes meanwhile."""

UNWRITABLE = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
    duckdb.FatalException,
)
"""What a full disk raises, depending on how far the change had come."""


def default_path() -> Path:
    """`$APPELLATE_STORE`, or `votes.duckdb` in `data/` of a checkout or the user's data
    directory.
    """
    given = os.environ.get("APPELLATE_STORE")
    return Path(given) if given else data_folder() / "votes.duckdb"


class Snapshot:
    """The store as it is at one moment, for queries that take several statements."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor
        self._kept: dict[str, tuple[Hashable, Any]] = {}

    def once(self, name: str, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives of this state of the store; the last of each name is kept."""
        kept = self._kept.get(name)
        if kept is None or kept[0] != key:
            kept = self._kept[name] = (key, make())
        found: T = kept[1]
        return found

    def release(self, *names: str) -> None:
        """Let go of what `once` keeps under these names."""
        for name in names:
            self._kept.pop(name, None)

    def query(self, sql: str, params: Params = None) -> pa.Table:
        """Run one statement. Text goes in `params`, never in `sql`."""
        return self._cursor.sql(sql, params=params).to_arrow_table()

    def batches(self, sql: str, params: Params = None) -> pa.RecordBatchReader:
        """Run one statement whose rows come one part after another, for more than should be held at
        once.
        """
        return self._cursor.sql(sql, params=params).to_arrow_reader()

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """Run one statement that gives few rows."""
        rows: list[tuple[Any, ...]] = self._cursor.execute(sql, params).fetchall()
        return rows

    def rows_read(self, datasets: tuple[str, ...] | None) -> RowsRead | None:
        """The rows of the files of these data sets; None where no file was read."""
        chosen = "true" if datasets is None else "d.name in (select unnest($names::varchar[]))"
        sums = ", ".join(f"coalesce(sum({n}), 0)::bigint" for n in ("rows", "rejected", "unread"))
        ((rows, rejected, unread),) = self.rows(
            f"""select {sums} from
            (select distinct f.sha256, f.fingerprint, f.rows, f.rejected, f.unread from files f
             join datasets d on d.id = f.dataset where {chosen}) r""",
            None if datasets is None else {"names": list(datasets)},
        )
        return RowsRead(rows=rows, rejected=rejected, unread=unread) if rows else None

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Itself: queries run together see the state that the first one saw."""
        yield self


class Change(Snapshot):
    """Statements that happen together or not at all."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        super().__init__(cursor)
        self._registered: set[str] = set()

    def once(self, name: str, key: Hashable, make: Callable[[], T]) -> T:
        """Made anew: what it is made of may have changed."""
        return make()

    def execute(self, sql: str, params: Params = None) -> None:
        """Run one statement for what it does."""
        self._cursor.execute(sql, params)

    def forget(self) -> None:
        """Drop the tables and names that statements of this change made for themselves."""
        for (name,) in self.rows("select table_name from duckdb_tables() where temporary"):
            self.execute(f"drop table temp.{name}")
        for name in self._registered:
            self._cursor.unregister(name)
        self._registered.clear()

    def count(self, sql: str, params: Params = None) -> int:
        """The whole number that a statement gives, 0 for null."""
        return int(self.rows(sql, params)[0][0] or 0)

    def register(self, name: str, rows: pa.Table) -> None:
        """Let statements of this change read a table by a name."""
        self._cursor.register(name, rows)
        self._registered.add(name)

    def insert(self, rows: pa.Table, table: str) -> None:
        """Insert rows into a table by name; columns that are not given stay null."""
        self.register("inserted", rows)
        self.execute(f"insert into {table} by name select * from inserted")
        self._cursor.unregister("inserted")
        self._registered.discard("inserted")


class Database:
    """A file of judgements, or memory. Threads may share it: each query has its own cursor.

    notes : what was found at opening that the user should know.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path | None,
        notes: tuple[str, ...] = (),
        *,
        read_only: bool = False,
        folder: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self._connection = connection
        self._folder = folder
        self.path = path
        self.notes = notes
        self._watch = None if path is None or read_only else damage.watch(path)
        self._writing = self._watch.writing if self._watch else threading.RLock()
        self._together: Change | None = None
        if self._watch and self._watch.version is None:
            with self._writing:
                if self._watch.version is None:
                    self._watch.version = self._stored_version()

    @classmethod
    def open(cls, path: str | Path | None = None, *, read_only: bool = False) -> Self:
        """Open the store at `path`, creating it if absent; `None` is a new store in memory.

        A write-ahead log that does not belong to the file is given another name, and `notes` say
        so.

        A store of an earlier layout is upgraded after a copy of it was put beside it, and `notes`
        say so.

        read_only : change nothing, and create nothing; a store of an earlier layout is read from an
            upgraded copy in a temporary folder, one that another process has open from a copy of
            this moment, and `notes` say so.

        Raises StoreInUse: another process has the file open, and it is to be changed or changes all
        the time. DamagedStore: the file is not what was
        written. UnreadableFile: no DuckDB file, a DuckDB file with other tables, a store of a
        layout that is too old or too new, or one that could not be upgraded and is as it was.
        """
        # DuckDB takes `s3:…`, `md:…` or `:memory:` for something else than a file; an absolute path
        # never is.
        place = None if path is None else Path(path).expanduser().absolute()
        if place is not None and (not is_text(str(place)) or "\0" in str(place)):
            raise UnreadableFile(f"{shown_name(place)}: the name of a store is UTF-8. Rename it.")
        try:
            connection, notes = _connect(place, read_only=read_only)
        except StoreInUse:
            if place is None or not read_only:
                raise
            return cls._of_copy(place)
        folder = None
        try:
            if place is not None and not _is_file(connection):
                raise UnreadableFile(f"{place} is no store of Appellate; name another file")
            _prepare(connection, place, read_only=read_only)
            if place is not None and (layout := _layout(connection)) != int(VERSION):
                if read_only:
                    connection.close()
                    connection, folder, said = _upgraded_elsewhere(place, layout)
                else:
                    said = _upgrade(connection, place)
                notes = (*notes, *said)
                _prepare(connection, place, read_only=read_only)
            _lock(connection)
        except duckdb.BinderException as error:
            connection.close()
            raise UnreadableFile(f"{place} is no store of Appellate; name another file") from error
        except duckdb.Error as error:
            connection.close()
            raise _named(error, place) or error from error
        except BaseException:
            connection.close()
            raise
        return cls(connection, place, notes, read_only=read_only, folder=folder)

    @classmethod
    def _of_copy(cls, place: Path) -> Self:
        """A store that another process has open, as it is now, from a folder that is gone after
        use.
        """
        folder = tempfile.TemporaryDirectory(prefix="appellate-")
        try:
            store = cls.open(_copied(place, Path(folder.name)), read_only=True)
        except BaseException:
            folder.cleanup()
            raise
        said = f"The store {place.name} is open in another process, and was read from a copy of now"
        store.notes, store._folder = (said, *store.notes), folder
        return store

    def close(self) -> None:
        # DuckDB refuses while another thread writes, as a run that has just ended may.
        with self._writing:
            if self._watch and not self._watch.problem():
                # What fails here, for want of room or because somebody reads, stays in the
                # write-ahead log.
                with suppress(duckdb.Error):
                    self._connection.execute("checkpoint")
                self._watch.note()
            self._connection.close()
            self._watch = None
            if self._folder is not None:
                self._folder.cleanup()

    def trouble(self) -> tuple[str, ...]:
        """What happened to the file while it is open here, for who only reads: a sentence, or
        none.
        """
        # While a thread writes, the file is between two states of its own.
        if self._watch is None or not self._writing.acquire(blocking=False):
            return ()
        try:
            return tuple(filter(None, [self._watch.trouble("It takes no changes any more")]))
        finally:
            self._writing.release()

    def check(self, kind: Kind | None = None) -> None:
        """Read everything in the store, or all that judgements of one kind need, and raise
        DamagedStore.

        It takes about as long as one export. Opening looks at the tables only.
        """
        with self.snapshot() as moment:
            damage.check_rows(moment.rows, self.path, None if kind is None else needed_by(kind))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def version(self) -> int:
        """Rises with every change, and never repeats for another file at the same path: a key for
        caches.
        """
        kept = self._watch.version if self._watch else None
        return self._stored_version() if kept is None else kept

    def _stored_version(self) -> int:
        return int(self.setting("version") or 0)

    def setting(self, key: str) -> str | None:
        """A row of the table `settings`; None if never set."""
        values = self.rows("select value from settings where key = ?", [key])
        return str(values[0][0]) if values else None

    def query(self, sql: str, params: Params = None) -> pa.Table:
        """Run one statement on its own cursor. Text goes in `params`, never in `sql`."""
        with self._cursor() as cursor:
            return Snapshot(cursor).query(sql, params)

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """Run one statement that gives few rows on its own cursor."""
        with self._cursor() as cursor:
            return Snapshot(cursor).rows(sql, params)

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor whose errors have a name if the file is to blame."""
        try:
            with self._connection.cursor() as cursor:
                yield cursor
        except duckdb.Error as error:
            raise _named(error, self.path) or error from error

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Several statements on one state of the store, whatever is loaded meanwhile."""
        with self._cursor() as cursor:
            cursor.begin()
            try:
                yield Snapshot(cursor)
            finally:
                # After an error that stopped the store nothing is left to be undone.
                with suppress(duckdb.Error):
                    cursor.rollback()

    @contextmanager
    def change(self) -> Iterator[Change]:
        """Statements inside a transaction: all of it happens, or nothing.

        Raises StoreReplaced: the file is not the one that was opened; before anything is changed,
        or when a change went into a file that is no longer in its place.
        """
        with self._writing:
            if self._together is not None:
                self._together.forget()
                yield self._together
                return
            with self._changing() as change:
                yield change

    @contextmanager
    def together(self) -> Iterator[None]:
        """All changes inside are one: they happen together or not at all."""
        with self.change() as change:
            self._together = change
            try:
                yield
            finally:
                self._together = None

    @contextmanager
    def _changing(self) -> Iterator[Change]:
        with self._cursor() as cursor:
            if self._watch:
                self._watch.check("Nothing was changed")
            cursor.begin()
            try:
                yield Change(cursor)
                risen = cursor.execute(
                    "update settings set value = (value::bigint + 1)::varchar "
                    "where key = 'version' returning value"
                ).fetchall()
                cursor.commit()
                if self._watch:
                    self._watch.version = int(risen[0][0]) if risen else None
            except BaseException as error:
                # A commit that fails has ended the transaction already; what went wrong is the
                # first error.
                with suppress(duckdb.Error):
                    cursor.rollback()
                if isinstance(error, UNWRITABLE) and not _named(error, self.path):
                    raise AppellateError(
                        f"The store cannot be written ({str(error).splitlines()[0]}). "
                        "It is as it was before; make room and try again."
                    ) from error
                raise
            if self._watch:
                if self._watch.is_elsewhere():
                    self._watch.check("This change is lost with the file that was here")
                self._watch.note()


def _named(error: duckdb.Error, place: Path | None) -> AppellateError | None:
    """What an error of DuckDB says about the file, if it does."""
    if damage.STOPPED in str(error):
        return AppellateError(
            f"The store {place} was closed after an error that could not be undone, and is as it "
            "was before that change. Stop this process and start it again "
            f"({str(error).splitlines()[0][:200]})."
        )
    internal = isinstance(error, duckdb.InternalException | duckdb.SerializationException)
    return damage.damaged(place, error) if internal or damage.is_damage(error) else None


def _connect(
    place: Path | None, *, read_only: bool
) -> tuple[duckdb.DuckDBPyConnection, tuple[str, ...]]:
    """The connection, and what the user should know about it."""
    notes: tuple[str, ...] = ()
    try:
        if place is not None and not read_only:
            place.parent.mkdir(parents=True, exist_ok=True)
        if place is not None and damage.is_unreadable_log(place):
            unread = (
                f"{damage.log_of(place)} cannot be read; changes that "
                "are only in it are not seen here"
            )
            notes = (unread if read_only else damage.set_aside(place),)
        config = OFFLINE | FRUGAL | ({"access_mode": "read_only"} if read_only else {})
        name = ":memory:" if place is None else str(place)
        try:
            return duckdb.connect(name, config=config), notes
        except duckdb.Error as error:
            if place is None or read_only or not damage.is_foreign_log(error):
                raise
            notes = (damage.set_aside(place),)
            return duckdb.connect(name, config=config), notes
    except (duckdb.Error, OSError) as error:
        reason = str(error).splitlines()[0]
        another = "name another store with --store or APPELLATE_STORE."
        if damage.is_forbidden(error):
            right = "read" if read_only else "read and write"
            raise UnreadableFile(
                f"You have no right to {right} the store {place}. Have its owner give it to "
                f"you (it and its folder), or {another}"
            ) from error
        if damage.is_in_use(error):
            other = "." if read_only else f", or {another}"
            raise StoreInUse(
                f"The store {place} is open in another process. Stop it (for instance the running "
                f"app){other}"
            ) from error
        if place is not None and (damage.is_damage(error) or damage.is_foreign_log(error)):
            raise damage.damaged(place, error, opened=False) from error
        # Asked last: to close a file lets go of the locks that this process has on it.
        if place is not None and damage.is_sqlite(place):
            raise UnreadableFile(
                f"{place} is a database of SQLite, and no store. Load it into one: {PROGRAM} "
                f"import {place.name} --store votes.duckdb"
            ) from error
        other = "" if read_only else " Name another with --store or APPELLATE_STORE."
        raise UnreadableFile(f"The store {place} cannot be opened ({reason}).{other}") from error


def is_foreign(path: Path) -> bool:
    """Whether a DuckDB file has tables, and none of them is a store's; False where it cannot be
    opened: a store's own messages say why.
    """
    if not is_text(str(path)):
        return False
    sql = "select table_name from duckdb_tables() where not internal"
    try:
        config = OFFLINE | FRUGAL | {"access_mode": "read_only"}
        with duckdb.connect(str(path.absolute()), config=config) as connection:
            tables = {name for (name,) in connection.execute(sql).fetchall()}
    except duckdb.Error:
        return False
    return bool(tables) and "settings" not in tables


def _is_file(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether what is written stays: of a CSV or Parquet file DuckDB makes a database in memory."""
    kept = (
        "select path is not null from duckdb_databases() where database_name = current_database()"
    )
    return bool(connection.execute(kept).fetchall()[0][0])


def _prepare(connection: duckdb.DuckDBPyConnection, place: Path | None, *, read_only: bool) -> None:
    """Create the tables of an empty file, or see that a store has a layout that can be used, and,
    if it is the present one, its tables.

    DuckDB's own lists of tables and columns are asked only where something is not as it should be:
    each takes as long as all else here.

    Raises UnreadableFile: a DuckDB file with other tables, or a store of a layout that is too old
    or too new.
    """
    snapshot = Snapshot(connection)
    layouts = None if place is None else _layouts(snapshot)
    if layouts is None and not read_only:
        connection.begin()
        change = Change(connection)
        change.execute(TABLES)
        values = [VERSION, str(time.time_ns() // 1_000_000)]
        change.execute("insert into settings values ('schema', ?), ('version', ?)", values)
        connection.commit()
        return
    if not layouts:
        raise UnreadableFile(
            f"{place} is a DuckDB file, but no store of Appellate; name another file"
        )
    written = str(layouts[0][0])
    layout = int(written) if written.isdecimal() else None
    if layout is None:
        raise damage.damaged(place, f"its layout is {written[:40]!r}")
    if layout < upgrades.OLDEST:
        raise UnreadableFile(
            f"The store {place} has layout {layout}, and this version of Appellate upgrades "
            f"layouts from {upgrades.OLDEST} on. Export its data sets with the version that wrote "
            "it and import them into a new store, or import the files that they came from again"
        )
    if layout > int(VERSION):
        other = "" if read_only else ", or name another store with --store or APPELLATE_STORE"
        raise UnreadableFile(
            f"The store {place} was written by a newer version of Appellate: it has layout "
            f"{layout}, and this version knows layouts up to {VERSION}. Use the newer "
            f"version{other}"
        )
    if layout != int(VERSION):
        return
    if not read_only:
        # What is read only may be what is left of a damaged store.
        try:
            snapshot.rows(damage.COUNTED)
        except (duckdb.BinderException, duckdb.CatalogException):
            damage.check_tables(snapshot.rows, place)
            raise


def _layouts(snapshot: Snapshot) -> list[tuple[Any, ...]] | None:
    """What a file says its layout is; None if it has no table at all."""
    try:
        return snapshot.rows(
            """select value from settings where key = 'schema'
               and (select count(*) from datasets, votes where false) = 0"""
        )
    except duckdb.CatalogException:
        return [] if snapshot.rows("select table_name from duckdb_tables()") else None


def _layout(connection: duckdb.DuckDBPyConnection) -> int:
    """The layout of a store that `_prepare` has seen."""
    ((layout,),) = _layouts(Snapshot(connection)) or ((VERSION,),)
    return int(layout)


_opening = threading.Lock()


def _upgrade(connection: duckdb.DuckDBPyConnection, place: Path) -> list[str]:
    """Bring a store to the present layout, after a copy of it was put beside it; what is to be said
    of it.

    Raises DamagedStore or UnreadableFile: the store is as it was before.
    """
    # Threads that open the same file share what they find there.
    with _opening:
        layout = _layout(connection)
        if layout == int(VERSION):
            return []
        before = upgrades.cut_short(place, layout)
        beside = upgrades.kept_beside(place, layout)
        with _upgrades(place, layout):
            upgrades.copy(connection, beside)
            notes = _transform(connection, layout)
    return [
        *before,
        f"The store {place.name} was upgraded from layout {layout} to {VERSION}; as it was before, "
        f"it is kept as {beside.name}",
        *notes,
    ]


def _copied(place: Path, folder: Path) -> Path:
    """A copy of a store's file and its log, between two changes of it.

    Raises StoreInUse: it changed during each of some tries.
    """
    files = [place, damage.log_of(place)]

    def state() -> list[tuple[int, int] | None]:
        found = [file.stat() if file.exists() else None for file in files]
        return [(one.st_mtime_ns, one.st_size) if one else None for one in found]

    for _ in range(COPIES):
        before = state()
        for file in files:
            (folder / file.name).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                shutil.copyfile(file, folder / file.name)
        if state() == before:
            return folder / place.name
        time.sleep(0.2)
    raise StoreInUse(f"The store {place} changes all the time in another process. Try again later.")


def _upgraded_elsewhere(
    place: Path, layout: int
) -> tuple[duckdb.DuckDBPyConnection, tempfile.TemporaryDirectory[str], list[str]]:
    """A store that must not change, as an upgraded copy in a folder that is gone after use."""
    folder = tempfile.TemporaryDirectory(prefix="appellate-")
    target = f"{folder.name}/votes.duckdb"
    try:
        with _upgrades(place, layout):
            with duckdb.connect(target, config=OFFLINE | FRUGAL) as connection:
                upgrades.copy_into(connection, place)
                notes = _transform(connection, layout)
            config = OFFLINE | FRUGAL | {"access_mode": "read_only"}
            reopened = duckdb.connect(target, config=config)
    except BaseException:
        folder.cleanup()
        raise
    said = f"The store {place.name} has layout {layout}, and was upgraded in a temporary copy only"
    return reopened, folder, [said, *notes]


def _transform(connection: duckdb.DuckDBPyConnection, layout: int) -> list[str]:
    """All steps from a layout to the present one, or none."""
    connection.begin()
    try:
        notes = upgrades.upgrade(Change(connection), layout)
        connection.commit()
    except BaseException:
        with suppress(duckdb.Error):
            connection.rollback()
        raise
    # What fails here stays in the write-ahead log.
    with suppress(duckdb.Error):
        connection.execute("checkpoint")
    return notes


@contextmanager
def _upgrades(place: Path, layout: int) -> Iterator[None]:
    """Say of what goes wrong that the store is as it was before."""
    try:
        yield
    except (duckdb.Error, OSError) as error:
        if isinstance(error, duckdb.Error) and damage.is_damage(error):
            raise damage.damaged(place, error) from error
        reason = (str(error).splitlines() or ["?"])[0]
        raise UnreadableFile(
            f"The store {place} has layout {layout} and could not be upgraded to {VERSION} "
            f"({reason}). It is as it was before; make room, or have the right to write there, and "
            "try again."
        ) from error


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Forbid access to other files and changes of settings."""
    # A second store on the same file shares the instance, whose settings are locked already.
    with _opening:
        _lock_settings(connection)


def _lock_settings(connection: duckdb.DuckDBPyConnection) -> None:
    if not connection.execute("select current_setting('lock_configuration')").fetchall()[0][0]:
        connection.execute("set enable_external_access = false")
        # `close` writes the file itself, after a look at whether it is still the one that was
        # opened.
        connection.execute("pragma disable_checkpoint_on_shutdown")
        connection.execute("set lock_configuration = true")
