"""Is a model equally good at everything? Boards by category, and the variance between them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.errors import NoUsableVotes
from core.interpretation.leaderboard import differ, tasks
from core.leaderboard.robustness import BetweenTasks, between_tasks
from core.plots.leaderboard import task_key, tasks_figure
from core.store import vote_queries as queries
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import MODEL, Asked, in_url, number
from pages.shared import cached, theme, widgets

SHOWN = 10
MOST_CATEGORIES = 30
COLUMNS = {
    "model": MODEL,
    "tau": number("SD", "%.0f", "of its Elo between categories, beyond chance (τ)"),
    "tau_low": number("SD low", "%.0f", "95 % interval"),
    "tau_high": number("SD high", "%.0f", "95 % interval"),
    "mean": number("mean Elo", "%+.0f", "over categories"),
    "mean_low": number("low", "%+.0f", "95 %, for the mean over such categories"),
    "mean_high": number("high", "%+.0f", "95 %, for the mean over such categories"),
    "i2": number("I² %", "%.0f", "share of the variance between category boards that is not chance"),
    "q": number("Q", "%.1f"),
    "p_value": number("p", "%.2g", "of no difference, not adjusted"),
    "differs": st.column_config.CheckboxColumn("differs", help="p < .05 after Holm's adjustment over models"),
    "n_tasks": number("categories", "%d"),
    "prompts": number("n", "%d", "prompts"),
}


def tasks_tab(asked: Asked) -> None:
    """Means over categories with the boards behind them."""
    known = cached.computed(
        "categories",
        (asked.selection,),
        lambda: queries.values(cached.get_store(), asked.selection, "category", limit=MOST_CATEGORIES + 1),
    )
    if len(known) < 2:
        widgets.not_applicable(
            "the votes selected have no second category; clear the category in the sidebar, or load votes "
            "with one."
        )
        return
    used = known[:MOST_CATEGORIES]
    try:
        found = cached.computed("tasks", (*asked.key, asked.anchor), lambda: _by_task(asked, used))
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    st.text(tasks(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    marks = {row.model: Mark(models=(row.model, asked.anchor), judge=asked.judge) for row in found.rows}
    for task, known_board in found.boards.items():
        for row in known_board.rows:
            marks[task_key(task, row.model)] = Mark(
                models=(row.model, asked.anchor), judge=asked.judge, category=task
            )
    shown = SHOWN
    if len(found.rows) > SHOWN and measured.toggle(
        f"Draw all {len(found.rows)} models", key="tasks_all", bind=widgets.URL
    ):
        shown = len(found.rows)
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
        frame = found.to_frame()
        frame = frame.assign(differs=frame["model"].isin([row.model for row in differ(found)]))
        means = {name: frame[name].astype(float).round() + 0.0 for name in ("mean", "mean_low", "mean_high")}
        st.dataframe(
            frame[list(COLUMNS)].assign(i2=100 * frame["i2"].astype(float), **means),
            hide_index=True,
            column_config=COLUMNS,
            placeholder="–",
            alt="Variance between categories",
        )
        widgets.downloads(frame, "between-categories")
        if len(known) > MOST_CATEGORIES:
            st.text(f"The first {MOST_CATEGORIES} categories by name; filter the votes to see others.")
        if found.left_out:
            st.text(f"Nobody met {asked.anchor} in: {', '.join(found.left_out)}")
    if chosen:
        widgets.votes_table(marks[chosen], name="task")
    widgets.copy_as_python(
        f"""def scores(category):
    inside = replace(selection, where=(*selection.where, ("category", category)))
    return queries.pair_scores(store, inside, pooled=True).get({asked.judge!r})

by_task = {{name: scores(name) for name in {list(found.boards)!r}}}
print(between_tasks(by_task, {asked.anchor!r}, prior={asked.prior!r}).to_frame().to_string())"""
    )


def _by_task(asked: Asked, categories: tuple[str, ...]) -> BetweenTasks:
    by_task = {}
    for name in categories:
        inside = replace(asked.selection, where=(*asked.selection.where, ("category", name)))
        scores = cached.pair_scores(inside, pooled=True).get(asked.judge)
        if scores is not None:
            by_task[name] = scores
    return between_tasks(by_task, asked.anchor, prior=asked.prior)
