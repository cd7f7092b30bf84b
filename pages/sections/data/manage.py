"""The data sets of the store: list, rename, delete, export, and their votes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from core.errors import AppellateError, NoUsableVotes
from core.finding.answer import Answer
from core.finding.wording import count, enumerated
from core.labelling.desk import PLANNED, Desk, open_desk
from core.labelling.sheet import add_labels, write_sheet, write_tasks
from core.schema import FORMS, Kind, Selection
from core.store import DatasetInfo
from core.store.browse import stored
from pages.shared import cached, numbers, people, start, widgets

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

HEADERS = {
    "name": "data set",
    "votes": "votes, failed too",
    "judges": "raters",
    "loaded_at": "loaded",
}
OF_ALL = {"items": "items of all kinds", "judges": "raters of all kinds"}
"""Heads of counts that scores and rankings add to, where there are some."""
KINDS: tuple[Kind, ...] = ("votes", "scores", "rankings")
NOTICE = "notice of data sets"


def say_what_is_in(*, open_files: int) -> None:
    """The page's answer: how much is in and what it lacks; while files are open, that they are not
    in yet.
    """
    if open_files:
        what = "This file is" if open_files == 1 else f"These {open_files} files are"
        widgets.answer(f"{what} not in yet: check below how each is read, then load.", "warning")
        return
    try:
        found = stored(cached.summary(widgets.current_selection()))
    except NoUsableVotes as error:
        empty = "No votes are in yet. Drop a file of votes below, or fill in the template."
        widgets.answer(str(error) if cached.datasets() else empty, "warning")
        return
    widgets.answer(Answer(headline=found.sentence, figures=found.figures, good=not found.gaps))
    for gap in found.gaps:
        st.text(gap)


def datasets() -> None:
    """Table of the data sets of the store, and what can be done with the one that is chosen."""
    found = cached.stored()
    if notice := st.session_state.pop(NOTICE, None):
        with st.container(border=True):
            st.text(notice)
    if not found:
        st.text("There are no data sets. Load a file above, or begin with one of these.")
        if people.visitor() == "editor":
            start.examples()
        return
    columns = ["name", "votes", "items", "comparisons", "judges", "files", "simulated", "loaded_at"]
    others = [kind for kind in KINDS[1:] if any(getattr(each, kind) for each in found)]
    columns[2:2] = others
    frame = pd.DataFrame(
        [[getattr(each, name) for name in columns] for each in found], columns=columns
    )
    frame = frame.rename(columns=HEADERS | (OF_ALL if others else {}))
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            str(name): st.column_config.NumberColumn(format="localized")
            for name in frame
            if frame[name].dtype.kind == "i"
        },
        key="datasets",
        alt="Data sets of the store",
    )
    names = [each.name for each in found]
    current = widgets.current_dataset()
    if st.session_state.get("managed") not in names:
        st.session_state["managed"] = current if current in names else names[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Change or export", names, key="managed", width=320)
        chosen = next(each for each in found if each.name == name)
        if people.visitor() == "editor":
            _changes(chosen)
        file = re.sub(r"[^\w.-]+", "_", name).strip("_.")[:80] or "votes"
        kinds = [kind for kind in KINDS if getattr(chosen, kind)] or ["votes"]
        kind = kinds[0]
        if len(kinds) > 1:
            kind = st.selectbox("What to export", kinds, key=f"export-{'-'.join(kinds)}", width=160)
        wanted = Selection(datasets=(name,))
        numbers.download_buttons(
            lambda: cached.get_store().export(wanted, kind=kind), file, text="Export "
        )


def pages_about(name: str) -> dict[str, str]:
    """The pages to open first on a data set, by what it holds."""
    found = next((each for each in cached.datasets() if each.name == name), None)
    pages: dict[str, str] = {}
    if found is None or found.votes or found.scores:
        pages["the verdict"] = "verdict.py"
    if found and found.votes:
        judges = cached.summary(Selection(datasets=(name,))).judges
        if any(judge.with_confidence for judge in judges):
            pages["Reliability diagrams"] = "calibration.py"
        elif any(judge.with_position for judge in judges):
            pages["Position bias"] = "position_bias.py"
    if found and found.scores:
        pages["Scores"] = "scores.py"
    if found and found.rankings:
        pages["Listwise consensus"] = "listwise.py"
    return pages


def holds(found: DatasetInfo) -> str:
    """How much of each kind a data set holds, in words."""
    counted = {FORMS[kind].unit: getattr(found, kind) for kind in KINDS}
    return enumerated(count(n, unit) for unit, n in counted.items() if n) or "0 votes"


def _changes(chosen: DatasetInfo) -> None:
    """Rename a data set, add labels to it, or delete it."""
    with st.popover("Rename", key="rename-box"):
        new = st.text_input("New name", key="new-name")
        st.button(
            "Rename", key="rename", on_click=_rename, args=(chosen.name, new), disabled=not new
        )
    if chosen.votes or chosen.scores:
        with st.popover("Add labels", icon=":material/draw:", key="labels-box"):
            _labels(chosen)
    with st.popover("Delete", key="delete-box"):
        st.text(f"{chosen.name}\n{holds(chosen)} and their gold will be gone from the store.")
        st.button("Delete it", key="delete", type="primary", on_click=_delete, args=(chosen,))


def _labels(chosen: DatasetInfo) -> None:
    """The ways to labels: here, in a spreadsheet or Label Studio, or out of a file of people's."""
    st.text("Label here, blind, in random order; or let people fill a sheet and drop it below.")
    with st.container(horizontal=True):
        widgets.goto("Label here", "label.py", key="labels-here", dataset=chosen.name)
        st.download_button(
            "Sheet (CSV)", partial(_sheet, chosen, write_sheet), "label.csv", "text/csv"
        )
        st.download_button(
            "Tasks for Label Studio",
            partial(_sheet, chosen, write_tasks),
            "label.json",
            "application/json",
            on_click="ignore",
        )
    sheets = st.file_uploader(
        "Labels: that sheet, or any with ids or texts; one for each person",
        accept_multiple_files=True,
        key="stored-labels",
    )
    if sheets:
        st.button("Add these labels", key="add-labels", on_click=_add_labels, args=(chosen, sheets))


def _sheet(chosen: DatasetInfo, write: Callable[[Desk, int], str]) -> str:
    kind: Kind = "votes" if chosen.votes else "scores"
    return write(open_desk(cached.changeable_store(), chosen.name, kind=kind), PLANNED)


def _add_labels(chosen: DatasetInfo, sheets: list[UploadedFile]) -> None:
    kind: Kind = "votes" if chosen.votes else "scores"
    try:
        files = [(sheet.name, sheet.getvalue()) for sheet in sheets]
        said = add_labels(cached.changeable_store(), chosen.name, files, kind=kind)
    except AppellateError as error:
        st.session_state[NOTICE] = str(error)
        return
    several = len(said) > 1
    lines = [f"{name}: {sentence}" if several else sentence for name, sentence in said]
    st.session_state[NOTICE] = f"{chosen.name}: {' '.join(lines)}"


def _rename(old: str, new: str) -> None:
    try:
        cached.changeable_store().rename_dataset(old, new.strip())
    except AppellateError as error:
        st.session_state[NOTICE] = str(error)
        return
    st.session_state.pop(widgets.SHOWN, None)
    st.session_state[NOTICE] = f"{old} is now named {new.strip()}."
    st.session_state["new-name"] = ""
    widgets.open_dataset(new.strip())


def _delete(gone: DatasetInfo) -> None:
    try:
        store = cached.changeable_store()
        store.delete_dataset(gone.name)
        if gone.simulated or not store.datasets():
            store.set_flag(cached.DEMO_DELETED, "yes")
    except AppellateError as error:
        st.session_state[NOTICE] = str(error)
        return
    st.session_state.pop(widgets.SHOWN, None)
    st.session_state[NOTICE] = f"Deleted {gone.name}: {holds(gone)}."
    left = [each.name for each in store.datasets()]
    if left:
        current = widgets.current_dataset()
        widgets.open_dataset(current if current in left else left[0])
