"""Tables that hold next to nothing: every method says why it has no figure, and none fails."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from core.errors import TooFewLabels
from core.questions.scores.agreement import leniency, score_agreement, spread
from core.questions.scores.cut import best_cut
from core.questions.scores.drift import drift
from core.questions.scores.length import length_effect
from core.questions.scores.pass_rate import pass_rate
from core.questions.scores.passing import pass_fail
from core.questions.scores.people import alttest, ceiling, people_check
from core.questions.scores.recalibration import recalibrate_scores
from core.questions.scores.repeatability import repeatability
from core.questions.scores.table import ScoreKind, ScoreTable
from core.questions.scores.versions import compare_versions

NOTHING = {
    "no answers": (np.zeros(0), np.zeros((0, 1))),
    "no people": (np.arange(12.0) % 5, np.zeros((12, 0))),
    "people without a score": (np.arange(12.0) % 5, np.full((12, 2), np.nan)),
    "a judge without a score": (np.full(12, np.nan), np.tile([[1.0, 2.0]], (12, 1))),
    "one answer": (np.array([3.0]), np.array([[3.0, 4.0]])),
    "everything the same": (np.full(40, 2.0), np.full((40, 3), 2.0)),
}
METHODS: tuple[Callable[[ScoreTable], object], ...] = (
    score_agreement,
    leniency,
    spread,
    people_check,
    ceiling,
    pass_fail,
    pass_rate,
    length_effect,
    drift,
)


@pytest.mark.parametrize("kind", ["levels", "pass_fail", "labels"])
@pytest.mark.parametrize("what", NOTHING)
def test_every_method_says_why(what: str, kind: ScoreKind) -> None:
    judge, people = NOTHING[what]
    if kind == "pass_fail":
        judge, people = (np.minimum(side, 1) for side in (judge, people))
    table = ScoreTable.of(
        judge,
        people,
        low=0,
        high=5 if kind != "pass_fail" else 1,
        kind=kind,
        passing=3,
        same_scale=True,
        category=np.zeros(len(judge), dtype=np.int64),
        length=np.arange(len(judge), dtype=float),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [method(table) for method in METHODS]
        results.append(compare_versions(table, table))
        results.append(alttest(judge, people, closeness="equal"))
        for fitted in (best_cut, recalibrate_scores):
            if kind != "labels" and not (fitted is recalibrate_scores and len(judge) >= 30):
                with pytest.raises(TooFewLabels):
                    fitted(table, rng=np.random.default_rng(0))
        assert repeatability(np.zeros((len(judge), 1))).icc_3_1 is None
    for result in results:
        for name in dir(result):
            value = getattr(result, name)
            if hasattr(value, "has_interval"):
                assert not value.low > value.value
                assert not value.high < value.value
        reason = getattr(result, "reason", None) or getattr(result, "unknown", None)
        if what in ("no answers", "no people", "people without a score"):
            assert reason, type(result).__name__
