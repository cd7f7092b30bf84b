"""Does a judge follow the people at all, or would a rule without reading do what it does?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...stats.estimate import Estimate
from ..scores.table import SAME, ScoreTable
from .weigh import youden

if TYPE_CHECKING:
    from ..scores.agreement import ScoreAgreement
    from ..scores.passing import PassFail

Measure = Literal["youden", "r", "auroc"]
LEAST_CONSTANT = 30
"""Labelled answers from which one score for all of them is a fact about the judge."""
LEAST_OF_A_CLASS = 10
LEAST_OF_LEVELS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Follows:
    """How far it follows people beyond chance.

    measure : `youden`, J = TPR + TNR − 1 of pass/fail; `r` with the mean of people, of levels;
        `auroc`, 2·AUROC − 1, of levels beside people's pass and fail.
    estimate : 0 for whoever does not look; None where `reason` says why.
    constant : the one score that it gives to all answers.
    enough : whether there are 10 labels of either class, of levels 30 answers.
    """

    measure: Measure
    estimate: Estimate | None
    constant: float | None
    enough: bool
    reason: str = ""


def follows(
    table: ScoreTable, agreement: ScoreAgreement, passing: PassFail, weighed: Estimate | None
) -> Follows:
    """J, r or 2·AUROC − 1, whichever the scores allow.

    weighed : J of all judged answers, where some have no label.

    A judge with one verdict on 30 labelled answers or more follows nobody: 0, without doubt. r .30
    and J .20 are one limit: of a normal pair cut at its median J = (2/π)·arcsin r.
    Source: ours, docs/verdicts.md; Youden (1950).
    """
    known = table.scored()
    measure: Measure = "youden" if table.says_pass else "r" if table.same_scale else "auroc"
    scores = table.judge[~np.isnan(table.judge)]
    if len(known) >= LEAST_CONSTANT and np.ptp(scores) <= SAME:
        none = Estimate(0.0, 0.0, 0.0, n=len(known), level=_level(agreement, passing))
        return Follows(measure=measure, estimate=none, constant=float(scores[0]), enough=True)
    if measure == "youden":
        tpr, tnr = passing.tpr, passing.tnr
        if tpr is None or tnr is None:
            why = next(iter(passing.unknown.values()), "a class has no label")
            return Follows(measure=measure, estimate=None, constant=None, enough=False, reason=why)
        return Follows(
            measure=measure,
            estimate=weighed or youden(tpr, tnr),
            constant=None,
            enough=min(tpr.n, tnr.n) >= LEAST_OF_A_CLASS,
        )
    if measure == "r":
        return Follows(
            measure=measure,
            estimate=agreement.association,
            constant=None,
            enough=agreement.units >= LEAST_OF_LEVELS,
            reason=agreement.unknown.get("association", "it cannot be computed"),
        )
    area = agreement.auroc
    counts = [int((table.people_verdict == said).sum()) for said in (0, 1)]
    gini = None
    if area is not None:
        gini = Estimate(
            2 * area.value - 1, 2 * area.low - 1, 2 * area.high - 1, n=area.n, level=area.level
        )
    return Follows(
        measure=measure,
        estimate=gini,
        constant=None,
        enough=min(counts) >= LEAST_OF_A_CLASS,
        reason=agreement.unknown.get("auroc", "it cannot be computed"),
    )


def _level(agreement: ScoreAgreement, passing: PassFail) -> float:
    known = agreement.equal or passing.right or agreement.auroc
    return 0.95 if known is None else known.level
