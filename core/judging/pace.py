"""How fast and how far: calls in flight, fewer after a rate limit, and none beyond the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from core.judging.job import Budget
from core.store.replies import Reply


class Pace:
    """Calls of one judge in flight: halved by a rate limit, one more after each full round without (AIMD).

    Used on one event loop only.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = most
        self._in_flight = 0
        self._good = 0
        self._cut_at = float("-inf")
        self._not_before = 0.0
        self._changed = asyncio.Event()

    @property
    def limit(self) -> int:
        return self._limit

    @property
    def in_flight(self) -> int:
        return self._in_flight

    async def enter(self, stopping: Callable[[], bool]) -> bool:
        """Wait for a place, and until a server that asked for time has had it; False if told to stop first.

        Only one task may wait.
        """
        while not stopping():
            wait = self._not_before - asyncio.get_running_loop().time()
            free = self._in_flight < self._limit
            if free and wait <= 0:
                self._in_flight += 1
                return True
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), timeout=wait if free else None)
        return False

    def leave(self) -> None:
        """Give a place back."""
        self._in_flight -= 1
        self._changed.set()

    def wake(self) -> None:
        """Let the waiting task look whether it should stop."""
        self._changed.set()

    def good(self) -> None:
        """A call was answered."""
        self._good += 1
        if self._good >= self._limit:
            self._good = 0
            self._limit = min(self._limit + 1, self._most)

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
        self._budget = budget
        self.calls = 0
        self.tokens = 0
        self.cost = 0.0
        self._held = 0
        self._held_tokens = 0
        self._held_cost = 0.0

    def reason(self, load: Load) -> str | None:
        """Why a further call is not allowed, or None."""
        budget = self._budget
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

    def settle(self, load: Load, *, tokens: int | None, cost: float | None) -> None:
        """A call is over: what was held back becomes what it used, or stays if that is unknown."""
        self.release(load)
        self.calls += 1
        self.tokens += load.tokens if tokens is None else tokens
        self.cost += (load.cost or 0.0) if cost is None else cost

    @property
    def idle(self) -> bool:
        """No call is in flight."""
        return self._held == 0

    def remember(self, reply: Reply) -> None:
        """An earlier run of the job spent this."""
        self.calls += reply.attempts
        self.tokens += (reply.prompt_tokens or 0) + (reply.completion_tokens or 0)
        self.cost += reply.cost or 0.0
