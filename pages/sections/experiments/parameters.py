"""The parameters of BTD by category and judge, with the regime that each shows."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.experiments.comparison import parameter_grid
from core.interpretation.experiments import parameters_answer
from core.plots.experiments import MOST_GROUPS, parameters_figure
from core.records import VoteCounts
from pages.sections.experiments.controls import PageState
from pages.shared import cached, widgets

SHOWN = 10
"""Up to so many groups fit beside each other; of more the chosen judge's are drawn."""

COLUMNS = {
    "task": "category",
    "judge": "judge",
    "n": "n",
    "regime": "correction towards ties",
    "nu_mean": "mean ν",
    "nu_q1": "ν Q1",
    "nu_q3": "ν Q3",
    "beta_mean": "mean β",
    "beta_q1": "β Q1",
    "beta_q3": "β Q3",
    "gamma_mean": "mean γ",
    "gamma_q1": "γ Q1",
    "gamma_q3": "γ Q3",
    "calibration": "calibrated on",
}


def parameters_tab(state: PageState) -> None:
    """β, ν, γ of every category and judge of the selection."""
    by_category = cached.vote_counts_by(state.selection, "category")
    groups: dict[tuple[str, str], VoteCounts] = {
        (category, judge): counts
        for category, judges in by_category.items()
        for judge, counts in judges.items()
    } or {("", judge): counts for judge, counts in state.counts.items()}
    found = cached.computed(
        "parameters",
        (state.selection,),
        lambda: parameter_grid(groups, rng=np.random.default_rng(0)),
    )
    widgets.answer(parameters_answer(found), part="parameters")
    if found.tables:
        everything = len(found.tables) <= SHOWN or st.toggle(
            f"Draw all {len(found.tables)} groups", key="all_groups", bind=widgets.URL
        )
        drawn = [key for key in found.tables if everything or key[1] == state.judge][:MOST_GROUPS]
        fig = parameters_figure(found, groups=drawn, styles=state.styles, theme=state.look)
        widgets.figure(fig, "nu", alt="ν by category and judge")
        if len(drawn) < len(found.tables):
            whose = f"The first {MOST_GROUPS}" if everything else f"Those of {state.judge}"
            st.text(f"{whose}; the table has all {len(found.tables)} groups.")
        widgets.how_to_read(
            "ν is the odds of a gold tie against a win of one side where every vote is a tie; β weighs the "
            "margin of the votes, γ the share of tie votes. Bars go from the first to the third quartile "
            f"over {found.n_splits} random calibration sets of 5 % of the items; the mark is their geometric "
            "middle, as the mean of so skewed a number can lie outside them. Correction towards ties is "
            "high if Q1 of ν is 100 or more, low if Q3 is 10 or less (dotted lines), else mismatched: the "
            "labels do not settle it."
        )
        frame = found.to_frame()[list(COLUMNS)].rename(columns=COLUMNS)
        whole = frame["calibrated on"].round()
        if np.allclose(whole, frame["calibrated on"]):
            frame["calibrated on"] = whole.astype(int)
        widgets.table(frame, "parameters-grid", alt="BTD parameters of every category and judge")
    widgets.left_out(
        {
            f"{category}, {judge}" if category else judge: reason
            for (category, judge), reason in found.not_possible.items()
        }
    )
    make = "{(task, judge): one for task, judges in by_value.items() for judge, one in judges.items()}"
    widgets.copy_as_python(
        f"""by_value = queries.vote_counts_by(store, selection, "category")
groups = {make}
groups = groups or {{("", judge): one for judge, one in queries.vote_counts(store, selection).items()}}
print(parameter_grid(groups, rng=default_rng(0)).to_frame().to_string())"""
    )
