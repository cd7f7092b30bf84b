"""Every cut-off, and the sentence of each check: numbers in, one plain sentence out.

A verdict is `ok`, `warn`, `fail` or `unknown`; unknown always says what is missing. The cut-offs are ours: no
paper fixes them. They are the constants below and nothing else decides. Sentences are plain text.

What a judge's verdicts add up to: one grade, its worst findings, and what is missing for a fuller audit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ..agreement.kappa import JudgePair
from ..agreement.reliability import Repeatability
from ..bias import PositionBias
from ..confidence.calibration_error import Calibration, ConfidenceGap, NoiseFloor, by_chance
from ..records import NO_GOLD, VoteCounts
from ..stats.estimate import Estimate
from ..stats.intervals import clustered_proportion
from .format import interval, percent, percent_span

Grade = Literal["ok", "warn", "fail", "unknown"]
GRADES: tuple[Grade, ...] = ("ok", "unknown", "warn", "fail")
"""From best to worst."""
CHECKS = (
    "accuracy",
    "calibration",
    "overconfidence",
    "position",
    "ties",
    "repeatability",
    "agreement",
    "data",
)

NOT_GRADED = "Not graded"
"""Begins the sentence of a check that makes no sense for this judge: more votes would not help."""

FEW = 30
"""Fewer verdicts than this: no grade on a rate."""
ECE_WARN, ECE_FAIL = 0.05, 0.10
GAP_WARN, GAP_FAIL = 0.03, 0.10
POSITION_SIGNIFICANCE = 0.05
POSITION_FAIL_SHARE = 0.05
"""A significant bias to one slot fails when it decides at least this share of the comparisons, net."""
UNPAIRED = 0.05
"""More votes than this without a partner in the other order: raw slot shares are confounded with quality."""
FLIP_WARN, FLIP_FAIL = 0.10, 0.30
TIE_WARN = 0.05
"""A tie rate is never a fail: what is wrong with it shows in accuracy, and aggregation can correct it."""
ICC_STRONG, ICC_FAIR = 0.90, 0.75
"""ICC(3,k): 0.90 is RAEE's strong judge (Source: [RAEE] §2)."""
KAPPA_SUBSTANTIAL, KAPPA_MODERATE, KAPPA_SLIGHT = 0.60, 0.40, 0.20
"""Landis & Koch (1977): above .60 substantial, above .40 moderate, up to .20 slight. Low agreement can be the
other rater's fault, so only agreement that is slight over its whole interval fails."""
KAPPA_MARGIN = 0.05
FAILED_WARN, FAILED_FAIL = 0.02, 0.10
FEW_LABELS = 50
ERROR_NEAR = 0.01
"""A mean absolute error (0 to 2) within this of another serves as well."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check says of one judge, in words."""

    judge: str
    check: str
    verdict: Grade
    sentence: str


def combined(judge: str, check: str, parts: Sequence[Verdict], *more: str) -> Verdict:
    """Several checks as one: the worst of their grades, and their sentences with those in `more`."""
    grade = max((part.verdict for part in parts), key=GRADES.index)
    return Verdict(judge, check, grade, " ".join([*(part.sentence for part in parts), *more]))


def _points(value: float) -> str:
    return f"{100 * abs(value):.1f}"


def accuracy(judge: str, value: Estimate | None, constant: float | None, *, unit: str = "votes") -> Verdict:
    """Accuracy against gold, beside the best constant answer (the share of gold's commonest label).

    Worse than it: by √2 times the half-width of the interval, as the constant's share comes from the same
    labels and is as unsure; with the interval alone one coin flip in six would be called worse.
    """

    verdict = partial(Verdict, judge, "accuracy")
    if value is None or constant is None:
        return verdict("unknown", "Accuracy is unknown: no comparison that it judged has a gold label.")
    found = f"Right on {percent(value.value)} of {value.n:,} {unit} with gold ({percent_span(value)})"
    if value.n < FEW:
        return verdict("unknown", f"{found}; fewer than {FEW} are too few to grade.")
    best = f"always giving the commonest gold label would reach {percent(constant)}"
    if value.low > constant:
        return verdict("ok", f"{found}; {best}.")
    if value.value + math.sqrt(2) * (value.high - value.value) < constant:
        return verdict("fail", f"{found}, worse than no judge: {best}.")
    return verdict("warn", f"{found}, not clearly better than no judge: {best}.")


def calibration(judge: str, value: Calibration | None, floor: NoiseFloor | None) -> Verdict:
    """ECE against its noise floor: what a perfectly calibrated judge with these confidences would show."""

    verdict = partial(Verdict, judge, "calibration")
    if value is None or floor is None:
        return verdict(
            "unknown", "Calibration is unknown: it has no vote with both a confidence and a gold label."
        )
    missed = f"by {_points(value.ece)} points on average (ECE, n {value.n:,})"
    found = f"Stated confidence misses observed accuracy {missed}"
    # Against the floor of independent verdicts a calibrated judge with several votes an item would often be
    # called miscalibrated.
    limit = by_chance(floor)
    chance = f"chance alone would show up to {_points(limit)}"
    if value.n < FEW:
        return verdict("unknown", f"{found}; fewer than {FEW} are too few to grade.")
    if value.ece <= limit:
        return verdict("ok", f"{found}; {chance}, so no miscalibration is shown.")
    if value.ece >= ECE_FAIL:
        return verdict("fail", f"{found}; {chance}. Its confidence cannot be read as a probability.")
    grade: Grade = "warn" if value.ece >= ECE_WARN else "ok"
    return verdict(grade, f"{found}; {chance}.")


def overconfidence(judge: str, value: ConfidenceGap | None) -> Verdict:
    """Mean confidence minus accuracy, graded only if its interval excludes 0."""

    verdict = partial(Verdict, judge, "overconfidence")
    if value is None:
        return verdict(
            "unknown", "Overconfidence is unknown: it has no vote with both a confidence and a gold label."
        )
    right = f"is right {percent(value.accuracy, 1)} of the time (n {value.n:,})"
    found = f"It says {percent(value.mean_confidence, 1)} and {right}"
    if value.n < FEW:
        return verdict("unknown", f"{found}; fewer than {FEW} are too few to grade.")
    # The t interval of a few items may reach beyond what a gap can be.
    # Rounded first and 0 added, so that a gap of -0.04 points does not print as -0.0.
    ends = (value.gap.value, max(value.gap.low, -1.0), min(value.gap.high, 1.0))
    gap, low, high = (round(100 * x, 1) + 0.0 for x in ends)
    shown = f"gap {gap:+.1f} points, {low:+.1f} to {high:+.1f}"
    if value.items < 2:
        return verdict("unknown", f"{found} (gap {gap:+.1f} points); one item cannot show how sure that is.")
    if not value.gap.excludes(0):
        return verdict("ok", f"{found}: neither over- nor underconfidence is shown ({shown}).")
    name = "overconfident" if value.gap.value > 0 else "underconfident"
    if abs(value.gap.value) < GAP_WARN:
        return verdict("ok", f"{found}: slightly {name} ({shown}).")
    grade: Grade = "fail" if value.gap.value >= GAP_FAIL else "warn"
    return verdict(grade, f"{found}: {name} ({shown}).")


def position(judge: str, value: PositionBias | None) -> Verdict:
    """Whether the order shown decides: paired-order test and flips, never the raw shares.

    Source: docs/methods.md §4.
    """

    verdict = partial(Verdict, judge, "position")
    if value is None:
        return verdict("unknown", "Position bias is unknown: no vote says which response was shown first.")
    if value.flip_rate is None or value.p_value is None:
        return verdict("unknown", "Position bias is unknown: no comparison was judged in both orders.")
    if value.pairs < FEW:
        return verdict(
            "unknown",
            f"{value.flips} of {value.pairs} pairs of swapped orders changed verdict; too few to grade.",
        )
    if value.flips == 0:
        return verdict("ok", f"No verdict changed when the order was swapped ({value.pairs:,} pairs).")
    found = (
        f"{percent(value.flip_rate.value)} of verdicts change when the order is swapped "
        f"({percent_span(value.flip_rate)}, {value.pairs:,} pairs)"
    )
    net = abs(value.towards_first - value.towards_second)
    # Three significant digits never round a p across the cut-off.
    p = "p < .001" if value.p_value < 0.001 else f"p = {value.p_value:.3g}"
    split = (
        f"comparisons that favour the first: {value.towards_first}, to the second: {value.towards_second}; "
        f"{p}"
    )
    if value.p_value < POSITION_SIGNIFICANCE and not _biased_by_item(value):
        return verdict("warn", f"{found}; {split}, yet no more than items differ among themselves.")
    if value.p_value < POSITION_SIGNIFICANCE:
        grade: Grade = "fail" if net / value.pair_comparisons >= POSITION_FAIL_SHARE else "warn"
        return verdict(grade, f"{found}, biased towards the {value.direction} response shown ({split}).")
    if value.flip_rate.value >= FLIP_WARN:
        grade = "fail" if value.flip_rate.low >= FLIP_FAIL and not _noise_explains(value) else "warn"
        return verdict(grade, f"{found}, but neither slot is shown to be favoured ({split}).")
    return verdict("ok", f"{found}; neither slot is shown to be favoured ({split}).")


def _biased_by_item(value: PositionBias) -> bool:
    """The bias holds by item too, where the test takes the comparisons of an item for independent."""
    found = value.bias_pairs
    return found is None or not found.has_interval or found.excludes(0)


def _noise_explains(value: PositionBias) -> bool:
    """Repeats in the same order disagree as often as swapped orders do."""
    return value.excess is not None and value.excess.low <= 0


def ties(judge: str, counts: VoteCounts | None) -> Verdict:
    """The judge's tie rate against gold's on the same comparisons."""

    verdict = partial(Verdict, judge, "ties")
    labelled = None if counts is None else counts.rows(counts.gold != NO_GOLD)
    if labelled is None or not len(labelled):
        return verdict(
            "unknown", "Its tie rate cannot be compared: no comparison that it judged has a gold label."
        )
    n = labelled.plus + labelled.tie + labelled.minus
    rate = clustered_proportion(labelled.item, n, labelled.tie)
    gold = float((n * (labelled.gold == 0)).sum() / n.sum())
    found = f"It calls {percent(rate.value)} ties ({percent_span(rate)}) where gold has {percent(gold)}"
    if rate.n < FEW:
        return verdict("unknown", f"{found}; {rate.n} votes are too few to grade.")
    gap = rate.value - gold
    if rate.low <= gold <= rate.high or abs(gap) < TIE_WARN:
        return verdict("ok", f"{found} (n {rate.n:,}).")
    remedy = "calibrated aggregation can correct this" if gap < 0 else "it ties more often than gold does"
    return verdict("warn", f"{found}; {remedy} (n {rate.n:,}).")


def repeatability(judge: str, value: Repeatability | None) -> Verdict:
    """ICC(3,k) of repeated votes; a strong judge reaches 0.90 (Source: [RAEE] §2)."""

    verdict = partial(Verdict, judge, "repeatability")
    if value is None:
        return verdict("unknown", "Repeatability is unknown: it judged no comparison twice in the same way.")
    if value.icc_3_k is None:
        return verdict("unknown", f"Repeatability is unknown: {value.reason}")
    found = (
        f"Its mean of {value.k} runs has ICC(3,k) {interval(value.icc_3_k)} on {value.n_comparisons:,} "
        "comparisons"
    )
    if value.n_comparisons < FEW:
        return verdict("unknown", f"{found}; too few to grade.")
    if value.icc_3_k.value >= ICC_STRONG:
        more = ", though its interval reaches below" if value.icc_3_k.low < ICC_STRONG else ""
        return verdict("ok", f"{found}: a strong judge by the 0.90 mark{more}.")
    if value.icc_3_k.value >= ICC_FAIR or value.icc_3_k.high >= ICC_STRONG:
        return verdict("warn", f"{found}, below the 0.90 mark: more runs would help.")
    # A judge that nearly always says the same has a low ICC too, so what repeats change is said by itself.
    alike = "" if value.unanimous_share is None else f"; all runs agree on {percent(value.unanimous_share)}"
    return verdict("fail", f"{found}, far below the 0.90 mark{alike}.")


def agreement(judge: str, value: JudgePair | None, others: int, people: float | None = None) -> Verdict:
    """Cohen κ with one other rater; `people`, the mean κ of human pairs, is the mark where there are any.

    A rater that agrees with a human as well as humans do with each other is fine, however low that is.
    """

    verdict = partial(Verdict, judge, "agreement")
    if value is None:
        why = "no other judge voted" if not others else "no other judge voted on the same comparisons"
        return verdict("unknown", f"Agreement is unknown: {why}.")
    other = value.judge_2 if value.judge_1 == judge else value.judge_1
    if value.kappa is None or value.raw is None:
        return verdict("unknown", f"Agreement with {other} is unknown: {value.reason}")
    found = (
        f"It agrees with {other} on {percent(value.raw.value)} of {value.n:,} comparisons, "
        f"κ {interval(value.kappa)}"
    )
    if value.n < FEW:
        return verdict("unknown", f"{found}; too few to grade.")
    kappa = value.kappa.value
    if kappa >= KAPPA_SUBSTANTIAL:
        return verdict("ok", f"{found}: substantial.")
    slight = value.kappa.high <= KAPPA_SLIGHT
    word = "moderate" if kappa >= KAPPA_MODERATE else "slight" if slight else "less than moderate"
    found = f"{found}: {word}"
    if people is not None:
        found = f"{found}; people agree with each other at κ {people:.2f}"
        if kappa >= people - KAPPA_MARGIN:
            return verdict("ok", f"{found}.")
    return verdict("fail" if word == "slight" else "warn", f"{found}.")


def data(judge: str, votes: int, failed: int, labelled_items: int) -> Verdict:
    """Failed outputs, and whether there are labels enough to say anything."""

    verdict = partial(Verdict, judge, "data")
    share = failed / (votes + failed)
    found = f"{votes:,} votes"
    if failed:
        found += f" and {failed:,} outputs without one ({percent(share, 1)}: errors, refusals or unreadable)"
    if share >= FAILED_FAIL:
        return verdict("fail", f"{found}: what is left may not be typical.")
    if share >= FAILED_WARN:
        return verdict("warn", f"{found}; they are left out of every figure.")
    if not labelled_items:
        return verdict("warn", f"{found}, none with a gold label: accuracy and calibration cannot be known.")
    if labelled_items < FEW_LABELS:
        return verdict("warn", f"{found} on only {labelled_items} items with gold: intervals are wide.")
    return verdict("ok", f"{found} on {labelled_items:,} items with gold.")


WORDS: dict[Grade, tuple[str, str]] = {
    "ok": ("passes every check that could be made", "pass every check that could be made"),
    "warn": ("needs care", "need care"),
    "fail": ("fails a check", "fail a check"),
    "unknown": ("cannot be graded", "cannot be graded"),
}
"""Of one judge, of several."""

NEEDS = {
    "accuracy": "gold labels",
    "calibration": "a confidence with each vote, and gold labels",
    "overconfidence": "a confidence with each vote, and gold labels",
    "position": "votes in both orders (column position)",
    "ties": "gold labels",
    "repeatability": "repeated votes (column run)",
    "agreement": "a second judge or human on the same comparisons",
}
"""What a check needs when it is unknown."""

NAMED = 3
"""Judges that an answer names one by one; more are counted."""


def overall(verdicts: Sequence[Verdict]) -> Grade:
    """Worst grade of a judge's checks; unknown if accuracy is unknown and nothing was found wrong.

    A judge whose accuracy is not known is never `ok`: what was checked can be fine and the judge still wrong.
    """
    grades = {verdict.check: verdict.verdict for verdict in verdicts}
    for grade in ("fail", "warn"):
        if grade in grades.values():
            return grade
    return "unknown" if grades.get("accuracy", "unknown") == "unknown" else "ok"


def worst(verdicts: Sequence[Verdict], count: int = 3) -> tuple[Verdict, ...]:
    """The `count` worst findings: fails before warnings, then in the order of `verdicts.CHECKS`."""
    found = [verdict for verdict in verdicts if verdict.verdict in ("fail", "warn")]
    return tuple(sorted(found, key=lambda v: (v.verdict != "fail", CHECKS.index(v.check)))[:count])


def missing(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """What would let more be checked, one sentence a need, with how many judges lack it."""
    lacking: dict[str, dict[str, set[str]]] = {}
    for verdict in verdicts:
        hopeless = verdict.sentence.startswith(NOT_GRADED)
        if verdict.verdict == "unknown" and verdict.check in NEEDS and not hopeless:
            lacking.setdefault(NEEDS[verdict.check], {}).setdefault(verdict.check, set()).add(verdict.judge)
    sentences = []
    for need, checks in lacking.items():
        raters = len(set.union(*checks.values()))
        who = f" for {raters} raters" if raters > 1 else ""
        sentences.append(f"{' and '.join(checks).capitalize()}{who}: add {need}, or more of what is there.")
    return tuple(sentences)


def answer(verdicts: Sequence[Verdict]) -> str:
    """Can they be trusted? Who is graded how, or what is worst of a single one, and if no accuracy is known.

    A judge whose accuracy is unknown has its other findings, so that accuracy is unknown of all is said too.
    """
    of_judge: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        of_judge.setdefault(verdict.judge, []).append(verdict)
    accuracies = [verdict.verdict for verdict in verdicts if verdict.check == "accuracy"]
    known = any(grade != "unknown" for grade in accuracies) or not accuracies
    unsure = (
        [] if known else [f"Whether {'it' if len(of_judge) == 1 else 'any of them'} is right is unknown."]
    )
    if len(of_judge) == 1:
        ((judge, checks),) = of_judge.items()
        parts = [f"{judge} {WORDS[overall(checks)][0]}.", *(v.sentence for v in worst(checks, 1))]
        return " ".join([*parts, *unsure])
    parts = []
    for grade, (of_one, of_several) in WORDS.items():
        names = [judge for judge, checks in of_judge.items() if overall(checks) == grade]
        if len(names) == 1:
            parts.append(f"{names[0]} {of_one}")
        elif names:
            who = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= NAMED else str(len(names))
            parts.append(f"{who} {of_several}")
    return " ".join([f"{len(of_judge)} raters: {'; '.join(parts)}.", *unsure])
