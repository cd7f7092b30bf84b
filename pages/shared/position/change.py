"""Where the verdicts of one judge change: by category, and by how decided the other judges are."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from core.bias.position import flips_by, margin_group
from core.plots.position import flips_by_group
from core.store.queries import Mark
from pages.shared import widgets
from pages.shared.position.asked import Asked

CAPTIONS: dict[Literal["category", "margin"], str] = {
    "category": "By category",
    "margin": "By how decided the other judges are",
}
UNKNOWN = {"category": "", "margin": "no other judge"}
"""The group of comparisons that have no category, or no other judge."""
WHY_NOT = {
    "category": "no comparison judged in both orders has a category. Load a column category with the votes.",
    "margin": "no other judge voted on the comparisons judged in both orders, so how decided others are is "
    "unknown. Load or select votes of another judge.",
}


def change_section(asked: Asked) -> None:
    """Flips of the chosen judge by group."""
    st.subheader("Where verdicts change", anchor=False)
    if not asked.results[asked.judge].pairs:
        widgets.not_applicable(f"{asked.judge} judged no comparison in both orders.")
        return
    for place, by in zip(st.columns(2, gap="medium"), CAPTIONS, strict=True):
        with place:
            st.caption(CAPTIONS[by])
            _by_group(asked, by)
    widgets.how_to_read(
        "Filled: share of pairs whose verdict changed with the order; hollow: from one response to the "
        "other. The margin is |mean vote of all other judges| on the comparison: 0 split, 1 unanimous. A "
        "judge that flips where others agree is not merely unsure."
    )


def _by_group(asked: Asked, by: Literal["category", "margin"]) -> None:
    """One figure, and the votes behind the chosen group's flips."""
    counts, key = asked.positions[asked.judge], f"flips_by_{by}"
    table = flips_by(counts, by)
    with_pairs = {name for name, pairs in zip(table.groups, table.pairs.tolist(), strict=True) if pairs}
    if with_pairs <= {UNKNOWN[by]}:
        widgets.not_applicable(WHY_NOT[by])
        return
    names = [name or "(none)" for name in table.groups]
    flipped = [name for name, n in zip(names, table.flips.tolist(), strict=True) if n]
    fig = flips_by_group(
        table, style=asked.styles[asked.judge], theme=asked.look, chosen=st.session_state.get(key)
    )
    chosen = widgets.figure(fig, key, alt=f"Flips by {by}", marks=flipped)
    if chosen:
        code = counts.category if by == "category" else margin_group(counts)
        behind = counts.comparison[(code == names.index(chosen)) & (counts.flips > 0)]
        first = tuple(behind[: widgets.VOTES_SHOWN].tolist())
        widgets.votes_table(Mark(judge=asked.judge, flip="flip", comparisons=first), name=key)
