"""Controls of the Listwise page, and the results that its answer and its tabs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TypeVar

import streamlit as st

from core.errors import NoUsableVotes
from core.questions.lists.method import Improvements, Weights, improvement
from core.questions.lists.orders import OrderSensitivity, order_sensitivity
from core.questions.lists.slots import SlotCorrected, slot_corrected
from core.records import ListRankings
from pages.shared import cached, widgets

LABELS = {
    "score": "score",
    "borda": "rank (Borda)",
    "top": "first places",
    "uncertainty": "calibrated uncertainty",
}
NO_BEST = "no item says which candidate is best (is_best), so accuracy is unknown."
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The rankings, the judge that is shown, and how orders are pooled."""

    rankings: dict[str, ListRankings]
    judge: str
    weights: Weights
    tolerance: float

    @property
    def shown(self) -> ListRankings:
        """Rankings of the chosen judge."""
        return self.rankings[self.judge]


def read_controls() -> PageState:
    """Draw the controls."""
    rankings = cached.list_rankings(widgets.current_selection())
    slots = st.columns([4, 2, 2], gap="small", vertical_alignment="bottom")
    judge = widgets.judge(rankings, start=next(iter(rankings)), why="first", place=slots[0])
    standard = asdict(Weights())
    with slots[1].popover("Weights", width="stretch"):
        chosen = {
            name: st.slider(
                label, 0.0, 1.0, standard[name], 0.05, key=f"weight-{name}", bind=widgets.URL
            )
            for name, label in LABELS.items()
        }
        st.caption("Divided by their sum; a part that some judgement lacks is left out.")
    tolerance = slots[2].number_input(
        "Tolerance, points",
        0.0,
        100.0,
        0.0,
        0.5,
        key="list-tolerance",
        bind=widgets.URL,
        help="Candidates within this many points of the highest consensus score win together.",
    )
    return PageState(rankings=rankings, judge=judge, weights=Weights(**chosen), tolerance=tolerance)


def improvements(state: PageState) -> dict[str, Improvements]:
    """Consensus against the first order, for every judge of items with a known best."""
    return possible(
        state,
        "improvements",
        lambda found: improvement(found, weights=state.weights, tolerance=state.tolerance),
    )


def sensitivities(state: PageState) -> dict[str, OrderSensitivity]:
    """What order does to every judge that saw an item in two orders."""
    return possible(state, "sensitivities", order_sensitivity)


def without_slots(state: PageState) -> SlotCorrected:
    """Winners of the chosen judge without the slots' pull."""
    key = (state.selection, state.judge)
    return cached.computed("slots out", key, lambda: slot_corrected(state.shown))


def possible(
    state: PageState, name: str, compute: Callable[[ListRankings], Result]
) -> dict[str, Result]:
    """A result of every judge whose rankings allow it."""
    key = (state.selection, state.weights, state.tolerance)
    return cached.of_each_possible(name, key, state.rankings, compute, unless=NoUsableVotes)[0]
