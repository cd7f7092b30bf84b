"""What a job would take, to the last token, the button that starts it, and the prompt that it sends."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import streamlit as st

from core.installation import INSTALLED, ROOT
from core.judging.job import Budget
from core.judging.prompts import FOLDER
from core.judging.registry import begin
from pages.sections.collect.controls import PageState, errors, in_words
from pages.sections.collect.endpoint import secret_keys
from pages.shared import cached, widgets


def start(state: PageState) -> None:
    """Say what the job would take, and start it."""
    plan = state.plan
    with st.container(horizontal=True, vertical_alignment="center"):
        nothing = not plan.calls and not plan.further_calls
        if st.button("Start", key="collect-start", type="primary", disabled=nothing):
            with errors():
                begin(state.job, cached.get_store(), state.terms, keys=secret_keys())
                st.rerun()
        lines = [in_words(line) for line in plan.sentences]
        st.text("\n".join(f"{line[:1].upper()}{line[1:]}." for line in lines))


def prompt(state: PageState) -> None:
    """The prompt as it is sent, but for the texts of each item."""
    found = state.prompt
    with st.expander("The prompt"):
        st.caption("System")
        st.code(found.system, language=None, wrap_lines=True)
        st.caption("User; judged texts stand in the places in double braces, fenced as data")
        st.code(found.user, language=None, wrap_lines=True)
        folder = state.job.prompts or (FOLDER if INSTALLED else FOLDER.relative_to(ROOT))
        st.text(
            f"{found.name}.md; its hash, kept with every vote: {found.hash}\n"
            f"To change it, copy the folder {folder}, edit the copy, and name it under More about the "
            "protocol. An edited prompt is another prompt: its votes are collected anew."
        )


def copy(state: PageState) -> None:
    """The same job in Python."""
    job = state.job
    given = _arguments(job, {"dataset", "items", "judges", "protocol"})
    judge = _arguments(job.judges[0], {"model"})
    terms = _arguments(state.terms, set())
    widgets.copy_as_python(
        f"""job = Job(
    dataset={job.dataset!r},
    items={state.python},
    judges=(Judge(model={job.judges[0].model!r}{judge}),),
    protocol={job.protocol!r}{given},
)
print(*plan_job(job, store, confirmed={state.terms.confirmed!r}).sentences, sep="\\n")
# This sends the texts, and may cost:
# print(start_job(job, store{terms}).wait().sentence)""",
        "start_job",
    )


def _arguments(record: Any, without: set[str]) -> str:
    """The fields of a record that differ from their defaults, as arguments after others."""
    given = []
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in without or value in (field.default, Budget()):
            continue
        given.append(f", {field.name}={f'Path({str(value)!r})' if isinstance(value, Path) else repr(value)}")
    return "".join(given)
