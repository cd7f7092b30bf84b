"""Can I trust this judge? The verdict and its evidence first; then checks, errors to read, and
numbers.
"""

import streamlit as st

from pages.sections.overview import first_screen, numbers
from pages.sections.overview.rankings import rankings_section
from pages.sections.overview.scores import scores_section
from pages.shared import cards, parts, widgets
from pages.shared.limits import limits_section

found = first_screen.bar()


def page() -> None:
    state = first_screen.screen(found)
    if not found.judges:
        if found.scores:
            scores_section(state)
        if found.rankings:
            rankings_section(state)
        return
    judge = first_screen.decision_card(state)
    first_screen.new_against_old(state, judge)
    rows = first_screen.evidence(state, judge)
    first_screen.matrix(state, judge, rows)
    if found.scores:
        st.subheader("Judges of single answers")
        scores_section(state)
    numbers.every_check(state, judge)
    numbers.categories(state, judge)
    cards.error_cards(judge)
    numbers.table(state)
    limits_section()
    numbers.reading()
    given = ", ".join(widgets.arguments(state.options))
    widgets.copy_as_python(
        f"""found = audit(store, selection, AuditOptions({given}))
for judge, overall in found.overall.items():
    print(judge, overall.verdict, overall.because)
for result in found.checks:
    print(result.judge, result.check, result.grade, result.sentence)"""
    )


parts.body(page)
