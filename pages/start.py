"""Is my data in, and right?"""

import streamlit as st

from core.importers.preview import TEMPLATES
from pages.sections.data import connect, manage, upload
from pages.shared import people, uploads, widgets

widgets.title("start", "Is my data in, and right?")
answer = st.container()
files = []
if people.visitor() == "editor":
    load, elsewhere = st.tabs(["Load files", "Connect"])
    with load:
        uploads.to_disk(st.session_state.get("files", ()))
        files = st.file_uploader(
            "Drop files of votes, direct scores or listwise rankings: a table (CSV, TSV, JSON, "
            "Parquet, Excel), what Inspect, promptfoo, DeepEval, MLflow, Phoenix, Langfuse, Ragas "
            "or lm-eval wrote, a benchmark's file, or a ZIP of several",
            accept_multiple_files=True,
            key="files",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text("Templates (CSV):", width="content")
            for place, (name, made) in enumerate(TEMPLATES.items()):
                file, key = f"{name.replace(',', '').replace(' ', '-')}.csv", f"template-{place}"
                st.download_button(
                    name.capitalize(), made, file, "text/csv", key=key, on_click="ignore"
                )
    with elsewhere, widgets.errors():
        connect.panel()

upload.forget_others(files)
with answer:
    manage.say_what_is_in(open_files=len(files) - upload.count_loaded(files))
panels = [upload.panel(file, files) for file in files]
ready = [dropped for dropped in panels if dropped is not None]
waiting = len(files) - len(ready) - upload.count_loaded(files)
with st.container(horizontal=True, vertical_alignment="center"):
    if ready and st.button(
        f"Load {len(ready)} file{'s' * (len(ready) > 1)}", type="primary", key="load"
    ):
        upload.load(ready)
    if waiting:
        st.text(f"{waiting} of {len(files)} not ready to load: see above.")
    if upload.count_loaded(files):
        for name, page in manage.pages_about(widgets.current_dataset()).items():
            widgets.goto(f"To {name}", page, key=f"to-{page.removesuffix('.py')}")

st.subheader("Data sets", anchor=False)
manage.datasets()
connect.tables()
widgets.copy_as_python("print(queries.summary(store, selection).to_frame())")
