"""BTD on votes weighted by calibrated confidence: does confidence help to aggregate votes?

A vote counts w(c), the evidence of its calibrated confidence; w is learned on calibration labels
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidOption, NoUsableVotes
from ...records import BoolArray, ConfidenceCounts, FloatArray, IntArray, VoteCounts
from ...stats.splits import (
    HeldOut,
    HeldOutScores,
    calibration_rows,
    held_out_losses,
    held_out_scores,
)
from .btd import (
    DEFAULTS,
    MINIMUM_LABELS,
    Bounds,
    BTDOptions,
    boxes,
    decide,
    drps,
    fit_many,
    not_identified,
)
from .rules import confidence_labels
from .solver import FIXED_START, Objective, minimise, probabilities

CLIP = 0.01
"""Confidences within this of 0 or 1 count as it: a stated certainty is no infinite evidence (ours).
"""
PRECISIONS = (1.0, 0.1)
"""Weights of slope²/2 and intercept²/2 against one comparison's likelihood: a weak prior on equal
weights.
"""
CUT = 1.645
"""A smaller score statistic, one-sided at 5 %, leaves all weights equal (ours)."""
MAX_SLOPE = 20.0
STARTS = (FIXED_START, (0.5, 0.0, 0.5), (3.0, 4.0, 2.0), (2.0, -1.0, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """w(c) = max(0, ln p(c)/(1 − p(c)) + ln 2)/scale, p(c) = σ(slope·(logit c − centre) +
    intercept).

    p(c) is the calibrated chance that a vote with stated confidence c is right, and ln p/(1 − p) +
    ln 2 its log odds against each of the two other labels if errors fall on both alike: what a vote
    adds to its label. `scale` makes the mean weight of the judge's votes 1; 0 for equal weights.  z
    : score statistic of the slope, standard normal where confidence says nothing about which votes
        are right.
    """

    slope: float
    intercept: float
    centre: float
    scale: float
    z: float

    def __call__(self, confidence: FloatArray) -> FloatArray:
        evidence = _evidence(self.slope * (_logit(confidence) - self.centre) + self.intercept)
        return np.ones_like(evidence) if self.scale == 0 else np.asarray(evidence / self.scale)


def learn_weighings(
    confidence: FloatArray,
    right: FloatArray,
    comparison: IntArray,
    sets: Sequence[IntArray],
    *,
    n_votes: IntArray,
) -> list[Weighing]:
    """Learn w from the votes of each set of comparisons.

    Slope and intercept by logistic regression with the prior precisions 1 and 0.1, over
    comparisons. The slope is 0, all votes alike, unless z = Σg/√Σg² over comparisons reaches 1.645,
    g = Σ(logit c − centre)·(right − share right) over the votes of one: a confidence that says
    nothing must not decide between equal votes.

    confidence, right, comparison, n_votes : (rows,), `right` 1 or 0 and `comparison` from 0 up
        without gaps;
    only its set's own votes are learned from, the others' confidences enter the scale.
    """
    value, code = np.unique(confidence, return_inverse=True)
    logit = _logit(value)
    comparisons = int(comparison.max()) + 1
    n, k = (np.empty((len(sets), len(value))) for _ in range(2))
    centre, z = np.empty(len(sets)), np.empty(len(sets))
    for i, rows in enumerate(sets):
        inside = np.zeros(comparisons, dtype=bool)
        inside[rows] = True
        votes = np.flatnonzero(inside[comparison])
        own, hits, many = code[votes], right[votes], n_votes[votes]
        n[i] = np.bincount(own, weights=many, minlength=len(value))
        k[i] = np.bincount(own, weights=many * hits, minlength=len(value))
        total = many.sum()
        centre[i] = n[i] @ logit / total
        missed = hits - many @ hits / total
        g = np.bincount(comparison[votes], weights=many * (logit[own] - centre[i]) * missed)
        spread = np.sqrt((g * g).sum())
        z[i] = g.sum() / spread if spread > 0 else 0.0
    sizes = np.array([len(rows) for rows in sets], dtype=np.float64)
    slope, intercept = _logistic(logit - centre[:, None], n, k, sizes, z >= CUT).T
    log_odds = slope[:, None] * (logit - centre[:, None]) + intercept[:, None]
    scale = _evidence(log_odds) @ np.bincount(code, n_votes) / n_votes.sum()
    return [
        Weighing(slope=a, intercept=b, centre=c, scale=d if a else 0.0, z=e)
        for a, b, c, d, e in np.column_stack([slope, intercept, centre, scale, z]).tolist()
    ]


def fit_weighted(
    s: Sequence[FloatArray],
    t: Sequence[FloatArray],
    gold: Sequence[IntArray],
    base: FloatArray,
    bounds: Bounds,
) -> FloatArray:
    """(β, η₀, γ) of least mean DRPS for sets of comparisons with features of their own, (sets, 3).

    base : (sets, 3), fits of the same comparisons with equal weights, as a start beside four fixed
        ones. Equal shares
    of ties leave γ unknown and equal sums for A and B leave β unknown, as in
    `core.questions.labels.btd.fit_many`.
    """
    sets, width = len(s), max(len(own) for own in s)
    own_s, own_t, weight = (
        np.zeros((sets, width)),
        np.zeros((sets, width)),
        np.zeros((3, sets, width)),
    )
    for i, (margin, ties, labels) in enumerate(zip(s, t, gold, strict=True)):
        own_s[i, : len(margin)], own_t[i, : len(ties)] = margin, ties
        weight[labels + 1, i, np.arange(len(labels))] = 1 / len(labels)
    low, high = boxes(bounds, *not_identified(own_s, own_t, weight.sum(axis=0) > 0))
    objective = Objective(x=own_s[None], y=np.stack([np.ones_like(own_t), own_t]), weight=weight)
    fixed = np.tile(np.array(STARTS)[:, None], (1, sets, 1))
    return minimise(objective, np.concatenate([base[None], fixed]), low, high)[0]


def _logistic(
    x: FloatArray, n: FloatArray, k: FloatArray, comparisons: FloatArray, free: BoolArray
) -> FloatArray:
    """Slope and intercept of each set, (sets, 2): k of n votes right at x, all (sets, values)."""
    total = n.sum(axis=1)
    # Votes of one comparison are not independent, so the prior is set against comparisons, not
    # votes.
    ridge = np.array(PRECISIONS) / comparisons[:, None]

    def derivatives(theta: FloatArray, row: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        design = np.stack([x[row], np.ones_like(x[row])], axis=1)
        log_odds = theta[:, :1] * x[row] + theta[:, 1:]
        p = 1 / (1 + np.exp(-log_odds))
        many = total[row]
        value = (n[row] * np.logaddexp(0, log_odds) - k[row] * log_odds).sum(axis=1) / many
        value += (ridge[row] * theta**2).sum(axis=1) / 2
        gradient = (
            np.einsum("fv,fiv->fi", n[row] * p - k[row], design) / many[:, None]
            + ridge[row] * theta
        )
        bend = n[row] * p * (1 - p)
        hessian = np.einsum("fv,fiv,fjv->fij", bend, design, design) / many[:, None, None]
        return value, gradient, hessian + ridge[row][:, :, None] * np.eye(2)

    sets = len(x)
    low = np.tile([0.0, -MAX_SLOPE], (sets, 1))
    high = np.column_stack([np.where(free, MAX_SLOPE, 0.0), np.full(sets, MAX_SLOPE)])
    return minimise(derivatives, np.zeros((1, sets, 2)), low, high)[0]


def _logit(confidence: FloatArray) -> FloatArray:
    clipped = np.clip(confidence, CLIP, 1 - CLIP)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def _evidence(log_odds: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(0.0, log_odds + np.log(2)))


GRID_POINTS = 101
NAMES = ("Confidence-weighted BTD", "BTD", "CI-SC", "Majority (SC)")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConfidenceWeighted(HeldOut):
    """What weighing votes by confidence gains on held-out items, and the weights learned on all
    labels.

    scores : confidence-weighted BTD, plain BTD, CI-SC and majority, all on the votes with a
        confidence.
    confidence, weight : w(c) on a grid of stated confidences, from all labels; the mean vote has
        weight 1.
    slope : of w's logistic; 0 where confidence says nothing about which votes are right.
    without : votes left out because they carry no confidence.
    votes_per_comparison : mean of those used.  unanimous : share of the comparisons with two of
        them or more on which all are equal, NaN if there is none: high at a low temperature.
    """

    scores: HeldOutScores
    confidence: FloatArray
    weight: FloatArray
    weighing: Weighing
    without: int
    votes_per_comparison: float
    unanimous: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Rows:
    """Labelled comparisons, and their votes with a confidence: `n` of each vote and confidence on a
    `row`.
    """

    item: IntArray
    gold: IntArray
    row: IntArray
    vote: IntArray
    confidence: FloatArray
    n: IntArray
    without: int

    def counted(self, weight: FloatArray) -> FloatArray:
        """Sum of weights of the votes -1, 0, +1 on each comparison, (3, rows)."""
        place = (self.vote + 1) * len(self.gold) + self.row
        summed = np.bincount(place, weights=weight * self.n, minlength=3 * len(self.gold))
        return np.asarray(summed.reshape(3, -1), dtype=np.float64)


def confidence_weighted(
    counts: VoteCounts,
    votes: ConfidenceCounts,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    level: float = 0.95,
) -> ConfidenceWeighted:
    """Compare BTD on votes weighted by calibrated confidence with BTD on the same votes unweighted.

    In each split the weights (`Weighing`) and the fit are learned on the calibration comparisons
    alone; the other comparisons are decided and scored. Votes without a confidence are left out for
    every rule.
    counts, votes : of one judge and one selection. If all confidences are equal so are the weights,
        and the
    two rules are the same.

    Raises NoUsableVotes if nothing has gold, or no vote on it has a confidence, TooFewLabels as
    `core.stats.splits.splits`, InvalidOption for a `minimum` below 20. Source: ours,
    docs/methods.md §9.4.
    """
    if minimum < MINIMUM_LABELS:
        raise InvalidOption(
            f"minimum = {minimum}: BTD needs at least {MINIMUM_LABELS} labelled comparisons"
        )
    rows = _rows(counts, votes)
    chosen = calibration_rows(rows.item, rng=rng, n_splits=n_splits, share=share, minimum=minimum)
    ones = np.ones(len(rows.vote))
    whole = rows.counted(ones).astype(np.int64).T
    unweighted = VoteCounts.of(
        whole, comparison=np.arange(len(rows.gold)), item=rows.item, gold=rows.gold
    )
    cells, cell = unweighted.cells()
    weights = np.stack([np.bincount(cell[part], minlength=len(cells)) for part in chosen]).astype(
        np.float64
    )
    base = fit_many(cells, weights, options)
    s, t = _features(rows.counted(ones), options)
    sums = {"stated": rows.counted(ones).T, "total": rows.counted(rows.confidence).T}
    labels = (confidence_labels(sums, "sum"), unweighted.label)
    fixed = [np.abs(label - rows.gold) for label in labels]
    unknown = [np.full(len(rows.gold), np.nan)] * len(labels)
    weighings, theta = _learn(rows, chosen, base.theta, options)

    def losses(weighing: Weighing, plain: FloatArray, own: FloatArray) -> FloatArray:
        p = p_base = probabilities(plain, s, t)
        # Equal weights are plain BTD itself: a second solve could round an exact ½ the other way.
        if weighing.scale:
            p = probabilities(own, *_features(rows.counted(weighing(rows.confidence)), options))
        errors = [np.abs(decide(forecast) - rows.gold) for forecast in (p, p_base)]
        return np.stack(
            [*errors, *fixed, drps(p, rows.gold), drps(p_base, rows.gold), *unknown], axis=1
        )

    scores = held_out_scores(
        held_out_losses(rows.item, chosen, map(losses, weighings, base.theta, theta)),
        NAMES,
        calibration=float(np.mean([len(part) for part in chosen])),
        level=level,
    )
    everything = fit_many(cells, cells.weight[None], options).theta
    (weighing,), _ = _learn(rows, [np.arange(len(rows.gold))], everything, options)
    grid = np.linspace(0, 1, GRID_POINTS)
    return ConfidenceWeighted(
        scores=scores,
        confidence=grid,
        weight=weighing(grid),
        weighing=weighing,
        without=rows.without,
        votes_per_comparison=int(rows.n.sum()) / len(rows.gold),
        unanimous=_unanimous(unweighted),
    )


def _rows(counts: VoteCounts, votes: ConfidenceCounts) -> _Rows:
    known = counts.labelled()
    if not len(known):
        raise NoUsableVotes(
            "No comparison has a gold label, so the confidence cannot be compared with it."
        )
    row = np.minimum(np.searchsorted(known.comparison, votes.comparison), len(known) - 1)
    labelled = known.comparison[row] == votes.comparison
    stated = labelled & ~np.isnan(votes.confidence)
    if not stated.any():
        raise NoUsableVotes(
            "Weighing by confidence needs the confidence of votes on comparisons with gold; none "
            "was given."
        )
    kept, row = np.unique(row[stated], return_inverse=True)
    return _Rows(
        item=known.item[kept],
        gold=known.gold[kept],
        row=row,
        vote=votes.vote[stated],
        confidence=votes.confidence[stated],
        n=votes.n[stated],
        without=int(votes.n[labelled & ~stated].sum()),
    )


def _unanimous(counts: VoteCounts) -> float:
    repeated = counts.n > 1
    return (
        float((counts.votes.max(axis=1) == counts.n)[repeated].mean())
        if repeated.any()
        else float("nan")
    )


def _learn(
    rows: _Rows, chosen: list[IntArray], base: FloatArray, options: BTDOptions
) -> tuple[list[Weighing], FloatArray]:
    """Weights and (β, η₀, γ) from the comparisons of each set; those of `base` where weights are
    equal.
    """
    right = (rows.vote == rows.gold[rows.row]).astype(np.float64)
    weighings = learn_weighings(rows.confidence, right, rows.row, chosen, n_votes=rows.n)
    theta = base.copy()
    unequal = [i for i, one in enumerate(weighings) if one.scale]
    if unequal:
        parts = [chosen[i] for i in unequal]
        made = [_features(rows.counted(weighings[i](rows.confidence)), options) for i in unequal]
        s, t = ([one[k][part] for one, part in zip(made, parts, strict=True)] for k in (0, 1))
        theta[unequal] = fit_weighted(
            s, t, [rows.gold[part] for part in parts], base[unequal], options.bounds
        )
    return weighings, theta


def _features(votes: FloatArray, options: BTDOptions) -> tuple[FloatArray, FloatArray]:
    """Those of `btd.features`, for counts that are no whole numbers: (3, rows) →
    s, t.
    """
    minus, tie, plus = votes
    alpha, kappa = options.alpha, options.kappa
    return 0.5 * np.log((plus + alpha) / (minus + alpha)), np.log(
        (tie + kappa) / (votes.sum(axis=0) + kappa)
    )
