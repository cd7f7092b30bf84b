"""Which prompts carry the board? Doubtful ones dropped, fewer of them, and those of each
category.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from core.bounds import of_models
from core.errors import NoUsableVotes
from core.finding import tables
from core.questions.boards import check_figure as plots
from core.questions.boards import check_words as sentences
from core.questions.boards.anchored import subsample_errors
from core.questions.boards.board_checks import STARTS
from core.questions.boards.figure import task_key, tasks_figure
from core.questions.boards.robustness import (
    THRESHOLDS,
    BetweenTasks,
    abstention,
    between_tasks,
    changes,
    differing,
)
from pages.sections.leaderboard.controls import PageState, all_pooled, how_many
from pages.shared import cached, cards, numbers, widgets

SHOWN = 12
MOST_CATEGORIES, TASK_MODELS = 30, 10
DRAWS = 500
RULE_NAMES = {word: rule for rule, word in sentences.RULE_WORDS.items()}


def prompts_tab(state: PageState) -> None:
    """Abstention, then whether the closed-form error holds on subsamples."""
    _abstention(state)
    _subsamples(state)


def _abstention(state: PageState) -> None:
    st.subheader("What if judges abstained when unsure?", anchor=False)
    left, right = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
    name = widgets.choice(
        "Doubt by",
        list(RULE_NAMES),
        key="abstain_by",
        place=left,
        help="repeats: SD of the score over runs; confidence: mean of what the judge stated",
    )
    rule = RULE_NAMES[name]
    start = STARTS[rule]
    threshold = right.select_slider(
        "Drop above this SD" if rule == "run_sd" else "Drop below this confidence",
        THRESHOLDS[rule],
        value=start,
        key=f"abstain_{rule}",
        bind=widgets.URL,
    )
    doubts = cached.pair_doubts(state.selection)
    if state.judge is not None:
        doubts = {name: one for name, one in doubts.items() if name == state.judge}
    key = (*state.key, state.anchor, rule)
    try:
        found = cached.computed(
            "abstention",
            key,
            lambda: abstention(doubts, state.anchor, rule=rule, prior=state.prior),
        )
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    changed = cached.computed(
        "changes",
        (*key, threshold),
        lambda: changes(doubts, state.anchor, rule=rule, threshold=threshold),
    )
    row = next(row for row in found.rows if row.threshold == threshold)
    widgets.answer(sentences.abstained_answer(found, row, changed), part="-abstained")
    widgets.in_full(sentences.abstained(found, row, changed), part="-abstained")
    drawn, measured = st.columns([1, 1], gap="medium")
    with drawn:
        if changed:
            fig = plots.changes_figure(
                changed[:SHOWN], theme=state.look, chosen=widgets.in_url("abstained")
            )
            marks = {one.model: state.votes(one.model) for one in changed}
            alt = "Change of each model's win probability"
            cards.votes_behind(
                widgets.figure(fig, "abstained", alt=alt, marks=marks), name="abstained"
            )
        widgets.how_to_read(
            "Each judge drops the prompts on which it was in doubt; boards are means of judges. A "
            "row is a model: how far its win probability against the anchor moves, with a 95 % "
            "interval that counts the prompts in common only once. Undecided prompts are often "
            "close ones, so dropping them pushes win probabilities away from 50 %: that is no gain "
            "in truth, and only gold can tell whether what is left is better. The curve shows what "
            "strictness costs: the standard error grows as prompts go."
        )
    with measured:
        fig = plots.abstention_figure(found, threshold=threshold, theme=state.look)
        widgets.figure(
            fig, "abstention", alt="Change of Elo and its standard error by share of prompts kept"
        )
        alt = "Abstention by threshold"
        numbers.show(sentences.ABSTENTION, found.rows, "abstention", found.to_frame(), alt=alt)
        if changed:
            numbers.table(
                tables.frame(sentences.CHANGED, changed),
                "abstention-by-model",
                alt="Abstention by model, at this threshold",
            )
        if found.n_unknown:
            st.caption(
                f"{found.n_unknown:,} judged prompts without "
                + ("repeats in the same orders" if rule == "run_sd" else "a stated confidence")
                + " are left out throughout."
            )
    widgets.copy_as_python(
        f"""doubts = queries.pair_doubts(store, selection)
doubts = {{name: doubts[name] for name in {list(found.judges)!r}}}
print(abstention(doubts, {state.anchor!r}, rule={rule!r}, prior={state.prior!r}).to_frame())"""
    )


def _subsamples(state: PageState) -> None:
    st.subheader("Does the standard error hold on fewer prompts?", anchor=False)
    found = cached.computed(
        "subsamples",
        (*state.key, state.anchor),
        lambda: subsample_errors(
            state.scores, state.anchor, sizes=_sizes(state), rng=widgets.seeded(), draws=DRAWS
        ),
    )
    st.text(sentences.subsampled(found))
    if not len(found.n):
        return
    drawn, measured = st.columns([5, 4], gap="medium")
    with drawn:
        fig = plots.subsample_figure(found, theme=state.look)
        widgets.figure(
            fig, "subsample", alt="SD over subsamples against the formula's standard error"
        )
        widgets.how_to_read(
            "Each mark is a model and a number of prompts: n of its prompts were drawn many times "
            "and the win probability computed anew. On the line, it varies as the closed formula "
            "says, with the finite pool of prompts allowed for. Below the line the published "
            "interval is too wide: it takes every prompt for won or lost, while ties and averaged "
            "votes vary less. The corrected interval of the Board tab mends that."
        )
    with measured:
        frame = found.to_frame()
        alt = "Standard errors by formula and on subsamples"
        numbers.show(sentences.SUBSAMPLES, frame.itertuples(), "subsamples", frame, alt=alt)
        st.caption(f"{found.draws:,} subsamples of each size")
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)[{state.judge!r}]
print(subsample_errors(pairs, {state.anchor!r}, sizes={_sizes(state)!r}, draws={DRAWS},
                       rng=default_rng(0)).to_frame())"""
    )


def _sizes(state: PageState) -> tuple[int, ...]:
    """A quarter, half and three quarters of the prompts that a model typically has."""
    prompts = float(np.median([row.n for row in state.board.rows]))
    return tuple(sorted({max(5, round(prompts * share)) for share in (0.25, 0.5, 0.75)}))


def tasks_tab(state: PageState) -> None:
    """Means over categories with the boards behind them."""
    known = cached.values(state.selection, "category", limit=MOST_CATEGORIES + 1)
    if len(known) < 2:
        widgets.not_applicable(
            "the votes selected have no second category; clear the category in the sidebar, or "
            "load votes with one."
        )
        return
    used = known[:MOST_CATEGORIES]
    try:
        found = cached.computed("tasks", (*state.key, state.anchor), lambda: _by_task(state, used))
    except NoUsableVotes as error:
        widgets.not_applicable(f"{error}.")
        return
    st.text(sentences.tasks(found))
    all_pooled(state)
    drawn, measured = st.columns([3, 2], gap="medium")
    marks = {row.model: state.votes(row.model) for row in found.rows}
    for task, known_board in found.boards.items():
        for row in known_board.rows:
            marks[task_key(task, row.model)] = state.votes(row.model, category=task)
    shown = how_many(len(found.rows), TASK_MODELS, key="tasks_all", place=measured)
    with drawn:
        fig = tasks_figure(found, shown=shown, theme=state.look, chosen=widgets.in_url("task"))
        chosen = widgets.figure(fig, "task", alt="Elo of each model by category", marks=marks)
        widgets.how_to_read(
            "Large marks: mean of a model's Elo over categories, each weighing alike but for its "
            "error; the bar says where the mean over such categories lies (random effects, "
            "modified Hartung–Knapp). Small marks: its Elo on the prompts of one category alone. "
            "They scatter by chance, too: *SD* in the table is what chance does not explain (τ by "
            "DerSimonian–Laird, interval by Q-profile), I² its share."
        )
    differ = [row.model for row in differing(found)]
    frame = found.to_frame()
    frame = frame.assign(differs=frame["model"].isin(differ))
    alt = "Variance between categories"
    # Beside the figure its last columns would be cut.
    numbers.show(sentences.task_columns(found), found.rows, "between-categories", frame, alt=alt)
    with measured:
        if len(known) > MOST_CATEGORIES:
            st.text(
                f"The first {MOST_CATEGORIES} categories by name; filter the votes to see others."
            )
        if found.left_out:
            st.text(f"Nobody met {state.anchor} in: {', '.join(found.left_out)}")
    cards.votes_behind(chosen, name="task")
    widgets.copy_as_python(
        f"""def scores(category):
    inside = replace(selection, where=(*selection.where, ("category", category)))
    return queries.pair_scores(store, inside, pooled=True).get({state.judge!r})

by_task = {{name: scores(name) for name in {list(found.boards)!r}}}
print(between_tasks(by_task, {state.anchor!r}, prior={state.prior!r}).to_frame().to_string())"""
    )


def _by_task(state: PageState, categories: tuple[str, ...]) -> BetweenTasks:
    by_task = {}
    for name in categories:
        inside = replace(state.selection, where=(*state.selection.where, ("category", name)))
        scores = cached.pair_scores(inside, pooled=True).get(state.judge)
        if scores is not None:
            by_task[name] = of_models(scores, state.scores.models)
    return between_tasks(by_task, state.anchor, prior=state.prior)
