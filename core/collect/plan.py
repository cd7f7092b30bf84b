"""How far a job is, in numbers and words: what is left before it starts, what is done while it
runs.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from ..errors import InvalidOption, Message
from ..finding.wording import count, duration, upwards
from ..store import Store
from ..store.batches import waiting
from ..store.ledger import Reply, Spent
from . import client
from .endpoint import BATCHING, Destination, destination
from .job import Budget, Job, Judge
from .ledger_rows import check_free, ledger_of
from .prompts import Request, new_fence
from .protocols import done, further, stages

CHARACTERS_PER_TOKEN = 4
"""A rough rule for English text; servers count for themselves afterwards."""
USUAL_REPLY = 200
"""Tokens of a reply that gives a reason and a verdict without further reasoning."""
TOKENS_PER_BYTE_MORE = 0.5
"""A rough rule for other scripts: tokens for each byte that a character takes beyond its first."""
BYTES_AND_FRAME = 16
"""Tokens around a message. No token is shorter than a byte, so bytes bound what a prompt can cost.
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """What is left to do of a job, before it starts.

    calls : requests without an answer; answered : those with one, which are not sent again; waiting
        : those in batches that were handed in before.
    further_calls : most calls that replies may lead to (APOCJudge), beside `calls`; the rest counts
        them in.
    prompt_tokens : about.  completion_tokens : at most.
    likely : cost that is likely, from the lengths of the prompts and replies of `USUAL_REPLY`
        tokens.
    cost : at most, in the currency of the price, if no call has to be repeated: a token for each
        byte that is sent, and replies as long as they may be; of the judges whose price is known,
        None if that is none.
    repairs : cost at most, beside `cost`, of questions about replies that keep to no form.
    unpriced : models whose price is unknown; unbounded : those of them on other machines, whose
        calls a limit in money cannot count.  hosts : where texts go.  statuses : of the replies
        that are stored.
    """

    job_id: str
    calls: int
    answered: int
    waiting: int
    further_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    likely: float | None
    unpriced: tuple[str, ...]
    unbounded: tuple[str, ...] = ()
    hosts: tuple[str, ...]
    destinations: dict[Judge, Destination] = field(repr=False)
    repairs: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The plan in words."""
        more = f" and up to {self.further_calls:,} more where verdicts contradict each other"
        sentences = [
            f"{self.calls:,} calls to {', '.join(self.hosts)}{more if self.further_calls else ''}"
        ]
        if self.waiting:
            sentences.append(
                f"{self.waiting:,} requests wait in batches, whose results are fetched"
            )
        if self.answered:
            sentences.append(
                f"{self.answered:,} requests were answered before and are not sent again"
            )
        sentences.append(
            f"about {self.prompt_tokens:,} prompt tokens (characters divided by four, more outside "
            f"Latin script) and at most {self.completion_tokens:,} completion tokens"
        )
        if self.unpriced:
            unknown = "price unknown of {models}: its cost cannot be estimated (give {option})"
            sentences.append(Message(unknown, option="price", models=" and ".join(self.unpriced)))
        if self.cost is None:
            return tuple(sentences)
        likely = "" if self.likely is None else f"likely cost {upwards(self.likely)}; "
        asked = f"; {upwards(self.repairs)} more at most if every reply has to be asked about"
        return (
            *sentences,
            f"{likely}cost at most {upwards(self.cost)}, if no call has to be repeated"
            f"{asked if self.repairs else ''}",
        )

    @property
    def price(self) -> str:
        """What the calls would cost, likely and at most, in words."""
        if self.cost is None:
            return "price unknown"
        likely = "" if self.likely is None else f"likely cost {upwards(self.likely)}, "
        without = f", without {' and '.join(self.unpriced)}, whose price is unknown"
        return f"{likely}at most {upwards(self.cost)}{without if self.unpriced else ''}"

    def check_budget(self, budget: Budget) -> None:
        """A limit in money needs prices, but for servers on this machine beside a judge that has
        one. Raises InvalidOption.
        """
        own = {judge.model for judge in self.destinations if judge.budget.cost is not None}
        unpriced: Collection[str] = own.intersection(self.unpriced)
        if budget.cost is not None:
            unpriced = self.unpriced if self.cost is None else (*unpriced, *self.unbounded)
        if unpriced:
            raise InvalidOption(
                "{option} cannot be kept: the price of {models} is unknown. Give it with "
                "{option:two_prices}, or limit {option:max_calls} or {option:max_tokens} instead",
                option="max_cost",
                models=sorted(set(unpriced)),
            )


def plan(
    job: Job,
    store: Store,
    *,
    confirmed: Iterable[str] = (),
    keys: dict[str, str] | None = None,
    again: Collection[str] = (),
    batch: bool = False,
    repair: bool = True,
) -> Plan:
    """What is left to do of a job. Sends nothing.

    again : statuses of replies that are asked for again.  batch : calls are handed in as batches.

    Raises InvalidOption: a key or provider is missing, or has no batches; or votes under the same
    names are stored from elsewhere. NotConfirmed: texts would go to a host that nobody confirmed.
    TooFewLabels, NoUsableVotes, UnreadableFile: examples, stored samples or prompts are missing.
    """
    where = {
        judge: destination(judge, confirmed=confirmed, keys=keys, listed_price=client.listed_price)
        for judge in job.models
    }
    for judge in job.models if batch else ():
        if judge.provider not in BATCHING:
            words = "{option} goes with models of {known}; {model} is none: leave it out"
            raise InvalidOption(
                words, option="batch", known=" and ".join(BATCHING), model=judge.model
            )
    ledger = ledger_of(job, store)
    first = stages(job, store)[0]({})
    replies = ledger.answered(request.key for request in first)
    check_free(job, store, first, replies, ledger)
    wait = {
        key for batch in waiting(store, [request.key for request in first]) for key in batch.calls
    }
    missing = [r for r in first if r.key not in wait and not done(replies.get(r.key), again)]
    later = further(job, replies, ledger.answered)
    fence, prompt_tokens, completion_tokens, cost, likely = new_fence(), 0, 0, 0.0, 0.0
    repairs = 0.0
    for request in (*missing, *later):
        place, messages = where[request.judge], request.messages(fence)
        place = place.halved if batch else place
        about, longest = (
            sum(_tokens(message["content"]) for message in messages),
            request.parameters()["max_tokens"],
        )
        prompt_tokens += about
        completion_tokens += longest
        likely += place.cost(about, min(longest, USUAL_REPLY)) or 0.0
        cost += most(request, messages, place).cost
        question = request.repair("a reply") if repair else None
        if question is not None and not _keeps_schema(request):
            at_most = most(question, question.messages(fence), where[request.judge]).cost
            repairs += at_most + (where[request.judge].cost(longest, 0) or 0.0)
        if request.answer_key == "":
            # The key that is yet to be written is read again, as long as it may become.
            prompt_tokens += request.judge.max_tokens
            cost += place.cost(request.judge.max_tokens, 0) or 0.0
    unpriced = tuple(judge.model for judge, place in where.items() if place.price is None)
    priced = len(unpriced) < len(where)
    return Plan(
        job_id=job_id(job, first),
        calls=len(missing),
        answered=len(first) - len(missing) - len(wait),
        waiting=len(wait),
        further_calls=len(later),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=cost if priced else None,
        likely=likely if priced else None,
        unpriced=unpriced,
        unbounded=tuple(j.model for j, p in where.items() if p.price is None and not p.local),
        hosts=tuple(dict.fromkeys(place.host for place in where.values())),
        destinations=where,
        repairs=repairs,
        statuses=Counter(
            replies[request.key].status for request in first if request.key in replies
        ),
    )


def _keeps_schema(request: Request) -> bool:
    """Whether the server is known to keep replies to a schema."""
    given = request.parameters()
    return "response_format" in given and client.keeps_to_schema(request.judge.model, given)


def job_id(job: Job, first: list[Request]) -> str:
    """Hash of the requests of a job."""
    keys = sorted(request.key for request in first)
    return hashlib.sha256("".join([job.dataset, job.protocol, *keys]).encode()).hexdigest()[:16]


def _tokens(text: str) -> int:
    more = len(text.encode()) - len(text)
    return int(len(text) / CHARACTERS_PER_TOKEN + more * TOKENS_PER_BYTE_MORE)


def most(request: Request, messages: list[dict[str, str]], where: Destination) -> Spent:
    """The most that one call may use; cost 0 if the price is unknown."""
    prompt = sum(len(message["content"].encode()) + BYTES_AND_FRAME for message in messages)
    prompt += len(request.schema or "")
    answer = request.parameters()["max_tokens"]
    return Spent(calls=1, tokens=prompt + answer, cost=where.cost(prompt, answer) or 0.0)


Final = tuple[str, str, str]
"""Judge, item and reason of a request that failed for good."""
MOST_NAMED = 5
"""Items that failed for good which the summary names."""
State = Literal["running", "stopping", "done", "stopped", "failed"]
RECENT_SECONDS = 30.0
ENOUGH = 20
"""Replies from which the cost of a job is foretold."""


@dataclass(slots=True, eq=False, kw_only=True)
class Share:
    """How far one judge of a run is: as the same names of `Progress`. stopped : it is asked no
    more.
    """

    planned: int = 0
    answered: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    final: int = 0
    stopped: bool = False

    def sentence(self, *, priced: bool) -> str:
        """What became of its requests."""
        parts = [f"{self.answered:,} of {self.planned:,} answered"]
        parts += [f"{n:,} {status}" for status, n in self.statuses.items() if status != "ok" and n]
        parts += [f"cost {self.cost:,.4g}"] if priced else []
        return ", ".join(parts + (["stopped before its end"] if self.stopped else []))


@dataclass(slots=True, eq=False, kw_only=True)
class Progress:
    """How far a run is. Everything counted here is in the store already.

    planned : requests known of so far; answered : those with an answer in the store, earlier runs
        included.
    statuses : status → replies of this run.  failures : kind → calls of this run that failed,
        retried or not.
    calls, prompt_tokens, completion_tokens, cost : of the whole job; cost None if the price is
        unknown.
    without_usage : replies of this run whose tokens the server did not count; their cost is not in
        `cost`.
    without_confidence : replies of this run that should carry a confidence and do not.
    in_flight, limit : calls going on, and how many may at present.
    rate : answers per second of late; seconds_left None until it is known.
    charged : what the limit of cost counts: calls whose use is not known at the most that they may
        have used.
    likely : cost of all of the job, from the replies of this run; None until there are `ENOUGH`.
    longest : longest reply that was asked for, in tokens.  over_budget : a limit ended the run.
    waiting : calls in batches whose results are not there yet; due : when they are at the latest,
        in UTC.
    halved, halved_cost : calls in batches whose results this run fetched, at half the price.
    unpriced : judges whose price is unknown; `cost` is that of the others.
    final : requests that the server rejects one by one, or that are too long for the model: judge,
        item and why. They are not sent again by themselves.
    messages : failures in the provider's words, and why judges or the run stopped.
    judges : how far each judge is, by name.
    """

    state: State = "running"
    planned: int = 0
    answered: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None
    without_usage: int = 0
    without_confidence: int = 0
    in_flight: int = 0
    limit: int = 0
    rate: float = 0.0
    seconds_left: float | None = None
    charged: float | None = None
    likely: float | None = None
    longest: int = 0
    over_budget: bool = False
    waiting: int = 0
    due: datetime | None = None
    halved: int = 0
    halved_cost: float = 0.0
    unpriced: tuple[str, ...] = ()
    final: tuple[Final, ...] = ()
    messages: tuple[str, ...] = ()
    judges: dict[str, Share] = field(default_factory=dict)

    def share(self, judge: str) -> Share:
        """How far one judge is."""
        return self.judges.setdefault(judge, Share())

    @property
    def by_judge(self) -> tuple[str, ...]:
        """Of each judge what happened, in words; () if there is only one."""
        if len(self.judges) < 2:
            return ()
        return tuple(
            f"{name}: {share.sentence(priced=self.cost is not None and name not in self.unpriced)}"
            for name, share in self.judges.items()
        )

    @property
    def finished(self) -> bool:
        """Nothing more will happen in this run."""
        return self.state in ("done", "stopped", "failed")

    @property
    def left(self) -> int:
        """Requests without an answer that another run would send."""
        return self.planned - self.answered - len(self.final)

    @property
    def price(self) -> str:
        """What the job has cost, in words."""
        if self.cost is None:
            return "price unknown"
        words = f"cost {self.cost:,.4g}"
        if self.unpriced:
            words += f" without {' and '.join(self.unpriced)}, whose price is unknown"
        if self.halved:
            words += (
                f", {self.halved_cost:,.4g} of it at half the price ({self.halved:,} "
                "calls in batches)"
            )
        if self.charged is not None and self.charged > self.cost * 1.000001 + 1e-12:
            words += (
                f" ({self.charged:,.4g} with calls of unknown use at "
                "their most, which a limit counts)"
            )
        if self.likely is not None and not self.finished:
            words += f", likely {self.likely:,.4g} in all"
        return words

    @property
    def remedies(self) -> tuple[Message, ...]:
        """What can be done about replies of this run that gave no verdict."""
        remedies = []
        if cut := self.statuses["cut_off"]:
            words = (
                "{n} cut off at {longest} tokens: {option:again cut_off} with "
                "{option:reply_tokens {more}} asks for those alone"
            )
            n = f"{cut:,} {'reply was' if cut == 1 else 'replies were'}"
            longest, more = f"{self.longest:,}", 4 * self.longest
            remedies.append(Message(words, option="again", n=n, longest=longest, more=more))
        if odd := self.statuses["unparsed"]:
            words = (
                "{n} could not be read: settle them by hand on the page Collect, or "
                "{option:again unparsed} asks for those alone; {option:reread} "
                "reads the stored ones again after an update, without a call"
            )
            remedies.append(
                Message(words, option="again", n=f"{odd:,} {'reply' if odd == 1 else 'replies'}")
            )
        if self.final:
            words = "{n} failed for good, {named}: sent again only by {option:again failed}"
            n = count(len(self.final), "request")
            remedies.append(Message(words, option="again", n=n, named=self._named))
        return tuple(remedies)

    @property
    def _named(self) -> str:
        """The items that failed for good, with the provider's words for the first."""
        items = tuple(dict.fromkeys(item for _, item, _ in self.final))
        more = len(items) - MOST_NAMED
        shown = ", ".join(items[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        return f"{'item' if len(items) == 1 else 'items'} {shown} ({self.final[0][2][:200]})"

    @property
    def sentence(self) -> str:
        """The snapshot in one line."""
        parts = [f"{self.answered:,} of {self.planned:,} answered", f"{self.rate:.1f}/s"]
        if self.seconds_left is not None and not self.finished:
            parts.append(f"{duration(self.seconds_left)} left")
        if self.waiting:
            until = (
                ""
                if self.due is None
                else f" with results by {self.due:%Y-%m-%d %H:%M} UTC at the latest"
            )
            parts.append(f"{self.waiting:,} wait in batches{until}")
        parts += [self.price, f"{self.in_flight} of {self.limit} in flight"]
        parts += [f"{n:,} {status}" for status, n in self.statuses.items() if status != "ok" and n]
        parts += [f"{n:,} × {kind}" for kind, n in self.failures.items() if n]
        if self.without_usage:
            parts.append(f"{self.without_usage:,} replies without a count of tokens")
        if self.without_confidence:
            parts.append(f"{self.without_confidence:,} replies without confidence")
        return ", ".join(parts)

    def add(self, reply: Reply, judge: str, again: Collection[str] = ()) -> None:
        """Count a stored reply, of whichever run or job; one that is asked for again is no answer
        yet.
        """
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0
        if self.cost is not None:
            self.cost += reply.cost or 0.0
        self.share(judge).cost += reply.cost or 0.0
        if reply.status == "failed":
            if done(reply, again):
                self.final += ((judge, reply.item_id, reply.raw),)
                self.share(judge).final += 1
            return
        for counted in (self, self.share(judge)):
            counted.answered += done(reply, again)

    def fail(self, replies: Collection[Reply], judge: str) -> None:
        """Count replies, until now those of failed calls, as failed for good."""
        for reply in replies:
            for counted in (self, self.share(judge)):
                counted.statuses["error"] -= 1
                counted.statuses["failed"] += 1
            self.add(replace(reply, cost=None), judge)

    def add_new(self, reply: Reply, judge: str, *, wants_confidence: bool) -> None:
        """Count a reply of this run that has just been stored."""
        self.add(reply, judge)
        for counted in (self, self.share(judge)):
            counted.statuses[reply.status] += 1
        self.without_usage += done(reply) and reply.prompt_tokens is None and reply.attempts > 0
        self.without_confidence += (
            wants_confidence and reply.status == "ok" and reply.confidence is None
        )


class Rate:
    """Answers per second over the last half minute; counted on the run's loop, read from any
    thread.
    """

    def __init__(self) -> None:
        self._recent: deque[tuple[float, int]] = deque()

    def add(self, answers: int) -> None:
        """So many have just arrived."""
        now = time.monotonic()
        self._recent.append((now, answers))
        while self._recent[0][0] <= now - RECENT_SECONDS:
            self._recent.popleft()

    def per_second(self) -> float:
        """0 until there are two groups."""
        now = time.monotonic()
        recent = [entry for entry in list(self._recent) if entry[0] > now - RECENT_SECONDS]
        if len(recent) < 2:
            return 0.0
        # The first group opens the window: it came from before.
        return sum(n for _, n in recent[1:]) / max(now - recent[0][0], 1e-3)


def described(job: Job) -> str:
    """What a job collects: how many votes, scores or rankings, by which judges, on which items."""
    scores, unit = job.rules.kind == "scores", job.rules.kind.removesuffix("s")
    each_of = "each response of" if scores else "each of"
    # Responses are scored by item, however many comparisons show them.
    items = len({item.item_id for item in job.items} if scores else job.items) - job.few_shot
    names = dict.fromkeys(job.voter(judge) for judge in job.judges)
    again = f" with {job.perturb}" if job.perturb else ""
    return (
        f"{count(job.n, unit)} by {' and '.join(names)} on {each_of} "
        f"{count(items, 'item')}{again}, into the data set {job.dataset!r}"
    )


def proposed(job: Job, plan: Plan) -> str:
    """What a job would take: calls and price, before anything is sent."""
    if not plan.calls and not plan.further_calls:
        return f"Nothing is left to collect: {described(job)} are in the store already."
    price = "price unknown" if plan.cost is None else f"at most {upwards(plan.cost)} in all"
    if plan.cost is not None and plan.unpriced:
        price += f" but for {' and '.join(plan.unpriced)}, whose price is unknown"
    more = f" and up to {plan.further_calls:,} more" if plan.further_calls else ""
    return (
        f"{count(plan.calls, 'call')}{more} to {', '.join(plan.hosts)}, {price}: {described(job)}."
    )


BEGINNINGS = {"done": "Collected", "stopped": "Stopped", "failed": "The run failed"}


def outcome(job: Job, progress: Progress) -> str:
    """How a run ended: what is there, what failed, what it cost."""
    partly = progress.state == "done" and progress.left
    begun = "Not complete" if partly else BEGINNINGS.get(progress.state, "Collecting")
    parts = [f"{begun}: {progress.answered:,} of {count(progress.planned, 'request')} answered"]
    statuses = sorted(progress.statuses.items())
    unusable = [f"{n:,} ({name})" for name, n in statuses if name not in ("ok", "error") and n]
    if unusable:
        parts.append(f"in this run no verdict in {' and '.join(unusable)}")
    if progress.left:
        parts.append(f"{progress.left:,} left for another run")
    parts.append(f"{count(progress.calls, 'call')}, {progress.price}")
    about = described(job)
    return f"{'; '.join(parts)}. {about[:1].upper()}{about[1:]}."
