"""What n votes become: each way that they can fall, the shares and errors of labels, and the
labels.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.questions.accuracy.confusion_matrix import confusion
from core.questions.labels.btd import BTDFit, decision_map, held_out_labels
from core.questions.labels.figure import (
    MOST_VOTES,
    decision_figure,
    pattern_key,
    share_key,
    shares_figure,
)
from core.questions.labels.rules import label_shares, label_table, rule_labels
from core.records import NO_GOLD, IntArray, VoteCounts
from core.schema import VOTE_LABELS, Selection
from core.store.vote_queries import Mark
from pages.sections.votes_to_labels.controls import PageState
from pages.shared import cached, cards, numbers, widgets


def decisions_section(state: PageState) -> None:
    """Two maps to click on, and the votes behind a square."""
    cells = state.cells
    sizes = np.bincount(cells.n, weights=cells.weight).astype(np.int64)
    offered = [int(n) for n in np.flatnonzero(sizes) if n <= MOST_VOTES]
    if offered:
        commonest = offered.index(max(offered, key=lambda n: sizes[n]))
        n = state.controls.selectbox(
            "Votes", offered, commonest, key="n", bind=widgets.URL, width=90
        )
        _maps(state, n)
    else:
        widgets.not_applicable(
            f"every comparison has over {MOST_VOTES} votes, too many to draw each way."
        )
    for note in state.fitted.notes:
        st.text(note)


def _maps(state: PageState, n: int) -> None:
    seen = widgets.patterns(state.cells, n)
    marks = {pattern_key(*pattern): Mark(judge=state.judge, counts=pattern) for pattern in seen}
    drawn = decision_map(state.fitted, n)
    calibrated, plain = st.columns(2, gap="medium")
    ring = widgets.in_url("cell")
    with calibrated:
        fig = decision_figure(drawn, by="calibrated", seen=seen, theme=state.look, chosen=ring)
        st.caption(f"Calibrated (BTD), fitted on {state.fitted.n_items:,} labels")
        cell = widgets.figure(fig, "cell", alt="What calibrated aggregation decides", marks=marks)
    with plain:
        fig = decision_figure(drawn, by="majority", seen=seen, theme=state.look, chosen=ring)
        st.caption("Majority")
        widgets.figure(fig, "majority", alt="What majority decides", marks=marks, into="cell")
        widgets.how_to_read(
            f"A square is one way in which {n} votes can fall: votes for A across, for B up, the "
            "rest are ties. Its letter is the label that it becomes. Pale squares have no "
            "comparison here; a heavy outline marks where the two rules differ."
        )
    cards.votes_behind(cell, name="cell")


def labels_sections(state: PageState) -> None:
    """Shares and errors of labels before and after, and the download."""
    st.subheader("What the labels become", anchor=False)
    # The rules above need the same labels, and lead to them where there are too few.
    with widgets.errors(elsewhere=False):
        _become(state)
    st.subheader("Apply and download", anchor=False)
    counts = state.counts
    st.text(
        f"Majority, threshold and calibrated (BTD) labels of all {len(counts):,} comparisons that "
        f"{state.judge} judged, {len(counts) - state.fitted.n_items:,} of them without gold; both "
        "rules that learn use every label."
    )
    numbers.downloads(lambda: _download(state), "calibrated-labels")


def _become(state: PageState) -> None:
    """Shares of labels and errors by gold, before and after."""
    counts = state.counts
    gold = counts.gold != NO_GOLD
    calibrated = cached.computed(
        "held out", state.key, lambda: held_out_labels(counts, state.options, rng=widgets.seeded())
    )
    labels = {"majority": counts.label, "calibrated": calibrated}
    shares = cached.computed(
        "label shares",
        state.key,
        lambda: label_shares(
            counts.item[gold],
            {"gold": counts.gold[gold]} | {name: one[gold] for name, one in labels.items()},
        ),
    )
    bars = {
        share_key(source, y): state.votes_behind((label == y) & gold, counts)
        for source, label in ({"gold": counts.gold} | labels).items()
        for y in VOTE_LABELS
        if shares[source][y + 1].value
    }
    fig = shares_figure(shares, theme=state.look, chosen=widgets.in_url("share_of"))
    bar = widgets.figure(fig, "share_of", alt="Share of each label by source", marks=bars)
    cards.votes_behind(bar, name="share_of")
    for place, (name, given) in zip(st.columns(2, gap="medium"), labels.items(), strict=True):
        with place:
            _against_gold(state, name, given)
    widgets.how_to_read(
        "Calibrated labels here come from fits on the other nine tenths of the items, so that "
        "they do not flatter."
    )


def _against_gold(state: PageState, name: str, given: IntArray) -> None:
    """Confusion of one source's labels, and the votes behind a cell."""
    counts = state.counts
    table = cached.computed(
        "confusions", (*state.key, name), lambda: confusion(counts, labels=given)
    )
    st.caption(f"{name.capitalize()} against gold")
    mark = f"cell_{name}"

    def behind(gold: int, label: int) -> Mark:
        return state.votes_behind((counts.gold == gold) & (given == label), counts)

    picked = widgets.confusion_figure(
        table, behind, mark, alt=f"Gold against {name} label", height=340
    )
    cards.votes_behind(picked, name=mark)


def _download(state: PageState) -> pd.DataFrame:
    counts = state.counts
    frame = named_labels(counts, state.fitted, state.selection)
    threshold = rule_labels("threshold", counts, state.fitted)
    frame.insert(list(frame).index("calibrated"), "threshold", threshold)
    return frame


def named_labels(counts: VoteCounts, fitted: BTDFit, selection: Selection) -> pd.DataFrame:
    """Majority and calibrated label of each comparison, by name; codes are those of the
    selection.
    """
    names = cached.comparison_names(selection).to_pandas().iloc[counts.comparison]
    frame = label_table(counts, fitted).to_frame().drop(columns="comparison")
    named: pd.DataFrame = pd.concat([names.reset_index(drop=True), frame], axis=1)
    return named
