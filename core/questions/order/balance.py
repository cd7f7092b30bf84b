"""What the order of the votes costs a label: majority labels from votes of one order, of the other,
and of half each.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ...errors import InvalidOption
from ...records import NO_GOLD, FloatArray, IntArray, OrderCounts, majority
from ...stats import intervals
from ...stats.estimate import DataFrame, Estimate, Estimates, data_frame, flat
from ..planning.protocol import chances

ORDERS = ("ab", "ba", "balanced", "both")
MAX_VOTES = 12
"""More votes than this are not subsampled: the number of ways they can fall grows with their cube.
"""
KEPT = 0.9
"""The number of votes is the largest that this share of the comparisons has in each order."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderBalance:
    """MAE of the majority label by the orders that its votes come from, one entry per order of
    `orders`.

    orders : `ab` only, `ba` only, `balanced` half from each, `both` all of them.  votes : votes per
        label.
    mae : 0 to 2; NaN where it does not apply, its ends also with one item.
    gain : mean of the two single orders minus `balanced`, at equal numbers of votes; positive:
        balance helps. None without a balanced label of the same number of votes; without an
        interval with one item, which says nothing of others. `reason` says so.
    n, items : comparisons used and their items.  left_out : labelled ones with fewer votes in an
        order.
    """

    orders: tuple[str, ...]
    votes: IntArray
    mae: Estimates
    gain: Estimate | None
    reason: str | None
    n: int
    items: int
    left_out: int

    def to_frame(self) -> DataFrame:
        """One row per order."""
        return data_frame({"orders": list(self.orders)} | flat(self, names=("votes", "mae", "n")))


def order_balance(
    counts: OrderCounts, *, votes: int | None = None, level: float = 0.95
) -> OrderBalance | None:
    """MAE of the majority label from n votes of `ab`, n of `ba`, n/2 + n/2, and all 2n.

    The expectation over which of a comparison's votes are drawn (without replacement) is exact, so
    there is no seed. n is `votes`, or the largest even number up to 12 that nine tenths of the
    comparisons have in each order; 1 where they have no two. Comparisons with fewer are left out.
    Intervals over items (ours): `mean_error_interval` for the errors, `mean_interval` for the gain,
    which one label more or less changes by up to 1; items are independent, the four labels of a
    comparison are not, so read differences from `gain`.

    None if no comparison has gold and a vote in both orders. Raises InvalidOption if `votes` is
    neither 1 nor an even number from 2 to 12.
    Source: docs/methods.md §4; exact expectation ours.
    """
    if votes is not None and votes != 1 and (votes < 2 or votes > MAX_VOTES or votes % 2):
        raise InvalidOption(f"votes = {votes}: use 1 or an even number from 2 to {MAX_VOTES}")
    labelled = counts.gold != NO_GOLD
    capacity = np.minimum(counts.ab.sum(axis=1), counts.ba.sum(axis=1))
    usable = labelled & (capacity >= (votes or 1))
    if not usable.any():
        return None
    n = votes or _votes(capacity[usable])
    usable &= capacity >= n
    pattern, row = np.unique(
        np.column_stack([counts.ab, counts.ba, counts.gold])[usable], axis=0, return_inverse=True
    )
    ab, ba, gold = pattern[:, :3], pattern[:, 3:6], pattern[:, 6]
    half = np.full(len(gold), np.nan) if n == 1 else _expected_error_of_both(ab, ba, gold, n // 2)
    both = _expected_error_of_both(ab, ba, gold, n)
    loss = np.stack([_expected_error(ab, gold, n), _expected_error(ba, gold, n), half, both])[
        :, row.reshape(-1)
    ]
    item = counts.item[usable]
    gain = None
    reason: str | None = "one vote in each order cannot be halved; it needs two or more"
    if n > 1:
        change = (loss[0] + loss[1]) / 2 - loss[2]
        gain = intervals.mean_interval(
            item, change, ends=(-1.0, 1.0), within=(-2.0, 2.0), level=level
        )
        reason = (
            None
            if gain.has_interval
            else "all comparisons are of one item, which says nothing of others"
        )
    return OrderBalance(
        orders=ORDERS,
        votes=np.array([n, n, n if n > 1 else 0, 2 * n]),
        mae=Estimates.of([intervals.mean_error_interval(item, one, level=level) for one in loss]),
        gain=gain,
        reason=reason,
        n=int(usable.sum()),
        items=intervals.n_distinct(item),
        left_out=int((labelled & ~usable).sum()),
    )


def _votes(capacity: IntArray) -> int:
    held = int(np.quantile(capacity, 1 - KEPT, method="lower"))
    return min(held - held % 2, MAX_VOTES) or 1


def _ways(votes: IntArray, n: int) -> tuple[IntArray, FloatArray]:
    """Ways that n votes of each row can fall, (ways, 3), and their hypergeometric chances (rows,
    ways).
    """
    ways = np.array([(i, j, n - i - j) for i, j in product(range(n + 1), repeat=2) if i + j <= n])
    return ways, chances(votes, ways)


def _errors(ways: IntArray, gold: IntArray) -> FloatArray:
    """|majority − gold|, (rows, ways)."""
    label = majority(ways[:, 2], ways[:, 1], ways[:, 0])
    return np.asarray(np.abs(label[None] - gold[:, None]), dtype=np.float64)


def _expected_error(votes: IntArray, gold: IntArray, n: int) -> FloatArray:
    ways, chance = _ways(votes, n)
    return np.asarray((chance * _errors(ways, gold)).sum(axis=1))


def _expected_error_of_both(ab: IntArray, ba: IntArray, gold: IntArray, n: int) -> FloatArray:
    """With n votes of each order."""
    ways, chance_ab = _ways(ab, n)
    _, chance_ba = _ways(ba, n)
    sums = ways[:, None] + ways[None]
    error = _errors(sums.reshape(-1, 3), np.array([-1, 0, 1])).reshape(3, len(ways), len(ways))
    found = np.empty(len(gold))
    for k, label in enumerate((-1, 0, 1)):
        rows = gold == label
        found[rows] = ((chance_ab[rows] @ error[k]) * chance_ba[rows]).sum(axis=1)
    return found
