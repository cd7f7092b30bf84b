"""What the checks of a judge of single answers add up to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...auditing.overall import Allowed, Overall, OverallVerdict, Use, UseName
from ...finding.check import CheckResult, results_of
from ..reference.check import only_one_verdict
from .by_category import LEAST_RIGHT
from .evidence import ScoreEvidence


def check_scores(evidence: ScoreEvidence) -> tuple[CheckResult, ...]:
    """One result per check of scores that is to be asked, in their order.

    Beside people who are no reference, what is measured by them is unclear at most.
    """
    # The checks of all questions, this one's among them, so that a new room needs no line here.
    from ...auditing.checks import SCORE_CHECKS

    results = results_of(SCORE_CHECKS, evidence)
    if evidence.who.is_reference is not False:
        return results
    return tuple(
        _by_no_reference(result) if result.check in BY_PEOPLE else result for result in results
    )


BY_PEOPLE = frozenset(
    {"tnr", "tpr", "association", "auroc", "people", "kappa_weighted", "score_category"}
)
"""Checks whose value is how near a judge is to people."""


def _by_no_reference(result: CheckResult) -> CheckResult:
    if result.grade not in ("ok", "warn", "fail"):
        return result
    sentence = f"{result.sentence} By people who are no reference that is unclear."
    return replace(result, grade="unclear", sentence=sentence, p_value=math.nan)


def overall_of_scores(evidence: ScoreEvidence, results: Sequence[CheckResult]) -> Overall:
    """One verdict on a judge and metric by what it may be used for, the first that holds.

    - *do not trust*: data fails, or it may not measure (`Not to be used`);
    - *trust*: it may decide, and nothing warns or fails;
    - *trust with limits*: it may decide, or measure;
    - *do not trust*: it may not decide, and measuring is not shown (`Not for decisions`);
    - else *cannot say*.
    """
    of_check = {result.check: result for result in results}
    unchecked = tuple(r.check for r in results if r.grade == "unknown" and r.applicable)
    use = uses(evidence, of_check)
    decide, measure = use["decide"].answer, use["measure"].answer

    def verdict(name: OverallVerdict, because: Sequence[str]) -> Overall:
        return Overall(verdict=name, because=tuple(because), unchecked=unchecked, use=use)

    doubts = [
        name for worst in ("fail", "warn") for name, r in of_check.items() if r.grade == worst
    ]
    rates = ("tnr", "tpr") if evidence.table.passing is not None else ()
    merit = tuple(dict.fromkeys((*evidence.merit, *rates)))
    low = [name for name in merit if of_check[name].grade not in ("ok", "fail", "warn")]
    if of_check["score_data"].grade == "fail":
        return verdict("do_not_trust", ["score_data"])
    if measure == "no":
        return verdict("do_not_trust", ["follows"])
    if decide == "yes":
        if not doubts:
            return verdict("trust", evidence.merit)
        return verdict("trust_with_limits", doubts)
    if measure == "yes":
        return verdict("trust_with_limits", doubts + low)
    if decide == "no":
        return verdict("do_not_trust", doubts or low)
    floor = [name for name in ("who", "labels") if of_check[name].grade in ("fail", "unclear")]
    return verdict("cannot_say", floor or low or ["follows"])


LEAST_OF_A_CLASS = 10
FEW_OF_A_CLASS = 5
"""Labels of a class from which a rate may be shown to be low."""


def uses(evidence: ScoreEvidence, of_check: Mapping[str, CheckResult]) -> dict[UseName, Use]:
    """Whether it may decide, measure and sort, each with its reason.

    measure : *yes* if it is shown to follow people, with 10 labels of either class (of levels 30
        answers), the people are no bad reference, labels are like the others, and categories do not
        fail; *no* if it is shown to follow too little.
    sort : *yes* if the low end of what it follows by is above 0; *no* as measure.
    decide : see `_decides`; *no* where measure is, and where a rate of one category is shown to be
        low.
    """
    who, labels, follows = (of_check[name] for name in ("who", "labels", "follows"))
    blind = evidence.follows.constant is not None
    if evidence.who.is_reference is False and not blind:
        return _all("not shown", who.sentence)
    if evidence.table.says_pass and evidence.which.design == "one verdict" and not blind:
        return _all("not shown", only_one_verdict(evidence))
    if follows.grade == "fail":
        return _all("no", follows.sentence)
    estimate = follows.interval
    sorts = estimate is not None and estimate.has_interval and estimate.low > 0
    sort = Use(answer="yes" if sorts else "not shown", because=follows.sentence)
    open_ = next((result for result in (labels, of_check["drift"]) if result.grade == "fail"), None)
    if open_ is not None:
        measure = Use(answer="not shown", because=open_.sentence)
    elif follows.grade == "ok" and evidence.follows.enough:
        measure = Use(answer="yes", because=follows.sentence)
    else:
        measure = Use(answer="not shown", because=follows.sentence)
    decide = _decides(evidence, of_check, measure)
    if decide.answer == "yes" and (labels.grade == "fail" or evidence.who.copied):
        because = labels if labels.grade == "fail" else who
        decide = Use(answer="not shown", because=because.sentence)
    category = of_check.get("score_category")
    if decide.answer != "no" and category is not None and category.grade == "fail":
        decide = Use(answer="no", because=category.sentence)
    return {"decide": decide, "measure": measure, "sort": sort}


def _all(answer: Allowed, because: str) -> dict[UseName, Use]:
    use = Use(answer=answer, because=because)
    return {"decide": use, "measure": use, "sort": use}


def _decides(evidence: ScoreEvidence, of_check: Mapping[str, CheckResult], measure: Use) -> Use:
    """Whether it may pass or stop one answer.

    By verdicts *yes* if the low ends of TPR and TNR are at least .80 with 10 labels of either
    class, or with two people or more both gains on a left-out person have a low end above −.10 and
    it may measure; *no* if a high end is below .80, with two people or more if a gain is shown to
    be below −.10, or below 0 where the rate is low too. Of levels without a cut by its place among
    people: *yes* above −.10 where leniency does not fail, *no* below −.10.
    """
    passing = evidence.passing
    rates = {"tpr": passing.tpr, "tnr": passing.tnr}
    gains = {"tpr": passing.tpr_gain, "tnr": passing.tnr_gain}
    if evidence.table.passing is None or None in rates.values():
        return _by_place(evidence, of_check)
    low = {
        name: rate
        for name, rate in rates.items()
        if rate is not None and rate.n >= FEW_OF_A_CLASS and rate.high < LEAST_RIGHT
    }
    known = [rate for rate in rates.values() if rate is not None]
    values = {name: rate.value for name, rate in rates.items() if rate is not None}
    worst = of_check[min(values, key=lambda name: values[name])]
    if all(rate.n >= LEAST_OF_A_CLASS and rate.low >= LEAST_RIGHT for rate in known):
        return Use(answer="yes", because=worst.sentence)
    beside = {name: gain for name, gain in gains.items() if gain is not None}
    if len(beside) == 2:
        by_gain = min(beside, key=lambda name: beside[name].value)
        if measure.answer == "yes" and all(gain.low > PLACE for gain in beside.values()):
            return Use(answer="yes", because=of_check[by_gain].sentence)
        for name, gain in beside.items():
            if gain.high < PLACE or (gain.high < 0 and name in low):
                return Use(answer="no", because=of_check[name].sentence)
        return Use(answer="not shown", because=of_check[by_gain].sentence)
    if low:
        return Use(answer="no", because=of_check[min(low, key=lambda n: low[n].value)].sentence)
    return Use(answer="not shown", because=worst.sentence)


PLACE = -0.10


def _by_place(evidence: ScoreEvidence, of_check: Mapping[str, CheckResult]) -> Use:
    place, result = of_check["people"].interval, of_check["people"]
    if place is None or not place.has_interval:
        return Use(answer="not shown", because="Nothing says from which score an answer passes.")
    if place.high < PLACE:
        return Use(answer="no", because=result.sentence)
    fine = place.low > PLACE and of_check["leniency"].grade != "fail"
    return Use(answer="yes" if fine else "not shown", because=result.sentence)
