"""Is my data in, and right?"""

import streamlit as st

from core.errors import NoUsableVotes
from core.importers import template
from core.store.browse import stored
from pages.sections.data import manage, upload
from pages.shared import cached, people, widgets

widgets.title("Data", "Is my data in, and right?")
try:
    found = stored(cached.summary(widgets.current_selection()))
    widgets.answer(found.sentence, "warning" if found.gaps else "finding")
    for gap in found.gaps:
        st.text(gap)
except NoUsableVotes as error:
    empty = "No votes are in yet. Drop a file of votes below, or fill in the template."
    widgets.answer(str(error) if cached.datasets() else empty, "warning")

files = []
if people.visitor() == "editor":
    files = st.file_uploader(
        "Drop files of votes, direct scores or listwise rankings: a table (CSV, TSV, JSON, Parquet), or what "
        "JudgeBench, LLMBar, AlpacaEval, Arena-Hard, MT-Bench or PandaLM wrote",
        accept_multiple_files=True,
        key="files",
    )
    st.download_button(
        "Template (CSV)", template(), "votes.csv", "text/csv", key="template", on_click="ignore"
    )

upload.forget_others(files)
panels = [upload.panel(file, files) for file in files]
ready = [dropped for dropped in panels if dropped is not None]
waiting = len(files) - len(ready) - upload.count_loaded(files)
with st.container(horizontal=True, vertical_alignment="center"):
    if ready and st.button(f"Load {len(ready)} file{'s' * (len(ready) > 1)}", type="primary", key="load"):
        upload.load(ready)
    if waiting:
        st.text(f"{waiting} of {len(files)} not ready to load: see above.")
    if upload.count_loaded(files):
        for name, page in manage.pages_about(widgets.current_dataset()).items():
            widgets.goto(f"To {name}", page, key=f"to-{page.removesuffix('.py')}")

st.subheader("Data sets", anchor=False)
manage.datasets()
widgets.copy_as_python("print(queries.summary(store, selection).to_frame())")
