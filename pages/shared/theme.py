"""The look of what Streamlit's own theme settings do not reach."""

from __future__ import annotations

import streamlit as st

from core.figures import Theme

STYLE = """<style>
.st-key-answer [data-testid="stText"] { font-size: 1.2rem; line-height: 1.4; font-weight: 500; }
.st-key-answer { border-left: 3px solid var(--st-primary-color, #0b5f8a); padding-left: 0.75rem; }
.st-key-answer.st-key-answer [data-testid="stText"] { overflow-wrap: anywhere; }
</style>"""


def current() -> Theme:
    """Theme of the visitor's page, for the colours of charts."""
    return "dark" if st.context.theme.type == "dark" else "light"
