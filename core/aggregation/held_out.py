"""Is a new rule better than an old one on items that neither was calibrated on? Paired by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.counts import FloatArray, IntArray
from core.intervals import check_level, dense_codes
from core.splits import ItemLosses, item_bootstrap
from core.votes import InvalidOption, TooFewLabels

if TYPE_CHECKING:
    import pandas as pd

BOOTSTRAP_DRAWS = 2_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HeldOutScores:
    """Rules on the same held-out comparisons; the first is compared with each of the others.

    names : of the rules.  mae : mean absolute error in levels of the label; drps : mean DRPS, NaN for a rule
        that gives labels without probabilities.
    mae_change, drps_change : the first rule's minus this one's; below 0 the first is better. 0 for itself.
    *_low, *_high : percentile bootstrap over items at `level`; it leaves out which items calibrate.
    n, items : comparisons and items that were held out at least once.
    calibration : mean comparisons of a calibration set; `n_splits` sets were drawn.
    """

    names: tuple[str, ...]
    mae: FloatArray
    mae_low: FloatArray
    mae_high: FloatArray
    mae_change: FloatArray
    mae_change_low: FloatArray
    mae_change_high: FloatArray
    drps: FloatArray
    drps_change: FloatArray
    drps_change_low: FloatArray
    drps_change_high: FloatArray
    n: int
    items: int
    n_splits: int
    calibration: float
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a rule."""
        import pandas as pd

        names = [name for name in self.__dataclass_fields__ if name.startswith(("mae", "drps"))]
        return pd.DataFrame({"rule": self.names} | {name: getattr(self, name) for name in names}).assign(
            n=self.n, items=self.items
        )


def held_out_scores(
    losses: ItemLosses,
    names: tuple[str, ...],
    *,
    rng: np.random.Generator,
    n_splits: int,
    calibration: float,
    level: float = 0.95,
    draws: int = BOOTSTRAP_DRAWS,
) -> HeldOutScores:
    """Scores from per-item losses whose columns are the |errors| of the rules, then their DRPS.

    A mean goes over comparisons, each with its loss averaged over the splits that held it out (ours).
    """
    check_level(level)
    rules = len(names)
    weight = losses.items * losses.size
    value = weight @ losses.loss / weight.sum()
    drawn = item_bootstrap(losses, resamples=draws, rng=rng)
    tails = [(1 - level) / 2, (1 + level) / 2]
    mae_low, mae_high = _around(value[:rules], drawn[:, :rules], tails)
    change = value[[0, rules]].repeat(rules) - value
    low, high = _around(change, np.repeat(drawn[:, [0, rules]], rules, axis=1) - drawn, tails)
    return HeldOutScores(
        names=names,
        mae=value[:rules],
        mae_low=mae_low,
        mae_high=mae_high,
        mae_change=change[:rules],
        mae_change_low=low[:rules],
        mae_change_high=high[:rules],
        drps=value[rules:],
        drps_change=change[rules:],
        drps_change_low=low[rules:],
        drps_change_high=high[rules:],
        n=int(weight.sum()),
        items=int(losses.items.sum()),
        n_splits=n_splits,
        calibration=calibration,
        level=level,
    )


def calibration_rows(
    item: IntArray, *, rng: np.random.Generator, n_splits: int, share: float, minimum: int
) -> list[IntArray]:
    """Rows of each random calibration set: `share` of the items, and more until they hold `minimum` rows.

    Unlike `core.splits.splits` it names the rows, for rules that need more than the counts of a row.

    Raises TooFewLabels if `minimum` rows and another item are not always to be had, InvalidOption for fewer
    than 2 splits or a share outside 0 to 1. Source: [BTD] §5.
    """
    if n_splits < 2:
        raise InvalidOption(f"{n_splits} splits: use at least 2, so that their spread is known.")
    if not 0 < share < 1:
        raise InvalidOption(f"Calibration share {share:g}: use a share between 0 and 1.")
    code = dense_codes(item)
    sizes = np.bincount(code)
    if len(code) - sizes.max(initial=0) < minimum:
        raise TooFewLabels(
            f"Splits need at least {minimum} labelled comparisons to calibrate on and another item to "
            f"evaluate on; there are {len(code)} labelled comparisons of {len(sizes)} items."
        )
    wanted = min(max(1, round(share * len(sizes))), len(sizes) - 1)
    rows = []
    for _ in range(n_splits):
        shuffled = rng.permutation(len(sizes))
        enough = int(np.searchsorted(np.cumsum(sizes[shuffled]), minimum)) + 1
        drawn = np.zeros(len(sizes), dtype=bool)
        drawn[shuffled[: max(wanted, enough)]] = True
        rows.append(np.flatnonzero(drawn[code]))
    return rows


def losses_by_item(item: IntArray, total: FloatArray, times: IntArray) -> ItemLosses:
    """Per-item mean losses from each row's losses (rows, columns) summed over the `times` it was held out."""
    code = dense_codes(item)
    held = np.bincount(code, weights=times)
    seen = held > 0
    by_item = np.stack([np.bincount(code, weights=column)[seen] for column in total.T], axis=1)
    return ItemLosses(
        loss=by_item / held[seen, None],
        items=np.ones(int(seen.sum()), dtype=np.int64),
        size=np.bincount(code)[seen].astype(np.float64),
    )


def _around(value: FloatArray, drawn: FloatArray, tails: list[float]) -> tuple[FloatArray, FloatArray]:
    """Percentile interval, widened to hold the value; NaN where the value is."""
    low, high = np.quantile(drawn, tails, axis=0)
    return np.minimum(low, value), np.maximum(high, value)
