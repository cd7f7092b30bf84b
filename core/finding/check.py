"""What a check is: one number with its interval, the limits that grade it, and the sentence that
follows.

A grade looks at the whole interval, never at the point estimate alone, so that a little more data
changes a grade only where it settles something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..stats.estimate import Estimate
from ..stats.intervals import items_to_decide
from .result import Result, T
from .wording import count, number, percent, percent_span, points

Grade = Literal["ok", "warn", "fail", "unclear", "unknown"]
GRADES: tuple[Grade, ...] = ("ok", "unclear", "unknown", "warn", "fail")
"""From best to worst."""
Shape = Literal["at_least", "at_most", "signed", "above_noise"]
Kind = Literal["votes", "scores"]

NEAR_LIMIT = 5
"""Where more than this many times the items at hand would be needed, the estimate sits near the
limit, and more hardly decide.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where caution begins and where a check fails, with the reason for it.

    shape : `at_least`, more is better; `at_most`, less is; `signed`, 0 is best; `above_noise`, less
        is, and noise alone raises it.
    caution, failure : limits of the estimate; of its size if `signed`.  failure None: it never
        fails.
    failing_side : sides on which a signed check can fail.
    worst : the worst grade that the check gives.
    items : below so many it is `unknown`.
    unit : how limits are written: a share in percent, a difference in points of 100, or a number.
    reason : why these numbers.
    """

    shape: Shape
    caution: float
    failure: float | None
    reason: str
    failing_side: Literal["both", "above", "below"] = "both"
    worst: Literal["warn", "fail"] = "fail"
    items: int = 10
    unit: Literal["share", "points", "number"] = "share"

    def written(self, value: float) -> str:
        """A value in the unit of the limits."""
        if self.unit == "number":
            return number(value, ".2f")
        return percent(value) if self.unit == "share" else f"{100 * value:g} points"


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A grade, and if it is `unclear` the number of items that would decide, all told.

    needed_items : None if it is not unclear or nothing can be said: the estimate sits near the
        limit.
    """

    grade: Grade
    needed_items: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check says of one judge: grade and sentence, and the figures that they follow from.

    applicable : False for a check that makes no sense for this judge; more votes would not help.
    estimate : what was estimated, with its interval, items and level; None where nothing could be.
    limits : those that it was graded by.
    needed_items : of `unclear`, the items that would decide, all told; None if more hardly would.
    more_items : how many to add to those at hand, to decide it or, of `unknown`, to grade it at
        all.
    p_value : of a warning, from the 95 % interval whatever the level; NaN where there is none.
    metric : of scores, what was scored; None of votes.
    remedy : what would settle a grade that something else than its limits keeps `unclear`.
    fault : what to say after "it" in place of the check's own words, where the cause is another.
    """

    judge: str
    check: str
    grade: Grade
    sentence: str
    applicable: bool = True
    estimate: Estimate | None = None
    limits: Limits | None = None
    needed_items: int | None = None
    more_items: int | None = None
    p_value: float = math.nan
    metric: str | None = None
    remedy: str | None = None
    fault: str | None = None

    @property
    def whose(self) -> str:
        """The judge, and of scores what was scored."""
        return rater_of(self.judge, self.metric)

    @property
    def interval(self) -> Estimate | None:
        """The estimate if it is a number."""
        known = self.estimate is not None and not math.isnan(self.estimate.value)
        return self.estimate if known else None


ONE_METRIC = "score"
"""What a metric is called that has no name of its own."""


def rater_of(judge: str, metric: str | None) -> str:
    """`judge`, or `judge (metric)` where scores have a metric with a name of its own."""
    return judge if metric in (None, ONE_METRIC) else f"{judge} ({metric})"


class AnyEvidence(Protocol):
    """What every check asks of evidence, on votes or on scores."""

    judge: str
    level: float
    limits: Mapping[str, Limits]

    @property
    def metric(self) -> str | None:
        """The metric of scores; None of votes."""

    def __getitem__(self, result: Result[T]) -> T:
        """A result of a question."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why a check cannot be made; `applicable` False: it makes no sense for this judge.

    fault : what a headline says of it after "it", in place of the check's own words.
    """

    reason: str
    applicable: bool = True
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question that is asked of every judge; everything about it stands together.

    name : in JSON, gates and `--limit`.  title : heads a column.
    subject : how sentences call it, from their start.
    question : what it answers.
    page : the page that explains it.  kind : of judges of pairs, or of single answers.
    limits : by default; `more_limits` are those of its parts, by the name that `--limit` takes.
    needs : what to add where there is nothing that it could be made of.
    more_of : which items more of would grade or decide it.  advice : where it warns or fails.
    against_gold : of a check that compares a judge with gold, what says whose votes gold is made
        of, its own among them: it is then not made.
    decisive : failing it means *do not trust*.
    estimate : evidence → the number, or why there is none.
    sentence : evidence and the number → its figures in words, without the final stop.
    then : evidence, the number and the grade → what follows the clause of the grade.
    limits_for : limits that depend on the evidence.
    noise : evidence → what noise alone shows, of a check `above_noise`.
    compose : a check of several parts makes its result itself.
    asked : evidence → whether the question is one at all; None: always. If not, there is no result.
    short : evidence, the number and a grade → what a headline says of it, after "it", without
        numbers.  figure : what its number is called in the line of figures below. Of scores alone:
        headlines of votes join what several checks say.
    gravity : the graver a fault, the smaller: a headline has room for the gravest.
    fault : what the judge does where it warns or fails, after "it"; where the number is signed,
        what it does above 0 and below.
    not_known, not_shown : where it is unknown, or unclear; empty where a headline leaves that out.
    """

    name: str
    title: str
    subject: str
    question: str
    page: str
    limits: Limits
    needs: str
    more_of: str
    advice: str
    estimate: Callable[[Any], Estimate | Unknown]
    sentence: Callable[[Any, Estimate], str]
    then: Callable[[Any, Estimate, Grade], str] | None = None
    limits_for: Callable[[Any, Limits], Limits] | None = None
    noise: Callable[[Any], float] | None = None
    compose: Callable[[Check, Any], CheckResult] | None = None
    asked: Callable[[Any], bool] | None = None
    short: Callable[[Any, Estimate, Grade], str] | None = None
    figure: str = ""
    gravity: int = 100
    fault: str | tuple[str, str] = ""
    not_known: str = ""
    not_shown: str = ""
    more_limits: Mapping[str, Limits] = field(default_factory=dict)
    against_gold: Result[str | None] | None = None
    decisive: bool = False
    kind: Kind = "votes"

    @property
    def words(self) -> str:
        """What it is about, within a sentence: "leniency over time"."""
        return self.subject[0].lower() + self.subject[1:]

    def said(self, result: CheckResult) -> str:
        """What a result holds against a judge, after "it"; empty where it is fine."""
        if result.grade == "unknown":
            return result.fault or self.not_known
        if result.grade == "unclear":
            return result.fault or self.not_shown
        if result.grade not in ("warn", "fail"):
            return ""
        if result.fault is not None:
            return result.fault
        if isinstance(self.fault, tuple):
            found = result.interval
            return "" if found is None else self.fault[0 if found.value >= 0 else 1]
        return self.fault or f"needs care: {self.words}"

    def result(self, evidence: AnyEvidence) -> CheckResult:
        """What it says of one judge."""
        whose = None if self.against_gold is None else evidence[self.against_gold]
        if whose is not None:
            return self.unknown(evidence, Unknown(f"gold is made of {whose}", applicable=False))
        if self.compose is not None:
            return self.compose(self, evidence)
        estimate = self.estimate(evidence)
        if isinstance(estimate, Unknown):
            return self.unknown(evidence, estimate)
        return self.graded(evidence, estimate)

    def limits_of(self, evidence: AnyEvidence, part: str | None = None) -> Limits:
        """The limits in force, those of a part of the check by its name."""
        limits = evidence.limits[part or self.name]
        return self.limits_for(evidence, limits) if self.limits_for and part is None else limits

    def unknown(self, evidence: AnyEvidence, why: Unknown) -> CheckResult:
        """That it cannot be made, and why."""
        reason = why.reason.rstrip(".")
        sentence = (
            f"{self.subject} is unknown: {reason}." if why.applicable else f"Not graded: {reason}."
        )
        return CheckResult(
            judge=evidence.judge,
            check=self.name,
            grade="unknown",
            sentence=sentence,
            applicable=why.applicable,
            limits=self.limits_of(evidence),
            metric=evidence.metric,
            fault=why.fault,
        )

    def graded(
        self,
        evidence: AnyEvidence,
        estimate: Estimate,
        *,
        figures: str | None = None,
        limits: Limits | None = None,
    ) -> CheckResult:
        """Grade an estimate by its limits; the sentence is figures, what follows, and `then`."""
        limits = limits or self.limits_of(evidence)
        floor_high = self.noise(evidence) if self.noise else math.nan
        given = grade(estimate, limits, floor_high=floor_high)
        then = self.then(evidence, estimate, given.grade) if self.then else ""
        figures = figures or self.sentence(evidence, estimate)
        enough = limits.items if given.grade == "unknown" else given.needed_items
        return CheckResult(
            judge=evidence.judge,
            check=self.name,
            grade=given.grade,
            sentence=f"{figures}{clause(estimate, given, limits)}.{then and f' {then}'}",
            estimate=estimate,
            limits=limits,
            needed_items=given.needed_items,
            more_items=None if enough is None or enough <= estimate.n else enough - estimate.n,
            p_value=p_value(estimate, limits),
            metric=evidence.metric,
        )


def results_of(checks: Iterable[Check], evidence: AnyEvidence) -> tuple[CheckResult, ...]:
    """What those checks say of one judge that are to be asked, in their order."""
    return tuple(
        check.result(evidence) for check in checks if check.asked is None or check.asked(evidence)
    )


UNKNOWN = Graded(grade="unknown")


def grade(estimate: Estimate, limits: Limits, *, floor_high: float = math.nan) -> Graded:
    """Grade an estimate by the rule of its shape; `unknown` without an interval or with too few
    items.
    """
    if not estimate.has_interval or estimate.n < limits.items:
        return UNKNOWN
    if limits.shape == "above_noise":
        return grade_above_noise(estimate, floor_high, limits)
    return (grade_signed if limits.shape == "signed" else grade_quality)(estimate, limits)


def grade_quality(estimate: Estimate, limits: Limits) -> Graded:
    """Grade a check that has a better side: by the worst limit that the whole interval is beyond.

    `fail` or `warn` if the whole interval is beyond failure or caution, `ok` if it is within
    caution, else `unclear`.
    """
    # With signs turned, less is always better.
    turn = -1.0 if limits.shape == "at_least" else 1.0
    best, worst = sorted((turn * estimate.low, turn * estimate.high))
    if limits.failure is not None and best > turn * limits.failure:
        return Graded(grade=limits.worst)
    if best > turn * limits.caution:
        return Graded(grade="warn")
    if worst <= turn * limits.caution:
        return Graded(grade="ok")
    return _unclear(estimate, limits.caution)


def grade_signed(estimate: Estimate, limits: Limits) -> Graded:
    """Grade a check whose best value is 0, the first that holds.

    `fail`, wholly beyond failure on a side that can fail; `ok`, wholly within ± caution; `warn`,
    the interval excludes 0; else `unclear`.
    """
    if limits.failure is not None and (
        (limits.failing_side != "below" and estimate.low > limits.failure)
        or (limits.failing_side != "above" and estimate.high < -limits.failure)
    ):
        return Graded(grade=limits.worst)
    if estimate.within(limits.caution):
        return Graded(grade="ok")
    if estimate.excludes(0.0):
        return Graded(grade="warn")
    nearest_edge = math.copysign(limits.caution, estimate.value)
    inside = abs(estimate.value) < limits.caution
    return _unclear(estimate, 0.0, *([nearest_edge] if inside else []))


def grade_above_noise(estimate: Estimate, floor_high: float, limits: Limits) -> Graded:
    """Grade an error that noise alone raises; `floor_high` is the 97.5 % quantile of noise alone.

    `fail`, above the floor and the whole interval beyond failure; `ok`, the interval within
    caution; `warn`, above the floor; else `unclear`.
    """
    above = estimate.value > floor_high
    if above and limits.failure is not None and estimate.low > limits.failure:
        return Graded(grade=limits.worst)
    if estimate.high <= limits.caution:
        return Graded(grade="ok")
    return Graded(grade="warn") if above else _unclear(estimate, limits.caution)


def _unclear(estimate: Estimate, *limits: float) -> Graded:
    """Unclear, with the fewest items that settle it at one of the limits."""
    needed = (items_to_decide(estimate, limit) for limit in limits)
    fewest = min((items for items in needed if items is not None), default=None)
    if fewest is None or fewest > NEAR_LIMIT * estimate.n:
        return Graded(grade="unclear")
    return Graded(grade="unclear", needed_items=max(fewest, estimate.n + 1))


def p_value(estimate: Estimate, limits: Limits) -> float:
    """p-value of a warning: of 0 for a signed check (two-sided), of the caution limit for the
    others.

    From the interval by the normal distribution, the side of the interval towards the limit taken
    for the error: p = 2·Φ(−|z|), z = (value − limit)/h·z₀.₉₇₅ (one-sided: Φ(−z)). NaN without an
    interval.
    """
    from scipy.special import ndtr, ndtri

    limit = 0.0 if limits.shape == "signed" else limits.caution
    if not estimate.has_interval:
        return math.nan
    beyond = estimate.value - limit if limits.shape != "at_least" else limit - estimate.value
    half = abs((estimate.low if estimate.value > limit else estimate.high) - estimate.value)
    if half == 0.0:
        return 1.0 if beyond <= 0 else 0.0
    z = beyond / half * float(ndtri((1 + estimate.level) / 2))
    return float(2 * ndtr(-abs(z)) if limits.shape == "signed" else ndtr(-z))


def worse(one: CheckResult, two: CheckResult) -> CheckResult:
    """The result with the worse grade; the first of equals."""
    return two if GRADES.index(two.grade) > GRADES.index(one.grade) else one


def combined(check: str, parts: Sequence[CheckResult], *more: str) -> CheckResult:
    """Several results of one judge as one: the worst of their grades, and their sentences with
    those in `more`.

    A check that makes no sense for the judge decides only if all do.
    """
    applicable = [part for part in parts if part.applicable] or list(parts)
    return CheckResult(
        judge=parts[0].judge,
        check=check,
        grade=max((part.grade for part in applicable), key=GRADES.index),
        sentence=" ".join([*(part.sentence for part in parts), *more]),
    )


def points_span(estimate: Estimate) -> str:
    """Ends of a difference in points, and its items: `-1.2 to +4.0, 300 items`."""
    ends = f"{points(estimate.low)} to {points(estimate.high)}, " if estimate.has_interval else ""
    return f"{ends}{count(estimate.n, 'item')}"


def share_span(estimate: Estimate) -> str:
    """Ends of a share, and its items: `87 % to 93 %, 400 items`."""
    ends = f"{percent_span(estimate)}, " if estimate.has_interval else ""
    return f"{ends}{count(estimate.n, 'item')}"


def differs(value: float, more: str, less: str) -> str:
    """`3.4 points more`, by its sign; a difference that rounds to 0 takes none."""
    size = points(abs(value)).lstrip("+")
    return f"{size} points {more if value >= 0 else less}"


def clause(estimate: Estimate, given: Graded, limits: Limits) -> str:
    """What a grade says, as the clause behind the figures of a sentence."""
    caution = limits.written(limits.caution)
    side = {"at_least": "at least", "signed": "within ±"}.get(limits.shape, "at most")
    inside = f"{side}{caution}" if limits.shape == "signed" else f"{side} {caution}"
    if given.grade == "unknown":
        if not estimate.has_interval and estimate.n >= limits.items:
            return "; no interval can be given, so it is not graded"
        return f"; fewer than {limits.items} items are too few to grade"
    if given.grade == "unclear":
        zero = "0, or " if limits.shape == "signed" else ""
        more = (
            "it sits near the limit, so more items hardly decide"
            if given.needed_items is None
            else f"about {given.needed_items:,} items would decide if the estimate stays"
        )
        return f"; unclear whether it is {zero}{inside}: {more}"
    if given.grade == "ok":
        return f"; shown to be {inside}"
    failed = (
        limits.failure is not None
        and {
            "at_least": estimate.high < limits.failure,
            "signed": estimate.beyond(limits.failure),
            "above_noise": given.grade == "fail",
            "at_most": estimate.low > limits.failure,
        }[limits.shape]
    )
    if failed and limits.failure is not None:
        word = {"at_least": "below ", "signed": "beyond ±"}.get(limits.shape, "above ")
        return f"; shown to be {word}{limits.written(limits.failure)}"
    if limits.shape == "above_noise":
        return "; more than noise"
    if limits.shape == "signed":
        return "; shown not to be 0"
    return f"; shown to be {'below' if limits.shape == 'at_least' else 'above'} {caution}"
