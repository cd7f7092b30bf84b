"""Damaged stores, and a script that tries them: `python tests/store/damaged_stores.py FOLDER` prints JSON
lines.

It runs in a process of its own: should a damaged file bring DuckDB down, the last line names it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from core.__main__ import main
from core.importers import read
from core.store import Store

HEADER, BLOCK = 3 * 4096, 256 * 1024
VOTES = "item_id,model_a,model_b,judge,vote,gold,confidence,prompt,category,note\n" + "".join(
    f"i{k % 90},m{k % 7},n,j{k % 3},{k % 3 - 1},{k % 2},0.{k % 10},prompt {k},c{k % 4},extra {k}\n"
    for k in range(600)
)
SCORES = "item_id,model,judge,score,rationale\n" + "".join(
    f"i{k % 90},m{k // 90},j,{k % 10},because {k}\n" for k in range(540)
)
RANKINGS = "item_id,candidate,judge,slot,rank\n" + "".join(
    f"i{k},{'abc'[s]},j,{s},{s + 1}\n" for k in range(90) for s in range(3)
)
NEW = "item_id,judge,vote\nx,new,1\ny,new,-1\n"
KINDS = ("votes", "scores", "rankings")
NAMES = {"votes": VOTES, "scores": SCORES, "rankings": RANKINGS}
LEAVE_A_LOG = """
import os, sys
from core.importers import read
from core.store import Store
store = Store.open(sys.argv[1])
store.load(read([("late.csv", b"item_id,judge,vote\\nlate,j,1\\n")])[0])
os._exit(0)
"""


def make(path: Path) -> Path:
    """A store with votes, scores and rankings, each its own data set."""
    with Store.open(path) as store:
        for name, text in NAMES.items():
            store.load(read([(f"{name}.csv", text.encode())])[0])
    return path


def leave_a_log(path: Path) -> bytes:
    """Load a vote and die, so that it is in the write-ahead log only; the log."""
    subprocess.run([sys.executable, "-c", LEAVE_A_LOG, str(path)], check=True)
    return path.with_name(f"{path.name}.wal").read_bytes()


def damaged(folder: Path) -> Iterator[tuple[str, bytes, bytes | None]]:
    """Name, file and write-ahead log of every damaged store."""
    whole = make(folder / "whole.duckdb").read_bytes()
    draw = random.Random(13)
    blocks = (len(whole) - HEADER) // BLOCK

    def changed(at: int, to: bytes) -> bytes:
        return whole[:at] + to + whole[at + len(to) :]

    def flipped(at: int) -> bytes:
        return changed(at, bytes([whole[at] ^ 0xFF]))

    for at in (0, 4, 8, 10, 12, 52, 84, 126, 130, 4096, 4104, 4128, 4136, 8192, 8200, 8232):
        yield f"byte {at} of the header flipped", flipped(at), None
    for block in range(blocks):
        start = HEADER + block * BLOCK
        yield f"a byte of block {block} flipped", flipped(start + draw.randrange(8, 4000)), None
        yield (
            f"a late byte of block {block} flipped",
            flipped(start + draw.randrange(4000, BLOCK)),
            None,
        )
        yield f"the checksum of block {block} flipped", flipped(start + 3), None
        yield f"block {block} zeroed", changed(start, bytes(BLOCK)), None
    for first in range(blocks - 1):
        one, two = HEADER + first * BLOCK, HEADER + (first + 1) * BLOCK
        swapped = changed(one, whole[two : two + BLOCK] + whole[one : one + BLOCK])
        yield f"blocks {first} and {first + 1} swapped", swapped, None
    for size in (
        0,
        1,
        100,
        4096,
        8192,
        HEADER,
        HEADER + 9,
        HEADER + BLOCK,
        len(whole) // 2,
        len(whole) - 1,
    ):
        yield f"cut after {size} bytes", whole[:size], None
    yield (
        "headers swapped",
        whole[:4096] + whole[8192:HEADER] + whole[4096:8192] + whole[HEADER:],
        None,
    )
    yield "headers zeroed", bytes(HEADER) + whole[HEADER:], None
    yield "noise", draw.randbytes(len(whole)), None
    yield "text", b"item_id,judge,vote\n" * 1000, None
    shutil.copy(folder / "whole.duckdb", folder / "own.duckdb")
    own = leave_a_log(folder / "own.duckdb")
    foreign = leave_a_log(make(folder / "other.duckdb"))
    middle = bytearray(own)
    middle[len(own) // 2] ^= 0xFF
    yield "a log of another file", whole, foreign
    yield "a log of zeros", whole, bytes(len(own))
    yield "a log with a flipped beginning", whole, bytes([own[0] ^ 0xFF]) + own[1:]
    yield "a log with a flipped byte", whole, bytes(middle)
    yield "a log of noise", whole, draw.randbytes(5000)
    yield "a log cut in its last entry", whole, own[:-3]
    with Store.open(folder / "own.duckdb") as store:
        store.delete_dataset("scores")
    yield "a log of an earlier state", (folder / "own.duckdb").read_bytes(), own


def run(*arguments: str) -> tuple[int, str]:
    """Exit code of a command, and all that it said."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(arguments)
    return code, said.getvalue()


def attempt(path: Path) -> dict[str, object]:
    """What every command makes of a damaged store; the file is put back before each that writes."""
    out, log = path.with_name("out.csv"), path.with_name(f"{path.name}.wal")
    kept = path.read_bytes(), log.read_bytes() if log.exists() else None

    def restore() -> None:
        path.write_bytes(kept[0])
        log.unlink(missing_ok=True)
        if kept[1] is not None:
            log.write_bytes(kept[1])

    def export(kind: str, store: Path = path, *more: str) -> tuple[int, str, str]:
        out.unlink(missing_ok=True)
        code, said = run("export", str(out), "--store", str(store), "--what", kind, *more)
        return code, said, out.read_text() if out.exists() else ""

    found: dict[str, object] = {kind: export(kind) for kind in KINDS}
    taken = path.with_name("taken.duckdb")
    taken.unlink(missing_ok=True)
    found["take over"] = code, _ = run("import", str(path), "--store", str(taken))
    found["taken"] = {kind: export(kind, taken)[2] for kind in KINDS} if code == 0 else None
    new = path.with_name("new.csv")
    new.write_text(NEW)
    restore()
    found["import"] = code, _ = run("import", str(new), "--store", str(path))
    if code == 0:
        found["loaded"] = export("votes", path, "--dataset", "new")[2].count("\n")
        found["kept"] = {kind: export(kind, path, "--dataset", kind)[2] for kind in KINDS}
    found["beside"] = sorted(
        each.name for each in path.parent.iterdir() if "set-aside" in each.name
    )
    return found


def try_all(folder: Path) -> None:
    """Try every damaged store, one line of JSON before and one after each."""
    make(folder / "sound.duckdb")
    print(json.dumps({"sound": attempt(folder / "sound.duckdb")}), flush=True)
    for name, content, log in damaged(folder):
        place = folder / "case"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        path = place / "votes.duckdb"
        path.write_bytes(content)
        if log is not None:
            path.with_name("votes.duckdb.wal").write_bytes(log)
        os.write(1, f"{json.dumps(name)}\n".encode())
        print(json.dumps({name: attempt(path)}), flush=True)


if __name__ == "__main__":
    try_all(Path(sys.argv[1]))
