"""How many votes per comparison and how many labels does aggregation need? Error against either
number.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ...errors import InvalidOption, NoUsableVotes, TooFewLabels
from ...records import (
    NO_GOLD,
    BoolArray,
    ConfidenceCounts,
    FloatArray,
    IntArray,
    OrderCounts,
    VoteCounts,
    kept_rows,
)
from ...stats.estimate import DataFrame, Estimates, data_frame, flat
from ...stats.intervals import check_level
from ...stats.splits import (
    ItemLosses,
    Splits,
    change_intervals,
    error_intervals,
    half_width,
    mean_losses,
    splits,
)
from ..labels.btd import DEFAULTS, MINIMUM_LABELS, BTDOptions
from ..labels.rules import RULES, WEIGHINGS, confidence_labels
from . import protocol

KEPT = 0.9
"""By default the most votes are the largest number that this share of the labelled comparisons has.
"""
DRAWABLE = 10**9 - 1
"""More votes of one comparison than this the generator cannot draw from."""


def subsample(
    counts: VoteCounts | OrderCounts, votes: int, *, rng: np.random.Generator
) -> VoteCounts:
    """Draw `votes` votes of each comparison without replacement: multivariate hypergeometric
    counts.

    From OrderCounts half come from each order; of an odd number the order of the odd one is a
    coin's for each comparison. Raises InvalidOption if a comparison has fewer. Source: [BTD] §5.
    """
    if votes < 1:
        raise InvalidOption(f"votes = {votes}: draw 1 or more.")
    most = max(int(part.max(initial=0)) for part in _parts(counts))
    if most > DRAWABLE:
        raise InvalidOption(
            f"A comparison has {most:,} votes; at most {DRAWABLE:,} can be drawn from."
        )
    short = int((votes_to_draw(counts) < votes).sum())
    if short:
        raise InvalidOption(
            f"votes = {votes}: {short} comparisons have fewer; leave them out first."
        )
    if isinstance(counts, VoteCounts):
        drawn = _draw(counts.votes, votes, rng)
    else:
        coin = rng.integers(0, 2, len(counts)) if votes % 2 else 0
        from_ab = votes // 2 + coin
        drawn = _draw(counts.ab, from_ab, rng) + _draw(counts.ba, votes - from_ab, rng)
    return VoteCounts.of(drawn, comparison=counts.comparison, item=counts.item, gold=counts.gold)


def labels_by_confidence(
    drawn: VoteCounts, votes: ConfidenceCounts, *, rng: np.random.Generator
) -> dict[str, IntArray]:
    """Labels of drawn votes by the rules that weigh confidence, Soft-SC and CI-SC, by rule.

    Of the votes for each label as many as were drawn are taken with their confidences, without
    replacement, whatever the order they were given in: with all votes drawn the labels are those of
    `given_labels`.

    drawn : as `subsample` gives them.  votes : all votes of the same judge.
    Raises InvalidOption where fewer votes are known than were drawn, NoUsableVotes where a vote on
    these comparisons has no confidence. Source: [BTD] §5.
    """
    order = np.argsort(drawn.comparison, kind="stable")
    place = np.minimum(
        np.searchsorted(drawn.comparison, votes.comparison, sorter=order), len(drawn) - 1
    )
    row = order[place]
    own = drawn.comparison[row] == votes.comparison
    confidence, group = votes.confidence[own], row[own] * 3 + votes.vote[own] + 1
    if np.isnan(confidence).any():
        raise NoUsableVotes("Soft-SC and CI-SC need the confidence of each vote; some have none.")
    each = np.repeat(np.arange(len(group)), votes.n[own])
    wanted, there = drawn.votes.ravel(), np.bincount(group[each], minlength=3 * len(drawn))
    if (there < wanted).any():
        raise InvalidOption("More votes were drawn than have a confidence; take one selection.")
    # A random place within the votes for the same label of the same comparison.
    each = each[np.argsort(group[each] + rng.random(len(each)))]
    first = np.cumsum(there) - there
    taken = np.arange(len(each)) - first[group[each]] < wanted[group[each]]
    among, stated = group[each[taken]], confidence[each[taken]]
    size = len(wanted)
    lowest, product = np.ones(size), np.ones(size)
    np.minimum.at(lowest, among, stated)
    np.multiply.at(product, among, stated)
    sums = {
        "stated": wanted,
        "total": np.bincount(among, stated, minlength=size),
        "lowest": lowest,
        "product": product,
    }
    by_label = {name: values.reshape(-1, 3) for name, values in sums.items()}
    return {key: confidence_labels(by_label, weigh) for key, weigh in WEIGHINGS.items()}


def _parts(counts: VoteCounts | OrderCounts) -> tuple[IntArray, ...]:
    if isinstance(counts, VoteCounts):
        return counts.minus, counts.tie + counts.plus
    return counts.ab.sum(axis=1), counts.ba.sum(axis=1)


def votes_to_draw(counts: VoteCounts | OrderCounts) -> IntArray:
    """Most votes that can be drawn of each comparison; of both orders alike where they are
    known.
    """
    if isinstance(counts, VoteCounts):
        return counts.n
    return np.asarray(2 * np.minimum(counts.ab.sum(axis=1), counts.ba.sum(axis=1)))


def votes_source(counts: VoteCounts, orders: OrderCounts | None) -> VoteCounts | OrderCounts:
    """Where to draw fewer votes from: both orders alike where nine tenths have both (of those with
    gold).
    """
    if orders is None:
        return counts
    labelled = int((counts.gold != NO_GOLD).sum())
    both = int(((votes_to_draw(orders) > 0) & (orders.gold != NO_GOLD)).sum())
    return orders if both and both >= KEPT * labelled else counts


def doubling(capacity: IntArray) -> tuple[int, ...]:
    """1, 2, 4, … and the most votes that nine tenths of the comparisons have (at least one has)."""
    most = int(np.quantile(capacity, 1 - KEPT, method="lower")) or int(capacity[capacity > 0].min())
    return tuple(sorted({*(2**k for k in range(most.bit_length()) if 2**k <= most), most}))


def _draw(votes: IntArray, n: int | IntArray, rng: np.random.Generator) -> IntArray:
    """Votes drawn of each row, (rows, 3); n of each, or its own number."""
    first = rng.hypergeometric(votes[:, 0], votes[:, 1] + votes[:, 2], n)
    second = rng.hypergeometric(votes[:, 1], votes[:, 2], n - first)
    return np.column_stack([first, second, n - first - second])


CALIBRATION_SIZES = tuple(range(20, 201, 20))
"""Sizes of the calibration-size sweep (docs/methods.md §3)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sweep:
    """Error of each rule at each number of `over`: votes per comparison, or labelled comparisons.

    sizes : (sizes,).  methods : keys.  Everything else is (sizes, methods):
    mae, pa : 0 to 2 and 0 to 1; the intervals say how far the mean varies over draws (of votes, and
        of
    calibration sets), not sampling error.  mae_item, pa_item : the same with intervals over items.
        All are
    cut at what an error or a share can be.
    more : MAE above that at the largest size, with an interval paired by item. Intervals over items
        are those
    of `core.stats.splits`: they leave out which items calibrate, and are NaN with one item.
    mae_all_labels : (sizes,), MAE of BTD fitted on every label, on the same evaluation sets.
    not_possible : size → why it is left out.  left_out : labelled comparisons with too few votes.
    balanced : half of the votes come from each order shown.  calibration : mean comparisons to
        calibrate on;
    under `labels` of the largest set.  draws : subsamples of votes.
    """

    over: Literal["votes", "labels"]
    sizes: IntArray
    methods: tuple[str, ...]
    mae: Estimates
    mae_item: Estimates
    pa: Estimates
    pa_item: Estimates
    more: Estimates
    mae_all_labels: FloatArray
    not_possible: dict[int, str] = field(default_factory=dict)
    left_out: int = 0
    balanced: bool = False
    n: int
    n_items: int
    calibration: float
    draws: int = 1
    n_splits: int

    def to_frame(self) -> DataFrame:
        """One row per size and rule."""
        ends = ("", "_item_low", "_item_high"), ("_low", "_high")
        names = [f"{name}{end}" for part in ends for name in ("mae", "pa") for end in part]
        found = flat(self)
        columns = {name: found[name].ravel() for name in (*names, "more", "more_low", "more_high")}
        first = {
            self.over: np.repeat(self.sizes, len(self.methods)),
            "rule": [RULES[key].name for key in self.methods] * len(self.sizes),
        }
        known = np.repeat(self.mae_all_labels, len(self.methods))
        return data_frame(first | columns | {"mae_all_labels": known, "n": self.n})


def vote_sweep(
    counts: VoteCounts | OrderCounts,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    sizes: Sequence[int] | None = None,
    methods: Sequence[str] = protocol.COMPARED,
    confidences: ConfidenceCounts | None = None,
    subsamples: int = 10,
    n_splits: int = 20,
    share: float = 0.05,
    minimum: int = MINIMUM_LABELS,
    level: float = 0.95,
) -> Sweep:
    """MAE and PA of each rule with n votes per comparison, n = 1, 2, 4, … up to what nine tenths
    have.

    Each of `subsamples` draws of n votes (`subsample`) is evaluated on `n_splits` calibration
    splits, whose generators are the same for every n. Comparisons with fewer votes than the largest
    n are left out at every n, so all sizes are judged on the same ones. Intervals *_low, *_high are
    mean ± t·SE over the subsamples (over splits, ± z·SE, if there is one). At n = all votes and one
    subsample the numbers are those of `evaluate`.

    confidences : of all votes, for Soft-SC and CI-SC on the drawn votes too
        (`labels_by_confidence`); the numbers of the other rules stay what they are without.
    Raises NoUsableVotes without a labelled comparison, InvalidOption for impossible sizes or a size
    that no comparison has, else as `splits` and `fit_many`. Source: [BTD] §5; intervals by item
    ours.
    """
    check_level(level)
    keys = protocol.check_rules(methods)
    if subsamples < 1:
        raise InvalidOption(f"{subsamples} subsamples: use at least 1.")
    # Draws go by row, so the order of rows must not be the caller's.
    order = np.argsort(counts.comparison, kind="stable")
    known = order[counts.gold[order] != NO_GOLD]
    capacity = votes_to_draw(counts)[known]
    if not len(known) or capacity.max() < 1:
        raise NoUsableVotes(
            "No comparison with a gold label has votes to draw from, so no error is known."
        )
    wanted = doubling(capacity) if sizes is None else tuple(sorted(set(sizes)))
    if not wanted or wanted[0] < 1 or wanted[-1] > capacity.max():
        raise InvalidOption(f"Sizes {wanted}: use numbers of votes from 1 to {capacity.max()}.")
    kept = replace(counts, **kept_rows(counts, known[capacity >= wanted[-1]]))
    if confidences is not None:
        keys = (*keys, *WEIGHINGS)

    votes_rng, splits_rng, confidence_rng = rng.spawn(3)
    each = splits_rng.spawn(subsamples)
    # The items of `splits` are dense codes, the same at every size and subsample.
    table, by_draw, known_all, spread = [], [], [], []
    for n in wanted:
        per_draw, per_item, reference = [], [], []
        for generator in each:
            votes = subsample(kept, n, rng=votes_rng)
            given = None
            if confidences is not None:
                given = labels_by_confidence(votes, confidences, rng=confidence_rng)
            drawn = splits(
                votes,
                rng=copy.deepcopy(generator),
                n_splits=n_splits,
                share=share,
                minimum=minimum,
                given=given,
            )
            together = np.concatenate([drawn.calibration, drawn.cells.weight[None]])
            errors, hits = protocol.errors_and_hits(drawn, together, keys, options)
            if "btd" in keys:
                best = errors[keys.index("btd")][-1:]
            else:
                best = protocol.errors_and_hits(drawn, together[-1:], ["btd"], options)[0][0]
            losses = [values[:-1] if len(values) > 1 else values for values in errors + hits]
            per_draw.append(mean_losses(drawn, losses))
            per_item.append(protocol.losses_by_item(drawn, losses))
            reference.append(mean_losses(drawn, [best]).mean())
        by_draw.append(np.stack([one.mean(axis=0) for one in per_draw]))
        spread.append(by_draw[-1] if subsamples > 1 else per_draw[0])
        table.append(_mean_seen(per_item))
        known_all.append(np.mean(reference))
    return _sweep(
        drawn,
        mean=np.stack([one.mean(axis=0) for one in by_draw]),
        half=np.stack([half_width(one, level, independent=subsamples > 1) for one in spread]),
        by_item=np.stack(table),
        fixed=np.zeros(len(keys), dtype=bool),
        level=level,
        over="votes",
        sizes=np.array(wanted, dtype=np.int64),
        methods=keys,
        mae_all_labels=np.array(known_all),
        left_out=len(known) - len(kept),
        balanced=isinstance(counts, OrderCounts),
        draws=subsamples,
    )


def label_sweep(
    counts: VoteCounts,
    options: BTDOptions = DEFAULTS,
    *,
    rng: np.random.Generator,
    sizes: Sequence[int] = CALIBRATION_SIZES,
    methods: Sequence[str] = protocol.COMPARED,
    n_splits: int = 100,
    level: float = 0.95,
) -> Sweep:
    """MAE and PA of each rule after calibration on 20, 40, … 200 labelled comparisons.

    The calibration sets of a split are nested, drawn by item, and all are evaluated on what lies
    outside the largest. Sizes that would leave fewer than 20 comparisons of other items are left
    out, with the reason. Intervals *_low, *_high are mean ± z·SE over splits.

    Raises InvalidOption for a size below 20, TooFewLabels if not even the smallest is possible.
    Source: [BTD] §5; intervals by item ours.
    """
    check_level(level)
    keys = protocol.check_rules(methods)
    wanted = tuple(sorted(set(sizes)))
    if n_splits < 2:
        raise InvalidOption(f"{n_splits} splits: use at least 2, so that their spread is known.")
    if not wanted or wanted[0] < MINIMUM_LABELS:
        raise InvalidOption(f"Calibration sizes {wanted}: use numbers from {MINIMUM_LABELS} up.")
    possible, labels = protocol.largest_draw(counts), int((counts.gold != NO_GOLD).sum())
    reason = (
        f"{labels} labelled comparisons leave fewer than {MINIMUM_LABELS} "
        "of other items to evaluate on"
    )
    used = tuple(size for size in wanted if size <= possible)
    if not used:
        raise TooFewLabels(f"Calibration on {wanted[0]} comparisons is not possible: {reason}.")

    drawn, nested = protocol.nested_splits(counts, used, rng=rng, n_splits=n_splits)
    stacked = np.concatenate([nested.reshape(-1, len(drawn.cells)), drawn.cells.weight[None]])
    with_btd = keys if "btd" in keys else (*keys, "btd")
    errors, hits = protocol.errors_and_hits(drawn, stacked, with_btd, options)
    best = mean_losses(drawn, [errors[with_btd.index("btd")][-1:]]).mean()

    def at(values: FloatArray, place: int) -> FloatArray:
        return values if len(values) == 1 else values[place * n_splits : (place + 1) * n_splits]

    chosen = errors[: len(keys)] + hits[: len(keys)]
    losses = [at(values, place) for place in range(len(used)) for values in chosen]
    per_split = mean_losses(drawn, losses).reshape(n_splits, len(used), -1)
    by_item = protocol.losses_by_item(drawn, losses).reshape(drawn.n_items, len(used), -1)
    return _sweep(
        drawn,
        mean=per_split.mean(axis=0),
        half=np.stack([half_width(per_split[:, place], level) for place in range(len(used))]),
        by_item=np.moveaxis(by_item, 1, 0),
        fixed=np.array([len(values) == 1 for values in errors[: len(keys)]]),
        level=level,
        over="labels",
        sizes=np.array(used, dtype=np.int64),
        methods=keys,
        mae_all_labels=np.full(len(used), best),
        not_possible={size: reason for size in wanted if size > possible},
    )


def _mean_seen(tables: Sequence[FloatArray]) -> FloatArray:
    """Mean over subsamples of the losses of each item, NaN where no split of any evaluates it."""
    total, times = np.zeros(tables[0].shape), np.zeros(tables[0].shape, dtype=np.int64)
    for table in tables:
        seen = ~np.isnan(table)
        np.add(total, table, out=total, where=seen)
        times += seen
    return np.asarray(np.divide(total, times, out=np.full(total.shape, np.nan), where=times > 0))


def _sweep(
    drawn: Splits,
    mean: FloatArray,
    half: FloatArray,
    by_item: FloatArray,
    fixed: BoolArray,
    level: float,
    **about: Any,
) -> Sweep:
    """Estimates of a sweep from (sizes, methods) means and (sizes, items, methods) losses, and what
    it is `about`.

    mean, half, by_item : errors of all methods, then hits.  fixed : methods that no size changes.
    """
    m = len(fixed)
    highest = np.repeat([2.0, 1.0], m)
    more = mean[:, :m] - mean[-1, :m]

    def wide(table: FloatArray) -> ItemLosses:
        return protocol.seen_items(drawn, np.moveaxis(table, 0, 1).reshape(table.shape[1], -1))

    def shaped(found: Estimates, shape: tuple[int, ...]) -> list[FloatArray]:
        return [values.reshape(shape) for values in (found.value, found.low, found.high)]

    most = np.tile(highest, len(mean))
    over_items = shaped(
        error_intervals(wide(by_item), mean.ravel(), highest=most, level=level), mean.shape
    )
    apart = wide(by_item[:, :, :m] - by_item[-1, :, :m])
    rise, low, high = shaped(change_intervals(apart, more.ravel(), level=level), more.shape)
    # A size beside itself, and a rule that has nothing to learn from the labels, differ by nothing
    # for sure.
    low[-1] = high[-1] = 0.0
    low[:, fixed] = high[:, fixed] = 0.0
    # Symmetric about the mean, an end can leave what an error or a share can be.
    over_draws = mean, np.maximum(mean - half, 0.0), np.minimum(mean + half, highest)

    def part(of: Sequence[FloatArray], columns: slice) -> Estimates:
        value, low, high = (end[:, columns] for end in of)
        return Estimates(value, low, high, level=level)

    errors, hits = slice(m), slice(m, None)
    return Sweep(
        mae=part(over_draws, errors),
        mae_item=part(over_items, errors),
        pa=part(over_draws, hits),
        pa_item=part(over_items, hits),
        more=Estimates(rise, low, high, level=level),
        n=drawn.n,
        n_items=drawn.n_items,
        calibration=float(drawn.calibration.sum(axis=1).mean()),
        n_splits=len(drawn.calibration),
        **about,
    )
