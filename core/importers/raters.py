"""Whose scores the columns of a table of single answers hold, a judge's or people's, told by the
words in their names; and how such a table is laid out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..errors import AmbiguousLabels
from ..labels import GRADES, grade_word, normalise, shown
from ..reading.words import (
    CHANCES,
    NUMBERED,
    PASSED,
    PROMPTS,
    UNGRADED,
    judge_named,
    meaning,
    tokens,
)
from ..schema import SCORES
from .clusters import with_cluster
from .columns import label_counts
from .layouts import (
    DIRECT,
    ask_for_columns,
    in_words,
    judged_alone,
    map_columns,
    mapped,
    plain,
    says_who,
)
from .options import Plan, Question, ReadOptions
from .source import stem_of
from .suggest import LABELS
from .tables import TextTable
from .values import is_number

_ALONE = {"score", *NUMBERED, *PASSED}
"""Names of columns of scores that say nobody's."""
_JUDGES = meaning("judge", "llm", "model")
_RATERS = meaning("rater")
_PEOPLE = _RATERS | meaning(
    "raters", "human", "expert", "truth", more="person manual user customer"
)
_GRADED, _PASSED = meaning("score"), frozenset(("pass", "passed"))
_SAID = _GRADED | _PASSED | meaning("verdict", more="label answer by of")
"""Words in the name of a column that say that a judge or people say something."""
_BESIDE = meaning(
    more="fail ok thumbs thumb feedback opinion assessment evaluation eval from the is mini nano "
    "turbo pro flash lite sonnet opus haiku preview latest instruct chat large medium small"
)
"""Further words that are no part of what is scored."""
_NO_SCORE = meaning("choice", "number", "confidence", "reason", "order", "run", "size", "call")
_NO_SCORE |= {"key", "name"}
"""Words that say that two answers are compared, or something of a score or of who gave it."""
_NAMED = meaning("model", more="user customer")
"""Words for a judge or people by whose columns votes are called as often."""
_PART = re.compile(r"([^\w.-]+|_)")
"""What parts the words of a name; that of a model is one, whatever hyphens it has."""
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose scores a column holds by the words in its name.

    of : `judge`, `people`, or `model`, which is a judge where nothing else is.
    metric : what is scored: the words that are left over, "" if none is.
    plain : nothing is said but that a judge, or people, say something: `judge_score`, `human 2`.
    """

    of: str
    metric: str
    plain: bool


def whose(column: str) -> Whose | None:
    """None of a column of neither a judge nor people, and of one that says more than their scores.

    >>> whose("helpfulness_human")
    Whose(of='people', metric='helpfulness', plain=False)
    """
    words = {word for word in set(tokens(column)) if len(word) > 1 and not word.isdigit()}
    judges, people = words & _JUDGES, words & _PEOPLE
    of = "people" if people else "judge" if judges else "model" if "model" in words else None
    if of is None or words & _NO_SCORE:
        return None
    more = words - judges - people - _SAID - {"model"}
    # Pass or fail is what has passed.
    nothing = more <= ({"fail"} if "pass" in words else set())
    return Whose(
        of=of,
        metric=" ".join(
            word for part in _PART.split(column) if (word := part.casefold()) in more - _BESIDE
        ),
        plain=nothing and of != "model" and not (judges | people) & _NAMED,
    )


def of_people(column: str) -> bool:
    """Whether a column of labels holds what people say, by its name: `human`, `annotator_2`.

    >>> of_people("expert verdict"), of_people("gpt-4o verdict")
    (True, False)
    """
    said = whose(column)
    return says_who(column) or (said is not None and said.of == "people" and said.plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raters:
    """Columns of scores of judges, and of people beside."""

    judges: tuple[str, ...]
    people: tuple[str, ...]


def raters_of(table: TextTable, taken: Iterable[str] = ()) -> Raters:
    """Whose scores the columns of a table hold, but for those that are taken.

    Plain names come first, then `score` and its like, which name nobody, and columns of people who
    are named in them (`ann_mia`, `ann_jo`), where there are two; then what the names of a judge's
    and of people's columns say of one metric.
    """
    free = [column for column in table.columns if column not in taken]
    told = {column: said for column in free if (said := whose(column))}

    # By the name first: to look at its cells takes longer.
    def scored(columns: Iterable[str]) -> tuple[str, ...]:
        return tuple(column for column in columns if is_scored(table, column))

    judges = scored(column for column, said in told.items() if said.plain and said.of == "judge")
    judges = judges or scored(column for column in free if plain(column) in _ALONE)
    judges = judges or scored(column for column in free if plain(column) in CHANCES)
    people = scored(column for column, said in told.items() if said.plain and said.of == "people")
    # Numbers may be who somebody is, words for good and bad are what is said.
    people = tuple(
        column
        for column in people
        if plain(column) not in _RATERS or in_words(table.columns[column])
    )
    if not people:
        by_name = scored(column for column in free if _names_a_person(column))
        people = by_name if len(by_name) > 1 else ()
    if judges and people:
        return Raters(judges=judges, people=people)
    metrics = _of_one_metric(table, {column: told[column] for column in scored(told)})
    if len(metrics) == 1:
        ((own, theirs),) = metrics.values()
        judges, people = judges or own, people or theirs
    return Raters(judges=judges, people=people)


def _names_a_person(column: str) -> bool:
    who, _, name = plain(column).partition("_")
    called = who in _PEOPLE - _NAMED or who in ("ann", "anno")
    return called and name.isalpha() and name not in _NO_SCORE


def _of_one_metric(
    table: TextTable, told: Mapping[str, Whose]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Metric → the columns of a judge's scores and of people's: `helpfulness_llm` and
    `helpfulness_human`, `LLM verdict` and `reviewer`, `model_pass` and `expert_pass`.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for column, said in told.items():
        found.setdefault(said.metric, {}).setdefault(said.of, []).append(column)
    pairs = {
        metric: (tuple(of.get("judge", of.get("model", [])[:1])), tuple(of.get("people", ())))
        for metric, of in found.items()
    }
    return {
        metric: (own, theirs)
        for metric, (own, theirs) in pairs.items()
        if own and theirs and (metric or not _may_be_sides(table, (*own, *theirs)))
    }


def _may_be_sides(table: TextTable, columns: tuple[str, ...]) -> bool:
    """Whether the labels of columns may be the first, the second and both of two answers."""
    if any(set(tokens(column)) & _GRADED for column in columns):
        return False
    labels = {normalise(label) for label in label_counts(*(table.columns[c] for c in columns))}
    numbers = {label for label in labels if is_number(label)}
    return bool(numbers - {"0", "1"}) and len(labels) <= LABELS


def judge_in(column: str) -> str | None:
    """The judge that the name of a column of votes holds, where a model may be what was chosen:
    `GPT-4` of `GPT-4 choice`.
    """
    return judge_named(column) if set(tokens(column)) & _JUDGES else None


def is_scored(table: TextTable, column: str) -> bool:
    """Whether most cells of a column are numbers or words for good and bad answers."""
    if column not in table.columns:
        return False
    counts = label_counts(table.columns[column])
    graded = [label for label in counts if is_number(label) or grade_word(label) in GRADES]
    known = (*graded, *(label for label in counts if grade_word(label) in UNGRADED))
    return bool(graded) and sum(counts[label] for label in known) > _HALF * sum(counts.values())


def are_scores(table: TextTable, raters: Raters, options: ReadOptions) -> bool:
    """Whether a table holds a judge's scores of single answers with people's, or gold, beside, or
    alone for people to label.
    """
    judges, people = raters.judges, raters.people
    if options.label_map or not judges or not (people or _answers_scored(table, judges)):
        return False
    labels = label_counts(*(table.columns[name] for name in (*judges, *people)))
    # A column of -1, 0 and 1 per rater holds votes.
    return not ("-1" in map(normalise, labels) and len(labels) <= 3)


def _answers_scored(table: TextTable, judges: tuple[str, ...]) -> bool:
    """Whether a table of answers has one score of each and nobody beside, for people to label."""
    named = {plain(column) for column in table.columns}
    answers = {"response", *DIRECT.synonyms["response"], "completion"}
    return len(judges) == 1 and plain(judges[0]) in _ALONE and bool(named & answers)


def lay_out_scores(table: TextTable, name: str, options: ReadOptions) -> Plan:
    """Map the columns of a table of scores, and find the people beside the judge.

    One column of people, or gold, is `gold`; several are raters of their own. Raises UnknownName:
    an option names a column that the file has not.
    """
    columns = tuple(table.columns)
    if options.cluster is not None:
        options = with_cluster(options, columns, name)
    verdicts = judged_alone(table, name, options)
    if verdicts is not None:
        # What it is called as a vote, it is called as a score.
        said = tuple(pair for pair in options.mapping if pair[0] not in ("vote", "score"))
        options = replace(options, mapping=(*said, ("score", verdicts)))
    exported = columns[: len(SCORES.names)] == SCORES.names
    mapping, constants = map_columns(
        columns, name, options, known=DIRECT.columns, synonyms=DIRECT.synonyms
    )
    said_columns = {canonical for canonical, _ in options.mapping}
    if "judge" in mapping and "judge" not in said_columns and is_scored(table, mapping["judge"]):
        # A column `judge` of scores names nobody.
        del mapping["judge"]
    taken = {
        theirs
        for canonical, theirs in mapping.items()
        if canonical not in ("score", "gold") or canonical in said_columns
    }
    raters = Raters(judges=(), people=()) if exported else raters_of(table, taken)
    judges, people = raters.judges, raters.people
    if "score" in said_columns or (judges and "judge" in mapping and "score" in mapping):
        judges = (mapping["score"],) if "score" in mapping else ()
    asked = None
    if not judges and "score" in mapping:
        judges = (mapping["score"],)
    elif judges and "score" not in said_columns:
        judges, people, asked = _one_kind(judges, people)
        mapping["score"] = judges[0]
    if "score" in mapping and not asked and "score" not in said_columns and not exported:
        asked = _two_kinds(table, mapping, judges)
        if asked and len({*map(_what, people)} & {"score", "passed"}) == 1:
            # People say only one of the two.
            judges, people, asked = _one_kind(asked, people)
            mapping["score"] = judges[0]
    people = _of_one_kind(judges, people)
    if said_columns & {"gold"} or ("gold" in mapping and mapping["gold"] not in people):
        people = tuple(column for column in people if column != mapping.get("gold"))
    elif len(people) == 1:
        mapping["gold"], people = people[0], ()
    else:
        mapping.pop("gold", None)
    how = mapped(table, "table", mapping, constants, DIRECT.required)
    kinds = dict.fromkeys(judges, False) | dict.fromkeys(people, True)
    how = replace(
        how,
        stem=stem_of(name),
        unguard=how.unguard and {"item_id", "judge", "score"} <= mapping.keys(),
        raters=kinds if people or len(judges) > 1 else {},
    )
    how = _name_items(_name_judge(how, judges))
    if "judge" in mapping and how.leaves_open_who(options) and says_who(mapping["judge"]):
        how = how.saying("rater_type", "human").noted(
            f"Column {shown(mapping['judge'])} held to be people's, so the scores are theirs."
        )
    if asked:
        how = _ask_which(how, asked)
    return ask_for_columns(_say_what(how, table, judges, people), columns, DIRECT)


def _what(column: str) -> str:
    """What a column says by its name: a score, or pass and fail; empty where it does not."""
    told = whose(column)
    words = set(tokens(column)) if plain(column) in _ALONE or (told and told.plain) else set()
    return "passed" if words & _PASSED else "score" if words & _GRADED else ""


def _one_kind(
    judges: tuple[str, ...], people: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...] | None]:
    """Columns of the judge of one kind, people's beside; or those among which only the user can
    choose.
    """
    kinds = {_what(column) for column in judges}
    if len(kinds) < 2:
        return judges, people, None
    theirs = {_what(column) for column in people}
    if len(kinds & theirs) == 1:
        (kind,) = kinds & theirs
        return tuple(column for column in judges if _what(column) == kind), people, None
    return judges[:1], people, judges


def _two_kinds(
    table: TextTable, mapping: Mapping[str, str], judges: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Columns of scores and of pass and fail beside each other, if there are both."""
    named = {plain(column): column for column in table.columns}
    score, passed = (
        next((named[name] for name in names if name in named), None)
        for names in (("score", *NUMBERED), PASSED)
    )
    if (
        score is None
        or passed is None
        or len(judges) > 1
        or mapping["score"] not in (score, passed)
    ):
        return None
    return (score, passed) if is_scored(table, score) and is_scored(table, passed) else None


def _of_one_kind(judges: tuple[str, ...], people: tuple[str, ...]) -> tuple[str, ...]:
    """Of people's columns those of the judge's kind, if any says its kind."""
    kinds = {_what(column) for column in judges}
    same = tuple(column for column in people if _what(column) in kinds)
    return same or people


def _name_judge(how: Plan, judges: tuple[str, ...]) -> Plan:
    """Call the judge as its column, or else as the file, where people or gold are beside it."""
    if "judge" not in how.missing:
        return how
    if len(judges) > 1:
        return how.without_need("judge")
    if not how.raters and not {"gold", "response"} & how.mapping.keys():
        return how
    own = judge_named(judges[0]) if judges else None
    name = own or how.stem
    like = "as its column is" if own else "as the file is"
    note = f"No column names the judge, so it is called {shown(name)}, {like}."
    return how.saying("judge", name).noted(note)


def _name_items(how: Plan) -> Plan:
    """Tell answers apart where no column names their items."""
    item = how.mapping.get("item_id")
    if item is None and (how.raters or "gold" in how.mapping) and "score" in how.mapping:
        note = "No column names the items, so each row is an answer of its own."
        return replace(how.without_need("item_id"), items="rows").noted(note)
    by_prompt = item is not None and "item_id" not in how.constants and plain(item) in PROMPTS
    if not by_prompt or "response" not in how.mapping or "model" in how.mapping:
        return how
    note = "No column names the items, so each prompt with its response is an item."
    return replace(how, items="texts").noted(note)


def _ask_which(how: Plan, columns: tuple[str, ...]) -> Plan:
    """Ask once which of several columns of one judge is meant."""
    return how.stopped(
        AmbiguousLabels(
            "columns {columns} are what one judge says of the same answer, in two ways. Say which "
            "is meant with {option:map score=COLUMN}.",
            option="map",
            columns=" and ".join(map(shown, columns)),
        ),
        Question(
            option="mapping:score",
            text="Which column is the score?",
            choices=tuple((column, f"column {column}") for column in columns),
        ),
    )


def _say_what(
    how: Plan, table: TextTable, judges: tuple[str, ...], people: tuple[str, ...]
) -> Plan:
    score = how.mapping.get("score")
    if how.raters:
        whose = f"people: {', '.join(people)}" if people else "no people"
        how = how.noted(f"One column per rater. Judges: {', '.join(judges)}; {whose}.")
    elif "gold" in how.mapping and how.mapping["gold"] != "gold":
        how = how.noted(
            f"Column {shown(how.mapping['gold'])} is the gold of column {shown(str(score))}."
        )
    if score in table.columns and in_words(table.columns[score]):
        words = " and ".join(
            shown(label) for label in sorted(label_counts(table.columns[score]))[:4]
        )
        how = how.noted(
            f"Column {shown(score)}: {words} judge single answers, so they are read as "
            "scores of 1 and 0 and are no votes between two."
        )
    return how
