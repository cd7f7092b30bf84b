"""Do votes that the judge is sure of deserve more weight? Confidence-weighted counts on held-out items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.aggregation.confidence_weights import ConfidenceWeighted, confidence_weighted
from core.errors import AppellateError
from core.interpretation.aggregation import SIMULATED_CONFIDENCE, across_judges
from core.interpretation.aggregation import confidence_weighted as weighed
from core.plots.aggregation import changes_figure, weights_figure
from pages.sections.aggregation.controls import PageState, share_slider
from pages.shared import cached, widgets
from pages.shared.columns import RULES, RULES_CAPTION

SPLITS = 100


def confidence_tab(state: PageState) -> None:
    """One judge in words, every judge drawn, the weights and rules of one."""
    share = share_slider(state.controls, "weights_share")
    made = (state.selection, state.options, share)
    found, failed = cached.computed("confidence weighted", made, lambda: _all(state, share))
    one = found.get(state.judge)
    if one is None:
        widgets.not_applicable(failed[state.judge])
    else:
        with state.answer.container():
            widgets.answer(weighed(state.judge, one), part="-confidence")
            if any(each.simulated and each.name == widgets.current_dataset() for each in cached.datasets()):
                st.text(SIMULATED_CONFIDENCE)
    if found:
        _drawn(state, found, one)
        widgets.table(_judges(found), "weighed-judges", alt="Effect of weighing by judge")
    if one is not None:
        st.caption(RULES_CAPTION)
        rules = one.to_frame()[list(RULES)].rename(columns=RULES)
        widgets.table(rules, "weighed-rules", alt="Held-out errors")
    # The chosen judge has its reason above.
    widgets.without_result({name: why for name, why in failed.items() if name != state.judge})
    if one is not None:
        _copy(state, share)


def _drawn(state: PageState, found: dict[str, ConfidenceWeighted], one: ConfidenceWeighted | None) -> None:
    """What weighing changes for every judge, and the weights of the chosen one."""
    styles = cached.styles(widgets.current_dataset(), state.look)
    st.text(across_judges(found))
    drawn, curve = st.columns([3, 2], gap="medium")
    with drawn:
        scores = {name: result.scores for name, result in found.items()}
        fig = changes_figure(scores, styles=styles, theme=state.look)
        widgets.figure(fig, "weighed", alt="Change of held-out loss by weighing votes")
        widgets.how_to_read(
            "Left of the line weighing helps. In each of 100 random splits the weights and the fit are "
            "learned on the calibration comparisons alone; the rest is scored, beside BTD on the same votes "
            "unweighted. Bars are intervals by item. A vote weighs by the log odds that it is "
            "right, from a logistic regression of right on stated confidence; where a calibration set does "
            "not show that confidence tells right from wrong (z below 1.645) all its votes weigh alike. "
            "Repeated votes that nearly always agree, as at a low temperature, say little by their number: "
            "*unanimous* is how often they all agree."
        )
    with curve:
        if one is not None:
            st.caption("Weight by stated confidence")
            fig = weights_figure(one, style=styles[state.judge], theme=state.look)
            widgets.figure(fig, "weights", alt="Weight of a vote by its stated confidence")


def _copy(state: PageState, share: float) -> None:
    widgets.copy_as_python(
        f"""counts = queries.vote_counts(store, selection)[{state.judge!r}]
votes = queries.single_votes(store, selection)[{state.judge!r}]
options = {state.options!r}
found = confidence_weighted(
    counts, votes, options, rng=default_rng(0), n_splits={SPLITS}, share={share}
)
print(found.weighing)
print(found.to_frame().to_string())"""
    )


def _all(state: PageState, share: float) -> tuple[dict[str, ConfidenceWeighted], dict[str, str]]:
    """Each judge's result, or why it has none."""
    found, failed = {}, {}
    votes = cached.single_votes(state.selection)
    for name, counts in state.of_judge.items():
        try:
            found[name] = confidence_weighted(
                counts,
                votes[name],
                state.options,
                rng=np.random.default_rng(0),
                n_splits=SPLITS,
                share=share,
            )
        except AppellateError as error:
            failed[name] = str(error)
    return found, failed


def _judges(found: dict[str, ConfidenceWeighted]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "judge": name,
                "n": one.scores.n,
                "votes each": one.votes_per_comparison,
                "unanimous": one.unanimous,
                "z": one.weighing.z,
                "slope": one.weighing.slope,
                "MAE change": one.scores.mae_change.value[1],
                "MAE low": one.scores.mae_change.low[1],
                "MAE high": one.scores.mae_change.high[1],
                "DRPS change": one.scores.drps_change.value[1],
                "DRPS low": one.scores.drps_change.low[1],
                "DRPS high": one.scores.drps_change.high[1],
                "without confidence": one.without,
            }
            for name, one in found.items()
        ]
    )
