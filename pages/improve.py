"""What makes its verdicts better, and by how much?"""

import streamlit as st

from core.places import NAMES
from pages.sections.versions.compared import versions_here
from pages.sections.versions.proof import proof_section
from pages.shared import cached, people, widgets

# What to do, the page and tab that says what it gains, and the kind of judgements it is for.
WAYS = (
    ("Ask in both orders", "position_bias", "Correcting for order", "votes"),
    ("Turn votes into calibrated labels", "votes_to_labels", "", "votes"),
    ("Keep what is sure enough", "calibration", "Threshold", "votes"),
    ("Recalibrate its confidence", "calibration", "Recalibration", "votes"),
    ("Recalibrate its scores, or move the cut", "scores", "Recalibrate", "scores"),
    ("Let a jury vote", "juries", "", "votes"),
    ("Rank in several orders", "listwise", "", "rankings"),
    ("Ask for more votes or labels", "planning", "", "votes"),
    ("Label some", "label", "", ""),
    ("Collect repeats", "collect", "", ""),
)

widgets.title("improve", "What makes its verdicts better, and by how much?")
found = next((one for one in cached.datasets() if one.name == widgets.current_dataset()), None)
for place, (what, address, tab, kind) in enumerate(WAYS):
    if address in ("label", "collect") and people.visitor() != "editor":
        continue
    if found and kind and not getattr(found, kind):
        continue
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(what, width=360)
        name = " · ".join(filter(None, (NAMES[address], tab)))
        widgets.goto(name, f"{address}.py", key=f"improve-{place}", tab=tab)
if people.visitor() == "editor" and versions_here():
    with widgets.errors():
        proof_section()
