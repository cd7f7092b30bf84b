"""One request until there is a reply to keep: attempts, the budget for each call, and what calls
used.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import Any

from ..finding.wording import one_line
from ..store.ledger import Call, Reply, Spent
from . import client
from .client import Answer, CallFailed
from .endpoint import Destination
from .job import Judge, Terms
from .limits import AdaptiveLimit, BudgetTracker, ConcurrencyLimit, Signal
from .plan import Plan, Progress, most
from .prompts import THOUGHTS, Request, new_fence
from .reading import LONG_REPLY
from .scrubbing import safe

ATTEMPTS = 6
"""Calls for one request before it is kept as a failed one, to be sent again by the next run."""
SCHEMA = "response_format"
"""The parameter that asks for a reply in a schema."""
FIRST_WAIT, LONGEST_BACKOFF = 0.5, 30.0
"""Seconds; waits double between attempts, with full jitter."""
MUTE_IN_A_ROW = 20
"""Replies in a row without a verdict after which a judge is asked no more."""
MUTE_OF_FIRST, FIRST = 30, 40
"""Replies without a verdict, of the first ones of a run, after which a judge is asked no more."""
REPAIRS_LOST = 5
"""Questions about replies in a row without an answer after which no more are asked."""
UNTRIED_AT_ONCE = 8
"""Calls in flight, at most, of a judge that has given no verdict yet."""
SHOWN_REPLY = 300
"""Characters that are shown of a reply."""
CHANGES = {
    "cut_off": "Let its replies be longer",
    "refused": "Change the prompt, or take a model that answers it",
    "unparsed": "Say in the prompt how the verdict is to be written, or take a model that keeps to "
    "a form",
}
"""What to change where replies have no verdict, by their status."""


SUMMED = ("prompt_tokens", "completion_tokens", "cost", "seconds")
"""What is used by a reply and the question about it together."""


class Stopped(Exception):
    """The request is left for another run."""


class Heard:
    """What a judge has said in this run: the statuses of its replies, how many of the last ones had
    no verdict, and the last two of those.
    """

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.in_a_row = 0
        self.last: deque[str] = deque(maxlen=2)

    def add(self, status: str, text: str) -> None:
        """Count a reply, of which one without a verdict is shown."""
        self.statuses[status] += 1
        if status == "ok":
            self.in_a_row = 0
        else:
            self.in_a_row += 1
            self.last.append(text)

    @property
    def mute(self) -> str | None:
        """Why the judge is to be asked no more, its last replies, and what to change; None if it
        gives verdicts.
        """
        replies = self.statuses.total()
        without = replies - self.statuses["ok"]
        if self.in_a_row >= MUTE_IN_A_ROW:
            why = f"{self.in_a_row} replies in a row without a verdict"
        elif without >= MUTE_OF_FIRST and replies <= FIRST:
            why = f"{without} of its first {replies} replies without a verdict"
        else:
            return None
        shown = " and ".join(
            f"“{text[:SHOWN_REPLY]}{'…' if len(text) > SHOWN_REPLY else ''}”"
            for text in (one_line(each).strip() or "(nothing)" for each in self.last)
        )
        usual = max(CHANGES, key=lambda status: self.statuses[status])
        return f"{why}). The last two: {shown}. {CHANGES[usual]}, and start again"


class Caller:
    """Makes the calls of a run, within its budget and the limits of its judges, and counts them.

    planned, terms : of the job.  spent : called with what each call used; recorded : waits until
        that is stored.
    patience : factor on waits between attempts.
    """

    def __init__(
        self,
        planned: Plan,
        terms: Terms,
        *,
        spent: Callable[[Call], None],
        recorded: Callable[[], Awaitable[None]],
        patience: float,
    ) -> None:
        self.where = planned.destinations
        each = max(1, terms.concurrency // len(self.where))
        places = {judge: judge.concurrency or each for judge in self.where}
        alike = all(judge.concurrency is None for judge in self.where)
        self.places = terms.concurrency if alike else sum(places.values())
        shared = ConcurrencyLimit(self.places)
        self.limits = {
            judge: AdaptiveLimit(most, shared, first=UNTRIED_AT_ONCE)
            for judge, most in places.items()
        }
        self.tracker = BudgetTracker(terms.budget)
        self.trackers = {judge: BudgetTracker(judge.budget) for judge in self.where}
        self.progress = Progress(
            cost=None if planned.cost is None else 0.0,
            unpriced=tuple(j.name for j, place in self.where.items() if place.price is None),
        )
        self.settled = Signal()
        self._spent = spent
        self._patience = patience
        self._fence = new_fence()
        self._halts = {judge: asyncio.Event() for judge in self.where}
        self._halted = self._out_of_budget = False
        self._give_up = terms.give_up
        self._in_a_row: Counter[Judge] = Counter()
        self._heard: dict[Judge, Heard] = defaultdict(Heard)
        self._repairs = terms.repair
        self._lost_repairs: Counter[Judge] = Counter()
        self.answering: set[Judge] = set()
        """Judges that have answered in this run."""
        self.rejected: dict[Judge, list[Reply]] = defaultdict(list)
        """Replies for requests that a server rejects one by one."""
        self._told: set[tuple[Judge, str]] = set()
        self.without: dict[Judge, set[str]] = defaultdict(set)
        self._recorded = recorded

    def stop(self) -> None:
        """Make no further call."""
        self._halted = True
        for halt in self._halts.values():
            halt.set()
        self._wake()

    def stopping(self, judge: Judge | None = None) -> bool:
        """Whether no further call is made, or none to this judge."""
        return (
            self._halted
            or self._out_of_budget
            or (judge is not None and self._halts[judge].is_set())
        )

    async def reply(self, request: Request, earlier: Spent) -> Reply | None:
        """Send a request until it is answered; None if its judge does not serve it.

        earlier : what calls for it have used in other runs.

        Raises Stopped if it is left for another run.
        """
        messages, calls, attempt = request.messages(self._fence), earlier.calls, 0
        tried: set[str] = set()
        while True:
            calls, attempt = calls + 1, attempt + 1
            try:
                answer = await self._call(request, messages, tried)
                break
            except CallFailed as failure:
                if failure.mends and attempt < ATTEMPTS:
                    await self._sleep(request.judge, _wait(attempt, failure))
                    continue
                if not self.leave_out(request, failure) and not self._without_schema(
                    request, failure, tried
                ):
                    return self.failed(request, failure, calls)
                attempt = 0
                await self._recorded()
        if tried:
            # It answers without what it did not name, so that was it.
            self.without[request.judge] |= tried
            self.say(f"{request.judge.name} keeps to no schema (response_format); it is left out")
        return self.read(
            request, answer, calls, self.where[request.judge], self.without[request.judge]
        )

    def _without_schema(self, request: Request, failure: CallFailed, tried: set[str]) -> bool:
        """Whether to try a rejected request without its schema: some servers that know none say
        only that it is bad.
        """
        judge = request.judge
        if not failure.item or judge in self.answering or tried:
            return False
        tried |= {SCHEMA} & set(self.parameters(request))
        return bool(tried)

    def read(
        self,
        request: Request,
        answer: Answer,
        calls: int,
        where: Destination,
        left_out: Collection[str],
    ) -> Reply:
        """The reply that an answer makes; left_out : parameters that its call went without."""
        parsed = request.read(
            answer.text,
            refused=answer.refused,
            alternatives=answer.alternatives,
            cut_off=answer.cut_off,
        )
        kept = (THOUGHTS.format(answer.reasoning) if answer.reasoning else "") + answer.text
        reply = request.reply(
            parsed,
            kept[:LONG_REPLY],
            attempts=calls,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            cost=where.cost(answer.paid_tokens, answer.completion_tokens),
            seconds=answer.seconds,
        )
        # Votes drawn at a temperature that nobody set are not stored as if at the one that was
        # asked for.
        reply = replace(reply, temperature=None) if "temperature" in left_out else reply
        if not request.repairs and self.repair_of(request, reply) is None:
            self.hear(request.judge, reply)
        return reply

    def repair_of(self, request: Request, reply: Reply) -> Request | None:
        """The question what a reply says that could not be read, if one is to be asked."""
        lost = self._lost_repairs[request.judge] >= REPAIRS_LOST
        if reply.status != "unparsed" or lost or not self._repairs:
            return None
        return request.repair(reply.raw)

    def repaired(self, request: Request, first: Reply, answer: Reply) -> Reply:
        """The reply with what the model answered about it, and with what both calls used."""
        judge = request.judge
        self._lost_repairs[judge] = (
            self._lost_repairs[judge] + 1 if answer.status == "unparsed" else 0
        )
        reply = replace(
            first,
            attempts=first.attempts + answer.attempts,
            **{name: _sum(getattr(first, name), getattr(answer, name)) for name in SUMMED},
        )
        if answer.status in ("ok", "refused"):
            body = json.dumps({**json.loads(answer.body or "{}"), "read_by": "repair"})
            reply = replace(reply, status=answer.status, vote=answer.vote, body=body)
        self.hear(judge, reply)
        return reply

    def hear(self, judge: Judge, reply: Reply) -> None:
        """Count a paid reply; a judge that comes to no verdict is asked no more."""
        heard = self._heard[judge]
        heard.add(reply.status, reply.raw)
        if reply.status == "ok":
            self.limits[judge].widen()
        elif why := heard.mute:
            self.stop_judge(judge, why)

    def failed(self, request: Request, failure: CallFailed, calls: int) -> Reply | None:
        """The reply that stands for a failure of one request; None if its judge is not asked any
        more.
        """
        if failure.content_policy:
            return request.reply(
                request.read("", refused=True, alternatives=None), str(failure), attempts=calls
            )
        if failure.overlong:
            return replace(request.failure(str(failure), attempts=calls), status="failed")
        if failure.mends or failure.item:
            reply = request.failure(str(failure), attempts=calls)
            if failure.item and not request.repairs:
                self.rejected[request.judge].append(reply)
            return reply
        self.stop_judge(request.judge, f"HTTP {failure.status}): {failure}")
        return None

    def finals(self, judge: Judge) -> list[Reply]:
        """Replies for requests that were rejected while others of the judge are answered: those
        requests are the reason, and are not sent again by themselves.
        """
        rejected = self.rejected.pop(judge, [])
        if self._halts[judge].is_set() or judge not in self.answering:
            return []
        return [replace(reply, status="failed") for reply in rejected]

    def leave_out(self, request: Request, failure: CallFailed) -> bool:
        """Leave out what the model does not take from now on; False if nothing of that was sent."""
        judge, without = request.judge, self.without[request.judge]
        sent = set(self.parameters(request)) & set(failure.unsupported)
        late = set(failure.unsupported) & without
        for name in sorted(sent):
            without.add(name)
            further = ""
            if name == "temperature" and request.temperature == 0:
                further = ": its votes are drawn as the model draws, not greedily"
            elif name == SCHEMA:
                further = ": its replies are kept to no schema, and read as they come"
            self.say(
                f"{judge.name} takes no such {name}; it is left out{further}. The provider says: "
                f"{failure}"
            )
        return bool(sent or late)

    def parameters(self, request: Request) -> dict[str, Any]:
        """What a call takes beside model and messages, but for what its model does not take."""
        judge, without = request.judge, self.without[request.judge]
        given = {n: v for n, v in request.parameters().items() if n not in without}
        # What is known before is no call that was made.
        if SCHEMA in given and not client.keeps_to_schema(judge.model, given):
            without.add(SCHEMA)
            del given[SCHEMA]
            self.say(
                f"{judge.name} is not known to keep to a schema: its replies are read as they come"
            )
        return given

    async def _call(
        self, request: Request, messages: list[dict[str, str]], tried: Collection[str]
    ) -> Answer:
        """One attempt, if the budget has room for it; tried : parameters that it goes without."""
        where, limit = self.where[request.judge], self.limits[request.judge]
        at_most = most(request, messages, where)
        await self.reserve(at_most, request.judge)
        if self.stopping(request.judge):
            self.release(at_most, request.judge)
            raise Stopped
        begun = asyncio.get_running_loop().time()
        outcome: Answer | CallFailed | None = None
        self.progress.calls += 1
        try:
            outcome = await client.ask(
                request.judge.model,
                messages,
                {n: v for n, v in self.parameters(request).items() if n not in tried},
                where=where,
                timeout=request.judge.timeout,
            )
            limit.answered()
            self._in_a_row[request.judge] = 0
            self.answering.add(request.judge)
            return outcome
        except CallFailed as failure:
            outcome = failure
            self.note(request.judge, failure)
            if failure.status == 429:
                limit.rate_limited(begun, failure.wait)
            raise
        finally:
            self._spent(self.settle(request, at_most, where, outcome))
            self.settled.notify()

    async def reserve(self, at_most: Spent, judge: Judge) -> None:
        """Set aside what a call may use, once calls in flight have shown what they used.

        Raises Stopped if the budget has no room for it.
        """
        own = self.trackers[judge]
        while True:
            if self.stopping(judge):
                raise Stopped
            limit, of_judge = self.exceeded(at_most, judge)
            if limit is None and of_judge is None:
                self.tracker.reserve(at_most)
                own.reserve(at_most)
                return
            if limit is not None and self.tracker.idle:
                self._out_of_budget = self.progress.over_budget = True
                self.say(f"Stopped: another call could exceed {limit}")
                self._wake()
                raise Stopped
            if of_judge is not None and own.idle:
                self.progress.over_budget = True
                self.stop_judge(
                    judge, f"another call could exceed its own {of_judge.removeprefix('the ')})"
                )
                raise Stopped
            await self.settled.changed()

    def exceeded(self, at_most: Spent, judge: Judge) -> tuple[str | None, str | None]:
        """The limit of the job, and of its judge, that a call could exceed."""
        return self.tracker.exceeded(at_most), self.trackers[judge].exceeded(at_most)

    def release(self, at_most: Spent, judge: Judge) -> None:
        """The call is not made after all."""
        for tracker in (self.tracker, self.trackers[judge]):
            tracker.release(at_most)

    def reopen(self, at_most: Spent, judge: Judge) -> None:
        """A call that was counted as over, at its most, is under way again."""
        for tracker in (self.tracker, self.trackers[judge]):
            tracker.reopen(at_most)

    def settle(
        self,
        request: Request,
        at_most: Spent,
        where: Destination,
        outcome: Answer | CallFailed | None,
    ) -> Call:
        """The call is over; what it used, at its most where that is not known."""
        tokens: int | None = None
        cost: float | None = None
        if isinstance(outcome, Answer) and outcome.prompt_tokens is not None:
            tokens = outcome.prompt_tokens + (outcome.completion_tokens or 0)
            cost = where.cost(outcome.paid_tokens, outcome.completion_tokens)
        elif isinstance(outcome, CallFailed) and not outcome.billed:
            tokens, cost = 0, 0.0
        self.trackers[request.judge].settle(at_most, tokens=tokens, cost=cost)
        used = self.tracker.settle(at_most, tokens=tokens, cost=cost)
        return Call(
            key=request.repairs or request.key,
            tokens=used.tokens,
            cost=None if where.price is None else used.cost,
        )

    def note(self, judge: Judge, failure: CallFailed) -> None:
        """Count a failed call, show the first of its kind, and stop where others will fare no
        better.
        """
        kind = (judge, failure.kind)
        if kind not in self._told and (failure.mends or failure.overlong or failure.item):
            self._told.add(kind)
            self.say(f"{judge.name}, first {failure.kind}: {failure}")
        self.progress.failures[failure.kind] += 1
        if failure.dead or failure.item:
            self._in_a_row[judge] += 1
        elif not (failure.overlong or failure.content_policy):
            self._in_a_row[judge] = 0
        if self._in_a_row[judge] >= self._give_up:
            remedies = {"empty account": "pay in", "no connection": "start the server"}
            remedy = remedies.get(failure.kind, "mend what the server rejects")
            often = f"{self._in_a_row[judge]} × {failure.kind} in a row"
            self.stop_judge(judge, f"{often}): {failure}. To go on, {remedy} and start again")

    async def _sleep(self, judge: Judge, seconds: float) -> None:
        """Wait before another attempt, and for its turn; a stop ends it."""
        async with self.limits[judge].aside(lambda: self.stopping(judge)):
            await self._recorded()
            await self.pause(judge, seconds)

    async def pause(self, judge: Judge, seconds: float) -> None:
        """Wait, unless to stop. Raises Stopped."""
        try:
            await asyncio.wait_for(self._halts[judge].wait(), timeout=seconds * self._patience)
        except TimeoutError:
            return
        raise Stopped

    def say(self, message: str) -> None:
        """Tell the user, without keys."""
        self.progress.messages += (safe(message, self.where.values()),)

    def stop_judge(self, judge: Judge, why: str) -> None:
        """Ask a judge no more; the reason is shown after an opening bracket."""
        if not self._halts[judge].is_set():
            self._halts[judge].set()
            self.say(f"{judge.name} stopped ({why}")
            self.progress.share(judge.name).stopped = True
            self._wake()

    def _wake(self) -> None:
        self.settled.notify()
        for limit in self.limits.values():
            limit.shared.notify()


def _sum(first: Any, second: Any) -> Any:
    """The sum of two figures; unknown if either is."""
    return None if first is None or second is None else first + second


def _wait(attempt: int, failure: CallFailed) -> float:
    """Seconds after a failed attempt: exponential with full jitter, after what the server asks
    for.
    """
    drawn = random.uniform(0, min(LONGEST_BACKOFF, FIRST_WAIT * 2 ** (attempt - 1)))
    # Beside what the server asks for: those that it turned away together do not come back together.
    return drawn + (failure.wait or 0.0)
