"""AlpacaEval annotations: a preference between the reference's output and the model's."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from ...schema import ImportResult
from ..options import ReadOptions
from ..source import Source
from ..tables import Record, Records
from .common import BadField, Vote, field, number, read_votes, status, text

NAME = "alpacaeval"
LINE = "AlpacaEval annotations.json: preference from 1 (reference) to 2 (model)"
NEEDS = ("preference", "output_1", "output_2", "instruction")


def read(source: Source, records: Records, options: ReadOptions) -> ImportResult:
    """Read preferences p: model_a is generator_1 (the reference), model_b generator_2.

    vote = +1 if p < 1.5, -1 if p > 1.5, 0 at 1.5; null is `unparsed`. If any preference of the file lies
    between the whole and half steps, p - 1 is a probability: confidence = max(p - 1, 2 - p), kind `logprob`;
    else there is no confidence. The order shown is not in the file. The item is a hash of the instruction,
    with output_1 where one instruction occurs more than once, so files of several models meet on the same
    items.
    """
    values = [record.get("preference") for record in records.records]
    graded = any(isinstance(value, float) and (2 * value) % 1 != 0 for value in values)
    seen = Counter(
        (text(record.get("instruction")), text(record.get("generator_2")), text(record.get("annotator")))
        for record in records.records
    )
    repeated = {instruction for (instruction, _, _), count in seen.items() if count > 1}

    def votes(record: Record) -> Iterator[Vote]:
        instruction = field(record, "instruction")
        preference = record.get("preference")
        if preference is not None and (
            isinstance(preference, bool)
            or not isinstance(preference, int | float)
            or not 1 <= preference <= 2
        ):
            raise BadField(
                "preference", preference, "outside 1 (output_1 better) to 2 (output_2 better); correct it"
            )
        vote = None if preference is None else (preference < 1.5) - (preference > 1.5)
        confidence = max(preference - 1, 2 - preference) if graded and preference is not None else None
        key = instruction + ("\0" + field(record, "output_1") if text(instruction) in repeated else "")
        annotator = record.get("annotator")
        raw = record.get("raw_completion")
        yield {
            "item_id": hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:16],
            "category": text(record.get("dataset")),
            "model_a": text(record.get("generator_1")) or "reference",
            "model_b": field(record, "generator_2"),
            "judge": text(annotator) or "alpaca_eval",
            "vote": vote,
            "status": status(vote),
            "confidence": confidence,
            "confidence_kind": None if confidence is None else "logprob",
            "prompt": instruction,
            "response_a": text(record.get("output_1")),
            "response_b": text(record.get("output_2")),
            "rationale": raw if isinstance(raw, str) else None,
            "cost": number(record.get("price_per_example")),
            "extra": {"time_per_example": record.get("time_per_example")},
        }

    graded_note = "Confidence is the probability of the preferred output."
    note = graded_note if graded else "Preferences are whole, so there is no confidence."
    return read_votes(source, records, options, NAME, votes, dataset="AlpacaEval", notes=[note])
