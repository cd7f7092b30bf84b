"""Every rule by task, judge and number of votes."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.errors import NoUsableVotes
from core.experiments.grid import ALL_TASKS, Grid, task_grid
from core.interpretation.tables import frame
from core.interpretation.votes_to_labels import grid_answer, grid_columns
from core.records import VoteCounts
from pages.sections.votes_to_labels.controls import PageState
from pages.shared import cached, numbers, widgets

MOST_JUDGES = 12
"""Judges whose cells are computed on the page; the command line has no such limit."""


def grid_tab(state: PageState) -> None:
    """MAE of every rule in each category, for each judge, with all votes and with fewer."""
    summary = cached.summary(state.selection)
    people = {rater.name for rater in summary.judges if rater.rater_type == "human"}
    several = len(summary.categories) > 1
    by_task = (
        cached.vote_counts_by(state.selection, column="category")
        if several
        else {ALL_TASKS: cached.vote_counts(state.selection)}
    )
    most = max(int(votes.n.max(initial=0)) for of in by_task.values() for votes in of.values())
    sizes = st.multiselect(
        "Also with so many votes per comparison",
        [votes for votes in (1, 2, 4, 8, 12) if votes < most],
        key="grid-votes",
        bind=widgets.URL,
    )
    judges = [name for name in state.of_judge if name not in people][:MOST_JUDGES]
    try:
        grid = cached.computed(
            "grid", (state.selection, tuple(sizes)), lambda: _grid(by_task, judges, tuple(sizes))
        )
    except NoUsableVotes as error:
        widgets.not_applicable(str(error))
        return
    st.text(grid_answer(grid))
    if len(state.of_judge) - len(people) > MOST_JUDGES:
        st.caption(f"The first {MOST_JUDGES} judges; `audit --grid` has all.")
    numbers.table(
        frame(grid_columns(grid), grid.cells), "grid", alt="MAE of each rule by task and judge"
    )
    widgets.how_to_read(
        "Each cell is the mean absolute error (0 to 2) of a rule over 100 splits, calibrated on "
        "5 % of the items and judged on the rest, with a 95 % interval by item. *Majority − BTD* "
        "above 0: calibrating pays. *Not told from the best*: a paired sign-flip test by item."
    )
    widgets.copy_as_python(
        f"""by_task = queries.vote_counts_by(store, selection, "category")
print(task_grid(by_task, sizes={tuple(sizes)!r}).to_frame().to_string())"""
        if several
        else f"""by_task = {{{ALL_TASKS!r}: queries.vote_counts(store, selection)}}
print(task_grid(by_task, sizes={tuple(sizes)!r}).to_frame().to_string())"""
    )


def _grid(
    by_task: Mapping[str, Mapping[str, VoteCounts]], judges: list[str], sizes: tuple[int, ...]
) -> Grid:
    kept = {
        task: {judge: votes for judge, votes in of_judge.items() if judge in judges}
        for task, of_judge in by_task.items()
    }
    return task_grid(kept, sizes=sizes)
