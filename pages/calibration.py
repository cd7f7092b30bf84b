"""Is its confidence worth anything?"""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.questions.confidence.words import several_kinds
from pages.sections.calibration.controls import PageState, confidence_results, subject, worst
from pages.sections.calibration.reliability import recalibration_tab, reliability_tab
from pages.sections.calibration.threshold import threshold_tab, with_confidence
from pages.shared import parts, widgets

TABS = ("Reliability", "Threshold", "Recalibration")

widgets.title("calibration", "Is its confidence worth anything?")


def page(answer: DeltaGenerator, state: PageState) -> None:
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


parts.body(lambda: with_confidence(partial(page, st.container())))
