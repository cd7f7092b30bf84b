"""Tables that hold no votes: direct scores, rankings and choices; how they are recognised and laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UnreadableFile
from ..labels import shown
from ..schema import COLUMN_NAMES, RANKINGS, SCORES, Form
from .columns import CHOICES, Coded
from .options import CHOICE_COLUMNS, SCORE_COLUMNS, ReadOptions
from .plan import FEW, SYNONYMS, map_columns, plain
from .row_parser import Typed
from .tables import Sheet, unguard

LONG_TEXTS = ("prompt", "response", "rationale")
_SHARED = {name: SYNONYMS[name] for name in ("item_id", "category", "judge", "run", "prompt", "rationale")}
_VOTES_ONLY = ("vote", "model_a", "model_b", *SCORE_COLUMNS)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shape:
    """A layout of a table that holds no votes.

    columns : canonical columns that it may have; `required` must be there, and one of `any_of` if any.
    telling : columns by which it is recognised, besides item and judge.
    """

    format: str
    line: str
    form: Form
    columns: tuple[str, ...]
    required: tuple[str, ...]
    any_of: tuple[str, ...]
    telling: tuple[str, ...]
    synonyms: Mapping[str, tuple[str, ...]]


DIRECT = Shape(
    format="direct_scores",
    line="a table of direct scores, one row a response: item_id, model, judge, score",
    form=SCORES,
    columns=SCORES.names,
    required=("item_id", "judge", "model", "score"),
    any_of=(),
    telling=("model", "score"),
    synonyms=_SHARED
    | {
        "model": ("model_name", "model_id", "system", "generator", "response_model"),
        "score": ("rating", "grade", "judge_score"),
        "response": ("output", "answer"),
    },
)
LISTS = Shape(
    format="rankings",
    line="a table of listwise rankings, one row a candidate: item_id, judge, run, candidate, slot, rank or "
    "score",
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
        "uncertain": ("uncertainty", "uncertain_flag", "uncertainty_flag"),
        "major_error": ("major_error_flag", "has_major_error"),
        "unsupported": ("unsupported_specificity", "unsupported_flag", "unsupported_specificity_flag"),
        "chosen": ("picked", "is_chosen"),
        "is_best": ("best",),
    },
)
PICKS = Shape(
    format="choices",
    line="a table of listwise choices, one row a choice: item_id, judge, permutation, pick_slot or "
    "pick_candidate",
    form=RANKINGS,
    columns=(
        *("dataset", "item_id", "category", "judge", "run", *CHOICE_COLUMNS),
        *("rater_type", "status", "prompt", "rationale", "prompt_hash", "temperature", "cost"),
    ),
    required=("item_id", "judge", "permutation"),
    any_of=("pick_slot", "pick_candidate"),
    telling=("permutation",),
    synonyms=_SHARED
    | {
        "dataset": ("benchmark",),
        "run": ("repetition", "perm_id", "permutation_id", "ordering"),
    },
)
SHAPES = {shape.format: shape for shape in (DIRECT, LISTS, PICKS)}


def recognise(columns: tuple[str, ...], options: ReadOptions) -> Shape | None:
    """Which of these shapes a table has; None for a table of votes, which has the first claim on a doubt."""
    if options.format != "auto":
        return SHAPES.get(options.format)
    for shape in (DIRECT, LISTS):
        # Our own export, whatever its other columns are called.
        if columns[: len(shape.columns)] == shape.columns:
            return shape
    given = {canonical for canonical, theirs in options.mapping if theirs}
    names = {plain(column) for column in columns}
    asked = options.layout != "auto" or options.labels or options.judges or options.label_refers
    of_votes = any({name, *SYNONYMS.get(name, ())} & names for name in _VOTES_ONLY)
    if asked or of_votes or given & {*_VOTES_ONLY, "position", "confidence"}:
        return None

    def has(shape: Shape, name: str) -> bool:
        return name in given or bool({name, *shape.synonyms.get(name, ())} & names)

    for shape in (PICKS, LISTS, DIRECT):
        found = all(has(shape, name) for name in ("item_id", "judge", *shape.telling))
        if found and (not shape.any_of or any(has(shape, name) for name in shape.any_of)):
            return shape
    return None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layout:
    """Which column of a table is what: `missing` must still be named before it can be read."""

    shape: Shape
    mapping: dict[str, str]
    constants: dict[str, str]
    missing: tuple[str, ...]
    notes: tuple[str, ...]

    def refuse_missing(self, name: str, columns: tuple[str, ...]) -> None:
        """Raise UnreadableFile for the columns that must be there."""
        if self.missing:
            raise UnreadableFile(
                f"{name}: line 1: no column for {' and '.join(self.missing)}, which {self.shape.line} has. "
                f"Columns: {', '.join(shown(c) for c in columns[:FEW])}. Name it with --map "
                f"{self.missing[0]}=COLUMN, or choose another --format."
            )


def lay_out(sheet: Sheet, name: str, options: ReadOptions, shape: Shape) -> Layout:
    """Map the columns of a table to those of its shape.

    Raises
    ------
    UnknownName : an option names a column that the file has not.
    """
    mapping, constants = map_columns(
        tuple(sheet.columns), name, options, known=shape.columns, synonyms=shape.synonyms
    )
    there = {*mapping, *constants}
    missing = [column for column in shape.required if column not in there]
    if shape.any_of and not there & {*shape.any_of}:
        missing.append(shape.any_of[0])
    renamed = [f"{theirs} as {canonical}" for canonical, theirs in mapping.items() if canonical != theirs]
    return Layout(
        shape=shape,
        mapping=dict(mapping) | {canonical: f"={text}" for canonical, text in constants.items()},
        constants=constants,
        missing=tuple(missing),
        notes=(f"Columns read under another name: {', '.join(renamed)}.",) if renamed else (),
    )


def typed(sheet: Sheet, layout: Layout, options: ReadOptions) -> Typed:
    """Cells of a table by canonical column: trimmed, words checked, rows without a needed text rejected."""
    names = {c: t for c, t in layout.mapping.items() if not t.startswith("=")}
    texts = {column.name for column in layout.shape.form.columns if column.kind == "text"}
    extra = {name: column for name, column in sheet.columns.items() if name not in names.values()}
    cells = {canonical: sheet.columns[theirs] for canonical, theirs in names.items()}
    if sheet.delimited and not layout.constants and all(c == t for c, t in names.items()):
        cells = {name: column.map(unguard) if name in texts else column for name, column in cells.items()}
        extra = {unguard(name): column.map(unguard) for name, column in extra.items()}
    for name, constant in layout.constants.items():
        cells[name] = Coded.constant(constant, len(sheet.row))
    cells = {name: column.map(str if name in LONG_TEXTS else str.strip) for name, column in cells.items()}
    taken = {*layout.shape.form.names, *COLUMN_NAMES}
    extra = {
        f"{name} (in the file)" if name in taken else name: column.map(lambda v: v if v.strip() else None)
        for name, column in extra.items()
    }
    found = Typed(cells, names, extra, sheet.row, sheet.rejects)
    found.reject_unstorable()
    for name in cells.keys() & CHOICES.keys():
        found.cells[name] = found.choice(name)
    if options.rater_type:
        rater = cells.get("rater_type", Coded.constant(None, len(sheet.row)))
        found.cells["rater_type"] = rater.filled(options.rater_type)
    for name in layout.shape.required:
        if name in texts:
            found.reject_missing(name)
    return found


def constants_of(options: ReadOptions) -> dict[str, str]:
    """Columns with one text in every row, the data set's name among them if that is given."""
    return options.constants() | ({"dataset": options.dataset} if options.dataset else {})


def ragged(sheet: Sheet) -> NDArray[np.int64]:
    """Numbers of the rows that could not be split into cells."""
    return np.setdiff1d(np.arange(1, sheet.rows + 1), sheet.row)
