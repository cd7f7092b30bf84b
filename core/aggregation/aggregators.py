"""Every rule other than BTD that turns the votes of a comparison into one label, in one registry.

A rule answers with a forecast: the probability that it says -1, 0, +1. Most rules are sure; the random dummy
is not, and its expected error is then exact. Rules that need more than counts get their labels from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.counts import FloatArray, IntArray, VoteCells
from core.votes import InvalidOption

Needs = Literal["votes", "labels", "orders", "derived", "lengths", "confidence"]
REASONS: dict[str, str] = {
    "orders": "needs a vote in each order of every comparison; the orders were not given",
    "derived": "needs the votes of a judge named for it, as usc(judge) or gsa(judge); none were given",
    "lengths": "needs the lengths of both answers; none were given",
    "confidence": "needs the confidence of each vote; none was given",
}

Forecast = Callable[[VoteCells, FloatArray], FloatArray]
"""(cells, calibration weights (sets, cells)) → probabilities of -1, 0, +1, shape (sets or 1, cells, 3)."""

VOTE_WEIGHTS = ("min", "mean", "product", "sum")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregator:
    """One rule. `forecast` is None where labels must be given, by comparison; `dummy` marks baseline rows."""

    key: str
    name: str
    source: str
    needs: Needs = "votes"
    forecast: Forecast | None = None
    dummy: bool = False


def one_hot(labels: IntArray) -> FloatArray:
    """Forecast that is sure of its labels: (…,) in {-1, 0, +1} → (…, 3)."""
    return np.eye(3)[labels + 1]


def _majority(cells: VoteCells, calibration: FloatArray) -> FloatArray:
    return one_hot(cells.label)[None]


def thresholds(cells: VoteCells, calibration: FloatArray) -> FloatArray:
    """τ of the threshold rule for each calibration set, shape (sets,), in [0, 1).

    The rule says sign(m) where |m| > τ, else 0, with m the mean vote. Between neighbouring values of |m| (0
    and those observed in the set) the calibration MAE is constant; τ is the middle of the widest run of such
    stretches that has the least MAE. Equal widths: the lowest run. Source: ours, methods §2.
    """
    mean = (cells.plus - cells.minus) / cells.n
    size = np.abs(mean)
    cuts = np.unique(np.append(size, 0.0))
    loss = np.where(
        size[:, None] > cuts, np.abs(np.sign(mean) - cells.gold)[:, None], np.abs(cells.gold)[:, None]
    )
    largest = np.where(calibration > 0, size, 0.0).max(axis=1)
    inside = cuts < largest[:, None]
    error = np.where(inside, calibration @ loss, np.inf)
    # Weights are whole numbers of comparisons, so equal errors are equal in floating point too.
    least = inside & (error == error.min(axis=1, keepdims=True))
    sets = len(calibration)
    start, width, best_start, best_width = np.zeros(sets), np.zeros(sets), np.zeros(sets), np.zeros(sets)
    for j in range(len(cuts) - 1):
        goes_on = least[:, j] & least[:, j - 1] if j else np.zeros(sets, dtype=bool)
        start = np.where(goes_on, start, cuts[j])
        width = np.where(least[:, j], np.where(goes_on, width, 0.0) + cuts[j + 1] - cuts[j], 0.0)
        wider = width > best_width + 1e-12
        best_start, best_width = np.where(wider, start, best_start), np.where(wider, width, best_width)
    return np.asarray(best_start + best_width / 2)


def _threshold(cells: VoteCells, calibration: FloatArray) -> FloatArray:
    mean = (cells.plus - cells.minus) / cells.n
    decided = np.abs(mean) > thresholds(cells, calibration)[:, None]
    return one_hot(np.where(decided, np.sign(mean), 0).astype(np.int64))


def _constant(cells: VoteCells, calibration: FloatArray) -> FloatArray:
    """The one label with the least calibration MAE; equal ones: 0 first, then +1."""
    candidates = np.array([0, 1, -1])
    error = calibration @ np.abs(candidates - cells.gold[:, None])
    label = candidates[error.argmin(axis=1)]
    return np.broadcast_to(one_hot(label)[:, None], (len(label), len(cells), 3))


def _random(cells: VoteCells, calibration: FloatArray) -> FloatArray:
    return np.full((1, len(cells), 3), 1 / 3)


def greedy_pair(first_ab: IntArray, first_ba: IntArray) -> IntArray:
    """Label of two votes, one in each order: their median, rounded away from zero.

    (0, +1) → +1, (+1, −1) → 0: the sign of the sum. Votes are canonical, whatever order was shown.
    Source: [BTD] §5 (GD, FS).
    """
    label: IntArray = np.sign(first_ab + first_ba).astype(np.int64)
    return label


DERIVED = ("usc", "gsa")
"""Rules by which another model call reads a judge's votes and decides (universal self-consistency; generative
self-aggregation). What it decides arrives as votes of a judge of its own. Source: [BTD] §5."""


def derived_name(rule: str, judge: str) -> str:
    """Name of the judge that carries what a rule of DERIVED decided from a judge's votes: `usc(judge)`."""
    return f"{rule}({judge})"


def longest(length_a: IntArray, length_b: IntArray) -> IntArray:
    """Label of the longest-answer dummy: the longer answer wins, equal lengths tie (ours)."""
    label: IntArray = np.sign(length_a - length_b).astype(np.int64)
    return label


def confidence_labels(
    row: IntArray, vote: IntArray, confidence: FloatArray, *, rows: int, weigh: str
) -> IntArray:
    """Label of each comparison by the confidences of its votes: the largest of three scores wins.

    The score of a label is the `min`, `mean` or `product` (Soft-SC) or the `sum` (CI-SC) of the confidences
    of its votes; a label without a vote has none. Equal largest scores: 0 (ours).
    row : comparison of each vote, 0 … rows − 1; every comparison needs a vote.
    confidence : in [0, 1], no gaps.
    Source: [BTD] §5.
    """
    if weigh not in VOTE_WEIGHTS:
        raise InvalidOption(f"weigh {weigh!r}: choose from {', '.join(VOTE_WEIGHTS)}.")
    if np.isnan(confidence).any():
        raise InvalidOption("A vote without confidence cannot be weighed; leave such comparisons out.")
    place = (row, vote + 1)
    n = np.zeros((rows, 3))
    np.add.at(n, place, 1.0)
    if weigh == "min":
        score = np.full((rows, 3), np.inf)
        np.minimum.at(score, place, confidence)
    elif weigh == "product":
        score = np.ones((rows, 3))
        np.multiply.at(score, place, confidence)
    else:
        score = np.zeros((rows, 3))
        np.add.at(score, place, confidence)
        score = score / np.maximum(n, 1) if weigh == "mean" else score
    score = np.where(n > 0, score, -1.0)
    best = score >= score.max(axis=1, keepdims=True) - 1e-12
    return np.where(best.sum(axis=1) == 1, best.argmax(axis=1) - 1, 0).astype(np.int64)


AGGREGATORS: dict[str, Aggregator] = {
    rule.key: rule
    for rule in (
        Aggregator(key="majority", name="Majority (SC)", source="[BTD] §5", forecast=_majority),
        Aggregator(key="threshold", name="Threshold", source="ours", needs="labels", forecast=_threshold),
        Aggregator(key="greedy_pair", name="Greedy pair (GD, FS)", source="[BTD] §5", needs="orders"),
        Aggregator(key="usc", name="USC", source="[BTD] §5", needs="derived"),
        Aggregator(key="gsa", name="GSA", source="[BTD] §5", needs="derived"),
        Aggregator(key="soft_sc_min", name="Soft-SC (min)", source="[BTD] §5", needs="confidence"),
        Aggregator(key="soft_sc_mean", name="Soft-SC (mean)", source="[BTD] §5", needs="confidence"),
        Aggregator(key="soft_sc_product", name="Soft-SC (product)", source="[BTD] §5", needs="confidence"),
        Aggregator(key="ci_sc", name="CI-SC", source="[BTD] §5", needs="confidence"),
        Aggregator(
            key="constant", name="Constant", source="ours", needs="labels", forecast=_constant, dummy=True
        ),
        Aggregator(key="random", name="Random", source="ours", forecast=_random, dummy=True),
        Aggregator(key="longest", name="Longest answer", source="ours", needs="lengths", dummy=True),
    )
}
"""Rules by key, in the order of tables."""
