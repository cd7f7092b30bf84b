"""Collecting votes: what the runner adds to each call over bare litellm, against a server on
loopback.

    python -m benchmarks --only judging

Both ask the same model the same messages, in turns: 32 calls in flight on a server that answers at
once, and 256 on one that takes 50 ms. The runner also reads every reply and stores it with its vote
before the call counts as done. The server is a process of its own, so the processor time of this
one is that of the calls.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.files import REPOSITORY
from benchmarks.timing import Row, Skipped, Timing
from core.judging import client
from core.judging.client import MOST_REPLY
from core.judging.endpoint import destination
from core.judging.gateway import PERMIT, Permit, origin
from core.judging.items import Item
from core.judging.job import Job, Judge
from core.judging.prompts import new_fence
from core.judging.protocols import stages
from core.judging.registry import start
from core.store import Store

SERVER = REPOSITORY / "tests" / "judging" / "judging_server.py"
IN_FLIGHT = 32
MANY = 256
DELAY = 0.05
GOAL_MS = 0.5
MANY_GOAL_MS = 2.5
"""400 calls per second."""
BARE = "litellm's acompletion, reply thrown away"
WORDS = "A response of usual length, with a few sentences that say what was asked. " * 8

Spent = tuple[float, float]
"""Milliseconds of waiting and of processor time."""


def rows(*, calls: int = 640, repeats: int = 7) -> list[Row | Skipped]:
    """Milliseconds per call of the runner and of bare litellm; where the server is absent,
    say so.
    """
    what = f"collect votes, {IN_FLIGHT} in flight"
    if not SERVER.is_file():
        return [Skipped(what=what, reason=f"{SERVER.name} is not here")]
    with _server(0.0) as url:
        ours, bare = _in_turns(url, calls, repeats, IN_FLIGHT)
    with _server(DELAY) as url:
        many, bare_many = _in_turns(url, 2 * calls, max(repeats // 2, 1), MANY)
    extra = [_column(ours, column, less=bare) for column in (0, 1)]
    slow = f"collect votes, {MANY} in flight on a server of {DELAY * 1000:g} ms"
    return [
        Row(what=f"{what}: per call", ours=_column(ours, 0), instead=BARE, theirs=_column(bare, 0)),
        Row(
            what=f"{what}: its processor time",
            ours=_column(ours, 1),
            instead=BARE,
            theirs=_column(bare, 1),
        ),
        Row(
            what=f"**the runner's share per call, {IN_FLIGHT} in flight**",
            ours=extra[0],
            goal_ms=GOAL_MS,
        ),
        Row(what="– of its processor time", ours=extra[1]),
        Row(
            what=f"**{slow}: per call**",
            ours=_column(many, 0),
            instead=BARE,
            theirs=_column(bare_many, 0),
            goal_ms=MANY_GOAL_MS,
        ),
        Row(
            what="– its processor time",
            ours=_column(many, 1),
            instead=BARE,
            theirs=_column(bare_many, 1),
        ),
    ]


def _column(runs: list[Spent], column: int, *, less: list[Spent] | None = None) -> Timing:
    """One of the two times of each run, or by how much it is longer than that of the run beside."""
    beside = [0.0] * len(runs) if less is None else [run[column] for run in less]
    return Timing(runs=tuple(run[column] - other for run, other in zip(runs, beside, strict=True)))


@contextmanager
def _server(delay: float) -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--delay", str(delay)]
    paths = os.environ | {"PYTHONPATH": str(REPOSITORY / "tests")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=paths) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def _in_turns(
    url: str, calls: int, repeats: int, in_flight: int
) -> tuple[list[Spent], list[Spent]]:
    """Times per call of both."""
    numbers = itertools.count()
    with tempfile.TemporaryDirectory() as folder:
        # The first turn warms both up: imports, connections.
        mine: list[Spent] = []
        other: list[Spent] = []
        for _ in range(repeats + 1):
            job = _job(url, calls, next(numbers))
            for times, (waited, worked) in (
                (mine, _ours(job, Path(folder) / f"{next(numbers)}.duckdb", in_flight)),
                (other, _bare(job, in_flight)),
            ):
                times.append((waited / calls, worked / calls))
    return mine[1:], other[1:]


class _Clock:
    """Milliseconds of waiting and of this process's processors since it was made."""

    def __init__(self) -> None:
        self._begun = time.perf_counter(), time.process_time()

    def read(self) -> Spent:
        waited, worked = self._begun
        return (time.perf_counter() - waited) * 1000, (time.process_time() - worked) * 1000


def _job(url: str, calls: int, number: int) -> Job:
    items = tuple(
        Item(
            item_id=f"{number}-{k}",
            prompt=f"Question {number} {k}?",
            responses=(f"{WORDS} Its quality is +0.500.", f"{WORDS} Its quality is -0.500."),
            models=("A", "B"),
        )
        for k in range(calls // 8)
    )
    judge = Judge(model="openai/fair", base_url=url)
    return Job(dataset="bench", items=items, judges=(judge,), votes=8, confidence="self")


def _ours(job: Job, path: Path, in_flight: int) -> Spent:
    with Store.open(path) as store:
        clock = _Clock()
        last = start(job, store, concurrency=in_flight).wait()
        taken = clock.read()
    assert last.state == "done", last.messages
    return taken


def _bare(job: Job, in_flight: int) -> Spent:
    """The same calls with nothing around them, on the same loop."""
    where = destination(job.judges[0])
    with Store.open(None) as store:
        asked = [(r.messages(new_fence()), r.parameters()) for r in stages(job, store)[0]({})]
    litellm = client.library()

    async def ask_all() -> Spent:
        waiting = iter(asked)

        async def worker() -> None:
            for messages, parameters in waiting:
                PERMIT.set(Permit(origin(where.address), local=True, most=MOST_REPLY))
                await litellm.acompletion(
                    model=job.judges[0].model,
                    messages=messages,
                    api_base=where.base_url,
                    api_key=where.key,
                    num_retries=0,
                    max_retries=0,
                    timeout=60,
                    **parameters,
                )

        clock = _Clock()
        await asyncio.gather(*(worker() for _ in range(in_flight)))
        return clock.read()

    return asyncio.run_coroutine_threadsafe(ask_all(), client.loop()).result()
