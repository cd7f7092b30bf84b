"""Does order decide?"""

import streamlit as st

from pages.shared import widgets
from pages.shared.position.asked import ask
from pages.shared.position.balance import balance_section
from pages.shared.position.change import change_section
from pages.shared.position.corrected import corrected_tab
from pages.shared.position.length import length_section
from pages.shared.position.order import order_section

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
            f"""from core.bias.position import position_bias

bias = position_bias(queries.positions(store, selection)[{asked.judge!r}])
print(bias.flip_rate, bias.flip_rate_low, bias.flip_rate_high, bias.pairs)
print(bias.bias_decided, bias.bias_all, bias.p_value)"""
        )
if corrected.open:
    with corrected:
        corrected_tab(asked, said)
