"""Does the longer response win because it is longer? (docs/methods.md §4)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..records import NO_GOLD, LengthCounts
from ..stats.estimate import Estimate, flat
from ..stats.intervals import clustered_proportion, linearised_interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Verbosity:
    """How often one judge prefers the longer response, and how often gold does.

    longer_rate : P(longer preferred) among its `n` decided votes on responses of different length.
    judge_rate, gold_rate : the same on comparisons with gold, and gold's own rate there, among the `n_gold`
        votes on comparisons that gold decides; excess : their difference, positive towards the longer.
        None without gold.
    items : with responses of different length.  level : of the intervals.
    """

    n: int
    longer: int
    longer_rate: Estimate
    n_gold: int
    judge_rate: float | None
    gold_rate: float | None
    excess: Estimate | None
    items: int
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        return pd.DataFrame([flat(self)])


def verbosity(counts: LengthCounts, *, level: float = 0.95) -> Verbosity | None:
    """P(longer preferred) of one judge, minus gold's own rate where there is gold.

    Longer responses are often better, so the rate alone is no bias. On comparisons with gold, excess = Σ
    longer/Σ decided of the judge's votes − the same of gold, which counts once for each vote (ours: each side
    is taken among what it decides, on the same comparisons). The rate's interval is Wilson clustered by item;
    that of the excess is `linearised_interval` (ours).

    Returns
    -------
    Verbosity, or None without a decided vote on responses of known, different length.

    Source: docs/methods.md §4.
    """
    decided = counts.longer + counts.shorter
    n = int(decided.sum())
    if not n:
        return None
    rate = clustered_proportion(counts.item, decided, counts.longer, level=level)
    known = counts.gold != NO_GOLD
    item, longer, decided = counts.item[known], counts.longer[known], decided[known]
    by_gold = (decided + counts.tie[known]) * (counts.gold[known] != 0)
    gold_longer = by_gold * (counts.gold[known] == 1)
    n_gold = int(by_gold.sum())
    judge_rate = gold_rate = excess = None
    if n_gold and decided.sum():
        judge_rate, gold_rate = float(longer.sum() / decided.sum()), float(gold_longer.sum() / n_gold)
        _, code = np.unique(item, return_inverse=True)
        influence = np.bincount(code, (longer - judge_rate * decided) / decided.sum())
        influence -= np.bincount(code, (gold_longer - gold_rate * by_gold) / n_gold)
        excess = linearised_interval(judge_rate - gold_rate, influence, n=n_gold, level=level)
    return Verbosity(
        n=n,
        longer=int(counts.longer.sum()),
        longer_rate=rate,
        n_gold=n_gold,
        judge_rate=judge_rate,
        gold_rate=gold_rate,
        excess=excess,
        items=len(np.unique(counts.item)),
        level=level,
    )
