"""Whether one name is one judge: what it did in several files, compared on the items they share.

A prompt or model that changed between two files under one name is two judges, and a figure over
both is of neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

import numpy as np

from ...records import ByFile, FloatArray, IntArray
from ...stats.estimate import Estimate
from ...stats.intervals import mean_interval

FEWEST_ITEMS = 20
"""Common items below which two files are not compared."""
MISSED = 0.01
"""Probability that any two of all pairs of files of an unchanged judge are called different."""
MOST_FILES = 30
"""Files of more than which only neighbours, and each with the first, are compared."""

Measure = Literal["right", "vote", "score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDifference:
    """The two files between which a judge differs most.

    measure : `right`, share right of decided gold, a tie counting half; where there is none `vote`,
        the mean vote, or `score`, the mean score.
    earlier, later : names of the files.  before, after : the measure in each, over common items.
    difference : after − before, paired by item, at level 1 − .01/pairs.
    pairs : pairs of files that were compared.
    """

    measure: Measure
    earlier: str
    later: str
    before: float
    after: float
    difference: Estimate
    pairs: int

    @property
    def shown(self) -> bool:
        """Whether it is no chance that they differ."""
        return self.difference.has_interval and self.difference.excludes(0)


def between_files(judged: ByFile) -> FileDifference | None:
    """Compare what one judge did in each two files, on the items that both have.

    d_i = mean in the later file − mean in the earlier, for each common item; the interval is
    `mean_interval` by item at level 1 − .01/m for m pairs of files, so that any of them calls an
    unchanged judge two in at most one of a hundred. What is returned is the pair that is shown to
    differ most, else the one that differs most. None with fewer than 20 common items in every pair.

    Source: ours; Bonferroni over pairs.
    """
    measures: tuple[tuple[Measure, FloatArray], ...] = (
        ("right", judged.right),
        (judged.said_is, judged.said),
    )
    for measure, value in measures:
        known = ~np.isnan(value)
        by_file = _sorted(judged.file[known], judged.item[known], value[known], len(judged.files))
        shared = {
            pair: common
            for pair in _pairs(len(judged.files))
            if len((common := _common(by_file, pair))[0]) >= FEWEST_ITEMS
        }
        if shared:
            width = 1.0 if measure == "right" else float(np.ptp(value[known]))
            return _most(judged, measure, by_file, shared, width)
    return None


def _most(
    judged: ByFile,
    measure: Measure,
    by_file: list[tuple[IntArray, FloatArray]],
    shared: dict[tuple[int, int], tuple[IntArray, IntArray]],
    width: float,
) -> FileDifference:
    found = []
    for (first, second), (of_first, of_second) in shared.items():
        before, after = by_file[first][1][of_first], by_file[second][1][of_second]
        difference = mean_interval(
            by_file[first][0][of_first],
            after - before,
            ends=(-width, width),
            level=1 - MISSED / len(shared),
        )
        found.append(
            FileDifference(
                measure=measure,
                earlier=judged.files[first],
                later=judged.files[second],
                before=float(before.mean()),
                after=float(after.mean()),
                difference=difference,
                pairs=len(shared),
            )
        )
    return max(found, key=lambda each: (each.shown, abs(each.difference.value)))


def _sorted(
    file: IntArray, item: IntArray, value: FloatArray, n: int
) -> list[tuple[IntArray, FloatArray]]:
    """Items and values of each file, by item."""
    order = np.lexsort((item, file))
    ends = np.searchsorted(file[order], np.arange(n + 1))
    return [(item[order[start:end]], value[order[start:end]]) for start, end in pairwise(ends)]


def _common(
    by_file: list[tuple[IntArray, FloatArray]], pair: tuple[int, int]
) -> tuple[IntArray, IntArray]:
    """Places of the items that two files share, in each."""
    first, second = (by_file[place][0] for place in pair)
    _, of_first, of_second = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return of_first, of_second


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    if n <= MOST_FILES:
        yield from combinations(range(n), 2)
        return
    for later in range(1, n):
        yield 0, later
        if later > 1:
            yield later - 1, later
