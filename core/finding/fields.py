"""Results as fields of the JSON: fractions, and of an estimate its ends and number of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..stats.estimate import Estimate, flat


def written(result: Any, names: Sequence[str]) -> dict[str, Any] | None:
    """Columns of a result, in this order; None of None."""
    return None if result is None else fields(result, names)


def fields(result: Any, names: Sequence[str]) -> dict[str, Any]:
    """Columns of a result in the order of the contract."""
    columns = flat(result)
    return {name: columns[name] for name in names}


def estimate(found: Estimate | None) -> dict[str, Any] | None:
    """An estimate, None of None."""
    return None if found is None else estimated(found)


def estimated(found: Estimate) -> dict[str, Any]:
    """An estimate by item."""
    return ends(found, "value")


def ends(found: Estimate | None, name: str) -> dict[str, Any]:
    """An estimate by item, its value under a name; without one all are null."""
    if found is None:
        return {name: None, "low": None, "high": None, "n_items": 0}
    return {name: found.value, "low": found.low, "high": found.high, "n_items": found.n}
