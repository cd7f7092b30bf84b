"""Calls handed in together, at half the price: submitted, waited for over any number of runs, and
read.

A batch is in the ledger, each call at its most, before it is handed in, and its calls wait there
until their results are stored. Whoever comes after a process that was killed finds it by its name
or, if that was not kept yet, among the batches of the account by its id.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from ..store import Store, batches
from ..store.batches import Batch
from ..store.ledger import Call, Ledger, Reply, Spent
from . import client
from .batch_desk import Desk, Found, Result, call_name, due, ended, without_result
from .caller import Caller, Stopped
from .client import Answer, CallFailed
from .job import Judge, Terms
from .ledger_rows import UNSTORABLE, poison
from .limits import NOTHING
from .plan import most
from .prompts import Request, new_fence
from .protocols import done

MOST_BYTES = 100_000_000
"""Of all calls in one batch; the providers take twice as much."""
AT_ONCE = 8
"""Batches of a judge that wait at a time."""
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 120.0
"""Seconds between two looks at a batch."""
GROUP = 500
"""Results stored in one transaction."""

T = TypeVar("T")


class Batches:
    """The batches of a run.

    known, spent : replies, and what calls used before this run, by key of the request.
    stored : called with the replies just stored, and how many of their votes found their place
        taken.
    """

    def __init__(
        self,
        caller: Caller,
        store: Store,
        dataset: str,
        terms: Terms,
        *,
        ledger: Ledger,
        replies: Mapping[str, Reply],
        spent: Mapping[str, Spent],
        stored: Callable[[Sequence[Reply], int], None],
    ) -> None:
        self._caller, self._store, self._dataset, self._terms = caller, store, dataset, terms
        self._ledger, self._known, self._spent, self._stored = ledger, replies, spent, stored
        self._fence, self._mark = new_fence(), new_fence()
        self._forms: dict[str, str] = {}

    async def run(
        self,
        judge: Judge,
        requests: Sequence[Request],
        waiting: Sequence[Batch],
        request_of: Mapping[str, Request],
    ) -> None:
        """Submit requests of a judge and fetch what waits; request_of : what may wait, by key."""
        left, where = deque(requests), self._caller.where[judge]
        self._names = {batch.name for batch in waiting if batch.name}
        try:
            desk = Desk(
                judge, where, await client.prepared(judge.model, client.ANYTHING, {}, where=where)
            )
        except CallFailed as failure:
            return self._caller.stop_judge(judge, f"{failure})")
        following = set()
        for batch in waiting:
            for key in batch.calls:
                self._caller.reopen(_most(batch, key), judge)
            following.add(asyncio.create_task(self._follow(desk, judge, batch, {}, request_of)))
        try:
            while left or following:
                while left and len(following) < AT_ONCE and not self._caller.stopping(judge):
                    batch, bodies = await self._fill(judge, left)
                    if bodies:
                        following.add(
                            asyncio.create_task(
                                self._follow(desk, judge, batch, bodies, request_of)
                            )
                        )
                if not following:
                    return None
                settled, following = await asyncio.wait(
                    following, return_when=asyncio.FIRST_COMPLETED
                )
                for task in settled:
                    left.extend(task.result())
        finally:
            for task in following:
                task.cancel()

    async def _fill(self, judge: Judge, left: deque[Request]) -> tuple[Batch, dict[str, Found]]:
        """The next batch within size and budget, kept in the ledger, and the bodies of its calls by
        key.
        """
        caller, where = self._caller, self._caller.where[judge].halved
        now, left_out = datetime.now(UTC).replace(tzinfo=None), frozenset(caller.without[judge])
        batch = Batch(id=secrets.token_hex(6), name=None, left_out=left_out, made_at=now, calls={})
        bodies: dict[str, Found] = {}
        size = 0
        while left and len(bodies) < self._terms.batch_size and size < MOST_BYTES:
            request, messages = left[0], left[0].messages(self._fence)
            at_most = most(request, messages, where)
            # All calls of a batch go without the same parameters.
            if bodies and (
                any(caller.exceeded(at_most, judge)) or caller.without[judge] != batch.left_out
            ):
                break
            try:
                await caller.reserve(at_most, judge)
                body = await self._body(judge, messages, caller.parameters(request))
            except Stopped:
                return batch, {}
            except CallFailed as failure:
                caller.release(at_most, judge)
                if not caller.leave_out(request, failure):
                    reply = caller.failed(left.popleft(), failure, 0)
                    await self._keep(batch, [] if reply is None else [reply], [])
                elif not bodies:
                    batch = replace(batch, left_out=frozenset(caller.without[judge]))
                continue
            left.popleft()
            size += len(body)
            bodies[request.key] = json.loads(body)
            batch.calls[request.key] = at_most.tokens, None if where.price is None else at_most.cost
        if bodies:
            await asyncio.to_thread(batches.enter, self._store, self._dataset, batch)
            caller.progress.calls += len(bodies)
        return batch, bodies

    async def _body(
        self, judge: Judge, messages: list[dict[str, str]], parameters: dict[str, Any]
    ) -> str:
        """The body of a call, as JSON: that of one with marks for texts, which is prepared once."""
        kind = json.dumps([[message["role"] for message in messages], parameters])
        marks = [f"{self._mark}-{number}" for number in range(len(messages))]
        if kind not in self._forms:
            marked = [
                {**message, "content": mark} for message, mark in zip(messages, marks, strict=True)
            ]
            made = await client.prepared(
                judge.model, marked, parameters, where=self._caller.where[judge]
            )
            self._forms[kind] = made.content.decode()
        body = self._forms[kind]
        for message, mark in zip(messages, marks, strict=True):
            body = body.replace(json.dumps(mark), json.dumps(message["content"]))
        return body

    async def _follow(
        self,
        desk: Desk,
        judge: Judge,
        batch: Batch,
        bodies: Mapping[str, Found],
        request_of: Mapping[str, Request],
    ) -> list[Request]:
        """Hand a batch in unless it is, wait for it, store what came; returns what is to be asked
        anew.
        """
        progress, pause = self._caller.progress, FIRST_PAUSE
        progress.waiting += len(batch.calls)
        try:
            name = batch.name or await self._name(desk, judge, batch, bodies)
            if name is None:
                return await self._withdraw(batch, request_of)
            while not ended(facts := await self._patiently(judge, lambda: desk.look(name))):
                progress.due = max(filter(None, (progress.due, due(facts))), default=None)
                await self._caller.pause(judge, pause)
                pause = min(LONGEST_PAUSE, pause * 1.5)
            results = await self._patiently(judge, lambda: desk.results(facts))
        except Stopped:
            # Left for another run, and counted at their most meanwhile.
            for key in batch.calls:
                self._caller.settle(
                    request_of[key], _most(batch, key), self._caller.where[judge], None
                )
            return []
        finally:
            progress.waiting -= len(batch.calls)
            self._caller.settled.notify()
        made, anew, keys = bool(bodies), [], list(batch.calls)
        for start in range(0, len(keys), GROUP):
            replies, calls = [], []
            for key in keys[start : start + GROUP]:
                result = results.get(call_name(batch, key)) or without_result(facts)
                reply, used = await self._read(request_of[key], batch, result, made)
                calls.append(replace(used, batch=name))
                if reply is None:
                    anew.append(request_of[key])
                # A call for a better reply that failed takes nothing away.
                elif reply.status != "error" or not done(self._known.get(key)):
                    replies.append(reply)
            await self._keep(batch, replies, calls)
            self._caller.settled.notify()
        return [] if self._caller.stopping(judge) else anew

    async def _name(
        self, desk: Desk, judge: Judge, batch: Batch, bodies: Mapping[str, Found]
    ) -> str | None:
        """Hand a batch in, unless it was already, and keep its name; None if its calls
        cannot be.
        """
        name = None
        # After a process that was killed, or an answer that was lost, nobody knows whether it was
        # handed in.
        unsure = not bodies
        while name is None:
            if unsure:
                name = await self._patiently(judge, lambda: desk.find(batch, self._names))
            if name is None and not bodies:
                return None
            try:
                name = name or await desk.submit(batch, bodies)
            except CallFailed as failure:
                self._caller.note(judge, failure)
                if not failure.mends:
                    self._caller.stop_judge(judge, f"HTTP {failure.status}): {failure}")
                    return None
                unsure = True
                await self._caller.pause(judge, FIRST_PAUSE)
        self._names.add(name)
        await asyncio.to_thread(batches.give_name, self._store, batch.id, name)
        return name

    async def _patiently(self, judge: Judge, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer; what no waiting mends stops the judge. Raises Stopped."""
        pause = FIRST_PAUSE
        while True:
            try:
                return await ask()
            except CallFailed as failure:
                self._caller.note(judge, failure)
                if not failure.mends:
                    self._caller.stop_judge(judge, f"HTTP {failure.status}): {failure}")
                await self._caller.pause(judge, failure.wait or pause)
                pause = min(LONGEST_PAUSE, pause * 1.5)

    async def _withdraw(self, batch: Batch, request_of: Mapping[str, Request]) -> list[Request]:
        """Nothing of a batch was handed in: what still has no answer is to be asked anew."""
        await asyncio.to_thread(batches.withdraw, self._store, batch.id)
        self._caller.progress.calls -= len(batch.calls)
        for key in batch.calls:
            self._caller.release(_most(batch, key), request_of[key].judge)
        return [
            request_of[key]
            for key in batch.calls
            if not done(self._known.get(key), self._terms.again)
        ]

    async def _read(
        self, request: Request, batch: Batch, result: Result, made: bool
    ) -> tuple[Reply | None, Call]:
        """The reply to a call in a batch, None if it is to be asked anew, and what the call used.

        made : in this run.
        """
        caller, where = self._caller, self._caller.where[request.judge].halved
        sent = {
            name: value
            for name, value in request.parameters().items()
            if name not in batch.left_out
        }
        calls = self._spent.get(request.key, NOTHING).calls + made
        outcome: Answer | CallFailed
        reply: Reply | None = None
        try:
            if isinstance(result, CallFailed):
                raise result
            outcome = await client.recalled(request.judge.model, result, sent, where=where)
            reply = caller.read(request, outcome, calls, where, batch.left_out)
        except CallFailed as failure:
            outcome = failure
            caller.note(request.judge, failure)
            if not caller.leave_out(request, failure):
                reply = caller.failed(request, failure, calls)
        used = caller.settle(request, _most(batch, request.key), where, outcome)
        if used.tokens:
            caller.progress.halved += 1
            caller.progress.halved_cost += used.cost or 0.0
        return reply, used

    async def _keep(self, batch: Batch, replies: list[Reply], calls: list[Call]) -> None:
        """Store replies with their votes and what their calls used."""
        try:
            lost = await asyncio.to_thread(self._ledger.write, replies, calls=calls, batch=batch.id)
        except UNSTORABLE as error:
            if len(replies) > 1:
                # One of them is the reason.
                for call in calls:
                    await self._keep(
                        batch, [reply for reply in replies if reply.key == call.key], [call]
                    )
                return
            replies = [poison(reply, error) for reply in replies]
            lost = await asyncio.to_thread(self._ledger.write, replies, calls=calls, batch=batch.id)
        self._stored(replies, lost)


def _most(batch: Batch, key: str) -> Spent:
    """The most that a call of a batch may use."""
    tokens, cost = batch.calls[key]
    return Spent(calls=1, tokens=tokens, cost=cost or 0.0)
