"""Random calibration splits that draw items, what each item then loses on average, and how sure
that is.

Splits are collapsed to cells of equal votes. Intervals leave out which items calibrate: the losses
are taken as they are, and only the items are a sample. A bootstrap over items, tried first, covered
the error of a judge that is right in 97 % of 60 items in three sets of four, and called rules of
equal worth different in one of five with ten items or fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidOption, TooFewLabels
from ..records import FloatArray, IntArray, VoteCells, VoteCounts
from .estimate import DataFrame, Estimates, data_frame, flat
from .intervals import (
    check_level,
    dense_codes,
    mean_error_interval,
    mean_interval,
    t_quantile,
    z_quantile,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Splits:
    """Splits of the labelled comparisons into calibration and evaluation, as weights of cells.

    cells : distinct (plus, tie, minus, gold, given labels) with their number of comparisons.
    given : labels from outside by method, (cells,).
    calibration : (splits, cells), comparisons to calibrate on; the rest of a cell is for
        evaluation.
    n : comparisons.  n_items : items.  item, cell : of each comparison.
    single : every item has one comparison, so items of a cell are alike and no item was drawn by
        name.
    entry_split, entry_row : unless single, one entry for each comparison in each calibration set.
    """

    cells: VoteCells
    given: dict[str, IntArray]
    calibration: FloatArray
    n: int
    n_items: int
    single: bool
    item: IntArray
    cell: IntArray
    entry_split: IntArray
    entry_row: IntArray

    @property
    def evaluation(self) -> FloatArray:
        """(splits, cells), comparisons to evaluate on."""
        return np.asarray(self.cells.weight - self.calibration)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CalibrationSets:
    """Calibration sets comparison by comparison, for what must keep the comparisons of an item
    together.

    set, cell : of each comparison in each set.  item : its item, a code within `n_sets` sets.
    n_items : (sets,), items of each set.
    """

    cells: VoteCells
    set: IntArray
    cell: IntArray
    item: IntArray
    n_items: IntArray

    @property
    def weights(self) -> FloatArray:
        """(sets, cells), comparisons of each cell in each set."""
        n_sets, n_cells = len(self.n_items), len(self.cells)
        counted = np.bincount(self.set * n_cells + self.cell, minlength=n_sets * n_cells)
        return counted.reshape(n_sets, n_cells).astype(np.float64)

    @property
    def item_of_set(self) -> IntArray:
        """Item of each comparison, numbered 0, 1, 2 … over all sets, set by set."""
        return dense_codes(self.set * (int(self.item.max(initial=0)) + 1) + self.item)

    def folds(self, k: int, *, rng: np.random.Generator) -> IntArray:
        """Fold of each comparison, 0 … k − 1: items of a set are dealt out in turn, in random
        order.
        """
        code = self.item_of_set
        set_of = np.empty(int(self.n_items.sum()), dtype=np.int64)
        set_of[code] = self.set
        order = np.lexsort([rng.random(len(set_of)), set_of])
        first = np.cumsum(self.n_items) - self.n_items
        fold = np.empty(len(set_of), dtype=np.int64)
        fold[order] = (np.arange(len(set_of)) - first[set_of[order]]) % k
        return fold[code]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ItemLosses:
    """Mean loss of alike items over the splits in which they are evaluated.

    loss : (kinds, methods).  items : (kinds,), how many items are of the kind.
    size : (kinds,), comparisons of one such item.
    """

    loss: FloatArray
    items: IntArray
    size: FloatArray

    @classmethod
    def of(cls, loss: FloatArray, size: IntArray) -> ItemLosses:
        """Each item a kind of its own."""
        return cls(
            loss=loss, items=np.ones(len(size), dtype=np.int64), size=size.astype(np.float64)
        )


def splits(
    counts: VoteCounts,
    *,
    rng: np.random.Generator,
    n_splits: int = 100,
    share: float = 0.05,
    minimum: int = 20,
    given: Mapping[str, IntArray] | None = None,
    by_name: bool = False,
) -> Splits:
    """Draw calibration sets of `share` of the items, rounded, and more until they hold `minimum`
    comparisons.

    Items are drawn, never comparisons. With one comparison per item this is a multivariate
    hypergeometric draw of cells; otherwise items are drawn by name and their comparisons counted
    into cells. Unlabelled
    comparisons are left out. given : labels from outside by method, one per row of `counts`.
    by_name : draw items by name even so, for who must know which comparisons calibrate.

    Raises TooFewLabels if `minimum` comparisons and another item are not always to be had. Source:
    [BTD] §5.
    """
    _check_splits(n_splits, share)
    if minimum < 1:
        raise InvalidOption(f"At least {minimum} comparisons in calibration: use 1 or more.")
    labelled = counts.gold >= -1
    columns = [getattr(counts, name)[labelled] for name in ("plus", "tie", "minus", "gold")]
    columns += [labels[labelled] for labels in (given or {}).values()]
    first, cell, weight = _collapse(columns)
    cells = VoteCells(
        plus=columns[0][first],
        tie=columns[1][first],
        minus=columns[2][first],
        gold=columns[3][first],
        weight=weight.astype(np.float64),
    )
    item = dense_codes(counts.item[labelled])
    sizes = np.bincount(item)
    n, n_items = len(cell), len(sizes)
    wanted = _items_to_draw(sizes, share, minimum)
    single = n == n_items and not by_name
    entry_split = entry_row = np.empty(0, dtype=np.int64)
    if single:
        size = max(wanted, minimum)
        # Patterns of votes are drawn first, so that labels from outside do not change the splits of
        # others.
        pattern = _collapse([column[first] for column in columns[:4]])[1]
        of_pattern = np.bincount(pattern, weights=weight).astype(np.int64)
        dealt = rng.multivariate_hypergeometric(of_pattern, size, size=n_splits)
        calibration = (_deal(dealt, pattern, weight, rng) if given else dealt).astype(np.float64)
    else:
        entry_split, entry_row = _draw_items(item, sizes, wanted, minimum, n_splits, rng)
        flat = np.bincount(
            entry_split * len(cells) + cell[entry_row], minlength=n_splits * len(cells)
        )
        calibration = flat.reshape(n_splits, len(cells)).astype(np.float64)
    return Splits(
        cells=cells,
        given={key: column[first] for key, column in zip(given or {}, columns[4:], strict=True)},
        calibration=calibration,
        n=n,
        n_items=n_items,
        single=single,
        item=item,
        cell=cell,
        entry_split=entry_split,
        entry_row=entry_row,
    )


def calibration_sets(drawn: Splits) -> CalibrationSets:
    """Comparisons of each calibration set. Items with one comparison each are numbered within their
    set.
    """
    if not drawn.single:
        item, n_items = drawn.item[drawn.entry_row], drawn.n_items
        taken = np.unique(drawn.entry_split * n_items + item) // n_items
        return CalibrationSets(
            cells=drawn.cells,
            set=drawn.entry_split,
            cell=drawn.cell[drawn.entry_row],
            item=item,
            n_items=np.bincount(taken, minlength=len(drawn.calibration)),
        )
    return sets_of_weights(drawn.cells, drawn.calibration)


def sets_of_weights(cells: VoteCells, weights: FloatArray) -> CalibrationSets:
    """Sets given by their comparisons of each cell, (sets, cells); each comparison is an item of
    its own.
    """
    chosen, cell = np.nonzero(weights)
    times = weights[chosen, cell].astype(np.int64)
    return CalibrationSets(
        cells=cells,
        set=np.repeat(chosen, times),
        cell=np.repeat(cell, times),
        item=np.arange(times.sum()),
        n_items=weights.sum(axis=1).astype(np.int64),
    )


def everything(counts: VoteCounts) -> CalibrationSets:
    """One set of all labelled comparisons."""
    labelled = counts.labelled()
    cells, cell = labelled.cells()
    item = dense_codes(labelled.item)
    return CalibrationSets(
        cells=cells,
        set=np.zeros_like(cell),
        cell=cell,
        item=item,
        n_items=np.array([int(item.max(initial=-1)) + 1]),
    )


def mean_losses(drawn: Splits, losses: Sequence[FloatArray]) -> FloatArray:
    """Mean loss over the evaluation part of each split, (splits, losses), from (splits or 1, cells)
    each.
    """
    evaluation = drawn.evaluation
    size = evaluation.sum(axis=1)
    return np.stack([(evaluation * values).sum(axis=1) / size for values in losses], axis=1)


def half_width(values: FloatArray, level: float, *, independent: bool = False) -> FloatArray:
    """Half-width of an interval of the mean over rows: z·SE over splits, t·SE over few independent
    draws.
    """
    quantile = t_quantile(len(values) - 1, level) if independent else z_quantile(level)
    return np.asarray(quantile * values.std(axis=0, ddof=1) / np.sqrt(len(values)))


def item_losses(drawn: Splits, losses: Sequence[FloatArray]) -> ItemLosses:
    """Average the losses of each method, (splits or 1, cells), over the splits in which an item is
    evaluated.

    Items with one comparison are alike within a cell and are averaged over the cell's evaluation
    part.
    """
    n_splits = len(drawn.calibration)
    if drawn.single:
        evaluation = drawn.evaluation
        times = evaluation.sum(axis=0)
        seen = times > 0
        loss = np.stack(
            [(evaluation * values).sum(axis=0)[seen] / times[seen] for values in losses], axis=1
        )
        items = drawn.cells.weight[seen].astype(np.int64)
        return ItemLosses(loss=loss, items=items, size=np.ones(len(items)))

    sizes = np.bincount(drawn.item, minlength=drawn.n_items)
    entry_item, entry_cell = drawn.item[drawn.entry_row], drawn.cell[drawn.entry_row]
    evaluated = n_splits * sizes - np.bincount(entry_item, minlength=drawn.n_items)
    seen = evaluated > 0
    columns = []
    for values in losses:
        by_split = np.broadcast_to(values, drawn.calibration.shape)
        all_splits = np.bincount(
            drawn.item, weights=by_split.sum(axis=0)[drawn.cell], minlength=drawn.n_items
        )
        calibrated = np.bincount(
            entry_item, weights=by_split[drawn.entry_split, entry_cell], minlength=drawn.n_items
        )
        columns.append((all_splits - calibrated)[seen] / evaluated[seen])
    return ItemLosses.of(np.stack(columns, axis=1), sizes[seen])


def sign_flip_p_value(
    difference: FloatArray, items: IntArray, *, resamples: int, rng: np.random.Generator
) -> float:
    """Paired sign-flip permutation test that the mean difference over items is 0.

    One random sign per item and resample; T the unweighted mean over items, p = (1 + #{|T_r| ≥
    |T|})/(R + 1).
    difference : (kinds,), with `items` of each kind. Items that differ equally much need only the
        sum of
    their signs, and those that do not differ need none. Source: ours, docs/methods.md §3.
    """
    observed = abs(float(items @ difference))
    size, kind = np.unique(np.abs(difference).round(12), return_inverse=True)
    alike = np.bincount(kind, weights=items).astype(np.int64)
    alike, size = alike[size > 0], size[size > 0]
    flipped = np.empty(resamples)
    # A coin is a bit: of each kind whole bytes, the last of which keeps as many bits as there are
    # items left.
    many = -(-alike // 8)
    ends = np.cumsum(many)
    keep = np.full(ends[-1] if len(ends) else 0, 255, dtype=np.uint8)
    keep[ends - 1] = 255 >> (8 * many - alike)
    worth = np.repeat(size, many)
    words = -(-len(keep) // 8)
    chunk = max(1, 4_000_000 // max(len(keep), 1))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        coins = rng.integers(0, 2**64, (rows, words), dtype=np.uint64).view(np.uint8)[
            :, : len(keep)
        ]
        flipped[start : start + rows] = np.bitwise_count(coins & keep).astype(np.float64) @ worth
    flipped = np.abs(2 * flipped - alike @ size)
    # Resamples that equal the observation but for rounding count as reaching it.
    reached = np.count_nonzero(flipped >= observed - 1e-9)
    return (1 + reached) / (resamples + 1)


def _check_splits(n_splits: int, share: float) -> None:
    if n_splits < 2:
        raise InvalidOption(f"{n_splits} splits: use at least 2, so that their spread is known.")
    if not 0 < share < 1:
        raise InvalidOption(f"Calibration share {share:g}: use a share between 0 and 1.")


def _items_to_draw(sizes: IntArray, share: float, minimum: int) -> int:
    """Items of a calibration set of `share`, from the comparisons of each item."""
    n, n_items = int(sizes.sum()), len(sizes)
    if n - sizes.max(initial=0) < minimum:
        raise TooFewLabels(
            f"Splits need at least {minimum} labelled comparisons to calibrate on and another item "
            f"to evaluate on; there are {n} labelled comparisons of "
            f"{n_items} item{'s' if n_items != 1 else ''}."
        )
    return min(max(1, round(share * n_items)), n_items - 1)


def _draw_items(
    item: IntArray,
    sizes: IntArray,
    wanted: int,
    minimum: int,
    n_splits: int,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Rows of the comparisons of the drawn items, as (split, row) entries."""
    n_items = len(sizes)
    most = min(n_items - 1, max(wanted, minimum))
    drawn = np.stack([rng.choice(n_items, most, replace=False) for _ in range(n_splits)])
    enough = (np.cumsum(sizes[drawn], axis=1) < minimum).sum(axis=1) + 1
    keep = np.arange(most) < np.maximum(wanted, enough)[:, None]
    split, drawn = np.nonzero(keep)[0], drawn[keep]

    return np.repeat(split, sizes[drawn]), rows_of_items(item, sizes, drawn)


def rows_of_items(item: IntArray, sizes: IntArray, drawn: IntArray) -> IntArray:
    """Rows of the items drawn, one item after another.  sizes : rows of each item."""
    rows = np.argsort(item, kind="stable")
    begin, length = np.cumsum(sizes) - sizes, sizes[drawn]
    offset = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return np.asarray(rows[np.repeat(begin[drawn], length) + offset])


def _deal(
    drawn: IntArray, pattern: IntArray, weight: IntArray, rng: np.random.Generator
) -> IntArray:
    """Deal the comparisons drawn of each pattern, (splits, patterns), at random among its cells.

    pattern, weight : (cells,); cells of one pattern follow each other.
    """
    start = np.flatnonzero(np.diff(pattern, prepend=-1))
    length = np.diff(start, append=len(pattern))
    dealt = np.empty((len(drawn), len(pattern)), dtype=np.int64)
    left, rest = drawn.copy(), np.add.reduceat(weight, start)
    for place in range(int(length.max())):
        open_ = np.flatnonzero(length > place)
        here = start[open_] + place
        rest[open_] -= weight[here]
        taken = rng.hypergeometric(weight[here], rest[open_], left[:, open_])
        left[:, open_] -= taken
        dealt[:, here] = taken
    return dealt


def _collapse(columns: list[IntArray]) -> tuple[IntArray, IntArray, IntArray]:
    """First row of each distinct combination, the combination of each row, and how many rows have
    it.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    span = 1
    for column in columns:
        low = int(column.min(initial=0))
        width = int(column.max(initial=0)) - low + 1
        if span * width > 2**62:
            key = np.unique(key, return_inverse=True)[1]
            span = len(key)
        key = key * width + (column - low)
        span *= width
    _, first, inverse, count = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    return first, inverse, count


def error_intervals(
    losses: ItemLosses, estimate: ArrayLike, *, highest: ArrayLike, level: float
) -> Estimates:
    """Interval of each mean error or share, (columns,), moved to sit on `estimate` and within 0 to
    `highest`.

    That of `mean_error_interval`: with few errors it is not symmetric, and never 0 to 0.  estimate
    : means over splits, which weigh items a little otherwise than `losses`.  Ends are NaN with one
        item.
    """
    times = losses.items * losses.size.astype(np.int64)
    kind = np.repeat(np.arange(len(times)), times)
    item = np.repeat(
        np.arange(losses.items.sum()), np.repeat(losses.size, losses.items).astype(np.int64)
    )
    value = np.atleast_1d(np.asarray(estimate, dtype=np.float64))
    most = np.broadcast_to(np.asarray(highest, dtype=np.float64), value.shape)
    # A mean over splits can be off its ends by rounding.
    ends = Estimates.of(
        [
            mean_error_interval(item, np.clip(column, 0.0, top)[kind], highest=top, level=level)
            for column, top in zip(losses.loss.T, most.tolist(), strict=True)
        ]
    )
    low = np.clip(ends.low + value - ends.value, 0.0, value)
    high = np.clip(ends.high + value - ends.value, value, most)
    return Estimates(value, low, high, n=int(losses.items.sum()), level=level)


def change_intervals(
    losses: ItemLosses, estimate: ArrayLike, *, of_labels: bool = True, level: float
) -> Estimates:
    """Interval of each mean difference of two losses, (columns,), moved to sit on `estimate`.

    That of `mean_interval`: t(items − 1), with two items more, so that two rules that have not
    differed yet are not taken for one. They differ by ±1 on as many comparisons as change together
    in an item: Σd²/Σ|d| over items that differ by d in all, at least 1; on all of an item of
    average size where none differs, the
    cautious end.  of_labels : no such items for losses that differ everywhere a little, such as the
        DRPS.
    Ends are NaN with one item, as nothing is known of others.
    """
    kind = np.repeat(np.arange(len(losses.items)), losses.items)
    item, size = np.arange(len(kind)), losses.size[kind]
    estimates = []
    for column in losses.loss.T:
        change = column[kind]
        added = _together(size * change) / size.mean() if of_labels else None
        sides = () if added is None else (-min(added, 1.0), min(added, 1.0))
        estimates.append(
            mean_interval(item, change, ends=sides, within=(-np.inf, np.inf), n=size, level=level)
        )
    own, value = Estimates.of(estimates), np.asarray(estimate, dtype=np.float64)
    low = np.minimum(own.low + value - own.value, value)
    high = np.maximum(own.high + value - own.value, value)
    return Estimates(value, low, high, n=int(losses.items.sum()), level=level)


def _together(change: FloatArray) -> float:
    """Labels that change together in an item, from each item's change in all; infinite if none
    changes.
    """
    moved = float(np.abs(change).sum())
    return max(float((change**2).sum()) / moved, 1.0) if moved else np.inf


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HeldOutScores:
    """Rules on the same held-out comparisons; the first is compared with each of the others.

    names : of the rules.  mae : mean absolute error in levels of the label; drps : mean DRPS, NaN
        for a rule that gives labels without probabilities.
    mae_change, drps_change : the first rule's minus this one's; below 0 the first is better. 0 for
        itself.
    Intervals are over items, and leave out which items calibrate; NaN with one held-out item.
    n, items : comparisons and items that were held out at least once.
    calibration : mean comparisons of a calibration set; `n_splits` sets were drawn.
    """

    names: tuple[str, ...]
    mae: Estimates
    mae_change: Estimates
    drps: FloatArray
    drps_change: Estimates
    n: int
    items: int
    calibration: float

    def to_frame(self) -> DataFrame:
        """One row per rule."""
        columns = {
            name: value for name, value in flat(self).items() if name.startswith(("mae", "drps"))
        }
        return data_frame({"rule": self.names} | columns).assign(n=self.n, items=self.items)


class HeldOut:
    """A result that is compared with other rules on held-out comparisons."""

    __slots__ = ()
    scores: HeldOutScores

    def to_frame(self) -> DataFrame:
        """One row per rule, as `scores`."""
        return self.scores.to_frame()


def held_out_scores(
    losses: ItemLosses,
    names: tuple[str, ...],
    *,
    calibration: float,
    highest: float = 2.0,
    level: float = 0.95,
) -> HeldOutScores:
    """Scores from per-item losses whose columns are the |errors| of the rules, then their DRPS.

    A mean goes over comparisons, each with its loss averaged over the splits that held it out
    (ours).
    highest : largest error that a label can have. Rules with the same probabilities on every
        held-out
    comparison are one rule, and their change is 0 without a doubt.
    """
    check_level(level)
    rules = len(names)
    weight = losses.items * losses.size
    value = weight @ losses.loss / weight.sum()
    errors, forecasts = losses.loss[:, :rules], losses.loss[:, rules:]
    change = value[[0, rules]].repeat(rules) - value
    same = (forecasts[:, :1] == forecasts).all(axis=0)
    changes = []
    for part, mean, of_labels in (
        (errors, change[:rules], True),
        (forecasts, change[rules:], False),
    ):
        apart = replace(losses, loss=part[:, :1] - part)
        ends = change_intervals(apart, mean, of_labels=of_labels, level=level)
        ends.low[same], ends.high[same] = mean[same], mean[same]
        # A rule beside itself.
        ends.low[0] = ends.high[0] = mean[0]
        changes.append(ends)
    return HeldOutScores(
        names=names,
        mae=error_intervals(
            replace(losses, loss=errors), value[:rules], highest=highest, level=level
        ),
        mae_change=changes[0],
        drps=value[rules:],
        drps_change=changes[1],
        n=int(weight.sum()),
        items=int(losses.items.sum()),
        calibration=calibration,
    )


def calibration_rows(
    item: IntArray, *, rng: np.random.Generator, n_splits: int, share: float, minimum: int
) -> list[IntArray]:
    """Rows of each random calibration set: `share` of the items, and more until they hold `minimum`
    rows.

    Unlike `core.stats.splits.splits` it names the rows, for rules that need more than the counts of
    a row.

    Raises TooFewLabels if `minimum` rows and another item are not always to be had, InvalidOption
    for fewer than 2 splits or a share outside 0 to 1. Source: [BTD] §5.
    """
    _check_splits(n_splits, share)
    code = dense_codes(item)
    sizes = np.bincount(code)
    wanted = _items_to_draw(sizes, share, minimum)
    rows = []
    for _ in range(n_splits):
        shuffled = rng.permutation(len(sizes))
        enough = int(np.searchsorted(np.cumsum(sizes[shuffled]), minimum)) + 1
        drawn = np.zeros(len(sizes), dtype=bool)
        drawn[shuffled[: max(wanted, enough)]] = True
        rows.append(np.flatnonzero(drawn[code]))
    return rows


def held_out_losses(
    item: IntArray, chosen: Sequence[IntArray], losses: Iterable[FloatArray]
) -> ItemLosses:
    """Mean loss of each item over the splits that hold it out.

    chosen : calibration rows of each split, whose losses are left out.  losses : of each split,
        (rows, columns).
    """
    total, times = np.zeros(()), np.zeros(len(item), dtype=np.int64)
    for rows, loss in zip(chosen, losses, strict=True):
        away = np.ones(len(item), dtype=bool)
        away[rows] = False
        total = total + np.where(away[:, None], loss, 0.0)
        times += away
    code = dense_codes(item)
    count = np.bincount(code, weights=times)
    seen = count > 0
    by_item = np.stack([np.bincount(code, weights=column)[seen] for column in total.T], axis=1)
    return ItemLosses.of(by_item / count[seen, None], np.bincount(code)[seen])
