"""A broken file leaves the store as it was: same version, same votes, whatever came with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_hostile_files import HOSTILE_TEXTS, REFUSED, REJECTED

from core.__main__ import main
from core.errors import UnknownName
from core.importers import ReadOptions, read
from core.store import Store

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


def test_there_are_thirty_broken_files_and_more() -> None:
    assert len(REFUSED) >= 30
    assert len(REJECTED) >= 10


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_file_leaves_the_store_as_it_was(
    name: str, filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even beside a good file: what is named in one command loads together or not at all."""
    before = state(filled)
    broken, good = tmp_path / name, tmp_path / "good.csv"
    broken.write_bytes(REFUSED[name][0])
    good.write_bytes(b"item_id,judge,vote\n9,new,1\n")
    assert main(["import", str(good), str(broken), "--store", str(filled)]) == 2
    said = capsys.readouterr().err
    assert name in said
    assert said.count("\n") == 1
    assert state(filled) == before


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
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
        assert {found.name: found.votes for found in store.datasets()} == {"before": 2, "hostile": 1}
        with pytest.raises(UnknownName):
            store.delete_dataset(text)
