"""Which label does it give for which?"""

import streamlit as st

from core.finding.tables import frame_of
from core.questions.agreement.words import ACCURACY, confusion, errors_answer
from pages.sections.errors.tables import COMPARED, accuracies_section, matrix_section, read_controls
from pages.shared import cards, numbers, parts, widgets

widgets.title("confusion", "Which label does it give for which?")


def page() -> None:
    answer = st.container()
    state = read_controls()
    with answer:
        noun = COMPARED[state.compared]
        widgets.answer(errors_answer(state.judge, state.accuracy, state.table, noun))
        widgets.beside_judge(state.judge, state.worst)
        full = confusion(state.accuracy, state.table, noun=noun)
        widgets.in_full(f"{full.judge}: {full.sentence}")

    matrix, others = st.columns([1, 1], gap="medium")
    with matrix:
        cell = matrix_section(state)
    with others:
        wrong = accuracies_section(state)
    cards.votes_behind(cell, name="cell")
    cards.votes_behind(wrong, name="wrong")
    numbers.table(frame_of(ACCURACY, state.tables), "confusion", alt="Share right by gold")
    st.caption("*right: A better* is the share right where gold says that A is better, and so on.")
    for name, reason in state.reasons.items():
        widgets.not_applicable(f"{name}: {reason}")
    given = {
        "votes": "None",
        "majority": "counts.label",
        "BTD": "held_out_labels(counts, rng=default_rng(0))",
    }
    widgets.copy_as_python(
        f"""counts = queries.vote_counts(store, selection)[{state.judge!r}]
table = confusion(counts, labels={given[state.compared]}, ties={state.ties!r})
print(table.accuracy, table.n)
print(table.counts)"""
    )


parts.body(page)
