"""Processes that are killed: what was loaded before stays, and a load is there whole or
not at all.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from killed import ROWS
from patience import LONG
from places import PYTHONPATH, REPOSITORY
from served import Server, Session
from websockets.exceptions import ConnectionClosed

from core.importers import read
from core.store import Store

IMPORTS, APPS = 24, 4


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_imports_lose_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "tests/store/killed.py", str(tmp_path), str(IMPORTS)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=10 * LONG,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kills, stores = lines[::2], lines[1::2]
    assert len(kills) == len(stores) == IMPORTS
    expected = {"kept": 2, "whole": ROWS}
    for kill, store in zip(kills, stores, strict=True):
        assert kill["killed"] or kill["code"] == 0
        if not kill["killed"] or kill["name"] in store:
            expected[kill["name"]] = ROWS
        assert store == expected
    assert sum(kill["killed"] for kill in kills) > IMPORTS / 4


@pytest.mark.thorough
def test_killed_apps_lose_nothing(tmp_path: Path) -> None:
    """From its first start on, while the demo is loaded and while a visitor reads."""
    path, draw = tmp_path / "s.duckdb", random.Random(13)
    whole = None
    for k in range(APPS):
        server = Server("app.py", path)
        with Session(server) as visitor:
            timer = threading.Timer(draw.uniform(0, 1.5), server.process.kill)
            timer.start()
            with suppress(ConnectionClosed):
                visitor.run(draw.choice(["", "start", "calibration"]))
            timer.join()
        server.process.wait(LONG)
        with Store.open(path) as store:
            store.check()
            held = {found.name: (found.votes, found.scores) for found in store.datasets()}
            extra = {name: held.pop(name) for name in list(held) if name.startswith("mine")}
            assert extra == {f"mine{before}": (1, 0) for before in range(k)}
            store.load(read([(f"mine{k}.csv", b"item_id,judge,vote\n1,j,1\n")])[0])
        if whole is not None:
            assert held == whole
        whole = held or whole
