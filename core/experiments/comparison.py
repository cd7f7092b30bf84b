"""Does another temperature, prompt or judge do better? Judges side by side, and on what they both judged.

How do the parameters of BTD differ between tasks and judges? One table of them all, with regimes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..aggregation.btd import MINIMUM_LABELS, PARAMETERS, Bounds
from ..aggregation.evaluation import METHODS, Evaluation, ParameterTable, evaluate
from ..errors import InvalidOption, TooFewLabels, UnknownName
from ..records import NO_GOLD, BoolArray, FloatArray, VoteCounts
from ..stats.estimate import Estimate
from ..stats.intervals import check_level, clustered_proportion
from ..stats.splits import Splits, change_intervals
from .protocol import (
    check_rules,
    errors_and_hits,
    losses_by_item,
    means,
    nested_splits,
    seen_items,
)

if TYPE_CHECKING:
    import pandas as pd


COMPARED = ("btd", "majority")
"""Rules that judges are compared under."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComparedValue:
    """One value of the compared column.

    tie_votes : share of ties among its votes.  tie_gold : among the gold labels of its comparisons, None
    without gold.  Both with Wilson intervals clustered by item.
    evaluation : of `COMPARED` rules on all its labelled comparisons, None if they are too few.
    reason : why there is no evaluation.  n_votes, n : votes and comparisons.  n_labelled : those with gold.
    """

    tie_votes: Estimate
    tie_gold: Estimate | None
    evaluation: Evaluation | None
    reason: str | None
    n_votes: int
    n: int
    n_labelled: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairedDifference:
    """MAE and PA of one value minus those of the reference, on the comparisons with gold that both have.

    Splits and items are the same for both; intervals are over items, NaN with one (`core.stats.splits`).
    mae, mae_reference : on these comparisons.  reason : why there is no difference; numbers are NaN then.
    """

    value: str
    reference: str
    rule: str
    mae: float
    mae_reference: float
    difference: float
    difference_low: float
    difference_high: float
    pa_difference: float
    pa_difference_low: float
    pa_difference_high: float
    n: int
    n_items: int
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Comparison:
    """Values of a column side by side, and each against `reference` on common comparisons."""

    values: dict[str, ComparedValue]
    differences: tuple[PairedDifference, ...]
    reference: str
    rules: tuple[str, ...]
    n_splits: int
    share: float
    level: float
    resamples: int

    def to_frame(self) -> pd.DataFrame:
        """One row a value and rule."""
        import pandas as pd

        rows = []
        against = {(one.value, one.rule): one for one in self.differences}
        for name, one in self.values.items():
            ties = {
                "ties": one.tie_votes.value,
                "ties_low": one.tie_votes.low,
                "ties_high": one.tie_votes.high,
            }
            gold = one.tie_gold.value if one.tie_gold else np.nan
            for rule in self.rules:
                row = {"value": name, "rule": METHODS[rule], "votes": one.n_votes, **ties, "gold_ties": gold}
                score = one.evaluation.scores[rule] if one.evaluation else None
                for field in ("mae", "mae_item_low", "mae_item_high", "pa", "pa_item_low", "pa_item_high"):
                    row[field] = getattr(score, field) if score else np.nan
                paired = against.get((name, rule))
                for field in ("difference", "difference_low", "difference_high"):
                    row[field] = getattr(paired, field) if paired else np.nan
                row["n"], row["common"] = one.n_labelled, paired.n if paired else None
                rows.append(row)
        return pd.DataFrame(rows).astype({"common": "Int64"})


def compare(
    counts: Mapping[str, VoteCounts],
    *,
    rng: np.random.Generator,
    reference: str | None = None,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
) -> Comparison:
    """Tie rates, MAE and PA of each value of a column, and its paired difference from one of them.

    Every value starts from the same state of `rng`: the numbers of one value are those of `evaluate`, and two
    values on the same comparisons have the same splits. A difference is taken on the labelled comparisons
    that both values have, with the same items to calibrate on; its interval is over items (ours).

    counts : value → votes, with codes of one selection.  reference : value to compare with; None: the first.

    Raises UnknownName for a reference that is not among the values, InvalidOption for none.
    Source: [BTD] §5; the paired difference is ours.
    """
    check_level(level)
    check_rules(COMPARED)
    if not counts:
        raise InvalidOption("Nothing to compare: the column has no value.")
    chosen = next(iter(counts)) if reference is None else reference
    if chosen not in counts:
        raise UnknownName(f"There is no value {chosen!r}; choose from {', '.join(counts)}.")
    values = {}
    for name, one in counts.items():
        try:
            found = evaluate(
                one,
                rng=copy.deepcopy(rng),
                methods=COMPARED,
                n_splits=n_splits,
                share=share,
                minimum=minimum,
                level=level,
                resamples=resamples,
                alpha=alpha,
                kappa=kappa,
                bounds=bounds,
            )
            values[name] = _value(one, found, None, level)
        except TooFewLabels as error:
            values[name] = _value(one, None, str(error), level)
    differences: list[PairedDifference] = []
    for name in counts:
        if name == chosen:
            continue
        here, there = _common(counts[name], counts[chosen])
        size = max(minimum, round(share * len(here)))
        try:
            drawn, nested = nested_splits(here, [size], rng=copy.deepcopy(rng), n_splits=n_splits)
            other, nested_other = nested_splits(there, [size], rng=copy.deepcopy(rng), n_splits=n_splits)
        except TooFewLabels as error:
            differences += [_unknown(name, chosen, rule, here, str(error)) for rule in COMPARED]
            continue
        both = []
        for split, calibration in ((drawn, nested[0]), (other, nested_other[0])):
            errors, hits = errors_and_hits(
                split, calibration, COMPARED, alpha=alpha, kappa=kappa, bounds=bounds
            )
            both.append((means(split, errors + hits), losses_by_item(split, errors + hits)))
        differences += _differences(name, chosen, drawn, both, level=level)
    return Comparison(
        values=values,
        differences=tuple(differences),
        reference=chosen,
        rules=COMPARED,
        n_splits=n_splits,
        share=share,
        level=level,
        resamples=resamples,
    )


def _value(
    counts: VoteCounts, evaluation: Evaluation | None, reason: str | None, level: float
) -> ComparedValue:
    labelled = counts.labelled()
    gold = None
    if len(labelled):
        one = np.ones(len(labelled), dtype=np.int64)
        gold = clustered_proportion(labelled.item, one, (labelled.gold == 0).astype(np.int64), level=level)
    n = counts.plus + counts.tie + counts.minus
    return ComparedValue(
        tie_votes=clustered_proportion(counts.item, n, counts.tie, level=level),
        tie_gold=gold,
        evaluation=evaluation,
        reason=reason,
        n_votes=counts.n_votes,
        n=len(counts),
        n_labelled=len(labelled),
    )


def _common(one: VoteCounts, other: VoteCounts) -> tuple[VoteCounts, VoteCounts]:
    """The labelled comparisons that both have, in the same order."""
    keep: BoolArray = (one.gold != NO_GOLD) & np.isin(one.comparison, other.comparison[other.gold != NO_GOLD])
    one = one.rows(keep)
    one = one.rows(np.argsort(one.comparison, kind="stable"))
    other = other.rows(np.isin(other.comparison, one.comparison))
    return one, other.rows(np.argsort(other.comparison, kind="stable"))


def _differences(
    value: str,
    reference: str,
    drawn: Splits,
    both: list[tuple[FloatArray, FloatArray]],
    *,
    level: float,
) -> list[PairedDifference]:
    (by_split, by_item), (by_split_other, by_item_other) = both
    estimate = (by_split - by_split_other).mean(axis=0)
    size = np.bincount(drawn.item).astype(np.float64)
    low, high = change_intervals(seen_items(by_item - by_item_other, size), estimate, level=level)
    k = len(COMPARED)
    return [
        PairedDifference(
            value=value,
            reference=reference,
            rule=rule,
            mae=float(by_split[:, m].mean()),
            mae_reference=float(by_split_other[:, m].mean()),
            difference=float(estimate[m]),
            difference_low=float(low[m]),
            difference_high=float(high[m]),
            pa_difference=float(estimate[k + m]),
            pa_difference_low=float(low[k + m]),
            pa_difference_high=float(high[k + m]),
            n=drawn.n,
            n_items=drawn.n_items,
            reason=None,
        )
        for m, rule in enumerate(COMPARED)
    ]


def _unknown(value: str, reference: str, rule: str, common: VoteCounts, reason: str) -> PairedDifference:
    nan = float("nan")
    return PairedDifference(
        value=value,
        reference=reference,
        rule=rule,
        mae=nan,
        mae_reference=nan,
        difference=nan,
        difference_low=nan,
        difference_high=nan,
        pa_difference=nan,
        pa_difference_low=nan,
        pa_difference_high=nan,
        n=len(common),
        n_items=len(np.unique(common.item)),
        reason=reason,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParameterGrid:
    """BTD parameters of many groups: (name, name) → mean, quartiles, regime; and why some have none."""

    tables: dict[tuple[str, str], ParameterTable]
    calibration: dict[tuple[str, str], float]
    n: dict[tuple[str, str], int]
    not_possible: dict[tuple[str, str], str]
    n_splits: int

    def to_frame(self) -> pd.DataFrame:
        """One row a group."""
        import pandas as pd

        rows = []
        for (task, judge), table in self.tables.items():
            row: dict[str, object] = {"task": task, "judge": judge}
            for place, name in enumerate(PARAMETERS):
                row |= {f"{name}_{part}": getattr(table, part)[place] for part in ("mean", "q1", "q3")}
            key = (task, judge)
            rows.append(
                row | {"regime": table.regime, "calibration": self.calibration[key], "n": self.n[key]}
            )
        return pd.DataFrame(rows)


def parameter_grid(
    groups: Mapping[tuple[str, str], VoteCounts],
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    alpha: float = 1.0,
    kappa: float = 1.0,
    bounds: Bounds | None = None,
) -> ParameterGrid:
    """Mean and quartiles of β, ν, γ over the splits of each (task, judge), and the regime that ν shows.

    Every group starts from the same state of `rng`, so its numbers are those of `evaluate` on it alone. A
    group too small to split is listed with the reason. Source: [BTD] Table 9.
    """
    tables, calibration, n, not_possible = {}, {}, {}, {}
    for key, counts in groups.items():
        try:
            found = evaluate(
                counts,
                rng=copy.deepcopy(rng),
                methods=("btd",),
                n_splits=n_splits,
                share=share,
                minimum=minimum,
                alpha=alpha,
                kappa=kappa,
                bounds=bounds,
                resamples=0,
            )
        except TooFewLabels as error:
            not_possible[key] = str(error)
            continue
        assert found.parameters is not None  # BTD is among the methods
        tables[key], calibration[key], n[key] = found.parameters, found.calibration, found.n
    return ParameterGrid(
        tables=tables, calibration=calibration, n=n, not_possible=not_possible, n_splits=n_splits
    )
