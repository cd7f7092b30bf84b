"""What the Overview shows first: the decision on one judge, the evidence on all, which checks they pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import streamlit as st

from core.auditing import Audit
from core.interpretation import estimates
from core.interpretation.format import percent
from core.interpretation.overview import SIGNS, WORDS, Card, card
from core.interpretation.rules import Grade, OverallVerdict
from core.interpretation.summary import GRADE_OF, NEEDS
from core.interpretation.verdicts import CHECKS, Verdict
from core.plots.base import COLOURS
from core.plots.forest import forest, series
from core.plots.overview import cell_key, check_matrix, evidence
from core.schema import Selection
from pages.sections.overview.verdicts import PAGES
from pages.shared import cached, widgets

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


COVERED = (
    ("gold", "labelled", "accuracy"),
    ("order", "with_position", "position"),
    ("confidence", "with_confidence", "calibration"),
)
"""What votes may have: its name, the field of a judge's summary that counts it, a check that needs it."""


def coverage_section(found: Audit) -> None:
    """What the data set has, and in grey what it lacks, with how to add it."""
    raters, votes = found.summary.judges, found.summary.votes
    people = sum(one.rater_type == "human" for one in raters)
    counts = ((len(raters) - people, "judge", "judges"), (people, "person", "people"))
    counts += ((found.summary.items, "item", "items"), (votes, "vote", "votes"))
    with st.container(horizontal=True, gap="xsmall", key="coverage"):
        for n, one, many in counts:
            if n:
                st.badge(f"{n:,} {one if n == 1 else many}")
        for name, field, check in COVERED:
            share = sum(getattr(one, field) for one in raters) / max(votes, 1)
            text, remedy = f"{name} {percent(share)}", f"To have it, add {NEEDS[check]}."
            st.badge(text, color="blue" if share else "gray", help=None if share else remedy)


def few(ordered: Sequence[str], chosen: str, most: int) -> tuple[str, ...]:
    """The first `most` in their order, the chosen one in place of the last if it is further down."""
    if chosen in ordered[:most] or chosen not in ordered:
        return tuple(ordered[:most])
    return (*ordered[: most - 1], chosen)


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


def categories_section(selection: Selection, chosen: str, *, level: float) -> None:
    """Accuracy of the chosen judge in each category, the best first; nothing where there is one category."""
    found = {
        name: one
        for name, votes in cached.vote_counts_by(selection, "category").items()
        if name and chosen in votes and (one := estimates.direction(votes[chosen], level=level))
    }
    if len(found) < 2:
        return
    st.subheader("Right, by category", anchor=False)
    ordered = sorted(found, key=lambda name: -found[name].value)
    rows = series("right", {name: found[name] for name in ordered}, "", "{0.n:,} items", key=None)
    looks = {"theme": widgets.current_look()}
    fig = forest([rows], "share right · dotted: guessing", x_range=(0.0, 1.03), reference=0.5, **looks)
    widgets.figure(fig, "categories", alt="Share right of the chosen judge in each category, with intervals")


def _open(key: str, pages: dict[str, tuple[str, str]]) -> None:
    for point in st.session_state[key]["selection"]["points"]:
        data = point.get("customdata") or [None]
        if found := pages.get(data[0] if isinstance(data, (list, tuple)) else data):
            check, judge = found
            widgets.go(PAGES[check], {"judges": [judge]})
            return
