"""What the checks of a judge add up to: the overall verdict, what decided it, and what is missing.

Of several judges: who is named, and beside how many warnings chance alone would give.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..finding.check import CheckResult, Grade
from ..finding.evidence import Evidence
from ..finding.wording import NAMED, count, enumerated, number
from ..questions.accuracy.check import LEAST_ACCURACY
from ..questions.accuracy.method import NEARLY_ALWAYS
from ..questions.accuracy.results import BLIND_RULE
from ..questions.agreement.results import CREDIT_BY_PEOPLE, PEOPLE_RATE
from ..questions.reference.results import people_are_reference
from ..records import BoolArray
from .checks import BY_NAME, CHECKS

OverallVerdict = Literal["trust", "trust_with_limits", "do_not_trust", "cannot_say"]

NEEDED = ("accuracy", "position", "stability")
"""Checks that must be ok for plain trust."""
CONFIDENCE_CHECKS = ("calibration", "overconfidence", "discrimination")

UseName = Literal["decide", "measure", "sort"]
"""What a judge is used for: to pass or stop one answer by it alone; to measure a rate or compare
versions, where errors average out and labels correct them; to choose what to read first."""
Allowed = Literal["yes", "no", "not shown"]

OVERALL_WORDS: dict[OverallVerdict, str] = {
    "trust": "may decide",
    "trust_with_limits": "may be used with limits",
    "cannot_say": "cannot be judged on these votes",
    "do_not_trust": "is not for decisions",
}

GRADE_OF: dict[OverallVerdict, Grade] = {
    "trust": "ok",
    "trust_with_limits": "warn",
    "cannot_say": "unclear",
    "do_not_trust": "fail",
}
"""The grade whose sign and colour an overall verdict has."""

SIGNS: dict[Grade, str] = {"ok": "✓", "warn": "!", "fail": "✗", "unclear": "~", "unknown": "?"}
"""A sign of each grade, so that colour is never alone."""

GRADE_WORDS: dict[Grade, str] = {
    "ok": "is fine",
    "unclear": "is unclear",
    "unknown": "is unknown",
    "warn": "needs care",
    "fail": "fails",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Whether a judge may be used for something: yes, no, or not shown; and why."""

    answer: Allowed
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The verdict on one judge: the checks that led to it, and those that could not be made.

    use : for what it may be used.
    """

    verdict: OverallVerdict
    because: tuple[str, ...]
    unchecked: tuple[str, ...]
    use: Mapping[UseName, Use] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The verdict as one reads it on a card: what the judge may be used for."""
        measures = self._answer("measure")
        if self.verdict == "trust":
            return "May decide"
        if self.verdict == "trust_with_limits":
            if not self.use or self._answer("decide") == "yes":
                return "May decide, with care"
            if measures == "yes":
                return "May measure, not decide"
        if self.verdict == "do_not_trust":
            only_decisions = self._answer("decide") == "no" and measures == "not shown"
            return "Not for decisions" if only_decisions else "Not to be used"
        return "May sort, no more" if self._answer("sort") == "yes" else "Cannot say yet"

    def may(self, use: UseName) -> bool:
        """Whether it may be used so."""
        return self._answer(use) == "yes"

    def _answer(self, use: UseName) -> Allowed:
        return self.use[use].answer if use in self.use else "not shown"


def overall_verdict(evidence: Evidence, results: Sequence[CheckResult]) -> Overall:
    """One verdict from the results of a judge's checks, the first that holds.

    - *do not trust*: a decisive check fails: accuracy (without gold agreement with people who agree
      with each other), position or data;
    - *cannot say*: accuracy is unknown or its low end is below .60, or a rule without reading does
      what it does; without gold: agreement is not ok, the people agree no more than chance, or the
      low end of its half credit against their majority is below .60; no check but data is ok, or
      accuracy is not and position is unknown;
    - *trust*: accuracy (without gold agreement), position and stability are ok, nothing warns or
      fails, and it may decide (`uses_of_votes`);
    - else *trust with limits*.

    The checks of confidence, category and coins never cause *do not trust*. `because` has the
    checks that decide, the worst first; `unchecked` all that could have been made.
    """
    of_check = {result.check: result for result in results}
    grades = {name: result.grade for name, result in of_check.items()}
    unchecked = tuple(r.check for r in results if r.grade == "unknown" and r.applicable)
    by_gold = grades["accuracy"] != "unknown" or grades["agreement"] == "unknown"
    merit = "accuracy" if by_gold else "agreement"
    use = uses_of_votes(evidence, of_check, by_gold)

    def verdict(name: OverallVerdict, because: Sequence[str]) -> Overall:
        return Overall(verdict=name, because=tuple(because), unchecked=unchecked, use=use)

    comparable = by_gold or people_are_reference(evidence[PEOPLE_RATE])
    decisive = [check.name for check in CHECKS if check.decisive and check.name != "accuracy"]
    failed = [name for name in (merit, *decisive) if grades[name] == "fail"]
    if failed and (comparable or failed != [merit]):
        return verdict("do_not_trust", failed)
    known = _is_right(of_check["accuracy"], evidence) if by_gold else _says_as_people_do(evidence)
    if grades[merit] == "unknown" or not known or (not by_gold and grades[merit] != "ok"):
        return verdict("cannot_say", [merit])
    if all(grade != "ok" for name, grade in grades.items() if name != "data"):
        return verdict("cannot_say", [merit])
    if grades[merit] != "ok" and grades["position"] == "unknown":
        return verdict("cannot_say", [merit, "position"])
    needed = [merit, *NEEDED[1:]]
    doubts = [name for worst in ("fail", "warn") for name in grades if grades[name] == worst]
    doubts += [name for name in needed if grades[name] not in ("ok", "fail", "warn")]
    if doubts:
        return verdict("trust_with_limits", doubts)
    if use["decide"].answer != "yes":
        return verdict("trust_with_limits", [merit])
    return verdict("trust", needed)


LEAST_RIGHT = 0.80
"""Share right of a judge that decides alone."""
LEAST_FOLLOWING = 0.60
"""Share right, where a rule without reading has ½, of a judge whose errors average out."""


def uses_of_votes(
    evidence: Evidence, of_check: Mapping[str, CheckResult], by_gold: bool
) -> dict[UseName, Use]:
    """Whether a judge of pairs may decide, measure and sort.

    With the share right, and b the least over rules without reading and that share itself:
    measure *yes* if b's low end is above .60, *no* if it is shown to follow a rule or to be right
    on less than .60; sort *yes* if b's low end is above .50; decide *yes* if the low end of the
    share right is at least .80 (by people: the least of that and theirs), rules without reading are
    beaten, and position and category do not fail; *no* if its high end is below, or position fails.
    """
    result = of_check["accuracy" if by_gold else "agreement"]
    rule, rate = evidence[BLIND_RULE] if by_gold else None, evidence[PEOPLE_RATE]
    right = result.interval if by_gold else evidence[CREDIT_BY_PEOPLE]
    if by_gold and result.grade == "unknown":
        right = None
    if not by_gold and not people_are_reference(rate):
        right = None
    if right is None or not right.has_interval:
        none = Use(answer="not shown", because=result.sentence)
        return {"decide": none, "measure": none, "sort": none}
    least = LEAST_RIGHT if by_gold or rate is None else min(LEAST_RIGHT, rate.value)
    told = rule is None or rule.right.has_interval
    low = right.low if rule is None else min(right.low, rule.right.low if told else 0.0)
    position = of_check["position"]

    def use(answer: Allowed, because: CheckResult = result) -> Use:
        return Use(answer=answer, because=because.sentence)

    if right.high < LEAST_FOLLOWING or (rule is not None and rule.shown_blind):
        return {"decide": use("no"), "measure": use("no"), "sort": use("no")}
    if position.grade == "fail":
        decide = use("no", position)
    elif right.high < least:
        decide = use("no")
    else:
        beaten = rule is None or rule.beaten
        fine = right.low >= least and beaten and of_check["category"].grade != "fail"
        decide = use("yes" if fine else "not shown")
    return {
        "decide": decide,
        "measure": use("yes" if low > LEAST_FOLLOWING else "not shown"),
        "sort": use("yes" if low > 0.5 else "not shown"),
    }


def _is_right(accuracy: CheckResult, evidence: Evidence) -> bool:
    """Whether it is known to be right by reading."""
    right, rule = accuracy.estimate, evidence[BLIND_RULE]
    if right is None or not right.low >= LEAST_ACCURACY:
        return False
    return rule is None or rule.beaten or not (rule.shown_blind or rule.follows >= NEARLY_ALWAYS)


def _says_as_people_do(evidence: Evidence) -> bool:
    """Whether agreement with people can stand for accuracy."""
    credit = evidence[CREDIT_BY_PEOPLE]
    return (
        people_are_reference(evidence[PEOPLE_RATE])
        and credit is not None
        and credit.low >= LEAST_ACCURACY
    )


def ranked(
    overall: Mapping[str, Overall], results: Sequence[CheckResult], people: Collection[str] = ()
) -> list[str]:
    """Raters from the best to the worst: by overall verdict, then by the low end of accuracy, then
    of agreement with people, then by how many checks are ok; people follow all judges.

    Where all of that is equal they stand in the order given.
    """
    verdicts = list(OVERALL_WORDS)
    low = {
        (result.check, result.judge): result.interval.low
        for result in results
        if result.interval is not None and result.interval.has_interval
    }
    ok = Counter(result.judge for result in results if result.grade == "ok")

    def place(name: str) -> tuple[float, ...]:
        return (
            name in people,
            verdicts.index(overall[name].verdict),
            -low.get(("accuracy", name), -math.inf),
            -low.get(("agreement", name), -math.inf),
            -ok[name],
        )

    return sorted(overall, key=place)


def checks_made(results: Sequence[CheckResult]) -> str:
    """How many of one judge's checks could be made, of those that concern it: "9 of 14 checks
    made".
    """
    applicable = [result for result in results if result.applicable]
    made = sum(result.grade != "unknown" for result in applicable)
    return f"{made} of {len(applicable)} checks made"


def benjamini_hochberg(p_values: Sequence[float], *, q: float = 0.05) -> BoolArray:
    """Which findings survive at a false discovery rate of q: those up to the largest k with p₍ₖ₎ ≤
    q·k/m.

    A NaN is no test: it does not count in m and does not survive. Source: Benjamini & Hochberg
    (1995).
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.sort(p[~np.isnan(p)])
    passes = np.flatnonzero(tested <= q * np.arange(1, len(tested) + 1) / max(len(tested), 1))
    with np.errstate(invalid="ignore"):
        survives: BoolArray = p <= (tested[passes[-1]] if len(passes) else -1.0)
    return survives


def expected_warnings(graded: Mapping[str, int], *, level: float = 0.95) -> float:
    """Warnings at most expected of so many graded cells per check if no judge had any fault.

    Σ cells·(1 − level) for signed checks, half of that for the others, which have one side.
    """
    share = 1 - level
    return sum(
        n * share * (1.0 if BY_NAME[check].limits.shape == "signed" else 0.5)
        for check, n in graded.items()
    )


def quoted_level(survivors: int, cells: int, *, level: float = 0.95) -> float:
    """Level of the intervals that a headline quotes of R chosen cells: 1 − (1 − level)·R/cells.

    Source: Benjamini & Yekutieli (2005), false coverage rate.
    """
    return 1 - (1 - level) * survivors / cells


def standing(results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """Warnings that survive Benjamini and Hochberg at 5 % over all graded checks, surest first.

    p-values are those of 95 % intervals whatever the level, so that a level moves no name.
    """
    cells = [r for r in results if r.grade != "unknown" and r.interval is not None]
    survives = benjamini_hochberg([cell.p_value for cell in cells])
    warned = [cell for cell, kept in zip(cells, survives, strict=True) if kept]
    return tuple(sorted((r for r in warned if r.grade == "warn"), key=lambda r: r.p_value))


def worst(results: Sequence[CheckResult], count: int = 3) -> tuple[CheckResult, ...]:
    """The `count` worst findings: fails before warnings, then in the order of `CHECKS`."""
    order = list(BY_NAME)
    bad = [result for result in results if result.grade in ("fail", "warn")]
    return tuple(sorted(bad, key=lambda r: (r.grade != "fail", order.index(r.check)))[:count])


def missing(results: Sequence[CheckResult]) -> tuple[str, ...]:
    """What would let more be checked, one sentence per need, with how many judges lack it."""
    lacking: dict[str, dict[str, set[str]]] = {}
    for result in results:
        if result.grade == "unknown" and result.applicable and result.check != "data":
            checks = lacking.setdefault(need_of(result), {})
            checks.setdefault(result.check, set()).add(result.judge)
    sentences = []
    for need, checks in lacking.items():
        raters = len(set.union(*checks.values()))
        who = f" for {raters} raters" if raters > 1 else ""
        named = enumerated(BY_NAME[check].words for check in checks)
        sentences.append(f"{named[0].upper()}{named[1:]}{who}: add {need}.")
    return tuple(sentences)


def columns(results: Sequence[CheckResult]) -> tuple[tuple[str, ...], str]:
    """The checks that say something of some judge, as columns; and the others as one line, with
    what they need.
    """
    of: dict[str, list[CheckResult]] = {}
    for result in results:
        of.setdefault(result.check, []).append(result)
    shown = tuple(
        name
        for name, them in of.items()
        if any(one.grade in ("ok", "warn", "fail") for one in them)
    )
    lines = []
    for heading, grade in (("Not settled", "unclear"), ("Not checked", "unknown")):
        named = []
        for name, them in of.items():
            if name in shown or any(one.grade == "unclear" for one in them) != (grade == "unclear"):
                continue
            lacking = next((one for one in them if one.applicable), None)
            if lacking is not None:
                need = f" ({need_of(lacking)})" if grade == "unknown" else ""
                named.append(f"{BY_NAME[name].title}{need}")
        if named:
            lines.append(f"{heading}: {' · '.join(named)}.")
    return shown, " ".join(lines)


def need_of(result: CheckResult) -> str:
    """What a check lacks: all that it is made of, or so many more items beside those that it
    has.
    """
    check = BY_NAME[result.check]
    if result.estimate is None:
        return check.needs
    more = result.more_items
    size = f"{more:,} more item{'s' * (more > 1)}" if more else "more items"
    return f"{size} {check.more_of}"


def what_to_do(overall: Overall, of: Mapping[str, CheckResult]) -> list[str]:
    """A sentence for each check that an overall verdict rests on: its advice where it warns or
    fails, else what it lacks.

    of : the results by check.
    """
    graded = [check for check in overall.because if of[check].grade in ("warn", "fail")]
    advice = [BY_NAME[check].advice for check in graded]
    for check in overall.because:
        if of[check].grade == "unknown":
            advice.append(f"Add {need_of(of[check])}.")
        elif (remedy := of[check].remedy) is not None:
            advice.append(remedy)
        elif of[check].grade == "unclear":
            more = "It sits at a limit: look at what errors cost"
            if of[check].more_items:
                more = f"Add about {need_of(of[check])}"
            advice.append(f"{more}, to settle whether {BY_NAME[check].words} is good enough.")
    return advice


def confidence_line(results: Sequence[CheckResult]) -> str:
    """Whether a judge's confidence can be used; never part of the overall verdict."""
    of_check = {r.check: r for r in results if r.check in CONFIDENCE_CHECKS}
    grades = {name: result.grade for name, result in of_check.items()}
    if {"fail", "warn"} & set(grades.values()):
        gap = of_check["overconfidence"].interval
        if gap is not None and gap.high < 0 and grades["discrimination"] == "ok":
            low = number(-100 * gap.value, ".1f")
            return f"Its confidence is too low by {low} points: recalibrate."
        return "Its confidence is not usable as it is."
    usable = grades.get("calibration") == grades.get("discrimination") == "ok"
    return "Its confidence is usable." if usable else "Whether its confidence is usable is unknown."


def because(judge: str, overall: Overall, results: Sequence[CheckResult]) -> str:
    """The overall verdict of one judge as a sentence, with what decided it and what was not
    checked.
    """
    applicable = [result for result in results if result.applicable]
    made = sum(result.grade != "unknown" for result in applicable)
    if overall.verdict == "trust":
        sentence = f"{judge} passes the {made} checks that could be made"
        sentence += f"; {len(applicable) - made} could not." if len(applicable) > made else "."
    else:
        grades = {result.check: result.grade for result in results}
        decided_by = ", ".join(
            f"{BY_NAME[check].words} {GRADE_WORDS[grades.get(check, 'unknown')]}"
            for check in overall.because
        )
        sentence = f"{judge}: {overall.word[0].lower()}{overall.word[1:]} ({checks_made(results)})"
        sentence += f": {decided_by}." if decided_by else "."
    if overall.unchecked:
        named = ", ".join(BY_NAME[check].words for check in overall.unchecked)
        sentence += f" Not checked: {named}."
    return sentence


def best_sentence(results: Sequence[CheckResult], overall: Mapping[str, Overall]) -> str:
    """Can they be trusted? One judge with its reasons; of several, how many are graded how.

    Of several, judges are named for what is good, for a failure, and for warnings that survive the
    number of checks that were made (`standing`); other warnings are counted beside the number that
    judges without any fault would get.
    """
    if len(overall) == 1:
        ((judge, verdict),) = overall.items()
        own = [result for result in results if result.judge == judge]
        return " ".join([because(judge, verdict, own), *(r.sentence for r in worst(own, 1))])
    parts = []
    for kind, words in OVERALL_WORDS.items():
        names = [judge for judge, verdict in overall.items() if verdict.verdict == kind]
        if names:
            parts.append(f"{_named(names, kind in ('trust', 'do_not_trust'))} {words}")
    return " ".join([f"{len(overall)} raters: {'; '.join(parts)}.", *_warnings(results)])


def _named(names: Sequence[str], by_name: bool) -> str:
    if len(names) > NAMED or not by_name:
        return str(len(names))
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _warnings(results: Sequence[CheckResult]) -> list[str]:
    """How many warnings there are beside what is expected of judges without a fault, and which
    stand.
    """
    warned = [result for result in results if result.grade == "warn"]
    if not warned:
        return []
    graded = [result for result in results if result.grade != "unknown"]
    cells = Counter(result.check for result in graded)
    # Where one of several estimates is chosen its own level is higher, by Bonferroni.
    level = min((result.estimate.level for result in graded if result.estimate), default=0.95)
    expected = math.ceil(expected_warnings(cells, level=level))
    sentences = [
        f"{count(len(warned), 'warning')} in {count(cells.total(), 'check')}; up to {expected} "
        "expected if no judge had any fault."
    ]
    if stands := standing(results):
        shown = [f"{r.judge} ({BY_NAME[r.check].title})" for r in stands[:NAMED]]
        more = f" and {len(stands) - NAMED} more" if len(stands) > NAMED else ""
        sentences.append(
            f"These stand, of which chance gives one in twenty at most: {', '.join(shown)}{more}."
        )
    return sentences
