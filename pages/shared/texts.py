"""Texts of a card as HTML: every character escaped, the words in which two texts differ marked."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from markupsafe import Markup, escape

MOST_WORDS = 1_500
"""Words of a text above which differences are not looked for, as it takes too long."""
MOST_MARKED = 0.6
"""Share of words that differ, above which nothing is marked: all would be."""
ABSENT = Markup("<em>The data have no text of this answer.</em>")
WORD = re.compile(r"\s+|[^\s]+")
STYLE = "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5;"


def plain(text: str | None) -> str:
    """One text, escaped."""
    return _box(ABSENT if not text else escape(text))


def marked(left: str | None, right: str | None) -> tuple[str, str]:
    """Both texts, escaped, with the words that only one has in <mark>."""
    if not left or not right:
        return plain(left), plain(right)
    words = WORD.findall(left), WORD.findall(right)
    if max(map(len, words)) > MOST_WORDS:
        return plain(left), plain(right)
    matcher = SequenceMatcher(None, *words, autojunk=False)
    same = matcher.get_matching_blocks()
    kept = sum(block.size for block in same)
    if kept < (1 - MOST_MARKED) * min(map(len, words)):
        return plain(left), plain(right)
    return (
        _box(_with_marks(words[0], [(b.a, b.size) for b in same])),
        _box(_with_marks(words[1], [(b.b, b.size) for b in same])),
    )


def _with_marks(words: list[str], same: list[tuple[int, int]]) -> Markup:
    parts, place = [], 0
    for start, size in same:
        if apart := "".join(words[place:start]):
            parts.append(
                Markup("<mark>{}</mark>").format(apart) if apart.strip() else escape(apart)
            )
        parts.append(escape("".join(words[start : start + size])))
        place = start + size
    return Markup("").join(parts)


def _box(text: Markup) -> str:
    return str(Markup('<div style="{}">{}</div>').format(Markup(STYLE), text))
