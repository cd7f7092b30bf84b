"""What a stated confidence is worth, of judges of pairs and of single answers alike; evidence keeps
each result once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from ...finding.question import Result
from ...records import OutcomeCounts, VoteCounts
from ...stats.estimate import Estimate
from ...stats.repeated_votes import outcomes_by_share
from ...store import vote_queries as queries
from .alone import DecidedAlone, decided_alone
from .calibration_error import (
    Calibration,
    ConfidenceGap,
    NoiseFloor,
    calibration,
    confidence_gap,
    ece_interval,
    noise_floor,
)
from .kinds import KindOfConfidence, kind_of_confidence
from .selective import auroc
from .th_scores import ThScore, th_scores

T = TypeVar("T")


class MeasuredBy(Protocol):
    """How confidence is measured; options of an audit are one."""

    @property
    def bins(self) -> int: ...
    @property
    def epsilons(self) -> tuple[float, ...]: ...
    @property
    def seed(self) -> int: ...
    @property
    def confidence_by(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """How confidence is measured where nobody says it."""

    bins: int = 10
    epsilons: tuple[float, ...] = (0.05, 0.10, 0.15)
    seed: int = 0
    confidence_by: str = "stated"


DEFAULTS = Defaults()


class Judged(Protocol):
    """Evidence on a judge of pairs, or of single answers."""

    @property
    def options(self) -> MeasuredBy: ...
    @property
    def level(self) -> float: ...
    @property
    def stated(self) -> OutcomeCounts | None:
        """Right and wrong verdicts that have a confidence; None without one."""

    def __getitem__(self, result: Result[T]) -> T: ...


class MeasuredPairs(MeasuredBy, Protocol):
    """How the confidence of votes is measured."""

    @property
    def correctness(self) -> str: ...


class OfPairs(Judged, Protocol):
    """Evidence on a judge of pairs."""

    @property
    def options(self) -> MeasuredPairs: ...

    @property
    def judge(self) -> str: ...
    @property
    def votes(self) -> VoteCounts | None: ...
    @property
    def outcomes(self) -> OutcomeCounts | None: ...
    def counts(self, query: Callable[..., Mapping[str, T]], **given: Any) -> T | None: ...


def _calibration(evidence: Judged) -> Calibration | None:
    stated = evidence.stated
    if stated is None:
        return None
    return calibration(stated, bins=evidence.options.bins, level=evidence.level)


CALIBRATION = Result("calibration", _calibration)
"""Every measure of calibration."""


def _floor(evidence: Judged) -> NoiseFloor | None:
    stated, options = evidence.stated, evidence.options
    if stated is None:
        return None
    rng = np.random.default_rng(options.seed)
    return noise_floor(stated, bins=options.bins, level=evidence.level, rng=rng)


FLOOR = Result("floor", _floor)
"""ECE of a perfectly calibrated judge with the same confidences."""


def _ece(evidence: Judged) -> Estimate | None:
    stated, options, measured = evidence.stated, evidence.options, evidence[CALIBRATION]
    if stated is None or measured is None:
        return None
    rng = np.random.default_rng(options.seed)
    interval = ece_interval(stated, bins=options.bins, level=evidence.level, rng=rng)
    return replace(interval, value=measured.ece, n=measured.items)


ECE = Result("ece", _ece)
"""Expected calibration error, its interval by item."""


def _gap(evidence: Judged) -> ConfidenceGap | None:
    stated = evidence.stated
    return None if stated is None else confidence_gap(stated, level=evidence.level)


GAP = Result("gap", _gap)
"""Confidence beyond the share right."""


def _th(evidence: Judged) -> tuple[ThScore, ...]:
    stated = evidence.stated
    return () if stated is None else tuple(th_scores(stated, evidence.options.epsilons))


TH = Result("th", _th)
"""TH-Scores of its confidence, by ε."""


def _discrimination(evidence: Judged) -> Estimate | None:
    stated = evidence.stated
    if stated is None or not any(stated.right_and_wrong()):
        return None
    return auroc(stated.sided(), level=evidence.level)


DISCRIMINATION = Result("discrimination", _discrimination)
"""AUROC of confidence for right against wrong verdicts; a tie where gold decides is neither."""


def _constant(evidence: Judged) -> bool:
    stated = evidence.stated
    return stated is not None and float(stated.confidence.min()) == float(stated.confidence.max())


CONSTANT = Result("constant_confidence", _constant)
"""Whether every verdict has the same confidence."""


RESULTS = (CALIBRATION, ECE, FLOOR, GAP, TH, DISCRIMINATION, CONSTANT)
"""Of judges of pairs and of single answers."""


def _kinds(evidence: OfPairs) -> tuple[KindOfConfidence, ...]:
    options, outcomes, votes = evidence.options, evidence.outcomes, evidence.votes
    kinds = () if outcomes is None else outcomes.other_kinds

    def measured(by: str, verdicts: OutcomeCounts | None) -> KindOfConfidence | None:
        return kind_of_confidence(
            by, verdicts, epsilons=options.epsilons, bins=options.bins, level=evidence.level
        )

    def of_kind(kind: str) -> OutcomeCounts | None:
        rule = options.correctness
        return evidence.counts(queries.outcomes, rule=rule, kind=kind)

    by_share = options.confidence_by == "share"
    rows = (
        measured("stated", outcomes) if by_share else _graded(evidence),
        *(measured("stated", of_kind(kind)) for kind in kinds if kind),
        _graded(evidence)
        if by_share
        else measured("share", None if votes is None else outcomes_by_share(votes)),
    )
    return tuple(row for row in rows if row is not None)


def _graded(evidence: Judged) -> KindOfConfidence | None:
    """The kind that the checks grade."""
    stated, measured = evidence.stated, evidence[CALIBRATION]
    if stated is None or measured is None:
        return None
    return KindOfConfidence(
        kind=stated.kind,
        by=evidence.options.confidence_by,
        calibration=measured,
        auroc=evidence[DISCRIMINATION],
        th=evidence[TH],
    )


KINDS = Result("confidences", _kinds)
"""Every kind of its confidence side by side, and the share of its votes; never pooled."""


def _alone(evidence: Judged) -> Sequence[DecidedAlone]:
    stated = evidence.stated
    return () if stated is None else decided_alone(stated)


ALONE = Result("alone", _alone)
"""What may be decided by votes that are sure enough, by the error that is allowed; none without a
confidence."""
