"""The tabs of the Listwise page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from core.consensus.listwise import Improvements, OrderSensitivity, OrderSweep, consensus, order_sweep
from core.interpretation import listwise as list_sentences
from core.plots.listwise import improvements_figure, sensitivities_figure, slots_figure, sweep_figure
from pages.sections.listwise.controls import LABELS, NO_BEST, Asked, known
from pages.shared import cached, theme, widgets

CANDIDATES = {
    "item": "item",
    "candidate": "candidate",
    "runs": "runs",
    "consensus": "consensus score",
    "winner": "wins",
    "best": "is the best",
    "score": "mean score",
    "borda": "rank score (Borda)",
    "top": "share of first places",
    "uncertainty": "flagged uncertain",
}
DECIMALS = ("mean score", "rank score (Borda)", "share of first places", "flagged uncertain")
ACCURACY = {
    "category": "category",
    "n": "items",
    "consensus": "consensus right",
    "direct": "first order right",
    "single": "any one order right",
    "improved": "improved",
    "regressed": "regressed",
    "p_value": "p",
    "consensus_low": "consensus low",
    "consensus_high": "consensus high",
    "direct_low": "first low",
    "direct_high": "first high",
    "single_low": "one low",
    "single_high": "one high",
    "gain": "consensus minus any one",
    "gain_low": "minus low",
    "gain_high": "minus high",
    "chance": "by chance",
}
ORDERS = {
    "k": "orders K",
    "n": "items",
    "accuracy": "right",
    "low": "low",
    "high": "high",
    "gain": "gain over any one",
    "gain_low": "gain low",
    "gain_high": "gain high",
    "majority_error": "majority wrong",
    "bound": "Hoeffding bound",
    "subsets": "subsets",
}
SLOTS = {
    "slot": "slot",
    "n": "runs",
    "win": "comes first",
    "low": "low",
    "high": "high",
    "expected": "its candidates elsewhere",
    "pull": "difference",
    "pull_low": "difference low",
    "pull_high": "difference high",
    "chance": "chance",
    "best_n": "runs with the best",
    "best_win": "right then",
    "best_low": "right low",
    "best_high": "right high",
}


def consensus_tab(asked: Asked, found: dict[str, Improvements]) -> None:
    """Direct against consensus accuracy of every judge, and the scores of each candidate."""
    look = theme.current()
    pooled = consensus(asked.shown, weights=asked.weights, tolerance=asked.tolerance)
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        if found:
            styles = cached.styles(widgets.current_dataset(), look)
            fig = improvements_figure(found, styles=styles, theme=look)
            widgets.figure(
                fig, "listwise", alt="Share of items right by the first order, any one and consensus"
            )
        else:
            widgets.not_applicable(NO_BEST)
        widgets.how_to_read(
            "Hollow marks judge each item by its first order alone, thin bars by each of its orders alone "
            "(the mean over them), filled marks by the consensus of all its orders: the weighted mean of the "
            "mean score, the mean rank (Borda), the share of first places and the share of runs that flagged "
            "uncertainty. An item counts 1 if its only winner is the best, 1/k if k candidates share the "
            "first place and the best is among them. Lines are 95 % intervals over items. The p-value is an "
            "exact sign test on the items that consensus changed, against the first order."
        )
    with measured:
        if asked.judge in found:
            frame = found[asked.judge].to_frame()
            shown = frame[list(ACCURACY)].rename(columns=ACCURACY)
            widgets.table(shown, "listwise-accuracy", alt="Accuracy by category")
            st.text(list_sentences.macro(found[asked.judge]))
        if pooled.missing:
            lacking = ", ".join(LABELS[name] for name in pooled.missing)
            st.caption(f"Left out, as some judgement lacks it: {lacking}.")
    frame = pooled.to_frame()
    frame["item"] = np.array(cached.ranked_items(asked.selection), dtype=object)[frame["item"]]
    # A score that is missing everywhere is no column; whether one is the best is yes, no or unknown.
    known_best = frame["best"].map({0: False, 1: True}).astype("boolean")
    table = (
        frame.assign(best=known_best)[list(CANDIDATES)].rename(columns=CANDIDATES).dropna(axis=1, how="all")
    )
    st.caption("Consensus of each candidate; choose a row to see the judgements of its item")
    chosen = st.dataframe(
        table,
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="%.2f")
            for name in (*DECIMALS, CANDIDATES["consensus"])
            if name in table
        },
        key="consensus-table",
        on_select="rerun",
        selection_mode="single-row",
        alt="Consensus score of each candidate",
    )
    widgets.downloads(table, "consensus")
    for row in chosen["selection"]["rows"]:
        behind = replace(
            asked.selection,
            judges=(asked.judge,),
            where=(*asked.selection.where, ("item_id", frame["item"].iloc[row])),
        )
        runs = cached.get_store().export(behind, kind="rankings").to_pandas()
        st.dataframe(runs.dropna(axis=1, how="all"), hide_index=True, alt="Judgements of the chosen item")
        widgets.downloads(runs, "consensus-item")


def orders_tab(asked: Asked) -> None:
    """Accuracy against the number of orders."""
    look = theme.current()
    key = (asked.selection, asked.judge, asked.weights, asked.tolerance)

    def sweep() -> OrderSweep | None:
        rng = np.random.default_rng(0)
        return known(
            lambda: order_sweep(asked.shown, rng=rng, weights=asked.weights, tolerance=asked.tolerance)
        )

    found = cached.computed("orders", key, sweep)
    if found is None:
        widgets.not_applicable(NO_BEST)
        return
    st.text(list_sentences.enough(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        style = cached.styles(widgets.current_dataset(), look)[asked.judge]
        widgets.figure(sweep_figure(found, style=style, theme=look), "orders", alt="Accuracy against orders")
        if found.bound is None:
            st.caption(f"No Hoeffding bound: one order alone is right on {found.q:.0%}, not more than half.")
        widgets.how_to_read(
            "Each K takes subsets of K of the orders of each item (all of them, or 200 at random) and pools "
            "them. The dotted line is how often at most half of the K orders put the best first; the dashed "
            "one is Hoeffding's bound exp(−2K(q − ½)²) on that, q being how often one order is right. The "
            "bound supposes orders that err independently and alike on every item: a reference, no promise."
        )
    with measured:
        frame = found.to_frame()[list(ORDERS)].rename(columns=ORDERS)
        widgets.table(frame, "listwise-orders", alt="Accuracy by number of orders")
        if found.left_out:
            st.caption(f"{found.left_out:,} items with fewer than {len(found.k)} orders are left out.")


def slots_tab(asked: Asked, found: OrderSensitivity | None) -> None:
    """Which slots come first."""
    if found is None:
        widgets.not_applicable("no item was judged in two orders.")
        return
    look = theme.current()
    st.text(list_sentences.slots(found))
    drawn, measured = st.columns([3, 2], gap="medium")
    with drawn:
        style = cached.styles(widgets.current_dataset(), look)[asked.judge]
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
        frame = found.slots.to_frame()
        # Slots count from 1 in words and figure, from 0 in files.
        frame = frame.assign(slot=frame["slot"] + 1)[list(SLOTS)].rename(columns=SLOTS)
        widgets.table(frame, "listwise-slots", alt="First places by slot")


def judges_tab(asked: Asked, found: dict[str, Improvements], sensitive: dict[str, OrderSensitivity]) -> None:
    """Every judge's order sensitivity and accuracy."""
    look = theme.current()
    if sensitive:
        st.text(list_sentences.judges(sensitive))
        styles = cached.styles(widgets.current_dataset(), look)
        fig = sensitivities_figure(sensitive, styles=styles, theme=look)
        widgets.figure(fig, "order-decides", alt="Share of items whose first place depends on the order")
        widgets.how_to_read(
            "A mark is the share of items on which a judge put different candidates first in different "
            "orders; bars are 95 % intervals over items. 0 is a judge that does not care for order. A judge "
            "that saw an item in more orders had more chances to change, so compare judges of equally many. "
            "*Improved* and *regressed* in the table count the items that the consensus of all orders sets "
            "right or wrong, against the first order alone; p is an exact sign test on them."
        )
    else:
        widgets.not_applicable("no item was judged in two orders.")
    rows = []
    for name in asked.rankings:
        row: dict[str, object] = {"judge": name}
        if name in sensitive:
            changed = sensitive[name].changed
            row |= {"n": changed.n, "order decides": changed.value, "low": changed.low, "high": changed.high}
        if name in found:
            overall = found[name].overall
            rates = (
                ("first order", overall.direct),
                ("any one order", overall.single),
                ("consensus", overall.consensus),
            )
            for title, rate in rates:
                row |= {f"{title} right": rate.value, f"{title} low": rate.low, f"{title} high": rate.high}
            row |= {"improved": overall.improved, "regressed": overall.regressed, "p": overall.p_value}
        rows.append(row)
    widgets.table(pd.DataFrame(rows), "listwise-judges", alt="All judges")
