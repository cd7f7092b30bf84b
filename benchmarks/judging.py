"""Collecting votes: what the runner adds to each call over bare litellm, against a server on loopback.

    python -m benchmarks --only judging

Both ask the same model the same messages, 32 calls in flight, in turns. The runner also reads every reply and
stores it with its vote before the call counts as done.
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.files import REPOSITORY
from benchmarks.timing import Row, Skipped, Timing
from core.judging import client
from core.judging.client import PERMIT, Permit, origin
from core.judging.endpoint import destination
from core.judging.items import Item
from core.judging.job import Job, Judge
from core.judging.prompts import new_fence
from core.judging.protocols import stages
from core.judging.registry import start
from core.store import Store

SERVER = REPOSITORY / "tests" / "judging_server.py"
IN_FLIGHT = 32
GOAL_MS = 0.5
WORDS = "A response of usual length, with a few sentences that say what was asked. " * 8


def rows(*, calls: int = 320, repeats: int = 7) -> list[Row | Skipped]:
    """Milliseconds a call: the runner, bare litellm, their difference; where the server is absent, say so."""
    what = f"collect votes, {IN_FLIGHT} in flight: a call"
    if not SERVER.is_file():
        return [Skipped(what=what, reason=f"{SERVER.name} is not here")]
    command = [sys.executable, str(SERVER)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            ours, bare = _in_turns(server.stdout.readline().strip(), calls, repeats)
        finally:
            server.kill()
    extra = Timing(runs=tuple(mine - other for mine, other in zip(ours.runs, bare.runs, strict=True)))
    return [
        Row(what=what, ours=ours, instead="litellm's acompletion, reply thrown away", theirs=bare),
        Row(what=f"**the runner's share of a call, {IN_FLIGHT} in flight**", ours=extra, goal_ms=GOAL_MS),
    ]


def _in_turns(url: str, calls: int, repeats: int) -> tuple[Timing, Timing]:
    numbers = itertools.count()
    with tempfile.TemporaryDirectory() as folder:
        # The first turn warms both up: imports, connections.
        mine, other = [], []
        for _ in range(repeats + 1):
            job = _job(url, calls, next(numbers))
            mine.append(_ours(job, Path(folder) / f"{next(numbers)}.duckdb") / calls)
            other.append(_bare(job) / calls)
    return Timing(runs=tuple(mine[1:])), Timing(runs=tuple(other[1:]))


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


def _ours(job: Job, path: Path) -> float:
    with Store.open(path) as store:
        begun = time.perf_counter()
        last = start(job, store, concurrency=IN_FLIGHT).wait()
        taken = time.perf_counter() - begun
    assert last.state == "done", last.messages
    return taken * 1000


def _bare(job: Job) -> float:
    """The same calls with nothing around them, on the same loop."""
    where = destination(job.judges[0])
    with Store.open(None) as store:
        asked = [(r.messages(new_fence()), r.parameters()) for r in stages(job, store)[0]({})]
    litellm = client.library()

    async def ask_all() -> float:
        waiting = iter(asked)

        async def worker() -> None:
            for messages, parameters in waiting:
                PERMIT.set(Permit(origin=origin(where.address), local=True))
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

        begun = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
        return time.perf_counter() - begun

    return asyncio.run_coroutine_threadsafe(ask_all(), client.loop()).result() * 1000
