"""Does order decide?"""

import streamlit as st

from pages.sections.position.corrected import corrected_tab
from pages.sections.position.order import (
    balance_section,
    change_section,
    length_section,
    order_section,
    read_controls,
)
from pages.shared import widgets

widgets.title("Position bias", "Does order decide?")
answer = st.container()
state = read_controls()
measured, corrected = st.tabs(["What order does", "Correcting for order"], key="order", bind=widgets.URL)
if measured.open:
    with answer:
        widgets.verdict(state.verdict)
    with measured:
        order_section(state)
        change_section(state)
        balance_section(state)
        length_section(state)
        widgets.copy_as_python(
            f"""bias = position_bias(queries.positions(store, selection)[{state.judge!r}])
print(bias.flip_rate, bias.pairs)
print(bias.bias_decided, bias.bias_all, bias.p_value)"""
        )
if corrected.open:
    with corrected:
        corrected_tab(state, answer)
