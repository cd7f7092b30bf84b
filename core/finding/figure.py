"""A result in, a `go.Figure` with the result's own numbers out. The only module that imports
Plotly.

Names that come from votes are hostile: Plotly reads a little HTML in hover texts, legends and tick
labels, so they enter a figure only through `label`. A mark to click on carries its key as the first
`customdata`.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from plotly.graph_objects import Figure as Figure

    from ..records import IntArray
    from ..stats.estimate import Estimates


Theme = Literal["light", "dark"]
Trace = dict[str, Any]

SHARE_TICKS = "~%"
"""Ticks of a share, in percent as sentences have it."""
MAX_POINTS = 1_000
"""More marks than this in one figure make a browser slow and show nothing more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours:
    """Colours of one theme: those of the page, and one palette for raters.

    `raters` is Okabe and Ito's palette, which colour-blind readers can tell apart, without its
    black (the text's), darkened on white or lightened on black to stand out from the page by 3 to 1
    or more. `ok` to `unclear` are grades, as text as dark or light as text has to be (4.5 to 1),
    beside a sign.
    """

    page: str
    text: str
    grid: str
    neutral: str
    human: str
    accent: str
    ok: str
    warn: str
    fail: str
    unclear: str
    raters: tuple[str, ...]


COLOURS: dict[Theme, Colours] = {
    "light": Colours(
        page="#ffffff",
        text="#1b1f24",
        grid="#e3e7eb",
        neutral="#6b7480",
        human="#6b7480",
        accent="#0b5f8a",
        ok="#00735a",
        warn="#a84700",
        fail="#b3261e",
        unclear="#5b6570",
        raters=("#0072b2", "#d55e00", "#009e73", "#b3588b", "#b87f00", "#2b8fc9", "#8f8200"),
    ),
    "dark": Colours(
        page="#14171a",
        text="#e6e9ec",
        grid="#2c333a",
        neutral="#9aa4af",
        human="#a5aeb8",
        accent="#56b4e9",
        ok="#3ccfa4",
        warn="#f0a03c",
        fail="#ff8a80",
        unclear="#b4bdc7",
        raters=("#4aa3e0", "#f0803c", "#1fbf92", "#e29bc4", "#e69f00", "#8fd0f5", "#f0e442"),
    ),
}

MARKERS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "cross",
    "triangle-down",
    "x",
    "pentagon",
    "star",
    "hexagram",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one rater looks on every page."""

    colour: str
    symbol: str
    dash: str = "solid"


def rater_styles(
    raters: Mapping[str, str] | Iterable[str],
    *,
    dummies: Iterable[str] = (),
    theme: Theme = "light",
) -> dict[str, Style]:
    """Give each rater of a data set its colour and marker, by its place in the sorted names.

    raters : name → rater type (`llm`, `human`), or names alone. Pass all raters of the data set,
        not the filtered ones, so that a filter does not change a colour. Humans are grey, dummies
        grey and dashed.

    Seven colours and ten markers have no common factor, so 70 judges differ in colour or marker.
    """
    colours = COLOURS[theme]
    types = dict(raters) if isinstance(raters, Mapping) else dict.fromkeys(raters, "llm")
    humans = sorted(name for name, rater_type in types.items() if rater_type == "human")
    judges = sorted(name for name, rater_type in types.items() if rater_type != "human")
    styles = {
        name: Style(
            colour=colours.raters[i % len(colours.raters)], symbol=MARKERS[i % len(MARKERS)]
        )
        for i, name in enumerate(judges)
    }
    for i, name in enumerate(humans):
        styles[name] = Style(colour=colours.human, symbol=MARKERS[i % len(MARKERS)] + "-open")
    for i, name in enumerate(sorted(dummies)):
        styles[name] = Style(
            colour=colours.neutral, symbol=MARKERS[i % len(MARKERS)] + "-open", dash="dash"
        )
    return styles


def accent(theme: Theme) -> Style:
    """How what is no rater looks."""
    return Style(colour=COLOURS[theme].accent, symbol="circle")


def label(name: object, *, limit: int = 40) -> str:
    """Make a name from votes safe and short enough for a hover text, a legend or a tick."""
    text = " ".join(str(name).split())
    return html.escape(text if len(text) <= limit else text[: limit - 1] + "…", quote=False)


def thinned(length: int, *, limit: int = MAX_POINTS) -> IntArray:
    """Positions of at most `limit` of `length` points of a curve, evenly spread, both ends among
    them.
    """
    if length <= limit:
        return np.arange(length, dtype=np.int64)
    return np.unique(np.linspace(0, length - 1, limit).round().astype(np.int64))


def figure(
    x_title: str,
    y_title: str,
    *,
    theme: Theme = "light",
    height: int = 420,
    square: bool = False,
    legend: bool = True,
    traces: Sequence[Trace] = (),
    x_axis: Mapping[str, Any] | None = None,
    y_axis: Mapping[str, Any] | None = None,
    layout: Mapping[str, Any] | None = None,
) -> go.Figure:
    """Make a figure in the product's look; `square` gives both axes one scale.

    traces : as dicts with their `type`; handing over all at once takes half the time of adding
        each.
    x_axis, y_axis : further settings of an axis, such as its `range`.
    layout : other parts; to update it afterwards takes longer than to make it.
    """
    import plotly.graph_objects as go

    x = {"title": {"text": x_title}, **(x_axis or {})}
    y = {"title": {"text": y_title}, **(y_axis or {})}
    if square:
        x |= {"constrain": "domain"}
        y |= {"constrain": "domain", "scaleanchor": "x", "scaleratio": 1}
    whole = {
        "height": height,
        "showlegend": legend,
        "xaxis": x,
        "yaxis": y,
        "template": _template(theme),
        **(layout or {}),
    }
    return go.Figure(data=list(traces), layout=whole)


def error_bars(
    found: Estimates, colour: str, *, thickness: float = 1.5, width: int = 3
) -> dict[str, Any]:
    """`error_x` or `error_y` of marks with intervals; an end that is unknown (NaN) is not drawn."""
    return {
        "type": "data",
        "symmetric": False,
        "array": np.nan_to_num(found.high - found.value),
        "arrayminus": np.nan_to_num(found.value - found.low),
        "color": colour,
        "thickness": thickness,
        "width": width,
    }


def hover(texts: Iterable[str]) -> Trace:
    """The hover text of each mark of a trace."""
    return {"hovertext": list(texts), "hoverinfo": "text"}


def undimmed(opacity: float, **more: Any) -> Trace:
    """For marks to click on: the ring of `chosen` says what is selected, not dimming the rest."""
    look = {"marker": {"opacity": opacity}, **more}
    return {"selected": look, "unselected": look}


def trace(
    x: Any, y: Any, name: str, colour: str, *, width: float = 2, dash: str = "solid", **more: Any
) -> Trace:
    """A curve, with further settings of its trace in `more`."""
    line = {"color": colour, "width": width, "dash": dash}
    return {"type": "scatter", "x": x, "y": y, "mode": "lines", "name": name, "line": line, **more}


def ideal_trace(*, x: Any, y: Any, name: str, theme: Theme) -> Trace:
    """What a perfect rater, or gold, would show: a thin neutral line. Put it first, so that it is
    behind.
    """
    return trace(x, y, name, COLOURS[theme].neutral, width=1, dash="dot", hoverinfo="skip")


def tint(colour: str, page: str, share: float) -> str:
    """Mix of a colour and the page's, at most half, so that text stays readable on it."""
    weight = 0.0 if share != share else 0.04 + 0.46 * share
    mixed = (
        round(weight * int(colour[i : i + 2], 16) + (1 - weight) * int(page[i : i + 2], 16))
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{one:02x}" for one in mixed)


@dataclass(frozen=True, slots=True)
class Tile:
    """A coloured square of a matrix: where it is, its key, what is written on it and said of it."""

    x: int
    y: int
    key: str
    colour: str
    text: str
    hover: str


def tiled(
    tiles: Sequence[Tile], *, size: int, text_size: int, theme: Theme, chosen: str | None
) -> tuple[Trace, list[dict[str, Any]]]:
    """The square markers that take clicks, and below them tiles, which scale with the page: a trace
    and shapes of a figure.

    Tiles of one colour are one shape, since each shape takes a browser about a third of a
    millisecond.
    """
    colours = COLOURS[theme]
    alike: dict[tuple[bool, str], list[Tile]] = {}
    for tile in sorted(tiles, key=lambda tile: tile.key == chosen):
        alike.setdefault((tile.key == chosen, tile.colour), []).append(tile)
    shapes = [
        {
            "type": "path",
            "layer": "below",
            "path": "".join(
                f"M{tile.x - 0.48},{tile.y - 0.46}H{tile.x + 0.48}V{tile.y + 0.46}H{tile.x - 0.48}Z"
                for tile in same
            ),
            "fillcolor": colour,
            "line": {"color": colours.text if mine else colours.grid, "width": 3 if mine else 1},
        }
        for (mine, colour), same in alike.items()
    ]
    marks: Trace = {
        "type": "scatter",
        "x": [tile.x for tile in tiles],
        "y": [tile.y for tile in tiles],
        "mode": "markers+text",
        "customdata": [[tile.key] for tile in tiles],
        "text": [tile.text for tile in tiles],
        "textposition": "middle center",
        "textfont": {"color": colours.text, "size": text_size},
        "marker": {"symbol": "square", "size": size, "opacity": 0, "color": colours.page},
        **hover(tile.hover for tile in tiles),
        **undimmed(0, textfont={"color": colours.text}),
    }
    return marks, shapes


def to_json(fig: go.Figure) -> str:
    """A figure as the JSON that `Plotly.react` takes; the same figure gives the same text."""
    return str(fig.to_json(engine="json"))


@cache
def _template(theme: Theme) -> go.layout.Template:
    import plotly.graph_objects as go

    colours = COLOURS[theme]
    axis = {
        "gridcolor": colours.grid,
        "linecolor": colours.neutral,
        "tickcolor": colours.neutral,
        "zeroline": False,
        "showline": True,
        "ticks": "outside",
        "automargin": True,
        "title": {"standoff": 8},
    }
    return go.layout.Template(
        layout={
            "paper_bgcolor": colours.page,
            "plot_bgcolor": colours.page,
            "font": {
                "family": "Source Sans, system-ui, sans-serif",
                "size": 13,
                "color": colours.text,
            },
            "colorway": colours.raters,
            "margin": {"l": 8, "r": 32, "t": 32, "b": 8},
            "xaxis": axis,
            "yaxis": axis,
            "legend": {
                "orientation": "h",
                "yanchor": "bottom",
                "y": 1.0,
                "xanchor": "left",
                "x": 0,
            },
            "hoverlabel": {
                "bgcolor": colours.page,
                "bordercolor": colours.neutral,
                "font": {"color": colours.text},
                "align": "left",
            },
            # Down the right side, in its own margin: above, it would cover the legend.
            "modebar": {"orientation": "v", "bgcolor": "rgba(0,0,0,0)"},
            "dragmode": False,
            "clickmode": "event+select",
        }
    )
