"""Runs of this process: start a job once, and find it again from every session."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable

from core.judging import client
from core.judging.inflight import place
from core.judging.job import MAX_CONCURRENCY, Budget, Job
from core.judging.planning import check_budget, plan
from core.judging.progress import Progress
from core.judging.runner import Run
from core.store import Store
from core.votes import InvalidOption

_RUNS: dict[tuple[str, str], Run] = {}
_STARTING = threading.Lock()


def start(
    job: Job,
    store: Store,
    *,
    concurrency: int = 16,
    budget: Budget | None = None,
    confirmed: Iterable[str] = (),
    keys: dict[str, str] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    patience: float = 1.0,
) -> Run:
    """Start a job, or find it where it is running already, and return without waiting for it.

    Parameters
    ----------
    concurrency : calls in flight at most, shared by the judges: 1 to 64.
    budget : hard limits over all runs of the job; for a running one they replace its limits.
    confirmed : hosts other than this machine and known providers that texts may be sent to.
    keys : environment name → key, looked up before the environment (for a page's secrets); never stored.
    on_progress : called on the run's own thread after each group of replies is stored.
    patience : factor on waits between attempts.

    Raises
    ------
    InvalidOption, NotConfirmed, TooFewLabels, NoUsableVotes, UnreadableFile : as `plan`, before anything is
        sent; also a concurrency out of range, a limit in money without a price, or a job that is running
        with other settings.
    """
    if not 1 <= concurrency <= MAX_CONCURRENCY:
        raise InvalidOption(f"{concurrency} calls at once: 1 to {MAX_CONCURRENCY}")
    with _STARTING:
        planned = plan(job, store, confirmed=confirmed, keys=keys)
        check_budget(job, planned.destinations, budget.cost if budget else None)
        going = running(store, planned.job_id)
        if going is not None:
            going.revise(job, budget)
            return going
        made = Run(
            job,
            store,
            planned,
            concurrency=concurrency,
            budget=budget or Budget(),
            patience=patience,
            on_progress=on_progress,
        )
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
