"""How fast and how far: calls in flight, fewer after a rate limit, and none beyond the budget.

Requests in flight in this process: one store's jobs share them, so that none is asked twice at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache

from ..store import Store
from ..store.ledger import Call, Reply, Spent
from .job import Budget


class Room:
    """Calls in flight of all judges of a run together. Used on one event loop only."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._in_flight = 0
        self._changed = asyncio.Event()

    @property
    def free(self) -> bool:
        return self._in_flight < self._most

    def take(self, places: int) -> None:
        """Take places, or give them back."""
        self._in_flight += places
        if places < 0:
            self.wake()

    def wake(self) -> None:
        """Let all that wait for a place look again."""
        self._changed.set()

    async def changed(self, timeout: float | None) -> None:
        """Wait until somebody gave a place back, or for some seconds."""
        self._changed.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), timeout=timeout)


class Pace:
    """Calls of one judge in flight: halved by a rate limit, one more after each full round without (AIMD).

    A request has a place from `enter` to `leave`, and is in flight but while it is `aside`.
    """

    def __init__(self, most: int, room: Room | None = None) -> None:
        self._most = most
        self._limit = most
        self._open = 0
        self._in_flight = 0
        self._good = 0
        self._cut_at = float("-inf")
        self._not_before = 0.0
        self._room = Room(most) if room is None else room

    @property
    def limit(self) -> int:
        return self._limit

    @property
    def in_flight(self) -> int:
        return self._in_flight

    @property
    def open(self) -> int:
        """Requests that have a place, those that wait for another attempt too."""
        return self._open

    async def enter(self, stopping: Callable[[], bool]) -> bool:
        """Wait for a place, and until a server that asked for time has had it; False if to stop first."""
        while not stopping():
            wait = self._not_before - asyncio.get_running_loop().time()
            if self._open < self._limit and self._free and wait <= 0:
                self._open += 1
                self._count(1)
                return True
            # Whatever may let it in wakes it, but for the time that a server asked for.
            await self._room.changed(wait if wait > 0 else None)
        return False

    @asynccontextmanager
    async def aside(self, stopping: Callable[[], bool]) -> AsyncIterator[None]:
        """While a request waits for another attempt, others may be in flight; then it waits for its turn."""
        self._count(-1)
        try:
            yield
            while not stopping() and not self._free:
                await self._room.changed(None)
        finally:
            self._count(1)

    def leave(self) -> None:
        """Give a place back."""
        self._open -= 1
        self._count(-1)

    @property
    def _free(self) -> bool:
        return self._in_flight < self._limit and self._room.free

    def _count(self, places: int) -> None:
        self._in_flight += places
        self._room.take(places)

    def wake(self) -> None:
        """Let waiting tasks look whether they should stop."""
        self._room.wake()

    def good(self) -> None:
        """A call was answered."""
        self._good += 1
        if self._good >= self._limit:
            self._good = 0
            self._limit = min(self._limit + 1, self._most)
            self._room.wake()

    def limited(self, begun: float, wait: float | None) -> None:
        """A call begun at `begun` met a rate limit; calls begun before the last cut do not cut again."""
        if begun > self._cut_at:
            self._cut_at = asyncio.get_running_loop().time()
            self._limit = max(1, self._limit // 2)
            self._good = 0
        if wait:
            self._not_before = max(self._not_before, asyncio.get_running_loop().time() + wait)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What one call may use at most; `cost` None if the price is unknown."""

    tokens: int
    cost: float | None


class Purse:
    """What a job has spent and holds back for calls in flight, against its budget.

    A call that may have been billed without saying how much counts with all that was held back for it.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.calls = 0
        self.tokens = 0
        self.cost = 0.0
        self._held = 0
        self._held_tokens = 0
        self._held_cost = 0.0

    def reason(self, load: Load) -> str | None:
        """Why a further call is not allowed, or None."""
        budget = self.budget
        if budget.calls is not None and self.calls + self._held + 1 > budget.calls:
            return f"the limit of {budget.calls:,} calls"
        if budget.tokens is not None and self.tokens + self._held_tokens + load.tokens > budget.tokens:
            return f"the limit of {budget.tokens:,} tokens"
        if budget.cost is not None and self.cost + self._held_cost + (load.cost or 0.0) > budget.cost:
            return f"the limit of {budget.cost:g} in cost"
        return None

    def hold(self, load: Load) -> None:
        """Hold back what a call may use."""
        self._held += 1
        self._held_tokens += load.tokens
        self._held_cost += load.cost or 0.0

    def release(self, load: Load) -> None:
        """The call is not made after all."""
        self._held -= 1
        self._held_tokens -= load.tokens
        self._held_cost -= load.cost or 0.0

    def settle(self, load: Load, *, tokens: int | None, cost: float | None) -> Spent:
        """A call is over: what was held back becomes what it used, or stays if that is unknown."""
        self.release(load)
        spent = Spent(
            calls=1,
            tokens=load.tokens if tokens is None else tokens,
            cost=(load.cost or 0.0) if cost is None else cost,
        )
        self.remember(spent)
        return spent

    @property
    def idle(self) -> bool:
        """No call is in flight."""
        return self._held == 0

    def remember(self, spent: Spent) -> None:
        """Calls used this."""
        self.calls += spent.calls
        self.tokens += spent.tokens
        self.cost += spent.cost


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
