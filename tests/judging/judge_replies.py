"""Replies as judges write them, with the truth beside each: `data/replies/*.txt`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from places import REPOSITORY

from core.collect.reading import text_of

FOLDER = REPOSITORY / "tests" / "data" / "replies"
HEADING = "=== "


@dataclass(slots=True)
class JudgeReply:
    """truth : A, B, C, none or refused.  shown : the responses that the reply speaks of.

    structured : the server kept it to a schema.  message : the lines are a message of OpenAI's
    chat format, not its text.
    """

    truth: str
    kind: str
    ties: bool
    structured: bool = False
    message: bool = False
    lines: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        written = "\n".join(self.lines).rstrip("\n")
        return text_of(json.loads(written)) if self.message else written

    @property
    def repair(self) -> str:
        """What a model answers that reads this reply of its own truly, when asked what it says."""
        return self.truth if self.clear else "NONE"

    @property
    def clear(self) -> bool:
        return self.truth in ("A", "B", "C")


def replies(name: str) -> list[JudgeReply]:
    found: list[JudgeReply] = []
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith(HEADING):
            truth, kind, *options = (part.strip() for part in line.removeprefix(HEADING).split("|"))
            marks = [mark in options for mark in ("structured", "message")]
            found.append(JudgeReply(truth, kind, "no ties" not in options, *marks))
        elif found and line.startswith(("@a: ", "@b: ")):
            found[-1].shown.append(line[4:])
        elif found:
            found[-1].lines.append(line)
    return found
