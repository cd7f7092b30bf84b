"""Would another anchor rank them alike? The board beside that of another anchor."""

from __future__ import annotations

import streamlit as st

from core.plots.leaderboard import swap_figure, swap_key
from core.store.queries import Mark
from core.words.standings import OtherAnchor, Standings, most_reversing
from pages.shared import theme, widgets
from pages.shared.leaderboard.asked import Asked, in_url
from pages.shared.leaderboard.columns import number

SWAP_COLUMNS = {
    "anchor": "anchor",
    "kendall_tau": number("Kendall τ", "%.2f"),
    "reversals": number(
        "reversed", "%d", "pairs of models in opposite order, more than chance on both boards"
    ),
    "models": number("models", "%d", "on both boards"),
    "mean_abs_centred_shift": number("mean shift", "%.0f", "Elo, after centring"),
    "leader": "its first",
    "mid_region_coverage": number("mid-region %", "%.0f", "models that score between 20 % and 80 %"),
    "mid_region_enough": st.column_config.CheckboxColumn("≥ 95 %"),
    "n_items": number("n", "%d", "prompts"),
}


def swap_section(asked: Asked, found: Standings) -> None:
    """Two boards in one figure, and every other anchor in a table."""
    if not found.others:
        widgets.not_applicable(f"besides {asked.anchor}, no model met three others and could be the anchor.")
        return
    drawn, measured = st.columns([3, 2], gap="medium")
    names = [other.anchor for other in found.others]
    worst = most_reversing(found)
    start = 0 if worst is None else names.index(worst.anchor)
    other = measured.selectbox("Compare with anchor", names, index=start, key="other", bind=widgets.URL)
    with drawn:
        behind = _figure(asked, found.others[names.index(other)])
        widgets.how_to_read(
            "Each row is a model that met both anchors, with its Elo on either board. Another anchor "
            "moves the zero, so each board is centred on its mean over these models. Where the anchor "
            "does not matter the two marks of a row agree within their bars. Kendall τ compares the two "
            "orders: 1 the same, 0 unrelated, −1 reversed; with few models it takes few values. "
            "*Reversed* counts pairs of models whose order is opposite and more than chance on both "
            "boards, allowing for the number of pairs and anchors."
        )
    with measured:
        frame = found.to_frame()
        st.dataframe(
            frame[list(SWAP_COLUMNS)].assign(mid_region_coverage=100 * frame["mid_region_coverage"]),
            hide_index=True,
            column_config=SWAP_COLUMNS,
            alt="Other anchors",
        )
        widgets.downloads(frame, "other-anchors")
    if behind:
        widgets.votes_table(behind, name="swapped")


def _figure(asked: Asked, other: OtherAnchor) -> Mark | None:
    """Draw both boards; the votes behind the chosen mark."""
    if not other.models:
        widgets.not_applicable(f"no model met both {asked.anchor} and {other.anchor}.")
        return None
    marks = {
        swap_key(anchor, model): Mark(models=(model, anchor), judge=asked.judge)
        for anchor in (asked.anchor, other.anchor)
        for model in other.models
    }
    fig = swap_figure(
        asked.board,
        asked.boards[other.anchor],
        other.models,
        corrected=asked.corrected,
        theme=theme.current(),
        chosen=in_url("swapped"),
    )
    alt = "Centred Elo of each model against two anchors"
    chosen = widgets.figure(fig, "swapped", alt=alt, marks=list(marks))
    return marks[chosen] if chosen else None
