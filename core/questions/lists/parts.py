"""What each part of the consensus gives alone, and what the judge itself flags in who wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...records import BoolArray, FloatArray, IntArray, ListRankings
from ...stats.estimate import Estimate
from ...stats.intervals import mean_interval
from .method import (
    COMPONENTS,
    TOLERANCE,
    Blocks,
    Weights,
    blocks,
    mean_worth,
    scores_of,
    winners,
    worth,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartAlone:
    """Consensus of all orders by one part of the score, or by `all` of them, on items whose best is
    known.

    right : worth, by item.  change : `right` minus that of all parts, paired by item; no interval
        for all.
    winners : mean number of winners of an item.  differs : codes of the items on which it is not as
        right as all parts.
    """

    part: str
    right: Estimate
    change: Estimate
    winners: float
    differs: IntArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FlaggedWinner:
    """Share of the runs that flag a fault in who wins, mean over items.

    consensus, direct : of the consensus's winners, and of those of the first order; where several
        win, their mean.
    change : consensus minus direct, paired by item.  all : of all candidates.
    """

    fault: str
    consensus: Estimate
    direct: Estimate
    change: Estimate
    all: float


def parts_alone(
    rankings: ListRankings,
    *,
    weights: Weights | None = None,
    tolerance: float = TOLERANCE,
    level: float = 0.95,
) -> tuple[PartAlone, ...]:
    """The ablation of the consensus: each part that every run has alone, then all of them.

    Raises NoUsableVotes if no item has a known best candidate, else as `blocks`. Source: [PCF] §4,
    its ablation; intervals by item are ours.
    """
    laid, weights = blocks(rankings), weights or Weights()
    known = laid.labelled()
    every_order = np.ones((1, laid.shown.shape[1]))

    def winning(used: Weights) -> BoolArray:
        return winners(laid, scores_of(laid, used, every_order), tolerance)

    def alone(part: str) -> Weights:
        return Weights(**{name: float(name == part) for name in COMPONENTS})

    win = {part: winning(alone(part)) for part in laid.values} | {"all": winning(weights)}
    right = {part: worth(laid, won)[known, 0] for part, won in win.items()}
    items = np.arange(int(known.sum()))
    unchanged = Estimate(0.0, 0.0, 0.0, n=len(items), level=level)
    return tuple(
        PartAlone(
            part=part,
            right=mean_worth(value, level=level),
            change=unchanged
            if part == "all"
            else mean_interval(items, value - right["all"], ends=(-1.0, 1.0), level=level),
            winners=float(np.add.reduceat(win[part][:, 0], laid.start, dtype=float)[known].mean()),
            differs=laid.item[laid.start][known][np.abs(value - right["all"]) > TOLERANCE],
        )
        for part, value in right.items()
    )


def flagged_winners(
    rankings: ListRankings,
    *,
    weights: Weights | None = None,
    tolerance: float = TOLERANCE,
    level: float = 0.95,
) -> tuple[FlaggedWinner, ...]:
    """How often the judge flags a fault in the candidate that it puts first: by all orders, by the
    first.

    One entry per flag that every run has; none where the judge gave no flags. Needs no label. A
    flag is the mean over all runs of the item. Errors as `blocks`. Source: [PCF] §3, its flags; the
    comparison is ours.
    """
    laid, weights = blocks(rankings), weights or Weights()
    runs = laid.shown.shape[1]
    orders = np.stack([np.eye(runs)[0], np.ones(runs)])
    win = winners(laid, scores_of(laid, weights, orders), tolerance)
    items = np.arange(len(laid.start))

    def of_winners(flagged: FloatArray, which: int) -> FloatArray:
        return _mean_of(laid, flagged, win[:, which])

    found = []
    for fault, raised in laid.flags.items():
        flagged = raised.sum(axis=1) / laid.shown.sum(axis=1)
        direct, pooled = of_winners(flagged, 0), of_winners(flagged, 1)
        found.append(
            FlaggedWinner(
                fault=fault,
                consensus=mean_interval(items, pooled, ends=(0.0, 1.0), level=level),
                direct=mean_interval(items, direct, ends=(0.0, 1.0), level=level),
                change=mean_interval(items, pooled - direct, ends=(-1.0, 1.0), level=level),
                all=float(_mean_of(laid, flagged, np.ones(len(flagged), bool)).mean()),
            )
        )
    return tuple(found)


def _mean_of(laid: Blocks, values: FloatArray, which: BoolArray) -> FloatArray:
    """Mean of an item's values over the entries that count."""
    total = np.add.reduceat(np.where(which, values, 0.0), laid.start)
    return np.asarray(total / np.add.reduceat(which, laid.start, dtype=np.float64))
