"""A table in which some rows compare two answers and others score one: two forms in one file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import UnreadableFile
from ..finding.wording import count
from ..labels import shown
from ..reading.words import NUMBERED, PASSED, SYNONYMS
from ..records import BoolArray
from .columns import Cells, Rejects, cell_codes, map_cells
from .layouts import COMPARED, plain
from .options import ReadOptions
from .tables import TextTable

VOTES = ("vote", *SYNONYMS["vote"])
SCORES = ("score", *NUMBERED, *PASSED)
MAY_SCORE = frozenset(name.replace("_", sign) for name in SCORES for sign in ("_", " ", "-", ""))
"""Names of such columns as files have them, in small letters."""


def two_forms(
    table: TextTable, name: str, options: ReadOptions
) -> tuple[TextTable, TextTable] | None:
    """The rows of votes and the rows of scores, where each row fills one side only; None for a
    table of one form.

    A row without a vote is one of a score where it has one, and names nothing that is compared.

    Raises UnreadableFile: there are such rows, and others with both, of which nobody knows whether
    the score is a verdict.
    """
    vote, score = _first(table, VOTES), _first(table, SCORES)
    told = {canonical for canonical, _ in options.mapping}
    if vote is None or score is None or options.metrics or told & {"vote", "score", "metric"}:
        return None
    has_vote, has_score = _filled(table.columns[vote]), _filled(table.columns[score])
    alone = has_score & ~has_vote
    for column in COMPARED & table.columns.keys():
        alone &= ~_filled(table.columns[column])
    if not alone.any() or not has_vote.any():
        return None
    pairs, singles = int(has_vote.sum()), int(alone.sum())
    if both := int((has_vote & has_score).sum()):
        raise UnreadableFile(
            f"{name}: {count(pairs, 'row')} with a vote in {shown(vote)}, {singles:,} with a score "
            f"in {shown(score)} alone, and {both:,} with both. Put votes and scores into two "
            "files, or leave the column out that is no verdict."
        )
    note = (
        f"{count(pairs, 'row')} {'compares' if pairs == 1 else 'compare'} two answers, {singles:,} "
        f"{'scores' if singles == 1 else 'score'} one: read as both."
    )
    votes = replace(_rows(table, ~alone), notes=(*table.notes, note), rejects=table.rejects)
    return votes, replace(_rows(table, alone), rejects=Rejects())


def _first(table: TextTable, names: tuple[str, ...]) -> str | None:
    """The column that goes by the first of some names."""
    there = {plain(column): column for column in reversed(table.columns)}
    return next((there[name] for name in names if name in there), None)


def _filled(cells: Cells) -> BoolArray:
    return np.asarray(cell_codes(map_cells(cells, str.strip)) >= 0)


def _rows(table: TextTable, which: BoolArray) -> TextTable:
    """Some rows, with the columns that any of them fills."""
    import pyarrow as pa

    taken = {
        name: cells.take(pa.array(np.flatnonzero(which))) for name, cells in table.columns.items()
    }
    rows = int(which.sum())
    return replace(
        table,
        columns={name: cells for name, cells in taken.items() if _filled(cells).any()},
        row=table.row[which],
        rows=rows,
    )
