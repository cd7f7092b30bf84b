"""Logs of Inspect: `.json`, and `.eval` once it is unpacked (`archives`)."""

from __future__ import annotations

from typing import Any

from .declared import Scopes, declared, get, numbered
from .tables import Record

UNGRADED = {"match", "includes", "pattern", "answer", "exact", "f1", "choice", "math", "perplexity"}
"""Scorers of Inspect that compare with the target, and ask no model."""


def _marks(scopes: Scopes) -> list[dict[str, Any]]:
    """The scores of a sample; a score of several values is one per value.

    A sample whose run failed has none, and an empty one of each scorer stands for it.
    """
    found = get(scopes, "sample.scores")
    if not isinstance(found, dict):
        failed = get(scopes, "sample.error")
        names = [get({"each": each}, "each.name") for each in _scorers(scopes)]
        return [{"key": name, "scorer": name, "of": {}} for name in names if failed]
    marks: list[dict[str, Any]] = []
    for name, mark in found.items():
        of = mark if isinstance(mark, dict) else {"value": mark}
        value = of.get("value")
        if isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else enumerate(value, 1)
            marks += [
                {"key": f"{name}: {part}", "scorer": name, "value": each, "of": of}
                for part, each in pairs
            ]
        else:
            marks.append({"key": name, "scorer": name, "value": value, "of": of})
    return marks


def _scorers(scopes: Scopes) -> list[Any]:
    found = get(scopes, "root.eval.scorers")
    return found if isinstance(found, list) else []


def _judge(scopes: Scopes) -> str | None:
    """The model that graded: the scorer's own, that of the role of grader, another model of the
    sample than the one asked, or that one itself; a scorer that asks none is a judge of its name.
    """
    name = str(get(scopes, "mark.scorer"))
    bare = name.rstrip("0123456789")
    scorers = {get({"each": each}, "each.name"): each for each in _scorers(scopes)}
    own = scorers.get(name) or scorers.get(bare) or {}
    asked = get(scopes, "root.eval.model")
    if model := get({"own": own}, "own.options.model.model | own.options.model"):
        return str(model) if isinstance(model, str) else None
    if bare in UNGRADED or name in UNGRADED:
        return f"scorer:{name}"
    if role := get(scopes, "root.eval.model_roles.grader.model | root.eval.model_roles.grader"):
        return str(role) if isinstance(role, str) else None
    events = get(scopes, "sample.events")
    used = [
        event.get("model")
        for event in (events if isinstance(events, list) else ())
        if isinstance(event, dict) and event.get("event") == "model"
    ]
    others = [model for model in used if model and model != asked]
    if others:
        return str(others[-1])
    graded = bare.startswith("model_graded") or get(scopes, "mark.of.metadata.grading")
    return str(asked) if graded else f"scorer:{name}"


def _unfinished(record: Record) -> list[str]:
    status = record.get("status")
    return [] if status == "success" else [f"The run was not finished: its status is {status}."]


INSPECT = declared(
    name="inspect",
    line="Inspect log (.eval, or JSON): samples with scores of one or several scorers and epochs",
    needs=("eval.task", "status", "samples"),
    dataset="Inspect",
    notes=_unfinished,
    each=(("sample", "root.samples"), ("mark", _marks)),
    columns={
        "dataset": "root.eval.task",
        "item_id": "sample.id",
        "category": "sample.metadata.category",
        "run": numbered("sample.epoch"),
        "model": "root.eval.model",
        "judge": _judge,
        "metric": "mark.key",
        "score": "mark.value",
        "prompt": "sample.input",
        "response": "sample.output.choices.0.message.content | sample.output.completion",
        "rationale": "mark.of.explanation",
    },
    failed="sample.error",
)
FORMATS = (INSPECT,)
