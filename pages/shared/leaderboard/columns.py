"""How columns of the page's tables are read: digits, units, and what a short title means."""

from __future__ import annotations

from typing import Any

import streamlit as st

MODEL = st.column_config.TextColumn("model", width=130)
"""Long names are cut, so that numbers stay in view beside a figure; the figure and the download have them."""


def number(title: str, form: str, about: str | None = None) -> Any:
    """A column of numbers, in the digits that its interval earns."""
    return st.column_config.NumberColumn(title, format=form, help=about)
