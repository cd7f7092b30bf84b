"""Is its confidence worth anything?"""

import streamlit as st

from core.errors import NoUsableVotes
from core.interpretation import sentences
from pages.sections.calibration.comparisons import without_confidence
from pages.sections.calibration.controls import ask, calibrations, gaps, noise_floors, subject
from pages.sections.calibration.near_certain import near_certain_tab
from pages.sections.calibration.recalibration import recalibration_tab
from pages.sections.calibration.reliability import reliability_tab
from pages.sections.calibration.threshold import threshold_tab
from pages.shared import widgets

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
