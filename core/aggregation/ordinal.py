"""BTD for K ordered levels (Likert scales, direct scores): many noisy levels become one, on a rater's scale.

The two features of BTD carry over: how far the votes lean to an end of the scale, and how much of them stays
in its middle. The first moves cumulative thresholds, the second spreads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.aggregation.btd import MINIMUM_LABELS
from core.aggregation.held_out import HeldOutScores, calibration_rows, held_out_scores, losses_by_item
from core.aggregation.levels import LevelCounts, nearest
from core.aggregation.ordinal_solver import Sets, chances_below, fit_sets
from core.counts import NO_GOLD, FloatArray, IntArray
from core.votes import InvalidOption, NoUsableVotes, TooFewLabels

if TYPE_CHECKING:
    import pandas as pd

RULES = ("Ordinal BTD", "Mode", "Mean, rounded", "Median")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrdinalFit:
    """logit P(level ≤ k) = location + τ_k·e^{γ·t} − β·s, fitted on one calibration set.

    beta : weight of the lean s.  gamma : how much the middle share t spreads the thresholds.
    location : positive where gold is lower than the votes' lean says.
    cuts : τ_k, (K − 1,), ascending and centred: their ends are ±c.
    drps : mean over the calibration set, in levels.  n_items : labelled rows fitted on.
    notes : what could not be identified, in words.
    """

    beta: float
    gamma: float
    location: float
    cuts: FloatArray
    drps: float
    n_items: int
    notes: tuple[str, ...]
    scale: tuple[float, ...]
    alpha: float
    kappa: float

    def to_frame(self) -> pd.DataFrame:
        """One row a threshold."""
        import pandas as pd

        frame = pd.DataFrame({"level": self.scale[:-1], "threshold": self.cuts + self.location})
        return frame.assign(beta=self.beta, gamma=self.gamma, n_items=self.n_items)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ordinal:
    """The fit on all labels, and what it gains on held-out items over mode, rounded mean and median.

    scores : errors and DRPS in levels.
    gold_share, said_share : (K,), share of labelled rows on each level by gold and by the fit on all labels.
    """

    fit: OrdinalFit
    scores: HeldOutScores
    gold_share: FloatArray
    said_share: FloatArray

    def to_frame(self) -> pd.DataFrame:
        """One row a rule, as `scores`."""
        return self.scores.to_frame()


def features(levels: IntArray, *, alpha: float = 1.0, kappa: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Lean and middle share of each row: s = ½·ln((U + α)/(L + α)), t = ln((M + κ)/(n + κ)) ≤ 0.

    A vote on level k lies at x_k = −1 + 2k/(K − 1) and counts max(x, 0) in U, max(−x, 0) in L and 1 − |x| in
    M; n = U + L + M. With K = 3 these are c⁺, c⁻ and c⁰, so s and t are those of BTD. Reversing the scale
    negates s and leaves t. levels : (rows, K).

    Raises InvalidOption unless α > 0 and κ > 0. Source: ours, methods §9.3.
    """
    if not (np.isfinite(alpha) and np.isfinite(kappa) and alpha > 0 and kappa > 0):
        raise InvalidOption(f"Smoothing alpha = {alpha:g}, kappa = {kappa:g}: both must be above 0.")
    x = np.linspace(-1, 1, levels.shape[1])
    upper, lower = levels @ np.maximum(x, 0), levels @ np.maximum(-x, 0)
    middle = levels @ (1 - np.abs(x))
    s = 0.5 * (np.log(upper + alpha) - np.log(lower + alpha))
    return s, np.log((middle + kappa) / (levels.sum(axis=1) + kappa))


def fit(
    counts: LevelCounts, *, alpha: float = 1.0, kappa: float = 1.0, symmetric: bool = False
) -> OrdinalFit:
    """Fit (β, γ, location, K − 2 gaps between thresholds) on all labelled rows by least mean DRPS.

    DRPS = Σ_k (P(level ≤ k) − 1{gold ≤ k})² over K − 1 cut points. A weak prior, precision 1 over rows,
    draws the gaps to each other, so that a level that few labels name gets a place. Reversing the scale
    mirrors the fit. symmetric : location 0 and gaps alike from both ends, for comparisons of A with B, whose
    names are arbitrary; with K = 3 it has the three parameters of BTD.

    Raises TooFewLabels below 20 labelled rows. Source: ours, methods §9.3; DRPS [BTD] §4.
    """
    known = counts.rows(counts.gold != NO_GOLD)
    if len(known) < MINIMUM_LABELS:
        raise TooFewLabels(
            f"The ordinal fit needs at least {MINIMUM_LABELS} labelled rows; there are {len(known)}."
        )
    s, t = features(known.levels, alpha=alpha, kappa=kappa)
    found = fit_sets(
        Sets.of(s, t, known.gold, [np.arange(len(known))], len(known.scale), symmetric=symmetric)
    )
    theta = found[0]
    below = chances_below(theta, s, t)
    missing = [f"{x:g}" for k, x in enumerate(known.scale) if not (known.gold == k).any()]
    notes = []
    if missing:
        notes.append(f"No label is on level {', '.join(missing)}: its place is a guess from the others.")
    return OrdinalFit(
        beta=float(theta[0]),
        gamma=float(theta[1]),
        location=float(theta[2]),
        cuts=cuts_of(theta[3:]),
        drps=float(drps(below, known.gold).mean()),
        n_items=len(known),
        notes=tuple(notes),
        scale=known.scale,
        alpha=alpha,
        kappa=kappa,
    )


def cuts_of(gaps: FloatArray) -> FloatArray:
    """Thresholds from the gaps between them, their ends centred on 0."""
    steps = np.concatenate([[0.0], np.cumsum(gaps)])
    return np.asarray(steps - steps[-1] / 2)


def probabilities(fit: OrdinalFit, levels: IntArray) -> FloatArray:
    """Chance of each level, (rows, K), labelled or not."""
    s, t = features(levels, alpha=fit.alpha, kappa=fit.kappa)
    theta = np.concatenate([[fit.beta, fit.gamma, fit.location], np.diff(fit.cuts)])
    below = chances_below(theta, s, t)
    ends = np.zeros((len(s), 1)), np.ones((len(s), 1))
    return np.diff(np.concatenate([ends[0], below, ends[1]], axis=1), axis=1)


def apply(fit: OrdinalFit, levels: IntArray) -> IntArray:
    """Level of least expected absolute error, 0 … K − 1: the median of `probabilities`."""
    return median_level(np.cumsum(probabilities(fit, levels), axis=1)[:, :-1])


def median_level(below: FloatArray) -> IntArray:
    """Level of least expected absolute error from P(level ≤ k), (rows, K − 1); ties go to the middle."""
    low, high = (below < 0.5 - 1e-12).sum(axis=1), (below <= 0.5 + 1e-12).sum(axis=1)
    return nearest(np.clip(below.shape[1] / 2, low, high), below.shape[1] / 2)


def drps(below: FloatArray, gold: IntArray) -> FloatArray:
    """Σ_k (P(level ≤ k) − 1{gold ≤ k})² of each row, in [0, K − 1]; below is (rows, K − 1)."""
    said = gold[:, None] <= np.arange(below.shape[1])
    return np.asarray(((below - said) ** 2).sum(axis=1))


def plain_levels(levels: IntArray) -> dict[str, IntArray]:
    """Level of each row by `Mode`, `Mean, rounded` and `Median` of its votes, without any label.

    No unique mode: the median, so that K = 3 gives the majority label. A half goes to the middle of the scale
    (ours).
    """
    n = levels.sum(axis=1)
    centre = (levels.shape[1] - 1) / 2
    median = median_level(np.cumsum(levels, axis=1)[:, :-1] / n[:, None])
    most = levels == levels.max(axis=1, keepdims=True)
    mode = np.where(most.sum(axis=1) == 1, levels.argmax(axis=1), median)
    mean = levels @ np.arange(levels.shape[1]) / n
    return dict(zip(RULES[1:], (mode, nearest(mean, centre), median), strict=True))


def ordinal(
    counts: LevelCounts,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    alpha: float = 1.0,
    kappa: float = 1.0,
    symmetric: bool = False,
    level: float = 0.95,
) -> Ordinal:
    """Fit on all labels, and compare with mode, rounded mean and median on held-out items.

    Errors are in levels. The plain rules take the judge's scale for gold's; the fit learns how they differ.

    Raises
    ------
    NoUsableVotes : nothing is labelled.  TooFewLabels : as `core.splits.splits`.
    InvalidOption : `minimum` below 20.

    Source: ours, methods §9.3.
    """
    if minimum < MINIMUM_LABELS:
        raise InvalidOption(f"minimum = {minimum}: the fit needs at least {MINIMUM_LABELS} labelled rows")
    known = counts.rows(counts.gold != NO_GOLD)
    if not len(known):
        raise NoUsableVotes("No rated answer has a gold level to calibrate on.")
    k = len(known.scale)
    s, t = features(known.levels, alpha=alpha, kappa=kappa)
    chosen = calibration_rows(known.item, rng=rng, n_splits=n_splits, share=share, minimum=minimum)
    fixed = [np.abs(said - known.gold) for said in plain_levels(known.levels).values()]
    total, times = np.zeros((len(known), 2 * len(RULES))), np.zeros(len(known), dtype=np.int64)
    total[:, len(RULES) + 1 :] = np.nan
    for part, theta in zip(
        chosen, fit_sets(Sets.of(s, t, known.gold, chosen, k, symmetric=symmetric)), strict=True
    ):
        below = chances_below(theta, s, t)
        losses = [np.abs(median_level(below) - known.gold), *fixed, drps(below, known.gold)]
        away = np.ones(len(known), dtype=bool)
        away[part] = False
        total[away, : len(losses)] += np.stack(losses, axis=1)[away]
        times += away
    whole = fit(known, alpha=alpha, kappa=kappa, symmetric=symmetric)
    return Ordinal(
        fit=whole,
        scores=held_out_scores(
            losses_by_item(known.item, total, times),
            RULES,
            highest=k - 1,
            n_splits=n_splits,
            calibration=float(np.mean([len(part) for part in chosen])),
            level=level,
        ),
        gold_share=np.bincount(known.gold, minlength=k) / len(known),
        said_share=np.bincount(apply(whole, known.levels), minlength=k) / len(known),
    )
