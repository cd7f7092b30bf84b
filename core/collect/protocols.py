"""The requests of each protocol, in stages: a later stage may depend on the replies to an earlier
one.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidOption, NoUsableVotes, TooFewLabels
from ..schema import Selection
from ..store.ledger import Reply, Task
from .items import Item, alone, digest_of
from .job import Job
from .prompts import FIVE, TEN, Prompt, Request, closing, fenced, load
from .rubric import PASS_FAIL

if TYPE_CHECKING:
    from ..store import Store

AB, BA = (0, 1), (1, 0)
VERDICT = {1: "Response A is better", -1: "Response B is better", 0: "neither is better"}
"""A verdict in the words of the prompts: A is the response shown first."""

Material = tuple[tuple[str, str], ...]
Replies = Mapping[str, Reply]
Stage = Callable[[Replies], list[Request]]


def stages(job: Job, store: Store) -> list[Stage]:
    """The job's stages: each gives its requests from the replies so far. Known replies are not left
    out.
    """
    if job.protocol == "apoc":
        return [
            lambda _: _base_and_swap(job),
            lambda replies: _once(pair.key for pair in _disputed(job, replies)),
            lambda replies: _once(pair.keyed(replies) for pair in _disputed(job, replies)),
        ]
    if job.rules.reads:
        read = _over_stored(job, store)
        return [lambda _: read]
    requests = {"scores": _scores, "rankings": _lists, "votes": _pairs}[job.rules.kind]
    return [lambda _: requests(job)]


def done(reply: Reply | None, again: Collection[str] = ()) -> bool:
    """Whether nothing is left to do for a request; a failed call is left, and a reply with a status
    to ask again for.
    """
    return reply is not None and reply.status != "error" and reply.status not in again


def judged(job: Job) -> tuple[Item, ...]:
    """The items that are judged: all but the examples."""
    examples = {item.digest for item in examples_of(job)}
    return tuple(item for item in job.items if item.digest not in examples)


def examples_of(job: Job) -> tuple[Item, ...]:
    """Labelled items that are open, drawn as examples; the same seed draws the same. Raises
    TooFewLabels if there are not enough.
    """
    if not job.few_shot:
        return ()
    labelled = sorted(
        (item for item in job.items if item.gold is not None and not item.sealed),
        key=lambda item: item.digest,
    )
    if len(labelled) < job.few_shot or len(job.items) == job.few_shot:
        raise TooFewLabels(
            f"{job.few_shot} examples need that many items with gold, none of them sealed for "
            f"`prove`, and one item more to judge; there are {len(labelled)} such of "
            f"{len(job.items)}"
        )
    drawn = np.random.default_rng(job.seed).permutation(len(labelled))[: job.few_shot]
    return tuple(labelled[place] for place in drawn)


def _flags(job: Job) -> set[str]:
    words = {
        "ties": job.ties,
        "self": job.confidence == "self",
        "token": job.confidence == "logprob",
        "shots": job.few_shot > 0,
        "five": job.five or job.levels == FIVE,
        "ten": job.levels == TEN,
        "scale": job.levels not in (PASS_FAIL, FIVE, TEN),
        "own": job.own_answer,
        "show": bool(job.show),
        "criteria": bool(job.criteria),
    }
    return {word for word, holds in words.items() if holds}


def _examples_text(job: Job) -> str:
    """Examples in words of our own around texts fenced by a hash that they cannot foresee of
    themselves.
    """
    shown = []
    for number, item in enumerate(examples_of(job), start=1):
        mark = hashlib.sha256(f"{item.digest}{job.seed}".encode()).hexdigest()[:16]
        parts = [f"Example {number}. The prompt:", fenced(item.prompt, mark), "Response A:"]
        parts += [fenced(item.responses[0], mark), "Response B:", fenced(item.responses[1], mark)]
        parts += [f"People's verdict: {VERDICT[item.gold or 0]}."]
        shown.append("\n".join(parts))
    return "\n\n".join(shown)


def _runs(job: Job) -> list[tuple[int, tuple[int, int]]]:
    """Run and order of each vote on a comparison."""
    if job.two_orders:
        return [(run, order) for run in range(job.n // 2) for order in (AB, BA)]
    return [(run, AB) for run in range(job.n)]


def _requests(
    job: Job,
    prompt: Prompt,
    places: Iterable[tuple[Item, int, tuple[int, ...], Material]],
    *,
    task: Task,
) -> list[Request]:
    """A request per judge for each item, run, order and material."""
    return [
        Request(
            task=task,
            judge=judge,
            voter=job.voter(judge, item.perturbed),
            item=item,
            order=order,
            run=run,
            prompt=prompt,
            temperature=job.effective_temperature,
            # Only votes can be ties: it is no part of another request's key.
            ties=job.ties or task != "vote",
            confidence=job.confidence,
            material=material,
            five=job.five,
            show=job.show,
            criteria=job.criteria,
            verdict_words=job.verdict_words,
            scale=job.levels if task == "score" and not job.rubric else (),
            rubric=job.criteria_asked,
        )
        for item, run, order, material in places
        for judge in job.judges
    ]


def _pairs(job: Job) -> list[Request]:
    name, shots = "levels" if job.five else "pairwise", _examples_text(job)
    prompt = load(name, flags=_flags(job), examples=shots, folder=job.prompts, own=job.prompt)
    missing = {"first", "second"} - prompt.places
    if missing and job.prompt is not None:
        raise InvalidOption(
            f"{prompt.title} does not show both responses: it lacks "
            f"{' and '.join(f'{{{{{place}}}}}' for place in sorted(missing))}"
        )
    places = ((item, run, order, ()) for item in judged(job) for run, order in _runs(job))
    return _requests(job, prompt, places, task="vote")


def _scores(job: Job) -> list[Request]:
    """Single answers: pass or fail, a level, or a word for each criterion."""
    places = ((single, run, (0,), ()) for single in alone(job.items) for run in range(job.n))
    flags = _flags(job) - {"ties", "self", "shots", "own"}
    # A reply that is one token is no object.
    if "token" not in flags:
        flags |= {"json", *(f"json_{each}" for each in flags & {"ten", "five", "scale"})}
    text = job.prompt
    if text is not None and job.closing:
        text = f"{text.rstrip()}\n\n{closing(job)}\n"
    prompt = load(job.protocol, flags=flags, folder=job.prompts, own=text)
    if not {"response", "first"} & prompt.places:
        raise InvalidOption(
            f"{prompt.title} does not show what it judges: it lacks {{{{response}}}}"
        )
    asked = ("criteria", job.criteria or job.rubric), ("scale", "scale" in flags)
    for place, needed in asked if job.prompt is None else ():
        if needed and place not in prompt.places:
            raise InvalidOption(f"{prompt.title} asks for no {place}: it lacks {{{{{place}}}}}")
    return _requests(job, prompt, places, task="score")


def _lists(job: Job) -> list[Request]:
    orders = (
        (item, enumerate(orderings(item, job.n, job.seed, same=job.same_orderings)))
        for item in job.items
    )
    places = ((item, run, order, ()) for item, each in orders for run, order in each)
    return _requests(job, load("listwise", folder=job.prompts), places, task="rank")


def orderings(item: Item, n: int, seed: int, *, same: bool = False) -> list[tuple[int, ...]]:
    """K orderings of an item's candidates: the canonical one first, then shuffles fixed by item and
    seed; `same`: by seed and number of candidates alone, so that run k of every item of that length
    shows the same one.

    Orderings do not repeat until all have been used. Source: [PCF] §3 (the draw is ours).
    """
    size = len(item.responses)
    drawn_for = "" if same else item.item_id
    digest = hashlib.sha256(f"{seed}:{drawn_for}:{size}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    possible = int(np.prod(np.arange(1.0, min(size, 18) + 1)))
    drawn_orders = [tuple(range(size))]
    used = set(drawn_orders)
    while len(drawn_orders) < n:
        if len(used) == possible:
            used.clear()
        drawn = tuple(int(place) for place in rng.permutation(size))
        if drawn not in used:
            used.add(drawn)
            drawn_orders.append(drawn)
    return drawn_orders


def _over_stored(job: Job, store: Store) -> list[Request]:
    """USC, GSA and fuser: one request per item and vote, with all stored judgements of the item in
    it.

    Raises NoUsableVotes if no item has judgements of the judges that are named.
    """
    samples = _samples(job, store)
    judgements = ((item, samples.get((item.item_id, *item.models), [])) for item in job.items)
    places = (
        (item, run, order, _material(votes, order))
        for item, votes in judgements
        if {vote["judge"] for vote in votes} >= set(job.samples_of)
        for run, order in _runs(job)
    )
    made = _requests(
        job, load(job.protocol, flags=_flags(job), folder=job.prompts), places, task="vote"
    )
    if not made:
        raise NoUsableVotes(
            f"The store has no comparison of {job.dataset} judged by "
            f"{' and '.join(job.samples_of)}: "
            "collect or import those votes into it first"
        )
    return made


def _samples(job: Job, store: Store) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Stored votes of the judges that are read, by comparison, in an order that loading cannot
    change.
    """
    selection = Selection(datasets=(job.dataset,), judges=job.samples_of)
    rows = store.export(selection).drop_columns(["prompt", "response_a", "response_b"]).to_pylist()
    votes: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["judge"], row["run"], row["position"] or "")):
        if row["status"] == "ok":
            votes[(row["item_id"], row["model_a"], row["model_b"])].append(row)
    return dict(votes)


def _material(votes: Iterable[Mapping[str, Any]], order: tuple[int, int]) -> Material:
    """Stored votes on an item, for a judge that sees the responses in `order`."""
    headings = (
        (f"Judgement {k}. {_verdict_text(vote, order)}", vote)
        for k, vote in enumerate(votes, start=1)
    )
    return tuple((heading, vote["rationale"] or "(no words)") for heading, vote in headings)


def _verdict_text(vote: Mapping[str, Any], order: tuple[int, int]) -> str:
    """Verdict and confidence of a stored vote, for a judge that sees the responses in `order`."""
    text = f"Verdict: {VERDICT[vote['vote'] if order == AB else -vote['vote']]}."
    if vote["confidence"] is not None:
        text += f" Confidence: {vote['confidence']:.2f}."
    if vote["position"] is None:
        text += (
            " Which it saw first is not known: where it speaks of A "
            "or B, it may mean either response."
        )
    elif (vote["position"] == "ba") == (order == AB):
        text += (
            " It saw the two in the other order: where it speaks of A, "
            "it means Response B here, and of B, A."
        )
    return f"{text} Its words:"


def _base_and_swap(job: Job) -> list[Request]:
    """Base verdicts and those in the swapped order: the very requests of a greedy pairwise job."""
    both = replace(
        job,
        protocol="pairwise",
        votes=2,
        orders="balanced",
        temperature=job.effective_temperature,
        keyed=None,
    )
    return [
        request for request in _pairs(both) if request.order == AB or not request.item.estimation
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ApocPair:
    """One judge on one item: its requests and replies in both orders, and what decides between
    them.

    swap : None on prompts that ask for an estimate.  key : an independent judge's answer key,
        worked out from
    the prompt alone.  prompt : of the verdict by that key.
    """

    base: Request
    swap: Request | None
    first: Reply | None
    second: Reply | None
    key: Request
    prompt: Prompt

    @property
    def statuses(self) -> set[str]:
        """Of both replies; a request without one is as good as failed: it is sent."""
        return {"error" if reply is None else reply.status for reply in (self.first, self.second)}

    @property
    def disputed(self) -> bool:
        """Whether the swapped order contradicts the base verdict."""
        if self.first is None or self.second is None or self.statuses != {"ok"}:
            return False
        return self.first.vote != self.second.vote

    @property
    def disputable(self) -> bool:
        """Whether it is disputed, or may be once missing replies are there."""
        return self.swap is not None and (
            self.disputed or {"error"} <= self.statuses <= {"ok", "error"}
        )

    def keyed(self, replies: Replies) -> Request | None:
        """The verdict by the answer key, if that could be read."""
        key = replies.get(self.key.key)
        if key is None or key.status != "ok" or key.body is None:
            return None
        return self.keyed_by(json.loads(key.body)["key"])

    def keyed_by(self, answer_key: str) -> Request:
        """The verdict by this answer key."""
        judge = self.key.judge
        return replace(
            self.base,
            task="note",
            judge=judge,
            voter=f"keyed({judge.name})",
            prompt=self.prompt,
            answer_key=answer_key,
        )


def _apoc_pairs(job: Job, replies: Replies) -> list[_ApocPair]:
    key, keyed = (
        load("key", folder=job.prompts),
        load("keyed", flags=_flags(job), folder=job.prompts),
    )
    by_pair: dict[tuple[str, str], dict[tuple[int, ...], Request]] = defaultdict(dict)
    for request in _base_and_swap(job):
        by_pair[(request.item.digest, request.voter)][request.order] = request
    pairs = []
    for orders in by_pair.values():
        base, swap = orders[AB], orders.get(BA)
        first, second = replies.get(base.key), replies.get(swap.key) if swap else None
        judge = job.keyed or base.judge
        answer_key = replace(
            base,
            task="note",
            judge=judge,
            voter=f"key({judge.name})",
            prompt=key,
            confidence="none",
            ties=False,
        )
        pairs.append(
            _ApocPair(
                base=base, swap=swap, first=first, second=second, key=answer_key, prompt=keyed
            )
        )
    return pairs


def _disputed(job: Job, replies: Replies) -> list[_ApocPair]:
    return [pair for pair in _apoc_pairs(job, replies) if pair.disputed]


def _once(requests: Iterable[Request | None]) -> list[Request]:
    """Each request once: judges on one item may share the judge that confirms."""
    return list({request.key: request for request in requests if request is not None}.values())


def further(job: Job, replies: Replies, answered: Callable[[list[str]], Replies]) -> list[Request]:
    """Most of the requests that replies may still lead to (APOCJudge): none where both orders agree
    already.

    A keyed verdict whose key is not written yet is there with an empty one.
    answered : replies to requests by key, those with status `error` too.
    """
    if job.protocol != "apoc":
        return []
    pairs = [pair for pair in _apoc_pairs(job, replies) if pair.disputable]
    keys = _once(pair.key for pair in pairs)
    written = answered([key.key for key in keys])
    left = {key.key: key for key in keys if not done(written.get(key.key))}
    verdicts = _once(
        pair.keyed_by("") if pair.key.key in left else pair.keyed(written) for pair in pairs
    )
    given = answered([verdict.key for verdict in verdicts])
    return [*left.values(), *(verdict for verdict in verdicts if not done(given.get(verdict.key)))]


def conclusions(job: Job, replies: Replies) -> list[Reply]:
    """APOCJudge's verdicts that can be drawn: nothing for other protocols, or while a call has
    failed.

    The base verdict stands unless the swapped order contradicts it and the keyed verdict agrees
    with the swapped one; not on prompts that ask for an estimate. Source: [PCF] §3; that the
    independent judge first writes its key from the prompt alone is ours.
    """
    if job.protocol != "apoc":
        return []
    drawn = (_conclusion(pair, replies) for pair in _apoc_pairs(job, replies))
    return [reply for reply in drawn if reply is not None]


def _conclusion(pair: _ApocPair, replies: Replies) -> Reply | None:
    if pair.first is None or "error" in (pair.statuses if pair.swap else {pair.first.status}):
        return None
    requests = [pair.base.key, pair.swap.key if pair.swap else ""]
    verdict, how = pair.first.vote, "base"
    if pair.disputed and pair.second is not None:
        request = pair.keyed(replies)
        keyed = replies.get(request.key) if request else None
        if not done(replies.get(pair.key.key)) or (request and not done(keyed)):
            return None
        requests.append(request.key if request else "")
        how = "contradicted, not confirmed"
        if keyed is not None and keyed.status == "ok" and keyed.vote == pair.second.vote:
            verdict, how = pair.second.vote, "overridden"
    name = f"apoc({pair.base.judge.name})"
    return Reply(
        **pair.base.identity() | {"judge": name, "key": digest_of([name, *requests])},
        status=pair.first.status,
        vote=verdict,
        rationale=pair.first.rationale,
        body=json.dumps({"how": how}),
        attempts=0,
    )
