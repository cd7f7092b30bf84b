"""Labels of people that lie in another file, joined to a log by an id or by the texts.

A log of an evaluation tool holds what a judge said; what people say of the same answers is often in
a spreadsheet. `join_labels` makes of such a sheet readings that are loaded beside the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UnknownName, UnreadableFile
from ..importers.columns import text_hash
from ..importers.layouts import DIRECT, SIDES, plain
from ..importers.options import ReadOptions
from ..labels import shown
from ..reading.words import PROMPTS, SYNONYMS
from ..schema import FORMS, ImportResult, Kind
from .labelled_rows import (
    ANSWERS,
    NOBODY,
    Row,
    Said,
    Sheet,
    read_sheet,
    readings_of,
    scores_of,
    votes_of,
)

NAMED_MISSES = 8
"""Labels without an answer that the sentence names."""
_IDS = ("answer_id", "id", "item_id", *DIRECT.synonyms["item_id"])
_PROMPTS = (*PROMPTS, "query", "task")
_RESPONSES = ("response", *DIRECT.synonyms["response"], "completion", "actual_output")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JoinedLabels:
    """What became of a sheet of labels.

    said : people's labels, one row per person, answer and metric.
    labels : filled cells of the sheet. found : those whose answer is in the log.
    missed : (row of the sheet, its key) of the others.
    by : the sheet's column of keys, or `texts`.
    """

    sheet: Sheet
    said: Said
    labels: int
    found: int
    missed: tuple[tuple[int, str], ...]
    by: str

    @property
    def readings(self) -> tuple[ImportResult, ...]:
        """Them in canonical form, to be loaded after the log. Of scores: `rater_type` human. Of
        votes: gold per comparison (the most frequent label; none where no one is), and a vote per
        person where there are several.
        """
        return tuple(readings_of([(self.sheet, self.said)])[0])

    @property
    def sentence(self) -> str:
        """How many labels found their answer, and which did not."""
        by = "by their texts" if self.by == "texts" else f"by column {shown(self.by)}"
        said = f"{self.found:,} of {self.labels:,} labels found their answer {by}"
        if not self.missed:
            return f"{said}."
        first = ", ".join(
            f"row {row} ({shown(key, 40)})" for row, key in self.missed[:NAMED_MISSES]
        )
        more = len(self.missed) - NAMED_MISSES
        return f"{said}; {len(self.missed):,} did not: {first}{f' and {more:,} more' * (more > 0)}."


def answer_key(*cells: str | None) -> str:
    """Key of an answer that names neither its model nor its judge, for a blind sheet.

    cells : those of `ANSWERS[kind]`, in that order. A sheet with such keys in a column `answer_id`,
    `id` or `item_id` is joined by them.
    """
    return text_hash(*(cell or "" for cell in cells))


def join_labels(
    readings: Sequence[ImportResult],
    sheet: tuple[str, bytes | Path],
    options: ReadOptions | None = None,
    *,
    key: str | None = None,
    person: str = NOBODY,
) -> JoinedLabels:
    """Join the labels of a sheet to the answers of a log.

    sheet : name and content of a CSV, JSON or Parquet file with a column that names the answers
        (`answer_id`, `id`, `item_id` …, beside `model` or `model_a` and `model_b` where those tell
        answers apart), or with the texts of question and answer; and columns of labels: `label`,
        `human…`, one per person, or one per metric. Rows without a label are left out.
    key : the sheet's column that names answers. It is compared with the log's column of the same
        name, else with its items, else with `answer_key`.
    options : `labels` or `gold_labels` say the vocabulary of labels of two answers.
    person : who labelled, where the sheet names nobody.

    Raises UnreadableFile: no sheet; no column of labels or keys; a key that stands for several
    answers of the log, or twice in the sheet with other labels; no label that finds its answer.
    AmbiguousLabels: what labels mean is open. UnknownName: there is no column `key`.
    """
    options = options or ReadOptions()
    name, data = sheet
    logs = [log for log in readings if log.kind in ANSWERS and not log.gold_only]
    if not logs:
        raise UnreadableFile(f"{name}: there are no votes or scores that its labels could be of.")
    rows = read_sheet(name, data, options, logs, key, person)
    keys = _keys(rows, logs, key)
    matched = keys.matched()
    hit = {number for number, _, _ in matched}
    make = scores_of if keys.kind == "scores" else votes_of
    labels = [(k, cell) for k, row in enumerate(rows.rows) for cell in row.labels.values() if cell]
    found = sum(k in hit for k, _ in labels)
    missed = tuple((row.number, keys.shown(row)) for k, row in enumerate(rows.rows) if k not in hit)
    joined = JoinedLabels(
        sheet=rows,
        said=make(rows, matched, logs, options),
        labels=len(labels),
        found=found,
        missed=missed,
        by=keys.by,
    )
    if not hit:
        few = ", ".join(shown(key, 40) for _, key in missed[:3])
        how = "by the texts" if keys.by == "texts" else f"by column {shown(keys.by)}"
        raise UnreadableFile(
            f"{name}: no label finds its answer {how}: {few} … are not in the log. Name the column "
            "that names its answers with --key COLUMN."
        )
    return joined


@dataclass(slots=True, eq=False, kw_only=True)
class _Keys:
    """Which answer each row of the sheet is of.

    kind : of the logs that hold the answers.
    answers : key → the rows of logs that it stands for, as (log, row, turned).
    """

    sheet: Sheet
    kind: Kind
    by: str
    key_of: Callable[[Row], tuple[str, ...]]
    answers: dict[tuple[str, ...], list[tuple[int, int, bool]]] = field(default_factory=dict)

    def shown(self, row: Row) -> str:
        """The key of a row as messages show it."""
        return " / ".join(self.key_of(row))

    def matched(self) -> list[tuple[int, Row, list[tuple[int, int, bool]]]]:
        """Rows of the sheet, by their place, with the rows of logs that they are of."""
        keys = map(self.key_of, self.sheet.rows)
        found = zip(self.sheet.rows, (self.answers.get(key, []) for key in keys), strict=True)
        return [(k, row, where) for k, (row, where) in enumerate(found) if where]


def _keys(sheet: Sheet, logs: Sequence[ImportResult], key: str | None) -> _Keys:
    """The way in which most labels find their answers.

    Raises UnreadableFile: a key stands for several answers, or twice in the sheet.
    """
    if key is not None and key not in sheet.names.values():
        raise UnknownName(
            "{option} {value!r}: {file} has no such column. Columns: {columns}.",
            option="key",
            value=key,
            file=sheet.name,
            columns=[shown(column) for column in sheet.names.values()],
        )
    ids = [key] if key else [sheet.names[each] for each in _IDS if each in sheet.names]
    kinds = [kind for kind in ANSWERS if any(log.kind == kind for log in logs)]
    # More exact keys come first, and only more labels that are found speak for another.
    tried = [
        _by_column(sheet, logs, kind, column, source, models)
        for column in ids
        for kind in kinds
        for source in (column, "item_id")
        for models in (_models(sheet, kind), ())
    ]
    tried += [_by_column(sheet, logs, kind, column, None, ()) for column in ids for kind in kinds]
    if key is None:
        tried += [_by_texts(sheet, logs, kind) for kind in kinds]
    possible = [keys for keys in tried if keys is not None]
    if not possible:
        raise UnreadableFile(
            f"{sheet.name}: line 1: no column names the answers, and there are no columns of their "
            "texts. Name it with --key COLUMN."
        )
    possible = [keys for keys in possible if keys.matched()] or possible[:1]
    possible.sort(key=lambda keys: -len(keys.matched()))
    problems = [_repeated(keys, logs) for keys in possible]
    if problems[0] is not None and (key or all(problems)):
        raise problems[0]
    return possible[problems.index(None)]


def _models(sheet: Sheet, kind: Kind) -> tuple[tuple[str, str], ...]:
    """Columns of models that the sheet has: canonical, and its own."""
    found = (
        (name, sheet.column((name, *DIRECT.synonyms.get(name, ()), *SYNONYMS.get(name, ()))))
        for name in ANSWERS[kind][2:]
    )
    return tuple((name, own) for name, own in found if own)


def _by_column(
    sheet: Sheet,
    logs: Sequence[ImportResult],
    kind: Kind,
    column: str,
    source: str | None,
    models: tuple[tuple[str, str], ...],
) -> _Keys | None:
    """Keys of a column of the sheet against that of the logs, or against `answer_key`."""
    beside = tuple(own for _, own in models)
    keys = _Keys(
        sheet=sheet,
        kind=kind,
        by=column,
        key_of=lambda row: (row.cells[column], *(row.cells[own] for own in beside)),
    )
    for number, log in enumerate(logs):
        values = None
        if log.kind == kind:
            values = _cells(log, source) if source else _answer_keys(log)
        if values is None:
            continue
        others = [log.votes[name].to_pylist() for name, _ in models]
        for row, cells in enumerate(zip(values, *others, strict=True)):
            if cells[0]:
                named = tuple(cell or "" for cell in cells)
                keys.answers.setdefault(named, []).append((number, row, False))
    return keys if keys.answers else None


def _cells(log: ImportResult, column: str) -> list[str | None] | None:
    """Cells of a log by the name of its column: canonical, the file's own, or another."""
    names = {name: name for name in FORMS[log.kind].names}
    names |= {theirs: name for name, theirs in log.mapping.items() if not theirs.startswith("=")}
    wanted = {plain(theirs): name for theirs, name in names.items()}.get(plain(column))
    if wanted is not None:
        return [None if cell is None else str(cell) for cell in log.votes[wanted].to_pylist()]
    others = [dict(pairs or ()) for pairs in log.votes["extra"].to_pylist()]
    if not any(column in each for each in others):
        return None
    return [each.get(column) for each in others]


def _answer_keys(log: ImportResult) -> list[str]:
    columns = (log.votes[name].to_pylist() for name in ANSWERS[log.kind])
    return [answer_key(*cells) for cells in zip(*columns, strict=True)]


def _by_texts(sheet: Sheet, logs: Sequence[ImportResult], kind: Kind) -> _Keys | None:
    """Keys of the exact texts of question and answer; of two answers in either order."""
    wanted = {
        "prompt": _PROMPTS,
        **({"response": _RESPONSES} if kind == "scores" else {}),
        **({side: (side, *SYNONYMS[side]) for side in SIDES[2:]} if kind == "votes" else {}),
    }
    used = {name: own for name, others in wanted.items() if (own := sheet.column(others))}
    if used.keys() - {"prompt"} != wanted.keys() - {"prompt"}:
        return None
    columns = list(used.values())
    keys = _Keys(
        sheet=sheet,
        kind=kind,
        by="texts",
        key_of=lambda row: tuple(_text(row.cells[own]) for own in columns),
    )
    for number, log in enumerate(logs):
        if log.kind != kind:
            continue
        cells = zip(*(log.votes[name].to_pylist() for name in used), strict=True)
        for row, texts in enumerate(cells):
            said = tuple(_text(text or "") for text in texts)
            keys.answers.setdefault(said, []).append((number, row, False))
            if kind == "votes" and said[-1] != said[-2]:
                turned = (*said[:-2], said[-1], said[-2])
                keys.answers.setdefault(turned, []).append((number, row, True))
    return keys if keys.answers else None


def _text(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _repeated(keys: _Keys, logs: Sequence[ImportResult]) -> UnreadableFile | None:
    """Why keys do not tell answers apart, or labels contradict each other; None if neither is so.

    Equal texts are equal answers, whoever wrote them.
    """
    name = keys.sheet.name
    for _, row, where in keys.matched() if keys.by != "texts" else ():
        answers = {
            tuple(logs[log].votes[column][i].as_py() for column in ANSWERS[keys.kind])
            for log, i, _ in where
        }
        if len(answers) > 1:
            few = "; ".join(" / ".join(map(str, each[1:])) for each in sorted(answers, key=str)[:3])
            return UnreadableFile(
                f"{name}: row {row.number}, column {shown(keys.by)}: {shown(keys.shown(row), 40)} "
                f"stands for {len(answers):,} answers of the log ({few}), so it cannot be said "
                "which is meant. Add the column of their models, or name another column with "
                "--key COLUMN."
            )
    seen: dict[tuple[object, ...], Row] = {}
    for row in keys.sheet.rows:
        who = row.cells[keys.sheet.who] if keys.sheet.who else ""
        first = seen.setdefault((keys.key_of(row), who), row)
        if first is not row and first.labels != row.labels:
            return UnreadableFile(
                f"{name}: rows {first.number} and {row.number}, column {shown(keys.by)}: "
                f"{shown(keys.shown(row), 40)} has two labels. Keep one, or name the people in a "
                "column person."
            )
    return None
