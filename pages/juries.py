"""Is a jury better than its best judge?"""

import streamlit as st

from core.consensus.ensembles import RULES
from core.interpretation.juries import answer, jury_answer
from pages.sections.juries.jury import judged, read_controls, rules_tab, without_tab
from pages.shared import cached, widgets

KINDS = {
    "stated": "Confidence is what the members state.",
    "share": (
        "A member's confidence is the share of its votes on a comparison "
        "that agree: not all state one."
    ),
    "none": "Members state no confidence and vote once, so only heads and pooled votes count.",
}

widgets.title("Juries", "Is a jury better than its best judge?")
head = st.container()
state = read_controls()
jury, found = cached.computed("jury", state.key, lambda: judged(state))
with head:
    widgets.answer(jury_answer(found))
    widgets.in_full(answer(found))
    left = (
        f" {found.left_out:,} comparisons that not all judged are left out."
        if found.left_out
        else ""
    )
    st.caption(f"{found.n:,} comparisons. {KINDS[jury.kind]}{left}")
widgets.tabs(
    {
        "Rules": lambda: rules_tab(state, found),
        "Without one judge": lambda: without_tab(state, found),
    },
    key="jury-tab",
)
for key, reason in found.not_applicable.items():
    widgets.not_applicable(f"{RULES[key].name if key in RULES else key}: {reason}")
widgets.copy_as_python(
    f"""counts = queries.vote_counts(store, selection)
votes = queries.confidence_counts(store, selection)
jury = ensemble_members({{name: counts[name] for name in {state.jury!r}}}, votes)
fusers = {{name: fuser_verdicts(jury, counts[name], votes[name]) for name in {state.fusers!r}}}
costs = queries.costs(store, selection)
found = compare_ensembles(
    jury, rng=default_rng(0), fusers=fusers, costs=costs, epsilon={state.epsilon}
)
print(found.to_frame())"""
)
