"""What all labels of a data set show, judge by judge."""

from __future__ import annotations

from dataclasses import dataclass

from ..stats.estimate import Estimate
from .people import SURE, CorrectedAccuracy
from .verdict import Forecast, Grade, Standing


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgeStanding:
    """What labels show of one judge.

    standing : by labels as they are.  grade : after a look at how well the person repeats.
    forecast : where nothing is decided, from 15 labels on.  corrected : beside a second person.
    """

    judge: str
    standing: Standing
    grade: Grade
    forecast: Forecast | None
    corrected: CorrectedAccuracy | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shown:
    """n, size : units labelled, and all.  planned : labels; None without a plan.
    repeats : answered as the first time, and asked; repeated : their share, None without any.
    """

    n: int
    size: int
    planned: int | None
    repeats: tuple[int, int]
    repeated: Estimate | None
    judges: tuple[JudgeStanding, ...]

    @property
    def doubtful(self) -> bool:
        """Whether a person is shown to repeat too few answers for a verdict against a judge."""
        return self.repeated is not None and self.repeated.high < SURE
