"""Betting against a limit: evidence that may be looked at after every label.

Whoever bets on labels drawn at random from a finite population, at odds that are fair if the mean
is at most the limit, wins 80 times the stake with a chance of 1 in 80 at most, whenever one looks
(Ville's inequality). So a verdict stands from the label on with which the wealth is that high, and
no later label takes it back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import InvalidOption
from ..records import BoolArray, FloatArray, IntArray

STAKES = (0.06, 0.12, 0.20, 0.30, 0.42, 0.56, 0.72, 0.88)
"""Shares of what may be lost that are staked side by side; the wealth is their mean."""
WEIGHT_OF_ALL = 10.0
"""Labels that the mean of all labels counts as in the mean of a stratum."""
ROUNDING = 1e-9
LEAST_STRATUM = 10
"""Items of a stratum, below which it joins its neighbour."""
MOST_STRATA = 4
LEAST_ITEMS = 20
"""Items below which there are no strata."""


class Wealth:
    """Wealth of both bets, up and down, of several rows of labels against several limits.

    A row is a judge, or a draw of a simulation; it has N items in H strata, and each label x in
    [0, 1] is of an item drawn at random from those left. Before label t, with Σx and n = t − 1 of
    the labels so far: c̄ = (Σx + 1)/(n + 2), c_h = (Σ_h x + 10·c̄)/(n_h + 10), r the mean of c over
    the items left, m_t = (N·m − Σx)/(N − n) what is left under “mean = m”. The payoff
    z = x − c_h + r lies in [lo, hi] = [r − max c, 1 + r − min c] and has the mean of what is left.

    up   = mean over stakes s of Π(1 + s·(z − m_t)/(m_t − lo)), ∞ where Σx > N·m
    down = mean over stakes s of Π(1 + s·(m_t − z)/(hi − m_t)), ∞ where Σx + left < N·m

    and 0 for good where the labels left cannot bring the mean above, or below, the limit.

    sizes : (rows, H) items of each stratum.  limits : (L,) in (0, 1).
    up, down : (rows, L) logarithms of the wealth.

    Source: docs/methods.md §12; Waudby-Smith & Ramdas (2024), §5 (without replacement); Ville
    (1939). The control variate c and the grid of stakes are ours.
    """

    def __init__(self, sizes: IntArray, limits: FloatArray) -> None:
        self.sizes = np.asarray(sizes, dtype=np.float64)
        self.limits = np.asarray(limits, dtype=np.float64)
        if self.sizes.ndim != 2 or (self.sizes < 0).any() or (self.sizes.sum(axis=1) < 1).any():
            raise InvalidOption("sizes: every row needs a stratum with an item")
        if not ((self.limits > 0) & (self.limits < 1)).all():
            raise InvalidOption(f"limits: {self.limits.tolist()} are not all between 0 and 1")
        rows, strata = self.sizes.shape
        self.items = self.sizes.sum(axis=1)[:, None]
        self.seen = np.zeros((rows, strata))
        self.sums = np.zeros((rows, len(self.limits), strata))
        self.total = np.zeros((rows, len(self.limits)))
        self.n = np.zeros((rows, 1))
        stakes = (rows, len(self.limits), len(STAKES))
        self._up, self._down = np.zeros(stakes), np.zeros(stakes)

    @property
    def up(self) -> FloatArray:
        return _log_mean(self._up)

    @property
    def down(self) -> FloatArray:
        return _log_mean(self._down)

    def add(self, x: FloatArray, stratum: IntArray, counts: BoolArray | None = None) -> None:
        """Bet on the next label of each row.

        x : (rows, L), or (rows, 1) where it is the same whatever the limit.  stratum : (rows,).
        counts : (rows,) rows that have this label; others stay as they are.
        """
        counts = np.ones(len(x), dtype=bool) if counts is None else counts
        counts = counts & (self.n < self.items)[:, 0]
        x = np.broadcast_to(x, self.total.shape)
        under, gains = _odds(
            (self.sizes, self.seen, self.sums, self.total, self.n), self.limits, x, stratum
        )
        each = counts[:, None]
        for wealth, odds in zip((self._up, self._down), gains, strict=True):
            wealth += np.log1p(np.array(STAKES) * np.where(each, odds, 0)[:, :, None])
        self._up[each & (under >= 1 - ROUNDING)] = -np.inf
        self._down[each & (under <= ROUNDING)] = -np.inf
        rows = np.flatnonzero(counts)
        self.seen[rows, stratum[rows]] += 1
        self.sums[rows, :, stratum[rows]] += x[rows]
        self.total += np.where(each, x, 0)
        self.n += each
        needed = self.items * self.limits
        self._up[each & (self.total > needed + ROUNDING)] = np.inf
        self._down[each & (self.total + self.items - self.n < needed - ROUNDING)] = np.inf

    def repeated(self, times: int) -> Wealth:
        """The state of the first row, `times` over: where futures begin."""
        copy = Wealth(np.repeat(self.sizes[:1].astype(np.int64), times, axis=0), self.limits)
        for name in ("seen", "sums", "total", "n", "_up", "_down"):
            setattr(copy, name, np.repeat(getattr(self, name)[:1], times, axis=0))
        return copy


State = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
"""sizes, seen (rows, H), sums (rows, L, H), total (rows, L), n (rows, 1), before a label."""


def _odds(
    state: State, limits: FloatArray, x: FloatArray, stratum: IntArray
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """m_t, and what a whole stake gains up and down, −1 at least; (rows, L) each."""
    sizes, seen, sums, total, n = state
    items = sizes.sum(axis=1)[:, None]
    left_of, left = sizes - seen, np.maximum(items - n, 1.0)
    mean = (total + 1) / (n + 2)
    expected = (sums + WEIGHT_OF_ALL * mean[:, :, None]) / (seen[:, None, :] + WEIGHT_OF_ALL)
    ahead = (expected * left_of[:, None, :]).sum(axis=2) / left
    there = (left_of > 0)[:, None, :]
    lowest = ahead - np.where(there, expected, -np.inf).max(axis=2)
    highest = 1 + ahead - np.where(there, expected, np.inf).min(axis=2)
    payoff = x - np.take_along_axis(expected, stratum[:, None, None], axis=2)[:, :, 0] + ahead
    under = (items * limits - total) / left
    up, down = (
        # What may be lost bounds the odds; of a bet that is closed they do not matter.
        np.where(most > ROUNDING, np.clip(gain / np.where(most > ROUNDING, most, 1), -1, None), 0)
        for gain, most in ((payoff - under, under - lowest), (under - payoff, highest - under))
    )
    return under, (up, down)


def row_path(
    x: FloatArray,
    stratum: IntArray,
    sizes: IntArray,
    limits: FloatArray,
    *,
    last_only: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Logarithms of both wealths after each label of one row, as `Wealth` gives them, all at once.

    x : (labels, L).  stratum : (labels,).  sizes : (H,).
    last_only : after the last label only, which takes a tenth of the time.
    → up, down (labels, L), or (1, L).
    """
    n, strata_there = len(x), len(sizes)
    own = np.eye(strata_there)[stratum]
    shares = x[:, :, None] * own[:, None, :]
    state = (
        np.repeat(np.asarray(sizes, dtype=np.float64)[None, :], n, axis=0),
        own.cumsum(axis=0) - own,
        shares.cumsum(axis=0) - shares,
        x.cumsum(axis=0) - x,
        np.arange(n, dtype=np.float64)[:, None],
    )
    under, gains = _odds(state, limits, x, stratum)
    logs = (np.log1p(np.array(STAKES) * odds[:, :, None]) for odds in gains)
    if last_only:
        up, down = (_log_mean(each.sum(axis=0, keepdims=True)) for each in logs)
    else:
        up, down = (_log_mean(each.cumsum(axis=0)) for each in logs)
    shown = slice(n - 1, n) if last_only else slice(0, n)
    items, total = float(np.sum(sizes)), x.cumsum(axis=0)
    up[np.logical_or.accumulate(under >= 1 - ROUNDING)[shown]] = -np.inf
    down[np.logical_or.accumulate(under <= ROUNDING)[shown]] = -np.inf
    left = items - np.arange(1, n + 1)[:, None]
    up[(total > items * limits + ROUNDING)[shown]] = np.inf
    down[(total + left < items * limits - ROUNDING)[shown]] = np.inf
    return up, down


def _log_mean(logs: FloatArray) -> FloatArray:
    top = logs.max(axis=-1)
    finite = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        mean = finite + np.log(np.exp(logs - finite[..., None]).mean(axis=-1))
    return np.asarray(np.where(np.isfinite(top), mean, top))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WealthPath:
    """Logarithms of the wealth after every label.  up, down : (rows, labels, L)."""

    up: FloatArray
    down: FloatArray


def wealth_path(
    x: FloatArray,
    stratum: IntArray,
    sizes: IntArray,
    limits: FloatArray,
    *,
    counts: BoolArray | None = None,
) -> WealthPath:
    """Wealth after each of a row of labels.

    x : (rows, labels) or (rows, labels, L).  stratum, counts : (rows, labels), as `Wealth.add`.
    """
    bets = Wealth(sizes, limits)
    x = x if x.ndim == 3 else x[:, :, None]
    up, down = (np.empty((*x.shape[:2], len(bets.limits))) for _ in range(2))
    for t in range(x.shape[1]):
        bets.add(x[:, t], stratum[:, t], None if counts is None else counts[:, t])
        up[:, t], down[:, t] = bets.up, bets.down
    return WealthPath(up=up, down=down)


def strata(own: FloatArray, others: FloatArray | None = None) -> IntArray:
    """Stratum of each item, from how sure the judge and the other judges are, before any label.

    Quarters of ½·|own mean vote| + mean vote of the others in the judge's direction; a quarter with
    fewer than 10 items joins its neighbour. One stratum below 20 items, or where all are alike.

    own : (items,) mean vote, −1 to 1.  others : mean vote of the other judges, NaN without any.
    """
    sure = np.abs(own) / 2
    if others is not None:
        sure = sure + np.where(np.isnan(others), 0.0, np.sign(own) * others)
    if len(own) < LEAST_ITEMS or np.ptp(sure) < ROUNDING:
        return np.zeros(len(own), dtype=np.int64)
    cuts = np.quantile(sure, np.arange(1, MOST_STRATA) / MOST_STRATA)
    stratum = np.searchsorted(cuts, sure, side="right")
    place, merged, size = 0, np.zeros(MOST_STRATA, dtype=np.int64), 0
    for quarter in range(MOST_STRATA):
        if size >= LEAST_STRATUM:
            place, size = place + 1, 0
        merged[quarter] = place
        size += int((stratum == quarter).sum())
    if size < LEAST_STRATUM and place:
        merged[merged == place] = place - 1
    return np.unique(merged[stratum], return_inverse=True)[1].astype(np.int64)


def log_needed(alpha: float, sides: int = 2) -> float:
    """Logarithm of the wealth that shows a limit passed at α over both sides: log(sides/α)."""
    return math.log(sides / alpha)
