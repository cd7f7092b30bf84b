"""Rates of all judged answers, from labels of some, by how these were drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidOption
from ...records import FloatArray, IntArray
from ...stats.estimate import Estimate
from ...stats.intervals import check_level, design_effect, n_distinct, t_quantiles
from ..scores.table import UNDECIDED
from .which import Design

DRAWS = 4000
SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """Rates of a pass/fail judge over all answers that it judged.

    tpr, tnr : share of what people pass that it passes, and of what they fail that it fails.
    right : share of verdicts that are theirs.  rate : share that passes by their standard.
    youden : J = TPR + TNR − 1.
    """

    tpr: Estimate
    tnr: Estimate
    right: Estimate
    rate: Estimate
    youden: Estimate


def weigh(
    verdict: IntArray,
    truth: IntArray,
    design: Design,
    *,
    unit: IntArray | None = None,
    level: float = 0.95,
) -> Weighed:
    """Rates of all judged answers.

    Within verdicts, and of random labels: of verdict g, which N_g answers have and of whose m
    labels k pass, p_g ~ Beta(k + ½, m − k + ½); W ~ Beta(N₁ + ½, N₀ + ½); q = W·p₁ + (1 − W)·p₀,
    TPR = W·p₁/q, TNR = (1 − W)(1 − p₀)/(1 − q); the rate itself is `rate_within_verdicts`'. Within
    classes TPR and TNR are Wilson's on their
    own counts and q = (W − 1 + TNR)/J within [0, 1], of Jeffreys' draws. Where it is not known
    which holds (`asked`) values are those within verdicts, and every interval is the union of both.
    Intervals are quantiles of 4,000 draws, widened to hold the value.

    verdict, truth : (n,) 1 pass, 0 fail; −1 in `truth` has no label.
    unit : (n,) codes, by default each answer its own; counts are divided by the design effect.

    Raises InvalidOption for labels of one verdict alone, or a level outside (0, 1).
    Source: ours, docs/verdicts.md; Jeffreys (1946), Wilson (1927).
    """
    check_level(level)
    if design == "one verdict":
        raise InvalidOption("labels of one verdict alone say nothing of the other")
    if design == "asked":
        one, other = (
            weigh(verdict, truth, of, unit=unit, level=level) for of in ("verdicts", "classes")
        )
        return Weighed(**{name: _union(getattr(one, name), getattr(other, name)) for name in NAMES})
    code = np.arange(len(truth)) if unit is None else unit
    known = truth != UNDECIDED
    right = (verdict == truth)[known].astype(np.int64)
    deff = design_effect(code[known], np.ones(len(right), dtype=np.int64), right)
    rng = np.random.default_rng(SEED)
    passes, fails = int((verdict == 1).sum()), int((verdict == 0).sum())
    counts = {
        (said, true): float(((verdict == said) & (truth == true)).sum()) / deff
        for said in (0, 1)
        for true in (0, 1)
    }
    if design == "classes":
        first = counts[1, 1], counts[0, 1]
        second = counts[0, 0], counts[1, 0]
    else:
        first = counts[1, 1], counts[1, 0]
        second = counts[0, 1], counts[0, 0]
    share = rng.beta(passes + 0.5, fails + 0.5, DRAWS)
    drawn = [rng.beta(yes + 0.5, no + 0.5, DRAWS) for yes, no in (first, second)]
    point = [
        np.array([yes / (yes + no) if yes + no else (0.5 if design == "classes" else np.nan)])
        for yes, no in (first, second)
    ]
    rates = _rates if design != "classes" else _rates_of_classes
    with np.errstate(invalid="ignore", divide="ignore"):
        values = rates(np.array([passes / max(passes + fails, 1)]), *point)
        draws = rates(share, *drawn)
    n = {"tpr": int((truth == 1).sum()), "tnr": int((truth == 0).sum())}
    estimates = {
        name: _estimate(float(values[name][0]), draws[name], n.get(name, len(right)), level)
        for name in NAMES
    }
    if design == "classes":
        for name, (yes, no) in (("tpr", first), ("tnr", second)):
            if yes + no:
                of_class = wilson_of_units(
                    yes / (yes + no), yes / (yes + no), yes + no, yes + no, level
                )
                estimates[name] = replace(of_class, n=n[name])
    else:
        estimates["rate"] = rate_within_verdicts(verdict, truth, code, level=level)
    return Weighed(**estimates)


def rate_within_verdicts(
    verdict: IntArray, truth: IntArray, unit: IntArray, *, level: float = 0.95
) -> Estimate:
    """Share of all judged answers that people pass, from labels within the judge's verdicts.

    Of verdict g (fail, pass, or undecided between its runs), which W_g of all answers have and of
    whose m labels k pass: p̃ = (k + ½)/(m + 1), v = p̂(1 − p̂)·deff/max(m, ½) with
    p̂ = (k + 1)/(m + 2) and the design effect by unit. q = ΣW·p̃, V = ΣW²·v + ΣW·(p̃ − q)²/units,
    and the interval is Wilson's of q at n = q(1 − q)/V with t(units labelled − 1); the value is
    ΣW·k/m, p̃ where m = 0, and is held by the interval. The rate is that of answers like these: the
    second term of V is what W would vary by.

    verdict, truth : (n,) 1 pass, 0 fail, −1 undecided or without a label.  unit : (n,) codes.

    Source: docs/methods.md §11 (ours); post-stratification as in Cochran (1977) §5A.9; Wilson
    (1927).
    """
    labelled = truth != UNDECIDED
    value = centre = variance = square = 0.0
    for said in np.unique(verdict):
        of_verdict = verdict == said
        rows = of_verdict & labelled
        weight, m, k = float(of_verdict.mean()), int(rows.sum()), int(truth[rows].sum())
        share = (k + 0.5) / (m + 1)
        deff = 1.0
        if m:
            deff = design_effect(unit[rows], np.ones(m, dtype=np.int64), truth[rows])
        value += weight * (k / m if m else share)
        centre += weight * share
        square += weight * share**2
        # One more of each: where all labels of a verdict agree, others may not.
        doubt = (k + 1) / (m + 2)
        variance += weight**2 * doubt * (1 - doubt) * deff / max(m, 0.5)
    variance += (square - centre**2) / n_distinct(unit)
    n = centre * (1 - centre) / variance
    return wilson_of_units(value, centre, n, n_distinct(unit[labelled]), level)


def wilson_of_units(value: float, centre: float, n: float, units: float, level: float) -> Estimate:
    """Wilson's interval of `centre` at n with t(units − 1)² for z², widened to hold the value."""
    shrink = float(t_quantiles(max(units - 1, 1), level)) ** 2 / n
    half = float(np.sqrt(shrink * centre * (1 - centre) + shrink**2 / 4))
    low, high = ((centre + shrink / 2 + sign * half) / (1 + shrink) for sign in (-1, 1))
    return Estimate(
        value, max(min(low, value), 0.0), min(max(high, value), 1.0), n=int(units), level=level
    )


NAMES = ("tpr", "tnr", "right", "rate", "youden")


def _rates(share: FloatArray, pass_of: FloatArray, fail_of: FloatArray) -> dict[str, FloatArray]:
    # A verdict that nobody gave, and so nobody labelled, weighs nothing.
    first, second = np.nan_to_num(pass_of, nan=0.5), np.nan_to_num(fail_of, nan=0.5)
    rate = share * first + (1 - share) * second
    return _of(rate, share * first / rate, (1 - share) * (1 - second) / (1 - rate))


def _rates_of_classes(share: FloatArray, tpr: FloatArray, tnr: FloatArray) -> dict[str, FloatArray]:
    youden = tpr + tnr - 1
    safe = np.where(np.abs(youden) < 1e-6, 1e-6, youden)
    return _of(np.clip((share - 1 + tnr) / safe, 0, 1), tpr, tnr)


def _of(rate: FloatArray, tpr: FloatArray, tnr: FloatArray) -> dict[str, FloatArray]:
    right = rate * tpr + (1 - rate) * tnr
    return {"tpr": tpr, "tnr": tnr, "right": right, "rate": rate, "youden": tpr + tnr - 1}


def _estimate(value: float, draws: FloatArray, n: int, level: float) -> Estimate:
    low, high = np.nanquantile(draws, [(1 - level) / 2, (1 + level) / 2])
    if np.isnan(value):
        return Estimate(float(np.nanmedian(draws)), float(low), float(high), n=n, level=level)
    return Estimate(value, min(float(low), value), max(float(high), value), n=n, level=level)


def _union(one: Estimate, other: Estimate) -> Estimate:
    return Estimate(
        one.value, min(one.low, other.low), max(one.high, other.high), n=one.n, level=one.level
    )


def strata(
    stratum: IntArray, values: FloatArray, unit: IntArray, *, level: float = 0.95
) -> Estimate | None:
    """Mean of all rows from those that are known, each stratum weighing what it holds.

    stratum : (n,) codes from 0.  values : (n,) 0 to 1, NaN where a row has no label.
    Counts are divided by the design effect of units. None where a stratum has no label.
    """
    check_level(level)
    known = ~np.isnan(values)
    rows = np.flatnonzero(known)
    if not len(rows):
        return None
    deff = design_effect(unit[rows], np.ones(len(rows), dtype=np.int64), values[rows])
    k = int(stratum.max()) + 1
    sizes, seen = np.bincount(stratum, minlength=k), np.bincount(stratum[rows], minlength=k)
    right = np.bincount(stratum[rows], values[rows], minlength=k)
    return share_of_strata(sizes, seen / deff, right / deff, n=n_distinct(unit[rows]), level=level)


def share_of_strata(
    sizes: IntArray, seen: FloatArray, right: FloatArray, *, n: int, level: float = 0.95
) -> Estimate | None:
    """Σ W_s·p_s with W ~ Dirichlet(N_s + ½) and p_s ~ Beta(k_s + ½, m_s − k_s + ½); its ends are
    quantiles of 4,000 draws. None where a stratum has no label.

    sizes : rows of each stratum.  seen, right : of those looked at, and right among them.
    """
    needed = sizes > 0
    if not needed.any() or (needed & (seen <= 0)).any():
        return None
    rng = np.random.default_rng(SEED)
    # A stratum without an answer has no share.
    weight = np.where(needed, rng.dirichlet(sizes + 0.5, DRAWS), 0)
    shares = rng.beta(right + 0.5, np.maximum(seen - right, 0) + 0.5, (DRAWS, len(sizes)))
    value = float((sizes * right / np.maximum(seen, 1e-9))[needed].sum() / sizes.sum())
    return _estimate(value, (weight * shares).sum(axis=1) / weight.sum(axis=1), n, level)


def youden(tpr: Estimate, tnr: Estimate) -> Estimate:
    """J = TPR + TNR − 1 of two independent rates, its ends by MOVER on those of both.

    low = J − √((TPR − l₁)² + (TNR − l₂)²), high likewise. Source: Zou & Donner (2008).
    """
    value = tpr.value + tnr.value - 1
    below = float(np.hypot(tpr.value - tpr.low, tnr.value - tnr.low))
    above = float(np.hypot(tpr.high - tpr.value, tnr.high - tnr.value))
    return Estimate(
        value, max(value - below, -1.0), min(value + above, 1.0), n=tpr.n + tnr.n, level=tpr.level
    )
