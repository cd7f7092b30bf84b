"""The order in which responses are shown: which slot gains by it, and how many verdicts change.

`position_bias` and `flips_by` measure it on pairs of both orders, `first_slot_gain` where only one
was shown. docs/methods.md §4.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from ...errors import InvalidOption
from ...records import BoolArray, FloatArray, IntArray, OrderCounts, PositionCounts
from ...stats import intervals
from ...stats.estimate import DataFrame, Estimate, Estimates, OneRow, data_frame, flat


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PositionBias(OneRow):
    """Position figures of one judge; None where the votes cannot tell, never 0.

    first, second, tie : votes for the response shown first, shown second, ties (votes with known
        position).
    bias_decided, bias_all : (F - S)/(F + S) and (F - S)/(F + S + T), -1 to 1, positive towards the
        first slot. Confounded with quality where orders are unbalanced; `p_value` is not.
    pairs : runs of a comparison judged in both orders; `flip_rate` of them differ in canonical
        verdict, `hard_flip_rate` are +1 against -1, `half_flip_rate` counts a change to or from a
        tie half.
    bias_pairs : mean slot vote (+1 first, 0 tie, -1 second) within complete pairs, so quality
        cannot pass for it: a judge that is right in both orders adds 0 (ours).
    unpaired : votes without a partner in the other order; where there are many, bias_decided and
        bias_all are confounded.
    same_order_disagreement : share of the `same_order_pairs` pairs of repeats in one order that
        differ.
    excess : share of swapped pairs that differ minus that of same-order repeats, of the items that
        have both: what order adds to the judge's own noise.
    towards_first, towards_second : comparisons with D > 0 and D < 0; `p_value` compares the two,
        and `direction` is the slot of the larger (None when equal).
    comparisons : all of them; `pair_comparisons` have a complete pair.  level : of every interval.

    Raw biases weigh votes alike, as [BTD] prints them; everything else weighs items alike, and its
    n is the items.
    """

    first: int
    second: int
    tie: int
    bias_decided: Estimate | None
    bias_all: Estimate | None
    bias_pairs: Estimate | None
    unpaired: int
    pairs: int
    flips: int
    flip_rate: Estimate | None
    hard_flips: int
    hard_flip_rate: Estimate | None
    half_flip_rate: Estimate | None
    same_order_pairs: int
    same_order_disagreement: Estimate | None
    excess: Estimate | None
    towards_first: int
    towards_second: int
    p_value: float | None
    direction: Literal["first", "second"] | None
    comparisons: int
    pair_comparisons: int
    level: float

    @property
    def unknown(self) -> dict[str, str]:
        """What the votes cannot tell → why."""
        reasons = {
            "bias of decided votes": (
                self.bias_decided,
                "all its votes with a known position are ties",
            ),
            "flip rates and p-value": (
                self.flip_rate,
                "no comparison was judged in both orders of one run",
            ),
            "same-order disagreement": (
                self.same_order_disagreement,
                "no comparison was judged twice in the same order",
            ),
        }
        return {what: why for what, (found, why) in reasons.items() if found is None}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FlipTable:
    """Flips of one judge by category or by margin, one row per group, in the order of `groups`.

    `rate` and `hard_rate`, of the pairs, are NaN for a group without any.  `low_edge`, `high_edge`:
    ends of the margin bins, NaN by category and for comparisons that no other judge voted on.
    """

    by: Literal["category", "margin"]
    groups: tuple[str, ...]
    low_edge: FloatArray
    high_edge: FloatArray
    comparisons: IntArray
    pairs: IntArray
    flips: IntArray
    rate: Estimates
    hard_flips: IntArray
    hard_rate: Estimates

    def to_frame(self) -> DataFrame:
        """One row per group."""
        return data_frame({self.by: list(self.groups)} | flat(self, without=("by", "groups")))


def position_bias(counts: PositionCounts, *, level: float = 0.95) -> PositionBias:
    """How much the shown order moves one judge's votes.

    bias_decided = (F - S)/(F + S), bias_all = (F - S)/(F + S + T). [BTD] prints the first formula,
    but its column with ties allowed is the second; both are given.

    The test (ours) uses only comparisons with complete pairs: D = sum of slot votes over the pairs,
    and the two-sided exact binomial of #{D > 0} against #{D < 0} at ½. A judge that is right in
    both orders has D = 0 whichever slot gold sat in, so quality cannot pass for bias. It counts
    comparisons; several comparisons of one item are treated as independent, so with many per item p
    is too small where the bias varies by item.

    Intervals are by item (ours): `wilson_by_item` for shares, `mean_interval` for `bias_pairs` and
    `excess`; for the raw biases Wilson at the mean slot score (tie = ½) with the effective n of its
    own clustered variance.

    No vote: every rate is None. No pair: flips, excess and test are. Pairs, but none with D ≠ 0:
    p_value is 1.

    Source: [BTD] Table 1; docs/methods.md §4.

    A judge that prefers the response shown first in both orders of two of three comparisons:

    >>> one, none = np.ones(3, dtype=np.int64), np.zeros(3, dtype=np.int64)
    >>> counts = PositionCounts(
    ...     comparison=np.arange(3),
    ...     item=np.arange(3),
    ...     category=none,
    ...     categories=("",),
    ...     first=np.array([2, 2, 1]),
    ...     second=np.array([0, 0, 1]),
    ...     tie=none,
    ...     pairs=one,
    ...     flips=np.array([1, 1, 0]),
    ...     hard_flips=np.array([1, 1, 0]),
    ...     slot_sum=np.array([2, 2, 0]),
    ...     same_order_pairs=none,
    ...     same_order_disagreements=none,
    ...     margin=np.full(3, np.nan),
    ... )
    >>> found = position_bias(counts)
    >>> round(found.flip_rate.value, 3), round(found.bias_pairs.value, 3), found.p_value
    (0.667, 0.667, 0.5)
    """
    names = ("first", "second", "tie", "pairs", "flips", "hard_flips", "same_order_pairs")
    totals = {name: int(getattr(counts, name).sum()) for name in names}
    slots = counts.first - counts.second
    has_pairs = counts.pairs > 0
    towards_first = int((counts.slot_sum[has_pairs] > 0).sum())
    towards_second = int((counts.slot_sum[has_pairs] < 0).sum())
    difference = towards_first - towards_second
    return PositionBias(
        **totals,
        bias_decided=_mean_bias(counts.item, counts.first + counts.second, slots, level),
        bias_all=_mean_bias(counts.item, counts.first + counts.second + counts.tie, slots, level),
        bias_pairs=_pair_bias(counts, level),
        unpaired=sum(totals[name] for name in names[:3]) - 2 * totals["pairs"],
        flip_rate=_rate(counts.item, counts.pairs, counts.flips, level),
        hard_flip_rate=_rate(counts.item, counts.pairs, counts.hard_flips, level),
        half_flip_rate=_rate(
            counts.item, counts.pairs, (counts.flips + counts.hard_flips) / 2, level
        ),
        same_order_disagreement=_rate(
            counts.item, counts.same_order_pairs, counts.same_order_disagreements, level
        ),
        excess=_excess(counts, level),
        towards_first=towards_first,
        towards_second=towards_second,
        p_value=sign_test(towards_first, towards_second) if totals["pairs"] else None,
        direction=None if difference == 0 else "first" if difference > 0 else "second",
        comparisons=len(counts),
        pair_comparisons=int(has_pairs.sum()),
        level=level,
    )


LEAST_IN_BOTH_ORDERS = 20


def in_other_terms(position: PositionBias) -> bool:
    """Whether more verdicts reverse with the order than noise and a favoured place can explain.

    Of a judge that chooses the first place with probability (1 + b)/2, whatever it is asked, (1 +
    b²)/2 of the pairs reverse, and of one that does so on some pairs alone at most as many. So
    where the low end of the reversals is above that at the far end of b, on 20 items or more, the
    votes probably say which place won where they were read as saying which answer, or the reverse.
    Source: ours.
    """
    reversed_, lean = position.hard_flip_rate, position.bias_pairs
    if reversed_ is None or lean is None or reversed_.n < LEAST_IN_BOTH_ORDERS:
        return False
    if not (reversed_.has_interval and lean.has_interval):
        return False
    most = max(abs(lean.low), abs(lean.high))
    return reversed_.low > (1 + most**2) / 2


def flips_by(
    counts: PositionCounts, by: Literal["category", "margin"], *, bins: int = 5, level: float = 0.95
) -> FlipTable:
    """Flip rates within each category, or by how decided the other judges are.

    The margin of a comparison is |mean vote of all other judges|, 0 to 1, cut into `bins` equal
    bins (lo, hi], 0 in the first; comparisons without another judge form a last group of their own.
    Groups without a pair stay in the table with NaN rates. Intervals are clustered by item (ours).

    Raises InvalidOption if `by` is neither of the two or `bins` is below 1. Source: docs/methods.md
    §4.
    """
    if bins < 1:
        raise InvalidOption(f"bins = {bins}: needs at least 1")
    if by == "category":
        names, code = counts.categories, counts.category
        edges = np.full(len(names) + 1, np.nan)
    elif by == "margin":
        edges, code = np.arange(bins + 1) / bins, margin_group(counts, bins=bins)
        names = tuple(f"{low:g}–{high:g}" for low, high in pairwise(edges))
        if (code == bins).any():
            names, edges = (*names, "no other judge"), np.append(edges, np.nan)
    else:
        raise InvalidOption(f"by = {by!r}: must be 'category' or 'margin'")
    has_edges = ~np.isnan(edges[1:])
    rows = [code == group for group in range(len(names))]

    def total(values: IntArray) -> IntArray:
        return np.array([values[row].sum() for row in rows], dtype=np.int64)

    return FlipTable(
        by=by,
        groups=names,
        low_edge=np.where(has_edges, edges[:-1], np.nan),
        high_edge=edges[1:],
        comparisons=np.array([row.sum() for row in rows], dtype=np.int64),
        pairs=total(counts.pairs),
        flips=total(counts.flips),
        rate=_rates(counts, rows, counts.flips, level),
        hard_flips=total(counts.hard_flips),
        hard_rate=_rates(counts, rows, counts.hard_flips, level),
    )


def margin_group(counts: PositionCounts, *, bins: int = 5) -> IntArray:
    """Group of each comparison in `flips_by(counts, "margin")`; `bins` where no other
    judge voted.
    """
    unknown = np.isnan(counts.margin)
    # Edges compared with a tolerance: a mean vote of 0.6 may be 0.6000000000000001.
    code = (
        np.clip(np.ceil(np.where(unknown, 0, counts.margin) * bins - 1e-9), 1, bins).astype(
            np.int64
        )
        - 1
    )
    return np.where(unknown, bins, code)


def _rate(item: IntArray, n: IntArray, k: IntArray | FloatArray, level: float) -> Estimate | None:
    """Mean over items of k/n; None without any n."""
    has = n > 0
    if not has.any():
        return None
    half_credit = k.dtype.kind == "f"
    return intervals.wilson_by_item(item[has], n[has], k[has], half_credit=half_credit, level=level)


def _rates(counts: PositionCounts, rows: list[BoolArray], k: IntArray, level: float) -> Estimates:
    """Rate of k among the pairs of each group; NaN without a pair."""
    nothing = Estimate(float("nan"), level=level)
    return Estimates.of(
        [_rate(counts.item[r], counts.pairs[r], k[r], level) or nothing for r in rows]
    )


def _pair_bias(counts: PositionCounts, level: float) -> Estimate | None:
    """Mean over items of Σ(slot votes)/(2·pairs)."""
    has = counts.pairs > 0
    if not has.any():
        return None
    pairs = counts.pairs[has]
    means = intervals.item_means(counts.item[has], counts.slot_sum[has] / (2 * pairs), pairs)
    return intervals.mean_interval(np.arange(len(means)), means, ends=(-1.0, 1.0), level=level)


def _mean_bias(item: IntArray, votes: IntArray, slots: IntArray, level: float) -> Estimate | None:
    """Mean slot vote Σslots/Σvotes, its interval by Wilson on the mean slot score in [0, 1], a tie
    being ½.

    Ties leave less variance than the binomial, items more: the effective n takes the variance
    observed between items, with ¼ added to the binomial one and ¼ of Kish's effect to it, so that a
    judge that only ties, or always takes one slot, does not look infinitely sure.
    """
    code = intervals.dense_codes(item)
    n, x = np.bincount(code, votes), np.bincount(code, (votes + slots) / 2)
    total = float(n.sum())
    if total == 0:
        return None
    items, score = int((n > 0).sum()), float(x.sum()) / total
    if items > 1:
        clustered = items / (items - 1) * float(((x - score * n) ** 2).sum())
        deff = (clustered + 0.25 * intervals.kish_effect(n)) / (total * score * (1 - score) + 0.25)
    else:
        deff = total
    low, high = (
        2 * float(end) - 1 for end in intervals.wilson(score * total, total, level=level, deff=deff)
    )
    bias = int(slots.sum()) / int(total)
    # Rounding must not push an end past the estimate.
    return Estimate(bias, min(low, bias), max(high, bias), n=int(total), level=level, deff=deff)


def _excess(counts: PositionCounts, level: float) -> Estimate | None:
    """Share of swapped pairs that differ minus that of same-order repeats, by item; None without an
    item that has both.
    """
    has_pairs, has_repeats = counts.pairs > 0, counts.same_order_pairs > 0
    size = int(counts.item.max(initial=-1)) + 1
    has_both = np.logical_and(
        *(np.bincount(counts.item[has], minlength=size) > 0 for has in (has_pairs, has_repeats))
    )
    if not has_both.any():
        return None
    swapped, repeated = (has & has_both[counts.item] for has in (has_pairs, has_repeats))
    with np.errstate(invalid="ignore", divide="ignore"):
        flips = counts.flips / counts.pairs
        noise = counts.same_order_disagreements / counts.same_order_pairs
    excess = intervals.item_means(counts.item[swapped], flips[swapped], counts.pairs[swapped])
    excess -= intervals.item_means(
        counts.item[repeated], noise[repeated], counts.same_order_pairs[repeated]
    )
    return intervals.mean_interval(np.arange(len(excess)), excess, ends=(-1.0, 1.0), level=level)


LEAST_IN_SLOT = 10
"""Fewer items than this with gold in either slot: nothing is said of one order alone."""


def first_slot_gain(counts: OrderCounts, *, level: float = 0.95) -> Estimate | None:
    """What being shown first gains where each comparison was shown in one order only, −1 to 1.

    ½·(share right where gold was shown first − share right where it was shown second), a tie
    half: 0 for a judge that errs alike in both slots, ½ for one that always takes the first. An
    honest difference in difficulty between the slots looks the same, so it never fails a judge.

    Items weigh alike within each slot. t interval with the degrees of freedom of the smaller slot,
    a right and a wrong item added to either. None where a comparison was shown in both orders, or
    with fewer than 10 items of decided gold in either slot. Source: ours, docs/methods.md §4.
    """
    first_is_a, first_is_b = counts.ab.sum(axis=1) > 0, counts.ba.sum(axis=1) > 0
    if (first_is_a & first_is_b).any():
        return None
    votes = counts.ab + counts.ba
    decided = np.isin(counts.gold, (-1, 1)) & (votes.sum(axis=1) > 0)
    votes, gold, item = votes[decided], counts.gold[decided], counts.item[decided]
    right = np.where(gold == 1, votes[:, 2], votes[:, 0]) + votes[:, 1] / 2
    gold_first = np.where(first_is_a[decided], gold == 1, gold == -1)
    credit = right / votes.sum(axis=1)
    sides = [intervals.item_means(item[rows], credit[rows]) for rows in (gold_first, ~gold_first)]
    if min(len(side) for side in sides) < LEAST_IN_SLOT:
        return None
    return intervals.weighed_sides(sides[0], sides[1], (0.5, -0.5), level=level)


MOSTLY_FIRST = 0.80
"""A model that is shown first in more than this share of its comparisons may explain a slot."""


def mostly_first(orders: OrderCounts, models: IntArray) -> bool:
    """Whether some model was shown first in more than .80 of its comparisons, or models have no
    names.

    models : (comparison codes, 2) ids of the two models that meet, −1 if unknown.
    """
    pair = models[orders.comparison]
    if (pair < 0).any():
        return True
    a_first = orders.ab.sum(axis=1) > 0
    first = np.bincount(np.where(a_first, pair[:, 0], pair[:, 1]), minlength=int(pair.max()) + 1)
    shown = np.bincount(pair.reshape(-1), minlength=len(first))
    often = shown >= LEAST_IN_SLOT
    return bool((first[often] > MOSTLY_FIRST * shown[often]).any())


def sign_test(k: int, m: int) -> float:
    """Exact two-sided binomial p-value of k against m at ½: twice the smaller tail, at most 1."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(k, m), k + m, 0.5)))
