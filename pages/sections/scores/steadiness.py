"""Is it steady: over runs, categories, lengths and time; and would a map repair its scale?"""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.auditing.checks import BY_NAME
from core.finding.check import Unknown
from core.questions.scores import figure as plots
from core.questions.scores import words as sentences
from core.questions.scores.ask import score_dates
from core.questions.scores.by_category import BY_CATEGORY
from core.questions.scores.check import stands_out
from core.questions.scores.drift import drift
from core.records import BoolArray, IntArray
from core.stats.periods import periods
from pages.sections.scores.answers import answers_behind
from pages.sections.scores.controls import PageState
from pages.shared import cached, widgets


def steadiness_tab(state: PageState) -> None:
    """Runs and categories beside each other, then length and time."""
    left, right = st.columns(2, gap="medium")
    with left:
        wavering = _runs(state)
    with right:
        of_category = _categories(state)
    answers_behind(state, wavering, name="runs")
    answers_behind(state, of_category, name="of")
    _length(state)
    _dates(state)


def _said(state: PageState, check: str) -> None:
    result = next(result for result in state.shown.checks if result.check == check)
    st.text(result.sentence)


def _runs(state: PageState) -> IntArray | None:
    st.subheader("Asked again", anchor=False)
    evidence = state.shown.evidence
    found = evidence.repeatability
    _said(state, "score_repeatability")
    if found.icc_3_k is None:
        return None
    fig = plots.runs_figure(found, theme=state.look)
    widgets.figure(fig, "runs", alt="ICC of one run and of the mean of all runs")
    runs = evidence.scores.runs
    wide = np.nan_to_num(np.nanmax(runs, axis=1) - np.nanmin(runs, axis=1))
    if not st.toggle("Answers on which its runs differ most", key="wavering", bind=widgets.URL):
        return None
    order: IntArray = np.argsort(-wide, kind="stable")
    return np.asarray(order[wide[order] > 0])


def _categories(state: PageState) -> BoolArray | None:
    st.subheader("By category", anchor=False)
    evidence = state.shown.evidence
    found, table = evidence.drift, evidence.table
    rates = evidence[BY_CATEGORY] if table.says_pass else ()
    if rates:
        _said(state, "score_category")
        alt = "How much of what people failed it fails in each category, and of what they passed"
        widgets.figure(plots.categories_figure(rates, theme=state.look), "categories", alt=alt)
    _said(state, "drift")
    if not found.groups or table.category is None:
        return None
    known = ~np.isnan(table.judge) & (table.persons > 0)
    marks = {
        group.group: known & (table.category == table.categories.index(group.group))
        for group in found.groups
    }
    fig = plots.groups_figure(found, theme=state.look, chosen=widgets.in_url("of"))
    return widgets.figure(
        fig,
        "of",
        alt="How much higher than people it scores in each category, less the rest",
        marks=marks,
        prompt="Answers of category",
    )


def _length(state: PageState) -> None:
    st.subheader("Length", anchor=False)
    _said(state, "score_length")
    evidence = state.shown.evidence
    if evidence.length.instrumented is None and evidence.length.raw is None:
        return
    length, reference = evidence.table.length, evidence.table.reference
    assert length is not None
    apart = evidence.table.judge - reference
    middle = np.nanmedian(length)
    if st.toggle("Long answers that it scores above people", key="long", bind=widgets.URL):
        rows = np.flatnonzero(np.nan_to_num(apart) * (length > middle) > 0)
        answers_behind(state, rows[np.argsort(-apart[rows], kind="stable")], name="long")
    st.caption(BY_NAME["score_length"].limits.reason)


def _dates(state: PageState) -> None:
    """Leniency by period, where a column of the file is a date."""
    st.subheader("Over time", anchor=False)
    shown = state.shown
    dates = cached.computed(
        "dates",
        (state.selection, shown.whose),
        lambda: score_dates(*cached.where(state.selection), shown.judge, shown.metric),
    )
    dated = {column: periods(texts) for column, texts in dates.items()}
    found = {column: coded for column, coded in dated.items() if coded is not None}
    if not found:
        widgets.not_applicable("no further column of the file has dates such as 2026-01-31.")
        return
    column = next(iter(found))
    if len(found) > 1:
        column = widgets.select("Column", found, start=column, key="dates")
    code, names = found[column]
    table = shown.evidence.table
    groups = drift(table, group=code, names=names, level=state.options.level)
    worst = groups.worst
    if worst is None:
        widgets.not_applicable(f"{groups.reason}.")
        return
    shown_by = "" if worst.difference.excludes(0) else ", which may be chance"
    st.text(f"{stands_out(groups, others='periods')}{shown_by}.")
    known = ~np.isnan(table.judge) & (table.persons > 0)
    marks = {group.group: known & (code == names.index(group.group)) for group in groups.groups}
    fig = plots.groups_figure(groups, theme=state.look, chosen=widgets.in_url("period"))
    chosen = widgets.figure(
        fig,
        "period",
        alt="How much higher than people it scores in each period, less the rest",
        marks=marks,
        prompt="Answers of period",
    )
    answers_behind(state, chosen, name="period")


def recalibrate_tab(state: PageState) -> None:
    """What each score is mapped to, and whether that is nearer to people on other answers."""
    evidence = state.shown.evidence
    found = evidence.recalibration
    if isinstance(found, Unknown):
        widgets.not_applicable(found.reason)
        return
    widgets.answer(sentences.map_answer(found), part="-map")
    score = evidence.table.judge
    labelled = evidence.table.persons > 0
    marks = {
        plots.score_key(value): labelled & (np.abs(score - value) < 1e-6)
        for value in found.score.tolist()
    }
    fig = plots.map_figure(
        found,
        same_scale=evidence.table.same_scale,
        theme=state.look,
        chosen=widgets.in_url("mapped"),
    )
    chosen = widgets.figure(
        fig,
        "mapped",
        alt="What each score of the judge is mapped to",
        marks=marks,
        prompt="Answers that it",
    )
    widgets.how_to_read(
        "The nondecreasing steps that are nearest to people's scores; the dotted line leaves "
        "scores as they are. A map takes out leniency and compression, not noise: an order that is "
        "wrong stays wrong. The error is measured in ten folds, each mapped by the other nine."
    )
    answers_behind(state, chosen, name="mapped")
