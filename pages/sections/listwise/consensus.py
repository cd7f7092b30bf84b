"""Is the consensus of all orders more often right? Accuracy of every judge, and the scores of candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from core.consensus.listwise import Consensus, Improvements, consensus
from core.interpretation import listwise as sentences
from core.interpretation import tables
from core.plots.consensus import improvements_figure
from pages.sections.listwise.controls import LABELS, NO_BEST, PageState
from pages.shared import cached, theme, widgets

DECIMALS = [sentences.CANDIDATES[name] for name in ("consensus", "score", "borda", "top", "uncertainty")]


def consensus_tab(state: PageState, found: dict[str, Improvements]) -> None:
    """Direct against consensus accuracy of every judge, and the scores of each candidate."""
    look = theme.current()
    pooled = consensus(state.shown, weights=state.weights, tolerance=state.tolerance)
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
        if state.judge in found:
            accuracy = (*found[state.judge].by_category, found[state.judge].overall)
            shown = tables.frame(sentences.ACCURACY, accuracy)
            widgets.table(shown, "listwise-accuracy", alt="Accuracy by category")
            st.text(sentences.macro(found[state.judge]))
        if pooled.missing:
            lacking = ", ".join(LABELS[name] for name in pooled.missing)
            st.caption(f"Left out, as some judgement lacks it: {lacking}.")
    _candidates(state, pooled)


def _candidates(state: PageState, pooled: Consensus) -> None:
    """Consensus of each candidate, and the judgements of the item that is chosen."""
    frame = pooled.to_frame()
    frame["item"] = np.array(cached.ranked_items(state.selection), dtype=object)[frame["item"]]
    # A score that is missing everywhere is no column; whether one is the best is yes, no or unknown.
    known_best = frame["best"].map({0: False, 1: True}).astype("boolean")
    table = (
        frame.assign(best=known_best)[list(sentences.CANDIDATES)]
        .rename(columns=sentences.CANDIDATES)
        .dropna(axis=1, how="all")
    )
    st.caption("Consensus of each candidate; choose a row to see the judgements of its item")
    chosen = st.dataframe(
        table,
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="%.2f") for name in DECIMALS if name in table
        },
        key="consensus-table",
        on_select="rerun",
        selection_mode="single-row",
        alt="Consensus score of each candidate",
    )
    widgets.downloads(table, "consensus")
    for row in chosen["selection"]["rows"]:
        behind = replace(
            state.selection,
            judges=(state.judge,),
            where=(*state.selection.where, ("item_id", frame["item"].iloc[row])),
        )
        runs = cached.get_store().export(behind, kind="rankings").to_pandas()
        st.dataframe(runs.dropna(axis=1, how="all"), hide_index=True, alt="Judgements of the chosen item")
        widgets.downloads(runs, "consensus-item")
