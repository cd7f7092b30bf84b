"""Files as spreadsheets and databases write them hold the votes of the same plain CSV."""

import sqlite3
from contextlib import closing

import pytest

from core.errors import UnreadableFile
from core.importers import read

_PLAIN = "item_id,judge,vote\n" + "".join(f"i{n},j,{'AB'[n % 2]}\n" for n in range(8))


def _read(text: bytes, name: str = "votes.csv"):
    (result,) = read([(name, text)])
    return result


def _votes(result):
    return result.votes.select(["item_id", "judge", "vote"]).to_pylist()


_SEMICOLONS = _PLAIN.replace(",", ";")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (("\ufeff" + _PLAIN).encode("utf-16-le"), "read as UTF-16"),
        (("\ufeff" + _PLAIN).encode("utf-16-be"), "read as UTF-16"),
        (("\ufeff" + _PLAIN).encode("utf-32-le"), "read as UTF-32"),
        (("\ufeff" + _PLAIN).encode("utf-32-be"), "read as UTF-32"),
        (f"sep=;\r\n{_SEMICOLONS}".encode(), ""),
        (f'"sep=;"\n{_SEMICOLONS}'.encode(), ""),
        (f"Export of 3 March\n\n{_PLAIN}".encode(), "Line 3 is the header"),
        (f"Export of 3 March,,\nWeek 9,,\n{_PLAIN}".encode(), "Line 3 is the header"),
        (f"Votes, March\n{_SEMICOLONS}".encode(), "Line 2 is the header"),
        (f"# made by a tool, in March\n{_PLAIN}".encode(), "Line 2 is the header"),
    ],
)
def test_dresses_of_csv(text, note):
    result = _read(text)
    assert _votes(result) == _votes(_read(_PLAIN.encode()))
    assert any(note in each for each in result.notes) or not note


@pytest.mark.parametrize(
    "text",
    [
        ",vote,judge,item_id\n0,A,j,i0\n1,B,j,i1\n",
        "item_id,judge,vote\ni0,j,A,more\ni1,j,B,more\ni2,j,A\n",
        "item_id;judge;vote\ni0;j;A\ni1;j;B\n",
    ],
)
def test_a_header_is_no_title(text):
    assert not any("is the header" in note for note in _read(text.encode()).notes)


def _database(*statements: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
        return bytes(database.serialize())


_VOTES = "CREATE TABLE votes (item_id TEXT, judge TEXT, vote TEXT)"


def test_the_only_table_of_sqlite_is_read():
    rows = [line.split(",") for line in _PLAIN.splitlines()[1:]]
    inserts = ["INSERT INTO votes VALUES ('{}', '{}', '{}')".format(*row) for row in rows]
    result = _read(_database(_VOTES, *inserts), "votes.sqlite")
    assert _votes(result) == _votes(_read(_PLAIN.encode()))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            _database(
                _VOTES,
                "INSERT INTO votes VALUES ('q1', 'j', 'A')",
                "CREATE TABLE other (x)",
                "INSERT INTO other VALUES (1)",
            ),
            "'votes' ('item_id', 'judge', 'vote'); 'other' ('x')",
        ),
        (_database("CREATE VIEW v AS SELECT 1"), "without a table that has rows"),
        (_database(_VOTES)[:4096], "SQLite database cannot be read"),
        (_database(_VOTES).replace(b"item_id", b"it\xffm_id"), "SQLite database cannot be read"),
        (b"\xff\xfea", "begins as UTF-16"),
    ],
)
def test_what_cannot_be_read_says_why(data, said):
    with pytest.raises(UnreadableFile) as refused:
        _read(data, "x.db")
    assert said in str(refused.value)


def test_computed_cells_are_bounded():
    endless = (
        "CREATE TABLE t (a, b AS (length(hex(zeroblob(400000000)))), c, d)",
        "INSERT INTO t (a) VALUES (1)",
    )
    with pytest.raises(UnreadableFile):
        _read(_database(*endless), "x.db")


@pytest.mark.parametrize(("cells", "decimal"), [(("1,234", "987"), False), (("92,5", "8"), True)])
def test_commas_of_thousands_are_no_decimal_commas(cells, decimal):
    rows = "".join(f"i{n};j;{'AB'[n % 2]};{cells[n % 2]}\n" for n in range(8))
    result = _read(f"item_id;judge;vote;cost\n{rows}".encode())
    assert any("Decimal commas" in note for note in result.notes) == decimal
