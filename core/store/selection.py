"""From a `Selection` to SQL and codes: which votes, which gold, which numbers stand for items and judges.

From a `Selection` to SQL on the tables of direct scores and of rankings.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import numpy as np

from ..errors import NoUsableVotes, UnknownName
from ..records import FloatArray, IntArray
from ..schema import COLUMN_NAMES, CONFIDENCE_KINDS, FORMS, STATUSES, Kind, Selection
from .load import NUMBER_COLUMNS, ROW_NUMBERS, ROW_TEXTS, TEXT_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

    from .connection import Snapshot, Store


P = ParamSpec("P")
R = TypeVar("R")

PAGES: dict[Kind, str] = {"votes": "Overview", "scores": "Leaderboard", "rankings": "Listwise"}
"""Where each kind of judgement is shown."""

NUMERIC = ("run", "vote", "confidence", "gold", *NUMBER_COLUMNS)


def at_one_moment(
    ask: Callable[Concatenate[Snapshot, P], R],
) -> Callable[Concatenate[Store | Snapshot, P], R]:
    """Let a question of several statements see one state of the store, whatever is loaded meanwhile."""

    @wraps(ask)
    def asked(store: Store | Snapshot, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with store.snapshot() as moment:
            return ask(moment, *args, **kwargs)

    return asked


def decode(column: str, names: Mapping[int, str]) -> str:
    """SQL that turns the code of a closed vocabulary into its text; other codes are null."""
    cases = " ".join(f"when {code} then '{name}'" for code, name in names.items())
    return f"(case {column} {cases} end)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """SQL pieces of a checked selection. `filter` speaks of a vote `v`; `pool` only of its data sets.

    `gold` is a subquery (comparison, item, dataset, model_a, model_b, gold) of the selected data sets.
    """

    filter: str
    pool: str
    gold: str
    params: dict[str, str]
    judges: dict[int, str]


def column_sql(column: str, extra: str = "$extra") -> tuple[str, str]:
    """Value of a canonical or extra column for a vote `w`, and the joins it needs.

    The name of an extra column is read from the parameter `extra`: it never becomes part of the statement.
    """
    own = {
        "run": "w.run",
        "vote": "w.vote",
        "confidence": "w.confidence",
        "position": decode("w.position", {1: "ab", -1: "ba"}),
        "confidence_kind": decode("w.confidence_kind", dict(enumerate(CONFIDENCE_KINDS))),
        "rater_type": "(case when w.human then 'human' else 'llm' end)",
        "status": decode("w.status", dict(enumerate(STATUSES))),
    }
    compared = "join comparisons x on x.id = w.comparison"
    detailed = "left join details x on x.vote = w.id"
    if column in own:
        return own[column], ""
    if column in TEXT_COLUMNS:
        return "y.text", f"{detailed} left join texts y on y.id = x.{column}"
    if column in NUMBER_COLUMNS:
        return f"x.{column}", detailed
    return {
        "dataset": ("x.name", "join datasets x on x.id = w.dataset"),
        "judge": ("x.name", "join judges x on x.id = w.judge"),
        "category": ("x.name", "left join categories x on x.id = w.category"),
        "gold": ("x.gold", compared),
        "item_id": ("y.name", f"{compared} join items y on y.id = x.item"),
        "model_a": ("y.name", f"{compared} join models y on y.id = x.model_a"),
        "model_b": ("y.name", f"{compared} join models y on y.id = x.model_b"),
    }.get(column, (f"x.extra[{extra}]", detailed))


def extra_columns(
    store: Snapshot, condition: str = "true", params: dict[str, str] | None = None
) -> list[str]:
    """Names, in order, of the columns outside the canonical form that votes `v` under a condition have."""
    found = store.query(
        f"""select distinct unnest(map_keys(d.extra)) as name from details d join votes v on v.id = d.vote
            where d.extra is not null and {condition} order by 1""",
        params,
    )
    return [str(name) for name in found["name"].to_pylist()]


def codes(store: Snapshot, table: str) -> dict[str, int]:
    """Name → number of a dictionary of the store."""
    found = store.query(f"select name, id from {table} order by name")
    return dict(zip(found["name"].to_pylist(), found["id"].to_pylist(), strict=True))


def _pick(kind: str, wanted: tuple[str, ...], known: dict[str, int]) -> list[int]:
    for name in wanted:
        if name not in known:
            raise UnknownName(unknown(kind, name, list(known)))
    return [known[name] for name in wanted]


def unknown(kind: str, name: str, known: list[str]) -> str:
    """Sentence that names what does not exist and what is near it."""
    inside = [one for one in known if name.casefold() in one.casefold()] if name else []
    near = list(dict.fromkeys([*inside[:5], *difflib.get_close_matches(name, known, n=5, cutoff=0.5)]))[:5]
    if near:
        return f"No {kind} named {name!r}; did you mean {' or '.join(repr(one) for one in near)}?"
    shown = ", ".join(repr(one) for one in known[:20]) + (", …" if len(known) > 20 else "")
    return f"No {kind} named {name!r}; there {'is' if len(known) == 1 else 'are'}: {shown or 'none'}"


def _one_of(column: str, codes: list[int]) -> str:
    return f"{column} in ({', '.join(map(str, codes))})" if codes else "false"


def scope(store: Snapshot, selection: Selection) -> Scope:
    """Check a selection against the store and write its SQL.

    Raises
    ------
    UnknownName : a data set, judge, column, rater type or kind of gold that does not exist.
    """
    judges = codes(store, "judges")
    pool = pool_of(store, selection)
    filters = filters_of(selection, pool, judges)
    params: dict[str, str] = {}
    extras: list[str] | None = None
    for place, (column, value) in enumerate(selection.where):
        if column not in COLUMN_NAMES:
            extras = extra_columns(store) if extras is None else extras
            if column not in extras:
                raise UnknownName(unknown("column", column, [*COLUMN_NAMES, *extras]))
            params[f"extra{place}"] = column
        params[f"value{place}"] = value
        filters.append(_condition(column, place))
    return Scope(
        filter=" and ".join(filters) or "true",
        pool=pool,
        gold=_gold(selection.gold, pool, judges),
        params=params,
        judges={code: name for name, code in judges.items()},
    )


def pool_of(store: Snapshot, selection: Selection) -> str:
    """SQL that keeps the selected data sets of a table `v`; raises UnknownName for one that is not there."""
    if selection.datasets is None:
        return "true"
    return _one_of("v.dataset", _pick("data set", selection.datasets, codes(store, "datasets")))


def filters_of(selection: Selection, pool: str, judges: dict[str, int]) -> list[str]:
    """SQL conditions on data set, judge and rater of a table `v`, `where` left out; raises UnknownName."""
    filters = [] if pool == "true" else [pool]
    if selection.judges is not None:
        filters.append(_one_of("v.judge", _pick("judge", selection.judges, judges)))
    if selection.rater_types is not None:
        _pick("rater type", selection.rater_types, {"llm": 0, "human": 1})
        kinds = set(selection.rater_types)
        if len(kinds) < 2:
            filters.append({"llm": "not v.human", "human": "v.human"}[kinds.pop()] if kinds else "false")
    return filters


def _condition(column: str, place: int) -> str:
    """`column = value` for a vote `v`; an empty value means that the cell is missing."""
    value, joins = column_sql(column, f"$extra{place}")
    test = f"coalesce({value}::varchar, '') = $value{place}"
    if column in NUMERIC:
        # 0.70 and +1 are what people type for 0.7 and 1.
        test = f"({test} or {value} = try_cast($value{place} as double))"
    return f"v.id in (select w.id from votes w {joins} where {test})" if joins else test.replace("w.", "v.")


def _gold(gold: str, pool: str, judges: dict[str, int]) -> str:
    compared = pool.replace("v.", "c.")
    columns = "c.id as comparison, c.item, c.dataset, c.model_a, c.model_b"
    if gold == "given":
        return f"(select {columns}, c.gold from comparisons c where {compared})"
    if gold == "humans":
        who = "v.human"
    elif gold in judges:
        who = f"v.judge = {judges[gold]}"
    else:
        raise UnknownName(
            unknown("gold", gold, ["given", "humans", *judges])
            + " (gold is 'given', 'humans' or the name of a judge)"
        )
    # No unique mode is 0 (methods §0 and §2).
    return f"""(select {columns}, m.gold from comparisons c left join (
        select comparison,
               (case when p > t and p > m then 1 when m > p and m > t then -1 else 0 end)::tinyint as gold
        from (select v.comparison, count_if(v.vote = 1) p, count_if(v.vote = 0) t, count_if(v.vote = -1) m
              from votes v where v.status = 0 and {who} and {pool} group by v.comparison)) m
        on m.comparison = c.id where {compared})"""


def nothing(store: Snapshot, selection: Selection, kind: Kind = "votes") -> NoUsableVotes:
    """The error for a selection without a usable judgement of a kind: its filters, and what else is there."""
    parts = []
    for named, values in (
        ("data set", selection.datasets),
        ("judge", selection.judges),
        ("rater", selection.rater_types),
    ):
        if values is not None:
            parts.append(f"{named} {' or '.join(values) or '(none)'}")
    parts += [f"{column} = {value}" for column, value in selection.where]
    missing = f"No usable {FORMS[kind].unit}{' with ' + ', '.join(parts) if parts else ' in the store'}"
    others = [
        f"There {'is' if n == 1 else 'are'} {n:,} {form.unit if n == 1 else form.units}, "
        f"which the page {PAGES[form.kind]} shows."
        for form in FORMS.values()
        if form.kind != kind and (n := held(store, selection, form.kind))
    ]
    return NoUsableVotes(". ".join([missing, " ".join(others)]) if others else missing)


def held(store: Snapshot, selection: Selection, kind: Kind) -> int:
    """How many judgements of a kind the selected data sets hold, failed ones too."""
    sql = f"select count(distinct v.id)::bigint as n from {kind} v where {pool_of(store, selection)}"
    return int(store.query(sql)["n"][0].as_py())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Codes:
    """Arrays from store ids to codes 0, 1, 2 … of what the selection's usable votes are about."""

    comparison: IntArray
    item: IntArray


def number(store: Snapshot, selected: Scope, selection: Selection) -> Codes:
    """Number the comparisons and items with a usable vote, in the order of the store.

    Raises
    ------
    NoUsableVotes : there is none.
    """
    found = store.query(
        f"""select c.id as comparison, c.item from comparisons c
            where c.id in (select v.comparison from votes v where v.status = 0 and {selected.filter})""",
        selected.params,
    )
    if found.num_rows == 0:
        raise nothing(store, selection)

    def lookup(ids: IntArray) -> IntArray:
        present = np.zeros(ids.max() + 1, dtype=np.int64)
        present[ids] = 1
        return np.cumsum(present) - 1

    return Codes(comparison=lookup(ints(found, "comparison")), item=lookup(ints(found, "item")))


def ints(table: pa.Table, column: str) -> IntArray:
    found: IntArray = table[column].to_numpy().astype(np.int64, copy=False)
    return found


def floats(table: pa.Table, column: str) -> FloatArray:
    """Null becomes NaN."""
    found: FloatArray = table[column].to_numpy().astype(np.float64, copy=False)
    return found


def by_judge(table: pa.Table, names: dict[int, str]) -> dict[str, slice]:
    """Slices of a table that is ordered by judge id, in the order of the judges' names."""
    ids, starts = np.unique(ints(table, "judge"), return_index=True)
    ends = np.append(starts, table.num_rows)[1:]
    found = {names[int(i)]: slice(int(a), int(b)) for i, a, b in zip(ids, starts, ends, strict=True)}
    return dict(sorted(found.items()))


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


def row_column_sql(kind: Kind) -> dict[str, str]:
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


def row_extra_columns(
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
    own = row_column_sql(kind)
    params: dict[str, str] = {}
    extras: list[str] | None = None
    for place, (column, value) in enumerate(selection.where):
        sql = own.get(column)
        if sql is None:
            extras = row_extra_columns(store, kind) if extras is None else extras
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
