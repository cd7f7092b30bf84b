"""Jobs that were started, remembered in the store until all is answered: to go on after a restart."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.judging import client
from core.judging.items import Item
from core.judging.job import Budget, Job, Judge
from core.judging.progress import Progress
from core.judging.runner import Run
from core.judging.runs import start
from core.store import Store, replies
from core.votes import AppellateError


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a job is run: at most so many calls at once, within a budget, to hosts that were confirmed."""

    concurrency: int = 16
    budget: Budget = field(default_factory=Budget)
    confirmed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A job that was started and is not known to be complete. It holds no key.

    started_at : UTC.
    """

    id: str
    job: Job
    terms: Terms
    started_at: datetime


def begin(job: Job, store: Store, terms: Terms, *, keys: dict[str, str] | None = None) -> Run:
    """Start a job, or find it where it is running, and remember it until everything is answered.

    Raises as `core.judging.runs.start`, before anything is sent or remembered.
    """
    replies.prepare(store)
    remembered: list[str] = []

    def told(progress: Progress) -> None:
        if remembered and complete(progress):
            # The store may be busy for long: the calls of other jobs must not wait for it.
            client.loop().run_in_executor(None, forget, store, remembered[0])

    run = start(
        job,
        store,
        concurrency=terms.concurrency,
        budget=terms.budget,
        confirmed=terms.confirmed,
        keys=keys,
        on_progress=told,
    )
    _remember(store, run.job_id, job, terms)
    remembered.append(run.job_id)
    if complete(run.progress()):
        forget(store, run.job_id)
    return run


def resume(started: Started, store: Store, *, keys: dict[str, str] | None = None) -> Run:
    """Go on with a job: what has an answer is not asked again."""
    run = begin(started.job, store, started.terms, keys=keys)
    # Stored judgements that it reads, or the name of its data set, may have changed since.
    if run.job_id != started.id:
        forget(store, started.id)
    return run


def complete(progress: Progress) -> bool:
    """Whether every request of the job has its answer."""
    return progress.state == "done" and progress.answered >= progress.planned


def started(store: Store) -> list[Started]:
    """Jobs that were started and never completed, oldest first; running ones too."""
    replies.prepare(store)
    rows = store.query("select id, dataset, job, started_at from jobs order by started_at, id").to_pylist()
    found = []
    for row in rows:
        try:
            job, terms = _read(json.loads(row["job"]), row["dataset"])
        except (AppellateError, KeyError, TypeError, ValueError):
            # Another version wrote it. The same job started anew asks nothing twice.
            continue
        found.append(Started(id=row["id"], job=job, terms=terms, started_at=row["started_at"]))
    return found


def forget(store: Store, job_id: str) -> None:
    """List a job no longer. What it collected stays."""
    with store.change() as cursor:
        cursor.execute("delete from jobs where id = ?", [job_id])


def _remember(store: Store, job_id: str, job: Job, terms: Terms) -> None:
    facts = {"job": asdict(job), "terms": asdict(terms)}
    text = json.dumps(facts, default=str)
    now = datetime.now(UTC).replace(tzinfo=None)
    with store.change() as cursor:
        cursor.execute("delete from jobs where id = ?", [job_id])
        cursor.execute("insert into jobs values (?, ?, ?, ?)", [job_id, job.dataset, text, now])


def _read(facts: dict[str, Any], dataset: str) -> tuple[Job, Terms]:
    given, terms = facts["job"], facts["terms"]
    job = Job(
        **{
            **given,
            "dataset": dataset,
            "items": tuple(_item(item) for item in given["items"]),
            "judges": tuple(_judge(judge) for judge in given["judges"]),
            "samples_of": tuple(given["samples_of"]),
            "keyed": None if given["keyed"] is None else _judge(given["keyed"]),
            "prompts": None if given["prompts"] is None else Path(given["prompts"]),
        }
    )
    budget = Budget(**terms["budget"])
    return job, Terms(concurrency=terms["concurrency"], budget=budget, confirmed=tuple(terms["confirmed"]))


def _item(given: dict[str, Any]) -> Item:
    return Item(**{**given, **{name: tuple(given[name]) for name in ("responses", "models", "best")}})


def _judge(given: dict[str, Any]) -> Judge:
    return Judge(**{**given, "price": None if given["price"] is None else tuple(given["price"])})
