"""Judges of rankings on the first screen: what order does to each, and the way on."""

from __future__ import annotations

import streamlit as st

from core.auditing.figure import MOST_ROWS
from core.store.selection import on_page
from pages.sections.overview.first_screen import Screen
from pages.shared import widgets


def rankings_section(state: Screen) -> None:
    """How many rankings there are, and of each judge whether the order of candidates decides."""
    st.text(on_page("rankings", sum(rater.n for rater in state.found.summary.rankings)))
    # The page Listwise has all.
    for audit in state.found.rankings[:MOST_ROWS]:
        with st.container(border=True, gap="xsmall"):
            st.text(audit.headline)
            if audit.figures:
                st.text(audit.figures)
    widgets.goto("To Listwise consensus", "listwise.py", key="to-listwise")
