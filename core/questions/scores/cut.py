"""The score from which an answer should pass, by what its errors cost, judged on other answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import InvalidOption, TooFewLabels
from ...records import BoolArray, FloatArray, IntArray
from ...stats.estimate import DataFrame, Estimate, data_frame, flat
from ...stats.intervals import check_level, wilson_by_item
from .passing import NO_PEOPLE
from .table import SAME, UNDECIDED, ScoreTable

MOST_CUTS = 60
"""More distinct scores than this are cut at so many of their quantiles."""
LEAST_LABELS = 50
LEAST_OF_CLASS = 10
WIDENING = 1.3
"""Factor on both sides of the interval of a cross-fitted cost: the folds choose from nearly the
same answers and err together. With it .95 intervals hold in .93 to .99 of 36 simulated cells,
without it in .86 to .96."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cut:
    """The cut that costs least, and what it costs on answers that did not choose it.

    cut : pass from this score on, in the judge's units; infinite where failing all is cheapest.
    cost : per answer, cross-fitted.  tpr, tnr : of the same held-out verdicts.
    pass_all, fail_all : cost per answer of the trivial cuts.
    better : whether the whole interval of `cost` is below the cheaper trivial cut.
    price_fp, price_fn : of passing an answer that people fail, of failing one that they pass.
    candidates : cuts that were tried.  n, units : labelled answers and their units.
    passed : (all answers) 1 where an answer passes, 0 where not, −1 without a score: a labelled one
        by the cut that other answers chose, any other by `cut`.
    """

    cut: float
    cost: Estimate
    tpr: Estimate
    tnr: Estimate
    pass_all: Estimate
    fail_all: Estimate
    better: bool
    price_fp: float
    price_fn: float
    candidates: int
    n: int
    units: int
    passed: IntArray = field(repr=False)

    def to_frame(self) -> DataFrame:
        """One row, without `passed`."""
        return data_frame([flat(self, without=("passed",))])


def best_cut(
    table: ScoreTable,
    *,
    rng: np.random.Generator,
    price_fp: float = 1.0,
    price_fn: float = 1.0,
    folds: int = 10,
    level: float = 0.95,
) -> Cut:
    """The score from which answers should pass, by the prices of both errors.

    cost(c) = (price_fp·#[score ≥ c, people fail] + price_fn·#[score < c, people pass])/n over the
    labelled answers; c is the median of the cheapest of all scores that occur, or of 60 of their
    quantiles, and of failing all. Its cost is cross-fitted: units are dealt into folds, and each
    fold is judged by the cut that the others choose. The interval is Wilson's by unit
    (`wilson_by_item`) of cost/(larger price), its sides 1.3 times as long.

    The error on the answers that chose a cut is too low (.33 for .45 with 50 labels) and is not
    part of the result. Another price chooses and judges anew.

    Raises TooFewLabels for fewer than 50 labelled answers, 10 that pass and 10 that fail, or units
    than folds; InvalidOption for prices that are not above 0, folds below 2, or a level outside
    (0, 1). Source: docs/methods.md §11 (ours).
    """
    check_level(level)
    for name, price in (("price_fp", price_fp), ("price_fn", price_fn)):
        if not (price > 0 and math.isfinite(price)):
            raise InvalidOption(f"{name}: {price:g} is not above 0")
    if folds < 2:
        raise InvalidOption(f"folds: {folds} is below 2; a cut must be judged on other answers")
    labelled = (table.people_verdict != UNDECIDED) & ~np.isnan(table.judge)
    known = table.rows(labelled)
    passes = known.people_verdict == 1
    code, units = known.unit_codes()
    _check_labels(table, passes, units, folds)
    scores = np.unique(known.judge.round(9))
    if len(scores) > MOST_CUTS:
        scores = np.unique(np.quantile(known.judge, np.linspace(0, 1, MOST_CUTS)).round(9))
    # The place of an answer among the cuts: it passes the cuts up to there.
    place = np.searchsorted(scores, known.judge + SAME, side="right") - 1
    fold = (rng.permutation(units) % folds)[code]
    size = len(scores)
    tables = np.stack(
        [
            np.bincount(fold[rows] * size + place[rows], minlength=folds * size).reshape(folds, -1)
            for rows in (~passes, passes)
        ]
    )
    whole = tables.sum(axis=1)
    chosen = _cheapest(whole, price_fp, price_fn)
    own = np.array([_cheapest(whole - tables[:, k], price_fp, price_fn) for k in range(folds)])
    passed = place >= own[fold]
    errors = np.where(passes, price_fn * ~passed, price_fp * passed)
    most, ones = max(price_fp, price_fn), np.ones(len(known))

    def cost(of: FloatArray) -> Estimate:
        # The cheaper error is a part of the dearer one: an answer can tell more than a yes or no.
        parts = price_fp != price_fn
        share = wilson_by_item(known.unit, ones, of / most, half_credit=parts, level=level)
        return share.scaled(most)

    def rate(rows: BoolArray, right: BoolArray) -> Estimate:
        return wilson_by_item(known.unit[rows], ones[rows], right[rows], level=level)

    pass_all, fail_all = cost(np.where(passes, 0.0, price_fp)), cost(np.where(passes, price_fn, 0))
    found = _widened(cost(errors), most)
    cut = float(scores[chosen]) if chosen < size else math.inf
    verdicts = np.where(np.isnan(table.judge), UNDECIDED, table.judge >= cut - SAME)
    verdicts[labelled] = passed
    return Cut(
        cut=cut,
        cost=found,
        tpr=rate(passes, passed),
        tnr=rate(~passes, ~passed),
        pass_all=pass_all,
        fail_all=fail_all,
        better=found.high < min(pass_all.value, fail_all.value),
        price_fp=price_fp,
        price_fn=price_fn,
        candidates=size + 1,
        n=len(known),
        units=units,
        passed=verdicts.astype(np.int64),
    )


def _check_labels(table: ScoreTable, passes: BoolArray, units: int, folds: int) -> None:
    if table.people_passing is None:
        raise TooFewLabels(f"A cut needs answers that people pass and that they fail; {NO_PEOPLE}.")
    n, of_pass = len(passes), int(passes.sum())
    if n < LEAST_LABELS or min(of_pass, n - of_pass) < LEAST_OF_CLASS:
        raise TooFewLabels(
            f"A cut needs {LEAST_LABELS} labelled answers, {LEAST_OF_CLASS} that people pass and "
            f"{LEAST_OF_CLASS} that they fail; there are {n}, {of_pass} and {n - of_pass}."
        )
    if units < folds:
        raise TooFewLabels(
            f"A cut in {folds} folds needs {folds} items or more; there are {units}."
        )


def _cheapest(counts: IntArray, price_fp: float, price_fn: float) -> int:
    """Place of the median of the cheapest cuts, from (2, cuts) answers that fail and pass; one
    more than the last is failing all.
    """
    failed, passed = (np.append(row, 0) for row in counts)
    false_pass = failed[::-1].cumsum()[::-1]
    false_fail = passed.cumsum() - passed
    cost = price_fp * false_pass + price_fn * false_fail
    cheapest = np.flatnonzero(cost <= cost.min() * (1 + 1e-12))
    return int(cheapest[(len(cheapest) - 1) // 2])


def _widened(cost: Estimate, most: float) -> Estimate:
    low, high = (cost.value + WIDENING * (end - cost.value) for end in (cost.low, cost.high))
    return replace(cost, low=max(low, 0.0), high=min(high, most))
