"""Requests in flight in this process: one store's jobs share them, so that none is asked twice at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache

from core.store import Store
from core.store.reply_rows import Call, Reply


class InFlight:
    """What the jobs on one store ask at present. Used on the loop for calls only.

    unstored : replies that were paid for and could not be stored: taken instead of asking again.
    unrecorded : what calls used, likewise.
    """

    def __init__(self) -> None:
        self._claimed: set[str] = set()
        self._settled = asyncio.Event()
        self.unstored: dict[str, Reply] = {}
        self.unrecorded: list[Call] = []

    def claim(self, key: str) -> bool:
        """Take a request, unless another job has it, which will release it answered or not."""
        if key in self._claimed:
            return False
        self._claimed.add(key)
        return True

    def release(self, keys: Iterable[str]) -> None:
        """These requests are settled: their replies are stored, or they are left."""
        self._claimed -= set(keys)
        self.wake()

    async def changed(self) -> None:
        """Wait until some request is settled, or somebody wakes all that wait."""
        self._settled.clear()
        await self._settled.wait()

    def wake(self) -> None:
        """Let those that wait look whether they should stop."""
        self._settled.set()


def place(store: Store) -> str:
    """What names a store within this process."""
    return str(store.path) if store.path is not None else f"memory {id(store)}"


@cache
def in_flight(where: str) -> InFlight:
    """The requests in flight of the store at a `place`."""
    return InFlight()
