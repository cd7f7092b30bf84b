"""Which votes are near certain, and right?"""

from core.errors import NoUsableVotes
from pages.sections.calibration.controls import read_controls
from pages.sections.calibration.threshold import near_certain_tab, without_confidence
from pages.shared import parts, widgets

widgets.title("th_score", "Which votes are near certain, and right?")


def page() -> None:
    try:
        state = read_controls()
    except NoUsableVotes as error:
        without_confidence(str(error))
        return
    near_certain_tab(state)


parts.body(page)
