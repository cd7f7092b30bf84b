"""Controls of the Leaderboard page, and the results that its answer and its sections share."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, get_args

import streamlit as st

from core.bounds import (
    MOST_SWAPPED,
    MOST_WAITED_FOR,
    models_with_most_votes,
    of_models,
    within_models,
)
from core.errors import NoUsableVotes
from core.questions.agreement.kappa import agreement_matrix, reliability_factor
from core.questions.boards.anchored import Board, Prior, board, met
from core.questions.boards.anchors import Triangles, anchor_swap, anchors, triangles
from core.questions.boards.panels import JudgedBoard, judged_boards, panels, unequal
from core.questions.boards.standings import Standings, standings
from core.questions.boards.words import (
    ALL_POOLED,
    TriangleSummary,
    judged_unequally,
    no_board,
    readers_apart,
    triangle_summaries,
)
from core.records import PairScores, Panel, independent
from core.schema import Selection
from core.store.vote_queries import Mark
from pages.shared import cached, widgets

PUBLISHED, CORRECTED = "published", "corrected"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The page's controls, and the board that they ask for.

    pairs : scores of each judge, None pooled.  judges : those that met the anchor.  judge : the
        chosen one.
    panels : judges that judged the same models against the anchor; where they are unequal, the
        pooled scores are those of the first panel alone.
    boards : of every possible anchor, without finite pool and κ; pooled, each is of the first panel
        of its own anchor.  scores_at : what each was made from.  compared : anchors to compare,
        this first.
    board : the one to show.  options : how `core.questions.boards.anchored.board` makes it.
    """

    anchor: str
    judge: str | None
    judges: list[str]
    corrected: bool
    prior: Prior
    pairs: dict[str | None, PairScores]
    panels: tuple[Panel, ...]
    boards: dict[str, Board]
    scores_at: dict[str, PairScores]
    compared: tuple[str, ...]
    board: Board
    options: dict[str, object]

    @property
    def scores(self) -> PairScores:
        """What all boards are made from."""
        return self.pairs[self.judge]

    @property
    def by_judge(self) -> dict[str, PairScores]:
        """Scores of each judge that met the anchor."""
        return {name: self.pairs[name] for name in self.judges}

    def votes(
        self,
        model: str,
        *,
        anchor: str | None = None,
        judge: str | None = None,
        category: str | None = None,
    ) -> Mark:
        """The votes on a model against the anchor, or another one, by the chosen judge or another
        one.
        """
        return Mark(
            models=(model, anchor or self.anchor), judge=judge or self.judge, category=category
        )

    @property
    def swapped(self) -> tuple[str, ...]:
        """Models that are compared two by two and three by three, the anchor among them."""
        return models_with_most_votes(self.scores, (self.anchor,), most=MOST_SWAPPED)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What results about all anchors depend on."""
        panel = self.panels[0] if self.apart else None
        return (self.selection, self.judge, self.prior, panel)

    @property
    def apart(self) -> str | None:
        """Why the pooled board is that of some judges; None where all are pooled, or a judge is
        chosen.
        """
        return judged_unequally(self.panels) if self.judge is None else None


def all_pooled(state: PageState) -> None:
    """Say that what follows pools judges of different models, where it does."""
    if state.apart:
        st.text(ALL_POOLED)


def read_controls() -> PageState:
    """Draw the controls; refuse a selection in which no model met two others."""
    selection = widgets.current_selection()
    pairs, left_out = pairs_within(selection)
    if left_out is not None:
        st.text(left_out)
    offered = cached.computed(
        "anchors of 2", (selection, MOST_WAITED_FOR), lambda: anchors(pairs[None], minimum=2)
    )
    if not offered:
        raise NoUsableVotes(no_board(pairs[None]))
    slots = st.columns([3, 3, 3, 2], gap="small", vertical_alignment="bottom")
    anchor = slots[0].selectbox("Anchor", offered, key="anchor", bind=widgets.URL)
    judges = [name for name, known in pairs.items() if name is not None and met(known, anchor)]
    found = cached.computed(
        "panels",
        (selection, anchor),
        lambda: panels({name: pairs[name] for name in judges}, [anchor]),
    )[anchor]
    whole = pairs
    if unequal(found):
        (together,) = cached.panel_scores(selection, found[:1])
        pairs = pairs | {None: of_models(together, pairs[None].models)}
    judge = widgets.select(
        "Judge",
        judges,
        start=None,
        key="voter",
        place=slots[1],
        placeholder=f"all {len(independent(judges))}, pooled"
        if len(judges) > 1
        else "the only judge",
    )
    if judge is None and (reason := readers_apart(judges)) is not None:
        st.caption(reason)
    interval = widgets.choice(
        "95 % interval",
        [PUBLISHED, CORRECTED],
        key="interval",
        place=slots[2],
        help="The one that the board's sentence, figure and table show. Published takes every "
        "prompt for won or lost; corrected allows for ties and averaged votes, which vary less, "
        "and decides tiers and whether a model leads",
    )
    with slots[3].popover("Options", width="stretch"):
        prior: Prior = widgets.choice("Prior", get_args(Prior), default="jeffreys", key="prior")
        boards, scores_at, compared = cached.computed(
            "boards",
            (selection, judge, prior, anchor, found),
            lambda: _boards_by_anchor(selection, whole, judge, anchor, prior),
        )
        pool = st.number_input(
            "Prompts in the finite pool, M",
            min_value=max(row.n for row in boards[anchor].rows),
            value=None,
            placeholder="infinite",
            key="pool",
            bind=widgets.URL,
            help=(
                "For prompts drawn from a known set of M: standard errors times √((M − N)/(M − 1))."
            ),
        )
        kappa = _kappa_factor(selection, pooled=judge is None)
    shown = boards[anchor]
    if pool or kappa:
        shown = board(pairs[judge], anchor, prior=prior, pool=pool, kappa_factor=kappa)
    narrowing = {"pool": pool, "kappa_factor": kappa}
    return PageState(
        anchor=anchor,
        judge=judge,
        judges=judges,
        corrected=interval == CORRECTED,
        prior=prior,
        pairs=pairs,
        panels=found,
        boards=boards,
        scores_at=scores_at,
        compared=compared,
        board=shown,
        options={"prior": prior} | {name: value for name, value in narrowing.items() if value},
    )


def pairs_within(selection: Selection) -> tuple[dict[str | None, PairScores], str | None]:
    """Scores of each judge, and of all under None, on the models that the page holds; which it
    leaves out.
    """
    return cached.computed(
        "models within",
        (selection, MOST_WAITED_FOR),
        lambda: within_models(cached.pair_scores(selection, pooled=True), most=MOST_WAITED_FOR),
    )


def _boards_by_anchor(
    selection: Selection,
    pairs: dict[str | None, PairScores],
    judge: str | None,
    anchor: str,
    prior: Prior,
) -> tuple[dict[str, Board], dict[str, PairScores], tuple[str, ...]]:
    """Board of every possible anchor, what it was made from, and the anchors to compare: this one,
    then all that met three others.
    """
    scores = pairs[judge]
    names = dict.fromkeys([anchor, *anchors(scores, minimum=2)])
    swapped = models_with_most_votes(scores, (anchor,), most=MOST_SWAPPED)
    others = (name for name in anchors(scores) if name in swapped)
    compared = tuple(dict.fromkeys([anchor, *others]))
    at = dict.fromkeys(names, scores)
    if judge is None:
        # As in an audit: judges of other models are not pooled with them at any anchor.
        judged = {name: each for name, each in pairs.items() if name is not None}
        first = {name: some[0] for name, some in panels(judged, names).items() if unequal(some)}
        together = cached.panel_scores(selection, list(first.values())) if first else []
        for name, each in zip(first, together, strict=True):
            at[name] = of_models(each, scores.models)
    return {name: board(at[name], name, prior=prior) for name in names}, at, compared


def _kappa_factor(selection: Selection, *, pooled: bool) -> float | None:
    """κ of the pooled judges if it is switched on."""
    factor = None
    if pooled:
        counts = cached.vote_counts(selection)
        judges = {name: counts[name] for name in independent(counts)}
        factor = cached.computed(
            "κ", (selection,), lambda: reliability_factor(agreement_matrix(judges))
        )
    on = st.toggle(
        "Multiply standard errors by κ", key="kappa", bind=widgets.URL, disabled=factor is None
    )
    if factor is None:
        st.caption("κ needs two or more pooled judges that agree beyond chance.")
    else:
        st.caption(
            "Not advised: judges that agree less then give a narrower interval, the wrong way "
            "round."
        )
    return factor if on else None


MOST_MARKED = 8
"""Judges whose own marks are drawn beside the pooled ones."""


def judged(state: PageState) -> dict[str, Board]:
    """Board of each judge, where several are pooled."""
    if state.judge is not None or len(state.judges) < 2:
        return {}
    return cached.of_each(
        "judged",
        (*state.key, state.anchor),
        state.by_judge,
        lambda scores: board(scores, state.anchor, prior=state.prior),
    )


def boards_of_anchors(state: PageState) -> dict[str, tuple[JudgedBoard, ...]]:
    """Pooled boards of every anchor that is compared, and those of each judge, as an audit has
    them, whichever judge is chosen.
    """

    def made() -> dict[str, tuple[JudgedBoard, ...]]:
        pairs, _ = pairs_within(state.selection)
        judged = {name: scores for name, scores in pairs.items() if name is not None}
        of_anchor = panels(judged, state.compared)
        apart = [panel for some in of_anchor.values() if unequal(some) for panel in some]
        together = cached.panel_scores(state.selection, apart) if apart else []
        scores_of = {
            panel: of_models(scores, pairs[None].models)
            for panel, scores in zip(apart, together, strict=True)
        }
        return judged_boards(pairs, of_anchor, scores_of, prior=state.prior)

    return cached.computed(
        "boards of anchors", (state.selection, state.prior, state.compared), made
    )


def standing(state: PageState) -> Standings:
    """The board beside those of the other anchors."""
    swap = cached.computed(
        "swap",
        (*state.key, state.anchor),
        lambda: anchor_swap(
            pairs_within(state.selection)[0][state.judge],
            anchors=state.compared,
            prior=state.prior,
            boards={name: state.boards[name] for name in state.compared},
            beside=state.anchor,
        ),
    )
    return cached.computed(
        "standings",
        (*state.key, state.anchor, *state.options.items()),
        lambda: standings(
            state.scores, state.board, boards=state.boards, swap=swap, scores=state.scores_at
        ),
    )


def all_triangles(state: PageState) -> tuple[Triangles, tuple[TriangleSummary, ...]]:
    """Every triangle of models, and a summary of those that could be tested."""
    known = cached.computed(
        "triangles",
        (*state.key, state.anchor),
        lambda: triangles(of_models(state.scores, state.swapped), prior=state.prior),
    )
    summaries = cached.computed(
        "triangle summaries",
        (*state.key, state.anchor),
        lambda: triangle_summaries(known, state.boards),
    )
    return known, summaries


def how_many(models: int, few: int, *, key: str, place: Any) -> int | None:
    """How many models a figure draws: a few, or all of them if the visitor asks for that."""
    if models <= few or place.toggle(f"Draw all {models} models", key=key, bind=widgets.URL):
        return None
    return few
