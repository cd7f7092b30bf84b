"""Layout 10 to 11: labels apart from imported votes, their gold apart from gold of files, and a
note that damaged the texts repaired.

It names the columns of its own layouts only, and does not change when `schema` goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cells import CELLS

if TYPE_CHECKING:
    from .statements import Statements

NOTE_REPAIRED = (
    "A note to a label that equals another text had been stored under the number of a third text "
    "({texts:,} repaired): every vote has its own texts again, and nothing was lost"
)

_TEXTS = {
    "details": ("prompt", "response_a", "response_b", "rationale", "prompt_hash"),
    "scores": ("cluster", "prompt", "response", "rationale", "prompt_hash"),
    "rankings": ("prompt", "response", "rationale", "prompt_hash"),
}
"""Columns that hold numbers of texts."""


def separate_labels(change: Statements) -> list[str]:
    """Bring a store from layout 10 to 11 inside one transaction; what its user should know."""
    change.execute(
        """create temp table standing as
           select l.dataset, l.place, l.person, l.label, l.swapped, l.note, o.item, o.comparison,
                  o.model, b.kind, b.metric, b.of_file, j.id as judge
           from (select * from label_log where act in ('label', 'undo')
                 qualify row_number() over
                         (partition by dataset, place, person order by id desc) = 1) l
           join label_order o on o.dataset = l.dataset and o.place = l.place
           join labelling b on b.dataset = l.dataset left join judges j on j.name = l.person
           where l.act = 'label'"""
    )
    notes = _repair_texts(change)
    change.execute(
        """alter table labelling add column number bigint;
           update labelling set number = (random() * 9e15)::bigint;
           create table label_rows (dataset integer, place integer, person varchar,
                                    judgement bigint, of_file boolean);
           create table label_gold (comparison integer, score bigint);
           insert into label_rows
           select s.dataset, s.place, s.person, min(v.id), false from standing s
           join votes v on v.dataset = s.dataset and v.comparison = s.comparison
                and v.judge = s.judge and v.human and v.run = 0 and v.vote = s.label
                and v.position = case when s.swapped then -1 else 1 end
           where s.kind = 'votes' group by all;
           insert into label_rows
           select s.dataset, s.place, s.person, min(v.id), false from standing s
           join scores v on v.dataset = s.dataset and v.item = s.item and v.judge = s.judge
                and v.model is not distinct from s.model and v.metric = s.metric and v.human
                and v.run = 0 and v.score = s.label
           where s.kind = 'scores' group by all;
           insert into label_gold (comparison)
           select c.id from comparisons c join (
               select comparison, case when count(*) > 1 then 0 else min(label) end as gold from (
                   select comparison, label from standing
                   where kind = 'votes' and not of_file and label is not null
                   group by comparison, label
                   qualify rank() over (partition by comparison order by count(*) desc) = 1)
               group by comparison) m on m.comparison = c.id and m.gold = c.gold;
           insert into label_gold (score)
           select v.id from scores v join (
               select dataset, item, model, metric, avg(label) as gold from standing
               where kind = 'scores' and not of_file and label is not null group by all) m
           on m.dataset = v.dataset and m.item = v.item and m.model is not distinct from v.model
              and m.metric = v.metric and abs(m.gold - v.gold) < 1e-9;
           drop table temp.standing"""
    )
    # What counts was kept under the name of a data set, and stayed there when that was renamed.
    change.execute(
        """insert into settings select concat('rubric:', d.id), s.value
           from settings s join datasets d on s.key = concat('flag:rubric:', d.name);
           delete from settings where starts_with(key, 'flag:rubric:')"""
    )
    return notes


def _repair_texts(change: Statements) -> list[str]:
    """A note that equalled a text was entered once more, under number 1, whatever stood there.

    The row of number 1 that has a number of its own elsewhere is the note's. Where all are the same
    text, it is there twice. What was loaded afterwards with that text was stored twice, too.
    """
    ((rows, ids, texts),) = change.rows(
        "select count(*), count(distinct id), count(distinct text) from texts"
    )
    if rows == ids == texts:
        return []
    change.execute(
        """create temp table whole_texts as
           select min(id) as id, text from
           (select distinct id, text from texts t where id <> 1 or not exists
                (select 1 from texts other where other.text = t.text and other.id <> 1))
           group by text"""
    )
    # Where what had the text at first was deleted, only number 1 has it still: the file's text
    # keeps the number.
    firsts = change.rows(
        """select text from whole_texts where id = 1
           order by text in (select note from label_log where note is not null)"""
    )
    for (text,) in firsts[1:]:
        change.execute(
            "update whole_texts set id = (select max(id) + 1 from whole_texts) where text = ?",
            [text],
        )
    if not firsts:
        # Whatever stood there had gone before, so that number 1 can only mean the note.
        of_note = """(select min(w.id) from whole_texts w join texts t on t.id = 1
                      and t.text = w.text)"""
        for table, columns in _TEXTS.items():
            for column in columns:
                change.execute(f"update {table} set {column} = {of_note} where {column} = 1")
    # Of the notes, the log says which vote has which.
    change.execute(
        """create temp table of_notes as
           select v.id as vote, w.id as text from standing s
           join votes v on v.dataset = s.dataset and v.comparison = s.comparison
                and v.judge = s.judge and v.human
           join whole_texts w on w.text = s.note
           where s.kind = 'votes' and s.note is not null;
           update details set rationale = n.text from of_notes n where n.vote = details.vote;
           delete from texts;
           insert into texts select id, text from whole_texts order by id"""
    )
    if change.count("select count(*) - count(distinct id) from votes"):
        change.execute(
            """create temp table once as select distinct on (id) * from votes;
               create temp table details_once as select * from details
               qualify row_number() over (partition by vote order by rationale desc) = 1;
               delete from votes;
               delete from details;
               insert into votes select * from once order by id;
               insert into details select * from details_once order by vote;
               drop table temp.once; drop table temp.details_once"""
        )
        for name, sql in CELLS.items():
            change.execute(f"delete from {name}; insert into {name} {sql.format(votes='votes')}")
    change.execute("drop table temp.whole_texts; drop table temp.of_notes")
    return [NOTE_REPAIRED.format(texts=rows - texts or 1)]
