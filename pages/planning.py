"""How many votes and labels do I need?"""

from functools import partial

import streamlit as st

from pages.sections.planning.budget import budget_tab
from pages.sections.planning.comparison import compared_tab
from pages.sections.planning.sweeps import labels_tab, read_controls, votes_tab
from pages.sections.planning.transfer import parameters_tab, transfer_tab
from pages.shared import parts, widgets

widgets.title("Planning", "How many votes and labels do I need?")


def page() -> None:
    state = read_controls()
    widgets.tabs(
        {
            "How many votes": partial(votes_tab, state),
            "How many labels": partial(labels_tab, state),
            "Transfer": partial(transfer_tab, state),
            "Compare": partial(compared_tab, state),
            "Parameters": partial(parameters_tab, state),
            "Vote budget": partial(budget_tab, state),
        }
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Shown elsewhere:", width="content")
        widgets.goto(
            "one order or both", "position_bias.py", key="experiments-order", judge=state.judge
        )
        widgets.goto(
            "label distributions", "votes_to_labels.py", key="experiments-labels", judge=state.judge
        )
        widgets.goto(
            "judges beside people", "agreement.py", key="experiments-people", judge=state.judge
        )


parts.body(page)
