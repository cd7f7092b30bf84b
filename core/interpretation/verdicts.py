"""The checks of a judge: an estimate, its grade by `rules`, and one sentence that follows from
both.

A verdict is `ok`, `warn`, `fail`, `unclear` or `unknown`. Unclear says how many items would decide,
unknown what is missing. Limits, rules and the overall verdict are in `rules`, what is estimated in
`estimates`; docs/verdicts.md has every sentence with its condition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..agreement.kappa import JudgePair
from ..agreement.reliability import Repeatability
from ..records import NO_GOLD, IntArray, LengthCounts, OutcomeCounts, PositionCounts, VoteCounts
from ..stats.estimate import Estimate
from ..stats.intervals import n_distinct
from ..store.browse import JudgeSummary
from . import estimates
from .format import count, interval, number, percent, percent_span, points
from .rules import BY_DEFAULT, LEAST_ACCURACY, LIMITS, Grade, Limits, Rules, clause, grade

if TYPE_CHECKING:
    from ..confidence.calibration_error import Calibration, NoiseFloor

GRADES: tuple[Grade, ...] = ("ok", "unclear", "unknown", "warn", "fail")
"""From best to worst."""
CHECKS = (
    *("accuracy", "position", "stability", "calibration", "overconfidence", "discrimination"),
    *("repeatability", "agreement", "ties", "length", "own_family", "robustness", "data"),
)
NOT_GRADED = "Not graded"
"""Begins the sentence of a check that makes no sense for this judge: more votes would not help."""

ICC_STRONG = 0.90
"""ICC(3,k) of a strong judge (Source: [RAEE] §2)."""
ERROR_NEAR = 0.01
"""A mean absolute error (0 to 2) within this of another serves as well."""
MISSING_COUNTS = 0.05
"""A larger share of outputs without a verdict counts in the accuracy, as half right."""
ONE_LABEL = 0.90
"""A larger share of one label leaves κ without meaning."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check says of one judge: grade and sentence, and the figures that they follow from.

    estimate, low, high : what was estimated, with its interval; None where nothing could be.
    caution, failure : the limits; None where the check has none.
    needed_items : of `unclear`, the items that would decide, all told; None if more hardly would.
    more_items : how many to add to those at hand, to decide it or, of `unknown`, to grade it at
        all.
    """

    judge: str
    check: str
    verdict: Grade
    sentence: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    caution: float | None = None
    failure: float | None = None
    needed_items: int | None = None
    more_items: int | None = None

    @property
    def interval(self) -> Estimate | None:
        """The estimate with its interval; its n is not kept."""
        if self.estimate is None:
            return None
        low, high = (math.nan if end is None else end for end in (self.low, self.high))
        return Estimate(self.estimate, low, high)


def combined(judge: str, check: str, parts: Sequence[Verdict], *more: str) -> Verdict:
    """Several checks as one: the worst of their grades, and their sentences with those in `more`.

    A check that makes no sense for the judge (`NOT_GRADED`) decides only if all do.
    """
    applicable = [part for part in parts if not part.sentence.startswith(NOT_GRADED)]
    worst_grade = max((part.verdict for part in applicable or parts), key=GRADES.index)
    return Verdict(judge, check, worst_grade, " ".join([*(part.sentence for part in parts), *more]))


def unknown(judge: str, check: str, sentence: str) -> Verdict:
    """A check that cannot be made, with the reason."""
    limits = LIMITS[check]
    return Verdict(
        judge, check, "unknown", sentence, caution=limits.caution, failure=limits.failure
    )


def graded(
    judge: str,
    check: str,
    found: str,
    estimate: Estimate,
    limits: Limits,
    *,
    floor_high: float = math.nan,
    then: str = "",
) -> Verdict:
    """Grade an estimate; the sentence is what was `found`, what follows by the limits, and
    `then`.
    """
    given = grade(estimate, limits, floor_high=floor_high)
    sentence = f"{found}{clause(estimate, given, limits)}.{then and f' {then}'}"
    known = estimate.has_interval
    enough = limits.items if given.grade == "unknown" else given.needed_items
    return Verdict(
        judge,
        check,
        given.grade,
        sentence,
        estimate=None if math.isnan(estimate.value) else estimate.value,
        low=estimate.low if known else None,
        high=estimate.high if known else None,
        caution=limits.caution,
        failure=limits.failure,
        needed_items=given.needed_items,
        more_items=None if enough is None or enough <= estimate.n else enough - estimate.n,
    )


def points_span(found: Estimate) -> str:
    ends = f"{points(found.low)} to {points(found.high)}, " if found.has_interval else ""
    return f"{ends}{count(found.n, 'item')}"


def differs(value: float, more: str, less: str) -> str:
    """`3.4 points more`, by its sign; a difference that rounds to 0 takes none."""
    size = points(abs(value)).lstrip("+")
    return f"{size} points {more if value >= 0 else less}"


def share_span(found: Estimate) -> str:
    """Interval and items of a share: `87 % to 93 %, 400 items`."""
    ends = f"{percent_span(found)}, " if found.has_interval else ""
    return f"{ends}{count(found.n, 'item')}"


def accuracy(
    judge: str,
    counts: VoteCounts | None,
    *,
    credited: VoteCounts | None = None,
    ceiling: Estimate | None = None,
    categories: Mapping[str, VoteCounts] | None = None,
    estimate: Estimate | None = None,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """Half credit on decided gold: right 1, tie ½, opposite 0 (`estimates.direction`).

    credited : its votes with the outputs that have none as ties, where those are to count.
    ceiling : how often a left-out person says what the others say, where gold is made by people: a
        judge that reaches people's rate is not failed.
    categories : its votes by category, of which the weakest is named.
    estimate : that of `counts`, here and below where it is known already.
    """
    found = estimate
    if counts is not None and (found is None or credited is not None):
        found = estimates.direction(credited or counts, level=rules.level)
    if counts is None or found is None:
        return unknown(
            judge, "accuracy", "Accuracy is unknown: no comparison that it judged has decided gold."
        )
    used = rules.limits["accuracy"]
    exact, blind = _exact(counts)
    then = [f"Exactly gold's label in {percent(exact)} of votes; without looking {percent(blind)}."]
    if credited is not None:
        then.append("Outputs without a verdict count half.")
    if ceiling is not None:
        caution = min(used.caution, ceiling.value)
        failure = None if used.failure is None else min(used.failure, caution - 0.10)
        used = replace(used, caution=caution, failure=failure)
        then.append(f"A left-out person says what the others say in {percent(ceiling.value)}.")
    if found.has_interval and found.high < 0.5 and found.n >= used.items:
        then.append("That is worse than guessing.")
    then += _of_categories(categories or {}, rules.level)
    text = (
        f"Right on {percent(found.value)} of decided gold, a tie "
        f"counting half ({share_span(found)})"
    )
    return graded(judge, "accuracy", text, found, used, then=" ".join(then))


CATEGORY_ITEMS = 30
"""Fewer items than this in a category: it is not named."""


def category_accuracy(
    categories: Mapping[str, VoteCounts], *, items: int = CATEGORY_ITEMS, level: float = 0.95
) -> dict[str, Estimate]:
    """Half credit on decided gold in each category with enough items, the weakest first.

    All intervals are Bonferroni's for the number of categories, as one is chosen; none for fewer
    than two.
    """
    first = {name: estimates.direction(counts, level=level) for name, counts in categories.items()}
    large = [name for name, one in first.items() if one is not None and one.n >= items]
    if len(large) < 2:
        return {}
    adjusted = 1 - (1 - level) / len(large)
    found = {name: estimates.direction(categories[name], level=adjusted) for name in large}
    known = {name: one for name, one in found.items() if one is not None}
    return dict(sorted(known.items(), key=lambda pair: pair[1].value))


def _of_categories(categories: Mapping[str, VoteCounts], level: float) -> list[str]:
    """The weakest category, and in how many the judge is shown to be better than
    `LEAST_ACCURACY`.
    """
    known = category_accuracy(categories, level=level)
    if not known:
        return []
    weakest = next(iter(known))
    shown = sum(one.low >= LEAST_ACCURACY for one in known.values())
    return [
        f"Weakest of {len(known)} categories with {CATEGORY_ITEMS} items or more: {weakest}, "
        f"{percent(known[weakest].value)} ({share_span(known[weakest])}); shown to be at least "
        f"{percent(LEAST_ACCURACY)} in {shown} of them."
    ]


def _exact(counts: VoteCounts) -> tuple[float, float]:
    """Share of votes with gold's label, and what a judge reaches that always ties or flips
    a coin.
    """
    labelled = counts.labelled()
    n = labelled.plus + labelled.tie + labelled.minus
    right = np.select(
        [labelled.gold == 1, labelled.gold == 0],
        [labelled.plus, labelled.tie],
        default=labelled.minus,
    )
    ties = float(n[labelled.gold == 0].sum() / n.sum())
    return float(right.sum() / n.sum()), max(ties, (1 - ties) / 2)


def position(judge: str, counts: PositionCounts | None, *, rules: Rules = BY_DEFAULT) -> Verdict:
    """Mean slot vote within pairs of both orders (`estimates.position_lean`). Source:
    docs/methods.md §4.
    """
    if counts is None:
        return unknown(
            judge,
            "position",
            "Position bias is unknown: no vote says which response was shown first.",
        )
    found = estimates.position_lean(counts, level=rules.level)
    if found is None:
        return unknown(
            judge, "position", "Position bias is unknown: no comparison was judged in both orders."
        )
    net = differs(found.value, "for the response shown first", "for the one shown second")
    text = f"Within pairs of both orders, votes are net {net} ({points_span(found)})"
    return graded(judge, "position", text, found, rules.limits["position"])


def stability(judge: str, counts: PositionCounts | None, *, rules: Rules = BY_DEFAULT) -> Verdict:
    """Verdicts that reverse when the order is swapped, and what of it repeats in one order do not
    show.

    Only the excess over repeats can fail: without repeats a reversal may be noise.
    """
    found = None if counts is None else estimates.hard_flips(counts, level=rules.level)
    if counts is None or found is None:
        return unknown(
            judge, "stability", "Stability is unknown: no comparison was judged in both orders."
        )
    limits = rules.limits["stability"]
    text = (
        f"{percent(found.value)} of verdicts reverse when the order "
        f"is swapped ({share_span(found)})"
    )
    excess = estimates.flip_excess(counts, level=rules.level)
    if excess is None:
        noise = "Without repeats in one order this may be noise."
        return graded(judge, "stability", text, found, limits, then=noise)
    beyond = graded(
        judge,
        "stability",
        f"Swapping changes verdicts {differs(excess.value, 'more', 'less')} often than a repeat "
        "in one "
        f"order ({points_span(excess)})",
        excess,
        rules.limits["flip_excess"],
    )
    own = graded(judge, "stability", text, found, limits)
    if beyond.verdict in ("warn", "fail") and GRADES.index(beyond.verdict) >= GRADES.index(
        own.verdict
    ):
        return replace(beyond, sentence=f"{own.sentence} {beyond.sentence}")
    return replace(own, sentence=f"{own.sentence} {beyond.sentence}")


NO_CONFIDENCE = "it has no vote with both a confidence and a gold label."


def calibration(
    judge: str,
    outcomes: OutcomeCounts | None,
    *,
    seed: int = 0,
    bins: int = 10,
    measured: tuple[Calibration, NoiseFloor] | None = None,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """ECE with its interval by item, beside what noise alone shows of a perfectly
    calibrated judge.
    """
    rng = np.random.default_rng(seed)
    known = (
        None
        if outcomes is None
        else estimates.expected_calibration_error(
            outcomes, rng=rng, bins=bins, level=rules.level, measured=measured
        )
    )
    if known is None:
        return unknown(judge, "calibration", f"Calibration is unknown: {NO_CONFIDENCE}")
    found, floor = known
    text = (
        f"Stated confidence misses the share right by {_unsigned(found.value)} points on average "
        f"(ECE; {_unsigned_ends(found)}{count(found.n, 'item')}), and noise alone shows "
        f"up to {_unsigned(floor)}"
    )
    return graded(judge, "calibration", text, found, rules.limits["calibration"], floor_high=floor)


def _unsigned_ends(found: Estimate) -> str:
    return f"{_unsigned(found.low)} to {_unsigned(found.high)}, " if found.has_interval else ""


def _unsigned(share: float) -> str:
    return number(100 * share, ".1f")


def overconfidence(
    judge: str, outcomes: OutcomeCounts | None, *, rules: Rules = BY_DEFAULT
) -> Verdict:
    """Mean stated confidence minus the share right, by item (`estimates.confidence_gap`)."""
    found = None if outcomes is None else estimates.confidence_gap(outcomes, level=rules.level)
    if found is None:
        return unknown(judge, "overconfidence", f"Overconfidence is unknown: {NO_CONFIDENCE}")
    gap = differs(found.value, "above", "below")
    text = f"Stated confidence is {gap} the share right ({points_span(found)})"
    return graded(judge, "overconfidence", text, found, rules.limits["overconfidence"])


def discrimination(
    judge: str,
    outcomes: OutcomeCounts | None,
    *,
    estimate: Estimate | None = None,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """Does confidence separate right from wrong verdicts: AUROC (`confidence.selective.auroc`)."""
    found = estimate
    if outcomes is not None and found is None:
        found = estimates.discrimination(outcomes, level=rules.level)
    if outcomes is None or found is None:
        return unknown(judge, "discrimination", f"Discrimination is unknown: {NO_CONFIDENCE}")
    if constant(outcomes):
        text = "It states one confidence for every verdict, which separates nothing"
        few = found.n < rules.limits["discrimination"].items
        given: Grade = "unknown" if few else "warn"
        verdict = unknown(judge, "discrimination", f"{text}.")
        return replace(verdict, verdict=given, estimate=0.5)
    if math.isnan(found.value):
        known = outcomes.with_confidence()
        which = "wrong" if known.correct.any() else "right"
        return unknown(
            judge, "discrimination", f"Discrimination is unknown: it has no {which} verdict."
        )
    ends = f"{found.low:.2f} to {found.high:.2f}, " if found.has_interval else ""
    text = (
        f"A right verdict is surer than a wrong one in {percent(found.value)} of such pairs "
        f"(AUROC {found.value:.2f}; {ends}{count(found.n, 'item')})"
    )
    return graded(judge, "discrimination", text, found, rules.limits["discrimination"])


def constant(outcomes: OutcomeCounts) -> bool:
    """Whether every verdict has the same confidence."""
    stated = outcomes.with_confidence().confidence
    return len(stated) > 0 and float(stated.min()) == float(stated.max())


def repeatability(judge: str, value: Repeatability | None, *, rules: Rules = BY_DEFAULT) -> Verdict:
    """ICC(3,k) of repeated votes; RAEE calls a judge strong from 0.90 (Source: [RAEE] §2)."""
    if value is None:
        return unknown(
            judge,
            "repeatability",
            "Repeatability is unknown: it judged no comparison twice in the same way.",
        )
    found = estimates.repeatability(value)
    if found is None or value.icc_3_k is None:
        return unknown(judge, "repeatability", f"Repeatability is unknown: {value.reason}")
    strong = found.has_interval and found.low >= ICC_STRONG
    text = (
        f"The mean of {value.k} runs has ICC(3,k) {interval(found)} on {count(found.n, 'item')}"
        f"{', a strong judge by the 0.90 mark' if strong else ''}"
    )
    # A judge that nearly always says the same has a low ICC too, so what repeats change is said by
    # itself.
    alike = (
        ""
        if value.unanimous_share is None
        else f"All runs agree on {percent(value.unanimous_share)}."
    )
    return graded(judge, "repeatability", text, found, rules.limits["repeatability"], then=alike)


def agreement(
    judge: str,
    value: JudgePair | None,
    others: int,
    *,
    against_people: Estimate | None = None,
    graded_by_people: bool = True,
    people: float | None = None,
    one_label: float = 0.0,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """Agreement with people, against a left-out person; with another judge it is described, not
    graded.

    value : the pair to describe.  others : raters beside it.
    against_people : how much more often the judge than a left-out person says what the others say.
    graded_by_people : whether that is graded: where there is no gold.
    people : mean κ of pairs of people.  one_label : largest share of one label among its own.
    """
    if against_people is not None:
        text = (
            f"It says what the other people say {differs(against_people.value, 'more', 'less')} "
            "often "
            f"than a left-out person does ({points_span(against_people)})"
        )
        if graded_by_people:
            return graded(judge, "agreement", text, against_people, rules.limits["agreement"])
        return unknown(
            judge, "agreement", f"{NOT_GRADED}, as there is gold: {text[0].lower()}{text[1:]}."
        )
    if value is None:
        why = (
            "no other judge voted" if not others else "no other judge voted on the same comparisons"
        )
        return unknown(judge, "agreement", f"Agreement is unknown: {why}.")
    other = value.judge_2 if value.judge_1 == judge else value.judge_1
    if value.raw is None:
        return unknown(judge, "agreement", f"Agreement with {other} is unknown: {value.reason}")
    found = (
        f"it agrees with {other} on {percent(value.raw.value)} of {count(value.n, 'comparison')}"
    )
    if value.kappa is not None and one_label <= ONE_LABEL:
        found += f", κ {interval(value.kappa)}"
    if people is not None:
        found += f"; people agree with each other at κ {people:.2f}"
    return unknown(
        judge,
        "agreement",
        f"{NOT_GRADED}: {found}. Differing from another judge is no fault of either.",
    )


def ties(judge: str, counts: VoteCounts | None, *, rules: Rules = BY_DEFAULT) -> Verdict:
    """The judge's share of ties minus gold's on the same comparisons, by item."""
    found = None if counts is None else estimates.tie_gap(counts, level=rules.level)
    if found is None:
        return unknown(
            judge,
            "ties",
            "Its share of ties cannot be compared: no comparison that it judged has a gold label.",
        )
    text = f"It ties {differs(found.value, 'more', 'less')} often than gold ({points_span(found)})"
    return graded(judge, "ties", text, found, rules.limits["ties"])


def length(
    judge: str,
    counts: LengthCounts | None,
    *,
    estimate: Estimate | None = None,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """Preference for the longer response beyond gold's, wherever gold prefers it and wherever it
    does not.
    """
    if counts is None or not (counts.gold != NO_GOLD).any():
        why = (
            "no length or text"
            if counts is None
            else "no gold label on responses of different length"
        )
        return unknown(judge, "length", f"Preference for length is unknown: there is {why}.")
    found = estimate or estimates.length_preference(counts, balanced=True, level=rules.level)
    if found is None:
        return unknown(
            judge,
            "length",
            "Preference for length is unknown: gold prefers the same side nearly always, and mere "
            "errors "
            "would look like a preference.",
        )
    text = (
        f"It prefers the longer response {differs(found.value, 'more', 'less')} "
        f"often than gold ({points_span(found)})"
    )
    return graded(judge, "length", text, found, rules.limits["length"])


def own_family(
    judge: str,
    counts: VoteCounts | None,
    side: IntArray | None,
    *,
    against: Literal["gold", "judges"] = "gold",
    estimate: Estimate | None = None,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """Preference for models of its own family beyond gold's, or beyond that of judges of no such
    family.

    counts : its votes, with gold or with the other judges' label in its place, as `against` says.
    side : +1 where response A is of its family, −1 where B is, else 0; None if no family was named.
    """
    if side is None or counts is None:
        return unknown(
            judge, "own_family", "Preference for its own family is unknown: no family was named."
        )
    if not (side != 0).any():
        return unknown(
            judge,
            "own_family",
            "Preference for its own family is unknown: it judged no model of its family against "
            "another.",
        )
    found = estimate or estimates.side_preference(counts, side, balanced=True, level=rules.level)
    reference = "gold" if against == "gold" else "the majority of the other judges"
    if found is None:
        return unknown(
            judge,
            "own_family",
            f"Preference for its own family is unknown: {reference} nearly always prefers one "
            "side, and mere "
            "errors would look like a preference.",
        )
    text = (
        f"It prefers its own family {differs(found.value, 'more', 'less')} often than {reference} "
        f"({points_span(found)})"
    )
    return graded(judge, "own_family", text, found, rules.limits["own_family"])


def data(
    judge: str,
    votes: JudgeSummary,
    outputs: Estimate | None,
    counts: VoteCounts | None,
    *,
    rules: Rules = BY_DEFAULT,
) -> Verdict:
    """Share of outputs without a verdict, by item; how many items have gold is said beside it."""
    labelled = 0 if counts is None else n_distinct(counts.labelled().item)
    gold = f"{count(labelled, 'item')} with gold" if labelled else "no gold label"
    if votes.n and not votes.failed:
        known = unknown(
            judge, "data", f"{count(votes.n, 'vote')}, {gold}; every output has a verdict."
        )
        return replace(known, verdict="ok", estimate=0.0)
    have = "output has" if votes.failed == 1 else "outputs have"
    text = f"{count(votes.n, 'vote')}, {gold}; {votes.failed:,} {have} no verdict"
    if outputs is None:
        return unknown(judge, "data", f"{text}.")
    if outputs.n >= rules.limits["data"].items:
        text += f": {percent(outputs.value, 1)} ({share_span(outputs)})"
    return graded(judge, "data", text, outputs, rules.limits["data"])
