"""What the order of candidates does to a listwise judge: how many orders are needed, and which slots win."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from core.consensus.listwise import TOLERANCE, Blocks, Weights, blocks, mean_worth, scores_of, winners, worth
from core.counts import BoolArray, FloatArray, IntArray, ListRankings
from core.intervals import Proportion, clustered_proportion, design_effect, mean_interval, wilson
from core.votes import InvalidOption, NoUsableVotes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderSweep:
    """Accuracy against the number of orders K, on items that have all `orders` runs; arrays are (orders,).

    accuracy : of the consensus, mean over subsets of K orders, `low` to `high` by item.
    gain, gain_low, gain_high : accuracy minus that of one order, paired by item; ends NaN with one item.
    majority_error : share of (item, subset) in which no more than half of the orders put the best first.
    bound : exp(−2K(q − ½)²), or None if q ≤ ½.  q : how often one order alone puts the best first.
    subsets : subsets of orders behind each K.
    """

    k: IntArray
    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    gain: FloatArray
    gain_low: FloatArray
    gain_high: FloatArray
    majority_error: FloatArray
    bound: FloatArray | None
    q: float
    subsets: IntArray
    n: int
    left_out: int
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a number of orders."""
        import pandas as pd

        names = ("k", "accuracy", "low", "high", "gain", "gain_low", "gain_high", "majority_error", "subsets")
        bound = np.full(len(self.k), np.nan) if self.bound is None else self.bound
        return pd.DataFrame({name: getattr(self, name) for name in names} | {"bound": bound, "n": self.n})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SlotTable:
    """How often the candidate shown in each slot comes first; arrays are (slots,), slot 0 is shown first.

    n : runs that have the slot.  win, low, high : share of first places, Wilson at n/deff clustered by item.
    chance : mean 1/n over those runs, what a judge without any preference would give the slot.
    expected : the same candidates' share of first places in their runs in other slots, over those that have
    any: what quality alone would give the slot, whoever was put there (ours).
    pull, pull_low, pull_high : their share here minus that, paired and clustered by item; NaN without any.
    best_n, best_win, best_low, best_high : the same for runs with the best candidate in the slot: accuracy.
    """

    slot: IntArray
    n: IntArray
    win: FloatArray
    low: FloatArray
    high: FloatArray
    chance: FloatArray
    expected: FloatArray
    pull: FloatArray
    pull_low: FloatArray
    pull_high: FloatArray
    best_n: IntArray
    best_win: FloatArray
    best_low: FloatArray
    best_high: FloatArray
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a slot."""
        import pandas as pd

        names = [name for name in SlotTable.__dataclass_fields__ if name != "level"]
        return pd.DataFrame({name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderSensitivity:
    """`changed`: share of items, among those seen in two or more orders, whose first place depends on order.

    pairs : mean over those items of the share of pairs of orders that put other candidates first.
    """

    changed: Proportion
    pairs: float
    slots: SlotTable


def order_sweep(
    rankings: ListRankings,
    *,
    rng: np.random.Generator,
    weights: Weights | None = None,
    tolerance: float = TOLERANCE,
    max_subsets: int = 200,
    level: float = 0.95,
) -> OrderSweep:
    """Accuracy of the consensus of K orders, K = 1 … all, by taking subsets of the orders of each item.

    All subsets of K orders if there are at most `max_subsets`, else that many drawn at random. Only items
    with the most common number of runs or more count, and of those the first runs: every K is judged on the
    same items. The Hoeffding bound holds for orders that err independently and with the same q on every item;
    real ones do neither, so it is a reference and no promise.

    Raises NoUsableVotes if no item has a known best candidate. Source: [PCF] §3.3; subsets are ours.
    """
    if max_subsets < 1:
        raise InvalidOption(f"max_subsets {max_subsets}: use 1 or more.")
    laid, weights = blocks(rankings), weights or Weights()
    known = laid.labelled
    if not known.any():
        raise NoUsableVotes("No item says which candidate is best (column is_best), so accuracy is unknown.")
    runs = laid.shown[laid.start].sum(axis=1)
    orders = int(np.bincount(runs[known])[::-1].argmax())
    orders = len(np.bincount(runs[known])) - 1 - orders
    rows = known & (runs >= orders)
    right = np.where(laid.best[:, None] == 1, laid.top, 0.0)
    right = np.add.reduceat(right, laid.start, axis=0)[rows, :orders]
    values, errors, sizes = [], [], []
    for k in range(1, orders + 1):
        chosen = _subsets(orders, k, max_subsets, rng)
        wide = np.zeros((len(chosen), laid.shown.shape[1]))
        wide[:, :orders] = chosen
        with np.errstate(invalid="ignore"):
            value = worth(laid, winners(laid, scores_of(laid, weights, wide), tolerance))[rows]
        values.append(value.mean(axis=1))
        errors.append(float((right @ chosen.T <= k / 2).mean()))
        sizes.append(len(chosen))
    by_item = np.stack(values)
    rates = [mean_worth(value, level=level) for value in by_item]
    item = np.arange(by_item.shape[1])
    gains = [mean_interval(item, one - by_item[0], ends=(-1.0, 1.0), level=level) for one in by_item]
    gain, gain_low, gain_high = np.array(gains).T
    # One order against itself is no estimate.
    gain_low[0] = gain_high[0] = 0.0
    q = float(right.mean())
    k_all = np.arange(1, orders + 1)
    return OrderSweep(
        k=k_all,
        accuracy=np.array([rate.value for rate in rates]),
        low=np.array([rate.low for rate in rates]),
        high=np.array([rate.high for rate in rates]),
        gain=gain,
        gain_low=gain_low,
        gain_high=gain_high,
        majority_error=np.array(errors),
        bound=np.exp(-2 * k_all * (q - 0.5) ** 2) if q > 0.5 else None,
        q=q,
        subsets=np.array(sizes),
        n=int(rows.sum()),
        left_out=int((known & ~rows).sum()),
        level=level,
    )


def order_sensitivity(rankings: ListRankings, *, level: float = 0.95) -> OrderSensitivity:
    """Does the order of the candidates decide: items whose first place changes, and first places by slot.

    An item counts if it was judged in two or more orders. Two orders differ if their sets of first places do.

    Raises NoUsableVotes if no item was judged twice. Source: methods §7; `pairs` and `expected` are ours.
    """
    laid = blocks(rankings)
    seen = laid.shown[laid.start]
    several = seen.sum(axis=1) >= 2
    if not several.any():
        raise NoUsableVotes("No item was judged in two orders, so nothing is known about their effect.")
    first = laid.top > 0
    differ, both = np.zeros(len(seen)), np.zeros(len(seen))
    for one, two in combinations(range(seen.shape[1]), 2):
        together = seen[:, one] & seen[:, two]
        other = np.logical_or.reduceat(first[:, one] != first[:, two], laid.start)
        differ += together & other
        both += together
    one_each = np.ones(int(several.sum()), dtype=np.int64)
    return OrderSensitivity(
        changed=clustered_proportion(
            np.flatnonzero(several), one_each, (differ[several] > 0).astype(np.int64), level=level
        ),
        pairs=float((differ[several] / both[several]).mean()),
        slots=_slots(laid, level),
    )


def _slots(laid: Blocks, level: float) -> SlotTable:
    shown, top = laid.shown, laid.top
    size = np.diff(np.append(laid.start, len(laid.item)))[laid.of_entry]
    columns = shown.shape[1]
    item = np.repeat(laid.of_entry, columns).reshape(shown.shape)

    def rates(rows: BoolArray) -> tuple[int, float, float, float]:
        n, k = int(rows.sum()), float(top[rows].sum())
        if not n:
            return 0, float("nan"), float("nan"), float("nan")
        effect = design_effect(item[rows], np.ones(n, dtype=np.int64), top[rows])
        low, high = wilson(min(k, n), n, level=level, deff=effect)
        return n, k / n, float(low), float(high)

    slots = np.arange(int(laid.slot.max()) + 1)
    all_rates = [rates(laid.slot == slot) for slot in slots]
    best_rates = [rates((laid.slot == slot) & (laid.best == 1)[:, None]) for slot in slots]
    n, win, low, high = (np.array(column) for column in zip(*all_rates, strict=True))
    best_n, best_win, best_low, best_high = (np.array(column) for column in zip(*best_rates, strict=True))

    sizes = np.repeat(1 / size, columns).reshape(shown.shape)
    expected, pulls = [], []
    for slot in slots:
        here = laid.slot == slot
        seen = (shown & ~here).sum(axis=1)
        elsewhere = np.where(shown & ~here, top, 0.0).sum(axis=1) / np.maximum(seen, 1)
        paired = here & (seen > 0)[:, None]
        other = np.repeat(elsewhere, columns).reshape(shown.shape)[paired]
        expected.append(float(other.mean()) if len(other) else float("nan"))
        pulls.append(mean_interval(item[paired], top[paired] - other, ends=(-1.0, 1.0), level=level))
    pull, pull_low, pull_high = np.array(pulls).T

    return SlotTable(
        slot=slots,
        n=n,
        win=win,
        low=low,
        high=high,
        chance=np.array([sizes[laid.slot == slot].mean() if n[slot] else np.nan for slot in slots]),
        expected=np.array(expected),
        pull=pull,
        pull_low=pull_low,
        pull_high=pull_high,
        best_n=best_n,
        best_win=best_win,
        best_low=best_low,
        best_high=best_high,
        level=level,
    )


def _subsets(orders: int, k: int, most: int, rng: np.random.Generator) -> FloatArray:
    """Subsets of k of the orders as 0/1 rows: all of them, or `most` at random."""
    if comb(orders, k) <= most:
        picked = np.array(list(combinations(range(orders), k)))
    else:
        picked = rng.random((most, orders)).argsort(axis=1)[:, :k]
    chosen = np.zeros((len(picked), orders))
    np.put_along_axis(chosen, picked, 1.0, axis=1)
    return chosen
