"""Figures of the Position page: bias and flips of all judges, flips of one by group, error by shown order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ..interpretation.position import ORDER_NAMES
from .base import Style, Theme
from .forest import ForestMark, Series, forest

if TYPE_CHECKING:
    from ..bias import FlipTable, OrderBalance, PositionBias
    from ..records import IntArray
    from ..stats.estimate import Estimates
    from .base import Figure

SHARES = (-0.03, 1.03)
"""A mark at 0 or 1 is not cut in half by the edge."""


def slot_key(judge: str, slot: str) -> str:
    """Key of a judge's votes for one slot, also what a select box shows."""
    return f"{judge}: voted {slot}"


def flip_key(judge: str, kind: str) -> str:
    """Key of a judge's flipped votes, also what a select box shows."""
    return f"{judge}: {'hard flips' if kind == 'hard' else 'flips'}"


def slot_biases(
    results: Mapping[str, PositionBias],
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Bias within pairs (filled) and among all decided votes (hollow); right is towards the first slot."""
    paired, raw = [], []
    for judge, one in results.items():
        key = slot_key(judge, favoured_slot(one))
        paired.append(ForestMark.of(one.bias_pairs, row=judge, n=f"{one.pairs:,} pairs", key=key))
        raw.append(
            ForestMark.of(
                one.bias_decided,
                row=judge,
                n=f"{one.first + one.second:,} decided votes, {one.unpaired:,} without a partner",
                key=key,
            )
        )
    return forest(
        [
            Series(name="within pairs", marks=paired),
            Series(name="all decided votes (raw)", marks=raw, look="hollow"),
        ],
        styles=styles,
        x_title="(first − second) / votes",
        reference=0,
        theme=theme,
        chosen=chosen,
    )


def favoured_slot(result: PositionBias) -> Literal["first", "second"]:
    """Slot with more of the votes; the first when equal."""
    return "first" if result.first >= result.second else "second"


def flips(
    results: Mapping[str, PositionBias],
    *,
    styles: Mapping[str, Style],
    theme: Theme = "light",
    chosen: str | None = None,
) -> Figure:
    """Flip rate (filled), hard flip rate (hollow) and disagreement of repeats in the same order (bar)."""
    change, hard, same = [], [], []
    for judge, one in results.items():
        pairs = f"of {one.pairs:,} pairs"
        change.append(
            ForestMark.of(one.flip_rate, row=judge, n=f"{one.flips:,} {pairs}", key=flip_key(judge, "flip"))
        )
        hard.append(
            ForestMark.of(
                one.hard_flip_rate, row=judge, n=f"{one.hard_flips:,} {pairs}", key=flip_key(judge, "hard")
            )
        )
        repeats = f"of {one.same_order_pairs:,} pairs of repeats"
        same.append(ForestMark.of(one.same_order_disagreement, row=judge, n=repeats))
    series = [
        Series(name="any change", marks=change),
        Series(name="A to B or back", marks=hard, look="hollow"),
    ]
    if any(mark.value is not None for mark in same):
        series.append(Series(name="same order", marks=same, look="plain"))
    return forest(
        series,
        missing="no pair of orders",
        styles=styles,
        x_title="share of pairs that differ",
        theme=theme,
        chosen=chosen,
        x_range=SHARES,
    )


def flips_by_group(
    table: FlipTable, *, style: Style, theme: Theme = "light", chosen: str | None = None
) -> Figure:
    """Flip rate (filled) and hard flip rate (hollow) of one judge by group; a mark's key is its group.

    Groups without a pair of orders have nothing to show and are left out.
    """
    names = {i: group or "(none)" for i, group in enumerate(table.groups) if table.pairs[i]}

    def marks(rates: Estimates, flips: IntArray) -> list[ForestMark]:
        return [
            ForestMark.of(rates[i], row=name, n=f"{flips[i]:,} of {table.pairs[i]:,} pairs", key=name)
            for i, name in names.items()
        ]

    return forest(
        [
            Series(name="any change", marks=marks(table.rate, table.flips)),
            Series(name="A to B or back", marks=marks(table.hard_rate, table.hard_flips), look="hollow"),
        ],
        styles=style,
        x_title="share of pairs that differ",
        x_range=SHARES,
        theme=theme,
        chosen=chosen,
    )


def order_errors(result: OrderBalance, *, style: Style, theme: Theme = "light") -> Figure:
    """MAE of the majority label by the orders that its votes come from."""
    marks = [
        ForestMark.of(
            result.mae[i],
            row=f"{ORDER_NAMES[order]} ({int(result.votes[i])})",
            n=f"{result.n:,} comparisons, {int(result.votes[i])} votes each",
        )
        for i, order in enumerate(result.orders)
        if result.votes[i]
    ]
    return forest(
        [Series(name="MAE", marks=marks)],
        styles=style,
        x_title="MAE against gold (0 to 2)",
        theme=theme,
    )
