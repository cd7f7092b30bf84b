"""`Warehouse`: a table of votes on another engine that answers the questions of a store."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from ..errors import ConnectionLost, InvalidOption
from ..importers import Inspection, ReadOptions, with_votes
from ..schema import COLUMN_NAMES, RowsRead, Selection
from ..store.connection import Snapshot
from ..store.statements import Params
from .answers import making_sense
from .engines import Engine, connect
from .reading import LONG, inspect, read, table_of
from .relations import TableRead, derive
from .score_tables import inspect_scores, read_scores

if TYPE_CHECKING:
    import pyarrow as pa

    from ..schema import ImportResult
    from ..store import Store

MOST_KEPT, MOST_HELD = 16 * 1024**2, 256 * 1024**2
"""Bytes of an answer that is kept, and of all: many are asked for twice, and what was derived
stays.
"""


def look_at(url: str, table: str, options: ReadOptions | None = None) -> Inspection:
    """What a table looks like before it is read, and what must be asked; raises as
    `Warehouse.open`.
    """
    engine = connect(url, table)
    try:
        with making_sense(engine.shown):
            columns, options = table_of(engine), options or ReadOptions()
            found = inspect_scores(columns, table, options)
            return found or inspect(engine, columns, table, options)
    finally:
        engine.close()


class Warehouse(Snapshot):
    """One session on another engine, which has the relations of a store as temporary tables. Of a
    table of scores, each of which an audit needs, the rows are here instead, without texts.

    It answers what `core.store` asks of a `Database` or `Snapshot`, so `audit(warehouse,
    selection)` works as `audit(store, selection)` does. Of votes nothing but counts is fetched, and
    nothing is written but what the session sees and forgets. Threads may share it; one asks at a
    time.

    table : what was read.  version : moment of the opening in milliseconds, as that of a store.
    lost : whether the session was found to be gone.
    """

    def __init__(self, engine: Engine, table: TableRead, held: Store | None = None) -> None:
        self._engine, self.table, self._held_here = engine, table, held
        self.others = None if held else tuple(engine.extra)
        self.version, self.lost = time.time_ns() // 1_000_000, False
        self._answers: dict[tuple[str, str], pa.Table] = {}
        self._kept: dict[str, tuple[Hashable, Any]] = {}
        self._held, self._asking = 0, RLock()

    def rows_read(self, datasets: tuple[str, ...] | None) -> RowsRead | None:
        """The rows of the table."""
        table = self.table
        if self._held_here:
            return super().rows_read(datasets)
        if not table.rows:
            return None
        return RowsRead(rows=table.rows, rejected=table.n_rejected, unread=table.n_unread)

    @classmethod
    def open(
        cls,
        url: str,
        table: str,
        options: ReadOptions | None = None,
        *,
        selection: Selection | None = None,
    ) -> Self:
        """Read a table of votes or of scores where it lies.

        selection : columns that it names outside the canonical form are read too.

        Raises WarehouseError: the engine cannot be reached, refuses, answers something else or
        without end, or its driver is not installed. InvalidOption, UnknownName, AmbiguousLabels,
        UnreadableFile: as for a file of votes. NoUsableVotes: no row can be read.
        """
        where = tuple(column for column, _ in selection.where) if selection else ()
        options = options or ReadOptions()
        for column in where:
            if column in (*LONG, "response"):
                raise InvalidOption(
                    f"where {column}: texts stay on the engine; select by another column."
                )
        engine = connect(url, table)
        try:
            with making_sense(engine.shown):
                columns = table_of(engine)
                scores = read_scores(engine, columns, table, options, where)
                if scores is not None:
                    readings = with_votes([scores], options)
                    return cls(engine, TableRead.of(readings, engine, table), _held(readings))
                others = tuple(column for column in where if column not in COLUMN_NAMES)
                reading = read(engine, columns, table, options, others)
                engine.extra = reading.extra
                return cls(engine, derive(engine, reading, table))
        except BaseException:
            engine.close()
            raise

    def close(self) -> None:
        """Forget all that was derived, and the connection."""
        with self._asking:
            if self._held_here:
                self._held_here.close()
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """Itself: what was derived does not change."""
        yield self

    def query(self, sql: str, params: Params = None) -> pa.Table:
        """Run one statement of the store. Text goes in `params`, never in `sql`."""
        if self._held_here:
            return self._held_here.query(sql, params)
        key = (sql, repr(params))
        with self._asking:
            if key not in self._answers:
                try:
                    found = self._engine.run(
                        sql, dict(params) if isinstance(params, Mapping) else None
                    )
                except ConnectionLost:
                    self.lost = True
                    raise
                if found.nbytes > MOST_KEPT or self._held + found.nbytes > MOST_HELD:
                    return found
                self._answers[key] = found
                self._held += found.nbytes
            return self._answers[key]

    def batches(self, sql: str, params: Params = None) -> pa.RecordBatchReader:
        """The same in parts."""
        return self.query(sql, params).to_reader()

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """Run one statement of the store that gives few rows."""
        found = self.query(sql, params)
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    @property
    def place(self) -> str:
        """Where it is, without what signs in."""
        return self._engine.shown

    @property
    def sentence(self) -> str:
        """What crossed the network so far."""
        engine = self._engine
        return (
            f"{engine.shown}: {engine.statements:,} statements, {engine.rows_fetched:,} rows and "
            f"{engine.bytes_fetched:,} bytes fetched."
        )


def _held(readings: Sequence[ImportResult]) -> Store:
    """A store in memory of what was read."""
    from ..store import Store

    store = Store.open()
    try:
        for reading in readings:
            store.load(reading)
    except BaseException:
        store.close()
        raise
    return store
