"""Runs of this process, found from every session, and jobs that the store remembers until all is
answered.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from ..errors import AppellateError, InvalidOption
from ..store import Store
from . import client
from .endpoint import check_secrets
from .job import MAX_CONCURRENCY, Budget, Job, Terms, values_of
from .limits import place
from .plan import Progress, plan
from .runner import Run

_RUNS: dict[tuple[str, str], Run] = {}
_STARTING = threading.Lock()
_TERMS = Terms()


def start(
    job: Job,
    store: Store,
    *,
    concurrency: int = _TERMS.concurrency,
    budget: Budget | None = None,
    confirmed: Iterable[str] = (),
    keys: dict[str, str] | None = None,
    again: Iterable[str] = (),
    repair: bool = True,
    reread: bool = False,
    give_up: int = _TERMS.give_up,
    batch: bool = False,
    batch_size: int = _TERMS.batch_size,
    on_progress: Callable[[Progress], None] | None = None,
    patience: float = 1.0,
) -> Run:
    """Start a job, or find it where it is running already, and return without waiting for it.

    Parameters
    ----------
    concurrency : calls in flight at most, shared by the judges: 1 to 256.
    budget : hard limits over all runs of the job; for a running one they replace its limits.
    confirmed : hosts other than this machine and known providers that texts may be sent to.
    keys : environment name → key, looked up before the environment (for a page's secrets); never
        stored.
    again : statuses of replies that are asked for again; each keeps its reply until there is a
        better one.
    repair : a model is asked once what its reply says that could not be read.
    reread : read stored replies without a verdict again, and send nothing.
    give_up : calls in a row to a server that is not there or an empty account, after which a judge
        stops.
    batch, batch_size : hand calls in as batches of at most so many, at half the price.
    on_progress : called on the run's own thread after each group of replies is stored.
    patience : factor on waits between attempts.

    Raises InvalidOption, NotConfirmed, TooFewLabels, NoUsableVotes, UnreadableFile: as `plan`,
    before anything is sent; also a concurrency out of range, a limit in money without a price, or a
    job that is running with other settings.
    """
    if not 1 <= concurrency <= MAX_CONCURRENCY:
        raise InvalidOption(f"{concurrency} calls at once: 1 to {MAX_CONCURRENCY}")
    terms = Terms(
        concurrency=concurrency,
        budget=budget or Budget(),
        confirmed=tuple(confirmed),
        again=tuple(again),
        repair=repair,
        reread=reread,
        give_up=give_up,
        batch=batch,
        batch_size=batch_size,
    )
    with _STARTING:
        planned = plan(
            job,
            store,
            confirmed=terms.confirmed,
            keys=keys,
            again=terms.again,
            batch=batch,
            repair=repair,
        )
        planned.check_budget(terms.budget)
        going_on = running(store, planned.job_id)
        if going_on is not None:
            going_on.revise(job, budget)
            return going_on
        made = Run(job, store, planned, terms, patience=patience, on_progress=on_progress)
        _RUNS[(place(store), planned.job_id)] = made
        asyncio.run_coroutine_threadsafe(made.run(), client.loop())
    return made


def running(store: Store, job_id: str) -> Run | None:
    """The run of a job in this process, if it is going on."""
    found = _RUNS.get((place(store), job_id))
    return found if found is not None and not found.progress().finished else None


def runs(store: Store) -> list[Run]:
    """Runs on this store that this process started, finished ones too, oldest first."""
    return [run for (where, _), run in _RUNS.items() if where == place(store)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A job that was started and is not known to be complete. started_at : UTC.

    It holds no key, and no host that texts may go to: a store may be another's.
    """

    id: str
    job: Job
    terms: Terms
    started_at: datetime


def begin(job: Job, store: Store, terms: Terms, *, keys: dict[str, str] | None = None) -> Run:
    """Start a job, or find it where it is running, and remember it until everything is answered.

    Raises as `core.collect.registry.start`, before anything is sent or remembered.
    """
    remembered: list[str] = []

    def forget_complete(progress: Progress) -> None:
        if remembered and complete(progress):
            # The store may be busy for long: the calls of other jobs must not wait for it.
            client.loop().run_in_executor(None, forget, store, remembered[0])

    run = start(job, store, **values_of(terms), keys=keys, on_progress=forget_complete)
    _remember(store, run.job_id, job, terms)
    remembered.append(run.job_id)
    if complete(run.progress()):
        forget(store, run.job_id)
    return run


def resume(
    started: Started,
    store: Store,
    *,
    confirmed: Iterable[str] = (),
    keys: dict[str, str] | None = None,
) -> Run:
    """Go on with a job: what has an answer is not sent again.

    confirmed : hosts that the user agrees to now; what was agreed to before is not remembered.

    Raises as `begin`; InvalidOption also where the job names a variable that is not a key of the
    server that it goes to.
    """
    for judge in started.job.models:
        check_secrets(judge, f"Judge {judge.name}")
    run = begin(started.job, store, replace(started.terms, confirmed=tuple(confirmed)), keys=keys)
    # Stored judgements that it reads, or the name of its data set, may have changed since.
    if run.job_id != started.id:
        forget(store, started.id)
    return run


def complete(progress: Progress) -> bool:
    """Whether every request of the job has its answer."""
    return progress.state == "done" and not progress.left


def started(store: Store) -> list[Started]:
    """Jobs that were started and never completed, oldest first; running ones too."""
    from pydantic import TypeAdapter

    rows = store.query(
        "select id, dataset, job, started_at from jobs order by started_at, id"
    ).to_pylist()
    found = []
    for row in rows:
        try:
            facts = {**json.loads(row["job"]), "id": row["id"], "started_at": row["started_at"]}
            known = TypeAdapter(Started).validate_python(facts, extra="forbid")
        except (AppellateError, TypeError, ValueError):
            # Another version wrote it. The same job started anew makes no call twice.
            continue
        job = replace(known.job, dataset=row["dataset"])
        found.append(replace(known, job=job, terms=replace(known.terms, confirmed=())))
    return found


def forget(store: Store, job_id: str) -> None:
    """List a job no longer. What it collected stays."""
    with store.change() as cursor:
        cursor.execute("delete from jobs where id = ?", [job_id])


def _remember(store: Store, job_id: str, job: Job, terms: Terms) -> None:
    # What was asked for again is so once, and consent is that of who starts a run.
    lasting = replace(terms, again=(), reread=False, confirmed=())
    text = json.dumps({"job": asdict(job), "terms": asdict(lasting)}, default=str)
    now = datetime.now(UTC).replace(tzinfo=None)
    with store.change() as cursor:
        cursor.execute("delete from jobs where id = ?", [job_id])
        cursor.execute("insert into jobs values (?, ?, ?, ?)", [job_id, job.dataset, text, now])
