"""The solver of the ordinal fit: K + 1 parameters in a box, many calibration sets at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.aggregation.box_newton import minimise
from core.counts import FloatArray, IntArray

GAP_PRECISION = 1.0
"""Weight of Σ(gap − mean gap)²/m in the loss, m rows fitted on: a weak prior on equal gaps (ours)."""
SLOPE_PRECISION = 0.02
"""Weight of (γ² + location²)/m: keeps what a few labels cannot tell from running to a bound (ours)."""
BOX = {"beta": (1e-3, 30.0), "gamma": (-3.0, 3.0), "location": (-30.0, 30.0), "gap": (0.0, 30.0)}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sets:
    """Calibration sets side by side, padded with rows of weight 0: all (sets, rows), gold as a level."""

    s: FloatArray
    t: FloatArray
    gold: IntArray
    weight: FloatArray
    k: int
    symmetric: bool

    @classmethod
    def of(
        cls,
        s: FloatArray,
        t: FloatArray,
        gold: IntArray,
        chosen: Sequence[IntArray],
        k: int,
        *,
        symmetric: bool,
    ) -> Sets:
        """Rows of each set out of one table, equal rows of a set collapsed to one."""
        pattern, place = np.unique(np.column_stack([s, t, gold]).round(12), axis=0, return_inverse=True)
        parts = [np.unique(place[rows], return_counts=True) for rows in chosen]
        width = max(len(code) for code, _ in parts)
        row, weight = np.zeros((len(parts), width), dtype=np.int64), np.zeros((len(parts), width))
        for i, (code, times) in enumerate(parts):
            row[i] = code[0]
            row[i, : len(code)], weight[i, : len(code)] = code, times
        s, t, level = pattern[row].transpose(2, 0, 1)
        return cls(s=s, t=t, gold=level.astype(np.int64), weight=weight, k=k, symmetric=symmetric)


def chances_below(theta: FloatArray, s: FloatArray, t: FloatArray) -> FloatArray:
    """P(level ≤ k) = σ(location + τ_k·e^{γ·t} − β·s), (rows, K − 1), from (β, γ, location, gaps)."""
    from scipy.special import expit

    below: FloatArray = expit(_log_odds(theta[None], _design(len(theta) - 3), s[None], t[None])[0])
    return below


def _design(gaps: int) -> FloatArray:
    """τ = design @ gaps: (gaps + 1, gaps)."""
    return np.tri(gaps + 1, gaps, -1) - 0.5


def _log_odds(theta: FloatArray, tau: FloatArray, s: FloatArray, t: FloatArray) -> FloatArray:
    spread = np.exp(theta[:, 1, None] * t)
    lean = theta[:, 2, None] - theta[:, :1] * s
    return np.asarray(lean[:, :, None] + (theta[:, 3:] @ tau.T)[:, None, :] * spread[:, :, None])


def fit_sets(sets: Sets) -> FloatArray:
    """(β, γ, location, K − 2 gaps) of least mean DRPS plus the weak priors, (sets, K + 1).

    Symmetric sets have location 0 and gaps that read the same from both ends. Where a set's t are all equal
    γ is not identified and is 0; where all its s are 0, β is 1.
    """
    # Columns are the free gaps: each its own, or with its mirror image.
    mirror = np.eye(sets.k - 2)
    if sets.symmetric:
        mirror = np.minimum(mirror + mirror[::-1], 1)[:, : (sets.k - 1) // 2]
    tau = _design(sets.k - 2) @ mirror
    gaps = mirror.shape[1]
    n, p = len(sets.s), gaps + 3
    total = sets.weight.sum(axis=1, keepdims=True)
    weight = sets.weight / total
    said = (sets.gold[:, :, None] <= np.arange(sets.k - 1)).astype(np.float64)

    names = ["beta", "gamma", "location"] + ["gap"] * gaps
    low, high = (np.tile([BOX[name][end] for name in names], (n, 1)) for end in (0, 1))
    used = sets.weight > 0
    steady = (np.where(used, sets.t, np.inf).min(axis=1), np.where(used, sets.t, -np.inf).max(axis=1))
    fixed = (steady[1] - steady[0] <= 1e-12) | (gaps == 0)
    low[fixed, 1] = high[fixed, 1] = 0.0
    flat = ~(used & (np.abs(sets.s) > 1e-12)).any(axis=1)
    low[flat, 0] = high[flat, 0] = 1.0
    if sets.symmetric:
        low[:, 2] = high[:, 2] = 0.0

    # The thresholds of gold alone, smoothed, are a start; so are even ones with a firm lean.
    share = ((weight[:, :, None] * said).sum(axis=1) * total + 0.5) / (total + 1)
    marginal = np.log(share / (1 - share))
    alone = np.column_stack(
        [np.ones(n), np.zeros(n), (marginal[:, 0] + marginal[:, -1]) / 2, np.diff(marginal, axis=1)[:, :gaps]]
    )
    even = np.tile([3.0, 0.5, 0.0] + [6 / (sets.k - 1)] * gaps, (n, 1))
    firm = alone.copy()
    firm[:, 0], firm[:, 1] = 4.0, 0.5

    centring = np.eye(gaps) - (1 / gaps if gaps else 0.0)
    prior = np.zeros((p, p))
    prior[3:, 3:] = GAP_PRECISION * centring
    prior[1, 1] = prior[2, 2] = SLOPE_PRECISION

    def derivatives(theta: FloatArray, row: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        value, gradient, hessian = _derivatives(theta, tau, sets.s[row], sets.t[row], weight[row], said[row])
        scale = 1 / total[row, 0]
        pull = theta @ prior
        value += scale * (theta * pull).sum(axis=1)
        return value, gradient + 2 * scale[:, None] * pull, hessian + 2 * scale[:, None, None] * prior

    theta, _ = minimise(derivatives, np.stack([alone, even, firm]), low, high)
    return np.concatenate([theta[:, :3], theta[:, 3:] @ mirror.T], axis=1)


def _derivatives(
    theta: FloatArray,
    tau: FloatArray,
    s: FloatArray,
    t: FloatArray,
    weight: FloatArray,
    said: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted mean DRPS, gradient and Hessian; the log odds a are linear but for τ·e^{γt}."""
    from scipy.special import expit

    below = expit(_log_odds(theta, tau, s, t))
    slope = below * (1 - below)
    off = below - said
    g = weight[:, :, None] * 2 * off * slope
    h = weight[:, :, None] * 2 * slope * (slope + off * (1 - 2 * below))
    value = (weight[:, :, None] * off**2).sum(axis=(1, 2))

    spread = np.exp(theta[:, 1, None] * t)
    by_gamma = (theta[:, 3:] @ tau.T)[:, None, :] * (spread * t)[:, :, None]
    rows = np.broadcast_to(spread[:, :, None, None] * tau, (*below.shape, tau.shape[1]))
    plain = [np.broadcast_to(part, below.shape) for part in (-s[:, :, None], by_gamma, np.ones((1, 1, 1)))]
    jacobian = np.concatenate([np.stack(plain, axis=-1), rows], axis=-1)
    gradient = np.einsum("frc,frcp->fp", g, jacobian)
    hessian = np.einsum("frc,frcp,frcq->fpq", h, jacobian, jacobian, optimize=True)
    hessian[:, 1, 1] += (g * by_gamma * t[:, :, None]).sum(axis=(1, 2))
    cross = np.einsum("frc,fr,cj->fj", g, spread * t, tau, optimize=True)
    hessian[:, 1, 3:] += cross
    hessian[:, 3:, 1] += cross
    return value, gradient, hessian
