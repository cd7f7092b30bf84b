"""Is the consensus of all orders more often right, how many are enough, which slots come first, and
for which judges does order decide?
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from core.errors import NoUsableVotes
from core.finding import tables
from core.questions.juries.figure import (
    improvements_figure,
    orders_key,
    sensitivities_figure,
    slot_key,
    slots_figure,
    sweep_figure,
)
from core.questions.lists import words as sentences
from core.questions.lists.method import (
    Consensus,
    Improvements,
    consensus,
    in_top_set,
    pooled_improvements,
)
from core.questions.lists.orders import OrderSensitivity, order_sweep
from pages.sections.listwise.controls import LABELS, NO_BEST, PageState, without_slots
from pages.sections.listwise.judgements import first_places, first_places_on
from pages.shared import cached, many, numbers, widgets

SHARED = {"dataset", "item_id", "category", "judge", "rater_type"}
"""Columns that say the same of all judgements of an item by a judge."""
DECIMALS = [
    sentences.CANDIDATES[name] for name in ("consensus", "score", "borda", "top", "uncertainty")
]


def consensus_tab(state: PageState, found: dict[str, Improvements]) -> None:
    """Direct against consensus accuracy of every judge, and the scores of each candidate."""
    scores = consensus(state.shown, weights=state.weights, tolerance=state.tolerance)
    chosen = None
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        if found:
            fig = improvements_figure(
                found, styles=state.styles, theme=state.look, chosen=widgets.in_url("changed")
            )
            chosen = widgets.figure(
                fig,
                "changed",
                alt="Share of items right by the first order, any one and consensus",
                marks={name: name for name, one in found.items() if len(one.changed)},
                prompt="Items set right or wrong for",
            )
        else:
            widgets.not_applicable(NO_BEST)
        widgets.how_to_read(
            "Hollow marks judge each item by its first order alone, thin bars by each of its "
            "orders alone (the mean over them), filled marks by the consensus of all its orders: "
            "the weighted mean of the mean score, the mean rank (Borda), the share of first places "
            "and the share of runs that saw the candidate say itself, where warranted, that it is "
            "not sure. An item counts 1 if its only winner is the best, 1/k if k candidates share "
            "the first place and the best is among them. Lines are 95 % intervals over items. The "
            "p-value is an exact sign test on the items that consensus changed, against the first "
            "order."
        )
    with measured:
        if state.judge in found:
            accuracy = (*found[state.judge].by_category, found[state.judge].overall)
            shown = tables.frame(sentences.ACCURACY, accuracy)
            numbers.table(shown, "listwise-accuracy", alt="Accuracy by category")
            st.text(sentences.macro(found[state.judge]))
        if scores.missing:
            lacking = ", ".join(LABELS[name] for name in scores.missing)
            st.caption(f"Left out, as some judgements lack it: {lacking}.")
    if chosen is not None:
        first_places_on(
            state,
            found[chosen].changed,
            "that consensus sets right or wrong against the first order",
            judge=chosen,
            name="changed-items",
        )
    _candidates(state, scores)


def _candidates(state: PageState, scores: Consensus) -> None:
    """Consensus of each candidate, and the judgements of the item that is chosen."""
    frame = scores.to_frame()
    frame["item"] = np.array(cached.ranked_items(state.selection), dtype=object)[frame["item"]]
    # A score that is missing everywhere is no column; whether one is the best is yes, no or
    # unknown.
    known_best = frame["best"].map({0: False, 1: True}).astype("boolean")
    table = (
        frame.assign(best=known_best)[list(sentences.CANDIDATES)]
        .rename(columns=sentences.CANDIDATES)
        .dropna(axis=1, how="all")
    )
    items = frame["item"].tolist()

    def choose() -> None:
        for row in st.session_state["consensus-table"]["selection"]["rows"]:
            st.session_state["ranked"] = items[row]

    st.caption("Consensus of each candidate")
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="%.2f") for name in DECIMALS if name in table
        },
        key="consensus-table",
        on_select=choose,
        selection_mode="single-row",
        alt="Consensus score of each candidate",
    )
    numbers.downloads(table, "consensus")
    item = widgets.select(
        "Judgements of item",
        dict.fromkeys(items),
        start=None,
        key="ranked",
        placeholder="click a row, or choose here",
    )
    if item is None:
        return
    behind = replace(
        state.selection, judges=(state.judge,), where=(*state.selection.where, ("item_id", item))
    )
    runs = cached.get_store().export(behind, kind="rankings").to_pandas()
    known = runs.dropna(axis=1, how="all")
    st.dataframe(
        known,
        hide_index=True,
        # What all rows share is in the files.
        column_order=[name for name in known if name not in SHARED],
        alt="Judgements of the chosen item",
    )
    numbers.downloads(runs, "consensus-item")


def orders_tab(state: PageState) -> None:
    """Accuracy against the number of orders."""
    swept, _ = cached.of_each_possible(
        "orders",
        (state.selection, state.judge, state.weights, state.tolerance),
        {state.judge: state.shown},
        lambda one: order_sweep(
            one, rng=widgets.seeded(), weights=state.weights, tolerance=state.tolerance
        ),
        unless=NoUsableVotes,
    )
    found = swept.get(state.judge)
    if found is None:
        widgets.not_applicable(NO_BEST)
        return
    widgets.answer(sentences.orders_answer(state.judge, found), part="-orders")
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        style = state.styles[state.judge]
        missed = {
            orders_key(row.k): items
            for row, items in zip(found.rows, found.missed, strict=True)
            if len(items)
        }
        chosen = widgets.figure(
            sweep_figure(found, style=style, theme=state.look, chosen=widgets.in_url("orders")),
            "orders",
            alt="Accuracy against orders",
            marks={key: key for key in missed},
            prompt="Items not always right with",
        )
        if found.rows[0].bound is None:
            st.caption(
                f"No Hoeffding bound: one order alone is right on {found.q:.0%}, not more than "
                "half."
            )
        widgets.how_to_read(
            "Each K takes subsets of K of the orders of each item (all of them, or 200 at random) "
            "and pools them. The dotted line is how often at most half of the K orders put the "
            "best first; the dashed one is Hoeffding's bound exp(−2K(q − ½)²) on that, q being how "
            "often one order is right. The bound supposes orders that err independently and alike "
            "on every item: a reference, no promise."
        )
    with measured:
        frame = tables.frame(sentences.ORDERS, found.rows)
        numbers.table(frame, "listwise-orders", alt="Accuracy by number of orders")
        if found.left_out:
            st.caption(
                f"{found.left_out:,} items with fewer than {len(found.rows)} orders are left out."
            )
    if chosen is not None:
        said = f"whose consensus of {chosen} is not right by every choice of orders"
        first_places_on(state, missed[chosen], said, name="missed-items")


def slots_tab(state: PageState, found: OrderSensitivity | None) -> None:
    """Which slots come first."""
    if found is None:
        widgets.not_applicable("no item was judged in two orders.")
        return
    corrected = without_slots(state)
    widgets.answer(sentences.slots_answer(state.judge, found, corrected), part="-slots")
    widgets.in_full(f"{sentences.slots(found)} {sentences.without_slots(corrected)}", part="-slots")
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        style = state.styles[state.judge]
        chosen = widgets.figure(
            slots_figure(
                found.slots, style=style, theme=state.look, chosen=widgets.in_url("slots")
            ),
            "slots",
            alt="First places by slot",
            marks={slot_key(row.slot): row.slot for row in found.slots},
            prompt="Judgements that put first",
        )
        widgets.how_to_read(
            "Filled marks: share of runs in which the candidate of that slot comes first, with a "
            "95 % interval by item. The dotted line is chance, 1/n. The solid line is what the "
            "same candidates get in other slots: where good candidates stand in a slot more often "
            "than others, it is above chance without any bias. Open marks: how often the judge is "
            "right when the best stands there."
        )
    with measured:
        frame = tables.frame(sentences.SLOTS, found.slots)
        frame["log-odds of a pick"] = corrected.slots
        numbers.table(frame, "listwise-slots", alt="First places by slot")
        winners = corrected.to_frame()
        winners["item"] = np.array(cached.ranked_items(state.selection), dtype=object)[
            winners["item"]
        ]
        st.caption("Winners of all items without the slots' pull")
        numbers.downloads(winners, "slot-corrected")
    if chosen is not None:
        rankings = state.shown
        rows = np.flatnonzero(in_top_set(rankings) & (rankings.slot == chosen))
        first_places(state, rankings, rows, f"in slot {chosen + 1}", name="first-in-slot")


def judges_tab(
    state: PageState, found: dict[str, Improvements], sensitive: dict[str, OrderSensitivity]
) -> None:
    """Every judge's order sensitivity and accuracy, and all judges together."""
    chosen = None
    if sensitive:
        widgets.answer(sentences.judges_answer(sensitive), part="-judges")
        shares = {name: -one.changed.value for name, one in sensitive.items()}
        order = many.in_order(shares, key="listwise", chosen=(state.judge,))
        few = order.few(sensitive)
        fig = sensitivities_figure(
            few, styles=state.styles, theme=state.look, chosen=widgets.in_url("order-decides")
        )
        chosen = widgets.figure(
            fig,
            "order-decides",
            alt="Share of items whose first place depends on the order",
            marks={name: name for name, one in few.items() if len(one.decided)},
            prompt="Items on which order decides for",
        )
        widgets.how_to_read(
            "A mark is the share of items on which a judge put different candidates first in "
            "different orders; bars are 95 % intervals over items. 0 is a judge that does not care "
            "for order. A judge that saw an item in more orders had more chances to change, so "
            "compare judges of equally many. *Improved* and *regressed* in the table count the "
            "items that the consensus of all orders sets right or wrong, against the first order "
            "alone; p is an exact sign test on them."
        )
    else:
        widgets.not_applicable("no item was judged in two orders.")
    if chosen is not None:
        first_places_on(
            state,
            sensitive[chosen].decided,
            "on which order decides who comes first",
            judge=chosen,
            name="decided-items",
        )
    together = pooled_improvements(found.values())
    if together is not None:
        widgets.answer(sentences.pooled_answer(together), part="-pooled")
    rows = sentences.judge_rows(state.rankings, found, sensitive, together)
    numbers.table(tables.frame(sentences.JUDGES, rows), "listwise-judges", alt="All judges")
