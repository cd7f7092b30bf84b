"""Small jobs for the simulated judges of `judging_server`."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judging_server import Server, answer_text
from patience import LONG

from core.collect.items import Item
from core.collect.job import Job, Judge
from core.collect.plan import Progress
from core.collect.registry import start
from core.store import Store

PATIENCE = 0.02
"""Waits between attempts, as a share of what they would be."""


def pairs(n: int, *, seed: int = 1) -> tuple[Item, ...]:
    """Comparisons whose qualities are standard normal; gold is who is better."""
    rng = random.Random(seed)
    made = []
    for k in range(n):
        a, b = round(rng.gauss(0, 1), 3), round(rng.gauss(0, 1), 3)
        made.append(
            Item(
                item_id=f"q{k}",
                prompt=f"Question {k}?",
                responses=(answer_text(a), answer_text(b)),
                models=("left", "right"),
                gold=1 if a > b else -1,
                category="even" if k % 2 == 0 else "odd",
            )
        )
    return tuple(made)


def lists(n: int, size: int = 4) -> tuple[Item, ...]:
    """Lists of candidates; the best is known."""
    rng = random.Random(2)
    made = []
    for k in range(n):
        quality = [round(rng.gauss(0, 1), 3) for _ in range(size)]
        models = tuple(f"m{place}" for place in range(size))
        made.append(
            Item(
                item_id=f"q{k}",
                prompt=f"Question {k}?",
                responses=tuple(answer_text(q) for q in quality),
                models=models,
                best=(models[quality.index(max(quality))],),
            )
        )
    return tuple(made)


def job(
    server: Server,
    items: tuple[Item, ...],
    model: str = "fair",
    *,
    provider: str = "openai",
    **options: Any,
) -> Job:
    """A job for a model of the server.  provider : `openai` is called by a connection of the
    project's own, any other through litellm.
    """
    judge = {
        key: options.pop(key)
        for key in ("name", "price", "max_tokens", "timeout")
        if key in options
    }
    return Job(
        dataset="collected",
        items=items,
        judges=(Judge(model=f"{provider}/{model}", base_url=server.url, **judge),),
        **options,
    )


def collect(given: Job, store: Store | Path, **options: Any) -> Progress:
    """Run a job to its end."""
    if isinstance(store, Path):
        with Store.open(store) as opened:
            return collect(given, opened, **options)
    last = start(given, store, patience=PATIENCE, **options).wait(LONG)
    assert last.finished, last.sentence
    return last


def until(true: Callable[[], bool]) -> None:
    """Wait for what has to come, however slow the machine is."""
    deadline = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
