"""Figures of Scores: the judge's levels against people's, rates, and the pass rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from ..wording import count, percent
from .base import COLOURS, figure, hover, tint, undimmed
from .forest import Shown, forest, series

if TYPE_CHECKING:
    from ..scores.agreement import Leniency
    from ..scores.levels import LevelCounts
    from ..scores.pass_rate import PassRate
    from ..scores.passing import PassFail
    from .base import Figure, Theme

CELL = 84
"""Side of the cell of two levels in pixels; more levels have smaller ones."""
WIDTH = 330
"""Pixels that all cells of a line have together, so that they fit a phone."""


def level_key(person: str, judge: str) -> str:
    """What a cell is called: people's level, then the judge's."""
    return f"people {person}, judge {judge}"


def levels_figure(
    table: LevelCounts, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """People's level (rows) against the judge's (columns): answers, and their share of the row.

    A cell is the stronger in colour the larger its share; its key is `level_key`, and empty cells
    have none.
    """
    colours = COLOURS[theme]
    rows, columns = table.counts.shape
    size = min(CELL, WIDTH // max(columns, 1))
    fig = figure(
        "the judge says",
        "people say",
        theme=theme,
        height=120 + rows * (size + 6),
        square=True,
        legend=False,
    )
    places = [(row, column) for row in range(rows) for column in range(columns)]
    counts = [int(table.counts[place]) for place in places]
    of_row = table.counts.sum(axis=1)
    shares = [n / max(int(of_row[row]), 1) for (row, _), n in zip(places, counts, strict=True)]
    keys = [level_key(table.people[row], table.judge[column]) for row, column in places]
    fig.add_scatter(
        x=[column for _, column in places],
        y=[row for row, _ in places],
        mode="markers+text",
        customdata=[[key if n else None] for key, n in zip(keys, counts, strict=True)],
        text=[
            f"{n:,}<br>{percent(share)}" if size >= CELL else f"{n:,}"
            for n, share in zip(counts, shares, strict=True)
        ],
        textposition="middle center",
        textfont={"color": colours.text, "size": 13 if size >= 40 else 12},
        marker={
            "symbol": "square",
            "size": size,
            "opacity": 1,
            "color": [
                tint(
                    colours.accent
                    if table.people[row] == table.judge[column]
                    else colours.raters[1],
                    colours.page,
                    share,
                )
                for (row, column), share in zip(places, shares, strict=True)
            ],
            "line": {
                "color": [colours.text if key == chosen else colours.grid for key in keys],
                "width": [3 if key == chosen else 1 for key in keys],
            },
        },
        **hover(
            f"<b>{key}</b><br>{count(n, 'answer')}, {percent(share)} of the row"
            for key, n, share in zip(keys, counts, shares, strict=True)
        ),
        **undimmed(1, textfont={"color": colours.text}),
    )
    axis = {"showgrid": False, "ticks": "", "showline": False, "zeroline": False}
    fig.update_xaxes(
        tickvals=list(range(columns)),
        ticktext=list(table.judge),
        range=[-0.5, columns - 0.5],
        **axis,
    )
    fig.update_yaxes(
        tickvals=list(range(rows)), ticktext=list(table.people), range=[-0.5, rows - 0.5], **axis
    )
    return fig


def rates_figure(passing: PassFail, **looks: Unpack[Shown]) -> Figure:
    """How much of what people passed it passes, and how much of what they failed it fails."""
    rates = {
        name: rate
        for name, rate in (("passes what is good", passing.tpr), ("fails what is bad", passing.tnr))
        if rate is not None
    }
    drawn = series("rate", rates, "", "{0.n:,} items", key=None)
    return forest([drawn], "share of that class", x_range=(0, 1), reference=0.9, **looks)


def pass_rate_figure(rates: PassRate, **looks: Unpack[Shown]) -> Figure:
    """The share that passes: as the judge says, by people's labels alone, and corrected."""
    shares = {
        name: share
        for name, share in (
            ("the judge says", rates.judge),
            ("labels alone", rates.labels),
            ("corrected by labels", rates.corrected),
        )
        if share is not None
    }
    drawn = series("pass rate", shares, "", "{0.n:,} items", key=None)
    return forest([drawn], "share that passes", x_range=(0, 1), **looks)


def bias_figure(leaning: Leniency, **looks: Unpack[Shown]) -> Figure:
    """How much higher than people it scores, by people's score."""
    levels = {
        f"people {'about ' if level.half_width else ''}{level.score:g}": level
        for level in leaning.by_level
    }
    drawn = series("bias", levels, "bias", "{0.n:,} items", key=None)
    return forest([drawn], "judge − people, share of the scale", reference=0.0, **looks)
