"""What is drawn of a page: its body alone after a control in it, and the whole of it where that
will not do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType

from pages.shared import cached, first_picture, folds, numbers, widgets

TRIES, MOST_TRIES = "runs that a change of the store broke", 5


@contextmanager
def anew_if_changed() -> Iterator[None]:
    """Draw the page anew where somebody changed the store between two looks at it, and that broke
    what is drawn.
    """
    version = cached.version()
    try:
        yield
    except Exception:
        tries = st.session_state.get(TRIES, 0)
        if cached.version() == version or tries == MOST_TRIES:
            raise
        st.session_state[TRIES] = tries + 1
        st.rerun()
    st.session_state.pop(TRIES, None)


def body(draw: Callable[[], object]) -> None:
    """Draw what stands below the title of a page: a control in it draws it anew, and not the frame
    of the page, which a browser would go through element by element before the first new figure.
    """
    _body(draw, cached.version())


@st.fragment
def _body(draw: Callable[[], object], version: str) -> None:
    """version : of what the frame shows."""
    with widgets.errors():
        if folds.whole_page_is_asked() or cached.version() != version:
            st.rerun()
        numbers.offer_anew()
        first_picture.begins()
        with anew_if_changed(), widgets.errors():
            draw()
    if numbers.menu_is_missing():
        st.rerun()


def rests(seconds: float) -> bool:
    """Whether the visitor asks for nothing else during seconds; slow work waits for that, and is
    left out otherwise. The part is drawn to its end all the same: what it had not drawn again
    would be taken off the page, and what was opened there would be closed.

    Streamlit ends the run of a whole page by itself, but not that of a part of it.
    """
    context = get_script_run_ctx()
    for _ in range(10):
        time.sleep(seconds / 10)
        # The run of a whole page ends here.
        st.session_state.get(folds.WHOLE)
        if context is not None and asked_anew(context.script_requests):
            return False
    return True


def asked_anew(requests: ScriptRequests | None) -> bool:
    """Whether another run waits; there is no public call for that."""
    return requests is not None and requests._state is ScriptRequestType.RERUN
