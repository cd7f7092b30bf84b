"""What the scores of one judge by one metric say, beside people: each result computed once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidOption, TooFewLabels, UnknownName
from ...finding.check import Unknown
from ...finding.result import Results
from ...stats.estimate import Estimate
from ...stats.intervals import clopper_pearson, wilson_by_item
from ..agreement.reliability import OTHER_TEMPERATURES
from ..confidence.results import DEFAULTS, MeasuredBy
from ..confidence.results import RESULTS as CONFIDENCE_RESULTS
from ..reference.follows import Follows, follows
from ..reference.weigh import Weighed, weigh
from ..reference.which import Design, Which, which
from ..reference.who import Who, who
from .agreement import Leniency, ScoreAgreement, Spread, leniency, score_agreement, spread
from .ask import Unscored
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
from .sureness import Sureness, outcomes_of, sureness_of
from .table import ScoreKind, ScoreTable
from .versions import VersionDifference, compare_versions

if TYPE_CHECKING:
    from ...finding.check import Limits
    from ...records import ByFile, FloatArray, IntArray, OutcomeCounts
    from ...schema import RowsRead
    from ..agreement.reliability import Repeatability

MOST_VERSIONS = 4
"""More models than this are a leaderboard, and two of them are compared on request."""
CLOSENESS: dict[ScoreKind, Closeness] = {"levels": "rmse", "pass_fail": "equal", "labels": "equal"}


FEW = 10
"""Answers of a class below which its rate has the wider upper end of Clopper and Pearson."""


def _few(table: ScoreTable, passing: PassFail) -> PassFail:
    """The rates of a judge that says pass or fail, those on few answers with an upper end that a
    grade against the judge can rest on.
    """
    if not table.says_pass:
        return passing
    return replace(passing, tpr=_exact_end(passing.tpr), tnr=_exact_end(passing.tnr))


def _exact_end(rate: Estimate | None) -> Estimate | None:
    """The rate of few answers with Clopper and Pearson's upper end where that is higher."""
    if rate is None or not 0 < rate.n < FEW:
        return rate
    hits = math.ceil(rate.value * rate.n - 1e-9)
    high = float(clopper_pearson(hits, rate.n, level=(1 + rate.level) / 2))
    return replace(rate, high=max(rate.high, high))


def _named(code: IntArray, names: tuple[str, ...]) -> NDArray[Any]:
    """Names of codes, none for a code below 0."""
    return np.array([*names, ""])[code]


def _seeded() -> np.random.Generator:
    return np.random.default_rng(0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgedScores:
    """What one judge gave by one metric, beside people.

    runs : (n, runs) scores of each run, NaN where there is none.  other_temperatures : runs of one
        answer were asked at different temperatures.
    outputs, missing : outputs of the judge, and those without a score.  unscored : why, and what
        people say of those, where they say pass or fail.
    item : (n,) number of each answer's item, None where no model is known.
    model : (n,) codes into `models`, −1 for none: who wrote it.
    period : (n,) codes into `periods`, −1 for none: when it was scored; None without dates.
    by_file : its scores by file, where there are several.
    drawn : how labels were drawn, where somebody said it.
    confidence : (n,) stated in each score, NaN where none is.
    wrong_pass : price of passing an answer that people fail, where the other error costs 1.
    """

    judge: str
    metric: str
    table: ScoreTable
    runs: FloatArray
    outputs: int
    missing: int
    unscored: Unscored = field(default_factory=Unscored)
    item: IntArray | None = None
    model: IntArray | None = None
    models: tuple[str, ...] = ()
    period: IntArray | None = None
    periods: tuple[str, ...] = ()
    wrong_pass: float = 1.0
    by_file: ByFile | None = None
    drawn: Design | None = None
    confidence: FloatArray | None = None
    other_temperatures: bool = False

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


class ScoreEvidence(Results):
    """Results on one judge and metric, each made when it is first asked for."""

    def __init__(
        self,
        scores: JudgedScores,
        limits: Mapping[str, Limits],
        *,
        level: float = 0.95,
        rows_read: RowsRead | None = None,
        options: MeasuredBy = DEFAULTS,
    ) -> None:
        super().__init__()
        self.options = options
        self.scores, self.table = scores, scores.table
        self.judge, self.metric = scores.judge, scores.metric
        self.limits, self.level, self.rows_read = limits, level, rows_read

    if not TYPE_CHECKING:  # else no misspelt attribute would be seen

        def __getattr__(self, name: str) -> Any:
            """A result of its confidence by name, for users of the public API."""
            for result in CONFIDENCE_RESULTS:
                if result.name == name:
                    return self[result]
            raise AttributeError(f"{type(self).__name__!r} has no {name!r}")

    @cached_property
    def sureness(self) -> Sureness | None:
        """How sure it is of each verdict; None where nothing says it."""
        return sureness_of(self.table, self.scores.runs, self.scores.confidence)

    @cached_property
    def outcomes(self) -> OutcomeCounts | None:
        """Its right and wrong verdicts by how sure they are; None where nothing says it."""
        return None if self.sureness is None else outcomes_of(self.table, self.sureness)

    @cached_property
    def stated(self) -> OutcomeCounts | None:
        """Its verdicts that have a confidence which it states; None without one."""
        if self.sureness is None or self.sureness.by != "stated":
            return None
        return self.outcomes

    @property
    def by_file(self) -> ByFile | None:
        """Its scores by file, where there are several."""
        return self.scores.by_file

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
    def who(self) -> Who:
        """Whether the people are a reference."""
        return who(self.table, level=self.level)

    @cached_property
    def which(self) -> Which:
        """Whether the labelled answers are like the others, and how they were drawn."""
        judged = self._judged
        columns: dict[str, Any] = {"verdict" if judged.says_pass else "score": judged.judge}
        if judged.length is not None:
            columns["length"] = np.log1p(np.maximum(judged.length, 0))
        if judged.category is not None and len(judged.categories) > 1:
            columns["category"] = _named(judged.category, judged.categories)
        known = ~np.isnan(self.table.judge)
        scores = self.scores
        if scores.model is not None and len(scores.models) > 1:
            columns["model"] = _named(scores.model[known], scores.models)
        if scores.period is not None and len(scores.periods) > 1:
            columns["date"] = _named(scores.period[known], scores.periods)
        return which(
            judged.verdict,
            judged.people_verdict,
            judged.persons > 0,
            columns,
            unit=judged.unit,
            drawn=scores.drawn,
        )

    @property
    def _judged(self) -> ScoreTable:
        known = ~np.isnan(self.table.judge)
        return self.table if known.all() else self.table.rows(known)

    def _weighed_as(self, design: Design) -> Weighed | None:
        """Rates of all judged answers; None where levels are no verdicts, or a verdict or class
        has no label.
        """
        judged = self._judged
        said, truth = judged.verdict, judged.people_verdict
        labels = truth >= 0
        both = {*np.unique(said[labels])}, {*np.unique(truth[labels])}
        if not judged.says_pass or len(both[1]) < 2 or not {*np.unique(said)} == both[0] == {0, 1}:
            return None
        return weigh(said, truth, design, unit=judged.unit, level=self.level)

    @cached_property
    def weighed(self) -> Weighed | None:
        """Rates of all judged answers where some have no label, by how labels were drawn."""
        if self.which.design in ("all", "one verdict"):
            return None
        return self._weighed_as(self.which.design)

    @cached_property
    def readings(self) -> tuple[Weighed, Weighed] | None:
        """The rates within verdicts and within classes, where it is not known which holds."""
        if self.which.design != "asked":
            return None
        readings = self._weighed_as("verdicts"), self._weighed_as("classes")
        return None if None in readings else readings  # type: ignore[return-value]

    @cached_property
    def follows(self) -> Follows:
        """How far it follows people beyond chance."""
        weighed = None if self.weighed is None else self.weighed.youden
        return follows(self.table, self.agreement, self.passing, weighed)

    @cached_property
    def passing(self) -> PassFail:
        """Its pass and fail beside people's, of all judged answers."""
        labelled = _few(self.table, pass_fail(self.table, level=self.level))
        if self.table.says_pass and self.which.design == "one verdict":
            reason = "people looked only at answers of one verdict"
            return replace(
                labelled,
                tpr=None,
                tnr=None,
                right=None,
                always_pass=None,
                always_fail=None,
                unknown=labelled.unknown | dict.fromkeys(("tpr", "tnr", "right"), reason),
            )
        weighed = self.weighed
        if weighed is None or labelled.tpr is None or labelled.tnr is None:
            return labelled
        of_all = replace(
            labelled,
            tpr=replace(weighed.tpr, n=labelled.tpr.n),
            tnr=replace(weighed.tnr, n=labelled.tnr.n),
            right=weighed.right,
            always_pass=weighed.rate.value,
            always_fail=1 - weighed.rate.value,
        )
        return _few(self.table, of_all)

    @cached_property
    def pass_rate(self) -> PassRate:
        """The share of all judged answers that pass by people's standard."""
        rate = pass_rate(self.table, level=self.level)
        if not self.table.says_pass or self.which.design in ("all", "random"):
            return rate
        if self.weighed is None or self.which.design == "verdicts":
            return replace(rate, labels=None)
        return replace(rate, labels=None, corrected=self.weighed.rate, reason=None)

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
        """Whether it gives the same score again, asked in the same way."""
        found = repeatability(self.scores.runs, unit=self.table.unit, level=self.level)
        if not self.scores.other_temperatures:
            return found
        return replace(
            found,
            icc_3_1=None,
            icc_3_1_f=None,
            icc_3_k=None,
            icc_3_k_f=None,
            unanimous_share=None,
            reason=OTHER_TEMPERATURES,
        )

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
