"""Votes as they are collected, in numbers: comparisons are entered once, a group of votes is two inserts.

The general loader checks each load anew, which costs fifty milliseconds; here the numbers of comparisons,
judges and texts are remembered between groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from core.store.dictionaries import fill_names, fill_texts
from core.store.reply_rows import Comparison, Pair, Reply
from core.votes import CONFIDENCE_KINDS, STATUSES

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {kind: number for number, kind in enumerate(CONFIDENCE_KINDS)}
VOTE_COLUMNS = (
    "id",
    "dataset",
    "comparison",
    "judge",
    "category",
    "run",
    "position",
    "vote",
    "confidence",
    "confidence_kind",
    "status",
    "human",
)
DETAIL_COLUMNS = (
    "prompt",
    "response_a",
    "response_b",
    "rationale",
    "prompt_hash",
    "temperature",
    "cost",
)


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

    def enter(self, cursor: Any, judges: set[str]) -> None:
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
        self._number = number[0][0]
        self._of_pair = {tuple(row[:3]): row[3:] for row in found}
        self._of_judge = dict(cursor.execute("select name, id from judges").fetchall())
        self._last_vote = whole_number(cursor, "select max(id) from votes")
        self._last_text = whole_number(cursor, "select max(id) from texts")

    def add(self, cursor: Any, votes: Sequence[Reply]) -> None:
        """Write votes whose places are free."""
        arriving = self._vote_table(votes, self._text_ids(cursor, votes))
        vote, detail = ", ".join(VOTE_COLUMNS), ", ".join(DETAIL_COLUMNS)
        insert(cursor, arriving, votes=vote, details=f"id as vote, {detail}")

    def remove(self, cursor: Any, pair: Pair, judge: str, run: int, position: str) -> bool:
        """Take a vote away; False if its comparison or judge is none of these."""
        known, number = self._of_pair.get(pair), self._of_judge.get(judge)
        if known is None or number is None:
            return False
        place = [known[0], number, run, 1 if position == "ab" else -1]
        same = "comparison = ? and judge = ? and run = ? and position = ?"
        cursor.execute(f"delete from details where vote in (select id from votes where {same})", place)
        cursor.execute(f"delete from votes where {same}", place)
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
            first = self._last_text + 1
            self._last_text += len(fresh)
            numbers = list(range(first, first + len(fresh)))
            insert(cursor, pa.table({"id": pa.array(numbers, pa.int32()), "text": fresh}), texts="*")
            known.update(zip(fresh, numbers, strict=True))
        return known


def whole_number(cursor: Any, sql: str) -> int:
    """The whole number that a statement gives, 0 for null; the result is read to its end."""
    return int(cursor.execute(sql).fetchall()[0][0] or 0)


def insert(cursor: Any, rows: pa.Table, **tables: str) -> None:
    """Insert columns of the rows into each table by name; columns that are not given stay null."""
    # Registering a frame costs as much as an insert, so one may serve several tables.
    cursor.register("arriving", rows)
    for table, columns in tables.items():
        cursor.execute(f"insert into {table} by name select {columns} from arriving")
    cursor.unregister("arriving")
