"""Batches: handed in once whatever happens, at half the price, in the same ledger as ordinary
calls.
"""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from batch_server import BatchServer
from judging_jobs import PATIENCE, collect, pairs, until
from levels import first_of
from patience import LONG
from places import REPOSITORY

from core.__main__ import main
from core.collect.items import Item
from core.collect.job import Budget, Job, Judge
from core.collect.plan import plan
from core.collect.registry import start
from core.errors import InvalidOption
from core.store import Store

PRICE = (2.0, 4.0)
BOTH = pytest.mark.parametrize("provider", first_of("openai", "anthropic"))


def the_job(
    server: BatchServer, provider: str = "openai", n: int = 5, model: str = "fair", **options
) -> Job:
    base = server.url if provider == "openai" else server.url.removesuffix("/v1")
    judge = Judge(model=f"{provider}/{model}", base_url=base, price=PRICE)
    return Job(dataset="d", items=pairs(n), judges=(judge,), **{"votes": 2, **options})


def waited_for(server: BatchServer, run) -> None:
    """Until a run does nothing but wait for its batches."""
    until(lambda: server.looks > 0 and run.progress().waiting == server.asked)


def ledger(store: Store) -> list[dict]:
    return store.query("select c.*, r.prompt_tokens, r.completion_tokens from calls c left join replies r "
                       "using (key) order by c.key").to_pylist()  # fmt: skip


def check_half_price(store: Store, calls: int) -> None:
    rows = ledger(store)
    assert len(rows) == len({row["key"] for row in rows}) == calls
    for row in rows:
        full = (row["prompt_tokens"] * PRICE[0] + row["completion_tokens"] * PRICE[1]) / 1e6
        assert row["cost"] == pytest.approx(full / 2)
        assert row["tokens"] == row["prompt_tokens"] + row["completion_tokens"]
    assert store.query("select * from batches").num_rows == 0


@pytest.mark.thorough
@pytest.mark.parametrize(("provider", "n"), [("openai", 1000), ("anthropic", 200)])
def test_votes_by_the_thousand_survive_a_kill_while_they_wait(provider, n, tmp_path, capsys):
    items, path = tmp_path / "items.csv", tmp_path / "votes.duckdb"
    with items.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "prompt", "response_a", "response_b"])
        writer.writerows([item.item_id, item.prompt, *item.responses] for item in pairs(n // 8))
    with BatchServer() as server:
        base = server.url if provider == "openai" else server.url.removesuffix("/v1")
        command = [
            "collect",
            "--yes",
            str(items),
            "--model",
            f"{provider}/fair",
            "--base-url",
            base,
        ]
        command += ["--store", str(path), "--votes", "8", "--confidence", "self", "--batch"]
        command += ["--batch-size", str(3 * n // 10), "--price", *map(str, PRICE)]
        with subprocess.Popen(
            [sys.executable, "-m", "core", *command], cwd=REPOSITORY, stderr=subprocess.DEVNULL
        ) as process:
            try:
                # Each of the four is known by its name and waits.
                until(lambda: server.asked == n and server.looks > 4)
            finally:
                process.send_signal(signal.SIGKILL)
        assert server.submissions == 4
        with Store.open(path) as store:
            assert store.query("select * from calls").num_rows == n
            assert store.query("select * from replies").num_rows == 0
            names = [name for (name,) in store.rows("select name from batches")]
            assert sorted(names) == sorted(server.batches)
        server.finish()
        assert main(command) == 0
        said = capsys.readouterr()
        assert f"{n:,} requests wait in batches" in said.err
        assert f"at half the price ({n:,} calls in batches)" in said.err
        assert said.out.startswith(f"{n:,} answers in ")
        assert main(command) == 0
        assert (server.submissions, server.asked, server.calls) == (4, n, 0)
    with Store.open(path) as store:
        check_half_price(store, n)
        votes = store.export().to_pylist()
        assert Counter(row["batch"] for row in ledger(store)) == {
            name: len(lines) for name, lines in server.lines.items()
        }
    places = {(row["item_id"], row["run"], row["position"]) for row in votes}
    assert len(votes) == len(places) == n
    assert {row["status"] for row in votes} == {"ok"}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_votes_are_those_of_ordinary_calls(provider):
    """The same bodies go in, but for the schema, which a batch has only where the library knows
    that its model keeps to one; the same replies come out.
    """
    found = []
    for batch in (True, False):
        with BatchServer() as server, Store.open(None) as store:
            server.finish()
            given = the_job(server, confidence="self")
            assert collect(given, store, batch=batch, batch_size=4).state == "done"
            bodies = [body for lines in server.lines.values() for _, body in lines] or server.bodies
            found.append(
                (
                    [{**body, "messages": 0, "response_format": 0} for body in bodies],
                    store.export().drop_columns(["cost"]),
                )
            )
    assert found[0][0] == found[1][0]
    columns = ["item_id", "run", "position", "vote", "confidence", "temperature", "prompt_hash"]
    assert [sorted(map(str, votes.select(columns).to_pylist())) for _, votes in found[:1]] == [
        sorted(map(str, votes.select(columns).to_pylist())) for _, votes in found[1:]
    ]


@BOTH
def test_the_answer_to_a_submission_is_lost(provider):
    with BatchServer(lost=(1,)) as server, Store.open(None) as store:
        run = start(the_job(server, provider), store, batch=True, patience=PATIENCE)
        until(lambda: server.submissions == 1)
        server.finish()
        assert run.wait(LONG).state == "done"
        assert (server.submissions, server.asked) == (1, 10)
        check_half_price(store, 10)


def left_waiting(server: BatchServer, store: Store, provider: str, items: tuple[Item, ...]) -> None:
    """A run that hands in a batch and is stopped."""
    before = server.looks
    run = start(
        replace(the_job(server, provider), items=items), store, batch=True, patience=PATIENCE
    )
    until(lambda: server.looks > before)
    run.stop()
    assert run.wait(LONG).state == "stopped"


@BOTH
def test_killed_before_the_name_was_kept(provider):
    """The batch is there and its name is not in the ledger; others of the account are as large."""
    with BatchServer() as server, Store.open(None) as store, Store.open(None) as other:
        left_waiting(server, other, provider, pairs(5, seed=2))
        left_waiting(server, store, provider, pairs(5))
        left_waiting(server, other, provider, pairs(5, seed=3))
        with store.change() as change:
            change.execute("update batches set name = null")
        server.finish()
        last = collect(the_job(server, provider), store, batch=True)
        assert (last.answered, last.halved, server.submissions) == (10, 10, 3)
        assert {row["batch"].rpartition("_")[2] for row in ledger(store)} == {"2"}
        check_half_price(store, 10)


@BOTH
def test_nothing_was_handed_in_before_the_kill(provider):
    with BatchServer() as server, Store.open(None) as store:
        run = start(the_job(server, provider), store, batch=True, patience=PATIENCE)
        waited_for(server, run)
        run.stop()
        assert run.wait(LONG).state == "stopped"
        # As if the process had been killed with the intent in the ledger and nothing sent.
        server.batches.clear()
        server.lines.clear()
        with store.change() as change:
            change.execute("update batches set name = null")
        server.finish()
        last = collect(the_job(server, provider), store, batch=True)
        assert (last.state, last.answered, last.calls) == ("done", 10, 10)
        assert server.submissions == 2
        check_half_price(store, 10)


def test_a_run_without_batches_fetches_what_waits_and_sends_the_rest():
    with BatchServer() as server, Store.open(None) as store:
        run = start(the_job(server), store, batch=True, patience=PATIENCE)
        waited_for(server, run)
        run.stop()
        last = run.wait(LONG)
        assert (last.state, last.answered, last.left) == ("stopped", 0, 10)
        more = the_job(server, votes=4)
        planned = plan(more, store)
        assert (planned.calls, planned.waiting, planned.answered) == (10, 10, 0)
        assert any("10 requests wait in batches" in sentence for sentence in planned.sentences)
        server.finish()
        last = collect(more, store)
        assert (last.answered, last.halved, server.calls, server.submissions) == (20, 10, 10, 1)
        assert Counter(row["batch"] for row in ledger(store)) == {"batch_1": 10, None: 10}


@BOTH
def test_what_fails_in_a_batch_can_be_asked_again(provider):
    faults = {1: "expired", 2: "invalid", 3: "overloaded", 4: "unreadable"}
    with BatchServer(entry=lambda n, body: faults.get(n)) as server, Store.open(None) as store:
        server.finish()
        last = collect(the_job(server, provider), store, batch=True)
        assert (last.state, last.answered, last.left) == ("done", 6, 3)
        # The second is too long for the model: it fails for good.
        assert (last.statuses["error"], last.statuses["failed"]) == (3, 1)
        rows = ledger(store)
        paid = [row for row in rows if row["tokens"]]
        # What was not made is not charged; what came and cannot be read may have been, at its most.
        assert len(rows) == 10
        assert len(paid) == 7
        assert max(row["tokens"] for row in paid) > 4096
        said = " ".join(last.messages)
        assert "maximum context length" in said
        assert "overloaded" in said
        server.entry = lambda n, body: None
        last = collect(the_job(server, provider), store, batch=True, again=("failed",))
        assert (last.answered, server.asked, server.submissions) == (10, 14, 2)
        assert store.export().num_rows == 10


@BOTH
def test_a_parameter_that_the_model_does_not_take(provider):
    with BatchServer(entry=lambda n, body: "temperature") as server, Store.open(None) as store:
        server.finish()
        last = collect(the_job(server, provider), store, batch=True)
        assert (last.state, last.answered, server.submissions) == ("done", 10, 2)
        assert "takes no such temperature" in last.messages[-1]
        assert set(store.export()["temperature"].to_pylist()) == {None}
        assert sum(row["cost"] > 0 for row in ledger(store)) == 10


def test_what_a_batch_went_without_is_known_to_whoever_fetches_it():
    with BatchServer(entry=lambda n, body: "temperature") as server, Store.open(None) as store:
        # The first fails at once; the second, without a temperature, waits for another run.
        server.finish(through=1)
        run = start(the_job(server), store, batch=True, patience=PATIENCE)
        until(lambda: server.submissions == 2 and run.progress().waiting == 10)
        run.stop()
        run.wait(LONG)
        server.finish()
        assert collect(the_job(server), store, batch=True).answered == 10
        assert server.submissions == 2
        assert set(store.export()["temperature"].to_pylist()) == {None}


@pytest.mark.parametrize(
    "budget", first_of(Budget(calls=7), Budget(cost=0.06), Budget(tokens=35_000))
)
def test_a_budget_holds(budget):
    with BatchServer() as server, Store.open(None) as store:
        server.finish()
        last = collect(the_job(server, n=10), store, batch=True, budget=budget)
        (spent,) = store.query("select count(*) as calls, sum(tokens) as tokens, sum(cost) as cost from calls").to_pylist()  # fmt: skip
        for name in ("calls", "tokens", "cost"):
            assert getattr(budget, name) is None or spent[name] <= getattr(budget, name)
        assert 0 < last.answered == server.asked
        if budget.calls:
            assert (last.state, last.over_budget, server.asked) == ("stopped", True, 7)
        assert collect(the_job(server, n=10), store, batch=True).answered == 20
        assert server.asked == 20


def test_a_submission_that_is_refused_costs_nothing():
    with BatchServer() as server, Store.open(None) as store:
        server.refusal = "Billing hard limit has been reached"
        last = collect(the_job(server), store, batch=True)
        assert (last.left, last.calls) == (10, 0)
        assert "Billing hard limit has been reached" in last.messages[-1]
        assert ledger(store) == []
        server.refusal = None
        server.finish()
        assert collect(the_job(server), store, batch=True).answered == 10


def test_a_job_of_several_stages():
    with BatchServer() as server, Store.open(None) as store:
        server.finish()
        last = collect(
            the_job(server, model="first", protocol="apoc", votes=None, n=12), store, batch=True
        )
        assert (last.state, last.left) == ("done", 0)
        assert store.export()["judge"].to_pylist().count("apoc(first)") == 12
        assert server.calls == 0
        assert server.submissions >= 3


def test_the_price_halves_and_the_wait_is_said():
    with BatchServer() as server, Store.open(None) as store:
        given = the_job(server)
        full, half = plan(given, store), plan(given, store, batch=True)
        assert (half.cost, half.likely) == (
            pytest.approx(full.cost / 2),
            pytest.approx(full.likely / 2),
        )
        run = start(given, store, batch=True, patience=PATIENCE)
        waited_for(server, run)
        until(lambda: run.progress().due is not None)
        assert "10 wait in batches with results by " in run.progress().sentence
        server.finish()
        assert "at half the price (10 calls in batches)" in run.wait(LONG).sentence


def test_providers_without_batches_are_named(tmp_path):
    judge = Judge(model="groq/x", base_url="http://127.0.0.1:9/v1")
    with Store.open(None) as store, pytest.raises(InvalidOption, match="openai and anthropic"):
        plan(Job(dataset="d", items=pairs(2), judges=(judge,)), store, batch=True)
