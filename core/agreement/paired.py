"""Is one judge better than another? Differences on what both have judged, and where they part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import NO_GOLD, IntArray, VoteCounts
from ..schema import VOTE_LABELS
from ..stats.estimate import DataFrame, data_frame

if TYPE_CHECKING:
    import pyarrow as pa

WORDS = {1: "A is better", 0: "tie", -1: "B is better"}
"""A label in words."""
MOST_RATERS = 12
"""Raters with a column each; of more, a table counts who says what."""


def verdict_table(names: pa.Table, counts: Mapping[str, VoteCounts], codes: IntArray) -> DataFrame:
    """One row per comparison: item, models, the majority label of each rater in words, and gold.

    Of more than 12 raters: how many say A, tie and B.

    Parameters
    ----------
    names : item_id, model_a and model_b of every comparison by its code (`store.comparison_names`).
    counts : rater → its votes.
    codes : (rows,) comparisons.
    """
    rows = names.take(np.asarray(codes, dtype=np.int64))
    columns: dict[str, Any] = {name: rows[name].to_pylist() for name in ("item_id", "model_a", "model_b")}
    labels = {rater: _labels_of(own, own.label, codes) for rater, own in counts.items()}
    if len(labels) > MOST_RATERS:
        table = np.stack(list(labels.values()))
        columns |= {f"say {WORDS[label]}": (table == label).sum(axis=0) for label in (1, 0, -1)}
    else:
        columns |= {rater: _words(label) for rater, label in labels.items()}
    gold = np.full(len(codes), NO_GOLD)
    for own in counts.values():
        found = _labels_of(own, own.gold, codes)
        gold = np.where(gold == NO_GOLD, found, gold)
    return data_frame(columns | {"gold": _words(gold)})


def _labels_of(counts: VoteCounts, label: IntArray, codes: IntArray) -> IntArray:
    """Labels of a judge by comparison; `NO_GOLD` where it has none."""
    size = 1 + max(int(counts.comparison.max(initial=-1)), int(np.max(codes, initial=-1)))
    spread = np.full(size, NO_GOLD)
    spread[counts.comparison] = label
    found: IntArray = spread[codes]
    return found


def _words(label: IntArray) -> list[str | None]:
    return [WORDS[code] if code in VOTE_LABELS else None for code in label.tolist()]
