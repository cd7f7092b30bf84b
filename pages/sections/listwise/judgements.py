"""Judgements behind a mark: who came first, in which run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.finding.wording import count
from core.questions.lists.method import in_top_set
from core.records import IntArray, ListRankings
from pages.sections.listwise.controls import PageState
from pages.shared import cached, numbers

MOST_SHOWN = 200
"""Rows on the page; the downloads have all."""


def first_places_on(
    state: PageState, items: IntArray, said: str, *, name: str, judge: str | None = None
) -> None:
    """Who came first in every run of these items, by the chosen judge or another.

    said : what the items are, after their number.
    """
    rankings = state.rankings[judge or state.judge]
    rows = np.flatnonzero(in_top_set(rankings) & np.isin(rankings.item, items))
    first_places(
        state, rankings, rows, "on them", name=name, of=f"{count(len(items), 'item')} {said}; "
    )


def first_places(
    state: PageState, rankings: ListRankings, rows: IntArray, said: str, *, name: str, of: str = ""
) -> None:
    """Rows of a judge's rankings that came first; tied ones are all first.

    of, said : what they are of and which they are, before and after their number.
    """
    rows = rows[np.lexsort((rankings.run[rows], rankings.item[rows]))]
    items = np.array(cached.ranked_items(state.selection), dtype=object)
    table = pd.DataFrame(
        {
            "item": items[rankings.item[rows]],
            "run": rankings.run[rows],
            "slot": rankings.slot[rows] + 1,
            "candidate": np.array(rankings.candidates, dtype=object)[rankings.candidate[rows]],
            "score": rankings.score[rows],
            "is the best": pd.Series(rankings.best[rows])
            .map({0: False, 1: True})
            .astype("boolean"),
        }
    ).dropna(axis=1, how="all")
    st.caption(
        f"{of}{count(len(rows), 'first place')} {said}"
        + (f"; the first {MOST_SHOWN:,} are here" if len(rows) > MOST_SHOWN else "")
    )
    st.dataframe(table.head(MOST_SHOWN), hide_index=True, alt="First places behind the mark")
    numbers.downloads(table, name)
