"""Items from CSV and from the store, and jobs that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging_jobs import lists, pairs
from readings import reading

from core.judging.items import items_of, read_items
from core.judging.job import Job, Judge
from core.store import Store
from core.votes import InvalidOption, NoUsableVotes, UnreadableFile


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "items.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_smallest_file(tmp_path):
    (item,) = read_items(file(tmp_path, 'prompt,response_a,response_b\n"What, now?","one\ntwo",three\n'))
    assert (item.item_id, item.prompt, item.responses) == ("1", "What, now?", ("one\ntwo", "three"))
    assert (item.models, item.gold, item.category) == (("A", "B"), None, None)


def test_all_columns(tmp_path):
    text = "item_id,prompt,response_a,response_b,model_a,model_b,gold,category,estimation\n"
    text += "x,p,r,s,left,right,-1,maths,yes\ny,p,r,s,left,right,tie,maths,no\nz,p,r,s,left,right,right,,\n"
    found = read_items(file(tmp_path, text))
    assert [item.gold for item in found] == [-1, 0, -1]
    assert [item.estimation for item in found] == [True, False, False]
    assert [item.category for item in found] == ["maths", "maths", None]


def test_candidates_of_different_number(tmp_path):
    text = (
        "prompt,candidate_1,candidate_2,candidate_3,model_1,gold\np,a,b,c,first,first\nq,a,b,,first,first\n"
    )
    three, two = read_items(file(tmp_path, text))
    assert (three.models, three.best, three.gold) == (("first", "2", "3"), ("first",), None)
    assert (two.models, two.gold) == (("first", "2"), 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs the columns"),
        ("prompt,response_a\np,r\n", "needs the columns"),
        ("prompt,response_a,response_b\n", "no row"),
        ("prompt,response_a,response_b\np,r\n", "row 1: has more or fewer cells"),
        ("prompt,response_a,response_b\np,r,s,t\n", "row 1: has more or fewer cells"),
        ("prompt,response_a,response_b\np,r,s\np,,s\n", "row 2: needs a prompt"),
        ("prompt,response_a,response_b,gold\np,r,s,maybe\n", "gold: 'maybe'"),
        ("prompt,response_a,response_b,estimation\np,r,s,maybe\n", "estimation: 'maybe'"),
        ("item_id,prompt,response_a,response_b\n1,p,r,s\n1,q,r,s\n", "twice"),
        ("prompt,response_a,response_b,model_a,model_b\np,r,s,m,m\n", "same author"),
        ("prompt,prompt,response_a,response_b\np,p,r,s\n", "named twice"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, text, said):
    with pytest.raises(UnreadableFile, match=said):
        read_items(file(tmp_path, text))


def test_no_file_and_no_text(tmp_path):
    with pytest.raises(UnreadableFile):
        read_items(tmp_path / "absent.csv")
    (tmp_path / "items.csv").write_bytes(b"prompt,response_a\xff")
    with pytest.raises(UnreadableFile, match="UTF-8"):
        read_items(tmp_path / "items.csv")


def test_items_of_a_data_set_with_texts():
    row = {"dataset": "d", "model_a": "x", "model_b": "y", "judge": "j", "vote": 1, "gold": -1}
    with Store.open() as store:
        texts = {"prompt": "p", "response_a": "r", "response_b": "s"}
        rows = [{**row, **texts, "item_id": "1"}, {**row, **texts, "item_id": "1", "judge": "k"}]
        store.load(reading([*rows, {**row, **texts, "prompt": None, "item_id": "2"}]))
        store.load(reading([{**row, "dataset": "bare", "item_id": "1"}], name="bare.csv"))
        (item,) = items_of(store, "d")
        assert (item.item_id, item.models, item.responses, item.gold) == ("1", ("x", "y"), ("r", "s"), -1)
        with pytest.raises(NoUsableVotes, match="texts"):
            items_of(store, "bare")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"votes": 0}, "at least 1"),
        ({"votes": 3}, "even"),
        ({"temperature": 3.0}, "0 to 2"),
        ({"protocol": "panel"}, "protocol is 'panel'"),
        ({"orders": "ba"}, "orders is 'ba'"),
        ({"confidence": "sure"}, "confidence is 'sure'"),
        ({"confidence": "multi", "votes": 1}, "2 votes"),
        ({"confidence": "logprob", "protocol": "score"}, "logprob"),
        ({"confidence": "self", "protocol": "listwise"}, "no confidence"),
        ({"few_shot": 2, "protocol": "score"}, "few-shot"),
        ({"samples_of": ("x",)}, "no judge"),
        ({"protocol": "usc"}, "one judge"),
        ({"protocol": "fuser", "samples_of": ("x",)}, "two judges"),
        ({"items": lists(1), "protocol": "greedy"}, "4 responses"),
        ({"dataset": " "}, "data set"),
        ({"judges": ()}, "judges"),
    ],
)
def test_jobs_that_cannot_be(options, said):
    judge = Judge(model="openai/x", base_url="http://localhost:1/v1")
    with pytest.raises(InvalidOption, match=said):
        Job(**{"dataset": "d", "items": pairs(2), "judges": (judge,), **options})
