"""What an audit says of one judge of single answers by one metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...finding.check import CheckResult, rater_of
from .alone import Alone
from .evidence import ScoreEvidence

if TYPE_CHECKING:
    from ...auditing.overall import Overall


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreAudit:
    """Every result of one judge of single answers by one metric.

    evidence : the results of the methods, each made when it is first asked for.
    headline : what is said of it first.  figures : the line of figures below.
    alone : what it may decide alone.
    """

    judge: str
    metric: str
    evidence: ScoreEvidence
    checks: tuple[CheckResult, ...]
    overall: Overall
    headline: str
    figures: str
    alone: Alone

    @property
    def whose(self) -> str:
        """The judge, and what was scored."""
        return rater_of(self.judge, self.metric)
