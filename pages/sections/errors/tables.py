"""Tables of gold against verdict of every judge, the chosen one's matrix, and the accuracies of
all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import get_args

import streamlit as st

from core.errors import NoUsableVotes, TooFewLabels
from core.finding.check import CheckResult
from core.questions.accuracy.confusion_matrix import Confusion, TieRule, confusion
from core.questions.agreement.figure import accuracies
from core.questions.labels.btd import held_out_labels
from core.records import IntArray, VoteCounts
from core.store.vote_queries import Mark
from pages.shared import cached, cards, evidence, many, widgets
from pages.shared.limits import current_options

COMPARED = {"votes": "votes", "majority": "majority labels", "BTD": "BTD labels"}
"""What can be compared with gold, and what the sentence calls it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The controls, and the tables that they select.

    accuracy : of the votes of the chosen judge, whatever is compared.
    labels : what was compared with gold, one per comparison, or None for the votes themselves.
    reasons : why another judge has no table.
    worst : the judge that is right least.
    """

    compared: str
    ties: TieRule
    judge: str
    accuracy: CheckResult
    counts: dict[str, VoteCounts]
    labels: dict[str, IntArray | None]
    tables: dict[str, Confusion]
    reasons: dict[str, str]
    order: many.Shown
    worst: str

    @property
    def table(self) -> Confusion:
        """The table of the chosen judge."""
        return self.tables[self.judge]


def read_controls() -> PageState:
    """Draw the controls; refuse a selection without gold, or in which no judge has labels
    enough.
    """
    selection = widgets.current_selection()
    counts = {
        judge: one for judge, one in cached.vote_counts(selection).items() if len(one.labelled())
    }
    if not counts:
        raise NoUsableVotes(
            "Confusion needs comparisons with a gold label; this selection has none."
        )
    row = st.container(horizontal=True)
    compared = widgets.choice("Compare with gold", list(COMPARED), key="compared", place=row)
    ties: TieRule = row.selectbox(
        "Ties", get_args(TieRule), key="ties", bind=widgets.URL, width=180
    )
    found, reasons = cached.of_each_possible(
        "confusion",
        (selection, compared, ties),
        counts,
        lambda one: _compared(one, compared, ties),
        unless=TooFewLabels,
    )
    tables = {judge: table for judge, (_, table) in found.items()}
    if not tables:
        raise NoUsableVotes(f"No judge has labels enough. {next(iter(reasons.values()))}")
    right = {judge: _accuracy(table) for judge, table in tables.items()}
    people = widgets.current_people()
    worst = sorted(many.sorted_by(right, "worst first"), key=lambda name: name in people)
    judge = widgets.judge(worst, start=worst[0], place=row)
    order = many.in_order(right, key="errors", start="worst first", chosen=(judge,))
    return PageState(
        compared=compared,
        ties=ties,
        judge=judge,
        accuracy=evidence.results(selection, current_options(), judge, ["accuracy"])[0],
        counts=counts,
        labels={judge: labels for judge, (labels, _) in found.items()},
        tables=order.all(tables),
        reasons=reasons,
        order=order,
        worst=worst[0],
    )


def _compared(found: VoteCounts, compared: str, ties: TieRule) -> tuple[IntArray | None, Confusion]:
    """What is compared with gold, and its table."""
    labels: IntArray | None = None
    if compared != "votes":
        majority = compared == "majority"
        labels = found.label if majority else held_out_labels(found, rng=widgets.seeded())
    return labels, confusion(found, labels=labels, ties=ties)


def _accuracy(table: Confusion) -> float:
    return table.accuracy.value if table.accuracy else 0.0


def matrix_section(state: PageState) -> Mark | None:
    """The matrix of one judge; the votes behind the chosen cell."""
    alt = "Gold against verdict, 3 by 3"
    chosen = widgets.confusion_figure(state.table, partial(_behind, state), "cell", alt=alt)
    widgets.how_to_read(
        "Rows are what gold says, columns what was said; each row adds up to 100 %. The diagonal "
        "is right. Each cell gives the count, its share of the row and a 95 % interval that allows "
        "for votes of one item being alike. Ties: *keep* treats a tie as a class of its own; "
        "*drop_votes* leaves tied verdicts out; *drop_gold* leaves out comparisons on which gold "
        "ties; *drop_both* both. BTD labels are made by fits on the other nine tenths of the "
        "items, so that they do not flatter.\n\n**Verdict.** The share and the error are those of "
        "this table; the grade is that of the judge's votes, whatever is compared. *Accuracy* "
        "gives half credit on decided gold (right 1, tie ½, opposite 0): fine if its whole 95 % "
        "interval is at least 70 %, a warning if all of it is below, a failure if all of it is "
        "below 60 %, else unclear. With gold made of people's votes, the rate at which a left-out "
        "person says what the others say lowers both limits if it is below 70 %."
    )
    return chosen


def _behind(state: PageState, gold: int, label: int) -> Mark:
    """Votes behind a cell: those votes, or all votes of the comparisons with that label."""
    labels, found = state.labels[state.judge], state.counts[state.judge]
    if labels is None:
        return Mark(judge=state.judge, gold=gold, vote=label)
    return cards.mark_of(found.comparison[(found.gold == gold) & (labels == label)], state.judge)


def accuracies_section(state: PageState) -> Mark | None:
    """Accuracy of every judge beside the best constant answer; the wrong votes of the
    chosen one.
    """
    fig = accuracies(
        state.order.few(state.tables),
        styles=state.styles,
        theme=state.look,
        chosen=st.session_state.get("wrong"),
    )
    marks = {judge: Mark(judge=judge, correct=False) for judge in state.tables}
    alt = "Share right of each judge"
    return widgets.figure(fig, "wrong", alt=alt, marks=marks, prompt="Wrong votes of")
