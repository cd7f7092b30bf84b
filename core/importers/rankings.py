"""Listwise rankings: rows of one list are held together, and a list with a bad row is rejected whole.

Listwise choices: one row says in which order n candidates were shown and which of them was picked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import AmbiguousLabels
from ..labels import shown
from ..schema import RANKINGS, ImportResult
from .checks import Draft, Lists, fill, made
from .columns import BadCell, Coded, Mask, Numbers, parse_float, parse_int
from .layouts import Layout, constants_of, ragged, typed
from .options import ReadOptions
from .row_parser import Typed
from .source import Source
from .tables import Sheet

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


def read_rankings(sheet: Sheet, source: Source, layout: Layout, options: ReadOptions) -> ImportResult:
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
) -> ImportResult:
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


_FEW = 1000


@lru_cache(maxsize=4096)
def parse_permutation(cell: str) -> tuple[int, ...]:
    """Candidates by slot: `1023` shows candidate 1 first; above ten candidates numbers stand apart, `10,0,…`.

    Candidates count from 0. Digits without a 0 have lost a leading one where the file was once read as
    numbers: `123` is `0123`.

    Raises
    ------
    BadCell : not every candidate from 0 once.
    """
    digits = re.findall(r"[0-9]+", cell)
    joined = re.fullmatch(r"([0-9]+)(?:\.0*)?", cell)
    found = [int(digit) for digit in joined[1]] if joined else [int(digit[:6]) for digit in digits[:_FEW]]
    if joined and 0 not in found:
        found = [0, *found]
    if not 2 <= len(found) < _FEW or sorted(found) != list(range(len(found))):
        raise BadCell("not an order of the candidates 0, 1, 2 … in which each is shown once; correct it")
    return tuple(found)


def read_choices(sheet: Sheet, source: Source, layout: Layout, options: ReadOptions) -> ImportResult:
    """Read one choice a row as a ranking of n candidates, named 0 to n - 1, of which one is chosen.

    The pick is named by its slot (a letter, A the first shown) or by its candidate; given both, they must
    agree; given neither, the judgement is `unparsed`. Gold, by slot or candidate, is the one best candidate.
    A column `correct` is checked and not kept. Source: ours.

    Raises
    ------
    UnreadableFile : a required column is missing.
    AmbiguousLabels : no permutation shows a 0, so counting from 1 and a lost leading 0 look the same.
    """
    layout.refuse_missing(source.name, tuple(sheet.columns))
    rows = typed(sheet, layout, options)
    cells = rows.cells
    if cells["permutation"].values and not any("0" in value for value in cells["permutation"].values):
        raise AmbiguousLabels(
            f"{source.name}: column {shown(layout.mapping['permutation'])}: no permutation shows a 0, so "
            "they may count from 1 or have lost a leading 0. Write candidates from 0, as text (0123)."
        )
    numbers = {"run": rows.parse("run", parse_int, np.int64)} if "run" in cells else {}
    for name in ("temperature", "cost"):
        if name in cells:
            numbers[name] = rows.parse(name, parse_float, np.float64)
    orders = rows.parse("permutation", lambda cell: len(parse_permutation(cell)), np.int64)
    rows.reject_missing("permutation")
    size = orders.values
    order = np.zeros((len(rows.row), int(size.max(initial=0))), np.int64)
    for code, cell in enumerate(cells["permutation"].values):
        try:
            found = parse_permutation(cell)
        except BadCell:
            continue
        order[cells["permutation"].codes == code, : len(found)] = found
    pick = _named(rows, "pick", order, size)
    gold = _named(rows, "gold", order, size)
    if "correct" in cells:
        correct = rows.parse("correct", parse_flag, np.int64)
        said = correct.valid & pick.valid & gold.valid
        rows.reject(
            said & (correct.values != (pick.values == gold.values)),
            "correct",
            "contradicts the pick and the gold slot or candidate; correct either",
        )
    good = np.flatnonzero(rows.good)
    n = size[good]
    take = np.repeat(good, n)
    slot = np.arange(len(take)) - np.repeat(np.cumsum(n) - n, n)
    candidate = order[take, slot]
    names = [str(i) for i in range(order.shape[1])]
    texts = {c.name for c in RANKINGS.columns if c.kind == "text"}
    picked = pick.valid[take]
    draft = Draft(
        row=rows.row[take],
        text={name: column.take(take) for name, column in cells.items() if name in texts}
        | {"candidate": Coded(candidate, names)},
        numbers={name: Numbers(column.values[take], column.valid[take]) for name, column in numbers.items()}
        | {
            "slot": Numbers(slot, np.ones(len(take), bool)),
            "chosen": Numbers((candidate == pick.values[take]).astype(np.int64), picked),
            "is_best": Numbers((candidate == gold.values[take]).astype(np.int64), gold.valid[take]),
        },
        rejects=rows.rejects,
        rows=sheet.rows,
        extra={name: column.take(take) for name, column in rows.extra.items()},
        mapping=layout.mapping,
        notes=[*sheet.notes, *layout.notes],
        form=RANKINGS,
    )
    nothing = np.zeros(len(take), bool)
    return finish_lists(draft, source, layout, options, bad=nothing, beside=np.zeros(0, np.int64))


def _named(rows: Typed, what: str, order: np.ndarray, size: np.ndarray) -> Numbers:
    """Candidate that the columns `<what>_slot` and `<what>_candidate` name, missing where both are empty."""
    n = len(rows.row)
    value, valid = np.full(n, -1, np.int64), np.zeros(n, bool)
    readers: tuple[tuple[str, Callable[[str], int]], ...] = (("slot", _letter), ("candidate", parse_int))
    for kind, parser in readers:
        name = f"{what}_{kind}"
        if name not in rows.cells:
            continue
        found = rows.parse(name, parser, np.int64)
        outside = found.valid & ((found.values < 0) | (found.values >= size))
        rows.reject(outside, name, f"names no {kind} that was shown; correct it, or leave it empty")
        inside = found.valid & ~outside
        named = np.where(inside, found.values, 0)
        if kind == "slot" and order.shape[1]:
            named = order[np.arange(n), named]
        rows.reject(
            inside & valid & (named != value),
            name,
            f"names another candidate than {what}_slot does; correct either",
        )
        value = np.where(inside, named, value)
        valid |= inside
    return Numbers(value, valid)


def _letter(cell: str) -> int:
    if len(cell) != 1 or cell.upper() not in _LETTERS:
        raise BadCell("not a slot; write a letter, A for the first shown, or leave the cell empty")
    return _LETTERS.index(cell.upper())
