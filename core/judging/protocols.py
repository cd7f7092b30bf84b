"""The requests of each protocol, in stages: a later stage may depend on the replies to an earlier one.

One request to a model: what makes it the same request, the messages it sends, how its reply is read.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NoUsableVotes, TooFewLabels
from ..schema import POSITIONS, Selection
from ..store.ledger import Reply, Task
from . import parsing
from .items import Item, alone
from .job import Job, Judge
from .parsing import LETTERS, Parsed
from .prompts import Prompt, load, messages

if TYPE_CHECKING:
    from ..store import Store


TOP_LOGPROBS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to one model about one item.

    voter : who the reply is stored as.  order : slot → place of the response in the item.
    material : what stored judgements it reads, each a heading and a text.  answer_key : for a keyed verdict.
    key : sha256 of model, server, voter, prompt hash, item, order, run, parameters and material; two requests
        with one key are the same request.
    """

    task: Task
    judge: Judge
    voter: str
    item: Item
    order: tuple[int, ...]
    run: int
    prompt: Prompt
    temperature: float
    ties: bool = True
    confidence: str = "none"
    material: tuple[tuple[str, str], ...] = ()
    answer_key: str | None = None
    key: str = field(init=False)

    def __post_init__(self) -> None:
        parts = [
            self.task,
            self.judge.model,
            self.judge.base_url,
            self.judge.max_tokens,
            self.voter,
            self.item.digest,
            self.order,
            self.run,
            self.prompt.hash,
            self.temperature,
            self.ties,
            # Agreement of repeated votes is counted afterwards; the request is the same without it.
            "none" if self.confidence == "multi" else self.confidence,
            self.material,
            self.answer_key,
        ]
        object.__setattr__(self, "key", hashlib.sha256(json.dumps(parts).encode()).hexdigest())

    @property
    def position(self) -> str:
        """`ab` or `ba` of a pair, "" of anything else."""
        return POSITIONS[self.order[0]] if len(self.order) == 2 and self.task in ("vote", "note") else ""

    def messages(self, fence: str) -> list[dict[str, str]]:
        """Chat messages, judged texts fenced."""
        shown = [self.item.responses[place] for place in self.order]
        texts: dict[str, Any] = {"prompt": self.item.prompt}
        words = {"count": str(len(shown)), "labels": ", ".join(LETTERS[: len(shown)])}
        if self.task == "rank":
            texts["candidates"] = [(f"Candidate {LETTERS[k]}:", text) for k, text in enumerate(shown)]
        elif self.prompt.name != "key":
            texts |= dict(zip(("first", "second"), shown, strict=False))
        if self.material:
            texts["samples"] = self.material
        if self.answer_key is not None:
            texts["key"] = self.answer_key
        return messages(self.prompt, texts, words, fence)

    def parameters(self) -> dict[str, Any]:
        """What the call takes beside model and messages."""
        given: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.judge.max_tokens}
        if self.confidence == "logprob":
            given |= {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return given

    def read(self, text: str, *, refused: bool, alternatives: dict[str, float] | None) -> Parsed:
        """What a reply to this request says."""
        if self.task == "score":
            return parsing.direct_score(text, refused=refused)
        if self.task == "rank":
            return parsing.ranking(text, len(self.order), refused=refused)
        if self.prompt.name == "key":
            return parsing.answer_key(text, refused=refused)
        if self.confidence == "logprob":
            return parsing.token(text, alternatives, ties=self.ties, refused=refused)
        stated = self.confidence == "self"
        return parsing.verdict(text, ties=self.ties, confidence=stated, refused=refused)

    def reply(self, parsed: Parsed, raw: str, **facts: Any) -> Reply:
        """The ledger's row; a slot verdict becomes a canonical one."""
        vote = parsed.slot_vote
        if vote is not None and self.position == "ba":
            vote = -vote
        return Reply(
            **self.identity(),
            status=parsed.status,
            vote=vote,
            confidence=parsed.confidence,
            confidence_kind=self.confidence if parsed.confidence is not None else None,
            rationale=parsed.reason or None,
            body=self._body(parsed),
            raw=raw,
            **facts,
        )

    def failure(self, message: str, **facts: Any) -> Reply:
        """The ledger's row for a request that got no answer; it is asked again next time."""
        return Reply(**self.identity(), status="error", rationale=message, raw=message, **facts)

    def identity(self) -> dict[str, Any]:
        """What the ledger knows of a request before it is answered."""
        if self.task == "score":
            candidate = self.item.models[self.order[0]]
        else:
            candidate = json.dumps(self.item.models) if self.task in ("vote", "note") else ""
        return {
            "key": self.key,
            "task": self.task,
            "judge": self.voter,
            "model": self.judge.model,
            "item_id": self.item.item_id,
            "candidate": candidate,
            "position": self.position,
            "run": self.run,
            "prompt_hash": self.prompt.hash,
            "temperature": self.temperature,
        }

    def _body(self, parsed: Parsed) -> str | None:
        if parsed.score is not None:
            return json.dumps({"score": parsed.score})
        if parsed.key is not None:
            return json.dumps({"key": parsed.key})
        if parsed.ranking:
            return json.dumps(
                [
                    {
                        "candidate": self.item.models[self.order[entry.slot]],
                        "slot": entry.slot,
                        "score": entry.score,
                        "rank": entry.rank,
                        **{flag: getattr(entry, flag) for flag in parsing.FLAGS},
                    }
                    for entry in parsed.ranking
                ]
            )
        return None


AB, BA = (0, 1), (1, 0)
VERDICT = {1: "Response A is better", -1: "Response B is better", 0: "neither is better"}
"""A verdict in the words of the prompts: A is the response shown first."""
SAMPLED = (
    "item_id",
    "model_a",
    "model_b",
    "judge",
    "run",
    "position",
    "vote",
    "confidence",
    "rationale",
    "status",
)

Replies = Mapping[str, Reply]
Stage = Callable[[Replies], list[Request]]


def stages(job: Job, store: Store) -> list[Stage]:
    """The job's stages: each gives its requests from the replies so far. Known replies are not left out."""
    if job.protocol == "score":
        return [lambda _: _scores(job)]
    if job.protocol == "listwise":
        return [lambda _: _lists(job)]
    if job.protocol == "apoc":
        return _apoc(job)
    if job.protocol in ("usc", "gsa", "fuser"):
        read = _stored(job, store)
        return [lambda _: read]
    return [lambda _: _pairs(job)]


def judged(job: Job) -> tuple[Item, ...]:
    """The items that are judged: all but the examples."""
    examples = {item.digest for item in examples_of(job)}
    return tuple(item for item in job.items if item.digest not in examples)


def examples_of(job: Job) -> tuple[Item, ...]:
    """Labelled items drawn as examples; the same seed draws the same.

    Raises TooFewLabels if there are not enough.
    """
    if not job.few_shot:
        return ()
    labelled = sorted((item for item in job.items if item.gold is not None), key=lambda item: item.digest)
    if len(labelled) < job.few_shot or len(job.items) == job.few_shot:
        raise TooFewLabels(
            f"{job.few_shot} examples need that many items with gold, and one item more to judge; "
            f"there are {len(labelled)} with gold of {len(job.items)}"
        )
    drawn = np.random.default_rng(job.seed).permutation(len(labelled))[: job.few_shot]
    return tuple(labelled[place] for place in drawn)


def _flags(job: Job) -> set[str]:
    words = {"ties": job.ties, "self": job.confidence == "self", "token": job.confidence == "logprob"}
    return {word for word, holds in words.items() if holds} | ({"shots"} if job.few_shot else set())


def _examples_text(job: Job) -> str:
    """Examples in words of our own around texts marked by a hash that they cannot foresee of themselves."""
    shown = []
    for number, item in enumerate(examples_of(job), start=1):
        mark = hashlib.sha256(f"{item.digest}{job.seed}".encode()).hexdigest()[:16]
        parts = [f"Example {number}. The prompt:", _marked(item.prompt, mark), "Response A:"]
        parts += [_marked(item.responses[0], mark), "Response B:", _marked(item.responses[1], mark)]
        parts += [f"People's verdict: {VERDICT[item.gold or 0]}."]
        shown.append("\n".join(parts))
    return "\n\n".join(shown)


def _marked(text: str, mark: str) -> str:
    return f"<data-{mark}>\n{text}\n</data-{mark}>"


def _runs(job: Job) -> list[tuple[int, tuple[int, int]]]:
    """Run and order of each vote on a comparison."""
    if job.two_orders:
        return [(run, order) for run in range(job.n // 2) for order in (AB, BA)]
    return [(run, AB) for run in range(job.n)]


def _vote(
    job: Job,
    judge: Judge,
    item: Item,
    run: int,
    order: tuple[int, int],
    prompt: Prompt,
    material: tuple[tuple[str, str], ...] = (),
) -> Request:
    return Request(
        task="vote",
        judge=judge,
        voter=job.voter(judge),
        item=item,
        order=order,
        run=run,
        prompt=prompt,
        temperature=job.heat,
        ties=job.ties,
        confidence=job.confidence,
        material=material,
    )


def _pairs(job: Job) -> list[Request]:
    prompt = load("pairwise", flags=_flags(job), examples=_examples_text(job), folder=job.prompts)
    return [
        _vote(job, judge, item, run, order, prompt)
        for item in judged(job)
        for run, order in _runs(job)
        for judge in job.judges
    ]


def _scores(job: Job) -> list[Request]:
    prompt = load("score", folder=job.prompts)
    return [
        Request(
            task="score",
            judge=judge,
            voter=judge.name,
            item=single,
            order=(0,),
            run=run,
            prompt=prompt,
            temperature=job.heat,
        )
        for single in alone(job.items)
        for run in range(job.n)
        for judge in job.judges
    ]


def orderings(item: Item, n: int, seed: int) -> list[tuple[int, ...]]:
    """K orderings of an item's candidates: the canonical one first, then shuffles fixed by item and seed.

    Orderings do not repeat until all have been used. Source: [PCF] §3 (the draw is ours).
    """
    size = len(item.responses)
    digest = hashlib.sha256(f"{seed}:{item.item_id}:{size}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    possible = int(np.prod(np.arange(1.0, min(size, 18) + 1)))
    found = [tuple(range(size))]
    used = set(found)
    while len(found) < n:
        if len(used) == possible:
            used.clear()
        drawn = tuple(int(place) for place in rng.permutation(size))
        if drawn not in used:
            used.add(drawn)
            found.append(drawn)
    return found


def _lists(job: Job) -> list[Request]:
    prompt = load("listwise", folder=job.prompts)
    return [
        Request(
            task="rank",
            judge=judge,
            voter=judge.name,
            item=item,
            order=order,
            run=run,
            prompt=prompt,
            temperature=job.heat,
        )
        for item in job.items
        for run, order in enumerate(orderings(item, job.n, job.seed))
        for judge in job.judges
    ]


def _stored(job: Job, store: Store) -> list[Request]:
    """USC, GSA and fuser: one request an item and vote, with all stored judgements of the item in it.

    Raises NoUsableVotes if no item has judgements of the judges that are named.
    """
    samples = _samples(job, store)
    prompt = load(job.protocol, flags=_flags(job), folder=job.prompts)
    made = []
    for item in job.items:
        found = samples.get((item.item_id, item.models[0], item.models[1]), [])
        if {vote["judge"] for vote in found} < set(job.samples_of):
            continue
        for run, order in _runs(job):
            material = tuple(
                (f"Judgement {k}. {_said(vote, order)}", vote["rationale"] or "(no words)")
                for k, vote in enumerate(found, start=1)
            )
            for judge in job.judges:
                made.append(_vote(job, judge, item, run, order, prompt, material))
    if not made:
        raise NoUsableVotes(
            f"The store has no comparison of {job.dataset} judged by {' and '.join(job.samples_of)}: "
            "collect or import those votes into it first"
        )
    return made


def _samples(job: Job, store: Store) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Stored votes of the judges that are read, by comparison, in an order that loading cannot change."""
    selection = Selection(datasets=(job.dataset,), judges=job.samples_of)
    rows = store.export(selection).select(SAMPLED).to_pylist()
    found = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["judge"], row["run"], row["position"] or "")):
        if row["status"] == "ok":
            found[(row["item_id"], row["model_a"], row["model_b"])].append(row)
    return dict(found)


def _said(vote: Mapping[str, Any], order: tuple[int, int]) -> str:
    """Verdict and confidence of a stored vote, for a reader to whom the responses are shown in `order`."""
    said = f"Verdict: {VERDICT[vote['vote'] if order == AB else -vote['vote']]}."
    if vote["confidence"] is not None:
        said += f" Confidence: {vote['confidence']:.2f}."
    if vote["position"] is None:
        said += " Which it saw first is not known: where it speaks of A or B, it may mean either response."
    elif (vote["position"] == "ba") == (order == AB):
        said += (
            " It saw the two in the other order: where it speaks of A, it means Response B here, and of B, A."
        )
    return f"{said} Its words:"


def _apoc(job: Job) -> list[Stage]:
    return [
        lambda _: _base_and_swap(job),
        lambda known: _answer_keys(job, known),
        lambda known: _keyed(job, known),
    ]


def _base_and_swap(job: Job) -> list[Request]:
    """Base verdicts and those in the swapped order: the very requests of a pairwise job at this heat."""
    both = replace(job, protocol="pairwise", votes=2, orders="balanced", temperature=job.heat, keyed=None)
    return [request for request in _pairs(both) if request.order == AB or not request.item.estimation]


def _base(job: Job, known: Replies) -> list[tuple[Request, Reply | None, Request | None, Reply | None]]:
    """Base and swapped request of each judge and item, with their replies."""
    pairs: dict[tuple[str, str], dict[tuple[int, ...], Request]] = defaultdict(dict)
    for request in _base_and_swap(job):
        pairs[(request.item.digest, request.voter)][request.order] = request
    found = []
    for orders in pairs.values():
        base, swap = orders[AB], orders.get(BA)
        found.append((base, known.get(base.key), swap, known.get(swap.key) if swap else None))
    return found


def _disputed(job: Job, known: Replies) -> list[Request]:
    """Base requests whose verdict the swapped order contradicts."""
    return [
        base
        for base, first, _, second in _base(job, known)
        if first and second and first.status == second.status == "ok" and first.vote != second.vote
    ]


def _answer_key(job: Job, base: Request, prompt: Prompt) -> Request:
    judge = job.keyed or base.judge
    return replace(
        base,
        task="note",
        judge=judge,
        voter=f"key({judge.name})",
        prompt=prompt,
        confidence="none",
        ties=False,
    )


def _answer_keys(job: Job, known: Replies) -> list[Request]:
    """What an independent judge works out from the prompt alone, for each disputed item."""
    prompt = load("key", folder=job.prompts)
    made = [_answer_key(job, base, prompt) for base in _disputed(job, known)]
    return list({request.key: request for request in made}.values())


def _keyed_of(job: Job, base: Request, known: Replies, prompts: tuple[Prompt, Prompt]) -> Request | None:
    key = known.get(_answer_key(job, base, prompts[0]).key)
    if key is None or key.status != "ok" or key.body is None:
        return None
    return _verdict_by_key(job, base, prompts[1], json.loads(key.body)["key"])


def _verdict_by_key(job: Job, base: Request, prompt: Prompt, answer_key: str) -> Request:
    judge = job.keyed or base.judge
    return replace(
        base,
        task="note",
        judge=judge,
        voter=f"keyed({judge.name})",
        prompt=prompt,
        answer_key=answer_key,
    )


def further(job: Job, known: Replies, answered: Callable[[list[str]], Replies]) -> list[Request]:
    """Most of the requests that replies may still lead to (APOCJudge): none where both orders agree already.

    A keyed verdict whose key is not written yet is there with an empty one.
    answered : replies to requests by key, those with status `error` too.
    """
    if job.protocol != "apoc":
        return []
    prompts = load("key", folder=job.prompts), load("keyed", flags=_flags(job), folder=job.prompts)
    disputed = {request.key for request in _disputed(job, known)}
    open_pairs = [
        base
        for base, first, swap, second in _base(job, known)
        if swap
        and (base.key in disputed or {"error"} <= {_status(first), _status(second)} <= {"ok", "error"})
    ]
    keys = {request.key: request for request in (_answer_key(job, base, prompts[0]) for base in open_pairs)}
    written = answered(list(keys))
    left = {key: request for key, request in keys.items() if _status(written.get(key)) == "error"}
    verdicts: dict[str, Request] = {}
    for base in open_pairs:
        if _answer_key(job, base, prompts[0]).key in left:
            asked: Request | None = _verdict_by_key(job, base, prompts[1], "")
        else:
            asked = _keyed_of(job, base, written, prompts)
        if asked is not None:
            verdicts[asked.key] = asked
    given = answered(list(verdicts))
    return [*left.values(), *(r for key, r in verdicts.items() if _status(given.get(key)) == "error")]


def _status(reply: Reply | None) -> str:
    """Status of a reply; a request without one is as good as failed: it is asked."""
    return "error" if reply is None else reply.status


def _keyed(job: Job, known: Replies) -> list[Request]:
    """Verdicts against the answer keys."""
    prompts = load("key", folder=job.prompts), load("keyed", flags=_flags(job), folder=job.prompts)
    made = (_keyed_of(job, base, known, prompts) for base in _disputed(job, known))
    return list({request.key: request for request in made if request is not None}.values())


def conclusions(job: Job, known: Replies) -> list[Reply]:
    """APOCJudge's verdicts that can be drawn: nothing for other protocols, or while a call has failed.

    The base verdict stands unless the swapped order contradicts it and the keyed verdict agrees with the
    swapped one; not on prompts that ask for an estimate. Source: [PCF] §3; that the independent judge first
    writes its key from the prompt alone is ours.
    """
    if job.protocol != "apoc":
        return []
    prompts = load("key", folder=job.prompts), load("keyed", flags=_flags(job), folder=job.prompts)
    disputed = {request.key for request in _disputed(job, known)}
    made = []
    for base, first, swap, second in _base(job, known):
        heard = [base.key, swap.key if swap else ""]
        if (
            first is None
            or first.status == "error"
            or (swap and (second is None or second.status == "error"))
        ):
            continue
        verdict, how = first.vote, "base"
        if base.key in disputed and second is not None:
            key = known.get(_answer_key(job, base, prompts[0]).key)
            asked = _keyed_of(job, base, known, prompts)
            keyed = known.get(asked.key) if asked else None
            if key is None or key.status == "error" or (asked and (keyed is None or keyed.status == "error")):
                continue
            heard.append(asked.key if asked else "")
            how = "contradicted, not confirmed"
            if keyed is not None and keyed.status == "ok" and keyed.vote == second.vote:
                verdict, how = second.vote, "overridden"
        name = f"apoc({base.judge.name})"
        facts = {
            **base.identity(),
            "judge": name,
            "key": hashlib.sha256(json.dumps([name, *heard]).encode()).hexdigest(),
        }
        made.append(
            Reply(
                **facts,
                status=first.status,
                vote=verdict,
                rationale=first.rationale,
                body=json.dumps({"how": how}),
                attempts=0,
            )
        )
    return made
