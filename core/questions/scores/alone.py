"""What a judge of single answers may decide alone, by how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...records import IntArray, OutcomeCounts
from ..confidence.alone import BROKEN, DecidedAlone, decided_alone
from .sureness import By, outcomes_of
from .table import UNDECIDED

if TYPE_CHECKING:
    from ...auditing.overall import Use
    from .evidence import ScoreEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """What a judge may decide alone, by the share of errors that is allowed.

    by : what says how sure it is.  reason : why nothing is promised.
    shares : in order of `alone.ERRORS`.  of_verdict : `pass` and `fail` → the same of that verdict
        alone, each promise broken with half the probability.
    blind : `passing` or `failing`, error → whether always doing so would do as well.
    """

    by: By | None
    reason: str | None = None
    shares: tuple[DecidedAlone, ...] = ()
    of_verdict: Mapping[str, tuple[DecidedAlone, ...]] = field(default_factory=dict)
    blind: str | None = None
    blind_from: float = 1.0

    def threshold(self, error: float, verdict: int) -> float:
        """Least sureness from which a verdict, 1 pass or 0 fail, is decided alone; ∞ for none."""
        side = self.shares or self.of_verdict.get("pass" if verdict else "fail", ())
        of = next((one for one in side if one.error == error), None)
        return np.inf if of is None or of.threshold is None else of.threshold


NO_PASS_MARK = "nothing says from which score an answer passes"
NO_SURENESS = (
    "nothing says how sure it is: ask it three times, or for a confidence, and that is the sureness"
)


def alone_of_scores(evidence: ScoreEvidence, measure: Use) -> Alone:
    """What it may decide alone: only where it may measure, and labels were not drawn by class or
    within one verdict. Labels that were drawn by verdict give each verdict a threshold of its own.

    Source: docs/methods.md §5 (ours).
    """
    table, sureness = evidence.table, evidence.sureness
    if evidence.table.people_passing is None or not (table.verdict != UNDECIDED).any():
        return Alone(by=None, reason=NO_PASS_MARK)
    if sureness is None:
        return Alone(by=None, reason=NO_SURENESS)
    if measure.answer != "yes":
        return Alone(by=sureness.by, reason="it is not shown to follow people")
    design = evidence.which.design
    if design not in ("all", "random", "verdicts"):
        reason = {"one verdict": "people looked at one verdict alone"}.get(
            design, "labels were drawn by class, or nobody says how"
        )
        return Alone(by=sureness.by, reason=reason)
    if evidence.which.differs not in (None, "verdict"):
        return Alone(by=sureness.by, reason="the labelled answers differ from the others")
    total = len(table) + evidence.scores.missing
    whole = None if design == "verdicts" else outcomes_of(table, sureness)
    always = [evidence.passing.always_fail, evidence.passing.always_pass]
    errors = [1.0 if share is None else 1 - share for share in always]
    best = int(np.argmin(errors))

    def at(outcomes: OutcomeCounts | None, of: IntArray, delta: float) -> tuple[DecidedAlone, ...]:
        if outcomes is None:
            return ()
        return decided_alone(outcomes, delta=delta, sureness=sureness.values[of], total=total)

    sides = {"fail": 0, "pass": 1}
    return Alone(
        by=sureness.by,
        shares=at(whole, np.arange(len(table)), BROKEN),
        of_verdict={
            name: at(
                outcomes_of(table, sureness, table.verdict == side),
                np.flatnonzero(table.verdict == side),
                BROKEN / 2,
            )
            for name, side in sides.items()
        },
        blind=("failing", "passing")[best],
        blind_from=errors[best],
    )
