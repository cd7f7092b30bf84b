"""Put a reading of direct scores or of rankings into the store, by the rules that votes load by."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as replaced_in
from typing import Any

from core.store.dictionaries import (
    ROW_TEXTS,
    SORTED_EXTRA,
    code_sql,
    complete,
    enter_in_ledger,
    fill_names,
    fill_texts,
    has_extra,
    ledger,
    names,
    one,
    present,
    stem,
    text_sql,
    vacuum,
)
from core.store.loading import LoadReport
from core.votes import FORMS, STATUSES, Kind, Reading

ROW_NUMBERS: dict[Kind, dict[str, str]] = {
    "scores": {"score": "double", "temperature": "double", "cost": "double"},
    "rankings": {
        "slot": "integer",
        "score": "double",
        "rank": "integer",
        **dict.fromkeys(("uncertain", "major_error", "unsupported", "chosen", "is_best"), "tinyint"),
        "temperature": "double",
        "cost": "double",
    },
}
"""Columns of the store's tables that hold the file's numbers as they are, besides `run`, with their type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Table of the store for one kind: what is judged (a column of names of models), and what tells apart.

    unit : SQL for the first row of the judgement that a row belongs to.
    """

    name: Kind
    judged: str
    key: str
    unit: str


_TABLES: dict[Kind, _Table] = {
    "scores": _Table(name="scores", judged="model", key="dataset, item, model, judge, run", unit="ordinal"),
    "rankings": _Table(
        name="rankings",
        judged="candidate",
        key="dataset, item, judge, run",
        unit="min(ordinal) over (partition by dataset, item_id, judge, run)",
    ),
}


def load_rows(
    cursor: Any, reading: Reading, *, dataset: str | None, replace: bool, simulated: bool
) -> LoadReport:
    """Load scores or rankings through `cursor`, which is inside a transaction (see `Store.load`).

    A ranking is one thing: it loads with all its candidates, and two are the same only if all of them are.
    """
    table = _TABLES[reading.kind]
    report = LoadReport(
        loaded=0,
        duplicates=reading.duplicates,
        conflicts=0,
        replaced=0,
        rejected=reading.rejects.num_rows,
        already_loaded=False,
        datasets=(),
        kind=reading.kind,
    )
    if reading.votes.num_rows == 0:
        return report
    rows = complete(reading.votes, FORMS[reading.kind], None, stem(reading))
    cursor.register("given_rows", rows)
    # The unit is found before the data set is renamed: two rankings of a file stay two.
    cursor.execute(
        f"""create temp table incoming as
            select * replace (coalesce($dataset, dataset) as dataset), {table.unit} as unit
            from given_rows""",
        {"dataset": dataset},
    )
    cursor.execute("create temp table given as select distinct dataset, item_id from incoming")
    fingerprint = f"{one(cursor, 'select sum(hash(incoming)::hugeint) from incoming')}:{table.name}"
    targets = names(cursor, "select distinct dataset from given order by 1")
    known = ledger(cursor, reading.sha256, fingerprint)
    in_ledger = set(targets) <= set(known)
    renamed = any(known.get(target, target) != target for target in targets)
    if in_ledger and (renamed or not replace):
        return replaced_in(
            report,
            duplicates=_units(cursor, "incoming", "unit") + reading.duplicates,
            already_loaded=True,
            datasets=tuple(known[target] for target in targets),
        )
    named = {
        "models": f"select {table.judged} as name from incoming",
        "judges": "select judge as name from incoming",
        "categories": "select category as name from incoming where category is not null",
    }
    fill_names(cursor, named, simulated=simulated)
    filled = present(rows, ROW_TEXTS)
    fill_texts(cursor, filled)
    _make_fresh(cursor, table, filled, extra=has_extra(rows))
    duplicates, conflicts, replaced = _meet(cursor, table, replace=replace)
    loaded = _units(cursor, "fresh") - replaced
    cursor.execute(f"insert into {table.name} by name select * from fresh order by id")
    if duplicates or conflicts:
        vacuum(cursor)
    enter_in_ledger(cursor, reading, fingerprint)
    return replaced_in(
        report,
        loaded=loaded,
        duplicates=duplicates + reading.duplicates,
        conflicts=conflicts,
        replaced=replaced,
        already_loaded=in_ledger and not loaded and not replaced,
        datasets=tuple(targets),
    )


def _units(cursor: Any, table: str, unit: str = "id") -> int:
    return one(cursor, f"select count(distinct {unit}) from {table}")


def _make_fresh(cursor: Any, table: _Table, filled: list[str], *, extra: bool) -> None:
    """The incoming rows as they will be stored, in a table `fresh`."""
    base = one(cursor, f"select max(id) from {table.name}")
    texts, joins = text_sql(ROW_TEXTS, filled)
    columns = [
        f"i.unit + {base} as id",
        "d.id as dataset, it.id as item, c.id as category, j.id as judge, i.run",
        f"m.id as {table.judged}",
        *(f"i.{column}::{kind} as {column}" for column, kind in ROW_NUMBERS[table.name].items()),
        code_sql("status", STATUSES),
        "i.rater_type = 'human' as human",
        *texts,
        f"{SORTED_EXTRA if extra else 'null::map(varchar, varchar)'} as extra",
    ]
    cursor.execute(
        f"""create temp table fresh as select {", ".join(columns)} from incoming i
            join datasets d on d.name = i.dataset join items it on it.dataset = d.id and it.name = i.item_id
            join models m on m.name = i.{table.judged} join judges j on j.name = i.judge
            left join categories c on c.name = i.category {" ".join(joins)} order by i.ordinal"""
    )


def _meet(cursor: Any, table: _Table, *, replace: bool) -> tuple[int, int, int]:
    """Take out of `fresh` what is twice in it or stored. Returns duplicates, conflicts and replaced."""
    duplicates = conflicts = replaced = 0
    # The importers leave no key twice; two data sets of a file that are loaded into one can.
    cursor.execute(
        f"""create temp table twice as
            select id as new, min(id) over (partition by {table.key}) as old
            from (select distinct id, {table.key} from fresh) qualify new <> old"""
    )
    same, other = _compare(cursor, table, "twice", "fresh")
    duplicates, conflicts = duplicates + same, conflicts + other
    if same or other:
        cursor.execute("delete from fresh where id in (select new from twice)")
    cursor.execute(
        f"""create temp table met as
            select distinct f.id as new, v.id as old from fresh f join {table.name} v using ({table.key})"""
    )
    same, other = _compare(cursor, table, "met", table.name)
    duplicates, conflicts = duplicates + same, conflicts + other
    if other and replace:
        replaced = other
        cursor.execute(f"delete from {table.name} where id in (select old from met_other)")
        cursor.execute("delete from met where new in (select new from met_other)")
    if same or other:
        cursor.execute("delete from fresh where id in (select new from met)")
    return duplicates, conflicts, replaced


def _compare(cursor: Any, table: _Table, pairs: str, stored: str) -> tuple[int, int]:
    """Of pairs with one key, how many say the same and how many do not (kept as `<pairs>_other`)."""
    if not one(cursor, f"select count(*) from {pairs}"):
        return 0, 0
    said = ["category", *ROW_NUMBERS[table.name], "status", "human", *ROW_TEXTS, "extra"]
    content = f"list(struct_pack({', '.join(f'{c} := r.{c}' for c in said)}) order by r.{table.judged})"
    held = f"list(r.{table.judged} order by r.{table.judged})"
    cursor.execute(
        f"""create temp table {pairs}_other as
            with n as (select p.new, p.old, {held} as held, {content} as content
                       from {pairs} p join fresh r on r.id = p.new group by all),
            o as (select p.new, p.old, {held} as held, {content} as content
                  from {pairs} p join {stored} r on r.id = p.old group by all)
            select n.new, n.old from n join o using (new, old)
            where n.held is distinct from o.held or n.content is distinct from o.content"""
    )
    other = one(cursor, f"select count(*) from {pairs}_other")
    return one(cursor, f"select count(*) from {pairs}") - other, other
