"""What was paid for is kept, once, whatever else goes on; and limits hold over all runs of
a job.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from judging_disk import Wordy
from judging_jobs import PATIENCE, collect, pairs, until
from judging_jobs import job as job_for
from judging_server import LONG, Server
from levels import first_of
from places import PYTHONPATH, REPOSITORY

from core.collect.job import Budget, Job, Judge
from core.collect.limits import InFlight
from core.collect.registry import start
from core.errors import InvalidOption
from core.schema import Selection
from core.store import Store
from core.store.ledger import Call, Spent


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "votes.duckdb") as opened:
        yield opened


@pytest.fixture(params=first_of("openai", "mistral"))
def provider(request):
    """Who is called by each of the two connections, the project's own and litellm's."""
    return request.param


BEHIND_THE_CALL = pytest.mark.parametrize("provider", ["openai"])
"""For what a disk does to a reply that is here, where both connections have become one."""


@pytest.fixture
def job(provider) -> Callable[..., Job]:
    return partial(job_for, provider=provider)


def once(store: Store, votes: int) -> bool:
    """Whether there are so many votes, none of them twice, and no reply twice in a data set."""
    places = store.query(
        "select count(*) as n, count(distinct (dataset, comparison, judge, run, position)) as d "
        "from votes"
    ).to_pylist()
    kept = store.query(
        "select count(*) as n, count(distinct (dataset, key)) as d from replies"
    ).to_pylist()
    return places == [{"n": votes, "d": votes}] and kept[0]["n"] == kept[0]["d"]


class Saying(Server):
    """A server whose nth completion is changed before it is sent."""

    def change(self, number: int, found: dict) -> None:
        """Change a completion in place."""

    def completion(self, body, fault):
        found = super().completion(body, fault)
        self.said = getattr(self, "said", 0) + 1
        self.change(self.said, found)
        return found


@pytest.mark.parametrize("items", first_of(5, 10))
def test_overlapping_jobs_ask_and_vote_once(store, items, job):
    with Server(hold_after=6) as server:
        some = start(job(server, pairs(items), votes=4), store, concurrency=8, patience=PATIENCE)
        until(lambda: server.calls == 14)
        every = start(job(server, pairs(20), votes=4), store, concurrency=8, patience=PATIENCE)
        # The second asks what the first does not, and waits for the rest.
        until(lambda: server.calls == 22)
        server.release()
        assert some.wait(LONG).state == every.wait(LONG).state == "done"
        assert (some.progress().answered, every.progress().answered) == (4 * items, 80)
        assert server.calls == 80
    assert once(store, 80)


def test_a_job_asks_what_another_that_was_stopped_leaves(store, job):
    with Server(hold_after=6) as server:
        first = start(job(server, pairs(10), votes=2), store, concurrency=4, patience=PATIENCE)
        until(lambda: server.calls == 10)
        second = start(job(server, pairs(10), votes=4), store, concurrency=4, patience=PATIENCE)
        until(lambda: server.calls == 14)
        first.stop(at_once=True)
        assert first.wait(LONG).answered == 6
        server.release()
        assert second.wait(LONG).answered == 40
        # Four calls were cut off.
        assert server.calls == 44
    assert once(store, 40)


def test_a_stop_ends_waiting_for_another_job(store, job):
    with Server(hold_after=0) as server:
        given = job(server, pairs(4), votes=2)
        first = start(given, store, patience=PATIENCE)
        until(lambda: server.calls == 8)
        second = start(replace(given, dataset="copy"), store, patience=PATIENCE)
        second.stop()
        assert second.wait(LONG).state == "stopped"
        assert not first.progress().finished
        server.release()
        assert first.wait(LONG).answered == 8


def test_two_data_sets_at_once_ask_once(store, job):
    with Server(hold_after=4) as server:
        given = job(server, pairs(5), votes=4)
        first = start(given, store, concurrency=8, patience=PATIENCE)
        second = start(replace(given, dataset="copy"), store, concurrency=8, patience=PATIENCE)
        until(lambda: server.calls == 12)
        server.release()
        assert first.wait(LONG).answered == second.wait(LONG).answered == 20
        assert server.calls == 20
        # Whichever of the two came first asked, and the other one waited.
        assert first.progress().calls + second.progress().calls == 20
    assert once(store, 40)


def test_pairwise_beside_apoc_asks_their_common_requests_once(store, job):
    with Server(hold_after=0) as server:
        cold = job(server, pairs(5), votes=2, temperature=0.0)
        first = start(cold, store, patience=PATIENCE)
        until(lambda: server.calls == 8)
        second = start(job(server, pairs(5), protocol="apoc"), store, patience=PATIENCE)
        server.release()
        assert first.wait(LONG).state == second.wait(LONG).state == "done"
        keys = store.query("select count(distinct key) as n from calls").to_pylist()[0]["n"]
        assert server.calls == keys
    assert once(store, 15)


def test_another_confidence_or_budget_reaches_the_run_that_goes_on(store, job):
    with Server(hold_after=4) as server:
        given = job(server, pairs(8), votes=4)
        going = start(given, store, concurrency=4, patience=PATIENCE)
        until(lambda: server.calls == 8)
        assert start(replace(given, confidence="multi"), store, budget=Budget(calls=12)) is going
        with pytest.raises(InvalidOption, match="other settings"):
            start(replace(given, judges=(replace(given.judges[0], timeout=9.0),)), store)
        server.release()
        last = going.wait(LONG)
        assert (last.state, last.answered, server.calls) == ("stopped", 12, 12)
        assert any("limit of 12 calls" in message for message in last.messages)
    confidences = {row["confidence_kind"] for row in store.export().to_pylist()}
    assert confidences == {"multi"}


@pytest.mark.parametrize("what", ["reason", "usage"])
def test_a_reply_that_cannot_be_stored_takes_no_other_with_it(store, what, job):
    class Poisoning(Saying):
        def change(self, number, found):
            if number == 5 and what == "usage":
                found["usage"]["completion_tokens"] = found["usage"]["total_tokens"] = 2**70
            elif number == 5:
                found["choices"][0]["message"]["content"] = json.dumps(
                    {"reason": "\ud83d", "verdict": "A"}
                )

    with Poisoning(hold_after=0) as server:
        going = start(job(server, pairs(16), votes=2), store, concurrency=16, patience=PATIENCE)
        until(lambda: server.calls == 8)
        server.release()
        last = going.wait(LONG)
        assert last.state == "done"
        assert last.statuses["ok"] >= 31
        assert sum(last.statuses.values()) == server.calls == 32
        assert all("surrogate" not in message for message in last.messages)
    assert once(store, 32)


@pytest.mark.thorough
@BEHIND_THE_CALL
def test_replies_that_find_the_disk_full_are_stored_when_there_is_room(tmp_path, provider):
    script = Path(__file__).with_name("judging_disk.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "votes.duckdb"), provider],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    full, after = map(json.loads, done.stdout.splitlines())
    assert full["state"] == "failed"
    assert 0 < full["kept"] == full["calls"] - full["answered"]
    assert any("cannot be written" in message for message in full["messages"])
    assert not any("rollback" in message for message in full["messages"])
    assert after == {"state": "done", "answered": 80, "calls": 80, "spent": 80}


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A file system of 8 MB."""
    place = tmp_path / "small"
    place.mkdir()
    if not mounted("-t", "tmpfs", "-o", "size=8m", "none", str(place)):
        pytest.skip("this system lets nobody mount a file system here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def mounted(*how: str) -> bool:
    try:
        return subprocess.run(["mount", *how], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.thorough
@BEHIND_THE_CALL
def test_a_full_disk_ends_with_words_and_nothing_is_paid_twice(small_disk, provider):
    """Three processes: on the disk that fills, on the full one, and once it is larger."""
    items = small_disk.parent / "items.csv"
    with items.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("item_id", "prompt", "response_a", "response_b", "gold"))
        writer.writerows((one.item_id, one.prompt, *one.responses, one.gold) for one in pairs(20))
    path = small_disk / "votes.duckdb"
    kept = Path(f"{path}.unstored")
    with Wordy() as server:
        given = f"--model {provider}/fair --votes 2 --concurrency 8 --reply-tokens 32000 --yes"

        def collected() -> tuple[int, str]:
            command = [sys.executable, "-m", "core", "collect", str(items), *given.split()]
            done = subprocess.run(
                [*command, "--base-url", server.url, "--store", str(path)],
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                timeout=LONG,
                check=False,
            )
            return done.returncode, done.stdout + done.stderr

        code, said = collected()
        paid = server.calls
        assert (code, 0 < paid < 40) == (4, True), said
        assert "No space left on device" in said
        assert f"{kept} has them" in said
        assert "Traceback" not in said
        # While it is full nothing is sent.
        code, said = collected()
        assert (code, server.calls) == (4, paid), said
        assert "so nothing is sent: make room for" in said
        assert mounted("-o", "remount,size=200m", str(small_disk))
        code, said = collected()
        assert (code, server.calls) == (0, 40), said
    assert not kept.exists()
    with Store.open(path) as store:
        assert once(store, 40)
        counted = store.query("select count(*) as n, count(distinct key) as d from calls")
        assert counted.to_pylist() == [{"n": 40, "d": 40}]


def test_a_break_in_the_name_of_a_model_is_part_of_it(store, job):
    names = [("le\nft", "right"), ("le", "ft\nright")]
    items = tuple(replace(item, models=names[k % 2]) for k, item in enumerate(pairs(4)))
    with Server() as server:
        last = collect(job(server, items, votes=2), store)
        assert (last.state, last.answered, server.calls) == ("done", 8, 8)
        store.delete_dataset("collected")
        collect(job(server, items, votes=2), store)
        copied = collect(replace(job(server, items, votes=2), dataset="copy"), store)
        assert (copied.state, server.calls) == ("done", 16)
    rows = store.export(Selection(datasets=("copy",))).to_pylist()
    assert {(row["model_a"], row["model_b"]) for row in rows} == set(names)
    assert once(store, 16)


@pytest.mark.parametrize("fault", ["400", "500"])
def test_calls_that_brought_nothing_count_in_later_runs(store, fault, job):
    with Server(fault=lambda n, body: fault) as server:
        given = job(server, pairs(5), votes=2)
        for _ in range(3):
            last = collect(given, store, budget=Budget(calls=2), concurrency=1)
            assert (last.calls, server.calls) == (min(2, server.calls), last.calls)
        before = server.calls
        if fault == "400":
            # One call a run, until there were two.
            assert before == 2
        assert (
            collect(given, store, budget=Budget(calls=2))
            .messages[0]
            .endswith("the limit of 2 calls")
        )
        assert server.calls == before == 2


def test_calls_that_were_cut_off_count_with_all_they_may_have_cost(store, job):
    with Server(hold_after=0) as server:
        given = job(server, pairs(10), votes=2, price=(100.0, 400.0), max_tokens=50)
        limit = Budget(cost=0.5)
        going = start(given, store, budget=limit, concurrency=2, patience=PATIENCE)
        until(lambda: server.calls == 2)
        going.stop(at_once=True)
        assert going.wait(LONG).answered == 0
        (spent,) = store.query("select count(*) as n, sum(cost) as cost from calls").to_pylist()
        assert spent["n"] == 2
        assert 0 < spent["cost"] <= limit.cost
        server.release()
        later = collect(given, store, budget=limit)
        assert later.calls == server.calls
        (spent,) = store.query("select count(*) as n, sum(cost) as cost from calls").to_pylist()
        assert spent["cost"] <= limit.cost


def test_a_verdict_confirmed_by_another_judge_replaces_the_earlier_one(store, job, provider):
    def verdicts():
        rows = store.export(Selection(judges=("apoc(first)",))).to_pylist()
        return {row["item_id"]: row["vote"] for row in rows}

    with Server() as server:
        given = job(server, pairs(30), model="first", protocol="apoc")
        collect(given, store)
        own, votes = verdicts(), store.export().num_rows
        other = replace(given, keyed=Judge(model=f"{provider}/fair", base_url=server.url))
        assert collect(other, store).state == "done"
        assert once(store, votes)
        assert verdicts().keys() == own.keys()
        called = server.calls
        collect(given, store)
        assert (verdicts(), server.calls) == (own, called)
    assert once(store, votes)


def test_a_failed_reply_answered_elsewhere_is_answered_here(store, job):
    broken = True
    with Server(fault=lambda n, body: "500" if broken else None) as server:
        given = job(server, pairs(2), votes=2)
        assert collect(given, store).statuses == {"error": 4}
        broken = False
        assert collect(replace(given, dataset="copy"), store).answered == 4
        called = server.calls
        assert collect(given, store).answered == 4
        assert server.calls == called
    assert {row["status"] for row in store.export().to_pylist()} == {"ok"}
    assert once(store, 8)


def test_a_data_set_keeps_replies_that_another_shared_with_it(store, job):
    with Server() as server:
        given = job(server, pairs(2), votes=2)
        collect(given, store)
        collect(replace(given, dataset="copy"), store)
        store.delete_dataset("collected")
        more = collect(replace(given, dataset="copy", votes=4), store)
        assert (more.state, more.answered, server.calls) == ("done", 8, 8)
    assert once(store, 8)


@pytest.mark.parametrize("concurrency", first_of(2, 1, 4))
def test_concurrency_holds_over_all_judges(store, concurrency, job, provider):
    with Server(delay=0.01) as server:
        judges = tuple(
            Judge(model=f"{provider}/{name}", base_url=server.url)
            for name in ("fair", "first", "tying")
        )
        last = collect(
            replace(job(server, pairs(4), votes=2), judges=judges), store, concurrency=concurrency
        )
        assert (last.state, last.answered) == ("done", 24)
        assert server.peak <= concurrency


def test_what_another_job_counts_in_advance_is_no_call_yet():
    shared = InFlight()
    shared.leased.append(Call(key="k", tokens=9, cost=0.5))
    twice = {"k": Spent(calls=2, tokens=15, cost=0.75), "l": Spent(calls=1, tokens=3, cost=0.0)}
    assert shared.made(twice) == twice | {"k": Spent(calls=1, tokens=6, cost=0.25)}
    assert shared.made({"k": Spent(calls=1, tokens=9, cost=0.5)}) == {}
