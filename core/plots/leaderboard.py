"""Figures of the Leaderboard page: a board by tiers, and one board under two anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.figures import COLOURS, MAX_POINTS, Style, Theme, error_bars, label
from core.leaderboard.raee import Board, BoardRow
from core.plots.rows import (
    NAME_LIMIT,
    elo_axis,
    marker,
    rows_figure,
    undimmed,
    zero_line,
)
from core.words.signed import signed_elo

if TYPE_CHECKING:
    from core.figures import Figure

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

    Source: [RAEE] anchor swap; methods §6.
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
