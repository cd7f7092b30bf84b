"""What is kept of collecting votes: each reply of a model, each call that was made, and what they used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

Task = Literal["vote", "score", "rank", "note"]
"""What a reply becomes: a vote, a direct score, a ranking, or nothing but material for a later request."""

Pair = tuple[str, str, str]
"""item_id, model_a, model_b."""

Place = tuple[Pair, str, int, str]
"""Where one vote may be: comparison, judge, run and order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison to be voted on, with what each of its votes carries along."""

    item_id: str
    model_a: str
    model_b: str
    category: str | None = None
    gold: int | None = None
    prompt: str | None = None
    response_a: str | None = None
    response_b: str | None = None

    @property
    def pair(self) -> Pair:
        return self.item_id, self.model_a, self.model_b


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answered request.

    candidate : for a vote `model_a` and `model_b` of its comparison as a JSON list, for a score the model,
        else "".  vote : canonical, None unless ok.  body : what was parsed beyond the vote, as JSON.
    raw : the reply word for word; for `error` what the provider said.  attempts : calls made for it.
    cost : in the currency of the price; None if the price or the tokens are unknown.
    seconds : of the attempt that was answered.
    """

    key: str
    task: Task
    judge: str
    model: str
    item_id: str
    candidate: str
    position: str
    run: int
    status: str
    vote: int | None = None
    confidence: float | None = None
    confidence_kind: str | None = None
    rationale: str | None = None
    body: str | None = None
    raw: str = ""
    prompt_hash: str | None = None
    temperature: float | None = None
    attempts: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None

    @property
    def pair(self) -> Pair:
        """The comparison that a vote is on."""
        model_a, model_b = json.loads(self.candidate)
        return self.item_id, model_a, model_b

    @property
    def place(self) -> Place:
        """Where the vote goes."""
        return self.pair, self.judge, self.run, self.position


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that was made for a request, whatever came of it.

    tokens, cost : what it used; where that is unknown, the most that it may have used. cost None: no price.
    """

    key: str
    tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What all calls for one request used, at most."""

    calls: int
    tokens: int
    cost: float


NAMES = tuple(field.name for field in fields(Reply))


def reply_table(dataset: str, replies: Sequence[Reply]) -> pa.Table:
    """Rows of the table `replies`."""
    import pyarrow as pa

    columns = [[getattr(reply, name) for reply in replies] for name in NAMES]
    table = pa.table(dict(zip(NAMES, columns, strict=True)), schema=_reply_schema())
    now = pa.scalar(datetime.now(UTC).replace(tzinfo=None), pa.timestamp("us"))
    table = table.append_column("dataset", pa.repeat(dataset, len(table)))
    return table.append_column("received_at", pa.repeat(now, len(table)))


def call_table(dataset: str, calls: Sequence[Call]) -> pa.Table:
    """Rows of the table `calls`."""
    import pyarrow as pa

    return pa.table(
        {
            "key": [call.key for call in calls],
            "dataset": pa.repeat(dataset, len(calls)),
            "tokens": pa.array([call.tokens for call in calls], pa.int64()),
            "cost": pa.array([call.cost for call in calls], pa.float64()),
        }
    )


def _reply_schema() -> pa.Schema:
    import pyarrow as pa

    types = {
        **dict.fromkeys(("run", "prompt_tokens", "completion_tokens"), pa.int64()),
        **dict.fromkeys(("confidence", "temperature", "cost", "seconds"), pa.float64()),
        "vote": pa.int8(),
        "attempts": pa.int32(),
    }
    return pa.schema([(name, types.get(name, pa.string())) for name in NAMES])
