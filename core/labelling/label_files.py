"""People's labels in files beside what is audited: one file, or one for each person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..finding.wording import one_line
from ..importers import ReadOptions
from .disagreements import is_second_look, with_second_looks
from .join import join_labels
from .labelled_rows import NOBODY, readings_of
from .sheet import SHEET_PERSON, contested_gold, is_sheet, join_sheet, only_dataset

if TYPE_CHECKING:
    from ..auditing.results import Audit
    from ..schema import ImportResult
    from ..store import Store

File = tuple[str, bytes | Path]


@dataclass(slots=True, eq=False)
class LabelFiles:
    """Files of labels by what they are, joined where each can be: a table with an id or texts to
    the readings, a sheet of this program to the store, second looks to the audit.

    said : what became of each, as (file, sentence). Where there are several files, who labelled one
    that names nobody is called as the file is.
    """

    files: Sequence[File]
    said: list[tuple[str, str]] = field(default_factory=list)
    _sheets: list[File] = field(default_factory=list)
    _looks: list[File] = field(default_factory=list)

    def beside(
        self, readings: Sequence[ImportResult], options: ReadOptions, key: str | None
    ) -> list[ImportResult]:
        """The readings, and the labels whose answers are among them."""
        joined = []
        for file in self.files:
            if is_second_look(*file):
                self._looks.append(file)
            elif is_sheet(*file):
                self._sheets.append(file)
            else:
                person = self._person(file, NOBODY)
                labels = join_labels(readings, file, options, key=key, person=person)
                self.said.append((file[0], labels.sentence))
                joined.append((labels.sheet, labels.said))
        made, contested = readings_of(joined)
        if contested:
            self.said.append((joined[0][0].name, contested_gold(contested)))
        return [*readings, *made]

    def into(self, store: Store) -> None:
        """Join the sheets that this program wrote to the only data set."""
        for file in self._sheets:
            dataset, kind = only_dataset(store)
            person = self._person(file, SHEET_PERSON)
            report = join_sheet(store, dataset, *file, kind=kind, person=person)
            self.said.append((file[0], report.sentence))

    def after(self, audit: Audit, store: Store) -> Audit:
        """The audit with what was found at a second look."""
        return with_second_looks(audit, store, *self._looks) if self._looks else audit

    @property
    def lines(self) -> list[str]:
        """What became of each file, a line each."""
        return [f"{one_line(name)}: {sentence}" for name, sentence in self.said]

    def _person(self, file: File, nobody: str) -> str:
        return Path(file[0]).stem if len(self.files) > 1 else nobody
