"""The same comparisons with fewer votes each: what the judge would have said if it had been asked less."""

from __future__ import annotations

import numpy as np

from core.counts import NO_GOLD, IntArray, OrderCounts, VoteCounts
from core.votes import InvalidOption

KEPT = 0.9
"""By default the most votes are the largest number that this share of the labelled comparisons has."""
DRAWABLE = 10**9 - 1
"""More votes of one comparison than this the generator cannot draw from."""


def subsample(counts: VoteCounts | OrderCounts, votes: int, *, rng: np.random.Generator) -> VoteCounts:
    """Draw `votes` votes of each comparison without replacement: multivariate hypergeometric counts.

    From OrderCounts half come from each order; of an odd number the order of the odd one is a coin's for
    each comparison. Raises InvalidOption if a comparison has fewer. Source: [BTD] §5.
    """
    if votes < 1:
        raise InvalidOption(f"votes = {votes}: draw 1 or more.")
    most = max(int(part.max(initial=0)) for part in _parts(counts))
    if most > DRAWABLE:
        raise InvalidOption(f"A comparison has {most:,} votes; at most {DRAWABLE:,} can be drawn from.")
    short = int((votes_to_draw(counts) < votes).sum())
    if short:
        raise InvalidOption(f"votes = {votes}: {short} comparisons have fewer; leave them out first.")
    if isinstance(counts, VoteCounts):
        drawn = _draw(np.column_stack([counts.minus, counts.tie, counts.plus]), votes, rng)
    else:
        coin = rng.integers(0, 2, len(counts)) if votes % 2 else 0
        from_ab = votes // 2 + coin
        drawn = _draw(counts.ab, from_ab, rng) + _draw(counts.ba, votes - from_ab, rng)
    return VoteCounts(
        comparison=counts.comparison,
        item=counts.item,
        plus=drawn[:, 2],
        tie=drawn[:, 1],
        minus=drawn[:, 0],
        gold=counts.gold,
    )


def _parts(counts: VoteCounts | OrderCounts) -> tuple[IntArray, ...]:
    if isinstance(counts, VoteCounts):
        return counts.minus, counts.tie + counts.plus
    return counts.ab.sum(axis=1), counts.ba.sum(axis=1)


def votes_to_draw(counts: VoteCounts | OrderCounts) -> IntArray:
    """Most votes that can be drawn of each comparison; of both orders alike where they are known."""
    if isinstance(counts, VoteCounts):
        return np.asarray(counts.plus + counts.tie + counts.minus)
    return np.asarray(2 * np.minimum(counts.ab.sum(axis=1), counts.ba.sum(axis=1)))


def rows_of(counts: VoteCounts | OrderCounts, keep: IntArray) -> VoteCounts | OrderCounts:
    """Some rows of either record."""
    if isinstance(counts, VoteCounts):
        return counts.rows(keep)
    names = OrderCounts.__dataclass_fields__
    return OrderCounts(**{name: getattr(counts, name)[keep] for name in names})


def votes_source(counts: VoteCounts, orders: OrderCounts | None) -> VoteCounts | OrderCounts:
    """Where to draw fewer votes from: both orders alike where nine tenths have both (of those with gold)."""
    if orders is None:
        return counts
    labelled = int((counts.gold != NO_GOLD).sum())
    both = int(((votes_to_draw(orders) > 0) & (orders.gold != NO_GOLD)).sum())
    return orders if both and both >= KEPT * labelled else counts


def doubling(capacity: IntArray) -> tuple[int, ...]:
    """1, 2, 4, … and the most votes that nine tenths of the comparisons have (at least one has)."""
    held = int(np.quantile(capacity, 1 - KEPT, method="lower")) or int(capacity[capacity > 0].min())
    return tuple(sorted({*(2**k for k in range(held.bit_length()) if 2**k <= held), held}))


def _draw(votes: IntArray, n: int | IntArray, rng: np.random.Generator) -> IntArray:
    """Votes drawn of each row, (rows, 3); n of each, or its own number."""
    first = rng.hypergeometric(votes[:, 0], votes[:, 1] + votes[:, 2], n)
    second = rng.hypergeometric(votes[:, 1], votes[:, 2], n - first)
    return np.column_stack([first, second, n - first - second])
