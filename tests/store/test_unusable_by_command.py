"""Where the store cannot be used, every command says why in a line, and changes nothing."""

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
