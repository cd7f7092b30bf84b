"""On which share of comparisons is a judge as unsteady as a coin?"""

from __future__ import annotations

import math

import numpy as np

from ...bounds import STEADINESS_VOTES
from ...records import FloatArray, IntArray, OrderCounts, VoteCounts
from ...stats.estimate import Estimate
from ...stats.intervals import item_means, t_quantile

LEAST_ITEMS = 40
LEAST_STEADINESS = 0.40
"""Below this a judge is unsteady everywhere, and no share of comparisons stands out."""


def coin_share(
    votes: VoteCounts, orders: OrderCounts | None = None, *, level: float = 0.95
) -> Estimate | None:
    """Share w of comparisons on which the judge would have to toss a coin, if it were equally
    steady on all others.

    Steadiness of a comparison is s = (2p − 1)², p the share of its decided votes for one side. From
    ± 1 votes without bias: ŝ is the mean product of two different votes, and the mean product of
    four is q̂, an estimate of s². Over items w = 1 − (mean ŝ)²/mean q̂: 0 if all comparisons are
    equally steady, however noisy the judge; the share of coins where the rest is alike. The
    interval is a jackknife over these items and one coin more, t with G − 1 degrees of freedom,
    widened to hold w: without it, many votes on items of which by chance none is a coin would show
    that none is (95 % then hold .81).

    Parameters
    ----------
    votes : with four decided votes or more on a comparison, where no order is known.
    orders : its votes by order: either four in one order, or two in each, whose ŝ are averaged and
        whose product is q̂, so that a steady preference for a slot is no coin.

    None below 40 items, from which on the interval holds .93 everywhere (docs/results.md), or where
    the mean ŝ is below .40. The n is the items.
    Source: ours, docs/methods.md §6.
    """
    item, steady, squared = _by_order(orders) if orders is not None else _products(votes)
    if not len(item):
        return None
    s, q = item_means(item, steady), item_means(item, squared)
    items = len(s)
    if items < LEAST_ITEMS or s.mean() < LEAST_STEADINESS or q.sum() <= 0:
        return None
    value = 1 - float(s.mean() ** 2 / q.mean())
    # One coin beside those seen: where none was among thirty, there may be some among the next.
    s, q = np.append(s, 0.0), np.append(q, 0.0)
    centre = 1 - float(s.mean() ** 2 / q.mean())
    with np.errstate(divide="ignore", invalid="ignore"):
        left = 1 - ((s.sum() - s) / items) ** 2 / ((q.sum() - q) / items)
        pseudo = (items + 1) * centre - items * left
        half = t_quantile(items - 1, level) * float(pseudo.std(ddof=1)) / math.sqrt(items + 1)
    # Where what is left of q̂ without an item is 0, nothing is known.
    half = half if math.isfinite(half) else 1.0
    low, high = min(centre - half, value), max(centre + half, value)
    value, low, high = (min(max(end, 0.0), 1.0) for end in (value, low, high))
    return Estimate(value, low, high, n=items, level=level)


def _power_means(towards: IntArray, against: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean products of two and of four different ± 1 votes of each row; NaN with too few.

    By Newton's identities from n votes with sum S: e₂ = (S² − n)/2 and
    e₄ = (S⁴ − 6S²n + 3n² + 8S² − 6n)/24, over the number of pairs and of fours.
    """
    n, total = (towards + against).astype(np.float64), (towards - against).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        two = (total**2 - n) / (n * (n - 1))
        four = (total**4 - 6 * total**2 * n + 3 * n**2 + 8 * total**2 - 6 * n) / (
            n * (n - 1) * (n - 2) * (n - 3)
        )
    return np.where(n >= 2, two, np.nan), np.where(n >= STEADINESS_VOTES, four, np.nan)


def _products(votes: VoteCounts) -> tuple[IntArray, FloatArray, FloatArray]:
    two, four = _power_means(votes.plus, votes.minus)
    used = ~np.isnan(four)
    return votes.item[used], two[used], four[used]


def _by_order(orders: OrderCounts) -> tuple[IntArray, FloatArray, FloatArray]:
    """Of two votes in each order where there are, else of four in one."""
    two_ab, four_ab = _power_means(orders.ab[:, 2], orders.ab[:, 0])
    two_ba, four_ba = _power_means(orders.ba[:, 2], orders.ba[:, 0])
    both = ~np.isnan(two_ab) & ~np.isnan(two_ba)
    one = np.where(np.isnan(four_ab), two_ba, two_ab), np.where(np.isnan(four_ab), four_ba, four_ab)
    steady = np.where(both, (two_ab + two_ba) / 2, one[0])
    squared = np.where(both, two_ab * two_ba, one[1])
    used = both | ~np.isnan(one[1])
    return orders.item[used], steady[used], squared[used]
