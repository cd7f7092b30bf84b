"""Figures of the Listwise page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..consensus.listwise import Improvements
from ..consensus.listwise_orders import OrderSensitivity, OrderSweep, Slot
from ..records import FloatArray
from ..stats.estimate import Estimate
from .base import COLOURS, Style, Theme, error_bars, figure
from .forest import Series, forest, forest_mark

if TYPE_CHECKING:
    from .base import Figure


def improvements_figure(
    found: Mapping[str, Improvements], *, styles: Mapping[str, Style], theme: Theme = "light"
) -> Figure:
    """Share of items right by the first order (hollow), any one (a bar) and consensus (filled), by judge."""
    series = [
        Series(
            name=name,
            look=look,
            marks=[
                forest_mark(one.overall, kind, row=judge, n=f"{one.overall.n:,} items")
                for judge, one in found.items()
            ],
        )
        for name, kind, look in (
            ("first order", "direct", "hollow"),
            ("any one order, mean", "single", "plain"),
            ("consensus", "consensus", "filled"),
        )
    ]
    return forest(series, styles=styles, x_title="share of items right", theme=theme)


def sensitivities_figure(
    found: Mapping[str, OrderSensitivity], *, styles: Mapping[str, Style], theme: Theme = "light"
) -> Figure:
    """Share of items on which the order of candidates decides who comes first, one row per judge."""
    marks = [
        forest_mark(one, "changed", row=judge, n=f"{one.changed.n:,} items") for judge, one in found.items()
    ]
    series = [Series(name="order decides", marks=marks)]
    return forest(series, styles=styles, x_title="share of items", theme=theme)


def sweep_figure(found: OrderSweep, *, style: Style, theme: Theme = "light") -> Figure:
    """Accuracy against the number of orders, the error of the majority of orders, and Hoeffding's bound."""
    fig = figure(x_title="orders K", y_title="share of items", theme=theme, height=380)
    k = [row.k for row in found.rows]
    accuracy, low, high = _arrays(row.accuracy for row in found.rows)
    fig.add_scatter(
        x=k,
        y=accuracy,
        name="consensus right",
        mode="lines+markers",
        line={"color": style.colour, "width": 2},
        marker={"color": style.colour, "symbol": style.symbol, "size": 9},
        error_y=error_bars(accuracy, low, high, style.colour),
        hovertemplate="K = %{x}: %{y:.3f} right<extra></extra>",
    )
    fig.add_scatter(
        x=k,
        y=[row.majority_error for row in found.rows],
        name="majority of orders wrong",
        mode="lines+markers",
        line={"color": style.colour, "width": 1, "dash": "dot"},
        marker={"color": style.colour, "symbol": "circle-open", "size": 7},
        hovertemplate="K = %{x}: %{y:.3f} wrong<extra></extra>",
    )
    if found.rows[0].bound is not None:
        fig.add_scatter(
            x=k,
            y=[row.bound for row in found.rows],
            name="Hoeffding bound on it",
            mode="lines",
            line={"color": COLOURS[theme].neutral, "width": 1, "dash": "dash"},
            hovertemplate="K = %{x}: at most %{y:.3f}<extra></extra>",
        )
    fig.update_xaxes(dtick=1)
    fig.update_yaxes(range=[0, 1.02])
    return fig


def slots_figure(found: Sequence[Slot], *, style: Style, theme: Theme = "light") -> Figure:
    """How often each slot comes first, beside chance and what the quality of its candidates would give."""
    fig = figure(x_title="slot, in the order shown", y_title="share of runs first", theme=theme, height=380)
    place = [row.slot + 1 for row in found]
    wins, best = [row.win for row in found], [row.best for row in found]
    series = [("comes first", "", wins, style.symbol, 11)]
    if any(rate.n for rate in best):
        series.append(("right when the best is there", "right in ", best, "circle-open", 9))
    top = 0.0
    for name, verb, rates, symbol, size in series:
        value, low, high = _arrays(rates)
        top = max(top, float(np.nanmax(high)))
        fig.add_scatter(
            x=place,
            y=value,
            name=name,
            mode="markers",
            marker={"color": style.colour, "symbol": symbol, "size": size},
            error_y=error_bars(value, low, high, style.colour),
            customdata=[[f"slot {slot}"] for slot in place],
            hovertext=[
                f"slot {slot}: {verb}{rate.value:.3f} of {rate.n:,} runs"
                for slot, rate in zip(place, rates, strict=True)
            ],
            hoverinfo="text",
        )
    for name, values, dash in (
        ("its candidates in other slots", [row.expected for row in found], "solid"),
        ("chance 1/n", [row.chance for row in found], "dot"),
    ):
        fig.add_scatter(
            x=place,
            y=values,
            name=name,
            mode="lines",
            line={"color": COLOURS[theme].neutral, "width": 1, "dash": dash},
            hovertemplate="%{y:.3f}<extra>" + name + "</extra>",
        )
    fig.update_xaxes(dtick=1)
    fig.update_yaxes(range=[0, min(1.02, 1.1 * top)])
    return fig


def _arrays(rates: Iterable[Estimate]) -> FloatArray:
    """Values and ends, (3, rates)."""
    return np.array([(rate.value, rate.low, rate.high) for rate in rates]).T
