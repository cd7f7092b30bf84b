"""Votes without a model of judges behind them, fast to draw, and drawn votes as a store
loads them.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa

from core.errors import InvalidOption
from core.schema import POSITIONS, ImportResult
from core.simulate.votes import coded_words, vote_table


def random_votes(
    n_votes: int,
    *,
    judges: int = 3,
    models: int = 8,
    runs: int = 6,
    categories: int = 5,
    rng: np.random.Generator,
) -> pa.Table:
    """A large table of votes in the canonical columns, fast (about half a second a million), for
    benchmarks.

    Every judge votes on every comparison in `runs` × both orders; an item has one comparison of two
    models drawn at random. Gold is a quarter +1, half 0, a quarter −1. A vote equals gold with
    probability equal to its confidence, ½ to 1 in steps of .05, else one of the other two labels:
    the judges are calibrated.
    """
    if n_votes < 1 or models < 2:
        raise InvalidOption(
            f"random_votes: {n_votes} votes of {models} models; needs at least 1 and 2"
        )
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
            "category": coded_words(
                [f"category-{k}" for k in range(categories)], item % categories
            ),
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


def as_reading(table: pa.Table, *, name: str) -> ImportResult:
    """Drawn votes as the importers would hand them over, ready for `Store.load`, without a file."""
    digest = hashlib.sha256(name.encode())
    for column in table.columns:
        for chunk in column.chunks:
            for buffer in chunk.buffers():
                digest.update(buffer or b"")
    return ImportResult.without_rejects(
        table, name=name, sha256=digest.hexdigest(), format="simulated"
    )
