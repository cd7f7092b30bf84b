"""Is a judge more lenient in one category, or at one time, than in the rest?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..records import BoolArray, FloatArray, IntArray
from ..stats.estimate import DataFrame, Estimate, rows_frame
from ..stats.intervals import check_level, n_distinct, t_quantiles
from .agreement import no_difference
from .table import ScoreTable

LEAST_ITEMS = 10
"""Units that a group, and the rest, must have to be compared."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroupDrift:
    """Leniency of a judge in one group minus that in the rest, in shares of the scale, −1 to 1.

    difference : at the level shared by all groups (Bonferroni); its n is the units of the group.
    bias : judge minus people in the group alone, a mean.
    """

    group: str
    n: int
    bias: float
    difference: Estimate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Drift:
    """Groups in their order; `small` are those with too few units. None where `reason` says why."""

    groups: tuple[GroupDrift, ...]
    small: tuple[str, ...]
    n: int
    reason: str | None

    @property
    def worst(self) -> GroupDrift | None:
        """The group whose interval is farthest from 0, or whose value is if none excludes it."""

        def distance(group: GroupDrift) -> tuple[float, float]:
            ends = group.difference
            return max(ends.low, -ends.high, 0.0), abs(ends.value)

        return max(self.groups, key=distance, default=None)

    def to_frame(self) -> DataFrame:
        """One row per group."""
        return rows_frame(GroupDrift, self.groups)


def drift(
    table: ScoreTable,
    *,
    group: IntArray | None = None,
    names: Sequence[str] = (),
    least_items: int = LEAST_ITEMS,
    level: float = 0.95,
) -> Drift:
    """Mean of judge minus people in each group less that in the rest, over the scale.

    d = mean (j − h)/scale in the group − the same elsewhere. Welch's interval at 1 − (1 − level)/K
    for K groups, by unit: each side has the variance G/(G − 1)·Σ(influence of unit)², units on both
    sides their covariance, and t the degrees of freedom of Welch and Satterthwaite. With one
    answer per unit it is Welch's t interval itself.

    group : (n,) codes into `names`, −1 for none; by default the table's categories. Periods are
        groups too, such as the month of a score.
    least_items : units that a group and the rest must have; smaller groups are named in `small` and
        stay in the rest of others.

    Raises InvalidOption for a level outside (0, 1). Source: docs/methods.md §11 (ours);
    Welch (1947).
    """
    check_level(level)
    code_of = table.category if group is None else group
    names = table.categories if group is None else names
    if code_of is None:
        return Drift(groups=(), small=(), n=0, reason="the answers have no categories")
    known = ~np.isnan(table.judge) & (table.persons > 0) & (code_of >= 0)
    part, code_of = table.rows(known), code_of[known]
    reason = no_difference(part)
    if reason is not None:
        return Drift(groups=(), small=(), n=len(part), reason=reason)
    unit, units = part.unit_codes()
    share = (part.judge - part.reference) / part.scale
    present = np.unique(code_of)

    def size(rows: BoolArray) -> int:
        return n_distinct(unit[rows])

    large = [
        one
        for one in present
        if size(code_of == one) >= least_items and size(code_of != one) >= least_items
    ]
    groups = tuple(
        _group(_name(names, int(one)), share, unit, units, code_of == one, (len(large), level))
        for one in large
    )
    small = tuple(_name(names, int(one)) for one in present if one not in large)
    reason = None
    if not groups:
        reason = f"it needs a category and a rest of {least_items} items each"
    return Drift(groups=groups, small=small, n=len(part), reason=reason)


def _name(names: Sequence[str], code: int) -> str:
    return str(names[code]) if code < len(names) else str(code)


def _group(
    name: str,
    share: FloatArray,
    unit: IntArray,
    units: int,
    inside: BoolArray,
    tested: tuple[int, float],
) -> GroupDrift:
    """tested : groups that share the level, and the level."""
    means, pulls, variances, freedoms = [], [], [], []
    for rows in (inside, ~inside):
        mean = float(share[rows].mean())
        pull = np.bincount(unit[rows], share[rows] - mean, minlength=units) / int(rows.sum())
        groups = n_distinct(unit[rows])
        means.append(mean)
        pulls.append(pull)
        variances.append(groups / (groups - 1) * float(pull @ pull))
        freedoms.append(groups - 1)
    value = means[0] - means[1]
    independent = sum(variances)
    variance = max(independent - 2 * units / (units - 1) * float(pulls[0] @ pulls[1]), 0.0)
    n = freedoms[0] + 1
    comparisons, level = tested
    shared = 1 - (1 - level) / comparisons
    if independent <= 0:
        # Nothing differs on either side: how sure that is cannot be told.
        difference = Estimate(value, n=n, level=shared)
    else:
        freedom = independent**2 / sum(
            each**2 / df for each, df in zip(variances, freedoms, strict=True)
        )
        half = float(t_quantiles(freedom, shared)) * math.sqrt(variance)
        low, high = max(value - half, -2.0), min(value + half, 2.0)
        difference = Estimate(value, low, high, n=n, level=shared)
    return GroupDrift(group=name, n=int(inside.sum()), bias=means[0], difference=difference)
