"""Is it right as often as it says? Reliability diagram, gap and every measure, and what a map would
mend.
"""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from core.finding.forest import forest, series
from core.finding.tables import frame, frame_of
from core.questions.confidence import figure as plots
from core.questions.confidence import words as sentences
from core.questions.confidence.calibration_error import calibration_intervals, noise_floor
from core.questions.confidence.recalibration import Method, recalibrate
from core.records import OutcomeCounts
from core.store.vote_queries import Mark
from pages.sections.calibration import controls
from pages.shared import cached, cards, numbers, widgets
from pages.shared.limits import current_options


def reliability_tab(state: controls.PageState) -> None:
    """Accuracy against stated confidence, the gap beside it, and the table of measures."""
    left, right = st.columns([1, 1], gap="medium")
    with left:
        # The diagram before all else: it follows the slider, the rest may come a moment later.
        bin_mark = _diagram(state)
    with right:
        wrong_mark = _gaps(state)
        widgets.how_to_read(
            "**Diagram.** Each mark is a bin of stated confidence, larger with more verdicts. On "
            "the diagonal a judge is right as often as it says; in the shaded half below it is "
            "overconfident. The strip shows where its confidences lie. **Beside it**: mean "
            "confidence minus share right; right of the line is overconfident.\n\nBars are 95 % "
            "intervals that allow for votes of one item being alike. *By chance up to* is the ECE "
            "that a perfectly calibrated judge with these confidences would show (97.5 % of "
            "draws); an ECE below it is no evidence of miscalibration.\n\n**Table**, 0 is best "
            "everywhere. *ECE* (expected calibration error): distance from the diagonal, averaged "
            "over votes; *MCE*: that of the worst bin; *ACE*: as ECE, with bins of equally many "
            "votes. *Brier*: mean square of confidence minus right (1) or wrong (0), .25 for "
            "always saying 50 %. *NLL*: mean −ln of the probability given to what happened, .69 "
            "for always saying 50 %; it punishes certain errors most.\n\n**Verdict**, the worst of "
            "three checks, each by its whole 95 % interval, from 30 items on. *Overconfidence*, "
            "confidence minus the share right, items alike: fine within ±10 points, a warning if "
            "the interval leaves out 0, a failure wholly above 20 points; stating too little never "
            "fails. *Calibration*, the ECE: fine if its high end is at most 10 points, a warning "
            "if it is above what noise alone shows, a failure if its low end is above 15 too. "
            "*Discrimination*, how often a right verdict is surer than a wrong one (AUROC): fine "
            "from .60, a warning wholly below, a failure wholly below .50. All else is unclear. "
            "The table's *gap* weighs votes alike, so its interval may differ. Limits can be "
            "changed below the verdict."
        )
    cards.votes_behind(bin_mark, name="bin")
    cards.votes_behind(wrong_mark, name="wrong")
    _measures(state)
    for reason, names in sorted(widgets.by_reason(state.reasons).items()):
        widgets.not_applicable(f"{names}: {reason}.")
    widgets.copy_as_python(
        f"""known = {state.python(controls.subject(state))}.with_confidence()
print({controls.subject(state)!r}, calibration(known, bins={state.bins}).ece)
print(calibration_intervals(known, bins={state.bins}, rng=default_rng(0)).to_frame())
print(noise_floor(known, bins={state.bins}, rng=default_rng(0)).to_frame())
print(confidence_gap(known).to_frame())"""
    )


def _diagram(state: controls.PageState) -> Mark | None:
    every = controls.calibrations(state)
    shown = {name: every[name].reliability for name in state.drawn}
    marks = {
        key: mark
        for name, one in shown.items()
        for key, mark in controls.bin_marks(state, name, one).items()
    }
    fig = plots.reliability_diagram(
        shown,
        styles=state.styles,
        theme=state.look,
        chosen=st.session_state.get("bin"),
        confidence=state.confidence,
    )
    return widgets.figure(fig, "bin", alt=f"Accuracy against {state.confidence}", marks=marks)


def _gaps(state: controls.PageState) -> Mark | None:
    found = controls.gaps(state)
    shown = {name: found[name] for name in state.drawn}
    drawn = series("stated − right", shown, "gap", f"{{0.n:,}} {state.noun}, {{0.items:,}} items")
    fig = forest(
        [drawn],
        "confidence − share right, points",
        styles=state.styles,
        reference=0,
        unit="points",
        theme=state.look,
        chosen=st.session_state.get("wrong"),
    )
    wrong_of = {
        name: Mark(judge=name, correct=False, rule=state.marked)
        for name in state.shown
        if (state.outcomes[name].correct < state.outcomes[name].n).any()
    }
    alt = "Confidence beyond accuracy by judge"
    return widgets.figure(fig, "wrong", alt=alt, marks=wrong_of, prompt="Wrong votes of")


def _measures(state: controls.PageState) -> None:
    results, floors, gap = (
        controls.calibrations(state),
        controls.noise_floors(state),
        controls.gaps(state),
    )
    intervals = controls.of_each(
        state,
        "calibration intervals",
        (state.bins,),
        lambda known: calibration_intervals(known, rng=widgets.seeded(), bins=state.bins),
    )
    outcomes = (
        state.outcomes if state.by_share else cached.outcomes(state.selection, rule=state.rule)
    )
    shown = {
        name: sentences.Measured(
            found=results[name],
            intervals=intervals[name],
            floor=floors[name],
            gap=gap[name],
            missing=int(outcomes[name].n.sum()) - results[name].n,
        )
        for name in state.shown
    }
    numbers.table(
        frame_of(sentences.CALIBRATIONS, shown),
        "calibration",
        alt="Calibration measures of each judge",
    )
    kinds = controls.kinds(state)
    if any(len(of_judge) > 1 for of_judge in kinds.values()):
        rows = [(judge, kind) for judge, of_judge in kinds.items() for kind in of_judge]
        st.caption("Kinds of confidence side by side; they are never put together")
        columns = sentences.kind_columns(current_options().epsilons)
        numbers.table(frame(columns, rows), "kinds", alt="Measures by kind of confidence")
    if clipped := sum(one.found.nll_clipped for one in shown.values()):
        st.caption(
            f"NLL: {clipped:,} {state.noun} state 0 or 1 and count as if 10⁻¹² away from it, so "
            "that one certain error costs 27.6 and not infinity."
        )


def recalibration_tab(state: controls.PageState, tab: Any) -> None:
    """What the chosen map does to one judge, and to all."""
    drawn, beside = st.columns([1, 1], gap="medium")
    # Isotonic by default: maps of log odds do badly where 0 or 1 is stated often.
    method: Method = widgets.choice(
        "Map", get_args(Method), default="isotonic", key="map", place=beside
    )
    if not tab.open:
        return
    done, reasons = cached.of_each_possible(
        "recalibration",
        (state.selection, state.verdict, method, state.bins),
        state.outcomes,
        lambda known: _recalibrated(known, method, state.bins),
    )
    judge = controls.subject(state)
    if judge in done:
        _one(state, judge, done[judge], drawn, beside)
    for name in state.shown:
        if name in reasons:
            widgets.not_applicable(f"{name}: {reasons[name]}")
    if len(state.shown) > 1 and done:
        st.caption("All judges")
        numbers.table(
            frame_of(sentences.RECALIBRATIONS, state.order.all(done)),
            "recalibrations",
            alt="ECE, Brier and NLL of each judge before and after",
        )
    widgets.copy_as_python(
        f"""outcomes = {state.python(judge)}
found = recalibrate(outcomes, method={method!r}, bins={state.bins}, rng=default_rng(0))
print(found.to_frame())"""
    )


def _recalibrated(known: OutcomeCounts, method: Method, bins: int) -> sentences.Recalibrated:
    """Before and after with their intervals and the noise floor of after."""
    found = recalibrate(known, method=method, rng=widgets.seeded(), bins=bins)
    moved = found.recalibrated_outcomes
    return sentences.Recalibrated(
        found=found,
        intervals_before=calibration_intervals(known, rng=widgets.seeded(), bins=bins),
        intervals_after=calibration_intervals(moved, rng=widgets.seeded(), bins=bins),
        floor=noise_floor(moved, rng=widgets.seeded(), bins=bins),
    )


def _one(
    state: controls.PageState, judge: str, result: sentences.Recalibrated, drawn: Any, beside: Any
) -> None:
    """Sentence, diagram and measures of one judge, before and after."""
    beside.text(sentences.recalibrated(judge, result))
    marks = controls.bin_marks(state, judge, result.found.before.reliability, shown_as="as stated")
    with drawn:
        fig = plots.before_and_after(
            result.found,
            style=state.styles[judge],
            theme=state.look,
            chosen=st.session_state.get("stated"),
        )
        alt = "Reliability before and after recalibration"
        chosen = widgets.figure(fig, "stated", alt=alt, marks=marks)
    with beside:
        numbers.table(
            sentences.before_and_after(result), "recalibration", alt="Measures before and after"
        )
        widgets.how_to_read(
            "Hollow: confidence as stated; filled: after the map. Items are dealt into five folds, "
            "and each fold is mapped by a fit on the other four, so nothing is judged on what it "
            "was fitted to. *temperature* stretches the log odds; *platt* also shifts them; "
            "*isotonic* is any rising step; *histogram* is the accuracy of the bin. No map changes "
            "which votes are right, and rising maps hardly change which are surer: recalibrating "
            "mends the number, not the judge. Only hollow marks lead to their votes, as the maps "
            "differ between folds."
        )
    cards.votes_behind(chosen, name="stated")
