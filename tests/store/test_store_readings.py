"""All of a store taken over into another: all arrives, and what cannot be is said and changes
nothing.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from places import REPOSITORY
from readings import reading

from core.__main__ import main
from core.importers import read
from core.schema import Selection
from core.store import Store
from core.store.upgrades import OLDEST

DEMO = [REPOSITORY / "data" / f"demo_{kind}.csv.gz" for kind in ("scores", "rankings")]
VOTE = {"item_id": "i", "model_a": "x", "model_b": "y", "judge": "j", "vote": 1, "gold": -1}
VOTES = [
    VOTE
    | {
        "dataset": "d",
        "prompt": "=1+1",
        "rationale": "\U0001f986",
        "confidence": 0.1 + 0.2,
        "source": "s",
    },
    VOTE | {"dataset": "d", "run": 1, "vote": None, "status": "unparsed", "rationale": "hm"},
    VOTE | {"dataset": "d", "run": 1, "position": "ba", "rater_type": "human", "cost": 1e-7},
    VOTE | {"dataset": "e", "vote": 0, "category": "c", "temperature": 0.7},
]


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A store with votes in two data sets, scores and rankings in a simulated one."""
    path = tmp_path / "full.duckdb"
    with Store.open(path) as store:
        store.load(reading(VOTES))
        for found in read([(file.name, file) for file in DEMO]):
            store.load(found, dataset="simulated", simulated=True)
    return path


def held(path: Path) -> dict[str, pa.Table]:
    with Store.open(path) as store:
        return {kind: store.export(kind=kind) for kind in ("votes", "scores", "rankings")}


def take(*arguments: object) -> int:
    return main(["import", *(str(argument) for argument in arguments)])


def test_everything_arrives_as_it_was(full, tmp_path, capsys):
    other, before = tmp_path / "other.duckdb", full.read_bytes()
    assert take(full, "--store", other) == 0
    said = capsys.readouterr().out
    assert "full.duckdb, d: 3 votes loaded into d\n" in said
    assert "full.duckdb, e: 1 vote loaded into e\n" in said
    assert "direct scores loaded into simulated\n" in said
    assert "listwise rankings loaded into simulated\n" in said
    assert full.read_bytes() == before
    assert held(other) == held(full)
    with Store.open(other) as store:
        assert {info.name: info.simulated for info in store.datasets()} == {
            "d": False,
            "e": False,
            "simulated": True,
        }
    assert take(full, "--store", other) == 0
    assert capsys.readouterr().out.count("nothing to do") == 4


@pytest.mark.thorough
def test_it_joins_what_is_there_and_may_go_into_one_data_set(full, tmp_path, capsys):
    other = tmp_path / "other.duckdb"
    with Store.open(other) as store:
        store.load(reading([VOTE | {"dataset": "d", "vote": 0, "judge": "k"}]))
    file = tmp_path / "more.csv"
    file.write_text("item_id,judge,vote\n1,k,1\n", encoding="utf-8")
    assert take(file, full, "--store", other, "--dataset", "one") == 0
    with Store.open(other) as store:
        assert {info.name: info.votes for info in store.datasets()} == {"d": 1, "one": 4}
        found = store.export(Selection(datasets=("one",))).to_pylist()
    # Both data sets have a vote of this judge, at this run, on this comparison: the first stays.
    votes = {(row["item_id"], row["run"], row["position"], row["vote"]) for row in found}
    assert votes == {("1", 0, None, 1), ("i", 0, None, 1), ("i", 1, None, None), ("i", 1, "ba", 1)}
    assert "1 conflict (kept as stored)" in capsys.readouterr().out


def test_a_store_of_another_layout_is_refused_and_kept(full, tmp_path, capsys):
    """By its number alone, whether it is written to, taken over or exported from."""
    (tmp_path / "more.csv").write_text("item_id,judge,vote\n1,k,1\n")
    for layout, why in (
        ("1", f"has layout 1, and this version of Appellate upgrades layouts from {OLDEST} on."),
        ("4", f"has layout 4, and this version of Appellate upgrades layouts from {OLDEST} on."),
        ("99", "was written by a newer version of Appellate: it has layout 99, and this version"),
    ):
        make(full, f"update settings set value = '{layout}' where key = 'schema'")
        before = full.read_bytes()
        for command in (
            ["import", full, "--store", tmp_path / "other.duckdb"],
            ["import", tmp_path / "more.csv", "--store", full],
            ["export", tmp_path / "out.csv", "--store", full],
        ):
            assert main([str(part) for part in command]) == 2
            said = capsys.readouterr().err
            assert said.startswith(f"appellate: The store {full} {why}"), said
            assert said.count("\n") == 1
            assert full.read_bytes() == before
    assert not (tmp_path / "other.duckdb").exists()


@pytest.mark.thorough
def test_a_store_whose_process_was_killed_is_taken_over(tmp_path):
    path = tmp_path / "killed.duckdb"
    code = f"""if True:
        import os, signal
        from pathlib import Path
        from core.importers import read
        from core.store import Store
        store = Store.open({str(path)!r})
        store.load(read([("scores.csv.gz", Path({str(DEMO[0])!r}))])[0])
        os.kill(os.getpid(), signal.SIGKILL)"""
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=False).returncode == -9
    )
    assert path.with_name("killed.duckdb.wal").exists()
    assert take(path, "--store", tmp_path / "other.duckdb") == 0
    with Store.open(tmp_path / "other.duckdb") as store:
        assert store.export(kind="scores").num_rows == 8400


def make(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    "statements",
    [
        (),
        ("create table t (a integer)",),
        ("create table settings (key varchar, value varchar)",),
        (
            "create table settings (a integer)",
            "create table votes (a integer)",
            "create table datasets (a integer)",
        ),
    ],
    ids=["empty", "tables", "settings", "names only"],
)
def test_a_database_that_is_no_store_is_refused_and_kept(tmp_path, capsys, statements):
    path, target = tmp_path / "foreign.duckdb", tmp_path / "new" / "other.duckdb"
    make(path, *statements)
    before = path.read_bytes()
    assert take(path, "--store", target) == 2
    said = capsys.readouterr().err
    # One that holds tables is a file like any other, which here has no row to read.
    no_rows = "foreign.duckdb: a DuckDB database without a table that has rows"
    named = "foreign.duckdb is " in said and "no store of Appellate" in said
    assert named or no_rows in said
    assert said.count("\n") == 1
    assert path.read_bytes() == before
    assert not target.exists()


@pytest.mark.thorough
def test_a_store_in_use_elsewhere_is_said(full, tmp_path, capsys):
    code = (
        f"import duckdb, sys; c = duckdb.connect({str(full)!r}); print(1, "
        "flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        assert take(full, "--store", tmp_path / "copied.duckdb") == 0
        process.stdin.close()
    said = capsys.readouterr().err
    assert "full.duckdb is open in another process, and was read from a copy of now" in said
    assert take(full, "--store", tmp_path / "other.duckdb") == 0


def test_what_cannot_be_taken_over(full, tmp_path, capsys):
    target = tmp_path / "other.duckdb"
    cut = tmp_path / "cut.duckdb"
    cut.write_bytes(full.read_bytes()[:20_000])
    Store.open(tmp_path / "empty.duckdb").close()
    for arguments, words in (
        ([full, "--store", full], "is the store itself"),
        ([cut], "cut.duckdb is damaged"),
        ([tmp_path / "empty.duckdb"], "holds no vote, score or ranking"),
        ([full, "--labels", "1/0/-1"], "a store, whose columns are known"),
        ([full, tmp_path / "absent.csv"], "no such file"),
        ([tmp_path / "absent.duckdb"], "no such file"),
    ):
        store = [] if "--store" in arguments else ["--store", target]
        assert take(*arguments, *store) == 2
        assert words in capsys.readouterr().err
    assert not target.exists()
    assert not (tmp_path / "absent.duckdb").exists()
    # An audit takes a store where it takes files, but no other file with one.
    assert main(["audit", str(full)]) == 0
    assert main(["audit", str(cut)]) == 2
    assert "cut.duckdb is damaged" in capsys.readouterr().err
