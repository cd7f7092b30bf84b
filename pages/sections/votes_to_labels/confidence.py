"""Do votes that the judge is sure of deserve more weight? Confidence-weighted counts on held-out
items.
"""

from __future__ import annotations

import streamlit as st

from core.auditing.options import AuditOptions
from core.finding.tables import Column, frame_of
from core.options import default_of
from core.questions.labels.confidence_weights import ConfidenceWeighted, confidence_weighted
from core.questions.labels.figure import changes_figure, weights_figure
from core.questions.labels.words import SIMULATED_CONFIDENCE, across_judges
from core.questions.labels.words import confidence_weighted as weighed
from pages.sections.votes_to_labels.controls import PageState
from pages.shared import cached, numbers, widgets

SPLITS: int = default_of(AuditOptions, "splits")
JUDGES = (
    Column("n", "scores.n", "d"),
    Column("votes each", "votes_per_comparison"),
    Column("unanimous", "unanimous"),
    Column("z", "weighing.z"),
    Column("slope", "weighing.slope"),
    Column("MAE change", lambda one: one.scores.mae_change[1], ends=("MAE low", "MAE high")),
    Column("DRPS change", lambda one: one.scores.drps_change[1], ends=("DRPS low", "DRPS high")),
    Column("without confidence", "without", "d"),
)


def confidence_tab(state: PageState) -> None:
    """One judge in words, every judge drawn, the weights and rules of one."""
    share = widgets.share_slider(state.controls, "weights_share")
    votes = cached.confidence_counts(state.selection)
    found, failed = cached.of_each_possible(
        "confidence weighted",
        (state.selection, state.options, share),
        {name: (counts, votes[name]) for name, counts in state.of_judge.items()},
        lambda of: confidence_weighted(
            *of, state.options, rng=widgets.seeded(), n_splits=SPLITS, share=share
        ),
    )
    one = found.get(state.judge)
    if one is None:
        widgets.not_applicable(failed[state.judge])
    else:
        with state.answer.container():
            widgets.answer(weighed(state.judge, one), part="-confidence")
            if widgets.simulated():
                st.text(SIMULATED_CONFIDENCE)
    if found:
        _drawn(state, found, one)
        numbers.table(frame_of(JUDGES, found), "weighed-judges", alt="Effect of weighing by judge")
    if one is not None:
        numbers.held_out_table(one.to_frame(), "weighed-rules", alt="Held-out errors")
    # The chosen judge has its reason above.
    widgets.without_result({name: why for name, why in failed.items() if name != state.judge})
    if one is not None:
        widgets.copy_as_python(
            f"""counts = queries.vote_counts(store, selection)[{state.judge!r}]
votes = queries.confidence_counts(store, selection)[{state.judge!r}]
options = {state.options!r}
found = confidence_weighted(
    counts, votes, options, rng=default_rng(0), n_splits={SPLITS}, share={share}
)
print(found.weighing)
print(found.to_frame().to_string())"""
        )


def _drawn(
    state: PageState, found: dict[str, ConfidenceWeighted], one: ConfidenceWeighted | None
) -> None:
    """What weighing changes for every judge, and the weights of the chosen one."""
    st.text(across_judges(found))
    drawn, curve = st.columns([3, 2], gap="medium")
    with drawn:
        scores = {name: result.scores for name, result in found.items()}
        fig = changes_figure(scores, styles=state.styles, theme=state.look)
        widgets.figure(fig, "weighed", alt="Change of held-out loss by weighing votes")
        widgets.how_to_read(
            f"Left of the line weighing helps. In each of {SPLITS} random splits the weights and "
            "the fit are learned on the calibration comparisons alone; the rest is scored, beside "
            "BTD on the same votes unweighted. Bars are intervals by item. A vote weighs by the "
            "log odds that it is right, from a logistic regression of right on stated confidence; "
            "where a calibration set does not show that confidence tells right from wrong (z below "
            "1.645) all its votes weigh alike. Repeated votes that nearly always agree, as at a "
            "low temperature, say little by their number: *unanimous* is how often they all agree."
        )
    with curve:
        if one is not None:
            st.caption("Weight by stated confidence")
            fig = weights_figure(one, style=state.styles[state.judge], theme=state.look)
            widgets.figure(fig, "weights", alt="Weight of a vote by its stated confidence")
