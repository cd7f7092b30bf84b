"""Run a job: never pay twice, never lose a reply, never spend more than allowed.

A reply goes into the store's ledger together with its vote, and only then counts and gives its place in
flight back. So whatever happens to the process, at most the calls in flight are lost. A request that another
job of this process has sent is waited for instead of sent.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import AppellateError, InvalidOption
from ..store import Store
from ..store.ledger import Reply, Spent
from . import client
from .caller import Caller, Stopped
from .job import Budget, Job, Judge, Terms
from .ledger_rows import Writer, ledger_of, load_rows
from .limits import NOTHING, in_flight, place
from .plan import Plan, Progress, Rate
from .prompts import Request
from .protocols import conclusions, done, stages


class Run:
    """A job going on in the background of this process."""

    def __init__(
        self,
        job: Job,
        store: Store,
        planned: Plan,
        terms: Terms,
        *,
        patience: float,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.job = job
        self.job_id = planned.job_id
        self._store = store
        self._on_progress = on_progress
        self._rate = Rate()
        self._known: dict[str, Reply] = {}
        self._spent: dict[str, Spent] = {}
        self._in_flight = in_flight(place(store))
        self._claimed: set[str] = set()
        self._finished = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ledger = ledger_of(job, store)
        self._writer = Writer(
            self._ledger,
            self._in_flight,
            stored=self._stored,
            settled=self._free,
            broken=self._broken,
            patience=patience,
        )
        self._caller = Caller(planned, terms, spent=self._writer.spent, patience=patience)
        self._progress = self._caller.progress

    def progress(self) -> Progress:
        """A snapshot of how far it is."""
        now, rate = self._progress, self._rate.per_second()
        return replace(
            now,
            statuses=Counter(now.statuses),
            failures=Counter(now.failures),
            in_flight=sum(limit.in_flight for limit in self._caller.limits.values()),
            limit=sum(limit.limit for limit in self._caller.limits.values()),
            rate=rate,
            seconds_left=(now.left - now.statuses["error"]) / rate if rate > 0 else None,
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
            self._caller.tracker.budget = budget
            self._caller.settled.notify()

    def _stop(self, at_once: bool) -> None:
        if self._progress.state == "running":
            self._progress.state = "stopping"
        self._end()
        if at_once:
            for task in self._tasks:
                task.cancel()

    def _end(self) -> None:
        """Send nothing more."""
        self._caller.stop()
        self._in_flight.notify()

    async def run(self) -> None:
        """All stages of the job; called once, on the loop."""
        progress = self._progress
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
                    "process ends; the job started again stores them without another call"
                )
            await asyncio.to_thread(self._conclude)
            if progress.state != "failed":
                progress.state = "done" if not progress.left or not self._caller.stopping() else "stopped"
        except AppellateError as error:
            self._fail(error.message)
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            self._finished.set()
            self._report()

    def _fail(self, message: str) -> None:
        self._caller.say(message)
        self._progress.state = "failed"

    def _report(self) -> None:
        if self._on_progress is not None:
            self._on_progress(self.progress())

    async def _stage(self, requests: Sequence[Request]) -> None:
        """Get a reply to every request of one stage: out of the store, from another job, or by a call."""
        left = {request.key: request for request in requests}
        self._progress.planned += len(left)
        self._spent = await asyncio.to_thread(self._ledger.spent, left)
        for spent in self._spent.values():
            self._caller.tracker.spend(spent)
            self._progress.calls += spent.calls
        while left:
            mine = [request for key, request in left.items() if self._in_flight.claim(key)]
            if mine:
                self._claimed |= {request.key for request in mine}
                try:
                    await self._send_all(mine)
                finally:
                    self._in_flight.release(self._claimed)
                    self._claimed.clear()
            if self._caller.stopping():
                return
            if not mine:
                await self._in_flight.changed()
            for request in mine:
                del left[request.key]

    async def _send_all(self, mine: Sequence[Request]) -> None:
        """Send what has no reply yet of requests that no other job has in flight."""
        # Looked up after they were claimed: what another job got until then is there.
        await self._take_over(mine)
        by_judge = defaultdict(list)
        for request in mine:
            if not done(self._known.get(request.key)):
                by_judge[request.judge].append(request)
        self._report()
        await asyncio.gather(*(self._dispatch(judge, each) for judge, each in by_judge.items()))

    async def _take_over(self, requests: Sequence[Request]) -> None:
        """Know what the store has of these replies, and give the data set those that it lacks."""
        keys = [request.key for request in requests]
        voters = {request.voter for request in requests if request.task == "vote"}
        found = await asyncio.to_thread(self._ledger.answered, keys)
        await asyncio.to_thread(self._ledger.look, keys, voters)
        lacking = [reply for reply in found.values() if done(reply) and self._ledger.lacks(reply)]
        if lacking:
            await asyncio.to_thread(self._ledger.write, lacking)
        self._known |= found
        for reply in found.values():
            self._progress.add(reply)

    async def _dispatch(self, judge: Judge, requests: Sequence[Request]) -> None:
        """Send a judge its requests as places become free, then wait for the last reply."""
        limit = self._caller.limits[judge]
        for request in requests:
            if not await limit.enter(lambda: self._caller.stopping(judge)):
                break
            task = asyncio.create_task(self._handle(request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        while limit.open:
            await self._caller.settled.changed()

    async def _handle(self, request: Request) -> None:
        """Store the reply to one request, or leave it for another run."""
        reply = self._in_flight.unstored.get(request.key)
        try:
            if reply is None:
                reply = await self._caller.reply(request, self._spent.get(request.key, NOTHING))
        except (Stopped, asyncio.CancelledError):
            pass
        except BaseException as error:
            self._fail(f"{type(error).__name__}: {error}")
            self._end()
        if reply is None:
            self._free(request)
        else:
            # The place stays taken until the reply is stored.
            self._writer.put(request, reply)

    def _free(self, request: Request) -> None:
        self._claimed.discard(request.key)
        self._in_flight.release([request.key])
        self._caller.limits[request.judge].leave()
        self._caller.settled.notify()

    def _stored(self, replies: Sequence[Reply], lost: int) -> None:
        wants_confidence = self.job.confidence in ("self", "logprob")
        for reply in replies:
            self._known[reply.key] = reply
            self._progress.add_new(reply, wants_confidence=wants_confidence)
        self._rate.add(len(replies))
        if lost:
            there = "there are others of another prompt, model or file"
            self._caller.say(f"{lost:,} votes were not stored: {there}")
        self._report()

    def _broken(self, message: str) -> None:
        if message not in self._progress.messages:
            self._caller.say(message)
        self._end()

    def _conclude(self) -> None:
        """What all replies together say: derived verdicts, agreement of repeats, scores and rankings."""
        drawn = conclusions(self.job, self._known)
        if drawn:
            self._ledger.look([reply.key for reply in drawn], {reply.judge for reply in drawn})
            # A verdict drawn from other replies, by another keyed judge say, gives way.
            self._ledger.write([reply for reply in drawn if self._ledger.lacks(reply)], instead=True)
        if self.job.confidence == "multi":
            self._ledger.set_agreement(self.job.voters)
        load_rows(self._store, self.job, list(self._known.values()))
