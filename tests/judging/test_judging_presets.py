"""The papers' ways of asking as named presets: their fields reach the server; other options win."""

from __future__ import annotations

import pytest
from judging_server import Server, answer_text

from core.__main__ import main
from core.collect.presets import PRESETS
from core.store import Store

CALLS = {"btd-wmt": 24, "th-self": 2, "th-multi": 16, "pcf": 14, "raee-reference": 4}


@pytest.fixture
def items(tmp_path):
    rows = [f"q{k},Q{k}?,{answer_text(1)},{answer_text(0)},It is {k}." for k in range(2)]
    path = tmp_path / "items.csv"
    path.write_text("\n".join(["item_id,prompt,response_a,response_b,reference", *rows]))
    return path


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_asks_as_its_paper_does(items, capsys, name):
    with Server() as server:
        store = str(items.with_name("votes.duckdb"))
        command = ["collect", "--yes", str(items), "--store", store, "--preset", name]
        command += ["--model", "openai/fair", "--base-url", server.url]
        assert main(command) == 0
        assert server.calls == CALLS[name]
        (temperature,) = {body["temperature"] for body in server.bodies}
        assert temperature == PRESETS[name].options["temperature"]
        asked = server.bodies[0]["messages"][-1]["content"]
        assert ("It is " in asked) == (name == "raee-reference")
        assert ("Translation A:" in asked) == (name == "btd-wmt")
        assert ('"confidence"' in asked) == (name == "th-self")
        said = capsys.readouterr().err
        assert PRESETS[name].purpose in " ".join(said.split())


def test_other_options_win_and_an_unknown_name_is_refused(items, capsys):
    with Server() as server:
        store = str(items.with_name("votes.duckdb"))
        command = ["collect", "--yes", str(items), "--store", store]
        command += ["--model", "openai/fair", "--base-url", server.url]
        assert main([*command, "--preset", "btd-wmt", "--votes", "2"]) == 0
        assert server.calls == 4
        assert main([*command, "--preset", "none"]) == 2
        assert "--preset none: one of btd-wmt, pcf" in capsys.readouterr().err
    with Store.open(store) as opened:
        assert opened.export().num_rows == 4
