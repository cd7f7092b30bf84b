"""Replies that gave no verdict are mended: asked for again alone, or read again without a call."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from judging_jobs import collect, job, pairs
from judging_server import Server

from core.__main__ import main
from core.collect.job import Budget, Terms
from core.collect.plan import plan
from core.collect.registry import begin, started
from core.store import Store


class CutOff(Server):
    """Ends every third reply at its limit of tokens while that is below 8,000."""

    def completion(self, body, fault):
        found = super().completion(body, fault)
        choice = found["choices"][0]
        if self.calls % 3 == 0 and body["max_tokens"] < 8000:
            choice["message"] = {
                "role": "assistant",
                "content": choice["message"]["content"][:12],
                "reasoning_content": "First I look at the figures of both.",
            }
            choice["finish_reason"] = "length"
        return found


def rows(store: Store) -> list[dict]:
    return store.query("select key, status, raw, cost from replies").to_pylist()


def test_replies_that_were_cut_off_are_said_and_paid_for_alone(tmp_path):
    with CutOff() as server, Store.open(tmp_path / "votes.duckdb") as store:
        given = job(server, pairs(15), votes=2, max_tokens=1000, price=(1.0, 2.0))
        last = collect(given, store)
        assert last.statuses == {"ok": 20, "cut_off": 10}
        (remedy,) = last.remedies
        assert str(remedy) == (
            "10 replies were cut off at 1,000 tokens: --again cut_off with --reply-tokens 4000 "
            "asks for those alone"
        )
        assert {row["status"] for row in store.export().to_pylist()} == {"ok", "unparsed"}
        kept = next(row["raw"] for row in rows(store) if row["status"] == "cut_off")
        assert kept.startswith("<think>\nFirst I look at the figures of both.\n</think>\n\n")
        before, paid = server.calls, last.cost
        # A larger limit is no other request: nothing is sent, nothing is refused.
        larger = job(server, pairs(15), votes=2, max_tokens=8000, price=(1.0, 2.0))
        assert collect(larger, store).left == 0
        assert server.calls == before
        assert plan(larger, store, again=("cut_off",)).calls == 10
        last = collect(larger, store, again=("cut_off",))
        assert (last.left, last.statuses, server.calls) == (0, {"ok": 10}, before + 10)
        assert last.cost > paid
        assert Counter(row["status"] for row in store.export().to_pylist()) == {"ok": 30}
        assert len({row["key"] for row in rows(store)}) == len(rows(store)) == 30


def test_a_failed_call_for_a_better_reply_takes_nothing_away(tmp_path):
    with CutOff() as server, Store.open(tmp_path / "votes.duckdb") as store:
        given = job(server, pairs(3), votes=2, max_tokens=1000)
        collect(given, store)
        before = sorted(row["raw"] for row in rows(store))
        server.fault = lambda n, body: "500"
        last = collect(given, store, again=("cut_off",))
        assert last.left == 2
        assert sorted(row["raw"] for row in rows(store)) == before


def test_what_a_newer_reader_reads_costs_nothing(tmp_path, monkeypatch):
    with Server(fault=lambda n, body: "line" if n <= 4 else None) as server:
        path = tmp_path / "votes.duckdb"
        given = job(server, pairs(5), votes=2)
        with Store.open(path) as store:
            from core.collect import reading

            old = reading.verdict
            monkeypatch.setattr(
                reading,
                "verdict",
                lambda text, form, **options: (
                    reading.Parsed(status="unparsed", reason=text)
                    if "Verdict:" in text
                    else old(text, form, **options)
                ),
            )
            assert collect(given, store, repair=False).statuses == {"ok": 6, "unparsed": 4}
            monkeypatch.undo()
            last = collect(given, store, reread=True)
            assert (last.left, last.statuses, server.calls) == (0, {"ok": 4}, 10)
            assert {row["status"] for row in store.export().to_pylist()} == {"ok"}
            # Nothing is sent even where something is left.
            last = collect(job(server, pairs(7), votes=2), store, reread=True)
            assert (last.left, server.calls) == (4, 10)


def test_only_statuses_that_are_there(tmp_path):
    with pytest.raises(
        Exception, match="--again nonsense: one of unparsed, cut_off, refused, failed, error"
    ):
        Terms(again=("nonsense",))


def test_a_remembered_job_does_not_ask_again_for_ever(tmp_path):
    with CutOff() as server, Store.open(tmp_path / "votes.duckdb") as store:
        given = job(server, pairs(4), votes=2, max_tokens=1000)
        begin(given, store, Terms(budget=Budget(calls=4))).wait(60)
        begin(given, store, Terms(budget=Budget(calls=5), again=("cut_off",))).wait(60)
        (found,) = started(store)
        assert found.terms.again == ()


def test_the_command(tmp_path, capsys):
    items = tmp_path / "items.csv"
    lines = ["item_id,prompt,response_a,response_b"]
    lines += [f"{i.item_id},{i.prompt},{i.responses[0]},{i.responses[1]}" for i in pairs(6)]
    items.write_text("\n".join(lines))
    store = str(tmp_path / "votes.duckdb")
    with CutOff() as server:
        command = [
            "collect",
            "--yes",
            str(items),
            "--store",
            store,
            "--model",
            "openai/fair",
            "--votes",
            "2",
        ]
        command += ["--base-url", server.url, "--reply-tokens", "1000"]
        assert main(command) == 0
        said = capsys.readouterr().err
        assert (
            "4 replies were cut off at 1,000 tokens: --again cut_off with --reply-tokens 4000"
            in said
        )
        assert main([*command[:-1], "8000", "--again", "cut_off"]) == 0
        assert server.calls == 16
        assert main([*command, "--reread"]) == 0
        assert server.calls == 16
    with Store.open(store) as opened:
        assert {row["status"] for row in opened.export().to_pylist()} == {"ok"}
        assert all(json.loads(row["raw"]) for row in rows(opened))
