"""Run a job: never pay twice, never lose a reply, never spend more than allowed.

A reply goes into the store's ledger together with its vote, in one transaction with those that arrived
meanwhile, and only then counts and gives its place in flight back. So whatever happens to the process, at
most the calls in flight are lost.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.judging import client
from core.judging.client import Answer, CallFailed
from core.judging.collected import load_rows
from core.judging.job import MAX_CONCURRENCY, Budget, Job, Judge
from core.judging.pace import Load, Pace, Purse
from core.judging.planning import Plan, check_budget, done, ledger_of, load_of, plan
from core.judging.progress import Progress, State, Tally
from core.judging.prompts import new_fence
from core.judging.protocols import conclusions, stages
from core.judging.requests import Request
from core.store import Store
from core.store.replies import Reply
from core.votes import AppellateError, InvalidOption

ATTEMPTS = 6
"""Calls for one request before it is kept as a failed one, to be asked again by the next run."""
FIRST_WAIT, LONGEST_BACKOFF = 0.5, 30.0
"""Seconds; waits double between attempts, with full jitter."""
LONG_REPLY = 200_000
"""Characters of a reply that are kept."""


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
        self._stopped_judges: set[Judge] = set()
        self._out_of_budget: str | None = None
        most = max(1, concurrency // len(planned.destinations))
        self._paces = {judge: Pace(most) for judge in planned.destinations}
        self._arrived: asyncio.Queue[tuple[Request, Reply] | None] = asyncio.Queue()
        self._settled = asyncio.Event()
        self._halt = asyncio.Event()
        self._finished = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ledger = ledger_of(job, store)

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

    def _stop(self, at_once: bool) -> None:
        if self._state == "running":
            self._state = "stopping"
        self._halt.set()
        self._settled.set()
        for pace in self._paces.values():
            pace.wake()
        if at_once:
            for task in self._tasks:
                task.cancel()

    def _stopping(self) -> bool:
        return self._halt.is_set() or self._out_of_budget is not None

    async def run(self) -> None:
        """All stages of the job; called once, on the loop."""
        try:
            writer = asyncio.create_task(self._write())
            try:
                for stage in await asyncio.to_thread(stages, self.job, self._store):
                    await self._stage(stage(self._known))
            finally:
                await self._arrived.put(None)
                await writer
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
        """Ask everything of one stage that has no answer yet."""
        found = await asyncio.to_thread(self._ledger.answered, [request.key for request in requests])
        self._known |= found
        for reply in found.values():
            self._tally.remember(reply)
            self._purse.remember(reply)
        self._tally.planned += len(requests)
        await asyncio.to_thread(self._restore, requests)
        left = defaultdict(list)
        for request in requests:
            if not done(self._known, request):
                left[request.judge].append(request)
        self._tell()
        await asyncio.gather(*(self._dispatch(judge, asked) for judge, asked in left.items()))

    def _restore(self, requests: Sequence[Request]) -> None:
        """Votes whose replies are kept but which are gone, or which a killed process did not write."""
        votes = [self._known[r.key] for r in requests if r.task == "vote" and r.key in self._known]
        taken = self._ledger.taken({reply.judge for reply in votes}) if votes else set()
        gone = [v for v in votes if (v.pair, v.judge, v.run, v.position) not in taken]
        if gone:
            self._ledger.write((), again=gone)

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
        while pace.in_flight:
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
            self._halt.set()
            reply = None
        if reply is None:
            self._free(request)
        else:
            # The place stays taken until the reply is stored.
            await self._arrived.put((request, reply))

    def _free(self, request: Request) -> None:
        self._paces[request.judge].leave()
        self._settled.set()

    async def _ask(self, request: Request, pace: Pace) -> Reply | None:
        from tenacity import AsyncRetrying, RetryError, retry_if_exception, stop_after_attempt

        messages = request.messages(self._fence)
        load = load_of(request, messages, self._where[request.judge])
        earlier = self._known.get(request.key)
        spent = _Attempts(earlier=0 if earlier is None else earlier.attempts)
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, CallFailed) and error.mends),
            stop=stop_after_attempt(ATTEMPTS),
            wait=_wait,
            sleep=self._sleep,
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
                tokens = answer.prompt_tokens + (answer.completion_tokens or 0)
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
            self._purse.settle(load, tokens=tokens, cost=cost)
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

    async def _sleep(self, seconds: float) -> None:
        """Wait before another attempt; a stop ends it."""
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

    async def _write(self) -> None:
        """Store replies as they come, all that wait in one transaction; then they count."""
        failed = False
        while (first := await self._arrived.get()) is not None:
            group = [first]
            while not self._arrived.empty():
                following = self._arrived.get_nowait()
                if following is None:
                    self._arrived.put_nowait(None)
                    break
                group.append(following)
            replies = [reply for _, reply in group]
            if not failed:
                try:
                    await asyncio.to_thread(self._ledger.write, replies)
                except Exception as error:
                    failed = True
                    self._fail(str(error))
                    self._halt.set()
                else:
                    self._known |= {reply.key: reply for reply in replies}
                    self._tally.count(replies, wants_confidence=self.job.confidence in ("self", "logprob"))
                    self._tell()
            for request, _ in group:
                self._free(request)
        if failed:
            raise AppellateError(self._tally.messages[-1])

    def _conclude(self) -> None:
        """What all replies together say: derived verdicts, agreement of repeats, scores and rankings."""
        drawn = conclusions(self.job, self._known)
        if drawn:
            stored = self._ledger.answered(reply.key for reply in drawn)
            taken = self._ledger.taken({reply.judge for reply in drawn})
            fresh = [reply for reply in drawn if reply.key not in stored]
            self._ledger.write(
                fresh,
                again=[
                    r for r in drawn if r.key in stored and (r.pair, r.judge, r.run, r.position) not in taken
                ],
            )
        if self.job.confidence == "multi":
            self._ledger.set_agreement([self.job.voter(judge) for judge in self.job.judges])
        load_rows(self._store, self.job, list(self._known.values()))


def _wait(state: Any) -> float:
    """Seconds before the next attempt: exponential with full jitter, and no less than the server asks for."""
    from tenacity import wait_random_exponential

    failure = state.outcome.exception()
    drawn = float(wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_BACKOFF)(state))
    return max(drawn, failure.wait or 0.0)


_RUNS: dict[tuple[str, str], Run] = {}
_STARTING = threading.Lock()


def start(
    job: Job,
    store: Store,
    *,
    concurrency: int = 16,
    budget: Budget | None = None,
    confirmed: Iterable[str] = (),
    keys: dict[str, str] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    patience: float = 1.0,
) -> Run:
    """Start a job, or find it where it is running already, and return without waiting for it.

    Parameters
    ----------
    concurrency : calls in flight at most, shared by the judges: 1 to 64.
    budget : hard limits over all runs of the job.
    confirmed : hosts other than this machine and known providers that texts may be sent to.
    keys : environment name → key, looked up before the environment (for a page's secrets); never stored.
    on_progress : called on the run's own thread after each group of replies is stored.
    patience : factor on waits between attempts.

    Raises
    ------
    InvalidOption, NotConfirmed, TooFewLabels, NoUsableVotes, UnreadableFile : as `plan`, before anything is
        sent; also a concurrency out of range, or a limit in money without a price.
    """
    if not 1 <= concurrency <= MAX_CONCURRENCY:
        raise InvalidOption(f"{concurrency} calls at once: 1 to {MAX_CONCURRENCY}")
    budget = budget or Budget()
    with _STARTING:
        planned = plan(job, store, confirmed=confirmed, keys=keys)
        check_budget(job, planned.destinations, budget.cost)
        going = running(store, planned.job_id)
        if going is not None:
            return going
        made = Run(
            job,
            store,
            planned,
            concurrency=concurrency,
            budget=budget,
            patience=patience,
            on_progress=on_progress,
        )
        _RUNS[_place(store, planned.job_id)] = made
        asyncio.run_coroutine_threadsafe(made.run(), client.loop())
    return made


def running(store: Store, job_id: str) -> Run | None:
    """The run of a job in this process, if it is going on."""
    found = _RUNS.get(_place(store, job_id))
    return found if found is not None and not found.progress().finished else None


def runs(store: Store) -> list[Run]:
    """Runs on this store that this process started, finished ones too, oldest first."""
    where = _place(store, "")[0]
    return [run for (place, _), run in _RUNS.items() if place == where]


def _place(store: Store, job_id: str) -> tuple[str, str]:
    return (str(store.path) if store.path is not None else f"memory {id(store)}", job_id)
