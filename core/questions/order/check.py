"""Does order decide: the gain of a slot, and verdicts that change when responses swap places."""

from __future__ import annotations

from dataclasses import replace

from ...finding.check import (
    Check,
    CheckResult,
    Limits,
    Unknown,
    differs,
    grade,
    points_span,
    share_span,
    worse,
)
from ...finding.evidence import Evidence
from ...finding.wording import count, percent, points
from ...stats.estimate import Estimate
from . import results
from .method import in_other_terms


def _lean(evidence: Evidence) -> Estimate | Unknown:
    position = evidence[results.POSITION]
    if position is None:
        return Unknown("no vote says which response was shown first")
    if in_other_terms(position):
        return Unknown("the votes may say which place won (stability)")
    return position.bias_pairs or Unknown("no comparison was judged in both orders")


LEAST_DECIDED = 30
"""Items of decided gold from which a place may be shown to matter only where gold ties."""


def _gain(gain: Estimate) -> str:
    """Who gains how much by its place."""
    slot = "first" if gain.value >= 0 else "second"
    size = gain if gain.value >= 0 else gain.scaled(-1.0)
    low, high = sorted((size.low, size.high))
    ends = f"{points(low)} to {points(high)}, " if gain.has_interval else ""
    return (
        f"The response shown {slot} gains {points(abs(gain.value)).lstrip('+')} points by being "
        f"{slot} ({ends}{count(gain.n, 'item')})"
    )


def _lower(words: str) -> str:
    return words[0].lower() + words[1:]


def _position(check: Check, evidence: Evidence) -> CheckResult:
    """Of pairs in both orders; of one order alone a warning at most, never the check that plain
    trust needs.
    """
    lean = check.estimate(evidence)
    if not isinstance(lean, Unknown):
        result = check.graded(evidence, lean)
        where_decided = evidence[results.DECIDED_POSITION]
        if result.grade != "fail" or where_decided is None or where_decided.n < LEAST_DECIDED:
            return result
        if grade(where_decided, check.limits_of(evidence)).grade != "ok":
            return result
        said = f"{result.sentence} Where gold decides: {_lower(_gain(where_decided))}."
        slot = "first" if lean.value >= 0 else "second"
        fault = f"favours the answer it sees {slot} where gold ties"
        return replace(result, grade="warn", sentence=said, fault=fault)
    result, gain = check.unknown(evidence, lean), evidence[results.SLOT_GAIN]
    if gain is None:
        return result
    figures = f"{result.sentence} In one order: {_lower(_gain(gain))}"
    limits = check.limits_of(evidence)
    shown = gain.has_interval and (gain.low > limits.caution or gain.high < -limits.caution)
    if shown and not evidence[results.SLOTS_DIFFER]:
        graded = check.graded(evidence, gain)
        return replace(graded, grade="warn", sentence=f"{figures}; shown not to be 0.")
    why = ", or the model shown first is easier to call" if evidence[results.SLOTS_DIFFER] else ""
    return replace(result, sentence=f"{figures}{why}.")


POSITION = Check(
    name="position",
    title="slot",
    gravity=30,
    fault=("favours the answer it sees first", "favours the answer it sees second"),
    not_known="was never asked in both orders",
    not_shown="may favour a place",
    subject="Position bias",
    question="Does the place of a response decide?",
    page="position_bias",
    limits=Limits(
        "signed",
        0.10,
        0.20,
        "One fixed order moves a win rate by half of it: 35 and 70 Elo.",
        unit="points",
    ),
    needs="votes in both orders (column position)",
    more_of="asked in both orders",
    advice="Ask in both orders and take the majority: one order alone favours a place.",
    estimate=_lean,
    sentence=lambda _, gain: _gain(gain),
    compose=_position,
    decisive=True,
)


def _flips(evidence: Evidence) -> Estimate | Unknown:
    position = evidence[results.POSITION]
    flips = position.hard_flip_rate if position else None
    return flips or Unknown("no comparison was judged in both orders")


def _flips_sentence(_: Evidence, flips: Estimate) -> str:
    return (
        f"{percent(flips.value)} of verdicts reverse when the order is swapped "
        f"({share_span(flips)})"
    )


def _stability(check: Check, evidence: Evidence) -> CheckResult:
    """The worse of reversals and of changes with those to a tie counted half; a warning at most.

    Only the excess over repeats can fail: without repeats a change may be noise.
    """
    flips = check.estimate(evidence)
    position = evidence[results.POSITION]
    if isinstance(flips, Unknown) or position is None or position.half_flip_rate is None:
        return check.unknown(evidence, flips if isinstance(flips, Unknown) else Unknown(""))
    hard = check.graded(evidence, flips)
    half = check.graded(
        evidence,
        position.half_flip_rate,
        figures=(
            f"{percent(position.half_flip_rate.value)} change, to or from a tie counting half "
            f"({share_span(position.half_flip_rate)})"
        ),
        limits=check.limits_of(evidence, "half_flips"),
    )
    parts = [hard.sentence]
    if position.flips > position.hard_flips:
        parts.append(half.sentence)
    result = worse(hard, half)
    excess = position.excess
    if in_other_terms(position):
        parts.append(
            "Noise reverses at most half: do the votes say which place won, where they were read "
            "as saying which answer? Try --label-refers slot, or model where they were read as "
            "slots."
        )
        said = " ".join(parts)
        return replace(result, sentence=said, fault="reverses with the order more than noise can")
    if excess is None:
        lean = position.bias_pairs
        caution = POSITION.limits_of(evidence).caution
        by_place = lean is not None and max(lean.low, -lean.high) > caution
        if result.grade != "ok" and position.flips > 0 and not by_place:
            parts.append("Without repeats in one order this may be noise.")
        return replace(result, sentence=" ".join(parts))
    beyond = check.graded(
        evidence,
        excess,
        figures=(
            f"Swapping changes verdicts {differs(excess.value, 'more', 'less')} often than a "
            f"repeat in one order ({points_span(excess)})"
        ),
        limits=check.limits_of(evidence, "flip_excess"),
    )
    parts.append(beyond.sentence)
    if beyond.grade in ("warn", "fail"):
        result = worse(beyond, result)
    elif result.grade == "warn" and excess.has_interval and not excess.excludes(0):
        parts.append(
            "As many change when asked again: the judge is noisy, the order is not to blame."
        )
    return replace(result, sentence=" ".join(parts))


STABILITY = Check(
    name="stability",
    title="swap",
    gravity=40,
    fault="changes verdicts when answers swap places",
    not_known="was never asked in both orders",
    not_shown="may change verdicts when answers swap places",
    subject="Stability",
    question="Does the verdict stay when the responses swap places?",
    page="position_bias",
    limits=Limits(
        "at_most",
        0.20,
        0.40,
        "MT-Bench's GPT-4 changes 35 % of pairs, ties included; without repeats it may be noise.",
        worst="warn",
    ),
    more_limits={
        "half_flips": Limits(
            "at_most",
            0.30,
            0.40,
            "Changes to or from a tie count half: at .20 honest judges with unstable ties warn.",
            worst="warn",
        ),
        "flip_excess": Limits(
            "at_most",
            0.05,
            0.15,
            "Changes beyond those of repeats in one order: only these blame the order.",
            unit="points",
        ),
    },
    needs="votes in both orders (column position)",
    more_of="asked in both orders",
    advice="Ask in both orders and take the majority.",
    estimate=_flips,
    sentence=_flips_sentence,
    compose=_stability,
)


CHECKS: tuple[Check, ...] = (POSITION, STABILITY)
