"""Figures of rules judged on held-out items: change of each judge's loss, errors of the rules, weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.figures import COLOURS, Style, Theme, figure
from core.plots.forest import Estimate, Series, forest

if TYPE_CHECKING:
    from core.aggregation.confidence_weighted import ConfidenceWeighted
    from core.aggregation.held_out import HeldOutScores
    from core.aggregation.ordinal import Ordinal
    from core.figures import Figure


def changes_figure(
    found: Mapping[str, HeldOutScores], *, styles: Mapping[str, Style], theme: Theme = "light"
) -> Figure:
    """Change of MAE (filled) and DRPS (hollow) by the first rule over the second, one row a judge."""
    series = [
        Series(
            name=name,
            look=look,
            marks=[
                Estimate(
                    row=judge,
                    value=float(getattr(one, f"{measure}_change")[1]),
                    low=float(getattr(one, f"{measure}_change_low")[1]),
                    high=float(getattr(one, f"{measure}_change_high")[1]),
                    n=f"{one.n:,} comparisons, {one.calibration:.0f} to calibrate on",
                )
                for judge, one in found.items()
            ],
        )
        for measure, name, look in (("mae", "error (MAE)", "filled"), ("drps", "forecast (DRPS)", "hollow"))
    ]
    return forest(series, styles=styles, x_title="change of held-out loss", reference=0, theme=theme)


def rules_figure(scores: HeldOutScores, *, style: Style, x_title: str, theme: Theme = "light") -> Figure:
    """MAE of each rule with its interval by item."""
    marks = [
        Estimate(
            row=name,
            value=float(scores.mae[i]),
            low=float(scores.mae_low[i]),
            high=float(scores.mae_high[i]),
            n=f"{scores.n:,} held out",
        )
        for i, name in enumerate(scores.names)
    ]
    return forest([Series(name="MAE", marks=marks)], styles=style, x_title=x_title, theme=theme)


def weights_figure(found: ConfidenceWeighted, *, style: Style, theme: Theme = "light") -> Figure:
    """Weight of a vote by its stated confidence; the mean vote weighs 1."""
    colours = COLOURS[theme]
    curve = {
        "type": "scatter",
        "x": found.confidence,
        "y": found.weight,
        "mode": "lines",
        "name": "weight",
        "line": {"color": style.colour, "width": 2, "dash": style.dash},
        "hovertemplate": "confidence %{x:.2f}<br>weight %{y:.2f}<extra></extra>",
    }
    alike = {
        "type": "scatter",
        "x": (0, 1),
        "y": (1, 1),
        "mode": "lines",
        "name": "all alike",
        "hoverinfo": "skip",
        "line": {"color": colours.neutral, "width": 1, "dash": "dot"},
    }
    return figure(
        x_title="stated confidence",
        y_title="weight of a vote",
        theme=theme,
        height=260,
        traces=[alike, curve],
        x_axis={"range": [-0.02, 1.02]},
        y_axis={"rangemode": "tozero"},
    )


def levels_figure(found: Ordinal, *, style: Style, theme: Theme = "light") -> Figure:
    """Share of labelled answers on each level, by gold and by the fit on all labels."""
    colours = COLOURS[theme]
    levels = [f"{x:g}" for x in found.fit.scale]
    bars = [
        {
            "type": "bar",
            "x": levels,
            "y": share,
            "name": name,
            "marker": {"color": colour},
            "hovertemplate": f"level %{{x}}<br>{name} %{{y:.3f}}<extra></extra>",
        }
        for name, share, colour in (
            ("gold", found.gold_share, colours.neutral),
            ("calibrated", found.said_share, style.colour),
        )
    ]
    return figure(
        x_title="level",
        y_title="share of answers",
        theme=theme,
        height=260,
        traces=bars,
        x_axis={"type": "category"},
    )
