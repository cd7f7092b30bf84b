"""What the Listwise page is asked, and the results that its answer and its tabs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TypeVar

import streamlit as st

from core.consensus.listwise import Improvements, OrderSensitivity, Weights, improvement, order_sensitivity
from core.errors import NoUsableVotes
from core.records import ListRankings
from core.schema import Selection
from pages.shared import cached, widgets

LABELS = {"score": "score", "borda": "rank (Borda)", "top": "first places", "uncertainty": "uncertainty flag"}
NO_BEST = "no item says which candidate is best (is_best), so accuracy is unknown."
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Asked:
    """The rankings, the judge that is shown, and how orders are pooled."""

    selection: Selection
    rankings: dict[str, ListRankings]
    judge: str
    weights: Weights
    tolerance: float

    @property
    def shown(self) -> ListRankings:
        """Rankings of the chosen judge."""
        return self.rankings[self.judge]


def ask() -> Asked:
    """Draw the controls."""
    selection = widgets.current_selection()
    rankings = cached.list_rankings(selection)
    slots = st.columns([4, 2, 2], gap="small", vertical_alignment="bottom")
    judge = slots[0].selectbox("Judge", list(rankings), key="list-judge", bind=widgets.URL)
    standard = asdict(Weights())
    with slots[1].popover("Weights", width="stretch"):
        chosen = {
            name: st.slider(label, 0.0, 1.0, standard[name], 0.05, key=f"weight-{name}", bind=widgets.URL)
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
    return Asked(
        selection=selection, rankings=rankings, judge=judge, weights=Weights(**chosen), tolerance=tolerance
    )


def known(compute: Callable[[], Result]) -> Result | None:
    """A result, or None where these rankings do not allow it; the page then says so."""
    try:
        return compute()
    except NoUsableVotes:
        return None


def improvements(asked: Asked) -> dict[str, Improvements]:
    """Consensus against the first order, for every judge of items with a known best."""

    def of(rankings: ListRankings) -> Improvements:
        return improvement(rankings, weights=asked.weights, tolerance=asked.tolerance)

    def all_judges() -> dict[str, Improvements | None]:
        return {name: known(partial(of, one)) for name, one in asked.rankings.items()}

    found = cached.computed("improvements", (asked.selection, asked.weights, asked.tolerance), all_judges)
    return {name: one for name, one in found.items() if one is not None}


def sensitivities(asked: Asked) -> dict[str, OrderSensitivity]:
    """What order does to every judge that saw an item in two orders."""

    def all_judges() -> dict[str, OrderSensitivity | None]:
        return {name: known(partial(order_sensitivity, one)) for name, one in asked.rankings.items()}

    found = cached.computed("sensitivities", (asked.selection,), all_judges)
    return {name: one for name, one in found.items() if one is not None}
