"""Would a judge's scores be nearer to people's on another scale: an isotonic map, held out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidOption, TooFewLabels
from ...records import FloatArray
from ...stats.estimate import DataFrame, Estimate, data_frame
from ...stats.intervals import check_level, mean_interval
from .agreement import NO_ORDER
from .passing import NO_PEOPLE
from .table import ScoreTable, mean_of_known

LEAST_LABELS = 30


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreRecalibration:
    """Distance from people before and after a map that was fitted on other units.

    error_before, error_after : root mean squared distance in shares of the scale; before is None
        where judge and people are not on one scale.
    change : mean squared distance after − before; below 0 the map helps. None without `before`.
    bias_before, bias_after : judge minus people.
    score, mapped : the map fitted on all answers, at the scores that the judge gave, in the unit of
        people's scores; where people say pass or fail, the share of answers that pass.
    recalibrated : (n,) each answer's new score from folds without its unit, NaN without a label.
    """

    error_before: float | None
    error_after: float
    change: Estimate | None
    bias_before: float | None
    bias_after: float
    score: FloatArray
    mapped: FloatArray
    recalibrated: FloatArray
    folds: int
    n: int
    units: int

    @property
    def helps(self) -> bool:
        """Whether the whole interval of the change is below 0."""
        return self.change is not None and self.change.high < 0

    def to_frame(self) -> DataFrame:
        """One row per score of the judge: what it is mapped to."""
        return data_frame({"score": self.score, "mapped": self.mapped})


def recalibrate_scores(
    table: ScoreTable, *, rng: np.random.Generator, folds: int = 10, level: float = 0.95
) -> ScoreRecalibration:
    """Nondecreasing map from a judge's to people's scores, measured where it was not fitted.

    Units are dealt at random into folds; each fold is mapped by the least-squares nondecreasing
    steps of the others, straight between the scores that occurred and flat beyond. The target is
    the mean over people; where they say pass or fail beside levels, the share of them that passes.
    A map takes out leniency and compression, not noise: an order that is wrong stays wrong.

    The interval of `change` is t by unit without added ends, as distances differ everywhere a
    little.

    Raises TooFewLabels for fewer than 30 answers that judge and people scored, or fewer units than
    folds; InvalidOption for folds below 2, labels without an order, or a level outside (0, 1).
    Source: docs/methods.md §11; Zadrozny & Elkan (2002) for isotonic maps; folds by unit ours.
    """
    check_level(level)
    if folds < 2:
        raise InvalidOption(f"folds: {folds} is below 2; a map must be judged on other answers")
    if table.kind == "labels":
        raise InvalidOption(f"a map of scores: {NO_ORDER}")
    keep = ~np.isnan(table.judge) & (table.persons > 0)
    known = table.rows(keep)
    code, units = known.unit_codes()
    if len(known) < LEAST_LABELS or units < folds:
        raise TooFewLabels(
            f"A map of scores needs {LEAST_LABELS} answers that the judge and people scored, of "
            f"{folds} items or more; there are {len(known)} of {units}."
        )
    if not known.same_scale and known.people_passing is None:
        raise TooFewLabels(f"A map of scores needs people on one scale; {NO_PEOPLE}.")
    target = known.reference if known.same_scale else mean_of_known(known.person_passed)
    scale = (known.scale or 1.0) if known.same_scale else 1.0
    fold = (rng.permutation(units) % folds)[code]
    moved = np.empty(len(known))
    for one in range(folds):
        out = fold == one
        moved[out] = np.interp(known.judge[out], *_isotonic(known.judge[~out], target[~out]))
    after = (moved - target) / scale
    before = (known.judge - target) / scale if known.same_scale else None
    change = None
    if before is not None:
        change = mean_interval(code, after**2 - before**2, ends=(), within=(-1.0, 1.0), level=level)
    score, mapped = _isotonic(known.judge, target)
    recalibrated = np.full(len(table), np.nan)
    recalibrated[keep] = moved
    return ScoreRecalibration(
        error_before=None if before is None else math.sqrt(float((before**2).mean())),
        error_after=math.sqrt(float((after**2).mean())),
        change=change,
        bias_before=None if before is None else float(before.mean()),
        bias_after=float(after.mean()),
        score=score,
        mapped=mapped,
        recalibrated=recalibrated,
        folds=folds,
        n=len(known),
        units=units,
    )


def _isotonic(score: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct scores in order and the nondecreasing steps at them."""
    from scipy.optimize import isotonic_regression

    value, place, n = np.unique(score.round(9), return_inverse=True, return_counts=True)
    mean = np.bincount(place, target) / n
    return value, np.asarray(isotonic_regression(mean, weights=n).x)
