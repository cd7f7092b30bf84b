"""Results of promptfoo: scores of model-graded assertions, and what select-best chose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..schema import RANKINGS, SCORES, VOTES
from .declared import get, listed, said, score_of
from .json_tables import Record
from .native import BadField, NativeFile, NativeFormat, Reader, Vote, number

GRADED = (
    "llm-rubric",
    "g-eval",
    "factuality",
    "model-graded-closedqa",
    "model-graded-factuality",
    "closedqa",
    "answer-relevance",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "conversation-relevance",
    "trajectory:goal-success",
    "search-rubric",
    "agent-rubric",
    "pi",
    "moderation",
)
"""Assertions that a model judges; all others compare by rule."""
CHOSEN = "select-best"


def rows(record: Record) -> list[Any]:
    """The rows of results: those of a whole file, or the record itself, a line of JSON Lines."""
    return listed({"root": record}, "root.results.results") or [record]


def _is_promptfoo(record: Record) -> bool:
    own = {"testIdx", "promptIdx", "provider", "gradingResult"}
    if own - {"gradingResult"} <= record.keys() and {"gradingResult", "error"} & record.keys():
        return True
    results = record.get("results")
    return isinstance(results, dict) and "results" in results and "prompts" in results


def _is_graded(kind: object) -> bool:
    bare = str(kind).removeprefix("not-")
    return bare in GRADED or bare.startswith("model-graded")


def _parts(row: Any) -> list[Any]:
    found = listed({"row": row}, "row.gradingResult.componentResults")
    return [part for part in found if isinstance(part, dict)]


def _named(provider: object) -> str | None:
    """Name of a provider, which is a text or an object with an id, or one per kind of answer."""
    if isinstance(provider, dict):
        return _named(get({"p": provider}, "p.label | p.id | p.text"))
    return said(provider)


def _judge(record: Record, row: Any, assertion: Any) -> str:
    places = (
        get({"a": assertion}, "a.provider"),
        get({"root": record}, "root.config.defaultTest.options.provider"),
        get({"row": row}, "row.testCase.options.provider"),
    )
    names = (_named(place) for place in places)
    return next((name for name in names if name), "promptfoo default")


class _About:
    """What rows have in common; models are named with their prompts where there are several."""

    def __init__(self, file: NativeFile) -> None:
        prompts = {
            str(get({"row": row}, "row.prompt.label | row.promptId"))
            for record in file.records.records
            for row in rows(record)
        }
        self.several = len(prompts) > 1

    def model(self, row: Any) -> str:
        """Who answered."""
        name = _named(get({"row": row}, "row.provider")) or "app"
        label = said(get({"row": row}, "row.prompt.label")) if self.several else None
        return f"{name} [{label}]" if label else name

    def item(self, row: Any) -> dict[str, Any]:
        """What was asked."""
        test = get({"row": row}, "row.testIdx")
        if test is None:
            raise BadField("testIdx", None, "testIdx is missing; write the results again with -o")
        return {
            "item_id": said(test),
            "category": said(get({"row": row}, "row.testCase.metadata.category")),
            "prompt": said(get({"row": row}, "row.prompt.raw | row.vars")),
        }


def _scores(file: NativeFile) -> Reader:
    """Read the scores of assertions that a model judged; a call that failed has status `error`.

    A row's own score mixes all assertions and is nobody's.
    """
    about = _About(file)

    def scores(record: Record) -> Iterator[Vote | BadField]:
        for row in rows(record):
            scopes = {"row": row}
            parts = _parts(row)
            failed = not parts and bool(get(scopes, "row.error"))
            asked = get(scopes, "row.testCase.assert") if failed else None
            parts = parts or [{"assertion": each} for each in asked or () if isinstance(each, dict)]
            for part in parts:
                assertion = part.get("assertion") or {}
                kind = assertion.get("type")
                if not _is_graded(kind):
                    if kind != CHOSEN:
                        why = f"an assertion {kind}, which no model judges"
                        file.left_out[why] = file.left_out.get(why, 0) + 1
                    continue
                try:
                    yield about.item(row) | {
                        "model": about.model(row),
                        "judge": _judge(record, row, assertion),
                        "metric": said(assertion.get("metric"))
                        or f"{kind}: {said(assertion.get('value')) or ''}".rstrip(": "),
                        "score": score_of(part.get("score")),
                        **({"status": "error"} if failed else {}),
                        "response": said(get(scopes, "row.response.output")),
                        "rationale": said(part.get("reason")),
                        "extra": {"id": said(row.get("id")), "pass": said(part.get("pass"))},
                    }
                except BadField as bad:
                    yield bad

    return scores


def _chosen(file: NativeFile, *, two: bool) -> Reader:
    """Read what select-best chose among the answers to one test, shown in the order of promptIdx.

    two : only choices between two answers, as votes; else those among more, as rankings.
    """
    about = _About(file)
    tests: dict[tuple[int, str], list[tuple[Any, Any, Record]]] = {}
    first: dict[int, list[tuple[int, str]]] = {}
    for place, record in enumerate(file.records.records):
        for row in rows(record):
            for k, part in enumerate(
                p for p in _parts(row) if get({"p": p}, "p.assertion.type") == CHOSEN
            ):
                key = (k, str(get({"row": row}, "row.testIdx")))
                if key not in tests:
                    first.setdefault(place, []).append(key)
                tests.setdefault(key, []).append((row, part, record))
    places = {id(record): place for place, record in enumerate(file.records.records)}

    def choices(record: Record) -> Iterator[Vote]:
        for key in first.get(places[id(record)], ()):
            shown = sorted(tests[key], key=lambda each: number(each[0].get("promptIdx")) or 0)
            if (len(shown) == 2) is not two or len(shown) < 2:
                continue
            row, part, whole = shown[0]
            picked = [k for k, (_, each, _) in enumerate(shown) if each.get("pass") is True]
            common = about.item(row) | {
                "judge": _judge(whole, row, part.get("assertion") or {}),
                "status": "ok" if len(picked) == 1 else "unparsed",
            }
            if two:
                vote = (1 if picked == [0] else -1) if len(picked) == 1 else None
                yield common | {
                    "model_a": about.model(row),
                    "model_b": about.model(shown[1][0]),
                    "position": "ab",
                    "vote": vote,
                    "response_a": said(get({"row": row}, "row.response.output")),
                    "response_b": said(get({"row": shown[1][0]}, "row.response.output")),
                }
                continue
            for slot, (other, _, _) in enumerate(shown):
                yield common | {
                    "candidate": about.model(other),
                    "slot": slot,
                    "chosen": int(picked == [slot]) if len(picked) == 1 else None,
                    "response": said(get({"row": other}, "row.response.output")),
                }

    return choices


def _format(**given: Any) -> NativeFormat:
    return NativeFormat(
        name="promptfoo",
        line=(
            "promptfoo results (-o results.json or .jsonl): scores of llm-rubric and its like, and "
            "what select-best chose"
        ),
        needs=("results.results, or testIdx, promptIdx, provider and gradingResult a line",),
        dataset="",
        sniff=_is_promptfoo,
        **given,
    )


PROMPTFOO = _format(
    reader=_scores,
    form=SCORES,
    also=(
        _format(reader=lambda file: _chosen(file, two=True), form=VOTES),
        _format(reader=lambda file: _chosen(file, two=False), form=RANKINGS),
    ),
)
FORMATS = (PROMPTFOO,)
