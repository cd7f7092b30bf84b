"""Tables with a column per metric, as Ragas, MLflow and many scripts of one's own write them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import UnknownName
from ..labels import GRADES, shown
from ..reading.words import ANSWERS, IDS, PROMPTS, SYNONYMS, meaning, tokens, who
from .columns import Cells, coded_cells, constant_cells, label_counts, map_cells
from .layouts import DIRECT, plain
from .options import ReadOptions
from .source import stem_of
from .tables import TextTable
from .values import is_number

RAGAS = {
    "faithfulness",
    "answer_relevancy",
    "response_relevancy",
    "context_precision",
    "context_recall",
    "context_entity_recall",
    "context_relevancy",
    "answer_similarity",
    "answer_correctness",
    "semantic_similarity",
    "factual_correctness",
    "noise_sensitivity",
    "harmfulness",
    "maliciousness",
    "coherence",
    "conciseness",
    "aspect_critic",
    "llm_context_precision_with_reference",
    "llm_context_precision_without_reference",
}
_OF_RAGAS = {"user_input", "retrieved_contexts", "contexts", "reference_contexts", "ground_truths"}
AGGREGATES = {"final", "overall", "total", "mean", "average", "avg", "aggregate", "sum", "weighted"}
"""Words in the names of columns that are made of other metrics."""
_FAMILIES = (
    ("/value", ("/rationale", "/reason")),
    ("_score", ("_reason", "_reasoning", "_rationale", "_explanation", "_feedback", "_comment")),
    (" score", (" reason", " reasoning", " rationale", " explanation")),
    ("", ("_reason", "_reasoning", "_rationale", "_explanation")),
)
"""Endings of a column of scores → those of the column of its reasons."""
_ASKED = (*PROMPTS, "query", "user_query")
_NO_METRIC = meaning(
    "number", "size", "call", "run", more="row top k n size chunk page label gold target"
)
"""Words in the names of columns of numbers that are no metrics."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Metrics:
    """The columns of metrics of a table. reasons : column of a metric → that of its reasons.

    left_out : columns that are made of others, or of no family.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    reasons: dict[str, str]
    left_out: tuple[str, ...] = ()


def named_metrics(table: TextTable, name: str, options: ReadOptions) -> Metrics:
    """The columns of metrics that an option names. Raises UnknownName: the file has not one."""
    for column in options.metrics:
        if column not in table.columns:
            raise UnknownName(
                "{option} {value!r}: {file} has no such column. Columns: {columns}.",
                option="metrics",
                value=column,
                file=name,
                columns=[shown(each) for each in table.columns],
            )
    found = _family(table)
    own = dict(zip(found.columns, found.names, strict=True)) if found else {}
    reasons = {c: r for c, r in (found.reasons if found else {}).items() if c in options.metrics}
    names = tuple(own.get(column, column) for column in options.metrics)
    return Metrics(columns=options.metrics, names=names, reasons=reasons)


def find_metrics(table: TextTable) -> Metrics | None:
    """The columns of metrics, if the table is one of answers with a column per metric.

    Metrics are columns `X_score` with `X_reason` (and the like) beside, and then only these; else
    columns of numbers, none of which is people's, in a table that has a column of prompts and one
    of answers or items.
    """
    names = {plain(column) for column in table.columns}
    about = bool(names & {*_ASKED}) and bool(names & {*ANSWERS, *IDS})
    family = _family(table)
    if family is not None and (len(family.columns) > 1 or about):
        return family
    if not about or "score" in names:
        return None
    numbers = [c for c in table.columns if _is_metric(c) and _is_numeric(table.columns[c])]
    if any("person" in who(column) for column in numbers):
        return None
    known = [c for c in numbers if plain(c) in RAGAS]
    if not known and len(numbers) < 2:
        return None
    empty = [c for c in table.columns if plain(c) in RAGAS and c not in numbers]
    left = tuple(c for c in numbers if set(tokens(c)) & AGGREGATES)
    chosen = tuple(c for c in table.columns if c in (*numbers, *empty) and c not in left)
    return Metrics(columns=chosen, names=chosen, reasons={}, left_out=left) if chosen else None


def _family(table: TextTable) -> Metrics | None:
    by_plain = {column.casefold(): column for column in reversed([*table.columns])}
    for score, reasons in _FAMILIES:
        found: dict[str, tuple[str, str]] = {}
        for column in table.columns:
            bare = column.casefold()
            stem = bare.removesuffix(score)
            if score and stem == bare:
                continue
            reason = next((by_plain[stem + r] for r in reasons if stem + r in by_plain), None)
            if reason and stem and _is_metric(column) and _is_scored(table.columns[column]):
                found[column] = (column[: len(stem)], reason)
        if not found:
            continue
        others = tuple(
            column
            for column in table.columns
            if column not in found
            and (column.casefold().endswith(score) if score else set(tokens(column)) & AGGREGATES)
            and _is_scored(table.columns[column])
        )
        if score == "/value":
            # MLflow writes a rationale only where there is one; an expectation is no number.
            found |= {column: (column[: -len(score)], "") for column in others}
            others = ()
        order = [column for column in table.columns if column in found]
        return Metrics(
            columns=tuple(order),
            names=tuple(found[column][0] for column in order),
            reasons={column: found[column][1] for column in order if found[column][1]},
            left_out=others,
        )
    return None


def _is_metric(column: str) -> bool:
    return not set(tokens(column)) & _NO_METRIC and plain(column) not in {*_ASKED, *ANSWERS, *IDS}


def _is_scored(cells: Cells) -> bool:
    """Whether a column holds numbers, or words such as yes and no."""
    counts = label_counts(cells)
    return bool(counts) and (
        _is_numeric(cells) or {label.casefold() for label in counts} <= _YES_AND_NO
    )


def _is_numeric(cells: Cells) -> bool:
    counts = label_counts(cells)
    numbers = sum(n for label, n in counts.items() if is_number(label))
    there = sum(n for label, n in counts.items() if label.casefold() not in _NONE)
    return bool(numbers) and numbers == there


_YES_AND_NO = {"yes", "no", "true", "false", "pass", "fail"}
_NONE = {"nan", "none", "null", "n/a", "na", "error"}


def in_long_form(table: TextTable, metrics: Metrics) -> TextTable:
    """A row per answer and metric, with the columns `metric`, `score` and, where there are reasons,
    `rationale`. A metric that an answer has no number of is there without one.
    """
    import pyarrow as pa

    n, m = len(table.row), len(metrics.columns)
    take = np.repeat(np.arange(n), m)
    which = np.tile(np.arange(m), n)
    scores = [map_cells(table.columns[column], _as_number) for column in metrics.columns]
    used = {*metrics.columns, *metrics.reasons.values()}
    long = {
        column: cells.take(pa.array(take))
        for column, cells in table.columns.items()
        if column not in used
    }
    long["metric"] = coded_cells(which, list(metrics.names))
    long["score"] = _interleaved(scores)
    if metrics.reasons:
        none = constant_cells(None, n)
        own = [metrics.reasons.get(column) for column in metrics.columns]
        long["rationale"] = _interleaved([table.columns[r] if r else none for r in own])
    said = ", ".join(map(shown, metrics.names[:12])) + (" …" if m > 12 else "")
    notes = [
        *table.notes,
        f"One column per metric: {said}. A blank cell is a score that is missing.",
    ]
    if metrics.left_out:
        left = ", ".join(map(shown, metrics.left_out[:12]))
        notes.append(f"Left out, as made of other metrics or without reasons: {left}.")
    return replace(table, columns=long, row=table.row[take], notes=tuple(notes))


def _as_number(text: str) -> str | None:
    """A cell of a metric, with a word such as yes as its number; None where there is none."""
    word = text.strip().casefold()
    if word in _NONE:
        return None
    return f"{GRADES[word]:g}" if word in _YES_AND_NO else text


def _interleaved(columns: list[Cells]) -> Cells:
    """Cells of several columns row by row: the first cell of each, then the second."""
    import pyarrow as pa

    n, m = len(columns[0]), len(columns)
    whole = pa.chunked_array([column.cast(pa.string()) for column in columns])
    order = np.arange(n * m).reshape(m, n).T.ravel()
    return whole.combine_chunks().take(pa.array(order)).dictionary_encode()


def judged_by(table: TextTable, metrics: Metrics, name: str, options: ReadOptions) -> ReadOptions:
    """The options with what a table of metrics does not say: who judged, and what was asked.

    The judge is called as the tool that the columns are of, or else as the file is.
    """
    told = {canonical for canonical, _ in options.mapping}
    mapping = list(options.mapping)
    names = {plain(column): column for column in table.columns}
    if "judge" not in told and not names.keys() & {"judge", *SYNONYMS["judge"]}:
        known = bool({plain(column) for column in metrics.columns} & RAGAS)
        mlflow = any(column.endswith("/value") for column in metrics.columns)
        ragas = known and bool(names.keys() & _OF_RAGAS)
        tool = "ragas" if ragas else "mlflow" if mlflow else None
        judge = tool or stem_of(name)
        mapping.append(("judge", f"={judge}"))
    asked = next((names[each] for each in _ASKED if each in names), None)
    if asked is not None:
        mapping += [("prompt", asked)] if "prompt" not in told else []
        if "item_id" not in told and not names.keys() & {*IDS}:
            mapping.append(("item_id", asked))
    return replace(options, mapping=tuple(mapping), format=DIRECT.format, metrics=())


def offered(table: TextTable, metrics: Metrics) -> tuple[tuple[str, bool], ...]:
    """Columns that may be metrics, and whether each is taken for one."""
    left = (column for column in table.columns if column not in metrics.columns)
    others = [column for column in left if _is_numeric(table.columns[column])]
    return (*((c, True) for c in metrics.columns), *((c, False) for c in others))
