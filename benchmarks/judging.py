"""Collecting votes: the runner beside litellm, httpx and aiohttp, against a server on loopback.

    python -m benchmarks --only judging

All ask the same model the same messages, in turns: 32 calls in flight on a server that answers at
once, and 256 on one that takes 50 ms. The others throw the reply away; the runner reads it and
stores it with its vote before the call counts as done. The server is a process of its own, so the
processor time of this one is that of the calls.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.files import REPOSITORY
from benchmarks.timing import Row, Skipped, Timing
from core.collect import client
from core.collect.endpoint import destination
from core.collect.gateway import PERMIT, Permit, origin
from core.collect.items import Item
from core.collect.job import Job, Judge
from core.collect.prompts import new_fence
from core.collect.protocols import stages
from core.collect.registry import start
from core.store import Store

SERVER = REPOSITORY / "tests" / "judging" / "judging_server.py"
IN_FLIGHT = 32
MANY = 256
DELAY = 0.05
WORDS = "A response of usual length, with a few sentences that say what was asked. " * 8

Spent = tuple[float, float]
"""Milliseconds of waiting and of processor time."""


def rows(*, calls: int = 640, repeats: int = 7) -> list[Row | Skipped]:
    """Milliseconds per call of the runner and of three clients; where the server is absent,
    say so.
    """
    if not SERVER.is_file():
        return [Skipped(what="collect votes", reason=f"{SERVER.name} is not here")]
    found: list[Row | Skipped] = []
    for in_flight, delay, n, turns in (
        (IN_FLIGHT, 0.0, calls, repeats),
        (MANY, DELAY, 2 * calls, max(repeats // 2, 1)),
    ):
        with _server(delay) as url:
            ours, others = _in_turns(url, n, turns, in_flight)
        slow = f" on a server of {delay * 1000:g} ms" if delay else ""
        what = f"collect votes, {in_flight} in flight{slow}"
        for name, runs in others.items():
            found += [
                Row(
                    what=f"{what}: {kind}",
                    ours=_column(ours, column),
                    instead=f"{name}, reply thrown away",
                    theirs=_column(runs, column),
                )
                for column, kind in enumerate(("per call", "processor time per call"))
            ]
    return found


def _column(runs: list[Spent], column: int) -> Timing:
    """One of the two times of each run."""
    return Timing(runs=tuple(run[column] for run in runs))


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
) -> tuple[list[Spent], dict[str, list[Spent]]]:
    """Times per call of the runner and of each client."""
    numbers = itertools.count()
    mine: list[Spent] = []
    others: dict[str, list[Spent]] = {name: [] for name in CLIENTS}
    with tempfile.TemporaryDirectory() as folder:
        # The first turn warms all up: imports, connections.
        for _ in range(repeats + 1):
            job = _job(url, calls, next(numbers))
            mine.append(_ours(job, Path(folder) / f"{next(numbers)}.duckdb", in_flight))
            for name, client_of in CLIENTS.items():
                others[name].append(_bare(job, in_flight, client_of))
    per_call = [(waited / calls, worked / calls) for waited, worked in mine[1:]]
    return per_call, {
        name: [(waited / calls, worked / calls) for waited, worked in runs[1:]]
        for name, runs in others.items()
    }


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


Ask = Callable[[Job, list[dict[str, str]], dict[str, Any]], Awaitable[object]]


@asynccontextmanager
async def _litellm() -> AsyncIterator[Ask]:
    litellm = client.library()

    async def ask(job: Job, messages: list[dict[str, str]], parameters: dict[str, Any]) -> object:
        where = destination(job.judges[0])
        PERMIT.set(Permit(origin=origin(where.address), local=True, most=10**9))
        return await litellm.acompletion(
            model=job.judges[0].model,
            messages=messages,
            api_base=where.base_url,
            api_key=where.key,
            num_retries=0,
            max_retries=0,
            timeout=60,
            **parameters,
        )

    yield ask


@asynccontextmanager
async def _httpx() -> AsyncIterator[Ask]:
    import httpx

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as session:

        async def ask(
            job: Job, messages: list[dict[str, str]], parameters: dict[str, Any]
        ) -> object:
            body = {"model": "fair", "messages": messages, **parameters}
            return (
                await session.post(f"{job.judges[0].base_url}/chat/completions", json=body)
            ).json()

        yield ask


@asynccontextmanager
async def _aiohttp() -> AsyncIterator[Ask]:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(
            job: Job, messages: list[dict[str, str]], parameters: dict[str, Any]
        ) -> object:
            body = {"model": "fair", "messages": messages, **parameters}
            to = f"{job.judges[0].base_url}/chat/completions"
            async with session.post(to, json=body) as response:
                return await response.json()

        yield ask


CLIENTS = {"litellm": _litellm, "httpx": _httpx, "aiohttp": _aiohttp}
"""What a user would call a model with, without a runner."""


def _bare(
    job: Job, in_flight: int, client_of: Callable[[], AbstractAsyncContextManager[Ask]]
) -> Spent:
    """The same calls with nothing around them, on the same loop."""
    with Store.open(None) as store:
        asked = [(r.messages(new_fence()), r.parameters()) for r in stages(job, store)[0]({})]

    async def ask_all() -> Spent:
        waiting = iter(asked)
        async with client_of() as ask:

            async def worker() -> None:
                for messages, parameters in waiting:
                    await ask(job, messages, parameters)

            clock = _Clock()
            await asyncio.gather(*(worker() for _ in range(in_flight)))
            return clock.read()

    return asyncio.run_coroutine_threadsafe(ask_all(), client.loop()).result()
