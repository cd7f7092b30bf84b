"""Is it right as often as it says? Reliability diagram, gap and every measure of calibration."""

from __future__ import annotations

import streamlit as st

from core.confidence.calibration_error import ConfidenceGap, calibration_intervals, reliability
from core.plots.calibration import reliability_diagram
from core.plots.forest import ForestMark, Series, forest
from core.reporting import tables
from core.store.vote_queries import Mark
from pages.sections.calibration.controls import (
    Asked,
    bin_marks,
    calibrations,
    gaps,
    noise_floors,
    of_each,
    seeded,
)
from pages.shared import cached, widgets


def reliability_tab(asked: Asked) -> None:
    """Accuracy against stated confidence, the gap beside it, and the table of measures."""
    left, right = st.columns([1, 1], gap="medium")
    with left:
        # The diagram before all else: it follows the slider, the rest may come a moment later.
        bin_mark = _diagram(asked)
    with right:
        wrong_mark = _gaps(asked)
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
    _measures(asked)
    _not_measured(asked)
    widgets.copy_as_python(
        f"""for judge, outcomes in queries.outcomes(store, selection, rule={asked.rule!r}).items():
    known = outcomes.with_confidence()
    if len(known):
        print(judge, calibration(known, bins={asked.bins}).ece)
        print(calibration_intervals(known, bins={asked.bins}, rng=default_rng(0)).to_frame())
        print(noise_floor(known, bins={asked.bins}, rng=default_rng(0)).to_frame())
        print(confidence_gap(known).to_frame())"""
    )


def _diagram(asked: Asked) -> Mark | None:
    every = of_each(asked, "reliability", (asked.bins,), lambda known: reliability(known, bins=asked.bins))
    diagrams = {name: every[name] for name in asked.shown}
    marks = {key: mark for name, one in diagrams.items() for key, mark in bin_marks(asked, name, one).items()}
    fig = reliability_diagram(
        diagrams, styles=asked.styles, theme=asked.look, chosen=st.session_state.get("bin")
    )
    chosen = widgets.figure(fig, "bin", alt="Accuracy against stated confidence", marks=list(marks))
    return marks[chosen] if chosen else None


def _gaps(asked: Asked) -> Mark | None:
    found = gaps(asked)
    fig = forest(
        [Series(name="stated − right", marks=[_estimate(asked, name, found[name]) for name in asked.shown])],
        styles=asked.styles,
        x_title="mean confidence − share right",
        reference=0,
        theme=asked.look,
        chosen=st.session_state.get("wrong"),
    )
    wrong_of = [name for name in asked.shown if (asked.outcomes[name].correct < asked.outcomes[name].n).any()]
    alt = "Confidence beyond accuracy by judge"
    chosen = widgets.figure(fig, "wrong", alt=alt, marks=wrong_of, prompt="Wrong votes of")
    return Mark(judge=chosen, correct=False, rule=asked.rule) if chosen else None


def _estimate(asked: Asked, name: str, gap: ConfidenceGap) -> ForestMark:
    return ForestMark(
        row=name,
        value=gap.gap,
        low=gap.gap_low,
        high=gap.gap_high,
        n=f"{gap.n:,} {asked.noun}, {gap.items:,} items",
        key=name,
    )


def _measures(asked: Asked) -> None:
    results = calibrations(asked)
    shown = {name: results[name] for name in asked.shown}
    frame = tables.calibrations(
        shown,
        intervals=of_each(
            asked,
            "calibration intervals",
            (asked.bins,),
            lambda known: calibration_intervals(known, rng=seeded(), bins=asked.bins),
        ),
        floors=noise_floors(asked),
        gaps=gaps(asked),
        outcomes=cached.outcomes(asked.selection, rule=asked.rule),
    )
    widgets.table(frame, "calibration", alt="Calibration measures of each judge")
    if clipped := sum(one.nll_clipped for one in shown.values()):
        st.caption(
            f"NLL: {clipped:,} {asked.noun} state 0 or 1 and count as if 10⁻¹² away from it, so that one "
            "certain error costs 27.6 and not infinity."
        )


def _not_measured(asked: Asked) -> None:
    for reason in sorted(set(asked.reasons.values())):
        names = ", ".join(name for name, why in asked.reasons.items() if why == reason)
        widgets.not_applicable(f"{names}: {reason}.")
