"""What experiments share: calibration items drawn by name, the error of each rule then, losses by
item.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import InvalidOption, TooFewLabels
from ...records import FloatArray, IntArray, VoteCounts
from ...stats.intervals import dense_codes
from ...stats.splits import ItemLosses, Splits, item_losses, rows_of_items
from ..labels.btd import DEFAULTS, MINIMUM_LABELS, BTDOptions
from ..labels.rules import RULES, check_known, forecast_by, forecast_losses, one_hot

COMPARED = ("btd", "btd_shrunk", "threshold", "majority")
"""Rules that experiments compare by default."""


def check_rules(methods: Sequence[str]) -> tuple[str, ...]:
    """Keys without repetition; UnknownName or InvalidOption for one that counts of votes cannot
    feed.
    """
    check_known(methods)
    for key in methods:
        if RULES[key].forecast is None:
            raise InvalidOption(
                f"Aggregator {key!r} needs more than counts of votes, so it has no sweep."
            )
    return tuple(dict.fromkeys(methods))


def largest_draw(counts: VoteCounts) -> int:
    """Most comparisons to ask of a calibration set, with 20 of other items left to evaluate on.

    Whole items are drawn, so a set can hold up to an item less one comparison more than wanted.
    """
    labelled = counts.labelled()
    if not len(labelled):
        return 0
    largest = int(np.bincount(dense_codes(labelled.item)).max())
    return max(0, len(labelled) - MINIMUM_LABELS - (largest - 1))


def nested_splits(
    counts: VoteCounts, sizes: Sequence[int], *, rng: np.random.Generator, n_splits: int
) -> tuple[Splits, FloatArray]:
    """Calibration sets of growing size, each inside the next; all leave out the same items (ours).

    Items are drawn in random order; a set of size m is the fewest first ones with m comparisons or
    more.

    Returns splits whose calibration set is the largest, so that their `evaluation` is what all
    sizes leave; and (sizes, splits, cells), comparisons of each cell in each set.

    Raises TooFewLabels if the largest size is more than `largest_draw`. Source: [BTD] §5,
    calibration-size sweep.
    """
    labelled = counts.labelled()
    most, possible = max(sizes), largest_draw(counts)
    if most > possible:
        raise TooFewLabels(
            f"Calibration sets of {most} comparisons leave fewer than {MINIMUM_LABELS} of other "
            f"items to evaluate on; there are {len(labelled)} labelled comparisons, enough for "
            f"sets of {possible}."
        )
    cells, cell = labelled.cells()
    item = dense_codes(labelled.item)
    n_rows = np.bincount(item)
    pick = min(len(n_rows), most)
    drawn = np.stack([rng.choice(len(n_rows), pick, replace=False) for _ in range(n_splits)])
    before = np.cumsum(n_rows[drawn], axis=1) - n_rows[drawn]
    split, place = np.nonzero(before < most)
    chosen, before = drawn[split, place], before[split, place]

    length = n_rows[chosen]
    entry_row = rows_of_items(item, n_rows, chosen)
    entry_split, entry_before = np.repeat(split, length), np.repeat(before, length)
    key = entry_split * len(cells) + cell[entry_row]
    nested = [
        np.bincount(key[entry_before < size], minlength=n_splits * len(cells)) for size in sizes
    ]
    calibration = np.stack(nested).reshape(len(sizes), n_splits, len(cells)).astype(np.float64)
    largest = Splits(
        cells=cells,
        given={},
        calibration=calibration[int(np.argmax(sizes))],
        n=len(item),
        n_items=len(n_rows),
        single=False,
        item=item,
        cell=cell,
        entry_split=entry_split,
        entry_row=entry_row,
    )
    return largest, calibration


def errors_and_hits(
    drawn: Splits, calibration: FloatArray, methods: Sequence[str], options: BTDOptions = DEFAULTS
) -> tuple[list[FloatArray], list[FloatArray]]:
    """|ŷ − y| and 1{ŷ = y} of each rule in each cell, (sets or 1, cells), after calibration on each
    set.

    calibration : (sets, cells).  Shrunken BTD has the weak prior; rules whose labels the splits
        were given say those.
    """
    forecasts = (
        one_hot(drawn.given[key])[None]
        if key in drawn.given
        else forecast_by(key, drawn.cells, calibration, options)
        for key in methods
    )
    losses = [forecast_losses(forecast, drawn.cells.gold) for forecast in forecasts]
    return [error for error, _ in losses], [hit for _, hit in losses]


def losses_by_item(drawn: Splits, losses: Sequence[FloatArray]) -> FloatArray:
    """Mean loss of each item over the splits that evaluate it, (items, losses); NaN where none
    does.
    """
    found = item_losses(drawn, losses).loss
    table = np.full((drawn.n_items, len(losses)), np.nan)
    if drawn.single:
        by_cell = np.full((len(drawn.cells), len(losses)), np.nan)
        by_cell[drawn.evaluation.sum(axis=0) > 0] = found
        table[drawn.item] = by_cell[drawn.cell]
        return table
    sizes = np.bincount(drawn.item, minlength=drawn.n_items)
    calibrated = np.bincount(drawn.item[drawn.entry_row], minlength=drawn.n_items)
    table[len(drawn.calibration) * sizes > calibrated] = found
    return table


def seen_items(drawn: Splits, loss: FloatArray) -> ItemLosses:
    """Losses of the items that a split evaluated, from (items, losses) as `losses_by_item` has
    them.

    All losses are of the same items, so a column may be a difference.
    """
    seen = ~np.isnan(loss).any(axis=1)
    return ItemLosses.of(loss[seen], np.bincount(drawn.item)[seen])


def chances(votes: IntArray, among: IntArray) -> FloatArray:
    """Chance that as many votes as in `among`, drawn without replacement from `votes`, are exactly
    those.

    Multivariate hypergeometric: Π C(votes_y, among_y) / C(Σ votes, Σ among); (rows, 3), (states, 3)
    → (rows, states). 0 where there are too few.
    """
    ways = _choose(votes[:, None, :], among[None]).prod(axis=2)
    total = _choose(votes.sum(axis=1)[:, None], among.sum(axis=1)[None])
    return np.asarray(ways / np.maximum(total, 1.0))


def _choose(n: IntArray, k: IntArray) -> FloatArray:
    """Binomial coefficients, broadcast; the table has a row for each distinct n, as n may be a
    million.
    """
    distinct, place = np.unique(n, return_inverse=True)
    table = np.ones((len(distinct), int(k.max(initial=0)) + 1))
    for i in range(table.shape[1] - 1):
        table[:, i + 1] = table[:, i] * (distinct - i) / (i + 1)
    return np.asarray(table[place.reshape(n.shape), k])
