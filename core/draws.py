"""How votes fall that are drawn without replacement."""

from __future__ import annotations

import numpy as np

from core.counts import FloatArray, IntArray


def chances(votes: IntArray, among: IntArray) -> FloatArray:
    """Chance that as many votes as in `among`, drawn without replacement from `votes`, are exactly those.

    Multivariate hypergeometric: Π C(votes_y, among_y) / C(Σ votes, Σ among); (rows, 3), (states, 3) →
    (rows, states). 0 where there are too few.
    """
    ways = _choose(votes[:, None, :], among[None]).prod(axis=2)
    total = _choose(votes.sum(axis=1)[:, None], among.sum(axis=1)[None])
    return np.asarray(ways / np.maximum(total, 1.0))


def _choose(n: IntArray, k: IntArray) -> FloatArray:
    """Binomial coefficients, broadcast; the table has a row for each distinct n, as n may be a million."""
    distinct, place = np.unique(n, return_inverse=True)
    table = np.ones((len(distinct), int(k.max(initial=0)) + 1))
    for i in range(table.shape[1] - 1):
        table[:, i + 1] = table[:, i] * (distinct - i) / (i + 1)
    return np.asarray(table[place.reshape(n.shape), k])
