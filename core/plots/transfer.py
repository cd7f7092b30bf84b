"""Figures of a transfer: the matrix to click on, what two fits decide, loss against distance."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from core.figures import COLOURS, Theme, Trace, figure, ideal_trace, label
from core.plots.aggregation import MAP_PIXELS, MOST_SIGNS, SIGNS, UNSEEN, Pattern, pattern_key
from core.plots.confusion import tint
from core.words.sentences import SAYS
from core.words.spans import span

if TYPE_CHECKING:
    from core.aggregation.btd import DecisionMap
    from core.experiments.task_distance import TaskDistances
    from core.experiments.transfer import Transfer
    from core.figures import Figure

CELL = 50
"""Height of a row of the transfer matrix, pixels."""
NAME_LIMIT = 12
LINE = 16
"""Characters a line, of three, of a long name beside the matrix."""


def transfer_key(fitted_on: str, evaluated_on: str) -> str:
    """Key of a cell, also what a select box shows."""
    return f"{fitted_on} → {evaluated_on}"


def transfer_figure(found: Transfer, *, theme: Theme = "light", chosen: str | None = None) -> Figure:
    """Change of MAE by fitting on the row task instead of the column's own; key `transfer_key`.

    The stronger the colour, the larger the change; a fall has another colour and a minus. Cells whose change
    is shown, all pairs at once, have a heavier number.
    """
    colours = COLOURS[theme]
    k = len(found.tasks)
    largest = max(float(np.abs(found.change).max()), 1e-9)
    places = [(row, column) for row in range(k) for column in range(k)]
    keys = [transfer_key(found.tasks[row], found.tasks[column]) for row, column in places]
    shown = (found.change_low > 0) | (found.change_high < 0)
    fig = figure(
        x_title="evaluated on",
        y_title="fitted on",
        theme=theme,
        height=110 + CELL * min(k, 12) if k <= 12 else 110 + 30 * k,
        legend=False,
    )
    fig.update_layout(
        shapes=[
            {
                "type": "rect",
                "layer": "below",
                "x0": column - 0.48,
                "x1": column + 0.48,
                "y0": row - 0.46,
                "y1": row + 0.46,
                "fillcolor": tint(
                    colours.raters[1] if found.change[row, column] > 0 else colours.accent,
                    colours.page,
                    float(abs(found.change[row, column])) / largest,
                ),
                "line": {
                    "color": colours.text if key == chosen else colours.grid,
                    "width": 3 if key == chosen else 1,
                },
            }
            for key, (row, column) in zip(keys, places, strict=True)
        ]
    )
    same = {"marker": {"opacity": 0}, "textfont": {"color": colours.text}}
    fig.add_scatter(
        x=[column for _, column in places],
        y=[row for row, _ in places],
        mode="markers+text",
        customdata=[[key] for key in keys],
        text=[_cell_text(found, row, column, bool(shown[row, column])) for row, column in places],
        textposition="middle center",
        textfont={"color": colours.text, "size": 12 if k < 7 else 10},
        hovertext=[_cell_hover(found, row, column) for row, column in places],
        hoverinfo="text",
        marker={"symbol": "square", "size": 44, "opacity": 0, "color": colours.page},
        selected=same,
        unselected=same,
    )
    # Long names cannot head a column on a phone, and what tells judges apart is often their end.
    numbered = max(len(name) for name in found.tasks) > NAME_LIMIT
    heads = [str(i + 1) if numbered else label(name) for i, name in enumerate(found.tasks)]
    rows = [f"{_wrapped(name)} · {i + 1}" if numbered else heads[i] for i, name in enumerate(found.tasks)]
    axis = {"tickvals": list(range(k)), "showgrid": False, "ticks": "", "fixedrange": True}
    fig.update_xaxes(range=[-0.5, k - 0.5], side="top", ticktext=heads, **axis)
    fig.update_yaxes(range=[k - 0.5, -0.5], ticktext=rows, **axis)
    return fig


def borrowed_figure(
    own: DecisionMap,
    borrowed: DecisionMap,
    *,
    seen: Mapping[Pattern, int],
    theme: Theme = "light",
    height: int = 380,
) -> Figure:
    """What n votes become by a task's own fit, and heavily outlined where the borrowed fit says otherwise.

    A letter is the own label; where they differ, own then borrowed. Squares without a comparison are pale.
    """
    colours = COLOURS[theme]
    fill = {1: colours.raters[0], 0: colours.neutral, -1: colours.raters[1]}
    size = max(3.0, 0.92 * MAP_PIXELS / (own.n + 1))
    patterns = list(zip(own.plus.tolist(), own.tie.tolist(), own.minus.tolist(), strict=True))
    decided = list(zip(own.decision.tolist(), borrowed.decision.tolist(), strict=True))
    counted = [seen.get(pattern, 0) for pattern in patterns]
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": own.plus.tolist(),
            "y": own.minus.tolist(),
            "mode": "markers+text" if own.n <= MOST_SIGNS else "markers",
            "showlegend": False,
            "text": [SIGNS[a] if a == b else f"{SIGNS[a]}{SIGNS[b]}" for a, b in decided],
            "textposition": "middle center",
            "textfont": {"color": [colours.page if n else colours.text for n in counted], "size": 12},
            "hovertext": [
                f"<b>{pattern_key(*pattern)}</b><br>own fit: {SAYS[a]}<br>borrowed: {SAYS[b]}"
                f"<br>n {n:,} comparisons"
                for pattern, (a, b), n in zip(patterns, decided, counted, strict=True)
            ],
            "hoverinfo": "text",
            "marker": {
                "symbol": "square",
                "size": size,
                "color": [fill[a] for a, _ in decided],
                "opacity": [1.0 if n else UNSEEN for n in counted],
                "line": {"color": colours.text, "width": [2.5 if a != b else 0 for a, b in decided]},
            },
        }
    ]
    # Empty traces make the legend: colours of labels, not of whichever square comes first.
    traces += [
        {
            "type": "scatter",
            "x": [None],
            "y": [None],
            "mode": "markers",
            "name": SAYS[said],
            "hoverinfo": "skip",
            "marker": {"symbol": "square", "size": 12, "color": fill[said]},
        }
        for said in (1, 0, -1)
    ]
    room = {"range": [-0.6, own.n + 0.6], "showgrid": False} | ({"dtick": 1} if own.n <= MOST_SIGNS else {})
    return figure(
        x_title="votes for A",
        y_title="votes for B",
        theme=theme,
        height=height,
        square=True,
        traces=traces,
        x_axis=room,
        y_axis=room,
    )


def distance_figure(
    found: Transfer, distances: TaskDistances, *, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Distance of two tasks (votes and gold together) against the loss of fits on all labels (DRPS)."""
    colours = COLOURS[theme]
    place = [distances.tasks.index(name) for name in found.tasks]
    k = len(place)
    pairs = [(row, column) for row in range(k) for column in range(k) if row != column]
    keys = [transfer_key(found.tasks[row], found.tasks[column]) for row, column in pairs]
    x = [float(distances.joint[place[row], place[column]]) for row, column in pairs]
    y = [float(found.loss_change[row, column]) for row, column in pairs]
    trace: Trace = {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "markers",
        "showlegend": False,
        "customdata": [[key] for key in keys],
        "hovertext": [
            f"<b>{label(key, limit=90)}</b><br>distance {a:.3f}<br>DRPS change {b:+.4f}"
            f"<br>MAE change {found.change[pair]:+.3f}"
            for key, a, b, pair in zip(keys, x, y, pairs, strict=True)
        ],
        "hoverinfo": "text",
        "marker": {
            "size": 9,
            "color": colours.accent,
            "line": {"color": colours.text, "width": [3 if key == chosen else 0 for key in keys]},
        },
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }
    zero = ideal_trace(x=(0.0, max(x)), y=(0.0, 0.0), name="no loss", theme=theme)
    return figure(
        x_title="energy distance, votes and gold together",
        y_title="DRPS change",
        theme=theme,
        height=320,
        legend=False,
        traces=[zero, trace],
    )


def _cell_text(found: Transfer, row: int, column: int, shown: bool) -> str:
    if row == column:
        return f"{found.mae[row, row]:.2f}"
    change = round(float(found.change[row, column]), 3)
    if change == 0:
        return "0"
    text = f"{change:+.3f}".replace("0.", ".", 1).replace("-", "−")
    return f"<b>{text}</b>" if shown else text


def _cell_hover(found: Transfer, row: int, column: int) -> str:
    fitted, evaluated = (label(found.tasks[i], limit=60) for i in (row, column))
    n = f"n {int(found.n[column]):,} comparisons, {found.n_splits} splits"
    if row == column:
        return f"<b>{fitted}</b>, own labels<br>MAE {found.mae[row, row]:.3f}<br>{n}"
    ends = span(found.change_low[row, column], found.change_high[row, column], "+.3f")
    return (
        f"<b>{evaluated}</b>, labels of {fitted}<br>MAE {found.mae[row, column]:.3f} instead of "
        f"{found.mae[column, column]:.3f}<br>change {found.change[row, column]:+.3f} ({ends})<br>{n}"
    )


def _wrapped(name: str) -> str:
    """A long name in up to three lines; the middle goes first, as names differ near their ends."""
    text = " ".join(name.split())
    if len(text) > 3 * LINE:
        text = f"{text[: 2 * LINE - 2]}… {text[-LINE:]}"
    return "<br>".join(label(line) for line in wrap(text, LINE))
