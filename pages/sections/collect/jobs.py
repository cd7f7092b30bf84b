"""Jobs: what one would take and sends, its start, and those that go on, ended or wait to be resumed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.installation import INSTALLED, ROOT
from core.judging.job import Job
from core.judging.plan import described, outcome, plan, proposed
from core.judging.prompts import FOLDER
from core.judging.registry import Started, begin, complete, forget, resume, runs, started
from core.judging.runner import Run
from core.store.ledger import without_verdict
from pages.sections.collect.controls import PageState, errors, in_words, prompts_now
from pages.sections.collect.endpoint import secret_keys
from pages.shared import cached, widgets

LOOK_SECONDS = 1.0
SEEN = "runs whose end was read"
AGAIN = {"cut_off": "were cut off", "unparsed": "could not be read", "refused": "were refused"}
HELP = {"cut_off": "With four times the longest reply. Nothing else is asked or paid again."}
"""What a button says of the replies that it asks for again."""


def start(state: PageState) -> None:
    """Say what the job would take, and start it."""
    plan = state.plan
    with st.container(horizontal=True, vertical_alignment="center"):
        nothing = not plan.calls and not plan.further_calls
        if st.button("Start", key="collect-start", type="primary", disabled=nothing):
            with errors():
                begin(state.job, cached.changeable_store(), state.terms, keys=secret_keys())
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
    given = widgets.arguments(job, ("dataset", "items", "judges", "protocol"))
    judge = widgets.arguments(job.judges[0], ("model",))
    terms = widgets.arguments(state.terms)
    widgets.copy_as_python(
        f"""job = Job(
    dataset={job.dataset!r},
    items={state.python},
    judges=(Judge(model={job.judges[0].model!r}{", ".join(["", *judge])}),),
    protocol={job.protocol!r}{", ".join(["", *given])},
)
print(*plan_job(job, store, confirmed={state.terms.confirmed!r}).sentences, sep="\\n")
# This sends the texts, and may cost:
# print(start_job(job, store{", ".join(["", *terms])}).wait().sentence)""",
        "start_job",
    )


def all_runs() -> None:
    """Runs that go on, those that ended and were not put away yet, and jobs that wait to be resumed."""
    going_on = [run for run in runs(cached.get_store()) if not run.progress().finished]
    if going_on:
        _going_on(going_on)
    _ended()
    _unfinished({run.job_id for run in going_on})


def _going_on(going_on: list[Run]) -> None:
    """Progress of runs, looked at every second until one has ended."""

    @st.fragment(run_every=LOOK_SECONDS)
    def look() -> None:
        if any(run.progress().finished for run in going_on):
            st.rerun()
        for run in going_on:
            _progress(run)

    look()


def _progress(run: Run) -> None:
    now = run.progress()
    share = min(now.answered / now.planned, 1.0) if now.planned else 0.0
    with st.container(key=f"collect-run-{run.job_id}", border=True, gap="xsmall"):
        widgets.answer(f"Collecting {described(run.job)}.", part=f"-{run.job_id}")
        st.progress(share)
        st.text(now.sentence)
        for message in now.messages:
            st.text(message)
        if now.statuses.keys() - {"ok"}:
            _without_verdict(run.job)
        if now.state == "stopping":
            st.text("Stopping: waiting for the calls in flight, whose answers are kept.")
            st.button(
                "Stop at once",
                key=f"collect-drop-{run.job_id}",
                on_click=run.stop,
                kwargs={"at_once": True},
                help="Calls in flight are given up; a provider may bill them all the same.",
            )
        else:
            st.button("Stop", key=f"collect-stop-{run.job_id}", on_click=run.stop)


def _ended() -> None:
    """Runs that ended since the server started and were not put away yet, newest first."""
    seen = st.session_state.setdefault(SEEN, set())
    for run in reversed(runs(cached.get_store())):
        if id(run) in seen or not complete(run.progress()):
            continue
        with st.container(key=f"collect-ended-{run.job_id}", border=True, gap="xsmall"):
            widgets.answer(outcome(run.job, run.progress()), part=f"-{run.job_id}")
            for message in run.progress().messages:
                st.text(message)
            _without_verdict(run.job)
            _again(run)
            _links(run)


def _without_verdict(job: Job) -> None:
    """The words of replies that gave nothing usable."""
    found = without_verdict(cached.get_store(), job.dataset, job.voters).to_pandas()
    if len(found):
        with st.expander(f"Without a verdict, in all runs: {found['n'].sum():,}"):
            st.dataframe(found, hide_index=True, alt="Failed calls and replies that could not be read")


def _again(run: Run) -> None:
    """Buttons that mend replies of a run without a verdict: asked for again alone, or read again."""
    statuses = run.progress().statuses
    with st.container(horizontal=True):
        for status, words in AGAIN.items():
            if not statuses[status]:
                continue
            text = f"Ask again for {statuses[status]:,} that {words}"
            if st.button(text, key=f"collect-again-{status}-{run.job_id}", help=HELP.get(status)):
                with errors():
                    begin(
                        _longer(run.job) if status == "cut_off" else run.job,
                        cached.get_store(),
                        replace(run.terms, again=(status,), reread=False),
                        keys=secret_keys(),
                    )
                    st.rerun()
        if statuses["unparsed"] and st.button(
            "Read stored replies again", key=f"collect-reread-{run.job_id}", help="Sends nothing."
        ):
            with errors():
                begin(
                    run.job, cached.get_store(), replace(run.terms, again=(), reread=True), keys=secret_keys()
                )
                st.rerun()


def _longer(job: Job) -> Job:
    """The same job with room for four times as long replies."""
    judges = tuple(replace(judge, max_tokens=4 * judge.max_tokens) for judge in job.judges)
    return replace(job, judges=judges)


def _links(run: Run) -> None:
    job = run.job
    here: dict[str, Any] = {
        "dataset": job.dataset,
        "judges": list(job.voters),
        "category": None,
        "raters": None,
    }
    with st.container(horizontal=True):
        for text, page in _pages(job):
            widgets.goto(text, page, key=f"collect-to-{page.removesuffix('.py')}-{run.job_id}", **here)
        st.button(
            "Put away",
            key=f"collect-seen-{run.job_id}",
            type="tertiary",
            on_click=st.session_state[SEEN].add,
            args=(id(run),),
        )


def _pages(job: Job) -> list[tuple[str, str]]:
    if job.protocol == "listwise":
        return [("To Listwise", "listwise.py")]
    if job.protocol == "score":
        return [("To the Overview", "overview.py")]
    found = [("To Calibration", "calibration.py")] if job.confidence != "none" else []
    return [*found, ("To Position bias", "position.py"), ("To the Overview", "overview.py")]


def _unfinished(busy: set[str]) -> None:
    """Jobs that were stopped, or whose server died: what is left of each, and a button to go on."""
    store = cached.get_store()
    last = {run.job_id: run for run in runs(store)}
    for job in started(store):
        run = last.get(job.id)
        if job.id in busy or (run is not None and complete(run.progress())):
            continue
        with st.container(key=f"collect-left-{job.id}", border=True, gap="xsmall"):
            if run is None:
                when = f"{job.started_at:%Y-%m-%d %H:%M} UTC"
                st.text(f"Started {when} and interrupted: {described(job.job)}.")
            else:
                st.text(outcome(job.job, run.progress()))
                for message in run.progress().messages:
                    st.text(in_words(message))
            _without_verdict(job.job)
            with errors():
                st.text(f"To go on: {_left(job)}")
            st.caption("To go on with other limits, start the same job below: no call is repeated.")
            with st.container(horizontal=True):
                if st.button("Resume", key=f"collect-resume-{job.id}", type="primary"):
                    with errors():
                        resume(job, store, keys=secret_keys())
                        st.rerun()
                st.button(
                    "Do not list it",
                    key=f"collect-forget-{job.id}",
                    type="tertiary",
                    on_click=forget,
                    args=(store, job.id),
                    help="What it collected stays.",
                )


def _left(job: Started) -> str:
    key = (job.id, job.terms.confirmed, prompts_now(job.job))
    store, confirmed, keys = cached.get_store(), job.terms.confirmed, secret_keys()
    return cached.computed(
        "left of a job", key, lambda: proposed(job.job, plan(job.job, store, confirmed=confirmed, keys=keys))
    )
