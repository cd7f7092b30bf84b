"""Put judgements into the store's tables: one path for votes, direct scores and rankings.

Names and texts become numbers, what is there already is left out, gold is written to its
comparisons, and the file is remembered. Collected votes (`core.store.ledger`) use the same steps
one by one.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from ..bounds import some_of
from ..errors import InvalidOption, NoUsableVotes, UnknownName
from ..files import Progress
from ..memory import LARGE, give_back
from ..schema import FORMS, Form, ImportResult, Kind
from .browse import counted
from .cells import CELLS
from .label_gold import (
    SAME_ANSWER,
    delete_judgements,
    forget_log,
    give_gold,
    make_way,
    take_labels_out,
)
from .schema import CODES, LAYOUTS, NAMED_BY_DATASET, OF_FILE, RUBRIC, VOTE_COLUMNS, Layout, encode

if TYPE_CHECKING:
    import pyarrow as pa

    from .connection import Change


SORTED_EXTRA = (
    "case when cardinality(i.extra) > 0 then map_from_entries(list_sort(map_entries(i.extra))) end"
)
"""Other columns of an incoming row `i`: sorted, so that maps are equal whatever the order in the
file.
"""

UNITS: dict[Kind, str] = {
    "votes": "",
    "scores": ", ordinal as unit",
    "rankings": ", min(ordinal) over (partition by dataset, item_id, judge, run) as unit",
}
"""The first row of the judgement that a row belongs to; a vote is a row."""


ROWS_COUNTED = 1_000_000
"""Votes that are counted at once: ten million together would need a third of a gigabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """What a load did.

    kind : what is counted: votes, direct scores, or rankings (each with all its candidates).
    loaded : new ones. duplicates : ones left out because the same is there, or twice in the file.
    conflicts : ones whose key is taken by other content, and comparisons with another gold label;
    replaced : how many of those replaced what was stored. rejected : rejects of the reading, and
        gold labels of a gold-only file that meet no stored comparison. unread : rows of the reading
        without a confidence that could not be read. gold_filled : stored comparisons, or answers,
        that received gold.
    already_loaded : the ledger knows these very judgements for this data set, and nothing changed.
    datasets : names, as they are now, of the data sets that the reading goes to.
    """

    loaded: int = 0
    duplicates: int = 0
    conflicts: int = 0
    replaced: int = 0
    rejected: int = 0
    unread: int = 0
    gold_filled: int = 0
    already_loaded: bool = False
    datasets: tuple[str, ...] = ()
    kind: Kind = "votes"

    @property
    def sentence(self) -> str:
        """What happened, in one line."""
        where = f" into {some_of(self.datasets)}" if self.datasets else ""
        if self.already_loaded:
            return f"loaded before{where.replace(' into ', ' as ')}: nothing to do"
        taken = "replaced" if self.replaced else "kept as stored"
        parts = [f"{counted(self.loaded, FORMS[self.kind].unit)} loaded{where}"]
        about = "answer" if self.kind == "scores" else "comparison"
        parts += [f"{counted(self.gold_filled, about)} given gold"] if self.gold_filled else []
        parts += [f"{counted(self.duplicates, 'duplicate')} left out"] if self.duplicates else []
        parts += [f"{counted(self.conflicts, 'conflict')} ({taken})"] if self.conflicts else []
        parts += [f"{self.rejected:,} rejected"] if self.rejected else []
        unread = counted(self.unread, "confidence")
        parts += [f"{unread} that could not be read left out"] if self.unread else []
        return ", ".join(parts)


def load(
    change: Change,
    reading: ImportResult,
    progress: Progress,
    *,
    dataset: str | None,
    replace: bool,
    simulated: bool,
) -> LoadReport:
    """Load votes, scores or rankings (see `Store.load`).

    A ranking is one thing: it loads with all its candidates, and two are the same only if all of
    them are.
    """
    layout = LAYOUTS[reading.kind]
    judged = reading.judged
    counts = Counter(duplicates=reading.duplicates, rejected=judged.rejected, unread=judged.unread)
    if reading.votes.num_rows == 0:
        return LoadReport(
            duplicates=counts["duplicates"],
            rejected=counts["rejected"],
            unread=counts["unread"],
            kind=reading.kind,
        )
    if reading.rows > LARGE:
        give_back()
    progress(0, "Numbering items and models")
    stem = PurePath(reading.name).name.split(".")[0] or "votes"
    rows = complete(reading.votes, FORMS[reading.kind], stem)
    coded, texts = code_texts(rows, present(rows, layout.texts))
    units = _receive(change, layout, coded, dataset)
    name_spaces(change, reading.items_of if dataset is None else None)
    if reading.gold_only and dataset is None:
        _find_dataset_of_gold(change)
    content = _content(change, layout, rows, dataset)
    fingerprint = f"{content}:{reading.gold_only if reading.kind == 'votes' else reading.kind}"
    targets = [name for (name,) in change.rows("select distinct dataset from given order by 1")]
    # Data set that these very judgements were loaded as → its name now.
    stored_name: dict[str, str] = dict(
        change.rows(
            """select target, d.name from files f join datasets d on d.id = f.dataset
               where sha256 = ? and fingerprint = ?""",
            [reading.sha256, fingerprint],
        )
    )
    before = set(targets) <= set(stored_name)
    # Gold may meet comparisons that were not there last time. A data set renamed since is not
    # filled again by `replace` under its old name.
    renamed = any(stored_name.get(target, target) != target for target in targets)
    if before and not reading.gold_only and (renamed or not replace):
        counts["duplicates"] += units
        datasets = tuple(stored_name[target] for target in targets)
        return LoadReport(**counts, already_loaded=True, datasets=datasets, kind=reading.kind)
    if reading.gold_only:
        counts.update(fill_gold(change, replace=replace))
        counts["rejected"] += _unmatched(change, reading.name, targets)
    else:
        several = dataset is not None and len(rows["dataset"].unique()) > 1
        kept = _fill(
            change,
            layout,
            rows,
            texts,
            units,
            progress,
            file=stem,
            several=several,
            replace=replace,
            simulated=simulated,
        )
        counts.update(kept)
    if _labels_there(change):
        numbers = "select d.id from datasets d join given g on g.dataset = d.name"
        give_gold(change, layout.kind, f"t.dataset in ({numbers})")
    _remember(change, reading, fingerprint)
    return LoadReport(
        **counts,
        already_loaded=before
        and not (counts["loaded"] or counts["replaced"] or counts["gold_filled"]),
        datasets=tuple(targets),
        kind=reading.kind,
    )


def complete(rows: pa.Table, form: Form, dataset: str) -> pa.Table:
    """Write the defaults of the canonical form into missing cells, and number the rows from 1.

    dataset : data set of rows that name none.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    defaults = {
        column.name: column.default for column in form.columns if column.default is not None
    }
    for name, default in {"dataset": dataset, **defaults}.items():
        if rows[name].null_count:
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, name, pc.fill_null(rows[name], default))
    return rows.append_column("ordinal", pa.array(np.arange(1, rows.num_rows + 1, dtype=np.int32)))


def _receive(change: Change, layout: Layout, rows: pa.Table, dataset: str | None) -> int:
    """Make the tables `incoming` (the rows) and `given` (what they are about); return how many
    judgements.

    dataset : data set of every row; None leaves it to the file.
    """
    import pyarrow as pa

    if layout.kind == "votes":
        # Read where they are: a copy of many votes takes longer than all that reads it.
        if dataset is not None:
            place = rows.schema.get_field_index("dataset")
            rows = rows.set_column(place, "dataset", pa.repeat(dataset, rows.num_rows))
        change.register("incoming", rows)
        change.execute(
            """create temp table given as
               select dataset, item_id, model_a, model_b, arg_min(gold, ordinal)::tinyint as gold,
                      coalesce(min(gold) <> max(gold), false) as gold_differs
               from incoming group by all"""
        )
        return int(rows.num_rows)
    change.register("given_rows", rows)
    # The unit is found before the data set is renamed: two rankings of a file stay two.
    change.execute(
        f"""create temp table incoming as
            select * replace (coalesce($dataset, dataset) as dataset){UNITS[layout.kind]} from
            given_rows""",
        {"dataset": dataset},
    )
    change.execute("create temp table given as select distinct dataset, item_id from incoming")
    return change.count("select count(distinct unit) from incoming")


def _content(change: Change, layout: Layout, rows: pa.Table, dataset: str | None) -> int:
    """Sum of a hash of each row as it was received, texts included.

    Content, not reading options: the same bytes read in another way are other votes.
    """
    import pyarrow as pa

    # As if the importers kept whole numbers in 64 bits, however few they need.
    whole = [field.name for field in rows.schema if str(field.type).startswith("int")]
    if dataset is not None:
        place = rows.schema.get_field_index("dataset")
        rows = rows.set_column(place, "dataset", pa.repeat(dataset, rows.num_rows))
    if layout.kind != "votes":
        units = change.query("select unit from incoming order by ordinal")
        rows = rows.append_column("unit", units["unit"])
    change.register("whole_rows", rows)
    wide = f"select * replace ({', '.join(f'{n}::bigint as {n}' for n in whole)}) from whole_rows"
    return int(change.rows(f"select sum(hash(i)::hugeint) from ({wide}) i")[0][0])


def _remember(change: Change, reading: ImportResult, fingerprint: str) -> None:
    """Enter in the table of files that a reading was loaded into the data sets of `given`."""
    judged = reading.judged
    change.execute(
        """insert into files select $sha, $fingerprint, d.id, g.dataset, $name, $format,
        now()::timestamp, $rows, $rejected, $unread
           from (select distinct dataset from given) g join datasets d on d.name = g.dataset
           where (d.id, g.dataset) not in
                 (select (dataset, target) from files where sha256 = $sha and fingerprint =
                 $fingerprint)""",
        {
            "sha": reading.sha256,
            "fingerprint": fingerprint,
            "name": PurePath(reading.name).name,
            "format": reading.format,
            "rows": judged.rows,
            "rejected": judged.rejected,
            "unread": judged.unread,
        },
    )


def _find_dataset_of_gold(change: Change) -> None:
    """A gold file seldom names the data set of its votes: take the one data set that has its
    comparisons.
    """
    if change.count("select count(*) from given where dataset in (select name from datasets)"):
        return
    fitting = change.rows(
        """select distinct d.name from given g
           join models a on a.name = g.model_a join models b on b.name = g.model_b
           join items i on i.name = g.item_id join datasets d on d.id = i.dataset
           join comparisons c on c.item = i.id and c.model_a = a.id and c.model_b = b.id order by
           1"""
    )
    if len(fitting) != 1:
        how_many = "Several data sets have" if fitting else "No data set has"
        meant = fitting or change.rows("select name from datasets order by 1")
        raise UnknownName(
            f"{how_many} comparisons of this gold file; say which is meant: "
            f"{', '.join(name for (name,) in meant) or 'none yet'}"
        )
    change.execute("update given set dataset = ?", fitting[0])
    name_spaces(change)


def _unmatched(change: Change, name: str, targets: Iterable[str]) -> int:
    """How many gold labels meet no stored comparison; raises NoUsableVotes if none does."""
    given = change.count("select count(*) from given")
    unmatched = given - change.count("select count(*) from keyed")
    if unmatched == given:
        raise NoUsableVotes(
            f"{name}: none of its {unmatched} gold labels meets a stored comparison of "
            f"{', '.join(targets)}; item_id, model_a and model_b must be spelled as in the votes"
        )
    return unmatched


def _labels_there(change: Change) -> bool:
    """Whether anything is labelled here, so that what a file brings may meet labels."""
    return bool(change.count("select count(*) from labelling"))


def _fill(
    change: Change,
    layout: Layout,
    rows: pa.Table,
    texts: Mapping[str, pa.Array],
    units: int,
    progress: Progress,
    *,
    file: str,
    several: bool,
    replace: bool,
    simulated: bool,
) -> Counter[str]:
    """Store the judgements in `incoming`; counts as in `LoadReport`.

    file : its name.  several : data sets of the file become one, so that it may have a key twice.
    """
    existing = change.count(
        "select count(*) from datasets where name in (select dataset from given)"
    )
    models = " union ".join(f"select {column} as name from incoming" for column in layout.judged)
    fill_names(
        change,
        models,
        "select judge as name from incoming",
        simulated=simulated,
        metrics="select metric as name from incoming" if layout.kind == "scores" else None,
    )
    counts: Counter[str] = Counter()
    if layout.kind == "votes":
        fill_comparisons(change)
        counts.update(fill_gold(change, replace=replace))
    progress(0.3, f"Storing {units:,} rows")
    incoming, source = _fresh(change, layout, rows, texts), "fresh"
    details = present(rows, layout.details)
    settled: Counter[str] = Counter()
    if layout.kind != "rankings" and not (existing or several):
        # Nothing can be there already: the importers leave no key twice.
        source = f"({incoming}) f"
    else:
        change.execute(f"create temp table fresh as {incoming}")
        settled = _settle(change, layout, units, check_stored=existing > 0, replace=replace)
        if layout.kind == "scores" and not replace:
            counts["conflicts"] += _keep_gold_of_answers(change)
    before = change.count(f"select max(id) from {layout.kind}")
    if layout.kind == "votes":
        insert_votes(change, source, details)
        if _labels_there(change):
            make_way(change, layout.kind)
        progress(0.6, "Counting the votes of each comparison")
        ((low, high),) = change.rows("select min(comparison), max(comparison) from keyed")
        step = -(-(high + 1 - low) // (1 + units // ROWS_COUNTED))
        for start in range(low, high + 1, step):
            progress(0.6 + 0.4 * (start - low) / (high + 1 - low), "Counting the votes")
            among = f"v.comparison between {start} and {min(start + step - 1, high)}"
            count_anew(change, f"{among} and v.comparison in (select k.comparison from keyed k)")
    else:
        change.execute(f"insert into {layout.kind} by name select * from {source} order by id")
        if _labels_there(change):
            make_way(change, layout.kind)
    after = change.count(f"select max(id) from {layout.kind}")
    if after > before:
        # Which file a judgement came from is the span of its numbers.
        change.execute(
            f"""insert into settings select concat('{OF_FILE}', id, ':{layout.kind}:{before + 1}'),
                to_json([{after}::varchar, ?]) from datasets
                where name in (select dataset from given)""",
            [file],
        )
    if settled:
        vacuum(change)
    settled["loaded"] = units - settled["duplicates"] - settled["conflicts"]
    return counts + settled


def name_spaces(change: Change, items_of: str | None = None) -> None:
    """Say in a table `spaces` whose items those of each data set of `given` are, by number.

    A data set of another file may be about the items of one that was there before: then items and
    comparisons are under its number, and are shared. Whose they are is seen in what is stored; of a
    new data set they are those of `items_of`, or else its own.

    items_of : name of a stored data set.
    """
    given = [name for (name,) in change.rows("select distinct dataset from given order by 1")]
    numbers: dict[str, int] = dict(change.rows("select name, id from datasets"))
    shared = None if items_of is None else numbers.get(items_of)
    if shared is not None:
        shared = space_of(change, shared)
    change.execute("create or replace temp table spaces (dataset varchar, space integer)")
    for name in given:
        number = numbers.get(name)
        space = shared if number is None else space_of(change, number)
        change.execute("insert into spaces values (?, ?)", [name, space])


def space_of(change: Change, dataset: int) -> int:
    """The number under which the items of a data set are."""
    for about in (
        "select c.dataset from comparisons c where c.id = (select v.comparison from votes v "
        "where v.dataset = ? limit 1)",
        "select i.dataset from items i where i.id = (select v.item from scores v where v.dataset = "
        "? limit 1)",
        "select i.dataset from items i where i.id = (select v.item from rankings v where v.dataset "
        "= ? limit 1)",
    ):
        for (space,) in change.rows(about, [dataset]):
            return int(space)
    return dataset


def fill_names(
    change: Change, models: str, judges: str, *, simulated: bool, metrics: str | None = None
) -> None:
    """Number new data sets and items of `given`, new categories of `incoming`, and new models,
    judges and metrics.

    models, judges, metrics : SQL that gives a column `name`.
    """
    # New ids follow the order of the names, so that one file gives the same codes whatever its row
    # order.
    change.execute(
        """insert into datasets
           select (select coalesce(max(id), 0) from datasets) + row_number() over (order by
           dataset),
                  dataset, $simulated, now()::timestamp
           from (select distinct dataset from given where dataset not in (select name from
           datasets))""",
        {"simulated": simulated},
    )
    change.execute(
        """update spaces set space = d.id from datasets d
           where d.name = spaces.dataset and spaces.space is null"""
    )
    categories = "select category as name from incoming where category is not null"
    named = {"models": models, "judges": judges, "categories": categories}
    if metrics is not None:
        named["metrics"] = metrics
    for table, source in named.items():
        change.execute(
            f"""insert into {table}
                select (select coalesce(max(id), 0) from {table}) + row_number() over (order by
                name), name
                from (select distinct name from ({source})
                      where name is not null and name not in (select name from {table}))"""
        )
    change.execute(
        """insert into items
           select (select coalesce(max(id), 0) from items)
                  + row_number() over (order by g.dataset, g.item_id), g.space, g.item_id
           from (select min(dataset) as dataset, space, item_id from given join spaces using
                 (dataset) group by space, item_id) g
           where not exists
                 (select 1 from items i where i.dataset = g.space and i.name = g.item_id)"""
    )


ITEM = """struct_pack(d := {item}.dataset, n := {item}.name)
           = struct_pack(d := sp.space, n := {given}.item_id)"""
"""One condition, so that data set and item are looked up together: joined by its name first, an
item of every data set would meet all of its namesakes.
"""
GIVEN = f"""given g join datasets d on d.name = g.dataset join spaces sp on sp.dataset = g.dataset
           join items i on {ITEM.format(item="i", given="g")}
           join models a on a.name = g.model_a join models b on b.name = g.model_b"""
SAME_COMPARISON = "c.item = i.id and c.model_a = a.id and c.model_b = b.id"


def fill_comparisons(change: Change) -> None:
    """Number the new comparisons of `given`, with their gold."""
    change.execute(
        f"""insert into comparisons
            select (select coalesce(max(id), 0) from comparisons)
                   + row_number() over (order by g.dataset, g.item_id, g.model_a, g.model_b),
                   sp.space, i.id, a.id, b.id, g.gold
            from {GIVEN} where not exists (select 1 from comparisons c where {SAME_COMPARISON})"""
    )


def fill_gold(change: Change, *, replace: bool) -> dict[str, int]:
    """Number the given comparisons in a table `keyed`, and write their gold; counts as in
    `LoadReport`.
    """
    change.execute(
        f"""create temp table keyed as
            select g.*, d.id as dataset_id, c.id as comparison,
                   case when c.id not in (select l.comparison from label_gold l
                                          where l.comparison is not null) then c.gold end as stored
            from {GIVEN} join comparisons c on {SAME_COMPARISON}"""
    )
    inside = change.count("select count_if(gold_differs) from keyed")
    against = change.count("select count_if(gold <> stored) from keyed")
    filled = change.count("select count_if(gold is not null and stored is null) from keyed")
    if filled or (against and replace):
        change.execute(
            f"""update comparisons set gold = k.gold from keyed k
                where comparisons.id = k.comparison and k.gold is not null
                and (k.stored is null or (k.gold <> k.stored and
                {"true" if replace else "false"}))"""
        )
        change.execute(
            """delete from label_gold
               where comparison in (select comparison from keyed where gold is not null)"""
        )
    return {
        "conflicts": inside + against,
        "replaced": against if replace else 0,
        "gold_filled": filled,
    }


def present(rows: pa.Table, columns: Iterable[str]) -> list[str]:
    """Those of the columns that have a value in any row; in `extra` an empty map is none."""
    return [
        column
        for column in columns
        if rows[column].null_count < rows.num_rows
        and (column != "extra" or any(len(chunk.keys) for chunk in rows[column].chunks))
    ]


def code_texts(rows: pa.Table, columns: Iterable[str]) -> tuple[pa.Table, dict[str, pa.Array]]:
    """The rows with codes in place of the texts in these columns, and the texts by code."""
    import pyarrow as pa

    texts = {}
    for name in columns:
        column = rows[name]
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        cells = column.unify_dictionaries().combine_chunks()
        cells = cells.chunk(0) if isinstance(cells, pa.ChunkedArray) else cells
        texts[name] = cells.dictionary
        codes = cells.indices.cast(pa.int32())
        rows = rows.set_column(rows.schema.get_field_index(name), name, codes)
    return rows, texts


def fill_texts(change: Change, texts: Mapping[str, pa.Array]) -> None:
    """Number the new texts in columns of `incoming`, which has their codes there; a table
    `number_of_<column>` says the number of each code.

    Texts are told apart by digests, with a key that no file knows: a table of the texts themselves
    would hold them several times.
    """
    import numpy as np
    import pyarrow as pa

    if not texts:
        return
    key = f"md5_number('{secrets.token_hex(16)}' || text) as key"
    coded = []
    for place, (column, array) in enumerate(texts.items()):
        codes = np.arange(len(array), dtype=np.int64)
        change.register(f"texts_of_{column}", pa.table({"code": codes, "text": array}))
        coded.append(
            f"""select {place}::bigint << 32 | code as place, hash(text) as short, {key}
                from texts_of_{column} where code in (select {column} from incoming)"""
        )
    change.execute(f"create temp table coded_texts as {' union all '.join(coded)}")
    # In the order of a hash new numbers are the same whatever the order of the rows.
    change.execute(
        f"""create temp table numbered_texts as
            with stored as (select id, {key} from texts
                            where hash(text) in (select short from coded_texts)),
            new as (select key, any_value(short) as short, min(place) as place from coded_texts
                    where key not in (select key from stored) group by key)
            select key, id, null as place from stored union all
            select key, (select coalesce(max(id), 0) from texts)
                        + row_number() over (order by short, place), place from new"""
    )
    for place, (column, array) in enumerate(texts.items()):
        numbers = change.query(
            f"""select c.place & {2**32 - 1} as code, n.id::integer as id,
                       n.place is not distinct from c.place as new
                from coded_texts c join numbered_texts n using (key)
                where c.place >> 32 = {place}"""
        )
        code, number, new = (numbers[name].to_numpy() for name in ("code", "id", "new"))
        ids, entered = np.zeros(len(array), np.int32), np.zeros(len(array), bool)
        ids[code], entered[code] = number, new
        named = pa.table({"code": np.arange(len(array)), "id": ids})
        change.register(f"number_of_{column}", named)
        change.register("new_texts", pa.table({"id": ids, "text": array, "entered": entered}))
        change.execute("insert into texts select id, text from new_texts where entered")
    for table in ("coded_texts", "numbered_texts"):
        change.execute(f"drop table {table}")


def _fresh(change: Change, layout: Layout, rows: pa.Table, texts: Mapping[str, pa.Array]) -> str:
    """SQL of the incoming judgements as they will be stored, details included."""
    base = change.count(f"select max(id) from {layout.kind}")
    fill_texts(change, texts)
    if layout.kind == "votes":
        columns = [f"i.ordinal + {base} as id", "k.dataset_id as dataset", "k.comparison"]
        columns.append(f"{encode('i.position', CODES['position'], '0')} as position")
        columns.append(
            f"{encode('i.confidence_kind', CODES['confidence_kind'])} as confidence_kind"
        )
        joins = ["join keyed k using (dataset, item_id, model_a, model_b)"]
    else:
        (judged,) = layout.judged
        columns = [
            f"i.unit + {base} as id",
            "d.id as dataset",
            "it.id as item",
            f"m.id as {judged}",
        ]
        joins = ["join datasets d on d.name = i.dataset"]
        joins.append("join spaces sp on sp.dataset = i.dataset")
        joins.append(f"join items it on {ITEM.format(item='it', given='i')}")
        # A score of one application names no model.
        joins.append(f"left join models m on m.name = i.{judged}")
        if layout.kind == "scores":
            columns.append("mt.id as metric")
            joins.append("join metrics mt on mt.name = i.metric")
    columns += ["j.id as judge", "c.id as category", "i.run", "i.rater_type = 'human' as human"]
    columns.append(f"{encode('i.status', CODES['status'])} as status")
    columns += [f"i.{column}" for column in layout.numbers]
    columns += [f"t_{c}.id as {c}" if c in texts else f"null::integer as {c}" for c in layout.texts]
    extra = SORTED_EXTRA if present(rows, ["extra"]) else "null::map(varchar, varchar)"
    columns.append(f"{extra} as extra")
    joins += ["join judges j on j.name = i.judge", "left join categories c on c.name = i.category"]
    joins += [f"left join number_of_{c} t_{c} on t_{c}.code = i.{c}" for c in texts]
    return f"select {', '.join(columns)} from incoming i {' '.join(joins)}"


def _settle(
    change: Change, layout: Layout, units: int, *, check_stored: bool, replace: bool
) -> Counter[str]:
    """Take out of `fresh` what is twice in it or stored; counts of duplicates, conflicts and
    replaced.
    """
    key = ", ".join(layout.key)
    counts: Counter[str] = Counter()
    if change.count(f"select count(*) from (select distinct {key} from fresh)") < units:
        # The importers leave no key twice; two data sets of a file that are loaded into one can.
        change.execute(
            f"""create temp table twice as
                select id as new, min(id) over (partition by {key}) as old
                from (select distinct id, {key} from fresh) qualify new <> old"""
        )
        counts += _compare(change, layout, "twice", "fresh")
        change.execute("delete from fresh where id in (select new from twice)")
    if not check_stored:
        return counts
    same = " and ".join(
        # Only a model may be missing, and two that are missing are one.
        f"f.{column} {'is not distinct from' if column == 'model' else '='} v.{column}"
        for column in ("dataset", *layout.key)
    )
    change.execute(
        f"""create temp table met as
            select distinct f.id as new, v.id as old
            from fresh f join {layout.kind} v on {same}"""
    )
    stored: str = layout.kind
    if layout.kind == "scores":
        counts["gold_filled"] += _share_gold_of_answers(change)
    if layout.details:
        stored = (
            f"(select x.*, d.* exclude (vote) from {stored} x left join details d on d.vote = x.id)"
        )
    elif layout.kind == "scores" and _labels_there(change):
        of_labels = "id in (select score from label_gold)"
        stored = f"(select * replace (case when not {of_labels} then gold end as gold) from scores)"
    met = _compare(change, layout, "met", stored)
    if met and _labels_there(change):
        met = take_labels_out(change, layout.kind, "met", replace=replace)
    if met["conflicts"] and replace:
        met["replaced"] = met["conflicts"]
        delete_judgements(change, layout.kind, "select old from met_other")
        if layout.kind == "scores":
            # Rows of other raters, which this file does not have.
            change.execute(
                f"""update scores set gold = m.gold from ({GIVEN_GOLD}) m
                    where {SAME_ANSWER.replace("v.", "scores.")} and scores.gold <> m.gold"""
            )
        change.execute("delete from met where new in (select new from met_other)")
    if met:
        change.execute("delete from fresh where id in (select new from met)")
    return counts + met


GIVEN_GOLD = """select dataset, item, model, metric, min(gold) as gold from fresh
                where gold is not null group by all having min(gold) = max(gold)"""
"""Gold of the incoming answers, where their rows do not differ in it."""


OF_FILES = "v.id not in (select l.score from label_gold l where l.score is not null)"
"""Condition on a score `v` whose gold no label made."""
STORED_GOLD = f"""select dataset, item, model, metric, min(gold) as gold from scores v
                  where gold is not null and {OF_FILES} group by all"""
"""Gold of the stored answers, as files gave it."""


def _share_gold_of_answers(change: Change) -> int:
    """Give stored answers that no file had gold of what the incoming rows have, and incoming rows
    without gold what files said before; how many stored answers got gold.

    Gold is of the answer, whoever scored it. Where a stored one differs it is a conflict.
    """
    change.execute(
        f"""create temp table filled as
            select m.* from ({GIVEN_GOLD}) m join scores v on {SAME_ANSWER}
            group by all having count_if(v.gold is not null and {OF_FILES}) = 0;
            delete from label_gold where score in
                (select v.id from scores v join filled m on {SAME_ANSWER});
            update scores set gold = m.gold from filled m
            where {SAME_ANSWER.replace("v.", "scores.")};
            update fresh set gold = m.gold from ({STORED_GOLD}) m
            where fresh.gold is null and {SAME_ANSWER.replace("v.", "fresh.")}"""
    )
    number = change.count("select count(*) from filled")
    change.execute("drop table filled")
    return number


def _keep_gold_of_answers(change: Change) -> int:
    """Give what is new the gold that files gave its answers before, as what is there stays; how
    many answers had another.
    """
    change.execute(
        f"""create temp table another as
            select f.id, m.* from fresh f join ({STORED_GOLD}) m
            on f.gold <> m.gold and {SAME_ANSWER.replace("v.", "f.")};
            update fresh set gold = a.gold from another a where a.id = fresh.id"""
    )
    n = change.count(
        "select count(*) from (select distinct dataset, item, model, metric from another)"
    )
    change.execute("drop table temp.another")
    return n


def _compare(change: Change, layout: Layout, pairs: str, stored: str) -> Counter[str]:
    """Of pairs of judgements with one key, duplicates and conflicts (the latter kept as
    `<pairs>_other`).
    """
    n = change.count(f"select count(*) from {pairs}")
    if not n:
        return Counter()
    differ = " or ".join(f"f.{column} is distinct from v.{column}" for column in layout.content)
    part = f"and v.{layout.part} = f.{layout.part}" if layout.part else ""
    rows = f"""union select p.new, p.old from {pairs} p
               where (select count(*) from fresh f where f.id = p.new)
                  <> (select count(*) from {stored} v where v.id = p.old)"""
    change.execute(
        f"""create temp table {pairs}_other as
            select distinct p.new, p.old from {pairs} p join fresh f on f.id = p.new
            left join {stored} v on v.id = p.old {part} where v.id is null or {differ}
            {rows if layout.part else ""}"""
    )
    other = change.count(f"select count(*) from {pairs}_other")
    return Counter(duplicates=n - other, conflicts=other)


def insert_votes(change: Change, source: str, details: Collection[str]) -> None:
    """Insert the votes of a table; those with a value in any of the columns `details` get a row
    there.
    """
    change.execute(f"insert into votes by name select {', '.join(VOTE_COLUMNS)} from {source}")
    if details:
        change.execute(
            f"""insert into details by name select id as vote, {", ".join(details)} from {source}
                where {" or ".join(f"{column} is not null" for column in details)}"""
        )


def count_anew(change: Change, votes: str = "true", *, in_order: bool = True) -> None:
    """Make the cells true again after a change of the votes `v` under an SQL condition.

    votes : on columns that all cells have: `v.dataset`, `v.comparison` and `v.judge`.
    in_order : by comparison and judge, as many cells are read fastest.
    """
    for name in CELLS:
        change.execute(f"delete from {name} v where {votes}")
    count_added(change, votes, in_order=in_order)


def count_added(change: Change, votes: str, *, in_order: bool = True) -> None:
    """Count votes `v` under an SQL condition that are new, and the only ones of their cells."""
    order = "order by 2, 3" if in_order else ""
    for name, sql in CELLS.items():
        cells = sql.format(votes=f"(select * from votes v where {votes})")
        change.execute(f"insert into {name} {cells} {order}")


def rename_dataset(change: Change, old: str, new: str) -> None:
    """Give a data set another name; the new name must be free."""
    number = _dataset_id(change, old)
    if old != new and change.rows("select 1 from datasets where name = ?", [new]):
        raise InvalidOption(
            f"There is already a data set named {new!r}; delete or rename that one first"
        )
    change.execute("update datasets set name = ? where id = ?", [new, number])
    for table in NAMED_BY_DATASET:
        change.execute(f"update {table} set dataset = ? where dataset = ?", [new, old])


def delete_dataset(change: Change, name: str) -> None:
    """Delete a data set with all that is in it, its ledger lines and the replies of models
    to it.
    """
    number = _dataset_id(change, name)
    space = space_of(change, number)
    change.execute(
        "delete from details where vote in (select id from votes where dataset = ?)", [number]
    )
    forget_log(change, number)
    change.execute(
        "delete from label_gold where score in (select id from scores where dataset = ?)", [number]
    )
    for table in (*LAYOUTS, *CELLS, "files"):
        change.execute(f"delete from {table} where dataset = ?", [number])
    change.execute(
        "delete from settings where key like ? or key = ?",
        [f"{OF_FILE}{number}:%", f"{RUBRIC}{number}"],
    )
    # Data sets of other files may be about the same items, which then are under a number of theirs.
    change.execute(
        """delete from comparisons where dataset in (?, ?)
           and id not in (select comparison from votes)""",
        [number, space],
    )
    used = """select item from comparisons union all select item from scores
              union all select item from rankings"""
    change.execute(
        f"delete from items where dataset in (?, ?) and id not in ({used})", [number, space]
    )
    others = f"""select min(r.dataset) from
        (select v.dataset from votes v join comparisons c on c.id = v.comparison and c.dataset =
         {number} union all select v.dataset from scores v join items i on i.id = v.item and
         i.dataset = {number} union all select v.dataset from rankings v join items i on i.id =
         v.item and i.dataset = {number}) r"""
    heir = change.rows(others)[0][0]
    for table in ("comparisons", "items"):
        change.execute(f"update {table} set dataset = ? where dataset = ?", [heir, number])
    change.execute("delete from datasets where id = ?", [number])
    for table in NAMED_BY_DATASET:
        change.execute(f"delete from {table} where dataset = ?", [name])
    vacuum(change)


def _dataset_id(change: Change, name: str) -> int:
    ids: dict[str, int] = dict(change.rows("select name, id from datasets order by name"))
    if name not in ids:
        raise UnknownName(f"No data set named {name!r}; there are: {', '.join(ids) or 'none'}")
    return ids[name]


def vacuum(change: Change) -> None:
    """Forget dictionary rows that nothing uses any longer."""
    used: dict[str, list[tuple[str, str]]] = {
        "models": [("comparisons", column) for column in LAYOUTS["votes"].judged],
        "judges": [(kind, "judge") for kind in LAYOUTS],
        "categories": [(kind, "category") for kind in LAYOUTS],
        "metrics": [("scores", "metric")],
        "texts": [],
    }
    for kind, layout in LAYOUTS.items():
        used["models"] += [(kind, column) for column in layout.judged if kind != "votes"]
        used["texts"] += [
            ("details" if layout.details else kind, column) for column in layout.texts
        ]
    for table, columns in used.items():
        source = " union ".join(f"select {column} from {where}" for where, column in columns)
        change.execute(
            f"delete from {table} where id not in (select id from ({source}) u (id) where id is "
            "not null)"
        )
