"""Limits, how an estimate becomes a grade by them, and the grades of a judge its overall verdict.

A grade looks at the whole interval, never at the point estimate alone, so that a little more data
changes a grade only where it settles something. Everything here is a pure function of estimates and
limits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ..errors import InvalidOption
from ..records import BoolArray
from ..stats.estimate import Estimate
from ..stats.intervals import items_to_decide
from .format import number, percent

Grade = Literal["ok", "warn", "fail", "unclear", "unknown"]
OverallVerdict = Literal["trust", "trust_with_limits", "do_not_trust", "cannot_say"]
Shape = Literal["at_least", "at_most", "signed", "above_noise"]

MOST_TIMES = 20
"""More items than this many times those at hand: the estimate sits at the limit, and more hardly
decide.
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


CONFIDENCE_ITEMS = 30

LIMITS: dict[str, Limits] = {
    "accuracy": Limits(
        "at_least",
        0.70,
        0.60,
        "The cost in items is 1/(2p − 1)²: 6 times at .70, 25 times at .60. On MT-Bench without "
        "ties "
        "people agree on 81 % and GPT-4 with them on 85 %.",
    ),
    "position": Limits(
        "signed",
        0.10,
        0.20,
        "One fixed order moves a win rate by half of it: 35 and 70 Elo.",
        unit="points",
    ),
    "stability": Limits(
        "at_most",
        0.20,
        0.40,
        "MT-Bench's GPT-4 changes 35 % of pairs, ties included; without repeats it may be noise.",
        worst="warn",
    ),
    "flip_excess": Limits(
        "at_most",
        0.05,
        0.15,
        "Changes beyond those of repeats in one order: only these blame the order.",
        unit="points",
    ),
    "calibration": Limits(
        "above_noise",
        0.10,
        0.15,
        "At a stated 90 %, .10 doubles the errors.",
        items=CONFIDENCE_ITEMS,
        unit="points",
    ),
    "overconfidence": Limits(
        "signed",
        0.10,
        0.20,
        "At a stated 90 %, .10 doubles the errors; stating too little misleads nobody into trust.",
        failing_side="above",
        items=CONFIDENCE_ITEMS,
        unit="points",
    ),
    "discrimination": Limits(
        "at_least",
        0.60,
        0.50,
        "Stated confidence is often near .6; below .5 it is inverse.",
        items=CONFIDENCE_ITEMS,
        unit="number",
    ),
    "repeatability": Limits(
        "at_least", 0.75, 0.50, "Koo & Li (2016): good from .75, poor below .50.", unit="number"
    ),
    "ties": Limits(
        "signed",
        0.10,
        None,
        "Never a failure: calibrated aggregation can correct it.",
        unit="points",
    ),
    "length": Limits(
        "signed",
        0.10,
        0.20,
        "AlpacaEval controls for length because rankings follow it.",
        unit="points",
    ),
    "own_family": Limits(
        "signed", 0.05, 0.10, "35 and 70 Elo; MT-Bench saw about .10.", unit="points"
    ),
    "robustness": Limits(
        "signed",
        0.05,
        0.10,
        "35 and 70 Elo for a sentence, as for the own family; what an attack loses is no fault.",
        unit="points",
    ),
    "agreement": Limits(
        "at_least",
        -0.10,
        -0.20,
        "The alternative annotator test allows a judge .1 to .2 less than a person.",
        unit="points",
    ),
    "data": Limits("at_most", 0.02, 0.10, "Outputs without a verdict are not missing at random."),
}
"""The limits of every check, by default."""


def limits_with(changed: Mapping[str, tuple[float, float | None]]) -> dict[str, Limits]:
    """`LIMITS` with other numbers for some checks: check → (caution, failure).

    Raises InvalidOption for a check without limits, and for limits in the wrong order or not
    finite.
    """
    used = dict(LIMITS)
    for check, (caution, failure) in changed.items():
        if check not in LIMITS:
            raise InvalidOption(
                f"limit of {check!r}: there is no such check; choose from {', '.join(LIMITS)}"
            )
        if (failure is None) != (LIMITS[check].failure is None):
            wanted = "CAUTION,FAILURE" if failure is None else "CAUTION alone: it never fails"
            raise InvalidOption(f"limit of {check}: give {wanted}")
        ordered = [caution] if failure is None else [caution, failure]
        if not all(math.isfinite(one) for one in ordered):
            raise InvalidOption(f"limit of {check}: use finite numbers")
        falling = LIMITS[check].shape == "at_least"
        if failure is not None and (failure > caution if falling else failure < caution):
            order = "at most" if falling else "at least"
            raise InvalidOption(
                f"limit of {check}: failure {failure:g} has to be {order} caution {caution:g}"
            )
        used[check] = replace(LIMITS[check], caution=caution, failure=failure)
    return used


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """By what a judge is graded: the limits of every check, and the level of the intervals."""

    limits: Mapping[str, Limits] = field(default_factory=lambda: LIMITS)
    level: float = 0.95


BY_DEFAULT = Rules()
CONFIDENCE_CHECKS = ("calibration", "overconfidence", "discrimination")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A grade, and if it is `unclear` the number of items that would decide, all told.

    needed_items : None if it is not unclear or nothing can be said.
    at_limit : more than 20 times the items at hand are needed: the estimate sits at the limit.
    """

    grade: Grade
    needed_items: int | None = None
    at_limit: bool = False


UNKNOWN = Graded(grade="unknown")


def grade_quality(estimate: Estimate | None, limits: Limits) -> Graded:
    """Grade a check that has a better side: by the worst limit that the whole interval is beyond.

    `fail` or `warn` if the whole interval is beyond failure or caution, `ok` if it is within
    caution, else `unclear`. `unknown` without an interval or below `limits.items` items.
    """
    if estimate is None or not _known(estimate, limits):
        return UNKNOWN
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


def grade_signed(estimate: Estimate | None, limits: Limits) -> Graded:
    """Grade a check whose best value is 0, the first that holds.

    `fail`, wholly beyond failure on a side that can fail; `ok`, wholly within ± caution; `warn`,
    the interval excludes 0; else `unclear`. `unknown` as in `grade_quality`.
    """
    if estimate is None or not _known(estimate, limits):
        return UNKNOWN
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


def grade_ece(estimate: Estimate | None, floor_high: float, limits: Limits) -> Graded:
    """Grade an error that noise alone raises; `floor_high` is the 97.5 % quantile of noise alone.

    `fail`, above the floor and the whole interval beyond failure; `ok`, the interval within
    caution; `warn`, above the floor; else `unclear`. `unknown` as in `grade_quality`.
    """
    if estimate is None or not _known(estimate, limits):
        return UNKNOWN
    above = estimate.value > floor_high
    if above and limits.failure is not None and estimate.low > limits.failure:
        return Graded(grade=limits.worst)
    if estimate.high <= limits.caution:
        return Graded(grade="ok")
    return Graded(grade="warn") if above else _unclear(estimate, limits.caution)


def grade(estimate: Estimate | None, limits: Limits, *, floor_high: float = math.nan) -> Graded:
    """Grade an estimate by the rule of its shape."""
    if limits.shape == "above_noise":
        return grade_ece(estimate, floor_high, limits)
    return (grade_signed if limits.shape == "signed" else grade_quality)(estimate, limits)


def _known(estimate: Estimate, limits: Limits) -> bool:
    return estimate.has_interval and estimate.n >= limits.items


def _unclear(estimate: Estimate, *limits: float) -> Graded:
    """Unclear, with the fewest items that settle it at one of the limits."""
    found = [items for limit in limits if (items := items_to_decide(estimate, limit)) is not None]
    fewest = min(found, default=None)
    if fewest is None or fewest > MOST_TIMES * estimate.n:
        return Graded(grade="unclear", at_limit=True)
    return Graded(grade="unclear", needed_items=max(fewest, estimate.n + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The verdict on one judge: the checks that led to it, and those that could not be made."""

    verdict: OverallVerdict
    because: tuple[str, ...]
    unchecked: tuple[str, ...]


NEEDED = ("accuracy", "position", "stability")
"""Checks that must be ok for plain trust."""

LEAST_ACCURACY = 0.60
"""A judge whose share right may be below this is not known to be better than a guess that costs 25
times.
"""


def overall(
    grades: Mapping[str, Grade],
    *,
    accuracy_low: float | None = None,
    gold: bool = True,
    not_graded: Collection[str] = (),
) -> Overall:
    """One verdict from the grades of a judge's checks, the first that holds.

    - *do not trust*: accuracy or position fails (without gold agreement or position), or data
      fails;
    - *cannot say*: accuracy is unknown or its low end is below .60 (without gold: agreement is not
      ok);
    - *trust*: accuracy (without gold agreement), position and stability are ok, and nothing warns
      or fails;
    - else *trust with limits*.

    The three checks of confidence never cause *do not trust*. `because` has the checks that decide,
    the worst first; `unchecked` all that are unknown or absent.

    Parameters
    ----------
    grades : check → grade; a check that is absent was not made.
    not_graded : checks that make no sense for this judge, which are not named as unchecked.
    accuracy_low : low end of the accuracy's interval (half credit).
    """
    found = {check: grades.get(check, "unknown") for check in LIMITS if check != "flip_excess"}
    unchecked = tuple(
        check for check, given in found.items() if given == "unknown" and check not in not_graded
    )
    merit = "accuracy" if gold else "agreement"

    def verdict(name: OverallVerdict, because: Sequence[str]) -> Overall:
        return Overall(verdict=name, because=tuple(because), unchecked=unchecked)

    if failed := [check for check in (merit, "position", "data") if found[check] == "fail"]:
        return verdict("do_not_trust", failed)
    low = math.nan if accuracy_low is None else accuracy_low
    if found[merit] == "unknown" or (
        found[merit] != "ok" if not gold else not low >= LEAST_ACCURACY
    ):
        return verdict("cannot_say", [merit])
    needed = [merit, *NEEDED[1:]]
    doubts = [
        check for worst in ("fail", "warn") for check, given in found.items() if given == worst
    ]
    doubts += [check for check in needed if found[check] not in ("ok", *("fail", "warn"))]
    return verdict("trust_with_limits", doubts) if doubts else verdict("trust", needed)


def benjamini_hochberg(p_values: Sequence[float], *, q: float = 0.05) -> BoolArray:
    """Which findings survive at a false discovery rate of q: those up to the largest k with p₍ₖ₎ ≤
    q·k/m.

    A NaN is no test: it does not count in m and does not survive. Source: Benjamini & Hochberg
    (1995).
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.sort(p[~np.isnan(p)])
    passes = np.flatnonzero(tested <= q * np.arange(1, len(tested) + 1) / max(len(tested), 1))
    with np.errstate(invalid="ignore"):
        survives: BoolArray = p <= (tested[passes[-1]] if len(passes) else -1.0)
    return survives


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


def expected_warnings(graded: Mapping[str, int], *, level: float = 0.95) -> float:
    """Warnings at most expected of so many graded cells per check if no judge had any fault.

    Σ cells·(1 − level) for signed checks, half of that for the others, which have one side.
    """
    share = 1 - level
    return sum(
        n * share * (1.0 if LIMITS[check].shape == "signed" else 0.5) for check, n in graded.items()
    )


def quoted_level(survivors: int, cells: int, *, level: float = 0.95) -> float:
    """Level of the intervals that a headline quotes of R chosen cells: 1 − (1 − level)·R/cells.

    Source: Benjamini & Yekutieli (2005), false coverage rate.
    """
    return 1 - (1 - level) * survivors / cells


def _limit(limits: Limits, value: float) -> str:
    if limits.unit == "number":
        return number(value, ".2f")
    return percent(value) if limits.unit == "share" else f"{100 * value:g} points"


def clause(estimate: Estimate, given: Graded, limits: Limits) -> str:
    """What a grade says, as the clause behind the figures of a sentence."""
    caution = _limit(limits, limits.caution)
    side = {"at_least": "at least", "signed": "within ±"}.get(limits.shape, "at most")
    inside = f"{side}{caution}" if limits.shape == "signed" else f"{side} {caution}"
    if given.grade == "unknown":
        if not estimate.has_interval and estimate.n >= limits.items:
            return "; no interval can be given, so it is not graded"
        return f"; fewer than {limits.items} items are too few to grade"
    if given.grade == "unclear":
        zero = "0, or " if limits.shape == "signed" else ""
        more = (
            "the estimate sits at the limit, so more items hardly decide"
            if given.needed_items is None
            else f"about {given.needed_items:,} items would decide"
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
        return f"; shown to be {word}{_limit(limits, limits.failure)}"
    if limits.shape == "above_noise":
        return "; more than noise"
    if limits.shape == "signed":
        return "; shown not to be 0"
    return f"; shown to be {'below' if limits.shape == 'at_least' else 'above'} {caution}"
