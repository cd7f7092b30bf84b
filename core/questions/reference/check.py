"""Are the people a reference, are the answers they labelled like the others, is it following?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...finding.check import Check, CheckResult, Grade, Limits, Unknown, share_span
from ...finding.wording import count, enumerated, interval, number, percent
from ...stats.estimate import Estimate
from .results import LEAST_RATE, WHICH, WHO
from .which import Design, Which
from .who import LEAST_REFERENCE

if TYPE_CHECKING:
    from ...finding.evidence import Evidence
    from ..scores.evidence import ScoreEvidence

FOLLOWS_LIMIT = {"youden": 0.20, "r": 0.30, "auroc": 0.20}
NAMES = {"youden": "TPR + TNR − 1", "r": "r", "auroc": "2·AUROC − 1"}


def _of_pairs(evidence: Evidence | ScoreEvidence) -> bool:
    return evidence.metric is None


def _agreement(evidence: Evidence | ScoreEvidence) -> Estimate | Unknown:
    of = evidence[WHO]
    if of.agreement is None:
        return Unknown(of.reason or "nobody scored the answers", applicable=of.people > 1)
    return of.agreement


def _people_sentence(evidence: Evidence | ScoreEvidence, r: Estimate) -> str:
    of = evidence[WHO]
    if _of_pairs(evidence):
        return f"A left-out person says what the others say on {percent(r.value)} ({share_span(r)})"
    people = "The two people agree" if of.people == 2 else f"Any two of {of.people} people agree"
    return f"{people} r {interval(r)} with each other on {count(r.n, 'item')}"


def _who(check: Check, evidence: Evidence | ScoreEvidence) -> CheckResult:
    """Ok where people are a reference, fail where not; a warning where one goes against them."""
    of = evidence[WHO]
    r = check.estimate(evidence)
    more = []
    if len(of.against) > 1 and of.people == 2:
        more.append(f"{enumerated(of.against)} go against each other: is a scale turned?")
    elif of.against:
        more.append(
            f"{enumerated(of.against)} goes against the others: is that scale turned? Leave a "
            "person out to see what the others say."
        )
    for name in of.copied:
        more.append(f"{name}'s labels are the judge's own: if they were copied, this says nothing.")
    if isinstance(r, Unknown):
        result = check.unknown(evidence, r)
        if more:
            said = " ".join([result.sentence, *more])
            result = replace(result, grade="warn", sentence=said, applicable=True)
        return result
    given: Grade = "ok" if of.is_reference else "fail"
    if given == "ok" and more:
        given = "warn"
    verdict = "." if of.is_reference else ": they are no reference."
    if not of.is_reference:
        more.append("Let them label 30 together and write down what they differ on.")
    return CheckResult(
        judge=evidence.judge,
        check=check.name,
        grade=given,
        sentence=" ".join([f"{_people_sentence(evidence, r)}{verdict}", *more]),
        estimate=r,
        limits=check.limits_of(evidence),
        metric=evidence.metric,
    )


def _who_limits(evidence: Evidence | ScoreEvidence, limits: Limits) -> Limits:
    """Of pairs how often a left-out person says what the others say, which chance makes a half."""
    return replace(limits, caution=LEAST_RATE, unit="share") if _of_pairs(evidence) else limits


def _by_people(evidence: Evidence) -> bool:
    """Whether people are what a judge of pairs is measured by."""
    measured = evidence.counted.gold == "humans" or not evidence.has_gold
    return measured and not evidence.is_person and len(evidence.other_people) > 1


PEOPLE = Check(
    name="who",
    title="people agree",
    subject="Agreement of the people",
    question="Are the people a reference?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_least",
        LEAST_REFERENCE,
        None,
        "People who agree less measure no judge; and the low end has to be above 0.",
        unit="number",
    ),
    needs="scores by two people or more",
    more_of="that two people scored",
    limits_for=_who_limits,
    asked=lambda evidence: not _of_pairs(evidence) or _by_people(evidence),
    advice="Let the people label 30 answers together and write down what they differ on.",
    estimate=_agreement,
    sentence=_people_sentence,
    compose=_who,
    short=lambda _, __, grade: (
        "is compared with people who "
        + ("are no reference" if grade == "fail" else "agree with each other")
    ),
    figure="r of two people",
)

DRAWN: dict[Design, str] = {
    "verdicts": "so many of each verdict, so figures are weighed by verdict",
    "classes": "so many of each class, so figures are weighed by class",
    "random": "as they came, so figures are weighed by verdict",
}


def _difference(evidence: Evidence | ScoreEvidence) -> Estimate | Unknown:
    of = evidence[WHICH]
    if of is None or not of.labelled:
        return Unknown("people labelled none of the answers")
    if of.design == "all":
        return Unknown("every judged answer has a label", applicable=False)
    largest = max(of.columns.values(), key=lambda one: abs(one.size), default=None)
    named = of.columns[of.differs] if of.differs is not None else largest
    return Estimate(math.nan if named is None else abs(named.size), n=of.labelled)


def only_one_verdict(evidence: ScoreEvidence) -> str:
    """What is known where people looked at one verdict alone."""
    table = evidence.table
    truth, said = table.people_verdict, table.verdict
    seen = 0 if bool(((truth >= 0) & (said == 0)).any()) else 1
    rows = (truth >= 0) & (said == seen)
    passed, n = int((truth[rows] == 1).sum()), int(rows.sum())
    if seen == 0:
        return (
            f"People looked only at what it fails, and passed {passed} of those {n}. How many it "
            "lets through is not known: label about 50 that it passes."
        )
    return (
        f"People looked only at what it passes, and failed {n - passed} of those {n}. How many it "
        "stops that are good is not known: label about 50 that it fails."
    )


def how_they_differ(of: Which) -> str:
    """In which column labelled answers differ from the others; empty where in none."""
    if of.differs is None:
        return ""
    one = of.columns[of.differs]
    size = number(abs(one.size), ".1f")
    if of.differs == "length":
        how = f"they are {'longer' if one.size > 0 else 'shorter'} (by {size} SD)"
    else:
        how = f"in {of.differs} (by {size} SD)"
    return f"People looked at answers that differ from the rest: {how}."


def _asked(evidence: ScoreEvidence) -> str:
    one, other = evidence.readings or (None, None)
    if one is None or other is None:
        return "How the labels were drawn is not known."
    low, high = (
        f"{percent(rate.value)} ({percent(rate.low)} to {percent(rate.high)})"
        for rate in (other.rate, one.rate)
    )
    table = evidence.table
    labels = table.people_verdict[table.people_verdict >= 0]
    even = abs(2 * int(labels.sum()) - len(labels)) <= 1
    why = "As many labels pass as fail" if even else "Labels are not spread as verdicts are"
    return (
        f"{why}. If so many of each class were drawn, the pass rate is {low}; if not, {high}. Say "
        "--labels-drawn classes or verdicts."
    )


def _labels(check: Check, evidence: Evidence | ScoreEvidence) -> CheckResult:
    of, size = evidence[WHICH], check.estimate(evidence)
    if isinstance(size, Unknown) or of is None:
        return check.unknown(evidence, size if isinstance(size, Unknown) else Unknown("no labels"))
    given, said = (
        _labels_of_pairs(of)
        if of.design in OF_PAIRS or evidence.metric is None
        else _labels_of_scores(evidence, of)
    )
    return CheckResult(
        judge=evidence.judge,
        check=check.name,
        grade=given,
        sentence=said.strip(),
        estimate=size,
        limits=check.limits_of(evidence),
        metric=evidence.metric,
        remedy="Say how labels were drawn: --labels-drawn classes or verdicts."
        if given == "unclear"
        else None,
    )


OF_PAIRS: tuple[Design, ...] = ("disagreements", "only disagreements")


def _labels_of_pairs(of: Which) -> tuple[Grade, str]:
    """How the comparisons with gold differ from the others."""
    differs = how_they_differ(of)
    given: Grade = "warn" if differs else "ok"
    what = differs or "Taken as drawn as they came."
    if of.design == "only disagreements":
        given, what = "fail", "Only comparisons on which judges differ have it."
    elif of.design == "disagreements":
        given, what = "ok", f"{WEIGHED_BY_DIFFERENCE} {differs}"
    return given, f"{of.labelled:,} of {of.n:,} comparisons have gold. {what}"


def _labels_of_scores(evidence: Any, of: Which) -> tuple[Grade, str]:
    differs = how_they_differ(of)
    given: Grade = "fail" if differs and of.differs != "verdict" else "ok"
    if of.design == "one verdict":
        given, what = "fail", only_one_verdict(evidence)
    elif of.design == "asked":
        given = "unclear" if given == "ok" else given
        what = " ".join(filter(None, [_asked(evidence), differs]))
    else:
        how = DRAWN[of.design] if evidence.table.says_pass else "as they came"
        what = f"Taken as drawn {how}. {differs}" if given == "ok" else differs
    return given, f"People labelled {of.labelled:,} of {of.n:,} judged answers. {what}"


WEIGHED_BY_DIFFERENCE = "Taken as drawn by whether judges differ, and weighed by it."


def _partly(evidence: Evidence) -> bool:
    of = evidence[WHICH]
    return of is not None and of.design != "all"


LABELS = Check(
    name="labels",
    title="labelled answers",
    subject="The choice of labelled answers",
    question="Are the labelled answers like the others?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_most", 0.10, None, "Standard deviations; and p < .05 over all columns.", unit="number"
    ),
    needs="labels of some of the judged answers",
    more_of="with labels",
    advice="Label answers that are drawn at random, or as many of each verdict.",
    estimate=_difference,
    sentence=lambda evidence, _: how_they_differ(evidence[WHICH]),
    compose=_labels,
    asked=lambda evidence: not _of_pairs(evidence) or _partly(evidence),
    short=lambda _, __, grade: (
        f"was looked at on answers {'unlike' if grade == 'fail' else 'like'} the others"
    ),
    figure="labelled beside others",
)


def _followed(evidence: ScoreEvidence) -> Estimate | Unknown:
    of = evidence.follows
    return of.estimate or Unknown(of.reason)


def constant_sentence(evidence: ScoreEvidence) -> str:
    """That it gives one verdict or score to all answers: "It gives 3 to all 300 answers"."""
    table, of = evidence.table, evidence.follows
    if of.constant is None:
        return ""
    n = int((table.judge == table.judge).sum())
    if table.says_pass:
        return f"It {'passes' if of.constant > (table.passing or 0) else 'fails'} all {n:,} answers"
    return f"It gives {of.constant:g} to all {n:,} answers"


def _follows_sentence(evidence: ScoreEvidence, r: Estimate) -> str:
    of = evidence.follows
    if of.constant is not None:
        return constant_sentence(evidence)
    whom = "the person" if evidence.who.one else "the people"
    return f"It follows {whom}: {NAMES[of.measure]} {interval(r)} on {count(r.n, 'item')}"


def _follows(check: Check, evidence: ScoreEvidence) -> CheckResult:
    of, r = evidence.follows, check.estimate(evidence)
    if isinstance(r, Unknown):
        return check.unknown(evidence, r)
    if of.constant is not None:
        return replace(
            check.graded(evidence, r),
            grade="fail",
            sentence=f"{constant_sentence(evidence)}: it follows nobody.",
            needed_items=None,
            more_items=None,
        )
    return check.graded(evidence, r)


def _follows_in_words(evidence: ScoreEvidence, r: Estimate, grade: Grade) -> str:
    if evidence.follows.constant is not None:
        return constant_sentence(evidence)[3:]
    scores = f"{'the person' if evidence.who.one else 'people'}'s scores"
    if grade == "fail":
        against = r.has_interval and r.high < 0
        return f"{'goes against' if against else 'hardly follows'} {scores}"
    return f"follows {scores} beyond chance"


def _limits(evidence: ScoreEvidence, limits: Limits) -> Limits:
    """J and 2·AUROC − 1 have the limit that is r's on their scale."""
    measure = evidence.follows.measure
    if measure == "r":
        return limits
    ratio = FOLLOWS_LIMIT[measure] / FOLLOWS_LIMIT["r"]
    failure = None if limits.failure is None else limits.failure * ratio
    return replace(limits, caution=limits.caution * ratio, failure=failure, items=10)


FOLLOWS = Check(
    name="follows",
    title="follows people",
    subject="Following people beyond chance",
    question="Does it follow them beyond chance?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_least",
        0.30,
        0.30,
        "Of r; of TPR + TNR − 1 and 2·AUROC − 1 two thirds of it, which is the same limit.",
        items=10,
        unit="number",
    ),
    needs="labels by people, of either class",
    more_of="that people scored",
    advice="Do not use it: a judge that does not look would do as well.",
    estimate=_followed,
    sentence=_follows_sentence,
    compose=_follows,
    limits_for=_limits,
    decisive=True,
    short=_follows_in_words,
    figure="beyond chance",
)

CHECKS: tuple[Check, ...] = (PEOPLE, LABELS)
SCORE_CHECKS: tuple[Check, ...] = (*CHECKS, FOLLOWS)
