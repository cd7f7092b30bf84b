"""Does the longer response win, more often than it should?"""

from __future__ import annotations

import streamlit as st

from core import tables
from core.bias.verbosity import verbosity
from core.words import sentences
from pages.shared import cached, widgets
from pages.shared.position.asked import Asked


def length_section(asked: Asked) -> None:
    """One judge in words, all in the table."""
    st.subheader("Does the longer response win?", anchor=False)
    measured = cached.computed(
        "verbosity",
        (asked.selection,),
        lambda: {name: verbosity(one) for name, one in cached.length_counts(asked.selection).items()},
    )
    known = {name: one for name, one in measured.items() if one}
    if not known:
        widgets.not_applicable("no vote has the lengths or the texts of both responses.")
        return
    st.text(sentences.verbosity(asked.judge, known.get(asked.judge)))
    widgets.table(tables.lengths(known), "verbosity", alt="Preference for the longer response")
    widgets.how_to_read(
        "Prefers longer: share of decided votes that went to the longer response. Longer responses are often "
        "better, so it is held against how often gold prefers the longer one on the same comparisons; the "
        "difference is what length alone may have bought."
    )
