"""The winner of an item with the pull of the slots taken out of a judge's picks.

A judge that likes the first slot gives its vote to whoever stands there, and plurality over few
orders keeps that pull. The same candidates stand in other slots in other orders, which tells
candidate and slot apart without any label.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...errors import InvalidOption
from ...records import BoolArray, FloatArray, IntArray, ListRankings
from ...stats.estimate import DataFrame, Estimate, data_frame
from ...stats.intervals import mean_interval
from .method import Blocks, blocks, mean_worth, winners, worth

RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0)
"""Penalties that are tried: one over the variance of a candidate's log-odds."""
SLOT_RIDGE = 0.01
"""Keeps a slot without any contrast at 0; beside hundreds of picks it has no weight."""
UTILITY_TOLERANCE = 1e-6
"""Utilities this close are equal: the steps of the fit end below it."""
FEWEST_ITEMS = 30
"""Items with picks that differ, below which slots are left alone: half of them carry the test."""
MOST_STEPS = 100


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SlotCorrected:
    """Utility of each candidate without the slots' pull; one row per (item, candidate).

    utility : log-odds of a pick; 0 for one that is picked as often as its slots would have it.
    winner : of the item's highest utility, or within `UTILITY_TOLERANCE` of it.
    slots : log-odds of a pick by slot, mean 0; all 0 where slots are not shown to predict picks.
    gain : nats by which slots predict which of two orders got which pick, mean over items; None
        where too few items have picks that differ.
    ridge : the penalty used.  best : 1, 0, or -1 if unknown.
    plurality, right, change : share of items, each worth the share of its winners that are best,
        by most picks, by the corrected winners, and the difference paired by item; None without a
        best.
    """

    item: IntArray
    candidate: tuple[str, ...]
    utility: FloatArray
    winner: BoolArray
    best: IntArray
    slots: FloatArray
    gain: Estimate | None
    ridge: float
    plurality: Estimate | None
    right: Estimate | None
    change: Estimate | None

    def to_frame(self) -> DataFrame:
        """One row per (item, candidate)."""
        names = ("item", "candidate", "utility", "winner", "best")
        return data_frame({name: getattr(self, name) for name in names})


def slot_corrected(
    rankings: ListRankings, *, ridges: tuple[float, ...] = RIDGES, level: float = 0.95
) -> SlotCorrected:
    """The winner of each item by a conditional logit of its candidates' utilities and the slots.

    P(pick c | run) ∝ exp(u_c + b_slot(c)), u of each (item, candidate), b of each slot and the same
    for all items; first places of a run share its pick.

    1. b: where runs r, s of an item picked c and d ≠ c, the utilities cancel in which run picked
       which: the log-odds are b_r(c) + b_s(d) − b_r(d) − b_s(c), b_r(c) that of c's slot in r. So b
       has no quality in it, however candidates were placed. The logistic fit is tested on the other
       half of the items: unless it predicts them better than b = 0 by an interval by item, b is 0
       and the winners are those of the plurality.
    2. u: the mode under u ~ N(0, 1/λ), λ by the likelihood of picks that were left out: on every
       second item each run is predicted from the item's others.

    Raises NoUsableVotes if nothing is there, InvalidOption for a penalty that is not above 0.
    Source: ours, docs/methods.md §7; the logit is Luce's choice rule, the cancelling Rasch's.
    """
    if not ridges or min(ridges) <= 0:
        raise InvalidOption(f"ridges {ridges}: use penalties above 0.")
    laid = blocks(rankings)
    picks = _Picks.of(laid)
    gain, slots = _slots(picks)
    ridge = ridges[0]
    if slots.any():
        test = picks.items(np.arange(len(picks.shown)) % 2 == 1)
        lost = [_left_out(test, penalty, slots) for penalty in ridges]
        ridge = ridges[int(np.argmin(lost))]
    utility = picks.utilities(ridge, slots)[picks.real]
    winner = winners(laid, utility[:, None], UTILITY_TOLERANCE)[:, 0]
    plurality, right, change = _beside_plurality(laid, winner, level)
    return SlotCorrected(
        item=laid.item,
        candidate=tuple(laid.candidates[code] for code in laid.candidate),
        utility=utility,
        winner=winner,
        best=laid.best,
        slots=slots - slots.mean(),
        gain=gain,
        ridge=ridge,
        plurality=plurality,
        right=right,
        change=change,
    )


def _beside_plurality(
    laid: Blocks, corrected: BoolArray, level: float
) -> tuple[Estimate, Estimate, Estimate] | tuple[None, None, None]:
    """Worth of the plurality's winners and of the corrected ones, and their difference, by item."""
    if not (laid.best == 1).any():
        return None, None, None
    known = laid.labelled()
    places = np.where(laid.shown, laid.top, 0.0).sum(axis=1)
    plurality = winners(laid, places[:, None])[:, 0]
    with np.errstate(invalid="ignore"):
        before, after = worth(laid, np.stack([plurality, corrected], axis=1))[known].T
    change = mean_interval(np.arange(len(after)), after - before, ends=(-1.0, 1.0), level=level)
    return mean_worth(before, level=level), mean_worth(after, level=level), change


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Picks:
    """(items, runs, candidates), filled up to the longest list: who was shown, in which slot, and
    the candidate's share of the run's pick; `real` (items, candidates) is not filling.
    """

    shown: BoolArray
    slot: IntArray
    pick: FloatArray
    real: BoolArray

    @classmethod
    def of(cls, laid: Blocks) -> _Picks:
        sizes = laid.sizes
        place = np.arange(len(laid.item)) - laid.start[laid.of_entry]
        real = np.arange(sizes.max()) < sizes[:, None]

        def filled(of_entry: FloatArray | IntArray | BoolArray) -> FloatArray:
            box = np.zeros((len(sizes), laid.shown.shape[1], sizes.max()))
            box[laid.of_entry, :, place] = of_entry
            return box

        return cls(
            shown=filled(laid.shown) > 0,
            slot=np.maximum(filled(laid.slot).astype(np.int64), 0),
            pick=filled(np.where(laid.shown, laid.top, 0.0)),
            real=real,
        )

    def items(self, kept: BoolArray) -> _Picks:
        return _Picks(**{name: getattr(self, name)[kept] for name in self.__slots__})

    def runs(self, kept: BoolArray) -> _Picks:
        """The same items, as if only these runs had been made."""
        within = kept[:, None]
        return _Picks(
            shown=self.shown & within, slot=self.slot, pick=self.pick * within, real=self.real
        )

    def chances(self, utility: FloatArray, slots: FloatArray) -> FloatArray:
        """P(pick) of each candidate in each run; 0 where a run was not made."""
        odds = np.where(self.shown, utility[:, None, :] + slots[self.slot], -np.inf)
        highest = odds.max(axis=2, keepdims=True)
        weight = np.exp(odds - np.where(np.isfinite(highest), highest, 0.0))
        total = weight.sum(axis=2, keepdims=True)
        return np.asarray(weight / np.where(total > 0, total, 1.0))

    def utilities(self, ridge: float, slots: FloatArray) -> FloatArray:
        """Mode of u by Newton steps, (items, candidates): Σ_runs (pick − p) = λ·u."""
        utility = np.zeros(self.real.shape)
        for _ in range(MOST_STEPS):
            chance = self.chances(utility, slots)
            slope = (chance - self.pick).sum(axis=1) + ridge * utility
            own = np.expand_dims(chance.sum(axis=1) + ridge, 2) * np.eye(self.real.shape[1])
            curve: FloatArray = own - np.einsum("irc,ird->icd", chance, chance)
            columns: FloatArray = np.linalg.solve(curve, np.expand_dims(slope, 2))
            step = columns.reshape(slope.shape)
            utility -= np.clip(step, -1.0, 1.0)
            if np.abs(step).max() < UTILITY_TOLERANCE / 10:
                break
        return utility


def _left_out(picks: _Picks, ridge: float, slots: FloatArray) -> float:
    """−log-likelihood of the picks, each run predicted from the item's others."""
    runs, lost = np.arange(picks.shown.shape[1]), 0.0
    for run in runs:
        utility = picks.runs(runs != run).utilities(ridge, slots)
        this = picks.runs(runs == run)
        chance = this.chances(utility, slots)
        lost -= float((this.pick * np.log(np.where(this.pick > 0, chance, 1.0))).sum())
    return lost


def _slots(picks: _Picks) -> tuple[Estimate | None, FloatArray]:
    """How much better slots predict the other half, and their log-odds, 0 unless they are shown
    to.
    """
    item, contrast, weight = _swaps(picks)
    none = np.zeros(contrast.shape[1])
    items = np.unique(item)
    if len(items) < FEWEST_ITEMS:
        return None, none
    learned = np.isin(item, items[::2])
    slots = _logistic(contrast[learned], weight[learned])
    better = np.log(2) - np.logaddexp(0.0, -contrast[~learned] @ slots)
    judged = np.searchsorted(items, item[~learned])
    share = np.bincount(judged, weight[~learned])[1::2]
    of_item = np.bincount(judged, weight[~learned] * better)[1::2] / share
    ends = (float(of_item.min()), float(of_item.max()))
    gain = mean_interval(np.arange(len(of_item)), of_item, ends=ends)
    if not (gain.has_interval and gain.low > 0):
        return gain, none
    return gain, _logistic(contrast, weight)


def _swaps(picks: _Picks) -> tuple[IntArray, FloatArray, FloatArray]:
    """Pairs of runs of an item with picks c ≠ d: the item, the contrast of slots, (rows, slots),
    whose product with b is the log-odds of what happened, and the weight of shared picks.
    """
    n_slots = int(picks.slot.max()) + 1
    slot_is = np.eye(n_slots)
    items, contrasts, weights = [], [], []
    for one, two in combinations(range(picks.shown.shape[1]), 2):
        both = np.all(picks.shown[:, one] & picks.shown[:, two], axis=1, where=picks.real)
        weight = picks.pick[:, one, :, None] * picks.pick[:, two, None, :]
        item, c, d = np.nonzero(
            weight * np.reshape(both, (-1, 1, 1)) * (1 - np.eye(weight.shape[1]))
        )
        here, there = picks.slot[item, one], picks.slot[item, two]
        rows = np.arange(len(item))
        items.append(item)
        weights.append(weight[item, c, d])
        contrasts.append(
            slot_is[here[rows, c]]
            + slot_is[there[rows, d]]
            - slot_is[here[rows, d]]
            - slot_is[there[rows, c]]
        )
    if not items:
        return np.zeros(0, dtype=np.int64), np.zeros((0, n_slots)), np.zeros(0)
    item, contrast = np.concatenate(items), np.concatenate(contrasts)
    tells = contrast.any(axis=1)
    return item[tells], contrast[tells], np.concatenate(weights)[tells]


def _logistic(contrast: FloatArray, weight: FloatArray) -> FloatArray:
    """b that maximises Σ w·log σ(x·b) − (ridge/2)·Σb², by Newton steps on distinct contrasts."""
    distinct, code = np.unique(contrast, axis=0, return_inverse=True)
    total = np.bincount(code.ravel(), weight)
    slots = np.zeros(contrast.shape[1])
    for _ in range(MOST_STEPS):
        missed = 1 / (1 + np.exp(distinct @ slots))
        slope = distinct.T @ (total * missed) - SLOT_RIDGE * slots
        curve = (distinct.T * (total * missed * (1 - missed))) @ distinct
        step = np.linalg.solve(curve + SLOT_RIDGE * np.eye(len(slots)), slope)
        slots += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < UTILITY_TOLERANCE:
            break
    return slots
