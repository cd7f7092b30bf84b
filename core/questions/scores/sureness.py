"""How sure a judge of single answers is of each verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...records import BoolArray, FloatArray, OutcomeCounts
from .table import UNDECIDED, ScoreTable

By = Literal["stated", "repeats", "distance"]
"""What says how sure a verdict is: the confidence that the judge states, the share of its runs
behind the majority, or how far a score is from the one that passes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sureness:
    """How sure a judge is of its verdict on each answer.  values : (n,), 0 to 1, NaN unknown."""

    by: By
    values: FloatArray


def sureness_of(
    table: ScoreTable, runs: FloatArray, confidence: FloatArray | None
) -> Sureness | None:
    """How sure it is: by its stated confidence; else, of pass and fail that it gave more than once,
    the share of runs behind the majority; else, of levels with a score that passes, the distance
    from that score, of the scale. None where none of them is there, or no verdict.
    """
    decided = table.verdict != UNDECIDED
    if not decided.any():
        return None
    if confidence is not None and not np.isnan(confidence[decided]).all():
        return Sureness(by="stated", values=np.where(decided, confidence, np.nan))
    if table.says_pass:
        if runs.shape[1] < 2 or not (~np.isnan(runs)).sum(axis=1).max() > 1:
            return None
        share = table.passed
        return Sureness(
            by="repeats", values=np.where(decided, np.maximum(share, 1 - share), np.nan)
        )
    if table.passing is None or table.scale <= 0:
        return None
    distance = np.abs(table.judge - table.passing) / table.scale
    return Sureness(by="distance", values=np.where(decided, np.minimum(distance, 1.0), np.nan))


def outcomes_of(
    table: ScoreTable, sureness: Sureness, rows: BoolArray | None = None
) -> OutcomeCounts | None:
    """Right and wrong verdicts of the answers with a label; None without one."""
    verdict, truth = table.verdict, table.people_verdict
    known = (truth != UNDECIDED) & (verdict != UNDECIDED) & ~np.isnan(sureness.values)
    known = known if rows is None else known & rows
    if not known.any():
        return None
    return OutcomeCounts(
        item=table.unit[known],
        confidence=sureness.values[known],
        n=np.ones(int(known.sum()), dtype=np.int64),
        correct=(verdict == truth)[known].astype(np.int64),
    )
