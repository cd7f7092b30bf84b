"""An answer of a person, and the rows that it becomes: one transaction.

Its line in the log, the row of rater type human, and the gold of its comparison where no file has
any are written together or not at all. A label is a row of its own beside what files say of the
same person, and `label_rows` knows it; gold of labels is in `label_gold`, and what is not there is
a file's and stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..errors import InvalidOption, LabellingReplaced
from ..schema import Kind
from .cells import CELLS
from .connection import Change, Database
from .label_gold import delete_judgements, forget_log, give_gold
from .labelling import Act, dataset_number, label_plan
from .load import count_anew, vacuum

BOTH_BAD = "both bad"
"""Column outside the canonical form of a tie between two bad responses."""


def write_answer(
    store: Database,
    dataset: str,
    *,
    labelling: int,
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

    labelling : number of the labelling whose card was answered (`LabelPlan.number`).

    Raises InvalidOption: the name of the person is empty, not of printable characters or a judge's
    but for case and blanks; or the place is none.
    LabellingReplaced: that labelling is no more.
    """
    if not person.strip() or not person.isprintable():
        raise InvalidOption(f"{person!r} is no name of a person; take one of letters")
    with store.change() as change:
        unit = _unit(change, dataset, labelling, place)
        again = _said_before(change, unit, person)
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
            said = None
            if act == "label" and label is not None:
                said = _Said(label=label, answer=answer, swapped=swapped, tags=tags, note=note)
            if again:
                _free(change, unit, person)
            write(change, unit, person, _judge(change, person), said)
            if not unit.of_file:
                here = f"t.dataset = {unit.dataset} and t.place = {unit.place}"
                give_gold(change, unit.kind, here)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """A unit in the order of a data set, and how that is labelled."""

    dataset: int
    kind: Kind
    of_file: bool
    place: int
    item: int
    comparison: int | None
    model: int | None


def _unit(change: Change, dataset: str, labelling: int, place: int) -> _Unit:
    for number, kind, of_file, item, comparison, model in change.rows(
        """select o.dataset, l.kind, l.of_file, o.item, o.comparison, o.model from label_order o
           join labelling l on l.dataset = o.dataset join datasets d on d.id = o.dataset
           where l.number = ? and d.name = ? and o.place = ?""",
        [labelling, dataset, place],
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
    plan = label_plan(change, dataset)
    if plan is not None and plan.number == labelling:
        raise InvalidOption(f"{dataset}: there is no item at place {place + 1}")
    raise LabellingReplaced(
        f"Not kept: the card was of an earlier labelling of {dataset}, which was deleted, renamed "
        "or begun anew meanwhile. Answer the card that is shown now."
    )


def _said_before(change: Change, unit: _Unit, person: str) -> bool:
    """Whether the person has said something of this unit. Raises InvalidOption: the name is a
    judge's; whoever has labelled before is none.
    """
    number = unit.dataset
    ((lines, of_unit),) = change.rows(
        """select count(*), count(*) filter (where place = $place) from label_log
           where dataset = $dataset and person = $person""",
        {"dataset": number, "person": person, "place": unit.place},
    )
    if lines:
        return bool(of_unit)
    for kind in ("tallies", "scores"):
        if change.count(
            f"""select count(*) from {kind} t join judges j on j.id = t.judge
                where t.dataset = ? and not t.human
                and lower(trim(j.name)) = lower(trim(?))""",
            [number, person],
        ):
            raise InvalidOption(f"{person!r} is the name of a judge; take another for the person")
    return False


def _judge(change: Change, person: str) -> int:
    for (number,) in change.rows("select id from judges where name = ?", [person]):
        return int(number)
    change.execute("insert into judges select coalesce(max(id), 0) + 1, ? from judges", [person])
    return change.count("select id from judges where name = ?", [person])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a person says of a unit."""

    label: float
    answer: str
    swapped: bool
    tags: Sequence[str]
    note: str


def _free(change: Change, unit: _Unit, person: str) -> None:
    """Delete the row of the person's earlier label, unless a file has the same."""
    own = [unit.dataset, unit.place, person]
    of_place = "dataset = ? and place = ? and person = ?"
    for (number,) in change.rows(
        f"select judgement from label_rows where {of_place} and not of_file", own
    ):
        delete_judgements(change, unit.kind, str(int(number)))
    change.execute(f"delete from label_rows where {of_place}", own)


def _write_vote(change: Change, unit: _Unit, person: str, judge: int, said: _Said | None) -> None:
    """The person's vote anew, beside those that files have of the person; None takes it back."""
    comparison = unit.comparison
    ((vote, category, there),) = change.rows(
        """select (select coalesce(max(id), 0) + 1 from votes), min(t.category),
                  count(*) filter (where t.judge = $judge and t.dataset = $dataset)
           from tallies t where t.comparison = $comparison""",
        {"comparison": comparison, "judge": judge, "dataset": unit.dataset},
    )
    if said is not None:
        run = 0
        if there:
            run = change.count(
                """select coalesce(max(run) + 1, 0) from votes
                   where dataset = ? and comparison = ? and judge = ?""",
                [unit.dataset, comparison, judge],
            )
        position = -1 if said.swapped else 1
        change.execute(
            """insert into votes (id, dataset, comparison, judge, category, run, position, vote,
                                  status, human)
               values ($id, $dataset, $comparison, $judge, $category, $run, $position, $label, 0,
                       true)""",
            {
                "id": vote,
                "dataset": unit.dataset,
                "comparison": comparison,
                "judge": judge,
                "category": category,
                "run": max(run, 0),
                "position": position,
                "label": int(said.label),
            },
        )
        _write_details(change, vote, said.answer, said.tags, said.note)
        change.execute(
            "insert into label_rows values (?, ?, ?, ?, false)",
            [unit.dataset, unit.place, person, vote],
        )
        if not there:
            keys = unit.dataset, unit.comparison, judge, category
            _count_lone(change, keys, int(said.label), position)
    if there:
        count_anew(
            change,
            f"v.dataset = {unit.dataset} and v.comparison = {int(comparison or 0)} "
            f"and v.judge = {judge}",
        )


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


def _write_details(change: Change, vote: int, answer: str, tags: Sequence[str], note: str) -> None:
    extra = {}
    if tags:
        extra["tags"] = ", ".join(tags)
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


def _write_score(change: Change, unit: _Unit, person: str, judge: int, said: _Said | None) -> None:
    """The person's score anew, beside those that files have of the person; None takes it back."""
    if said is None:
        return
    number = change.count("select coalesce(max(id), 0) + 1 from scores")
    same = """dataset = $dataset and item = $item and model is not distinct from $model
              and metric = (select metric from labelling where dataset = $dataset)"""
    change.execute(
        f"""insert into scores (id, dataset, item, category, model, judge, metric, run, score,
                                scale_low, scale_high, lower_is_better, status, human)
            select $id, dataset, item, min(category), model, $judge, metric,
                   greatest(coalesce(max(run) filter (where judge = $judge) + 1, 0), 0), $score,
                   min(scale_low), max(scale_high), min(lower_is_better), 0, true
            from scores where {same} group by dataset, item, model, metric""",
        {
            "id": number,
            "dataset": unit.dataset,
            "item": unit.item,
            "model": unit.model,
            "judge": judge,
            "score": float(said.label),
        },
    )
    change.execute(
        "insert into label_rows values (?, ?, ?, ?, false)",
        [unit.dataset, unit.place, person, number],
    )


def forget_labels(store: Database, dataset: str) -> None:
    """Delete all labels of a data set, its order and its log; what files say of the same people
    stays.
    """
    with store.change() as change:
        number = dataset_number(change, dataset)
        labels = f"select judgement from label_rows where dataset = {number} and not of_file"
        plan = label_plan(change, dataset)
        if plan is not None:
            delete_judgements(change, plan.kind, labels)
        forget_log(change, number)
        count_anew(change, f"v.dataset = {number}")
        vacuum(change)
