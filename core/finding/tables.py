"""One definition of a table per result: what the page, its download, the report and the command
line show.

A topic's columns stand beside its sentences (`questions/<question>/words.py`); this module renders
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..stats.estimate import Estimate
from .wording import number

if TYPE_CHECKING:
    import pandas as pd

Value = float | int | str | bool | None | Estimate

TEXT = ""
"""Form of a column of words."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result's table.

    name : heading, as it is read.
    value : field of the row that holds it ("rate.n" is the n of its rate; unknown without a rate),
        or a function of the row; a number, a text or an `Estimate`.
    form : how a number is written (`format` specification, such as ".3f", "+.1f" or ",d"); `TEXT`
        for words.
    help : what the number is, in one sentence.
    ends : headings of the interval's ends in a table of numbers; the default is "<name> low",
        "<name> high".
    ends_help : what the interval is.
    scale : numbers are shown times this, such as 100 for percent.
    ends_last : the ends follow after all columns, where values side by side tell more.
    optional : left out of a table in which no row has a value.
    """

    name: str
    value: str | Callable[[Any], Value]
    form: str = ".3f"
    help: str = ""
    ends: tuple[str, str] | None = None
    ends_help: str = ""
    scale: float = 1
    ends_last: bool = False
    optional: bool = False

    def of(self, row: object) -> Value:
        """The value in one row."""
        found: Value = self.value(row) if callable(self.value) else field_of(row, self.value)
        if self.scale == 1 or found is None or isinstance(found, str):
            return found
        return found.scaled(self.scale) if isinstance(found, Estimate) else self.scale * found

    def interval_names(self) -> tuple[str, str]:
        """Headings of the two ends."""
        return self.ends or (f"{self.name} low", f"{self.name} high")

    def text(self, row: object) -> str:
        """The cell as text: an estimate with its interval in one cell, a dash for what is
        unknown.
        """
        found = self.of(row)
        if isinstance(found, Estimate):
            value = number(found.value, self.form)
            if not found.has_interval or math.isnan(found.value):
                return value
            return f"{value} ({number(found.low, self.form)} to {number(found.high, self.form)})"
        return found if isinstance(found, str) else number(found, self.form)


def field_of(row: object, path: str) -> Any:
    """Field of a row, its parts parted by dots; None where one on the way is None."""
    for name in path.split("."):
        row = None if row is None else getattr(row, name)
    return row


def frame(columns: Sequence[Column], rows: Iterable[object]) -> pd.DataFrame:
    """Numbers for a page and its download: one row per result, an estimate in three columns.

    A column is one of estimates if any of its rows holds one. What is unknown is NaN in a column of
    numbers, None in one of words.
    """
    import pandas as pd

    listed = list(rows)
    data: dict[str, list[Any]] = {}
    last: dict[str, list[Any]] = {}
    for column in columns:
        found = [column.of(row) for row in listed]
        if column.optional and all(value is None for value in found):
            continue
        if not any(isinstance(value, Estimate) for value in found):
            data[column.name] = found if column.form == TEXT else _numbers(found)
            continue
        data[column.name] = _numbers(getattr(value, "value", None) for value in found)
        for name, end in zip(column.interval_names(), ("low", "high"), strict=True):
            ends = last if column.ends_last else data
            ends[name] = _numbers(getattr(value, end, None) for value in found)
    return pd.DataFrame(data | last)


def frame_of(
    columns: Sequence[Column], results: Mapping[str, object], *, heading: str = "judge"
) -> pd.DataFrame:
    """The `frame` of results by judge, or by whatever `heading` says, whose names come first."""
    found = frame(columns, results.values())
    found.insert(0, heading, list(results))
    return found


def texts(columns: Sequence[Column], rows: Iterable[object]) -> tuple[list[str], list[list[str]]]:
    """Headings and cells as text, for the HTML report and the command line."""
    return [column.name for column in columns], [
        [column.text(row) for column in columns] for row in rows
    ]


def _numbers(values: Iterable[Any]) -> list[Any]:
    """NaN for None, so that a column without any number is still one of numbers."""
    return [math.nan if value is None else value for value in values]
