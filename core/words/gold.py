"""What a few gold labels buy, in plain words: a debiased rate, and a threshold that holds."""

from __future__ import annotations

from core.confidence.guarantee import Guarantee, Sureness
from core.leaderboard.debiased import DebiasedRate, RoganGladen
from core.words.verdicts import percent

SURE_OF = {
    "share": "{at} of its votes agree",
    "stated": "the votes for it state a confidence of {at} or more on average",
    "btd": "BTD gives its label a probability of {at} or more",
}
"""When a label is kept, by what makes it sure."""
SURENESS_NAMES: dict[Sureness, str] = {
    "share": "share of its votes",
    "stated": "stated confidence",
    "btd": "BTD's probability",
}
"""What makes a label sure, as axis titles and options name it."""


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
    longer = max(found.high - found.low, found.labels_high - found.labels_low)
    shorter = min(found.high - found.low, found.labels_high - found.labels_low)
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
    if found.value is None or found.sensitivity is None or found.specificity is None:
        return f"Rogan–Gladen: not applicable, {found.reason}."
    hits = (
        f"from a sensitivity of {percent(found.sensitivity)} (n {found.n_a:,}) and a specificity of "
        f"{percent(found.specificity)} (n {found.n_b:,})"
    )
    if found.low is None or found.high is None:
        return f"Rogan–Gladen: {percent(found.value)} {hits}; {found.reason}."
    return f"Rogan–Gladen: {percent(found.value)} ({percent(found.low)} to {percent(found.high)}), {hits}."


def guaranteed(judge: str, found: Guarantee) -> str:
    """From when on its labels can be kept, how many that are, and what is certified about them."""
    sure, target = percent(1 - found.delta), percent(found.alpha, 1).replace(".0 %", " %")
    every = found.everything
    everything = (
        f"{percent(every.value, 1)} of all its labels are wrong ({percent(every.low, 1)} to "
        f"{percent(every.high, 1)}, n {every.n:,} with gold)"
    )
    kept, wrong = found.kept, found.wrong
    if found.threshold is None or kept is None or wrong is None:
        return (
            f"{judge}: no threshold keeps wrong labels at or below {target} with {sure} certainty "
            f"({found.note}). Keeping every one, {everything}."
        )
    # One comparison of each item was tested, so an item with many of them weighs no more than another.
    once = ", counting each item once" if found.n_labelled > found.n_items else ""
    promise = (
        f"with {sure} certainty at most {target} of the labels kept are wrong{once} (seen: "
        f"{percent(wrong.value, 1)}, n {wrong.n:,} with gold)"
    )
    if wrong.value > found.alpha:
        promise += f"; counting each label, more than {target} are, as items with many comparisons fare worse"
    if kept.value == 1:
        return f"{judge}: keep every label; {promise}."
    at = f"{found.threshold:.3g}"
    if found.sureness == "share":
        share = percent(found.threshold, 1).replace(".0 %", " %")
        at = "all" if found.threshold == 1 else f"at least {share}"
    return (
        f"{judge}: keep a label where {SURE_OF[found.sureness].format(at=at)}. That settles "
        f"{percent(kept.value)} of its {found.n:,} comparisons ({percent(kept.low)} to "
        f"{percent(kept.high)}); {promise}. The other {percent(1 - kept.value)} need more votes, another "
        f"judge or a person. Without a threshold {everything}."
    )
