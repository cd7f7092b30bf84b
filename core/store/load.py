"""Put a reading of votes into the store's tables: duplicates, conflicts, gold, the ledger of files.

What loading every kind of judgement shares: names and texts to numbers, ledger of files, clearing up.

Put a reading of direct scores or of rankings into the store, by the rules that votes load by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import replace as replaced_in
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ..errors import NoUsableVotes, UnknownName
from ..schema import CONFIDENCE_KINDS, FORMS, STATUSES, VOTES, Form, ImportResult, Kind

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


def stem(reading: ImportResult) -> str:
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


def enter_in_ledger(cursor: Any, reading: ImportResult, fingerprint: str) -> None:
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


NUMBER_COLUMNS = ("length_a", "length_b", "temperature", "cost")
DETAIL_COLUMNS = (*TEXT_COLUMNS, *NUMBER_COLUMNS, "extra")
CONTENT_COLUMNS = ("category", "vote", "confidence", "confidence_kind", "status", "human")
KEY = "comparison, judge, run, position"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """What a load did.

    kind : what is counted: votes, direct scores, or rankings (each with all its candidates).
    loaded : new ones. duplicates : ones left out because the same is there, or twice in the file.
    conflicts : ones whose key is taken by other content, and comparisons with another gold label;
    replaced : how many of those replaced what was stored. rejected : rejects of the reading, and gold labels
    of a gold-only file that meet no stored comparison. gold_filled : stored comparisons that received gold.
    already_loaded : the ledger knows these very judgements for this data set, and nothing changed.
    datasets : names, as they are now, of the data sets that the reading goes to.
    """

    loaded: int
    duplicates: int
    conflicts: int
    replaced: int
    rejected: int
    already_loaded: bool
    datasets: tuple[str, ...]
    gold_filled: int = 0
    kind: Kind = "votes"

    @property
    def sentence(self) -> str:
        """What happened, in one line."""
        where = f" into {', '.join(self.datasets)}" if self.datasets else ""
        if self.already_loaded:
            return f"loaded before{where.replace(' into ', ' as ')}: nothing to do"
        taken = "replaced" if self.replaced else "kept as stored"
        parts = [f"{_number(self.loaded, FORMS[self.kind].unit)} loaded{where}"]
        parts += [f"{_number(self.gold_filled, 'comparison')} given gold"] if self.gold_filled else []
        parts += [f"{_number(self.duplicates, 'duplicate')} left out"] if self.duplicates else []
        parts += [f"{_number(self.conflicts, 'conflict')} ({taken})"] if self.conflicts else []
        parts += [f"{self.rejected:,} rejected"] if self.rejected else []
        return ", ".join(parts)


def _number(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def load_reading(
    cursor: Any, reading: ImportResult, *, dataset: str | None, replace: bool, simulated: bool
) -> LoadReport:
    """Load one reading through `cursor`, which is inside a transaction (see `Store.load`)."""
    votes = reading.votes
    rejected = reading.rejects.num_rows
    if votes.num_rows == 0:
        return LoadReport(
            loaded=0,
            duplicates=reading.duplicates,
            conflicts=0,
            replaced=0,
            rejected=rejected,
            already_loaded=False,
            datasets=(),
        )
    cursor.register("incoming", complete(votes, VOTES, dataset, stem(reading)))
    cursor.execute(
        """create temp table given as
           select dataset, item_id, model_a, model_b, arg_min(gold, ordinal)::tinyint as gold,
                  coalesce(min(gold) <> max(gold), false) as gold_differs
           from incoming group by all"""
    )
    if reading.gold_only and dataset is None:
        _find_dataset_of_gold(cursor)
    # Content, not reading options: the same bytes read in another way are other votes.
    fingerprint = f"{one(cursor, 'select sum(hash(incoming)::hugeint) from incoming')}:{reading.gold_only}"
    targets = names(cursor, "select distinct dataset from given order by 1")
    known = ledger(cursor, reading.sha256, fingerprint)
    in_ledger = set(targets) <= set(known)
    # Gold may meet comparisons that were not there last time. A data set renamed since is not filled again by
    # `replace` under its old name.
    renamed = any(known.get(target, target) != target for target in targets)
    if in_ledger and not reading.gold_only and (renamed or not replace):
        return LoadReport(
            loaded=0,
            duplicates=votes.num_rows + reading.duplicates,
            conflicts=0,
            replaced=0,
            rejected=rejected,
            already_loaded=True,
            datasets=tuple(known[target] for target in targets),
        )

    existing = one(cursor, "select count(*) from datasets where name in (select dataset from given)")
    if not reading.gold_only:
        _fill_dictionaries(cursor, simulated=simulated)
    gold_conflicts, gold_replaced, gold_filled = _fill_gold(cursor, replace=replace)
    loaded, duplicates, conflicts, replaced = 0, reading.duplicates, gold_conflicts, gold_replaced
    if reading.gold_only:
        unmatched = one(cursor, "select count(*) from given") - one(cursor, "select count(*) from keyed")
        if unmatched == one(cursor, "select count(*) from given"):
            raise NoUsableVotes(
                f"{reading.name}: none of its {unmatched} gold labels meets a stored comparison of "
                f"{', '.join(targets)}; item_id, model_a and model_b must be spelled as in the votes"
            )
        rejected += unmatched
    else:
        fill_texts(cursor, present(votes, TEXT_COLUMNS))
        loaded, vote_duplicates, vote_conflicts, vote_replaced = _fill_votes(
            cursor, votes, check_stored=existing > 0, replace=replace
        )
        duplicates += vote_duplicates
        conflicts += vote_conflicts
        replaced += vote_replaced

    enter_in_ledger(cursor, reading, fingerprint)
    return LoadReport(
        loaded=loaded,
        duplicates=duplicates,
        conflicts=conflicts,
        replaced=replaced,
        rejected=rejected,
        already_loaded=in_ledger and not loaded and not replaced and not gold_filled,
        datasets=tuple(targets),
        gold_filled=gold_filled,
    )


def _find_dataset_of_gold(cursor: Any) -> None:
    """A gold file seldom names the data set of its votes: take the one data set that has its comparisons."""
    if one(cursor, "select count(*) from given where dataset in (select name from datasets)"):
        return
    found = names(
        cursor,
        """select distinct d.name from given g
           join models a on a.name = g.model_a join models b on b.name = g.model_b
           join items i on i.name = g.item_id join datasets d on d.id = i.dataset
           join comparisons c on c.item = i.id and c.model_a = a.id and c.model_b = b.id order by 1""",
    )
    if len(found) != 1:
        held = "several data sets have" if found else "no data set has"
        meant = found or names(cursor, "select name from datasets order by 1")
        raise UnknownName(
            f"{held.capitalize()} comparisons of this gold file; say which is meant: "
            f"{', '.join(meant) or 'none yet'}"
        )
    cursor.execute("update given set dataset = ?", [found[0]])


def _fill_dictionaries(cursor: Any, *, simulated: bool) -> None:
    named = {
        "models": "select model_a as name from given union select model_b from given",
        "judges": "select judge as name from incoming",
        "categories": "select category as name from incoming where category is not null",
    }
    fill_names(cursor, named, simulated=simulated)
    cursor.execute(
        """insert into comparisons
           select (select coalesce(max(id), 0) from comparisons)
                  + row_number() over (order by g.dataset, g.item_id, g.model_a, g.model_b),
                  d.id, i.id, a.id, b.id, g.gold
           from given g join datasets d on d.name = g.dataset
           join items i on i.dataset = d.id and i.name = g.item_id
           join models a on a.name = g.model_a join models b on b.name = g.model_b
           where not exists (select 1 from comparisons c
                             where c.item = i.id and c.model_a = a.id and c.model_b = b.id)"""
    )


def _fill_gold(cursor: Any, *, replace: bool) -> tuple[int, int, int]:
    """Key the given comparisons and write their gold. Returns conflicts, replaced and filled."""
    cursor.execute(
        """create temp table keyed as
           select g.*, d.id as dataset_id, c.id as comparison, c.gold as stored
           from given g join datasets d on d.name = g.dataset
           join items i on i.dataset = d.id and i.name = g.item_id
           join models a on a.name = g.model_a join models b on b.name = g.model_b
           join comparisons c on c.item = i.id and c.model_a = a.id and c.model_b = b.id"""
    )
    inside = one(cursor, "select count_if(gold_differs) from keyed")
    against = one(cursor, "select count_if(gold <> stored) from keyed")
    filled = one(cursor, "select count_if(gold is not null and stored is null) from keyed")
    if filled or (against and replace):
        cursor.execute(
            f"""update comparisons set gold = k.gold from keyed k
                where comparisons.id = k.comparison and k.gold is not null
                and (k.stored is null or (k.gold <> k.stored and {"true" if replace else "false"}))"""
        )
    return inside + against, against if replace else 0, filled


def _fresh_details(cursor: Any, votes: pa.Table, base: int) -> None:
    """Details of the incoming votes, only for those that have any."""
    filled = set(present(votes, DETAIL_COLUMNS))
    if "extra" in filled and not has_extra(votes):
        filled.remove("extra")
    columns, joins = text_sql(TEXT_COLUMNS, filled)
    for column in NUMBER_COLUMNS:
        kind = "bigint" if column.startswith("length") else "double"
        columns.append(f"i.{column}" if column in filled else f"null::{kind} as {column}")
    extra = SORTED_EXTRA if "extra" in filled else "null::map(varchar, varchar)"
    columns.append(f"{extra} as extra")
    conditions = [f"{column} is not null" for column in DETAIL_COLUMNS if column in filled]
    cursor.execute(
        f"""create temp table fresh_details as select * from (
              select i.ordinal + {base} as vote, {", ".join(columns)} from incoming i {" ".join(joins)})
            where {" or ".join(conditions) or "false"}"""
    )


def _fill_votes(
    cursor: Any, votes: pa.Table, *, check_stored: bool, replace: bool
) -> tuple[int, int, int, int]:
    """Insert the votes. Returns loaded, duplicates, conflicts and replaced."""
    base = one(cursor, "select max(id) from votes")
    cursor.execute(
        f"""create temp table fresh as
            select i.ordinal + {base} as id, k.dataset_id as dataset, k.comparison, j.id as judge,
                   c.id as category, i.run,
                   (case i.position when 'ab' then 1 when 'ba' then -1 else 0 end)::tinyint as position,
                   i.vote::tinyint as vote, i.confidence, {code_sql("confidence_kind", CONFIDENCE_KINDS)},
                   {code_sql("status", STATUSES)}, i.rater_type = 'human' as human
            from incoming i join keyed k using (dataset, item_id, model_a, model_b)
            join judges j on j.name = i.judge left join categories c on c.name = i.category"""
    )
    _fresh_details(cursor, votes, base)
    duplicates = conflicts = replaced = 0
    if one(cursor, f"select count(*) from (select distinct {KEY} from fresh)") < votes.num_rows:
        # The importers leave no key twice; two data sets of a file that are loaded into one can.
        cursor.execute(
            f"""create temp table twice as
                select id as new, min(id) over (partition by {KEY}) as old from fresh
                qualify new <> old"""
        )
        same, other = _compare(cursor, "twice", stored="fresh", stored_details="fresh_details")
        duplicates, conflicts = duplicates + same, conflicts + other
        cursor.execute("delete from fresh where id in (select new from twice)")
    if check_stored:
        cursor.execute(
            f"""create temp table met as
                select f.id as new, v.id as old from fresh f join votes v using (dataset, {KEY})"""
        )
        same, other = _compare(cursor, "met", stored="votes", stored_details="details")
        duplicates, conflicts = duplicates + same, conflicts + other
        if other and replace:
            replaced = other
            cursor.execute("delete from details where vote in (select old from met_other)")
            cursor.execute("delete from votes where id in (select old from met_other)")
            cursor.execute("delete from met where new in (select new from met_other)")
        if same or other:
            cursor.execute("delete from fresh where id in (select new from met)")
    cursor.execute("insert into votes by name select * from fresh")
    cursor.execute(
        "insert into details by name select * from fresh_details where vote in (select id from fresh)"
        if duplicates or conflicts
        else "insert into details by name select * from fresh_details"
    )
    if duplicates or conflicts:
        vacuum(cursor)
    return one(cursor, "select count(*) from fresh") - replaced, duplicates, conflicts, replaced


def _compare(cursor: Any, pairs: str, *, stored: str, stored_details: str) -> tuple[int, int]:
    """Of pairs of votes with one key, how many say the same and how many do not (kept as `<pairs>_other`)."""
    if not one(cursor, f"select count(*) from {pairs}"):
        return 0, 0
    differ = [f"f.{column} is distinct from v.{column}" for column in CONTENT_COLUMNS]
    differ += [f"df.{column} is distinct from dv.{column}" for column in DETAIL_COLUMNS]
    cursor.execute(
        f"""create temp table {pairs}_other as
            select p.new, p.old from {pairs} p
            join fresh f on f.id = p.new left join fresh_details df on df.vote = p.new
            join {stored} v on v.id = p.old left join {stored_details} dv on dv.vote = p.old
            where {" or ".join(differ)}"""
    )
    other = one(cursor, f"select count(*) from {pairs}_other")
    return one(cursor, f"select count(*) from {pairs}") - other, other


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
    cursor: Any, reading: ImportResult, *, dataset: str | None, replace: bool, simulated: bool
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
    same, other = _compare_rows(cursor, table, "twice", "fresh")
    duplicates, conflicts = duplicates + same, conflicts + other
    if same or other:
        cursor.execute("delete from fresh where id in (select new from twice)")
    cursor.execute(
        f"""create temp table met as
            select distinct f.id as new, v.id as old from fresh f join {table.name} v using ({table.key})"""
    )
    same, other = _compare_rows(cursor, table, "met", table.name)
    duplicates, conflicts = duplicates + same, conflicts + other
    if other and replace:
        replaced = other
        cursor.execute(f"delete from {table.name} where id in (select old from met_other)")
        cursor.execute("delete from met where new in (select new from met_other)")
    if same or other:
        cursor.execute("delete from fresh where id in (select new from met)")
    return duplicates, conflicts, replaced


def _compare_rows(cursor: Any, table: _Table, pairs: str, stored: str) -> tuple[int, int]:
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
