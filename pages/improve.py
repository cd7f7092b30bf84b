"""What makes its verdicts better, and by how much?"""

import streamlit as st

from core.places import NAMES
from pages.shared import people, widgets

# What to do, and the page and tab that says what it gains.
WAYS = (
    ("Ask in both orders", "position_bias", "Correcting for order"),
    ("Turn votes into calibrated labels", "votes_to_labels", ""),
    ("Keep what is sure enough", "calibration", "Threshold"),
    ("Recalibrate its confidence", "calibration", "Recalibration"),
    ("Recalibrate its scores, or move the cut", "scores", "Recalibrate"),
    ("Let a jury vote", "juries", ""),
    ("Rank in several orders", "listwise", ""),
    ("Ask for more votes or labels", "planning", ""),
    ("Label some", "label", ""),
    ("Collect repeats", "collect", ""),
)

widgets.title("improve", "What makes its verdicts better, and by how much?")
for place, (what, address, tab) in enumerate(WAYS):
    if address in ("label", "collect") and people.visitor() != "editor":
        continue
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(what, width=360)
        name = " · ".join(filter(None, (NAMES[address], tab)))
        widgets.goto(name, f"{address}.py", key=f"improve-{place}", tab=tab)
