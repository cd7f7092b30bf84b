"""How far two columns go together, with intervals clustered by item: Pearson, Kendall, Cohen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..records import FloatArray, IntArray
from .estimate import Estimate
from .intervals import t_quantile

KENDALL_CELLS = 1 << 16
"""Up to so many pairs of levels it is counted from their table, however many responses there are.
"""
KENDALL_ROWS = 1_500
"""With more responses of many different scores Kendall τ_b has no interval: its cost grows with
their square."""


def kendall_by_item(
    x: FloatArray, y: FloatArray, item: IntArray, *, level: float = 0.95
) -> Estimate | None:
    """Kendall τ_b of two columns with its interval clustered by item; without an
    interval above 1,500 rows of more than 65,536 pairs of values.

    item : (rows,) codes 0, 1, 2 … without gaps.  The n is the number of rows. None with fewer than
    3 rows, or where a column is constant. Source: Kendall (1945).
    """
    return with_interval(kendall(x, y), item, level, fisher=True)


Influenced = tuple[float, FloatArray | None] | None
"""A coefficient and the influence of each response (None: not computed); None where it is
undefined.
"""


def _all_equal(values: FloatArray) -> bool:
    """Whether means over runs differ by rounding alone."""
    return bool(np.ptp(values.round(9)) == 0)


def pearson(x: FloatArray, y: FloatArray) -> Influenced:
    """Pearson's r; undefined with fewer than three rows or all equal."""
    if len(x) < 3 or _all_equal(x) or _all_equal(y):
        return None
    zx, zy = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = float(np.clip((zx * zy).mean(), -1, 1))
    return r, (zx * zy - r / 2 * (zx**2 + zy**2)) / len(x)


def kendall(x: FloatArray, y: FloatArray) -> Influenced:
    """Kendall τ_b and the influence of each row; undefined with fewer than three rows or
    all equal.
    """
    if len(x) < 3 or _all_equal(x) or _all_equal(y):
        return None
    # Means over runs that are equal but for rounding are ties.
    x, y = x.round(9), y.round(9)
    levels_x, place_x = np.unique(x, return_inverse=True)
    levels_y, place_y = np.unique(y, return_inverse=True)
    if len(levels_x) * len(levels_y) <= KENDALL_CELLS:
        cells = _cells(place_x, place_y, (len(levels_x), len(levels_y)))
        same, untied_x, untied_y = (values[place_x, place_y] for values in cells)
    elif len(x) > KENDALL_ROWS:
        from scipy.stats import kendalltau

        return float(kendalltau(x, y).statistic), None
    else:
        above, besides = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
        same = (above * besides).mean(axis=1)
        untied_x, untied_y = np.abs(above).mean(axis=1), np.abs(besides).mean(axis=1)
    s, ux, uy = same.mean(), untied_x.mean(), untied_y.mean()
    tau = float(s / np.sqrt(ux * uy))
    influence = 2 * (same - s) / np.sqrt(ux * uy) - tau * (
        (untied_x - ux) / ux + (untied_y - uy) / uy
    )
    return tau, influence / len(x)


def _cells(
    place_x: IntArray, place_y: IntArray, size: tuple[int, int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of a row with each pair of levels: share of rows in its order less those against it, and of
    rows with another x, and with another y.
    """
    n = len(place_x)
    counts = np.bincount(place_x * size[1] + place_y, minlength=size[0] * size[1])
    table: FloatArray = counts.reshape(size).astype(np.float64) / n

    def before(part: FloatArray) -> FloatArray:
        """Share of rows below in x and in y."""
        summed = part.cumsum(axis=0).cumsum(axis=1)
        padded = np.zeros(size)
        padded[1:, 1:] = summed[:-1, :-1]
        return padded

    turned = table[:, ::-1]
    concordant = before(table) + before(table[::-1, ::-1])[::-1, ::-1]
    discordant = before(turned)[:, ::-1] + before(turned[::-1, ::-1])[::-1, ::-1][:, ::-1]
    of_x, of_y = 1 - table.sum(axis=1), 1 - table.sum(axis=0)
    return (
        concordant - discordant,
        np.broadcast_to(of_x[:, None], size),
        np.broadcast_to(of_y, size),
    )


def kappa(x: FloatArray, y: FloatArray) -> Influenced:
    """Cohen's κ of whole numbers; undefined where chance agrees always."""
    if not len(x):
        return None
    levels, code = np.unique(np.concatenate([x, y]), return_inverse=True)
    in_x, in_y = code[: len(x)], code[len(x) :]
    share_x, share_y = (np.bincount(part, minlength=len(levels)) / len(x) for part in (in_x, in_y))
    agreed, chance = (in_x == in_y).astype(np.float64), float(share_x @ share_y)
    if len(levels) < 2 or chance >= 1:
        return None
    kappa = (float(agreed.mean()) - chance) / (1 - chance)
    moved = share_y[in_x] + share_x[in_y] - 2 * chance
    return kappa, (agreed - agreed.mean() - (1 - kappa) * moved) / (1 - chance) / len(x)


def weighted_kappa(x: FloatArray, y: FloatArray) -> Influenced:
    """1 − mean (x − y)² / its expectation for independent x and y, which quadratic weights
    come to.
    """
    if not len(x):
        return None
    mx, my = x.mean(), y.mean()
    expected = float((x**2).mean() + (y**2).mean() - 2 * mx * my)
    if np.ptp(np.concatenate([x, y])) == 0 or expected <= 0:
        return None
    apart = (x - y) ** 2
    kappa = 1 - float(apart.mean()) / expected
    moved = x**2 + y**2 - 2 * (x * my + y * mx) + 2 * mx * my - expected
    return kappa, -(apart - apart.mean() - (1 - kappa) * moved) / expected / len(x)


def with_interval(
    found: Influenced, item: IntArray, level: float, *, fisher: bool
) -> Estimate | None:
    """The coefficient with its interval, t with one less than the items degrees of freedom, by the
    influence of each item; `fisher`: on the scale of Fisher's z.
    """
    if found is None:
        return None
    value, influence = found
    items = int(item.max()) + 1
    alone = Estimate(value, n=len(item), level=level)
    if influence is None or items < 2 or (fisher and abs(value) > 1 - 1e-12):
        return alone
    error = np.sqrt(items / (items - 1) * (np.bincount(item, influence) ** 2).sum())
    half = t_quantile(items - 1, level) * float(error)
    if fisher:
        centre, half = np.arctanh(value), half / (1 - value**2)
        low, high = float(np.tanh(centre - half)), float(np.tanh(centre + half))
    elif error < 1e-12:
        # All agree: nothing moves it, and the interval would be a point.
        return alone
    else:
        low, high = max(value - half, -1.0), min(value + half, 1.0)
    return replace(alone, low=low, high=high)
