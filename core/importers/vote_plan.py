"""How a table of votes is to be read: columns, layout, labels, scale, and what is asked of them.

`plan` is a row of steps; each takes the plan so far and returns the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from shlex import quote
from typing import cast

from ..bounds import some_of
from ..errors import AmbiguousLabels, Message, UnreadableFile
from ..labels import (
    ALONE,
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
from ..reading.words import PROMPTS, TIE_WORDS
from ..schema import COLUMN_NAMES, LEVEL_KIND
from .clusters import with_cluster
from .columns import Cells, constant_cells, label_counts
from .layouts import (
    FEW,
    LONGEST,
    SIDES,
    find_layout,
    judges_alone,
    map_columns,
    map_sides,
    mapped,
    names,
    plain,
    says_who,
)
from .options import MEANINGS, SCORE_COLUMNS, Plan, Question, ReadOptions
from .raters import judge_in, of_people
from .repeats import plan_repeats
from .source import stem_of
from .suggest import sided, suggest
from .tables import TextTable
from .values import LEVELS, SCALE_MEANINGS, ConfidenceScale, confidence_scale, order_word

ARENA = ("anony", "evaluation_session_id")
"""Columns that only the battles of LMArena have, whose voters are people."""

BOTH_BAD = {"both_bad", "tie (bothbad)", "bothbad", "tie_bothbad"}
"""Labels that only the battles of an arena have."""

LABELS_READ = "Labels read as"
"""How a note begins that says which vocabulary labels are read by."""
AS_GIVEN = Vocabulary("as given", "every label as you say what it means", {}, "either")
"""The vocabulary of a file all of whose labels are explained one by one."""

_REQUIRED = {
    "long": ("item_id", "judge", "vote"),
    "wide": ("item_id",),
    "scores": ("item_id", "judge", *SCORE_COLUMNS),
}


def plan(table: TextTable, name: str, options: ReadOptions, *, name_judge: bool = False) -> Plan:
    """Work out how to read a table, without raising for what is merely ambiguous.

    name_judge : call the judge as its column or else the file, where no column and no option names
        one; else that is a question.

    Raises UnknownName: an option names a column that the file has not.
    """
    how = _plan_columns(table, name, options)
    judge = how.stem if name_judge else None
    if how.mapping.get("judge") != "judge":
        how = _plan_people(how, table, options)
    if {"model_a", "model_b", "vote"} <= how.mapping.keys() - how.constants.keys() and (
        table.one_hot
        or {plain(column) for column in table.columns} & {*ARENA}
        or ("judge" in how.missing and _says_both_bad(how, table))
    ):
        how, judge = _plan_crowd(how, options), "arena"
    if how.missing == ("judge",) and judge is not None:
        like = ", as the file is" if judge == how.stem else ""
        if like and (own := judge_in(how.mapping.get("vote", ""))):
            judge, like = own, ", as its column is"
        how = how.saying("judge", judge).noted(
            f"No column names the judge, so it is called {shown(judge)}{like}."
        )
    if how.missing:
        return _ask_for_columns(how, table)
    # Exports of before 2026-11-28 end with the cost.
    first = COLUMN_NAMES[: COLUMN_NAMES.index("cost") + 1]
    exported = tuple(table.columns)[: len(first)] == first
    models = frozenset[str]()
    if {*SIDES[:2]} <= {*how.mapping}:
        cells = (_cells(how, table, side) for side in SIDES[:2])
        models = frozenset(
            normalise(name) for each in cells for name in each.dictionary.to_pylist()
        )
    how = _plan_labels(how, table, options, models, exported=exported)
    if "gold" in how.mapping:
        how = _plan_gold(how, table, options, models, exported=exported)
    how = _plan_slots(how, table, options)
    if "confidence" in how.mapping.keys() - how.constants.keys():
        how = _plan_scale(how, table, options)
    return how if "run" in how.mapping else plan_repeats(how, table, options)


def _plan_columns(table: TextTable, name: str, options: ReadOptions) -> Plan:
    """Layout, columns and what is missing of them."""
    if options.cluster is not None:
        options = with_cluster(options, tuple(table.columns), name)
    mapping, constants = map_columns(tuple(table.columns), name, options)
    if not {"model_a", "model_b"} & mapping.keys():
        mapping = map_sides(table, mapping)
    layout, mapping, judges = find_layout(table, mapping, name, options)
    people = () if "gold" in mapping else _people_beside(table, mapping, judges, options)
    if len(people) == 1:
        mapping = {**mapping, "gold": people[0]}
        judges = tuple(judge for judge in judges if judge not in people)
    present = {*mapping, *constants}
    gold_only = layout == "long" and "gold" in present and not {"vote", "judge"} & present
    required = ("item_id", "gold") if gold_only else _REQUIRED[layout]
    how = mapped(table, layout, mapping, constants, required)
    # Names that mean A or B in every row: models named once for all rows, and labels explained.
    orders = {"model_a": "ab", "model_b": "ba", "A": "ab", "B": "ba"}
    of_two = [
        *((constants[side], orders[side]) for side in SIDES[:2] if side in constants),
        *((label, orders[meaning]) for label, meaning in options.label_map if meaning in orders),
    ]
    how = replace(
        how,
        first={normalise(name): order for name, order in of_two},
        judges=judges,
        gold_only=gold_only,
        unguard=how.unguard and {"item_id", "judge", "vote"} <= mapping.keys(),
        stem=stem_of(name),
    )
    if len(people) == 1:
        how = how.noted(
            f"Column {shown(people[0])} was read as gold, as it is people's by its name and has "
            "the labels of the votes."
        )
    elif people and layout == "long":
        several = (
            "Columns {columns} seem to hold what people say, and were not read: {option:map "
            "gold=COLUMN} takes one for gold."
        )
        how = how.noted(Message(several, option="map", columns=people))
    if layout == "wide":
        how = how.noted(f"One column per judge: {some_of(judges)}. Blank cells there are no votes.")
    return _plan_items(how)


def _people_beside(
    table: TextTable, mapping: Mapping[str, str], judges: tuple[str, ...], options: ReadOptions
) -> tuple[str, ...]:
    """Columns that are people's by their names and have the labels of the votes beside them."""
    votes = [column for column in judges if not of_people(column)] or [mapping.get("vote", "")]
    said = {"gold", "rater_type"} & {*mapping, *(canonical for canonical, _ in options.mapping)}
    if said or options.rater_type is not None or not {*votes} <= table.columns.keys():
        return ()
    free = judges or [column for column in table.columns if column not in mapping.values()]
    # A column called `annotator` may say who, and by letters or numbers too.
    people = [column for column in free if of_people(column) and (judges or not says_who(column))]
    labels, *theirs = (
        {*map(normalise, label_counts(*(table.columns[column] for column in columns)))}
        for columns in ((votes if people else []), *([column] for column in people))
    )
    # 0 and 1 may say whether a person voted.
    return tuple(
        column
        for column, own in zip(people, theirs, strict=True)
        if own <= labels | TIE_WORDS and not own <= {"0", "1"}
    )


def _plan_people(how: Plan, table: TextTable, options: ReadOptions) -> Plan:
    """Take the judges from a column that names people where no other names them; its votes are
    theirs.
    """
    if "judge" in how.missing:
        chat = {"assistant", "system"} & {plain(column) for column in table.columns}
        for column in table.columns:
            free = column not in how.mapping.values() and not (chat and plain(column) == "user")
            if not free or not says_who(column):
                continue
            # Whatever else such a column holds, names of people are short.
            if max(map(len, table.columns[column].dictionary.to_pylist()), default=0) <= LONGEST:
                how = how.taking("judge", column).noted(f"Column {shown(column)} read as judge.")
                break
    named = how.judges or (how.mapping.get("judge", "="),)
    if not how.leaves_open_who(options):
        return how
    people = tuple(column for column in named if (of_people if how.judges else says_who)(column))
    if not people:
        return how
    note = (
        "{what} {named} held to be people's, so the votes are theirs; {option} llm says otherwise."
    )
    how = how.noted(
        Message(
            note,
            option="rater_type",
            what="Columns" if len(people) > 1 else "Column",
            named=", ".join(map(shown, people)),
        )
    )
    if len(people) == len(named):
        return how.saying("rater_type", "human")
    return replace(how, people=frozenset(people))


def _plan_crowd(how: Plan, options: ReadOptions) -> Plan:
    """The votes of an arena are people's."""
    if not how.leaves_open_who(options):
        return how
    return how.saying("rater_type", "human").noted(
        "Battles of an arena, so the votes are people's."
    )


def _says_both_bad(how: Plan, table: TextTable) -> bool:
    """Whether some verdicts are that both are bad, as in arenas alone."""
    if how.mapping["vote"] not in table.columns:
        return False
    return bool({*map(normalise, label_counts(table.columns[how.mapping["vote"]]))} & BOTH_BAD)


def _plan_items(how: Plan) -> Plan:
    """Tell comparisons apart where no column names their items."""
    item = how.mapping.get("item_id")
    responses = {"response_a", "response_b"} <= how.mapping.keys()
    if item is not None:
        by_prompt = "item_id" not in how.constants and plain(item) in PROMPTS
        return replace(how, items="texts") if responses and by_prompt else how
    if "item_id" not in how.missing:
        return how
    if responses:
        return replace(how.without_need("item_id"), items="texts")
    if how.layout == "long" and {"model_a", "model_b", "vote"} <= how.mapping.keys():
        note = "No column names the items, so each row is a comparison of its own."
        return replace(how.without_need("item_id"), items="rows").noted(note)
    return how


_SINGLE = (
    " A vote says which of two answers is better; of single answers name {option:map score=COLUMN}."
)
"""Beside a missing vote: a table may hold scores under names that say nothing."""


def _ask_for_columns(how: Plan, table: TextTable) -> Plan:
    label = next((column for column in table.columns if plain(column) == "label"), None)
    doubt = (
        " Column {label} is not taken for votes, as it may be the true "
        "label: name it as gold or as vote."
    )
    choices = tuple((column, f"column {column}") for column in table.columns)
    likely = _likely(how, table)
    return how.stopped(
        UnreadableFile(
            "line 1: no column for {missing}. Columns: {columns}. Name {them} with {option:map "
            "{each}}, or give one text for every row with {option:map {first}==TEXT}."
            + (_SINGLE if "vote" in how.missing else "")
            + (doubt if label and "vote" in how.missing else "")
            + (" Likely, by names and values: {option:map {likely}}" if likely else ""),
            likely=likely,
            option="map",
            missing=" and ".join(how.missing),
            them="it" if len(how.missing) == 1 else "them",
            each=" ".join(f"{canonical}=COLUMN" for canonical in how.missing),
            columns=names(table.columns),
            first=how.missing[0],
            label=label,
        ),
        *(
            Question(
                option=f"mapping:{canonical}", text=f"Which column is {canonical}?", choices=choices
            )
            for canonical in how.missing
        ),
    )


def _likely(how: Plan, table: TextTable) -> str:
    """Which columns may be those that are missing, gold and the two sides, as they are typed;
    nothing for a table of very many.
    """
    if len(table.columns) > FEW:
        return ""
    suggested = {
        canonical: column
        for canonical, column in suggest(table, how.mapping).items()
        if column.isprintable() and canonical in (*how.missing, "gold", *SIDES)
    }
    if not suggested:
        return ""
    if "judge" in how.missing:
        judge = judge_in(suggested.get("vote", how.mapping.get("vote", ""))) or "NAME"
        suggested.setdefault("judge", f"={judge}")
    suggested |= {name: "COLUMN" for name in how.missing if name not in suggested}
    return " ".join(quote(f"{canonical}={column}") for canonical, column in suggested.items())


def _plan_labels(
    how: Plan, table: TextTable, options: ReadOptions, models: frozenset[str], *, exported: bool
) -> Plan:
    """What the labels of votes mean."""
    if how.gold_only:
        return replace(how, labels=label_counts(_cells(how, table, "gold")))
    if how.layout == "scores":
        return how
    columns = (
        [table.columns[judge] for judge in how.judges]
        if how.layout == "wide"
        else [_cells(how, table, "vote")]
    )
    how = replace(how, labels=label_counts(*columns))
    name = how.mapping.get("vote", " and ".join(how.judges))
    own = dict(options.label_map)
    given = {
        normalise(label): MEANINGS[meaning] for label, meaning in own.items() if meaning in MEANINGS
    }
    left = {label: n for label, n in how.labels.items() if label not in own}
    wanted = None if table.one_hot and name == "winner" else options.labels
    words = {normalise(label) for label in how.labels}
    alone = bool(words) and words <= ALONE.keys() and judges_alone(how, name)
    chosen: Vocabulary | None = None
    if alone and words - {"0", "1", "true", "false"}:
        how = how.stopped(_no_votes(how, name))
    elif words and words <= {*TIE_WORDS, "0"} and not own and wanted is None:
        chosen = VOCABULARIES[CANONICAL]
        how = how.noted("Every label is a tie, so no vote is for either side.")
    elif left or not own:
        how, chosen = _choose(
            how, "labels", wanted, counts=left, column=name, models=models, canonical=exported
        )
        if alone and chosen is None:
            *others, doubt = how.problems
            how = replace(how, problems=(*others, AmbiguousLabels(_or_alone(doubt.message))))
    else:
        chosen = AS_GIVEN
    if chosen and given:
        chosen = replace(chosen, labels={**chosen.labels, **given})
    # A vote in the canonical form needs no word.
    told = chosen and words and (chosen.name != CANONICAL or name != "vote")
    read_as = [f"{LABELS_READ} {chosen.name}: {chosen.meaning}."] if chosen and told else []
    return replace(how, vocabulary=chosen, notes=(*how.notes, *read_as))


def _no_votes(how: Plan, column: str) -> AmbiguousLabels:
    return AmbiguousLabels(
        "column {column}: {labels} judge single answers, and a vote is between two. Read them "
        "as scores of 1 and 0 with {option:format direct_scores}. If each row compares two "
        "answers, say which with {option:map model_a==NAME} and {option:map model_b==NAME}.",
        option="format",
        column=shown(column),
        labels=" and ".join(shown(label) for label in sorted(how.labels)[:4]),
    )


def _or_alone(message: Message) -> Message:
    """The message, and what else the labels may be where nothing shows that two are compared."""
    more = (
        " If each row judges one answer alone, they are no votes: read them as scores with "
        "{option:format direct_scores}, {option:map score=COLUMN} and {option:map model==NAME}."
    )
    return Message(message.template + more, **message.fields)


def _plan_gold(
    how: Plan, table: TextTable, options: ReadOptions, models: frozenset[str], *, exported: bool
) -> Plan:
    """The vocabulary of the votes if it holds every label of gold, else what the labels of gold
    say.
    """
    gold = label_counts(_cells(how, table, "gold"))
    chosen = options.gold_labels or (options.labels if how.gold_only else None)
    same = how.vocabulary
    shared = (
        chosen is None
        and same is not None
        and same.name != NAMES
        and (
            all(same.vote(label) is not None for label in gold)
            or (
                same.name in NUMERIC
                and all(normalise(label) in ("-1", "0", "1", "2") for label in gold)
            )
        )
    )
    if not shared:
        # Scores and names leave gold as the only column of numbers: 0 and 1 then stay a question.
        how, same = _choose(
            how,
            "gold_labels",
            chosen,
            counts=gold,
            column=how.mapping["gold"],
            models=models,
            canonical=exported or (same is not None and same.name == CANONICAL),
        )
    in_slots = same is not None and same.names == "slot"
    placed = "position" in how.mapping.keys() - how.constants.keys()
    slots = in_slots and placed and options.label_refers != "model"
    return replace(how, gold_vocabulary=same, gold_slots=slots)


def _choose(
    how: Plan,
    option: str,
    chosen: str | None,
    *,
    counts: Mapping[str, int],
    column: str,
    models: frozenset[str],
    canonical: bool,
) -> tuple[Plan, Vocabulary | None]:
    """The vocabulary that an option names, or else what `decide` makes of the labels; a doubt is a
    question.
    """
    if chosen is not None:
        named = vocabulary(chosen)
        if named.name == NAMES and not models:
            needed = (
                "line 1: labels that are model names need the columns model_a "
                "and model_b. Name them with {option}."
            )
            missing = tuple(c for c in ("model_a", "model_b") if c not in how.mapping)
            how = replace(how, missing=missing).stopped(UnreadableFile(needed, option="map"))
        return how, named
    try:
        return how, decide(counts, column=column, models=models, canonical=canonical)
    except AmbiguousLabels as problem:
        fitting = candidates(counts) or tuple(VOCABULARIES)
        choices = tuple((name, VOCABULARIES[name].meaning) for name in fitting)
        text = f"What do the labels in column {column} mean?"
        question = Question(option=option, text=text, choices=choices)
        return how.stopped(AmbiguousLabels(problem.message.about(option)), question), None


def _plan_slots(how: Plan, table: TextTable, options: ReadOptions) -> Plan:
    """Labels such as A and B can name the models or the slots; that matters once a row was shown as
    `ba`.
    """
    vocabulary = how.vocabulary
    if vocabulary is None or how.gold_only:
        return how
    if vocabulary.name in (CANONICAL, NAMES):
        if options.label_refers != "slot":
            return how
        note = "Labels of {vocabulary} always name the models; {option} slot was not used."
        return how.noted(Message(note, option="label_refers", vocabulary=vocabulary.name))
    refers = options.label_refers
    slots = (refers or ("slot" if vocabulary.names == "slot" else "model")) == "slot"
    by_side = vocabulary.name == "left/right" and sided(
        how.mapping[side] for side in SIDES if side in how.mapping
    )
    # Columns named left and right say what left is, unless the order shown may say another.
    slots = slots and not (by_side and "position" not in how.mapping and refers is None)
    if slots and refers is None and not {"position", *SIDES} & how.mapping.keys():
        note = "No column names the two or says which was shown first, so A is the first shown."
        return how.saying("position", "ab").noted(note)
    is_open = vocabulary.names == "either" or by_side
    if not is_open or refers is not None or "position" not in how.mapping:
        return replace(how, slots=slots)
    orders = _cells(how, table, "position").dictionary.to_pylist()
    # Labels that also say which was shown first are names of the two, whatever was shown first.
    named_first = any(normalise(text) in how.first for text in orders)
    how = replace(how, slots=slots and not named_first)
    if named_first or all(order_word(text) != "ba" for text in orders):
        return how
    column = how.mapping.get("vote", " and ".join(how.judges))
    return how.stopped(
        AmbiguousLabels(
            "column {column}: the labels can name the models, or the first and second shown, and "
            "some rows "
            "were shown in the order ba. Say which with {option} model or {option} slot.",
            option="label_refers",
            column=shown(column),
        ),
        Question(
            option="label_refers",
            text=f"What do the labels in column {column} name?",
            choices=(
                ("model", "the models, whichever was shown first"),
                ("slot", "the first and second shown"),
            ),
        ),
    )


def _plan_scale(how: Plan, table: TextTable, options: ReadOptions) -> Plan:
    """Scale of the confidence; None is a question: levels and logits are no probabilities."""
    if options.confidence_scale is not None:
        given = cast(ConfidenceScale, str(options.confidence_scale))
        how = replace(how, scale=given)
        if given not in LEVELS:
            return how
        return how.noted(
            f"Confidence read as {SCALE_MEANINGS[given]}: ranks, which are no probabilities "
            f"(confidence_kind {LEVEL_KIND})."
        )
    scale = confidence_scale(label_counts(_cells(how, table, "confidence")))
    if isinstance(scale, tuple):
        return _ask_for_scale(how, scale)
    how = replace(how, scale=scale)
    if scale == "1":
        return how
    words = "as percentages" if scale == "%" else "on a scale of 0 to 100"
    return how.noted(f"Confidence read {words}, decided by the whole column.")


def _ask_for_scale(how: Plan, fitting: tuple[ConfidenceScale, ...]) -> Plan:
    column = shown(how.mapping["confidence"])
    choices = tuple((scale, SCALE_MEANINGS[scale]) for scale in fitting)
    return replace(how, scale=None).stopped(
        AmbiguousLabels(
            "column {column}: the confidences are no probabilities from 0 to 1 as they stand. Say "
            "what they are with {option}: {allowed}. Or leave them out with {option:map "
            "confidence=}.",
            option="confidence_scale",
            column=column,
            allowed=[f"{scale} ({meaning})" for scale, meaning in choices],
        ),
        Question(
            option="confidence_scale",
            text=f"What do the numbers in column {column} mean?",
            choices=choices,
        ),
    )


def _cells(how: Plan, table: TextTable, canonical: str) -> Cells:
    if canonical in how.constants:
        return constant_cells(how.constants[canonical], len(table.row))
    return table.columns[how.mapping[canonical]]
