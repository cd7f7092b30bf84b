"""Does the order of candidates decide?"""

import streamlit as st

from core.questions.lists import words as sentences
from pages.sections.listwise.ablation import parts_tab
from pages.sections.listwise.controls import improvements, read_controls, sensitivities
from pages.sections.listwise.orders import consensus_tab, judges_tab, orders_tab, slots_tab
from pages.shared import widgets

widgets.title("listwise", "Does the order of candidates decide?")
head = st.container()
state = read_controls()
found, sensitive = improvements(state), sensitivities(state)
with head:
    of = state.judge, found.get(state.judge), sensitive.get(state.judge)
    widgets.answer(sentences.candidates_answer(*of))
    widgets.in_full(sentences.order_sentence(*of))

widgets.tabs(
    {
        "Consensus": lambda: consensus_tab(state, found),
        "How many orders": lambda: orders_tab(state),
        "Parts": lambda: parts_tab(state, labelled=state.judge in found),
        "Slots": lambda: slots_tab(state, sensitive.get(state.judge)),
        "Judges": lambda: judges_tab(state, found, sensitive),
    }
)
pooling = f"weights={state.weights!r}, tolerance={state.tolerance}"
widgets.copy_as_python(
    f"""rankings = queries.list_rankings(store, selection)[{state.judge!r}]
print(consensus_ranking(rankings, {pooling}).to_frame())
print(order_sensitivity(rankings).to_frame())
if (rankings.best == 1).any():
    print(listwise_improvement(rankings, {pooling}).to_frame())
    print(order_sweep(rankings, rng=default_rng(0), {pooling}).to_frame())"""
)
