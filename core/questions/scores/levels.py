"""Which scores a judge and people give to the same answers, as a table of counts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...records import FloatArray, IntArray
from .table import ScoreTable

PASS_FAIL: tuple[str, ...] = ("fail", "pass")
MOST_LEVELS = 10
"""Levels that are shown one by one; a finer scale is cut into ten parts of equal width."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LevelCounts:
    """Answers by people's score and the judge's.

    people, judge : names of the levels, lowest first.
    counts : (people's levels, judge's levels) answers.
    person_level, judge_level : (n,) codes of each answer, −1 where one side gave none.
    """

    people: tuple[str, ...]
    judge: tuple[str, ...]
    counts: IntArray
    person_level: IntArray
    judge_level: IntArray


def level_counts(table: ScoreTable) -> LevelCounts:
    """Count answers by the mean of people's scores and that of the judge's runs.

    Means go to the nearest level; half-way they go up. Of pass/fail people's majority counts, and
    answers without one are left out.

    >>> found = level_counts(ScoreTable.of([1, 1, 0], [1, 0, 0]))
    >>> found.people, found.counts.tolist()
    (('fail', 'pass'), [[1, 1], [0, 1]])
    """
    if table.says_pass:
        return pass_counts(table)
    people, theirs = PASS_FAIL, table.people_verdict
    judged, own = _levels(table.judge, table.low, table.high)
    if table.same_scale:
        people, theirs = _levels(table.reference, table.low, table.high)
    known = (theirs >= 0) & (own >= 0)
    counts = np.zeros((len(people), len(judged)), dtype=np.int64)
    np.add.at(counts, (theirs[known], own[known]), 1)
    return LevelCounts(
        people=people,
        judge=judged,
        counts=counts,
        person_level=np.where(known, theirs, -1),
        judge_level=np.where(known, own, -1),
    )


def pass_counts(table: ScoreTable) -> LevelCounts:
    """Count answers by people's pass or fail and the judge's, whose levels are cut.

    >>> scores = ScoreTable.of([1, 5, 4], [2, 5, 3], low=1, high=5, passing=4)
    >>> pass_counts(scores).counts.tolist()
    [[1, 1], [0, 1]]
    """
    theirs, own = table.people_verdict, table.verdict
    known = (theirs >= 0) & (own >= 0)
    counts = np.zeros((2, 2), dtype=np.int64)
    np.add.at(counts, (theirs[known], own[known]), 1)
    return LevelCounts(
        people=PASS_FAIL,
        judge=PASS_FAIL,
        counts=counts,
        person_level=np.where(known, theirs, -1),
        judge_level=np.where(known, own, -1),
    )


def _levels(values: FloatArray, low: float, high: float) -> tuple[tuple[str, ...], IntArray]:
    """Names of the levels of a scale, and the nearest to each value."""
    steps = high - low
    if steps == round(steps) and 1 <= steps < MOST_LEVELS:
        names = tuple(f"{low + step:g}" for step in range(int(steps) + 1))
        place = np.floor(np.nan_to_num(values - low) + 0.5)
    else:
        edges = np.linspace(low, high, MOST_LEVELS + 1)
        names = tuple(f"{start:g}–{end:g}" for start, end in pairwise(edges))
        place = np.floor(np.nan_to_num(values - low) / (steps or 1.0) * MOST_LEVELS)
    code = np.clip(place, 0, len(names) - 1).astype(np.int64)
    return names, np.where(np.isnan(values), -1, code)
