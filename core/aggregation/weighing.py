"""What votes of a judge weigh by their confidence, and BTD on votes so weighed, for many calibration sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.aggregation.box_newton import minimise
from core.aggregation.btd import Bounds
from core.aggregation.btd_solver import FIXED_START
from core.aggregation.position_solver import chances_of, drps_in_u_and_eta
from core.counts import BoolArray, FloatArray, IntArray

CLIP = 0.01
"""Confidences within this of 0 or 1 count as it: a stated certainty is no infinite evidence (ours)."""
PRECISIONS = (1.0, 0.1)
"""Weights of slope²/2 and intercept²/2 against one comparison's likelihood: a weak prior on equal weights."""
CUT = 1.645
"""A smaller score statistic, one-sided at 5 %, leaves all weights equal (ours)."""
MAX_SLOPE = 20.0
STARTS = (FIXED_START, (0.5, 0.0, 0.5), (3.0, 4.0, 2.0), (2.0, -1.0, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """w(c) = max(0, ln p(c)/(1 − p(c)) + ln 2)/scale, p(c) = σ(slope·(logit c − centre) + intercept).

    p(c) is the calibrated chance that a vote with stated confidence c is right, and ln p/(1 − p) + ln 2 its
    log odds against each of the two other labels if errors fall on both alike: what a vote adds to its label.
    `scale` makes the mean weight of the judge's votes 1; 0 stands for equal weights.  z : score statistic of
    the slope, standard normal where confidence says nothing about which votes are right.
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
    confidence: FloatArray, right: FloatArray, comparison: IntArray, taught: Sequence[IntArray]
) -> list[Weighing]:
    """Learn w from the votes of each set of comparisons.

    Slope and intercept by logistic regression with the prior precisions 1 and 0.1, over comparisons. The
    slope is 0, all votes alike, unless z = Σg/√Σg² over comparisons reaches 1.645, g = Σ(logit c − centre)·
    (right − share right) over the votes of one: a confidence that says nothing must not decide between equal
    votes.

    confidence, right, comparison : (votes,), `right` 1 or 0 and `comparison` from 0 up without gaps; only
    its set's own votes are learned from, the others' confidences enter the scale.
    """
    value, code = np.unique(confidence, return_inverse=True)
    logit = _logit(value)
    comparisons = int(comparison.max()) + 1
    n, k = (np.empty((len(taught), len(value))) for _ in range(2))
    centre, z = np.empty(len(taught)), np.empty(len(taught))
    for i, rows in enumerate(taught):
        inside = np.zeros(comparisons, dtype=bool)
        inside[rows] = True
        votes = np.flatnonzero(inside[comparison])
        own, hits = code[votes], right[votes]
        n[i] = np.bincount(own, minlength=len(value))
        k[i] = np.bincount(own, weights=hits, minlength=len(value))
        centre[i] = n[i] @ logit / len(votes)
        g = np.bincount(comparison[votes], weights=(logit[own] - centre[i]) * (hits - hits.mean()))
        spread = np.sqrt((g * g).sum())
        z[i] = g.sum() / spread if spread > 0 else 0.0
    sizes = np.array([len(rows) for rows in taught], dtype=np.float64)
    slope, intercept = _logistic(logit - centre[:, None], n, k, sizes, z >= CUT).T
    log_odds = slope[:, None] * (logit - centre[:, None]) + intercept[:, None]
    scale = _evidence(log_odds) @ np.bincount(code) / len(code)
    return [
        Weighing(slope=a, intercept=b, centre=c, scale=d if a else 0.0, z=e)
        for a, b, c, d, e in np.column_stack([slope, intercept, centre, scale, z]).tolist()
    ]


def fit_weighted(
    s: Sequence[FloatArray],
    t: Sequence[FloatArray],
    gold: Sequence[IntArray],
    base: FloatArray,
    bounds: Bounds | None,
) -> FloatArray:
    """(β, η₀, γ) of least mean DRPS for sets of comparisons with features of their own, (sets, 3).

    base : (sets, 3), fits of the same comparisons with equal weights, as a start beside four fixed ones.
    Equal shares of ties leave γ unknown and equal sums for A and B leave β unknown, as in
    `core.aggregation.btd.fit_many`.
    """
    bounds = bounds or Bounds()
    box = np.array([bounds.beta, np.log(bounds.nu), bounds.gamma])
    sets, width = len(s), max(len(own) for own in s)
    own_s, own_t, by_label = np.zeros((sets, width)), np.zeros((sets, width)), np.zeros((3, sets, width))
    low, high = np.tile(box[:, 0], (sets, 1)), np.tile(box[:, 1], (sets, 1))
    for i, (margin, ties, labels) in enumerate(zip(s, t, gold, strict=True)):
        own_s[i, : len(margin)], own_t[i, : len(ties)] = margin, ties
        by_label[labels + 1, i, np.arange(len(labels))] = 1 / len(labels)
        if np.ptp(ties) <= 1e-12:
            low[i, 2] = high[i, 2] = np.clip(0.0, *bounds.gamma)
        if np.abs(margin).max() <= 1e-12:
            low[i, 0] = high[i, 0] = np.clip(1.0, *bounds.beta)

    def derivatives(theta: FloatArray, row: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        s, t = own_s[row], own_t[row]
        chances = chances_of(np.column_stack([theta, np.zeros(len(theta))]), s, t, np.zeros_like(s))
        value, g_u, g_eta, h_uu, h_cross, h_eta = drps_in_u_and_eta(chances, by_label[:, row])
        gradient = np.stack([(g_u * s).sum(axis=1), g_eta.sum(axis=1), (g_eta * t).sum(axis=1)], axis=1)
        hessian = np.empty((len(theta), 3, 3))
        for (i, j), part in {
            (0, 0): h_uu * s * s,
            (0, 1): h_cross * s,
            (0, 2): h_cross * s * t,
            (1, 1): h_eta,
            (1, 2): h_eta * t,
            (2, 2): h_eta * t * t,
        }.items():
            hessian[:, i, j] = hessian[:, j, i] = part.sum(axis=1)
        return value, gradient, hessian

    fixed = np.tile(np.array(STARTS)[:, None], (1, sets, 1))
    return minimise(derivatives, np.concatenate([base[None], fixed]), low, high)[0]


def _logistic(
    x: FloatArray, n: FloatArray, k: FloatArray, comparisons: FloatArray, free: BoolArray
) -> FloatArray:
    """Slope and intercept of each set, (sets, 2): k of n votes right at x, all (sets, values)."""
    total = n.sum(axis=1)
    # Votes of one comparison are not independent, so the prior is set against comparisons, not votes.
    ridge = np.array(PRECISIONS) / comparisons[:, None]

    def derivatives(theta: FloatArray, row: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        design = np.stack([x[row], np.ones_like(x[row])], axis=1)
        log_odds = theta[:, :1] * x[row] + theta[:, 1:]
        p = 1 / (1 + np.exp(-log_odds))
        many = total[row]
        value = (n[row] * np.logaddexp(0, log_odds) - k[row] * log_odds).sum(axis=1) / many
        value += (ridge[row] * theta**2).sum(axis=1) / 2
        gradient = np.einsum("fv,fiv->fi", n[row] * p - k[row], design) / many[:, None] + ridge[row] * theta
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
