"""Where is it wrong, and who is right?"""

from pages.sections.errors.tables import matrix_section, read_controls
from pages.shared import cached, cards, parts, widgets

widgets.title("examples", "Where is it wrong, and who is right?")


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


@parts.body
def all_kinds() -> None:
    if cached.summary(widgets.current_selection()).judges:
        page()
    cards.answers()
