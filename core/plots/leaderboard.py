"""Figures of the Leaderboard page: a board by tiers, and one board under two anchors.

Figures with a row a model beside the board itself: other ratings, categories, an outside leaderboard.

Figure of the Leaderboard's debiased rates: what gold would give, what labels and judge say alone.

Win probability of each model by direct scores, with the judges' own and that by votes beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..interpretation.format import signed_elo
from ..interpretation.leaderboard import METHOD_NAMES
from ..leaderboard.anchored import Board, BoardRow
from ..leaderboard.order_ratings import RAEE
from ..leaderboard.outside import OutsideComparison
from ..leaderboard.rating_methods import Ratings
from ..leaderboard.robustness import BetweenTasks
from ..leaderboard.score_board import ScoreBoards, ScoreRow
from .base import (
    COLOURS,
    MARKERS,
    MAX_POINTS,
    Style,
    Theme,
    error_bars,
    figure,
    ideal_line,
    ideal_trace,
    label,
)
from .forest import (
    NAME_LIMIT,
    ForestMark,
    Series,
    elo_axis,
    forest,
    forest_mark,
    marker,
    rows_figure,
    undimmed,
    zero_line,
)

if TYPE_CHECKING:
    from ..leaderboard.debiased import DebiasedBoard
    from .base import Figure


ROW_HEIGHT, ROW_HEIGHT_WITH_MORE = 20, 26


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
    names = {row.model: place for place, row in enumerate(rows)}
    dots = judged or {}
    if len(rows) * len(dots) > MAX_POINTS:
        dots = {}
    fig = rows_figure(
        [row.model for row in rows],
        x_title="Elo, win probability",
        row_height=ROW_HEIGHT_WITH_MORE if dots else ROW_HEIGHT,
        theme=theme,
        entries=len(dots) + 1 if dots else 0,
    )
    _tier_bands(fig, rows, theme)
    colours = COLOURS[theme]
    ends = [0.0]
    for name, known in dots.items():
        seen = [row for row in known.rows if row.model in names]
        keys = [judge_key(name, row.model) for row in seen]
        style = (styles or {})[name]
        ends += [row.elo for row in seen]
        fig.add_scatter(
            x=[row.elo for row in seen],
            y=[names[row.model] + 0.28 for row in seen],
            mode="markers",
            name=label(name, limit=NAME_LIMIT),
            customdata=[[key] for key in keys],
            hovertext=[f"{_hover(row, corrected)}<br>judge {label(name)}" for row in seen],
            hoverinfo="text",
            marker=marker(style, 7, keys, chosen, theme, opacity=0.75),
            **undimmed(0.75),
        )
    style = (styles or {})[judge] if judge else Style(colour=colours.accent, symbol="circle")
    limits = np.array([_limits(row, corrected) for row in rows]).reshape(-1, 2)
    elo = np.array([row.elo for row in rows])
    keys = [row.model for row in rows]
    fig.add_scatter(
        x=elo,
        y=list(range(len(rows))),
        mode="markers",
        name=label(judge, limit=NAME_LIMIT) if judge else "all, pooled",
        customdata=[[key] for key in keys],
        hovertext=[_hover(row, corrected) for row in rows],
        hoverinfo="text",
        error_x=error_bars(elo, limits[:, 0], limits[:, 1], style.colour),
        marker=marker(style, 10, keys, chosen, theme),
        **undimmed(1),
    )
    elo_axis(fig, min([*ends, *limits[:, 0]]), max([*ends, *limits[:, 1]]), probabilities=True)
    zero_line(fig, len(rows), theme)
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
    """Elo of the models on both boards, each board centred on its mean over them, one row a model.

    Filled marks are the board `one`, open ones `two`; they lie above each other where the anchor does not
    matter. Their distance is the centred shift of `anchors.SwapRow`, whose `models` to give. The key of a
    mark is `swap_key(anchor, model)`.

    Source: [RAEE] anchor swap; docs/methods.md §6.
    """
    listed = [row.model for row in one.rows if row.model in models]
    fig = rows_figure(
        listed,
        x_title="Elo, centred",
        row_height=ROW_HEIGHT_WITH_MORE,
        theme=theme,
        entries=2,
    )
    colours = COLOURS[theme]
    looks = (
        Style(colour=colours.raters[0], symbol="circle"),
        Style(colour=colours.raters[1], symbol="diamond-open"),
    )
    ends: list[float] = [0.0]
    for known, style, offset in zip((one, two), looks, (-0.15, 0.15), strict=True):
        by_name = {row.model: row for row in known.rows}
        rows = [by_name[name] for name in listed]
        elo = np.array([row.elo for row in rows])
        mean = elo.mean() if len(elo) else 0.0
        limits = np.array([_limits(row, corrected) for row in rows]).reshape(-1, 2) - mean
        keys = [swap_key(known.anchor, row.model) for row in rows]
        ends += limits.reshape(-1).tolist()
        fig.add_scatter(
            x=elo - mean,
            y=[place + offset for place in range(len(rows))],
            mode="markers",
            name=f"against {label(known.anchor, limit=NAME_LIMIT)}",
            customdata=[[key] for key in keys],
            hovertext=[
                f"{_hover(row, corrected)}<br>against {label(known.anchor)}"
                f"<br>centred {signed_elo(row.elo - mean)}"
                for row in rows
            ],
            hoverinfo="text",
            error_x=error_bars(elo - mean, limits[:, 0], limits[:, 1], style.colour),
            marker=marker(style, 10, keys, chosen, theme),
            **undimmed(1),
        )
    elo_axis(fig, min(ends), max(ends), probabilities=False)
    zero_line(fig, len(listed), theme)
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


def _limits(row: BoardRow, corrected: bool) -> tuple[float, float]:
    return (row.elo_low_corrected, row.elo_high_corrected) if corrected else (row.elo_low, row.elo_high)


def _hover(row: BoardRow, corrected: bool) -> str:
    low, high = _limits(row, corrected)
    p_low, p_high = (row.p_low_corrected, row.p_high_corrected) if corrected else (row.p_low, row.p_high)
    return (
        f"<b>{label(row.model)}</b><br>Elo {signed_elo(row.elo)} ({signed_elo(low)} to {signed_elo(high)})"
        f"<br>win probability {row.p:.3f} ({p_low:.3f} to {p_high:.3f})"
        f"<br>n {row.n:,} prompts, tier {row.tier}"
    )


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


def debiased_figure(
    found: DebiasedBoard,
    *,
    style: Style,
    shown: int | None = None,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Win rate of each model against the anchor, best on top; the key of a mark is the model.

    Filled marks are the debiased rates, hollow ones the labels alone, bars what the judge says alone, which
    has no interval: what is wrong with it is its bias, not its spread.
    """
    debiased, labels, judge = [], [], []
    for row in found.rows[:shown]:
        rate, n = row.rate, f"{row.rate.n_labelled:,} labelled, {row.rate.n_unlabelled:,} not"
        ends = {"low": rate.low, "high": rate.high}
        debiased.append(ForestMark(row=row.model, value=rate.value, n=f"n {n}", key=row.model, **ends))
        labels.append(
            forest_mark(rate, "labels", row=row.model, n=f"n {rate.n_labelled:,} labelled", key=row.model)
        )
        judge.append(ForestMark(row=row.model, value=rate.judge, low=None, high=None, n=f"n {n}"))
    series = [
        Series(name="as gold would judge", marks=debiased),
        Series(name="labels alone", marks=labels, look="hollow"),
        Series(name="judge alone", marks=judge, look="plain"),
    ]
    return forest(
        series,
        styles=style,
        x_title="win rate, a tie being half a win",
        x_range=(-0.02, 1.02),
        reference=0.5,
        theme=theme,
        chosen=chosen,
    )


SCORE_ROW_HEIGHT = 32


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
        row_height=SCORE_ROW_HEIGHT,
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
            hovertext=[_score_hover(row, f"judge {label(judge)}") for row in seen],
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
        hovertext=[_score_hover(row, f"n {row.n:,} items, {row.n_judges} judges") for row in rows],
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


def _score_hover(row: ScoreRow, about: str) -> str:
    ends = "" if row.p_low is None else f" ({row.p_low:.3f} to {row.p_high:.3f})"
    return f"<b>{label(row.model)}</b><br>by scores {row.p:.3f}{ends}<br>mean score {row.mean:.2f}<br>{about}"
