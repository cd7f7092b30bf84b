"""What loading every kind of judgement shares: names and texts to numbers, ledger of files, clearing up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from core.votes import Form, Reading

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_COLUMNS = ("prompt", "response_a", "response_b", "rationale", "prompt_hash")
"""Texts of a vote, kept in `details`; scores and rankings keep theirs in `ROW_TEXTS`."""
ROW_TEXTS = ("prompt", "response", "rationale", "prompt_hash")

SORTED_EXTRA = "case when cardinality(i.extra) > 0 then map_from_entries(list_sort(map_entries(i.extra))) end"
"""Other columns of an incoming row `i`: sorted, so that maps are equal whatever the order in the file."""


def one(cursor: Any, sql: str) -> int:
    """The whole number that a statement gives, 0 for null."""
    value = cursor.execute(sql).fetchone()[0]
    return int(value or 0)


def names(cursor: Any, sql: str) -> list[str]:
    """First column of what a statement gives, as text."""
    return [str(row[0]) for row in cursor.execute(sql).fetchall()]


def stem(reading: Reading) -> str:
    """Name of the data set of rows that name none."""
    return PurePath(reading.name).name.split(".")[0] or "votes"


def complete(rows: pa.Table, form: Form, dataset: str | None, otherwise: str) -> pa.Table:
    """Write the defaults of the canonical form into missing cells, and number the rows from 1.

    dataset : data set of every row; None leaves it to the file, and to `otherwise` where that is silent.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    defaults = {column.name: column.default for column in form.columns if column.default is not None}
    for name, default in {"dataset": otherwise, **defaults}.items():
        if rows[name].null_count:
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, name, pc.fill_null(rows[name], default))
    if dataset is not None:
        rows = rows.set_column(
            rows.schema.get_field_index("dataset"), "dataset", pa.repeat(dataset, rows.num_rows)
        )
    return rows.append_column("ordinal", pa.array(np.arange(1, rows.num_rows + 1)))


def fill_names(cursor: Any, named: Mapping[str, str], *, simulated: bool) -> None:
    """Number new data sets and items of `given`, and new names of other dictionaries.

    named : dictionary → SQL that gives a column `name`.
    """
    # New ids follow the order of the names, so that one file gives the same codes whatever its row order.
    cursor.execute(
        """insert into datasets
           select (select coalesce(max(id), 0) from datasets) + row_number() over (order by dataset),
                  dataset, $simulated, now()::timestamp
           from (select distinct dataset from given where dataset not in (select name from datasets))""",
        {"simulated": simulated},
    )
    for table, source in named.items():
        cursor.execute(
            f"""insert into {table}
                select (select coalesce(max(id), 0) from {table}) + row_number() over (order by name), name
                from (select distinct name from ({source}) where name not in (select name from {table}))"""
        )
    cursor.execute(
        """insert into items
           select (select coalesce(max(id), 0) from items)
                  + row_number() over (order by g.dataset, g.item_id), d.id, g.item_id
           from (select distinct dataset, item_id from given) g join datasets d on d.name = g.dataset
           where not exists (select 1 from items i where i.dataset = d.id and i.name = g.item_id)"""
    )


def present(rows: pa.Table, columns: Iterable[str]) -> list[str]:
    """Those of the columns that have a value in any row."""
    return [column for column in columns if rows[column].null_count < rows.num_rows]


def fill_texts(cursor: Any, columns: Iterable[str]) -> None:
    """Number the new texts in these columns of `incoming`."""
    source = " union ".join(f"select {column} as text from incoming" for column in columns)
    if source:
        cursor.execute(
            f"""insert into texts
                select (select coalesce(max(id), 0) from texts) + row_number() over (order by text), text
                from (select distinct text from ({source})
                      where text is not null and text not in (select text from texts))"""
        )


def text_sql(columns: Iterable[str], filled: Iterable[str]) -> tuple[list[str], list[str]]:
    """Columns and joins that give the numbers of the texts of an incoming row `i`, null where unfilled."""
    filled = set(filled)
    selected = [f"t_{c}.id as {c}" if c in filled else f"null::integer as {c}" for c in columns]
    joins = [f"left join texts t_{c} on t_{c}.text = i.{c}" for c in columns if c in filled]
    return selected, joins


def has_extra(rows: pa.Table) -> bool:
    """Whether any row has a column outside the canonical form."""
    return any(len(chunk.keys) for chunk in rows["extra"].chunks)


def code_sql(column: str, vocabulary: tuple[str, ...]) -> str:
    """SQL that turns a word of a closed vocabulary, in an incoming row `i`, into its index."""
    cases = " ".join(f"when '{name}' then {code}" for code, name in enumerate(vocabulary))
    return f"(case i.{column} {cases} end)::tinyint as {column}"


def ledger(cursor: Any, sha256: str, fingerprint: str) -> dict[str, str]:
    """Data set that these very judgements were loaded as → its name now."""
    rows = cursor.execute(
        """select target, d.name from files f join datasets d on d.id = f.dataset
           where sha256 = ? and fingerprint = ?""",
        [sha256, fingerprint],
    ).fetchall()
    return dict(rows)


def enter_in_ledger(cursor: Any, reading: Reading, fingerprint: str) -> None:
    """Remember that a reading was loaded into the data sets of `given`."""
    cursor.execute(
        """insert into files select $sha, $fingerprint, d.id, g.dataset, $name, $format, now()::timestamp
           from (select distinct dataset from given) g join datasets d on d.name = g.dataset
           where (d.id, g.dataset) not in
                 (select (dataset, target) from files where sha256 = $sha and fingerprint = $fingerprint)""",
        {
            "sha": reading.sha256,
            "fingerprint": fingerprint,
            "name": PurePath(reading.name).name,
            "format": reading.format,
        },
    )


def vacuum(cursor: Any) -> None:
    """Forget dictionary rows that nothing uses any longer."""
    used = {
        "models": "select unnest([model_a, model_b]) from comparisons union all select model from scores "
        "union all select candidate from rankings",
        "judges": "select judge from votes union all select judge from scores "
        "union all select judge from rankings",
        "categories": "select category from votes union all select category from scores "
        "union all select category from rankings",
        "texts": " union all ".join(
            f"select {column} from {table}"
            for table, columns in (("details", TEXT_COLUMNS), ("scores", ROW_TEXTS), ("rankings", ROW_TEXTS))
            for column in columns
        ),
    }
    for table, source in used.items():
        cursor.execute(
            f"delete from {table} where id not in (select id from ({source}) u (id) where id is not null)"
        )
