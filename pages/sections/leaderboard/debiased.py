"""What would gold say? Win rates corrected for the judge's errors, from few labels."""

from __future__ import annotations

from typing import get_args

import numpy as np
import streamlit as st

from core.interpretation.sentences import corrected, debiased
from core.leaderboard.debiased import (
    DebiasedBoard,
    Weighting,
    debiased_board,
    hide_gold,
    most_misjudged,
    pooled,
)
from core.plots.base import COLOURS, Style
from core.plots.leaderboard import debiased_figure
from core.store import vote_queries as queries
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import Asked, in_url, number
from pages.shared import cached, theme, widgets

SHOWN = 12
COLUMNS = {
    "model": "model",
    "n_labelled": number("n labelled", "%d", "comparisons with gold"),
    "n_unlabelled": number("n other", "%d", "comparisons without gold"),
    "value": number("wins %", "%.1f", "as gold would judge all comparisons"),
    "low": number("low", "%.1f", "95 % interval"),
    "high": number("high", "%.1f", "95 % interval"),
    "judge": number("judge %", "%.1f", "by the judge's votes alone"),
    "labels": number("labels %", "%.1f", "by the labelled comparisons alone"),
    "labels_low": number("labels low", "%.1f", "95 % interval, made like that of wins %"),
    "labels_high": number("labels high", "%.1f", "95 % interval, made like that of wins %"),
    "gain": number(
        "length ratio", "%.2f", "length of its interval against that by labels alone; below 1 the votes help"
    ),
    "weight": number("weight", "%.2f", "how far the judge's votes are followed"),
    "rogan_gladen_value": number(
        "Rogan–Gladen %", "%.1f", "by sensitivity and specificity; without ties only"
    ),
    "rogan_gladen_low": number("R–G low", "%.1f"),
    "rogan_gladen_high": number("R–G high", "%.1f"),
}


def debiased_tab(asked: Asked) -> None:
    """The debiased rate of the chosen or most misjudged model in words, all in a figure and a table."""
    drawn, told = st.columns([3, 2], gap="medium")
    said = told.container()
    weighting: Weighting = widgets.choice(
        "Weight of the judge's votes",
        get_args(Weighting),
        default="full",
        key="debiased_weight",
        place=told,
        help="tuned follows the judge only as far as it is worth following.",
    )
    used = told.slider(
        "Labels used, % of the items that have gold",
        5,
        100,
        100,
        5,
        key="debiased_labels",
        bind=widgets.URL,
        help="Hides the gold of a random part, to see what fewer labels would have told.",
    )
    found = _board(asked, weighting, used)
    by_name = {row.model: row for row in found.rows}
    worst = most_misjudged(found)
    if worst is None:
        model, reason = next(iter(found.reasons.items()))
        with drawn:
            widgets.not_applicable(f"no model has gold on enough items. {model}: {reason}")
        return
    chosen = in_url("debiased_model")
    subject = by_name.get(chosen or "", worst)
    said.text(debiased(subject.model, asked.anchor, asked.judge, subject.rate))
    said.text(corrected(subject.two_class))
    look = theme.current()
    style = Style(colour=COLOURS[look].accent, symbol="circle")
    if asked.judge:
        style = cached.styles(widgets.current_dataset(), look)[asked.judge]
    with drawn:
        fig = debiased_figure(found, style=style, shown=SHOWN, theme=look, chosen=chosen)
        picked = widgets.figure(
            fig, "debiased_model", alt="Debiased win rate of each model", marks=list(by_name), prompt="Model"
        )
        widgets.how_to_read(
            "The judge's mean score over all comparisons is precise and biased; the mean of the few labels "
            "is right on average and rough. The debiased rate takes the judge's mean where there is no label "
            "and adds its mean error where there is one: right on average whatever the judge does, and "
            "precise if its errors vary little. Filled marks are it, hollow ones the labels alone, small "
            "bars the judge alone. Its interval adds one error in each direction to those seen, since a "
            "judge that was not caught at any may still make some.\n\n"
            "The labels must be a random part of the comparisons: labels only on hard or disputed ones say "
            "nothing of the rest. *Rogan–Gladen* corrects by sensitivity and specificity instead, for "
            "verdicts without ties; it bears labels that were chosen by gold's side."
        )
    frame = found.to_frame()
    # With ties there is no Rogan–Gladen rate of any model; the sentence above says so.
    unknown = [name for name in COLUMNS if frame[name].isna().all()]
    # Weight and length are no shares.
    percents = {name: 100 * frame[name].astype(float) for name in COLUMNS if _is_share(name)}
    st.dataframe(
        frame[list(COLUMNS)].assign(**percents).drop(columns=unknown),
        hide_index=True,
        column_config=COLUMNS,
        placeholder="–",
        alt="Debiased win rates",
    )
    widgets.downloads(frame, "debiased")
    if len(by_name) > SHOWN:
        st.caption(f"Drawn: the first {SHOWN} of {len(by_name):,} models; the table has all.")
    if found.reasons:
        st.text(f"Without a rate, as fewer than 10 of their items have gold: {', '.join(found.reasons)}")
    if picked:
        widgets.votes_table(Mark(models=(picked, asked.anchor), judge=asked.judge), name="debiased")
    who = f"counts[{asked.judge!r}]" if asked.judge else "pooled_votes(counts.values())"
    widgets.copy_as_python(
        f"""counts = queries.vote_counts(store, selection)
names = queries.comparison_names(store, selection)
a, b = names["model_a"].to_pylist(), names["model_b"].to_pylist()
votes = hide_gold({who}, share={used / 100!r}, rng=default_rng(0))
found = debiased_board(votes, {asked.anchor!r}, model_a=a, model_b=b, weighting={weighting!r})
print(found.to_frame().to_string())"""
    )


def _board(asked: Asked, weighting: Weighting, used: int) -> DebiasedBoard:
    def compute() -> DebiasedBoard:
        counts = cached.vote_counts(asked.selection)
        names = queries.comparison_names(cached.get_store(), asked.selection)
        votes = counts[asked.judge] if asked.judge else pooled(counts.values())
        votes = hide_gold(votes, share=used / 100, rng=np.random.default_rng(0))
        sides = {name: names[name].to_pylist() for name in ("model_a", "model_b")}
        return debiased_board(votes, asked.anchor, weighting=weighting, **sides)

    return cached.computed("debiased", (*asked.key, asked.anchor, weighting, used), compute)


def _is_share(name: str) -> bool:
    return name not in ("model", "gain", "weight", "n_labelled", "n_unlabelled")
