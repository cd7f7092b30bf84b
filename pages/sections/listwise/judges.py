"""Every judge's order sensitivity and accuracy."""

from __future__ import annotations

import streamlit as st

from core.consensus.listwise import Improvements
from core.consensus.listwise_orders import OrderSensitivity
from core.interpretation import listwise as sentences
from core.interpretation import tables
from core.plots.consensus import sensitivities_figure
from pages.sections.listwise.controls import PageState
from pages.shared import cached, theme, widgets


def judges_tab(
    state: PageState, found: dict[str, Improvements], sensitive: dict[str, OrderSensitivity]
) -> None:
    """Every judge's order sensitivity and accuracy."""
    look = theme.current()
    if sensitive:
        st.text(sentences.judges(sensitive))
        styles = cached.styles(widgets.current_dataset(), look)
        fig = sensitivities_figure(sensitive, styles=styles, theme=look)
        widgets.figure(fig, "order-decides", alt="Share of items whose first place depends on the order")
        widgets.how_to_read(
            "A mark is the share of items on which a judge put different candidates first in different "
            "orders; bars are 95 % intervals over items. 0 is a judge that does not care for order. A judge "
            "that saw an item in more orders had more chances to change, so compare judges of equally many. "
            "*Improved* and *regressed* in the table count the items that the consensus of all orders sets "
            "right or wrong, against the first order alone; p is an exact sign test on them."
        )
    else:
        widgets.not_applicable("no item was judged in two orders.")
    columns = sentences.judge_columns(found, sensitive)
    widgets.table(tables.frame(columns, state.rankings), "listwise-judges", alt="All judges")
