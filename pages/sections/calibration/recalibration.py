"""Can its confidence be mended? Reliability before and after a map fitted on other items."""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from core.confidence.calibration_error import (
    CalibrationIntervals,
    NoiseFloor,
    calibration_intervals,
    noise_floor,
)
from core.confidence.recalibration import Method, Recalibration, recalibrate
from core.errors import AppellateError
from core.interpretation import sentences
from core.plots.calibration import before_and_after
from core.records import OutcomeCounts
from core.reporting import tables
from pages.sections.calibration.controls import Asked, bin_marks, of_each, seeded, subject
from pages.shared import widgets

Recalibrated = tuple[Recalibration, CalibrationIntervals, CalibrationIntervals, NoiseFloor]


def recalibration_tab(asked: Asked, tab: Any) -> None:
    """What the chosen map does to one judge, and to all."""
    drawn, told = st.columns([1, 1], gap="medium")
    # Isotonic by default: maps of log odds do badly where 0 or 1 is stated often.
    method: Method = widgets.choice("Map", get_args(Method), default="isotonic", key="map", place=told)
    if not tab.open:
        return
    every = of_each(
        asked, "recalibration", (method, asked.bins), lambda known: _recalibrated(known, method, asked.bins)
    )
    done = {name: one for name, one in every.items() if not isinstance(one, str)}
    judge = subject(asked)
    if judge in done:
        _one(asked, judge, done[judge], drawn, told)
    for name in asked.shown:
        if isinstance(reason := every[name], str):
            widgets.not_applicable(f"{name}: {reason}")
    if len(asked.shown) > 1 and done:
        st.caption("All judges")
        widgets.table(
            tables.recalibrations(done),
            "recalibrations",
            alt="ECE, Brier and NLL of each judge before and after",
        )
    widgets.copy_as_python(
        f"""outcomes = queries.outcomes(store, selection, rule={asked.rule!r})[{judge!r}]
found = recalibrate(outcomes, method={method!r}, bins={asked.bins}, rng=default_rng(0))
print(found.to_frame())"""
    )


def _recalibrated(known: OutcomeCounts, method: Method, bins: int) -> Recalibrated | str:
    """Before and after with their intervals and the noise floor of after; or why there is no map."""
    try:
        found = recalibrate(known, method=method, rng=seeded(), bins=bins)
    except AppellateError as error:
        return str(error)
    moved = found.recalibrated_outcomes
    return (
        found,
        calibration_intervals(known, rng=seeded(), bins=bins),
        calibration_intervals(moved, rng=seeded(), bins=bins),
        noise_floor(moved, rng=seeded(), bins=bins),
    )


def _one(asked: Asked, judge: str, result: Recalibrated, drawn: Any, told: Any) -> None:
    """Sentence, diagram and measures of one judge, before and after."""
    found, before, after, floor = result
    told.text(sentences.recalibrated(judge, found, before, after, floor))
    marks = bin_marks(asked, judge, found.before.reliability, shown_as="as stated")
    with drawn:
        fig = before_and_after(
            found, style=asked.styles[judge], theme=asked.look, chosen=st.session_state.get("stated")
        )
        alt = "Reliability before and after recalibration"
        chosen = widgets.figure(fig, "stated", alt=alt, marks=list(marks))
    with told:
        widgets.table(
            tables.before_and_after(found, before, after), "recalibration", alt="Measures before and after"
        )
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
