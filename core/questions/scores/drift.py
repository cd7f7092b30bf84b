"""Is a judge more lenient in one category, or at one time, than in the rest?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...records import FloatArray, IntArray
from ...stats.estimate import DataFrame, Estimate, rows_frame
from ...stats.intervals import check_level, t_quantiles
from .agreement import no_difference
from .table import ScoreTable

ROUNDING = 1e-24
"""A variance of a mean below this is rounding noise where all differences are equal."""
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
    whole = _Side.of(unit, share, units)

    def sides(one: int) -> tuple[_Side, _Side]:
        rows = code_of == one
        inside = _Side.of(unit[rows], share[rows], units)
        return inside, _Side(n=whole.n - inside.n, total=whole.total - inside.total)

    large = [
        one for one in present.tolist() if min(side.units for side in sides(one)) >= least_items
    ]
    shared = 1 - (1 - level) / max(len(large), 1)
    groups = tuple(_group(_name(names, one), *sides(one), shared) for one in large)
    small = tuple(_name(names, one) for one in present.tolist() if one not in large)
    reason = None
    if not groups:
        reason = f"it needs a category and a rest of {least_items} items each"
    return Drift(groups=groups, small=small, n=len(part), reason=reason)


def _name(names: Sequence[str], code: int) -> str:
    return str(names[code]) if code < len(names) else str(code)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Side:
    """(units,) answers and the sum of their differences in each unit."""

    n: FloatArray
    total: FloatArray

    @classmethod
    def of(cls, unit: IntArray, share: FloatArray, units: int) -> _Side:
        n = np.bincount(unit, minlength=units).astype(np.float64)
        return cls(n=n, total=np.bincount(unit, share, minlength=units).astype(np.float64))

    @property
    def units(self) -> int:
        return int(np.count_nonzero(self.n))

    def influence(self) -> tuple[float, FloatArray, float]:
        """Mean, the influence of each unit on it, and its variance."""
        rows, units = float(self.n.sum()), self.units
        mean = float(self.total.sum()) / rows
        pull = (self.total - mean * self.n) / rows
        return mean, pull, units / (units - 1) * float(pull @ pull)


def _group(name: str, inside: _Side, rest: _Side, level: float) -> GroupDrift:
    (mean, pull, variance), (other, other_pull, other_variance) = (
        side.influence() for side in (inside, rest)
    )
    value, units = mean - other, len(pull)
    apart = variance + other_variance
    both = max(apart - 2 * units / (units - 1) * float(pull @ other_pull), 0.0)
    difference = Estimate(value, n=inside.units, level=level)
    # Where nothing differs on either side, how sure that is cannot be told.
    if apart > ROUNDING:
        freedom = apart**2 / (
            variance**2 / (inside.units - 1) + other_variance**2 / (rest.units - 1)
        )
        half = float(t_quantiles(freedom, level)) * math.sqrt(both)
        low, high = max(value - half, -2.0), min(value + half, 2.0)
        difference = replace(difference, low=low, high=high)
    return GroupDrift(group=name, n=int(inside.n.sum()), bias=mean, difference=difference)
