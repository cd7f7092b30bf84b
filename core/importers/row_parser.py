"""Cells of a table on their way to typed columns; a row with a bad cell is rejected with its
reason.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..schema import COLUMN_NAMES, VOTES, Form
from .checks import TypedRows
from .columns import (
    SPARED,
    Cells,
    Mask,
    Numbers,
    cell_codes,
    cell_text,
    coded_cells,
    constant_cells,
    each_text,
    fill_missing,
    has_number,
    is_text,
    map_cells,
    parse_cells,
    unstorable,
)
from .options import SCORE_COLUMNS, Plan
from .tables import TextTable, unguard
from .values import CHOICES, parse_choice

LONG_TEXTS = ("prompt", "response", "response_a", "response_b", "rationale")
"""Columns that keep the blanks around their texts."""


class RowParser:
    """Reads the cells of a table column by column and rejects rows on the way; `good` are the rows
    left.

    cells : by canonical column.  extra : the other columns.  row : data row of the file that each
        comes from.
    named : canonical column → the file's own name, for messages.
    """

    def __init__(self, table: TextTable, form: Form, how: Plan) -> None:
        """Find the cells of each canonical column, without the blanks around them.

        how : the columns; `unguard` takes back what an export puts before what a spreadsheet would
            run.
        """
        self.table, self.form, self.how, self.row = table, form, how, table.row
        # The table may be read again in another way, which rejects other rows.
        self.rejects, self.notes = copy.deepcopy(table.rejects), list[str]()
        self.texts = {column.name for column in form.columns if column.kind == "text"}
        self.floats = {column.name for column in form.columns if column.kind == "float"}
        self.floats |= {*SCORE_COLUMNS}
        self.good: Mask = np.ones(len(table.row), bool)
        self.named = {
            name: theirs for name, theirs in how.mapping.items() if name not in how.constants
        }
        bare = unguard if how.unguard else str
        cells = {
            name: map_cells(table.columns[theirs], bare if name in self.texts else str)
            for name, theirs in self.named.items()
        } | {name: constant_cells(text, len(table.row)) for name, text in how.constants.items()}
        self.cells = {
            name: column if name in LONG_TEXTS else map_cells(column, str.strip)
            for name, column in cells.items()
        }
        left = {
            bare(name): column
            for name, column in table.columns.items()
            if name not in self.named.values()
        }
        self.extra = {
            f"{name} (in the file)" if name in {*form.names, *COLUMN_NAMES} else name: map_cells(
                column, lambda text: bare(text) if text.strip() else None
            )
            for name, column in left.items()
        }

    def column(self, name: str, i: int | np.integer[Any]) -> str:
        """The file's own name of a canonical column, for messages about row i."""
        return self.named.get(name, name)

    def reject(self, bad: Mask, name: str, reason: str | Mapping[int, str]) -> None:
        """Reject these rows for their cell of a column, or the cell alone where its column is
        spared; reasons may go by the code of the cell.
        """
        cells: Any = self.cells.get(name, self.extra.get(name))
        kept = name in SPARED
        for i in np.flatnonzero(bad & self.good):
            why = reason if isinstance(reason, str) else reason[cells.indices[int(i)].as_py()]
            value = "" if cells is None else cell_text(cells, i)
            self.rejects.add(self.row[i], self.column(name, i), value, why, kept=kept)
        if not kept:
            self.good &= ~bad

    def reject_texts(self, name: str, reasons: Mapping[int, str]) -> None:
        """Reject the rows whose cell of a column has one of these codes."""
        codes = cell_codes(self.cells.get(name, self.extra.get(name)))
        self.reject(np.isin(codes, list(reasons)), name, reasons)

    def check_texts(self, required: tuple[str, ...], rater_type: str | None) -> None:
        """Reject texts that cannot be kept, words that a column does not allow, and empty required
        cells.

        rater_type : kind of rater where the file does not say.
        """
        for name, column in (self.cells | self.extra).items():
            if name in SPARED:
                continue
            texts = enumerate(each_text(column))
            if problems := {code: why for code, text in texts if (why := unstorable(text))}:
                self.reject_texts(name, problems)
        for name, words in CHOICES.items():
            if name in self.cells:
                self.cells[name] = self._choice(name, words)
        for name in required:
            if name in self.texts and self.cells[name].null_count:
                self.reject_missing(name)
        if rater_type:
            given = self.cells.get("rater_type", constant_cells(None, len(self.row)))
            self.cells["rater_type"] = fill_missing(given, rater_type)

    def reject_missing(self, name: str) -> None:
        """Reject the rows without a cell in a column that must have one."""
        self.reject(
            cell_codes(self.cells[name]) < 0,
            name,
            f"{name} is missing; fill the cell, or remove the row",
        )

    def _choice(self, name: str, words: tuple[str, ...]) -> Cells:
        """Column of a few words; rows with another word are rejected, and keep it."""
        self.number(name, lambda text: words.index(parse_choice(text, words)))
        return map_cells(
            self.cells[name], lambda text: text.casefold() if text.casefold() in words else text
        )

    def number(self, name: str, function: Callable[[str], float]) -> Numbers:
        """Column of numbers; rows with a cell that is none are rejected, see `reject`."""
        numbers, reasons = parse_cells(
            self.cells[name],
            function,
            np.float64 if name in self.floats else np.int64,
            small=self.form is VOTES,
        )
        if reasons:
            self.reject_texts(name, reasons)
        return numbers

    def numbers(self, functions: Mapping[str, Callable[[str], float]]) -> dict[str, Numbers]:
        """Columns of numbers that the file has, each read by its function."""
        return {
            name: self.number(name, read) for name, read in functions.items() if name in self.cells
        }

    def typed_rows(self, numbers: dict[str, Numbers]) -> TypedRows:
        """The rows with their texts and these numbers, bad ones among them."""
        return TypedRows(
            row=self.row,
            text={name: cells for name, cells in self.cells.items() if name in self.texts},
            numbers=numbers,
            rejects=self.rejects,
            rows=self.table.rows,
            extra=self.extra,
            mapping=dict(self.how.mapping),
            notes=[*self.table.notes, *self.how.notes, *self.notes],
            gold_only=self.how.gold_only,
            form=self.form,
        )

    def settle_status(self, name: str, value: Numbers) -> Numbers:
        """A failed judgement has no vote or score; one without either and without status is
        unparsed.

        Fills `status`; returns the votes or scores that count.
        """
        there = has_number(value)
        by_value = coded_cells(~there, ["ok", "unparsed"])
        if "status" not in self.cells:
            self.cells["status"] = by_value
            return value
        status = self.cells["status"]
        ok = is_text(status, "ok")
        failed = (cell_codes(status) >= 0) & ~ok
        contradicted = int((failed & there & self.good).sum())
        if contradicted:
            what = "Labels" if name == "vote" else f"Cells of {name}"
            self.notes.append(f"{what} not used because the status is not ok: {contradicted:,}.")
        self.reject(
            ok & ~there,
            name,
            f"the {name} is missing although status is ok; fill it, or change status",
        )
        self.cells["status"] = fill_missing(status, by_value)
        return np.ma.array(value.data, mask=~there | failed)
