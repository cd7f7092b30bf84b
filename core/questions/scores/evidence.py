"""What the scores of one judge by one metric say, beside people: each result computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InvalidOption, TooFewLabels, UnknownName
from ...finding.check import Unknown
from ...stats.estimate import Estimate
from ...stats.intervals import wilson_by_item
from ..one_judge.method import FileDifference, between_files
from .agreement import Leniency, ScoreAgreement, Spread, leniency, score_agreement, spread
from .cut import Cut, best_cut
from .drift import Drift, drift
from .length import LengthEffect, length_effect
from .pass_rate import PassRate, pass_rate
from .passing import PassFail, pass_fail
from .people import (
    EPSILON,
    AltTest,
    Ceiling,
    Closeness,
    PeopleCheck,
    alttest,
    ceiling,
    people_check,
)
from .raters import RaterPair, rater_pairs
from .recalibration import ScoreRecalibration, recalibrate_scores
from .repeatability import repeatability
from .table import ScoreKind, ScoreTable
from .versions import VersionDifference, compare_versions

if TYPE_CHECKING:
    from ...finding.check import Limits
    from ...records import ByFile, FloatArray, IntArray
    from ...schema import RowsRead
    from ..agreement.reliability import Repeatability

MOST_VERSIONS = 4
"""More models than this are a leaderboard, and two of them are compared on request."""
CLOSENESS: dict[ScoreKind, Closeness] = {"levels": "rmse", "pass_fail": "equal", "labels": "equal"}


def _seeded() -> np.random.Generator:
    return np.random.default_rng(0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgedScores:
    """What one judge gave by one metric, beside people.

    runs : (n, runs) scores of each run, NaN where there is none.
    outputs, missing : outputs of the judge, and those without a score.
    item : (n,) number of each answer's item, None where no model is known.
    model : (n,) codes into `models`, −1 for none: who wrote it.
    period : (n,) codes into `periods`, −1 for none: when it was scored; None without dates.
    by_file : its scores by file, where there are several.
    wrong_pass : price of passing an answer that people fail, where the other error costs 1.
    """

    judge: str
    metric: str
    table: ScoreTable
    runs: FloatArray
    outputs: int
    missing: int
    item: IntArray | None = None
    model: IntArray | None = None
    models: tuple[str, ...] = ()
    period: IntArray | None = None
    periods: tuple[str, ...] = ()
    wrong_pass: float = 1.0
    by_file: ByFile | None = None

    def of_models(self, a: str, b: str) -> tuple[ScoreTable, ScoreTable]:
        """The answers of two models to the same items, in the same order.

        Raises UnknownName for a model that wrote none.
        """
        if self.item is None or self.model is None or not {a, b} <= {*self.models}:
            raise UnknownName(
                f"{a!r} and {b!r} did not both write answers that {self.judge!r} scored; "
                f"{', '.join(self.models) or 'nobody'} did."
            )
        first, second = (np.flatnonzero(self.model == self.models.index(name)) for name in (a, b))
        _, left, right = np.intersect1d(
            self.item[first], self.item[second], assume_unique=True, return_indices=True
        )
        one, other = self.table.rows(first[left]), self.table.rows(second[right])
        return one, replace(other, unit=one.unit)


class ScoreEvidence:
    """Results on one judge and metric, each made when it is first asked for."""

    own_gold: str | None = None

    def __init__(
        self,
        scores: JudgedScores,
        limits: Mapping[str, Limits],
        *,
        level: float = 0.95,
        rows_read: RowsRead | None = None,
    ) -> None:
        self.scores, self.table = scores, scores.table
        self.judge, self.metric = scores.judge, scores.metric
        self.limits, self.level, self.rows_read = limits, level, rows_read

    @cached_property
    def between_files(self) -> FileDifference | None:
        """The files between which it differs most."""
        return None if self.scores.by_file is None else between_files(self.scores.by_file)

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
    def drift_over_time(self) -> Drift | None:
        """Leniency by day, month or year; None without dates."""
        scores = self.scores
        if scores.period is None:
            return None
        return drift(self.table, group=scores.period, names=scores.periods, level=self.level)

    @cached_property
    def repeatability(self) -> Repeatability:
        """Whether it gives the same score again."""
        return repeatability(self.scores.runs, unit=self.table.unit, level=self.level)

    @cached_property
    def cut(self) -> Cut | Unknown:
        """The score from which an answer should pass, by the price of both errors."""
        return self.cut_at(self.scores.wrong_pass)

    def cut_at(self, wrong_pass: float) -> Cut | Unknown:
        """The same at another price of passing what people fail."""
        try:
            return best_cut(self.table, rng=_seeded(), price_fp=wrong_pass, level=self.level)
        except TooFewLabels as error:
            return Unknown(str(error))

    @cached_property
    def cut_pass_rate(self) -> PassRate | None:
        """The true pass rate by the cut, which other answers chose; None without a cut."""
        if isinstance(self.cut, Unknown):
            return None
        table = self.table
        said = np.where(self.cut.passed < 0, np.nan, self.cut.passed)
        truth = np.where(table.people_verdict < 0, np.nan, table.people_verdict)
        cut = ScoreTable.of(said, truth, unit=table.unit, low=0, high=1, kind="pass_fail")
        return pass_rate(cut, level=self.level)

    @cached_property
    def alternative(self) -> AltTest:
        """The Alternative Annotator Test, people taken for experts."""
        return self.alternative_of("experts")

    def alternative_of(self, kind: str) -> AltTest:
        """The same for people of a kind of `EPSILON`."""
        table = self.table
        judge, people, closeness = table.judge, table.people, CLOSENESS[table.kind]
        if not table.same_scale:
            people = np.full((len(table), 1), np.nan)
        elif table.says_pass:
            judge = np.where(table.verdict < 0, np.nan, table.verdict)
            people = table.person_passed
        return alttest(judge, people, closeness=closeness, epsilon=EPSILON[kind], names=table.names)

    @cached_property
    def recalibration(self) -> ScoreRecalibration | Unknown:
        """Whether a map of its scores brings them nearer to people's, held out."""
        try:
            return recalibrate_scores(self.table, rng=_seeded(), level=self.level)
        except (TooFewLabels, InvalidOption) as error:
            return Unknown(str(error))

    @cached_property
    def versions(self) -> dict[tuple[str, str], VersionDifference]:
        """Every two of at most `MOST_VERSIONS` models that wrote the answers, on shared items."""
        models = self.scores.models
        if len(models) > MOST_VERSIONS:
            return {}
        found = {pair: self.compared(*pair) for pair in combinations(models, 2)}
        return {pair: one for pair, one in found.items() if one.n}

    def compared(self, a: str, b: str) -> VersionDifference:
        """How much better the answers of model `b` are than those of `a`."""
        return compare_versions(*self.scores.of_models(a, b), level=self.level)

    @cached_property
    def pairs(self) -> tuple[RaterPair, ...]:
        """It beside each person, and every two people."""
        return rater_pairs(self.table, judge=self.judge, level=self.level)

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
