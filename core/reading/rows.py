"""A plan and its table as one row for each judgement, in canonical columns and words.

A cell costs only what it says: one that stands for none is none; an optional number that cannot be
read is left out; a word that is not read keeps its row out by name, and is no verdict of the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .facts import Column, grade, level, number
from .plan import Judgement, Plan
from .words import FAILURE, HUMANS, MACHINES, REFUSED, SUCCESS, UNPARSED, clean, tokens

_VOTES = {1: "A", 0: "tie", -1: "B"}
_TEXTS = (
    "model_a",
    "model_b",
    "response_a",
    "response_b",
    "prompt",
    "rationale",
    "category",
    "model",
    "response",
    "timestamp",
)
_NUMBERS = ("confidence", "cost", "temperature", "length_a", "length_b", "length")
UNREADABLE = 0.2
"""Share of unreadable cells from which an optional column is left out."""


@dataclass(eq=False)
class Rows:
    """Rows in canonical columns.

    row : of the file, from 1.  rejected : (row, column, cell, why).
    """

    columns: dict[str, list[str | None]]
    row: list[int]
    rejected: list[tuple[int, str, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def rows_of(plan: Plan, *, people_as_gold: bool = False) -> Rows:
    """One row for each judgement of an admitted plan.

    people_as_gold : a lone column of one person, of each metric, is gold of the judge, without gold
    beside it.
    """
    assert plan.table is not None
    assert plan.form is not None
    of = plan.roles.of
    out = Rows({}, [])
    optional = {name: of[name] for name in _TEXTS if name in of}
    read_numbers = {name: _numbers(of[name], out) for name in _NUMBERS if name in of}
    numbers = {name: cells for name, cells in read_numbers.items() if cells is not None}
    status = _statuses(of["status"]) if "status" in of else None
    types = _types(of["rater_type"]) if "rater_type" in of else None
    run = _codes(of["run"]) if "run" in of else None
    made: dict[str, list[str | None]] = {}
    seen: dict[tuple[object, ...], int] = {}
    versions: dict[tuple[str | None, str | None], int] = {}
    judgements, gold_column = plan.judgements, plan.gold
    gold_of = {} if gold_column is not None or not people_as_gold else _lone_people(judgements)
    judgements = [each for each in judgements if each.column not in gold_of.values()]
    judged = "vote" if plan.form == "votes" else "score"
    read = _vote if plan.form == "votes" else _score
    n = plan.rows
    ids = _ids(plan, n)
    for i in range(n):
        golds = {
            column.name: _gold(plan, column, i, out, read)
            for column in ((gold_column,) if gold_column is not None else gold_of.values())
        }
        for each in judgements:
            row: dict[str, str | None] = {"item_id": ids[i]}
            cell = each.column.cells[i]
            if (rater := _rater(plan, each, i)) is None:
                if cell is not None:
                    why = "nothing says who judged; name the judge in this row"
                    out.rejected.append((i + 1, each.column.name, cell, why))
                continue
            is_person = each.whose == "person" or bool(types and types[i] == "human")
            if plan.people and not each.rater:
                is_person = rater in plan.people
            value = read(plan, each.column, cell, i) if cell is not None else None
            if cell is None and (
                is_person
                or (
                    len(plan.judgements) > 1
                    and each.order == ""
                    and each.run is None
                    and each.whose == "person"
                )
            ):
                continue
            if cell is not None and value is None and not _is_failed(plan, cell):
                out.rejected.append(
                    (
                        i + 1,
                        each.column.name,
                        cell,
                        "a word that is not read; say what it means with --label-map",
                    )
                )
                continue
            if (
                value is not None
                and each.column.name in plan.outliers
                and number(cell or "") in plan.outliers[each.column.name]
            ):
                out.rejected.append(
                    (
                        i + 1,
                        each.column.name,
                        cell or "",
                        "far beyond the scale of the others; correct it",
                    )
                )
                continue
            row |= {"judge": rater, "rater_type": "human" if is_person else "llm", judged: value}
            of_each = gold_of.get(each.metric, gold_column)
            row["gold"] = golds[of_each.name] if of_each is not None else None
            place = each.order or (
                plan.orders.get(of["position"].cells[i] or "") if plan.orders else None
            )
            if plan.form == "votes":
                row["position"] = place
                if value and plan.slots and place == "ba":
                    row[judged] = {"A": "B", "B": "A"}.get(value, value)
            if each.metric:
                row["metric"] = each.metric
            if "metric" in of:
                row["metric"] = of["metric"].cells[i]
            if each.run is not None:
                row["run"] = str(each.run)
            elif run is not None:
                row["run"] = run[i]
            elif plan.runs:
                key = (
                    row["item_id"],
                    rater,
                    row.get("metric"),
                    place,
                    row.get("model") or _cell(of.get("model"), i),
                    _cell(of.get("model_a"), i),
                )
                row["run"] = str(seen.get(key, 0))
                seen[key] = seen.get(key, 0) + 1
            if plan.version is not None:
                # Versions of one judge get names of their own once the rows are read.
                settings = (plan.version.cells[i], row.get("run"))
                row["run"] = str(versions.setdefault(settings, len(versions)))
            row |= {name: column.cells[i] for name, column in optional.items()}
            if not is_person:
                row |= {name: cells[i] for name, cells in numbers.items()}
            elif "length_a" in numbers:
                row |= {
                    name: cells[i] for name, cells in numbers.items() if name.startswith("length")
                }
            if status is not None and not is_person:
                row["status"] = "ok" if value is not None else status[i]
            for name, text in row.items():
                cells = made.setdefault(name, [])
                cells += [None] * (len(out.row) - len(cells))
                cells.append(text)
            out.row.append(i + 1)
    for cells in made.values():
        cells += [None] * (len(out.row) - len(cells))
    out.columns = {
        name: cells
        for name, cells in made.items()
        if name in ("item_id", "judge", judged) or any(cells)
    }
    return out


def _lone_people(judgements: Sequence[Judgement]) -> dict[str, Column]:
    """Metric → the column of the only person who judged it, if a judge did too and that is so of
    each metric that people judged; else none.
    """
    judged = {each.metric for each in judgements if each.whose == "judge"}
    people = [each for each in judgements if each.whose == "person"]
    alone = {each.metric: each.column for each in people if each.rater}
    return alone if len(alone) == len(people) and alone.keys() <= judged else {}


def _gold(
    plan: Plan,
    column: Column,
    i: int,
    out: Rows,
    read: Callable[[Plan, Column, str, int], str | None],
) -> str | None:
    """Gold of a row; a word that is none costs itself."""
    cell = column.cells[i]
    gold = read(plan, column, cell, i) if cell is not None else None
    if cell is not None and gold is None:
        why = "no label that is known; the gold alone is left out"
        out.rejected.append((i + 1, column.name, cell, why))
    return gold


def _cell(column: Column | None, i: int) -> str | None:
    return column.cells[i] if column is not None else None


def _ids(plan: Plan, n: int) -> list[str]:
    if plan.item is None:
        return [f"{plan.source} {i + 1}" for i in range(n)]
    return [
        cell if cell is not None else f"{plan.source} {i + 1}"
        for i, cell in enumerate(plan.item.cells)
    ]


def _rater(plan: Plan, judgement: Judgement, i: int) -> str | None:
    if judgement.rater:
        return judgement.rater
    of = plan.roles.of
    column = (
        of.get("person" if judgement.whose == "person" else "judge")
        or of.get("judge")
        or of.get("person")
    )
    if column is None:
        return plan.source
    return column.cells[i] or (judgement.column.name if judgement.whose == "person" else None)


def _is_failed(plan: Plan, cell: str) -> bool:
    table: dict[str, Any] = plan.sides if plan.form == "votes" else plan.grades
    return clean(cell) in table


def _vote(plan: Plan, column: Column, cell: str, i: int) -> str | None:
    if plan.by_name and column.kind != "choice":
        of = plan.roles.of
        word = clean(cell)
        a, b = (clean(of[name].cells[i] or "") for name in ("model_a", "model_b"))
        if word == a and word != b:
            return "A"
        if word == b and word != a:
            return "B"
        return "tie" if plan.vote(cell) == 0 else None
    vote = plan.vote(cell)
    return None if vote is None else _VOTES[vote]


def _score(plan: Plan, column: Column, cell: str, i: int) -> str | None:
    word = clean(cell)
    value = plan.grades.get(word, None)
    if value is None and word not in plan.grades:
        readers: tuple[Callable[[str], float | None], ...] = {
            "pass": (grade,),
            "level": (level,),
        }.get(column.kind, (number,))
        value = next((v for reads in readers if (v := reads(cell)) is not None), None)
    return None if value is None else repr(float(value)).removesuffix(".0")


def _numbers(column: Column, out: Rows) -> list[str | None] | None:
    """Numbers of an optional column; None if too many cells are none."""
    cells = [None if cell is None else number(cell) for cell in column.cells]
    lost = sum(c is not None and v is None for c, v in zip(column.cells, cells, strict=True))
    if lost >= UNREADABLE * max(column.filled, 1):
        out.notes.append(
            f"'{column.name}' is left out: {lost:,} of {column.filled:,} cells are no numbers."
        )
        return None
    if lost:
        out.notes.append(f"'{column.name}': {lost:,} cells are no numbers and count as missing.")
    per_cent = any("%" in cell for cell in column.counts)
    top = max((v for v in cells if v is not None), default=0)
    scale = 0.01 if "confidence" in column.what and (per_cent or top > 10) else 1.0
    return [None if v is None else f"{v * scale:.12g}" for v in cells]


def _statuses(column: Column) -> list[str | None]:
    words = {cell: _status(clean(cell)) for cell in column.counts}
    return [None if cell is None else words[cell] for cell in column.cells]


def _status(word: str) -> str:
    for name, words in (
        ("ok", SUCCESS),
        ("error", FAILURE),
        ("refused", REFUSED),
        ("unparsed", UNPARSED),
    ):
        if word in words:
            return name
    return "ok"


def _types(column: Column) -> list[str | None]:
    def kind(cell: str | None) -> str | None:
        words = set(tokens(cell or ""))
        return "human" if words & HUMANS else "llm" if words & MACHINES else None

    return [kind(cell) for cell in column.cells]


def _codes(column: Column) -> list[str | None]:
    """Runs by number: whole ones as they are, others in the order of their names."""
    if all(cell.isdigit() for cell in column.counts):
        return list(column.cells)
    places = {cell: str(i) for i, cell in enumerate(sorted(column.counts))}
    return [None if cell is None else places[cell] for cell in column.cells]
