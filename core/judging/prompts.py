"""Prompts out of the files of `core/judging/prompts/`, and judged texts fenced as data inside them."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidOption, UnreadableFile

FOLDER = Path(__file__).resolve().parent / "prompts"
NAMES = ("pairwise", "score", "listwise", "usc", "gsa", "fuser", "key", "keyed")
SEPARATOR = "\n--- user\n"
PLACE = re.compile(r"\{\{(\w+)\}\}")
CONDITION = re.compile(r"\?(!?)(\w+)(?: |\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt before anything is filled in.

    examples : what the place of that name holds; like judged texts it is put in as it is.
    hash : sha256 of its text, with the conditions decided, and of the examples: the `prompt_hash` of votes.
    """

    name: str
    system: str
    user: str
    hash: str
    examples: str = ""


def load(name: str, *, flags: Iterable[str] = (), examples: str = "", folder: Path | None = None) -> Prompt:
    """Read a prompt and decide its conditional lines.

    Raises
    ------
    UnreadableFile : the file is missing, no UTF-8, or lacks the line `--- user`.
    """
    path = (folder or FOLDER) / f"{name}.md"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"the prompt {path.name} cannot be read ({error})") from error
    decided = _decide(text, frozenset(flags))
    system, separator, user = decided.partition(SEPARATOR)
    if not separator:
        raise UnreadableFile(f"the prompt {path.name} needs a line '--- user' between its two parts")
    digest = hashlib.sha256(f"{decided}\0{examples}".encode()).hexdigest()
    return Prompt(name=name, system=system.strip(), user=user.strip(), hash=digest, examples=examples)


def _decide(text: str, flags: frozenset[str]) -> str:
    lines = []
    for line in text.splitlines():
        found = CONDITION.match(line)
        if found is None:
            lines.append(line)
        elif (found.group(2) in flags) != (found.group(1) == "!"):
            lines.append(line[found.end() :])
    return "\n".join(lines)


def new_fence() -> str:
    """A number that no text written before can contain on purpose."""
    return secrets.token_hex(8)


def messages(
    prompt: Prompt, texts: Mapping[str, str | Sequence[tuple[str, str]]], words: Mapping[str, str], fence: str
) -> list[dict[str, str]]:
    """Fill a prompt: chat messages, system first.

    texts : place → what to fence, one text or several, each with its heading.
    words : place → our own words, put in as they are.  fence : number of the fence; if a text has it inside,
    another is drawn.
    """
    given = [
        t for text in texts.values() for t in ([text] if isinstance(text, str) else [b for _, b in text])
    ]
    while any(fence in text for text in (*given, prompt.examples)):
        fence = new_fence()
    filled = {**words, "examples": prompt.examples, "fence": fence}
    for place, text in texts.items():
        if isinstance(text, str):
            filled[place] = fenced(text, fence)
        else:
            filled[place] = "\n\n".join(f"{heading}\n\n{fenced(body, fence)}" for heading, body in text)

    def fill(part: str) -> str:
        # One pass: a place that a judged text names is not filled.
        return PLACE.sub(lambda found: _place(prompt, filled, found.group(1)), part)

    return [
        {"role": "system", "content": fill(prompt.system)},
        {"role": "user", "content": fill(prompt.user)},
    ]


def _place(prompt: Prompt, filled: Mapping[str, str], name: str) -> str:
    if name not in filled:
        allowed = ", ".join(f"{{{{{place}}}}}" for place in sorted(filled))
        raise InvalidOption(
            f"the prompt {prompt.name}.md has the unknown place {{{{{name}}}}}; it may have {allowed}"
        )
    return filled[name]


def fenced(text: str, fence: str) -> str:
    """The text between two marks that it cannot write itself."""
    return f"<data-{fence}>\n{text}\n</data-{fence}>"
