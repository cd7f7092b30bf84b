"""What decides a verdict beside the answers: the order in which they are shown, and their length.

`position_bias` and `flips_by` measure the bias of order, `order_balance` the error of majority
labels from votes of one order, of the other, and of half each, `verbosity` the pull of the longer
answer. docs/methods.md §4.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal

import numpy as np

from .errors import InvalidOption
from .experiments.protocol import chances
from .records import (
    NO_GOLD,
    BoolArray,
    FloatArray,
    IntArray,
    LengthCounts,
    OrderCounts,
    PositionCounts,
    majority,
)
from .stats import intervals
from .stats.estimate import DataFrame, Estimate, Estimates, OneRow, data_frame, flat


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PositionBias(OneRow):
    """Position figures of one judge; None where the votes cannot tell, never 0.

    first, second, tie : votes for the response shown first, shown second, ties (votes with known
        position).
    bias_decided, bias_all : (F - S)/(F + S) and (F - S)/(F + S + T), -1 to 1, positive towards the
        first slot. Confounded with quality where orders are unbalanced; `p_value` is not.
    pairs : runs of a comparison judged in both orders; `flip_rate` of them differ in canonical
        verdict, `hard_flip_rate` are +1 against -1.
    bias_pairs : bias_all of the votes in complete pairs only, so quality cannot pass for it (ours).
    unpaired : votes without a partner in the other order; where there are many, bias_decided and
        bias_all are confounded.
    same_order_disagreement : share of the `same_order_pairs` pairs of repeats in one order that
        differ.
    excess : flip_rate - same_order_disagreement, what order adds to the judge's own noise.
    towards_first, towards_second : comparisons with D > 0 and D < 0; `p_value` compares the two,
        and `direction` is the slot of the larger (None when equal).
    comparisons : all of them; `pair_comparisons` have a complete pair.  level : of every interval.
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

    Intervals are clustered by item (ours): Wilson with a design effect for shares; for the biases
    Wilson at the mean slot score (tie = ½) with the effective n of its own clustered variance;
    linearised t for `excess`.

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
        bias_pairs=_mean_bias(counts.item, 2 * counts.pairs, counts.slot_sum, level),
        unpaired=sum(totals[name] for name in names[:3]) - 2 * totals["pairs"],
        flip_rate=_rate(counts.item, counts.pairs, counts.flips, level),
        hard_flip_rate=_rate(counts.item, counts.pairs, counts.hard_flips, level),
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


def _rate(item: IntArray, n: IntArray, k: IntArray, level: float) -> Estimate | None:
    return intervals.clustered_proportion(item, n, k, level=level) if n.sum() else None


def _rates(counts: PositionCounts, rows: list[BoolArray], k: IntArray, level: float) -> Estimates:
    """Rate of k among the pairs of each group; NaN without a pair."""
    return Estimates.of(
        [
            intervals.clustered_proportion(counts.item[r], counts.pairs[r], k[r], level=level)
            for r in rows
        ]
    )


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
    pairs, repeats = float(counts.pairs.sum()), float(counts.same_order_pairs.sum())
    if not pairs or not repeats:
        return None
    flip, noise = counts.flips.sum() / pairs, counts.same_order_disagreements.sum() / repeats
    # Both rates share items, so their difference is linearised as one.
    influence = (counts.flips - flip * counts.pairs) / pairs
    influence = (
        influence - (counts.same_order_disagreements - noise * counts.same_order_pairs) / repeats
    )
    by_item = np.bincount(intervals.dense_codes(counts.item), influence)
    return intervals.linearised_interval(float(flip - noise), by_item, n=int(pairs), level=level)


def sign_test(k: int, m: int) -> float:
    """Exact two-sided binomial p-value of k against m at ½: twice the smaller tail, at most 1."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(k, m), k + m, 0.5)))


ORDERS = ("ab", "ba", "balanced", "both")
MAX_VOTES = 12
"""More votes than this are not subsampled: the number of ways they can fall grows with their cube.
"""
KEPT = 0.9
"""The number of votes is the largest that this share of the comparisons has in each order."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderBalance:
    """MAE of the majority label by the orders that its votes come from, one entry per order of
    `orders`.

    orders : `ab` only, `ba` only, `balanced` half from each, `both` all of them.  votes : votes per
        label.
    mae : 0 to 2; NaN where it does not apply, its ends also with one item.
    gain : mean of the two single orders minus `balanced`, at equal numbers of votes; positive:
        balance helps. None without a balanced label of the same number of votes; without an
        interval with one item, which says nothing of others. `reason` says so.
    n, items : comparisons used and their items.  left_out : labelled ones with fewer votes in an
        order.
    """

    orders: tuple[str, ...]
    votes: IntArray
    mae: Estimates
    gain: Estimate | None
    reason: str | None
    n: int
    items: int
    left_out: int

    def to_frame(self) -> DataFrame:
        """One row per order."""
        return data_frame({"orders": list(self.orders)} | flat(self, names=("votes", "mae", "n")))


def order_balance(
    counts: OrderCounts, *, votes: int | None = None, level: float = 0.95
) -> OrderBalance | None:
    """MAE of the majority label from n votes of `ab`, n of `ba`, n/2 + n/2, and all 2n.

    The expectation over which of a comparison's votes are drawn (without replacement) is exact, so
    there is no seed. n is `votes`, or the largest even number up to 12 that nine tenths of the
    comparisons have in each order; 1 where they have no two. Comparisons with fewer are left out.
    Intervals over items (ours): `mean_error_interval` for the errors, `mean_interval` for the gain,
    which one label more or less changes by up to 1; items are independent, the four labels of a
    comparison are not, so read differences from `gain`.

    None if no comparison has gold and a vote in both orders. Raises InvalidOption if `votes` is
    neither 1 nor an even number from 2 to 12.
    Source: docs/methods.md §4; exact expectation ours.
    """
    if votes is not None and votes != 1 and (votes < 2 or votes > MAX_VOTES or votes % 2):
        raise InvalidOption(f"votes = {votes}: use 1 or an even number from 2 to {MAX_VOTES}")
    labelled = counts.gold != NO_GOLD
    capacity = np.minimum(counts.ab.sum(axis=1), counts.ba.sum(axis=1))
    usable = labelled & (capacity >= (votes or 1))
    if not usable.any():
        return None
    n = votes or _votes(capacity[usable])
    usable &= capacity >= n
    pattern, row = np.unique(
        np.column_stack([counts.ab, counts.ba, counts.gold])[usable], axis=0, return_inverse=True
    )
    ab, ba, gold = pattern[:, :3], pattern[:, 3:6], pattern[:, 6]
    half = np.full(len(gold), np.nan) if n == 1 else _expected_error_of_both(ab, ba, gold, n // 2)
    both = _expected_error_of_both(ab, ba, gold, n)
    loss = np.stack([_expected_error(ab, gold, n), _expected_error(ba, gold, n), half, both])[
        :, row.reshape(-1)
    ]
    item = counts.item[usable]
    gain = None
    reason: str | None = "one vote in each order cannot be halved; it needs two or more"
    if n > 1:
        change = (loss[0] + loss[1]) / 2 - loss[2]
        gain = intervals.mean_interval(
            item, change, ends=(-1.0, 1.0), within=(-2.0, 2.0), level=level
        )
        reason = (
            None
            if gain.has_interval
            else "all comparisons are of one item, which says nothing of others"
        )
    return OrderBalance(
        orders=ORDERS,
        votes=np.array([n, n, n if n > 1 else 0, 2 * n]),
        mae=Estimates.of([intervals.mean_error_interval(item, one, level=level) for one in loss]),
        gain=gain,
        reason=reason,
        n=int(usable.sum()),
        items=intervals.n_distinct(item),
        left_out=int((labelled & ~usable).sum()),
    )


def _votes(capacity: IntArray) -> int:
    held = int(np.quantile(capacity, 1 - KEPT, method="lower"))
    return min(held - held % 2, MAX_VOTES) or 1


def _ways(votes: IntArray, n: int) -> tuple[IntArray, FloatArray]:
    """Ways that n votes of each row can fall, (ways, 3), and their hypergeometric chances (rows,
    ways).
    """
    ways = np.array([(i, j, n - i - j) for i, j in product(range(n + 1), repeat=2) if i + j <= n])
    return ways, chances(votes, ways)


def _errors(ways: IntArray, gold: IntArray) -> FloatArray:
    """|majority − gold|, (rows, ways)."""
    label = majority(ways[:, 2], ways[:, 1], ways[:, 0])
    return np.asarray(np.abs(label[None] - gold[:, None]), dtype=np.float64)


def _expected_error(votes: IntArray, gold: IntArray, n: int) -> FloatArray:
    ways, chance = _ways(votes, n)
    return np.asarray((chance * _errors(ways, gold)).sum(axis=1))


def _expected_error_of_both(ab: IntArray, ba: IntArray, gold: IntArray, n: int) -> FloatArray:
    """With n votes of each order."""
    ways, chance_ab = _ways(ab, n)
    _, chance_ba = _ways(ba, n)
    sums = ways[:, None] + ways[None]
    error = _errors(sums.reshape(-1, 3), np.array([-1, 0, 1])).reshape(3, len(ways), len(ways))
    found = np.empty(len(gold))
    for k, label in enumerate((-1, 0, 1)):
        rows = gold == label
        found[rows] = ((chance_ab[rows] @ error[k]) * chance_ba[rows]).sum(axis=1)
    return found


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Verbosity(OneRow):
    """How often one judge prefers the longer response, and how often gold does.

    longer_rate : P(longer preferred) among its `n` decided votes on responses of different length.
    judge_rate, gold_rate : the same on comparisons with gold, and gold's own rate there, among the
        `n_gold` votes on comparisons that gold decides; excess : their difference, positive towards
        the longer. None without gold.
    items : with responses of different length.  level : of the intervals.
    """

    n: int
    longer: int
    longer_rate: Estimate
    n_gold: int
    judge_rate: float | None
    gold_rate: float | None
    excess: Estimate | None
    items: int
    level: float


def verbosity(counts: LengthCounts, *, level: float = 0.95) -> Verbosity | None:
    """P(longer preferred) of one judge, minus gold's own rate where there is gold.

    Longer responses are often better, so the rate alone is no bias. On comparisons with gold,
    excess = Σ longer/Σ decided of the judge's votes − the same of gold, which counts once for each
    vote (ours: each side is taken among what it decides, on the same comparisons). The rate's
    interval is Wilson clustered by item; that of the excess is `linearised_interval` (ours).

    None without a decided vote on responses of known, different length. Source: docs/methods.md §4.
    """
    decided = counts.longer + counts.shorter
    n = int(decided.sum())
    if not n:
        return None
    rate = intervals.clustered_proportion(counts.item, decided, counts.longer, level=level)
    known = counts.gold != NO_GOLD
    item, longer, decided = counts.item[known], counts.longer[known], decided[known]
    by_gold = (decided + counts.tie[known]) * (counts.gold[known] != 0)
    gold_longer = by_gold * (counts.gold[known] == 1)
    n_gold = int(by_gold.sum())
    judge_rate = gold_rate = excess = None
    if n_gold and decided.sum():
        judge_rate, gold_rate = (
            float(longer.sum() / decided.sum()),
            float(gold_longer.sum() / n_gold),
        )
        code = intervals.dense_codes(item)
        influence = np.bincount(code, (longer - judge_rate * decided) / decided.sum())
        influence -= np.bincount(code, (gold_longer - gold_rate * by_gold) / n_gold)
        excess = intervals.linearised_interval(
            judge_rate - gold_rate, influence, n=n_gold, level=level
        )
    return Verbosity(
        n=n,
        longer=int(counts.longer.sum()),
        longer_rate=rate,
        n_gold=n_gold,
        judge_rate=judge_rate,
        gold_rate=gold_rate,
        excess=excess,
        items=intervals.n_distinct(counts.item),
        level=level,
    )
