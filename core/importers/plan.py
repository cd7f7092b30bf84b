"""How a table of votes is to be read: columns, layout, labels and scale, and questions to its
owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ..bounds import some_of
from ..errors import (
    AmbiguousLabels,
    AppellateError,
    InvalidOption,
    Message,
    UnknownName,
    UnreadableFile,
)
from ..labels import (
    ALONE,
    CANONICAL,
    NAMES,
    NUMERIC,
    TIE_WORDS,
    VOCABULARIES,
    WHOLE,
    Vocabulary,
    candidates,
    decide,
    normalise,
    shown,
    vocabulary,
)
from ..schema import COLUMN_NAMES, LEVEL_KIND
from .columns import (
    LEVELS,
    SCALE_MEANINGS,
    Cells,
    ConfidenceScale,
    cell_codes,
    confidence_scale,
    constant_cells,
    encode_cells,
    label_counts,
    order_word,
    small_codes,
)
from .options import MEANINGS, SCORE_COLUMNS, Question, ReadOptions
from .source import stem_of
from .suggest import WORDS, sided, words_of
from .tables import TextTable

SYNONYMS = {
    canonical: tuple(others.split())
    for canonical, others in {
        "item_id": "item question_id prompt_id pair_id example_id instance_id sample_id id",
        "category": "subset topic task",
        "model_a": "model_1 model1 generator_1 system_a",
        "model_b": "model_2 model2 generator_2 system_b",
        "judge": "judge_model rater annotator evaluator judge_name",
        "run": "repetition",
        "position": "first_shown shown_first",
        "vote": "winner verdict decision preference preferred choice",
        "confidence": "judge_confidence confidence_score score_confidence conf certainty",
        "gold": "gold_label ground_truth human_label human_says human_verdict human_vote "
        "human_winner human_choice human_preference true_label correct_answer",
        "prompt": "instruction question",
        "response_a": "output_1 response1 response_1 answer_a",
        "response_b": "output_2 response2 response_2 answer_b",
        "rationale": "reasoning explanation",
        "score_a": "score_1 score1 rating_a",
        "score_b": "score_2 score2 rating_b",
    }.items()
}
"""Other names of canonical columns, tried in this order where the canonical name itself is absent.
"""

PROMPTS = ("prompt", *SYNONYMS["prompt"], "input", "user_input")
"""Columns of prompts: as items they do not tell two comparisons on one prompt apart."""
ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
"""Columns of Chatbot Arena's tables, of which the one that is 1 names the winner."""

ARENA = ("anony", "evaluation_session_id")
"""Columns that only the battles of LMArena have, whose voters are people."""

BOTH_BAD = {"both_bad", "tie (bothbad)", "bothbad", "tie_bothbad"}
"""Labels that only the battles of an arena have."""

PEOPLE = re.compile(
    r"(?:crowd_?worker|worker|user|annotator|session|participant|labell?er|turker)"
    r"(?:_?(?:id|name|no|number))?_?[0-9]*"
)
"""Names of columns that name people, as `plain` returns them."""

_PERCENT = re.compile(r"[\s_]*(?:\(%\)|\[%\]|%)$")

AS_GIVEN = Vocabulary("as given", "every label as you say what it means", {}, "either")
"""The vocabulary of a file all of whose labels are explained one by one."""
FEW = 40
"""Columns named in a message, and distinct labels of a column that can be a judge's."""


def names(columns: Iterable[str]) -> list[str]:
    """The first columns as messages show them."""
    return [shown(column) for column in list(columns)[:FEW]]


def map_columns(
    columns: tuple[str, ...],
    name: str,
    options: ReadOptions,
    *,
    known: tuple[str, ...] = (*COLUMN_NAMES, *SCORE_COLUMNS),
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


def find_layout(
    table: TextTable, mapping: dict[str, str], name: str, options: ReadOptions
) -> tuple[str, tuple[str, ...]]:
    for judge in options.judges:
        if judge not in table.columns:
            raise UnknownName(
                f"{name}: there is no column {shown(judge)} for a judge. Columns: "
                f"{', '.join(names(table.columns))}."
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
            judges = _label_columns(table, mapping, options)
            layout = "wide" if judges else "long"
            if len(judges) == 1 and words_of(judges[0]) & WORDS["vote"][0]:
                # Called verdict or result, it names no judge.
                mapping["vote"], judges, layout = judges[0], (), "long"
    if layout == "wide":
        judges = options.judges or judges or _label_columns(table, mapping, options)
        for canonical in ("vote", "judge"):
            mapping.pop(canonical, None)
    if layout != "scores":
        for canonical in SCORE_COLUMNS:
            mapping.pop(canonical, None)
    return layout, judges


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


SIDES = ("model_a", "model_b", "response_a", "response_b")
_REQUIRED = {
    "long": ("item_id", "judge", "vote"),
    "wide": ("item_id",),
    "scores": ("item_id", "judge", *SCORE_COLUMNS),
}


@dataclass(slots=True, eq=False, kw_only=True)
class Plan:
    """How a table will be read. `problems` are what stops `read`; each has a question for the
    browser.

    items : what names the items: a column, prompt and responses, or nothing, and each row is one.
    first : names of the two that every row compares → the order in which the one named is shown
        first.
    raters : columns of a table of scores that hold those of one rater each → whether people's.
    scale : of the confidence; None if that is open.
    slots, gold_slots : labels of votes, and of gold, name the first and second shown.
    """

    layout: str
    mapping: dict[str, str]
    constants: dict[str, str]
    judges: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    labels: dict[str, int] = field(default_factory=dict)
    vocabulary: Vocabulary | None = None
    gold_vocabulary: Vocabulary | None = None
    scale: ConfidenceScale | None = "1"
    slots: bool = False
    gold_slots: bool = False
    items: Literal["column", "texts", "rows"] = "column"
    first: dict[str, str] = field(default_factory=dict)
    stem: str = ""
    unguard: bool = False
    gold_only: bool = False
    raters: dict[str, bool] = field(default_factory=dict)
    problems: list[AppellateError] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def mapped(
    table: TextTable,
    layout: str,
    mapping: Mapping[str, str],
    constants: dict[str, str],
    required: Iterable[str],
) -> Plan:
    """The plan for columns that are found: what is missing, and which were read under
    another name.
    """
    renamed = [
        f"{theirs} as {canonical}" for canonical, theirs in mapping.items() if canonical != theirs
    ]
    return Plan(
        layout=layout,
        mapping=dict(mapping) | {canonical: f"={text}" for canonical, text in constants.items()},
        constants=constants,
        missing=tuple(column for column in required if column not in {*mapping, *constants}),
        unguard=table.delimited and not renamed and not constants,
        notes=[f"Columns read under another name: {', '.join(renamed)}."] if renamed else [],
    )


def plan(table: TextTable, name: str, options: ReadOptions, *, judge: str | None = None) -> Plan:
    """Work out how to read a table, without raising for what is merely ambiguous.

    judge : name of the judge where no column and no option names one; None makes that a question.

    Raises UnknownName: an option names a column that the file has not.
    """
    mapping, constants = map_columns(tuple(table.columns), name, options)
    if not {"model_a", "model_b"} & mapping.keys():
        _map_sides(table, mapping)
    layout, judges = find_layout(table, mapping, name, options)
    present = {*mapping, *constants}
    gold_only = layout == "long" and "gold" in present and not {"vote", "judge"} & present
    how = mapped(
        table, layout, mapping, constants, ("item_id", "gold") if gold_only else _REQUIRED[layout]
    )
    how.judges, how.gold_only = judges, gold_only
    how.unguard &= {"item_id", "judge", "vote"} <= mapping.keys()
    if layout == "wide":
        how.notes.append(
            f"One column per judge: {some_of(judges)}. Blank cells there are no votes."
        )
    how.stem = stem_of(name)
    if options.cluster is not None:
        how.notes.append(
            Message(
                "{option} is of scores of single answers; figures of votes count items, so it was "
                "not used.",
                option="cluster",
            )
        )
    _plan_items(how)
    if how.mapping.get("judge") != "judge":
        _plan_people(how, table, options)
    if {"model_a", "model_b", "vote"} <= mapping.keys() and (
        table.one_hot
        or {plain(column) for column in table.columns} & {*ARENA}
        or ("judge" in how.missing and _says_both_bad(how, table))
    ):
        judge = _plan_crowd(how, options)
    if how.missing == ("judge",) and judge is not None:
        how.missing, how.constants["judge"], how.mapping["judge"] = (), judge, f"={judge}"
        like = ", as the file is" if judge == how.stem else ""
        how.notes.append(f"No column names the judge, so it is called {shown(judge)}{like}.")
    if how.missing:
        _ask_for_columns(how, table)
        return how
    exported = tuple(table.columns)[: len(COLUMN_NAMES)] == COLUMN_NAMES
    _plan_labels(how, table, options, exported=exported)
    how.first = _names_of_two(how, options)
    _plan_slots(how, table, options)
    in_slots = how.gold_vocabulary is not None and how.gold_vocabulary.names == "slot"
    how.gold_slots = in_slots and "position" in mapping and options.label_refers != "model"
    if "confidence" in mapping:
        how.scale = _scale(how, table, options)
    if "run" not in how.mapping and isinstance(table.columns, dict):  # else no row is here
        _plan_repeats(how, table, options)
    return how


def keys_of_votes(
    how: Plan, columns: Iterable[str], options: ReadOptions
) -> tuple[list[str], list[str]]:
    """The file's columns that tell votes apart besides the run, and others that may do so too.

    None, if it is known which rows are repeats.
    """
    known = "run" in how.mapping or ("run", "") in options.mapping
    if known or how.missing or how.gold_only or how.items == "rows":
        return [], []
    named = (*_KEY, *(("prompt", *SIDES[2:]) if how.items == "texts" else ()))
    of_key = {how.mapping[name]: None for name in named if name in how.mapping}
    key = [column for column in columns if column in of_key or column == "perturbation"]
    used = {*how.mapping.values(), *how.judges, *key}
    return key, [
        column
        for column in columns
        if key and column not in used and not words_of(column) & _INCIDENTAL
    ]


def _plan_repeats(how: Plan, table: TextTable, options: ReadOptions) -> None:
    """Ask what a column is by which rows of one comparison and judge differ as if by design.

    Such a column has 2 to 12 distinct short texts, and in 90 % of the keys that have several rows
    each of the texts that occur there occurs equally often, so that it tells the rows apart; what a
    judge says by chance does not. Texts, times and costs are left out by their names. Source: ours.
    """
    columns, others = keys_of_votes(how, table.columns, options)
    key = small_codes([table.columns[column] for column in columns])
    if not others or not (again := np.bincount(key)[key] > 1).any():
        return
    key = np.unique(key[again], return_inverse=True)[1]
    for column in others:
        cells = table.columns[column]
        if len(cells.dictionary) > 10 * FEW:
            continue
        value = np.unique(cell_codes(cells)[again], return_inverse=True)[1]
        texts = [*label_counts(cells)]
        n = int(value.max()) + 1
        if not 2 <= n <= MOST_SETTINGS or 2 * n > len(value):
            continue
        # Rows by key and text.
        rows = np.bincount(key * n + value, minlength=n * (int(key.max()) + 1)).reshape(-1, n)
        most = rows.max(axis=1)
        even = ((rows > 0).sum(axis=1) > 1) & ((rows == 0) | (rows == most[:, None])).all(axis=1)
        if even.mean() >= EVEN and max(map(len, texts), default=0) <= LONGEST:
            ask_what_differs(how, column, texts)
            return


def ask_what_differs(how: Plan, column: str, texts: list[str]) -> None:
    """What the column of a setting may be: whatever tells votes apart and is not known yet."""
    of_column, texts = {*how.mapping} - {*how.constants}, sorted(texts)
    fits = {
        "run": all(WHOLE.fullmatch(text) for text in texts),
        "position": all(order_word(text, how.first) in ("ab", "ba") for text in texts),
    }
    choices = [
        (f"{canonical}={column}", meaning)
        for canonical, meaning in SETTINGS.items()
        if canonical not in of_column and fits.get(canonical, True)
    ]
    again = ("run=", "nothing that matters: the rows are repeats of one vote")
    how.problems.append(
        AmbiguousLabels(
            "column {column}: rows of one comparison and judge differ in it ({texts}), so they may "
            "be no repeats. Say what it is with {option} {allowed}.",
            option="map",
            column=shown(column),
            texts=", ".join(shown(text) for text in texts[:4]) + (" …" if texts[4:] else ""),
            allowed="; ".join(f"{said} ({meaning})" for said, meaning in (*choices, again)),
        )
    )
    how.questions.append(
        Question(
            option="repeats",
            text=f"Rows of one comparison and judge differ in column {shown(column)}. What is it?",
            choices=(*choices, again),
        )
    )


_KEY = ("dataset", "item_id", "model_a", "model_b", "judge", "position")
"""Columns that tell votes apart, besides the run."""
SETTINGS = {
    "run": "the number of the repetition",
    "position": "what was shown first",
    "judge": "who judged",
    "model_a": "the author of the response",
    "dataset": "another set of items",
}
"""What a column may be by which rows of one comparison and judge differ → in words."""
MOST_SETTINGS, LONGEST = 12, 80
"""Distinct texts, and characters of a text, in a column of settings."""
EVEN = 0.9
"""Share of the keys in which the texts of such a column occur equally often."""
_OF_A_CALL = (
    "rationale reason reasoning explanation comment note text answer reply completion raw "
    "time date timestamp created updated latency duration seconds ms cost price usd token tokens "
    "usage"
)
_INCIDENTAL = frozenset(_OF_A_CALL.split())
"""Words in the names of columns that say something of a call and not of what was asked."""


def _plan_people(how: Plan, table: TextTable, options: ReadOptions) -> None:
    """Take the judges from a column that names people where no other names them; its votes are
    theirs.
    """
    if "judge" in how.missing:
        chat = {"assistant", "system"} & {plain(column) for column in table.columns}
        for column in table.columns:
            free = column not in how.mapping.values() and not (chat and plain(column) == "user")
            if not free or not PEOPLE.fullmatch(plain(column)):
                continue
            # Whatever else such a column holds, names of people are short.
            if max(map(len, table.columns[column].dictionary.to_pylist()), default=0) <= LONGEST:
                how.mapping["judge"] = column
                how.missing = tuple(name for name in how.missing if name != "judge")
                how.notes.append(f"Column {shown(column)} read as judge.")
                break
    named = how.judges or (how.mapping.get("judge", "="),)
    unsaid = "rater_type" not in how.mapping and options.rater_type is None
    if unsaid and all(PEOPLE.fullmatch(plain(column)) for column in named):
        how.constants["rater_type"], how.mapping["rater_type"] = "human", "=human"
        what = "Columns" if len(named) > 1 else "Column"
        how.notes.append(
            Message(
                "{what} {named} held to be people's, so the votes are theirs; {option} llm says "
                "otherwise.",
                option="rater_type",
                what=what,
                named=", ".join(map(shown, named)),
            )
        )


def _plan_crowd(how: Plan, options: ReadOptions) -> str:
    """The votes of an arena are people's, one crowd unless a column names them."""
    if "rater_type" not in how.mapping and options.rater_type is None:
        how.constants["rater_type"], how.mapping["rater_type"] = "human", "=human"
        how.notes.append("Battles of an arena, so the votes are people's.")
    return "arena"


def _map_sides(table: TextTable, mapping: dict[str, str]) -> None:
    """Take columns called left and right for the models, where the verdicts are left and right."""
    sides = ("left", "right")
    named = {plain(column): column for column in table.columns}
    vote = table.columns.get(mapping.get("vote", ""))
    if not {*sides} <= named.keys() or vote is None:
        return
    labels = {normalise(label) for label in label_counts(vote)} - TIE_WORDS
    texts = [text for side in sides for text in table.columns[named[side]].dictionary.to_pylist()]
    if labels and labels <= {*sides} and max(map(len, texts), default=0) <= LONGEST:
        mapping["model_a"], mapping["model_b"] = named["left"], named["right"]


def _says_both_bad(how: Plan, table: TextTable) -> bool:
    """Whether some verdicts are that both are bad, as in arenas alone."""
    if how.mapping["vote"] not in table.columns:
        return False
    return bool({*map(normalise, label_counts(table.columns[how.mapping["vote"]]))} & BOTH_BAD)


def _plan_items(how: Plan) -> None:
    """Tell comparisons apart where no column names their items."""
    item = how.mapping.get("item_id")
    responses = {"response_a", "response_b"} <= how.mapping.keys()
    if item is not None:
        if responses and "item_id" not in how.constants and plain(item) in PROMPTS:
            how.items = "texts"
    elif "item_id" not in how.missing:
        return
    elif responses:
        how.items = "texts"
    elif how.layout == "long" and {"model_a", "model_b", "vote"} <= how.mapping.keys():
        how.items = "rows"
        how.notes.append("No column names the items, so each row is a comparison of its own.")
    if how.items != "column":
        how.missing = tuple(column for column in how.missing if column != "item_id")


def _ask_for_columns(how: Plan, table: TextTable) -> None:
    label = next((column for column in table.columns if plain(column) == "label"), None)
    doubt = (
        " Column {label} is not taken for votes, as it may be the true "
        "label: name it as gold or as vote."
    )
    how.problems.append(
        UnreadableFile(
            "line 1: no column for {missing}. Columns: {columns}. Name it with {option:map "
            "{first}=COLUMN}, "
            "or give one text for every row with {option:map {first}==TEXT}."
            + (doubt if label and "vote" in how.missing else ""),
            option="map",
            missing=" and ".join(how.missing),
            columns=names(table.columns),
            first=how.missing[0],
            label=label,
        )
    )
    choices = tuple((column, f"column {column}") for column in table.columns)
    how.questions += [
        Question(
            option=f"mapping:{canonical}", text=f"Which column is {canonical}?", choices=choices
        )
        for canonical in how.missing
    ]


def _plan_labels(how: Plan, table: TextTable, options: ReadOptions, *, exported: bool) -> None:
    models = frozenset[str]()
    if {"model_a", "model_b"} <= {*how.mapping}:
        cells = (_cells(how, table, side) for side in ("model_a", "model_b"))
        models = frozenset(
            normalise(name) for column in cells for name in column.dictionary.to_pylist()
        )
    if how.gold_only:
        how.labels = label_counts(_cells(how, table, "gold"))
    elif how.layout != "scores":
        wide = how.layout == "wide"
        columns = (
            [table.columns[judge] for judge in how.judges] if wide else [_cells(how, table, "vote")]
        )
        how.labels = label_counts(*columns)
        name = how.mapping.get("vote", " and ".join(how.judges))
        own = dict(options.label_map)
        given = {
            normalise(label): MEANINGS[meaning]
            for label, meaning in own.items()
            if meaning in MEANINGS
        }
        left = {label: n for label, n in how.labels.items() if label not in own}
        wanted = None if table.one_hot and name == "winner" else options.labels
        words = {normalise(label) for label in how.labels}
        alone = bool(words) and words <= ALONE.keys() and judges_alone(how, name)
        if alone and words - {"0", "1", "true", "false"}:
            _refuse_alone(how, name)
        elif words and words <= {*TIE_WORDS, "0"} and not own and wanted is None:
            how.vocabulary = VOCABULARIES[CANONICAL]
            how.notes.append("Every label is a tie, so no vote is for either side.")
        elif left or not own:
            how.vocabulary = _choose(
                how, "labels", wanted, counts=left, column=name, models=models, canonical=exported
            )
            if alone and how.vocabulary is None:
                how.problems[-1] = AmbiguousLabels(_or_alone(how.problems[-1].message))
        else:
            how.vocabulary = AS_GIVEN
        if how.vocabulary and given:
            how.vocabulary = replace(how.vocabulary, labels={**how.vocabulary.labels, **given})
    if "gold" in how.mapping:
        how.gold_vocabulary = _gold_vocabulary(how, table, options, models, exported=exported)
    if how.vocabulary and how.labels:
        how.notes.append(f"Labels read as {how.vocabulary.name}: {how.vocabulary.meaning}.")


COMPARED = frozenset((*SIDES, *SCORE_COLUMNS, "position"))
"""Columns of which any shows that a row compares two answers."""
_OF_TWO = ("winner", "preference", "preferred", "choice")


def judges_alone(how: Plan, column: str) -> bool:
    """Whether nothing but its labels may say that a row compares two answers."""
    return (
        how.layout == "long" and not COMPARED & how.mapping.keys() and plain(column) not in _OF_TWO
    )


def _refuse_alone(how: Plan, column: str) -> None:
    how.problems.append(
        AmbiguousLabels(
            "column {column}: {labels} judge single answers, and a vote is between two. Read them "
            "as scores of 1 and 0 with {option:format direct_scores}. If each row compares two "
            "answers, say which with {option:map model_a==NAME} and {option:map model_b==NAME}.",
            option="format",
            column=shown(column),
            labels=" and ".join(shown(label) for label in sorted(how.labels)[:4]),
        )
    )


def _or_alone(message: Message) -> Message:
    """The message, and what else the labels may be where nothing shows that two are compared."""
    more = (
        " If each row judges one answer alone, they are no votes: read them as scores with "
        "{option:format direct_scores}, {option:map score=COLUMN} and {option:map model==NAME}."
    )
    return Message(message.template + more, **message.fields)


def _gold_vocabulary(
    how: Plan, table: TextTable, options: ReadOptions, models: frozenset[str], *, exported: bool
) -> Vocabulary | None:
    """That of the votes if it holds every label of gold, else what the labels of gold say."""
    gold = label_counts(_cells(how, table, "gold"))
    chosen = options.gold_labels or (options.labels if how.gold_only else None)
    same = how.vocabulary
    if chosen is None and same and same.name != NAMES:
        if all(same.vote(label) is not None for label in gold):
            return same
        if same.name in NUMERIC and all(
            normalise(label) in ("-1", "0", "1", "2") for label in gold
        ):
            return same
    # Scores and names leave gold as the only column of numbers: 0 and 1 then stay a question.
    canonical = exported or (same is not None and same.name == CANONICAL)
    return _choose(
        how,
        "gold_labels",
        chosen,
        counts=gold,
        column=how.mapping["gold"],
        models=models,
        canonical=canonical,
    )


def _choose(
    how: Plan,
    option: str,
    chosen: str | None,
    *,
    counts: Mapping[str, int],
    column: str,
    models: frozenset[str],
    canonical: bool,
) -> Vocabulary | None:
    """The vocabulary that an option names, or else what `decide` makes of the labels; a doubt is a
    question.
    """
    if chosen is not None:
        named = vocabulary(chosen)
        if named.name == NAMES and not models:
            needed = (
                "line 1: labels that are model names need the columns model_a "
                "and model_b. Name them with "
            )
            how.problems.append(UnreadableFile(needed + "{option}.", option="map"))
            how.missing = tuple(c for c in ("model_a", "model_b") if c not in how.mapping)
        return named
    try:
        return decide(counts, column=column, models=models, canonical=canonical)
    except AmbiguousLabels as problem:
        how.problems.append(AmbiguousLabels(problem.message.about(option)))
        fitting = candidates(counts) or tuple(VOCABULARIES)
        choices = tuple((name, VOCABULARIES[name].meaning) for name in fitting)
        text = f"What do the labels in column {column} mean?"
        how.questions.append(Question(option=option, text=text, choices=choices))
        return None


def _names_of_two(how: Plan, options: ReadOptions) -> dict[str, str]:
    """Names that mean A or B in every row: models named once for all rows, and labels that were
    explained.
    """
    orders = {"model_a": "ab", "model_b": "ba", "A": "ab", "B": "ba"}
    models = ((how.constants[side], orders[side]) for side in SIDES[:2] if side in how.constants)
    labels = ((label, orders[meaning]) for label, meaning in options.label_map if meaning in orders)
    return {normalise(name): order for name, order in (*models, *labels)}


def _plan_slots(how: Plan, table: TextTable, options: ReadOptions) -> None:
    """Labels such as A and B can name the models or the slots; that matters once a row was shown as
    `ba`.
    """
    vocabulary = how.vocabulary
    if vocabulary is None or how.gold_only:
        return
    if vocabulary.name in (CANONICAL, NAMES):
        if options.label_refers == "slot":
            note = "Labels of {vocabulary} always name the models; {option} slot was not used."
            how.notes.append(Message(note, option="label_refers", vocabulary=vocabulary.name))
        return
    how.slots = (
        options.label_refers or ("slot" if vocabulary.names == "slot" else "model")
    ) == "slot"
    by_side = vocabulary.name == "left/right" and sided(
        how.mapping[side] for side in SIDES if side in how.mapping
    )
    # Columns named left and right say what left is, unless the order shown may say another.
    how.slots &= not (by_side and "position" not in how.mapping and options.label_refers is None)
    open_ = vocabulary.names == "either" or by_side
    if not open_ or options.label_refers is not None or "position" not in how.mapping:
        return
    orders = _cells(how, table, "position").dictionary.to_pylist()
    # Labels that also say which was shown first are names of the two, whatever was shown first.
    how.slots &= not (named_first := any(normalise(text) in how.first for text in orders))
    if named_first or all(order_word(text) != "ba" for text in orders):
        return
    column = how.mapping.get("vote", " and ".join(how.judges))
    how.problems.append(
        AmbiguousLabels(
            "column {column}: the labels can name the models, or the first and second shown, and "
            "some rows "
            "were shown in the order ba. Say which with {option} model or {option} slot.",
            option="label_refers",
            column=shown(column),
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


def _scale(how: Plan, table: TextTable, options: ReadOptions) -> ConfidenceScale | None:
    """Scale of the confidence; None is a question: levels and logits are no probabilities."""
    if options.confidence_scale is not None:
        given: ConfidenceScale = (
            options.confidence_scale
            if isinstance(options.confidence_scale, str)
            else "100"
            if options.confidence_scale == 100
            else "1"
        )
        if given in LEVELS:
            how.notes.append(
                f"Confidence read as {SCALE_MEANINGS[given]}: ranks, which are no probabilities "
                f"(confidence_kind {LEVEL_KIND})."
            )
        return given
    scale = confidence_scale(label_counts(_cells(how, table, "confidence")))
    if isinstance(scale, tuple):
        _ask_for_scale(how, scale)
        return None
    if scale != "1":
        words = "as percentages" if scale == "%" else "on a scale of 0 to 100"
        how.notes.append(f"Confidence read {words}, decided by the whole column.")
    return scale


def _ask_for_scale(how: Plan, fitting: tuple[ConfidenceScale, ...]) -> None:
    column = shown(how.mapping["confidence"])
    choices = tuple((scale, SCALE_MEANINGS[scale]) for scale in fitting)
    how.problems.append(
        AmbiguousLabels(
            "column {column}: the confidences are no probabilities from 0 to 1 as they stand. Say "
            "what they are with {option}: {allowed}. Or leave them out with {option:map "
            "confidence=}.",
            option="confidence_scale",
            column=column,
            allowed=[f"{scale} ({meaning})" for scale, meaning in choices],
        )
    )
    how.questions.append(
        Question(
            option="confidence_scale",
            text=f"What do the numbers in column {column} mean?",
            choices=choices,
        )
    )


def _cells(how: Plan, table: TextTable, canonical: str) -> Cells:
    if canonical in how.constants:
        return constant_cells(how.constants[canonical], len(table.row))
    return table.columns[how.mapping[canonical]]
