"""Labels of people in another file, joined to a log of judges."""

import json
import random

import pytest

from core import audit
from core.__main__ import main
from core.errors import AmbiguousLabels, UnknownName, UnreadableFile
from core.importers import ReadOptions, read
from core.labelling.join import answer_key, join_labels
from core.store import Store

N = 60


def scores(metrics=("score",), models=("m1", "m2")):
    """A log of two models' answers to each question, with an id of its own per answer."""
    rows = ["item_id,result,model,judge,metric,score,prompt,response"]
    rows += [
        f"q{i},r{i}{model},{model},gpt,{metric},{i % 2},question {i},answer {i} of {model}"
        for i in range(N)
        for model in models
        for metric in metrics
    ]
    return "\n".join(rows)


def pairs():
    rows = ["item_id,model_a,model_b,judge,position,vote,prompt,response_a,response_b"]
    rows += [
        f"q{i},x,y,gpt,{order},{1 if i % 3 else -1},question {i},long {i},short {i}"
        for i in range(N)
        for order in ("ab", "ba")
    ]
    return "\n".join(rows)


def log(text):
    return read([("log.csv", text.encode())])


def joined(text, sheet, key=None, **options):
    return join_labels(log(text), ("sheet.csv", sheet.encode()), ReadOptions(**options), key=key)


def people(reading):
    columns = ("item_id", "model", "judge", "metric", "score")
    return [tuple(row[name] for name in columns) for row in reading.votes.to_pylist()]


def test_by_the_logs_own_ids_in_any_order_with_what_is_missing_named():
    labels = [f"r{i}m1,{'pass' if i % 2 else 'fail'}" for i in range(40)] + ["r999,pass", ",pass"]
    random.Random(1).shuffle(labels)
    found = joined(scores(), "\n".join(["result,human", *labels]), key="result")
    assert (found.labels, found.found, found.by) == (42, 40, "result")
    assert found.sentence.startswith("40 of 42 labels found their answer by column 'result'; 2 did")
    assert "'r999'" in found.sentence
    (reading,) = found.readings
    assert set(people(reading)) == {
        (f"q{i}", "m1", "human", "score", float(i % 2)) for i in range(40)
    }
    assert reading.votes["rater_type"].unique().to_pylist() == ["human"]


def test_by_item_and_model_and_rows_that_are_not_filled_are_no_labels():
    sheet = "item_id,model,label\nq1,m1,pass\nq1,m2,fail\nq2,m1,\n"
    found = joined(scores(), sheet)
    assert (found.labels, found.found) == (2, 2)
    assert set(people(found.readings[0])) == {
        ("q1", "m1", "human", "score", 1.0),
        ("q1", "m2", "human", "score", 0.0),
    }


def test_by_exact_texts():
    rows = [f'"question {i}","answer {i} of m2",1' for i in range(N)]
    found = joined(scores(), "\n".join(["question,answer,human_score", *rows]))
    assert (found.by, found.found) == ("texts", N)
    assert {row[1] for row in people(found.readings[0])} == {"m2"}


def test_by_blind_keys():
    (reading,) = log(scores())
    keys = [answer_key("log", "q3", "m1"), answer_key("log", "q4", "m2")]
    sheet = f"id,label\n{keys[0]},pass\n{keys[1]},fail\n"
    (made,) = join_labels([reading], ("s.csv", sheet.encode())).readings
    assert [row[:2] for row in people(made)] == [("q3", "m1"), ("q4", "m2")]


def test_a_key_that_repeats_in_the_log_or_in_the_sheet_is_refused():
    with pytest.raises(UnreadableFile, match=r"'q1' stands for 2 answers of the log.*--key COLUMN"):
        joined(scores(), "item_id,label\nq1,pass\n")
    with pytest.raises(
        UnreadableFile, match="rows 1 and 3, column 'result': 'r1m1' has two labels"
    ):
        joined(scores(), "result,label\nr1m1,pass\nr2m1,pass\nr1m1,fail\n", key="result")
    with pytest.raises(UnreadableFile, match=r"no label finds its answer by column 'id': 'a'"):
        joined(scores(), "id,label\na,pass\n")
    with pytest.raises(UnknownName, match=r"'nowhere': sheet.csv has no such column"):
        joined(scores(), "id,label\nr1m1,pass\n", key="nowhere")
    with pytest.raises(UnreadableFile, match="row 1, column 'label': 'perhaps' is no grade"):
        joined(scores(), "result,label\nr1m1,perhaps\n", key="result")
    with pytest.raises(UnreadableFile, match="no column of labels"):
        joined(scores(), "result,thoughts\nr1m1,perhaps\n", key="result")
    with pytest.raises(UnreadableFile, match="no row has a label yet"):
        joined(scores(), "result,label\nr1m1,\nr2m1,\n", key="result")


def test_several_people_and_several_metrics():
    text = scores(metrics=("correct", "polite"), models=("m1",))
    each = joined(text, "item_id,correct,polite\nq1,pass,fail\nq2,,pass\n").readings[0]
    assert people(each) == [
        ("q1", "m1", "human", "correct", 1.0),
        ("q1", "m1", "human", "polite", 0.0),
        ("q2", "m1", "human", "polite", 1.0),
    ]
    both = joined(text, "item_id,human_1,human_2\nq1,1,0\n").readings[0]
    assert {row[2:] for row in people(both)} == {
        (who, metric, value)
        for who, value in (("human_1", 1.0), ("human_2", 0.0))
        for metric in ("correct", "polite")
    }
    assert "labels are those of 2 metrics" in both.notes[0]
    named = joined(text, "item_id,person,label\nq1,Ann,1\nq1,Bo,0\n").readings[0]
    assert {row[2] for row in people(named)} == {"Ann", "Bo"}


def test_labels_of_comparisons_are_gold_whichever_side_the_sheet_shows_first():
    turned = [f"question {i},short {i},long {i},{'A' if i % 2 else 'B'}" for i in range(N)]
    sheet = "\n".join(["prompt,response_a,response_b,label", *turned])
    (gold,) = joined(pairs(), sheet).readings
    assert gold.gold_only
    assert {row["item_id"]: row["gold"] for row in gold.votes.to_pylist()} == {
        f"q{i}": -1 if i % 2 else 1 for i in range(N)
    }
    found = audit(pairs().encode(), labels_from=sheet.encode())
    assert found.judges["gpt"].accuracy.value == pytest.approx(
        sum((1 if i % 3 else -1) == (-1 if i % 2 else 1) for i in range(N)) / N
    )


def test_two_people_on_comparisons_and_labels_that_are_open():
    sheet = "item_id,human_1,human_2\nq1,A,A\nq2,A,B\nq3,B,\n"
    votes, gold = joined(pairs(), sheet).readings
    assert votes.votes.num_rows == 5
    # On the second they differ, and neither said that it is a tie.
    assert gold.votes["item_id"].to_pylist() == ["q1", "q3"]
    assert gold.votes["gold"].to_pylist() == [1, -1]
    with pytest.raises(AmbiguousLabels, match="--gold-labels"):
        joined(pairs(), "item_id,label\nq1,1\nq2,0\n")
    assert joined(pairs(), "item_id,label\nq1,1\nq2,0\n", gold_labels="1/0").found == 2


def test_a_file_for_each_person_is_a_vote_of_each_and_their_common_gold(tmp_path, capsys):
    (tmp_path / "log.csv").write_text(pairs())
    (tmp_path / "ann.csv").write_text("item_id,label\nq1,A\nq2,A\nq3,B\n")
    (tmp_path / "ben.csv").write_text("item_id,label\nq1,A\nq2,B\nq3,B\n")
    files = [str(tmp_path / f"{name}.csv") for name in ("log", "ann", "ben")]
    assert main(["audit", files[0], "--labels-from", *files[1:]]) == 0
    said = capsys.readouterr()
    assert "ann.csv: 3 of 3 labels found" in said.err
    assert "1 comparison is contested" in said.err
    found = audit(files[0], labels_from=files[1:])
    assert found.judges["gpt"].accuracy.n == 2
    assert {"ann", "ben"} <= {judge.judge for judge in found.judges}
    store = tmp_path / "s.duckdb"
    assert main(["import", files[0], "--store", str(store)]) == 0
    assert main(["label", "--store", str(store), "--labels-from", *files[1:]]) == 0
    assert "1 comparison is contested" in capsys.readouterr().out
    with Store.open(store, read_only=True) as stored:
        rows = stored.export().to_pylist()
    assert {row["judge"] for row in rows} == {"gpt", "ann", "ben"}
    gold = {row["item_id"]: row["gold"] for row in rows}
    assert [gold[item] for item in ("q1", "q2", "q3")] == [1, None, -1]


def test_the_command_line_says_what_was_joined(tmp_path, capsys):
    (tmp_path / "log.csv").write_text(scores())
    labels = [f"r{i}m1,{i % 2}" for i in range(40)] + ["x,1"]
    (tmp_path / "sheet.csv").write_text("\n".join(["result,human", *labels]))
    files = [str(tmp_path / "log.csv"), "--labels-from", str(tmp_path / "sheet.csv")]
    assert main(["audit", *files, "--key", "result", "--isolated"]) == 0
    out, err = capsys.readouterr()
    assert "40 of 41 labels found their answer by column 'result'; 1 did not: row 41 ('x')" in err
    assert "people: human" in out
    assert main(["audit", *files, "--key", "missing", "--isolated"]) == 2
    assert main(["audit", files[0], "--key", "result", "--isolated"]) == 2
    assert main(["import", *files, "--key", "result", "--store", str(tmp_path / "s.duckdb")]) == 0
    assert "40 direct scores loaded" in capsys.readouterr().out


def promptfoo_log(tests=150, models=("m-one", "m-two")):
    """Results of promptfoo: 300 answers, each with an id of its own; row order is not test order."""
    rows = [
        {
            "id": f"answer-{test}-{place}",
            "testIdx": test,
            "promptIdx": place,
            "provider": {"id": model, "label": ""},
            "prompt": {"raw": f"Question {test}?", "label": "{{q}}"},
            "response": {"output": f"Answer {test} of {model}."},
            "gradingResult": {
                "componentResults": [
                    {
                        "pass": (test + place) % 3 > 0,
                        "score": float((test + place) % 3 > 0),
                        "reason": "as asked",
                        "assertion": {"type": "llm-rubric", "value": "right"},
                    }
                ]
            },
            "testCase": {"options": {"provider": "judge-x"}},
            "success": True,
            "score": 1,
        }
        for test in range(tests)
        for place, model in enumerate(models)
    ]
    random.Random(3).shuffle(rows)
    return json.dumps({"results": {"version": 3, "prompts": [], "results": rows}}), rows


def test_120_labels_for_300_answers_of_promptfoo(tmp_path, capsys):
    text, rows = promptfoo_log()
    (tmp_path / "results.json").write_text(text)
    labelled = rows[:112]
    strangers = [f"stranger-{k}" for k in range(8)]
    ids = [f"{row['id']},{'pass' if row['testIdx'] % 2 else 'fail'}" for row in labelled]
    texts = [
        f"{row['prompt']['raw']},{row['response']['output']},{row['testIdx'] % 2}"
        for row in labelled
    ]
    sheets = {
        "ids.csv": ["id,human", *ids, *(f"{name},pass" for name in strangers)],
        "texts.csv": ["question,answer,label", *texts, *(f"{name},x,1" for name in strangers)],
    }
    log = str(tmp_path / "results.json")
    assert main(["audit", log, "--isolated"]) == 0
    alone = capsys.readouterr().out
    assert "scores: 300" in alone
    assert "judge-x" in alone
    found = {}
    for name, lines in sheets.items():
        (tmp_path / name).write_text("\n".join(lines))
        joined = join_labels(
            read([("results.json", tmp_path / "results.json")]), (name, tmp_path / name)
        )
        assert (joined.labels, joined.found, len(joined.missed)) == (120, 112, 8)
        assert all(stranger in joined.sentence for stranger in strangers)
        assert main(["audit", log, "--labels-from", str(tmp_path / name), "--isolated"]) == 0
        out, err = capsys.readouterr()
        assert "112 of 120 labels found their answer" in err
        found[name] = {row[:2] + row[4:] for row in people(joined.readings[0])}
        assert "people: human" in out
    assert found["ids.csv"] == found["texts.csv"]
    repeated = ["testIdx,label", *(f"{row['testIdx']},1" for row in labelled)]
    (tmp_path / "tests.csv").write_text("\n".join(repeated))
    wrong = ["--labels-from", str(tmp_path / "tests.csv"), "--key", "testIdx", "--isolated"]
    assert main(["audit", log, *wrong]) == 2
    assert "stands for 2 answers of the log" in capsys.readouterr().err
