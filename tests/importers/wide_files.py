"""Small files that are wide: of many data sets, judges or models; of columns `hostile_inputs` has one."""

from __future__ import annotations

import random
from collections.abc import Callable


def data_sets() -> bytes:
    """20,000 data sets of one vote."""
    rows = (f"d{k},{k},j,1\n" for k in range(20_000))
    return ("dataset,item_id,judge,vote\n" + "".join(rows)).encode()


def judges() -> bytes:
    """5,000 judges, four votes each."""
    draw = random.Random(1)
    rows = (f"{k % 4},j{k % 5_000},{draw.choice((1, -1))}\n" for k in range(20_000))
    return ("item_id,judge,vote\n" + "".join(rows)).encode()


def models() -> bytes:
    """5,000 models, each against twelve others."""
    draw, rows = random.Random(1), []
    for k in range(60_000):
        other = (k % 5_000 + 1 + 7 * (k // 5_000)) % 5_000
        rows.append(f"{k},j{k % 3},{draw.choice((1, -1))},m{k % 5_000},m{other}\n")
    return ("item_id,judge,vote,model_a,model_b\n" + "".join(rows)).encode()


def dense_models() -> bytes:
    """320 models, every two of which met once: more than a page shows."""
    pairs = ((a, b) for a in range(320) for b in range(a))
    rows = (f"{k},j,{1 - k % 3},m{a},m{b}\n" for k, (a, b) in enumerate(pairs))
    return ("item_id,judge,vote,model_a,model_b\n" + "".join(rows)).encode()


WIDE: dict[str, Callable[[], bytes]] = {
    "20,000 data sets.csv": data_sets,
    "5,000 judges.csv": judges,
    "5,000 models.csv": models,
    "320 models that all met.csv": dense_models,
}
