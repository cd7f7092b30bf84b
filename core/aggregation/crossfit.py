"""BTD on comparisons that the fit has not seen, so that a table of its labels does not flatter."""

from __future__ import annotations

import numpy as np

from core.aggregation.btd import Bounds, decide, features, fit_many, probabilities
from core.aggregation.btd_solver import Loss
from core.counts import NO_GOLD, FloatArray, IntArray, VoteCounts
from core.intervals import dense_codes
from core.votes import InvalidOption, TooFewLabels


def held_out_labels(
    counts: VoteCounts,
    *,
    rng: np.random.Generator,
    folds: int = 10,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    loss: Loss = "drps",
) -> IntArray:
    """BTD label of each comparison, labelled or not, in {-1, 0, +1}: `decide` on `held_out_forecast`."""
    return decide(
        held_out_forecast(counts, rng=rng, folds=folds, alpha=alpha, kappa=kappa, bounds=bounds, loss=loss)
    )


def held_out_forecast(
    counts: VoteCounts,
    *,
    rng: np.random.Generator,
    folds: int = 10,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    loss: Loss = "drps",
) -> FloatArray:
    """p(-1), p(0), p(+1) of each comparison, by a fit on the labelled comparisons of all other items (ours).

    Items are dealt at random into `folds` of equal size (as many as there are items, if fewer); the forecast
    of a comparison comes from the fit without its fold.

    Returns
    -------
    (comparisons, 3), rows summing to 1, labelled or not.

    Raises
    ------
    TooFewLabels : without a fold fewer than 20 labelled comparisons remain.  InvalidOption : folds below 2.

    Source: [BTD] §4 for the fit.
    """
    if folds < 2:
        raise InvalidOption(f"folds = {folds}: needs at least 2, or nothing is held out")
    item = dense_codes(counts.item)
    items = int(item.max(initial=-1)) + 1
    if items < 2:
        raise TooFewLabels("BTD labels need two items or more, one to label and others to fit on.")
    folds = min(folds, items)
    fold = (rng.permutation(items) % folds)[item]
    cells, cell = counts.cells()
    inside = np.bincount(fold * len(cells) + cell, minlength=folds * len(cells)).reshape(folds, len(cells))
    weights = np.where(cells.gold == NO_GOLD, 0.0, cells.weight - inside)
    fits = fit_many(cells, weights, alpha=alpha, kappa=kappa, bounds=bounds, loss=loss)
    s, t = features(cells, alpha=alpha, kappa=kappa)
    forecast: FloatArray = probabilities(fits.theta, s, t)[fold, cell]
    return forecast
