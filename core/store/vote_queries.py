"""Questions to the store that count: SQL in, frozen records of `core.records` out.

Codes of items and comparisons number what the selection's usable votes are about, in the order of the store,
so they are the same in every record made from one selection and one state of the store. Every function
raises `UnknownName` for a name that the store does not have, and `NoUsableVotes` if no vote with status ok is
selected.

Questions to the store about what was shown: votes in each order, and votes by which response is longer.

Questions to the store that compare the values of a column: the votes of each judge under each value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidOption, UnknownName
from ..records import (
    NO_GOLD,
    NO_SIDE,
    IntArray,
    LengthCounts,
    OrderCounts,
    OutcomeCounts,
    PositionCounts,
    SingleVotes,
    VoteCounts,
)
from ..schema import COLUMN_NAMES, CorrectnessRule, Selection
from .browse import (
    JudgeSummary,
    RaterCount,
    Summary,
    comparison_names,
    costs,
    filter_columns,
    summary,
    values,
)
from .export import Mark, votes_behind
from .model_queries import pair_doubts, pair_scores, ratings
from .row_queries import direct_scores, list_rankings, ranked_items
from .selection import (
    NUMERIC,
    at_one_moment,
    by_judge,
    column_sql,
    extra_columns,
    floats,
    ints,
    number,
    scope,
    unknown,
)

if TYPE_CHECKING:
    from .connection import Snapshot


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


__all__ = [
    "JudgeSummary",
    "Mark",
    "RaterCount",
    "Summary",
    "comparison_names",
    "costs",
    "direct_scores",
    "filter_columns",
    "length_counts",
    "list_rankings",
    "order_counts",
    "outcomes",
    "pair_doubts",
    "pair_scores",
    "positions",
    "ranked_items",
    "ratings",
    "single_votes",
    "summary",
    "values",
    "vote_counts",
    "vote_counts_by",
    "votes_behind",
]


@at_one_moment
def vote_counts(store: Snapshot, selection: Selection) -> dict[str, VoteCounts]:
    """Votes of each judge per comparison: how many +1, 0 and -1, and gold (`NO_GOLD` where there is none)."""
    selected = scope(store, selection)
    codes = number(store, selected, selection)
    table = store.query(
        f"""with n as (
              select v.judge, v.comparison, count_if(v.vote = 1)::bigint as plus,
                     count_if(v.vote = 0)::bigint as tie, count_if(v.vote = -1)::bigint as minus
              from votes v where v.status = 0 and {selected.filter} group by v.judge, v.comparison)
            select n.*, g.item, coalesce(g.gold, {NO_GOLD})::bigint as gold
            from n join {selected.gold} g using (comparison) order by n.judge, n.comparison""",
        selected.params,
    )
    columns: dict[str, Any] = {name: ints(table, name) for name in ("plus", "tie", "minus", "gold")}
    columns["comparison"] = codes.comparison[ints(table, "comparison")]
    columns["item"] = codes.item[ints(table, "item")]
    return {
        judge: VoteCounts(**{name: values[rows] for name, values in columns.items()})
        for judge, rows in by_judge(table, selected.judges).items()
    }


@at_one_moment
def outcomes(
    store: Snapshot, selection: Selection, *, rule: CorrectnessRule = "single"
) -> dict[str, OutcomeCounts]:
    """Right and wrong verdicts of each judge per (item, confidence), on comparisons with gold.

    Under `both_orders` a verdict is a run of a comparison voted in both orders: right if the sum of the two
    canonical votes has gold's sign (a gold tie: if the sum is 0), its confidence the mean of the two, missing
    if either is. A judge without a verdict is absent. Source: methods §5 (ours).
    """
    selected = scope(store, selection)
    codes = number(store, selected, selection)
    verdicts = f"select v.* from votes v where v.status = 0 and {selected.filter}"
    if rule == "both_orders":
        verdicts = f"""
            select v.judge, v.comparison, sign(sum(v.vote)) as vote,
                   case when count(v.confidence) = 2 then sum(v.confidence) / 2 end as confidence
            from votes v where v.status = 0 and v.position <> 0 and {selected.filter}
            group by v.judge, v.comparison, v.run having count(*) = 2"""
    elif rule != "single":
        raise InvalidOption(f"correctness rule {rule!r}: allowed are 'single' and 'both_orders'")
    table = store.query(
        f"""select x.judge, g.item, x.confidence, count(*)::bigint as n,
                   count_if(x.vote = g.gold)::bigint as correct
            from ({verdicts}) x join {selected.gold} g using (comparison) where g.gold is not null
            group by x.judge, g.item, x.confidence order by x.judge, g.item, x.confidence""",
        selected.params,
    )
    item, confidence = codes.item[ints(table, "item")], floats(table, "confidence")
    n, correct = ints(table, "n"), ints(table, "correct")
    return {
        judge: OutcomeCounts(item=item[rows], confidence=confidence[rows], n=n[rows], correct=correct[rows])
        for judge, rows in by_judge(table, selected.judges).items()
    }


@at_one_moment
def positions(store: Snapshot, selection: Selection) -> dict[str, PositionCounts]:
    """Votes of each judge by the slot shown first, per comparison with a vote whose position is known.

    The margin of a comparison is made from all other judges of the selected data sets, whichever judges are
    selected. A comparison whose votes name several categories counts in the first of them; without one, in
    the category "". A judge whose positions are all unknown is absent.
    """
    selected = scope(store, selection)
    codes = number(store, selected, selection)
    counted = ", ".join(
        f"count_if(v.position = {shown} and v.vote = {vote})::bigint as {order}_{name}"
        for order, shown in (("ab", 1), ("ba", -1))
        for name, vote in (("plus", 1), ("tie", 0), ("minus", -1))
    )
    of_pairs = ("pairs", "flips", "hard_flips", "slot_sum")
    table = store.query(
        f"""with s as (select * from votes v where v.status = 0 and v.position <> 0 and {selected.filter}),
            n as (select v.judge, v.comparison, min(v.category) as category, {counted} from s v
                  group by v.judge, v.comparison),
            r as (select judge, comparison, (max(vote) filter (position = 1))::bigint as ab,
                         (max(vote) filter (position = -1))::bigint as ba
                  from s group by judge, comparison, run having count(*) = 2),
            p as (select judge, comparison, count(*) as pairs, count_if(ab <> ba) as flips,
                         count_if(abs(ab - ba) = 2) as hard_flips, sum(ab - ba) as slot_sum
                  from r group by judge, comparison),
            o as (select v.judge, v.comparison, sum(v.vote) as vote, count(*) as n from votes v
                  where v.status = 0 and {selected.pool} group by v.judge, v.comparison),
            a as (select comparison, sum(vote) as vote, sum(n) as n from o group by comparison)
            select n.*, c.item, coalesce(k.name, '') as category_name,
                   {", ".join(f"coalesce(p.{x}, 0)::bigint as {x}" for x in of_pairs)},
                   case when a.n > o.n then abs(a.vote - o.vote)::double / (a.n - o.n)::double end as margin
            from n join comparisons c on c.id = n.comparison left join categories k on k.id = n.category
            left join p using (judge, comparison) join o using (judge, comparison) join a using (comparison)
            order by n.judge, n.comparison""",
        selected.params,
    )
    encoded = table["category_name"].combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = np.argsort(np.array(names, dtype=object)) if names else np.zeros(0, dtype=np.int64)
    code = np.argsort(order)
    ab_plus, ab_tie, ab_minus = (ints(table, f"ab_{x}") for x in ("plus", "tie", "minus"))
    ba_plus, ba_tie, ba_minus = (ints(table, f"ba_{x}") for x in ("plus", "tie", "minus"))
    ab, ba = _choose_two(ab_plus + ab_tie + ab_minus), _choose_two(ba_plus + ba_tie + ba_minus)
    agreeing = sum(_choose_two(x) for x in (ab_plus, ab_tie, ab_minus, ba_plus, ba_tie, ba_minus))
    columns: dict[str, Any] = {
        "comparison": codes.comparison[ints(table, "comparison")],
        "item": codes.item[ints(table, "item")],
        "category": code[encoded.indices.to_numpy()].astype(np.int64),
        "first": ab_plus + ba_minus,
        "second": ab_minus + ba_plus,
        "tie": ab_tie + ba_tie,
        **{name: ints(table, name) for name in of_pairs},
        "same_order_pairs": ab + ba,
        "same_order_disagreements": ab + ba - agreeing,
        "margin": floats(table, "margin"),
    }
    categories = tuple(names[i] for i in order)
    return {
        judge: PositionCounts(
            categories=categories, **{name: values[rows] for name, values in columns.items()}
        )
        for judge, rows in by_judge(table, selected.judges).items()
    }


def _choose_two(n: IntArray) -> IntArray:
    return n * (n - 1) // 2


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
