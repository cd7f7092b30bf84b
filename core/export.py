"""Votes out of the store: the canonical columns and every extra one, as a table, CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from core.scope import column_sql, extra_columns, nothing, scope
from core.votes import COLUMNS, Selection

if TYPE_CHECKING:
    import pyarrow as pa

    from core.store import Store

# A spreadsheet runs cells that begin so. Apostrophes before it count as well: the importers strip exactly one.
FORMULA = r"\A('*[=+\-@\t\r])"


def vote_rows(
    store: Store,
    condition: str,
    params: dict[str, str],
    *,
    gold: str = "comparisons",
    limit: int | None = None,
) -> pa.Table:
    """Votes `v` that meet an SQL condition, in the order of loading, with canonical and extra columns.

    `gold` is a relation (comparison or id, gold) to take the gold label from.
    """

    key = "id" if gold == "comparisons" else "comparison"
    sources = {
        "dataset": "ds.name",
        "item_id": "it.name",
        "category": "ct.name",
        "model_a": "ma.name",
        "model_b": "mb.name",
        "judge": "jd.name",
        "gold": "go.gold",
        **{
            name: f"tx_{name}.text"
            for name in ("prompt", "response_a", "response_b", "rationale", "prompt_hash")
        },
        **{name: f"de.{name}" for name in ("length_a", "length_b", "temperature", "cost")},
    }
    types = {"text": "varchar", "int": "bigint", "float": "double"}
    columns = [
        f"({sources.get(column.name) or column_sql(column.name)[0]})::{types[column.kind]} as {column.name}"
        for column in COLUMNS
    ]
    texts = [
        f"left join texts {name.split('.')[0]} on {name.split('.')[0]}.id = de.{name[3:-5]}"
        for name in sources.values()
        if name.startswith("tx_")
    ]
    extras = extra_columns(store, condition, params)
    columns += [f"de.extra[$key{number}] as extra{number}" for number in range(len(extras))]
    found = store.query(
        f"""with w as (select * from votes v where {condition} order by v.id {f"limit {limit}" if limit else ""})
            select {", ".join(columns)} from w
            join datasets ds on ds.id = w.dataset join comparisons co on co.id = w.comparison
            join items it on it.id = co.item join models ma on ma.id = co.model_a join models mb on mb.id = co.model_b
            join judges jd on jd.id = w.judge left join categories ct on ct.id = w.category
            left join {gold} go on go.{key} = w.comparison
            left join details de on de.vote = w.id {" ".join(texts)}
            order by w.id""",
        {**params, **{f"key{number}": name for number, name in enumerate(extras)}},
    )
    return found.rename_columns([*(column.name for column in COLUMNS), *extras])


def export_votes(store: Store, selection: Selection) -> pa.Table:
    """All votes of the selection, failed ones too, with the gold that was given; see `Store.export`."""
    selected = scope(store, selection)
    found = vote_rows(store, selected.filter, selected.params)
    if found.num_rows == 0:
        raise nothing(selection)
    return found


def write_csv(table: pa.Table, target: str | Path | BinaryIO) -> None:
    """Write CSV in which no text cell or heading can run as a formula: such a one gets an apostrophe in front."""
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


def _sink(target: str | Path | BinaryIO) -> str | BinaryIO:
    return str(target) if isinstance(target, Path) else target
