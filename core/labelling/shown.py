"""What all labels of a data set show, judge by judge."""

from __future__ import annotations

from dataclasses import dataclass

from ..stats.estimate import Estimate
from .answers import PassVerdict
from .people import SURE, CorrectedAccuracy
from .rate import Rate
from .verdict import Forecast, Grade, Standing


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgeStanding:
    """What labels show of one judge.

    standing : by labels as they are.  grade : after a look at how well the person repeats.
    forecast : where nothing is decided, from 15 labels on.  corrected : beside a second person.
    wins : of `Shown.models`, the first against the second; None where others are compared.
    """

    judge: str
    standing: Standing
    grade: Grade
    forecast: Forecast | None
    corrected: CorrectedAccuracy | None
    wins: Rate | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PassStanding:
    """What labels show of one judge of single answers, where people say pass or fail.

    verdict : None where the judge gives scores from which no answer is said to pass.
    grade : after a look at how well the person repeats.
    forecast : of the rate that is likely to be decided last, True for TPR.
    rate : true pass rate of the judge's items.
    """

    judge: str
    verdict: PassVerdict | None
    grade: Grade
    forecast: tuple[bool, Forecast] | None
    rate: Rate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LevelStanding:
    """What labels show of one judge that gives levels: intervals, and no grade.

    same, near : share of items with the person's very level, and at most one off.
    mean : of people's levels, in levels.
    """

    judge: str
    same: Estimate | None
    near: Estimate | None
    mean: Rate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shown:
    """n, size : units labelled, and all.  planned : labels; None without a plan.
    repeats : answered as the first time, and asked; repeated : their share, None without any.
    judges : of comparisons.  models : the two that are compared; None where there are others.
    passing, levels : of single answers.  agree : of the units that two people labelled, those on
        which both say the same, and all; None with one person.
    """

    n: int
    size: int
    planned: int | None
    repeats: tuple[int, int]
    repeated: Estimate | None
    judges: tuple[JudgeStanding, ...] = ()
    models: tuple[str, str] | None = None
    passing: tuple[PassStanding, ...] = ()
    levels: tuple[LevelStanding, ...] = ()
    agree: tuple[int, int] | None = None

    @property
    def doubtful(self) -> bool:
        """Whether a person is shown to repeat too few answers for a verdict against a judge."""
        return self.repeated is not None and self.repeated.high < SURE
