"""`Warehouse`: a table of votes on another engine that answers the questions of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from ..errors import InvalidOption, NoUsableVotes
from ..importers import ReadOptions
from ..schema import COLUMN_NAMES, Selection
from ..store.connection import Params, Snapshot
from . import relations
from .engines import Engine, connect
from .reading import LONG, Reading, read

if TYPE_CHECKING:
    import pyarrow as pa


MOST_KEPT = 16 * 1024**2
"""An answer of at most so many bytes is kept: many are asked for twice, and what was derived stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRead:
    """What was read of a table, in counts: the counterpart of `core.schema.ImportResult`.

    n_read : votes that were read.  rejected : rows by column and reason.
    """

    name: str
    rows: int
    n_read: int
    duplicates: int
    rejected: tuple[tuple[str, str, int], ...]
    mapping: dict[str, str]
    notes: tuple[str, ...]
    format: str
    sha256: None = None

    @property
    def n_rejected(self) -> int:
        """Rows that could not be read."""
        return sum(n for *_, n in self.rejected)

    @property
    def sentence(self) -> str:
        """How much was read, in one line."""
        return (
            f"{self.name}: {self.n_read:,} votes read of {self.rows:,} rows; {self.n_rejected:,} rejected, "
            f"{self.duplicates:,} duplicates left out."
        )


class Warehouse(Snapshot):
    """One session on another engine, which has the relations of a store as temporary tables.

    It answers what `core.store` asks of a `Database` or `Snapshot`, so `audit(warehouse, selection)` works as
    `audit(store, selection)` does. Nothing but counts is fetched, and nothing is written but what the session
    sees and forgets.

    table : what was read.
    """

    def __init__(self, engine: Engine, table: TableRead) -> None:
        self._engine, self.table = engine, table
        self.others = tuple(engine.extra)
        self._answers: dict[tuple[str, str], pa.Table] = {}

    @classmethod
    def open(
        cls, url: str, table: str, options: ReadOptions | None = None, *, selection: Selection | None = None
    ) -> Self:
        """Read a table of votes where it lies.

        selection : columns that it names outside the canonical form are read too.

        Raises
        ------
        WarehouseError : the engine cannot be reached, or refuses, or its driver is not installed.
        InvalidOption, UnknownName, AmbiguousLabels, UnreadableFile : as for a file of votes.
        NoUsableVotes : no row can be read.
        """
        where = tuple(column for column, _ in selection.where) if selection else ()
        for column in where:
            if column in LONG:
                raise InvalidOption(f"where {column}: texts stay on the engine; select by another column.")
        engine = connect(url, table)
        try:
            others = tuple(column for column in where if column not in COLUMN_NAMES)
            reading = read(engine, table, options or ReadOptions(), others)
            engine.extra = reading.extra
            found = relations.derive(engine, reading)
            return cls(engine, _table_read(engine, table, reading, found))
        except BaseException:
            engine.close()
            raise

    def close(self) -> None:
        """Forget all that was derived, and the connection."""
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
        key = (sql, repr(params))
        if key not in self._answers:
            found = self._engine.run(sql, dict(params) if isinstance(params, Mapping) else None)
            if found.nbytes > MOST_KEPT:
                return found
            self._answers[key] = found
        return self._answers[key]

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """Run one statement of the store that gives few rows."""
        found = self.query(sql, params)
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    @property
    def sentence(self) -> str:
        """What crossed the network so far."""
        engine = self._engine
        return (
            f"{engine.shown}: {engine.statements:,} statements, {engine.rows_fetched:,} rows and "
            f"{engine.bytes_fetched:,} bytes fetched."
        )


def _table_read(engine: Engine, table: str, reading: Reading, found: relations.Derived) -> TableRead:
    rejected = tuple((*reading.reasons[code], n) for code, n in sorted(found.rejected.items()))
    if not found.votes:
        first = f" First: column {rejected[0][0]}: {rejected[0][1]}." if rejected else ""
        raise NoUsableVotes(f"{table}: no usable vote in {found.rows:,} rows.{first}")
    return TableRead(
        name=f"{engine.shown} {table}",
        rows=found.rows,
        n_read=found.votes,
        duplicates=found.duplicates,
        rejected=rejected,
        mapping=dict(reading.how.mapping),
        notes=(*reading.notes, *found.notes),
        format=engine.dialect,
    )
