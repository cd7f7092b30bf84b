"""Stores that cannot be used, as they come about, and what is said of each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from earlier_stores import unpacked
from places import REPOSITORY

from core.store import Store

SAID = {
    "older": "has layout 4, and this version of Appellate upgrades layouts from 5 on. Export its",
    "in use": "is open in another process. Stop it",
    "damaged": "is damaged",
    "cut": "is damaged",
    "no store": "is a DuckDB file, but no store of Appellate; name another file",
    "no right": "You have no right to read and write the store",
    "newer": "was written by a newer version of Appellate: it has layout 99",
}
"""Kind of an unusable store → words of the sentence about it."""
HOLD = """
import sys
from core.store import Store
store = Store.open(sys.argv[1])
print("open", flush=True)
input()
"""
NOBODY = 65534
"""A user without rights, as whom the superuser of a container can act."""


@contextmanager
def unusable(kind: str, folder: Path) -> Iterator[Path]:
    """A store that cannot be used while the block lasts."""
    path = folder / "votes.duckdb"
    if kind == "older":
        unpacked("layout-4", folder).rename(path)
    elif kind == "no store":
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table mine (a integer)")
    elif kind == "damaged":
        path.write_bytes(os.urandom(600_000))
    else:
        Store.open(path).close()
    if kind == "newer":
        with duckdb.connect(str(path)) as connection:
            connection.execute("update settings set value = '99' where key = 'schema'")
    elif kind == "cut":
        os.truncate(path, path.stat().st_size // 2)
    holder = None
    if kind == "in use":
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(path)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert holder.stdout.readline() == "open\n"
    elif kind == "no right":
        path.chmod(0)
    try:
        yield path
    finally:
        if holder is not None:
            holder.communicate("\n")


@contextmanager
def without_rights() -> Iterator[None]:
    """As a user without rights, where the superuser would have them all."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
