"""Stores of earlier layouts are upgraded at opening: nothing is lost, and nothing half done."""

import io
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from earlier_stores import STORES, exported, unpacked
from pyarrow import csv
from unusable_stores import without_rights

from core.__main__ import main
from core.errors import DamagedStore, UnreadableFile
from core.importers import read
from core.store import Store, upgrades
from core.store.connection import Database
from core.store.export import write_csv
from core.store.schema import VERSION
from core.store.upgrades import OLDEST, STEPS

LAYOUTS = range(OLDEST, int(VERSION))
NAMES = ("layout-6-first", *(f"layout-{layout}" for layout in LAYOUTS))
KINDS = ("votes", "scores", "rankings")


def columns(path: Path) -> list[tuple]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(
            """select table_name, column_index, column_name, data_type from duckdb_columns()
               where not internal order by all"""
        ).fetchall()


def layout_of(path: Path) -> int:
    with duckdb.connect(str(path), read_only=True) as connection:
        return int(
            connection.execute("select value from settings where key = 'schema'").fetchall()[0][0]
        )


def as_text(written: bytes) -> pa.Table:
    table = csv.read_csv(
        io.BytesIO(written), parse_options=csv.ParseOptions(newlines_in_values=True)
    )
    return pa.table({name: table[name].cast("string") for name in table.column_names})


def export_of(store: Store, kind: str) -> pa.Table:
    target = io.BytesIO()
    write_csv(store.export(kind=kind), target)
    return as_text(target.getvalue())


def assert_nothing_lost(store: Store, name: str) -> None:
    """Every cell that the version of the store exported is exported now, in the same order."""
    for kind in KINDS:
        before, now = as_text(exported(name, kind)), export_of(store, kind)
        assert now.num_rows == before.num_rows > 0
        for column in before.column_names:
            # Until scores had metrics and gold of their own, files' columns of these names were
            # extra ones.
            cells = before[column].to_pylist()
            if column == "metric":
                cells = [cell or "score" for cell in cells]
            renamed = column.removesuffix(" (in the file)") if kind == "scores" else column
            assert now[renamed].to_pylist() == cells, (kind, column)


def test_every_earlier_layout_has_a_step_and_a_store():
    assert sorted(STEPS) == list(LAYOUTS), "a step from each layout to the next"
    for layout in LAYOUTS:
        for ending in ("duckdb.gz", *(f"{kind}.csv.gz" for kind in KINDS)):
            path = STORES / f"layout-{layout}.{ending}"
            assert path.is_file(), f"{path.name} is absent: data/stores/README.md says how"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost_or_changed(name, tmp_path):
    path, layout = unpacked(name, tmp_path), int(name.split("-")[1])
    assert layout_of(path) == layout
    fresh = tmp_path / "fresh.duckdb"
    Store.open(fresh).close()
    with Store.open(path) as store:
        assert any(f"from layout {layout} to {VERSION}" in note for note in store.notes)
        store.check()
        assert_nothing_lost(store, name)
        # Files that were loaded are known, and the store goes on.
        again = read([("labelled.csv", STORES / "labelled.csv.gz")])
        assert sum(store.load(reading).loaded for reading in again) == 0
    assert columns(path) == columns(fresh)
    (kept,) = tmp_path.glob(f"{name}.duckdb.layout-{layout}-*")
    assert layout_of(kept) == layout
    with Store.open(path) as store:
        assert store.notes == ()


def test_scores_of_layout_7_get_the_metric_and_gold_that_their_file_had(tmp_path):
    """Such columns were extra ones then."""
    tables = []
    for layout in (7, 8):
        with Store.open(unpacked(f"layout-{layout}", tmp_path)) as store:
            tables.append(store.export(kind="scores"))
    assert tables[0].column_names == tables[1].column_names
    # What a reader of layout 8 finds out of the scores themselves a file did not say.
    for column in {*tables[1].column_names} - {"scale_low", "scale_high", "lower_is_better"}:
        assert tables[0][column].to_pylist() == tables[1][column].to_pylist(), column
    assert pc.sum(pc.is_valid(tables[0]["gold"])).as_py() == 3


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_store_that_is_only_read_is_upgraded_elsewhere(layout, tmp_path):
    path = unpacked(f"layout-{layout}", tmp_path)
    before = path.read_bytes()
    with Store.open(path, read_only=True) as store:
        assert_nothing_lost(store, f"layout-{layout}")
        folder = Path(store._folder.name)
        assert folder.is_dir()
    assert not folder.exists()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_commands_upgrade(layout, tmp_path, capsys):
    path = unpacked(f"layout-{layout}", tmp_path)
    target = tmp_path / "votes.csv"
    assert main(["export", str(target), "--store", str(path)]) == 0
    assert (
        as_text(target.read_bytes()).num_rows
        == as_text(exported(f"layout-{layout}", "votes")).num_rows
    )
    assert layout_of(path) == layout, "export changes nothing"
    assert main(["import", str(STORES / "labelled.csv.gz"), "--store", str(path)]) == 0
    assert f"upgraded from layout {layout} to {VERSION}" in capsys.readouterr().err
    assert layout_of(path) == int(VERSION)


def test_a_step_that_fails_leaves_the_store_as_it_was(tmp_path, monkeypatch):
    for layout in LAYOUTS:
        path = unpacked(f"layout-{layout}", tmp_path)
        before = columns(path)

        def half(change):
            change.execute("create table half (id integer)")
            change.execute("select * from no_such_table")

        with monkeypatch.context() as patch:
            patch.setattr(upgrades, "STEPS", {**STEPS, int(VERSION) - 1: half})
            with pytest.raises(UnreadableFile, match="as it was before"):
                Store.open(path)
        assert (columns(path), layout_of(path)) == (before, layout)
        with Store.open(path) as store:
            assert_nothing_lost(store, f"layout-{layout}")
            assert "did not come to its end" in store.notes[0]


KILLED = """
import os, signal, sys
from core.store import Store, upgrades
moment, path = sys.argv[1:]
def dies(*_): os.kill(os.getpid(), signal.SIGKILL)
if moment == "copied": upgrades.upgrade = dies
elif moment == "copying":
    upgrades.Path.rename = dies
else:
    real = upgrades.upgrade
    upgrades.upgrade = lambda change, layout: (real(change, layout), dies())
Store.open(path)
"""


@pytest.mark.parametrize("moment", ["copying", "copied", "upgraded but not committed"])
def test_a_kill_leaves_the_old_store_and_the_next_opening_says_so(moment, tmp_path):
    path = unpacked("layout-7", tmp_path)
    done = subprocess.run([sys.executable, "-c", KILLED, moment, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert layout_of(path) == 7
    with Store.open(path) as store:
        assert store.notes[0].startswith(
            "An earlier upgrade of layout-7.duckdb did not come to its"
        )
        assert_nothing_lost(store, "layout-7")
    assert not list(tmp_path.glob(f"*{upgrades.UNFINISHED}*"))


FULL = """
import resource, signal, sys
from core.errors import AppellateError
from core.store import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try: Store.open(sys.argv[2])
except AppellateError as error: print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize("room", [100_000, 1_000_000, 3_000_000])
def test_a_full_disk_leaves_the_old_store_and_says_so(room, tmp_path):
    path = unpacked("layout-6", tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(room), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "has layout 6 and could not be upgraded" in done.stdout
    assert "as it was before" in done.stdout
    assert list(tmp_path.iterdir()) == [path]
    assert layout_of(path) == 6
    with Store.open(path) as store:
        assert_nothing_lost(store, "layout-6")


def test_two_threads_upgrade_once(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    path = unpacked("layout-5", tmp_path)
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(Store.open, [path] * 4))
    assert sum(bool(store.notes) for store in stores) == 1
    assert len({store.export().num_rows for store in stores}) == 1
    for store in stores:
        store.close()
    assert len(list(tmp_path.glob("*.layout-5-*"))) == 1


def test_layouts_that_are_too_old_or_too_new_are_refused_by_name(tmp_path):
    path = unpacked("layout-4", tmp_path)
    for read_only in (False, True):
        with pytest.raises(UnreadableFile, match=r"layout 4, and this version .* from 5 on"):
            Database.open(path, read_only=read_only)
    newer = tmp_path / "newer.duckdb"
    Store.open(newer).close()
    with duckdb.connect(str(newer)) as connection:
        connection.execute("update settings set value = '99' where key = 'schema'")
    before = newer.read_bytes()
    for read_only in (False, True):
        with pytest.raises(UnreadableFile, match=r"by a newer version .* layout 99"):
            Database.open(newer, read_only=read_only)
    assert newer.read_bytes() == before


@pytest.mark.parametrize("layout", [9, 10])
def test_a_note_that_had_damaged_a_store_is_repaired(layout, tmp_path):
    """It stood under the number of another text, which export then showed in its place."""
    name = f"layout-{layout}"
    with Store.open(unpacked(f"{name}-same-note", tmp_path)) as store:
        assert any("note to a label" in note for note in store.notes)
        store.check()
        now = export_of(store, "votes")
    intact = as_text(exported(name, "votes"))
    assert now.num_rows == intact.num_rows
    for column in intact.column_names:
        cells = intact[column].to_pylist()
        if column == "rationale":
            cells = ["a3" if cell == "hard to say" else cell for cell in cells]
            assert "a3" in cells
        assert now[column].to_pylist() == cells, column


UNFINISHED_CHANGE = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("insert into settings values ('flag:late', 'yes')")
os._exit(0)
"""


def test_what_is_only_in_the_log_is_upgraded_and_kept_too(tmp_path):
    path = unpacked("layout-9", tmp_path)
    subprocess.run([sys.executable, "-c", UNFINISHED_CHANGE, str(path)], check=True)
    log = path.with_name(f"{path.name}.wal")
    before = path.read_bytes(), log.read_bytes()
    with Store.open(path, read_only=True) as store:
        assert store.flag("late") == "yes"
    assert (path.read_bytes(), log.read_bytes()) == before
    with Store.open(path) as store:
        assert store.flag("late") == "yes"
        assert_nothing_lost(store, "layout-9")
    (kept,) = tmp_path.glob("*.layout-9-*")
    with duckdb.connect(str(kept), read_only=True) as connection:
        assert connection.execute(
            "select value from settings where key = 'flag:late'"
        ).fetchall() == [("yes",)]


def test_a_damaged_store_of_an_earlier_layout_is_left_as_it_is(tmp_path):
    path = unpacked("layout-8", tmp_path)
    refused = 0
    for place in range(3 * 4096 + 1000, path.stat().st_size, 256 * 1024):
        content = bytearray(unpacked("layout-8", tmp_path).read_bytes())
        content[place] ^= 0xFF
        path.write_bytes(content)
        try:
            with Store.open(path) as store:
                assert_nothing_lost(store, "layout-8")
        except DamagedStore:
            refused += 1
            assert path.read_bytes() == bytes(content)
        for kept in tmp_path.glob("*.layout-8-*"):
            kept.unlink()
    assert refused > 3


def test_a_folder_that_takes_no_copy_is_said(tmp_path):
    path = unpacked("layout-8", tmp_path)
    tmp_path.chmod(0o555)
    try:
        with without_rights():
            with pytest.raises(UnreadableFile, match=r"could not be upgraded .* right to write"):
                Store.open(path)
            with Store.open(path, read_only=True) as store:
                assert_nothing_lost(store, "layout-8")
    finally:
        tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == [path]
    assert layout_of(path) == 8
