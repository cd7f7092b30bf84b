"""What are the votes worth that it is nearly certain of? TH-Score over ε, accuracy and share beneath."""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from core.confidence.th_scores import Scale, th_score, th_sweep
from core.interpretation.calibration import NEAR_CERTAIN, near_certain
from core.interpretation.tables import frame_of
from core.plots.calibration import cut_key, th_figure
from core.store.vote_queries import Mark
from pages.sections.calibration.controls import JUST_BELOW, PageState, of_each, subject
from pages.shared import widgets


def near_certain_tab(state: PageState, tab: Any) -> None:
    """The score at the chosen ε in words, its sweep, its table."""
    drawn, beside = st.columns([3, 2], gap="medium")
    scale: Scale = widgets.choice("Scale", get_args(Scale), default="formula", key="scale", place=beside)
    epsilon = round(beside.slider("ε", 0.01, 0.49, 0.10, 0.01, key="epsilon", bind=widgets.URL), 2)
    if not tab.open:
        return
    judge = subject(state)
    every = of_each(state, "th score", (scale, epsilon), lambda known: th_score(known, epsilon, scale=scale))
    swept = of_each(state, "th sweep", (scale,), lambda known: th_sweep(known, scale=scale))
    scores = {name: every[name] for name in state.shown}
    sweeps = {name: swept[name] for name in state.shown}
    beside.text(near_certain(judge, every[judge], noun=state.noun))
    marks = _marks(state, epsilon)
    with drawn:
        fig = th_figure(
            sweeps,
            scores,
            epsilon,
            styles=state.styles,
            theme=state.look,
            chosen=st.session_state.get("sure"),
        )
        alt = "TH-Score, accuracy and share over ε"
        chosen = widgets.figure(fig, "sure", alt=alt, marks=list(marks), prompt="Nearly certain votes of")
        widgets.how_to_read(
            "TH-Score asks what the votes are worth that a judge is nearly certain of: (exp(share right − ½) "
            "− 1) × their share in percent. Above 0 they are right more often than a coin; it grows with how "
            "often they are right and with how many they are. Bands and bars are 95 % intervals by item."
        )
    with beside:
        st.caption(
            "The published tables of this score hold half of what its formula gives, in every row (accuracy "
            "1.00 on 37.4 % of votes: formula 24.26, printed 12.14). *formula* is the score as defined; "
            "*published* halves it, to compare with those tables."
        )
    if chosen:
        widgets.votes_table(marks[chosen], name="sure")
    widgets.table(frame_of(NEAR_CERTAIN, scores), "th-score", alt="TH-Score of each judge at the chosen ε")
    widgets.copy_as_python(
        f"""outcomes = queries.outcomes(store, selection, rule={state.rule!r})[{judge!r}]
found = th_score(outcomes, {epsilon}, scale={scale!r})
print(found.th.value, found.share, found.accuracy, found.n)
print(th_sweep(outcomes, scale={scale!r}).to_frame())"""
    )


def _marks(state: PageState, epsilon: float) -> dict[str, Mark]:
    """Nearly certain votes of each judge, those that they are right and those that they are wrong."""
    marks = {}
    for name in state.shown:
        confidence = state.outcomes[name].confidence
        if (confidence > 1 - epsilon + JUST_BELOW).any():
            over = (1 - epsilon, 1.0)
            marks[cut_key(name, 1 - epsilon)] = Mark(judge=name, confidence=over, rule=state.rule)
        if (confidence < epsilon - JUST_BELOW).any():
            under = (0.0, epsilon - JUST_BELOW)
            marks[f"{name}: under {epsilon:g}"] = Mark(judge=name, confidence=under, rule=state.rule)
    return marks
