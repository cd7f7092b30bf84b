"""What each part of the consensus gives alone, and which faults the judge flags in who wins."""

from __future__ import annotations

import streamlit as st

from core.finding import tables
from core.questions.juries.figure import parts_figure
from core.questions.lists import words as sentences
from core.questions.lists.parts import flagged_winners, parts_alone
from pages.sections.listwise.controls import NO_BEST, PageState
from pages.sections.listwise.judgements import first_places_on
from pages.shared import cached, numbers, widgets


def parts_tab(state: PageState, *, labelled: bool) -> None:
    """The ablation of the consensus, and the flags of its winners.  labelled : some best is
    known.
    """
    if labelled:
        _alone(state)
    else:
        widgets.not_applicable(NO_BEST)
    st.subheader("Which faults does it flag in what it puts first?", anchor=False)
    flagged = cached.computed(
        "flagged winners",
        (state.selection, state.judge, state.weights, state.tolerance),
        lambda: flagged_winners(state.shown, weights=state.weights, tolerance=state.tolerance),
    )
    if not flagged:
        widgets.not_applicable(
            "this judge gave no flags with its rankings (columns major_error and unsupported)."
        )
        return
    widgets.answer(sentences.flags_answer(state.judge, flagged), part="-flags")
    numbers.table(
        tables.frame(sentences.FLAGGED, flagged), "flagged-winners", alt="Flags of who wins"
    )


def _alone(state: PageState) -> None:
    found = cached.computed(
        "parts alone",
        (state.selection, state.judge, state.weights, state.tolerance),
        lambda: parts_alone(state.shown, weights=state.weights, tolerance=state.tolerance),
    )
    widgets.answer(sentences.parts_answer(state.judge, found), part="-parts")
    drawn, measured = st.columns([3, 2], gap="medium")
    differing = {sentences.PART_NAMES[part.part]: part.differs for part in found}
    with drawn:
        chosen = widgets.figure(
            parts_figure(
                found,
                styles=state.styles[state.judge],
                theme=state.look,
                chosen=widgets.in_url("part"),
            ),
            "part",
            alt="Share of items right by each part of the consensus alone",
            marks={name: name for name, items in differing.items() if len(items)},
            prompt="Items on which all parts and this one alone are not equally right",
        )
        widgets.how_to_read(
            "*All parts* pools every order by the weights above. Each other row gives one part "
            "all of the weight: the mean score, the mean rank (Borda), the share of first places, "
            "or the share of runs that saw the candidate say itself that it is not sure. Parts "
            "that some judgement lacks have no row. Lines are 95 % intervals over items; the "
            "dotted one is the value of all parts. The difference to all parts is paired by item, "
            "so it is known better than the two rows are. An item counts 1 if its only winner is "
            "the best, 1/k if k candidates share the first place and the best is among them: a "
            "part with many ties has more winners per item."
        )
    with measured:
        numbers.table(
            tables.frame(sentences.PARTS, found), "listwise-parts", alt="Each part alone, and all"
        )
    if chosen is not None:
        said = "on which all parts and this one alone are not equally right"
        first_places_on(state, differing[chosen], said, name="part-items")
