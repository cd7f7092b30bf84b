"""`Warehouse`: the rows of a table on another engine, which answer the questions of a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any, Self

from ..importers import ReadOptions
from ..schema import RowsRead, Selection
from ..store import Store
from ..store.connection import Snapshot
from ..store.statements import Params
from .fetching import Fetched, fetch
from .sample import MOST_ROWS

if TYPE_CHECKING:
    import pyarrow as pa


class Warehouse(Snapshot):
    """The rows that were fetched of a table, in a store of their own, which is gone with it.

    `audit(warehouse, selection)` works as `audit(store, selection)` does. Threads may share it.

    fetched : what was read.  version : moment of the opening in milliseconds, as that of a store.
    """

    def __init__(self, fetched: Fetched, store: Store, close: Callable[[], None]) -> None:
        self.fetched, self.store, self.close = fetched, store, close
        self.version = time.time_ns() // 1_000_000
        self._kept: dict[str, tuple[Hashable, Any]] = {}

    @classmethod
    def open(
        cls,
        url: str,
        table: str,
        options: ReadOptions | None = None,
        *,
        selection: Selection | None = None,
        most_rows: int = MOST_ROWS,
    ) -> Self:
        """Fetch a table of votes or of scores.

        selection : rows that its `where` leaves out are not fetched.
        most_rows : of a table with more rows whole items of each rater, drawn at random.

        Raises as `core.warehouse.fetching.fetch`.
        """
        where = selection.where if selection else ()
        fetched = fetch(url, table, options, where=where, most_rows=most_rows)
        with ExitStack() as opened:
            store = opened.enter_context(Store.holding(fetched.readings))
            return cls(fetched, store, opened.pop_all().close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def snapshot(self) -> AbstractContextManager[Snapshot]:  # type: ignore[override]
        """Its rows at one moment; they do not change."""
        return self.store.snapshot()

    def query(self, sql: str, params: Params = None) -> pa.Table:
        """Run one statement. Text goes in `params`, never in `sql`."""
        return self.store.query(sql, params)

    def batches(self, sql: str, params: Params = None) -> pa.RecordBatchReader:
        """The same in parts."""
        return self.query(sql, params).to_reader()

    def rows(self, sql: str, params: Params = None) -> list[tuple[Any, ...]]:
        """Run one statement that gives few rows."""
        return self.store.rows(sql, params)

    def rows_read(self, datasets: tuple[str, ...] | None) -> RowsRead | None:
        """The rows of the table."""
        with self.store.snapshot() as moment:
            return moment.rows_read(datasets)
