"""One comparison or answer at a time, blind, and the keys that answer it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.errors import LabellingReplaced, UnknownName
from core.labelling.desk import TAGS, Card
from pages.sections.label.controls import PageState
from pages.shared import cached, folds, widgets
from pages.shared.texts import marked, plain

WORDS = {
    "1": ("Left is better", "1"),
    "0": ("Tie", "0"),
    "2": ("Right is better", "2"),
    "b": ("Both bad", "B"),
    "x": ("Cannot tell", "X"),
    "p": ("Pass", "P"),
    "f": ("Fail", "F"),
}
"""Key → what its button says, and its shortcut."""
LONG = 1_500
HEIGHT = 420
AHEAD = 5
SAID = "said last"
ON_DESK = "card that is shown"
REPLACED = "labelling was replaced"


def panel(state: PageState) -> None:
    """The card of the next unit; an answer draws the next one and nothing else of the page."""
    st.session_state.pop(REPLACED, None)
    _card(state)


@st.fragment
def _card(state: PageState) -> None:
    if st.session_state.get(REPLACED):
        st.rerun()
    with cached.first(), widgets.errors(elsewhere=False):
        card = _shown(state)
        st.session_state[ON_DESK] = _identity(card)
        desk, person = state.desk, state.person
        wanted = desk.plan.planned or desk.size
        done = desk.session.count(person)
        with st.container(horizontal=True, vertical_alignment="center", key="label-count"):
            st.text(f"{done:,} of {max(wanted, done):,} labels", width="content")
            source = st.toggle(
                "Source",
                key="label-source",
                bind=widgets.URL,
                help="Texts as they were written, without their Markdown set as such.",
            )
            if said := st.session_state.get(SAID):
                st.text(said)
        if card is None:
            st.text("Every item is labelled. Thank you.")
            _buttons(state, None)
            return
        st.query_params["place"] = str(card.place + 1)
        if card.prompt:
            with st.container(height=160 if len(card.prompt) > 700 else "content", border=True):
                st.text(card.prompt)
        _texts(card, markdown=not source)
        _buttons(state, card)
        _about(card)


def _shown(state: PageState) -> Card | None:
    """The card that the address asks for, if it can be labelled anew, else the next."""
    desk, person = state.desk, state.person
    back = st.session_state.pop("label back to", None)
    if back is not None:
        return desk.card(person, back)
    ready = desk.cards(person, AHEAD)
    return ready[0] if ready else None


def _identity(card: Card | None) -> str:
    """What tells a card from the next: part of the keys of its buttons, whose presses carry it."""
    return "none" if card is None else f"{card.place}{'-again' if card.again else ''}"


@contextmanager
def _kept() -> Iterator[None]:
    """Say in words that a card is of a labelling that is no more, and draw the page anew."""
    try:
        yield
    except (LabellingReplaced, UnknownName) as error:
        st.session_state[SAID] = str(error)
        st.session_state[REPLACED] = True


def _meant(card: Card | None) -> bool:
    """Whether a press is for the card that is shown. A key that is pressed twice, or before the
    browser has the next card, is for one that is answered, and must not count for one unseen.
    """
    return bool(st.session_state.get(ON_DESK) == _identity(card))


def _texts(card: Card, *, markdown: bool) -> None:
    with st.container(key=f"label-shown-{_identity(card)}"):
        if len(card.texts) == 1:
            with st.container(border=True, key="label-text"):
                st.html(plain(card.texts[0], markdown=markdown))
        else:
            _both(card, marked(*card.texts, markdown=markdown))


def _both(card: Card, shown: tuple[str, str]) -> None:
    long = max(len(text or "") for text in card.texts) > LONG
    # One box scrolls both, so that they stay side by side.
    with (
        st.container(key="wide-label-texts"),
        st.container(height=HEIGHT if long else "content", border=True),
    ):
        for place, text, side in zip(st.columns(2), shown, ("Left", "Right"), strict=True):
            with place:
                st.caption(side)
                st.html(text)
    with st.container(key="narrow-label-texts"):
        for tab, text in zip(st.tabs(["Left", "Right"]), shown, strict=True):
            with tab:
                st.html(text)


def _buttons(state: PageState, card: Card | None) -> None:
    with st.container(key="label-keys", gap="small"):
        if card is not None:
            keys = list(state.desk.keys)
            first = [key for key in ("1", "0", "2") if key in keys] if "b" in keys else keys
            with st.container(horizontal=True, key="label-first", gap="small"):
                for key in first:
                    _answer_button(state, card, key, primary=True)
            others = [key for key in keys if key not in first]
            with st.container(horizontal=True, key="label-others", gap="small"):
                for key in others:
                    _answer_button(state, card, key)
                st.button(
                    "Skip",
                    key=f"label-s-{_identity(card)}",
                    shortcut="S",
                    on_click=_skip,
                    args=(state, card),
                )
                _undo_button(state, card)
        else:
            _undo_button(state, card)


def _answer_button(state: PageState, card: Card, key: str, *, primary: bool = False) -> None:
    word, shortcut = WORDS.get(key, (key, key)) if "b" in state.desk.keys else _level(key)
    st.button(
        word,
        key=f"label-{key}-{_identity(card)}",
        shortcut=shortcut,
        type="primary" if primary else "secondary",
        width="stretch" if primary else "content",
        on_click=_answer,
        args=(state, card, key),
    )


def _level(key: str) -> tuple[str, str]:
    return WORDS[key] if key in ("p", "f", "x") else (key, key)


def _undo_button(state: PageState, card: Card | None) -> None:
    st.button(
        "Undo",
        key=f"label-u-{_identity(card)}",
        shortcut="U",
        disabled=state.desk.session.last(state.person) is None,
        on_click=_undo,
        args=(state, card),
    )


def _answer(state: PageState, card: Card, key: str) -> None:
    if not _meant(card):
        return
    tags = list(st.session_state.get(f"label-tags-{card.place}") or ())
    own = (st.session_state.get(f"label-own-{card.place}") or "").strip()
    note = (st.session_state.get(f"label-note-{card.place}") or "").strip()
    st.session_state[SAID] = None
    with cached.first(), _kept():
        state.desk.answer(state.person, card, key, tags=[*tags, own] if own else tags, note=note)


def _skip(state: PageState, card: Card) -> None:
    if not _meant(card):
        return
    with _kept():
        state.desk.skip(state.person, card)
        st.session_state[SAID] = "Skipped: it comes again at the end."


def _undo(state: PageState, card: Card | None) -> None:
    if not _meant(card):
        return
    with _kept():
        place = state.desk.undo(state.person)
        st.session_state[SAID] = None if place is None else "Taken back."
        st.session_state["label back to"] = place


def _about(card: Card) -> None:
    # Drawn when it is opened: every card would wait for fields that few need.
    box = st.expander("Tags and a note", folds.OPEN_AT_FIRST, key="label-about", on_change="rerun")
    if not box.open:
        return
    with box:
        st.pills("Tags", TAGS, selection_mode="multi", key=f"label-tags-{card.place}")
        st.text_input("A tag of your own", key=f"label-own-{card.place}", max_chars=60)
        st.text_area("Note", key=f"label-note-{card.place}", max_chars=2_000)
