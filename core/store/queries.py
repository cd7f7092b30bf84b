"""Questions to the store that count: SQL in, frozen records of `core.counts` out.

Codes of items and comparisons number what the selection's usable votes are about, in the order of the store,
so they are the same in every record made from one selection and one state of the store. Every function
raises `UnknownName` for a name that the store does not have, and `NoUsableVotes` if no vote with status ok is
selected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.counts import (
    NO_GOLD,
    IntArray,
    OutcomeCounts,
    PositionCounts,
    VoteCounts,
)
from core.store.evidence import Mark, votes_behind
from core.store.inventory import (
    JudgeSummary,
    RaterCount,
    Summary,
    comparison_names,
    costs,
    filter_columns,
    summary,
    values,
)
from core.store.orders import length_counts, order_counts, single_votes
from core.store.pairs import pair_scores, ratings
from core.store.rankings import list_rankings, ranked_items
from core.store.scope import at_one_moment, by_judge, floats, ints, number, scope
from core.store.scores import direct_scores
from core.votes import CorrectnessRule, InvalidOption, Selection

if TYPE_CHECKING:
    from core.store.database import Snapshot

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
    "pair_scores",
    "positions",
    "ranked_items",
    "ratings",
    "single_votes",
    "summary",
    "values",
    "vote_counts",
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
