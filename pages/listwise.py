"""Does the order of candidates decide?"""

import streamlit as st

from core.interpretation import listwise as sentences
from pages.sections.listwise.consensus import consensus_tab
from pages.sections.listwise.controls import improvements, read_controls, sensitivities
from pages.sections.listwise.judges import judges_tab
from pages.sections.listwise.orders import orders_tab, slots_tab
from pages.shared import widgets

widgets.title("Listwise", "Does the order of candidates decide?")
head = st.container()
state = read_controls()
found, sensitive = improvements(state), sensitivities(state)
with head:
    widgets.answer(*sentences.answer(state.judge, found.get(state.judge), sensitive.get(state.judge)))

names = ["Consensus", "How many orders", "Slots", "Judges"]
pooled, orders, slots, judges = st.tabs(names, key="listwise-tab", bind=widgets.URL)
with pooled:
    if pooled.open:
        consensus_tab(state, found)
with orders:
    if orders.open:
        orders_tab(state)
with slots:
    if slots.open:
        slots_tab(state, sensitive.get(state.judge))
with judges:
    if judges.open:
        judges_tab(state, found, sensitive)

pooling = f"weights={state.weights!r}, tolerance={state.tolerance}"
widgets.copy_as_python(
    f"""rankings = queries.list_rankings(store, selection)[{state.judge!r}]
print(consensus_ranking(rankings, {pooling}).to_frame())
print(order_sensitivity(rankings).to_frame())
if (rankings.best == 1).any():
    print(listwise_improvement(rankings, {pooling}).to_frame())
    print(order_sweep(rankings, rng=default_rng(0), {pooling}).to_frame())"""
)
