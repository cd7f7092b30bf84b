"""Store replies as they come, those that wait in one transaction; none that was paid for is dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from core.judging.inflight import InFlight
from core.judging.requests import Request
from core.store.replies import Ledger
from core.store.reply_rows import Call, Reply

LONGEST_GATHERING = 0.02
"""Seconds that replies wait for others at most, after the transaction before."""
LAST_WAITS = (0.5, 1.0, 2.0)
"""Seconds before each last attempt to store what could not be stored."""
UNSTORABLE = (ValueError, TypeError, ArithmeticError)
"""What a value raises that no table takes; anything else is about the store."""
REASON = 300
"""Characters kept of why a reply cannot be stored."""


class Writer:
    """The only writer of a run's ledger.

    stored : told which replies have just been stored, and how many of their votes found their place taken.
    settled : told when the place of a request may be given back.
    broken : told why nothing can be stored; what arrives is kept and tried again.
    """

    def __init__(
        self,
        ledger: Ledger,
        shared: InFlight,
        *,
        stored: Callable[[Sequence[Reply], int], None],
        settled: Callable[[Request], None],
        broken: Callable[[str], None],
        patience: float,
    ) -> None:
        self._ledger = ledger
        self._shared = shared
        self._stored, self._settled, self._broken = stored, settled, broken
        self._patience = patience
        self._arrived: list[tuple[Request, Reply]] = []
        self._calls: list[Call] = []
        self._kept: dict[str, Reply] = {}
        self._news = asyncio.Event()
        self._closed = False

    def put(self, request: Request, reply: Reply) -> None:
        """Store a reply and its vote, then give the request's place back."""
        self._arrived.append((request, reply))
        self._news.set()

    def spent(self, call: Call) -> None:
        """Store what a call used, together with its reply or alone."""
        self._calls.append(call)
        self._news.set()

    def close(self) -> None:
        """Nothing more will come."""
        self._closed = True
        self._news.set()

    @property
    def unstored(self) -> int:
        """Replies that could not be stored so far."""
        return len(self._kept)

    async def run(self) -> None:
        """Until closed and everything is stored, or cannot be."""
        self._calls += self._shared.unrecorded
        self._shared.unrecorded.clear()
        now, free_at = asyncio.get_running_loop().time, 0.0
        while not self._closed or self._arrived:
            await self._news.wait()
            # A transaction costs about the same for one reply as for thirty: while they come fast, half of
            # the time is left for them to gather.
            if not self._closed and now() < free_at:
                await asyncio.sleep(free_at - now())
            self._news.clear()
            begun = now()
            await self._flush()
            free_at = now() + min(now() - begun, LONGEST_GATHERING)
        for wait in LAST_WAITS:
            if not (self._kept or self._calls):
                break
            await asyncio.sleep(wait * self._patience)
            await self._flush()
        self._shared.unrecorded += self._calls

    async def _flush(self) -> None:
        group, self._arrived = self._arrived, []
        calls, self._calls = self._calls, []
        replies = [*self._kept.values(), *(reply for _, reply in group)]
        try:
            if replies or calls:
                await self._write(replies, calls)
        except Exception:
            await self._one_by_one(replies, calls)
        for request, _ in group:
            self._settled(request)

    async def _write(self, replies: Sequence[Reply], calls: Sequence[Call]) -> None:
        lost = await asyncio.to_thread(self._ledger.write, replies, calls=calls)
        for reply in replies:
            self._kept.pop(reply.key, None)
            self._shared.unstored.pop(reply.key, None)
        self._stored(replies, lost)

    async def _one_by_one(self, replies: Sequence[Reply], calls: Sequence[Call]) -> None:
        """A group could not be stored: one of them may be the reason, or the store cannot be written."""
        left = list(replies)
        try:
            await self._write((), calls)
            calls = ()
            while left:
                try:
                    await self._write(left[:1], ())
                except UNSTORABLE as error:
                    await self._write([_poison(left[0], error)], ())
                left.pop(0)
        except Exception as error:
            self._calls = [*calls, *self._calls]
            for reply in left:
                self._kept[reply.key] = self._shared.unstored[reply.key] = reply
            self._broken(str(error))


def _poison(reply: Reply, error: Exception) -> Reply:
    """A reply that cannot be stored, as a failed one."""
    why = f"The reply cannot be stored ({type(error).__name__}: {error})".encode("utf-8", "replace").decode()
    nothing: dict[str, Any] = dict.fromkeys(
        ("vote", "confidence", "confidence_kind", "body", "prompt_tokens", "completion_tokens", "cost")
    )
    return replace(reply, status="error", rationale=why[:REASON], raw=why[:REASON], **nothing)
