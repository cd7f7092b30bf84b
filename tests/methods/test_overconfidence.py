"""The confidence gap: by hand, against the one-bin ECE, and its coverage with clustered
verdicts.
"""

import numpy as np
import pytest

from core.questions.confidence.calibration_error import calibration, confidence_gap
from core.records import OutcomeCounts


def outcomes(
    item: list[int], confidence: list[float], n: list[int], correct: list[int]
) -> OutcomeCounts:
    return OutcomeCounts(
        item=np.array(item),
        confidence=np.array(confidence),
        n=np.array(n),
        correct=np.array(correct),
    )


def test_gap_by_hand() -> None:
    # Four verdicts: confidence .9 three times (two right), .5 once (right): mean .8, accuracy .75.
    found = confidence_gap(outcomes([0, 1, 2], [0.9, 0.9, 0.5], [2, 1, 1], [1, 1, 1]))
    assert found is not None
    assert found.gap.value == pytest.approx(0.05)
    assert found.gap.low < 0.05 < found.gap.high
    assert (found.n, found.items) == (4, 3)


def test_absolute_gap_is_the_ece_of_one_bin() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.random(200)
    data = outcomes(
        list(range(200)),
        confidence.tolist(),
        [1] * 200,
        (rng.random(200) < 0.4).astype(int).tolist(),
    )
    found = confidence_gap(data)
    assert found is not None
    assert abs(found.gap.value) == pytest.approx(calibration(data, bins=1).ece)


def test_nothing_without_confidence_and_no_interval_from_one_item() -> None:
    assert confidence_gap(outcomes([0], [float("nan")], [1], [1])) is None
    single = confidence_gap(outcomes([0, 0], [0.9, 0.8], [1, 1], [1, 0]))
    assert single is not None
    assert np.isnan(single.gap.low)


def test_interval_covers_when_verdicts_of_an_item_are_alike() -> None:
    """Eight verdicts an item share its difficulty; an interval by verdict would cover far less."""
    rng, hits, draws, items = np.random.default_rng(5), 0, 2000, 60
    for _ in range(draws):
        difficulty = rng.beta(1, 1, items)
        correct = rng.binomial(8, difficulty)
        found = confidence_gap(
            outcomes(list(range(items)), [0.7] * items, [8] * items, correct.tolist())
        )
        assert found is not None
        hits += found.gap.low <= 0.2 <= found.gap.high
    assert 0.93 <= hits / draws <= 0.97


def test_no_verdict_has_no_gap():
    empty = OutcomeCounts(
        item=np.zeros(1, np.int64),
        confidence=np.array([0.8]),
        n=np.zeros(1, np.int64),
        correct=np.zeros(1, np.int64),
    )
    assert confidence_gap(empty) is None
