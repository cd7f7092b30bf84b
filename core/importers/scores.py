"""Tables of scores of single answers: who scored beside the judge, what words mean, and which scale
the numbers have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import AmbiguousLabels, UnknownName, UnreadableFile
from ..labels import GRADES, UNGRADED, grade_word, normalise, shown
from ..schema import SCORES, ImportResult
from .checks import TypedRows, finish, reject_gold_conflicts
from .columns import (
    BadCell,
    Cells,
    Numbers,
    cell_codes,
    cell_text,
    coded_cells,
    constant_cells,
    dense_codes,
    encode_cells,
    fill_missing,
    has_number,
    label_counts,
    map_cells,
    parse_flag,
    parse_float,
    parse_int,
    text_hash,
    within,
)
from .layouts import (
    DIRECT,
    NUMBERED,
    PASSED,
    PROMPTS,
    Shape,
    as_votes,
    ask_for_columns,
    by_people,
    in_words,
    judged_alone,
    map_columns,
    mapped,
    plain,
)
from .options import Question, ReadOptions
from .plan import Plan
from .row_parser import RowParser
from .source import Source, stem_of
from .suggest import LABELS, words_of
from .tables import TextTable

_WHO = (
    "human|person|people|expert|annotator|reviewer|labell?er|rater|assessor|participant|worker|"
    "gold|golden|reference|ground_truth|truth|true|manual|crowd"
)
_WHAT = (
    "score|rating|grade|passed|pass|pass_fail|verdict|label|judge?ment|result|decision|says|answer"
)
PERSON = re.compile(
    rf"(?:{_WHO})s?(?:_?[0-9]{{1,3}}|_[a-z])?(?:_(?P<what>{_WHAT}))?(?:_?[0-9]{{1,3}})?"
    rf"|(?P<first>{_WHAT})_(?:of_|by_)?(?:{_WHO})s?(?:_?[0-9]{{1,3}}|_[a-z])?"
)
"""Columns that hold what a person, or gold, says of each answer."""
BY_NAME = re.compile(rf"(?:{_WHO}|anno?)s?_[^\W\d_]+")
"""Columns of people who are named in them (`ann_mia`, `ann_jo`), where there are two or more."""
JUDGE = re.compile(
    rf"(?P<who>judge|llm|ai|auto|grader|evaluator|model_judge|llm_judge)(?:_?[0-9]{{1,3}})?"
    rf"(?:_(?P<what>{_WHAT}))?"
)
"""Columns that hold what a judge says of each answer."""
_JUDGING_WORDS = (
    "judge llm ai auto automatic automated grader evaluator gpt chatgpt claude gemini llama "
    "mistral mixtral qwen deepseek grok prometheus"
)
_PEOPLE_WORDS = (
    "human humans person people expert experts annotator reviewer labeler labeller rater assessor "
    "participant worker user customer gold golden reference truth manual crowd mensch menschen "
    "experte experten prüfer"
)
_SAYS_WORDS = (
    "score scores rating ratings grade passed pass fail verdict label judgement judgment result "
    "decision says said answer thumbs thumb feedback opinion assessment evaluation eval urteil "
    "bewertung note ergebnis ok by of from the is mini nano turbo pro flash lite sonnet opus haiku "
    "preview latest instruct chat large medium small"
)
_COMPARES_WORDS = (
    "choice chosen winner wins won preferred preference prefers vote votes pick picked better best "
    "side gewinner"
)
_ABOUT_WORDS = (
    "id ids no num nr number index idx key name time date timestamp year month day seconds sec ms "
    "latency duration token tokens cost price usd length len count confidence conf certainty "
    "reason reasons reasoning rationale explanation comment version run seed step turn "
    "temperature rank order position"
)
_JUDGING, _PEOPLE, _SAYS, _COMPARES, _ABOUT = (
    frozenset(words.split())
    for words in (_JUDGING_WORDS, _PEOPLE_WORDS, _SAYS_WORDS, _COMPARES_WORDS, _ABOUT_WORDS)
)
"""Words in the names of columns that say whose scores they hold; that say nothing more; that say
that two answers are compared; and that say something of a score or of who gave it.
"""
_GRADED = frozenset(("score", "scores", "rating", "ratings", "grade", "bewertung", "note"))
"""Words beside which two or three numbers are levels, and no first and second answer."""
_NAMES_WHO = re.compile(r"annotator|reviewer|labell?er|rater|assessor|participant|worker|crowd")
"""Columns that rather hold names of people, if they are numbered by nothing."""
_HALF = 0.5
MOST_CLASSES = 24
"""Distinct texts of a column without a number up to which they are labels of classes."""
MOST_REPEATED = 50_000_000
"""Cells of other columns that are repeated for each rater of a row."""


def _parse_number(text: str) -> float:
    """A number, also one of percent, which is on a scale of 0 to 100."""
    return parse_float(text.removesuffix("%").rstrip())


parse_score = within(
    _parse_number,
    -1e6,
    1e6,
    "beyond a million, which is no scale of scores; correct it, or leave the cell empty",
)
"""Score of any scale, of at most a million either way."""
parse_share = within(parse_float, 0, 1, "outside 0 to 1; correct it, or leave the cell empty")
"""Confidence in a score."""


def are_scores(table: TextTable, options: ReadOptions) -> bool:
    """Whether a table holds a judge's scores of single answers with people's, or gold, beside.

    Columns or options that compare two answers have the first claim.
    """
    if options.format != "auto" or options.label_map or as_votes(table.columns, options):
        return False
    taken = {theirs for _, theirs in options.mapping}
    judges, people = _beside(table, taken)
    if not judges or not (people or _answers_scored(table, judges)):
        return False
    labels = label_counts(*(table.columns[name] for name in (*judges, *people)))
    # A column of -1, 0 and 1 per rater holds votes.
    return not ("-1" in map(normalise, labels) and len(labels) <= 3)


def _answers_scored(table: TextTable, judges: tuple[str, ...]) -> bool:
    """Whether a table of answers has one score of each and nobody beside, for people to label."""
    named = {plain(column) for column in table.columns}
    answers = {"response", *DIRECT.synonyms["response"], "completion"}
    return (
        len(judges) == 1
        and plain(judges[0]) in ("score", *NUMBERED, *PASSED)
        and bool(named & answers)
    )


def lay_out_scores(table: TextTable, name: str, options: ReadOptions) -> Plan:
    """Map the columns of a table of scores, and find the people beside the judge.

    One column of people, or gold, is `gold`; several are raters of their own. Raises UnknownName:
    an option names a column that the file has not.
    """
    columns = tuple(table.columns)
    if options.cluster is not None:
        named = tuple(pair for pair in options.mapping if pair[0] != "cluster")
        if options.cluster not in columns:
            raise UnknownName(
                "{file}: {option} {value!r}: there is no such column. Columns: {columns}.",
                option="cluster",
                file=name,
                value=options.cluster,
                columns=[shown(column) for column in columns[:40]],
            )
        options = replace(options, mapping=(*named, ("cluster", options.cluster)))
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
    if "judge" in mapping and "judge" not in said_columns and _is_scored(table, mapping["judge"]):
        # A column `judge` of scores names nobody.
        del mapping["judge"]
    taken = {
        theirs
        for canonical, theirs in mapping.items()
        if canonical not in ("score", "gold") or canonical in said_columns
    }
    judges, people = ((), ()) if exported else _beside(table, taken)
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
    raters = dict.fromkeys(judges, False) | dict.fromkeys(people, True)
    how = replace(
        how,
        stem=stem_of(name),
        unguard=how.unguard and {"item_id", "judge", "score"} <= mapping.keys(),
        raters=raters if people or len(judges) > 1 else {},
    )
    how = _name_items(_name_judge(how, judges))
    if "judge" in mapping and by_people(how, [mapping["judge"]], options):
        how = how.saying("rater_type", "human").noted(
            f"Column {shown(mapping['judge'])} held to be people's, so the scores are theirs."
        )
    if asked:
        how = _ask_which(how, asked)
    return ask_for_columns(_say_what(how, table, judges, people), columns, DIRECT)


def _beside(table: TextTable, taken: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns of scores of judges, and of people."""
    named = {column: plain(column) for column in table.columns if column not in taken}
    alone = {"score", *NUMBERED, *PASSED}

    def of(fits: Callable[[str], object]) -> tuple[str, ...]:
        # By the name first: to look at its cells takes longer.
        return tuple(
            column for column, name in named.items() if fits(name) and _is_scored(table, column)
        )

    judges = of(JUDGE.fullmatch) or of(alone.__contains__)
    people = of(lambda name: PERSON.fullmatch(name) and not JUDGE.fullmatch(name))
    # Numbers may be who somebody is, words for good and bad are what is said.
    people = tuple(
        column
        for column in people
        if not _NAMES_WHO.fullmatch(named[column]) or in_words(table.columns[column])
    )
    by_name = () if people else of(BY_NAME.fullmatch)
    people = by_name if len(by_name) > 1 else people
    if judges and people:
        return judges, people
    of_metric = whose_scores(table, taken)
    if len(of_metric) == 1:
        ((own, theirs),) = of_metric.values()
        return judges or own, people or theirs
    return judges, people


def whose_scores(
    table: TextTable, taken: Iterable[str] = ()
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Metric → the columns of a judge's scores and of people's, by the words in their names, of
    metrics that have both: `helpfulness_llm` and `helpfulness_human`, `LLM verdict` and `reviewer`.

    The metric is what the words of both leave over, "" if nothing. `model` is a judge's where
    nothing else is and people say the same of it: `model_pass` and `expert_pass`.
    """
    found: dict[str, tuple[list[str], list[str]]] = {}
    modelled: dict[str, str] = {}
    for column in table.columns:
        if column in taken:
            continue
        words = {word for word in words_of(column) if len(word) > 1 and not word.isdigit()}
        judging, people = words & _JUDGING, words & _PEOPLE
        of_model = not judging and not people and "model" in words
        if not (judging or people or of_model) or words & (_COMPARES | _ABOUT):
            continue
        if not _is_scored(table, column):
            continue
        metric = " ".join(
            word
            for part in _parts(column)
            if (word := part.casefold()) in words - judging - people - _SAYS - {"model"}
        )
        if of_model:
            modelled.setdefault(metric, column)
        else:
            found.setdefault(metric, ([], []))[bool(people)].append(column)
    for metric, column in modelled.items():
        if metric in found and not found[metric][0]:
            found[metric][0].append(column)
    return {
        metric: (tuple(own), tuple(theirs))
        for metric, (own, theirs) in found.items()
        if own and theirs and (metric or not _may_be_sides(table, (*own, *theirs)))
    }


def _may_be_sides(table: TextTable, columns: tuple[str, ...]) -> bool:
    """Whether the labels of columns may be the first, the second and both of two answers."""
    if any(words_of(column) & _GRADED for column in columns):
        return False
    labels = {normalise(label) for label in label_counts(*(table.columns[c] for c in columns))}
    numbers = {label for label in labels if _is_number(label)}
    return bool(numbers - {"0", "1"}) and len(labels) <= LABELS


def _parts(column: str) -> list[str]:
    return [part for part in re.split(r"[^\w.-]+|_", column) if part]


def called(column: str) -> str | None:
    """The judge by the name of the column of its scores: `gpt-4o` of `gpt-4o score`."""
    judging = _JUDGING if words_of(column) & _JUDGING else {"model"}
    return " ".join(part for part in _parts(column) if words_of(part) & judging) or None


def _is_scored(table: TextTable, column: str) -> bool:
    """Whether most cells of a column are numbers or words for good and bad answers."""
    if column not in table.columns:
        return False
    counts = label_counts(table.columns[column])
    known = sum(n for label, n in counts.items() if _is_number(label) or _is_word(label))
    graded = any(_is_number(label) or grade_word(label) in GRADES for label in counts)
    return graded and known > _HALF * sum(counts.values())


def _is_word(label: str) -> bool:
    return grade_word(label) in GRADES or grade_word(label) in UNGRADED


def _is_number(label: str) -> bool:
    try:
        _parse_number(label)
    except BadCell:
        return False
    return True


def _what(column: str) -> str:
    """What a column says by its name: a score, or pass and fail; empty where it does not."""
    name = plain(column)
    if name in ("score", *NUMBERED):
        return "score"
    if name in PASSED:
        return "passed"
    match = JUDGE.fullmatch(name) or PERSON.fullmatch(name)
    groups = match.groupdict() if match else {}
    word = groups.get("what") or groups.get("first") or ""
    if word in ("passed", "pass", "pass_fail"):
        return "passed"
    return "score" if word in ("score", "rating", "grade") else ""


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
    return (score, passed) if _is_scored(table, score) and _is_scored(table, passed) else None


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
    match = JUDGE.fullmatch(plain(judges[0])) if judges else None
    own = match["who"] if match else called(judges[0]) if judges else None
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


def read_scores(
    table: TextTable, source: Source, shape: Shape, options: ReadOptions
) -> ImportResult:
    """Read one score per row, or several raters per row; `finish` says how rows of the same key are
    settled.

    Any finite scale up to a million, or words such as pass, partial and fail (1, ½, 0) where a
    column holds no other numbers. A missing score without a status is `unparsed`; so are words such
    as N/A, and refusals are `refused`: never a fail. The scale of each metric is said and kept
    beside its scores, see `scale_of`. Source: ours.

    Raises UnreadableFile: a required column is missing. AmbiguousLabels: a score and pass or fail
    of one judge. UnknownName: an option names a column or a metric that the file has not.
    """
    how = lay_out_scores(table, source.name, options)
    for problem in how.problems:
        raise type(problem)(problem.message.at(source.name))
    parser = ScoreParser(table, how)
    if how.items == "rows":
        parser.cells["item_id"] = encode_cells([f"{how.stem} {row}" for row in parser.row])
    elif how.items == "texts":
        _name_by_texts(parser)
    parser.check_texts(("item_id", "judge"), options.rater_type)
    numbers = parser.numbers(
        {"scale_low": parse_score, "scale_high": parse_score, "lower_is_better": parse_flag}
        | {"length": parse_int, "run": parse_int}
        | {"temperature": parse_float, "cost": parse_float}
    )
    _take_ungraded(parser)
    numbers["score"] = parser.settle_status("score", parser.scores())
    if "gold" in parser.cells:
        gold = map_cells(
            parser.cells["gold"], lambda text: None if grade_word(text) in UNGRADED else text
        )
        parser.cells["gold"] = gold
        numbers["gold"] = parser.number("gold", _reader(gold))
    # Last, when all that costs a row is known.
    numbers |= parser.numbers({"confidence": parse_share})
    rows = parser.typed_rows(numbers)
    rows.take(parser.good)
    constants = options.constants()
    if how.raters:
        # People are not the judge whom an option names.
        constants.pop("judge", None)
    numbered = "run" in rows.numbers
    rows.fill(constants, source.together or source.stem, no_default=("status",))
    if not numbered:
        # Filled with 0 where no column says it, and `finish` numbers repetitions.
        del rows.numbers["run"]
    reject_gold_conflicts(rows, ("dataset", "item_id", "model", "metric"))
    _refuse_two_scales(rows, source.name)
    fill_scales(rows, options)
    dataset = source.together or source.stem
    return finish(rows, source, shape.format, constants=constants, dataset=dataset)


class ScoreParser(RowParser):
    """Reads the cells of a table of scores, one with a column per rater in long form."""

    def __init__(self, table: TextTable, how: Plan) -> None:
        self.rater: Cells | None = None
        self.readers = {name: _reader(table.columns[name]) for name in how.raters}
        stacked: dict[str, Cells] = {}
        if how.raters:
            table, stacked = _stack(table, how)
            self.rater = stacked.pop("rater")
            mapping = {
                name: theirs
                for name, theirs in how.mapping.items()
                if name not in stacked and name != "score"
            }
            constants = {name: how.constants[name] for name in mapping if name in how.constants}
            # Columns of raters, and those whose cells are made anew, are no other columns.
            used = {theirs for name, theirs in how.mapping.items() if name in stacked}
            table = replace(
                table,
                columns={name: cells for name, cells in table.columns.items() if name not in used},
            )
            how = replace(how, mapping=mapping, constants=constants)
        super().__init__(table, SCORES, how)
        self.cells |= stacked

    def column(self, name: str, i: int | np.integer[Any]) -> str:
        if name == "score" and self.rater is not None:
            return cell_text(self.rater, i)
        return super().column(name, i)

    def scores(self) -> Numbers:
        """Scores of all rows, each by the words or numbers of its column."""
        whole = self.cells["score"]
        if self.rater is None:
            return self.number("score", _reader(whole))
        code, rater = cell_codes(whole), cell_codes(self.rater)
        names = self.rater.dictionary.to_pylist()
        scores: Numbers = np.ma.array(np.zeros(len(code)), mask=True)
        for read in (parse_grade, parse_score):
            own = np.array([self.readers[name] is read for name in names], bool)[rater]
            self.cells["score"] = coded_cells(
                np.ma.array(code, mask=~own | (code < 0)), whole.dictionary.to_pylist()
            )
            of_raters = self.number("score", read)
            scores[own] = of_raters[own]
        self.cells["score"] = whole
        return scores


def _stack(table: TextTable, how: Plan) -> tuple[TextTable, dict[str, Cells]]:
    """A row per rater and answer, row by row; blank cells of people are no scores.

    Cells of `score`, `judge`, `rater_type`, where they are people's `run`, and `rater`, the column
    that each row comes from.
    """
    import pyarrow as pa

    raters = list(how.raters)
    cells = [map_cells(table.columns[name], str.strip) for name in raters]
    there = [
        np.flatnonzero(cell_codes(column) >= 0) if how.raters[name] else np.arange(len(table.row))
        for name, column in zip(raters, cells, strict=True)
    ]
    take = np.concatenate(there)
    others = len(table.columns) - len(raters)
    if len(take) * others > MOST_REPEATED:
        raise UnreadableFile(
            f"{how.stem}: {len(raters):,} columns of raters beside {others:,} others come to more "
            f"than {MOST_REPEATED:,} cells, one row per score. Leave out columns, or write one row "
            "per score."
        )
    rater = np.repeat(np.arange(len(raters)), [len(rows) for rows in there])
    order = np.lexsort((rater, take))
    parts = [column.take(pa.array(rows)) for column, rows in zip(cells, there, strict=True)]
    # Columns of few texts may have narrower codes than others.
    kind = pa.dictionary(pa.int32(), pa.string())
    score = pa.chunked_array([part.cast(kind) for part in parts], kind)
    take, rater = take[order], rater[order]
    human = np.array([how.raters[name] for name in raters])[rater]
    long = replace(
        table,
        columns={
            name: column.take(pa.array(take))
            for name, column in table.columns.items()
            if name not in how.raters
        },
        row=table.row[take],
    )
    named = coded_cells(rater, raters)
    judges = [name for name, is_person in how.raters.items() if not is_person]
    who = how.mapping.get("judge")
    if who is not None and len(judges) == 1:
        given = (
            constant_cells(how.constants["judge"], len(rater))
            if "judge" in how.constants
            else long.columns[who]
        )
        person = coded_cells(np.ma.array(rater, mask=~human), raters)
        named = _coalesce(person, given, human)
    rater_type = coded_cells(human.astype(np.int64), ["llm", "human"])
    stacked = {
        "score": score.unify_dictionaries().combine_chunks().take(pa.array(order)),
        "judge": named,
        "rater_type": rater_type,
        "rater": coded_cells(rater, raters),
    }
    if (run := how.mapping.get("run")) in long.columns:
        # A person scores an answer once, however often the judge does.
        once = coded_cells(np.ma.array(np.zeros(len(rater), int), mask=~human), ["0"])
        stacked["run"] = _coalesce(once, long.columns[run], human)
    return long, stacked


def _coalesce(cells: Cells, other: Cells, first: Any) -> Cells:
    """The cells of the first where they are chosen, else those of the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.if_else(pa.array(first), cells.cast(pa.string()), other.cast(pa.string()))
    return encode_cells(text)


def _name_by_texts(parser: RowParser) -> None:
    """Give each prompt with its response an item of its own: a hash of both."""
    blank = constant_cells(None, len(parser.row))
    texts = [parser.cells.get(name, blank) for name in ("item_id", "response")]
    pairs = dense_codes(texts)
    first = np.unique(pairs, return_index=True)[1]
    hashes = [text_hash(*(cell_text(cells, i) for cells in texts)) for i in first]
    parser.cells.setdefault("prompt", parser.cells["item_id"])
    parser.cells["item_id"] = map_cells(coded_cells(pairs, hashes), str)


def _take_ungraded(parser: RowParser) -> None:
    """Words that say that there is no score become a status, unless the file gives one."""
    words = parser.cells["score"]
    status = map_cells(words, lambda text: UNGRADED.get(grade_word(text)))
    n = len(status) - status.null_count
    if not n:
        return
    parser.cells["score"] = map_cells(
        words, lambda text: None if grade_word(text) in UNGRADED else text
    )
    given = parser.cells.get("status")
    if given is not None:
        # `ok` beside N/A is not contradicted: what was said is that there is no score.
        status = _coalesce(status, given, cell_codes(status) >= 0)
    else:
        status = fill_missing(
            status, coded_cells((cell_codes(parser.cells["score"]) < 0) * 1, ["ok", "unparsed"])
        )
    parser.cells["status"] = status
    said = ", ".join(shown(label) for label in label_counts(words) if grade_word(label) in UNGRADED)
    parser.notes.append(f"Scores not graded, which is no fail: {n:,} ({said}).")


def _reader(cells: Cells) -> Callable[[str], float]:
    """How the cells of a column are read: as words where its only numbers are 0, ½ and 1, else as
    numbers.
    """
    labels = [label for label in label_counts(cells) if grade_word(label) not in UNGRADED]
    words = any(grade_word(label) in GRADES for label in labels)
    if words and all(
        not _is_number(label) or _parse_number(label) in (0, 0.5, 1) for label in labels
    ):
        return parse_grade
    if 1 < len(labels) <= MOST_CLASSES and not words and not any(map(_is_number, labels)):
        return _refuse_class
    return parse_score


def _refuse_class(_: str) -> float:
    """Labels such as billing, refund and other have no order in which one is a better score."""
    raise BadCell(
        "no number, and labels have no order; make a row per answer and label instead, the label "
        "as metric, with score and gold 1 where it was given and 0 where not"
    )


def parse_grade(text: str) -> float:
    """Score of a word for a good or bad answer, or of 0, ½ or 1 among such words."""
    value = GRADES.get(grade_word(text))
    if value is not None:
        return value
    if _is_number(text):
        return parse_float(text)
    raise BadCell(
        "not a word for a good or bad answer (pass, partial, fail, yes, no …); correct it, or "
        "leave the cell empty"
    )


def check_metrics(readings: Iterable[ImportResult], options: ReadOptions) -> None:
    """Raise UnknownName for a metric of which less is better and that no file has."""
    named = {
        name
        for reading in readings
        if reading.kind == "scores"
        for name in reading.votes["metric"].unique().to_pylist()
    }
    for name in options.lower_is_better:
        if name not in named:
            raise UnknownName(
                "{option} {value!r}: no metric is called so. There are: {known}.",
                option="lower_is_better",
                value=name,
                known=sorted(named) or "none",
            )


def fill_scales(rows: TypedRows, options: ReadOptions) -> None:
    """Write the scale of each metric beside its scores, and say it."""
    metric = rows.text["metric"]
    code = cell_codes(metric)
    names = metric.dictionary.to_pylist()
    score, gold = rows.numbers["score"], rows.numbers["gold"]
    low, high, lower = (
        np.ma.array(rows.numbers[name], copy=True)
        for name in ("scale_low", "scale_high", "lower_is_better")
    )
    for k, name in enumerate(names):
        own = code == k
        seen = np.unique(score[own].compressed())
        if not own.any() or not len(seen):
            continue
        true = np.unique(gold[own].compressed())
        # Gold of right and wrong beside levels is on a scale of its own.
        apart = np.isin(true, (0, 1)).all() and seen.max() > 1
        ends, said = scale_of(seen if apart else np.union1d(seen, true))
        open_ = own & ~has_number(low) & ~has_number(high)
        if ends is not None and open_.any():
            low[open_], high[open_] = ends
        less = name in options.lower_is_better
        if less:
            lower[own] = 1
        if open_.any():
            better = "less is better" if less else "more is better"
            rows.notes.append(f"Metric {shown(name)}: {said}; {better}.")
    wrong = has_number(low) & has_number(high) & ~(low <= high).filled(True)
    for i in np.flatnonzero(wrong):
        reason = "the scale ends below where it begins; correct scale_low or scale_high"
        rows.reject(i, "scale_low", str(low[i]), reason)
    outside = ((score < low) | (score > high)).filled(False) & ~wrong
    for i in np.flatnonzero(outside):
        reason = (
            f"outside the scale of {low[i]:g} to {high[i]:g} that its row gives; correct either"
        )
        rows.reject(i, "score", f"{score[i]:g}", reason)
    rows.numbers |= {"scale_low": low, "scale_high": high, "lower_is_better": lower}
    rows.take(~wrong & ~outside)


def _refuse_two_scales(rows: TypedRows, file: str) -> None:
    """Raise UnreadableFile where people's scores of a metric and the judge's are on two scales,
    which no difference, and no spread, compares: 1 to 5 beside 0 to 100, or shares beside levels.
    """
    score, gold, low = (rows.numbers[name] for name in ("score", "gold", "scale_low"))
    metric, rater_type = rows.text["metric"], rows.text["rater_type"]
    human = np.isin(
        cell_codes(rater_type),
        [k for k, kind in enumerate(rater_type.dictionary.to_pylist()) if kind == "human"],
    )
    for k, name in enumerate(metric.dictionary.to_pylist()):
        own = (cell_codes(metric) == k) & ~has_number(low)
        people = np.union1d(gold[own].compressed(), score[own & human].compressed())
        judge = np.unique(score[own & ~human].compressed())
        # Right and wrong beside levels has measures of its own.
        if any(not len(values) or np.isin(values, (0, 1)).all() for values in (people, judge)):
            continue
        (theirs, _), (its, _) = scale_of(people), scale_of(judge)
        if theirs is None or its is None:
            continue
        if max(theirs[1], its[1]) < APART * min(theirs[1], its[1]):
            continue
        raise UnreadableFile(
            "{file}: people score {metric} from {low} to {high} and the judge from {bottom} to "
            "{top}: two scales, and no difference between them says anything. Bring both to one in "
            "the file, people's for example by (score - {low}) / {width} * {span} + {bottom}.",
            file=file,
            metric=shown(name),
            low=f"{theirs[0]:g}",
            high=f"{theirs[1]:g}",
            bottom=f"{its[0]:g}",
            top=f"{its[1]:g}",
            width=f"{theirs[1] - theirs[0]:g}",
            span=f"{its[1] - its[0]:g}",
        )


APART = 5
"""Tops of two scales that are so many times as far, at least, are no one scale seen in part."""
_TOPS = (5, 7, 10, 100)


def scale_of(values: Any) -> tuple[tuple[float, float] | None, str]:
    """Ends of the scale that distinct scores are on, as far as they show it, and that in words.

    0 and 1 are fail and pass; whole numbers from 1 up are levels of 1 to 5, 7, 10 or 100, where
    they reach beyond the scale before (1 to 3 and less stay open), from 0 up likewise; fractions
    within 0 and 1 are shares. None: the ends are those seen. Source: ours.

    >>> import numpy as np
    >>> scale_of(np.array([1, 2, 4.0]))
    ((1.0, 5.0), 'scale 1 to 5, levels used: 3 of 5')
    """
    least, most = float(values.min()), float(values.max())
    whole = bool((values == np.floor(values)).all())
    if least >= 0 and most <= 1:
        if whole:
            return (0.0, 1.0), "1 is pass and 0 is fail"
        if len(values) <= 3 and np.isin(values, (0, 0.5, 1)).all():
            return (0.0, 1.0), "1 is pass, 0.5 is partial and 0 is fail"
        return (0.0, 1.0), "scale 0 to 1"
    if least < 0 or most > _TOPS[-1] or most <= 3:
        return None, f"scores from {least:g} to {most:g}, taken for the ends of its scale"
    top = next(top for top in _TOPS if most <= top)
    if top == 7 and most == 6:
        top = 10
    bottom = 1 if least >= 1 and top < 100 else 0
    said = f"scale {bottom} to {top}"
    if whole and top < 100:
        n = top - bottom + 1
        said += f", levels used: {len(values)} of {n}"
    return (float(bottom), float(top)), said
