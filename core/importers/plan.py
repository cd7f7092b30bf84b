"""How a table will be read: the value that the steps of `vote_plan`, `scores` and `layouts` build,
each of which takes one and returns another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from ..errors import AppellateError
from ..labels import Vocabulary
from .columns import ConfidenceScale
from .options import Question, ReadOptions


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """How a table will be read. `problems` are what stops `read`; each has a question for the
    browser.

    mapping : canonical column → the file's, or `=` and the text of every row (`constants`).
    items : what names the items: a column, prompt and responses, or nothing, and each row is one.
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

    def leaves_open_who(self, options: ReadOptions) -> bool:
        """Whether neither a column nor an option says what kind of raters the judges are."""
        return "rater_type" not in self.mapping and options.rater_type is None
