"""Which model is better, against which anchor, and would another anchor rank them alike?"""

import streamlit as st

from core.board_sentences import answer, sound
from pages.shared import widgets
from pages.shared.leaderboard.asked import all_triangles, ask, standing
from pages.shared.leaderboard.board import board_tab
from pages.shared.leaderboard.swap import swap_section
from pages.shared.leaderboard.triangles import triangles_section

widgets.title("Leaderboard", "Which model is better, against which anchor?")
said = st.container()
asked = ask()
found = standing(asked)
triangles, told = all_triangles(asked)
with said:
    kind = "finding" if sound(found, told) else "warning"
    widgets.answer(answer(found, told, corrected=asked.corrected), kind)

on_board, on_swap = st.tabs(["Board", "Another anchor"], key="board", bind=widgets.URL)
with on_board:
    if on_board.open:
        board_tab(asked)
with on_swap:
    if on_swap.open:
        swap_section(asked, found)
        triangles_section(asked, triangles, told)

options = ", ".join(f"{name}={value!r}" for name, value in asked.options.items())
widgets.copy_as_python(
    f"""from core.anchors import anchor_swap, triangles
from core.raee import board

pairs = queries.pair_scores(store, selection, pooled=True)[{asked.judge!r}]
print(board(pairs, {asked.anchor!r}, {options}).to_frame().to_string())
print(anchor_swap(pairs, anchors={asked.compared!r}, prior={asked.prior!r}).to_frame())
print(triangles(pairs, prior={asked.prior!r}).to_frame())"""
)
