"""The questions about a dropped table: which column is what, and what its labels mean and name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from core import warehouse
from core.errors import AppellateError, render
from core.importers import Inspection, Question, ReadOptions, inspect
from core.importers.by_plan import answered
from core.importers.columns import cut
from core.importers.layouts import DIRECT, SHAPES
from core.importers.options import SCORE_COLUMNS
from core.importers.values import SCALE_MEANINGS
from core.labels import NAMES, VOCABULARIES, Vocabulary, normalise
from core.reading.words import TIE_WORDS
from core.schema import COLUMNS, RANKINGS, SCORES, VOTES
from pages.shared import cached, uploads

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile


LAYOUTS = {
    "long": "one row per vote",
    "wide": "one column per judge",
    "scores": "two scores per row",
}
METRICS = "a table of answers with a column per metric, as Ragas and others write it"
FIRST_IS_A = "=ab"
LABELS_NAMED = 4
LABELS_ASKED = 24
"""Distinct labels that are asked about one by one; more are no labels."""
MEANT = {"A": "A is better", "B": "B is better", "tie": "tie", "failed": "failed call, no verdict"}
MEANINGS = {
    column.name: column.meaning for form in (RANKINGS, SCORES, VOTES) for column in form.columns
} | {
    "score_a": "score of response A",
    "score_b": "score of response B",
    "permutation": "which candidate was in each slot: 1023 shows candidate 1 first",
    "pick_slot": "slot of the candidate that the judge picked: A, B …",
    "pick_candidate": "candidate that the judge picked: 0, 1 …",
}
TITLES = {
    "item_id": "Prompt or item (item_id)",
    "judge": "Judge",
    "vote": "Verdict (vote)",
    "score_a": "Score of A",
    "score_b": "Score of B",
    "position": "Shown first (position)",
    "gold": "True or human label (gold)",
    "confidence": "Confidence",
    "model_a": "Author of A (model_a)",
    "model_b": "Author of B (model_b)",
}
MAIN = {
    "long": ("item_id", "judge", "vote", "position", "gold", "confidence", "model_a", "model_b"),
    "wide": ("item_id", "position", "gold", "model_a", "model_b"),
    "scores": ("item_id", "judge", *SCORE_COLUMNS, "position", "gold", "model_a", "model_b"),
}
TYPED = ("judge", "model", "model_a", "model_b", "category")
"""Columns that may be one text for every row."""

CHOSEN = {"": "not in this file", FIRST_IS_A: "always A first"}

REFERS = {
    "model": "the models, whichever was shown first",
    "slot": "the first and the second shown",
}
EXAMPLE = (
    "Say the answer of model B was shown first and the judge wrote A: "
    "did model A win, or did B, the first shown?"
)
SCALES: dict[Any, str] = {0: "as found", 1: "0 to 1", 100: "0 to 100"} | {
    scale: meaning for scale, meaning in SCALE_MEANINGS.items() if not scale.isdigit()
}
UNUSED = "not used"
ROLES = {
    "item": "Item",
    "judge": "Judge",
    "judge's": "Judge says",
    "person": "Person",
    "person's": "Person says",
    "gold": "Person says",
    "model": "Model",
    "model_a": "Model A",
    "model_b": "Model B",
    "response": "Answer",
    "response_a": "Answer A",
    "response_b": "Answer B",
    "prompt": "Question",
    "position": "Shown first",
    "confidence": "How sure",
    "rationale": "Reason",
    "category": "Group",
    "timestamp": "Date",
}
"""What a column of a plan holds, in the order in which the sheet shows them."""
RATERS = {"llm": "LLM judges", "human": "people"}
OPTIONS = {
    "format": "“Format”",
    "map": "“Columns”",
    "baseline": "“Name of the baseline”",
    "label_map": "the boxes “What label … means”",
    "labels": "“Labels are written as”",
    "gold_labels": "“Gold is written as”",
    "label_refers": "“The labels name”",
    "confidence_scale": "“Confidence is”",
    "tie_margin": "“Tie margin”",
    "votes_of": "“Make votes of the scores on”",
    "rater_type": "“Raters are”",
    "metrics": "“Columns of metrics”",
    "key": "“Column that names the answers”",
    "warehouse": "“Engine”",
    "table": "“Table”",
}
"""What this page calls the options of a reading."""


TABLE = "table that is looked at"


@dataclass(frozen=True, slots=True)
class Table:
    """A table on another engine, in place of a file."""

    url: str
    name: str

    @property
    def file_id(self) -> str:
        """Key of what is known of it, and of its widgets."""
        return f"table-{hashlib.sha256(f'{self.url} {self.name}'.encode()).hexdigest()[:12]}"


def look_at(file: UploadedFile | Table, options: ReadOptions) -> Inspection | AppellateError:
    """What a file or table looks like under these options, or why it cannot be read."""

    def look() -> Inspection | AppellateError:
        try:
            if isinstance(file, Table):
                return warehouse.look_at(file.url, file.name, options)
            looks = inspect(uploads.content(file), file.name, options)
            # A session keeps what a file looks like, and not the file itself.
            return replace(looks, opened=None)
        except AppellateError as error:
            return error

    kind = f"{options.format} {options.layout} {bool(options.mapping)}"
    return cached.kept(file.file_id, kind, options, look)


MOST_ANSWERS = 4


def plan_options(file: UploadedFile | Table, looks: Inspection, format: str) -> ReadOptions | None:
    """Options of a table that is read by what its columns hold: what the plan asks is chosen here;
    None while a question is open.
    """
    key = file.file_id
    said: list[str] = []
    for number in range(MOST_ANSWERS):
        if not looks.questions:
            break
        question = looks.questions[0]
        meaning = dict(question.choices)
        # The text quotes the file.
        st.text(question.text)
        chosen = st.selectbox(
            "Answer",
            list(meaning),
            None,
            format_func=meaning.__getitem__,
            placeholder="choose",
            key=f"{key}-asked-{number}-{question.text}",
        )
        if chosen is None:
            _sheet(looks, key)
            return None
        said.append(chosen)
        found = look_at(file, replace(answered(" ".join(said)), format=format))
        if isinstance(found, AppellateError):
            st.text(render(found, OPTIONS))
            return None
        looks = found
    _sheet(looks, key)
    return replace(answered(" ".join(said)), format=format)


def table_options(
    file: UploadedFile | Table,
    looks: Inspection,
    format: str,
    head: Any,
    row: Sequence[Any],
    models: Callable[[ReadOptions], frozenset[str]] | None = None,
) -> ReadOptions | None:
    """Options of a table from the widgets of its panel; None while a question is open.

    models : names of the models that the file holds under some options, if they are known before it
        is read.
    """
    key = file.file_id
    layout = row[1].selectbox(
        "Rows hold",
        list(LAYOUTS),
        list(LAYOUTS).index(looks.layout),
        format_func=LAYOUTS.__getitem__,
        key=f"{key}-layout",
    )
    options = ReadOptions(format=format, layout=layout, reader="old")
    if layout != looks.layout:
        found = look_at(file, options)
        if isinstance(found, AppellateError):
            head.text(render(found, OPTIONS))
            return None
        looks = found
    head.caption(f"Recognised: a table, {LAYOUTS[layout]}, {len(looks.columns)} columns")
    options = _rater_type(looks, options, row[2], key)
    unsure = bool(looks.missing or looks.questions) or any(a != b for a, b in looks.mapping.items())
    with st.expander("Columns", expanded=unsure or bool(looks.suggested)):
        options = _columns(looks, options, key)
        # What is missing is said before anything is to be confirmed.
        looked = _complete(file, options)
        if looked and not _confirmed(looks, key):
            looked = None
    if looked and (question := _about_repeats(looked)):
        said = _what_differs(question, options, key)
        looked, options = (_complete(file, said), said) if said else (None, options)
    return _labels(file, looked, options, models) if looked else None


def _about_repeats(looks: Inspection) -> Question | None:
    return next((each for each in looks.questions if each.option == "repeats"), None)


def _what_differs(question: Question, options: ReadOptions, key: str) -> ReadOptions | None:
    """What a column is by which rows of one comparison and judge differ; None until it is said."""
    meanings = dict(question.choices)
    # The text quotes the file.
    st.text(question.text)
    chosen = st.selectbox(
        "That column is",
        list(meanings),
        None,
        format_func=meanings.__getitem__,
        placeholder="choose",
        key=f"{key}-differs-{question.text}",
    )
    if chosen is None:
        return None
    canonical, _, column = chosen.partition("=")
    return replace(options, mapping=(*_without(options, canonical), (canonical, column)))


def _without(options: ReadOptions, canonical: str) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in options.mapping if pair[0] != canonical)


def _confirmed(looks: Inspection, key: str) -> bool:
    """Whether the visitor has said that the suggested columns are right; nothing is taken
    unasked.
    """
    if not looks.suggested:
        return True
    said = ", ".join(
        f"{TITLES.get(name, name)}: {column.removeprefix('=')}"
        for name, column in looks.suggested.items()
    )
    st.text(f"Suggested from names and values, to be checked against the first rows: {said}.")
    return bool(st.checkbox("These columns are right", key=f"{key}-confirmed"))


def row_options(
    file: UploadedFile | Table, looks: Inspection, head: Any, row: Sequence[Any]
) -> ReadOptions | None:
    """Options of a table of scores, rankings or choices from its panel; None while a column is
    missing.
    """
    key = file.file_id
    shape = SHAPES[looks.format]
    line = METRICS if looks.metrics else shape.line
    head.caption(f"Recognised: {line}. If these are votes on pairs, choose the format canonical.")
    options = ReadOptions(format=looks.format)
    options = _rater_type(looks, options, row[2], key)
    others = ("model", "metric", "gold", "cluster") if shape is DIRECT else ()
    names = tuple(dict.fromkeys((*shape.required, *shape.any_of, *others, "run", "category")))
    judge = looks.mapping.get("judge", "")
    if judge.startswith("=") and judge[1:] in looks.columns:
        # A judge that is called as its column would be one choice with that column.
        names = tuple(name for name in names if name != "judge")
    meant = _which(looks, row[1], key)
    if meant is None:
        return None
    if looks.metrics:
        options = _metrics(looks, options, row[1], key)
    with st.expander("Columns", expanded=bool(looks.missing)):
        mapping = _column_boxes(names, looks, key)
        _first_rows(looks, key)
    changed = {name: to for name, to in mapping.items() if to != looks.mapping.get(name, "")}
    options = replace(options, mapping=tuple((changed | meant).items()))
    return options if _complete(file, options) else None


def _metrics(looks: Inspection, options: ReadOptions, place: Any, key: str) -> ReadOptions:
    """Which columns of a table of answers hold a metric each."""
    names = [name for name, _ in looks.metrics]
    taken = [name for name, is_taken in looks.metrics if is_taken]
    chosen = place.multiselect("Columns of metrics", names, taken, key=f"{key}-metrics")
    return options if not chosen or chosen == taken else replace(options, metrics=tuple(chosen))


def _which(looks: Inspection, place: Any, key: str) -> dict[str, str] | None:
    """Columns among which only the user can choose; None while one is not chosen."""
    meant: dict[str, str] = {}
    for question in looks.questions:
        name = question.option.removeprefix("mapping:")
        if name == question.option or name in looks.missing:
            continue
        chosen = place.selectbox(
            question.text,
            [value for value, _ in question.choices],
            index=None,
            key=f"{key}-which-{name}",
        )
        if chosen is None:
            st.text(f"{question.text} Choose it above.")
            return None
        meant[name] = chosen
    return meant


def _rater_type(looks: Inspection, options: ReadOptions, place: Any, key: str) -> ReadOptions:
    """The kind of rater, where no column of the file says it: as found, or as chosen."""
    found = looks.mapping.get("rater_type", "=llm")
    if not found.startswith("="):
        return options
    kinds = list(RATERS)
    rater = place.selectbox(
        "Raters are",
        kinds,
        kinds.index(found[1:]),
        format_func=RATERS.__getitem__,
        key=f"{key}-rater",
    )
    # Unsaid, the columns of people among those of judges stay theirs.
    return options if rater == found[1:] == "llm" else replace(options, rater_type=rater)


def _first_rows(looks: Inspection, key: str) -> None:
    frame = pd.DataFrame([list(cells) for cells in looks.head], columns=list(looks.columns))
    st.dataframe(
        frame, hide_index=True, height=180, key=f"{key}-head", alt="First rows of the file"
    )


def _sheet(looks: Inspection, key: str) -> None:
    """The first rows under what each column holds: those that are used first, and every column."""
    order = list(ROLES)
    roles = {name: looks.roles.get(name, UNUSED) for name in looks.columns}

    def place(name: str) -> int:
        role = roles[name]
        return len(order) + (role == UNUSED) if role not in ROLES else order.index(role)

    names = sorted(looks.columns, key=place)
    cells = [[row[looks.columns.index(name)] for name in names] for row in looks.head]
    heads = [f"{ROLES.get(roles[name], roles[name].capitalize())}: {name}" for name in names]
    frame = pd.DataFrame(cells, columns=heads)
    st.dataframe(
        frame,
        hide_index=True,
        height=142,
        key=f"{key}-sheet",
        alt="First rows of the file, and what each column holds",
    )


def _complete(file: UploadedFile | Table, options: ReadOptions) -> Inspection | None:
    """What the file looks like under these options; None, and why, if a column is missing."""
    looks = look_at(file, options)
    if isinstance(looks, AppellateError):
        st.text(render(looks, OPTIONS))
        return None
    if not looks.missing:
        return looks
    wanted = ", ".join(TITLES.get(name, name) for name in looks.missing)
    votes = looks.kind == "votes"
    one_judge = votes and "judge" in looks.missing
    typed = " If one judge gave every verdict, type its name there." if one_judge else ""
    st.text(f"Choose under “Columns” which column is: {wanted}.{typed}")
    if votes and "vote" in looks.missing:
        st.text(
            "No verdicts, but a score of one response in each row? Choose the format direct_scores."
        )
    return None


def _columns(looks: Inspection, options: ReadOptions, key: str) -> ReadOptions:
    """Which of the file's columns is what, above its first rows."""
    main = MAIN[options.layout]
    others = [column.name for column in COLUMNS if column.name not in (*main, "judge", "vote")]
    mapping = ({} if "vote" in main else {"vote": ""}) | _column_boxes(main, looks, key)
    judges: tuple[str, ...] = ()
    if options.layout == "wide":
        judging = [name for name in looks.judges if name not in looks.suggested.values()]
        chosen = st.multiselect(
            "Columns that are judges", looks.columns, default=judging, key=f"{key}-judges"
        )
        judges = tuple(name for name in chosen if name not in mapping.values())
    with st.popover("More columns"):
        for name in others:
            mapping[name] = _column_box(name, looks, st, key)
    _first_rows(looks, key)
    used = {*mapping.values(), *judges}
    if left := [name for name in looks.columns if name not in used]:
        st.text(
            f"Not used: {', '.join(left)}. Choose above what they are; else they only stay with "
            "the votes."
        )
    if judges == looks.judges and all(
        looks.mapping.get(name, "") == value for name, value in mapping.items()
    ):
        return options
    if "run" not in looks.mapping and not mapping.get("run"):
        # Said to be absent, it would mean that rows alike are repeats.
        mapping.pop("run", None)
    # All of them, as a column left out could otherwise be found again under another name.
    return replace(options, mapping=tuple(mapping.items()), judges=judges)


def _column_boxes(names: Sequence[str], looks: Inspection, key: str) -> dict[str, str]:
    """Canonical column → the file's, from boxes in rows of four."""
    mapping: dict[str, str] = {}
    for start in range(0, len(names), 4):
        for place, name in zip(st.columns(4), names[start : start + 4], strict=False):
            mapping[name] = _column_box(name, looks, place, key)
    return mapping


def _column_box(name: str, looks: Inspection, place: Any, key: str) -> str:
    """Which of the file's columns is this one, as `ReadOptions.mapping` takes it."""
    found = looks.mapping.get(name) or looks.suggested.get(name, "")
    if name == "judge" and not found:
        return _judge_box(looks, place, key)
    # A text for every row that is suggested is one more choice, chosen.
    text = [found] if name in TYPED and found.startswith("=") and found not in looks.columns else []
    choices = ["", *([FIRST_IS_A] if name == "position" else []), *text, *looks.columns]
    chosen = place.selectbox(
        TITLES.get(name, name),
        choices,
        choices.index(found) if found in choices else 0,
        format_func=lambda value: CHOSEN.get(
            value, value.removeprefix("=") if value in text else value
        ),
        help=MEANINGS[name]
        + (". Choose a column, or type a text for every row" if name in TYPED else ""),
        accept_new_options=name in TYPED,
        key=f"{key}-{looks.layout}-{name}",
    )
    return chosen if not chosen or chosen in choices else f"={chosen}"


def _judge_box(looks: Inspection, place: Any, key: str) -> str:
    """The judge, where no column is known to name one: its name, or the column that does."""
    typed = str(
        place.text_input(
            TITLES["judge"],
            placeholder="its name, or a column's",
            help="Type the judge's name if it gave every verdict, or the name of its column",
            key=f"{key}-{looks.layout}-judge",
        )
    ).strip()
    return typed if not typed or typed in looks.columns else f"={typed}"


def _labels(
    file: UploadedFile | Table,
    looks: Inspection,
    options: ReadOptions,
    models: Callable[[ReadOptions], frozenset[str]] | None,
) -> ReadOptions | None:
    """What the labels mean and name. Whatever the file leaves open must be chosen: nothing is
    guessed.
    """
    columns, key = st.columns(4), file.file_id
    gold_only = (
        not {"vote", "judge", *SCORE_COLUMNS} & looks.mapping.keys() and looks.layout == "long"
    )
    if gold_only:
        st.text(
            "Read as gold labels without votes. If these are votes, choose the columns of judge "
            "and verdict."
        )
    open_options = {
        question.option: [name for name, _ in question.choices] for question in looks.questions
    }
    chosen = _vocabulary_of_votes(looks, open_options, columns[0], key)
    options = _scales(looks, options, columns, key)
    if "confidence_scale" in open_options:
        chosen["confidence_scale"] = _open_scale(
            open_options["confidence_scale"], columns[2], looks.mapping["confidence"], key
        )
    vocabulary = VOCABULARIES.get(chosen.get("labels") or "")
    if looks.kind == "votes" and not gold_only and chosen.get("labels") != NAMES:
        meant = _meanings(looks, vocabulary, key)
        options = replace(options, label_map=tuple(meant.items()))
        if not vocabulary and meant and len(meant) == len(looks.labels):
            # Every label is explained: there is no vocabulary to choose, and gold may have the same
            # labels.
            chosen.pop("labels")
            again = look_at(file, options)
            if not isinstance(again, AppellateError):
                open_options = {q.option: [name for name, _ in q.choices] for q in again.questions}
    if "gold" in looks.mapping and not gold_only:
        chosen["gold_labels"] = _vocabulary_of_gold(open_options, columns[1], key)
    either = vocabulary and vocabulary.names == "either" and not gold_only
    refers = "label_refers" in open_options
    if (either or refers) and _order_matters(looks, refers, vocabulary.name if vocabulary else ""):
        chosen["label_refers"] = st.radio(
            "The labels name",
            list(REFERS),
            index=None,
            format_func=REFERS.__getitem__,
            horizontal=True,
            key=f"{key}-refers",
        )
        st.caption(EXAMPLE)
    if vocabulary and vocabulary.name != NAMES:
        slots = (chosen.get("label_refers") or vocabulary.names) == "slot"
        _label_table(looks, vocabulary, dict(options.label_map), slots, key)
    if None in chosen.values():
        if looks.labels and not looks.vocabularies and chosen.get("labels") is None:
            _name_unknown_labels(looks)
        st.text(
            "Choose what is still open above: several readings are possible, and nothing is "
            "guessed."
        )
        return None
    options = replace(options, **{name: value for name, value in chosen.items() if value})
    if looks.labels and not gold_only and not {"model_a", "model_b"} & looks.mapping.keys():
        options = _names_of_models(options, key)
    if models and vocabulary and vocabulary.name == NAMES:
        _name_table(looks, models(options), key)
    return options


def _names_of_models(options: ReadOptions, key: str) -> ReadOptions:
    """What the two models are called that the labels are about, where no column says it."""
    named = options.mapping
    for place, letter, other in zip(st.columns(4), "AB", ("old bot", "new bot"), strict=False):
        typed = place.text_input(
            f"{letter} is called",
            placeholder=f"{letter}, or its name: {other}",
            help="One name for every row. Models in columns are chosen under “Columns”",
            key=f"{key}-called-{letter}",
        ).strip()
        if typed:
            named = (*named, (f"model_{letter.lower()}", f"={typed}"))
    return replace(options, mapping=named)


def _vocabulary_of_votes(
    looks: Inspection, open_options: Mapping[str, list[str]], place: Any, key: str
) -> dict[str, Any]:
    """Vocabulary of the votes by its option; None where the file leaves it open."""
    if not looks.labels:
        return {}
    offered = open_options.get("labels", list(VOCABULARIES))
    chosen = place.selectbox(
        "Labels are written as",
        offered,
        offered.index(looks.vocabulary) if looks.vocabulary else None,
        format_func=_vocabulary_line,
        placeholder="choose",
        # Named anew when other columns settle the question, as a box keeps the answer that it has.
        key=f"{key}-labels-{looks.vocabulary}",
    )
    return {"labels": chosen}


def _vocabulary_of_gold(open_options: Mapping[str, list[str]], place: Any, key: str) -> str | None:
    """Vocabulary of gold, "" as found; None where the file leaves it open."""
    must = "gold_labels" in open_options
    given = place.selectbox(
        "Gold is written as",
        open_options.get("gold_labels", ["", *VOCABULARIES]),
        None if must else 0,
        format_func=lambda name: _vocabulary_line(name) if name else "as found",
        placeholder="choose",
        key=f"{key}-gold-labels-{must}",
    )
    return given or (None if must else "")


def _scales(
    looks: Inspection, options: ReadOptions, columns: Sequence[Any], key: str
) -> ReadOptions:
    """The scale of confidence, unless it is open, and the margin of a tie, in files that have
    them.
    """
    if "confidence" in looks.mapping and looks.confidence_scale:
        found = {"1": "0 to 1", "100": "0 to 100", "%": "percentages"}.get(
            looks.confidence_scale or ""
        )
        scale = columns[2].selectbox(
            "Confidence is",
            list(SCALES),
            format_func=lambda value: SCALES[value] if value else f"as found: {found}",
            key=f"{key}-scale",
        )
        options = replace(options, confidence_scale=scale or None)
    if looks.layout == "scores":
        help = "Scores that differ by no more are a tie"
        margin = columns[3].number_input(
            "Tie margin", min_value=0.0, value=options.tie_margin, help=help, key=f"{key}-tie"
        )
        options = replace(options, tie_margin=float(margin))
    return options


def _open_scale(offered: Sequence[str], place: Any, column: str, key: str) -> Any:
    """The scale of a confidence that may be levels or logits; None until it is chosen."""
    scales = [int(scale) if scale.isdigit() else scale for scale in offered]
    chosen = place.selectbox(
        "Confidence is",
        scales,
        None,
        format_func=SCALES.__getitem__,
        placeholder="choose",
        key=f"{key}-open-scale-{column}",
    )
    if chosen is None:
        st.text(
            f"The numbers in column {cut(column)} are no probabilities from 0 to 1 as they stand: "
            "say what they are, or choose under “Columns” that confidence is not in this file."
        )
    return chosen


def _meanings(looks: Inspection, vocabulary: Vocabulary | None, key: str) -> dict[str, str]:
    """What labels that are not understood mean, one box each: label → key of `MEANT`.

    With a vocabulary those outside it, which are rejected unless they are explained; without one
    all of them.
    """
    if vocabulary is None and looks.vocabularies:
        return {}
    open_ = [
        label for label, _ in looks.labels if vocabulary is None or vocabulary.vote(label) is None
    ]
    if not 0 < len(open_) <= LABELS_ASKED:
        return {}
    st.text(
        "These labels are not in the vocabulary above; each is rejected unless you say what it "
        "means."
        if vocabulary
        else (
            "No vocabulary above has all of these labels. Choose one, or say what each label means."
        )
    )
    meant: dict[str, str] = {}
    for start in range(0, len(open_), 4):
        for place, label in zip(st.columns(4), open_[start : start + 4], strict=False):
            tie = vocabulary is None and normalise(label) in TIE_WORDS
            with place:
                # A label of the file is hostile: Markdown would draw it.
                st.text(cut(label))
                chosen = st.selectbox(
                    f"What label {1 + open_.index(label)} means",
                    list(MEANT),
                    list(MEANT).index("tie") if tie else None,
                    format_func=MEANT.__getitem__,
                    placeholder="rejected" if vocabulary else "choose",
                    key=f"{key}-means-{looks.vocabulary}-{label}",
                    label_visibility="collapsed",
                )
            if chosen:
                meant[label] = chosen
    return meant


def _name_unknown_labels(looks: Inspection) -> None:
    """Labels that no vocabulary has may be names of models that no column names yet."""
    if not {"model_a", "model_b"} <= looks.mapping.keys():
        few = ", ".join(repr(label) for label, _ in looks.labels[:LABELS_NAMED])
        st.text(
            f"The verdicts hold labels such as {few}. If they are names of models, choose under "
            "“Columns” which columns are Author of A and Author of B."
        )


def _order_matters(looks: Inspection, is_open: bool, vocabulary: str) -> bool:
    """Whether A can be the first shown as well as model_a: not if the file shows model_a first
    throughout, or says nothing of an order.
    """
    where = looks.mapping.get("position")
    if where in (None, FIRST_IS_A):
        return False
    return vocabulary != looks.vocabulary or is_open


def _vocabulary_line(name: str) -> str:
    return f"{name}: {VOCABULARIES[name].meaning}"


def _label_table(
    looks: Inspection, vocabulary: Vocabulary, meant: Mapping[str, str], slots: bool, key: str
) -> None:
    first, second = ("the first shown", "the second shown") if slots else ("A", "B")
    read_as = {1: f"{first} is better", 0: "tie", -1: f"{second} is better", None: "rejected"}
    explained = {"A": read_as[1], "tie": "tie", "B": read_as[-1], "failed": MEANT["failed"]}
    given = {label: explained[meaning] for label, meaning in meant.items()}
    said = [given.get(label) or read_as[vocabulary.vote(label)] for label, _ in looks.labels]
    _show_labels(looks, said, key)


def _name_table(looks: Inspection, models: frozenset[str], key: str) -> None:
    """Labels that are the better model's name; others are a tie or rejected."""
    known, ties = {normalise(model) for model in models}, VOCABULARIES[NAMES]
    said = [
        "that model is better"
        if normalise(label) in known
        else "tie"
        if ties.vote(label) == 0
        else "rejected"
        for label, _ in looks.labels
    ]
    _show_labels(looks, said, key)


def _show_labels(looks: Inspection, said: list[str], key: str) -> None:
    labels = [label for label, _ in looks.labels]
    frame = pd.DataFrame({"label": labels, "n": [n for _, n in looks.labels], "read as": said})
    with st.expander(f"Labels ({len(labels):,} distinct)"):
        st.dataframe(
            frame, hide_index=True, key=f"{key}-label-table", alt="Labels and how they are read"
        )
