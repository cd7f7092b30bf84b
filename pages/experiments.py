"""How many votes and labels do I need?"""

from collections.abc import Callable

import streamlit as st

from pages.sections.experiments.budget import budget_tab
from pages.sections.experiments.comparison import compared_tab
from pages.sections.experiments.controls import PageState, read_controls
from pages.sections.experiments.parameters import parameters_tab
from pages.sections.experiments.sweeps import labels_tab, votes_tab
from pages.sections.experiments.transfer import transfer_tab
from pages.shared import widgets

TABS: dict[str, Callable[[PageState], None]] = {
    "How many votes": votes_tab,
    "How many labels": labels_tab,
    "Transfer": transfer_tab,
    "Compare": compared_tab,
    "Parameters": parameters_tab,
    "Vote budget": lambda state: budget_tab(state.selection, state.judge, state.style, state.look),
}

widgets.title("Experiments", "How many votes and labels do I need?")
state = read_controls()
for tab, draw in zip(st.tabs(list(TABS), key="experiment", bind=widgets.URL), TABS.values(), strict=True):
    with tab:
        if tab.open:
            with widgets.errors():
                draw(state)
with st.container(horizontal=True, vertical_alignment="center"):
    st.caption("Shown elsewhere:", width="content")
    widgets.goto("one order or both", "position.py", key="experiments-order", rater=state.judge)
    widgets.goto("label distributions", "aggregation.py", key="experiments-labels", rater=state.judge)
    widgets.goto("judges beside people", "agreement.py", key="experiments-people", rater=state.judge)
