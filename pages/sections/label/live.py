"""What the labels show so far, from the twentieth on: valid whenever one stops."""

from __future__ import annotations

import streamlit as st

from core.interpretation.labelling import known_so_far, repeats_sentence, standing_sentence
from core.label_desk import LABELS_BEFORE_RESULTS
from core.labelling.shown import Shown
from pages.sections.label.controls import PageState
from pages.shared import widgets

EVERY = 4.0
"""Seconds between two looks at the log."""
LOOKED = "labels that the live card rests on"
MOST_JUDGES = 12


def panel(state: PageState) -> None:
    """The card beside; it looks at the log by itself, so that labelling never waits for it."""
    _live(state)


@st.fragment(run_every=EVERY)
def _live(state: PageState) -> None:
    state.desk.refresh()
    n = len(state.desk.session.labels())
    with st.container(border=True, key="label-live"):
        if n < LABELS_BEFORE_RESULTS:
            st.text(f"After {LABELS_BEFORE_RESULTS} labels: what they show. Until then: nothing.")
            return
        with widgets.errors(elsewhere=False):
            shown = _shown(state)
            st.text(known_so_far(shown))
            for one in shown.judges[:MOST_JUDGES]:
                st.text(standing_sentence(one))
            if sentence := repeats_sentence(shown):
                st.caption(sentence)
    if n >= LABELS_BEFORE_RESULTS:
        widgets.goto("To the Overview", "overview.py", key="label-overview")


def _shown(state: PageState) -> Shown:
    """Refreshed with every answer; the same log is not looked at twice."""
    key = state.desk.plan.dataset, state.desk.session.last_number
    held = st.session_state.get(LOOKED)
    if held is None or held[0] != key:
        held = st.session_state[LOOKED] = key, state.desk.shown()
    shown: Shown = held[1]
    return shown
