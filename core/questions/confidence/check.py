"""Is its confidence worth anything: off by how much, on which side, and does it separate?"""

from __future__ import annotations

import math
from dataclasses import replace

from ...finding.check import Check, CheckResult, Grade, Limits, Unknown, differs, points_span
from ...finding.evidence import Evidence
from ...finding.wording import count, number
from ...schema import LEVEL_KIND
from ...stats.estimate import Estimate
from ..agreement.results import OWN_GOLD
from .calibration_error import by_chance
from .results import CONSTANT, ECE, FLOOR, GAP
from .results import DISCRIMINATION as AUROC

CONFIDENCE_ITEMS = 30
LEAST_OF_EACH = 10
"""Fewer right, or fewer wrong, verdicts than this: whether confidence separates is not known."""
NO_CONFIDENCE = Unknown("it has no vote with both a confidence and a gold label")
NO_SCORE_CONFIDENCE = Unknown("it states no confidence beside labels", applicable=False)
NO_REPEATS = Unknown("it has no comparison with gold that it judged more than once")
NEEDS = "a confidence with each vote, and gold labels"
MORE = "with a confidence and gold labels"
ADVICE = "Do not use its stated confidence as it is: recalibrate it, or leave it out."


def _unsigned(share: float) -> str:
    return number(100 * share, ".1f")


LEVELS = Unknown(
    "its confidences are levels, and a level is no probability until it is recalibrated on "
    "held-out labels"
)


def _are_levels(evidence: Evidence) -> bool:
    return evidence.stated is not None and evidence.stated.kind == LEVEL_KIND


def _unknown(evidence: Evidence) -> Unknown:
    if evidence.metric is not None:
        return NO_SCORE_CONFIDENCE
    return NO_REPEATS if evidence.options.confidence_by == "share" else NO_CONFIDENCE


def _ece(evidence: Evidence) -> Estimate | Unknown:
    if _are_levels(evidence):
        return LEVELS
    return evidence[ECE] or _unknown(evidence)


def _floor(evidence: Evidence) -> float:
    floor = evidence[FLOOR]
    return by_chance(floor) if floor else math.nan


def _ece_sentence(evidence: Evidence, ece: Estimate) -> str:
    floor = _floor(evidence)
    chance = (
        f"noise alone shows up to {_unsigned(floor)}"
        if ece.value > floor
        else f"no more than chance would show ({_unsigned(floor)})"
    )
    ends = f"{_unsigned(ece.low)} to {_unsigned(ece.high)}, " if ece.has_interval else ""
    return (
        f"Confidence is off by {_unsigned(ece.value)} points on average "
        f"(ECE; {ends}{count(ece.n, 'item')}), {chance}"
    )


CALIBRATION = Check(
    name="calibration",
    title="confidence",
    gravity=150,
    fault="states confidence that is off",
    subject="Calibration",
    question="Is stated confidence the share right?",
    page="calibration",
    limits=Limits(
        "above_noise",
        0.10,
        0.15,
        "At a stated 90 %, .10 doubles the errors.",
        items=CONFIDENCE_ITEMS,
        unit="points",
    ),
    needs=NEEDS,
    more_of=MORE,
    advice=ADVICE,
    estimate=_ece,
    sentence=_ece_sentence,
    noise=_floor,
    against_gold=OWN_GOLD,
)


def _gap(evidence: Evidence) -> Estimate | Unknown:
    if _are_levels(evidence):
        return LEVELS
    gap = evidence[GAP]
    return gap.gap if gap else _unknown(evidence)


def _gap_sentence(evidence: Evidence, gap: Estimate) -> str:
    side = differs(gap.value, "above", "below")
    by_share = evidence.options.confidence_by == "share"
    confidence = "The share of its votes behind the majority" if by_share else "Stated confidence"
    return f"{confidence} is {side} the share right ({points_span(gap)})"


def _shifted(_: Evidence, gap: Estimate, grade: Grade) -> str:
    """What to do about a confidence that is merely shifted downwards."""
    if grade not in ("warn", "fail") or gap.value >= 0:
        return ""
    return f"It is too low by {_unsigned(-gap.value)} points: recalibrate."


OVERCONFIDENCE = Check(
    name="overconfidence",
    title="over-sure",
    gravity=140,
    fault=("claims more certainty than it earns", "claims less certainty than it earns"),
    subject="Overconfidence",
    question="Does it state more confidence than it is right?",
    page="calibration",
    limits=Limits(
        "signed",
        0.10,
        0.20,
        "At a stated 90 %, .10 doubles the errors; stating too little misleads nobody into trust.",
        failing_side="above",
        items=CONFIDENCE_ITEMS,
        unit="points",
    ),
    needs=NEEDS,
    more_of=MORE,
    advice=ADVICE,
    estimate=_gap,
    sentence=_gap_sentence,
    then=_shifted,
    against_gold=OWN_GOLD,
)


def _auroc(evidence: Evidence) -> Estimate | Unknown:
    stated, auroc = evidence.stated, evidence[AUROC]
    if stated is None or auroc is None:
        return _unknown(evidence) if evidence.metric is not None else NO_CONFIDENCE
    right, wrong = stated.right_and_wrong()
    if min(right, wrong) < LEAST_OF_EACH:
        which, n = ("right", right) if right < wrong else ("wrong", wrong)
        have = "verdict" if n == 1 else "verdicts"
        return Unknown(f"it has {n or 'no'} {which} {have} with a confidence")
    return auroc


def _auroc_sentence(_: Evidence, auroc: Estimate) -> str:
    ends = f" ({auroc.low:.2f} to {auroc.high:.2f}" if auroc.has_interval else " ("
    figures = f"AUROC {auroc.value:.2f}{ends}; 0.5 is chance, {count(auroc.n, 'item')})"
    if not auroc.has_interval:
        return f"Confidence ranks right above wrong verdicts with {figures.replace('(; ', '(')}"
    if auroc.low > 0.5:
        return f"Confidence ranks right above wrong verdicts better than chance: {figures}"
    worse = "worse" if auroc.high < 0.5 else "no better"
    return f"Confidence ranks right above wrong verdicts {worse} than chance: {figures}"


def _discrimination(check: Check, evidence: Evidence) -> CheckResult:
    """One confidence for every verdict separates nothing, whatever its AUROC."""
    measured = evidence[AUROC]
    if evidence[CONSTANT] and measured is not None:
        items = measured.n
        few = items < check.limits_of(evidence).items
        return replace(
            check.unknown(evidence, NO_CONFIDENCE),
            grade="unknown" if few else "warn",
            sentence="It states one confidence for every verdict, which separates nothing.",
            estimate=Estimate(0.5, n=items, level=evidence.level),
        )
    auroc = check.estimate(evidence)
    if isinstance(auroc, Unknown):
        return check.unknown(evidence, auroc)
    return check.graded(evidence, auroc)


DISCRIMINATION = Check(
    name="discrimination",
    title="doubt",
    gravity=160,
    fault="is hardly surer where right",
    subject="Discrimination",
    question="Is it surer where it is right?",
    page="calibration",
    limits=Limits(
        "at_least",
        0.60,
        0.50,
        "Stated confidence is often near .6; below .5 it is inverse.",
        items=CONFIDENCE_ITEMS,
        unit="number",
    ),
    needs=NEEDS,
    more_of=MORE,
    advice=ADVICE,
    estimate=_auroc,
    sentence=_auroc_sentence,
    compose=_discrimination,
    against_gold=OWN_GOLD,
)


CHECKS: tuple[Check, ...] = (CALIBRATION, OVERCONFIDENCE, DISCRIMINATION)


def _of_scores(check: Check, figure: str, short: dict[str, str]) -> Check:
    """The same check of a judge of single answers; `short` is what a headline says by grade."""
    return replace(
        check,
        name=f"score_{check.name}",
        kind="scores",
        against_gold=None,
        page="scores",
        needs="a confidence with each score, and labels",
        more_of="with a confidence and labels",
        figure=figure,
        short=lambda _, __, grade: short.get(grade, short["ok"]),
    )


SCORE_CHECKS: tuple[Check, ...] = (
    _of_scores(
        CALIBRATION,
        "ECE",
        {"ok": "states the confidence that it earns"}
        | dict.fromkeys(("warn", "fail"), "states confidence that is off"),
    ),
    _of_scores(
        OVERCONFIDENCE,
        "confidence beyond the share right",
        {"ok": "claims no more certainty than it earns"}
        | dict.fromkeys(("warn", "fail"), "claims another certainty than it earns"),
    ),
    _of_scores(
        DISCRIMINATION,
        "AUROC of its confidence",
        {"ok": "is surer where it is right"}
        | dict.fromkeys(("warn", "fail"), "is hardly surer where it is right"),
    ),
)
"""The same of judges of single answers."""
