"""Texts of a card as HTML: what is marked, and that Markdown brings neither HTML nor requests."""

from __future__ import annotations

import re
import time

import pytest

from pages.shared.texts import marked, plain

CODE = "Use it:\n\n```python\nif a < b:\n    print('<b>')\n```\n\n| x | y |\n|---|---|\n| 1 | 2 |"


def bare(text: str) -> str:
    return re.sub("<[^>]*>", "", text)


def test_markdown_and_code_are_shown_as_such():
    shown = plain(f"# Head\n\nSome *leaning* `code`\nnext\n\n{CODE}", markdown=True)
    for part in (
        "<em>leaning</em>",
        "<code>code</code><br />",
        "<pre",
        "<td",
        "if a &lt; b:\n    ",
    ):
        assert part in shown
    assert "<h1" not in shown
    assert bare(plain(CODE)) == CODE.replace("<", "&lt;").replace("'", "&#39;").replace(">", "&gt;")


@pytest.mark.parametrize(
    "hostile",
    [
        "<img src=http://other.host/a.png onerror=alert(1)>",
        "![see](http://other.host/a.png)",
        "[see](http://other.host/ 'title')",
        "[see](javascript:alert(1))",
        "<http://other.host/>",
        "<script>fetch('http://other.host')</script>",
        "[x]: http://other.host/\n\n[x] ![x][x]",
        "```<img src=x>\n<iframe src=http://other.host>\n```",
        "`<svg onload=alert(1)>`",
    ],
)
def test_of_markdown_only_form_is_taken(hostile):
    for text in (hostile, f"- {hostile}", f"| {hostile} |\n|---|\n| {hostile} |", f"**{hostile}**"):
        tags = re.findall(r"<(\w+)([^>]*)>", plain(text, markdown=True))
        allowed = {"div", "p", "em", "strong", "code", "pre", "u", "ul", "ol", "br"}
        assert {name for name, _ in tags} <= allowed | {
            "li",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
        }
        assert all(re.fullmatch(r'( style="[^"]*"| /)?', rest) for _, rest in tags)


def test_where_less_than_half_differ_the_words_are_marked():
    left, right = marked("one two  three four", "one two three five six")
    assert "one two  three <mark>four</mark>" in left
    assert "three <mark>five six</mark>" in right
    # Blanks are no words: of four and four words two are the same.
    assert not any("<mark>" in text for text in marked("a b c d", "a x  y\nd"))
    assert all("<mark>" in text for text in marked("a b c d e", "a x c y e"))


def test_words_of_markdown_are_marked_where_they_stand():
    left, right = marked("The **old** `value` is 3", "The **new** `value` is 3", markdown=True)
    assert "<strong><mark>old</mark></strong> <code>value</code> is 3" in left
    assert "<strong><mark>new</mark></strong>" in right
    # Only its form differs.
    assert not any("<mark>" in text for text in marked("# All *same*", "All same", markdown=True))


@pytest.mark.parametrize("part", ["[", "![", "*a ", "`", "> ", "_*", "<a", "|a", "a\n", "**a*"])
def test_a_hostile_text_takes_no_longer_than_a_look(part):
    text = part * (400_000 // len(part))
    for size in (19_999, len(text)):
        start = time.process_time()
        plain(text[:size], markdown=True)
        assert time.process_time() - start < 2
