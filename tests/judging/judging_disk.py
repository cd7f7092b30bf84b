"""A process whose files may not grow for a while, as on a full disk: `python judging_disk.py
STORE PROVIDER`.
"""

from __future__ import annotations

import base64
import json
import random
import resource
import signal
import sys

from judging_jobs import PATIENCE, job, pairs
from judging_server import LONG, Server

from core.collect.limits import in_flight, place
from core.collect.registry import start
from core.store import Store

ROOM = 3_000_000


class Wordy(Server):
    """Replies of a hundred thousand characters that cannot be compressed."""

    def completion(self, body, fault):
        found = super().completion(body, fault)
        reason = base64.b64encode(random.randbytes(75_000)).decode()
        found["choices"][0]["message"]["content"] = json.dumps({"reason": reason, "verdict": "A"})
        return found


def main(path: str, provider: str) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Wordy() as server, Store.open(path) as store:
        given = job(server, pairs(40), votes=2, provider=provider)
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, resource.RLIM_INFINITY))
        last = start(given, store, concurrency=16, patience=PATIENCE).wait(LONG)
        kept = len(in_flight(place(store)).unstored)
        facts = {
            "state": last.state,
            "answered": last.answered,
            "calls": server.calls,
            "kept": kept,
        }
        print(json.dumps({**facts, "messages": last.messages}), flush=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        last = start(given, store, concurrency=16, patience=PATIENCE).wait(LONG)
        spent = store.query("select count(*) as n from calls").to_pylist()[0]["n"]
        facts = {
            "state": last.state,
            "answered": last.answered,
            "calls": server.calls,
            "spent": spent,
        }
        print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
