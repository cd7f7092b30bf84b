"""How sure a mean loss over items is, and how sure the difference of two: for losses averaged over splits.

Both leave out which items calibrate: the losses are taken as they are, and only the items are a sample.
A bootstrap over items, tried first, held the error of a judge that is right in 97 % of 60 items in three
sets of four, and called rules of equal worth different in one of five with ten items or fewer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.counts import FloatArray
from core.intervals import mean_error_interval, mean_interval
from core.splits import ItemLosses


def error_intervals(
    losses: ItemLosses, estimate: ArrayLike, *, highest: ArrayLike, level: float
) -> tuple[FloatArray, FloatArray]:
    """Interval of each mean error or share, (columns,), moved to sit on `estimate` and within 0 to `highest`.

    That of `mean_error_interval`: with few errors it is not symmetric, and never 0 to 0.  estimate : means
    over splits, which weigh items a little otherwise than `losses`.  Ends are NaN with one item.
    """
    times = losses.items * losses.size.astype(np.int64)
    kind = np.repeat(np.arange(len(times)), times)
    item = np.repeat(np.arange(losses.items.sum()), np.repeat(losses.size, losses.items).astype(np.int64))
    value = np.atleast_1d(np.asarray(estimate, dtype=np.float64))
    most = np.broadcast_to(np.asarray(highest, dtype=np.float64), value.shape)
    # A mean over splits can be off its ends by rounding.
    ends = [
        mean_error_interval(item, np.clip(column, 0.0, top)[kind], highest=top, level=level)
        for column, top in zip(losses.loss.T, most.tolist(), strict=True)
    ]
    mean, low, high = np.array(ends).T
    return np.clip(low + value - mean, 0.0, value), np.clip(high + value - mean, value, most)


def change_intervals(
    losses: ItemLosses,
    estimate: ArrayLike,
    *,
    of_labels: bool = True,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Interval of each mean difference of two losses, (columns,), moved to sit on `estimate`.

    That of `mean_interval`: t(items − 1), with two items more, so that two rules that have not differed yet
    are not taken for one. They differ by ±1 on as many comparisons as change together in an item: Σd²/Σ|d|
    over items that differ by d in all, at least 1; on all of an item of average size where none differs, the
    cautious end.  of_labels : no such items for losses that differ everywhere a little, such as the DRPS.
    Ends are NaN with one item, as nothing is known of others.
    """
    kind = np.repeat(np.arange(len(losses.items)), losses.items)
    item, size = np.arange(len(kind)), losses.size[kind]
    ends = []
    for column in losses.loss.T:
        change = column[kind]
        added = _together(size * change) / size.mean() if of_labels else None
        sides = () if added is None else (-min(added, 1.0), min(added, 1.0))
        ends.append(mean_interval(item, change, ends=sides, within=(-np.inf, np.inf), n=size, level=level))
    mean, low, high = np.array(ends).reshape(-1, 3).T
    value = np.asarray(estimate, dtype=np.float64)
    return np.minimum(low + value - mean, value), np.maximum(high + value - mean, value)


def _together(change: FloatArray) -> float:
    """Labels that change together in an item, from each item's change in all; infinite if none changes."""
    moved = float(np.abs(change).sum())
    return max(float((change**2).sum()) / moved, 1.0) if moved else np.inf
