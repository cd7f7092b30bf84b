"""Win probability of each model by direct scores, with the judges' own and that by votes beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.figures import COLOURS, MAX_POINTS, Style, Theme, error_bars, ideal_line, label
from core.leaderboard.raee import Board
from core.leaderboard.score_board import ScoreBoards, ScoreRow
from core.plots.rows import NAME_LIMIT, marker, rows_figure, undimmed

if TYPE_CHECKING:
    from core.figures import Figure

ROW_HEIGHT = 32


def scores_figure(
    found: ScoreBoards,
    *,
    styles: Mapping[str, Style],
    votes: Board | None = None,
    shown: int | None = None,
    theme: Theme = "light",
) -> Figure:
    """One row a model: filled the mean of judges by scores, small marks each judge, hollow by votes.

    votes : board against the same anchor, with its corrected interval. A model without votes has no hollow
    mark. Judges' marks are left out where there is one judge, or more than a thousand marks.
    """
    rows = found.mean.rows[:shown]
    names = {row.model: place for place, row in enumerate(rows)}
    several = len(found.judges) > 1 and len(rows) * len(found.judges) <= MAX_POINTS
    dots = found.judges if several else {}
    fig = rows_figure(
        list(names),
        x_title=f"beats {label(found.mean.anchor, limit=NAME_LIMIT)}, %",
        row_height=ROW_HEIGHT,
        theme=theme,
        entries=len(dots) + 1 + (votes is not None),
    )
    colours = COLOURS[theme]
    ends = [50.0]
    for judge, known in dots.items():
        seen = [row for row in known.rows if row.model in names]
        ends += [100 * row.p for row in seen]
        fig.add_scatter(
            x=[100 * row.p for row in seen],
            y=[names[row.model] + 0.3 for row in seen],
            mode="markers",
            name=label(judge, limit=NAME_LIMIT),
            hovertext=[_hover(row, f"judge {label(judge)}") for row in seen],
            hoverinfo="text",
            marker=marker(styles[judge], 7, [row.model for row in seen], None, theme, opacity=0.75),
            **undimmed(0.75),
        )
    only = next(iter(found.judges)) if len(found.judges) == 1 else None
    style = styles[only] if only else Style(colour=colours.accent, symbol="circle")
    p = np.array([100 * row.p for row in rows])
    limits = 100 * np.array(
        [
            (row.p if row.p_low is None else row.p_low, row.p if row.p_high is None else row.p_high)
            for row in rows
        ]
    ).reshape(-1, 2)
    ends += limits.ravel().tolist()
    fig.add_scatter(
        x=p,
        y=[place - 0.12 for place in names.values()],
        mode="markers",
        name=f"scores, {label(only, limit=NAME_LIMIT)}" if only else "scores, mean of judges",
        hovertext=[_hover(row, f"n {row.n:,} items, {row.n_judges} judges") for row in rows],
        hoverinfo="text",
        error_x=error_bars(p, limits[:, 0], limits[:, 1], style.colour),
        marker=marker(style, 10, list(names), None, theme),
        **undimmed(1),
    )
    if votes is not None:
        met = [row for row in votes.rows if row.model in names]
        p = np.array([100 * row.p for row in met])
        limits = 100 * np.array([(row.p_low_corrected, row.p_high_corrected) for row in met]).reshape(-1, 2)
        ends += limits.ravel().tolist()
        fig.add_scatter(
            x=p,
            y=[names[row.model] + 0.1 for row in met],
            mode="markers",
            name="votes",
            hovertext=[
                f"<b>{label(row.model)}</b><br>by votes {row.p:.3f} ({row.p_low_corrected:.3f} to "
                f"{row.p_high_corrected:.3f})<br>n {row.n:,} prompts"
                for row in met
            ],
            hoverinfo="text",
            error_x=error_bars(p, limits[:, 0], limits[:, 1], colours.neutral),
            marker=marker(
                Style(colour=colours.neutral, symbol="diamond-open"), 9, [r.model for r in met], None, theme
            ),
            **undimmed(1),
        )
    fig.update_xaxes(range=[max(0.0, min(ends) - 3), min(100.0, max(ends) + 3)], nticks=7)
    ideal_line(fig, x=(50, 50), y=(-0.6, len(names) - 0.4), name="50 %", theme=theme)
    fig.data[-1].showlegend = False
    return fig


def _hover(row: ScoreRow, about: str) -> str:
    ends = "" if row.p_low is None else f" ({row.p_low:.3f} to {row.p_high:.3f})"
    return f"<b>{label(row.model)}</b><br>by scores {row.p:.3f}{ends}<br>mean score {row.mean:.2f}<br>{about}"
