"""Out of the store: the canonical columns of votes, scores or rankings and every extra one, as a
file.

And what a store file holds, as import results that another store loads.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..errors import InvalidOption, NoUsableVotes
from ..files import written_whole
from ..schema import FORMS, ImportResult, Kind, Selection, perturbed
from .connection import Database, Snapshot, is_foreign
from .parts import items_of
from .parts import read as read_parts
from .selection import Scope, at_one_moment, column_sql, extra_columns, nothing, scope

if TYPE_CHECKING:
    import pyarrow as pa


# A spreadsheet runs cells that begin so, some with the signs of full width too, and some past a
# line break. Apostrophes before it count too, as the importers strip exactly one.
FORMULA = r"\A('*[=+\-@\t\r\n＝＋－＠])"


@at_one_moment
def judgements(store: Snapshot, selection: Selection, kind: Kind) -> pa.Table:
    """All votes of the selection, failed ones too, with the gold that was given; or all scores or
    rankings.

    The canonical columns come first, then each extra column. A ranking has a row for each
    candidate. Votes on perturbed items go with those of all judges: the column `perturbation` names
    the change.
    """
    if kind not in FORMS:
        raise InvalidOption(f"Export of {kind!r}: there are 'votes', 'scores' and 'rankings'")
    selected = scope(
        store,
        replace(selection, gold="given"),
        kind,
        with_perturbed=selection.judges is None,
        listed=True,
    )
    rows = listed(store, selected, selected.filter)
    if rows.num_rows == 0:
        raise nothing(store, selection, kind)
    return _perturbations_apart(rows)


@at_one_moment
def without_labels(store: Snapshot, dataset: str, kind: Kind) -> pa.Table:
    """What files say of a data set: its export without the labels given here and their gold."""
    selected = scope(store, Selection(datasets=(dataset,), gold="given"), kind, with_perturbed=True)
    labels = f"""select r.judgement from label_rows r join labelling b on b.dataset = r.dataset
                where not r.of_file and b.kind = '{kind}'"""
    rows = listed(
        store, selected, f"{selected.filter} and v.id not in ({labels})", gold_of_labels=False
    )
    return _perturbations_apart(rows)


def with_texts(store: Snapshot, dataset: str) -> pa.Table:
    """The first vote of each comparison with a prompt and both responses; none on
    perturbed items.
    """
    selected = scope(store, Selection(datasets=(dataset,), gold="given", sealed=True), "votes")
    texts = " ".join(
        f"join texts {name} on {name}.id = d.{name} and {name}.text <> ''"
        for name in ("prompt", "response_a", "response_b")
    )
    first = f"""select min(v.id) from votes v join details d on d.vote = v.id {texts}
                where {selected.filter} group by v.comparison"""
    return listed(store, selected, f"{selected.filter} and v.id in ({first})")


def answers_with_texts(store: Snapshot, dataset: str) -> pa.Table:
    """The scores of a data set that have a prompt and a response, people's too."""
    selected = scope(store, Selection(datasets=(dataset,), gold="given", sealed=True), "scores")
    texts = " and ".join(
        f"v.{name} in (select id from texts where text <> '')" for name in ("prompt", "response")
    )
    return listed(store, selected, f"{selected.filter} and {texts}")


def _perturbations_apart(table: pa.Table) -> pa.Table:
    """Judges under their own names, the change that they saw in a column, as files have it."""
    import pyarrow as pa

    meant = {name: perturbed(name) for name in table["judge"].unique().to_pylist()}
    if not any(meant.values()):
        return table
    names = table["judge"].to_pylist()
    of_each = [meant[name] for name in names]
    judges = [change.judge if change else name for name, change in zip(names, of_each, strict=True)]
    place = table.column_names.index("judge")
    return table.set_column(place, "judge", pa.array(judges)).append_column(
        "perturbation", pa.array([change and change.label for change in of_each], pa.string())
    )


def listed(
    store: Snapshot, selected: Scope, condition: str, *, gold_of_labels: bool = True
) -> pa.Table:
    """Rows `v` that meet an SQL condition on the scope, in the order of loading: all columns, as
    text.

    gold_of_labels : else only gold of files.
    """
    kind, form = selected.kind, FORMS[selected.kind]
    types = {"text": "varchar", "int": "bigint", "float": "double"}
    params = selected.params if "$" in condition else {}
    extras = extra_columns(store, kind, condition, params)
    values: list[str] = []
    joins: dict[str, None] = {}
    for place, column in enumerate(form.columns):
        value, needed = column_sql(column.name, kind)
        if column.name == "gold" and kind == "votes":
            value, needed = "go.gold", (f"join {selected.gold} go on go.comparison = w.comparison",)
        if column.name == "gold" and not gold_of_labels:
            of_labels = {
                "votes": "w.comparison in (select g.comparison from label_gold g)",
                "scores": "w.id in (select g.score from label_gold g)",
            }
            value = f"case when not coalesce({of_labels[kind]}, false) then {value} end"
        values.append(f"({value})::{types[column.kind]} as c{place}")
        joins |= dict.fromkeys(needed)
    for place in range(len(extras)):
        value, needed = column_sql("", kind, f"$key{place}")
        values.append(f"{value} as extra{place}")
        joins |= dict.fromkeys(needed)
    rows = store.query(
        f"""with w as (select * from {kind} v where {condition})
            select {", ".join(values)} from w {" ".join(joins)}
            order by w.id{", w.slot" if kind == "rankings" else ""}""",
        {**params, **{f"key{place}": name for place, name in enumerate(extras)}},
    )
    return rows.rename_columns([*form.names, *extras])


def write_csv(table: pa.Table, target: str | Path | BinaryIO) -> None:
    """Write CSV in which no text cell or heading can run as a formula: such a one gets an
    apostrophe.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    def safe(values: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
        return pc.replace_substring_regex(values, pattern=FORMULA, replacement=r"'\1")

    columns = [
        safe(column) if pa.types.is_string(column.type) else column for column in table.columns
    ]
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
    if not path.name.endswith((".csv.gz", ".csv", ".parquet")):
        raise InvalidOption(f"{path}: write to a name that ends in .csv, .csv.gz or .parquet")
    with written_whole(path) as part:
        if path.name.endswith(".csv.gz"):
            with pa.CompressedOutputStream(str(part), "gzip") as target:
                write_csv(table, target)
        elif path.suffix == ".csv":
            write_csv(table, part)
        else:
            write_parquet(table, part)


def _sink(target: str | Path | BinaryIO) -> str | BinaryIO:
    return str(target) if isinstance(target, Path) else target


MARK, AT = b"DUCK", 8
"""What a DuckDB file has after a checksum of eight bytes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoredDataset:
    """All judgements of one kind in a data set of another store; simulated as they are there.

    labels : how many of them were given at the desk there; their order, repeats and undo are not
        taken along.  sealed : items of that store that are kept for proofs, as they are there
        alone.
    """

    dataset: str
    simulated: bool
    reading: ImportResult
    labels: int
    sealed: int = 0


def is_database(path: Path) -> bool:
    """Whether a file is one of DuckDB, as stores are, and not one with other tables only."""
    try:
        # Asked first: opening a pipe waits until somebody writes to it.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            marked = file.read(AT + len(MARK))[AT:] == MARK
    except (OSError, ValueError):
        return False
    return marked and not is_foreign(path)


def read_store(path: Path, *, sealed: bool = False) -> list[StoredDataset]:
    """Everything that a store file holds, through the canonical columns. The file is not changed.

    What a store says of how it was read, as from a copy, stands in the notes of the first of them.

    Raises StoreInUse: another process changes the file all the time. UnreadableFile: the file is
    damaged, or of DuckDB but no store. NoUsableVotes: nothing is in it.
    """
    with Database.open(path, read_only=True) as store:
        store.check()
        with store.snapshot() as moment:
            stored = list(_datasets(moment, path.name, sealed))
        notes = store.notes
    if not stored:
        raise NoUsableVotes(f"{path}: this store holds no vote, score or ranking")
    first = stored[0]
    read_so = replace(first.reading, notes=(*notes, *first.reading.notes))
    return [replace(first, reading=read_so), *stored[1:]]


def _datasets(store: Snapshot, file: str, sealed: bool) -> Iterator[StoredDataset]:
    parts = read_parts(store)
    kept = 0 if parts is None else items_of(store) - len(parts.items | parts.used)
    for dataset, simulated in store.rows("select name, simulated from datasets order by name"):
        for kind in FORMS:
            chosen = Selection(datasets=(dataset,), sealed=sealed)
            selected = scope(store, chosen, kind, with_perturbed=True)
            rows = listed(store, selected, selected.filter)
            if rows.num_rows:
                ((labels,),) = store.rows(
                    """select count(*) from label_rows r join labelling b on b.dataset = r.dataset
                       join datasets d on d.id = r.dataset
                       where not r.of_file and d.name = ? and b.kind = ?""",
                    [dataset, kind],
                )
                reading = as_reading(file, kind, rows)
                yield StoredDataset(
                    dataset=dataset,
                    simulated=simulated,
                    reading=reading,
                    labels=labels,
                    sealed=kept,
                )


def as_reading(name: str, kind: Kind, table: pa.Table) -> ImportResult:
    """What `listed` gives, as a reading of a file of this name."""
    others = table.drop_columns(list(FORMS[kind].names)).to_pylist()
    # As text: what stands under a missing number may differ from one reading to the next.
    written = io.BytesIO()
    write_csv(table, written)
    return ImportResult.without_rejects(
        table,
        name=name,
        sha256=hashlib.sha256(written.getbuffer()).hexdigest(),
        format="store",
        kind=kind,
        extra=[
            [(column, text) for column, text in row.items() if text is not None] for row in others
        ],
    )
