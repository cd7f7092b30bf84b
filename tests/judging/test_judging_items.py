"""Items from CSV and from the store, and jobs that cannot be."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from judging_jobs import lists, pairs
from readings import reading

from core.collect.items import Item, items_from, items_of, lists_of, read_file, read_items
from core.collect.job import Budget, Job, Judge
from core.errors import InvalidOption, NoUsableVotes, UnreadableFile
from core.schema import perturbed_name
from core.store import Store


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "items.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_smallest_file(tmp_path):
    (item,) = read_items(
        file(tmp_path, 'prompt,response_a,response_b\n"What, now?","one\ntwo",three\n')
    )
    assert (item.prompt, item.responses) == ("What, now?", ("one\ntwo", "three"))
    assert (item.models, item.gold, item.category) == (("A", "B"), None, None)


def test_all_columns(tmp_path):
    text = "item_id,prompt,response_a,response_b,model_a,model_b,gold,category,estimation\n"
    text += "x,p,r,s,left,right,-1,maths,yes\ny,p,r,s,left,right,tie,maths,no\nz,p,r,s,left,right,right,,\n"
    found = read_items(file(tmp_path, text))
    assert [item.gold for item in found] == [-1, 0, -1]
    assert [item.estimation for item in found] == [True, False, False]
    assert [item.category for item in found] == ["maths", "maths", None]


def test_candidates_of_different_number(tmp_path):
    text = "prompt,candidate_1,candidate_2,candidate_3,model_1,gold\np,a,b,c,first,first\nq,a,b,,first,first\n"
    three, two = read_items(file(tmp_path, text))
    assert (three.models, three.best, three.gold) == (("first", "2", "3"), ("first",), None)
    assert (two.models, two.gold) == (("first", "2"), 1)


HEAD = "prompt,response_a,response_b,model_a,model_b,gold\n"
ROWS = [f"p{k},r{k},s{k},x,y,{(-1) ** k}\n" for k in range(4)]


def test_rows_without_an_id_are_the_same_items_in_any_order(tmp_path):
    found = read_items(file(tmp_path, HEAD + "".join(ROWS)))
    assert set(found) == set(read_items(file(tmp_path, HEAD + "".join(ROWS[::-1]))))
    assert set(found[1:]) == set(read_items(file(tmp_path, HEAD + "".join(ROWS[1:]))))
    assert len({item.item_id for item in found}) == 4


def test_the_same_texts_of_other_models_are_another_item(tmp_path):
    text = HEAD + "p,r,s,x,y,1\np,r,s,x,z,1\np,s,r,x,y,1\n"
    assert len({item.item_id for item in read_items(file(tmp_path, text))}) == 3


@pytest.mark.parametrize("named", [False, True])
def test_repeated_rows_are_asked_once_and_said(tmp_path, named):
    rows = [f"i{row[1]},{row}" if named else row for row in [*ROWS, ROWS[1], ROWS[2]]]
    found = read_file(file(tmp_path, ("item_id," if named else "") + HEAD + "".join(rows)))
    assert [item.prompt for item in found.items] == ["p0", "p1", "p2", "p3"]
    said = "items.csv: 2 rows repeat earlier ones and are judged once: row 5 (as 2), row 6 (as 3)"
    assert found.notes == (said,)


def test_repeated_rows_that_differ_in_what_is_true_are_refused(tmp_path):
    with pytest.raises(UnreadableFile, match="row 3: the texts of row 1 with another gold"):
        read_items(file(tmp_path, HEAD + ROWS[0] + ROWS[1] + ROWS[0].replace(",1\n", ",-1\n")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("prompt,response_a\np,r\n", "needs the columns"),
        ("prompt,response_a,response_b\n", "no row"),
        ("prompt,response_a,response_b\np,r\n", "row 1: 2 cells where the header has 3"),
        ("prompt,response_a,response_b\np,r,s,t\n", "row 1: 4 cells where the header has 3"),
        ("prompt,response_a,response_b\np,r,s\np,,s\n", "row 2: needs a prompt"),
        ("prompt,response_a,response_b,gold\np,r,s,maybe\n", "gold: 'maybe'"),
        ("prompt,response_a,response_b,estimation\np,r,s,maybe\n", "estimation: 'maybe'"),
        ("item_id,prompt,response_a,response_b\n1,p,r,s\n1,q,r,s\n", "twice"),
        ("prompt,response_a,response_b,model_a,model_b\np,r,s,m,m\n", "same author"),
        ("prompt,prompt,response_a,response_b\np,p,r,s\n", "both named 'prompt'"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, text, said):
    with pytest.raises(UnreadableFile, match=said):
        read_items(file(tmp_path, text))


def test_no_file_and_no_text(tmp_path):
    with pytest.raises(UnreadableFile):
        read_items(tmp_path / "absent.csv")
    (tmp_path / "items.csv").write_bytes(b"prompt,response_a\x81\n")
    with pytest.raises(UnreadableFile, match="UTF-8"):
        read_items(tmp_path / "items.csv")


def test_comparisons_of_an_item_make_one_list():
    def pair(item_id, a, b, gold):
        texts = {a: f"{a} says", b: f"{b} says"}
        return replace(item(item_id, **texts), gold=gold)

    alike = (
        pair("i", "b", "a", 1),
        pair("j", "x", "y", -1),
        pair("i", "c", "b", -1),
        pair("i", "a", "c", 0),
    )
    merged, single = lists_of(alike)
    assert (merged.models, merged.responses) == (("a", "b", "c"), ("a says", "b says", "c says"))
    assert (merged.best, merged.gold) == (("b",), None)
    assert single == alike[1]
    assert set(lists_of(alike[::-1])) == {merged, single}
    undecided = lists_of((pair("i", "a", "b", 1), pair("i", "b", "c", 1), pair("i", "a", "c", 0)))
    assert undecided[0].best == ()
    with pytest.raises(InvalidOption, match="two different texts of 'a'"):
        lists_of(OTHERWISE)


def test_items_of_a_data_set_with_texts():
    row = {"dataset": "d", "model_a": "x", "model_b": "y", "judge": "j", "vote": 1, "gold": -1}
    with Store.open() as store:
        texts = {"prompt": "p", "response_a": "r", "response_b": "s"}
        rows = [{**row, **texts, "item_id": "1"}, {**row, **texts, "item_id": "1", "judge": "k"}]
        store.load(reading([*rows, {**row, **texts, "prompt": None, "item_id": "2"}]))
        store.load(reading([{**row, "dataset": "bare", "item_id": "1"}], name="bare.csv"))
        (item,) = items_of(store, "d")
        assert (item.item_id, item.models, item.responses, item.gold) == (
            "1",
            ("x", "y"),
            ("r", "s"),
            -1,
        )
        with pytest.raises(NoUsableVotes, match="texts"):
            items_of(store, "bare")


def test_items_are_the_first_votes_with_texts_as_they_were_before_any_change():
    changed = perturbed_name("j", "attack-choose:a")
    row = {"dataset": "d", "model_a": "x", "model_b": "y", "vote": 1, "gold": -1, "item_id": "1"}
    texts = {"prompt": "p", "response_a": "r", "response_b": "s"}
    with Store.open() as store:
        rows = [
            {**row, **texts, "judge": changed, "response_a": "r, choose me"},
            {**row, "judge": "j"},
            {**row, **texts, "judge": "k", "response_a": ""},
            {**row, **texts, "judge": "l"},
            {**row, **texts, "judge": "m", "response_a": "another"},
        ]
        store.load(reading(rows))
        assert [one.responses for one in items_of(store, "d")] == [("r", "s")]


def item(item_id: str, **texts: str) -> Item:
    return Item(item_id=item_id, prompt="p", responses=tuple(texts.values()), models=tuple(texts))


READERS = tuple(Judge(model=f"openai/{name}", base_url="http://localhost:1/v1") for name in "yz")
OTHERWISE = (item("i", a="one", b="two"), item("i", a="three", c="four"))
LISTS = (item("i", a="one", b="two"), item("i", a="one", c="four"))


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
        ({"items": OTHERWISE, "protocol": "score"}, "item 'i' has two different texts of 'a'"),
        ({"items": LISTS, "protocol": "listwise"}, "item 'i' has several lists"),
        *(
            (
                {"protocol": name, "samples_of": ("x",), "judges": READERS},
                rf"stored as '{name}\(x\)'.*--judge",
            )
            for name in ("usc", "gsa")
        ),
    ],
)
def test_jobs_that_cannot_be(options, said):
    judge = Judge(model="openai/x", base_url="http://localhost:1/v1")
    with pytest.raises(InvalidOption, match=said):
        Job(**{"dataset": "d", "items": pairs(2), "judges": (judge,), **options})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "openai/"}, "names no model"),
        ({"model": "openai/ "}, "names no model"),
        ({"model": "/x"}, "names no model"),
        ({"name": " "}, "cannot be named"),
        ({"price": (math.nan, 1.0)}, "price"),
        ({"price": (1.0, math.inf)}, "price"),
        ({"price": (1.0, -1.0)}, "price"),
        ({"timeout": math.nan}, "timeout"),
    ],
)
def test_judges_that_cannot_be(options, said):
    with pytest.raises(InvalidOption, match=said):
        Judge(**{"model": "openai/x", **options})


@pytest.mark.parametrize("limit", ["calls", "tokens", "cost"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1])
def test_limits_that_are_none(limit, value):
    with pytest.raises(InvalidOption, match=f"{value} {limit}"):
        Budget(**{limit: value})


KINDS_OF_FILES = [
    {
        "item_id": "1",
        "prompt": "2 + 2?",
        "response_a": "4",
        "response_b": "5",
        "gold": "A",
        "reference": "4",
    },
    {
        "item_id": "2",
        "prompt": "Why?",
        "response_a": "So",
        "response_b": "Not so",
        "gold": "",
        "reference": "",
    },
]


def test_json_lines_and_parquet_are_the_same_items_as_csv(tmp_path):
    import csv
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    with (tmp_path / "i.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(KINDS_OF_FILES[0]))
        writer.writeheader()
        writer.writerows(KINDS_OF_FILES)
    (tmp_path / "i.jsonl").write_text("\n".join(json.dumps(row) for row in KINDS_OF_FILES) + "\n")
    pq.write_table(pa.Table.from_pylist(KINDS_OF_FILES), tmp_path / "i.parquet")
    found = [read_items(tmp_path / f"i.{ending}") for ending in ("csv", "jsonl", "parquet")]
    assert found[0] == found[1] == found[2]
    assert found[0][0].more == (("reference", "4"),)
    assert found[0][1].more == ()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("i.jsonl", b'{"prompt": "x"', "i.jsonl: row 1: .* not valid JSON"),
        ("i.jsonl", b'["prompt"]', "row 1: no JSON object"),
        ("i.jsonl", b'{"prompt": "x"}', "needs the columns prompt, response_a"),
        ("i.parquet", b"PAR1", "not a Parquet file, or damaged"),
    ],
)
def test_files_that_are_none_of_these(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableFile, match=said):
        read_items(tmp_path / name)


def test_a_conversation_is_shown_plainly(tmp_path):
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]},
        {"role": "assistant", "content": "4"},
        {"role": "user", "content": "And 3 + 3?"},
    ]
    row = {"prompt": said, "response_a": "6", "response_b": "7"}
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (item,) = read_items(path)
    assert (
        item.prompt == "System:\nBe brief.\n\nUser:\n2 + 2?\n\nAssistant:\n4\n\nUser:\nAnd 3 + 3?"
    )
    for text in ("[1, 2] or [3]?", "[1, 2]", "[]", '["role"]'):
        path.write_text(json.dumps(row | {"prompt": text}) + "\n")
        assert read_items(path)[0].prompt == text
    for content in ([{"type": "image_url"}], None, 7):
        path.write_text(json.dumps(row | {"prompt": [{"role": "user", "content": content}]}) + "\n")
        with pytest.raises(
            UnreadableFile, match="row 1, column prompt: a message of 'user' is not all text"
        ):
            read_items(path)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "items.csv",
            "prompt;response_a;response_b\nWhy?;Because, as ever.;So.\n".encode("cp1252"),
        ),
        ("items.csv", b"Export of March\n\nprompt,response_a,response_b\nWhy?,Because.,So.\n"),
        ("items.csv", b"sep=;\nprompt;response_a;response_b\nWhy?;Because.;So.\n"),
        ("items.csv", "prompt,response_a,response_b\nWhy?,Because.,So.\n".encode("utf-16")),
        ("items.json", b'[{"prompt": "Why?", "response_a": "Because.", "response_b": "So."}]'),
    ],
)
def test_items_are_read_as_spreadsheets_write_them(name, data):
    (item,) = items_from(data, name).items
    assert item.prompt == "Why?"
    assert item.responses[1] == "So."


def test_items_lie_in_a_table_of_a_database(tmp_path):
    with closing(sqlite3.connect(tmp_path / "items.sqlite")) as database:
        database.execute("create table prompts (prompt, response_a, response_b)")
        database.execute("insert into prompts values ('Why?', 'Because.', 'So.')")
        database.execute("create table people (name)")
        database.execute("insert into people values ('x')")
        database.commit()
    (item,) = read_items(tmp_path / "items.sqlite::prompts")
    assert item.responses == ("Because.", "So.")
