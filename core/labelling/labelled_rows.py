"""A sheet of people's labels: its columns, and the scores and gold that its labels are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import AmbiguousLabels, UnreadableFile
from ..importers.arrow_tables import read_parquet
from ..importers.columns import Cells, label_counts, text_hash
from ..importers.json_tables import read_records, table_of_records
from ..importers.layouts import plain
from ..importers.options import ReadOptions
from ..importers.raters import whose
from ..importers.source import open_source
from ..importers.tables import TextTable, read_delimited
from ..importers.values import BadCell, is_number, parse_float
from ..labels import GRADES, NAMES, candidates, decide, grade_word, normalise, shown
from ..labels import vocabulary as vocabulary_named
from ..reading.words import LABELLED, LABELLED_BY, TIE_WORDS, UNGRADED
from ..schema import FORMS, REJECT_SCHEMA, ImportResult, Kind

ANSWERS: dict[Kind, tuple[str, ...]] = {
    "scores": ("dataset", "item_id", "model"),
    "votes": ("dataset", "item_id", "model_a", "model_b"),
}
"""Columns that tell one answer, or one comparison, from another."""
_NOBODY = {*LABELLED, "human_score", "human_passed", "rating", "grade"}
"""Columns of labels whose name is nobody's."""
NOBODY = "human"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the sheet with a label. labels : column → cell."""

    number: int
    cells: dict[str, str]
    labels: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The sheet's rows that have labels. who : column of people. names : plain → own name.
    person : who labelled, where neither a column nor its name says so.
    """

    name: str
    rows: list[Row]
    columns: tuple[str, ...]
    who: str | None
    names: dict[str, str]
    person: str = NOBODY

    def column(self, wanted: Iterable[str]) -> str | None:
        """The first of these columns that the sheet has and that holds no labels."""
        return next(
            (
                self.names[each]
                for each in wanted
                if self.names.get(each) not in (None, *self.columns)
            ),
            None,
        )


def _says(column: Cells) -> bool:
    """Whether cells are grades, numbers or verdicts, and not names of people."""
    words = label_counts(column)
    known = [word for word in words if grade_word(word) in {*GRADES, *UNGRADED} or is_number(word)]
    return len(known) == len(words) or bool(candidates(words))


def _table(name: str, data: bytes | Path, options: ReadOptions) -> TextTable:
    source = open_source(name, data, options.max_bytes)
    if source.kind == "json":
        return table_of_records(read_records(source), name)
    return (
        read_parquet(source, options.max_bytes)
        if source.kind == "parquet"
        else read_delimited(source)
    )


def read_sheet(
    name: str,
    data: bytes | Path,
    options: ReadOptions,
    logs: Sequence[ImportResult],
    key: str | None,
    person: str = NOBODY,
) -> Sheet:
    """The rows of a file that have labels. Raises UnreadableFile: there are none."""
    table = _table(name, data, options)
    names = {plain(column): column for column in reversed(table.columns)}
    metrics = {*map(plain, _metrics(logs))}
    free = [column for column in table.columns if column != key]
    of_metrics = [c for c in free if plain(c).removeprefix("human_") in metrics - {"score"}]
    told = ((column, whose(column)) for column in free)
    plainly = (column for column, said in told if said and said.plain and said.of == "people")
    of_people = [column for column in plainly if _says(table.columns[column])]
    said = [c for c in free if plain(c) in LABELLED]
    labels = of_metrics or of_people or said[:1]
    if not labels:
        raise UnreadableFile(
            f"{name}: line 1: no column of labels. Call it label, human_label, or as the metric is "
            f"called. Columns: {', '.join(map(shown, table.columns))}."
        )
    cells = {c: table.columns[c].to_pylist() for c in table.columns}
    rows = []
    for i, number in enumerate(table.row):
        row = {c: (values[i] or "").strip() for c, values in cells.items()}
        filled = {c: row[c] for c in labels if row[c]}
        if filled:
            rows.append(Row(number=int(number), cells=row, labels=filled))
    if not rows:
        raise UnreadableFile(
            f"{name}: column {shown(labels[0])}: no row has a label yet. Fill some, and leave the "
            "others empty."
        )
    who = next((names[w] for w in LABELLED_BY if names.get(w) not in (None, *labels, key)), None)
    return Sheet(name=name, rows=rows, columns=tuple(labels), who=who, names=names, person=person)


Found = Sequence[tuple[int, Row, list[tuple[int, int, bool]]]]


def _person(sheet: Sheet, row: Row, column: str, *, of_metric: bool) -> str:
    """Who labelled: the column of people, that of the label, or nobody in particular."""
    if sheet.who and row.cells[sheet.who]:
        return row.cells[sheet.who]
    return sheet.person if of_metric or plain(column) in _NOBODY else column


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the labels of a sheet say: rows of people, in canonical form."""

    kind: Kind
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()


def scores_of(
    sheet: Sheet, found: Found, logs: Sequence[ImportResult], options: ReadOptions
) -> Said:
    """People's scores of the answers that their labels found, of the metrics that those have."""
    kept = ("dataset", "item_id", "category", "model", "metric", "cluster", "length")
    scales = ("scale_low", "scale_high", "lower_is_better")
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    notes: set[str] = set()
    for _, row, where in found:
        for log, i, _ in where:
            about = {name: logs[log].votes[name][i].as_py() for name in (*kept, *scales)}
            metric = plain(about["metric"])
            named = {plain(column).removeprefix("human_"): column for column in row.labels}
            of_metric = bool({*named} & {*map(plain, _metrics(logs))} - {"score"})
            for column, label in row.labels.items():
                if of_metric and named.get(metric) != column:
                    continue
                who = _person(sheet, row, column, of_metric=of_metric)
                value, status = _grade(sheet, row, column, label)
                key = (about["dataset"], about["item_id"], about["model"], about["metric"], who)
                rows[key] = about | {
                    "judge": who,
                    "run": 0,
                    "score": value,
                    "status": status,
                    "rater_type": "human",
                }
    several = {key[3] for key in rows}
    if len(several) > 1 and not any(
        {plain(c).removeprefix("human_") for c in row.labels} & {*map(plain, several)}
        for _, row, _ in found
    ):
        notes.add(f"The sheet names no metric, so its labels are those of {len(several)} metrics.")
    return Said(kind="scores", rows=list(rows.values()), notes=tuple(sorted(notes)))


def _metrics(logs: Sequence[ImportResult]) -> set[str]:
    return {
        metric
        for log in logs
        if log.kind == "scores"
        for metric in log.votes["metric"].unique().to_pylist()
    }


def _grade(sheet: Sheet, row: Row, column: str, label: str) -> tuple[float | None, str]:
    """Score of a label: a word for good or bad, or a number."""
    word = grade_word(label)
    if word in UNGRADED:
        return None, UNGRADED[word]
    if word in GRADES:
        return float(GRADES[word]), "ok"
    try:
        return parse_float(label), "ok"
    except BadCell:
        raise UnreadableFile(
            f"{sheet.name}: row {row.number}, column {shown(column)}: {shown(label)} is no grade. "
            "Write pass or fail, or a number, or leave it empty."
        ) from None


def votes_of(
    sheet: Sheet, found: Found, logs: Sequence[ImportResult], options: ReadOptions
) -> Said:
    """People's votes on the comparisons that labels found."""
    read = _verdicts(sheet, logs, options)
    said: dict[tuple[Any, ...], dict[str, Any]] = {}
    for _, row, where in found:
        for log, i, turned in where:
            about = {name: logs[log].votes[name][i].as_py() for name in ANSWERS["votes"]}
            key = tuple(about.values())
            for column, label in row.labels.items():
                vote = read(row, column, label, key[2:])
                who = _person(sheet, row, column, of_metric=False)
                said[*key, who] = about | {
                    "judge": who,
                    "run": 0,
                    "vote": -vote if turned else vote,
                    "status": "ok",
                    "rater_type": "human",
                }
    return Said(kind="votes", rows=list(said.values()))


def readings_of(sheets: Sequence[tuple[Sheet, Said]]) -> tuple[list[ImportResult], int]:
    """What sheets say in canonical form, and how many comparisons are contested: people differ,
    and no vote has most of them, so that they have no gold.

    Of scores a reading for each sheet; of votes gold (the most frequent one), and a vote per person
    where there are several.
    """
    made = [
        _reading(sheet, "scores", said.rows, said.notes)
        for sheet, said in sheets
        if said.kind == "scores" and said.rows
    ]
    rows = [row for _, said in sheets if said.kind == "votes" for row in said.rows]
    if not rows:
        return made, 0
    sheet = sheets[0][0]
    by_comparison: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        by_comparison.setdefault(tuple(row[name] for name in ANSWERS["votes"]), []).append(row)
    gold, contested = [], 0
    for key, votes in by_comparison.items():
        vote = _mode(row["vote"] for row in votes)
        if vote is None:
            contested += 1
            continue
        about = dict(zip(ANSWERS["votes"], key, strict=True))
        gold.append(about | {"gold": vote, "rater_type": None, "status": None, "run": None})
    if len({row["judge"] for row in rows}) > 1:
        made.append(_reading(sheet, "votes", rows, []))
    if gold:
        made.append(_reading(sheet, "votes", gold, [], gold_only=True))
    return made, contested


def _mode(votes: Iterable[int]) -> int | None:
    """The most frequent vote; None where several are."""
    counts = Counter(votes)
    most = [vote for vote, n in counts.items() if n == max(counts.values())]
    return most[0] if len(most) == 1 else None


def _verdicts(
    sheet: Sheet, logs: Sequence[ImportResult], options: ReadOptions
) -> Callable[[Row, str, str, tuple[str, str]], int]:
    counts = Counter(label for row in sheet.rows for label in row.labels.values())
    models = frozenset(
        normalise(name)
        for log in logs
        if log.kind == "votes"
        for side in ("model_a", "model_b")
        for name in log.votes[side].unique().to_pylist()
    )
    chosen = options.gold_labels or options.labels
    try:
        how = (
            vocabulary_named(chosen)
            if chosen
            else decide(counts, column=sheet.columns[0], models=models)
        )
    except AmbiguousLabels as problem:
        raise AmbiguousLabels(problem.message.about("gold_labels").at(sheet.name)) from None

    def read(row: Row, column: str, label: str, pair: tuple[str, str]) -> int:
        vote = how.vote(label)
        if how.name == NAMES:
            word = normalise(label)
            names = [normalise(model) for model in pair]
            vote = 0 if word in TIE_WORDS else (1, -1)[names.index(word)] if word in names else None
        if vote is None:
            raise UnreadableFile(
                f"{sheet.name}: row {row.number}, column {shown(column)}: {shown(label)} is no "
                f"label of {how.name} ({how.meaning}). Correct it, or leave it empty."
            )
        return vote

    return read


def _reading(
    sheet: Sheet,
    kind: Kind,
    rows: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
    *,
    gold_only: bool = False,
) -> ImportResult:
    import pyarrow as pa

    form = FORMS[kind]
    schema = form.schema()
    columns = {
        column.name: pa.array(
            [row.get(column.name) for row in rows], schema.field(column.name).type
        )
        for column in form.columns
    }
    columns["extra"] = pa.array([[]] * len(rows), schema.field("extra").type)
    columns["row"] = pa.array(range(1, len(rows) + 1), pa.int64())
    return ImportResult(
        name=sheet.name,
        sha256=text_hash(sheet.name, *(str(row.cells) for row in sheet.rows)),
        format="labels",
        rows=len(sheet.rows),
        votes=pa.table(columns, schema=schema),
        rejects=pa.table({n: pa.array([], kind) for n, kind in REJECT_SCHEMA.items()}),
        duplicates=0,
        mapping={},
        notes=tuple(notes),
        gold_only=gold_only,
        kind=kind,
    )
