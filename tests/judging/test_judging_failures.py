"""What fails is said in the provider's words, stops what would fail again, and costs
nothing twice.
"""

from __future__ import annotations

import asyncio
import time

import pytest
from aiohttp import web
from judging_jobs import collect, job, pairs
from judging_server import Server, answer_text
from levels import first_of

from core.__main__ import main
from core.collect import client
from core.collect.endpoint import Destination
from core.collect.job import Job, Judge
from core.collect.plan import plan
from core.errors import InvalidOption
from core.store import Store
from core.store.ledger import Call, Ledger

OVERLONG = (
    "This model's maximum context length is 8192 tokens. However, "
    "your messages resulted in 9120 tokens."
)
QUOTA = "You exceeded your current quota, please check your plan and billing details."


class Refusing(Server):
    """Answers some requests with an error of the provider's.

    wrong : request body → (status, message, code), or None.
    """

    def __init__(self, wrong, **options):
        super().__init__(**options)
        self.wrong = wrong

    async def _answer(self, number, body, request):
        found = self.wrong(body)
        if found is None:
            return await super()._answer(number, body, request)
        status, message, code = found
        error = {"message": message, "type": "invalid_request_error", "code": code}
        return web.json_response({"error": error}, status=status)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "votes.duckdb") as opened:
        yield opened


def test_an_overlong_item_is_that_items_failure(store):
    def wrong(body):
        if "Question 2?" in body["messages"][1]["content"]:
            return 400, OVERLONG, "context_length_exceeded"
        return None

    with Refusing(wrong) as server:
        last = collect(job(server, pairs(6), votes=2), store)
        assert (last.state, last.statuses, last.left) == ("done", {"ok": 10, "failed": 2}, 0)
        assert any("maximum context length is 8192 tokens" in message for message in last.messages)
        assert "2 requests failed for good, item q2 (" in str(last.remedies[0])
        failed = [row for row in store.export().to_pylist() if row["status"] == "error"]
        assert {row["item_id"] for row in failed} == {"q2"}


REJECTED = {
    "bad": (400, "Invalid 'messages[1].content'.", "invalid_value"),
    "large": (413, "Request entity too large", None),
    "unprocessable": (422, "string does not match pattern", None),
    "filter": (
        400,
        "The response was filtered by the content management policy.",
        "content_filter",
    ),
    "overlong": (400, OVERLONG, "context_length_exceeded"),
}


@pytest.mark.parametrize("kind", first_of(*REJECTED, n=2))
def test_one_bad_item_is_one_failure(tmp_path, capsys, kind):
    """58 of 60 votes in one run, whichever item is the bad one, and the two are named."""
    items = tmp_path / "items.csv"
    rows = [f"q{k},Question {k}?,{answer_text(1)},{answer_text(0)}" for k in range(30)]
    items.write_text("\n".join(["item_id,prompt,response_a,response_b", *rows]))

    def wrong(body):
        bad = "Question 0?" in body["messages"][1]["content"]
        return REJECTED[kind] if bad else None

    with Refusing(wrong) as server:
        command = ["collect", "--yes", str(items), "--store", str(tmp_path / "votes.duckdb")]
        command += ["--model", "openai/fair", "--base-url", server.url, "--votes", "2"]
        assert main(command) == 0
        said = capsys.readouterr().err
        calls = server.calls
        # Nothing is sent again by itself.
        assert main(command) == 0
        assert server.calls == calls
    with Store.open(tmp_path / "votes.duckdb") as opened:
        statuses = opened.query(
            "select status, count(*) as n from replies group by all"
        ).to_pylist()
    how = "refused" if kind == "filter" else "failed"
    assert {row["status"]: row["n"] for row in statuses} == {"ok": 58, how: 2}
    if kind != "filter":
        assert "2 requests failed for good, item q0 (" in said
        assert REJECTED[kind][1][:30] in said


def test_a_server_that_rejects_everything_stops_after_some_in_a_row(store):
    with Refusing(lambda body: REJECTED["bad"]) as server:
        last = collect(job(server, pairs(40), votes=2), store, concurrency=4, give_up=6)
        assert (last.answered, last.left) == (0, 80)
        assert any("6 × refused by the provider in a row" in message for message in last.messages)
        # Each was tried without a schema too, as the server does not say what it rejects.
        assert server.calls <= 6 + 2 * 4


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_stops_at_once(store, status):
    with Refusing(lambda body: (status, "Incorrect API key provided", None)) as server:
        last = collect(job(server, pairs(40), votes=2), store, concurrency=4)
        assert (last.answered, server.calls <= 4) == (0, True)


def test_a_schema_that_a_server_does_not_know_is_left_out_and_said(store):
    def wrong(body):
        return (400, "Bad request", None) if "response_format" in body else None

    with Refusing(wrong) as server:
        last = collect(job(server, pairs(10), votes=2), store, concurrency=2)
        assert (last.answered, last.left) == (20, 0)
        assert any("keeps to no schema" in message for message in last.messages)
        assert server.calls <= 20 + 2


class Dripping(Server):
    async def _answer(self, number, body, request):
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.3)


def test_a_server_that_drips_ends_within_the_timeout():
    with Dripping() as server:
        for model in ("openai/x", "mistral/x"):
            where = Destination(
                host="127.0.0.1", base_url=server.url, local=True, price=None, key="none-needed"
            )
            said = [{"role": "user", "content": "q"}]
            # What a library imports for its first call is no part of the call.
            first = client.prepared(model, said, {}, where=where)
            asyncio.run_coroutine_threadsafe(first, client.loop()).result(60)
            asked = client.ask(model, said, {}, where=where, timeout=1)
            begun = time.perf_counter()
            with pytest.raises(client.CallFailed) as caught:
                asyncio.run_coroutine_threadsafe(asked, client.loop()).result(60)
            assert (caught.value.status, caught.value.kind) == (408, "timeout")
            # Far from the minute that it may take: a busy machine is no endless call.
            assert time.perf_counter() - begun < 20


def test_an_empty_account_stops_after_some_in_a_row(store):
    with Refusing(lambda body: (429, QUOTA, "insufficient_quota")) as server:
        last = collect(job(server, pairs(200), votes=2), store, concurrency=4, give_up=7)
        assert (last.answered, last.planned) == (0, 400)
        assert any("7 × empty account in a row" in m and QUOTA in m for m in last.messages), (
            last.messages
        )
        assert server.calls <= 7 + 4


def test_a_server_that_is_not_there_ends_the_command_with_the_way_on(tmp_path, capsys):
    items = tmp_path / "items.csv"
    items.write_text(
        "prompt,response_a,response_b\n" + "\n".join(f"Q{k}?,yes,no" for k in range(40))
    )
    with Server() as server:
        url = server.url
    command = [
        "collect",
        "--yes",
        str(items),
        "--store",
        str(tmp_path / "votes.duckdb"),
        "--model",
        "openai/fair",
    ]
    command += ["--base-url", url, "--votes", "2", "--give-up", "5"]
    assert main(command) == 3
    said = capsys.readouterr().err
    assert "first no connection: " in said
    assert "5 × no connection in a row" in said
    assert "start the server" in said
    assert "the same command goes on" in said


@pytest.mark.parametrize(
    "protocol", first_of("pairwise", "listwise", "greedy", "score", "apoc", n=2)
)
def test_a_model_that_takes_no_temperature_serves_every_protocol(store, protocol):
    def wrong(body):
        if "temperature" in body:
            message = (
                "Unsupported value: 'temperature' does not support this value with this model."
            )
            return 400, message, "unsupported_value"
        return None

    options = {"votes": 2} if protocol in ("pairwise", "listwise") else {}
    with Refusing(wrong) as server:
        last = collect(job(server, pairs(4), protocol=protocol, **options), store, concurrency=2)
        assert (last.state, last.left) == ("done", 0), last.messages
        (message,) = last.messages
        assert "takes no such temperature; it is left out" in message
        assert ("not greedily" in message) == (protocol not in ("pairwise",))
        assert all("temperature" not in body for body in server.bodies[2:])
    kept = store.query("select distinct temperature from replies where attempts > 0").to_pylist()
    assert kept == [{"temperature": None}]


def test_further_parameters_and_headers_go_with_each_call(tmp_path, monkeypatch):
    monkeypatch.setenv("TEAM", "blue-team-123")
    items = tmp_path / "items.csv"
    items.write_text(f"prompt,response_a,response_b\nQ?,{answer_text(1)},{answer_text(0)}\n")
    heads = []

    class Noting(Server):
        async def _answer(self, number, body, request):
            heads.append(request.headers.get("X-Team"))
            return await super()._answer(number, body, request)

    with Noting() as server:
        command = [
            "collect",
            "--yes",
            str(items),
            "--store",
            str(tmp_path / "v.duckdb"),
            "--model",
            "openai/fair",
        ]
        command += ["--base-url", server.url, "--votes", "2", "--param", "seed=7", "--top-p", "0.9"]
        assert main([*command, "--header", "X-Team=$TEAM"]) == 0
        assert {(body["seed"], body["top_p"]) for body in server.bodies} == {(7, 0.9)}
        assert heads == ["blue-team-123"] * 2
        assert main([*command, "--param", "seed=seven"]) == 2
        assert main([*command, "--header", "X-Team=$NOBODY"]) == 2
    assert b"blue-team-123" not in (tmp_path / "v.duckdb").read_bytes()


def test_parameters_make_another_request(store):
    with pytest.raises(InvalidOption, match="temperature is no --param"):
        Judge(model="openai/x", parameters=(("temperature", "0"),))
    with Server() as server:
        collect(job(server, pairs(2), votes=2), store)
        drawn = Judge(
            model="openai/fair", base_url=server.url, name="drawn", parameters=(("top_p", "0.5"),)
        )
        collect(Job(dataset="collected", items=pairs(2), judges=(drawn,), votes=2), store)
        other = Judge(
            model="openai/fair", base_url=server.url, name="drawn", parameters=(("top_p", "0.9"),)
        )
        with pytest.raises(InvalidOption, match="another prompt, model"):
            plan(Job(dataset="collected", items=pairs(2), judges=(other,), votes=2), store)


def test_a_server_that_moved_is_gone_on_with(store):
    items = pairs(5)
    with Server() as old:
        collect(job(old, items[:3], votes=2), store)
        before = old.url
    with Server() as new:
        judge = Judge(model="openai/fair", base_url=new.url, same_server=before)
        given = Job(dataset="collected", items=items, judges=(judge,), votes=2)
        assert plan(given, store).calls == 4
        assert collect(given, store).left == 0
        assert new.calls == 4


def test_calls_that_a_killed_process_may_have_made_count(store):
    """A lease stays when a process dies, counts against the limits, and is taken away by nobody
    else.
    """
    ledger = Ledger(store, "d", [])
    ledger.lease([Call(key="a", tokens=10, cost=1.0), Call(key="b", tokens=10, cost=1.0)])
    ledger.write([], calls=[Call(key="a", tokens=4, cost=0.5)])
    assert {key: (s.calls, s.cost) for key, s in ledger.spent(["a", "b"]).items()} == {
        "a": (2, 1.5),
        "b": (1, 1.0),
    }
    ledger.release([Call(key="a", tokens=10, cost=1.0), Call(key="b", tokens=10, cost=1.0)])
    assert {key: (s.calls, s.cost) for key, s in ledger.spent(["a", "b"]).items()} == {
        "a": (1, 0.5)
    }


def test_a_likely_cost_and_what_the_limit_counts(store):
    with Server(fault=lambda n, body: "no usage" if n % 5 == 0 else None) as server:
        given = job(server, pairs(20), votes=2, price=(1.0, 2.0))
        planned = plan(given, store)
        assert 0 < planned.likely < planned.cost
        assert any(line.startswith("likely cost") for line in planned.sentences)
        seen = []
        last = collect(given, store, on_progress=lambda now: seen.append(now.likely))
        assert any(likely is not None for likely in seen)
        assert last.charged > last.cost
        assert "which a limit counts" in last.price
