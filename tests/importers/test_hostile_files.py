"""Broken and hostile files: each gets a message that names place and remedy, or a rejected row that
does.

Text that looks like markup, SQL or a formula is data, and is read as it stands.
"""

import contextlib
import gzip
import io
import json
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from levels import first_of

from core.errors import AmbiguousLabels, AppellateError, UnreadableFile
from core.importers import ReadOptions, inspect, read
from core.importers.columns import CELL_LIMIT

HEAD = b"item_id,judge,vote\n"
GOOD = HEAD + b"1,j,1\n2,j,-1\n"


def packed_parquet(**columns):
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return target.getvalue()


PACKED = gzip.compress(GOOD * 999)
DAMAGED = PACKED[:30] + b"\xff" * 20 + PACKED[50:]
TWICE = io.BytesIO()
pq.write_table(
    pa.Table.from_arrays([pa.array(["1"]), pa.array(["2"])], names=["judge", "judge"]), TWICE
)

# name → (bytes, error, the place that the message must name, the remedy that it must name)
REFUSED = {
    "empty.csv": (b"", UnreadableFile, "0 bytes", "header and at least one row"),
    "blanks.csv": (b" \n\t\n\r\n", UnreadableFile, "blanks only", "header and at least one row"),
    "bom-only.csv": (b"\xef\xbb\xbf", UnreadableFile, "blanks only", "header and at least one row"),
    "header-only.csv": (HEAD, UnreadableFile, "line 2", "Add at least one row"),
    "one-column.csv": (b"item_id\n1\n", UnreadableFile, "line 1", "separated by comma"),
    "no-item.csv": (
        b"run,vote\n1,1\n2,-1\n",
        UnreadableFile,
        "line 1: no column for item_id and judge",
        "--map item_id=",
    ),
    "no-vote.csv": (b"item_id,judge\n1,j\n", UnreadableFile, "no column for vote", "--map vote="),
    "same-names.csv": (
        b"item_id,judge,vote,vote\n1,j,1,1\n",
        UnreadableFile,
        "columns 3 and 4",
        "Rename or remove",
    ),
    "utf-16-cut.csv": (
        GOOD.decode().encode("utf-16")[:-1],
        UnreadableFile,
        "begins as UTF-16",
        "Save it as UTF-8",
    ),
    "utf-16-bare.csv": (
        GOOD.decode().encode("utf-16-le"),
        UnreadableFile,
        "line 1, byte 2",
        "in UTF-8",
    ),
    "latin-1.csv": (
        HEAD + "1,j,1\n2,café,1\n".encode("latin-1") + "3,€,1\n".encode(),
        UnreadableFile,
        "line 3, byte 31: 0xe9",
        "as UTF-8",
    ),
    "cut-utf-8.csv": (HEAD + b"1,caf\xc3", UnreadableFile, "line 2, byte 25: 0xc3", "as UTF-8"),
    "bom-latin-1.csv": (
        b"\xef\xbb\xbf" + HEAD + b"\xe9,j,1\n",
        UnreadableFile,
        "line 2, byte 23: 0xe9",
        "as UTF-8",
    ),
    "nul.csv": (
        HEAD + b"1,j,1\n2,\0j,1\n",
        UnreadableFile,
        "line 3, byte 28: a NUL byte",
        "Save it as text",
    ),
    "open-quote.csv": (
        HEAD + b'1,j,1\n2,"j,1\n3,j,1\n',
        UnreadableFile,
        "line 3: a quote",
        "Close the quote",
    ),
    "open-quote-last.csv": (
        HEAD + b'1,j,1\n2,j,"1\n3,j,1\n',
        UnreadableFile,
        "line 3: a quote",
        "Close the quote",
    ),
    "page.csv": (b"<!DOCTYPE html><html></html>", UnreadableFile, "line 1", "save it as CSV"),
    "book.csv": (
        b"PK\x03\x04....",
        UnreadableFile,
        "byte 1: the file is a ZIP",
        "save the sheet as CSV",
    ),
    "paper.csv": (b"%PDF-1.7 ....", UnreadableFile, "byte 1: the file is a PDF", "as CSV"),
    "packed.csv.zst": (
        b"\x28\xb5\x2f\xfd....",
        UnreadableFile,
        "the zstd data is cut off or damaged",
        "Copy or download the file again",
    ),
    "cut.csv.gz": (
        gzip.compress(GOOD * 999)[:-9],
        UnreadableFile,
        "cut off after byte",
        "download the file again",
    ),
    "damaged.csv.gz": (DAMAGED, UnreadableFile, "damaged after 0", "download the file again"),
    "wrong-sum.csv.gz": (
        gzip.compress(GOOD)[:-8] + b"12345678",
        UnreadableFile,
        "damaged after",
        "file again",
    ),
    "twice.csv.gz": (
        gzip.compress(gzip.compress(GOOD)),
        UnreadableFile,
        "byte 1 unpacked",
        "Unpack it once",
    ),
    "hollow.csv.gz": (
        gzip.compress(b""),
        UnreadableFile,
        "empty inside",
        "header and at least one row",
    ),
    "fake.parquet": (
        b"PAR1 and nothing else",
        UnreadableFile,
        "byte 1: not a Parquet file",
        "use CSV",
    ),
    "text.parquet": (GOOD, UnreadableFile, "byte 1: not a Parquet file", "use CSV"),
    "cut.parquet": (
        packed_parquet(judge=["j"])[:-20],
        UnreadableFile,
        "byte 1: not a Parquet",
        "Write it again",
    ),
    "no-rows.parquet": (
        packed_parquet(judge=pa.array([], pa.string())),
        UnreadableFile,
        "row 1",
        "Add at least one",
    ),
    "same-names.parquet": (
        TWICE.getvalue(),
        UnreadableFile,
        "columns 1 and 2",
        "Rename or remove one",
    ),
    "spaced-names.parquet": (
        packed_parquet(**{"item_id": ["1"], "judge": ["j"], "vote": ["1"], " vote": ["-1"]}),
        UnreadableFile,
        "columns 3 and 4 are both named 'vote'",
        "Rename or remove one",
    ),
    "spaced-names.json": (
        b'[{"item_id":1,"judge":"j","vote":1," vote":-1}]',
        UnreadableFile,
        "keys 3 and 4 are both named 'vote'",
        "Rename or remove one",
    ),
    "deep.json": (b"[" * 200_000, UnreadableFile, "line 1: nested deeper than 64", "flat array"),
    "cut.json": (
        b'[{"item_id":1},\n{"item_id":2,',
        UnreadableFile,
        "line 2, column 14",
        "write it again",
    ),
    "long-number.json": (
        b'[{"vote":' + b"9" * 5000 + b"}]",
        UnreadableFile,
        "line 1: a number",
        "Shorten it",
    ),
    "no-objects.json": (b"[1, 2, 3]", UnreadableFile, "row 1: no JSON object", "array of objects"),
    "no-json.jsonl": (
        b"{vote: 1}\n{vote: 2}\n",
        UnreadableFile,
        "Row 1: not valid JSON",
        "one object a line",
    ),
    "mixed-labels.csv": (
        HEAD + b"1,j,A\n2,j,B\n3,j,model_a\n",
        AmbiguousLabels,
        "column 'vote': mixes vocabularies",
        "--labels",
    ),
    "zero-one.csv": (
        HEAD + b"1,j,0\n2,j,1\n",
        AmbiguousLabels,
        "column 'vote': holds only",
        "--labels",
    ),
    "minus-and-two.csv": (
        HEAD + b"1,j,-1\n2,j,2\n",
        AmbiguousLabels,
        "column 'vote': holds both",
        "--labels",
    ),
    "no-labels.csv": (
        HEAD + b"1,j,good\n2,j,bad\n",
        AmbiguousLabels,
        "'bad', 'good' are none that are known",
        "--labels",
    ),
    "slots.csv": (
        b"item_id,judge,vote,position\n1,j,A,ab\n2,j,B,ba\n",
        AmbiguousLabels,
        "column 'vote'",
        "--label-refers slot",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_file_is_refused_by_place_and_remedy(name):
    data, error, place, remedy = REFUSED[name]
    with pytest.raises(error) as caught:
        read([(name, data)])
    message = str(caught.value)
    assert message.startswith(f"{name}: ")
    assert place in message
    assert remedy in message


WITH_CONFIDENCE = b"item_id,judge,vote,confidence\n"

# name → (bytes, rows, column and start of the value, of the reason, the remedy, votes that are
# left)
REJECTED = {
    "short-row.csv": (
        GOOD + b"3,j\n",
        [3],
        "(whole row)",
        "3,j",
        "2 cells where the header has 3",
        "quote cells",
        2,
    ),
    "long-row.csv": (
        GOOD + b"3,j,1,1\n",
        [3],
        "(whole row)",
        "3,j,1,1",
        "4 cells",
        "quote cells",
        2,
    ),
    "short-rows-first.csv": (
        HEAD + b"x\n\n1,j,1\ny\n2,j,-1\n",
        [1, 3],
        "(whole row)",
        "x",
        "1 cells",
        "quote",
        2,
    ),
    "huge-cell.csv": (
        GOOD + b"3," + b"x" * (CELL_LIMIT + 1) + b",1\n",
        [3],
        "judge",
        "x" * 80 + "…",
        "1,048,577 characters",
        "shorten",
        2,
    ),
    "unknown-label.csv": (
        GOOD + b"3,j,?\n",
        [3],
        "vote",
        "?",
        "not a label of 1/0/-1",
        "--labels",
        2,
    ),
    "big-vote.csv": (
        GOOD + b"3,j,99999999999999999999\n",
        [3],
        "vote",
        "9999",
        "not a label",
        "correct it",
        2,
    ),
    "no-item.csv": (
        GOOD + b" ,j,1\n",
        [3],
        "item_id",
        "",
        "item_id is missing",
        "fill the cell",
        2,
    ),
    "no-judge.csv": (GOOD + b"3,,1\n", [3], "judge", "", "judge is missing", "fill the cell", 2),
    "confidence-1.7.csv": (
        WITH_CONFIDENCE + b"1,j,1,1.7\n2,j,-1,0.5\n3,j,-1,0.9\n",
        [1],
        "confidence",
        "1.7",
        "outside 0 to 1",
        "--confidence-scale",
        3,
    ),
    "confidence-101.csv": (
        WITH_CONFIDENCE + b"1,j,1,101\n2,j,-1,50\n3,j,-1,90\n",
        [1],
        "confidence",
        "101",
        "outside 0 to 100",
        "--confidence-scale",
        3,
    ),
    "nan.csv": (
        WITH_CONFIDENCE + b"1,j,1,NaN\n2,j,-1,\n",
        [1],
        "confidence",
        "NaN",
        "not a finite",
        "leave the cell",
        2,
    ),
    "infinite.csv": (
        WITH_CONFIDENCE + b"1,j,1,inf\n2,j,-1,\n",
        [1],
        "confidence",
        "inf",
        "not a finite",
        "leave",
        2,
    ),
    "comma.csv": (
        b"item_id;judge;vote;confidence\n1;j;1;0,9\n2;j;-1;0.5\n",
        [1],
        "confidence",
        "0,9",
        "not a number",
        "decimal point",
        2,
    ),
    "percent.csv": (
        WITH_CONFIDENCE + b"1,j,1,90%\n2,j,-1,95\n3,j,-1,0.9\n",
        [3],
        "confidence",
        "0.9",
        "carries no %",
        "percentage",
        3,
    ),
    "big-run.csv": (
        b"item_id,judge,vote,run\n1,j,1,9223372036854775808\n2,j,-1,9223372036854775807\n",
        [1],
        "run",
        "9223372036854775808",
        "does not fit 64 bits",
        "use a number between",
        1,
    ),
    "half-run.csv": (
        b"item_id,judge,vote,run\n1,j,1,1.5\n2,j,-1,2\n",
        [1],
        "run",
        "1.5",
        "not a whole",
        "digits",
        1,
    ),
    "position.csv": (
        b"item_id,judge,vote,position\n1,j,1,left\n2,j,-1,BA\n",
        [1],
        "position",
        "left",
        "not allowed here",
        "use ab, ba",
        1,
    ),
    "status.csv": (
        b"item_id,judge,vote,status\n1,j,1,fine\n2,j,-1,OK\n",
        [1],
        "status",
        "fine",
        "not allowed here",
        "use ok, unparsed",
        1,
    ),
    "conflict.csv": (
        b"item_id,judge,run,vote\n1,j,0,1\n1,j,0,-1\n2,j,0,1\n",
        [1, 2],
        "vote",
        "1",
        "conflict: item '1'",
        "keep one of them",
        1,
    ),
    "gold-conflict.csv": (
        b"item_id,judge,vote,gold\n1,j,1,1\n1,k,1,-1\n2,j,-1,1\n",
        [1, 2],
        "gold",
        "1",
        "item '1' has different gold",
        "keep one of them",
        1,
    ),
    "cut.jsonl": (
        b'{"item_id":1,"judge":"j","vote":-1}\n{"item_id":2,"ju',
        [2],
        "(whole row)",
        '{"item_id":2,"ju',
        "not valid JSON",
        "one complete object a line",
        1,
    ),
    "deep.jsonl": (
        b'{"item_id":1,"judge":"j","vote":-1}\n{"item_id":' + b"[" * 200_000 + b"\n",
        [2],
        "(whole row)",
        '{"item_id":[[[',
        "nested deeper than 64",
        "flat object",
        1,
    ),
    "no-object.jsonl": (
        b'{"item_id":1,"judge":"j","vote":-1}\n[1,2]\n',
        [2],
        "(whole row)",
        "[1, 2]",
        "not a JSON object",
        "columns as keys",
        1,
    ),
    "nan.jsonl": (
        b'{"item_id":1,"judge":"j","vote":-1}\n{"item_id":2,"judge":"j","vote":1,"confidence":NaN}\n',
        [2],
        "confidence",
        "NaN",
        "not a finite number",
        "leave the cell empty",
        2,
    ),
    "nul.jsonl": (
        b'{"item_id":1,"judge":"j","vote":-1}\n{"item_id":"a\\u0000","judge":"j","vote":1}\n',
        [2],
        "item_id",
        "a\0",
        "NUL",
        "remove it",
        1,
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_a_broken_row_is_rejected_by_place_and_remedy_and_the_rest_is_read(name):
    """Of a confidence that cannot be read the row is kept, with the same place and remedy."""
    data, rows, column, value, reason, remedy, left = REJECTED[name]
    reading = read([(name, data)])[0]
    assert reading.votes.num_rows == left
    rejects = reading.rejects.to_pylist()
    assert [reject["row"] for reject in rejects] == rows
    first = rejects[0]
    assert first["column"] == column
    assert first["value"].startswith(value)
    assert len(first["value"]) <= 81
    assert reason in first["reason"]
    assert remedy in first["reason"]
    assert [reject["kept"] for reject in rejects] == [column == "confidence"] * len(rejects)


@pytest.mark.parametrize("name", [*REFUSED, *REJECTED])
def test_inspection_asks_where_an_answer_helps_and_refuses_only_the_unreadable(name):
    data = REFUSED[name][0] if name in REFUSED else REJECTED[name][0]
    refused = REFUSED.get(name)
    if refused and refused[1] is UnreadableFile and "no column for" not in refused[2]:
        with pytest.raises(UnreadableFile):
            inspect(data, name)
    else:
        assert bool(inspect(data, name).questions) == (name in REFUSED)


@pytest.mark.thorough
def test_a_bloated_gzip_stops_early():
    """A gzip file of 1 MB that unpacks to 1 GB is refused after 200 times its size, not
    unpacked.
    """
    bloated = gzip.compress(b"0" * 100_000_000, 9) * 10
    tracemalloc.start()
    with pytest.raises(
        UnreadableFile, match=r"bloated.csv.gz: byte .* unpacked:.*Unpack it yourself, or split it"
    ):
        read([("bloated.csv.gz", bloated)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500_000_000


def test_sizes_are_bounded_by_the_option():
    with pytest.raises(UnreadableFile, match=r"x.csv: .* more than 10\. Split it"):
        read([("x.csv", GOOD)], ReadOptions(max_bytes=10))
    table = packed_parquet(judge=["j" * 1000] * 1000)
    with pytest.raises(UnreadableFile, match=r"x.parquet: column 'judge': .* split it"):
        read([("x.parquet", table)], ReadOptions(max_bytes=len(table)))


@pytest.mark.parametrize("mixed", [False, True])
def test_lines_that_end_with_cr_alone_are_lines(mixed):
    """Also where there are more of them than a table may have columns, or an LF behind them."""
    text = HEAD + b"".join(b"%d,j,%d\n" % (n, n % 3 - 1) for n in range(20_000))
    old = text.replace(b"\n", b"\r") + (b"20000,j,0\n" if mixed else b"")
    (found,) = read([("votes.csv", old)])
    assert len(found.votes) == 20_000 + mixed
    assert not len(found.rejects)
    assert found.votes["vote"].to_pylist()[:3] == [-1, 0, 1]


def test_zero_has_no_sign_and_what_is_nearest_to_zero_is_zero():
    zeros = ["-0", "-0.0", "1e-400", "-1e-400", "0"]
    lines = [f"{n},j,1,{text}" for n, text in enumerate(zeros)]
    rows = "\n".join(["item_id,judge,vote,confidence", "5,j,-1,0.5", "6,j,0,0.5", *lines])
    (found,) = read([("v.csv", rows.encode())])
    confidence = found.votes["confidence"].to_pylist()[2:]
    assert [str(value) for value in confidence] == ["0.0"] * 5
    votes = "\n".join(f"{n},j,{text}" for n, text in enumerate(["-0", "1", "-1", "-0.0", "+0"]))
    (found,) = read([("v.csv", f"item_id,judge,vote\n{votes}\n".encode())])
    assert found.votes["vote"].to_pylist() == [0, 1, -1, 0, 0]


def said_often(text, times):
    indices = pa.array([0] * times, pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array([text]))


BOMBS = {
    # What it holds, and the column and size that are named.
    "judge": (lambda: said_often("j" * 100_000, 20_000), "2,000,000,000 bytes up to row 20,000"),
    "other": (lambda: said_often(b"p" * 100_000, 20_000), "2,000,000,000 bytes up to row 20,000"),
    "list": (
        lambda: pa.ListArray.from_arrays(
            pa.array(range(20_001), pa.int32()), said_often("p" * 100_000, 20_000)
        ),
        "2,000,000,000 bytes up to row 20,000",
    ),
    "fixed": (
        lambda: pa.array([b"f" * 110_000] * 20_000, pa.binary(110_000)),
        "2,200,000,000 bytes once unpacked",
    ),
    "plain": (
        lambda: pa.array([f"{k}{'p' * 4_000}" for k in range(20_000)]),
        "bytes once unpacked, and all columns more than 7",
    ),
}


@pytest.mark.parametrize(
    "column",
    # To make the one of texts of a fixed size takes two gigabytes.
    [pytest.param(name, marks=[pytest.mark.thorough] * (name == "fixed")) for name in BOMBS],
)
def test_a_column_of_parquet_that_unfolds_is_named(column, tmp_path):
    """Before it is written out: the texts would take gigabytes."""
    made, said = BOMBS[column]
    n = pa.array(range(20_000))
    target = io.BytesIO()
    columns = {"item_id": n, "judge": said_often("j", 20_000), "vote": n} | {column: made()}
    pq.write_table(pa.table(columns), target, compression="zstd")
    assert len(target.getvalue()) < 400_000
    with pytest.raises(UnreadableFile) as caught:
        read([("bomb.parquet", target.getvalue())])
    assert f"column '{column}" in str(caught.value)
    assert said in str(caught.value)


def test_dictionaries_of_parquet_are_read_as_their_texts():
    """Also with a text twice, one that nothing has, a missing one, and parts that differ."""
    parts = [
        pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(texts))
        for codes, texts in (([0, 1, None, 2], ["x", "y", "x", "unused"]), ([1, 0, 0], ["y", "z"]))
    ]
    judges = pa.chunked_array(parts)
    target = io.BytesIO()
    n = len(judges)
    columns = {"item_id": range(n), "judge": pa.array(["j"] * n), "vote": [1, -1, 0, 1, 1, -1, 0]}
    table = pa.table(columns).append_column("category", judges)
    pq.write_table(table, target, row_group_size=3)
    (found,) = read([("v.parquet", target.getvalue())])
    assert found.votes["category"].to_pylist() == judges.to_pylist()


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(UnreadableFile, match=r"gone.csv: there is no such file. Check the path"):
        read([("gone.csv", tmp_path / "gone.csv")])
    with pytest.raises(UnreadableFile, match=r"the folder has no file that can be read"):
        read([("x", tmp_path)])


HOSTILE_TEXTS = (
    "<script>alert(1)</script>",
    "![x](http://host/pixel.png)",
    "'; DROP TABLE votes; --",
    'a "quoted" name',
    "name, with comma",
    "line\nbreak",
    "\u202ereversed",
    "{{7*7}}",
    "$(rm)",
    "%s %n",
    "🦆",
)


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_names_are_data(text):
    records = [
        {
            "item_id": text,
            "judge": text,
            "vote": -1,
            "model_a": text,
            text: "value",
            "rationale": text,
        }
    ]
    reading = read([("x.jsonl", json.dumps(records[0]).encode())])[0]
    vote = reading.votes.to_pylist()[0]
    assert [vote[name] for name in ("item_id", "judge", "model_a", "rationale")] == [text] * 4
    assert vote["extra"] == [(text, "value")]


def test_hostile_column_names_in_csv_are_data():
    data = b'item_id,judge,vote,"x""; DROP TABLE votes; --","<img src=http://host/p>"\n1,j,-1,a,b\n'
    extra = read([("x.csv", data)])[0].votes["extra"].to_pylist()[0]
    assert extra == [('x"; DROP TABLE votes; --', "a"), ("<img src=http://host/p>", "b")]


def test_formula_cells_are_text_and_one_apostrophe_of_an_export_is_undone():
    data = HEAD + b"=1+1,@j,1\n'=2+2,''+x,-1\n'quoted',\"'-1\",-1\n"
    found = read([("x.csv", data)])[0].votes
    assert found["item_id"].to_pylist() == ["=1+1", "=2+2", "'quoted'"]
    assert found["judge"].to_pylist() == ["@j", "'+x", "-1"]


def test_apostrophes_of_other_files_stay():
    data = b"question_id,judge,winner\n'=1,j,A\n2,j,B\n"
    assert read([("x.csv", data)])[0].votes["item_id"].to_pylist() == ["'=1", "2"]


def test_one_bad_file_among_several_is_named():
    with pytest.raises(UnreadableFile, match=r"^bad\.csv: "):
        read([("good.csv", GOOD), ("bad.csv", b"")])


def test_messages_cut_long_values_and_escape_them():
    data = b"item_id,judge,vote\n" + b"".join(
        b"%d,j,\x1b[31m%s\n" % (i, b"x" * 500) for i in range(3)
    )
    with pytest.raises(AmbiguousLabels) as caught:
        read([("x.csv", data)])
    assert "\x1b" not in str(caught.value)
    assert "x" * 90 not in str(caught.value)


PIECES = (
    *(
        b"item_id,judge,vote\n",
        b"item_id;gold\n",
        b"1,j,A\n",
        b"2,j,-1\n",
        b"=cmd|' /C'!A0",
        b"1e999",
    ),
    *(
        b'"',
        b"\n",
        b",",
        b"\r",
        b"\t",
        b"\xff",
        b"\0",
        b"\xe2\x80\xae",
        b"PAR1",
        b"\x1f\x8b\x08\x00",
    ),
    *(b"[{", b"}]", b"null", b"{}\n", b":3", b'{"item_id":', b'"judge":"j"'),
)


@settings(max_examples=200, deadline=None)
@given(
    data=st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), st.binary(max_size=60)
    ),
    name=st.sampled_from(["x.csv", "x.tsv", "x.jsonl", "x.json", "x.parquet", "x.csv.gz"]),
)
def test_no_bytes_raise_anything_but_a_named_error(data, name):
    for attempt in (lambda: read([(name, data)]), lambda: inspect(data, name)):
        with contextlib.suppress(AppellateError):
            attempt()


JUDGMENT = {"decision": "A>B", "judgment": {"judge_model": "j", "scores": [1, 2.5]}}
NATIVE = {
    "judgebench": {"pair_id": "p", "label": "A>B", "response_model": "m", "judgments": [JUDGMENT]},
    "alpacaeval": {
        "preference": 1.2,
        "instruction": "i",
        "output_1": "r",
        "output_2": "o",
        "generator_2": "m",
    },
    "arenahard": {
        "question_id": "q",
        "model": "m",
        "judge": "j",
        "games": [{"score": "A>B"}, {"score": None}],
    },
    "mtbench_pair": {
        "question_id": 1,
        "model_1": "m",
        "model_2": "n",
        "g1_winner": "tie",
        "g2_winner": "model_1",
        "judge": ["j", "p"],
    },
    "pandalm test set": {"idx": 0, "cmp_key": "x_y", "annotator1": 1},
    "pandalm output": {"idx": 0, "x_result": 1},
    "canonical": {
        "item_id": "i",
        "judge": "j",
        "vote": "A",
        "confidence": 0.5,
        "run": 1,
        "gold": "B",
    },
}
ANYTHING = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(), st.text(max_size=5)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(("decision", "judgment", "scores", "score")), inner, max_size=2
        ),
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("kind", first_of(*NATIVE))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_value_in_a_known_field_raises_anything_but_a_named_error(kind, data):
    """A sound first record, so that the format is recognised, then some with fields replaced or
    missing.
    """
    good = NATIVE[kind]
    records = [good]
    for _ in range(3):
        changed = data.draw(st.dictionaries(st.sampled_from(sorted(good)), ANYTHING, max_size=2))
        dropped = data.draw(st.sets(st.sampled_from(sorted(good)), max_size=1))
        records.append(
            {name: value for name, value in (good | changed).items() if name not in dropped}
        )
    test_set = json.dumps([NATIVE["pandalm test set"], {"cmp_key": "x_y"}, {"idx": [1]}]).encode()
    files = [("x.json", json.dumps(records).encode())] + [("t.json", test_set)] * (
        kind == "pandalm output"
    )
    with contextlib.suppress(AppellateError):
        reading = read(files)[0]
        assert reading.rows == 4
