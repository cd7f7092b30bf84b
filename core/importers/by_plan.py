"""Which of two readings of a table is taken: that of its names, or that of a plan by evidence.

A file of canonical columns whose cells can all be read is read by its names, and so is any of which
both say the same. Where they differ the plan decides, and where it asks, nothing is guessed.
"""

from __future__ import annotations

import argparse
import copy
import re
import shlex
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import AmbiguousLabels, AppellateError, UnreadableFile
from ..options import add_flags, from_flags
from ..reading.facts import is_missing
from ..reading.mapping import Said
from ..reading.plan import Plan as Evidence
from ..reading.planner import make_plan
from ..reading.questions import Asked, items, may_be_items
from ..reading.rows import Rows, rows_of
from ..reading.walk import Table
from ..reading.walk import from_json as walk
from ..reading.words import CHANCES
from ..schema import SCORES, ImportResult
from .bounds import MAX_DEPTH, depth
from .columns import Cells, Rejects, cell_codes, dense_codes, encode_cells
from .layouts import DIRECT, VOTE_COLUMNS, plain
from .options import Inspection, Question, ReadOptions
from .source import Source, stem_of
from .tables import TextTable

MOST_CELLS = 3_000_000
"""Cells of a table up to which a plan is made of it."""
SAMPLED, BLOCKS = 16_384, 16
"""First rows, and blocks of the others, of which a plan of a long table is made."""
MOST_PLANNED = 30_000_000
"""Cells of a table up to which its rows are read by a plan of some of them."""
FEW = 20
"""Rows below which a plan has too little evidence against names that say who judged."""
FEWEST = 10
"""Rows below which it has too little to say what names do not read."""
MOST_BYTES = 16 * 1024**2
"""Bytes of text up to which tables are looked for in it: as objects they take far more."""
_ONLY_BY_NAMES = (
    "labels",
    "gold_labels",
    "layout",
    "votes_of",
    "cluster",
    "tie_margin",
    "confidence_scale",
)
TOOLS = frozenset({"ragas", "mlflow"})
"""Judges that are called as the tool whose columns a table has."""
_CANONICAL = ({"item_id", "judge", "vote"}, {"item_id", "judge", "score"})


def wanted(options: ReadOptions) -> bool:
    """Whether options leave it open how a table is read."""
    default = ReadOptions()
    return (
        options.reader == "auto"
        and options.format == "auto"
        and all(getattr(options, name) == getattr(default, name) for name in _ONLY_BY_NAMES)
    )


def said_by(options: ReadOptions) -> Said:
    """What options say, in the terms of a plan."""
    named = {role: name for role, name in options.mapping if name and not name.startswith("=")}
    return Said(
        mapping=named,
        orders=options.orders,
        runs=options.runs,
        judges=options.judges,
        people=options.people,
        labels=dict(options.label_map),
        position=dict(options.position),
        refers=options.label_refers,
        unit=options.unit,
        unused=options.unused,
        metrics=options.metrics,
        table=options.file_table,
        version=options.version,
    )


def tables_of(source: Source, table: TextTable | None) -> list[Table]:
    """Tables of a file: the one that was read, or all that a walk through it finds."""
    if table is not None and source.kind != "json":
        cells = [column.to_pylist() for column in table.columns.values()]
        rows = [list(row) for row in zip(*cells, strict=True)]
        return [Table(source.stem, list(table.columns), rows)]
    if len(source.data) > MOST_BYTES or depth(source.data) > MAX_DEPTH or _unfolds(source.data):
        return []
    try:
        return walk(source.text(), source.stem)
    except (ValueError, RecursionError):
        return []


_KEY = re.compile(rb'"((?:[^"\\]|\\.){0,200})"\s*:')


def _unfolds(data: bytes) -> bool:
    """Whether objects with all keys as columns would be a table of too many cells."""
    objects = data.count(b"{")
    keys: set[bytes] = set()
    for found in _KEY.finditer(data):
        keys.add(found[1])
        if len(keys) * objects > MOST_CELLS:
            return True
    return False


def plan_of(source: Source, table: TextTable | None, options: ReadOptions) -> Evidence | None:
    """The plan by evidence of a file; None where none is made."""
    tables = tables_of(source, table)
    if not tables:
        return None
    said = said_by(options)
    plan = make_plan(tables, source.stem, said)
    # Another reader says which of the names that were given it does not know.
    return plan if plan.table is not None and plan.knows(said.columns) else None


def names_nobody(result: ImportResult | None, columns: Container[str] = ()) -> bool:
    """Whether a reading by names has nothing but the name of the file for a judge, and no column
    of the file that is called a vote or a score.
    """
    if result is None or "vote" in columns or "score" in columns:
        return False
    return result.mapping.get("judge") == f"={stem_of(result.name)}"


def is_told(
    plan: Evidence, result: ImportResult | None, error: Exception | None, *, nobody: bool
) -> bool:
    """Whether a plan has rows enough to be heard beside what names read, or do not. Of scores with
    people's it needs no more than names that read nothing.

    nobody : names read it as the judgements of nobody.  error : why they read nothing.
    """
    if result is None and isinstance(error, UnreadableFile) and plan.admitted and plan.has_people:
        return True
    fewest = FEWEST if plan.is_of_one_table else FEW
    certain = plan.is_certain and (result is None or result.gold_only)
    return nobody or certain or plan.n_rows >= (FEW if result is not None else fewest)


def refusal_of(
    plan: Evidence, name: str, error: AppellateError | None, *, nobody: bool
) -> UnreadableFile | None:
    """What a plan says that a file is instead of judgements, where names miss columns, or read it
    as the judgements of nobody.
    """
    missing = isinstance(error, UnreadableFile) and "no column for" in str(error)
    meant = missing or nobody or plan.is_certain or (plan.n_rows >= FEW and plan.is_gold)
    likely = "Likely" in str(error) and "two things speak for" in plan.refusal
    if not plan.refusal or not meant or likely:
        return None
    said = plan.refusal.replace("{", "{{").replace("}", "}}")
    return UnreadableFile(f"{name}: {said}")


def sample_of(table: TextTable) -> TextTable:
    """The first rows of a long table, and blocks of the others, of 16 MB at most; a short one
    itself.
    """
    import pyarrow as pa

    n = len(table.row)
    if n <= 2 * SAMPLED:
        return table
    a_row = sum(cells.nbytes for cells in table.columns.values()) / n
    first = max(min(SAMPLED, int(MOST_BYTES / 2 / a_row)), FEWEST)
    size = max(first // BLOCKS, 1)
    starts = np.linspace(first, n - size, BLOCKS).astype(int)
    rows = np.unique(np.concatenate([np.arange(first), *(np.arange(s, s + size) for s in starts)]))
    columns = {
        name: encode_cells(cells.take(pa.array(rows)).cast(pa.string()))
        for name, cells in table.columns.items()
    }
    return replace(table, columns=columns, row=table.row[rows], rows=len(rows), rejects=Rejects())


def asked_of_whole(plan: Evidence, table: TextTable) -> Asked | None:
    """What a plan that was made of some rows leaves open where all of them say otherwise what an
    item is: the key does not tell them apart, or a column without a role does.
    """
    if plan.item is None:
        unused = [each.name for each in plan.columns if each.role == "not used"]
        name = next((name for name in unused if _may_be_items(table.columns[name])), None)
        if name is None:
            return None
        distinct = len(table.columns[name].dictionary)
        return may_be_items(name, distinct, len(table.row) // distinct)
    if plan.runs:
        return None
    key = [table.columns[each.name] for each in (plan.item, *plan.key) if each.at >= 0]
    times = int(np.bincount(dense_codes(key)).max(initial=1))
    return items(plan.item.name, times) if times > 1 else None


def of_whole(plan: Evidence, table: TextTable) -> Evidence:
    """A plan that was made of some rows of a table, for all of them."""

    def cells(name: str) -> list[str | None]:
        coded = table.columns[name]
        texts = [None if is_missing(text) else text for text in coded.dictionary.to_pylist()]
        # What is missing has the code -1.
        texts.append(None)
        return [texts[code] for code in cell_codes(coded).tolist()]

    return plan.of_rows(len(table.row), cells)


def _may_be_items(cells: Cells) -> bool:
    """Whether each text of a column returns equally often, and none is missing."""
    if cells.null_count or not 5 <= len(cells.dictionary) <= len(cells) / 2:
        return False
    times = np.bincount(cell_codes(cells))
    return bool((times == times[0]).all())


def is_large(table: TextTable, most: int | None = None) -> bool:
    """Whether a table has too many cells, by default for a plan of all its rows."""
    cells = (len(table.row) + len(table.rejects)) * max(len(table.columns), 1)
    return cells > (MOST_CELLS if most is None else most)


def is_canonical(columns: Any) -> bool:
    """Whether columns have the names of the canonical form."""
    return any(needed <= set(columns) for needed in _CANONICAL)


@dataclass(frozen=True, eq=False)
class Planned:
    """A table in canonical columns that a plan made, and how it is read."""

    table: TextTable
    scores: bool
    options: ReadOptions


def as_table(plan: Evidence, options: ReadOptions, origin: TextTable | None) -> Planned:
    """The rows of an admitted plan as a table of canonical columns.

    origin : the table that the plan is of, whose rows keep their numbers and what of them could
        not be read.
    """
    assert plan.table is not None
    rows = rows_of(plan, people_as_gold=True)
    scores = plan.form == "scores"
    known = SCORES.names if scores else VOTE_COLUMNS
    rejects = Rejects()
    number = np.arange(plan.rows + 1)
    if origin is not None and len(origin.row) == plan.rows:
        number[1:] = origin.row
        rejects = copy.deepcopy(origin.rejects)
    # What was left out around the table, and in what it was written.
    above = origin.notes if origin is not None else ()
    lost = len({row for row, *_ in rows.rejected}) + len(rejects)
    for row, column, cell, why in rows.rejected:
        rejects.add(int(number[row]), column, cell, why)
    columns = {name: encode_cells(cells) for name, cells in rows.columns.items()}
    columns |= _others(plan, rows, known, origin)
    mapping = tuple((name, name if name in columns else "") for name in known)
    mapping = tuple((name, theirs) for name, theirs in mapping if theirs or name not in _FILLED)
    said = {role: text for role, text in options.mapping if text.startswith("=")}
    mapping = tuple((name, said.get(name, theirs)) for name, theirs in mapping)
    table = TextTable(
        columns=columns,
        row=number[np.array(rows.row, dtype=np.int64)].astype(np.int32),
        rejects=rejects,
        rows=len(rows.row) + lost,
        notes=tuple(dict.fromkeys((*above, *plan.sentences(), *plan.notes, *rows.notes))),
    )
    plain = replace(
        ReadOptions(),
        mapping=mapping,
        dataset=options.dataset,
        rater_type=options.rater_type,
        lower_is_better=tuple(dict.fromkeys((*options.lower_is_better, *plan.lower_is_better))),
        max_bytes=options.max_bytes,
        version=options.version,
        # What names a place was turned to the name of the answer.
        label_refers=None if scores else "model",
    )
    return Planned(table, scores, plain)


_FILLED = frozenset({"dataset", "rater_type", "status", "run", "repeat"})


def _others(
    plan: Evidence, rows: Rows, known: tuple[str, ...], origin: TextTable | None
) -> dict[str, Cells]:
    """Columns without a role, beside each judgement of their row."""
    import pyarrow as pa

    assert plan.table is not None
    unused = [each.name for each in plan.columns if each.role == "not used"]
    version = plan.version.name if plan.version is not None else ""
    here = [
        name
        for name in unused
        if (name not in known or name == version) and name in plan.table.columns
    ]
    if origin is not None and len(plan.table.rows) < plan.rows:
        # A plan of some rows for all.
        places = pa.array(np.array(rows.row, np.int64) - 1)
        return {name: origin.columns[name].take(places) for name in here}
    at = {name: plan.table.columns.index(name) for name in here}
    cells = plan.table.rows
    return {name: encode_cells([cells[row - 1][i] for row in rows.row]) for name, i in at.items()}


PLAN = "plan"
"""Layout of an inspection of a file that is read by a plan."""
_MEANT = {"item": "item_id", "person's": "gold", "not used": ""}
"""Roles of a plan that have another name among the canonical columns."""


class PlanAsks(AmbiguousLabels):
    """A plan leaves open what only the owner of the file knows."""

    def __init__(self, plan: Evidence, name: str) -> None:
        self.plan = plan
        asked = " ".join(
            f"{question.text} "
            + "; ".join(f"{option} ({meaning})" for option, meaning in question.choices)
            + "."
            for question in plan.questions
        )
        # Names of columns are values, in which a brace means itself.
        super().__init__("{name}: {asked}", name=name, asked=asked)


def mapping_of(plan: Evidence) -> dict[str, str]:
    """Canonical column → the file's; several that are read alike stand together."""
    verdict = "score" if plan.form == "scores" else "vote"
    mapping: dict[str, str] = {}
    for column in plan.columns:
        role = _MEANT.get(column.role, verdict if column.role == "judge's" else column.role)
        if role:
            mapping[role] = f"{mapping[role]}, {column.name}" if role in mapping else column.name
    return mapping


def look(plan: Evidence, name: str, notes: Sequence[str] = ()) -> Inspection:
    """What a file looks like that a plan reads, or asks about."""
    assert plan.table is not None
    cells = plan.table.rows[:20]
    return Inspection(
        name=name,
        format=DIRECT.format if plan.form == "scores" else "canonical",
        layout=PLAN,
        kind=plan.form or "votes",
        columns=tuple(plan.table.columns),
        head=tuple(tuple(cell or "" for cell in row) for row in cells),
        mapping=mapping_of(plan),
        roles={column.name: column.role for column in plan.columns},
        questions=tuple(
            Question(option=PLAN, text=asked.text, choices=asked.choices)
            for asked in plan.questions
        ),
        notes=tuple(notes) or tuple(plan.sentences()),
    )


def answered(words: str) -> ReadOptions:
    """The options that answers say, as they are typed (`--label-refers slot`)."""
    parser = argparse.ArgumentParser(add_help=False)
    add_flags(parser, ReadOptions)
    return from_flags(ReadOptions, parser.parse_args(shlex.split(words)))


def facts(result: ImportResult) -> tuple[object, ...]:
    """What two readings must share to be the same one."""
    votes = result.votes
    n = votes.num_rows

    def column(name: str) -> list[Any]:
        return votes[name].to_pylist() if name in votes.column_names else [None] * n

    kinds = column("rater_type")
    people = [kind == "human" for kind in kinds]
    value = column("score" if result.kind == "scores" else "vote")

    def of(values: list[Any], *, human: bool) -> list[str]:
        pairs = zip(values, people, strict=True)
        return sorted(str(v) for v, theirs in pairs if v is not None and theirs == human)

    gold = column("gold")
    order = column("position")
    return (
        result.kind,
        len(set(of(column("judge"), human=False))),
        len(set(of(column("judge"), human=True))),
        len(set(column("item_id"))),
        sorted(
            str(v) for v, human in zip(value, people, strict=True) if v is not None and not human
        ),
        sorted(str(v) for v, human in zip(value, people, strict=True) if v is not None and human),
        sorted(str(v) for v in gold if v is not None),
        sorted(str(v) for v in order if v is not None),
        len(set(column("metric"))),
        sorted({str(v or 0) for v in column("lower_is_better")}),
        sorted({str(v) for name in ("model_a", "model_b", "model") for v in column(name) if v}),
    )


def of_people(result: ImportResult) -> bool:
    """Whether all judgements of a reading are people's."""
    votes = result.votes
    return "rater_type" in votes.column_names and votes["rater_type"].unique().to_pylist() == [
        "human"
    ]


def names_stand(
    table: TextTable,
    result: ImportResult | None,
    options: ReadOptions,
    error: Exception | None,
    *,
    flat: bool,
) -> bool:
    """Whether a reading by names is taken without a plan: its names are canonical and each cell can
    be read or one is asked about, they are those of a tool's output, it is of people alone, its
    scores are probabilities of a pass, or options say how it is read.

    flat : the file is a table, and not objects in which one has to be looked for.
    """
    if result is None:
        asks = isinstance(error, AmbiguousLabels)
        return asks and flat and is_canonical(table.columns)
    if table.one_hot:
        # A row of no or of two winners is rejected by its number.
        return True
    if options.mapping or options.metrics or options.rater_type is not None:
        whole = 2 * result.judged.lost <= result.judged.rows and not result.gold_only
        return whole and not by_evidence(options)
    if result.mapping.get("judge", "").removeprefix("=") in TOOLS:
        return True
    whole = not result.rejects.num_rows
    chances = plain(result.mapping.get("score", "")) in CHANCES
    return whole and (chances or bool(of_people(result)) or is_canonical(table.columns))


def by_evidence(options: ReadOptions) -> bool:
    """Whether an option is one that only a plan knows."""
    names = ("orders", "runs", "people", "position", "unit", "unused", "file_table")
    return any(getattr(options, name) for name in names)


def people_in(result: ImportResult) -> int:
    """How many people a reading hears, gold being one."""
    votes = result.votes
    names = {
        name
        for name, kind in zip(
            votes["judge"].to_pylist(), votes["rater_type"].to_pylist(), strict=True
        )
        if kind == "human"
    }
    return len(names) or int("gold" in votes.column_names and votes["gold"].null_count < len(votes))


def _beside(result: ImportResult) -> int:
    """How much a reading keeps beside judgements: questions, answers, reasons and confidences."""
    return sum(
        len(result.votes) - result.votes[name].null_count
        for name in ("prompt", "response", "response_a", "response_b", "rationale", "confidence")
        if name in result.votes.column_names
    )


def is_better(plan: ImportResult, names: ImportResult, table: TextTable) -> bool:
    """Whether the reading of a plan is taken before one by names that is not the same.

    Of two that are the same it is taken where names name no judge or lose texts or confidences.
    Else it is not where it makes a judge of somebody whom names call a person, where it hears
    people alone and names say who judged, nor where names are canonical and it reads no more rows.
    """
    if facts(plan) == facts(names):
        # A name that the file has stands before that of the file.
        named = plan.votes["judge"].unique().to_pylist() != [stem_of(names.name)]
        return (named and names_nobody(names)) or _beside(plan) > _beside(names)
    alone = of_people(plan) > of_people(names) and not names_nobody(names)
    if people_in(plan) < people_in(names) or alone:
        return False
    return not is_canonical(table.columns) or plan.votes.num_rows > names.votes.num_rows
