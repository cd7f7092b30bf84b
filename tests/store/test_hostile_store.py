"""A broken file leaves the store as it was: same version, same votes, whatever came with it."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from levels import first_of
from places import REPOSITORY
from test_hostile_files import HOSTILE_TEXTS, REFUSED, REJECTED

from core.__main__ import main
from core.errors import UnknownName
from core.importers import ReadOptions, read
from core.store import Store
from core.store.export import write_file

BEFORE = b"item_id,judge,vote,gold\n1,kept,1,1\n2,kept,-1,1\n"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "votes.duckdb"
    with Store.open(path) as store:
        store.load(read([("before.csv", BEFORE)], ReadOptions())[0])
    return path


def state(path: Path) -> tuple[int, list[dict[str, object]]]:
    with Store.open(path) as store:
        return store.version, store.export().to_pylist()


@pytest.fixture(scope="module")
def before(filled: Path) -> tuple[int, list[dict[str, object]]]:
    """Its state, which no test changes."""
    return state(filled)


def test_there_are_thirty_broken_files_and_more() -> None:
    assert len(REFUSED) >= 30
    assert len(REJECTED) >= 10


@pytest.mark.parametrize("name", first_of(*REFUSED, n=6))
def test_a_refused_file_leaves_the_store_as_it_was(
    name: str,
    filled: Path,
    before: tuple[int, list[dict[str, object]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Even beside a good file: what is named in one command loads together or not at all."""
    broken, good = tmp_path / name, tmp_path / "good.csv"
    broken.write_bytes(REFUSED[name][0])
    good.write_bytes(b"item_id,judge,vote\n9,new,1\n")
    assert main(["import", str(good), str(broken), "--store", str(filled)]) == 2
    said = capsys.readouterr().err
    assert name in said
    assert said.count("\n") == 1
    assert state(filled) == before


@pytest.mark.parametrize("text", first_of(*HOSTILE_TEXTS, n=3))
def test_hostile_names_load_as_data_and_change_nothing_else(text: str, tmp_path: Path) -> None:
    path = tmp_path / "votes.duckdb"
    cell = '"' + text.replace('"', '""') + '"'
    with Store.open(path) as store:
        store.load(read([("before.csv", BEFORE)], ReadOptions())[0])
        hostile = f"item_id,judge,vote,category\n1,{cell},1,{cell}\n".encode()
        reading = read([("hostile.csv", hostile)], ReadOptions())[0]
        if not reading.votes.num_rows:
            pytest.skip("a text that no row can hold")
        store.load(reading)
        assert {found.name: found.votes for found in store.datasets()} == {
            "before": 2,
            "hostile": 1,
        }
        with pytest.raises(UnknownName):
            store.delete_dataset(text)


def test_what_nobody_foresaw_is_one_line_a_report_and_an_exit_code_of_its_own(
    filled, tmp_path, monkeypatch, capsys
):
    """Exit code 1 is that of a gate that failed; a traceback would pass for one."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(Store, "export", broken)
    before = filled.read_bytes()
    assert main(["export", str(tmp_path / "out.csv"), "--store", str(filled)]) == 70
    (line,) = capsys.readouterr().err.splitlines()
    said = r"an error that nobody foresaw \(ZeroDivisionError: a fault of ours\)\."
    found = re.fullmatch(rf"appellate: {said} (\S+) says where; .*", line)
    assert found
    assert "in broken" in Path(found[1]).read_text(encoding="utf-8")
    assert filled.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()


def test_a_store_without_a_name_is_refused(tmp_path, capsys):
    assert main(["export", str(tmp_path / "out.csv"), "--store", ""]) == 2
    assert "--store: the name is empty" in capsys.readouterr().err


def test_a_store_is_not_exported_over_itself(filled, tmp_path, capsys):
    """Under another name of the same file too."""
    before = state(filled)
    other = tmp_path / "other.csv"
    other.symlink_to(filled)
    for out in (filled, other):
        assert main(["export", str(out), "--store", str(filled)]) == 2
        assert "is the store itself" in capsys.readouterr().err
    assert state(filled) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_load_whose_lines_cannot_be_written_says_that_it_is_done(tmp_path):
    file, path = tmp_path / "votes.csv", tmp_path / "votes.duckdb"
    file.write_bytes(BEFORE)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "core", "import", str(file), "--store", str(path)],
            cwd=REPOSITORY,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 0
    assert re.match(
        r"appellate: the load is done, only its lines cannot be written .* 2 votes loaded",
        done.stderr,
    )
    with Store.open(path) as store:
        assert store.export().num_rows == 2


@pytest.mark.parametrize(
    "sign", first_of("=", "＋", "\t=", "+", "-", "@", "＝", "－", "＠", "\n=", "'=", n=3)
)
def test_no_text_of_a_vote_is_a_formula_in_an_export(sign, tmp_path):
    """Spreadsheets take full-width signs for formulas too; read again, the text is what it was."""
    text = f"{sign}1+cmd"
    quoted = text.replace('"', '""')
    reading = read(
        [("a.csv", f'item_id,judge,vote,note\n1,j,1,"{quoted}"\n'.encode())], ReadOptions()
    )
    with Store.open(None) as store:
        store.load(reading[0])
        written = store.export().to_pylist()[0]["note"]
        write_file(store.export(), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["note"].startswith("'")
    again = read([("b.csv", (tmp_path / "out.csv").read_bytes())], ReadOptions())
    with Store.open(None) as store:
        store.load(again[0])
        assert store.export().to_pylist()[0]["note"] == written
