"""Does order decide?"""

import streamlit as st

from pages.sections.position_bias import order
from pages.sections.position_bias.corrected import corrected_tab
from pages.shared import parts, widgets

widgets.title("position_bias", "Does order decide?")


def page() -> None:
    answer = st.container()
    state = order.read_controls()
    measured, corrected = widgets.tab_bar(["What order does", "Correcting for order"])
    with answer:
        widgets.answer(state.said)
        widgets.beside_judge(state.judge, state.worst)
        widgets.in_full(f"{state.judge}: {state.result.sentence}")
    if measured.open:
        with measured:
            order.order_section(state)
            order.change_section(state)
            order.balance_section(state)
            widgets.copy_as_python(
                f"""bias = position_bias(queries.positions(store, selection)[{state.judge!r}])
print(bias.flip_rate, bias.pairs)
print(bias.bias_decided, bias.bias_all, bias.p_value)"""
            )
    if corrected.open:
        with corrected:
            corrected_tab(state, answer)


parts.body(page)
