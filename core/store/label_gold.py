"""Labels and files that say something of the same: whose gold it is, and which row is whose.

Gold of labels is made of the log whenever either changes, and only where no file has gold. A row
that a file brings under the key of a label is the file's, and the label takes another run.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .schema import LABELLED, LAYOUTS

if TYPE_CHECKING:
    from ..schema import Kind
    from .connection import Change
LAST_WORDS = """
    select l.dataset, l.person, l.label, l.of_file, l.kind, l.metric, l.item, l.comparison, l.model
    from (select w.*, b.of_file, b.kind, b.metric, t.item, t.comparison, t.model from label_log w
          join labelling b on b.dataset = w.dataset
          join label_order t on t.dataset = w.dataset and t.place = w.place
          where w.act in ('label', 'undo') and {units}
          qualify row_number() over
                  (partition by w.dataset, w.place, w.person order by w.id desc) = 1) l
    where l.act = 'label' and l.label is not null and not l.of_file"""
"""Labels that make gold: the last word of each person on each unit `t`, if not taken back."""
MODES = f"""
    select comparison, min(label)::tinyint as gold
    from (select comparison, label from ({LAST_WORDS}) group by comparison, label
          qualify rank() over (partition by comparison order by count(*) desc) = 1)
    group by comparison having count(*) = 1"""
"""The most frequent label of a comparison. Where several are, people differ: it has no gold until
another settles it, and no tie that nobody said.
"""
MEANS = f"""
    select dataset, item, model, metric, avg(label) as gold from ({LAST_WORDS}) group by all
    having not (avg(label) = 0.5 and bool_and(label in (0, 1)))"""
"""The mean of the labels of an answer; none where as many people pass it as fail it."""
SAME_ANSWER = """m.dataset = v.dataset and m.item = v.item and m.model is not distinct from v.model
                 and m.metric = v.metric"""


def give_gold(change: Change, kind: Kind, units: str) -> None:
    """Make the gold of labels anew: the mode of the labels of a comparison, the mean of those of an
    answer, and none where people differ evenly or a file has gold.

    units : SQL condition on the order `t`.
    """
    about = f"""(select t.comparison from label_order t
                 where t.comparison is not null and {units})"""
    answers = f"""(select v.id from scores v join label_order t on t.dataset = v.dataset
                   and t.item = v.item and t.model is not distinct from v.model
                   join labelling b on b.dataset = t.dataset and b.metric = v.metric
                   where {units})"""
    if kind == "votes":
        # Another data set may be about the same comparisons, and labelled too.
        modes = MODES.format(units=f"t.comparison in {about}")
        change.execute(
            f"""update comparisons set gold = null
                where id in {about} and id in (select comparison from label_gold);
                delete from label_gold where comparison in {about};
                insert into label_gold (comparison)
                select m.comparison from ({modes}) m
                join comparisons c on c.id = m.comparison where c.gold is null;
                update comparisons set gold = m.gold from ({modes}) m
                where m.comparison = comparisons.id
                      and comparisons.id in (select comparison from label_gold)"""
        )
    if kind == "scores":
        means = MEANS.format(units=units)
        change.execute(
            f"""update scores set gold = null
                where id in {answers} and id in (select score from label_gold);
                delete from label_gold where score in {answers};
                insert into label_gold (score)
                select v.id from scores v join ({means}) m on {SAME_ANSWER}
                where not exists
                      (select 1 from scores m where {SAME_ANSWER} and m.gold is not null);
                update scores set gold = m.gold from ({means}) m
                where {SAME_ANSWER.replace("v.", "scores.")}
                      and scores.id in (select score from label_gold)"""
        )


def delete_judgements(change: Change, kind: Kind, numbers: str) -> None:
    """Delete judgements with what stands beside them: whatever has their numbers next has not
    their gold.

    numbers : SQL that gives their numbers.
    """
    if kind == "votes":
        change.execute(f"delete from details where vote in ({numbers})")
    if kind == "scores":
        change.execute(f"delete from label_gold where score in ({numbers})")
    change.execute(f"delete from {kind} where id in ({numbers})")


def forget_log(change: Change, dataset: int) -> None:
    """Delete the log of a data set with the gold that was made of it, and its order."""
    change.execute(f"delete from label_log where dataset = {dataset}")
    give_gold(change, "votes", f"t.dataset = {dataset}")
    give_gold(change, "scores", f"t.dataset = {dataset}")
    for table in LABELLED:
        change.execute(f"delete from {table} where dataset = ?", [dataset])


def take_labels_out(change: Change, kind: Kind, pairs: str, *, replace: bool) -> Counter[str]:
    """Of rows `old` that incoming ones `new` meet in a table of pairs: what is the same is of the
    file, too, from now on; a label that says another is no conflict, and leaves the table.

    Counts of what is left, as `load` has them.
    """
    others = f"{pairs}_other"
    of_kind = f"dataset in (select b.dataset from labelling b where b.kind = '{kind}')"
    if replace:
        # What the file had before gives way, and the label stays.
        change.execute(
            f"""update label_rows set of_file = false
                where judgement in (select old from {others}) and {of_kind}"""
        )
    label = f"select judgement from label_rows where not of_file and {of_kind}"
    change.execute(
        f"""delete from {pairs} where new in (select new from {others} where old in ({label}));
            delete from {others} where old in ({label});
            update label_rows set of_file = true where {of_kind} and judgement in
                (select old from {pairs} where old not in (select old from {others}))"""
    )
    conflicts = change.count(f"select count(*) from {others}")
    n = change.count(f"select count(*) from {pairs}")
    return Counter(duplicates=n - conflicts, conflicts=conflicts)


def make_way(change: Change, kind: Kind) -> None:
    """Give labels under the run of a row of the same person that a file brought another run."""
    if kind == "rankings":
        return
    key = [name for name in LAYOUTS[kind].key if name not in ("run", "position")]
    same = " and ".join(f"o.{name} is not distinct from v.{name}" for name in ("dataset", *key))
    labels = f"""select judgement from label_rows where not of_file
                 and dataset in (select b.dataset from labelling b where b.kind = '{kind}')"""
    change.execute(
        f"""create temp table moved as
            select v.id, (select max(o.run) + 1 from {kind} o where {same}) as run from {kind} v
            where v.id in ({labels})
            and exists (select 1 from {kind} o where {same} and o.run = v.run and o.id <> v.id);
            update {kind} set run = greatest(m.run, 0) from moved m where m.id = {kind}.id;
            drop table temp.moved"""
    )
