"""How columns of the page's tables are read: digits, units, and what a short title means."""

from __future__ import annotations

from typing import Any

import streamlit as st


def number(title: str, form: str, about: str | None = None) -> Any:
    """A column of numbers, in the digits that its interval earns."""
    return st.column_config.NumberColumn(title, format=form, help=about)
