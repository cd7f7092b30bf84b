"""Servers that send without end, too much, packed too well or too slowly: a call ends all the
same.
"""

from __future__ import annotations

import asyncio
import gzip
import time

import pytest
from aiohttp import web
from judging_jobs import collect, job, pairs
from judging_server import Server

from core.collect import client
from core.collect.client import CallFailed
from core.collect.endpoint import destination
from core.collect.job import Judge
from core.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")

MOST, SECONDS = 200_000, 1.0
BOMB = gzip.compress(bytes(50 * MOST))


class Hostile(Server):
    """Answers every call in one hostile way."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.sent = way, 0

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._any)
        return app

    async def _any(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        packed = {"Content-Encoding": "gzip"} if self.way == "packed" else {}
        status = 400 if self.way == "endless error" else 200
        response = web.StreamResponse(
            status=status, headers={"Content-Type": "application/json", **packed}
        )
        await response.prepare(request)
        part, pause = {"slow": (b" ", 0.05), "packed": (BOMB, 3600.0), "silent": (b"", 3600.0)}.get(
            self.way, (b" " * 20_000, 0.0)
        )
        while True:
            # Whoever does not listen any more ends the connection, and with it this handler.
            if part:
                await response.write(part)
                self.sent += len(part)
            await asyncio.sleep(pause)


def asked(server: Server, timeout: float) -> CallFailed:
    where = destination(Judge(model="openai/x", base_url=server.url))
    call = client.ask(
        "openai/x", [{"role": "user", "content": "?"}], {}, where=where, timeout=timeout
    )
    with pytest.raises(CallFailed) as failed:
        asyncio.run_coroutine_threadsafe(call, client.loop()).result(60)
    return failed.value


@pytest.mark.parametrize("way", ["endless", "packed", "endless error"])
def test_a_reply_without_end_is_not_listened_to(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_REPLY", MOST)
    with Hostile(way) as server:
        failure = asked(server, 60)
        assert f"more than {MOST:,} bytes" in str(failure)
        assert failure.mends
        # Buffers of the connection come on top.
        assert server.sent < 10 * MOST + 20 * 1024**2


@pytest.mark.parametrize("way", ["slow", "silent"])
def test_a_reply_that_takes_too_long_is_a_timeout(way: str) -> None:
    """A byte now and then keeps no call alive."""
    with Hostile(way) as server:
        begun = time.monotonic()
        failure = asked(server, SECONDS)
        assert failure.status == 408
        assert time.monotonic() - begun < 20


def test_a_job_with_such_a_server_ends(tmp_path) -> None:
    with Store.open(tmp_path / "votes.duckdb") as store, Hostile("slow") as server:
        given = job(server, pairs(2), votes=1, timeout=0.3)
        last = collect(given, store)
        assert last.statuses.get("ok", 0) == 0
        assert last.left == 2
