"""Labels that people give here: the order of items, the log of every answer, and what is labelled.

The log is all that a session is made of (`core.labelling.session`), so that several people, or
several browsers, may label at once; `label_writing` writes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np

from ..errors import NoUsableVotes, UnknownName
from ..records import FloatArray, IntArray
from ..schema import UNNAMED, Kind
from . import parts
from .connection import Change, Database, Snapshot
from .schema import RUBRIC

Act = Literal["label", "skip", "repeat", "undo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """How a data set is labelled.

    seed : of the order.  planned : labels planned before the first one; None gives the plan up.
    kind : `votes`, comparisons, or `scores`, single answers.  of_file : the file had gold, which
        labels do not touch.  metric : of single answers.  number : of this labelling; no data
        set that is loaded anew has the same.
    """

    dataset: str
    seed: int
    planned: int | None
    kind: Kind
    of_file: bool
    metric: str | None = None
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One answer of a person, as it was given.

    place : of the item in the order, from 0.  answer : the key pressed, such as `1`, `0`, `b`, `x`,
        `p`, `4`.  label : canonical, +1 for model A whichever side it was on; a score for a single
        answer; None for "cannot tell".  swapped : A was shown right.
    """

    number: int
    person: str
    act: Act
    place: int
    answer: str
    label: float | None
    swapped: bool
    tags: tuple[str, ...]
    note: str
    at: datetime


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UnitVotes:
    """What one judge says of the units that can be labelled, before any label.

    place : (rows,) of the unit in the order.  plus, tie, minus : its votes; of single answers
        `score`, the mean over its runs, instead.
    passes : whether every score of it is 0 or 1, fail or pass.
    """

    place: IntArray
    plus: IntArray
    tie: IntArray
    minus: IntArray
    score: FloatArray
    passes: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UnitModels:
    """Two models that all units compare, by name.

    side : (units,) in their order, 1 where the first of them is model A, −1 where it is B.
    """

    names: tuple[str, str]
    side: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTexts:
    """What a person reads; None where the file has no text."""

    prompt: str | None
    responses: tuple[str | None, ...]


def dataset_number(moment: Snapshot, name: str) -> int:
    for (number,) in moment.rows("select id from datasets where name = ?", [name]):
        return int(number)
    raise UnknownName(f"No data set named {name!r}")


def label_plan(store: Database | Snapshot, dataset: str) -> LabelPlan | None:
    """How a data set is labelled; None before it is."""
    with store.snapshot() as moment:
        for seed, planned, kind, of_file, metric, labelling in moment.rows(
            """select l.seed, l.planned, l.kind, l.of_file, m.name, l.number from labelling l
               join datasets d on d.id = l.dataset left join metrics m on m.id = l.metric
               where d.name = ?""",
            [dataset],
        ):
            return LabelPlan(
                dataset=dataset,
                seed=int(seed),
                planned=planned,
                kind=kind,
                of_file=bool(of_file),
                metric=metric,
                number=int(labelling),
            )
    return None


def begin(
    store: Database, dataset: str, *, kind: Kind, planned: int | None, seed: int
) -> LabelPlan:
    """Draw the order in which the items of a data set are labelled, once; later calls change
    nothing.

    One comparison, or answer, of each item that a judge has judged, in the order of a permutation
    drawn from the seed over items sorted by name: it depends on no judge and on no vote.

    Raises NoUsableVotes: no judge has judged anything.
    """
    with store.change() as change:
        if (there := label_plan(change, dataset)) is not None:
            return there
        number = dataset_number(change, dataset)
        metric, units = _units(change, number, kind)
        if not units:
            raise NoUsableVotes(f"{dataset}: no judge has judged anything that could be labelled")
        rng = np.random.default_rng(seed)
        by_item: dict[int, list[tuple[int | None, int | None]]] = {}
        for item, comparison, model in units:
            by_item.setdefault(int(item), []).append((comparison, model))
        items = list(by_item)
        drawn = [by_item[item][rng.integers(len(by_item[item]))] for item in items]
        order = rng.permutation(len(items))
        gold = "scores c where c.dataset = ?"
        if kind == "votes":
            # Another data set may be about the same comparisons, and its labels are no file's gold.
            gold = """comparisons c where c.id in (select comparison from tallies where dataset = ?)
                      and c.id not in
                      (select g.comparison from label_gold g where g.comparison is not null)"""
        of_file = bool(
            change.count(f"select count(*) from {gold} and c.gold is not null", [number])
        )
        change.execute(
            "insert into labelling values (?, ?, ?, ?, ?, ?, now()::timestamp, ?)",
            [
                *(number, seed, planned and min(planned, len(items)), kind, of_file, metric),
                secrets.randbits(62),
            ],
        )
        import pyarrow as pa

        change.insert(
            pa.table(
                {
                    "dataset": pa.array([number] * len(items), pa.int32()),
                    "place": pa.array(range(len(items)), pa.int32()),
                    "item": pa.array([items[k] for k in order], pa.int32()),
                    "comparison": pa.array([drawn[k][0] for k in order], pa.int32()),
                    "model": pa.array([drawn[k][1] for k in order], pa.int32()),
                }
            ),
            "label_order",
        )
        plan = label_plan(change, dataset)
        assert plan is not None
        return plan


def _units(
    change: Change, number: int, kind: Kind
) -> tuple[int | None, list[tuple[int, int | None, int | None]]]:
    """Metric that most answers have, and (item, comparison, model) sorted by name."""
    if kind == "votes":
        return None, change.rows(
            """select c.item, c.id, null from comparisons c join items i on i.id = c.item
               join models a on a.id = c.model_a join models b on b.id = c.model_b
               where c.id in (select t.comparison from tallies t
                              where t.dataset = ? and not t.human and t.n > 0)
               order by i.name, a.name, b.name""",
            [number],
        )
    metrics = change.rows(
        """select metric from scores where dataset = ? and not human and status = 0
           group by metric order by count(*) desc, metric limit 1""",
        [number],
    )
    if not metrics:
        return None, []
    metric = int(metrics[0][0])
    return metric, change.rows(
        """select item, null, model from (
               select distinct s.item, s.model, i.name, m.name as model_name from scores s
               join items i on i.id = s.item left join models m on m.id = s.model
               where s.dataset = ? and s.metric = ? and not s.human and s.status = 0)
           order by name, model_name""",
        [number, metric],
    )


def replan(store: Database, dataset: str, planned: int | None) -> None:
    """Change the plan; after the first label that gives the planned end up."""
    with store.change() as change:
        number = dataset_number(change, dataset)
        if change.count("select count(*) from label_log where dataset = ?", [number]):
            planned = None
        change.execute("update labelling set planned = ? where dataset = ?", [planned, number])


def order_size(store: Database | Snapshot, dataset: str) -> int:
    """How many items can be labelled."""
    with store.snapshot() as moment:
        ((n,),) = moment.rows(
            "select count(*) from label_order where dataset = ?", [dataset_number(moment, dataset)]
        )
    return int(n)


def sealed_places(store: Database | Snapshot, dataset: str) -> frozenset[int]:
    """Places of the units that are sealed for proofs, which nobody labels before a proof asks."""
    with store.snapshot() as moment:
        held = parts.read(moment)
        if held is None:
            return frozenset()
        rows = moment.rows(
            """select o.place, coalesce(o.item, c.item) from label_order o
               left join comparisons c on c.id = o.comparison where o.dataset = ?""",
            [dataset_number(moment, dataset)],
        )
    return frozenset(place for place, item in rows if held.is_sealed(item))


def unit_names(store: Database | Snapshot, dataset: str) -> list[tuple[str | None, ...]]:
    """Item and models of each unit in the order."""
    with store.snapshot() as moment:
        return moment.rows(
            """select i.name, coalesce(a.name, m.name), b.name from label_order o
               join items i on i.id = o.item left join comparisons c on c.id = o.comparison
               left join models a on a.id = c.model_a left join models b on b.id = c.model_b
               left join models m on m.id = o.model where o.dataset = ? order by o.place""",
            [dataset_number(moment, dataset)],
        )


def label_log(store: Database | Snapshot, dataset: str) -> tuple[LogLine, ...]:
    """Every answer to a data set, in the order in which they were given."""
    with store.snapshot() as moment:
        rows = moment.rows(
            """select id, person, act, place, answer, label, swapped, tags, note, given_at
               from label_log where dataset = ? order by id""",
            [dataset_number(moment, dataset)],
        )
    return tuple(
        LogLine(
            number=number,
            person=person,
            act=act,
            place=place,
            answer=answer,
            label=label,
            swapped=swapped,
            tags=tuple(tags.split("\n")) if tags else (),
            note=note or "",
            at=at,
        )
        for number, person, act, place, answer, label, swapped, tags, note, at in rows
    )


def unit_votes(store: Database | Snapshot, dataset: str) -> dict[str, UnitVotes]:
    """What each judge that is no person says of the units in the order, by name of the judge."""
    with store.snapshot() as moment:
        number, plan = dataset_number(moment, dataset), label_plan(moment, dataset)
        if plan is not None and plan.kind == "votes":
            rows = moment.rows(
                """select j.name, o.place, sum(t.plus)::bigint, sum(t.tie)::bigint,
                          sum(t.minus)::bigint, 0.0::double, false
                   from label_order o join tallies t on t.comparison = o.comparison
                   join judges j on j.id = t.judge
                   where o.dataset = ? and not t.human and t.n > 0
                   group by j.name, o.place order by j.name, o.place""",
                [number],
            )
        else:
            rows = moment.rows(
                """select j.name, o.place, 0, 0, 0, avg(s.score), bool_and(s.score in (0, 1))
                   from label_order o join labelling l on l.dataset = o.dataset
                   join scores s on s.item = o.item and s.dataset = o.dataset
                        and s.model is not distinct from o.model and s.metric = l.metric
                   join judges j on j.id = s.judge
                   where o.dataset = ? and not s.human and s.status = 0 and s.score is not null
                   group by j.name, o.place order by j.name, o.place""",
                [number],
            )
    of_judge: dict[str, list[tuple[float, ...]]] = {}
    for judge, *values in rows:
        of_judge.setdefault(str(judge), []).append(tuple(values))
    votes = {}
    for judge, values in of_judge.items():
        columns = np.array(values, dtype=np.float64).T
        place, plus, tie, minus = (column.astype(np.int64) for column in columns[:4])
        votes[judge] = UnitVotes(
            place=place,
            plus=plus,
            tie=tie,
            minus=minus,
            score=columns[4],
            passes=bool(columns[5].all()),
        )
    return votes


def unit_models(store: Database | Snapshot, dataset: str) -> UnitModels | None:
    """The two models that all units compare; None where there are others, or without names."""
    with store.snapshot() as moment:
        rows = moment.rows(
            """select a.name, b.name from label_order o join comparisons c on c.id = o.comparison
               join models a on a.id = c.model_a join models b on b.id = c.model_b
               where o.dataset = ? order by o.place""",
            [dataset_number(moment, dataset)],
        )
    names = tuple(sorted({name for row in rows for name in row}))
    if len(names) != 2 or names == UNNAMED:
        return None
    return UnitModels(names=names, side=np.array([1.0 if a == names[0] else -1.0 for a, _ in rows]))


def unit_texts(
    store: Database | Snapshot, dataset: str, places: Sequence[int]
) -> dict[int, UnitTexts]:
    """The texts of units, A before B: those of the first vote or score that has them."""
    with store.snapshot() as moment:
        number, plan = dataset_number(moment, dataset), label_plan(moment, dataset)
        wanted = [number, list(places)]
        if plan is not None and plan.kind == "votes":
            rows = moment.rows(
                """select o.place, min(p.text), min(a.text), min(b.text)
                   from label_order o join votes v on v.comparison = o.comparison
                   join details d on d.vote = v.id
                   left join texts p on p.id = d.prompt left join texts a on a.id = d.response_a
                   left join texts b on b.id = d.response_b
                   where o.dataset = ? and o.place in (select unnest(?::integer[]))
                   group by o.place""",
                wanted,
            )
            return {
                place: UnitTexts(prompt=prompt, responses=(a, b)) for place, prompt, a, b in rows
            }
        rows = moment.rows(
            """select o.place, min(p.text), min(r.text)
               from label_order o join labelling l on l.dataset = o.dataset
               join scores s on s.item = o.item and s.dataset = o.dataset
                    and s.model is not distinct from o.model and s.metric = l.metric
               left join texts p on p.id = s.prompt left join texts r on r.id = s.response
               where o.dataset = ? and o.place in (select unnest(?::integer[]))
               group by o.place""",
            wanted,
        )
        return {place: UnitTexts(prompt=prompt, responses=(text,)) for place, prompt, text in rows}


CHARACTERS_PER_WORD = 6
LOOKED_AT = 300


def words_per_unit(store: Database | Snapshot, dataset: str) -> float:
    """Words that a person reads for one label, by the texts of the first votes; 0 without texts."""
    length = "coalesce(length({}.text), 0)"
    with store.snapshot() as moment:
        ((characters,),) = moment.rows(
            f"""select avg({length.format("p")} + {length.format("a")} + {length.format("b")})
                from (select v.id from votes v where v.dataset = ? limit {LOOKED_AT}) v
                join details d on d.vote = v.id left join texts p on p.id = d.prompt
                left join texts a on a.id = d.response_a
                left join texts b on b.id = d.response_b""",
            [dataset_number(moment, dataset)],
        )
    return float(characters or 0) / CHARACTERS_PER_WORD


def rubric(store: Database, dataset: str) -> str | None:
    """The line that says what counts to whoever labels a data set; None without one."""
    for (number,) in store.rows("select id from datasets where name = ?", [dataset]):
        return store.setting(f"{RUBRIC}{number}")
    return None


def keep_rubric(store: Database, dataset: str, line: str | None) -> None:
    """Say what counts; None says nothing."""
    with store.change() as change:
        key = f"{RUBRIC}{dataset_number(change, dataset)}"
        change.execute("delete from settings where key = ?", [key])
        if line is not None:
            change.execute("insert into settings values (?, ?)", [key, line])
