"""What the labels of a data set show, judge by judge: comparisons, pass and fail, or levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..auditing.checks import BY_NAME
from ..questions.accuracy.method import credit
from ..questions.boards.debiased import debiased_rate
from ..records import NO_GOLD, FloatArray, IntArray, VoteCounts
from ..schema import Kind
from ..stats.estimate import Estimate
from ..store.labelling import UnitModels, UnitVotes
from .answers import AnswerRow, pass_forecast, pass_verdict, same_level, true_rate
from .people import CorrectedAccuracy, corrected_accuracy, doubtful, repeatability
from .rate import Rate, anytime_rate
from .session import Labelled, Session
from .shown import JudgeStanding, LevelStanding, PassStanding, Shown
from .verdict import LabelledRow, Limits, Plan, forecast, standing
from .wealth import strata

PASS_OR_FAIL = (0.0, 1.0)
"""Ends of a scale on which people say pass or fail."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Look:
    """One look at the labels of a data set.

    votes : of each judge.  names : judges to look at.  scale : ends of that of single answers.
    models : what all comparisons are between, if it is two models.  limits : caution and failure;
        None for those of the check.
    """

    session: Session
    kind: Kind
    plan: Plan
    votes: Mapping[str, UnitVotes]
    names: Sequence[str]
    scale: tuple[float, float]
    models: UnitModels | None
    limits: Limits | None

    def shown(self, between: Callable[[], object] = bool) -> Shown:
        """What the labels show of each judge; `between` is called again and again meanwhile."""
        same, again = self.session.repeats()
        pair = self.session.pairs()
        repeated = repeatability(same, again) if again else None
        judges: tuple[JudgeStanding, ...] = ()
        passing: tuple[PassStanding, ...] = ()
        levels: tuple[LevelStanding, ...] = ()
        if self.kind == "votes":
            judges = tuple(self._comparisons(repeated, between))
        elif self.scale == PASS_OR_FAIL:
            passing = tuple(self._passing(repeated, between))
        else:
            levels = tuple(self._levels(between))
        return Shown(
            n=len(self.session.labels()),
            size=self.session.n,
            planned=self.plan.labels,
            repeats=(same, again),
            repeated=repeated,
            judges=judges,
            models=None if self.models is None else self.models.names,
            passing=passing,
            levels=levels,
            agree=None if pair is None else (sum(pair[2].values()), len(pair[2])),
        )

    def _limits(self, check: str) -> Limits:
        of_check = BY_NAME[check].limits
        return self.limits or (of_check.caution, of_check.failure or of_check.caution)

    def _comparisons(
        self, repeated: Estimate | None, between: Callable[[], object]
    ) -> Iterator[JudgeStanding]:
        rows, limits = labelled_rows(self.session, self.votes), self._limits("accuracy")
        for judge in self.names:
            between()
            row, places = rows[judge]
            stands = standing(row, self.plan, limits=limits)
            yield JudgeStanding(
                judge=judge,
                standing=stands,
                grade=doubtful(stands.grade, repeated),
                forecast=forecast(
                    row, self.plan, limits=limits, rng=np.random.default_rng(0), between=between
                )
                if stands.grade == "unclear"
                else None,
                corrected=self._corrected(row, places),
                wins=self._wins(self.votes[judge]),
            )

    def _passing(
        self, repeated: Estimate | None, between: Callable[[], object]
    ) -> Iterator[PassStanding]:
        limits = self._limits("tpr")
        for judge in self.names:
            own = self.votes[judge]
            row = self._answers(own)
            if not len(row.label):
                continue
            between()
            verdict = ahead = None
            if own.passes:
                verdict = pass_verdict(row, self.plan, limits=limits)
                if verdict.grade == "unclear" and not verdict.too_undecided:
                    rng = np.random.default_rng(0)
                    ahead = pass_forecast(
                        row, self.plan, verdict, limits=limits, rng=rng, between=between
                    )
            yield PassStanding(
                judge=judge,
                verdict=verdict,
                grade="unclear" if verdict is None else doubtful(verdict.grade, repeated),
                forecast=ahead,
                rate=true_rate(row, self.plan, passes=own.passes),
            )

    def _levels(self, between: Callable[[], object]) -> Iterator[LevelStanding]:
        low, high = self.scale
        for judge in self.names if high > low else ():
            row = self._answers(self.votes[judge])
            if not len(row.label):
                continue
            between()
            rate = true_rate(row, self.plan, passes=False)
            yield LevelStanding(
                judge=judge,
                same=same_level(row, step=1 / (high - low)),
                near=same_level(row, step=1 / (high - low), within=1),
                mean=Rate(
                    now=rate.now.scaled(high - low).shifted(low),
                    judge=rate.judge * (high - low) + low,
                    planned=None,
                ),
            )

    def _answers(self, own: UnitVotes) -> AnswerRow:
        """Scores and labels of a judge's items from 0 to 1."""
        low, high = self.scale
        order, labels = in_order(self.session, own.place)
        said = [np.nan if one.label is None else one.label for one in labels]
        return AnswerRow(
            judge=(own.score[order] - low) / (high - low),
            label=(np.array(said, dtype=np.float64) - low) / (high - low),
        )

    def _wins(self, own: UnitVotes) -> Rate | None:
        """How often the first of two models wins, a tie counting half."""
        if self.models is None:
            return None
        order, labels = in_order(self.session, own.place)
        if not labels:
            return None
        side = self.models.side[own.place[order]]
        votes = side * ((own.plus - own.minus) / _n(own))[order]
        said = np.array([0.0 if x.label is None else x.label for x in labels])
        gold = side[: len(said)] * said
        planned, end = None, self.plan.labels
        if end and len(gold) >= end:
            turned = side < 0
            known = np.full(len(order), NO_GOLD)
            known[:end] = gold[:end]
            counts = VoteCounts(
                comparison=order,
                item=order,
                plus=np.where(turned, own.minus[order], own.plus[order]),
                tie=own.tie[order],
                minus=np.where(turned, own.plus[order], own.minus[order]),
                gold=known,
            )
            planned = debiased_rate(counts, weighting="tuned")
        wins = (1 + votes) / 2
        return Rate(
            now=anytime_rate((1 + gold) / 2, wins), judge=float(wins.mean()), planned=planned
        )

    def _corrected(self, row: LabelledRow, places: Sequence[int]) -> CorrectedAccuracy | None:
        """Beside what a second person says, where there is one."""
        pair = self.session.pairs()
        if pair is None:
            return None
        same = pair[2]
        decided = np.flatnonzero(row.decided)
        agrees = [float(same.get(place, np.nan)) for place in np.array(places)[decided].tolist()]
        return (
            corrected_accuracy(row.credit[decided], np.array(agrees)) if len(decided) > 1 else None
        )


def in_order(session: Session, place: IntArray) -> tuple[IntArray, list[Labelled]]:
    """A judge's units in the order of labelling, then those left, as rows of `place`; labels."""
    row = {unit: k for k, unit in enumerate(place.tolist())}
    labels = [label for label in session.labels() if label.place in row]
    labelled = [row[label.place] for label in labels]
    left = np.setdiff1d(np.arange(len(place)), labelled)
    return np.array([*labelled, *left.tolist()], dtype=np.int64), labels


def labelled_rows(
    session: Session, votes: Mapping[str, UnitVotes]
) -> dict[str, tuple[LabelledRow, list[int]]]:
    """Labels as they count for each judge, with their places: its units in the order of labelling,
    then those left.
    """
    means = {judge: (own.plus - own.minus) / _n(own) for judge, own in votes.items()}
    total, raters = np.zeros(session.n), np.zeros(session.n)
    for judge, own in votes.items():
        total[own.place] += means[judge]
        raters[own.place] += 1
    rows = {}
    for judge, own in votes.items():
        others = raters[own.place] - 1
        with np.errstate(invalid="ignore", divide="ignore"):
            beside = np.where(others > 0, (total[own.place] - means[judge]) / others, np.nan)
        order, labels = in_order(session, own.place)
        gold = np.array([0 if x.label is None else int(x.label) for x in labels], dtype=np.int64)
        gets = np.full(len(labels), np.nan)
        sided = gold != 0
        if sided.any():
            gets[sided] = credit(_counts(own, order[: len(gold)][sided], gold[sided]))
        rows[judge] = (
            LabelledRow(
                stratum=strata(means[judge], beside)[order],
                credit=gets,
                undecided=np.array([x.label is None for x in labels], dtype=bool),
            ),
            [x.place for x in labels],
        )
    return rows


def _n(own: UnitVotes) -> FloatArray:
    return np.asarray(own.plus + own.tie + own.minus, dtype=np.float64)


def _counts(own: UnitVotes, row: IntArray, gold: IntArray) -> VoteCounts:
    return VoteCounts(
        comparison=row,
        item=row,
        plus=own.plus[row],
        tie=own.tie[row],
        minus=own.minus[row],
        gold=gold,
    )
