"""Minimise many small smooth functions at once, each in its own box, by damped projected Newton steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import AppellateError
from ..records import BoolArray, FloatArray, IntArray

Derivatives = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray, FloatArray]]
"""(θ (rows, p), problem of each row) → value (rows,), gradient (rows, p), Hessian (rows, p, p)."""

MAX_STEPS = 300
GRADIENT_TOLERANCE = 1e-9
ACCEPTED_GRADIENT = 1e-6
"""A point that rounding keeps from improving counts as a minimum if its projected gradient is below this."""
NEAR = 1e-8
"""A parameter this near to a bound and pushing against it is put on it; damped steps only creep."""


class NotConverged(AppellateError):
    """The solver stopped before it reached a minimum, so there are no parameters to report."""


def minimise(
    derivatives: Derivatives, start: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Best local minimum of every problem over its starts: θ (problems, p) and value (problems,).

    start : (starts, problems, p).  low, high : (problems, p), equal where a parameter is fixed.

    Raises NotConverged if the best end of a problem has a projected gradient above 1e-6.
    """
    starts, problems, p = start.shape
    problem = np.tile(np.arange(problems), starts)
    theta, value, converged = best_ends(derivatives, start.reshape(-1, p), problem, low, high)
    if not converged.all():
        raise NotConverged(
            f"{np.count_nonzero(~converged)} of {problems} fits did not converge; "
            "use more labelled comparisons."
        )
    return theta, value


def best_ends(
    derivatives: Derivatives,
    start: FloatArray,
    problem: IntArray,
    low: FloatArray,
    high: FloatArray,
    *,
    near: float = NEAR,
    rows: int | None = None,
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Least end of each problem over its starts: θ (problems, p), value and whether it is a minimum.

    start : (starts, p).  problem : (starts,), the problem that each start is of.
    rows : starts worked on at once, which bounds the memory; None for all.
    """
    step = rows or len(start)
    blocks = [slice(i, i + step) for i in range(0, len(start), step)]
    ends = [_descend(derivatives, start[block], problem[block], low, high, near) for block in blocks]
    theta, value, converged = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    order = np.lexsort((~converged, value, problem))
    best = order[np.unique(problem[order], return_index=True)[1]]
    return theta[best], value[best], converged[best]


def _descend(
    derivatives: Derivatives,
    start: FloatArray,
    problem: IntArray,
    low: FloatArray,
    high: FloatArray,
    near: float,
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """End of the descent from each start, its value, and whether it is a minimum.

    A parameter that its gradient keeps at a bound is left out of the Newton system (active set), negative
    curvature is reflected, a step is taken only if the value falls, and damping grows tenfold after one that
    is refused, which turns the step towards the gradient. Those that have converged leave the batch.
    """
    low, high = low[problem], high[problem]
    here = np.clip(start, low, high)
    theta, value, converged = here.copy(), np.empty(len(here)), np.zeros(len(here), dtype=bool)
    active, damping = np.arange(len(here)), np.zeros(len(here))
    f, g, h = derivatives(here, problem)
    for _ in range(MAX_STEPS):
        at_low, at_high = (here <= low + near) & (g >= 0), (here >= high - near) & (g <= 0)
        fixed = at_low | at_high
        projected = np.abs(np.clip(here - g, low, high) - here).max(axis=1)
        there = np.clip(here + _step(np.where(fixed, 0.0, g), h, fixed, damping), low, high)
        if near:
            there = np.where(at_low, low, np.where(at_high, high, there))
        f_there, g_there, h_there = derivatives(there, problem)
        better = f_there < f
        stuck = ~better & (projected <= ACCEPTED_GRADIENT) & (f_there - f <= 1e-14)
        done = (projected <= GRADIENT_TOLERANCE) | stuck | (damping > 1e12)

        # The end is the point whose gradient was tested, not the one after it.
        theta[active[done]], value[active[done]] = here[done], f[done]
        converged[active[done]] = projected[done] <= ACCEPTED_GRADIENT
        damping = np.where(
            better, np.where(damping < 1e-7, 0.0, damping / 10), np.maximum(damping * 10, 1e-4)
        )
        here, f = np.where(better[:, None], there, here), np.where(better, f_there, f)
        g, h = np.where(better[:, None], g_there, g), np.where(better[:, None, None], h_there, h)
        if done.any():
            keep = ~done
            active, problem, damping = active[keep], problem[keep], damping[keep]
            low, high = low[keep], high[keep]
            here, f, g, h = here[keep], f[keep], g[keep], h[keep]
        if not len(active):
            break
    theta[active], value[active] = here, f
    return theta, value, converged


def _step(slope: FloatArray, h: FloatArray, fixed: BoolArray, damping: FloatArray) -> FloatArray:
    """Newton step of the free parameters, 0 for those fixed."""
    both_free = ~fixed[:, :, None] & ~fixed[:, None, :]
    curvature, axes = np.linalg.eigh(np.where(both_free, h, 0.0) + fixed[:, :, None] * np.eye(slope.shape[1]))
    size = np.maximum(np.abs(curvature), 1e-9) + damping[:, None]
    along = np.einsum("rji,rj->ri", axes, slope) / size
    return np.asarray(-np.einsum("rij,rj->ri", axes, along))
