"""What would gold say? Win rates corrected for the judge's errors, from few labels."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from core.finding.figure import COLOURS, Style
from core.questions.boards import check_words as sentences
from core.questions.boards import debiased
from core.questions.boards.check_figure import debiased_figure
from core.questions.boards.check_words import DEBIASED
from core.records import independent
from pages.sections.leaderboard.controls import PageState, all_pooled
from pages.shared import cached, cards, numbers, widgets

SHOWN = 12


def debiased_tab(state: PageState) -> None:
    """The debiased rate of the chosen or most misjudged model in words, all in a figure and a
    table.
    """
    drawn, measured = st.columns([3, 2], gap="medium")
    answer = measured.container()
    weighting: debiased.Weighting = widgets.choice(
        "Weight of the judge's votes",
        get_args(debiased.Weighting),
        key="debiased_weight",
        place=measured,
        help="tuned follows the judge only as far as it is worth following.",
    )
    used = measured.slider(
        "Labels used, % of the items that have gold",
        5,
        100,
        100,
        5,
        key="debiased_labels",
        bind=widgets.URL,
        help="Hides the gold of a random part, to see what fewer labels would have shown.",
    )
    key = (*state.key, state.anchor, weighting, used)
    found = cached.computed("debiased", key, lambda: _board(state, weighting, used))
    by_name = {row.model: row for row in found.rows}
    worst = debiased.most_misjudged(found)
    if worst is None:
        model, reason = next(iter(found.reasons.items()))
        with drawn:
            widgets.not_applicable(
                f"no model has gold on enough items. {model}: {reason}", door="debiased-door"
            )
        return
    chosen = widgets.in_url("debiased_model")
    subject = by_name.get(chosen or "", worst)
    answer.text(sentences.debiased(subject.model, state.anchor, state.judge, subject.rate))
    answer.text(sentences.corrected(subject.two_class))
    with answer:
        all_pooled(state)
    style = Style(colour=COLOURS[state.look].accent, symbol="circle")
    if state.judge:
        style = state.styles[state.judge]
    marks = {model: state.votes(model) for model in by_name}
    with drawn:
        fig = debiased_figure(found, style=style, shown=SHOWN, theme=state.look, chosen=chosen)
        picked = widgets.figure(
            fig,
            "debiased_model",
            alt="Debiased win rate of each model",
            marks=marks,
            prompt="Model",
        )
        widgets.how_to_read(
            "The judge's mean score over all comparisons is precise and biased; the mean of the "
            "few labels is right on average and rough. The debiased rate takes the judge's mean "
            "where there is no label and adds its mean error where there is one: right on average "
            "whatever the judge does, and precise if its errors vary little. Filled marks are it, "
            "hollow ones the labels alone, small bars the judge alone. Its interval adds one error "
            "in each direction to those seen, since a judge that was not caught at any may still "
            "make some.\n\nThe labels must be a random part of the comparisons: labels only on "
            "hard or disputed ones say nothing of the rest. *Rogan–Gladen* corrects by sensitivity "
            "and specificity instead, for verdicts without ties; it bears labels that were chosen "
            "by gold's side."
        )
    # With ties there is no Rogan–Gladen rate of any model; the sentence above says so.
    frame, alt = found.to_frame(), "Debiased win rates"
    numbers.show(DEBIASED, found.rows, "debiased", frame, alt=alt, known_only=True)
    if len(by_name) > SHOWN:
        st.caption(f"Drawn: the first {SHOWN} of {len(by_name):,} models; the table has all.")
    if found.reasons:
        st.text(
            f"Without a rate, as fewer than 10 of their items have gold: {', '.join(found.reasons)}"
        )
    cards.votes_behind(picked, name="debiased")
    who = f"counts[{state.judge!r}]"
    if state.judge is None:
        judges = independent(cached.vote_counts(state.selection))
        who = f"pooled_votes(counts[judge] for judge in {judges!r})"
    widgets.copy_as_python(
        f"""counts = queries.vote_counts(store, selection)
names = queries.comparison_names(store, selection)
a, b = names["model_a"].to_pylist(), names["model_b"].to_pylist()
votes = hide_gold({who}, share={used / 100!r}, rng=default_rng(0))
found = debiased_board(votes, {state.anchor!r}, model_a=a, model_b=b, weighting={weighting!r})
print(found.to_frame().to_string())"""
    )


def _board(state: PageState, weighting: debiased.Weighting, used: int) -> debiased.DebiasedBoard:
    counts = cached.vote_counts(state.selection)
    names = cached.comparison_names(state.selection)
    if state.judge:
        votes = counts[state.judge]
    else:
        votes = debiased.pooled_votes(counts[name] for name in independent(counts))
    votes = debiased.hide_gold(votes, share=used / 100, rng=widgets.seeded())
    sides = {name: names[name].to_pylist() for name in ("model_a", "model_b")}
    return debiased.debiased_board(votes, state.anchor, weighting=weighting, **sides)
