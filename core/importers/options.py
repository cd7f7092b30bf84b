"""What a reader can be told, and what it finds out about a file before reading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..errors import InvalidOption, UnknownName
from ..labels import vocabulary
from ..schema import COLUMN_NAMES, RANKINGS, RATER_TYPES, SCORES, Kind

SCORE_COLUMNS = ("score_a", "score_b")
CHOICE_COLUMNS = ("permutation", "pick_slot", "pick_candidate", "gold_slot", "gold_candidate", "correct")
KNOWN = tuple(dict.fromkeys((*COLUMN_NAMES, *SCORE_COLUMNS, *SCORES.names, *RANKINGS.names, *CHOICE_COLUMNS)))
LAYOUTS = ("auto", "long", "wide", "scores")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read a file. Hashable, so it can key a cache.

    mapping : pairs (canonical column of what the file holds, the file's column); `score_a` and `score_b`, and
        those of choices (`permutation`, `pick_slot` …), may be named too. A file's column
        written `=text` is not a column but that text in every row: ("judge", "=gpt-4"). An empty one
        says that the file has no such column, whatever its names suggest.
    labels, gold_labels : vocabulary of the votes and of gold (`core.labels.VOCABULARIES`); None decides by
    the labels.
    label_refers : whether labels name the models or the first and second shown; numbers 1/0/-1 always name
    models.
    confidence_scale : 1 or 100; None decides by the column (methods §0).
    rater_type : kind of rater where the file does not say.
    tie_margin : two scores that differ by no more are a tie.
    judges : columns of a wide file that hold a judge's labels; empty takes every column that holds labels
    only.
    dataset : name of the data set, instead of the file's column or stem.
    max_bytes : largest size that a file may have, unpacked.
    """

    format: str = "auto"
    mapping: tuple[tuple[str, str], ...] = ()
    labels: str | None = None
    gold_labels: str | None = None
    label_refers: Literal["model", "slot"] | None = None
    confidence_scale: Literal[1, 100] | None = None
    rater_type: Literal["llm", "human"] | None = None
    tie_margin: float = 0.0
    layout: Literal["auto", "long", "wide", "scores"] = "auto"
    judges: tuple[str, ...] = ()
    dataset: str | None = None
    max_bytes: int = 2 * 1024**3

    def __post_init__(self) -> None:
        for canonical, _ in self.mapping:
            if canonical not in KNOWN:
                raise UnknownName(f"--map {canonical!r}: not a canonical column. Known: {', '.join(KNOWN)}.")
        if self.label_refers not in (None, "model", "slot"):
            raise InvalidOption(f"--label-refers {self.label_refers!r}: use model or slot.")
        if self.confidence_scale not in (None, 1, 100):
            raise InvalidOption(f"--confidence-scale {self.confidence_scale!r}: use 1 or 100.")
        if self.rater_type not in (None, *RATER_TYPES):
            raise InvalidOption(f"--rater-type {self.rater_type!r}: use {' or '.join(RATER_TYPES)}.")
        if self.layout not in LAYOUTS:
            raise InvalidOption(f"layout {self.layout!r}: use {', '.join(LAYOUTS)}.")
        if not 0 <= self.tie_margin < float("inf"):
            raise InvalidOption(f"--tie-margin {self.tie_margin!r}: use a number from 0 up.")
        for name in (self.labels, self.gold_labels):
            if name is not None:
                vocabulary(name)

    def constants(self) -> dict[str, str]:
        """Canonical columns that have one text in every row."""
        return {canonical: theirs[1:] for canonical, theirs in self.mapping if theirs.startswith("=")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that only the user knows: which option answers it, and the answers with their meaning."""

    option: str
    text: str
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Inspection:
    """What a file looks like, before it is read.

    kind : what was recognised: votes, direct scores or rankings.
    columns : the file's columns; `head` its first rows as text, in that order.
    mapping : canonical column → the file's column, as `read` would take it; columns left out become `extra`.
    missing : required canonical columns that nothing was found for.
    labels : distinct labels of the vote columns with their counts, most frequent first.
    vocabularies : names of the vocabularies that hold all of them.
    vocabulary : name of the one that votes (of a gold file: gold) will be read in; None if that is open.
    judges : the judge columns of a wide file.
    questions : what `read` would refuse to guess. Empty: the file can be read as it is.
    """

    name: str
    format: str
    layout: str
    columns: tuple[str, ...] = ()
    head: tuple[tuple[str, ...], ...] = ()
    mapping: Mapping[str, str]
    missing: tuple[str, ...] = ()
    labels: tuple[tuple[str, int], ...] = ()
    vocabularies: tuple[str, ...] = ()
    vocabulary: str | None = None
    judges: tuple[str, ...] = ()
    confidence_scale: str | None = None
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    kind: Kind = "votes"
