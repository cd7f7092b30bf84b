"""JudgeBench outputs: one pair a record, judged in both orders."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...schema import ImportResult
from ..options import ReadOptions
from ..source import Source
from ..tables import Record, Records
from .common import BadField, Vote, field, number, read_votes, status, text, verdict

NAME = "judgebench"
LINE = "JudgeBench outputs (JSON Lines): pair_id, label, judgments in both orders"
NEEDS = ("pair_id", "label", "judgments")


def read(source: Source, records: Records, options: ReadOptions) -> ImportResult:
    """Read pairs whose `judgments[0]` was shown as A, B and `judgments[1]` swapped.

    `decision` is in display order, so that of the swapped judgment is negated. A judgment or decision that is
    null is `unparsed`. Reward models: confidence = 1 / (1 + exp(-|s_1 - s_2|)), the softmax over the two
    scores, kind `logprob`. The judge is `judge_model [judge_name]`, from the record or else from the file's
    name.
    """
    named = dict(part.partition("=")[::2] for part in source.stem.split(","))

    def votes(record: Record) -> Iterator[Vote]:
        judgments = field(record, "judgments", list)
        if not 1 <= len(judgments) <= 2:
            raise BadField("judgments", len(judgments), "one judgment an order is allowed, so one or two")
        details = [_part(judgment, "judgment") for judgment in judgments]
        model = next(
            (d["judge_model"] for d in details if text(d.get("judge_model"))), named.get("judge_model")
        )
        how = text(record.get("judge_name")) or named.get("judge_name")
        if not text(model):
            raise BadField(
                "judge_model",
                None,
                "no judge in the record; keep judge_model=… in the file's name, or map judge",
            )
        response_model = field(record, "response_model")
        for i, (judgment, detail) in enumerate(zip(judgments, details, strict=True)):
            decision = judgment.get("decision") if isinstance(judgment, dict) else None
            shown = verdict(decision, f"judgments[{i}].decision")
            vote = None if shown is None else (-shown if i else shown)
            confidence = None if vote is None else _confidence(detail.get("scores"), f"judgments[{i}].scores")
            yield {
                "item_id": field(record, "pair_id"),
                "category": text(record.get("source")),
                "model_a": f"{response_model}#A",
                "model_b": f"{response_model}#B",
                "judge": str(model).replace("/", "_") + (f" [{how}]" if how else ""),
                "position": "ba" if i else "ab",
                "vote": vote,
                "status": status(vote),
                "confidence": confidence,
                "confidence_kind": None if confidence is None else "logprob",
                "gold": verdict(record.get("label"), "label"),
                "prompt": text(record.get("question")),
                "response_a": text(record.get("response_A")),
                "response_b": text(record.get("response_B")),
                "rationale": text(detail.get("response")),
            }

    return read_votes(source, records, options, NAME, votes, dataset="JudgeBench")


def _part(record: object, name: str) -> Record:
    part = record.get(name) if isinstance(record, dict) else None
    return part if isinstance(part, dict) else {}


def _confidence(scores: object, column: str) -> float | None:
    if scores is None:
        return None
    if not isinstance(scores, list) or len(scores) != 2:
        raise BadField(column, scores, "two numbers are needed, the scores of the first and second shown")
    first, second = map(number, scores)
    if first is None or second is None:
        raise BadField(column, scores, "not finite numbers; leave scores out if they are missing")
    # exp(-inf) is 0: a difference beyond the largest number is certainty.
    return 1 / (1 + math.exp(-abs(first - second)))
