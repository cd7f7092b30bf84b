"""Replies as judges write them, with the truth beside each: `data/replies/*.txt`."""

from __future__ import annotations

from dataclasses import dataclass, field

from places import REPOSITORY

FOLDER = REPOSITORY / "tests" / "data" / "replies"
HEADING = "=== "


@dataclass(slots=True)
class JudgeReply:
    """truth : A, B, C, none or refused.  shown : the responses that the reply speaks of."""

    truth: str
    kind: str
    ties: bool
    lines: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip("\n")

    @property
    def clear(self) -> bool:
        return self.truth in ("A", "B", "C")


def replies(name: str) -> list[JudgeReply]:
    found: list[JudgeReply] = []
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith(HEADING):
            truth, kind, *options = (part.strip() for part in line.removeprefix(HEADING).split("|"))
            found.append(JudgeReply(truth, kind, "no ties" not in options))
        elif found and line.startswith(("@a: ", "@b: ")):
            found[-1].shown.append(line[4:])
        elif found:
            found[-1].lines.append(line)
    return found
