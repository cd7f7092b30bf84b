"""Get the votes: which model judges what, how, and at what price?"""

from core.extras import COLLECT, require
from pages.shared import people, widgets

people.only_editors()
widgets.title("Collect", "Which model shall judge what, and what will it take?")
with widgets.errors():
    require(*COLLECT, purpose="Collecting votes")
    # They import what the extra brings.
    from pages.sections.collect.controls import read_controls
    from pages.sections.collect.job_files import opened
    from pages.sections.collect.jobs import all_runs, copy, prompt, start

    all_runs()
    opened()
    state = read_controls()
    if state is not None:
        start(state)
        prompt(state)
        copy(state)
