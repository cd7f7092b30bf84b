"""Who labels, and how: the desk of the data set, with nothing about its judges."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from core.errors import NoUsableVotes, UnknownName
from core.labelling.desk import OFFERED, PLANNED, Desk, open_desk
from core.labelling.session import Sharing
from core.schema import ONE_METRIC, Kind
from core.store.labelling import keep_rubric, replan, rubric
from pages.shared import cached, widgets

ME = "me"
SHARING: dict[str, Sharing] = {"share out": "part", "all label all": "all"}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState:
    """The desk, and who sits at it."""

    desk: Desk
    person: str


def read_controls() -> PageState:
    """Draw the name field and, folded, the plan. Raises NoUsableVotes: nothing can be labelled."""
    dataset = widgets.current_dataset()
    name, how = st.columns([2, 1], vertical_alignment="bottom")
    person = name.text_input(
        "Who labels", ME, key="person", bind=widgets.URL, max_chars=60, placeholder=ME
    )
    desk = open_desk(cached.changeable_store(), dataset, kind=_kind(dataset))
    with how.popover("How", icon=":material/tune:", width="stretch"):
        sharing = st.segmented_control(
            "Several people",
            list(SHARING),
            default="share out",
            required=True,
            key="sharing",
            bind=widgets.URL,
            help="Everybody has the same order. Shared out, 30 % of the items go to all.",
        )
        _plan(desk)
        st.text_input(
            "What counts",
            key="rubric",
            value=rubric(cached.get_store(), dataset) or "",
            on_change=_keep_rubric,
            args=(dataset,),
            help="One line that everybody sees above the card.",
        )
    desk.sharing = SHARING.get(str(sharing), "part")
    desk.refresh()
    if line := rubric(cached.get_store(), dataset):
        st.text(line)
    elif desk.plan.metric not in (None, ONE_METRIC):
        st.text(f"What counts: {desk.plan.metric}")
    return PageState(desk=desk, person=(person or "").strip() or ME)


def _kind(dataset: str) -> Kind:
    here = {found.name: found for found in cached.stored()}
    if dataset not in here:
        raise NoUsableVotes(
            "Labels are kept in the store of this server; a connected table has no place for them"
        )
    return "votes" if here[dataset].votes else "scores"


def _plan(desk: Desk) -> None:
    begun = bool(desk.session.people)
    offered = [n for n in OFFERED if n < desk.size] + [min(desk.size, PLANNED)]
    options = [*dict.fromkeys(offered), "no plan"]
    now: int | str = desk.plan.planned or "no plan"
    st.select_slider(
        "Labels planned",
        options if now in options else [now, *options],
        now,
        key="planned",
        disabled=begun,
        on_change=_keep_plan,
        args=(desk.plan.dataset,),
        help="At the planned number an ordinary interval is looked at once, beside the one that "
        "holds at any time. It is fixed with the first label.",
    )


def _keep_plan(dataset: str) -> None:
    planned = st.session_state["planned"]
    replan(cached.changeable_store(), dataset, planned if isinstance(planned, int) else None)


def _keep_rubric(dataset: str) -> None:
    line = st.session_state["rubric"].strip()
    with suppress(UnknownName):
        keep_rubric(cached.changeable_store(), dataset, line or None)
