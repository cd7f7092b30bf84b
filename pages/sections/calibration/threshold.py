"""From which confidence up can it be trusted? Error against the share kept, and a threshold that holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.confidence.selective import RiskThreshold, risk_coverage, threshold_for_risk
from core.interpretation import sentences
from core.plots.calibration import cut_key, risk_figure
from core.reporting import tables
from core.store.vote_queries import Mark
from pages.sections.calibration.comparisons import ask_sureness, ask_target, comparisons_section
from pages.sections.calibration.controls import JUST_BELOW, Asked, of_each, subject
from pages.shared import widgets


def threshold_tab(asked: Asked, tab: Any) -> None:
    """The threshold for the errors allowed in words, the curve with it, its table."""
    drawn, told = st.columns([3, 2], gap="medium")
    said = told.container()
    alpha, delta = ask_target(told)
    unit = widgets.choice(
        "Keep or drop",
        ["votes", "comparisons"],
        default="votes",
        key="unit",
        place=told,
        help="votes: each by its stated confidence. comparisons: one label each, made from all of its votes.",
    )
    sureness = ask_sureness(told) if unit == "comparisons" else None
    if not tab.open:
        return
    if sureness:
        comparisons_section(asked.selection, asked.judge, sureness, alpha, delta, drawn=drawn, told=said)
        return
    judge = subject(asked)
    curves = of_each(asked, "risk", (), risk_coverage)
    every = of_each(
        asked, "threshold", (alpha, delta), lambda known: threshold_for_risk(known, alpha=alpha, delta=delta)
    )
    said.text(sentences.selective(judge, curves[judge], every[judge], noun=asked.noun))
    found = {name: every[name] for name in asked.shown}
    marks = _marks(asked, found)
    with drawn:
        fig = risk_figure(
            {name: curves[name] for name in asked.shown},
            found,
            styles=asked.styles,
            theme=asked.look,
            chosen=st.session_state.get("kept"),
        )
        alt = "Error rate against the share of votes kept"
        chosen = widgets.figure(fig, "kept", alt=alt, marks=list(marks), prompt="Votes kept by")
        widgets.how_to_read(
            "From left to right ever less certain votes are kept; a useful confidence makes the curve rise, "
            "a useless one leaves it flat. Bands are 95 % intervals of the error rate. The filled mark is "
            "the lowest threshold that holds the target, its bar the bound that holds with the "
            "certainty asked for; hollow marks were tried and not passed (shown for a single judge).\n\nUp "
            "to 20 thresholds, fixed before looking at labels, are tested from the strictest on until "
            "one fails. Picking the best-looking one instead would break its promise far more often than "
            "it says. No threshold is a valid answer: then its confidence cannot deliver that error rate. "
            "The promise is for votes like these. *AURC* is the mean error rate over all shares kept; a "
            "confidence that says nothing has AURC equal to the overall error rate."
        )
    if chosen:
        wrong = st.toggle("Only the wrong ones", key="kept_wrong", bind=widgets.URL)
        widgets.votes_table(replace(marks[chosen], correct=False) if wrong else marks[chosen], name="kept")
    widgets.table(
        tables.thresholds(found, curves), "thresholds", alt="Threshold of each judge and what it costs"
    )
    widgets.copy_as_python(
        f"""outcomes = queries.outcomes(store, selection, rule={asked.rule!r})[{judge!r}]
found = threshold_for_risk(outcomes, alpha={alpha!r}, delta={delta!r})
print(found.threshold, found.coverage, found.error_rate, found.bound, found.note)
print(risk_coverage(outcomes).aurc)"""
    )


def _marks(asked: Asked, found: dict[str, RiskThreshold]) -> dict[str, Mark]:
    """Votes kept by each threshold drawn: every one tried for a single judge, else the one that holds."""
    marks = {}
    for name, one in found.items():
        cuts = one.cut.tolist() if len(found) == 1 else [] if one.threshold is None else [one.threshold]
        for cut in cuts:
            kept = (cut - JUST_BELOW, 1.0)
            marks[cut_key(name, cut)] = Mark(judge=name, confidence=kept, rule=asked.rule)
    return marks
