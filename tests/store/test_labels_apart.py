"""Labels given here beside what files say: neither is lost to the other, and none goes elsewhere."""

from __future__ import annotations

import csv
import io

import duckdb
import pytest

from core.errors import LabellingReplaced, UnreadableFile
from core.importers import read
from core.labelling.desk import open_desk
from core.labelling.sheet import add_labels, join_sheet, write_sheet
from core.store import Store
from core.store.label_writing import forget_labels
from core.store.labelling import keep_rubric, rubric


def votes(n: int = 30, *, first: int = 0, person: bool = False) -> bytes:
    rows = ["item_id,judge,vote,model_a,model_b,rater_type,position,prompt,response_a,response_b"]
    for i in range(first, first + n):
        texts = f"p{i},a{i},b{i}"
        rows += [f"i{i},{j},{(i + k) % 2 * 2 - 1},m,n,llm,ab,{texts}" for k, j in enumerate("gh")]
        rows += [f"i{i},ann,{1 if i % 3 else -1},m,n,human,ab,,,"] if person else []
    return ("\n".join(rows) + "\n").encode()


def gold_file(n: int = 30, value: int = -1) -> bytes:
    rows = [f"i{i},m,n,{value if i else -value}" for i in range(n)]
    return ("\n".join(["item_id,model_a,model_b,gold", *rows]) + "\n").encode()


def load(store: Store, data: bytes, **options) -> list:
    return [store.load(reading, dataset="d", **options) for reading in read([("d.csv", data)])]


@pytest.fixture
def store():
    with Store.open() as made:
        load(made, votes())
        yield made


def rows(store: Store, judge: str) -> list[dict]:
    return [row for row in store.export().to_pylist() if row["judge"] == judge]


def golds(store: Store) -> dict[str, int | None]:
    return {row["item_id"]: row["gold"] for row in rows(store, "g")}


def label(store: Store, keys: str, person: str = "ann", **said):
    desk = open_desk(store, "d", seed=1)
    for key in keys:
        desk.answer(person, desk.cards(person)[0], key, **said)
    return desk


@pytest.mark.parametrize("note", ["a3", "p0", "b29", "new"])
def test_a_note_may_equal_any_text(store, note):
    before = rows(store, "g")
    label(store, "12", note=note)
    label(store, "10", "bob", note=note)
    store.check()
    assert rows(store, "g") == [
        row | {"gold": now["gold"]} for row, now in zip(before, rows(store, "g"), strict=True)
    ]
    assert [row["rationale"] for row in rows(store, "ann") + rows(store, "bob")] == [note] * 4


def test_a_label_of_a_person_who_is_in_the_file_is_a_vote_beside(store):
    load(store, votes(person=True))
    imported = rows(store, "ann")
    desk = label(store, "2222")
    label(store, "0")
    assert [row for row in rows(store, "ann") if row["run"] == 0] == [
        row | {"gold": golds(store)[row["item_id"]]} for row in imported
    ]
    assert len(rows(store, "ann")) == len(imported) + 5
    desk = open_desk(store, "d")
    for _ in range(5):
        desk.undo("ann")
    assert rows(store, "ann") == imported
    label(store, "11")
    forget_labels(store, "d")
    assert rows(store, "ann") == imported
    store.check()


def test_votes_of_a_person_who_has_labelled_are_loaded(store):
    desk = label(store, "12012", note="mine")
    labelled = rows(store, "ann")
    for mode in ("keep", "replace"):
        (report,) = load(store, votes(person=True) + b"\n" * (mode == "keep"), on_conflict=mode)
        assert report.conflicts == 0
        assert report.loaded == (30 if mode == "keep" else 0)
        assert len(rows(store, "ann")) == 35
    after = rows(store, "ann")
    moved = [row for row in after if row["run"] == 1]
    assert sorted((r["item_id"], r["vote"]) for r in moved) == sorted(
        (r["item_id"], r["vote"]) for r in labelled
    )
    for _ in range(5):
        desk.undo("ann")
    assert [(r["item_id"], r["run"]) for r in rows(store, "ann")] == [
        (f"i{i}", 0) for i in range(30)
    ]
    store.check()


def test_a_label_that_a_file_has_too_stays_when_it_is_taken_back():
    with Store.open() as store:
        load(store, votes())
        desk = label(store, "1")
        exported = store.export().to_pylist()
        (mine,) = rows(store, "ann")
        shown = f"{mine['item_id']},ann,{mine['vote']},m,n,human,{mine['position']},,,"
        head = votes().split(b"\n")[0].decode()
        (report,) = load(store, f"{head}\n{shown}\n".encode())
        assert (report.duplicates, report.loaded) == (1, 0)
        assert store.export().to_pylist() == exported
        desk.undo("ann")
        assert len(rows(store, "ann")) == 1
        # Another label now stands beside it.
        label(store, "0")
        assert len(rows(store, "ann")) == 2
        store.check()


def test_gold_of_a_file_wins_whenever_it_comes_and_stands_after_undo(store):
    desk = label(store, "111")
    assert sum(gold is not None for gold in golds(store).values()) == 3
    (report,) = load(store, gold_file())
    wanted = {f"i{i}": -1 if i else 1 for i in range(30)}
    assert (report.gold_filled, report.conflicts) == (30, 0)
    assert golds(store) == wanted
    label(store, "22222")
    assert golds(store) == wanted
    desk.refresh()
    desk.undo("ann")
    assert golds(store) == wanted
    forget_labels(store, "d")
    assert golds(store) == wanted


def test_gold_of_labels_goes_with_them(store):
    desk = label(store, "12")
    desk.undo("ann")
    desk.undo("ann")
    assert set(golds(store).values()) == {None}


def test_gold_of_single_answers_is_kept_apart_too():
    rows_of = lambda gold: (  # noqa: E731
        f"item_id,judge,score,model,prompt,response{',gold' if gold else ''}\n"
        + "".join(
            f"i{i},{judge},{i % 2},m,p{i},r{i}{',1' if gold else ''}\n"
            for i in range(20)
            for judge in (("late",) if gold else ("g", "h"))
        )
    )
    with Store.open() as store:
        for text in (rows_of(False),):
            load(store, text.encode())
        desk = open_desk(store, "d", kind="scores", seed=1)
        for _ in range(4):
            desk.answer("ann", desk.cards("ann")[0], "f")
        gold = lambda: [  # noqa: E731
            (r["judge"], r["gold"]) for r in store.export(kind="scores").to_pylist()
        ]
        assert sum(value == 0 for _, value in gold()) == 3 * 4
        # The scores that are there lie as they were said: again they are the same.
        again = load(store, (rows_of(False) + "\n").encode())
        assert [(r.loaded, r.conflicts, r.duplicates) for r in again] == [(0, 0, 40)]
        load(store, rows_of(True).encode())
        assert {value for _, value in gold() if value is not None} == {1}
        desk.answer("ann", desk.cards("ann")[0], "f")
        desk.undo("ann")
        assert {value for _, value in gold() if value is not None} == {1}
        store.check()


def scores(judges: str = "gh", *, high: int = 1, gold: bool = False) -> bytes:
    rows = [
        f"i{i},{judge},{i % 2 * high},m{',1' if gold else ''}"
        for i in range(20)
        for judge in judges
    ]
    head = f"item_id,judge,score,model{',gold' if gold else ''}"
    return ("\n".join([head, *rows]) + "\n").encode()


def labelled_scores(store: Store, n: int):
    load(store, scores())
    desk = open_desk(store, "d", kind="scores", seed=1)
    for _ in range(n):
        desk.answer("ann", desk.cards("ann")[0], "p")
    return desk


def golds_of(store: Store, judge: str) -> set[float | None]:
    return {r["gold"] for r in store.export(kind="scores").to_pylist() if r["judge"] == judge}


def test_gold_of_a_file_is_kept_that_comes_after_labels_of_scores_were_taken_back():
    """Its rows have the numbers that the labels had."""
    with Store.open() as store:
        desk = labelled_scores(store, 3)
        for _ in range(3):
            desk.undo("ann")
        assert not store.rows("select * from label_gold")
        load(store, scores("k", gold=True))
        assert golds_of(store, "k") == {1.0}


@pytest.mark.parametrize("change", ["replace", "forget"])
def test_gold_of_labels_goes_with_the_scores_that_have_it(change):
    with Store.open() as store:
        labelled_scores(store, 6)
        if change == "replace":
            load(store, scores(high=0), on_conflict="replace")
        else:
            forget_labels(store, "d")
        stale = "select * from label_gold where score not in (select id from scores)"
        assert not store.rows(stale)
        store.delete_dataset("d")
        load(store, scores(gold=True))
        open_desk(store, "d", kind="scores", seed=1)
        load(store, scores("k"))
        assert golds_of(store, "g") == golds_of(store, "h") == {1.0}


def test_labels_of_a_data_set_make_gold_where_those_of_another_with_the_same_items_do():
    weeks = [("week1.csv", votes()), ("week2.csv", votes().replace(b",ab,", b",ba,"))]
    with Store.open() as store:
        for reading in read(weeks):
            store.load(reading)
        assert store.rows("select count(*) from comparisons") == [(30,)]
        for dataset, person in (("week1", "ann"), ("week2", "bob")):
            desk = open_desk(store, dataset, seed=1)
            assert not desk.plan.of_file
            for _ in range(5):
                desk.answer(person, desk.cards(person)[0], "1")
        store.delete_dataset("week1")
        assert sum(gold is not None for gold in golds(store).values()) == 5


@pytest.mark.parametrize("act", ["answer", "skip", "undo"])
def test_a_card_of_a_labelling_that_is_no_more_is_refused(store, act):
    old = label(store, "1")
    card = old.cards("ann")[0]
    press = {
        "answer": lambda: old.answer("ann", card, "1"),
        "skip": lambda: old.skip("ann", card),
        "undo": lambda: old.undo("ann"),
    }[act]
    store.delete_dataset("d")
    with pytest.raises(LabellingReplaced, match="Not kept"):
        press()
    load(store, votes(first=100))
    open_desk(store, "d", seed=1)
    before = store.export().to_pylist()
    with pytest.raises(LabellingReplaced, match="Answer the card that is shown now"):
        press()
    assert store.export().to_pylist() == before
    assert open_desk(store, "d").session.people == ()


def filled_sheet(data: bytes) -> bytes:
    """A sheet of all of these votes, on which response A is better of items of even numbers."""
    with Store.open() as store:
        load(store, data)
        cards = list(csv.DictReader(io.StringIO(write_sheet(open_desk(store, "d", seed=5), 30))))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, cards[0])
    writer.writeheader()
    for card in cards:
        better = "ba"[int(card["prompt"][1:]) % 2 == 0]
        writer.writerow(card | {"label": "left" if card["left"][0] == better else "right"})
    return out.getvalue().encode()


def test_a_sheet_labels_the_items_that_were_on_it(store):
    """Its cards named a place alone, and whatever lay there was labelled."""
    with pytest.raises(UnreadableFile, match="in the order of d as it is now"):
        join_sheet(store, "d", "sheet.csv", filled_sheet(votes(first=100)))
    assert not rows(store, "sheet")
    assert join_sheet(store, "d", "sheet.csv", filled_sheet(votes())).joined == 30
    for row in rows(store, "sheet"):
        assert row["vote"] == (-1 if int(row["item_id"][1:]) % 2 else 1)


def test_part_of_a_sheet_is_right_where_an_item_came_in_between(store):
    shifted = join_sheet(store, "d", "sheet.csv", filled_sheet(votes(first=1)))
    labelled = {row["item_id"]: row["vote"] for row in rows(store, "sheet")}
    assert 0 < shifted.joined == len(labelled) < 30
    assert all(vote == (-1 if int(item[1:]) % 2 else 1) for item, vote in labelled.items())


def test_what_counts_follows_renaming_and_dies_with_its_data_set(store):
    keep_rubric(store, "d", "safe answers win")
    store.rename_dataset("d", "e")
    assert (rubric(store, "e"), rubric(store, "d")) == ("safe answers win", None)
    load(store, votes(first=100))
    assert rubric(store, "d") is None
    store.delete_dataset("e")
    store.rename_dataset("d", "e")
    assert rubric(store, "e") is None


def test_labels_of_a_file_leave_those_given_here_what_they_are(store):
    desk = label(store, "12")
    before = [row | {"gold": None} for row in rows(store, "ann")]
    sheet = "item_id,person_b\n" + "".join(f"i{i},{'A' if i % 2 else 'B'}\n" for i in range(30))
    add_labels(store, "d", [("sheet.csv", sheet.encode())])
    assert [row | {"gold": None} for row in rows(store, "ann")] == before
    for left in (1, 0):
        desk.undo("ann")
        assert len(rows(store, "ann")) == left
        assert golds(store) == {f"i{i}": 1 if i % 2 else -1 for i in range(30)}
    store.check()


@pytest.mark.parametrize("kind", ["votes", "scores"])
def test_labels_of_layout_10_are_told_from_what_files_say(kind, tmp_path):
    """There a label was known by its person alone, and what counts by the name of the data set."""
    path = tmp_path / "votes.duckdb"
    scores = "item_id,judge,score,model\n" + "".join(f"i{i},g,{i % 2},m\n" for i in range(20))
    with Store.open(path) as store:
        load(store, votes() if kind == "votes" else scores.encode())
        desk = open_desk(store, "d", kind=kind, seed=1)
        keys = "1220" if kind == "votes" else "pfpx"
        for person in ("ann", "bob"):
            for key in keys:
                desk.answer(person, desk.cards(person)[0], key)
        desk.undo("ann")
        tables = [store.rows(f"select * from {name} order by all") for name in APART]
        before = store.export(kind=kind).to_pylist()
    with duckdb.connect(str(path)) as connection:
        for name in APART:
            connection.execute(f"drop table {name}")
        connection.execute(
            """alter table labelling drop column number;
               alter table details drop column cluster;
               update settings set value = '10' where key = 'schema';
               insert into settings values ('flag:rubric:d', 'safe answers win'),
                                           ('flag:rubric:gone', 'long answers win')"""
        )
    with Store.open(path) as store:
        assert [store.rows(f"select * from {name} order by all") for name in APART] == tables
        assert all(tables)
        assert store.export(kind=kind).to_pylist() == before
        assert rubric(store, "d") == "safe answers win"
        assert not store.rows("select * from settings where key like 'flag:rubric%'")
        store.check()


APART = ("label_rows", "label_gold")
