"""A table of a database, or a sheet of a workbook, is read as the CSV of the same rows."""

import gzip
import io
import sqlite3
import zipfile
from contextlib import closing

import duckdb
import pytest

import core
from core.errors import UnreadableFile
from core.importers import read
from core.store.export import is_database

ROWS = [(f"q{n // 2}", f"judge-{n % 2}", "AB"[n % 3 > 0], "AB"[n // 2 % 2]) for n in range(40)]
HEADER = ("item_id", "judge", "vote", "gold")
CSV = "\n".join(map(",".join, [HEADER, *ROWS, ()])).encode()


def _votes(path, name=None):
    (result,) = read([(name or path.name, path)])
    return result.votes.select(list(HEADER)).to_pylist()


@pytest.fixture(name="plain")
def _plain():
    (result,) = read([("votes.csv", CSV)])
    return result.votes.select(list(HEADER)).to_pylist()


@pytest.fixture(name="sqlite")
def _sqlite(tmp_path):
    path = tmp_path / "log.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"create table Votes ({', '.join(HEADER)})")
        database.executemany("insert into Votes values (?, ?, ?, ?)", ROWS)
        database.execute("create table prompts (item_id, prompt)")
        database.commit()
    return path


@pytest.fixture(name="duck")
def _duck(tmp_path):
    path = tmp_path / "log.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(f"create table Votes ({', '.join(f'{name} varchar' for name in HEADER)})")
        database.executemany("insert into Votes values (?, ?, ?, ?)", ROWS)
        database.execute("create table prompts (item_id varchar, prompt varchar)")
    return path


@pytest.mark.parametrize("kind", ["sqlite", "duck"])
def test_a_table_is_named_after_the_file_where_several_have_rows(kind, plain, request):
    path = request.getfixturevalue(kind)
    assert _votes(path) == plain
    connect = sqlite3.connect if kind == "sqlite" else duckdb.connect
    with closing(connect(str(path))) as database:
        database.execute("insert into prompts values ('q1', 'Which?')")
        database.commit()
    with pytest.raises(UnreadableFile, match=r"Which of them holds the judgements: .*'Votes'"):
        _votes(path)
    assert _votes(path.with_name(f"{path.name}::votes")) == plain
    with pytest.raises(UnreadableFile, match=r"no table 'labels'.*'prompts'"):
        _votes(path.with_name(f"{path.name}::labels"))


def test_bytes_of_a_database_are_read_alike(sqlite, duck, plain):
    for path in (sqlite, duck):
        (result,) = read([(path.name, path.read_bytes())])
        assert result.votes.select(list(HEADER)).to_pylist() == plain


def test_a_file_without_tables_says_so(tmp_path):
    (tmp_path / "votes.csv").write_bytes(CSV)
    with pytest.raises(UnreadableFile, match="Leave out '::sheet'"):
        _votes(tmp_path / "votes.csv::sheet")


def test_a_database_of_others_is_no_store(duck, tmp_path):
    assert not is_database(duck)
    with core.Store.open(tmp_path / "own.duckdb") as store:
        store.load(read([("votes.csv", CSV)])[0])
    assert is_database(tmp_path / "own.duckdb")
    assert core.audit(duck).judges["judge-0"].accuracy == core.audit(CSV).judges["judge-0"].accuracy


def test_what_files_of_an_archive_unpack_to_has_one_total():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for n in range(3):
            text = b"item_id,judge,vote\n" + b"q,j,A\n" * 5_000_000
            file.writestr(f"{n}.csv.gz", gzip.compress(text, 1))
    with pytest.raises(UnreadableFile, match="unpacks to more"):
        read([("votes.zip", packed.getvalue())])


def test_packed_files_of_an_archive_are_read(plain):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("votes.csv.gz", gzip.compress(CSV))
    (result,) = read([("votes.zip", packed.getvalue())])
    assert result.votes.select(list(HEADER)).to_pylist() == plain
