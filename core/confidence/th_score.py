"""TH-Score: what the verdicts that a judge is nearly certain of are worth, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from core.binning import EDGE_TOLERANCE, usable
from core.counts import FloatArray, IntArray, OutcomeCounts
from core.intervals import check_level, clustered_proportion, resample_items
from core.votes import InvalidOption

if TYPE_CHECKING:
    import pandas as pd

Scale = Literal["formula", "published"]
SCALES = {"formula": 1.0, "published": 0.5}
"""[TH] prints half of its own formula in every row of its tables; `published` is for comparing with them."""

SWEEP_EPSILONS = tuple(float(step) / 100 for step in range(1, 50))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ThScore:
    """TH-Score at one epsilon: `th` in percent points, `share` a fraction, `accuracy` NaN if none is in.

    accuracy_low, accuracy_high : Wilson interval at n/deff over items, at `level`.
    """

    epsilon: float
    th: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    share: float
    n: int
    scale: str
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        return pd.DataFrame([{f.name: getattr(self, f.name) for f in fields(self)}])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ThSweep:
    """TH-Score over epsilons, (epsilons,) each, with a bootstrap band `th_low` to `th_high` by item.

    n : verdicts inside.  share : n over all.  accuracy : NaN where n = 0.  The band is NaN if no `rng` was
    given.
    """

    epsilon: FloatArray
    th: FloatArray
    th_low: FloatArray
    th_high: FloatArray
    accuracy: FloatArray
    share: FloatArray
    n: IntArray
    scale: str
    level: float
    iterations: int

    def to_frame(self) -> pd.DataFrame:
        """One row an epsilon."""
        import pandas as pd

        names = ("epsilon", "th", "th_low", "th_high", "accuracy", "share", "n")
        return pd.DataFrame({name: getattr(self, name) for name in names})


def th_from_rates(accuracy: ArrayLike, share: ArrayLike, *, scale: Scale = "formula") -> FloatArray:
    """TH-Score of an accuracy and a share (fraction), elementwise: (exp(accuracy − ½) − 1)·100·share.

    An undefined accuracy (nothing inside) gives 0. Source: [TH] §4.
    """
    if scale not in SCALES:
        raise InvalidOption(f"scale: {scale!r} is not one of {', '.join(SCALES)}")
    gain = np.expm1(np.asarray(accuracy, dtype=np.float64) - 0.5)
    percent = 100 * np.asarray(share, dtype=np.float64)
    score: FloatArray = SCALES[scale] * np.nan_to_num(gain, nan=0.0) * percent
    return score


def th_score(
    outcomes: OutcomeCounts, epsilon: float, *, scale: Scale = "formula", level: float = 0.95
) -> ThScore:
    """TH-Score: how much the near-certain verdicts (c > 1 − ε or c < ε) are worth; see `th_sweep`."""
    sweep = th_sweep(outcomes, [epsilon], scale=scale)
    known = usable(outcomes)
    keep = np.minimum(known.confidence, 1 - known.confidence) < epsilon - EDGE_TOLERANCE
    low = high = np.nan
    if keep.any():
        rate = clustered_proportion(known.item[keep], known.n[keep], known.correct[keep], level=level)
        low, high = rate.low, rate.high
    return ThScore(
        epsilon=float(epsilon),
        th=float(sweep.th[0]),
        accuracy=float(sweep.accuracy[0]),
        accuracy_low=low,
        accuracy_high=high,
        share=float(sweep.share[0]),
        n=int(sweep.n[0]),
        scale=scale,
        level=level,
    )


def th_sweep(
    outcomes: OutcomeCounts,
    epsilons: ArrayLike = SWEEP_EPSILONS,
    *,
    scale: Scale = "formula",
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    iterations: int = 500,
) -> ThSweep:
    """TH-Score, accuracy and share over epsilons in one pass; a bootstrap band by item if `rng` is given.

    TH(ε) = (exp(acc − ½) − 1)·share over verdicts with c > 1 − ε or c < ε; share in percent. Inner edges
    are open with a tolerance of 1e−9; 0 and 1 are inside. Nothing inside: TH = 0.

    The published tables hold half of this value in every row; `scale='published'` gives theirs.

    Raises
    ------
    InvalidOption : an epsilon outside (0, 0.5), or an unknown scale.
    NoUsableVotes : no verdict has a confidence.

    Source: [TH] §4; band ours.
    """
    asked = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    check_level(level)
    if not ((asked > 0) & (asked < 0.5)).all():
        raise InvalidOption(f"epsilon: {asked[~((asked > 0) & (asked < 0.5))][0]} is not between 0 and 0.5")
    known = usable(outcomes)
    distinct, position = np.unique(asked, return_inverse=True)
    distance = np.minimum(known.confidence, 1 - known.confidence)
    # The first epsilon that a row is inside of; it stays inside of all larger ones.
    slot = np.where(distance > 0, np.searchsorted(distinct - EDGE_TOLERANCE, distance, side="right"), 0)
    slots = len(distinct) + 1

    def inside(column: IntArray) -> FloatArray:
        totals = np.bincount(slot, weights=column, minlength=slots)[: len(distinct)]
        return totals.cumsum()[position].astype(np.float64)

    n, correct, total = inside(known.n), inside(known.correct), known.n.sum()
    with np.errstate(invalid="ignore"):
        accuracy = correct / n
    th = th_from_rates(accuracy, n / total, scale=scale)
    low = high = np.full(len(asked), np.nan)
    if rng is not None:
        group, weights = resample_items(known.item, rng=rng, iterations=iterations)

        def drawn(column: IntArray) -> FloatArray:
            cells = np.bincount(group * slots + slot, weights=column, minlength=weights.shape[1] * slots)
            sums: FloatArray = (weights @ cells.reshape(-1, slots)).cumsum(axis=1)
            return sums

        drawn_n = drawn(known.n)
        with np.errstate(invalid="ignore"):
            rates = drawn(known.correct) / drawn_n
        draws = th_from_rates(rates, drawn_n / drawn_n[:, -1:], scale=scale)[:, position]
        low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        low, high = np.minimum(low, th), np.maximum(high, th)
    return ThSweep(
        epsilon=asked,
        th=th,
        th_low=low,
        th_high=high,
        accuracy=accuracy,
        share=n / total,
        n=n.astype(np.int64),
        scale=scale,
        level=level,
        iterations=iterations if rng is not None else 0,
    )
