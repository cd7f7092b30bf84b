"""Is a new rule better than an old one on items that neither was calibrated on? Paired by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.counts import FloatArray, IntArray
from core.intervals import check_level, dense_codes
from core.loss_intervals import change_intervals, error_intervals
from core.splits import ItemLosses
from core.votes import InvalidOption, TooFewLabels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HeldOutScores:
    """Rules on the same held-out comparisons; the first is compared with each of the others.

    names : of the rules.  mae : mean absolute error in levels of the label; drps : mean DRPS, NaN for a rule
        that gives labels without probabilities.
    mae_change, drps_change : the first rule's minus this one's; below 0 the first is better. 0 for itself.
    *_low, *_high : at `level` over items, as `core.loss_intervals` has them, which leaves out which items
        calibrate. NaN with one held-out item.
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
    n_splits: int,
    calibration: float,
    highest: float = 2.0,
    level: float = 0.95,
) -> HeldOutScores:
    """Scores from per-item losses whose columns are the |errors| of the rules, then their DRPS.

    A mean goes over comparisons, each with its loss averaged over the splits that held it out (ours).
    highest : largest error that a label can have. Rules with the same probabilities on every held-out
    comparison are one rule, and their change is 0 without a doubt.
    """
    check_level(level)
    rules = len(names)
    weight = losses.items * losses.size
    value = weight @ losses.loss / weight.sum()
    errors, forecasts = losses.loss[:, :rules], losses.loss[:, rules:]
    mae_low, mae_high = error_intervals(_columns(losses, errors), value[:rules], highest=highest, level=level)
    change = value[[0, rules]].repeat(rules) - value
    ends = []
    same = (forecasts[:, :1] == forecasts).all(axis=0)
    for part, mean, of_labels in ((errors, change[:rules], True), (forecasts, change[rules:], False)):
        apart = _columns(losses, part[:, :1] - part)
        low, high = change_intervals(apart, mean, of_labels=of_labels, level=level)
        low[same], high[same] = mean[same], mean[same]
        # A rule beside itself.
        low[0] = high[0] = mean[0]
        ends.append((low, high))
    (error_low, error_high), (forecast_low, forecast_high) = ends
    return HeldOutScores(
        names=names,
        mae=value[:rules],
        mae_low=mae_low,
        mae_high=mae_high,
        mae_change=change[:rules],
        mae_change_low=error_low,
        mae_change_high=error_high,
        drps=value[rules:],
        drps_change=change[rules:],
        drps_change_low=forecast_low,
        drps_change_high=forecast_high,
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


def _columns(losses: ItemLosses, loss: FloatArray) -> ItemLosses:
    """Other columns of the same items."""
    return ItemLosses(loss=loss, items=losses.items, size=losses.size)
