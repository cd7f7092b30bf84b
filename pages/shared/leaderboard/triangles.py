"""Is there one scale? Triangles of models whose gaps do not add up."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.leaderboard.anchors import Triangles
from core.store.queries import Mark
from core.words.board import TriangleTold, triangles_frame
from pages.shared import widgets
from pages.shared.leaderboard.asked import Asked
from pages.shared.leaderboard.columns import number

TRIANGLES_SHOWN = 200
TRIANGLE_COLUMNS = {
    "verdict": st.column_config.TextColumn("verdict", width=140),
    "triangle": st.column_config.TextColumn("triangle", width=470),
    "residual": number("left over", "%+.0f", "Elo round the triangle"),
    "n": number("n", "%d", "prompts that all three pairs played"),
    "z": number("z", "%.1f"),
    "p_holm": number("p, Holm", "%.2g", "adjusted for the number of triangles"),
}


def triangles_section(asked: Asked, known: Triangles, told: Sequence[TriangleTold]) -> None:
    """Triangles of models, worst first, and the votes of the chosen one's three pairs."""
    st.subheader("Do three models' gaps add up?", anchor=False)
    frame = triangles_frame(known, told)
    if not len(frame):
        reason = (
            "no three models all met each other."
            if not len(known)
            else f"none of {len(known):,} triangles has two prompts that all three pairs of its models "
            "played."
        )
        widgets.not_applicable(reason)
        return
    shown = frame.head(TRIANGLES_SHOWN)
    words = shown["triangle"].tolist()

    def choose() -> None:
        for row in st.session_state["triangles"]["selection"]["rows"]:
            st.session_state["triangle"] = words[row]

    st.dataframe(
        shown[list(TRIANGLE_COLUMNS)],
        hide_index=True,
        column_config=TRIANGLE_COLUMNS,
        key="triangles",
        on_select=choose,
        selection_mode="single-row",
        alt="Triangles",
    )
    widgets.downloads(frame, "triangles")
    widgets.how_to_read(
        "If a beats b by 100 Elo and b beats c by 50, a should beat c by 150. *Left over* is what is "
        "missing round the triangle, from all prompts of each pair; z is that of the prompts which all "
        "three pairs played. p counts no less variance than the three pairs have on their own, and is "
        "adjusted for the number of triangles (Holm). Broken (p < .05): no single scale holds the three, so "
        "their ranking depends on the anchor. Intransitive: moreover each beats the next, all the way round."
    )
    chosen = st.selectbox(
        "Votes behind",
        words,
        index=None,
        key="triangle",
        bind=widgets.URL,
        placeholder="click a row, or choose here",
    )
    if chosen:
        row = shown.iloc[words.index(chosen)]
        for one, two in (("a", "b"), ("b", "c"), ("c", "a")):
            st.text(f"{row[one]} and {row[two]}")
            widgets.votes_table(
                Mark(models=(row[one], row[two]), judge=asked.judge), name=f"triangle-{one}{two}"
            )
