"""What an empty store shows: three steps, the demo again, and small files with planted faults to
try.
"""

from __future__ import annotations

import streamlit as st

from pages.shared import cached, people, widgets

FILLS = ("start", "collect")
"""Addresses of the pages that put votes in, and work without any."""
STEPS = (
    (
        ":material/upload_file: **1. Put votes in**",
        "A table with a row per verdict (who judged which prompt, and what was said), or votes "
        "collected from a model here.",
    ),
    (
        ":material/fact_check: **2. Check how they are read**",
        "Columns and labels are suggested and read back to you in words. Nothing is loaded before "
        "you agree.",
    ),
    (
        ":material/gavel: **3. Read the verdict**",
        "Whether each judge can be trusted, what is wrong with it, and the comparisons that show "
        "it.",
    ),
)


def first_steps() -> None:
    """The page in place of any other while the store is empty."""
    with st.container(gap="xxsmall"):
        st.title("Can I trust this judge?", anchor=False)
        st.caption("There are no votes in this store yet.")
    for place, (head, text) in zip(st.columns(3), STEPS, strict=True):
        with place, st.container(border=True, height="stretch"):
            st.markdown(head)
            st.text(text)
    if people.visitor() != "editor":
        st.text("You may read here; somebody who may change what is stored has to put votes in.")
        return
    with st.container(horizontal=True):
        widgets.goto("Load a file", "start.py", key="start-data")
        widgets.goto("Collect votes", "collect.py", key="start-collect")
    st.subheader("No votes at hand?", anchor=False)
    examples()


def examples() -> None:
    """The demo to load, and example files to keep and drop on the page *Start*."""
    with st.container(horizontal=True):
        st.button("Load the demo again", key="load-demo", type="primary", on_click=_load_demo)
        for place, (name, path) in enumerate(cached.EXAMPLES.items()):
            data = path.read_bytes()
            st.download_button(
                name, data, path.name, "text/csv", key=f"example-{place}", on_click="ignore"
            )
    st.caption(
        "All of them are simulated: these judges and models do not exist. The two files have one "
        "honest judge and one with a fault; drop one on the page Start and see whether the verdict "
        "finds it."
    )


def _load_demo() -> None:
    people.only_editors()
    with st.spinner("Loading the demo"):
        cached.load_demo(cached.get_store())
