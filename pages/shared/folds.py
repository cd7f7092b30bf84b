"""What is folded is drawn when it is opened.

A table and a listing of code each make the browser load a megabyte and more; a page whose tables
and listings are closed shows its picture without them.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

OPEN_AT_FIRST = False
"""Tests of what pages hold set it: they read every table of a page at once."""
WHOLE = "the whole page is to be drawn"


@st.fragment
def folded(label: str, draw: Callable[[], object], *, key: str) -> None:
    """A box that is closed at first; opening it draws what is in it, and nothing else of the page.

    label : Markdown, so never with names from votes.
    """
    whole_page_if_asked()
    box = st.expander(label, OPEN_AT_FIRST, key=f"fold-{key}", on_change="rerun")
    if box.open:
        with box:
            draw()


def whole_page_is_asked() -> bool:
    """Whether a click inside a fragment asked for the whole page; said once."""
    return bool(st.session_state.pop(WHOLE, False))


def whole_page_if_asked() -> None:
    """Draw the whole page instead of a fragment alone, where a click in it asked for that."""
    if whole_page_is_asked():
        st.rerun()


def draw_whole_page() -> None:
    """Have the whole page drawn after a click inside a fragment that begins with
    `whole_page_if_asked`; for callbacks, which cannot do so themselves.
    """
    st.session_state[WHOLE] = True
