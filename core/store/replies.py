"""The ledger of model replies: each is kept with its request key, and its vote with it, in one transaction.

A reply in the ledger is never asked for again. Votes are written without the general loader, whose checks
cost fifty milliseconds a load: the comparisons are entered once, and a group of replies is five inserts. If
anything else changed the store meanwhile, its numbers are read again first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from core.store.dictionaries import fill_names, fill_texts
from core.votes import CONFIDENCE_KINDS, STATUSES

if TYPE_CHECKING:
    import pyarrow as pa

    from core.store.database import Store

SCHEMA = """
create table if not exists replies (
    key varchar, task varchar, dataset varchar, judge varchar, model varchar, item_id varchar,
    candidate varchar, position varchar, run bigint, status varchar, vote tinyint, confidence double,
    confidence_kind varchar, rationale varchar, body varchar, raw varchar, prompt_hash varchar,
    temperature double, attempts integer,
    prompt_tokens bigint, completion_tokens bigint, cost double, seconds double, received_at timestamp);
create table if not exists jobs (id varchar, dataset varchar, job varchar, started_at timestamp);
"""
TABLES = 2

Task = Literal["vote", "score", "rank", "note"]
"""What a reply becomes: a vote, a direct score, a ranking, or nothing but material for a later request."""

Pair = tuple[str, str, str]
"""item_id, model_a, model_b."""


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

    candidate : for a vote `model_a` and `model_b` of its comparison joined by a line break, for a score the
        model, else "".  vote : canonical, None unless ok.  body : what was parsed beyond the vote, as JSON.
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
        model_a, _, model_b = self.candidate.partition("\n")
        return self.item_id, model_a, model_b


NAMES = tuple(field.name for field in fields(Reply))


class Ledger:
    """Replies of one data set of a store. One thread at a time may write."""

    def __init__(self, store: Store, dataset: str, comparisons: Sequence[Comparison]) -> None:
        self._store = store
        self._dataset = dataset
        self._comparisons = comparisons
        self._version = -1
        self._ids: dict[str, Any] = {}
        self._failed: set[str] = set()
        prepare(store)

    def answered(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Replies to these requests, by key; those with status `error` too."""
        import pyarrow as pa

        wanted = pa.array(list(keys), pa.string()).to_pylist()
        found = self._store.query(
            f"select {', '.join(NAMES)} from replies where key in (select unnest($keys::varchar[]))",
            {"keys": wanted},
        )
        replies = {row["key"]: Reply(**row) for row in found.to_pylist()}
        self._failed |= {key for key, reply in replies.items() if reply.status == "error"}
        return replies

    def taken(self, judges: Iterable[str]) -> set[tuple[Pair, str, int, str]]:
        """Votes of these judges in the data set: comparison, judge, run and order."""
        found = self._store.query(
            """select i.name as item_id, a.name as model_a, b.name as model_b, j.name as judge, v.run,
                      case v.position when 1 then 'ab' when -1 then 'ba' else '' end as position
               from votes v join datasets d on d.id = v.dataset join judges j on j.id = v.judge
               join comparisons c on c.id = v.comparison join items i on i.id = c.item
               join models a on a.id = c.model_a join models b on b.id = c.model_b
               where d.name = $dataset and j.name in (select unnest($judges::varchar[]))""",
            {"dataset": self._dataset, "judges": list(judges)},
        )
        return {
            ((row["item_id"], row["model_a"], row["model_b"]), row["judge"], row["run"], row["position"])
            for row in found.to_pylist()
        }

    def write(self, replies: Sequence[Reply], *, again: Sequence[Reply] = ()) -> None:
        """Keep replies and their votes together, or none of it.

        again : replies of the ledger whose votes are gone (their data set was deleted): votes only.
        A reply takes the place of one with status `error` to the same request.
        """
        votes = [reply for reply in (*replies, *again) if reply.task == "vote"]
        judges = {reply.judge for reply in votes}
        known, self._version = self._version, -1
        with self._store.change() as cursor:
            version = _number(cursor, "select value::bigint from settings where key = 'version'")
            if votes and (version != known or not judges <= self._ids["judges"].keys()):
                self._enter(cursor, judges)
            again_asked = self._failed & {reply.key for reply in replies}
            if again_asked:
                self._forget(cursor, again_asked)
            if replies:
                _insert(cursor, "replies", self._reply_table(replies))
            if votes:
                self._write_votes(cursor, votes)
        # `change` raises the version by one; what anybody else changes will show as another number.
        self._version = version + 1 if votes or known == version else -1
        self._failed |= {reply.key for reply in replies if reply.status == "error"}

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

    def _reply_table(self, replies: Sequence[Reply]) -> pa.Table:
        import pyarrow as pa

        columns = [[getattr(reply, name) for reply in replies] for name in NAMES]
        table = pa.table(dict(zip(NAMES, columns, strict=True)), schema=_reply_schema())
        now = pa.scalar(datetime.now(UTC).replace(tzinfo=None), pa.timestamp("us"))
        table = table.append_column("dataset", pa.repeat(self._dataset, len(table)))
        return table.append_column("received_at", pa.repeat(now, len(table)))

    def _enter(self, cursor: Any, judges: set[str]) -> None:
        """Number data set, items, models, judges, comparisons and texts, and remember the numbers."""
        import pyarrow as pa

        columns = [field.name for field in fields(Comparison)]
        schema = pa.schema([(name, {"gold": pa.int8()}.get(name, pa.string())) for name in columns])
        rows = pa.Table.from_pylist([asdict(each) for each in self._comparisons], schema=schema)
        cursor.register("incoming", rows.append_column("dataset", pa.repeat(self._dataset, rows.num_rows)))
        cursor.register("voters", pa.table({"name": pa.array(sorted(judges), pa.string())}))
        cursor.execute("create temp table given as select * from incoming")
        named = {
            "models": "select model_a as name from given union select model_b from given",
            "judges": "select name from voters",
            "categories": "select category as name from given where category is not null",
        }
        fill_names(cursor, named, simulated=False)
        fill_texts(cursor, ("prompt", "response_a", "response_b"))
        known = """given g join datasets d on d.name = g.dataset
                   join items i on i.dataset = d.id and i.name = g.item_id
                   join models a on a.name = g.model_a join models b on b.name = g.model_b"""
        cursor.execute(
            f"""insert into comparisons
                select (select coalesce(max(id), 0) from comparisons)
                       + row_number() over (order by g.item_id, g.model_a, g.model_b),
                       d.id, i.id, a.id, b.id, g.gold
                from {known} where not exists (select 1 from comparisons c
                                   where c.item = i.id and c.model_a = a.id and c.model_b = b.id)"""
        )
        cursor.execute(
            f"""update comparisons set gold = k.gold
                from (select i.id as item, a.id as model_a, b.id as model_b, g.gold from {known}) k
                where comparisons.item = k.item and comparisons.model_a = k.model_a
                and comparisons.model_b = k.model_b and comparisons.gold is null and k.gold is not null"""
        )
        found = cursor.execute(
            f"""select g.item_id, g.model_a, g.model_b, c.id, ct.id, p.id, ra.id, rb.id
                from {known} join comparisons c on c.item = i.id and c.model_a = a.id and c.model_b = b.id
                left join categories ct on ct.name = g.category left join texts p on p.text = g.prompt
                left join texts ra on ra.text = g.response_a left join texts rb on rb.text = g.response_b"""
        ).fetchall()
        number = cursor.execute("select id from datasets where name = ?", [self._dataset]).fetchall()
        self._ids = {
            "dataset": number[0][0],
            "comparisons": {tuple(row[:3]): row[3:] for row in found},
            "judges": dict(cursor.execute("select name, id from judges").fetchall()),
            "vote": _number(cursor, "select max(id) from votes"),
            "text": _number(cursor, "select max(id) from texts"),
        }

    def _forget(self, cursor: Any, keys: Iterable[str]) -> None:
        """Take away failed replies to these requests, and their votes."""
        failed = cursor.execute(
            """select key, judge, item_id, candidate, run, position from replies
               where status = 'error' and key in (select unnest($keys::varchar[]))""",
            {"keys": sorted(keys)},
        ).fetchall()
        for key, judge, item_id, candidate, run, position in failed:
            cursor.execute("delete from replies where key = ?", [key])
            model_a, _, model_b = candidate.partition("\n")
            known = self._ids.get("comparisons", {}).get((item_id, model_a, model_b))
            number = self._ids.get("judges", {}).get(judge)
            if known is None or number is None:
                continue
            place = [known[0], number, run, 1 if position == "ab" else -1]
            same = "comparison = ? and judge = ? and run = ? and position = ?"
            cursor.execute(f"delete from details where vote in (select id from votes where {same})", place)
            cursor.execute(f"delete from votes where {same}", place)

    def _write_votes(self, cursor: Any, votes: Sequence[Reply]) -> None:
        import pyarrow as pa

        texts = self._text_ids(cursor, votes)
        first = self._ids["vote"] + 1
        self._ids["vote"] += len(votes)
        kinds = dict(zip(CONFIDENCE_KINDS, range(len(CONFIDENCE_KINDS)), strict=True))
        numbers = range(first, first + len(votes))
        known = [self._ids["comparisons"][reply.pair] for reply in votes]
        rows = {
            "id": pa.array(numbers, pa.int64()),
            "dataset": pa.repeat(pa.scalar(self._ids["dataset"], pa.int32()), len(votes)),
            "comparison": pa.array([place[0] for place in known], pa.int32()),
            "judge": pa.array([self._ids["judges"][reply.judge] for reply in votes], pa.int32()),
            "category": pa.array([place[1] for place in known], pa.int32()),
            "run": pa.array([reply.run for reply in votes], pa.int64()),
            "position": pa.array([1 if reply.position == "ab" else -1 for reply in votes], pa.int8()),
            "vote": pa.array([reply.vote for reply in votes], pa.int8()),
            "confidence": pa.array([reply.confidence for reply in votes], pa.float64()),
            "confidence_kind": pa.array(
                [kinds.get(reply.confidence_kind or "") for reply in votes], pa.int8()
            ),
            "status": pa.array([STATUSES.index(reply.status) for reply in votes], pa.int8()),
            "human": pa.repeat(False, len(votes)),
        }
        details = {
            "vote": rows["id"],
            **{
                name: pa.array([place[at] for place in known], pa.int32())
                for at, name in enumerate(("prompt", "response_a", "response_b"), start=2)
            },
            "rationale": pa.array([texts.get(reply.rationale or "") for reply in votes], pa.int32()),
            "prompt_hash": pa.array([texts.get(reply.prompt_hash or "") for reply in votes], pa.int32()),
            "temperature": pa.array([reply.temperature for reply in votes], pa.float64()),
            "cost": pa.array([reply.cost for reply in votes], pa.float64()),
        }
        _insert(cursor, "votes", pa.table(rows))
        _insert(cursor, "details", pa.table(details))

    def _text_ids(self, cursor: Any, votes: Sequence[Reply]) -> dict[str, int]:
        """Numbers of the rationales and prompt hashes; new ones are entered."""
        import pyarrow as pa

        wanted = {text for reply in votes for text in (reply.rationale, reply.prompt_hash) if text}
        found = cursor.execute(
            "select text, id from texts where text in (select unnest($texts::varchar[]))",
            {"texts": sorted(wanted)},
        ).fetchall()
        known = dict(found)
        fresh = sorted(wanted - set(known))
        if fresh:
            first = self._ids["text"] + 1
            self._ids["text"] += len(fresh)
            numbers = list(range(first, first + len(fresh)))
            _insert(cursor, "texts", pa.table({"id": pa.array(numbers, pa.int32()), "text": fresh}))
            known.update(zip(fresh, numbers, strict=True))
        return known


def prepare(store: Store) -> None:
    """Make the tables of this module; a store that has them is not changed, so its version stays."""
    there = store.query("select 1 from duckdb_tables() where table_name in ('replies', 'jobs')")
    if there.num_rows < TABLES:
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


def _number(cursor: Any, sql: str) -> int:
    """The whole number that a statement gives, 0 for null; the result is read to its end."""
    return int(cursor.execute(sql).fetchall()[0][0] or 0)


def _reply_schema() -> pa.Schema:
    import pyarrow as pa

    types = {
        **dict.fromkeys(("run", "prompt_tokens", "completion_tokens"), pa.int64()),
        **dict.fromkeys(("confidence", "temperature", "cost", "seconds"), pa.float64()),
        "vote": pa.int8(),
        "attempts": pa.int32(),
    }
    return pa.schema([(name, types.get(name, pa.string())) for name in NAMES])


def _insert(cursor: Any, table: str, rows: pa.Table) -> None:
    """Insert by name; columns that are not given stay null."""
    cursor.register("arriving", rows)
    cursor.execute(f"insert into {table} by name select * from arriving")
    cursor.unregister("arriving")
