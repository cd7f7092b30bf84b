"""Does a judge score as people do: association, agreement, leniency and spread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ...records import FloatArray, IntArray, OutcomeCounts
from ...stats.association import kendall_by_item
from ...stats.estimate import DataFrame, Estimate, OneRow, rows_frame
from ...stats.intervals import check_level, mean_interval, n_distinct
from ...stats.jackknife import PairMoments, jackknife_interval, moments, pair_moments
from ..confidence.selective import auroc
from .table import UNDECIDED, ScoreTable

LEAST_ERROR = 0.5
"""Least standard error of atanh r and of ln of a ratio, over 1/√n: that of r where both share
three quarters of their variance. Fewer differences than that were not seen yet."""
MOST_LEVELS = 11
"""More distinct scores of people than this (0 to 10) are grouped in ten bins of equal width."""
LEAST_SHARED = 3
"""Answers that two raters must share for a coefficient of the two."""

NOBODY = "no answer was scored by both the judge and a person"
OTHER_SCALE = "people and judge are not on one scale: one says pass or fail, the other gives levels"
NO_ORDER = "labels without an order can only be equal or not"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreAgreement(OneRow):
    """A judge's scores against the mean over people; None where undefined, then `unknown` says why.

    association : Pearson r.  kappa_weighted : κ with quadratic weights, which is Lin's concordance.
    tau : Kendall τ_b.  auroc : chance that an answer that people pass scores higher than one that
        they fail, ties ½.  equal : share of answers with one and the same score or label.
    n, units : answers that judge and people scored, and their units.
    """

    association: Estimate | None
    kappa_weighted: Estimate | None
    tau: Estimate | None
    auroc: Estimate | None
    equal: Estimate | None
    n: int
    units: int
    unknown: dict[str, str] = field(default_factory=dict)


def score_agreement(table: ScoreTable, *, level: float = 0.95) -> ScoreAgreement:
    """How far a judge's scores go with those of people, in order, size and pass or fail.

    With j the judge's mean over runs and h the mean over people, on the answers that have both:
    r = s_jh/(s_j·s_h); κ_w = 2·s_jh/(s_j² + s_h² + (j̄ − h̄)²) with population variances; τ_b of
    both; AUROC of j for the answers that most people pass (`people_passing`) against those that
    most fail.

    r and κ_w have an interval on Fisher's scale by leaving units out (`jackknife_interval`:
    t(n − 1), a standard error of at least .5/√n); that of τ_b is `kendall_by_item`'s, that of AUROC
    DeLong's by unit, with at least 5 units of each class; `equal` is a mean by unit with two added
    ends.

    r is blind to shift and scale, which recalibration repairs; κ_w is not. A constant judge, or
    constant people, leave r, κ_w and τ undefined. Scores of levels beside pass and fail have r, τ
    and AUROC only, labels without an order `equal` only. Runs should be averaged before.

    Raises InvalidOption for a level outside (0, 1).
    Source: docs/methods.md §11; Lin (1989), Fleiss & Cohen (1973); Kendall (1945); DeLong et al.
    (1988).

    >>> found = score_agreement(ScoreTable.of([1, 2, 4, 5], [1, 3, 4, 4]))
    >>> round(found.association.value, 3), round(found.kappa_weighted.value, 3)
    (0.904, 0.875)
    """
    check_level(level)
    known = table.scored()
    code, units = known.unit_codes()
    unknown: dict[str, str] = {}
    if not len(known):
        names = ("association", "kappa_weighted", "tau", "auroc", "equal")
        return _nothing(dict.fromkeys(names, NOBODY))
    association = kappa = tau = area = equal = None
    reference = known.reference
    if known.kind == "labels":
        unknown |= dict.fromkeys(("association", "kappa_weighted", "tau", "auroc"), NO_ORDER)
    else:
        constant = known.constant or _constant_mean(known, reference)
        if constant is None and len(known) < LEAST_SHARED:
            constant = f"it needs {LEAST_SHARED} answers, and there are {len(known)}"
        if constant is None:
            together = moments(known.judge, reference, code, units)
            association = fisher_jackknife(together.correlation, level=level)
            if known.same_scale:
                kappa = fisher_jackknife(together.concordance, level=level)
            tau = kendall_by_item(known.judge, reference, code, level=level)
        else:
            unknown |= dict.fromkeys(("association", "kappa_weighted", "tau"), constant)
        area, reason = _area(known, level)
        if area is None:
            unknown["auroc"] = reason
    if not known.same_scale:
        unknown["kappa_weighted"] = unknown["equal"] = OTHER_SCALE
    else:
        equal = _equal(known, code, level)
    return ScoreAgreement(
        association=association,
        kappa_weighted=kappa,
        tau=tau,
        auroc=area,
        equal=equal,
        n=len(known),
        units=units,
        unknown=unknown,
    )


def fisher_jackknife(
    values: FloatArray, *, units: int | None = None, level: float = 0.95
) -> Estimate:
    """`jackknife_interval` of a correlation or κ_w with the floor of the standard error."""
    return jackknife_interval(
        values, scale="fisher", least_error=LEAST_ERROR, units=units, level=level
    )


def _nothing(unknown: dict[str, str]) -> ScoreAgreement:
    return ScoreAgreement(
        association=None,
        kappa_weighted=None,
        tau=None,
        auroc=None,
        equal=None,
        n=0,
        units=0,
        unknown=unknown,
    )


def _constant_mean(table: ScoreTable, reference: FloatArray) -> str | None:
    """People who differ, but whose mean is the same for every answer."""
    same = np.ptp(reference) <= 1e-9
    return "the mean over people is the same for all answers" if same else None


def _area(table: ScoreTable, level: float) -> tuple[Estimate | None, str]:
    verdict = table.people_verdict
    decided = verdict != UNDECIDED
    if table.people_passing is None:
        return None, "people do not say which answers pass; declare the score from which they do"
    classes = n_distinct(verdict[decided])
    if classes < 2:
        which = "decide no answer" if not classes else "say the same of all answers"
        return None, f"people {which}, and it needs answers that pass and answers that fail"
    scaled = (table.judge - table.low) / (table.scale or 1.0)
    counts = OutcomeCounts(
        item=table.unit[decided],
        confidence=np.clip(scaled[decided], 0.0, 1.0),
        n=np.ones(int(decided.sum()), dtype=np.int64),
        correct=verdict[decided],
    )
    return auroc(counts, level=level), ""


def _equal(table: ScoreTable, code: IntArray, level: float) -> Estimate:
    """Share of people, averaged over an answer's, who gave the judge's score."""
    same = np.abs(table.people - table.judge[:, None]) < 1e-9
    share = same.sum(axis=1) / table.persons
    return mean_interval(code, share, ends=(0.0, 1.0), level=level)


# Leniency and spread: what is wrong but can be corrected.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LevelBias:
    """Judge minus people on the answers that people score at `score`, in shares of the scale.

    score : the level, or the middle of a bin that reaches `half_width` to each side.
    """

    score: float
    half_width: float
    n: int
    bias: Estimate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Leniency:
    """How much higher a judge scores than people; above 0 it is lenient.

    bias : in shares of the scale, −1 to 1; `points` the same in units of the score. None where
        `reason` says why.
    by_level : along people's scores, lowest first.
    """

    bias: Estimate | None
    points: Estimate | None
    by_level: tuple[LevelBias, ...]
    n: int
    units: int
    reason: str | None

    def to_frame(self) -> DataFrame:
        """One row per level of people's scores."""
        return rows_frame(LevelBias, self.by_level)


def leniency(table: ScoreTable, *, level: float = 0.95) -> Leniency:
    """Mean of judge minus people over the length of the scale, in all and by people's score.

    b = mean over answers of (j − h)/(high − low), h the mean over people: `mean_interval` by unit
    with the added ends −1 and 1. A judge of five levels that is one level too high has b = .25.

    By level: the same among the answers nearest to each score that people gave; with more than 11
    of them in ten bins of equal width. Noise of people alone makes a judge look lenient at the
    lowest level and strict at the highest: their worst answers are partly unlucky ones.

    Raises InvalidOption for a level outside (0, 1). Source: docs/methods.md §11 (ours).

    >>> leniency(ScoreTable.of([2, 3, 5, 5], [1, 2, 4, 5], low=1, high=5)).bias.value
    0.1875
    """
    check_level(level)
    known = table.scored()
    code, units = known.unit_codes()
    reason = no_difference(known)
    if reason is not None:
        return Leniency(
            bias=None, points=None, by_level=(), n=len(known), units=units, reason=reason
        )
    reference = known.reference
    share = (known.judge - reference) / known.scale
    bias = mean_interval(code, share, ends=(-1.0, 1.0), level=level)
    scores, half = _levels(known)
    middle = (scores[1:] + scores[:-1]) / 2
    nearest = np.searchsorted(middle, reference, side="right")
    by_level = tuple(
        LevelBias(
            score=float(score),
            half_width=half,
            n=int(rows.sum()),
            bias=mean_interval(code[rows], share[rows], ends=(-1.0, 1.0), level=level),
        )
        for place, score in enumerate(scores)
        if (rows := nearest == place).any()
    )
    return Leniency(
        bias=bias,
        points=bias.scaled(known.scale),
        by_level=by_level,
        n=len(known),
        units=units,
        reason=None,
    )


def no_difference(known: ScoreTable) -> str | None:
    """Why judge minus people has no meaning, if it has none."""
    if not len(known):
        return NOBODY
    if known.kind == "labels":
        return NO_ORDER
    if not known.same_scale:
        return OTHER_SCALE
    return "the scale has one value only" if known.scale <= 0 else None


def _levels(known: ScoreTable) -> tuple[FloatArray, float]:
    """Scores of people, or the middles of ten bins, and half a bin's width (0 for scores)."""
    scores = np.unique(known.people[~np.isnan(known.people)].round(9))
    if len(scores) <= MOST_LEVELS:
        return scores, 0.0
    half = known.scale / 20
    return known.low + half * np.arange(1.0, 20.0, 2.0, dtype=np.float64), half


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Spread(OneRow):
    """Does a judge use as much of the scale as a person? None where `reason` says why.

    ratio : SD of the judge over that of a person; below 1 it is compressed to the middle.
    slope : with two people or more, what one point more by people without their noise moves the
        judge; None with one.
    """

    ratio: Estimate | None
    slope: Estimate | None
    n: int
    units: int
    reason: str | None


def spread(table: ScoreTable, *, level: float = 0.95) -> Spread:
    """SD of the judge's scores over that of people's, and the slope without people's noise.

    ratio = √(Σₚ nₚ·s²_j(p) / Σₚ nₚ·s²_p) over people p, both variances on the nₚ answers of p: the
    spread of single people, since their mean has less. slope = Σ n·cov(j, h)/Σ n over people,
    divided by Σ n·cov(h, h′)/Σ n over pairs of people: noise of one person is not that of another,
    so that it does not flatten the slope as it does in a regression on one.

    Intervals leave units out: of the ratio on the log scale with a standard error of at least
    .5/√n, of the slope on its own.

    Raises InvalidOption for a level outside (0, 1).
    Source: docs/methods.md §11 (ours); Wald (1940) and Reiersøl (1941) for the second person as an
    instrument.
    """
    check_level(level)
    known = table.scored()
    code, units = known.unit_codes()
    reason = no_difference(known) or known.constant
    if reason is not None:
        return Spread(ratio=None, slope=None, n=len(known), units=units, reason=reason)
    judge, person, joint, own = np.zeros((4, 1 + units))
    for each in with_people(known, code, units):
        own += each.n
        judge += each.n * each.of_all(each.moments.var_x)
        person += each.n * each.of_all(each.moments.var_y)
        joint += each.n * each.of_all(each.moments.cov)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.sqrt(judge / person)
    slope, shared, pairs = None, np.zeros(1 + units), 0
    for each in between_people(known, code, units):
        pairs += each.n
        shared += each.n * each.of_all(each.moments.cov)
    if pairs and (shared > 0).all():
        slope = jackknife_interval(joint / own / (shared / pairs), level=level)
    if not np.isfinite(ratio[0]):
        reason = "each person gives one score to all answers"
        return Spread(ratio=None, slope=slope, n=len(known), units=units, reason=reason)
    return Spread(
        ratio=jackknife_interval(ratio, scale="log", least_error=LEAST_ERROR, level=level),
        slope=slope,
        n=len(known),
        units=units,
        reason=None,
    )


def with_people(table: ScoreTable, code: IntArray, units: int) -> Iterator[PairMoments]:
    """Moments of judge and each person on the answers of both; people with too few are left out."""
    for person in table.people.T:
        both = ~np.isnan(person) & ~np.isnan(table.judge)
        if int(both.sum()) >= LEAST_SHARED:
            yield pair_moments(table.judge[both], person[both], code[both], units)


def between_people(table: ScoreTable, code: IntArray, units: int) -> Iterator[PairMoments]:
    """Moments of every two people on the answers of both; pairs with too few are left out."""
    known = ~np.isnan(table.people)
    shared = known.T.astype(np.float32) @ known.astype(np.float32)
    for second in range(1, table.people.shape[1]):
        for first in range(second):
            if shared[first, second] >= LEAST_SHARED:
                both = known[:, first] & known[:, second]
                one, two = table.people[both, first], table.people[both, second]
                yield pair_moments(one, two, code[both], units)
