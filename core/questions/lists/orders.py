"""What the order of candidates does to a listwise judge: how many orders are needed, and which
slots win.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidOption, NoUsableVotes
from ...records import BoolArray, FloatArray, IntArray, ListRankings
from ...stats.estimate import DataFrame, Estimate, rows_frame
from ...stats.intervals import clustered_share, design_effect, mean_interval, wilson
from .method import TOLERANCE, Blocks, Weights, blocks, mean_worth, scores_of, winners, worth


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Orders:
    """Consensus of `k` orders, mean over `subsets` subsets of k orders.

    accuracy : worth of the consensus, with an interval by item.
    gain : accuracy minus that of one order, paired by item; no interval with one item.
    majority_error : share of (item, subset) in which no more than half of the orders put the best
        first.
    bound : exp(−2k(q − ½)²), None if q ≤ ½.
    """

    k: int
    accuracy: Estimate
    gain: Estimate
    majority_error: float
    subsets: int
    bound: float | None
    n: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderSweep:
    """Accuracy against the number of orders, one row per K, on the `n` items that have all these
    runs.

    q : how often one order alone puts the best first.  left_out : items with fewer runs.
    missed : of each row the codes of the items whose consensus is not right in every subset.
    """

    rows: tuple[Orders, ...]
    q: float
    n: int
    left_out: int
    missed: tuple[IntArray, ...]

    def to_frame(self) -> DataFrame:
        """One row per number of orders."""
        frame = rows_frame(Orders, self.rows).astype({"bound": float})
        return frame.rename(columns={"accuracy_low": "low", "accuracy_high": "high"})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Slot:
    """How often the candidate shown in a slot comes first; slot 0 is shown first.

    win : share of first places among the runs that have the slot, Wilson at n/deff clustered by
        item.
    chance : mean 1/n over those runs, what a judge without any preference would give the slot.
    expected : the same candidates' share of first places in their runs in other slots, over those
        that have
    any: what quality alone would give the slot, whoever was put there (ours).
    pull : their share here minus that, paired and clustered by item; NaN without any.
    best : as `win`, for runs with the best candidate in the slot: accuracy; NaN without any.
    """

    slot: int
    win: Estimate
    chance: float
    expected: float
    pull: Estimate
    best: Estimate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderSensitivity:
    """`changed`: share of items, among those seen in two or more orders, whose first place depends
    on order.

    pairs : mean over those items of the share of pairs of orders that put other candidates first.
    decided : codes of the items whose first place depends on order.
    """

    changed: Estimate
    pairs: float
    decided: IntArray
    slots: tuple[Slot, ...]

    def to_frame(self) -> DataFrame:
        """One row per slot."""
        rows = rows_frame(Slot, self.slots)
        counts = {
            "n": [row.win.n for row in self.slots],
            "best_n": [row.best.n for row in self.slots],
        }
        names = {"win_low": "low", "win_high": "high", "best": "best_win"}
        return rows.assign(**counts).rename(columns=names)


def order_sweep(
    rankings: ListRankings,
    *,
    rng: np.random.Generator,
    weights: Weights | None = None,
    tolerance: float = TOLERANCE,
    max_subsets: int = 200,
    level: float = 0.95,
) -> OrderSweep:
    """Accuracy of the consensus of K orders, K = 1 … all, by taking subsets of the orders of each
    item.

    All subsets of K orders if there are at most `max_subsets`, else that many drawn at random. Only
    items with the most common number of runs or more count, and of those the first runs: every K is
    judged on the same items. The Hoeffding bound holds for orders that err independently and with
    the same q on every item; real ones do neither, so it is a reference and no promise.

    Raises NoUsableVotes if no item has a known best candidate. Source: [PCF] §3.3; subsets are
    ours.
    """
    if max_subsets < 1:
        raise InvalidOption(f"max_subsets {max_subsets}: use 1 or more.")
    laid, weights = blocks(rankings), weights or Weights()
    known = laid.labelled()
    runs = laid.shown[laid.start].sum(axis=1)
    times = np.bincount(runs[known])
    orders = int(np.flatnonzero(times == times.max())[-1])
    rows = known & (runs >= orders)
    right = np.where(laid.best[:, None] == 1, laid.top, 0.0)
    right = np.add.reduceat(right, laid.start, axis=0)[rows, :orders]
    q = float(right.mean())
    items = np.arange(len(right))
    found: list[Orders] = []
    missed = []
    for k in range(1, orders + 1):
        chosen = _subsets(orders, k, max_subsets, rng)
        wide = np.zeros((len(chosen), laid.shown.shape[1]))
        wide[:, :orders] = chosen
        with np.errstate(invalid="ignore"):
            value = worth(laid, winners(laid, scores_of(laid, weights, wide), tolerance))[
                rows
            ].mean(axis=1)
        if k == 1:
            one = value
        missed.append(laid.item[laid.start][rows][value < 1 - TOLERANCE])
        gain = mean_interval(items, value - one, ends=(-1.0, 1.0), level=level)
        found.append(
            Orders(
                k=k,
                accuracy=mean_worth(value, level=level),
                # One order against itself is no estimate.
                gain=gain if k > 1 else replace(gain, low=0.0, high=0.0),
                majority_error=float((right @ chosen.T <= k / 2).mean()),
                subsets=len(chosen),
                bound=float(np.exp(-2 * k * (q - 0.5) ** 2)) if q > 0.5 else None,
                n=len(value),
            )
        )
    return OrderSweep(
        rows=tuple(found),
        q=q,
        n=int(rows.sum()),
        left_out=int((known & ~rows).sum()),
        missed=tuple(missed),
    )


def order_sensitivity(rankings: ListRankings, *, level: float = 0.95) -> OrderSensitivity:
    """Does the order of the candidates decide: items whose first place changes, and first places by
    slot.

    An item counts if it was judged in two or more orders. Two orders differ if their sets of first
    places do.

    Raises NoUsableVotes if no item was judged twice.
    Source: docs/methods.md §7; `pairs` and `expected` are ours.
    """
    laid = blocks(rankings)
    seen = laid.shown[laid.start]
    several = seen.sum(axis=1) >= 2
    if not several.any():
        raise NoUsableVotes(
            "No item was judged in two orders, so nothing is known about their effect."
        )
    first = laid.top > 0
    differ, both = np.zeros(len(seen)), np.zeros(len(seen))
    for one, two in combinations(range(seen.shape[1]), 2):
        together = seen[:, one] & seen[:, two]
        other = np.logical_or.reduceat(first[:, one] != first[:, two], laid.start)
        differ += together & other
        both += together
    return OrderSensitivity(
        changed=clustered_share(np.flatnonzero(several), differ[several] > 0, level=level),
        pairs=float((differ[several] / both[several]).mean()),
        decided=laid.item[laid.start][several & (differ > 0)],
        slots=_slots(laid, level),
    )


def _slots(laid: Blocks, level: float) -> tuple[Slot, ...]:
    shown, top = laid.shown, laid.top

    def by_run(of_entry: NDArray[Any]) -> NDArray[Any]:
        return np.broadcast_to(of_entry[:, None], shown.shape)

    item = by_run(laid.of_entry)
    chance = by_run(1 / laid.sizes[laid.of_entry])

    def first_places(rows: BoolArray) -> Estimate:
        n, k = int(rows.sum()), float(top[rows].sum())
        if not n:
            return Estimate(math.nan, level=level)
        effect = design_effect(item[rows], np.ones(n, dtype=np.int64), top[rows])
        low, high = wilson(min(k, n), n, level=level, deff=effect)
        return Estimate(k / n, float(low), float(high), n=n, level=level, deff=effect)

    found = []
    for slot in range(int(laid.slot.max()) + 1):
        here = laid.slot == slot
        elsewhere = shown & ~here
        seen = elsewhere.sum(axis=1)
        paired = here & (seen > 0)[:, None]
        other = by_run(np.where(elsewhere, top, 0.0).sum(axis=1) / np.maximum(seen, 1))[paired]
        found.append(
            Slot(
                slot=slot,
                win=first_places(here),
                chance=float(chance[here].mean()) if here.any() else math.nan,
                expected=float(other.mean()) if len(other) else math.nan,
                pull=mean_interval(
                    item[paired], top[paired] - other, ends=(-1.0, 1.0), level=level
                ),
                best=first_places(here & (laid.best == 1)[:, None]),
            )
        )
    return tuple(found)


def _subsets(orders: int, k: int, most: int, rng: np.random.Generator) -> FloatArray:
    """Subsets of k of the orders as 0/1 rows: all of them, or `most` at random."""
    if math.comb(orders, k) <= most:
        picked = np.array(list(combinations(range(orders), k)))
    else:
        picked = rng.random((most, orders)).argsort(axis=1)[:, :k]
    chosen = np.zeros((len(picked), orders))
    np.put_along_axis(chosen, picked, 1.0, axis=1)
    return chosen
