"""Does a model's Elo depend on the task? Boards by task, and the variance between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NoUsableVotes
from ..records import FloatArray, PairScores
from ..stats.estimate import Estimate, rows_frame
from ..stats.intervals import check_level
from .anchored import Board, Prior, board
from .rating_methods import met

if TYPE_CHECKING:
    import pandas as pd


LEVEL = 0.05
"""Significance of `differing`, over all models together."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskSpread:
    """Elo of one model over tasks.

    tau2 : variance of its true Elo between tasks, squared points, by DerSimonian and Laird; tau is its root,
    with the Q-profile interval.  q, p_value : Cochran's test of τ² = 0.  i2 : share of the variance of task
    boards that is not chance.
    mean : over tasks, modified Hartung–Knapp interval with t(k - 1).
    n_tasks : tasks in which it met the anchor; with one, everything but `mean` is None.
    """

    model: str
    n_tasks: int
    prompts: int
    mean: Estimate
    tau2: float | None = None
    tau: Estimate | None = None
    q: float | None = None
    p_value: float | None = None
    i2: float | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BetweenTasks:
    """Models in order of their mean over tasks, with the board of each task.

    left_out : tasks in which nobody met the anchor.
    """

    anchor: str
    boards: dict[str, Board]
    rows: tuple[TaskSpread, ...]
    left_out: tuple[str, ...]
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row per model."""
        return rows_frame(TaskSpread, self.rows)


def between_tasks(
    by_task: Mapping[str, PairScores], anchor: str, *, prior: Prior = "jeffreys", level: float = 0.95
) -> BetweenTasks:
    """Board of each task, and for each model the variance τ² of its Elo between tasks.

    With yₜ the Elo in task t and vₜ its squared dispersion-corrected SE, w = 1/v, ȳ = Σwy/Σw:
    Q = Σw(y - ȳ)², τ² = max(0, (Q - (k - 1))/(Σw - Σw²/Σw)), I² = max(0, (Q - (k - 1))/Q).
    Mean over tasks: μ = Σw*y/Σw*, w* = 1/(v + τ²), SE² = max(1, Σw*(y - μ)²/(k - 1))/Σw*, ± t(k - 1)·SE.
    Interval of τ²: those values at which Σ(y - μ)²/(v + τ²) lies between the χ²(k - 1) quantiles; its upper
    end is never below that of tasks which differ just as chance makes expected, Q = k - 1 (ours). Where they
    happen to differ far less, it would be 0 to 0, as if tasks were known not to differ.

    Limits: the test is cautious, as v counts the prior (among equal tasks it rejects in 1 to 3 % at .05). The
    prior draws each task towards 0 and w favours the tasks drawn most, so the mean is too near 0 where tasks
    are small and a model wins almost always: at p = .97 over ten tasks of 20 prompts 95 % hold .4 (five of
    30 at .95: .96). The board of all prompts together does not have this.

    Parameters
    ----------
    by_task : task → pair scores of that task's prompts.
    anchor : Elo 0 in every task.

    Raises
    ------
    NoUsableVotes : the anchor met nobody in any task.

    Source: docs/methods.md §6; DerSimonian & Laird (1986); Hartung & Knapp (2001), modified by Röver et al.
    (2015); Viechtbauer (2007).
    """
    check_level(level)
    boards = {
        task: board(pairs, anchor, prior=prior, level=level)
        for task, pairs in by_task.items()
        if met(pairs, anchor)
    }
    if not boards:
        raise NoUsableVotes(f"anchor {anchor!r} met no other model in any task of this selection")
    seen: dict[str, list[tuple[float, float, int]]] = {}
    for found in boards.values():
        for row in found.rows:
            seen.setdefault(row.model, []).append((row.elo.value, row.se_elo_corrected**2, row.n))
    rows = [_over_tasks(model, np.array(values), level) for model, values in seen.items()]
    return BetweenTasks(
        anchor=anchor,
        boards=boards,
        rows=tuple(sorted(rows, key=lambda row: (-round(row.mean.value, 9), row.model))),
        left_out=tuple(task for task in by_task if task not in boards),
        level=level,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Heterogeneity:
    """τ² and the mean with their intervals, Cochran's Q with its p-value, and I²."""

    tau2: Estimate
    q: float
    p_value: float
    i2: float
    mean: Estimate


def heterogeneity(y: FloatArray, v: FloatArray, *, level: float = 0.95) -> Heterogeneity:
    """DerSimonian–Laird τ² with its Q-profile interval, Q, p, I², and the mean with its interval.

    y : (k,) estimates, k ≥ 2.  v : (k,) their variances, above 0.  Formulas as in `between_tasks`.
    """
    from scipy.special import chdtrc, chdtri, stdtrit

    k = len(y)
    w = 1 / v
    q = float((w * (y - (w * y).sum() / w.sum()) ** 2).sum())
    tau2 = max(0.0, (q - (k - 1)) / float(w.sum() - (w**2).sum() / w.sum()))
    weight = 1 / (v + tau2)
    mean = float((weight * y).sum() / weight.sum())
    spread = float((weight * (y - mean) ** 2).sum()) / (k - 1)
    half = float(stdtrit(k - 1, (1 + level) / 2) * np.sqrt(max(1.0, spread) / weight.sum()))
    tail = (1 - level) / 2
    lower = float(chdtri(k - 1, 1 - tail))
    high = max(_profile(y, v, lower), _profile_of_chance(v, lower))
    return Heterogeneity(
        tau2=Estimate(tau2, _profile(y, v, float(chdtri(k - 1, tail))), high, n=k, level=level),
        q=q,
        p_value=float(chdtrc(k - 1, q)),
        i2=max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0,
        mean=Estimate(mean, mean - half, mean + half, n=k, level=level),
    )


def _profile(y: FloatArray, v: FloatArray, target: float) -> float:
    """τ² at which the generalised Q falls to `target`; 0 if it starts below."""

    def generalised(tau2: float) -> float:
        w = 1 / (v + tau2)
        return float((w * (y - (w * y).sum() / w.sum()) ** 2).sum())

    return _falls_to(target, generalised, float(((y - y.mean()) ** 2).sum()) / target + float(v.max()))


def _profile_of_chance(v: FloatArray, target: float) -> float:
    """`_profile` of the Q that is expected where true values are equal: Σwv - Σw²v/Σw, k - 1 at τ² = 0."""

    def expected(tau2: float) -> float:
        w = 1 / (v + tau2)
        return float((w * v).sum() - (w**2 * v).sum() / w.sum())

    return _falls_to(target, expected, float(v.max()))


def _falls_to(target: float, falling: Callable[[float], float], top: float) -> float:
    """Where a falling function of τ² reaches `target`; 0 if it starts below.  top : a first upper bound."""
    if falling(0.0) <= target:
        return 0.0
    from scipy.optimize import brentq

    while falling(top) > target:
        top *= 2
    return float(brentq(lambda tau2: falling(tau2) - target, 0.0, top, xtol=1e-9 * top))


def _over_tasks(model: str, values: FloatArray, level: float) -> TaskSpread:
    elo, variance, prompts = values.T
    k, n = len(elo), int(prompts.sum())
    if k == 1:
        return TaskSpread(model=model, n_tasks=1, prompts=n, mean=Estimate(float(elo[0]), n=1, level=level))
    found = heterogeneity(elo, variance, level=level)
    tau, low, high = np.sqrt([found.tau2.value, found.tau2.low, found.tau2.high]).tolist()
    return TaskSpread(
        model=model,
        n_tasks=k,
        prompts=n,
        mean=found.mean,
        tau2=found.tau2.value,
        tau=Estimate(tau, low, high, n=k, level=level),
        q=found.q,
        p_value=found.p_value,
        i2=found.i2,
    )


def differing(found: BetweenTasks) -> tuple[TaskSpread, ...]:
    """Models whose p-value times the number still to test, the least first, stays below .05 (Holm)."""
    tested = sorted((row.p_value, k) for k, row in enumerate(found.rows) if row.p_value is not None)
    kept: list[TaskSpread] = []
    for place, (p_value, k) in enumerate(tested):
        if p_value * (len(tested) - place) >= LEVEL:
            break
        kept.append(found.rows[k])
    return tuple(kept)
