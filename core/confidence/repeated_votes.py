"""Confidence that no prompt has to ask for: the share of a judge's repeated votes behind its
majority.
"""

from __future__ import annotations

import numpy as np

from ..records import NO_GOLD, OutcomeCounts, VoteCounts
from .selective import share_behind

SHARE_KIND = "multi"
"""What [TH] calls confidence from several outputs of one prompt."""
LEAST_VOTES = 2


def outcomes_by_share(counts: VoteCounts) -> OutcomeCounts | None:
    """The majority label of each repeated comparison as one verdict, as sure as its share of votes.

    confidence = votes for the modal label / n over comparisons with gold and n ≥ 2 votes; without a
    unique mode the label is a tie, as sure as the share of votes for a tie. Comparisons of one item
    with the same confidence share a row. None if no comparison with gold has two votes.

    >>> counts = VoteCounts(
    ...     comparison=np.arange(2), item=np.arange(2), plus=np.array([3, 1]),
    ...     tie=np.array([0, 0]), minus=np.array([1, 7]), gold=np.array([1, 1]),
    ... )
    >>> found = outcomes_by_share(counts)
    >>> found.confidence.tolist(), found.correct.tolist()
    ([0.75, 0.875], [1, 0])

    Source: [TH] §3, multiple prompting from repeats of one prompt.
    """
    known = counts.rows((counts.gold != NO_GOLD) & (counts.n >= LEAST_VOTES))
    if not len(known):
        return None
    right = known.label == known.gold
    tied = ~right & (known.label == 0)
    about = np.stack([known.item, share_behind(known)], axis=1)
    distinct, row = np.unique(about, axis=0, return_inverse=True)
    row = row.ravel()
    return OutcomeCounts(
        item=distinct[:, 0].astype(np.int64),
        confidence=distinct[:, 1],
        n=np.bincount(row),
        correct=np.bincount(row[right], minlength=len(distinct)),
        ties=np.bincount(row[tied], minlength=len(distinct)),
        kind=SHARE_KIND,
    )
