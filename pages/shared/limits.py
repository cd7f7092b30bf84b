"""By which limits the pages grade, and which models are a family: set below the verdict, for the
whole visit.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.auditing.checks import BY_NAME, LIMITS, limits_with
from core.auditing.options import AuditOptions, named_families
from core.errors import InvalidOption
from core.finding.check import Limits
from pages.shared.folds import draw_whole_page, folded

CHOSEN, REFUSED = "limits and families", "why limits were refused"
ENDS = ("caution", "failure")
NAMES = {
    "half_flips": "Stability, with changes to a tie",
    "flip_excess": "Stability, beyond repeats",
    "score_repeatability": "Repeatability of scores",
    "score_calibration": "Calibration of scores",
    "score_overconfidence": "Overconfidence of scores",
    "score_discrimination": "Discrimination of scores",
    "score_data": "Completeness of the scores",
}
BEYOND = {"at_least": "below", "signed": "beyond ±"}
UNITS = {"share": " (%)", "points": " (points)", "number": ""}


def current_options() -> AuditOptions:
    """How judges are graded on every page; without splits, on which no verdict rests."""
    limits, families = st.session_state.get(CHOSEN, ({}, {}))
    return AuditOptions(splits=0, limits=limits, families=families)


def limits_section() -> None:
    """Limits of every check and families, folded; they count when they are sent."""
    folded("Limits", _form, key="limits")
    if refused := st.session_state.pop(REFUSED, None):
        st.text(f"The limits stay as they were: {refused}.")


def _form() -> None:
    chosen = current_options()
    with st.form("limits", border=False):
        st.caption(
            "A check warns beyond *caution* and fails beyond *failure*, with its whole interval. "
            "What is set here holds on every page until the browser tab is closed."
        )
        for place, (check, limits) in enumerate(chosen.rules.limits.items()):
            if place % 2 == 0:
                columns = st.columns(4, vertical_alignment="bottom")
            for end, column in zip(ENDS, columns[2 * (place % 2) :], strict=False):
                _input(check, limits, end, column)
        key = "family_names"
        st.session_state.setdefault(
            key, "; ".join(f"{name}={','.join(begins)}" for name, begins in chosen.families.items())
        )
        st.text_input(
            "Families: beginnings of the names of judges and models",
            key=key,
            placeholder="OpenAI=gpt-,o1; Anthropic=claude",
        )
        row = st.container(horizontal=True)
        row.form_submit_button("Grade by these", key="limits_keep", on_click=_keep)
        row.form_submit_button("Back to defaults", key="limits_forget", on_click=_forget)


def _key(check: str, end: str) -> str:
    return f"limit-{check}-{end}"


def _scale(limits: Limits) -> float:
    return 1.0 if limits.unit == "number" else 100.0


def _input(check: str, limits: Limits, end: str, place: DeltaGenerator) -> None:
    value = limits.caution if end == "caution" else limits.failure
    if value is None:
        return
    # Seeded and not given as a value: a form that is sent keeps what was typed.
    st.session_state.setdefault(_key(check, end), round(_scale(limits) * value, 6))
    name = NAMES.get(check) or (
        BY_NAME[check].subject if check in BY_NAME else check.replace("_", " ").capitalize()
    )
    side = BEYOND.get(limits.shape, "above")
    if end == "failure" and limits.failing_side == "above":
        side = "above"
    place.number_input(
        f"{name}: {end} {side}{UNITS[limits.unit]}",
        step=0.05 if limits.unit == "number" else 1.0,
        format="%g",
        key=_key(check, end),
        help=limits.reason,
    )


def _keep() -> None:
    """Take over what was typed, or keep what was and say why."""
    changed = {
        check: given
        for check, limits in LIMITS.items()
        if (given := _typed(check, limits)) != (limits.caution, limits.failure)
    }
    written: str = st.session_state["family_names"]
    draw_whole_page()
    try:
        limits_with(changed)
        families = named_families(part for part in written.split(";") if part.strip())
    except InvalidOption as error:
        st.session_state[REFUSED] = str(error).rstrip(".")
        return
    _set(changed, families)


def _typed(check: str, limits: Limits) -> tuple[float, float | None]:
    caution: float = st.session_state[_key(check, "caution")] / _scale(limits)
    if limits.failure is None:
        return caution, None
    return caution, st.session_state[_key(check, "failure")] / _scale(limits)


def _forget() -> None:
    for check in LIMITS:
        for end in ENDS:
            st.session_state.pop(_key(check, end), None)
    st.session_state.pop("family_names", None)
    draw_whole_page()
    _set({}, {})


def _set(
    limits: Mapping[str, tuple[float, float | None]], families: Mapping[str, tuple[str, ...]]
) -> None:
    st.session_state[CHOSEN] = dict(limits), dict(families)
