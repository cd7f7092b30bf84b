"""Bins of confidence: equal width, equal mass, and what falls into them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..errors import InvalidOption, NoUsableVotes
from ..records import FloatArray, IntArray, OutcomeCounts, kept_rows

EDGE_TOLERANCE = 1e-9
"""A confidence this close to a bin's edge lies on it (0.7 · 10 is 7.000000000000001)."""

BLOCK = 1 << 15
"""Rows worked on at once."""


def usable(outcomes: OutcomeCounts) -> OutcomeCounts:
    """Verdicts that carry a confidence, or `NoUsableVotes` if there are none."""
    keep = (outcomes.n > 0) & ~np.isnan(outcomes.confidence)
    if keep.all() and len(keep):
        return outcomes
    if not keep.any():
        raise NoUsableVotes(
            "calibration needs verdicts with a confidence and a gold label; this selection has none"
        )
    return OutcomeCounts(**kept_rows(outcomes, keep))


def bin_index(confidence: FloatArray, bins: int) -> IntArray:
    """Equal-width bin 0 … bins − 1 of each confidence: (lo, hi], 0 in the first, edges
    within 1e−9.
    """
    if bins < 1:
        raise InvalidOption(f"bins: {bins} is below 1")
    index = np.ceil(confidence * bins - EDGE_TOLERANCE).astype(np.int64) - 1
    return np.clip(index, 0, bins - 1, out=index)


def equal_mass_index(confidence: FloatArray, n: IntArray, bins: int) -> IntArray:
    """Equal-mass bin of each row; equal confidences are never split.

    A distinct value with r verdicts below it and m verdicts goes whole to bin min(M − 1, ⌊M(2r +
    m)/(2N)⌋), in integers; bins may be empty. Values that agree to nine decimals are equal, since a
    mean of two orders may differ in its last bit. Source: docs/methods.md §5 (ours; [TH] says
    "variant of ECE").
    """
    if bins < 1:
        raise InvalidOption(f"bins: {bins} is below 1")
    value_of_row = rank_values(confidence)
    mass = np.bincount(value_of_row, weights=n).astype(np.int64)
    below = np.cumsum(mass) - mass
    index: IntArray = np.minimum(bins - 1, bins * (2 * below + mass) // (2 * mass.sum()))
    return index[value_of_row]


def rank_values(confidence: FloatArray) -> IntArray:
    """Codes in the order of the values, equal where values agree to nine decimals; a code may be
    unused.
    """
    grid = np.rint(confidence * 1e4)
    if np.abs(confidence * 1e4 - grid).max() < 1e-5:
        # Stated confidences have few decimals: the value is its own code, and 1 M rows need no
        # sort.
        return grid.astype(np.int64)
    return np.unique(np.rint(confidence * 1e9), return_inverse=True)[1].astype(np.int64)


def by_confidence(counts: OutcomeCounts) -> OutcomeCounts:
    """The same verdicts with one row per stated confidence, for measures that no item matters to.

    Only where stated confidences have few decimals; else the rows stay as they are. Items are all
    0.
    """
    code = rank_values(counts.confidence)
    value = np.full(int(code.max()) + 1, np.nan)
    value[code] = counts.confidence
    if len(value) > len(code) or (value[code] != counts.confidence).any():
        return counts
    n, correct = (
        np.bincount(code, weights=column).astype(np.int64) for column in (counts.n, counts.correct)
    )
    seen = n > 0
    confidence, n, correct = value[seen], n[seen], correct[seen]
    return OutcomeCounts(
        item=np.zeros(len(n), dtype=np.int64), confidence=confidence, n=n, correct=correct
    )


def bin_sums(
    counts: OutcomeCounts, index: IntArray, bins: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Verdicts, right verdicts and summed confidence of each bin."""
    stated = counts.n * counts.confidence
    return (
        _total(index, counts.n, bins),
        _total(index, counts.correct, bins),
        _total(index, stated, bins),
    )


def _total(index: IntArray, column: IntArray | FloatArray, bins: int) -> FloatArray:
    return np.bincount(index, weights=column, minlength=bins).astype(np.float64, copy=False)


def item_sums(counts: OutcomeCounts, bins: int) -> tuple[FloatArray, ...]:
    """What the accuracy of each equal-width bin and its design effect are made of, (bins,) each.

    With nᵢ verdicts of item i in the bin, of which kᵢ are right: Σnᵢ, Σkᵢ, Σ confidence, items with
    nᵢ > 0, Σnᵢ², Σnᵢkᵢ, Σkᵢ²; all but the third are what `intervals.design_effect_of_sums` takes.

    Rows of one item and bin are added up first. The result is that of this definition in any order
    of rows; sorted rows are worked on in blocks of items, and totals that are small numbers are
    counted, not squared one by one, so that a million rows take milliseconds.
    """
    parts = [
        _item_sums(
            counts.item[rows], counts.confidence[rows], counts.n[rows], counts.correct[rows], bins
        )
        for rows in _blocks(counts.item)
    ]
    return tuple(np.sum(column, axis=0) for column in zip(*parts, strict=True))


def _blocks(item: IntArray) -> list[slice]:
    """Cut sorted rows between items: fresh memory for a million rows costs more than
    adding them.
    """
    if len(item) <= BLOCK or (item[1:] < item[:-1]).any():
        return [slice(0, len(item))]
    cuts = np.unique(np.searchsorted(item, item[BLOCK::BLOCK]))
    edges = [0, *cuts[cuts > 0].tolist(), len(item)]
    return [slice(begin, end) for begin, end in pairwise(edges)]


def _item_sums(
    item: IntArray, confidence: FloatArray, n: IntArray, k: IntArray, bins: int
) -> tuple[FloatArray, ...]:
    index = bin_index(confidence, bins)
    stated = _total(index, n * confidence, bins)
    index, n, k = _cells(item, index, n, k, bins)
    weight = np.ones(len(index))
    width = int(n.max()) + 1
    if bins * width**2 <= len(index):
        # Totals are small numbers: count each (bin, n, k) once and work on the counts, not on the
        # cells.
        count = np.bincount((index * width + n) * width + k, minlength=bins * width**2)
        seen = np.flatnonzero(count)
        weight, k = count[seen].astype(np.float64), seen % width
        index, n = seen // width**2, seen // width % width
    products = (n * weight, k * weight, weight, n * n * weight, n * k * weight, k * k * weight)
    total_n, total_k, *squares = (_total(index, column, bins) for column in products)
    return total_n, total_k, stated, *squares


def _cells(
    item: IntArray, index: IntArray, n: IntArray, k: IntArray, bins: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Bin, verdicts and right verdicts of each pair of an item and a bin that has rows."""
    key = item * bins + index
    if (key[1:] < key[:-1]).any():
        order = np.argsort(key, kind="stable")
        key, index, n, k = key[order], index[order], n[order], k[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    if len(starts) < len(key):
        # Differences of running totals of whole numbers are exact, and take a third of the time of
        # reduceat.
        ends = np.append(starts[1:], len(key)) - 1
        n, k = (np.diff(np.cumsum(column)[ends], prepend=0) for column in (n, k))
        index = index[starts]
    return index, n, k
