"""Is its confidence worth anything?"""

import streamlit as st

from core.errors import NoUsableVotes
from core.questions.confidence.words import several_kinds
from pages.sections.calibration.controls import confidence_results, read_controls, subject, worst
from pages.sections.calibration.reliability import recalibration_tab, reliability_tab
from pages.sections.calibration.threshold import threshold_tab, without_confidence
from pages.shared import parts, widgets

TABS = ("Reliability", "Threshold", "Recalibration")

widgets.title("calibration", "Is its confidence worth anything?")


def page() -> None:
    answer = st.container()
    try:
        state = read_controls()
    except NoUsableVotes as error:
        without_confidence(str(error))
        return
    reliability, threshold, recalibration = widgets.tab_bar(TABS)
    with reliability:
        if reliability.open:
            reliability_tab(state)
    # The other tabs have controls of their own, which keep their place in the URL while the tab is
    # closed.
    with threshold:
        threshold_tab(state, threshold)
    with recalibration:
        recalibration_tab(state, recalibration)

    # The answer stands first and is computed last: the diagram follows its slider without waiting
    # for it.
    said, result = confidence_results(state)
    with answer:
        widgets.answer(said)
        widgets.beside_judge(subject(state), worst(state))
        widgets.in_full(f"{result.judge}: {result.sentence}")
        for name in state.shown:
            if kinds := several_kinds(state.outcomes[name]):
                st.text(f"{name}: {kinds}")


parts.body(page)
