"""The judge of How many votes; error against the number of votes, and against the number of
labels.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.errors import NoUsableVotes
from core.finding.figure import Style
from core.finding.tables import frame
from core.questions.agreement.repeats import effective_votes
from core.questions.labels.btd import fit
from core.questions.labels.rules import RULES, rule_labels
from core.questions.planning.figure import SWEPT, sweep_figure
from core.questions.planning.sweeps import (
    Sweep,
    label_sweep,
    labels_by_confidence,
    vote_sweep,
    votes_source,
)
from core.questions.planning.words import (
    EFFECTIVE,
    enough_answer,
    labels_answer,
    plan_answer,
    votes_answer,
    worth_answer,
)
from core.records import NO_GOLD, ConfidenceCounts, VoteCounts
from core.store.vote_queries import Mark
from pages.shared import cached, cards, numbers, widgets

COLUMNS = {
    "votes": "votes",
    "labels": "labels",
    "rule": "rule",
    "n": "n",
    "mae": "MAE",
    "mae_item_low": "low",
    "mae_item_high": "high",
    "mae_low": "draws low",
    "mae_high": "draws high",
    "more": "added error",
    "more_low": "added low",
    "more_high": "added high",
    "pa": "PA",
    "pa_item_low": "PA low",
    "pa_item_high": "PA high",
    "mae_all_labels": "BTD, all labels",
}
MARKS = (
    "Error (MAE) is the mean distance between a label and gold: 1 for a mistaken tie, 2 for the "
    "opposite. *Majority* takes the commonest vote; *threshold* and *BTD* are calibrated on "
    "labels. The dotted line is BTD fitted on every label. Thin bars are sampling error (95 %, by "
    "item). Thick bars are how far the mean varies over "
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The chosen judge and the votes of every judge of the selection."""

    judge: str
    counts: dict[str, VoteCounts]

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
                f"Needs gold: {self.judge} judged no comparison with a gold label, so its error is "
                "unknown. Load true or human labels: a column gold with the votes, or a second "
                "file on the page Start."
            )
        return found


def read_controls() -> PageState:
    """Draw the control: the judge, first the model with most votes on labelled comparisons.

    A person comes first only where people alone voted.
    """
    selection = widgets.current_selection()
    counts = cached.vote_counts(selection)

    kinds = cached.raters(widgets.current_dataset())

    def votes(name: str) -> tuple[bool, int]:
        found = counts[name]
        labelled = int((found.plus + found.tie + found.minus)[found.gold != NO_GOLD].sum())
        return kinds[name] != "human", labelled

    most = cached.computed("most labelled votes", (selection,), lambda: max(counts, key=votes))
    judge = widgets.judge(counts, start=most, why="most labelled votes", width=320)
    return PageState(judge=judge, counts=counts)


def votes_tab(state: PageState) -> None:
    """How many votes per comparison are enough."""
    state.labelled()
    counts = votes_source(
        state.counts[state.judge], cached.order_counts(state.selection).get(state.judge)
    )
    stated = cached.confidence_counts(state.selection)[state.judge]
    weighed = None
    if not np.isnan(stated.confidence).any() and st.toggle(
        "Also rules that weigh confidence: Soft-SC, CI-SC", key="weigh-confidence", bind=widgets.URL
    ):
        weighed = stated
    found = cached.computed(
        "vote sweep",
        (*state.key, weighed is not None),
        lambda: vote_sweep(counts, rng=widgets.seeded(), confidences=weighed),
    )
    if len(found.sizes) < 2:
        widgets.not_applicable(
            f"{state.judge} has one vote per comparison; fewer votes can be tried where there are "
            "two or more."
        )
        return
    widgets.answer(plan_answer(state.judge, found), part="votes")
    worth = cached.computed(
        "effective votes", state.key, lambda: effective_votes(state.counts[state.judge])
    )
    widgets.in_full(votes_answer(state.judge, found), part="votes")
    _drawn(state, found, weighed)
    order = "half from each order shown" if found.balanced else "whatever the order shown"
    left_out = f" {found.left_out:,} with fewer votes are left out." if found.left_out else ""
    st.caption(
        f"{found.draws} draws of votes without replacement, {order}; {found.n_splits} calibration "
        f"splits each, of {found.calibration:.0f} labelled comparisons on average. {found.n:,} "
        f"comparisons of {found.n_items:,} items.{left_out}"
    )
    widgets.how_to_read(
        f"{MARKS}draws of the votes and calibration sets. *Added error*: the rise in error above "
        "that at the largest number of votes, on the same items. Where the most votes are the "
        "votes there are, more might pay further: the curve says how steeply."
    )
    numbers.table(
        found.to_frame(), "votes-sweep", alt="Error of each rule at each size", heads=COLUMNS
    )
    if worth is not None:
        st.subheader("What are repeated votes worth?", anchor=False)
        widgets.answer(worth_answer(state.judge, worth), part="worth")
        table = frame(EFFECTIVE, worth.errors)
        numbers.table(table, "effective-votes", alt="Majority on the wrong side, by votes")
    source = "order_counts" if found.balanced else "vote_counts"
    if weighed is None:
        code = "print(vote_sweep(counts, rng=default_rng(0)).to_frame().to_string())"
    else:
        code = f"""stated = queries.confidence_counts(store, selection)[{state.judge!r}]
print(vote_sweep(counts, rng=default_rng(0), confidences=stated).to_frame().to_string())"""
    widgets.copy_as_python(f"counts = queries.{source}(store, selection)[{state.judge!r}]\n{code}")


def _drawn(state: PageState, found: Sweep, stated: ConfidenceCounts | None = None) -> None:
    """The figure of a sweep; a mark leads to what its rule labels wrongly."""
    name = f"{found.over}-sweep"
    marks = cached.computed(
        "wrong under", (*state.key, found.methods), lambda: _wrong(state, found, stated)
    )
    words = {said: measure for measure, said in SWEPT.items()}
    said = widgets.choice("Drawn", list(words), key=f"{name}-drawn")
    behind = widgets.figure(
        sweep_figure(found, words[said], chosen=widgets.in_url(name), theme=state.look),
        name,
        alt=f"{said.capitalize()} of each rule by the number of {found.over}",
        marks=marks,
        prompt="Comparisons labelled wrongly by",
    )
    if behind is not None:
        st.caption("With all votes, by the rule calibrated on every label.")
    cards.votes_behind(behind, name=name)


def _wrong(state: PageState, found: Sweep, stated: ConfidenceCounts | None) -> dict[str, Mark]:
    """Rule → the votes on comparisons that it labels wrongly, with all votes and every label.

    stated : confidences of all votes, where rules that weigh them are swept.
    """
    labelled = state.labelled()
    fitted = fit(labelled.cells()[0])
    labels = {key: rule_labels(key, labelled, fitted) for key in found.methods}
    if stated is not None:
        # Of all votes nothing is drawn, so these are the labels whatever the generator.
        labels |= labels_by_confidence(labelled, stated, rng=widgets.seeded())
    wrong = {
        RULES[key].name: labelled.comparison[label != labelled.gold]
        for key, label in labels.items()
        if label is not None
    }
    return {name: cards.mark_of(codes, state.judge) for name, codes in wrong.items() if len(codes)}


def labels_tab(state: PageState) -> None:
    """How many labelled comparisons are enough."""
    labelled = state.labelled()
    found = cached.computed(
        "label sweep", state.key, lambda: label_sweep(labelled, rng=widgets.seeded())
    )
    widgets.answer(enough_answer(state.judge, found), part="labels")
    widgets.in_full(labels_answer(state.judge, found), part="labels")
    _drawn(state, found)
    st.caption(
        f"{found.n_splits} random orders of {found.n_items:,} items; all sizes are evaluated on "
        f"what lies outside the largest set. {found.n:,} labelled comparisons."
    )
    if found.not_possible:
        sizes = ", ".join(str(size) for size in found.not_possible)
        st.caption(f"Left out: {sizes}. {next(iter(found.not_possible.values()))}.")
    widgets.how_to_read(
        f"{MARKS}random calibration sets; those overlap, so that is split variability, not "
        "sampling error. The labels of one item are drawn together."
    )
    numbers.table(
        found.to_frame(), "labels-sweep", alt="Error of each rule at each size", heads=COLUMNS
    )
    widgets.copy_as_python(
        f"""counts = queries.vote_counts(store, selection)[{state.judge!r}]
print(label_sweep(counts, rng=default_rng(0)).to_frame().to_string())"""
    )
