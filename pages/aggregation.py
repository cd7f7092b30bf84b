"""How should I turn n votes into one label?"""

from pages.sections.aggregation.confidence import confidence_tab
from pages.sections.aggregation.controls import read_controls
from pages.sections.aggregation.likert import likert_tab
from pages.sections.aggregation.rules import rules_tab
from pages.sections.aggregation.shrinkage import shrinkage_tab
from pages.shared import widgets

widgets.title("Votes to labels", "How should I turn n votes into one label?")
widgets.tabs(
    {
        "Rules": lambda: rules_tab(read_controls()),
        "Confidence weights": lambda: confidence_tab(read_controls()),
        "Likert scales": likert_tab,
        "Shrinkage": lambda: shrinkage_tab(read_controls()),
    },
    key="aggregation",
)
