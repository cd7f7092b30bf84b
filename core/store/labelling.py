"""Labels that people give here: the order of items, a log of every answer, what rows they become.

Each answer is one transaction: its line in the log, the row of rater type human, and the gold of
its comparison where the file had none. So a process that is killed loses nothing that was shown as
done, and several people, or several browsers, may label at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from ..errors import InvalidOption, NoUsableVotes, UnknownName
from ..records import FloatArray, IntArray
from ..schema import Kind
from .connection import Change, Database, Snapshot
from .load import count_anew, vacuum

Act = Literal["label", "skip", "repeat", "undo"]
BOTH_BAD = "both bad"
"""Column outside the canonical form of a tie between two bad responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """How a data set is labelled.

    seed : of the order.  planned : labels planned before the first one; None gives the plan up.
    kind : `votes`, comparisons, or `scores`, single answers.  of_file : the file had gold, which
        labels do not touch.  metric : of single answers.
    """

    dataset: str
    seed: int
    planned: int | None
    kind: Kind
    of_file: bool
    metric: str | None = None


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
        `score` instead.
    """

    place: IntArray
    plus: IntArray
    tie: IntArray
    minus: IntArray
    score: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTexts:
    """What a person reads; None where the file has no text."""

    prompt: str | None
    responses: tuple[str | None, ...]


def _dataset(moment: Snapshot, name: str) -> int:
    for (number,) in moment.rows("select id from datasets where name = ?", [name]):
        return int(number)
    raise UnknownName(f"No data set named {name!r}")


def label_plan(store: Database | Snapshot, dataset: str) -> LabelPlan | None:
    """How a data set is labelled; None before it is."""
    with store.snapshot() as moment:
        for seed, planned, kind, of_file, metric in moment.rows(
            """select l.seed, l.planned, l.kind, l.of_file, m.name from labelling l
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
        number = _dataset(change, dataset)
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
        gold = "comparisons c where c.dataset" if kind == "votes" else "scores c where c.dataset"
        of_file = bool(
            change.count(f"select count(*) from {gold} = ? and c.gold is not null", [number])
        )
        change.execute(
            "insert into labelling values (?, ?, ?, ?, ?, ?, now()::timestamp)",
            [number, seed, planned and min(planned, len(items)), kind, of_file, metric],
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
        number = _dataset(change, dataset)
        if change.count("select count(*) from label_log where dataset = ?", [number]):
            planned = None
        change.execute("update labelling set planned = ? where dataset = ?", [planned, number])


def order_size(store: Database | Snapshot, dataset: str) -> int:
    """How many items can be labelled."""
    with store.snapshot() as moment:
        ((n,),) = moment.rows(
            "select count(*) from label_order where dataset = ?", [_dataset(moment, dataset)]
        )
    return int(n)


def label_log(store: Database | Snapshot, dataset: str) -> tuple[LogLine, ...]:
    """Every answer to a data set, in the order in which they were given."""
    with store.snapshot() as moment:
        rows = moment.rows(
            """select id, person, act, place, answer, label, swapped, tags, note, given_at
               from label_log where dataset = ? order by id""",
            [_dataset(moment, dataset)],
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
        number, plan = _dataset(moment, dataset), label_plan(moment, dataset)
        if plan is not None and plan.kind == "votes":
            rows = moment.rows(
                """select j.name, o.place, sum(t.plus)::bigint, sum(t.tie)::bigint,
                          sum(t.minus)::bigint, 0.0::double
                   from label_order o join tallies t on t.comparison = o.comparison
                   join judges j on j.id = t.judge
                   where o.dataset = ? and not t.human and t.n > 0
                   group by j.name, o.place order by j.name, o.place""",
                [number],
            )
        else:
            rows = moment.rows(
                """select j.name, o.place, 0, 0, 0, avg(s.score)
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
        votes[judge] = UnitVotes(place=place, plus=plus, tie=tie, minus=minus, score=columns[4])
    return votes


def unit_texts(
    store: Database | Snapshot, dataset: str, places: Sequence[int]
) -> dict[int, UnitTexts]:
    """The texts of units, A before B: those of the first vote or score that has them."""
    with store.snapshot() as moment:
        number, plan = _dataset(moment, dataset), label_plan(moment, dataset)
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
            [_dataset(moment, dataset)],
        )
    return float(characters or 0) / CHARACTERS_PER_WORD


def write_answer(
    store: Database,
    dataset: str,
    *,
    person: str,
    act: Act,
    place: int,
    answer: str = "",
    label: float | None = None,
    swapped: bool = False,
    tags: Sequence[str] = (),
    note: str = "",
) -> None:
    """Write one answer, and what it changes, in one transaction.

    Raises InvalidOption: the name of the person is empty or a judge's, or the place is none.
    """
    if not person.strip():
        raise InvalidOption("The name of the person who labels is empty")
    with store.change() as change:
        number, plan = _dataset(change, dataset), label_plan(change, dataset)
        units = change.rows(
            "select item, comparison, model from label_order where dataset = ? and place = ?",
            [number, place],
        )
        if plan is None or not units:
            raise InvalidOption(f"{dataset}: there is no item at place {place + 1}")
        _refuse_judges(change, number, person)
        change.execute(
            """insert into label_log
               select coalesce(max(id), 0) + 1, $dataset, $person, $act, $place, $answer, $label,
                      $swapped, $tags, $note, $at from label_log""",
            {
                "dataset": number,
                "person": person,
                "act": act,
                "place": place,
                "answer": answer,
                "label": label,
                "swapped": swapped,
                "tags": "\n".join(tags) or None,
                "note": note or None,
                "at": datetime.now(UTC).replace(tzinfo=None),
            },
        )
        if act in ("label", "undo"):
            judge = _judge(change, person)
            write = _write_vote if plan.kind == "votes" else _write_score
            (item, comparison, model) = units[0]
            write(change, plan, number, (item, comparison, model), judge)


def _refuse_judges(change: Change, number: int, person: str) -> None:
    for kind in ("tallies", "scores"):
        if change.count(
            f"""select count(*) from {kind} t join judges j on j.id = t.judge
                where t.dataset = ? and j.name = ? and not t.human""",
            [number, person],
        ):
            raise InvalidOption(f"{person!r} is the name of a judge; take another for the person")


def _judge(change: Change, person: str) -> int:
    if not change.count("select count(*) from judges where name = ?", [person]):
        change.execute(
            "insert into judges select coalesce(max(id), 0) + 1, ? from judges", [person]
        )
    return change.count("select id from judges where name = ?", [person])


STANDING = """
    select l.person, l.act, l.label, l.answer, l.swapped, l.tags, l.note from label_log l
    where l.dataset = $dataset and l.place = $place and l.act in ('label', 'undo')
    qualify row_number() over (partition by l.person order by l.id desc) = 1"""
"""The last word of each person on one unit; `undo` takes it back."""


def _last_words(
    change: Change, number: int, unit: tuple[int, int | None, int | None]
) -> list[tuple[object, ...]]:
    item, comparison, model = unit
    place = change.count(
        """select place from label_order where dataset = ? and item = ?
           and comparison is not distinct from ? and model is not distinct from ?""",
        [number, item, comparison, model],
    )
    words = change.rows(STANDING, {"dataset": number, "place": place})
    return [word for word in words if word[1] == "label"]


def _write_vote(
    change: Change,
    plan: LabelPlan,
    number: int,
    unit: tuple[int, int | None, int | None],
    judge: int,
) -> None:
    """The person's vote anew, and gold as the mode of all labels where the file had none."""
    _, comparison, _ = unit
    words = _last_words(change, number, unit)
    own = "v.dataset = ? and v.comparison = ? and v.judge = ? and v.human"
    where = [number, comparison, judge]
    change.execute(
        f"delete from details where vote in (select v.id from votes v where {own})", where
    )
    change.execute(f"delete from votes v where {own}", where)
    name = change.rows("select name from judges where id = ?", [judge])[0][0]
    for person, _, label, answer, swapped, tags, note in words:
        if person != name or label is None:
            continue
        vote = change.count("select coalesce(max(id), 0) + 1 from votes")
        change.execute(
            """insert into votes (id, dataset, comparison, judge, category, run, position, vote,
                                  status, human)
               select $id, $dataset, $comparison, $judge,
                      (select min(category) from votes where comparison = $comparison), 0,
                      $position, $label, 0, true""",
            {
                "id": vote,
                "dataset": number,
                "comparison": comparison,
                "judge": judge,
                "position": -1 if swapped else 1,
                "label": int(float(str(label))),
            },
        )
        _write_details(change, vote, str(answer), tags, note)
    if not plan.of_file:
        labels = [int(float(str(word[2]))) for word in words if word[2] is not None]
        change.execute("update comparisons set gold = ? where id = ?", [_mode(labels), comparison])
    count_anew(change, f"v.comparison = {int(comparison or 0)} and v.judge = {judge}")


def _write_details(change: Change, vote: int, answer: str, tags: object, note: object) -> None:
    extra = {}
    if tags:
        extra["tags"] = str(tags).replace("\n", ", ")
    if answer == "b":
        extra[BOTH_BAD] = "yes"
    text = None
    if note:
        change.execute(
            """insert into texts select coalesce(max(id), 0) + 1, ? from texts
               where not exists (select 1 from texts where text = ?)""",
            [note, note],
        )
        text = change.count("select id from texts where text = ?", [note])
    if extra or text:
        change.execute(
            """insert into details (vote, rationale, extra)
               values (?, ?, case when ? then map(?::varchar[], ?::varchar[]) end)""",
            [vote, text, bool(extra), list(extra), list(extra.values())],
        )


def _mode(labels: Sequence[int]) -> int | None:
    """The most frequent label; no unique one is a tie. None without labels."""
    if not labels:
        return None
    counts = sorted(((labels.count(value), value) for value in set(labels)), reverse=True)
    return 0 if len(counts) > 1 and counts[0][0] == counts[1][0] else counts[0][1]


def _write_score(
    change: Change,
    plan: LabelPlan,
    number: int,
    unit: tuple[int, int | None, int | None],
    judge: int,
) -> None:
    """The person's score anew, and gold as the mean of all labels where the file had none."""
    item, _, model = unit
    words = _last_words(change, number, unit)
    same = """dataset = $dataset and item = $item and model is not distinct from $model
              and metric = (select metric from labelling where dataset = $dataset)"""
    about = {"dataset": number, "item": item, "model": model}
    change.execute(
        f"delete from scores where {same} and judge = $judge and human", about | {"judge": judge}
    )
    name = change.rows("select name from judges where id = ?", [judge])[0][0]
    for person, _, label, *_ in words:
        if person != name or label is None:
            continue
        change.execute(
            f"""insert into scores (id, dataset, item, category, model, judge, metric, run, score,
                                    scale_low, scale_high, lower_is_better, status, human)
                select (select max(id) + 1 from scores), dataset, item, min(category), model,
                       $judge, metric, 0, $score, min(scale_low), max(scale_high),
                       min(lower_is_better), 0, true
                from scores where {same} and not human group by dataset, item, model, metric""",
            about | {"judge": judge, "score": float(str(label))},
        )
    if not plan.of_file:
        values = [float(str(word[2])) for word in words if word[2] is not None]
        change.execute(
            f"update scores set gold = $gold where {same}",
            about | {"gold": sum(values) / len(values) if values else None},
        )


def forget_labels(store: Database, dataset: str) -> None:
    """Delete all labels of a data set, its order and its log."""
    with store.change() as change:
        number = _dataset(change, dataset)
        plan = label_plan(change, dataset)
        people = [
            name
            for (name,) in change.rows(
                "select distinct person from label_log where dataset = ?", [number]
            )
        ]
        own = """v.dataset = ? and v.human and v.judge in
                 (select id from judges where name in (select unnest(?::varchar[])))"""
        for table in ("votes", "scores"):
            if table == "votes":
                change.execute(
                    f"delete from details where vote in (select v.id from votes v where {own})",
                    [number, people],
                )
            change.execute(f"delete from {table} v where {own}", [number, people])
        if plan is not None and not plan.of_file:
            table = "comparisons" if plan.kind == "votes" else "scores"
            change.execute(f"update {table} set gold = null where dataset = ?", [number])
        for table in ("labelling", "label_order", "label_log"):
            change.execute(f"delete from {table} where dataset = ?", [number])
        count_anew(change, f"v.dataset = {number}")
        vacuum(change)
