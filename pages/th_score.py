"""Which votes are near certain, and right?"""

from functools import partial

from pages.sections.calibration.threshold import near_certain_tab, with_confidence
from pages.shared import parts, widgets

widgets.title("th_score", "Which votes are near certain, and right?")
parts.body(partial(with_confidence, near_certain_tab))
