"""Controls of the Experiments page, and what its tabs share."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import streamlit as st

from core.errors import NoUsableVotes
from core.plots.base import Style, Theme
from core.records import NO_GOLD, VoteCounts
from core.schema import Selection
from pages.shared import cached, theme, widgets


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState:
    """The chosen judge and the votes of every judge of the selection."""

    selection: Selection
    judge: str
    counts: dict[str, VoteCounts]
    styles: dict[str, Style]
    look: Theme

    @property
    def style(self) -> Style:
        return self.styles[self.judge]

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.selection, self.judge)

    def labelled(self) -> VoteCounts:
        """The judge's labelled comparisons; an error in words if it has none."""
        found = self.counts[self.judge].labelled()
        if not len(found):
            raise NoUsableVotes(
                f"Needs gold: {self.judge} judged no comparison with a gold label, so its error is unknown. "
                "Load true or human labels: a column gold with the votes, or a second file on the Data page."
            )
        return found


def read_controls() -> PageState:
    """Draw the control: the judge, first the model with most votes on labelled comparisons.

    A person comes first only where people alone voted.
    """
    selection, look = widgets.current_selection(), theme.current()
    counts = cached.vote_counts(selection)

    kinds = cached.raters(widgets.current_dataset())

    def votes(name: str) -> tuple[bool, int]:
        found = counts[name]
        labelled = int((found.plus + found.tie + found.minus)[found.gold != NO_GOLD].sum())
        return kinds[name] != "human", labelled

    most = cached.computed("most labelled votes", (selection,), lambda: max(counts, key=votes))
    judge = st.selectbox(
        "Judge", list(counts), list(counts).index(most), key="rater", bind=widgets.URL, width=320
    )
    return PageState(
        selection=selection,
        judge=judge,
        counts=counts,
        styles=cached.styles(widgets.current_dataset(), look),
        look=look,
    )
