"""Confidences on scales that are no probabilities: asked for, read as what the user says, and a
file most of whose rows are rejected is not used. A few that cannot be read cost no vote.
"""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from levels import first_of

from core.__main__ import main
from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.errors import AmbiguousLabels
from core.importers import ReadOptions, inspect, mostly_rejected, read
from core.schema import RowsRead, Selection
from core.store import Store
from core.store.export import write_file
from core.store.vote_queries import rows_read
from core.warehouse import Warehouse

HEAD = "item_id,judge,vote,confidence,gold\n"
RNG = np.random.default_rng(20)
COLUMNS = {
    # Confidences as a judge would state them, and the scales that their numbers fit.
    "1 to 5": (RNG.choice([1, 1, 2, 3, 4, 5], 300), ("1-5", "1-7", "1-10")),
    "1 to 7": (RNG.choice(range(1, 8), 300), ("1-7", "1-10")),
    "6 to 10": (RNG.choice(range(6, 11), 300), ("1-10", "100")),
    "0 to 10": (RNG.choice(range(11), 300), ("0-10", "100")),
    "logits": (RNG.normal(1.2, 1.6, 200).round(3), ("logit",)),
}


def table(confidences):
    rows = (f"q{i},j,{1 - 2 * (i % 2)},{sure},1\n" for i, sure in enumerate(confidences))
    return HEAD + "".join(rows)


def read_one(text, **options):
    return read([("votes.csv", text.encode())], ReadOptions(**options))[0]


@pytest.mark.parametrize("name", first_of(*COLUMNS, n=2))
def test_a_scale_that_is_none_of_probabilities_is_a_question(name, tmp_path, capsys):
    confidences, scales = COLUMNS[name]
    text = table(confidences)
    with pytest.raises(AmbiguousLabels, match="column 'confidence'") as raised:
        read_one(text)
    assert raised.value.option == "confidence_scale"
    (question,) = inspect(text.encode(), "votes.csv").questions
    assert question.option == "confidence_scale"
    assert tuple(scale for scale, _ in question.choices) == scales
    file = tmp_path / "votes.csv"
    file.write_text(text)
    assert main(["audit", str(file), "--splits", "0"]) == 2
    said = capsys.readouterr().err
    assert "--confidence-scale" in said
    assert all(scale in said for scale in scales)
    # Each of the answers reads every row, and so does leaving the column out.
    for scale in scales:
        store = str(tmp_path / f"{scale}.duckdb")
        assert main(["import", str(file), "--store", store, "--confidence-scale", scale]) == 0
        assert "rejected" not in capsys.readouterr().err
    assert main(["audit", str(file), "--splits", "0", "--map", "confidence="]) == 0


def test_levels_are_named_as_such_and_keep_their_order():
    confidences, _ = COLUMNS["1 to 7"]
    reading = read_one(table(confidences), confidence_scale="1-7")
    assert reading.n_rejected == 0
    given = reading.votes["confidence"].to_numpy()
    assert (
        np.sign(np.subtract.outer(given, given))
        == np.sign(np.subtract.outer(confidences, confidences))
    ).all()
    assert reading.votes["confidence_kind"].to_pylist() == ["level"] * 300
    assert any("no probabilities" in note for note in reading.notes)


def test_a_logit_becomes_its_probability_and_is_no_level():
    confidences, _ = COLUMNS["logits"]
    reading = read_one(table(confidences), confidence_scale="logit")
    assert reading.n_rejected == 0
    odds = [p / (1 - p) for p in reading.votes["confidence"].to_pylist()]
    assert np.allclose([math.log(each) for each in odds], confidences, atol=1e-9)
    assert set(reading.votes["confidence_kind"].to_pylist()) == {None}


def test_only_votes_with_a_level_have_the_kind():
    text = (
        "item_id,judge,vote,confidence,confidence_kind\n"
        "1,j,1,5,self\n2,j,1,,self\n3,j,1,2,\n4,j,,4,\n"
    )
    reading = read_one(text, confidence_scale="1-5")
    assert reading.votes["confidence"].to_pylist() == [1.0, None, 0.4, None]
    assert reading.votes["confidence_kind"].to_pylist() == ["level", "self", "level", None]


def test_an_export_of_levels_reads_back_as_levels(tmp_path):
    reading = read_one(table(COLUMNS["1 to 5"][0]), confidence_scale="1-5")
    out = tmp_path / "again.csv"
    with Store.open() as store:
        store.load(reading)
        write_file(store.export(), out)
    (again,) = read([(out.name, Path(out))])
    for column in ("confidence", "confidence_kind"):
        assert sorted(again.votes[column].to_pylist()) == sorted(reading.votes[column].to_pylist())


@pytest.mark.parametrize(("other", "fraction"), [("0.8", 0.8), ("98", 0.98)])
def test_a_sign_of_percent_is_of_its_cell_and_of_no_other(other, fraction, tmp_path):
    """In CSV, in Parquet, and where an engine reads."""
    head, *rows = table(["90%", *[other] * 9, "75.5 %", "x"]).splitlines()
    names = head.split(",")
    columns = zip(*(row.split(",") for row in rows), strict=True)
    file = tmp_path / "votes.parquet"
    pq.write_table(pa.table(dict(zip(names, columns, strict=True))), file)
    wanted = [0.9, *[fraction] * 9, 0.755, None]
    assert read_one("\n".join([head, *rows])).votes["confidence"].to_pylist() == wanted
    assert read([(file.name, file)])[0].votes["confidence"].to_pylist() == wanted
    with Warehouse.open(f"parquet://{tmp_path}", "votes") as engine:
        assert [sure for (sure,) in engine.rows("select confidence from votes")] == wanted
        assert engine.fetched.readings[0].n_unread == 1


@pytest.mark.parametrize("command", ["audit", "import", "report"])
@pytest.mark.parametrize(("bad", "code"), [(30, 0), (31, 2)])
def test_a_file_most_of_whose_rows_are_rejected_is_not_used(command, bad, code, tmp_path, capsys):
    rows = [f"q{i},j,{'maybe' if i < bad else (1, -1)[i % 2]},0.8,1\n" for i in range(60)]
    file = tmp_path / "votes.csv"
    file.write_text(HEAD + "".join(rows))
    more = {
        "audit": ("--splits", "0"),
        "import": ("--store", str(tmp_path / "store.duckdb")),
        "report": ("--splits", "0", "--html", str(tmp_path / "report.html")),
    }[command]
    given = ("--labels", "1/0/-1")
    assert main([command, str(file), *given, *more]) == code
    said = capsys.readouterr().err
    refused = f"votes.csv: {bad} of 60 rows were rejected, more than half"
    assert (refused in said) == (code == 2)
    if code == 2:
        assert f"Most often ({bad}): column vote, first 'maybe' in row 1: not a label of" in said
        assert "--labels" in said
        assert not list(tmp_path.glob("report.html"))


def test_rows_that_are_neither_read_nor_rejected_do_not_count_as_rejected():
    again = "".join(f"q{i % 3},j,1,0.8,1\n" for i in range(12))
    assert mostly_rejected(read_one(HEAD + again)) is None


UNREADABLE = ("high-ish", "n/a?", "1.7", *("abc", "nan") * 50)


def with_unreadable(n, rows=100, more=""):
    """Votes of which the first `n` state a confidence that cannot be read; `more` rows besides."""
    sure = [UNREADABLE[i] if i < n else "0.8" for i in range(rows)]
    return HEAD + "".join(f"q{i},j,{1 - 2 * (i % 2)},{sure[i]},1\n" for i in range(rows)) + more


def test_a_confidence_that_cannot_be_read_costs_the_confidence_and_not_the_vote():
    text = with_unreadable(3, more="q900,j,maybe,abc,1\nq901,j,,abc,1\n")
    reading = read_one(text, labels="1/0/-1")
    assert (reading.n_read, reading.n_rejected, reading.n_unread) == (101, 1, 4)
    assert reading.votes["confidence"].to_pylist() == [None] * 3 + [0.8] * 97 + [None]
    assert reading.votes["vote"].null_count == 1
    # A row that is rejected for its label has lost no confidence.
    assert [
        (reject["row"], reject["column"], reject["value"], reject["kept"])
        for reject in reading.rejects.to_pylist()
    ] == [
        (1, "confidence", "high-ish", True),
        (2, "confidence", "n/a?", True),
        (3, "confidence", "1.7", True),
        (101, "vote", "maybe", False),
        (102, "confidence", "abc", True),
    ]
    assert reading.notes[-1] == (
        "Column 'confidence' cannot be read for 4 votes, which are kept without it. The first is "
        "'high-ish' in row 1: not a number; write it with a decimal point, or leave the cell empty."
    )


def test_a_row_that_another_one_contradicts_has_lost_no_confidence():
    rows = "1,j,0,1,abc,1\n1,j,0,-1,.5,1\n2,j,0,1,abc,1\n2,j,0,1,abc,1\n3,j,0,1,.5,1\n3,k,0,1,,1\n"
    reading = read_one("item_id,judge,run,vote,confidence,gold\n" + rows)
    assert (reading.n_read, reading.n_rejected, reading.duplicates) == (3, 2, 1)
    assert [reject["row"] for reject in reading.rejects.to_pylist() if reject["kept"]] == [3]


def test_a_score_whose_confidence_cannot_be_read_is_kept():
    rows = "".join(f"{i},m,j,{i % 5 + 1},{('sure', '150%', '50%')[min(i, 2)]}\n" for i in range(19))
    rows += "19,m,j,3,0.5\n"
    reading = read_one("item_id,model,judge,score,confidence\n" + rows)
    assert (reading.kind, reading.n_read) == ("scores", 20)
    assert (reading.n_rejected, reading.n_unread) == (0, 2)
    assert reading.votes["confidence"].to_pylist() == [None] * 2 + [0.5] * 18


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("item_id,gold,gpt,claude,llama,confidence", "q{i},A,A,B,A,{sure}"),
        ("item_id,judge_score,annotator_1,annotator_2,confidence", "q{i},1,2,1,{sure}"),
    ],
)
def test_a_cell_of_several_judgements_is_the_share_of_rows_that_it_is_in(head, row):
    """Three judges, or raters, in a row: 6 of 200 cells are 18 of 600 judgements."""
    rows = (row.format(i=i, sure="abc" if i < 6 else 0.7) for i in range(200))
    reading = read_one("\n".join([head, *rows, ""]))
    with Store.open() as store:
        store.load(reading)
        assert rows_read(store, Selection()) == RowsRead(rows=600, rejected=0, unread=18)


@pytest.mark.parametrize(("unread", "grade"), [(2, "ok"), (3, "warn"), (11, "fail")])
def test_unreadable_confidences_are_part_of_the_check_data_and_missing_in_those_of_confidence(
    unread, grade, tmp_path, capsys
):
    file = tmp_path / "votes.csv"
    file.write_text(with_unreadable(unread))
    assert main(["audit", str(file), "--splits", "0", "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    (about,) = document["input"]["files"]
    assert (about["votes"], about["rejected"], about["unread"]) == (100, 0, unread)
    checks = {check["check"]: check for check in document["verdicts"]}
    assert checks["data"]["verdict"] == grade
    said = f"{unread}.0 % of 100 rows of the files have a confidence that could not be read, and"
    assert said in checks["data"]["sentence"]
    assert checks["accuracy"]["n_items"] == 100
    assert checks["calibration"]["n_items"] == 100 - unread
    assert document["notes"][0] == (
        f"votes.csv: Column 'confidence' cannot be read for {unread} votes, which are kept without "
        "it. The first is 'high-ish' in row 1: not a number; write it with a decimal point, or "
        "leave the cell empty."
    )
    # The count is the store's, without the file, and the receipt says the same.
    store = str(tmp_path / "votes.duckdb")
    assert main(["import", str(file), "--store", store]) == 0
    receipt = capsys.readouterr().out
    left_out = f"100 votes loaded into votes, {unread} confidences that could not be read left out"
    assert left_out in receipt
    assert document["notes"][0].partition(": ")[2] in receipt
    with Store.open(store) as kept:
        of_store = audit(kept, Selection(), AuditOptions(splits=0))
    (data,) = [check for check in of_store.checks if check.check == "data"]
    assert (data.grade, data.sentence) == (grade, checks["data"]["sentence"])


def test_a_file_most_of_whose_confidences_cannot_be_read_is_not_used(tmp_path, capsys):
    file = tmp_path / "votes.csv"
    command = ["import", str(file), "--store", str(tmp_path / "store.duckdb")]
    file.write_text(with_unreadable(51))
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "votes.csv: 51 of 100 rows have a confidence that could not be read, more than" in said
    assert "column confidence, first 'high-ish' in row 1: not a number" in said
    assert said.endswith("Or leave the confidences out with --map confidence=.\n")
    assert main([*command, "--map", "confidence="]) == 0
    file.write_text(with_unreadable(50))
    assert main(command) == 0
