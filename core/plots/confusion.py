"""Figures of the Confusion page: the 3 × 3 table as cells to click on, and accuracies of all judges."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING

from ..interpretation.confusion import cell_key
from ..interpretation.format import SAYS, percent
from .base import COLOURS, Style, Theme, figure
from .forest import ForestMark, Series, forest

if TYPE_CHECKING:
    from ..agreement.confusion_matrix import Confusion
    from .base import Figure

ORDER = (1, 0, -1)
"""Labels from left to right and from top to bottom."""
CELL = 84
"""Side of a cell in pixels; three of them and the axis fit a phone."""

NARROW = 3
"""Percentage points; a narrower interval earns a digit after the point."""


def confusion_matrix(
    table: Confusion, *, theme: Theme = "light", chosen: str | None = None, height: int = 400
) -> Figure:
    """Gold (rows) against verdict (columns): count, P(verdict | gold) and its interval in each cell.

    The diagonal is right. A cell is the stronger in colour the larger its share of its row. Its key is
    `cell_key(gold, verdict)`; empty cells have none. A heatmap would not report clicks.
    """
    colours = COLOURS[theme]
    fig = figure(
        x_title="the judge says", y_title="gold says", theme=theme, height=height, square=True, legend=False
    )
    places = [(row, column) for row in range(3) for column in range(3)]
    cells = [(ORDER[row], ORDER[column]) for row, column in places]
    counts = [int(table.counts[g + 1, v + 1]) for g, v in cells]
    shares = [float(table.share.value[g + 1, v + 1]) for g, v in cells]
    texts = [_cell_text(table, g, v) for g, v in cells]
    fig.add_scatter(
        x=[column for _, column in places],
        y=[row for row, _ in places],
        mode="markers+text",
        customdata=[[cell_key(g, v) if n else None] for (g, v), n in zip(cells, counts, strict=True)],
        text=texts,
        textposition="middle center",
        hovertext=[
            f"<b>{cell_key(g, v)}</b><br>{text}<br>{'right' if g == v else 'wrong'}"
            for (g, v), text in zip(cells, texts, strict=True)
        ],
        hoverinfo="text",
        textfont={"color": colours.text, "size": 13},
        marker={
            "symbol": "square",
            "size": CELL,
            "opacity": 1,
            "color": [
                tint(colours.accent if g == v else colours.raters[1], colours.page, share)
                for (g, v), share in zip(cells, shares, strict=True)
            ],
            "line": {
                "color": [colours.text if cell_key(g, v) == chosen else colours.grid for g, v in cells],
                "width": [3 if cell_key(g, v) == chosen else 1 for g, v in cells],
            },
        },
        selected={"marker": {"opacity": 1}, "textfont": {"color": colours.text}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": colours.text}},
    )
    words = [SAYS[label] for label in ORDER]
    axis = {"tickvals": [0, 1, 2], "ticktext": words, "showgrid": False, "ticks": "", "showline": False}
    fig.update_xaxes(range=[-0.5, 2.5], **axis)
    fig.update_yaxes(range=[2.5, -0.5], tickangle=-90, **axis)
    return fig


def accuracies(
    tables: Mapping[str, Confusion],
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Accuracy of each judge with its interval, and the best constant answer on the same verdicts.

    A mark's key is the judge's name; the constant answers have none.
    """
    known = {judge: table for judge, table in tables.items() if table.accuracy is not None}
    right = [
        ForestMark.of(table.accuracy, row=judge, n=f"n {table.n:,} {table.unit}", key=judge)
        for judge, table in known.items()
    ]
    constant = [
        ForestMark(row=judge, value=table.constant, low=None, high=None, n="always the commonest gold label")
        for judge, table in known.items()
    ]
    return forest(
        [
            Series(name="share right", marks=right),
            Series(name="best constant answer", marks=constant, look="plain"),
        ],
        styles=styles,
        x_title="share right",
        x_range=(0, 1),
        theme=theme,
        chosen=chosen,
    )


def _cell_text(table: Confusion, gold: int, verdict: int) -> str:
    cell = gold + 1, verdict + 1
    share = table.share[cell]
    if isnan(share.value):
        return "0<br>never gold"
    low, high = 100 * share.low, 100 * share.high
    digits = 0 if high - low >= NARROW else 1
    return (
        f"{table.counts[cell]:,}<br><b>{percent(share.value, digits)}</b><br>"
        f"{low:.{digits}f}–{high:.{digits}f} %"
    )


def tint(colour: str, page: str, share: float) -> str:
    """Mix of a colour and the page's, at most half, so that text stays readable on it."""
    weight = 0.0 if share != share else 0.04 + 0.46 * share
    mixed = (
        round(weight * int(colour[i : i + 2], 16) + (1 - weight) * int(page[i : i + 2], 16))
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{one:02x}" for one in mixed)
