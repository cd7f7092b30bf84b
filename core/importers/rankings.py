"""Listwise rankings: one row per candidate, or one row per choice among n candidates shown in an
order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import AmbiguousLabels
from ..labels import shown
from ..schema import ImportResult
from .checks import Rankings, TypedRows, checked
from .columns import Codes, Mask, Numbers, cell_codes, coded_cells, has_number
from .layouts import Shape, parse_texts
from .options import ReadOptions
from .row_parser import RowParser
from .source import Source
from .tables import TextTable
from .values import BadCell, parse_flag, parse_float, parse_int, within

FLAGS = ("calibrated_uncertainty", "uncertain", "major_error", "unsupported", "chosen", "is_best")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


_NOT_SMALL = "not {}; use a whole number from 0 to 10,000"
_small_slot = within(parse_int, 0, 10_000, _NOT_SMALL.format("a slot"))
parse_rank = within(parse_int, 0, 10_000, _NOT_SMALL.format("a rank"))
parse_points = within(
    parse_float,
    0,
    100,
    "outside 0 to 100, the scale of listwise scores; correct it, or rescale the column",
)
"""Score of a candidate, 0 to 100."""


def parse_slot(cell: str) -> int:
    """Slot from 0: a whole number up to 10,000, or a letter (A is 0); BadCell for anything else."""
    if cell.upper() in _LETTERS and len(cell) == 1:
        return _letter(cell)
    return int(_small_slot(cell))


def read_rankings(
    table: TextTable, source: Source, shape: Shape, options: ReadOptions
) -> ImportResult:
    """Read one candidate per row; rows of one (data set, item, judge, run) are one list of n
    candidates.

    Each has a slot of its own, 0 to n - 1 (or 1 to n in the whole file, or letters), and all or
    none of them a score from 0 to 100, and a rank, 1 to n without ties. Without `chosen` the list
    chooses its rank 1, or without ranks all with the top score; an empty `chosen` or `is_best`
    beside a 1 in the list is 0. A list with neither is `unparsed`. A list with a bad row is
    rejected whole; so are the lists beside a row whose list is not known, and a list that shows
    fewer candidates than another of the same item. All of it is ours.

    Raises UnreadableFile: a required column is missing.
    """
    parser = parse_texts(table, source, shape, options)
    cells = parser.cells
    # A row without item, judge or run cannot be blamed on a list: its neighbours are suspect.
    lost = ~parser.good & ((cell_codes(cells["item_id"]) < 0) | (cell_codes(cells["judge"]) < 0))
    numbers = parser.numbers({"run": parse_int})
    if "run" in cells:
        lost |= (cell_codes(cells["run"]) >= 0) & ~has_number(numbers["run"])
    parser.reject_missing("slot")
    readers = {"slot": parse_slot, "rank": parse_rank} | dict.fromkeys(FLAGS, parse_flag)
    numbers |= parser.numbers(
        readers | {"score": parse_points, "temperature": parse_float, "cost": parse_float}
    )
    slot = numbers["slot"]
    lettered = any(text.isalpha() for text in cells["slot"].dictionary.to_pylist())
    if has_number(slot).any() and not lettered and slot.min() == 1:
        numbers["slot"] = slot - 1
        parser.notes.append("Slots in the file begin with 1; they are kept from 0.")
    rows = parser.typed_rows(numbers)
    beside = np.concatenate(
        [parser.row[lost], np.setdiff1d(np.arange(1, table.rows + 1), table.row)]
    )
    rows.take(~lost)
    return finish_lists(
        rows, source, shape.format, options.constants(), bad=~parser.good[~lost], beside=beside
    )


def finish_lists(
    rows: TypedRows,
    source: Source,
    format: str,
    constants: Mapping[str, str],
    *,
    bad: Mask,
    beside: NDArray[np.int64],
    dataset: str = "",
) -> ImportResult:
    """Compare the rows of each list, and build the table.

    dataset : of rows that name none; else that of the file.
    bad : rows that were rejected already.  beside : rows of the file whose list is not known.
    """
    rows.fill(constants, dataset or source.together or source.stem, no_default=("status",))
    lists = Rankings(rows, bad)
    duplicates = lists.drop_repeated()
    lists.refuse_beside(beside)
    lists.refuse_uneven()
    lists.refuse_fewer()
    lists.settle_choice()
    lists.settle_best()
    lists.take_good()
    return checked(rows, source, format, duplicates)


_FEW = 1000


@lru_cache(maxsize=4096)
def parse_permutation(cell: str) -> tuple[int, ...]:
    """Candidates by slot: `1023` shows candidate 1 first; above ten candidates numbers stand apart,
    `10,0,…`.

    Candidates count from 0, each shown once; BadCell for anything else. Digits without a 0 have
    lost a leading one where the file was once read as numbers: `123` is `0123`.
    """
    digits = re.findall(r"[0-9]+", cell)
    joined = re.fullmatch(r"([0-9]+)(?:\.0*)?", cell)
    order = (
        [int(digit) for digit in joined[1]]
        if joined
        else [int(digit[:6]) for digit in digits[:_FEW]]
    )
    if joined and 0 not in order:
        order = [0, *order]
    if not 2 <= len(order) < _FEW or sorted(order) != list(range(len(order))):
        raise BadCell(
            "not an order of the candidates 0, 1, 2 … in which each is shown once; correct it"
        )
    return tuple(order)


def read_choices(
    table: TextTable, source: Source, shape: Shape, options: ReadOptions
) -> ImportResult:
    """Read one choice per row as a ranking of n candidates, named 0 to n - 1, of which one is
    chosen.

    The pick is named by its slot (a letter, A the first shown) or by its candidate; given both,
    they must agree; given neither, the judgement is `unparsed`. Gold, by slot or candidate, is the
    one best candidate. A column `correct` is checked and not kept. Source: ours.

    Raises UnreadableFile: a required column is missing. AmbiguousLabels: no permutation shows a 0,
    so counting from 1 and a lost leading 0 look the same.
    """
    parser = parse_texts(table, source, shape, options)
    permutations = parser.cells["permutation"].dictionary.to_pylist()
    if permutations and not any("0" in text for text in permutations):
        raise AmbiguousLabels(
            f"{source.name}: column {shown(parser.how.mapping['permutation'])}: no permutation "
            "shows a 0, so they may count from 1 or have lost a leading 0. Write candidates from "
            "0, as text (0123)."
        )
    numbers = parser.numbers({"run": parse_int, "temperature": parse_float, "cost": parse_float})
    order = _orders(parser)
    size = (order >= 0).sum(axis=1)
    pick, gold = _named(parser, "pick", order, size), _named(parser, "gold", order, size)
    if "correct" in parser.cells:
        wrong = (parser.number("correct", parse_flag) != (pick == gold)).filled(False)
        parser.reject(
            wrong, "correct", "contradicts the pick and the gold slot or candidate; correct either"
        )
    rows = parser.typed_rows(numbers)
    take, slot = np.nonzero((order >= 0) & parser.good[:, None])
    rows.take(take)
    candidate = order[take, slot]
    rows.text["candidate"] = coded_cells(candidate, [str(i) for i in range(order.shape[1])])
    rows.numbers["slot"] = np.ma.array(slot)
    rows.numbers["chosen"] = (pick[take] == candidate).astype(np.int64)
    rows.numbers["is_best"] = (gold[take] == candidate).astype(np.int64)
    nothing = np.zeros(len(take), bool)
    return finish_lists(
        rows, source, shape.format, options.constants(), bad=nothing, beside=np.zeros(0, np.int64)
    )


def _orders(parser: RowParser) -> Codes:
    """Candidate by row and slot, -1 beyond the last slot and where no order is given."""
    cells = parser.cells["permutation"]
    size = parser.number("permutation", lambda cell: len(parse_permutation(cell)))
    parser.reject_missing("permutation")
    orders = np.full((len(cells.dictionary) + 1, int(size.filled(0).max(initial=0))), -1, np.int64)
    for code in np.unique(cell_codes(cells)[has_number(size)]):
        order = parse_permutation(cells.dictionary[int(code)].as_py())
        orders[code, : len(order)] = order
    return orders[cell_codes(cells)]


def _named(parser: RowParser, what: str, order: Codes, size: Codes) -> Numbers:
    """Candidate that the columns `<what>_slot` and `<what>_candidate` name, missing where both are
    empty.
    """
    n = len(parser.row)
    named: Numbers = np.ma.array(np.zeros(n, np.int64), mask=True)
    for kind, reader in (("slot", _letter), ("candidate", parse_int)):
        name = f"{what}_{kind}"
        if name not in parser.cells:
            continue
        slots = parser.number(name, reader)
        outside = ((slots < 0) | (slots >= size)).filled(False)
        parser.reject(
            outside, name, f"names no {kind} that was shown; correct it, or leave it empty"
        )
        slots = np.ma.array(slots, mask=np.ma.getmaskarray(slots) | outside)
        if kind == "slot" and order.shape[1]:
            slots = np.ma.array(
                order[np.arange(n), slots.filled(0)], mask=np.ma.getmaskarray(slots)
            )
        reason = f"names another candidate than {what}_slot does; correct either"
        parser.reject((slots != named).filled(False), name, reason)
        there = has_number(slots)
        named = np.ma.array(
            np.where(there, slots.data, named.data), mask=~there & ~has_number(named)
        )
    return named


def _letter(cell: str) -> int:
    if len(cell) != 1 or cell.upper() not in _LETTERS:
        raise BadCell("not a slot; write a letter, A for the first shown, or leave the cell empty")
    return _LETTERS.index(cell.upper())
