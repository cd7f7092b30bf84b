"""Cells of a table on their way to typed columns; a row with a bad cell is rejected with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import (
    CHOICES,
    BadCell,
    Coded,
    Mask,
    Numbers,
    Rejects,
    parse,
    parse_choice,
    unstorable,
)


class Typed:
    """Parses cells column by column and rejects rows on the way; `good` are the rows left.

    cells : by canonical column.  named : canonical column → the file's own name.  row : data row of the file.
    """

    def __init__(
        self,
        cells: dict[str, Coded],
        named: Mapping[str, str],
        extra: dict[str, Coded],
        row: NDArray[np.int64],
        rejects: Rejects,
    ) -> None:
        self.cells, self.named, self.extra, self.row, self.rejects = cells, named, extra, row, rejects
        self.good: Mask = np.ones(len(row), bool)

    def column(self, name: str, i: int | np.integer[Any]) -> str:
        """The file's own name of a canonical column, for messages about a row."""
        return self.named.get(name, name)

    def reject(self, bad: Mask, name: str, reason: str | Mapping[int, str]) -> None:
        """Reject these rows for their cell of a column; reasons may go by the code of the cell."""
        column = self.cells.get(name)
        for i in np.flatnonzero(bad & self.good):
            why = reason if isinstance(reason, str) else reason[int(column.codes[i])] if column else ""
            self.rejects.add(int(self.row[i]), self.column(name, i), column.cell(i) if column else "", why)
        self.good &= ~bad

    def reject_missing(self, name: str) -> None:
        """Reject the rows without a cell in a column that must have one."""
        self.reject(self.cells[name].missing, name, f"{name} is missing; fill the cell, or remove the row")

    def reject_unstorable(self) -> None:
        """Reject the rows with a text that cannot be kept."""
        for name, column in (self.cells | self.extra).items():
            problems = {code: why for code, value in enumerate(column.values) if (why := unstorable(value))}
            if problems:
                bad = np.array([code in problems for code in range(len(column.values))] + [False], bool)[
                    column.codes
                ]
                for i in np.flatnonzero(bad & self.good):
                    why = problems[int(column.codes[i])]
                    self.rejects.add(int(self.row[i]), self.column(name, i), column.cell(i), why)
                self.good &= ~bad

    def parse(self, name: str, function: Callable[[str], float], dtype: type) -> Numbers:
        """Column of numbers; rows with a cell that is none are rejected."""
        return parse(
            self.cells[name],
            function,
            dtype,
            reject=lambda bad, reasons: self.reject(bad, name, reasons),
        )

    def choice(self, name: str) -> Coded:
        """Column of a few words; rows with another word are rejected."""
        column = self.cells[name]
        words: list[str] = []
        reasons: dict[int, str] = {}
        for code, value in enumerate(column.values):
            try:
                words.append(parse_choice(value, CHOICES[name]))
            except BadCell as error:
                reasons[code] = str(error)
                words.append(value)
        if reasons:
            bad = np.array([code in reasons for code in range(len(column.values))] + [False], bool)
            self.reject(bad[column.codes], name, reasons)
        return Coded(column.codes, words).map(str)

    def settle_status(
        self, name: str, value: Numbers, status: Coded | None, notes: list[str]
    ) -> tuple[Numbers, Coded]:
        """A failed judgement has no vote or score; one without either and without status is unparsed."""
        if status is None:
            status = Coded.constant(None, len(self.row))
        ok = np.array([word == "ok" for word in status.values] + [False], bool)[status.codes]
        failed = ~status.missing & ~ok
        contradicted = int((failed & value.valid & self.good).sum())
        if contradicted:
            what = "Labels" if name == "vote" else f"Cells of {name}"
            notes.append(f"{what} not used because the status is not ok: {contradicted:,}.")
        self.reject(
            ok & ~value.valid,
            name,
            f"the {name} is missing although status is ok; fill it, or change status",
        )
        words = [*status.values, "ok", "unparsed"]
        codes = np.where(status.missing, np.where(value.valid, len(words) - 2, len(words) - 1), status.codes)
        return Numbers(value.values, value.valid & ~failed), Coded(codes, words).map(str)
