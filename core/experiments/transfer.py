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
from core.experiments.protocol import losses_by_item, seen_items
from core.intervals import check_level
from core.loss_intervals import change_intervals
from core.splits import splits
from core.votes import NoUsableVotes, TooFewLabels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Transfer:
    """Cost of calibrating one task with the labels of another; matrices are (fitted on, evaluated on).

    mae : MAE on the column task, mean over splits.  change : mae minus that of the column's own fit.
    change_low, change_high : over the labels that both tasks happen to have and the column's items; `level`
        is the chance that those of all pairs hold at once.
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

    def to_frame(self) -> pd.DataFrame:
        """One row a pair of tasks."""
        import pandas as pd

        k = len(self.tasks)
        names = ("mae", "change", "change_low", "change_high")
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
) -> Transfer:
    """Fit BTD on the calibration sets of each task, and evaluate each fit on every task.

    Cell = MAE of the row's fits on the column's evaluation sets minus that of the column's own fits, split
    by split; 0 on the diagonal. Every task has its own splits. Where tasks share items, as those of two
    judges do, labels that a row was fitted on can occur in a column's evaluation; only three parameters
    learn from them. A cell below 0 is no error: a task with more labels, or kinder ones, can serve another
    better than its own few.

    Interval of a change: t·√(SE² over the column's items + SE² of the row's labels + of the column's), t at
    1 − (1 − level)/2k(k − 1) (Bonferroni) with the column's items − 1 degrees of freedom. The first is that
    of `change_intervals`. The others are σ²·(1/S + m/(n − m)) over S splits with m of n comparisons each, σ²
    the variance between splits of the error of their fits on the whole column: splits of the same n labels
    share their luck, and a mean over sets of m of n has at most m/n of the variance of one set (Hoeffding).
    It is cautious: in simulation intervals of alike tasks held 0 in all sets, and by items alone in .3 to .6.

    tasks : name → votes, of categories, data sets or judges.  A task too small to split is left out.

    Raises NoUsableVotes if fewer than two tasks can be split, else as `splits` and `fit_many`.
    Source: [BTD] §5; intervals ours, Hoeffding (1948), Nadeau & Bengio (2003).
    """
    check_level(level)
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
    at_once = 1 - (1 - level) / (k * (k - 1))
    mae, change, low, high = (np.zeros((k, k)) for _ in range(4))
    # How much the luck of the labels moves a mean over splits, in variances of one split's fit.
    calibrated = np.array([one.calibration.sum(axis=1).mean() for one in drawn.values()])
    total = np.array([one.n for one in drawn.values()])
    luck = 1 / n_splits + calibrated / (total - calibrated)
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
        change[:, column] = (by_split - by_split[column]).mean(axis=1)
        by_item = losses_by_item(one, list(errors - errors[column]))
        seen = seen_items(by_item, np.bincount(one.item).astype(np.float64))
        chance = luck * (errors @ one.cells.weight / one.n).var(axis=1, ddof=1)
        ends = change_intervals(seen, change[:, column], level=at_once)
        low[:, column], high[:, column] = _widened(
            change[:, column], *ends, variance=chance + chance[column], items=one.n_items, level=at_once
        )
        low[column, column] = high[column, column] = 0.0
    return Transfer(
        tasks=tuple(drawn),
        mae=mae,
        change=mae - np.diag(mae),
        change_low=low,
        change_high=high,
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
    )


def _widened(
    value: FloatArray, low: FloatArray, high: FloatArray, *, variance: FloatArray, items: int, level: float
) -> tuple[FloatArray, FloatArray]:
    """An interval over items with another variance added to its own."""
    from scipy.special import stdtrit

    squared = float(stdtrit(items - 1, (1 + level) / 2)) ** 2 * variance
    return value - np.sqrt((value - low) ** 2 + squared), value + np.sqrt((high - value) ** 2 + squared)
