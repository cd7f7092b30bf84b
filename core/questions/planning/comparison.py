"""Does another temperature, prompt or judge do better? Side by side, and on what both have judged.

The parameters of BTD by task and judge are compared the same way: every group starts from the same
splits.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InvalidOption, TooFewLabels, UnknownName
from ...records import NO_GOLD, BoolArray, VoteCounts
from ...stats.estimate import DataFrame, Estimate, data_frame
from ...stats.intervals import check_level, clustered_proportion, clustered_share
from ...stats.splits import change_intervals, mean_losses
from ..labels.btd import DEFAULTS, MINIMUM_LABELS, PARAMETERS, BTDOptions
from ..labels.evaluation import Evaluation, ParameterTable, evaluate
from ..labels.rules import RULES
from .protocol import errors_and_hits, losses_by_item, nested_splits, seen_items

JUDGED_BY = ("btd", "majority")
"""Rules that values of a column are compared under."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ComparedValue:
    """One value of the compared column.

    tie_votes : share of ties among its votes.  tie_gold : among the gold labels of its comparisons,
        None
    without gold.  Both with Wilson intervals clustered by item.
    evaluation : of `JUDGED_BY` on all its labelled comparisons, None if they are too few.
    reason : why there is no evaluation.  n_votes, n : votes and comparisons.  n_labelled : those
        with gold.
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
    """MAE and PA of a candidate minus those of the baseline, on the comparisons with gold that both
    have.

    Splits and items are the same for both; intervals are over items, NaN with one
    (`core.stats.splits`).
    mae, mae_baseline : on these comparisons.  delta, pa_delta : None with all else where there is a
        `reason`.
    n, n_items : comparisons that both have, and their items.
    """

    candidate: str
    baseline: str
    rule: str
    mae: float | None = None
    mae_baseline: float | None = None
    delta: Estimate | None = None
    pa_delta: Estimate | None = None
    n: int
    n_items: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Comparison:
    """Values of a column side by side, and each against `baseline` on common comparisons."""

    values: dict[str, ComparedValue]
    differences: tuple[PairedDifference, ...]
    baseline: str
    rules: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """One row per value and rule."""
        paired = {(one.candidate, one.rule): one for one in self.differences}
        scored = ("mae", "mae_item_low", "mae_item_high", "pa", "pa_item_low", "pa_item_high")
        rows = []
        for name, one in self.values.items():
            for rule in self.rules:
                score = one.evaluation.scores[rule] if one.evaluation else None
                difference = paired.get((name, rule))
                delta = difference.delta if difference else None
                rows.append(
                    {
                        "value": name,
                        "rule": RULES[rule].name,
                        "votes": one.n_votes,
                        "ties": one.tie_votes.value,
                        "ties_low": one.tie_votes.low,
                        "ties_high": one.tie_votes.high,
                        "gold_ties": one.tie_gold.value if one.tie_gold else np.nan,
                        **{field: getattr(score, field, np.nan) for field in scored},
                        "difference": getattr(delta, "value", np.nan),
                        "difference_low": getattr(delta, "low", np.nan),
                        "difference_high": getattr(delta, "high", np.nan),
                        "n": one.n_labelled,
                        "common": difference.n if difference else None,
                    }
                )
        return data_frame(rows).astype({"common": "Int64"})


def compare(
    counts: Mapping[str, VoteCounts],
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    baseline: str | None = None,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    level: float = 0.95,
    resamples: int = 2_000,
) -> Comparison:
    """Tie rates, MAE and PA of each value of a column, and its paired difference from one of them.

    Every value starts from the same state of `rng`: the numbers of one value are those of
    `evaluate`, and two values on the same comparisons have the same splits. A difference is taken
    on the labelled comparisons that both values have, with the same items to calibrate on; its
    interval is over items (ours).

    counts : value → votes, with codes of one selection.  baseline : value to compare with; None:
        the first.

    Raises UnknownName for a baseline that is not among the values, InvalidOption for none.
    Source: [BTD] §5; the paired difference is ours.
    """
    check_level(level)
    if not counts:
        raise InvalidOption("Nothing to compare: the column has no value.")
    baseline = next(iter(counts)) if baseline is None else baseline
    if baseline not in counts:
        raise UnknownName(f"There is no value {baseline!r}; choose from {', '.join(counts)}.")
    about = {
        "n_splits": n_splits,
        "share": share,
        "minimum": minimum,
        "level": level,
        "resamples": resamples,
    }
    values = {}
    for name, votes in counts.items():
        found, reason = _evaluated(votes, options, rng, methods=JUDGED_BY, **about)
        values[name] = _value(votes, found, reason, level)
    differences: list[PairedDifference] = []
    for candidate in counts:
        if candidate == baseline:
            continue
        pair = _common(counts[candidate], counts[baseline])
        labels = max(minimum, round(share * len(pair[0])))
        paired = _paired(pair, labels, options, rng=rng, n_splits=n_splits, level=level)
        differences += [
            PairedDifference(candidate=candidate, baseline=baseline, rule=rule, **paired[rule])
            for rule in JUDGED_BY
        ]
    return Comparison(
        values=values, differences=tuple(differences), baseline=baseline, rules=JUDGED_BY
    )


def _evaluated(
    counts: VoteCounts, options: BTDOptions, rng: np.random.Generator, **about: Any
) -> tuple[Evaluation | None, str | None]:
    """`evaluate`, every time from the same state of `rng`, or why there are too few labels
    for it.
    """
    try:
        return evaluate(counts, options, rng=copy.deepcopy(rng), **about), None
    except TooFewLabels as error:
        return None, str(error)


def _value(
    counts: VoteCounts, evaluation: Evaluation | None, reason: str | None, level: float
) -> ComparedValue:
    labelled = counts.labelled()
    gold = (
        clustered_share(labelled.item, labelled.gold == 0, level=level) if len(labelled) else None
    )
    return ComparedValue(
        tie_votes=clustered_proportion(counts.item, counts.n, counts.tie, level=level),
        tie_gold=gold,
        evaluation=evaluation,
        reason=reason,
        n_votes=counts.n_votes,
        n=len(counts),
        n_labelled=len(labelled),
    )


def _common(candidate: VoteCounts, baseline: VoteCounts) -> tuple[VoteCounts, VoteCounts]:
    """The labelled comparisons that both have, in the same order."""
    with_gold = baseline.comparison[baseline.gold != NO_GOLD]
    keep: BoolArray = (candidate.gold != NO_GOLD) & np.isin(candidate.comparison, with_gold)
    candidate = candidate.rows(keep)
    baseline = baseline.rows(np.isin(baseline.comparison, candidate.comparison))
    candidate, baseline = (
        votes.rows(np.argsort(votes.comparison, kind="stable")) for votes in (candidate, baseline)
    )
    return candidate, baseline


def _paired(
    pair: Sequence[VoteCounts],
    labels: int,
    options: BTDOptions,
    rng: np.random.Generator,
    n_splits: int,
    level: float,
) -> dict[str, dict[str, Any]]:
    """Fields of `PairedDifference` by rule, for a candidate and the baseline on the same
    comparisons.
    """
    size: dict[str, Any] = {"n": len(pair[0]), "n_items": len(np.unique(pair[0].item))}
    by_split, by_item = [], []
    for votes in pair:
        try:
            drawn, nested = nested_splits(
                votes, [labels], rng=copy.deepcopy(rng), n_splits=n_splits
            )
        except TooFewLabels as error:
            return {rule: size | {"reason": str(error)} for rule in JUDGED_BY}
        errors, hits = errors_and_hits(drawn, nested[0], JUDGED_BY, options)
        by_split.append(mean_losses(drawn, errors + hits))
        by_item.append(losses_by_item(drawn, errors + hits))
    # The items are the same for both.
    lost = seen_items(drawn, by_item[0] - by_item[1])
    delta = change_intervals(lost, (by_split[0] - by_split[1]).mean(axis=0), level=level)
    return {
        rule: size
        | {
            "mae": float(by_split[0][:, m].mean()),
            "mae_baseline": float(by_split[1][:, m].mean()),
            "delta": delta[m],
            "pa_delta": delta[len(JUDGED_BY) + m],
        }
        for m, rule in enumerate(JUDGED_BY)
    }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParameterGrid:
    """BTD parameters of many groups: (name, name) → mean, quartiles, regime; and why some have
    none.
    """

    tables: dict[tuple[str, str], ParameterTable]
    calibration: dict[tuple[str, str], float]
    n: dict[tuple[str, str], int]
    not_possible: dict[tuple[str, str], str]
    n_splits: int

    def to_frame(self) -> DataFrame:
        """One row per group."""
        rows = []
        for key, table in self.tables.items():
            row: dict[str, object] = {"task": key[0], "judge": key[1]}
            for place, name in enumerate(PARAMETERS):
                row |= {
                    f"{name}_{part}": getattr(table, part)[place] for part in ("mean", "q1", "q3")
                }
            rows.append(
                row
                | {"regime": table.regime, "calibration": self.calibration[key], "n": self.n[key]}
            )
        return data_frame(rows)


def parameter_grid(
    groups: Mapping[tuple[str, str], VoteCounts],
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
) -> ParameterGrid:
    """Mean and quartiles of β, ν, γ over the splits of each (task, judge), and the regime that ν
    shows.

    Every group starts from the same state of `rng`, so its numbers are those of `evaluate` on it
    alone. A group too small to split is listed with the reason. Source: [BTD] Table 9.
    """
    about = {"n_splits": n_splits, "share": share, "minimum": minimum, "resamples": 0}
    tried = {
        key: _evaluated(counts, options, rng, methods=("btd",), **about)
        for key, counts in groups.items()
    }
    found = {key: one for key, (one, _) in tried.items() if one}
    return ParameterGrid(
        tables={key: one.parameters for key, one in found.items() if one.parameters},
        calibration={key: one.calibration for key, one in found.items()},
        n={key: one.n for key, one in found.items()},
        not_possible={key: reason for key, (_, reason) in tried.items() if reason},
        n_splits=n_splits,
    )
