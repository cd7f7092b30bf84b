"""Does asking in both orders pay? Error of majority labels by the order of the votes."""

from __future__ import annotations

import streamlit as st

from core import tables
from core.bias.order_balance import order_balance
from core.plots.position import order_errors
from core.words import sentences
from pages.shared import cached, widgets
from pages.shared.position.asked import Asked


def balance_section(asked: Asked) -> None:
    """One judge in words and drawn, all in the table."""
    st.subheader("Does asking in both orders pay?", anchor=False)
    balances = cached.computed(
        "order balance",
        (asked.selection,),
        lambda: {name: order_balance(one) for name, one in cached.order_counts(asked.selection).items()},
    )
    balance = balances[asked.judge]
    said = sentences.order_balance(asked.judge, balance)
    if balance is None:
        widgets.not_applicable(said)
        return
    st.text(said)
    drawn, listed = st.columns(2, gap="medium")
    with drawn:
        fig = order_errors(balance, style=asked.styles[asked.judge], theme=asked.look)
        widgets.figure(fig, "orders", alt="Error by order")
        widgets.how_to_read(
            "Mean absolute error of the majority label against gold, with the number of votes a label is "
            "made from in brackets. Compare orders at the same number of votes; the gain in the sentence "
            "does, comparison by comparison. It is the exact mean over all ways to draw that many votes."
        )
    with listed:
        widgets.table(tables.orders(balances), "orders", alt="Error by order of each judge")
