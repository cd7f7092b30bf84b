"""A question that is asked of every judge: what answers it, and what outputs write of the answer.

All of one question stands in one folder, `questions/<name>/`, whose `question.py` holds its
`QUESTION`; `auditing.questions` finds it there. Outputs walk over questions and name none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .answer import Answer
from .check import Check, CheckResult
from .result import Result as Result
from .tables import Column

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report.  rows : what its columns read, such as findings."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[object]


@dataclass(frozen=True, slots=True)
class Folded:
    """Tables of the report that are opened one by one.

    tables : of each its name and rows.
    """

    caption: str
    columns: Sequence[Column]
    tables: Sequence[tuple[str, Sequence[object]]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of the report.

    draw : theme and styles → the figure; it imports `figure.py` itself, as the drawing library is
        an extra.  styled : it tells judges apart.
    """

    caption: str
    draw: Callable[..., Any]
    styled: bool = True


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section of the report."""

    words: str


Part = Table | Folded | Picture | Heading


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Finding:
    """What one question found of one judge: results by their `Result`, checks by their name.

    options : of the audit.
    """

    judge: str
    is_person: bool
    options: Any
    question: Question
    results: Mapping[Result[Any], Any]
    checks: Mapping[str, CheckResult]

    def __getitem__(self, result: Result[T]) -> T:
        made: T = self.results[result]
        return made

    def __getattr__(self, name: str) -> Any:
        """A result by its name, as columns of tables name it."""
        for result, value in object.__getattribute__(self, "results").items():
            if result.name == name:
                return value
        raise AttributeError(name)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Question:
    """One question; CONTRIBUTING.md makes one from nothing.

    name : of its folder.  place : of its checks and of what is said of it among all questions.
    title : of its section in the report.
    checks : what is graded of judges of pairs.  score_checks : of judges of single answers.
    page : the address of its page, and page_place : its place among pages; its name, and last.
    section_place : of its section in the report, among tens from 0; the default is before Notes.
    results : what evidence makes for it.  own_counts : counts of `Counted` that hardly anybody
        else asks for → results of them; let go of when every judge has these.
    document : key of the JSON of a judge → finding → its value.
    unknown : place among what cannot be told → finding → what cannot be told → why: notes.
    said : findings of all judges → the answer, about the judge that fares worst.
    figures : finding → parts of the line of figures of a card.
    failed : check → findings that fail it → the picture of the brief that shows it; what several
        checks share is drawn once.
    section : findings of all judges → tables and pictures of the report.
    """

    name: str
    place: int
    title: str
    checks: Sequence[Check] = ()
    score_checks: Sequence[Check] = ()
    page: str = ""
    page_place: int = 100
    section_place: int = 145
    results: Sequence[Result[Any]] = ()
    own_counts: Mapping[str, Sequence[Result[Any]]] = field(default_factory=dict)
    document: Mapping[str, Callable[[Finding], Any]] = field(default_factory=dict)
    unknown: Mapping[int, Callable[[Finding], Mapping[str, str]]] = field(default_factory=dict)
    said: Callable[[Sequence[Finding]], Answer | None] = lambda _: None
    figures: Callable[[Finding], Sequence[str | None]] = lambda _: ()
    failed: Mapping[str, Callable[[Sequence[Finding]], Picture | None]] = field(
        default_factory=dict
    )
    section: Callable[[Sequence[Finding]], Iterator[Part]] = lambda _: iter(())

    def finding(self, evidence: Any, checks: Mapping[str, CheckResult]) -> Finding:
        """What it found of one judge."""
        return Finding(
            judge=evidence.judge,
            is_person=evidence.is_person,
            options=evidence.options,
            question=self,
            results={result: evidence[result] for result in self.results},
            checks=checks,
        )
