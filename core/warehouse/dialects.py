"""One SQL, four engines: statements are written as DuckDB understands them and translated by
sqlglot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..errors import InvalidOption, WarehouseError

if TYPE_CHECKING:
    from sqlglot import exp

_Pairs = tuple[tuple[str, str], ...]

SOURCE = "warehouse_source"
"""The user's table, in statements about it."""

MISSING = (
    "Audits of other engines need {package}, which is not installed. Install it with: "
    "pip install 'appellate[{extra}]' (in a checkout: pip install -r requirements/{extra}.lock)."
)


def missing(package: str, extra: str = "warehouse") -> WarehouseError:
    """What to say where an optional package is not there."""
    return WarehouseError(MISSING.format(package=package, extra=extra))


def translate(
    sql: str,
    dialect: str,
    *,
    source: str = "",
    ordinal: str = "",
    params: Mapping[str, str] | None = None,
    extra: Mapping[str, str] | None = None,
) -> str:
    """A statement of DuckDB in another dialect; `$name` becomes a text literal that the dialect
    escapes.

    source : the user's table, as that dialect names it.  ordinal : its expression for the number of
        a row.
    extra : key of the store's map `extra` → the column that it is here.

    >>> translate("select count_if(a = $x)::bigint as n from t", "postgres", params={"x": "it's"})
    "SELECT CAST(SUM(CASE WHEN a = 'it''s' THEN 1 ELSE 0 END) AS BIGINT) AS n FROM t"
    """
    values, others = (tuple(sorted((given or {}).items())) for given in (params, extra))
    return _translated(sql, dialect, source, ordinal, values, others)


@lru_cache(maxsize=512)
def _translated(
    sql: str, dialect: str, source: str, ordinal: str, params: _Pairs, extra: _Pairs
) -> str:
    try:
        import sqlglot
        from sqlglot import exp
    except ImportError:
        raise missing("sqlglot") from None
    values, others = dict(params), dict(extra)

    def adapt(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Bracket) and node.this.name == "extra":
            (key,) = node.find_all(exp.Parameter, exp.Placeholder)
            return exp.column(others[values[key.name]], table=node.this.table)
        if isinstance(node, exp.TryCast) and isinstance(node.this, exp.Parameter | exp.Placeholder):
            # PostgreSQL has no cast that may fail.
            return _number(values[node.this.name])
        if isinstance(node, exp.Parameter | exp.Placeholder):
            return exp.Literal.string(values[node.name])
        if isinstance(node, exp.Table) and node.name == SOURCE:
            table = table_of(source, dialect)
            return exp.alias_(table, node.alias, table=True) if node.alias else table
        if isinstance(node, exp.Anonymous) and node.name == "row_in_order":
            # A number of each row.
            return sqlglot.parse_one(ordinal, read=dialect)
        if isinstance(node, exp.Length) and dialect == "clickhouse":
            # Its `length` counts bytes.
            return exp.Anonymous(this="lengthUTF8", expressions=[node.this])
        return node

    tree: Any = sqlglot.parse_one(sql, read="duckdb")
    return str(tree.transform(adapt).sql(dialect=dialect))


def _number(text: str) -> exp.Expr:
    from sqlglot import exp

    try:
        value = float(text)
    except ValueError:
        return exp.null()
    return exp.Literal.number(repr(value)) if math.isfinite(value) else exp.null()


def table_of(name: str, dialect: str) -> exp.Expr:
    """The name of a table, and nothing else, in a dialect.

    Raises InvalidOption: anything but the name of a table.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        table = exp.to_table(name, dialect=dialect)
    except SqlglotError:
        table = None
    if (
        not isinstance(table, exp.Table)
        or not table.name
        or set(table.args) - {"this", "db", "catalog"}
    ):
        raise InvalidOption(
            "{option} {value!r}: not the name of a table; write TABLE or SCHEMA.TABLE.",
            option="table",
            value=name,
        )
    return table


def quoted(column: str) -> str:
    """A column of the user's table, whatever its name, in a statement that will be translated."""
    return '"' + column.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in a statement that will be translated."""
    return "'" + text.replace("'", "''") + "'"
