"""The model of BTD and its loss, u = Xθ and η = Zθ, for many fits at once, and the Newton steps
that fit it.

Every form of BTD is this model with other columns: the vote margin, the order of the votes, or
margins of weighted votes in u; 1 and the tie share in η. Source: [BTD] §4. `minimise` takes other
smooth functions too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Literal

import numpy as np

from ...errors import AppellateError
from ...records import BoolArray, FloatArray, IntArray

Loss = Literal["drps", "log", "mae"]
LOSSES: tuple[Loss, ...] = ("drps", "log", "mae")

FIXED_START = (1.2, 2.5, 1.0)
"""Always among the starts: centre of what real votes give (docs/methods.md §9)."""

GRID_STARTS = 4
BLOCK = 500_000
"""Rows × patterns worked on at once, which bounds the memory."""

_GRID = (
    (0.0, 0.25, 0.6, 1.0, 1.5, 2.2, 3.3, 5.0),
    (-9.0, -6.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.5, 7.0),
    (-10.0, -5.0, -2.5, -1.0, 0.0, 0.5, 1.0, 1.5, 2.5, 4.0, 6.0, 10.0),
)


def label_probabilities(
    u: FloatArray, eta: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """p(−1) = e⁻ᵘ/Z, p(0) = e^η/Z, p(+1) = eᵘ/Z with Z = eᵘ + e⁻ᵘ + e^η, elementwise.

    Negating u exchanges p(−1) and p(+1) exactly. Source: [BTD] §4.
    """
    top = np.maximum(np.abs(u), eta)
    minus, tie, plus = np.exp(-u - top), np.exp(eta - top), np.exp(u - top)
    scale = 1.0 / ((minus + plus) + tie)
    minus *= scale
    tie *= scale
    plus *= scale
    return minus, tie, plus


def probabilities(theta: FloatArray, s: FloatArray, t: FloatArray) -> FloatArray:
    """Probabilities of the labels -1, 0, +1 in each row, with u = β·s and η = η₀ + γ·t.

    theta : (…, 3) as (β, η₀, γ), natural-log units.  s, t : (rows,). Returns (…, rows, 3), rows
        summing to 1.
    """
    u, eta = theta[..., 0, None] * s, theta[..., 1, None] + theta[..., 2, None] * t
    return np.stack(label_probabilities(u, eta), axis=-1)


def label_losses(
    loss: Loss, minus: FloatArray, tie: FloatArray, plus: FloatArray
) -> tuple[FloatArray, ...]:
    """Loss of a forecast where gold is -1, 0, +1."""
    if loss == "drps":
        both = minus**2 + plus**2
        return both + 1 - 2 * minus, both, both + 1 - 2 * plus
    if loss == "mae":
        return tie + 2 * plus, minus + plus, tie + 2 * minus
    tiny = np.finfo(np.float64).tiny
    return tuple(-np.log(np.maximum(p, tiny)) for p in (minus, tie, plus))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Objective:
    """Weighted mean loss of several fits, plus a quadratic penalty (θ − centre)ᵀ·precision·(θ −
    centre).

    x, y : columns of X and of Z, each (parameters, patterns), or (parameters, fits, patterns) where
        every fit
        has patterns of its own.  in_u, in_eta : places in θ of their parameters, together 0 … p −
            1.
    weight : (3, fits, patterns), share of a fit's comparisons by gold -1, 0, +1.
    centre, precision : (fits, p) and (fits, p, p), positive semidefinite; None for no penalty.
    """

    x: FloatArray
    y: FloatArray
    in_u: tuple[int, ...] = (0,)
    in_eta: tuple[int, ...] = (1, 2)
    weight: FloatArray
    loss: Loss = "drps"
    centre: FloatArray | None = None
    precision: FloatArray | None = None

    def __call__(
        self, theta: FloatArray, fit: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value (rows,), gradient (rows, p) and Hessian (rows, p, p) of the `fit` of each
        row at θ.
        """
        point = _Point(self, theta, fit)
        value, gradient, hessian = point.value(), point.gradient(), point.hessian()
        if self.centre is None or self.precision is None:
            return value, gradient, hessian
        away, precision = theta - self.centre[fit], self.precision[fit]
        slope = np.einsum("pij,pj->pi", precision, away)
        return value + (slope * away).sum(axis=1), gradient + 2 * slope, hessian + 2 * precision


class _Point:
    """Forecasts m, z, p of -1, 0, +1 at θ, (rows, patterns) each, and the loss with its derivatives
    there.

    DRPS of a pattern is w·m² − 2am + w·p² − 2cp + a + c with weights a, c of gold −1, +1 out of w;
    the expected absolute error is linear in m and p. With d = p − m they move with u as ∂m = −m(1 +
    d) and ∂p = p(1 − d), and with η as ∂m = −mz and ∂p = −pz; ∂d/∂u = 1 − z − d².
    """

    def __init__(self, objective: Objective, theta: FloatArray, fit: IntArray) -> None:
        own = objective.x.ndim == 3
        self.x, self.y = (part[:, fit] if own else part for part in (objective.x, objective.y))
        self.in_u, self.in_eta, self.loss = (
            list(objective.in_u),
            list(objective.in_eta),
            objective.loss,
        )
        self.weight = objective.weight[0][fit], objective.weight[1][fit], objective.weight[2][fit]
        u, eta = _linear(theta[:, self.in_u], self.x), _linear(theta[:, self.in_eta], self.y)
        self.m, self.z, self.p = label_probabilities(u, eta)
        self.d, self.w = self.p - self.m, self.weight[0] + self.weight[1] + self.weight[2]
        self.m_u, self.p_u = -self.m * (1 + self.d), self.p * (1 - self.d)
        if self.loss == "drps":
            self.by_m, self.by_p = (
                2 * (self.w * self.m - self.weight[0]),
                2 * (self.w * self.p - self.weight[2]),
            )
        else:
            self.by_m, self.by_p = self.w - 2 * self.weight[0], self.w - 2 * self.weight[2]
        self.am, self.cp = self.by_m * self.m, self.by_p * self.p

    def value(self) -> FloatArray:
        """Σ w_y·ℓ_y over patterns and labels y."""
        value = np.zeros(len(self.m))
        for loss, weight in zip(
            label_losses(self.loss, self.m, self.z, self.p), self.weight, strict=True
        ):
            value += np.einsum("pk,pk->p", loss, weight)
        return value

    def gradient(self) -> FloatArray:
        """Xᵀ∂u and Zᵀ∂η, (rows, p)."""
        if self.loss == "log":
            by_u = self.w * self.d - (self.weight[2] - self.weight[0])
            by_eta = self.w * self.z - self.weight[1]
        else:
            by_u = self.by_m * self.m_u + self.by_p * self.p_u
            by_eta = -self.z * (self.am + self.cp)
        gradient = np.empty((len(self.m), len(self.in_u) + len(self.in_eta)))
        gradient[:, self.in_u], gradient[:, self.in_eta] = (
            _sums(by_u, self.x),
            _sums(by_eta, self.y),
        )
        return gradient

    def hessian(self) -> FloatArray:
        """Xᵀ∂uu·X, Xᵀ∂uη·Z and Zᵀ∂ηη·Z, (rows, p, p)."""
        sides = {"u": self.x, "eta": self.y}
        size = len(self.in_u) + len(self.in_eta)
        hessian = np.empty((len(self.m), size, size))
        places = _places(tuple(self.in_u), tuple(self.in_eta))
        for weight, (left, right, i, j, row, column) in zip(self._curvature(), places, strict=True):
            sums = _sums(weight, sides[left][i] * sides[right][j])
            hessian[:, row, column] = hessian[:, column, row] = sums
        return hessian

    def _curvature(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """∂²/∂u², ∂²/∂u∂η and ∂²/∂η² of each pattern's loss."""
        m, z, p, d, w = self.m, self.z, self.p, self.d, self.w
        spread = 1 - z - d * d
        if self.loss == "log":
            return w * spread, -w * d * z, w * z * (1 - z)
        am, cp, bend = self.am, self.cp, 2 * w if self.loss == "drps" else 0.0 * w
        by_uu = (
            bend * (self.m_u**2 + self.p_u**2)
            + am * ((1 + d) ** 2 - spread)
            + cp * ((1 - d) ** 2 - spread)
        )
        by_cross = z * (am * (1 + 2 * d) - cp * (1 - 2 * d) - bend * (self.m_u * m + self.p_u * p))
        by_eta = z * (bend * z * (m * m + p * p) + (am + cp) * (2 * z - 1))
        return by_uu, by_cross, by_eta


@cache
def _places(
    in_u: tuple[int, ...], in_eta: tuple[int, ...]
) -> tuple[tuple[str, str, IntArray, IntArray, IntArray, IntArray], ...]:
    """Of each block of the Hessian, uu, uη and ηη: the sides of its products, their columns i and j
    there, and the places of these in θ.
    """
    u, eta = list(enumerate(in_u)), list(enumerate(in_eta))
    blocks = []
    for left, right, pairs in (
        ("u", "u", combinations_with_replacement(u, 2)),
        ("u", "eta", product(u, eta)),
        ("eta", "eta", combinations_with_replacement(eta, 2)),
    ):
        (i, row), (j, column) = (np.array(part).T for part in zip(*pairs, strict=True))
        blocks.append((left, right, i, j, row, column))
    return tuple(blocks)


def _linear(theta: FloatArray, columns: FloatArray) -> FloatArray:
    """Σ θ_i·column_i, (rows, patterns); term by term, as a matrix product rounds otherwise where it
    fuses.
    """
    total = theta[:, 0, None] * columns[0]
    for i in range(1, len(columns)):
        total = total + theta[:, i, None] * columns[i]
    return np.asarray(total)


def _sums(weight: FloatArray, columns: FloatArray) -> FloatArray:
    """Σ over patterns of weight·column for each column, (rows, columns)."""
    if columns.ndim == 2:
        return np.asarray(weight @ np.ascontiguousarray(columns.T))
    return np.asarray(np.einsum("rk,crk->rc", weight, columns))


def solve(
    objective: Objective, low: FloatArray, high: FloatArray, *, starts: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Fits of plain BTD, with columns s and (1, t), in their boxes: θ (fits, 3), value, is it a
    minimum.

    low, high : (fits, 3), box of (β, η₀, γ); equal where a parameter is fixed.
    starts : (fits, k, 3), where to begin instead of scanning a grid over the box.
    """
    fit, start = _starts(objective, low, high, starts)
    rows = max(1, BLOCK // objective.weight.shape[2])
    return best_ends(objective, start, fit, low, high, near=0.0, rows=rows)


def _starts(
    objective: Objective, low: FloatArray, high: FloatArray, given: FloatArray | None
) -> tuple[IntArray, FloatArray]:
    """Fit of each start, and θ: the fixed one, the penalty's centre, and those given or of the
    grid.
    """
    fits = np.arange(len(low))
    if given is None:
        fit, start = _grid_starts(objective, low, high)
    else:
        fit, start = np.repeat(fits, given.shape[1]), given.reshape(-1, 3)
    if objective.centre is not None:
        fit, start = np.concatenate([fits, fit]), np.concatenate([objective.centre, start])
    fit = np.concatenate([fits, fit])
    start = np.concatenate([np.tile(FIXED_START, (len(fits), 1)), start])
    # Where t is constant only η₀ + γ·t matters: move the start's γ·t into η₀ before γ is fixed.
    fixed = low[fit, 2] == high[fit, 2]
    constant_t = objective.y[1][(objective.weight.sum(axis=0) > 0).argmax(axis=1)][fit]
    start[:, 1] += np.where(fixed, (start[:, 2] - low[fit, 2]) * constant_t, 0.0)
    return fit, np.clip(start, low[fit], high[fit])


def _grid_starts(
    objective: Objective, low: FloatArray, high: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Lowest local minima of the objective on a grid over the box.

    β is profiled out by a parabola through its best three values, and the lowest local minima over
    (η₀, γ) become starts. Without the profile a coarse β hides the shallow basins that a bound on ν
    leaves in γ (ours; checked against sixty random starts on a thousand sets).
    """
    least, most, fits = low.min(axis=0), high.max(axis=0), len(low)
    betas, etas, gammas = (
        np.unique(
            np.concatenate([np.clip(values, least[i], most[i]), np.linspace(least[i], most[i], 3)])
        )
        for i, values in enumerate(_GRID)
    )
    grid = np.stack(np.meshgrid(betas, etas, gammas, indexing="ij"), axis=-1).reshape(-1, 3)
    scanned = _scan(objective, grid).reshape(len(betas), len(etas), len(gammas), fits)
    beta, value = _profile(betas, scanned)
    lowest = _lowest_neighbour(_lowest_neighbour(value, 0), 1)
    value = np.where(value <= lowest, value, np.inf).reshape(-1, fits)
    count = min(GRID_STARTS, len(value))
    chosen = np.argpartition(value, count - 1, axis=0)[:count]
    rank, fit = np.nonzero(np.isfinite(np.take_along_axis(value, chosen, axis=0)))
    node = chosen[rank, fit]
    eta, gamma = etas[node // len(gammas)], gammas[node % len(gammas)]
    return fit, np.column_stack([beta.reshape(-1, fits)[node, fit], eta, gamma])


def _scan(objective: Objective, grid: FloatArray) -> FloatArray:
    """Loss and penalty of every fit at every point: (points, fits)."""
    s, t = objective.x[0], objective.y[1]
    value = np.empty((len(grid), objective.weight.shape[1]))
    rows = max(1, BLOCK // len(s))
    for i in range(0, len(grid), rows):
        beta, eta0, gamma = grid[i : i + rows, :, None].swapaxes(0, 1)
        losses = label_losses(objective.loss, *label_probabilities(beta * s, eta0 + gamma * t))
        terms = [loss @ weight.T for loss, weight in zip(losses, objective.weight, strict=True)]
        value[i : i + rows] = terms[0] + terms[1] + terms[2]
    if objective.centre is not None and objective.precision is not None:
        squares = (grid[:, :, None] * grid[:, None, :]).reshape(-1, 9)
        towards = np.einsum("fij,fj->fi", objective.precision, objective.centre)
        value += squares @ objective.precision.reshape(-1, 9).T - 2 * grid @ towards.T
        value += np.einsum("fi,fi->f", towards, objective.centre)
    return value


def _profile(beta: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least value over the first axis, and where, by a parabola through the best node and its
    neighbours.
    """
    if len(beta) < 3:  # β is fixed in every fit
        return np.broadcast_to(beta[0], value.shape[1:]), value[0]
    lowest = value.argmin(axis=0)
    middle = np.clip(lowest, 1, len(beta) - 2)
    f0, f1, f2 = (
        np.take_along_axis(value, (middle + step)[None], axis=0)[0] for step in (-1, 0, 1)
    )
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


Derivatives = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray, FloatArray]]
"""(θ (rows, p), problem of each row) → value (rows,), gradient (rows, p), Hessian (rows, p, p)."""

MAX_STEPS = 300
GRADIENT_TOLERANCE = 1e-9
ACCEPTED_GRADIENT = 1e-6
"""A point that rounding keeps from improving counts as a minimum if its projected gradient is below
this.
"""
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
            f"{np.count_nonzero(~converged)} of {problems} fits did not converge; use more "
            "labelled comparisons."
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
    """Least end of each problem over its starts: θ (problems, p), value and whether it is a
    minimum.

    start : (starts, p).  problem : (starts,), the problem that each start is of.
    rows : starts worked on at once, which bounds the memory; None for all.
    """
    step = rows or len(start)
    blocks = [slice(i, i + step) for i in range(0, len(start), step)]
    ends = [
        _descend(derivatives, start[block], problem[block], low, high, near) for block in blocks
    ]
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

    A parameter that its gradient keeps at a bound is left out of the Newton system (active set),
    negative curvature is reflected, a step is taken only if the value falls, and damping grows
    tenfold after one that is refused, which turns the step towards the gradient. Those that have
    converged leave the batch.
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
    curvature, axes = np.linalg.eigh(
        np.where(both_free, h, 0.0) + fixed[:, :, None] * np.eye(slope.shape[1])
    )
    size = np.maximum(np.abs(curvature), 1e-9) + damping[:, None]
    along = np.einsum("rji,rj->ri", axes, slope) / size
    return np.asarray(-np.einsum("rij,rj->ri", axes, along))
