"""Which is better, and has it changed?"""

from pages.sections.agreement.pair import pair_section
from pages.sections.errors.over_time import over_time_section
from pages.sections.errors.tables import read_controls
from pages.sections.planning.comparison import compared_tab
from pages.sections.planning.sweeps import read_controls as read_planning
from pages.sections.versions.compared import scorers, scorers_section, versions_here, versions_tab
from pages.shared import cached, parts, widgets

widgets.title("compare", "Which is better, and has it changed?")


def sections() -> None:
    """One tab per question that the data set has something for."""
    of_answers = len(scorers()) > 1
    of_pairs = bool(cached.summary(widgets.current_selection()).judges)
    widgets.tabs(
        ({"Versions": versions_tab} if versions_here() else {})
        | ({"Two judges": pair_section} if of_pairs or not of_answers else {})
        | ({"Judges of single answers": scorers_section} if of_answers else {})
        | {
            "Settings": lambda: compared_tab(read_planning()),
            "Over time": lambda: over_time_section(read_controls()),
        }
    )


parts.body(sections)
