"""Listwise permutation consensus: a judge ranks the same candidates in K orders, and the orders are pooled.

A run of an item shows all its candidates in one order. Values of a run are put in a matrix, one row an
(item, candidate), one column a run, so that any subset of orders is one matrix product. Source: [PCF] §3.

What the order of candidates does to a listwise judge: how many orders are needed, and which slots win.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from ..bias.position import sign_test
from ..errors import InvalidOption, NoUsableVotes
from ..records import BoolArray, FloatArray, IntArray, InvalidCounts, ListRankings
from ..stats.estimate import Estimate
from ..stats.intervals import clustered_proportion, dense_codes, design_effect, mean_interval, wilson

if TYPE_CHECKING:
    import pandas as pd


COMPONENTS = ("score", "borda", "top", "uncertainty")
TOLERANCE = 1e-9
"""Consensus scores this close are equal: sums of the same numbers in another order differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights of the four parts of the consensus score; they are divided by their sum. Source: [PCF] §3."""

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
    """Rankings laid out by entry, an (item, candidate), and by run within the item, in order of run number.

    item, category, candidate, best : of each entry; entries are sorted by item.  start : first entry of each
    item.  shown : (entries, runs), the run exists.  slot : (entries, runs), -1 where it does not.
    values : by component, (entries, runs) on 0 to 100, 0 where the run does not exist.
    usable : components that every run has.  top : (entries, runs), share of a run's first place that the
    candidate has: 1/(number in the run's top set) or 0.
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
    usable: tuple[str, ...]

    @property
    def top(self) -> FloatArray:
        return self.values["top"] / 100

    @property
    def labelled(self) -> BoolArray:
        """Items whose best candidate is known."""
        known = np.logical_and.reduceat(self.best >= 0, self.start)
        return np.asarray(known & (np.maximum.reduceat(self.best, self.start) == 1))

    @property
    def of_entry(self) -> IntArray:
        """Place of each entry's item, 0 … items − 1."""
        return np.repeat(np.arange(len(self.start)), np.diff(np.append(self.start, len(self.item))))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Consensus:
    """Consensus score of each candidate of each item, and whether it wins; one row an (item, candidate).

    score : s̄, 0 to 100, NaN if the runs gave none.  borda : B, 0 to 100, NaN likewise.  top : v, 0 to 1.
    uncertainty : u, 0 to 1, NaN likewise.  consensus : 0 to 100.  best : 1, 0, or -1 if unknown.
    weights : as used, summing to 1; a part that some run lacks has weight 0 and is named in `missing`.
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

    def to_frame(self) -> pd.DataFrame:
        """One row an (item, candidate)."""
        import pandas as pd

        names = ("item", "candidate", "runs", "score", "borda", "top", "uncertainty", "consensus", "winner")
        return pd.DataFrame({name: getattr(self, name) for name in (*names, "best")})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Improvement:
    """Consensus of all orders against the direct judgement, run 1, on the items whose best is known.

    An item is worth the share of its winners that are best: 1/|winners| when the one best is among them.
    single : any one order alone, mean over the orders of an item and then over items (ours).
    gain, gain_low, gain_high : consensus minus single, paired by item; ends NaN with one item.
    improved, regressed : items worth more, or less, by consensus than by the direct judgement.
    p_value : exact two-sided sign test of those.
    direct_set, consensus_set : mean number of winners.  chance : worth of a blind choice.
    first_slot, first_share : the slot, from 0, in which the best stands most often in run 1, and on which
    share of the items: near 1, `direct` measures a preference for that slot as much as the judge (ours).
    """

    category: str
    n: int
    direct: Estimate
    single: Estimate
    consensus: Estimate
    gain: float
    gain_low: float
    gain_high: float
    improved: int
    regressed: int
    p_value: float
    direct_set: float
    consensus_set: float
    chance: float
    first_slot: int
    first_share: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Improvements:
    """`overall`, each category, and the unweighted mean over categories of direct and consensus accuracy."""

    overall: Improvement
    by_category: tuple[Improvement, ...]
    macro_direct: float
    macro_consensus: float

    def to_frame(self) -> pd.DataFrame:
        """One row a category, then all of them."""
        import pandas as pd

        rows = []
        for one in (*self.by_category, self.overall):
            row = {name: getattr(one, name) for name in Improvement.__dataclass_fields__}
            for kind in ("direct", "single", "consensus"):
                rate = row.pop(kind)
                row |= {kind: rate.value, f"{kind}_low": rate.low, f"{kind}_high": rate.high}
            rows.append(row)
        return pd.DataFrame(rows)


def blocks(rankings: ListRankings) -> Blocks:
    """Lay rankings out for the methods below.

    A run's top set is its candidates with the highest score; without scores, those that it chose.

    Raises NoUsableVotes if nothing is there, InvalidCounts if the runs of an item show different candidates.
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
    # Within an item every run has the same candidates in the same sorted order, so rows line up with entries.
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
    chosen, uncertain = rankings.chosen[order], rankings.uncertain[order]
    scored = not np.isnan(score).any()
    first = score >= np.maximum.reduceat(score, np.flatnonzero(new_list))[list_of] if scored else chosen == 1
    in_top = np.bincount(list_of, weights=first)
    if (in_top == 0).any():
        raise InvalidCounts("ListRankings: a run that puts no candidate first.")
    n = size[list_of]
    given = {
        "score": score,
        "borda": 100 * (n - rank) / np.maximum(n - 1, 1),
        "top": 100 * first / in_top[list_of],
        "uncertainty": 100.0 * uncertain,
    }
    has = {"score": scored, "borda": bool((rank > 0).all()), "top": True}
    has["uncertainty"] = bool((uncertain >= 0).all())
    where = (entry, place[list_of])

    def matrix(values: FloatArray | IntArray, empty: float) -> FloatArray:
        filled = np.full((entries, runs), empty)
        filled[where] = values
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
        usable=tuple(name for name in COMPONENTS if has[name]),
    )


def scores_of(laid: Blocks, weights: Weights, orders: FloatArray) -> FloatArray:
    """Consensus score of each entry from each subset of orders, (entries, subsets); NaN without a run.

    orders : (subsets, runs), 1 for a run that counts.
    """
    used = used_weights(laid, weights)
    runs = laid.shown.astype(np.float64) @ orders.T
    total = sum(getattr(used, name) * laid.values[name] for name in laid.usable)
    with np.errstate(invalid="ignore"):
        return np.asarray((total @ orders.T) / runs)


def used_weights(laid: Blocks, weights: Weights) -> Weights:
    """Weights over the parts that every run has, summing to 1. Raises InvalidOption if none is left."""
    kept = {name: getattr(weights, name) if name in laid.usable else 0.0 for name in COMPONENTS}
    total = sum(kept.values())
    if total <= 0:
        raise InvalidOption(
            f"No weight is left: the judgements have {', '.join(laid.usable)} only; give one of them weight."
        )
    return Weights(**{name: weight / total for name, weight in kept.items()})


def winners(laid: Blocks, scores: FloatArray, tolerance: float = TOLERANCE) -> BoolArray:
    """All candidates of an item within `tolerance` points of its highest score; scores (entries, subsets)."""
    if tolerance < 0:
        raise InvalidOption(f"tolerance {tolerance}: 0 or more points.")
    highest = np.maximum.reduceat(scores, laid.start, axis=0)
    return np.asarray(scores >= highest[laid.of_entry] - max(tolerance, TOLERANCE))


def worth(laid: Blocks, win: BoolArray) -> FloatArray:
    """Share of an item's winners that are best, (items, subsets); meaningful where the best is known."""
    right = np.add.reduceat(win & (laid.best == 1)[:, None], laid.start, axis=0, dtype=np.float64)
    return np.asarray(right / np.add.reduceat(win, laid.start, axis=0, dtype=np.float64))


def consensus(
    rankings: ListRankings, *, weights: Weights | None = None, tolerance: float = TOLERANCE
) -> Consensus:
    """Pool all orders: C = w₁·s̄ + w₂·B + w₃·100v + w₄·100u, weights .50, .25, .20, .05 unless given.

    s̄ is the mean score; B = 100/(K(n − 1))·Σ(n − rank); v the mean over runs of 1{in top set}/|top set|; u
    the mean uncertainty flag. A part that some run lacks is left out and the weights are renormalised (ours).
    Winners are all within `tolerance` points of the highest C.

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
        missing=tuple(name for name in COMPONENTS if name not in laid.usable),
    )


def improvement(
    rankings: ListRankings,
    *,
    weights: Weights | None = None,
    tolerance: float = TOLERANCE,
    level: float = 0.95,
) -> Improvements:
    """Is the consensus of all orders more often right than the first order alone?

    The direct judgement is the item's run of the lowest number, scored by the same rule (K = 1). The p-value
    is the exact two-sided binomial of improved against regressed items at ½; 1 if there are none. Every
    order alone is scored so too, and their mean is `single`, which no one slot of the best can flatter.

    Raises NoUsableVotes if no item has a known best candidate, else as `blocks`. Source: [PCF] §3.
    """
    laid, weights = blocks(rankings), weights or Weights()
    known = laid.labelled
    if not known.any():
        raise NoUsableVotes("No item says which candidate is best (column is_best), so accuracy is unknown.")
    runs = laid.shown.shape[1]
    orders = np.stack([np.eye(runs)[0], np.ones(runs)])
    with np.errstate(invalid="ignore"):
        by_order = worth(laid, winners(laid, scores_of(laid, weights, np.eye(runs)), tolerance))
    seen = laid.shown[laid.start]
    alone = np.where(seen, by_order, 0.0).sum(axis=1) / seen.sum(axis=1)
    win = winners(laid, scores_of(laid, weights, orders), tolerance)
    value, sets = worth(laid, win), np.add.reduceat(win, laid.start, axis=0, dtype=np.float64)
    sizes = np.diff(np.append(laid.start, len(laid.item)))
    chance = np.add.reduceat(laid.best == 1, laid.start, dtype=np.float64) / sizes
    stands = np.zeros((len(sizes), int(laid.slot.max()) + 1))
    stands[laid.of_entry[laid.best == 1], laid.slot[laid.best == 1, 0]] = 1.0

    def of(category: str, rows: BoolArray) -> Improvement:
        before, after = value[rows].T
        improved = int((after > before + TOLERANCE).sum())
        regressed = int((after < before - TOLERANCE).sum())
        item = np.arange(len(after))
        gain = mean_interval(item, after - alone[rows], ends=(-1.0, 1.0), level=level)
        return Improvement(
            category=category,
            n=int(rows.sum()),
            direct=mean_worth(before, level=level),
            single=mean_worth(alone[rows], level=level),
            gain=gain.value,
            gain_low=gain.low,
            gain_high=gain.high,
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
    parts = tuple(
        of(name, known & (category == code))
        for code, name in enumerate(laid.categories)
        if (known & (category == code)).any()
    )
    return Improvements(
        overall=of("all", known),
        by_category=parts if len(parts) > 1 else (),
        macro_direct=_mean(part.direct.value for part in parts),
        macro_consensus=_mean(part.consensus.value for part in parts),
    )


def mean_worth(value: FloatArray, *, level: float = 0.95) -> Estimate:
    """Mean over items of a worth in [0, 1], with a Wilson interval at n/f (ours).

    f = min(1, (Σwᵢ² − n·w̄² + ¼)/(n·w̄(1 − w̄) + ¼)): shared first places vary less than right and wrong do.
    """
    n, total = len(value), float(value.sum())
    mean = total / n
    spread = float((value**2).sum()) - n * mean**2 + 0.25
    f = min(1.0, spread / (n * mean * (1 - mean) + 0.25))
    low, high = wilson(min(total, n), n, level=level, deff=f)
    return Estimate(value=mean, low=float(low), high=float(high), n=n, level=level, deff=f)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderSweep:
    """Accuracy against the number of orders K, on items that have all `orders` runs; arrays are (orders,).

    accuracy : of the consensus, mean over subsets of K orders, `low` to `high` by item.
    gain, gain_low, gain_high : accuracy minus that of one order, paired by item; ends NaN with one item.
    majority_error : share of (item, subset) in which no more than half of the orders put the best first.
    bound : exp(−2K(q − ½)²), or None if q ≤ ½.  q : how often one order alone puts the best first.
    subsets : subsets of orders behind each K.
    """

    k: IntArray
    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    gain: FloatArray
    gain_low: FloatArray
    gain_high: FloatArray
    majority_error: FloatArray
    bound: FloatArray | None
    q: float
    subsets: IntArray
    n: int
    left_out: int
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a number of orders."""
        import pandas as pd

        names = ("k", "accuracy", "low", "high", "gain", "gain_low", "gain_high", "majority_error", "subsets")
        bound = np.full(len(self.k), np.nan) if self.bound is None else self.bound
        return pd.DataFrame({name: getattr(self, name) for name in names} | {"bound": bound, "n": self.n})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SlotTable:
    """How often the candidate shown in each slot comes first; arrays are (slots,), slot 0 is shown first.

    n : runs that have the slot.  win, low, high : share of first places, Wilson at n/deff clustered by item.
    chance : mean 1/n over those runs, what a judge without any preference would give the slot.
    expected : the same candidates' share of first places in their runs in other slots, over those that have
    any: what quality alone would give the slot, whoever was put there (ours).
    pull, pull_low, pull_high : their share here minus that, paired and clustered by item; NaN without any.
    best_n, best_win, best_low, best_high : the same for runs with the best candidate in the slot: accuracy.
    """

    slot: IntArray
    n: IntArray
    win: FloatArray
    low: FloatArray
    high: FloatArray
    chance: FloatArray
    expected: FloatArray
    pull: FloatArray
    pull_low: FloatArray
    pull_high: FloatArray
    best_n: IntArray
    best_win: FloatArray
    best_low: FloatArray
    best_high: FloatArray
    level: float

    def to_frame(self) -> pd.DataFrame:
        """One row a slot."""
        import pandas as pd

        names = [name for name in SlotTable.__dataclass_fields__ if name != "level"]
        return pd.DataFrame({name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderSensitivity:
    """`changed`: share of items, among those seen in two or more orders, whose first place depends on order.

    pairs : mean over those items of the share of pairs of orders that put other candidates first.
    """

    changed: Estimate
    pairs: float
    slots: SlotTable


def order_sweep(
    rankings: ListRankings,
    *,
    rng: np.random.Generator,
    weights: Weights | None = None,
    tolerance: float = TOLERANCE,
    max_subsets: int = 200,
    level: float = 0.95,
) -> OrderSweep:
    """Accuracy of the consensus of K orders, K = 1 … all, by taking subsets of the orders of each item.

    All subsets of K orders if there are at most `max_subsets`, else that many drawn at random. Only items
    with the most common number of runs or more count, and of those the first runs: every K is judged on the
    same items. The Hoeffding bound holds for orders that err independently and with the same q on every item;
    real ones do neither, so it is a reference and no promise.

    Raises NoUsableVotes if no item has a known best candidate. Source: [PCF] §3.3; subsets are ours.
    """
    if max_subsets < 1:
        raise InvalidOption(f"max_subsets {max_subsets}: use 1 or more.")
    laid, weights = blocks(rankings), weights or Weights()
    known = laid.labelled
    if not known.any():
        raise NoUsableVotes("No item says which candidate is best (column is_best), so accuracy is unknown.")
    runs = laid.shown[laid.start].sum(axis=1)
    orders = int(np.bincount(runs[known])[::-1].argmax())
    orders = len(np.bincount(runs[known])) - 1 - orders
    rows = known & (runs >= orders)
    right = np.where(laid.best[:, None] == 1, laid.top, 0.0)
    right = np.add.reduceat(right, laid.start, axis=0)[rows, :orders]
    values, errors, sizes = [], [], []
    for k in range(1, orders + 1):
        chosen = _subsets(orders, k, max_subsets, rng)
        wide = np.zeros((len(chosen), laid.shown.shape[1]))
        wide[:, :orders] = chosen
        with np.errstate(invalid="ignore"):
            value = worth(laid, winners(laid, scores_of(laid, weights, wide), tolerance))[rows]
        values.append(value.mean(axis=1))
        errors.append(float((right @ chosen.T <= k / 2).mean()))
        sizes.append(len(chosen))
    by_item = np.stack(values)
    rates = [mean_worth(value, level=level) for value in by_item]
    item = np.arange(by_item.shape[1])
    gains = [mean_interval(item, one - by_item[0], ends=(-1.0, 1.0), level=level) for one in by_item]
    gain, gain_low, gain_high = np.array([(one.value, one.low, one.high) for one in gains]).T
    # One order against itself is no estimate.
    gain_low[0] = gain_high[0] = 0.0
    q = float(right.mean())
    k_all = np.arange(1, orders + 1)
    return OrderSweep(
        k=k_all,
        accuracy=np.array([rate.value for rate in rates]),
        low=np.array([rate.low for rate in rates]),
        high=np.array([rate.high for rate in rates]),
        gain=gain,
        gain_low=gain_low,
        gain_high=gain_high,
        majority_error=np.array(errors),
        bound=np.exp(-2 * k_all * (q - 0.5) ** 2) if q > 0.5 else None,
        q=q,
        subsets=np.array(sizes),
        n=int(rows.sum()),
        left_out=int((known & ~rows).sum()),
        level=level,
    )


def order_sensitivity(rankings: ListRankings, *, level: float = 0.95) -> OrderSensitivity:
    """Does the order of the candidates decide: items whose first place changes, and first places by slot.

    An item counts if it was judged in two or more orders. Two orders differ if their sets of first places do.

    Raises NoUsableVotes if no item was judged twice. Source: methods §7; `pairs` and `expected` are ours.
    """
    laid = blocks(rankings)
    seen = laid.shown[laid.start]
    several = seen.sum(axis=1) >= 2
    if not several.any():
        raise NoUsableVotes("No item was judged in two orders, so nothing is known about their effect.")
    first = laid.top > 0
    differ, both = np.zeros(len(seen)), np.zeros(len(seen))
    for one, two in combinations(range(seen.shape[1]), 2):
        together = seen[:, one] & seen[:, two]
        other = np.logical_or.reduceat(first[:, one] != first[:, two], laid.start)
        differ += together & other
        both += together
    one_each = np.ones(int(several.sum()), dtype=np.int64)
    return OrderSensitivity(
        changed=clustered_proportion(
            np.flatnonzero(several), one_each, (differ[several] > 0).astype(np.int64), level=level
        ),
        pairs=float((differ[several] / both[several]).mean()),
        slots=_slots(laid, level),
    )


def _slots(laid: Blocks, level: float) -> SlotTable:
    shown, top = laid.shown, laid.top
    size = np.diff(np.append(laid.start, len(laid.item)))[laid.of_entry]
    columns = shown.shape[1]
    item = np.repeat(laid.of_entry, columns).reshape(shown.shape)

    def rates(rows: BoolArray) -> tuple[int, float, float, float]:
        n, k = int(rows.sum()), float(top[rows].sum())
        if not n:
            return 0, float("nan"), float("nan"), float("nan")
        effect = design_effect(item[rows], np.ones(n, dtype=np.int64), top[rows])
        low, high = wilson(min(k, n), n, level=level, deff=effect)
        return n, k / n, float(low), float(high)

    slots = np.arange(int(laid.slot.max()) + 1)
    all_rates = [rates(laid.slot == slot) for slot in slots]
    best_rates = [rates((laid.slot == slot) & (laid.best == 1)[:, None]) for slot in slots]
    n, win, low, high = (np.array(column) for column in zip(*all_rates, strict=True))
    best_n, best_win, best_low, best_high = (np.array(column) for column in zip(*best_rates, strict=True))

    sizes = np.repeat(1 / size, columns).reshape(shown.shape)
    expected, pulls = [], []
    for slot in slots:
        here = laid.slot == slot
        seen = (shown & ~here).sum(axis=1)
        elsewhere = np.where(shown & ~here, top, 0.0).sum(axis=1) / np.maximum(seen, 1)
        paired = here & (seen > 0)[:, None]
        other = np.repeat(elsewhere, columns).reshape(shown.shape)[paired]
        expected.append(float(other.mean()) if len(other) else float("nan"))
        pulls.append(mean_interval(item[paired], top[paired] - other, ends=(-1.0, 1.0), level=level))
    pull, pull_low, pull_high = np.array([(one.value, one.low, one.high) for one in pulls]).T

    return SlotTable(
        slot=slots,
        n=n,
        win=win,
        low=low,
        high=high,
        chance=np.array([sizes[laid.slot == slot].mean() if n[slot] else np.nan for slot in slots]),
        expected=np.array(expected),
        pull=pull,
        pull_low=pull_low,
        pull_high=pull_high,
        best_n=best_n,
        best_win=best_win,
        best_low=best_low,
        best_high=best_high,
        level=level,
    )


def _subsets(orders: int, k: int, most: int, rng: np.random.Generator) -> FloatArray:
    """Subsets of k of the orders as 0/1 rows: all of them, or `most` at random."""
    if comb(orders, k) <= most:
        picked = np.array(list(combinations(range(orders), k)))
    else:
        picked = rng.random((most, orders)).argsort(axis=1)[:, :k]
    chosen = np.zeros((len(picked), orders))
    np.put_along_axis(chosen, picked, 1.0, axis=1)
    return chosen
