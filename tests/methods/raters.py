"""Raters of tests, written as their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.records import NO_GOLD, VoteCounts


def rater(
    labels: Mapping[int, int] | Sequence[int],
    *,
    gold: Mapping[int, int] | None = None,
    an_item: int = 1,
) -> VoteCounts:
    """One vote per comparison: comparison code, or place, → label; `an_item` comparisons an item."""
    by_code = dict(labels) if isinstance(labels, Mapping) else dict(enumerate(labels))
    code = np.array(sorted(by_code), dtype=np.int64)
    label = np.array([by_code[int(comparison)] for comparison in code], dtype=np.int64)
    return VoteCounts(
        comparison=code,
        item=code // an_item,
        plus=(label == 1).astype(np.int64),
        tie=(label == 0).astype(np.int64),
        minus=(label == -1).astype(np.int64),
        gold=np.array([(gold or {}).get(int(c), NO_GOLD) for c in code], dtype=np.int64),
    )
