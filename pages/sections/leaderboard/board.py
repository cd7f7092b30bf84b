"""Who leads? The board against one anchor, and the votes of the chosen model."""

from __future__ import annotations

import streamlit as st

from core.interpretation.leaderboard import BOARD, BOARD_CORRECTED, mid_region
from core.leaderboard.anchored import Board
from core.plots.leaderboard import board_figure, judge_key
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import PageState, how_many, in_url, judged
from pages.shared import cached, theme, widgets

FIRST_SHOWN, FIRST_WITH_JUDGES = 15, 10


def board_tab(state: PageState) -> None:
    """The board as a figure and as a table."""
    found, judges = state.board, judged(state)
    drawn, measured = st.columns([5, 4], gap="medium")
    few = FIRST_WITH_JUDGES if judges else FIRST_SHOWN
    shown = how_many(len(found.rows), few, key="all", place=measured)
    marks = _marks(state, judges)
    look = theme.current()
    with drawn:
        fig = board_figure(
            found,
            judged=judges,
            styles=cached.styles(widgets.current_dataset(), look),
            judge=state.judge,
            corrected=state.corrected,
            shown=shown,
            theme=look,
            chosen=in_url("model"),
        )
        chosen = widgets.figure(fig, "model", alt="Elo of each model against the anchor", marks=list(marks))
        widgets.how_to_read(
            "Each row is a model: its Elo over the anchor, and below it the win probability that this "
            "stands for, a tie being half a win. It starts from half a win and half a loss (the prior), so "
            "with few prompts it is a little nearer to 50 % than the plain share of wins. Bars are 95 % "
            "intervals over prompts, never over votes: the votes on one prompt are averaged first. The "
            "published interval takes each prompt for won or lost, so with ties or averaged votes it is too "
            "wide; the corrected one uses the variance that was seen.\n\n"
            "A tier starts at the first model whose difference from the tier's best is more than chance "
            "(|z| > 1.96, prompt by prompt where both played the same ones). Bars of two models may "
            "overlap and the models still be in different tiers: on the same prompts their difference is "
            "known better than either score. Small marks are single judges; choose a judge to see its "
            "own board."
        )
    with measured:
        _table(found, corrected=state.corrected)
    if chosen:
        widgets.votes_table(marks[chosen], name="model")


def _marks(state: PageState, judges: dict[str, Board]) -> dict[str, Mark]:
    """Votes behind each row, and behind each judge's small mark in it."""
    marks = {row.model: state.votes(row.model) for row in state.board.rows}
    for name, known in judges.items():
        for row in known.rows:
            marks[judge_key(name, row.model)] = state.votes(row.model, judge=name)
    return marks


def _table(found: Board, *, corrected: bool) -> None:
    """The board with the interval that the figure draws; the downloads have all intervals."""
    widgets.results(BOARD_CORRECTED if corrected else BOARD, found.rows, alt="Board")
    widgets.downloads(found.to_frame(), "leaderboard")
    for sentence in (mid_region(found), *found.notes):
        st.text(sentence)
    if found.never_met:
        st.text(f"Without a number, as they never met {found.anchor}: {', '.join(found.never_met)}")
