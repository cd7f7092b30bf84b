"""Imports into a store in forked processes, each killed at another moment: `killed.py FOLDER N`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from forked import command, load_what_loads

from core.__main__ import main
from core.importers import read
from core.store import Store

ROWS = 1_500


def write_votes(path: Path, k: int) -> Path:
    path.write_text(
        "item_id,judge,vote,prompt\n"
        + "".join(f"{k}-{row},j{row % 7},{row % 3 - 1},text {row}\n" for row in range(ROWS))
    )
    return path


def imported(path: Path, store: Path) -> None:
    """Import quietly and end; the exit code is the command's."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = main(["import", str(path), "--store", str(store)])
    os._exit(code)


def forked(act: object, *given: object) -> int:
    child = os.fork()
    if not child:
        act(*given)  # type: ignore[operator]
        os._exit(0)
    return child


def look(store: Path) -> None:
    """Print the data sets and how many votes each has."""
    with Store.open(store) as opened:
        opened.check()
        print(json.dumps({found.name: found.votes for found in opened.datasets()}), flush=True)


def first(store: Path) -> None:
    with Store.open(store) as opened:
        opened.load(read([("kept.csv", b"item_id,judge,vote\n1,j,1\n2,j,-1\n")])[0])


def kill_all(folder: Path, n: int) -> None:
    """Per kill a line: whether it had ended by itself, and what the store holds then."""
    store, draw = folder / "s.duckdb", random.Random(13)
    some = [str(write_votes(folder / "some.csv", -2)), "--store", str(folder / "some.duckdb")]
    load_what_loads(lambda: command(["import", *some]))
    os.waitpid(forked(first, store), 0)
    start = time.monotonic()
    os.waitpid(forked(imported, write_votes(folder / "whole.csv", -1), store), 0)
    usual = time.monotonic() - start
    for k in range(n):
        child = forked(imported, write_votes(folder / f"v{k}.csv", k), store)
        time.sleep(draw.uniform(0, 1.1 * usual))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(
            json.dumps({"killed": os.WIFSIGNALED(status), "code": status, "name": f"v{k}"}),
            flush=True,
        )
        _, status = os.waitpid(forked(look, store), 0)
        if status:
            sys.exit(f"After killing the import of v{k} the store cannot be read: {status}")


if __name__ == "__main__":
    kill_all(Path(sys.argv[1]), int(sys.argv[2]))
