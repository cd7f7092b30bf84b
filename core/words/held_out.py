"""Whether the order, the confidence or a Likert scale is worth modelling, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Literal

import numpy as np

from core.aggregation.confidence_weighted import ConfidenceWeighted
from core.aggregation.held_out import HeldOutScores
from core.aggregation.ordinal import Ordinal
from core.aggregation.position_aware import PositionAware
from core.bias.position import PositionBias
from core.words.signed import minus, signed, signed_span
from core.words.verdicts import POSITION_SIGNIFICANCE, percent

SIMULATED_CONFIDENCE = (
    "These votes are simulated: each states a confidence made from the very chance that it equals gold. So "
    "weighing gains here what no real judge can be expected to give; it is no reason to weigh real votes."
)
"""Stands beside results of weighing on simulated data (`core.simulate`)."""
Measure = Literal["mae", "drps"]
Effect = Literal["lowers", "raises", "does not change"]

MEASURES: dict[Measure, str] = {"mae": "error", "drps": "forecast error (DRPS)"}


def effect(scores: HeldOutScores, measure: Measure, other: int) -> Effect:
    """What the first rule does to a loss beside another: by whether the interval of the change excludes 0."""
    low = getattr(scores, f"{measure}_change_low")[other]
    high = getattr(scores, f"{measure}_change_high")[other]
    return "lowers" if high < 0 else "raises" if low > 0 else "does not change"


def position_aware(judge: str, found: PositionAware, within: PositionBias | None = None) -> str:
    """Which slot the judge leans to in the fit, and what correcting for the order does on held-out items.

    within : the judge's bias in pairs of both orders. It rests on other votes than δ, which only unbalanced
    comparisons can tell, so a lean that it shows is said where δ shows none.
    """
    fit, scores = found.fit, found.scores
    if not fit.unbalanced:
        return (
            f"{judge}: every one of its {fit.n_items:,} labelled comparisons has as many votes in one order "
            "as in the other, so there is nothing to correct: the fit is plain BTD."
        )
    slot = "first" if found.delta < 0 else "second"
    span = f"δ {minus(f'{found.delta:.2f} ({found.delta_low:.2f} to {found.delta_high:.2f})')}"
    lean = f"it leans to the response shown {slot}"
    if found.delta_low <= 0 <= found.delta_high:
        lean = "no lean to either slot is shown"
        if (
            within is not None
            and within.direction is not None
            and within.p_value is not None
            and within.p_value < POSITION_SIGNIFICANCE
        ):
            lean = (
                "they are too few to show the lean: within pairs of both orders it favours the response "
                f"shown {within.direction} ({within.towards_first:,} comparisons towards the first, "
                f"{within.towards_second:,} towards the second), but δ rests on the unbalanced ones alone"
            )
    return (
        f"{judge}: orders are unbalanced on {fit.unbalanced:,} of its {fit.n_items:,} labelled comparisons, "
        f"and {lean} ({span}). {_changed('Correcting for the order', scores, 'plain BTD')}"
    )


def confidence_weighted(judge: str, found: ConfidenceWeighted) -> str:
    """What weighing votes by calibrated confidence does on held-out items."""
    if not found.weighing.slope:
        z = minus(f"{found.weighing.z:.2f}")
        return (
            f"{judge}: its confidence does not show which votes are right (z {z}, 1.645 needed), so "
            "all votes weigh alike on all labels. "
            + _changed("Weighing where a calibration set suggests it", found.scores, "equal weights")
        )
    return f"{judge}: " + _changed("weighing votes by calibrated confidence", found.scores, "equal weights")


def across_judges(found: Mapping[str, ConfidenceWeighted]) -> str:
    """For which judges weighing helps, with how often their repeated votes all agree: low temperatures."""
    better = [name for name, one in found.items() if effect(one.scores, "drps", 1) == "lowers"]
    of = f"the held-out forecast error (DRPS) of {len(better)} of {len(found)} judges"
    if not better:
        return f"Weighing lowers {of}."
    named = ", ".join(
        f"{name} ({'no repeats' if isnan(found[name].unanimous) else percent(found[name].unanimous)})"
        for name in sorted(better, key=lambda name: -np.nan_to_num(found[name].unanimous, nan=-1.0))
    )
    return f"Weighing lowers {of}, in brackets how often their repeated votes all agree: {named}."


def ordinal(judge: str, gold: str, found: Ordinal) -> str:
    """What the fit gains over the best plain rule, and which way the two scales differ."""
    scores = found.scores
    best = min(range(1, len(scores.names)), key=lambda i: float(scores.mae[i]))
    does = effect(scores, "mae", best)
    size = (
        f"average error {scores.mae[0]:.3f} levels against {scores.mae[best]:.3f} "
        f"(difference {signed(scores.mae_change[best], 3)}, "
        f"{signed_span(scores.mae_change_low[best], scores.mae_change_high[best], 3)}, n {scores.n:,} "
        "held-out answers)"
    )
    rule = scores.names[best][0].lower() + scores.names[best][1:]
    outcome = {
        "lowers": f"calibrated levels come nearer to {gold} than the best plain rule ({rule})",
        "raises": f"the best plain rule ({rule}) comes nearer to {gold} than calibrated levels",
        "does not change": f"calibrated levels are not told apart from the best plain rule ({rule})",
    }[does]
    return f"{judge}: {outcome}: {size}."


def _changed(what: str, scores: HeldOutScores, beside: str) -> str:
    """Both losses of the first rule beside the second, each with its interval."""
    error, forecast = (_change(scores, measure) for measure in MEASURES)
    return (
        f"{what} {error} and {forecast} beside {beside} on held-out items (n {scores.n:,} comparisons, "
        f"{scores.calibration:,.0f} to calibrate on). {_advice(scores)}"
    )


def _advice(scores: HeldOutScores) -> str:
    labels, chances = effect(scores, "mae", 1), effect(scores, "drps", 1)
    if labels == "lowers":
        return "Use it."
    if labels == "does not change" and chances == "lowers":
        return "Labels stay as good and probabilities get better: use it where probabilities matter."
    return "Leave it out."


def _change(scores: HeldOutScores, measure: Measure) -> str:
    change, low, high = (getattr(scores, f"{measure}_change{end}")[1] for end in ("", "_low", "_high"))
    if low == high == 0:
        return f"leaves the {MEASURES[measure]} as it is"
    does = effect(scores, measure, 1)
    verb = "is not shown to change" if does == "does not change" else does
    return f"{verb} the {MEASURES[measure]} ({signed(change, 4)}, {signed_span(low, high, 4)})"
