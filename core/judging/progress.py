"""What a run has done so far, as a snapshot that a page or a terminal can show at any time."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.store.reply_rows import Reply

State = Literal["running", "stopping", "done", "stopped", "failed"]
RECENT_SECONDS = 30.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Progress:
    """A snapshot. Everything counted here is in the store already.

    planned : requests known of so far; answered : those with an answer in the store, earlier runs included.
    statuses : status → replies of this run.  failures : kind → calls of this run that failed, retried or not.
    calls, prompt_tokens, completion_tokens, cost : of the whole job; cost None if the price is unknown.
    without_usage : replies of this run whose tokens the server did not count; their cost is not in `cost`.
    without_confidence : replies of this run that should carry a confidence and do not.
    in_flight, limit : calls going on, and how many may at present.
    rate : answers a second of late; seconds_left None until it is known.
    messages : why judges or the run stopped.
    """

    state: State
    planned: int
    answered: int
    statuses: dict[str, int]
    failures: dict[str, int]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    without_usage: int
    without_confidence: int
    in_flight: int
    limit: int
    rate: float
    seconds_left: float | None
    messages: tuple[str, ...]

    @property
    def finished(self) -> bool:
        """Nothing more will happen in this run."""
        return self.state in ("done", "stopped", "failed")

    @property
    def sentence(self) -> str:
        """The snapshot in one line."""
        said = [f"{self.answered:,} of {self.planned:,} answered", f"{self.rate:.1f}/s"]
        if self.seconds_left is not None and not self.finished:
            said.append(f"{_duration(self.seconds_left)} left")
        said.append("price unknown" if self.cost is None else f"cost {self.cost:,.4g}")
        said.append(f"{self.in_flight} of {self.limit} in flight")
        said += [f"{count:,} {status}" for status, count in self.statuses.items() if status != "ok" and count]
        said += [f"{count:,} × {kind}" for kind, count in self.failures.items() if count]
        if self.without_usage:
            said.append(f"{self.without_usage:,} replies without a count of tokens")
        if self.without_confidence:
            said.append(f"{self.without_confidence:,} replies without confidence")
        return ", ".join(said)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Tally:
    """Counts behind `Progress`; written on the run's loop, read from any thread."""

    def __init__(self) -> None:
        self.planned = 0
        self.answered = 0
        self.statuses: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.cost = 0.0
        self.calls = 0
        self.without_usage = 0
        self.without_confidence = 0
        self.messages: list[str] = []
        self._recent: deque[tuple[float, int]] = deque()

    def remember(self, reply: Reply) -> None:
        """A reply of an earlier run, or of another job."""
        self._add(reply)

    def _add(self, reply: Reply) -> None:
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0
        self.cost += reply.cost or 0.0
        self.answered += reply.status != "error"

    def count(self, replies: Sequence[Reply], *, wants_confidence: bool) -> None:
        """Replies that have just been stored."""
        for reply in replies:
            self._add(reply)
            self.statuses[reply.status] += 1
            self.without_usage += (
                reply.status != "error" and reply.prompt_tokens is None and reply.attempts > 0
            )
            self.without_confidence += wants_confidence and reply.status == "ok" and reply.confidence is None
        now = time.monotonic()
        self._recent.append((now, len(replies)))
        while self._recent[0][0] <= now - RECENT_SECONDS:
            self._recent.popleft()

    def rate(self) -> float:
        """Answers a second, over the last half minute of this run."""
        recent = list(self._recent)
        now = time.monotonic()
        recent = [entry for entry in recent if entry[0] > now - RECENT_SECONDS]
        if len(recent) < 2:
            return 0.0
        # The first group opens the window: it came from before.
        return sum(n for _, n in recent[1:]) / max(now - recent[0][0], 1e-3)
