"""What a stated confidence is worth, of judges of pairs and of single answers alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ...records import OutcomeCounts
from ...stats.estimate import Estimate
from .calibration_error import (
    Calibration,
    ConfidenceGap,
    NoiseFloor,
    calibration,
    confidence_gap,
    ece_interval,
    noise_floor,
)
from .selective import auroc
from .th_scores import ThScore, th_scores


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


class MeasuredConfidence:
    """Measures of the verdicts of `stated`, each made when it is first asked for; None without."""

    options: MeasuredBy
    level: float

    @property
    def stated(self) -> OutcomeCounts | None:
        """Right and wrong verdicts that have a confidence; None without one."""
        raise NotImplementedError

    @cached_property
    def calibration(self) -> Calibration | None:
        """Every measure of calibration."""
        stated = self.stated
        if stated is None:
            return None
        return calibration(stated, bins=self.options.bins, level=self.level)

    @cached_property
    def noise_floor(self) -> NoiseFloor | None:
        """ECE of a perfectly calibrated judge with the same confidences."""
        stated = self.stated
        if stated is None:
            return None
        return noise_floor(
            stated,
            bins=self.options.bins,
            level=self.level,
            rng=np.random.default_rng(self.options.seed),
        )

    @cached_property
    def ece(self) -> Estimate | None:
        """Expected calibration error, its interval by item."""
        stated = self.stated
        if stated is None or self.calibration is None:
            return None
        interval = ece_interval(
            stated,
            bins=self.options.bins,
            level=self.level,
            rng=np.random.default_rng(self.options.seed),
        )
        return replace(interval, value=self.calibration.ece, n=self.calibration.items)

    @cached_property
    def gap(self) -> ConfidenceGap | None:
        """Confidence beyond the share right."""
        stated = self.stated
        return None if stated is None else confidence_gap(stated, level=self.level)

    @cached_property
    def th(self) -> tuple[ThScore, ...]:
        """TH-Scores of its confidence, by ε."""
        stated = self.stated
        return () if stated is None else tuple(th_scores(stated, self.options.epsilons))

    @cached_property
    def discrimination(self) -> Estimate | None:
        """AUROC of confidence for right against wrong verdicts; a tie where gold decides is
        neither.
        """
        stated = self.stated
        if stated is None or not any(stated.right_and_wrong()):
            return None
        return auroc(stated.sided(), level=self.level)

    @property
    def constant_confidence(self) -> bool:
        """Whether every verdict has the same confidence."""
        stated = self.stated
        return stated is not None and float(stated.confidence.min()) == float(
            stated.confidence.max()
        )
