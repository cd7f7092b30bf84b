"""Is a confidence worth its number: reliability diagram, ECE, ACE, MCE, Brier, NLL, noise floor and
gap.

Every measure is computed on `OutcomeCounts` (a row per item and confidence, with n verdicts of
which `correct` are right), so it costs the same however many votes are behind a row. Verdicts
without confidence are left out and counted. docs/methods.md §5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...records import FloatArray, IntArray, OutcomeCounts
from ...stats import binning, intervals
from ...stats.estimate import DataFrame, Estimate, Estimates, OneRow, data_frame, flat

NLL_CLIP = 1e-12
"""The logarithmic loss sees confidences within [1e−12, 1 − 1e−12]: failed certainty would cost
infinity.
"""

FLOOR_GRID = 1000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reliability:
    """Accuracy against stated confidence, (bins,) each; empty bins have n = 0 and NaN elsewhere.

    low, high : edges of the bin, (low, high], 0 in the first.  n : verdicts.  items : distinct
        items.
    confidence : mean confidence.  accuracy : share right, with a Wilson interval at n/deff.
    """

    low: FloatArray
    high: FloatArray
    n: IntArray
    items: IntArray
    confidence: FloatArray
    accuracy: Estimates
    deff: FloatArray

    def to_frame(self) -> DataFrame:
        """One row per bin."""
        return data_frame(flat(self))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Calibration:
    """All calibration measures of one judge from the same verdicts.

    n : verdicts with a confidence.  without_confidence : verdicts left out for want of one.
    accuracy : share right, with a Wilson interval at n/deff over items.
    nll_clipped : verdicts whose confidence was clipped for the NLL.
    """

    n: int
    items: int
    without_confidence: int
    accuracy: Estimate
    mean_confidence: float
    ece: float
    ace: float
    mce: float
    brier: float
    nll: float
    nll_clipped: int
    reliability: Reliability

    @property
    def unknown(self) -> dict[str, str]:
        """What the verdicts cannot tell → why."""
        bins, empty = len(self.reliability.n), int((self.reliability.n == 0).sum())
        what = f"confidence and accuracy in {empty} of {bins} bins"
        return {what: "no verdict has such a confidence"} if empty else {}

    def to_frame(self) -> DataFrame:
        """One row per measure."""
        names = ("mean_confidence", "ece", "ace", "mce", "brier", "nll")
        values = [self.accuracy.value, *flat(self, names=names).values()]
        return data_frame({"measure": ["accuracy", *names], "value": values, "n": self.n})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CalibrationIntervals:
    """Measures with intervals by item; those of ECE and ACE draw `iterations` resamples.

    Those of Brier and NLL have no ends with one item.
    """

    ece: Estimate
    ace: Estimate
    brier: Estimate
    nll: Estimate

    def to_frame(self) -> DataFrame:
        """One row per measure."""
        found = {"ece": self.ece, "ace": self.ace, "brier": self.brier, "nll": self.nll}
        rows = [(name, one.low, one.high) for name, one in found.items()]
        return data_frame(rows, columns=["measure", "low", "high"])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NoiseFloor:
    """ECE and ACE of a perfectly calibrated judge with the same confidences: mean and quantiles of
    draws.

    ece_high_clustered : `ece.high` if verdicts of one item are as alike as this judge's are.
    """

    ece: Estimate
    ece_high_clustered: float
    ace: Estimate
    n: int

    def to_frame(self) -> DataFrame:
        """One row per measure."""
        rows = [
            (name, one.value, one.low, one.high)
            for name, one in (("ece", self.ece), ("ace", self.ace))
        ]
        return data_frame(rows, columns=["measure", "mean", "low", "high"])


def reliability(outcomes: OutcomeCounts, *, bins: int = 10, level: float = 0.95) -> Reliability:
    """Accuracy and mean confidence in equal-width bins of confidence.

    accuracy_b = Σcorrect/Σn over rows of bin b, with a Wilson interval at n_b/deff_b; deff_b is the
    design effect of the bin's own items (votes of one item are not independent;
    `intervals.design_effect`).

    Raises NoUsableVotes if no verdict has a confidence, InvalidOption for bins below 1 or a level
    outside (0, 1).
    Source: [TH] §3; intervals ours.

    >>> stated, correct = np.array([0.6, 0.6, 0.9, 0.9]), np.array([1, 0, 1, 1])
    >>> verdicts = OutcomeCounts(item=np.arange(4), confidence=stated, n=np.ones(4,
    ...     dtype=np.int64), correct=correct)
    >>> diagram = reliability(verdicts, bins=2)
    >>> diagram.n.tolist(), diagram.confidence.tolist(), diagram.accuracy.value.tolist()
    ([0, 4], [nan, 0.75], [nan, 0.75])
    """
    known = binning.usable(outcomes)
    n, correct, stated, *squares = binning.item_sums(known, bins)
    deff = intervals.design_effect_of_sums(n, correct, *squares)
    low, high = intervals.wilson(correct, n, level=level, deff=deff)
    with np.errstate(invalid="ignore"):
        confidence, accuracy = stated / n, correct / n
    edges = np.arange(bins + 1) / bins
    return Reliability(
        low=edges[:-1],
        high=edges[1:],
        n=n.astype(np.int64),
        items=squares[0].astype(np.int64),
        confidence=confidence,
        accuracy=Estimates(accuracy, low, high, n=n.astype(np.int64), level=level),
        deff=deff,
    )


def calibration(outcomes: OutcomeCounts, *, bins: int = 10, level: float = 0.95) -> Calibration:
    """Every calibration measure of one judge.

    ECE = Σ_b n_b/N·|accuracy_b − confidence_b| over equal-width bins; MCE the largest gap of a
    non-empty bin; ACE as ECE over `equal_mass_index` bins; Brier = mean (c − correct)²; NLL = −mean
    ln of the probability given to what happened, c clipped to [1e−12, 1 − 1e−12].

    Raises as `reliability`. Source: [TH] §3; ACE ours.

    >>> stated, correct = np.array([0.6, 0.6, 0.9, 0.9]), np.array([1, 0, 1, 1])
    >>> verdicts = OutcomeCounts(item=np.arange(4), confidence=stated, n=np.ones(4,
    ...     dtype=np.int64), correct=correct)
    >>> found = calibration(verdicts)
    >>> found.accuracy.value, round(found.ece, 3), round(found.mce, 3), round(found.brier, 3)
    (0.75, 0.1, 0.1, 0.135)
    """
    known = binning.usable(outcomes)
    diagram = reliability(known, bins=bins, level=level)
    total = int(diagram.n.sum())
    filled = diagram.n > 0
    gap = np.abs(diagram.accuracy.value - diagram.confidence)[filled]
    stated = binning.by_confidence(known)
    mass_n, mass_correct, mass_stated = binning.bin_sums(
        stated, binning.equal_mass_index(stated.confidence, stated.n, bins), bins
    )
    brier, nll = _row_losses(stated)
    outside = (stated.confidence < NLL_CLIP) | (stated.confidence > 1 - NLL_CLIP)
    n, correct, _, items, *squares = (float(column[0]) for column in binning.item_sums(known, 1))
    deff = float(intervals.design_effect_of_sums(n, correct, items, *squares))
    return Calibration(
        n=total,
        items=int(items),
        without_confidence=int(outcomes.n.sum()) - total,
        accuracy=intervals.proportion(int(correct), total, level=level, deff=deff),
        mean_confidence=float(mass_stated.sum() / total),
        ece=float(np.dot(diagram.n[filled] / total, gap)),
        ace=float(np.abs(mass_correct - mass_stated).sum() / mass_n.sum()),
        mce=float(gap.max()),
        brier=float(brier.sum() / total),
        nll=float(nll.sum() / total),
        nll_clipped=int(stated.n[outside].sum()),
        reliability=diagram,
    )


def calibration_intervals(
    outcomes: OutcomeCounts,
    *,
    rng: np.random.Generator,
    bins: int = 10,
    level: float = 0.95,
    iterations: int = 1000,
) -> CalibrationIntervals:
    """Intervals of ECE, ACE, Brier and NLL over items (ours).

    Brier and NLL: `mean_interval`, the ends being the losses of a right and a wrong verdict at the
    surest confidence stated: a judge whose certain verdicts happen to be all right so far still
    errs one day, and that costs much. Simulated 95 % intervals hold .94 to 1, from 20 verdicts on.
    ECE and ACE count noise as miscalibration, so that a bootstrap of them misleads near 0: theirs
    are the true errors that agree with the one seen (`absolute_sum_interval`), the noise of each
    bin drawn by resampling items. Where a bin's outcomes hardly differ, its noise is that of an
    accuracy with two right and two wrong verdicts more at n/deff (Agresti–Coull), so that a bin
    without an error is not taken for certain.

    They cover the expected gap summed over these bins, which is 0 for a calibrated judge; gaps
    inside a bin that cancel are no part of it. Simulated 95 % intervals cover true errors of 0 to
    .3 in .93 to 1 of draws, from 50 verdicts on. The equal-mass bins stay as they are in the data.
    MCE has no interval: a maximum has no useful bootstrap.
    """
    known = binning.usable(outcomes)
    drawn = intervals.resample_items(known.item, rng=rng, iterations=iterations)
    ece, ace = (
        _absolute_interval(known, index, drawn, rng=rng, bins=bins, level=level)
        for index in (
            binning.bin_index(known.confidence, bins),
            binning.equal_mass_index(known.confidence, known.n, bins),
        )
    )
    brier, nll = loss_intervals(known, level=level)
    return CalibrationIntervals(ece=ece, ace=ace, brier=brier, nll=nll)


def loss_intervals(outcomes: OutcomeCounts, *, level: float = 0.95) -> tuple[Estimate, Estimate]:
    """Those of Brier and NLL in `calibration_intervals`, which need no draws."""
    known = binning.usable(outcomes)
    surest = 0.5 + float(np.abs(known.confidence - 0.5).max())
    one = np.ones(2, dtype=np.int64)
    either = OutcomeCounts(item=one, n=one, correct=np.array([1, 0]), confidence=np.full(2, surest))

    def mean(loss: FloatArray, ends: FloatArray) -> Estimate:
        value, added = loss / np.maximum(known.n, 1), (float(ends[0]), float(ends[1]))
        return intervals.mean_interval(
            known.item, value, ends=added, within=(0.0, np.inf), n=known.n, level=level
        )

    brier, nll = map(mean, _row_losses(known), _row_losses(either))
    return brier, nll


def ece_interval(
    outcomes: OutcomeCounts,
    *,
    rng: np.random.Generator,
    bins: int = 10,
    level: float = 0.95,
    iterations: int = 1000,
) -> Estimate:
    """That of ECE in `calibration_intervals`, from the same draws, without the time of the
    others.
    """
    known = binning.usable(outcomes)
    drawn = intervals.resample_items(known.item, rng=rng, iterations=iterations)
    index = binning.bin_index(known.confidence, bins)
    return _absolute_interval(known, index, drawn, rng=rng, bins=bins, level=level)


def _absolute_interval(
    known: OutcomeCounts,
    index: IntArray,
    resampled: tuple[IntArray, FloatArray],
    *,
    rng: np.random.Generator,
    bins: int,
    level: float,
) -> Estimate:
    """Σ|gap| over the bins of `index`, from the items as `intervals.resample_items` drew them."""
    group, weights = resampled
    groups, total = weights.shape[1], float(known.n.sum())
    signed = known.correct - known.n * known.confidence
    gaps, n, correct = (
        np.bincount(group * bins + index, weights=column, minlength=groups * bins).reshape(
            groups, bins
        )
        for column in (signed, known.n, known.correct)
    )
    gap = gaps.sum(axis=0) / total
    # One product for the gaps and for how many verdicts were drawn: the draws are read once.
    drawn = weights @ np.column_stack([gaps, n.sum(axis=1)])
    noise = drawn[:, :-1] / drawn[:, -1:] - gap
    least = _least_variance(n.astype(np.float64), correct.astype(np.float64)) / total**2
    lacking = np.maximum(least - noise.var(axis=0), 0)
    noise += rng.standard_normal(noise.shape) * np.sqrt(lacking)
    low, high = absolute_sum_interval(gap, noise, level=level)
    return Estimate(float(np.abs(gap).sum()), low, high, n=int(total), level=level)


def noise_floor(
    outcomes: OutcomeCounts,
    *,
    rng: np.random.Generator,
    bins: int = 10,
    level: float = 0.95,
    draws: int = 1000,
) -> NoiseFloor:
    """ECE and ACE that chance alone gives: what a perfectly calibrated judge would show.

    Draws correct ~ Binomial(n, c) for each distinct confidence c and bins as `calibration` does.
    Beyond 1,000 distinct values those closer than .001 in one bin are drawn at their mean. Verdicts
    are drawn independently; where those of one item agree the true floor is higher, so
    `ece_high_clustered` widens the drawn gap of each bin by √deff of that bin.

    Source: docs/methods.md §5 (ours).
    """
    known = binning.usable(outcomes)
    wide = binning.bin_index(known.confidence, bins)
    mass = binning.equal_mass_index(known.confidence, known.n, bins)
    value = binning.rank_values(known.confidence)
    if np.count_nonzero(np.bincount(value)) > FLOOR_GRID:
        value = np.rint(known.confidence * FLOOR_GRID).astype(np.int64)
    key = (value * bins + wide) * bins + mass
    # Few rows have far fewer cells than keys; of many rows, keys are counted faster than sorted.
    sparse = key.max() > 8 * len(key)
    cells, key = np.unique(key, return_inverse=True) if sparse else (np.arange(key.max() + 1), key)
    n = np.bincount(key, weights=known.n).astype(np.int64)
    stated = np.bincount(key, weights=known.n * known.confidence)
    filled = np.flatnonzero(n)
    n, stated, drawn = n[filled], stated[filled], cells[filled]
    chance = np.clip(stated / n, 0, 1)
    gaps = rng.binomial(n, chance, size=(draws, len(n))) - stated
    ends = [(1 - level) / 2, (1 + level) / 2]

    def summary(index: IntArray, widening: FloatArray) -> Estimate:
        member = (index[:, None] == np.arange(bins)).astype(np.float64)
        error = (np.abs(gaps @ member) @ widening) / n.sum()
        low, high = np.quantile(error, ends)
        return Estimate(float(error.mean()), float(low), float(high), n=int(n.sum()), level=level)

    alone = np.ones(bins)
    alike = np.sqrt(reliability(known, bins=bins).deff)
    return NoiseFloor(
        ece=summary(drawn // bins % bins, alone),
        ece_high_clustered=summary(drawn // bins % bins, alike).high,
        ace=summary(drawn % bins, alone),
        n=int(n.sum()),
    )


def by_chance(floor: NoiseFloor) -> float:
    """ECE up to which chance alone may be the cause: the higher end of the floor, alike verdicts or
    not.
    """
    return max(floor.ece.high, floor.ece_high_clustered)


def _least_variance(n: FloatArray, correct: FloatArray) -> FloatArray:
    """Variance of each bin's right verdicts from (groups, bins) sums, two right and two wrong ones
    added.

    n²·p̃(1 − p̃)/(m + 4), p̃ = (correct·m/n + 2)/(m + 4), m = n/deff; 0 in a bin without verdicts.
    """
    total, right = n.sum(axis=0), correct.sum(axis=0)
    squares = ((n * n).sum(axis=0), (n * correct).sum(axis=0), (correct * correct).sum(axis=0))
    effective = total / intervals.design_effect_of_sums(total, right, (n > 0).sum(axis=0), *squares)
    share = (right / np.maximum(total, 1) * effective + 2) / (effective + 4)
    return np.asarray(total**2 * share * (1 - share) / (effective + 4))


def _row_losses(known: OutcomeCounts) -> tuple[FloatArray, FloatArray]:
    """Brier and logarithmic loss summed over the verdicts of each row."""
    right, wrong, c = known.correct, known.n - known.correct, known.confidence
    clipped = np.clip(c, NLL_CLIP, 1 - NLL_CLIP)
    return right * (1 - c) ** 2 + wrong * c**2, -(
        right * np.log(clipped) + wrong * np.log1p(-clipped)
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConfidenceGap(OneRow):
    """Mean confidence minus accuracy, -1 to 1; above 0 is overconfident. No interval for a single
    item.
    """

    mean_confidence: float
    accuracy: float
    gap: Estimate
    n: int
    items: int
    level: float


def confidence_gap(outcomes: OutcomeCounts, *, level: float = 0.95) -> ConfidenceGap | None:
    """Mean over verdicts of confidence − correct, with an interval by item (ours).

    gap = Σ_v (c_v − correct_v)/N, verdicts weighing alike as in ECE; above 0 overconfident. The
    interval is `mean_interval`: verdicts of one item share its difficulty, so items are what is
    independent (docs/methods.md §0). The two added items are wrong and right verdicts at the mean
    confidence c̄, gaps of c̄ and c̄ − 1, as many as the item of a verdict has on average, Σnᵢ²/Σnᵢ:
    without them a judge that happens to err nowhere looks infinitely sure. The n of the gap is the
    items. None without a verdict that has a confidence.

    Source: signed form of ECE with one bin, [TH] §3; interval ours.
    """
    intervals.check_level(level)
    known = outcomes.with_confidence()
    n = int(known.n.sum())
    if not n:
        return None
    mean_confidence = float(known.n @ known.confidence) / n
    beside = intervals.kish_effect(np.bincount(intervals.dense_codes(known.item), known.n))
    gap = intervals.mean_interval(
        known.item,
        known.confidence - known.correct / np.maximum(known.n, 1),
        ends=(mean_confidence - 1.0, mean_confidence),
        within=(-1.0, 1.0),
        n=known.n,
        end_sizes=(beside, beside),
        level=level,
    )
    return ConfidenceGap(
        mean_confidence=mean_confidence,
        accuracy=int(known.correct.sum()) / n,
        gap=gap,
        n=n,
        items=gap.n,
        level=level,
    )


STEPS = 30
"""Halvings of a search: to 1e-9 of its range, far below what the noise draws tell apart."""


def absolute_sum_interval(
    gap: FloatArray, noise: FloatArray, *, level: float = 0.95
) -> tuple[float, float]:
    """Sums t of absolute true gaps under which the one that was seen, T = Σ_b|gap_b|, is no
    surprise (ours).

    For each t the true gaps are taken as γ(t), of all with Σ_b|γ_b| = t those nearest to the gaps
    seen, by Σ_b(γ_b − gap_b)²/var(noise_b). The interval holds the t for which P(Σ|γ(t) + noise| ≥
    T) and P(Σ|γ(t) + noise| ≤ T) are both at least (1 − level)/2. It holds T, and its upper end is
    never below the (1 + level)/2 quantile of Σ|noise|: a T below what noise alone shows is luck, or
    fitted to the same verdicts, and no evidence that the true gaps are smaller than noise.

    gap : (bins,) gaps seen.  noise : (draws, bins) draws of what sampling adds to true gaps, of
        mean near 0.

    A bootstrap of T itself would treat the noise in T as truth and add to it once more. Source:
    hybrid resampling, Chuang & Lai (2000).
    """
    intervals.check_level(level)
    tail = (1 - level) / 2
    seen, variance = float(np.abs(gap).sum()), noise.var(axis=0)
    alone = np.abs(noise).sum(axis=1)
    if not variance.any():
        return seen, seen

    nearest = _nearest(gap, variance)

    def sums(total: float) -> FloatArray:
        drawn = noise + nearest(total)
        return np.asarray(np.abs(drawn, out=drawn).sum(axis=1))

    def surprisingly_high(total: float) -> bool:
        return int(np.count_nonzero(sums(total) >= seen)) / len(noise) < tail

    def not_surprisingly_low(total: float) -> bool:
        return int(np.count_nonzero(sums(total) <= seen)) / len(noise) >= tail

    low = _last(surprisingly_high, 0.0, seen)
    high = _last(not_surprisingly_low, seen, seen + 2 * float(alone.max()))
    return low, max(high, float(np.quantile(alone, 1 - tail)))


def _last(holds: Callable[[float], bool], start: float, end: float) -> float:
    """Where from start to end a condition ceases to hold; start if it does not hold there."""
    if not holds(start):
        return start
    for _ in range(STEPS):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start


def _nearest(gap: FloatArray, variance: FloatArray) -> Callable[[float], FloatArray]:
    """total → gaps whose absolute values add up to it, nearest in units of the noise, with the
    signs of `gap`.

    Σ(γ − gap)²/variance is least where every size moves by m·variance, but not below 0.
    """
    size, noisy = np.abs(gap), variance > 0
    seen, whole = size.sum(), variance.sum()
    # What is left of the sum is linear in m between the values at which a size falls to 0.
    knots = np.sort(np.append(size[noisy] / variance[noisy], 0.0))[::-1]
    left = np.maximum(size - knots[:, None] * variance, 0).sum(axis=1)

    def sizes(total: float) -> FloatArray:
        if total >= seen:
            return np.asarray(size + (total - seen) * variance / whole)
        return np.asarray(np.maximum(size - np.interp(total, left, knots) * variance, 0))

    return lambda total: np.copysign(sizes(total), gap)
