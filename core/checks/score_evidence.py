"""What the scores of one judge by one metric say, beside people: each result computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..scores.agreement import Leniency, ScoreAgreement, Spread, leniency, score_agreement, spread
from ..scores.drift import Drift, drift
from ..scores.length import LengthEffect, length_effect
from ..scores.pass_rate import PassRate, pass_rate
from ..scores.passing import PassFail, pass_fail
from ..scores.people import Ceiling, PeopleCheck, ceiling, people_check
from ..scores.repeatability import repeatability
from ..stats.estimate import Estimate
from ..stats.intervals import wilson_by_item

if TYPE_CHECKING:
    from ..agreement.reliability import Repeatability
    from ..records import FloatArray
    from ..scores.table import ScoreTable
    from .check import Limits


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgedScores:
    """What one judge gave by one metric, beside people.

    runs : (n, runs) scores of each run, NaN where there is none.
    outputs, missing : outputs of the judge, and those without a score.
    """

    judge: str
    metric: str
    table: ScoreTable
    runs: FloatArray
    outputs: int
    missing: int


class ScoreEvidence:
    """Results on one judge and metric, each made when it is first asked for."""

    own_gold: str | None = None

    def __init__(
        self,
        scores: JudgedScores,
        limits: Mapping[str, Limits],
        *,
        level: float = 0.95,
        rejected: Estimate | None = None,
    ) -> None:
        self.scores, self.table = scores, scores.table
        self.judge, self.metric = scores.judge, scores.metric
        self.limits, self.level, self.rejected = limits, level, rejected

    @cached_property
    def agreement(self) -> ScoreAgreement:
        """How far its scores go with those of people."""
        return score_agreement(self.table, level=self.level)

    @cached_property
    def leniency(self) -> Leniency:
        """How much higher than people it scores."""
        return leniency(self.table, level=self.level)

    @cached_property
    def spread(self) -> Spread:
        """How much of the scale it uses."""
        return spread(self.table, level=self.level)

    @cached_property
    def people(self) -> PeopleCheck:
        """Whether it is nearer to the others than a left-out person."""
        return people_check(self.table, level=self.level)

    @cached_property
    def ceiling(self) -> Ceiling:
        """How far two people agree, and it with one of them."""
        return ceiling(self.table, level=self.level)

    @cached_property
    def passing(self) -> PassFail:
        """Its pass and fail beside people's."""
        return pass_fail(self.table, level=self.level)

    @cached_property
    def pass_rate(self) -> PassRate:
        """The share of all judged answers that pass by people's standard."""
        return pass_rate(self.table, level=self.level)

    @cached_property
    def length(self) -> LengthEffect:
        """What length adds to its scores."""
        return length_effect(self.table, level=self.level)

    @cached_property
    def drift(self) -> Drift:
        """Leniency by category."""
        return drift(self.table, names=self.table.categories, level=self.level)

    @cached_property
    def repeatability(self) -> Repeatability:
        """Whether it gives the same score again."""
        return repeatability(self.scores.runs, unit=self.table.unit, level=self.level)

    @cached_property
    def missing(self) -> Estimate | None:
        """Share of its outputs without a score, each output one item."""
        total, missing = self.scores.outputs, self.scores.missing
        if not total:
            return None
        every = np.arange(total)
        return wilson_by_item(every, np.ones(total, np.int64), every < missing, level=self.level)

    @property
    def likeness(self) -> str:
        """The check that says whether it follows people: its place among them, if there are two."""
        if self.table.several:
            return "people"
        return "association" if self.table.same_scale else "auroc"

    @property
    def merit(self) -> tuple[str, ...]:
        """The checks that must be good: of pass and fail both rates."""
        return ("tpr", "tnr") if self.table.says_pass else (self.likeness,)
