"""What the columns of a table are, and so what it holds: votes, or direct scores, rankings or
choices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..errors import InvalidOption, UnknownName, UnreadableFile
from ..labels import ALONE, NUMERIC, candidates, normalise, shown, vocabulary
from ..reading.words import (
    NAMES_OF_CHOICES,
    NAMES_OF_RANKINGS,
    NAMES_OF_SCORES,
    ONE_HOT,
    PEOPLE,
    SYNONYMS,
    TIE_WORDS,
    tokens,
)
from ..schema import COLUMN_NAMES, RANKINGS, SCORES, Form
from .columns import Cells, encode_cells, label_counts
from .options import CHOICE_COLUMNS, SCORE_COLUMNS, Plan, ReadOptions
from .row_parser import RowParser
from .source import Source
from .suggest import WORDS
from .tables import TextTable

_PERCENT = re.compile(r"[\s_]*(?:\(%\)|\[%\]|%)$")
FEW = 40
"""Columns named in a message, and distinct labels of a column that can be a judge's."""
LONGEST = 80
"""Characters of a name."""
SIDES = ("model_a", "model_b", "response_a", "response_b")
"""Columns of one of the two that are compared."""
COMPARED = frozenset((*SIDES, *SCORE_COLUMNS, "position"))
"""Columns of which any shows that a row compares two answers."""
_OF_TWO = ("winner", "preference", "preferred", "choice")
VOTE_COLUMNS = (*COLUMN_NAMES, *SCORE_COLUMNS)
_VOTES_ONLY = ("vote", "model_a", "model_b", *SCORE_COLUMNS)


def names(columns: Iterable[str]) -> list[str]:
    """The first columns as messages show them."""
    return [shown(column) for column in list(columns)[:FEW]]


def map_columns(
    columns: tuple[str, ...],
    name: str,
    options: ReadOptions,
    *,
    known: tuple[str, ...] = VOTE_COLUMNS,
    synonyms: Mapping[str, tuple[str, ...]] = SYNONYMS,
) -> tuple[dict[str, str], dict[str, str]]:
    """Canonical column → the file's, and canonical columns with one text in every row.

    Raises UnknownName: an option names a column that the file, or what it holds, has not.
    """
    for canonical, _ in options.mapping:
        if canonical not in known:
            raise UnknownName(
                "{file}: {option} {column!r}: what this file holds has no such column. Known: "
                "{known}. "
                "Another {option:format} may be meant.",
                option="map",
                file=name,
                column=canonical,
                known=known,
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
                "{file}: {option} {canonical}={column}: there is no column {shown}. Columns: "
                "{columns}. "
                "A text for every row is written {option} {canonical}=={column}.",
                option="map",
                file=name,
                canonical=canonical,
                column=theirs,
                shown=shown(theirs),
                columns=names(columns),
            )
    taken = {*mapping.values(), *options.judges}
    named = [(plain(column), column) for column in columns]
    for canonical in known:
        if canonical in mapping or canonical in constants or canonical in absent:
            continue
        others = {*known} - {*SCORE_COLUMNS, canonical}
        wanted = (name for name in (canonical, *synonyms.get(canonical, ())) if name not in others)
        match = next(
            (
                column
                for name in wanted
                for other, column in named
                if other == name and column not in taken
            ),
            None,
        )
        if match is not None:
            mapping[canonical] = match
            taken.add(match)
    if (
        "item_id" in known
        and "item_id" not in mapping.keys() | constants.keys() | absent
        and "prompt" not in absent
    ):
        # Prompts tell items apart where no column names them.
        prompts = [
            column
            for name in ("prompt", *SYNONYMS["prompt"])
            for other, column in named
            if other == name
        ]
        if prompt := mapping.get("prompt") or next(
            (column for column in prompts if column not in taken), None
        ):
            mapping["item_id"] = prompt
    return {canonical: mapping[canonical] for canonical in known if canonical in mapping}, constants


def merge_one_hot(table: TextTable, name: str, options: ReadOptions) -> TextTable:
    """Make one column `winner` of the columns that hold a 1 for the winner; 0 in one of them is no
    loss.

    A row without exactly one 1 gets the cells themselves as its label, which no vocabulary has.

    Raises InvalidOption: an option names one of these columns alone.
    """
    found = {plain(column): column for column in table.columns if plain(column) in ONE_HOT}
    if len(found) < 2 or any(plain(column) == "winner" for column in table.columns):
        return table
    merged = tuple(found[wanted] for wanted in ONE_HOT if wanted in found)
    for canonical, theirs in options.mapping:
        if theirs in merged:
            raise InvalidOption(
                "{file}: {option} {canonical}={column}: {merged} name the winner together and are "
                "read as "
                "one column, 'winner'. Leave the option out, or write {option} {canonical}=winner.",
                option="map",
                file=name,
                canonical=canonical,
                column=theirs,
                merged=" and ".join(merged),
            )
    marks = [
        [_ONE.get((text or "").strip().casefold()) for text in table.columns[column].to_pylist()]
        for column in merged
    ]
    words = [plain(column).removeprefix("winner_") for column in merged]
    labels = [
        words[row.index(1)]
        if row.count(1) == 1 and None not in row
        else ", ".join(
            f"{column} {'?' if mark is None else mark}"
            for column, mark in zip(merged, row, strict=True)
        )
        for row in zip(*marks, strict=True)
    ]
    columns = {column: cells for column, cells in table.columns.items() if column not in merged}
    note = f"Columns {', '.join(merged)} read as one column of winners."
    return replace(
        table,
        columns=columns | {"winner": encode_cells(labels)},
        notes=(*table.notes, note),
        one_hot=True,
    )


_ONE = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0, "": 0}


def plain(column: str) -> str:
    """Name of a column without case, blanks, hyphens and a sign of percent behind it."""
    return _PERCENT.sub("", column.strip().casefold()).replace(" ", "_").replace("-", "_")


def map_sides(table: TextTable, mapping: Mapping[str, str]) -> dict[str, str]:
    """Columns called left and right are the models', where the verdicts are left and right."""
    sides = ("left", "right")
    named = {plain(column): column for column in table.columns}
    vote = table.columns.get(mapping.get("vote", ""))
    if {"model_a", "model_b"} & mapping.keys() or not {*sides} <= named.keys() or vote is None:
        return {**mapping}
    labels = {normalise(label) for label in label_counts(vote)} - TIE_WORDS
    texts = [text for side in sides for text in table.columns[named[side]].dictionary.to_pylist()]
    if not labels or not labels <= {*sides} or max(map(len, texts), default=0) > LONGEST:
        return {**mapping}
    return {**mapping, "model_a": named["left"], "model_b": named["right"]}


def find_layout(
    table: TextTable, mapping: Mapping[str, str], name: str, options: ReadOptions
) -> tuple[str, dict[str, str], tuple[str, ...]]:
    """Layout of a table of votes, the part of the mapping that it has, and the columns of judges.

    Raises UnknownName: an option names a judge's column that the file has not.
    """
    for judge in options.judges:
        if judge not in table.columns:
            raise UnknownName(
                f"{name}: there is no column {shown(judge)} for a judge. Columns: "
                f"{', '.join(names(table.columns))}."
            )
    layout, verdict = options.layout, {}
    labelled: tuple[str, ...] = ()
    if layout == "auto":
        if set(SCORE_COLUMNS) <= mapping.keys() and "vote" not in mapping:
            layout = "scores"
        elif options.judges:
            layout = "wide"
        elif "vote" in mapping or "judge" in mapping or "item_id" not in mapping:
            layout = "long"
        else:
            labelled = _label_columns(table, mapping, options)
            layout = "wide" if labelled else "long"
            if len(labelled) == 1 and set(tokens(labelled[0])) & WORDS["vote"][0]:
                # Called verdict or result, it names no judge.
                layout, verdict = "long", {"vote": labelled[0]}
    wide = layout == "wide"
    judges = options.judges or labelled or _label_columns(table, mapping, options) if wide else ()
    left_out = {
        *(() if layout == "scores" else SCORE_COLUMNS),
        *(("vote", "judge") if wide else ()),
    }
    kept = {canonical: theirs for canonical, theirs in mapping.items() if canonical not in left_out}
    return layout, kept | verdict, judges


def _label_columns(
    table: TextTable, mapping: Mapping[str, str], options: ReadOptions
) -> tuple[str, ...]:
    """Columns that hold labels of one vocabulary and nothing else.

    Numbers are labels only if there is a -1 or the vocabulary is given: 1 and 2 may well be a turn.
    A column `label` is no judge's: benchmarks keep the true label there.
    """
    found = []
    for name, column in table.columns.items():
        if (
            name in mapping.values()
            or plain(name) == "label"
            or not 0 < len(column.dictionary) <= FEW
        ):
            continue
        labels = {text: 1 for text in column.dictionary.to_pylist() if text.strip()}
        fitting = candidates(labels)
        telling = any(known not in NUMERIC for known in fitting) or "-1" in map(normalise, labels)
        if options.labels is not None:
            named = vocabulary(options.labels)
            telling = all(named.vote(label) is not None for label in labels)
        if labels and fitting and telling:
            found.append(name)
    return tuple(found)


def mapped(
    table: TextTable,
    layout: str,
    mapping: Mapping[str, str],
    constants: Mapping[str, str],
    required: Iterable[str],
) -> Plan:
    """The plan for columns that are known: what is missing, and which were read under
    another name.
    """
    renamed = [
        f"{theirs} as {canonical}" for canonical, theirs in mapping.items() if canonical != theirs
    ]
    return Plan(
        layout=layout,
        mapping={**mapping, **{canonical: f"={text}" for canonical, text in constants.items()}},
        constants=constants,
        missing=tuple(column for column in required if column not in {*mapping, *constants}),
        unguard=table.delimited and not renamed and not constants,
        notes=(f"Columns read under another name: {', '.join(renamed)}.",) if renamed else (),
    )


def says_who(column: str) -> bool:
    """Whether a column by its name may hold the names of people: `annotator_id`, `worker`."""
    return PEOPLE.fullmatch(plain(column)) is not None


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
    synonyms=NAMES_OF_SCORES,
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
    synonyms=NAMES_OF_RANKINGS,
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
    synonyms=NAMES_OF_CHOICES,
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
    how = Plan(layout="long", mapping=mapping)
    if column is None or not judges_alone(how, column):
        return None
    return column if in_words(table.columns[column]) else None


def judges_alone(how: Plan, column: str) -> bool:
    """Whether nothing but its labels may say that a row compares two answers."""
    return (
        how.layout == "long" and not COMPARED & how.mapping.keys() and plain(column) not in _OF_TWO
    )


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
    return ask_for_columns(how, columns, shape)


def ask_for_columns(how: Plan, columns: Iterable[str], shape: Shape) -> Plan:
    """Say which columns of a shape are missing."""
    if shape.any_of and not {*how.mapping} & {*shape.any_of}:
        how = replace(how, missing=(*how.missing, *shape.any_of[:1]))
    if not how.missing:
        return how
    return how.stopped(
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
    how = lay_out(table, source.name, options, shape).checked(source.name)
    parser = RowParser(table, shape.form, how)
    parser.check_texts(shape.required, options.rater_type)
    return parser
