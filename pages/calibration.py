"""Is its confidence worth anything?"""

import streamlit as st

from core.votes import NoUsableVotes
from core.words import sentences
from pages.shared import widgets
from pages.shared.calibration.asked import ask, calibrations, gaps, noise_floors, subject
from pages.shared.calibration.comparisons import without_confidence
from pages.shared.calibration.near_certain import near_certain_tab
from pages.shared.calibration.recalibration import recalibration_tab
from pages.shared.calibration.reliability import reliability_tab
from pages.shared.calibration.threshold import threshold_tab

TABS = ("Reliability", "Near-certain votes", "Threshold", "Recalibration")

widgets.title("Calibration", "Is its confidence worth anything?")
said = st.container()
try:
    asked = ask()
except NoUsableVotes as error:
    without_confidence(str(error))
    st.stop()
reliability, near_certain, threshold, recalibration = st.tabs(TABS, key="part", bind=widgets.URL)
with reliability:
    if reliability.open:
        reliability_tab(asked)
# The other tabs have controls of their own, which keep their place in the URL while the tab is closed.
with near_certain:
    near_certain_tab(asked, near_certain)
with threshold:
    threshold_tab(asked, threshold)
with recalibration:
    recalibration_tab(asked, recalibration)

# The answer stands first and is computed last: the diagram follows its slider without waiting for it.
judge = subject(asked)
verdict = sentences.confidence(
    judge,
    calibrations(asked)[judge],
    noise_floors(asked)[judge],
    gaps(asked)[judge],
    of=len(asked.shown),
)
with said:
    widgets.answer(f"{judge}: {verdict.sentence}", "finding" if verdict.verdict == "ok" else "warning")
