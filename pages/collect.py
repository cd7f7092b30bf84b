"""Get the votes: which model judges what, how, and at what price?"""

import streamlit as st

from core.errors import AppellateError
from core.judging.plan import proposed
from pages.sections.collect import controls as form
from pages.sections.collect import runs as going
from pages.sections.collect.endpoint import where_to
from pages.sections.collect.launch import copy, prompt, start
from pages.shared import widgets

widgets.title("Collect", "Which model shall judge what, and what will it take?")
going_on = going.going()
if going_on:
    going.show(going_on)
going.ended(going_on)
going.unfinished(going_on)

said = st.container()
slots = st.columns(3, border=True)
where, what, options = None, None, None
with slots[0], form.errors():
    where = where_to()
with slots[1], form.errors():
    what = form.items()
with slots[2], form.errors():
    options = form.protocol(what)
limits = form.budget()

asked = None
with said:
    if where is None or what is None or options is None:
        widgets.answer("Name a model and what it shall judge; nothing is sent before you start.", "warning")
    else:
        try:
            asked = form.estimate(where, what, options, limits)
        except AppellateError as error:
            widgets.answer(form.words(error), "warning")
        else:
            widgets.answer(proposed(asked.job, asked.plan))
if asked is not None:
    start(asked)
    prompt(asked)
    copy(asked)
