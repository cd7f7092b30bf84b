"""Tables on another engine: where one lies, how it is read, and those that are connected."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import streamlit as st

from core.errors import AppellateError, InvalidOption, render
from core.importers import ReadOptions
from core.warehouse.engines import ENGINES, PASSWORD, USER
from pages.sections.data.columns import OPTIONS, TABLE, Table, look_at, row_options, table_options
from pages.shared import cached, people, widgets

KNOWN = "APPELLATE_WAREHOUSES"
"""Environment variable: the engines that visitors may connect to, where others than the owner come
in.
"""
SERVES_OTHERS = "APPELLATE_ALLOW_REMOTE"


def panel() -> None:
    """Ask for an engine and a table and how it is read, and connect it."""
    st.caption(
        "Audit a table of another engine: its rows are fetched once, of more than ten million a "
        "random sample of items. Prompts, responses and rationales stay there and are not shown."
    )
    known = os.environ.get(KNOWN, "").split()
    if not known and (people.sign_in() or os.environ.get(SERVES_OTHERS) == "1"):
        st.text(
            "Others come in here, so whoever runs this server names the engines they may use: "
            f"{KNOWN}."
        )
        return
    engine, name, look = st.columns([3, 2, 1], vertical_alignment="bottom")
    if known:
        url = engine.selectbox("Engine", known, key="connect-engine")
    else:
        url = engine.text_input("Engine", placeholder=ENGINES, key="connect-address").strip()
    table = name.text_input(
        "Table", placeholder="votes or schema.votes", key="connect-table"
    ).strip()
    if look.button("Look at it", key="connect-look", disabled=not (url and table)):
        st.session_state[TABLE] = Table(url, table)
    st.caption(
        f"User and password come from the environment of this server: {USER} and {PASSWORD}, or "
        "those of the driver."
    )
    found: Table | None = st.session_state.get(TABLE)
    if found and (found.url, found.name) == (url, table):
        with st.container(border=True, key="connect-panel", gap="xsmall"):
            _options(found)


def _options(table: Table) -> None:
    """How a table is read, and the button that connects it."""
    if _signs_in(table.url):
        raise InvalidOption(
            f"Leave the password out of the address, which others may see: set {PASSWORD}."
        )
    # A table of an engine is read by the names of its columns.
    looks = look_at(table, ReadOptions(reader="old"))
    if isinstance(looks, AppellateError):
        st.text(render(looks, OPTIONS))
        if st.button("Try again", key="connect-again"):
            cached.keep_only(())
            st.rerun()
        return
    head, row = st.container(), st.columns(4)
    if looks.kind == "scores":
        options = row_options(table, looks, head, row)
    else:
        options = table_options(table, looks, "auto", head, row)
    if options is None or not st.button("Connect", type="primary", key="connect"):
        return
    try:
        with st.spinner("The engine reads the table", show_time=True):
            opened = cached.connect(table.url, table.name, options)
    except AppellateError as error:
        st.text(render(error, OPTIONS))
        return
    del st.session_state[TABLE]
    widgets.open_dataset(opened)
    st.rerun()


def _signs_in(url: str) -> bool:
    """Whether an address holds a password or a token."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.password) or "token=" in url or "password=" in url


def tables() -> None:
    """The connected tables: what was read of each, what crossed the network, and a button that ends
    it.
    """
    for place, (name, one) in enumerate([*cached.connected().items()]):
        with st.container(border=True, key=f"connected-{place}", gap="xsmall"):
            st.text("\n".join([one.warehouse.fetched.sentence, one.warehouse.fetched.crossed]))
            reading = one.warehouse.fetched.readings[0]
            for (column, reason), n in reading.counted_reasons.items():
                st.text(f"{n:,} rows rejected: column {column}: {render(reason, OPTIONS)}")
            if reading.sampled:
                st.text(reading.sampled.sentence)
            for note in reading.notes:
                st.text(render(note, OPTIONS))
            if people.visitor() == "editor":
                st.button(
                    "Disconnect", key=f"disconnect-{place}", on_click=_disconnect, args=(name,)
                )


def _disconnect(name: str) -> None:
    people.only_editors()
    cached.disconnect(name)
    st.session_state.pop(widgets.SHOWN, None)
    st.session_state.pop("dataset", None)
