"""Is it right as often as it says? Reliability diagram, gap and every measure of calibration."""

from __future__ import annotations

import streamlit as st

from core.confidence.calibration_error import calibration_intervals
from core.interpretation.calibration import CALIBRATIONS, Measured
from core.interpretation.tables import frame_of
from core.plots.calibration import reliability_diagram
from core.plots.forest import forest, series
from core.store.vote_queries import Mark
from pages.sections.calibration.controls import (
    PageState,
    bin_marks,
    calibrations,
    diagrams,
    gaps,
    noise_floors,
    of_each,
    seeded,
)
from pages.shared import cached, widgets


def reliability_tab(state: PageState) -> None:
    """Accuracy against stated confidence, the gap beside it, and the table of measures."""
    left, right = st.columns([1, 1], gap="medium")
    with left:
        # The diagram before all else: it follows the slider, the rest may come a moment later.
        bin_mark = _diagram(state)
    with right:
        wrong_mark = _gaps(state)
        widgets.how_to_read(
            "**Diagram.** Each mark is a bin of stated confidence, larger with more verdicts. On the "
            "diagonal a judge is right as often as it says; in the shaded half below it is overconfident. "
            "The strip shows where its confidences lie. **Beside it**: mean confidence minus share right; "
            "right of the line is overconfident.\n\nBars are 95 % intervals that allow for votes of "
            "one item being alike. *By chance up to* is the ECE that a perfectly calibrated judge with these "
            "confidences would show (97.5 % of draws); an ECE below it is no evidence of miscalibration.\n\n"
            "**Table**, 0 is best everywhere. *ECE* (expected calibration error): distance from the "
            "diagonal, averaged over votes; *MCE*: that of the worst bin; *ACE*: as ECE, with bins of "
            "equally many votes. *Brier*: mean square of confidence minus right (1) or wrong "
            "(0), .25 for always saying 50 %. *NLL*: mean −ln of the probability given "
            "to what happened, .69 for always saying 50 %; it punishes certain errors most."
        )
    if bin_mark:
        widgets.votes_table(bin_mark, name="bin")
    if wrong_mark:
        widgets.votes_table(wrong_mark, name="wrong")
    _measures(state)
    _not_measured(state)
    widgets.copy_as_python(
        f"""for judge, outcomes in queries.outcomes(store, selection, rule={state.rule!r}).items():
    known = outcomes.with_confidence()
    if len(known):
        print(judge, calibration(known, bins={state.bins}).ece)
        print(calibration_intervals(known, bins={state.bins}, rng=default_rng(0)).to_frame())
        print(noise_floor(known, bins={state.bins}, rng=default_rng(0)).to_frame())
        print(confidence_gap(known).to_frame())"""
    )


def _diagram(state: PageState) -> Mark | None:
    every = diagrams(state)
    shown = {name: every[name] for name in state.shown}
    marks = {key: mark for name, one in shown.items() for key, mark in bin_marks(state, name, one).items()}
    fig = reliability_diagram(
        shown, styles=state.styles, theme=state.look, chosen=st.session_state.get("bin")
    )
    chosen = widgets.figure(fig, "bin", alt="Accuracy against stated confidence", marks=list(marks))
    return marks[chosen] if chosen else None


def _gaps(state: PageState) -> Mark | None:
    found = gaps(state)
    shown = {name: found[name] for name in state.shown}
    drawn = series("stated − right", shown, "gap", f"{{0.n:,}} {state.noun}, {{0.items:,}} items")
    fig = forest(
        [drawn],
        "mean confidence − share right",
        styles=state.styles,
        reference=0,
        theme=state.look,
        chosen=st.session_state.get("wrong"),
    )
    wrong_of = [name for name in state.shown if (state.outcomes[name].correct < state.outcomes[name].n).any()]
    alt = "Confidence beyond accuracy by judge"
    chosen = widgets.figure(fig, "wrong", alt=alt, marks=wrong_of, prompt="Wrong votes of")
    return Mark(judge=chosen, correct=False, rule=state.rule) if chosen else None


def _measures(state: PageState) -> None:
    results, floors, gap = calibrations(state), noise_floors(state), gaps(state)
    intervals = of_each(
        state,
        "calibration intervals",
        (state.bins,),
        lambda known: calibration_intervals(known, rng=seeded(), bins=state.bins),
    )
    outcomes = cached.outcomes(state.selection, rule=state.rule)
    shown = {
        name: Measured(
            found=results[name],
            intervals=intervals[name],
            floor=floors[name],
            gap=gap[name],
            missing=int(outcomes[name].n.sum()) - results[name].n,
        )
        for name in state.shown
    }
    widgets.table(frame_of(CALIBRATIONS, shown), "calibration", alt="Calibration measures of each judge")
    if clipped := sum(one.found.nll_clipped for one in shown.values()):
        st.caption(
            f"NLL: {clipped:,} {state.noun} state 0 or 1 and count as if 10⁻¹² away from it, so that one "
            "certain error costs 27.6 and not infinity."
        )


def _not_measured(state: PageState) -> None:
    for reason in sorted(set(state.reasons.values())):
        names = ", ".join(name for name, why in state.reasons.items() if why == reason)
        widgets.not_applicable(f"{names}: {reason}.")
