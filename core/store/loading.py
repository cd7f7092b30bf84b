"""Put a reading of votes into the store's tables: duplicates, conflicts, gold, the ledger of files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.store.dictionaries import (
    SORTED_EXTRA,
    TEXT_COLUMNS,
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
from core.votes import CONFIDENCE_KINDS, FORMS, STATUSES, VOTES, Kind, NoUsableVotes, Reading, UnknownName

if TYPE_CHECKING:
    import pyarrow as pa

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
