"""Does a judge of pass and fail find what people pass, and what they fail, in every category?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...finding.check import Check, CheckResult, Grade, Limits, Unknown, share_span
from ...finding.result import Result
from ...finding.wording import LONGEST_NAME, number, percent
from ...records import FloatArray, IntArray
from ...stats.estimate import Estimate
from ...stats.intervals import check_level, clopper_pearson, wilson, z_quantile
from ..accuracy.method import LEAST_OF_A_CATEGORY
from .check import VERBS, Side
from .passing import gains_on_left_out
from .table import UNDECIDED, ScoreTable

if TYPE_CHECKING:
    from .evidence import ScoreEvidence


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CategoryRate:
    """What a judge does with one class of one category: with what people passed, or failed.

    found : sum over items of the share that it finds, 0 to `items`; a rate of its class.
    rate : found/items, its interval two-sided at 1 − (1 − level)/(2K).
    high : Clopper and Pearson's one-sided upper end of the rate at the same error.
    apart : upper end of the rate less that of all other categories, one-sided at the same error;
        NaN where the others have no such item.
    """

    category: str
    side: Side
    found: float
    items: int
    rate: Estimate
    high: float
    apart: float


def by_category(table: ScoreTable, *, level: float = 0.95) -> tuple[CategoryRate, ...]:
    """TPR and TNR in each category with four items of the class or more, the lowest `high` first.

    With n items of a class in a category, of which x are found (runs and answers of an item
    averaged), high is the upper end of ⌈x⌉ of n by Clopper and Pearson, and apart is p̃ − q̃ +
    z·√(p̃(1 − p̃)/(n + 2) + q̃(1 − q̃)/(m + 2)) of p̃ = (x + 1)/(n + 2) and q̃ = (y + 1)/(m + 2) of
    the m items of the same class elsewhere, all at (1 − level)/(2K) for K categories.
    None of fewer than two categories, which would be the judge itself.

    Raises InvalidOption for a level outside (0, 1). Source: docs/methods.md §11 (ours); Agresti &
    Caffo (2000) for the difference.
    """
    check_level(level)
    truth, passed, category = table.people_verdict, table.passed, table.category
    if category is None:
        return ()
    both = (truth != UNDECIDED) & ~np.isnan(passed) & (category >= 0)
    of_side: dict[Side, tuple[FloatArray, FloatArray]] = {}
    sides: tuple[tuple[Side, int], ...] = (("tnr", 0), ("tpr", 1))
    for side, class_ in sides:
        rows = both & (truth == class_)
        share = passed[rows] if class_ else 1 - passed[rows]
        of_side[side] = _items_of(table.unit[rows], category[rows], share, len(table.categories))
    large = [items >= LEAST_OF_A_CATEGORY for items, _ in of_side.values()]
    categories = int(np.any(large, axis=0).sum())
    if categories < 2:
        return ()
    tail = (1 - level) / (2 * categories)
    rates = [
        _rate(table.categories[code], side, float(items[code]), float(found[code]), rest, tail)
        for side, (items, found) in of_side.items()
        for code in np.flatnonzero(items >= LEAST_OF_A_CATEGORY).tolist()
        for rest in [(float(items.sum() - items[code]), float(found.sum() - found[code]))]
    ]
    return tuple(sorted(rates, key=lambda rate: (rate.high, rate.rate.value)))


def _items_of(
    unit: IntArray, category: IntArray, share: FloatArray, categories: int
) -> tuple[FloatArray, FloatArray]:
    """(K,) items of each category and the sum of their means; an item counts in each of its own."""
    if not len(unit):
        return np.zeros(categories), np.zeros(categories)
    cells, place = np.unique(np.stack([unit, category]), axis=1, return_inverse=True)
    place = place.reshape(-1)
    means = np.bincount(place, share) / np.bincount(place)
    items = np.bincount(cells[1], minlength=categories)
    found = np.bincount(cells[1], means, minlength=categories)
    return items.astype(np.float64), found.astype(np.float64)


def _rate(
    category: str, side: Side, items: float, found: float, rest: tuple[float, float], tail: float
) -> CategoryRate:
    n, (others, found_there) = int(items), rest
    low, high = wilson(found, n, level=1 - tail)
    rate = Estimate(found / n, float(low), float(high), n=n, level=1 - tail)
    apart = math.nan
    if others:
        p, q = (found + 1) / (items + 2), (found_there + 1) / (others + 2)
        error = math.sqrt(p * (1 - p) / (items + 2) + q * (1 - q) / (others + 2))
        apart = p - q + z_quantile(1 - 2 * tail) * error
    return CategoryRate(
        category=category,
        side=side,
        found=found,
        items=n,
        rate=rate,
        high=float(clopper_pearson(math.ceil(found - 1e-9), n, level=1 - tail)),
        apart=apart,
    )


BY_CATEGORY = Result(
    "by_category", lambda evidence: by_category(evidence.table, level=evidence.level)
)
"""TPR and TNR in each category with enough items, the lowest first."""


def _asked(evidence: ScoreEvidence) -> bool:
    return evidence.table.says_pass and len(evidence.table.categories) > 1


def _unfit(evidence: ScoreEvidence) -> Unknown | None:
    """Why rates within a category say nothing: labels were drawn by what the judge said."""
    if evidence.which.design in ("all", "random", "classes"):
        return None
    return Unknown("labels were not drawn at random, so that rates of a category are not of all")


def _weakest(evidence: ScoreEvidence) -> Estimate | Unknown:
    if (unfit := _unfit(evidence)) is not None:
        return unfit
    items = evidence.limits["score_category"].items
    large = [rate for rate in evidence[BY_CATEGORY] if rate.items >= items]
    if len({rate.category for rate in large}) < 2:
        return Unknown(f"it needs two categories with {items} items that people passed, or failed")
    return min((rate.rate for rate in large), key=lambda rate: rate.value)


def _named(evidence: ScoreEvidence, estimate: Estimate) -> CategoryRate:
    return next(rate for rate in evidence[BY_CATEGORY] if rate.rate == estimate)


def _sentence(evidence: ScoreEvidence, weakest: Estimate) -> str:
    rates = evidence[BY_CATEGORY]
    rate = _named(evidence, weakest)
    does, did = VERBS[rate.side]
    return (
        f"Weakest of {len({rate.category for rate in rates})} categories: in {rate.category} it "
        f"{does} {percent(weakest.value)} of what people {did} ({share_span(weakest)}, widened "
        f"for {2 * len({rate.category for rate in rates})} rates)"
    )


def _as_people(evidence: ScoreEvidence, rate: CategoryRate) -> bool:
    """Whether a left-out person may find as few of that class in that category: with one person
    or gold never, as nothing says so.
    """
    table = evidence.table
    if not table.several or table.category is None:
        return False
    there = table.category == table.categories.index(rate.category)
    level = 1 - 2 * (1 - rate.rate.level)
    gains = gains_on_left_out(table.rows(there), table.passed[there], level)
    gain = None if gains is None else gains[f"{rate.side}_gain"]
    return gain is None or not gain.has_interval or gain.high >= 0


def _low(evidence: ScoreEvidence, limits: Limits) -> tuple[Grade, CategoryRate] | None:
    """The lowest rate that is shown to be too low, or lower than in all other categories."""
    for grade in ("fail", "warn"):
        for rate in evidence[BY_CATEGORY]:
            shown = (
                rate.high < (limits.failure or 0.0)
                if grade == "fail"
                else rate.rate.value < limits.caution and rate.apart < 0
            )
            if shown and not _as_people(evidence, rate):
                return grade, rate
    return None


def _result(check: Check, evidence: ScoreEvidence) -> CheckResult:
    """A rate that is shown to be low fails from four items on; *ok* needs thirty of each."""
    weakest = check.estimate(evidence)
    result = (
        check.unknown(evidence, weakest)
        if isinstance(weakest, Unknown)
        else check.graded(evidence, weakest)
    )
    limits = check.limits_of(evidence)
    low = None if _unfit(evidence) else _low(evidence, limits)
    if low is None:
        if result.grade in ("warn", "fail"):
            return replace(result, grade="unclear", p_value=math.nan)
        return result
    grade, rate = low
    does, did = VERBS[rate.side]
    said = f"In {rate.category} it {does} {_of(rate)} items that people {did}"
    if grade == "fail":
        said += (
            f" (at most {percent(rate.high)}); shown to be below {percent(limits.failure or 0)}."
        )
    else:
        said += f" ({percent(rate.rate.value)}); shown to be less than in the other categories."
    return replace(
        result,
        grade=grade,
        sentence=said,
        applicable=True,
        estimate=Estimate(rate.rate.value, 0.0, rate.high, n=rate.items, level=rate.rate.level),
        needed_items=None,
        more_items=None,
        p_value=math.nan,
    )


def _of(rate: CategoryRate) -> str:
    return f"{number(round(rate.found, 1), 'g')} of {rate.items:,}"


def category_headline(evidence: ScoreEvidence) -> str:
    """ "On refunds it fails 54 % of what people failed (15 of 28)." of the rate that fails."""
    limits = evidence.limits["score_category"]
    low = None if _unfit(evidence) else _low(evidence, limits)
    if low is None or low[0] != "fail":
        return ""
    rate = low[1]
    does, did = VERBS[rate.side]
    named = rate.category if len(rate.category) <= LONGEST_NAME else "one category"
    share = percent(rate.rate.value)
    return f"On {named} it {does} {share} of what people {did} ({_of(rate)})."


def _short(_: ScoreEvidence, __: Estimate, grade: Grade) -> str:
    if grade in ("warn", "fail"):
        return "is weak in one category"
    return "is as good in every category"


LEAST_RIGHT = 0.80
"""TPR and TNR of a judge that decides alone, of all answers and in each category, and what the high
end of one falls below if not.
"""
SCORE_CATEGORY = Check(
    name="score_category",
    title="weakest group",
    subject="The lowest rate of a category",
    question="Does it find passes and fails in every category?",
    page="scores",
    kind="scores",
    limits=Limits(
        "at_least",
        LEAST_RIGHT,
        LEAST_RIGHT,
        "What a judge that decides has to reach, in each category; Bonferroni's for both rates of "
        "all of them.",
        items=30,
    ),
    needs="a column category, and people's pass or fail",
    more_of="that people passed or failed in its weakest category",
    advice="Do not let it decide in its weakest category: give that to a person, and look at the "
    "errors there.",
    estimate=_weakest,
    sentence=_sentence,
    compose=_result,
    asked=_asked,
    short=_short,
    figure="weakest category",
)
