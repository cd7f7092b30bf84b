"""What is said first, on two levels: a headline that one reads in a glance, and a line of figures.

Pages, text, report and Markdown say the same. The headline of each question is made beside its
sentences; here is what all of them are made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..stats.estimate import Estimate
from .check import CheckResult
from .wording import minus, number, percent, signed

COUNTED = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one question.

    headline : subject, finding and consequence in at most 20 words, a name counting as one; no
        interval and no symbol.  figures : one line of what it rests on, with intervals; empty
        where nothing could be measured.  good : nothing in it warns.
    """

    headline: str
    figures: str = ""
    good: bool = True


def in_words(n: int) -> str:
    """A number as one reads it in a sentence: twelve, 13."""
    return COUNTED[n] if n < len(COUNTED) else f"{n:,}"


def named(names: Sequence[str], most: int = 2) -> str:
    """A few names with "and", or the first and how many more."""
    if len(names) > most:
        return f"{names[0]} and {in_words(len(names) - 1)} more"
    return " and ".join(names)


def line(parts: Iterable[object]) -> str:
    """The figures that are known, in one line."""
    return " · ".join(str(part) for part in parts if part)


def share(found: Estimate, digits: int = 0) -> str:
    """A share in percent with its interval: 96 % (94–98)."""
    value = percent(found.value, digits)
    if not found.has_interval:
        return value
    low, high = (percent(end, digits).removesuffix(" %") for end in (found.low, found.high))
    return f"{value} ({low}–{high})"


def difference(found: Estimate, *, scale: float = 100.0, digits: int = 1, unit: str = "") -> str:
    """A difference with its sign and its interval: +27.3 points (22.3–30.8), or with signs
    (−26.5 to −16.6) where an end is below 0.
    """
    of = found.scaled(scale)
    value = signed(of.value, digits) + unit
    if not of.has_interval:
        return value
    if of.low >= 0:
        return f"{value} ({size(of.low, digits)}–{size(of.high, digits)})"
    return f"{value} ({signed(of.low, digits)} to {signed(of.high, digits)})"


def measured(found: Estimate, digits: int = 2, scale: float = 1.0) -> str:
    """A quantity without a unit, with its interval: 0.96 (0.96–0.97)."""
    of = found.scaled(scale)
    value, low, high = (size(one, digits) for one in (of.value, of.low, of.high))
    if not of.has_interval:
        return value
    return f"{value} ({low} to {high})" if of.low < 0 else f"{value} ({low}–{high})"


def size(value: float, digits: int) -> str:
    """A number as it is read, with a minus and no hyphen."""
    return minus(number(value, f".{digits}f"))


MOST_WORDS = 20


def words(sentence: str, names: Iterable[str] = ()) -> int:
    """Words of a sentence, in which a name of a judge or model is one word whatever it is made of.

    >>> words("Use my judge: right.", ["my judge"])
    3
    """
    for name in sorted(names, key=len, reverse=True):
        sentence = sentence.replace(name, "name")
    return len(sentence.split())


def longest(sentences: Iterable[str], names: Iterable[str]) -> str:
    """The first of several ways to say it that is no longer than a headline may be; else the
    last.
    """
    known, said = list(names), ""
    for said in sentences:
        if words(said, known) <= MOST_WORDS:
            break
    return said


Found = Mapping[str, CheckResult]
"""What the checks say of one judge, by check."""


def by_judge(results: Iterable[CheckResult]) -> dict[str, dict[str, CheckResult]]:
    """Judge → check → what it says, in the order given."""
    found: dict[str, dict[str, CheckResult]] = {}
    for result in results:
        found.setdefault(result.judge, {})[result.check] = result
    return found


def bad(result: CheckResult | None) -> bool:
    """Whether a check is shown to warn or fail."""
    return result is not None and result.grade in ("warn", "fail")


def good(result: CheckResult | None) -> bool:
    """Whether a check is shown to be fine."""
    return result is not None and result.grade == "ok"
