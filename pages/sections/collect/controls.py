"""What the Collect page is asked: the items, the protocol and the limits of a job."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from core.errors import AppellateError, InvalidOption
from core.judging.items import Item, items_from, items_of, lists_of
from core.judging.job import DEFAULT_VOTES, DERIVED, Budget, Confidence, Job, Protocol
from core.judging.plan import Plan, check_budget, plan
from core.judging.prompts import FOLDER, NAMES, Prompt
from core.judging.protocols import stages
from core.judging.registry import Terms
from pages.sections.collect.endpoint import Where, secret_keys
from pages.shared import cached, widgets

DATASET, FILE = "a data set", "a CSV file"
PROTOCOLS: dict[str, Protocol] = {
    "pairwise votes": "pairwise",
    "greedy pair": "greedy",
    "direct scores, 1 to 10": "score",
    "listwise orders": "listwise",
    "USC over stored votes": "usc",
    "GSA over stored votes": "gsa",
    "APOC, confirmed overrides": "apoc",
    "fuser of stored judges": "fuser",
}
UNITS = {"score": "Scores a response", "listwise": "Orderings of a list (K)"}
CONFIDENCES: dict[Protocol, tuple[Confidence, ...]] = {
    "pairwise": ("self", "none", "multi", "logprob"),
    "greedy": ("self", "none", "logprob"),
    "usc": ("self", "none"),
    "gsa": ("self", "none"),
    "fuser": ("self", "none"),
}
FLAGS = {
    "confirm it with --yes-send-to": "confirm it under the model:",
    "give the --base-url of a server that speaks the OpenAI format, with --model openai/NAME": "use a server",
    "with --price PROMPT COMPLETION, per million tokens": "under More about the model",
    "(give --price)": "(give it under More about the model)",
    "or limit --max-calls or --max-tokens instead": "or limit calls or tokens instead",
    "--max-cost": "a limit in money",
    " (--samples-of)": " under Votes of",
    "or --orders ab": "or the order ab",
    "--protocol ": "",
    "with --judge": "under More about the model",
    "--base-url": "the base URL",
}
"""Options of the command line in messages of core, and the page's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """The items, what they are called in caches, and the line of Python that reads them.

    stored : they are comparisons of a data set.  first : how many of them are wanted; None: all.
    notes : what was left out.
    """

    items: tuple[Item, ...]
    source: tuple[str, ...]
    python: str
    dataset: str
    stored: bool = False
    first: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Asked:
    """A job ready to start, what it would take, and the prompt that it would send first.

    python : the line that reads its items.
    """

    job: Job
    terms: Terms
    plan: Plan
    prompt: Prompt
    python: str


def words(message: object) -> str:
    """A message of core with the names of this page's fields in place of command line options."""
    text = str(message)
    for flag, field in FLAGS.items():
        text = text.replace(flag, field)
    return text


@contextmanager
def errors() -> Iterator[None]:
    """Show what the user can put right."""
    try:
        yield
    except AppellateError as error:
        with st.container(border=True):
            st.text(words(error))


def items() -> What | None:
    """Ask for the items; None until there are any.

    Raises NoUsableVotes, UnreadableFile.
    """
    kind = widgets.choice("What", [DATASET, FILE], default=DATASET, key="collect-items")
    found = _of_dataset() if kind == DATASET else _of_file()
    if found is None:
        return None
    for note in found.notes:
        st.text(note)
    most = st.number_input(
        "Only the first",
        1,
        value=None,
        key="collect-first",
        placeholder=f"all {len(found.items):,}",
        help="Try a job on a few items. The same job on all of them later asks nothing twice.",
    )
    given = st.text_input("Into data set", placeholder=found.dataset, key="collect-into")
    first = None if most is None else int(most)
    return replace(
        found,
        source=(*found.source, f"first {first}"),
        first=first,
        dataset=given.strip() or found.dataset,
    )


def _of_dataset() -> What | None:
    here = {found.name: found for found in cached.datasets()}
    names = list(here)
    current = widgets.current_dataset()
    name = st.selectbox(
        "Data set with texts", names, names.index(current) if current in names else 0, key="collect-of"
    )
    if name is None:
        return None
    store = cached.get_store()
    return What(
        items=cached.computed("items to judge", (name,), lambda: items_of(store, name)),
        source=("data set", name),
        python=f"items_of(store, {name!r})",
        stored=True,
        # Answers of real models do not belong among simulated ones.
        dataset="collected" if here[name].simulated else name,
    )


def _of_file() -> What | None:
    file = st.file_uploader(
        "Prompts and responses (CSV)",
        "csv",
        key="collect-file",
        help="Columns prompt, response_a, response_b (or more candidates); optional item_id, model_a, "
        "model_b, gold, category, estimation.",
    )
    if file is None:
        return None
    read = cached.kept(file.file_id, "items to judge", "", lambda: items_from(file.getvalue(), file.name))
    return What(
        items=read.items,
        notes=read.notes,
        source=("file", file.file_id),
        python=f"read_items(Path({file.name!r}))",
        dataset=Path(file.name).name.split(".")[0] or "collected",
    )


def protocol(what: What | None) -> dict[str, Any]:
    """Ask how it is judged: the options of a job."""
    label = st.selectbox("How", list(PROTOCOLS), key="collect-protocol", bind=widgets.URL)
    name = PROTOCOLS[label or "pairwise votes"]
    found: dict[str, Any] = {"protocol": name}
    pairs = name in ("pairwise", *DERIVED)
    left, right = st.columns(2)
    if name not in ("greedy", "apoc"):
        unit = UNITS.get(name, "Votes a comparison")
        default = DEFAULT_VOTES.get(name, 1)
        found["votes"] = int(left.number_input(unit, 1, 1000, default, key=f"collect-votes-{name}"))
    if name in CONFIDENCES:
        found["confidence"] = right.selectbox(
            "Confidence", CONFIDENCES[name], key=f"collect-confidence-{name}", help=CONFIDENCE_HELP
        )
    if pairs:
        found["orders"] = widgets.choice(
            "Orders", ["balanced", "ab"], default="balanced", key="collect-orders", help=ORDERS_HELP
        )
    if name not in ("score", "listwise"):
        found["ties"] = st.toggle("Allow ties", True, key="collect-ties")
    if name in DERIVED:
        known = cached.raters(what.dataset) if what and what.dataset in _names() else {}
        chosen = st.multiselect("Votes of", list(known), key="collect-samples", max_selections=_most(name))
        found["samples_of"] = tuple(chosen)
    with st.popover("More about the protocol", width="stretch"):
        found |= _more(name)
    return found


CONFIDENCE_HELP = (
    "self: the model states it; multi: share of its votes that say the same; logprob: probability of the "
    "token, from servers that give it; none: not asked for."
)
ORDERS_HELP = "balanced: half of the votes with the responses exchanged; ab: the first response first always."


def _names() -> set[str]:
    return {found.name for found in cached.datasets()}


def _most(name: Protocol) -> int | None:
    return None if name == "fuser" else 1


def _more(name: Protocol) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if name != "greedy":
        found["temperature"] = st.number_input(
            "Temperature",
            0.0,
            2.0,
            value=None,
            placeholder="1 where several votes are drawn, else 0",
            key="collect-temperature",
        )
    if name in ("pairwise", "greedy"):
        found["few_shot"] = int(
            st.number_input("Labelled items shown as examples", 0, 100, 0, key="collect-few-shot")
        )
    found["seed"] = int(st.number_input("Seed of examples and orderings", 0, value=0, key="collect-seed"))
    folder = st.text_input("Folder of edited prompts", placeholder="the project's own", key="collect-prompts")
    found["prompts"] = Path(folder.strip()) if folder.strip() else None
    return found


def budget() -> Budget:
    """Ask for the hard limits."""
    slots = st.columns(3)
    calls = slots[0].number_input("Most calls", 0, value=None, key="collect-calls", placeholder="no limit")
    tokens = slots[1].number_input("Most tokens", 0, value=None, key="collect-tokens", placeholder="no limit")
    cost = slots[2].number_input("Most money", 0.0, value=None, key="collect-cost", placeholder="no limit")
    return Budget(calls=calls, tokens=tokens, cost=cost)


def estimate(where: Where, what: What, options: dict[str, Any], limits: Budget) -> Asked:
    """The job and what it would take. Sends nothing.

    Raises AppellateError for what the user must change.
    """
    items, python = what.items, what.python
    if what.stored and options["protocol"] == "listwise":
        items, python = lists_of(items), f"lists_of({python})"
    if what.first is not None:
        items, python = items[: what.first], f"{python}[:{what.first}]"
    job = Job(dataset=what.dataset, items=items, judges=(where.judge,), **options)
    store, keys = cached.get_store(), secret_keys()

    def look() -> tuple[Plan, Prompt]:
        found = plan(job, store, confirmed=where.confirmed, keys=keys)
        first = stages(job, store)[0]({})
        if not first:
            raise InvalidOption("This job asks nothing")
        # Keys stay out of caches.
        return replace(found, destinations={}), first[0].prompt

    key = (job, what.source, where.confirmed, prompts_now(job))
    found, prompt = cached.computed("estimate", key, look)
    if found.cost is None and limits.cost is not None:
        check_budget(job, plan(job, store, confirmed=where.confirmed, keys=keys).destinations, limits.cost)
    return Asked(
        job=job,
        terms=Terms(concurrency=where.concurrency, budget=limits, confirmed=where.confirmed),
        plan=found,
        prompt=prompt,
        python=python,
    )


def prompts_now(job: Job) -> str:
    """Hash of the job's prompts as they are in their files now, for the keys of caches."""
    folder, found = job.prompts or FOLDER, hashlib.sha256()
    for name in NAMES:
        path = folder / f"{name}.md"
        with suppress(OSError):
            found.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
    return found.hexdigest()
