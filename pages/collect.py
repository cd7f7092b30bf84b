"""Get the votes: which model judges what, how, and at what price?"""

import streamlit as st

from core.extras import COLLECT, require
from pages.shared import people, widgets

people.only_editors()
widgets.title("collect", "Which model shall judge what, and what will it take?")
with widgets.errors():
    require(*COLLECT, purpose="Collecting votes")
    # They import what the extra brings.
    from pages.sections.collect.controls import read_controls
    from pages.sections.collect.job_files import opened
    from pages.sections.collect.jobs import all_runs, copy, prompt, start

    going_on = all_runs()
    # Beside a live job there is no second proposal of it, unless one is asked for.
    if not going_on or st.toggle("Set up another job", key="collect-another"):
        opened()
        state = read_controls()
    else:
        state = None
    if state is not None:
        start(state)
        prompt(state)
        copy(state)
