"""Is a model equally good at everything? Boards by category, and the variance between them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.errors import NoUsableVotes
from core.interpretation.leaderboard_checks import task_columns, tasks
from core.leaderboard.robustness import BetweenTasks, between_tasks, differing
from core.plots.leaderboard import task_key, tasks_figure
from core.store import vote_queries as queries
from pages.sections.leaderboard.controls import PageState, how_many, in_url
from pages.shared import cached, theme, widgets

SHOWN = 10
MOST_CATEGORIES = 30


def tasks_tab(state: PageState) -> None:
    """Means over categories with the boards behind them."""
    known = cached.computed(
        "categories",
        (state.selection,),
        lambda: queries.values(cached.get_store(), state.selection, "category", limit=MOST_CATEGORIES + 1),
    )
    if len(known) < 2:
        widgets.not_applicable(
            "the votes selected have no second category; clear the category in the sidebar, or load votes "
            "with one."
        )
        return
    used = known[:MOST_CATEGORIES]
    try:
        found = cached.computed("tasks", (*state.key, state.anchor), lambda: _by_task(state, used))
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    st.text(tasks(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    marks = {row.model: state.votes(row.model) for row in found.rows}
    for task, known_board in found.boards.items():
        for row in known_board.rows:
            marks[task_key(task, row.model)] = state.votes(row.model, category=task)
    shown = how_many(len(found.rows), SHOWN, key="tasks_all", place=measured)
    with drawn:
        fig = tasks_figure(found, shown=shown, theme=theme.current(), chosen=in_url("task"))
        chosen = widgets.figure(fig, "task", alt="Elo of each model by category", marks=list(marks))
        widgets.how_to_read(
            "Large marks: mean of a model's Elo over categories, each weighing alike but for its error; the "
            "bar says where the mean over such categories lies (random effects, modified Hartung–Knapp). "
            "Small marks: its Elo on the prompts of one category alone. They scatter by chance, too: *SD* "
            "in the table is what chance does not explain (τ by DerSimonian–Laird, interval by Q-profile), "
            "I² its share."
        )
    with measured:
        widgets.results(task_columns(found), found.rows, alt="Variance between categories")
        differ = {row.model for row in differing(found)}
        frame = found.to_frame()
        widgets.downloads(frame.assign(differs=frame["model"].isin(differ)), "between-categories")
        if len(known) > MOST_CATEGORIES:
            st.text(f"The first {MOST_CATEGORIES} categories by name; filter the votes to see others.")
        if found.left_out:
            st.text(f"Nobody met {state.anchor} in: {', '.join(found.left_out)}")
    if chosen:
        widgets.votes_table(marks[chosen], name="task")
    widgets.copy_as_python(
        f"""def scores(category):
    inside = replace(selection, where=(*selection.where, ("category", category)))
    return queries.pair_scores(store, inside, pooled=True).get({state.judge!r})

by_task = {{name: scores(name) for name in {list(found.boards)!r}}}
print(between_tasks(by_task, {state.anchor!r}, prior={state.prior!r}).to_frame().to_string())"""
    )


def _by_task(state: PageState, categories: tuple[str, ...]) -> BetweenTasks:
    by_task = {}
    for name in categories:
        inside = replace(state.selection, where=(*state.selection.where, ("category", name)))
        scores = cached.pair_scores(inside, pooled=True).get(state.judge)
        if scores is not None:
            by_task[name] = scores
    return between_tasks(by_task, state.anchor, prior=state.prior)
