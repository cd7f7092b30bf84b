"""Put a reading into the store's tables: dictionaries, duplicates, conflicts, gold, the ledger of files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from core.votes import COLUMNS, CONFIDENCE_KINDS, STATUSES, NoUsableVotes, Reading, UnknownName

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_COLUMNS = ("prompt", "response_a", "response_b", "rationale", "prompt_hash")
NUMBER_COLUMNS = ("length_a", "length_b", "temperature", "cost")
DETAIL_COLUMNS = (*TEXT_COLUMNS, *NUMBER_COLUMNS, "extra")
CONTENT_COLUMNS = ("category", "vote", "confidence", "confidence_kind", "status", "human")
KEY = "comparison, judge, run, position"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """What a load did.

    loaded : new votes. duplicates : votes left out because the same vote is there, or twice in the file.
    conflicts : votes whose key is taken by other content, and comparisons with another gold label;
    replaced : how many of those replaced what was stored. rejected : rejects of the reading, and gold labels
    of a gold-only file that meet no stored comparison. gold_filled : stored comparisons that received gold.
    already_loaded : the ledger knows these very votes for this data set, and nothing changed.
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

    @property
    def sentence(self) -> str:
        """What happened, in one line."""
        where = f" into {', '.join(self.datasets)}" if self.datasets else ""
        if self.already_loaded:
            return f"loaded before{where.replace(' into ', ' as ')}: nothing to do"
        taken = "replaced" if self.replaced else "kept as stored"
        parts = [f"{_number(self.loaded, 'vote')} loaded{where}"]
        parts += [f"{_number(self.gold_filled, 'comparison')} given gold"] if self.gold_filled else []
        parts += [f"{_number(self.duplicates, 'duplicate')} left out"] if self.duplicates else []
        parts += [f"{_number(self.conflicts, 'conflict')} ({taken})"] if self.conflicts else []
        parts += [f"{self.rejected:,} rejected"] if self.rejected else []
        return ", ".join(parts)


def _number(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def load_reading(
    cursor: Any, reading: Reading, *, dataset: str | None, replace: bool, simulated: bool
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
    cursor.register(
        "incoming", _complete(votes, dataset, PurePath(reading.name).name.split(".")[0] or "votes")
    )
    cursor.execute(
        """create temp table given as
           select dataset, item_id, model_a, model_b, arg_min(gold, ordinal)::tinyint as gold,
                  coalesce(min(gold) <> max(gold), false) as gold_differs
           from incoming group by all"""
    )
    if reading.gold_only and dataset is None:
        _find_dataset_of_gold(cursor)
    # Content, not reading options: the same bytes read in another way are other votes.
    fingerprint = f"{_one(cursor, 'select sum(hash(incoming)::hugeint) from incoming')}:{reading.gold_only}"
    targets = _names(cursor, "select distinct dataset from given order by 1")
    known = _ledger(cursor, reading.sha256, fingerprint)
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

    existing = _one(cursor, "select count(*) from datasets where name in (select dataset from given)")
    if not reading.gold_only:
        _fill_dictionaries(cursor, simulated=simulated)
    gold_conflicts, gold_replaced, gold_filled = _fill_gold(cursor, replace=replace)
    loaded, duplicates, conflicts, replaced = 0, reading.duplicates, gold_conflicts, gold_replaced
    if reading.gold_only:
        unmatched = _one(cursor, "select count(*) from given") - _one(cursor, "select count(*) from keyed")
        if unmatched == _one(cursor, "select count(*) from given"):
            raise NoUsableVotes(
                f"{reading.name}: none of its {unmatched} gold labels meets a stored comparison of "
                f"{', '.join(targets)}; item_id, model_a and model_b must be spelled as in the votes"
            )
        rejected += unmatched
    else:
        _fill_texts(cursor, votes)
        loaded, vote_duplicates, vote_conflicts, vote_replaced = _fill_votes(
            cursor, votes, check_stored=existing > 0, replace=replace
        )
        duplicates += vote_duplicates
        conflicts += vote_conflicts
        replaced += vote_replaced

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


def vacuum(cursor: Any) -> None:
    """Forget dictionary rows that no vote uses any longer."""
    cursor.execute("delete from models where id not in (select unnest([model_a, model_b]) from comparisons)")
    cursor.execute("delete from judges where id not in (select judge from votes)")
    cursor.execute(
        "delete from categories where id not in (select category from votes where category is not null)"
    )
    used = " union all ".join(f"select {column} as id from details" for column in TEXT_COLUMNS)
    cursor.execute(f"delete from texts where id not in (select id from ({used}) where id is not null)")


def _complete(votes: pa.Table, dataset: str | None, stem: str) -> pa.Table:
    """Write the defaults of the canonical form into missing cells, and number the rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    defaults = {column.name: column.default for column in COLUMNS if column.default is not None}
    for name, default in {"dataset": stem, **defaults}.items():
        if votes[name].null_count:
            place = votes.schema.get_field_index(name)
            votes = votes.set_column(place, name, pc.fill_null(votes[name], default))
    if dataset is not None:
        votes = votes.set_column(
            votes.schema.get_field_index("dataset"), "dataset", pa.repeat(dataset, votes.num_rows)
        )
    return votes.append_column("ordinal", pa.array(np.arange(1, votes.num_rows + 1)))


def _one(cursor: Any, sql: str) -> int:
    value = cursor.execute(sql).fetchone()[0]
    return int(value or 0)


def _names(cursor: Any, sql: str) -> list[str]:
    return [str(row[0]) for row in cursor.execute(sql).fetchall()]


def _ledger(cursor: Any, sha256: str, fingerprint: str) -> dict[str, str]:
    """Data set that these votes were loaded as → its name now."""
    rows = cursor.execute(
        """select target, d.name from files f join datasets d on d.id = f.dataset
           where sha256 = ? and fingerprint = ?""",
        [sha256, fingerprint],
    ).fetchall()
    return dict(rows)


def _find_dataset_of_gold(cursor: Any) -> None:
    """A gold file seldom names the data set of its votes: take the one data set that has its comparisons."""
    if _one(cursor, "select count(*) from given where dataset in (select name from datasets)"):
        return
    found = _names(
        cursor,
        """select distinct d.name from given g
           join models a on a.name = g.model_a join models b on b.name = g.model_b
           join items i on i.name = g.item_id join datasets d on d.id = i.dataset
           join comparisons c on c.item = i.id and c.model_a = a.id and c.model_b = b.id order by 1""",
    )
    if len(found) != 1:
        held = "several data sets have" if found else "no data set has"
        names = found or _names(cursor, "select name from datasets order by 1")
        raise UnknownName(
            f"{held.capitalize()} comparisons of this gold file; say which is meant: "
            f"{', '.join(names) or 'none yet'}"
        )
    cursor.execute("update given set dataset = ?", [found[0]])


def _fill_dictionaries(cursor: Any, *, simulated: bool) -> None:
    # New ids follow the order of the names, so that one file gives the same codes whatever its row order.
    cursor.execute(
        """insert into datasets
           select (select coalesce(max(id), 0) from datasets) + row_number() over (order by dataset),
                  dataset, $simulated, now()::timestamp
           from (select distinct dataset from given where dataset not in (select name from datasets))""",
        {"simulated": simulated},
    )
    named = {
        "models": "select model_a as name from given union select model_b from given",
        "judges": "select judge as name from incoming",
        "categories": "select category as name from incoming where category is not null",
    }
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
    inside = _one(cursor, "select count_if(gold_differs) from keyed")
    against = _one(cursor, "select count_if(gold <> stored) from keyed")
    filled = _one(cursor, "select count_if(gold is not null and stored is null) from keyed")
    if filled or (against and replace):
        cursor.execute(
            f"""update comparisons set gold = k.gold from keyed k
                where comparisons.id = k.comparison and k.gold is not null
                and (k.stored is null or (k.gold <> k.stored and {"true" if replace else "false"}))"""
        )
    return inside + against, against if replace else 0, filled


def _fill_texts(cursor: Any, votes: pa.Table) -> None:
    present = [column for column in TEXT_COLUMNS if votes[column].null_count < votes.num_rows]
    if present:
        source = " union ".join(f"select {column} as text from incoming" for column in present)
        cursor.execute(
            f"""insert into texts
                select (select coalesce(max(id), 0) from texts) + row_number() over (order by text), text
                from (select distinct text from ({source})
                      where text is not null and text not in (select text from texts))"""
        )


def _has_extra(votes: pa.Table) -> bool:
    return any(len(chunk.keys) for chunk in votes["extra"].chunks)


def _fresh_details(cursor: Any, votes: pa.Table, base: int) -> None:
    """Details of the incoming votes, only for those that have any."""
    present = {column for column in DETAIL_COLUMNS if votes[column].null_count < votes.num_rows}
    if "extra" in present and not _has_extra(votes):
        present.remove("extra")
    columns, joins = [], []
    for column in TEXT_COLUMNS:
        columns.append(f"t_{column}.id as {column}" if column in present else f"null::integer as {column}")
        if column in present:
            joins.append(f"left join texts t_{column} on t_{column}.text = i.{column}")
    for column in NUMBER_COLUMNS:
        kind = "bigint" if column.startswith("length") else "double"
        columns.append(f"i.{column}" if column in present else f"null::{kind} as {column}")
    # Sorted, so that maps are equal whatever the order of the file's columns.
    extra = "case when cardinality(i.extra) > 0 then map_from_entries(list_sort(map_entries(i.extra))) end"
    columns.append(f"{extra} as extra" if "extra" in present else "null::map(varchar, varchar) as extra")
    conditions = [f"{column} is not null" for column in DETAIL_COLUMNS if column in present]
    cursor.execute(
        f"""create temp table fresh_details as select * from (
              select i.ordinal + {base} as vote, {", ".join(columns)} from incoming i {" ".join(joins)})
            where {" or ".join(conditions) or "false"}"""
    )


def _codes(column: str, names: tuple[str, ...]) -> str:
    """SQL that turns a closed vocabulary into its index."""
    cases = " ".join(f"when '{name}' then {code}" for code, name in enumerate(names))
    return f"(case i.{column} {cases} end)::tinyint as {column}"


def _fill_votes(
    cursor: Any, votes: pa.Table, *, check_stored: bool, replace: bool
) -> tuple[int, int, int, int]:
    """Insert the votes. Returns loaded, duplicates, conflicts and replaced."""
    base = _one(cursor, "select max(id) from votes")
    cursor.execute(
        f"""create temp table fresh as
            select i.ordinal + {base} as id, k.dataset_id as dataset, k.comparison, j.id as judge,
                   c.id as category, i.run,
                   (case i.position when 'ab' then 1 when 'ba' then -1 else 0 end)::tinyint as position,
                   i.vote::tinyint as vote, i.confidence, {_codes("confidence_kind", CONFIDENCE_KINDS)},
                   {_codes("status", STATUSES)}, i.rater_type = 'human' as human
            from incoming i join keyed k using (dataset, item_id, model_a, model_b)
            join judges j on j.name = i.judge left join categories c on c.name = i.category"""
    )
    _fresh_details(cursor, votes, base)
    duplicates = conflicts = replaced = 0
    if _one(cursor, f"select count(*) from (select distinct {KEY} from fresh)") < votes.num_rows:
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
    return _one(cursor, "select count(*) from fresh") - replaced, duplicates, conflicts, replaced


def _compare(cursor: Any, pairs: str, *, stored: str, stored_details: str) -> tuple[int, int]:
    """Of pairs of votes with one key, how many say the same and how many do not (kept as `<pairs>_other`)."""
    if not _one(cursor, f"select count(*) from {pairs}"):
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
    other = _one(cursor, f"select count(*) from {pairs}_other")
    return _one(cursor, f"select count(*) from {pairs}") - other, other
