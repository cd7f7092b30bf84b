"""What the order does to every judge, and where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import streamlit as st

from core.errors import NoUsableVotes
from core.finding.answer import Answer
from core.finding.check import GRADES, CheckResult, combined
from core.finding.tables import frame_of
from core.questions.order import figure as plots
from core.questions.order import words as sentences
from core.questions.order.balance import order_balance
from core.questions.order.method import PositionBias, flips_by, margin_group
from core.questions.order.results import POSITION
from core.records import PositionCounts
from core.store.vote_queries import Mark
from pages.shared import cached, cards, evidence, many, numbers, widgets
from pages.shared.limits import current_options


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The chosen judge, and the position bias of every judge with the counts behind it.

    worst : the judge that fares worst.
    """

    judge: str
    result: CheckResult
    said: Answer
    positions: dict[str, PositionCounts]
    results: dict[str, PositionBias]
    order: many.Shown
    worst: str

    @property
    def drawn(self) -> dict[str, PositionBias]:
        """Of the judges that figures show."""
        return self.order.few(self.results)


def read_controls() -> PageState:
    """Draw the control; refuse a selection without known positions."""
    selection = widgets.current_selection()
    positions = cached.positions(selection)
    if not positions:
        raise NoUsableVotes(
            "No vote here says which response was shown first, so position bias cannot be tested. "
            "Ask the judge about each comparison in both orders and load the votes with a column "
            "position: ab where A was shown first, ba where B was."
        )
    options = current_options()
    of_all = evidence.counted(selection, options)
    results = {name: bias for name in positions if (bias := of_all.of(name)[POSITION]) is not None}
    found = {
        name: evidence.results(selection, options, name, ["position", "stability"])
        for name in results
    }
    graded = {name: combined("position", of) for name, of in found.items()}
    flipped = {name: one.flip_rate.value if one.flip_rate else 0.0 for name, one in results.items()}
    worst = max(results, key=lambda name: (GRADES.index(graded[name].grade), flipped[name]))
    steady = {name: -rate for name, rate in flipped.items()}
    judge = widgets.judge(many.sorted_by(steady, "worst first"), start=worst)
    order = many.in_order(steady, key="flips", start="worst first", chosen=(judge,))
    return PageState(
        judge=judge,
        result=graded[judge],
        said=sentences.order_answer(
            {name: {one.check: one for one in of} for name, of in found.items()},
            judge,
            results[judge].hard_flip_rate,
        ),
        positions=positions,
        results=order.all(results),
        order=order,
        worst=worst,
    )


def order_section(state: PageState) -> None:
    """Bias and flips of all judges side by side, and their table."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Which slot gains", anchor=False)
        slot = _slot_biases(state)
    with right:
        st.subheader("How often the verdict changes", anchor=False)
        flip = _flips(state)
    cards.votes_behind(slot, name="lean")
    cards.votes_behind(flip, name="flip")
    if warning := sentences.unbalanced(state.results):
        st.text(warning)
    numbers.table(
        frame_of(sentences.POSITIONS, state.results),
        "position",
        alt="Position figures of each judge",
        columns=sentences.POSITIONS_SHOWN,
    )
    st.caption("The downloads have every interval.")


def _slot_biases(state: PageState) -> Mark | None:
    slots = {name: plots.favoured_slot(one) for name, one in state.results.items()}
    marks = {
        plots.slot_key(name, slot): Mark(judge=name, slot=slot) for name, slot in slots.items()
    }
    fig = plots.slot_biases(
        state.drawn, styles=state.styles, theme=state.look, chosen=st.session_state.get("lean")
    )
    chosen = widgets.figure(fig, "lean", alt="Position bias by judge", marks=marks)
    widgets.how_to_read(
        "Right of the line a judge favours the response shown first, left of it the one shown "
        "second. *Within pairs* counts only runs of a comparison judged in both orders, so a judge "
        "that picks the better response each time stands on the line. *All decided votes* (raw) is "
        "(first − second) / (first + second); where orders are unbalanced it also shows where the "
        "better response sat. In the table, *bias decided* leaves ties out of the votes it divides "
        "by, *bias all* keeps them in.\n\n**Verdict.** *Position* is the mean slot vote within "
        "pairs, items alike: fine if its whole 95 % interval is within ±10 points (caution), a "
        "warning if the interval leaves out 0, a failure if all of it is beyond ±20 points, else "
        "unclear. Limits can be changed below the verdict."
    )
    return chosen


def _flips(state: PageState) -> Mark | None:
    results = state.results
    marks = {
        plots.flip_key(name, "flip"): Mark(judge=name, flip="flip")
        for name in results
        if results[name].flips
    }
    marks |= {
        plots.flip_key(name, "hard"): Mark(judge=name, flip="hard")
        for name in results
        if results[name].hard_flips
    }
    fig = plots.flips(
        state.drawn, styles=state.styles, theme=state.look, chosen=st.session_state.get("flip")
    )
    alt = "Share of verdicts that change with the order"
    chosen = widgets.figure(fig, "flip", alt=alt, marks=marks)
    widgets.how_to_read(
        "Share of pairs (one run of a comparison, in both orders) whose verdicts differ; hollow "
        "marks count only those that go from one response to the other. The small bar is how often "
        "repeats in the *same* order differ: the judge's own noise. What lies beyond it is what "
        "order adds (*excess*).\n\n**Verdict.** *Stability* is the share of pairs that go from one "
        "response to the other: fine if its whole interval is at most 20 %, a warning if all of it "
        "is above. Without repeats in one order this may be noise, so it never fails. With "
        "repeats, what swapping changes beyond them is fine up to 5 points and fails if its whole "
        "interval is above 15. The page's verdict is the worse of position and stability."
    )
    return chosen


def balance_section(state: PageState) -> None:
    """One judge in words and drawn, all in the table."""
    st.subheader("Does asking in both orders pay?", anchor=False)
    counts = cached.order_counts(state.selection)
    balances = cached.of_each("order balance", (state.selection,), counts, order_balance)
    balance = balances[state.judge]
    sentence = sentences.order_balance(state.judge, balance)
    if balance is None:
        widgets.not_applicable(sentence, door="balance-door")
        return
    st.text(sentence)
    drawn, listed = st.columns(2, gap="medium")
    with drawn:
        fig = plots.order_errors(balance, style=state.styles[state.judge], theme=state.look)
        widgets.figure(fig, "orders", alt="Error by order")
        widgets.how_to_read(
            "Mean absolute error of the majority label against gold, with the number of votes a "
            "label is made from in brackets. Compare orders at the same number of votes; the gain "
            "in the sentence does, comparison by comparison. It is the exact mean over all ways to "
            "draw that many votes."
        )
    with listed:
        numbers.table(
            sentences.orders(state.order.all(balances)),
            "orders",
            alt="Error by order of each judge",
        )


CAPTIONS: dict[Literal["category", "margin"], str] = {
    "category": "By category",
    "margin": "By how decided the other judges are",
}
UNKNOWN = {"category": "", "margin": "no other judge"}
"""The group of comparisons that have no category, or no other judge."""
WHY_NOT = {
    "category": (
        "no comparison judged in both orders has a category. Load a column category with the votes."
    ),
    "margin": "no other judge voted on the comparisons judged in both orders, so how decided "
    "others are is unknown. Load or select votes of another judge.",
}


def change_section(state: PageState) -> None:
    """Flips of the chosen judge by group."""
    st.subheader("Where verdicts change", anchor=False)
    if not state.results[state.judge].pairs:
        widgets.not_applicable(f"{state.judge} judged no comparison in both orders.")
        return
    for place, by in zip(st.columns(2, gap="medium"), CAPTIONS, strict=True):
        with place:
            st.caption(CAPTIONS[by])
            _by_group(state, by)
    widgets.how_to_read(
        "Filled: share of pairs whose verdict changed with the order; hollow: from one response to "
        "the other. The margin is |mean vote of all other judges| on the comparison: 0 split, 1 "
        "unanimous. A judge that flips where others agree is not merely unsure."
    )


def _by_group(state: PageState, by: Literal["category", "margin"]) -> None:
    """One figure, and the votes behind the chosen group's flips."""
    counts, key = state.positions[state.judge], f"flips_by_{by}"
    table = flips_by(counts, by)
    with_pairs = {
        name for name, pairs in zip(table.groups, table.pairs.tolist(), strict=True) if pairs
    }
    if with_pairs <= {UNKNOWN[by]}:
        widgets.not_applicable(WHY_NOT[by])
        return
    names = [name or "(none)" for name in table.groups]
    flipped = {name: name for name, n in zip(names, table.flips.tolist(), strict=True) if n}
    fig = plots.flips_by_group(
        table, style=state.styles[state.judge], theme=state.look, chosen=st.session_state.get(key)
    )
    chosen = widgets.figure(fig, key, alt=f"Flips by {by}", marks=flipped)
    if chosen:
        code = counts.category if by == "category" else margin_group(counts)
        behind = counts.comparison[(code == names.index(chosen)) & (counts.flips > 0)]
        cards.votes_behind(replace(cards.mark_of(behind, state.judge), flip="flip"), name=key)
