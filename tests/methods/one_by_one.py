"""The plain form of what the store collapses: rules over votes one by one."""

import math

import numpy as np

from core.records import NO_SIDE, NO_VOTE, WeighedVotes


def weighed(comparison, vote, *, confidence=None, side=None, shown=None, run=None) -> WeighedVotes:
    """Votes in the order in which they were stored, as a row for each comparison."""
    size = len(comparison)
    confidence = np.full(size, np.nan) if confidence is None else confidence
    side = np.full(size, NO_SIDE) if side is None else side
    rows: dict[str, list] = {
        name: [] for name in ("n", "stated", "lowest", "total", "product", "side")
    }
    first = []
    codes = np.unique(comparison)
    for code in codes:
        own = np.flatnonzero(comparison == code)
        said = [confidence[own][vote[own] == label] for label in (-1, 0, 1)]
        said = [one[~np.isnan(one)].tolist() for one in said]
        rows["n"].append(len(own))
        rows["stated"].append([len(one) for one in said])
        rows["lowest"].append([min(one, default=np.inf) for one in said])
        rows["total"].append([sum(one) for one in said])
        rows["product"].append([math.prod(one) for one in said])
        rows["side"].append(next((int(side[k]) for k in own if side[k] != NO_SIDE), NO_SIDE))
        if shown is not None and run is not None:
            of_order = [[k for k in own if shown[k] == order] for order in (1, -1)]
            earliest = [min(one, key=lambda k: (run[k], k), default=None) for one in of_order]
            first.append([NO_VOTE if k is None else int(vote[k]) for k in earliest])
    columns = {name: np.array(values) for name, values in rows.items()}
    return WeighedVotes(comparison=codes, first=np.array(first) if first else None, **columns)
