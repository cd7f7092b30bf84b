"""Replies that could not be read become votes when a person reads them; where they come from stays."""

from __future__ import annotations

import json

import pytest
from judging_jobs import collect, job, pairs
from judging_server import Server

from core.collect.by_hand import settle, unread
from core.errors import InvalidOption
from core.store import Store


def test_what_a_person_reads_becomes_a_vote_with_its_origin(tmp_path):
    fault = {2: "prose", 5: "two verdicts"}
    with (
        Server(fault=lambda n, body: fault.get(n)) as server,
        Store.open(tmp_path / "votes.duckdb") as store,
    ):
        given = job(server, pairs(4), votes=2)
        assert collect(given, store, concurrency=1).statuses == {"ok": 6, "unparsed": 2}
        first, second = unread(given, store)
        settled = settle(given, store, first.key, 1)
        assert settled.vote == (-1 if first.position == "ba" else 1)
        settle(given, store, second.key, 0)
        assert unread(given, store) == []
        # The same job has nothing left, and asks nothing again.
        last = collect(given, store, again=("unparsed",))
        assert (last.left, server.calls - server.repairs) == (0, 8)
        rows = {(row["item_id"], row["position"]): row for row in store.export().to_pylist()}
        assert {row["status"] for row in rows.values()} == {"ok"}
        assert rows[second.item_id, second.position]["vote"] == 0
        kept = store.query(
            "select raw, body, model, cost from replies where key = $key", {"key": first.key}
        ).to_pylist()
        assert kept[0]["raw"] == first.raw
        assert json.loads(kept[0]["body"]) == {"settled": "by hand"}
        with pytest.raises(InvalidOption, match="waits to be read"):
            settle(given, store, first.key, -1)
        with pytest.raises(InvalidOption, match="it is 1, −1"):
            settle(given, store, first.key, 2)
