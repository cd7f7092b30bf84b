"""Figures with a row per model: the board, other anchors, ratings, categories, outside boards, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..interpretation.format import elo_ends, signed_elo
from ..interpretation.leaderboard_checks import METHOD_NAMES
from ..leaderboard.anchored import Board, BoardRow
from ..leaderboard.ratings import RAEE, Result
from ..leaderboard.robustness import BetweenTasks
from ..leaderboard.score_board import ScoreBoards, ScoreRow
from ..leaderboard.standings import OutsideComparison
from ..stats.estimate import Estimate
from .base import COLOURS, MARKERS, MAX_POINTS, Style, Theme, error_bars, figure, ideal_trace, label
from .model_rows import NAME_LIMIT, ModelRows, RowMark, marker, undimmed

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
    ranked = board.rows[:shown]
    dots = judged or {}
    if len(ranked) * len(dots) > MAX_POINTS:
        dots = {}
    rows = ModelRows(
        [row.model for row in ranked],
        x_title="Elo, win probability",
        row_height=ROW_HEIGHT_WITH_MORE if dots else ROW_HEIGHT,
        theme=theme,
        entries=len(dots) + 1 if dots else 0,
        chosen=chosen,
    )
    _tier_bands(rows.fig, ranked, theme)
    known_styles = styles or {}
    for name, known in dots.items():
        marks = [
            RowMark(
                row.model,
                row.elo,
                f"{_hover(row, corrected)}<br>judge {label(name)}",
                judge_key(name, row.model),
            )
            for row in known.rows
        ]
        rows.add(_short(name), known_styles[name], marks, offset=0.28, size=7, opacity=0.75, bars=False)
    marks = [
        RowMark(row.model, row.interval(corrected)[1], _hover(row, corrected), row.model) for row in ranked
    ]
    rows.add(
        _short(judge) if judge else "all, pooled",
        known_styles[judge] if judge else _accent(theme),
        marks,
        size=10,
    )
    return rows.along_elo(probabilities=True)


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
    listed = [row.model for row in one.rows if row.model in models]
    rows = ModelRows(
        listed,
        x_title="Elo, centred",
        row_height=ROW_HEIGHT_WITH_MORE,
        theme=theme,
        entries=2,
        chosen=chosen,
    )
    colours = COLOURS[theme].raters
    for known, colour, symbol, offset in (
        (one, colours[0], "circle", -0.15),
        (two, colours[1], "diamond-open", 0.15),
    ):
        by_name = {row.model: row for row in known.rows}
        drawn = [by_name[name] for name in listed]
        mean = float(np.mean([row.elo.value for row in drawn])) if drawn else 0.0
        about = f"<br>against {label(known.anchor)}<br>centred "
        marks = [
            RowMark(
                row.model,
                row.interval(corrected)[1].shifted(-mean),
                f"{_hover(row, corrected)}{about}{signed_elo(row.elo.value - mean)}",
                swap_key(known.anchor, row.model),
            )
            for row in drawn
        ]
        name = f"against {_short(known.anchor)}"
        rows.add(name, Style(colour=colour, symbol=symbol), marks, offset=offset, size=10)
    return rows.along_elo()


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


def _short(name: str) -> str:
    return label(name, limit=NAME_LIMIT)


def _accent(theme: Theme) -> Style:
    return Style(colour=COLOURS[theme].accent, symbol="circle")


def _hover(row: BoardRow, corrected: bool) -> str:
    p, elo = row.interval(corrected)
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
    methods: dict[str, Result] = {RAEE: board, **others}
    rows = ModelRows(
        [row.model for row in board.rows[:shown]],
        x_title="Elo",
        row_height=ROW_HEIGHT_OF_METHODS,
        theme=theme,
        entries=len(methods),
        chosen=chosen,
    )
    for place, (method, found) in enumerate(methods.items()):
        name = METHOD_NAMES.get(method, method)
        unit = "prompts" if method == RAEE else "games"
        marks = [
            RowMark(model, elo, _elo_hover(model, name, elo, f"n {elo.n:,} {unit}"), model)
            for model, elo in found.elos().items()
        ]
        # Open markers for the others, so that colour does not tell alone.
        other = Style(colour=COLOURS[theme].raters[place], symbol=f"{MARKERS[place]}-open")
        style = _accent(theme) if method == RAEE else other
        rows.add(_short(name), style, marks, offset=0.2 * (place - (len(methods) - 1) / 2))
    return rows.along_elo()


def tasks_figure(
    found: BetweenTasks, *, shown: int | None = None, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Mean over categories of each model's Elo with its interval, and below it the Elo of each category.

    The key of a mean is the model, that of a category's mark `task_key`; the latter are left out where they
    would be more than `MAX_POINTS`.
    """
    spreads = found.rows[:shown]
    dots = found.boards if len(spreads) * len(found.boards) <= MAX_POINTS else {}
    rows = ModelRows(
        [row.model for row in spreads],
        x_title="Elo",
        row_height=ROW_HEIGHT_OF_TASKS,
        theme=theme,
        entries=len(dots) + 1,
        chosen=chosen,
    )
    colours = COLOURS[theme].raters
    for place, (task, board) in enumerate(dots.items()):
        name, colour = task or "no category", colours[place % len(colours)]
        marks = [
            RowMark(model, elo, _elo_hover(model, name, elo, f"n {elo.n:,} prompts"), task_key(task, model))
            for model, elo in board.elos().items()
        ]
        style = Style(colour=colour, symbol=f"{MARKERS[place % len(MARKERS)]}-open")
        rows.add(_short(name), style, marks, offset=0.28, size=7, bars=False)
    name = "mean of categories"
    means = []
    for row in spreads:
        n = f"n {row.prompts:,} prompts in {row.n_tasks} categories"
        means.append(RowMark(row.model, row.mean, _elo_hover(row.model, name, row.mean, n), row.model))
    rows.add(name, _accent(theme), means)
    return rows.along_elo()


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
        y_title=f"Elo by {_short(found.name)}, centred",
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
    ranked = found.mean.rows[:shown]
    several = len(found.judges) > 1 and len(ranked) * len(found.judges) <= MAX_POINTS
    dots = found.judges if several else {}
    rows = ModelRows(
        [row.model for row in ranked],
        x_title=f"beats {_short(found.mean.anchor)}, %",
        row_height=ROW_HEIGHT_OF_SCORES,
        theme=theme,
        entries=len(dots) + 1 + (votes is not None),
        start=50,
    )
    for judge, known in dots.items():
        marks = [_score_mark(row, f"judge {label(judge)}") for row in known.rows]
        rows.add(_short(judge), styles[judge], marks, offset=0.3, size=7, opacity=0.75, bars=False)
    only = next(iter(found.judges)) if len(found.judges) == 1 else None
    marks = [_score_mark(row, f"n {row.n:,} items, {row.n_judges} judges") for row in ranked]
    name = f"scores, {_short(only)}" if only else "scores, mean of judges"
    rows.add(name, styles[only] if only else _accent(theme), marks, offset=-0.12, size=10)
    if votes is not None:
        marks = []
        for row in votes.rows:
            p, ends = row.p_corrected, f"({row.p_corrected.low:.3f} to {row.p_corrected.high:.3f})"
            hover = f"<b>{label(row.model)}</b><br>by votes {p.value:.3f} {ends}<br>n {row.n:,} prompts"
            marks.append(RowMark(row.model, p.scaled(100), hover, row.model))
        style = Style(colour=COLOURS[theme].neutral, symbol="diamond-open")
        rows.add("votes", style, marks, offset=0.1)
    low, high = min(rows.reach), max(rows.reach)
    rows.fig.update_xaxes(range=[max(0.0, low - 3), min(100.0, high + 3)], nticks=7)
    return rows.with_line(50, "50 %")


def _score_mark(row: ScoreRow, about: str) -> RowMark:
    ends = f" ({row.p.low:.3f} to {row.p.high:.3f})" if row.p.has_interval else ""
    by_scores = f"by scores {row.p.value:.3f}{ends}<br>mean score {row.mean:.2f}"
    hover = f"<b>{label(row.model)}</b><br>{by_scores}<br>{about}"
    return RowMark(row.model, row.p.scaled(100), hover, row.model)
