"""An answer of a person, and the rows that it becomes: one transaction.

Its line in the log, the row of rater type human, and the gold of its comparison where the file had
none are written together or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..errors import InvalidOption
from .cells import CELLS
from .connection import Change, Database
from .labelling import Act, dataset_number, label_plan
from .load import count_anew, vacuum

BOTH_BAD = "both bad"
"""Column outside the canonical form of a tie between two bad responses."""


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
        unit = _unit(change, dataset, place)
        _refuse_judges(change, unit.dataset, person)
        change.execute(
            """insert into label_log
               select coalesce(max(id), 0) + 1, $dataset, $person, $act, $place, $answer, $label,
                      $swapped, $tags, $note, $at from label_log""",
            {
                "dataset": unit.dataset,
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
            write = _write_vote if unit.kind == "votes" else _write_score
            write(change, unit, person, _judge(change, person))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """A unit in the order of a data set, and how that is labelled."""

    dataset: int
    kind: str
    of_file: bool
    place: int
    item: int
    comparison: int | None
    model: int | None


def _unit(change: Change, dataset: str, place: int) -> _Unit:
    for number, kind, of_file, item, comparison, model in change.rows(
        """select o.dataset, l.kind, l.of_file, o.item, o.comparison, o.model from label_order o
           join labelling l on l.dataset = o.dataset join datasets d on d.id = o.dataset
           where d.name = ? and o.place = ?""",
        [dataset, place],
    ):
        return _Unit(
            dataset=number,
            kind=kind,
            of_file=bool(of_file),
            place=place,
            item=item,
            comparison=comparison,
            model=model,
        )
    dataset_number(change, dataset)
    raise InvalidOption(f"{dataset}: there is no item at place {place + 1}")


def _refuse_judges(change: Change, number: int, person: str) -> None:
    """Whoever has labelled before is no judge."""
    if change.count(
        "select count(*) from label_log where dataset = ? and person = ?", [number, person]
    ):
        return
    for kind in ("tallies", "scores"):
        if change.count(
            f"""select count(*) from {kind} t join judges j on j.id = t.judge
                where t.dataset = ? and j.name = ? and not t.human""",
            [number, person],
        ):
            raise InvalidOption(f"{person!r} is the name of a judge; take another for the person")


def _judge(change: Change, person: str) -> int:
    for (number,) in change.rows("select id from judges where name = ?", [person]):
        return int(number)
    change.execute("insert into judges select coalesce(max(id), 0) + 1, ? from judges", [person])
    return change.count("select id from judges where name = ?", [person])


STANDING = """
    select l.person, l.act, l.label, l.answer, l.swapped, l.tags, l.note from label_log l
    where l.dataset = $dataset and l.place = $place and l.act in ('label', 'undo')
    qualify row_number() over (partition by l.person order by l.id desc) = 1"""
"""The last word of each person on one unit; `undo` takes it back."""


def _last_words(change: Change, unit: _Unit) -> list[tuple[object, ...]]:
    words = change.rows(STANDING, {"dataset": unit.dataset, "place": unit.place})
    return [word for word in words if word[1] == "label"]


def _write_vote(change: Change, unit: _Unit, person: str, judge: int) -> None:
    """The person's vote anew, and gold as the mode of all labels where the file had none."""
    words, comparison = _last_words(change, unit), unit.comparison
    ((vote, category, there),) = change.rows(
        """select (select coalesce(max(id), 0) + 1 from votes), min(t.category),
                  count(*) filter (where t.judge = $judge and t.human)
           from tallies t where t.comparison = $comparison""",
        {"comparison": comparison, "judge": judge},
    )
    if there:
        own = "v.dataset = ? and v.comparison = ? and v.judge = ? and v.human"
        where = [unit.dataset, comparison, judge]
        change.execute(
            f"delete from details where vote in (select v.id from votes v where {own})", where
        )
        change.execute(f"delete from votes v where {own}", where)
    for name, _, label, answer, swapped, tags, note in words:
        if name != person or label is None:
            continue
        change.execute(
            """insert into votes (id, dataset, comparison, judge, category, run, position, vote,
                                  status, human)
               values ($id, $dataset, $comparison, $judge, $category, 0, $position, $label, 0,
                       true)""",
            {
                "id": vote,
                "dataset": unit.dataset,
                "comparison": comparison,
                "judge": judge,
                "category": category,
                "position": -1 if swapped else 1,
                "label": int(float(str(label))),
            },
        )
        _write_details(change, vote, str(answer), tags, note)
        if not there:
            keys = unit.dataset, unit.comparison, judge, category
            _count_lone(change, keys, int(float(str(label))), -1 if swapped else 1)
    if not unit.of_file:
        labels = [int(float(str(word[2]))) for word in words if word[2] is not None]
        change.execute("update comparisons set gold = ? where id = ?", [_mode(labels), comparison])
    if there:
        count_anew(change, f"v.comparison = {int(comparison or 0)} and v.judge = {judge}")


_LONE_CELLS: dict[tuple[str, int, int], tuple[int | bool, ...]] = {}
"""What each cell counts in one vote of a person, by name of the cell, vote and position."""


def _count_lone(
    change: Change, keys: tuple[int, int | None, int, int | None], vote: int, position: int
) -> None:
    """Count the only vote of a person on a comparison; keys : dataset, comparison, judge, category.

    To plan the statements that count takes longer than all else of an answer, and what they count
    in one vote is always the same.
    """
    for name, sql in CELLS.items():
        cell = name, vote, position
        if cell not in _LONE_CELLS:
            lone = f"""(select 0 as dataset, 0 as comparison, 0 as judge, 0 as category, true as
                        human, 0 as run, {position} as position, {vote} as vote, 0 as status,
                        null::double as confidence)"""
            (_LONE_CELLS[cell],) = change.rows(sql.format(votes=lone))
        # Both begin with their keys, of which `runs` has no category.
        own = keys if name == "tallies" else keys[:3]
        row = [*own, *_LONE_CELLS[cell][len(own) :]]
        change.execute(f"insert into {name} values ({', '.join('?' * len(row))})", row)


def _write_details(change: Change, vote: int, answer: str, tags: object, note: object) -> None:
    extra = {}
    if tags:
        extra["tags"] = str(tags).replace("\n", ", ")
    if answer == "b":
        extra[BOTH_BAD] = "yes"
    text = None
    if note:
        if not change.count("select count(*) from texts where text = ?", [note]):
            change.execute(
                "insert into texts select coalesce(max(id), 0) + 1, ? from texts", [note]
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


def _write_score(change: Change, unit: _Unit, person: str, judge: int) -> None:
    """The person's score anew, and gold as the mean of all labels where the file had none."""
    words = _last_words(change, unit)
    same = """dataset = $dataset and item = $item and model is not distinct from $model
              and metric = (select metric from labelling where dataset = $dataset)"""
    about = {"dataset": unit.dataset, "item": unit.item, "model": unit.model}
    change.execute(
        f"delete from scores where {same} and judge = $judge and human", about | {"judge": judge}
    )
    for name, _, label, *_ in words:
        if name != person or label is None:
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
    if not unit.of_file:
        values = [float(str(word[2])) for word in words if word[2] is not None]
        change.execute(
            f"update scores set gold = $gold where {same}",
            about | {"gold": sum(values) / len(values) if values else None},
        )


def forget_labels(store: Database, dataset: str) -> None:
    """Delete all labels of a data set, its order and its log."""
    with store.change() as change:
        number = dataset_number(change, dataset)
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
