"""Rows of one comparison and judge: repeats of a vote, or votes that some column tells apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import AmbiguousLabels
from ..labels import WHOLE, shown
from .columns import cell_codes, label_counts, order_word, small_codes
from .layouts import FEW, LONGEST, SIDES
from .options import Question, ReadOptions
from .plan import Plan
from .suggest import words_of
from .tables import TextTable

_KEY = ("dataset", "item_id", "model_a", "model_b", "judge", "position")
"""Columns that tell votes apart, besides the run."""
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
EVEN = 0.9
"""Share of the keys in which the texts of such a column occur equally often."""
_OF_A_CALL = (
    "rationale reason reasoning explanation comment note text answer reply completion raw "
    "time date timestamp created updated latency duration seconds ms cost price usd token tokens "
    "usage"
)
_INCIDENTAL = frozenset(_OF_A_CALL.split())
"""Words in the names of columns that say something of a call and not of what was asked."""


def keys_of_votes(
    how: Plan, columns: Iterable[str], options: ReadOptions
) -> tuple[list[str], list[str]]:
    """The file's columns that tell votes apart besides the run, and others that may do so too.

    None, if it is known which rows are repeats.
    """
    known = "run" in how.mapping or ("run", "") in options.mapping
    if known or how.missing or how.gold_only or how.items == "rows":
        return [], []
    named = (*_KEY, *(("prompt", *SIDES[2:]) if how.items == "texts" else ()))
    of_key = {how.mapping[name]: None for name in named if name in how.mapping}
    key = [column for column in columns if column in of_key or column == "perturbation"]
    used = {*how.mapping.values(), *how.judges, *key}
    return key, [
        column
        for column in columns
        if key and column not in used and not words_of(column) & _INCIDENTAL
    ]


def plan_repeats(how: Plan, table: TextTable, options: ReadOptions) -> Plan:
    """Ask what a column is by which rows of one comparison and judge differ as if by design.

    Such a column has 2 to 12 distinct short texts, and in 90 % of the keys that have several rows
    each of the texts that occur there occurs equally often, so that it tells the rows apart; what a
    judge says by chance does not. Texts, times and costs are left out by their names. Source: ours.
    """
    columns, others = keys_of_votes(how, table.columns, options)
    key = small_codes([table.columns[column] for column in columns])
    if not others or not (again := np.bincount(key)[key] > 1).any():
        return how
    key = np.unique(key[again], return_inverse=True)[1]
    for column in others:
        cells = table.columns[column]
        if len(cells.dictionary) > 10 * FEW:
            continue
        value = np.unique(cell_codes(cells)[again], return_inverse=True)[1]
        texts = [*label_counts(cells)]
        n = int(value.max()) + 1
        if not 2 <= n <= MOST_SETTINGS or 2 * n > len(value):
            continue
        # Rows by key and text.
        rows = np.bincount(key * n + value, minlength=n * (int(key.max()) + 1)).reshape(-1, n)
        most = rows.max(axis=1)
        even = ((rows > 0).sum(axis=1) > 1) & ((rows == 0) | (rows == most[:, None])).all(axis=1)
        if even.mean() >= EVEN and max(map(len, texts), default=0) <= LONGEST:
            return ask_what_differs(how, column, texts)
    return how


def ask_what_differs(how: Plan, column: str, texts: list[str]) -> Plan:
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
