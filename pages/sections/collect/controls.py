"""What the Collect page reads from its fields: the model, the items, the protocol and the limits of
a job.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import streamlit as st

from core.collect import protocols
from core.collect.items import Item, items_from, items_of, lists_of
from core.collect.job import PROTOCOLS, Job, Orders, Rules, Terms
from core.collect.perturbations import NAMES as CHANGES
from core.collect.plan import Plan, plan, proposed
from core.collect.prompts import FOLDER, NAMES, Prompt
from core.collect.trial import as_versions
from core.errors import AppellateError, InvalidOption, render
from core.options import default_of
from pages.sections.collect.endpoint import Endpoints, read_budget, read_endpoints, secret_keys
from pages.shared import cached, widgets

VOTES = ("A", "B", "tie")
"""Verdicts that may have words of their own."""
DATASET, FILE = "a data set", "a file"
LABELS = {
    "pairwise votes": "pairwise",
    "greedy pair": "greedy",
    "pass or fail": "pass",
    "levels of a scale": "score",
    "rubric of criteria": "rubric",
    "listwise orders": "listwise",
    "USC over stored votes": "usc",
    "GSA over stored votes": "gsa",
    "APOC, confirmed overrides": "apoc",
    "fuser of stored judges": "fuser",
}
UNITS = {
    "votes": "Votes per comparison",
    "scores": "Scores per response",
    "rankings": "Orderings per list (K)",
}
OPTIONS = {
    "yes_send_to": "the box under the model: {}",
    "base_url": "the base URL",
    "judge": "“Name of the judge” under More about the model",
    "price": "the price under More about the model",
    "two_prices": "the price under More about the model",
    "max_cost": "a limit in money",
    "max_calls": "calls",
    "max_tokens": "tokens",
    "protocol": "{}",
    "param": "“Parameters” under More about the model",
    "header": "“Headers” under More about the model",
    "verdict_words": "“What means A, B, tie”",
    "prompt": "“Your own prompt”",
    "prompts": "“Folder of edited prompts”",
    "confidence": "the confidence {}",
    "batch": "Hand in batches",
    "orders": "the order {}",
    "samples_of": "Votes of",
    "five": "“Five levels”",
    "scale": "“Levels”",
    "own_answer": "“The judge answers first”",
    "show": "“Columns in the prompt”",
    "criteria": "“Criteria”",
    "same_orderings": "“Same orderings for all lists”",
    "perturb": "“Ask with a change”",
}
"""What this page calls the options that messages of core name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSource:
    """The items, what they are called in caches, and the Python that reads them.

    stored : they are comparisons of a data set.  name : of that data set, or of the file.
    first : how many of them are wanted; None: all.
    notes : what was left out.
    """

    items: tuple[Item, ...]
    cache_key: tuple[str, ...]
    python: str
    dataset: str
    name: str
    stored: bool = False
    first: int | None = None
    notes: tuple[str, ...] = ()

    def of_protocol(self, protocol: str) -> tuple[tuple[Item, ...], str]:
        """The items that a protocol judges, and the Python that reads them."""
        items, python = self.items, self.python
        if self.stored and protocol == "listwise":
            items, python = lists_of(items), f"lists_of({python})"
        return (
            (items, python)
            if self.first is None
            else (items[: self.first], f"{python}[:{self.first}]")
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState:
    """A job ready to start, what it would take, and the prompt that it would send first.

    python : reads its items.  source : where they are from.
    """

    job: Job
    source: ItemSource
    terms: Terms
    plan: Plan
    prompt: Prompt
    python: str


def in_words(message: object) -> str:
    """A message of core with this page's names of the options."""
    return render(message, OPTIONS)


errors = partial(widgets.errors, in_words, elsewhere=False)


def read_controls() -> PageState | None:
    """The job that the fields describe, and its estimate in words; None while there is none."""
    answer = st.container()
    slots = st.columns(3, border=True)
    endpoints, source, options = None, None, None
    with slots[0], errors():
        endpoints = read_endpoints(errors)
    with slots[1], errors():
        source = _items()
    with slots[2], errors():
        options = _protocol(source)
    limits = st.columns([3, 1])
    with limits[0]:
        budget = read_budget("most", lambda limit: f"collect-{limit}")
    give_up = limits[1].number_input(
        "Failures in a row", 1, None, Terms().give_up, key="collect-give-up", help=GIVE_UP_HELP
    )
    batch = st.toggle("Hand in batches", key="collect-batch", help=BATCH_HELP)
    size = Terms().batch_size
    if batch:
        size = st.number_input("Calls in one batch", 1, None, size, key="collect-batch-size")
    with answer:
        if endpoints is None or source is None or options is None:
            widgets.answer(
                "Name a model and what it shall judge; nothing is sent before you start.", "warning"
            )
            return None
        try:
            terms = Terms(budget=budget, give_up=give_up, batch=batch, batch_size=size)
            state = _estimate(endpoints, source, options, terms)
        except AppellateError as error:
            widgets.answer(in_words(error), "warning")
            return None
        widgets.answer(proposed(state.job, state.plan))
    return state


def _items() -> ItemSource | None:
    """The items; None until there are any.

    Raises NoUsableVotes, UnreadableFile.
    """
    kind = widgets.choice("What", [DATASET, FILE], key="collect-items", default=_usual())
    found = _of_dataset() if kind == DATASET else _of_file()
    if found is None:
        return None
    for note in found.notes:
        st.text(note)
    first = st.number_input(
        "Only the first",
        1,
        value=None,
        key="collect-first",
        placeholder=f"all {len(found.items):,}",
        help="Try a job on a few items. The same job on all of them later repeats no call.",
    )
    given = st.text_input("Into data set", placeholder=found.dataset, key="collect-into")
    return replace(
        found,
        cache_key=(*found.cache_key, f"first {first}"),
        first=first,
        dataset=given.strip() or found.dataset,
    )


def _usual() -> str:
    """Where items are from at first: of simulated data, which real answers do not go to, a file."""
    here = {found.name: found.simulated for found in cached.datasets()}
    return FILE if here.get(widgets.current_dataset(), True) else DATASET


def _of_dataset() -> ItemSource | None:
    here = {found.name: found for found in cached.datasets()}
    names = list(here)
    current = widgets.current_dataset()
    name = st.selectbox(
        "Data set with texts",
        names,
        names.index(current) if current in names else 0,
        key="collect-of",
    )
    if name is None:
        return None
    store = cached.get_store()
    return ItemSource(
        items=cached.computed("items to judge", (name,), lambda: items_of(store, name)),
        cache_key=("data set", name),
        python=f"items_of(store, {name!r})",
        name=name,
        stored=True,
        # Answers of real models do not belong among simulated ones.
        dataset="collected" if here[name].simulated else name,
    )


def _of_file() -> ItemSource | None:
    file = st.file_uploader(
        "Prompts and responses (CSV, Excel, JSON or Parquet)",
        ["csv", "tsv", "xlsx", "json", "jsonl", "ndjson", "parquet", "sqlite"],
        key="collect-file",
        help="Columns prompt, response_a, response_b (or more candidates); "
        "optional item_id, model_a, "
        "model_b, gold, category, estimation, and others that your own prompt shows.",
    )
    if file is None:
        return None
    read = cached.kept(
        file.file_id, "items to judge", "", lambda: items_from(file.getvalue(), file.name)
    )
    return ItemSource(
        items=read.items,
        notes=read.notes,
        cache_key=("file", file.file_id),
        python=f"read_items(Path({file.name!r}))",
        name=file.name,
        dataset=Path(file.name).name.split(".")[0] or "collected",
    )


def _protocol(source: ItemSource | None) -> dict[str, Any]:
    """How it is judged: the options of a job."""
    offered = list(LABELS)
    if source is not None and all(len(item.responses) == 1 for item in source.items):
        offered = [label for label, name in LABELS.items() if PROTOCOLS[name].kind == "scores"]
    label = st.selectbox("How", offered, key="collect-protocol", bind=widgets.URL)
    name = LABELS[label or offered[0]]
    rules = PROTOCOLS[name]
    found: dict[str, Any] = {"protocol": name}
    left, right = st.columns(2)
    if not rules.fixed:
        unit = UNITS[rules.kind]
        found["votes"] = left.number_input(unit, 1, None, rules.votes, key=f"collect-votes-{name}")
    if len(rules.confidences) > 1:
        found["confidence"] = right.selectbox(
            "Confidence",
            rules.confidences,
            rules.confidences.index(default_of(Job, "confidence")),
            key=f"collect-confidence-{name}",
            help=CONFIDENCE_HELP,
        )
    if rules.kind == "votes":
        if not rules.fixed:
            found["orders"] = widgets.choice(
                "Orders", get_args(Orders), key="collect-orders", help=ORDERS_HELP
            )
        found["ties"] = st.toggle("Allow ties", default_of(Job, "ties"), key="collect-ties")
    if rules.reads:
        there = source is not None and source.dataset in {found.name for found in cached.datasets()}
        known = list(cached.raters(source.dataset)) if source and there else []
        most = 1 if rules.reads == 1 else None
        chosen = st.multiselect("Votes of", known, key="collect-samples", max_selections=most)
        found["samples_of"] = tuple(chosen)
    if rules.examples or rules.kind == "scores":
        found |= _own_prompt(PAIR_PROMPT if rules.examples else SINGLE_PROMPT)
    with st.expander("More about the protocol"):
        return found | _more(name, rules)


GIVE_UP_HELP = (
    "Of a server that is not there, an empty account, or calls that are rejected one by one; "
    "then its judge stops, and no other."
)
BATCH_HELP = (
    "OpenAI and Anthropic take calls together, at half the price; results are there within a day."
)
CONFIDENCE_HELP = (
    "self: the model states it; multi: share of its votes that say the same; logprob: probability "
    "of the "
    "token, from servers that give it; none: not stated."
)
OWN_HELP = "Its own answer to the prompt comes before its verdict, and stays out of it."
CHANGE_HELP = (
    "Every item with a change that should not matter, or with an attack in one response: the "
    "votes are "
    "stored beside those without, and the check robustness compares the two."
)
FIVE_HELP = "A is much better, better, a tie, and so on."
SCALE_HELP = "1..5, 0..10, or words from worst to best, such as poor,fair,good."
RUBRIC = "name,question,scale,weight\ncorrect,Is every claim right?,,2\ntone,How friendly?,1..5,1"
RUBRIC_HELP = (
    "A line for each criterion. Without a scale it is passed or failed; each is a metric, and "
    "their weighted share is the whole."
)
PAIR_PROMPT = "{{prompt}}\n\nA: {{first}}\n\nB: {{second}}\n\nWhich is better, [[A]] or [[B]]?"
SINGLE_PROMPT = "Does it answer the question?\n\n{{prompt}}\n\n{{response}}"
SHOW_HELP = "Further columns of the items that the judge reads, separated by commas."
CRITERIA_HELP = (
    "Each gets a score of its own beside the whole, and is a metric; separated by commas."
)
SAME_HELP = (
    "Run k shows every list of one length in the same order, so that an order is compared over all "
    "items, as the ablation of permutation consensus does. Otherwise each list has its own."
)
ORDERS_HELP = (
    "balanced: half of the votes with the responses exchanged; ab: the first response first always."
)


def _more(name: str, rules: Rules) -> dict[str, Any]:
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
    if rules.examples:
        found["few_shot"] = st.number_input(
            "Labelled items shown as examples",
            0,
            None,
            default_of(Job, "few_shot"),
            key="collect-few-shot",
        )
        found |= _own_words()
        found["own_answer"] = st.toggle(
            "The judge answers first",
            default_of(Job, "own_answer"),
            key="collect-own-answer",
            help=OWN_HELP,
        )
        change = st.selectbox(
            "Ask with a change",
            CHANGES,
            None,
            key="collect-perturb",
            placeholder="none",
            help=CHANGE_HELP,
        )
        found["perturb"] = change or ""
    if rules.examples:
        found["five"] = st.toggle(
            "Five levels", default_of(Job, "five"), key="collect-five", help=FIVE_HELP
        )
    if name == "rubric":
        found["rubric"] = st.text_area(
            "Criteria", key="collect-rubric", placeholder=RUBRIC, help=RUBRIC_HELP
        )
    if rules.examples or rules.kind == "scores":
        columns = st.text_input(
            "Columns in the prompt",
            key="collect-show",
            placeholder="rubric, reference",
            help=SHOW_HELP,
        )
        found["show"] = tuple(part.strip() for part in columns.split(",") if part.strip())
    if name == "score":
        found["scale"] = st.text_input(
            "Levels", key="collect-scale", placeholder="1..10", help=SCALE_HELP
        )
        criteria = st.text_input(
            "Criteria", key="collect-criteria", placeholder="accuracy, clarity", help=CRITERIA_HELP
        )
        found["criteria"] = tuple(part.strip() for part in criteria.split(",") if part.strip())
    if rules.kind == "rankings":
        found["same_orderings"] = st.toggle(
            "Same orderings for all lists",
            default_of(Job, "same_orderings"),
            key="collect-same-orderings",
            help=SAME_HELP,
        )
    found["seed"] = st.number_input(
        "Seed of examples and orderings", 0, value=default_of(Job, "seed"), key="collect-seed"
    )
    folder = st.text_input(
        "Folder of edited prompts", placeholder="the project's own", key="collect-prompts"
    )
    found["prompts"] = Path(folder.strip()) if folder.strip() else None
    return found


def _own_prompt(example: str) -> dict[str, Any]:
    """A prompt of one's own."""
    text = st.text_area(
        "Your own prompt",
        key="collect-prompt",
        placeholder=example,
        help=(
            "{{response}} is what is judged; of two, {{first}} is shown first. Columns of the "
            "items such as {{reference}} go too. Behind a prompt for single answers stands how to "
            "answer."
        ),
    )
    return {"prompt": text if text.strip() else None}


def _own_words() -> dict[str, Any]:
    """How replies to a prompt of one's own state their verdict."""
    st.caption("What means A, B, tie")
    columns = st.columns(3)
    given = [
        (
            name,
            column.text_input(
                name, key=f"collect-words-{name}", label_visibility="collapsed", placeholder=name
            ),
        )
        for name, column in zip(VOTES, columns, strict=True)
    ]
    words = tuple((name, text.strip()) for name, text in given if text.strip())
    return {"verdict_words": words}


def _estimate(
    endpoints: Endpoints, source: ItemSource, options: Mapping[str, Any], terms: Terms
) -> PageState:
    """The job and what it would take. Sends nothing.

    Raises AppellateError for what the user must change.
    """
    items, python = source.of_protocol(options["protocol"])
    job = Job(dataset=source.dataset, items=items, judges=endpoints.judges, **options)
    store, keys = cached.get_store(), secret_keys()
    job, versions = as_versions(job, store)
    if versions:
        st.caption(". ".join(versions))

    def look() -> tuple[Plan, Prompt]:
        found = plan(
            job,
            store,
            confirmed=endpoints.confirmed,
            keys=keys,
            batch=terms.batch,
            repair=terms.repair,
        )
        first = protocols.stages(job, store)[0]({})
        if not first:
            raise InvalidOption("This job has no requests")
        # Keys stay out of caches.
        return replace(found, destinations={}), first[0].prompt

    key = (job, source.cache_key, endpoints.confirmed, terms.batch, prompts_now(job))
    found, prompt = cached.computed("estimate", key, look)
    found.check_budget(terms.budget)
    terms = replace(terms, concurrency=endpoints.concurrency, confirmed=endpoints.confirmed)
    return PageState(job=job, source=source, terms=terms, plan=found, prompt=prompt, python=python)


def prompts_now(job: Job) -> str:
    """Hash of the job's prompts as they are in their files now, for the keys of caches."""
    folder, found = job.prompts or FOLDER, hashlib.sha256()
    for name in NAMES:
        path = folder / f"{name}.md"
        with suppress(OSError):
            found.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
    return found.hexdigest()
