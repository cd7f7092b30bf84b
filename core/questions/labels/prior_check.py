"""May a calibration set use a prior: do its labels look as the prior forecasts, and are its tasks
alike?

Shrunken BTD weighs a prior by cross-validation, which 20 labels are too few for: they cannot reject
a prior of unlike tasks. These checks can, and where one fails the plain fit is used.
Source: ours, docs/methods.md §9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...records import BoolArray, FloatArray, IntArray, VoteCells
from .btd import DEFAULTS, MINIMUM_LABELS, BTDOptions, decide, drps, features
from .solver import probabilities

FORECAST = 2.7
"""Largest misfit T at 20 labels. It grows with √m, for a misfit of one size: more labels find
smaller ones, which cost less, as cross-validation weighs the prior better.

This and the next two were chosen by simulation (benchmarks/shrinkage.py), on other seeds than its
table.
"""

TRANSFER = 0.04
"""Largest MAE that the tasks of a prior lose on average when the others decide them."""

EVIDENCE = 1.0
"""Least log likelihood ratio of the decided labels, the prior's forecast of their sides against a
coin's: it asks that this judge's votes, and the prior's, tell which response is better."""

FEWEST_TASKS = 3
"""Tasks or judges that the transfer is known from."""

_ADDED = 0.25
_RAREST = 1e-3
"""Least chance that a forecast may give to a side, so that no single label decides."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PriorChecks:
    """What each calibration set says of a prior, (sets,) each.

    misfit : T, in standard deviations.  limit : what T must be below.
    evidence : ln L, the likelihood of the decided labels' sides under the prior over that under a
        coin.
    transfer : mean loss in MAE of the tasks that the prior is pooled from, each decided by the
        others; NaN where there are fewer than FEWEST_TASKS, or their votes are not given.
    """

    misfit: FloatArray
    limit: FloatArray
    evidence: FloatArray
    transfer: FloatArray

    @property
    def unlike_labels(self) -> BoolArray:
        """The labels do not look as forecast."""
        return np.asarray(self.misfit >= self.limit)

    @property
    def unlike_tasks(self) -> BoolArray:
        """The tasks of the prior are not alike; False where it is not known."""
        return np.asarray(self.transfer >= TRANSFER)

    @property
    def no_better_than_a_coin(self) -> BoolArray:
        """The prior does not forecast the sides of decided labels."""
        return np.asarray(self.evidence < EVIDENCE)

    @property
    def used(self) -> BoolArray:
        """No check speaks against the prior."""
        return ~(self.unlike_labels | self.unlike_tasks | self.no_better_than_a_coin)

    def reason(self, place: int = 0) -> str:
        """Why a set does not use the prior; empty where it does."""
        found = []
        if self.unlike_labels[place]:
            found.append(
                f"the labels do not look as the prior forecasts (T {self.misfit[place]:.1f}, "
                f"below {self.limit[place]:.1f} needed)"
            )
        if self.unlike_tasks[place]:
            found.append(
                f"its tasks or judges are not alike (deciding each by the others costs "
                f"{self.transfer[place]:.3f} of MAE, below {TRANSFER:g} needed)"
            )
        if self.no_better_than_a_coin[place]:
            found.append(
                f"it does not forecast which response is better (ln L {self.evidence[place]:.1f} "
                f"against a coin, at least {EVIDENCE:g} needed)"
            )
        return "; ".join(found)


def check_prior(
    cells: VoteCells,
    weights: FloatArray,
    theta0: FloatArray,
    transfer: FloatArray | None,
    options: BTDOptions = DEFAULTS,
) -> PriorChecks:
    """Compare the m labels of each set with what θ₀ forecasts of them.

    T = max(z_DRPS, |z_tie|, |z_dir|): ΣDRPS, gold ties and Σ sign(s)·y, each minus its expectation
    under θ₀ in its standard deviations, ¼ added to the variances of the last two. The limit is
    FORECAST·√(m/20). ln L = Σ ln(2·p(y)/(p(−1) + p(+1))) over the labels that are no ties.
    weights : (sets, cells).  theta0 : (3,) or (sets, 3).  transfer : (sets,) or one for all, None:
        not known.
    """
    s, t = features(cells, options)
    n_sets = len(weights)
    p = np.broadcast_to(probabilities(theta0, s, t), (n_sets, len(cells), 3))
    if_label = np.stack([drps(p, np.full(len(cells), label)) for label in (-1, 0, 1)], axis=-1)
    expected = (p * if_label).sum(axis=-1)
    variance = (p * if_label**2).sum(axis=-1) - expected**2
    error = (weights * (drps(p, cells.gold) - expected)).sum(axis=1)
    # A forecast without doubt has no variance; any error then is too much.
    z_drps = error / np.sqrt((weights * variance).sum(axis=1) + 1e-9)

    tie, sign = p[..., 1], np.sign(s)
    towards = sign * (p[..., 2] - p[..., 0])
    z_tie = _z(weights, (cells.gold == 0) - tie, tie * (1 - tie))
    z_direction = _z(weights, sign * cells.gold - towards, sign**2 * (1 - tie) - towards**2)
    size = weights.sum(axis=1)
    return PriorChecks(
        misfit=np.maximum(z_drps, np.maximum(np.abs(z_tie), np.abs(z_direction))),
        limit=FORECAST * np.sqrt(size / MINIMUM_LABELS),
        evidence=(weights * _evidence(p, cells.gold)).sum(axis=1),
        transfer=np.broadcast_to(np.nan if transfer is None else transfer, (n_sets,)),
    )


def _evidence(p: FloatArray, gold: IntArray) -> FloatArray:
    """ln of the forecast chance of a label's side, given that it is decided, over ½; 0 for
    a tie.
    """
    of_label = np.where(gold > 0, p[..., 2], p[..., 0])
    side = of_label / np.maximum(p[..., 0] + p[..., 2], 1e-12)
    return np.asarray(np.where(gold == 0, 0.0, np.log(2 * np.maximum(side, _RAREST))))


def _z(weights: FloatArray, away: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(
        (weights * away).sum(axis=1) / np.sqrt((weights * variance).sum(axis=1) + _ADDED)
    )


def transfer_loss(
    cells: Sequence[VoteCells],
    weights: Sequence[FloatArray],
    theta: FloatArray,
    options: BTDOptions = DEFAULTS,
) -> FloatArray | None:
    """Mean over tasks of the MAE of a task decided by the mean θ of the others, minus that of its
    own fit.

    cells, weights : of each task, (sets, cells).  theta : fits, (sets, tasks, 3).  A task without
        labels in a
    set counts nothing there. (sets,), None for fewer than FEWEST_TASKS. Source: ours.
    """
    n = theta.shape[1]
    if n < FEWEST_TASKS:
        return None
    others = (theta.sum(axis=1, keepdims=True) - theta) / (n - 1)
    loss = np.full(theta.shape[:2], np.nan)
    for k in range(n):
        s, t = features(cells[k], options)
        theirs, own = (
            np.abs(decide(probabilities(of[:, k], s, t)) - cells[k].gold) for of in (others, theta)
        )
        size = weights[k].sum(axis=1)
        total = (weights[k] * (theirs - own)).sum(axis=1)
        np.divide(total, size, out=loss[:, k], where=size > 0)
    known = ~np.isnan(loss)
    mean = np.nansum(loss, axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.where(known.sum(axis=1) >= FEWEST_TASKS, mean, np.nan)
