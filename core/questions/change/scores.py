"""Has a judge of single answers changed since the last audit? Paired differences by item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ...records import FloatArray, IntArray
from ...stats.intervals import check_level
from ..scores.table import UNDECIDED, ScoreTable
from .charts import Chart, charts_of
from .votes import Cells, Shift, shift_of


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SideScores:
    """A judge's scores by one metric in one audit.

    answer, item : (n,) codes of each answer and its item, shared by both audits.
    reference, truth : (n,) mean over people, NaN without one; what most of them say, −1 unknown.
    """

    table: ScoreTable
    answer: IntArray
    item: IntArray
    reference: FloatArray
    truth: IntArray


def sides_of(*tables: tuple[ScoreTable, IntArray, IntArray]) -> list[SideScores]:
    """Audits beside the people of the newest in which they scored an answer, so that a label that
    was put right is no change of the judge.

    tables : oldest first, each with the codes of its answers and items.
    """
    size = 1 + max(int(side[1].max(initial=-1)) for side in tables)
    reference, truth = np.full(size, np.nan), np.full(size, UNDECIDED)
    for table, answer, _ in tables:
        known = table.persons > 0
        reference[answer[known]] = table.reference[known]
        truth[answer[known]] = table.people_verdict[known]

    def side(table: ScoreTable, answer: IntArray, item: IntArray) -> SideScores:
        return SideScores(
            table=table, answer=answer, item=item, reference=reference[answer], truth=truth[answer]
        )

    return [side(*each) for each in tables]


def score_shifts(
    judge: str, old: SideScores, new: SideScores, *, level: float = 0.95
) -> tuple[Shift, ...]:
    """What moved of a judge of single answers from one audit to the next, a `Shift` per measure.

    `leniency`: size of the mean of (j − h)/scale; `distance`: mean of |j − h|/scale; `tpr`, `tnr`:
    share that it passes of what people pass, fails of what they fail. Cells are answers; the rest
    is as of votes (`core.questions.change.votes.shifts`).

    Raises InvalidOption for a level outside (0, 1). Source: docs/methods.md §8 (ours).
    """
    check_level(level)
    return tuple(
        shift_of(judge, measure, read(old), read(new), ends, signed, need, level)
        for measure, (read, ends, signed, need) in SCORE_MEASURES.items()
    )


def score_charts(
    judge: str,
    sides: Mapping[int, SideScores],
    *,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> tuple[Chart, ...]:
    """Control charts of a judge of single answers, one per measure of `score_shifts`.

    sides : by the place in a series, oldest first; `sides_of` gives them the newest labels.
    """
    return charts_of(judge, sides, SCORE_MEASURES, level=level, rng=rng)


def _differences(side: SideScores) -> Cells:
    table = side.table
    fits = table.same_scale and table.kind != "labels"
    apart = (table.judge - side.reference) / (table.scale or 1.0)
    rows = ~np.isnan(apart) & fits
    return Cells(side.answer[rows], side.item[rows], apart[rows])


def _distances(side: SideScores) -> Cells:
    found = _differences(side)
    return Cells(found.key, found.item, np.abs(found.value))


def _rates(side: SideScores, truth: int) -> Cells:
    passed = side.table.passed
    rows = ~np.isnan(passed) & (side.truth == truth)
    right = passed[rows] if truth else 1 - passed[rows]
    return Cells(side.answer[rows], side.item[rows], right)


def _tpr(side: SideScores) -> Cells:
    return _rates(side, 1)


def _tnr(side: SideScores) -> Cells:
    return _rates(side, 0)


SCORE_MEASURES: dict[str, tuple[Callable[[SideScores], Cells], tuple[float, ...], bool, str]] = {
    "leniency": (_differences, (-2.0, 2.0), True, "people and it scored on one scale"),
    "distance": (_distances, (-1.0, 1.0), False, "people and it scored on one scale"),
    "tpr": (_tpr, (-1.0, 1.0), False, "it judged what people pass"),
    "tnr": (_tnr, (-1.0, 1.0), False, "it judged what people fail"),
}
"""Measure → what it averages, the ends of a difference, whether it has a sign, what it needs."""
