"""Texts of a card as HTML: every character escaped, the words in which two texts differ marked.

A text is shown as it is, or as the Markdown that it is written in. Of Markdown only words, their
form and code are shown: HTML in a text is escaped, pictures are not loaded, and the target of a
link is read, not followed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

MOST_WORDS = 1_500
"""Words of a text above which differences are not looked for, as it takes too long."""
LEAST_APART = 0.5
"""Share of words that differ, from which nothing is marked: most would be."""
MOST_RENDERED = 20_000
"""Characters of a text above which it is shown as it is: to read its Markdown takes too long."""
ABSENT = Markup("<em>The data have no text of this answer.</em>")
NOTHING = Markup()
WORD = re.compile(r"\s+|[^\s]+")
STYLE = "overflow-wrap: anywhere; line-height: 1.5;"
AS_IT_IS = f"white-space: pre-wrap; {STYLE}"
CODE = "white-space: pre-wrap; overflow-wrap: anywhere; margin: .5em 0;"
HEADING = "font-weight: 600; font-size: 1.05em; margin: .75em 0 .5em;"
CELL = "border: 1px solid; padding: .2em .5em;"

Marks = frozenset[int]
"""Places of the words of a text that are marked."""
Show = Callable[[str], Markup]
"""Escapes a run of text, with <mark> around the words to be marked; called in order of the text."""


def plain(text: str | None, *, markdown: bool = False) -> str:
    """One text, escaped."""
    return _box(text, frozenset(), markdown)


def marked(left: str | None, right: str | None, *, markdown: bool = False) -> tuple[str, str]:
    """Both texts, escaped, with the words that only one has in <mark>.

    Marked only where less than half of the words of both differ; blanks are no words.
    markdown : show each as the Markdown that it is written in, whose words are compared then.
    """
    marks = _apart(_words(left, markdown), _words(right, markdown))
    return _box(left, marks[0], markdown), _box(right, marks[1], markdown)


def _apart(left: Sequence[str], right: Sequence[str]) -> tuple[Marks, Marks]:
    """Places of the words of each that the other has not; none where half of all differ."""
    both = len(left) + len(right)
    if not left or not right or max(len(left), len(right)) > MOST_WORDS:
        return frozenset(), frozenset()
    same = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    if both - 2 * sum(block.size for block in same) >= LEAST_APART * both:
        return frozenset(), frozenset()
    kept_left = {block.a + k for block in same for k in range(block.size)}
    kept_right = {block.b + k for block in same for k in range(block.size)}
    return frozenset(range(len(left))) - kept_left, frozenset(range(len(right))) - kept_right


def _words(text: str | None, markdown: bool) -> list[str]:
    words: list[str] = []

    def read(run: str) -> Markup:
        words.extend(run.split())
        return NOTHING

    _render(text or "", read, markdown)
    return words


def _marker(marks: Marks) -> Show:
    place = 0

    def show(run: str) -> Markup:
        nonlocal place
        if not marks:
            return escape(run)
        shown, apart, blank = [], "", ""
        for part in WORD.findall(run):
            if part.isspace():
                blank = part
                continue
            if place in marks:
                # Words that stand together are one mark, with the blanks between them.
                shown += [] if apart else [escape(blank)]
                apart += (blank if apart else "") + part
            else:
                shown += [_mark(apart), escape(blank + part)]
                apart = ""
            place, blank = place + 1, ""
        return Markup("").join([*shown, _mark(apart), escape(blank)])

    return show


def _mark(words: str) -> Markup:
    return Markup("<mark>{}</mark>").format(words) if words else NOTHING


def _box(text: str | None, marks: Marks, markdown: bool) -> str:
    if not text:
        return _div(AS_IT_IS, ABSENT)
    rendered = _render(text, _marker(marks), markdown)
    return _div(STYLE if _is_rendered(text, markdown) else AS_IT_IS, rendered)


def _div(style: str, inside: Markup) -> str:
    return str(Markup('<div style="{}">{}</div>').format(Markup(style), inside))


def _is_rendered(text: str, markdown: bool) -> bool:
    return markdown and len(text) <= MOST_RENDERED


def _render(text: str, show: Show, markdown: bool) -> Markup:
    """HTML of a text, whose runs of words `show` writes in their order."""
    if not _is_rendered(text, markdown):
        return show(text)
    reader = _reader()
    return Markup(reader.renderer.render(_parsed(text), reader.options, {"show": show}))


@lru_cache(maxsize=8)
def _parsed(text: str) -> list[Token]:
    """Its words are read first, and shown then."""
    return _reader().parse(text)


@cache
def _reader() -> MarkdownIt:
    """Reads Markdown with tables, and renders nothing that would ask another address."""
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    reader.enable(["table", "strikethrough"])
    for name, rule in _RULES.items():
        reader.add_render_rule(name, rule)
    return reader


def _text(_: Any, tokens: Sequence[Token], place: int, __: Any, env: Any) -> str:
    return str(env["show"](tokens[place].content))


def _code(_: Any, tokens: Sequence[Token], place: int, __: Any, env: Any) -> str:
    return f"<code>{env['show'](tokens[place].content)}</code>"


def _block(_: Any, tokens: Sequence[Token], place: int, __: Any, env: Any) -> str:
    return f'<pre style="{CODE}"><code>{env["show"](tokens[place].content)}</code></pre>'


def _picture(_: Any, tokens: Sequence[Token], place: int, __: Any, env: Any) -> str:
    token = tokens[place]
    return str(env["show"](f"![{token.content}]({token.attrs.get('src', '')})"))


def _link(_: Any, tokens: Sequence[Token], place: int, __: Any, env: Any) -> str:
    env.setdefault("links", []).append(str(tokens[place].attrs.get("href", "")))
    return "<u>"


def _link_end(_: Any, tokens: Sequence[Token], place: int, __: Any, env: Any) -> str:
    target = env["links"].pop()
    # An address that is written out is its own target.
    own = place > 0 and tokens[place - 1].content == target
    return "</u>" if own else f"</u>{env['show'](f' ({target})')}"


def _tag(name: str, style: str) -> Callable[..., str]:
    return lambda *_: f'<{name} style="{style}">'


_RULES: dict[str, Callable[..., str]] = {
    "text": _text,
    "code_inline": _code,
    "code_block": _block,
    "fence": _block,
    "image": _picture,
    "link_open": _link,
    "link_close": _link_end,
    # The card has its place among the headings of the page; those of a text are none of it.
    "heading_open": _tag("p", HEADING),
    "heading_close": lambda *_: "</p>",
    "table_open": _tag("table", "border-collapse: collapse; margin: .5em 0;"),
    "th_open": _tag("th", CELL),
    "td_open": _tag("td", CELL),
}
