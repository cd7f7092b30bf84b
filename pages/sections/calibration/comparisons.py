"""Which comparisons can be left to a judge? A threshold on how sure its label is, with a guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.confidence.selective import (
    Decisions,
    Guarantee,
    Sureness,
    by_btd,
    by_share,
    by_stated_confidence,
    guarantee,
    kept_comparisons,
    label_outcomes,
    risk_coverage,
)
from core.errors import TooFewLabels
from core.interpretation.sentences import SURENESS_NAMES, guaranteed
from core.plots.calibration import cut_key, guarantee_figure
from core.records import NO_GOLD
from core.schema import Selection
from core.store.vote_queries import Mark
from pages.sections.calibration.controls import seeded
from pages.shared import cached, theme, widgets

MADE_BY = {
    "share": "by_share(counts)",
    "stated": "by_stated_confidence(counts, queries.single_votes(store, selection)[judge])",
    "btd": "by_btd(counts, rng=default_rng(0))",
}


def ask_target(place: Any) -> tuple[float, float]:
    """Share of errors allowed, and the probability allowed that the promise is broken."""
    allowed = place.slider("Errors allowed, %", 0.5, 50.0, 10.0, 0.5, "%.1f", key="target", bind=widgets.URL)
    certainty = widgets.choice(
        "Certainty, %", ["80", "90", "95", "99"], default="90", key="certainty", place=place
    )
    return allowed / 100, (100 - int(certainty)) / 100


def ask_sureness(place: Any) -> Sureness:
    """What makes a label sure."""
    names = {name: key for key, name in SURENESS_NAMES.items()}
    first = SURENESS_NAMES["share"]
    return names[
        widgets.choice("How sure a label is", list(names), default=first, key="sureness", place=place)
    ]


def without_confidence(reason: str) -> None:
    """What can be said where no vote states a confidence: a label is as sure as its votes agree."""
    widgets.not_applicable(reason)
    selection = widgets.current_selection()
    summary = cached.summary(selection)
    if not any(judge.labelled for judge in summary.judges):
        return  # Without gold no error is known, whatever a label's sureness.
    st.text(
        "Without stated confidences, which labels can be kept? By how far the votes of a comparison agree:"
    )
    drawn, told = st.columns([3, 2], gap="medium")
    said = told.container()
    alpha, delta = ask_target(told)
    sureness = ask_sureness(told)
    comparisons_section(selection, None, sureness, alpha, delta, drawn=drawn, told=said)


def comparisons_section(
    selection: Selection,
    judge: str | None,
    sureness: Sureness,
    alpha: float,
    delta: float,
    *,
    drawn: Any,
    told: Any,
) -> None:
    """The guarantee in words, the curve with its cuts, its table; `judge` None shows all."""
    decisions, reasons = cached.computed(
        "decisions", (selection, sureness), lambda: _decisions(selection, sureness)
    )
    found: dict[str, Guarantee] = cached.computed(
        "guarantees",
        (selection, sureness, alpha, delta),
        lambda: {
            name: guarantee(one, alpha=alpha, delta=delta, rng=seeded()) for name, one in decisions.items()
        },
    )
    names: Sequence[str] = [judge] if judge else list(found)
    if judge not in found and (judge or not found):
        with told:
            name, reason = (judge, reasons.get(judge or "")) if judge else next(iter(reasons.items()))
            widgets.not_applicable(f"{name} has {reason or 'no vote here'}.")
        return
    subject = judge or max(found, key=lambda name: -1.0 if (one := found[name].kept) is None else one.value)
    told.text(guaranteed(subject, found[subject]))
    for name, reason in reasons.items() if judge is None else ():
        told.text(f"Left out: {name} has {reason}.")
    curves = {name: risk_coverage(label_outcomes(decisions[name])) for name in names}
    marks = _marks(names, decisions, found)
    look = theme.current()
    with drawn:
        fig = guarantee_figure(
            curves,
            {name: found[name] for name in names},
            styles=cached.styles(widgets.current_dataset(), look),
            theme=look,
            chosen=st.session_state.get("settled"),
        )
        alt = "Wrong labels against the share of comparisons kept"
        picked = widgets.figure(fig, "settled", alt=alt, marks=list(marks), prompt="Comparisons kept by")
        widgets.how_to_read(
            "Here a judge gives each comparison one label, from all of its votes there. From left to right "
            "ever less sure labels are kept. Curves are over all comparisons with gold, bands 95 % intervals "
            "by item. The filled mark is the lowest threshold that holds the target.\n\nComparisons of one "
            "item are not independent, so one of each item is drawn at random and the threshold is tested on "
            "those: marks may lie off the curve. The promise is for a comparison drawn from an item like "
            "these. With *BTD's probability*, half of the labelled items fit the labels and "
            "the other half tests them."
        )
    if picked:
        widgets.votes_table(marks[picked], name="settled")
    _table(names, found)
    widgets.copy_as_python(
        f"""judge = {subject!r}
counts = queries.vote_counts(store, selection)[judge]
decisions = {MADE_BY[sureness]}
found = guarantee(decisions, alpha={alpha!r}, delta={delta!r}, rng=default_rng(0))
print(found.to_frame().T)"""
    )


def _decisions(selection: Selection, sureness: Sureness) -> tuple[dict[str, Decisions], dict[str, str]]:
    """Labels of each judge that has some to test, and why another has none."""
    votes = cached.single_votes(selection) if sureness == "stated" else {}
    known: dict[str, Decisions] = {}
    reasons: dict[str, str] = {}
    for name, counts in cached.vote_counts(selection).items():
        try:
            if sureness == "btd":
                made = by_btd(counts, rng=seeded())
            elif sureness == "stated":
                made = by_stated_confidence(counts, votes[name])
            else:
                made = by_share(counts)
        except TooFewLabels:
            reasons[name] = "too few labelled comparisons to fit BTD on half of them (20)"
            continue
        if not ((made.gold != NO_GOLD) & (made.confidence >= 0)).any():
            reasons[name] = f"no comparison with gold and a {SURENESS_NAMES[sureness]}"
            continue
        known[name] = made
    return known, reasons


def _marks(
    names: Sequence[str], decisions: dict[str, Decisions], found: dict[str, Guarantee]
) -> dict[str, Mark]:
    """The surest comparisons that each threshold keeps, as many as a table of votes shows."""
    marks = {}
    for name in names:
        threshold = found[name].threshold
        if threshold is not None:
            codes = kept_comparisons(decisions[name], found[name])[: widgets.VOTES_SHOWN]
            marks[cut_key(name, threshold)] = Mark(judge=name, comparisons=tuple(codes.tolist()))
    return marks


def _table(names: Sequence[str], found: dict[str, Guarantee]) -> None:
    import pandas as pd

    frame = pd.concat([found[name].to_frame().assign(judge=name) for name in names], ignore_index=True)
    columns = ["judge", *(column for column in frame if column != "judge")]
    widgets.table(frame[columns], "guarantees", alt="Threshold of each judge and what it settles")
