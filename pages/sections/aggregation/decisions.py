"""What each way that n votes can fall becomes, by majority and calibrated."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.aggregation.btd import decision_map
from core.plots.aggregation import MOST_VOTES, Pattern, decision_figure, pattern_key
from core.store.vote_queries import Mark
from pages.sections.aggregation.controls import PageState, in_url
from pages.shared import widgets


def decisions_section(state: PageState) -> None:
    """Two maps to click on, and the votes behind a square."""
    cells = state.cells
    sizes = np.bincount(cells.n, weights=cells.weight).astype(np.int64)
    offered = [int(n) for n in np.flatnonzero(sizes) if n <= MOST_VOTES]
    if offered:
        commonest = offered.index(max(offered, key=lambda n: sizes[n]))
        n = state.controls.selectbox("Votes", offered, commonest, key="n", bind=widgets.URL, width=90)
        _maps(state, n)
    else:
        widgets.not_applicable(f"every comparison has over {MOST_VOTES} votes, too many to draw each way.")
    for note in state.fitted.notes:
        st.text(note)


def _maps(state: PageState, n: int) -> None:
    seen = _seen(state, n)
    keys = {pattern_key(*pattern): pattern for pattern in seen}
    drawn = decision_map(state.fitted, n)
    calibrated, plain = st.columns(2, gap="medium")
    ring = in_url("cell")
    with plain:
        fig = decision_figure(drawn, by="majority", seen=seen, theme=state.look, chosen=ring)
        st.caption("Majority")
        widgets.figure(fig, "majority", alt="What majority decides", marks=list(keys), into="cell")
    with calibrated:
        fig = decision_figure(drawn, by="calibrated", seen=seen, theme=state.look, chosen=ring)
        st.caption(f"Calibrated (BTD), fitted on {state.fitted.n_items:,} labels")
        cell = widgets.figure(fig, "cell", alt="What calibrated aggregation decides", marks=list(keys))
    with plain:
        widgets.how_to_read(
            f"A square is one way in which {n} votes can fall: votes for A across, for B up, the rest are "
            "ties. Its letter is the label that it becomes. Pale squares have no comparison here; a heavy "
            "outline marks where the two rules differ."
        )
    if cell:
        widgets.votes_table(Mark(judge=state.judge, counts=keys[cell]), name="cell")


def _seen(state: PageState, n: int) -> dict[Pattern, int]:
    """Comparisons with each way that n votes fall."""
    cells = state.cells
    seen: dict[Pattern, int] = {}
    patterns = zip(*(part.tolist() for part in (cells.plus, cells.tie, cells.minus)), strict=True)
    for pattern, weight in zip(patterns, cells.weight.tolist(), strict=True):
        if sum(pattern) == n:
            seen[pattern] = seen.get(pattern, 0) + round(weight)
    return seen
