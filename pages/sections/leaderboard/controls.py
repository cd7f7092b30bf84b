"""What the Leaderboard page is asked, and the results that its answer and its sections share.

How columns of the page's tables are read: digits, units, and what a short title means.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, get_args

import streamlit as st

from core.agreement.kappa import agreement_matrix, reliability_factor
from core.errors import NoUsableVotes
from core.interpretation.leaderboard import TriangleTold, no_board, triangle_words
from core.leaderboard.anchored import Board, Prior, board
from core.leaderboard.anchors import AnchorSwap, Triangles, anchor_swap, anchors, triangles
from core.leaderboard.rating_methods import met
from core.leaderboard.standings import Standings, standings
from core.records import PairScores
from core.schema import Selection
from pages.shared import cached, widgets

PUBLISHED, CORRECTED = "published", "corrected"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Asked:
    """The page's controls, and the board that they ask for.

    pairs : scores of each judge, None pooled.  judges : those that met the anchor.  judge : the chosen one.
    boards : of every possible anchor, without finite pool and κ.  compared : anchors to compare, this first.
    board : the one to show.  options : how `core.leaderboard.anchored.board` makes it.
    """

    selection: Selection
    anchor: str
    judge: str | None
    judges: list[str]
    corrected: bool
    prior: Prior
    pairs: dict[str | None, PairScores]
    boards: dict[str, Board]
    compared: tuple[str, ...]
    board: Board
    options: dict[str, object]

    @property
    def scores(self) -> PairScores:
        """What all boards are made from."""
        return self.pairs[self.judge]

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What results about all anchors depend on."""
        return (self.selection, self.judge, self.prior)


def ask() -> Asked:
    """Draw the controls; refuse a selection in which no model met two others."""
    selection = widgets.current_selection()
    pairs = cached.pair_scores(selection, pooled=True)
    offered = cached.computed("anchors of 2", (selection,), lambda: anchors(pairs[None], minimum=2))
    if not offered:
        raise NoUsableVotes(no_board(pairs[None]))
    slots = st.columns([3, 3, 3, 2], gap="small", vertical_alignment="bottom")
    anchor = slots[0].selectbox("Anchor", offered, key="anchor", bind=widgets.URL)
    judges = [name for name, known in pairs.items() if name is not None and met(known, anchor)]
    judge = slots[1].selectbox(
        "Judge",
        judges,
        index=None,
        key="voter",
        bind=widgets.URL,
        placeholder=f"all {len(judges)}, pooled" if len(judges) > 1 else "the only one",
    )
    interval = widgets.choice(
        "95 % interval",
        [PUBLISHED, CORRECTED],
        default=PUBLISHED,
        key="interval",
        place=slots[2],
        help="The one that the board's sentence, figure and table show. Published takes every prompt for won "
        "or lost; corrected allows for ties and averaged votes, which vary less, and decides tiers and "
        "whether a model leads",
    )
    with slots[3].popover("Options", width="stretch"):
        prior: Prior = widgets.choice("Prior", get_args(Prior), default="jeffreys", key="prior")
        boards, compared = cached.computed(
            "boards",
            (selection, judge, prior, anchor),
            lambda: _boards_by_anchor(pairs[judge], anchor, prior),
        )
        pool = st.number_input(
            "Prompts in the finite pool, M",
            min_value=max(row.n for row in boards[anchor].rows),
            value=None,
            placeholder="infinite",
            key="pool",
            bind=widgets.URL,
            help="For prompts drawn from a known set of M: standard errors times √((M − N)/(M − 1)).",
        )
        kappa = _kappa_factor(selection, pooled=judge is None)
    shown = boards[anchor]
    if pool or kappa:
        shown = board(pairs[judge], anchor, prior=prior, pool=pool, kappa_factor=kappa)
    narrowing = {"pool": pool, "kappa_factor": kappa}
    return Asked(
        selection=selection,
        anchor=anchor,
        judge=judge,
        judges=judges,
        corrected=interval == CORRECTED,
        prior=prior,
        pairs=pairs,
        boards=boards,
        compared=compared,
        board=shown,
        options={"prior": prior} | {name: value for name, value in narrowing.items() if value},
    )


def _boards_by_anchor(
    scores: PairScores, anchor: str, prior: Prior
) -> tuple[dict[str, Board], tuple[str, ...]]:
    """Board of every possible anchor, and those to compare: this one, then all that met three others."""
    names = dict.fromkeys([anchor, *anchors(scores, minimum=2)])
    compared = tuple(dict.fromkeys([anchor, *anchors(scores)]))
    return {name: board(scores, name, prior=prior) for name in names}, compared


def _kappa_factor(selection: Selection, *, pooled: bool) -> float | None:
    """κ of the pooled judges if it is switched on."""
    factor = None
    if pooled:
        counts = cached.vote_counts(selection)
        factor = cached.computed("κ", (selection,), lambda: reliability_factor(agreement_matrix(counts)))
    on = st.toggle("Multiply standard errors by κ", key="kappa", bind=widgets.URL, disabled=factor is None)
    if factor is None:
        st.caption("κ needs two or more pooled judges that agree beyond chance.")
    else:
        st.caption("Not advised: judges that agree less then give a narrower interval, which is backwards.")
    return factor if on else None


def judged(asked: Asked) -> dict[str, Board]:
    """Board of each judge, where several are pooled."""
    if asked.judge is not None or len(asked.judges) < 2:
        return {}
    return cached.computed(
        "judged",
        (*asked.key, asked.anchor),
        lambda: {name: board(asked.pairs[name], asked.anchor, prior=asked.prior) for name in asked.judges},
    )


def standing(asked: Asked) -> Standings:
    """The board beside those of the other anchors."""

    def swapped() -> AnchorSwap:
        return anchor_swap(asked.scores, anchors=asked.compared, prior=asked.prior)

    swap = cached.computed("swap", (*asked.key, asked.anchor), swapped)
    return cached.computed(
        "standings",
        (*asked.key, asked.anchor, *asked.options.items()),
        lambda: standings(asked.scores, asked.board, boards=asked.boards, swap=swap),
    )


def all_triangles(asked: Asked) -> tuple[Triangles, tuple[TriangleTold, ...]]:
    """Every triangle of models, and those that could be tested in words."""
    known = cached.computed("triangles", asked.key, lambda: triangles(asked.scores, prior=asked.prior))
    told = cached.computed("triangle words", asked.key, lambda: triangle_words(known, asked.boards))
    return known, told


def in_url(key: str) -> str | None:
    """The chosen mark before its select box is drawn; on a cold link only the URL knows it."""
    chosen: str | None = st.session_state.get(key, st.query_params.get(key))
    return chosen


MODEL = st.column_config.TextColumn("model", width=130)
"""Long names are cut, so that numbers stay in view beside a figure; the figure and the download have them."""


def number(title: str, form: str, about: str | None = None) -> Any:
    """A column of numbers, in the digits that its interval earns."""
    return st.column_config.NumberColumn(title, format=form, help=about)
