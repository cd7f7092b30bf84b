"""Records whose `label` is no vote: gold in LLMBar's results, a score of one response in KTO's
data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..labels import VOCABULARIES
from ..schema import SCORES
from .columns import text_hash
from .json_tables import Record
from .native import BadField, NativeFile, NativeFormat, Reader, Vote, required, text, verdict

ORDERS = (("ab", "swap = False"), ("ba", "swap = True"))
_SCORE = re.compile(r"-?\d+(?:\.\d+)?")


def llmbar(file: NativeFile) -> Reader:
    """Read `result.json` of an evaluator of LLMBar: gold is `label`, and each order has a winner.

    Winners name output_1 and output_2 in both orders, as the tool turns them back. null is
    `unparsed`. What an evaluator asks where its two orders disagree is no further vote: it is kept
    in the extra column `second_round`. Ratings are two scores, seen one by one: one vote without an
    order, equal scores a tie, whatever winners stand beside them. The judge is `MODEL [STRATEGY]`
    of the folders `…/evaluators/MODEL/STRATEGY/`, the category the folder above them; elsewhere the
    file's name.
    """
    above = file.source.folders
    category = None
    if len(above) > 2 and above[-3] == "evaluators":
        file.constants["judge"] = f"{above[-2]} [{above[-1]}]"
        category = above[-4] if len(above) > 3 else None
    else:
        file.name_judge()

    def votes(record: Record) -> Iterator[Vote]:
        orders = [
            result for result in required(record, "results", list) if isinstance(result, dict)
        ]
        if not orders:
            raise BadField("results", None, "there is no result; export the record again")
        texts = [required(record, name) for name in ("input", "output_1", "output_2")]
        about: dict[str, Any] = {
            "item_id": text_hash(*texts),
            "category": category,
            "gold": verdict(record.get("label"), "label", VOCABULARIES["1/2/0"]),
            "prompt": texts[0],
            "response_a": texts[1],
            "response_b": texts[2],
        }
        if "score_1" in orders[0]:
            yield about | _compared(_rating(orders[0], "score_1"), _rating(orders[0], "score_2"))
            return
        for position, name in ORDERS:
            given = _part(orders[0], name)
            vote = verdict(given.get("winner"), f"results[0].{name}.winner", VOCABULARIES["1/2/0"])
            again = _part(orders[1], name).get("winner") if len(orders) > 1 else None
            yield about | {
                "position": position,
                "vote": vote,
                "rationale": _said(given.get("completion")),
                "extra": {"second_round": again},
            }

    return votes


def _is_llmbar(record: Record) -> bool:
    results = record.get("results")
    if (
        not isinstance(results, list)
        or not {"input", "output_1", "output_2", "label"} <= record.keys()
    ):
        return False
    return any(isinstance(result, dict) and ORDERS[0][1] in result for result in results)


def _part(result: dict[str, Any], name: str) -> dict[str, Any]:
    part = result.get(name)
    if not isinstance(part, dict):
        raise BadField(f"results.{name}", part, f"{name} is missing; export the record again")
    return part


def _said(completion: object) -> str | None:
    """A completion is [text, why it ended]."""
    return text(completion[0]) if isinstance(completion, list) and completion else None


def _rating(result: dict[str, Any], name: str) -> float | None:
    score = _SCORE.search(_said(result.get(name)) or "")
    return float(score[0]) if score else None


def _compared(first: float | None, second: float | None) -> dict[str, Any]:
    vote = None if first is None or second is None else (first > second) - (first < second)
    return {"vote": vote, "extra": {"score_1": first, "score_2": second}}


def kto(file: NativeFile) -> Reader:
    """Read one response with a label of its own: score 1 for true, 0 for false.

    The response is `completion` to `prompt`, or the last of `messages`. Nothing names its model, so
    that each prompt with its response is an item, and the judge is called as the file is.
    """
    file.name_judge()

    def scores(record: Record) -> Iterator[Vote]:
        label = record.get("label")
        if not isinstance(label, bool):
            raise BadField("label", label, "neither true nor false; correct it")
        prompt, response = _asked_and_answered(record)
        yield {
            "item_id": text_hash(prompt, response),
            "model": "response",
            "score": float(label),
            "prompt": prompt,
            "response": response,
        }

    return scores


def _is_kto(record: Record) -> bool:
    # A label of a pair, or of rows that name their own judge, is something else.
    return isinstance(record.get("label"), bool) and "judge" not in record and bool(_turns(record))


def _asked_and_answered(record: Record) -> tuple[str, str]:
    turns = _turns(record)
    if len(turns) < 2 or not turns[-1]:
        raise BadField(
            "completion", None, "there is no response to a prompt; export the record again"
        )
    return "\n\n".join(turns[:-1]), turns[-1]


def _turns(record: Record) -> list[str]:
    """What was said in turn, the response last; none if the record has no response."""
    if isinstance(messages := record.get("messages"), list):
        return _contents(messages)
    if "completion" not in record or "prompt" not in record:
        return []
    return [*_contents(record["prompt"]), *_contents(record["completion"])]


def _contents(said: object) -> list[str]:
    parts = said if isinstance(said, list) else [said]
    return [text(part.get("content") if isinstance(part, dict) else part) or "" for part in parts]


FORMATS = (
    NativeFormat(
        name="llmbar",
        line="LLMBar result.json: input, output_1, output_2, label (gold), results in both orders",
        needs=("input", "output_1", "output_2", "label", "results"),
        dataset="LLMBar",
        reader=llmbar,
        sniff=_is_llmbar,
    ),
    NativeFormat(
        name="kto",
        line=(
            "KTO preference data (JSON): one response with label true "
            "or false, read as a score of 1 or 0"
        ),
        needs=("messages, or prompt and completion", "label"),
        dataset="KTO",
        reader=kto,
        sniff=_is_kto,
        form=SCORES,
    ),
)
