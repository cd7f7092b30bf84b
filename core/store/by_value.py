"""Questions to the store that compare the values of a column: the votes of each judge under each value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.counts import NO_GOLD, VoteCounts
from core.store.scope import (
    NUMERIC,
    at_one_moment,
    by_judge,
    column_sql,
    extra_columns,
    ints,
    number,
    scope,
    unknown,
)
from core.votes import COLUMN_NAMES, Selection, UnknownName

if TYPE_CHECKING:
    from core.store.database import Snapshot


@at_one_moment
def vote_counts_by(store: Snapshot, selection: Selection, column: str) -> dict[str, dict[str, VoteCounts]]:
    """Votes per comparison of each judge under each value of a column, by value, then by judge.

    column : canonical (`category`, `temperature`, `prompt_hash`, `judge` …) or extra. Codes of items and
    comparisons are those of `vote_counts` of the selection, whatever the value, so that values can be
    matched. Votes without a value are left out; numbers are in the order of their size.
    Raises as `vote_counts`, and UnknownName for a column that does not exist.
    """
    selected = scope(store, selection)
    codes = number(store, selected, selection)
    if column not in COLUMN_NAMES:
        extras = extra_columns(store)
        if column not in extras:
            raise UnknownName(unknown("column", column, [*COLUMN_NAMES, *extras]))
    value, joins = column_sql(column, "$column")
    params = {**selected.params, "column": column} if "$column" in value else selected.params
    order = "any_value(raw)" if column in NUMERIC else "value"
    table = store.query(
        f"""with u as (select v.* from votes v where v.status = 0 and {selected.filter}),
            b as (select w.judge, w.comparison, w.vote, {value} as raw, ({value})::varchar as value
                  from u w {joins}),
            k as (select value, row_number() over (order by {order})::bigint as place
                  from b where value is not null group by value),
            n as (select k.place, k.value, b.judge, b.comparison, count_if(b.vote = 1)::bigint as plus,
                         count_if(b.vote = 0)::bigint as tie, count_if(b.vote = -1)::bigint as minus
                  from b join k using (value) group by k.place, k.value, b.judge, b.comparison)
            select n.*, g.item, coalesce(g.gold, {NO_GOLD})::bigint as gold
            from n join {selected.gold} g using (comparison) order by n.place, n.judge, n.comparison""",
        params,
    )
    place = ints(table, "place")
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    ends = np.append(starts, len(place))[1:]
    found = {}
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        part = table.slice(start, end - start)
        columns = {name: ints(part, name) for name in ("plus", "tie", "minus", "gold")}
        columns["comparison"] = codes.comparison[ints(part, "comparison")]
        columns["item"] = codes.item[ints(part, "item")]
        found[str(part["value"][0].as_py())] = {
            judge: VoteCounts(**{name: values[rows] for name, values in columns.items()})
            for judge, rows in by_judge(part, selected.judges).items()
        }
    return found
