"""What judges and people said of single answers, one judge and one metric at a time.

SQL averages over runs; what comes out are arrays with an answer a row, as methods on scores take
them. Scores of a metric of which less is better are turned around within its scale, so that more is
better in every array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...errors import NoUsableVotes
from ...records import FloatArray, IntArray
from ...schema import STATUSES, Selection
from ...store.arrays import ints
from ...store.selection import DATED, Scope, at_one_moment, extra_columns, nothing, pick, scope

if TYPE_CHECKING:
    import pyarrow as pa

    from ...store.connection import Snapshot


GOLD = "gold"
"""What the one column of people is called that is gold."""
PASSING = 0.5
"""Between fail, 0, and pass, 1."""
MOST_RUNS = 100
"""Runs of one answer that `score_runs` gives: a file may number each of its rows as another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMetric:
    """Scores of one judge on one metric in a selection.

    n : usable scores.  failed : others.  answers : answers with a usable score.  runs : distinct
    run numbers.  gold : usable scores that have gold beside them.
    low, high : ends of the scale as declared, None where no row does.
    rater_type : `human` if any of the scores is a person's.
    """

    judge: str
    metric: str
    rater_type: str
    n: int
    failed: int
    answers: int
    runs: int
    gold: int
    low: float | None
    high: float | None
    lower_is_better: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreAnswers:
    """Scores of one judge on one metric, a row per answer that it scored, and people's beside.

    judge : (n,) mean over its runs.
    people : (n, k) a column per person, mean over the person's runs, NaN where it gave none.
    names : of the people; `gold` alone where the labels are gold.
    unit : (n,) code of the cluster, else of the item: the unit of every interval.
    item : (n,) number of the item in the store.  model : (n,) codes into `models`, −1 for none; the
        two tell answers apart, so that those of two judges or models can be matched.
    category : (n,) codes into `categories`, −1 for none.
    length : (n,) of the response, NaN where it is not known.
    confidence : (n,) stated, mean over its runs, NaN where there is none; of pass and fail that
        what most of its runs say is right.
    low, high : ends of the scale: declared, widened by what is seen.
    kind : `pass_fail` where every single score of both sides is 0 or 1, else `levels`.
    same_scale : False where one side says 0 or 1 and the other gives other scores; then the ends
        are those of the judge.
    passing, people_passing : ½ for a side that says 0 or 1, else None.
    turned : less was better, and all scores are turned around.
    """

    judge: FloatArray
    people: FloatArray
    names: tuple[str, ...]
    unit: IntArray
    item: IntArray
    model: IntArray
    models: tuple[str, ...]
    category: IntArray
    categories: tuple[str, ...]
    length: FloatArray
    confidence: FloatArray
    low: float
    high: float
    kind: Literal["levels", "pass_fail"]
    same_scale: bool
    passing: float | None
    people_passing: float | None
    turned: bool

    @property
    def table(self) -> dict[str, Any]:
        """The fields of a `core.questions.scores.table.ScoreTable`, by name."""
        return {
            name: getattr(self, name)
            for name in (
                *("judge", "people", "unit", "low", "high", "kind", "passing", "people_passing"),
                *("same_scale", "category", "categories", "length", "names"),
            )
        }


@at_one_moment
def scored_metrics(store: Snapshot, selection: Selection) -> tuple[ScoredMetric, ...]:
    """Judges and people with their metrics, in order of both names.

    Raises NoUsableVotes: the selection has no usable score. UnknownName: a name that the store does
    not have, or a column that scores do not have.
    """
    selected = scope(store, selection, "scores")
    rows = _asked(
        store,
        selected.sql(
            """
            with a as (select v.judge, v.metric, count(*) as answers from
                       (select distinct u.judge, u.metric, u.item, u.model from {usable} u) v
                       group by v.judge, v.metric)
            select j.name as judge_, k.name as metric_,
                   case when max(case when v.human then 1 else 0 end) = 1 then 'human' else 'llm'
                   end as rater_type_,
                   sum(case when v.status = 0 then 1 else 0 end)::bigint as n_,
                   sum(case when v.status = 0 then 0 else 1 end)::bigint as failed_,
                   coalesce(max(a.answers), 0)::bigint as answers_,
                   count(distinct case when v.status = 0 then v.run end)::bigint as runs_,
                   sum(case when v.status = 0 and v.gold is not null then 1 else 0 end)::bigint
                   as gold_,
                   min(v.scale_low) as low_, max(v.scale_high) as high_,
                   coalesce(max(v.lower_is_better), 0) = 1 as lower_is_better_
            from scores v join judges j on j.id = v.judge join metrics k on k.id = v.metric
            left join a on a.judge = v.judge and a.metric = v.metric
            where {filter} group by j.name, k.name order by j.name, k.name"""
        ),
        selected.params,
    ).to_pylist()
    if not any(row["n"] for row in rows):
        raise nothing(store, selection, "scores")
    return tuple(ScoredMetric(**row) for row in rows)


@at_one_moment
def score_answers(store: Snapshot, selection: Selection, judge: str, metric: str) -> ScoreAnswers:
    """Scores of a judge on a metric per answer, averaged over runs, with people's or gold beside.

    An answer is an item and a model. `selection.gold` says what stands beside: `given` is the gold
    of the answers, whichever rater's rows have it, and where the selected data sets have none for
    the metric the people who scored the answers; `humans` the people; a judge's name that judge.
    The people are all of the selected data sets, the judge itself left out.

    Raises NoUsableVotes: the judge has no usable score on the metric in the selection. UnknownName:
    a name that the store does not have.
    """
    selected, own, number, code = _of_one(store, selection, judge, metric)
    rows = _asked(
        store,
        f"""select v.item, coalesce(v.model, 0) as model_, avg(v.score)::double as score_,
                   min(v.category) as category_, min(v.cluster) as cluster_,
                   avg(coalesce(v.length, length(t.text)))::double as length_,
                   avg(v.confidence)::double as confidence_,
                   avg(case when v.score >= 0.5 then v.confidence else 1 - v.confidence end)::double
                   as chance_
            from (select v.* from scores v where v.status = 0 and {own}) v
            left join texts t on t.id = v.response
            group by 1, 2 order by 1, 2""",
        selected.params,
    )
    if not rows.num_rows:
        raise NoUsableVotes(f"No usable score of {judge!r} on {metric!r} is selected")
    labels, names = _labels(store, selected, selection, own, number, code)
    own_ends, their_ends = _ends(store, selected, own), _seen(labels)
    turned = bool(own_ends["lower"])
    same, kind, binary = _kinds(own_ends, their_ends)
    low, high = own_ends["low"], own_ends["high"]
    if same and their_ends is not None:
        low, high = min(low, their_ends["low"]), max(high, their_ends["high"])
    key = ints(rows, "item") * _MOST_MODELS + ints(rows, "model")
    people = np.full((len(key), len(names)), np.nan)
    if len(labels):
        place = np.searchsorted(key, ints(labels, "item") * _MOST_MODELS + ints(labels, "model"))
        people[place, ints(labels, "person")] = _floats(labels, "score")
    score, confidence = _floats(rows, "score"), _floats(rows, "confidence")
    if binary[0]:
        # Of runs that disagree, how sure they are together of what most of them say.
        chance = _floats(rows, "chance")
        confidence = np.where(score >= PASSING, chance, 1 - chance)
    if turned:
        score = low + high - score
        ends = (
            (low, high) if same or their_ends is None else (their_ends["low"], their_ends["high"])
        )
        people = sum(ends) - people
    models, model = _named(store, "models", ints(rows, "model"))
    categories, category = _named(store, "categories", _codes(rows, "category"))
    cluster = _codes(rows, "cluster")
    unit = np.unique(
        np.where(cluster > 0, 2 * cluster + 1, 2 * ints(rows, "item")), return_inverse=True
    )[1]
    return ScoreAnswers(
        judge=score,
        people=people,
        names=names,
        unit=unit.astype(np.int64),
        item=ints(rows, "item"),
        model=model,
        models=models,
        category=category,
        categories=categories,
        length=_floats(rows, "length"),
        confidence=confidence,
        low=low,
        high=high,
        kind=kind,
        same_scale=same,
        passing=PASSING if binary[0] else None,
        people_passing=PASSING if binary[1] else None,
        turned=turned,
    )


@at_one_moment
def score_runs(store: Snapshot, selection: Selection, judge: str, metric: str) -> FloatArray:
    """(answers, runs) scores of a judge on a metric: of each answer its runs in order of their
    numbers, the first `MOST_RUNS`, then NaN; answers in the order of `score_answers`, turned around
    as there.

    Raises as `score_answers`.
    """
    selected, own, _, _ = _of_one(store, selection, judge, metric)
    rows = _asked(
        store,
        f"""select v.item, coalesce(v.model, 0) as model_, v.run, v.score from scores v
            where v.status = 0 and {own} order by v.item, coalesce(v.model, 0), v.run""",
        selected.params,
    )
    if not rows.num_rows:
        raise NoUsableVotes(f"No usable score of {judge!r} on {metric!r} is selected")
    key = ints(rows, "item") * _MOST_MODELS + ints(rows, "model")
    answer = np.unique(key, return_inverse=True)[1]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    place = np.arange(len(key)) - first[answer]
    kept = place < MOST_RUNS
    matrix = np.full((len(first), int(place[kept].max()) + 1), np.nan)
    matrix[answer[kept], place[kept]] = _floats(rows, "score")[kept]
    ends = _ends(store, selected, own)
    return ends["low"] + ends["high"] - matrix if ends["lower"] else matrix


@at_one_moment
def at_other_temperatures(store: Snapshot, selection: Selection, judge: str, metric: str) -> bool:
    """Whether a judge scored one answer at different temperatures, which are no repeats."""
    selected, own, _, _ = _of_one(store, selection, judge, metric)
    rows = store.rows(
        f"""select 1 from scores v where v.status = 0 and {own}
            group by v.item, coalesce(v.model, 0)
            having min(v.temperature) < max(v.temperature) limit 1""",
        selected.params,
    )
    return bool(rows)


@at_one_moment
def said_of_answers(
    store: Snapshot,
    selection: Selection,
    metric: str,
    answers: Sequence[tuple[int, str | None]] | None = None,
) -> pa.Table:
    """What every judge and person said of some answers by a metric, with the texts that are there.

    answers : the item's number and the model of each, as `ScoreAnswers` has them; by default all.

    One row per score, by item, model, people last, rater and run: item, item_id, dataset, category,
    model, judge, human, run, status, score, gold, prompt, response, rationale. Of all raters of the
    selected data sets, whoever is selected.

    Raises UnknownName: a metric that the store does not have.
    """
    selected = scope(store, selection, "scores", listed=True)
    metrics = dict(store.rows("select name, id from metrics order by name"))
    (code,) = pick("metric", (metric,), metrics)
    models = dict(store.rows("select name, id from models"))
    wanted = {(item, 0 if model is None else models[model]) for item, model in answers or ()}
    chosen = " or ".join(
        f"(v.item = {item} and coalesce(v.model, 0) = {model})" for item, model in sorted(wanted)
    )
    if answers is None:
        chosen = "1 = 1"
    texts = ("prompt", "response", "rationale")
    return _asked(
        store,
        f"""select v.item as item_, i.name as item_id_, d.name as dataset_,
                   c.name as category_, m.name as model_,
                   j.name as judge_, v.human as human_, v.run as run_, v.status as status_,
                   v.score as score_, v.gold as gold_,
                   {", ".join(f"{name}_of.text as {name}_" for name in texts)}
            from scores v join items i on i.id = v.item join judges j on j.id = v.judge
            join datasets d on d.id = v.dataset
            left join categories c on c.id = v.category left join models m on m.id = v.model
            {" ".join(f"left join texts {name}_of on {name}_of.id = v.{name}" for name in texts)}
            where v.metric = {code} and ({chosen or "1 = 0"}) and {selected.pool}
                  and {selected.open}
            order by i.name, m.name, v.human, j.name, v.run""",
        selected.params,
    )


@at_one_moment
def score_dates(
    store: Snapshot, selection: Selection, judge: str, metric: str
) -> dict[str, list[str | None]]:
    """Further columns of a judge's scores that are named like a date, such as `created_at`: the
    earliest text of each answer, in the order of `score_answers`.

    Raises as `score_answers`.
    """
    selected, own, _, _ = _of_one(store, selection, judge, metric)
    names = [
        name for name in extra_columns(store, "scores", own, selected.params) if DATED.search(name)
    ]
    found = {}
    for name in names:
        rows = _asked(
            store,
            f"""select v.item, coalesce(v.model, 0) as model_, min(v.extra[$dated]) as date_
                from scores v where v.status = 0 and {own} group by 1, 2 order by 1, 2""",
            {**selected.params, "dated": name},
        )
        found[name] = rows["date"].to_pylist()
    return found


_MOST_MODELS = 1 << 31
"""Numbers of the store are below it."""


def _of_one(
    store: Snapshot, selection: Selection, judge: str, metric: str
) -> tuple[Scope, str, int, int]:
    """The scope; SQL of the rows `v` of one judge and metric in it; the numbers of both."""
    selected = scope(store, selection, "scores")
    judges = {name: number for number, name in selected.judges.items()}
    (number,) = pick("judge", (judge,), judges)
    metrics = dict(store.rows("select name, id from metrics order by name"))
    (code,) = pick("metric", (metric,), metrics)
    own = f"v.judge = {number} and v.metric = {code} and {selected.filter}"
    return selected, own, number, code


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored:
    """Answers of a judge without a score.

    by_status : what became of them, the commonest first.  passed, failed : of those that people
        judged, with pass or fail.
    """

    by_status: tuple[tuple[str, int], ...] = ()
    passed: int = 0
    failed: int = 0


@at_one_moment
def unscored_answers(store: Snapshot, selection: Selection, judge: str, metric: str) -> Unscored:
    """Why answers of a judge have no score, and what people say of them."""
    _, own, number, code = _of_one(store, selection, judge, metric)
    selected = scope(store, selection, "scores")
    rows = store.rows(
        f"""with u as (select v.item, coalesce(v.model, 0) as model, max(v.status) as status,
                              avg(v.gold) as gold
                       from scores v where {own} group by all having max(v.status) > 0
                       and min(case when v.status = 0 then 0 else 1 end) = 1),
            h as (select p.item, coalesce(p.model, 0) as model, avg(p.score) as score
                  from scores p where p.human and p.status = 0 and p.metric = {code}
                  and p.judge <> {number} group by all)
            select u.status, count(*), coalesce(count_if(coalesce(u.gold, h.score) > .5), 0),
                   coalesce(count_if(coalesce(u.gold, h.score) < .5), 0)
            from u left join h using (item, model) group by 1 order by 2 desc, 1""",
        selected.params,
    )
    return Unscored(
        by_status=tuple((STATUSES[status], n) for status, n, _, _ in rows),
        passed=sum(passed for _, _, passed, _ in rows),
        failed=sum(failed for _, _, _, failed in rows),
    )


def _labels(
    store: Snapshot, selected: Scope, selection: Selection, own: str, judge: int, metric: int
) -> tuple[pa.Table, tuple[str, ...]]:
    """Labels (item, model, person, score) of the answers of a judge, and the persons' names."""
    answers = f"""(select distinct v.item, coalesce(v.model, 0) as model_ from scores v
                   where v.status = 0 and {own})"""
    pool = selected.pool.replace("v.", "p.")

    def said(value: str, rater: str, condition: str) -> pa.Table:
        return _asked(
            store,
            f"""select a.item, a.model_, {rater} as rater_, avg(p.{value})::double as score_,
                       sum(case when p.{value} in (0, 1) then 0 else 1 end)::bigint as others_
                from {answers} a join scores p
                on p.item = a.item and coalesce(p.model, 0) = a.model_
                where p.metric = {metric} and p.{value} is not null and {condition} and {pool}
                group by 1, 2, 3 order by 1, 2, 3""",
            selected.params,
        )

    if selection.gold in (None, "given"):
        gold = said("gold", "0", "true")
        if gold.num_rows:
            return _by_person(gold, np.zeros(gold.num_rows, np.int64)), (GOLD,)
    other = f"p.judge <> {judge}"
    if selection.gold in (None, "given", "humans"):
        who = "p.human"
    else:
        judges = {name: number for number, name in selected.judges.items()}
        who = f"p.judge = {pick('judge', (selection.gold,), judges)[0]}"
    people = said("score", "p.judge", f"p.status = 0 and {other} and {who}")
    ids = ints(people, "rater")
    order = sorted(np.unique(ids).tolist(), key=lambda rater: selected.judges[rater])
    place = {rater: k for k, rater in enumerate(order)}
    codes = np.array([place[rater] for rater in ids.tolist()], dtype=np.int64)
    return _by_person(people, codes), tuple(selected.judges[rater] for rater in order)


def _by_person(rows: pa.Table, person: IntArray) -> pa.Table:
    import pyarrow as pa

    return rows.drop_columns(["rater"]).append_column("person", pa.array(person, pa.int64()))


def _ends(store: Snapshot, selected: Scope, own: str) -> dict[str, float]:
    """Ends of the scale of one judge's scores, whether all single ones are 0 or 1, and whether less
    is better.
    """
    ((least, most, low, high, others, lower),) = store.rows(
        f"""select min(v.score), max(v.score), min(v.scale_low), max(v.scale_high),
                   sum(case when v.score in (0, 1) then 0 else 1 end),
                   coalesce(max(v.lower_is_better), 0)
            from scores v where v.status = 0 and {own}""",
        selected.params,
    )
    return {
        "least": least,
        "most": most,
        "low": least if low is None else min(low, least),
        "high": most if high is None else max(high, most),
        "binary": float(others == 0),
        "lower": float(lower),
    }


def _seen(labels: pa.Table) -> dict[str, float] | None:
    """What `_ends` says, of labels."""
    if not labels.num_rows:
        return None
    score = _floats(labels, "score")
    low, high = float(score.min()), float(score.max())
    # A person who was asked twice can be between.
    binary = float(low >= 0 and high <= 1 and len(np.unique(score)) <= 2)
    if binary and not np.isin(score, (0, 1)).all():
        binary = 0.0
    return {"least": low, "most": high, "low": low, "high": high, "binary": binary}


def _kinds(
    own: dict[str, float], theirs: dict[str, float] | None
) -> tuple[bool, Literal["levels", "pass_fail"], tuple[bool, bool]]:
    """Whether both are on one scale; the kind; and which side says 0 or 1.

    Only ones beside levels from 1 up are the lowest level, and no pass.
    """
    if theirs is None:
        alone = bool(own["binary"])
        return True, "pass_fail" if alone else "levels", (alone, alone)

    def says(one: dict[str, float], other: dict[str, float]) -> bool:
        lowest = one["least"] == 1 and other["most"] > 1 and other["least"] >= 1
        return bool(one["binary"]) and not lowest

    binary = says(own, theirs), says(theirs, own)
    if all(binary):
        return True, "pass_fail", binary
    return not any(binary), "levels", binary


def _asked(store: Snapshot, sql: str, params: dict[str, str]) -> pa.Table:
    """Run one statement, whose computed columns end in `_` that no input column has."""
    rows = store.query(sql, params)
    return rows.rename_columns([name.removesuffix("_") for name in rows.column_names])


def _floats(rows: pa.Table, column: str) -> FloatArray:
    values: FloatArray = rows[column].to_numpy().astype(np.float64)
    return values


def _codes(rows: pa.Table, column: str) -> IntArray:
    """Numbers of a column, 0 where there is none."""
    import pyarrow.compute as pc

    values: IntArray = pc.fill_null(rows[column], 0).to_numpy().astype(np.int64)
    return values


def _named(store: Snapshot, table: str, numbers: IntArray) -> tuple[tuple[str, ...], IntArray]:
    """Names in order of those numbers of a dictionary, and the code of each row, −1 for 0."""
    used = np.unique(numbers[numbers > 0]).tolist()
    if not used:
        return (), np.full(len(numbers), -1, dtype=np.int64)
    listed = ", ".join(map(str, used))
    names = dict(store.rows(f"select id, name from {table} where id in ({listed})"))
    order = sorted(used, key=names.__getitem__)
    code = np.full(max(used) + 1, -1, dtype=np.int64)
    code[order] = np.arange(len(order))
    return tuple(names[number] for number in order), code[numbers]
