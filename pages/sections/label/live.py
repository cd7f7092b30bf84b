"""What the labels show so far, from the twentieth on: valid whenever one stops."""

from __future__ import annotations

from copy import copy

import streamlit as st

from core.labelling.desk import LABELS_BEFORE_RESULTS
from core.labelling.shown import Shown
from core.labelling.words import (
    LEVELS_NOT_GRADED,
    contested_sentence,
    known_so_far,
    levels_sentence,
    passing_sentence,
    repeats_sentence,
    second_person_sentence,
    standing_sentence,
    wins_sentence,
)
from pages.sections.label.controls import PageState
from pages.shared import cached, folds, widgets

EVERY = 4.0
"""Seconds between two looks at the log."""
MOST_JUDGES = 12


def panel(state: PageState) -> None:
    """The card beside; it looks at the log by itself, so that labelling never waits for it."""
    _live(state)


@st.fragment(run_every=EVERY)
def _live(state: PageState) -> None:
    folds.whole_page_if_asked()
    state.desk.refresh()
    n = len(state.desk.session.labels())
    with st.container(border=True, key="label-live"):
        if waiting := contested_sentence(len(state.desk.session.contested())):
            st.caption(waiting)
        if n < LABELS_BEFORE_RESULTS:
            st.text(f"After {LABELS_BEFORE_RESULTS} labels: what they show. Until then: nothing.")
            return
        with widgets.errors(elsewhere=False):
            shown = _shown(state)
            if shown is None:
                st.text("Looking at the labels.")
            else:
                _standings(shown)
    if n >= LABELS_BEFORE_RESULTS:
        widgets.goto("To the verdict", "verdict.py", key="label-overview")


def _standings(shown: Shown) -> None:
    st.text(known_so_far(shown))
    for one in shown.judges[:MOST_JUDGES]:
        st.text(standing_sentence(one))
        if shown.models is not None and (wins := wins_sentence(shown.models, one)):
            st.text(wins)
    for answers in shown.passing[:MOST_JUDGES]:
        st.text(passing_sentence(answers))
    for levels in shown.levels[:MOST_JUDGES]:
        st.text(levels_sentence(levels))
    if shown.levels:
        st.caption(LEVELS_NOT_GRADED)
    for sentence in (second_person_sentence(shown), repeats_sentence(shown)):
        if sentence:
            st.caption(sentence)


def _shown(state: PageState) -> Shown | None:
    """The newest look at the log, which all who label here share; it is taken beside the pages, as
    the next card must not wait for it.
    """
    desk = copy(state.desk)
    return cached.beside(
        f"labels of {desk.plan.dataset}",
        (desk.plan, desk.sharing, desk.session.last_number),
        lambda between: desk.shown(between=between),
    )
