"""What no judge at all would reach: constant, random and longest-answer labels, as rows beside the judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.aggregation.aggregators import AGGREGATORS
from core.counts import NO_GOLD, BoolArray, IntArray, LengthCounts, VoteCounts
from core.intervals import clustered_proportion
from core.votes import VOTE_LABELS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dummy:
    """Accuracy of one dummy on `n` labelled comparisons; of `random` it is the expectation, without interval.

    name : as in the registry of aggregators, whose rules these are (ours).
    """

    name: str
    accuracy: float
    low: float
    high: float
    n: int

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        return pd.DataFrame([asdict(self)])


def dummies(
    counts: Mapping[str, VoteCounts], lengths: Mapping[str, LengthCounts], *, level: float = 0.95
) -> tuple[Dummy, ...]:
    """Accuracy of the dummies on every comparison with gold that any judge saw, each counted once.

    constant : gold's commonest label, chosen with all labels known, so a ceiling for every constant.
    random : each label with probability ⅓, hence ⅓ exactly.
    longest : the longer response; only on comparisons whose responses have known, different lengths, and left
        out where there are none. Intervals: Wilson clustered by item. Empty without gold. Source: methods §2.
    """
    item, gold = _distinct([(c.comparison, c.item, c.gold) for c in counts.values()])
    if not len(gold):
        return ()
    commonest = max(VOTE_LABELS, key=lambda label: int((gold == label).sum()))
    found = [_scored("constant", item, gold == commonest, level)]
    third = 1 / len(VOTE_LABELS)
    name = AGGREGATORS["random"].name
    found.append(Dummy(name=name, accuracy=third, low=np.nan, high=np.nan, n=len(gold)))
    item, longer_is = _distinct([(c.comparison, c.item, c.gold) for c in lengths.values()])
    if len(longer_is):
        found.append(_scored("longest", item, longer_is == 1, level))
    return tuple(found)


def _scored(key: str, item: IntArray, correct: BoolArray, level: float) -> Dummy:
    one = np.ones(len(item), np.int64)
    share = clustered_proportion(item, one, correct.astype(np.int64), level=level)
    name = AGGREGATORS[key].name
    return Dummy(name=name, accuracy=share.value, low=share.low, high=share.high, n=share.n)


def _distinct(columns: list[tuple[IntArray, IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    """Item and gold of the labelled comparisons of several judges, each comparison once."""
    if not columns:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    comparison, item, gold = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    labelled = gold != NO_GOLD
    _, first = np.unique(comparison[labelled], return_index=True)
    return item[labelled][first], gold[labelled][first]
