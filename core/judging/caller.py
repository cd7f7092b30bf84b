"""One request until there is a reply to keep: attempts, the budget for each call, and what calls used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from ..store.ledger import Call, Reply, Spent
from . import client
from .client import Answer, CallFailed
from .job import Judge, Terms
from .limits import AdaptiveLimit, BudgetTracker, ConcurrencyLimit, Signal
from .parsing import LONG_REPLY
from .plan import Plan, Progress, most
from .prompts import Request, new_fence

ATTEMPTS = 6
"""Calls for one request before it is kept as a failed one, to be sent again by the next run."""
FIRST_WAIT, LONGEST_BACKOFF = 0.5, 30.0
"""Seconds; waits double between attempts, with full jitter."""


class Stopped(Exception):
    """The request is left for another run."""


class Caller:
    """Makes the calls of a run, within its budget and the limits of its judges, and counts them.

    planned, terms : of the job.  spent : called with what each call used.
    patience : factor on waits between attempts.
    """

    def __init__(
        self, planned: Plan, terms: Terms, *, spent: Callable[[Call], None], patience: float
    ) -> None:
        self.where = planned.destinations
        shared, each = ConcurrencyLimit(terms.concurrency), max(1, terms.concurrency // len(self.where))
        self.limits = {judge: AdaptiveLimit(each, shared) for judge in self.where}
        self.tracker = BudgetTracker(terms.budget)
        self.progress = Progress(cost=None if planned.unpriced else 0.0)
        self.settled = Signal()
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
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, CallFailed) and error.mends),
            stop=stop_after_attempt(ATTEMPTS),
            wait=_wait,
            sleep=partial(self._sleep, self.limits[request.judge]),
            reraise=True,
        )
        try:
            answer: Answer = await retrying(self._call, request, request.messages(self._fence))
        except CallFailed as failure:
            calls = earlier.calls + retrying.statistics["attempt_number"]
            if failure.mends:
                return request.failure(str(failure), attempts=calls)
            if failure.content_policy:
                declined = request.read("", refused=True, alternatives=None)
                return request.reply(declined, str(failure), attempts=calls)
            self._stop_judge(request.judge, failure)
            return None
        return request.reply(
            request.read(answer.text, refused=answer.refused, alternatives=answer.alternatives),
            answer.text[:LONG_REPLY],
            attempts=earlier.calls + retrying.statistics["attempt_number"],
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            cost=self._cost(request, answer),
            seconds=answer.seconds,
        )

    async def _call(self, request: Request, messages: list[dict[str, str]]) -> Answer:
        """One attempt, if the budget has room for it."""
        where, limit = self.where[request.judge], self.limits[request.judge]
        at_most = most(request, messages, where)
        await self._reserve(at_most)
        if request.judge in self._stopped_judges:
            self.tracker.release(at_most)
            raise Stopped
        begun = asyncio.get_running_loop().time()
        tokens: int | None = None
        cost: float | None = None
        self.progress.calls += 1
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
            self.progress.failures[failure.kind] += 1
            if failure.status == 429:
                limit.rate_limited(begun, failure.wait)
            if not failure.billed:
                tokens, cost = 0, 0.0
            raise
        finally:
            used = self.tracker.settle(at_most, tokens=tokens, cost=cost)
            paid = None if where.price is None else used.cost
            self._spent(Call(key=request.key, tokens=used.tokens, cost=paid))
            self.settled.notify()

    async def _reserve(self, at_most: Spent) -> None:
        """Set aside what a call may use, once calls in flight have shown what they used."""
        while True:
            if self.stopping():
                raise Stopped
            limit = self.tracker.exceeded(at_most)
            if limit is None:
                self.tracker.reserve(at_most)
                return
            if self.tracker.idle:
                self._out_of_budget = True
                self.say(f"Stopped: another call could exceed {limit}")
                self._wake()
                raise Stopped
            await self.settled.changed()

    async def _sleep(self, limit: AdaptiveLimit, seconds: float) -> None:
        """Wait before another attempt, and for its turn; a stop ends it."""
        async with limit.aside(self.stopping):
            try:
                await asyncio.wait_for(self._halt.wait(), timeout=seconds * self._patience)
            except TimeoutError:
                return
            raise Stopped

    def say(self, message: str) -> None:
        """Tell the user, without keys."""
        self.progress.messages += (client.safe(message, self.where.values()),)

    def _stop_judge(self, judge: Judge, failure: CallFailed) -> None:
        if judge not in self._stopped_judges:
            self._stopped_judges.add(judge)
            self.say(f"{judge.name} stopped (HTTP {failure.status}): {failure}")
            self._wake()

    def _wake(self) -> None:
        self.settled.notify()
        for limit in self.limits.values():
            limit.shared.notify()

    def _cost(self, request: Request, answer: Answer) -> float | None:
        if answer.prompt_tokens is None:
            return None
        return self.where[request.judge].cost(answer.prompt_tokens, answer.completion_tokens or 0)


def _wait(state: Any) -> float:
    """Seconds before the next attempt: exponential with full jitter, after what the server asks for."""
    from tenacity import wait_random_exponential

    failure = state.outcome.exception()
    drawn = float(wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_BACKOFF)(state))
    # Beside what the server asks for: those that it turned away together do not come back together.
    return drawn + (failure.wait or 0.0)
