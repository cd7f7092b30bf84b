"""Has a judge drifted over a series of files? A control chart of paired changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from ...errors import InvalidOption
from ...records import BoolArray, FloatArray, IntArray
from ...stats.intervals import check_level
from .votes import FEWEST_ITEMS, MEASURES, Cells, SideVotes, Way, with_gold_of_all

AnySide = TypeVar("AnySide")

FEWEST_FILES = 8
"""Files of a chart; fewer leave too few after those that say what is usual."""
FIRST = 4
"""Files whose mean is what is usual."""
WEIGHT = 0.2
"""Share of the newest file in the moving average. Source: Lucas and Saccucci (1990), Technometrics
32, 1-12: small lasting changes are found soonest with 0.1 to 0.25.
"""
DRAWS = 4_000
TINY = 1e-9
"""Rounding of means of equal values."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chart:
    """A figure of a judge over a series of files.

    files : places in the series of the files that have it, (T,).  usual : its mean in the first
    four.  change : (T,) from there, on common items.  average : (T,) exponentially weighted moving
    average of `change` from the fifth file on, NaN before.  limit : (T,) how far from 0 that may be
    without a change.  n_items : items in two files or more.  reason : why there is no chart.
    """

    judge: str
    measure: str
    files: tuple[int, ...] = ()
    usual: float | None = None
    change: FloatArray | None = None
    average: FloatArray | None = None
    limit: FloatArray | None = None
    n_items: int = 0
    level: float = 0.95
    reason: str | None = None

    @property
    def beyond(self) -> tuple[int, ...]:
        """Places in `files` at which the average is beyond its limit."""
        if self.average is None or self.limit is None:
            return ()
        over: BoolArray = np.abs(self.average) > self.limit + TINY
        return tuple(np.flatnonzero(over).tolist())

    @property
    def way(self) -> Way | None:
        """Where it went when it first left its limits; None where there is no chart."""
        if self.average is None:
            return None
        if not self.beyond:
            return "stays"
        return "rises" if self.average[self.beyond[0]] > 0 else "falls"


def vote_charts(
    judge: str,
    sides: Mapping[int, SideVotes],
    *,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> tuple[Chart, ...]:
    """The charts of a judge of comparisons, one per measure of `core.questions.change.votes`.

    sides : by the place in the series, oldest first; gold is that of the newest file with a label.
    """
    labelled = dict(zip(sides, with_gold_of_all(list(sides.values())), strict=True))
    return charts_of(judge, labelled, MEASURES, level=level, rng=rng)


def charts_of(
    judge: str,
    sides: Mapping[int, AnySide],
    measures: Mapping[str, tuple[Callable[[AnySide], Cells], tuple[float, ...], bool, str]],
    *,
    level: float,
    rng: np.random.Generator | None,
) -> tuple[Chart, ...]:
    """A chart per measure, which says what it averages, the ends of a difference, whether it has a
    sign and what it needs.
    """
    return tuple(
        control_chart(
            judge,
            measure,
            {place: read(side) for place, side in sides.items()},
            reach=max(ends),
            signed=signed,
            need=need,
            level=level,
            rng=rng,
        )
        for measure, (read, ends, signed, need) in measures.items()
    )


def control_chart(
    judge: str,
    measure: str,
    cells: Mapping[int, Cells],
    *,
    reach: float = 1.0,
    signed: bool = False,
    need: str = "it has values",
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Chart:
    """An EWMA chart of the changes of a mean over files that share items.

    x_ct = a_c + b_t + e_ct over cells c that two files have, by least squares in which each item
    counts once; b_t is then taken from the mean of the first four files. z_t = λ·b_t + (1 − λ)·
    z_{t−1} from the fifth on, z = 0 before. Cov(b) = A⁺(n/(n − 1)·Σᵢ sᵢsᵢᵀ)A⁺, A the normal
    equations and sᵢ the residuals' score of item i, so hard items are no noise; two items more
    that changed by `reach` at every file stand for what was not seen, as at the ends of the
    interval of two audits. The limit is
    L·SD(z_t), L the `level` quantile of the largest |z_t|/SD(z_t) of series without a change, drawn
    from Student's t with that covariance and n − 1 degrees of freedom: with probability `level` a
    judge that does not change stays inside throughout.

    cells : values by the place of a file in the series, codes shared by all, oldest first.
    reach : the largest change of a value.  signed : the sign is that of the first four files.
    rng : for the limit.

    A file with fewer than 10 items that another has is left out; with fewer than eight files left,
    or files that no chain of common items joins, there is a reason instead. Raises InvalidOption
    for a level outside (0, 1). Source: docs/methods.md §8 (ours); Roberts (1959), Technometrics 1,
    239-250; Lucas and Saccucci (1990).
    """
    check_level(level)
    left_out = partial(Chart, judge=judge, measure=measure, level=level)
    places, table, item = _common(cells)
    if len(places) < FEWEST_FILES:
        return left_out(
            reason=f"{need} on {FEWEST_ITEMS} items of other files in {len(places)} files, and "
            f"{FEWEST_FILES} are needed"
        )
    there = ~np.isnan(table)
    if not _joined(there):
        return left_out(reason="no common items join all files to the first")
    usual = _usual(table, there, item)
    if signed and usual < 0:
        usual, table = -usual, -table
    n_items = len(np.unique(item))
    change, covariance = _changes(table, there, item, reach)
    files = len(places)
    moving = _moving(files)
    spread = moving @ covariance @ moving.T
    deviation = np.sqrt(np.maximum(np.diag(spread), 0.0))
    nothing = np.full(FIRST, np.nan)
    factor = _factor(spread, deviation, n_items - 1, level, rng or np.random.default_rng(0))
    return Chart(
        judge=judge,
        measure=measure,
        files=tuple(places),
        usual=usual,
        change=change,
        average=np.r_[nothing, moving @ change],
        limit=np.r_[nothing, factor * deviation],
        n_items=n_items,
        level=level,
    )


def _common(cells: Mapping[int, Cells]) -> tuple[list[int], FloatArray, IntArray]:
    """Files with enough common items, values by cell and file (NaN: not there), and cells' items.

    Cells that one file alone has say nothing of a change.
    """
    places = [place for place, of_file in cells.items() if len(of_file.key)]
    while places:
        keys = np.unique(np.concatenate([cells[place].key for place in places]))
        table = np.full((len(keys), len(places)), np.nan)
        item = np.zeros(len(keys), dtype=np.int64)
        for column, place in enumerate(places):
            row = np.searchsorted(keys, cells[place].key)
            table[row, column], item[row] = cells[place].value, cells[place].item
        shared = (~np.isnan(table)).sum(axis=1) > 1
        table, item = table[shared], item[shared]
        enough = [
            place
            for column, place in enumerate(places)
            if len(np.unique(item[~np.isnan(table[:, column])])) >= FEWEST_ITEMS
        ]
        if enough == places:
            return places, table, item
        places = enough
    return [], np.zeros((0, 0)), np.zeros(0, dtype=np.int64)


def _joined(known: BoolArray) -> bool:
    """Whether every file is joined to the first by common cells, over others if need be."""
    together = known.T.astype(np.float64) @ known > 0
    reached = together[0]
    for _ in range(len(together)):
        reached = together[reached].any(axis=0)
    return bool(reached.all())


def _weights(item: IntArray) -> FloatArray:
    """Of cells, so that items weigh the same."""
    _, code, n = np.unique(item, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / n[code])


def _usual(table: FloatArray, known: BoolArray, item: IntArray) -> float:
    """Mean over items of what the first files have."""
    weight = _weights(item)[:, None] * known[:, :FIRST]
    return float((weight * np.nan_to_num(table[:, :FIRST])).sum() / weight.sum())


def _changes(
    table: FloatArray, known: BoolArray, item: IntArray, reach: float
) -> tuple[FloatArray, FloatArray]:
    """b from the mean of the first files, and its covariance."""
    weight, there = _weights(item)[:, None], known.astype(np.float64)
    share = there / there.sum(axis=1, keepdims=True)
    normal = np.diag((weight * there).sum(axis=0)) - (weight * share).T @ there
    # All files alike are no change: that direction is given a value, which the contrast drops.
    inverse = np.linalg.inv(normal + np.trace(normal) / len(normal) ** 2)
    centred = np.where(known, table, 0.0)
    centred -= there * (share * centred).sum(axis=1, keepdims=True)
    b = inverse @ (weight * centred).sum(axis=0)
    residual = centred - there * (b - (share @ b)[:, None])
    _, code = np.unique(item, return_inverse=True)
    score = np.zeros((code.max() + 1, table.shape[1]))
    np.add.at(score, code, weight * residual)
    n, files = score.shape
    unseen = reach**2 * (np.eye(files) - 1.0 / files)
    from_first = np.eye(len(b))
    from_first[:, :FIRST] -= 1.0 / FIRST
    solved = from_first @ inverse
    return from_first @ b, solved @ (n / (n - 1) * score.T @ score + unseen) @ solved.T


def _moving(files: int) -> FloatArray:
    """Weights of the files' changes in the averages from the fifth file on."""
    after = np.arange(FIRST, files)
    age = after[:, None] - np.arange(files)
    weights = WEIGHT * (1.0 - WEIGHT) ** np.maximum(age, 0)
    return np.where((age >= 0) & (np.arange(files) >= FIRST), weights, 0.0)


def _factor(
    spread: FloatArray, deviation: FloatArray, df: int, level: float, rng: np.random.Generator
) -> float:
    """Quantile of the largest excursion, in standard deviations, where nothing changes."""
    moves = deviation > TINY
    if not moves.any():
        return 0.0
    scale = deviation[moves]
    values, vectors = np.linalg.eigh(spread[np.ix_(moves, moves)] / np.outer(scale, scale))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.abs(rng.standard_normal((DRAWS, len(scale))) @ root.T).max(axis=1)
    drawn /= np.sqrt(rng.chisquare(df, DRAWS) / df)
    return float(np.quantile(drawn, level))


def check_series(files: int) -> None:
    """Raise InvalidOption for too few files of a series, the audited one among them."""
    if files < FEWEST_FILES:
        raise InvalidOption(
            f"--series: {files} files with the one that is audited, and a control chart needs "
            f"{FEWEST_FILES}. Name more, or the last one with --against."
        )
