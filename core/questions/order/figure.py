"""Figures of the Position page: bias and flips of all judges, flips of one by group, error by shown
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal, Unpack

from ...finding.forest import Look, Series, Shown, forest, series
from .words import ORDER_NAMES

if TYPE_CHECKING:
    from ...finding.figure import Figure, Style
    from ...records import IntArray
    from ...stats.estimate import Estimates
    from .balance import OrderBalance
    from .method import FlipTable, PositionBias

SHARES = (-0.03, 1.03)
"""A mark at 0 or 1 is not cut in half by the edge."""


def slot_key(judge: str, slot: str) -> str:
    """Key of a judge's votes for one slot, also what a select box shows."""
    return f"{judge}: voted {slot}"


def flip_key(judge: str, kind: str) -> str:
    """Key of a judge's flipped votes, also what a select box shows."""
    return f"{judge}: {'hard flips' if kind == 'hard' else 'flips'}"


def slot_biases(results: Mapping[str, PositionBias], **looks: Unpack[Look]) -> Figure:
    """Bias within pairs (filled) and among all decided votes (hollow); right is towards the first
    slot.
    """

    def key(judge: str) -> str:
        return slot_key(judge, favoured_slot(results[judge]))

    def votes(one: PositionBias) -> str:
        return f"{one.first + one.second:,} decided votes, {one.unpaired:,} without a partner"

    return forest(
        [
            series("within pairs", results, "bias_pairs", "{0.pairs:,} pairs", key=key),
            series(
                "all decided votes (raw)", results, "bias_decided", votes, look="hollow", key=key
            ),
        ],
        "(first − second) / votes, points",
        reference=0,
        unit="points",
        **looks,
    )


def favoured_slot(result: PositionBias) -> Literal["first", "second"]:
    """Slot with more of the votes; the first when equal."""
    return "first" if result.first >= result.second else "second"


def flips(results: Mapping[str, PositionBias], **looks: Unpack[Look]) -> Figure:
    """Flip rate (filled), hard flip rate (hollow) and disagreement of repeats in the same order
    (bar).
    """
    repeats = "of {0.same_order_pairs:,} pairs of repeats"
    rates = [
        series(
            name,
            results,
            rate,
            f"{{0.{flipped}:,}} of {{0.pairs:,}} pairs",
            look=look,
            key=partial(flip_key, kind=kind),
        )
        for name, rate, flipped, look, kind in (
            ("any change", "flip_rate", "flips", "filled", "flip"),
            ("A to B or back", "hard_flip_rate", "hard_flips", "hollow", "hard"),
        )
    ]
    same = series("same order", results, "same_order_disagreement", repeats, look="plain", key=None)
    return forest(
        [*rates, *([same] if same.marks else [])],
        "share of pairs that differ",
        missing="no pair of orders",
        unit="%",
        x_range=SHARES,
        **looks,
    )


def flips_by_group(table: FlipTable, *, style: Style, **looks: Unpack[Shown]) -> Figure:
    """Flip rate (filled) and hard flip rate (hollow) of one judge by group; a mark's key is its
    group.

    Groups without a pair of orders have nothing to show and are left out.
    """
    places = {group or "(none)": i for i, group in enumerate(table.groups) if table.pairs[i]}

    def drawn(name: str, rates: Estimates, flips: IntArray, look: str) -> Series:
        def pairs(i: int) -> str:
            return f"{flips[i]:,} of {table.pairs[i]:,} pairs"

        return series(name, places, rates.__getitem__, pairs, look=look)

    return forest(
        [
            drawn("any change", table.rate, table.flips, "filled"),
            drawn("A to B or back", table.hard_rate, table.hard_flips, "hollow"),
        ],
        "share of pairs that differ",
        styles=style,
        x_range=SHARES,
        unit="%",
        **looks,
    )


def order_errors(result: OrderBalance, *, style: Style, **looks: Unpack[Shown]) -> Figure:
    """MAE of the majority label by the orders that its votes come from."""
    votes = {
        f"{ORDER_NAMES[order]} ({int(n)})": (mae, int(n))
        for order, n, mae in zip(result.orders, result.votes, result.mae, strict=True)
        if n
    }
    about = f"{result.n:,} comparisons, {{0[1]}} votes each"
    errors = series("MAE", votes, lambda known: known[0], about, key=None)
    return forest([errors], "MAE against gold (0 to 2)", styles=style, **looks)
