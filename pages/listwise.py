"""Does the order of candidates decide?"""

import streamlit as st

from core.interpretation import listwise as list_sentences
from pages.sections.listwise.controls import ask, improvements, sensitivities
from pages.sections.listwise.tabs import consensus_tab, judges_tab, orders_tab, slots_tab
from pages.shared import widgets

widgets.title("Listwise", "Does the order of candidates decide?")
said = st.container()
asked = ask()
found, sensitive = improvements(asked), sensitivities(asked)
with said:
    widgets.answer(*list_sentences.answer(asked.judge, found.get(asked.judge), sensitive.get(asked.judge)))

names = ["Consensus", "How many orders", "Slots", "Judges"]
pooled, orders, slots, judges = st.tabs(names, key="listwise-tab", bind=widgets.URL)
with pooled:
    if pooled.open:
        consensus_tab(asked, found)
with orders:
    if orders.open:
        orders_tab(asked)
with slots:
    if slots.open:
        slots_tab(asked, sensitive.get(asked.judge))
with judges:
    if judges.open:
        judges_tab(asked, found, sensitive)

pooling = f"weights={asked.weights!r}, tolerance={asked.tolerance}"
widgets.copy_as_python(
    f"""rankings = queries.list_rankings(store, selection)[{asked.judge!r}]
print(consensus_ranking(rankings, {pooling}).to_frame())
print(order_sensitivity(rankings).slots.to_frame())
if (rankings.best == 1).any():
    print(listwise_improvement(rankings, {pooling}).to_frame())
    print(order_sweep(rankings, rng=default_rng(0), {pooling}).to_frame())"""
)
