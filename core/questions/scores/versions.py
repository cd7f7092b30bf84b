"""Is one version better than another: few labels of both, and a judge that may favour one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidOption
from ...records import FloatArray
from ...stats.estimate import Estimate, OneRow
from ...stats.intervals import check_level, dense_codes, mean_interval, n_distinct
from ..boards.debiased import rectified_mean, sums_by_item
from .table import ScoreTable, mean_of_known

LEAST_PAIRS = 30
"""Labelled pairs below which the judge's differences are not used."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VersionDifference(OneRow):
    """Version B minus version A on the same items, −1 to 1; None where `reason` says why.

    of : `pass`, of pass rates, or `score`, of scores in shares of the scale.
    difference : by people's labels and the judge's differences.  weight : λ, how far these count.
    labels : by the labelled pairs alone.  judge : as the judge sees it, on all pairs.
    bias : what the judge adds between the versions, its difference minus people's on the labelled
        pairs.
    n, n_labelled : pairs, and those that people judged in both versions; units of each.
    """

    of: str
    difference: Estimate | None
    weight: float | None
    labels: Estimate | None
    judge: Estimate | None
    bias: Estimate | None
    n: int
    units: int
    n_labelled: int
    units_labelled: int
    reason: str | None


def compare_versions(a: ScoreTable, b: ScoreTable, *, level: float = 0.95) -> VersionDifference:
    """How much better version B is, from labels of some pairs and the judge's scores of all.

    With y = y_B − y_A of people on n labelled pairs and f = f_B − f_A of the judge there and on N
    others: difference = λ·mean f(others) + mean(y − λ·f), λ = cov(y, f)/((1 + n/N)·var f) within
    [0, 1], the covariance over labelled pairs (divided by n), the variance over all (by n + N − 1).
    Two items at ±1 are added to the labelled ones, and the interval is t(units − 1) by unit
    (`rectified_mean`). Values are shares of runs or people that pass, where both say so, else
    scores over the length of the scale.

    A judge's own difference mixes the versions with its taste: one that favours B in a fifth of
    its failures calls equal versions different in 96 % of draws, this in 7 % at most.

    a, b : one row per item, the same items in the same order, of one judge, metric and scale.

    The judge's differences are used from 30 labelled units on, else `difference` is None and
    labels stand alone. Raises InvalidOption for tables of other lengths, units or scales, or a
    level outside (0, 1).
    Source: docs/methods.md §11; Angelopoulos, Duchi & Zrnic (2023), PPI++; added items ours.
    """
    check_level(level)
    if len(a) != len(b) or (a.unit != b.unit).any():
        raise InvalidOption("two versions are compared on the same items in the same order")
    if (a.low, a.high, a.kind) != (b.low, b.high, b.kind):
        raise InvalidOption(
            f"two versions are compared on one scale; these are {a.low:g} to {a.high:g} and "
            f"{b.low:g} to {b.high:g}"
        )
    by_pass = all(side.passing is not None and side.people_passing is not None for side in (a, b))
    judged, said = (_values(b, who, by_pass) - _values(a, who, by_pass) for who in WHO)
    known = ~np.isnan(judged)
    unit = dense_codes(a.unit[known]) if known.any() else a.unit[known]
    judged, said = judged[known], said[known]
    labelled = ~np.isnan(said)
    n, n_labelled, units = len(judged), int(labelled.sum()), n_distinct(unit)
    with_label = n_distinct(unit[labelled])
    judge = labels = bias = difference = weight = None
    if n:
        judge = mean_interval(unit, judged, ends=(-1.0, 1.0), level=level)
    if n_labelled:
        own = unit[labelled]
        labels = mean_interval(own, said[labelled], ends=(-1.0, 1.0), level=level)
        apart = judged[labelled] - said[labelled]
        bias = mean_interval(own, apart, ends=(-1.0, 1.0), within=(-2.0, 2.0), level=level)
    reason = None
    if with_label < LEAST_PAIRS:
        reason = f"it needs {LEAST_PAIRS} labelled pairs; there are {with_label}"
    else:
        weight = tuned_weight(said[labelled], judged[labelled], judged[~labelled])
        if n_distinct(unit[~labelled]) < 2:
            weight = 0.0
        size = int(unit.max()) + 1
        rectified = rectified_mean(
            sums_by_item(unit[labelled], said[labelled] - weight * judged[labelled], size),
            sums_by_item(unit[~labelled], judged[~labelled], size),
            weight,
            ends=(-1.0, 1.0),
            within=(-1.0, 1.0),
            level=level,
        )
        difference = replace(rectified, n=with_label)
    return VersionDifference(
        of="pass" if by_pass else "score",
        difference=difference,
        weight=weight,
        labels=labels,
        judge=judge,
        bias=bias,
        n=n,
        units=units,
        n_labelled=n_labelled,
        units_labelled=with_label,
        reason=reason,
    )


WHO = ("judge", "people")


def _values(table: ScoreTable, who: str, by_pass: bool) -> FloatArray:
    """Shares that pass, or scores in shares of the scale."""
    if by_pass:
        return table.passed if who == "judge" else mean_of_known(table.person_passed)
    score = table.judge if who == "judge" else table.reference
    return np.asarray((score - table.low) / (table.scale or 1.0))


def tuned_weight(said: FloatArray, judged: FloatArray, others: FloatArray) -> float:
    """λ of least variance: cov(y, f)/((1 + n/N)·var f) within 0 to 1; 0 where f never differs.

    said, judged : (n,) people's and the judge's values where both are known.  others : (N,) the
        judge's elsewhere.
    """
    every = np.concatenate([judged, others])
    variance = float(every.var(ddof=1)) if len(every) > 1 else 0.0
    if variance < 1e-12 or not len(others):
        return 0.0
    covariance = float(((said - said.mean()) * (judged - judged.mean())).mean())
    return float(np.clip(covariance / (variance * (1 + len(said) / len(others))), 0.0, 1.0))
