"""How often a judge is right on a class that only labels tell, by labels within its verdicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .intervals import FloatArray, beta_interval


def class_rate(
    of_class: ArrayLike, labelled: ArrayLike, items: ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Share of the items of a class that have the right verdict, its low and its high end.

    With W the share of all items that have the right verdict (1) and the wrong one (0), and p the
    share of the class among each, rate/(1 − rate) = W₁p₁/(W₀p₀): what is not known is a ratio of
    two independent proportions. With p̂ = k/m, l and u the ends of Jeffreys' interval (0 at k = 0,
    1 at k = m), L = l₁(2p̂₁ − l₁)/(p̂₁p̂₀ + √((p̂₁p̂₀)² − l₁(2p̂₁ − l₁)·u₀(2p̂₀ − u₀))) and
    U = (p̂₁p̂₀ + √((p̂₁p̂₀)² − u₁(2p̂₁ − u₁)·l₀(2p̂₀ − l₀)))/(l₀(2p̂₀ − l₀)) are those of the ratio.
    The verdicts of all items are known and take no part of the interval.

    of_class, labelled, items : (…, 2) labelled items of the class, all labelled items, and all
        items, with the right verdict and with the wrong one; labels are as good as random within
        each, and each has one.
    → (…) NaN, 0 and 1 where no label is of the class.

    Source: Donner & Zou (2012) and Newcombe (2016) for a ratio, with Jeffreys' intervals; its use
    for TPR and TNR is ours, docs/methods.md §12.

    >>> value, low, high = class_rate([8, 1], [10, 90], [100, 900])
    >>> [round(float(end), 3) for end in (value, low, high)]
    [0.889, 0.613, 0.987]
    """
    k, m, sizes = (np.asarray(counts, dtype=np.float64) for counts in (of_class, labelled, items))
    low, high = beta_interval(k + 0.5, m - k + 0.5, level=level)
    low, high = np.where(k == 0, 0.0, low), np.where(k == m, 1.0, high)
    p = k / m
    both = p[..., 0] * p[..., 1]
    beneath, above = low * (2 * p - low), high * (2 * p - high)
    odds = sizes[..., 0] / sizes[..., 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        least = both**2 - beneath[..., 0] * above[..., 1]
        most = both**2 - above[..., 0] * beneath[..., 1]
        lowest = odds * beneath[..., 0] / (both + np.sqrt(least.clip(0)))
        highest = odds * (both + np.sqrt(most.clip(0))) / beneath[..., 1]
        weighed = sizes * p
        value = weighed[..., 0] / weighed.sum(axis=-1)
        return (
            value,
            np.where(k[..., 0] == 0, 0.0, lowest / (1 + lowest)),
            np.where(k[..., 1] == 0, 1.0, 1 / (1 + 1 / highest)),
        )
