"""What is a repetition: rows of one comparison and judge of a table that no column tells apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import numpy as np

from ..errors import AmbiguousLabels
from ..labels import WHOLE, shown
from ..reading.words import meaning, tokens
from ..schema import VOTES
from .columns import Codes, Mask, cell_codes, label_counts, small_codes
from .layouts import LONGEST, SIDES
from .options import Plan, Question, ReadOptions
from .tables import TextTable
from .values import order_word

SETTINGS = {
    "run": "the number of the repetition",
    "position": "what was shown first",
    "judge": "who judged",
    "model_a": "the author of the response",
    "dataset": "another set of items",
}
"""What a column may be by which rows of one comparison and judge differ → in words."""
MOST_SETTINGS = 12
"""Distinct texts in a column of settings."""
MOST_TEXTS = 400
"""Distinct texts of a column that is looked at."""
EVEN = 0.9
"""Share of the keys in which the texts of such a column occur equally often."""
_INCIDENTAL = meaning(
    "reason", "call", more="note text answer reply completion raw created updated usage"
)
"""Words in the names of columns that say something of a call and not of what was asked."""


def plan_repeats(how: Plan, table: TextTable, options: ReadOptions) -> Plan:
    """Ask what a column is by which rows of one comparison and judge differ as if by design.

    Such a column has 2 to 12 distinct short texts, and in 90 % of the keys that have several rows
    each of the texts that occur there occurs equally often, so that it tells the rows apart; what a
    judge says by chance does not. Texts, times and costs are left out by their names. Source: ours.
    """
    columns = table.columns
    key, others = _keys_of_votes(how, columns, options)
    if not others:
        return how
    rows = _Repeated.of(table, key)
    if rows is None:
        return how
    for column in others:
        kinds, n = rows.kinds(column)
        if 2 <= kinds <= min(MOST_SETTINGS, n / 2) and rows.even(column) >= EVEN:
            texts = [*label_counts(columns[column])]
            if max(map(len, texts), default=0) <= LONGEST:
                return _ask_what_differs(how, column, texts)
    return how


def _keys_of_votes(
    how: Plan, columns: Iterable[str], options: ReadOptions
) -> tuple[list[str], list[str]]:
    """The file's columns that tell votes apart besides the run, and others that may do so too.

    None, if it is known which rows are repeats.
    """
    if ("run", "") in options.mapping or how.missing or how.gold_only or how.items == "rows":
        return [], []
    named = (*VOTES.key, *(("prompt", *SIDES[2:]) if how.items == "texts" else ()))
    of_key = {how.mapping[name]: None for name in named if name in how.mapping}
    key = [column for column in columns if column in of_key or column == "perturbation"]
    used = {*how.mapping.values(), *how.judges, *key, options.version}
    return key, [
        column
        for column in columns
        if key and column not in used and not set(tokens(column)) & _INCIDENTAL
    ]


class _Repeated:
    """The rows of a table that share their key with others."""

    def __init__(self, table: TextTable, key: Codes, again: Mask) -> None:
        self.table, self.again = table, again
        self.key = np.unique(key[again], return_inverse=True)[1]

    @classmethod
    def of(cls, table: TextTable, columns: Iterable[str]) -> Self | None:
        """None if no two rows have the same cells in these columns."""
        key = small_codes([table.columns[column] for column in columns])
        again = np.bincount(key)[key] > 1
        return cls(table, key, again) if again.any() else None

    def _codes(self, column: str) -> Codes:
        cells = cell_codes(self.table.columns[column])
        return np.unique(cells[self.again], return_inverse=True)[1]

    def kinds(self, column: str) -> tuple[int, int]:
        """Distinct cells of a column among these rows, a missing one included; and these rows."""
        texts = len(self.table.columns[column].dictionary)
        few = texts <= MOST_TEXTS
        return int(self._codes(column).max()) + 1 if few else texts, len(self.key)

    def even(self, column: str) -> float:
        """Share of their keys in which several cells of a column occur, each as often."""
        code = self._codes(column)
        n = int(code.max()) + 1
        # Rows by key and cell.
        rows = np.bincount(self.key * n + code, minlength=n * (int(self.key.max()) + 1))
        rows = rows.reshape(-1, n)
        alike = (rows == 0) | (rows == rows.max(axis=1)[:, None])
        return float((((rows > 0).sum(axis=1) > 1) & alike.all(axis=1)).mean())


def _ask_what_differs(how: Plan, column: str, texts: list[str]) -> Plan:
    """What the column of a setting may be: whatever tells votes apart and is not known yet."""
    of_column, texts = {*how.mapping} - {*how.constants}, sorted(texts)
    fits = {
        "run": all(WHOLE.fullmatch(text) for text in texts),
        "position": all(order_word(text, how.first) in ("ab", "ba") for text in texts),
    }
    choices = [
        (f"{canonical}={column}", meaning)
        for canonical, meaning in SETTINGS.items()
        if canonical not in of_column and fits.get(canonical, True)
    ]
    again = ("run=", "nothing that matters: the rows are repeats of one vote")
    return how.stopped(
        AmbiguousLabels(
            "column {column}: rows of one comparison and judge differ in it ({texts}), so they may "
            "be no repeats. Say what it is with {option} {allowed}.",
            option="map",
            column=shown(column),
            texts=", ".join(shown(text) for text in texts[:4]) + (" …" if texts[4:] else ""),
            allowed="; ".join(f"{said} ({meaning})" for said, meaning in (*choices, again)),
        ),
        Question(
            option="repeats",
            text=f"Rows of one comparison and judge differ in column {shown(column)}. What is it?",
            choices=(*choices, again),
        ),
    )
