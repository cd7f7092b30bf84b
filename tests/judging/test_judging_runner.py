"""The runner against a real server on loopback that misbehaves on order."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from dataclasses import replace

import pytest
from aiohttp import web
from judging_jobs import PATIENCE, collect, job, pairs, until
from judging_server import Server
from levels import first_of
from patience import LONG

from core.collect import client, ledger_rows
from core.collect.caller import UNTRIED_AT_ONCE
from core.collect.client import retry_after
from core.collect.endpoint import NO_KEY, NotConfirmed, destination
from core.collect.job import Budget, Judge
from core.collect.limits import AdaptiveLimit, BudgetTracker
from core.collect.plan import plan
from core.collect.registry import running, start
from core.collect.scrubbing import scrub
from core.errors import InvalidOption
from core.schema import Selection
from core.store import Store
from core.store.ledger import Spent


def replies(store: Store) -> list[dict]:
    return store.query("select * from replies order by item_id, run, position").to_pylist()


def test_a_job_runs_and_a_second_run_asks_nothing(tmp_path):
    path = tmp_path / "votes.duckdb"
    with Server() as server:
        given = job(server, pairs(6), votes=4, confidence="self")
        last = collect(given, path)
        assert (last.state, last.answered, last.planned, server.calls) == ("done", 24, 24, 24)
        assert last.statuses == {"ok": 24}
        again = collect(given, path)
        assert (again.state, again.answered, server.calls) == ("done", 24, 24)
        more = collect(job(server, pairs(6), votes=6, confidence="self"), path)
        assert (more.answered, server.calls) == (36, 36)
    with Store.open(path) as store:
        rows = store.export().to_pylist()
        kept = replies(store)
    assert len(rows) == len(kept) == 36
    assert {row["judge"] for row in rows} == {"fair"}
    by_key = {(row["item_id"], row["run"], row["position"]): row for row in kept}
    items = {item.item_id: item for item in pairs(6)}
    for row in rows:
        reply = by_key[(row["item_id"], row["run"], row["position"])]
        item = items[row["item_id"]]
        assert (row["vote"], row["confidence"]) == (reply["vote"], reply["confidence"])
        assert (row["prompt"], row["response_a"], row["response_b"]) == (
            item.prompt,
            *item.responses,
        )
        assert (row["gold"], row["category"], row["confidence_kind"]) == (
            item.gold,
            item.category,
            "self",
        )
        assert (row["prompt_hash"], row["temperature"]) == (reply["prompt_hash"], 1.0)
        assert row["rationale"].startswith("I find ")


SAID = {"prose": "unparsed", "refusal": "unparsed", "cut": "unparsed", "wrong keys": "unparsed"}
SAID |= {"two verdicts": "unparsed", "filter": "refused", "tagged": "unparsed"}


@pytest.mark.parametrize(("kind", "status"), first_of(*SAID.items(), n=3))
def test_what_a_model_says_wrong_is_kept_and_is_no_vote(tmp_path, kind, status):
    with (
        Server(fault=lambda n, body: kind) as server,
        Store.open(tmp_path / "votes.duckdb") as store,
    ):
        last = collect(job(server, pairs(2), votes=2), store)
        assert (last.state, last.statuses) == ("done", {status: 4})
        rows = store.export().to_pylist()
        assert {(row["status"], row["vote"] is None) for row in rows} == {(status, status != "ok")}
        if kind == "prose":
            assert rows[0]["rationale"].startswith("Both have their merits")
        # It was answered, and paid: not asked again.
        collect(job(server, pairs(2), votes=2), store)
        assert server.calls - server.repairs == 4
        assert server.repairs == (4 if status == "unparsed" else 0)


@pytest.mark.parametrize("kind", first_of("500", "drop", "truncated", "schema", n=2))
def test_faults_of_the_server_are_tried_again(tmp_path, kind):
    first_four = Server(fault=lambda n, body: kind if n <= 4 else None)
    with first_four as server, Store.open(tmp_path / "votes.duckdb") as store:
        last = collect(job(server, pairs(4), votes=2), store)
        assert (last.state, last.statuses) == ("done", {"ok": 8})
        assert sum(last.failures.values()) == 4
        assert last.calls == server.calls == 12
        assert sum(row["attempts"] for row in replies(store)) == 12


def test_a_call_without_an_answer_in_time_is_tried_again(tmp_path):
    first_four = Server(fault=lambda n, body: "hang" if n <= 4 else None)
    with first_four as server, Store.open(tmp_path / "votes.duckdb") as store:
        last = collect(job(server, pairs(4), votes=2, timeout=2), store)
        assert (last.state, last.statuses) == ("done", {"ok": 8})
        # On a busy machine others may be late as well.
        assert set(last.failures) == {"timeout"}
        assert last.failures["timeout"] >= 4
        assert (
            last.calls
            == sum(row["attempts"] for row in replies(store))
            == 8 + last.failures["timeout"]
        )


def test_a_request_that_always_fails_is_an_error_until_it_is_answered(tmp_path):
    broken = threading.Event()
    broken.set()
    unlucky = "Question 1?"

    def fault(number, body):
        return "500" if broken.is_set() and unlucky in body["messages"][1]["content"] else None

    with Server(fault=fault) as server, Store.open(tmp_path / "votes.duckdb") as store:
        given = job(server, pairs(3), votes=2)
        last = collect(given, store)
        assert (last.state, last.answered, last.statuses) == ("done", 4, {"ok": 4, "error": 2})
        failed = [row for row in store.export().to_pylist() if row["status"] == "error"]
        assert {row["item_id"] for row in failed} == {"q1"}
        assert "out of order" in failed[0]["rationale"]
        broken.clear()
        last = collect(given, store)
        assert (last.answered, last.statuses) == (6, {"ok": 2})
        assert {row["status"] for row in store.export().to_pylist()} == {"ok"}
        assert len(store.export()) == len(replies(store)) == 6
        assert last.calls == server.calls == 4 + 2 * 6 + 2


def test_another_4xx_stops_the_judge_with_the_providers_words(tmp_path, monkeypatch):
    monkeypatch.setenv("PLANTED", "sk-planted-0123456789")
    with Server(fault=lambda n, body: "401" if n > 5 else None) as server:
        given = job(server, pairs(30), votes=2)
        judge = Judge(model="openai/fair", base_url=server.url, key_env="PLANTED")
        given = type(given)(dataset="d", items=given.items, judges=(judge,), votes=2)
        with Store.open(tmp_path / "votes.duckdb") as store:
            last = collect(given, store, concurrency=4)
            assert last.state == "done"
            assert (last.answered, last.planned) == (5, 60)
            (message,) = last.messages
            assert "fair stopped (HTTP 401)" in message
            assert "Incorrect API key" in message
            assert "sk-planted" not in message
            # Nobody is asked again after the refusal, beside those on their way.
            assert server.calls <= 5 + 4 + 4
            assert server.keys == {"Bearer sk-planted-0123456789"}
            assert len(replies(store)) == 5


def test_rate_limits_lower_the_number_in_flight_and_are_waited_for(tmp_path):
    limited: dict[str, int] = {}

    def first_three(number, body):
        asked = json.dumps(body)
        if asked in limited or len(limited) == 3:
            return None
        limited[asked] = number
        return "429"

    with (
        Server(fault=first_three, hold_after=0) as server,
        Store.open(tmp_path / "votes.duckdb") as store,
    ):
        going = start(job(server, pairs(10), votes=4), store, concurrency=8, patience=PATIENCE)
        # Three of eight calls met the limit and wait for their turn: five are more than are allowed
        # now.
        until(lambda: server.calls == 8 and going.progress().in_flight == 5)
        assert going.progress().limit == 4, "halved once for calls begun together"
        server.release()
        last = going.wait(LONG)
        assert (last.state, last.statuses, last.failures) == ("done", {"ok": 40}, {"rate limit": 3})
        assert last.limit == 8, "one more after each round of answers"
        assert server.calls == 43
        # Retry-After says one second: new calls wait for it.
        asked_first = {json.dumps(body) for body in server.bodies[:8]}
        new = next(n for n, body in enumerate(server.bodies) if json.dumps(body) not in asked_first)
        assert server.times[new] - server.times[max(limited.values()) - 1] >= 1
        assert server.peak <= 8


def test_what_met_a_rate_limit_is_tried_again_under_the_lowered_one(tmp_path):
    calls, allowed = UNTRIED_AT_ONCE, []

    def fault(number, body):
        if number > calls:
            allowed.append((server.in_flight, going.progress().limit))
        return "429" if number <= calls else None

    server = Server(fault=fault, hold_after=calls)
    with server, Store.open(tmp_path / "votes.duckdb") as store:
        going = start(job(server, pairs(10), votes=2), store, concurrency=calls, patience=PATIENCE)
        until(lambda: server.calls == calls + calls // 2)
        server.release()
        last = going.wait(LONG)
    assert (last.state, last.statuses, last.failures) == ("done", {"ok": 20}, {"rate limit": calls})
    assert len(allowed) == 20
    assert all(in_flight <= limit for in_flight, limit in allowed)


def test_an_adaptive_limit_halves_once_a_round_and_recovers_by_one():
    async def go() -> list[int]:
        limit, limits = AdaptiveLimit(16), []
        now = asyncio.get_running_loop().time()
        limit.rate_limited(now, None)
        limit.rate_limited(now - 1, None)
        limits.append(limit.limit)
        for _ in range(8):
            limit.answered()
        limits.append(limit.limit)
        for _ in range(6):
            limit.rate_limited(asyncio.get_running_loop().time() + 1e9, None)
        limits.append(limit.limit)
        for _ in range(500):
            limit.answered()
        return [*limits, limit.limit]

    # On the loop of calls: in this thread another test may have left that of its browser running.
    assert asyncio.run_coroutine_threadsafe(go(), client.loop()).result(LONG) == [8, 9, 1, 16]


@pytest.mark.parametrize(("now", "wait"), [(0.0, 300), (4e9, 0)], ids=["back", "forward"])
def test_a_clock_that_jumps_makes_no_wait_longer_than_the_longest(monkeypatch, now, wait):
    monkeypatch.setattr(time, "time", lambda: now)
    assert retry_after({"retry-after": "Tue, 01 Dec 2026 08:00:00 GMT"}) == wait


def test_retry_after_as_seconds_and_as_a_date():
    assert retry_after({"retry-after": "2.5"}) == 2.5
    assert retry_after({"retry-after": "1e9"}) == 300
    assert retry_after({"retry-after": "-4"}) == 0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "nan"}) is None
    assert retry_after({}) is None
    date = int(time.time()) + 200
    earliest = time.time()
    found = retry_after(
        {"retry-after": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(date))}
    )
    assert date - time.time() <= found <= date - earliest


@pytest.mark.parametrize("calls", first_of(7, 0, 1))
def test_the_limit_of_calls_is_never_passed(tmp_path, calls):
    with Server(hold_after=0) as server, Store.open(tmp_path / "votes.duckdb") as store:
        given = job(server, pairs(5), votes=2)
        going = start(given, store, budget=Budget(calls=calls), patience=PATIENCE)
        # As many as are allowed are under way at once, and none has used anything yet.
        until(lambda: server.calls == calls)
        server.release()
        last = going.wait(LONG)
        assert (last.state, last.answered, server.calls, server.peak) == (
            "stopped",
            calls,
            calls,
            calls,
        )
        assert f"limit of {calls} calls" in last.messages[0]
        # The limit is the job's, not the run's.
        assert collect(given, store, budget=Budget(calls=calls)).answered == calls
        assert server.calls == calls
        assert collect(given, store, budget=Budget(calls=10)).state == "done"


def test_retries_count_against_the_limit(tmp_path):
    with (
        Server(fault=lambda n, body: "500") as server,
        Store.open(tmp_path / "votes.duckdb") as store,
    ):
        last = collect(job(server, pairs(5), votes=2), store, budget=Budget(calls=13))
        assert server.calls == 13
        assert last.state == "stopped"


def test_limits_of_tokens_and_money_are_never_passed_and_are_used_up(tmp_path):
    price = (100.0, 400.0)
    with Server() as server:
        given = job(server, pairs(40), votes=2, price=price, max_tokens=50)
        for name, limit in (("tokens", 9_000), ("cost", 1.0)):
            with Store.open(tmp_path / f"{name}.duckdb") as store:
                last = collect(given, store, budget=Budget(**{name: limit}))
                spent = {"tokens": last.prompt_tokens + last.completion_tokens, "cost": last.cost}[
                    name
                ]
                assert last.state == "stopped"
                assert limit * 0.7 < spent <= limit
                paid = sum(r["cost"] for r in replies(store))
                assert last.cost == pytest.approx(paid)
                assert paid == pytest.approx(
                    sum(
                        r["prompt_tokens"] * 1e-4 + r["completion_tokens"] * 4e-4
                        for r in replies(store)
                    )
                )


def test_an_unknown_price_is_said_and_refuses_a_limit_in_money(tmp_path):
    with Server() as server, Store.open(tmp_path / "votes.duckdb") as store:
        given = job(server, pairs(2), votes=2)
        planned = plan(given, store)
        assert planned.cost is None
        assert "price unknown" in planned.sentences[-1]
        with pytest.raises(InvalidOption, match="--price"):
            start(given, store, budget=Budget(cost=1.0))
        assert server.calls == 0
        last = collect(given, store)
        assert last.cost is None
        assert "price unknown" in last.sentence
        assert {row["cost"] for row in store.export().to_pylist()} == {None}


def test_replies_without_a_count_of_tokens_are_said_and_use_what_was_held_back(tmp_path):
    with (
        Server(fault=lambda n, body: "no usage") as server,
        Store.open(tmp_path / "votes.duckdb") as store,
    ):
        given = job(server, pairs(20), votes=2, price=(100.0, 400.0), max_tokens=50)
        last = collect(given, store, budget=Budget(cost=1.0))
        assert last.state == "stopped"
        assert last.without_usage == last.answered > 0
        assert "without a count of tokens" in last.sentence
        assert {row["cost"] for row in replies(store)} == {None}


def test_a_budget_reserves_what_is_in_flight():
    tracker, most = BudgetTracker(Budget(calls=3, tokens=100)), Spent(calls=1, tokens=40, cost=0.0)
    tracker.reserve(most)
    tracker.reserve(most)
    assert "100 tokens" in tracker.exceeded(most)
    tracker.settle(most, tokens=10, cost=None)
    assert tracker.exceeded(most) is None
    tracker.settle(most, tokens=None, cost=None)
    assert (tracker.spent.tokens, tracker.spent.calls) == (50, 2)
    tracker.reserve(most)
    assert "3 calls" in tracker.exceeded(most)


def test_stop_keeps_what_is_in_flight_and_resume_asks_the_rest(tmp_path):
    with Server(hold_after=10) as server, Store.open(tmp_path / "votes.duckdb") as store:
        given = job(server, pairs(40), votes=2)
        going = start(given, store, concurrency=8, patience=PATIENCE)
        until(lambda: server.calls == 18)
        assert running(store, going.job_id) is going
        assert start(given, store) is going
        going.stop()
        until(lambda: going.progress().state == "stopping")
        server.release()
        last = going.wait(LONG)
        assert last.state == "stopped"
        assert last.answered == server.calls == 18
        assert running(store, going.job_id) is None
        assert collect(given, store).answered == 80
        assert server.calls == 80
        assert server.peak <= 16


def test_stop_at_once_does_not_wait(tmp_path):
    with Server(hold_after=3) as server, Store.open(tmp_path / "votes.duckdb") as store:
        going = start(job(server, pairs(10), votes=2, timeout=2 * LONG), store, concurrency=4)
        until(lambda: server.calls == 7)
        going.stop(at_once=True)
        # Nothing lets the four go that are under way.
        assert going.wait(LONG).state == "stopped"
        assert server.in_flight == 4
        assert len(replies(store)) == 3


def test_the_same_items_in_another_data_set_are_not_asked_again(tmp_path):
    with Server() as server, Store.open(tmp_path / "votes.duckdb") as store:
        given = job(server, pairs(5), votes=4)
        collect(given, store)
        copied = collect(replace(given, dataset="copy"), store)
        assert (copied.state, server.calls) == ("done", 20)

        def said(dataset):
            rows = store.export(Selection(datasets=(dataset,))).drop_columns("dataset").to_pylist()
            return sorted(rows, key=lambda row: (row["item_id"], row["run"], row["position"]))

        assert said("copy") == said("collected")
        store.rename_dataset("copy", "renamed")
        assert collect(replace(given, dataset="renamed"), store).state == "done"
        assert (len(said("renamed")), server.calls) == (20, 20)


def test_deleting_a_data_set_deletes_its_replies(tmp_path):
    with Server() as server, Store.open(tmp_path / "votes.duckdb") as store:
        collect(job(server, pairs(2), votes=2), store)
        store.delete_dataset("collected")
        assert not replies(store)
        assert store.query("select count(*) as n from texts").to_pylist() == [{"n": 0}]


@pytest.mark.thorough
def test_other_changes_to_the_store_meanwhile_do_not_mix_up_numbers(tmp_path):
    from readings import reading

    with Server(hold_after=0) as server, Store.open(tmp_path / "votes.duckdb") as store:
        going = start(job(server, pairs(30), votes=2), store, concurrency=8)
        for k in range(5):
            # Both write at the same time, and take turns.
            server.release(12 * (k + 1))
            rows = [
                {
                    "item_id": f"z{k}",
                    "judge": f"j{k}",
                    "vote": 1,
                    "prompt": f"other {k}",
                    "rationale": "I find A better.",
                }
            ]
            store.load(reading(rows, name=f"f{k}.csv"))
            until(lambda answered=12 * (k + 1): going.progress().answered == answered)
        assert going.wait(LONG).state == "done"
        rows = store.export(Selection(datasets=("collected",))).to_pylist()
        assert len(rows) == 60
        items = {item.item_id: item for item in pairs(30)}
        assert all(row["prompt"] == items[row["item_id"]].prompt for row in rows)
        assert all(row["judge"] == "fair" for row in rows)
        ids = store.query("select count(*) n, count(distinct id) d from votes").to_pylist()[0]
        texts = store.query(
            "select count(*) n, count(distinct text) d, count(distinct id) i from texts"
        ).to_pylist()[0]
        assert ids == {"n": 65, "d": 65}
        assert texts["n"] == texts["d"] == texts["i"]


def test_votes_of_another_origin_are_not_overwritten(tmp_path):
    with Server() as server, Store.open(tmp_path / "votes.duckdb") as store:
        collect(job(server, pairs(3), votes=2), store)
        with pytest.raises(InvalidOption, match="--judge"):
            start(job(server, pairs(3), votes=2, temperature=0.0), store)
        assert server.calls == 6
        named = job(server, pairs(3), votes=2, temperature=0.0, name="fair, cold")
        assert collect(named, store).state == "done"


def test_where_texts_may_go(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)

    def judge(model="openai/x", base_url=None, **more):
        return Judge(model=model, base_url=base_url, **more)

    for url in ("http://localhost:8000/v1", "http://127.0.0.9/v1", "http://[::1]:8000/v1"):
        found = destination(judge(base_url=url))
        assert (found.local, found.key) == (True, NO_KEY)
    for url in (
        "http://192.168.1.7/v1",
        "https://api.openai.com.example.net/v1",
        "http://localhost.example.net/v1",
    ):
        with pytest.raises(NotConfirmed, match="--yes-send-to"):
            destination(judge(base_url=url))
    assert (
        destination(judge(base_url="http://192.168.1.7/v1"), confirmed=["192.168.1.7"]).key
        == NO_KEY
    )
    with pytest.raises(InvalidOption, match="OPENAI_API_KEY"):
        destination(judge())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    found = destination(judge())
    assert (found.host, found.local, found.key) == (
        "api.openai.com",
        False,
        "sk-planted-0123456789",
    )
    assert "sk-planted" not in repr(found)
    # A provider's key goes to that provider only.
    assert destination(judge(base_url="http://localhost:8000/v1")).key == NO_KEY
    assert destination(judge(), keys={"OPENAI_API_KEY": "sk-of-the-page"}).key == "sk-of-the-page"
    # The client would follow this variable by itself.
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.example/v1")
    with pytest.raises(NotConfirmed, match=r"elsewhere\.example"):
        destination(judge())
    for url in (
        "ftp://localhost/v1",
        "localhost:8000",
        "http://me:secret@localhost/v1",
        "http://[",
    ):
        with pytest.raises(InvalidOption):
            destination(judge(base_url=url))
    with pytest.raises(InvalidOption, match="provider"):
        destination(judge(model="nobody/x"))
    with pytest.raises(InvalidOption, match="provider"):
        judge(model="x")


def test_a_server_cannot_pass_texts_on_to_another(tmp_path):
    with Server() as elsewhere:

        class Redirecting(Server):
            async def _chat(self, request):
                self.calls += 1
                raise web.HTTPTemporaryRedirect(f"{elsewhere.url}/chat/completions")

        with Redirecting() as server, Store.open(tmp_path / "votes.duckdb") as store:
            last = collect(job(server, pairs(3), votes=2), store, concurrency=1)
        assert (last.answered, server.calls, elsewhere.calls) == (0, 1, 0)
        assert "HTTP 307" in last.messages[0]


def test_keys_are_scrubbed(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "abcdefgh")
    assert scrub("said abcdefgh and sk-12345678", ["sk-12345678"]) == "said [key] and [key]"


def test_concurrency_is_bounded(tmp_path):
    with Server() as server, Store.open(tmp_path / "votes.duckdb") as store:
        for calls in (0, 257):
            with pytest.raises(InvalidOption, match="256"):
                start(job(server, pairs(1), votes=2), store, concurrency=calls)


def test_replies_wait_for_no_others_that_cannot_come(tmp_path, monkeypatch):
    """Places are given back by storing: a wait without end ends where every other place waits."""
    monkeypatch.setattr(ledger_rows, "GATHERING", 1e9)
    monkeypatch.setattr(ledger_rows, "LONGEST_GATHERING", 10 * LONG)
    with Server() as server:
        last = collect(job(server, pairs(5), votes=4), tmp_path / "votes.duckdb", concurrency=3)
    assert (last.state, last.answered) == ("done", 20)
