"""A random sample of whole items, the same set on every engine and in a file.

An item has one number, the first digits of md5(seed:item), and the rows of a rater are kept where
it is below the threshold of that rater. So raters share as many items as they can, and a larger
bound gives a superset. Source: Ohlsson (1995), Coordination of samples using permanent random
numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..schema import ImportResult, Sampled

MOST_ROWS = 10_000_000
"""Rows that are fetched from an engine; of a larger table a sample of items."""
DIGITS = 8
"""Hexadecimal digits of the hash that are compared."""


def shares_of(rows: Mapping[str, int], most: int) -> dict[str, float]:
    """Share of each rater's rows that is kept.

    All raters get the same number of rows; small ones are whole and leave theirs to the others.

    >>> shares_of({"a": 10, "b": 100, "c": 200}, 110)
    {'a': 1.0, 'b': 0.5, 'c': 0.25}
    """
    left, shares = most, {}
    for place, rater in enumerate(sorted(rows, key=lambda rater: rows[rater])):
        taken = min(rows[rater], left // (len(rows) - place))
        shares[rater] = taken / rows[rater] if rows[rater] else 1.0
        left -= taken
    return shares


def threshold(share: float) -> str:
    """The digits below which a share of the items lies."""
    return f"{min(int(share * 16**DIGITS), 16**DIGITS - 1):0{DIGITS}x}"


def drawn(item: str, seed: int) -> str:
    """The digits of an item."""
    return hashlib.md5(f"{seed}:{item}".encode(), usedforsecurity=False).hexdigest()[:DIGITS]


def sample_of(reading: ImportResult, most: int, seed: int = 0) -> ImportResult:
    """What was read, or of more than `most` rows whole items of each rater."""
    rows = reading.votes.num_rows
    if rows <= most or reading.gold_only or "judge" not in reading.votes.column_names:
        return reading
    judge, item = (reading.votes[name].combine_chunks() for name in ("judge", "item_id"))
    judge, item = (x if hasattr(x, "dictionary") else x.dictionary_encode() for x in (judge, item))
    names = judge.dictionary.to_pylist()
    codes = judge.indices.to_numpy(zero_copy_only=False)
    shares = shares_of(
        dict(zip(names, np.bincount(codes, minlength=len(names)), strict=True)), most
    )
    digits = np.array([int(drawn(each, seed), 16) for each in item.dictionary.to_pylist()])
    below = np.array(
        [16**DIGITS if shares[name] == 1 else int(threshold(shares[name]), 16) for name in names]
    )
    kept = digits[item.indices.to_numpy(zero_copy_only=False)] < below[codes]
    said = Sampled(rows=rows, fetched=int(kept.sum()), seed=seed, shares=shares)
    return replace(reading, votes=reading.votes.filter(kept), sampled=said)
