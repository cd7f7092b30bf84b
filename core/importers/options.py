"""How a file is to be read: what options say, the plan that the steps of `vote_plan`, `raters` and
`layouts` build, each of which takes one and returns another; and what it looks like beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from ..errors import AppellateError, InvalidOption, UnknownName
from ..labels import Vocabulary, vocabulary
from ..options import described, flag, pairs
from ..schema import COLUMN_NAMES, RANKINGS, RATER_TYPES, SCORES, Kind
from .values import ConfidenceScale

CANONICAL = "canonical"
"""The format of a table of votes."""
SCORE_COLUMNS = ("score_a", "score_b")
CHOICE_COLUMNS = (
    "permutation",
    "pick_slot",
    "pick_candidate",
    "gold_slot",
    "gold_candidate",
    "correct",
)
KNOWN = tuple(
    dict.fromkeys((*COLUMN_NAMES, *SCORE_COLUMNS, *SCORES.names, *RANKINGS.names, *CHOICE_COLUMNS))
)
MEANINGS = {"A": 1, "tie": 0, "B": -1}
FAILED = "failed"
"""What a label of the votes can be said to mean, besides a verdict."""
GRADED = ("pass", "fail")
"""What a label of scores can be said to mean."""
SCALES = (1, 100, "1-5", "1-7", "1-10", "0-10", "logit")
"""What a column of confidence can be said to hold."""
LAYOUTS = ("auto", "long", "wide", "scores")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read a file. Hashable, so it can key a cache.

    mapping : pairs (canonical column of what the file holds, the file's column); `score_a` and
        `score_b`, and those of choices (`permutation`, `pick_slot` …), may be named too. A file's
        column written `=text` is not a column but that text in every row: ("judge", "=gpt-4"). An
        empty one says that the file has no such column, whatever its names suggest.
    labels, gold_labels : vocabulary of the votes and of gold (`core.labels.VOCABULARIES`); None
        decides by the labels.
    label_map : pairs (label of the votes, what it means: `A`, `B`, `tie` or `failed`), before any
        vocabulary. A failed call is a vote that is missing, never a tie.
    label_refers : whether labels name the models or the first and second shown; numbers 1/0/-1
        always name models.
    confidence_scale : 1, 100, levels (`1-5`, `1-7`, `1-10`, `0-10`) or `logit`; None decides by the
        column, or asks (docs/methods.md §0).
    rater_type : kind of rater where the file does not say.
    items : whether items of several files that have one id are the same; None decides for each
        pair of files (`same_items.as_one`).
    version : column whose values are versions of a judge, each a judge of its own, or `file` where
        each file has one.
    lower_is_better : metrics of which less is better.
    metrics : columns of a table of answers that hold a metric each; empty decides by the table.
    cluster : column that names the conversation or document of each item; `none`: there is none.
        None takes a column that is named like one, or the very same texts of several items.
    orders, runs : columns that are one judge's verdicts, of answers shown as they stand and turned,
        or run after run.
    people : columns that hold what a person says each.
    position : pairs (word of a column of orders, `ab` or `ba`).
    unit : rows of one item are runs of one answer, or each an item of its own.
    unused : columns that are left out.
    file_table : name of the table that is meant, of a file with several.
    reader : `old` decides by the names of columns alone.
    tie_margin : two scores that differ by no more are a tie.
    votes_of : metric whose scores of two answers to one item become votes too.
    judges : columns of a wide file that hold a judge's labels; empty takes every column that holds
        labels only.
    dataset : name of the data set, instead of the file's column or stem.
    max_bytes : largest size that a file may have, unpacked.
    """

    format: str = field(default="auto", metadata=flag("{default} (default), {formats}"))
    mapping: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata=flag("name columns", name="map", metavar="CANONICAL=THEIRS", read=pairs("--map")),
    )
    labels: str | None = field(
        default=None, metadata=flag("vocabulary of the labels", metavar="NAME")
    )
    gold_labels: str | None = field(
        default=None, metadata=flag("vocabulary of gold, if not that of the labels", metavar="NAME")
    )
    label_map: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata=flag(
            "what a label means: A, B, tie or failed (a call without a verdict)",
            metavar="LABEL=MEANING",
            read=pairs("--label-map"),
        ),
    )
    label_refers: Literal["model", "slot"] | None = field(
        default=None, metadata=flag("labels name the models, or the first and second shown")
    )
    confidence_scale: Literal[1, 100, "1-5", "1-7", "1-10", "0-10", "logit"] | None = field(
        default=None, metadata=flag("confidence is 0 to 1, 0 to 100, levels such as 1-5, or logits")
    )
    rater_type: Literal["llm", "human"] | None = field(
        default=None, metadata=flag("kind of rater where the file does not say")
    )
    items: Literal["same", "apart"] | None = field(
        default=None,
        metadata=flag("items of several files with one id are the same, or each file's own"),
    )
    version: str | None = field(
        default=None,
        metadata=flag(
            "tell versions of a judge apart, each a judge of its own: by a column, or by file",
            metavar="COLUMN|file|none",
        ),
    )
    lower_is_better: tuple[str, ...] = field(
        default=(), metadata=flag("metrics of which less is better", metavar="METRIC")
    )
    cluster: str | None = field(
        default=None,
        metadata=flag(
            "column that says which items belong together, such as a conversation: the unit of "
            "every interval; none: every item (default: as the file shows it)",
            metavar="COLUMN",
        ),
    )
    metrics: tuple[str, ...] = field(
        default=(),
        metadata=flag("columns that hold a metric each, one row an answer", metavar="COLUMN"),
    )
    orders: tuple[str, ...] = field(
        default=(),
        metadata=flag(
            "two columns of one judge's verdicts: answers as they stand, and turned",
            metavar="COLUMN",
        ),
    )
    runs: tuple[str, ...] = field(
        default=(), metadata=flag("columns that are runs of one judge", metavar="COLUMN")
    )
    people: tuple[str, ...] = field(
        default=(),
        metadata=flag(
            "columns that hold a person's judgements each, or names of raters who are people",
            metavar="COLUMN",
        ),
    )
    position: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata=flag(
            "what a word of an order means: ab or ba",
            metavar="WORD=ab|ba",
            read=pairs("--position"),
        ),
    )
    unit: Literal["runs", "rows"] | None = field(
        default=None, metadata=flag("rows of one item are runs of one answer, or rows on their own")
    )
    unused: tuple[str, ...] = field(
        default=(), metadata=flag("columns that are left out", metavar="COLUMN")
    )
    file_table: str | None = field(
        default=None, metadata=flag("which table of a file with several", metavar="NAME")
    )
    reader: Literal["auto", "old"] = field(
        default="auto",
        metadata=flag("by what all columns hold (auto), or by the names of columns alone (old)"),
    )
    tie_margin: float = field(
        default=0.0, metadata=flag("score difference up to which two scores tie ({default})")
    )
    votes_of: str | None = field(
        default=None,
        metadata=flag(
            "make votes, too, of the scores of two models' answers to one item on this metric",
            metavar="METRIC",
        ),
    )
    layout: Literal["auto", "long", "wide", "scores"] = field(
        default="auto", metadata=described("how the rows of a table of votes lie")
    )
    judges: tuple[str, ...] = field(
        default=(), metadata=flag("columns that hold a judge's judgements each", metavar="COLUMN")
    )
    dataset: str | None = field(
        default=None,
        metadata=described("name of the data set, instead of the file's column or stem"),
    )
    max_bytes: int = field(
        default=2 * 1024**3,
        metadata=described("largest size that a file may have, unpacked, in bytes"),
    )

    def __post_init__(self) -> None:
        for canonical, _ in self.mapping:
            if canonical not in KNOWN:
                raise UnknownName(
                    "{option} {value!r}: not a canonical column. Known: {known}.",
                    option="map",
                    value=canonical,
                    known=KNOWN,
                )
        one_of = {
            "label_refers": ("model", "slot"),
            "confidence_scale": SCALES,
            "rater_type": RATER_TYPES,
            "unit": ("runs", "rows"),
            "reader": ("auto", "old"),
            "items": ("same", "apart"),
        }
        for name, allowed in one_of.items():
            if getattr(self, name) not in (None, *allowed):
                self._refuse(name, " or ".join(map(str, allowed)) if len(allowed) == 2 else allowed)
        for label, meaning in self.label_map:
            if meaning not in (*MEANINGS, FAILED, *GRADED):
                raise InvalidOption(
                    "{option} {label}={value}: use {allowed}.",
                    option="label_map",
                    label=label,
                    value=meaning,
                    allowed=(*MEANINGS, FAILED, *GRADED),
                )
        if self.layout not in LAYOUTS:
            self._refuse("layout", LAYOUTS)
        if not 0 <= self.tie_margin < float("inf"):
            self._refuse("tie_margin", "a number from 0 up")
        for labels in (self.labels, self.gold_labels):
            if labels is not None:
                vocabulary(labels)

    def _refuse(self, option: str, allowed: object) -> None:
        value = getattr(self, option)
        raise InvalidOption(
            "{option} {value!r}: use {allowed}.", option=option, value=value, allowed=allowed
        )

    def constants(self) -> dict[str, str]:
        """Canonical columns that have one text in every row, the data set among them if it is
        given.
        """
        texts = {
            canonical: theirs[1:] for canonical, theirs in self.mapping if theirs.startswith("=")
        }
        return texts | ({"dataset": self.dataset} if self.dataset else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that only the user knows: which option answers it, and the answers with their
    meaning.
    """

    option: str
    text: str
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """How a table will be read. `problems` are what stops `read`; each has a question for the
    browser.

    mapping : canonical column → the file's, or `=` and the text of every row (`constants`).
    items : what names the items: a column, prompt and responses, or nothing, and each row is one.
    people : those of the columns of judges that hold what people say.
    first : names of the two that every row compares → the order in which the one named is shown
        first.
    raters : columns of a table of scores that hold those of one rater each → whether people's.
    scale : of the confidence; None if that is open.
    slots, gold_slots : labels of votes, and of gold, name the first and second shown.
    """

    layout: str
    mapping: Mapping[str, str]
    constants: Mapping[str, str] = field(default_factory=dict)
    judges: tuple[str, ...] = ()
    people: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    vocabulary: Vocabulary | None = None
    gold_vocabulary: Vocabulary | None = None
    scale: ConfidenceScale | None = "1"
    slots: bool = False
    gold_slots: bool = False
    items: Literal["column", "texts", "rows"] = "column"
    first: Mapping[str, str] = field(default_factory=dict)
    stem: str = ""
    unguard: bool = False
    gold_only: bool = False
    raters: Mapping[str, bool] = field(default_factory=dict)
    problems: tuple[AppellateError, ...] = ()
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()

    def noted(self, note: str) -> Self:
        """With something that the reader should know."""
        return replace(self, notes=(*self.notes, note))

    def stopped(self, problem: AppellateError, *questions: Question) -> Self:
        """With what stops `read`, and what to ask about it."""
        return replace(
            self, problems=(*self.problems, problem), questions=(*self.questions, *questions)
        )

    def without_need(self, canonical: str) -> Self:
        """With a column that nothing lacks any more."""
        return replace(self, missing=tuple(name for name in self.missing if name != canonical))

    def taking(self, canonical: str, column: str) -> Self:
        """With a column of the file for a canonical one."""
        mapping = {**self.mapping, canonical: column}
        return replace(self.without_need(canonical), mapping=mapping)

    def saying(self, canonical: str, text: str) -> Self:
        """With one text for every row of a canonical column."""
        constants = {**self.constants, canonical: text}
        return replace(self.taking(canonical, f"={text}"), constants=constants)

    def checked(self, file: str) -> Self:
        """Itself. Raises the first of its problems, as one of a file."""
        for problem in self.problems:
            raise type(problem)(problem.message.at(file))
        return self

    def leaves_open_who(self, options: ReadOptions) -> bool:
        """Whether neither a column nor an option says what kind of raters the judges are."""
        return "rater_type" not in self.mapping and options.rater_type is None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Inspection:
    """What a file looks like, before it is read.

    kind : what was recognised: votes, direct scores or rankings.
    columns : the file's columns; `head` its first rows as text, in that order.
    mapping : canonical column → the file's column, as `read` would take it; columns left out become
        `extra`.
    roles : the file's column → what it holds in the terms of a plan (`item`, `not used`);
        empty for a file that no plan reads.
    missing : required canonical columns that nothing was found for.
    labels : distinct labels of the vote columns with their counts, most frequent first.
    vocabularies : names of the vocabularies that hold all of them.
    confidence_scale : that of the column of confidence; None without one, or if it is open.
    vocabulary : name of the one that votes (of a gold file: gold) will be read in; None if that is
        open.
    judges : the judge columns of a wide file.
    metrics : columns of a table of answers that may hold a metric each, and whether `read` takes
        them for one.
    suggested : canonical column → the file's column that may be it, or `=TEXT` for every row;
        `read` takes none of them unasked.
    questions : what `read` would refuse to guess, and the judge where no column names one and
        `read` takes the file's name. Empty: the file can be read as it is.
    refusal : what it is instead of judgements, unless options say how it is read.
    opened : the file, for `read(…, looks=…)`; None if it stands for several.
    """

    name: str
    format: str
    layout: str
    columns: tuple[str, ...] = ()
    head: tuple[tuple[str, ...], ...] = ()
    mapping: Mapping[str, str]
    roles: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    labels: tuple[tuple[str, int], ...] = ()
    vocabularies: tuple[str, ...] = ()
    vocabulary: str | None = None
    judges: tuple[str, ...] = ()
    metrics: tuple[tuple[str, bool], ...] = ()
    suggested: Mapping[str, str] = field(default_factory=dict)
    confidence_scale: str | None = None
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    kind: Kind = "votes"
    refusal: str = ""
    opened: Any = field(default=None, repr=False)
