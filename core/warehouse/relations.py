"""The relations of a store, derived once per session from the rows that could be read.

`core.store` asks its questions of `votes`, `comparisons`, `items` and the like. Here they are
temporary tables (on Spark cached views) of the engine, with the numbers that a load would have
given: names in the order of their bytes, comparisons by data set, item and models. What must hold
among rows (docs/methods.md §0) is settled before: one gold per comparison, one vote per key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Message, NoUsableVotes, UnreadableFile
from ..importers import checks, mostly_rejected
from ..schema import FORMS, VOTES, ImportResult, Kind, RowsRead, kept_without
from ..store.cells import CELLS
from .engines import Engine
from .reading import LONG, Reading

COMPARISON, KEY = ", ".join(checks.COMPARISON), ", ".join(VOTES.key)
GOLDS = "the item has different gold labels in this table; keep one of them"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRead:
    """What was read of a table, in counts: the counterpart of `core.schema.ImportResult`.

    n_read : votes, or scores, that were read.  rejected : rows by column and reason.
    n_unread : rows kept without a confidence that could not be read.  unread : what to say of them.
    """

    name: str
    rows: int
    n_read: int
    duplicates: int
    rejected: tuple[tuple[str, str, int], ...]
    mapping: dict[str, str]
    notes: tuple[str, ...]
    format: str
    n_unread: int = 0
    unread: Message | None = None
    kind: Kind = "votes"
    sha256: None = None

    @classmethod
    def of(cls, readings: Sequence[ImportResult], engine: Engine, table: str) -> TableRead:
        """What was read of a table whose rows were fetched: scores, and perhaps votes of them.

        Raises NoUsableVotes: no row can be read. UnreadableFile: more than half of them cannot.
        """
        scores = readings[0]
        if problem := mostly_rejected(scores):
            raise problem
        if not scores.n_read:
            raise NoUsableVotes(f"{table}: no usable score in {scores.rows:,} rows.")
        rejects = (scores.rejected[name].to_pylist() for name in ("column", "reason"))
        rejected = Counter(zip(*rejects, strict=True))
        return cls(
            name=f"{engine.shown} {table}",
            rows=scores.rows,
            n_read=scores.n_read,
            duplicates=scores.duplicates,
            rejected=tuple((*why, n) for why, n in rejected.items()),
            mapping=scores.mapping,
            notes=tuple(note for reading in readings for note in reading.notes),
            format=engine.dialect,
            n_unread=scores.n_unread,
            unread=scores.unread,
            kind=scores.kind,
        )

    @property
    def n_rejected(self) -> int:
        """Rows that could not be read."""
        return sum(n for *_, n in self.rejected)

    @property
    def sentence(self) -> str:
        """How much was read, in one line."""
        return (
            f"{self.name}: {self.n_read:,} {self.kind} read of {self.rows:,} rows; "
            f"{self.n_rejected:,} rejected, {self.duplicates:,} duplicates left out"
            + (f", {self.n_unread:,} kept without their confidence." if self.n_unread else ".")
        )


def derive(engine: Engine, reading: Reading, table: str) -> TableRead:
    """Read the table once and keep the relations of a store; say what could not be read.

    Raises NoUsableVotes: no row can be read. UnreadableFile: more than half of them cannot.
    """
    engine.keep("read_rows", reading.sql)
    counts = dict(_rows(engine, "select bad, count(*)::bigint as n from read_rows group by bad"))
    rejected: Counter[tuple[str, str]] = Counter()
    for bad in sorted({*counts} - {0}):
        rejected[reading.reasons[bad]] += counts[bad]
    source = "(select * from read_rows where bad = 0)"
    source = _one_gold(engine, reading, source, rejected)
    source, notes = _one_vote(engine, reading, source, rejected)
    ((votes, unread),) = _rows(
        engine,
        f"""select count(*)::bigint as n, coalesce(sum(unread), 0)::bigint as unread
            from {source} s""",
    )
    rows, refused = sum(counts.values()), tuple((*why, n) for why, n in rejected.items())
    if not votes:
        first = f" First: column {refused[0][0]}: {refused[0][1]}." if refused else ""
        raise NoUsableVotes(f"{table}: no usable vote in {rows:,} rows.{first}")
    read = RowsRead(rows=rows, rejected=rejected.total(), unread=unread)
    why = Counter({reading.unread: unread}) if reading.unread and unread else Counter()
    if 2 * read.lost > rows:
        (column, reason), n = (rejected | why).most_common(1)[0]
        raise UnreadableFile(
            f"{table}: {read.lost:,} of {rows:,} rows {read.were}, more than half, so the "
            f"table is not used. Most often ({n:,}): column {column}: {reason}."
        )
    said = [
        kept_without(column, n, "votes", f"Why: {reason}") for (column, reason), n in why.items()
    ]
    for name, sql in _relations(engine, source, tuple(reading.extra.values())):
        engine.keep(name, sql)
    return TableRead(
        name=f"{engine.shown} {table}",
        rows=rows,
        n_read=votes,
        duplicates=rows - votes - rejected.total(),
        rejected=refused,
        mapping=dict(reading.how.mapping),
        notes=(*reading.how.notes, *notes, *said),
        format=engine.dialect,
        n_unread=unread,
        unread=said[0] if said else None,
    )


def _one_gold(
    engine: Engine, reading: Reading, source: str, rejected: Counter[tuple[str, str]]
) -> str:
    """Leave out the rows with gold of comparisons that have two."""
    if reading.how.gold_vocabulary is None:
        return source
    sides = (
        "min(gold) over (partition by {0}) as low_gold, max(gold) "
        "over (partition by {0}) as high_gold"
    )
    ((n,),) = _rows(
        engine,
        f"""select coalesce(sum(g.n), 0)::bigint as n from (
                select count(gold) as n from {source} s group by {COMPARISON}
                having min(gold) <> max(gold)) g""",
    )
    if not n:
        return source
    rejected[reading.how.mapping["gold"], GOLDS] = n
    engine.keep(
        "one_gold",
        f"""select {_columns(reading)} from (select s.*, {sides.format(COMPARISON)} from {source}
        s) x
            where x.gold is null or x.low_gold = x.high_gold""",
    )
    return "one_gold"


def _one_vote(
    engine: Engine, reading: Reading, source: str, rejected: Counter[tuple[str, str]]
) -> tuple[str, list[str]]:
    """Number repetitions, or leave out votes that contradict or repeat another of their key."""
    differ = " or ".join(
        f"coalesce(min({x}) <> max({x}), false) or (count({x}) > 0 and count({x}) < count(*))"
        for x in VOTES.content
    )
    ((again, conflicting, keys),) = _rows(
        engine,
        f"""select coalesce(sum(k.n - 1), 0)::bigint as again,
                   coalesce(sum(case when k.differ = 1 then k.n else 0 end), 0)::bigint as
                   conflicting,
                   count(*)::bigint as keys
            from (select count(*) as n, case when {differ} then 1 else 0 end as differ
                  from {source} s group by {KEY} having count(*) > 1) k""",
    )
    if not again:
        return source, []
    if conflicting and "run" not in reading.how.mapping:
        engine.keep(
            "one_vote",
            f"""select {_columns(reading, "run")}, row_number() over (partition by {KEY} order by
            ordinal) - 1
                       as run from {source} x""",
        )
        note = (
            "There is no column run. Where a judge voted more than once on a comparison in the "
            "same order "
            f"({keys:,} times), its votes were numbered as runs in the order in which the engine "
            "gives them."
        )
        return "one_vote", [note]
    flags = ", ".join(
        f"min({x}) over (partition by {KEY}) as low_{x}, max({x}) over (partition by {KEY}) as "
        f"high_{x}, "
        f"count({x}) over (partition by {KEY}) as n_{x}"
        for x in VOTES.content
    )
    same = " and ".join(
        f"(n_{x} = 0 or (n_{x} = n_key and low_{x} = high_{x}))" for x in VOTES.content
    )
    engine.keep(
        "one_vote",
        f"""select {_columns(reading)} from (select s.*, {flags}, count(*) over (partition by
        {KEY}) as n_key,
                   row_number() over (partition by {KEY} order by ordinal) as place from {source}
                   s) x
            where x.place = 1 and {same}""",
    )
    if conflicting:
        rejected[reading.how.mapping.get("vote", "vote"), checks.TWICE["votes"].format("twice")] = (
            conflicting
        )
    return "one_vote", []


def _rows(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in engine.run(sql).to_pylist()]


def _columns(reading: Reading, without: str = "") -> str:
    """Columns of the rows that were read, without what was added to compare them."""
    return ", ".join(f"x.{name} as {name}" for name in reading.columns if name != without)


def _relations(engine: Engine, source: str, extra: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Names and statements of the relations, in the order in which they need each other."""
    binary = engine.binary

    def named(column: str, names: str) -> str:
        order = f"row_number() over (order by x.name{binary})"
        return f"select {order}::integer as id, x.name{binary} as name{column} from ({names}) x"

    t = f"{source} t"
    yield (
        "datasets",
        named(
            ", false as simulated, null::timestamp as loaded_at",
            f"select distinct dataset as name from {t}",
        ),
    )
    yield "judges", named("", f"select distinct judge as name from {t}")
    yield (
        "categories",
        named("", f"select distinct category as name from {t} where category is not null"),
    )
    models = " union ".join(
        f"select {column} as name from {t}" for column in ("model_a", "model_b")
    )
    yield "models", named("", f"select distinct m.name as name from ({models}) m")
    yield (
        "items",
        f"""select (row_number() over (order by d.name, x.item_id{binary}))::integer as id, d.id
        as dataset,
                   x.item_id{binary} as name
            from (select distinct dataset, item_id from {t}) x join datasets d on d.name =
            x.dataset""",
    )
    yield (
        "comparisons",
        f"""select (row_number() over (order by d.name, i.name, a.name, b.name))::integer as id,
                   d.id as dataset, i.id as item, a.id as model_a, b.id as model_b, x.gold as gold
            from (select dataset, item_id, model_a, model_b, max(gold) as gold from {t}
                  group by dataset, item_id, model_a, model_b) x
            join datasets d on d.name = x.dataset join items i on i.name = x.item_id and
            i.dataset = d.id
            join models a on a.name = x.model_a join models b on b.name = x.model_b""",
    )
    hashes = f"select distinct prompt_hash as name from {t} where prompt_hash is not null"
    yield (
        "texts",
        f"select row_number() over (order by x.name{binary}) as id, x.name as text from "
        f"({hashes}) x",
    )
    votes = ("run", "position", "vote", "confidence", "confidence_kind", "status", "human")
    details = ("length_a", "length_b", "temperature", "cost", *extra)
    yield (
        "votes",
        f"""select row_in_order() as id, c.dataset as dataset, c.id as comparison, j.id as judge,
                   k.id as category, p.id as prompt_hash,
                   {", ".join(f"t.{column} as {column}" for column in (*votes, *details))}
            from {t} join datasets d on d.name = t.dataset
            join items i on i.name = t.item_id and i.dataset = d.id
            join models a on a.name = t.model_a join models b on b.name = t.model_b
            join comparisons c on c.item = i.id and c.model_a = a.id and c.model_b = b.id
            join judges j on j.name = t.judge left join categories k on k.name = t.category
            left join texts p on p.text = t.prompt_hash""",
    )
    known = " or ".join(f"v.{column} is not null" for column in ("prompt_hash", *details))
    texts = ", ".join(f"cast(null as integer) as {column}" for column in LONG)
    yield (
        "details",
        f"""select v.id as vote, {texts}, v.prompt_hash as prompt_hash,
                   {", ".join(f"v.{column} as {column}" for column in details)} from votes v
                   where {known}""",
    )
    for name, sql in CELLS.items():
        yield name, sql.format(votes="votes")
    nothing = "cast(null as integer) as id, cast(null as varchar) as name"
    yield "metrics", f"select {nothing} from datasets d where 1 = 0"
    others: tuple[Kind, ...] = ("scores", "rankings")
    for kind in others:
        # A table of votes has none, but the store asks.
        numbers = {"id", "item", *FORMS[kind].names} - {"item_id", "rater_type"}
        columns = [f"cast(null as bigint) as {column}" for column in sorted(numbers)]
        columns += [f"cast(null as varchar) as {column}" for column in extra]
        yield kind, f"select {', '.join(columns)}, false as human from datasets d where 1 = 0"
