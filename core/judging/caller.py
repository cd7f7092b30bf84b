"""One request until there is a reply to keep: attempts, the budget for each call, and what calls used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..store.ledger import Call, Reply, Spent
from . import client
from .client import Answer, CallFailed
from .endpoint import Destination
from .job import Judge
from .limits import AdaptiveLimit, BudgetTracker, Signal
from .parsing import LONG_REPLY
from .plan import Progress, most
from .prompts import Request, new_fence

ATTEMPTS = 6
"""Calls for one request before it is kept as a failed one, to be sent again by the next run."""
FIRST_WAIT, LONGEST_BACKOFF = 0.5, 30.0
"""Seconds; waits double between attempts, with full jitter."""


class Stopped(Exception):
    """The request is left for another run."""


@dataclass(slots=True)
class _Attempts:
    """Calls made for a request, those of an earlier run that failed included."""

    calls: int
    failure: CallFailed | None = None


class Caller:
    """Makes the calls of a run, within its budget and the limits of its judges.

    progress : where calls, failures and messages are counted.  settled : notified when a call is over.
    spent : is given what each call used.  patience : factor on waits between attempts.
    """

    def __init__(
        self,
        where: dict[Judge, Destination],
        limits: dict[Judge, AdaptiveLimit],
        tracker: BudgetTracker,
        progress: Progress,
        settled: Signal,
        *,
        spent: Callable[[Call], None],
        patience: float,
    ) -> None:
        self._where = where
        self._limits = limits
        self._tracker = tracker
        self._progress = progress
        self._settled = settled
        self._spent = spent
        self._patience = patience
        self._fence = new_fence()
        self._halt = asyncio.Event()
        self._out_of_budget = False
        self._stopped_judges: set[Judge] = set()

    def stop(self) -> None:
        """Make no further call."""
        self._halt.set()
        self._wake()

    def stopping(self, judge: Judge | None = None) -> bool:
        """Whether no further call is made, or none to this judge."""
        return self._halt.is_set() or self._out_of_budget or judge in self._stopped_judges

    async def reply(self, request: Request, earlier: Spent) -> Reply | None:
        """Send a request until it is answered; None if its judge does not serve it.

        earlier : what calls for it have used in other runs.

        Raises Stopped if it is left for another run.
        """
        from tenacity import AsyncRetrying, RetryError, retry_if_exception, stop_after_attempt

        messages = request.messages(self._fence)
        attempts = _Attempts(earlier.calls)
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, CallFailed) and error.mends),
            stop=stop_after_attempt(ATTEMPTS),
            wait=_wait,
            sleep=partial(self._sleep, self._limits[request.judge]),
        )
        try:
            answer: Answer = await retrying(self._call, request, messages, attempts)
        except RetryError:
            return request.failure(str(attempts.failure), attempts=attempts.calls)
        except CallFailed as failure:
            if failure.content_policy:
                declined = request.read("", refused=True, alternatives=None)
                return request.reply(declined, str(failure), attempts=attempts.calls)
            self._stop_judge(request.judge, failure)
            return None
        return request.reply(
            request.read(answer.text, refused=answer.refused, alternatives=answer.alternatives),
            answer.text[:LONG_REPLY],
            attempts=attempts.calls,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            cost=self._cost(request, answer),
            seconds=answer.seconds,
        )

    async def _call(self, request: Request, messages: list[dict[str, str]], attempts: _Attempts) -> Answer:
        """One attempt, if the budget has room for it."""
        where, limit = self._where[request.judge], self._limits[request.judge]
        at_most = most(request, messages, where)
        await self._reserve(at_most)
        if request.judge in self._stopped_judges:
            self._tracker.release(at_most)
            raise Stopped
        begun = asyncio.get_running_loop().time()
        tokens: int | None = None
        cost: float | None = None
        attempts.calls += 1
        self._progress.calls += 1
        try:
            answer = await client.ask(
                request.judge.model,
                messages,
                request.parameters(),
                where=where,
                timeout=request.judge.timeout,
            )
            if answer.prompt_tokens is not None:
                tokens = answer.prompt_tokens + (answer.completion_tokens or 0)
                cost = self._cost(request, answer)
            limit.answered()
            return answer
        except CallFailed as failure:
            attempts.failure = failure
            self._progress.failures[failure.kind] += 1
            if failure.status == 429:
                limit.rate_limited(begun, failure.wait)
            if not failure.billed:
                tokens, cost = 0, 0.0
            raise
        finally:
            used = self._tracker.settle(at_most, tokens=tokens, cost=cost)
            paid = None if where.price is None else used.cost
            self._spent(Call(key=request.key, tokens=used.tokens, cost=paid))
            self._settled.notify()

    async def _reserve(self, at_most: Spent) -> None:
        """Set aside what a call may use, once calls in flight have shown what they used."""
        while True:
            if self.stopping():
                raise Stopped
            limit = self._tracker.exceeded(at_most)
            if limit is None:
                self._tracker.reserve(at_most)
                return
            if self._tracker.idle:
                self._out_of_budget = True
                self._progress.messages += (f"Stopped: another call could exceed {limit}",)
                self._wake()
                raise Stopped
            await self._settled.changed()

    async def _sleep(self, limit: AdaptiveLimit, seconds: float) -> None:
        """Wait before another attempt, and for its turn; a stop ends it."""
        async with limit.aside(self.stopping):
            try:
                await asyncio.wait_for(self._halt.wait(), timeout=seconds * self._patience)
            except TimeoutError:
                return
            raise Stopped

    def _stop_judge(self, judge: Judge, failure: CallFailed) -> None:
        if judge not in self._stopped_judges:
            self._stopped_judges.add(judge)
            self._progress.messages += (f"{judge.name} stopped (HTTP {failure.status}): {failure}",)
            self._wake()

    def _wake(self) -> None:
        self._settled.notify()
        for limit in self._limits.values():
            limit.shared.notify()

    def _cost(self, request: Request, answer: Answer) -> float | None:
        if answer.prompt_tokens is None:
            return None
        return self._where[request.judge].cost(answer.prompt_tokens, answer.completion_tokens or 0)


def _wait(state: Any) -> float:
    """Seconds before the next attempt: exponential with full jitter, after what the server asks for."""
    from tenacity import wait_random_exponential

    failure = state.outcome.exception()
    drawn = float(wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_BACKOFF)(state))
    # Beside what the server asks for: those that it turned away together do not come back together.
    return drawn + (failure.wait or 0.0)
