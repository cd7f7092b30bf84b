"""The ledger of model replies: each is kept with its request key, and its vote with it, in one
transaction.

A reply in the ledger is never requested again; another data set that needs it gets a copy. What
each call used is kept beside, whatever came of it, so that limits hold over all runs.

A group of replies is a few inserts: the general loader checks each load anew, which costs fifty
milliseconds, so the numbers of comparisons, judges and texts are remembered between groups. If
anything else changed the store meanwhile, it is looked at again first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from ..schema import CONFIDENCE_KINDS, STATUSES
from .batches import leave
from .connection import Change, Database, Snapshot
from .load import (
    code_texts,
    count_anew,
    fill_comparisons,
    fill_gold,
    fill_names,
    fill_texts,
    insert_votes,
    name_spaces,
)

if TYPE_CHECKING:
    import pyarrow as pa


Task = Literal["vote", "score", "rank", "note"]
"""What a reply becomes: a vote, a direct score, a ranking, or nothing but material for a later
request.
"""

Pair = tuple[str, str, str]
"""item_id, model_a, model_b."""

Place = tuple[Pair, str, int, str]
"""Where one vote may be: comparison, judge, run and order."""


COMPARISON = (
    "item_id",
    "model_a",
    "model_b",
    "category",
    "prompt",
    "response_a",
    "response_b",
    "gold",
)
"""What is known of a comparison to be voted on, and goes with each of its votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answered request.

    status : of a vote, or `cut_off`: ended at the limit of tokens, which makes no vote either; or
        `failed`: the server rejects this one request, which is not sent again by itself.
    candidate : for a vote `model_a` and `model_b` of its comparison as a JSON list, for a score the
        model, else "".  vote : canonical, None unless ok.  body : what was parsed beyond the vote,
        as JSON.
    raw : the reply word for word; for `error` and `failed` what the provider said.
    attempts : calls made for it.
    cost : in the currency of the price; None if the price or the tokens are unknown.
    seconds : of the attempt that was answered.
    """

    key: str
    task: Task
    judge: str
    model: str
    item_id: str
    candidate: str
    position: str
    run: int
    status: str
    vote: int | None = None
    confidence: float | None = None
    confidence_kind: str | None = None
    rationale: str | None = None
    body: str | None = None
    raw: str = ""
    prompt_hash: str | None = None
    temperature: float | None = None
    attempts: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None

    @property
    def vote_status(self) -> str:
        """Status of what becomes of it: a reply that was cut off could not be read."""
        return {"cut_off": "unparsed", "failed": "error"}.get(self.status, self.status)

    @property
    def place(self) -> Place:
        """Where the vote goes."""
        return _place(self.item_id, self.candidate, self.judge, self.run, self.position)


def _place(item_id: str, candidate: str, judge: str, run: int, position: str) -> Place:
    """Where a vote is, from the columns of `replies`."""
    model_a, model_b = json.loads(candidate)
    return (item_id, model_a, model_b), judge, run, position


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that was made for a request, whatever came of it.

    tokens, cost : what it used; where that is unknown, the most that it may have used. cost None:
        no price.
    batch : the batch that it is or was in: while it waits `Batch.id`, then its name at the
        provider.
    """

    key: str
    tokens: int
    cost: float | None
    batch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What all calls for one request used, at most."""

    calls: int
    tokens: int
    cost: float


NAMES = tuple(field.name for field in fields(Reply))


REPLY_TYPES = {
    "run": "int64",
    "vote": "int8",
    "confidence": "double",
    "temperature": "double",
    "attempts": "int32",
    "prompt_tokens": "int64",
    "completion_tokens": "int64",
    "cost": "double",
    "seconds": "double",
    "received_at": "timestamp[us]",
}
"""Columns of `replies` that are no text."""
CALL_TYPES = {"tokens": "int64", "cost": "double"}
VOTE_TYPES = {
    "id": "int64",
    "dataset": "int32",
    "comparison": "int32",
    "judge": "int32",
    "category": "int32",
    "run": "int64",
    "position": "int8",
    "vote": "int8",
    "confidence": "double",
    "confidence_kind": "int8",
    "status": "int8",
    "human": "bool",
    "prompt": "int32",
    "response_a": "int32",
    "response_b": "int32",
    "rationale": "int32",
    "prompt_hash": "int32",
    "temperature": "double",
    "cost": "double",
}
"""Columns of a collected vote and its details: numbers only."""


UNCHANGED = ("run", "vote", "confidence", "temperature", "cost")
"""Columns of a vote that are the reply's."""
OF_PAIR = ("comparison", "category", "prompt", "response_a", "response_b")
"""Columns of a vote that are its comparison's."""


def _table(rows: list[dict[str, Any]], types: Mapping[str, str]) -> pa.Table:
    """Rows as an Arrow table; columns without a type are text."""
    import pyarrow as pa

    return pa.Table.from_pylist(
        rows, pa.schema([(name, types.get(name, "string")) for name in rows[0]])
    )


KINDS = {kind: number for number, kind in enumerate(CONFIDENCE_KINDS)}
DETAILS = ("prompt", "response_a", "response_b", "rationale", "prompt_hash", "temperature", "cost")
"""Columns of `details` that a collected vote fills."""


class CollectedVotes:
    """Votes of one data set on known comparisons, and the numbers that stand for their names."""

    def __init__(self, dataset: str, comparisons: list[dict[str, Any]]) -> None:
        self._dataset = dataset
        self._comparisons = comparisons
        self._number = self._last_vote = self._last_text = -1
        self._of_pair: dict[Pair, tuple[Any, ...]] = {}
        self._of_judge: dict[str, int] = {}

    def knows(self, judges: set[str]) -> bool:
        """Whether these judges have numbers."""
        return judges <= self._of_judge.keys()

    def enter(self, change: Change, judges: set[str]) -> None:
        """Number data set, items, models, judges, comparisons and texts, and remember the
        numbers.
        """
        rows = [row | {"dataset": self._dataset} for row in self._comparisons]
        named = ("prompt", "response_a", "response_b")
        coded, texts = code_texts(_table(rows, {"gold": "int8"}), named)
        change.register("incoming", coded)
        change.register("voters", _table([{"name": judge} for judge in sorted(judges)], {}))
        change.execute("create temp table given as select *, false as gold_differs from incoming")
        name_spaces(change)
        models = "select model_a as name from given union select model_b from given"
        fill_names(change, models, "select name from voters", simulated=False)
        fill_texts(change, texts)
        fill_comparisons(change)
        fill_gold(change, replace=False)
        pairs = change.rows(
            """select k.item_id, k.model_a, k.model_b, k.comparison, ct.id, p.id, ra.id, rb.id
               from keyed k left join categories ct on ct.name = k.category
               left join number_of_prompt p on p.code = k.prompt
               left join number_of_response_a ra on ra.code = k.response_a
               left join number_of_response_b rb on rb.code = k.response_b"""
        )
        self._number = change.count("select id from datasets where name = ?", [self._dataset])
        self._of_pair = {row[:3]: row[3:] for row in pairs}
        self._of_judge = dict(change.rows("select name, id from judges"))
        self._last_vote = change.count("select max(id) from votes")
        self._last_text = change.count("select max(id) from texts")

    def add(self, change: Change, votes: Sequence[Reply]) -> None:
        """Write votes whose places are free."""
        texts = self._text_ids(change, votes)
        change.register("collected", _table([self._row(vote, texts) for vote in votes], VOTE_TYPES))
        insert_votes(change, "collected", DETAILS)

    def count(self, change: Change, places: Iterable[Place]) -> None:
        """Make the cells of the comparisons at these places true again."""
        numbers = sorted({self._of_pair[pair][0] for pair, *_ in places if pair in self._of_pair})
        if numbers:
            these = f"v.comparison in ({', '.join(map(str, numbers))})"
            count_anew(change, these, in_order=False)

    def remove(self, change: Change, place: Place) -> bool:
        """Take a vote away; False if its comparison or judge is none of these."""
        pair, judge, run, position = place
        comparison, number = self._of_pair.get(pair), self._of_judge.get(judge)
        if comparison is None or number is None:
            return False
        numbers = [comparison[0], number, run, 1 if position == "ab" else -1]
        same = "comparison = ? and judge = ? and run = ? and position = ?"
        change.execute(
            f"delete from details where vote in (select id from votes where {same})", numbers
        )
        change.execute(f"delete from votes where {same}", numbers)
        return True

    def _row(self, vote: Reply, texts: Mapping[str, int]) -> dict[str, Any]:
        """A vote and its details, in numbers."""
        self._last_vote += 1
        return {
            **{name: getattr(vote, name) for name in UNCHANGED},
            **dict(zip(OF_PAIR, self._of_pair[vote.place[0]], strict=True)),
            "id": self._last_vote,
            "dataset": self._number,
            "judge": self._of_judge[vote.judge],
            "position": 1 if vote.position == "ab" else -1,
            "confidence_kind": KINDS.get(vote.confidence_kind or ""),
            "status": STATUSES.index(vote.vote_status),
            "human": False,
            "rationale": texts.get(vote.rationale or ""),
            "prompt_hash": texts.get(vote.prompt_hash or ""),
        }

    def _text_ids(self, change: Change, votes: Sequence[Reply]) -> dict[str, int]:
        """Numbers of the rationales and prompt hashes; new ones are entered."""
        wanted = {text for reply in votes for text in (reply.rationale, reply.prompt_hash) if text}
        ids: dict[str, int] = dict(
            change.rows(
                "select text, id from texts where text in (select unnest($texts::varchar[]))",
                {"texts": sorted(wanted)},
            )
        )
        fresh = sorted(wanted - set(ids))
        if fresh:
            numbers = range(self._last_text + 1, self._last_text + 1 + len(fresh))
            self._last_text += len(fresh)
            ids.update(zip(fresh, numbers, strict=True))
            change.insert(
                _table([{"id": ids[text], "text": text} for text in fresh], {"id": "int32"}),
                "texts",
            )
        return ids


class Ledger:
    """Replies of one data set of a store; threads may share it.

    comparisons : those that votes are on, with the cells of `COMPARISON`.
    """

    def __init__(self, store: Database, dataset: str, comparisons: list[dict[str, Any]]) -> None:
        self._store = store
        self._dataset = dataset
        self._votes = CollectedVotes(dataset, comparisons)
        self._one_at_a_time = threading.Lock()
        # The version of the store at which the numbers below, or what was looked up, were last
        # known to hold.
        self._entered = -1
        self._looked = -1
        self._held: set[str] = set()
        self._failed: set[str] = set()
        self._taken: set[Place] = set()

    def answered(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Replies to these requests, by key, from whichever data set; failed ones if there is no
        better.
        """
        import pyarrow as pa

        wanted = pa.array(list(keys), pa.string()).to_pylist()
        replies = self._store.query(
            f"""select distinct on (key) {", ".join(NAMES)} from replies
                where key in (select unnest($keys::varchar[]))
                order by key, status = 'error', dataset <> $dataset""",
            {"keys": wanted, "dataset": self._dataset},
        )
        return {row["key"]: Reply(**row) for row in replies.to_pylist()}

    def look(self, keys: Collection[str], judges: Collection[str]) -> None:
        """Look up which of these requests the data set has replies to, and the votes of these
        judges.
        """
        with self._one_at_a_time, self._store.snapshot() as moment:
            self._looked = _version(moment)
            self._find_keys(moment, keys)
            self._taken = _taken(moment, self._dataset, judges) if judges else set()

    def lacks(self, reply: Reply) -> bool:
        """Whether the data set, as last looked at, has not got this reply or its vote."""
        return reply.key not in self._held or (
            reply.task == "vote" and reply.place not in self._taken
        )

    def taken(self, judges: Collection[str]) -> set[Place]:
        """Votes of these judges in the data set."""
        return _taken(self._store, self._dataset, judges)

    def spent(self, keys: Collection[str]) -> dict[str, Spent]:
        """What calls for these requests used, by key; requests never asked are absent."""
        sums = self._store.query(
            """select key, count(*)::bigint as calls, sum(tokens)::bigint as tokens,
                      coalesce(sum(cost), 0.0) as cost
               from calls where key in (select unnest($keys::varchar[])) group by key""",
            {"keys": list(keys)},
        )
        return {row.pop("key"): Spent(**row) for row in sums.to_pylist()}

    def lease(self, calls: Sequence[Call]) -> None:
        """Count calls that are about to be made, so that they count whatever becomes of this
        process.
        """
        with self._change_of_calls() as change:
            rows = [asdict(call) | {"dataset": self._dataset} for call in calls]
            change.insert(_table(rows, CALL_TYPES), "calls")

    def release(self, calls: Sequence[Call]) -> None:
        """Count leased calls no more: those that were made are counted themselves."""
        with self._change_of_calls() as change:
            change.register("leased", _table([asdict(call) for call in calls], CALL_TYPES))
            change.execute(
                """delete from calls where rowid in (
                     select min(c.rowid) from calls c join leased l on l.key = c.key and l.tokens
                     = c.tokens
                     where c.cost is not distinct from l.cost and c.dataset = $dataset group by
                     c.key)""",
                {"dataset": self._dataset},
            )

    @contextmanager
    def _change_of_calls(self) -> Iterator[Change]:
        """A change of calls alone: what is known of replies and votes holds at the next version
        too.
        """
        with self._one_at_a_time:
            with self._store.change() as change:
                version = _version(change)
                yield change
            self._entered, self._looked = (
                version + 1 if seen == version else -1 for seen in (self._entered, self._looked)
            )

    def write(
        self,
        replies: Sequence[Reply],
        *,
        calls: Sequence[Call] = (),
        instead: bool = False,
        batch: str | None = None,
    ) -> int:
        """Keep replies, their votes and what calls used together, or none of it.

        A reply that the data set has is not kept again, nor a vote where there is one; the number
        of votes that found their place taken by another request is returned. A reply takes the
        place of one without a verdict to the same request; `instead`: also of other replies that
        voted at its place.
        batch : `Batch.id` of the batch in which these calls were; they wait there no more.
        """
        with self._one_at_a_time:
            return self._write(replies, calls, instead, batch)

    def _write(
        self, replies: Sequence[Reply], calls: Sequence[Call], instead: bool, batch: str | None
    ) -> int:
        entered, looked, self._entered, self._looked = self._entered, self._looked, -1, -1
        judges = {reply.judge for reply in replies if reply.task == "vote"}
        with self._store.change() as change:
            version = _version(change)
            if judges and (version != entered or not self._votes.knows(judges)):
                self._votes.enter(change, judges)
                entered = version
            if replies and version != looked:
                self._look_again(change, replies)
            gone = self._failed & {reply.key for reply in replies}
            if instead:
                gone |= self._others_at(change, replies)
            freed = self._forget(change, gone) if gone else set()
            fresh, votes, lost = self._new(replies, gone, freed)
            if batch is not None:
                leave(change, batch, [call.key for call in calls])
            self._insert(change, fresh, votes, calls)
            self._votes.count(change, {*freed, *(vote.place for vote in votes)})
        # `change` raises the version by one; what anybody else changes will show as another number.
        self._entered = version + 1 if entered == version else -1
        self._looked = version + 1 if looked == version else -1
        self._held -= gone
        self._failed -= gone
        self._taken -= freed
        for reply in fresh:
            self._note(reply.key, reply.status)
        self._taken.update(vote.place for vote in votes)
        return lost

    def _new(
        self, replies: Sequence[Reply], gone: set[str], freed: set[Place]
    ) -> tuple[list[Reply], list[Reply], int]:
        """Replies to keep, those whose votes go in, and how many new ones find their place
        taken.
        """
        fresh, votes, lost = [], [], 0
        placed: set[Place] = set()
        for reply in {reply.key: reply for reply in replies}.values():
            new = reply.key not in self._held or reply.key in gone
            if new:
                fresh.append(reply)
            if reply.task != "vote":
                continue
            place = reply.place
            if place in placed or (place in self._taken and place not in freed):
                lost += new
            else:
                votes.append(reply)
                placed.add(place)
        return fresh, votes, lost

    def _find_keys(self, store: Snapshot, keys: Collection[str]) -> None:
        """Note which of these requests the data set has replies to."""
        self._held -= set(keys)
        self._failed -= set(keys)
        replies = store.rows(
            """select key, status from replies
               where dataset = $dataset and key in (select unnest($keys::varchar[]))""",
            {"dataset": self._dataset, "keys": list(keys)},
        )
        for key, status in replies:
            self._note(key, status)

    def _note(self, key: str, status: str) -> None:
        """Whether a reply is there, and whether another may take its place."""
        if status != "error":
            self._held.add(key)
        if status != "ok":
            self._failed.add(key)

    def _look_again(self, change: Change, replies: Sequence[Reply]) -> None:
        """Somebody else changed the store: see what it has of these replies now."""
        self._find_keys(change, [reply.key for reply in replies])
        votes = [reply for reply in replies if reply.task == "vote"]
        if votes:
            self._taken -= {vote.place for vote in votes}
            judges, items = {vote.judge for vote in votes}, {vote.item_id for vote in votes}
            self._taken |= _taken(change, self._dataset, judges, items)

    def _others_at(self, change: Change, replies: Sequence[Reply]) -> set[str]:
        """Replies in the data set that voted where these will, to other requests."""
        places = {reply.place: reply.key for reply in replies if reply.task == "vote"}
        stored = change.rows(
            """select key, item_id, candidate, judge, run, position from replies
               where task = 'vote' and dataset = $dataset and judge in (select
               unnest($judges::varchar[]))""",
            {"dataset": self._dataset, "judges": sorted({judge for _, judge, _, _ in places})},
        )
        return {key for key, *columns in stored if places.get(_place(*columns), key) != key}

    def set_agreement(self, judges: Sequence[str]) -> None:
        """Give the votes of these judges the confidence `multi`: the share of the judge's votes on
        the comparison that say the same, which is the share of the mode for votes that follow it
        (for votes off the mode ours). Comparisons with one vote get none. Source: docs/methods.md
        §5.
        """
        with self._store.change() as change:
            change.execute(
                """create temp table shares as
                   select id, n, count(*) over (partition by comparison, judge, vote) / n as
                   share from (
                     select v.id, v.comparison, v.judge, v.vote,
                            count(*) over (partition by v.comparison, v.judge) as n
                     from votes v join datasets d on d.id = v.dataset join judges j on j.id =
                     v.judge
                     where v.status = 0 and d.name = $dataset
                       and j.name in (select unnest($judges::varchar[])))""",
                {"dataset": self._dataset, "judges": list(judges)},
            )
            change.execute(
                f"""update votes set confidence = s.share, confidence_kind =
                {CONFIDENCE_KINDS.index("multi")}
                    from shares s where votes.id = s.id and s.n > 1
                    and votes.confidence is distinct from s.share"""
            )
            number = change.count("select id from datasets where name = ?", [self._dataset])
            count_anew(change, f"v.dataset = {number}")

    def _forget(self, change: Change, keys: Iterable[str]) -> set[Place]:
        """Take away the data set's replies to these requests and their votes; return the places
        left free.
        """
        given = {"keys": sorted(keys), "dataset": self._dataset}
        one_of_them = "dataset = $dataset and key in (select unnest($keys::varchar[]))"
        gone = change.rows(
            f"""select item_id, candidate, judge, run, position from replies
                where task = 'vote' and {one_of_them}""",
            given,
        )
        change.execute(f"delete from replies where {one_of_them}", given)
        places = (_place(*columns) for columns in gone)
        return {place for place in places if self._votes.remove(change, place)}

    def _insert(
        self, change: Change, fresh: Sequence[Reply], votes: Sequence[Reply], calls: Sequence[Call]
    ) -> None:
        kept = {"dataset": self._dataset, "received_at": datetime.now(UTC).replace(tzinfo=None)}
        if fresh:
            change.insert(_table([asdict(reply) | kept for reply in fresh], REPLY_TYPES), "replies")
        if votes:
            self._votes.add(change, votes)
        if calls:
            rows = [asdict(call) | {"dataset": self._dataset} for call in calls]
            change.insert(_table(rows, CALL_TYPES), "calls")


def _version(store: Snapshot) -> int:
    return int(store.rows("select value from settings where key = 'version'")[0][0])


def _taken(
    store: Database | Snapshot,
    dataset: str,
    judges: Collection[str],
    items: Collection[str] | None = None,
) -> set[Place]:
    """Votes of these judges in a data set, on these items only if they are given."""
    votes = store.rows(
        f"""select i.name as item_id, a.name as model_a, b.name as model_b, j.name as judge, v.run,
                   case v.position when 1 then 'ab' when -1 then 'ba' else '' end as position
            from votes v join datasets d on d.id = v.dataset join judges j on j.id = v.judge
            join comparisons c on c.id = v.comparison join items i on i.id = c.item
            join models a on a.id = c.model_a join models b on b.id = c.model_b
            where d.name = $dataset and j.name in (select unnest($judges::varchar[]))
            {"" if items is None else "and i.name in (select unnest($items::varchar[]))"}""",
        {"dataset": dataset, "judges": list(judges)}
        | ({} if items is None else {"items": list(items)}),
    )
    return {((item, a, b), judge, run, position) for item, a, b, judge, run, position in votes}


def all_replies(store: Database) -> list[dict[str, Any]]:
    """What models replied about items, by item, judge and order; no notes."""
    rows: list[dict[str, Any]] = store.query(
        """select item_id, judge, raw, status, vote, body, rationale from replies
           where task <> 'note' order by item_id, judge, position, run"""
    ).to_pylist()
    return rows


def asked_as(store: Database, dataset: str, name: str, task: str) -> list[dict[str, Any]]:
    """Models, prompts and temperatures by which a judge, or a version of it, answered."""
    rows: list[dict[str, Any]] = store.query(
        """select distinct judge, model, prompt_hash, temperature from replies
           where dataset = $dataset and task = $task and status <> 'error'
             and (judge = $name or starts_with(judge, $name || '@v'))""",
        {"dataset": dataset, "name": name, "task": task},
    ).to_pylist()
    return rows
