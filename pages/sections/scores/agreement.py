"""The judge beside people: level by level, with each person, and in a person's place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.auditing.checks import BY_NAME
from core.auditing.overall import SIGNS, because, what_to_do
from core.finding.tables import frame
from core.questions.scores import figure as plots
from core.questions.scores import words as sentences
from core.questions.scores.audited import ScoreAudit
from core.questions.scores.by_model import BY_MODEL
from core.questions.scores.card import said_of
from core.questions.scores.levels import LevelCounts, level_counts
from core.questions.scores.raters import RaterPair, both_scored
from core.records import BoolArray, IntArray
from pages.sections.scores.answers import answers_behind
from pages.sections.scores.controls import PageState
from pages.shared import alternative, numbers, widgets


def answer(state: PageState) -> None:
    """The finding in a sentence, the line of figures, and what the verdict rests on."""
    shown = state.shown
    said = said_of(shown)
    widgets.answer(said)
    st.text(because(shown.whose, shown.overall, shown.checks))
    results = {result.check: result for result in shown.checks}
    if not said.good and (advice := what_to_do(shown.overall, results)):
        st.text(f"What to do: {advice[0]}")
    if shown.overall.verdict == "cannot_say":
        widgets.doors("label-answers")


def agreement_tab(state: PageState) -> None:
    """Levels against people's, bias and distributions by level, each rater with each person."""
    table = level_counts(state.shown.evidence.table)
    left, right = st.columns(2, gap="medium")
    with left:
        cell = _levels(state, table)
    with right:
        mark = _beside(state, table)
    answers_behind(state, cell, name="levels")
    answers_behind(state, mark, name="beside")
    _raters(state)
    _by_model(state)
    alternative.alternative_section(
        lambda kind: state.shown.evidence.alternative_of(kind), key="scores"
    )


def _levels(state: PageState, table: LevelCounts) -> BoolArray | None:
    st.subheader("Level by level", anchor=False)
    keys = {
        plots.level_key(table.people[row], table.judge[column]): (table.person_level == row)
        & (table.judge_level == column)
        for row, column in zip(*np.nonzero(table.counts), strict=True)
    }
    if not keys:
        widgets.not_applicable("people scored none of the answers that it scored.")
        return None
    fig = plots.levels_figure(table, theme=state.look, chosen=widgets.in_url("levels"))
    chosen = widgets.figure(
        fig,
        "levels",
        alt="Answers by people's level and the judge's",
        marks=keys,
        prompt="Answers behind",
    )
    widgets.how_to_read(
        "Rows are what people say, the mean over people to the nearest level, columns the mean of "
        "the judge's runs; a cell is the stronger in colour the larger its share of the row. "
        "Choose one to read its answers."
    )
    return chosen


def _beside(state: PageState, table: LevelCounts) -> BoolArray | None:
    """Bias by people's level, where that can be subtracted, or the distributions alone."""
    evidence = state.shown.evidence
    leaning = evidence.leniency.by_level
    if not evidence.table.says_pass and leaning:
        st.subheader("How much higher than people", anchor=False)
        reference = evidence.table.reference
        marks = {
            plots.level_name(level): np.abs(reference - level.score)
            <= max(level.half_width, 1e-9) * (1 + 1e-9)
            for level in leaning
        }
        known = ~np.isnan(evidence.table.judge) & (evidence.table.persons > 0)
        marks = {key: rows & known for key, rows in marks.items()}
        fig = plots.bias_figure(evidence.leniency, theme=state.look, chosen=widgets.in_url("bias"))
        behind = widgets.figure(
            fig,
            "bias",
            alt="How much higher than people it scores, by people's score",
            marks=marks,
            prompt="Answers of",
        )
        if behind is not None:
            return behind
    st.subheader("How often each level", anchor=False)
    bars: dict[str, BoolArray] = {}
    for side, levels, code in (
        ("people", table.people, table.person_level),
        ("judge", table.judge, table.judge_level),
    ):
        bars |= {
            plots.side_key(side, level): code == place
            for place, level in enumerate(levels)
            if (code == place).any()
        }
    if not bars:
        return None
    fig = plots.distribution_figure(table, theme=state.look, chosen=widgets.in_url("bars"))
    return widgets.figure(
        fig,
        "bars",
        alt="Share of the answers on each level, people's beside the judge's",
        marks=bars,
        prompt="Answers of bar",
    )


def _raters(state: PageState) -> None:
    """Each judge of the metric beside each person, as a matrix whose cells open their answers."""
    st.subheader("With each person", anchor=False)
    metric = state.shown.metric
    audits = {audit.judge: audit for audit in state.audits if audit.metric == metric}
    behind: dict[str, tuple[ScoreAudit, RaterPair]] = {}
    pairs: list[RaterPair] = []
    for audit in audits.values():
        for pair in audit.evidence.pairs:
            key = plots.pair_key(pair)
            if pair.n and key not in behind:
                behind[key] = audit, pair
                pairs.append(pair)
    if not pairs:
        widgets.not_applicable("people scored none of the answers that it scored.")
        return
    fig = plots.raters_figure(pairs, list(audits), theme=state.look, chosen=widgets.in_url("pair"))
    chosen = widgets.figure(
        fig,
        "pair",
        alt="Agreement of each judge with each person, and of people with each other",
        marks=behind,
        prompt="Answers of both",
    )
    widgets.how_to_read(
        "κ with quadratic weights on the answers that both scored: 1 is the same scores, 0 chance. "
        "Where judge and people are not on one scale it is Pearson's r. Rows are judges, then "
        "people beside each other: what a judge can be asked for at most. Choose a cell for the "
        "answers that both scored, those on which they are farthest apart first."
    )
    if chosen is not None:
        audit, pair = chosen
        answers_behind(state, _both(audit, pair), name="pair", audit=audit)
    numbers.table(frame(sentences.RATER_PAIRS, pairs), "rater-pairs", alt="Agreement of two raters")


def _by_model(state: PageState) -> None:
    """Within the answers of one model, and from model to model."""
    found = state.shown.evidence[BY_MODEL]
    favours = sentences.favours_sentence(state.shown.evidence)
    if found.within is None and not favours:
        return
    st.subheader("Within a model and between models", anchor=False)
    if favours:
        st.text(favours)
    if found.within is not None:
        widgets.answer(sentences.by_model_answer(found), part="by-model")


def _both(audit: ScoreAudit, pair: RaterPair) -> IntArray:
    table = audit.evidence.table
    first = None if pair.first == audit.judge else table.names.index(pair.first)
    return both_scored(table, first, table.names.index(pair.second))


def checks(state: PageState) -> None:
    """Every check in words."""
    st.subheader("Every check", anchor=False)
    for result in state.shown.checks:
        if result.applicable:
            st.text(f"{SIGNS[result.grade]} {BY_NAME[result.check].title}: {result.sentence}")


def everybody(state: PageState) -> None:
    """A row per judge and metric."""
    rows = [
        {
            "judge": audit.judge,
            "metric": audit.metric,
            "verdict": audit.overall.verdict.replace("_", " "),
            "found": audit.headline,
        }
        for audit in state.audits
    ]
    if len(rows) > 1:
        st.subheader("All judges, the best first", anchor=False)
        numbers.table(pd.DataFrame(rows), "all-scores", alt="Verdict on each judge by each metric")
