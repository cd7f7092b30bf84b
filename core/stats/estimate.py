"""What every method reports: a value, the interval around it, and what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..extras import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pandas import DataFrame as DataFrame
else:
    # For annotations only: pandas is loaded with the first table that somebody asks for.
    DataFrame = "pandas.DataFrame"

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    value : the point estimate; NaN if nothing was seen.
    low, high : ends of the interval at `level`; both NaN if there is none, as with a single item.
    n : what the value rests on: votes, comparisons or items, as the result that holds it says.
    deff : design effect that widened the interval; 1 where votes count as independent.

    >>> gain = Estimate(0.08, 0.02, 0.14, n=120)
    >>> gain.excludes(0), gain.beyond(0.05), gain.within(0.2)
    (True, False, True)
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    level: float = 0.95
    deff: float = 1.0

    def __str__(self) -> str:
        """With all digits, as a script prints it."""
        ends = f" ({self.low} to {self.high})" if self.has_interval else ""
        return f"{self.value}{ends}"

    @property
    def has_interval(self) -> bool:
        """Whether both ends are numbers."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    def excludes(self, x: float = 0.0) -> bool:
        """Whether the whole interval is on one side of `x`; False without an interval."""
        return self.low > x or self.high < x

    def beyond(self, limit: float) -> bool:
        """Whether the whole interval is farther from 0 than `limit`, all on one side of 0."""
        return self.low > abs(limit) or self.high < -abs(limit)

    def scaled(self, factor: float) -> Estimate:
        """In another unit: value and ends times `factor`, such as 100 for percent."""
        return replace(
            self, value=factor * self.value, low=factor * self.low, high=factor * self.high
        )

    def shifted(self, by: float) -> Estimate:
        """From another zero: value and ends plus `by`."""
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)

    def within(self, limit: float) -> bool:
        """Whether the whole interval is inside ± `limit`; False without an interval."""
        return -abs(limit) <= self.low and self.high <= abs(limit)


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Several estimates of one kind as arrays of one shape; NaN ends where there is no interval.

    n : what each value rests on, as an array of that shape or one number for all.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    n: NDArray[np.int64] | int = 0
    level: float = 0.95

    @classmethod
    def of(cls, estimates: Sequence[Estimate]) -> Estimates:
        """One-dimensional arrays of estimates of one level."""
        ends = [(each.value, each.low, each.high) for each in estimates]
        value, low, high = np.array(ends, dtype=np.float64).reshape(-1, 3).T
        n = np.array([each.n for each in estimates], dtype=np.int64)
        return cls(value, low, high, n=n, level=estimates[0].level if estimates else 0.95)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, place: int | tuple[int, ...]) -> Estimate:
        n = self.n[place] if isinstance(self.n, np.ndarray) else self.n
        value, low, high = (float(part[place]) for part in (self.value, self.low, self.high))
        return Estimate(value, low, high, n=int(n), level=self.level)

    def __iter__(self) -> Iterator[Estimate]:
        n = self.n.tolist() if isinstance(self.n, np.ndarray) else [int(self.n)] * len(self)
        ends = zip(self.value.tolist(), self.low.tolist(), self.high.tolist(), n, strict=True)
        return (Estimate(value, low, high, n=n, level=self.level) for value, low, high, n in ends)


def flat(
    result: Any, *, names: Sequence[str] | None = None, without: Sequence[str] = ()
) -> dict[str, Any]:
    """The fields of a result dataclass as the columns of its frame, in order.

    An `Estimate` or `Estimates` in field `x` becomes `x`, `x_low` and `x_high`; a missing one (None
    in a field annotated with it) becomes three Nones. Other fields stay as they are.

    names : fields to take, in this order; by default all but those in `without`.
    """
    kind: type = type(result)
    estimated = _estimated(kind)
    columns: dict[str, Any] = {}
    for name in estimated if names is None else names:
        if name in without:
            continue
        value = getattr(result, name)
        if isinstance(value, (Estimate, Estimates)) or (value is None and estimated[name]):
            columns[name] = getattr(value, "value", None)
            columns[f"{name}_low"] = getattr(value, "low", None)
            columns[f"{name}_high"] = getattr(value, "high", None)
        else:
            columns[name] = value
    return columns


@cache
def _estimated(kind: type) -> dict[str, bool]:
    """Of each field of a result dataclass, whether its annotation allows an estimate."""
    return {field.name: "Estimate" in str(field.type) for field in fields(kind)}


def data_frame(data: Any, *, columns: list[str] | None = None) -> DataFrame:
    """`pandas.DataFrame(data, columns)`; pandas is loaded only here. Raises MissingExtra."""
    require("pandas", purpose="A data frame")
    import pandas as pd

    return pd.DataFrame(data, columns=columns)


class OneRow:
    """A result that is one row of a table."""

    __slots__ = ()

    def to_frame(self) -> DataFrame:
        """One row, a column per field; an estimate has three."""
        return data_frame([flat(self)])


def rows_frame(kind: type, rows: Iterable[Any]) -> DataFrame:
    """One row per result of the dataclass `kind`, in the columns of `flat`, which stay if there is
    no row.
    """
    names: list[str] = []
    for name, estimated in _estimated(kind).items():
        names += [f"{name}{end}" for end in (("", "_low", "_high") if estimated else ("",))]
    return data_frame([flat(row) for row in rows], columns=names)
