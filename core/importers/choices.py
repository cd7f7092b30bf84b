"""Listwise choices: one row says in which order n candidates were shown and which of them was picked."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from core.importers.cells import BadCell, parse_float, parse_int
from core.importers.columns import Coded, Numbers
from core.importers.delimited import Sheet
from core.importers.draft import Draft
from core.importers.lists import finish_lists, parse_flag
from core.importers.options import ReadOptions
from core.importers.shapes import Layout, typed
from core.importers.source import Source
from core.importers.typed import Typed
from core.labels import shown
from core.votes import RANKINGS, AmbiguousLabels, Reading

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
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


def read_choices(sheet: Sheet, source: Source, layout: Layout, options: ReadOptions) -> Reading:
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
