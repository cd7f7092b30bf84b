"""The store: judgements as integer keys in a DuckDB file, or in memory. Only this module imports duckdb."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import duckdb

from ..errors import AppellateError, InvalidOption, StoreInUse, UnknownName, UnreadableFile
from ..installation import data_folder
from ..schema import ImportResult, Kind, Selection
from . import ledger as replies
from .load import LoadReport, load_reading, load_rows, vacuum

if TYPE_CHECKING:
    import pyarrow as pa


SCHEMA_VERSION = "2"
OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""DuckDB fetches what it thinks a file needs from the network unless told not to."""

UNWRITABLE = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,
    duckdb.FatalException,
)
"""What a full disk raises, depending on how far the change had come."""

# No keys or constraints: a primary key costs 7 times the loading time and 17 times the file. Text lives in
# dictionaries and in `details`, which has rows only for votes that need one, so counting reads integers only.
# Category, lengths and texts belong to a vote and may differ within a comparison; gold is the comparison's.
SCHEMA = """
create table settings (key varchar, value varchar);
create table datasets (id integer, name varchar, simulated boolean, loaded_at timestamp);
create table files (sha256 varchar, fingerprint varchar, dataset integer, target varchar, name varchar,
                    format varchar, loaded_at timestamp);
create table items (id integer, dataset integer, name varchar);
create table models (id integer, name varchar);
create table judges (id integer, name varchar);
create table categories (id integer, name varchar);
create table comparisons (id integer, dataset integer, item integer, model_a integer, model_b integer,
                          gold tinyint);
create table votes (id bigint, dataset integer, comparison integer, judge integer, category integer,
                    run bigint, position tinyint, vote tinyint, confidence double, confidence_kind tinyint,
                    status tinyint, human boolean);
create table texts (id integer, text varchar);
create table details (vote bigint, prompt integer, response_a integer, response_b integer, rationale integer,
                      prompt_hash integer, length_a bigint, length_b bigint, temperature double, cost double,
                      extra map(varchar, varchar));
"""

# A score or a ranking holds its texts itself: columns without a value take no room. The rows of one ranking,
# one a candidate, share its id.
ROWS_SCHEMA = """
create table scores (id bigint, dataset integer, item integer, category integer, model integer, judge integer,
                     run bigint, score double, status tinyint, human boolean,
                     prompt integer, response integer, rationale integer, prompt_hash integer,
                     temperature double, cost double, extra map(varchar, varchar));
create table rankings (id bigint, dataset integer, item integer, category integer, judge integer, run bigint,
                       candidate integer, slot integer, score double, rank integer, uncertain tinyint,
                       major_error tinyint, unsupported tinyint, chosen tinyint, is_best tinyint,
                       status tinyint, human boolean,
                       prompt integer, response integer, rationale integer, prompt_hash integer,
                       temperature double, cost double, extra map(varchar, varchar));
"""

UPGRADES = {"1": ROWS_SCHEMA}
"""Layout of an older store → what brings it to the present one. Its votes stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetInfo:
    """One data set of the store. `votes`, `scores` and `rankings` include failed ones; a ranking counts once.

    items : prompts that any of them is about.  files : the files loaded into it.
    """

    name: str
    votes: int
    items: int
    comparisons: int
    judges: int
    files: int
    simulated: bool
    loaded_at: datetime
    scores: int = 0
    rankings: int = 0


def default_path() -> Path:
    """`$APPELLATE_STORE`, or `votes.duckdb` in `data/` of a checkout or the user's data directory."""
    given = os.environ.get("APPELLATE_STORE")
    return Path(given) if given else data_folder() / "votes.duckdb"


class Snapshot:
    """The store as it is at one moment, for questions that take several statements."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def query(self, sql: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> pa.Table:
        """Run one statement. Text goes in `params`, never in `sql`."""
        return self._cursor.sql(sql, params=params).to_arrow_table()

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Itself: questions asked together see the state that the first one saw."""
        yield self


class Store:
    """Votes on disk or in memory. Use `Store.open`; threads may share it, each query has its own cursor."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None) -> None:
        self._connection = connection
        self._writing = threading.RLock()
        self.path = path

    @classmethod
    def open(cls, path: str | Path | None = None, *, read_only: bool = False) -> Store:
        """Open the store at `path`, creating it if absent; `None` is a new store in memory.

        read_only : change nothing: nothing is created, and a store of an earlier layout stays one.

        Raises
        ------
        StoreInUse : another process has the file open.
        UnreadableFile : the file is damaged, no DuckDB file, or a DuckDB file with other tables.
        """
        # DuckDB takes `s3:…`, `md:…` or `:memory:` for something else than a file; an absolute path never is.
        place = None if path is None else Path(path).expanduser().absolute()
        try:
            if place is not None and not read_only:
                place.parent.mkdir(parents=True, exist_ok=True)
            config = OFFLINE | ({"access_mode": "read_only"} if read_only else {})
            connection = duckdb.connect(":memory:" if place is None else str(place), config=config)
        except (duckdb.Error, OSError) as error:
            reason = str(error).splitlines()[0]
            if "lock" in reason or "being used by another process" in reason:
                raise StoreInUse(
                    f"The store {place} is open in another process. Stop it (for instance the running app)"
                    + ("." if read_only else ", or name another store with --store or APPELLATE_STORE.")
                ) from error
            raise UnreadableFile(
                f"The store {place} cannot be opened ({reason})."
                + (
                    ""
                    if read_only
                    else " Name another with --store or APPELLATE_STORE, or move the file away to start an "
                    "empty one."
                )
            ) from error
        try:
            if place is not None and not _is_file(connection):
                raise UnreadableFile(f"{place} is no store of Appellate; name another file")
            _prepare(connection, place, read_only=read_only)
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

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> int:
        """Rises with every change, and never repeats for another file at the same path: a key for caches."""
        value = self._setting("version")
        return int(value) if value is not None else 0

    def query(self, sql: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> pa.Table:
        """Run one statement on its own cursor. Text goes in `params`, never in `sql`."""
        with self._connection.cursor() as cursor:
            return Snapshot(cursor).query(sql, params)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Several statements on one state of the store, whatever is loaded meanwhile."""
        with self._connection.cursor() as cursor:
            cursor.begin()
            try:
                yield Snapshot(cursor)
            finally:
                cursor.rollback()

    def load(
        self,
        reading: ImportResult,
        *,
        dataset: str | None = None,
        on_conflict: Literal["keep", "replace"] = "keep",
        simulated: bool = False,
    ) -> LoadReport:
        """Load a reading in one transaction; what is there already is not loaded again (see `LoadReport`).

        Parameters
        ----------
        dataset : put everything into this data set, whatever the file says.
        on_conflict : when a vote has the key of a stored one (data set, comparison, judge, run, position) but
            other content, a score or ranking that of its form (`Form.key`), or a comparison another gold
            label: `keep` what is stored, or `replace` it.
        simulated : mark data sets that this load creates as simulated.
        """
        if on_conflict not in ("keep", "replace"):
            raise InvalidOption(f"on_conflict is {on_conflict!r}; allowed: 'keep', 'replace'")
        if dataset is not None and not dataset.strip():
            raise InvalidOption("The name of a data set must not be empty")
        load = load_reading if reading.kind == "votes" else load_rows
        with self._change() as cursor:
            return load(
                cursor, reading, dataset=dataset, replace=on_conflict == "replace", simulated=simulated
            )

    def datasets(self) -> list[DatasetInfo]:
        """The data sets in order of name."""
        found = self.query("""
            with v as (select dataset, count(*) n from votes group by dataset),
            s as (select dataset, count(*) n from scores group by dataset),
            r as (select dataset, count(distinct id) n from rankings group by dataset),
            c as (select dataset, count(*) n from comparisons group by dataset),
            i as (select dataset, count(*) n from items group by dataset),
            j as (select dataset, count(distinct judge) n
                  from (select distinct dataset, judge from votes
                        union all select distinct dataset, judge from scores
                        union all select distinct dataset, judge from rankings) group by dataset),
            f as (select dataset, count(*) n from files group by dataset)
            select d.name, coalesce(v.n, 0) as votes, coalesce(i.n, 0) as items,
                   coalesce(c.n, 0) as comparisons, coalesce(j.n, 0) as judges,
                   coalesce(f.n, 0) as files, d.simulated, d.loaded_at,
                   coalesce(s.n, 0) as scores, coalesce(r.n, 0) as rankings
            from datasets d left join v on v.dataset = d.id left join s on s.dataset = d.id
            left join r on r.dataset = d.id left join c on c.dataset = d.id
            left join i on i.dataset = d.id left join j on j.dataset = d.id
            left join f on f.dataset = d.id order by d.name""")
        return [DatasetInfo(**row) for row in found.to_pylist()]

    def rename_dataset(self, old: str, new: str) -> None:
        """Give a data set another name; the new name must be free."""
        if not new.strip():
            raise InvalidOption("The name of a data set must not be empty")
        with self._change() as cursor:
            number = _dataset_id(cursor, old)
            if old != new and cursor.execute("select 1 from datasets where name = ?", [new]).fetchone():
                raise InvalidOption(
                    f"There is already a data set named {new!r}; delete or rename that one first"
                )
            cursor.execute("update datasets set name = ? where id = ?", [new, number])
            cursor.execute(replies.SCHEMA)
            for table in replies.TABLES:
                cursor.execute(f"update {table} set dataset = ? where dataset = ?", [new, old])

    def delete_dataset(self, name: str) -> None:
        """Delete a data set with all that is in it, its ledger lines and the replies of models to it."""
        with self._change() as cursor:
            number = _dataset_id(cursor, name)
            cursor.execute(
                "delete from details where vote in (select id from votes where dataset = ?)", [number]
            )
            for table in ("votes", "scores", "rankings", "comparisons", "items", "files"):
                cursor.execute(f"delete from {table} where dataset = ?", [number])
            cursor.execute("delete from datasets where id = ?", [number])
            cursor.execute(replies.SCHEMA)
            for table in replies.TABLES:
                cursor.execute(f"delete from {table} where dataset = ?", [name])
            vacuum(cursor)

    def flag(self, key: str) -> str | None:
        """A remembered setting, such as that the demo was deleted; None if never set."""
        return self._setting(f"flag:{key}")

    def set_flag(self, key: str, value: str | None) -> None:
        """Remember a setting; None forgets it."""
        with self._change() as cursor:
            cursor.execute("delete from settings where key = ?", [f"flag:{key}"])
            if value is not None:
                cursor.execute("insert into settings values (?, ?)", [f"flag:{key}", value])

    def export(self, selection: Selection | None = None, *, kind: Kind = "votes") -> pa.Table:
        """All votes of the selection (or scores, or rankings), failed ones too, to import again.

        The canonical columns come first, then each extra column. A ranking has a row for each candidate.
        """
        from .export import export_rows, export_votes

        selection = Selection() if selection is None else selection
        with self.snapshot() as moment:
            return (
                export_votes(moment, selection) if kind == "votes" else export_rows(moment, selection, kind)
            )

    def _setting(self, key: str) -> str | None:
        with self._connection.cursor() as cursor:
            row = cursor.execute("select value from settings where key = ?", [key]).fetchone()
        return None if row is None else str(row[0])

    @contextmanager
    def change(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for statements that happen together or not at all; for modules of the store's layer."""
        with self._change() as cursor:
            yield cursor

    @contextmanager
    def _change(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor inside a transaction: all of it happens, or nothing."""
        with self._writing, self._connection.cursor() as cursor:
            cursor.begin()
            try:
                yield cursor
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


def _is_file(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether what is written stays: of a CSV or Parquet file DuckDB makes a database in memory."""
    kept = "select path is not null from duckdb_databases() where database_name = current_database()"
    return bool(connection.execute(kept).fetchall()[0][0])


def _prepare(connection: duckdb.DuckDBPyConnection, place: Path | None, *, read_only: bool) -> None:
    """Create or check the tables, then shut the door to files and settings."""
    tables = {row[0] for row in connection.execute("select table_name from duckdb_tables()").fetchall()}
    if not tables and not read_only:
        connection.begin()
        connection.execute(SCHEMA + ROWS_SCHEMA)
        values = [SCHEMA_VERSION, str(time.time_ns() // 1_000_000)]
        connection.execute("insert into settings values ('schema', ?), ('version', ?)", values)
        connection.commit()
    else:
        found = None
        if {"settings", "datasets", "votes"} <= tables:
            found = connection.execute("select value from settings where key = 'schema'").fetchone()
        if found is None:
            raise UnreadableFile(f"{place} is a DuckDB file, but no store of Appellate; name another file")
        if found[0] in UPGRADES and not read_only:
            connection.begin()
            connection.execute(UPGRADES[found[0]])
            connection.execute("update settings set value = ? where key = 'schema'", [SCHEMA_VERSION])
            connection.commit()
        elif found[0] not in (SCHEMA_VERSION, *UPGRADES):
            raise UnreadableFile(
                f"The store {place} has layout {found[0]}, this version reads {SCHEMA_VERSION}: export its "
                "data sets with the version that made it and import them into a new store"
            )
    # A second Store on the same file shares the instance, whose settings are locked already.
    if not connection.execute("select current_setting('lock_configuration')").fetchall()[0][0]:
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")


def _dataset_id(cursor: duckdb.DuckDBPyConnection, name: str) -> int:
    row = cursor.execute("select id from datasets where name = ?", [name]).fetchone()
    if row is None:
        names = [found[0] for found in cursor.execute("select name from datasets order by name").fetchall()]
        raise UnknownName(f"No data set named {name!r}; there are: {', '.join(names) or 'none'}")
    return int(row[0])
