"""How fast and how far a run may go: calls in flight, fewer after a rate limit, and none beyond the
budget.

Everything here is used on one event loop only. The jobs of one store share the requests that are in
flight in this process, so that none is sent twice at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache

from ..store import Store
from ..store.ledger import Call, Reply, Spent
from .job import Budget

NOTHING = Spent(calls=0, tokens=0, cost=0.0)
LIMITS = {"calls": "{:,} calls", "tokens": "{:,} tokens", "cost": "{:g} in cost"}


class Signal:
    """Wakes the tasks that wait for a change."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        """Wake waiters so they can check again."""
        self._event.set()

    async def changed(self, timeout: float | None = None) -> None:
        """Wait until the next `notify`, or for some seconds."""
        self._event.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), timeout=timeout)


class ConcurrencyLimit(Signal):
    """At most so many calls in flight, of all judges of a run together."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._in_flight = 0

    @property
    def free(self) -> bool:
        return self._in_flight < self._most

    def count(self, calls: int) -> None:
        """So many calls begin, or end if negative."""
        self._in_flight += calls
        if calls < 0:
            self.notify()


class AdaptiveLimit:
    """Calls of one judge in flight: halved by a rate limit, one more after each full round without
    (AIMD).

    limit : calls in flight at present.  open : requests that have a place, also while they wait for
        another
    attempt. A request has a place from `enter` to `leave`, and is in flight but while it is
    `aside`.
    """

    def __init__(
        self, most: int, shared: ConcurrencyLimit | None = None, *, first: int | None = None
    ) -> None:
        """first : calls in flight until `widen`; None: `most` from the beginning."""
        self.most = most
        self._most = self.limit = most if first is None else min(most, first)
        self.open = 0
        self.in_flight = 0
        self._answered = 0
        self._cut_at = float("-inf")
        self._not_before = 0.0
        self.shared = ConcurrencyLimit(most) if shared is None else shared

    async def enter(self, stopping: Callable[[], bool]) -> bool:
        """Wait for a place, and until a server that set a waiting time has had it; False if to
        stop.
        """
        while not stopping():
            wait = self._not_before - asyncio.get_running_loop().time()
            if self.open < self.limit and self._free and wait <= 0:
                self.open += 1
                self._count(1)
                return True
            # Whatever may let it in wakes it, but for the waiting time that a server set.
            await self.shared.changed(wait if wait > 0 else None)
        return False

    @asynccontextmanager
    async def aside(self, stopping: Callable[[], bool]) -> AsyncIterator[None]:
        """While a request waits for another attempt, others may be in flight; then it waits for its
        turn.
        """
        self._count(-1)
        try:
            yield
            while not stopping() and not self._free:
                await self.shared.changed()
        finally:
            self._count(1)

    def leave(self) -> None:
        """Give a place back."""
        self.open -= 1
        self._count(-1)

    @property
    def _free(self) -> bool:
        return self.in_flight < self.limit and self.shared.free

    def _count(self, calls: int) -> None:
        self.in_flight += calls
        self.shared.count(calls)

    def widen(self) -> None:
        """All places are open from now on."""
        if self._most < self.most:
            # After a rate limit they come one by one.
            self.limit = self.most if self.limit >= self._most else self.limit
            self._most = self.most
            self.shared.notify()

    def answered(self) -> None:
        """A call was answered."""
        self._answered += 1
        if self._answered >= self.limit:
            self._answered = 0
            self.limit = min(self.limit + 1, self._most)
            self.shared.notify()

    def rate_limited(self, begun: float, wait: float | None) -> None:
        """A call begun at `begun` met a rate limit; calls begun before the last cut do not cut
        again.
        """
        now = asyncio.get_running_loop().time()
        if begun > self._cut_at:
            self._cut_at = now
            self.limit = max(1, self.limit // 2)
            self._answered = 0
        if wait:
            self._not_before = max(self._not_before, now + wait)


class BudgetTracker:
    """What a job has spent and reserved for calls in flight, against its budget.

    A call that may have been billed without a count of tokens is taken at all that was reserved for
    it.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.spent = self._reserved = NOTHING

    def exceeded(self, most: Spent) -> str | None:
        """The limit that a call which uses `most` could exceed, or None."""
        after = _sum(_sum(self.spent, self._reserved), most)
        for name, words in LIMITS.items():
            limit = getattr(self.budget, name)
            if limit is not None and getattr(after, name) > limit:
                return f"the limit of {words.format(limit)}"
        return None

    def reserve(self, most: Spent) -> None:
        """Set aside what a call may use."""
        self._reserved = _sum(self._reserved, most)

    def release(self, most: Spent) -> None:
        """The call is over, or not made after all."""
        self._reserved = _sum(self._reserved, most, sign=-1)

    def settle(self, most: Spent, *, tokens: int | None, cost: float | None) -> Spent:
        """A call is over: what was reserved becomes what it used, or stays if that is unknown."""
        self.release(most)
        used = Spent(
            calls=1,
            tokens=most.tokens if tokens is None else tokens,
            cost=most.cost if cost is None else cost,
        )
        self.spend(used)
        return used

    def room(self, calls: int) -> int:
        """How many of so many calls the limit of calls leaves."""
        return (
            calls
            if self.budget.calls is None
            else max(0, min(calls, self.budget.calls - self.spent.calls))
        )

    def reopen(self, most: Spent) -> None:
        """A call that was counted as over, at its most, is under way again."""
        self.spent = _sum(self.spent, most, sign=-1)
        self.reserve(most)

    @property
    def idle(self) -> bool:
        """No call is in flight."""
        return self._reserved.calls == 0

    def spend(self, used: Spent) -> None:
        """Calls used this."""
        self.spent = _sum(self.spent, used)


def _sum(first: Spent, second: Spent, *, sign: int = 1) -> Spent:
    return Spent(
        calls=first.calls + sign * second.calls,
        tokens=first.tokens + sign * second.tokens,
        cost=first.cost + sign * second.cost,
    )


class InFlight(Signal):
    """Requests that the jobs on one store have sent at present.

    unstored : replies that were paid for and could not be stored: taken instead of sending the
        request again.
    unrecorded : what calls used, likewise.
    runs : jobs that go on.  looked : whether what an earlier process left (`spare`) is known.
    leased : calls that the store counts before they are made, see `Ledger.lease`.
    counting : held while those change, or are counted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counting = asyncio.Lock()
        self.leased: list[Call] = []
        self._claimed: set[str] = set()
        self.unstored: dict[str, Reply] = {}
        self.unrecorded: list[Call] = []
        self.runs = 0
        self.looked = False

    def claim(self, key: str) -> bool:
        """Take a request, unless another job has it, which will release it answered or not."""
        if key in self._claimed:
            return False
        self._claimed.add(key)
        return True

    def release(self, keys: Iterable[str]) -> None:
        """These requests are settled: their replies are stored, or they are left."""
        self._claimed -= set(keys)
        self.notify()

    def made(self, spent: Mapping[str, Spent]) -> dict[str, Spent]:
        """What the store counts for requests, without the calls that are only leased."""
        used_by_key = dict(spent)
        for call in self.leased:
            if call.key in used_by_key:
                most = Spent(calls=1, tokens=call.tokens, cost=call.cost or 0.0)
                used_by_key[call.key] = _sum(used_by_key[call.key], most, sign=-1)
        return {key: used for key, used in used_by_key.items() if used.calls}


def place(store: Store) -> str:
    """What names a store within this process."""
    return str(store.path) if store.path is not None else f"memory {id(store)}"


@cache
def in_flight(where: str) -> InFlight:
    """The requests in flight of the store at a `place`."""
    return InFlight()
