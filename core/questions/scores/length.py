"""Does a judge score long answers higher than people do?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...records import FloatArray, IntArray
from ...stats.estimate import Estimate, OneRow
from ...stats.intervals import check_level
from ...stats.jackknife import Moments, jackknife_interval, moments
from .agreement import NO_ORDER, NOBODY
from .people import LEAST_PAIR
from .table import ScoreTable, mean_of_known

NO_LENGTH = "the lengths of the answers are not known"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LengthEffect(OneRow):
    """What one SD more of length adds to a judge's score beyond people's, in shares of the scale.

    instrumented : with two people or more, free of their noise; None where `reason` says why.
    raw : slope of judge minus people on length.  partial : slope of the judge on length at equal
        scores of people. With one person neither is the truth: noise of people pulls `raw` towards
        what people's taste for length is, and `partial` towards what length and quality share.
    sd : of length, in its own unit.
    """

    instrumented: Estimate | None
    raw: Estimate | None
    partial: Estimate | None
    sd: float | None
    n: int
    units: int
    reason: str | None


def length_effect(table: ScoreTable, *, level: float = 0.95) -> LengthEffect:
    """Slope of a judge's scores on length at equal quality, per SD of length, −1 to 1 or so.

    With z the standardised length, j and h the scores of judge and people over the length of the
    scale: raw is the slope of j − h on z; partial the slope on z in j ~ h + z by least squares.
    Noise of h flattens its slope in the second, and length takes what it leaves where long answers
    are better ones. With two people or more, j ~ h₁ + z with (h₂, z) as instruments,

        b = [c(h₂,h₁)·c(z,j) − c(z,h₁)·c(h₂,j)] / [c(h₂,h₁)·c(z,z) − c(h₂,z)·c(z,h₁)],

    h₁ one person and h₂ the mean of the others and the other way round, averaged over people by
    how many answers they have: noise of h₁ is not that of h₂. It is unknown where people's
    covariance at equal length is not shown to be above 0.

    Intervals leave out units, the SD of length with them. With one person say that length matters
    only if raw and partial both exclude 0 on one side, and that it does not only if both are within
    the limits.

    table : with `length`, and people on the judge's scale for `raw`.
    Raises InvalidOption for a level outside (0, 1).
    Source: docs/methods.md §11 (ours); Wald (1940) and Reiersøl (1941) for the instrument.
    """
    check_level(level)
    known = table.scored()
    reason = _reason(known)
    if reason is None and known.length is not None:
        known = known.rows(~np.isnan(known.length))
    code, units = known.unit_codes()
    lengths = known.length
    if reason is not None or lengths is None or len(known) < LEAST_PAIR or np.ptp(lengths) == 0:
        if reason is None:
            short = len(known) < LEAST_PAIR
            few = f"it needs {LEAST_PAIR} scored answers of known length; there are {len(known)}"
            reason = few if short else "all answers are equally long"
        return LengthEffect(
            instrumented=None,
            raw=None,
            partial=None,
            sd=None,
            n=len(known),
            units=units,
            reason=reason,
        )
    sd = float(lengths.std())
    z = (lengths - lengths.mean()) / sd
    judge, people = known.judge / known.scale, known.people / known.scale
    reference = mean_of_known(people)
    raw = None
    if known.same_scale:
        apart = moments(judge - reference, z, code, units)
        raw = jackknife_interval(_ratio(apart.cov, np.sqrt(apart.var_y)), level=level)
    # The reference as its own instrument is least squares.
    partial = jackknife_interval(
        _slope(judge, reference, reference, z, code, units)[0], level=level
    )
    instrumented, reason = _instrumented(judge, people, z, code, units, level)
    return LengthEffect(
        instrumented=instrumented,
        raw=raw,
        partial=None if np.isnan(partial.value) else partial,
        sd=sd,
        n=len(known),
        units=units,
        reason=reason,
    )


def _reason(known: ScoreTable) -> str | None:
    if known.length is None or not (~np.isnan(known.length)).any():
        return NO_LENGTH if len(known) else NOBODY
    if known.kind == "labels":
        return NO_ORDER
    return "the scale has one value only" if known.scale <= 0 else None


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(above / below)


def _slope(
    judge: FloatArray,
    person: FloatArray,
    instrument: FloatArray,
    z: FloatArray,
    code: IntArray,
    units: int,
) -> tuple[FloatArray, FloatArray]:
    """b of `length_effect` per SD of z, and people's covariance at equal length, with all units and
    without each.
    """

    def together(one: FloatArray, two: FloatArray) -> Moments:
        return moments(one, two, code, units)

    people, with_z = together(instrument, person), together(person, z)
    other_z, own, long = together(instrument, z), together(instrument, judge), together(judge, z)
    free = people.cov * with_z.var_y - other_z.cov * with_z.cov
    slope = people.cov * long.cov - with_z.cov * own.cov
    # Rounding leaves a trace where people follow length alone.
    nothing = np.abs(free) <= 1e-12 * np.abs(people.cov * with_z.var_y)
    per_sd = slope * np.sqrt(with_z.var_y)
    return _ratio(per_sd, np.where(nothing, np.nan, free)), _ratio(free, with_z.var_y)


def _instrumented(
    judge: FloatArray, people: FloatArray, z: FloatArray, code: IntArray, units: int, level: float
) -> tuple[Estimate | None, str | None]:
    found = list(_each_way(judge, people, z, code, units))
    if not found:
        return None, f"no person shares {LEAST_PAIR} answers with another one"
    weights = np.array([weight for weight, _, _ in found])
    weights = weights / weights.sum()
    slope, shared = (
        np.sum([w * part[place] for w, part in zip(weights, found, strict=True)], axis=0)
        for place in (1, 2)
    )
    strength = jackknife_interval(shared, level=level)
    if not strength.low > 0:
        return None, "people are not shown to agree with each other on answers of one length"
    effect = jackknife_interval(slope, level=level)
    return (None, "people follow length alone") if np.isnan(effect.value) else (effect, None)


def _each_way(
    judge: FloatArray, people: FloatArray, z: FloatArray, code: IntArray, units: int
) -> Iterator[tuple[float, FloatArray, FloatArray]]:
    """Answers, slope and people's covariance of each person beside the others, both ways round."""
    known = ~np.isnan(people)
    total, n = np.where(known, people, 0.0).sum(axis=1), known.sum(axis=1)
    for person in people.T:
        both = ~np.isnan(person) & (n > 1)
        others = (total - np.nan_to_num(person)) / np.maximum(n - 1, 1)
        if int(both.sum()) >= LEAST_PAIR:
            pair = person[both], others[both]
            for one, two in (pair, pair[::-1]):
                slope, shared = _slope(judge[both], one, two, z[both], code[both], units)
                yield float(both.sum()), slope, shared
