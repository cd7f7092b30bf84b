"""The schema of a reply, for servers that keep a model to one: no reader can be misled there.

It has the keys that the project's prompts ask for, in their order: reasons before the verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from .reading import FLAGS, LETTERS
from .rubric import Words, values_of_words

LEVELS = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
TIED = ("C", "A=B")
"""Verdicts that are none where there are no ties."""


@cache
def schema_of(
    task: str,
    text: str,
    *,
    ties: bool,
    candidates: int,
    levels: Words = (),
    criteria: tuple[tuple[str, Words], ...] = (),
) -> str | None:
    """The value of `response_format` for a prompt, as JSON; None where the prompt asks for other
    keys than the project's own do.

    task : of the request.  text : what the prompt asks for.  candidates : of a list.  levels : of a
        score of the whole.  criteria : what else is scored, each with its levels.
    """
    if task == "rank":
        entry = {
            "label": _one_of(LETTERS[:candidates]),
            "score": {"type": "number"},
            "rank": _one_of(range(1, candidates + 1)),
            **{flag: {"type": "boolean"} for flag in FLAGS},
        }
        listed = {"candidates": {"type": "array", "items": _object(entry)}}
        return _format(listed) if '{"candidates"' in text else None
    if '{"key"' in text:
        return _format({"key": {"type": "string"}})
    # Scores of criteria that only an edited prompt names are in no schema.
    if '{"reason"' not in text or ('"scores"' in text and not criteria):
        return None
    keys: dict[str, Any] = {"own_answer": {"type": "string"}} if '"own_answer"' in text else {}
    keys["reason"] = {"type": "string"}
    if '"confidence"' in text:
        keys["confidence"] = {"type": "number"}
    if task == "score" and '"verdict"' in text:
        return _format({**keys, "verdict": _one_of(("PASS", "FAIL"))})
    if task == "score":
        if criteria:
            keys["scores"] = _object({name: _level(words) for name, words in criteria})
        if not levels:
            return _format(keys)
        return _format({**keys, "score": _level(levels)}) if '"score"' in text else None
    verdicts = LEVELS if "A>>B" in text else ("A", "B", "C")
    allowed = [verdict for verdict in verdicts if ties or verdict not in TIED]
    return _format({**keys, "verdict": _one_of(allowed)}) if '"verdict"' in text else None


def _level(words: Words) -> dict[str, Any]:
    values = values_of_words(words)
    return _one_of(list(values.values()) if words == tuple(map(str, values.values())) else words)


def _one_of(values: Sequence[Any]) -> dict[str, Any]:
    kind = "integer" if isinstance(values[0], int) else "string"
    return {"type": kind, "enum": list(values)}


def _object(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(keys),
        "required": list(keys),
        "additionalProperties": False,
    }


def _format(keys: Mapping[str, Any]) -> str:
    schema = {"name": "judgement", "strict": True, "schema": _object(keys)}
    return json.dumps({"type": "json_schema", "json_schema": schema})
