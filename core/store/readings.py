"""What a store file holds, as readings that another store loads: votes, direct scores and rankings."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.store.database import Snapshot, Store
from core.store.export import export_rows, export_votes, write_csv
from core.votes import FORMS, REJECT_SCHEMA_NAMES, Kind, NoUsableVotes, Reading, Selection

if TYPE_CHECKING:
    import pyarrow as pa

MARK, AT = b"DUCK", 8
"""What a DuckDB file has after a checksum of eight bytes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Held:
    """All judgements of one kind in a data set of another store; simulated as they are there."""

    dataset: str
    simulated: bool
    reading: Reading


def is_database(path: Path) -> bool:
    """Whether a file is one of DuckDB, as stores are."""
    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(AT + len(MARK))[AT:] == MARK
    except OSError:
        return False


def read_store(path: Path) -> list[Held]:
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
                    found.append(Held(dataset=row["name"], simulated=row["simulated"], reading=reading))
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


def _reading(name: str, kind: Kind, table: pa.Table) -> Reading:
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
    return Reading(
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
