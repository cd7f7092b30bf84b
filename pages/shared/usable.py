"""The one place that says, instead of any page, why the store cannot be used and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.errors import AppellateError


@contextmanager
def or_said(title: str) -> Iterator[None]:
    """Draw what needs the store; where it cannot be opened or read, say why under the title of
    the page.
    """
    try:
        yield
    except AppellateError as error:
        st.title(title)
        say(error)


def say(error: Exception) -> bool:
    """Show an error that its message tells how to put right, and a way to try again; whether it is
    one. For `st.App` too, which asks of what goes wrong in answer to a click.
    """
    if not isinstance(error, AppellateError):
        return False
    with st.container(border=True, key="unusable"):
        st.text(str(error))
        st.button("Try again", key="try-again")
    return True
