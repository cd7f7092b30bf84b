"""Scores of two answers to one item become votes where that is asked for."""

import json

import numpy as np
import pandas as pd
import pytest

import core
from core.__main__ import main
from core.errors import InvalidOption, UnknownName
from core.importers import ReadOptions, read

HEAD = "item_id,model,judge,metric,run,score,gold"


def votes_of(rows, *, head=HEAD, **options):
    data = "\n".join([head, *rows, ""]).encode()
    scores, votes = read([("answers.csv", data)], ReadOptions(votes_of="good", **options))
    assert (scores.kind, votes.kind) == ("scores", "votes")
    return votes.votes.to_pylist()


def test_the_higher_score_wins_and_equal_ones_tie():
    rows = ["q1,m2,j,good,0,4,5", "q1,m1,j,good,0,3,5", "q1,m3,j,good,0,4,1", "q1,m1,j,bad,0,1,"]
    found = votes_of(rows)
    assert sorted((v["model_a"], v["model_b"], v["vote"], v["gold"]) for v in found) == [
        ("m1", "m2", -1, 0),
        ("m1", "m3", -1, 1),
        ("m2", "m3", 0, 1),
    ]
    assert {(v["judge"], v["status"], v["position"]) for v in found} == {("j", "ok", None)}


def test_the_margin_is_a_tie_and_less_may_be_better():
    rows = ["q1,m1,j,good,0,.7,", "q1,m2,j,good,0,.6,", "q2,m1,j,good,0,.9,", "q2,m2,j,good,0,.1,"]
    assert [v["vote"] for v in votes_of(rows, tie_margin=0.1)] == [0, 1]
    assert [v["vote"] for v in votes_of(rows, lower_is_better=("good",))] == [-1, -1]


def test_only_scores_of_one_item_judge_and_run_meet():
    rows = [
        *("q1,m1,j,good,0,1,", "q1,m2,j,good,1,2,", "q1,m2,k,good,0,2,", "q2,m2,j,good,0,2,"),
        *("q3,m1,j,good,0,N/A,", "q3,m2,j,good,0,5,"),
    ]
    (only,) = votes_of(rows)
    assert (only["item_id"], only["vote"], only["status"]) == ("q3", None, "unparsed")


def test_what_cannot_be_made_is_said():
    data = f"{HEAD}\nq1,m1,j,good,0,1,\nq2,m2,j,good,0,2,\n".encode()
    with pytest.raises(UnknownName, match=r"--votes-of 'better'.*There are: good"):
        read([("answers.csv", data)], ReadOptions(votes_of="better"))
    with pytest.raises(InvalidOption, match="no item has scores of two models"):
        read([("answers.csv", data)], ReadOptions(votes_of="good"))


def test_votes_are_those_of_plain_pandas():
    rng = np.random.default_rng(4)
    scores = pd.DataFrame(
        [
            (f"q{i}", f"m{m}", judge, "good", run, int(rng.integers(1, 6)))
            for i in range(12)
            for m in range(5)
            for judge in "jk"
            for run in range(2)
            if rng.random() < 0.8
        ],
        columns=HEAD.split(",")[:-1],
    )
    key = ["item_id", "judge", "run"]
    both = scores.merge(scores, on=key, suffixes=("_a", "_b"))
    both = both[both.model_a < both.model_b]
    wanted = {
        (*row[:3], row.model_a, row.model_b): int(np.sign(row.score_a - row.score_b))
        for row in both[[*key, "model_a", "model_b", "score_a", "score_b"]].itertuples(index=False)
    }
    found = votes_of(
        scores.astype(str).agg(",".join, axis=1), head=",".join(scores.columns), tie_margin=0
    )
    names = (*key, "model_a", "model_b")
    assert {tuple(v[name] for name in names): v["vote"] for v in found} == wanted
    assert len(found) == len(wanted) > 200


def test_an_audit_has_both(tmp_path, capsys):
    rng = np.random.default_rng(5)
    rows = [
        f"q{i},m{m},{judge},{rng.integers(1, 6)},{kind}"
        for i in range(60)
        for m in range(2)
        for judge, kind in (("j", "llm"), ("Ann", "human"))
    ]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["item_id,model,judge,score,rater_type", *rows, ""]))
    out = tmp_path / "audit.json"
    arguments = ["audit", str(path), "--votes-of", "score", "--tie-margin", "1", "--gold", "humans"]
    assert main([*arguments, "--json", str(out)]) == 0
    document = json.loads(out.read_text())
    assert document["input"]["votes"] == 120
    assert document["input"]["scores"] == 240
    assert document["judges"]["j"]["accuracy"]["n"] > 0
    frame = core.audit(pd.read_csv(path), votes_of="score", tie_margin=1, gold="humans")
    assert frame.summary.votes == 120
    assert document["overall"]["j"]["metrics"]["score"]
