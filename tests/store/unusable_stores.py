"""Stores that cannot be used, as they come about, and what is said of each."""

from __future__ import annotations

import ctypes
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
    "no right": "You have no right to read",
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
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
CAPABILITIES_3 = 0x20080522
"""Numbers of Linux: the superuser may read any file because of capabilities, which can be given
up.
"""


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


def give_up_rights() -> None:
    """Before another program is run: the superuser has the rights of any owner there, and no more."""
    libc = ctypes.CDLL(None)
    for capability in CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH:
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@contextmanager
def without_rights() -> Iterator[None]:
    """In this thread, and those that it starts, the superuser has the rights of any owner only."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_3, 0)
    # Effective, permitted and inheritable ones, twice 32.
    rights = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, rights) == 0
    fewer = (ctypes.c_uint32 * 6)(*rights)
    fewer[0] &= ~(1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH)
    assert libc.capset(header, fewer) == 0
    try:
        yield
    finally:
        assert libc.capset(header, rights) == 0
