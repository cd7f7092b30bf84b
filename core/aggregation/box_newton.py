"""Minimise many small smooth functions at once, each in its own box, by damped projected Newton steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.counts import BoolArray, FloatArray, IntArray
from core.votes import AppellateError

Derivatives = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray, FloatArray]]
"""(θ (rows, p), problem of each row) → value (rows,), gradient (rows, p), Hessian (rows, p, p)."""

MAX_STEPS = 300
GRADIENT_TOLERANCE = 1e-9
ACCEPTED_GRADIENT = 1e-6
"""A point that rounding keeps from improving counts as a minimum if its projected gradient is below this."""
NEAR = 1e-8
"""A parameter this near to a bound and pushing against it is put on it; damped steps only creep."""


class NoMinimum(AppellateError):
    """The solver stopped before it reached a minimum, so there are no parameters to report."""


def minimise(
    derivatives: Derivatives, start: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Best local minimum of every problem over its starts: θ (problems, p) and value (problems,).

    start : (starts, problems, p).  low, high : (problems, p), equal where a parameter is fixed.

    A parameter held at a bound by its gradient is left out of the Newton system, negative curvature is
    reflected, a step is taken only if the value falls, and damping grows tenfold after one that is refused.

    Raises NoMinimum if the best end of a problem has a projected gradient above 1e-6.
    """
    starts, problems, p = start.shape
    of = np.tile(np.arange(problems), starts)
    theta, value, converged = _descend(derivatives, start.reshape(-1, p), low[of], high[of], of)
    order = np.lexsort((~converged, value, of))
    best = order[np.unique(of[order], return_index=True)[1]]
    if not converged[best].all():
        raise NoMinimum(
            f"{np.count_nonzero(~converged[best])} of {problems} fits did not converge; "
            "use more labelled comparisons."
        )
    return theta[best], value[best]


def _descend(
    derivatives: Derivatives, start: FloatArray, low: FloatArray, high: FloatArray, of: IntArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    here = np.clip(start, low, high)
    theta, value, converged = here.copy(), np.empty(len(here)), np.zeros(len(here), dtype=bool)
    active, damping = np.arange(len(here)), np.zeros(len(here))
    f, g, h = derivatives(here, of)
    for _ in range(MAX_STEPS):
        at_low, at_high = (here <= low + NEAR) & (g >= 0), (here >= high - NEAR) & (g <= 0)
        held = at_low | at_high
        projected = np.abs(np.clip(here - g, low, high) - here).max(axis=1)
        there = np.clip(here + _step(np.where(held, 0.0, g), h, held, damping), low, high)
        there = np.where(at_low, low, np.where(at_high, high, there))
        f_there, g_there, h_there = derivatives(there, of)
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
            active, of, low, high, damping = active[keep], of[keep], low[keep], high[keep], damping[keep]
            here, f, g, h = here[keep], f[keep], g[keep], h[keep]
        if not len(active):
            break
    theta[active], value[active] = here, f
    return theta, value, converged


def _step(slope: FloatArray, h: FloatArray, held: BoolArray, damping: FloatArray) -> FloatArray:
    both_free = ~held[:, :, None] & ~held[:, None, :]
    curvature, axes = np.linalg.eigh(np.where(both_free, h, 0.0) + held[:, :, None] * np.eye(slope.shape[1]))
    size = np.maximum(np.abs(curvature), 1e-9) + damping[:, None]
    along = np.einsum("rji,rj->ri", axes, slope) / size
    return np.asarray(-np.einsum("rij,rj->ri", axes, along))
