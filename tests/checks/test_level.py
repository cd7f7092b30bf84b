"""The level of the intervals moves intervals and grades, never what is said to stand of many."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from readings import reading

from core.auditing.options import AuditOptions
from core.auditing.overall import best_sentence, standing
from core.auditing.results import Audit
from core.auditing.run import audit
from core.reporting.build import to_markdown
from core.reporting.text import to_text
from core.schema import Selection
from core.store import Store

pytestmark = pytest.mark.thorough

LEVELS = (0.8, 0.9, 0.95, 0.99)


@pytest.fixture(scope="module")
def audits() -> dict[float, Audit]:
    """Twenty judges in both orders, of which two lean towards a slot, and all state a confidence."""
    rng = np.random.default_rng(0)
    rows = []
    for judge in range(20):
        lean = 0.3 if judge in (3, 11) else 0.0
        for item in range(120):
            gold = 1 if item % 2 else -1
            for run in range(2):
                for position, first in (("ab", 1), ("ba", -1)):
                    vote = gold if rng.random() < 0.85 else -gold
                    vote = first if rng.random() < lean else vote
                    row = {"item_id": f"i{item}", "judge": f"j{judge:02d}", "run": run}
                    row |= {"vote": vote, "gold": gold, "position": position}
                    row |= {"confidence": round(float(rng.uniform(0.6, 1)), 2)}
                    rows.append(row | {"category": "ab"[item // 60]})
    with Store.open() as store:
        store.load(reading(rows))
        return {
            level: audit(store, Selection(), AuditOptions(splits=0, level=level))
            for level in LEVELS
        }


def test_p_values_are_the_same_at_every_level(audits: dict[float, Audit]) -> None:
    by_default = audits[0.95]
    assert sum(not math.isnan(result.p_value) for result in by_default.checks) >= 150
    for level, found in audits.items():
        others = {(result.judge, result.check): result for result in found.checks}
        assert len(others) == len(by_default.checks)
        for result in by_default.checks:
            other = others[result.judge, result.check]
            assert result.p_value == pytest.approx(other.p_value, abs=1e-9, nan_ok=True), (
                level,
                result.judge,
                result.check,
            )


def test_intervals_have_the_level_that_was_asked_for(audits: dict[float, Audit]) -> None:
    widths = []
    for level, found in audits.items():
        estimates = [r.estimate for r in found.checks if r.check == "accuracy"]
        assert {estimate.level for estimate in estimates if estimate} == {level}
        widths.append(sum(e.high - e.low for e in estimates if e))
    assert widths == sorted(widths)


def test_the_leaning_judges_stand_at_every_level(audits: dict[float, Audit]) -> None:
    """At .99 a planted bias stood in 10 % of draws, because its p was reckoned as of 95 %."""
    for level, found in audits.items():
        graded_bad = {
            (result.judge, result.check)
            for result in found.checks
            if result.check == "position" and result.grade in ("warn", "fail")
        }
        assert {("j03", "position"), ("j11", "position")} <= graded_bad, level
    # Who stands among the warnings of all levels is decided by p-values alone.
    named = {
        level: {(r.judge, r.check) for r in standing(found.checks)}
        for level, found in audits.items()
    }
    warned = {
        level: {(r.judge, r.check) for r in found.checks if r.grade == "warn"}
        for level, found in audits.items()
    }
    everywhere = set.intersection(*warned.values())
    assert everywhere
    assert len({frozenset(names & everywhere) for names in named.values()}) == 1


def test_expected_warnings_follow_the_level(audits: dict[float, Audit]) -> None:
    """(1 − level) of the checks that have two sides, and half of it of the others."""
    for level, found in audits.items():
        cells = [r for r in found.checks if r.grade != "unknown"]
        signed = {"position", "overconfidence", "ties"}
        cells_signed = sum(r.check in signed for r in cells)
        expected = (1 - level) * (cells_signed + (len(cells) - cells_signed) / 2)
        said = best_sentence(found.checks, found.overall)
        assert f"up to {math.ceil(expected - 1e-9)} expected if no judge had any fault" in said


@pytest.mark.parametrize("written", [to_text, to_markdown])
def test_the_level_is_named_once(
    audits: dict[float, Audit], written: Callable[[Audit], str]
) -> None:
    for level, found in audits.items():
        assert written(found).lower().count(f"intervals: {100 * level:g} %") == 1
