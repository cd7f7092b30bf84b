"""What labels of single answers show of a judge: of pass and fail a verdict, of levels no grade.

Which answers people pass only labels tell, so TPR and TNR are bet on over all items: an answer of
the other class pays the limit m itself, which no bet feels: the mean of all is above m exactly
where the rate is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import InvalidOption
from ..questions.scores.pass_rate import pass_rate
from ..questions.scores.table import ScoreTable
from ..records import FloatArray, IntArray
from ..stats.estimate import Estimate
from .rate import Rate, anytime_rate
from .verdict import (
    LEAST_LABELS,
    MOST_UNDECIDED,
    UNDECIDED,
    Forecast,
    Grade,
    LabelledRow,
    Limits,
    Plan,
    Standing,
    anytime_mean,
    forecast,
    standing,
)
from .wealth import LEAST_ITEMS, LEAST_STRATUM

LEAST_OF_CLASS = 10
"""Labelled answers that people pass, or fail, below which that rate is not graded."""
LEAST_BY_VERDICT = 5
"""The same from the end of the plan on, whose interval rests on the labels of both classes."""
SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnswerRow:
    """What a judge and people say of its items, in the order in which these were drawn.

    judge : (N,) scores of all of its items from 0 to 1; of pass and fail the share of its runs that
        pass.
    label : (n,) of the labelled ones, from 0 to 1; NaN where the person cannot tell, or it is still
        skipped.
    """

    judge: FloatArray
    label: FloatArray

    def __post_init__(self) -> None:
        if len(self.label) > len(self.judge):
            raise InvalidOption(f"{len(self.label)} labels of {len(self.judge)} items")
        known = np.concatenate([self.judge, self.label[~np.isnan(self.label)]])
        if len(known) and (known.min() < 0 or known.max() > 1):
            raise InvalidOption("judge, label: within 0 to 1")

    @property
    def undecided(self) -> int:
        return int(np.isnan(self.label).sum())

    def of_class(self, passed: bool) -> LabelledRow:
        """Labels as they count for TPR, or for TNR: those of the other class as ties do."""
        right = self.judge if passed else 1 - self.judge
        stratum = verdict_strata(self.judge)
        by_verdict = bool(stratum.any()) and bool(np.isin(self.judge, (0, 1)).all())
        return LabelledRow(
            stratum=right.astype(np.int64) if by_verdict else stratum,
            credit=np.where(self.label == float(passed), right[: len(self.label)], np.nan),
            undecided=np.zeros(len(self.label), dtype=bool),
            by_verdict=by_verdict,
        )


def verdict_strata(judge: FloatArray) -> IntArray:
    """Stratum of each item by what the judge says: it fails the answer, or passes it.

    One stratum below 20 items, or where either verdict has fewer than 10.
    """
    passes = judge > 0.5
    if len(judge) < LEAST_ITEMS or min(passes.sum(), (~passes).sum()) < LEAST_STRATUM:
        return np.zeros(len(judge), dtype=np.int64)
    return passes.astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassVerdict:
    """What labels show of a judge that says pass or fail.

    passed, failed : of the answers that people pass, or fail: TPR and TNR are their `right`.
    grade : of the worse of the two, latched as they are; since : with which label.
    """

    n: int
    undecided: int
    passed: Standing
    failed: Standing
    grade: Grade
    since: int | None

    @property
    def too_undecided(self) -> bool:
        return self.undecided > MOST_UNDECIDED * self.n


def pass_verdict(row: AnswerRow, plan: Plan, *, limits: Limits) -> PassVerdict:
    """TPR and TNR by the labels so far, each with a grade that may be looked at after every label.

    Each is graded by `standing`, once 10 labelled answers are of its class; the interval at the end
    of the plan weighs the labels within the judge's verdicts (`class_rate`), and 5 are enough from
    there on. *fail* and *warn* are those of either; *ok* takes both. Whatever the truth, the chance
    that the grade is ever wrong is 5 % at most: for *ok* a rate at its limit or below must be shown
    above it, 2.5 %; against a judge speak two rates, of 2.5 % each.

    Source: docs/methods.md §12 (ours).
    """
    of_class = [row.of_class(side) for side in (True, False)]
    passed, failed = (standing(rows, plan, limits=limits) for rows in of_class)
    undecided, n = row.undecided, len(row.label)
    rates = [rate for rate in (passed, failed) if _enough(rate, of_class[0].by_verdict)]
    grade: Grade = "unclear"
    since: int | None = None
    if undecided <= MOST_UNDECIDED * n:
        for bad in ("fail", "warn"):
            when = [rate.since for rate in rates if rate.grade == bad and rate.since is not None]
            if when:
                grade, since = bad, min(when)
                break
        else:
            when = [rate.since for rate in rates if rate.grade == "ok" and rate.since is not None]
            if len(when) == 2:
                grade, since = "ok", max(when)
    return PassVerdict(
        n=n, undecided=undecided, passed=passed, failed=failed, grade=grade, since=since
    )


def _enough(rate: Standing, by_verdict: bool) -> bool:
    ended = by_verdict and rate.planned is not None
    least = LEAST_BY_VERDICT if ended else LEAST_OF_CLASS
    return rate.right is not None and rate.right.n >= least


def pass_forecast(
    row: AnswerRow,
    plan: Plan,
    verdict: PassVerdict,
    *,
    limits: Limits,
    rng: np.random.Generator,
    between: Callable[[], object] = bool,
) -> tuple[bool, Forecast] | None:
    """The rate that is likely to be decided last, of those that are not (True: TPR), and when.

    between : as `forecast`.
    """
    last: tuple[bool, Forecast] | None = None
    for side, rate in ((True, verdict.passed), (False, verdict.failed)):
        if rate.grade != "unclear":
            continue
        ahead = forecast(row.of_class(side), plan, limits=limits, rng=rng, between=between)
        if ahead is not None and (last is None or ahead.by_end < last[1].by_end):
            last = side, ahead
    return last


def true_rate(row: AnswerRow, plan: Plan, *, passes: bool) -> Rate:
    """Mean of the labels that all items would get, by the labels so far and all of the judge.

    passes : labels and judge are pass and fail, so that the plan's end has the interval of §11.
    A label that cannot tell counts ½.
    """
    label = np.where(np.isnan(row.label), UNDECIDED, row.label)
    planned = None
    if passes and plan.labels and len(label) >= plan.labels:
        people = np.full(len(row.judge), np.nan)
        people[: plan.labels] = row.label[: plan.labels]
        table = ScoreTable.of(row.judge, people, low=0, high=1, kind="pass_fail")
        planned = pass_rate(table).best
    return Rate(now=anytime_rate(label, row.judge), judge=float(row.judge.mean()), planned=planned)


def same_level(row: AnswerRow, *, step: float, within: int = 0) -> Estimate | None:
    """Share of items on which the judge's level is at most `within` levels from people's.

    step : of one level, on the scale of 0 to 1. A mean of runs half a level off counts ½.
    None before 10 labels; the interval holds whenever one stops.
    """
    apart = np.abs(row.judge[: len(row.label)] - row.label) / step - within
    credit = np.where(np.abs(apart - 0.5) < SAME, 0.5, (apart < 0.5).astype(float))
    doubt = np.isnan(row.label)
    if len(credit) < LEAST_LABELS or doubt.all():
        return None
    labelled = LabelledRow(
        stratum=np.zeros(len(row.judge), dtype=np.int64), credit=credit, undecided=doubt
    )
    return anytime_mean(labelled)
