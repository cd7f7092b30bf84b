"""Controls of the Position bias page, and the results that its answer and its sections share."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.bias import PositionBias, position_bias
from core.errors import NoUsableVotes
from core.interpretation import verdicts
from core.interpretation.verdicts import Verdict
from core.plots.base import Style, Theme
from core.records import PositionCounts
from core.schema import Selection
from pages.shared import cached, theme, widgets

GRADES = ("fail", "warn", "ok", "unknown")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState:
    """The chosen judge, and the position bias of every judge with the counts behind it."""

    selection: Selection
    judge: str
    verdict: Verdict
    positions: dict[str, PositionCounts]
    results: dict[str, PositionBias]
    styles: dict[str, Style]
    look: Theme


def read_controls() -> PageState:
    """Draw the control; refuse a selection without known positions."""
    selection, look = widgets.current_selection(), theme.current()
    positions = cached.positions(selection)
    if not positions:
        raise NoUsableVotes(
            "No vote here says which response was shown first, so position bias cannot be tested. Ask the "
            "judge about each comparison in both orders and load the votes with a column position: ab where "
            "A was shown first, ba where B was."
        )
    results = cached.computed(
        "position", (selection,), lambda: {name: position_bias(one) for name, one in positions.items()}
    )
    graded = {name: verdicts.position(name, one) for name, one in results.items()}
    worst = min(results, key=lambda name: (GRADES.index(graded[name].verdict), -_flip_rate(results[name])))
    judge = st.selectbox("Judge", list(results), list(results).index(worst), key="rater", bind=widgets.URL)
    return PageState(
        selection=selection,
        judge=judge,
        verdict=graded[judge],
        positions=positions,
        results=results,
        styles=cached.styles(widgets.current_dataset(), look),
        look=look,
    )


def _flip_rate(found: PositionBias) -> float:
    return found.flip_rate.value if found.flip_rate else 0.0
