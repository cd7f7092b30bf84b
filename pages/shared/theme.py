"""The look of what Streamlit's own theme settings do not reach."""

from __future__ import annotations

import streamlit as st

from core.plots.base import Theme

STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding-left: 3rem; padding-right: 3rem; max-width: 88rem; }
[data-testid="stMainBlockContainer"] h1 { padding: 0 0 0.4rem 0; }
[class*="st-key-answer-"] { border-left: 3px solid var(--appellate-rule, #7d8791); padding-left: 0.8rem; }
[class*="st-key-answer-"] [data-testid="stText"] { font-size: 1.15rem; line-height: 1.4; font-weight: 500; }
[class*="st-key-answer-finding"] { --appellate-rule: #2f8fc4; }
[class*="st-key-answer-warning"] { --appellate-rule: #d5762c; }
[data-testid="stText"] { overflow-wrap: anywhere; }
[data-testid="stBaseButton-tertiary"] { color: var(--st-primary-color, #2f8fc4); }
@media (max-width: 640px) {
  [data-testid="stTabs"] [role="tablist"] { flex-wrap: wrap; }
  [class*="st-key-answer-"] [data-testid="stText"] { font-size: 1rem; }
  [data-testid="stMainBlockContainer"] { padding-left: 1rem; padding-right: 1rem; }
}
</style>"""


def current() -> Theme:
    """Theme of the visitor's page, for the colours of charts."""
    return "dark" if st.context.theme.type == "dark" else "light"
