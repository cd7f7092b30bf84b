"""How many orders are enough, and which slots come first?"""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.consensus.listwise_orders import OrderSensitivity, OrderSweep, order_sweep
from core.interpretation import listwise as sentences
from core.interpretation import tables
from core.plots.consensus import slots_figure, sweep_figure
from pages.sections.listwise.controls import NO_BEST, PageState, known
from pages.shared import cached, theme, widgets


def orders_tab(state: PageState) -> None:
    """Accuracy against the number of orders."""
    look = theme.current()
    key = (state.selection, state.judge, state.weights, state.tolerance)

    def sweep() -> OrderSweep | None:
        rng = np.random.default_rng(0)
        return known(
            lambda: order_sweep(state.shown, rng=rng, weights=state.weights, tolerance=state.tolerance)
        )

    found = cached.computed("orders", key, sweep)
    if found is None:
        widgets.not_applicable(NO_BEST)
        return
    st.text(sentences.enough(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        style = cached.styles(widgets.current_dataset(), look)[state.judge]
        widgets.figure(sweep_figure(found, style=style, theme=look), "orders", alt="Accuracy against orders")
        if found.rows[0].bound is None:
            st.caption(f"No Hoeffding bound: one order alone is right on {found.q:.0%}, not more than half.")
        widgets.how_to_read(
            "Each K takes subsets of K of the orders of each item (all of them, or 200 at random) and pools "
            "them. The dotted line is how often at most half of the K orders put the best first; the dashed "
            "one is Hoeffding's bound exp(−2K(q − ½)²) on that, q being how often one order is right. The "
            "bound supposes orders that err independently and alike on every item: a reference, no promise."
        )
    with measured:
        frame = tables.frame(sentences.ORDERS, found.rows)
        widgets.table(frame, "listwise-orders", alt="Accuracy by number of orders")
        if found.left_out:
            st.caption(f"{found.left_out:,} items with fewer than {len(found.rows)} orders are left out.")


def slots_tab(state: PageState, found: OrderSensitivity | None) -> None:
    """Which slots come first."""
    if found is None:
        widgets.not_applicable("no item was judged in two orders.")
        return
    look = theme.current()
    st.text(sentences.slots(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        style = cached.styles(widgets.current_dataset(), look)[state.judge]
        widgets.figure(
            slots_figure(found.slots, style=style, theme=look), "slots", alt="First places by slot"
        )
        widgets.how_to_read(
            "Filled marks: share of runs in which the candidate of that slot comes first, with a 95 % "
            "interval by item. The dotted line is chance, 1/n. The solid line is what the same candidates "
            "get in other slots: where good candidates stand in a slot more often than others, it is "
            "above chance without any bias. Open marks: how often the judge is right when the best stands "
            "there."
        )
    with measured:
        frame = tables.frame(sentences.SLOTS, found.slots)
        widgets.table(frame, "listwise-slots", alt="First places by slot")
