"""Many judges: in which order a page shows them, and how many of them its figures draw."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from core.auditing.figure import ALL_ROWS, MOST_ROWS
from pages.shared import widgets

Record = TypeVar("Record")

ORDERS = ("best first", "worst first", "by name")
SHOW_ALL = "all_judges"


@dataclass(frozen=True, slots=True)
class Shown:
    """Judges in the order that was asked for, and those of them that figures draw."""

    names: tuple[str, ...]
    drawn: tuple[str, ...]

    def all(self, results: Mapping[str, Record]) -> dict[str, Record]:
        """Every result, in order: for tables and select boxes."""
        return {name: results[name] for name in self.names if name in results}

    def few(self, results: Mapping[str, Record]) -> dict[str, Record]:
        """The results to draw, in order."""
        return {name: results[name] for name in self.drawn if name in results}


def in_order(
    merit: Mapping[str, float],
    *,
    key: str,
    start: str = ORDERS[0],
    chosen: Collection[str] = (),
    place: Any = st,
    most: int = ALL_ROWS,
) -> Shown:
    """Judges by merit; above twelve with a switch of the order, and one that draws all of them.

    merit : more is better; unknown (NaN) is last either way.  start : what the page asks.
    chosen : judges that are drawn whatever their place.  most : judges that a figure of all has
        room for.
    """
    many = len(merit) > MOST_ROWS
    order, everybody = start, False
    if many:
        row = place.container(horizontal=True, vertical_alignment="bottom")
        order = widgets.choice(
            "Order of judges", ORDERS, key=f"sorted_{key}", default=start, place=row
        )
        left_out = f", {most} at most" if len(merit) > most else ""
        everybody = row.toggle(
            f"Show all {len(merit)} judges{left_out}", key=SHOW_ALL, bind=widgets.URL
        )
    names = sorted_by(merit, order)
    return Shown(names, among(names, most if everybody else MOST_ROWS, chosen))


def sorted_by(merit: Mapping[str, float], order: str) -> tuple[str, ...]:
    """Names in one of the orders; equals stay as they are given."""
    if order == "by name":
        return tuple(sorted(merit))
    sign = -1 if order == "best first" else 1

    def place(name: str) -> float:
        return math.inf if math.isnan(merit[name]) else sign * merit[name]

    return tuple(sorted(merit, key=place))


def among(names: Iterable[str], most: int, chosen: Collection[str] = ()) -> tuple[str, ...]:
    """The first names, and the chosen ones in place of the last of them."""
    listed = tuple(names)
    first = listed[:most]
    extra = tuple(name for name in listed[most:] if name in chosen)[:most]
    return (*first[: most - len(extra)], *extra)
