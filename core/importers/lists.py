"""Listwise rankings: rows of one list are held together, and a list with a bad row is rejected whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.importers.cells import BadCell, parse_float, parse_int
from core.importers.columns import Coded, Mask, Numbers
from core.importers.delimited import Sheet
from core.importers.draft import Draft, fill, made
from core.importers.held_lists import Lists
from core.importers.options import ReadOptions
from core.importers.shapes import Layout, constants_of, ragged, typed
from core.importers.source import Source
from core.votes import RANKINGS, Reading

FLAGS = ("uncertain", "major_error", "unsupported", "chosen", "is_best")
_YES, _NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST = 10_000


def parse_flag(cell: str) -> int:
    """0 or 1, also written as true, false, yes, no.

    Raises
    ------
    BadCell : another word.
    """
    word = cell.casefold()
    if word not in (*_YES, *_NO):
        raise BadCell("not a flag; write 1 or 0, or leave the cell empty")
    return int(word in _YES)


def parse_slot(cell: str) -> int:
    """Slot from 0: a whole number, or a letter (A is 0).

    Raises
    ------
    BadCell : anything else, and a number beyond 10,000.
    """
    if cell.upper() in _LETTERS and len(cell) == 1:
        return _LETTERS.index(cell.upper())
    return _small(cell, "a slot")


def parse_rank(cell: str) -> int:
    """Rank from 1.

    Raises
    ------
    BadCell : no whole number, or beyond 10,000.
    """
    return _small(cell, "a rank")


def _small(cell: str, what: str) -> int:
    value = parse_int(cell)
    if not 0 <= value <= _MOST:
        raise BadCell(f"not {what}; use a whole number from 0 to {_MOST:,}")
    return value


def parse_points(cell: str) -> float:
    """Score of a candidate, 0 to 100.

    Raises
    ------
    BadCell : no number, or outside.
    """
    value = parse_float(cell)
    if not 0 <= value <= 100:
        raise BadCell("outside 0 to 100, the scale of listwise scores; correct it, or rescale the column")
    return value


def read_rankings(sheet: Sheet, source: Source, layout: Layout, options: ReadOptions) -> Reading:
    """Read one candidate a row; rows of one (data set, item, judge, run) are one list of n candidates.

    Each has a slot of its own, 0 to n - 1 (or 1 to n in the whole file, or letters), and all or none of them
    a score from 0 to 100, and a rank, 1 to n without ties. Without `chosen` the list chooses its rank 1, or
    without ranks all with the top score; an empty `chosen` or `is_best` beside a 1 in the list is 0. A list
    with neither is `unparsed`. A list with a bad row is rejected whole; so are the lists beside a row whose
    list is not known, and a list that shows fewer candidates than another of the same item. All of it is
    ours.

    Raises
    ------
    UnreadableFile : a required column is missing.
    """
    layout.refuse_missing(source.name, tuple(sheet.columns))
    rows = typed(sheet, layout, options)
    notes = [*sheet.notes, *layout.notes]
    numbers: dict[str, Numbers] = {}
    if "run" in rows.cells:
        numbers["run"] = rows.parse("run", parse_int, np.int64)
    # A row without item, judge or run cannot be blamed on a list: its neighbours are suspect.
    lost = ~rows.good & (rows.cells["item_id"].missing | rows.cells["judge"].missing)
    if "run" in rows.cells:
        lost |= ~rows.cells["run"].missing & ~numbers["run"].valid
    if "slot" in rows.cells:
        rows.reject_missing("slot")
    parsers = {"slot": parse_slot, "rank": parse_rank} | dict.fromkeys(FLAGS, parse_flag)
    for name in ("slot", "rank", *FLAGS):
        if name in rows.cells:
            numbers[name] = rows.parse(name, parsers[name], np.int64)
    for name, parser in (("score", parse_points), ("temperature", parse_float), ("cost", parse_float)):
        if name in rows.cells:
            numbers[name] = rows.parse(name, parser, np.float64)
    slot = numbers["slot"]
    lettered = any(value.isalpha() for value in rows.cells["slot"].values)
    if slot.valid.any() and not lettered and slot.values[slot.valid].min() == 1:
        numbers["slot"] = Numbers(slot.values - 1, slot.valid)
        notes.append("Slots in the file begin with 1; they are kept from 0.")
    texts = {c.name for c in RANKINGS.columns if c.kind == "text"}
    draft = Draft(
        row=rows.row,
        text={name: cells for name, cells in rows.cells.items() if name in texts},
        numbers=numbers,
        rejects=rows.rejects,
        rows=sheet.rows,
        extra=rows.extra,
        mapping=layout.mapping,
        notes=notes,
        form=RANKINGS,
    )
    beside = np.concatenate([rows.row[lost], ragged(sheet)])
    bad = ~rows.good
    if lost.any():
        draft.take(~lost)
        bad = bad[~lost]
    return finish_lists(draft, source, layout, options, bad=bad, beside=beside)


def finish_lists(
    draft: Draft,
    source: Source,
    layout: Layout,
    options: ReadOptions,
    *,
    bad: Mask,
    beside: NDArray[np.int64],
) -> Reading:
    """Hold the rows of each list together, and build the table.

    bad : rows that were rejected already.  beside : rows of the file whose list is not known.
    """
    status = draft.text.get("status", Coded.constant(None, len(draft.row)))
    fill(draft, constants_of(options), source.stem)
    draft.text["status"] = status
    lists = Lists(draft, bad)
    duplicates = lists.drop_repeated()
    lists.refuse_beside(beside)
    lists.refuse_uneven()
    lists.refuse_fewer()
    lists.settle_choice()
    lists.settle_best()
    lists.take_good()
    return made(draft, source, layout.shape.format, duplicates)
