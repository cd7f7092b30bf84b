"""What the checks of a judge of single answers add up to."""

from __future__ import annotations

from collections.abc import Sequence

from ...auditing.overall import Overall, OverallVerdict
from ...finding.check import CheckResult, results_of
from ..one_judge.check import ONE_JUDGE
from .check import CHECKS
from .evidence import ScoreEvidence


def check_scores(evidence: ScoreEvidence) -> tuple[CheckResult, ...]:
    """One result per check of scores, in their order."""
    return results_of((*CHECKS, ONE_JUDGE), evidence)


def overall_of_scores(evidence: ScoreEvidence, results: Sequence[CheckResult]) -> Overall:
    """One verdict on a judge and metric, the first that holds.

    - *do not trust*: data, TPR or TNR fails, or the check of likeness does: with two people or more
      its place among them, else association, or AUROC where people say pass or fail of levels;
    - *cannot say*: the check of likeness (of pass/fail TPR or TNR) is unknown, or its interval
      reaches below the failure limit;
    - *trust*: it is ok, of pass/fail both rates shown above .60, nothing warns or fails, and no
      rate is shown to be low that one person's noise may explain;
    - else *trust with limits*.

    Leniency, spread, length, drift and repeatability never cause *do not trust*.
    """
    of_check = {result.check: result for result in results}
    unchecked = tuple(r.check for r in results if r.grade == "unknown" and r.applicable)

    def verdict(name: OverallVerdict, because: Sequence[str]) -> Overall:
        return Overall(verdict=name, because=tuple(because), unchecked=unchecked)

    merit = evidence.merit
    decisive = dict.fromkeys((*merit, "tpr", "tnr", evidence.likeness, "score_data"))
    if failed := [name for name in decisive if of_check[name].grade == "fail"]:
        return verdict("do_not_trust", failed)
    if open_ := [name for name in merit if not _shown_above_failure(of_check[name])]:
        return verdict("cannot_say", open_)
    doubts = [
        name for worst in ("fail", "warn") for name, r in of_check.items() if r.grade == worst
    ]
    doubts += [name for name in merit if of_check[name].grade not in ("ok", "fail", "warn")]
    doubts += [name for name in ("tnr", "tpr") if name not in merit and _shown_low(of_check[name])]
    return verdict("trust_with_limits", doubts) if doubts else verdict("trust", merit)


def _shown_above_failure(result: CheckResult) -> bool:
    interval_, limits = result.interval, result.limits
    if result.grade == "unknown" or interval_ is None or limits is None or limits.failure is None:
        return False
    return interval_.low > limits.failure


def _shown_low(result: CheckResult) -> bool:
    """A rate beyond caution for which nobody in particular can be blamed."""
    rate, limits = result.interval, result.limits
    if result.grade != "unclear" or rate is None or limits is None:
        return False
    return rate.high < limits.caution
