"""Memory that allocators keep for later is given back to the system."""

from __future__ import annotations

import ctypes
import gc
import os

LARGE = 100_000
"""Rows of a file from which it pays to give back what a step of reading it took."""


def give_back() -> None:
    """Return free memory to the system: of Python, of Arrow and of the C library, where it can."""
    import pyarrow as pa

    # Objects may hold each other, as a session and its script do.
    gc.collect()
    pa.default_memory_pool().release_unused()
    # Windows has no library without a name.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)
