"""What the labels become: their shares, their errors, and the labels to take away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.aggregation.btd import held_out_labels
from core.aggregation.rules import label_shares, label_table, rule_labels
from core.agreement.confusion_matrix import confusion
from core.interpretation.agreement import cell_key
from core.plots.aggregation import share_key, shares_figure
from core.plots.agreement import confusion_matrix
from core.records import NO_GOLD, IntArray
from core.schema import VOTE_LABELS
from core.store.vote_queries import comparison_names
from pages.sections.aggregation.controls import PageState, in_url
from pages.shared import cached, widgets


def labels_sections(state: PageState) -> None:
    """Shares and errors of labels before and after, and the download."""
    st.subheader("What the labels become", anchor=False)
    with widgets.errors():
        _become(state)
    st.subheader("Apply and download", anchor=False)
    counts = state.counts
    st.text(
        f"Majority, threshold and calibrated (BTD) labels of all {len(counts):,} comparisons that "
        f"{state.judge} judged, {len(counts) - state.fitted.n_items:,} of them without gold; both rules that "
        "learn use every label."
    )
    widgets.downloads(lambda: _download(state), "calibrated-labels")


def _become(state: PageState) -> None:
    """Shares of labels and errors by gold, before and after."""
    counts = state.counts
    gold = counts.gold != NO_GOLD

    def held_out() -> dict[str, IntArray]:
        labels = held_out_labels(counts, state.options, rng=np.random.default_rng(0))
        return {"majority": counts.label, "calibrated": labels}

    labels = cached.computed("held out", state.key, held_out)
    shares = cached.computed(
        "label shares",
        state.key,
        lambda: label_shares(
            counts.item[gold], {"gold": counts.gold[gold]} | {name: one[gold] for name, one in labels.items()}
        ),
    )
    bars = {
        share_key(source, y): (counts.gold if source == "gold" else labels[source]) == y
        for source in shares
        for y in VOTE_LABELS
        if shares[source][y + 1].value
    }
    fig = shares_figure(shares, theme=state.look, chosen=in_url("share_of"))
    bar = widgets.figure(fig, "share_of", alt="Share of each label by source", marks=list(bars))
    if bar:
        widgets.votes_table(state.votes_behind(bars[bar] & gold, counts), name="share_of")
    for place, (name, given) in zip(st.columns(2, gap="medium"), labels.items(), strict=True):
        with place:
            _against_gold(state, name, given)
    widgets.how_to_read(
        "Calibrated labels here come from fits on the other nine tenths of the items, so that they do not "
        "flatter."
    )


def _against_gold(state: PageState, name: str, given: IntArray) -> None:
    """Confusion of one source's labels, and the votes behind a cell."""
    counts = state.counts
    table = cached.computed("confusions", (*state.key, name), lambda: confusion(counts, labels=given))
    st.caption(f"{name.capitalize()} against gold")
    mark = f"cell_{name}"
    found = {
        cell_key(g, y): (counts.gold == g) & (given == y)
        for g in VOTE_LABELS
        for y in VOTE_LABELS
        if table.counts[g + 1, y + 1]
    }
    fig = confusion_matrix(table, theme=state.look, chosen=in_url(mark))
    picked = widgets.figure(fig, mark, alt=f"Gold against {name} label", marks=list(found))
    if picked:
        widgets.votes_table(state.votes_behind(found[picked], counts), name=mark)


def _download(state: PageState) -> pd.DataFrame:
    counts = state.counts
    names = comparison_names(cached.get_store(), state.selection).to_pandas().iloc[counts.comparison]
    frame = label_table(counts, state.fitted).to_frame().drop(columns="comparison")
    threshold = rule_labels("threshold", counts, state.fitted)
    frame.insert(list(frame).index("calibrated"), "threshold", threshold)
    named: pd.DataFrame = pd.concat([names.reset_index(drop=True), frame], axis=1)
    return named
