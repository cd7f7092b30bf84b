"""What each judge said: votes per comparison, scores and rankings. SQL in, records of
`core.records` out.

Codes of items and comparisons number what the selection's usable votes are about, in the order of
the store, so they are the same in every record made from one selection and one state of the store.
Every function raises `UnknownName` for a name that the store does not have, and `NoUsableVotes` if
no vote with status ok is selected; those of scores and rankings, if none of these is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidOption, NoUsableVotes, UnknownName
from ..questions.boards.ask import pair_doubts, pair_scores, panel_scores, ratings
from ..records import (
    NO_SIDE,
    NO_VOTE,
    ConfidenceCounts,
    DirectScores,
    FirstVotes,
    FloatArray,
    IntArray,
    LengthCounts,
    ListRankings,
    OrderCounts,
    OutcomeCounts,
    OutputCounts,
    PositionCounts,
    VoteCounts,
    WeighedVotes,
    counted_by_kind,
    value_codes,
)
from ..schema import (
    COLUMN_NAMES,
    UNNAMED,
    CorrectnessRule,
    Perturbed,
    RowsRead,
    Selection,
    perturbed,
)
from .arrays import (
    Columns,
    Counts,
    dense_codes,
    fetch,
    first_of_each,
    ints,
    is_placed,
    matched,
    split,
    summed,
    with_codes,
)
from .browse import (
    JudgeSummary,
    RaterCount,
    Summary,
    comparison_names,
    costs,
    default_gold,
    filter_columns,
    summary,
    values,
)
from .cells import BASES, FAILED, LABELS, ORDERS, RUNS_PER_BLOCK
from .marks import Mark, count_behind, telling_errors, votes_behind
from .selection import (
    BOTH_ORDERS,
    DATED,
    TOLD,
    at_one_moment,
    check_column,
    column_sql,
    extra_columns,
    is_numeric,
    nothing,
    of_one_kind,
    scope,
    unknown,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from .connection import Database, Snapshot


__all__ = [
    "JudgeSummary",
    "Mark",
    "RaterCount",
    "Summary",
    "compared_models",
    "comparison_names",
    "confidence_counts",
    "costs",
    "count_behind",
    "dated_columns",
    "default_gold",
    "direct_scores",
    "filter_columns",
    "first_votes",
    "length_counts",
    "list_rankings",
    "model_names",
    "of_several_temperatures",
    "order_counts",
    "outcomes",
    "outputs",
    "pair_doubts",
    "pair_scores",
    "panel_scores",
    "perturbed_votes",
    "positions",
    "ranked_items",
    "ratings",
    "rows_read",
    "summary",
    "telling_errors",
    "values",
    "vote_counts",
    "vote_counts_by",
    "votes_behind",
    "weighed_votes",
]

PER_VOTE = ", ".join(f"sum(v.{name})::bigint as {name}_" for name in ("plus", "tie", "minus"))
"""Sums of tallies `v` by vote."""


@at_one_moment
def of_several_temperatures(store: Snapshot, selection: Selection) -> frozenset[str]:
    """Judges that voted on one comparison at different temperatures, which are no repeats."""
    selected = scope(store, selection)
    rows = store.rows(
        selected.sql(
            """select distinct t.judge from (
                   select v.judge, v.comparison from {usable} v join details d on d.vote = v.id
                   where d.temperature is not null group by v.judge, v.comparison
                   having min(d.temperature) < max(d.temperature)) t"""
        ),
        selected.params,
    )
    return frozenset(selected.judges[judge] for (judge,) in rows)


@at_one_moment
def vote_counts(store: Snapshot, selection: Selection) -> dict[str, VoteCounts]:
    """Votes of each judge per comparison: how many +1, 0 and -1, and gold (`NO_GOLD` where there is
    none).
    """
    counts = Counts.of(store, selection)
    tallies = counts.rows("tallies")
    votes = summed(tallies, LABELS, tallies["n"] > 0)
    return counts.per_judge(votes | counts.about(votes), VoteCounts)


TALLIED = "(select v.* from {tallies} v where v.n > 0)"
ONE_BY_ONE = """(select v.*, case when v.vote = 1 then 1 else 0 end as plus,
                        case when v.vote = 0 then 1 else 0 end as tie,
                        case when v.vote = -1 then 1 else 0 end as minus from {usable} v)"""
"""Votes to be counted once more, as tallies or each by itself."""


@at_one_moment
def dated_columns(store: Snapshot, selection: Selection) -> tuple[str, ...]:
    """Further columns of the selected votes that are named like a date, such as `created_at`."""
    selected = scope(store, selection)
    names = extra_columns(store, "votes", selected.filter, selected.params)
    return tuple(name for name in names if DATED.search(name))


DAY = r"""coalesce(strftime(make_timestamp(epoch_us(
    case when regexp_matches({value}, ':\d\d.*([+-]\d\d(:?\d\d)?|Z)$')
    then try_cast({value} as timestamptz) end)), '%Y-%m-%d'), substr({value}, 1, 12))"""
"""The day of a text in SQL."""


@at_one_moment
def vote_counts_by(
    store: Snapshot, selection: Selection, column: str, *, days: bool = False
) -> dict[str, dict[str, VoteCounts]]:
    """Votes per comparison of each judge under each value of a column, by value, then by judge.

    column : canonical (`category`, `temperature`, `prompt_hash`, `judge` …) or extra. Codes of
        items and
    comparisons are those of `vote_counts` of the selection, whatever the value, so that values can
    be matched. Votes without a value are left out; numbers are in the order of their size.

    days : by the first twelve letters of a text alone, which tell the day of a date; of a time
        with an offset by its day in UTC.

    Raises as `vote_counts`, and UnknownName for a column that does not exist.
    """
    selected = scope(store, selection)
    codes = dense_codes(store, selected, selection)
    check_column(store, column)
    value, joins = column_sql(column, extra="$column")
    value = DAY.format(value=value) if days else value
    table = store.query(
        selected.sql(
            """
            with b as (select w.judge, w.comparison, w.plus, w.tie, w.minus, {value} as number,
                              ({value})::varchar as value
                       from {counted} w {joins}),
            k as (select b.value, row_number() over (order by {order})::bigint as place
                  from b where b.value is not null group by b.value),
            n as (select k.place, k.value, v.judge, v.comparison, {per_vote}
                  from b v join k using (value) group by k.place, k.value, v.judge, v.comparison)
            select n.*, g.item, coalesce(g.gold, {NO_GOLD})::bigint as gold_
            from n join {gold} g using (comparison) order by n.place, n.judge, n.comparison""",
            counted=selected.sql(TALLIED if column in TOLD["tallies"] else ONE_BY_ONE),
            value=value,
            joins=" ".join(joins),
            per_vote=PER_VOTE,
            order="min(b.number)" if is_numeric(column) else "b.value",
        ),
        selected.params | ({} if column in COLUMN_NAMES else {"column": column}),
    )
    names, place = table["value"], ints(table, "place")
    columns, _ = with_codes(table.drop_columns(["value", "place"]).to_reader(), codes)
    bounds = (
        [*np.flatnonzero(np.diff(place, prepend=-1)).tolist(), len(place)] if len(place) else []
    )
    return {
        str(names[start].as_py()): split(
            {name: values[start:end] for name, values in columns.items()},
            selected.judges,
            VoteCounts,
        )
        for start, end in pairwise(bounds)
    }


@at_one_moment
def outputs(store: Snapshot, selection: Selection) -> dict[str, OutputCounts]:
    """Outputs of each judge per comparison, those without a verdict too. Raises as `vote_counts`
    does.
    """
    counts = Counts.of(store, selection)
    tallies = counts.rows("tallies")
    every = np.ones(len(tallies["judge"]), dtype=np.bool_)
    votes = summed(tallies, (*LABELS, *FAILED), every)
    missing = np.sum([votes.pop(name) for name in FAILED], axis=0)
    columns = {**votes, **counts.about(votes), "missing": missing}
    return split(columns, counts.selected.judges, OutputCounts)


@at_one_moment
def order_counts(store: Snapshot, selection: Selection) -> dict[str, OrderCounts]:
    """Votes of each judge per comparison and shown order, with gold. A judge without a position is
    absent.
    """
    counts = Counts.of(store, selection)
    votes = counts.placed()
    stacked = {
        order: np.stack([votes.pop(f"{order}_{name}") for name in LABELS], axis=1)
        for order in ORDERS
    }
    return counts.per_judge({**votes, **counts.about(votes), **stacked}, OrderCounts)


@at_one_moment
def rows_read(store: Snapshot, selection: Selection) -> RowsRead | None:
    """The rows of the files of a selection's data sets; None where no file was read."""
    return store.rows_read(selection.datasets)


@at_one_moment
def compared_models(store: Snapshot, selection: Selection) -> IntArray:
    """Ids of the two models of every comparison, (comparisons, 2), by the comparison's code in the
    counts; −1 where the file does not name them.
    """
    selected = scope(store, selection)
    table = store.query(
        selected.sql(
            f"""select case when a.name in {UNNAMED} then -1 else c.model_a end::bigint as one,
            case when b.name in {UNNAMED} then -1 else c.model_b end::bigint as two
            from comparisons c join models a on a.id = c.model_a join models b on b.id = c.model_b
            where c.id in (select v.comparison from {{tallies}} v where v.n > 0) order by c.id"""
        ),
        selected.params,
    )
    return np.stack([ints(table, "one"), ints(table, "two")], axis=1)


@at_one_moment
def model_names(store: Snapshot, selection: Selection) -> dict[int, str]:
    """Id → name of every model of the store."""
    return dict(store.rows("select id, name from models"))


@at_one_moment
def perturbed_votes(
    store: Snapshot, selection: Selection
) -> tuple[tuple[Perturbed, OrderCounts, OrderCounts], ...]:
    """Votes of judges on the items as they are, and on those with a change; codes are those of
    both.

    Only votes with a known position; a change whose judge has no such votes on the items as they
    are is absent.
    """
    names = [name for (name,) in store.rows("select name from judges order by name")]
    chosen = names if selection.judges is None else selection.judges
    wanted = {name: meant for name in names if (meant := perturbed(name)) and meant.judge in chosen}
    judges = {*wanted, *(meant.judge for meant in wanted.values())} & {*names}
    try:
        votes = (
            order_counts(store, replace(selection, judges=tuple(sorted(judges)))) if wanted else {}
        )
    except NoUsableVotes:
        return ()
    return tuple(
        (meant, votes[meant.judge], votes[name])
        for name, meant in wanted.items()
        if name in votes and meant.judge in votes
    )


def length_counts(store: Database | Snapshot, selection: Selection) -> dict[str, LengthCounts]:
    """Votes of each judge for the longer and the shorter response, with gold.

    Lengths are the vote's own `length_a` and `length_b`; where either is missing, those of its
    texts in characters. Votes on responses of equal or unknown length are left out; a judge without
    others is absent.
    """
    counted = """
        with n as (
            select v.judge, v.comparison, d.side, count_if(v.vote = d.side)::bigint as longer,
                   count_if(v.vote = -d.side)::bigint as shorter, count_if(v.vote = 0)::bigint as
                   tie
            from {usable} v join {sides} d using (id) where d.side <> 0
            group by v.judge, v.comparison, d.side)
        select n.judge, n.comparison, n.longer, n.shorter, n.tie, g.item,
               coalesce(g.gold * n.side, {NO_GOLD})::bigint as gold_
        from n join {gold} g using (comparison) order by n.judge, n.comparison, n.side"""
    return fetch(store, selection, counted, LengthCounts)


def weighed_votes(store: Database | Snapshot, selection: Selection) -> dict[str, WeighedVotes]:
    """What rules beyond counts need of the votes of each judge, per comparison; confidences of one
    kind, as in `outcomes`.
    """
    # Votes of one run and order are one; four numbers above its run tell its vote.
    stated = ", ".join(
        f"""count({sure})::bigint as stated{k}, coalesce(min({sure}), 0)::double as lowest{k},
            coalesce(sum({sure}), 0)::double as total{k},
            coalesce(sum(ln(nullif({sure}, 0))), 0)::double as log{k}"""
        for k, vote in enumerate(LABELS.values())
        if (sure := f"case when v.vote = {vote} then {{stated}} end")
    )
    first = ", ".join(
        f"""count({coded})::bigint as n_{order}, coalesce(min({coded}), 0)::bigint as
        first_{order}"""
        for order, shown in ORDERS.items()
        if (coded := f"case when v.position = {shown} then v.run::bigint * 4 + v.vote + 1 end")
    )
    counted = f"""
        select v.judge, v.comparison, count(*)::bigint as n, {stated}, {first},
               coalesce(min(v.id::bigint * 4 + d.side::bigint + 1), -1)::bigint as side_
        from {{usable}} v left join {{sides}} d using (id)
        group by v.judge, v.comparison order by v.judge, v.comparison"""

    def record(comparison: IntArray, n: IntArray, side: IntArray, **columns: Any) -> WeighedVotes:
        by_label = {
            name: np.stack([columns[f"{name}{k}"] for k in range(3)], axis=1)
            for name in ("stated", "lowest", "total", "log")
        }
        product = np.where(by_label["lowest"] > 0, np.exp(by_label.pop("log")), 0.0)
        first = np.stack(
            [
                np.where(columns[f"n_{o}"] > 0, columns[f"first_{o}"] % 4 - 1, NO_VOTE)
                for o in ORDERS
            ],
            axis=1,
        )
        sides = np.where(side >= 0, side % 4 - 1, NO_SIDE)
        return WeighedVotes(
            comparison=comparison, n=n, side=sides, first=first, product=product, **by_label
        )

    return fetch(store, selection, counted, record)


@at_one_moment
def first_votes(store: Snapshot, selection: Selection) -> dict[str, FirstVotes]:
    """The first vote of each judge per comparison: of its lowest run, there ab before ba before
    unknown.
    """
    counts = Counts.of(store, selection)
    runs = counts.rows("runs")
    shown = (*ORDERS, "neither")
    voted = np.flatnonzero(sum(runs[f"n_{order}"] for order in shown))
    judge, comparison = runs["judge"][voted], runs["comparison"][voted]
    starts = first_of_each(judge, comparison)
    code = np.stack([runs[f"{order}_votes"][voted[starts]] for order in shown]).astype(np.int64)
    # The lowest run of a block is its lowest digit, or its highest where runs count down.
    down = runs["negative"][voted[starts]] != 0
    digit = (np.frexp(np.where(down, code, code & -code))[1] - 1) // 2
    run = np.where(code == 0, RUNS_PER_BLOCK, np.where(down, -digit, digit))
    first, row = run.argmin(axis=0), np.arange(len(starts))
    vote = (code[first, row] >> 2 * digit[first, row]) % BASES["ab"] - 2
    columns = {"judge": judge[starts], "comparison": comparison[starts], "vote": vote}
    return counts.per_judge(columns, FirstVotes)


def outcomes(
    store: Database | Snapshot,
    selection: Selection,
    *,
    rule: CorrectnessRule = "single",
    kind: str | None = None,
) -> dict[str, OutcomeCounts]:
    """Right and wrong verdicts of each judge per (item, confidence), on comparisons with gold.

    A tie where gold decides is a wrong verdict, and counted in `ties` too.

    Under `both_orders` a verdict is a run of a comparison voted in both orders: right if the sum of
    the two canonical votes has gold's sign (a gold tie: if the sum is 0), its confidence the mean
    of the two, missing if either is. A judge without a verdict is absent.

    Confidences of one judge that are of several kinds (`confidence_kind`) are never put together:
    those of the kind with most items stay, and the others count as not stated (`kind`,
    `other_kinds` of the record). With `kind` votes with that kind of confidence alone count.

    Source: docs/methods.md §5 (ours).
    """
    verdicts = {
        "single": (
            "(select v.judge, v.comparison, v.vote as verdict, {stated} as stated from {usable} v)"
        ),
        "both_orders": BOTH_ORDERS,
    }
    if rule not in verdicts:
        raise InvalidOption(f"correctness rule {rule!r}: allowed are 'single' and 'both_orders'")
    if kind is not None:
        selection = replace(selection, where=(*selection.where, ("confidence_kind", kind)))
    source = f"{verdicts[rule]} x join {{gold}} g using (comparison) where g.gold is not null"
    # A vote of a comparison without a majority among people has no verdict.
    kinds = "case when x.verdict = g.gold then 2 when x.verdict = 0 then 0 else 1 end"
    of_judge, stated = _by_confidence(store, selection, source, about="item", kinds=kinds, most=3)
    return {
        judge: OutcomeCounts(
            item=item,
            confidence=confidence,
            n=tie + wrong + right,
            correct=right,
            ties=tie,
            kind=(*stated.get(judge, ()), None)[0],
            other_kinds=stated.get(judge, ())[1:],
        )
        for judge, (item, confidence, (tie, wrong, right)) in of_judge.items()
    }


def confidence_counts(
    store: Database | Snapshot, selection: Selection
) -> dict[str, ConfidenceCounts]:
    """Votes of each judge per comparison, vote and stated confidence, of one kind as in `outcomes`.

    Raises as `vote_counts` does.
    """
    source = "(select v.judge, v.comparison, v.vote, {stated} as stated from {usable} v) x"
    counted, _ = _by_confidence(
        store, selection, source, about="comparison", kinds="x.vote + 1", most=len(LABELS)
    )
    counts = {}
    for judge, (comparison, confidence, by_vote) in counted.items():
        n = np.stack(by_vote, axis=1)
        row, vote = np.nonzero(n)
        counts[judge] = ConfidenceCounts(
            comparison=comparison[row], vote=vote - 1, confidence=confidence[row], n=n[row, vote]
        )
    return counts


def _by_confidence(
    store: Database | Snapshot,
    selection: Selection,
    source: str,
    *,
    about: str,
    kinds: str,
    most: int,
) -> tuple[
    dict[str, tuple[IntArray, FloatArray, list[IntArray]]], dict[str, tuple[str | None, ...]]
]:
    """What each judge said, counted by what it is about and by stated confidence.

    source : rows `x` with judge, stated and what it is about.  about : `item` or `comparison`.
    kinds : SQL of the kind of a row, 0 to most − 1.
    Returns per judge the code of what it is about, the confidence (NaN last), and how many of each
    kind, in the order of the first two; and per judge the kinds of its confidences, the counted one
    first.
    """
    listed = f"select x.judge, {about} as about, x.stated, {kinds} as kind from {source}"
    with store.snapshot() as moment:
        selected = of_one_kind(moment, scope(moment, selection))
        place, number = (
            getattr(dense_codes(moment, selected, selection), about),
            sorted(selected.judges),
        )
        places, rank = int(place.max()) + 1, np.zeros(number[-1] + 1, dtype=np.int64)
        rank[number] = np.arange(len(number))
        told = moment.batches(selected.sql(listed), selected.params)
        key, kind, value = _keys(told, rank, place)
    cells, n = counted_by_kind(key, kind, most)
    del key
    first = np.arange(len(number) + 1) * places * len(value)
    bounds = np.searchsorted(cells, first).tolist()
    of_judge = {}
    for judge, begin, (start, end) in zip(number, first, pairwise(bounds), strict=False):
        if end > start:
            at, code = np.divmod(cells[start:end] - begin, len(value))
            counts = [of_kind[start:end] for of_kind in n]
            of_judge[selected.judges[judge]] = at, value[code], counts
    stated = {selected.judges[judge]: of for judge, of in selected.kinds.items()}
    return dict(sorted(of_judge.items())), stated


def _keys(
    batches: pa.RecordBatchReader, rank: IntArray, place: IntArray
) -> tuple[IntArray, NDArray[np.uint8], FloatArray]:
    """(judge · places + about) · confidences + confidence of each row that is told, and its kind.

    Also the confidences. Ten million rows are not held: what stays of each is a number and two
    codes.
    """
    keys: list[IntArray] = []
    kinds: list[NDArray[np.uint8]] = []
    places = int(place.max()) + 1

    def stated() -> Iterator[FloatArray]:
        for batch in batches:
            keys.append(rank[batch["judge"].to_numpy()] * places + place[batch["about"].to_numpy()])
            kinds.append(batch["kind"].to_numpy().astype(np.uint8))
            yield batch["stated"].to_numpy(zero_copy_only=False)

    codes, value = value_codes(stated())
    for key, code in zip(keys, codes, strict=True):
        key *= len(value)
        key += code
    key = np.concatenate([np.empty(0, np.int64), *keys])
    kind = np.concatenate([np.empty(0, np.uint8), *kinds])
    return key, kind, value


@at_one_moment
def positions(store: Snapshot, selection: Selection) -> dict[str, PositionCounts]:
    """Votes of each judge by the slot shown first, per comparison with a vote whose position is
    known.

    The margin of a comparison is made from all other judges of the selected data sets, whichever
    judges are selected. A comparison whose votes name several categories counts in the first of
    them; without one, in the category "". A judge whose positions are all unknown is absent.
    """
    counts = Counts.of(store, selection)
    votes = counts.placed()
    ab, ba = ([votes[f"{o}_{name}"].astype(np.int64) for name in LABELS] for o in ORDERS)
    pairs = _choose_two(np.sum(ab, axis=0)) + _choose_two(np.sum(ba, axis=0))
    categories, category = _first_categories(store, counts)
    columns = {
        "judge": votes["judge"],
        "comparison": votes["comparison"],
        "item": counts.item[votes["comparison"]],
        "category": category,
        "first": ab[2] + ba[0],
        "second": ab[0] + ba[2],
        "tie": ab[1] + ba[1],
        "same_order_pairs": pairs,
        "same_order_disagreements": pairs - np.sum([_choose_two(n) for n in (*ab, *ba)], axis=0),
        "margin": _margins(counts, votes),
    }
    runs = counts.rows("runs")
    every = np.ones(len(runs["judge"]), dtype=np.bool_)
    paired = {"pairs": "n_both", **{name: name for name in ("flips", "hard_flips", "slot_sum")}}
    both = summed(runs, paired.values(), every)
    place, there = matched(votes, both)
    columns |= {name: both[cell][place] * there for name, cell in paired.items()}
    record = partial(PositionCounts, categories=categories)
    return counts.per_judge(columns, record)


def _first_categories(store: Snapshot, counts: Counts) -> tuple[tuple[str, ...], IntArray]:
    """Names in order, and for each judge and comparison with a known position the code of the first
    category of its votes.
    """
    tallies = counts.rows("tallies")
    rows = np.flatnonzero(is_placed(tallies))
    starts = first_of_each(tallies["judge"][rows], tallies["comparison"][rows])
    number = tallies["category"][rows]
    if len(starts) < len(rows):
        last = int(number.max()) + 1
        number = np.minimum.reduceat(np.where(number < 0, last, number), starts)
        number[number == last] = -1
    names = dict(store.rows("select id, name from categories"))
    of_number = {one: names.get(one, "") for one in np.unique(number).tolist()}
    ordered = sorted({*of_number.values()})
    code = np.zeros(max(of_number, default=0) + 2, dtype=np.int64)
    for one, name in of_number.items():
        code[one] = ordered.index(name)
    return tuple(ordered), code[number]


def _margins(counts: Counts, votes: Columns) -> FloatArray:
    """|mean vote of all other judges| for each judge and comparison, NaN where there is none."""
    tallies = counts.rows("tallies", everyone=True)
    own = summed(tallies, ("n", "plus", "minus"), tallies["n"] > 0)
    total, n = own["plus"] - own["minus"], own["n"]
    all_total, all_n = (np.bincount(own["comparison"], each) for each in (total, n))
    place, _ = matched(votes, own)
    other_n = all_n[votes["comparison"]] - n[place]
    other_total = np.abs(all_total[votes["comparison"]] - total[place])
    margin = np.full(len(place), np.nan)
    np.divide(other_total, other_n, out=margin, where=other_n > 0)
    return margin


def _choose_two(n: IntArray) -> IntArray:
    return n * (n - 1) // 2


@at_one_moment
def board_metrics(store: Snapshot, selection: Selection) -> tuple[str, ...]:
    """Metrics of which more is better and whose scores name models, the one with most rows first,
    by name among equals.
    """
    selected = scope(store, selection, "scores")
    ranked = store.rows(
        selected.sql(
            """select k.name from {usable} v join metrics k on k.id = v.metric
               where v.model is not null and coalesce(v.lower_is_better, 0) = 0
               group by k.name order by count(*) desc, k.name"""
        ),
        selected.params,
    )
    return tuple(name for (name,) in ranked)


@at_one_moment
def direct_scores(
    store: Snapshot, selection: Selection, *, metric: str | None = None
) -> dict[str, DirectScores]:
    """Direct scores of each judge on one metric, one row per (item, model, run), failed ones and
    those of no model left out.

    Codes of items, models and categories are shared by all judges of the selection.

    metric : of which more is better; by default the one with most rows, the first by name among
        equals. Metrics are never pooled.

    Raises NoUsableVotes: no score of a model with status ok is selected. UnknownName: a name that
    the store does not have, or a column that scores do not have.
    """
    selected = scope(store, selection, "scores")
    names = board_metrics(store, selection)
    if not names:
        ((n,),) = store.rows(selected.sql("select count(*) from {usable} v"), selected.params)
        if not n:
            raise nothing(store, selection, "scores")
        raise NoUsableVotes(
            f"Of {n:,} direct scores none names a model under a metric of which more is better, so "
            "they rank nobody"
        )
    if metric is not None and metric not in names:
        raise UnknownName(unknown("metric", metric, sorted(names)))
    about = replace(selection, where=(*selection.where, ("metric", metric or names[0])))
    listed = """
        select v.judge, v.item, v.run, v.score, c.name as category_, m.name as model_
        from {usable} v join models m on m.id = v.model left join categories c on c.id = v.category
        order by v.judge, v.item, m.name, v.run"""
    return fetch(store, about, listed, DirectScores, kind="scores")


@at_one_moment
def scored_items(store: Snapshot, selection: Selection, metric: str) -> IntArray:
    """Numbers in the store of the items that `direct_scores` of a metric codes, by code."""
    about = replace(selection, where=(*selection.where, ("metric", metric)))
    selected = scope(store, about, "scores")
    listed = "select distinct v.item from {usable} v order by v.item"
    return ints(store.query(selected.sql(listed), selected.params), "item")


UNKNOWN = {"rank": 0, "calibrated_uncertainty": -1, "major_error": -1, "unsupported": -1}
"""What a record has where the file says nothing."""


def list_rankings(store: Database | Snapshot, selection: Selection) -> dict[str, ListRankings]:
    """Rankings of each judge, one row per (item, run, candidate) in the order shown, failed ones
    left out.

    Codes of items, candidates and categories are shared by all judges of the selection.

    Raises NoUsableVotes: no ranking with status ok is selected. UnknownName: a name that the store
    does not have, or a column that rankings do not have.
    """
    any_known = ", ".join(
        f"coalesce(v.{name}, {value})::bigint as {name}_" for name, value in UNKNOWN.items()
    )
    listed = """
        select v.judge, v.item, v.run, v.slot, v.score, v.chosen, coalesce(v.is_best, -1)::bigint
        as best,
               {known}, c.name as category_, m.name as candidate_
        from {usable} v join models m on m.id = v.candidate left join categories c on c.id =
        v.category
        order by v.judge, v.item, v.run, v.slot"""
    return fetch(store, selection, listed, ListRankings, kind="rankings", known=any_known)


@at_one_moment
def ranked_items(store: Snapshot, selection: Selection) -> tuple[str, ...]:
    """Names of the items that `list_rankings` numbers, in the order of their codes."""
    selected = scope(store, selection, "rankings")
    listed = (
        "select it.name from items it where it.id in (select v.item from {usable} v) order by it.id"
    )
    return tuple(name for (name,) in store.rows(selected.sql(listed), selected.params))
