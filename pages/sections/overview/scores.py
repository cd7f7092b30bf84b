"""Judges of single answers on the first screen: the verdict on the best, and a row for each."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.auditing.checks import SCORE_CHECKS
from core.auditing.figure import MOST_ROWS, check_grid, check_matrix
from core.auditing.overall import GRADE_OF, SIGNS, checks_made, what_to_do
from core.questions.scores.audited import ScoreAudit
from core.questions.scores.figure import distribution_figure, levels_figure
from core.questions.scores.levels import level_counts
from core.use.story import story
from pages.sections.overview.first_screen import LEGEND, Screen
from pages.shared import widgets


def scores_section(state: Screen) -> None:
    """The card of the best judge of single answers, every one with its checks, and the way on."""
    audits = state.found.scores
    _card(audits[0])
    if not state.found.judges:
        for line in story(state.found):
            st.text(line)
        # Below votes their pictures come first.
        _pictures(state, audits[0])
    # The page Scores has all.
    shown = audits[:MOST_ROWS]
    names = [audit.whose for audit in shown]
    results = [replace(result, judge=audit.whose) for audit in shown for result in audit.checks]
    signs = {audit.whose: GRADE_OF[audit.overall.verdict] for audit in shown}
    made = {result.check for result in results if result.applicable}
    checks = [check.name for check in SCORE_CHECKS if check.name in made]
    best = [one for one in results if one.judge == names[0] and one.grade != "unknown"]
    # A phone has room for what is settled of one judge.
    figures = {"wide": check_matrix(results, names, checks, signs=signs, theme=state.look)}
    if best:
        figures["narrow"] = check_grid(
            best, names[0], [one.check for one in best], theme=state.look
        )
    for room, fig in figures.items():
        with st.container(key=f"{room}-score-matrix"):
            st.plotly_chart(
                fig,
                key=f"{room}-score-matrix-figure",
                theme=None,
                config=widgets.PLOTLY_CONFIG,
                alt="Grade of each check for each judge of single answers",
            )
    st.caption(LEGEND.partition(" A cell")[0])
    for audit in shown[1:]:
        sign = SIGNS[GRADE_OF[audit.overall.verdict]]
        st.text(f"{sign} {audit.whose}: {audit.headline}")
    widgets.goto("To Scores", "scores.py", key="to-scores")


def _pictures(state: Screen, audit: ScoreAudit) -> None:
    """What people and judge say of the same answers, and how often each says it."""
    table = level_counts(audit.evidence.table)
    if not table.counts.sum():
        return
    of_both = (
        (levels_figure, "levels", "Answers by people's level and the judge's"),
        (distribution_figure, "bars", "Share of the answers on each level, people's and judge's"),
    )
    for place, (draw, key, alt) in zip(st.columns(2, gap="medium"), of_both, strict=True):
        with place:
            st.plotly_chart(
                draw(table, theme=state.look),
                key=f"score-{key}-figure",
                theme=None,
                config=widgets.PLOTLY_CONFIG,
                alt=alt,
            )


def _card(audit: ScoreAudit) -> None:
    grade = GRADE_OF[audit.overall.verdict]
    with st.container(border=True, key="score-card", gap="xsmall"):
        with st.container(key=f"word-{grade}-scores"):
            word = audit.overall.word
            st.text(f"{SIGNS[grade]} {word}: {audit.whose} · {checks_made(audit.checks)}")
        with st.container(key="found-scores"):
            st.text(audit.headline)
        if audit.figures:
            st.text(audit.figures)
        results = {result.check: result for result in audit.checks}
        if audit.overall.verdict != "trust" and (advice := what_to_do(audit.overall, results)):
            st.text(f"What to do: {advice[0]}")
        if audit.overall.verdict == "cannot_say":
            widgets.doors("label-answers")
