"""What the Overview shows first: the decision on one judge, the evidence on all, which checks they pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import streamlit as st

from core.auditing import Audit
from core.interpretation.overview import SIGNS, WORDS, Card, card, coverage, few
from core.interpretation.rules import Grade, OverallVerdict
from core.interpretation.summary import GRADE_OF
from core.interpretation.verdicts import CHECKS, Verdict
from core.plots.base import COLOURS
from core.plots.overview import cell_key, check_matrix, evidence
from pages.sections.overview.verdicts import PAGES
from pages.shared import widgets

MOST = 12
"""Judges in view; the others come with *Show all*."""
WIDTHS = ("wide", "narrow")
"""The server does not know how wide the page is: both figures are made, and the page's style shows one."""
CHOSEN, ALL = "checked", "all_judges"
LEGEND: dict[Grade, str] = {
    "ok": "passes",
    "warn": "needs care",
    "fail": "fails",
    "unclear": "unclear",
    "unknown": "not known, or not graded",
}
ICONS: dict[OverallVerdict, str] = {
    "trust": "verified",
    "trust_with_limits": "warning",
    "do_not_trust": "dangerous",
    "cannot_say": "help",
}


def coverage_section(found: Audit) -> None:
    """What the data set has, and in grey what it lacks, with how to add it."""
    with st.container(horizontal=True, gap="xsmall", key="coverage"):
        for text, remedy in coverage(found.summary):
            st.badge(text, color="gray" if remedy else "blue", help=remedy)


def card_section(found: Audit, ordered: Sequence[str]) -> str:
    """Select a judge and say whether to trust it, why, and what to do; returns the judge."""
    frame = st.container(border=True, key="decision", gap="xsmall")
    who, what = frame.columns([4, 9], gap="medium", vertical_alignment="center")
    chosen: str = widgets.select("Judge", ordered, start=ordered[0], key=CHOSEN, place=who) or ordered[0]
    said = _card(found, chosen)
    colours = COLOURS[widgets.current_look()]
    colour = {"ok": colours.raters[2], "warn": colours.raters[4], "fail": colours.raters[1]}.get(
        GRADE_OF[said.verdict], colours.neutral
    )
    frame.html(
        f"<style>.st-key-decision {{ border-left: 6px solid {colour}; }} "
        f".st-key-decision h2 {{ color: {colour}; padding: 0; margin-bottom: 0.3rem; }}</style>"
    )
    with what, st.container(gap="xsmall"):
        st.header(f":material/{ICONS[said.verdict]}: {WORDS[said.verdict]}", anchor=False)
        st.text(said.sentence)
        st.text(f"What to do: {said.advice}")
    return chosen


def _card(found: Audit, chosen: str) -> Card:
    order = next(judge.position for judge in found.judges if judge.judge == chosen)
    own = [verdict for verdict in found.verdicts if verdict.judge == chosen]
    return card(chosen, found.overall[chosen], own, flips=order.hard_flip_rate if order else None)


def _checks(found: Audit) -> dict[str, dict[str, Verdict]]:
    checks: dict[str, dict[str, Verdict]] = {}
    for verdict in found.verdicts:
        checks.setdefault(verdict.judge, {})[verdict.check] = verdict
    return checks


def _in_view(ordered: Sequence[str], chosen: str) -> tuple[str, ...]:
    return tuple(ordered) if st.session_state.get(ALL) else few(ordered, chosen, MOST)


def evidence_section(found: Audit, ordered: Sequence[str], chosen: str, people: Collection[str]) -> None:
    """Every judge's interval on four questions; a click chooses it. On a phone: the chosen and the best."""
    judges = [name for name in ordered if name not in people or name == chosen]
    judges = judges if any(name not in people for name in judges) else list(ordered)
    look, checks = widgets.current_look(), _checks(found)
    seen = frozenset(people) & checks.keys()
    for width in WIDTHS:
        rows = _in_view(judges, chosen) if width == "wide" else few(judges, chosen, 2)
        with st.container(key=f"shown-evidence-{width}"):
            widgets.figure(
                evidence(checks, rows, chosen, people=seen, stacked=width == "narrow", theme=look),
                f"evidence_{width}",
                alt="Accuracy, confidence, order and repeats of each judge, with intervals",
                marks={name: name for name in rows},
                into=CHOSEN,
            )
    lines = ["◆ chosen judge", "shaded: beyond the limits", "dotted: guessing, or no lean"]
    st.caption(
        " · ".join([*lines, *(["blue band: people"] if seen else []), "click a mark to choose its judge"])
    )
    if len(ordered) > MOST:
        st.toggle(f"Show all {len(ordered)}", key=ALL, bind=widgets.URL)


def matrix_section(found: Audit, ordered: Sequence[str], chosen: str) -> None:
    """Judges × checks; a click on a cell opens the page that explains it with that judge."""
    checks, rows = _checks(found), _in_view(ordered, chosen)
    pages = {cell_key(judge, check): (check, judge) for judge in rows for check in CHECKS}
    for width in WIDTHS:
        key = f"matrix-{width}"
        with st.container(key=f"shown-{key}"):
            st.plotly_chart(
                check_matrix(checks, rows, chosen, narrow=width == "narrow", theme=widgets.current_look()),
                key=key,
                theme=None,
                config=widgets.PLOTLY_CONFIG,
                alt="Which checks each judge passes; Every check in words has them as text",
                selection_mode="points",
                on_select=partial(_open, key, pages),
            )
    marks = " · ".join(f"{SIGNS[grade]} {said}" for grade, said in LEGEND.items())
    st.caption(f"{marks} · click a cell to see why, on its page")


def _open(key: str, pages: dict[str, tuple[str, str]]) -> None:
    for point in st.session_state[key]["selection"]["points"]:
        data = point.get("customdata") or [None]
        if found := pages.get(data[0] if isinstance(data, (list, tuple)) else data):
            check, judge = found
            widgets.go(PAGES[check], {"judges": [judge]})
            return
