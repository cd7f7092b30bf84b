"""Votes without a model of judges behind them, for benchmarks and tests; columns and files of drawn votes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidOption
from ..records import IntArray, VoteCounts
from ..schema import COLUMNS, POSITIONS, REJECT_SCHEMA_NAMES, ImportResult, vote_schema

if TYPE_CHECKING:
    import pyarrow as pa


def random_votes(
    n_votes: int,
    *,
    judges: int = 3,
    models: int = 8,
    runs: int = 6,
    categories: int = 5,
    rng: np.random.Generator,
) -> pa.Table:
    """A large table of votes in the canonical columns, fast (about half a second a million), for benchmarks.

    Every judge votes on every comparison in `runs` × both orders; an item has one comparison of two models
    drawn at random. Gold is a quarter +1, half 0, a quarter −1. A vote equals gold with probability equal to
    its confidence, ½ to 1 in steps of .05, else one of the other two labels: the judges are calibrated.
    """
    if n_votes < 1 or models < 2:
        raise InvalidOption(f"random_votes: {n_votes} votes of {models} models; needs at least 1 and 2")
    row = np.arange(n_votes)
    position, run, judge = row % 2, row // 2 % runs, row // (2 * runs) % judges
    item = row // (2 * runs * judges)
    items = int(item[-1]) + 1
    model_a = rng.integers(models, size=items)
    model_b = (model_a + rng.integers(1, models, size=items)) % models
    gold = np.array([-1, 0, 0, 1])[rng.integers(4, size=items)][item]
    confidence = np.round(0.5 + 0.05 * rng.integers(11, size=n_votes), 2)
    other = (gold + 1 + rng.integers(1, 3, size=n_votes)) % 3 - 1
    return vote_table(
        {
            "dataset": coded_words(["random votes"], np.zeros_like(item)),
            "item_id": coded_words([f"item-{k}" for k in range(items)], item),
            "category": coded_words([f"category-{k}" for k in range(categories)], item % categories),
            "model_a": coded_words([f"model-{k}" for k in range(models)], model_a[item]),
            "model_b": coded_words([f"model-{k}" for k in range(models)], model_b[item]),
            "judge": coded_words([f"judge-{k}" for k in range(judges)], judge),
            "run": run,
            "position": coded_words(POSITIONS, position),
            "vote": np.where(rng.random(n_votes) < confidence, gold, other),
            "confidence": confidence,
            "confidence_kind": coded_words(["self"], np.zeros_like(item)),
            "gold": gold,
            "rater_type": coded_words(["llm"], np.zeros_like(item)),
            "status": coded_words(["ok"], np.zeros_like(item)),
        }
    )


def simulate_counts(
    *,
    beta: float,
    nu: float,
    gamma: float,
    comparisons: int,
    votes: int = 12,
    comparisons_per_item: int = 1,
    concentration: float = 0.7,
    alpha: float = 1.0,
    kappa: float = 1.0,
    rng: np.random.Generator,
) -> VoteCounts:
    """Draw counts of one judge, and gold from the BTD model given the counts.

    (c⁺, c⁰, c⁻) is Dirichlet-multinomial with equal `concentration` (ours); s = ½·ln((c⁺ + α)/(c⁻ + α)), t =
    ln((c⁰ + κ)/(n + κ)); p(±1) ∝ exp(±β·s), p(0) ∝ ν·exp(γ·t). Given the counts, gold is independent, within
    an item too.

    Source: [BTD] §4.
    """
    share = rng.dirichlet([concentration] * 3, comparisons)
    plus, tie, minus = rng.multinomial(votes, share).T.astype(np.int64)
    s = 0.5 * np.log((plus + alpha) / (minus + alpha))
    t = np.log((tie + kappa) / (votes + kappa))
    weight = np.stack([np.exp(-beta * s), nu * np.exp(gamma * t), np.exp(beta * s)], axis=1)
    cumulative = np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)
    gold = (rng.random(comparisons)[:, None] > cumulative[:, :2]).sum(axis=1).astype(np.int64) - 1
    code = np.arange(comparisons, dtype=np.int64)
    return VoteCounts(
        comparison=code, item=code // comparisons_per_item, plus=plus, tie=tie, minus=minus, gold=gold
    )


def as_reading(table: pa.Table, *, name: str) -> ImportResult:
    """Simulated votes as the importers would hand them over, ready for `Store.load`, without a file."""
    import pyarrow as pa

    rows = table.num_rows
    schema = vote_schema()
    digest = hashlib.sha256(name.encode())
    for column in table.columns:
        for chunk in column.chunks:
            for buffer in chunk.buffers():
                digest.update(buffer or b"")
    extra = pa.array([[]], schema.field("extra").type).take(pa.array(np.zeros(rows, np.int64)))
    row = pa.array(np.arange(1, rows + 1))
    empty = pa.table({column: pa.array([], pa.string()) for column in REJECT_SCHEMA_NAMES})
    return ImportResult(
        name=name,
        sha256=digest.hexdigest(),
        format="simulated",
        rows=rows,
        votes=pa.table([*table.columns, extra, row], schema=schema),
        rejects=empty,
        duplicates=0,
        mapping={column: column for column in table.column_names},
    )


def vote_table(columns: dict[str, Any]) -> pa.Table:
    """Typed Arrow table of all canonical columns; those not given are null."""
    import pyarrow as pa

    types = {"text": pa.string(), "int": pa.int64(), "float": pa.float64()}
    rows = len(next(iter(columns.values())))
    return pa.table(
        {
            column.name: pa.array(columns[column.name], types[column.kind])
            if isinstance(columns.get(column.name), np.ndarray)
            else columns.get(column.name, pa.nulls(rows, types[column.kind]))
            for column in COLUMNS
        }
    )


def coded_words(words: Any, code: IntArray) -> pa.Array:
    """Strings by code; a code below zero is null."""
    import pyarrow as pa

    return pa.array(list(words), pa.string()).take(pa.array(code, pa.int64(), mask=code < 0))


def masked(values: Any, null: Any) -> pa.Array:
    """Values, null where `null`."""
    import pyarrow as pa

    return pa.array(values, mask=null)
