"""Intervals of functions of sums: every unit is left out once, all at the same time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .estimate import Estimate
from .intervals import check_level, t_quantile

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Scale = Literal["plain", "log", "fisher"]
ROUNDING = 1e-12
"""A variance below this share of the mean square is rounding noise where the exact one is 0."""


def leave_one_out(code: IntArray, units: int, *columns: FloatArray) -> list[FloatArray]:
    """Sums of columns over all rows, then over all but those of each unit; (1 + units,) each.

    code : (rows,) unit of each row, 0 … units − 1; a unit without a row leaves the sums as they
        are.
    """
    sums = []
    for column in columns:
        part = np.bincount(code, weights=column, minlength=units).astype(np.float64)
        total = part.sum()
        sums.append(np.concatenate([[total], total - part]))
    return sums


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Moments:
    """Moments of two columns: first of all rows, then without each unit; (1 + units,) each.

    Variances and the covariance are those of a population (divided by n), 0 where rounding alone
    is left.
    """

    n: FloatArray
    mean_x: FloatArray
    mean_y: FloatArray
    var_x: FloatArray
    var_y: FloatArray
    cov: FloatArray

    @property
    def correlation(self) -> FloatArray:
        """Pearson r; NaN where a column is constant."""
        with np.errstate(invalid="ignore", divide="ignore"):
            r = self.cov / np.sqrt(self.var_x * self.var_y)
        return np.clip(r, -1.0, 1.0)

    @property
    def concordance(self) -> FloatArray:
        """κ_w = 2·cov/(var_x + var_y + (mean_x − mean_y)²), κ with quadratic weights; NaN where
        both columns are one constant.

        Source: Lin (1989); Fleiss & Cohen (1973) for the equality with κ on levels.
        """
        apart = self.var_x + self.var_y + (self.mean_x - self.mean_y) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(2 * self.cov / apart)


def moments(x: FloatArray, y: FloatArray, code: IntArray, units: int) -> Moments:
    """`Moments` of rows whose x and y are both known.  code : unit of each row."""
    centre_x = float(x.mean()) if len(x) else 0.0
    centre_y = float(y.mean()) if len(y) else 0.0
    # Sums of centred values: squares of large scores would swallow their differences.
    x, y = x - centre_x, y - centre_y
    n, s_x, s_y, s_xx, s_yy, s_xy = leave_one_out(
        code, units, np.ones(len(x)), x, y, x * x, y * y, x * y
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_x, mean_y = s_x / n, s_y / n
        squares = (s_xx / n, s_yy / n)
        var_x, var_y = squares[0] - mean_x**2, squares[1] - mean_y**2
        cov = s_xy / n - mean_x * mean_y
    # Measured by all rows, or a unit that holds all the spread would seem to leave some behind; and
    # by what is lost where a constant is taken off its own mean.
    noise_x, noise_y = (
        ROUNDING * float(square[0]) + (1e-15 * centre) ** 2 if len(x) else 0.0
        for square, centre in zip(squares, (centre_x, centre_y), strict=True)
    )
    return Moments(
        n=n,
        mean_x=mean_x + centre_x,
        mean_y=mean_y + centre_y,
        var_x=np.where(var_x > noise_x, var_x, 0.0),
        var_y=np.where(var_y > noise_y, var_y, 0.0),
        cov=cov,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairMoments:
    """Moments of two raters on the `n` answers of both, of which some units only have one.

    own : (g,) the units that have one, out of `units`; the moments leave out these alone.
    """

    moments: Moments
    own: IntArray
    units: int
    n: int

    def of_all(self, values: FloatArray) -> FloatArray:
        """A statistic of these moments, (1 + g,), without each of all units, (1 + units,)."""
        full = np.full(1 + self.units, values[0])
        full[1 + self.own] = values[1:]
        return full


def pair_moments(x: FloatArray, y: FloatArray, code: IntArray, units: int) -> PairMoments:
    """`moments` where few of many units may have a row."""
    own, place = np.unique(code, return_inverse=True)
    found = moments(x, y, place.reshape(-1), len(own))
    return PairMoments(moments=found, own=own, units=units, n=len(x))


def jackknife_interval(
    values: FloatArray,
    *,
    scale: Scale = "plain",
    least_error: float = 0.0,
    units: int | None = None,
    level: float = 0.95,
) -> Estimate:
    """A statistic of all units with an interval from leaving each out.

    With g the scale (x, ln x or Fisher's atanh x), θ the statistic of all G units and θ₋ᵢ that
    without unit i: SE² = (G − 1)/G·Σ(g(θ₋ᵢ) − mean)², at least (least_error)²/G, and the interval
    is g⁻¹(g(θ) ± t(G − 1)·SE). It is centred on the estimate, so that it always holds it.

    values : (1 + G,) the statistic of all units, then without each.
    scale : on which the statistic is nearly normal. On Fisher's a value nearer to ±1 than 1/(2G)
        counts as that near: G units that agree perfectly do not show that all do.
    least_error : the least SE, in 1/√G on the scale; 0 for none.
    units : units that have a row, where `values` has others too, which change nothing.

    The n is G. Ends are NaN with fewer than 3 units, or where leaving one out makes the statistic
    undefined: then one unit carries it alone. Source: Efron & Stein (1981); centred, the floor and
    the bound ours.
    """
    check_level(level)
    value, count = float(values[0]), len(values) - 1 if units is None else units
    estimate = Estimate(value, n=count, level=level)
    if count < 3 or math.isnan(value):
        return estimate
    seen = values
    if scale == "fisher":
        bound = 1 - 1 / (2 * count)
        seen = np.arctanh(np.clip(values, -bound, bound))
    elif scale == "log":
        with np.errstate(invalid="ignore", divide="ignore"):
            seen = np.log(values)
    if not np.isfinite(seen).all():
        return estimate
    centre, left = float(seen[0]), seen[1:]
    # Units without a row repeat the centre; the mean is that of the others.
    mean = centre + float((left - centre).sum()) / count
    squares = float(((left - mean) ** 2).sum()) - (len(left) - count) * (centre - mean) ** 2
    variance = (count - 1) / count * max(squares, 0.0)
    error = math.sqrt(max(variance, least_error**2 / count))
    half = t_quantile(count - 1, level) * error
    low, high = centre - half, centre + half
    if scale == "fisher":
        low, high = math.tanh(low), math.tanh(high)
    elif scale == "log":
        low, high = math.exp(low), math.exp(high)
    return Estimate(value, min(low, value), max(high, value), n=count, level=level)
