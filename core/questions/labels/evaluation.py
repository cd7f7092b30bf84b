"""How good is an aggregator on labels that it did not see: MAE and PA over splits, regret, top
cluster.

`shrinkage_gain` says what a prior gains: shrunken BTD beside other rules on the same splits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidOption, UnknownName
from ...extras import require
from ...records import FloatArray, IntArray, VoteCounts
from ...stats.estimate import DataFrame, Estimate, Estimates, OneRow, data_frame, rows_frame
from ...stats.intervals import check_level
from ...stats.splits import (
    ItemLosses,
    calibration_sets,
    change_intervals,
    error_intervals,
    half_width,
    item_losses,
    mean_losses,
    sign_flip_p_value,
    splits,
)
from .btd import DEFAULTS, PARAMETERS, Bounds, BTDOptions, decide, fit_many, natural
from .rules import REASONS, RULES, check_known, forecast_by, forecast_losses, one_hot
from .shrinkage import WEAK, Prior, PriorOfSplits, ShrunkenFits, shrunken

SPLITS_BY_DEFAULT = 100
"""Random splits where none are chosen."""
SIGNIFICANCE = 0.05
"""τ of the top cluster (docs/methods.md §3)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MethodScore:
    """One method over the splits: mean absolute error (0 to 2) and pairwise accuracy (0 to 1).

    *_low, *_high : mean ± z·SE over splits; splits overlap, so this is split variability, not
        sampling error.
    *_item_low, *_item_high : over items (`core.stats.splits`).
    regret : MAE minus that of BTD fitted on every label.
    top_cluster : not distinguished from the best method.
    p_value : least p against the methods above it in the top cluster; None for the best, and below
        the first
    method that differs, where the test stops.
    Without resamples *_item_low, *_item_high are NaN and top_cluster is None: not known.
    """

    key: str
    name: str
    dummy: bool
    mae: float
    mae_low: float
    mae_high: float
    mae_item_low: float
    mae_item_high: float
    pa: float
    pa_low: float
    pa_high: float
    pa_item_low: float
    pa_item_high: float
    regret: float
    top_cluster: bool | None
    p_value: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParameterTable:
    """Mean and quartiles of β, ν, γ over the splits, in that order, and the regime that ν shows."""

    mean: FloatArray
    q1: FloatArray
    q3: FloatArray
    regime: str

    def to_frame(self) -> DataFrame:
        """One row per parameter."""
        return data_frame(
            {"parameter": PARAMETERS, "mean": self.mean, "q1": self.q1, "q3": self.q3}
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Evaluation:
    """Methods compared on the same splits.

    scores : by key, best MAE first.  not_applicable : key → why.
    n, n_items : labelled comparisons and their items.  calibration : mean comparisons of a
        calibration set.
    mae_all_labels : MAE of BTD fitted on every label, on the same evaluation sets.
    majority_p_value : of the paired test of majority against the best method, whatever is between
        them; None if majority is the best or not among them, or without resamples.
    theta : BTD parameters (β, η₀, γ) of each split, (splits, 3).
    shrunken : parameters of shrunken BTD and what its prior contributed; None if it is not
        compared.
    by_item : errors of the methods in the order of `columns`, then their hits, item by item; None
        without resamples.
    """

    scores: dict[str, MethodScore]
    not_applicable: dict[str, str]
    parameters: ParameterTable | None
    theta: FloatArray
    mae_all_labels: float
    majority_p_value: float | None
    n: int
    n_items: int
    n_splits: int
    calibration: float
    share: float
    level: float
    shrunken: ShrunkenFits | None = None
    by_item: ItemLosses | None = None
    columns: tuple[str, ...] = ()

    def to_frame(self) -> DataFrame:
        """One row per method, best MAE first."""
        return rows_frame(MethodScore, self.scores.values())


def evaluate(
    counts: VoteCounts,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    methods: Sequence[str] | None = None,
    given: Mapping[str, IntArray] | None = None,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = 20,
    level: float = 0.95,
    resamples: int = 10_000,
    prior: Prior | PriorOfSplits = WEAK,
) -> Evaluation:
    """Compare methods on `n_splits` random splits of the labelled comparisons, the same splits for
    all.

    MAE = mean |ŷ − y|, PA = mean 1{ŷ = y} over the evaluation part; mean ± z·SE over splits, and an
    interval over items. Top cluster: rank 1 goes down the table until the first method that differs
    (p ≤ .05) from any already in, by paired sign flips of per-item loss, one sign per item;
    p = (1 + #{|T_r| ≥ |T|})/(R + 1). Both leave out the variance of the calibration draw.

    methods : keys of RULES, None for all.  given : labels by method and row of `counts` for methods
        that
    need confidences or lengths; without them such a method is listed in `not_applicable`.
    resamples : sign flips R. 0 leaves them and the intervals over items out, for an answer in a
    fraction of the time; every other number is the same, whatever the resamples.
    prior : of shrunken BTD, see `core.questions.labels.shrinkage`; one that asks for the splits has
        items drawn by
    name. A prior that learns its λ takes most of a second.

    Raises UnknownName for a method that does not exist, else as `splits` and `fit_many`.
    Source: [BTD] §5; regret, intervals over items and the sign-flip test are ours.
    """
    check_level(level)
    if resamples and resamples < 100:
        raise InvalidOption(f"{resamples} resamples: use at least 100, or 0 for none.")
    wanted = list(RULES if methods is None else dict.fromkeys(methods))
    check_known(wanted)
    given = {key: labels for key, labels in (given or {}).items() if key in wanted}
    skipped = {
        key: REASONS[RULES[key].needs]
        for key in wanted
        if RULES[key].forecast is None and key not in given
    }
    used = [key for key in wanted if key not in skipped]

    drawn = splits(
        counts,
        rng=rng,
        n_splits=n_splits,
        share=share,
        minimum=minimum,
        given=given,
        by_name=callable(prior),
    )
    # The last calibration set is all labels: what regret is measured against.
    together = np.concatenate([drawn.calibration, drawn.cells.weight[None]])
    fits = fit_many(drawn.cells, together, options)
    decided = one_hot(decide(fits.probabilities(drawn.cells)))
    forecasts = {key: one_hot(labels)[None] for key, labels in drawn.given.items()} | {
        "btd": decided[:-1]
    }
    shrunken_fits = None
    if "btd_shrunk" in used:
        own_prior = prior(drawn) if callable(prior) else prior
        # Folds of its own: the resamples of the others stay what they are.
        shrunken_fits = shrunken(calibration_sets(drawn), own_prior, options, rng=rng.spawn(1)[0])
        forecasts["btd_shrunk"] = one_hot(decide(shrunken_fits.probabilities(drawn.cells)))
    for key in used:
        if key not in forecasts:
            forecasts[key] = forecast_by(key, drawn.cells, drawn.calibration, options)
    losses = [forecast_losses(forecasts[key], drawn.cells.gold) for key in used]
    errors_and_hits = [error for error, _ in losses] + [hit for _, hit in losses]
    by_split = mean_losses(drawn, errors_and_hits)
    reference = float(
        mean_losses(drawn, forecast_losses(decided[-1:], drawn.cells.gold)[:1]).mean()
    )
    estimate, half = by_split.mean(axis=0), half_width(by_split, level).tolist()
    order = np.argsort(estimate[: len(used)], kind="stable")
    over_items = Estimates(estimate, *np.full((2, len(estimate)), np.nan))
    top: list[int] = []
    p_values: dict[int, float] = {}
    majority_p_value = by_item = None
    if resamples:
        by_item = item_losses(drawn, errors_and_hits)
        most = np.repeat([2.0, 1.0], len(used))
        over_items = error_intervals(by_item, estimate, highest=most, level=level)
        on_errors = replace(by_item, loss=by_item.loss[:, : len(used)])
        top, p_values = _top_cluster(on_errors, order, resamples, rng)
        if "majority" in used and order[0] != used.index("majority"):
            apart = on_errors.loss[:, used.index("majority")] - on_errors.loss[:, order[0]]
            majority_p_value = sign_flip_p_value(
                apart, on_errors.items, resamples=resamples, rng=rng
            )
    scores = {}
    for m in order.tolist():
        columns: dict[str, float] = {}
        for name, place in (("mae", m), ("pa", len(used) + m)):
            mean = float(by_split[:, place].mean())
            columns |= {
                name: mean,
                f"{name}_low": mean - half[place],
                f"{name}_high": mean + half[place],
            }
            columns |= {
                f"{name}_item_{end}": getattr(over_items[place], end) for end in ("low", "high")
            }
        scores[used[m]] = MethodScore(
            key=used[m],
            name=RULES[used[m]].name,
            dummy=RULES[used[m]].dummy,
            regret=columns["mae"] - reference,
            top_cluster=m in top if resamples else None,
            p_value=p_values.get(m),
            **columns,
        )
    return Evaluation(
        scores=scores,
        not_applicable=skipped,
        parameters=_parameter_table(fits.theta[:-1]) if "btd" in used else None,
        theta=fits.theta[:-1],
        mae_all_labels=reference,
        majority_p_value=majority_p_value,
        n=drawn.n,
        n_items=drawn.n_items,
        n_splits=n_splits,
        calibration=float(drawn.calibration.sum(axis=1).mean()),
        share=share,
        level=level,
        shrunken=shrunken_fits,
        by_item=by_item,
        columns=tuple(used),
    )


def regime(nu_q1: float, nu_q3: float) -> str:
    """How much the fits correct towards ties: high if Q1(ν) ≥ 100, low if Q3(ν) ≤ 10, else
    mismatched.

    The cut-offs are ours; they reproduce [BTD] Table 9.
    """
    if nu_q1 >= 100:
        return "high correction"
    return "low correction" if nu_q3 <= 10 else "mismatched"


def _top_cluster(
    losses: ItemLosses, order: IntArray, resamples: int, rng: np.random.Generator
) -> tuple[list[int], dict[int, float]]:
    """Methods of rank 1, and for every method tested the least p against those above it in
    rank 1.
    """
    top, p_values = [int(order[0])], {}
    for method in order[1:].tolist():
        p_values[method] = min(
            sign_flip_p_value(
                losses.loss[:, method] - losses.loss[:, member],
                losses.items,
                resamples=resamples,
                rng=rng,
            )
            for member in top
        )
        if p_values[method] <= SIGNIFICANCE:
            break
        top.append(method)
    return top, p_values


def _parameter_table(theta: FloatArray) -> ParameterTable:
    values = natural(theta)
    q1, q3 = np.quantile(values, [0.25, 0.75], axis=0)
    return ParameterTable(mean=values.mean(axis=0), q1=q1, q3=q3, regime=regime(q1[1], q3[1]))


COMPARED = ("majority", "threshold", "btd", "btd_shrunk")
FEWEST = 1e-9
"""A share that no data set has an item for, so that the least number of comparisons decides."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairedChange(OneRow):
    """One method's mean absolute error and pairwise accuracy minus another's, on the same splits.

    mae below 0, pa above 0: `key` is better than `beside`.  Intervals are over items; they leave
    out which
    items calibrate, and are NaN with one item.  n, n_items : comparisons and items.
    """

    key: str
    beside: str
    mae: Estimate
    pa: Estimate
    n: int
    n_items: int
    level: float


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

    def to_frame(self) -> DataFrame:
        """One row per method that shrunken BTD is compared with."""
        require("pandas", purpose="A data frame")
        import pandas as pd

        rows = pd.concat(
            [self.beside_btd.to_frame(), self.beside_threshold.to_frame()], ignore_index=True
        )
        return rows.assign(calibration=self.evaluation.calibration)


def paired_change(value: Evaluation, key: str, beside: str) -> PairedChange:
    """Difference of two methods' MAE and PA as the evaluation has them, with an interval paired by
    item.

    Δ = MAE(key) − MAE(beside), mean over splits; the interval is that of `change_intervals`, each
    item's loss averaged over the splits that hold it out.

    Raises UnknownName for a method that was not compared, InvalidOption for an evaluation without
    resamples.
    Source: ours.
    """
    for name in (key, beside):
        if name not in value.scores:
            raise UnknownName(f"{name!r} was not compared; there are {', '.join(value.scores)}.")
    if value.by_item is None:
        raise InvalidOption(
            "An evaluation with resamples = 0 has no errors by item; use 100 or more."
        )
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
    Scores are those of `evaluate` with the same `rng`; errors as there. Source: ours,
    docs/methods.md §9.
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
    return ShrinkageGain(
        evaluation=found,
        beside_btd=paired_change(found, "btd_shrunk", "btd"),
        beside_threshold=paired_change(found, "btd_shrunk", "threshold"),
        on_bound=_on_bound(found.theta, options.bounds),
        on_bound_shrunken=_on_bound(found.shrunken.theta, options.bounds),
    )


def _on_bound(theta: FloatArray, bounds: Bounds) -> int:
    low, high = np.log(bounds.nu)
    return int(((theta[:, 1] <= low) | (theta[:, 1] >= high)).sum())
