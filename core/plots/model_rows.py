"""What figures with one row per model and Elo along the axis are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..interpretation.format import signed_elo
from ..leaderboard.anchored import ELO_PER_NAT
from ..stats.estimate import Estimate
from .base import COLOURS, Style, Theme, error_bars, figure, ideal_line, label

if TYPE_CHECKING:
    from .base import Figure


NAME_LIMIT = 24
"""Characters of a model's name beside the axis: what a phone has room for; the hover text has the rest."""
LEGEND_ENTRY = 16
"""Between one line per entry, as on a phone, and two entries per line."""
TICK_STEPS = (10, 25, 50, 100, 200, 400, 1000)


class RowMark(NamedTuple):
    """A mark in the row of a model: its place along the axis, hover text, and the key that a click gives."""

    model: str
    x: Estimate
    hover: str
    key: str


class ModelRows:
    """A figure with a row per model, the first on top, that series of marks are added to.

    entries : of the legend.  chosen : key of the mark to ring.  start : x that the axis reaches in any case.
    """

    def __init__(
        self,
        models: Iterable[str],
        *,
        x_title: str,
        row_height: int,
        theme: Theme,
        entries: int,
        chosen: str | None = None,
        start: float = 0,
    ) -> None:
        self.rows = {model: place for place, model in enumerate(models)}
        self.theme, self.chosen, self.reach = theme, chosen, [start]
        self.fig = figure(
            x_title=x_title,
            y_title="",
            theme=theme,
            height=max(200, 100 + row_height * len(self.rows) + LEGEND_ENTRY * entries),
            legend=entries > 0,
        )
        self.fig.update_layout(margin_t=8)
        self.fig.update_yaxes(
            tickmode="array",
            tickvals=list(self.rows.values()),
            ticktext=[label(shortened(name)) for name in self.rows],
            tickfont={"size": 12},
            range=[len(self.rows) - 0.4, -0.6],
            showgrid=False,
            ticks="",
        )

    def add(
        self,
        name: str,
        style: Style,
        marks: Iterable[RowMark],
        *,
        offset: float = 0,
        size: int = 9,
        opacity: float = 1,
        bars: bool = True,
    ) -> None:
        """Draw one series, of the models that have a row, `offset` below its middle.

        name : as the legend shows it, names from votes made safe by `label`.  bars : draw intervals.
        """
        drawn = [mark for mark in marks if mark.model in self.rows]
        x = [mark.x.value for mark in drawn]
        low = [mark.x.low if mark.x.has_interval else mark.x.value for mark in drawn]
        high = [mark.x.high if mark.x.has_interval else mark.x.value for mark in drawn]
        keys = [mark.key for mark in drawn]
        along = {"x": np.array(x), "error_x": error_bars(x, low, high, style.colour)} if bars else {"x": x}
        self.reach += [*x, *low, *high] if bars else x
        self.fig.add_scatter(
            **along,
            y=[self.rows[mark.model] + offset for mark in drawn],
            mode="markers",
            name=name,
            customdata=[[key] for key in keys],
            hovertext=[mark.hover for mark in drawn],
            hoverinfo="text",
            marker=marker(style, size, keys, self.chosen, self.theme, opacity=float(opacity)),
            **undimmed(opacity),
        )

    def along_elo(self, *, probabilities: bool = False) -> Figure:
        """The figure, its axis in Elo, with a line at 0."""
        elo_axis(self.fig, min(self.reach), max(self.reach), probabilities=probabilities)
        return self.with_line(0, "0")

    def with_line(self, x: float, name: str) -> Figure:
        """The figure, with a thin line across all rows, such as at the anchor's Elo."""
        ideal_line(self.fig, x=(x, x), y=(-0.6, len(self.rows) - 0.4), name=name, theme=self.theme)
        self.fig.data[-1].showlegend = False
        return self.fig


def shortened(name: str) -> str:
    """Cut the middle of a long name: versions, which tell models apart, stand at the end."""
    text = " ".join(name.split())
    return text if len(text) <= NAME_LIMIT else f"{text[: NAME_LIMIT - 11]}…{text[-10:]}"


def elo_axis(fig: Figure, low: float, high: float, *, probabilities: bool) -> None:
    """Few round ticks that a phone has room for; under each Elo the win probability that it stands for."""
    pad = 0.05 * (high - low) + 5
    span = high - low + 2 * pad
    step = next((step for step in TICK_STEPS if span / step <= 5), TICK_STEPS[-1])
    ticks = np.arange(np.ceil((low - pad) / step), np.floor((high + pad) / step) + 1) * step
    p = 1 / (1 + np.exp(-ticks / ELO_PER_NAT))
    fig.update_xaxes(
        range=[low - pad, high + pad],
        tickmode="array",
        tickangle=0,
        tickvals=ticks,
        ticktext=[
            f"{signed_elo(tick)}<br>{100 * share:.0f} %" if probabilities else signed_elo(tick)
            for tick, share in zip(ticks, p, strict=True)
        ],
    )


def marker(
    style: Style, size: int, keys: Sequence[str], chosen: str | None, theme: Theme, *, opacity: float = 1.0
) -> dict[str, object]:
    open_symbol = style.symbol.endswith("-open")
    return {
        "symbol": style.symbol,
        "color": style.colour,
        "size": size,
        "opacity": opacity,
        "line": {
            "color": style.colour if open_symbol else COLOURS[theme].text,
            "width": [3 if key == chosen else 1.5 if open_symbol else 0 for key in keys],
        },
    }


def undimmed(opacity: float) -> dict[str, object]:
    """Streamlit dims what is not selected; the ring says what is."""
    look = {"marker": {"opacity": opacity}}
    return {"selected": look, "unselected": look}
