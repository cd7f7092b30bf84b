"""Figures of shrinkage: what each prior changes, and how much weight cross-validation gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.figures import COLOURS, Style, Theme, error_bars, figure
from core.plots.forest import Estimate, Series, forest

if TYPE_CHECKING:
    from core.aggregation.shrinkage import ShrunkenFits
    from core.aggregation.shrinkage_gain import ShrinkageGain
    from core.figures import Figure


def priors_figure(
    found: Mapping[str, Mapping[str, ShrinkageGain]],
    *,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Change of MAE by leaning on each prior, one row a prior, one series a size of calibration set.

    found : by size of set, then by name of the prior, which is the key of its marks.
    """
    series = [
        Series(
            name=size,
            look="hollow" if place else "filled",
            marks=[
                Estimate(
                    row=name,
                    value=gain.beside_btd.mae,
                    low=gain.beside_btd.mae_low,
                    high=gain.beside_btd.mae_high,
                    n=f"error {gain.evaluation.scores['btd_shrunk'].mae:.3f}, n {gain.beside_btd.n:,} "
                    f"comparisons, {gain.evaluation.calibration:.0f} to calibrate on",
                    key=name,
                )
                for name, gain in by_prior.items()
            ],
        )
        for place, (size, by_prior) in enumerate(found.items())
    ]
    return forest(
        series,
        styles=Style(colour=COLOURS[theme].accent, symbol="circle"),
        x_title="change of error (below 0: better)",
        reference=0,
        theme=theme,
        chosen=chosen,
    )


def weights_figure(fits: ShrunkenFits, *, theme: Theme = "light") -> Figure:
    """Weight of each λ, mean over the calibration sets, bars from the first to the third quartile."""
    colours = COLOURS[theme]
    mean = fits.weight.mean(axis=0)
    low, high = np.quantile(fits.weight, [0.25, 0.75], axis=0)
    names = [strength_name(one) for one in fits.strengths.tolist()]
    bars = {
        "type": "bar",
        "x": names,
        "y": mean,
        "marker": {"color": colours.accent},
        "error_y": error_bars(mean, np.minimum(low, mean), np.maximum(high, mean), colours.text),
        "hovertext": [
            f"<b>λ {name}</b><br>weight {one:.3f}<br>quartiles {a:.3f} to {b:.3f}"
            f"<br>n {len(fits.weight):,} calibration sets"
            for name, one, a, b in zip(names, mean, low, high, strict=True)
        ],
        "hoverinfo": "text",
    }
    return figure(
        x_title="λ, how stiffly the fit is held to the prior",
        y_title="weight in the shrunken fit",
        theme=theme,
        height=260,
        legend=False,
        traces=[bars],
        x_axis={"type": "category"},
        y_axis={"range": [0, 1.05]},
    )


def strength_name(strength: float) -> str:
    """λ as an axis shows it, its ends in words."""
    if strength == 0:
        return "0 (own fit)"
    return "∞ (prior alone)" if np.isinf(strength) else f"{strength:g}"
