"""Direct scores and listwise rankings: read, refused by place, stored, asked for, exported, loaded
again.
"""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_file import read_one
from places import REPOSITORY
from readings import reading as votes_reading

from core.__main__ import main
from core.errors import AmbiguousLabels, AppellateError, NoUsableVotes, UnknownName
from core.importers import ReadOptions, inspect, read, read_back
from core.importers.rankings import parse_permutation
from core.questions.lists.method import consensus
from core.schema import RANKINGS, Selection
from core.store import Store
from core.store import vote_queries as queries
from core.store.browse import describe_import, stored
from core.store.export import write_file

ALL = Selection()
SCORES = """item_id,model,judge,run,score,category,note
q1,x,j,0,7,math,a
q1,y,j,0,3.5,math,
q1,x,j,1,8,math,
q2,x,k,0,,code,
"""
# Two orders of three candidates, with everything that a ranking can have.
LISTS = """item,candidate,judge,run,slot,score,rank,calibrated_uncertainty,major_error,unsupported,is_best
i,a,j,0,0,90,1,0,0,0,1
i,b,j,0,1,70,2,1,0,0,
i,c,j,0,2,10,3,0,1,1,
i,b,j,1,0,60,2,0,0,0,0
i,a,j,1,1,60,1,0,0,0,1
i,c,j,1,2,20,3,0,0,0,0
"""
CHOICES = """benchmark,item,subset,judge,perm_id,permutation,gold_slot,pick_slot,pick_candidate,correct
B,i,s,j,0,012,A,A,0.0,1
B,i,s,j,1,102,B,A,1.0,0
B,i,s,j,2,201,B,,,0
"""


def loaded(*readings):
    store = Store.open()
    for each in readings:
        store.load(each)
    return store


# what is recognised
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "format", "kind"),
    [
        (SCORES, "direct_scores", "scores"),
        ("question_id,system,rater,rating\n1,m,j,4\n", "direct_scores", "scores"),
        ('{"item_id": "1", "model": "m", "judge": "j", "score": 4}\n', "direct_scores", "scores"),
        (LISTS, "rankings", "rankings"),
        (CHOICES, "choices", "rankings"),
        ("item_id,judge,score_a,score_b\n1,j,3,4\n", "canonical", "votes"),
        ("item_id,judge,model,score,vote\n1,j,m,4,1\n", "canonical", "votes"),
        (
            "item_id,judge,model_a,model_b,winner,score,model\n1,j,x,y,model_a,4,m\n",
            "canonical",
            "votes",
        ),
        ("item_id,judge,vote,candidate,slot,rank\n1,j,1,c,0,1\n", "canonical", "votes"),
    ],
)
def test_columns_say_what_a_table_holds_and_votes_come_first(text, format, kind):
    found = read_one(text)
    assert (found.format, found.kind) == (format, kind)
    looks = inspect(text.encode(), "rows.csv")
    assert (looks.format, looks.kind, looks.missing) == (format, kind, ())


def test_a_column_of_another_name_can_be_given():
    text = "item_id,who,judge,points\n1,m,j,4\n"
    named = (("model", "who"), ("score", "points"))
    votes = read_one(text, mapping=named).votes
    assert (votes["score"].to_pylist(), votes["model"].to_pylist()) == ([4.0], ["m"])
    with pytest.raises(
        AppellateError, match=r"rows.csv: line 1: no column for score.*--map score=COLUMN"
    ):
        read_one(text, "rows.csv", format="direct_scores")
    with pytest.raises(UnknownName, match="model_a"):
        read_one(text, "rows.csv", format="direct_scores", mapping=(("model_a", "who"),))
    assert inspect(text.encode(), "x.csv", ReadOptions(format="direct_scores")).missing == (
        "score",
    )


# direct scores
# --------------------------------------------------------------------------------------------


def check_mt_bench_single_grades(path, judge, grades):
    found = read([(path.name, path)])[0]
    raw = pd.DataFrame([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
    assert (found.format, found.votes.num_rows, found.rejects.num_rows) == (
        "mtbench_single",
        grades,
        0,
    )
    assert len(raw) == grades
    with loaded(found) as store:
        scores = queries.direct_scores(store, ALL)[judge]
        means = {
            scores.models[m]: scores.score[scores.model == m].mean()
            for m in np.unique(scores.model)
        }
        assert means == raw[raw["score"] > 0].groupby("model")["score"].mean().to_dict()
        assert len(scores) == (raw["score"] > 0).sum()
        assert store.datasets()[0].items == raw.groupby(["question_id", "turn"]).ngroups
    turns = raw["question_id"].astype(str) + "-" + raw["turn"].astype(str)
    assert found.votes["item_id"].to_pylist() == turns.tolist()
    assert dict(found.votes["extra"][0].as_py()) == {
        "turn": "1",
        "judge_prompt": raw["judge"][0][1],
    }


def test_mt_bench_single_grades_match_a_plain_reading(native):
    check_mt_bench_single_grades(native / "mtbench" / "judge-1_single.jsonl", "judge-1", 8)


def test_mt_bench_grades_that_are_none_are_failures_not_scores():
    record = {
        "question_id": 81,
        "model": "m",
        "judge": ["gpt-4", "v1"],
        "judgment": "text",
        "turn": 1,
    }
    given = [-1, 0.5, 11, None, 1e999, 10**400, 1, 10]
    lines = [
        json.dumps(record | {"score": score, "turn": turn}) for turn, score in enumerate(given)
    ]
    lines.append(json.dumps(record | {"score": -1, "judgment": "$ERROR$", "turn": 90}))
    lines += [json.dumps(record | {"score": "9"}), json.dumps(record | {"score": 5, "model": None})]
    found = read_one("\n".join(lines), "s.jsonl")
    assert found.votes["score"].to_pylist() == [None] * 6 + [1.0, 10.0, None]
    assert found.votes["status"].to_pylist() == ["unparsed"] * 6 + ["ok", "ok", "error"]
    rejects = found.rejects.to_pylist()
    assert [(r["row"], r["column"]) for r in rejects] == [(10, "score"), (11, "model")]


def test_scores_are_counted_as_pandas_counts_them():
    rng = np.random.default_rng(5)
    n = 4000
    frame = pd.DataFrame(
        {
            "dataset": rng.choice(["d", "e"], n),
            "item_id": rng.integers(0, 60, n).astype(str),
            "model": rng.choice(["x", "y", "z"], n),
            "judge": rng.choice(["j", "k"], n),
            "run": np.arange(n),
            "score": rng.integers(1, 11, n).astype(float),
            "rater_type": "llm",
        }
    )
    frame["category"] = np.where(frame["item_id"].astype(int) % 3 == 0, "math", "code")
    frame.loc[frame["judge"] == "k", "rater_type"] = "human"
    with loaded(read_one(frame.to_csv(index=False))) as store:
        for selection, rows in (
            (ALL, frame),
            (Selection(datasets=("e",)), frame[frame["dataset"] == "e"]),
            (Selection(judges=("j",), where=(("category", "math"),)),
             frame[(frame["judge"] == "j") & (frame["category"] == "math")]),
            (Selection(rater_types=("human",)), frame[frame["rater_type"] == "human"]),
            (Selection(where=(("run", "7"),)), frame[frame["run"] == 7]),
        ):  # fmt: skip
            found = queries.direct_scores(store, selection)
            assert sorted(found) == sorted(rows["judge"].unique())
            for judge, scores in found.items():
                got = pd.DataFrame(
                    {
                        "model": [scores.models[i] for i in scores.model],
                        "category": [scores.categories[i] for i in scores.category],
                        "run": scores.run,
                        "score": scores.score,
                    }
                ).sort_values("run", ignore_index=True)
                wanted = rows[rows["judge"] == judge][["model", "category", "run", "score"]]
                pd.testing.assert_frame_equal(got, wanted.reset_index(drop=True), check_dtype=False)
        everything = queries.direct_scores(store, ALL)
        items = np.concatenate([scores.item for scores in everything.values()])
        assert (
            len(np.unique(items))
            == frame.groupby(["dataset", "item_id"]).ngroups
            == items.max() + 1
        )


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("nan", "not a finite number"),
        ("inf", "not a finite number"),
        ("1e999", "too large"),
        ("1e300", "beyond a million"),
        ("seven", "not a number"),
    ],
)
def test_a_score_that_is_none_is_rejected_by_place(cell, reason):
    found = read_one(f"item_id,model,judge,score\n1,m,j,5\n2,m,j,{cell}\n")
    (reject,) = found.rejects.to_pylist()
    assert (reject["row"], reject["column"], reject["value"]) == (2, "score", cell)
    assert reason in reject["reason"]
    assert found.votes["score"].to_pylist() == [5.0]


def test_repeated_scores_are_runs_duplicates_or_conflicts():
    head = "item_id,model,judge,{}score\n"
    again = read_one(head.format("") + "1,m,j,5\n1,m,j,6\n")
    assert again.votes["run"].to_pylist() == [0, 1]
    assert "numbered as runs 0 to 1" in again.notes[-1]
    same = read_one(head.format("run,") + "1,m,j,0,5\n1,m,j,0,5\n")
    assert (same.votes.num_rows, same.duplicates) == (1, 1)
    other = read_one(head.format("run,") + "1,m,j,0,5\n1,m,j,0,6\n2,m,j,0,1\n")
    assert (other.votes.num_rows, other.rejects["row"].to_pylist()) == (1, [1, 2])


# rankings
# -------------------------------------------------------------------------------------------------


def test_a_ranking_is_read_with_all_that_it_says():
    found = read_one(LISTS)
    assert (found.units, found.votes.num_rows, found.rejects.num_rows) == (2, 6, 0)
    assert found.votes["chosen"].to_pylist() == [1, 0, 0, 0, 1, 0]
    assert found.votes["is_best"].to_pylist() == [1, 0, 0, 0, 1, 0]
    with loaded(found) as store:
        lists = queries.list_rankings(store, ALL)["j"]
        assert lists.candidates == ("a", "b", "c")
        assert lists.candidate.tolist() == [0, 1, 2, 1, 0, 2]
        assert lists.slot.tolist() == [0, 1, 2] * 2
        assert lists.score.tolist() == [90, 70, 10, 60, 60, 20]
        assert lists.rank.tolist() == [1, 2, 3, 2, 1, 3]
        assert lists.calibrated_uncertainty.tolist() == [0, 1, 0, 0, 0, 0]
        assert lists.major_error.tolist() == lists.unsupported.tolist() == [0, 0, 1, 0, 0, 0]
        assert lists.best.tolist() == [1, 0, 0, 0, 1, 0]
    assert (
        "saw b, a, c and ranked a, b, c with scores 60, 60, 20 as shown; the best is a"
        in read_back(found)[1]
    )


def test_what_the_judge_was_unsure_of_is_kept_and_has_no_weight():
    """Caution of the answer is rewarded, doubt of the judge is not: it changes no consensus."""
    doubted = LISTS.replace("calibrated_uncertainty", "uncertain")
    with loaded(read_one(LISTS)) as store:
        cautious = consensus(queries.list_rankings(store, ALL)["j"])
    with loaded(read_one(doubted)) as store:
        doubt = consensus(queries.list_rankings(store, ALL)["j"])
        kept = store.export(kind="rankings").to_pydict()
    assert sorted(kept["uncertain"]) == [0, 0, 0, 0, 0, 1]
    assert set(kept["calibrated_uncertainty"]) == {None}
    assert (doubt.missing, doubt.weights.uncertainty) == (("uncertainty",), 0.0)
    assert (cautious.missing, cautious.weights.uncertainty) == ((), pytest.approx(0.05))
    np.testing.assert_allclose(cautious.uncertainty, [0, 0.5, 0])


def test_without_ranks_all_with_the_top_score_are_chosen():
    text = "item,candidate,judge,slot,score\ni,a,j,A,50\ni,b,j,B,50\ni,c,j,C,1\n"
    assert read_one(text).votes["chosen"].to_pylist() == [1, 1, 0]


def test_slots_from_one_are_kept_from_zero_and_said():
    text = "item,candidate,judge,slot,score\ni,a,j,1,50\ni,b,j,2,60\n"
    found = read_one(text)
    assert found.votes["slot"].to_pylist() == [0, 1]
    assert "Slots in the file begin with 1; they are kept from 0." in found.notes


GOOD = "h,a,j,0,0,9,1\nh,b,j,0,1,8,2\n"
HEAD = "item,candidate,judge,run,slot,score,rank\n"


@pytest.mark.parametrize(
    ("rows", "column", "reason"),
    [
        ("i,a,j,0,0,9,1\ni,b,j,0,0,8,2\n", "slot", "one each"),
        ("i,a,j,0,0,9,1\ni,b,j,0,2,8,2\n", "slot", "one each"),
        ("i,a,j,0,0,9,1\ni,b,j,0,,8,2\n", "slot", "slot is missing"),
        ("i,a,j,0,0,9,1\ni,b,j,0,1,8,1\n", "rank", "one each"),
        ("i,a,j,0,0,9,1\ni,b,j,0,1,8,\n", "rank", "given elsewhere"),
        ("i,a,j,0,0,9,1\ni,b,j,0,1,101,2\n", "score", "outside 0 to 100"),
        ("i,a,j,0,0,9,1\ni,b,j,0,1,nan,2\n", "score", "not a finite number"),
        ("i,a,j,0,0,9,1\ni,b,j,0,1,1e400,2\n", "score", "too large"),
        ("i,a,j,0,0,9,1\ni,b,j,0,99999999999999999999999,8,2\n", "slot", "64 bits"),
        ("i,a,j,0,0,9,1\n", "candidate", "two candidates or more"),
        ("i,a,j,0,0,9,1\ni,a,j,0,1,8,2\n", "candidate", "twice in the ranking"),
        ("i,a,j,0,0,9,1\ni,,j,0,1,8,2\n", "candidate", "candidate is missing"),
        ("i,a,j,0,0,9,1\ni,b,,0,1,8,2\n", "judge", "judge is missing"),
        ("i,a,j,0,0,9,1\ni,b,j,x,1,8,2\n", "run", "not a whole number"),
        ("i,a,j,0,0,9,1\ni,b,j,0,1\n", "(whole row)", "5 cells where the header has 7"),
    ],
)
def test_a_ranking_with_a_bad_row_is_rejected_whole(rows, column, reason):
    text = HEAD + GOOD + "g,a,j,0,0,9,1\ng,b,j,0,1,8,2\n" + rows
    found = read_one(text)
    rejects = found.rejects.to_pylist()
    assert any(r["column"] == column and reason in r["reason"] for r in rejects), rejects
    assert set(found.votes["item_id"].to_pylist()) <= {"g", "h"}
    assert "h" in found.votes["item_id"].to_pylist()
    # Every row is either loaded or rejected with its number.
    assert sorted([*found.votes["row"].to_pylist(), *(r["row"] for r in rejects)]) == list(
        range(1, text.count("\n"))
    )


def test_a_file_cut_between_rows_loses_the_ranking_that_it_cut():
    lines = LISTS.splitlines(keepends=True)
    found = read_one("".join(lines[:-1]))
    assert found.votes["run"].to_pylist() == [0, 0, 0]
    assert "fewer candidates" in found.rejects["reason"][0].as_py()


def test_rankings_that_contradict_themselves_are_refused():
    head = "item,candidate,judge,run,slot,rank,chosen,is_best\n"
    chosen = read_one(head + "i,a,j,0,0,1,0,1\ni,b,j,0,1,2,1,0\n")
    assert chosen.votes.num_rows == 0
    assert "contradicts the ranks" in chosen.rejects["reason"][0].as_py()
    best = read_one(head + "i,a,j,0,0,1,1,1\ni,b,j,0,1,2,0,0\ni,a,j,1,0,1,1,0\ni,b,j,1,1,2,0,1\n")
    assert best.votes.num_rows == 0
    assert "says otherwise" in best.rejects["reason"][0].as_py()
    nothing = read_one("item,candidate,judge,slot,score\ni,a,j,0,\ni,b,j,1,\n")
    assert nothing.votes["status"].to_pylist() == ["unparsed"] * 2
    repeated = read_one(LISTS + LISTS.split("\n", 1)[1])
    assert (repeated.units, repeated.duplicates, repeated.rejects.num_rows) == (2, 2, 0)


# choices
# --------------------------------------------------------------------------------------------------


def check_choices_of_each_judge(shared_data):
    path = shared_data / "votes" / "listwise_choices.csv.gz"
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    found = read([(path.name, path)])[0]
    assert (found.kind, found.rows, found.units) == ("rankings", 52890, 52890)
    assert found.rejects.num_rows == 0
    with loaded(found) as store:
        lists = queries.list_rankings(store, ALL)
        failed = {rater.name: rater.failed for rater in queries.summary(store, ALL).rankings}
        assert set(lists) == set(raw["judge"])
        for judge, rows in raw.groupby("judge"):
            own = lists[judge]
            picked = rows[rows["pick_slot"] != ""]
            right = (own.best == 1)[own.chosen == 1]
            assert right.mean() == picked["correct"].astype(int).mean()
            assert right.sum() == rows["correct"].astype(int).sum()
            assert len(own) == 4 * len(picked)
            assert failed[judge] == (rows["pick_slot"] == "").sum()
            slots = np.bincount(own.slot[own.chosen == 1], minlength=4)
            assert slots.tolist() == [(picked["pick_slot"] == letter).sum() for letter in "ABCD"]
            gold = np.bincount(own.slot[own.best == 1], minlength=4)
            assert gold.tolist() == [(picked["gold_slot"] == letter).sum() for letter in "ABCD"]
        part = queries.list_rankings(store, Selection(where=(("category", "Math"),)))
        assert (
            sum(map(len, part.values()))
            == 4 * ((raw["subset"] == "Math") & (raw["pick_slot"] != "")).sum()
        )
        assert store.load(found).already_loaded
        info = store.datasets()[0]
        assert (info.name, info.rankings, info.items, info.judges) == (
            "RewardBench2",
            52890,
            1763,
            5,
        )


def test_a_choice_becomes_a_ranking_and_a_failed_one_stays_failed():
    found = read_one(CHOICES)
    assert found.votes["candidate"].to_pylist() == ["0", "1", "2", "1", "0", "2", "2", "0", "1"]
    assert found.votes["chosen"].to_pylist() == [1, 0, 0, 1, 0, 0, None, None, None]
    assert found.votes["is_best"].to_pylist() == [1, 0, 0, 0, 1, 0, 0, 1, 0]
    assert found.votes["status"].to_pylist() == ["ok"] * 6 + ["unparsed"] * 3
    assert "1 of them without a ranking" in describe_import(found)
    assert "gave no ranking (unparsed); the best is 0" in read_back(found)[-1]


@given(st.permutations(range(6)))
@settings(max_examples=30)
def test_a_permutation_survives_the_loss_of_its_leading_zero(order):
    text = "".join(map(str, order))
    assert parse_permutation(text) == tuple(order)
    assert parse_permutation(str(int(text))) == tuple(order)
    assert parse_permutation("-".join(map(str, order))) == tuple(order)


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        ("B,i,s,j,0,1123,A,A,1,0", "permutation", "shown once"),
        ("B,i,s,j,0,0145,A,A,0,1", "permutation", "shown once"),
        ("B,i,s,j,0,,A,A,0,1", "permutation", "is missing"),
        ("B,i,s,j,0,102,B,D,,0", "pick_slot", "names no slot"),
        ("B,i,s,j,0,102,B,1,,0", "pick_slot", "not a slot"),
        ("B,i,s,j,0,102,B,A,0,0", "pick_candidate", "another candidate"),
        ("B,i,s,j,0,102,B,A,1,1", "correct", "contradicts"),
        ("B,i,s,j,0,102,B,,-1,0", "pick_candidate", "names no candidate"),
    ],
)
def test_a_bad_choice_is_rejected_by_place(row, column, reason):
    found = read_one(CHOICES.replace("B,i,s", "B,h,s") + row + "\n")
    (reject,) = found.rejects.to_pylist()
    assert (reject["row"], reject["column"]) == (4, column)
    assert reason in reject["reason"]
    assert found.units == 3


def test_permutations_without_a_zero_are_not_guessed():
    with pytest.raises(AmbiguousLabels, match="no permutation shows a 0"):
        read_one("item,judge,permutation,pick_slot\ni,j,123,A\ni,k,123,B\n")


# the store
# ------------------------------------------------------------------------------------------------


def test_the_same_again_changes_nothing_and_conflicts_are_kept_or_replaced():
    first, scores = read_one(LISTS, "rows.csv"), read_one(SCORES, "rows.csv")
    changed = read_one(LISTS.replace("i,c,j,0,2,10,3", "i,c,j,0,2,11,3"), "rows.csv")
    with loaded(first, scores) as store:
        before = store.export(kind="rankings").to_pylist()
        assert store.load(first).already_loaded
        assert store.load(scores).sentence == "loaded before as rows: nothing to do"
        again = store.load(read_one(LISTS + "\n", "rows.csv"))
        assert (again.loaded, again.duplicates, again.conflicts) == (0, 2, 0)
        kept = store.load(changed)
        assert (kept.loaded, kept.duplicates, kept.conflicts, kept.replaced) == (0, 1, 1, 0)
        assert store.export(kind="rankings").to_pylist() == before
        taken = store.load(changed, on_conflict="replace")
        assert (taken.duplicates, taken.conflicts, taken.replaced) == (1, 1, 1)
        assert len(store.export(kind="rankings")) == len(before)
        assert 11 in store.export(kind="rankings")["score"].to_pylist()
        other = store.load(read_one(SCORES.replace("3.5", "4"), "rows.csv"))
        assert (other.loaded, other.duplicates, other.conflicts) == (0, 3, 1)
        assert store.datasets()[0].scores == 4


def test_rename_delete_and_what_nothing_uses(tmp_path):
    with loaded(read_one(SCORES, "rows.csv"), read_one(LISTS, "rows.csv")) as store:
        store.rename_dataset("rows", "mine")
        assert [(d.name, d.votes, d.scores, d.rankings, d.items) for d in store.datasets()] == [
            ("mine", 0, 4, 2, 3)
        ]
        store.load(
            votes_reading(
                [{"item_id": "1", "judge": "v", "vote": 1, "model_a": "x", "model_b": "y"}]
            )
        )
        store.delete_dataset("mine")
        for table, left in (
            ("scores", []),
            ("rankings", []),
            ("judges", ["v"]),
            ("models", ["x", "y"]),
        ):
            names = store.query(f"select * from {table} order by id")
            assert (names["name"].to_pylist() if left else names.to_pylist()) == left
        assert store.load(read_one(SCORES)).loaded == 4


def test_two_data_sets_of_a_file_loaded_into_one():
    text = "dataset," + LISTS.replace("\ni,", "\nd,i,").replace("\nd,i,b,j,1", "\ne,i,b,j,0")
    text = text.replace("\nd,i,a,j,1", "\ne,i,a,j,0").replace("\nd,i,c,j,1", "\ne,i,c,j,0")
    with Store.open() as store:
        report = store.load(read_one(text), dataset="all")
        assert (report.loaded, report.conflicts) == (1, 1)
        assert store.export(kind="rankings")["score"].to_pylist() == [90, 70, 10]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_an_export_loads_into_the_same_store(ending, tmp_path):
    hostile = SCORES.replace("q1", "=q1").replace(",a\n", ',"-a ""b"""\n')
    readings = {
        "scores": read_one(hostile),
        "rankings": read_one(LISTS.replace(",b,", ",@b,") + ""),
    }
    with loaded(*readings.values()) as store:
        for kind in readings:
            before = store.export(kind=kind)
            write_file(before, tmp_path / f"{kind}.{ending}")
            path = tmp_path / f"{kind}.{ending}"
            again = read([(path.name, path)])[0]
            assert (again.kind, again.rejects.num_rows, again.duplicates) == (kind, 0, 0)
            assert store.load(again).duplicates == readings[kind].units
            with loaded(again) as copy:
                assert copy.export(kind=kind).equals(before)


def test_questions_to_the_wrong_kind_say_what_is_there_instead():
    with loaded(read_one(SCORES, "rows.csv"), read_one(LISTS, "lists.csv")) as store:
        here = Selection(datasets=("rows",))
        said = (
            "No usable vote with data set rows. There are 4 direct scores, "
            "which the page Scores shows."
        )
        with pytest.raises(NoUsableVotes) as error:
            queries.vote_counts(store, here)
        assert str(error.value) == said
        with pytest.raises(
            NoUsableVotes, match="2 listwise rankings, which the page Listwise consensus shows"
        ):
            queries.direct_scores(store, Selection(datasets=("lists",)))
        with pytest.raises(UnknownName, match="No judge named 'nobody'"):
            queries.list_rankings(store, Selection(judges=("nobody",)))
        with pytest.raises(UnknownName, match="No column named 'model_a'"):
            queries.direct_scores(store, Selection(where=(("model_a", "x"),)))
        found = queries.summary(store, here)
        assert (found.votes, found.judges, found.datasets, found.simulated) == (
            0,
            (),
            ("rows",),
            False,
        )
        assert [(r.name, r.rater_type, r.n, r.failed) for r in found.scores] == [
            ("j", "llm", 3, 0),
            ("k", "llm", 0, 1),
        ]
        assert found.categories == {"math": 0}
        assert stored(found).sentence.startswith(
            "3 direct scores of 2 raters are in; 1 more without a score: see the page Scores"
        )


def test_the_command_line_imports_and_exports_every_kind(tmp_path, capsys):
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    (tmp_path / "lists.csv").write_text(LISTS, encoding="utf-8")
    store = str(tmp_path / "s.duckdb")
    files = [str(tmp_path / "scores.csv"), str(tmp_path / "lists.csv")]
    assert main(["import", *files, "--store", store]) == 0
    said = capsys.readouterr().out
    assert "scores.csv: 4 direct scores loaded into scores" in said
    assert "lists.csv: 2 listwise rankings loaded into lists" in said
    for kind, rows in (("scores", 4), ("rankings", 6)):
        out = tmp_path / f"out-{kind}.csv"
        assert main(["export", str(out), "--store", store, "--what", kind]) == 0
        assert len(pd.read_csv(out)) == rows
    assert main(["export", str(tmp_path / "v.csv"), "--store", store]) == 2
    assert "No usable vote" in capsys.readouterr().err
    assert main(["audit", files[0]]) == 0
    assert "Judges of single answers: 1" in capsys.readouterr().out


def test_every_column_of_a_ranking_goes_through_the_store():
    row = {
        "item_id": "i",
        "judge": "j",
        "run": 4,
        "category": "c",
        "rater_type": "human",
        "status": "ok",
    }
    row |= {
        "prompt": "p",
        "response": "r",
        "rationale": "why",
        "prompt_hash": "h",
        "temperature": 0.7,
    }
    rows = [
        row | {"candidate": c, "slot": k, "score": 9 - k, "rank": k + 1} for k, c in enumerate("ab")
    ]
    frame = pd.DataFrame(rows).assign(
        cost=1e-7,
        calibrated_uncertainty=1,
        uncertain=0,
        major_error=1,
        unsupported=0,
        chosen=[1, 0],
    )
    frame = frame.assign(is_best=[0, 1], dataset="d", source="web")
    with loaded(read_one(frame.to_csv(index=False))) as store:
        found = store.export(kind="rankings").to_pandas()
    assert set(found) == {*RANKINGS.names, "source"}
    pd.testing.assert_frame_equal(found[list(frame)], frame, check_dtype=False)


def test_readme_and_page_templates_stay_votes():
    demo = REPOSITORY / "data" / "demo_votes.csv.gz"
    assert inspect(demo, demo.name).kind == "votes"
