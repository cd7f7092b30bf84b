"""BTD for K ordered levels (Likert scales, direct scores): many noisy levels become one, on a
rater's scale.

The two features of BTD carry over: how far the votes tend to one end of the scale moves cumulative
thresholds, and the share of them in its middle spreads the thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidOption, NoUsableVotes, TooFewLabels
from ...records import (
    NO_GOLD,
    BoolArray,
    DirectScores,
    FloatArray,
    IntArray,
    InvalidCounts,
    kept_rows,
)
from ...stats.estimate import DataFrame, data_frame
from ...stats.splits import (
    HeldOut,
    HeldOutScores,
    calibration_rows,
    held_out_losses,
    held_out_scores,
)
from .btd import MINIMUM_LABELS, check_smoothing, not_identified
from .solver import minimise

MAX_LEVELS = 21
"""More whole numbers than this between the least and the greatest score are no Likert scale (ours).
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LevelCounts:
    """Votes of one judge on K ordered levels, one row per thing rated, with the level that gold
    gives it.

    levels : (rows, K), votes on each level, lowest first.  gold : 0 … K − 1, or NO_GOLD.
    scale : what the K levels are called, ascending, e.g. -2 … 2 or 1 … 10.
    """

    item: IntArray
    levels: IntArray
    gold: IntArray
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.levels.ndim != 2 or not len(self.item) == len(self.levels) == len(self.gold):
            raise InvalidCounts("LevelCounts: item, levels and gold of one record differ in length")
        k = self.levels.shape[1]
        if k < 2 or k != len(self.scale) or any(np.diff(self.scale) <= 0):
            raise InvalidCounts(f"LevelCounts: {k} levels need {k} ascending names, at least 2")
        if len(self.levels) and (self.levels.min() < 0 or self.levels.sum(axis=1).min() < 1):
            raise InvalidCounts("LevelCounts: a row without a vote, or a count below zero")
        known = self.gold[self.gold != NO_GOLD]
        if len(known) and (known.min() < 0 or known.max() >= k):
            raise InvalidCounts(
                f"LevelCounts.gold: {known.min()} to {known.max()} is not within 0 to {k - 1}"
            )

    def __len__(self) -> int:
        return len(self.item)

    def rows(self, keep: BoolArray | IntArray) -> LevelCounts:
        return replace(self, **kept_rows(self, keep))


def of_scores(
    judge: DirectScores, gold: DirectScores, *, scale: tuple[float, ...] | None = None
) -> LevelCounts:
    """Levels of one judge's repeated scores, one row per answer, and the median score of another
    rater.

    A score stands on the nearest level, a half on the one nearer the middle of the scale; so does
    the median over the runs of `gold`. Answers that `gold` did not score have no gold.
    scale : levels, ascending; None for the whole numbers from the least to the greatest score of
        both.
    judge, gold : of one selection, so that their codes are shared.

    Raises NoUsableVotes if the two raters scored no answer in common, InvalidOption for a score
    outside `scale`, or without a scale for more than 21 whole numbers. Source: ours,
    docs/methods.md §9.3.
    """
    if judge.models != gold.models:
        raise InvalidCounts("of_scores: the two raters come from different selections")
    key, place = np.unique(_answer(judge), return_inverse=True)
    rated, of_gold = np.unique(_answer(gold), return_inverse=True)
    if not np.isin(key, rated).any():
        raise NoUsableVotes(
            "The two raters scored no answer in common, so one cannot be gold for the other."
        )
    scale = scale or _whole_numbers(judge, gold)
    levels = np.zeros((len(key), len(scale)), dtype=np.int64)
    np.add.at(levels, (place, _level(judge.score, scale)), 1)
    median = np.array([np.median(gold.score[of_gold == code]) for code in range(len(rated))])
    at = np.minimum(np.searchsorted(rated, key), len(rated) - 1)
    known = np.where(rated[at] == key, _level(median, scale)[at], NO_GOLD)
    return LevelCounts(item=key // len(judge.models), levels=levels, gold=known, scale=scale)


def nearest(value: FloatArray, centre: float) -> IntArray:
    """Nearest whole number; a half goes towards the centre."""
    half = np.abs(value - np.floor(value) - 0.5) < 1e-9
    towards = np.where(value > centre, np.floor(value), np.ceil(value))
    return np.where(half, towards, np.rint(value)).astype(np.int64)


def _answer(scores: DirectScores) -> IntArray:
    return scores.item * len(scores.models) + scores.model


def _whole_numbers(*raters: DirectScores) -> tuple[float, ...]:
    low = int(np.floor(min(rater.score.min() for rater in raters)))
    high = int(np.ceil(max(rater.score.max() for rater in raters)))
    if high - low + 1 > MAX_LEVELS:
        raise InvalidOption(
            f"scale: scores go from {low} to {high}, more than {MAX_LEVELS} whole numbers; give "
            "the levels"
        )
    return tuple(float(x) for x in range(low, max(high, low + 1) + 1))


def _level(score: FloatArray, scale: tuple[float, ...]) -> IntArray:
    levels = np.array(scale)
    outside = (score < levels[0] - 0.5) | (score > levels[-1] + 0.5)
    if outside.any():
        raise InvalidOption(
            f"scale: the score {score[outside][0]:g} is outside {levels[0]:g} to {levels[-1]:g}; "
            "give levels that hold every score"
        )
    return nearest(np.interp(score, levels, np.arange(len(levels))), (len(levels) - 1) / 2)


GAP_PRECISION = 1.0
"""Weight of Σ(gap − mean gap)²/m in the loss, m rows fitted on: a weak prior on equal gaps (ours).
"""
SLOPE_PRECISION = 0.02
"""Weight of (γ² + location²)/m: keeps what a few labels cannot tell from running to a bound (ours).
"""
BOX = {"beta": (1e-3, 30.0), "gamma": (-3.0, 3.0), "location": (-30.0, 30.0), "gap": (0.0, 30.0)}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sets:
    """Calibration sets side by side, padded with rows of weight 0: all (sets, rows), gold as a
    level.
    """

    s: FloatArray
    t: FloatArray
    gold: IntArray
    weight: FloatArray
    k: int
    symmetric: bool

    @classmethod
    def of(
        cls,
        s: FloatArray,
        t: FloatArray,
        gold: IntArray,
        chosen: Sequence[IntArray],
        k: int,
        *,
        symmetric: bool,
    ) -> Sets:
        """Rows of each set out of one table, equal rows of a set collapsed to one."""
        pattern, place = np.unique(
            np.column_stack([s, t, gold]).round(12), axis=0, return_inverse=True
        )
        parts = [np.unique(place[rows], return_counts=True) for rows in chosen]
        width = max(len(code) for code, _ in parts)
        row, weight = np.zeros((len(parts), width), dtype=np.int64), np.zeros((len(parts), width))
        for i, (code, times) in enumerate(parts):
            row[i] = code[0]
            row[i, : len(code)], weight[i, : len(code)] = code, times
        s, t, level = pattern[row].transpose(2, 0, 1)
        return cls(s=s, t=t, gold=level.astype(np.int64), weight=weight, k=k, symmetric=symmetric)


def chances_below(theta: FloatArray, s: FloatArray, t: FloatArray) -> FloatArray:
    """P(level ≤ k) = σ(location + τ_k·e^{γ·t} − β·s), (rows, K − 1), from (β, γ, location,
    gaps).
    """
    from scipy.special import expit

    return np.asarray(expit(_log_odds(theta[None], _design(len(theta) - 3), s[None], t[None])[0]))


def _design(gaps: int) -> FloatArray:
    """τ = design @ gaps: (gaps + 1, gaps)."""
    return np.tri(gaps + 1, gaps, -1) - 0.5


def _log_odds(theta: FloatArray, tau: FloatArray, s: FloatArray, t: FloatArray) -> FloatArray:
    spread = np.exp(theta[:, 1, None] * t)
    centre = theta[:, 2, None] - theta[:, :1] * s
    return np.asarray(centre[:, :, None] + (theta[:, 3:] @ tau.T)[:, None, :] * spread[:, :, None])


def fit_sets(sets: Sets) -> FloatArray:
    """(β, γ, location, K − 2 gaps) of least mean DRPS plus the weak priors, (sets, K + 1).

    Symmetric sets have location 0 and gaps that read the same from both ends. Where a set's t are
    all equal γ is not identified and is 0; where all its s are 0, β is 1.
    """
    # Columns are the free gaps: each its own, or with its mirror image.
    mirror = np.eye(sets.k - 2)
    if sets.symmetric:
        mirror = np.minimum(mirror + mirror[::-1], 1)[:, : (sets.k - 1) // 2]
    tau = _design(sets.k - 2) @ mirror
    gaps = mirror.shape[1]
    n, p = len(sets.s), gaps + 3
    total = sets.weight.sum(axis=1, keepdims=True)
    weight = sets.weight / total
    reached = (sets.gold[:, :, None] <= np.arange(sets.k - 1)).astype(np.float64)

    names = ["beta", "gamma", "location"] + ["gap"] * gaps
    low, high = (np.tile([BOX[name][end] for name in names], (n, 1)) for end in (0, 1))
    beta_fixed, gamma_fixed = not_identified(sets.s, sets.t, sets.weight > 0)
    gamma_fixed |= gaps == 0
    low[gamma_fixed, 1] = high[gamma_fixed, 1] = 0.0
    low[beta_fixed, 0] = high[beta_fixed, 0] = 1.0
    if sets.symmetric:
        low[:, 2] = high[:, 2] = 0.0

    # The thresholds of gold alone, smoothed, are a start; so are even ones with a large β.
    share = ((weight[:, :, None] * reached).sum(axis=1) * total + 0.5) / (total + 1)
    marginal = np.log(share / (1 - share))
    middle, between = (marginal[:, :1] + marginal[:, -1:]) / 2, np.diff(marginal, axis=1)

    def start(beta: float, gamma: float, differences: FloatArray) -> FloatArray:
        return np.column_stack([np.tile([beta, gamma], (n, 1)), middle, differences[:, :gaps]])

    even = np.tile([3.0, 0.5, 0.0] + [6 / (sets.k - 1)] * gaps, (n, 1))
    starts = [start(1.0, 0.0, between), even, start(4.0, 0.5, between)]
    if sets.symmetric:
        # The gaps of both ends, so that a fit fares no worse with the scale turned round.
        starts += [start(1.0, 0.0, between[:, ::-1]), start(4.0, 0.5, between[:, ::-1])]

    centring = np.eye(gaps) - (1 / gaps if gaps else 0.0)
    prior = np.zeros((p, p))
    prior[3:, 3:] = GAP_PRECISION * centring
    prior[1, 1] = prior[2, 2] = SLOPE_PRECISION

    def derivatives(theta: FloatArray, row: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        value, gradient, hessian = _derivatives(
            theta, tau, sets.s[row], sets.t[row], weight[row], reached[row]
        )
        scale = 1 / total[row, 0]
        pull = theta @ prior
        value += scale * (theta * pull).sum(axis=1)
        return (
            value,
            gradient + 2 * scale[:, None] * pull,
            hessian + 2 * scale[:, None, None] * prior,
        )

    theta, _ = minimise(derivatives, np.stack(starts), low, high)
    return np.concatenate([theta[:, :3], theta[:, 3:] @ mirror.T], axis=1)


def _derivatives(
    theta: FloatArray,
    tau: FloatArray,
    s: FloatArray,
    t: FloatArray,
    weight: FloatArray,
    reached: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted mean DRPS, gradient and Hessian; the log odds a are linear but for τ·e^{γt}."""
    from scipy.special import expit

    below = expit(_log_odds(theta, tau, s, t))
    slope = below * (1 - below)
    off = below - reached
    g = weight[:, :, None] * 2 * off * slope
    h = weight[:, :, None] * 2 * slope * (slope + off * (1 - 2 * below))
    value = (weight[:, :, None] * off**2).sum(axis=(1, 2))

    spread = np.exp(theta[:, 1, None] * t)
    by_gamma = (theta[:, 3:] @ tau.T)[:, None, :] * (spread * t)[:, :, None]
    rows = np.broadcast_to(spread[:, :, None, None] * tau, (*below.shape, tau.shape[1]))
    plain = [
        np.broadcast_to(part, below.shape)
        for part in (-s[:, :, None], by_gamma, np.ones((1, 1, 1)))
    ]
    jacobian = np.concatenate([np.stack(plain, axis=-1), rows], axis=-1)
    gradient = np.einsum("frc,frcp->fp", g, jacobian)
    hessian = np.einsum("frc,frcp,frcq->fpq", h, jacobian, jacobian, optimize=True)
    hessian[:, 1, 1] += (g * by_gamma * t[:, :, None]).sum(axis=(1, 2))
    cross = np.einsum("frc,fr,cj->fj", g, spread * t, tau, optimize=True)
    hessian[:, 1, 3:] += cross
    hessian[:, 3:, 1] += cross
    return value, gradient, hessian


NAMES = ("Ordinal BTD", "Mode", "Mean, rounded", "Median")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrdinalFit:
    """logit P(level ≤ k) = location + τ_k·e^{γ·t} − β·s, fitted on one calibration set.

    beta : weight of s.  gamma : how much the middle share t spreads the thresholds.
    location : positive where gold is lower than the votes say.
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

    def to_frame(self) -> DataFrame:
        """One row per threshold."""
        frame = data_frame({"level": self.scale[:-1], "threshold": self.cuts + self.location})
        return frame.assign(beta=self.beta, gamma=self.gamma, n_items=self.n_items)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ordinal(HeldOut):
    """The fit on all labels, and what it gains on held-out items over mode, rounded mean and
    median.

    scores : errors and DRPS in levels.
    gold_share, said_share : (K,), share of labelled rows on each level by gold and by the fit on
        all labels.
    """

    fit: OrdinalFit
    scores: HeldOutScores
    gold_share: FloatArray
    said_share: FloatArray


def features(
    levels: IntArray, *, alpha: float = 1.0, kappa: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Direction and middle share of each row: s = ½·ln((U + α)/(L + α)), t = ln((M + κ)/(n + κ)) ≤
    0.

    A vote on level k lies at x_k = −1 + 2k/(K − 1) and counts max(x, 0) in U, max(−x, 0) in L and 1
    − |x| in M; n = U + L + M. With K = 3 these are c⁺, c⁻ and c⁰, so s and t are those of BTD.
    Reversing the scale
    negates s and leaves t. levels : (rows, K).

    Raises InvalidOption unless α > 0 and κ > 0. Source: ours, docs/methods.md §9.3.
    """
    check_smoothing(alpha, kappa)
    x = np.linspace(-1, 1, levels.shape[1])
    upper, lower = levels @ np.maximum(x, 0), levels @ np.maximum(-x, 0)
    middle = levels @ (1 - np.abs(x))
    s = 0.5 * (np.log(upper + alpha) - np.log(lower + alpha))
    return s, np.log((middle + kappa) / (levels.sum(axis=1) + kappa))


def fit_ordinal(
    counts: LevelCounts, *, alpha: float = 1.0, kappa: float = 1.0, symmetric: bool = False
) -> OrdinalFit:
    """Fit (β, γ, location, K − 2 gaps between thresholds) on all labelled rows by least mean DRPS.

    DRPS = Σ_k (P(level ≤ k) − 1{gold ≤ k})² over K − 1 cut points. A weak prior, precision 1 over
    rows, draws the gaps to each other, so that a level that few labels name gets a place. Reversing
    the scale
    mirrors the fit. symmetric : location 0 and gaps alike from both ends, for comparisons of A with
        B, whose
    names are arbitrary; with K = 3 it has the three parameters of BTD.

    Raises TooFewLabels below 20 labelled rows. Source: ours, docs/methods.md §9.3; DRPS [BTD] §4.
    """
    known = counts.rows(counts.gold != NO_GOLD)
    if len(known) < MINIMUM_LABELS:
        raise TooFewLabels(
            f"The ordinal fit needs at least {MINIMUM_LABELS} labelled rows; there are "
            f"{len(known)}."
        )
    s, t = features(known.levels, alpha=alpha, kappa=kappa)
    chosen = [np.arange(len(known))]
    theta = fit_sets(Sets.of(s, t, known.gold, chosen, len(known.scale), symmetric=symmetric))[0]
    below = chances_below(theta, s, t)
    missing = ", ".join(f"{x:g}" for k, x in enumerate(known.scale) if not (known.gold == k).any())
    note = f"No label is on level {missing}: its place is a guess from the others."
    return OrdinalFit(
        beta=float(theta[0]),
        gamma=float(theta[1]),
        location=float(theta[2]),
        cuts=cuts_of(theta[3:]),
        drps=float(drps(below, known.gold).mean()),
        n_items=len(known),
        notes=(note,) if missing else (),
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
    return np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=(0.0, 1.0)), axis=1)


def apply(fit: OrdinalFit, levels: IntArray) -> IntArray:
    """Level of least expected absolute error, 0 … K − 1: the median of `probabilities`."""
    return median_level(np.cumsum(probabilities(fit, levels), axis=1)[:, :-1])


def median_level(below: FloatArray) -> IntArray:
    """Level of least expected absolute error from P(level ≤ k), (rows, K − 1); ties go to the
    middle.
    """
    low, high = (below < 0.5 - 1e-12).sum(axis=1), (below <= 0.5 + 1e-12).sum(axis=1)
    return nearest(np.clip(below.shape[1] / 2, low, high), below.shape[1] / 2)


def drps(below: FloatArray, gold: IntArray) -> FloatArray:
    """Σ_k (P(level ≤ k) − 1{gold ≤ k})² of each row, in [0, K − 1]; below is (rows, K − 1)."""
    reached = gold[:, None] <= np.arange(below.shape[1])
    return np.asarray(((below - reached) ** 2).sum(axis=1))


def plain_levels(levels: IntArray) -> dict[str, IntArray]:
    """Level of each row by `Mode`, `Mean, rounded` and `Median` of its votes, without any label.

    No unique mode: the median, so that K = 3 gives the majority label. A half goes to the middle of
    the scale (ours).
    """
    n = levels.sum(axis=1)
    centre = (levels.shape[1] - 1) / 2
    median = median_level(np.cumsum(levels, axis=1)[:, :-1] / n[:, None])
    most = levels == levels.max(axis=1, keepdims=True)
    mode = np.where(most.sum(axis=1) == 1, levels.argmax(axis=1), median)
    mean = levels @ np.arange(levels.shape[1]) / n
    return dict(zip(NAMES[1:], (mode, nearest(mean, centre), median), strict=True))


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

    Errors are in levels. The plain rules take the judge's scale for gold's; the fit learns how they
    differ.

    Raises NoUsableVotes if nothing is labelled, TooFewLabels as `core.stats.splits.splits`,
    InvalidOption for a `minimum` below 20. Source: ours, docs/methods.md §9.3.
    """
    if minimum < MINIMUM_LABELS:
        raise InvalidOption(
            f"minimum = {minimum}: the fit needs at least {MINIMUM_LABELS} labelled rows"
        )
    known = counts.rows(counts.gold != NO_GOLD)
    if not len(known):
        raise NoUsableVotes("No rated answer has a gold level to calibrate on.")
    k = len(known.scale)
    s, t = features(known.levels, alpha=alpha, kappa=kappa)
    chosen = calibration_rows(known.item, rng=rng, n_splits=n_splits, share=share, minimum=minimum)
    fixed = [np.abs(level - known.gold) for level in plain_levels(known.levels).values()]
    unknown = [np.full(len(known), np.nan)] * len(fixed)

    def losses(theta: FloatArray) -> FloatArray:
        below = chances_below(theta, s, t)
        own = np.abs(median_level(below) - known.gold)
        return np.stack([own, *fixed, drps(below, known.gold), *unknown], axis=1)

    fits = fit_sets(Sets.of(s, t, known.gold, chosen, k, symmetric=symmetric))
    whole = fit_ordinal(known, alpha=alpha, kappa=kappa, symmetric=symmetric)
    return Ordinal(
        fit=whole,
        scores=held_out_scores(
            held_out_losses(known.item, chosen, map(losses, fits)),
            NAMES,
            highest=k - 1,
            calibration=float(np.mean([len(part) for part in chosen])),
            level=level,
        ),
        gold_share=np.bincount(known.gold, minlength=k) / len(known),
        said_share=np.bincount(apply(whole, known.levels), minlength=k) / len(known),
    )
