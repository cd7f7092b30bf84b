"""Forced choice against ties allowed: two prompts side by side."""

from __future__ import annotations

import streamlit as st

from core.errors import NoUsableVotes
from core.finding.forest import forest, series
from core.finding.tables import frame
from core.questions.labels.forced_prompts import PromptRow, forced_choice, likely_prompts
from core.questions.labels.forced_words import LABELS, PROMPTS, forced_answer, not_forced
from pages.sections.votes_to_labels.controls import PageState
from pages.shared import cached, cards, numbers, widgets


def forced_tab(state: PageState) -> None:
    """Ties, position bias and errors of two prompts on the comparisons that both judged."""
    people = widgets.current_people()
    votes = {name: counts for name, counts in state.of_judge.items() if name not in people}
    try:
        forced, free = likely_prompts(votes)
        chosen = st.container(horizontal=True)
        forced = widgets.select(
            "Forced to choose", votes, start=forced, key="forced", place=chosen, width=300
        )
        others = [name for name in votes if name != forced]
        free = widgets.select(
            "Ties allowed",
            others,
            start=free if free in others else others[0],
            key="ties-allowed",
            place=chosen,
            width=300,
        )
        found = cached.computed(
            "forced choice",
            (state.selection, state.options, forced, free),
            lambda: forced_choice(
                votes,
                cached.positions(state.selection),
                forced,
                free,
                state.options,
                rng=widgets.seeded(),
            ),
        )
    except NoUsableVotes as error:
        widgets.not_applicable(str(error))
        return
    widgets.answer(forced_answer(found), part="forced")
    if said := not_forced(found):
        st.text(said)
    rows = {_name(row): row for row in found.rows}
    marks = {name: cards.mark_of(row.comparison, row.judge) for name, row in rows.items()}
    slots, ties = st.columns(2, gap="medium")
    with slots:
        fig = forest(
            [series("slot", rows, "bias", "{0.n:,} comparisons")],
            "slot vote within pairs, points",
            reference=0.0,
            missing="no pair of both orders",
            unit="points",
            theme=state.look,
            chosen=widgets.in_url("prompt"),
        )
        behind = widgets.figure(fig, "prompt", alt="Position bias of both prompts", marks=marks)
    with ties:
        right = series("right", rows, "right", "{0.n:,} comparisons", look="hollow", key=None)
        fig = forest(
            [series("ties", rows, "ties", "{0.n_votes:,} votes", key=None), right],
            "share of votes",
            unit="%",
            theme=state.look,
        )
        widgets.figure(fig, "prompt-ties", alt="Ties and right votes of both prompts")
    cards.votes_behind(behind, name="prompt")
    numbers.table(frame(PROMPTS, found.rows), "prompts", alt="Both prompts by kind of gold")
    numbers.table(frame(LABELS, found.labels), "prompt-labels", alt="Errors of their labels")
    widgets.how_to_read(
        "Two prompts of one judge are two names here: the one that forces a choice hardly ever "
        "calls a tie. All rows are of the comparisons that both judged. *Slot vote*: +100 always "
        "takes the response shown first, −100 the one shown second; within pairs of both orders a "
        "judge that is right in both adds 0. Near the boundary, where gold is a tie, a forced "
        "judge has to pick something, and the slot is what is left. Lower is not always better: "
        "a judge that calls everything a tie has no slot either, so *right* stands beside it."
    )
    widgets.copy_as_python(
        f"""judges = queries.vote_counts(store, selection)
slots = queries.positions(store, selection)
options = {state.options!r}
found = forced_choice(judges, slots, {forced!r}, {free!r}, options, rng=default_rng(0))
for row in found.rows:
    print(row.judge, row.where, row.n, row.ties, row.right, row.bias)
print(found.bias, found.bias_near, [(one.rule, one.delta) for one in found.labels])"""
    )


def _name(row: PromptRow) -> str:
    return f"{row.judge} · {row.where}"
