"""Questions to the store that count: SQL in, frozen records of `core.counts` out.

Codes of items and comparisons number what the selection's usable votes are about, in the order of the store, so
they are the same in every record made from one selection and one state of the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.counts import NO_GOLD, IntArray, VoteCounts
from core.scope import Scope, nothing, scope
from core.votes import Selection

if TYPE_CHECKING:
    import pyarrow as pa

    from core.store import Store


def _ints(table: pa.Table, column: str) -> IntArray:
    return table[column].to_numpy().astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Codes:
    """Store ids → codes 0, 1, 2 … of what the selection is about."""

    comparison: IntArray
    item: IntArray


def _codes(store: Store, selected: Scope, selection: Selection) -> _Codes:
    found = store.query(
        f"""select c.id as comparison, c.item from comparisons c
            where c.id in (select v.comparison from votes v where v.status = 0 and {selected.filter})""",
        selected.params,
    )
    if found.num_rows == 0:
        raise nothing(selection)

    def lookup(ids: IntArray) -> IntArray:
        present = np.zeros(ids.max() + 1, dtype=np.int64)
        present[ids] = 1
        return np.cumsum(present) - 1

    return _Codes(lookup(_ints(found, "comparison")), lookup(_ints(found, "item")))


def _by_judge(table: pa.Table, names: dict[int, str]) -> dict[str, slice]:
    """Slices of a table that is ordered by judge id, in the order of the judges' names."""
    judge = _ints(table, "judge")
    ids, starts = np.unique(judge, return_index=True)
    ends = [*starts[1:].tolist(), len(judge)]
    found = {names[int(i)]: slice(int(a), int(b)) for i, a, b in zip(ids, starts, ends, strict=True)}
    return dict(sorted(found.items()))


def vote_counts(store: Store, selection: Selection) -> dict[str, VoteCounts]:
    """Votes of each judge per comparison: how many +1, 0 and -1, and gold (`NO_GOLD` where there is none).

    Raises
    ------
    NoUsableVotes : no vote with status ok is selected. UnknownName : see `core.scope.scope`.
    """
    selected = scope(store, selection)
    codes = _codes(store, selected, selection)
    table = store.query(
        f"""with n as (
              select v.judge, v.comparison, count_if(v.vote = 1)::bigint as plus, count_if(v.vote = 0)::bigint as tie,
                     count_if(v.vote = -1)::bigint as minus
              from votes v where v.status = 0 and {selected.filter} group by v.judge, v.comparison)
            select n.*, g.item, coalesce(g.gold, {NO_GOLD})::bigint as gold
            from n join {selected.gold} g using (comparison) order by n.judge, n.comparison""",
        selected.params,
    )
    columns: dict[str, Any] = {name: _ints(table, name) for name in ("plus", "tie", "minus", "gold")}
    columns["comparison"] = codes.comparison[_ints(table, "comparison")]
    columns["item"] = codes.item[_ints(table, "item")]
    return {
        judge: VoteCounts(**{name: values[rows] for name, values in columns.items()})
        for judge, rows in _by_judge(table, selected.judges).items()
    }
