"""How replies to a prompt of one's own state their verdict: a pattern with named groups, or words.

A pattern is searched for as Python's `re` does, by the library `regex`, which can be told when to
stop: Python's cannot, and a reply may be made so that a pattern on it never ends. Neither can be
told so while it compiles, where counted repeats are written out: so patterns are bounded before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import InvalidOption
from .forms import VERDICT

SECONDS = 0.25
"""Longest search of one reply; one that takes longer is unparsed."""
LONGEST, MOST_REPEATS, DEEPEST = 2_000, 1_000, 50
"""Bounds of a pattern: its characters, the product of counted repeats in each other, its levels."""
ESCAPE = re.compile(r"\\.", re.DOTALL)
PLAIN_CLASS = re.compile(r"\[\^?\]?[^\[\](){}]*\]")
COUNT = re.compile(r"\{[^{}]*\}")
UNUSUAL = re.compile(r"[\[\]]|\(\?#|\(\?[\w-]*x")
"""Classes with brackets in them, comments, and patterns whose white space says nothing."""
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
        if self.pattern is not None and (problem := too_large(self.pattern)):
            raise InvalidOption("{option}: " + problem, option="verdict_pattern")
        if (characters := sum(len(text) for _, text in self.words)) > LONGEST:
            problem = "{option}: {n} characters; at most {most} are read"
            raise InvalidOption(
                problem, option="verdict_words", n=f"{characters:,}", most=f"{LONGEST:,}"
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


def too_large(pattern: str) -> str:
    """Why a pattern is not compiled, in words without what it holds; empty if it is.

    Levels are those of groups in each other. Repeats in each other multiply: `(a{20}){30}` is 600,
    `a{20}b{30}` is 30. Where the levels cannot be told by a look at brackets, every repeat counts
    as in every other and every bracket as a level.

    >>> too_large("(a{20}){30}")
    ''
    >>> too_large("(a{40}){30}")
    'counted repeats multiply to 1,200; at most 1,000 are read; * and + do not count'
    """
    if len(pattern) > LONGEST:
        return f"{len(pattern):,} characters; at most {LONGEST:,} are read"
    text = PLAIN_CLASS.sub("x", plain := ESCAPE.sub("x", pattern))
    if UNUSUAL.search(text) is None:
        levels, repeats = _nested(text)
    else:
        levels = plain.count("(") + plain.count("[")
        repeats = math.prod(_count(mark.group()) for mark in COUNT.finditer(pattern))
    if levels > DEEPEST:
        return f"{levels:,} levels of brackets; at most {DEEPEST} are read"
    if repeats > MOST_REPEATS:
        shown = f"{repeats:,}" if repeats < 10**15 else "more than can be written"
        return (
            f"counted repeats multiply to {shown}; at most {MOST_REPEATS:,} are read; "
            "* and + do not count"
        )
    return ""


def _count(braces: str) -> int:
    """The largest number between braces, as of `{2,30}`; 1 if there is none."""
    return max(1, *map(int, re.findall(r"[0-9]+", braces)), 1)


def _nested(text: str) -> tuple[int, int]:
    """Deepest level of groups, and the largest product of counts in each other."""
    deepest, last, at = 0, 1, 0
    most = [1]
    while at < len(text):
        braces = COUNT.match(text, at)
        if braces is not None:
            last *= _count(braces.group())
            most[-1] = max(most[-1], last)
            at = braces.end()
            continue
        if text[at] == "(":
            most.append(1)
            deepest = max(deepest, len(most) - 1)
            last = 1
        elif text[at] == ")" and len(most) > 1:
            last = most.pop()
            most[-1] = max(most[-1], last)
        elif text[at] not in "*+?":
            last = 1
        at += 1
    return deepest, max(most)


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
    except (RecursionError, OverflowError, MemoryError):
        problem = "{option}: the pattern is too large to be read; write a shorter one"
        raise InvalidOption(problem, option="verdict_pattern") from None


def _alone(text: str) -> str:
    """Words that are no part of longer ones."""
    before, after = (
        r"(?<!\w)" * bool(re.match(r"\w", text)),
        r"(?!\w)" * bool(re.search(r"\w\Z", text)),
    )
    return f"{before}{re.escape(text)}{after}"
