"""Run a job: never pay twice, never lose a reply, never spend more than allowed.

A reply goes into the store's ledger together with its vote, and only then counts and gives its place in
flight back. So whatever happens to the process, at most the calls in flight are lost. A request that another
job of this process is asking is waited for instead of asked.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..errors import AppellateError, InvalidOption
from ..store import Store
from ..store.ledger import Call, Reply, Spent
from . import client
from .client import Answer, CallFailed
from .job import Budget, Job, Judge
from .ledger_rows import Writer, load_rows
from .limits import Load, Pace, Purse, Room, in_flight, place
from .parsing import LONG_REPLY
from .plan import Plan, Progress, State, Tally, done, ledger_of, load_of
from .prompts import new_fence
from .protocols import Request, conclusions, stages

ATTEMPTS = 6
"""Calls for one request before it is kept as a failed one, to be asked again by the next run."""
FIRST_WAIT, LONGEST_BACKOFF = 0.5, 30.0
"""Seconds; waits double between attempts, with full jitter."""
MOST_TOKENS = 2**53
"""A server that counts more for a call is taken at this."""


class _Stopped(Exception):
    """The request is left for another run."""


@dataclass(slots=True)
class _Attempts:
    """Calls made for a request, those of an earlier run that failed included."""

    earlier: int
    made: int = 0
    failure: CallFailed | None = None

    @property
    def all(self) -> int:
        return self.earlier + self.made


class Run:
    """A job going on in the background of this process."""

    def __init__(
        self,
        job: Job,
        store: Store,
        planned: Plan,
        *,
        concurrency: int,
        budget: Budget,
        patience: float,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.job = job
        self.job_id = planned.job_id
        self.plan = planned
        self._store = store
        self._where = planned.destinations
        self._purse = Purse(budget)
        self._patience = patience
        self._on_progress = on_progress
        self._tally = Tally()
        self._state: State = "running"
        self._fence = new_fence()
        self._known: dict[str, Reply] = {}
        self._spent: dict[str, Spent] = {}
        self._stopped_judges: set[Judge] = set()
        self._out_of_budget: str | None = None
        room, most = Room(concurrency), max(1, concurrency // len(planned.destinations))
        self._paces = {judge: Pace(most, room) for judge in planned.destinations}
        self._shared = in_flight(place(store))
        self._claimed: set[str] = set()
        self._settled = asyncio.Event()
        self._halt = asyncio.Event()
        self._finished = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ledger = ledger_of(job, store)
        self._writer = Writer(
            self._ledger,
            self._shared,
            stored=self._stored,
            settled=self._free,
            broken=self._broken,
            patience=patience,
        )

    def progress(self) -> Progress:
        """How far it is."""
        tally = self._tally
        rate = tally.rate()
        left = tally.planned - tally.answered - tally.statuses["error"]
        known = all(place.price is not None for place in self._where.values())
        return Progress(
            state=self._state,
            planned=tally.planned,
            answered=tally.answered,
            statuses=dict(tally.statuses),
            failures=dict(tally.failures),
            calls=tally.calls,
            prompt_tokens=tally.prompt_tokens,
            completion_tokens=tally.completion_tokens,
            cost=tally.cost if known else None,
            without_usage=tally.without_usage,
            without_confidence=tally.without_confidence,
            in_flight=sum(pace.in_flight for pace in self._paces.values()),
            limit=sum(pace.limit for pace in self._paces.values()),
            rate=rate,
            seconds_left=left / rate if rate > 0 else None,
            messages=tuple(tally.messages),
        )

    def stop(self, *, at_once: bool = False) -> None:
        """Send nothing more. Calls in flight are waited for and kept, unless `at_once`."""
        client.loop().call_soon_threadsafe(self._stop, at_once)

    def wait(self, timeout: float | None = None) -> Progress:
        """Wait until the run has finished, or for some seconds."""
        self._finished.wait(timeout)
        return self.progress()

    def revise(self, job: Job, budget: Budget | None) -> None:
        """Go on under another budget, or with agreement of repeats counted at the end.

        Raises InvalidOption if the job differs in anything else: that cannot change under way.
        """
        if replace(job, confidence=self.job.confidence, items=self.job.items) != self.job:
            raise InvalidOption(
                "The same requests are going on with other settings. Wait until that run ends, or stop it"
            )
        client.loop().call_soon_threadsafe(self._revise, job, budget)

    def _revise(self, job: Job, budget: Budget | None) -> None:
        if job.confidence == "multi":
            self.job = job
        if budget is not None:
            self._purse.budget = budget
            self._settled.set()

    def _stop(self, at_once: bool) -> None:
        if self._state == "running":
            self._state = "stopping"
        self._end()
        if at_once:
            for task in self._tasks:
                task.cancel()

    def _end(self) -> None:
        """Send nothing more."""
        self._halt.set()
        self._settled.set()
        self._shared.wake()
        for pace in self._paces.values():
            pace.wake()

    def _stopping(self) -> bool:
        return self._halt.is_set() or self._out_of_budget is not None

    async def run(self) -> None:
        """All stages of the job; called once, on the loop."""
        try:
            writer = asyncio.create_task(self._writer.run())
            try:
                for stage in await asyncio.to_thread(stages, self.job, self._store):
                    await self._stage(stage(self._known))
            finally:
                self._writer.close()
                await writer
            if self._writer.unstored:
                raise AppellateError(
                    f"{self._writer.unstored:,} replies could not be stored. They are kept until this "
                    "process ends; the job started again stores them instead of asking"
                )
            await asyncio.to_thread(self._conclude)
            if self._state != "failed":
                complete = self._tally.answered == self._tally.planned
                self._state = "done" if complete or not self._stopping() else "stopped"
        except AppellateError as error:
            self._fail(str(error))
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            self._finished.set()
            self._tell()

    def _fail(self, message: str) -> None:
        self._tally.messages.append(client.safe(message, self._where.values()))
        self._state = "failed"

    def _tell(self) -> None:
        if self._on_progress is not None:
            self._on_progress(self.progress())

    async def _stage(self, requests: Sequence[Request]) -> None:
        """Get a reply to every request of one stage: out of the store, from another job, or by asking."""
        left = {request.key: request for request in requests}
        self._tally.planned += len(left)
        await self._remember_spent(left)
        while left:
            mine = [request for key, request in left.items() if self._shared.claim(key)]
            if not mine:
                if self._stopping():
                    return
                await self._shared.changed()
                continue
            self._claimed |= {request.key for request in mine}
            try:
                await self._ask_all(mine)
            finally:
                self._shared.release(self._claimed)
                self._claimed.clear()
            if self._stopping():
                return
            for request in mine:
                del left[request.key]

    async def _ask_all(self, mine: Sequence[Request]) -> None:
        """Ask what has no reply yet of requests that no other job is asking."""
        # Looked up after they were claimed: what another job got until then is there.
        await self._take_over(mine)
        asked = defaultdict(list)
        for request in mine:
            if not done(self._known, request):
                asked[request.judge].append(request)
        self._tell()
        await asyncio.gather(*(self._dispatch(judge, each) for judge, each in asked.items()))

    async def _remember_spent(self, keys: Collection[str]) -> None:
        self._spent = await asyncio.to_thread(self._ledger.spent, keys)
        for spent in self._spent.values():
            self._purse.remember(spent)
            self._tally.calls += spent.calls

    async def _take_over(self, requests: Sequence[Request]) -> None:
        """Know what the store has of these replies, and give the data set those that it lacks."""
        keys = [request.key for request in requests]
        voters = {request.voter for request in requests if request.task == "vote"}
        found = await asyncio.to_thread(self._ledger.answered, keys)
        await asyncio.to_thread(self._ledger.look, keys, voters)
        lacking = [reply for reply in found.values() if reply.status != "error" and self._ledger.lacks(reply)]
        if lacking:
            await asyncio.to_thread(self._ledger.write, lacking)
        self._known |= found
        for reply in found.values():
            self._tally.remember(reply)

    async def _dispatch(self, judge: Judge, requests: Sequence[Request]) -> None:
        """Send a judge its requests as places become free, then wait for the last reply."""
        pace = self._paces[judge]

        def ended() -> bool:
            return self._stopping() or judge in self._stopped_judges

        mine = set()
        for request in requests:
            if not await pace.enter(ended):
                break
            task = asyncio.create_task(self._handle(request, pace))
            mine.add(task)
            self._tasks.add(task)
            task.add_done_callback(mine.discard)
            task.add_done_callback(self._tasks.discard)
        while pace.open:
            self._settled.clear()
            await self._settled.wait()

    async def _handle(self, request: Request, pace: Pace) -> None:
        """Ask one request until there is a reply to keep, or a reason to leave it for another run."""
        try:
            reply = await self._ask(request, pace)
        except (_Stopped, asyncio.CancelledError):
            reply = None
        except BaseException as error:
            self._fail(f"{type(error).__name__}: {error}")
            self._end()
            reply = None
        if reply is None:
            self._free(request)
        else:
            # The place stays taken until the reply is stored.
            self._writer.put(request, reply)

    def _free(self, request: Request) -> None:
        self._claimed.discard(request.key)
        self._shared.release([request.key])
        self._paces[request.judge].leave()
        self._settled.set()

    async def _ask(self, request: Request, pace: Pace) -> Reply | None:
        from tenacity import AsyncRetrying, RetryError, retry_if_exception, stop_after_attempt

        kept = self._shared.unstored.get(request.key)
        if kept is not None:
            return kept
        messages = request.messages(self._fence)
        load = load_of(request, messages, self._where[request.judge])
        earlier = self._spent.get(request.key)
        spent = _Attempts(earlier=0 if earlier is None else earlier.calls)
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, CallFailed) and error.mends),
            stop=stop_after_attempt(ATTEMPTS),
            wait=_wait,
            sleep=partial(self._sleep, pace),
        )
        try:
            answer: Answer = await retrying(self._call, request, messages, load, pace, spent)
        except RetryError:
            return request.failure(str(spent.failure), attempts=spent.all)
        except CallFailed as failure:
            if failure.content_policy:
                declined = request.read("", refused=True, alternatives=None)
                return request.reply(declined, str(failure), attempts=spent.all)
            self._stop_judge(request.judge, failure)
            return None
        parsed = request.read(answer.text, refused=answer.refused, alternatives=answer.alternatives)
        return request.reply(
            parsed,
            answer.text[:LONG_REPLY],
            attempts=spent.all,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            cost=self._cost(request, answer),
            seconds=answer.seconds,
        )

    async def _call(
        self, request: Request, messages: list[dict[str, str]], load: Load, pace: Pace, spent: _Attempts
    ) -> Answer:
        """One attempt, if the budget has room for it."""
        await self._reserve(load)
        if request.judge in self._stopped_judges:
            self._purse.release(load)
            raise _Stopped
        begun = asyncio.get_running_loop().time()
        tokens: int | None = None
        cost: float | None = None
        spent.made += 1
        self._tally.calls += 1
        try:
            answer = await client.ask(
                request.judge.model,
                messages,
                request.parameters(),
                where=self._where[request.judge],
                timeout=request.judge.timeout,
            )
            if answer.prompt_tokens is not None:
                tokens = min(answer.prompt_tokens + (answer.completion_tokens or 0), MOST_TOKENS)
                cost = self._cost(request, answer)
            pace.good()
            return answer
        except CallFailed as failure:
            spent.failure = failure
            self._tally.failures[failure.kind] += 1
            if failure.status == 429:
                pace.limited(begun, failure.wait)
            if not failure.billed:
                tokens, cost = 0, 0.0
            raise
        finally:
            used = self._purse.settle(load, tokens=tokens, cost=cost)
            paid = None if load.cost is None else used.cost
            self._writer.spent(Call(key=request.key, tokens=used.tokens, cost=paid))
            self._settled.set()

    async def _reserve(self, load: Load) -> None:
        """Hold back what a call may use, once calls in flight have shown what they used."""
        while True:
            if self._stopping():
                raise _Stopped
            reason = self._purse.reason(load)
            if reason is None:
                self._purse.hold(load)
                return
            if self._purse.idle:
                self._out_of_budget = reason
                self._tally.messages.append(f"Stopped: another call could exceed {reason}")
                for pace in self._paces.values():
                    pace.wake()
                raise _Stopped
            self._settled.clear()
            await self._settled.wait()

    async def _sleep(self, pace: Pace, seconds: float) -> None:
        """Wait before another attempt, and for its turn; a stop ends it."""
        async with pace.aside(self._stopping):
            try:
                await asyncio.wait_for(self._halt.wait(), timeout=seconds * self._patience)
            except TimeoutError:
                return
            raise _Stopped

    def _stop_judge(self, judge: Judge, failure: CallFailed) -> None:
        if judge not in self._stopped_judges:
            self._stopped_judges.add(judge)
            self._tally.messages.append(f"{judge.name} stopped (HTTP {failure.status}): {failure}")
            self._paces[judge].wake()

    def _cost(self, request: Request, answer: Answer) -> float | None:
        price = self._where[request.judge].price
        if price is None or answer.prompt_tokens is None:
            return None
        return answer.prompt_tokens * price[0] + (answer.completion_tokens or 0) * price[1]

    def _stored(self, replies: Sequence[Reply], lost: int) -> None:
        self._known |= {reply.key: reply for reply in replies}
        self._tally.count(replies, wants_confidence=self.job.confidence in ("self", "logprob"))
        if lost:
            self._tally.messages.append(
                f"{lost:,} votes were not stored: there are others of another prompt, model or file"
            )
        self._tell()

    def _broken(self, message: str) -> None:
        message = client.safe(message, self._where.values())
        if message not in self._tally.messages:
            self._tally.messages.append(message)
        self._end()

    def _conclude(self) -> None:
        """What all replies together say: derived verdicts, agreement of repeats, scores and rankings."""
        drawn = conclusions(self.job, self._known)
        if drawn:
            self._ledger.look([reply.key for reply in drawn], {reply.judge for reply in drawn})
            # A verdict drawn from other replies, by another keyed judge say, gives way.
            self._ledger.write([reply for reply in drawn if self._ledger.lacks(reply)], instead=True)
        if self.job.confidence == "multi":
            self._ledger.set_agreement([self.job.voter(judge) for judge in self.job.judges])
        load_rows(self._store, self.job, list(self._known.values()))


def _wait(state: Any) -> float:
    """Seconds before the next attempt: exponential with full jitter, after what the server asks for."""
    from tenacity import wait_random_exponential

    failure = state.outcome.exception()
    drawn = float(wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_BACKOFF)(state))
    # Beside what the server asks for: those that it turned away together do not come back together.
    return drawn + (failure.wait or 0.0)
