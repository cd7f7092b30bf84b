"""What is sent to a colleague: the verdict and its evidence as one file that needs no server."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Self

import streamlit as st

from core.auditing.options import AuditOptions
from core.auditing.results import Audit
from core.auditing.run import audit
from core.options import default_of
from core.reporting.brief import brief, examples
from core.reporting.html import report
from pages.shared import cached, widgets
from pages.shared.limits import current_options

if TYPE_CHECKING:
    from core.schema import Selection
    from core.store.connection import Database, Snapshot


@dataclass(frozen=True, slots=True)
class _Of:
    """What is sent: made after a click, outside of the visit, so that it holds all it needs."""

    store: Database | Snapshot
    selection: Selection
    options: AuditOptions
    texts: bool = True

    @classmethod
    def visit(cls, *, texts: bool) -> Self:
        """What the visitor looks at."""
        return cls(*cached.where(widgets.current_selection()), current_options(), texts)

    def two_pages(self) -> bytes:
        """Verdict and evidence."""
        audited = audit(self.store, self.selection, self.options)
        shown = examples(self.store, audited)
        return brief(audited, shown=shown, texts=self.texts, made=date.today()).encode()

    def whole(self) -> bytes:
        """Every table, with the splits that pages do without."""
        options = replace(self.options, splits=default_of(AuditOptions, "splits"))
        return report(audit(self.store, self.selection, options)).encode()


def found() -> Audit:
    """The audit of what is selected, as every place shows it."""
    selection, options = widgets.current_selection(), current_options()
    return cached.computed(
        "audit", (selection, options), lambda: audit(*cached.where(selection), options)
    )


def file_name(dataset: str) -> str:
    """Name of the file of a data set, of letters that every disk takes."""
    plain = re.sub(r"[^\w.-]+", "-", dataset, flags=re.ASCII).strip("-.")
    return f"verdict-{plain[:80]}.html" if plain else "verdict.html"


@st.fragment
def share() -> None:
    """A button behind which the file is: with the texts of votes, or without."""
    box = st.popover(
        "Share", icon=":material/ios_share:", key="share-file", type="tertiary", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        st.text("One file with the verdict, its evidence and errors to read; no server is needed.")
        texts = not widgets.elsewhere() and st.toggle(
            "With prompts and answers", value=True, key="share-texts"
        )
        of = _Of.visit(texts=texts)
        name = file_name(widgets.current_dataset())
        buttons = (
            ("Two pages", of.two_pages, name),
            ("All tables and figures", of.whole, f"report-{name.removeprefix('verdict-')}"),
        )
        for text, make, file in buttons:
            key = f"share-{file}"
            st.download_button(text, make, file, "text/html", key=key, on_click="ignore")
