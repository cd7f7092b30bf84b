"""A store that is deleted, replaced, restored or locked away while it is open: nothing is lost in
silence.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from damaged_stores import leave_a_log
from levels import first_of
from patience import LONG
from places import REPOSITORY

from core.__main__ import main
from core.errors import AppellateError, StoreReplaced
from core.importers import read
from core.schema import ImportResult
from core.store import Store
from core.store.damage import log_of

posix = pytest.mark.skipif(os.name != "posix", reason="here an open file cannot be replaced")


def votes(name: str, *items: str) -> ImportResult:
    rows = "".join(f"{item},j,1\n" for item in items)
    return read([(f"{name}.csv", f"item_id,judge,vote\n{rows}".encode())])[0]


def held(path: Path) -> dict[str, int]:
    with Store.open(path) as store:
        return {found.name: found.votes for found in store.datasets()}


def deleted(path: Path, _: Path) -> None:
    path.unlink()


def replaced(path: Path, backup: Path) -> None:
    path.unlink()
    shutil.copy(backup, path)


def renamed(path: Path, backup: Path) -> None:
    backup.replace(path)


def overwritten(path: Path, backup: Path) -> None:
    shutil.copy(backup, path)


@posix
@pytest.mark.parametrize("happens", first_of(replaced, overwritten, deleted, renamed, n=2))
def test_a_load_into_a_store_that_is_gone_is_not_acknowledged(
    happens: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    path, backup = tmp_path / "s.duckdb", tmp_path / "backup"
    with Store.open(path) as store:
        store.load(votes("first", "1"))
    shutil.copy(path, backup)
    with Store.open(path) as store:
        store.load(votes("second", "2", "3"))
    with Store.open(path) as store:
        before = store.version
        happens(path, backup)
        with pytest.raises(StoreReplaced, match="Nothing was changed"):
            store.load(votes("third", "4"))
        with pytest.raises(StoreReplaced):
            store.delete_dataset("first")
        assert store.version == before
        # What is shown can still be saved.
        if happens is not overwritten:
            assert store.export().num_rows == 3
    # Closing leaves alone what was put there.
    assert not path.exists() if happens is deleted else held(path) == {"first": 1}


@posix
def test_a_change_that_went_into_a_deleted_file_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        from core.store import store as module

        loading = module.load

        def delete_meanwhile(*given: object, **options: object) -> object:
            path.unlink()
            return loading(*given, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(module, "load", delete_meanwhile)
        with pytest.raises(StoreReplaced, match="This change is lost"):
            store.load(votes("first", "1"))


@posix
def test_a_second_process_is_still_kept_out(tmp_path: Path) -> None:
    """A process gives up its locks on a file when it closes any descriptor of it."""
    path = tmp_path / "s.duckdb"
    code = f"from core.store import Store\nStore.open({str(path)!r})"
    with Store.open(path) as store:
        store.load(votes("first", "1"))
        Store.open(path).close()
        store.load(votes("second", "1"))
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=LONG,
        )
        assert "StoreInUse" in done.stderr


@pytest.mark.thorough
def test_backup_and_restore_as_written_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log of the replaced file is left behind: it is set aside, and can be put back with its
    file.
    """
    path, backup = tmp_path / "s.duckdb", tmp_path / "backup.duckdb"
    (tmp_path / "first.csv").write_text("item_id,judge,vote\n1,j,1\n2,j,1\n")
    assert main(["import", str(tmp_path / "first.csv"), "--store", str(path)]) == 0
    shutil.copy(path, backup)
    assert main(["export", str(tmp_path / "check.csv"), "--store", str(backup)]) == 0
    with Store.open(path) as store:
        store.load(votes("second", "1"))
    leave_a_log(path)
    kept = tmp_path / "kept.duckdb"
    shutil.copy(path, kept)
    shutil.copy(backup, path)
    capsys.readouterr()
    (tmp_path / "third.csv").write_text("item_id,judge,vote\n1,j,1\n")
    assert main(["import", str(tmp_path / "third.csv"), "--store", str(path)]) == 0
    (aside,) = tmp_path.glob("s.duckdb.wal.set-aside-*")
    assert aside.name in capsys.readouterr().err
    assert held(path) == {"first": 2, "third": 1}
    aside.rename(log_of(kept))
    assert held(kept) == {"first": 2, "second": 1, "late": 1}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the rights of POSIX")
def test_a_store_that_cannot_be_written_can_be_exported(tmp_path: Path) -> None:
    """As on a file system that is read only; with its log, which holds the latest votes."""
    folder = tmp_path / "store"
    folder.mkdir()
    path = folder / "s.duckdb"
    with Store.open(path) as store:
        store.load(votes("first", "1"))
    leave_a_log(path)
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    for each in folder.iterdir():
        each.chmod(0o444)
    folder.chmod(0o555)
    try:
        assert main(["export", str(tmp_path / "out.csv"), "--store", str(path)]) == 0
    finally:
        folder.chmod(0o755)
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before
    assert (tmp_path / "out.csv").read_text().count("\n") == 3


def _load_two_and_fail(store: Store) -> None:
    with store.together():
        store.load(votes("one", "1", "2"))
        store.load(votes("two", "1"))
        store.rename_dataset("kept", "one")


def test_loads_that_belong_together_happen_together(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb") as store:
        store.load(votes("kept", "1"))
        before = store.version
        with pytest.raises(AppellateError):
            _load_two_and_fail(store)
        assert ([found.name for found in store.datasets()], store.version) == (["kept"], before)
        with store.together():
            assert store.load(votes("one", "1", "2")).loaded == 2
            assert store.load(votes("two", "1")).loaded == 1
            assert store.load(votes("one", "1", "2")).already_loaded
        assert {found.name: found.votes for found in store.datasets()} == {
            "kept": 1,
            "one": 2,
            "two": 1,
        }
        assert store.version == before + 1
