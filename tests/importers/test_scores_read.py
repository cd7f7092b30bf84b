"""Scores of single answers: long rows and rows with people beside the judge, words, scales, and
what is not graded.
"""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import core
from core.__main__ import main
from core.errors import AmbiguousLabels, UnknownName, UnreadableFile
from core.importers import ReadOptions, inspect, read, read_arrow, read_back
from core.importers.scores import scale_of
from core.store import Store


def table(head, rows):
    return "\n".join([head, *(",".join(map(str, row)) for row in rows), ""])


def read_one(text, name="results.csv", **options):
    return read([(name, text.encode())], ReadOptions(**options))[0]


def column(reading, name):
    return reading.votes[name].to_pylist()


# people beside the judge --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judge", "human", "called"),
    [
        ("judge_score", "human_score", "judge"),
        ("judge_passed", "human_passed", "judge"),
        ("score", "human", "results"),
        ("score", "human_score", "results"),
        ("score", "label_human", "results"),
        ("passed", "expert_label", "results"),
        ("LLM rating", "Human rating", "LLM"),
        ("judge", "gold", "judge"),
        ("rating", "ground_truth", "results"),
    ],
)
@pytest.mark.parametrize(
    ("cells", "scores", "gold"),
    [
        ([(4, 5), (2, 2), (5, 3)], [4, 2, 5], [5, 2, 3]),
        ([("pass", "FALSE"), ("Fail", "true"), ("passed", "TRUE")], [1, 0, 1], [0, 1, 1]),
    ],
)
def test_a_second_column_is_the_gold_of_the_first(judge, human, called, cells, scores, gold):
    text = table(f"case_id,{judge},{human}", [(i, *row) for i, row in enumerate(cells)])
    reading = read_one(text)
    assert (reading.kind, reading.n_rejected) == ("scores", 0)
    assert (column(reading, "score"), column(reading, "gold")) == (scores, gold)
    assert set(column(reading, "judge")) == {called}
    assert (set(column(reading, "metric")), set(column(reading, "model"))) == ({"score"}, {None})
    assert column(reading, "item_id") == ["0", "1", "2"]
    looks = inspect(text.encode(), "results.csv")
    assert (looks.kind, looks.missing, looks.questions) == ("scores", (), ())


def test_several_columns_are_people_with_rows_of_their_own():
    text = table(
        "item,llm,annotator_1,annotator_2", [(1, 4, 5, 4), (2, 3, 3, ""), (3, 2, "", "n/a")]
    )
    reading = read_one(text)
    rows = list(
        zip(*(column(reading, x) for x in ("item_id", "judge", "score", "rater_type")), strict=True)
    )
    assert rows == [
        ("1", "llm", 4, "llm"),
        ("1", "annotator_1", 5, "human"),
        ("1", "annotator_2", 4, "human"),
        ("2", "llm", 3, "llm"),
        ("2", "annotator_1", 3, "human"),
        ("3", "llm", 2, "llm"),
        ("3", "annotator_2", None, "human"),
    ]
    assert column(reading, "status")[-1] == "unparsed"
    assert column(reading, "gold") == [None] * 7
    assert reading.mapping.keys() == {"item_id"}


def test_people_may_be_named_in_their_columns_where_there_are_two():
    reading = read_one(table("ticket,llm_score,ann_mia,ann_jo", [(1, 4, 5, 4), (2, 3, 3, 2)]))
    raters = zip(column(reading, "judge"), column(reading, "rater_type"), strict=True)
    assert {*raters} == {("llm", "llm"), ("ann_mia", "human"), ("ann_jo", "human")}


def test_a_frame_with_a_column_per_rater_is_read_as_the_file_is():
    """Numbers, text and blanks of three columns, whose codes are of different widths."""
    frame = pd.DataFrame(
        {
            "item_id": [f"q{i}" for i in range(60)],
            "llm": [f" {i % 5 + 1}" for i in range(60)],
            "annotator_1": [i % 4 + 1 for i in range(60)],
            "annotator_2": [str(i % 3 + 1) if i % 5 else None for i in range(60)],
        }
    )
    of_frame = read_arrow(pa.Table.from_pandas(frame, preserve_index=False))
    (of_file,) = read([("votes.csv", frame.to_csv(index=False).encode())])
    assert of_frame.n_read == 60 + 60 + 48
    assert of_frame.votes.equals(of_file.votes)


def test_a_row_of_a_table_of_raters_is_rejected_by_its_own_column():
    text = table("item,llm,human_1,human_2", [(1, 4, "five", 4), (2, "pass", 3, 2), (3, 1, 2, 3)])
    rejects = read_one(text).rejects.to_pylist()
    assert [(r["row"], r["column"], r["value"]) for r in rejects] == [
        (1, "human_1", "five"),
        (2, "llm", "pass"),
    ]


def test_people_beside_a_named_judge_score_once_however_often_it_does():
    rows = [(i, j, run, 3 + run, 1, 2) for i in range(2) for j in ("x", "y") for run in range(2)]
    reading = read_one(table("item_id,judge,run,score,person_a,person_b", rows))
    frame = reading.votes.to_pandas()
    assert frame.groupby("judge").size().to_dict() == {"x": 4, "y": 4, "person_a": 2, "person_b": 2}
    people = frame[frame["rater_type"] == "human"]
    assert set(people["judge"]) == {"person_a", "person_b"}
    assert set(people["run"]) == {0}


def test_two_judges_in_columns_share_the_gold():
    reading = read_one(table("item,llm_1,llm_2,human", [(1, 4, 5, 3), (2, 1, 2, 2)]))
    assert column(reading, "judge") == ["llm_1", "llm_2"] * 2
    assert column(reading, "gold") == [3, 3, 2, 2]


def test_an_answer_without_an_item_is_its_row():
    reading = read_one(table("score,human", [(4, 5), (4, 5), (2, 1)]))
    assert column(reading, "item_id") == ["results 1", "results 2", "results 3"]


def test_answers_to_one_prompt_are_items_of_their_own():
    rows = [("Why?", "A", 4, 5), ("Why?", "B", 2, 1), ("How?", "A", 3, 3)]
    reading = read_one(table("prompt,response,score,human", rows))
    assert len(set(column(reading, "item_id"))) == 3
    assert column(reading, "prompt") == ["Why?", "Why?", "How?"]
    assert column(reading, "response") == ["A", "B", "A"]


@pytest.mark.parametrize(
    "text",
    [
        # Votes of raters, a chat, and names of people.
        table("item_id,human,llm", [(1, 1, -1), (2, 0, 1)]),
        table("item_id,human,llm", [(1, "model_a", "tie"), (2, "model_b", "model_a")]),
        table("item_id,judge,vote,human", [(1, "j", "A", "B"), (2, "j", "tie", "B")]),
        table("item_id,judge,vote,score,human", [(1, "j", "A", 3, 2), (2, "j", "tie", 3, 3)]),
        table("item_id,judge,score_a,score_b,human", [(1, "j", 3, 4, 1), (2, "j", 3, 3, 0)]),
    ],
)
def test_votes_have_the_first_claim(text):
    assert inspect(text.encode(), "votes.csv").kind == "votes"


def test_scores_and_pass_or_fail_of_one_judge_are_asked_about_once():
    text = table("item_id,judge,score,passed", [(1, "j", 4, "pass"), (2, "j", 1, "fail")])
    with pytest.raises(AmbiguousLabels, match=r"'score' and 'passed'.*--map score=COLUMN"):
        read_one(text)
    (question,) = inspect(text.encode(), "x.csv").questions
    assert [value for value, _ in question.choices] == ["score", "passed"]
    for name, wanted in (("score", [4, 1]), ("passed", [1, 0])):
        assert column(read_one(text, mapping=(("score", name),)), "score") == wanted
    # What people say settles it.
    beside = table(
        "item_id,judge,score,passed,human_passed",
        [(1, "j", 4, "pass", "yes"), (2, "j", 1, "fail", "yes")],
    )
    assert column(read_one(beside), "score") == [1, 0]
    four = "item_id,judge_score,judge_passed,human_score,human_passed"
    both = table(four, [(1, 4, "pass", 5, "pass"), (2, 2, "fail", 1, "pass")])
    with pytest.raises(AmbiguousLabels, match="in two ways"):
        read_one(both)
    chosen = read_one(both, mapping=(("score", "judge_passed"),))
    assert (column(chosen, "score"), column(chosen, "gold")) == ([1, 0], [1, 1])


# words and numbers --------------------------------------------------------------------------

PAIRS = {
    "pass": "fail", "Passed": "FAILED", "true": "false", "yes": "no", "Y": "N", "correct": "incorrect",
    "good": "bad", "1": "0", "1.0": "0.0", "C": "I", "thumbs up": "thumbs-down", "👍": "👎", "right": "Wrong",
}  # fmt: skip


@pytest.mark.parametrize("good", PAIRS)
def test_words_are_scores_of_one_and_nought(good):
    rows = [(1, "j", good), (2, "j", PAIRS[good]), (3, "j", good)]
    reading = read_one(table("item_id,judge,score", rows))
    assert (column(reading, "score"), reading.n_rejected) == ([1, 0, 1], 0)
    assert (column(reading, "scale_low")[0], column(reading, "scale_high")[0]) == (0, 1)


@pytest.mark.parametrize(
    ("words", "scores"),
    [
        (("pass", "partial", "fail"), [1, 0.5, 0]),
        (("C", "P", "I"), [1, 0.5, 0]),
        (("C", "N", "I"), [1, 0, 0]),
        (("correct", "partially correct", "incorrect"), [1, 0.5, 0]),
    ],
)
def test_partial_is_a_level_between(words, scores):
    rows = [(k, "j", word) for k, word in enumerate(words)]
    assert column(read_one(table("item_id,judge,score", rows)), "score") == scores


@pytest.mark.parametrize(
    ("word", "status"),
    [("N/A", "unparsed"), ("", "unparsed"), ("unsure", "unparsed"), ("Refused", "refused"),
     ("error", "error"), ("none", "unparsed")],
)  # fmt: skip
@pytest.mark.parametrize("others", [("pass", "fail"), ("4", "2")])
def test_what_is_not_graded_is_no_fail(word, status, others):
    rows = [(k, "j", cell) for k, cell in enumerate((*others, word))]
    reading = read_one(table("item_id,judge,score", rows))
    assert column(reading, "score")[2] is None
    assert column(reading, "status") == ["ok", "ok", status]
    assert reading.n_rejected == 0


def test_other_words_are_rejected_with_what_is_allowed():
    rows = [(1, "j", "pass"), (2, "j", "fail"), (3, "j", "meh"), (4, "j", "7")]
    reading = read_one(table("item_id,judge,score", rows))
    assert column(reading, "score") == [7]
    words = read_one(table("item_id,judge,score", rows[:3]))
    (reject,) = words.rejects.to_pylist()
    assert (reject["row"], reject["column"], reject["value"]) == (3, "score", "meh")
    assert "pass, partial, fail" in reject["reason"]


@pytest.mark.parametrize(
    ("values", "ends", "said"),
    [
        ([0, 1], (0, 1), "1 is pass"),
        ([1], (0, 1), "1 is pass"),
        ([0, 0.5, 1], (0, 1), "0.5 is partial"),
        ([0, 0.31, 1], (0, 1), "scale 0 to 1"),
        ([1, 2, 3, 4, 5], (1, 5), "used: 5 of 5"),
        ([1, 3, 5], (1, 5), "used: 3 of 5"),
        ([2.5, 4], (1, 5), "scale 1 to 5"),
        ([0, 2, 5], (0, 5), "used: 3 of 6"),
        ([1, 6], (1, 10), "used: 2 of 10"),
        ([1, 2, 7], (1, 7), "used: 3 of 7"),
        ([1, 10], (1, 10), "scale 1 to 10"),
        ([35, 80], (0, 100), "scale 0 to 100"),
        ([1, 2, 3], None, "from 1 to 3"),
        ([-2, 2], None, "from -2 to 2"),
        ([0, 250], None, "from 0 to 250"),
    ],
)  # fmt: skip
def test_the_scale_is_recognised_and_said(values, ends, said):
    found, words = scale_of(np.array(values, dtype=float))
    assert found == ends
    assert said in words
    text = table("item_id,judge,score", [(k, "j", value) for k, value in enumerate(values)])
    reading = read_one(text)
    assert any("Metric 'score': " in note and said in note for note in reading.notes)
    assert {*zip(column(reading, "scale_low"), column(reading, "scale_high"), strict=True)} == {
        ends or (None, None)
    }


def test_gold_of_right_and_wrong_beside_levels_leaves_the_scale_alone():
    rows = [(1, "j", 2, 0), (2, "j", 5, 1), (3, "j", 4, 1)]
    reading = read_one(table("item_id,judge,score,gold", rows))
    assert (column(reading, "scale_low")[0], column(reading, "scale_high")[0]) == (1, 5)
    assert column(reading, "gold") == [0, 1, 1]
    wider = read_one(table("item_id,judge,score,gold", [(1, "j", 2, 9), (2, "j", 5, 1)]))
    assert column(wider, "scale_high")[0] == 10


def test_a_scale_of_the_file_is_kept_and_holds_its_scores():
    head = "item_id,judge,score,scale_low,scale_high"
    reading = read_one(table(head, [(1, "j", 2, 0, 4), (2, "j", 9, 0, 4), (3, "j", 1, 4, 0)]))
    assert (column(reading, "score"), column(reading, "scale_high")) == ([2], [4])
    assert [(r["row"], r["column"], r["value"]) for r in reading.rejects.to_pylist()] == [
        (2, "score", "9"),
        (3, "scale_low", "4.0"),
    ]


def test_metrics_have_scales_of_their_own_and_one_may_be_better_low():
    rows = [(i, "j", m, s) for i in range(3) for m, s in (("help", 1 + i * 2), ("toxicity", i / 4))]
    text = table("item_id,judge,metric,score", rows)
    reading = read_one(text, lower_is_better=("toxicity",))
    frame = reading.votes.to_pandas()
    assert frame.groupby("metric")[["scale_high", "lower_is_better"]].max().fillna(0).to_dict() == {
        "scale_high": {"help": 5, "toxicity": 1},
        "lower_is_better": {"help": 0, "toxicity": 1},
    }
    assert any("less is better" in note for note in reading.notes)
    with pytest.raises(UnknownName, match=r"--lower-is-better 'cost'.*help, toxicity"):
        read_one(text, lower_is_better=("cost",))


def test_a_column_of_conversations_is_the_unit():
    rows = [(i, "j", i % 3, f"talk {i // 2}") for i in range(6)]
    text = table("item_id,judge,score,conversation", rows)
    assert column(read_one(text, cluster="conversation"), "cluster") == [r[3] for r in rows]
    assert column(read_one(text), "cluster") == [None] * 6
    with pytest.raises(UnknownName, match=r"--cluster 'thread'.*conversation"):
        read_one(text, cluster="thread")
    votes = table("item_id,judge,vote,talk", [(1, "j", 1, "a"), (2, "j", -1, "a")])
    assert column(read_one(votes, cluster="talk"), "cluster") == ["a", "a"]


def test_two_golds_for_one_answer_are_rejected():
    rows = [(1, "j", 0, 4, 5), (1, "j", 1, 4, 4), (2, "j", 0, 3, 3), (2, "j", 1, 2, 3)]
    reading = read_one(table("item_id,judge,run,score,gold", rows))
    assert [r["row"] for r in reading.rejects.to_pylist()] == [1, 2]
    assert column(reading, "score") == [3, 2]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [("1e300", "beyond a million"), ("inf", "finite"), ("x" * 2_000_000, "cell")],
)
def test_hostile_cells_are_rejected_and_cut(cell, reason):
    rows = [(1, 4, 5), (2, 3, 2), (3, 2, cell), (4, 1, 1)]
    (reject,) = read_one(table("item,llm,human", rows)).rejects.to_pylist()
    assert (reject["row"], reject["column"]) == (3, "human")
    assert reason in reject["reason"]
    assert len(reject["value"]) <= 81


def test_many_columns_of_people_cost_what_their_cells_do():
    people = [f"human_{k}" for k in range(900)]
    rows = [
        (i, 3, *((i + k) % 5 + 1 if (i + k) % 300 == 0 else "" for k in range(900)))
        for i in range(60)
    ]
    reading = read_one(table(",".join(["item", "llm", *people]), rows))
    assert reading.n_read == 60 + 60 * 3


def test_columns_repeated_for_each_of_many_raters_are_refused_before_they_are():
    people, others = [f"human_{k}" for k in range(900)], [f"c{k}" for k in range(900)]
    rows = [(i, 3, *[4] * 900, *["x"] * 900) for i in range(70)]
    with pytest.raises(UnreadableFile, match="901 columns of raters beside 901 others"):
        read_one(table(",".join(["item", "llm", *people, *others]), rows))


# from end to end ----------------------------------------------------------------------------


def test_pass_and_fail_beside_people_ask_nothing(tmp_path, capsys):
    file, store = tmp_path / "results.csv", tmp_path / "s.duckdb"
    rows = [(i, ("pass", "fail")[i % 5 == 0], ("true", "false")[i % 4 == 0]) for i in range(300)]
    file.write_text(table("case_id,judge_passed,human_passed", rows))
    assert main(["import", str(file), "--store", str(store)]) == 0
    assert "300 direct scores loaded" in capsys.readouterr().out
    with Store.open(store) as kept:
        ((n, passed, gold),) = kept.rows("select count(*), sum(score), sum(gold) from scores")
    assert (n, passed, gold) == (300, 240, 225)
    assert main(["audit", str(file)]) == 0
    assert "scores: 300; people: gold" in capsys.readouterr().out
    assert core.audit(file).scores[0].evidence.passing.tnr is not None


def test_json_lines_and_parquet_are_read_alike(tmp_path):
    frame = pd.DataFrame({"case_id": [1, 2, 3], "judge_score": [4, 2, 5], "human_score": [5, 1, 5]})
    frame.to_parquet(tmp_path / "results.parquet")
    lines = "\n".join(json.dumps(row) for row in frame.to_dict("records"))
    csv = read_one(frame.to_csv(index=False))
    for reading in (
        read_one(lines, "results.jsonl"),
        read([("results.parquet", tmp_path / "results.parquet")])[0],
    ):
        assert reading.votes.equals(csv.votes)


def test_scores_are_read_back_in_words():
    read_lines = read_back(read_one(table("item,llm,human", [(1, 4, 5), (2, "N/A", 1)])))
    assert read_lines == [
        "item 1: judge llm gave 4; gold says 5",
        "item 2: judge llm gave no score (unparsed); gold says 1",
    ]
    named = read_one(table("item_id,model,judge,metric,score", [(1, "m", "j", "tone", 3)]))
    assert read_back(named) == ["item 1: judge j gave 3 on tone to m"]


def test_real_files_have_the_figures_of_their_source(shared_data):
    folder = shared_data / "scores"
    if not folder.is_dir():
        pytest.skip("no scores there")
    frames = {}
    for path in folder.glob("*.csv.gz"):
        (reading,) = read([(path.name, path)])
        assert (reading.kind, reading.n_rejected, reading.duplicates) == ("scores", 0, 0)
        frames[path.name.split(".")[0]] = reading.votes.drop_columns(["extra"]).to_pandas()
    arena, trivia, bench = (
        frames[name] for name in ("cje_arena", "triviaqa_verdicts", "rewardbench2_scores")
    )
    difference = (arena["score"] - arena["gold"]).dropna()
    assert (len(arena), len(difference), round(difference.mean(), 6)) == (4000, 630, 0.087762)
    by_model = (arena["score"] - arena["gold"]).groupby(arena["model"]).mean().round(4).to_dict()
    assert by_model == {
        "base": 0.0856, "clone": 0.0868, "parallel_universe_prompt": 0.0636, "unhelpful": 0.1334
    }  # fmt: skip
    said = trivia["score"].map({1: "correct", 0: "incorrect"}).fillna("unsure")
    assert pd.crosstab(trivia["gold"], said).to_dict("index") == {
        0: {"correct": 32, "incorrect": 11887, "unsure": 81},
        1: {"correct": 3932, "incorrect": 1533, "unsure": 535},
    }
    assert len(bench) == 111_534
    answers = bench.groupby("judge")[["item_id", "model"]].apply(lambda x: len(x.drop_duplicates()))
    assert answers.to_dict() == {"claude-haiku-4.5 [base]": 7045, "gpt-5.4-mini [base]": 6920}
    assert set(bench["scale_high"]) == {10}


def test_labels_without_an_order_are_refused_with_what_to_do_and_that_is_read():
    rows = [(item, ("billing", "refund", "other")[item % 3]) for item in range(9)]
    table = "item_id,judge,metric,score\n" + "".join(f"{i},j,topic,{label}\n" for i, label in rows)
    (refused,) = read([("topics.csv", table.encode())])
    assert set(refused.rejects["column"].to_pylist()) == {"score"}
    assert "the label as metric" in refused.rejects["reason"][0].as_py()
    apart = "item_id,judge,metric,score,gold\n" + "".join(
        f"{i},j,{label},{int(label == own)},{int(label == own)}\n"
        for i, own in rows
        for label in ("billing", "refund", "other")
    )
    (found,) = read([("topics.csv", apart.encode())])
    assert (found.n_read, found.n_rejected) == (27, 0)
