"""A few calls to see what a prompt brings, and the version of a judge that a prompt is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidOption
from ..store import Store, parts
from ..store.export import is_database
from ..store.ledger import all_replies, asked_as
from .job import Job
from .protocols import stages
from .registry import start

if TYPE_CHECKING:
    from .runner import Run

VERSION = re.compile(r"(.+)@v(\d+)")


def unversioned(name: str) -> str:
    """The name of a judge without its version."""
    matched = VERSION.fullmatch(name)
    return matched[1] if matched else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A reply and what was read in it."""

    item_id: str
    judge: str
    reply: str
    read: str


def tried(
    job: Job, wait: Callable[[Run], object] = lambda run: run.wait(None), **terms: Any
) -> list[Tried]:
    """Ask what a job of a few items asks (`first_of`), and keep nothing.

    wait : returns when the run has finished.  terms : as of `start`.
    """
    with Store.open() as store:
        wait(start(job, store, **terms))
        rows = all_replies(store)
    return [
        Tried(
            item_id=row["item_id"],
            judge=row["judge"],
            reply=row["raw"] or row["rationale"] or "",
            read=_read(row),
        )
        for row in rows
    ]


def first_of(job: Job, n: int, store: Store) -> Job:
    """The first items of a job that are open to who writes a judge, each once, or once in each
    order.

    Raises InvalidOption, where all are sealed for proofs.
    """
    with store.snapshot() as moment:
        names = parts.open_names(moment)
    items = [item for item in job.items if names is None or item.item_id in names][:n]
    if not items:
        raise InvalidOption("All items are sealed for `prove`: there is none to try a prompt on")
    return replace(job, items=tuple(items), votes=2 if job.two_orders else 1)


def _read(row: dict[str, Any]) -> str:
    """What was read in a reply, in a few words."""
    if row["status"] != "ok":
        return str(row["status"])
    body = json.loads(row["body"] or "{}")
    if isinstance(body, list):
        return " > ".join(e["candidate"] for e in sorted(body, key=lambda e: e["rank"]))
    said = dict(body.get("scores", {}))
    if "score" in body:
        said["score"] = body["score"]
    if row["vote"] is not None:
        said["vote"] = {1: "A", 0: "tie", -1: "B"}[row["vote"]]
    return ", ".join(f"{name} {value}" for name, value in said.items())


def as_versions(job: Job, store: Store) -> tuple[Job, tuple[str, ...]]:
    """The job with each judge named as the version that it is, and what is said of it.

    A judge that has answered in the data set with another model, prompt or temperature is its next
    version, `name@v2`; with those of a version that is there, that one. Judges whose answers bear
    another name than theirs are left as they are.
    """
    job = _with_open_examples(job, store)
    first = stages(job, store)[0]({})
    judges, notes = [], []
    for judge in job.judges:
        own = next((request for request in first if request.judge == judge), None)
        if own is None or own.voter != judge.name or VERSION.fullmatch(judge.name):
            judges.append(judge)
            continue
        mine = (judge.model, own.prompt.hash, job.effective_temperature)
        versions = _versions(store, job.dataset, judge.name, own.task)
        same = [number for number, facts in versions.items() if mine in facts]
        number = same[0] if same else max(versions, default=0) + 1
        name = judge.name if number == 1 else f"{judge.name}@v{number}"
        judges.append(replace(judge, name=name))
        if number > 1:
            what = "goes on as" if same else "is asked otherwise than before: a new version,"
            notes.append(f"{judge.name} {what} {name}")
    return replace(job, judges=tuple(judges)), tuple(notes)


def _versions(
    store: Store, dataset: str, name: str, task: str
) -> dict[int, set[tuple[str, str, float]]]:
    """Number of each version of a judge → the models, prompts and temperatures that answered."""
    rows = asked_as(store, dataset, name, task)
    versions: dict[int, set[tuple[str, str, float]]] = {}
    for row in rows:
        matched = VERSION.fullmatch(row["judge"])
        number = 1 if row["judge"] == name else int(matched[2]) if matched else 0
        facts = (row["model"], row["prompt_hash"], row["temperature"])
        if number:
            versions.setdefault(number, set()).add(facts)
    return versions


def next_steps(job: Job, store: str) -> tuple[str, ...]:
    """The commands that go on with what was collected.  store : its path, as a shell takes it."""
    later = [judge.name for judge in job.judges if VERSION.fullmatch(judge.name)]
    if not later:
        return (f"audit {store}",)
    return f"audit {store} --compare", *(f"prove {store} {name}" for name in later)


def seal(job: Job, store: Store) -> tuple[Job, str | None]:
    """Split the store before a second version of a judge writes in it (`core.store.parts.split`).
    Returns the job, its examples drawn from what is open, and what to say; None if the store was
    split before or every judge is a first version.
    """
    said = None
    if any(VERSION.fullmatch(judge.name) for judge in job.judges):
        with store.change() as change:
            said = parts.begin(change)
    return _with_open_examples(job, store), said


def split_versions(source: str) -> str | None:
    """Split a store that has versions of a judge, before anybody reads what a gain is proven on.
    What to say; None of another file, of one version, and where it was split before.
    """
    if not is_database(Path(source)):
        return None
    with Store.open(source, read_only=True) as held, held.snapshot() as moment:
        if parts.read(moment) or not parts.later_versions(parts.judges_in_order(moment)):
            return None
    with Store.open(source) as store, store.change() as change:
        return f"{source}: {parts.begin(change)}"


def _with_open_examples(job: Job, store: Store) -> Job:
    """The job, told which of its items are sealed if it shows any as examples."""
    if not job.few_shot:
        return job
    with store.snapshot() as moment:
        names = parts.open_names(moment)
    items = (replace(i, sealed=names is not None and i.item_id not in names) for i in job.items)
    return replace(job, items=tuple(items))
