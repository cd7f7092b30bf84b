"""Sentences of a leaderboard from few gold labels: the debiased rate, and the two-class correction."""

from __future__ import annotations

from ..leaderboard.debiased import DebiasedRate, RoganGladen
from .format import percent


def debiased(candidate: str, anchor: str, judge: str | None, found: DebiasedRate) -> str:
    """The score that gold would give, what the judge says alone, and whether its votes help.

    judge : None for all of them pooled.
    """
    low, high = percent(found.low), percent(found.high)
    shift = 100 * found.bias
    pronoun, says = ("it scores", f"{judge} says") if judge else ("they score", "The judges pooled say")
    wrong = (
        f"{pronoun} {candidate} {abs(shift):.1f} points {'too high' if shift > 0 else 'too low'} on average"
        if abs(shift) >= 0.05
        else f"{pronoun} {candidate} as gold does on average"
    )
    longer = max(found.high - found.low, found.labels.high - found.labels.low)
    shorter = min(found.high - found.low, found.labels.high - found.labels.low)
    share = round(100 * (1 - shorter / longer))
    if not found.n_unlabelled:
        helps = "Every comparison has gold, so the labels alone are the answer."
    elif found.low == found.high:
        helps = (
            "The judge is so far off where gold is known that its votes elsewhere lead beyond what a score "
            "can be: the labels are hardly a random part of all."
        )
    elif found.items_unlabelled < 2:
        helps = "Only one item has no gold, so the labels alone are the answer."
    elif found.weight == 0:
        helps = "The judge's votes are not worth following, and are not used."
    elif share == 0:
        helps = "The judge's votes change nothing: its interval is as long as by the labels alone."
    elif found.gain < 1:
        helps = f"The judge's votes help: the interval is {share} % shorter than by the labels alone."
    else:
        helps = f"The judge's votes do not help: the labels alone give an interval {share} % shorter"
        helps += "; a tuned weight follows the judge less." if found.weighting == "full" else "."
    return (
        f"{candidate} wins {percent(found.value)} against {anchor} ({low} to {high}), a tie being half a "
        f"win, as gold would judge all {found.n_labelled + found.n_unlabelled:,} comparisons. {says} "
        f"{percent(found.judge)}; on the {found.n_labelled:,} with gold {wrong}. {helps}"
    )


def corrected(found: RoganGladen) -> str:
    """The two-class correction beside it, or why there is none."""
    rate = found.rate
    if rate is None or found.sensitivity is None or found.specificity is None:
        return f"Rogan–Gladen: not applicable, {found.reason}."
    hits = (
        f"from a sensitivity of {percent(found.sensitivity)} (n {found.n_a:,}) and a specificity of "
        f"{percent(found.specificity)} (n {found.n_b:,})"
    )
    if not rate.has_interval:
        return f"Rogan–Gladen: {percent(rate.value)} {hits}; {found.reason}."
    return f"Rogan–Gladen: {percent(rate.value)} ({percent(rate.low)} to {percent(rate.high)}), {hits}."
