"""From a `Selection` to SQL on the tables of direct scores and of rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.counts import IntArray
from core.store.dictionaries import ROW_TEXTS
from core.store.load_rows import ROW_NUMBERS
from core.store.scope import codes, decode, filters_of, pool_of, unknown
from core.votes import FORMS, STATUSES, Kind, Selection, UnknownName

if TYPE_CHECKING:
    import pyarrow as pa

    from core.store.database import Snapshot

JOINS = """join datasets ds on ds.id = v.dataset join items it on it.id = v.item
join judges jd on jd.id = v.judge left join categories ct on ct.id = v.category
join models mo on mo.id = v.{judged} """ + " ".join(
    f"left join texts tx_{name} on tx_{name}.id = v.{name}" for name in ROW_TEXTS
)
JUDGED: dict[Kind, str] = {"scores": "model", "rankings": "candidate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScope:
    """SQL pieces of a checked selection of rows `v` of one kind, and the judges by number."""

    kind: Kind
    filter: str
    params: dict[str, str]
    judges: dict[int, str]


def column_sql(kind: Kind) -> dict[str, str]:
    """Canonical column → its value for a row `v`, after `JOINS`."""
    return {
        "dataset": "ds.name",
        "item_id": "it.name",
        "category": "ct.name",
        "judge": "jd.name",
        JUDGED[kind]: "mo.name",
        "run": "v.run",
        "rater_type": "(case when v.human then 'human' else 'llm' end)",
        "status": decode("v.status", dict(enumerate(STATUSES))),
        **{name: f"tx_{name}.text" for name in ROW_TEXTS},
        **{name: f"v.{name}" for name in ROW_NUMBERS[kind]},
    }


def extra_columns(
    store: Snapshot, kind: Kind, condition: str = "true", params: dict[str, str] | None = None
) -> list[str]:
    """Names, in order, of the columns outside the canonical form that rows `v` under a condition have."""
    found = store.query(
        f"""select distinct unnest(map_keys(v.extra)) as name from {kind} v
            where v.extra is not null and {condition} order by 1""",
        params,
    )
    return [str(name) for name in found["name"].to_pylist()]


def row_scope(store: Snapshot, selection: Selection, kind: Kind) -> RowScope:
    """Check a selection against the store and write its SQL; what it takes for gold plays no part.

    A ranking is selected whole, if any of its rows meets each condition.

    Raises
    ------
    UnknownName : a data set, judge or rater type that does not exist, a column that this kind has not.
    """
    judges = codes(store, "judges")
    filters = filters_of(selection, pool_of(store, selection), judges)
    own = column_sql(kind)
    params: dict[str, str] = {}
    extras: list[str] | None = None
    for place, (column, value) in enumerate(selection.where):
        sql = own.get(column)
        if sql is None:
            extras = extra_columns(store, kind) if extras is None else extras
            if column not in extras:
                raise UnknownName(unknown("column", column, [*FORMS[kind].names, *extras]))
            params[f"extra{place}"] = column
            sql = f"v.extra[$extra{place}]"
        params[f"value{place}"] = value
        test = f"coalesce({sql}::varchar, '') = $value{place}"
        if column in ("run", *ROW_NUMBERS[kind]):
            # 0.70 and +1 are what people type for 0.7 and 1.
            test = f"({test} or {sql} = try_cast($value{place} as double))"
        joins = JOINS.format(judged=JUDGED[kind])
        filters.append(f"v.id in (select v.id from {kind} v {joins} where {test})")
    return RowScope(
        kind=kind,
        filter=" and ".join(filters) or "true",
        params=params,
        judges={code: name for name, code in judges.items()},
    )


def coded(table: pa.Table, column: str) -> tuple[tuple[str, ...], IntArray]:
    """Distinct texts of a column in order, and the code of each row among them; null is ""."""
    import pyarrow.compute as pc

    encoded = pc.fill_null(table[column], "").combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    code = np.empty(len(names), dtype=np.int64)
    code[order] = np.arange(len(names))
    return tuple(names[i] for i in order), code[encoded.indices.to_numpy()]


def numbered(ids: IntArray) -> IntArray:
    """Codes 0, 1, 2 … of ids, in the order of the store."""
    return np.unique(ids, return_inverse=True)[1].reshape(-1).astype(np.int64)
