"""How far labels can be trusted: what one person repeats, and what two people's errors leave."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import InvalidOption
from ..records import FloatArray
from ..stats.estimate import Estimate
from ..stats.intervals import check_level, proportion, t_quantile, wilson_by_item
from .verdict import Grade

LEAST_REPEATS = 10
REPEATED = 0.10
"""Share of labels that are asked again."""
APART = 20
"""Other labels between the first time and the second."""
SURE = 0.90
"""A person who is shown to repeat less than this may be the one who errs."""
OVERLAP = 0.30
LEAST_OVERLAP = 50
"""Share, and least number, of items that a second person labels too."""


def repeatability(same: int, n: int, *, level: float = 0.95) -> Estimate:
    """Share of blind repeats, sides drawn anew, that are answered as the first time (Wilson)."""
    if not 0 <= same <= n:
        raise InvalidOption(f"same = {same}: not within 0 to {n} repeats")
    return proportion(same, n, level=level)


def doubtful(grade: Grade, repeated: Estimate | None) -> Grade:
    """*warn* and *fail* become *unclear* where the person is shown to repeat less than .90.

    Errors of a person make a judge look worse, so *ok* stays.
    """
    if grade in ("warn", "fail") and repeated is not None and repeated.high < SURE:
        return "unclear"
    return grade


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CorrectedAccuracy:
    """Share right against what two people would both mean, beside the raw one.

    raw : against the first person.  agreement : of the two people.  error : of one person, as
        likely either way.  corrected : None where `reason` says why.
    """

    raw: Estimate
    agreement: Estimate
    error: float | None
    corrected: Estimate | None
    reason: str | None


def corrected_accuracy(
    right: FloatArray, agrees: FloatArray, *, level: float = 0.95
) -> CorrectedAccuracy:
    """Share right as if people did not err, from a second person on a random part of the items.

    With two people who err alike and apart on decided labels with probability e, they agree in
    a = (1 − e)² + e² and the raw share right is p = q(1 − e) + (1 − q)e. So
    e = (1 − √(2a − 1))/2 and q = (p − e)/(1 − 2e). Its SE is the delta method's with
    p̃ = (Σ + 1)/(n + 2) and ã alike, and the covariance over items that both labelled; t with
    as many degrees of freedom as the second person has labels, less one.

    right : (n,) what the judge gets for the first person's label, 0 to 1.  agrees : (n,) whether
        the second person says the same, NaN where that one did not label.

    Source: docs/methods.md §12; Dawid & Skene (1979) with two alike raters of two classes;
    Rogan & Gladen (1978) for q.
    """
    check_level(level)
    both = ~np.isnan(agrees)
    n, m = len(right), int(both.sum())
    raw = _mean_of(right, level=level)
    agreement = _mean_of(agrees[both], level=level)
    if m < LEAST_OVERLAP:
        return CorrectedAccuracy(
            raw=raw,
            agreement=agreement,
            error=None,
            corrected=None,
            reason=f"it needs {LEAST_OVERLAP} items that two people labelled; there are {m}",
        )
    p, a = float(right.mean()), float(agrees[both].mean())
    if 2 * a - 1 <= 0.05:
        return CorrectedAccuracy(
            raw=raw,
            agreement=agreement,
            error=None,
            corrected=None,
            reason="the two people agree about as often as chance",
        )
    smooth_p, smooth_a = (n * p + 1) / (n + 2), (m * a + 1) / (m + 2)
    root = math.sqrt(2 * smooth_a - 1)
    # q = ½ + (p − ½)/√(2a − 1)
    by_p, by_a = 1 / root, -(smooth_p - 0.5) / root**3
    together = right[both] - right[both].mean()
    covariance = float((together * (agrees[both] - a)).sum()) / (m * n)
    variance = (
        by_p**2 * smooth_p * (1 - smooth_p) / n
        + by_a**2 * smooth_a * (1 - smooth_a) / m
        + 2 * by_p * by_a * covariance
    )
    exact = math.sqrt(2 * a - 1)
    value = min(max(0.5 + (p - 0.5) / exact, 0.0), 1.0)
    centre = 0.5 + (smooth_p - 0.5) / root
    half = t_quantile(m - 1, level) * math.sqrt(max(variance, 0.0))
    return CorrectedAccuracy(
        raw=raw,
        agreement=agreement,
        error=(1 - exact) / 2,
        corrected=Estimate(
            value,
            max(min(centre - half, value), 0.0),
            min(max(centre + half, value), 1.0),
            n=n,
            level=level,
        ),
        reason=None,
    )


def _mean_of(values: FloatArray, *, level: float) -> Estimate:
    """Mean of values of 0 to 1, one per item, with Wilson's interval."""
    n = len(values)
    if not n:
        return Estimate(math.nan, n=0, level=level)
    return wilson_by_item(np.arange(n), np.ones(n), values, half_credit=True, level=level)
