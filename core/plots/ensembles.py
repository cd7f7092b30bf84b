"""Figures of the Ensembles page.

Curves of the Leaderboard page: variance by number of judges, screening, abstention, subsampled errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..consensus.ensembles import EnsembleTable
from ..leaderboard.judges import Pooling, Screening
from ..leaderboard.robustness import Abstention, SubsampleErrors
from .base import (
    COLOURS,
    MARKERS,
    MAX_POINTS,
    SAME_WHEN_SELECTED,
    Style,
    Theme,
    error_bars,
    figure,
    ideal_trace,
    label,
)
from .forest import ForestMark, Series, forest

if TYPE_CHECKING:
    from .base import Figure


def accuracies_figure(
    found: EnsembleTable, *, styles: Mapping[str, Style], theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Share right of each member, rule and fuser with its interval, hollow if it is fitted on gold labels.

    A dotted line stands at the best member as it votes, a dashed one at the best one as it votes or by BTD.
    """
    series = [
        Series(
            name=name,
            look=look,
            marks=[
                ForestMark(
                    row=score.name,
                    value=score.accuracy.value,
                    low=score.accuracy.low,
                    high=score.accuracy.high,
                    n=f"{score.n:,} comparisons",
                    key=score.name,
                )
                for score in found.scores.values()
                if score.fitted == fitted
            ],
        )
        for name, look, fitted in (
            ("needs no gold labels", "filled", False),
            ("fitted on gold labels", "hollow", True),
        )
    ]
    fig = forest(
        [one for one in series if one.marks],
        styles=_looks(found, styles, theme),
        x_title="share of comparisons right",
        reference=found.scores[found.best_member].accuracy.value,
        theme=theme,
        chosen=chosen,
    )
    if found.best_fitted is not None:
        best = found.scores[found.best_fitted].accuracy.value
        fig.add_vline(x=best, line={"color": COLOURS[theme].neutral, "width": 1, "dash": "dash"})
    return fig


def without_figure(
    found: EnsembleTable, rule: str, *, styles: Mapping[str, Style], theme: Theme = "light"
) -> Figure:
    """Change of a rule's accuracy when one member leaves, in percentage points."""
    members = [score.name for score in found.scores.values() if score.kind == "member"]
    gaps = found.without[found.rules.index(rule)]
    marks = [
        ForestMark(
            row=name,
            value=100 * gap.value,
            low=100 * gap.low,
            high=100 * gap.high,
            n=f"{gap.n:,} comparisons",
        )
        for name, gap in zip(members, gaps, strict=True)
        if gap is not None
    ]
    return forest(
        [Series(name="change without this judge", marks=marks)],
        styles=_looks(found, styles, theme),
        x_title="change of accuracy without this judge, points",
        reference=0.0,
        theme=theme,
    )


def _looks(found: EnsembleTable, styles: Mapping[str, Style], theme: Theme) -> dict[str, Style]:
    """Judges keep their look, by BTD too; rules have the neutral one."""
    rule = Style(colour=COLOURS[theme].accent, symbol="diamond-tall")
    return {score.name: styles.get(score.member or score.key, rule) for score in found.scores.values()}


HEIGHT = 330


def pooling_figure(found: Pooling, *, theme: Theme = "light") -> Figure:
    """SE of the pooled Elo by number of judges: observed over juries, and by the formula with either ρ."""
    colours = COLOURS[theme]
    size = [row.size for row in found.sizes]
    fig = figure(
        x_title="judges pooled, J",
        y_title="standard error, Elo",
        theme=theme,
        height=HEIGHT,
        x_axis={"dtick": 1 if len(size) <= 12 else None, "range": [0.6, len(size) + 0.4]},
        y_axis={"rangemode": "tozero"},
    )
    predicted = [("observed ρ", found.rho, [row.predicted for row in found.sizes], "dash")]
    if found.rho_runs is not None:
        runs = [row.predicted_runs or 0.0 for row in found.sizes]
        predicted.append(("repeatability as ρ", found.rho_runs, runs, "dot"))
    for place, (name, rho, values, dash) in enumerate(predicted):
        fig.add_scatter(
            x=size,
            y=np.sqrt(values),
            mode="lines",
            name=f"σ²(ρ + (1 − ρ)/J), {name} {rho:.2f}",
            hovertemplate=f"{name}: %{{y:.1f}} Elo<extra></extra>",
            line={"color": colours.raters[1 + place], "width": 2, "dash": dash},
        )
    value = np.sqrt([row.observed for row in found.sizes])
    low, high = (np.sqrt([getattr(row, f"observed_{end}") for row in found.sizes]) for end in ("low", "high"))
    fig.add_scatter(
        x=size,
        y=value,
        mode="markers",
        name="observed, 95 % of juries",
        hovertext=[
            f"<b>{row.size} judges</b><br>standard error {at:.1f} Elo ({a:.1f} to {b:.1f})"
            f"<br>{row.juries} juries"
            for row, at, a, b in zip(found.sizes, value, low, high, strict=True)
        ],
        hoverinfo="text",
        error_y=error_bars(value, np.minimum(low, value), np.maximum(high, value), colours.neutral),
        marker={"color": colours.accent, "size": 9, "symbol": "circle"},
    )
    return fig


def screening_figure(found: Screening, *, cut: float, theme: Theme = "light") -> Figure:
    """Mean width of the pooled interval against the cut; above each mark the judges left."""
    colours = COLOURS[theme]
    rows = [row for row in found.rows if row.cut is not None and row.width is not None]
    fig = figure(
        x_title="cut on ICC(3,k)",
        y_title="interval width, Elo",
        theme=theme,
        height=HEIGHT,
        legend=False,
        x_axis={"range": [-0.03, 1.03]},
        # Room for the number above the highest mark.
        y_axis={"range": [0, 1.18 * max([1.0, *(row.width or 0.0 for row in rows)])]},
    )
    fig.add_vline(x=cut, line={"color": colours.neutral, "width": 1, "dash": "dot"})
    changes = [k for k, row in enumerate(rows) if not k or row.judges != rows[k - 1].judges]
    fig.add_scatter(
        x=[row.cut for row in rows],
        y=[row.width for row in rows],
        mode="lines+markers+text",
        line={"color": colours.accent, "width": 1.5, "shape": "vh"},
        marker={"color": colours.accent, "size": 7},
        text=[f"{len(row.judges)}" if k in changes else "" for k, row in enumerate(rows)],
        textposition="top center",
        hovertext=[
            f"<b>ICC(3,k) ≥ {row.cut:.2f}</b><br>{len(row.judges)} judges left<br>width {row.width:.0f} Elo"
            f"<br>{label('; '.join(row.judges), limit=120)}"
            for row in rows
        ],
        hoverinfo="text",
        name="width",
    )
    return fig


def abstention_figure(found: Abstention, *, threshold: float, theme: Theme = "light") -> Figure:
    """Mean |ΔElo| and mean SE by share of prompts kept, one mark a threshold; the chosen one is ringed."""
    colours = COLOURS[theme]
    rows = [row for row in found.rows if row.n]
    fig = figure(
        x_title="judged prompts kept, %",
        y_title="Elo",
        theme=theme,
        height=HEIGHT,
        x_axis={"range": [103, -3]},
        y_axis={"rangemode": "tozero"},
    )
    for place, (name, field) in enumerate(
        (("mean |change|", "delta_elo"), ("mean standard error", "se_elo"))
    ):
        colour = colours.raters[place]
        fig.add_scatter(
            x=[100 * row.coverage for row in rows],
            y=[getattr(row, field) for row in rows],
            mode="lines+markers",
            name=name,
            hovertext=[
                f"<b>{'all' if row.threshold is None else f'threshold {row.threshold:g}'}</b><br>"
                f"{100 * row.coverage:.1f} % kept (n {row.n:,})<br>{name} {getattr(row, field):.1f} Elo"
                for row in rows
            ],
            hoverinfo="text",
            line={"color": colour, "width": 1.5, "dash": "solid" if place == 0 else "dash"},
            marker={
                "color": colour,
                "symbol": MARKERS[place],
                "size": [11 if row.threshold == threshold else 7 for row in rows],
                "line": {
                    "color": colours.text,
                    "width": [2 if row.threshold == threshold else 0 for row in rows],
                },
            },
        )
    return fig


def subsample_figure(found: SubsampleErrors, *, theme: Theme = "light") -> Figure:
    """SD over subsamples by the formula's SE, one mark a model and size; on the line the formula holds."""
    colours = COLOURS[theme]
    sizes = sorted(set(found.n.tolist()))
    top = 1.08 * float(max([0.01, *found.se_finite, *found.se_empirical]))
    fig = figure(
        x_title="standard error of p by the formula",
        y_title="SD over subsamples",
        theme=theme,
        height=400,
        square=True,
        traces=[ideal_trace(x=(0, top), y=(0, top), name="equal", theme=theme)],
        x_axis={"range": [0, top], "nticks": 6},
        y_axis={"range": [0, top], "nticks": 6},
    )
    most = max(1, MAX_POINTS // max(1, len(sizes)))
    for place, size in enumerate(sizes):
        rows = np.flatnonzero(found.n == size)[:most]
        fig.add_scatter(
            x=found.se_finite[rows],
            y=found.se_empirical[rows],
            mode="markers",
            name=f"n = {size:,}",
            hovertext=[
                f"<b>{label(found.model[k])}</b><br>{size:,} of {found.pool[k]:,} prompts<br>formula "
                f"{found.se_finite[k]:.4f}<br>subsamples {found.se_empirical[k]:.4f}"
                for k in rows
            ],
            hoverinfo="text",
            marker={
                "color": colours.raters[place % len(colours.raters)],
                "symbol": MARKERS[place % len(MARKERS)],
                "size": 8,
            },
            **SAME_WHEN_SELECTED,
        )
    return fig
