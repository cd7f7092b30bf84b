"""Does a judge give an answer the same score again? The one result that looks at single runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidOption
from ...records import FloatArray, IntArray, RatingTable
from ..agreement.reliability import Repeatability, icc


def repeatability(
    scores: ArrayLike, *, unit: ArrayLike | None = None, level: float = 0.95
) -> Repeatability:
    """ICC(3,1) of one run and ICC(3,k) of the mean of k runs, as `reliability.icc`.

    k is the number of runs that most answers with two or more have, the larger of equal ones; an
    answer with more counts by its first k, one with fewer is left out. The interval leaves out
    units.

    scores : (n, runs) scores of one judge and metric, NaN where a run gave none, in any unit.
    unit : (n,) code of the item, conversation or document; by default each answer is one.

    Raises InvalidOption for scores of another shape. Source: [RAEE] App. E; Shrout & Fleiss (1979);
    docs/methods.md §6.

    >>> found = repeatability([[1, 1, 2], [4, 5, 5], [3, 3, 3], [2, 1, 2]])
    >>> round(found.icc_3_1.value, 3), found.k, found.n_comparisons
    (0.909, 3, 4)
    """
    runs = np.asarray(scores, dtype=np.float64)
    if runs.ndim != 2:
        raise InvalidOption("repeatability needs a row per answer and a column per run")
    codes = np.arange(len(runs)) if unit is None else np.asarray(unit, dtype=np.int64)
    kept, ratings = _complete(runs)
    table = RatingTable(item=codes[kept], ratings=ratings, orders="unknown", oriented=True)
    found = icc(table, level=level)
    reason = None if found.reason is None else found.reason.replace("comparisons", "answers")
    return replace(found, reason=reason)


def _complete(runs: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rows with k runs or more, and their first k scores, (rows, k)."""
    known = ~np.isnan(runs)
    n = known.sum(axis=1)
    counts = np.bincount(n[n > 1], minlength=2)
    most = len(counts) - 1 - int(np.argmax(counts[::-1])) if counts.any() else 1
    rows = np.flatnonzero(n >= most)
    # Known scores first, in the order of the runs.
    order = np.argsort(~known[rows], axis=1, kind="stable")[:, :most]
    return rows, np.take_along_axis(runs[rows], order, axis=1)
