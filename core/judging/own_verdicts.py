"""How replies to a prompt of one's own state their verdict: a pattern with named groups, or words.

A pattern is searched for as Python's `re` does, by the library `regex`, which can be told when to
stop: Python's cannot, and a reply may be made so that a pattern on it never ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import InvalidOption
from .verdict_words import VERDICT

SECONDS = 0.25
"""Longest search of one reply; one that takes longer is unparsed."""
VOTES = {"A": 1, "B": -1, "tie": 0}
GROUPS = (*VOTES, "verdict", "confidence")
EXAMPLES = "(?P<A>…)|(?P<B>…)|(?P<tie>…), or (?P<verdict>…) around what is A, B or tie"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnVerdicts:
    """What states a verdict: A is the response shown first.

    pattern : regular expression. A group `A`, `B` or `tie` that matches is the verdict; of a group
        `verdict` it is the text, one of `words` or else as judges write it; `confidence` is 0 to 1,
        or with %.
    words : (`A`, `B` or `tie`, what means it), in the same capitals; without a pattern they count
        wherever they stand by themselves.

    >>> list(OwnVerdicts(words=(("A", "[[1]]"), ("B", "[[2]]"))).stated("So: [[2]]."))
    [(-1, None, (4, 9))]
    """

    pattern: str | None = None
    words: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for verdict, text in self.words:
            if verdict not in VOTES or not text.strip():
                problem = (
                    "{option} {verdict}={text}: write A=…, B=… and tie=…, "
                    "each with the words that mean it"
                )
                raise InvalidOption(problem, option="verdict_words", verdict=verdict, text=text)
        if self.words and not {"A", "B"} <= {verdict for verdict, _ in self.words}:
            raise InvalidOption("{option}: A and B need words of their own", option="verdict_words")
        if len({text for _, text in self.words}) < len(self.words):
            raise InvalidOption(
                "{option}: the same words mean two verdicts", option="verdict_words"
            )
        groups = set(_compiled(self).groupindex)
        pair = {"A", "B"} & groups
        if (
            groups - {*GROUPS}
            or not (pair or "verdict" in groups)
            or (len(pair) == 1 and "verdict" not in groups)
        ):
            problem = "{option} {pattern}: it needs groups that say the verdict: {examples}"
            raise InvalidOption(
                problem, option="verdict_pattern", pattern=self.pattern or "", examples=EXAMPLES
            )

    @property
    def states_confidence(self) -> bool:
        """Whether the pattern has a group for it."""
        return "confidence" in _compiled(self).groupindex

    @property
    def identity(self) -> list[Any]:
        """What makes it another request."""
        return ["own verdicts", self.pattern, sorted(self.words)]

    def stated(self, answer: str) -> Iterator[tuple[int | None, str | None, tuple[int, int]]]:
        """Verdicts, each with the words of its confidence and its place; None where it is not A, B
        or tie.

        Raises TimeoutError if the search takes longer than `SECONDS`.
        """
        for found in _compiled(self).finditer(answer, timeout=SECONDS):
            named = found.groupdict()
            votes: set[int | None] = {
                vote for name, vote in VOTES.items() if named.get(name) is not None
            }
            text = named.get("verdict")
            if text is not None:
                votes.add(self._of_words(text.strip()))
            if votes:
                yield (
                    votes.pop() if len(votes) == 1 else None,
                    named.get("confidence"),
                    found.span(),
                )

    def _of_words(self, text: str) -> int | None:
        if not self.words:
            return 0 if text.lower() == "tie" else VERDICT.read(text)
        return next((VOTES[verdict] for verdict, words in self.words if words == text), None)


@cache
def _compiled(own: OwnVerdicts) -> Any:
    import regex

    # The longest first: A>B is in [[A>B]], and is the other's beginning in A>>B.
    texts = sorted((text for _, text in own.words), key=len, reverse=True)
    pattern = own.pattern or f"(?P<verdict>{'|'.join(map(_alone, texts))})"
    try:
        return regex.compile(pattern)
    except regex.error as error:
        problem = "{option} {pattern}: is no regular expression ({error})"
        raise InvalidOption(
            problem, option="verdict_pattern", pattern=pattern, error=error
        ) from None


def _alone(text: str) -> str:
    """Words that are no part of longer ones."""
    before, after = (
        r"(?<!\w)" * bool(re.match(r"\w", text)),
        r"(?!\w)" * bool(re.search(r"\w\Z", text)),
    )
    return f"{before}{re.escape(text)}{after}"
