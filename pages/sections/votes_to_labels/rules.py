"""Every rule on the same splits, and the page's answer."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd
import streamlit as st

from core.auditing.options import AuditOptions
from core.options import default_of
from core.questions.labels.evaluation import Evaluation, evaluate
from core.questions.labels.figure import errors_figure
from core.questions.labels.rules import RULES, given_labels, rule_labels
from core.questions.labels.words import labels_answer, recommend
from core.records import IntArray
from pages.sections.votes_to_labels.controls import GREEK, PageState
from pages.sections.votes_to_labels.labels import decisions_section, labels_sections
from pages.shared import cached, cards, numbers, widgets
from pages.shared.parts import rests

SPLITS: int = default_of(AuditOptions, "splits")
# Seconds without a new slider step after which the resampling starts.
QUIET = 0.3
COLUMNS = {
    "name": "rule",
    "n": "n",
    "mae": "MAE",
    "mae_item_low": "low",
    "mae_item_high": "high",
    "mae_low": "split low",
    "mae_high": "split high",
    "pa": "PA",
    "pa_item_low": "PA low",
    "pa_item_high": "PA high",
    "pa_low": "PA split low",
    "pa_high": "PA split high",
    "regret": "regret",
    "top_cluster": "top cluster",
    "p_value": "p",
}


def rules_tab(state: PageState) -> None:
    """What votes become, which rule errs least, and the labels to take away."""
    decisions_section(state)
    compared = st.container()
    labels_sections(state)
    with compared:
        _rules(state)


def _given(state: PageState) -> tuple[dict[str, IntArray], dict[str, str]]:
    return cached.computed(
        "given labels",
        (state.selection, state.judge),
        lambda: given_labels(
            state.labelled,
            cached.weighed_votes(state.selection)[state.judge],
            judge=state.judge,
            judges=state.of_judge,
        ),
    )


RESAMPLES = 10_000
"""Resamples of the items for the intervals of the rules' errors."""


def _key(state: PageState, share: float, seed: int, resamples: int) -> tuple[Hashable, ...]:
    return (*state.key, share, seed, resamples)


def _evaluated(state: PageState, share: float, seed: int, resamples: int) -> Evaluation:
    """The rules on the same splits; with resamples only once the sliders rest."""
    return cached.computed(
        "aggregation",
        _key(state, share, seed, resamples),
        lambda: evaluate(
            state.labelled,
            state.options,
            rng=np.random.default_rng(seed),
            n_splits=SPLITS,
            given=_given(state)[0],
            share=share,
            resamples=resamples,
        ),
    )


@st.fragment
def _rules(state: PageState) -> None:
    st.subheader("Which rule errs least", anchor=False)
    controls = st.container(horizontal=True)
    share = widgets.share_slider(controls, "share", "stretch")
    seed = controls.number_input("Seed", 0, 2**31 - 1, 0, key="seed", bind=widgets.URL, width=140)
    said, shown = state.answer.empty(), st.empty()
    with widgets.errors():
        there = cached.is_computed("aggregation", _key(state, share, seed, RESAMPLES))
        for resamples in (RESAMPLES,) if there else (0, RESAMPLES):
            if resamples and not there and not rests(QUIET):
                break
            found = _evaluated(state, share, seed, resamples)
            verdict = recommend(state.judge, found, most_votes=int(state.cells.n.max()))
            with said.container():
                widgets.answer(labels_answer(state.judge, found), part=f"-{resamples}")
            with shown.container():
                _table(state, found, done=bool(resamples))
                if resamples:
                    widgets.in_full(f"{state.judge}: {verdict.sentence}")
        widgets.copy_as_python(
            f"""judges = queries.vote_counts(store, selection)
labelled = judges[{state.judge!r}].labelled()
votes = queries.weighed_votes(store, selection)[{state.judge!r}]
given, reasons = given_labels(labelled, votes, judge={state.judge!r}, judges=judges)
options = {state.options!r}
print(fit_btd(labelled.cells()[0], options).to_frame())
found = evaluate(
    labelled, options, rng=default_rng({seed}), n_splits={SPLITS}, share={share}, given=given
)
for score in found.scores.values():
    print(score.name, score.mae, score.mae_item_low, score.mae_item_high, score.top_cluster)"""
        )


def rules_frame(found: Evaluation) -> pd.DataFrame:
    """One row per rule, for COLUMNS."""
    return found.to_frame().assign(n=found.n).astype({"p_value": float})


def _table(state: PageState, found: Evaluation, *, done: bool) -> None:
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        wrong = _errors(state, found, done=done)
    if not done:
        return
    with measured:
        _parameters(state, found)
    numbers.table(rules_frame(found), "rules", alt="Error of each rule", heads=COLUMNS)
    if wrong:
        given = _given(state)[0]
        labels = (
            given[wrong] if wrong in given else rule_labels(wrong, state.labelled, state.fitted)
        )
        if labels is not None:
            st.caption("Labels of the rule calibrated on every label.")
            cards.votes_behind(
                state.votes_behind(labels != state.labelled.gold, state.labelled), name="wrong"
            )


def _errors(state: PageState, found: Evaluation, *, done: bool) -> str | None:
    """The figure, and the key of the rule that was chosen in it."""
    fig = errors_figure(found, theme=state.look, chosen=widgets.in_url("wrong"))
    if not done:
        widgets.figure(fig, "wrong-first", alt="MAE of each rule")
        return None
    keys = {score.name: score.key for score in found.scores.values() if score.key != "random"}
    wrong = widgets.figure(
        fig, "wrong", alt="MAE of each rule", marks=keys, prompt="Comparisons labelled wrongly by"
    )
    widgets.how_to_read(
        "Error (MAE) is the mean distance between a label and gold: 1 for a mistaken tie, 2 for "
        "the opposite. *Majority* takes the commonest vote. *Threshold* calls a tie unless the "
        "mean vote is large enough; *BTD* turns votes into probabilities of A, tie and B. Both "
        "learn from the calibration set, as *constant*, always one label, does. *Soft-SC* and "
        "*CI-SC* weigh votes by confidence. Hollow marks use no vote.\n\nWide bars are sampling "
        f"error (by item). Narrow bars are how far the mean over {found.n_splits} random "
        "calibration sets varies; those overlap, so that is split variability, not sampling error. "
        "*Top cluster*: not significantly different from the best by sign flips of the difference "
        "by item (p > .05; tested down to the first that differs), which leaves out the luck of "
        "the calibration draw. *Regret*: MAE above that of BTD fitted on every label. *PA*: share "
        "of labels equal to gold."
    )
    return wrong


def _parameters(state: PageState, found: Evaluation) -> None:
    """Parameters of BTD, and the rules that cannot be used here."""
    fitted = state.fitted
    parameters = found.parameters.to_frame() if found.parameters else pd.DataFrame()
    parameters["parameter"] = parameters["parameter"].map(GREEK)
    parameters.insert(1, "all labels", [fitted.beta, fitted.nu, fitted.gamma])
    parameters["n"] = fitted.n_items
    parameters["on its bound"] = ["yes" if name in fitted.at_bounds else "no" for name in GREEK]
    names = {"mean": "mean of splits", "q1": "Q1", "q3": "Q3"}
    st.text(f"BTD's correction towards ties: {found.parameters.regime if found.parameters else ''}")
    numbers.table(parameters.rename(columns=names), "parameters", alt="Parameters of BTD")
    reasons = _given(state)[1]
    for key, reason in found.not_applicable.items():
        st.text(f"{RULES[key].name}: not applicable, {reasons.get(key, reason)}.")
