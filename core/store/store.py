"""`Store`: the file of judgements that everything else loads into and reads from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Literal

from ..errors import InvalidOption
from ..files import Progress, part_of
from ..memory import give_back
from ..schema import ImportResult, Kind, Selection
from .browse import DatasetInfo, datasets
from .connection import Database
from .export import judgements
from .load import LoadReport, delete_dataset, load, rename_dataset

if TYPE_CHECKING:
    import pyarrow as pa


MANY = 1_000_000
"""Rows of which more are kept in a file: DuckDB compresses them there to a tenth."""


class Store(Database):
    """Judgements on disk or in memory. Use `Store.open`; threads may share it."""

    @classmethod
    @contextmanager
    def holding(
        cls, readings: list[ImportResult], progress: Progress | None = None
    ) -> Iterator[Store]:
        """A store of what was read, gone after use: in memory, or of more than `MANY` rows in a
        folder for temporary files, where there is one.

        readings : a loaded one gives way to what is to be told of it, so that votes are not held
            twice.
        """
        with ExitStack() as stack:
            place = None
            if sum(reading.votes.num_rows for reading in readings) > MANY:
                with suppress(OSError):
                    folder = tempfile.TemporaryDirectory(prefix="appellate-")
                    place = f"{stack.enter_context(folder)}/votes.duckdb"
            store = stack.enter_context(cls.open(place))
            for k, reading in enumerate(readings):
                parts = (k / len(readings), (k + 1) / len(readings))
                store.load(reading, progress=part_of(progress, *parts))
                readings[k] = reading = reading.without_votes()
            if place is not None:
                give_back()
            yield store

    def load(
        self,
        reading: ImportResult,
        *,
        dataset: str | None = None,
        on_conflict: Literal["keep", "replace"] = "keep",
        simulated: bool = False,
        progress: Progress | None = None,
    ) -> LoadReport:
        """Load a reading in one transaction; what is there already is not loaded again (see
        `LoadReport`).

        Parameters
        ----------
        dataset : put everything into this data set, whatever the file says.
        on_conflict : when a vote has the key of a stored one (data set, comparison, judge, run,
            position) but other content, a score or ranking that of its form (`Form.key`), or a
            comparison another gold label: `keep` what is stored, or `replace` it.
        simulated : mark data sets that this load creates as simulated.
        progress : hears how far the load is; nothing is kept before its end.
        """
        if on_conflict not in ("keep", "replace"):
            raise InvalidOption(f"on_conflict is {on_conflict!r}; allowed: 'keep', 'replace'")
        if dataset is not None:
            _check_name(dataset)
        replace = on_conflict == "replace"
        with self.change() as change:
            hear = progress or (lambda *_: None)
            return load(
                change, reading, hear, dataset=dataset, replace=replace, simulated=simulated
            )

    def datasets(self) -> list[DatasetInfo]:
        """The data sets in order of name."""
        return datasets(self)

    def rename_dataset(self, old: str, new: str) -> None:
        """Give a data set another name; the new name must be free."""
        _check_name(new)
        with self.change() as change:
            rename_dataset(change, old, new)

    def delete_dataset(self, name: str) -> None:
        """Delete a data set with all that is in it, its ledger lines and the replies of models to
        it.
        """
        with self.change() as change:
            delete_dataset(change, name)

    def flag(self, key: str) -> str | None:
        """A remembered setting, such as that the demo was deleted; None if never set."""
        return self.setting(f"flag:{key}")

    def set_flag(self, key: str, value: str | None) -> None:
        """Remember a setting; None forgets it."""
        with self.change() as change:
            change.execute("delete from settings where key = ?", [f"flag:{key}"])
            if value is not None:
                change.execute("insert into settings values (?, ?)", [f"flag:{key}", value])

    def export(self, selection: Selection | None = None, *, kind: Kind = "votes") -> pa.Table:
        """All votes of the selection (or scores, or rankings), failed ones too, to import again.

        The canonical columns come first, then each extra column. A ranking has a row for each
        candidate.
        """
        return judgements(self, selection or Selection(), kind)


def _check_name(dataset: str) -> None:
    if not dataset.strip():
        raise InvalidOption("The name of a data set must not be empty")
