"""Tables of votes: every container and layout gives the same typed votes; nothing is guessed in
silence.
"""

import gzip
import io
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_file import read_one
from places import REPOSITORY

from core.errors import AmbiguousLabels, InvalidOption, UnknownName, UnreadableFile
from core.importers import Inspection, ReadOptions, formats, inspect, read, read_back, template
from core.importers.source import open_source
from core.labelling.join import join_labels
from core.schema import COLUMN_NAMES, VOTES
from core.store.export import write_csv
from core.use.one_call import audit


def votes(reading):
    """Votes as (item, judge, vote) in order."""
    return [(v["item_id"], v["judge"], v["vote"]) for v in reading.votes.to_pylist()]


ROWS = [
    {"item_id": "1", "judge": "j", "vote": 1, "confidence": 0.5, "gold": 1},
    {"item_id": "2", "judge": "j", "vote": -1, "confidence": None, "gold": None},
    {"item_id": "3", "judge": "k", "vote": 0, "confidence": 0.25, "gold": -1},
]
FRAME = pd.DataFrame(ROWS)


def parquet(table):
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()


def with_nan():
    """As Polars writes it, and an index of pandas beside."""
    table = pa.Table.from_pylist(ROWS)
    confidence = pa.array([0.5, float("nan"), 0.25])
    index = pa.array([7, 8, 9])
    place = table.column_names.index("confidence")
    return table.set_column(place, "confidence", confidence).append_column(
        "__index_level_0__", index
    )


CONTAINERS = {
    "a.csv": FRAME.to_csv(index=False).encode(),
    "a.tsv": FRAME.to_csv(index=False, sep="\t").encode(),
    "semicolon.csv": FRAME.to_csv(index=False, sep=";").encode(),
    "bar.txt": FRAME.to_csv(index=False, sep="|").encode(),
    "crlf.csv": FRAME.to_csv(index=False, lineterminator="\r\n").encode(),
    "bom.csv": b"\xef\xbb\xbf" + FRAME.to_csv(index=False).encode(),
    "index.csv": FRAME.to_csv().encode(),
    "a.csv.gz": gzip.compress(FRAME.to_csv(index=False).encode()),
    "gzip-by-content.csv": gzip.compress(FRAME.to_csv(index=False).encode()),
    "a.jsonl": "\n".join(json.dumps(row) for row in ROWS).encode(),
    "a.jsonl.gz": gzip.compress("\n".join(json.dumps(row) for row in ROWS).encode()),
    "a.json": json.dumps(ROWS, indent=1).encode(),
    "wrapped.json": json.dumps({"votes": ROWS}, indent=1).encode(),
    "a.parquet": parquet(pa.Table.from_pylist(ROWS)),
    "nan.parquet": parquet(with_nan()),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_gives_the_same_votes(name):
    reading = read([(name, CONTAINERS[name])])[0]
    assert reading.votes.cast(VOTES.schema()).num_rows == 3
    assert reading.rejects.num_rows == 0
    assert reading.rows == 3
    expected = [
        row | {"run": 0, "status": "ok", "model_a": "A", "rater_type": "llm"} for row in ROWS
    ]
    names = list(expected[0])
    assert not any(map(dict, reading.votes["extra"].to_pylist())) or name == "index.csv"
    assert reading.votes.select(names).to_pylist() == expected
    assert set(reading.votes["dataset"].to_pylist()) == {
        open_source(name, CONTAINERS[name], 10**6).stem
    }
    assert reading.votes["row"].to_pylist() == [1, 2, 3]


def test_a_path_reads_like_its_bytes(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(CONTAINERS["a.csv.gz"])
    from_path, from_bytes = (
        read([("a.csv.gz", path)])[0],
        read([("a.csv.gz", CONTAINERS["a.csv.gz"])])[0],
    )
    assert from_path.votes.equals(from_bytes.votes)
    assert from_path.sha256 == from_bytes.sha256


def test_wide_tables_have_a_column_a_judge():
    reading = read_one("question_id,model_a,model_b,gpt,claude,note\n1,x,y,A,B,n\n2,x,y,tie,,n\n")
    assert votes(reading) == [("1", "gpt", 1), ("1", "claude", -1), ("2", "gpt", 0)]
    assert reading.votes["row"].to_pylist() == [1, 1, 2]
    assert reading.votes["extra"].to_pylist() == [[("note", "n")]] * 3


def test_numbers_make_a_judge_only_where_they_can_be_nothing_else():
    text = "item_id,turn,gpt\n1,1,0\n2,2,-1\n"
    assert votes(read_one(text)) == [("1", "gpt", 0), ("2", "gpt", -1)]
    assert votes(read_one("item_id,gpt\n1,1\n2,2\n", labels="1/2/0")) == [
        ("1", "gpt", 1),
        ("2", "gpt", -1),
    ]


def test_wide_tables_reject_a_cell_and_keep_its_row():
    reading = read_one(
        "item_id,gpt,claude\n1,A,B\n2,B,?\n", layout="wide", judges=("gpt", "claude")
    )
    assert votes(reading) == [("1", "gpt", 1), ("1", "claude", -1), ("2", "gpt", -1)]
    assert reading.rejects.select(["row", "column", "value"]).to_pylist() == [
        {"row": 2, "column": "claude", "value": "?"}
    ]


SCORES = (
    "item_id,judge,score_a,score_b\n1,j,3,4\n2,j,4,4.1\n3,j,100.8,100.7\n4,j,9,1\n5,j,,1\n6,j,x,1\n"
)


@pytest.mark.parametrize(
    ("margin", "expected"), [(0.0, [-1, -1, 1, 1, None]), (0.1, [-1, 0, 0, 1, None])]
)
def test_two_scores_become_a_vote_with_a_tie_margin(margin, expected):
    reading = read_one(SCORES, tie_margin=margin)
    assert reading.votes["vote"].to_pylist() == expected
    assert reading.votes["status"].to_pylist() == ["ok"] * 4 + ["unparsed"]
    assert reading.rejects["column"].to_pylist() == ["score_a"]


def test_failed_votes_are_kept_and_are_no_ties():
    reading = read_one(
        "item_id,judge,vote,status,confidence\n1,j,,refused,0.9\n2,j,1,error,\n3,j,,,\n4,j,-1,,1\n5,j,,ok,\n6,j,1,odd,\n"
    )
    found = reading.votes.select(["vote", "status", "confidence"]).to_pylist()
    assert [(v["vote"], v["status"]) for v in found] == [
        (None, "refused"),
        (None, "error"),
        (None, "unparsed"),
        (-1, "ok"),
    ]
    assert [v["confidence"] for v in found] == [None, None, None, 1.0]
    assert reading.rejects.select(["row", "column"]).to_pylist() == [
        {"row": 5, "column": "vote"},
        {"row": 6, "column": "status"},
    ]
    assert any("status is not ok: 1" in note for note in reading.notes)


def test_an_unknown_label_rejects_its_row():
    reading = read_one("item_id,judge,vote\n1,j,A\n2,j,B\n3,j,D\n")
    assert votes(reading) == [("1", "j", 1), ("2", "j", -1)]
    assert reading.rejects.to_pylist()[0]["value"] == "D"


SLOTS = "item_id,judge,position,vote,gold\n1,j,ab,A,A\n1,j,ba,A,A\n2,j,ba,[[C]],B\n3,j,,B,A\n"


def test_letters_beside_swapped_rows_are_a_question():
    with pytest.raises(AmbiguousLabels, match=r"votes.csv: column 'vote'.*--label-refers"):
        read_one(SLOTS)
    question = inspect(SLOTS.encode(), "votes.csv").questions[0]
    assert (question.option, [value for value, _ in question.choices]) == (
        "label_refers",
        ["model", "slot"],
    )


def test_labels_can_name_the_models_or_the_slots():
    assert read_one(SLOTS, label_refers="model").votes["vote"].to_pylist() == [1, 1, 0, -1]
    slots = read_one(SLOTS, label_refers="slot")
    assert slots.votes["vote"].to_pylist() == [1, -1, 0]
    assert slots.votes["gold"].to_pylist() == [1, 1, -1]
    assert slots.rejects.to_pylist()[0]["column"] == "position"


def test_first_and_second_name_slots_without_asking():
    text = "item_id,judge,position,vote\n1,j,ab,first\n2,j,ba,first\n3,j,ba,second\n"
    assert read_one(text).votes["vote"].to_pylist() == [1, -1, 1]


def test_numbers_name_the_models():
    text = "item_id,judge,position,vote\n1,j,ab,1\n2,j,ba,1\n3,j,ba,-1\n"
    assert read_one(text).votes["vote"].to_pylist() == [1, 1, -1]
    reading = read_one(text, label_refers="slot")
    assert reading.votes["vote"].to_pylist() == [1, 1, -1]
    assert any("always name the models" in note for note in reading.notes)


def test_zero_and_one_alone_are_a_question():
    text = "item_id,judge,vote\n1,j,1\n2,j,0\n"
    with pytest.raises(AmbiguousLabels, match="--labels"):
        read_one(text)
    question = inspect(text.encode(), "votes.csv").questions[0]
    assert question.option == "labels"
    expected = {"1/0/-1": [1, 0], "1/2/0": [1, 0], "1/0": [1, -1], "0/1": [-1, 1]}
    assert [value for value, _ in question.choices] == list(expected)
    for labels, meaning in expected.items():
        assert read_one(text, labels=labels).votes["vote"].to_pylist() == meaning


def test_gold_follows_the_labels_of_the_votes_or_has_its_own():
    assert read_one("item_id,judge,vote,gold\n1,j,A,B\n2,j,B,tie\n").votes["gold"].to_pylist() == [
        -1,
        0,
    ]
    assert read_one("item_id,judge,vote,gold\n1,j,1,0\n2,j,-1,1\n").votes["gold"].to_pylist() == [
        0,
        1,
    ]
    assert read_one("item_id,judge,vote,gold\n1,j,A,1\n2,j,B,-1\n").votes["gold"].to_pylist() == [
        1,
        -1,
    ]
    mixed = "item_id,judge,vote,gold\n1,j,A,1\n2,j,B,0\n"
    with pytest.raises(AmbiguousLabels, match=r"'gold'.*--gold-labels"):
        read_one(mixed)
    assert read_one(mixed, gold_labels="0/1").votes["gold"].to_pylist() == [-1, 1]


def test_labels_can_be_model_names():
    rows = "1,j,GPT,gpt,llama\n2,j,tie,gpt,llama\n3,j,gpt,llama,gpt\n4,j,x,gpt,llama\n"
    text = f"item_id,judge,winner,model_a,model_b\n{rows}"
    reading = read_one(text)
    assert reading.votes["vote"].to_pylist() == [1, 0, -1]
    assert reading.rejects["row"].to_pylist() == [4]
    with pytest.raises(UnreadableFile, match="columns model_a and model_b"):
        read_one("item_id,judge,winner\n1,j,GPT\n", labels="names")


def test_columns_can_be_named_and_texts_fixed():
    text = "q,who wins,conf\n1,A,90\n2,B,80\n"
    mapping = (("item_id", "q"), ("vote", "who wins"), ("confidence", "conf"), ("judge", "=gpt-4"))
    reading = read_one(text, mapping=mapping)
    assert votes(reading) == [("1", "gpt-4", 1), ("2", "gpt-4", -1)]
    assert reading.votes["confidence"].to_pylist() == [0.9, 0.8]
    assert reading.mapping == {
        "item_id": "q",
        "vote": "who wins",
        "confidence": "conf",
        "judge": "=gpt-4",
    }


def test_options_that_name_nothing_are_refused():
    with pytest.raises(UnknownName, match="there is no column 'winer'"):
        read_one("item_id,judge,vote\n1,j,1\n", mapping=(("vote", "winer"),))
    with pytest.raises(UnknownName, match="not a canonical column"):
        ReadOptions(mapping=(("votes", "x"),))
    with pytest.raises(UnknownName, match="no such vocabulary"):
        ReadOptions(labels="letters")
    with pytest.raises(InvalidOption, match="--format 'csv'"):
        read_one("item_id,judge,vote\n1,j,1\n", format="csv")
    with pytest.raises(InvalidOption, match="--tie-margin"):
        ReadOptions(tie_margin=float("nan"))
    with pytest.raises(UnknownName, match="for a judge"):
        read_one("item_id,gpt\n1,A\n", judges=("claude",))


def test_gold_alone_is_a_file_of_gold():
    reading = read_one("item_id,model_a,model_b,gold\n1,x,y,1\n2,x,y,-1\n3,x,y,\n")
    assert reading.gold_only
    assert reading.votes["gold"].to_pylist() == [1, -1]
    assert reading.votes["vote"].null_count == 2
    assert reading.rejects.to_pylist()[0] | {"reason": ""} == {
        "row": 3,
        "column": "gold",
        "value": "",
        "reason": "",
        "kept": False,
    }


def test_identical_rows_load_once_and_conflicts_not_at_all():
    reading = read_one(
        "item_id,judge,run,vote\n1,j,0,1\n1,j,0,1\n2,j,0,-1\n2,j,0,1\n3,j,0,1\n3,j,1,-1\n"
    )
    assert votes(reading) == [("1", "j", 1), ("3", "j", 1), ("3", "j", -1)]
    assert reading.duplicates == 1
    assert reading.rejects["row"].to_pylist() == [3, 4]
    assert "keep one of them" in reading.rejects["reason"][1].as_py()


def test_repetitions_without_a_run_column_are_numbered():
    reading = read_one(
        "item_id,judge,position,vote\n1,j,ab,1\n1,j,ba,1\n1,j,ab,-1\n1,j,ab,1\n2,j,ab,1\n2,j,ab,1\n"
    )
    assert reading.votes["run"].to_pylist() == [0, 0, 1, 2, 0, 1]
    assert any("no column run" in note for note in reading.notes)
    assert (reading.duplicates, reading.rejects.num_rows) == (0, 0)


def test_identical_rows_without_a_run_column_are_duplicates_and_said_to_be():
    reading = read_one("item_id,judge,vote\n1,j,1\n1,j,1\n2,j,-1\n")
    assert (reading.votes.num_rows, reading.duplicates) == (2, 1)
    assert any("repeat an earlier one" in note for note in reading.notes)


def test_one_comparison_has_one_gold():
    reading = read_one("item_id,judge,vote,gold\n1,j,1,1\n1,k,1,-1\n1,l,1,\n2,j,-1,1\n")
    assert votes(reading) == [("1", "l", 1), ("2", "j", -1)]
    assert reading.rejects["row"].to_pylist() == [1, 2]
    assert reading.rejects["column"].to_pylist() == ["gold", "gold"]


def test_other_columns_are_kept_as_text():
    reading = read_one("item_id,judge,vote,lang,note\n1,j,1,de,\n2,j,-1,,x y\n3,j,1,,\n")
    assert reading.votes["extra"].to_pylist() == [[("lang", "de")], [("note", "x y")], []]


def test_rater_type_fills_what_the_file_leaves_open():
    text = "item_id,judge,vote,rater_type\n1,j,1,\n2,j,-1,LLM\n"
    assert read_one(text, rater_type="human").votes["rater_type"].to_pylist() == ["human", "llm"]


def test_the_data_set_is_the_column_the_option_or_the_stem():
    text = "dataset,item_id,judge,vote\nd,1,j,1\n,2,j,-1\n"
    assert read_one(text, name="dir/x.csv").votes["dataset"].to_pylist() == ["d", "x"]
    assert read_one(text, dataset="e").votes["dataset"].to_pylist() == ["e", "e"]


NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    lambda s: s.strip() == s
)
FORMULAS = st.text("'=+-@a", min_size=1, max_size=5)
TEXTS = st.one_of(
    st.none(),
    FORMULAS,
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1),
)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "item_id": st.one_of(NAMES, FORMULAS),
                "model_a": NAMES,
                "judge": st.one_of(NAMES, FORMULAS),
                "run": st.integers(-(2**63), 2**63 - 1),
                "vote": st.sampled_from((-1, 0, 1)),
                "confidence": st.one_of(st.none(), st.floats(0, 1)),
                "prompt": TEXTS,
                "rationale": TEXTS,
            }
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda row: (row["item_id"], row["model_a"], row["judge"], row["run"]),
    )
)
def test_an_export_reads_back_to_identical_votes(rows):
    """Law: read ∘ write_csv is the identity on votes, formula cells, quotes and line breaks
    included.
    """
    table = pa.Table.from_pylist(
        [{"dataset": "d", "status": "ok"} | row for row in rows], schema=VOTES.schema()
    )
    defaults = {"model_b": "B", "rater_type": "llm"}
    for name, value in defaults.items():
        table = table.set_column(COLUMN_NAMES.index(name), name, pa.array([value] * len(rows)))
    target = io.BytesIO()
    write_csv(table.select(COLUMN_NAMES), target)
    reading = read([("d.csv", target.getvalue())])[0]
    assert reading.rejects.to_pylist() == []
    assert reading.votes.select(COLUMN_NAMES).to_pylist() == table.select(COLUMN_NAMES).to_pylist()


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(12)))
def test_row_order_does_not_change_what_is_read(order):
    lines = [f"{i % 4},j{i % 3},{i // 6},{(i % 3) - 1},{0.5 + i / 100}" for i in range(12)]
    head = "item_id,judge,run,vote,confidence\n"

    def rows(text):
        found = read_one(text).votes.drop_columns(["row"]).to_pylist()
        return sorted(map(str, found))

    assert rows(head + "\n".join(lines[i] for i in order)) == rows(head + "\n".join(lines))


def test_inspection_says_what_read_would_do():
    text = "question_id,judge,winner,model_a,model_b,lang\n1,j,model_a,x,y,de\n2,j,tie,x,y,en\n"
    seen = inspect(text.encode(), "arena.csv")
    assert isinstance(seen, Inspection)
    assert (seen.format, seen.layout, seen.questions) == ("canonical", "long", ())
    assert seen.mapping == {
        "item_id": "question_id",
        "model_a": "model_a",
        "model_b": "model_b",
        "judge": "judge",
        "vote": "winner",
    }
    assert seen.columns[-1] == "lang"
    assert seen.head[0] == ("1", "j", "model_a", "x", "y", "de")
    assert dict(seen.labels) == {"model_a": 1, "tie": 1}
    assert seen.vocabularies == ("model_a/model_b",)


def test_inspection_asks_for_missing_columns_instead_of_raising():
    seen = inspect(b"item_id,turn\n1,1\n2,2\n", "x.csv")
    assert seen.missing == ("judge", "vote")
    assert [question.option for question in seen.questions] == ["mapping:judge", "mapping:vote"]


def test_ten_rows_are_read_back_in_words():
    reading = read_one(
        "item_id,judge,position,vote,gold,status,confidence\n"
        "17,gpt-4,ba,1,-1,,0.9\n18,gpt-4,,-1,,,\n19,gpt-4,ab,,0,refused,\n"
    )
    assert read_back(reading) == [
        "item 17: judge gpt-4 saw B first and said A is better with confidence 90%; gold says B",
        "item 18: judge gpt-4 said B is better",
        "item 19: judge gpt-4 saw A first and gave no vote (refused); gold says tie",
    ]
    many = read_one(
        "item_id,judge,vote\n" + "".join(f"{i},j,{1 - 2 * (i % 2)}\n" for i in range(50))
    )
    sentences = read_back(many)
    assert len(sentences) == 10
    assert sum("A is better" in sentence for sentence in sentences) == 5


def test_the_template_reads_without_a_question():
    reading = read_one(template(), name="template.csv")
    assert (reading.votes.num_rows, reading.rejects.num_rows) == (4, 0)
    assert inspect(template().encode(), "template.csv").questions == ()


@pytest.mark.parametrize(
    ("of", "rows"), [("one answer, pass or fail", 3), ("one answer, levels", 9)]
)
def test_templates_of_single_answers_read_with_their_people(of, rows):
    reading = read_one(template(of), name="template.csv")
    assert (reading.kind, reading.votes.num_rows, reading.rejects.num_rows) == ("scores", rows, 0)
    assert inspect(template(of).encode(), "template.csv").questions == ()
    audited = audit(template(of).encode(), splits=0)
    assert audited.scores[0].evidence.table.people.shape[0] == 3


def test_the_template_of_labels_joins_judgements_without_people():
    judged = "case_id,answer,judge_passed\nc1,yes,1\nc2,no,1\nc3,so,0\n"
    readings = read([("judged.csv", judged.encode())])
    labels = template("people's labels in a file of their own").encode()
    joined = join_labels(readings, ("labels.csv", labels), ReadOptions())
    people = [each for each in joined.readings if "human" in each.votes["rater_type"].to_pylist()]
    assert sum(each.votes["rater_type"].to_pylist().count("human") for each in people) == 3


def test_every_format_has_a_line():
    assert list(formats()) == [
        "canonical",
        "direct_scores",
        "rankings",
        "choices",
        "judgebench",
        "alpacaeval",
        "arenahard",
        "mtbench_pair",
        "mtbench_single",
        "llmbar",
        "kto",
        "pandalm",
        "inspect",
        "promptfoo",
        "deepeval",
        "mlflow",
        "phoenix",
        "phoenix_evals",
        "langfuse",
        "langsmith",
        "openai_evals",
        "lm_eval",
        "rewardbench",
        "preference_scores",
        "preference_pairs",
        "annotated_pairs",
        "prometheus",
        "alttest",
        "label_studio",
        "nested_runs",
        "wildbench_pairs",
        "wildbench",
    ]
    assert all(formats().values())


COUNTS = {
    "faireval": 1135,
    "judgebench": 4727,
    "judgeconf": 1365,
    "ko_arena_hard": 74999,
    "pandalm": 4970,
    "pba_position": 25564,
    "pba_repeat": 9043,
    "rewardbench2_pairs": 246144,
    "rewardbench2_temperature": 248640,
    "wmt23_ende_humans": 1560,
}
TYPED = (
    "dataset",
    "item_id",
    "category",
    "model_a",
    "model_b",
    "judge",
    "run",
    "position",
    "vote",
    "gold",
    "rater_type",
)


def test_the_demo_reads_as_pandas_reads_it():
    check_cells(REPOSITORY / "data" / "demo_votes.csv.gz", 57_120)


@pytest.mark.thorough
def test_real_votes_read_as_pandas_reads_them(shared_data, subtests):
    """Every cell of the real files, against pandas."""
    for name, rows in COUNTS.items():
        with subtests.test(name):
            check_cells(shared_data / "votes" / f"{name}.csv.gz", rows)


def check_cells(path, rows):
    reading = read([(path.name, path)])[0]
    assert (reading.rows, reading.votes.num_rows) == (rows, rows)
    assert (reading.rejects.num_rows, reading.duplicates) == (0, 0)
    expected = pd.read_csv(
        path, dtype={"category": str, "item_id": str}, keep_default_na=False, na_values=[""]
    )
    found = reading.votes.to_pandas()
    for column in (*TYPED, "confidence"):
        same = (found[column] == expected[column]) | (
            found[column].isna() & expected[column].isna()
        )
        assert same.all(), column


def test_headers_of_a_spreadsheet_are_known_by_what_they_say():
    rows = "Prompt,Judge,Preferred,Confidence (%),Correct answer\nWhy?,j,A,90,B\nHow?,j,tie,60,A\n"
    seen = inspect(rows.encode(), "x.csv")
    assert dict(seen.mapping) == {
        "item_id": "Prompt",
        "judge": "Judge",
        "vote": "Preferred",
        "confidence": "Confidence (%)",
        "gold": "Correct answer",
        "prompt": "Prompt",
    }
    votes = read_one(rows).votes
    assert votes["item_id"].to_pylist() == votes["prompt"].to_pylist() == ["Why?", "How?"]
    assert votes["confidence"].to_pylist() == [0.9, 0.6]
    assert votes["gold"].to_pylist() == [-1, 1]


def test_prompts_name_items_only_where_no_other_column_does():
    named = inspect(b"id,prompt,judge,vote,conf\n1,Why?,j,A,.9\n", "x.csv").mapping
    assert (named["item_id"], named["prompt"], named["confidence"]) == ("id", "prompt", "conf")
    for absent in ("item_id", "prompt"):
        without = inspect(
            b"prompt,judge,vote\nWhy?,j,A\n", "x.csv", ReadOptions(mapping=((absent, ""),))
        )
        assert "item_id" not in without.mapping


def test_a_verdict_is_read_back_with_the_name_of_the_better_model():
    reading = read_one(
        "item_id,judge,model_a,model_b,position,vote,gold\n5,j,our model v2,Llama 3,ab,-1,1\n"
    )
    (sentence,) = read_back(reading)
    assert "saw A first and said Llama 3 (B) is better; gold says our model v2 (A)" in sentence
