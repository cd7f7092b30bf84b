"""Pass or fail: rates, the cut by the price of its errors, the true pass rate, two versions."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.finding.check import Unknown
from core.questions.scores import figure as plots
from core.questions.scores import words as sentences
from core.questions.scores.levels import pass_counts
from core.records import BoolArray
from pages.sections.scores.answers import answers_behind
from pages.sections.scores.controls import PageState
from pages.shared import cached, widgets

PRICES = {
    "1 : 10": 0.1,
    "1 : 5": 0.2,
    "1 : 3": 1 / 3,
    "1 : 2": 0.5,
    "1 : 1": 1.0,
    "2 : 1": 2.0,
    "3 : 1": 3.0,
    "5 : 1": 5.0,
    "10 : 1": 10.0,
}
"""What passing a bad answer costs against failing a good one."""


def passing_tab(state: PageState) -> None:
    """Confusion and rates of the judge's own pass and fail, then the cut that costs least."""
    evidence = state.shown.evidence
    if evidence.table.people_passing is None:
        widgets.not_applicable(
            "the scores do not say which answers people pass. Choose from which score one passes, "
            "above."
        )
        return
    counts = pass_counts(evidence.table)
    left, right = st.columns(2, gap="medium")
    cell = rate = None
    if counts.counts.any():
        keys = {
            plots.level_key(counts.people[row], counts.judge[column]): (counts.person_level == row)
            & (counts.judge_level == column)
            for row, column in zip(*np.nonzero(counts.counts), strict=True)
        }
        with left:
            st.subheader("People's pass and fail, and its own", anchor=False)
            fig = plots.levels_figure(counts, theme=state.look, chosen=widgets.in_url("passed"))
            cell = widgets.figure(
                fig,
                "passed",
                alt="Answers by people's pass or fail and the judge's",
                marks=keys,
                prompt="Answers in cell",
            )
        with right:
            st.subheader("Of each class", anchor=False)
            wrong: dict[str, BoolArray] = {
                key: (counts.person_level == side) & (counts.judge_level == 1 - side)
                for key, side in zip(plots.RATES, (1, 0), strict=True)
            }
            fig = plots.rates_figure(
                evidence.passing, theme=state.look, chosen=widgets.in_url("rate")
            )
            rate = widgets.figure(
                fig,
                "rate",
                alt="Share of what people passed that it passes, and of what they failed that it "
                "fails",
                marks=wrong,
                prompt="Where it errs",
            )
            st.caption("The dotted line is 90 %, what teams want of both.")
    answers_behind(state, cell, name="passed")
    answers_behind(state, rate, name="rate")
    _cut(state)


def _cut(state: PageState) -> None:
    """The price of both errors moves the cut, what it costs and what it does."""
    st.subheader("The cut that costs least", anchor=False)
    evidence = state.shown.evidence
    start = min(PRICES, key=lambda name: abs(PRICES[name] - state.options.wrong_pass))
    price = st.select_slider(
        "A wrong pass against a wrong fail",
        list(PRICES),
        start,
        key="price",
        bind=widgets.URL,
        help="How much worse it is to pass an answer that people fail than to fail one that they "
        "pass.",
    )
    found = cached.computed(
        "cut",
        (state.selection, state.options, state.shown.whose, price),
        lambda: evidence.cut_at(PRICES[price]),
    )
    if isinstance(found, Unknown):
        widgets.not_applicable(found.reason)
        return
    with st.container(key="cut"):
        widgets.answer(sentences.cut_answer(found), part="-cut")
    truth = evidence.table.people_verdict
    wrong = dict(
        zip(
            plots.COSTS,
            ((found.passed == 1 - truth) & (truth >= 0), truth == 0, truth == 1),
            strict=True,
        )
    )
    fig = plots.cost_figure(found, theme=state.look, chosen=widgets.in_url("cost"))
    behind = widgets.figure(
        fig,
        "cost",
        alt="Cost of the cut on held-out answers, beside passing and failing everything",
        marks={key: rows for key, rows in wrong.items() if rows.any()},
        prompt="Errors of",
    )
    widgets.how_to_read(
        "Every score is tried as a cut, and the one with the cheapest errors taken. What it costs "
        "is measured in ten folds, each judged by the cut that the other nine choose: on the "
        "answers that chose it a cut looks better than it is. The interval is by item, widened by "
        "1.3 as the folds choose nearly alike."
    )
    answers_behind(state, behind, name="cost")


def true_rate_tab(state: PageState) -> None:
    """How many answers pass by people's standard, and how two versions differ."""
    evidence = state.shown.evidence
    st.subheader("How many answers pass", anchor=False)
    rates = evidence.pass_rate
    by_cut = rates.judge is None
    if by_cut and evidence.cut_pass_rate is not None:
        rates = evidence.cut_pass_rate
    if rates.judge is None and rates.labels is None:
        widgets.not_applicable(f"{rates.reason}.")
    else:
        widgets.answer(sentences.true_rate_answer(rates), part="-rate")
        fig = plots.pass_rate_figure(rates, theme=state.look)
        alt = "Share of answers that pass: as the judge says, by labels, corrected"
        widgets.figure(fig, "pass-rate", alt=alt)
        if by_cut:
            st.caption("The judge passes by the cut that other answers chose.")
        st.caption(sentences.AS_RANDOM)
    _versions(state)


def _versions(state: PageState) -> None:
    st.subheader("Two versions", anchor=False)
    models = state.shown.evidence.scores.models
    if len(models) < 2:
        widgets.not_applicable(
            "it needs answers of two models or versions to the same items (column model)."
        )
        return
    left, right = st.columns(2)
    a = widgets.select("A", models, start=models[0], key="a", place=left)
    others = [name for name in models if name != a]
    b = widgets.select("B", others, start=others[0], key="b", place=right)
    found = cached.computed(
        "versions",
        (state.selection, state.options, state.shown.whose, a, b),
        lambda: state.shown.evidence.compared(a, b),
    )
    if not found.n:
        widgets.not_applicable("no item has answers of both.")
        return
    widgets.answer(sentences.versions_answer(a, b, found), part="-versions")
    widgets.figure(
        plots.versions_figure(found, theme=state.look),
        "versions",
        alt="Difference of two versions by labels and judge, by labels alone, and by the judge",
    )
    widgets.how_to_read(
        "A judge's own difference mixes the versions with its taste: one that favours B calls "
        "equal versions different nearly always. PPI++ takes people's labels for the level and the "
        "judge's scores of all answers only as far as they go with people's, from 30 labelled "
        "pairs on."
    )
