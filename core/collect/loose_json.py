"""JSON objects in a model's reply; the damage that models do to them is mended in form, never in
content.

Mended: raw line breaks and unknown escapes in strings, unescaped, single or typographic quotes,
keys without quotes, comments, trailing commas, Python's literals, a missing end after a complete
value. A string that does not end is not mended: what it would have said is unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

T = TypeVar("T")
DEPTH = 12
"""Levels of an object that is mended; deeper ones are not."""
STRING_ENDS = {'"': '"', "'": "'", "“": '”"', "„": '“”"'}
KEY = re.compile(r"[^\W\d]\w*")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?%?")
LITERALS = {"true": True, "false": False, "null": None, "none": None}
SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
NEXT_KEY = re.compile(r"\s*,\s*(?://[^\n]*\s*)?[\"'“„]?[^\W\d]\w*[\"'”“]?\s*:")
CLOSING = re.compile(r"\s*(?:,\s*)?(?://[^\n]*\s*)?[}\]][\s}\]`,;.*]*(?:\n|\Z)")
NEXT_ENTRY = re.compile(r"\s*(?:\}\s*,\s*\{|,\s*\{|,\s*[\"'“]|\]\s*,)")
ESCAPE = re.compile(r"u[0-9a-fA-F]{4}|[\"\\/bfnrt]")
ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Damaged(Exception):
    """The text cannot be mended."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """An object and where it stands.

    pairs : its keys with their values, in order and as often as they are there.
    mended : it was no valid JSON.  span : begin and end in the text.
    """

    pairs: tuple[tuple[str, Any], ...]
    mended: bool
    span: tuple[int, int]

    def values(self, key: str) -> list[Any]:
        """All values under a key, in any case of its letters."""
        return self._by_key.get(key, [])

    @cached_property
    def _by_key(self) -> dict[str, list[Any]]:
        values: dict[str, list[Any]] = {}
        for name, value in self.pairs:
            values.setdefault(name.strip().lower(), []).append(value)
        return values


class Pairs(list[tuple[str, Any]]):
    """An object within another: its keys may repeat, which decides nothing here."""


def find(text: str, begins: re.Pattern[str], *, most: int) -> tuple[list[Found], int]:
    """Outermost objects of a text, and where one begins that cannot be read; the text's length if
    none does.

    begins : where an object may begin.  most : objects; of a text that has more, none is read.
    """
    objects: list[Found] = []
    at = 0
    while (begun := begins.search(text, at)) is not None:
        made = _strict(text, begun.start()) or _mended(text, begun.start())
        if made is None:
            return objects, begun.start()
        if len(objects) == most:
            return [], objects[0].span[0]
        objects.append(made)
        at = made.span[1]
    return objects, len(text)


def _strict(text: str, place: int) -> Found | None:
    decoder = json.JSONDecoder(object_pairs_hook=Pairs, strict=False)
    try:
        value, end = decoder.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None
    return (
        Found(pairs=tuple(value), mended=False, span=(place, end))
        if isinstance(value, Pairs)
        else None
    )


def _mended(text: str, place: int) -> Found | None:
    reader = _Reader(text, place)
    try:
        value = reader.read_object(0)
    except Damaged:
        return None
    return Found(pairs=tuple(value), mended=True, span=(place, reader.at))


class _Reader:
    """Reads one damaged object from left to right, each character once but for a look ahead within
    a line.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at

    def read_object(self, depth: int) -> Pairs:
        return Pairs(self._entries("}", depth, self._pair))

    def _entries(self, mark: str, depth: int, entry: Callable[[int], T]) -> list[T]:
        """What stands in an object or a list, which ends with a mark."""
        if depth > DEPTH:
            raise Damaged
        self.at += 1
        entries: list[T] = []
        while not self._closes(mark, whole=mark == "}" and bool(entries)):
            entries.append(entry(depth))
            self._separate(mark)
        return entries

    def _pair(self, depth: int) -> tuple[str, Any]:
        key = self._key()
        self._skip()
        if not self.text.startswith(":", self.at):
            raise Damaged
        self.at += 1
        return key, self._value(depth)

    def _closes(self, mark: str, *, whole: bool) -> bool:
        """Whether the end is here; of an object with something in it also where the text ends."""
        self._skip()
        if self.at >= len(self.text):
            if whole:
                return True
            raise Damaged
        if self.text[self.at] != mark:
            return False
        self.at += 1
        return True

    def _separate(self, mark: str) -> None:
        self._skip()
        if self.at < len(self.text) and self.text[self.at] == ",":
            self.at += 1
        elif self.at < len(self.text) and self.text[self.at] != mark:
            # A fence or an end token after an object without its brace.
            if mark == "}" and self.text[self.at] in "`<":
                self.text = self.text[: self.at]
                return
            raise Damaged

    def _key(self) -> str:
        if self.text[self.at] in STRING_ENDS:
            ends, begun = STRING_ENDS[self.text[self.at]], self.at + 1
            while self.at + 1 < len(self.text) and self.text[self.at + 1] not in ends + "\n":
                self.at += 1
            self.at += 2
            return self.text[begun : self.at - 1]
        named = KEY.match(self.text, self.at)
        if named is None:
            raise Damaged
        self.at = named.end()
        return named.group()

    def _value(self, depth: int) -> Any:
        self._skip()
        here = self.text[self.at : self.at + 1]
        if here == "{":
            return self.read_object(depth + 1)
        if here == "[":
            return self._entries("]", depth + 1, self._value)
        if here and here in STRING_ENDS:
            return self._string(STRING_ENDS[here])
        number = NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            return _number(number.group())
        word = KEY.match(self.text, self.at)
        if word is None:
            raise Damaged
        self.at = word.end()
        return LITERALS.get(word.group().lower(), word.group())

    def _string(self, ends: str) -> str:
        """A string; a quote within it that is not escaped is a part of it where it cannot end the
        string.
        """
        parts: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            here = self.text[self.at]
            if here == "\\":
                parts.append(self._escape())
                continue
            if here in ends and self._ends_string(self.at + 1):
                self.at += 1
                return "".join(parts)
            parts.append(here)
            self.at += 1
        raise Damaged

    def _ends_string(self, after: int) -> bool:
        rest = self.text[after : after + 200]
        return not rest.strip() or any(mark.match(rest) for mark in (NEXT_KEY, CLOSING, NEXT_ENTRY))

    def _escape(self) -> str:
        match = ESCAPE.match(self.text, self.at + 1)
        if match is None:
            self.at += 1
            return "\\"
        self.at = match.end()
        what = match.group()
        return (
            chr(int(what[1:], 16)) if what[0] == "u" and len(what) > 1 else ESCAPED.get(what, what)
        )

    def _skip(self) -> None:
        blank = SPACE.match(self.text, self.at)
        if blank is not None:
            self.at = blank.end()


def _number(text: str) -> float | int | str:
    if text.endswith("%"):
        return text
    try:
        return int(text)
    except ValueError:
        return float(text)


def as_dict(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any] | None:
    """An object without repeated keys; None if a key has two values."""
    made = dict(pairs)
    return (
        made if len(made) == len(pairs) or all(made[key] == value for key, value in pairs) else None
    )
