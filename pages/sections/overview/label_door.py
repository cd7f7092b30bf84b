"""The way from a judge that nobody can say anything of to labels, and what they would bring."""

from __future__ import annotations

import streamlit as st

from core.labelling.words import FEW, what_labels_bring
from core.store.labelling import words_per_unit
from pages.shared import cached, people, widgets


def label_door(judge: str) -> None:
    """Where the verdict waits for labels: how many, how long, and a button that begins."""
    dataset = widgets.current_dataset()
    if people.visitor() != "editor" or dataset in cached.connected():
        return
    items = cached.summary(widgets.current_selection()).items
    words = cached.computed(
        "words to read", (dataset,), lambda: words_per_unit(cached.get_store(), dataset)
    )
    st.text(f"Without labels: {judge} can only be compared with itself and with other judges.")
    st.text(what_labels_bring(items, words))
    widgets.goto(f"Label {min(FEW, items)} now", "label.py", key="label-now")
