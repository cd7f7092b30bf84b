"""What is made of all raters for this question; counts keep each result once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...bounds import MOST_ANCHORS, of_models, within_models
from ...errors import NoUsableVotes, UnreadableFile
from ...files import shown_name
from ...finding.evidence import Counted
from ...finding.result import Result
from ...records import PairScores, Panel
from ...store import vote_queries as queries
from ..agreement.results import REPEATABILITY
from .anchors import AnchorSwap, anchor_swap
from .anchors import anchors as models_that_anchor
from .ask import pair_doubts, pair_scores, panel_scores
from .board_checks import BoardChecks, board_checks
from .by_anchor import AnchorSummary, anchor_summary
from .panels import JudgedBoard, judged_boards, panels, unequal
from .standings import OutsideBoard, OutsideComparison, compare_outside, read_outside

if TYPE_CHECKING:
    from ...auditing.options import AuditOptions


def anchors_of(pooled: PairScores, options: AuditOptions) -> tuple[str, ...]:
    """The anchors that were asked for; else the models that met at least three others, of many
    those with most votes.
    """
    if options.anchors is not None:
        return options.anchors
    anchors = models_that_anchor(pooled)
    if len(anchors) <= MOST_ANCHORS:
        return anchors
    codes, n = np.concatenate([pooled.model_1, pooled.model_2]), np.tile(pooled.n_votes, 2)
    votes = dict(zip(pooled.models, np.bincount(codes, n, len(pooled.models)), strict=True))
    most = sorted(anchors, key=lambda name: (-votes[name], name))[:MOST_ANCHORS]
    return tuple(sorted(most, key=anchors.index))


Pairs = Mapping[str | None, PairScores]
"""Scores of pairs of models by judge, and of all judges under None."""


def _pairs(counted: Counted) -> tuple[Pairs, str | None]:
    if not counted.about:
        return {}, None
    return within_models(counted.ask(pair_scores, pooled=True), counted.options.anchors or ())


PAIRS = Result("pairs", _pairs)
"""Scores of pairs of at most so many models, and the sentence that says so; none without votes."""


def _used_anchors(counted: Counted) -> tuple[str, ...]:
    pairs, _ = counted[PAIRS]
    return anchors_of(pairs[None], counted.options) if pairs else ()


USED_ANCHORS = Result("used_anchors", _used_anchors)
"""The anchors of the boards."""


def _panels(counted: Counted) -> dict[str, tuple[Panel, ...]]:
    pairs, _ = counted[PAIRS]
    of_judges = {name: scores for name, scores in pairs.items() if name is not None}
    return panels(of_judges, counted[USED_ANCHORS])


PANELS = Result("panels", _panels)
"""Anchor → which judges judged which models against it."""


def _panel_scores(counted: Counted) -> dict[Panel, PairScores]:
    of_anchor = counted[PANELS].values()
    apart = tuple(panel for some in of_anchor if unequal(some) for panel in some)
    if not apart:
        return {}
    models = counted[PAIRS][0][None].models
    together = counted.ask(panel_scores, panels=apart)
    return {panel: of_models(of, models) for panel, of in zip(apart, together, strict=True)}


PANEL_SCORES = Result("panel_scores", _panel_scores)
"""Scores of the panels of anchors whose models were judged by different judges."""


def _boards(counted: Counted) -> dict[str, tuple[JudgedBoard, ...]]:
    options = counted.options
    return judged_boards(
        counted[PAIRS][0],
        counted[PANELS],
        counted[PANEL_SCORES],
        level=options.level,
        pool=options.pool,
    )


BOARDS = Result("boards", _boards)
"""Anchor → its pooled boards and those of each judge."""


def _anchor_swap(counted: Counted) -> AnchorSwap | None:
    boards = counted[BOARDS]
    if len(boards) < 2:
        return None
    # What is compared with another anchor's board is what is shown first.
    shown = {
        anchor: boards[anchor][0].board for anchor, some in counted[PANELS].items() if unequal(some)
    }
    return anchor_swap(counted[PAIRS][0][None], anchors=counted[USED_ANCHORS], boards=shown)


ANCHOR_SWAP = Result("anchor_swap", _anchor_swap)
"""What changes with the anchor; None where there is one."""


def _anchors(counted: Counted) -> AnchorSummary | None:
    repeated = {judge: counted.of(judge)[REPEATABILITY] for judge in counted.about}
    boards = counted[BOARDS]
    return anchor_summary(boards, counted[ANCHOR_SWAP], repeatability=repeated) if boards else None


ANCHORS = Result("anchors", _anchors)
"""Every model against every anchor, and which anchor to take."""


def _board_checks(counted: Counted) -> BoardChecks | None:
    """Triangles, abstention and direct scores of a selection with or without votes."""
    if not counted.options.board_checks:
        return None
    boards = counted[BOARDS]
    doubts = counted.ask(pair_doubts) if boards else {}
    try:
        scores = counted.ask(queries.direct_scores)
    except NoUsableVotes:
        scores = {}
    judged = {
        anchor: {each.judge: each.board for each in of_anchor if each.judge is not None}
        for anchor, of_anchor in boards.items()
    }
    level = counted.options.level
    return board_checks(counted[PAIRS][0].get(None), judged, doubts, scores, level=level)


BOARD_CHECKS = Result("board_checks", _board_checks)
"""Whether boards add up; None if it was not asked for."""


def _outside_board(counted: Counted) -> OutsideBoard | None:
    file = counted.options.outside
    if file is None:
        return None
    name = shown_name(Path(file).name)
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{name}: cannot be read ({error.strerror})") from None
    return read_outside(content, name=name)


OUTSIDE_BOARD = Result("outside_board", _outside_board)
"""The published board of a file; None if it was not asked for."""


def _outside(counted: Counted) -> OutsideComparison | None:
    published, boards = counted[OUTSIDE_BOARD], counted[BOARDS]
    if published is None or not boards:
        return None
    options = counted.options
    return compare_outside(
        next(iter(boards.values()))[0].board,
        published,
        rng=np.random.default_rng(options.seed),
        level=options.level,
    )


OUTSIDE = Result("outside", _outside)
"""A published board beside the first one."""
