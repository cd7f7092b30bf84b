"""What a process that is going to be killed does."""

from __future__ import annotations

from judging_jobs import pairs

from core.collect.job import Budget, Job, Judge
from core.collect.registry import start
from core.store import Store

ITEMS = {"openai": 300, "mistral": 150}
"""By provider: a call by litellm takes four times as long as one that is written here."""
VOTES, CONCURRENCY = 8, 16
KILLS = 20


def most_calls(provider: str) -> int:
    """Of a job that is killed as often, whatever was in flight."""
    return ITEMS[provider] * VOTES + KILLS * CONCURRENCY


def the_job(url: str, provider: str) -> Job:
    judge = Judge(model=f"{provider}/everything", base_url=url)
    items = pairs(ITEMS[provider])
    return Job(dataset="collected", items=items, judges=(judge,), votes=VOTES, confidence="self")


def collect_all(url: str, path: str, provider: str) -> None:
    """Run the job to its end, unless killed."""
    with Store.open(path) as store:
        budget = Budget(calls=most_calls(provider))
        job = the_job(url, provider)
        last = start(job, store, concurrency=CONCURRENCY, budget=budget).wait()
        assert last.state == "done", last.messages
