"""Where is it wrong, and who is right?"""

import streamlit as st

from core.labelling.disagreements import disagreements, in_short
from pages.sections.errors.tables import matrix_section, read_controls
from pages.shared import cached, cards, numbers, parts, share, widgets

widgets.title("examples", "Where is it wrong, and who is right?")
MOST_ANSWERS = 5


def page() -> None:
    counts = cached.vote_counts(widgets.current_selection())
    if any(len(one.labelled()) for one in counts.values()):
        state = read_controls()
        cards.error_cards(state.judge)
        cards.votes_behind(matrix_section(state), name="cell")
    else:
        # Without gold: what changed when it was swapped, and what people say.
        people = widgets.current_people()
        judges = sorted(counts, key=lambda name: (name in people, name))
        cards.error_cards(widgets.judge(judges, start=judges[0], why="first"))


def answers() -> None:
    """Single answers on which judge and people differ, those in which the judge is most likely
    right first.
    """
    audited = share.found()
    found = disagreements(cached.where(widgets.current_selection())[0], audited, with_agreements=0)
    if not audited.scores or not len(found):
        return
    st.subheader("Single answers on which judge and people differ", anchor=False)
    for row in found.slice(0, MOST_ANSWERS).to_pylist():
        about, said = in_short(row)
        shown = [row[name] for name in ("question", "answer", "judge_reason") if row[name]]
        with st.container(border=True):
            st.text("\n\n".join([about, f"{said}.", *shown]))
    numbers.table(
        found.to_pandas(), "disagreements", alt="Answers on which judge and people differ"
    )


@parts.body
def all_kinds() -> None:
    if cached.summary(widgets.current_selection()).judges:
        page()
    answers()
