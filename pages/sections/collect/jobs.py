"""Jobs: what one would take and sends, its start, and those that go on, ended or wait to be
resumed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.collect.cli import known_options
from core.collect.endpoint import check_secrets, host_of
from core.collect.job import Job, Terms, values_of
from core.collect.job_file import keep
from core.collect.plan import Plan, described, outcome, plan, proposed
from core.collect.prompts import FOLDER
from core.collect.registry import Started, begin, complete, forget, resume, runs, started
from core.collect.runner import Run
from core.collect.trial import VERSION, first_of, seal, tried
from core.installation import INSTALLED, ROOT
from core.store.browse import without_verdict
from pages.sections.collect.by_hand import settle_by_hand
from pages.sections.collect.controls import PageState, errors, in_words, prompts_now
from pages.sections.collect.endpoint import agreed, secret_keys
from pages.sections.collect.job_files import saved
from pages.shared import cached, widgets

LOOK_SECONDS = 1.0
TRIED = 3
SEEN = "runs whose end was read"
AGAIN = {
    "cut_off": "were cut off",
    "unparsed": "could not be read",
    "refused": "were refused",
    "failed": "failed for good",
    "error": "failed",
}
HELP = {
    "again-cut_off": "With four times the longest reply. Nothing else is asked or paid again.",
    "again-error": "Those that failed alone; Resume asks for all that is left.",
    "reread": "Sends nothing.",
}
"""What a button says of the replies that it asks for again."""


def start(state: PageState) -> None:
    """Say what the job would take, and start it."""
    plan = state.plan
    with st.container(horizontal=True, vertical_alignment="center"):
        nothing = not plan.calls and not plan.further_calls
        if st.button("Start", key="collect-start", type="primary", disabled=nothing):
            with errors():
                store = cached.changeable_store()
                job, sealed = seal(state.job, store)
                if sealed is not None:
                    st.session_state["sealed"] = sealed
                begin(job, store, state.terms, keys=secret_keys())
                # The next prompt is asked in the same way.
                keep(store, job, state.terms, known_options())
                st.rerun()
        asked = st.button(f"Try {TRIED}", key="collect-try", help="Paid calls; no reply is kept.")
        lines = [in_words(line) for line in plan.sentences]
        st.text("\n".join(f"{line[:1].upper()}{line[1:]}." for line in lines))
    if "sealed" in st.session_state:
        st.text(f"{st.session_state['sealed']}.")
    with errors():
        _trial(state, asked=asked)
    saved(state)


def prompt(state: PageState) -> None:
    """The prompt as it is sent, but for the texts of each item."""
    found = state.prompt
    with st.expander("The prompt"):
        st.caption("System")
        st.code(found.system, language=None, wrap_lines=True)
        st.caption("User; judged texts stand in the places in double braces, fenced as data")
        st.code(found.user, language=None, wrap_lines=True)
        folder = state.job.prompts or (FOLDER if INSTALLED else FOLDER.relative_to(ROOT))
        if state.job.prompt is not None:
            st.text(f"Your own prompt; its hash, kept with every vote: {found.hash}")
            return
        st.text(
            f"{found.name}.md; its hash, kept with every vote: {found.hash}\n"
            f"To change it, copy the folder {folder}, edit the copy, and name it under More about "
            "the "
            "protocol. An edited prompt is another prompt: its votes are collected anew."
        )


def _trial(state: PageState, *, asked: bool) -> None:
    """Three calls, where they are asked for, and their replies beside what was read; nothing of
    them is kept.
    """
    if asked:
        st.session_state["tried"] = tried(
            first_of(state.job, TRIED, cached.get_store()),
            keys=secret_keys(),
            **values_of(state.terms),
        )
    for each in st.session_state.get("tried", ()):
        st.text(f"{each.item_id}: {each.read}")
        st.code(each.reply, language=None, wrap_lines=True)


def copy(state: PageState) -> None:
    """The same job in Python."""
    job = state.job
    given = widgets.arguments(job, ("dataset", "items", "judges", "protocol"))
    judges = [
        f"Judge({', '.join([f'model={judge.model!r}', *widgets.arguments(judge, ('model',))])})"
        for judge in job.judges
    ]
    terms = widgets.arguments(state.terms)
    widgets.copy_as_python(
        f"""job = Job(
    dataset={job.dataset!r},
    items={state.python},
    judges=({", ".join(judges)},),
    protocol={job.protocol!r}{", ".join(["", *given])},
)
print(*plan_job(job, store, confirmed={state.terms.confirmed!r}).sentences, sep="\\n")
# This sends the texts, and may cost:
# print(start_job(job, store{", ".join(["", *terms])}).wait().sentence)""",
        "start_job",
    )


def all_runs() -> bool:
    """Runs that go on, those that ended and were not put away yet, and jobs that wait to be
    resumed; returns whether one goes on.
    """
    going_on = [run for run in runs(cached.get_store()) if not run.progress().finished]
    if going_on:
        _going_on(going_on)
    _ended()
    _unfinished({run.job_id for run in going_on})
    return bool(going_on)


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
        for message in (*now.by_judge, *now.messages):
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
            for message in (*run.progress().by_judge, *run.progress().messages):
                st.text(message)
            _without_verdict(run.job)
            settle_by_hand(run.job, run.job_id)
            with errors():
                _again(run.job_id, run.job, run.terms, _planned(run.job_id, run.job, run.terms))
            _links(run)


def _without_verdict(job: Job) -> None:
    """The words of replies that gave nothing usable."""
    found = without_verdict(cached.get_store(), job.dataset, job.voters).to_pandas()
    if len(found):
        with st.expander(f"Without a verdict, in all runs: {found['n'].sum():,}"):
            st.dataframe(
                found, hide_index=True, alt="Failed calls and replies that could not be read"
            )


def _again(job_id: str, job: Job, terms: Terms, found: Plan) -> None:
    """Buttons that mend stored replies without a verdict: asked for again alone, or read again."""

    def run(text: str, key: str, asked: Job, **how: Any) -> None:
        if st.button(text, key=f"collect-{key}-{job_id}", help=HELP.get(key)):
            begin(asked, cached.get_store(), replace(terms, **how), keys=secret_keys())
            st.rerun()

    with st.container(horizontal=True):
        for status, words in AGAIN.items():
            if n := found.statuses[status]:
                asked = _longer(job) if status == "cut_off" else job
                text = f"Ask again for {n:,} that {words}"
                run(text, f"again-{status}", asked, again=(status,), reread=False)
        if found.statuses["unparsed"]:
            run("Read stored replies again", "reread", job, again=(), reread=True)


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
        for name in (judge.name for judge in job.judges if VERSION.fullmatch(judge.name)):
            widgets.goto(
                f"Prove {name}",
                "improve.py",
                key=f"collect-prove-{name}-{run.job_id}",
                **here | {"newer": name, widgets.PROVING: name},
            )
        for text, page in _pages(job):
            widgets.goto(
                text, page, key=f"collect-to-{page.removesuffix('.py')}-{run.job_id}", **here
            )
        st.button(
            "Put away",
            key=f"collect-seen-{run.job_id}",
            type="tertiary",
            on_click=st.session_state[SEEN].add,
            args=(id(run),),
        )


def _pages(job: Job) -> list[tuple[str, str]]:
    if job.protocol == "listwise":
        return [("To Listwise consensus", "listwise.py")]
    if job.rules.kind == "scores":
        return [("To the verdict", "verdict.py")]
    # Repeated votes have a confidence also where none is stated: the share behind their majority.
    repeated = job.protocol in ("pairwise", "greedy") and job.n > 1
    measured = job.confidence != "none" or repeated
    labelled = any(item.gold is not None for item in job.items)
    pages = [("To Reliability diagrams", "calibration.py")] if measured and labelled else []
    return [*pages, ("To Position bias", "position_bias.py"), ("To the verdict", "verdict.py")]


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
                for message in (*run.progress().by_judge, *run.progress().messages):
                    st.text(in_words(message))
            _without_verdict(job.job)
            settle_by_hand(job.job, job.id)
            terms = job.terms
            with errors():
                terms = replace(job.terms, confirmed=_agreed(job))
                found = _planned(job.id, job.job, terms)
                st.text(f"To go on: {proposed(job.job, found)}")
                _again(job.id, job.job, terms, found)
            st.caption("To go on with other limits, start the same job below: no call is repeated.")
            with st.container(horizontal=True):
                if st.button("Resume", key=f"collect-resume-{job.id}", type="primary"):
                    with errors():
                        resume(job, store, confirmed=terms.confirmed, keys=secret_keys())
                        st.rerun()
                st.button(
                    "Do not list it",
                    key=f"collect-forget-{job.id}",
                    type="tertiary",
                    on_click=forget,
                    args=(store, job.id),
                    help="What it collected stays.",
                )


def _agreed(job: Started) -> tuple[str, ...]:
    """Hosts that the visitor agrees to now: the store, which may be another's, remembers none.

    Raises InvalidOption where the job names what this page may not send.
    """
    for judge in job.job.models:
        check_secrets(judge, f"Judge {judge.name}")
    hosts = dict.fromkeys(host_of(judge) for judge in job.job.models)
    return tuple(host for host in hosts if agreed(host, f"collect-send-{job.id}-{host}"))


def _planned(job_id: str, job: Job, terms: Terms) -> Plan:
    """What is left of a job."""
    store, keys = cached.get_store(), secret_keys()

    def look() -> Plan:
        # Keys stay out of caches.
        return replace(
            plan(job, store, confirmed=terms.confirmed, keys=keys, repair=terms.repair),
            destinations={},
        )

    return cached.computed("left of a job", (job_id, terms.confirmed, prompts_now(job)), look)
