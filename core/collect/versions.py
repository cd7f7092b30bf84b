"""Another prompt, model or setting under the name of a judge is its next version."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import InvalidOption
from ..store import Store, parts
from ..store.parts import MARK, family_of

if TYPE_CHECKING:
    from .job import Job
    from .plan import Plan

MOST_VERSIONS = 200


def planned_version(job: Job, make: Callable[[Job], Plan]) -> tuple[Job, Plan, list[str]]:
    """The job with judges whose places no answers of another origin take: `gpt`, else the first of
    `gpt@v2`, `gpt@v3` … that is free or that the same prompt, model and settings began; its plan;
    and what to say of that.

    make : plans a job, and refuses one whose judge is taken. Raises as it does.
    """
    said: dict[str, str] = {}
    for _ in range(MOST_VERSIONS):
        try:
            return job, make(job), [*said.values()]
        except InvalidOption as error:
            taken = error.message.fields.get("judge")
            if error.option != "judge" or taken not in {judge.name for judge in job.judges}:
                raise
        name = next_version(str(taken))
        renamed = (replace(j, name=name) if j.name == taken else j for j in job.judges)
        job = replace(job, judges=tuple(renamed))
        said[family_of(name)] = (
            f"{family_of(name)} answered here with another prompt, model or setting: this is {name}"
        )
    raise InvalidOption(f"{job.dataset}: more than {MOST_VERSIONS} versions of a judge")


def next_version(judge: str) -> str:
    """The name behind a judge's, in the order of versions.

    >>> next_version("gpt"), next_version("gpt@v2")
    ('gpt@v2', 'gpt@v3')
    """
    family, _, version = judge.rpartition(MARK)
    number = version.removeprefix("v")
    if family and version.startswith("v") and number.isdecimal():
        return f"{family}{MARK}v{int(number) + 1}"
    return f"{judge}{MARK}v2"


def seal(store: Store) -> str | None:
    """Split the store, which a second version is about to write in; what to say, if it was not yet
    (`core.store.parts.split`).
    """
    with store.change() as change:
        if parts.read(change) is not None:
            return None
        found = parts.split(change, secrets.token_hex(8))
        items = parts.items_of(change)
    return (
        f"{len(found.items):,} of {items:,} items are open, the others sealed for `prove`: read "
        "and tune on what is open"
    )
