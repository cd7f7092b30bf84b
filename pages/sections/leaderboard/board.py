"""Who leads? The board against one anchor, beside that against another, and whether there is one
scale.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.finding.tables import frame
from core.questions.agreement.results import REPEATABILITY
from core.questions.boards import by_anchor
from core.questions.boards import words as sentences
from core.questions.boards.anchored import Board
from core.questions.boards.anchors import Triangles, anchor_swap
from core.questions.boards.board_checks import over_judges
from core.questions.boards.check_figure import over_judges_figure
from core.questions.boards.check_words import OVER_JUDGES, over_judges_answer
from core.questions.boards.figure import board_figure, judge_key, swap_figure, swap_key
from core.questions.boards.standings import OtherAnchor, Standings, most_reversing
from core.store.vote_queries import Mark
from pages.sections.leaderboard.controls import (
    MOST_MARKED,
    PageState,
    boards_of_anchors,
    how_many,
    judged,
    pairs_within,
)
from pages.shared import cached, cards, evidence, many, numbers, widgets
from pages.shared.limits import current_options

FIRST_SHOWN, FIRST_WITH_JUDGES = 15, 10
TRIANGLES_SHOWN = 200
MOST_SPREAD = 40
"""Judges whose own marks are drawn in the distribution over judges."""


def board_tab(state: PageState) -> None:
    """The board as a figure and as a table."""
    found, judges = state.board, judged(state)
    drawn, measured = st.columns([5, 4], gap="medium")
    marked = many.among(sorted(judges, key=lambda name: -_votes(judges[name])), MOST_MARKED)
    few = FIRST_WITH_JUDGES if judges else FIRST_SHOWN
    shown = how_many(len(found.rows), few, key="all", place=measured)
    marks = _marks(state, judges)
    with drawn:
        fig = board_figure(
            found,
            judged={name: judges[name] for name in marked},
            styles=state.styles,
            judge=state.judge,
            corrected=state.corrected,
            shown=shown,
            theme=state.look,
            chosen=widgets.in_url("model"),
        )
        chosen = widgets.figure(
            fig, "model", alt="Elo of each model against the anchor", marks=marks
        )
        widgets.how_to_read(
            "Each row is a model: its Elo over the anchor, and below it the win probability that "
            "this stands for, a tie being half a win. It starts from half a win and half a loss "
            "(the prior), so with few prompts it is a little nearer to 50 % than the plain share "
            "of wins. Bars are 95 % intervals over prompts, never over votes: the votes on one "
            "prompt are averaged first. The published interval takes each prompt for won or lost, "
            "so with ties or averaged votes it is too wide; the corrected one uses the variance "
            "that was seen.\n\nA tier starts at the first model whose difference from the tier's "
            "best is more than chance, prompt by prompt where both played the same ones, and "
            "allowing for every pair of models: of boards of equal models, at most one in twenty "
            "has a second tier. Bars of two models may overlap and the models still be in "
            "different tiers: on the same prompts their difference is known better than either "
            "score. Small marks are single judges; choose a judge to see its own board."
        )
        if len(judges) > MOST_MARKED:
            st.caption(f"Small marks: the {MOST_MARKED} of {len(judges)} judges with most prompts.")
    with measured:
        columns = sentences.BOARD_CORRECTED if state.corrected else sentences.BOARD
        # The interval that the figure draws; the downloads have all intervals.
        numbers.show(columns, found.rows, "leaderboard", found.to_frame(), alt="Board")
        for sentence in (sentences.mid_region(found), *found.notes):
            st.text(sentence)
        elsewhere = {model for panel in state.panels for model in panel.models}
        never_met = [model for model in found.never_met if state.judge or model not in elsewhere]
        if never_met:
            st.text(
                f"Without a number, as they never met {found.anchor}: {sentences.named(never_met)}"
            )
    cards.votes_behind(chosen, name="model")
    _copy(state)
    _over_judges(state, judges, shown)


def _over_judges(state: PageState, judges: dict[str, Board], shown: int | None) -> None:
    """How far judges differ in each model's Elo."""
    if not judges:
        return
    st.subheader("How far do judges differ?", anchor=False)
    rows = over_judges(state.anchor, judges)
    widgets.answer(over_judges_answer(rows), part="-over-judges")
    few = many.among(sorted(judges, key=lambda name: -_votes(judges[name])), MOST_SPREAD)
    fig = over_judges_figure(
        rows[:shown],
        {name: judges[name] for name in few},
        styles=state.styles,
        theme=state.look,
        chosen=widgets.in_url("judged"),
    )
    marks = {
        judge_key(name, row.model): state.votes(row.model, judge=name)
        for name in few
        for row in judges[name].rows
    }
    behind = widgets.figure(fig, "judged", alt="Elo of each model over judges", marks=marks)
    cards.votes_behind(behind, name="judged")
    numbers.table(frame(OVER_JUDGES, rows), "over-judges", alt="Elo of each model over judges")
    widgets.how_to_read(
        "Each mark is one judge's Elo of a model, from the votes of that judge alone. Where five "
        "judges or more have a model, the shape shows how they lie: wide where many are. It says "
        "how judges differ, not how sure any of them is."
    )


def _votes(one: Board) -> int:
    return sum(row.n for row in one.rows)


def swap_tab(
    state: PageState,
    found: Standings,
    known: Triangles,
    summaries: Sequence[sentences.TriangleSummary],
) -> None:
    """Another anchor's board, and triangles of models."""
    if len(state.swapped) < len(state.scores.models):
        st.text(
            f"Compared are {len(state.swapped):,} of {len(state.scores.models):,} models, those "
            "with most votes. Select a part of the votes to see others."
        )
    _swapped(state, found)
    _by_anchor(state)
    _triangles(state, known, summaries)
    _copy(state)


def _marks(state: PageState, judges: dict[str, Board]) -> dict[str, Mark]:
    """Votes behind each row, and behind each judge's small mark in it."""
    marks = {row.model: state.votes(row.model) for row in state.board.rows}
    for name, known in judges.items():
        for row in known.rows:
            marks[judge_key(name, row.model)] = state.votes(row.model, judge=name)
    return marks


def _swapped(state: PageState, found: Standings) -> None:
    """Two boards in one figure, and every other anchor in a table."""
    if not found.others:
        widgets.not_applicable(
            f"besides {state.anchor}, no model met three others and could be the anchor."
        )
        return
    drawn, measured = st.columns([3, 2], gap="medium")
    names = [other.anchor for other in found.others]
    worst = most_reversing(found)
    start = 0 if worst is None else names.index(worst.anchor)
    other = measured.selectbox(
        "Compare with anchor", names, index=start, key="other", bind=widgets.URL
    )
    with drawn:
        behind = _figure(state, found.others[names.index(other)])
        widgets.how_to_read(
            "Each row is a model that met both anchors, with its Elo on either board. Another "
            "anchor moves the zero, so each board is centred on its mean over these models. Where "
            "the anchor does not matter the two marks of a row agree within their bars. Kendall τ "
            "compares the two orders: 1 the same, 0 unrelated, −1 reversed; with few models it "
            "takes few values. *Reversed* counts pairs of models whose order is opposite and more "
            "than chance on both boards, allowing for the number of pairs and anchors."
        )
    # Beside the figure its last columns would be cut.
    numbers.show(
        sentences.OTHER_ANCHORS,
        found.others,
        "other-anchors",
        found.to_frame(),
        alt="Other anchors",
    )
    cards.votes_behind(behind, name="swapped")


def _by_anchor(state: PageState) -> None:
    """Which anchor to take, and every model against every anchor."""
    key = (state.selection, state.prior, state.compared)
    summary = cached.computed("by anchor", key, lambda: _summary(state))
    if len(summary.anchors) < 2:
        st.text(sentences.which_anchor(summary))
        return
    widgets.answer(sentences.anchor_answer(summary), part="-by-anchor")
    widgets.in_full(sentences.which_anchor(summary), part="-by-anchor")
    numbers.table(
        frame(sentences.ANCHOR_CHOICES, summary.anchors), "anchors", alt="How each anchor serves"
    )
    numbers.table(frame(sentences.MODEL_AT_ANCHOR, summary.rows), "by-anchor", alt="Model × anchor")


def _summary(state: PageState) -> by_anchor.AnchorSummary:
    boards = boards_of_anchors(state)
    counted = evidence.counted(state.selection, current_options())
    repeated = {judge: counted.of(judge)[REPEATABILITY] for judge in state.pairs if judge}
    first = {anchor: of_anchor[0].board for anchor, of_anchor in boards.items()}
    pooled = pairs_within(state.selection)[0][None]
    swap = anchor_swap(pooled, anchors=tuple(boards), prior=state.prior, boards=first)
    return by_anchor.anchor_summary(boards, swap, repeatability=repeated)


def _figure(state: PageState, other: OtherAnchor) -> Mark | None:
    """Draw both boards; the votes behind the chosen mark."""
    if not other.models:
        widgets.not_applicable(f"no model met both {state.anchor} and {other.anchor}.")
        return None
    marks = {
        swap_key(anchor, model): state.votes(model, anchor=anchor)
        for anchor in (state.anchor, other.anchor)
        for model in other.models
    }
    fig = swap_figure(
        state.board,
        state.boards[other.anchor],
        other.models,
        corrected=state.corrected,
        theme=state.look,
        chosen=widgets.in_url("swapped"),
    )
    alt = "Centred Elo of each model against two anchors"
    return widgets.figure(fig, "swapped", alt=alt, marks=marks)


def _triangles(
    state: PageState, known: Triangles, summaries: Sequence[sentences.TriangleSummary]
) -> None:
    """Triangles of models, worst first, and the votes of the chosen one's three pairs."""
    st.subheader("Do three models' gaps add up?", anchor=False)
    frame = sentences.triangles_frame(known, summaries)
    if not len(frame):
        reason = (
            "no three models all met each other."
            if not len(known)
            else (
                f"none of {len(known):,} triangles has two prompts that all "
                "three pairs of its models played."
            )
        )
        widgets.not_applicable(reason)
        return
    shown = frame.head(TRIANGLES_SHOWN)
    words = shown["triangle"].tolist()

    def choose() -> None:
        for row in st.session_state["triangles"]["selection"]["rows"]:
            st.session_state["triangle"] = words[row]

    numbers.show(
        sentences.TRIANGLES,
        shown.itertuples(),
        "triangles",
        frame,
        alt="Triangles",
        key="triangles",
        on_select=choose,
        selection_mode="single-row",
    )
    widgets.how_to_read(
        "If a beats b by 100 Elo and b beats c by 50, a should beat c by 150. *Left over* is what "
        "is missing round the triangle, from all prompts of each pair; z is that of the prompts "
        "which all three pairs played. p counts no less variance than the three pairs have on "
        "their own, and is adjusted for the number of triangles (Holm). Broken (p < .05): no "
        "single scale holds the three, so their ranking depends on the anchor. Intransitive: "
        "moreover each beats the next, all the way round."
    )
    chosen = widgets.select(
        "Votes behind", words, start=None, key="triangle", placeholder="click a row, or choose here"
    )
    if chosen:
        row = shown.iloc[words.index(chosen)]
        for one, two in (("a", "b"), ("b", "c"), ("c", "a")):
            st.text(f"{row[one]} and {row[two]}")
            cards.votes_behind(state.votes(row[one], anchor=row[two]), name=f"triangle-{one}{two}")


def _copy(state: PageState) -> None:
    """The board, those of the other anchors, and the triangles in Python."""
    options = ", ".join(f"{name}={value!r}" for name, value in state.options.items())
    widgets.copy_as_python(
        f"""pairs = queries.pair_scores(store, selection, pooled=True)[{state.judge!r}]
print(board(pairs, {state.anchor!r}, {options}).to_frame().to_string())
print(anchor_swap(pairs, anchors={state.compared!r}, prior={state.prior!r}).to_frame())
print(triangles(pairs, prior={state.prior!r}).to_frame())"""
    )
