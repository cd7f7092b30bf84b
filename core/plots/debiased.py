"""Figure of the Leaderboard's debiased rates: what gold would give, what labels and judge say alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.figures import Style, Theme
from core.plots.forest import Estimate, Series, estimate, forest

if TYPE_CHECKING:
    from core.figures import Figure
    from core.leaderboard.debiased_board import DebiasedBoard


def debiased_figure(
    found: DebiasedBoard,
    *,
    style: Style,
    shown: int | None = None,
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Win rate of each model against the anchor, best on top; the key of a mark is the model.

    Filled marks are the debiased rates, hollow ones the labels alone, bars what the judge says alone, which
    has no interval: what is wrong with it is its bias, not its spread.
    """
    debiased, labels, judge = [], [], []
    for row in found.rows[:shown]:
        rate, n = row.rate, f"{row.rate.n_labelled:,} labelled, {row.rate.n_unlabelled:,} not"
        ends = {"low": rate.low, "high": rate.high}
        debiased.append(Estimate(row=row.model, value=rate.value, n=f"n {n}", key=row.model, **ends))
        labels.append(
            estimate(rate, "labels", row=row.model, n=f"n {rate.n_labelled:,} labelled", key=row.model)
        )
        judge.append(Estimate(row=row.model, value=rate.judge, low=None, high=None, n=f"n {n}"))
    series = [
        Series(name="as gold would judge", marks=debiased),
        Series(name="labels alone", marks=labels, look="hollow"),
        Series(name="judge alone", marks=judge, look="plain"),
    ]
    return forest(
        series,
        styles=style,
        x_title="win rate, a tie being half a win",
        x_range=(-0.02, 1.02),
        reference=0.5,
        theme=theme,
        chosen=chosen,
    )
