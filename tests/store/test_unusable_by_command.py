"""Where the store cannot be used, every command says why in a line, and changes nothing."""

import sqlite3
from contextlib import nullcontext

import pytest
from earlier_stores import STORES
from unusable_stores import SAID, unusable, without_rights

from core.__main__ import main


@pytest.mark.parametrize("kind", SAID)
def test_every_command_says_why_a_store_cannot_be_used(kind, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "items.csv").write_text("item_id,prompt,response_a,response_b\ni,p,a,b\n")
    with unusable(kind, tmp_path) as path:
        size = path.stat().st_size
        commands = [
            ["import", STORES / "labelled.csv.gz", "--store", path],
            ["collect", tmp_path / "items.csv", "--store", path, "--dataset", "d", "--dry-run"],
        ]
        commands[1] += ["--model", "openai/none"]
        # What only reads a store takes one that is in use from a copy.
        if kind != "in use":
            commands.append(["export", tmp_path / "out.csv", "--store", path])
        for command in commands:
            with without_rights() if kind == "no right" else nullcontext():
                code = main([str(part) for part in command])
            said = capsys.readouterr().err
            assert code == 2, (command, said)
            assert SAID[kind] in said
            assert said.startswith("appellate: ")
            assert said.count("\n") == 1
        assert path.stat().st_size == size
        assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    "command", [["label", "--sheet", "sheet.csv"], ["export", "out.csv"]], ids=["label", "export"]
)
def test_a_store_that_is_not_there_is_not_made(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*command, "--store", "none.duckdb"]) == 2
    assert "there is no store here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_sqlite_is_no_store(tmp_path, capsys):
    path = tmp_path / "votes.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("create table votes (a)")
    assert main(["export", str(tmp_path / "out.csv"), "--store", str(path)]) == 2
    said = capsys.readouterr().err
    assert "is a database of SQLite, and no store. Load it into one: " in said
    assert "xtension" not in said
