"""Decide how a table is to be read, and collect what only its owner knows as questions.

Which column of a table is what, and which layout it has: a row a vote, a column a judge, or two scores.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import AmbiguousLabels, AppellateError, UnknownName, UnreadableFile
from ..labels import (
    CANONICAL,
    NAMES,
    NUMERIC,
    VOCABULARIES,
    Vocabulary,
    candidates,
    decide,
    normalise,
    shown,
    vocabulary,
)
from ..schema import COLUMN_NAMES
from .columns import Coded, ConfidenceScale, confidence_scale, order_word
from .options import SCORE_COLUMNS, Question, ReadOptions
from .tables import Sheet

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


_REQUIRED = {
    "long": ("item_id", "judge", "vote"),
    "wide": ("item_id",),
    "scores": ("item_id", "judge", *SCORE_COLUMNS),
}


@dataclass(slots=True, eq=False, kw_only=True)
class Plan:
    """How a table will be read. `problems` are what stops `read`; each has a question for the browser."""

    layout: str
    mapping: dict[str, str]
    constants: dict[str, str]
    judges: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    labels: dict[str, int] = field(default_factory=dict)
    vocabulary: Vocabulary | None = None
    gold_vocabulary: Vocabulary | None = None
    scale: ConfidenceScale = "1"
    slots: bool = False
    unguard: bool = False
    gold_only: bool = False
    problems: list[AppellateError] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def refuse_open_questions(self, name: str) -> None:
        """Raise the first thing that only the user can settle."""
        for problem in self.problems:
            raise type(problem)(f"{name}: {problem}")


def plan(sheet: Sheet, name: str, options: ReadOptions) -> Plan:
    """Work out how to read a sheet, without raising for what is merely ambiguous.

    Raises
    ------
    UnknownName : an option names a column that the file has not.
    """
    mapping, constants = map_columns(tuple(sheet.columns), name, options)
    layout, judges = find_layout(sheet, mapping, name, options)
    used = {*mapping.values(), *judges}
    how = Plan(
        layout=layout,
        mapping=dict(mapping) | {canonical: f"={text}" for canonical, text in constants.items()},
        constants=constants,
        judges=judges,
        extra=tuple(column for column in sheet.columns if column not in used),
    )
    present = {*mapping, *constants}
    how.gold_only = layout == "long" and "gold" in present and not {"vote", "judge"} & present
    own_names = all(canonical == theirs for canonical, theirs in mapping.items())
    how.unguard = (
        sheet.delimited and own_names and not constants and {"item_id", "judge", "vote"} <= mapping.keys()
    )
    required = ("item_id", "gold") if how.gold_only else _REQUIRED[layout]
    how.missing = tuple(column for column in required if column not in present)
    renamed = [f"{theirs} as {canonical}" for canonical, theirs in mapping.items() if canonical != theirs]
    if renamed:
        how.notes.append(f"Columns read under another name: {', '.join(renamed)}.")
    if layout == "wide":
        how.notes.append(f"One column a judge: {', '.join(judges)}. Blank cells there are no votes.")
    if how.missing:
        _ask_for_columns(how, sheet)
        return how
    exported = tuple(sheet.columns)[: len(COLUMN_NAMES)] == COLUMN_NAMES
    _plan_labels(how, sheet, options, exported=exported)
    _plan_slots(how, sheet, options)
    if "confidence" in mapping:
        how.scale = _scale(how, sheet, options)
    return how


def _ask_for_columns(how: Plan, sheet: Sheet) -> None:
    columns = ", ".join(shown(c) for c in tuple(sheet.columns)[:FEW])
    wanted = " and ".join(how.missing)
    how.problems.append(
        UnreadableFile(
            f"line 1: no column for {wanted}. Columns: {columns}. Name it with --map "
            f"{how.missing[0]}=COLUMN, or give "
            f"one text for every row with --map {how.missing[0]}==TEXT."
        )
    )
    for canonical in how.missing:
        choices = tuple((c, f"column {c}") for c in sheet.columns)
        how.questions.append(
            Question(option=f"mapping:{canonical}", text=f"Which column is {canonical}?", choices=choices)
        )


def _plan_labels(how: Plan, sheet: Sheet, options: ReadOptions, *, exported: bool) -> None:
    models = frozenset(
        normalise(value)
        for c in ("model_a", "model_b")
        if c in how.mapping
        for value in _values(how, sheet, c)
    )
    both = {"model_a", "model_b"} <= {*how.mapping}
    if how.layout == "wide":
        for judge in how.judges:
            _add(how.labels, sheet.columns[judge])
    elif how.layout == "long" and not how.gold_only:
        _add(how.labels, _column(how, sheet, "vote"))
    if how.layout != "scores" and not how.gold_only:
        name = how.mapping.get("vote", " and ".join(how.judges))
        how.vocabulary = _choose(
            how,
            how.labels,
            name,
            options.labels,
            "labels",
            models=models if both else frozenset(),
            canonical=exported,
        )
    if "gold" in how.mapping:
        gold: dict[str, int] = {}
        _add(gold, _column(how, sheet, "gold"))
        if how.gold_only:
            how.labels = gold
        chosen = options.gold_labels or (options.labels if how.gold_only else None)
        same = how.vocabulary
        if (
            chosen is None
            and same
            and same.name != NAMES
            and all(same.vote(label) is not None for label in gold)
        ):
            how.gold_vocabulary = same
        elif chosen is None and same and same.name in NUMERIC and _numeric(gold):
            how.gold_vocabulary = same if same.name != CANONICAL else VOCABULARIES[CANONICAL]
        else:
            how.gold_vocabulary = _choose(
                how,
                gold,
                how.mapping["gold"],
                chosen,
                "gold_labels",
                models=models if both else frozenset(),
                # Scores and names leave gold as the only column of numbers: 0 and 1 then stay a question.
                canonical=exported or (same is not None and same.name == CANONICAL),
            )
    if how.vocabulary and how.labels:
        how.notes.append(f"Labels read as {how.vocabulary.name}: {how.vocabulary.meaning}.")


def _numeric(labels: Mapping[str, int]) -> bool:
    return all(normalise(label) in ("-1", "0", "1", "2") for label in labels)


def _choose(
    how: Plan,
    labels: Mapping[str, int],
    column: str,
    chosen: str | None,
    option: str,
    *,
    models: frozenset[str],
    canonical: bool,
) -> Vocabulary | None:
    if chosen is not None:
        named = vocabulary(chosen)
        if named.name == NAMES and not models:
            how.problems.append(
                UnreadableFile(
                    "line 1: labels that are model names need the columns model_a and model_b. Name them "
                    "with --map."
                )
            )
            how.missing = tuple(c for c in ("model_a", "model_b") if c not in how.mapping)
        return named
    try:
        return decide(labels, column=column, models=models, canonical=canonical)
    except AmbiguousLabels as problem:
        message = str(problem) if option == "labels" else str(problem).replace("--labels", "--gold-labels")
        how.problems.append(AmbiguousLabels(message))
        fitting = candidates(labels) or tuple(VOCABULARIES)
        choices = tuple((name, VOCABULARIES[name].meaning) for name in fitting)
        how.questions.append(
            Question(option=option, text=f"What do the labels in column {column} mean?", choices=choices)
        )
        return None


def _plan_slots(how: Plan, sheet: Sheet, options: ReadOptions) -> None:
    """Labels such as A and B can name the models or the slots; that matters once a row was shown as `ba`."""
    vocabulary = how.vocabulary
    if vocabulary is None or how.gold_only:
        return
    column = how.mapping.get("vote", " and ".join(how.judges))
    swapped = "position" in how.mapping and any(
        order_word(value) == "ba" for value in _values(how, sheet, "position")
    )
    if vocabulary.name in (CANONICAL, NAMES):
        if options.label_refers == "slot":
            how.notes.append(
                f"Labels of {vocabulary.name} always name the models; --label-refers slot was not used."
            )
        return
    how.slots = (options.label_refers or ("slot" if vocabulary.names == "slot" else "model")) == "slot"
    if vocabulary.names == "either" and swapped and options.label_refers is None:
        how.problems.append(
            AmbiguousLabels(
                f"column {shown(column)}: the labels can name the models, or the first and second shown, "
                "and some rows "
                "were shown in the order ba. Say which with --label-refers model or --label-refers slot."
            )
        )
        how.questions.append(
            Question(
                option="label_refers",
                text=f"What do the labels in column {column} name?",
                choices=(
                    ("model", "the models, whichever was shown first"),
                    ("slot", "the first and second shown"),
                ),
            )
        )


def _scale(how: Plan, sheet: Sheet, options: ReadOptions) -> ConfidenceScale:
    counts: dict[str, int] = {}
    _add(counts, _column(how, sheet, "confidence"))
    if options.confidence_scale is not None:
        return "1" if options.confidence_scale == 1 else "100"
    scale = confidence_scale(counts)
    if scale != "1":
        words = "as percentages" if scale == "%" else "on a scale of 0 to 100"
        how.notes.append(f"Confidence read {words}, decided by the whole column.")
    return scale


def _column(how: Plan, sheet: Sheet, canonical: str) -> Coded:
    if canonical in how.constants:
        return Coded.constant(how.constants[canonical], len(sheet.row))
    return sheet.columns[how.mapping[canonical]]


def _values(how: Plan, sheet: Sheet, canonical: str) -> list[str]:
    return _column(how, sheet, canonical).values


def _add(counts: dict[str, int], column: Coded) -> None:
    for value, count in column.counts().items():
        if label := value.strip():
            counts[label] = counts.get(label, 0) + count


def head(sheet: Sheet, n: int = 20) -> tuple[tuple[str, ...], ...]:
    """First rows of a sheet as text."""
    return tuple(
        tuple(c.cell(int(i)) for c in sheet.columns.values()) for i in np.arange(min(n, len(sheet.row)))
    )
