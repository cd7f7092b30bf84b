"""Figures of the Experiments page: error against votes and labels, values compared, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.aggregation.evaluation import METHODS
from core.figures import COLOURS, Style, Theme, Trace, error_bars, figure, label
from core.plots.forest import Estimate, Series, forest
from core.words.spans import span

if TYPE_CHECKING:
    from core.experiments.comparison import Comparison
    from core.experiments.parameter_grid import ParameterGrid
    from core.experiments.sweeps import Sweep
    from core.figures import Figure

LOOKS = {
    "btd": ("circle", "solid"),
    "btd_shrunk": ("diamond", "dash"),
    "threshold": ("square", "dash"),
    "majority": ("triangle-up-open", "dot"),
}
MOST_GROUPS = 40
"""Groups that the figure of parameters draws; the table has them all."""


def sweep_figure(found: Sweep, *, theme: Theme = "light") -> Figure:
    """MAE of each rule against votes or labels, with intervals by item; narrow bars vary over draws.

    The dotted line is BTD fitted on every label. Rules stand a little beside each other to be told apart.
    """
    colours = COLOURS[theme]
    votes = found.over == "votes"
    sizes = found.sizes.astype(np.float64)
    traces: list[Trace] = []
    x = np.log2(sizes) if votes else sizes
    step = float(np.diff(x).min()) if len(x) > 1 else 1.0
    known = found.mae_all_labels
    traces.append(
        {
            "type": "scatter",
            "x": x,
            "y": known,
            "mode": "lines",
            "name": "BTD, all labels",
            "hoverinfo": "skip",
            "line": {"color": colours.neutral, "width": 1, "dash": "dot"},
        }
    )
    for m, key in enumerate(found.methods):
        symbol, dash = LOOKS.get(key, ("x", "dashdot"))
        colour = colours.accent if key.startswith("btd") else colours.text
        mae, low, high = found.mae[:, m], found.mae_item_low[:, m], found.mae_item_high[:, m]
        place = x + step * 0.12 * (m - (len(found.methods) - 1) / 2)
        hovers = [
            f"<b>{label(METHODS[key])}</b>, {size} {found.over}"
            f"<br>MAE {value:.3f} ({span(a, b)})<br>over draws {c:.3f} to {d:.3f}"
            f"<br>PA {pa:.3f}<br>n {found.n:,} comparisons"
            for size, value, a, b, c, d, pa in zip(
                found.sizes.tolist(),
                mae.tolist(),
                low.tolist(),
                high.tolist(),
                found.mae_low[:, m].tolist(),
                found.mae_high[:, m].tolist(),
                found.pa[:, m].tolist(),
                strict=True,
            )
        ]
        traces.append(
            {
                "type": "scatter",
                "x": place,
                "y": mae,
                "mode": "lines+markers",
                "name": label(METHODS[key]),
                "hovertext": hovers,
                "hoverinfo": "text",
                "line": {"color": colour, "dash": dash, "width": 2},
                "marker": {"symbol": symbol, "size": 10, "color": colour},
                "error_y": error_bars(mae, low, high, colour, width=4, thickness=1.2),
            }
        )
        traces.append(
            {
                "type": "scatter",
                "x": place,
                "y": mae,
                "mode": "markers",
                "showlegend": False,
                "hoverinfo": "skip",
                "marker": {"size": 1, "color": colour, "opacity": 0},
                "error_y": error_bars(
                    mae, found.mae_low[:, m], found.mae_high[:, m], colour, width=0, thickness=4
                ),
            }
        )
    return figure(
        x_title="votes a comparison" if votes else "labelled comparisons to calibrate on",
        y_title="mean absolute error",
        theme=theme,
        height=400,
        traces=traces,
        x_axis={"tickvals": x, "ticktext": [str(size) for size in found.sizes.tolist()]},
    )


def compared_figure(
    found: Comparison, *, styles: Mapping[str, Style] | None = None, theme: Theme = "light"
) -> Figure:
    """MAE of each value under BTD and majority, with intervals by item."""
    looks = {"btd": "filled", "majority": "hollow"}
    series = []
    for rule in found.rules:
        marks = []
        for name, one in found.values.items():
            score = one.evaluation.scores[rule] if one.evaluation else None
            marks.append(
                Estimate(
                    row=name,
                    value=score.mae if score else None,
                    low=score.mae_item_low if score else None,
                    high=score.mae_item_high if score else None,
                    n=f"n {one.n_labelled:,} comparisons",
                )
            )
        series.append(Series(name=METHODS[rule], marks=marks, look=looks.get(rule, "filled")))
    return forest(
        series,
        styles=_styles(found, styles, theme),
        x_title="mean absolute error",
        missing="too few labels",
        theme=theme,
    )


def ties_figure(
    found: Comparison, *, styles: Mapping[str, Style] | None = None, theme: Theme = "light"
) -> Figure:
    """Share of ties among the votes of each value, and among the gold labels of what it judged."""
    votes = [
        Estimate(
            row=name,
            value=one.tie_votes.value,
            low=one.tie_votes.low,
            high=one.tie_votes.high,
            n=f"n {one.n_votes:,} votes",
        )
        for name, one in found.values.items()
    ]
    gold = [
        Estimate(
            row=name,
            value=one.tie_gold.value,
            low=one.tie_gold.low,
            high=one.tie_gold.high,
            n=f"n {one.n_labelled:,} labels",
        )
        for name, one in found.values.items()
        if one.tie_gold is not None
    ]
    return forest(
        [Series(name="ties among votes", marks=votes), Series(name="among gold", marks=gold, look="plain")],
        styles=_styles(found, styles, theme),
        x_title="share of ties",
        theme=theme,
    )


def parameters_figure(
    found: ParameterGrid,
    *,
    groups: Sequence[tuple[str, str]],
    styles: Mapping[str, Style] | None = None,
    theme: Theme = "light",
) -> Figure:
    """Quartiles of ν of some groups (task, judge) on a log scale; 10 and 100 part the regimes.

    Groups of one judge are named by their task.
    """
    marks, looks = [], {}
    one_judge = len({judge for _, judge in groups}) == 1
    for task, judge in groups:
        table = found.tables[task, judge]
        row = judge if not task else task if one_judge else f"{task} · {judge}"
        looks[row] = (styles or {}).get(judge) or Style(colour=COLOURS[theme].accent, symbol="circle")
        mean, low, high = (float(part[1]) for part in (table.mean, table.q1, table.q3))
        # The mean of a skewed ν can lie beyond its quartiles, but a mark stands in its interval.
        middle = float(np.sqrt(low * high))
        marks.append(
            Estimate(row=row, value=middle, low=low, high=high, n=f"{table.regime}, mean {mean:,.1f}")
        )
    fig = forest(
        [Series(name="ν from Q1 to Q3 over splits", marks=marks)],
        styles=looks,
        x_title="ν, Q1 to Q3 over splits",
        theme=theme,
    )
    for cut in (10, 100):
        fig.add_vline(x=cut, line={"color": COLOURS[theme].neutral, "width": 1, "dash": "dot"})
    fig.update_xaxes(
        type="log", tickvals=[0.01, 0.1, 1, 10, 100, 1000], ticktext=[".01", ".1", "1", "10", "100", "1,000"]
    )
    return fig


def _styles(
    found: Comparison, styles: Mapping[str, Style] | None, theme: Theme
) -> Mapping[str, Style] | Style:
    plain = Style(colour=COLOURS[theme].accent, symbol="circle")
    return {name: (styles or {}).get(name, plain) for name in found.values}
