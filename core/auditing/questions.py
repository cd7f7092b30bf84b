"""Every question, found in its folder: a new folder is a new question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Protocol

from .. import questions
from ..finding.question import Finding, Question


class Answered(Protocol):
    """A judge of an audit."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What each question found of it."""


@cache
def all_questions() -> tuple[Question, ...]:
    """In the order of `place`."""
    rooms = (room.name for room in iter_modules(questions.__path__))
    places = [f"{questions.__name__}.{room}.question" for room in rooms]
    made = [import_module(place).QUESTION for place in places if find_spec(place) is not None]
    return tuple(sorted(made, key=lambda question: (question.place, question.name)))


def findings_of(judges: Iterable[Answered]) -> Iterator[tuple[Question, list[Finding]]]:
    """Each question with what it found of every judge."""
    listed = list(judges)
    for question in all_questions():
        found = [each for judge in listed for each in judge.findings if each.question is question]
        if found:
            yield question, found
