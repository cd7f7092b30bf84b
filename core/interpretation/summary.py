"""What the checks of a judge add up to, in words: the overall verdict, the worst findings, what is
missing.

Of several judges: who is named, and beside how many warnings chance alone would give.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..stats.estimate import Estimate
from .format import percent
from .rules import (
    CONFIDENCE_CHECKS,
    LIMITS,
    Grade,
    Limits,
    Overall,
    OverallVerdict,
    benjamini_hochberg,
    expected_warnings,
    overall,
    p_value,
)
from .verdicts import CATEGORY_ITEMS, CHECKS, NOT_GRADED, Verdict, share_span

NAMED = 3
"""Judges that an answer names one by one; more are counted."""

OVERALL_WORDS: dict[OverallVerdict, str] = {
    "trust": "can be trusted on what was checked",
    "trust_with_limits": "can be trusted with limits",
    "cannot_say": "cannot be judged on these votes",
    "do_not_trust": "should not be trusted",
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

NEEDS = {
    "accuracy": "gold labels",
    "position": "votes in both orders (column position)",
    "stability": "votes in both orders (column position)",
    "calibration": "a confidence with each vote, and gold labels",
    "overconfidence": "a confidence with each vote, and gold labels",
    "discrimination": "a confidence with each vote, and gold labels",
    "repeatability": "repeated votes (column run)",
    "agreement": "people's votes on the same comparisons",
    "ties": "gold labels",
    "length": "the responses or their lengths, and gold labels",
    "own_family": "which models are of a judge's own family",
    "robustness": "votes on the same items with a change that should not matter (collect, perturb)",
}
"""What a check needs when there is nothing that it could be made of."""
ITEMS = {
    "accuracy": "with gold labels",
    "position": "asked in both orders",
    "stability": "asked in both orders",
    "calibration": "with a confidence and gold labels",
    "overconfidence": "with a confidence and gold labels",
    "discrimination": "with a confidence and gold labels",
    "repeatability": "asked more than once",
    "agreement": "that people judge too",
    "ties": "with gold labels",
    "length": "with responses and gold labels",
    "own_family": "with models of its own family",
    "robustness": "with the change",
}
"""Which items more of would let a check be graded, or decide it."""


def overall_verdict(checks: Sequence[Verdict]) -> Overall:
    """What the checks of one judge add up to; without gold, agreement with people stands for
    accuracy.
    """
    of_check = {verdict.check: verdict for verdict in checks}
    gold = of_check["accuracy"].verdict != "unknown" or of_check["agreement"].verdict == "unknown"
    return overall(
        {check: verdict.verdict for check, verdict in of_check.items()},
        accuracy_low=of_check["accuracy"].low,
        gold=gold,
        not_graded={verdict.check for verdict in checks if verdict.sentence.startswith(NOT_GRADED)},
    )


def worst(verdicts: Sequence[Verdict], count: int = 3) -> tuple[Verdict, ...]:
    """The `count` worst findings: fails before warnings, then in the order of `verdicts.CHECKS`."""
    found = [verdict for verdict in verdicts if verdict.verdict in ("fail", "warn")]
    return tuple(sorted(found, key=lambda v: (v.verdict != "fail", CHECKS.index(v.check)))[:count])


def missing(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """What would let more be checked, one sentence per need, with how many judges lack it."""
    lacking: dict[str, dict[str, set[str]]] = {}
    for verdict in verdicts:
        hopeless = verdict.sentence.startswith(NOT_GRADED)
        if verdict.verdict == "unknown" and verdict.check in NEEDS and not hopeless:
            lacking.setdefault(need_of(verdict), {}).setdefault(verdict.check, set()).add(
                verdict.judge
            )
    sentences = []
    for need, checks in lacking.items():
        raters = len(set.union(*checks.values()))
        who = f" for {raters} raters" if raters > 1 else ""
        named = " and ".join(check.replace("_", " ") for check in checks).capitalize()
        sentences.append(f"{named}{who}: add {need}.")
    return tuple(sentences)


def need_of(verdict: Verdict) -> str:
    """What a check lacks: all that it is made of, or so many more items beside those that
    it has.
    """
    if verdict.estimate is None:
        return NEEDS[verdict.check]
    more = verdict.more_items
    size = f"{more:,} more item{'s' * (more > 1)}" if more else "more items"
    return f"{size} {ITEMS[verdict.check]}"


def confidence_line(verdicts: Sequence[Verdict]) -> str:
    """Whether a judge's confidence can be used; never part of the overall verdict."""
    grades = {v.check: v.verdict for v in verdicts if v.check in CONFIDENCE_CHECKS}
    given = set(grades.values())
    if given & {"fail", "warn"}:
        return "Its confidence is not usable as it is."
    known = grades.get("calibration") == grades.get("discrimination") == "ok"
    return (
        "Its confidence is usable." if known else "Whether its confidence is usable is not known."
    )


def because(judge: str, overall: Overall, verdicts: Sequence[Verdict]) -> str:
    """The overall verdict of one judge as a sentence, with what decided it and what was not
    checked.
    """
    parts = [f"{judge} {OVERALL_WORDS[overall.verdict]}"]
    if overall.verdict != "trust" and overall.because:
        grades = {v.check: v.verdict for v in verdicts}
        named = (
            f"{check.replace('_', ' ')} {GRADE_WORDS[grades.get(check, 'unknown')]}"
            for check in overall.because
        )
        parts.append(f": {', '.join(named)}")
    sentence = "".join(parts) + "."
    if overall.unchecked:
        sentence += (
            f" Not checked: {', '.join(check.replace('_', ' ') for check in overall.unchecked)}."
        )
    return sentence


GRADE_WORDS: dict[Grade, str] = {
    "ok": "is fine",
    "unclear": "is unclear",
    "unknown": "is unknown",
    "warn": "needs care",
    "fail": "fails",
}


def answer(verdicts: Sequence[Verdict], overall: Mapping[str, Overall]) -> str:
    """Can they be trusted? One judge with its reasons; of several, how many are graded how.

    Of several, judges are named for what is good, for a failure, and for warnings that survive the
    number of checks that were made (`standing`); other warnings are counted beside the number that
    judges without any fault would get.
    """
    if len(overall) == 1:
        ((judge, found),) = overall.items()
        own = [v for v in verdicts if v.judge == judge]
        return " ".join([because(judge, found, own), *(v.sentence for v in worst(own, 1))])
    parts = []
    for kind, words in OVERALL_WORDS.items():
        names = [judge for judge, found in overall.items() if found.verdict == kind]
        if names:
            parts.append(f"{_named(names, kind in ('trust', 'do_not_trust'))} {words}")
    return " ".join([f"{len(overall)} raters: {'; '.join(parts)}.", *_warnings(verdicts)])


def _named(names: Sequence[str], by_name: bool) -> str:
    if len(names) > NAMED or not by_name:
        return str(len(names))
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _warnings(verdicts: Sequence[Verdict]) -> list[str]:
    """How many warnings there are beside what is expected of judges without a fault, and which
    stand.
    """
    warned = [v for v in verdicts if v.verdict == "warn"]
    if not warned:
        return []
    cells = Counter(v.check for v in verdicts if v.verdict in ("ok", "warn", "fail", "unclear"))
    expected = math.ceil(expected_warnings(cells))
    said = [
        f"{len(warned)} warnings in {cells.total()} checks; up to {expected} expected if no judge "
        "had any fault."
    ]
    if stands := standing(verdicts):
        shown = [f"{v.judge} ({v.check.replace('_', ' ')})" for v in stands[:NAMED]]
        more = f" and {len(stands) - NAMED} more" if len(stands) > NAMED else ""
        said.append(f"At a false discovery rate of 5 %, these stand: {', '.join(shown)}{more}.")
    return said


def standing(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Warnings that survive Benjamini and Hochberg at 5 % over all graded checks, surest first."""
    cells = [
        (v, found) for v in verdicts if v.verdict != "unknown" and (found := v.interval) is not None
    ]
    p = [p_value(found, _limits_of(v)) for v, found in cells]
    survives = benjamini_hochberg(p)
    kept = sorted(
        (p[place], place)
        for place, (v, _) in enumerate(cells)
        if v.verdict == "warn" and survives[place]
    )
    return tuple(cells[place][0] for _, place in kept)


def _limits_of(found: Verdict) -> Limits:
    """The limits that it was graded by, which may be other numbers than the default."""
    limits = LIMITS[found.check]
    return limits if found.caution is None else replace(limits, caution=found.caution)


def best_supported(credits: Mapping[str, Estimate], *, people: Collection[str] = ()) -> str | None:
    """The judge whose accuracy is highest by the low end of its interval, among those with enough
    items.

    credits : judge → half credit on decided gold.  people : who is no candidate, however often
        right.
    """
    known = {
        name: one
        for name, one in credits.items()
        if name not in people and one.has_interval and one.n >= CATEGORY_ITEMS
    }
    if not known:
        return None
    best = max(known, key=lambda name: (known[name].low, known[name].value))
    who = (
        f"Best supported of {len(known)} judges: {best}, right" if len(known) > 1 else "It is right"
    )
    return f"{who} on {percent(known[best].value)} of decided gold ({share_span(known[best])})."
