"""The ledger of model replies: each is kept with its request key, and its vote with it, in one transaction.

A reply in the ledger is never requested again; another data set that needs it gets a copy. What each call
used is kept beside, whatever came of it, so that limits hold over all runs.

A group of replies is a few inserts: the general loader checks each load anew, which costs fifty milliseconds,
so the numbers of comparisons, judges and texts are remembered between groups. If anything else changed the
store meanwhile, it is looked at again first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from ..schema import CONFIDENCE_KINDS, STATUSES
from .connection import Change, Database, Snapshot
from .load import fill_comparisons, fill_gold, fill_names, fill_texts, insert_votes

if TYPE_CHECKING:
    import pyarrow as pa


Task = Literal["vote", "score", "rank", "note"]
"""What a reply becomes: a vote, a direct score, a ranking, or nothing but material for a later request."""

Pair = tuple[str, str, str]
"""item_id, model_a, model_b."""

Place = tuple[Pair, str, int, str]
"""Where one vote may be: comparison, judge, run and order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison to be voted on, with what each of its votes carries along."""

    item_id: str
    model_a: str
    model_b: str
    category: str | None = None
    gold: int | None = None
    prompt: str | None = None
    response_a: str | None = None
    response_b: str | None = None

    @property
    def pair(self) -> Pair:
        return self.item_id, self.model_a, self.model_b


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answered request.

    candidate : for a vote `model_a` and `model_b` of its comparison as a JSON list, for a score the model,
        else "".  vote : canonical, None unless ok.  body : what was parsed beyond the vote, as JSON.
    raw : the reply word for word; for `error` what the provider said.  attempts : calls made for it.
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
    def pair(self) -> Pair:
        """The comparison that a vote is on."""
        model_a, model_b = json.loads(self.candidate)
        return self.item_id, model_a, model_b

    @property
    def place(self) -> Place:
        """Where the vote goes."""
        return self.pair, self.judge, self.run, self.position


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that was made for a request, whatever came of it.

    tokens, cost : what it used; where that is unknown, the most that it may have used. cost None: no price.
    """

    key: str
    tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What all calls for one request used, at most."""

    calls: int
    tokens: int
    cost: float


NAMES = tuple(field.name for field in fields(Reply))


def reply_table(dataset: str, replies: Sequence[Reply]) -> pa.Table:
    """Rows of the table `replies`."""
    import pyarrow as pa

    columns = [[getattr(reply, name) for reply in replies] for name in NAMES]
    table = pa.table(dict(zip(NAMES, columns, strict=True)), schema=_reply_schema())
    now = pa.scalar(datetime.now(UTC).replace(tzinfo=None), pa.timestamp("us"))
    table = table.append_column("dataset", pa.repeat(dataset, len(table)))
    return table.append_column("received_at", pa.repeat(now, len(table)))


def call_table(dataset: str, calls: Sequence[Call]) -> pa.Table:
    """Rows of the table `calls`."""
    import pyarrow as pa

    return pa.table(
        {
            "key": [call.key for call in calls],
            "dataset": pa.repeat(dataset, len(calls)),
            "tokens": pa.array([call.tokens for call in calls], pa.int64()),
            "cost": pa.array([call.cost for call in calls], pa.float64()),
        }
    )


def _reply_schema() -> pa.Schema:
    import pyarrow as pa

    types = {
        **dict.fromkeys(("run", "prompt_tokens", "completion_tokens"), pa.int64()),
        **dict.fromkeys(("confidence", "temperature", "cost", "seconds"), pa.float64()),
        "vote": pa.int8(),
        "attempts": pa.int32(),
    }
    return pa.schema([(name, types.get(name, pa.string())) for name in NAMES])


KINDS = {kind: number for number, kind in enumerate(CONFIDENCE_KINDS)}
DETAILS = ("prompt", "response_a", "response_b", "rationale", "prompt_hash", "temperature", "cost")
"""Columns of `details` that a collected vote fills."""


class CollectedVotes:
    """Votes of one data set on known comparisons, and the numbers that stand for their names."""

    def __init__(self, dataset: str, comparisons: Sequence[Comparison]) -> None:
        self._dataset = dataset
        self._comparisons = comparisons
        self._number = self._last_vote = self._last_text = -1
        self._of_pair: dict[Pair, tuple[Any, ...]] = {}
        self._of_judge: dict[str, int] = {}

    def knows(self, judges: set[str]) -> bool:
        """Whether these judges have numbers."""
        return judges <= self._of_judge.keys()

    def enter(self, change: Change, judges: set[str]) -> None:
        """Number data set, items, models, judges, comparisons and texts, and remember the numbers."""
        import pyarrow as pa

        schema = pa.schema(
            [(field.name, pa.int8() if field.name == "gold" else pa.string()) for field in fields(Comparison)]
        )
        rows = pa.Table.from_pylist([asdict(each) for each in self._comparisons], schema=schema)
        change.register("incoming", rows.append_column("dataset", pa.repeat(self._dataset, rows.num_rows)))
        change.register("voters", pa.table({"name": pa.array(sorted(judges), pa.string())}))
        change.execute("create temp table given as select *, false as gold_differs from incoming")
        models = "select model_a as name from given union select model_b from given"
        fill_names(change, models, "select name from voters", simulated=False)
        fill_texts(change, ("prompt", "response_a", "response_b"))
        fill_comparisons(change)
        fill_gold(change, replace=False)
        found = change.rows(
            """select k.item_id, k.model_a, k.model_b, k.comparison, ct.id, p.id, ra.id, rb.id
               from keyed k left join categories ct on ct.name = k.category
               left join texts p on p.text = k.prompt left join texts ra on ra.text = k.response_a
               left join texts rb on rb.text = k.response_b"""
        )
        self._number = change.count("select id from datasets where name = ?", [self._dataset])
        self._of_pair = {row[:3]: row[3:] for row in found}
        self._of_judge = dict(change.rows("select name, id from judges"))
        self._last_vote = change.count("select max(id) from votes")
        self._last_text = change.count("select max(id) from texts")

    def add(self, change: Change, votes: Sequence[Reply]) -> None:
        """Write votes whose places are free."""
        change.register("collected", self._vote_table(votes, self._text_ids(change, votes)))
        insert_votes(change, "collected", DETAILS)

    def remove(self, change: Change, pair: Pair, judge: str, run: int, position: str) -> bool:
        """Take a vote away; False if its comparison or judge is none of these."""
        known, number = self._of_pair.get(pair), self._of_judge.get(judge)
        if known is None or number is None:
            return False
        place = [known[0], number, run, 1 if position == "ab" else -1]
        same = "comparison = ? and judge = ? and run = ? and position = ?"
        change.execute(f"delete from details where vote in (select id from votes where {same})", place)
        change.execute(f"delete from votes where {same}", place)
        return True

    def _vote_table(self, votes: Sequence[Reply], texts: dict[str, int]) -> pa.Table:
        """Votes and their details, in numbers."""
        import pyarrow as pa

        first = self._last_vote + 1
        self._last_vote += len(votes)
        known = [self._of_pair[reply.pair] for reply in votes]
        columns = {
            "id": pa.array(range(first, first + len(votes)), pa.int64()),
            "dataset": pa.repeat(pa.scalar(self._number, pa.int32()), len(votes)),
            "comparison": pa.array([place[0] for place in known], pa.int32()),
            "judge": pa.array([self._of_judge[reply.judge] for reply in votes], pa.int32()),
            "category": pa.array([place[1] for place in known], pa.int32()),
            "run": pa.array([reply.run for reply in votes], pa.int64()),
            "position": pa.array([1 if reply.position == "ab" else -1 for reply in votes], pa.int8()),
            "vote": pa.array([reply.vote for reply in votes], pa.int8()),
            "confidence": pa.array([reply.confidence for reply in votes], pa.float64()),
            "confidence_kind": pa.array(
                [KINDS.get(reply.confidence_kind or "") for reply in votes], pa.int8()
            ),
            "status": pa.array([STATUSES.index(reply.status) for reply in votes], pa.int8()),
            "human": pa.repeat(False, len(votes)),
            "prompt": pa.array([place[2] for place in known], pa.int32()),
            "response_a": pa.array([place[3] for place in known], pa.int32()),
            "response_b": pa.array([place[4] for place in known], pa.int32()),
            "rationale": pa.array([texts.get(reply.rationale or "") for reply in votes], pa.int32()),
            "prompt_hash": pa.array([texts.get(reply.prompt_hash or "") for reply in votes], pa.int32()),
            "temperature": pa.array([reply.temperature for reply in votes], pa.float64()),
            "cost": pa.array([reply.cost for reply in votes], pa.float64()),
        }
        return pa.table(columns)

    def _text_ids(self, change: Change, votes: Sequence[Reply]) -> dict[str, int]:
        """Numbers of the rationales and prompt hashes; new ones are entered."""
        import pyarrow as pa

        wanted = {text for reply in votes for text in (reply.rationale, reply.prompt_hash) if text}
        known: dict[str, int] = dict(
            change.rows(
                "select text, id from texts where text in (select unnest($texts::varchar[]))",
                {"texts": sorted(wanted)},
            )
        )
        fresh = sorted(wanted - set(known))
        if fresh:
            numbers = range(self._last_text + 1, self._last_text + 1 + len(fresh))
            self._last_text += len(fresh)
            change.insert(pa.table({"id": pa.array(numbers, pa.int32()), "text": fresh}), "texts")
            known.update(zip(fresh, numbers, strict=True))
        return known


class Ledger:
    """Replies of one data set of a store; threads may share it."""

    def __init__(self, store: Database, dataset: str, comparisons: Sequence[Comparison]) -> None:
        self._store = store
        self._dataset = dataset
        self._votes = CollectedVotes(dataset, comparisons)
        self._one_at_a_time = threading.Lock()
        # The version of the store at which the numbers below, or what was looked up, were last known to hold.
        self._entered = -1
        self._looked = -1
        self._held: set[str] = set()
        self._failed: set[str] = set()
        self._taken: set[Place] = set()

    def answered(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Replies to these requests, by key, from whichever data set; failed ones if there is no better."""
        import pyarrow as pa

        wanted = pa.array(list(keys), pa.string()).to_pylist()
        found = self._store.query(
            f"""select distinct on (key) {", ".join(NAMES)} from replies
                where key in (select unnest($keys::varchar[]))
                order by key, status = 'error', dataset <> $dataset""",
            {"keys": wanted, "dataset": self._dataset},
        )
        return {row["key"]: Reply(**row) for row in found.to_pylist()}

    def look(self, keys: Collection[str], judges: Collection[str]) -> None:
        """Look up which of these requests the data set has replies to, and the votes of these judges."""
        with self._one_at_a_time, self._store.snapshot() as moment:
            self._looked = _version(moment)
            self._find_keys(moment, keys)
            self._taken = _taken(moment, self._dataset, judges) if judges else set()

    def lacks(self, reply: Reply) -> bool:
        """Whether the data set, as last looked at, has not got this reply or its vote."""
        return reply.key not in self._held or (reply.task == "vote" and reply.place not in self._taken)

    def taken(self, judges: Collection[str]) -> set[Place]:
        """Votes of these judges in the data set."""
        return _taken(self._store, self._dataset, judges)

    def spent(self, keys: Collection[str]) -> dict[str, Spent]:
        """What calls for these requests used, by key; requests never asked are absent."""
        found = self._store.query(
            """select key, count(*)::bigint as calls, sum(tokens)::bigint as tokens,
                      coalesce(sum(cost), 0.0) as cost
               from calls where key in (select unnest($keys::varchar[])) group by key""",
            {"keys": list(keys)},
        )
        return {row.pop("key"): Spent(**row) for row in found.to_pylist()}

    def write(self, replies: Sequence[Reply], *, calls: Sequence[Call] = (), instead: bool = False) -> int:
        """Keep replies, their votes and what calls used together, or none of it.

        A reply that the data set has is not kept again, nor a vote where there is one; the number of votes
        that found their place taken by another request is returned. A reply takes the place of one with
        status `error` to the same request; `instead`: also of other replies that voted at its place.
        """
        with self._one_at_a_time:
            return self._write(replies, calls, instead)

    def _write(self, replies: Sequence[Reply], calls: Sequence[Call], instead: bool) -> int:
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
            self._insert(change, fresh, votes, calls)
        # `change` raises the version by one; what anybody else changes will show as another number.
        self._entered = version + 1 if entered == version else -1
        self._looked = version + 1 if looked == version else -1
        self._held -= gone
        self._failed -= gone
        self._taken -= freed
        for reply in fresh:
            (self._failed if reply.status == "error" else self._held).add(reply.key)
        self._taken.update(vote.place for vote in votes)
        return lost

    def _new(
        self, replies: Sequence[Reply], gone: set[str], freed: set[Place]
    ) -> tuple[list[Reply], list[Reply], int]:
        """Replies to keep, those whose votes go in, and how many new ones find their place taken."""
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
        found = store.rows(
            """select key, status = 'error' as failed from replies
               where dataset = $dataset and key in (select unnest($keys::varchar[]))""",
            {"dataset": self._dataset, "keys": list(keys)},
        )
        for key, failed in found:
            (self._failed if failed else self._held).add(key)

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
        found = change.rows(
            """select key, item_id, candidate, judge, run, position from replies
               where task = 'vote' and dataset = $dataset and judge in (select unnest($judges::varchar[]))""",
            {"dataset": self._dataset, "judges": sorted({judge for _, judge, _, _ in places})},
        )
        others = set()
        for key, item_id, candidate, *rest in found:
            model_a, model_b = json.loads(candidate)
            if places.get(((item_id, model_a, model_b), *rest), key) != key:
                others.add(key)
        return others

    def set_agreement(self, judges: Sequence[str]) -> None:
        """Give the votes of these judges the confidence `multi`: the share of the judge's votes on the
        comparison that say the same, which is the share of the mode for votes that follow it (for votes off
        the mode ours). Comparisons with one vote get none. Source: docs/methods.md §5.
        """
        with self._store.change() as change:
            change.execute(
                """create temp table shares as
                   select id, n, count(*) over (partition by comparison, judge, vote) / n as share from (
                     select v.id, v.comparison, v.judge, v.vote,
                            count(*) over (partition by v.comparison, v.judge) as n
                     from votes v join datasets d on d.id = v.dataset join judges j on j.id = v.judge
                     where v.status = 0 and d.name = $dataset
                       and j.name in (select unnest($judges::varchar[])))""",
                {"dataset": self._dataset, "judges": list(judges)},
            )
            change.execute(
                f"""update votes set confidence = s.share, confidence_kind = {CONFIDENCE_KINDS.index("multi")}
                    from shares s where votes.id = s.id and s.n > 1
                    and votes.confidence is distinct from s.share"""
            )

    def _forget(self, change: Change, keys: Iterable[str]) -> set[Place]:
        """Take away the data set's replies to these requests and their votes; return the places left free."""
        given = {"keys": sorted(keys), "dataset": self._dataset}
        one_of_them = "dataset = $dataset and key in (select unnest($keys::varchar[]))"
        gone = change.rows(
            f"""select item_id, candidate, judge, run, position from replies
                where task = 'vote' and {one_of_them}""",
            given,
        )
        change.execute(f"delete from replies where {one_of_them}", given)
        freed = set()
        for item_id, candidate, judge, run, position in gone:
            model_a, model_b = json.loads(candidate)
            pair = (item_id, model_a, model_b)
            if self._votes.remove(change, pair, judge, run, position):
                freed.add((pair, judge, run, position))
        return freed

    def _insert(
        self, change: Change, fresh: Sequence[Reply], votes: Sequence[Reply], calls: Sequence[Call]
    ) -> None:
        if fresh:
            change.insert(reply_table(self._dataset, fresh), "replies")
        if votes:
            self._votes.add(change, votes)
        if calls:
            change.insert(call_table(self._dataset, calls), "calls")


def without_verdict(store: Database, dataset: str, judges: Sequence[str], *, limit: int = 100) -> pa.Table:
    """Replies of these judges that gave nothing usable: `status`, `n`, and the words, the commonest first.

    A failed call (`error`) has the provider's words, any other reply its own.
    """
    return store.query(
        """select status, count(*)::bigint as n, raw as words from replies
           where dataset = $dataset and judge in (select unnest($judges::varchar[])) and status <> 'ok'
           group by status, raw order by n desc, status, words limit $limit""",
        {"dataset": dataset, "judges": list(judges), "limit": limit},
    )


def _version(store: Snapshot) -> int:
    return int(store.rows("select value from settings where key = 'version'")[0][0])


def _taken(
    store: Database | Snapshot, dataset: str, judges: Collection[str], items: Collection[str] | None = None
) -> set[Place]:
    """Votes of these judges in a data set, on these items only if they are given."""
    found = store.rows(
        f"""select i.name as item_id, a.name as model_a, b.name as model_b, j.name as judge, v.run,
                   case v.position when 1 then 'ab' when -1 then 'ba' else '' end as position
            from votes v join datasets d on d.id = v.dataset join judges j on j.id = v.judge
            join comparisons c on c.id = v.comparison join items i on i.id = c.item
            join models a on a.id = c.model_a join models b on b.id = c.model_b
            where d.name = $dataset and j.name in (select unnest($judges::varchar[]))
            {"" if items is None else "and i.name in (select unnest($items::varchar[]))"}""",
        {"dataset": dataset, "judges": list(judges)} | ({} if items is None else {"items": list(items)}),
    )
    return {((item, a, b), judge, run, position) for item, a, b, judge, run, position in found}
