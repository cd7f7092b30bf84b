"""What the cells of a column are, whatever its name: kind, range, and words that are none of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from .words import (
    GRADES,
    LETTERS,
    LEVELS,
    MARKS,
    MISSING,
    NOUNS,
    SIDES,
    TIES,
    clean,
    fold,
    stem,
    tokens,
    what,
    who,
)

MOST = 0.75
"""Share of the filled cells that make a column one of a kind."""
_NUMBER = re.compile(
    r"(?:[a-z ]*(?:score|rating|grade|note)\s*[:=]\s*)?[$€£]?\s*"
    r"([+-]?[0-9]+(?:[.,][0-9]+)*(?:e[+-]?[0-9]+)?|[+-]?\.[0-9]+)"
    r"\s*(?:%|[$€£]|(?:/|\bof\b|\bout of\b)\s*[0-9]+(?:\.[0-9]+)?)?",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[T ].*)?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}(?: .*)?"
)
_PREFERRED = re.compile(r"(a|b)\s*(>>|>|<<|<|=)\s*(a|b)")


@lru_cache(maxsize=65536)
def number(cell: str) -> float | None:
    """The number that a cell says: `3,5`, `1,234`, `92 %`, `4/5`, `Score: 4`, `★★★`, `$0.002`."""
    text = cell.strip().strip("'\"[]")
    if text and not text.strip("★☆⭐"):
        return float(len(text.replace("☆", "")))
    match = _NUMBER.fullmatch(text)
    if not match:
        return None
    digits = match[1]
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    elif digits.count(",") == 1 and "." not in digits:
        digits = digits.replace(",", ".")
    try:
        value = float(digits)
    except ValueError:
        return None
    return value if abs(value) < 1e300 else None


@lru_cache(maxsize=65536)
def side(cell: str) -> int | None:
    """1 for the first of two, -1 for the second, 0 for a tie; None for another word or a number.

    Of a reply of several lines the first says it.
    """
    word = clean(cell.strip().partition("\n")[0])
    if word in TIES:
        return 0
    if match := _PREFERRED.fullmatch(word.replace(" ", "")):
        left, sign, right = match.groups()
        if left == right:
            return None
        return 0 if sign == "=" else (1 if (left == "a") == (">" in sign) else -1)
    words = [each for each in re.findall(r"[a-z]+|[0-9]+", word) if each not in NOUNS]
    if len(words) != 1 or (words[0].isdigit() and word == words[0]):
        return None
    if words[0] in SIDES:
        return 1 - 2 * SIDES[words[0]]
    return 0 if words[0] in TIES and words[0] != "c" else None


@lru_cache(maxsize=65536)
def grade(cell: str) -> float | None:
    """What a word of pass and fail is worth: 1, ½ or 0."""
    return GRADES.get(re.sub(r"[\s-]+", "_", clean(cell)))


@lru_cache(maxsize=65536)
def level(cell: str) -> float | None:
    """Level, 1 to 5, of a word such as `excellent`."""
    return LEVELS.get(re.sub(r"[\s-]+", "_", clean(cell)))


def is_missing(cell: str | None) -> bool:
    """Whether a cell stands for none."""
    return cell is None or fold(cell).strip().casefold() in MISSING


_KINDS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("date", lambda cell: _DATE.fullmatch(cell.strip())),
    ("number", number),
    ("choice", side),
    ("pass", grade),
    ("level", level),
)


@dataclass(eq=False)
class Column:
    """A column of text with what its cells are.

    cells : None where the cell stands for none.  kind : empty, date, number, choice, pass, level,
    text or short.  unread : words that are none of that kind, with their counts.  named_sides :
    of cells such as `Sentence A` and `Sentence B`, folded → 1, -1, or 0 for a tie.
    """

    name: str
    at: int
    cells: list[str | None]
    is_key: bool = False
    inherited: bool = False
    counts: Counter[str] = field(init=False)
    kind: str = field(init=False)
    unread: Counter[str] = field(init=False)
    named_sides: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = Counter(cell for cell in self.cells if cell is not None)
        self.unread = Counter()
        self.kind = self._kind()

    def of_rows(self, cells: list[str | None]) -> Column:
        """The same column of other rows: its kind stays."""
        other = copy(self)
        for name in ("numbers", "folded"):
            other.__dict__.pop(name, None)
        other.cells, other.counts = cells, Counter(cell for cell in cells if cell is not None)
        return other

    def _kind(self) -> str:
        if not self.filled:
            return "empty"
        if "verdict" in self.what and (sides := _sides_beside(self.counts)):
            self.named_sides = sides
            return "choice"
        # `1`, `2` and a word of a tie are three sides, however many ties there are.
        sides = Counter({cell: n for cell, n in self.counts.items() if clean(cell) not in TIES})
        if {clean(cell) for cell in sides} == {"1", "2"} and min(sides.values()) > 1:
            self.unread = self.counts - sides
            return "number"
        for kind, reads in _KINDS:
            unread = Counter({cell: n for cell, n in self.counts.items() if reads(cell) is None})
            if unread.total() <= (1 - MOST) * self.filled:
                self.unread = unread
                return kind
        length = sum(len(cell) * n for cell, n in self.counts.items()) / self.filled
        return (
            "text"
            if length > 40 or (length > 12 and self.distinct > 0.5 * self.filled)
            else "short"
        )

    @property
    def filled(self) -> int:
        return self.counts.total()

    @property
    def distinct(self) -> int:
        return len(self.counts)

    @cached_property
    def numbers(self) -> Counter[float]:
        """Numbers with their counts."""
        found: Counter[float] = Counter()
        for cell, n in self.counts.items():
            if (value := number(cell)) is not None:
                found[value] += n
        return found

    @cached_property
    def folded(self) -> frozenset[str]:
        """Distinct cells by folded spelling, those in ties left out."""
        return frozenset(clean(cell) for cell in self.counts) - TIES

    @cached_property
    def who(self) -> frozenset[str]:
        return who(self.name)

    @cached_property
    def what(self) -> frozenset[str]:
        return what(self.name)

    @cached_property
    def stem(self) -> tuple[str, ...]:
        return stem(self.name)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tokens(self.name)

    @property
    def coded(self) -> frozenset[float]:
        """Its numbers, if they are few and small enough to stand for sides; else none."""
        if self.kind == "number" and self.numbers.keys() <= {-1.0, 0.0, 1.0, 2.0}:
            return frozenset(self.numbers)
        return frozenset()

    @property
    def letters(self) -> dict[str, float]:
        """Grade of each of its letters, folded; empty where they may be sides of two."""
        said = {clean(cell) for cell in self.counts}
        plain = {word[:1] for word in said}
        if not said or said - LETTERS.keys() or len(plain) < 3 or "score" not in self.what:
            return {}
        if plain <= set("abc") and not MARKS & {*self.tokens}:
            return {}
        # Where there is no E, an F stands next to a D.
        lift = 0.0 if "e" in plain else 1.0
        return {word: LETTERS[word] + lift * (word[:1] == "f") for word in said}

    @property
    def letters_beyond(self) -> bool:
        """Whether a letter D to H stands among A and B: picks of several."""
        words = {clean(cell) for cell in self.counts}
        return bool(words & set("defgh")) and bool(words & {"a", "b"}) and len(words) <= 10


def _sides_beside(counts: Counter[str]) -> dict[str, int]:
    """Cell, folded → 1, -1 or 0, where all but ties are `A` and `B` beside the same words."""
    words = {clean(cell): tuple(tokens(cell)) for cell in counts if clean(cell) not in TIES}
    if len(words) != 2 or not 2 <= min(map(len, words.values())) <= 6:
        return {}
    one, other = words.values()
    apart = [(x, y) for x, y in zip(one, other, strict=False) if x != y]
    if len(one) != len(other) or len(apart) != 1 or {*apart[0]} not in ({"a", "b"}, {"1", "2"}):
        return {}
    first = min(apart[0])
    sides = {cell: 1 if first in said else -1 for cell, said in words.items()}
    ties = {clean(cell): 0 for cell in counts if clean(cell) in TIES}
    return {} if all(side(cell) is not None for cell in sides) else sides | ties


def unique(columns: Sequence[Column], rows: int) -> bool:
    """Whether some columns tell every row apart."""
    return (
        len(set(zip(*(column.cells for column in columns), strict=True))) == rows
        if columns
        else rows <= 1
    )


def repeats(columns: Sequence[Column]) -> int:
    """Number of different rows of some columns."""
    return len(set(zip(*(column.cells for column in columns), strict=True)))


def stands_for(column: Column, words: Column) -> bool:
    """Whether each of three or more values of a column stands beside one word of another, and
    each word beside one value, in rows enough to show it.
    """
    n = column.distinct
    return (
        3 <= n == words.distinct
        and 2 * n <= column.filled == words.filled
        and repeats([column, words]) == n + (column.filled < len(column.cells))
    )


def codes(column: Column, words: Column) -> bool:
    """Whether 0 and 1 stand for the two words of another column, in rows enough to show it."""
    return (
        column is not words
        and column.kind == "number"
        and column.coded == {0.0, 1.0}
        and column.filled == words.filled >= 20
        and words.distinct == 2 == column.distinct
        and repeats([column, words]) == 2 + (column.filled < len(column.cells))
    )


def constant_in(column: Column, key: Column) -> bool:
    """Whether a column has one filled value in each value of another."""
    seen: dict[str | None, str] = {}
    for group, cell in zip(key.cells, column.cells, strict=True):
        if cell is not None and seen.setdefault(group, cell) != cell:
            return False
    return True


def differ_in_one(one: Column, other: Column) -> tuple[str, str] | None:
    """The two words in which two names differ, if that is one word."""
    a, b = one.tokens, other.tokens
    if len(a) != len(b):
        return None
    apart = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    return apart[0] if len(apart) == 1 else None
