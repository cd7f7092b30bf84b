"""What a job needs before it starts: calls, tokens, price, where the texts go, and what stands in its way."""

from __future__ import annotations

import decimal
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.judging.collected import check_rows_free
from core.judging.destination import Destination, destination
from core.judging.items import Item
from core.judging.job import ONE_BY_ONE, Job, Judge
from core.judging.pace import Load
from core.judging.prompts import new_fence
from core.judging.protocols import further, stages
from core.judging.requests import Request
from core.store import Store
from core.store.replies import Ledger
from core.store.reply_rows import Comparison, Reply
from core.votes import InvalidOption

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
