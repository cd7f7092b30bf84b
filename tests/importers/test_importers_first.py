"""What must be right before anything is judged: whole JSON, labels, gold, and which rows are a
comparison.
"""

import json

import pytest
from one_file import read_one

from core.__main__ import main
from core.errors import InvalidOption, UnreadableFile
from core.importers import ReadOptions, inspect, read

BATTLES = [
    {"id": i, "model_a": "x", "model_b": "y", "winner": winner, "judge": "j"}
    for i, winner in enumerate(
        ["model_a", "model_b", "tie", "both_bad", "tie (bothbad)", "model_a"]
    )
]
WON = [1, -1, 0, 0, 0, 1]
AS_OBJECTS = {
    "a row per line": '{"votes": [\n' + ",\n".join(map(json.dumps, BATTLES)) + "\n]}\n",
    "one line": json.dumps({"name": "arena", "votes": BATTLES, "tags": [], "notes": ["x"]}),
    "indented": json.dumps({"votes": BATTLES}, indent=2),
    "a line that parses alone": json.dumps(
        {"judged": True, "votes": [*BATTLES[:-1], BATTLES[-1] | {"meta": {}}]}
    ).replace('"meta": {}', '"meta":\n{}\n'),
}


@pytest.mark.parametrize("form", AS_OBJECTS)
def test_an_object_that_holds_the_rows_is_read_whole(form):
    reading = read_one(AS_OBJECTS[form], "arena.json")
    assert reading.votes["vote"].to_pylist() == WON
    assert (reading.rows, reading.rejects.num_rows) == (6, 0)


def test_a_large_object_that_is_cut_off_is_refused_as_such():
    text = '{"votes": [\n' + ",\n".join(map(json.dumps, BATTLES)) + "\n"
    with pytest.raises(UnreadableFile, match=r"line 8.*not valid JSON.*cut off"):
        read_one(text, "arena.json")


def test_an_object_of_several_lists_is_refused_by_their_names():
    text = json.dumps({"votes": BATTLES, "models": [{"name": "x"}]}, indent=1)
    with pytest.raises(UnreadableFile, match=r"2 lists of objects .'votes', 'models'."):
        read_one(text, "arena.json")


def test_a_row_that_is_the_whole_file_keeps_its_arrays():
    row = {
        "item_id": 1,
        "judge": "j",
        "vote": -1,
        "messages": [{"role": "user", "content": "Why?"}],
    }
    assert read_one(json.dumps(row), "x.jsonl").votes["vote"].to_pylist() == [-1]


@pytest.mark.parametrize(
    "word", ["both_bad", "bothbad", "both bad", "both_good", "both good", "bothgood"]
)
def test_both_is_a_tie(word):
    text = f"item_id,judge,vote\n1,j,model_a\n2,j,{word}\n3,j,model_b\n"
    assert read_one(text).votes["vote"].to_pylist() == [1, 0, -1]


@pytest.mark.parametrize(
    "labels",
    [
        ("text_a", "text_b"),
        ("response_1", "response_2"),
        ("chosen_a", "chosen_b"),
        ("A++", "B+"),
        ("A+", "B++"),
    ],
)
def test_more_words_for_the_better_response(labels):
    text = "item_id,judge,vote\n1,j,{}\n2,j,{}\n3,j,tie\n".format(*labels)
    assert read_one(text).votes["vote"].to_pylist() == [1, -1, 0]


def test_wildbench_labels_have_their_tie():
    text = "item_id,judge,vote\n" + "".join(
        f"{i},j,{x}\n" for i, x in enumerate(("A++", "A+", "A=B", "B+", "B++"))
    )
    assert read_one(text).votes["vote"].to_pylist() == [1, 1, 0, -1, -1]


SIDES = (
    "item_id,judge,position,vote,gold\n1,j,ab,left,left\n1,j,ba,left,right\n2,j,ba,right,both_bad\n"
)


def test_left_and_right_are_what_was_shown_there():
    votes = read_one(SIDES).votes
    assert votes["vote"].to_pylist() == [1, -1, 1]
    assert votes["gold"].to_pylist() == [1, 1, 0]
    unnamed = read_one("item_id,judge,vote\n1,j,left\n2,j,right\n").votes
    assert unnamed["vote"].to_pylist() == [1, -1]
    assert unnamed["position"].to_pylist() == ["ab", "ab"]
    unknown = read_one("item_id,model_a,judge,vote\n1,x,j,left\n2,x,j,right\n")
    assert (unknown.votes.num_rows, unknown.rejects["column"].to_pylist()) == (0, ["position"] * 2)
    named = read_one(SIDES, label_refers="model", mapping=(("gold", ""),)).votes
    assert named["vote"].to_pylist() == [1, 1, -1]


def llmbar(i, results):
    texts = {"input": f"Task {i // 2}", "output_1": f"one {i}", "output_2": f"two {i}"}
    return {**texts, "label": 1 + i % 2, "results": results}


def in_orders(first, second):
    return {
        name: {"completion": [f"Output ({winner})", "stop"], "winner": winner}
        for name, winner in (("swap = False", first), ("swap = True", second))
    }


NESTED = [
    llmbar(0, [in_orders("1", "1")]),
    llmbar(1, [["a metric first", "stop"], in_orders("2", "1")]),
    llmbar(2, [in_orders("1", "2"), in_orders("1", "1")]),
    llmbar(3, [in_orders(None, "2")]),
]


@pytest.mark.parametrize("text", [json.dumps(NESTED), "\n".join(map(json.dumps, NESTED))])
def test_nested_results_are_votes_in_both_orders_and_their_label_is_gold(text):
    reading = read_one(text, "result.json", mapping=(("judge", "=gpt"),))
    assert (reading.format, reading.rejects.num_rows, reading.duplicates) == ("llmbar", 0, 0)
    found = reading.votes
    assert found["vote"].to_pylist() == [1, 1, -1, 1, 1, -1, None, -1]
    assert found["gold"].to_pylist() == [1, 1, -1, -1, 1, 1, -1, -1]
    assert found["position"].to_pylist() == ["ab", "ba"] * 4
    assert found["status"].to_pylist() == ["ok"] * 6 + ["unparsed", "ok"]
    assert set(found["run"].to_pylist()) == {0}
    assert set(found["judge"].to_pylist()) == {"gpt"}
    assert len(set(found["item_id"].to_pylist())) == 4
    assert dict(found["extra"].to_pylist()[4]) == {"second_round": "1"}
    assert found["rationale"].to_pylist()[:2] == ["Output (1)", "Output (1)"]


def test_ratings_of_two_responses_are_one_vote_without_an_order():
    def rated(i, first, second):
        # What the tool writes as winners of an order where the scores are equal.
        return llmbar(
            i, [{"score_1": [first, "stop"], "score_2": [second, "stop"], **in_orders("1", "2")}]
        )

    rows = [
        rated(0, "Rating: 7", "3"),
        rated(1, "5", "5"),
        rated(2, "2", "8.5"),
        rated(3, "none", "8"),
    ]
    found = read_one(json.dumps(rows), "result.json").votes
    assert found["vote"].to_pylist() == [1, 0, -1, None]
    assert found["position"].to_pylist() == [None] * 4
    assert set(found["judge"].to_pylist()) == {"result"}


def test_the_judge_of_nested_results_is_in_the_folders_above(tmp_path):
    file = tmp_path / "Natural" / "evaluators" / "GPT-4" / "Swap" / "result.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(NESTED), encoding="utf-8")
    found = read([(file.name, file)])[0].votes
    assert set(found["judge"].to_pylist()) == {"GPT-4 [Swap]"}
    assert set(found["category"].to_pylist()) == {"Natural"}
    named = read([(file.name, file)], ReadOptions(mapping=(("judge", "=other"),)))[0].votes
    assert set(named["judge"].to_pylist()) == {"other"}


def test_a_nested_result_without_an_order_is_rejected():
    reading = read_one(
        json.dumps([*NESTED, llmbar(8, [{"swap = False": {"winner": "1"}}])]), "result.json"
    )
    assert (reading.votes.num_rows, reading.rejects["column"].to_pylist()) == (
        8,
        ["results.swap = True"],
    )


def test_gold_beside_other_nested_results_is_never_read_as_votes():
    rows = [row | {"results": [{"verdict": "1"}]} for row in NESTED]
    for mapping in ((), (("item_id", "input"), ("judge", "=gpt")), (("judge", "=gpt"),)):
        with pytest.raises(
            UnreadableFile, match=r"no column for .*vote.*label is not taken for votes"
        ):
            read_one(json.dumps(rows), "result.json", mapping=mapping)
    assert "vote" in inspect(json.dumps(rows).encode(), "result.json").missing
    gold = read_one(json.dumps(rows), "result.json", mapping=(("gold", "label"),), labels="1/2/0")
    assert gold.gold_only
    assert gold.votes["gold"].to_pylist() == [1, -1] * 2


def test_gold_labels_of_pairs_are_no_judge_called_label():
    rows = [
        {"id": i, "label": "A>B" if i % 2 else "B>A", "judgments": [{"x": 1}]} for i in range(4)
    ]
    with pytest.raises(UnreadableFile, match="no column for judge and vote"):
        read_one("\n".join(map(json.dumps, rows)), "pairs.jsonl")


def said(role, content):
    return {"role": role, "content": content}


KTO = {
    "texts": [
        {"prompt": f"p{i // 2}", "completion": f"answer {i}", "label": i % 3 == 0} for i in range(6)
    ],
    "messages": [
        {
            "messages": [said("user", f"p{i // 2}"), said("assistant", f"answer {i}")],
            "label": i % 3 == 0,
        }
        for i in range(6)
    ],
    "lists": [
        {
            "prompt": [said("user", f"p{i // 2}")],
            "completion": [said("assistant", f"answer {i}")],
            "label": i % 3 == 0,
        }
        for i in range(6)
    ],
}


@pytest.mark.parametrize("form", KTO)
def test_labels_of_single_responses_are_scores_and_no_votes(form):
    reading = read_one(json.dumps(KTO[form]), "kto.json")
    assert (reading.kind, reading.rejects.num_rows) == ("scores", 0)
    found = reading.votes
    assert found["score"].to_pylist() == [1, 0, 0, 1, 0, 0]
    assert set(found["judge"].to_pylist()) == {"kto"}
    assert len(set(found["item_id"].to_pylist())) == 6
    assert found["response"].to_pylist()[1] == "answer 1"
    assert found["prompt"].to_pylist()[5] == "p2"
    wrong = read_one(json.dumps([*KTO[form], KTO[form][0] | {"label": None}]), "kto.json")
    assert (wrong.votes.num_rows, wrong.rejects["column"].to_pylist()) == (6, ["label"])


def test_labels_of_single_responses_in_a_table_are_no_votes():
    text = "item_id,prompt,completion,label\n" + "".join(
        f"{i},p,a{i},{i % 2 == 0}\n" for i in range(6)
    )
    for mapping in ((), (("judge", "=x"),)):
        with pytest.raises(UnreadableFile, match=r"no column for .*vote"):
            read_one(text, mapping=mapping)


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("winner_model_a,winner_model_b,winner_tie", "1,0,0"),
        ("winner,evaluation_session_id", "model_a,7"),
    ],
)
def test_battles_of_an_arena_are_votes_of_people(columns, row):
    text = f"id,model_a,model_b,{columns}\n1,x,y,{row}\n"
    found = read_one(text).votes
    assert (found["judge"].to_pylist(), found["rater_type"].to_pylist()) == (["arena"], ["human"])
    assert read_one(text, rater_type="llm").votes["rater_type"].to_pylist() == ["llm"]
    ours = read_one("item_id,model_a,model_b,winner,judge\n1,x,y,model_a,j\n").votes
    assert ours["rater_type"].to_pylist() == ["llm"]


PAIRS = "prompt,response_a,response_b,judge,vote\n" + "".join(
    f"p{i % 3},a{i},b{i},j,{1 if i % 2 else -1}\n" for i in range(12)
)


@pytest.mark.parametrize("mapping", [(), (("item_id", "prompt"),)])
def test_twelve_pairs_on_three_prompts_are_twelve_comparisons(mapping):
    reading = read_one(PAIRS, mapping=mapping)
    assert (reading.votes.num_rows, reading.duplicates) == (12, 0)
    assert len(set(reading.votes["item_id"].to_pylist())) == 12
    assert set(reading.votes["run"].to_pylist()) == {0}
    assert set(reading.votes["prompt"].to_pylist()) == {"p0", "p1", "p2"}
    other = read_one(PAIRS.replace(",j,", ",k,"), "other.csv", mapping=mapping)
    assert other.votes["item_id"].to_pylist() == reading.votes["item_id"].to_pylist()


def test_equal_votes_on_other_responses_are_no_duplicates():
    text = "prompt,response_a,response_b,judge,vote\n" + "".join(
        f"p,a{i},b,j,1\n" for i in range(4)
    )
    reading = read_one(text + "p,a0,b,j,1\n")
    assert (reading.votes.num_rows, reading.duplicates) == (4, 1)
    without = read_one(text.replace("prompt,", "note,"))
    assert (without.votes.num_rows, len(set(without.votes["item_id"].to_pylist()))) == (4, 4)


def test_prompts_stay_items_where_the_models_tell_comparisons_apart():
    text = "prompt,model_a,model_b,response_a,response_b,judge,vote\n" + "".join(
        f"p{i % 3},m{i},n,a{i},b{i},j,{1 if i % 2 else -1}\n" for i in range(12)
    )
    assert set(read_one(text).votes["item_id"].to_pylist()) == {"p0", "p1", "p2"}
    again = text + "p0,m0,n,another,b0,j,-1\n"
    assert len(set(read_one(again).votes["item_id"].to_pylist())) == 13


def test_battles_without_items_are_a_comparison_per_row():
    text = "model_a,model_b,winner,judge\n" + "x,y,model_a,j\n" * 3 + "x,y,model_b,j\n"
    reading = read_one(text)
    assert (reading.votes["vote"].to_pylist(), reading.duplicates) == ([1, 1, 1, -1], 0)
    assert len(set(reading.votes["item_id"].to_pylist())) == 4
    assert any("each row is a comparison" in note for note in reading.notes)


HEAD = "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
ONE_HOT = HEAD + "".join(
    f"{i},x,y,p{i},a,b,{int(i % 3 == 0)},{int(i % 3 == 1)},{int(i % 3 == 2)}\n" for i in range(9)
)


@pytest.mark.parametrize("options", [{}, {"labels": "1/0"}, {"mapping": (("vote", "winner"),)}])
def test_one_hot_winners_keep_their_ties(options):
    votes = read_one(ONE_HOT, **options).votes["vote"].to_pylist()
    assert votes == [1, -1, 0] * 3


def test_one_of_the_one_hot_columns_alone_is_refused():
    with pytest.raises(InvalidOption, match=r"--map vote=winner_model_a.*name the winner together"):
        read_one(ONE_HOT, mapping=(("vote", "winner_model_a"),), labels="1/0")


def test_a_row_without_exactly_one_winner_is_rejected():
    reading = read_one(ONE_HOT + "9,x,y,p,a,b,1,1,0\n10,x,y,p,a,b,0,0,0\n11,x,y,p,a,b,1,?,0\n")
    assert (reading.votes.num_rows, reading.rejects["row"].to_pylist()) == (9, [10, 11, 12])


def test_where_no_gold_is_given_people_stand_in_and_the_command_says_so(tmp_path, capsys):
    head, said = "item_id,judge,rater_type,vote", "Gold: the majority of people."
    rows = [
        f"{k},{who},{kind},1" for k in range(12) for who, kind in (("j", "llm"), ("p", "human"))
    ]
    file = tmp_path / "people.csv"
    for columns, gold, there in (
        (head, [], True),
        (head, ["--judge", "j"], True),
        (head, ["--gold", "humans"], True),
        (head, ["--gold", "given"], False),
        (f"{head},gold", [], False),
    ):
        given = [f"{row},1" if "gold" in columns else row for row in rows]
        file.write_text("\n".join([columns, *given]), encoding="utf-8")
        assert main(["audit", str(file), "--splits", "0", *gold]) == 0
        assert (said in capsys.readouterr().out) == there


def test_what_was_read_names_the_judge_and_all_that_was_left_out(tmp_path, capsys):
    file = tmp_path / "pairs-score.csv"
    file.write_text("item_id,vote\n1,1\n1,1\n2,-1\n3,?\n4,\n", encoding="utf-8")
    assert main(["audit", str(file)]) == 0
    answer, *rest = capsys.readouterr().out.splitlines()
    assert answer.startswith("Cannot say yet:")
    (read,) = (line for line in rest if line.startswith("Judges: "))
    assert "Judges: 1 (pairs-score, in no column); votes: 2;" in read
    assert "without a vote: 1; rejected rows: 1; duplicates left out: 1." in read
    assert main(["import", str(file), "--store", str(tmp_path / "s.duckdb")]) == 0
    (first, *_) = capsys.readouterr().out.splitlines()
    assert "1 duplicate left out, 1 rejected, judge pairs-score (in no column)" in first
    asked = inspect(b"item_id,vote\n1,1\n2,-1\n", "votes.csv")
    assert asked.missing == ("judge",)


def counts(path, **options):
    votes = read_file(path, **options).votes["vote"].to_pylist()
    return [votes.count(vote) for vote in (1, 0, -1)]


def test_real_files_give_their_counts(shared_data, tmp_path):
    """Source: the counts of independent code, design of the importers."""
    native = shared_data / "native"
    arena = native / "lmarena" / "mteb_clean_battle_retrieval.json"
    assert counts(arena) == [156, 296, 150]
    battles = json.loads(arena.read_text(encoding="utf-8"))
    forms = {
        "obj_compact_rows.json": '{"battles": [\n' + ",\n".join(map(json.dumps, battles)) + "\n]}",
        "obj_indent.json": json.dumps({"battles": battles}, indent=2),
        "obj_one.json": json.dumps({"battles": battles}),
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert counts(tmp_path / name) == [156, 296, 150], name
    assert counts(native / "lmarena" / "arena140k_head.csv") == [2, 2, 1]
    swap = read_file(native / "llmbar" / "result.json")
    frame = swap.votes.to_pandas()
    assert (swap.rejects.num_rows, swap.duplicates, len(frame)) == (0, 0, 108)
    assert frame["item_id"].nunique() == 54
    by_order = {
        order: one["vote"].value_counts().to_dict() for order, one in frame.groupby("position")
    }
    assert by_order == {"ab": {1: 28, -1: 26}, "ba": {1: 33, -1: 21}}
    assert frame.drop_duplicates("item_id")["gold"].value_counts().to_dict() == {1: 29, -1: 25}
    assert (frame["vote"] == frame["gold"]).sum() == 83
    both = frame.pivot(index="item_id", columns="position", values="vote")
    assert (both["ab"] != both["ba"]).sum() == 21
    kto = read_file(native / "hf_preference" / "kto_en_demo_60.json")
    assert kto.kind == "scores"
    assert [kto.votes["score"].to_pylist().count(x) for x in (1, 0)] == [38, 22]
    assert set(read_file(arena).votes["rater_type"].to_pylist()) == {"human"}


def read_file(path, **options):
    return read([(path.name, path)], ReadOptions(**options))[0]
