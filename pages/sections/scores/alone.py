"""What its confidence is worth, and what it may decide alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from core.auditing.options import AuditOptions
from core.finding.tables import frame
from core.labelling.disagreements import disagreements, second_looks, to_people
from core.questions.confidence import figure as confidence_plots
from core.questions.confidence.alone import BROKEN, ERRORS, threshold_for_risk
from core.questions.confidence.results import CALIBRATION, TH
from core.questions.confidence.selective import risk_coverage
from core.questions.confidence.th_scores import th_sweep
from core.questions.confidence.words import ALONE as COLUMNS
from core.questions.confidence.words import near_certain
from core.questions.scores.audited import ScoreAudit
from core.questions.scores.words import SURE_BY, alone_sentences, second_look_sentences
from core.records import OutcomeCounts
from core.schema import Selection
from pages.sections.scores.controls import PageState
from pages.shared import cached, numbers, widgets


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
    _lists(state, allowed)
    outcomes = state.shown.evidence.outcomes
    if outcomes is None:
        widgets.not_applicable("nothing says how sure it is of an answer with a label.")
        return
    _curve(state, outcomes, allowed)
    _confidence(state)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _OfPage:
    """The judges of the page, as lists of answers take them."""

    scores: tuple[ScoreAudit, ...]
    selection: Selection
    options: AuditOptions


def _lists(state: PageState, allowed: float) -> None:
    """What goes to a person, and the disagreements, out and back."""
    store, selection = cached.where(state.selection)
    of = _OfPage(
        scores=state.audits, selection=selection, options=replace(state.options, error=allowed)
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.text("What goes to a person: all that it may not decide alone, and some of the rest.")
        with st.container(horizontal=True):
            numbers.download_buttons(lambda: to_people(store, of), "to-people")
    with right:
        st.text("Answers on which judge and people differ, to say in each who is right.")
        with st.container(horizontal=True):
            numbers.download_buttons(lambda: disagreements(store, of), "disagreements")
        filled = st.file_uploader("Disagreements, filled in", type="csv", key="second-look")
    if filled is not None:
        for look in second_looks(of, store, (filled.name, filled.getvalue())):
            if (look.judge, look.metric) == (state.shown.judge, state.shown.metric):
                for sentence in second_look_sentences(look):
                    st.text(sentence)


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
    measured = evidence[CALIBRATION]
    if measured is None or evidence.stated is None:
        widgets.not_applicable("it states no confidence, so no reliability diagram can be drawn.")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Is it right as often as it says", anchor=False)
        fig = confidence_plots.reliability_diagram(
            {judge: measured.reliability}, styles=state.styles, theme=state.look
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
        middle = evidence[TH][len(evidence[TH]) // 2]
        fig = confidence_plots.th_figure(
            {judge: th_sweep(evidence.stated)},
            {judge: middle},
            middle.epsilon,
            styles=state.styles,
            theme=state.look,
        )
        widgets.figure(fig, "scores-th", alt="TH-Score, share right and share by ε")
        st.text(near_certain(judge, middle, noun="answers"))
