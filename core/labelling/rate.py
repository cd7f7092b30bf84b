"""A win or pass rate by few labels, with the judge's verdicts on all items to steady it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidOption
from ..records import FloatArray
from ..stats.estimate import Estimate
from .verdict import ALPHA, GRID
from .wealth import STAKES, log_needed

TRUSTED_FROM = 10.0
"""Labels that hold the weight of the judge down: λ is times t/(t + 10)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rate:
    """A mean over all items: wins of a model, passes, or levels on the scale of 0 to 1.

    now : by labels, steadied by the judge, with the interval that holds whenever one stops.
    judge : by the judge's verdicts on all items.  planned : with the ordinary interval, once the
        plan has ended; None before.
    """

    now: Estimate
    judge: float
    planned: Estimate | None


def weights(y: FloatArray, f: FloatArray) -> FloatArray:
    """λ of each label from those before it: cov(y, f)/var f within 0 to 1, times t/(t + 10).

    y, f : (labels,) what people and the judge say, 0 to 1.  → (labels,)
    """
    t = np.arange(len(y), dtype=np.float64)
    before = [np.concatenate([[0.0], np.cumsum(v)[:-1]]) for v in (y, f, y * f, f * f)]
    n = np.maximum(t, 1)
    mean_y, mean_f, mean_yf, mean_ff = (sums / n for sums in before)
    variance = mean_ff - mean_f**2
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.where(variance > 1e-9, (mean_yf - mean_y * mean_f) / variance, 0.0)
    return np.asarray(np.clip(slope, 0, 1) * t / (t + TRUSTED_FROM))


def anytime_rate(y: FloatArray, f: FloatArray) -> Estimate:
    """Mean of y over all items, with an interval that holds whenever one stops labelling.

    Before label t, z = y − λ(f − mean of f over the items left), λ of the labels before
    (`weights`): z has the mean of the y left, and is within [−λ(max f − f̄), 1 + λ(f̄ − min f)].
    The bets are those of `Wealth`; kept are the values of the mean, in steps of .01, with both
    below 40.

    y : (n,) labels in the order in which items were drawn, 0 to 1.  f : (N,) the judge's verdict of
        every item in that order, 0 to 1.

    Raises InvalidOption for more labels than items, or values outside 0 to 1.
    Source: docs/methods.md §12; Waudby-Smith & Ramdas (2024) §5; λ as in PPI++.
    """
    n, items = len(y), len(f)
    if not 0 < n <= items:
        raise InvalidOption(f"{n} labels of {items} items")
    if min(y.min(), f.min()) < 0 or max(y.max(), f.max()) > 1:
        raise InvalidOption("labels and verdicts are within 0 to 1")
    # Over the items from place t on: the mean, the largest and the least of f.
    left = items - np.arange(n, dtype=np.float64)
    ahead = np.cumsum(f[::-1])[::-1][:n] / left
    largest = np.maximum.accumulate(f[::-1])[::-1][:n]
    least = np.minimum.accumulate(f[::-1])[::-1][:n]
    weight = weights(y, f[:n])
    payoff = (y - weight * (f[:n] - ahead))[:, None, None]
    lowest = (-weight * (largest - ahead))[:, None, None]
    highest = (1 + weight * (ahead - least))[:, None, None]
    total = np.concatenate([[0.0], np.cumsum(y)])
    possible = (total[-1] <= items * GRID + 1e-9) & (total[-1] + items - n >= items * GRID - 1e-9)
    under = ((items * GRID[possible] - total[:-1, None]) / left[:, None])[:, :, None]
    stakes = np.array(STAKES)
    open_ = (under > 1e-9) & (under < 1 - 1e-9)
    gains = ((payoff - under, under - lowest), (under - payoff, highest - under))
    up, down = (
        np.log1p(
            stakes * np.where(open_, np.clip(gain / np.where(most > 0, most, 1), -1, None), 0)
        ).sum(axis=0)
        for gain, most in gains
    )
    log_up, log_down = (np.log(np.exp(logs).mean(axis=1)) for logs in (up, down))
    needed = log_needed(ALPHA)
    kept = np.flatnonzero(possible)[(log_up < needed) & (log_down < needed)]
    rest = weight[-1] * (f.mean() - f[:n].mean())
    value = float(np.clip(y.mean() + rest, 0, 1))
    if not len(kept):
        return Estimate(value, value, value, n=n, level=1 - ALPHA)
    low = 0.0 if kept[0] == 0 else float(GRID[kept[0]] - 0.01)
    high = 1.0 if kept[-1] == len(GRID) - 1 else float(GRID[kept[-1]] + 0.01)
    return Estimate(value, min(low, value), max(high, value), n=n, level=1 - ALPHA)
