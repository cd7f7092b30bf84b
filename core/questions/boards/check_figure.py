"""Figures beside the board: judges pooled and screened, doubtful prompts, subsamples, few
labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ...finding.figure import (
    COLOURS,
    MARKERS,
    MAX_POINTS,
    error_bars,
    figure,
    hover,
    ideal_trace,
    label,
    tint,
    trace,
    undimmed,
)
from ...finding.forest import Look, Shown, forest, row_names, series
from ...finding.wording import signed_elo
from ...stats.estimate import Estimates
from .anchored import Board, SubsampleErrors
from .board_checks import OverJudges
from .debiased import DebiasedBoard
from .figure import judge_key
from .judges import Pooling, Screening
from .robustness import Abstention, Changed
from .score_spread import ScoreAbstention

if TYPE_CHECKING:
    from ...finding.figure import Figure, Style, Theme


HEIGHT = 330
LEAST_FOR_VIOLIN = 5
"""Judges from which on a violin is drawn: of fewer it would show its smoothing."""
MOST_CHANGED = 24


def pooling_figure(found: Pooling, *, theme: Theme = "light") -> Figure:
    """SE of the pooled Elo by number of judges: observed over juries, and by the formula with
    either ρ.
    """
    colours = COLOURS[theme]
    size = [row.size for row in found.sizes]
    fig = figure(
        "judges pooled, J",
        "standard error, Elo",
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
        formula, said = (
            f"σ²(ρ + (1 − ρ)/J), {name} {rho:.2f}",
            f"{name}: %{{y:.1f}} Elo<extra></extra>",
        )
        colour = colours.raters[1 + place]
        fig.add_trace(trace(size, np.sqrt(values), formula, colour, dash=dash, hovertemplate=said))
    observed = Estimates.of([row.observed for row in found.sizes])
    value, low, high = np.sqrt([observed.value, observed.low, observed.high])
    fig.add_scatter(
        x=size,
        y=value,
        mode="markers",
        name="observed, 95 % of juries",
        error_y=error_bars(
            Estimates(value, np.minimum(low, value), np.maximum(high, value)), colours.neutral
        ),
        marker={"color": colours.accent, "size": 9, "symbol": "circle"},
        **hover(
            f"<b>{row.size} judges</b><br>standard error {at:.1f} Elo ({a:.1f} to "
            f"{b:.1f})<br>{row.juries} juries"
            for row, at, a, b in zip(found.sizes, value, low, high, strict=True)
        ),
    )
    return fig


def screening_figure(found: Screening, *, cut: float, theme: Theme = "light") -> Figure:
    """Mean width of the pooled interval against the cut; above each mark the judges left."""
    colours = COLOURS[theme]
    rows = [row for row in found.rows if row.cut is not None and row.width is not None]
    fig = figure(
        "cut on ICC(3,k)",
        "interval width, Elo",
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
        name="width",
        **hover(
            f"<b>ICC(3,k) ≥ {row.cut:.2f}</b><br>{len(row.judges)} judges left<br>width "
            f"{row.width:.0f} Elo<br>{label('; '.join(row.judges), limit=120)}"
            for row in rows
        ),
    )
    return fig


def abstention_figure(found: Abstention, *, threshold: float, theme: Theme = "light") -> Figure:
    """Mean |ΔElo| and mean SE by share of prompts kept, one mark per threshold; the chosen one is
    ringed.
    """
    colours = COLOURS[theme]
    rows = [row for row in found.rows if row.n]
    fig = figure(
        "judged prompts kept, %",
        "Elo",
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
            **hover(
                f"<b>{'all' if row.threshold is None else f'threshold {row.threshold:g}'}</b><br>"
                f"{100 * row.coverage:.1f} % kept (n {row.n:,})<br>{name} "
                f"{getattr(row, field):.1f} Elo"
                for row in rows
            ),
        )
    return fig


def subsample_figure(found: SubsampleErrors, *, theme: Theme = "light") -> Figure:
    """SD over subsamples by the formula's SE, one mark per model and size; on the line the formula
    holds.
    """
    colours = COLOURS[theme]
    sizes = sorted(set(found.n.tolist()))
    top = 1.08 * float(max([0.01, *found.se_finite, *found.se_empirical]))
    fig = figure(
        "standard error of p by the formula",
        "SD over subsamples",
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
            marker={
                "color": colours.raters[place % len(colours.raters)],
                "symbol": MARKERS[place % len(MARKERS)],
                "size": 8,
            },
            **hover(
                f"<b>{label(found.model[k])}</b><br>{size:,} of {found.pool[k]:,} "
                "prompts<br>formula "
                f"{found.se_finite[k]:.4f}<br>subsamples {found.se_empirical[k]:.4f}"
                for k in rows
            ),
            **undimmed(0.85),
        )
    return fig


def changes_figure(changed: Sequence[Changed], **looks: Unpack[Look]) -> Figure:
    """Change of each model's win probability by abstention; the key of a mark is the model."""
    models = {one.model: one for one in changed}
    kept = "{0.kept:,} of {0.n:,} judged prompts kept"
    return forest(
        [series("change", models, lambda one: one.delta.scaled(100), kept)],
        "change of win probability, points",
        reference=0,
        **looks,
    )


def score_changes_figure(found: ScoreAbstention, **looks: Unpack[Look]) -> Figure:
    """Change of each model's mean score by abstention, most changed first; the key of a mark is the
    model.
    """
    models = {one.model: one for one in found.changed[:MOST_CHANGED]}
    kept = "{0.kept:,} of {0.n:,} scored responses kept"
    return forest(
        [series("change", models, "delta", kept)],
        "change of mean score, points",
        reference=0,
        **looks,
    )


def over_judges_figure(
    rows: Sequence[OverJudges],
    judged: Mapping[str, Board],
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Elo of each model by judge: a violin where five judges or more have the model, and a mark for
    each judge, whose key is `judge_key`. Source: [RAEE] Figure 6.
    """
    colours = COLOURS[theme]
    fig = figure(
        "Elo over the anchor, by judge",
        "",
        theme=theme,
        height=max(260, 120 + 46 * len(rows)),
        legend=True,
    )
    place = {row.model: k for k, row in enumerate(rows)}
    elos: dict[str, list[float]] = {model: [] for model in place}
    for one in judged.values():
        for row in one.rows:
            if row.model in place:
                elos[row.model].append(row.elo.value)
    for model, values in elos.items():
        if len(values) >= LEAST_FOR_VIOLIN:
            fig.add_violin(
                x=values,
                y0=place[model],
                orientation="h",
                width=0.85,
                points=False,
                spanmode="hard",
                line={"color": colours.neutral, "width": 1},
                fillcolor=tint(colours.neutral, colours.page, 0.25),
                showlegend=False,
                hoverinfo="skip",
            )
    for name, one in judged.items():
        marks = [row for row in one.rows if row.model in place]
        fig.add_scatter(
            x=[row.elo.value for row in marks],
            y=[place[row.model] for row in marks],
            mode="markers",
            name=label(name),
            customdata=[[judge_key(name, row.model)] for row in marks],
            marker={
                "color": styles[name].colour,
                "symbol": styles[name].symbol,
                "size": 9,
                "line": {
                    "color": colours.text,
                    "width": [3 if judge_key(name, row.model) == chosen else 0 for row in marks],
                },
            },
            **hover(
                f"<b>{label(row.model)}</b><br>{label(name)}<br>Elo {signed_elo(row.elo.value)}"
                f"<br>n {row.n:,} prompts"
                for row in marks
            ),
            **undimmed(1),
        )
    fig.update_yaxes(
        tickvals=[*place.values()],
        ticktext=row_names([*place]),
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        ticks="",
    )
    return fig


def debiased_figure(
    found: DebiasedBoard, *, style: Style, shown: int | None = None, **looks: Unpack[Shown]
) -> Figure:
    """Win rate of each model against the anchor, best on top; the key of a mark is the model.

    Filled marks are the debiased rates, hollow ones the labels alone, bars what the judge says
    alone, which has no interval: what is wrong with it is its bias, not its spread.
    """
    rows = {row.model: row for row in found.rows[:shown]}
    both = "n {0.rate.n_labelled:,} labelled, {0.rate.n_unlabelled:,} not"
    return forest(
        [
            series("as gold would judge", rows, "rate", both),
            series(
                "labels alone",
                rows,
                "rate.labels",
                "n {0.rate.n_labelled:,} labelled",
                look="hollow",
            ),
            series("judge alone", rows, "rate.judge", both, look="plain", key=None),
        ],
        "win rate, a tie being half a win",
        styles=style,
        x_range=(-0.02, 1.02),
        reference=0.5,
        **looks,
    )
