"""What each check of `rules.LIMITS` estimates: counts of one judge in, one estimate by item out.

Items weigh alike, whatever their votes: an item is what is independent, and a rate over votes would
let the few items with most votes decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..agreement.judge_vs_human import judge_against_people as judge_against_people
from ..agreement.judge_vs_human import people_agreement as people_agreement
from ..agreement.reliability import Repeatability
from ..confidence.calibration_error import by_chance, calibration, ece_interval, noise_floor
from ..confidence.selective import auroc
from ..errors import NoUsableVotes
from ..records import NO_GOLD, OutcomeCounts, VoteCounts, majority
from ..stats.binning import usable
from ..stats.estimate import Estimate
from ..stats.intervals import dense_codes, item_means, mean_interval, wilson_by_item

if TYPE_CHECKING:
    from ..confidence.calibration_error import Calibration, NoiseFloor
    from ..records import FloatArray, IntArray, LengthCounts, PositionCounts


def direction(counts: VoteCounts, *, level: float = 0.95) -> Estimate | None:
    """Half credit on decided gold: right 1, tie ½, opposite 0; the interval is `wilson_by_item`.

    A coin, and a judge that always ties, get ½. None without a comparison whose gold is decided.
    """
    decided = counts.rows((counts.gold == 1) | (counts.gold == -1))
    if not len(decided):
        return None
    right = np.where(decided.gold == 1, decided.plus, decided.minus) + decided.tie / 2
    n = decided.plus + decided.tie + decided.minus
    return wilson_by_item(decided.item, n, right, half_credit=True, level=level)


def tie_gap(counts: VoteCounts, *, level: float = 0.95) -> Estimate | None:
    """Share of ties of the judge minus that of gold on the same comparisons, −1 to 1; None without
    gold.
    """
    labelled = counts.labelled()
    if not len(labelled):
        return None
    n = labelled.plus + labelled.tie + labelled.minus
    return _item_mean(labelled.item, labelled.tie / n - (labelled.gold == 0), n, level)


def position_lean(counts: PositionCounts, *, level: float = 0.95) -> Estimate | None:
    """Mean slot vote within complete pairs, Σ(slot votes)/(2·pairs): −1 to 1, above 0 towards the
    first slot.

    Quality cannot pass for it: a judge that is right in both orders adds 0. None without a pair.
    """
    has = counts.pairs > 0
    if not has.any():
        return None
    pairs = counts.pairs[has]
    return _item_mean(counts.item[has], counts.slot_sum[has] / (2 * pairs), pairs, level)


def hard_flips(counts: PositionCounts, *, level: float = 0.95) -> Estimate | None:
    """Share of pairs of swapped orders with opposite verdicts; None without a pair."""
    has = counts.pairs > 0
    if not has.any():
        return None
    return wilson_by_item(counts.item[has], counts.pairs[has], counts.hard_flips[has], level=level)


def flip_excess(counts: PositionCounts, *, level: float = 0.95) -> Estimate | None:
    """Share of swapped pairs that differ minus that of same-order repeats, of items that have both.

    None without such an item.
    """
    has_pairs, has_repeats = counts.pairs > 0, counts.same_order_pairs > 0
    size = int(counts.item.max(initial=-1)) + 1
    both = np.logical_and(
        *(np.bincount(counts.item[has], minlength=size) > 0 for has in (has_pairs, has_repeats))
    )
    if not both.any():
        return None
    swapped, repeated = (has & both[counts.item] for has in (has_pairs, has_repeats))
    with np.errstate(invalid="ignore", divide="ignore"):
        flips = counts.flips / counts.pairs
        noise = counts.same_order_disagreements / counts.same_order_pairs
    excess = item_means(counts.item[swapped], flips[swapped], counts.pairs[swapped])
    excess -= item_means(counts.item[repeated], noise[repeated], counts.same_order_pairs[repeated])
    return mean_interval(np.arange(len(excess)), excess, ends=(-1.0, 1.0), level=level)


def confidence_gap(outcomes: OutcomeCounts, *, level: float = 0.95) -> Estimate | None:
    """Mean stated confidence minus the share right, −1 to 1, above 0 overconfident; None without
    any.

    The two added items are a wrong and a right verdict at the mean confidence c̄: gaps of c̄ and c̄
    − 1.
    """
    try:
        known = usable(outcomes)
    except NoUsableVotes:
        return None
    stated = float(item_means(known.item, known.confidence, known.n).mean())
    gap = known.confidence - known.correct / known.n
    return _item_mean(known.item, gap, known.n, level, ends=(stated - 1.0, stated))


def expected_calibration_error(
    outcomes: OutcomeCounts,
    *,
    rng: np.random.Generator,
    bins: int = 10,
    level: float = 0.95,
    draws: int = 1000,
    measured: tuple[Calibration, NoiseFloor] | None = None,
) -> tuple[Estimate, float] | None:
    """ECE with its interval by item, n the items, and what noise alone shows in 97.5 % of draws.

    measured : both of the same outcomes, bins and level, where they are known already.
    None without a verdict that has a confidence and gold.
    """
    known = outcomes.with_confidence()
    if not known.n.sum():
        return None
    if measured is None:
        found = calibration(known, bins=bins, level=level)
        # A generator of its own, so that the floor is that of the tables, where nothing was drawn
        # before it.
        own = deepcopy(rng)
        floor = noise_floor(
            known, rng=own, bins=bins, level=level, draws=draws, diagram=found.reliability
        )
    else:
        found, floor = measured
    interval = ece_interval(known, rng=rng, bins=bins, level=level, iterations=draws)
    return replace(interval, value=found.ece, n=found.items), by_chance(floor)


def discrimination(outcomes: OutcomeCounts, *, level: float = 0.95) -> Estimate | None:
    """AUROC of confidence for right against wrong verdicts; None without a confidence."""
    known = outcomes.with_confidence()
    return auroc(known, level=level) if known.n.sum() else None


def repeatability(found: Repeatability | None) -> Estimate | None:
    """ICC(3,k) with its jackknife interval, n the items; None where it is undefined."""
    if found is None or found.icc_3_k is None:
        return None
    if found.icc_3_k.value == 1.0:
        return Estimate(1.0, 1.0, 1.0, n=found.n_items, level=found.level)
    return replace(found.icc_3_k, n=found.n_items)


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
    """Mean of comparisons in which those of stratum 1 and of stratum −1 weigh alike, by item."""
    sizes = {s: len(np.unique(item[stratum == s])) for s in (-1, 0, 1)}
    if min(sizes[1], sizes[-1]) < 2:
        return None
    tied = float((stratum == 0).mean())
    share = {0: tied, 1: (1 - tied) / 2, -1: (1 - tied) / 2}
    code = dense_codes(item)
    rows_of_item = np.bincount(code)
    centre = 0.0
    pull = np.zeros(len(rows_of_item))
    for s, wanted in share.items():
        rows = stratum == s
        if rows.any():
            weight = 1 / rows_of_item[code[rows]]
            mean = float(weight @ value[rows] / weight.sum())
            centre += wanted * mean
            pull += np.bincount(
                code[rows],
                wanted * weight * (value[rows] - mean) / weight.sum(),
                minlength=len(pull),
            )
    items = len(pull)
    # The mean of items · pull is 0 and its interval that of the balanced mean, two added items
    # included.
    spread = mean_interval(
        np.arange(items), items * pull, ends=(-1.0, 1.0), within=(-2.0, 2.0), level=level
    )
    low, high = max(centre + spread.low, -1.0), min(centre + spread.high, 1.0)
    return Estimate(centre, low, high, n=items, level=level)


def length_preference(
    counts: LengthCounts, *, balanced: bool = False, level: float = 0.95
) -> Estimate | None:
    """`side_preference` for the longer response, on responses of known, different length."""
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


def majority_label(judges: Sequence[VoteCounts], votes: VoteCounts) -> IntArray:
    """Label of the votes of several judges together, in the rows of `votes`; NO_GOLD where there is
    none.
    """
    size = 1 + max((int(one.comparison.max(initial=-1)) for one in (*judges, votes)), default=-1)
    total = np.zeros((3, size), dtype=np.int64)
    for one in judges:
        total[:, one.comparison] += one.plus, one.tie, one.minus
    label = np.where(total.sum(axis=0) > 0, majority(*total), NO_GOLD)
    return label[votes.comparison]


def missing_outputs(
    item: IntArray, outputs: IntArray, missing: IntArray, *, level: float = 0.95
) -> Estimate:
    """Share of outputs without a verdict, by item."""
    return wilson_by_item(item, outputs, missing, level=level)


def _item_mean(
    item: IntArray,
    value: FloatArray,
    n: IntArray | FloatArray,
    level: float,
    *,
    ends: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:
    means = item_means(item, value, n)
    return mean_interval(np.arange(len(means)), means, ends=ends, within=(-1.0, 1.0), level=level)
