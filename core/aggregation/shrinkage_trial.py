"""What a prior gains: shrunken BTD beside other rules on the same splits, paired by item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidOption, UnknownName
from ..records import FloatArray, VoteCounts
from ..stats.estimate import Estimate, flat
from ..stats.splits import change_intervals
from .btd import DEFAULTS, Bounds, BTDOptions
from .evaluation import Evaluation, evaluate
from .shrinkage import WEAK, Prior, PriorOfSplits

if TYPE_CHECKING:
    import pandas as pd


COMPARED = ("majority", "threshold", "btd", "btd_shrunk")
FEWEST = 1e-9
"""A share that no data set has an item for, so that the least number of comparisons decides."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairedChange:
    """One method's mean absolute error and pairwise accuracy minus another's, on the same splits.

    mae below 0, pa above 0: `key` is better than `beside`.  Intervals are over items; they leave out which
    items calibrate, and are NaN with one item.  n, n_items : comparisons and items.
    """

    key: str
    beside: str
    mae: Estimate
    pa: Estimate
    n: int
    n_items: int
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        return pd.DataFrame([flat(self)])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShrinkageGain:
    """Shrunken BTD beside BTD and the threshold, calibrated on one size of set.

    evaluation : of COMPARED.  beside_btd, beside_threshold : what shrinking changes.
    on_bound, on_bound_shrunken : splits in which ν ends on a bound, of BTD and of shrunken BTD.
    """

    evaluation: Evaluation
    beside_btd: PairedChange
    beside_threshold: PairedChange
    on_bound: int
    on_bound_shrunken: int

    def to_frame(self) -> pd.DataFrame:
        """One row per method that shrunken BTD is compared with."""
        import pandas as pd

        rows = pd.concat([self.beside_btd.to_frame(), self.beside_threshold.to_frame()], ignore_index=True)
        return rows.assign(calibration=self.evaluation.calibration)


def paired_change(value: Evaluation, key: str, beside: str) -> PairedChange:
    """Difference of two methods' MAE and PA as the evaluation has them, with an interval paired by item.

    Δ = MAE(key) − MAE(beside), mean over splits; the interval is that of `change_intervals`, each item's loss
    averaged over the splits that hold it out.

    Raises UnknownName for a method that was not compared, InvalidOption for an evaluation without resamples.
    Source: ours.
    """
    for name in (key, beside):
        if name not in value.scores:
            raise UnknownName(f"{name!r} was not compared; there are {', '.join(value.scores)}.")
    if value.by_item is None:
        raise InvalidOption("An evaluation with resamples = 0 has no errors by item; use 100 or more.")
    methods, losses = len(value.columns), value.by_item
    one, other = ([at, methods + at] for at in map(value.columns.index, (key, beside)))
    first, second = value.scores[key], value.scores[beside]
    mae, pa = first.mae - second.mae, first.pa - second.pa
    change = replace(losses, loss=losses.loss[:, one] - losses.loss[:, other])
    changes = change_intervals(change, [mae, pa], level=value.level)
    return PairedChange(
        key=key,
        beside=beside,
        mae=changes[0],
        pa=changes[1],
        n=value.n,
        n_items=value.n_items,
        level=value.level,
    )


def shrinkage_gain(
    counts: VoteCounts,
    prior: Prior | PriorOfSplits = WEAK,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    share: float = 0.05,
    n_splits: int = 100,
    level: float = 0.95,
    resamples: int = 10_000,
) -> ShrinkageGain:
    """Compare shrunken BTD with BTD, threshold and majority, and say how often ν ends on a bound.

    share : of the items; FEWEST for sets of 20 comparisons, or what whole items make of 20.
    Scores are those of `evaluate` with the same `rng`; errors as there. Source: ours, docs/methods.md §9.
    """
    found = evaluate(
        counts,
        options,
        rng=rng,
        methods=COMPARED,
        n_splits=n_splits,
        share=share,
        level=level,
        resamples=resamples,
        prior=prior,
    )
    assert found.shrunken is not None  # it is among COMPARED
    beside = [paired_change(found, "btd_shrunk", key) for key in ("btd", "threshold")]
    return ShrinkageGain(
        evaluation=found,
        beside_btd=beside[0],
        beside_threshold=beside[1],
        on_bound=_on_bound(found.theta, options.bounds),
        on_bound_shrunken=_on_bound(found.shrunken.theta, options.bounds),
    )


def _on_bound(theta: FloatArray, bounds: Bounds) -> int:
    low, high = np.log(bounds.nu)
    return int(((theta[:, 1] <= low) | (theta[:, 1] >= high)).sum())
