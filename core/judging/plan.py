"""What a job needs before it starts: calls, tokens, price, where the texts go, and what stands in its way.

What a run has done so far, as a snapshot that a page or a terminal can show at any time.

A job before it starts and after it ended, each in one sentence.
"""

from __future__ import annotations

import decimal
import hashlib
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..errors import InvalidOption
from ..store import Store
from ..store.ledger import Comparison, Ledger, Reply
from .endpoint import Destination, destination
from .items import Item
from .job import ONE_BY_ONE, Job, Judge
from .ledger_rows import check_rows_free
from .limits import Load
from .prompts import new_fence
from .protocols import Request, further, stages

CHARACTERS_PER_TOKEN = 4
"""A rough rule for English text; servers count for themselves afterwards."""
TOKENS_PER_BYTE_MORE = 0.5
"""A rough rule for other scripts: tokens for each byte that a character takes beyond its first."""
BYTES_AND_FRAME = 16
"""Tokens around a message. No token is shorter than a byte, so bytes bound what a prompt can cost."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """What is left to do of a job, before it starts.

    calls : requests without an answer; answered : those with one, which are not asked again.
    further_calls : most calls that replies may lead to (APOCJudge), beside `calls`; the rest counts them in.
    prompt_tokens : about.  completion_tokens : at most.
    cost : at most, in the currency of the price, if no call has to be repeated: a token for each byte that is
        sent, and replies as long as they may be; None if a price is unknown.
    hosts : where texts go.
    """

    job_id: str
    calls: int
    answered: int
    further_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    hosts: tuple[str, ...]
    destinations: dict[Judge, Destination] = field(repr=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The plan in words."""
        said = [f"{self.calls:,} calls to {', '.join(self.hosts)}"]
        if self.further_calls:
            said[0] += f" and up to {self.further_calls:,} more where verdicts contradict each other"
        if self.answered:
            said.append(f"{self.answered:,} requests were answered before and are not asked again")
        said.append(
            f"about {self.prompt_tokens:,} prompt tokens (characters divided by four, more outside Latin "
            f"script) and at most {self.completion_tokens:,} completion tokens"
        )
        said.append(
            "price unknown: what this costs cannot be said (give --price)"
            if self.cost is None
            else f"cost at most {upwards(self.cost)}, if no call has to be repeated"
        )
        return tuple(said)


def upwards(cost: float) -> str:
    """An amount in four digits that is never less."""
    rounded = decimal.Context(prec=4, rounding=decimal.ROUND_CEILING).create_decimal_from_float(cost)
    return f"{rounded.normalize():,f}"


def all_judges(job: Job) -> tuple[Judge, ...]:
    """Every model that a job may call."""
    return (*job.judges, *(() if job.keyed is None else (job.keyed,)))


def destinations(
    job: Job, *, confirmed: Iterable[str] = (), keys: dict[str, str] | None = None
) -> dict[Judge, Destination]:
    """Where each judge's calls go; see `destination` for what it raises."""
    return {judge: destination(judge, confirmed=confirmed, keys=keys) for judge in all_judges(job)}


def plan(
    job: Job, store: Store, *, confirmed: Iterable[str] = (), keys: dict[str, str] | None = None
) -> Plan:
    """What is left to do of a job. Sends nothing.

    Raises
    ------
    InvalidOption : a key or provider is missing, or votes under the same names are stored from elsewhere.
    NotConfirmed : texts would go to a host that nobody confirmed.
    TooFewLabels, NoUsableVotes, UnreadableFile : examples, stored samples or prompts are missing.
    """
    where = destinations(job, confirmed=confirmed, keys=keys)
    ledger = ledger_of(job, store)
    found = stages(job, store)
    first = found[0]({})
    known = ledger.answered(request.key for request in first)
    check_free(job, store, first, known, ledger)
    missing = [request for request in first if not done(known, request)]
    later = further(job, known, ledger.answered)
    fence, prompt_tokens, completion_tokens, cost = new_fence(), 0, 0, 0.0
    priced = all(place.price is not None for place in where.values())
    for request in (*missing, *later):
        messages = request.messages(fence)
        load = load_of(request, messages, where[request.judge])
        prompt_tokens += sum(_tokens(message["content"]) for message in messages)
        completion_tokens += request.parameters()["max_tokens"]
        cost += load.cost or 0.0
        if request.answer_key == "":
            # The key that is yet to be written is read again, as long as it may become.
            prompt_tokens += request.judge.max_tokens
            price = where[request.judge].price
            cost += 0.0 if price is None else request.judge.max_tokens * price[0]
    return Plan(
        job_id=job_id(job, first),
        calls=len(missing),
        answered=len(first) - len(missing),
        further_calls=len(later),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=cost if priced else None,
        hosts=tuple(dict.fromkeys(place.host for place in where.values())),
        destinations=where,
    )


def done(known: Mapping[str, Reply], request: Request) -> bool:
    """Whether a request has an answer; a failed call is none."""
    reply = known.get(request.key)
    return reply is not None and reply.status != "error"


def job_id(job: Job, first: list[Request]) -> str:
    """Hash of the requests of a job."""
    keys = sorted(request.key for request in first)
    return hashlib.sha256("".join([job.dataset, job.protocol, *keys]).encode()).hexdigest()[:16]


def ledger_of(job: Job, store: Store) -> Ledger:
    """The ledger of the job's data set."""
    pairs = [_comparison(item) for item in job.items if len(item.responses) == 2]
    return Ledger(store, job.dataset, pairs if job.protocol not in ("score", "listwise") else [])


def _comparison(item: Item) -> Comparison:
    return Comparison(
        item_id=item.item_id,
        model_a=item.models[0],
        model_b=item.models[1],
        category=item.category,
        gold=item.gold,
        prompt=item.prompt,
        response_a=item.responses[0],
        response_b=item.responses[1],
    )


def check_free(
    job: Job, store: Store, requests: list[Request], known: Mapping[str, Reply], ledger: Ledger
) -> None:
    """No vote, score or ranking of another origin may sit where one of this job would go.

    Raises InvalidOption.
    """
    if job.protocol in ONE_BY_ONE:
        check_rows_free(store, job, requests, known)
    votes = [request for request in requests if request.task == "vote"]
    taken = ledger.taken({request.voter for request in votes}) if votes else set()
    if not taken:
        return
    for request in votes:
        pair = (request.item.item_id, request.item.models[0], request.item.models[1])
        if request.key not in known and (pair, request.voter, request.run, request.position) in taken:
            raise InvalidOption(
                f"The data set {job.dataset} has votes of {request.voter!r} on item {request.item.item_id!r} "
                "from another prompt, model, temperature or file. Give this judge another name with --judge"
            )


def _tokens(text: str) -> int:
    more = len(text.encode()) - len(text)
    return int(len(text) / CHARACTERS_PER_TOKEN + more * TOKENS_PER_BYTE_MORE)


def load_of(request: Request, messages: list[dict[str, str]], where: Destination) -> Load:
    """The most that one call may use."""
    prompt = sum(len(message["content"].encode()) + BYTES_AND_FRAME for message in messages)
    answer = request.parameters()["max_tokens"]
    price = where.price
    return Load(tokens=prompt + answer, cost=None if price is None else prompt * price[0] + answer * price[1])


def check_budget(job: Job, where: dict[Judge, Destination], limit: float | None) -> None:
    """A limit in money needs prices.

    Raises InvalidOption.
    """
    unknown = [judge.model for judge, place in where.items() if place.price is None]
    if limit is not None and unknown:
        raise InvalidOption(
            f"--max-cost cannot be kept: the price of {', '.join(unknown)} is unknown. Give it with "
            "--price PROMPT COMPLETION, per million tokens, or limit --max-calls or --max-tokens instead"
        )


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


UNITS = {"score": "score", "listwise": "ranking"}
"""What a protocol collects, where it is no vote."""


def unit(job: Job) -> str:
    """What the job collects: vote, score or ranking."""
    return UNITS.get(job.protocol, "vote")


def voters(job: Job) -> tuple[str, ...]:
    """The names under which answers of the job are stored."""
    return tuple(dict.fromkeys(job.voter(judge) for judge in job.judges))


def described(job: Job) -> str:
    """What a job collects, from whom, about what."""
    of = "each response of" if job.protocol == "score" else "each of"
    # Responses are scored by item, however many comparisons show them.
    items = len({item.item_id for item in job.items} if job.protocol == "score" else job.items) - job.few_shot
    return (
        f"{_count(job.n, unit(job))} by {' and '.join(voters(job))} on {of} {_count(items, 'item')}, "
        f"into the data set {job.dataset!r}"
    )


def proposed(job: Job, plan: Plan) -> str:
    """What a job would take: calls and price, before anything is sent."""
    if not plan.calls and not plan.further_calls:
        return f"Nothing is left to ask: {described(job)} are in the store already."
    price = "price unknown" if plan.cost is None else f"at most {upwards(plan.cost)} in all"
    more = f" and up to {plan.further_calls:,} more" if plan.further_calls else ""
    return f"{_count(plan.calls, 'call')}{more} to {', '.join(plan.hosts)}, {price}: {described(job)}."


def outcome(job: Job, progress: Progress) -> str:
    """How a run ended: what is there, what failed, what it cost."""
    missing = progress.planned - progress.answered
    begun = {
        "done": "Collected",
        "stopped": "Stopped",
        "failed": "The run failed",
    }.get(progress.state, "Collecting")
    if progress.state == "done" and missing:
        begun = "Not complete"
    said = [f"{begun}: {progress.answered:,} of {_count(progress.planned, 'request')} answered"]
    unusable = {name: n for name, n in progress.statuses.items() if name not in ("ok", "error") and n}
    if unusable:
        said.append(
            "in this run no verdict in "
            + " and ".join(f"{n:,} ({name})" for name, n in sorted(unusable.items()))
        )
    if missing:
        said.append(f"{missing:,} left, which another run asks for")
    cost = "price unknown" if progress.cost is None else f"cost {progress.cost:,.4g}"
    said.append(f"{_count(progress.calls, 'call')}, {cost}")
    return f"{'; '.join(said)}. {described(job)[:1].upper()}{described(job)[1:]}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
