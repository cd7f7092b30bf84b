"""How should I turn n votes into one label?"""

from collections.abc import Callable

import streamlit as st

from pages.sections.aggregation.confidence import confidence_tab
from pages.sections.aggregation.controls import read_controls
from pages.sections.aggregation.likert import likert_tab
from pages.sections.aggregation.rules import rules_tab
from pages.sections.aggregation.shrinkage import shrinkage_tab
from pages.shared import widgets

TABS: dict[str, Callable[[], None]] = {
    "Rules": lambda: rules_tab(read_controls()),
    "Confidence weights": lambda: confidence_tab(read_controls()),
    "Likert scales": likert_tab,
    "Shrinkage": lambda: shrinkage_tab(read_controls()),
}

widgets.title("Aggregation", "How should I turn n votes into one label?")
for tab, draw in zip(st.tabs(list(TABS), key="aggregation", bind=widgets.URL), TABS.values(), strict=True):
    if tab.open:
        with tab, widgets.errors():
            draw()
