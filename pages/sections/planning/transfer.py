"""BTD's parameters by task: do labels of one calibrate another, and could that be known
beforehand?
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from core.errors import NoUsableVotes
from core.questions.labels.btd import PARAMETERS, decision_map
from core.questions.labels.figure import MOST_VOTES
from core.questions.planning import figure as plots
from core.questions.planning.comparison import parameter_grid
from core.questions.planning.parameter_transfer import (
    Transfer,
    task_distances,
    transfer,
    transfer_prediction,
)
from core.questions.planning.words import parameters_answer, prediction_answer, transfer_answer
from core.records import VoteCounts
from pages.sections.planning.sweeps import PageState
from pages.shared import cached, numbers, widgets

SHOWN = 10
"""Up to so many groups fit beside each other; of more the chosen judge's are drawn."""

GRID = {
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
CATEGORIES, DATASETS, JUDGES = "categories", "data sets", "judges"
GREEK = dict(zip(PARAMETERS, "βνγ", strict=True))
COLUMNS = {
    "fitted_on": "fitted on",
    "evaluated_on": "used on",
    "n": "n",
    "mae": "MAE",
    "change": "change",
    "change_low": "low",
    "change_high": "high",
}
PREDICTED = {
    "target": "predicted",
    "distance": "distance of",
    "n": "pairs",
    "rho": "ρ",
    "p_value": "p",
    "error": "off by",
    "constant_error": "mean off by",
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
        "parameters", (state.selection,), lambda: parameter_grid(groups, rng=widgets.seeded())
    )
    widgets.answer(parameters_answer(found), part="parameters")
    if found.tables:
        everything = len(found.tables) <= SHOWN or st.toggle(
            f"Draw all {len(found.tables)} groups", key="all_groups", bind=widgets.URL
        )
        drawn = [key for key in found.tables if everything or key[1] == state.judge][
            : plots.MOST_GROUPS
        ]
        fig = plots.parameters_figure(found, groups=drawn, styles=state.styles, theme=state.look)
        widgets.figure(fig, "nu", alt="ν by category and judge")
        if len(drawn) < len(found.tables):
            whose = f"The first {plots.MOST_GROUPS}" if everything else f"Those of {state.judge}"
            st.text(f"{whose}; the table has all {len(found.tables)} groups.")
        widgets.how_to_read(
            "ν is the odds of a gold tie against a win of one side where every vote is a tie; β "
            "weighs the margin of the votes, γ the share of tie votes. Bars go from the first to "
            f"the third quartile over {found.n_splits} random calibration sets of 5 % of the "
            "items; the mark is their geometric middle, as the mean of so skewed a number can lie "
            "outside them. Correction towards ties is high if Q1 of ν is 100 or more, low if Q3 is "
            "10 or less (dotted lines), else mismatched: the labels do not settle it."
        )
        frame = found.to_frame()
        whole = frame["calibration"].round()
        if np.allclose(whole, frame["calibration"]):
            frame["calibration"] = whole.astype(int)
        alt = "BTD parameters of every category and judge"
        numbers.table(frame, "parameters-grid", alt=alt, heads=GRID)
    widgets.left_out(
        {
            f"{category}, {judge}" if category else judge: reason
            for (category, judge), reason in found.not_possible.items()
        },
        key="parameters-left-out",
    )
    make = (
        "{(task, judge): one for task, judges in by_value.items() for judge, one in judges.items()}"
    )
    widgets.copy_as_python(
        f"""by_value = queries.vote_counts_by(store, selection, "category")
groups = {make}
votes = queries.vote_counts(store, selection)
groups = groups or {{("", judge): counts for judge, counts in votes.items()}}
print(parameter_grid(groups, rng=default_rng(0)).to_frame().to_string())"""
    )


def transfer_tab(state: PageState) -> None:
    """The matrix, the chosen pair, and what predicts it."""
    offered = _offered(state)
    if not offered:
        widgets.not_applicable(
            "labels can be carried over between categories, data sets or judges; here there is "
            "one of each."
        )
        return
    between = widgets.choice("Between", offered, key="between")
    tasks, code = _tasks(state, between)
    key = (*state.key, between)
    found = cached.computed("transfer", key, lambda: transfer(tasks, rng=widgets.seeded()))
    widgets.answer(transfer_answer(found, between), part="transfer")
    marks = {plots.transfer_key(a, b): (a, b) for a in found.tasks for b in found.tasks if a != b}
    chosen = widgets.in_url("pair")
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        fig = plots.transfer_figure(found, theme=state.look, chosen=chosen)
        pair = widgets.figure(
            fig, "pair", alt="Transfer matrix", marks=marks, prompt="Compare the two fits"
        )
    with measured:
        alt = "Error on each task with the labels of each"
        numbers.table(found.to_frame(), "transfer", alt=alt, heads=COLUMNS)
    widgets.left_out(found.not_possible, key="transfer-left-out")
    widgets.how_to_read(
        "BTD is fitted on labels of the row and used on the column: the number is the rise in "
        "error (MAE) above that of the column's own fit; the diagonal is that error itself. Bold: "
        "its interval excludes 0. That counts the luck of both tasks' labels and of the column's "
        f"items, and the intervals of all pairs hold at once ({found.n_splits} splits per task). "
        "Each task is calibrated on 5 % of its items, so a task with more labels can serve another "
        "better than its own few: a cell below 0."
    )
    if pair:
        _pair(found, tasks, pair, state)
    _prediction(found, tasks, key, state, marks)
    widgets.copy_as_python(
        f"""{code}
found = transfer(tasks, rng=default_rng(0))
print(found.to_frame().to_string())
if len(found.tasks) > 3:
    predicted = transfer_prediction(found, task_distances(tasks), rng=default_rng(0))
    print(predicted.to_frame().to_string())"""
    )


def _offered(state: PageState) -> list[str]:
    """What there are two or more of."""
    category_chosen = any(column == "category" for column, _ in state.selection.where)
    whole = cached.summary(state.selection)
    of_each = {
        CATEGORIES: 0 if category_chosen else sum(bool(name) for name in whole.categories),
        JUDGES: len(state.counts),
        DATASETS: len(cached.datasets()),
    }
    return [between for between, n in of_each.items() if n > 1]


def _tasks(state: PageState, between: str) -> tuple[dict[str, VoteCounts], str]:
    """Votes of each task, and the lines of Python that make them."""
    judge = state.judge
    if between == JUDGES:
        return state.counts, "tasks = queries.vote_counts(store, selection)"
    column, selection = "category", state.selection
    lines = ""
    if between == DATASETS:
        column, selection = "dataset", replace(selection, datasets=None, judges=None, where=())
        lines = "selection = replace(selection, datasets=None, judges=None, where=())\n"
    by_value = cached.vote_counts_by(selection, column)
    tasks = {value: judges[judge] for value, judges in by_value.items() if judge in judges}
    if len(tasks) < 2:
        raise NoUsableVotes(
            f"{judge} voted in {len(tasks)} of the {between}; a transfer needs two."
        )
    return tasks, (
        f"{lines}by_value = queries.vote_counts_by(store, selection, {column!r})\n"
        "tasks = "
        f"{{name: judges[{judge!r}] for name, judges in by_value.items() if {judge!r} in judges}}"
    )


def _pair(
    found: Transfer, tasks: dict[str, VoteCounts], pair: tuple[str, str], state: PageState
) -> None:
    """Both fits of a pair: parameters, errors both ways, and where their decisions differ."""
    one, other = pair
    row, column = found.tasks.index(one), found.tasks.index(other)
    st.subheader("The two fits", anchor=False)
    left, right = st.columns(2, gap="medium")
    with left:
        parameters = []
        for name, place in ((one, row), (other, column)):
            theta = found.theta[place]
            for p, (field, letter) in enumerate(GREEK.items()):
                values = np.exp(theta[:, p]) if field == "nu" else theta[:, p]
                q1, q3 = np.quantile(values, [0.25, 0.75])
                parameters.append(
                    {
                        "fitted on": name,
                        "parameter": letter,
                        "all labels": getattr(found.fits[name], field),
                        "mean of splits": values.mean(),
                        "Q1": q1,
                        "Q3": q3,
                        "n": int(found.n[place]),
                    }
                )
        numbers.table(pd.DataFrame(parameters), "pair-parameters", alt="Parameters of both fits")
        frame = found.to_frame()
        both = frame[
            frame["fitted_on"].isin((one, other)) & frame["evaluated_on"].isin((one, other))
        ]
        numbers.table(both, "pair-errors", alt="Error of both fits on both tasks", heads=COLUMNS)
    with right:
        cells = tasks[other].cells()[0]
        sizes = np.bincount(cells.n, weights=cells.weight)[: MOST_VOTES + 1]
        if not sizes.any():
            widgets.not_applicable(
                f"every comparison has over {MOST_VOTES} votes, too many to draw each way."
            )
            return
        n = int(sizes.argmax())
        fig = plots.transferred_figure(
            decision_map(found.fits[other], n),
            decision_map(found.fits[one], n),
            seen=widgets.patterns(cells, n),
            theme=state.look,
        )
        widgets.figure(fig, "pair-map", alt="What each fit decides")
        widgets.how_to_read(
            f"A square is one way in which {n} votes can fall, its letter the label by the task's "
            "own fit on all its labels. Two letters, own then transferred, and a heavy outline: "
            "the fit on the other task's labels decides otherwise. Pale squares have no comparison "
            "here."
        )


def _prediction(
    found: Transfer,
    tasks: dict[str, VoteCounts],
    key: tuple[object, ...],
    state: PageState,
    marks: dict[str, tuple[str, str]],
) -> None:
    st.subheader("Can transfer be predicted?", anchor=False)
    with widgets.errors():
        distances = cached.computed(
            "distances", key, lambda: task_distances({name: tasks[name] for name in found.tasks})
        )
        tried = cached.computed(
            "prediction", key, lambda: transfer_prediction(found, distances, rng=widgets.seeded())
        )
        st.text(prediction_answer(tried))
        drawn, measured = st.columns([3, 2], gap="medium")
        with drawn:
            fig = plots.distance_figure(
                found, distances, theme=state.look, chosen=widgets.in_url("pair")
            )
            widgets.figure(fig, "distance", alt="Loss against distance", marks=marks, into="pair")
        with measured:
            alt = "What predicts the loss"
            numbers.table(tried.to_frame(), "transfer-prediction", alt=alt, heads=PREDICTED)
        widgets.how_to_read(
            "A mark is one pair of tasks. The distance compares how votes fall, and gold with "
            "them, whatever the names of the models; it is 0 for tasks alike. The loss is that of "
            "fits on all labels, in DRPS, which fits minimise: small calibration sets play no part "
            f"in it. ρ: rank correlation; p: over {tried.permutations:,} "
            f"{'orders' if tried.exact else 'random orders'} of the tasks, as pairs share tasks. "
            "*Off by*: a line through the pairs of the other tasks, evaluated on the pairs of the "
            "task left out; *mean off by*: their mean instead. Only the distance of votes alone is "
            "known before there are labels."
        )
