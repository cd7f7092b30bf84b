"""What its confidence is worth, and what it may decide alone."""

from __future__ import annotations

import streamlit as st

from core.finding.tables import frame
from core.questions.confidence import figure as confidence_plots
from core.questions.confidence.alone import BROKEN, ERRORS, threshold_for_risk
from core.questions.confidence.selective import risk_coverage
from core.questions.confidence.th_scores import th_sweep
from core.questions.confidence.words import near_certain
from core.questions.scores.words import ALONE as COLUMNS
from core.questions.scores.words import SURE_BY, alone_sentences
from core.records import OutcomeCounts
from pages.sections.scores.controls import PageState
from pages.shared import numbers, widgets


def alone_tab(state: PageState) -> None:
    """The threshold with its promise, then the reliability diagram and TH-Score."""
    st.subheader("What it may decide alone", anchor=False)
    error = widgets.choice(
        "Errors allowed",
        [f"{error:.0%}" for error in ERRORS],
        default=f"{state.options.error:.0%}",
        key="error",
        help="At most so many of what it decides alone are wrong, by these people, with 95 % "
        "certainty.",
    )
    allowed = float(error.rstrip("%")) / 100
    alone = state.shown.alone
    for sentence in alone_sentences(alone, allowed):
        st.text(sentence)
    if alone.shares:
        numbers.table(
            frame(COLUMNS, alone.shares), "alone", alt="What it may decide alone, by errors allowed"
        )
    outcomes = state.shown.evidence.outcomes
    if outcomes is None:
        widgets.not_applicable("nothing says how sure it is of an answer with a label.")
        return
    _curve(state, outcomes, allowed)
    _confidence(state)


def _curve(state: PageState, outcomes: OutcomeCounts, allowed: float) -> None:
    judge = state.shown.judge
    fig = confidence_plots.risk_figure(
        {judge: risk_coverage(outcomes)},
        {judge: threshold_for_risk(outcomes, alpha=allowed, delta=BROKEN)},
        styles=state.styles,
        theme=state.look,
    )
    fig.update_xaxes(title_text="share of labelled answers decided, the surest first")
    fig.update_yaxes(title_text="wrong among those decided")
    widgets.figure(fig, "alone-curve", alt="Error rate against the share of answers decided alone")
    widgets.how_to_read(
        "From left to right it decides ever less sure answers. Sureness is "
        f"{SURE_BY[state.shown.alone.by or 'stated']}. Every sureness is a threshold to test, from "
        "the strictest that can bear an error on until one fails; then all answers together. The "
        "filled mark is the lowest threshold that holds the promise. What is below it goes to a "
        "person."
    )


def _confidence(state: PageState) -> None:
    evidence, judge = state.shown.evidence, state.shown.judge
    if evidence.calibration is None or evidence.stated is None:
        widgets.not_applicable("it states no confidence, so no reliability diagram can be drawn.")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Is it right as often as it says", anchor=False)
        fig = confidence_plots.reliability_diagram(
            {judge: evidence.calibration.reliability}, styles=state.styles, theme=state.look
        )
        widgets.figure(fig, "scores-reliability", alt="Share right against stated confidence")
        for result in state.shown.checks:
            if result.check in (
                "score_calibration",
                "score_overconfidence",
                "score_discrimination",
            ):
                st.text(result.sentence)
    with right:
        st.subheader("Where it is nearly certain", anchor=False)
        middle = evidence.th[len(evidence.th) // 2]
        fig = confidence_plots.th_figure(
            {judge: th_sweep(evidence.stated)},
            {judge: middle},
            middle.epsilon,
            styles=state.styles,
            theme=state.look,
        )
        widgets.figure(fig, "scores-th", alt="TH-Score, share right and share by ε")
        st.text(near_certain(judge, middle, noun="answers"))
