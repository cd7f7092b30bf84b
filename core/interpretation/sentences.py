"""Answers of the Calibration, Confusion and Position pages, in plain words, by the cut-offs of `verdicts`.

What a few gold labels buy, in plain words: a debiased rate, and a threshold that holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..agreement.confusion_matrix import Confusion, commonest_error
from ..bias.length import Verbosity
from ..bias.position import OrderBalance, PositionBias
from ..confidence.calibration_error import (
    Calibration,
    CalibrationIntervals,
    ConfidenceGap,
    NoiseFloor,
    by_chance,
)
from ..confidence.recalibration import Recalibration
from ..confidence.selective import Guarantee, RiskCoverage, RiskThreshold, Sureness
from ..confidence.th_scores import ThScore
from ..leaderboard.debiased import DebiasedRate, RoganGladen
from ..stats.estimate import Estimate
from . import verdicts
from .format import signed, signed_span, span
from .verdicts import UNPAIRED, Verdict, accuracy, percent

GRADES = ("ok", "unknown", "warn", "fail")
"""From best to worst."""
SAYS = {1: "A better", 0: "a tie", -1: "B better"}
"""What a label says, in words."""


def confidence(
    judge: str, value: Calibration, floor: NoiseFloor, gap: ConfidenceGap | None, *, of: int = 1
) -> Verdict:
    """What its confidence is worth: over- or underconfident, and how far off; the worse of the two grades.

    of : judges among which its ECE is the largest; more than one is said.
    """
    parts = (verdicts.overconfidence(judge, gap), verdicts.calibration(judge, value, floor))
    worst = max(parts, key=lambda part: GRADES.index(part.verdict))
    sentence = " ".join(part.sentence for part in parts)
    if of > 1:
        sentence += f" Of {of} judges it has the largest ECE."
    return Verdict(judge=judge, check="calibration", verdict=worst.verdict, sentence=sentence)


def near_certain(judge: str, score: ThScore, band: tuple[float, float], *, noun: str = "votes") -> str:
    """How many verdicts are nearly certain, how often those are right, and the TH-Score that this gives.

    band : interval of the score (`th_sweep`).
    """
    where = f"confidence over {1 - score.epsilon:.2f} or under {score.epsilon:.2f}"
    if not score.n:
        return f"{judge}: none of its {noun} is nearly certain ({where}), so TH-Score is 0."
    half = ", halved as published" if score.scale == "published" else ""
    return (
        f"{judge}: {percent(score.share)} of its {noun} are nearly certain ({where}), and "
        f"{percent(score.accuracy)} of those are right ({percent(score.accuracy_low)} to "
        f"{percent(score.accuracy_high)}, n {score.n:,}). TH-Score {score.th:.2f} "
        f"({span(*band, '.2f')}{half})."
    )


def selective(judge: str, curve: RiskCoverage, found: RiskThreshold, *, noun: str = "votes") -> str:
    """The threshold that keeps errors at the target, and what it costs; that there is none is an answer."""
    sure = percent(1 - found.delta)
    target = percent(found.alpha, 1).replace(".0 %", " %")
    rate = percent(curve.error_rate)
    everything = f"keeping all of its {found.n:,} {noun}, {rate} are wrong"
    if found.threshold is None or found.coverage is None or found.error_rate is None or found.bound is None:
        return (
            f"{judge}: no threshold keeps its error rate at or below {target} with {sure} certainty "
            f"({found.note}); {everything}."
        )
    bound = f"in the long run at most {target} with {sure} certainty"
    if found.coverage == 1:
        return f"{judge}: nothing need be dropped for a target of {target}; {everything}, {bound}."
    kept = int(found.cut_n[found.cut == found.threshold][0])
    return (
        f"{judge}: trust it from confidence {found.threshold:.4g} up. That keeps "
        f"{percent(found.coverage)} of its {noun} (n {kept:,}), of which "
        f"{percent(found.error_rate, 1)} are wrong, {bound}; the other "
        f"{percent(1 - found.coverage)} need another judge. Without a threshold {rate} are wrong."
    )


def recalibrated(
    judge: str,
    found: Recalibration,
    before: CalibrationIntervals,
    after: CalibrationIntervals,
    floor: NoiseFloor,
) -> str:
    """ECE before and after a map fitted on other items, and whether what is left exceeds chance."""

    def points(value: float, interval: tuple[float, float]) -> str:
        return f"{100 * value:.1f} ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"

    chance = by_chance(floor)
    left = (
        "no more than chance alone would show"
        if found.after.ece <= chance
        else "still more than chance alone would show"
    )
    temperature = f" (T = {1 / found.slope:.2f})" if found.method == "temperature" else ""
    return (
        f"{judge}: the {found.method} map{temperature} fitted on other items takes ECE from "
        f"{points(found.before.ece, before.ece)} to {points(found.after.ece, after.ece)} points, {left} "
        f"(up to {100 * chance:.1f}, n {found.after.n:,})."
    )


def confusion(judge: str, value: Confusion, *, noun: str = "votes") -> Verdict:
    """Accuracy under the table's tie rule, and the commonest error; `noun` is what was compared with gold."""
    unit = f"decided {noun}" if value.ties in ("drop_votes", "drop_both") else noun
    if value.ties in ("drop_gold", "drop_both"):
        unit += " on untied comparisons"
    rate = None
    if value.accuracy is not None and value.accuracy_low is not None and value.accuracy_high is not None:
        rate = Estimate(
            value=value.accuracy,
            low=value.accuracy_low,
            high=value.accuracy_high,
            n=value.n,
            level=value.level,
            deff=value.deff,
        )
    found = accuracy(judge, rate, value.constant, unit=unit)
    worst = commonest_error(value)
    if worst is None:
        return found
    gold, says, count = worst
    errors = value.n - int(value.counts.trace())
    sentence = (
        f"{found.sentence} Its commonest error: saying {SAYS[says]} where gold says {SAYS[gold]} "
        f"({count:,} of {errors:,} errors)."
    )
    return Verdict(judge=judge, check=found.check, verdict=found.verdict, sentence=sentence)


def unbalanced(values: Mapping[str, PositionBias]) -> str | None:
    """Warning that raw slot shares mislead where votes lack a partner in the other order, else None."""
    loose = [
        judge for judge, one in values.items() if one.unpaired > UNPAIRED * (one.first + one.second + one.tie)
    ]
    if not loose:
        return None
    return (
        f"{len(loose)} of {len(values)} judges have more than {percent(UNPAIRED)} of their votes in one "
        "order only. Their raw first and second shares also show where the better response happened to sit: "
        "read the bias within pairs and the test instead."
    )


def order_balance(judge: str, value: OrderBalance | None) -> str:
    """Whether half of the votes from each order beats all from one."""
    if value is None:
        return f"{judge}: no comparison has both a gold label and votes in both orders."
    ab, ba, balanced, both = (f"{one:.3f}" for one in value.mae)
    n = int(value.votes[0])
    if value.gain is None:
        return (
            f"{judge}: from one vote a comparison, MAE is {ab} with A first and {ba} with B first; both "
            f"votes together give {both}, at twice the price (n {value.n:,} comparisons). A fair trial of "
            "balance needs two votes or more in each order."
        )
    found = (
        f"{judge}: at {n} votes a comparison, MAE is {ab} with A always first, {ba} with B always first and "
        f"{balanced} with half of each"
    )
    if value.gain_low is None or value.gain_high is None:
        return (
            f"{found}: whether balance matters is not known, as {value.reason} (gain over the mean of the "
            f"two {signed(value.gain, 3)}, n {value.n:,} comparisons)."
        )
    interval = (
        f"gain over the mean of the two {signed(value.gain, 3)}, "
        f"{signed_span(value.gain_low, value.gain_high, 3)}, n {value.n:,} comparisons"
    )
    if value.gain_low > 0:
        return f"{found}: balance helps ({interval})."
    if value.gain_high < 0:
        return f"{found}: balance hurts ({interval})."
    return f"{found}: balance is not shown to matter ({interval})."


def verbosity(judge: str, value: Verbosity | None) -> str:
    """Whether a judge prefers the longer response more than gold does."""
    if value is None:
        return f"{judge}: no decided vote on responses of known, different length."
    found = (
        f"{judge}: prefers the longer response in {percent(value.longer_rate)} of {value.n:,} decided votes "
        f"({percent(value.longer_rate_low)} to {percent(value.longer_rate_high)})"
    )
    if value.excess is None or value.gold_rate is None:
        return f"{found}; without gold it is unknown whether the longer ones are better."
    found += f", gold in {percent(value.gold_rate)}"
    if value.excess_low is None or value.excess_high is None:
        return f"{found}; too few items for an interval of the difference."
    interval = (
        f"difference {signed(100 * value.excess, 1)} points, "
        f"{signed_span(100 * value.excess_low, 100 * value.excess_high, 1)}"
    )
    if value.excess_low > 0:
        return f"{found}: it favours length ({interval})."
    if value.excess_high < 0:
        return f"{found}: it favours brevity ({interval})."
    return f"{found}: no preference for length is shown ({interval})."


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
