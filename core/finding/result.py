"""What a method says, and where it is kept: each result is made once, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Result(Generic[T_co]):
    """What a method says of one judge, or of all; the key by which evidence, or counts, keep it.

    name : of its attribute of a judge's audit, or of the audit.  made : evidence, or counts of all
        → the result; None where the votes cannot tell.
    """

    name: str
    made: Callable[[Any], T_co]


class Results:
    """What is known of one rater, or of all: results by their key, each made when it is first asked
    for.
    """

    def __init__(self) -> None:
        self._results: dict[Result[Any], Any] = {}

    def __getitem__(self, result: Result[T]) -> T:
        """A result of a question, made once."""
        if result not in self._results:
            self._results[result] = result.made(self)
        made: T = self._results[result]
        return made
