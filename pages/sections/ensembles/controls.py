"""Controls of the Ensembles page, and the results that its answer and its tabs share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.consensus.ensembles import (
    EPSILON,
    EnsembleTable,
    Members,
    compare,
    fuser_verdicts,
    likely_jury,
    members,
)
from core.errors import InvalidOption
from core.schema import Selection
from pages.shared import cached, widgets

# Judges that read other judgements: no members, unless they are chosen.
DERIVED = ("fuser(", "usc(", "gsa(", "apoc(")
FUSER = "fuser("


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState:
    """The jury, the fusers beside it, and the tail of the TH-Score."""

    selection: Selection
    jury: tuple[str, ...]
    fusers: tuple[str, ...]
    epsilon: float

    @property
    def key(self) -> tuple[object, ...]:
        return (self.selection, self.jury, self.fusers, self.epsilon)


def read_controls() -> PageState:
    """Draw the controls; a jury needs two judges."""
    selection = widgets.current_selection()
    raters = cached.raters(widgets.current_dataset())
    counts = cached.vote_counts(selection)
    judges = [name for name in counts if raters.get(name) != "human"]
    start = likely_jury({name: counts[name] for name in judges if not name.startswith(DERIVED)})
    slots = st.columns([4, 3, 2], gap="small", vertical_alignment="bottom")
    jury = slots[0].multiselect("Members", judges, default=list(start), key="jury", bind=widgets.URL)
    others = [name for name in judges if name not in jury]
    fusers = slots[1].multiselect(
        "Fusers",
        others,
        default=[name for name in others if name.startswith(FUSER)],
        key="fusers",
        bind=widgets.URL,
        placeholder="none" if others else "no other judge",
        help="Judges that read the members' verdicts and gave their own (page Collect).",
    )
    epsilon = slots[2].slider("TH-Score ε", 0.01, 0.3, EPSILON, 0.01, key="jury-epsilon", bind=widgets.URL)
    if len(jury) < 2:
        people = sum(raters.get(name) == "human" for name in counts)
        if people and len(judges) < 2:
            raise InvalidOption(
                f"People cannot be members here, and {people} human {'rater' if people == 1 else 'raters'} and "
                f"{len(judges)} of the judges are selected in the sidebar: a jury needs two judges or more. "
                "Page Agreement compares people."
            )
        raise InvalidOption("A jury needs two judges or more: choose them as Members, or in the sidebar.")
    return PageState(selection=selection, jury=tuple(jury), fusers=tuple(fusers), epsilon=epsilon)


def judged(state: PageState) -> tuple[Members, EnsembleTable]:
    """The jury's verdicts, and everybody's scores."""
    counts, votes = cached.vote_counts(state.selection), cached.single_votes(state.selection)
    found = members({name: counts[name] for name in state.jury}, votes)
    fused = {name: fuser_verdicts(found, counts[name], votes[name]) for name in state.fusers}
    costs = cached.costs(state.selection)
    rng = np.random.default_rng(0)
    return found, compare(found, rng=rng, fusers=fused, costs=costs, epsilon=state.epsilon)
