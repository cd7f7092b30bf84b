"""What a judge prefers beside the better answer: the longer one, or one of its own family."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...records import NO_GOLD, FloatArray, IntArray, LengthCounts, VoteCounts, kept_rows, majority
from ...stats import intervals
from ...stats.estimate import Estimate, OneRow


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Verbosity(OneRow):
    """How often one judge prefers the longer response, and how often gold does.

    longer_rate : P(longer preferred) among its `n` decided votes on responses of different length.
    judge_rate, gold_rate : the same on comparisons with gold, and gold's own rate there, among the
        `n_gold` votes on comparisons that gold decides. None without gold.
    beyond_gold : `length_preference`, balanced. None where gold nearly always prefers one side.
    items : with responses of different length.  level : of the intervals.
    """

    n: int
    longer: int
    longer_rate: Estimate
    n_gold: int
    judge_rate: float | None
    gold_rate: float | None
    beyond_gold: Estimate | None
    items: int
    level: float


def verbosity(counts: LengthCounts, *, level: float = 0.95) -> Verbosity | None:
    """P(longer preferred) of one judge, beside gold's own rate where there is gold.

    Longer responses are often better, so the rate alone is no bias; `beyond_gold` is. Rates are
    means over items; that of the judge has the interval `wilson_by_item`.

    None without a decided vote on responses of known, different length. Source: docs/methods.md §4.
    """
    decided = counts.longer + counts.shorter
    n = int(decided.sum())
    if not n:
        return None
    rate = intervals.wilson_by_item(
        counts.item[decided > 0], decided[decided > 0], counts.longer[decided > 0], level=level
    )
    labelled = counts.gold != NO_GOLD
    of_gold = labelled & (counts.gold != 0)
    judged = labelled & (decided > 0)
    judge_rate = gold_rate = None
    if of_gold.any() and judged.any():
        share = counts.longer[judged] / decided[judged]
        judge_rate = float(intervals.item_means(counts.item[judged], share, decided[judged]).mean())
        gold_rate = float(
            intervals.item_means(counts.item[of_gold], counts.gold[of_gold] == 1).mean()
        )
    return Verbosity(
        n=n,
        longer=int(counts.longer.sum()),
        longer_rate=rate,
        n_gold=int((decided + counts.tie)[of_gold].sum()),
        judge_rate=judge_rate,
        gold_rate=gold_rate,
        beyond_gold=length_preference(counts, balanced=True, level=level),
        items=intervals.n_distinct(counts.item),
        level=level,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFamily:
    """Preference of a judge for models of its own family.

    against : what it is compared with, gold or the majority of the judges of other families.
    met : comparisons on which exactly one response is of the family.  difference : beyond the
        reference, balanced; None where that nearly always prefers one side.
    """

    against: Literal["gold", "judges"]
    met: int
    difference: Estimate | None


def own_family(
    votes: VoteCounts, side: IntArray, others: Sequence[VoteCounts], *, level: float = 0.95
) -> OwnFamily:
    """`side_preference`, balanced, for responses of its own family: against gold where there is
    any, else against the majority of `others`.

    side : (rows,) +1 where response A is of the family and B is not, −1 the other way, else 0.
    """
    against: Literal["gold", "judges"] = "gold"
    if not (votes.gold[side != 0] != NO_GOLD).any():
        votes, against = replace(votes, gold=majority_label(others, votes)), "judges"
    return OwnFamily(
        against=against,
        met=int((side != 0).sum()),
        difference=side_preference(votes, side, balanced=True, level=level),
    )


def side_preference(
    counts: VoteCounts, side: IntArray, *, balanced: bool = False, level: float = 0.95
) -> Estimate | None:
    """Preference for one side beyond gold's: P(that side), a tie worth ½, minus that of gold; −1 to
    1.

    Mean over items of s = (1 + side·vote)/2 − (1 + side·gold)/2. A judge that merely errs prefers
    the side that gold mostly rejects, since errors pull towards ½. `balanced` takes that out: items
    whose gold is for the side weigh as much as those whose gold is against it, ½(m₊ + m₋)·(1 −
    share of gold ties) + m₀·share.

    Parameters
    ----------
    side : (rows,) +1 where response A is on the side (is longer, of the own family), −1 where B is,
        else 0.

    None without gold on a comparison with a side; `balanced`, also with fewer than 2 items for or
    against.
    """
    used = (counts.gold != NO_GOLD) & (side != 0)
    if not used.any():
        return None
    kept, towards = counts.rows(used), side[used]
    n = kept.plus + kept.tie + kept.minus
    beyond = towards * ((kept.plus - kept.minus) / n - kept.gold) / 2
    if not balanced:
        return _item_mean(kept.item, beyond, n, level)
    return _balanced_mean(kept.item, beyond, n, towards * kept.gold, level)


def _balanced_mean(
    item: IntArray, value: FloatArray, n: IntArray, stratum: IntArray, level: float
) -> Estimate | None:
    """Mean of comparisons in which those of stratum 1 and of stratum −1 weigh alike, by item.

    t has the degrees of freedom of a mean of strata whose values vary alike, (Σvₛ)²/Σvₛ²/(nₛ − 1)
    with vₛ = wₛ²/nₛ: where gold prefers one side on three of ten items, those three decide.
    Source: Welch (1947) and Satterthwaite (1946), at equal variances (ours).
    """
    sizes = {s: len(np.unique(item[stratum == s])) for s in (-1, 0, 1)}
    if min(sizes[1], sizes[-1]) < 2:
        return None
    tied = float((stratum == 0).mean())
    share = {0: tied, 1: (1 - tied) / 2, -1: (1 - tied) / 2}
    code = intervals.dense_codes(item)
    rows_of_item = np.bincount(code)
    centre = 0.0
    pull = np.zeros(len(rows_of_item))
    for s, wanted in share.items():
        rows = stratum == s
        if rows.any():
            weight = 1 / rows_of_item[code[rows]]
            mean = float(weight @ value[rows] / weight.sum())
            centre += wanted * mean
            # A mean of few items is nearer to them than to the truth: n/(n − 1) of its variance.
            wider = math.sqrt(sizes[s] / max(sizes[s] - 1, 1))
            pull += np.bincount(
                code[rows],
                wider * wanted * weight * (value[rows] - mean) / weight.sum(),
                minlength=len(pull),
            )
    items = len(pull)
    # The mean of items · pull is 0 and its interval that of the balanced mean, two added items
    # included. They weigh as those of the stratum with the fewest items, where errors that were
    # not seen yet move the mean most.
    end = items * max(share[side] / sizes[side] for side in (-1, 1))
    spread = intervals.mean_interval(
        np.arange(items),
        items * pull,
        ends=(-end, end),
        within=(-2.0 * end, 2.0 * end),
        level=level,
    )
    shares = [(wanted**2 / sizes[s], sizes[s]) for s, wanted in share.items() if sizes[s] > 1]
    df = sum(part for part, _ in shares) ** 2 / sum(part**2 / (n - 1) for part, n in shares)
    wider = float(intervals.t_quantiles(min(df, items - 1), level))
    wider /= intervals.t_quantile(items - 1, level)
    low, high = max(centre + wider * spread.low, -1.0), min(centre + wider * spread.high, 1.0)
    return Estimate(centre, low, high, n=items, level=level)


def length_preference(
    counts: LengthCounts, *, balanced: bool = False, level: float = 0.95
) -> Estimate | None:
    """`side_preference` for the longer response, on responses of known, different length."""
    voted = counts.longer + counts.shorter + counts.tie > 0
    counts = LengthCounts(**kept_rows(counts, voted))
    votes = VoteCounts(
        comparison=counts.comparison,
        item=counts.item,
        plus=counts.longer,
        tie=counts.tie,
        minus=counts.shorter,
        gold=counts.gold,
    )
    return side_preference(
        votes, np.ones(len(votes), dtype=np.int64), balanced=balanced, level=level
    )


def _item_mean(
    item: IntArray, value: FloatArray, n: IntArray | FloatArray, level: float
) -> Estimate:
    means = intervals.item_means(item, value, n)
    return intervals.mean_interval(np.arange(len(means)), means, ends=(-1.0, 1.0), level=level)


def majority_label(judges: Sequence[VoteCounts], votes: VoteCounts) -> IntArray:
    """Label of the votes of several judges together, in the rows of `votes`; NO_GOLD where there is
    none.
    """
    size = 1 + max(
        (int(counts.comparison.max(initial=-1)) for counts in (*judges, votes)), default=-1
    )
    total = np.zeros((3, size), dtype=np.int64)
    for counts in judges:
        total[:, counts.comparison] += counts.plus, counts.tie, counts.minus
    label = np.where(total.sum(axis=0) > 0, majority(*total), NO_GOLD)
    return label[votes.comparison]
