"""The judge beside people: the verdict, its levels against theirs, rates, and every check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from core.checks import BY_NAME
from core.checks.overall import SIGNS, because
from core.plots.scores import bias_figure, level_key, levels_figure, pass_rate_figure, rates_figure
from core.scores.levels import LevelCounts, level_counts
from core.store.score_queries import score_answers
from pages.sections.scores.controls import PageState
from pages.shared import cached, numbers, widgets

MOST_ANSWERS = 200
"""Answers behind a mark that are listed; the download has all."""
COLUMNS = ("item_id", "model", "judge", "score", "gold", "prompt", "response", "rationale")


def answer(state: PageState) -> None:
    """The finding in a sentence, the line of figures, and what the verdict rests on."""
    shown = state.shown
    good = shown.overall.verdict == "trust"
    widgets.answer(f"{shown.whose}: {shown.headline}", "finding" if good else "warning")
    if shown.figures:
        st.text(shown.figures)
    st.text(because(shown.whose, shown.overall, shown.checks))
    for check in shown.overall.because:
        if not good:
            st.text(f"What to do: {BY_NAME[check].advice}")
            break


def levels(state: PageState) -> None:
    """Levels against people's, rates or bias by level, and the answers behind a cell."""
    evidence = state.shown.evidence
    table = level_counts(evidence.table)
    left, right = st.columns(2, gap="medium")
    keys = {
        level_key(table.people[row], table.judge[column]): (row, column)
        for row, column in zip(*np.nonzero(table.counts), strict=True)
    }
    with left:
        chosen = None
        if keys:
            fig = levels_figure(table, theme=state.look, chosen=widgets.in_url("levels"))
            chosen = widgets.figure(
                fig,
                "levels",
                alt="Answers by people's level and the judge's",
                marks=keys,
                prompt="Answers behind",
            )
        else:
            widgets.not_applicable("people scored none of the answers that it scored.")
    with right:
        _beside(state)
    if chosen is not None:
        _answers(state, table, chosen)


def _beside(state: PageState) -> None:
    evidence = state.shown.evidence
    if evidence.passing.tpr is not None or evidence.passing.tnr is not None:
        widgets.figure(
            rates_figure(evidence.passing, theme=state.look),
            "rates",
            alt="Share of what people passed that it passes, and of what they failed that it fails",
        )
        st.caption("The dotted line is 90 %, what teams want of both.")
    if evidence.table.says_pass and evidence.pass_rate.judge is not None:
        widgets.figure(
            pass_rate_figure(evidence.pass_rate, theme=state.look),
            "pass-rate",
            alt="Share of answers that pass: as the judge says, by labels, corrected",
        )
        if evidence.pass_rate.corrected is not None:
            more = evidence.pass_rate.to_halve - evidence.pass_rate.units_labelled
            saves = "" if evidence.pass_rate.saves else " The judge saves no labels here."
            st.caption(f"About {max(more, 0):,} more labels would halve that interval.{saves}")
    elif evidence.leniency.by_level:
        widgets.figure(
            bias_figure(evidence.leniency, theme=state.look),
            "bias",
            alt="How much higher than people it scores, by people's score",
        )


def _answers(state: PageState, table: LevelCounts, place: tuple[int, int]) -> None:
    """Answers of one cell: what the judge and each person said, with the texts that are there."""
    inside = (table.person_level == place[0]) & (table.judge_level == place[1])
    shown = state.shown
    own = score_answers(*cached.where(state.selection), shown.judge, shown.metric)
    everyone = replace(
        state.selection,
        judges=None,
        rater_types=None,
        where=(*state.selection.where, ("metric", shown.metric)),
    )
    store = cached.get_store()
    frame = store.export(everyone, kind="scores").to_pandas()
    listed = ", ".join(str(int(item)) for item in np.unique(own.item[inside]))
    names = dict(store.rows(f"select id, name from items where id in ({listed})"))
    items = [names[int(item)] for item in own.item[inside]]
    frame = frame[frame["item_id"].isin(items)]
    if own.models:
        models = {own.models[code] for code in own.model[inside] if code >= 0}
        frame = frame[frame["model"].isin(models) | frame["model"].isna()]
    frame = frame.sort_values(["item_id", "judge"], kind="stable").dropna(axis=1, how="all")
    columns = [name for name in COLUMNS if name in frame]
    st.dataframe(
        pd.DataFrame(frame[columns]).head(MOST_ANSWERS),
        hide_index=True,
        alt="Answers of the chosen cell, with what each rater said",
    )
    numbers.downloads(frame, "scores-behind")


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
