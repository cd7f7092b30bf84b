"""Which model is better, against which anchor, and would another anchor rank them alike?"""

from dataclasses import replace

import streamlit as st

from core.errors import NoUsableVotes
from core.questions.boards.words import board_answer, circle_of, leader_sentence, parts_of
from pages.sections.leaderboard.board import board_tab, swap_tab
from pages.sections.leaderboard.controls import all_triangles, read_controls, standing
from pages.sections.leaderboard.judges import judges_tab
from pages.sections.leaderboard.others import outside_tab, ratings_tab
from pages.sections.leaderboard.prompts import prompts_tab, tasks_tab
from pages.sections.leaderboard.scores import only_scores, scores_tab
from pages.shared import widgets

widgets.title("leaderboard", "Which model is better, against which anchor?")
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
    said = board_answer(
        found,
        summaries,
        corrected=state.corrected,
        circle=circle_of(state.boards),
        parts=parts_of(state.boards),
    )
    widgets.answer(replace(said, good=said.good and not state.apart))
    if state.apart:
        st.text(state.apart)
    widgets.in_full(leader_sentence(found, summaries, corrected=state.corrected))

widgets.tabs(
    {
        "Board": lambda: board_tab(state),
        "Another anchor": lambda: swap_tab(state, found, triangles, summaries),
        "Other ratings": lambda: ratings_tab(state),
        "Judges": lambda: judges_tab(state),
        "Abstention": lambda: prompts_tab(state),
        "Categories": lambda: tasks_tab(state),
        "Direct scores": lambda: scores_tab(state),
        "Outside board": lambda: outside_tab(state),
    }
)
