"""Would a rescaled confidence be better: temperature, Platt, isotonic and histogram maps, on unseen
items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from ...errors import AppellateError, InvalidOption, TooFewLabels
from ...records import FloatArray, OutcomeCounts, kept_rows
from ...stats.binning import bin_index, usable
from ...stats.estimate import DataFrame
from ...stats.intervals import dense_codes
from .calibration_error import NLL_CLIP, Calibration, calibration

Method = Literal["temperature", "platt", "isotonic", "histogram"]
Map = Callable[[FloatArray], FloatArray]

MAX_SLOPE = 100.0
"""Slope and intercept stay within ±100: where verdicts separate perfectly, the likelihood has no
maximum.
"""
GRID_POINTS = 201


class FitFailed(AppellateError):
    """A recalibration map did not converge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticMap:
    """c ↦ σ(slope·logit(c) + intercept)."""

    slope: float
    intercept: float

    def __call__(self, confidence: FloatArray) -> FloatArray:
        from scipy.special import expit

        return np.asarray(expit(self.slope * _logit(confidence) + self.intercept))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Recalibration:
    """Calibration before and after a map that was fitted on other items, and the map itself.

    before, after : of the same verdicts; each verdict's new confidence comes from the folds without
        its item.
    recalibrated_outcomes : the verdicts with their new confidences, measured in `after`.
    confidence, recalibrated : the map fitted on all verdicts, on a grid of stated confidences.
    slope, intercept : of temperature (slope = 1/T, intercept 0) and Platt fitted on all verdicts,
        else NaN.
    """

    method: str
    before: Calibration
    after: Calibration
    recalibrated_outcomes: OutcomeCounts
    confidence: FloatArray
    recalibrated: FloatArray
    slope: float
    intercept: float
    folds: int
    items: int

    def to_frame(self) -> DataFrame:
        """One row per measure, before and after."""
        frame = self.before.to_frame().rename(columns={"value": "before"})
        frame.insert(2, "after", self.after.to_frame()["value"])
        return frame.assign(change=frame["after"] - frame["before"])


def recalibrate(
    outcomes: OutcomeCounts,
    *,
    method: Method,
    rng: np.random.Generator,
    folds: int = 5,
    bins: int = 10,
    level: float = 0.95,
) -> Recalibration:
    """Fit a map from stated to calibrated confidence, and measure it where it was not fitted.

    Items (not verdicts) are dealt at random into folds; each fold's confidences are mapped by the
    fit on the others.

    temperature : σ(logit(c)/T), T > 0.  platt : σ(a·logit(c) + b).  Both by maximum likelihood,
        clipped as
    for the NLL.  isotonic : the nondecreasing step of least squares, linear between its points.
        histogram :
    accuracy of the training verdicts in c's equal-width bin; c itself where that bin is empty.

    Raises InvalidOption for an unknown method, or folds below 2; TooFewLabels for fewer items than
    folds, or a training part without both right and wrong verdicts, where temperature and Platt
    have no fit; NoUsableVotes if no verdict has a confidence; FitFailed if the likelihood's maximum
    was not reached.
    Source: Guo et al. (2017), Platt (1999), Zadrozny & Elkan (2001, 2002); folds by item ours.
    """
    if method not in _FITS:
        raise InvalidOption(f"method: {method!r} is not one of {', '.join(_FITS)}")
    if folds < 2:
        raise InvalidOption(
            f"folds: {folds} is below 2; a map must be judged on items that it has not seen"
        )
    known = usable(outcomes)
    item = dense_codes(known.item)
    items = int(item.max()) + 1
    if items < folds:
        raise TooFewLabels(
            f"recalibration in {folds} folds needs at least {folds} items; there are {items}"
        )
    fold = (rng.permutation(items) % folds)[item]
    mapped = known.confidence.copy()
    for number in range(folds):
        held_out = fold == number
        training = replace(known, **kept_rows(known, ~held_out))
        mapped[held_out] = _FITS[method](training, bins)(known.confidence[held_out])
    whole = _FITS[method](known, bins)
    grid = np.linspace(0, 1, GRID_POINTS)
    moved = replace(known, confidence=mapped)
    line = whole if isinstance(whole, LogisticMap) else None
    return Recalibration(
        method=method,
        before=calibration(known, bins=bins, level=level),
        after=calibration(moved, bins=bins, level=level),
        recalibrated_outcomes=moved,
        confidence=grid,
        recalibrated=whole(grid),
        slope=line.slope if line else float("nan"),
        intercept=line.intercept if line else float("nan"),
        folds=folds,
        items=items,
    )


def _logit(confidence: FloatArray) -> FloatArray:
    clipped = np.clip(confidence, NLL_CLIP, 1 - NLL_CLIP)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def _distinct(training: OutcomeCounts) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distinct confidences in order, with their verdicts and right verdicts."""
    value, code = np.unique(training.confidence, return_inverse=True)
    n: FloatArray = np.bincount(code, weights=training.n).astype(np.float64)
    k: FloatArray = np.bincount(code, weights=training.correct).astype(np.float64)
    return value, n, k


def _logistic(training: OutcomeCounts, bins: int, *, free_intercept: bool) -> LogisticMap:
    from scipy.optimize import minimize
    from scipy.special import expit

    value, n, k = _distinct(training)
    total = n.sum()
    if not 0 < k.sum() < total:
        only = "right" if k.sum() else "wrong"
        raise TooFewLabels(
            f"temperature and Platt need right and wrong verdicts in every training part; "
            f"in one all {int(total)} are {only}. Histogram and isotonic maps still work"
        )
    x = _logit(value)
    # Logits reach ±27.6: on a common scale the solver's tolerances mean the same for slope and
    # intercept.
    scale = max(1.0, float(np.abs(x).max()))
    design = np.stack([x / scale, np.ones(len(x))], axis=1)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        z = design @ theta
        value = float(np.dot(n, np.logaddexp(0, z)) - np.dot(k, z)) / total
        return value, (n * expit(z) - k) @ design / total

    # T > 0: a slope of 0 would forget the confidence, a negative one turn it round.
    least = -MAX_SLOPE if free_intercept else 1e-3
    reach = MAX_SLOPE if free_intercept else 0.0
    bounds = [(least * scale, MAX_SLOPE * scale), (-reach, reach)]
    start = np.array([scale, 0.0])
    fit = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000},
    )
    low, high = np.array(bounds).T
    step = np.clip(fit.x - loss(fit.x)[1], low, high) - fit.x
    if np.abs(step).max() > 1e-5:
        raise FitFailed(f"the recalibration fit stopped short of its optimum: {fit.message}")
    return LogisticMap(slope=float(fit.x[0] / scale), intercept=float(fit.x[1]))


def _isotonic(training: OutcomeCounts, bins: int) -> Map:
    from scipy.optimize import isotonic_regression

    value, n, k = _distinct(training)
    step = isotonic_regression(k / n, weights=n).x
    return lambda confidence: np.clip(np.interp(confidence, value, step), 0, 1)


def _histogram(training: OutcomeCounts, bins: int) -> Map:
    index = bin_index(training.confidence, bins)
    n = np.bincount(index, weights=training.n, minlength=bins)
    k = np.bincount(index, weights=training.correct, minlength=bins)
    accuracy = np.divide(k, n, out=np.full(bins, np.nan), where=n > 0)

    def mapped(confidence: FloatArray) -> FloatArray:
        found = accuracy[bin_index(confidence, bins)]
        return np.where(np.isnan(found), confidence, found)

    return mapped


_FITS: dict[str, Callable[[OutcomeCounts, int], Map]] = {
    "temperature": partial(_logistic, free_intercept=False),
    "platt": partial(_logistic, free_intercept=True),
    "isotonic": _isotonic,
    "histogram": _histogram,
}
