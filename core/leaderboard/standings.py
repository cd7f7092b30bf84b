"""A board beside those of other anchors: who leads by how much, and which models another anchor reverses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from ..records import PairScores
from ..stats.estimate import Estimate, rows_frame
from .anchored import TIER_Z, Board, against, board, score_difference
from .anchors import AnchorSwap

if TYPE_CHECKING:
    import pandas as pd


PAIRED_MINIMUM = 10
"""Common prompts of two models below which their difference is not taken prompt by prompt."""

MID_REGION_WANTED = 0.95
"""Share of a board that should lie in the mid region (Source: docs/methods.md §6)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lead:
    """The first of a board over the second, in win probability against the anchor.

    difference : of the scores, their mean on the n prompts that both played, if `paired`; else of the two win
    probabilities, and n is the smaller number of prompts. The interval excludes 0 exactly when the second
    starts a new tier.
    top_tier : models of the first tier.
    """

    leader: str
    runner_up: str
    difference: Estimate
    paired: bool
    top_tier: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OtherAnchor:
    """The board of another anchor beside the one at hand; both anchors are left out of the comparison.

    models : those on both boards.  kendall_tau, mean_abs_centred_shift : as `anchors.SwapRow`.
    reversals : (here above, there above) of two models whose order is more than chance on both boards, and
    opposite (both p-values times the number of pairs and anchors below 1 - level, so that many models do not
    make reversals).  mid_region_coverage : of the other board.  n_items : prompts behind it.
    """

    anchor: str
    models: tuple[str, ...]
    kendall_tau: float | None
    mean_abs_centred_shift: float | None
    reversals: tuple[tuple[str, str], ...]
    leader: str
    mid_region_coverage: float
    n_items: int

    @property
    def mid_region_enough(self) -> bool:
        """Whether as much of the other board lies in the mid region as should."""
        return self.mid_region_coverage >= MID_REGION_WANTED


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Standings:
    """The lead of a board (None with one model) and its other anchors, in the swap's order."""

    board: Board
    lead: Lead | None
    others: tuple[OtherAnchor, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per other anchor; `models` and `reversals` are their numbers."""
        frame = rows_frame(OtherAnchor, self.others)
        return frame.assign(
            models=frame["models"].map(len),
            reversals=frame["reversals"].map(len),
            mid_region_enough=[other.mid_region_enough for other in self.others],
        )


def standings(pairs: PairScores, shown: Board, *, boards: Mapping[str, Board], swap: AnchorSwap) -> Standings:
    """Compare a board with those of other anchors (ours).

    Parameters
    ----------
    pairs : what all boards were made from.
    shown : the board to compare.
    boards : board of each anchor by name, same prior.
    swap : of all those anchors; a pair without a row in it is left out.

    Source: [RAEE] anchor swap; docs/methods.md §6; reversals ours.
    """
    others = []
    compared = [row for row in swap.rows if shown.anchor in (row.anchor_1, row.anchor_2)]
    tests = sum(len(row.models) * (len(row.models) - 1) // 2 for row in compared)
    plain = _plain(pairs, shown)
    here = _differences(pairs, plain)
    for row in compared:
        name = row.anchor_2 if row.anchor_1 == shown.anchor else row.anchor_1
        others.append(
            OtherAnchor(
                anchor=name,
                models=row.models,
                kendall_tau=row.kendall_tau,
                mean_abs_centred_shift=row.mean_abs_centred_shift,
                reversals=_reversals(plain, row.models, (here, _differences(pairs, boards[name])), tests),
                leader=boards[name].rows[0].model,
                mid_region_coverage=boards[name].mid_region_coverage,
                n_items=boards[name].n_items,
            )
        )
    return Standings(board=shown, lead=lead(pairs, shown), others=tuple(others))


def lead(pairs: PairScores, shown: Board) -> Lead | None:
    """The first of a board over the second, with the interval that tiers test; None with one model.

    d̄ ± t(n - 1)·sd(d)/√n over common prompts, d the per-prompt difference of the two scores; with fewer than
    two of them, or without variance, p̄₁ - p̄₂ ± 1.96·√(SE₁² + SE₂²) with the dispersion-corrected SE. A
    finite pool and κ do not enter.

    Source: docs/methods.md §6 (ours).
    """
    if len(shown.rows) < 2:
        return None
    plain = _plain(pairs, shown)
    first, second = plain.rows[:2]
    model, item, score, _ = against(pairs, shown.anchor)
    places = [model == pairs.models.index(row.model) for row in (first, second)]
    one, two = ((item[place], score[place]) for place in places)
    p, se = np.array([first.p.value, second.p.value]), np.array([first.se_p_corrected, second.se_p_corrected])
    difference, error, n, paired = score_difference(one, two, p, se)
    return Lead(
        leader=first.model,
        runner_up=second.model,
        difference=Estimate(difference, difference - TIER_Z * error, difference + TIER_Z * error, n=n),
        paired=paired,
        top_tier=tuple(row.model for row in plain.rows if row.tier == 1),
    )


def _plain(pairs: PairScores, shown: Board) -> Board:
    """The board without finite pool and κ, which change intervals but not what sets models apart."""
    if shown.pool is None and shown.kappa_factor is None:
        return shown
    return board(pairs, shown.anchor, prior=shown.prior, level=shown.level)


def most_reversing(found: Standings) -> OtherAnchor | None:
    """The other anchor with most reversals, of these the one with the least τ; None without another."""
    compared = [other for other in found.others if other.kendall_tau is not None]
    return max(compared, key=lambda one: (len(one.reversals), -(one.kendall_tau or 0.0)), default=None)


def _reversals(
    one: Board,
    models: Sequence[str],
    z: tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]],
    tests: int,
) -> tuple[tuple[str, str], ...]:
    """(above on one, above on two), most certain first; `tests` is the number of pairs tested in all."""
    from scipy.special import ndtr

    found = []
    for upper, lower in permutations(models, 2):
        # Both differences must be more than chance, so the weaker one decides.
        weaker = min(z[0][upper, lower], z[1][lower, upper])
        if weaker > 0 and tests * 2 * ndtr(-weaker) < 1 - one.level:
            found.append((weaker, upper, lower))
    return tuple((upper, lower) for _, upper, lower in sorted(found, key=lambda f: (-f[0], f[1:])))


def _differences(pairs: PairScores, shown: Board) -> dict[tuple[str, str], float]:
    """z of the score difference of every two models of a board.

    On common prompts, if they are ten or more and their differences vary; else that of two independent p̄.
    """
    model, item, score, _ = against(pairs, shown.anchor)
    codes, row = np.unique(model, return_inverse=True)
    items, column = np.unique(item, return_inverse=True)
    played, s = np.zeros((2, len(codes), len(items)))
    played[row, column], s[row, column] = 1.0, score - 0.5
    n = played @ played.T
    total, squares = s @ played.T, s**2 @ played.T
    mean = (total - total.T) / np.maximum(n, 1)
    variance = (squares + squares.T - 2 * s @ s.T - n * mean**2) / np.maximum(n - 1, 1)
    by_name = {known.model: known for known in shown.rows}
    rows = [by_name[pairs.models[code]] for code in codes]
    p, se = np.array([known.p.value for known in rows]), np.array([known.se_p_corrected for known in rows])
    apart = (p[:, None] - p) / np.sqrt(se[:, None] ** 2 + se**2)
    paired = (n >= PAIRED_MINIMUM) & (variance > 1e-9)
    z = np.where(paired, mean / np.sqrt(np.where(paired, variance / np.maximum(n, 1), 1)), apart)
    return {
        (rows[i].model, rows[j].model): float(z[i, j]) for i in range(len(rows)) for j in range(len(rows))
    }
