"""How should I turn n votes into one label?"""

from pages.sections.planning.sweeps import read_controls as read_planning
from pages.sections.planning.transfer import parameters_tab, transfer_tab
from pages.sections.votes_to_labels.confidence import confidence_tab
from pages.sections.votes_to_labels.controls import read_controls
from pages.sections.votes_to_labels.forced import forced_tab
from pages.sections.votes_to_labels.grid import grid_tab
from pages.sections.votes_to_labels.likert import likert_tab
from pages.sections.votes_to_labels.rules import rules_tab
from pages.sections.votes_to_labels.shrinkage import shrinkage_tab
from pages.shared import parts, widgets

widgets.title("votes_to_labels", "How should I turn n votes into one label?")
parts.body(
    lambda: widgets.tabs(
        {
            "Rules": lambda: rules_tab(read_controls()),
            "Confidence weights": lambda: confidence_tab(read_controls()),
            "Likert scales": likert_tab,
            "Tasks and judges": lambda: grid_tab(read_controls()),
            "Forced choice": lambda: forced_tab(read_controls()),
            "Shrinkage": lambda: shrinkage_tab(read_controls()),
            "Transfer": lambda: transfer_tab(read_planning()),
            "Parameters": lambda: parameters_tab(read_planning()),
        }
    )
)
