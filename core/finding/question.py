"""A question that is asked of every judge: what answers it, and what outputs write of the answer.

All of one question stands in one folder, `questions/<name>/`, whose `question.py` holds its
`QUESTION`; `auditing.questions` finds it there. Outputs walk over questions and name none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

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


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Words within a section of the report."""

    words: str


Part = Table | Folded | Picture | Heading | Paragraph


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Finding:
    """What one question found of one judge: results by their `Result`, checks by their name.

    judge : empty where it is of all raters together.  options : of the audit.
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
class Section:
    """A section of the report: its place among tens from 0, its address, and what stands in it.

    Parts of one address stand in one section, in the order of their questions.
    page : the page whose answer it begins with, if that is of another name.
    """

    place: int
    key: str
    title: str
    parts: Callable[[Finding], Iterator[Part]]
    page: str = ""


CHECKED = (140, "checked", "Prompts, juries, and leaderboards checked")
"""Place, address and title of the section that has what was asked for."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OfAll:
    """What a question finds of all raters together, and what outputs write of it.

    results : made of what is counted of all.  own_counts : counts of `Counted` that hardly anybody
        else asks for → what is made of them, and may be of use to results alone.
    notes : place among all notes → what is counted of all → notes.
    document : key of the JSON → finding → its value; without one the key is left out.
    above : finding → lines of the text above the judges, which the short text has too.
    lines : place below the judges of the text → finding → lines and tables.
    tables : tables of the text that were asked for, which even the short text has.
    sections : of the report.  said : finding → the answer of the question's page.
    """

    results: Sequence[Result[Any]] = ()
    own_counts: Mapping[str, Sequence[Result[Any]]] = field(default_factory=dict)
    notes: Mapping[int, Callable[[Any], Iterable[str]]] = field(default_factory=dict)
    document: Mapping[str, Callable[[Finding], Any]] = field(default_factory=dict)
    above: Callable[[Finding], Iterable[str]] = lambda _: ()
    lines: Mapping[int, Callable[[Finding], Iterable[str | Table]]] = field(default_factory=dict)
    tables: Callable[[Finding], Iterator[Table]] = lambda _: iter(())
    sections: Sequence[Section] = ()
    said: Callable[[Finding], Answer | None] = lambda _: None


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
    of_all : what it finds of all raters together.
    document : key of the JSON of a judge → finding → its value.
    unknown : place among what cannot be told → finding → what cannot be told → why: notes.
    notes : evidence → notes on the judge, beside what cannot be told.
    said : findings of all judges → the answer, about the judge that fares worst.
    lines : findings of all judges → lines and tables below the judges of the text.
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
    notes: Callable[[Any], Iterable[str]] = lambda _: ()
    said: Callable[[Sequence[Finding]], Answer | None] = lambda _: None
    lines: Callable[[Sequence[Finding]], Iterable[str | Table]] = lambda _: ()
    figures: Callable[[Finding], Sequence[str | None]] = lambda _: ()
    failed: Mapping[str, Callable[[Sequence[Finding]], Picture | None]] = field(
        default_factory=dict
    )
    section: Callable[[Sequence[Finding]], Iterator[Part]] = lambda _: iter(())
    of_all: OfAll = OfAll()

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

    def finding_of_all(self, counted: Any) -> Finding:
        """What it found of all raters together."""
        return Finding(
            judge="",
            is_person=False,
            options=counted.options,
            question=self,
            results={result: counted[result] for result in self.of_all.results},
            checks={},
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OfFindings:
    """What holds findings, of one judge or of all: a result by its key, or by its name."""

    findings: tuple[Finding, ...] = ()

    def __getitem__(self, result: Result[T]) -> T:
        """A result of a question."""
        for finding in self.findings:
            if result in finding.results:
                return finding[result]
        raise KeyError(result.name)

    if not TYPE_CHECKING:  # else no misspelt attribute would be seen

        def __getattr__(self, name: str) -> Any:
            """A result of a question by its name."""
            findings = () if name.startswith("_") else object.__getattribute__(self, "findings")
            for finding in findings:
                for result, value in finding.results.items():
                    if result.name == name:
                        return value
            raise AttributeError(f"{type(self).__name__!r} has no {name!r}")
