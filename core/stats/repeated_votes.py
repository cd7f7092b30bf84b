"""Confidence that no prompt has to ask for: the share of a judge's repeated votes behind its
majority.
"""

from __future__ import annotations

import numpy as np

from ..records import NO_GOLD, FloatArray, OutcomeCounts, VoteCounts, distinct, value_codes

SHARE_KIND = "multi"
"""What [TH] calls confidence from several outputs of one prompt."""
LEAST_VOTES = 2


def share_behind(counts: VoteCounts) -> FloatArray:
    """Share of the votes of each comparison that agree: of those that say what most say.

    Of votes that split evenly it is that of either side, 4 of 8: .5, though the label is a tie that
    perhaps none of them gave: [TH] §3 asks how many outputs agree.
    """
    most = np.maximum(np.maximum(counts.plus, counts.tie), counts.minus)
    return np.asarray(most / counts.n)


def outcomes_by_share(counts: VoteCounts) -> OutcomeCounts | None:
    """The majority label of each repeated comparison as one verdict, as sure as its share of votes.

    confidence = votes for the modal label / n over comparisons with gold and n ≥ 2 votes; without a
    unique mode the label is a tie, as sure as the share of any of its modes. Comparisons of one
    item with the same confidence share a row. None if no comparison with gold has two votes.

    [TH] §3 asks how many outputs agree; four votes for each side agree by half. The share of votes
    for the tie itself, none of eight, would be a confidence of 0, and count as nearly certain.

    >>> counts = VoteCounts(
    ...     comparison=np.arange(3), item=np.arange(3), plus=np.array([3, 1, 4]),
    ...     tie=np.array([0, 0, 0]), minus=np.array([1, 7, 4]), gold=np.array([1, 1, 0]),
    ... )
    >>> found = outcomes_by_share(counts)
    >>> found.confidence.tolist(), found.correct.tolist()
    ([0.75, 0.875, 0.5], [1, 0, 1])

    Source: [TH] §3, multiple prompting from repeats of one prompt.
    """
    known = counts.rows((counts.gold != NO_GOLD) & (counts.n >= LEAST_VOTES))
    if not len(known):
        return None
    right = known.label == known.gold
    tied = ~right & (known.label == 0)
    (code,), shares = value_codes([share_behind(known)])
    about, row, n = distinct(known.item * len(shares) + code)
    return OutcomeCounts(
        item=about // len(shares),
        confidence=shares[about % len(shares)],
        n=n,
        correct=np.bincount(row[right], minlength=len(about)),
        ties=np.bincount(row[tied], minlength=len(about)),
        kind=SHARE_KIND,
    )
