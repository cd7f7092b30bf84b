"""A reply that could not be read is asked about once, by its own model, and never paid twice."""

from __future__ import annotations

import json

import pytest
from judging_jobs import PATIENCE, collect, job, pairs
from judging_server import Server
from patience import LONG

from core.collect.job import Budget
from core.collect.registry import start
from core.store import Store


def replies(store: Store) -> list[dict]:
    return store.query("select * from replies order by key").to_pylist()


def votes(store: Store) -> int:
    return store.query("select count(*) as n from votes where vote is not null").to_pylist()[0]["n"]


def chatter(number: int, body: dict) -> str:
    return "tagged"


def test_a_reply_that_keeps_to_no_form_is_asked_about_without_the_judged_texts(tmp_path):
    with (
        Server(fault=chatter, repair=lambda question: "A") as server,
        Store.open(tmp_path / "s.duckdb") as store,
    ):
        given = job(server, pairs(5), votes=2)
        last = collect(given, store)
        assert last.statuses == {"ok": 10}
        assert (server.calls, server.repairs) == (20, 10)
        asked = [body["messages"] for body in server.bodies if "its final verdict" in str(body)]
        assert len(asked) == 10
        for messages in asked:
            text = json.dumps(messages)
            assert "The first is better" in text
            assert not any(item.prompt in text for item in given.items)
        votes_of = [row for row in replies(store) if row["task"] == "vote"]
        assert {json.loads(row["body"])["read_by"] for row in votes_of} == {"repair"}
        assert votes(store) == 10
        # A is what was shown first.
        assert {(row["position"], row["vote"]) for row in votes_of} == {("ab", 1), ("ba", -1)}
        assert sum(row["attempts"] for row in votes_of) == 20
        assert store.query("select count(*) as n from calls").to_pylist() == [{"n": 20}]
        # Nothing is asked again.
        assert collect(given, store).statuses == {}
        assert server.calls == 20


@pytest.mark.parametrize(("answer", "status"), [("NONE", "refused"), ("It is A.", "unparsed")])
def test_a_reply_whose_model_names_no_word_is_no_vote(tmp_path, answer, status):
    with (
        Server(fault=chatter, repair=lambda question: answer) as server,
        Store.open(tmp_path / "s.duckdb") as store,
    ):
        given = job(server, pairs(2), votes=2)
        assert collect(given, store).statuses == {status: 4}
        assert votes(store) == 0
        assert server.repairs == 4
        collect(given, store)
        assert server.calls == 8


def test_after_five_questions_in_a_row_that_failed_none_is_asked(tmp_path):
    with Server(fault=chatter) as server, Store.open(tmp_path / "s.duckdb") as store:
        last = collect(job(server, pairs(40), votes=2), store, concurrency=8)
        assert all(share.stopped for share in last.judges.values())
        assert server.repairs <= 5 + 8
        assert server.calls - server.repairs <= 28


def test_no_question_where_the_form_was_kept_or_none_is_wanted(tmp_path):
    with Server(repair=lambda question: "A") as server:
        given = job(server, pairs(5), votes=2)
        assert collect(given, tmp_path / "kept.duckdb").statuses == {"ok": 10}
        assert server.repairs == 0
        server.fault = chatter
        assert collect(given, tmp_path / "off.duckdb", repair=False).statuses == {"unparsed": 10}
        assert server.repairs == 0


def test_what_was_stopped_between_reply_and_question_goes_on_with_the_question(tmp_path):
    with (
        Server(fault=chatter, repair=lambda question: "B") as server,
        Store.open(tmp_path / "s.duckdb") as store,
    ):
        given = job(server, pairs(3), votes=2)
        assert collect(given, store, repair=False).statuses == {"unparsed": 6}
        last = collect(given, store)
        assert (server.calls, server.repairs) == (12, 6)
        assert last.answered == 6
        assert votes(store) == 6
        collect(given, store)
        assert server.calls == 12


def test_questions_count_against_the_budget(tmp_path):
    with (
        Server(fault=chatter, repair=lambda question: "A") as server,
        Store.open(tmp_path / "s.duckdb") as store,
    ):
        given = job(server, pairs(5), votes=2)
        for _ in range(2):
            run = start(given, store, budget=Budget(calls=7), concurrency=1, patience=PATIENCE)
            assert run.wait(LONG).finished
        assert server.calls == 7


def test_a_score_is_asked_about_too(tmp_path):
    with (
        Server(fault=chatter, repair=lambda question: "7") as server,
        Store.open(tmp_path / "s.duckdb") as store,
    ):
        given = job(server, pairs(2), protocol="score", votes=1)
        assert collect(given, store).statuses == {"ok": 4}
        found = store.query("select distinct score from scores").to_pylist()
        assert found == [{"score": 7.0}]
