"""Can labels of one task calibrate another, and does the distance of the tasks predict it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal

import numpy as np

from ...errors import InvalidOption, NoUsableVotes, TooFewLabels, UnknownName
from ...records import NO_GOLD, FloatArray, IntArray, VoteCells, VoteCounts
from ...stats.estimate import DataFrame, Estimates, data_frame, flat
from ...stats.intervals import check_level, t_quantile
from ...stats.splits import change_intervals, splits
from ..labels import btd
from ..labels.rules import forecast_losses, one_hot
from ..labels.solver import probabilities
from .protocol import losses_by_item, seen_items


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Transfer:
    """Cost of calibrating one task with the labels of another; matrices are (fitted on, evaluated
    on).

    mae : MAE on the column task, mean over splits.
    change : mae minus that of the column's own fit. Its interval is over the labels that both tasks
        happen to have and the column's items; `level` is the chance that those of all pairs hold at
        once.
    loss_change : DRPS of the row's fit on every label, on all labelled comparisons of the column,
        minus that of the column's own fit: what differs between the tasks, without the luck of a
        small calibration set.
    theta : (tasks, splits, 3), fits as β, η₀, γ.  fits : on every label of each task.
    n : (tasks,), labelled comparisons.  not_possible : task → why it is left out.
    """

    tasks: tuple[str, ...]
    mae: FloatArray
    change: Estimates
    loss_change: FloatArray
    theta: FloatArray
    fits: dict[str, btd.BTDFit]
    not_possible: dict[str, str]
    n: IntArray
    n_splits: int

    def to_frame(self) -> DataFrame:
        """One row per pair of tasks."""
        k = len(self.tasks)
        names = ("mae", "change", "change_low", "change_high")
        columns = {name: values.ravel() for name, values in flat(self).items() if name in names}
        pairs = {"fitted_on": np.repeat(self.tasks, k), "evaluated_on": np.tile(self.tasks, k)}
        return data_frame(pairs | columns | {"n": np.tile(self.n, k)})


def transfer(
    tasks: Mapping[str, VoteCounts],
    options: btd.BTDOptions = btd.DEFAULTS,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = btd.MINIMUM_LABELS,
    level: float = 0.95,
) -> Transfer:
    """Fit BTD on the calibration sets of each task, and evaluate each fit on every task.

    Cell = MAE of the row's fits on the column's evaluation sets minus that of the column's own
    fits, split by split; 0 on the diagonal. Every task has its own splits. Where tasks share items,
    as those of two judges do, labels that a row was fitted on can occur in a column's evaluation;
    only three parameters learn from them. A cell below 0 is no error: a task with more labels, or
    kinder ones, can serve another better than its own few.

    Interval of a change: t·√(SE² over the column's items + SE² of the row's labels + of the
    column's), t at 1 − (1 − level)/2k(k − 1) (Bonferroni) with the column's items − 1 degrees of
    freedom. The first is that of `change_intervals`. The others are σ²·(1/S + m/(n − m)) over S
    splits with m of n comparisons each, σ² the variance between splits of the error of their fits
    on the whole column: splits of the same n labels share their luck, and a mean over sets of m of
    n has at most m/n of the variance of one set (Hoeffding). It is cautious: in simulation
    intervals of alike tasks held 0 in all sets, and by items alone in .3 to .6.

    tasks : name → votes, of categories, data sets or judges.  A task too small to split is left
        out.

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
            f"A transfer needs two tasks with {minimum} labelled comparisons to calibrate on and "
            f"others to evaluate on; {len(drawn)} of {len(tasks)} have them."
        )
    theta = np.stack(
        [btd.fit_many(one.cells, one.calibration, options).theta for one in drawn.values()]
    )
    fits = {name: btd.fit(one.cells, options) for name, one in drawn.items()}
    whole = np.stack([one.theta for one in fits.values()])
    k = len(drawn)
    loss = np.empty((k, k))
    at_once = 1 - (1 - level) / (k * (k - 1))
    mae, low, high = (np.zeros((k, k)) for _ in range(3))
    # How much the luck of the labels moves a mean over splits, in variances of one split's fit.
    calibrated = np.array([one.calibration.sum(axis=1).mean() for one in drawn.values()])
    total = np.array([one.n for one in drawn.values()])
    luck = 1 / n_splits + calibrated / (total - calibrated)
    for column, one in enumerate(drawn.values()):
        s, t = btd.features(one.cells, options)
        loss[:, column] = (
            btd.drps(probabilities(whole, s, t), one.cells.gold) @ one.cells.weight / one.n
        )
        errors, _ = forecast_losses(one_hot(btd.decide(probabilities(theta, s, t))), one.cells.gold)
        size = one.evaluation.sum(axis=1)
        by_split = (one.evaluation * errors).sum(axis=2) / size
        mae[:, column] = by_split.mean(axis=1)
        change = (by_split - by_split[column]).mean(axis=1)
        seen = seen_items(one, losses_by_item(one, list(errors - errors[column])))
        luck_of_labels = luck * (errors @ one.cells.weight / one.n).var(axis=1, ddof=1)
        luck_of_both = luck_of_labels + luck_of_labels[column]
        found = _with_variance(
            change_intervals(seen, change, level=at_once), luck_of_both, one.n_items
        )
        low[:, column], high[:, column] = found.low, found.high
        low[column, column] = high[column, column] = 0.0
    return Transfer(
        tasks=tuple(drawn),
        mae=mae,
        change=Estimates(mae - np.diag(mae), low, high, level=level),
        loss_change=loss - np.diag(loss),
        theta=theta,
        fits=fits,
        not_possible=not_possible,
        n=np.array([one.n for one in drawn.values()]),
        n_splits=n_splits,
    )


def _with_variance(estimates: Estimates, variance: FloatArray, items: int) -> Estimates:
    """Intervals over items with another variance added to their own."""
    squared = t_quantile(items - 1, estimates.level) ** 2 * variance
    value = estimates.value
    low = value - np.sqrt((value - estimates.low) ** 2 + squared)
    return replace(
        estimates, low=low, high=value + np.sqrt((estimates.high - value) ** 2 + squared)
    )


Kind = Literal["votes", "labels", "joint"]
KINDS: dict[Kind, str] = {"votes": "votes", "labels": "gold", "joint": "votes and gold"}

Target = Literal["mae", "drps"]
TARGETS: dict[Target, str] = {"mae": "MAE change", "drps": "DRPS change"}

LEAST_TASKS = 4
"""With three tasks no permutation p-value is below 1/6."""

MOST_EXACT = 7
"""Up to this many tasks every permutation is counted."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskDistances:
    """Energy distances of tasks, each (tasks, tasks), symmetric, 0 on the diagonal."""

    tasks: tuple[str, ...]
    votes: FloatArray
    labels: FloatArray
    joint: FloatArray

    def to_frame(self) -> DataFrame:
        """One row per unordered pair of tasks."""
        one, other = np.triu_indices(len(self.tasks), 1)
        names = np.array(self.tasks, dtype=object)
        columns = {kind: getattr(self, kind)[one, other] for kind in KINDS}
        return data_frame({"task": names[one], "other": names[other]} | columns)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TransferPrediction:
    """Does a distance predict what a transfer costs? Arrays are (targets, kinds of distance).

    targets : `mae` is the transfer matrix; `drps` the loss that fits minimise, by fits on every
        label, in which the size of calibration sets plays no part.
    rho : Spearman correlation of distance and change over ordered pairs of different tasks.
    p_value : of one as large by chance, over permutations of the tasks (`permutations` of them).
    error : mean |predicted − true change| on pairs with a task that the line was not fitted on.
    constant_error : the same of the mean change of the other pairs.
    rho and p_value are NaN where all distances, or all changes, are alike.
    """

    targets: tuple[Target, ...]
    kinds: tuple[Kind, ...]
    rho: FloatArray
    p_value: FloatArray
    error: FloatArray
    constant_error: FloatArray
    permutations: int
    exact: bool
    n_tasks: int
    n_pairs: int

    def to_frame(self) -> DataFrame:
        """One row per target and kind of distance."""
        names = ("rho", "p_value", "error", "constant_error")
        columns = {name: getattr(self, name).ravel() for name in names}
        first = {
            "target": np.repeat([TARGETS[target] for target in self.targets], len(self.kinds)),
            "distance": [KINDS[kind] for kind in self.kinds] * len(self.targets),
        }
        return data_frame(first | columns | {"n": self.n_pairs})


def task_distances(tasks: Mapping[str, VoteCounts]) -> TaskDistances:
    """Energy distance √(2E|X − Y| − E|X − X′| − E|Y − Y′|) between the comparisons of tasks (ours).

    A comparison is the point of its vote shares (c⁺, c⁰, c⁻)/n (`votes`), of its gold label as one
    of three corners (`labels`), or of both (`joint`); |·| is Euclidean. Every comparison enters as
    it is and with A and B exchanged, half each, so which model is A does not matter. `votes` uses
    all comparisons, the others those with gold. It works on distinct points, whatever the number of
    comparisons.

    Raises NoUsableVotes for a task without a labelled comparison. Source: Székely & Rizzo (2013).
    """
    for name, counts in tasks.items():
        if not (counts.gold != NO_GOLD).any():
            raise NoUsableVotes(
                f"Task {name!r} has no comparison with a gold label to compare it by."
            )
    every = [counts.cells()[0] for counts in tasks.values()]
    labelled = [counts.labelled().cells()[0] for counts in tasks.values()]
    return TaskDistances(
        tasks=tuple(tasks),
        votes=_energy([_points(cells, "votes") for cells in every]),
        labels=_energy([_points(cells, "labels") for cells in labelled]),
        joint=_energy([_points(cells, "joint") for cells in labelled]),
    )


def transfer_prediction(
    found: Transfer, distances: TaskDistances, *, rng: np.random.Generator, draws: int = 5_000
) -> TransferPrediction:
    """Rank correlation of each distance with what transfers cost, and the error of predicting by it
    (ours).

    ρ is Spearman's over the ordered pairs of different tasks. Pairs share tasks, so its p-value
    permutes the tasks of the distance matrix (a Mantel test, one-sided: a larger distance, a larger
    loss); all orders up to 7 tasks, else `draws` random ones, p = (1 + #{ρ_r ≥ ρ})/(R + 1). For
    each task left out, a line is fitted by least squares to the pairs of the others and compared
    with the pairs with it.

    Raises InvalidOption below four tasks, UnknownName if the distances are of other tasks.
    """
    k = len(found.tasks)
    if k < LEAST_TASKS:
        raise InvalidOption(
            f"Whether a distance predicts transfer needs {LEAST_TASKS} tasks or more; there are "
            f"{k}."
        )
    missing = [name for name in found.tasks if name not in distances.tasks]
    if missing:
        raise UnknownName(f"There is no distance of task {missing[0]!r}.")
    place = np.array([distances.tasks.index(name) for name in found.tasks])
    apart = ~np.eye(k, dtype=bool)
    exact = k <= MOST_EXACT
    if exact:
        orders = np.array(list(permutations(range(k))))
    else:
        orders = np.stack([np.arange(k), *(rng.permutation(k) for _ in range(draws))])
    matrices: dict[Target, FloatArray] = {"mae": found.change.value, "drps": found.loss_change}
    rows = []
    for change in matrices.values():
        for kind in KINDS:
            distance = getattr(distances, kind)[np.ix_(place, place)]
            rho = _rank_correlations(distance, change, apart, orders)
            p_value = float((rho >= rho[0] - 1e-9).mean()) if np.isfinite(rho[0]) else np.nan
            rows.append((rho[0], p_value, *_left_out_errors(distance, change, apart)))
    table = np.array(rows, dtype=np.float64).reshape(len(matrices), len(KINDS), 4)
    return TransferPrediction(
        targets=tuple(matrices),
        kinds=tuple(KINDS),
        **dict(
            zip(
                ("rho", "p_value", "error", "constant_error"),
                np.moveaxis(table, -1, 0),
                strict=True,
            )
        ),
        permutations=len(orders),
        exact=exact,
        n_tasks=k,
        n_pairs=k * (k - 1),
    )


def _points(cells: VoteCells, kind: Kind) -> tuple[FloatArray, FloatArray]:
    """Points of a task and of its mirror, (2 × cells, dimensions), with weights that sum to 1."""
    shares = cells.votes / cells.n[:, None]
    if kind == "votes":
        parts = [shares]
    else:
        corner = np.eye(3)[np.clip(cells.gold, -1, 1) + 1]
        parts = [corner] if kind == "labels" else [shares, corner]
    mirrored = [part[:, ::-1] for part in parts]
    points = np.concatenate([np.concatenate(parts, axis=1), np.concatenate(mirrored, axis=1)])
    weight = np.tile(cells.weight / (2 * cells.weight.sum()), 2)
    distinct, row = np.unique(points.round(12), axis=0, return_inverse=True)
    return distinct, np.bincount(row.reshape(-1), weights=weight).astype(np.float64)


def _energy(clouds: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    k = len(clouds)
    mean = np.zeros((k, k))
    for i, (x, x_weight) in enumerate(clouds):
        for j, (y, y_weight) in enumerate(clouds[: i + 1]):
            squares = ((x[:, None] - y[None]) ** 2).sum(axis=2)
            mean[i, j] = mean[j, i] = x_weight @ np.sqrt(squares) @ y_weight
    within = np.diag(mean)
    square = 2 * mean - (within[:, None] + within[None])
    # Two equal clouds differ by rounding, whose root would be no small number.
    return np.sqrt(np.where(square > 1e-12, square, 0.0))


def _rank_correlations(
    distance: FloatArray, change: FloatArray, apart: FloatArray, orders: IntArray
) -> FloatArray:
    """Spearman correlation under each order of the tasks, (orders,); NaN where all are alike."""
    from scipy.stats import rankdata

    ranks, target = np.zeros(distance.shape), np.zeros(change.shape)
    for centred, values in ((ranks, distance), (target, change)):
        centred[apart] = rankdata(values[apart].round(12))
        centred[apart] -= centred[apart].mean()
    scale = np.sqrt((ranks**2).sum() * (target**2).sum())
    if scale == 0:
        return np.full(len(orders), np.nan)
    permuted = ranks[orders[:, :, None], orders[:, None, :]]
    return np.asarray((permuted * target).sum(axis=(1, 2)) / scale)


def _left_out_errors(
    distance: FloatArray, change: FloatArray, apart: FloatArray
) -> tuple[float, float]:
    """Mean absolute error of a line in the distance, and of a constant, on pairs with a task left
    out.
    """
    by_line, by_mean = [], []
    for task in range(len(change)):
        with_it = np.zeros(apart.shape, dtype=bool)
        with_it[task] = with_it[:, task] = True
        fitted, left_out = apart & ~with_it, apart & with_it
        x, y = distance[fitted], change[fitted]
        spread = x - x.mean()
        slope = float(spread @ y) / float(spread @ spread) if (spread @ spread) > 0 else 0.0
        by_line.append(
            np.abs(y.mean() + slope * (distance[left_out] - x.mean()) - change[left_out])
        )
        by_mean.append(np.abs(y.mean() - change[left_out]))
    return float(np.concatenate(by_line).mean()), float(np.concatenate(by_mean).mean())
