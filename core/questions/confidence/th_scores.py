"""TH-Score: what the verdicts that a judge is nearly certain of are worth, and how many
there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidOption
from ...records import FloatArray, IntArray, OutcomeCounts
from ...stats.binning import EDGE_TOLERANCE, usable
from ...stats.estimate import DataFrame, Estimate, Estimates, OneRow, data_frame, flat
from ...stats.intervals import check_level, clustered_proportion, dense_codes, t_quantile

Scale = Literal["formula", "published"]
SCALES = {"formula": 1.0, "published": 0.5}
"""[TH] prints half of its own formula in every row of its tables; `published` is for comparing with
them.
"""

EPSILON = 0.10
"""The ε of [TH] Table 3."""

SWEEP_EPSILONS = tuple(float(step) / 100 for step in range(1, 50))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ThScore(OneRow):
    """TH-Score at one epsilon: `th` in percent points, with its band (`th_sweep`), and what it is
    made of.

    share : fraction of the verdicts that are inside; n : their number.  accuracy : of those, with a
        Wilson
    interval at n/deff over items; NaN if none is inside.
    """

    epsilon: float
    th: Estimate
    accuracy: Estimate
    share: float
    n: int
    scale: str
    level: float

    @property
    def unknown(self) -> dict[str, str]:
        """What the verdicts cannot tell → why."""
        if self.n:
            return {}
        return {f"accuracy at ε {self.epsilon:g}": "no confidence is that near to 0 or 1"}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ThSweep:
    """TH-Score over epsilons, (epsilons,) each, with a band by item.

    n : verdicts inside.  share : n over all.  accuracy : NaN where n = 0.  The band is NaN with one
        item.
    """

    epsilon: FloatArray
    th: Estimates
    accuracy: FloatArray
    share: FloatArray
    n: IntArray

    def to_frame(self) -> DataFrame:
        """One row per epsilon."""
        return data_frame(flat(self))


def th_from_rates(accuracy: ArrayLike, share: ArrayLike, *, scale: Scale = "formula") -> FloatArray:
    """TH-Score of an accuracy and a share (fraction), elementwise: (exp(accuracy − ½) −
    1)·100·share.

    An undefined accuracy (nothing inside) gives 0. Source: [TH] §4.
    """
    if scale not in SCALES:
        raise InvalidOption(f"scale: {scale!r} is not one of {', '.join(SCALES)}")
    gain = np.expm1(np.asarray(accuracy, dtype=np.float64) - 0.5)
    percent = 100 * np.asarray(share, dtype=np.float64)
    return np.asarray(SCALES[scale] * np.nan_to_num(gain, nan=0.0) * percent)


def th_score(
    outcomes: OutcomeCounts, epsilon: float, *, scale: Scale = "formula", level: float = 0.95
) -> ThScore:
    """TH-Score: how much the near-certain verdicts (c > 1 − ε or c < ε) are worth; see `th_sweep`.

    >>> stated, correct = np.array([0.99, 0.97, 0.6, 0.6]), np.array([1, 1, 1, 0])
    >>> verdicts = OutcomeCounts(item=np.arange(4), confidence=stated, n=np.ones(4,
    ...     dtype=np.int64), correct=correct)
    >>> found = th_score(verdicts, 0.05)
    >>> found.n, found.share, found.accuracy.value, round(found.th.value, 2)
    (2, 0.5, 1.0, 32.44)
    """
    return th_scores(outcomes, [epsilon], scale=scale, level=level)[0]


def th_scores(
    outcomes: OutcomeCounts,
    epsilons: Sequence[float],
    *,
    scale: Scale = "formula",
    level: float = 0.95,
) -> tuple[ThScore, ...]:
    """`th_score` at each epsilon, in one pass."""
    if not len(epsilons):
        return ()
    sweep = th_sweep(outcomes, epsilons, scale=scale, level=level)
    known = usable(outcomes)
    distance = np.minimum(known.confidence, 1 - known.confidence)
    found = []
    for place, epsilon in enumerate(epsilons):
        keep = distance < epsilon - EDGE_TOLERANCE
        found.append(
            ThScore(
                epsilon=float(epsilon),
                th=sweep.th[place],
                accuracy=clustered_proportion(
                    known.item[keep], known.n[keep], known.correct[keep], level=level
                ),
                share=float(sweep.share[place]),
                n=int(sweep.n[place]),
                scale=scale,
                level=level,
            )
        )
    return tuple(found)


def th_sweep(
    outcomes: OutcomeCounts,
    epsilons: ArrayLike = SWEEP_EPSILONS,
    *,
    scale: Scale = "formula",
    level: float = 0.95,
) -> ThSweep:
    """TH-Score, accuracy and share over epsilons in one pass, with a band by item.

    TH(ε) = (exp(acc − ½) − 1)·share over verdicts with c > 1 − ε or c < ε; share in percent. Inner
    edges are open with a tolerance of 1e−9; 0 and 1 are inside. Nothing inside: TH = 0.

    Band: TH ± t(items − 1)·SE to first order in accuracy and share, three items of average size
    being added: one right and one wrong inside, one outside. So few errors or few verdicts inside
    do not look like none; it is widened to hold TH as seen. In simulation 95 % bands hold .95 to 1,
    from 20 verdicts on.

    The published tables hold half of this value in every row; `scale='published'` gives theirs.

    Raises InvalidOption for an epsilon outside (0, 0.5) or an unknown scale, NoUsableVotes if no
    verdict has a confidence. Source: [TH] §4; band ours.
    """
    chosen = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    check_level(level)
    if not ((chosen > 0) & (chosen < 0.5)).all():
        raise InvalidOption(
            f"epsilon: {chosen[~((chosen > 0) & (chosen < 0.5))][0]} is not between 0 and 0.5"
        )
    known = usable(outcomes)
    distinct, position = np.unique(chosen, return_inverse=True)
    rows = _rows(known, _first_inside(known.confidence, distinct), len(distinct))
    n, correct, total = (
        rows.inside(rows.n)[position],
        rows.inside(rows.right)[position],
        known.n.sum(),
    )
    with np.errstate(invalid="ignore"):
        accuracy = correct / n
    th = th_from_rates(accuracy, n / total, scale=scale)
    low, high = (SCALES[scale] * end[position] for end in _band(rows, level=level))
    return ThSweep(
        epsilon=chosen,
        th=Estimates(
            th, np.minimum(low, th), np.maximum(high, th), n=n.astype(np.int64), level=level
        ),
        accuracy=accuracy,
        share=n / total,
        n=n.astype(np.int64),
    )


def _first_inside(confidence: FloatArray, epsilons: FloatArray) -> IntArray:
    """Place of the first epsilon that a confidence is inside of; it stays inside of all larger
    ones.
    """

    def searched(values: FloatArray) -> IntArray:
        distance = np.minimum(values, 1 - values)
        return np.where(
            distance > 0, np.searchsorted(epsilons - EDGE_TOLERANCE, distance, side="right"), 0
        )

    percent = np.rint(100 * confidence)
    if np.array_equal(percent / 100, confidence):
        # Whole percents: a search for each of 101 values, not for each verdict.
        return searched(np.arange(101) / 100)[percent.astype(np.int64)]
    return searched(confidence)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Rows:
    """Rows that are inside of some epsilon, equal ones as one with their number as its weight.

    slot : the first epsilon that a row is inside of.  before_n, before_right : n and right of the
        rows of its
    item that came inside before it.  size : verdicts of its item, inside or not.
    items, sizes, squares : number of all items, and sums of their sizes and of the squares of
        those.
    """

    slots: int
    slot: IntArray
    n: IntArray
    right: IntArray
    before_n: IntArray
    before_right: IntArray
    size: IntArray
    weight: IntArray
    items: int
    sizes: float
    squares: float

    def inside(self, column: IntArray) -> FloatArray:
        """Sums over the rows inside of each epsilon, (slots,)."""
        sums = np.bincount(self.slot, weights=self.weight * column, minlength=self.slots)
        return np.asarray(sums.cumsum(), dtype=np.float64)


def _rows(known: OutcomeCounts, slot: IntArray, slots: int) -> _Rows:
    item, n, right = dense_codes(known.item), known.n, known.correct
    sizes = np.bincount(item, weights=n)
    width = int(n.max()) + 1
    if len(sizes) == len(item) and (slots + 1) * width**2 <= len(item):
        # Each (slot, n, right) is counted; `records.distinct` would place every row too, which
        # takes longer.
        count = np.bincount((slot * width + n) * width + right, minlength=slots * width**2)
        seen = np.flatnonzero(count[: slots * width**2])
        slot, n, right, weight = seen // width**2, seen // width % width, seen % width, count[seen]
        before_n = before_right = np.zeros(len(seen), dtype=np.int64)
        size = n
    else:
        near = slot < slots
        item, slot, n, right = item[near], slot[near], n[near], right[near]
        # Rows of an item in the order in which they come inside: sums of squares grow with what
        # came before.
        key = item * slots + slot
        if (key[1:] < key[:-1]).any():
            order = np.argsort(key, kind="stable")
            item, slot, n, right = item[order], slot[order], n[order], right[order]
        starts = np.flatnonzero(np.diff(item, prepend=-1))
        first = np.repeat(starts, np.diff(starts, append=len(item)))
        before_n, before_right = (part.cumsum() - part for part in (n, right))
        before_n, before_right = before_n - before_n[first], before_right - before_right[first]
        size, weight = sizes[item].astype(np.int64), np.ones(len(n), dtype=np.int64)
    return _Rows(
        slots=slots,
        slot=slot,
        n=n,
        right=right,
        before_n=before_n,
        before_right=before_right,
        size=size,
        weight=weight,
        items=int((sizes > 0).sum()),
        sizes=float(sizes.sum()),
        squares=float((sizes**2).sum()),
    )


def _band(rows: _Rows, *, level: float) -> tuple[FloatArray, FloatArray]:
    """TH ± t·SE of the items and three more at each epsilon, (slots,); see `th_sweep`.

    To first order an item with nᵢ verdicts, mᵢ of them inside and cᵢ of those right, moves TH by
    (exp(a − ½)·(cᵢ − a·mᵢ) + (exp(a − ½) − 1)·(mᵢ − s·nᵢ))/N, a the accuracy inside and s the
    share.
    """
    if rows.items < 2:
        return np.full(rows.slots, np.nan), np.full(rows.slots, np.nan)
    inside, n, right = rows.inside, rows.n, rows.right
    mean = rows.sizes / rows.items
    added = mean**2
    total, used = rows.sizes + 3 * mean, rows.items + 3
    m, c = inside(n) + 2 * mean, inside(right) + mean
    mm = inside((2 * rows.before_n + n) * n) + 2 * added
    cc = inside((2 * rows.before_right + right) * right) + added
    mc = inside(rows.before_n * right + rows.before_right * n + n * right) + added
    mn, cn = inside(n * rows.size) + 2 * added, inside(right * rows.size) + added
    nn = rows.squares + 3 * added

    a, s = c / m, m / total
    gain, slope = np.expm1(a - 0.5), np.exp(a - 0.5)
    squares = slope**2 * (cc - 2 * a * mc + a**2 * mm) + gain**2 * (mm - 2 * s * mn + s**2 * nn)
    squares += 2 * slope * gain * (mc - s * cn - a * mm + a * s * mn)
    error = 100 * np.sqrt(used / (used - 1) * np.maximum(squares, 0.0)) / total
    half = t_quantile(rows.items - 1, level) * error
    return 100 * gain * s - half, 100 * gain * s + half
