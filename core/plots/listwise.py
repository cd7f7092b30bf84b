"""Figures of the Listwise page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..consensus.listwise import Improvements, OrderSensitivity, OrderSweep, SlotTable
from .base import COLOURS, Style, Theme, error_bars, figure
from .forest import ForestMark, Series, forest

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
                ForestMark(
                    row=judge, value=rate.value, low=rate.low, high=rate.high, n=f"{one.overall.n:,} items"
                )
                for judge, one in found.items()
                for rate in (getattr(one.overall, kind),)
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
    """Share of items on which the order of candidates decides who comes first, a row a judge."""
    marks = [
        ForestMark(
            row=judge,
            value=one.changed.value,
            low=one.changed.low,
            high=one.changed.high,
            n=f"{one.changed.n:,} items",
        )
        for judge, one in found.items()
    ]
    series = [Series(name="order decides", marks=marks)]
    return forest(series, styles=styles, x_title="share of items", theme=theme)


def sweep_figure(found: OrderSweep, *, style: Style, theme: Theme = "light") -> Figure:
    """Accuracy against the number of orders, the error of the majority of orders, and Hoeffding's bound."""
    colours = COLOURS[theme]
    fig = figure(x_title="orders K", y_title="share of items", theme=theme, height=380)
    fig.add_scatter(
        x=found.k,
        y=found.accuracy,
        name="consensus right",
        mode="lines+markers",
        line={"color": style.colour, "width": 2},
        marker={"color": style.colour, "symbol": style.symbol, "size": 9},
        error_y=error_bars(found.accuracy, found.low, found.high, style.colour),
        hovertemplate="K = %{x}: %{y:.3f} right<extra></extra>",
    )
    fig.add_scatter(
        x=found.k,
        y=found.majority_error,
        name="majority of orders wrong",
        mode="lines+markers",
        line={"color": style.colour, "width": 1, "dash": "dot"},
        marker={"color": style.colour, "symbol": "circle-open", "size": 7},
        hovertemplate="K = %{x}: %{y:.3f} wrong<extra></extra>",
    )
    if found.bound is not None:
        fig.add_scatter(
            x=found.k,
            y=found.bound,
            name="Hoeffding bound on it",
            mode="lines",
            line={"color": colours.neutral, "width": 1, "dash": "dash"},
            hovertemplate="K = %{x}: at most %{y:.3f}<extra></extra>",
        )
    fig.update_xaxes(dtick=1)
    fig.update_yaxes(range=[0, 1.02])
    return fig


def slots_figure(found: SlotTable, *, style: Style, theme: Theme = "light") -> Figure:
    """How often each slot comes first, beside chance and what the quality of its candidates would give."""
    colours = COLOURS[theme]
    fig = figure(x_title="slot, in the order shown", y_title="share of runs first", theme=theme, height=380)
    place = found.slot + 1
    fig.add_scatter(
        x=place,
        y=found.win,
        name="comes first",
        mode="markers",
        marker={"color": style.colour, "symbol": style.symbol, "size": 11},
        error_y=error_bars(found.win, found.low, found.high, style.colour),
        customdata=[[f"slot {slot}"] for slot in place],
        hovertext=[
            f"slot {slot}: {win:.3f} of {n:,} runs"
            for slot, win, n in zip(place, found.win, found.n, strict=True)
        ],
        hoverinfo="text",
    )
    if (found.best_n > 0).any():
        fig.add_scatter(
            x=place,
            y=found.best_win,
            name="right when the best is there",
            mode="markers",
            marker={"color": style.colour, "symbol": "circle-open", "size": 9},
            error_y=error_bars(found.best_win, found.best_low, found.best_high, style.colour),
            hovertext=[
                f"slot {slot}: right in {win:.3f} of {n:,} runs"
                for slot, win, n in zip(place, found.best_win, found.best_n, strict=True)
            ],
            hoverinfo="text",
        )
    for name, values, dash in (
        ("its candidates in other slots", found.expected, "solid"),
        ("chance 1/n", found.chance, "dot"),
    ):
        fig.add_scatter(
            x=place,
            y=values,
            name=name,
            mode="lines",
            line={"color": colours.neutral, "width": 1, "dash": dash},
            hovertemplate="%{y:.3f}<extra>" + name + "</extra>",
        )
    fig.update_xaxes(dtick=1)
    fig.update_yaxes(
        range=[
            0,
            min(1.02, 1.1 * float(np.nanmax([found.high.max(), np.nanmax(found.best_high, initial=0)]))),
        ]
    )
    return fig
