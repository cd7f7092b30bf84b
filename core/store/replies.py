"""The ledger of model replies: each is kept with its request key, and its vote with it, in one transaction.

A reply in the ledger is never asked for again; another data set that needs it gets a copy. What each call
used is kept beside, whatever came of it, so that limits hold over all runs. A group of replies is a few
inserts; if anything else changed the store meanwhile, it is looked at again first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from core.store.collected_votes import CollectedVotes, insert, whole_number
from core.store.reply_rows import (
    NAMES,
    Call,
    Comparison,
    Place,
    Reply,
    Spent,
    call_table,
    reply_table,
)
from core.votes import CONFIDENCE_KINDS

if TYPE_CHECKING:
    import pyarrow as pa

    from core.store.database import Snapshot, Store

SCHEMA = """
create table if not exists replies (
    key varchar, task varchar, dataset varchar, judge varchar, model varchar, item_id varchar,
    candidate varchar, position varchar, run bigint, status varchar, vote tinyint, confidence double,
    confidence_kind varchar, rationale varchar, body varchar, raw varchar, prompt_hash varchar,
    temperature double, attempts integer,
    prompt_tokens bigint, completion_tokens bigint, cost double, seconds double, received_at timestamp);
create table if not exists calls (key varchar, dataset varchar, tokens bigint, cost double);
create table if not exists jobs (id varchar, dataset varchar, job varchar, started_at timestamp);
"""
TABLES = ("replies", "calls", "jobs")
"""Each has the name of a data set in `dataset`."""

Ask = Callable[[str, dict[str, Any]], list[tuple[Any, ...]]]
"""Runs one statement and gives its rows."""


class Ledger:
    """Replies of one data set of a store; threads may share it."""

    def __init__(self, store: Store, dataset: str, comparisons: Sequence[Comparison]) -> None:
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
        prepare(store)

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
            ask = _of(moment)
            self._looked = ask("select value::bigint from settings where key = 'version'", {})[0][0]
            self._find_keys(ask, keys)
            self._taken = _taken(ask, self._dataset, judges) if judges else set()

    def lacks(self, reply: Reply) -> bool:
        """Whether the data set, as last looked at, has not got this reply or its vote."""
        return reply.key not in self._held or (reply.task == "vote" and reply.place not in self._taken)

    def taken(self, judges: Collection[str]) -> set[Place]:
        """Votes of these judges in the data set."""
        return _taken(_of(self._store), self._dataset, judges)

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
        with self._store.change() as cursor:
            version = whole_number(cursor, "select value::bigint from settings where key = 'version'")
            if judges and (version != entered or not self._votes.knows(judges)):
                self._votes.enter(cursor, judges)
                entered = version
            if replies and version != looked:
                self._look_again(cursor, replies)
            gone = self._failed & {reply.key for reply in replies}
            if instead:
                gone |= self._others_at(cursor, replies)
            freed = self._forget(cursor, gone) if gone else set()
            fresh, votes, lost = self._new(replies, gone, freed)
            self._insert(cursor, fresh, votes, calls)
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

    def _find_keys(self, ask: Ask, keys: Collection[str]) -> None:
        """Note which of these requests the data set has replies to."""
        self._held -= set(keys)
        self._failed -= set(keys)
        found = ask(
            """select key, status = 'error' as failed from replies
               where dataset = $dataset and key in (select unnest($keys::varchar[]))""",
            {"dataset": self._dataset, "keys": list(keys)},
        )
        for key, failed in found:
            (self._failed if failed else self._held).add(key)

    def _look_again(self, cursor: Any, replies: Sequence[Reply]) -> None:
        """Somebody else changed the store: see what it has of these replies now."""
        self._find_keys(_within(cursor), [reply.key for reply in replies])
        votes = [reply for reply in replies if reply.task == "vote"]
        if votes:
            self._taken -= {vote.place for vote in votes}
            judges, items = {vote.judge for vote in votes}, {vote.item_id for vote in votes}
            self._taken |= _taken(_within(cursor), self._dataset, judges, items)

    def _others_at(self, cursor: Any, replies: Sequence[Reply]) -> set[str]:
        """Replies in the data set that voted where these will, to other requests."""
        places = {reply.place: reply.key for reply in replies if reply.task == "vote"}
        found = _within(cursor)(
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
        comparison that say the same, which is the share of the mode for votes that follow it (methods §5; for
        votes off the mode ours). Comparisons with one vote get none.
        """
        with self._store.change() as cursor:
            cursor.execute(
                """create temp table shares as
                   select id, n, count(*) over (partition by comparison, judge, vote) / n as share from (
                     select v.id, v.comparison, v.judge, v.vote,
                            count(*) over (partition by v.comparison, v.judge) as n
                     from votes v join datasets d on d.id = v.dataset join judges j on j.id = v.judge
                     where v.status = 0 and d.name = $dataset
                       and j.name in (select unnest($judges::varchar[])))""",
                {"dataset": self._dataset, "judges": list(judges)},
            )
            cursor.execute(
                f"""update votes set confidence = s.share, confidence_kind = {CONFIDENCE_KINDS.index("multi")}
                    from shares s where votes.id = s.id and s.n > 1
                    and votes.confidence is distinct from s.share"""
            )

    def _forget(self, cursor: Any, keys: Iterable[str]) -> set[Place]:
        """Take away the data set's replies to these requests and their votes; return the places left free."""
        given = {"keys": sorted(keys), "dataset": self._dataset}
        one_of_them = "dataset = $dataset and key in (select unnest($keys::varchar[]))"
        gone = _within(cursor)(
            f"""select item_id, candidate, judge, run, position from replies
                where task = 'vote' and {one_of_them}""",
            given,
        )
        cursor.execute(f"delete from replies where {one_of_them}", given)
        freed = set()
        for item_id, candidate, judge, run, position in gone:
            model_a, model_b = json.loads(candidate)
            pair = (item_id, model_a, model_b)
            if self._votes.remove(cursor, pair, judge, run, position):
                freed.add((pair, judge, run, position))
        return freed

    def _insert(
        self, cursor: Any, fresh: Sequence[Reply], votes: Sequence[Reply], calls: Sequence[Call]
    ) -> None:
        if fresh:
            insert(cursor, reply_table(self._dataset, fresh), replies="*")
        if votes:
            self._votes.add(cursor, votes)
        if calls:
            insert(cursor, call_table(self._dataset, calls), calls="*")


def prepare(store: Store) -> None:
    """Make the tables of this module; a store that has them is not changed, so its version stays."""
    there = store.query(
        "select 1 from duckdb_tables() where table_name in (select unnest($names::varchar[]))",
        {"names": list(TABLES)},
    )
    if there.num_rows < len(TABLES):
        with store.change() as cursor:
            cursor.execute(SCHEMA)


def without_verdict(store: Store, dataset: str, judges: Sequence[str], *, limit: int = 100) -> pa.Table:
    """Replies of these judges that gave nothing usable: `status`, `n`, and the words, the commonest first.

    A failed call (`error`) has the provider's words, any other reply its own.
    """
    prepare(store)
    return store.query(
        """select status, count(*)::bigint as n, raw as words from replies
           where dataset = $dataset and judge in (select unnest($judges::varchar[])) and status <> 'ok'
           group by status, raw order by n desc, status, words limit $limit""",
        {"dataset": dataset, "judges": list(judges), "limit": limit},
    )


def _of(where: Store | Snapshot) -> Ask:
    return lambda sql, params: [tuple(row.values()) for row in where.query(sql, params).to_pylist()]


def _within(cursor: Any) -> Ask:
    """As `_of`, inside a change."""

    def ask(sql: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = cursor.execute(sql, params).fetchall()
        return found

    return ask


def _taken(
    ask: Ask, dataset: str, judges: Collection[str], items: Collection[str] | None = None
) -> set[Place]:
    """Votes of these judges in a data set, on these items only if they are given."""
    found = ask(
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
