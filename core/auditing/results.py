"""What an audit finds: results of `auditing.run.audit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from ..finding.question import OfFindings
from ..questions.lists.results import RANKINGS, ListwiseAudit
from ..questions.scores.audited import ScoreAudit
from ..questions.scores.results import SCORES
from ..schema import Selection
from .options import AuditOptions as AuditOptions

if TYPE_CHECKING:
    from ..finding.check import CheckResult
    from ..importers import ReadOptions
    from ..questions.change.results import Against, FileSeries
    from ..questions.reference.second_look import SecondLook
    from ..questions.versions.results import Comparison
    from ..schema import ImportResult
    from ..store.browse import JudgeSummary, Summary
    from .overall import Overall


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgeAudit(OfFindings):
    """Every result of one judge; None where its votes cannot tell, with the reason in the audit's
    notes.
    """

    judge: str
    rater_type: str
    votes: JudgeSummary
    checks: tuple[CheckResult, ...]
    overall: Overall
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateValue:
    """What a gate found of one judge, or of one metric that it scored.

    value : the figure, the change since an older audit, or a grade; None where it is unknown.
    low, high : ends of the figure's interval, if it has one.
    """

    judge: str
    value: float | str | None
    low: float | None = None
    high: float | None = None
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """A gate of a build: as it was written, a sentence for each judge that fails, and what was
    tested. Without a sentence it passed.
    """

    gate: str
    reasons: tuple[str, ...]
    values: tuple[GateValue, ...]

    @property
    def passed(self) -> bool:
        """Whether no judge fails."""
        return not self.reasons


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Audit(OfFindings):
    """All that an audit found. `judges` from the best to the worst, people behind them; `checks`
    and `overall` are those of votes; `notes` say what could not be computed and why; `against` what
    moved since another audit, `series` over older files, and `comparisons` of versions of judges,
    if that was asked for; `gates` are those of a build that were tested; `second_looks` what a
    second look at disagreements says, where there was one.

    `findings` are of all raters together: their results are attributes too. `agreement` of every
    two; `boards` by anchor, which `anchors` sums up, and `anchor_swap`; if they were asked for
    `grid` of rules by task and judge, `forced` choice against ties allowed, `jury`, `board_checks`,
    and `outside`, a published board beside the first one.
    """

    selection: Selection
    options: AuditOptions
    readings: tuple[ImportResult, ...]
    reading_options: ReadOptions | None
    summary: Summary
    judges: tuple[JudgeAudit, ...]
    checks: tuple[CheckResult, ...]
    overall: dict[str, Overall]
    notes: tuple[str, ...]
    against: Against | None = None
    series: FileSeries | None = None
    gates: tuple[GateResult, ...] = ()
    second_looks: tuple[SecondLook, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    @property
    def scores(self) -> tuple[ScoreAudit, ...]:
        """The judges of single answers, one for each metric, the best first."""
        return self[SCORES]

    @property
    def rankings(self) -> tuple[ListwiseAudit, ...]:
        """The judges of lists, those whose winner depends least on order first."""
        return self[RANKINGS]

    @property
    def people(self) -> tuple[JudgeAudit, ...]:
        """The raters that are people, whom the judges stand beside."""
        return tuple(judge for judge in self.judges if judge.rater_type == "human")

    @property
    def without_people(self) -> tuple[JudgeAudit, ...]:
        """The judges that are no people."""
        return tuple(judge for judge in self.judges if judge.rater_type != "human")

    @property
    def asked_about(self) -> tuple[JudgeAudit, ...]:
        """The judges that are ranked and that gates test: people only where nobody else voted."""
        return self.without_people or self.judges


def unknown_of_judges(judges: Sequence[JudgeAudit]) -> list[str]:
    """One note per reason, with the judges that it concerns."""
    names: dict[str, list[str]] = {}
    for judge in judges:
        for what, why in _unknown(judge).items():
            names.setdefault(f"no {what}, because {why}.", []).append(judge.judge)
    every = len(judges) if len(judges) > 1 else 0
    return [
        f"{'Every judge' if len(some) == every else ', '.join(some)}: {reason}"
        for reason, some in names.items()
    ]


def _unknown(judge: JudgeAudit) -> dict[str, str]:
    """What the votes of one judge cannot tell → why: of results that are missing, and as results
    carry it.

    Why there is no calibration or BTD fit at all is noted where they are tried, with the counts.
    """
    if not judge.votes.n:
        what = (
            "accuracy, no half credit, no share right among decided votes, no blind rule, no "
            "confusion table, no position figures, no repeatability, no discrimination, no "
            "effective number of votes, no Alternative Annotator Test, no length, no own family "
            "and no robustness"
        )
        return {what: "no output has a vote"}
    placed = [
        (place, unknown(finding))
        for finding in judge.findings
        for place, unknown in finding.question.unknown.items()
    ]
    reasons: dict[str, str] = {}
    for _, each in sorted(placed, key=itemgetter(0)):
        reasons |= each
    return reasons
