"""Who leads? The board against one anchor, and the votes of the chosen model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.interpretation.leaderboard import mid_region
from core.leaderboard.anchored import Board
from core.plots.leaderboard import board_figure, judge_key
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import MODEL, Asked, in_url, judged, number
from pages.shared import cached, theme, widgets

if TYPE_CHECKING:
    import pandas as pd


FIRST_SHOWN, FIRST_WITH_JUDGES = 15, 10
COLUMNS = {
    "tier": "tier",
    "model": MODEL,
    "n": number("n", "%d", "prompts"),
    "elo": number("Elo", "%+.0f"),
    "elo_low": number("low", "%+.0f", "95 % credible interval, as published"),
    "elo_high": number("high", "%+.0f", "95 % credible interval, as published"),
    "elo_low_corrected": number("low", "%+.0f", "with the variance that was seen"),
    "elo_high_corrected": number("high", "%+.0f", "with the variance that was seen"),
    "p": number("wins %", "%.1f", "win probability, a tie being half a win"),
    "p_low": number("low %", "%.1f"),
    "p_high": number("high %", "%.1f"),
    "p_low_corrected": number("low %", "%.1f"),
    "p_high_corrected": number("high %", "%.1f"),
}
ALWAYS = ("tier", "model", "n", "elo", "p")
"""Columns of the board whichever interval is asked for."""


def board_tab(asked: Asked) -> None:
    """The board as a figure and as a table."""
    found, judges = asked.board, judged(asked)
    drawn, measured = st.columns([5, 4], gap="medium")
    shown = None
    most = FIRST_WITH_JUDGES if judges else FIRST_SHOWN
    if len(found.rows) > most and not measured.toggle(
        f"Draw all {len(found.rows)} models", key="all", bind=widgets.URL
    ):
        shown = most
    marks = _marks(asked, judges)
    look = theme.current()
    with drawn:
        fig = board_figure(
            found,
            judged=judges,
            styles=cached.styles(widgets.current_dataset(), look),
            judge=asked.judge,
            corrected=asked.corrected,
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
        _table(found, corrected=asked.corrected)
    if chosen:
        widgets.votes_table(marks[chosen], name="model")


def _marks(asked: Asked, judges: dict[str, Board]) -> dict[str, Mark]:
    """Votes behind each row, and behind each judge's small mark in it."""
    anchor = asked.anchor
    marks = {row.model: Mark(models=(row.model, anchor), judge=asked.judge) for row in asked.board.rows}
    for name, known in judges.items():
        for row in known.rows:
            marks[judge_key(name, row.model)] = Mark(models=(row.model, anchor), judge=name)
    return marks


def _table(found: Board, *, corrected: bool) -> None:
    """The board with the interval that the figure draws; the downloads have all intervals."""
    frame = found.to_frame()
    st.dataframe(
        _shown_numbers(frame),
        hide_index=True,
        column_config=COLUMNS,
        column_order=[
            *ALWAYS[:-1],
            *(f"elo_{end}{'_corrected' * corrected}" for end in ("low", "high")),
            "p",
        ],
        alt="Board",
    )
    widgets.downloads(frame, "leaderboard")
    for said in (mid_region(found), *found.notes):
        st.text(said)
    if found.never_met:
        st.text(f"Without a number, as they never met {found.anchor}: {', '.join(found.never_met)}")


def _shown_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """A board as it is read: whole Elo without a minus before 0, shares in percent."""
    elo = {name: frame[name].round() + 0.0 for name in COLUMNS if name.startswith("elo")}
    shares = {name: 100 * frame[name] for name in COLUMNS if name.startswith("p")}
    return frame[list(COLUMNS)].assign(**elo, **shares)
