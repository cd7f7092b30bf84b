"""Is a jury better than its best judge?"""

import streamlit as st

from core.questions.juries.method import RULES
from core.questions.juries.words import jury_answer, jury_sentence
from pages.sections.juries.jury import judged, read_controls, rules_tab, without_tab
from pages.shared import cached, widgets

KINDS = {
    "stated": "Confidence is what the members state.",
    "share": "A member's confidence is the share of its votes on a comparison that agree.",
    "none": "Members state no confidence and vote once, so only heads and pooled votes count.",
}

widgets.title("juries", "Is a jury better than its best judge?")
head = st.container()
state = read_controls()
jury, found = cached.computed("jury", state.key, lambda: judged(state))
with head:
    widgets.answer(jury_answer(found))
    widgets.in_full(jury_sentence(found))
    left = (
        f" {found.left_out:,} comparisons that not all judged are left out."
        if found.left_out
        else ""
    )
    st.caption(f"{found.n:,} comparisons. {KINDS[jury.kind]}{left}")
widgets.tabs(
    {
        "Rules": lambda: rules_tab(state, found),
        "Without one judge": lambda: without_tab(state, jury, found),
    }
)
for key, reason in found.not_applicable.items():
    widgets.not_applicable(f"{RULES[key].name if key in RULES else key}: {reason}")
widgets.copy_as_python(
    f"""found = judge_jury(
    queries.vote_counts(store, selection),
    queries.confidence_counts(store, selection),
    rng=default_rng(0),
    jury={state.jury!r},
    fusers={state.fusers!r},
    by={state.by!r},
    costs=queries.costs(store, selection),
    epsilon={state.epsilon},
)
print(found.table.to_frame())"""
)
