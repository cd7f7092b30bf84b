"""Is its confidence worth anything?"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeVar, get_args

import numpy as np
import pandas as pd
import streamlit as st

from core import sentences
from core.calibration import (
    Calibration,
    CalibrationIntervals,
    NoiseFloor,
    Reliability,
    calibration,
    calibration_intervals,
    noise_floor,
    reliability,
)
from core.counts import OutcomeCounts
from core.overconfidence import ConfidenceGap, confidence_gap
from core.plots.calibration import (
    before_and_after,
    bin_key,
    cut_key,
    reliability_diagram,
    risk_figure,
    th_figure,
)
from core.plots.forest import Estimate, Series, forest
from core.queries import Mark
from core.recalibration import Method, Recalibration, recalibrate
from core.selective import risk_coverage, threshold_for_risk
from core.th_score import SWEEP_EPSILONS, Scale, th_score, th_sweep
from core.votes import AppellateError, CorrectnessRule, NoUsableVotes
from pages.shared import cached, theme, widgets

Result = TypeVar("Result")
Recalibrated = tuple[Recalibration, CalibrationIntervals, CalibrationIntervals, NoiseFloor]

URL = "query-params"
TABS = ("Reliability", "Near-certain votes", "Threshold", "Recalibration")
NEEDS = (
    "Calibration needs votes with a confidence on comparisons with gold; this selection has none. Load a "
    "column confidence (0 to 1, or percent) with the votes, and gold labels with them or from a second file."
)
MEASURES = {
    "mean_confidence": "stated",
    "ece": "ECE",
    "ace": "ACE",
    "mce": "MCE",
    "brier": "Brier",
    "nll": "NLL",
}
NOUNS = {"single": "votes", "both_orders": "both-order pairs"}
# A mark's interval is open below, with a tolerance: this lets the votes at an edge in, or keeps them out.
JUST_BELOW = 2e-9


def with_confidence() -> tuple[dict[str, OutcomeCounts], dict[str, str]]:
    """Verdicts that can be measured by judge, and why a judge has none."""
    found = cached.outcomes(selection, rule=rule)
    pairs = " judged in both orders" if rule == "both_orders" else ""
    known, reasons = {}, {}
    for judge in (about.name for about in cached.summary(selection).judges):
        if judge not in found or not found[judge].n.any():
            reasons[judge] = f"no comparison{pairs} that has gold"
        elif not len(measured := found[judge].with_confidence()):
            reasons[judge] = f"no confidence with any of their {noun} on gold"
        else:
            known[judge] = measured
    return known, reasons


def reliability_tab() -> None:
    drawn, gaps_drawn = st.columns([1, 1], gap="medium")
    # The diagram before all else: it follows the slider, the rest may come a moment later.
    every = of_each("reliability", (bins,), lambda known: reliability(known, bins=bins))
    diagrams = {name: every[name] for name in shown}
    marks = {key: mark for name, one in diagrams.items() for key, mark in bin_marks(name, one).items()}
    with drawn:
        fig = reliability_diagram(diagrams, styles=styles, theme=look, chosen=st.session_state.get("bin"))
        chosen = widgets.figure(fig, "bin", alt="Accuracy against stated confidence", marks=list(marks))
    with gaps_drawn:
        fig = forest(
            [Series(name="stated − right", marks=[gap_of(name) for name in shown])],
            styles=styles,
            x_title="mean confidence − share right",
            reference=0,
            theme=look,
            chosen=st.session_state.get("wrong"),
        )
        wrong_of = [name for name in shown if (outcomes[name].correct < outcomes[name].n).any()]
        alt = "Confidence beyond accuracy by judge"
        wrong = widgets.figure(fig, "wrong", alt=alt, marks=wrong_of, prompt="Wrong votes of")
        widgets.how_to_read(
            "**Diagram.** Each mark is a bin of stated confidence, larger with more verdicts. On the "
            "diagonal a judge is right as often as it says; in the shaded half below it is overconfident. "
            "The strip shows where its confidences lie. **Beside it**: mean confidence minus share right; "
            "right of the line is overconfident.\n\nBars are 95 % intervals that allow for votes of "
            "one item being alike. *By chance up to* is the ECE that a perfectly calibrated judge with these "
            "confidences would show (97.5 % of draws); an ECE below it is no evidence of miscalibration."
        )
    if chosen:
        widgets.votes_table(marks[chosen], name="bin")
    if wrong:
        widgets.votes_table(Mark(judge=wrong, correct=False, rule=rule), name="wrong")
    widgets.table(measures(), "calibration", alt="Calibration measures of each judge")
    if clipped := sum(results()[name].nll_clipped for name in shown):
        st.caption(
            f"NLL: {clipped:,} {noun} state 0 or 1 and count as if 10⁻¹² away from it, so that one certain "
            "error costs 27.6 and not infinity."
        )
    for reason in sorted(set(reasons.values())):
        names = ", ".join(name for name, why in reasons.items() if why == reason)
        widgets.not_applicable(f"{names}: {reason}.")
    widgets.copy_as_python(
        f"""from numpy.random import default_rng

from core.calibration import calibration, calibration_intervals, noise_floor
from core.overconfidence import confidence_gap

for judge, outcomes in queries.outcomes(store, selection, rule={rule!r}).items():
    known = outcomes.with_confidence()
    if len(known):
        print(judge, calibration(known, bins={bins}).ece)
        print(calibration_intervals(known, bins={bins}, rng=default_rng(0)).to_frame())
        print(noise_floor(known, bins={bins}, rng=default_rng(0)).to_frame())
        print(confidence_gap(known).to_frame())"""
    )


def bin_marks(name: str, diagram: Reliability, *, shown_as: str | None = None) -> dict[str, Mark]:
    """The votes of each bin that has some, by the key of its mark."""
    edges = zip(diagram.low.tolist(), diagram.high.tolist(), diagram.n.tolist(), strict=True)
    return {
        bin_key(shown_as or name, low, high): Mark(judge=name, confidence=(low, high), rule=rule)
        for low, high, n in edges
        if n
    }


def gap_of(name: str) -> Estimate:
    gap = gaps()[name]
    return Estimate(
        row=name,
        value=gap.gap,
        low=gap.gap_low,
        high=gap.gap_high,
        n=f"{gap.n:,} {noun}, {gap.items:,} items",
        key=name,
    )


def measures() -> pd.DataFrame:
    """One row a judge: each measure with its interval where it has one."""
    intervals = of_each(
        "calibration intervals",
        (bins,),
        lambda known: calibration_intervals(known, rng=seeded(), bins=bins),
    )
    floors = noise_floors()

    def row(name: str) -> dict[str, object]:
        one, floor, gap, ends = results()[name], floors[name], gaps()[name], intervals[name]
        columns: dict[str, object] = {
            "judge": name,
            "n": one.n,
            "accuracy": one.accuracy,
            "stated": one.mean_confidence,
            "gap": gap.gap,
            "gap low": gap.gap_low,
            "gap high": gap.gap_high,
            "ECE": one.ece,
            "ECE low": ends.ece[0],
            "ECE high": ends.ece[1],
            "by chance": floor.ece_mean,
            "by chance up to": max(floor.ece_high, floor.ece_high_clustered),
            "MCE": one.mce,
        }
        for measure in ("ace", "brier", "nll"):
            title = MEASURES[measure]
            low, high = getattr(ends, measure)
            columns |= {title: getattr(one, measure), f"{title} low": low, f"{title} high": high}
        return columns | {
            "NLL clipped": one.nll_clipped,
            "items": one.items,
            "accuracy low": one.accuracy_low,
            "accuracy high": one.accuracy_high,
            "without confidence": int(cached.outcomes(selection, rule=rule)[name].n.sum()) - one.n,
        }

    return pd.DataFrame([row(name) for name in shown])


def th_tab() -> None:
    drawn, told = st.columns([3, 2], gap="medium")
    scale: Scale = (
        told.segmented_control(
            "Scale", get_args(Scale), default="formula", required=True, key="scale", bind=URL
        )
        or "formula"
    )
    epsilon = round(told.slider("ε", 0.01, 0.49, 0.10, 0.01, key="epsilon", bind=URL), 2)
    if not on_th.open:
        return
    subject = subject_of_answer()
    sweeps = of_each("th sweep", (scale,), lambda known: th_sweep(known, scale=scale, rng=seeded()))
    scores = of_each("th score", (scale, epsilon), lambda known: th_score(known, epsilon, scale=scale))
    at = SWEEP_EPSILONS.index(epsilon)
    bands = {name: (float(sweeps[name].th_low[at]), float(sweeps[name].th_high[at])) for name in shown}
    told.text(sentences.near_certain(subject, scores[subject], bands[subject], noun=noun))
    marks = {}
    for name in shown:
        confidence = outcomes[name].confidence
        if (confidence > 1 - epsilon + JUST_BELOW).any():
            marks[cut_key(name, 1 - epsilon)] = Mark(judge=name, confidence=(1 - epsilon, 1), rule=rule)
        if (confidence < epsilon - JUST_BELOW).any():
            under = (0.0, epsilon - JUST_BELOW)
            marks[f"{name}: under {epsilon:g}"] = Mark(judge=name, confidence=under, rule=rule)
    with drawn:
        fig = th_figure(
            {name: sweeps[name] for name in shown},
            scores,
            epsilon,
            styles=styles,
            theme=look,
            chosen=st.session_state.get("sure"),
        )
        alt = "TH-Score, accuracy and share over ε"
        sure = widgets.figure(fig, "sure", alt=alt, marks=list(marks), prompt="Nearly certain votes of")
        widgets.how_to_read(
            "TH-Score asks what the votes are worth that a judge is nearly certain of: (exp(share right − ½) "
            "− 1) × their share in percent. Above 0 they are right more often than a coin; it grows with how "
            "often they are right and with how many they are. Bands and bars are 95 % intervals by item."
        )
    with told:
        st.caption(
            "The published tables of this score hold half of what its formula gives, in every row (accuracy "
            "1.00 on 37.4 % of votes: formula 24.26, printed 12.14). *formula* is the score as defined; "
            "*published* halves it, to compare with those tables."
        )
    if sure:
        widgets.votes_table(marks[sure], name="sure")
    frame = pd.DataFrame(
        {
            "judge": shown,
            "n": [scores[name].n for name in shown],
            "TH-Score": [scores[name].th for name in shown],
            "low": [bands[name][0] for name in shown],
            "high": [bands[name][1] for name in shown],
            "share": [scores[name].share for name in shown],
            "accuracy": [scores[name].accuracy for name in shown],
            "accuracy low": [scores[name].accuracy_low for name in shown],
            "accuracy high": [scores[name].accuracy_high for name in shown],
        }
    )
    widgets.table(frame, "th-score", alt="TH-Score of each judge at the chosen ε")
    widgets.copy_as_python(
        f"""from numpy.random import default_rng

from core.th_score import th_score, th_sweep

outcomes = queries.outcomes(store, selection, rule={rule!r})[{subject!r}]
found = th_score(outcomes, {epsilon}, scale={scale!r})
print(found.th, found.share, found.accuracy, found.accuracy_low, found.accuracy_high, found.n)
print(th_sweep(outcomes, scale={scale!r}, rng=default_rng(0)).to_frame())"""
    )


def threshold_tab() -> None:
    drawn, told = st.columns([3, 2], gap="medium")
    alpha = told.slider("Errors allowed, %", 0.5, 50.0, 10.0, 0.5, "%.1f", key="target", bind=URL) / 100
    sure = (
        told.segmented_control(
            "Certainty, %", ["80", "90", "95", "99"], default="90", required=True, key="certainty", bind=URL
        )
        or "90"
    )
    delta = (100 - int(sure)) / 100
    if not on_threshold.open:
        return
    subject = subject_of_answer()
    curves = of_each("risk", (), risk_coverage)
    found = of_each(
        "threshold", (alpha, delta), lambda known: threshold_for_risk(known, alpha=alpha, delta=delta)
    )
    told.text(sentences.selective(subject, curves[subject], found[subject], noun=noun))
    marks = {}
    for name in shown:
        one = found[name]
        cuts = one.cut.tolist() if len(shown) == 1 else [] if one.threshold is None else [one.threshold]
        for cut in cuts:
            marks[cut_key(name, cut)] = Mark(judge=name, confidence=(cut - JUST_BELOW, 1), rule=rule)
    with drawn:
        fig = risk_figure(
            {name: curves[name] for name in shown},
            found,
            styles=styles,
            theme=look,
            chosen=st.session_state.get("kept"),
        )
        alt = "Error rate against the share of votes kept"
        kept = widgets.figure(fig, "kept", alt=alt, marks=list(marks), prompt="Votes kept by")
        widgets.how_to_read(
            "From left to right ever less certain votes are kept; a useful confidence makes the curve rise, "
            "a useless one leaves it flat. Bands are 95 % intervals of the error rate. The filled mark is "
            "the lowest threshold that holds the target, its bar the bound that holds with the "
            "certainty asked for; hollow marks were tried and not passed (shown for a single judge).\n\nUp "
            "to 20 thresholds, fixed before looking at labels, are tested from the strictest on until "
            "one fails. Picking the best-looking one instead would break its promise far more often than "
            "it says. No threshold is a valid answer: then its confidence cannot deliver that error rate. "
            "The promise is for votes like these. *AURC* is the mean error rate over all shares kept; a "
            "confidence that says nothing has AURC equal to the overall error rate."
        )
    if kept:
        wrong = st.toggle("Only the wrong ones", key="kept_wrong", bind=URL)
        widgets.votes_table(replace(marks[kept], correct=False) if wrong else marks[kept], name="kept")
    widgets.table(
        pd.DataFrame(
            {
                "judge": shown,
                "n": [found[name].n for name in shown],
                "threshold": as_numbers(found[name].threshold for name in shown),
                "share kept": as_numbers(found[name].coverage for name in shown),
                "error rate": as_numbers(found[name].error_rate for name in shown),
                "at most": as_numbers(found[name].bound for name in shown),
                "all votes": [curves[name].error_rate for name in shown],
                "AURC": [curves[name].aurc for name in shown],
                "why": [found[name].note for name in shown],
            }
        ),
        "thresholds",
        alt="Threshold of each judge and what it costs",
    )
    widgets.copy_as_python(
        f"""from core.selective import risk_coverage, threshold_for_risk

outcomes = queries.outcomes(store, selection, rule={rule!r})[{subject!r}]
found = threshold_for_risk(outcomes, alpha={alpha!r}, delta={delta!r})
print(found.threshold, found.coverage, found.error_rate, found.bound, found.note)
print(risk_coverage(outcomes).aurc)"""
    )


def recalibration_tab() -> None:
    drawn, told = st.columns([1, 1], gap="medium")
    # Isotonic by default: maps of log odds do badly where 0 or 1 is stated often.
    method: Method = (
        told.segmented_control(
            "Map", get_args(Method), default="isotonic", required=True, key="map", bind=URL
        )
        or "isotonic"
    )
    if not on_recalibration.open:
        return
    subject = subject_of_answer()
    done: dict[str, Recalibrated] = {}
    refused: dict[str, str] = {}
    for name, one in of_each(
        "recalibration", (method, bins), lambda known: recalibrated(known, method)
    ).items():
        if isinstance(one, str):
            refused[name] = one
        else:
            done[name] = one
    if subject in done:
        found, before, after, floor = done[subject]
        told.text(sentences.recalibrated(subject, found, before, after, floor))
        marks = bin_marks(subject, found.before.reliability, shown_as="as stated")
        with drawn:
            fig = before_and_after(
                found, style=styles[subject], theme=look, chosen=st.session_state.get("stated")
            )
            alt = "Reliability before and after recalibration"
            stated = widgets.figure(fig, "stated", alt=alt, marks=list(marks))
        with told:
            widgets.table(
                before_after_frame(found, before, after), "recalibration", alt="Measures before and after"
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
        if stated:
            widgets.votes_table(marks[stated], name="stated")
    for name, reason in refused.items():
        if name in shown:
            widgets.not_applicable(f"{name}: {reason}")
    if len(shown) > 1 and done:
        st.caption("All judges")
        widgets.table(
            pd.DataFrame([summary_row(name, *done[name]) for name in shown if name in done]),
            "recalibrations",
            alt="ECE, Brier and NLL of each judge before and after",
        )
    widgets.copy_as_python(
        f"""from numpy.random import default_rng

from core.recalibration import recalibrate

outcomes = queries.outcomes(store, selection, rule={rule!r})[{subject!r}]
found = recalibrate(outcomes, method={method!r}, bins={bins}, rng=default_rng(0))
print(found.to_frame())"""
    )


def recalibrated(known: OutcomeCounts, method: Method) -> Recalibrated | str:
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


def before_after_frame(
    found: Recalibration, before: CalibrationIntervals, after: CalibrationIntervals
) -> pd.DataFrame:
    frame = found.to_frame().set_index("measure")
    ends = pd.concat(
        [
            one.to_frame().set_index("measure").add_prefix(f"{when} ")
            for when, one in (("before", before), ("after", after))
        ],
        axis=1,
    )
    names = ["before", "before low", "before high", "after", "after low", "after high", "change", "n"]
    return frame.join(ends)[names].rename(index=MEASURES).reset_index()


def summary_row(
    name: str,
    found: Recalibration,
    before: CalibrationIntervals,
    after: CalibrationIntervals,
    floor: NoiseFloor,
) -> dict[str, object]:
    return {
        "judge": name,
        "n": found.after.n,
        "ECE before": found.before.ece,
        "low": before.ece[0],
        "high": before.ece[1],
        "ECE after": found.after.ece,
        "low ": after.ece[0],
        "high ": after.ece[1],
        "by chance up to": max(floor.ece_high, floor.ece_high_clustered),
        "Brier before": found.before.brier,
        "Brier after": found.after.brier,
        "NLL before": found.before.nll,
        "NLL after": found.after.nll,
    }


def of_each(
    name: str, key: tuple[Hashable, ...], compute: Callable[[OutcomeCounts], Result]
) -> dict[str, Result]:
    """A result for each judge, computed once for each selection, rule and `key`."""
    return cached.computed(
        name,
        (selection, rule, *key),
        lambda: {judge: compute(known) for judge, known in outcomes.items()},
    )


def as_numbers(values: Iterable[float | None]) -> list[float]:
    """NaN where there is none, so that a column without any number is still one of numbers."""
    return [float("nan") if value is None else value for value in values]


def results() -> dict[str, Calibration]:
    return of_each("calibration", (bins,), lambda known: calibration(known, bins=bins))


def gaps() -> dict[str, ConfidenceGap | None]:
    return of_each("gap", (), confidence_gap)


def subject_of_answer() -> str:
    """The chosen judge, else the one with the largest ECE."""
    return judge or max(results(), key=lambda name: results()[name].ece)


def noise_floors() -> dict[str, NoiseFloor]:
    return of_each("noise floor", (bins,), lambda known: noise_floor(known, rng=seeded(), bins=bins))


def seeded() -> np.random.Generator:
    """The audit's seed."""
    return np.random.default_rng(0)


widgets.title("Calibration", "Is its confidence worth anything?")
selection, look = widgets.current_selection(), theme.current()
said, asked = st.container(), st.columns([3, 4, 4], gap="medium", vertical_alignment="bottom")
rule: CorrectnessRule = asked[0].segmented_control(
    "Right when",
    get_args(CorrectnessRule),
    default="single",
    required=True,
    key="rule",
    bind=URL,
    help="single: each vote counts alone. both_orders: a comparison is asked in both orders and right only "
    "if the two verdicts together point to gold; confidence is their mean.",
)
rule = rule or "single"  # an empty value in the URL is none
noun = NOUNS[rule]
outcomes, reasons = cached.computed("with confidence", (selection, rule), with_confidence)
if not outcomes:
    raise NoUsableVotes(NEEDS)
judge = asked[1].selectbox(
    "Judge",
    list(outcomes),
    index=None,
    key="judge",
    bind=URL,
    placeholder=f"all {len(outcomes)}, overlaid" if len(outcomes) > 1 else "the only one",
)
bins = asked[2].slider("Bins", 2, 20, 10, key="bins", bind=URL)
styles = cached.styles(widgets.current_dataset(), look)
shown = [judge] if judge else list(outcomes)
tabs = st.tabs(TABS, key="view", bind=URL)
on_reliability, on_th, on_threshold, on_recalibration = tabs
with on_reliability:
    if on_reliability.open:
        reliability_tab()
with on_th:
    th_tab()
with on_threshold:
    threshold_tab()
with on_recalibration:
    recalibration_tab()
subject = subject_of_answer()
verdict = sentences.confidence(
    subject, results()[subject], noise_floors()[subject], gaps()[subject], of=len(shown)
)
with said:
    widgets.answer(f"{subject}: {verdict.sentence}", "finding" if verdict.verdict == "ok" else "warning")
