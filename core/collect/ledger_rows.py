"""How answers reach the store: replies with their votes as they come, scores and rankings at the
end.

Replies that wait are stored in one transaction; none that was paid for is dropped. Nothing takes
the place of judgements of another origin.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import InvalidOption
from ..schema import FORMS, ONE_METRIC, STATUSES, ImportResult, Kind
from ..store.ledger import COMPARISON, Call, Ledger, Reply
from .items import Item, alone, digest_of
from .job import Job
from .limits import InFlight, Signal
from .prompts import Request
from .protocols import orderings
from .reading import FLAGS
from .rubric import Words, agreed, ends_of, whole
from .spare import Spare

if TYPE_CHECKING:
    from ..store import Store

Place = tuple[str, str, str, int]
"""What one judgement of a data set is: item_id, model ("" for a ranking), judge and run."""
Content = frozenset[tuple[Any, ...]]
"""A judgement and how it was requested; of a ranking, for each candidate."""
CONTENT = (
    "candidate",
    "slot",
    "score",
    "rank",
    "status",
    "prompt_hash",
    "temperature",
    "rationale",
)


def ledger_of(job: Job, store: Store) -> Ledger:
    """The ledger of the job's data set."""
    pairs = job.items if job.rules.kind == "votes" else ()
    comparisons = [
        (i.item_id, *i.models, i.category, i.prompt, *i.responses, i.gold) for i in pairs
    ]
    return Ledger(
        store, job.dataset, [dict(zip(COMPARISON, cells, strict=True)) for cells in comparisons]
    )


def check_free(
    job: Job, store: Store, requests: Sequence[Request], kept: Mapping[str, Reply], ledger: Ledger
) -> None:
    """No vote, score or ranking of another origin may sit where one of this job would go.

    kept : replies that are kept, by key.

    Raises InvalidOption.
    """
    if job.rules.kind == "votes":
        there = ledger.taken(set(job.voters))
        for request in requests if there else ():
            pair = (request.item.item_id, *request.item.models)
            if (
                request.key not in kept
                and (pair, request.voter, request.run, request.position) in there
            ):
                raise _taken(job, request.voter, request.item.item_id)
        return
    stored = _stored(store, job)
    earlier = [kept[request.key] for request in requests if request.key in kept] if stored else []
    own = _by_place(_of_whole(_rows(job, earlier)))
    for request in requests:
        place = (request.item.item_id, request.candidate, request.voter, request.run)
        if not _free(stored.get(place), own.get(place)):
            raise _taken(job, request.voter, request.item.item_id)


def load_rows(store: Store, job: Job, replies: Iterable[Reply]) -> None:
    """Load the scores or rankings among the replies; the same ones twice load once.

    Raises InvalidOption if others came meanwhile where some of these would go; the rest is loaded.
    """
    if job.rules.kind == "votes":
        return
    stored, rows = _stored(store, job), _rows(job, replies)
    own = _by_place(_of_whole(rows))
    taken = [place for place, content in own.items() if not _free(stored.get(place), content)]
    lost = set(taken)
    free = [row for row in rows if _place(row) not in lost]
    if free:
        # What failed before and was answered since takes the place of the failure.
        store.load(
            _reading(job.rules.kind, free, job.dataset), dataset=job.dataset, on_conflict="replace"
        )
    if taken:
        raise _taken(job, taken[0][2], taken[0][0])


def _free(there: Content | None, content: Content | None) -> bool:
    """Whether nothing is stored, or nothing usable, or the very same."""
    status = CONTENT.index("status")
    return there is None or there == content or all(row[status] != "ok" for row in there)


def _taken(job: Job, judge: str, item_id: str) -> InvalidOption:
    return InvalidOption(
        "The data set {dataset} has {kind} of {judge!r} on item {item_id!r} from another prompt, "
        "model, temperature or file. Give this judge another name with {option}",
        option="judge",
        dataset=job.dataset,
        kind=job.rules.kind,
        judge=judge,
        item_id=item_id,
    )


def _stored(store: Store, job: Job) -> dict[Place, Content]:
    """Scores, or rankings, of the job's judges that its data set holds."""
    ranks = job.protocol == "listwise"
    what = "m.name as candidate, v.slot, v.score, v.rank" if ranks else "m.name as model, v.score"
    rows = store.query(
        f"""select i.name as item_id, j.name as judge, v.run, {what}, v.status, h.text as
        prompt_hash,
                   v.temperature, t.text as rationale
            from {job.rules.kind} v join datasets d on d.id = v.dataset join items i on i.id =
            v.item
            join judges j on j.id = v.judge join models m on m.id =
            v.{"candidate" if ranks else "model"}
            left join texts h on h.id = v.prompt_hash left join texts t on t.id = v.rationale
            {"" if ranks else f"join metrics k on k.id = v.metric and k.name = '{ONE_METRIC}'"}
            where d.name = $dataset and j.name in (select unnest($judges::varchar[]))""",
        {"dataset": job.dataset, "judges": list(job.voters)},
    )
    return _by_place(row | {"status": STATUSES[row["status"]]} for row in rows.to_pylist())


def _place(row: Mapping[str, Any]) -> Place:
    return row["item_id"], row.get("model", ""), row["judge"], row["run"]


def _by_place(rows: Iterable[Mapping[str, Any]]) -> dict[Place, Content]:
    of_place = defaultdict(list)
    for row in rows:
        of_place[_place(row)].append(tuple(row.get(name) for name in CONTENT))
    return {place: frozenset(content) for place, content in of_place.items()}


def _rows(job: Job, replies: Iterable[Reply]) -> list[dict[str, Any]]:
    """Rows as the store takes them: one per score, one per candidate of a ranking.

    A ranking that could not be read still says where each candidate was shown.
    """
    ranks = job.rules.kind == "rankings"
    items = {
        (item.item_id, "" if ranks else item.models[0]): item
        for item in (job.items if ranks else alone(job.items))
    }
    rows = []
    for reply in replies:
        item, body = items[reply.item_id, reply.candidate], json.loads(reply.body or "[]")
        order = (
            orderings(item, reply.run + 1, job.seed, same=job.same_orderings)[reply.run]
            if ranks
            else (0,)
        )
        entries = (
            {entry["candidate"]: entry for entry in body}
            if ranks
            else {reply.candidate: body or {}}
        )
        for slot, place in enumerate(order):
            entry = entries.get(item.models[place], {})
            row = _shared(reply, item)
            if ranks:
                row |= {"candidate": item.models[place], "slot": slot}
                row |= {column: entry.get(column) for column in ("score", "rank", *FLAGS)}
                row["is_best"] = _is_best(item, place)
            else:
                scores = entry.get("scores", {})
                row |= {"model": reply.candidate, "score": entry.get("score")}
                row |= _on_scale(job, job.levels) | {"confidence": reply.confidence}
                row["gold"] = agreed(job.labels_of(item), job.levels)
                if job.rubric:
                    row["score"] = whole(job.criteria_asked, scores)
            # The call is paid once, whatever the number of candidates.
            row |= {"response": item.responses[place], "cost": None if slot else reply.cost}
            rows.append(row)
            if ranks:
                continue
            if "expected" in entry:
                rows.append(row | {"metric": EXPECTED, "score": entry["expected"], "cost": None})
            rows += [
                row | _of_criterion(job, name) | {"metric": name, "score": score}
                for name, score in scores.items()
            ]
            people = job.labels_of(item)
            rows += [
                row | PERSON | {"judge": name, "score": label, "gold": None}
                for name, label in (people.items() if len(people) > 1 else ())
            ]
    # Several judges, or runs, meet the same people.
    unique = {(*_place(row), row.get("metric"), row.get("candidate")): row for row in rows}
    return list(unique.values())


EXPECTED = "expected"
"""Metric of Σ k·p(k) over the levels, where a judge's probabilities are known."""
PERSON = {
    "rater_type": "human",
    "status": "ok",
    "run": 0,
    **dict.fromkeys(("rationale", "prompt_hash", "temperature", "confidence", "cost")),
}
"""What a row of a person has of its own beside the row of a judge on the same answer."""


def _on_scale(job: Job, words: Words) -> dict[str, Any]:
    """The ends of a scale, where more than whole scores of 1 to 10 or 5 were asked for."""
    if job.protocol == "score" and not job.scale:
        return {}
    low, high = ends_of(words)
    return {"scale_low": low, "scale_high": high}


def _of_criterion(job: Job, name: str) -> dict[str, Any]:
    """What a row of a criterion has of its own beside that of the whole."""
    own = {"cost": None, "gold": None}
    return own | next(
        (_on_scale(job, each.words) for each in job.criteria_asked if each.name == name), {}
    )


def _of_whole(rows: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Rows but for those of single criteria, which go where the score of the whole goes."""
    return (row for row in rows if "metric" not in row)


def _shared(reply: Reply, item: Item) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "category": item.category,
        "judge": reply.judge,
        "run": reply.run,
        "status": reply.vote_status,
        "rater_type": "llm",
        "prompt": item.prompt,
        "rationale": reply.rationale,
        "prompt_hash": reply.prompt_hash,
        "temperature": reply.temperature,
    }


def _is_best(item: Item, place: int) -> int | None:
    """Whether a candidate is among the best, as 0 or 1; None if that is unknown."""
    if item.best:
        return int(item.models[place] in item.best)
    return (
        None if item.gold is None else int(item.gold == 0 or place == (0 if item.gold > 0 else 1))
    )


def _reading(kind: Kind, rows: list[dict[str, Any]], name: str) -> ImportResult:
    import pyarrow as pa

    return ImportResult.without_rejects(
        pa.Table.from_pylist(rows, schema=FORMS[kind].schema()),
        name=f"{name} (collected)",
        sha256=digest_of(rows),
        format="collected",
        kind=kind,
    )


GATHERING = 3
"""Times as long as a transaction took that replies may wait for others after it."""
LONGEST_GATHERING = 0.1
"""Seconds that replies wait for others at most, after the transaction before."""
ENOUGH = 0.5
"""Share of the places in flight whose replies are stored without waiting for others."""
LAST_WAITS = (0.5, 1.0, 2.0)
"""Seconds before each last attempt to store what could not be stored."""
UNSTORABLE = (ValueError, TypeError, ArithmeticError)
"""What a value raises that no table takes; anything else is about the store."""
REASON = 300
"""Characters kept of why a reply cannot be stored."""


class Writer:
    """The only writer of a run's ledger.

    stored : called with the replies just stored, and how many of their votes found their place
        taken.
    settled : called when the place of a request may be given back.
    broken : called with the reason why nothing can be stored; what arrives is kept and tried again.
    spare : file that has it, should the process end before.
    most_at_once : how many replies may wait to be stored before one of their places is given back.
    """

    def __init__(
        self,
        ledger: Ledger,
        shared: InFlight,
        *,
        stored: Callable[[Sequence[Reply], int], None],
        settled: Callable[[Request], None],
        broken: Callable[[str], None],
        spare: Spare | None,
        most_at_once: Callable[[], int],
        patience: float,
    ) -> None:
        self._ledger = ledger
        self._spare, self._most_at_once = spare, most_at_once
        self.spared = 0
        self._shared = shared
        self._stored, self._settled, self._broken = stored, settled, broken
        self._patience = patience
        self._arrived: list[tuple[Request | asyncio.Event, Reply]] = []
        self._calls: list[Call] = []
        self._kept: dict[str, Reply] = {}
        self._news = asyncio.Event()
        self._come = Signal()
        self._flushed = Signal()
        self._closed = self._stuck = False

    def put(self, request: Request, reply: Reply) -> None:
        """Store a reply and its vote, then give the request's place back."""
        self._arrived.append((request, reply))
        self._news.set()
        self._come.notify()

    async def keep(self, reply: Reply) -> None:
        """Store a reply whose request goes on, and wait until that was tried."""
        stored = asyncio.Event()
        self._arrived.append((stored, reply))
        self._news.set()
        self._come.notify()
        await stored.wait()

    def add(self, reply: Reply) -> None:
        """Store a reply together with the next one that is put."""
        self._arrived.append((asyncio.Event(), reply))

    def _most_are_here(self) -> bool:
        return len(self._arrived) >= ENOUGH * self._most_at_once()

    def spent(self, call: Call) -> None:
        """Store what a call used, together with its reply or alone."""
        self._calls.append(call)
        self._news.set()

    async def recorded(self) -> None:
        """Wait until what calls used so far is stored, or this ends, or nothing can be stored."""
        while self._calls and not (self._closed or self._stuck):
            await self._flushed.changed()

    def close(self) -> None:
        """Nothing more will come."""
        self._closed = True
        self._news.set()
        self._come.notify()

    @property
    def unstored(self) -> int:
        """Replies that could not be stored so far."""
        return len(self._kept)

    async def run(self) -> None:
        """Until closed and everything is stored, or cannot be."""
        self._calls += self._shared.unrecorded
        self._shared.unrecorded.clear()
        if self._calls:
            self._news.set()
        now, free_at = asyncio.get_running_loop().time, 0.0
        while not self._closed or self._arrived:
            await self._news.wait()
            # A transaction costs about the same for one reply as for thirty: while they come fast,
            # three quarters of the time are left for them to gather. Requests give their places
            # back only once they are stored: no more are waited for than may come.
            while not self._closed and now() < free_at and not self._most_are_here():
                await self._come.changed(free_at - now())
            self._news.clear()
            begun = now()
            await self._flush()
            free_at = now() + min(GATHERING * (now() - begun), LONGEST_GATHERING)
        for wait in LAST_WAITS:
            if not (self._kept or self._calls):
                break
            await asyncio.sleep(wait * self._patience)
            await self._flush()
        self._shared.unrecorded += self._calls
        self._calls = []
        await self._save()

    async def _save(self) -> None:
        """Put what the store has no room for into the file that has room for it."""
        calls = [*self._shared.unrecorded, *self._calls]
        if self._spare is not None and (self._shared.unstored or calls):
            kept = tuple(self._shared.unstored.values())
            self.spared = await asyncio.to_thread(self._spare.keep, kept, calls)

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
            if isinstance(request, asyncio.Event):
                request.set()
            else:
                self._settled(request)
        self._flushed.notify()

    async def _write(self, replies: Sequence[Reply], calls: Sequence[Call]) -> None:
        lost = await asyncio.to_thread(self._ledger.write, replies, calls=calls)
        for reply in replies:
            self._kept.pop(reply.key, None)
            self._shared.unstored.pop(reply.key, None)
        self._stored(replies, lost)

    async def _one_by_one(self, replies: Sequence[Reply], calls: Sequence[Call]) -> None:
        """A group could not be stored: one of them may be the reason, or the store cannot be
        written.
        """
        left = list(replies)
        try:
            await self._write((), calls)
            calls = ()
            while left:
                try:
                    await self._write(left[:1], ())
                except UNSTORABLE as error:
                    await self._write([poison(left[0], error)], ())
                left.pop(0)
        except Exception as error:
            self._calls = [*calls, *self._calls]
            for reply in left:
                self._kept[reply.key] = self._shared.unstored[reply.key] = reply
            self._stuck = True
            self._broken(str(error))
            await self._save()


def poison(reply: Reply, error: Exception) -> Reply:
    """A reply that cannot be stored, as a failed one."""
    why = f"The reply cannot be stored ({type(error).__name__}: {error})".encode(
        "utf-8", "replace"
    ).decode()
    nothing: dict[str, Any] = dict.fromkeys(
        (
            "vote",
            "confidence",
            "confidence_kind",
            "body",
            "prompt_tokens",
            "completion_tokens",
            "cost",
        )
    )
    return replace(reply, status="error", rationale=why[:REASON], raw=why[:REASON], **nothing)
