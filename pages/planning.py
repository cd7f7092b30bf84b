"""How many votes and labels do I need?"""

from functools import partial

from pages.sections.planning.budget import budget_tab
from pages.sections.planning.sweeps import labels_tab, read_controls, votes_tab
from pages.shared import parts, widgets

widgets.title("planning", "How many votes and labels do I need?")


def page() -> None:
    state = read_controls()
    widgets.tabs(
        {
            "How many votes": partial(votes_tab, state),
            "How many labels": partial(labels_tab, state),
            "Vote budget": partial(budget_tab, state),
        }
    )


parts.body(page)
