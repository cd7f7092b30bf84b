"""Job files: one fills the fields of the page, and the fields give one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

import streamlit as st

from core.collect.cli import known_options
from core.collect.endpoint import HOSTS
from core.collect.items import Item
from core.collect.job import PROTOCOLS, Job, Judge
from core.collect.job_file import LAST, parse, written
from core.collect.perturbations import COLUMN
from core.errors import AppellateError, InvalidOption
from pages.sections.collect.controls import DATASET, FILE, LABELS, VOTES, PageState, in_words
from pages.sections.collect.endpoint import (
    JUDGES,
    NO_KEY,
    PROVIDER,
    SERVER,
    check_variables,
    key_of,
    offered_keys,
)
from pages.shared import cached

OPEN, SAID = "collect-job", "what the job file came to"
MODEL, SEEN = key_of(1, "model"), "the page was seen"
LARGEST = 10**6
"""Bytes of a job file."""
Fields = Iterator[tuple[str, Any]]
"""Keys of fields with their values."""


def opened() -> None:
    """Fill the fields from a job file; at first from the last job of the store, whose next version
    another prompt is.
    """
    # A link that names a model has fields of its own; the keys are those of a page that was left.
    linked = SEEN not in st.session_state and MODEL in st.query_params
    if not linked and not {"collect-file", "collect-of"} & st.session_state.keys():
        _as_last()
    st.session_state[SEEN] = True
    with st.popover("Open a job file", icon=":material/folder_open:"):
        st.file_uploader("Job file (TOML)", "toml", key=OPEN, on_change=_fill)
    if said := st.session_state.get(SAID):
        st.text(said)


def _as_last() -> None:
    """Set the fields as the last job had them, where the page can hold it."""
    text = cached.get_store().flag(LAST)
    if text is None:
        return
    with suppress(AppellateError):
        st.session_state.update(dict(_fields(text, "the last job")))
        st.session_state[SAID] = "Fields of the last job. Another prompt is its next version."


def saved(state: PageState) -> None:
    """The job as a file to download."""
    source = state.source
    items = None if source.stored else source.name
    stored = source.name if source.stored else None
    try:
        text = written(state.job, state.terms, known_options(), items, stored, source.first)
    except AppellateError as error:
        st.text(in_words(error))
        return
    st.download_button(
        "Save as a job file",
        text,
        f"{source.dataset}.toml",
        "application/toml",
        key="collect-save",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        help="The same job on the command line, or here another time. No key is in it.",
    )


def _fill() -> None:
    """Set the fields of the page; all of them, or none."""
    file = st.session_state[OPEN]
    st.session_state[SAID] = ""
    if file is None:
        return
    try:
        if file.size > LARGEST:
            raise InvalidOption(f"{file.name}: is too large for a job file")
        fields = dict(_fields(file.getvalue().decode("utf-8", "replace"), file.name))
    except AppellateError as error:
        st.session_state[SAID] = in_words(error)
        return
    st.session_state.update(fields)


def _fields(text: str, name: str) -> Fields:
    """Keys and values of the page's fields.

    Raises AppellateError : what cannot be, or what only the command line can do.
    """
    found = parse(text, name, known_options())
    given = found.options
    if "\n" not in given.get("prompt", "\n"):
        raise InvalidOption(
            f"{name}, prompt: this page takes the text of the prompt, not the name of its file"
        )
    if "prompts" in given:
        raise InvalidOption(
            f"{name}, prompts: a folder of this server is not read from a file; leave it out, and "
            "name it under More about the protocol"
        )
    judges, options, terms = found.made_judges(), found.job_options(), found.terms()
    if options["keyed"] is not None:
        raise InvalidOption(
            f"{name}: a judge that confirms is for the command line: python -m core collect {name}"
        )
    # Whether the items have the columns that are shown is known when they are there.
    more = tuple((column, "text") for column in {*options.get("show", ()), COLUMN})
    pair = Item(item_id="q", prompt="p", responses=("a", "b"), models=("A", "B"), gold=1, more=more)
    job = Job(dataset="any", items=(pair, pair), judges=judges, **options)
    yield JUDGES, list(range(1, len(judges) + 1))
    for number, judge in enumerate(judges, start=1):
        calls = judge.concurrency or max(1, terms.concurrency // len(judges))
        yield from _of_judge(judge, number, calls, name)
    yield from _of_items(given, name)
    into = (
        given.get("dataset")
        or given.get("items_of")
        or given.get("items", "").split("/")[-1].split(".")[0]
    )
    yield from _of_protocol(job, into, name)
    for limit in ("calls", "tokens", "cost"):
        # The fields of one judge have no limits beside those of the job.
        own = [getattr(judges[0].budget, limit)] if len(judges) == 1 else []
        yield (
            f"collect-{limit}",
            min((n for n in (*own, getattr(terms.budget, limit)) if n is not None), default=None),
        )
    yield "collect-give-up", terms.give_up
    yield "collect-batch", terms.batch
    if terms.batch:
        yield "collect-batch-size", terms.batch_size


def _of_judge(judge: Judge, number: int, calls: int, file: str) -> Fields:
    place = f"{file}, judge {judge.name}"
    if judge.base_url is not None and judge.provider != "openai":
        raise InvalidOption(f"{place}: of models with a base URL this page takes openai/… only")
    if judge.base_url is None and judge.provider not in HOSTS:
        raise InvalidOption(f"{place}: {judge.provider} is none of the providers of this page")
    if judge.key_env is not None and (
        judge.base_url is None or judge.key_env not in offered_keys()
    ):
        raise InvalidOption(
            f"{place}: the key {judge.key_env} is not among those that this page may send there"
        )
    check_variables(judge.headers)
    prompt, completion = judge.price or (None, None)
    values = {
        "where": PROVIDER if judge.base_url is None else SERVER,
        "url": judge.base_url or "",
        "provider": judge.provider,
        "model": judge.default_name,
        "key": judge.key_env or NO_KEY,
        "judge": "" if judge.name == judge.default_name else judge.name,
        "reply-tokens": judge.max_tokens,
        "timeout": judge.timeout,
        "concurrency": calls,
        "price-prompt": prompt,
        "price-completion": completion,
        "param": "\n".join(f"{name}={value}" for name, value in judge.parameters),
        "header": "\n".join(f"{name}={value}" for name, value in judge.headers),
        "same-server": judge.same_server or "",
        "own-calls": judge.budget.calls,
        "own-tokens": judge.budget.tokens,
        "own-cost": judge.budget.cost,
    }
    for name, value in values.items():
        yield key_of(number, name), value


def _of_items(given: dict[str, Any], file: str) -> Fields:
    stored = given.get("items_of")
    if stored is not None and stored not in {found.name for found in cached.datasets()}:
        raise InvalidOption(f"{file}, items-of: there is no data set {stored!r} here")
    yield "collect-items", FILE if stored is None else DATASET
    if stored is not None:
        yield "collect-of", stored
    elif "items" in given:
        yield SAID, f"Fields filled from {file}. Add the file of items, {given['items']}."
    yield "collect-first", given.get("max_items")
    yield "collect-into", given.get("dataset", "")


def _of_protocol(job: Job, into: str, file: str) -> Fields:
    known: Collection[str] = (
        cached.raters(into) if into in {found.name for found in cached.datasets()} else ()
    )
    for judge in job.samples_of:
        if judge not in known:
            raise InvalidOption(
                f"{file}, samples-of: the data set {into!r} has no votes of {judge!r} here"
            )
    yield "collect-protocol", next(label for label, name in LABELS.items() if name == job.protocol)
    rules = PROTOCOLS[job.protocol]
    if not rules.fixed:
        yield f"collect-votes-{job.protocol}", job.n
    if len(rules.confidences) > 1:
        yield f"collect-confidence-{job.protocol}", job.confidence
    yield "collect-orders", job.orders
    yield "collect-ties", job.ties
    yield "collect-samples", list(job.samples_of)
    yield "collect-temperature", job.temperature
    yield "collect-few-shot", job.few_shot
    yield "collect-own-answer", job.own_answer
    yield "collect-perturb", job.perturb or None
    yield "collect-five", job.five
    yield "collect-scale", job.scale
    yield "collect-rubric", job.rubric
    yield "collect-show", ", ".join(job.show)
    yield "collect-criteria", ", ".join(job.criteria)
    yield "collect-same-orderings", job.same_orderings
    yield "collect-seed", job.seed
    yield "collect-prompts", str(job.prompts or "")
    yield "collect-prompt", job.prompt or ""
    words: dict[str, str] = {}
    for verdict, text in job.verdict_words:
        if verdict in words:
            raise InvalidOption(f"{file}, verdict-words: on this page one text means {verdict}")
        words[verdict] = text
    for verdict in VOTES:
        yield f"collect-words-{verdict}", words.get(verdict, "")
