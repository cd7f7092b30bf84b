"""What SQL counts, as arrays: each cell of a selection is read once, whatever asks for it.

`Counts` has the rows of `tallies` and `runs` that are selected, and the comparisons that they are
about, in the order of judge and comparison. Questions about them are sums of neighbouring rows.
What cells do not hold is asked for by a statement of its own (`fetch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..records import BoolArray, IntArray, distinct
from ..schema import Kind, Selection
from .cells import BASES, CELLS, FAILED, LABELS, ORDERS, Cell
from .selection import Scope, nothing, of_one_kind, scope

if TYPE_CHECKING:
    import pyarrow as pa

    from .connection import Database, Snapshot


R = TypeVar("R")
Columns = Mapping[str, NDArray[Any]]
"""Columns of one table, by name, all of one length."""

PLURALS = {"category": "categories", "model": "models", "candidate": "candidates"}
"""Text column of a result → field of a record that names what the column's codes stand for."""
IN_ORDER = [f"{order}_{name}" for order in ORDERS for name in LABELS]
"""Columns of a tally that count the votes of one order shown."""
_READ: dict[Cell, tuple[str, ...]] = {
    "tallies": ("n", *LABELS, *IN_ORDER, *FAILED),
    "runs": (
        *("block", "negative", *(f"n_{order}" for order in BASES), "asked_both", "flips"),
        *("hard_flips", "slot_sum", *(f"{order}_votes" for order in BASES)),
    ),
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Codes:
    """Arrays from store ids to codes 0, 1, 2 … of what the selection's usable rows are about."""

    comparison: IntArray
    item: IntArray


def dense_codes(store: Snapshot, selected: Scope, selection: Selection) -> Codes:
    """Codes of the comparisons and items with a usable row, in the order of the store.

    Raises NoUsableVotes: there is none.
    """
    template = "select distinct v.item from {usable} v"
    if selected.kind == "votes":
        template = """select c.id as comparison, c.item from comparisons c
                      where c.id in (select v.comparison from {tallies} v where v.n > 0)"""

    votes = selected.kind == "votes"

    def codes() -> Codes:
        rows = store.query(selected.sql(template), selected.params)
        if rows.num_rows == 0:
            raise nothing(store, selection, selected.kind)
        items = ints(rows, "item")
        item = _lookup(items)
        if votes and (unit := units(store)) is not None:
            item = _lookup(unit[items], len(unit))[unit]
        return Codes(item=item, comparison=_lookup(ints(rows, "comparison")) if votes else item)

    return store.once("codes", selected.key, codes)


def units(store: Snapshot) -> IntArray | None:
    """By item of votes the first item of its cluster, itself where it has none; None where no item
    has.
    """

    def made() -> IntArray | None:
        if not store.rows("select 1 from details where cluster is not null limit 1"):
            return None
        rows = store.query(
            """with c as (select co.item, min(d.cluster) as cluster
                          from details d join votes v on v.id = d.vote
                          join comparisons co on co.id = v.comparison
                          where d.cluster is not null group by co.item)
               select i.id::bigint as item,
                      min(i.id) over (partition by i.dataset, c.cluster)::bigint as unit
               from c join items i on i.id = c.item order by i.id"""
        )
        ((most,),) = store.rows("select max(id) from items")
        unit = np.arange(int(most) + 1)
        unit[ints(rows, "item")] = ints(rows, "unit")
        return unit

    return store.once("units", (), made)


def _lookup(ids: IntArray, size: int = 0) -> IntArray:
    present = np.zeros(max(int(ids.max()) + 1, size), dtype=np.int64)
    present[ids] = 1
    return np.cumsum(present) - 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Counts:
    """What the selected votes are counted to.

    codes : of what usable votes are about.  item, model_a, model_b, gold : of each comparison, by
        its id in the store; gold is `NO_GOLD` without one.
    """

    store: Snapshot
    selected: Scope
    codes: Codes
    item: IntArray
    model_a: IntArray
    model_b: IntArray
    gold: IntArray

    @classmethod
    def of(cls, store: Snapshot, selection: Selection) -> Counts:
        """Raises NoUsableVotes: no usable vote is selected."""
        selected = scope(store, selection)
        codes = dense_codes(store, selected, selection)
        sql = selected.sql(
            """select g.comparison, g.item, g.model_a, g.model_b,
                      coalesce(g.gold, {NO_GOLD})::integer as gold_ from {gold} g"""
        )
        compared = store.once("compared", selected.gold, lambda: columns_of(store.batches(sql)))
        if (unit := units(store)) is not None:
            compared = {**compared, "item": unit[compared["item"]]}
        return cls(
            store=store,
            selected=selected,
            codes=codes,
            **{
                name: by_id(compared["comparison"], compared[name])
                for name in ("item", "model_a", "model_b", "gold")
            },
        )

    def rows(self, cell: Cell, *, everyone: bool = False) -> Columns:
        """Rows of a cell in the order of judge and comparison, ids as in the store.

        Tallies without a usable vote are there too, and their category is -1 without one; of the
        runs of a judge and comparison the lowest come first.
        everyone : of all votes of the selected data sets.
        """
        about, name = self.selected, str(cell)
        if everyone and about.filter != about.pool:
            # Cells tell the data sets, so no condition needs a value.
            cells = about.cells if about.as_one else frozenset(CELLS)
            about = replace(about, filter=about.pool, cells=cells, params={})
            name += " of everyone"
        more = ", ".join(f"v.{column}" for column in _READ[cell])
        if cell == "tallies":
            more = f"coalesce(v.category, -1) as category_, {more}"
        sql = about.sql(f"select v.judge, v.comparison, {more} from {{{cell}}} v")

        def read() -> Columns:
            columns = columns_of(self.store.batches(sql, about.params))
            order, starts = grouped(columns["judge"], columns["comparison"])
            if cell == "runs" and len(starts) < len(order):
                up = columns["negative"] == 0
                keys = (columns["block"], up, columns["comparison"], columns["judge"])
                order = np.lexsort(keys)
            return {column: values[order] for column, values in columns.items()}

        return self.store.once(name, about.key, read)

    def about(self, columns: Columns) -> dict[str, IntArray]:
        """Item and gold of the comparison of each row."""
        return {name: getattr(self, name)[columns["comparison"]] for name in ("item", "gold")}

    def placed(self) -> dict[str, IntArray]:
        """Votes of each judge and comparison by order shown, where one is known."""
        tallies = self.rows("tallies")
        return summed(tallies, IN_ORDER, is_placed(tallies))

    def per_judge(self, columns: Columns, record: Callable[..., R]) -> dict[str, R]:
        """A record of the rows of each judge; `comparison` and `item` are ids, and become codes."""
        coded = {
            name: getattr(self.codes, name)[values] if name in ("comparison", "item") else values
            for name, values in columns.items()
        }
        return split(coded, self.selected.judges, record)


def is_placed(tallies: Columns) -> BoolArray:
    """Tallies of votes of which some have a known position."""
    placed: BoolArray = np.sum([tallies[name] for name in IN_ORDER], axis=0) > 0
    return placed


def summed(columns: Columns, names: Iterable[str], keep: BoolArray) -> dict[str, IntArray]:
    """Sums of columns over the kept rows of each judge and comparison, and these two.

    columns : in the order of judge and comparison.
    """
    rows = slice(None) if keep.all() else np.flatnonzero(keep)
    judge, comparison = columns["judge"][rows], columns["comparison"][rows]
    starts = first_of_each(judge, comparison)
    found = {"judge": judge[starts], "comparison": comparison[starts]}
    for name in names:
        values = columns[name][rows]
        found[name] = values if len(starts) == len(values) else np.add.reduceat(values, starts)
    return found


def first_of_each(judge: IntArray, comparison: IntArray) -> IntArray:
    """Rows at which another judge or comparison begins."""
    new = np.ones(len(judge), dtype=np.bool_)
    new[1:] = (judge[1:] != judge[:-1]) | (comparison[1:] != comparison[:-1])
    return np.flatnonzero(new)


def grouped(*columns: IntArray) -> tuple[IntArray, IntArray]:
    """Rows in the order of these columns, which are nowhere below zero, and where in that order
    each combination begins.
    """
    key, size = columns[0].astype(np.int64), int(columns[0].max(initial=0)) + 1
    for column in columns[1:]:
        width = int(column.max(initial=0)) + 1
        if size * width > 2**62:
            _, key, rows = distinct(key)
            size = len(rows)
        key = key * width + column
        size *= width
    step = np.diff(key)
    order = np.arange(len(key))
    if not (step >= 0).all():
        order = np.argsort(key, kind="stable")
        step = np.diff(key[order])
    return order, np.flatnonzero(
        np.concatenate([np.ones(min(len(key), 1), dtype=np.bool_), step > 0])
    )


def matched(columns: Columns, others: Columns) -> tuple[IntArray, BoolArray]:
    """For each row of judge and comparison the row of others that has the same two, and whether
    there is one. Both are in their order, and have no two rows with the same.
    """
    key, other = (_paired(each["judge"], each["comparison"]) for each in (columns, others))
    if np.array_equal(key, other):
        return np.arange(len(key)), np.ones(len(key), dtype=np.bool_)
    place = np.minimum(np.searchsorted(other, key), max(len(other) - 1, 0))
    return place, other[place] == key if len(other) else np.zeros(len(key), dtype=np.bool_)


def _paired(judge: IntArray, comparison: IntArray) -> IntArray:
    return judge.astype(np.int64) << 32 | comparison


def by_id(ids: IntArray, values: IntArray) -> IntArray:
    """Values by store id, 0 where there is none."""
    found = np.zeros(int(ids.max(initial=-1)) + 1, dtype=values.dtype)
    found[ids] = values
    return found


def fetch(
    store: Database | Snapshot,
    selection: Selection,
    template: str,
    record: Callable[..., R],
    *,
    kind: Kind = "votes",
    **parts: str,
) -> dict[str, R]:
    """Run one statement about a selection and make a record of each judge's rows, by name of the
    judge.

    template : as in `Scope.sql`, ordered by a column `judge`.
    record : takes every other column as an array: store ids in `comparison` and `item` become
        codes, texts become codes too, with their names in a tuple (`PLURALS`).
    """
    with store.snapshot() as moment:
        selected = scope(moment, selection, kind)
        if "{stated}" in template:
            selected = of_one_kind(moment, selected)
        codes = dense_codes(moment, selected, selection)
        batches = moment.batches(selected.sql(template, **parts), selected.params)
        return per_judge(batches, codes, selected.judges, record)


def per_judge(
    batches: pa.RecordBatchReader, codes: Codes, judges: dict[int, str], record: Callable[..., R]
) -> dict[str, R]:
    """A record of each judge's rows, which come ordered by judge; see `fetch`."""
    arrays, shared = with_codes(batches, codes)
    return split(arrays, judges, lambda **columns: record(**shared, **columns))


def with_codes(
    batches: pa.RecordBatchReader, codes: Codes
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """Every column as an array, codes for store ids and texts, and the names of each column of
    texts; see `fetch`.
    """
    arrays: dict[str, Any] = {}
    shared: dict[str, tuple[str, ...]] = {}
    columns = _parts(batches)
    for name in batches.schema.names:
        # What is joined is not held in parts too.
        parts, kind = columns.pop(name), batches.schema.field(name).type
        name = name.removesuffix("_")
        if str(kind) == "string":
            shared[PLURALS[name]], arrays[name] = coded(parts)
        else:
            wide = np.float64 if str(kind) == "double" else np.int64
            arrays[name] = _joined(parts, wide)
    for name in ("comparison", "item"):
        if name in arrays:
            arrays[name] = getattr(codes, name)[arrays[name]]
    return arrays, shared


def split(columns: Columns, judges: dict[int, str], record: Callable[..., R]) -> dict[str, R]:
    """A record of each judge's rows, numbers of 64 bits."""
    rows = by_judge(columns["judge"], judges)
    wide = {
        name: values.astype(np.int64, copy=False) if values.dtype.kind in "iu" else values
        for name, values in columns.items()
        if name != "judge"
    }
    return {
        judge: record(**{name: values[own] for name, values in wide.items()})
        for judge, own in rows.items()
    }


def columns_of(batches: pa.RecordBatchReader) -> dict[str, NDArray[Any]]:
    """Columns of numbers, whole ones in as few bits as hold them: 32 or 64."""
    found: dict[str, NDArray[Any]] = {}
    for name, parts in _parts(batches).items():
        most = max(
            (max(-int(part.min(initial=0)), int(part.max(initial=0))) for part in parts), default=0
        )
        found[name.removesuffix("_")] = _joined(parts, np.int32 if most < 2**31 else np.int64)
    return found


def _parts(batches: pa.RecordBatchReader) -> dict[str, list[Any]]:
    """The parts of each column; what is kept of one is a copy, so that no more than one is held."""
    columns: dict[str, list[Any]] = {name: [] for name in batches.schema.names}
    for batch in batches:
        for name, parts in columns.items():
            parts.append(_kept(batch[name]))
    return columns


def _joined(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts], dtype=kind, casting="unsafe")


def _kept(column: pa.Array) -> Any:
    """Whole numbers, numbers (null is NaN), or texts by their codes (null is "")."""
    import pyarrow.compute as pc

    if str(column.type) == "string":
        return pc.fill_null(column, "").dictionary_encode()
    return np.array(column.to_numpy(zero_copy_only=False))


def ints(table: pa.Table, column: str) -> IntArray:
    values: IntArray = table[column].to_numpy().astype(np.int64, copy=False)
    return values


def by_judge(ids: IntArray, names: dict[int, str]) -> dict[str, slice]:
    """Slices of rows that are ordered by judge id, in the order of the judges' names."""
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    ends = np.append(starts, len(ids))[1:]
    rows = {names[int(ids[a])]: slice(int(a), int(b)) for a, b in zip(starts, ends, strict=True)}
    return dict(sorted(rows.items()))


def coded(parts: Sequence[pa.DictionaryArray]) -> tuple[tuple[str, ...], IntArray]:
    """Distinct texts of the parts of a column in order, and the code of each row among them."""
    import pyarrow as pa

    texts = pa.dictionary(pa.int32(), pa.string())
    encoded = pa.chunked_array(parts, type=texts).unify_dictionaries().combine_chunks()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    code = np.empty(len(names), dtype=np.int64)
    code[order] = np.arange(len(names))
    return tuple(names[i] for i in order), code[encoded.indices.to_numpy()]
