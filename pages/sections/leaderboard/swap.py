"""Would another anchor rank them alike, and is there one scale? Another anchor's board, and triangles."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.interpretation.leaderboard import OTHER_ANCHORS, TRIANGLES, TriangleSummary, triangles_frame
from core.leaderboard.anchors import Triangles
from core.leaderboard.standings import OtherAnchor, Standings, most_reversing
from core.plots.leaderboard import swap_figure, swap_key
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import PageState, in_url
from pages.shared import theme, widgets

TRIANGLES_SHOWN = 200


def swap_section(state: PageState, found: Standings) -> None:
    """Two boards in one figure, and every other anchor in a table."""
    if not found.others:
        widgets.not_applicable(f"besides {state.anchor}, no model met three others and could be the anchor.")
        return
    drawn, measured = st.columns([3, 2], gap="medium")
    names = [other.anchor for other in found.others]
    worst = most_reversing(found)
    start = 0 if worst is None else names.index(worst.anchor)
    other = measured.selectbox("Compare with anchor", names, index=start, key="other", bind=widgets.URL)
    with drawn:
        behind = _figure(state, found.others[names.index(other)])
        widgets.how_to_read(
            "Each row is a model that met both anchors, with its Elo on either board. Another anchor "
            "moves the zero, so each board is centred on its mean over these models. Where the anchor "
            "does not matter the two marks of a row agree within their bars. Kendall τ compares the two "
            "orders: 1 the same, 0 unrelated, −1 reversed; with few models it takes few values. "
            "*Reversed* counts pairs of models whose order is opposite and more than chance on both "
            "boards, allowing for the number of pairs and anchors."
        )
    with measured:
        widgets.results(OTHER_ANCHORS, found.others, alt="Other anchors")
        widgets.downloads(found.to_frame(), "other-anchors")
    if behind:
        widgets.votes_table(behind, name="swapped")


def _figure(state: PageState, other: OtherAnchor) -> Mark | None:
    """Draw both boards; the votes behind the chosen mark."""
    if not other.models:
        widgets.not_applicable(f"no model met both {state.anchor} and {other.anchor}.")
        return None
    marks = {
        swap_key(anchor, model): state.votes(model, anchor=anchor)
        for anchor in (state.anchor, other.anchor)
        for model in other.models
    }
    fig = swap_figure(
        state.board,
        state.boards[other.anchor],
        other.models,
        corrected=state.corrected,
        theme=theme.current(),
        chosen=in_url("swapped"),
    )
    alt = "Centred Elo of each model against two anchors"
    chosen = widgets.figure(fig, "swapped", alt=alt, marks=list(marks))
    return marks[chosen] if chosen else None


def triangles_section(state: PageState, known: Triangles, summaries: Sequence[TriangleSummary]) -> None:
    """Triangles of models, worst first, and the votes of the chosen one's three pairs."""
    st.subheader("Do three models' gaps add up?", anchor=False)
    frame = triangles_frame(known, summaries)
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

    widgets.results(
        TRIANGLES,
        shown.itertuples(),
        alt="Triangles",
        key="triangles",
        on_select=choose,
        selection_mode="single-row",
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
            widgets.votes_table(state.votes(row[one], anchor=row[two]), name=f"triangle-{one}{two}")
