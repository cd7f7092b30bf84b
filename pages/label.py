"""Which answer is better? A person says so, blind, and the labels decide about the judges."""

import streamlit as st

from pages.sections.label import desk, live
from pages.sections.label.controls import read_controls
from pages.shared import people, widgets

widgets.title("label", "Which is better? Your labels decide whether the judges can be trusted.")
with widgets.errors():
    if people.visitor() != "editor":
        st.text("You may read here; somebody who may change what is stored has to label.")
        st.stop()
    state = read_controls()
    wide, beside = st.columns([3, 1], gap="medium")
    with wide:
        desk.panel(state)
    with beside:
        live.panel(state)
