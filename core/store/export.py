"""Out of the store: the canonical columns of votes, scores or rankings and every extra one, as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from core.store.dictionaries import TEXT_COLUMNS
from core.store.loading import NUMBER_COLUMNS
from core.store.row_scope import JOINS, JUDGED, row_scope
from core.store.row_scope import column_sql as row_column_sql
from core.store.row_scope import extra_columns as row_extra_columns
from core.store.scope import column_sql, extra_columns, nothing, scope
from core.votes import COLUMNS, FORMS, InvalidOption, Kind, Selection

if TYPE_CHECKING:
    import pyarrow as pa

    from core.store.database import Snapshot

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
