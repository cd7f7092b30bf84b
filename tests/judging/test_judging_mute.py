"""A judge that comes to no verdict is stopped before it has cost more than a few calls."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
from judging_jobs import collect, job, pairs
from judging_server import Server

from core.__main__ import main
from core.collect.caller import Heard
from core.store import Store


def test_a_mute_judge_costs_at_most_28_calls(tmp_path, capsys):
    """All 480 calls were paid, and the command ended with 0."""
    items = tmp_path / "items.csv"
    with items.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(("item_id", "prompt", "response_a", "response_b"))
        rows.writerows((item.item_id, item.prompt, *item.responses) for item in pairs(240))
    store = tmp_path / "votes.duckdb"
    numbers = []

    def fault(number, body):
        numbers.append(number)
        return "prose" if number % 2 else "refusal"

    with Server(fault=fault, delay=0.02) as server:
        command = ["collect", str(items), "--model", "openai/fair", "--base-url", server.url]
        command += ["--store", str(store), "--votes", "2", "--concurrency", "256", "--yes"]
        assert main(command) == 3
        assert 20 <= server.calls - server.repairs <= 28
        # Those in flight when the fifth failed are asked too.
        assert server.repairs <= 5 + 7
        assert server.peak <= 8
    err = capsys.readouterr().err
    assert "fair stopped (20 replies in a row without a verdict). The last two: “" in err
    assert "“Both have their merits, but on the whole I like the first one.”" in err
    assert "“I'm sorry, but I can't help with comparing these responses.”" in err
    assert "and start again" in err
    with Store.open(store) as opened:
        # What was paid is kept.
        assert len(opened.query("select * from replies")) == len(numbers)


def test_other_judges_go_on_and_places_open_with_the_first_verdict(tmp_path):
    def fault(number, body):
        return "prose" if body["model"] == "first" else None

    with Server(fault=fault, delay=0.02) as server:
        alone = job(server, pairs(60), votes=2)
        (fair,) = alone.judges
        given = replace(alone, judges=(fair, replace(fair, model="openai/first", name="mute")))
        last = collect(given, tmp_path / "votes.duckdb", concurrency=128)
        assert server.peak > 16
    assert last.judges["fair"].answered == 120
    assert not last.judges["fair"].stopped
    assert last.judges["mute"].stopped
    assert last.judges["mute"].answered <= 28


def test_30_of_the_first_40_without_a_verdict_stop_a_judge(tmp_path):
    with Server(fault=lambda n, body: None if n % 5 == 0 else "cut") as server:
        last = collect(job(server, pairs(100), votes=2), tmp_path / "votes.duckdb", concurrency=4)
        assert server.calls - server.repairs <= 42
    (why,) = [message for message in last.messages if "stopped" in message]
    assert "30 of its first 3" in why


def test_a_judge_with_a_quarter_unreadable_is_never_stopped():
    """In 1,000 runs of 1,000 calls."""
    for run in np.random.default_rng(5).random((1000, 1000)) < 0.25:
        heard = Heard()
        for unreadable in run.tolist():
            heard.add("unparsed" if unreadable else "ok", "")
            assert not (unreadable and heard.mute)
