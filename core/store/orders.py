"""Questions to the store about what was shown: votes in each order, and votes by which response is longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.counts import NO_GOLD, NO_SIDE, LengthCounts, OrderCounts, SingleVotes
from core.store.scope import at_one_moment, by_judge, floats, ints, number, scope
from core.votes import Selection

if TYPE_CHECKING:
    from core.store.database import Snapshot


@at_one_moment
def order_counts(store: Snapshot, selection: Selection) -> dict[str, OrderCounts]:
    """Votes of each judge per comparison and shown order, with gold. A judge without a position is absent."""
    selected = scope(store, selection)
    codes = number(store, selected, selection)
    names = [(order, shown, vote) for order, shown in (("ab", 1), ("ba", -1)) for vote in (-1, 0, 1)]
    counted = ", ".join(
        f"count_if(v.position = {shown} and v.vote = {vote})::bigint as {order}{vote + 1}"
        for order, shown, vote in names
    )
    table = store.query(
        f"""with n as (select v.judge, v.comparison, {counted} from votes v
                       where v.status = 0 and v.position <> 0 and {selected.filter}
                       group by v.judge, v.comparison)
            select n.*, g.item, coalesce(g.gold, {NO_GOLD})::bigint as gold
            from n join {selected.gold} g using (comparison) order by n.judge, n.comparison""",
        selected.params,
    )
    comparison, item = codes.comparison[ints(table, "comparison")], codes.item[ints(table, "item")]
    ab, ba = (np.stack([ints(table, f"{order}{k}") for k in range(3)], axis=1) for order in ("ab", "ba"))
    gold = ints(table, "gold")
    return {
        judge: OrderCounts(
            comparison=comparison[rows], item=item[rows], ab=ab[rows], ba=ba[rows], gold=gold[rows]
        )
        for judge, rows in by_judge(table, selected.judges).items()
    }


@at_one_moment
def length_counts(store: Snapshot, selection: Selection) -> dict[str, LengthCounts]:
    """Votes of each judge for the longer and the shorter response, with gold.

    Lengths are the vote's own `length_a` and `length_b`; where either is missing, those of its texts in
    characters. Votes on responses of equal or unknown length are left out; a judge without others is absent.
    """
    selected = scope(store, selection)
    codes = number(store, selected, selection)
    table = store.query(
        f"""with d as (
              select d.vote as id,
                     sign(coalesce(d.length_a - d.length_b, length(a.text) - length(b.text))) as side
              from details d
              left join texts a on a.id = d.response_a left join texts b on b.id = d.response_b),
            n as (
              select v.judge, v.comparison, d.side, count_if(v.vote = d.side)::bigint as longer,
                     count_if(v.vote = -d.side)::bigint as shorter, count_if(v.vote = 0)::bigint as tie
              from votes v join d using (id)
              where v.status = 0 and d.side <> 0 and {selected.filter}
              group by v.judge, v.comparison, d.side)
            select n.*, g.item, coalesce(g.gold * n.side, {NO_GOLD})::bigint as gold
            from n join {selected.gold} g using (comparison) order by n.judge, n.comparison, n.side""",
        selected.params,
    )
    columns = {name: ints(table, name) for name in ("longer", "shorter", "tie", "gold")}
    columns["comparison"] = codes.comparison[ints(table, "comparison")]
    columns["item"] = codes.item[ints(table, "item")]
    return {
        judge: LengthCounts(**{name: values[rows] for name, values in columns.items()})
        for judge, rows in by_judge(table, selected.judges).items()
    }


@at_one_moment
def single_votes(store: Snapshot, selection: Selection) -> dict[str, SingleVotes]:
    """Votes of each judge one by one, with confidence, order, run and longer side (as in `length_counts`)."""
    selected = scope(store, selection)
    codes = number(store, selected, selection)
    table = store.query(
        f"""with d as (
              select d.vote as id,
                     sign(coalesce(d.length_a - d.length_b, length(a.text) - length(b.text))) as side
              from details d
              left join texts a on a.id = d.response_a left join texts b on b.id = d.response_b)
            select v.judge, v.comparison, v.vote, v.confidence, v.position, v.run,
                   coalesce(d.side, {NO_SIDE})::bigint as side
            from votes v left join d using (id)
            where v.status = 0 and {selected.filter} order by v.judge, v.comparison, v.id""",
        selected.params,
    )
    comparison = codes.comparison[ints(table, "comparison")]
    vote, side, confidence = ints(table, "vote"), ints(table, "side"), floats(table, "confidence")
    shown, run = ints(table, "position"), ints(table, "run")
    return {
        judge: SingleVotes(
            comparison=comparison[rows],
            vote=vote[rows],
            confidence=confidence[rows],
            side=side[rows],
            shown=shown[rows],
            run=run[rows],
        )
        for judge, rows in by_judge(table, selected.judges).items()
    }
