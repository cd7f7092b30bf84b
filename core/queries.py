"""Questions to the store that count: SQL in, frozen records of `core.counts` out.

Codes of items and comparisons number what the selection's usable votes are about, in the order of the store,
so they are the same in every record made from one selection and one state of the store. Every function raises
`UnknownName` for a name that the store does not have, and `NoUsableVotes` if no vote with status ok is selected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.counts import (
    NO_GOLD,
    FloatArray,
    IntArray,
    OutcomeCounts,
    PairScores,
    PositionCounts,
    RatingTable,
    VoteCounts,
)
from core.evidence import Mark, votes_behind
from core.inventory import JudgeSummary, Summary, filter_columns, summary, values
from core.scope import Scope, nothing, scope, unknown
from core.votes import CorrectnessRule, InvalidOption, Selection, UnknownName

if TYPE_CHECKING:
    import pyarrow as pa

    from core.store import Store

__all__ = [
    "JudgeSummary",
    "Mark",
    "Summary",
    "filter_columns",
    "outcomes",
    "pair_scores",
    "positions",
    "ratings",
    "summary",
    "values",
    "vote_counts",
    "votes_behind",
]


def _ints(table: pa.Table, column: str) -> IntArray:
    found: IntArray = table[column].to_numpy().astype(np.int64, copy=False)
    return found


def _floats(table: pa.Table, column: str) -> FloatArray:
    found: FloatArray = table[column].to_numpy().astype(np.float64, copy=False)
    return found


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
    """Votes of each judge per comparison: how many +1, 0 and -1, and gold (`NO_GOLD` where there is none)."""
    selected = scope(store, selection)
    codes = _codes(store, selected, selection)
    table = store.query(
        f"""with n as (
              select v.judge, v.comparison, count_if(v.vote = 1)::bigint as plus,
                     count_if(v.vote = 0)::bigint as tie, count_if(v.vote = -1)::bigint as minus
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


def outcomes(
    store: Store, selection: Selection, *, rule: CorrectnessRule = "single"
) -> dict[str, OutcomeCounts]:
    """Right and wrong verdicts of each judge per (item, confidence), on comparisons with gold.

    Under `both_orders` a verdict is a run of a comparison voted in both orders: right if the sum of the two
    canonical votes has gold's sign (a gold tie: if the sum is 0), its confidence the mean of the two, missing if
    either is. A judge without a verdict is absent. Source: methods §5 (ours).
    """
    selected = scope(store, selection)
    codes = _codes(store, selected, selection)
    verdicts = f"select v.judge, v.comparison, v.vote, v.confidence from votes v where v.status = 0 and {selected.filter}"
    if rule == "both_orders":
        verdicts = f"""
            select v.judge, v.comparison, sign(sum(v.vote)) as vote,
                   case when count(v.confidence) = 2 then sum(v.confidence) / 2 end as confidence
            from votes v where v.status = 0 and v.position <> 0 and {selected.filter}
            group by v.judge, v.comparison, v.run having count(*) = 2"""
    elif rule != "single":
        raise InvalidOption(f"correctness rule {rule!r}: allowed are 'single' and 'both_orders'")
    table = store.query(
        f"""select x.judge, g.item, x.confidence, count(*)::bigint as n, count_if(x.vote = g.gold)::bigint as correct
            from ({verdicts}) x join {selected.gold} g using (comparison) where g.gold is not null
            group by x.judge, g.item, x.confidence order by x.judge, g.item, x.confidence""",
        selected.params,
    )
    item, confidence = codes.item[_ints(table, "item")], _floats(table, "confidence")
    n, correct = _ints(table, "n"), _ints(table, "correct")
    return {
        judge: OutcomeCounts(item=item[rows], confidence=confidence[rows], n=n[rows], correct=correct[rows])
        for judge, rows in _by_judge(table, selected.judges).items()
    }


def positions(store: Store, selection: Selection) -> dict[str, PositionCounts]:
    """Votes of each judge by the slot shown first, per comparison with a vote whose position is known.

    The margin of a comparison is made from all other judges of the selected data sets, whichever judges are
    selected. A comparison whose votes name several categories counts in the first of them; without one, in "".
    A judge whose positions are all unknown is absent.
    """
    selected = scope(store, selection)
    codes = _codes(store, selected, selection)
    counted = ", ".join(
        f"count_if(v.position = {shown} and v.vote = {vote})::bigint as {order}_{name}"
        for order, shown in (("ab", 1), ("ba", -1))
        for name, vote in (("plus", 1), ("tie", 0), ("minus", -1))
    )
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
                   {", ".join(f"coalesce(p.{x}, 0)::bigint as {x}" for x in ("pairs", "flips", "hard_flips", "slot_sum"))},
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
    same = {x: _ints(table, x) for x in ("pairs", "flips", "hard_flips", "slot_sum")}
    ab_plus, ab_tie, ab_minus = (_ints(table, f"ab_{x}") for x in ("plus", "tie", "minus"))
    ba_plus, ba_tie, ba_minus = (_ints(table, f"ba_{x}") for x in ("plus", "tie", "minus"))
    ab, ba = _choose_two(ab_plus + ab_tie + ab_minus), _choose_two(ba_plus + ba_tie + ba_minus)
    agreeing = sum(_choose_two(x) for x in (ab_plus, ab_tie, ab_minus, ba_plus, ba_tie, ba_minus))
    columns: dict[str, Any] = {
        "comparison": codes.comparison[_ints(table, "comparison")],
        "item": codes.item[_ints(table, "item")],
        "category": code[encoded.indices.to_numpy()].astype(np.int64),
        "first": ab_plus + ba_minus,
        "second": ab_minus + ba_plus,
        "tie": ab_tie + ba_tie,
        **same,
        "same_order_pairs": ab + ba,
        "same_order_disagreements": ab + ba - agreeing,
        "margin": _floats(table, "margin"),
    }
    categories = tuple(names[i] for i in order)
    return {
        judge: PositionCounts(
            categories=categories, **{name: values[rows] for name, values in columns.items()}
        )
        for judge, rows in _by_judge(table, selected.judges).items()
    }


def _choose_two(n: IntArray) -> IntArray:
    return n * (n - 1) // 2


def pair_scores(store: Store, selection: Selection, *, pooled: bool = False) -> dict[str | None, PairScores]:
    """Scores of model pairs per judge and prompt; `pooled` adds the key None, all judges together.

    Votes are averaged within order, then across orders; votes without a known position are an order of their own.
    Pooled, the votes of all judges are averaged within order first. Comparisons of one item that have the two
    models the other way round are merged. A model compared with itself gives no score. Source: methods §6, [RAEE].
    """
    selected = scope(store, selection)
    codes = _codes(store, selected, selection)
    # Orders are summed in fixed columns, as sums of parallel doubles would differ from run to run.
    sums = ", ".join(
        f"(sum(x.vote * x.side) filter (x.position * x.side = {shown}))::double as s{k}, "
        f"coalesce((sum(x.n) filter (x.position * x.side = {shown})), 0)::bigint as n{k}"
        for k, shown in enumerate((1, -1, 0))
    )
    votes = f"""
        with u as (select v.judge, v.comparison, v.position, sum(v.vote)::bigint as vote, count(*) as n
                   from votes v where v.status = 0 and {selected.filter} group by v.judge, v.comparison, v.position),
        x as (select u.*, c.item, least(c.model_a, c.model_b) as low, greatest(c.model_a, c.model_b) as high,
                     case when c.model_a < c.model_b then 1 else -1 end as side
              from u join comparisons c on c.id = u.comparison where c.model_a <> c.model_b)"""
    per_judge = store.query(
        f"{votes} select judge, item, low, high, {sums} from x group by judge, item, low, high "
        "order by judge, low, high, item",
        selected.params,
    )
    names, code = _model_codes(store, per_judge)
    found: dict[str | None, PairScores] = {
        judge: _pair_scores(per_judge.slice(rows.start, rows.stop - rows.start), codes, names, code)
        for judge, rows in _by_judge(per_judge, selected.judges).items()
    }
    if pooled:
        together = store.query(
            f"{votes} select item, low, high, {sums} from x group by item, low, high order by low, high, item",
            selected.params,
        )
        found[None] = _pair_scores(together, codes, names, code)
    return found


def _model_codes(store: Store, table: pa.Table) -> tuple[tuple[str, ...], IntArray]:
    """Names of the models in order, and store id → place in that order."""
    known = store.query("select id, name from models")
    names = dict(zip(known["id"].to_pylist(), known["name"].to_pylist(), strict=True))
    used = np.union1d(_ints(table, "low"), _ints(table, "high")).tolist()
    ordered = sorted(used, key=names.__getitem__)
    code = np.zeros(max(used, default=0) + 1, dtype=np.int64)
    code[ordered] = np.arange(len(ordered))
    return tuple(names[i] for i in ordered), code


def _pair_scores(table: pa.Table, codes: _Codes, models: tuple[str, ...], code: IntArray) -> PairScores:
    n = np.stack([_ints(table, f"n{k}") for k in range(3)])
    sums = np.nan_to_num(np.stack([_floats(table, f"s{k}") for k in range(3)]))
    mean = (sums / np.maximum(n, 1)).sum(axis=0) / np.maximum((n > 0).sum(axis=0), 1)
    low, high = code[_ints(table, "low")], code[_ints(table, "high")]
    # Store ids need not follow the models' names, codes do.
    mean = np.where(low < high, mean, -mean)
    model_1, model_2, item = np.minimum(low, high), np.maximum(low, high), codes.item[_ints(table, "item")]
    order = np.lexsort((item, model_2, model_1))
    return PairScores(
        models=models,
        model_1=model_1[order],
        model_2=model_2[order],
        item=item[order],
        score=((1 + mean) / 2)[order],
        n_votes=n.sum(axis=0)[order],
    )


def ratings(store: Store, selection: Selection, *, anchors: tuple[str, ...] = ()) -> dict[str, RatingTable]:
    """Repeated ratings of each judge: rows are comparisons, columns runs (methods §6, judge screening).

    With anchors, a vote is +1 for the candidate against the anchor and comparisons without an anchor are left out;
    between two anchors the one named first is the anchor. If every run was asked in both orders, a cell is the
    mean of the two; else only the votes of the judge's most common order count (known orders first, `ab` before
    `ba`, when equal). k is the most common number of complete runs that is at least 2 (the larger when equal), and
    rows are the comparisons with exactly k. A judge without such a comparison is absent.
    """
    selected = scope(store, selection)
    codes = _codes(store, selected, selection)
    oriented, compared = "1", "true"
    if anchors:
        ids = _anchor_ids(store, anchors)
        rank_a, rank_b = (
            f"(case c.model_{side} {' '.join(f'when {i} then {k}' for k, i in enumerate(ids))} else {len(ids)} end)"
            for side in "ab"
        )
        oriented = f"(case when {rank_b} < {rank_a} then 1 else -1 end)"
        compared = f"{rank_a} <> {rank_b}"
    table = store.query(
        f"""with s as (select v.judge, v.comparison, c.item, v.run, v.position, v.status = 0 as ok,
                              v.vote * {oriented} as vote
                       from votes v join comparisons c on c.id = v.comparison where {selected.filter} and {compared}),
            r as (select judge, comparison, item, run, (max(vote) filter (ok and position = 1))::double as ab,
                         (max(vote) filter (ok and position = -1))::double as ba,
                         (max(vote) filter (ok and position = 0))::double as unknown,
                         count_if(position = 1) > 0 and count_if(position = -1) > 0 as both_asked
                  from s group by judge, comparison, item, run),
            m as (select judge, case when bool_and(both_asked) then 'both'
                                     when count(ab) >= greatest(count(ba), count(unknown)) then 'ab'
                                     when count(ba) >= count(unknown) then 'ba' else 'unknown' end as orders
                  from r group by judge),
            x as (select r.judge, r.comparison, r.item, r.run, m.orders,
                         case m.orders when 'both' then (ab + ba) / 2 when 'ab' then ab when 'ba' then ba
                                       else unknown end as rating
                  from r join m using (judge)),
            w as (select *, count(*) over (partition by judge, comparison) as k from x where rating is not null),
            f as (select judge, k, count(distinct comparison) as rows from w where k >= 2 group by judge, k),
            b as (select judge, k from f qualify row_number() over (partition by judge order by rows desc, k desc) = 1)
            select w.judge, w.item, w.orders, w.k::bigint as k, w.rating from w join b using (judge, k)
            order by w.judge, w.comparison, w.run""",
        selected.params,
    )
    item, rating, k = codes.item[_ints(table, "item")], _floats(table, "rating"), _ints(table, "k")
    found = {}
    for judge, rows in _by_judge(table, selected.judges).items():
        width = int(k[rows.start])
        found[judge] = RatingTable(
            item=item[rows][::width],
            ratings=rating[rows].reshape(-1, width),
            orders=table["orders"][rows.start].as_py(),
            oriented=bool(anchors),
        )
    return found


def _anchor_ids(store: Store, anchors: tuple[str, ...]) -> list[int]:
    known = store.query("select id, name from models order by name")
    ids = dict(zip(known["name"].to_pylist(), known["id"].to_pylist(), strict=True))
    for anchor in anchors:
        if anchor not in ids:
            raise UnknownName(unknown("model", anchor, list(ids)))
    return [ids[anchor] for anchor in anchors]
