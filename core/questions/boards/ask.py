"""Pairs of models and repetitions: scores of model pairs, ratings for the ICC, and how sure a judge
was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import FloatArray, IntArray, PairDoubt, PairScores, Panel, RatingTable, independent
from ...schema import Selection
from ...store.arrays import Columns, Counts, by_judge, fetch, first_of_each, grouped
from ...store.cells import BASES, LABELS, ORDERS, RUNS_PER_BLOCK
from ...store.selection import at_one_moment, pick

if TYPE_CHECKING:
    from ...store.connection import Snapshot


@at_one_moment
def pair_scores(
    store: Snapshot, selection: Selection, *, pooled: bool = False
) -> dict[str | None, PairScores]:
    """Scores of model pairs per judge and prompt; `pooled` adds the key None, judges together.

    Votes are averaged within order, then across orders; votes without a known position are an order
    of their own. Pooled, the votes of all `independent` judges are averaged within order first.
    Comparisons of one item that have the two models the other way round are merged. A model
    compared with itself gives no score. Raises as in `core.store.vote_queries`.
    Source: docs/methods.md §6, [RAEE].
    """
    counts = Counts.of(store, selection)
    sums = _sums_by_order(counts)
    names, code = _model_codes(store, sums)
    item = counts.codes.item
    scores: dict[str | None, PairScores] = {
        judge: _pair_scores({n: each[own] for n, each in sums.items()}, item, names, code)
        for judge, own in by_judge(sums["judge"], counts.selected.judges).items()
    }
    if pooled:
        used = independent(judge for judge in scores if judge is not None)
        codes = [code for code, judge in counts.selected.judges.items() if judge in used]
        own = np.isin(sums["judge"], codes)
        together = _together({name: values[own] for name, values in sums.items()})
        scores[None] = _pair_scores(together, item, names, code)
    return scores


@at_one_moment
def panel_scores(
    store: Snapshot, selection: Selection, panels: Sequence[Panel]
) -> list[PairScores]:
    """Pooled scores of each panel: its judges' votes on its models against its anchor, as
    `pair_scores`.

    Source: docs/methods.md §6, [RAEE].
    """
    counts = Counts.of(store, selection)
    sums = _sums_by_order(counts)
    names, code = _model_codes(store, sums)
    number = {name: judge for judge, name in counts.selected.judges.items()}
    low, high = code[sums["low"]], code[sums["high"]]
    scores = []
    for panel in panels:
        anchor, *models = (names.index(name) for name in (panel.anchor, *panel.models))
        other = np.where(low == anchor, high, np.where(high == anchor, low, -1))
        asked = np.isin(sums["judge"], [number[name] for name in panel.judges])
        rows = np.flatnonzero(np.isin(other, models) & asked)
        together = _together({name: values[rows] for name, values in sums.items()})
        scores.append(_pair_scores(together, counts.codes.item, names, code))
    return scores


SUMS = tuple(f"{what}{k}" for what in "snt" for k in range(3))
"""Sum s, number n and ties t of votes: the smaller model shown first (0), the larger (1), unknown
(2).
"""


def _together(sums: Columns) -> Columns:
    """Sums by order of all judges, in the order of models and items."""
    return _summed_by(sums, "low", "high", "item")


def _summed_by(columns: Columns, *by: str) -> Columns:
    order, starts = grouped(*(columns[name] for name in by))
    found = {name: columns[name][order[starts]] for name in by}
    for name in SUMS:
        values = columns[name][order]
        found[name] = values if len(starts) == len(values) else np.add.reduceat(values, starts)
    return found


def _sums_by_order(counts: Counts) -> Columns:
    """`SUMS` of the votes of each judge, pair of models and item."""
    tallies = counts.rows("tallies")
    comparison = tallies["comparison"]
    a, b = counts.model_a[comparison], counts.model_b[comparison]
    rows = np.flatnonzero((tallies["n"] > 0) & (a != b))
    tallies = {name: values[rows] for name, values in tallies.items()}
    a, b = a[rows], b[rows]
    side = np.where(a < b, np.int32(1), np.int32(-1))
    ab, ba = (
        {
            "s": side * (tallies[f"{order}_plus"] - tallies[f"{order}_minus"]),
            "n": np.sum([tallies[f"{order}_{label}"] for label in LABELS], axis=0),
            "t": tallies[f"{order}_tie"],
        }
        for order in ORDERS
    )
    every = {
        "s": side * (tallies["plus"] - tallies["minus"]),
        "n": tallies["n"],
        "t": tallies["tie"],
    }
    columns = {
        "judge": tallies["judge"],
        "low": np.minimum(a, b),
        "high": np.maximum(a, b),
        "item": counts.item[tallies["comparison"]],
    }
    for what in "snt":
        columns[f"{what}0"] = np.where(side > 0, ab[what], ba[what])
        columns[f"{what}1"] = np.where(side > 0, ba[what], ab[what])
        columns[f"{what}2"] = every[what] - ab[what] - ba[what]
    return _summed_by(columns, "judge", "low", "high", "item")


def _model_codes(store: Snapshot, sums: Columns) -> tuple[tuple[str, ...], IntArray]:
    """Names of the models in order, and store id → place in that order."""
    names = dict(store.rows("select id, name from models"))
    used = np.union1d(sums["low"], sums["high"]).tolist()
    ordered = sorted(used, key=names.__getitem__)
    code = np.zeros(max(used, default=0) + 1, dtype=np.int64)
    code[ordered] = np.arange(len(ordered))
    return tuple(names[i] for i in ordered), code


def _pair_scores(
    sums: Columns, codes: IntArray, models: tuple[str, ...], code: IntArray
) -> PairScores:
    """Scores from `SUMS`; codes : of the items, by id."""
    total, n, tied = (np.stack([sums[f"{what}{k}"] for k in range(3)]) for what in "snt")
    orders = np.maximum((n > 0).sum(axis=0), 1)
    mean = (total / np.maximum(n, 1)).sum(axis=0) / orders
    tie = (tied / np.maximum(n, 1)).sum(axis=0) / orders
    low, high = code[sums["low"]], code[sums["high"]]
    # Store ids need not follow the models' names, codes do.
    mean = np.where(low < high, mean, -mean)
    model_1, model_2 = np.minimum(low, high), np.maximum(low, high)
    item = codes[sums["item"]]
    # Where ids of the store follow the names, as after one load, the rows are in order.
    place = (model_1 * len(models) + model_2) * (int(codes.max()) + 1) + item
    order = slice(None) if (place[1:] >= place[:-1]).all() else np.lexsort((item, model_2, model_1))
    return PairScores(
        models=models,
        model_1=model_1[order],
        model_2=model_2[order],
        item=item[order],
        score=((1 + mean) / 2)[order],
        n_votes=n.sum(axis=0, dtype=np.int64)[order],
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
    counts = Counts.of(store, selection)
    runs = counts.rows("runs")
    turn = np.ones(len(runs["judge"]), dtype=np.int64)
    if anchors:
        ids = pick("model", anchors, dict(store.rows("select name, id from models order by name")))
        sides = (counts.model_a, counts.model_b)
        size = max(int(each.max(initial=0)) for each in (np.array(ids), *sides)) + 1
        rank = np.full(size, len(ids))
        rank[ids] = np.arange(len(ids))
        rank_a, rank_b = (rank[each[runs["comparison"]]] for each in sides)
        rows = np.flatnonzero(rank_a != rank_b)
        turn = np.where(rank_b < rank_a, 1, -1)[rows]
        runs = {name: values[rows] for name, values in runs.items()}
    tables = {}
    for judge, own in by_judge(runs["judge"], counts.selected.judges).items():
        found = _rating_table({name: each[own] for name, each in runs.items()}, turn[own], counts)
        if found is not None:
            tables[judge] = replace(found, oriented=bool(anchors))
    return tables


def _rating_table(runs: Columns, turn: IntArray, counts: Counts) -> RatingTable | None:
    """Repeated ratings of one judge from its `runs`; turn : -1 where the anchor is model_a."""
    n = {name: int(runs[f"n_{name}"].sum(dtype=np.int64)) for name in ("ab", "ba", "neither")}
    order = "both" if runs["asked_both"].min() == 1 else max(n, key=n.__getitem__)
    starts = first_of_each(runs["judge"], runs["comparison"])
    complete = np.add.reduceat(runs[f"n_{order}"], starts)
    numbers, often = np.unique(complete[complete >= 2], return_counts=True)
    if not len(numbers):
        return None
    k = int(numbers[np.flatnonzero(often == often.max())[-1]])
    rows = np.repeat(complete == k, np.diff(np.append(starts, len(turn))))
    code, base = runs[f"{order}_votes"][rows].astype(np.int64), BASES[order]
    places = next(p for p in range(1, RUNS_PER_BLOCK + 1) if int(code.max()) < base**p)
    digit = code[:, None] // base ** np.arange(places) % base
    # Below zero the runs of a block count down.
    down = runs["negative"][rows] != 0
    digit = np.where(down[:, None], digit[:, ::-1], digit) if down.any() else digit
    value = (digit - 3) / 2 if order == "both" else digit - 2.0
    row, place = np.nonzero(digit)
    # Adding 0 makes one number of 0 and -0.
    rating = np.asarray(value[row, place] * turn[rows][row] + 0.0, dtype=np.float64)
    item = counts.codes.item[counts.item[runs["comparison"][rows]]]
    return RatingTable(
        item=np.repeat(item, (digit > 0).sum(axis=1))[::k],
        ratings=rating.reshape(-1, k),
        orders=CELL_ORDERS[order],
        oriented=False,
    )


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
