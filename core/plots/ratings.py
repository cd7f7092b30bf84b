"""Figures with a row a model beside the board itself: other ratings, categories, an outside leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.figures import COLOURS, MARKERS, MAX_POINTS, Style, Theme, error_bars, figure, ideal_trace, label
from core.leaderboard.between_tasks import BetweenTasks
from core.leaderboard.outside import OutsideComparison
from core.leaderboard.raee import Board
from core.leaderboard.rating_spread import RAEE
from core.leaderboard.ratings import Ratings
from core.plots.rows import (
    NAME_LIMIT,
    elo_axis,
    marker,
    rows_figure,
    undimmed,
    zero_line,
)
from core.words.raee import METHOD_NAMES
from core.words.signed import signed_elo

if TYPE_CHECKING:
    from core.figures import Figure

ROW_HEIGHT_OF_METHODS, ROW_HEIGHT_OF_TASKS = 34, 28


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    model: str
    elo: float
    low: float
    high: float
    hover: str


def ratings_figure(
    board: Board,
    others: Mapping[str, Ratings],
    *,
    shown: int | None = None,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Elo over the anchor of each model on the board: anchored, and by each other method, with intervals.

    The key of a mark is its model. Models without a number by a method have no mark of it.
    """
    names = [row.model for row in board.rows[:shown]]
    series: dict[str, list[_Mark]] = {
        RAEE: [
            _Mark(
                model=row.model,
                elo=row.elo,
                low=row.elo_low_corrected,
                high=row.elo_high_corrected,
                hover=f"n {row.n:,} prompts",
            )
            for row in board.rows[:shown]
        ]
    }
    for method, found in others.items():
        series[method] = [
            _Mark(
                model=model,
                elo=float(found.elo[k]),
                low=float(found.elo_low[k]),
                high=float(found.elo_high[k]),
                hover=f"n {found.n[k]:,} games",
            )
            for k, model in enumerate(found.models)
            if model in names and not np.isnan(found.elo[k])
        ]
    fig = rows_figure(
        names, x_title="Elo", row_height=ROW_HEIGHT_OF_METHODS, theme=theme, entries=len(series)
    )
    step = 0.2
    for place, (method, marks) in enumerate(series.items()):
        colours = COLOURS[theme]
        # Open markers for the others, so that colour does not tell alone.
        style = Style(
            colour=colours.accent if method == RAEE else colours.raters[place],
            symbol="circle" if method == RAEE else f"{MARKERS[place]}-open",
        )
        offset = step * (place - (len(series) - 1) / 2)
        _add(fig, marks, names, offset, style, METHOD_NAMES.get(method, method), theme, chosen)
    _finish(fig, list(series.values()), len(names), theme)
    return fig


def tasks_figure(
    found: BetweenTasks, *, shown: int | None = None, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Mean over categories of each model's Elo with its interval, and below it the Elo of each category.

    The key of a mean is the model, that of a category's mark `task_key`; the latter are left out where they
    would be more than `MAX_POINTS`.
    """
    rows = found.rows[:shown]
    names = [row.model for row in rows]
    dots = found.boards if len(rows) * len(found.boards) <= MAX_POINTS else {}
    fig = rows_figure(
        names, x_title="Elo", row_height=ROW_HEIGHT_OF_TASKS, theme=theme, entries=len(dots) + 1
    )
    colours = COLOURS[theme]
    ends: list[list[_Mark]] = []
    for place, (task, board) in enumerate(dots.items()):
        style = Style(
            colour=colours.raters[place % len(colours.raters)], symbol=f"{MARKERS[place % len(MARKERS)]}-open"
        )
        kept = [row for row in board.rows if row.model in names]
        keys = [task_key(task, row.model) for row in kept]
        fig.add_scatter(
            x=[row.elo for row in kept],
            y=[names.index(row.model) + 0.28 for row in kept],
            mode="markers",
            name=label(task or "no category", limit=NAME_LIMIT),
            customdata=[[key] for key in keys],
            hovertext=[
                f"<b>{label(row.model)}</b><br>{label(task or 'no category')}<br>Elo {signed_elo(row.elo)} "
                f"({signed_elo(row.elo_low_corrected)} to {signed_elo(row.elo_high_corrected)})"
                f"<br>n {row.n:,} prompts"
                for row in kept
            ],
            hoverinfo="text",
            marker=marker(style, 7, keys, chosen, theme),
            **undimmed(1),
        )
        ends.append([_Mark(model=r.model, elo=r.elo, low=r.elo, high=r.elo, hover="") for r in kept])
    means = [
        _Mark(
            model=row.model,
            elo=row.mean,
            low=row.mean if row.mean_low is None else row.mean_low,
            high=row.mean if row.mean_high is None else row.mean_high,
            hover=f"n {row.prompts:,} prompts in {row.n_tasks} categories",
        )
        for row in rows
    ]
    style = Style(colour=colours.accent, symbol="circle")
    _add(fig, means, names, 0.0, style, "mean of categories", theme, chosen)
    _finish(fig, [means, *ends], len(names), theme)
    return fig


def outside_figure(
    found: OutsideComparison, board: Board, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Elo on this board, with its interval, against Elo by the file, centred alike; the line is equality."""
    limits = {row.model: (row.elo_low_corrected, row.elo_high_corrected) for row in board.rows}
    # Where scores of 0 or 100 % are, there is no Elo to draw; a browser cannot show thousands.
    keep = np.flatnonzero(~np.isnan(found.outside_elo))[:MAX_POINTS]
    names = [found.models[k] for k in keep]
    x, y = found.elo[keep], found.outside_elo[keep]
    ends = np.array([limits.get(name, (0.0, 0.0)) for name in names]).reshape(-1, 2)
    low, high = float(min([0.0, *x, *y])) - 20, float(max([0.0, *x, *y])) + 20
    colours = COLOURS[theme]
    fig = figure(
        x_title="Elo here",
        y_title=f"Elo by {label(found.name, limit=NAME_LIMIT)}, centred",
        theme=theme,
        height=460,
        square=True,
        legend=False,
        traces=[ideal_trace(x=(low, high), y=(low, high), name="equal", theme=theme)],
    )
    style = Style(colour=colours.accent, symbol="circle")
    fig.add_scatter(
        x=x,
        y=y,
        mode="markers",
        name="models",
        customdata=[[name] for name in names],
        hovertext=[
            f"<b>{label(name)}</b><br>here {signed_elo(a)} Elo<br>there {signed_elo(b)} Elo (score {score:g})"
            for name, a, b, score in zip(names, x, y, found.outside_score[keep], strict=True)
        ],
        hoverinfo="text",
        error_x=error_bars(x, ends[:, 0], ends[:, 1], colours.neutral) | {"thickness": 1},
        marker=marker(style, 9, names, chosen, theme),
        **undimmed(1),
    )
    return fig


def task_key(task: str, model: str) -> str:
    """Key of a model's mark in one category, also what a select box shows."""
    return f"{model} in {task or 'no category'}"


def _add(
    fig: Figure,
    marks: Sequence[_Mark],
    names: Sequence[str],
    offset: float,
    style: Style,
    name: str,
    theme: Theme,
    chosen: str | None,
) -> None:
    elo = np.array([mark.elo for mark in marks])
    ends = np.array([(mark.low, mark.high) for mark in marks]).reshape(-1, 2)
    keys = [mark.model for mark in marks]
    fig.add_scatter(
        x=elo,
        y=[names.index(mark.model) + offset for mark in marks],
        mode="markers",
        name=label(name, limit=NAME_LIMIT),
        customdata=[[key] for key in keys],
        hovertext=[
            f"<b>{label(mark.model)}</b><br>{label(name)}<br>Elo {signed_elo(mark.elo)} "
            f"({signed_elo(mark.low)} to {signed_elo(mark.high)})<br>{mark.hover}"
            for mark in marks
        ],
        hoverinfo="text",
        error_x=error_bars(elo, ends[:, 0], ends[:, 1], style.colour),
        marker=marker(style, 9, keys, chosen, theme),
        **undimmed(1),
    )


def _finish(fig: Figure, series: Sequence[Sequence[_Mark]], rows: int, theme: Theme) -> None:
    lows = [mark.low for marks in series for mark in marks]
    highs = [mark.high for marks in series for mark in marks]
    elo_axis(fig, min([0.0, *lows]), max([0.0, *highs]), probabilities=False)
    zero_line(fig, rows, theme)
