"""Which model is better, against which anchor, and would another anchor rank them alike?"""

import streamlit as st

from core.errors import NoUsableVotes
from core.interpretation.leaderboard import answer, sound
from pages.sections.leaderboard.board import board_tab
from pages.sections.leaderboard.controls import all_triangles, read_controls, standing
from pages.sections.leaderboard.debiased import debiased_tab
from pages.sections.leaderboard.judges import judges_tab
from pages.sections.leaderboard.outside import outside_tab
from pages.sections.leaderboard.prompts import prompts_tab
from pages.sections.leaderboard.ratings import ratings_tab
from pages.sections.leaderboard.scores import only_scores, scores_tab
from pages.sections.leaderboard.swap import swap_section, triangles_section
from pages.sections.leaderboard.tasks import tasks_tab
from pages.shared import widgets

PARTS = {
    "Other ratings": ratings_tab,
    "Judges": judges_tab,
    "Abstention": prompts_tab,
    "Categories": tasks_tab,
    "Debiased": debiased_tab,
    "Direct scores": scores_tab,
    "Outside board": outside_tab,
}

widgets.title("Leaderboard", "Which model is better, against which anchor?")
if only_scores(widgets.current_selection()):
    st.stop()
head = st.container()
try:
    state = read_controls()
except NoUsableVotes as error:
    # Votes that rank nobody may come with direct scores that do.
    if not only_scores(widgets.current_selection(), no_board=True):
        raise
    head.text(f"Of the votes: {error}")
    st.stop()
found = standing(state)
triangles, summaries = all_triangles(state)
with head:
    kind = "finding" if sound(found, summaries) else "warning"
    widgets.answer(answer(found, summaries, corrected=state.corrected), kind)

on_board, on_swap, *parts = st.tabs(["Board", "Another anchor", *PARTS], key="board", bind=widgets.URL)
with on_board:
    if on_board.open:
        board_tab(state)
with on_swap:
    if on_swap.open:
        swap_section(state, found)
        triangles_section(state, triangles, summaries)
for tab, part in zip(parts, PARTS.values(), strict=True):
    if tab.open:
        with tab:
            part(state)

if on_board.open or on_swap.open:
    options = ", ".join(f"{name}={value!r}" for name, value in state.options.items())
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)[{state.judge!r}]
print(board(pairs, {state.anchor!r}, {options}).to_frame().to_string())
print(anchor_swap(pairs, anchors={state.compared!r}, prior={state.prior!r}).to_frame())
print(triangles(pairs, prior={state.prior!r}).to_frame())"""
    )
