"""A forest: one row per judge or group, a mark for each estimate with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..stats.estimate import Estimate
from .base import COLOURS, Style, Theme, error_bars, figure, label

if TYPE_CHECKING:
    from .base import Figure


NAME_LIMIT = 24
"""Characters a line, of two, of a name beside the axis: a phone has no room for more; hover texts do."""
LEAST_HEIGHT = 190
ROW_HEIGHT, LINE_HEIGHT = 14, 14
APART = 0.26


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestMark:
    """One mark: a value with its interval (None or NaN: unknown), what it rests on, and its key, if any."""

    row: str
    value: float | None
    low: float | None
    high: float | None
    n: str
    key: str | None = None

    @classmethod
    def of(cls, found: Estimate | None, *, row: str, n: str, key: str | None = None) -> ForestMark:
        """The mark of an estimate."""
        if found is None:
            return cls(row=row, value=None, low=None, high=None, n=n, key=key)
        return cls(row=row, value=found.value, low=found.low, high=found.high, n=n, key=key)


def forest_mark(result: object, name: str, *, row: str, n: str, key: str | None = None) -> ForestMark:
    """The mark of a result's field `name`: an `Estimate`, or a number with `name_low` and `name_high`."""
    value = getattr(result, name)
    if isinstance(value, Estimate):
        return ForestMark.of(value, row=row, n=n, key=key)
    low, high = (getattr(result, f"{name}_{end}", None) for end in ("low", "high"))
    return ForestMark(row=row, value=value, low=low, high=high, n=n, key=key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Marks of one quantity: filled, `hollow`, or `plain` (a small neutral bar, no judge's marker)."""

    name: str
    marks: Sequence[ForestMark]
    look: str = "filled"


def forest(
    series: Sequence[Series],
    *,
    styles: Mapping[str, Style] | Style,
    x_title: str,
    x_range: tuple[float, float] | None = None,
    reference: float | None = None,
    missing: str = "unknown",
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Draw estimates with their intervals, rows in the order in which they first occur.

    styles : of each row, or one for all.  reference : x of a thin line, such as "no bias".
    x_range : shown; by default what the intervals need, with the reference.
    missing : said in the row of a name whose every value is unknown. `chosen` is ringed.
    """
    colours = COLOURS[theme]
    rows = list(dict.fromkeys(mark.row for one in series for mark in one.marks))
    lines = max([len(series), *(2 for row in rows if len(row) > NAME_LIMIT)])
    # A lower one pushes the axis title into its ticks.
    height = max(LEAST_HEIGHT, 92 + len(rows) * (ROW_HEIGHT + LINE_HEIGHT * lines))
    fig = figure(x_title=x_title, y_title="", theme=theme, height=height, legend=len(series) > 1)
    if reference is not None:
        fig.add_vline(x=reference, line={"color": colours.neutral, "width": 1, "dash": "dot"})
    for place, one in enumerate(series):
        known = _known(one)
        offset = APART * (place - (len(series) - 1) / 2)
        look = [styles if isinstance(styles, Style) else styles[mark.row] for mark in known]
        value = np.array([mark.value for mark in known], dtype=np.float64)
        low = np.array([np.nan if mark.low is None else mark.low for mark in known], dtype=np.float64)
        high = np.array([np.nan if mark.high is None else mark.high for mark in known], dtype=np.float64)
        fig.add_scatter(
            x=value,
            y=[rows.index(mark.row) + offset for mark in known],
            mode="markers",
            name=label(one.name),
            showlegend=False,
            customdata=[[mark.key] for mark in known],
            hovertext=[_hover(one.name, mark) for mark in known],
            hoverinfo="text",
            error_x=error_bars(value, low, high, colours.neutral),
            marker={
                "symbol": [_symbol(style, one.look) for style in look],
                "color": [colours.neutral if one.look == "plain" else style.colour for style in look],
                "size": 10,
                "line": {
                    "color": [
                        colours.text if mark.key is not None and mark.key == chosen else style.colour
                        for mark, style in zip(known, look, strict=True)
                    ],
                    "width": [_line(mark, one.look, chosen) for mark in known],
                },
            },
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
        )
        # The legend speaks of the quantity, not of the judge whose mark comes first.
        fig.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=label(one.name),
            hoverinfo="skip",
            marker={
                "symbol": _symbol(Style(colour="", symbol="circle"), one.look),
                "color": colours.neutral,
                "size": 10,
                "line": {"color": colours.neutral, "width": 1.5},
            },
        )
    seen = {mark.row for one in series for mark in _known(one)}
    for place, row in enumerate(rows):
        if row not in seen:
            fig.add_annotation(
                xref="paper",
                x=0.02,
                y=place,
                text=missing,
                showarrow=False,
                xanchor="left",
                font={"color": colours.neutral},
            )
    fig.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[_two_lines(row) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        ticks="",
    )
    fig.update_xaxes(range=x_range, nticks=7)
    return fig


def _two_lines(name: str) -> str:
    """Long names of judges often differ only near their end, so one line is not enough."""
    text = " ".join(name.split())
    if len(text) <= NAME_LIMIT:
        return label(text)
    cut = 1 + max(text.rfind(mark, NAME_LIMIT // 2, NAME_LIMIT) for mark in " -_/.:")
    cut = cut or NAME_LIMIT
    return f"{label(text[:cut])}<br>{label(text[cut:], limit=NAME_LIMIT)}"


def _known(one: Series) -> list[ForestMark]:
    return [mark for mark in one.marks if mark.value is not None and not np.isnan(mark.value)]


def _symbol(style: Style, look: str) -> str:
    if look == "plain":
        return "line-ns-open"
    symbol = style.symbol.removesuffix("-open")
    return f"{symbol}-open" if look == "hollow" or style.symbol.endswith("-open") else symbol


def _line(mark: ForestMark, look: str, chosen: str | None) -> float:
    if mark.key is not None and mark.key == chosen:
        return 3
    return 0 if look == "filled" else 2


def _hover(name: str, mark: ForestMark) -> str:
    interval = ""
    if mark.low is not None and mark.high is not None and not np.isnan(mark.low):
        interval = f" ({mark.low:.3f} to {mark.high:.3f})"
    return (
        f"<b>{label(mark.row, limit=80)}</b><br>{label(name)} {mark.value:.3f}{interval}<br>{label(mark.n)}"
    )
