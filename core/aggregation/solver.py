"""Minimise many small smooth functions at once, each in its own box, by damped projected Newton steps.

The solver of the BTD fit: batched projected Newton steps on three parameters in a box, many fits at once.

The objective of a vote pattern depends on θ through u = β·s and η = η₀ + γ·t only, so gradient and Hessian
are sums of five numbers a pattern. Fits are independent rows of every array; the converged leave the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

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


Loss = Literal["drps", "log", "mae"]
LOSSES: tuple[Loss, ...] = ("drps", "log", "mae")

FIXED_START = (1.2, 2.5, 1.0)
"""Always among the starts: centre of what real votes give (methods §9)."""

GRID_STARTS = 4
MAX_NEWTON_STEPS = 200
BLOCK = 500_000
"""Rows × patterns worked on at once, which bounds the memory."""

"""A point that rounding keeps from improving counts as a minimum if its projected gradient is below this."""

_GRID = (
    (0.0, 0.25, 0.6, 1.0, 1.5, 2.2, 3.3, 5.0),
    (-9.0, -6.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.5, 7.0),
    (-10.0, -5.0, -2.5, -1.0, 0.0, 0.5, 1.0, 1.5, 2.5, 4.0, 6.0, 10.0),
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Problem:
    """Several fits that share their vote patterns.

    s, t : (patterns,).  weight : (3, fits, patterns), share of a fit's comparisons by gold -1, 0, +1.
    low, high : (fits, 3), box of (β, η₀, γ); equal where a parameter is fixed.
    centre, pull : (fits, 3) and (fits, 3, 3), positive semidefinite: the penalty
        (θ − centre)ᵀ·pull·(θ − centre) is added to the loss. None: no penalty.
    starts : (fits, k, 3), where to begin instead of scanning a grid over the box; None: scan.
    """

    s: FloatArray
    t: FloatArray
    weight: FloatArray
    low: FloatArray
    high: FloatArray
    loss: Loss
    centre: FloatArray | None = None
    pull: FloatArray | None = None
    starts: FloatArray | None = None


def probabilities(theta: FloatArray, s: FloatArray, t: FloatArray) -> FloatArray:
    """Probabilities of the labels -1, 0, +1 in each row.

    u = β·s, η = η₀ + γ·t; p(+1) = eᵘ/Z, p(−1) = e⁻ᵘ/Z, p(0) = e^η/Z, Z = eᵘ + e⁻ᵘ + e^η.
    theta : (…, 3) as (β, η₀, γ), natural-log units.  s, t : (rows,). Returns (…, rows, 3), rows summing to 1.
    Exchanging A and B (s → −s) exchanges p(−1) and p(+1) exactly. Source: [BTD] §4.
    """
    return np.stack(_probabilities(theta, s, t), axis=-1)


def _probabilities(
    theta: FloatArray, s: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    u = theta[..., 0, None] * s
    eta = theta[..., 1, None] + theta[..., 2, None] * t
    top = np.maximum(np.abs(u), eta)
    minus, tie, plus = np.exp(-u - top), np.exp(eta - top), np.exp(u - top)
    scale = 1.0 / ((minus + plus) + tie)
    minus *= scale
    tie *= scale
    plus *= scale
    return minus, tie, plus


def label_losses(loss: Loss, minus: FloatArray, tie: FloatArray, plus: FloatArray) -> tuple[FloatArray, ...]:
    """Loss of a forecast where gold is -1, 0, +1."""
    if loss == "drps":
        both = minus**2 + plus**2
        return both + 1 - 2 * minus, both, both + 1 - 2 * plus
    if loss == "mae":
        return tie + 2 * plus, minus + plus, tie + 2 * minus
    tiny = np.finfo(np.float64).tiny
    return tuple(-np.log(np.maximum(p, tiny)) for p in (minus, tie, plus))


def solve(problem: Problem) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Best end of each fit over its starts: θ (fits, 3), the objective (fits,), is it a minimum (fits,)."""
    fit_of_start, start = _starts(problem)
    rows = max(1, BLOCK // len(problem.s))
    blocks = [slice(i, i + rows) for i in range(0, len(start), rows)]
    ends = [_descend_btd(problem, fit_of_start[block], start[block]) for block in blocks]
    theta, value, converged = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    order = np.lexsort((~converged, value, fit_of_start))
    best = order[np.unique(fit_of_start[order], return_index=True)[1]]
    return theta[best], value[best], converged[best]


def _starts(problem: Problem) -> tuple[IntArray, FloatArray]:
    """The fixed start, the centre of the penalty, and those given or of the grid, inside each fit's box.

    Answers with the fit of each start, and θ.
    """
    fits = np.arange(len(problem.low))
    if problem.starts is None:
        fit_of, start = _grid_starts(problem)
    else:
        fit_of, start = np.repeat(fits, problem.starts.shape[1]), problem.starts.reshape(-1, 3)
    if problem.centre is not None:
        fit_of, start = np.concatenate([fits, fit_of]), np.concatenate([problem.centre, start])
    fit_of = np.concatenate([fits, fit_of])
    start = np.concatenate([np.tile(FIXED_START, (len(fits), 1)), start])
    # Where t is constant only η₀ + γ·t matters: move the start's γ·t into η₀ before γ is fixed.
    fixed = problem.low[fit_of, 2] == problem.high[fit_of, 2]
    constant_t = problem.t[(problem.weight.sum(axis=0) > 0).argmax(axis=1)][fit_of]
    start[:, 1] += np.where(fixed, (start[:, 2] - problem.low[fit_of, 2]) * constant_t, 0.0)
    return fit_of, np.clip(start, problem.low[fit_of], problem.high[fit_of])


def _grid_starts(problem: Problem) -> tuple[IntArray, FloatArray]:
    """Lowest local minima of the objective on a grid over the box.

    β is profiled out by a parabola through its best three values, and the lowest local minima over (η₀, γ)
    become starts. Without the profile a coarse β hides the shallow basins that a bound on ν leaves in γ
    (ours; checked against sixty random starts on a thousand sets).
    """
    low, high = problem.low.min(axis=0), problem.high.max(axis=0)
    betas, etas, gammas = (
        np.unique(np.concatenate([np.clip(values, low[i], high[i]), np.linspace(low[i], high[i], 3)]))
        for i, values in enumerate(_GRID)
    )
    grid = np.stack(np.meshgrid(betas, etas, gammas, indexing="ij"), axis=-1).reshape(-1, 3)
    fits = np.arange(len(problem.low))
    scanned = _scan(problem, grid).reshape(len(betas), len(etas), len(gammas), len(fits))
    beta, value = _profile(betas, scanned)
    lowest = _lowest_neighbour(_lowest_neighbour(value, 0), 1)
    value = np.where(value <= lowest, value, np.inf).reshape(-1, len(fits))
    count = min(GRID_STARTS, len(value))
    chosen = np.argpartition(value, count - 1, axis=0)[:count]
    rank, fit_of = np.nonzero(np.isfinite(np.take_along_axis(value, chosen, axis=0)))
    node = chosen[rank, fit_of]
    eta, gamma = etas[node // len(gammas)], gammas[node % len(gammas)]
    return fit_of, np.column_stack([beta.reshape(-1, len(fits))[node, fit_of], eta, gamma])


def _scan(problem: Problem, grid: FloatArray) -> FloatArray:
    """Loss and penalty of every fit at every point: (points, fits)."""
    value = np.empty((len(grid), len(problem.low)))
    rows = max(1, BLOCK // len(problem.s))
    for i in range(0, len(grid), rows):
        losses = label_losses(problem.loss, *_probabilities(grid[i : i + rows], problem.s, problem.t))
        terms = [loss @ weight.T for loss, weight in zip(losses, problem.weight, strict=True)]
        value[i : i + rows] = terms[0] + terms[1] + terms[2]
    if problem.centre is not None and problem.pull is not None:
        squares = (grid[:, :, None] * grid[:, None, :]).reshape(-1, 9)
        towards = np.einsum("fij,fj->fi", problem.pull, problem.centre)
        value += squares @ problem.pull.reshape(-1, 9).T - 2 * grid @ towards.T
        value += np.einsum("fi,fi->f", towards, problem.centre)
    return value


def _profile(beta: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least value over the first axis, and where, by a parabola through the best node and its neighbours."""
    if len(beta) < 3:  # β is fixed in every fit
        return np.broadcast_to(beta[0], value.shape[1:]), value[0]
    lowest = value.argmin(axis=0)
    middle = np.clip(lowest, 1, len(beta) - 2)
    f0, f1, f2 = (np.take_along_axis(value, (middle + step)[None], axis=0)[0] for step in (-1, 0, 1))
    x0, x1, x2 = beta[middle - 1], beta[middle], beta[middle + 1]
    slope = (f1 - f0) / (x1 - x0)
    bend = ((f2 - f1) / (x2 - x1) - slope) / (x2 - x0)
    convex = bend > 0
    x = np.clip((x0 + x1) / 2 - slope / (2 * np.where(convex, bend, 1.0)), x0, x2)
    fitted = f0 + slope * (x - x0) + bend * (x - x0) * (x - x1)
    node = value.min(axis=0)
    use = convex & (fitted <= node)
    return np.where(use, x, beta[lowest]), np.where(use, fitted, node)


def _lowest_neighbour(value: FloatArray, axis: int) -> FloatArray:
    value = np.moveaxis(value, axis, 0)
    lowest = value.copy()
    np.minimum(lowest[1:], value[:-1], out=lowest[1:])
    np.minimum(lowest[:-1], value[1:], out=lowest[:-1])
    return np.moveaxis(lowest, 0, axis)


def _descend_btd(
    problem: Problem, fit_of: IntArray, start: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Damped projected Newton from every start; a step is taken only if the loss falls.

    Parameters held at a bound by the gradient are left out of the Newton system (active set); negative
    curvature is reflected; damping grows tenfold after a refused step, turning the step towards the gradient.
    """
    theta, value = start.copy(), np.empty(len(start))
    converged = np.zeros(len(start), dtype=bool)
    low, high = problem.low[fit_of], problem.high[fit_of]
    active = np.arange(len(start))
    minus, tie, plus = (problem.weight[label][fit_of] for label in range(3))
    centre, pull = _penalty_of(problem, fit_of)
    here = theta
    f, g, h = _penalised(derivatives(problem, here, minus, tie, plus), here, centre, pull)
    damping = np.zeros(len(start))
    for _ in range(MAX_NEWTON_STEPS):
        held = ((here <= low) & (g >= 0)) | ((here >= high) & (g <= 0))
        slope = np.where(held, 0.0, g)
        projected = np.abs(np.clip(here - g, low, high) - here).max(axis=1)
        step = _newton_step(slope, h, held, damping)
        there = np.clip(here + step, low, high)
        f_there, g_there, h_there = _penalised(
            derivatives(problem, there, minus, tie, plus), there, centre, pull
        )
        better = f_there < f
        stuck = ~better & (projected <= ACCEPTED_GRADIENT) & (f_there - f <= 1e-14)
        done = (projected <= GRADIENT_TOLERANCE) | stuck | (damping > 1e12)

        # The last point of a finished problem is the one before the step, whose gradient was tested.
        finished = active[done]
        theta[finished], value[finished] = here[done], f[done]
        converged[finished] = projected[done] <= ACCEPTED_GRADIENT
        damping = np.where(
            better, np.where(damping < 1e-7, 0.0, damping / 10), np.maximum(damping * 10, 1e-4)
        )
        keep, take = ~done, better[:, None]
        here, f = np.where(take, there, here), np.where(better, f_there, f)
        g, h = np.where(take, g_there, g), np.where(take[:, :, None], h_there, h)
        if done.any():
            active, low, high, damping = active[keep], low[keep], high[keep], damping[keep]
            here, f, g, h = here[keep], f[keep], g[keep], h[keep]
            minus, tie, plus = minus[keep], tie[keep], plus[keep]
            centre, pull = centre[keep], pull[keep]
        if not len(active):
            break
    theta[active], value[active] = here, f
    return theta, value, converged


def _penalty_of(problem: Problem, fit_of: IntArray) -> tuple[FloatArray, FloatArray]:
    """Centre and pull of each row; without a penalty the pull is nought."""
    if problem.centre is None or problem.pull is None:
        return np.zeros((len(fit_of), 3)), np.zeros((len(fit_of), 3, 3))
    return problem.centre[fit_of], problem.pull[fit_of]


def _penalised(
    derivative: tuple[FloatArray, FloatArray, FloatArray],
    theta: FloatArray,
    centre: FloatArray,
    pull: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Loss, gradient and Hessian with the penalty (θ − centre)ᵀP(θ − centre) added."""
    value, gradient, hessian = derivative
    away = theta - centre
    slope = np.einsum("pij,pj->pi", pull, away)
    return value + (slope * away).sum(axis=1), gradient + 2 * slope, hessian + 2 * pull


def _newton_step(
    slope: FloatArray,
    h: FloatArray,
    held: BoolArray,
    damping: FloatArray,
) -> FloatArray:
    both_free = ~held[:, :, None] & ~held[:, None, :]
    curvature, axes = np.linalg.eigh(np.where(both_free, h, 0.0) + held[:, :, None] * np.eye(3))
    size = np.maximum(np.abs(curvature), 1e-9) + damping[:, None]
    along = np.einsum("pji,pj->pi", axes, slope) / size
    return np.asarray(-np.einsum("pij,pj->pi", axes, along))


def derivatives(
    problem: Problem,
    theta: FloatArray,
    weight_minus: FloatArray,
    weight_tie: FloatArray,
    weight_plus: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Loss (rows,), gradient (rows, 3) and Hessian (rows, 3, 3) in (β, η₀, γ).

    DRPS of a pattern is w·m² − 2am + w·p² − 2cp + a + c with m = p(−1), p = p(+1) and weights a, c of gold
    −1, +1 out of w; the expected absolute error is linear in m and p. Both need no more than the derivatives
    of m and p in (u, η).
    """
    m, z, p = _probabilities(theta, problem.s, problem.t)
    w = weight_minus + weight_tie + weight_plus
    d = p - m
    losses = label_losses(problem.loss, m, z, p)
    weights = (weight_minus, weight_tie, weight_plus)
    value = np.zeros(len(theta))
    for loss, weight in zip(losses, weights, strict=True):
        value += np.einsum("pk,pk->p", loss, weight)
    spread = 1 - z - d * d  # ∂d/∂u
    if problem.loss == "log":
        g_u, g_eta = w * d - (weight_plus - weight_minus), w * z - weight_tie
        h_uu, h_cross, h_eta = w * spread, -w * d * z, w * z * (1 - z)
    else:
        if problem.loss == "drps":
            by_m, by_p, double = 2 * (w * m - weight_minus), 2 * (w * p - weight_plus), 2 * w
        else:
            by_m, by_p, double = w - 2 * weight_minus, w - 2 * weight_plus, 0.0 * w
        m_u, p_u = -m * (1 + d), p * (1 - d)
        am, bp = by_m * m, by_p * p
        g_u = by_m * m_u + by_p * p_u
        pull = am + bp
        g_eta = -z * pull
        h_uu = double * (m_u * m_u + p_u * p_u) + am * ((1 + d) ** 2 - spread) + bp * ((1 - d) ** 2 - spread)
        h_cross = z * (am * (1 + 2 * d) - bp * (1 - 2 * d) - double * (m_u * m + p_u * p))
        h_eta = z * (double * z * (m * m + p * p) + pull * (2 * z - 1))
    s, t, one = problem.s, problem.t, np.ones_like(problem.s)
    by_u = g_u @ s
    by_eta = g_eta @ np.stack([one, t], axis=1)
    gradient = np.column_stack([by_u, by_eta])
    cross = h_cross @ np.stack([s, s * t], axis=1)
    own = h_eta @ np.stack([one, t, t * t], axis=1)
    hessian = np.empty((len(theta), 3, 3))
    hessian[:, 0, 0] = h_uu @ (s * s)
    hessian[:, 0, 1] = hessian[:, 1, 0] = cross[:, 0]
    hessian[:, 0, 2] = hessian[:, 2, 0] = cross[:, 1]
    hessian[:, 1, 1] = own[:, 0]
    hessian[:, 1, 2] = hessian[:, 2, 1] = own[:, 1]
    hessian[:, 2, 2] = own[:, 2]
    return value, gradient, hessian
