"""Which of its votes or labels can be trusted? The nearly certain ones, and those above a
threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import pandas as pd
import streamlit as st

from core.auditing.options import AuditOptions
from core.errors import NoUsableVotes, TooFewLabels
from core.finding.tables import frame_of
from core.options import default_of
from core.questions.confidence import figure as plots
from core.questions.confidence import selective
from core.questions.confidence import words as sentences
from core.questions.confidence.alone import RiskThreshold, threshold_for_risk
from core.questions.confidence.th_scores import Scale, th_score, th_sweep
from core.records import NO_GOLD, ConfidenceCounts, VoteCounts
from core.store.vote_queries import Mark
from pages.sections.calibration.controls import (
    JUST_BELOW,
    PageState,
    of_each,
    read_controls,
    subject,
)
from pages.shared import cached, cards, many, numbers, widgets

MADE_BY = {
    "share": "by_share(counts)",
    "stated": "by_stated_confidence(counts, queries.confidence_counts(store, selection)[judge])",
    "btd": "by_btd(counts, rng=default_rng(0))",
}


def near_certain_tab(state: PageState) -> None:
    """The score at the chosen ε in words, its sweep, its table."""
    drawn, beside = st.columns([3, 2], gap="medium")
    scale: Scale = widgets.choice(
        "Scale", get_args(Scale), default="formula", key="scale", place=beside
    )
    middle: float = default_of(AuditOptions, "epsilons")[1]
    typed = beside.slider("ε", 0.01, 0.49, middle, 0.01, key="epsilon", bind=widgets.URL)
    epsilon = round(typed, 2)
    judge = subject(state)
    every = of_each(
        state, "th score", (scale, epsilon), lambda known: th_score(known, epsilon, scale=scale)
    )
    swept = of_each(state, "th sweep", (scale,), lambda known: th_sweep(known, scale=scale))
    scores = {name: every[name] for name in state.shown}
    sweeps = {name: swept[name] for name in state.drawn}
    beside.text(sentences.near_certain(judge, every[judge], noun=state.noun))
    marks = _nearly_certain(state, epsilon)
    with drawn:
        fig = plots.th_figure(
            sweeps,
            scores,
            epsilon,
            styles=state.styles,
            theme=state.look,
            chosen=st.session_state.get("sure"),
        )
        alt = "TH-Score, accuracy and share over ε"
        chosen = widgets.figure(fig, "sure", alt=alt, marks=marks, prompt="Nearly certain votes of")
        widgets.how_to_read(
            "TH-Score asks what the votes are worth that a judge is nearly certain of: (exp(share "
            "right − ½) − 1) × their share in percent. Above 0 they are right more often than a "
            "coin; it grows with how often they are right and with how many they are. Bands and "
            "bars are 95 % intervals by item."
        )
    with beside:
        st.caption(
            "The published tables of this score hold half of what its formula gives, in every row "
            "(accuracy 1.00 on 37.4 % of votes: formula 24.26, printed 12.14). *formula* is the "
            "score as defined; *published* halves it, to compare with those tables."
        )
    cards.votes_behind(chosen, name="sure")
    numbers.table(
        frame_of(sentences.NEAR_CERTAIN, scores),
        "th-score",
        alt="TH-Score of each judge at the chosen ε",
    )
    widgets.copy_as_python(
        f"""outcomes = {state.python(judge)}
found = th_score(outcomes, {epsilon}, scale={scale!r})
print(found.th.value, found.share, found.accuracy, found.n)
print(th_sweep(outcomes, scale={scale!r}).to_frame())"""
    )


def _nearly_certain(state: PageState, epsilon: float) -> dict[str, Mark]:
    """Nearly certain votes of each judge, those that they are right and those that they
    are wrong.
    """
    marks: dict[str, Mark] = {}
    for name in state.shown:
        confidence = state.outcomes[name].confidence
        if (confidence > 1 - epsilon + JUST_BELOW).any():
            over = (1 - epsilon, 1.0)
            marks[plots.cut_key(name, 1 - epsilon)] = Mark(
                judge=name, confidence=over, rule=state.marked
            )
        if (confidence < epsilon - JUST_BELOW).any():
            under = (0.0, epsilon - JUST_BELOW)
            marks[f"{name}: under {epsilon:g}"] = Mark(
                judge=name, confidence=under, rule=state.marked
            )
    return marks


def threshold_tab(state: PageState, tab: Any) -> None:
    """The threshold for the errors allowed in words, the curve with it, its table."""
    drawn, beside = st.columns([3, 2], gap="medium")
    answer = beside.container()
    alpha, delta = read_target(beside)
    # By share of votes no single vote has a confidence, so only comparisons can be kept.
    unit = (
        "comparisons"
        if state.by_share
        else widgets.choice(
            "Keep or drop",
            ["votes", "comparisons"],
            key="unit",
            place=beside,
            help=(
                "votes: each by its stated confidence. comparisons: one label "
                "each, made from all of its votes."
            ),
        )
    )
    sureness = read_sureness(beside) if unit == "comparisons" else None
    if not tab.open:
        return
    if sureness:
        comparisons_section(state.judge, sureness, alpha, delta, drawn=drawn, beside=answer)
        return
    judge = subject(state)
    curves = of_each(state, "risk", (), selective.risk_coverage)
    every = of_each(
        state,
        "threshold",
        (alpha, delta),
        lambda known: threshold_for_risk(known, alpha=alpha, delta=delta),
    )
    answer.text(sentences.selective(judge, curves[judge], every[judge], noun=state.noun))
    found = {name: every[name] for name in state.shown}
    marks = _kept_votes(state, found)
    with drawn:
        fig = plots.risk_figure(
            {name: curves[name] for name in state.drawn},
            found,
            styles=state.styles,
            theme=state.look,
            chosen=st.session_state.get("kept"),
        )
        alt = "Error rate against the share of votes kept"
        chosen = widgets.figure(fig, "kept", alt=alt, marks=marks, prompt="Votes kept by")
        widgets.how_to_read(
            "From left to right ever less certain votes are kept; a useful confidence makes the "
            "curve rise, a useless one leaves it flat. Bands are 95 % intervals of the error rate. "
            "The filled mark is the lowest threshold that holds the target, its bar the bound that "
            "holds with the certainty asked for; hollow marks were tried and not passed (shown for "
            "a single judge).\n\nEvery confidence is a threshold to test, from the strictest that "
            "can bear an error on until one fails; then all votes together. Picking the "
            "best-looking one instead would break its promise far more often than it says. No "
            "threshold is a valid answer: then its confidence cannot deliver that error rate. The "
            "promise is for votes like these. *AURC* is the mean error rate over all shares kept; "
            "a confidence that says nothing has AURC equal to the overall error rate."
        )
    if chosen:
        wrong = st.toggle("Only the wrong ones", key="kept_wrong", bind=widgets.URL)
        cards.votes_behind(replace(chosen, correct=False) if wrong else chosen, name="kept")
    numbers.table(
        frame_of(sentences.THRESHOLDS, {name: (one, curves[name]) for name, one in found.items()}),
        "thresholds",
        alt="Threshold of each judge and what it costs",
    )
    widgets.copy_as_python(
        f"""outcomes = {state.python(judge)}
found = threshold_for_risk(outcomes, alpha={alpha!r}, delta={delta!r})
print(found.threshold, found.coverage, found.error_rate, found.bound, found.note)
print(risk_coverage(outcomes).aurc)"""
    )


def _kept_votes(state: PageState, found: dict[str, RiskThreshold]) -> dict[str, Mark]:
    """Votes kept by each threshold drawn: every one tried for a single judge, else the one that
    holds.
    """
    marks = {}
    for name, one in found.items():
        cuts = (
            one.cut[plots.cuts_drawn(one)].tolist()
            if len(found) == 1
            else []
            if one.threshold is None
            else [one.threshold]
        )
        for cut in cuts:
            kept = (cut - JUST_BELOW, 1.0)
            marks[plots.cut_key(name, cut)] = Mark(judge=name, confidence=kept, rule=state.rule)
    return marks


def read_target(place: Any) -> tuple[float, float]:
    """Share of errors allowed, and the probability allowed that the promise is broken."""
    allowed = place.slider(
        "Errors allowed, %", 0.5, 50.0, 10.0, 0.5, "%.1f", key="target", bind=widgets.URL
    )
    certainty = widgets.choice(
        "Certainty, %", ["80", "90", "95", "99"], default="90", key="certainty", place=place
    )
    return allowed / 100, (100 - int(certainty)) / 100


def read_sureness(place: Any) -> selective.Sureness:
    """What makes a label sure."""
    names = {name: key for key, name in sentences.SURENESS_NAMES.items()}
    first = sentences.SURENESS_NAMES["share"]
    return names[
        widgets.choice(
            "How sure a label is", list(names), default=first, key="sureness", place=place
        )
    ]


def with_confidence(draw: Callable[[PageState], None]) -> None:
    """Draw what confidences say, below the controls that select them, or what is left without."""
    try:
        state = read_controls()
    except NoUsableVotes as error:
        _without_confidence(str(error))
    else:
        draw(state)


def _without_confidence(reason: str) -> None:
    """What can be said where no vote states a confidence: a label is as sure as its votes agree."""
    widgets.not_applicable(reason)
    summary = cached.summary(widgets.current_selection())
    if not any(judge.labelled for judge in summary.judges):
        # Without gold no error is known, whatever a label's sureness.
        widgets.doors()
        return
    st.text(
        "Without stated confidences, which labels can be kept? By how far the votes of a "
        "comparison agree:"
    )
    drawn, beside = st.columns([3, 2], gap="medium")
    answer = beside.container()
    alpha, delta = read_target(beside)
    sureness = read_sureness(beside)
    comparisons_section(None, sureness, alpha, delta, drawn=drawn, beside=answer)


def comparisons_section(
    judge: str | None,
    sureness: selective.Sureness,
    alpha: float,
    delta: float,
    *,
    drawn: Any,
    beside: Any,
) -> None:
    """The guarantee in words, the curve with its cuts, its table; `judge` None shows all."""
    selection = widgets.current_selection()
    votes = cached.confidence_counts(selection) if sureness == "stated" else {}
    decisions, reasons = cached.of_each_possible(
        "decisions",
        (selection, sureness),
        {name: (counts, votes.get(name)) for name, counts in cached.vote_counts(selection).items()},
        lambda of: _decided(*of, sureness),
        unless=NoUsableVotes,
    )
    found = cached.of_each(
        "guarantees",
        (selection, sureness, alpha, delta),
        decisions,
        lambda one: selective.guarantee(one, alpha=alpha, delta=delta, rng=widgets.seeded()),
    )
    # Where no threshold holds, the share of right labels tells.
    kept = {
        name: _share_right(decisions[name]) - 1 if one.kept is None else one.kept.value
        for name, one in found.items()
    }
    names: Sequence[str] = [judge] if judge else many.sorted_by(kept, "best first")
    if judge not in found and (judge or not found):
        with beside:
            name, reason = (
                (judge, reasons.get(judge or "")) if judge else next(iter(reasons.items()))
            )
            widgets.not_applicable(f"{name} has {reason or 'no vote here'}.")
        return
    subject = judge or names[0]
    with drawn:
        few = [judge] if judge else many.in_order(kept, key="kept").drawn
    beside.text(sentences.guaranteed(subject, found[subject]))
    for name, reason in reasons.items() if judge is None else ():
        beside.text(f"Left out: {name} has {reason}.")
    curves = {
        name: selective.risk_coverage(selective.label_outcomes(decisions[name])) for name in few
    }
    marks = _kept_comparisons(names, decisions, found)
    with drawn:
        fig = plots.guarantee_figure(
            curves,
            {name: found[name] for name in few},
            styles=widgets.current_styles(),
            theme=widgets.current_look(),
            chosen=st.session_state.get("settled"),
        )
        alt = "Wrong labels against the share of comparisons kept"
        picked = widgets.figure(fig, "settled", alt=alt, marks=marks, prompt="Comparisons kept by")
        widgets.how_to_read(
            "Here a judge gives each comparison one label, from all of its votes there. From left "
            "to right ever less sure labels are kept. Curves are over all comparisons with gold, "
            "bands 95 % intervals by item. The filled mark is the lowest threshold that holds the "
            "target.\n\nComparisons of one item are not independent, so one of each item is drawn "
            "at random and the threshold is tested on those: marks may lie off the curve. The "
            "promise is for a comparison drawn from an item like these. With *BTD's probability*, "
            "half of the labelled items fit the labels and the other half tests them."
        )
    cards.votes_behind(picked, name="settled")
    frame = pd.concat(
        [found[name].to_frame().assign(judge=name) for name in names], ignore_index=True
    )
    columns = ["judge", *(column for column in frame if column != "judge")]
    numbers.table(frame[columns], "guarantees", alt="Threshold of each judge and what it settles")
    widgets.copy_as_python(
        f"""judge = {subject!r}
counts = queries.vote_counts(store, selection)[judge]
decisions = {MADE_BY[sureness]}
found = guarantee(decisions, alpha={alpha!r}, delta={delta!r}, rng=default_rng(0))
print(found.to_frame().T)"""
    )


def _decided(
    counts: VoteCounts, votes: ConfidenceCounts | None, sureness: selective.Sureness
) -> selective.Decisions:
    """A judge's labels. Raises NoUsableVotes, with what it has, if there are none to test."""
    try:
        if votes is not None:
            made = selective.by_stated_confidence(counts, votes)
        elif sureness == "btd":
            made = selective.by_btd(counts, rng=widgets.seeded())
        else:
            made = selective.by_share(counts)
    except TooFewLabels:
        raise NoUsableVotes(
            "too few labelled comparisons to fit BTD on half of them (20)"
        ) from None
    if not ((made.gold != NO_GOLD) & (made.confidence >= 0)).any():
        raise NoUsableVotes(f"no comparison with gold and a {sentences.SURENESS_NAMES[sureness]}")
    return made


def _share_right(made: selective.Decisions) -> float:
    known = made.gold != NO_GOLD
    return float((made.label[known] == made.gold[known]).mean())


def _kept_comparisons(
    names: Sequence[str],
    decisions: dict[str, selective.Decisions],
    found: dict[str, selective.Guarantee],
) -> dict[str, Mark]:
    """The surest comparisons that each threshold keeps, as many as a table of votes shows."""
    marks = {}
    for name in names:
        threshold = found[name].threshold
        if threshold is not None:
            kept = selective.kept_comparisons(decisions[name], found[name])
            marks[plots.cut_key(name, threshold)] = cards.mark_of(kept, name)
    return marks
