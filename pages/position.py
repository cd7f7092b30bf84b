"""Does order decide?"""

import streamlit as st

from pages.sections.position.controls import ask
from pages.sections.position.corrected import corrected_tab
from pages.sections.position.order import balance_section, change_section, length_section, order_section
from pages.shared import widgets

widgets.title("Position bias", "Does order decide?")
said = st.container()
asked = ask()
measured, corrected = st.tabs(["What order does", "Correcting for order"], key="order", bind=widgets.URL)
if measured.open:
    with said:
        kind = "finding" if asked.verdict.verdict == "ok" else "warning"
        widgets.answer(f"{asked.judge}: {asked.verdict.sentence}", kind)
    with measured:
        order_section(asked)
        change_section(asked)
        balance_section(asked)
        length_section(asked)
        widgets.copy_as_python(
            f"""bias = position_bias(queries.positions(store, selection)[{asked.judge!r}])
print(bias.flip_rate, bias.flip_rate_low, bias.flip_rate_high, bias.pairs)
print(bias.bias_decided, bias.bias_all, bias.p_value)"""
        )
if corrected.open:
    with corrected:
        corrected_tab(asked, said)
