"""Batches: calls that were handed in together, and wait for results that come within a day.

A call that waits is counted in `calls` at its most, with the id of its batch; once its result is
kept, with what it used and the name that the provider gave the batch. A batch in which no call
waits is forgotten.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from .connection import Change, Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch and the calls in it, which may be some of them only.

    id : ours; part of the name of each call in it.  name : the provider's; None until it is known.
    left_out : parameters that its calls went without.  made_at : UTC, before it was submitted.
    calls : key → tokens and cost at most; cost None: no price.
    """

    id: str
    name: str | None
    left_out: frozenset[str]
    made_at: datetime
    calls: dict[str, tuple[int, float | None]]


def waiting(store: Database, keys: Collection[str]) -> list[Batch]:
    """Batches in which some of these requests wait, oldest first, with those calls only."""
    calls = store.rows(
        """select b.id, b.name, b.left_out, b.made_at, c.key, c.tokens, c.cost
           from calls c join batches b on b.id = c.batch
           where c.key in (select unnest($keys::varchar[]))
           order by b.made_at, b.id, c.key""",
        {"keys": list(keys)},
    )
    batches: dict[str, Batch] = {}
    for number, name, left_out, made_at, key, tokens, cost in calls:
        made = Batch(
            id=number, name=name, left_out=frozenset(left_out.split()), made_at=made_at, calls={}
        )
        batches.setdefault(number, made).calls[key] = tokens, cost
    return list(batches.values())


def enter(store: Database, dataset: str, batch: Batch) -> None:
    """Keep a batch and its calls, before it is submitted."""
    import pyarrow as pa

    calls = [(key, dataset, tokens, cost, batch.id) for key, (tokens, cost) in batch.calls.items()]
    names = ("key", "dataset", "tokens", "cost", "batch")
    with store.change() as change:
        change.execute(
            "insert into batches values (?, ?, ?, ?, ?)",
            [batch.id, dataset, batch.name, " ".join(sorted(batch.left_out)), batch.made_at],
        )
        change.insert(
            pa.Table.from_pylist([dict(zip(names, call, strict=True)) for call in calls]), "calls"
        )


def give_name(store: Database, batch: str, name: str) -> None:
    """Keep the name that the provider gave a batch."""
    with store.change() as change:
        change.execute("update batches set name = ? where id = ?", [name, batch])


def withdraw(store: Database, batch: str) -> None:
    """Forget a batch that was never submitted, with its calls."""
    with store.change() as change:
        for table, column in (("calls", "batch"), ("batches", "id")):
            change.execute(f"delete from {table} where {column} = ?", [batch])


def leave(change: Change, batch: str, keys: Collection[str]) -> None:
    """These calls wait in their batch no more."""
    change.execute(
        "delete from calls where batch = $batch and key in (select unnest($keys::varchar[]))",
        {"batch": batch, "keys": list(keys)},
    )
    change.execute(
        """delete from batches where id = $batch
           and not exists (select 1 from calls where calls.batch = $batch)""",
        {"batch": batch},
    )
