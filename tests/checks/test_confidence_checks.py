"""Whether a confidence separates right from wrong verdicts, and what counts as either."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence_of import outcomes_of, result
from readings import reading

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.schema import Selection
from core.store import Store


def test_equal_confidences_are_not_said_to_be_surer() -> None:
    """A right verdict is surer than a wrong one in 15.5 % of pairs and as sure in 53 %: AUROC .42
    is no share of pairs.
    """
    rng = np.random.default_rng(0)
    right = np.repeat([1, 0], [300, 100])
    stated = np.where(rng.random(400) < np.where(right == 1, 0.25, 0.45), 0.9, 0.8)
    pairs = stated[right == 1][:, None] - stated[right == 0][None]
    area = (pairs > 0).mean() + (pairs == 0).mean() / 2
    found = result("discrimination", outcomes=outcomes_of(stated, right))
    assert found.estimate is not None
    assert found.estimate.value == pytest.approx(area)
    assert found.sentence.startswith(
        f"Confidence ranks right above wrong verdicts worse than chance: AUROC {area:.2f} ("
    )
    assert "0.5 is chance" in found.sentence
    assert "% of such pairs" not in found.sentence


@pytest.mark.parametrize("turned", [False, True])
def test_ten_of_each_are_needed(turned: bool) -> None:
    def graded(few: int) -> tuple[str, str]:
        right = (np.arange(100) < few) != turned
        found = result("discrimination", outcomes=outcomes_of(np.linspace(0.5, 1, 100), right))
        return found.grade, found.sentence

    assert graded(9) == (
        "unknown",
        "Discrimination is unknown: it has 9 "
        f"{'wrong' if turned else 'right'} verdicts with a confidence.",
    )
    assert graded(10)[0] != "unknown"


def test_a_tie_where_gold_decides_is_no_wrong_verdict() -> None:
    """Ties are as sure as right verdicts: as wrong ones they would hide what confidence tells."""
    rng = np.random.default_rng(1)
    rows = []
    for item in range(300):
        gold = int(rng.choice([-1, 1]))
        kind = ("right", "wrong", "tie")[item % 3]
        vote = {"right": gold, "wrong": -gold, "tie": 0}[kind]
        sure = 0.6 if kind == "wrong" else 0.9
        stated = round(sure + 0.1 * rng.random(), 3)
        rows.append(
            {"item_id": f"i{item}", "judge": "j", "vote": vote, "gold": gold, "confidence": stated}
        )
    # Ties that gold calls ties are right verdicts.
    rows += [
        {"item_id": f"t{k}", "judge": "j", "vote": 0, "gold": 0, "confidence": 0.95}
        for k in range(20)
    ]
    with Store.open() as store:
        store.load(reading(rows))
        (judge,) = audit(store, Selection(), AuditOptions(splits=0)).judges
    right = [r["confidence"] for r in rows if r["vote"] == r["gold"]]
    wrong = [r["confidence"] for r in rows if r["vote"] == -r["gold"] and r["vote"]]
    pairs = np.array(right)[:, None] - np.array(wrong)[None]
    assert judge.discrimination is not None
    assert judge.discrimination.value == pytest.approx((pairs > 0).mean() + (pairs == 0).mean() / 2)
    assert judge.discrimination.value > 0.99
    # Calibration still counts them: a verdict that is not gold's is not right.
    assert judge.calibration is not None
    assert judge.calibration.n == len(rows)


def test_a_level_is_no_probability() -> None:
    """Levels are ranks: they separate, and there is nothing that they could be off by."""
    right = np.repeat([1, 0], [60, 40])
    levels = replace(outcomes_of(np.where(right == 1, 0.8, 0.4), right), kind="level")
    for check in ("calibration", "overconfidence"):
        unknown = result(check, outcomes=levels)
        assert unknown.grade == "unknown"
        assert "a level is no probability" in unknown.sentence
    assert result("discrimination", outcomes=levels).grade == "ok"
