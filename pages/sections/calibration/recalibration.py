"""Can its confidence be mended? Reliability before and after a map fitted on other items."""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from core.confidence.calibration_error import calibration_intervals, noise_floor
from core.confidence.recalibration import Method, recalibrate
from core.errors import AppellateError
from core.interpretation.calibration import RECALIBRATIONS, Recalibrated, before_and_after, recalibrated
from core.interpretation.tables import frame_of
from core.plots.calibration import before_and_after as before_and_after_figure
from core.records import OutcomeCounts
from pages.sections.calibration.controls import PageState, bin_marks, of_each, seeded, subject
from pages.shared import widgets


def recalibration_tab(state: PageState, tab: Any) -> None:
    """What the chosen map does to one judge, and to all."""
    drawn, beside = st.columns([1, 1], gap="medium")
    # Isotonic by default: maps of log odds do badly where 0 or 1 is stated often.
    method: Method = widgets.choice("Map", get_args(Method), default="isotonic", key="map", place=beside)
    if not tab.open:
        return
    every = of_each(
        state, "recalibration", (method, state.bins), lambda known: _recalibrated(known, method, state.bins)
    )
    done = {name: one for name, one in every.items() if not isinstance(one, str)}
    judge = subject(state)
    if judge in done:
        _one(state, judge, done[judge], drawn, beside)
    for name in state.shown:
        if isinstance(reason := every[name], str):
            widgets.not_applicable(f"{name}: {reason}")
    if len(state.shown) > 1 and done:
        st.caption("All judges")
        widgets.table(
            frame_of(RECALIBRATIONS, done),
            "recalibrations",
            alt="ECE, Brier and NLL of each judge before and after",
        )
    widgets.copy_as_python(
        f"""outcomes = queries.outcomes(store, selection, rule={state.rule!r})[{judge!r}]
found = recalibrate(outcomes, method={method!r}, bins={state.bins}, rng=default_rng(0))
print(found.to_frame())"""
    )


def _recalibrated(known: OutcomeCounts, method: Method, bins: int) -> Recalibrated | str:
    """Before and after with their intervals and the noise floor of after; or why there is no map."""
    try:
        found = recalibrate(known, method=method, rng=seeded(), bins=bins)
    except AppellateError as error:
        return str(error)
    moved = found.recalibrated_outcomes
    return Recalibrated(
        found=found,
        intervals_before=calibration_intervals(known, rng=seeded(), bins=bins),
        intervals_after=calibration_intervals(moved, rng=seeded(), bins=bins),
        floor=noise_floor(moved, rng=seeded(), bins=bins, diagram=found.after.reliability),
    )


def _one(state: PageState, judge: str, result: Recalibrated, drawn: Any, beside: Any) -> None:
    """Sentence, diagram and measures of one judge, before and after."""
    beside.text(recalibrated(judge, result))
    marks = bin_marks(state, judge, result.found.before.reliability, shown_as="as stated")
    with drawn:
        fig = before_and_after_figure(
            result.found, style=state.styles[judge], theme=state.look, chosen=st.session_state.get("stated")
        )
        alt = "Reliability before and after recalibration"
        chosen = widgets.figure(fig, "stated", alt=alt, marks=list(marks))
    with beside:
        widgets.table(before_and_after(result), "recalibration", alt="Measures before and after")
        widgets.how_to_read(
            "Hollow: confidence as stated; filled: after the map. Items are dealt into five folds, and "
            "each fold is mapped by a fit on the other four, so nothing is judged on what it was fitted "
            "to. *temperature* stretches the log odds; *platt* also shifts them; *isotonic* is any "
            "rising step; *histogram* is the accuracy of the bin. No map changes which votes are "
            "right, and rising maps hardly change which are surer: recalibrating mends the "
            "number, not the judge. Only hollow marks lead to their votes, as the maps differ "
            "between folds."
        )
    if chosen:
        widgets.votes_table(marks[chosen], name="stated")
