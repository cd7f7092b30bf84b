"""Controls of Calibrated aggregation, and the fit that its sections share."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import streamlit as st

from core.errors import NoUsableVotes
from core.questions.labels.btd import DEFAULTS, Bounds, BTDFit, BTDOptions, fit
from core.questions.labels.solver import Loss
from core.records import BoolArray, VoteCells, VoteCounts
from core.store.vote_queries import Mark
from pages.shared import cached, cards, many, widgets

LIMITS = {"beta": (1e-3, 5.0), "nu": (1e-4, 1e3), "gamma": (-10.0, 10.0)}
GREEK = {"beta": "β", "nu": "ν", "gamma": "γ"}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The chosen judge, its votes, the smoothing and the fit on every label.

    hardest : the judge whose majority labels err most.
    answer : place of the page's answer.  controls : row of the controls, open for more.
    """

    judge: str
    hardest: str
    of_judge: dict[str, VoteCounts]
    labelled: VoteCounts
    cells: VoteCells
    fitted: BTDFit
    options: BTDOptions
    answer: Any
    controls: Any

    @property
    def counts(self) -> VoteCounts:
        return self.of_judge[self.judge]

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.selection, self.judge, self.options)

    def votes_behind(self, wanted: BoolArray, among: VoteCounts) -> Mark:
        """Votes on the comparisons wanted."""
        return cards.mark_of(among.comparison[wanted], self.judge)


def read_controls() -> PageState:
    """Draw the controls; refuse a judge without gold."""
    selection = widgets.current_selection()
    of_judge = cached.vote_counts(selection)
    answer = st.container()
    controls = st.container(horizontal=True, vertical_alignment="bottom")
    right = cached.computed(
        "majority errors",
        (selection,),
        lambda: {name: -_majority_error(counts) for name, counts in of_judge.items()},
    )
    listed = many.sorted_by(right, "worst first")
    hardest = listed[0]
    judge = widgets.judge(listed, start=hardest, place=controls, width=260)
    counts = of_judge[judge]
    labelled, labelled_cells, cells = cached.computed(
        "cells",
        (selection, judge),
        lambda: (counts.labelled(), counts.labelled().cells()[0], counts.cells()[0]),
    )
    if not len(labelled):
        raise NoUsableVotes(
            f"{judge} judged no comparison with a gold label, so which rule errs least is unknown "
            "and nothing can be calibrated. Load true or human labels of 20 comparisons or more: a "
            "column gold with the votes, or a second file on the page Start."
        )
    alpha, kappa = (
        controls.slider(label, 0.1, 5.0, start, 0.1, key=key, bind=widgets.URL, width=170)
        for label, start, key in (
            ("α, smoothing of the margin", DEFAULTS.alpha, "alpha"),
            ("κ, smoothing of ties", DEFAULTS.kappa, "kappa_ties"),
        )
    )
    with controls.popover("Bounds, loss"):
        bounds = _bounds()
        loss: Loss = st.selectbox("Loss to minimise", get_args(Loss), key="loss", bind=widgets.URL)
    options = BTDOptions(alpha=alpha, kappa=kappa, bounds=bounds, loss=loss)
    return PageState(
        judge=judge,
        hardest=hardest,
        of_judge=of_judge,
        labelled=labelled,
        cells=cells,
        fitted=fit(labelled_cells, options),
        options=options,
        answer=answer,
        controls=controls,
    )


def _majority_error(found: VoteCounts) -> float:
    known = found.labelled()
    return float(np.abs(known.label - known.gold).mean()) if len(known) else math.nan


def _bounds() -> Bounds:
    box: dict[str, Any] = {}
    for name, limits in LIMITS.items():
        low, high = st.columns(2)
        box[name] = tuple(
            place.number_input(
                f"{GREEK[name]} {end}",
                value=limit,
                format="%g",
                key=f"{name}_{end}",
                bind=widgets.URL,
            )
            for place, end, limit in zip((low, high), ("from", "to"), limits, strict=True)
        )
    return Bounds(**box)
