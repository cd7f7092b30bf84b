"""Is it right: half credit on decided gold, beyond what a judge reaches that does not read."""

from __future__ import annotations

from dataclasses import replace

from ...finding.check import Check, CheckResult, Limits, Unknown, share_span
from ...finding.evidence import Evidence
from ...finding.wording import LONGEST_NAME, count, number, percent, percent_span, points
from ...stats.estimate import Estimate
from ..agreement.results import GOLD_OF_PEOPLE, OWN_GOLD, PEOPLE_RATE
from ..order.results import OTHER_TERMS
from ..reference.results import (
    LEAST_RATE,
    ONLY_DIFFERING,
    RIGHT_OVER_TIME,
    WEIGHED,
    WHICH,
    people_are_reference,
)
from .method import SAME_LABEL, BlindRule, OnlyDiffering, exact_by_chance, with_missing_as_ties
from .results import BLIND_RULE, CATEGORIES, CREDIT, EXACT, WRONG_CATEGORY

LEAST_ACCURACY = 0.60
"""A judge whose share right may be below this is not known to be better than a guess that costs 25
times.
"""


def _estimate(evidence: Evidence) -> Estimate | Unknown:
    if evidence[OTHER_TERMS]:
        return Unknown(
            "the votes may say which place won (stability)",
            fault="reverses with the order more than noise can",
        )
    if evidence[CREDIT] is None and evidence.has_gold:
        return Unknown("every gold label is a tie", fault="was compared with gold that is all ties")
    right = evidence[CREDIT]
    if right is not None and (differing := evidence.counted[ONLY_DIFFERING]) is not None:
        return Unknown(_only_there(differing, right), fault="was labelled only where judges differ")
    return right or Unknown("no comparison that it judged has decided gold")


def _only_there(of: OnlyDiffering, right: Estimate) -> str:
    """What is known where only comparisons on which judges differ have gold."""
    known = (
        f"gold is there only where judges differ ({of.labelled:,} comparisons; they differ on "
        f"{percent(of.share)} of all). Of those it is right on {percent(right.value)}"
    )
    if of.judges == 2:
        more, low, high = (of.share * (2 * p - 1) for p in (right.value, right.low, right.high))
        known += (
            f", so it is right {points(more)} points more often than the other ({points(low)} to "
            f"{points(high)})"
        )
    return f"{known}. How often it is right is not known: label 50 on which they agree"


def _sentence(evidence: Evidence, right: Estimate) -> str:
    half = "a tie counting half"
    if evidence[WEIGHED] is not None:
        half += ", weighed by whether judges differ"
    return f"Right on {percent(right.value)} of decided gold, {half} ({share_span(right)})"


BLIND = "is not shown to read the answers"
"""What a headline says of a judge that a rule without reading may do as well as."""


def _limits(evidence: Evidence, limits: Limits) -> Limits:
    """Where gold is made of people's votes, a judge that reaches people's rate is not failed.

    Caution never falls below .60 and failure never below .50; of two people gold exists only where
    both agree, so their rate says nothing of it.
    """
    rate = evidence[PEOPLE_RATE]
    if evidence.counted.gold != "humans" or rate is None or len(evidence.other_people) < 3:
        return limits
    caution = max(min(limits.caution, rate.value), min(limits.caution, LEAST_RATE))
    failure = None if limits.failure is None else max(min(limits.failure, caution - 0.10), 0.50)
    return replace(limits, caution=caution, failure=failure)


def _compose(check: Check, evidence: Evidence) -> CheckResult:
    """At most unclear where no blind rule is shown to be beaten, or people are no reference."""
    right = check.estimate(evidence)
    if isinstance(right, Unknown):
        return check.unknown(evidence, right)
    result = check.graded(evidence, right)
    said = [result.sentence, _exact(evidence)]
    if with_missing_as_ties(evidence.outputs) is not None:
        said.append("Outputs without a verdict count half.")
    rate = evidence[PEOPLE_RATE]
    if evidence.counted.gold == "humans" and rate is not None:
        said.append(f"A left-out person says what the others say in {percent(rate.value)}.")
        if not people_are_reference(rate):
            said.append(f"The people agree on {percent(rate.value)}: they are no reference.")
            remedy = "Add gold labels: the people agree too seldom to measure a judge by them."
            result = _at_most_unclear(result, remedy)
            if result.grade == "unclear":
                result = replace(result, fault="is measured by people who are no reference")
    theirs = evidence.counted[GOLD_OF_PEOPLE] if evidence.is_person else None
    if theirs is not None and theirs.equals:
        said.append(
            "Gold equals the people's majority; if it was made of their votes this says nothing."
        )
    if right.has_interval and right.high < 0.5 and result.grade != "unknown":
        said.append("That is worse than guessing.")
    of = evidence[WHICH]
    if of is not None and of.differs is not None and evidence[WEIGHED] is None:
        remedy = "Label comparisons that are drawn at random."
        result = _at_most_unclear(result, remedy)
        if result.grade == "unclear":
            result = replace(result, fault="was labelled on comparisons unlike the others")
    rule = evidence[BLIND_RULE]
    if rule is not None and not rule.beaten:
        if rule.shown_blind and result.grade in ("ok", "unclear", "warn"):
            said.append(_blind(rule))
            result = replace(result, grade="warn")
        elif result.grade == "ok":
            said.append(_blind(rule))
            remedy = f"Label more items where gold does not prefer {rule.rule}."
            result = replace(_at_most_unclear(result, remedy), fault=BLIND)
            if rule.rule == SAME_LABEL and not rule.fewest:
                told = "Give both orders, or --map position=COLUMN."
                result = replace(result, remedy=told, fault="may say one label without reading")
    return replace(result, sentence=" ".join(filter(None, said)))


def _at_most_unclear(result: CheckResult, remedy: str) -> CheckResult:
    return replace(result, grade="unclear", remedy=remedy) if result.grade == "ok" else result


def _exact(evidence: Evidence) -> str:
    exact = evidence[EXACT]
    if exact is None or evidence.votes is None:
        return ""
    chance = exact_by_chance(evidence.votes)
    exactly = percent(exact.value)
    return f"With ties: {exactly} exactly (without looking: {percent(chance)})."


def _blind(rule: BlindRule) -> str:
    """That it is not shown to read the answers, with the rule that would do as well."""
    if rule.rule == SAME_LABEL and not rule.fewest:
        return (
            "Gold is one label throughout. If that answer was always shown first, always saying so "
            "would do this: give both orders, or --map position=COLUMN."
        )
    if rule.too_few:
        more = 10 - rule.fewest
        return (
            f"Gold prefers {rule.rule} in {percent(rule.share)}, and it does in "
            f"{percent(rule.follows)}: whether it reads the answers cannot be told; label about "
            f"{more} more items where gold does not."
        )
    ends = f" ({percent_span(rule.right)})" if rule.right.has_interval else ""
    if rule.shown_blind:
        return (
            f"It is shown to do no better than preferring {rule.rule}: counting items where that "
            f"is right and where it is wrong alike, it is right on {percent(rule.right.value)}"
            f"{ends}."
        )
    return (
        f"It is not shown to do better than preferring {rule.rule}: counting items where that is "
        f"right and where it is wrong alike, it is right on {percent(rule.right.value)}{ends}."
    )


ACCURACY = Check(
    name="accuracy",
    title="right",
    gravity=10,
    fault="is wrong too often",
    not_known="no gold label says how often it is right",
    not_shown="is not shown to be right often enough",
    subject="Accuracy",
    question="Is it right where gold decides?",
    page="confusion",
    limits=Limits(
        "at_least",
        0.70,
        0.60,
        "The cost in items is 1/(2p − 1)²: 6 times at .70, 25 times at .60. On MT-Bench without "
        "ties people agree on 81 % and GPT-4 with them on 85 %.",
    ),
    needs="gold labels",
    more_of="with gold labels",
    advice="Do not decide by its verdicts alone: compare it with another judge, or change its "
    "prompt.",
    estimate=_estimate,
    sentence=_sentence,
    limits_for=_limits,
    compose=_compose,
    against_gold=OWN_GOLD,
    decisive=True,
)


def _weakest(evidence: Evidence) -> Estimate | Unknown:
    if not evidence[CATEGORIES]:
        return Unknown("it needs two categories with 30 items of decided gold each", False)
    return next(iter(evidence[CATEGORIES].values()))


def _category_sentence(evidence: Evidence, weakest: Estimate) -> str:
    categories = evidence[CATEGORIES]
    name, rights = next(iter(categories)), categories.values()
    shown = sum(right.low >= LEAST_ACCURACY for right in rights)
    swapped = " (are its labels swapped there?)" if weakest.high < 0.5 else ""
    return (
        f"Weakest of {len(rights)} categories: {name}, right on {percent(weakest.value)} "
        f"({share_span(weakest)}, widened for {len(rights)}){swapped}; at least "
        f"{percent(LEAST_ACCURACY)} is shown in {shown} of them"
    )


def _category(check: Check, evidence: Evidence) -> CheckResult:
    """A category that is shown to be wrong fails from four items on; *ok* needs thirty of each."""
    weakest = check.estimate(evidence)
    result = (
        check.unknown(evidence, weakest)
        if isinstance(weakest, Unknown)
        else check.graded(evidence, weakest)
    )
    wrong = evidence[WRONG_CATEGORY]
    if wrong is None or result.grade == "fail":
        return result
    below = percent(evidence.limits["category"].caution)
    said = (
        f"In {wrong.name} it is right on {number(wrong.right, 'g')} of "
        f"{count(wrong.items, 'item')} (at most {percent(wrong.high)}); shown to be below {below}."
    )
    named = wrong.name if len(wrong.name) <= LONGEST_NAME else "a category"
    share = Estimate(wrong.right / wrong.items, 0.0, wrong.high, n=wrong.items)
    return replace(
        result,
        grade="fail",
        sentence=said,
        applicable=True,
        estimate=share,
        fault=f"is wrong on {named}",
    )


CATEGORY = Check(
    name="category",
    title="weakest group",
    gravity=50,
    fault="is weak in a category",
    subject="The weakest category",
    question="Is it right in every category?",
    page="verdict",
    limits=Limits(
        "at_least",
        0.60,
        0.50,
        "Accuracy's failure limit, and guessing; its interval is Bonferroni's for the number of "
        "categories.",
        items=30,
    ),
    needs="a column category, and gold labels",
    more_of="with gold labels in its weakest category",
    advice="Do not use it on its weakest category: look at the errors there, or give that to "
    "another judge.",
    estimate=_weakest,
    sentence=_category_sentence,
    compose=_category,
    against_gold=OWN_GOLD,
)


def _worst_period(evidence: Evidence) -> Estimate | Unknown:
    of = evidence[RIGHT_OVER_TIME]
    if of is None:
        return Unknown("no column has dates", applicable=False)
    return of.worst.difference if of.worst else Unknown(of.reason or "one period has labels")


def _period_sentence(evidence: Evidence, worst: Estimate) -> str:
    of = evidence[RIGHT_OVER_TIME]
    name = of.worst.group if of is not None and of.worst is not None else ""
    return (
        f"In {name} it is right {points(worst.value)} points more often than at other times "
        f"({points(worst.low)} to {points(worst.high)}, {count(worst.n, 'item')})"
    )


OVER_TIME = Check(
    name="right_over_time",
    title="over time",
    gravity=60,
    fault="is right more often at some times than at others",
    subject="Accuracy over time",
    question="Is it right as often at all times?",
    page="compare",
    limits=Limits(
        "signed",
        0.10,
        0.20,
        "Questions change with time, too: a warning at most.",
        worst="warn",
        unit="points",
    ),
    needs="a column of dates, and gold labels",
    more_of="with gold labels in its period",
    advice="Compare the periods on the same items (--series): did the judge change, or what it is "
    "asked?",
    estimate=_worst_period,
    sentence=_period_sentence,
    asked=lambda evidence: evidence[RIGHT_OVER_TIME] is not None,
    against_gold=OWN_GOLD,
)


CHECKS: tuple[Check, ...] = (ACCURACY, CATEGORY, OVER_TIME)
