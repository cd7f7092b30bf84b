"""The solver of position-aware BTD: four parameters in a box, many calibration sets at once."""

from __future__ import annotations

import numpy as np

from core.aggregation.box_newton import minimise
from core.aggregation.btd import Bounds, BTDFits, features
from core.aggregation.btd_solver import FIXED_START
from core.counts import NO_GOLD, FloatArray, IntArray, VoteCells
from core.splits import CalibrationSets

DELTA_BOUNDS = (-10.0, 10.0)
START_DELTAS = (0.0, -1.5, 1.5)
PRECISION = 0.1
"""Weight of δ²/m in the loss, m comparisons fitted on: a weak prior that there is no bias (ours)."""


def chances_of(theta: FloatArray, s: FloatArray, t: FloatArray, order: FloatArray) -> FloatArray:
    """(fits, 4) → (fits, rows, 3)."""
    u = theta[:, :1] * s + theta[:, 3:] * order
    eta = theta[:, 1:2] + theta[:, 2:3] * t
    weight = np.stack([-u, eta, u], axis=-1)
    weight = np.exp(weight - weight.max(axis=-1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def plain(base: BTDFits) -> FloatArray:
    """Plain BTD's parameters with δ = 0, (fits, 4)."""
    return np.column_stack([base.theta, np.zeros(len(base.theta))])


def order_score(sets: CalibrationSets, order: FloatArray, base: BTDFits) -> FloatArray:
    """−Σg/√Σ_i g_i² over the labelled comparisons of each set, g = ∂DRPS/∂δ at plain BTD's optimum.

    g_i is the sum over the comparisons of an item, which are one observation.
    """
    cells = sets.cells
    s, t = features(cells, alpha=base.alpha, kappa=base.kappa)
    m, _, p = np.moveaxis(chances_of(plain(base), s, t, order), -1, 0)
    d = p - m
    slope = 2 * (p - (cells.gold == 1)) * p * (1 - d) - 2 * (m - (cells.gold == -1)) * m * (1 + d)
    g = np.where(cells.gold == NO_GOLD, 0.0, slope * order)
    code = sets.item_of_set
    by_item = np.bincount(code, weights=g[sets.set, sets.cell])
    of_set = np.empty(len(by_item), dtype=np.int64)
    of_set[code] = sets.set
    total, squares = (np.bincount(of_set, weights=part, minlength=len(g)) for part in (by_item, by_item**2))
    spread = np.sqrt(squares)
    # 0 − …, so that what is exactly 0 is no -0.
    return np.asarray((0.0 - total) / np.where(spread > 0, spread, 1.0))


def fit_orders(
    cells: VoteCells, order: FloatArray, weights: FloatArray, base: BTDFits, bounds: Bounds | None
) -> FloatArray:
    """(β, η₀, γ, δ) of many calibration sets, starting from plain BTD's fits: (sets, 4)."""
    bounds = bounds or Bounds()
    s, t = features(cells, alpha=base.alpha, kappa=base.kappa)
    fits = len(weights)
    weights = np.where(cells.gold == NO_GOLD, 0.0, weights)
    ridge = PRECISION / weights.sum(axis=1)
    weights = weights / weights.sum(axis=1, keepdims=True)
    by_label = np.stack([weights * (cells.gold == y) for y in (-1, 0, 1)])
    box = np.array([bounds.beta, np.log(bounds.nu), bounds.gamma, DELTA_BOUNDS])
    low, high = np.tile(box[:, 0], (fits, 1)), np.tile(box[:, 1], (fits, 1))
    # What plain BTD cannot identify this fit cannot either; δ needs a comparison out of balance.
    for parameter, fixed in ((0, base.beta_fixed), (2, base.gamma_fixed)):
        low[fixed, parameter] = high[fixed, parameter] = base.theta[fixed, parameter]
    balanced = ~((weights > 0) & (order != 0)).any(axis=1)
    low[balanced, 3] = high[balanced, 3] = 0.0
    of_base = [np.column_stack([base.theta, np.full(fits, delta)]) for delta in START_DELTAS]
    start = np.stack([*of_base, np.tile([*FIXED_START, 0.0], (fits, 1))])
    design = np.stack([s, np.ones_like(s), t, order])

    def derivatives(theta: FloatArray, row: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        value, gradient, hessian = _derivatives(theta, design, by_label[:, row])
        value += ridge[row] * theta[:, 3] ** 2
        gradient[:, 3] += 2 * ridge[row] * theta[:, 3]
        hessian[:, 3, 3] += 2 * ridge[row]
        return value, gradient, hessian

    theta, _ = minimise(derivatives, start, low, high)
    theta[balanced] = plain(base)[balanced]
    return theta


def _derivatives(
    theta: FloatArray, design: FloatArray, by_label: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean DRPS, its gradient and Hessian; design rows are s, 1, t and the order."""
    s, _, t, order = design
    value, g_u, g_eta, h_uu, h_cross, h_eta = drps_in_u_and_eta(chances_of(theta, s, t, order), by_label)
    # u moves with β and δ, η with η₀ and γ.
    moves_u = np.array([True, False, False, True])
    gradient = np.where(moves_u, g_u @ design.T, g_eta @ design.T)
    products = (design[:, None] * design[None]).reshape(16, -1).T
    by_pair = [(h @ products).reshape(-1, 4, 4) for h in (h_uu, h_cross, h_eta)]
    both, neither = moves_u[:, None] & moves_u, ~moves_u[:, None] & ~moves_u
    return value, gradient, np.where(both, by_pair[0], np.where(neither, by_pair[2], by_pair[1]))


def drps_in_u_and_eta(chances: FloatArray, by_label: FloatArray) -> tuple[FloatArray, ...]:
    """Mean DRPS of each set and, row by row, its derivatives: by u, by η, by u², by u and η, by η².

    DRPS is w·m² − 2am + w·p² − 2cp + a + c with m = p(−1), p = p(+1), and shares a, c of gold −1, +1 in w.
    chances : (sets, rows, 3).  by_label : (3, sets, rows), share of a set's comparisons by gold.
    """
    m, z, p = chances[..., 0], chances[..., 1], chances[..., 2]
    a, _, c = by_label
    w = by_label.sum(axis=0)
    value = (w * (m * m + p * p) - 2 * a * m - 2 * c * p + a + c).sum(axis=1)
    d = p - m
    spread = 1 - z - d * d
    am, cp = 2 * (w * m - a) * m, 2 * (w * p - c) * p
    m_u, p_u = -m * (1 + d), p * (1 - d)
    g_u, g_eta = cp * (1 - d) - am * (1 + d), -z * (am + cp)
    h_uu = 2 * w * (m_u * m_u + p_u * p_u) + am * ((1 + d) ** 2 - spread) + cp * ((1 - d) ** 2 - spread)
    h_cross = z * (am * (1 + 2 * d) - cp * (1 - 2 * d) - 2 * w * (m_u * m + p_u * p))
    h_eta = z * (2 * w * z * (m * m + p * p) + (am + cp) * (2 * z - 1))
    return value, g_u, g_eta, h_uu, h_cross, h_eta
