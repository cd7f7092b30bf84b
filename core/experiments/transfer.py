"""Can labels of one task calibrate another? Fit on one, evaluate on the other, beside the other's own fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.aggregation.aggregators import one_hot
from core.aggregation.btd import (
    MINIMUM_LABELS,
    Bounds,
    BTDFit,
    decide,
    drps,
    features,
    fit,
    fit_many,
    probabilities,
)
from core.counts import FloatArray, IntArray, VoteCounts
from core.experiments.protocol import item_intervals, losses_by_item
from core.intervals import check_level
from core.splits import splits
from core.votes import InvalidOption, NoUsableVotes, TooFewLabels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Transfer:
    """Cost of calibrating one task with the labels of another; matrices are (fitted on, evaluated on).

    mae : MAE on the column task, mean over splits.  change : mae minus that of the column's own fit.
    change_low, change_high : mean ± z·SE over splits, which overlap: not sampling error.
    change_item_low, change_item_high : bootstrap of the column's items.
    loss_change : DRPS of the row's fit on every label, on all labelled comparisons of the column, minus that
        of the column's own fit: what differs between the tasks, without the luck of a small calibration set.
    mae_majority : (tasks,), MAE of the majority label on the same evaluation sets.
    theta : (tasks, splits, 3), fits as β, η₀, γ.  fits : on every label of each task.
    n, n_items : (tasks,), labelled comparisons and their items.  not_possible : task → why it is left out.
    """

    tasks: tuple[str, ...]
    mae: FloatArray
    change: FloatArray
    change_low: FloatArray
    change_high: FloatArray
    change_item_low: FloatArray
    change_item_high: FloatArray
    loss_change: FloatArray
    mae_majority: FloatArray
    theta: FloatArray
    fits: dict[str, BTDFit]
    not_possible: dict[str, str]
    n: IntArray
    n_items: IntArray
    n_splits: int
    share: float
    level: float
    resamples: int

    def to_frame(self) -> pd.DataFrame:
        """One row a pair of tasks."""
        import pandas as pd

        k = len(self.tasks)
        names = ("mae", "change", "change_item_low", "change_item_high", "change_low", "change_high")
        columns = {name: getattr(self, name).ravel() for name in names}
        pairs = {"fitted_on": np.repeat(self.tasks, k), "evaluated_on": np.tile(self.tasks, k)}
        return pd.DataFrame(pairs | columns | {"n": np.tile(self.n, k)})


def transfer(
    tasks: Mapping[str, VoteCounts],
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    level: float = 0.95,
    resamples: int = 1_000,
) -> Transfer:
    """Fit BTD on the calibration sets of each task, and evaluate each fit on every task.

    Cell = MAE of the row's fits on the column's evaluation sets minus that of the column's own fits, split
    by split; 0 on the diagonal. Every task has its own splits. Where tasks share items, as those of two
    judges do, labels that a row was fitted on can occur in a column's evaluation; only three parameters
    learn from them. A cell below 0 is no error: a task with more labels, or kinder ones, can serve another
    better than its own few.

    tasks : name → votes, of categories, data sets or judges.  A task too small to split is left out.

    Raises NoUsableVotes if fewer than two tasks can be split, else as `splits` and `fit_many`.
    Source: [BTD] §5; intervals by item ours.
    """
    check_level(level)
    if resamples < 100:
        raise InvalidOption(f"{resamples} resamples: use at least 100.")
    drawn, not_possible = {}, {}
    # Each task starts from its own child, so that leaving one out does not change the others.
    for (name, counts), child in zip(tasks.items(), rng.spawn(len(tasks)), strict=True):
        try:
            drawn[name] = splits(counts, rng=child, n_splits=n_splits, share=share, minimum=minimum)
        except TooFewLabels as error:
            not_possible[name] = str(error)
    if len(drawn) < 2:
        raise NoUsableVotes(
            f"A transfer needs two tasks with {minimum} labelled comparisons to calibrate on and others to "
            f"evaluate on; {len(drawn)} of {len(tasks)} have them."
        )
    theta = np.stack(
        [
            fit_many(one.cells, one.calibration, bounds=bounds, alpha=alpha, kappa=kappa).theta
            for one in drawn.values()
        ]
    )
    fits = {name: fit(one.cells, bounds=bounds, alpha=alpha, kappa=kappa) for name, one in drawn.items()}
    whole = np.array([[one.beta, one.eta0, one.gamma] for one in fits.values()])
    k = len(drawn)
    loss = np.empty((k, k))
    mae, low, high, item_low, item_high = (np.zeros((k, k)) for _ in range(5))
    majority = np.empty(k)
    for column, one in enumerate(drawn.values()):
        s, t = features(one.cells, alpha=alpha, kappa=kappa)
        off = np.abs(np.arange(-1, 2) - one.cells.gold[:, None])
        loss[:, column] = drps(probabilities(whole, s, t), one.cells.gold) @ one.cells.weight / one.n
        said = decide(probabilities(theta, s, t))
        errors = (one_hot(said) * off).sum(axis=3)
        size = one.evaluation.sum(axis=1)
        by_split = (one.evaluation * errors).sum(axis=2) / size
        mae[:, column] = by_split.mean(axis=1)
        majority[column] = (one.evaluation @ np.abs(one.cells.label - one.cells.gold) / size).mean()
        more = by_split - by_split[column]
        half = _z(level) * more.std(axis=1, ddof=1) / np.sqrt(n_splits)
        change = more.mean(axis=1)
        low[:, column], high[:, column] = change - half, change + half
        by_item = losses_by_item(one, list(errors - errors[column]))
        item_low[:, column], item_high[:, column] = item_intervals(
            by_item,
            np.bincount(one.item).astype(np.float64),
            change,
            rng=rng,
            resamples=resamples,
            level=level,
        )
    return Transfer(
        tasks=tuple(drawn),
        mae=mae,
        change=mae - np.diag(mae),
        change_low=low,
        change_high=high,
        change_item_low=item_low,
        change_item_high=item_high,
        loss_change=loss - np.diag(loss),
        mae_majority=majority,
        theta=theta,
        fits=fits,
        not_possible=not_possible,
        n=np.array([one.n for one in drawn.values()]),
        n_items=np.array([one.n_items for one in drawn.values()]),
        n_splits=n_splits,
        share=share,
        level=level,
        resamples=resamples,
    )


def _z(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))
