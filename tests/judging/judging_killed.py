"""What a process that is going to be killed does."""

from __future__ import annotations

from judging_jobs import pairs

from core.collect.job import Budget, Job, Judge
from core.collect.registry import start
from core.store import Store

ITEMS, VOTES, CONCURRENCY = 300, 8, 16
KILLS = 20
MOST_CALLS = ITEMS * VOTES + KILLS * CONCURRENCY


def the_job(url: str, provider: str) -> Job:
    judge = Judge(model=f"{provider}/everything", base_url=url)
    return Job(
        dataset="collected", items=pairs(ITEMS), judges=(judge,), votes=VOTES, confidence="self"
    )


def collect_all(url: str, path: str, provider: str) -> None:
    """Run the job to its end, unless killed."""
    with Store.open(path) as store:
        last = start(
            the_job(url, provider), store, concurrency=CONCURRENCY, budget=Budget(calls=MOST_CALLS)
        ).wait()
        assert last.state == "done", last.messages
