"""Listwise permutation consensus: a judge ranks the same candidates in K orders, and the orders are
pooled.

A run of an item shows all its candidates in one order. Values of a run are put in a matrix, one row
per (item, candidate), one column per run, so that any subset of orders is one matrix product.
Source: [PCF] §3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from ...errors import InvalidOption, NoUsableVotes
from ...records import BoolArray, FloatArray, IntArray, InvalidCounts, ListRankings
from ...stats.estimate import DataFrame, Estimate, data_frame, flat, rows_frame
from ...stats.intervals import dense_codes, mean_interval, wilson
from ..order.method import sign_test

COMPONENTS = ("score", "borda", "top", "uncertainty")
FAULTS = ("major_error", "unsupported")
"""Faults that a judge may flag in a candidate: a false statement that matters, details without
support.
"""
TOLERANCE = 1e-9
"""Consensus scores this close are equal: sums of the same numbers in another order differ by less.
"""
SAME_SLOT = 0.8
"""If the best stands in one slot of the first order on more items than this, that order is no fair
test.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights of the four parts of the consensus score; they are divided by their sum. Source:
    [PCF] §3.
    """

    score: float = 0.50
    borda: float = 0.25
    top: float = 0.20
    uncertainty: float = 0.05

    def __post_init__(self) -> None:
        for name, weight in asdict(self).items():
            if not (np.isfinite(weight) and weight >= 0):
                raise InvalidOption(f"Weight {name} = {weight}: weights are 0 or more.")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Blocks:
    """Rankings laid out by entry, an (item, candidate), and by run within the item, in order of run
    number.

    item, category, candidate, best : of each entry; entries are sorted by item.  start : first
        entry of each
    item.  shown : (entries, runs), the run exists.  slot : (entries, runs), -1 where it does not.
    values : by component that every run has, (entries, runs) on 0 to 100, 0 where the run does not
        exist.
    top : (entries, runs), share of a run's first place that the candidate has: 1/(number in the
        run's top set) or 0.
    flags : by flag of a fault that every run has (`FAULTS`), (entries, runs), 0 or 1.
    """

    item: IntArray
    category: IntArray
    categories: tuple[str, ...]
    candidate: IntArray
    candidates: tuple[str, ...]
    best: IntArray
    start: IntArray
    shown: BoolArray
    slot: IntArray
    values: dict[str, FloatArray]
    flags: dict[str, FloatArray]

    @property
    def top(self) -> FloatArray:
        return self.values["top"] / 100

    def labelled(self) -> BoolArray:
        """Items whose best candidate is known, or NoUsableVotes without any."""
        known = np.logical_and.reduceat(self.best >= 0, self.start)
        known &= np.maximum.reduceat(self.best, self.start) == 1
        if not known.any():
            raise NoUsableVotes(
                "No item says which candidate is best (column is_best), so accuracy is unknown."
            )
        return np.asarray(known)

    @property
    def sizes(self) -> IntArray:
        """Candidates of each item."""
        return np.diff(np.append(self.start, len(self.item)))

    @property
    def of_entry(self) -> IntArray:
        """Place of each entry's item, 0 … items − 1."""
        return np.repeat(np.arange(len(self.start)), self.sizes)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Consensus:
    """Consensus score of each candidate of each item, and whether it wins; one row per (item,
    candidate).

    score : s̄, 0 to 100, NaN if the runs gave none.  borda : B, 0 to 100, NaN likewise.  top : v, 0
        to 1.
    uncertainty : u, 0 to 1, NaN likewise.  consensus : 0 to 100.  best : 1, 0, or -1 if unknown.
    weights : as used, summing to 1; a part that some run lacks has weight 0 and is named in
        `missing`.
    """

    item: IntArray
    candidate: tuple[str, ...]
    runs: IntArray
    score: FloatArray
    borda: FloatArray
    top: FloatArray
    uncertainty: FloatArray
    consensus: FloatArray
    winner: BoolArray
    best: IntArray
    weights: Weights
    missing: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """One row per (item, candidate)."""
        return data_frame(flat(self, without=("weights", "missing")))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Improvement:
    """Consensus of all orders against the direct judgement, run 1, on the items whose best is
    known.

    An item is worth the share of its winners that are best: 1/|winners| when the one best is among
    them.
    single : any one order alone, mean over the orders of an item and then over items (ours).
    gain : consensus minus single, paired by item; no interval with one item.
    improved, regressed : items worth more, or less, by consensus than by the direct judgement.
    p_value : exact two-sided sign test of those.
    direct_set, consensus_set : mean number of winners.  chance : worth of a blind choice.
    first_slot, first_share : the slot, from 0, in which the best stands most often in run 1, and on
        which
    share of the items: near 1, `direct` measures a preference for that slot as much as the judge
    (ours).
    """

    category: str
    n: int
    direct: Estimate
    single: Estimate
    consensus: Estimate
    gain: Estimate
    improved: int
    regressed: int
    p_value: float
    direct_set: float
    consensus_set: float
    chance: float
    first_slot: int
    first_share: float

    @property
    def first_order_is_special(self) -> bool:
        """Whether the best stands in one slot of most first orders, which then test the slot."""
        return self.first_share > SAME_SLOT and self.chance < SAME_SLOT


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Improvements:
    """`overall`, each category, and the unweighted mean over categories of direct and consensus
    accuracy.

    changed : codes of the items that are improved or regressed.
    """

    overall: Improvement
    by_category: tuple[Improvement, ...]
    macro_direct: float
    macro_consensus: float
    changed: IntArray

    def to_frame(self) -> DataFrame:
        """One row per category, then all of them."""
        return rows_frame(Improvement, (*self.by_category, self.overall))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """Items that the consensus sets right and sets wrong against the first order, summed over
    judges, and the exact two-sided sign test of them. Judges of the same items are not independent,
    so the p-value is the paper's figure and no more.

    same_slot : judges in whose first orders the best stands in one slot nearly always: what is set
        right or wrong against those measures the slot.  helped, hurt : judges whose consensus is
        shown to be right more often, or less often, than any one order.
    """

    judges: int
    improved: int
    regressed: int
    p_value: float
    same_slot: int = 0
    helped: int = 0
    hurt: int = 0


def in_top_set(rankings: ListRankings) -> BoolArray:
    """Whether each row's candidate is in its run's top set: those with the highest score; without
    scores, those that the run chose.
    """
    if not len(rankings) or np.isnan(rankings.score).any():
        return np.asarray(rankings.chosen == 1)
    run = dense_codes(rankings.item * (rankings.run.max() + 1) + rankings.run)
    highest = np.full(int(run.max()) + 1, -np.inf)
    np.maximum.at(highest, run, rankings.score)
    return np.asarray(rankings.score >= highest[run])


def blocks(rankings: ListRankings) -> Blocks:
    """Lay rankings out for the methods below.

    Raises NoUsableVotes if nothing is there, InvalidCounts if the runs of an item show different
    candidates.
    """
    if not len(rankings):
        raise NoUsableVotes("No listwise judgement is selected.")
    order = np.lexsort((rankings.candidate, rankings.run, rankings.item))
    item, run, candidate = (getattr(rankings, name)[order] for name in ("item", "run", "candidate"))
    new_list = np.append(True, (np.diff(item) != 0) | (np.diff(run) != 0))
    list_of = np.cumsum(new_list) - 1
    size = np.bincount(list_of)
    item_of_list = dense_codes(item[new_list])
    first_list = np.append(0, np.flatnonzero(np.diff(item_of_list)) + 1)
    place = np.arange(len(size)) - first_list[item_of_list]
    # Within an item every run has the same candidates in the same sorted order, so rows line up
    # with entries.
    row = np.arange(len(item)) - np.flatnonzero(new_list)[list_of]
    n_of_item = size[first_list]
    start = np.append(0, np.cumsum(n_of_item)[:-1])
    entry = start[item_of_list[list_of]] + row
    entries, runs = int(n_of_item.sum()), int(place.max()) + 1
    first_row = np.flatnonzero(place[list_of] == 0)
    odd = size[list_of] != n_of_item[item_of_list[list_of]]
    if odd.any() or (candidate != candidate[first_row][np.minimum(entry, entries - 1)]).any():
        raise InvalidCounts("ListRankings: the runs of an item show different candidates.")

    score, rank, slot = (getattr(rankings, name)[order] for name in ("score", "rank", "slot"))
    cautious = rankings.calibrated_uncertainty[order]
    scored = not np.isnan(score).any()
    first = in_top_set(rankings)[order]
    in_top = np.bincount(list_of, weights=first)
    if (in_top == 0).any():
        raise InvalidCounts("ListRankings: a run that puts no candidate first.")
    n = size[list_of]
    given = {
        "score": score,
        "borda": 100 * (n - rank) / np.maximum(n - 1, 1),
        "top": 100 * first / in_top[list_of],
        "uncertainty": 100.0 * cautious,
    }
    has = {
        "score": scored,
        "borda": (rank > 0).all(),
        "top": True,
        "uncertainty": (cautious >= 0).all(),
    }

    def matrix(values: FloatArray | IntArray, empty: float) -> FloatArray:
        filled = np.full((entries, runs), empty)
        filled[entry, place[list_of]] = values
        return filled

    return Blocks(
        item=item[first_row],
        category=rankings.category[order][first_row],
        categories=rankings.categories,
        candidate=candidate[first_row],
        candidates=rankings.candidates,
        best=rankings.best[order][first_row],
        start=start,
        shown=matrix(np.ones(len(item)), 0.0) > 0,
        slot=matrix(slot, -1.0).astype(np.int64),
        values={name: matrix(given[name], 0.0) for name in COMPONENTS if has[name]},
        flags={
            name: matrix(flagged, 0.0)
            for name in FAULTS
            if ((flagged := getattr(rankings, name)[order]) >= 0).all()
        },
    )


def scores_of(laid: Blocks, weights: Weights, orders: FloatArray) -> FloatArray:
    """Consensus score of each entry from each subset of orders, (entries, subsets); NaN without a
    run.

    orders : (subsets, runs), 1 for a run that counts.
    """
    used = used_weights(laid, weights)
    runs = laid.shown.astype(np.float64) @ orders.T
    total = sum(getattr(used, name) * laid.values[name] for name in laid.values)
    with np.errstate(invalid="ignore"):
        return np.asarray((total @ orders.T) / runs)


def used_weights(laid: Blocks, weights: Weights) -> Weights:
    """Weights over the parts that every run has, summing to 1. Raises InvalidOption if none is
    left.
    """
    kept = {name: getattr(weights, name) if name in laid.values else 0.0 for name in COMPONENTS}
    total = sum(kept.values())
    if total <= 0:
        raise InvalidOption(
            f"No weight is left: the judgements have {', '.join(laid.values)} only; give one of "
            "them weight."
        )
    return Weights(**{name: weight / total for name, weight in kept.items()})


def winners(laid: Blocks, scores: FloatArray, tolerance: float = TOLERANCE) -> BoolArray:
    """All candidates of an item within `tolerance` points of its highest score; scores (entries,
    subsets).
    """
    if tolerance < 0:
        raise InvalidOption(f"tolerance {tolerance}: 0 or more points.")
    highest = np.maximum.reduceat(scores, laid.start, axis=0)
    return np.asarray(scores >= highest[laid.of_entry] - max(tolerance, TOLERANCE))


def worth(laid: Blocks, win: BoolArray) -> FloatArray:
    """Share of an item's winners that are best, (items, subsets); meaningful where the best is
    known.
    """
    right = np.add.reduceat(win & (laid.best == 1)[:, None], laid.start, axis=0, dtype=np.float64)
    return np.asarray(right / np.add.reduceat(win, laid.start, axis=0, dtype=np.float64))


def consensus(
    rankings: ListRankings, *, weights: Weights | None = None, tolerance: float = TOLERANCE
) -> Consensus:
    """Pool all orders: C = w₁·s̄ + w₂·B + w₃·100v + w₄·100u, weights .50, .25, .20, .05 unless
    given.

    s̄ is the mean score; B = 100/(K(n − 1))·Σ(n − rank); v the mean over runs of 1{in top set}/|top
    set|; u the mean flag of calibrated uncertainty: the paper rewards a candidate that says itself,
    where warranted, that it is not sure, not one of which the judge is not sure. A part that some
    run lacks is left out and the weights are renormalised (ours). Winners are all within
    `tolerance` points of the highest C.

    Errors as `blocks`. Source: [PCF] §3.
    """
    laid, weights = blocks(rankings), weights or Weights()
    runs = laid.shown.sum(axis=1)
    means = {name: values.sum(axis=1) / runs for name, values in laid.values.items()}
    absent = np.full(len(runs), np.nan)
    score = scores_of(laid, weights, np.ones((1, laid.shown.shape[1])))
    return Consensus(
        item=laid.item,
        candidate=tuple(laid.candidates[code] for code in laid.candidate),
        runs=runs,
        score=means.get("score", absent),
        borda=means.get("borda", absent),
        top=means["top"] / 100,
        uncertainty=means.get("uncertainty", absent) / 100,
        consensus=score[:, 0],
        winner=winners(laid, score, tolerance)[:, 0],
        best=laid.best,
        weights=used_weights(laid, weights),
        missing=tuple(name for name in COMPONENTS if name not in laid.values),
    )


def improvement(
    rankings: ListRankings,
    *,
    weights: Weights | None = None,
    tolerance: float = TOLERANCE,
    level: float = 0.95,
) -> Improvements:
    """Is the consensus of all orders more often right than the first order alone?

    The direct judgement is the item's run of the lowest number, scored by the same rule (K = 1).
    The p-value is the exact two-sided binomial of improved against regressed items at ½; 1 if there
    are none. Every order alone is scored so too, and their mean is `single`, which no one slot of
    the best can flatter.

    Raises NoUsableVotes if no item has a known best candidate, else as `blocks`. Source: [PCF] §3.
    """
    laid, weights = blocks(rankings), weights or Weights()
    known = laid.labelled()
    runs = laid.shown.shape[1]
    with np.errstate(invalid="ignore"):
        by_order = worth(laid, winners(laid, scores_of(laid, weights, np.eye(runs)), tolerance))
    seen = laid.shown[laid.start]
    alone = np.where(seen, by_order, 0.0).sum(axis=1) / seen.sum(axis=1)
    win = winners(
        laid, scores_of(laid, weights, np.stack([np.eye(runs)[0], np.ones(runs)])), tolerance
    )
    value, sets = worth(laid, win), np.add.reduceat(win, laid.start, axis=0, dtype=np.float64)
    chance = np.add.reduceat(laid.best == 1, laid.start, dtype=np.float64) / laid.sizes
    stands = np.zeros((len(chance), int(laid.slot.max()) + 1))
    stands[laid.of_entry[laid.best == 1], laid.slot[laid.best == 1, 0]] = 1.0

    def of(category: str, rows: BoolArray) -> Improvement:
        before, after = value[rows].T
        improved, regressed = (
            int((after > before + TOLERANCE).sum()),
            int((after < before - TOLERANCE).sum()),
        )
        return Improvement(
            category=category,
            n=int(rows.sum()),
            direct=mean_worth(before, level=level),
            single=mean_worth(alone[rows], level=level),
            gain=mean_interval(
                np.arange(len(after)), after - alone[rows], ends=(-1.0, 1.0), level=level
            ),
            consensus=mean_worth(after, level=level),
            improved=improved,
            regressed=regressed,
            p_value=sign_test(improved, regressed),
            direct_set=float(sets[rows, 0].mean()),
            consensus_set=float(sets[rows, 1].mean()),
            chance=float(chance[rows].mean()),
            first_slot=int(stands[rows].mean(axis=0).argmax()),
            first_share=float(stands[rows].mean(axis=0).max()),
        )

    category = laid.category[laid.start]
    codes = np.unique(category[known]).tolist()
    parts = tuple(of(laid.categories[code], known & (category == code)) for code in codes)
    return Improvements(
        overall=of("all", known),
        by_category=parts if len(parts) > 1 else (),
        macro_direct=sum(part.direct.value for part in parts) / len(parts),
        macro_consensus=sum(part.consensus.value for part in parts) / len(parts),
        changed=laid.item[laid.start][known & (np.abs(value[:, 1] - value[:, 0]) > TOLERANCE)],
    )


def pooled_improvements(found: Iterable[Improvements]) -> Pooled | None:
    """The row over all judges; None with fewer than two. Source: [PCF] Table 1, its pooled row."""
    judges = [each.overall for each in found]
    if len(judges) < 2:
        return None
    improved = sum(each.improved for each in judges)
    regressed = sum(each.regressed for each in judges)
    return Pooled(
        judges=len(judges),
        improved=improved,
        regressed=regressed,
        p_value=sign_test(improved, regressed),
        same_slot=sum(each.first_order_is_special for each in judges),
        helped=sum(each.gain.low > 0 for each in judges),
        hurt=sum(each.gain.high < 0 for each in judges),
    )


def mean_worth(value: FloatArray, *, level: float = 0.95) -> Estimate:
    """Mean over items of a worth in [0, 1], with a Wilson interval at n/f (ours).

    f = min(1, (Σwᵢ² − n·w̄² + ¼)/(n·w̄(1 − w̄) + ¼)): shared first places vary less than right and
    wrong do.
    """
    n, total = len(value), float(value.sum())
    mean = total / n
    spread = float((value**2).sum()) - n * mean**2 + 0.25
    f = min(1.0, spread / (n * mean * (1 - mean) + 0.25))
    low, high = wilson(min(total, n), n, level=level, deff=f)
    return Estimate(value=mean, low=float(low), high=float(high), n=n, level=level, deff=f)
