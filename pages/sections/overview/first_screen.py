"""What stands above the fold: the bar, the decision card, the evidence strip and the check
matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.auditing.card import Panel, card_of, holdings, panels
from core.auditing.checks import CHECKS
from core.auditing.figure import (
    ALL_ROWS,
    MOST_ROWS,
    check_grid,
    check_matrix,
    evidence_strip,
    matrix_key,
    trust_map,
)
from core.auditing.options import AuditOptions
from core.auditing.overall import GRADE_OF, SIGNS, columns, missing
from core.auditing.results import Audit
from core.finding.check import CheckResult, Grade
from core.finding.wording import count, percent
from core.places import NAMES
from core.questions.agreement.two_models import two_models
from core.questions.order.results import POSITION
from core.stats.estimate import Estimate
from core.use.story import story
from pages.sections.overview.label_door import label_door
from pages.shared import cached, numbers, share, widgets
from pages.shared.limits import current_options

if TYPE_CHECKING:
    from core.finding.figure import Figure

PAGES = {check.name: f"{check.page}.py" for check in CHECKS}
"""The page that explains a check."""
SHOWN = tuple(check.name for check in CHECKS)
LEGEND = (
    "✓ ok · ! needs care · ✗ fails · ~ not settled · blank: not known. "
    "A cell opens its page with that judge."
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Screen(widgets.View):
    """What the verdict shows: the audit, its judges from the best to the worst, and the people."""

    found: Audit
    options: AuditOptions
    ranked: tuple[str, ...]
    people: tuple[str, ...]

    def checks(self, judge: str) -> list[CheckResult]:
        """The check results of one rater."""
        return [result for result in self.found.checks if result.judge == judge]

    def grade(self, judge: str) -> Grade:
        """The grade that stands for a rater's overall verdict."""
        return GRADE_OF[self.found.overall[judge].verdict]

    @property
    def flips(self) -> dict[str, Estimate | None]:
        """Share of verdicts that change with the order, by rater."""
        return {
            one.judge: position.flip_rate if (position := one[POSITION]) else None
            for one in self.found.judges
        }

    @property
    def raters(self) -> tuple[str, ...]:
        """Judges from the best to the worst, then people."""
        return (*self.ranked, *(name for name in self.people if name not in self.ranked))


def bar() -> Audit:
    """Name, what the data set holds, and what one does with it; gives the audit that the rest of
    the page shows.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="bar", gap="small"):
        st.title(NAMES["verdict"], anchor=False, width="content")
        chip = st.empty()
        buttons = st.container(horizontal=True, width="content", gap="small", key="head-buttons")
        if widgets.simulated():
            st.badge("Simulated demo data", color="orange", help=widgets.SIMULATED)
    found = share.found()
    with buttons:
        share.share()
        numbers.downloads_in(st.container(width="content"))
    with chip:
        _holdings(found, by_people=widgets.current_selection().gold == "humans")
    return found


def screen(found: Audit) -> Screen:
    """An audit as the page shows it, in the visitor's colours."""
    return Screen(
        found=found,
        options=current_options(),
        people=tuple(person.judge for person in found.people),
        ranked=tuple(judge.judge for judge in found.asked_about),
    )


def _holdings(found: Audit, *, by_people: bool) -> None:
    """What the data set holds; grey is missing, and a click says how to add it."""
    about = found.summary
    held = holdings(about, by_people=by_people)
    if not about.judges:
        raters = {rater.name for rater in (*about.scores, *about.rankings)}
        kinds = ((about.scores, "score"), (about.rankings, "ranking"))
        sizes = [count(sum(rater.n for rater in of), noun) for of, noun in kinds if of]
        st.text(" · ".join([count(len(raters), "rater"), *sizes]))
        return
    size = (
        f"{count(len(about.judges), 'rater')} · {count(about.items, 'item')} "
        f"· {count(about.votes, 'vote')}"
    )
    shares = (f"{one.name} {percent(one.share)}" for one in held if one.name != "repeats")
    named = zip(shares, held, strict=False)
    text = " · ".join(
        [size, *(f":gray[{words}]" if not one.share else words for words, one in named)]
    )
    with st.popover(text, type="tertiary", help="What is there, and how to add what is missing"):
        for one in held:
            if one.share < 1:
                st.text(f"{one.name.capitalize()}, {percent(one.share)}: {one.how}")
        for sentence in missing(found.checks):
            st.text(sentence)
        if any(one.share < 1 for one in held if one.name.startswith("gold")):
            widgets.doors("add-labels")
        widgets.goto("To Start", "start.py", key="add-data")


def decision_card(state: Screen) -> str:
    """The chosen judge's verdict in a word, what was found, and what to do; gives the judge."""
    place = st.container(border=True, key="card", gap="xsmall")
    head = place.container(horizontal=True, vertical_alignment="center")
    word = head.container(width="content")
    judge = widgets.judge(
        state.raters,
        start=state.ranked[0],
        why="best",
        place=head,
        label_visibility="collapsed",
        width=340,
    )
    (chosen,) = (one for one in state.found.judges if one.judge == judge)
    shown = card_of(chosen, state.found.judges if judge == state.ranked[0] else ())
    grade = state.grade(judge)
    with word.container(key=f"word-{grade}"):
        st.text(f"{SIGNS[grade]} {shown.word} · {shown.made}")
    with place.container(key="found"):
        st.text(shown.said.headline)
    advice = [f"What to do: {' '.join(shown.advice)}"] if shown.advice else []
    for line in (shown.said.figures, *advice):
        place.text(line)
    if shown.verdict == "cannot_say" and judge not in {
        *state.people,
        *(one.name for one in cached.summary(state.selection).judges if one.labelled),
    }:
        with place:
            label_door(judge)
    return judge


def new_against_old(state: Screen, judge: str) -> None:
    """Where two models were compared: which is better, with the way to the board."""
    models = cached.compared_models(state.selection)
    ids = np.unique(models)
    counts = cached.vote_counts(state.selection).get(judge)
    if len(ids) != 2 or ids[0] < 0 or counts is None:
        return
    names = cached.comparison_names(state.selection)
    known = {
        int(models[0, side]): str(names[column][0].as_py())
        for side, column in enumerate(("model_a", "model_b"))
    }
    if len(known) != 2:
        return
    found = two_models(judge, counts, models, (known[int(ids[0])], known[int(ids[1])]))
    if found is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="new-against-old"):
        st.text(found.sentence, width="content")
        widgets.goto("To the board", "leaderboard.py", key="to-board")


def _rows(state: Screen, judge: str, of: tuple[str, ...], most: int) -> tuple[str, ...]:
    """The first of the raters, the chosen one among them."""
    if judge not in of or judge in of[:most]:
        return of[:most]
    return (*of[: most - 1], judge)


def evidence(state: Screen, judge: str) -> int:
    """Four panels with a row per judge, above 12 judges beside a map of all; gives how
    many rows.
    """
    # What nobody has a number for is said by the bar and the matrix, not by an empty panel.
    shown = panels(state.found.checks, state.options.rules)
    drawn = tuple(panel for panel in shown if {*panel.values} & {*state.raters})
    many = len(state.ranked) > MOST_ROWS
    most = MOST_ROWS
    if many and st.session_state.get("all_judges", st.query_params.get("all_judges") == "true"):
        most = ALL_ROWS
    rows = _rows(state, judge, state.ranked, most)
    people = tuple(name for name in state.people if name not in state.ranked)
    strip = partial(evidence_strip, drawn, people=people, chosen=judge, theme=state.look)
    marks = dict.fromkeys(state.raters, True)
    alt = (
        "For each judge, best first: share right, honesty of confidence, "
        "preference by order, repeatability"
    )
    if not drawn:
        return most
    with st.container(key="wide-strip"):
        left, right = st.columns([5, 3], gap="small") if many else (st.container(), None)
        with left:
            widgets.figure(strip(rows), "strip", alt=alt, marks=marks, into="judge")
        if right is not None:
            with right:
                _map(state, judge, drawn, marks)
    best = tuple(dict.fromkeys((judge, state.ranked[0])))
    with st.container(key="narrow-strip"):
        fig = strip(best, narrow=True)
        widgets.figure(fig, "strip-narrow", alt=alt, marks=marks, into="judge")
    if many:
        left_out = f" of {len(state.ranked)}" + (
            f", {ALL_ROWS} at most" if len(state.ranked) > ALL_ROWS else ""
        )
        # A phone has no room for rows of all, whatever is asked for.
        with st.container(key="wide-all"):
            st.toggle(f"Show all judges{left_out}", key="all_judges", bind=widgets.URL)
    return most


def _map(state: Screen, judge: str, drawn: tuple[Panel, ...], marks: dict[str, bool]) -> None:
    right = drawn[0].values
    flips = {name: one for name, one in state.flips.items() if one is not None}
    if drawn[0].title != "Right" or not set(right) & set(flips) & set(state.ranked):
        st.text("A map of all judges needs gold labels and votes in both orders.")
        return
    of = {name: one for name, one in right.items() if name in state.ranked}
    fig = trust_map(of, flips, chosen=judge, theme=state.look)
    alt = "Share right against changes by order, a mark per judge; the best five are named"
    widgets.figure(fig, "map", alt=alt, marks=marks, into="judge")


def matrix(state: Screen, judge: str, most: int) -> None:
    """Judges × checks; a cell opens its page with that judge."""
    rows = _rows(state, judge, state.ranked or state.raters, most)
    signs = {name: state.grade(name) for name in rows}
    look = state.look
    results = [one for one in state.found.checks if one.judge in {*state.ranked, judge}]
    said, line = columns(results)
    shown = [name for name in SHOWN if name in said]
    _cells("wide-matrix", check_matrix(results, rows, shown, signs=signs, theme=look), rows)
    # A phone has room for what is settled of one judge.
    own = [one.check for one in results if one.judge == judge and one.grade != "unknown"]
    own = [name for name in SHOWN if name in own]
    _cells("narrow-matrix", check_grid(results, judge, own, theme=look), (judge,))
    st.caption(LEGEND)
    for text in filter(None, (line, *story(state.found))):
        st.text(text)


def _cells(key: str, fig: Figure, raters: tuple[str, ...]) -> None:
    cells = {matrix_key(name, check): (name, check) for name in raters for check in SHOWN}
    with st.container(key=key):
        st.plotly_chart(
            fig,
            key=f"{key}-figure",
            theme=None,
            config=widgets.PLOTLY_CONFIG,
            alt="Grade of each check for each judge; the same is in words under Every check",
            selection_mode="points",
            on_select=partial(_open_cell, f"{key}-figure", cells),
        )


def _open_cell(figure: str, cells: dict[str, tuple[str, str]]) -> None:
    for point in st.session_state[figure]["selection"]["points"]:
        key = (point.get("customdata") or [None])[0]
        if key in cells:
            judge, check = cells[key]
            widgets.open_page(PAGES[check], {widgets.JUDGE: judge})
