"""Replies that could not be read, one at a time, with their text and a button for each verdict."""

from __future__ import annotations

import streamlit as st

from core.collect.by_hand import settle, unread
from core.collect.job import Job
from pages.sections.collect.controls import errors
from pages.shared import cached

SKIPPED = "replies left unread"
VERDICTS = {"A is better": 1, "B is better": -1, "Neither (tie)": 0}


def settle_by_hand(job: Job, job_id: str) -> None:
    """Show the next reply that could not be read; who reads it says its verdict."""
    if job.rules.kind != "votes":
        return
    skipped = st.session_state.setdefault(SKIPPED, set())
    left = [reply for reply in unread(job, cached.get_store()) if reply.key not in skipped]
    if not left:
        return
    reply, item = left[0], {each.item_id: each for each in job.items}[left[0].item_id]
    shown = item.responses if reply.position != "ba" else item.responses[::-1]
    # Its label stays, and so it stays open from one reply to the next.
    with st.expander("Settle by hand what could not be read", key=f"collect-settle-{job_id}"):
        st.text(f"{len(left):,} left. {reply.judge} on item {reply.item_id}: what does it say?")
        st.code(reply.raw, language=None, wrap_lines=True)
        with st.container(horizontal=True):
            for text, vote in VERDICTS.items():
                if vote or job.ties:
                    st.button(
                        text,
                        key=f"collect-settle-{vote}-{job_id}",
                        on_click=_settled,
                        args=(job, reply.key, vote),
                    )
            st.button(
                "No verdict: next",
                key=f"collect-settle-skip-{job_id}",
                type="tertiary",
                on_click=skipped.add,
                args=(reply.key,),
            )
        st.caption("A is the response that the judge was shown first.")
        for letter, text in zip("AB", shown, strict=True):
            st.caption(f"Response {letter}")
            st.code(text, language=None, wrap_lines=True)


def _settled(job: Job, key: str, vote: int) -> None:
    with errors():
        settle(job, cached.changeable_store(), key, vote)
