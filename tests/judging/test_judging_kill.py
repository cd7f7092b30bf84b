"""`kill -9` at twenty random moments of 2,400 votes, or of 1,200 by litellm: none is lost or there twice, and no limit is
passed.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from judging_jobs import until
from judging_killed import CONCURRENCY, ITEMS, KILLS, VOTES, collect_all, most_calls
from patience import LONG

from core.store import Store

SERVER = Path(__file__).with_name("judging_server.py")


@pytest.fixture
def url(provider):
    # No process gets to the end before it is killed, however late that is.
    command = [
        sys.executable,
        str(SERVER),
        "--delay",
        "0.01",
        "--hold-after",
        str(ITEMS[provider] * VOTES - CONCURRENCY),
    ]
    paths = os.environ | {"PYTHONPATH": str(SERVER.parent.parent)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=paths) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def asked(url: str, path: str, data: bytes | None = None) -> dict[str, int]:
    with urllib.request.urlopen(url.removesuffix("/v1") + path, data, timeout=LONG) as answer:
        return json.load(answer)


def calls(url: str) -> int:
    return asked(url, "/stats")["calls"]


def kept(path: Path) -> list[tuple]:
    with Store.open(path) as store:
        if not store.query("select 1 from duckdb_tables() where table_name = 'replies'").num_rows:
            return []
        votes = store.query("select count(*) as n from votes").to_pylist()[0]["n"]
        rows = store.query("select key, item_id, run, position from replies").to_pylist()
    # A reply and its vote are one transaction, whatever the moment.
    assert votes == len(rows)
    return [tuple(row.values()) for row in rows]


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["openai", "mistral"])
def test_nothing_is_lost_or_paid_twice(provider, url, tmp_path, monkeypatch):
    """On both connections: calls written here, and calls by litellm."""
    # A test of a page leaves its script as the main module, and a new process would run that first.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    items = ITEMS[provider]
    path, total = tmp_path / "votes.duckdb", items * VOTES
    rng = random.Random(20)
    moments = sorted(rng.randrange(20, total - KILLS * CONCURRENCY - 100) for _ in range(KILLS))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["judging_warm"])
    lost, seen = 0, set()
    for moment in moments:
        process = context.Process(target=collect_all, args=(url, str(path), provider))
        process.start()
        until(lambda p=process, start=moment + lost: calls(url) >= start or not p.is_alive())
        time.sleep(rng.random() * 0.05)
        assert process.is_alive(), "nothing was left to kill"
        process.kill()
        process.join()
        # All that it sent has arrived once its connections are gone; one is that of the question.
        until(lambda: asked(url, "/stats")["connections"] == 1)
        rows = kept(path)
        assert seen <= set(rows), "a stored reply is gone"
        seen = set(rows)
        in_flight = calls(url) - lost - len(rows)
        assert 0 <= in_flight <= CONCURRENCY
        lost += in_flight
    asked(url, "/release", b"")
    process = context.Process(target=collect_all, args=(url, str(path), provider))
    process.start()
    process.join(LONG)
    assert process.exitcode == 0
    rows = kept(path)
    assert seen <= set(rows)
    assert len(rows) == len({key for key, *_ in rows}) == total
    assert Counter(item for _, item, _, _ in rows) == {f"q{k}": VOTES for k in range(items)}
    assert len({(item, run, position) for _, item, run, position in rows}) == total
    assert calls(url) == total + lost <= most_calls(provider)
    with Store.open(path) as store:
        votes = store.export().to_pylist()
    assert (
        len({(row["item_id"], row["run"], row["position"]) for row in votes}) == len(votes) == total
    )
    assert {row["status"] for row in votes} == {"ok"}
