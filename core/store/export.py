"""Out of the store: the canonical columns of votes, scores or rankings and every extra one, as a file.

What a store file holds, as readings that another store loads: votes, direct scores and rankings.

The votes behind a mark of a chart: a bin, a cell, a bar or a row.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

import numpy as np

from ..errors import InvalidOption, NoUsableVotes, UnknownName
from ..schema import COLUMNS, FORMS, REJECT_SCHEMA_NAMES, CorrectnessRule, ImportResult, Kind, Selection
from .connection import Snapshot, Store
from .load import NUMBER_COLUMNS, TEXT_COLUMNS
from .selection import (
    JOINS,
    JUDGED,
    Scope,
    at_one_moment,
    column_sql,
    extra_columns,
    nothing,
    number,
    row_column_sql,
    row_extra_columns,
    row_scope,
    scope,
    unknown,
)

if TYPE_CHECKING:
    import pyarrow as pa


# A spreadsheet runs cells that begin so. Apostrophes before it count too, as the importers strip exactly one.
FORMULA = r"\A('*[=+\-@\t\r])"


def vote_rows(store: Snapshot, condition: str, params: dict[str, str], *, gold: str) -> pa.Table:
    """Votes `v` that meet an SQL condition, in the order of loading, with canonical and extra columns.

    `gold` is a relation with columns comparison and gold, as in `Scope`.
    """
    sources = {
        "dataset": "ds.name",
        "item_id": "it.name",
        "category": "ct.name",
        "model_a": "ma.name",
        "model_b": "mb.name",
        "judge": "jd.name",
        "gold": "go.gold",
        **{name: f"tx_{name}.text" for name in TEXT_COLUMNS},
        **{name: f"de.{name}" for name in NUMBER_COLUMNS},
    }
    types = {"text": "varchar", "int": "bigint", "float": "double"}
    columns = [
        f"({sources.get(column.name) or column_sql(column.name)[0]})::{types[column.kind]} as {column.name}"
        for column in COLUMNS
    ]
    texts = [f"left join texts tx_{name} on tx_{name}.id = de.{name}" for name in TEXT_COLUMNS]
    extras = extra_columns(store, condition, params)
    columns += [f"de.extra[$key{place}] as extra{place}" for place in range(len(extras))]
    found = store.query(
        f"""with w as (select * from votes v where {condition})
            select {", ".join(columns)} from w
            join datasets ds on ds.id = w.dataset join comparisons co on co.id = w.comparison
            join items it on it.id = co.item
            join models ma on ma.id = co.model_a join models mb on mb.id = co.model_b
            join judges jd on jd.id = w.judge left join categories ct on ct.id = w.category
            join {gold} go on go.comparison = w.comparison
            left join details de on de.vote = w.id {" ".join(texts)}
            order by w.id""",
        {**params, **{f"key{place}": name for place, name in enumerate(extras)}},
    )
    return found.rename_columns([*(column.name for column in COLUMNS), *extras])


def export_votes(store: Snapshot, selection: Selection) -> pa.Table:
    """All votes of the selection, failed ones too, with the gold that was given; see `Store.export`."""
    selected = scope(store, replace(selection, gold="given"))
    found = vote_rows(store, selected.filter, selected.params, gold=selected.gold)
    if found.num_rows == 0:
        raise nothing(store, selection)
    return found


def export_rows(store: Snapshot, selection: Selection, kind: Kind) -> pa.Table:
    """All direct scores, or rankings with a row a candidate, of the selection, failed ones too."""
    if kind not in ("scores", "rankings"):
        raise InvalidOption(f"Export of {kind!r}: there are 'votes', 'scores' and 'rankings'")
    form, selected = FORMS[kind], row_scope(store, selection, kind)
    types = {"text": "varchar", "int": "bigint", "float": "double"}
    values = row_column_sql(kind)
    columns = [f"({values[c.name]})::{types[c.kind]} as {c.name}" for c in form.columns]
    extras = row_extra_columns(store, kind, selected.filter, selected.params)
    columns += [f"v.extra[$key{place}] as extra{place}" for place in range(len(extras))]
    found = store.query(
        f"""select {", ".join(columns)} from {kind} v {JOINS.format(judged=JUDGED[kind])}
            where {selected.filter} order by v.id{", v.slot" if kind == "rankings" else ""}""",
        {**selected.params, **{f"key{place}": name for place, name in enumerate(extras)}},
    )
    if found.num_rows == 0:
        raise nothing(store, selection, kind)
    return found.rename_columns([*form.names, *extras])


def write_csv(table: pa.Table, target: str | Path | BinaryIO) -> None:
    """Write CSV in which no text cell or heading can run as a formula: such a one gets an apostrophe."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    def safe(values: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
        return pc.replace_substring_regex(values, pattern=FORMULA, replacement=r"'\1")

    columns = [safe(column) if pa.types.is_string(column.type) else column for column in table.columns]
    names = safe(pa.array(table.column_names, pa.string())).to_pylist()
    csv.write_csv(pa.table(dict(zip(names, columns, strict=True))), _sink(target))


def write_parquet(table: pa.Table, target: str | Path | BinaryIO) -> None:
    """Write Parquet, in which text is never run."""
    from pyarrow import parquet

    parquet.write_table(table, _sink(target))


def write_file(table: pa.Table, path: str | Path) -> None:
    """Write to a file by its ending: .csv, .csv.gz or .parquet."""
    import pyarrow as pa

    path = Path(path)
    try:
        if path.name.endswith(".csv.gz"):
            with pa.CompressedOutputStream(str(path), "gzip") as target:
                write_csv(table, target)
        elif path.suffix == ".csv":
            write_csv(table, path)
        elif path.suffix == ".parquet":
            write_parquet(table, path)
        else:
            raise InvalidOption(f"{path}: write to a name that ends in .csv, .csv.gz or .parquet")
    except OSError as error:
        raise InvalidOption(f"{path}: cannot be written ({error.strerror or error})") from error


def _sink(target: str | Path | BinaryIO) -> str | BinaryIO:
    return str(target) if isinstance(target, Path) else target


MARK, AT = b"DUCK", 8
"""What a DuckDB file has after a checksum of eight bytes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoredDataset:
    """All judgements of one kind in a data set of another store; simulated as they are there."""

    dataset: str
    simulated: bool
    reading: ImportResult


def is_database(path: Path) -> bool:
    """Whether a file is one of DuckDB, as stores are."""
    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(AT + len(MARK))[AT:] == MARK
    except OSError:
        return False


def read_store(path: Path) -> list[StoredDataset]:
    """Everything that a store file holds, through the canonical columns. The file is not changed.

    Raises
    ------
    StoreInUse : another process has the file open.
    UnreadableFile : the file is damaged, or of DuckDB but no store.
    NoUsableVotes : nothing is in it.
    """
    found = []
    with Store.open(path, read_only=True) as store, store.snapshot() as moment:
        # A store of an earlier layout lacks tables.
        tables = moment.query("select table_name from duckdb_tables()")["table_name"].to_pylist()
        for row in moment.query("select name, simulated from datasets order by name").to_pylist():
            for kind in FORMS:
                if kind in tables and _any(moment, kind, row["name"]):
                    reading = _reading(path.name, kind, _table(moment, kind, row["name"]))
                    found.append(
                        StoredDataset(dataset=row["name"], simulated=row["simulated"], reading=reading)
                    )
    if not found:
        raise NoUsableVotes(f"{path}: this store holds no vote, score or ranking")
    return found


def _any(store: Snapshot, kind: Kind, dataset: str) -> bool:
    found = store.query(
        f"select 1 from {kind} v join datasets d on d.id = v.dataset where d.name = $dataset limit 1",
        {"dataset": dataset},
    )
    return bool(found.num_rows)


def _table(store: Snapshot, kind: Kind, dataset: str) -> pa.Table:
    selection = Selection(datasets=(dataset,))
    return export_votes(store, selection) if kind == "votes" else export_rows(store, selection, kind)


def _reading(name: str, kind: Kind, table: pa.Table) -> ImportResult:
    import pyarrow as pa

    schema = FORMS[kind].schema()
    others = [column for column in table.column_names if column not in FORMS[kind].names]
    extra = [
        [(column, value) for column, value in row.items() if value is not None]
        for row in table.select(others).to_pylist()
    ]
    columns = [table[column].combine_chunks() for column in FORMS[kind].names]
    columns += [pa.array(extra or [[]] * table.num_rows, schema.field("extra").type)]
    columns += [pa.array(range(1, table.num_rows + 1), pa.int64())]
    rows = pa.table(columns, schema=schema)
    # As text: what stands under a missing number may differ from one reading to the next.
    written = io.BytesIO()
    write_csv(table, written)
    return ImportResult(
        name=name,
        sha256=hashlib.sha256(written.getbuffer()).hexdigest(),
        format="store",
        rows=table.num_rows,
        votes=rows,
        rejects=pa.table({column: pa.array([], pa.string()) for column in REJECT_SCHEMA_NAMES}),
        duplicates=0,
        mapping={},
        kind=kind,
    )


EDGE_TOLERANCE = 1e-9
"""Bins are (low, high] with edges compared so (methods §5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What the votes behind a mark have in common; None does not ask.

    confidence : (low, high], with 0 in the bin that starts there. vote, gold : -1, 0 or 1. correct : vote and
    gold agree (False: there is gold and they do not). counts : (plus, tie, minus) of the judge on the
    comparison. label : the judge's majority label of the comparison. models : two models, in either
    orientation. flip : of the pair of orders in one run: `same` verdict, `flip` (another verdict, hard flips
    included) or `hard` (+1 against -1). category : "" means without one. slot : the vote went to the
    response shown `first`, `second`, or was a `tie` with known position. items : item ids.
    comparisons : codes of comparisons, as the counts of the same selection have them.
    rule : under `both_orders`, `confidence` and `correct` speak of the pair of orders as in `outcomes`.
    """

    judge: str | None = None
    confidence: tuple[float, float] | None = None
    vote: int | None = None
    gold: int | None = None
    correct: bool | None = None
    counts: tuple[int, int, int] | None = None
    label: int | None = None
    models: tuple[str, str] | None = None
    flip: Literal["same", "flip", "hard"] | None = None
    category: str | None = None
    slot: Literal["first", "second", "tie"] | None = None
    items: tuple[str, ...] | None = None
    comparisons: tuple[int, ...] | None = None
    rule: CorrectnessRule = "single"


@at_one_moment
def votes_behind(store: Snapshot, selection: Selection, *, mark: Mark, limit: int = 1000) -> pa.Table:
    """Usable votes that meet a mark, in the order of loading, at most `limit`.

    Columns are the canonical ones, with gold as the selection forms it, and every extra column.

    Raises
    ------
    NoUsableVotes : no vote meets the mark. UnknownName : a judge or model that the store does not have.
    """
    selected = scope(store, selection)
    conditions, params = _conditions(selected, mark)
    if mark.comparisons is not None:
        # A code rises where a comparison of the selection begins.
        present = np.flatnonzero(np.diff(number(store, selected, selection).comparison, prepend=-1))
        if not all(0 <= code < len(present) for code in mark.comparisons):
            raise InvalidOption(f"mark.comparisons: codes go from 0 to {len(present) - 1}")
        wanted = ", ".join(str(present[code]) for code in mark.comparisons) or "null"
        conditions.append(f"v.comparison in ({wanted})")
    pair = f"""(select v.judge, v.comparison, v.run, max(v.vote) - min(v.vote) as apart,
                  sign(sum(v.vote)) as vote,
                  case when count(v.confidence) = 2 then sum(v.confidence) / 2 end as confidence
           from votes v where v.status = 0 and v.position <> 0 and {selected.filter}
           group by v.judge, v.comparison, v.run having count(*) = 2)"""
    tally = f"""(select v.judge, v.comparison, count_if(v.vote = 1) as plus, count_if(v.vote = 0) as tie,
                   count_if(v.vote = -1) as minus
            from votes v where v.status = 0 and {selected.filter} group by v.judge, v.comparison)"""
    joins = []
    if mark.flip is not None or mark.rule == "both_orders":
        joins.append(
            f"join {pair} p on v.position <> 0 "
            "and (p.judge, p.comparison, p.run) = (v.judge, v.comparison, v.run)"
        )
    if mark.counts is not None or mark.label is not None:
        joins.append(f"join {tally} n on (n.judge, n.comparison) = (v.judge, v.comparison)")
    found = store.query(
        f"""select v.id from votes v join {selected.gold} g on g.comparison = v.comparison {" ".join(joins)}
            where v.status = 0 and {" and ".join([selected.filter, *conditions])}
            order by v.id limit {int(limit)}""",
        {**selected.params, **params},
    )
    if found.num_rows == 0:
        raise NoUsableVotes("No vote is behind this mark")
    ids = ", ".join(map(str, found["id"].to_pylist()))
    return vote_rows(store, f"v.id in ({ids})", {}, gold=selected.gold)


def _conditions(selected: Scope, mark: Mark) -> tuple[list[str], dict[str, str]]:
    """SQL predicates on a vote `v`, its gold `g`, its pair `p` and its tally `n`."""
    judged = "p" if mark.rule == "both_orders" else "v"
    found: list[str] = []
    params: dict[str, str] = {}
    if mark.judge is not None:
        ids = [code for code, name in selected.judges.items() if name == mark.judge]
        if not ids:
            raise UnknownName(unknown("judge", mark.judge, list(selected.judges.values())))
        found.append(f"v.judge = {ids[0]}")
    if mark.confidence is not None:
        low, high = (float(edge) for edge in mark.confidence)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise InvalidOption(f"mark.confidence {mark.confidence}: both edges must be numbers")
        over = f"{judged}.confidence > {low + EDGE_TOLERANCE!r}"
        found.append(f"({over} or {low <= 0} and {judged}.confidence >= 0)")
        found.append(f"{judged}.confidence <= {high + EDGE_TOLERANCE!r}")
    found += [f"v.vote = {int(mark.vote)}"] if mark.vote is not None else []
    found += [f"g.gold = {int(mark.gold)}"] if mark.gold is not None else []
    if mark.correct is not None:
        found.append(f"{judged}.vote {'=' if mark.correct else '<>'} g.gold")
    if mark.counts is not None:
        plus, tie, minus = (int(count) for count in mark.counts)
        found.append(f"n.plus = {plus} and n.tie = {tie} and n.minus = {minus}")
    if mark.label is not None:
        wins = "n.plus > n.tie and n.plus > n.minus"
        loses = "n.minus > n.tie and n.minus > n.plus"
        found.append({1: f"({wins})", -1: f"({loses})"}.get(mark.label, f"not ({wins}) and not ({loses})"))
    if mark.models is not None:
        params |= {"mark_model_1": mark.models[0], "mark_model_2": mark.models[1]}
        one, two = (f"(select id from models where name = $mark_model_{k})" for k in (1, 2))
        found.append(
            f"((g.model_a = {one} and g.model_b = {two}) or (g.model_a = {two} and g.model_b = {one}))"
        )
    if mark.flip is not None:
        found.append({"same": "p.apart = 0", "flip": "p.apart > 0", "hard": "p.apart = 2"}[mark.flip])
    if mark.category is not None:
        params["mark_category"] = mark.category
        found.append("coalesce((select name from categories k where k.id = v.category), '') = $mark_category")
    if mark.slot is not None:
        shown = {"first": 1, "second": -1, "tie": 0}[mark.slot]
        found.append(f"v.position <> 0 and v.vote * v.position = {shown}")
    if mark.items is not None:
        params |= {f"mark_item{k}": item for k, item in enumerate(mark.items)}
        listed = ", ".join(f"$mark_item{k}" for k in range(len(mark.items))) or "null"
        found.append(f"g.item in (select id from items where name in ({listed}))")
    return found, params
