"""What a hostile file, a careless user and an unlucky machine may not achieve."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import streamlit as st
from apps import new_app
from levels import first_of
from patience import LONG
from places import REPOSITORY
from streamlit.testing.v1 import AppTest

from core.__main__ import main
from core.errors import AppellateError, UnreadableFile
from core.importers import read
from core.store import Store

VOTES = b"item_id,judge,vote,gold,confidence\n" + b"".join(
    b"%d,j,%d,%d,0.9\n" % (k, k % 3 - 1, k % 2) for k in range(60)
)
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_bytes(VOTES)
    return path


def command(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, as its pipes matter."""
    return subprocess.run(
        [sys.executable, "-m", "core", *arguments],
        **{"cwd": REPOSITORY, "text": True, "stderr": subprocess.PIPE, "timeout": LONG, **options},  # type: ignore[call-overload]
    )


@pytest.mark.parametrize("name", ["votes.csv", "votes.parquet"])
def test_a_file_of_votes_is_no_store(
    name: str, votes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """DuckDB opens it as a database in memory: votes would be called loaded, and be gone at the
    end.
    """
    target = votes
    if name.endswith("parquet"):
        target = tmp_path / name
        duckdb.sql("select 1 as item_id").write_parquet(str(target))
    before = target.read_bytes()
    assert main(["import", str(votes), "--store", str(target)]) == 2
    assert name in capsys.readouterr().err
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    "name", [":memory:", "s3:bucket", "md:votes", "sqlite:votes", "https:host"]
)
def test_the_name_of_a_store_is_a_file_whatever_it_looks_like(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB would look for such a name on another host, or forget it at the end."""
    monkeypatch.chdir(tmp_path)
    asked: list[tuple[str, dict[str, str]]] = []

    def connect(path: str, config: dict[str, str]) -> None:
        asked.append((path, config))
        raise duckdb.IOException("refused by this test")

    monkeypatch.setattr(duckdb, "connect", connect)
    with pytest.raises(UnreadableFile):
        Store.open(name)
    [(path, config)] = asked
    assert path == str(tmp_path / name)
    assert {value for name, value in config.items() if "extensions" in name} == {"false"}


def test_names_of_data_sets_send_nothing_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(b'dataset,item_id,judge,vote\n"a\x1b[31m\xe2\x80\xae\nb",1,j,1\n')
    assert main(["import", str(path), "--store", str(tmp_path / "s.duckdb")]) == 0
    said = capsys.readouterr()
    assert all(character.isprintable() or character == "\n" for character in said.out + said.err)
    assert said.out.startswith("votes.csv: 1 vote loaded into a [31m  b\n")


@needs_full
@pytest.mark.parametrize("what", first_of("export", "audit", "simulate"))
def test_a_full_disk_is_said_in_one_line(what: str, votes: Path, tmp_path: Path) -> None:
    out = tmp_path / "full.csv"
    out.symlink_to(FULL)
    if what == "audit":
        with FULL.open("w") as full:
            done = command("audit", str(votes), "--splits", "0", stdout=full)
    elif what == "simulate":
        done = command("simulate", str(out), "--items", "2")
    else:
        store = tmp_path / "s.duckdb"
        main(["import", str(votes), "--store", str(store)])
        done = command("export", str(out), "--store", str(store))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("appellate: ")
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_output_that_nobody_reads_does_not_open_the_gates(votes: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        arguments = ("audit", str(votes), "--splits", "0", "--json", "-", "--fail-if", "accuracy<1")
        done = command(*arguments, stdout=closed)
    assert done.returncode == 1
    assert "gate failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("{votes}", "--bins", "100000000"),
        ("{votes}", "--splits", "0", "--json", ""),
        ("x" * 5000 + ".csv",),
        ("{folder}/loop",),
    ],
    ids=["bins", "json", "long name", "loop"],
)
def test_careless_options_end_in_one_line(
    arguments: tuple[str, ...], votes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    given = [each.format(votes=votes, folder=tmp_path) for each in arguments]
    assert main(["audit", *given]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.thorough
def test_a_load_that_is_killed_leaves_the_store_as_it_was(votes: Path, tmp_path: Path) -> None:
    path, big = tmp_path / "s.duckdb", tmp_path / "big.csv"
    big.write_text(
        "item_id,judge,vote,prompt\n"
        + "".join(f"{k},j{k % 7},{k % 3 - 1},text {k}\n" for k in range(200_000))
    )
    assert main(["import", str(votes), "--store", str(path)]) == 0
    # Killed when the load has begun to write, whenever that is on this machine.
    code = (
        "import os, signal, sys\nfrom core.store import Store\nfrom core.__main__ import "
        "main\nmodule = sys.modules[Store.__module__]\nloaded = module.load\ndef then_die(*given, "
        "**options):\n    loaded(*given, **options)\n    os.kill(os.getpid(), "
        "signal.SIGKILL)\nmodule.load = then_die\nmain(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "import", str(big), "--store", str(path)],
        cwd=REPOSITORY,
        timeout=LONG,
    )
    assert done.returncode == -signal.SIGKILL
    with Store.open(path) as store:
        assert {found.name: found.votes for found in store.datasets()} == {"votes": 60}
        store.load(read([("big.csv", big)])[0])
        assert {found.name: found.votes for found in store.datasets()} == {
            "big": 200_000,
            "votes": 60,
        }


def test_a_store_from_a_newer_version_is_refused_and_kept(
    votes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.duckdb"
    main(["import", str(votes), "--store", str(path)])
    with duckdb.connect(str(path)) as connection:
        connection.execute("update settings set value = '99' where key = 'schema'")
    capsys.readouterr()
    assert main(["import", str(votes), "--store", str(path)]) == 2
    said = capsys.readouterr().err
    assert "layout 99" in said
    assert said.count("\n") == 1


def test_a_first_and_a_later_answer_of_the_same_kind_may_stand_on_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where majority is enough, both answers of the Aggregation page are findings."""
    path = tmp_path / "votes.csv"
    path.write_text(
        "item_id,judge,vote,gold\n" + "".join(f"{k},j,{k % 3 - 1},{k % 3 - 1}\n" for k in range(60))
    )
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "s.duckdb"))
    assert main(["import", str(path), "--store", str(tmp_path / "s.duckdb")]) == 0
    st.cache_resource.clear()
    try:
        app = new_app()
        app.switch_page("votes_to_labels.py").run()
        assert not app.exception
        assert app.title[0].value == "Calibrated aggregation"
        assert any("Majority is enough" in element.value for element in app.text)
    finally:
        st.cache_resource.clear()


@pytest.mark.thorough
def test_a_foreign_page_makes_the_server_ask_no_other_host() -> None:
    """Streamlit compares a foreign origin with this machine's external address, which it asks a
    host for.
    """
    code = (
        "from streamlit import config, net_util\nasked = []\nnet_util._make_blocking_http_get = "
        "lambda *given, **options: asked.append(given)\nconfig.set_option('server.address', "
        "'localhost')\nimport app\nfrom streamlit.web.server.server_util import "
        "is_url_from_allowed_origins as allowed\nprint(allowed('http://host.invalid'), "
        "allowed('http://localhost:8501'), asked)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, timeout=LONG
    )
    assert done.stdout.split("\n")[-2] == "False True []"


@pytest.mark.parametrize(
    ("page", "parameters"),
    first_of(
        ("calibration", ["rule", "scale", "certainty", "map"]),
        ("confusion", ["compared"]),
        ("leaderboard", ["interval", "prior"]),
    ),
    ids=["calibration", "confusion", "leaderboard"],
)
def test_an_empty_value_in_the_url_is_none(page: str, parameters: list[str], app: AppTest) -> None:
    app.switch_page(f"{page}.py").run()
    shown = app.text[0].value
    code = app.code[0].value
    empty = new_app()
    for name in parameters:
        empty.query_params[name] = ""
    empty.switch_page(f"{page}.py").run()
    assert not empty.exception
    assert (empty.text[0].value, empty.code[0].value) == (shown, code)


@pytest.mark.parametrize("column", ["prompt", "rationale", "prompt_hash"])
def test_a_text_that_repeats_in_the_only_text_column_multiplies_no_vote(column: str) -> None:
    text = f"item_id,judge,vote,{column}\n" + "".join(
        f"{k},j,{k % 3 - 1},text {k % 2}\n" for k in range(20)
    )
    with Store.open() as store:
        store.load(read([("votes.csv", text.encode())])[0])
        exported = store.export()
        assert exported.num_rows == 20
        assert exported[column].to_pylist() == [f"text {k % 2}" for k in range(20)]
        assert store.query("select count(*) as n from texts").to_pylist() == [{"n": 2}]
        assert store.query("select count(*) as n from details").to_pylist() == [{"n": 20}]


@pytest.mark.parametrize("kind", [duckdb.IOException, duckdb.OutOfMemoryException])
def test_a_store_without_room_says_so_and_stays_as_it_was(
    kind: type[duckdb.Error], votes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(cursor: duckdb.DuckDBPyConnection, *given: object, **options: object) -> None:
        cursor.execute("insert into models values (9, 'half loaded')")
        raise kind("No space left on device\nand lines of advice")

    monkeypatch.setattr("core.store.store.load", no_room)
    with Store.open() as store:
        before = store.version
        with pytest.raises(AppellateError, match=r"cannot be written \(No space left on device\)"):
            store.load(read([("votes.csv", votes)])[0])
        assert store.version == before
        assert store.query("select * from models").num_rows == 0
