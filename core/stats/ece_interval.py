"""An interval of a sum of absolute values, such as ECE, which noise can only raise: by test inversion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .intervals import FloatArray, check_level

STEPS = 30
"""Halvings of a search: to 1e-9 of its range, far below what the noise draws tell apart."""


def absolute_sum_interval(gap: FloatArray, noise: FloatArray, *, level: float = 0.95) -> tuple[float, float]:
    """Sums t of absolute true gaps under which the one that was seen, T = Σ_b|gap_b|, is no surprise (ours).

    For each t the true gaps are taken as γ(t), of all with Σ_b|γ_b| = t those nearest to the gaps seen, by
    Σ_b(γ_b − gap_b)²/var(noise_b). The interval holds the t for which P(Σ|γ(t) + noise| ≥ T) and
    P(Σ|γ(t) + noise| ≤ T) are both at least (1 − level)/2. It holds T, and its upper end is never below the
    (1 + level)/2 quantile of Σ|noise|: a T below what noise alone shows is luck, or fitted to the same
    verdicts, and no evidence that the true gaps are smaller than noise.

    Parameters
    ----------
    gap : (bins,) gaps seen.
    noise : (draws, bins) draws of what sampling adds to true gaps, of mean near 0.

    A bootstrap of T itself would treat the noise in T as truth and add to it once more. Source: hybrid
    resampling, Chuang & Lai (2000).
    """
    check_level(level)
    tail = (1 - level) / 2
    seen, variance = float(np.abs(gap).sum()), noise.var(axis=0)
    alone = np.abs(noise).sum(axis=1)
    if not variance.any():
        return seen, seen

    def sums(total: float) -> FloatArray:
        drawn: FloatArray = np.abs(_nearest(gap, variance, total) + noise).sum(axis=1)
        return drawn

    def surprisingly_high(total: float) -> bool:
        return bool((sums(total) >= seen).mean() < tail)

    def not_surprisingly_low(total: float) -> bool:
        return bool((sums(total) <= seen).mean() >= tail)

    low = _last(surprisingly_high, 0.0, seen)
    high = _last(not_surprisingly_low, seen, seen + 2 * float(alone.max()))
    return low, max(high, float(np.quantile(alone, 1 - tail)))


def _last(holds: Callable[[float], bool], start: float, end: float) -> float:
    """Where from start to end a condition ceases to hold; start if it does not hold there."""
    if not holds(start):
        return start
    for _ in range(STEPS):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start


def _nearest(gap: FloatArray, variance: FloatArray, total: float) -> FloatArray:
    """Gaps whose absolute values add up to `total`, nearest in units of the noise, with the signs of `gap`.

    Σ(γ − gap)²/variance is least where every size moves by m·variance, but not below 0.
    """
    size = np.abs(gap)
    if total >= size.sum():
        size = size + (total - size.sum()) * variance / variance.sum()
    else:
        noisy = variance > 0
        # What is left of the sum is linear in m between the values at which a size falls to 0.
        knots = np.sort(np.append(size[noisy] / variance[noisy], 0.0))[::-1]
        left = np.maximum(size - knots[:, None] * variance, 0).sum(axis=1)
        size = np.maximum(size - np.interp(total, left, knots) * variance, 0)
    moved: FloatArray = np.copysign(size, gap)
    return moved
