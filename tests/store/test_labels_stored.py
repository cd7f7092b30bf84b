"""Labels given here: rows, gold, undo, a sheet and its return, people who share the items out."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from core.__main__ import main
from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.errors import AppellateError, InvalidOption
from core.importers import read
from core.labelling.desk import open_desk
from core.labelling.sheet import add_labels, is_sheet, join_sheet, write_sheet, write_tasks
from core.labelling.words import second_person_sentence
from core.schema import Selection
from core.store import Store, label_writing
from core.store import vote_queries as queries
from core.store.connection import Change, Snapshot
from core.store.label_writing import forget_labels
from core.store.labelling import label_log, replan

HEAD = "item_id,model_a,model_b,judge,run,position,vote,prompt,response_a,response_b"


def unlabelled(items: int = 240, *, seed: int = 3, right=(0.9, 0.5), gold: bool = False) -> str:
    """Votes of two judges; the better response of an item says so."""
    rng = np.random.default_rng(seed)
    lines = [HEAD + ",gold" * gold]
    for item in range(items):
        better = rng.choice([1, -1])
        texts = (f"good {item}", f"bad {item}")[:: int(better)]
        for judge, share in zip(("careful", "coin"), right, strict=True):
            vote = better if rng.random() < share else -better
            own = f"q{item:03d},alpha,beta,{judge},0,ab,{vote},Ask {item}?,{','.join(texts)}"
            lines.append(own + f",{better}" * gold)
    return "\n".join(lines) + "\n"


@pytest.fixture
def store():
    with Store.open() as made:
        for reading in read([("votes.csv", unlabelled().encode())]):
            made.load(reading)
        yield made


def knows(card) -> str:
    return "1" if card.texts[0].startswith("good") else "2"


def label(desk, n: int, person: str = "me", says=knows) -> None:
    while desk.session.count(person) < n:
        card = desk.cards(person)[0]
        desk.answer(person, card, says(card))


def test_a_label_is_a_vote_of_a_person_and_gold(store):
    desk = open_desk(store, "votes", seed=5)
    label(desk, 30)
    counts = queries.vote_counts(store, Selection())
    assert len(counts["me"]) == 30
    assert (counts["careful"].gold != -9).sum() >= 30
    mine = dict(zip(counts["me"].comparison.tolist(), counts["me"].label.tolist(), strict=True))
    gold = dict(
        zip(counts["careful"].comparison.tolist(), counts["careful"].gold.tolist(), strict=True)
    )
    assert all(gold[place] == vote for place, vote in mine.items())
    assert desk.undo("me") is not None
    assert len(queries.vote_counts(store, Selection())["me"]) == 29
    again = open_desk(store, "votes", seed=99)
    assert again.plan.seed == 5
    assert again.session.count("me") == 29


def test_a_label_takes_a_dozen_statements_however_many_there_are(store, monkeypatch):
    desk = open_desk(store, "votes", seed=5)
    label(desk, 1)
    # A process asks once what a label of each vote and position adds to the two tables of counts.
    monkeypatch.setattr(label_writing, "_LONE_CELLS", {})
    taken = []

    def counted(of, name):
        run = getattr(of, name)

        def counting(self, sql, params=None):
            taken[-1] += 1
            return run(self, sql, params)

        monkeypatch.setattr(of, name, counting)

    counted(Snapshot, "rows")
    counted(Change, "execute")
    while desk.session.count("me") < 40:
        taken.append(0)
        card = desk.cards("me")[0]
        taken[-1] = 0
        desk.answer("me", card, knows(card))
    *later, _, _, _, most = sorted(taken)
    assert max(later) <= 12, taken
    assert most <= 12 + 2, taken


def test_the_order_depends_on_no_vote():
    places = []
    for seed in (3, 4):
        with Store.open() as store:
            for reading in read([("votes.csv", unlabelled(seed=seed).encode())]):
                store.load(reading)
            open_desk(store, "votes", seed=7)
            places.append(
                store.rows(
                    "select i.name from label_order o join items i on i.id = o.item order by place"
                )
            )
    assert places[0] == places[1]
    assert places[0] != sorted(places[0])


def test_gold_of_the_file_is_kept_apart():
    with Store.open() as store:
        for reading in read([("votes.csv", unlabelled(gold=True).encode())]):
            store.load(reading)
        before = queries.vote_counts(store, Selection())["careful"].gold
        desk = open_desk(store, "votes", seed=1)
        label(desk, 25, says=lambda card: "1" if knows(card) == "2" else "2")
        assert (queries.vote_counts(store, Selection())["careful"].gold == before).all()
        # The verdict is by the labels alone: they say the opposite of gold.
        careful = desk.shown().judges[0]
        assert careful.standing.n == 25
        assert careful.standing.right.value < 0.3


def test_four_kinds_of_no_winner_and_what_stays_of_them(store):
    desk = open_desk(store, "votes", seed=2)
    for key in ("0", "b", "x"):
        desk.answer("me", desk.cards("me")[0], key, tags=("tone",), note="why")
    skipped = desk.cards("me")[0]
    desk.skip("me", skipped)
    assert desk.cards("me")[0].place != skipped.place
    table = store.export(Selection(judges=("me",))).to_pylist()
    assert [row["vote"] for row in table] == [0, 0]
    assert {row.get("both bad") for row in table} == {None, "yes"}
    assert {row["tags"] for row in table} == {"tone"}
    assert {row["rationale"] for row in table} == {"why"}
    labels = desk.session.labels()
    assert [x.label for x in labels] == [0, 0, None, None]
    desk.undo("me")
    assert desk.cards("me")[0].place == skipped.place
    assert [line.act for line in label_log(store, "votes")][-2:] == ["skip", "undo"]


def test_what_was_skipped_comes_again_at_the_end():
    with Store.open() as store:
        for reading in read([("votes.csv", unlabelled(6).encode())]):
            store.load(reading)
        desk = open_desk(store, "votes", seed=2)
        first = desk.cards("me")[0]
        desk.skip("me", first)
        label(desk, 5)
        assert desk.cards("me")[0].place == first.place
        label(desk, 6)
        assert desk.cards("me") == []


@pytest.mark.thorough
def test_several_people_share_the_items_out_but_for_a_third(store):
    desk = open_desk(store, "votes", seed=4)
    for _ in range(60):
        for person in ("ann", "ben"):
            card = desk.cards(person)[0]
            desk.answer(person, card, knows(card))
    _, _, same = desk.session.pairs()
    labelled = {x.place for x in desk.session.labels()}
    assert 0.15 < len(same) / len(labelled) < 0.5
    assert desk.session.repeats()[0] == desk.session.repeats()[1] > 0
    everybody = open_desk(store, "votes", sharing="all")
    assert everybody.session.upcoming("cem") == [0]
    with pytest.raises(InvalidOption, match="name of a judge"):
        desk.answer("careful", desk.cards("careful")[0], "1")


@pytest.mark.thorough
def test_two_people_who_differ_are_no_tie_and_meet_in_a_third_look(store):
    desk = open_desk(store, "votes", seed=3)
    desk.sharing = "all"
    label(desk, 6, "ann")
    label(desk, 4, "ben", says=lambda card: "2" if knows(card) == "1" else "1")
    assert desk.session.contested() == [0, 1, 2, 3]

    def gold() -> dict[str, int]:
        rows = store.export().to_pylist()
        return {row["item_id"]: row["gold"] for row in rows if row["gold"] is not None}

    assert len(gold()) == 2
    # Who has seen none of them gets them first, shared out or not; of who has, nobody does.
    desk.sharing = "part"
    desk.refresh()
    assert desk.session.upcoming("cat", 6)[:4] == [0, 1, 2, 3]
    assert min(desk.session.upcoming("ann")) == 6
    label(desk, 3, "cat")
    assert desk.session.contested() == [3]
    assert len(gold()) == 5
    assert 0 not in gold().values()
    # By design the first label of a unit counts, so that a third look moves no verdict.
    assert [x.place for x in desk.session.labels()] == list(range(6))
    # A third opinion settles nothing; a label taken back unsettles what it settled.
    desk.answer("cat", desk.cards("cat")[0], "0")
    assert desk.session.contested() == [3]
    desk.undo("cat")
    desk.undo("cat")
    assert desk.session.contested() == [2, 3]
    assert len(gold()) == 4


def test_repeats_are_blind_and_no_labels(store):
    desk = open_desk(store, "votes", seed=4)
    label(desk, 50)
    same, n = desk.session.repeats("me")
    assert n >= 8
    assert same == n
    assert len(desk.session.labels()) == 50
    again = [line for line in label_log(store, "votes") if line.act == "repeat"]
    first = {x.place: x for x in label_log(store, "votes") if x.act == "label"}
    assert all(line.number - first[line.place].number > 20 for line in again)
    assert any(line.swapped != first[line.place].swapped for line in again)


def test_a_changed_plan_gives_the_planned_end_up(store):
    assert open_desk(store, "votes", planned=100).plan.planned == 100
    replan(store, "votes", 50)
    desk = open_desk(store, "votes")
    assert desk.plan.planned == 50
    label(desk, 1)
    replan(store, "votes", 200)
    assert open_desk(store, "votes").plan.planned is None


@pytest.mark.thorough
def test_a_sheet_of_fifty_comes_back_shuffled_with_one_row_broken(store, tmp_path):
    desk = open_desk(store, "votes", seed=11)
    text = write_sheet(desk, 50)
    for hidden in ("careful", "coin", "alpha", "beta", "q0"):
        assert hidden not in text
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        row["label"] = "left" if row["left"].startswith("good") else "2"
    rows[17]["card"] = "ffffffffff"
    order = np.random.default_rng(1).permutation(50)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows([rows[k] for k in order])
    filled = out.getvalue().encode()
    assert is_sheet("sheet.csv", filled)
    with Store.open() as other:
        for reading in read([("votes.csv", unlabelled().encode())]):
            other.load(reading)
        report = join_sheet(other, "votes", "sheet.csv", filled)
        assert (report.labels, report.joined, report.first) == (50, 49, 17)
        row = 1 + int(np.flatnonzero(order == 17)[0])
        assert report.missed == ((row, "no card 'ffffffffff' in the order of votes as it is now"),)
        again = open_desk(other, "votes")
        assert again.plan.seed == 11
        right = again.shown().judges[0].standing
        assert (right.n, right.n_items) == (49, 240)
    label(desk, 30)
    by_page = {x.place: x.label for x in desk.session.labels()}
    by_sheet = {x.place: x.label for x in again.session.labels()}
    assert all(by_sheet[place] == said for place, said in by_page.items() if place in by_sheet)


def in_label_studio(tasks: str, *, person: int = 7) -> list[dict]:
    """What Label Studio exports once each task is labelled; every tenth is a tie."""
    done = []
    for number, task in enumerate(json.loads(tasks)):
        side = "left" if task["data"]["left"].startswith("good") else "right"
        result = {"type": "pairwise", "from_name": "label", "value": {"selected": side}}
        if number % 10 == 9:
            result = {"type": "choices", "from_name": "other", "value": {"choices": ["tie"]}}
        note = {"type": "textarea", "from_name": "note", "value": {"text": ["seen"]}}
        annotation = {"completed_by": person, "was_cancelled": False, "result": [result, note]}
        cancelled = {"completed_by": 8, "was_cancelled": True, "result": [result]}
        done.append(task | {"id": number + 1, "annotations": [annotation, cancelled]})
    return done


@pytest.mark.thorough
def test_label_studio_out_and_back_equals_the_sheet(store):
    desk = open_desk(store, "votes", seed=11)
    tasks = write_tasks(desk, 50)
    for hidden in ("careful", "coin", "alpha", "beta", "q0"):
        assert hidden not in tasks
    done = in_label_studio(tasks)
    done[17]["data"]["card"] = "ffffffffff"
    exported = json.dumps(done[::-1]).encode()
    assert is_sheet("project.json", exported)
    assert not is_sheet("other.json", b'[{"data": {"text": "x"}, "annotations": []}]')
    with Store.open() as other:
        for reading in read([("votes.csv", unlabelled().encode())]):
            other.load(reading)
        said = add_labels(other, "votes", [("project.json", exported)])
        ((_, said),) = said
        assert said.startswith("49 of 50 labels joined")
        assert "row 33: no card 'ffffffffff'" in said
        session = open_desk(other, "votes").session
        assert session.people == ("annotator 7",)
        said_by_sheet = {one.place: one.label for one in session.labels()}
        notes = {line.note for line in label_log(other, "votes")}
    assert notes == {"seen"}
    label(desk, 30)
    by_page = {x.place: x.label for x in desk.session.labels()}
    assert [said_by_sheet[k] for k in (9, 19, 29)] == [0, 0, 0]
    others = [k for k in by_page if k % 10 != 9 and k in said_by_sheet]
    assert len(others) >= 20
    assert all(said_by_sheet[k] == by_page[k] for k in others)


def test_labels_by_ids_are_added_to_votes_that_are_stored(store):
    sheet = (
        "item_id,model_a,model_b,label\nq001,alpha,beta,A\nq002,alpha,beta,B\nq999,alpha,beta,A\n"
    )
    said = add_labels(store, "votes", [("people.csv", sheet.encode())])
    assert said[0][1].startswith("2 of 3 labels found their answer")
    gold = {row["item_id"]: row["gold"] for row in store.export().to_pylist()}
    assert {item: value for item, value in gold.items() if value is not None} == {
        "q001": 1,
        "q002": -1,
    }
    with pytest.raises(AppellateError, match="no label finds its answer"):
        add_labels(store, "votes", [("people.csv", b"item_id,label\nnone,A\n")])


def test_the_command_writes_a_sheet_and_the_audit_takes_it_back(tmp_path, capsys):
    votes, sheet = tmp_path / "votes.csv", tmp_path / "sheet.csv"
    votes.write_text(unlabelled(), encoding="utf-8")
    assert main(["label", str(votes), "--sheet", str(sheet), "--count", "60"]) == 0
    assert "60 of 240 items" in capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(sheet.read_text(encoding="utf-8"))))
    for row in rows:
        row["label"] = "1" if row["left"].startswith("good") else "2"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert main(["audit", str(votes), "--labels-from", str(sheet)]) == 0
    said = capsys.readouterr()
    assert "60 of 60 labels joined" in said.err
    assert "careful" in said.out
    store = tmp_path / "votes.duckdb"
    assert main(["import", str(votes), "--store", str(store)]) == 0
    assert main(["label", "--store", str(store), "--labels-from", str(sheet)]) == 0
    assert "60 of 60 labels joined" in capsys.readouterr().out
    assert main(["label", "--labels-from", str(sheet)]) == 2


def test_labels_are_the_gold_of_the_audit(store):
    desk = open_desk(store, "votes", seed=8)
    label(desk, 60)
    found = audit(store, Selection(rater_types=("llm",)), AuditOptions())
    accuracy = {r.judge: r for r in found.checks if r.check == "accuracy"}
    rows = desk.shown().judges
    for one in rows:
        assert accuracy[one.judge].estimate.value == pytest.approx(one.standing.right.value)
    forget_labels(store, "votes")
    assert "me" not in queries.vote_counts(store, Selection())
    assert open_desk(store, "votes").session.people == ()


@pytest.mark.thorough
def test_people_reach_a_verdict_of_a_judge_right_on_nine_of_ten():
    """Half of seven need about fifty labels or fewer: of twenty, 41.5 in the median."""
    needed = []
    for person in range(7):
        with Store.open() as store:
            text = unlabelled(300, seed=100 + person)
            for reading in read([("votes.csv", text.encode())]):
                store.load(reading)
            desk = open_desk(store, "votes", seed=person)
            label(desk, 60)
            since = desk.shown(judges=("careful",)).judges[0].standing.since
            needed.append(since or 61)
    assert np.median(needed) <= 55


def test_single_answers_pass_or_fail():
    rng = np.random.default_rng(6)
    lines = ["item_id,judge,score,response"]
    for item in range(60):
        good = rng.random() < 0.7
        lines.append(f"a{item},j,{int(good)},{'good' if good else 'bad'} answer {item}")
    with Store.open() as store:
        for reading in read([("answers.csv", "\n".join(lines).encode())]):
            store.load(reading)
        desk = open_desk(store, "answers", kind="scores", seed=3)
        assert list(desk.keys) == ["p", "f", "x"]
        for _ in range(25):
            card = desk.cards("me")[0]
            desk.answer("me", card, "p" if card.texts[0].startswith("good") else "f")
        gold = store.rows("select gold, score from scores where gold is not null and not human")
        assert len(gold) == desk.session.count("me")
        assert all(label == score for label, score in gold)
        seen = desk.shown()
        (judge,) = seen.passing
        assert (seen.judges, seen.levels, judge.verdict.n) == ((), (), desk.session.count("me"))
        assert judge.verdict.passed.right.value == judge.verdict.failed.right.value == 1
        assert judge.verdict.failed.right.n >= 5
        every = store.rows("select avg(score) from scores where not human")[0][0]
        assert judge.rate.judge == pytest.approx(every)
        assert judge.rate.now.low <= every <= judge.rate.now.high
        assert (seen.agree, second_person_sentence(seen)) == (None, None)
        desk.undo("me")
        assert len(store.rows("select 1 from scores where human")) == desk.session.count("me")
        both = open_desk(store, "answers", kind="scores", sharing="all")
        for key in ("p", "f", "p"):
            both.answer("other", both.cards("other")[0], key)
        seen = both.shown()
        mine = [both.session.answer_of("me", place).answer for place in range(3)]
        same = sum(said == key for said, key in zip(mine, ("p", "f", "p"), strict=True))
        assert seen.agree == (same, 3)
        said = second_person_sentence(seen)
        assert said.startswith(f"Two people say the same of {same} of 3.")
        assert "the errors of people left in" in said


@pytest.mark.thorough
def test_as_many_who_pass_an_answer_as_who_fail_it_are_no_half_pass():
    head = "item_id,judge,score"
    rows = [f"q{k:02d},strict,{k % 2}" for k in range(20)]
    with Store.open() as store:
        for reading in read([("scores.csv", "\n".join([head, *rows]).encode())]):
            store.load(reading)
        desk = open_desk(store, "scores", kind="scores", seed=1)
        desk.sharing = "all"
        label(desk, 2, "ann", says=lambda card: "p")
        label(desk, 1, "ben", says=lambda card: "f")
        assert desk.session.contested() == [0]
        rows_now = store.export(kind="scores").to_pylist()
        gold = {row["item_id"]: row["gold"] for row in rows_now if row["gold"] is not None}
        assert [*gold.values()] == [1.0]


def test_levels_have_intervals_and_no_grade():
    """The judge gives what people give, or one more."""
    rng = np.random.default_rng(8)
    lines = ["item_id,judge,score,response"]
    for item in range(80):
        level = int(rng.integers(1, 5))
        lines.append(f"a{item},j,{level + item % 2},worth {level}")
    with Store.open() as store:
        for reading in read([("levels.csv", "\n".join(lines).encode())]):
            store.load(reading)
        desk = open_desk(store, "levels", kind="scores", seed=3)
        for _ in range(30):
            card = desk.cards("me")[0]
            desk.answer("me", card, card.texts[0].split()[-1])
        seen = desk.shown()
        (judge,) = seen.levels
        same = [line.label for line in label_log(store, "levels") if line.act == "label"]
        assert judge.near.value == 1
        assert judge.same.low < judge.same.value < judge.same.high
        assert judge.mean.now.low <= np.mean(same) <= judge.mean.now.high
        assert judge.mean.judge > judge.mean.now.value
        assert seen.passing == ()


def test_the_win_rate_of_two_models_beside_each_judge(store):
    """By name of the first, whichever side it was on; others than two have none."""
    desk = open_desk(store, "votes", seed=8, planned=12)
    label(desk, 14)
    seen = desk.shown(judges=("careful",))
    assert seen.models == ("alpha", "beta")
    wins, votes = seen.judges[0].wins, queries.vote_counts(store, Selection())["careful"]
    assert wins.judge == pytest.approx((votes.label == 1).mean())
    said = [one.label for one in desk.session.labels()]
    assert abs(wins.now.value - (1 + np.mean(said)) / 2) < 0.2
    assert wins.now.low < wins.now.value < wins.now.high
    assert wins.planned.n_labelled == 12
    three = unlabelled(40).replace("q000,alpha", "q000,gamma")
    with Store.open() as other:
        for reading in read([("three.csv", three.encode())]):
            other.load(reading)
        assert open_desk(other, "three").shown().models is None


def test_nothing_to_label():
    with Store.open() as store, pytest.raises(AppellateError):
        open_desk(store, "nothing")


@pytest.mark.parametrize("person", ["careful", " Careful ", "a\x00b", "a\ud800", " "])
def test_a_person_has_a_printable_name_that_no_judge_has(store, person):
    desk = open_desk(store, "votes", seed=4)
    with pytest.raises(InvalidOption, match=r"name of a (judge|person)"):
        desk.answer(person, desk.cards("me")[0], "1")
    assert label_log(store, "votes") == ()


def test_labels_of_another_store_come_along_as_judgements_and_it_is_said(tmp_path, capsys):
    with Store.open(tmp_path / "one.duckdb") as first:
        first.load(read([("votes.csv", unlabelled(20).encode())])[0])
        label(open_desk(first, "votes", seed=4), 3)
    assert main(["import", str(tmp_path / "one.duckdb"), "--store", str(tmp_path / "two")]) == 0
    said = capsys.readouterr().out
    assert "3 labels of people came along as judgements; to label on" in said
    assert said.rstrip().endswith("open one.duckdb")


def test_gold_that_a_later_file_has_is_given_to_answers_that_are_there():
    head, rows = "item_id,judge,score", ["a,gpt,1", "b,gpt,0"]
    with Store.open() as made:
        made.load(read([("one.csv", "\n".join([head, *rows]).encode())])[0], dataset="d")
        later = "\n".join([head + ",gold", *(row + ",1" for row in rows)])
        report = made.load(read([("two.csv", later.encode())])[0], dataset="d")
        assert (report.gold_filled, report.duplicates, report.conflicts) == (2, 2, 0)
        assert "2 answers given gold" in report.sentence
        assert made.rows("select distinct gold from scores") == [(1.0,)]
