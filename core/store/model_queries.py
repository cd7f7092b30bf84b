"""Pairs of models and repetitions: scores of model pairs, ratings for the ICC, and how sure a judge
was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import FloatArray, IntArray, PairDoubt, PairScores, Panel, RatingTable
from ..schema import Selection
from .cells import BASES, LABELS, ORDERS, RUNS_PER_BLOCK
from .selection import Codes, Scope, at_one_moment, by_judge, dense_codes, fetch, ints, pick, scope

if TYPE_CHECKING:
    import pyarrow as pa

    from .connection import Snapshot


@at_one_moment
def pair_scores(
    store: Snapshot, selection: Selection, *, pooled: bool = False
) -> dict[str | None, PairScores]:
    """Scores of model pairs per judge and prompt; `pooled` adds the key None, all judges together.

    Votes are averaged within order, then across orders; votes without a known position are an order
    of their own. Pooled, the votes of all judges are averaged within order first. Comparisons of
    one item that have the two models the other way round are merged. A model compared with itself
    gives no score. Raises as in `core.store.vote_queries`. Source: docs/methods.md §6, [RAEE].
    """
    selected = scope(store, selection)
    codes = dense_codes(store, selected, selection)
    table = _sums_by_order(store, selected)
    names, code = _model_codes(store, table)
    scores: dict[str | None, PairScores] = {
        judge: _pair_scores(table.slice(rows.start, rows.stop - rows.start), codes, names, code)
        for judge, rows in by_judge(ints(table, "judge"), selected.judges).items()
    }
    if pooled:
        scores[None] = _pair_scores(_together(table), codes, names, code)
    return scores


@at_one_moment
def panel_scores(
    store: Snapshot, selection: Selection, panels: Sequence[Panel]
) -> list[PairScores]:
    """Pooled scores of each panel: its judges' votes on its models against its anchor, as
    `pair_scores`.

    Source: docs/methods.md §6, [RAEE].
    """
    import pyarrow as pa

    selected = scope(store, selection)
    codes = dense_codes(store, selected, selection)
    table = _sums_by_order(store, selected)
    names, code = _model_codes(store, table)
    number = {name: judge for judge, name in selected.judges.items()}
    judge, low, high = ints(table, "judge"), code[ints(table, "low")], code[ints(table, "high")]
    scores = []
    for panel in panels:
        anchor, *models = (names.index(name) for name in (panel.anchor, *panel.models))
        other = np.where(low == anchor, high, np.where(high == anchor, low, -1))
        rows = np.isin(other, models) & np.isin(judge, [number[name] for name in panel.judges])
        scores.append(_pair_scores(_together(table.filter(pa.array(rows))), codes, names, code))
    return scores


def _together(table: pa.Table) -> pa.Table:
    """Sums by order of all judges of a table, in the order of models and items."""
    import pyarrow as pa

    low, high, item = (ints(table, name) for name in ("low", "high", "item"))
    key = (low * (high.max(initial=0) + 1) + high) * (item.max(initial=0) + 1) + item
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    summed = {"low": low[first], "high": high[first], "item": item[first]}
    for name in (f"{what}{k}_" for what in "snt" for k in range(3)):
        summed[name] = np.bincount(place, ints(table, name)).astype(np.int64)
    return pa.table(summed)


def _sums_by_order(store: Snapshot, selected: Scope) -> pa.Table:
    """Sum s, number n and ties t of the votes of each judge, pair and item, by order."""
    # What was shown first is the smaller model (0), the larger (1) or unknown (2).
    shown = {0: ("ab", "ba"), 1: ("ba", "ab")}
    oriented = ", ".join(
        f"case when v.side = 1 then {_of(order, what)} else {sign}{_of(other, what)} end as "
        f"{name}{k}"
        for k, (order, other) in shown.items()
        for name, what, sign in (("s", "total", "-"), ("n", "n", ""), ("t", "tie", ""))
    )
    sums = ", ".join(f"sum(x.{name}{k})::bigint as {name}{k}_" for k in range(3) for name in "snt")
    return store.query(
        selected.sql(
            """
            with c as (select id as comparison, item, least(model_a, model_b) as low,
                              greatest(model_a, model_b) as high,
                              case when model_a < model_b then 1 else -1 end as side
                       from comparisons where model_a <> model_b),
            v as (select u.*, c.item, c.low, c.high, c.side
                  from {tallies} u join c on c.comparison = u.comparison where u.n > 0),
            x as (select v.judge, v.item, v.low, v.high, {oriented},
                         v.side * ({total} - ({total_ab}) - ({total_ba})) as s2,
                         v.n - ({n_ab}) - ({n_ba}) as n2, v.tie - v.ab_tie - v.ba_tie as t2 from v)
            select x.judge, x.item, x.low, x.high, {sums} from x
            group by x.judge, x.item, x.low, x.high order by x.judge, x.low, x.high, x.item""",
            oriented=oriented,
            total=_of("", "total"),
            **{f"{what}_{order}": _of(order, what) for what in ("total", "n") for order in ORDERS},
            sums=sums,
        ),
        selected.params,
    )


def _of(order: str, what: str) -> str:
    """SQL of a number of the votes of a tally `v`, of one order shown or of all."""
    name = {label: f"v.{order}_{label}" if order else f"v.{label}" for label in LABELS}
    if what == "total":
        return f"({name['plus']} - {name['minus']})"
    return name["tie"] if what == "tie" else f"({' + '.join(name.values())})"


def _model_codes(store: Snapshot, table: pa.Table) -> tuple[tuple[str, ...], IntArray]:
    """Names of the models in order, and store id → place in that order."""
    names = dict(store.rows("select id, name from models"))
    used = np.union1d(ints(table, "low"), ints(table, "high")).tolist()
    ordered = sorted(used, key=names.__getitem__)
    code = np.zeros(max(used, default=0) + 1, dtype=np.int64)
    code[ordered] = np.arange(len(ordered))
    return tuple(names[i] for i in ordered), code


def _pair_scores(
    table: pa.Table, codes: Codes, models: tuple[str, ...], code: IntArray
) -> PairScores:
    n, sums, ties = (np.stack([ints(table, f"{what}{k}_") for k in range(3)]) for what in "nst")
    orders = np.maximum((n > 0).sum(axis=0), 1)
    mean = (sums / np.maximum(n, 1)).sum(axis=0) / orders
    tie = (ties / np.maximum(n, 1)).sum(axis=0) / orders
    low, high = code[ints(table, "low")], code[ints(table, "high")]
    # Store ids need not follow the models' names, codes do.
    mean = np.where(low < high, mean, -mean)
    model_1, model_2, item = (
        np.minimum(low, high),
        np.maximum(low, high),
        codes.item[ints(table, "item")],
    )
    # Where ids of the store follow the names, as after one load, the rows are in order.
    place = (model_1 * len(models) + model_2) * (int(codes.item.max()) + 1) + item
    order = slice(None) if (place[1:] >= place[:-1]).all() else np.lexsort((item, model_2, model_1))
    return PairScores(
        models=models,
        model_1=model_1[order],
        model_2=model_2[order],
        item=item[order],
        score=((1 + mean) / 2)[order],
        n_votes=n.sum(axis=0)[order],
        tie=tie[order],
    )


CELL_ORDERS = {"both": "both", "ab": "ab", "ba": "ba", "neither": "unknown"}
"""Order of `runs` → what a cell of `RatingTable` is called."""


@at_one_moment
def ratings(
    store: Snapshot, selection: Selection, *, anchors: tuple[str, ...] = ()
) -> dict[str, RatingTable]:
    """Repeated ratings of each judge: rows are comparisons, columns runs.

    With anchors, a vote is +1 for the candidate against the anchor and comparisons without an
    anchor are left out; between two anchors the one named first is the anchor. If every run was
    judged in both orders, a cell is the mean of the two; else only the votes of the judge's most
    common order count (when equal, `ab` before `ba` before unknown). k is the most common number of
    complete runs that is at least 2 (the larger when equal), and rows are the comparisons with
    exactly k. A judge without such a comparison is absent. Source: docs/methods.md §6, judge
    screening.
    """
    turned, compared = "1", "true"
    if anchors:
        ids_by_name = dict(store.rows("select name, id from models order by name"))
        ids = pick("model", anchors, ids_by_name)
        ranks = " ".join(f"when {i} then {rank}" for rank, i in enumerate(ids))
        rank_a, rank_b = (f"(case c.model_{side} {ranks} else {len(ids)} end)" for side in "ab")
        turned = f"(case when {rank_b} < {rank_a} then 1 else -1 end)"
        compared = f"{rank_a} <> {rank_b}"
    by_order = {
        name: "(case m.orders "
        + " ".join(f"when {k} then r.{column}" for k, column in enumerate(columns))
        + " end)"
        for name, columns in (
            ("complete", [f"n_{order}" for order in BASES]),
            ("code", [f"{order}_votes" for order in BASES]),
        )
    }
    listed = """
        with r as (select v.*, c.item, {turned} as turn
                   from {runs} v join comparisons c on c.id = v.comparison where {compared}),
        m as (select judge, case when min(asked_both) = 1 then {both}
                                 when sum(n_ab) >= greatest(sum(n_ba), sum(n_neither)) then {ab}
                                 when sum(n_ba) >= sum(n_neither) then {ba} else {neither} end as
                                 orders
              from r group by judge),
        x as (select r.judge, r.comparison, r.item, r.turn, r.negative, r.block, m.orders,
                     {complete} as complete, {code} as code from r join m using (judge)),
        w as (select x.*, sum(x.complete) over (partition by x.judge, x.comparison) as k from x),
        f as (select judge, k, count(distinct comparison) as n from w where k >= 2 group by
        judge, k),
        b as (select judge, k, row_number() over (partition by judge order by n desc, k desc) as
        place from f)
        select w.judge, w.item, w.orders, w.turn, w.negative, w.k::bigint as k_, w.code
        from w join b using (judge, k) where b.place = 1
        order by w.judge, w.comparison, case when w.negative then 0 else 1 end, w.block"""

    def record(
        item: IntArray,
        orders: IntArray,
        turn: IntArray,
        negative: IntArray,
        k: IntArray,
        code: IntArray,
    ) -> RatingTable:
        order = list(BASES)[orders[0]]
        place = np.arange(RUNS_PER_BLOCK)
        digit = code[:, None] // BASES[order] ** place % BASES[order]
        # Below zero the runs of a block count down.
        digit = np.where(negative[:, None], digit[:, ::-1], digit)
        value = (digit - 3) / 2 if order == "both" else digit - 2.0
        rows, places = np.nonzero(digit)
        # Adding 0 makes one number of 0 and -0.
        rating = np.asarray(value[rows, places] * turn[rows] + 0.0, dtype=np.float64).reshape(
            -1, k[0]
        )
        return RatingTable(
            item=np.repeat(item, (digit > 0).sum(axis=1))[:: k[0]],
            ratings=rating,
            orders=CELL_ORDERS[order],
            oriented=bool(anchors),
        )

    parts: dict[str, Any] = by_order | {name: str(k) for k, name in enumerate(BASES)}
    return fetch(store, selection, listed, record, turned=turned, compared=compared, **parts)


@at_one_moment
def pair_doubts(store: Snapshot, selection: Selection) -> dict[str, PairDoubt]:
    """Pair scores of each judge (`pair_scores`), with across-run SD and mean confidence of every
    row.

    Across runs a score is compared in like orders: the mean of both orders over the runs that have
    both, if two or more have; else the order with most runs (model of the smaller store id first,
    on a tie); else NaN. The SD has n - 1 in its denominator. Confidences are of one kind, as in
    `outcomes`. Raises as in `core.store.vote_queries`.
    Source: docs/methods.md §6 (like orders: ours).
    """
    scores = pair_scores(store, selection)
    by_order = ", ".join(
        f"avg(v.vote * x.side) filter (v.position * x.side = {shown}) as r{k}"
        for k, shown in enumerate((1, -1, 0))
    )
    per_order = ", ".join(
        f"count(r{k})::bigint as n{k}, stddev_samp(r{k})::double as d{k}" for k in range(3)
    )
    listed = """
        with x as (select id, item, least(model_a, model_b) as low, greatest(model_a, model_b) as
        high,
                          case when model_a < model_b then 1 else -1 end as side
                   from comparisons where model_a <> model_b),
        r as (select v.judge, x.item, x.low, x.high, v.run, {by_order}, sum({stated}) as stated,
                     count({stated}) as confident
              from {usable} v join x on x.id = v.comparison group by v.judge, x.item, x.low,
              x.high, v.run)
        select judge, {per_order},
               count((r0 + r1))::bigint as n3, stddev_samp((r0 + r1) / 2)::double as d3,
               (sum(stated) / nullif(sum(confident), 0))::double as confidence
        from r join models m on m.id = low join models o on o.id = high
        group by judge, item, low, high, m.name, o.name
        order by judge, least(m.name, o.name), greatest(m.name, o.name), item"""
    of_judge: dict[str, dict[str, Any]] = fetch(
        store, selection, listed, dict, by_order=by_order, per_order=per_order
    )
    return {
        judge: PairDoubt(
            pairs=scores[judge], run_sd=_run_sd(columns), confidence=columns["confidence"]
        )
        for judge, columns in of_judge.items()
    }


def _run_sd(columns: Mapping[str, Any]) -> FloatArray:
    """SD of both orders' mean, else of the order with most runs, else NaN; a vote is twice
    a score.
    """
    n, sd = (np.stack([columns[f"{what}{k}"] for k in range(4)]) for what in "nd")
    place = np.where(n[3] >= 2, 3, np.argmax(n[:3], axis=0))
    rows = np.arange(n.shape[1])
    return np.where(n[place, rows] >= 2, sd[place, rows] / 2, np.nan)
