"""Collected direct scores and rankings as the store takes them from files; votes go in with their replies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from core.judging.items import Item
from core.judging.job import Job
from core.judging.parsing import FLAGS
from core.judging.protocols import orderings
from core.store.replies import Reply
from core.votes import FORMS, REJECT_SCHEMA_NAMES, Kind, Reading

if TYPE_CHECKING:
    from core.store import Store


def load_rows(store: Store, job: Job, replies: Iterable[Reply]) -> None:
    """Load the scores or rankings among the replies; the same ones twice load once."""
    items = {item.item_id: item for item in job.items}
    kept = [reply for reply in replies if reply.item_id in items]
    scores = [_score(reply, items[reply.item_id]) for reply in kept if reply.task == "score"]
    ranks = [
        row for reply in kept if reply.task == "rank" for row in _ranking(reply, items[reply.item_id], job)
    ]
    found: dict[Kind, list[dict[str, Any]]] = {"scores": scores, "rankings": ranks}
    for kind, rows in found.items():
        if rows:
            # What failed before and was answered since takes the place of the failure.
            store.load(_reading(kind, rows, job.dataset), dataset=job.dataset, on_conflict="replace")


def _shared(reply: Reply, item: Item) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "category": item.category,
        "judge": reply.judge,
        "run": reply.run,
        "status": reply.status,
        "rater_type": "llm",
        "prompt": item.prompt,
        "rationale": reply.rationale,
        "prompt_hash": reply.prompt_hash,
        "temperature": reply.temperature,
    }


def _score(reply: Reply, item: Item) -> dict[str, Any]:
    return {
        **_shared(reply, item),
        "model": reply.candidate,
        "score": json.loads(reply.body)["score"] if reply.status == "ok" and reply.body else None,
        "response": item.responses[item.models.index(reply.candidate)],
        "cost": reply.cost,
    }


def _ranking(reply: Reply, item: Item, job: Job) -> list[dict[str, Any]]:
    """One row a candidate; a ranking that could not be read still says where each was shown."""
    order = orderings(item, reply.run + 1, job.seed)[reply.run]
    said = {entry["candidate"]: entry for entry in json.loads(reply.body or "[]")}
    rows = []
    for slot, place in enumerate(order):
        name = item.models[place]
        entry = said.get(name, {})
        rows.append(
            {
                **_shared(reply, item),
                "candidate": name,
                "slot": slot,
                **{column: entry.get(column) for column in ("score", "rank", *FLAGS)},
                "is_best": int(name in item.best) if item.best else _best_of_two(item, place),
                "response": item.responses[place],
                # The call is paid once, whatever the number of candidates.
                "cost": reply.cost if slot == 0 else None,
            }
        )
    return rows


def _best_of_two(item: Item, place: int) -> int | None:
    return None if item.gold is None else int(item.gold == 0 or place == (0 if item.gold > 0 else 1))


def _reading(kind: Kind, rows: list[dict[str, Any]], name: str) -> Reading:
    import pyarrow as pa

    schema = FORMS[kind].schema()
    filled = [{**row, "extra": [], "row": number} for number, row in enumerate(rows, start=1)]
    empty = pa.table({column: pa.array([], pa.string()) for column in REJECT_SCHEMA_NAMES})
    return Reading(
        name=f"{name} (collected)",
        sha256=hashlib.sha256(json.dumps(rows).encode()).hexdigest(),
        format="collected",
        rows=len(rows),
        votes=pa.Table.from_pylist(filled, schema=schema),
        rejects=empty,
        duplicates=0,
        mapping={},
        kind=kind,
    )
