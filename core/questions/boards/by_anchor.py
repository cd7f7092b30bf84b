"""Model × anchor: one summary of every board, over all judges and over the strong ones, and which
anchor to take.

Source: [RAEE] Tables 1 to 4, 10 and 11, and its appendix E.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ...stats.estimate import DataFrame, Estimate, rows_frame
from ..agreement.reliability import Repeatability
from .anchored import Board
from .anchors import AnchorSwap
from .panels import JudgedBoard

STRONG = 0.90
"""ICC(3,k) from which on a judge is strong. Source: [RAEE] §3."""
ALIKE = 0.90
"""Kendall τ above which two anchors rank alike."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ModelAtAnchor:
    """One model against one anchor.

    p, se_p, elo, se_elo : of the pooled board, with dispersion-corrected intervals.
    judges : with a board of their own.  sd_elo : SD over them of the Elo, points; cv : SD over mean
        of their p.  elo_strong : mean Elo over the strong judges, of which there are
        `strong_judges`. NaN where fewer than two judges, or no strong one, met both.
    """

    anchor: str
    model: str
    n: int
    p: Estimate
    se_p: float
    elo: Estimate
    se_elo: float
    judges: int
    sd_elo: float
    cv: float
    strong_judges: int
    elo_strong: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnchorChoice:
    """How an anchor serves.

    coverage : share of the models whose p is in [.2, .8].  tau : the least Kendall τ of its board
        with that of another anchor that met every model, or with any where fewer than two did; None
        without one.  prompts : distinct prompts behind its board.  missed : models on a board of
        another anchor that its own lacks.
    """

    anchor: str
    coverage: float
    tau: float | None
    prompts: int
    missed: int = 0

    @property
    def serves(self) -> bool:
        """Whether it met every model, and the others that did rank as it does, τ above .90."""
        return not self.missed and self.tau is not None and self.tau > ALIKE


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnchorSummary:
    """All models against all anchors, and the anchors from the one that serves best."""

    rows: tuple[ModelAtAnchor, ...]
    anchors: tuple[AnchorChoice, ...]
    strong: tuple[str, ...]

    @property
    def recommended(self) -> str | None:
        """The first anchor that ranks as all others do; None: none will do, or there is one."""
        return next((each.anchor for each in self.anchors if each.serves), None)

    def to_frame(self) -> DataFrame:
        """One row per anchor and model."""
        return rows_frame(ModelAtAnchor, self.rows)


def anchor_summary(
    boards: Mapping[str, Sequence[JudgedBoard]],
    swap: AnchorSwap | None,
    *,
    repeatability: Mapping[str, Repeatability | None] = MappingProxyType({}),
) -> AnchorSummary:
    """Model × anchor with p, SE, Elo, spread over judges, and the strong judges alone.

    boards : by anchor, as `panels.judged_boards`: the first pooled one is summed up, those of
        judges are what spreads.  swap : of all anchors.
    repeatability : of each judge; from ICC(3,k) .90 on it is strong.
    Anchors stand in order of serving (τ above .90 with every other), then by the larger share of
    models with p in [.2, .8], then by the larger least τ, then by name. An anchor that some model
    always loses to, or always beats, measures that model badly, whatever its τ. Where two anchors
    or more met every model, they alone can serve and are compared: a board without some of the
    models is none to take, and its order of a few says little. Where fewer did, all are compared.
    Source: [RAEE] Tables 1 to 4, 10, 11, E.1; the order of anchors is ours, docs/methods.md §6.
    """
    pooled = {anchor: judged[0].board for anchor, judged in boards.items()}
    strong = {
        judge
        for judge, found in repeatability.items()
        if found and found.icc_3_k and found.icc_3_k.value >= STRONG
    }
    rows = []
    for anchor, board in pooled.items():
        of_model = {
            each.judge: {row.model: row for row in each.board.rows}
            for each in boards[anchor]
            if each.judge is not None
        }
        for row in board.rows:
            seen = {judge: of[row.model] for judge, of in of_model.items() if row.model in of}
            p = np.array([each.p.value for each in seen.values()])
            elo = np.array([each.elo.value for each in seen.values()])
            among = [each.elo.value for judge, each in seen.items() if judge in strong]
            several = len(p) > 1
            rows.append(
                ModelAtAnchor(
                    anchor=anchor,
                    model=row.model,
                    n=row.n,
                    p=row.p_corrected,
                    se_p=row.se_p_corrected,
                    elo=row.elo_corrected,
                    se_elo=row.se_elo_corrected,
                    judges=len(p),
                    sd_elo=float(elo.std(ddof=1)) if several else math.nan,
                    cv=float(p.std(ddof=1) / p.mean()) if several else math.nan,
                    strong_judges=len(among),
                    elo_strong=float(np.mean(among)) if among else math.nan,
                )
            )
    choices = anchor_choices(pooled, swap)
    return AnchorSummary(rows=tuple(rows), anchors=choices, strong=tuple(sorted(strong)))


def anchor_choices(
    boards: Mapping[str, Board], swap: AnchorSwap | None
) -> tuple[AnchorChoice, ...]:
    """How each anchor serves, the best first, as `anchor_summary` has it.

    boards : the pooled one of each anchor.  swap : of all anchors.
    """
    on_board = {anchor: {row.model for row in board.rows} for anchor, board in boards.items()}
    every = set().union(*on_board.values())
    missed = {anchor: len(every - on - {anchor}) for anchor, on in on_board.items()}
    whole = {anchor for anchor, models in missed.items() if not models}
    if len(whole) < 2:
        missed, whole = dict.fromkeys(boards, 0), set(boards)
    choices = [
        AnchorChoice(
            anchor=anchor,
            coverage=board.mid_region_coverage,
            tau=_least_tau(anchor, whole, swap),
            prompts=board.n_items,
            missed=missed[anchor],
        )
        for anchor, board in boards.items()
    ]

    def place(choice: AnchorChoice) -> tuple[bool, int, float, float, str]:
        coverage = -1.0 if math.isnan(choice.coverage) else choice.coverage
        return not choice.serves, choice.missed, -coverage, -(choice.tau or -1.0), choice.anchor

    return tuple(sorted(choices, key=place))


def _least_tau(anchor: str, others: Set[str], swap: AnchorSwap | None) -> float | None:
    """Least Kendall τ of an anchor's board with those of the others."""
    taus = [
        row.kendall_tau
        for row in (swap.rows if swap else ())
        for other in {row.anchor_1, row.anchor_2} - {anchor}
        if anchor in (row.anchor_1, row.anchor_2)
        and other in others
        and row.kendall_tau is not None
    ]
    return min(taus, default=None)
