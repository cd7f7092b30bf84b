"""The first screen in words: one judge as a decision card, all judges in the order of their support.

Nothing is graded here: grades come from `verdicts`, the overall verdict from `summary`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..stats.estimate import Estimate
from .format import number, percent, percent_span
from .rules import LIMITS, Grade, Overall, OverallVerdict
from .summary import NEEDS, confidence_line
from .verdicts import Verdict

SIGNS: dict[Grade, str] = {"ok": "✓", "warn": "!", "fail": "✗", "unclear": "~", "unknown": "?"}
"""A sign of each grade, so that colour is never alone."""
WORDS: dict[OverallVerdict, str] = {
    "trust": "Trust",
    "trust_with_limits": "Trust with limits",
    "do_not_trust": "Do not trust",
    "cannot_say": "Cannot say yet",
}
"""The decision, as the card says it."""

CHECK_WORDS = {
    "accuracy": "right",
    "position": "ignores place",
    "stability": "survives swap",
    "calibration": "calibrated",
    "overconfidence": "not boastful",
    "discrimination": "doubts errors",
    "repeatability": "repeats itself",
    "agreement": "like people",
    "ties": "ties like gold",
    "length": "ignores length",
    "own_family": "ignores family",
    "data": "always answers",
}
"""What passing a check means, for somebody who does not know its name."""

REMEDIES = {
    "accuracy": "use another judge or prompt, or have people decide",
    "position": "ask in both orders and take the majority",
    "stability": "ask in both orders and take the majority",
    "calibration": "recalibrate its confidence before you use it",
    "overconfidence": "recalibrate its confidence before you use it",
    "discrimination": "do not filter by its confidence",
    "repeatability": "ask several times and take the majority",
    "agreement": "have people check a sample",
    "ties": "correct its ties with the calibrated vote (BTD)",
    "length": "compare responses of like length",
    "own_family": "let another judge compare models of its own family",
    "data": "find out why outputs have no verdict",
}
"""What to do about a check that warns or fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The decision on one judge: a word with its grade, why in one sentence, and what to do."""

    judge: str
    verdict: OverallVerdict
    sentence: str
    advice: str


def card(judge: str, found: Overall, checks: Sequence[Verdict], *, flips: Estimate | None = None) -> Card:
    """The decision card of one judge.

    flips : share of its verdicts that reverse when the order is swapped, which `stability` may not hold.
    """
    of_check = {verdict.check: verdict for verdict in checks}
    parts = (_merit(of_check), _order(of_check, flips), _confidence(of_check))
    sentence = "; ".join(parts)
    return Card(
        judge=judge,
        verdict=found.verdict,
        sentence=f"{sentence[0].upper()}{sentence[1:]}.",
        advice=_advice(found, of_check, checks),
    )


def _points(value: float) -> str:
    size = number(100 * abs(value), ".0f")
    return f"{size} point{'s' * (size != '1')}"


def _merit(of: Mapping[str, Verdict]) -> str:
    accuracy, agreement = of["accuracy"], of["agreement"].interval
    found = accuracy.interval
    if found is not None:
        ends = f" ({percent_span(found)})" if found.has_interval else ""
        side = "above" if found.value >= 0.5 else "below"
        beside = f"{_points(found.value - 0.5)} {side} guessing"
        return f"right on {percent(found.value)}{ends} of decided gold, {beside}"
    if agreement is not None:
        more = "more" if agreement.value >= 0 else "less"
        return f"says what people say {_points(agreement.value)} {more} often than a person does"
    return "how often it is right is not known"


def _order(of: Mapping[str, Verdict], flips: Estimate | None) -> str:
    lean = of["position"].interval
    if flips is None or lean is None or math.isnan(flips.value):
        return "not asked in both orders"
    said = f"swapping the order reverses {percent(flips.value)} of its verdicts"
    if of["position"].verdict in ("warn", "fail"):
        where = "first" if lean.value > 0 else "second"
        said += f", which lean {_points(lean.value)} to the response shown {where}"
    return said


def _confidence(of: Mapping[str, Verdict]) -> str:
    gap = of["overconfidence"].interval
    if gap is None:
        return "no confidence to check"
    if abs(gap.value) < 0.005:
        return "its stated confidence is what it earns"
    return f"it states {_points(gap.value)} {'more' if gap.value > 0 else 'less'} confidence than it earns"


def _advice(found: Overall, of: Mapping[str, Verdict], checks: Sequence[Verdict]) -> str:
    if found.verdict == "cannot_say":
        merit = of[found.because[0]]
        if merit.verdict == "unknown":
            steps = [f"add {NEEDS[merit.check]}, or more of what is there"]
        elif merit.needed_items is not None:
            steps = [f"label about {merit.needed_items:,} items: those at hand cannot decide"]
        else:
            steps = ["label more items: those at hand cannot decide"]
    elif found.verdict == "trust":
        steps = ["use it as it is, and check again when its prompt or model changes"]
    else:
        steps = [
            REMEDIES[check]
            if of[check].verdict in ("warn", "fail")
            else f"add {NEEDS.get(check, 'votes')} to settle {CHECK_WORDS[check]}"
            for check in found.because
        ]
    listed = list(dict.fromkeys(steps))[:3]
    text = "; ".join(listed)
    said = f"{text[0].upper()}{text[1:]}."
    usable = confidence_line(checks)
    return f"{said} {usable}" if usable.endswith("as it is.") and "confidence" not in text else said


def by_support(verdicts: Iterable[Verdict], people: Collection[str] = ()) -> tuple[str, ...]:
    """Raters by the low end of their accuracy's interval, the best first, people after the judges.

    Without gold the low end of the agreement with people counts; a rater without either comes last.
    """
    low: dict[str, float] = {}
    for verdict in verdicts:
        low.setdefault(verdict.judge, -math.inf)
        if verdict.check == "accuracy" and verdict.low is not None:
            low[verdict.judge] = verdict.low
        elif verdict.check == "agreement" and verdict.low is not None and low[verdict.judge] == -math.inf:
            # Every agreement is below every accuracy.
            low[verdict.judge] = verdict.low - 2
    return tuple(sorted(low, key=lambda name: (name in people, -low[name])))


def measured(found: Verdict) -> str:
    """The estimate of a check in its own unit, with the interval: `97 % (95 to 99)`, `+6 points (…)`."""
    estimate, unit = found.interval, LIMITS[found.check].unit
    if estimate is None:
        return "not known"
    form, scale = (".2f", 1) if unit == "number" else (".0f" if unit == "share" else "+.0f", 100)
    value, low, high = (number(scale * one, form) for one in (estimate.value, estimate.low, estimate.high))
    name = {"share": " %", "points": " points", "number": ""}[unit]
    return f"{value}{name} ({low} to {high})" if estimate.has_interval else f"{value}{name}"
