"""Every rule by task, judge and number of votes."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.errors import NoUsableVotes
from core.finding.tables import frame
from core.questions.labels.words import grid_answer, grid_columns
from core.questions.planning.figure import grid_figure
from core.questions.planning.grid import ALL_TASKS, Grid, cell_name, given_in_cells, task_grid
from core.records import VoteCounts
from core.store.vote_queries import Mark
from pages.sections.votes_to_labels.controls import PageState
from pages.shared import cached, cards, numbers, widgets

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
    share = widgets.share_slider(st, "grid-share")
    judges = [name for name in state.of_judge if name not in people][:MOST_JUDGES]
    try:
        grid = cached.computed(
            "grid",
            (state.selection, state.options, tuple(sizes), share),
            lambda: _grid(state, _of(by_task, judges), tuple(sizes), share),
        )
    except NoUsableVotes as error:
        widgets.not_applicable(str(error))
        return
    widgets.answer(grid_answer(grid), part="grid")
    marks = {
        cell_name(cell): Mark(
            judge=cell.judge, category=None if cell.task == ALL_TASKS else cell.task
        )
        for cell in grid.cells
        if cell.votes is None
    }
    fig = grid_figure(grid, theme=state.look, chosen=widgets.in_url("cell"))
    behind = widgets.figure(fig, "cell", alt="MAE of BTD and the majority", marks=marks)
    cards.votes_behind(behind, name="cell")
    if len(state.of_judge) - len(people) > MOST_JUDGES:
        st.caption(f"The first {MOST_JUDGES} judges; `audit --grid` has all.")
    numbers.table(
        frame(grid_columns(grid), grid.cells), "grid", alt="MAE of each rule by task and judge"
    )
    widgets.how_to_read(
        "Each cell is the mean absolute error (0 to 2) of a rule over 100 splits, calibrated on "
        "the calibration share of the items and judged on the rest, with a 95 % interval by item. "
        "*Majority − BTD* "
        "above 0: calibrating pays. *Not told from the best*: a paired sign-flip test by item."
    )
    source = (
        'queries.vote_counts_by(store, selection, "category")'
        if several
        else f"{{{ALL_TASKS!r}: queries.vote_counts(store, selection)}}"
    )
    widgets.copy_as_python(
        f"""by_task = {source}
options = {state.options!r}
judges = queries.vote_counts(store, selection)
given = given_in_cells(by_task, queries.weighed_votes(store, selection), judges)
confidences = queries.confidence_counts(store, selection)
found = task_grid(by_task, options, sizes={tuple(sizes)!r}, share={share!r}, given=given,
                  confidences=confidences)
print(found.to_frame().to_string())"""
    )


def _grid(
    state: PageState,
    by_task: dict[str, dict[str, VoteCounts]],
    sizes: tuple[int, ...],
    share: float,
) -> Grid:
    """The grid as an audit has it."""
    return task_grid(
        by_task,
        state.options,
        sizes=sizes,
        given=given_in_cells(by_task, cached.weighed_votes(state.selection), state.of_judge),
        confidences=cached.confidence_counts(state.selection) if sizes else None,
        share=share,
    )


def _of(
    by_task: Mapping[str, Mapping[str, VoteCounts]], judges: list[str]
) -> dict[str, dict[str, VoteCounts]]:
    """The votes of these judges alone."""
    return {
        task: {judge: votes for judge, votes in of_judge.items() if judge in judges}
        for task, of_judge in by_task.items()
    }
