"""Sentences and tables of the Calibration page: what a stated confidence, or a sure label, is
worth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...finding.answer import Answer, Found, bad, difference, good, line, longest, measured
from ...finding.check import CheckResult, combined
from ...finding.tables import TEXT, Column, frame
from ...finding.wording import count, percent, percent_span, span, target
from ...stats.estimate import Estimate
from .alone import DecidedAlone, RiskThreshold
from .calibration_error import by_chance
from .recalibration import Recalibration
from .selective import Guarantee, RiskCoverage, Sureness
from .th_scores import ThScore

if TYPE_CHECKING:
    import pandas as pd

    from ...records import OutcomeCounts
    from .calibration_error import Calibration, CalibrationIntervals, ConfidenceGap, NoiseFloor
    from .kinds import KindOfConfidence

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Measured:
    """Everything measured of one judge's stated confidence; `missing` verdicts state none."""

    found: Calibration
    intervals: CalibrationIntervals
    floor: NoiseFloor
    gap: ConfidenceGap
    missing: int

    def estimate(self, measure: str) -> Estimate:
        """A measure that has an interval."""
        return _measure(self.found, self.intervals, measure)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Recalibrated:
    """A map with the intervals of both sides, and the noise floor of what is left after it."""

    found: Recalibration
    intervals_before: CalibrationIntervals
    intervals_after: CalibrationIntervals
    floor: NoiseFloor

    def before(self, measure: str) -> Estimate:
        """A measure as stated, with its interval where it has one."""
        return _measure(self.found.before, self.intervals_before, measure)

    def after(self, measure: str) -> Estimate:
        """The same after the map."""
        return _measure(self.found.after, self.intervals_after, measure)


def _measure(found: Calibration, intervals: CalibrationIntervals, measure: str) -> Estimate:
    value = found.accuracy.value if measure == "accuracy" else float(getattr(found, measure))
    ends: Estimate | None = getattr(intervals, measure, None)
    return Estimate(value, ends.low, ends.high, n=found.n) if ends else Estimate(value, n=found.n)


CALIBRATIONS = (
    Column("n", lambda row: row.found.n, ",d"),
    Column("accuracy", lambda row: row.found.accuracy, ends_last=True),
    Column("stated", lambda row: row.found.mean_confidence),
    Column("gap", lambda row: row.gap.gap, "+.3f"),
    Column("ECE", lambda row: row.estimate("ece")),
    Column("by chance up to", lambda row: by_chance(row.floor)),
    # Measures side by side fit a window; their intervals follow.
    Column("ACE", lambda row: row.estimate("ace"), ends_last=True),
    Column("MCE", lambda row: row.found.mce),
    Column("Brier", lambda row: row.estimate("brier"), ends_last=True),
    Column("NLL", lambda row: row.estimate("nll"), ends_last=True),
    Column("by chance", lambda row: row.floor.ece.value),
    Column("NLL clipped", lambda row: row.found.nll_clipped, ",d"),
    Column("items", lambda row: row.found.items, ",d"),
    Column("without confidence", "missing", ",d"),
)
"""A row per judge (`Measured`): each measure with its interval where it has one."""


def kind_columns(epsilons: Sequence[float]) -> tuple[Column, ...]:
    """A row per judge and kind of confidence, (judge, `KindOfConfidence`): all measures in one
    table.
    """

    def measure(name: str) -> Callable[[tuple[str, KindOfConfidence]], float]:
        return lambda row: float(getattr(row[1].calibration, name))

    def th(place: int) -> Callable[[tuple[str, KindOfConfidence]], float]:
        return lambda row: row[1].th[place].th.value

    return (
        Column("judge", lambda row: row[0], TEXT),
        Column("confidence", lambda row: kind_in_words(row[1]), TEXT),
        Column("n", lambda row: row[1].calibration.n, ",d"),
        Column("accuracy", lambda row: row[1].calibration.accuracy.value),
        Column("mean", measure("mean_confidence")),
        *(Column(name.upper(), measure(name)) for name in ("ece", "ace", "mce")),
        Column("Brier", measure("brier")),
        Column("NLL", measure("nll")),
        Column("AUROC", lambda row: row[1].auroc and row[1].auroc.value),
        *(Column(f"TH at ε {at:g}", th(place), ".2f") for place, at in enumerate(epsilons)),
    )


def kind_in_words(found: KindOfConfidence) -> str:
    """What a confidence is."""
    if found.by == "share":
        return "share of its votes"
    return "stated" if found.kind in (None, "self") else f"given as {found.kind}"


NEAR_CERTAIN = (
    Column("n", "n", ",d"),
    Column("TH-Score", "th", ".2f", ends=("low", "high")),
    Column("share", "share"),
    Column("accuracy", "accuracy"),
)
"""A row per judge: TH-Score, and the two rates behind it."""

THRESHOLDS = (
    Column("n", lambda row: row[0].n, ",d"),
    Column("threshold", lambda row: row[0].threshold),
    Column("share kept", lambda row: row[0].coverage),
    Column("error rate", lambda row: row[0].error_rate),
    Column("errs at most", lambda row: row[0].bound),
    Column("error of all", lambda row: row[1].error_rate),
    Column("AURC", lambda row: row[1].aurc),
    Column("why", lambda row: row[0].note, TEXT),
)
"""A row per judge (`RiskThreshold`, `RiskCoverage`): what a threshold keeps and promises."""

RECALIBRATIONS = (
    Column("n", lambda row: row.found.after.n, ",d"),
    Column("ECE before", lambda row: row.before("ece"), ends=("low", "high")),
    Column("ECE after", lambda row: row.after("ece"), ends=("after low", "after high")),
    Column("by chance up to", lambda row: by_chance(row.floor)),
    Column("Brier before", lambda row: row.found.before.brier),
    Column("Brier after", lambda row: row.found.after.brier),
    Column("NLL before", lambda row: row.found.before.nll),
    Column("NLL after", lambda row: row.found.after.nll),
)
"""A row per judge (`Recalibrated`): before and after a map."""

CONFIDENCE = ("calibration", "overconfidence", "discrimination")
"""The checks of what a stated confidence is worth."""
MEASURES = {
    "accuracy": "accuracy",
    "mean_confidence": "stated",
    "ece": "ECE",
    "ace": "ACE",
    "mce": "MCE",
    "brier": "Brier",
    "nll": "NLL",
}
"""Measures of `Calibration`, as they are written."""


def before_and_after(one: Recalibrated) -> pd.DataFrame:
    """One row per measure, before and after a map, with intervals where it has them."""
    columns = (
        Column("measure", lambda measure: MEASURES[measure], TEXT),
        Column("before", one.before),
        Column("after", one.after),
        Column(
            "change", lambda measure: one.after(measure).value - one.before(measure).value, "+.3f"
        ),
        Column("n", lambda _: one.found.before.n, ",d"),
    )
    return frame(columns, MEASURES)


def confidence(results: Sequence[CheckResult], *, of: int = 1) -> CheckResult:
    """What its confidence is worth: its excess, its error and whether it separates; the worst of
    the grades.

    of : judges among which its ECE is the largest; more than one is said.
    """
    largest = [f"Of {of} judges it has the largest ECE."] if of > 1 else []
    return combined("calibration", results, *largest)


def confidence_answer(found: Mapping[str, Found], judge: str, floor: NoiseFloor | None) -> Answer:
    """Whether one judge's confidence can be taken at its word, and of several whose can.

    found : the checks of confidence of every judge; with one judge nobody is set beside it.
    floor : what chance alone shows of its ECE.
    """
    of = found[judge]
    off, gap, auroc = (of[name].interval for name in CONFIDENCE)
    says = _worth(judge, of)
    honest = [
        name
        for name, other in found.items()
        if name != judge and all(good(other[check]) for check in CONFIDENCE)
    ]
    if bad_confidence(of) and honest:
        best = min(honest, key=lambda name: _ece(found[name]))
        says = longest([f"{says}; {best} means what it says", says], found)
    chance = f", noise ≤ {100 * by_chance(floor):.1f}" if floor is not None else ""
    return Answer(
        headline=f"{says}.",
        figures=line(
            [
                gap and f"over-confidence {difference(gap, unit=' points')}",
                off and f"ECE {measured(off, 1, 100)}{chance}",
                auroc and f"AUROC {measured(auroc)}",
                off and count(off.n, "item"),
            ]
        ),
        good=all(good(of[check]) for check in CONFIDENCE),
    )


def bad_confidence(of: Found) -> bool:
    """Whether a check of confidence is shown to warn or fail."""
    return any(bad(of[check]) for check in CONFIDENCE)


def _ece(of: Found) -> float:
    found = of["calibration"].interval
    return found.value if found else math.inf


def _worth(judge: str, of: Found) -> str:
    off, gap, _ = (of[name].interval for name in CONFIDENCE)
    if bad(of["overconfidence"]) and gap is not None:
        more = "more" if gap.value > 0 else "less"
        points = round(100 * abs(gap.value))
        return f"{judge} claims {points} points {more} certainty than it earns"
    if bad(of["calibration"]) and off is not None:
        return f"{judge} states confidence that is {round(100 * off.value)} points off"
    if bad(of["discrimination"]):
        return f"{judge} is hardly surer where it is right than where it is wrong"
    if all(good(of[check]) for check in CONFIDENCE):
        return f"{judge} means what it says: its confidence can be used as it is"
    if off is None:
        return f"Nothing shows yet what the confidence of {judge} is worth"
    return f"Whether the confidence of {judge} can be used is not settled"


def several_kinds(outcomes: OutcomeCounts) -> str | None:
    """Which of several kinds of confidence is measured, and how to see another; None with one
    kind.
    """
    if not outcomes.other_kinds:
        return None
    used, *others = (
        f"'{kind}'" if kind else "those without a kind"
        for kind in (outcomes.kind, *outcomes.other_kinds)
    )
    return (
        f"its confidences are of several kinds, which are not put together: {used}, which most "
        f"items have, is measured and {' and '.join(others)} left out; filter by confidence_kind "
        "for another."
    )


def near_certain(judge: str, score: ThScore, *, noun: str = "votes") -> str:
    """How many verdicts are nearly certain, how often those are right, and the TH-Score that this
    gives.
    """
    where = f"confidence over {1 - score.epsilon:.2f} or under {score.epsilon:.2f}"
    if not score.n:
        return f"{judge}: none of its {noun} is nearly certain ({where}), so TH-Score is 0."
    half = ", halved as published" if score.scale == "published" else ""
    return (
        f"{judge}: {percent(score.share)} of its {noun} are nearly certain ({where}), and "
        f"{percent(score.accuracy.value)} of those are right ({percent_span(score.accuracy)}, "
        f"n {score.n:,}). TH-Score {score.th.value:.2f} "
        f"({span(score.th.low, score.th.high, '.2f')}{half})."
    )


def selective(judge: str, curve: RiskCoverage, found: RiskThreshold, *, noun: str = "votes") -> str:
    """The threshold that keeps errors at the target, and what it costs; that there is none is an
    answer.
    """
    sure, allowed = percent(1 - found.delta), target(found.alpha)
    rate = percent(curve.error_rate)
    everything = f"keeping all of its {found.n:,} {noun}, {rate} are wrong"
    if (
        found.threshold is None
        or found.coverage is None
        or found.error_rate is None
        or found.bound is None
    ):
        return (
            f"{judge}: no threshold keeps its error rate at or below {allowed} with {sure} "
            f"certainty ({found.note}); {everything}."
        )
    bound = f"in the long run at most {allowed} with {sure} certainty"
    if found.coverage == 1:
        return f"{judge}: nothing need be dropped for a target of {allowed}; {everything}, {bound}."
    kept = int(found.cut_n[found.cut == found.threshold][0])
    return (
        f"{judge}: trust it from confidence {found.threshold:.4g} up. That keeps "
        f"{percent(found.coverage)} of its {noun} (n {kept:,}), of which "
        f"{percent(found.error_rate, 1)} are wrong, {bound}; the other "
        f"{percent(1 - found.coverage)} need another judge. Without a threshold {rate} are wrong."
    )


def recalibrated(judge: str, one: Recalibrated) -> str:
    """ECE before and after a map fitted on other items, and whether what is left exceeds chance."""

    def points(found: Estimate) -> str:
        return f"{100 * found.value:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"

    found, before, after, chance = (
        one.found,
        one.before("ece"),
        one.after("ece"),
        by_chance(one.floor),
    )
    left = (
        "no more than chance alone would show"
        if after.value <= chance
        else "still more than chance alone would show"
    )
    temperature = f" (T = {1 / found.slope:.2f})" if found.method == "temperature" else ""
    return (
        f"{judge}: the {found.method} map{temperature} fitted on other items takes ECE from "
        f"{points(before)} to {points(after)} points, {left} (up to {100 * chance:.1f}, n "
        f"{after.n:,})."
    )


def guaranteed(judge: str, found: Guarantee) -> str:
    """From when on its labels can be kept, how many that are, and what is certified about them."""
    sure, allowed = percent(1 - found.delta), target(found.alpha)
    every = found.everything
    everything = (
        f"{percent(every.value, 1)} of all its labels are wrong "
        f"({percent_span(every, 1)}, n {every.n:,} with gold)"
    )
    kept, wrong = found.kept, found.wrong
    if found.threshold is None or kept is None or wrong is None:
        return (
            f"{judge}: no threshold keeps wrong labels at or below {allowed} with {sure} certainty "
            f"({found.note}). Keeping every one, {everything}."
        )
    # One comparison of each item was tested, so an item with many of them weighs no more than
    # another.
    once = ", counting each item once" if found.n_labelled > found.n_items else ""
    promise = (
        f"with {sure} certainty at most {allowed} of the labels kept are wrong{once} (seen: "
        f"{percent(wrong.value, 1)}, n {wrong.n:,} with gold)"
    )
    if wrong.value > found.alpha:
        promise += (
            f"; counting each label, more than {allowed} are, as items "
            "with many comparisons fare worse"
        )
    if kept.value == 1:
        return f"{judge}: keep every label; {promise}."
    at = f"{found.threshold:.3g}"
    if found.sureness == "share":
        at = "all" if found.threshold == 1 else f"at least {target(found.threshold)}"
    return (
        f"{judge}: keep a label where {SURE_OF[found.sureness].format(at=at)}. That settles "
        f"{percent(kept.value)} of its {found.n:,} comparisons ({percent_span(kept)}); {promise}. "
        f"The other {percent(1 - kept.value)} need more votes, another judge or a person. "
        f"Without a threshold {everything}."
    )


ALONE = (
    Column("errors allowed", lambda one: percent(one.error), TEXT),
    Column("of the answers", "share", ".1%"),
    Column("from", "threshold", ".4g"),
    Column("n", "n", ",d", "labelled answers that it decides"),
    Column("wrong", "wrong", ",d"),
    Column("errs at most", "bound", ".1%"),
    Column("why", "note", TEXT),
)
"""A row per share of errors: what a judge may decide alone."""


def at_least(one: DecidedAlone) -> str:
    return f"{one.threshold:.4g}"


def alone_at(
    one: DecidedAlone, *, noun: str = "answers", blind: str | None = None, blind_from: float = 1.0
) -> str:
    """What is decided alone at one error, and what goes to a person.

    blind, blind_from : what a rule without reading would do as well, and its error.
    """
    at = f"at ≤ {percent(one.error)} error"
    if blind_from <= one.error:
        return f"{blind} everything would do as well {at}."
    if one.threshold is None or one.bound is None:
        return f"nothing {at} ({one.note})."
    # Rounded up: rounded down it would promise more than was shown.
    bound = percent(math.ceil(1000 * one.bound - 1e-9) / 1000, 1)
    return (
        f"{percent(one.share)} of the {noun} {at}, from {at_least(one)} up ({one.wrong:,} of "
        f"{one.n:,} wrong, at most {bound}); {percent(1 - one.share)} to a person."
    )


def in_short(one: DecidedAlone, *, blind: str | None = None, blind_from: float = 1.0) -> str:
    """The share decided alone at one error."""
    if blind_from <= one.error:
        return f"≤ {percent(one.error)} as {blind} everything"
    share = "nothing" if one.threshold is None else f"{percent(one.share)}, from {at_least(one)}"
    return f"≤ {percent(one.error)} {share}"


def alone_of_votes(found: Sequence[DecidedAlone], error: float) -> list[str]:
    """What a judge of pairs may decide alone, by the confidence of its votes; nothing without."""
    if not found:
        return []
    first = next(one for one in found if one.error == error)
    others = "; ".join(in_short(one) for one in found if one is not first)
    return [f"Alone: {alone_at(first, noun='votes')} At other errors: {others}."]
