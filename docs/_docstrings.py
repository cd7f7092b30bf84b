"""Docstrings as Markdown for the page of the API: sections become lists, formulas keep their signs.

The project's docstrings are read in an editor first: entries are `name : meaning`, and a paragraph
such as `Source:` may follow a section. Parsers of numpydoc would take it for another entry.
"""

import re
from typing import Any

import griffe

CODE = re.compile(r"(`[^`]*`)")
ENTRY = re.compile(r"(\*?\w[\w, *]*?) : (.*)", flags=re.DOTALL)


class Docstrings(griffe.Extension):
    """Turns every docstring into Markdown when its object is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(docstring: str) -> str:
    """Entries as lists, below a bold title where a section has one, examples as code, all else as
    plain text.
    """
    return "\n\n".join(map(_paragraph, re.split(r"\n\s*\n", docstring)))


def _paragraph(text: str) -> str:
    title, _, rest = text.partition("\n")
    rule, _, entries = rest.partition("\n")
    if rule and not rule.strip("-"):
        items = re.split(r"\n(?! )", entries)
        return "\n".join([f"**{title}**", "", *map(_entry, items)])
    items = re.split(r"\n(?! )", text)
    if all(ENTRY.fullmatch(item) for item in items):
        return "\n".join(map(_entry, items))
    if text.lstrip().startswith(">>>"):
        return f"```python\n{text}\n```"
    return _plain(text)


def _entry(text: str) -> str:
    found = ENTRY.fullmatch(text)
    words = _plain(" ".join((found[2] if found else text).split()))
    return f"- `{found[1]}`: {words}" if found else f"- {words}"


def _plain(text: str) -> str:
    """No sign of a formula is one of Markdown; code in backquotes stays as it is."""
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_>\[\]])", r"\\\1", part.replace("<", "&lt;"))
        for part in CODE.split(text)
    )
