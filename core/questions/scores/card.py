"""What is said first of a judge of single answers: a headline and a line of figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...auditing.checks import BY_NAME
from ...auditing.overall import Overall
from ...finding.answer import Answer, bad, difference, line, measured, share
from ...finding.check import Check, CheckResult, Grade
from ...finding.wording import count, number, percent
from ...stats.estimate import Estimate
from ..reference.check import constant_sentence, how_they_differ
from .ask import GOLD
from .by_category import category_headline
from .check import VERBS, Side
from .evidence import ScoreEvidence

if TYPE_CHECKING:
    from .audited import ScoreAudit

MOST_DOUBTS = 2
"""Doubts whose figures stand in the line: more make no line."""


def score_answer(
    evidence: ScoreEvidence, overall: Overall, results: Sequence[CheckResult]
) -> Answer:
    """What is said of it first: of pass and fail the worse class, of scores whether they follow
    people's, and what speaks against that.

    "It passes 43 % of the answers that people failed; always passing would be right as often."
    "It follows the person's scores, but scores higher than people."
    """
    of_check = {result.check: result for result in results}
    said = (
        _floor(evidence, of_check)
        or _without_a_score(evidence, overall, of_check["score_data"])
        or (_classes(evidence, overall, of_check) if evidence.table.says_pass else "")
        or _of_scores(evidence, overall, of_check)
    )
    figures = _figures(evidence, overall, of_check)
    return Answer(headline=said, figures=figures, good=overall.verdict == "trust")


def said_of(scores: ScoreAudit) -> Answer:
    """The verdict and what is said first of a judge, where no card says it beside.

    "May decide: a-judge. It fails 93 % of what people failed and passes 96 % of what they passed."
    """
    return Answer(
        headline=f"{scores.overall.word}: {scores.whose}. {scores.headline}",
        figures=scores.figures,
        good=scores.overall.verdict == "trust",
    )


def _floor(evidence: ScoreEvidence, of_check: dict[str, CheckResult]) -> str:
    """What comes before any figure: one score for all, answers without a score, nobody who looked,
    people who are no reference, one verdict labelled; empty where none of it holds.
    """
    if evidence.follows.constant is not None:
        return f"{constant_sentence(evidence)}."
    table, data = evidence.table, of_check["score_data"]
    given = "verdict" if table.says_pass else "score"
    if data.grade == "fail" and data.interval is not None:
        if data.fault is not None:
            return f"It {data.fault}."
        return f"It gives no {given} on {percent(data.interval.value)} of the answers."
    if not np.isfinite(table.people).any():
        answers = count(len(table.judge), "answer")
        passes = f"passes {percent(float((table.verdict == 1).mean()))} of"
        does = passes if table.says_pass else "scores"
        return f"It {does} {answers}, and nobody has checked it: label 20 of them."
    of = evidence.who
    if of.is_reference is False and of.agreement is not None:
        r = number(of.agreement.value, ".2f")
        if len(of.against) == 1:
            return f"{of.against[0]} goes against the others: these people are no reference."
        return f"The people agree r {r} with each other: they are no reference."
    if evidence.table.says_pass and evidence.which.design == "one verdict":
        seen = evidence.table.verdict[evidence.table.people_verdict >= 0]
        return f"People looked only at what it {'passes' if (seen == 1).any() else 'fails'}."
    if evidence.which.differs not in (None, "verdict"):
        return how_they_differ(evidence.which)
    if evidence.readings is not None:
        one, other = sorted(reading.rate.value for reading in evidence.readings)
        return (
            f"By how labels were drawn, {percent(one)} or {percent(other)} of the answers pass: "
            "say --labels-drawn."
        )
    return ""


def _without_a_score(evidence: ScoreEvidence, overall: Overall, data: CheckResult) -> str:
    """How many answers it leaves to a person, of a judge not shown to be wrong on the others; else
    empty.
    """
    left = evidence.scores.unscored
    denied = "decide" in overall.use and overall.use["decide"].answer == "no"
    if denied or data.grade != "warn" or data.fault is not None or not left.failed + left.passed:
        return ""
    given = "verdict" if evidence.table.says_pass else "score"
    return (
        f"It gives no {given} on {evidence.scores.missing:,} of {evidence.scores.outputs:,}; "
        f"people failed {left.failed:,} of those: they go to a person."
    )


def _classes(evidence: ScoreEvidence, overall: Overall, of_check: dict[str, CheckResult]) -> str:
    """The worse class, or of a judge that may decide both; the category for which it may not, if
    that alone is why; empty without a rate.
    """
    passing = evidence.passing
    tpr, tnr = passing.tpr, passing.tnr
    if tpr is None or tnr is None:
        return ""
    decide = overall.use.get("decide")
    category = of_check.get("score_category")
    if decide is not None and category is not None and decide.because == category.sentence:
        return category_headline(evidence)
    if overall.verdict == "trust" or (decide is not None and decide.answer == "yes"):
        return (
            f"It fails {percent(tnr.value)} of what people failed and passes "
            f"{percent(tpr.value)} of what they passed."
        )
    if tnr.value <= tpr.value:
        said = f"It passes {percent(1 - tnr.value)} of what people failed"
    else:
        said = f"It fails {percent(1 - tpr.value)} of what people passed"
    blind = {"always passing": passing.always_pass, "always failing": passing.always_fail}
    what, best = max(
        ((name, share or 0.0) for name, share in blind.items()), key=lambda one: one[1]
    )
    right = passing.right
    if right is not None and right.high < best:
        said += f"; {what} would be right more often"
    elif right is not None and right.value <= best:
        said += f"; {what} would be right as often"
    elif right is not None and right.low <= best:
        said += f"; it is not shown to be right more often than {what}"
    return f"{said}."


def _of_scores(evidence: ScoreEvidence, overall: Overall, of_check: dict[str, CheckResult]) -> str:
    """The check that decided, in few words; of *trust with limits* the first doubt too."""
    merit = next((name for name in overall.because if name in evidence.merit), evidence.merit[0])
    decided = [of_check[name] for name in overall.because if name in of_check]
    fine = _short(BY_NAME[merit], evidence, of_check[merit], "ok")
    doubts = [_short(BY_NAME[r.check], evidence, r) for r in decided if r.check != merit]
    if overall.verdict == "do_not_trust":
        wrong = [_short(BY_NAME[r.check], evidence, r) for r in decided[:2]]
        return f"It {' and '.join(wrong)}: do not use its scores."
    if overall.verdict == "cannot_say":
        result = of_check[merit]
        if result.interval is None:
            return result.sentence
        why = "it is near the limit" if result.more_items is None else "more labels would tell"
        return f"Whether it {fine} is open: {why}."
    if of_check[merit].grade == "ok":
        return f"It {fine}, but {doubts[0]}." if doubts else f"It {fine}; no check warns."
    if bad(of_check[merit]):
        also = f", and {doubts[0]}" if doubts else ""
        return f"It {_short(BY_NAME[merit], evidence, of_check[merit])}{also}."
    also = f", and it {doubts[0]}" if doubts else ""
    return f"It is shown not to fail, but whether it {fine} is open{also}."


def _short(
    check: Check, evidence: ScoreEvidence, result: CheckResult, grade: Grade | None = None
) -> str:
    """What a headline says of a check, for a grade other than its own if one is given."""
    if check.short is None:
        return check.words
    return check.short(evidence, result.interval or Estimate(0.0), grade or result.grade)


def _figures(evidence: ScoreEvidence, overall: Overall, of_check: dict[str, CheckResult]) -> str:
    """ "r with the person 0.72 (0.61–0.80) · +11.0 points beside people (6.2–15.9) · 60 items"."""
    parts: list[str] = []
    if not evidence.table.says_pass:
        merit = of_check[evidence.likeness]
        parts.append(_figure(merit))
        of = evidence.ceiling
        if of.people_association is not None and of.judge_association is not None:
            parts.append(
                f"r {number(of.judge_association.value, '.2f')} with a person, "
                f"{number(of.people_association.value, '.2f')} between two"
            )
        same = "follows" if merit.check == "association" else ""
        doubts = [name for name in overall.because if name not in (merit.check, same, *VERBS)]
        parts += [_figure(of_check[name]) for name in doubts[:MOST_DOUBTS]]
        if merit.interval is not None:
            parts.append(count(merit.interval.n, "item"))
    classes: dict[Side, Estimate | None] = {
        "tnr": evidence.passing.tnr,
        "tpr": evidence.passing.tpr,
    }
    for side, rate in classes.items():
        if rate is not None:
            does, did = VERBS[side]
            parts.append(f"{does} {share(rate)} of {count(rate.n, 'item')} that people {did}")
    rates = evidence.pass_rate
    if rates.corrected is not None and rates.judge is not None:
        parts.append(
            f"{_rate_name(evidence)} {share(rates.corrected)}, "
            f"the judge says {percent(rates.judge.value)}"
        )
    return line(parts)


def _rate_name(evidence: ScoreEvidence) -> str:
    """What a corrected pass rate is: by one person's labels it is that person's standard."""
    names = {*evidence.table.names} - {GOLD}
    if evidence.who.one and len(names) == 1:
        return f"pass rate by {names.pop()}'s standard"
    return "true pass rate"


def _figure(result: CheckResult) -> str:
    """The number of a check with its interval, in its unit."""
    found, check = result.interval, BY_NAME[result.check]
    if found is None or result.limits is None:
        return ""
    if result.limits.unit == "number":
        return f"{check.figure} {measured(found)}"
    if result.limits.unit == "share":
        return f"{check.figure} {share(found)}"
    return f"{check.figure} {difference(found, unit=' points')}"
