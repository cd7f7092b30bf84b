"""Tables that hold no votes: how direct scores, rankings and choices are recognised, and scores
read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..errors import UnreadableFile
from ..labels import ALONE, normalise
from ..schema import COLUMN_NAMES, RANKINGS, SCORES, Form
from .columns import Cells, label_counts
from .options import CHOICE_COLUMNS, SCORE_COLUMNS, ReadOptions
from .plan import SYNONYMS, Plan, judges_alone, map_columns, mapped, names, plain
from .row_parser import RowParser
from .source import Source
from .tables import TextTable

_SHARED = {
    name: SYNONYMS[name] for name in ("item_id", "category", "judge", "run", "prompt", "rationale")
}
NUMBERED = ("rating", "grade", "judge_score", "judge_rating", "judge_grade", "llm_score")
PASSED = ("passed", "pass", "pass_fail", "is_passed", "judge_passed", "judge_pass", "llm_passed")
"""Columns of scores, and of pass and fail."""
VOTE_COLUMNS = (*COLUMN_NAMES, *SCORE_COLUMNS)
_VOTES_ONLY = ("vote", "model_a", "model_b", *SCORE_COLUMNS)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shape:
    """A layout of a table that holds no votes.

    columns : canonical columns that it may have; `required` must be there, and one of `any_of` if
        any.
    telling : columns by which it is recognised, besides item and judge.
    """

    format: str
    line: str
    form: Form
    columns: tuple[str, ...]
    required: tuple[str, ...]
    any_of: tuple[str, ...] = ()
    telling: tuple[str, ...]
    synonyms: Mapping[str, tuple[str, ...]]


DIRECT = Shape(
    format="direct_scores",
    line="a table of scores of single answers, one row per score: item_id, judge, score",
    form=SCORES,
    columns=SCORES.names,
    required=("item_id", "judge", "score"),
    telling=("score",),
    synonyms=_SHARED
    | {
        "item_id": (*SYNONYMS["item_id"], "case_id", "case", "test_case_id", "test_id", "trace_id"),
        "model": ("model_name", "model_id", "system", "generator", "response_model"),
        "metric": ("metric_name", "criterion", "criteria", "dimension", "aspect", "rubric"),
        "score": (*NUMBERED, *PASSED),
        "response": ("output", "answer"),
        "length": ("response_length", "output_length", "answer_length"),
        "confidence": ("judge_confidence", "confidence_score", "score_confidence"),
    },
)
LISTS = Shape(
    format="rankings",
    line=(
        "a table of listwise rankings, one row a candidate: item_id, judge, "
        "run, candidate, slot, rank or score"
    ),
    form=RANKINGS,
    columns=RANKINGS.names,
    required=("item_id", "judge", "candidate", "slot"),
    any_of=("score", "rank", "chosen"),
    telling=("candidate",),
    synonyms=_SHARED
    | {
        "run": ("repetition", "perm_id", "permutation_id", "ordering"),
        "candidate": ("candidate_id",),
        "slot": ("shown_slot", "slot_shown"),
        "calibrated_uncertainty": ("calibrated_uncertainty_flag", "calibrated"),
        "uncertain": ("uncertainty", "uncertain_flag", "uncertainty_flag"),
        "major_error": ("major_error_flag", "has_major_error"),
        "unsupported": (
            "unsupported_specificity",
            "unsupported_flag",
            "unsupported_specificity_flag",
        ),
        "chosen": ("picked", "is_chosen"),
        "is_best": ("best",),
    },
)
PICKS = Shape(
    format="choices",
    line=(
        "a table of listwise choices, one row a choice: item_id, judge, "
        "permutation, pick_slot or pick_candidate"
    ),
    form=RANKINGS,
    columns=(
        *("dataset", "item_id", "category", "judge", "run", *CHOICE_COLUMNS),
        *("rater_type", "status", "prompt", "rationale", "prompt_hash", "temperature", "cost"),
    ),
    required=("item_id", "judge", "permutation"),
    any_of=("pick_slot", "pick_candidate"),
    telling=("permutation",),
    synonyms=_SHARED
    | {"dataset": ("benchmark",), "run": ("repetition", "perm_id", "permutation_id", "ordering")},
)
SHAPES = {shape.format: shape for shape in (DIRECT, LISTS, PICKS)}


def recognise(columns: tuple[str, ...], options: ReadOptions) -> Shape | None:
    """Which of these shapes a table has; None for a table of votes, which has the first claim on a
    doubt.
    """
    if options.format != "auto":
        return SHAPES.get(options.format)
    for shape in (DIRECT, LISTS):
        # Our own export, whatever its other columns are called.
        if columns[: len(shape.columns)] == shape.columns:
            return shape
    if as_votes(columns, options):
        return None
    given = {canonical for canonical, theirs in options.mapping if theirs}
    present = {plain(column) for column in columns}

    def has(shape: Shape, name: str) -> bool:
        return name in given or bool({name, *shape.synonyms.get(name, ())} & present)

    for shape in (PICKS, LISTS, DIRECT):
        complete = all(has(shape, name) for name in ("item_id", "judge", *shape.telling))
        if complete and (not shape.any_of or any(has(shape, name) for name in shape.any_of)):
            return shape
    return None


def as_votes(columns: Iterable[str], options: ReadOptions) -> bool:
    """Whether columns or options say that rows compare two answers."""
    given = {canonical for canonical, theirs in options.mapping if theirs}
    present = {plain(column) for column in columns}
    said = options.layout != "auto" or options.labels or options.judges or options.label_refers
    of_votes = any({name, *SYNONYMS.get(name, ())} & present for name in _VOTES_ONLY)
    return bool(said or of_votes or given & {*_VOTES_ONLY, "position"})


def judged_alone(table: TextTable, name: str, options: ReadOptions) -> str | None:
    """The column of verdicts in which words such as pass and fail judge single answers, if there is
    one.

    No other column may show that two answers are compared, and no option say so. 0 and 1 alone may
    be votes. Raises UnknownName: an option names a column that the file has not.
    """
    of_pairs = options.labels or options.label_map or options.label_refers or options.judges
    of_scores = {canonical for canonical, _ in options.mapping} & {*SCORES.names} - {*COLUMN_NAMES}
    if of_pairs or options.layout != "auto" or options.format not in ("auto", DIRECT.format):
        return None
    others = tuple(pair for pair in options.mapping if pair[0] not in of_scores)
    if any(canonical not in VOTE_COLUMNS for canonical, _ in others):
        return None
    mapping, _ = map_columns(tuple(table.columns), name, replace(options, mapping=others))
    column = mapping.get("vote")
    how = Plan(layout="long", mapping=mapping, constants={})
    if column is None or not judges_alone(how, column):
        return None
    return column if in_words(table.columns[column]) else None


def in_words(cells: Cells) -> bool:
    """Whether a column holds words for good and bad answers and nothing else."""
    labels = {normalise(label) for label in label_counts(cells)}
    return labels <= ALONE.keys() and bool(labels - {"0", "1"})


def lay_out(table: TextTable, name: str, options: ReadOptions, shape: Shape) -> Plan:
    """Map the columns of a table to those of its shape.

    Raises UnknownName: an option names a column that the file has not.
    """
    columns = tuple(table.columns)
    mapping, constants = map_columns(
        columns, name, options, known=shape.columns, synonyms=shape.synonyms
    )
    how = mapped(table, "table", mapping, constants, shape.required)
    ask_for_columns(how, columns, shape)
    return how


def ask_for_columns(how: Plan, columns: Iterable[str], shape: Shape) -> None:
    """Say which columns of a shape are missing."""
    if shape.any_of and not {*how.mapping} & {*shape.any_of}:
        how.missing += shape.any_of[:1]
    if how.missing:
        how.problems.append(
            UnreadableFile(
                "line 1: no column for {missing}, which {line} has. Columns: {columns}. Name it "
                "with "
                "{option} {first}=COLUMN, or choose another {option:format}.",
                option="map",
                missing=" and ".join(how.missing),
                line=shape.line,
                columns=names(columns),
                first=how.missing[0],
            )
        )


def parse_texts(table: TextTable, source: Source, shape: Shape, options: ReadOptions) -> RowParser:
    """A parser of the rows that have checked their texts.

    Raises UnreadableFile: a required column is missing. UnknownName: an option names a column that
    the file has not.
    """
    how = lay_out(table, source.name, options, shape)
    for problem in how.problems:
        raise type(problem)(problem.message.at(source.name))
    parser = RowParser(table, shape.form, how)
    parser.check_texts(shape.required, options.rater_type)
    return parser
