"""Does anything else but quality decide?"""

from pages.sections.leaderboard.controls import read_controls as read_board
from pages.sections.leaderboard.debiased import debiased_tab
from pages.sections.leaning.sections import length_section, read_controls, robustness_section
from pages.shared import parts, widgets

widgets.title("leaning", "Does anything else but quality decide?")
parts.body(
    lambda: widgets.tabs(
        {
            "Length": lambda: length_section(read_controls()),
            "Harmless edits": lambda: robustness_section(read_controls()),
            "Own family": lambda: debiased_tab(read_board()),
        }
    )
)
