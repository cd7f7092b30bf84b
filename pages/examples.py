"""Where is it wrong, and who is right?"""

from pages.sections.errors.tables import matrix_section, read_controls
from pages.shared import cards, parts, widgets

widgets.title("examples", "Where is it wrong, and who is right?")


def page() -> None:
    state = read_controls()
    cards.error_cards(state.judge)
    cards.votes_behind(matrix_section(state), name="cell")


parts.body(page)
