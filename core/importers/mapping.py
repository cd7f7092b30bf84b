"""Which column of a table is what, and which layout it has: a row a vote, a column a judge, or two scores."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.importers.delimited import Sheet
from core.importers.options import SCORE_COLUMNS, ReadOptions
from core.labels import NUMERIC, candidates, normalise, shown, vocabulary
from core.votes import COLUMN_NAMES, UnknownName

SYNONYMS = {
    "item_id": (
        "item",
        "question_id",
        "prompt_id",
        "pair_id",
        "example_id",
        "instance_id",
        "sample_id",
        "id",
    ),
    "category": ("subset", "topic", "task"),
    "model_a": ("model_1", "model1", "generator_1", "system_a"),
    "model_b": ("model_2", "model2", "generator_2", "system_b"),
    "judge": ("judge_model", "rater", "annotator", "evaluator", "judge_name"),
    "run": ("repetition",),
    "position": ("first_shown", "shown_first"),
    "vote": ("winner", "verdict", "decision", "preference", "preferred", "choice", "label"),
    "confidence": ("judge_confidence", "confidence_score", "score_confidence", "conf", "certainty"),
    "gold": (
        "gold_label",
        "ground_truth",
        "human_label",
        "human_says",
        "human_verdict",
        "human_vote",
        "human_winner",
        "human_choice",
        "human_preference",
        "true_label",
        "correct_answer",
    ),
    "prompt": ("instruction", "question"),
    "response_a": ("output_1", "response1", "response_1", "answer_a"),
    "response_b": ("output_2", "response2", "response_2", "answer_b"),
    "rationale": ("reasoning", "explanation"),
    "score_a": ("score_1", "score1", "rating_a"),
    "score_b": ("score_2", "score2", "rating_b"),
}
"""Other names of canonical columns, tried in this order where the canonical name itself is absent."""

_PERCENT = re.compile(r"[\s_]*(?:\(%\)|\[%\]|%)$")

FEW = 40
"""Columns named in a message, and distinct labels of a column that can be a judge's."""


def map_columns(
    columns: tuple[str, ...],
    name: str,
    options: ReadOptions,
    *,
    known: tuple[str, ...] = (*COLUMN_NAMES, *SCORE_COLUMNS),
    synonyms: Mapping[str, tuple[str, ...]] = SYNONYMS,
) -> tuple[dict[str, str], dict[str, str]]:
    """Canonical column → the file's, and canonical columns with one text in every row.

    Raises
    ------
    UnknownName : an option names a column that the file, or what it holds, has not.
    """
    for canonical, _ in options.mapping:
        if canonical not in known:
            raise UnknownName(
                f"{name}: --map {canonical!r}: what this file holds has no such column. "
                f"Known: {', '.join(known)}. Another --format may be meant."
            )
    mapping: dict[str, str] = {}
    constants: dict[str, str] = {}
    absent = {canonical for canonical, theirs in options.mapping if not theirs}
    for canonical, theirs in options.mapping:
        if canonical in absent:
            continue
        if theirs in columns:
            mapping[canonical] = theirs
        elif theirs.startswith("="):
            constants[canonical] = theirs[1:]
        else:
            raise UnknownName(
                f"{name}: --map {canonical}={theirs}: there is no column {shown(theirs)}. "
                f"Columns: {', '.join(shown(c) for c in columns[:FEW])}. "
                f"A text for every row is written --map {canonical}=={theirs}."
            )
    taken = {*mapping.values(), *options.judges}
    for canonical in known:
        if canonical in mapping or canonical in constants or canonical in absent:
            continue
        others = {*known} - {*SCORE_COLUMNS, canonical}
        for wanted in (canonical, *synonyms.get(canonical, ())):
            match = next((c for c in columns if plain(c) == wanted and c not in taken), None)
            if match is not None and plain(match) not in others:
                mapping[canonical] = match
                taken.add(match)
                break
    settled = mapping.keys() | constants.keys() | absent
    if "item_id" in known and "item_id" not in settled and (prompt := _prompt(columns, mapping, taken)):
        mapping["item_id"] = prompt
    return {canonical: mapping[canonical] for canonical in known if canonical in mapping}, constants


def _prompt(columns: tuple[str, ...], mapping: Mapping[str, str], taken: set[str]) -> str | None:
    """The column of prompts, which tells items apart where no column names them."""
    if "prompt" in mapping:
        return mapping["prompt"]
    names = ("prompt", *SYNONYMS["prompt"])
    return next((c for name in names for c in columns if plain(c) == name and c not in taken), None)


def plain(column: str) -> str:
    """Name of a column without case, blanks, hyphens and a sign of percent behind it."""
    return _PERCENT.sub("", column.strip().casefold()).replace(" ", "_").replace("-", "_")


def find_layout(
    sheet: Sheet, mapping: dict[str, str], name: str, options: ReadOptions
) -> tuple[str, tuple[str, ...]]:
    for judge in options.judges:
        if judge not in sheet.columns:
            raise UnknownName(
                f"{name}: there is no column {shown(judge)} for a judge. "
                f"Columns: {', '.join(shown(c) for c in tuple(sheet.columns)[:FEW])}."
            )
    layout = options.layout
    judges: tuple[str, ...] = ()
    if layout == "auto":
        if set(SCORE_COLUMNS) <= mapping.keys() and "vote" not in mapping:
            layout = "scores"
        elif options.judges:
            layout = "wide"
        elif "vote" in mapping or "judge" in mapping or "item_id" not in mapping:
            layout = "long"
        else:
            judges = _label_columns(sheet, mapping, options)
            layout = "wide" if judges else "long"
    if layout == "wide":
        judges = options.judges or judges or _label_columns(sheet, mapping, options)
        for canonical in ("vote", "judge"):
            mapping.pop(canonical, None)
    if layout != "scores":
        for canonical in SCORE_COLUMNS:
            mapping.pop(canonical, None)
    return layout, judges


def _label_columns(sheet: Sheet, mapping: Mapping[str, str], options: ReadOptions) -> tuple[str, ...]:
    """Columns that hold labels of one vocabulary and nothing else.

    Numbers are labels only if there is a -1 or the vocabulary is given: 1 and 2 may well be a turn.
    """
    found = []
    for name, column in sheet.columns.items():
        if name in mapping.values() or not 0 < len(column.values) <= FEW:
            continue
        labels = {value: 1 for value in column.values if value.strip()}
        fitting = candidates(labels)
        telling = any(known not in NUMERIC for known in fitting) or "-1" in map(normalise, labels)
        if options.labels is not None:
            named = vocabulary(options.labels)
            telling = all(named.vote(label) is not None for label in labels)
        if labels and fitting and telling:
            found.append(name)
    return tuple(found)
