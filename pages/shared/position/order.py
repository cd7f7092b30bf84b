"""Which slot gains, and how often the verdict changes with the order: every judge."""

from __future__ import annotations

import streamlit as st

from core import tables
from core.plots.position import flip_key, flips, lean_key, leaning, leans
from core.store.queries import Mark
from core.words import sentences
from pages.shared import widgets
from pages.shared.position.asked import Asked


def order_section(asked: Asked) -> None:
    """Leans and flips of all judges side by side, and their table."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Which slot gains", anchor=False)
        lean = _leans(asked)
    with right:
        st.subheader("How often the verdict changes", anchor=False)
        flip = _flips(asked)
    if lean:
        widgets.votes_table(lean, name="lean")
    if flip:
        widgets.votes_table(flip, name="flip")
    if warning := sentences.unbalanced(asked.results):
        st.text(warning)
    widgets.table(
        tables.positions(asked.results),
        "position",
        alt="Position figures of each judge",
        columns=tables.POSITIONS_SHOWN,
    )
    st.caption("The downloads have every interval.")


def _leans(asked: Asked) -> Mark | None:
    slots = {name: leaning(one) for name, one in asked.results.items()}
    marks = {lean_key(name, slot): Mark(judge=name, slot=slot) for name, slot in slots.items()}
    fig = leans(asked.results, styles=asked.styles, theme=asked.look, chosen=st.session_state.get("lean"))
    chosen = widgets.figure(fig, "lean", alt="Lean to a slot by judge", marks=list(marks))
    widgets.how_to_read(
        "Right of the line a judge favours the response shown first, left of it the one shown second. "
        "*Within pairs* counts only runs of a comparison judged in both orders, so a judge that picks the "
        "better response each time stands on the line. *All decided votes* (raw) is (first − second) / "
        "(first + second); where orders are unbalanced it also shows where the better response sat. In the "
        "table, *bias decided* leaves ties out of the votes it divides by, *bias all* keeps them in."
    )
    return marks[chosen] if chosen else None


def _flips(asked: Asked) -> Mark | None:
    results = asked.results
    marks = {flip_key(name, "flip"): Mark(judge=name, flip="flip") for name in results if results[name].flips}
    marks |= {
        flip_key(name, "hard"): Mark(judge=name, flip="hard") for name in results if results[name].hard_flips
    }
    fig = flips(results, styles=asked.styles, theme=asked.look, chosen=st.session_state.get("flip"))
    alt = "Share of verdicts that change with the order"
    chosen = widgets.figure(fig, "flip", alt=alt, marks=list(marks))
    widgets.how_to_read(
        "Share of pairs (one run of a comparison, in both orders) whose verdicts differ; hollow marks count "
        "only those that go from one response to the other. The small bar is how often repeats in the *same* "
        "order differ: the judge's own noise. What lies beyond it is what order adds (*excess*)."
    )
    return marks[chosen] if chosen else None
