"""Run a job: never pay twice, never lose a reply, never spend more than allowed.

A reply goes into the store's ledger together with its vote, and only then counts and gives its
place in flight back. So whatever happens to the process, at most the calls in flight are lost. A
request that another job of this process has sent is waited for instead of sent.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from ..errors import AppellateError, InvalidOption
from ..store import Store, batches
from ..store.batches import Batch
from ..store.ledger import Call, Reply, Spent
from . import client
from .batch import Batches
from .caller import Caller, Stopped
from .job import Budget, Job, Judge, Terms
from .ledger_rows import Writer, ledger_of, load_rows
from .limits import NOTHING, in_flight, place
from .plan import ENOUGH, Plan, Progress, Rate, most
from .prompts import Request, new_fence
from .protocols import conclusions, done, stages
from .spare import spare

USED = ("attempts", "prompt_tokens", "completion_tokens", "cost", "seconds", "temperature")
"""What a reply that is read again keeps."""


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
        self._judge_of: dict[str, str] = {}
        self._in_flight = in_flight(place(store))
        self._spare = spare(store)
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
            spare=self._spare,
            most_at_once=self._most_at_once,
            patience=patience,
        )
        self._caller = Caller(
            planned,
            terms,
            spent=self._writer.spent,
            recorded=self._writer.recorded,
            patience=patience,
        )
        self.terms = terms
        self._new, self._new_cost = 0, 0.0
        self._to_repair: dict[str, Reply] = {}
        self._unfinished: set[str] = set()
        self._progress = self._caller.progress
        self._progress.longest = max(judge.max_tokens for judge in job.models)

    def progress(self) -> Progress:
        """A snapshot of how far it is."""
        now, rate = self._progress, self._rate.per_second()
        return replace(
            now,
            statuses=Counter(now.statuses),
            failures=Counter(now.failures),
            judges={
                name: replace(share, statuses=Counter(share.statuses))
                for name, share in now.judges.items()
            },
            in_flight=sum(limit.in_flight for limit in self._caller.limits.values()),
            limit=sum(limit.limit for limit in self._caller.limits.values()),
            rate=rate,
            charged=None if now.cost is None else self._caller.tracker.spent.cost,
            likely=self._likely(),
            seconds_left=(now.left - now.statuses["error"]) / rate if rate > 0 else None,
        )

    def _likely(self) -> float | None:
        now = self._progress
        if now.cost is None or self._new < ENOUGH:
            return None
        return now.cost + self._new_cost / self._new * now.left

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
                "The same requests are going on with other settings. Wait until that run ends, or "
                "stop it"
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
        self._in_flight.runs += 1
        try:
            await self._recall()
            writer = asyncio.create_task(self._writer.run())
            try:
                for stage in await asyncio.to_thread(stages, self.job, self._store):
                    await self._stage(stage(self._known))
            finally:
                self._writer.close()
                await writer
            if self._writer.unstored:
                raise AppellateError(self._without_room())
            await asyncio.to_thread(self._conclude)
            if progress.state != "failed":
                progress.state = (
                    "done" if not progress.left or not self._caller.stopping() else "stopped"
                )
        except AppellateError as error:
            self._fail(error.message)
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            self._in_flight.runs -= 1
            self._tidy()
            self._finished.set()
            self._report()

    async def _recall(self) -> None:
        """Know of replies that an earlier process paid for and had no room to store."""
        shared = self._in_flight
        async with shared.counting:
            if self._spare is None or shared.looked:
                return
            replies, calls = await asyncio.to_thread(self._spare.read)
            shared.unstored |= {reply.key: reply for reply in replies}
            shared.unrecorded += calls
            shared.looked = True

    def _tidy(self) -> None:
        """Give back the room beside the store, unless a job needs it or replies are in it."""
        shared = self._in_flight
        if self._spare is not None and not (shared.runs or shared.unstored or shared.unrecorded):
            self._spare.remove()

    def _without_room(self) -> str:
        unstored, shared = self._writer.unstored, len(self._in_flight.unstored)
        again = (
            "the same job, started again with room on the disk, stores them without another call"
        )
        if self._spare is not None and self._writer.spared >= shared:
            return f"{unstored:,} replies could not be stored. {self._spare.path} has them: {again}"
        return (
            f"{unstored:,} replies could not be stored. They are kept until this process ends: "
            f"{again}"
        )

    def _fail(self, message: str) -> None:
        self._caller.say(message)
        self._progress.state = "failed"

    def _report(self) -> None:
        if self._on_progress is not None:
            self._on_progress(self.progress())

    def _most_at_once(self) -> int:
        return min(
            sum(limit.limit for limit in self._caller.limits.values()),
            self._caller.places,
            self._progress.left,
        )

    async def _stage(self, requests: Sequence[Request]) -> None:
        """Get a reply to every request of one stage: out of the store, from another job, or by a
        call.
        """
        left = {request.key: request for request in requests}
        self._progress.planned += len(left)
        self._judge_of |= {request.key: request.judge.name for request in requests}
        for request in left.values():
            self._progress.share(request.judge.name).planned += 1
        async with self._in_flight.counting:
            self._spent = self._in_flight.made(await asyncio.to_thread(self._ledger.spent, left))
        for key, spent in self._spent.items():
            self._caller.tracker.spend(spent)
            self._caller.trackers[left[key].judge].spend(spent)
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
        waiting = await asyncio.to_thread(
            batches.waiting, self._store, [request.key for request in mine]
        )
        wait = {key for batch in waiting for key in batch.calls}
        await self._take_over(mine, wait)
        by_judge = defaultdict(list)
        for request in mine:
            if request.key not in wait and not done(self._known.get(request.key), self.terms.again):
                by_judge[request.judge].append(request)
        self._report()
        if self.terms.reread:
            return
        handed_in = self._hand_in(waiting, {request.key: request for request in mine}, by_judge)
        leased = self._leased(by_judge)
        if leased:
            if self._spare is not None:
                longest = max(judge.max_tokens for judge in by_judge)
                replies = len(leased) + len(self._in_flight.unstored)
                await asyncio.to_thread(self._spare.reserve, replies, longest)
            async with self._in_flight.counting:
                await asyncio.to_thread(self._ledger.lease, leased)
                self._in_flight.leased += leased
        try:
            sent = (self._dispatch(judge, each) for judge, each in by_judge.items())
            await asyncio.gather(*handed_in, *sent)
            await self._repair_stored(mine)
        finally:
            await self._writer.recorded()
            if leased:
                async with self._in_flight.counting:
                    await asyncio.to_thread(self._ledger.release, leased)
                    for call in leased:
                        self._in_flight.leased.remove(call)

    def _hand_in(
        self,
        waiting: Sequence[Batch],
        request_of: dict[str, Request],
        by_judge: dict[Judge, list[Request]],
    ) -> list[Awaitable[None]]:
        """What fetches the batches that wait, and hands in what is taken out of `by_judge`."""
        earlier = defaultdict(list)
        for batch in waiting:
            earlier[request_of[next(iter(batch.calls))].judge].append(batch)
        fresh = (
            {judge: by_judge.pop(judge) for judge in tuple(by_judge)} if self.terms.batch else {}
        )
        return [
            self._batched(judge, fresh.get(judge, []), earlier[judge], request_of)
            for judge in {**earlier, **fresh}
        ]

    async def _batched(
        self,
        judge: Judge,
        requests: Sequence[Request],
        waiting: Sequence[Batch],
        request_of: dict[str, Request],
    ) -> None:
        made = Batches(
            self._caller,
            self._store,
            self.job.dataset,
            self.terms,
            ledger=self._ledger,
            replies=self._known,
            spent=self._spent,
            stored=self._stored,
        )
        task = asyncio.create_task(made.run(judge, requests, waiting, request_of))
        self._tasks.add(task)
        try:
            await task
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self._fail(f"{type(error).__name__}: {error}")
            self._end()

    def _leased(self, by_judge: Mapping[Judge, Sequence[Request]]) -> list[Call]:
        """A call, at its most, for each place in flight: they count if this process is killed.

        A place is given back once what was called in it is stored, so no more calls can be unknown.
        """
        calls: list[Call] = []
        total = self._caller.tracker.room(self._caller.places)
        for judge, requests in by_judge.items():
            where = self._caller.where[judge]
            places = self._caller.trackers[judge].room(
                min(len(requests), self._caller.limits[judge].most)
            )
            longest = max(
                requests,
                key=lambda each: len(each.item.prompt) + sum(map(len, each.item.responses)),
            )
            bound = most(longest, longest.messages(new_fence()), where)
            cost = None if where.price is None else bound.cost
            calls += [
                Call(key=request.key, tokens=bound.tokens, cost=cost)
                for request in requests[: min(places, total - len(calls))]
            ]
        return calls

    async def _take_over(self, requests: Sequence[Request], wait: Collection[str]) -> None:
        """Know what the store has of these replies, and give the data set those that it lacks.

        wait : keys of those that wait in a batch, for a better reply if there is one.
        """
        keys = [request.key for request in requests]
        voters = {request.voter for request in requests if request.task == "vote"}
        stored = await asyncio.to_thread(self._ledger.answered, keys)
        await asyncio.to_thread(self._ledger.look, keys, voters)
        lacking = [reply for reply in stored.values() if done(reply) and self._ledger.lacks(reply)]
        if lacking:
            await asyncio.to_thread(self._ledger.write, lacking)
        self._known |= stored
        if self.terms.reread:
            await self._read_again(requests)
        for request in requests:
            if request.key in stored:
                kept = self._known[request.key]
                if kept.status == "ok":
                    self._caller.limits[request.judge].widen()
                again = (kept.status,) if request.key in wait else self.terms.again
                self._progress.add(kept, request.judge.name, again)

    async def _read_again(self, requests: Sequence[Request]) -> None:
        """Read stored replies without a verdict again; a verdict that is there stays as it is."""
        better = []
        for request in requests:
            kept = self._known.get(request.key)
            if kept is not None and kept.status in ("unparsed", "cut_off"):
                parsed = request.read(
                    kept.raw, refused=False, alternatives=None, cut_off=kept.status == "cut_off"
                )
                if parsed.status not in ("unparsed", "cut_off"):
                    better.append(
                        replace(
                            request.reply(parsed, kept.raw), **{n: getattr(kept, n) for n in USED}
                        )
                    )
        if better:
            await asyncio.to_thread(self._ledger.write, better)
        self._known |= {reply.key: reply for reply in better}
        self._progress.statuses.update(reply.status for reply in better)
        self._caller.say(f"{len(better):,} stored replies were read anew, without a call")

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
        await self._writer.recorded()
        final = self._caller.finals(judge)
        if final:
            await asyncio.to_thread(self._ledger.write, final)
            self._known |= {reply.key: reply for reply in final}
            self._progress.fail(final, judge.name)
            self._report()

    async def _handle(self, request: Request) -> None:
        """Store the reply to one request, or leave it for another run."""
        reply = self._in_flight.unstored.get(request.key) or self._to_repair.get(request.key)
        try:
            if reply is None:
                reply = await self._caller.reply(request, self._spent.get(request.key, NOTHING))
            if reply is not None:
                reply = await self._repaired(request, reply)
        except (Stopped, asyncio.CancelledError):
            pass
        except BaseException as error:
            self._fail(f"{type(error).__name__}: {error}")
            self._end()
        # A call for a better reply that failed takes nothing away.
        if reply is None or (reply.status == "error" and done(self._known.get(request.key))):
            self._free(request)
        else:
            # The place stays taken until the reply is stored.
            self._writer.put(request, reply)

    async def _repaired(self, request: Request, reply: Reply) -> Reply:
        """The reply with what its model says of it, if it could not be read. It is stored before
        that is asked, so that it is never paid twice.
        """
        repair = self._caller.repair_of(request, reply)
        if repair is None:
            return reply
        if request.key not in self._to_repair:
            self._unfinished.add(request.key)
            try:
                await self._writer.keep(reply)
            finally:
                self._unfinished.discard(request.key)
        answer = await self._caller.reply(repair, NOTHING)
        if answer is None or answer.status not in ("ok", "refused", "unparsed", "cut_off"):
            return reply
        # What both calls used stands beside the reply that they are about.
        self._writer.add(replace(answer, cost=None, prompt_tokens=None, completion_tokens=None))
        return self._caller.repaired(request, reply, answer)

    async def _repair_stored(self, mine: Sequence[Request]) -> None:
        """Ask about replies that were stored without a verdict, from a batch or an earlier run, and
        that nobody has asked about.
        """
        repairs: dict[str, Request] = {}
        for request in mine:
            kept = self._known.get(request.key)
            repair = None if kept is None else self._caller.repair_of(request, kept)
            if repair is not None:
                repairs[repair.key] = request
        answered = await asyncio.to_thread(self._ledger.answered, repairs) if repairs else {}
        by_judge = defaultdict(list)
        for key, request in repairs.items():
            if not done(answered.get(key)):
                self._to_repair[request.key] = self._known[request.key]
                by_judge[request.judge].append(request)
        if by_judge:
            await asyncio.gather(*(self._dispatch(judge, each) for judge, each in by_judge.items()))

    def _free(self, request: Request) -> None:
        self._claimed.discard(request.key)
        self._in_flight.release([request.key])
        self._caller.limits[request.judge].leave()
        self._caller.settled.notify()

    def _stored(self, replies: Sequence[Reply], lost: int) -> None:
        wants_confidence = self.job.confidence in ("self", "logprob")
        for reply in replies:
            if reply.key not in self._judge_of or reply.key in self._unfinished:
                continue
            if reply.key in self._to_repair:
                self._known[reply.key] = reply
                self._progress.statuses[reply.status] += reply.status != "unparsed"
                continue
            self._new += 1
            self._new_cost += reply.cost or 0.0
            self._known[reply.key] = reply
            self._progress.add_new(
                reply, self._judge_of[reply.key], wants_confidence=wants_confidence
            )
        self._rate.add(len(replies))
        if lost:
            self._caller.say(
                f"{lost:,} votes were not stored: there are others of another prompt, model or file"
            )
        self._report()

    def _broken(self, message: str) -> None:
        if message not in self._progress.messages:
            self._caller.say(message)
        self._end()

    def _conclude(self) -> None:
        """What all replies together say: derived verdicts, agreement of repeats, scores and
        rankings.
        """
        drawn = conclusions(self.job, self._known)
        if drawn:
            self._ledger.look([reply.key for reply in drawn], {reply.judge for reply in drawn})
            # A verdict drawn from other replies, by another keyed judge say, gives way.
            self._ledger.write(
                [reply for reply in drawn if self._ledger.lacks(reply)], instead=True
            )
        if self.job.confidence == "multi":
            self._ledger.set_agreement(self.job.voters)
        load_rows(self._store, self.job, list(self._known.values()))
