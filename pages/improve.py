"""What makes its verdicts better, and by how much?"""

import streamlit as st

from core.auditing.answers import page_answers
from core.places import NAMES
from pages.sections.versions.compared import versions_here
from pages.sections.versions.proof import proof_section
from pages.shared import cards, people, share, widgets

# What to do, the page and tab that says what it gains, and the kind of judgements it is for.
WAYS = (
    ("Ask in both orders", "position_bias", "Correcting for order", "judges"),
    ("Turn votes into calibrated labels", "votes_to_labels", "", "judges"),
    ("Keep what is sure enough", "calibration", "Threshold", "judges"),
    ("Recalibrate its confidence", "calibration", "Recalibration", "judges"),
    ("Recalibrate its scores, or move the cut", "scores", "Recalibrate", "scores"),
    ("Let a jury vote", "juries", "", "judges"),
    ("Rank in several orders", "listwise", "", "rankings"),
    ("Ask for more votes or labels", "planning", "", "judges"),
    ("Label some", "label", "", ""),
    ("Collect repeats", "collect", "", ""),
)

widgets.title("improve", "What makes its verdicts better, and by how much?")
with widgets.errors():
    audited = share.found()
    # What judge and people part on says what there is to mend.
    if audited.asked_about:
        cards.error_cards(widgets.chosen_judge() or audited.asked_about[0].judge)
    cards.answers()
    st.subheader("What to do about it", anchor=False)
    said = page_answers(audited)
    for place, (what, address, tab, kind) in enumerate(WAYS):
        if (kind and not getattr(audited, kind)) or (
            address in ("label", "collect") and people.visitor() != "editor"
        ):
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(what, width=360)
            widgets.goto(
                f"{NAMES[address]} · {tab}".removesuffix(" · "),
                f"{address}.py",
                key=f"improve-{place}",
                tab=tab,
            )
            if address in said:
                st.text(said[address].headline, width="content")
if people.visitor() == "editor" and versions_here():
    with widgets.errors():
        proof_section()
