"""Stores that earlier versions wrote are opened, upgraded and gone on with; see
`data/stores/README.md`.
"""

import gzip
import io
import json
from pathlib import Path

import duckdb
import pytest
from judging_server import FENCE, Server
from patience import LONG
from places import REPOSITORY

from core.__main__ import main
from core.judging.job import Terms
from core.judging.registry import begin, started
from core.schema import Selection
from core.store import Store
from core.store.connection import UPGRADES
from core.store.export import write_csv

STORES = REPOSITORY / "tests" / "data" / "stores"
LAYOUTS = {"cb3d866": "4", "3ec2fe8": "3", "d0202f6": "2", "cf7cbe3": "1"}
"""Layout of each by the commit that wrote it."""
WITH_JOBS = pytest.mark.parametrize("name", ["cb3d866", "3ec2fe8", "d0202f6"])
"""Those with every kind of judgement and jobs half done."""
COLLECT = ["collect", str(STORES / "items.csv"), "--dataset", "collected", "--model", "openai/fair"]
COLLECT += ["--votes", "2", "--confidence", "self", "--concurrency", "4"]


def unpacked(name: str, folder: Path) -> Path:
    path = folder / f"{name}.duckdb"
    path.write_bytes(gzip.decompress((STORES / f"{name}.duckdb.gz").read_bytes()))
    return path


def layout_and_tables(path: Path) -> tuple[str, set[str]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        ((layout,),) = connection.execute(
            "select value from settings where key = 'schema'"
        ).fetchall()
        tables = {
            name
            for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()
        }
    return layout, tables


@WITH_JOBS
@pytest.mark.parametrize("kind", ["votes", "scores", "rankings"])
def test_nothing_is_lost_or_changed(kind, name, tmp_path):
    """What the store exports is what the version that wrote it exported, byte for byte."""
    with Store.open(unpacked(name, tmp_path)) as store:
        target = io.BytesIO()
        write_csv(store.export(kind=kind), target)
    assert target.getvalue() == gzip.decompress((STORES / f"{kind}.csv.gz").read_bytes())


def test_the_first_layout_keeps_its_votes(tmp_path):
    with (
        Store.open(unpacked("cf7cbe3", tmp_path)) as old,
        Store.open(unpacked("d0202f6", tmp_path)) as new,
    ):
        assert old.export().equals(new.export(Selection(datasets=("demo (simulated)", "texts"))))
        assert old.export().num_rows == 303
        assert [(info.name, info.scores, info.rankings) for info in old.datasets()] == [
            ("demo (simulated)", 0, 0),
            ("texts", 0, 0),
        ]


def test_an_upgrade_happens_whole_or_not_at_all(tmp_path, monkeypatch):
    present = tmp_path / "present.duckdb"
    Store.open(present).close()
    now = layout_and_tables(present)
    interrupted = []
    for name, layout in LAYOUTS.items():
        path = unpacked(name, tmp_path)
        before = layout_and_tables(path)
        assert before[0] == layout
        if layout in UPGRADES:
            with monkeypatch.context() as patch:
                patch.setitem(UPGRADES, layout, f"{UPGRADES[layout]}; select * from no_such_table")
                with pytest.raises(duckdb.Error):
                    Store.open(path)
            assert layout_and_tables(path) == before
            interrupted.append(name)
        Store.open(path).close()
        assert layout_and_tables(path)[0] == now[0]
        assert layout_and_tables(path)[1] >= now[1]
    assert "cf7cbe3" in interrupted


@WITH_JOBS
def test_the_same_command_makes_exactly_the_missing_calls(name, tmp_path, monkeypatch, capsys):
    path = unpacked(name, tmp_path)
    collected = Selection(datasets=("collected",))
    with Store.open(path) as store:
        before = store.export(collected).to_pylist()
    assert len(before) == 19
    with Server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert main([*COLLECT, "--store", str(path)]) == 0
        assert "19 requests were answered before" in capsys.readouterr().err
        assert server.calls == 21
        assert main([*COLLECT, "--store", str(path)]) == 0
        assert server.calls == 21
    with Store.open(path) as store:
        after = store.export(collected).to_pylist()
        paid = store.query(
            "select key, count(*) as n from calls where dataset = 'collected' group by key"
        )
    assert len(after) == 40
    assert [vote for vote in before if vote not in after] == []
    assert paid["n"].to_pylist() == [1] * 40


@WITH_JOBS
def test_a_remembered_job_is_listed_and_goes_on(name, tmp_path, monkeypatch):
    with Server() as server, Store.open(unpacked(name, tmp_path)) as store:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        (found,) = started(store)
        assert (found.job.dataset, found.terms.concurrency, found.terms.budget.calls) == (
            "remembered",
            1,
            5,
        )
        last = begin(found.job, store, Terms()).wait(LONG)
        assert (last.answered, last.planned, server.calls) == (12, 12, 7)
        asked = {FENCE.sub("data", json.dumps(body["messages"])) for body in server.bodies}
        assert len(asked) == 7
        assert store.export(Selection(datasets=("remembered",))).num_rows == 12
