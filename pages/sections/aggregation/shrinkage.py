"""With few labels: priors from other tasks, other judges or none, and what they change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.aggregation.btd import PARAMETERS, BTDFit, fit
from core.aggregation.evaluation import ShrinkageGain
from core.aggregation.rules import label_table
from core.aggregation.shrinkage import CandidatePrior, Prior, shrunken_fit
from core.errors import AppellateError
from core.interpretation.aggregation import bound, helps, shrinkage_answer, some, weighed
from core.plots.aggregation import errors_figure, prior_weights_figure, priors_figure, strength_name
from core.records import FloatArray, VoteCounts
from core.schema import Selection
from core.store.vote_queries import comparison_names
from pages.sections.aggregation.controls import GREEK, PageState
from pages.sections.aggregation.rules import COLUMNS
from pages.sections.aggregation.shrinkage_task import (
    Task,
    all_priors,
    code_of,
    gain_of,
    gain_of_few,
    read_task,
)
from pages.shared import cached, theme, widgets

CHANGES = {
    "key": "rule",
    "beside": "beside",
    "calibration": "to calibrate on",
    "mae": "MAE change",
    "mae_low": "low",
    "mae_high": "high",
    "pa": "PA change",
    "pa_low": "PA low",
    "pa_high": "PA high",
    "n": "n",
}


def shrinkage_tab(state: PageState) -> None:
    """What a prior changes for the judge, in words first; the other priors; the labels."""
    task = read_task(state)
    found = cached.computed("priors", task.key, lambda: all_priors(task))
    at_hand = {one.name: one for one in found.values() if one.prior is not None}
    name = state.controls.selectbox("Lean on", list(at_hand), key="lean_on", bind=widgets.URL, width=280)
    prior = at_hand[name]
    gain, few = gain_of(task, prior, task.share), gain_of_few(task, prior)
    with state.answer.container():
        better = helps(gain) or (few is not None and helps(few))
        sentence = shrinkage_answer(state.judge, prior, gain, few)
        widgets.answer(sentence, "finding" if better else "warning", part="-shrinkage")
    own, shrunken = cached.computed("shrunken fit", (*task.key, prior.kind), lambda: _both(task, prior))
    drawn, compared = st.columns([3, 2], gap="medium")
    with drawn:
        st.caption("Error of each rule on the same splits")
        fig = errors_figure(gain.evaluation, theme=state.look)
        widgets.figure(fig, "shrinkage-errors", alt="MAE of four rules")
    widgets.how_to_read(
        "Left: error (MAE) is the mean distance between a label and gold; wide bars are sampling error "
        "(by item), narrow bars how far the mean varies over random calibration sets. Right: error "
        "of shrunken BTD minus that of BTD on the same splits, with its interval by item; left of "
        "the line leaning helps. Filled: calibrated on the chosen share of the items, hollow: on 20 "
        "comparisons, or what whole items make of 20. A prior from other tasks has seen all labels there, "
        "and none of an item of this task; one from other judges sees the calibration comparisons of each "
        "split and no others, so nothing leaks. A click on a row leans on it."
    )
    st.text(bound(few or gain, state.options.bounds, own))
    _numbers(gain, few)
    for other in found.values():
        if other.reason:
            st.text(f"Not available, {other.name}: {other.reason}.")
        if other.left_out:
            left = [f"{donor} {reason}" for donor, reason in other.left_out.items()]
            st.text(f"Left out of {other.name}: {some(left)}.")
    st.subheader("The fits", anchor=False)
    _fits(prior, gain, own, shrunken)
    st.subheader("Apply and download", anchor=False)
    counts = task.counts
    st.text(
        f"Labels of all {len(counts):,} comparisons that {state.judge} judged in this task, by majority and "
        f"by shrunken BTD, which leans on {prior.name} and uses all {shrunken.n_items:,} labels."
    )
    widgets.downloads(lambda: labels_frame(counts, shrunken, task.selection), "shrunken-labels")
    widgets.copy_as_python(code_of(task, prior))
    # The slowest comes last, when all about the chosen prior is there to read.
    with compared:
        st.caption("What each prior changes beside BTD's own fit")
        _compared(task, at_hand, name)


def _compared(task: Task, at_hand: dict[str, CandidatePrior], chosen: str) -> None:
    """Every prior at both sizes, one click from being chosen."""
    sizes: dict[str, dict[str, ShrinkageGain]] = {}
    for name, prior in at_hand.items():
        for gain in (gain_of(task, prior, task.share), gain_of_few(task, prior)):
            if gain is not None:
                size = f"{gain.evaluation.calibration:.0f} labels"
                sizes.setdefault(size, {})[name] = gain
    fig = priors_figure(sizes, theme=task.state.look, chosen=chosen)
    widgets.figure(
        fig, "shrinkage-priors", alt="Change of error by each prior", marks=list(at_hand), into="lean_on"
    )


def _numbers(gain: ShrinkageGain, few: ShrinkageGain | None) -> None:
    both = [one for one in (gain, few) if one is not None]
    rules = []
    for one in both:
        frame = one.evaluation.to_frame().assign(n=one.evaluation.n)[list(COLUMNS)].rename(columns=COLUMNS)
        frame.insert(1, "to calibrate on", round(one.evaluation.calibration))
        rules.append(frame)
    shown = pd.concat(rules, ignore_index=True).astype({"p": float})
    widgets.table(shown, "shrinkage-rules", alt="Error of four rules")
    names = {score.key: score.name for score in gain.evaluation.scores.values()}
    changes = pd.concat([one.to_frame() for one in both], ignore_index=True)
    changes = changes.replace({"key": names, "beside": names})
    changes["calibration"] = changes["calibration"].round().astype(int)
    st.caption("Paired differences, with intervals by item")
    widgets.table(
        changes[list(CHANGES)].rename(columns=CHANGES),
        "shrinkage-changes",
        alt="What shrinking changes beside other rules",
    )


def _fits(prior: CandidatePrior, gain: ShrinkageGain, own: BTDFit | None, shrunken: BTDFit) -> None:
    """θ of the own fit, the prior and the shrunken fit, and how the prior was weighed."""
    fits, whole = gain.evaluation.shrunken, prior.whole
    assert fits is not None  # a gain has always compared it
    assert whole is not None  # only available priors are used
    donors = f", the mean of {len(prior.donors)} fits ({some(prior.donors)})" if prior.donors else ""
    st.text(f"The prior: {prior.name}{donors}.")
    widgets.table(_theta(gain, own, whole, shrunken), "shrinkage-theta", alt="Parameters of each fit")
    for note in shrunken.notes[1:]:
        st.text(f"On all {shrunken.n_items:,} labels: {note}")
    st.text(weighed(gain))
    if len(fits.strengths) > 1:
        drawn, measured = st.columns([3, 2], gap="medium")
        with drawn:
            fig = prior_weights_figure(fits, theme=theme.current())
            widgets.figure(fig, "shrinkage-weights", alt="Weight of each λ")
        with measured:
            frame = pd.DataFrame(
                {
                    "λ": [strength_name(one) for one in fits.strengths.tolist()],
                    "weight": fits.weight.mean(axis=0),
                    "held-out DRPS": np.nanmean(fits.held_out, axis=0),
                    "calibration sets": len(fits.weight),
                }
            )
            widgets.table(frame, "shrinkage-weighed", alt="Weight and held-out error of each λ")
    widgets.how_to_read(
        "β weighs the margin of the votes, ν pulls towards ties, γ weighs the share of tie votes. *Few "
        "labels*: medians over the random calibration sets of the chosen share; *all labels*: one fit on "
        "every label of the task, as in the labels to download; the prior shown is the one of that fit. "
        "λ is how stiffly a fit is held to the prior: 0 is the own fit, ∞ the prior itself. Each calibration "
        "set is cut into five parts by item; each λ is weighed by its error (DRPS) on the part left out, and "
        "the fits are averaged by weight. Bars run from the first to the third quartile over the sets."
    )


def _both(task: Task, prior: CandidatePrior) -> tuple[BTDFit | None, BTDFit]:
    """Own and shrunken fit on every label; the own one may not exist."""
    assert prior.whole is not None  # only available priors are used
    shrunken = shrunken_fit(task.counts, prior.whole, options=task.options, rng=np.random.default_rng(0))
    try:
        return fit(task.counts.labelled().cells()[0], task.options), shrunken
    except AppellateError:
        return None, shrunken


def _theta(gain: ShrinkageGain, own: BTDFit | None, whole: Prior, shrunken: BTDFit) -> pd.DataFrame:
    """β, ν, γ; medians over the splits, as a mean of ν says little when some end on the bound."""
    fits = gain.evaluation.shrunken
    assert fits is not None  # a gain has always compared it

    def natural(theta: FloatArray) -> list[float]:
        return [float(theta[0]), float(np.exp(theta[1])), float(theta[2])]

    return pd.DataFrame(
        {
            "parameter": [GREEK[name] for name in PARAMETERS],
            "own, few labels": natural(np.median(gain.evaluation.theta, axis=0)),
            "prior θ₀": natural(whole.theta0),
            "shrunken, few labels": natural(np.median(fits.theta, axis=0)),
            "own, all labels": [np.nan] * 3 if own is None else [own.beta, own.nu, own.gamma],
            "shrunken, all labels": [shrunken.beta, shrunken.nu, shrunken.gamma],
            "n": shrunken.n_items,
        }
    )


def labels_frame(counts: VoteCounts, fitted: BTDFit, selection: Selection) -> pd.DataFrame:
    """Majority and shrunken label of each comparison, by name; codes are those of the selection."""
    names = comparison_names(cached.get_store(), selection).to_pandas().iloc[counts.comparison]
    frame = label_table(counts, fitted).to_frame().drop(columns="comparison")
    frame = frame.rename(columns={"calibrated": "shrunken"})
    named: pd.DataFrame = pd.concat([names.reset_index(drop=True), frame], axis=1)
    return named
