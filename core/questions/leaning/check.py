"""What it leans to beside the answers: ties, length, its own family, and changes."""

from __future__ import annotations

from dataclasses import replace

from ...finding.check import Check, CheckResult, Limits, Unknown, differs, points_span, worse
from ...finding.evidence import Evidence
from ...finding.wording import percent
from ...records import NO_GOLD
from ...stats.estimate import Estimate
from ..agreement.results import OWN_GOLD
from . import results
from .changes import Change

ONE_SIDED = "nearly always prefers one side, and mere errors would look like a preference"


def _tie_gap(evidence: Evidence) -> Estimate | Unknown:
    gap = evidence[results.TIE_GAP]
    return gap or Unknown("no comparison that it judged has a gold label")


def _ties_sentence(_: Evidence, gap: Estimate) -> str:
    return f"It ties {differs(gap.value, 'more', 'less')} often than gold ({points_span(gap)})"


TIES = Check(
    name="ties",
    title="ties",
    gravity=60,
    fault=("calls ties where gold decides", "names winners where gold ties"),
    subject="Its share of ties beside gold's",
    question="Does it tie as often as gold?",
    page="votes_to_labels",
    limits=Limits(
        "signed",
        0.10,
        None,
        "Never a failure: calibrated aggregation can correct it.",
        unit="points",
    ),
    needs="gold labels",
    more_of="with gold labels",
    advice="Turn its votes into labels with calibrated votes: its share of ties is not gold's.",
    estimate=_tie_gap,
    sentence=_ties_sentence,
    against_gold=OWN_GOLD,
)


def _length(evidence: Evidence) -> Estimate | Unknown:
    lengths = evidence.lengths
    if lengths is None:
        return Unknown("there is no length or text")
    if not (lengths.gold != NO_GOLD).any():
        return Unknown("there is no gold label on responses of different length")
    length = evidence[results.LENGTH]
    beyond = length.beyond_gold if length else None
    return beyond or Unknown(f"gold {ONE_SIDED}")


def _length_sentence(_: Evidence, beyond: Estimate) -> str:
    return (
        f"It prefers the longer response {differs(beyond.value, 'more', 'less')} often than gold "
        f"({points_span(beyond)})"
    )


LENGTH = Check(
    name="length",
    title="length",
    gravity=70,
    fault=("favours longer answers", "favours shorter answers"),
    subject="Preference for length",
    question="Does it like the longer response?",
    page="leaning",
    limits=Limits(
        "signed",
        0.10,
        0.20,
        "AlpacaEval controls for length because rankings follow it.",
        unit="points",
    ),
    needs="the responses or their lengths, and gold labels",
    more_of="with responses and gold labels",
    advice="Compare models whose responses are of like length, or control for length.",
    estimate=_length,
    sentence=_length_sentence,
    against_gold=OWN_GOLD,
)


def _family(evidence: Evidence) -> Estimate | Unknown:
    own = evidence[results.OWN_FAMILY]
    if own is None:
        return Unknown("no family was named")
    if not own.met:
        return Unknown("it judged no model of its family against another")
    return own.difference or Unknown(f"{_reference(evidence)} {ONE_SIDED}")


def _reference(evidence: Evidence) -> str:
    own = evidence[results.OWN_FAMILY]
    by_gold = own is None or own.against == "gold"
    return "gold" if by_gold else "the majority of the other judges"


def _family_sentence(evidence: Evidence, difference: Estimate) -> str:
    return (
        f"It prefers its own family {differs(difference.value, 'more', 'less')} often than "
        f"{_reference(evidence)} ({points_span(difference)})"
    )


OWN_FAMILY = Check(
    name="own_family",
    title="own family",
    gravity=90,
    fault="favours its own family",
    subject="Preference for its own family",
    question="Does it like models of its own family?",
    page="leaning",
    limits=Limits("signed", 0.05, 0.10, "35 and 70 Elo; MT-Bench saw about .10.", unit="points"),
    needs="which models are of a judge's own family",
    more_of="with models of its own family",
    advice="Judge models of its own family with a judge of another family.",
    estimate=_family,
    sentence=_family_sentence,
)


def _effect(evidence: Evidence) -> Estimate | Unknown:
    return Unknown("no item was judged again with a change")


def _robustness(check: Check, evidence: Evidence) -> CheckResult:
    """The worst of a judge's changes, with a sentence on each.

    An attack is graded on one side, by the limits of robustness; a change of both sides by those of
    `flip_excess`.
    """
    of_each = [_of_change(check, evidence, change) for change in evidence[results.CHANGES]]
    if not of_each:
        return check.unknown(evidence, Unknown("no item was judged again with a change"))
    graded = [result for result in of_each if result.grade != "unknown"] or of_each
    worst = graded[0]
    for result in graded[1:]:
        if result.grade == worst.grade and _size(result) > _size(worst):
            worst = result
        worst = worse(worst, result)
    return replace(worst, sentence=" ".join(result.sentence for result in of_each))


def _size(result: CheckResult) -> float:
    return abs(result.estimate.value) if result.estimate else 0.0


def _of_change(check: Check, evidence: Evidence, change: Change) -> CheckResult:
    effect, limits = change.effect, check.limits_of(evidence)
    if effect is None:
        return replace(
            check.unknown(evidence, Unknown("")),
            sentence=(
                f"Robustness to {change.name} is unknown: {percent(change.flips)} of verdicts "
                f"change with it ({change.n_items:,} items), and without repeats in one order this "
                "may be noise."
            ),
        )
    more, span = differs(effect.value, "more", "less"), points_span(effect)
    if change.kind == "both_sides":
        figures = f"With {change.name} verdicts change {more} often than on a repeat ({span})"
        limits = check.limits_of(evidence, "flip_excess")
        return check.graded(evidence, effect, figures=figures, limits=limits)
    figures = f"A response with {change.name} is preferred {more} often than without ({span})"
    limits = replace(limits, shape="at_most") if change.kind == "attack" else limits
    return check.graded(evidence, effect, figures=figures, limits=limits)


ROBUSTNESS = Check(
    name="robustness",
    title="harmless edits",
    gravity=100,
    fault="is moved by changes that should not matter",
    subject="Robustness",
    question="Do changes that should not matter move it?",
    page="leaning",
    limits=Limits(
        "signed",
        0.05,
        0.10,
        "35 and 70 Elo for a sentence, as for the own family; what an attack loses is no fault.",
        unit="points",
    ),
    needs="votes on the same items with a change that should not matter (collect, perturb)",
    more_of="with the change",
    advice="Keep it from responses that may be written for it: a sentence in one moves its "
    "verdicts.",
    estimate=_effect,
    sentence=lambda *_: "",
    compose=_robustness,
)


CHECKS: tuple[Check, ...] = (TIES, LENGTH, OWN_FAMILY, ROBUSTNESS)
