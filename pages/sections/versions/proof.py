"""Prove that a version is better: what is sealed, the tries so far, one blind card at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import streamlit as st

from core.finding.answer import Answer
from core.finding.wording import count
from core.labelling.sheet import LABEL
from core.questions.versions.ask import BothJudged, both_judged, metrics_of_both
from core.store import parts
from core.use.proving import Proved, proved
from pages.sections.versions.compared import chosen_versions
from pages.shared import cached, widgets

VERDICTS = {
    "pairs": {"left": "Left is better", "right": "Right is better", "tie": "Equal"},
    "pass_fail": {"pass": "Pass", "fail": "Fail"},
}
MOST_LEVELS = 11
"""Levels that have a button each; a finer scale is labelled in the sheet."""


def proof_section() -> None:
    """Choose two versions, see what is sealed and was tried, and go on with the proof."""
    st.subheader("Prove that a version is better", anchor=False)
    old, new = chosen_versions()
    store = cached.changeable_store()
    with store.snapshot() as moment:
        held = parts.read(moment)
        both = metrics_of_both(moment, old, new)
        items = parts.items_of(moment)
    metric = both[0] if both else None
    if len(both) > 1:
        metric = widgets.select("Metric", both, start=both[0], key="proved")
    if held is None:
        st.text("The first proof seals items: they are in no list and in no figure of a version.")
    else:
        used = len(held.used - held.items)
        tries = held.of_family(new, metric)
        st.text(
            f"{count(len(held.items), 'item')} open, {items - len(held.items) - used:,} sealed, "
            f"{used:,} labelled for a try. Tries so far: {len(tries)}."
        )
        for each in tries:
            st.text(each.said or each.sentence)
    key = f"proof of {new} over {old} by {metric}"
    found: Proved | None = st.session_state.get(key)
    # Both are asked: one is the button, drawn where a proof can begin.
    wanted = st.session_state.pop(widgets.PROVING, None) == new
    if (found is None or found.sheet is None) and (
        st.button(f"Prove {new}", key="prove") or wanted
    ):
        st.session_state[key] = proved(store, new, old, metric=metric)
        st.rerun()
    if found is None:
        return
    widgets.answer(Answer(headline=found.sentence, good=found.state == "better"), part="-proof")
    if found.sheet is None:
        return
    with store.snapshot() as moment:
        judged = both_judged(moment, old, new, metric)
    card = next(csv.DictReader(io.StringIO(found.sheet)))
    said = _label_of(card, judged)
    if said is not None:
        sheet = ("sheet.csv", _filled(card, said))
        st.session_state[key] = proved(store, new, old, metric=metric, labels_from=sheet)
        st.rerun()
    st.download_button("Sheet (CSV)", found.sheet, "prove.csv", "text/csv", key="prove-sheet")


def _label_of(card: Mapping[str, str], judged: BothJudged) -> str | None:
    """Show a card without judges; the word of the button that was pressed."""
    low, high = sorted((judged.low, judged.high))
    words = VERDICTS.get(judged.kind, {})
    if judged.kind == "levels" and low == int(low) and high - low < MOST_LEVELS:
        words = {str(level): str(level) for level in range(int(low), int(high) + 1)}
    with st.container(border=True, key="proof-card"):
        for name in ("prompt", "left", "right", "response"):
            if card.get(name):
                st.caption(name.capitalize())
                st.text(card[name])
        with st.container(horizontal=True):
            pressed = [
                word
                for word, text in (words | {"skip": "Cannot tell"}).items()
                if st.button(text, key=f"proof-{word}")
            ]
    return pressed[0] if pressed else None


def _filled(card: Mapping[str, str], said: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(card))
    writer.writeheader()
    writer.writerow({**card, LABEL: said})
    return out.getvalue().encode()
