"""Figures with a row per model: the board, other anchors, ratings, categories, outside boards, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..interpretation.format import elo_ends, signed_elo
from ..interpretation.leaderboard_checks import METHOD_NAMES
from ..leaderboard.anchored import Board, BoardRow
from ..leaderboard.order_ratings import RAEE
from ..leaderboard.outside import OutsideComparison
from ..leaderboard.rating_methods import Result
from ..leaderboard.score_board import ScoreBoards, ScoreRow
from ..leaderboard.task_spread import BetweenTasks
from ..stats.estimate import Estimate
from .base import COLOURS, MARKERS, MAX_POINTS, Style, Theme, error_bars, figure, ideal_trace, label
from .model_rows import (
    NAME_LIMIT,
    RowMark,
    add_marks,
    elo_axis,
    marker,
    reference_line,
    rows_figure,
    undimmed,
)

if TYPE_CHECKING:
    from .base import Figure


ROW_HEIGHT, ROW_HEIGHT_WITH_MORE = 20, 26
ROW_HEIGHT_OF_METHODS, ROW_HEIGHT_OF_TASKS, ROW_HEIGHT_OF_SCORES = 34, 28, 32


def board_figure(
    board: Board,
    *,
    judged: Mapping[str, Board] | None = None,
    styles: Mapping[str, Style] | None = None,
    judge: str | None = None,
    corrected: bool = False,
    shown: int | None = None,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Elo of each model against the anchor, best on top, with its interval; shaded bands are tiers.

    Parameters
    ----------
    board : what to draw, of all judges pooled or of one `judge`, whose style it then has.
    judged : board of each judge against the same anchor: a dot under the row; left out where all of them
        would be more than `MAX_POINTS`.
    styles : of the judges.
    corrected : draw the dispersion-corrected interval instead of the published one.
    shown : draw only so many models from the top.
    chosen : key of a mark (`model`, or `judge_key`) to ring.

    Source: [RAEE] §2; tiers and the corrected interval ours.
    """
    rows = board.rows[:shown]
    places = {row.model: place for place, row in enumerate(rows)}
    dots = judged or {}
    if len(rows) * len(dots) > MAX_POINTS:
        dots = {}
    fig = rows_figure(
        list(places),
        x_title="Elo, win probability",
        row_height=ROW_HEIGHT_WITH_MORE if dots else ROW_HEIGHT,
        theme=theme,
        entries=len(dots) + 1 if dots else 0,
    )
    _tier_bands(fig, rows, theme)
    reach = [0.0]
    for name, known in dots.items():
        marks = [
            RowMark(
                model=row.model,
                x=row.elo,
                hover=f"{_hover(row, corrected)}<br>judge {label(name)}",
                key=judge_key(name, row.model),
            )
            for row in known.rows
            if row.model in places
        ]
        reach += add_marks(
            fig,
            marks,
            places,
            name=label(name, limit=NAME_LIMIT),
            style=(styles or {})[name],
            theme=theme,
            offset=0.28,
            size=7,
            opacity=0.75,
            bars=False,
            chosen=chosen,
        )
    marks = [
        RowMark(
            model=row.model,
            x=row.elo_corrected if corrected else row.elo,
            hover=_hover(row, corrected),
            key=row.model,
        )
        for row in rows
    ]
    reach += add_marks(
        fig,
        marks,
        places,
        name=label(judge, limit=NAME_LIMIT) if judge else "all, pooled",
        style=(styles or {})[judge] if judge else _accent(theme),
        theme=theme,
        size=10,
        chosen=chosen,
    )
    elo_axis(fig, min(reach), max(reach), probabilities=True)
    reference_line(fig, len(rows), theme)
    return fig


def swap_figure(
    one: Board,
    two: Board,
    models: Sequence[str],
    *,
    corrected: bool = False,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Elo of the models on both boards, each board centred on its mean over them, one row per model.

    Filled marks are the board `one`, open ones `two`; they lie above each other where the anchor does not
    matter. Their distance is the centred shift of `anchors.SwapRow`, whose `models` to give. The key of a
    mark is `swap_key(anchor, model)`.

    Source: [RAEE] anchor swap; docs/methods.md §6.
    """
    places = {row.model: place for place, row in enumerate(row for row in one.rows if row.model in models)}
    fig = rows_figure(
        list(places), x_title="Elo, centred", row_height=ROW_HEIGHT_WITH_MORE, theme=theme, entries=2
    )
    colours = COLOURS[theme].raters
    reach = [0.0]
    for known, colour, symbol, offset in (
        (one, colours[0], "circle", -0.15),
        (two, colours[1], "diamond-open", 0.15),
    ):
        rows = [row for row in known.rows if row.model in places]
        mean = float(np.mean([row.elo.value for row in rows])) if rows else 0.0
        marks = [
            RowMark(
                model=row.model,
                x=(row.elo_corrected if corrected else row.elo).shifted(-mean),
                hover=f"{_hover(row, corrected)}<br>against {label(known.anchor)}"
                f"<br>centred {signed_elo(row.elo.value - mean)}",
                key=swap_key(known.anchor, row.model),
            )
            for row in sorted(rows, key=lambda row: places[row.model])
        ]
        reach += add_marks(
            fig,
            marks,
            places,
            name=f"against {label(known.anchor, limit=NAME_LIMIT)}",
            style=Style(colour=colour, symbol=symbol),
            theme=theme,
            offset=offset,
            size=10,
            chosen=chosen,
        )
    elo_axis(fig, min(reach), max(reach), probabilities=False)
    reference_line(fig, len(places), theme)
    return fig


def judge_key(judge: str, model: str) -> str:
    """Key of one judge's dot of a model, also what a select box shows."""
    return f"{model}, by {judge}"


def swap_key(anchor: str, model: str) -> str:
    """Key of a model on the board of an anchor."""
    return f"{model} against {anchor}"


def _tier_bands(fig: Figure, rows: Sequence[BoardRow], theme: Theme) -> None:
    """Shade every other tier and number all of them at the right, so that colour does not tell alone."""
    last = {row.tier: place for place, row in enumerate(rows)}
    first = {tier: next(place for place, row in enumerate(rows) if row.tier == tier) for tier in last}
    colours = COLOURS[theme]
    bands = [
        {
            "type": "rect",
            "xref": "x domain",
            "x0": 0,
            "x1": 1,
            "y0": start - 0.5,
            "y1": last[tier] + 0.5,
            "fillcolor": colours.grid,
            "opacity": 0.45,
            "line": {"width": 0},
            "layer": "below",
        }
        for tier, start in first.items()
        if tier % 2
    ]
    names = [
        {
            "text": f"tier {tier}",
            "x": 1.01,
            "xref": "paper",
            "xanchor": "left",
            "y": (start + last[tier]) / 2,
            "showarrow": False,
            "font": {"size": 11, "color": colours.neutral},
        }
        for tier, start in first.items()
    ]
    fig.update_layout(shapes=bands, annotations=names, margin_r=48)


def _accent(theme: Theme) -> Style:
    return Style(colour=COLOURS[theme].accent, symbol="circle")


def _hover(row: BoardRow, corrected: bool) -> str:
    p, elo = (row.p_corrected, row.elo_corrected) if corrected else (row.p, row.elo)
    return (
        f"<b>{label(row.model)}</b><br>Elo {signed_elo(elo.value)} {elo_ends(elo)}"
        f"<br>win probability {p.value:.3f} ({p.low:.3f} to {p.high:.3f})"
        f"<br>n {row.n:,} prompts, tier {row.tier}"
    )


def _elo_hover(model: str, name: str, elo: Estimate, n: str) -> str:
    ends = elo_ends(elo) if elo.has_interval else f"({signed_elo(elo.value)} to {signed_elo(elo.value)})"
    return f"<b>{label(model)}</b><br>{label(name)}<br>Elo {signed_elo(elo.value)} {ends}<br>{n}"


def ratings_figure(
    board: Board,
    others: Mapping[str, Result],
    *,
    shown: int | None = None,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Elo over the anchor of each model on the board: anchored, and by each other method, with intervals.

    The key of a mark is its model. Models without a number by a method have no mark of it.
    """
    places = {row.model: place for place, row in enumerate(board.rows[:shown])}
    methods: dict[str, Result] = {RAEE: board, **others}
    fig = rows_figure(
        list(places), x_title="Elo", row_height=ROW_HEIGHT_OF_METHODS, theme=theme, entries=len(methods)
    )
    reach = [0.0]
    for place, (method, found) in enumerate(methods.items()):
        name = METHOD_NAMES.get(method, method)
        unit = "prompts" if method == RAEE else "games"
        marks = [
            RowMark(model=model, x=elo, hover=_elo_hover(model, name, elo, f"n {elo.n:,} {unit}"), key=model)
            for model, elo in found.elos().items()
            if model in places
        ]
        # Open markers for the others, so that colour does not tell alone.
        other = Style(colour=COLOURS[theme].raters[place], symbol=f"{MARKERS[place]}-open")
        reach += add_marks(
            fig,
            marks,
            places,
            name=label(name, limit=NAME_LIMIT),
            style=_accent(theme) if method == RAEE else other,
            theme=theme,
            offset=0.2 * (place - (len(methods) - 1) / 2),
            chosen=chosen,
        )
    elo_axis(fig, min(reach), max(reach), probabilities=False)
    reference_line(fig, len(places), theme)
    return fig


def tasks_figure(
    found: BetweenTasks, *, shown: int | None = None, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Mean over categories of each model's Elo with its interval, and below it the Elo of each category.

    The key of a mean is the model, that of a category's mark `task_key`; the latter are left out where they
    would be more than `MAX_POINTS`.
    """
    rows = found.rows[:shown]
    places = {row.model: place for place, row in enumerate(rows)}
    dots = found.boards if len(rows) * len(found.boards) <= MAX_POINTS else {}
    fig = rows_figure(
        list(places), x_title="Elo", row_height=ROW_HEIGHT_OF_TASKS, theme=theme, entries=len(dots) + 1
    )
    colours = COLOURS[theme].raters
    reach = [0.0]
    for place, (task, board) in enumerate(dots.items()):
        name = task or "no category"
        marks = [
            RowMark(
                model=row.model,
                x=row.elo_corrected,
                hover=_elo_hover(row.model, name, row.elo_corrected, f"n {row.n:,} prompts"),
                key=task_key(task, row.model),
            )
            for row in board.rows
            if row.model in places
        ]
        reach += add_marks(
            fig,
            marks,
            places,
            name=label(name, limit=NAME_LIMIT),
            style=Style(colour=colours[place % len(colours)], symbol=f"{MARKERS[place % len(MARKERS)]}-open"),
            theme=theme,
            offset=0.28,
            size=7,
            bars=False,
            chosen=chosen,
        )
    name = "mean of categories"
    means = [
        RowMark(
            model=row.model,
            x=row.mean,
            hover=_elo_hover(
                row.model, name, row.mean, f"n {row.prompts:,} prompts in {row.n_tasks} categories"
            ),
            key=row.model,
        )
        for row in rows
    ]
    reach += add_marks(fig, means, places, name=name, style=_accent(theme), theme=theme, chosen=chosen)
    elo_axis(fig, min(reach), max(reach), probabilities=False)
    reference_line(fig, len(places), theme)
    return fig


def task_key(task: str, model: str) -> str:
    """Key of a model's mark in one category, also what a select box shows."""
    return f"{model} in {task or 'no category'}"


def outside_figure(
    found: OutsideComparison, board: Board, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Elo on this board, with its interval, against Elo by the file, centred alike; the line is equality."""
    limits = {row.model: (row.elo_corrected.low, row.elo_corrected.high) for row in board.rows}
    # Where scores of 0 or 100 % are, there is no Elo to draw; a browser cannot show thousands.
    keep = np.flatnonzero(~np.isnan(found.outside_elo))[:MAX_POINTS]
    names = [found.models[k] for k in keep]
    x, y = found.elo[keep], found.outside_elo[keep]
    ends = np.array([limits.get(name, (0.0, 0.0)) for name in names]).reshape(-1, 2)
    low, high = float(min([0.0, *x, *y])) - 20, float(max([0.0, *x, *y])) + 20
    fig = figure(
        x_title="Elo here",
        y_title=f"Elo by {label(found.name, limit=NAME_LIMIT)}, centred",
        theme=theme,
        height=460,
        square=True,
        legend=False,
        traces=[ideal_trace(x=(low, high), y=(low, high), name="equal", theme=theme)],
    )
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
        error_x=error_bars(x, ends[:, 0], ends[:, 1], COLOURS[theme].neutral, thickness=1),
        marker=marker(_accent(theme), 9, names, chosen, theme),
        **undimmed(1),
    )
    return fig


def scores_figure(
    found: ScoreBoards,
    *,
    styles: Mapping[str, Style],
    votes: Board | None = None,
    shown: int | None = None,
    theme: Theme = "light",
) -> Figure:
    """One row per model: filled the mean of judges by scores, small marks each judge, hollow by votes.

    votes : board against the same anchor, with its corrected interval. A model without votes has no hollow
    mark. Judges' marks are left out where there is one judge, or more than a thousand marks.
    """
    rows = found.mean.rows[:shown]
    places = {row.model: place for place, row in enumerate(rows)}
    several = len(found.judges) > 1 and len(rows) * len(found.judges) <= MAX_POINTS
    dots = found.judges if several else {}
    fig = rows_figure(
        list(places),
        x_title=f"beats {label(found.mean.anchor, limit=NAME_LIMIT)}, %",
        row_height=ROW_HEIGHT_OF_SCORES,
        theme=theme,
        entries=len(dots) + 1 + (votes is not None),
    )
    reach = [50.0]
    for judge, known in dots.items():
        marks = [_score_mark(row, f"judge {label(judge)}") for row in known.rows if row.model in places]
        name, style = label(judge, limit=NAME_LIMIT), styles[judge]
        reach += add_marks(
            fig,
            marks,
            places,
            name=name,
            style=style,
            theme=theme,
            offset=0.3,
            size=7,
            opacity=0.75,
            bars=False,
        )
    only = next(iter(found.judges)) if len(found.judges) == 1 else None
    marks = [_score_mark(row, f"n {row.n:,} items, {row.n_judges} judges") for row in rows]
    name = f"scores, {label(only, limit=NAME_LIMIT)}" if only else "scores, mean of judges"
    style = styles[only] if only else _accent(theme)
    reach += add_marks(fig, marks, places, name=name, style=style, theme=theme, offset=-0.12, size=10)
    if votes is not None:
        marks = [
            RowMark(
                model=row.model,
                x=row.p_corrected.scaled(100),
                hover=f"<b>{label(row.model)}</b><br>by votes {row.p.value:.3f} "
                f"({row.p_corrected.low:.3f} to {row.p_corrected.high:.3f})<br>n {row.n:,} prompts",
                key=row.model,
            )
            for row in votes.rows
            if row.model in places
        ]
        style = Style(colour=COLOURS[theme].neutral, symbol="diamond-open")
        reach += add_marks(fig, marks, places, name="votes", style=style, theme=theme, offset=0.1)
    fig.update_xaxes(range=[max(0.0, min(reach) - 3), min(100.0, max(reach) + 3)], nticks=7)
    reference_line(fig, len(places), theme, x=50, name="50 %")
    return fig


def _score_mark(row: ScoreRow, about: str) -> RowMark:
    ends = f" ({row.p.low:.3f} to {row.p.high:.3f})" if row.p.has_interval else ""
    by_scores = f"by scores {row.p.value:.3f}{ends}<br>mean score {row.mean:.2f}"
    hover = f"<b>{label(row.model)}</b><br>{by_scores}<br>{about}"
    return RowMark(model=row.model, x=row.p.scaled(100), hover=hover, key=row.model)
