"""Which is better, and has it changed?"""

from pages.sections.agreement.pair import pair_section
from pages.sections.errors.over_time import over_time_section
from pages.sections.errors.tables import read_controls
from pages.sections.planning.comparison import compared_tab
from pages.sections.planning.sweeps import read_controls as read_planning
from pages.sections.versions.compared import versions_here, versions_tab
from pages.shared import parts, widgets

widgets.title("compare", "Which is better, and has it changed?")
parts.body(
    lambda: widgets.tabs(
        ({"Versions": versions_tab} if versions_here() else {})
        | {
            "Two judges": pair_section,
            "Settings": lambda: compared_tab(read_planning()),
            "Over time": lambda: over_time_section(read_controls()),
        }
    )
)
